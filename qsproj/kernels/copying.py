"""Copying of one array into another."""

from qsproj.kernels.compilation import njit


@njit(cache=True, borrows=True, error_model="numpy")
def copy_into(target, source):
    """Copy ``source`` [k] to the start of ``target``; ``target[:] = source`` takes a second to compile."""
    for k in range(source.shape[0]):
        target[k] = source[k]
