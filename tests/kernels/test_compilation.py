"""Compiled kernels on disk: found again, made again where damaged or stale, done without where need be."""

from __future__ import annotations

import gc
import importlib.util
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import qsproj
from qsproj.kernels import compilation
from qsproj.kernels.compilation import Notices, source_stamp, writable_folder

KERNEL = """
from qsproj.kernels.compilation import njit

@njit(cache=True)
def plus_one(number):
    return number + 1
"""

INNER = """
@njit(cache=True)
def _twice(number):
    return 2 * number

@njit(cache=True)
def plus_two(number):
    return _twice(number) + 2
"""


@pytest.fixture
def notices(monkeypatch):
    """Notices as of a process that has said nothing so far, and says at once that it compiles."""
    monkeypatch.delenv("QSPROJ_NOTICES")
    monkeypatch.delenv("NUMBA_CACHE_DIR", raising=False)
    monkeypatch.setattr(compilation, "PATIENCE", -1.0)
    monkeypatch.setattr(compilation, "NOTICES", Notices())
    yield
    source_stamp.cache_clear()
    writable_folder.cache_clear()


@pytest.fixture
def load(tmp_path, monkeypatch):
    """Import a module with one kernel, as a new process would; ``text`` is its source."""
    # Python takes bytecode for that of any source of the same second and size.
    monkeypatch.setattr(sys, "dont_write_bytecode", True)

    def load_kernel(text=KERNEL):
        source_stamp.cache_clear()
        path = tmp_path / "small.py"
        path.write_text(text)
        specification = importlib.util.spec_from_file_location("small", path)
        module = importlib.util.module_from_spec(specification)
        sys.modules["small"] = module
        specification.loader.exec_module(module)
        return module.plus_one

    yield load_kernel
    sys.modules.pop("small", None)


def hits(kernel):
    return sum(kernel.stats.cache_hits.values())


def test_compiled_code_is_found_again(notices, load, tmp_path, capfd):
    first = load()
    assert (first(1), hits(first)) == (2, 0)
    kept = sorted((tmp_path / "__pycache__").glob("*.nbc"))
    assert len(kept) == 1
    assert capfd.readouterr().err == (
        f"qsproj: compiling, once: up to half a minute, then kept for later runs in {kept[0].parent}\n"
    )
    second = load()
    assert (second(1), hits(second)) == (2, 1)
    assert (second(1.5), hits(second)) == (2.5, 1)
    assert capfd.readouterr().err == ""


def test_a_kernel_that_only_kernels_call_is_found_again_by_another_caller(notices, load):
    text = KERNEL.replace("number + 1", "_twice(number) + 1") + INNER
    assert load(text)(3) == 7
    load(text)
    module = sys.modules["small"]
    assert module.plus_two(3.5) == 9.0
    assert hits(module._twice) == 0
    load(text)
    module = sys.modules["small"]
    assert (module.plus_two(3), hits(module._twice)) == (8, 1)


def test_one_small_kernel_is_not_worth_a_line(notices, load, monkeypatch, capfd):
    monkeypatch.setattr(compilation, "PATIENCE", 100.0)
    assert load()(1) == 2
    assert capfd.readouterr().err == ""


def test_changed_source_is_compiled_again(notices, load):
    assert load()(1) == 2
    assert load(KERNEL.replace("+ 1", "+ 2"))(1) == 3


def test_the_stamp_covers_what_a_kernel_calls(notices, tmp_path, monkeypatch):
    (tmp_path / "trees").mkdir()
    callee, caller = tmp_path / "trees" / "callee.py", tmp_path / "caller.py"
    callee.write_text("X = 1\n")
    caller.write_text("from qsproj.kernels.trees.callee import X\n")
    monkeypatch.setattr(compilation, "KERNELS", tmp_path)
    before = source_stamp(caller)
    source_stamp.cache_clear()
    assert source_stamp(caller) == before
    callee.write_text("X = 2\n")
    source_stamp.cache_clear()
    assert source_stamp(caller) != before


CALLER = """

@njit(cache=True)
def refuse(numbers):
    raise ValueError("none")

@njit(cache=True)
def plus_ones(numbers):
    if len(numbers) == 0:
        refuse(numbers)
    raised = numbers.copy()
    for k in range(len(numbers)):
        raised[k] = plus_one(numbers[k])
    return raised
"""
USE = """
import numpy as np, pytest, small
assert small.plus_ones(np.ones(2)).tolist() == [2.0, 2.0]
with pytest.raises(ValueError, match="none"):
    small.plus_ones(np.ones(0))
assert sum(small.plus_ones.stats.cache_hits.values()) == {hits}
assert small.plus_one(1.0) == 2.0
assert sum(small.plus_one.stats.cache_hits.values()) == 1
"""


@pytest.mark.slow
def test_code_that_is_found_again_is_called_by_other_code(tmp_path):
    """By code that is compiled then, and by code that was compiled before; what it raises arrives."""
    (tmp_path / "small.py").write_text(KERNEL + CALLER)
    path = os.pathsep.join([str(tmp_path), str(Path(qsproj.__file__).parents[1])])

    def run(program):
        subprocess.run([sys.executable, "-c", program], env=os.environ | {"PYTHONPATH": path}, check=True)

    run("import small; small.plus_one(1.0)")
    run(USE.format(hits=0))
    run(USE.format(hits=1))


def flipped(content):
    middle = len(content) // 2
    return content[:middle] + bytes([content[middle] ^ 1]) + content[middle + 1 :]


@pytest.mark.parametrize("damage", [lambda content: content[:100], lambda _: b"", flipped])
def test_damaged_code_is_compiled_again(notices, load, tmp_path, capfd, damage):
    assert load()(1) == 2
    (kept,) = (tmp_path / "__pycache__").glob("*.nbc")
    content = kept.read_bytes()
    kept.write_bytes(damage(content))
    compilation.NOTICES._said = False
    capfd.readouterr()
    again = load()
    assert (again(1), hits(again)) == (2, 0)
    said = capfd.readouterr().err
    assert said.startswith("qsproj: compiling again") and f"cannot use {kept.name}: it is damaged" in said
    assert said.count("\n") == 1
    healed = load()
    assert (healed(1), hits(healed)) == (2, 1)


def test_a_folder_that_goes_away_is_told(notices, load, tmp_path, capfd):
    kernel = load()
    assert writable_folder(tmp_path) == tmp_path / "__pycache__"
    shutil.rmtree(tmp_path / "__pycache__")
    compilation.PATIENCE = 100.0
    assert kernel(1) == 2
    said = capfd.readouterr().err
    assert said.startswith("qsproj: compiling, in this and the next run: cannot write to")
    assert said.count("\n") == 1


@pytest.mark.slow
def test_without_a_folder_that_can_be_written(tmp_path):
    """A copy whose ``__pycache__`` are files: not even root can write into them, as on a read-only disk."""
    package = tmp_path / "qsproj"
    shutil.copytree(Path(qsproj.__file__).parent, package, ignore=shutil.ignore_patterns("__pycache__"))
    for folder in [package, *package.rglob("*/")]:
        if folder.is_dir():
            (folder / "__pycache__").touch()
    code = "from qsproj.kernels.bp.bp_arithmetic import weight_if_true as f; print(f(1.5), f(2))"
    kept_from = {"NUMBA_CACHE_DIR", "QSPROJ_NOTICES", "XDG_CACHE_HOME", "HOME"}
    environment = {name: value for name, value in os.environ.items() if name not in kept_from}
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=tmp_path,
        env=environment | {"PYTHONPATH": str(tmp_path), "HOME": os.devnull},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout) == (0, "1.5 2.0\n"), done.stderr
    assert done.stderr == (
        "qsproj: compiling, in this and every run: no folder for compiled code can be written; "
        "name one in NUMBA_CACHE_DIR\n"
    )


def test_no_garbage_is_looked_for_while_compiling(load, notices):
    looked = []

    def note(phase, _):
        looked.append(phase)

    gc.callbacks.append(note)
    try:
        assert load()(1) == 2
    finally:
        gc.callbacks.remove(note)
    assert gc.isenabled()
    assert len(looked) <= 2  # what is waiting may be looked for once, before or after


# Ctrl-C while numba takes note of what numpy.zeros is, which it does once in a process.
INTERRUPTED = """
import os, signal
import numpy as np
from numba.core.typing.context import BaseContext
from qsproj.kernels.compilation import njit

@njit()
def zeros(number):
    return np.zeros(number).sum()

def insert(context, value, its_type):
    if value is np.zeros and not told:
        told.append(True)
        os.kill(os.getpid(), signal.SIGINT)
    inserting(context, value, its_type)

told, inserting = [], BaseContext._insert_global
BaseContext._insert_global = insert
signal.signal(signal.SIGINT, signal.default_int_handler)
try:
    zeros(3)
except KeyboardInterrupt:
    print("interrupted", zeros(3), signal.getsignal(signal.SIGINT) is signal.default_int_handler)
"""


@pytest.mark.slow
def test_kernels_compile_after_an_interrupt_of_compiling():
    done = subprocess.run([sys.executable, "-c", INTERRUPTED], capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr) == ("interrupted 0.0 True\n", "")


def test_no_kernel_is_compiled_past_the_cache():
    kernels = Path(compilation.__file__).parent
    rooms = [path for path in kernels.rglob("*.py") if path.name != "compilation.py"]
    assert [path.name for path in rooms if "numba import njit" in path.read_text(encoding="utf-8")] == []
