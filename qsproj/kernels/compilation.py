"""How kernels are compiled: numba's ``njit``, with a cache of ours in place of numba's.

Numba's own cache ends in a traceback where no folder can be written, or where a file of it is damaged. It
does not see that a kernel *called* by the one in the cache has changed, as after an upgrade. It probes its
folder once for each kernel, and the first run compiles for half a minute in silence. A signal that ends a
command, as Ctrl-C in a notebook, leaves it half prepared: what it knew of numpy is then missing, and kernels
that are called later in that process do not compile. All of this is settled here, in one place;
:mod:`qsproj.kernels.compilation_cache` tells what the files hold.
"""

from __future__ import annotations

import gc
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numba

from qsproj.kernels.compilation_cache import KernelCache
from qsproj.kernels.inner_kernels import InnerCompiler

# All that kernels allow the compiler to round otherwise; infinities and NaN are kept.
FAST = {"reassoc", "contract", "nsz", "arcp"}

# Those that this system has of the signals that end a command, or have one come again.
ENDING = tuple(
    getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP", "SIGALRM") if hasattr(signal, name)
)


def njit(*, cache: bool = False, inner: bool = False, borrows: bool = False, **options: Any) -> Any:
    """Return a decorator that compiles a function when it is first called.

    ``cache``: keep the compiled code for the next run, where a folder for it can be written. ``inner``: only
    kernels call it (:mod:`qsproj.kernels.inner_kernels`), as all whose names begin with an underscore.
    ``borrows``: the function makes no array and returns none, so that references to those it is given need
    not be counted: in what is called for each arc, that takes longer than the work. numba refuses to compile
    one that makes an array. ``options``: those of ``numba.njit``.
    """

    def decorate(function: Any) -> Any:
        # Nothing calls a kernel by its address: without code for that, compiling takes a fifteenth less.
        compiler: Any = numba.njit
        if function.__name__.startswith("_") or inner:
            options.update(pipeline_class=InnerCompiler, no_cpython_wrapper=True)
        kernel = compiler(no_cfunc_wrapper=True, _nrt=not borrows, **options)(function)
        if hasattr(kernel, "_cache"):  # with NUMBA_DISABLE_JIT=1 it is the function itself
            kernel.compile = _undisturbed(kernel.compile)
            if cache:
                kernel._cache = KernelCache(function)
        return kernel

    return decorate


def _undisturbed(compiling: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Return ``compiling`` without a search for garbage, which saves a tenth; signals wait for it."""

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
    """Have signals that raise an error, as Ctrl-C does, come at the end of a block."""
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
