"""What all tests begin with."""

from __future__ import annotations

import signal

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # a shell's job in the background
    signal.signal(signal.SIGINT, signal.default_int_handler)  # commands under test hear Ctrl-C
