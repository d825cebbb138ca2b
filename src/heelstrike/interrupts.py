"""Ctrl-C and SIGTERM that end a command within two seconds.

Python calls a handler between two of its own instructions; a call into a compiler or an optimiser
may take much longer. Signals are therefore written to a pipe as well, which a thread reads: if no
handler was called PATIENCE seconds after a signal, the thread removes unfinished files and ends the
process. A handler that was called is in charge: it may keep partial results.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from os import _exit as end_at_once
from types import FrameType

from heelstrike.files import remove_own_parts

PATIENCE = 0.8
"""Time after a signal in which its handler must be called [s]."""
SIGNALS = (signal.SIGINT, signal.SIGTERM)
_handled = threading.Event()


def handled() -> None:
    """Say that a signal has reached its handler."""
    _handled.set()


@contextmanager
def ends_promptly() -> Iterator[None]:
    """Let Ctrl-C raise KeyboardInterrupt and SIGTERM exit with 143, soon, whatever is being done.

    This holds too where the shell started the process in the background, with Ctrl-C ignored. In
    another than the main thread nothing changes.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    read, write = os.pipe()
    os.set_blocking(write, False)
    before = {number: signal.signal(number, _stop) for number in SIGNALS}
    old = signal.set_wakeup_fd(write, warn_on_full_buffer=False)
    watch = threading.Thread(target=_watch, args=(read,), daemon=True)
    watch.start()
    try:
        yield
    finally:
        signal.set_wakeup_fd(old)
        for number, handler in before.items():
            signal.signal(number, handler)
        os.close(write)  # ends the thread
        watch.join()
        os.close(read)


def _stop(number: int, frame: FrameType | None) -> None:
    handled()
    if number == signal.SIGINT:
        raise KeyboardInterrupt
    sys.exit(128 + number)


def _watch(read: int) -> None:
    """End the process if a signal's handler is not called."""
    while data := os.read(read, 1):
        if data[0] not in [int(number) for number in SIGNALS]:
            continue
        if not _handled.wait(PATIENCE):
            remove_own_parts()
            with contextlib.suppress(OSError):
                os.write(2, b"interrupted\n")
            end_at_once(128 + data[0])
        _handled.clear()
