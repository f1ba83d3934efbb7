"""Log lines, and progress bars on stderr (terminals and notebooks), for work of more than two seconds."""

import sys
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from functools import cache
from time import monotonic
from typing import Any, TypeVar

Say = Callable[[str], None]
Item = TypeVar("Item")

# None: shown where the standard error is a terminal.
_SHOWN: ContextVar[bool | None] = ContextVar("shown", default=None)
# The receiver of progress lines, and the interval in seconds.
_LOGGED: ContextVar[tuple[Say, float] | None] = ContextVar("logged", default=None)
_NOTICES: ContextVar[Say | None] = ContextVar("notices", default=None)


@contextmanager
def _inside(variable: ContextVar[Any], value: Any) -> Iterator[None]:
    token = variable.set(value)
    try:
        yield
    finally:
        variable.reset(token)


def progress_bars(shown: bool = True) -> AbstractContextManager[None]:
    """Show or hide progress bars inside a ``with`` block, wherever stderr goes.

    By default, bars are shown only on a terminal and in a notebook. ``shown``: False hides them everywhere.

    Examples
    --------
    >>> import qsproj
    >>> with qsproj.progress_bars(False):
    ...     links = qsproj.align([["a", "b"]], [["x", "y"]])
    """
    return _inside(_SHOWN, shown)


def notices(say: Say) -> AbstractContextManager[None]:
    """Pass each distinct line of :func:`notice` to ``say`` once inside a ``with`` block."""
    return _inside(_NOTICES, cache(say))


def notice(line: str) -> None:
    """Report a notable fact that is no error, such as left-out data; silent outside :func:`notices`."""
    say = _NOTICES.get()
    if say is not None:
        say(line)


def logged(say: Say, *, every: float = 60.0) -> AbstractContextManager[None]:
    """Log the progress of long work in a ``with`` block each ``every`` seconds where no bar is shown."""
    return _inside(_LOGGED, (say, every))


def track(
    items: Iterable[Item],
    description: str,
    *,
    total: int | Callable[[], int | None] | None = None,
    unit: str = "it",
) -> Iterator[Item]:
    """Yield ``items`` under a progress bar named ``description``, of ``total`` items if known.

    ``total`` may be a function, which is called only where progress is shown.
    """
    hidden, logged_to = _hidden(), _LOGGED.get()
    if hidden and logged_to is None:
        yield from items
        return
    count = total() if callable(total) else total
    if hidden and logged_to is not None:
        yield from _saying(items, description, count, unit, *logged_to)
    else:
        yield from _tqdm()(items, desc=description, total=count, unit=unit, delay=2.0, leave=False)


_LAST_SAID = [0.0]  # time of the last log line of all work: more work does not log more often


def _saying(
    items: Iterable[Item], description: str, total: int | None, unit: str, say: Say, every: float
) -> Iterator[Item]:
    _LAST_SAID[0] = _LAST_SAID[0] or monotonic()
    for number, item in enumerate(items):
        if number and monotonic() - _LAST_SAID[0] >= every:
            _LAST_SAID[0] = monotonic()
            units = unit if number == 1 else f"{unit}s"
            say(f"{description}: {number:,} of {total:,}" if total else f"{description}: {number:,} {units}")
        yield item


@contextmanager
def bar(
    description: str, *, total: int | None, unit: str = "it", done: int = 0
) -> Iterator[Callable[..., None]]:
    """Show a bar for work that is no single loop, of ``total`` units if known.

    Yields a function that advances it, by default by 1. ``unit``: ``B`` for bytes. ``done``: at the start.
    """
    how = {"unit": unit, "unit_scale": unit == "B", "disable": _hidden(), "delay": 2.0, "leave": False}
    with _tqdm()(desc=description, total=total, initial=done, **how) as moving:
        yield moving.update


def _hidden() -> bool:
    """Return whether bars are hidden: by default all but those on a terminal or in a notebook."""
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
    """Import tqdm, which takes a thirtieth of a second; in a notebook, its widgets."""
    if not _in_notebook():
        from tqdm import tqdm

        return tqdm
    with warnings.catch_warnings():
        # Without ipywidgets a bar is text, which is no reason to warn.
        warnings.simplefilter("ignore")
        from tqdm.auto import tqdm as tqdm_of_notebook
    return tqdm_of_notebook
