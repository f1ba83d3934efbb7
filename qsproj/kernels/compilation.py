"""Compilation of kernels: numba's ``njit`` with our own cache instead of numba's.

Numba's cache raises an error where no folder is writable or a file is damaged. It does not notice changes of
kernels *called* by the cached one, as after an upgrade. It probes its folder once for each kernel, and the
first run compiles for half a minute in silence. A signal that ends a command, as Ctrl-C in a notebook, leaves
numba half initialised, without its numpy support, and later kernels of that process do not compile. This
module solves all of these; :mod:`qsproj.kernels.compilation_cache` describes the files.
"""

import gc
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numba

from qsproj.kernels.compilation_cache import KernelCache

# Compiler flags that may change rounding; infinities and NaN are kept.
FAST = {"reassoc", "contract", "nsz", "arcp"}

# The signals that end a command or repeat one, as far as this system has them.
ENDING = tuple(
    getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP", "SIGALRM") if hasattr(signal, name)
)


def njit(*, cache: bool = False, borrows: bool = False, **options: Any) -> Any:
    """Return a decorator that compiles a function when it is first called.

    ``cache``: keep the compiled code for the next run. ``borrows``: the function neither makes nor returns
    arrays, so that references to its arguments need not be counted. ``options``: those of ``numba.njit``.
    """

    def decorate(function: Any) -> Any:
        # Kernels are never called by address: without code for that, compiling takes a fifteenth less.
        compiler: Any = numba.njit
        kernel = compiler(no_cfunc_wrapper=True, _nrt=not borrows, **options)(function)
        if hasattr(kernel, "_cache"):  # with NUMBA_DISABLE_JIT=1 it is the function itself
            kernel.compile = _undisturbed(kernel.compile)
            if cache:
                kernel._cache = KernelCache(function)
        return kernel

    return decorate


def _undisturbed(compiling: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Return ``compiling`` without garbage collection, which saves a tenth, and with delayed signals."""

    def compile_all(signature: Any) -> Any:
        collected = gc.isenabled()
        gc.disable()
        try:
            with _signals_waiting():
                return compiling(signature)
        finally:
            if collected:
                gc.enable()

    return compile_all


@contextmanager
def _signals_waiting() -> Iterator[None]:
    """Delay signals that raise an error, such as Ctrl-C, to the end of a block."""
    if threading.current_thread() is not threading.main_thread():  # no signal is handled in another
        yield
        return
    came: list[int] = []
    handlers = {number: handler for number in ENDING if callable(handler := signal.getsignal(number))}
    for number in handlers:
        signal.signal(number, lambda number, _: came.append(number))
    try:
        yield
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)
        for number in came:
            signal.raise_signal(number)
