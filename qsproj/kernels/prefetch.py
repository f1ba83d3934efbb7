"""Memory prefetching, so that random reads of large tables wait in parallel instead of in turn.

A processor waits some fifty times as long for a line of a table of 16 MB as for a recently used one. It looks
ahead by itself, but not beyond a few hundred instructions, nor past a branch that depends on an awaited
value. Prefetching affects only time, never results.
"""

from typing import Any

from llvmlite import ir
from numba.core import types
from numba.core.cgutils import get_item_pointer
from numba.extending import intrinsic, overload

from qsproj.kernels.compilation import njit

READ, KEEP, DATA = 0, 3, 1


@intrinsic
def _prefetch(typing_context: Any, array: Any, index: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        laid_out = context.make_array(array)(context, builder, arguments[0])
        number_of_item = context.cast(builder, arguments[1], index, types.intp)
        item = get_item_pointer(context, builder, array, laid_out, [number_of_item])
        byte, number = ir.IntType(8).as_pointer(), ir.IntType(32)
        shape = ir.FunctionType(ir.VoidType(), [byte, number, number, number])
        function = builder.module.declare_intrinsic("llvm.prefetch", [byte], shape)
        builder.call(function, [builder.bitcast(item, byte), number(READ), number(KEEP), number(DATA)])
        return context.get_dummy_value()

    return types.void(array, index), generate


def prefetch(array, index):
    """Prefetch the cache line of an item of a one-dimensional array; do nothing when not compiled."""


@overload(prefetch)
def _compiled_prefetch(array, index):
    return lambda array, index: _prefetch(array, index)  # type: ignore[call-arg]


@njit(cache=True, borrows=True, error_model="numpy")
def prefetch_rows(array, indices, count):
    for k in range(count):
        prefetch(array, indices[k])
