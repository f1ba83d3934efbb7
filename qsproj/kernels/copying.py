"""Copying of one array into another."""

from qsproj.kernels.compilation import njit


@njit(cache=True, borrows=True, error_model="numpy")
def copy_into(target, source):
    """Copy ``source`` [k] to the start of ``target``; numba takes a second to compile ``target[:] = source``."""
    for k in range(source.shape[0]):
        target[k] = source[k]
