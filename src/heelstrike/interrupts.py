"""Ctrl-C and SIGTERM that end a command within two seconds.

Python calls a handler between two of its own instructions; a call into a compiler or an optimiser
may take much longer. Signals are therefore written to a pipe as well, which a thread reads: if no
handler was called PATIENCE seconds after a signal, the thread removes unfinished files and ends the
process. A handler that was called is in charge: at Ctrl-C it may keep partial results; at SIGTERM
the block must end within GRACE, or the thread ends the process as well. If Python calls a handler
inside a finalizer, where exceptions are lost, it is called again a moment later.
"""

from __future__ import annotations

import contextlib
import os
import select
import signal
import sys
import threading
from _thread import interrupt_main
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import partial
from os import _exit as end_at_once
from types import FrameType
from typing import Any

from heelstrike.files import remove_own_parts

PATIENCE = 0.8
"""Time after a signal in which its handler must be called [s]."""
GRACE = 1.0
"""Time from the handler of SIGTERM to the end of the block that it ends [s]."""
SIGNALS = (signal.SIGINT, signal.SIGTERM)
AGAIN = 0.02
"""Time after which a signal whose exception was lost is delivered again [s]."""
_partial = ContextVar("partial", default=True)
_handled = threading.Event()
_received: list[int] = []
"""Signals that have reached `_stop`."""


def handled() -> None:
    """Say that a signal has reached its handler."""
    _handled.set()


def last_signal() -> int | None:
    """Return the last signal that ended what was being done, None if there was none.

    Other packages may turn the exception of a signal into one of their own, such as ImportError.
    """
    return _received[-1] if _received else None


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
    old, hook = signal.set_wakeup_fd(write, warn_on_full_buffer=False), sys.unraisablehook
    sys.unraisablehook = partial(_deliver_again, hook)
    _received.clear()
    watch = threading.Thread(target=_watch, args=(read,), daemon=True)
    watch.start()
    try:
        yield
    except Exception:
        if signal.SIGTERM in _received:  # its exit became an error of a package
            sys.exit(128 + signal.SIGTERM)
        raise
    finally:
        signal.set_wakeup_fd(old)
        sys.unraisablehook = hook
        for number, handler in before.items():
            signal.signal(number, handler)
        os.close(write)  # ends the thread
        watch.join()
        os.close(read)


@contextmanager
def partial_results(kept: bool) -> Iterator[None]:
    """Say whether Ctrl-C lets a run return what it has made, as it does by default, or raises."""
    token = _partial.set(kept)
    try:
        yield
    finally:
        _partial.reset(token)


def keeps_partial_results() -> bool:
    """Return whether a run that Ctrl-C ends returns what it has made."""
    return _partial.get()


@contextmanager
def signals_raised_again() -> Iterator[None]:
    """Call handlers of signals again after a block whose library swallows their exceptions."""
    found = [(number, signal.getsignal(number)) for number in SIGNALS]
    if threading.current_thread() is not threading.main_thread():
        found = []
    received: list[Callable[[], Any]] = []

    def note(handler: Callable[[int, FrameType | None], Any], *arguments: Any) -> None:
        received.append(partial(handler, *arguments))
        handler(*arguments)

    for number, handler in found:
        if callable(handler):
            signal.signal(number, partial(note, handler))
    try:
        yield
    finally:
        for number, handler in found:
            signal.signal(number, handler)
    for handle in received:
        handle()


def _stop(number: int, frame: FrameType | None) -> None:
    handled()
    _received.append(number)
    if number == signal.SIGINT:
        raise KeyboardInterrupt
    sys.exit(128 + number)


def _deliver_again(hook: Callable[[Any], object], lost: Any) -> None:
    """Deliver a signal again whose exception was raised in a finalizer."""
    if _received and lost.exc_type in (KeyboardInterrupt, SystemExit):
        again = threading.Timer(AGAIN, interrupt_main, (_received[-1],))
        again.daemon = True
        again.start()
    else:
        hook(lost)


def _watch(read: int) -> None:
    """End the process if a signal's handler is not called."""
    while data := os.read(read, 1):
        if data[0] not in [int(number) for number in SIGNALS]:
            continue
        if not _handled.wait(PATIENCE):
            _end(data[0])
        _handled.clear()
        # a package may swallow the exception: nothing is kept at SIGTERM, so end all the same
        if data[0] == signal.SIGTERM and not select.select([read], [], [], GRACE)[0]:
            _end(data[0])


def _end(number: int) -> None:
    """Remove unfinished files, and end the process with the status of a signal."""
    remove_own_parts()
    with contextlib.suppress(OSError):
        os.write(2, b"interrupted\n")
    end_at_once(128 + number)
