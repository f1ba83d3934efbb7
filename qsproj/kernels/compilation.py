"""How kernels are compiled: numba's ``njit``, with a cache of ours in place of numba's.

Numba's own cache ends in a traceback where no folder can be written, or where a file of it is damaged. It
does not see that a kernel *called* by the one in the cache has changed, as after an upgrade. It probes its
folder once for each kernel, and the first run compiles for half a minute in silence. All of this is settled
here, in one place; :mod:`qsproj.kernels.compilation_cache` tells what the files hold.
"""

from __future__ import annotations

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
        kernel: Any = numba.njit(**options)(function)
        if cache and hasattr(kernel, "_cache"):  # with NUMBA_DISABLE_JIT=1 it is the function itself
            kernel._cache = KernelCache(function)
        return kernel

    return decorate
