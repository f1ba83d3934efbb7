"""Log lines, and progress bars on stderr (terminals and notebooks), for work of more than two seconds."""

import sys
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import cache
from time import monotonic
from typing import Any, TypeVar

Say = Callable[[str], None]
Item = TypeVar("Item")

# None: shown where the standard error is a terminal.
_SHOWN: ContextVar[bool | None] = ContextVar("shown", default=None)
_LOGGED: ContextVar["_Log | None"] = ContextVar("logged", default=None)
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
    return _inside(_LOGGED, _Log(say, every))


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
    hidden, log = _hidden(), _LOGGED.get()
    if hidden and log is None:
        yield from items
        return
    count = total() if callable(total) else total
    if hidden and log is not None:
        yield from log.of(items, description, count, unit)
    else:
        yield from _tqdm()(items, desc=description, total=count, unit=unit, delay=2.0, leave=False)


@dataclass
class _Log:
    """The receiver of progress lines: one each ``every`` seconds, of all work together."""

    say: Say
    every: float
    last: float = field(default_factory=monotonic)

    def of(self, items: Iterable[Item], description: str, total: int | None, unit: str) -> Iterator[Item]:
        for number, item in enumerate(items):
            if number and monotonic() - self.last >= self.every:
                self.last = monotonic()
                units = unit if number == 1 else f"{unit}s"
                done = f"{number:,} of {total:,}" if total else f"{number:,} {units}"
                self.say(f"{description}: {done}")
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
