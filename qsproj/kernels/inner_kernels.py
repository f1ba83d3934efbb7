"""Kernels called only by kernels: compiled to bitcode for inclusion in their callers, and to nothing else.

numba makes machine code and a Python entry point for every kernel. For kernels called only by kernels both
are useless: each caller has its own copy, optimised together with it. This saves a sixth of a first run,
which also uses the same copies that later runs find with the callers.
"""

from __future__ import annotations

import ctypes
from typing import Any

import llvmlite.binding as llvm
from numba import _dynfunc  # type: ignore[attr-defined]
from numba.core.compiler import CompilerBase, CompileResult, DefaultPassBuilder
from numba.core.compiler_machinery import register_pass
from numba.core.typed_passes import NativeLowering

# Placeholder for numba's machine code of a kernel.
NO_CODE = b""
# An inner kernel called from Python raises TypeError.
_REFUSED = ctypes.cast(ctypes.pythonapi.PyErr_BadArgument, ctypes.c_void_p).value


@register_pass(mutates_CFG=True, analysis_only=False)
class _InnerLowering(NativeLowering):
    """Lowering of numba's representation to bitcode."""

    _name = "qsproj_inner_lowering"

    def run_pass(self, state: Any) -> bool:
        """Run numba's pass without generating machine code."""
        state.flags.no_compile = True
        state.library = _library(state.targetctx, state.func_id.func_qualname)
        super().run_pass(state)
        state.library.finalize()
        lowered = state["cr"]
        entry = _entry(lowered.fndesc, lowered.env, state.library)
        state.targetctx.insert_user_function(entry, lowered.fndesc, [state.library])
        state["cr"] = lowered._replace(cfunc=entry)
        return True


class InnerCompiler(CompilerBase):
    """Numba's compiler with :class:`_InnerLowering`."""

    def define_pipelines(self) -> list[Any]:
        manager = DefaultPassBuilder.define_nopython_pipeline(self.state)
        manager.passes = [
            (_InnerLowering, label) if made is NativeLowering else (made, label)
            for made, label in manager.passes
        ]
        manager._finalized = False
        manager.finalize()
        return [manager]


def _library(target: Any, name: str) -> Any:
    """Return a library for bitcode without machine code."""
    library = target.codegen().create_library(name)

    def finalize_final_module() -> None:
        library._finalize_dynamic_globals()
        library._finalized = True

    library._finalize_final_module = finalize_final_module
    return library


def _entry(described: Any, environment: Any, library: Any) -> Any:
    """Return numba's entry for a kernel."""
    name = described.qualname.split(".")[-1]
    return _dynfunc.make_function(described.lookup_module(), name, "", _REFUSED, environment, (library,))


def is_inner(compiled: Any) -> bool:
    return not compiled.library._object_caching_enabled


def reduced(compiled: Any) -> Any:
    """Return the stored parts of a compiled kernel, like ``CompileResult._reduce`` for others."""
    library = compiled.library
    bitcode = library._get_module_for_linking().as_bitcode()
    library.serialize_using_object_code = lambda: (library.name, "object", (NO_CODE, bitcode))
    return compiled._reduce()


def rebuilt(target: Any, payload: Any) -> Any:
    """Restore the argument of :func:`reduced`; bitcode is read when a caller of the kernel is compiled."""
    (name, _, (_, bitcode)), described, environment, signature, objectmode, lifted, label, _, others = payload
    library = _library(target, name)
    library._finalized = True

    def module_for_linking() -> Any:
        if library._shared_module is None:
            library._shared_module = llvm.parse_bitcode(bitcode)
        return library._shared_module

    library._get_module_for_linking = module_for_linking
    result: Any = CompileResult
    return result(
        target_context=target,
        typing_context=target.typing_context,
        library=library,
        environment=environment,
        entry_point=_entry(described, environment, library),
        fndesc=described,
        type_annotation=label,
        signature=signature,
        objectmode=objectmode,
        lifted=lifted,
        typing_error=None,
        call_helper=None,
        metadata=None,
        reload_init=(),
        referenced_envs=others,
    )
