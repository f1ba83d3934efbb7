"""How kernels are compiled: numba's ``njit``, with a cache of ours in place of numba's.

Numba's own cache ends in a traceback where no folder can be written, or where a file of it is damaged. It
does not see that a kernel *called* by the one in the cache has changed, as after an upgrade. It probes its
folder once for each kernel, and the first run compiles for half a minute in silence. All of this is settled
here, in one place; :mod:`qsproj.kernels.compilation_cache` tells what the files hold.
"""

from __future__ import annotations

import gc
from collections.abc import Callable
from typing import Any

import numba

from qsproj.kernels.compilation_cache import KernelCache


def njit(*, cache: bool = False, **options: Any) -> Any:
    """Return a decorator that compiles a function when it is first called.

    Parameters
    ----------
    cache : bool
        Keep the compiled code for the next run, where a folder for it can be written.
    options
        Those of ``numba.njit``.
    """

    def decorate(function: Any) -> Any:
        # Nothing calls a kernel by its address: without code for that, compiling takes a fifteenth less.
        compiler: Any = numba.njit
        kernel = compiler(no_cfunc_wrapper=True, **options)(function)
        if hasattr(kernel, "_cache"):  # with NUMBA_DISABLE_JIT=1 it is the function itself
            kernel.compile = _without_collection(kernel.compile)
            if cache:
                kernel._cache = KernelCache(function)
        return kernel

    return decorate


def _without_collection(compiling: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Return ``compiling`` without a search for garbage: a tenth of its time, since little of numba's is."""

    def compile_all(signature: Any) -> Any:
        if not gc.isenabled():
            return compiling(signature)
        gc.disable()
        try:
            return compiling(signature)
        finally:
            gc.enable()

    return compile_all
