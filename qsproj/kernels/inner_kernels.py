"""Kernels that only kernels call: compiled to bitcode for these to take in, and to nothing else.

numba makes machine code of every kernel, and a way into it from Python. Where only kernels call it, neither
is of use: each caller has a copy of its own, optimised together with it. A first run so saves a sixth of its
time, and runs the very copies that later runs find with the callers.
"""

from __future__ import annotations

import ctypes
from typing import Any

import llvmlite.binding as llvm
from numba import _dynfunc  # type: ignore[attr-defined]
from numba.core.compiler import CompilerBase, CompileResult, DefaultPassBuilder
from numba.core.compiler_machinery import register_pass
from numba.core.typed_passes import NativeLowering

# Stands where numba keeps the machine code of a kernel.
NO_CODE = b""
# Called from Python all the same, an inner kernel raises TypeError.
_REFUSED = ctypes.cast(ctypes.pythonapi.PyErr_BadArgument, ctypes.c_void_p).value


@register_pass(mutates_CFG=True, analysis_only=False)
class _InnerLowering(NativeLowering):
    """From numba's representation to bitcode."""

    _name = "qsproj_inner_lowering"

    def run_pass(self, state: Any) -> bool:
        """Do what numba does, but for machine code."""
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
    """Numba's compiler with :class:`_InnerLowering` in place of its own."""

    def define_pipelines(self) -> list[Any]:
        manager = DefaultPassBuilder.define_nopython_pipeline(self.state)
        manager.passes = [
            (_InnerLowering, told) if made is NativeLowering else (made, told)
            for made, told in manager.passes
        ]
        manager._finalized = False
        manager.finalize()
        return [manager]


def _library(target: Any, name: str) -> Any:
    """Return a place for bitcode that no machine code is made of."""
    library = target.codegen().create_library(name)

    def finalize_final_module() -> None:
        library._finalize_dynamic_globals()
        library._finalized = True

    library._finalize_final_module = finalize_final_module
    return library


def _entry(described: Any, environment: Any, library: Any) -> Any:
    """Return what numba knows a kernel by."""
    name = described.qualname.split(".")[-1]
    return _dynfunc.make_function(described.lookup_module(), name, "", _REFUSED, environment, (library,))


def is_inner(compiled: Any) -> bool:
    return not compiled.library._object_caching_enabled


def reduced(compiled: Any) -> Any:
    """Return what is kept of a compiled kernel, as ``CompileResult._reduce`` does of others."""
    library = compiled.library
    bitcode = library._get_module_for_linking().as_bitcode()
    library.serialize_using_object_code = lambda: (library.name, "object", (NO_CODE, bitcode))
    return compiled._reduce()


def rebuilt(target: Any, payload: Any) -> Any:
    """Return what :func:`reduced` was given; bitcode is read when a kernel that calls it is compiled."""
    (name, _, (_, bitcode)), described, environment, signature, objectmode, lifted, told, _, others = payload
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
        type_annotation=told,
        signature=signature,
        objectmode=objectmode,
        lifted=lifted,
        typing_error=None,
        call_helper=None,
        metadata=None,
        reload_init=(),
        referenced_envs=others,
    )
