"""Compilation of kernels: numba's ``njit`` with our own cache instead of numba's.

Numba's cache raises an error where no folder is writable or a file is damaged. It does not notice changes of
kernels *called* by the cached one, as after an upgrade. It probes its folder once for each kernel, and the
first run compiles for half a minute in silence. A signal that ends a command, as Ctrl-C in a notebook, leaves
numba half initialised, without its numpy support, and later kernels of that process do not compile. This
module solves all of these.

There is one file for each kernel, types of its arguments, processor and numba version: a digest of the rest,
a stamp of the kernel's source, and a pickle of its code. The stamp covers the kernel's module and all modules
of kernels that it imports, since their code is compiled into it. Damaged, stale and unreadable files are
compiled again and replaced. Where no folder is writable, the code is kept only in the process. The files are
as trusted as the Python files in the same place.
"""

import gc
import hashlib
import inspect
import os
import pickle
import platform
import re
import signal
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cache
from io import BytesIO
from multiprocessing import current_process
from pathlib import Path
from typing import Any

import llvmlite.binding as llvm
import numba
from numba.core.compiler import CompileResult
from numba.core.environment import Environment, lookup_environment
from numba.core.runtime.nrt import rtsys
from numba.core.serialize import dumps
from numba.misc.appdirs import AppDirs

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


KERNELS = Path(__file__).parent
DIGEST_BYTES = 32
_OUR_IMPORT = re.compile(rb"^from qsproj\.kernels\.([\w.]+) import", re.MULTILINE)


# Seconds of compiling before a notice: a new type of some small kernel takes less.
PATIENCE = 0.5


class Notices:
    """Shows the first notice on compiling, and no later ones."""

    def __init__(self) -> None:
        self._said = False
        self._seconds = 0.0

    def about_to_compile(self, folder: Path | None) -> None:
        """Record that a kernel will be compiled, and stored in ``folder`` (None: nowhere)."""
        if folder is None:
            self._say(
                "compiling, in this and every run: no folder for compiled code can be written; "
                "name one in NUMBA_CACHE_DIR"
            )
        elif self._seconds > PATIENCE:
            self._say(f"compiling, once: up to half a minute, then kept for later runs in {folder}")

    def compiled(self, seconds: float) -> None:
        """Record that a kernel was compiled; its time includes kernels compiled for it."""
        self._seconds += seconds

    def damaged(self, path: Path, error: Exception) -> None:
        reason = getattr(error, "strerror", None) or error
        self._say(f"compiling again what is kept in {path.parent}: cannot use {path.name}: {reason}")

    def not_kept(self, folder: Path, error: OSError) -> None:
        self._say(
            f"compiling, in this and the next run: cannot write to {folder}: {error.strerror}; "
            "name another folder in NUMBA_CACHE_DIR"
        )

    def _say(self, text: str) -> None:
        if self._said or not self._may_say():
            return
        self._said = True
        with suppress(OSError, ValueError, AttributeError):  # stderr may be full, closed, or None
            print(f"qsproj: {text}", file=sys.stderr, flush=True)

    @staticmethod
    def _may_say() -> bool:
        return os.environ.get("QSPROJ_NOTICES") != "0" and current_process().name == "MainProcess"


NOTICES = Notices()


class KernelCache:
    """The cache of one kernel, with the interface of numba's dispatcher."""

    def __init__(self, function: Any) -> None:
        self._source = Path(inspect.getfile(function))
        self._name = f"{self._source.stem}.{function.__qualname__}"
        self._began: dict[str, float] = {}

    @property
    def cache_path(self) -> str | None:
        """The folder, or None where none is writable."""
        folder = writable_folder(self._source.parent)
        return None if folder is None else str(folder)

    def load_overload(self, signature: Any, target: Any) -> Any:
        """Return the stored code for ``signature``, or None, upon which numba compiles it."""
        # The runtime of compiled code; numba's other preparations are for compiling, and take half a second.
        rtsys.initialize(target)
        folder = writable_folder(self._source.parent)
        if folder is not None:
            path = folder / self._file_name(signature, target.codegen())
            payload = self._read(path)
            if payload is not None:
                return _rebuilt(target, payload)
        target.refresh()
        NOTICES.about_to_compile(folder)
        self._began[repr(signature)] = time.monotonic()
        return None

    def save_overload(self, signature: Any, compiled: Any) -> None:
        NOTICES.compiled(time.monotonic() - self._began.pop(repr(signature), time.monotonic()))
        folder = writable_folder(self._source.parent)
        if folder is None or compiled.library.has_dynamic_globals or any(compiled.lifted):
            return
        path = folder / self._file_name(signature, compiled.library.codegen)
        try:
            _replace(path, sealed(compiled._reduce(), source_stamp(self._source)))
        except OSError as error:
            NOTICES.not_kept(folder, error)

    def flush(self) -> None:
        """Remove the kernel's files (for numba's ``recompile``)."""
        folder = writable_folder(self._source.parent)
        for path in [] if folder is None else folder.glob(f"{self._name}-*.nbc"):
            path.unlink(missing_ok=True)

    def _read(self, path: Path) -> Any:
        try:
            return unsealed(path.read_bytes(), source_stamp(self._source))
        except FileNotFoundError:
            return None
        except (OSError, ValueError) as error:
            NOTICES.damaged(path, error)
            return None

    def _file_name(self, signature: Any, codegen: Any) -> str:
        key = (repr(signature), codegen.magic_tuple(), numba.__version__, platform.python_version())
        return f"{self._name}-{hashlib.sha256(repr(key).encode()).hexdigest()[:24]}.nbc"


def sealed(payload: Any, stamp: bytes) -> bytes:
    content: bytes = stamp + dumps(payload)
    return hashlib.sha256(content).digest() + content


def unsealed(content: bytes, stamp: bytes) -> Any:
    """Return the payload, or None where it is of another source; ValueError for corrupted content."""
    digest, rest = content[:DIGEST_BYTES], content[DIGEST_BYTES:]
    if hashlib.sha256(rest).digest() != digest:
        raise ValueError("it is damaged")
    return _Payload(BytesIO(rest[DIGEST_BYTES:])).load() if rest[:DIGEST_BYTES] == stamp else None


class _Payload(pickle.Unpickler):
    """Unpickles compiled code without importing its source modules and parts of numba."""

    def find_class(self, module: str, name: str) -> Any:
        if (module, name) == ("numba.core.environment", "_rebuild_env"):
            return _environment
        return super().find_class(module, name)


def _environment(module: str, constants: list[Any], name: str) -> Environment:
    """Return the constants of a compiled function, without its globals, which it never reads."""
    known: Environment | None = lookup_environment(name)
    if known is not None:
        return known
    environment = Environment({"__name__": module})
    environment.consts[:] = constants
    environment.env_name = name
    Environment._memo[name] = environment
    return environment


def _rebuilt(target: Any, payload: Any) -> Any:
    """Return the compiled kernel; its bitcode is read only to compile its callers."""
    (name, kind, (machine_code, bitcode)), described, *rest = payload
    # numba looks up only functions declared in bitcode.
    named = llvm.parse_assembly(f'@"{described.llvm_cpython_wrapper_name}" = global i8 0').as_bitcode()
    compiled = CompileResult._rebuild(target, (name, kind, (machine_code, named)), described, *rest)
    library = compiled.library

    def module_for_linking() -> Any:
        if not hasattr(library, "_bitcode_read"):
            library._shared_module = llvm.parse_bitcode(bitcode)
            library._bitcode_read = True
        return library._shared_module

    library._get_module_for_linking = module_for_linking
    return compiled


@cache
def source_stamp(path: Path) -> bytes:
    """Return a digest of a module of kernels and of those that it imports, directly or not."""
    source = path.read_bytes()
    digest = hashlib.sha256(source)
    for name in sorted(set(_OUR_IMPORT.findall(source))):
        digest.update(source_stamp(KERNELS.joinpath(*name.decode().split(".")).with_suffix(".py")))
    return digest.digest()


@cache
def writable_folder(source: Path) -> Path | None:
    """Return the first writable folder for compiled kernels of the folder ``source``, or None."""
    for folder in _folders(source):
        with suppress(OSError):
            folder.mkdir(parents=True, exist_ok=True)
            tempfile.TemporaryFile(dir=folder).close()
            return folder
    return None


def _folders(source: Path) -> Iterator[Path]:
    """Yield possible folders: the user's choice, next to the source, in the user's cache."""
    apart = f"{source.name}_{hashlib.sha256(str(source).encode()).hexdigest()[:16]}"
    if os.environ.get("NUMBA_CACHE_DIR"):
        yield Path(os.environ["NUMBA_CACHE_DIR"]) / apart
    yield source / "__pycache__"
    of_user = Path(AppDirs(appname="qsproj", appauthor=False).user_cache_dir)
    if of_user.is_absolute():  # without a home directory it is the literal "~/.cache"
        yield of_user / apart


def _replace(path: Path, content: bytes) -> None:
    """Write a temporary file and rename it: other processes see the old file or the complete new one."""
    descriptor, beside = tempfile.mkstemp(dir=path.parent, prefix=f"{path.name}.")
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
        Path(beside).replace(path)
    except OSError:
        Path(beside).unlink(missing_ok=True)
        raise
