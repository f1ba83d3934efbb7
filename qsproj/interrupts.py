"""Signals that end a command: Ctrl-C, SIGTERM and a terminal that goes away are one error, ``Stopped``.

Python raises ``KeyboardInterrupt`` wherever its main thread happens to be. Where C code called that place, as
while a C extension is imported, or where a finalizer runs, it is printed, lost, or becomes another error.
Hence an import is waited for, and an error that was lost is raised once more.
"""

import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

# Seconds until it is looked again whether an import has ended.
AGAIN = 0.02
# Those that this system has of the signals that end a command.
ENDING = tuple(getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name))
_SIGNAL_CODES = 128
# The signals that were heard, and how many blocks hold them back.
_HEARD: list[int] = []
_HOLDING: list[None] = []


class Stopped(KeyboardInterrupt):
    """A signal asked this process to end."""


def raise_stopped() -> None:
    """From here on, signals raise :class:`Stopped`; those that were ignored, as behind nohup, still are."""
    for number in ENDING:
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, _stop)
    sys.unraisablehook = _lost
    threading.excepthook = _of_a_thread


def ignore() -> None:
    """From here on, no signal breaks off the exit, which takes a moment."""
    for number in ENDING:
        signal.signal(number, signal.SIG_IGN)
    if hasattr(signal, "setitimer"):
        signal.setitimer(signal.ITIMER_REAL, 0)


@contextmanager
def held() -> Iterator[None]:
    """Have signals that end a command wait for the end of a block, which takes a moment.

    They stay blocked in processes, and threads, that are started meanwhile.
    """
    masks = hasattr(signal, "pthread_sigmask")
    before = signal.pthread_sigmask(signal.SIG_BLOCK, ENDING) if masks else ()
    _HOLDING.append(None)  # another thread may take the signal, and Python still tells this one
    try:
        yield
    finally:
        _HOLDING.pop()
        if masks:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)


def was_interrupted() -> bool:
    """Tell whether a signal has asked this process to end."""
    return bool(_HEARD)


def exit_status() -> tuple[str, int]:
    """Return the word that says what happened, and the exit code: what a shell makes of the signal."""
    number = _HEARD[0] if _HEARD else signal.SIGINT
    return "interrupted" if number == signal.SIGINT else "terminated", _SIGNAL_CODES + number


def _stop(number: int, frame: FrameType | None) -> None:
    _HEARD.append(number)
    if _HOLDING or _imports(frame):
        _stop_later(number)
    else:
        raise Stopped


def _imports(frame: FrameType | None) -> bool:
    """Tell whether a module is being imported, by this frame or by one that called it."""
    while frame is not None and not frame.f_code.co_filename.startswith("<frozen importlib"):
        frame = frame.f_back
    return frame is not None


def _stop_later(number: int) -> None:
    """Have the signal come once more; by a timer, since nothing else wakes a thread that waits."""
    if hasattr(signal, "setitimer"):
        signal.signal(signal.SIGALRM, lambda _, frame: _stop(number, frame))
        signal.setitimer(signal.ITIMER_REAL, AGAIN)
    else:
        raise Stopped


def _lost(unraisable: Any) -> None:
    """Raise an interrupt again that came where none can be raised; what it left half made is no news."""
    if isinstance(unraisable.exc_value, Stopped):
        _stop_later(_HEARD[0])
    elif not was_interrupted():
        sys.__unraisablehook__(unraisable)


def _of_a_thread(error: threading.ExceptHookArgs) -> None:
    """Say nothing of a thread that fails as its processes are stopped: loky's own does, in some versions."""
    if not was_interrupted():
        threading.__excepthook__(error)
