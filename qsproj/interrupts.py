"""Signals that end a command: Ctrl-C, SIGTERM and a closed terminal all raise ``Stopped``.

Python raises ``KeyboardInterrupt`` wherever its main thread happens to be. Below C code, as in imports of C
extensions, and in finalizers it is lost or changed. So signals wait for imports, and lost ones are repeated.
"""

import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

AGAIN = 0.02  # seconds between checks whether an import has ended
# The signals that end a command, as far as this system has them.
ENDING = tuple(getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name))
_SIGNAL_CODES = 128
_HEARD: list[int] = []  # the received signals
_HOLDING: list[None] = []  # one entry for each active ``held`` block


class Stopped(KeyboardInterrupt):
    """A signal asked this process to end."""


def raise_stopped() -> None:
    """Make signals raise :class:`Stopped` from now on; ignored ones, as under nohup, stay ignored."""
    for number in ENDING:
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, _stop)
    sys.unraisablehook = _lost
    threading.excepthook = _of_a_thread


def ignore() -> None:
    """Ignore signals from now on, so that none interrupts the exit, which takes a moment."""
    for number in ENDING:
        signal.signal(number, signal.SIG_IGN)
    if hasattr(signal, "setitimer"):
        signal.setitimer(signal.ITIMER_REAL, 0)


@contextmanager
def held() -> Iterator[None]:
    """Delay ending signals until a short block ends; processes and threads begun in it keep them blocked."""
    masks = hasattr(signal, "pthread_sigmask")
    before = signal.pthread_sigmask(signal.SIG_BLOCK, ENDING) if masks else ()
    _HOLDING.append(None)  # another thread may receive the signal; Python still runs the handler in this one
    try:
        yield
    finally:
        _HOLDING.pop()
        if masks:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)


def was_interrupted() -> bool:
    """Return whether this process has received a signal to end."""
    return bool(_HEARD)


def exit_status() -> tuple[str, int]:
    """Return ``interrupted`` or ``terminated``, and the exit code that a shell gives for the signal."""
    number = _HEARD[0] if _HEARD else signal.SIGINT
    return "interrupted" if number == signal.SIGINT else "terminated", _SIGNAL_CODES + number


def _stop(number: int, frame: FrameType | None) -> None:
    _HEARD.append(number)
    if _HOLDING or _imports(frame):
        _stop_later(number)
    else:
        raise Stopped


def _imports(frame: FrameType | None) -> bool:
    """Return whether this frame or one of its callers is importing a module."""
    while frame is not None and not frame.f_code.co_filename.startswith("<frozen importlib"):
        frame = frame.f_back
    return frame is not None


def _stop_later(number: int) -> None:
    """Repeat the signal by a timer, which alone wakes a waiting thread."""
    if hasattr(signal, "setitimer"):
        signal.signal(signal.SIGALRM, lambda _, frame: _stop(number, frame))
        signal.setitimer(signal.ITIMER_REAL, AGAIN)
    else:
        raise Stopped


def _lost(unraisable: Any) -> None:
    """Repeat an interrupt that came where none can be raised; do not report objects it left half made."""
    if isinstance(unraisable.exc_value, Stopped):
        _stop_later(_HEARD[0])
    elif not was_interrupted():
        sys.__unraisablehook__(unraisable)


def _of_a_thread(error: threading.ExceptHookArgs) -> None:
    """Silence threads that fail once processes are stopped, as loky's own does in some versions."""
    if not was_interrupted():
        threading.__excepthook__(error)
