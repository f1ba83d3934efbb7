"""What is shown while work goes on: progress bars, and lines for whoever asked to be told.

Bars are on stderr, only for work of more than two seconds, on a terminal and in notebooks.
"""

import sys
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from time import monotonic
from typing import Any, TypeVar

Say = Callable[[str], None]
Item = TypeVar("Item")

# None: where the standard error is a terminal.
_SHOWN: ContextVar[bool | None] = ContextVar("shown", default=None)
# Who is told how far long work is, and every how many seconds.
_LOGGED: ContextVar[tuple[Say, float] | None] = ContextVar("logged", default=None)
_TOLD: ContextVar[Say | None] = ContextVar("told", default=None)


@contextmanager
def progress_bars(shown: bool = True) -> Iterator[None]:
    """Show progress bars inside a ``with`` block wherever stderr goes, or nowhere.

    Without it, bars are shown on a terminal and in a notebook; scripts whose output goes to a file see none.
    ``shown``: False hides them everywhere.

    Examples
    --------
    >>> import qsproj
    >>> with qsproj.progress_bars(False):
    ...     links = qsproj.align([["a", "b"]], [["x", "y"]])
    """
    token = _SHOWN.set(shown)
    try:
        yield
    finally:
        _SHOWN.reset(token)


@contextmanager
def notices(say: Say) -> Iterator[None]:
    """Have each line of :func:`notice` said once inside a ``with`` block; without it nothing is."""
    said: set[str] = set()

    def once(line: str) -> None:
        if line not in said:
            said.add(line)
            say(line)

    token = _TOLD.set(once)
    try:
        yield
    finally:
        _TOLD.reset(token)


def notice(line: str) -> None:
    """Tell of what is no error, but not to be passed over in silence: what was left out, what looks wrong."""
    say = _TOLD.get()
    if say is not None:
        say(line)


@contextmanager
def logged(say: Say, *, every: float = 60.0) -> Iterator[None]:
    """Have long work in a ``with`` block say each ``every`` seconds how far it is, where no bar shows it."""
    token = _LOGGED.set((say, every))
    try:
        yield
    finally:
        _LOGGED.reset(token)


def track(
    items: Iterable[Item],
    description: str,
    *,
    total: int | Callable[[], int | None] | None = None,
    unit: str = "it",
) -> Iterator[Item]:
    """Yield ``items`` while a bar that names ``description`` shows how far they are, of ``total`` if known.

    A total that has to be found out first is only where anything is shown.
    """
    if _hidden() and _LOGGED.get() is None:
        yield from items
        return
    count = total() if callable(total) else total
    if _hidden():
        yield from _saying(items, description, count, unit)
        return
    yield from _tqdm()(items, desc=description, total=count, unit=unit, delay=2.0, leave=False)


# When something was last said, by any work: lines do not come more often with more of it.
_LAST_SAID = [0.0]


def _saying(items: Iterable[Item], description: str, total: int | None, unit: str) -> Iterator[Item]:
    """Yield items; now and then say how many there were."""
    told = _LOGGED.get()
    assert told is not None
    say, every = told
    _LAST_SAID[0] = _LAST_SAID[0] or monotonic()
    for number, item in enumerate(items):
        if number and monotonic() - _LAST_SAID[0] >= every:
            _LAST_SAID[0] = monotonic()
            say(f"{description}: {number:,} of {total:,}" if total else f"{description}: {number:,} {unit}s")
        yield item


@contextmanager
def bar(description: str, *, total: int, unit: str = "it") -> Iterator[Callable[[], None]]:
    """Show a bar that moves on by one with each call of what is yielded, for work that is no single loop."""
    with _tqdm()(
        desc=description, total=total, unit=unit, disable=_hidden(), delay=2.0, leave=False
    ) as moving:
        yield lambda: moving.update(1)


@contextmanager
def byte_bar(description: str, *, total: int | None, done: int = 0) -> Iterator[Callable[[int], None]]:
    """Show how many bytes have come, of ``total`` if it is known; call what is yielded with their number."""
    with _tqdm()(
        desc=description,
        total=total,
        initial=done,
        unit="B",
        unit_scale=True,
        disable=_hidden(),
        delay=2.0,
        leave=False,
    ) as moving:
        yield moving.update


def _hidden() -> bool:
    """Return whether no bar is shown: unless it was asked for, a terminal or a notebook shows one."""
    shown = _SHOWN.get()
    if shown is not None:
        return not shown
    try:
        return not (sys.stderr.isatty() or _in_notebook())
    except (AttributeError, ValueError):  # it is None, or closed
        return True


def _in_notebook() -> bool:
    ipython = sys.modules.get("IPython")
    shell = None if ipython is None else ipython.get_ipython()
    return shell is not None and hasattr(shell, "kernel")


def _tqdm() -> Any:
    """Import what shows bars, which takes a thirtieth of a second; in a notebook, widgets."""
    if not _in_notebook():
        from tqdm import tqdm

        return tqdm
    with warnings.catch_warnings():
        # Without ipywidgets a bar is text, which is no reason to warn.
        warnings.simplefilter("ignore")
        from tqdm.auto import tqdm as tqdm_of_notebook
    return tqdm_of_notebook
