"""A signal that ends a command is one line and its exit code, at any time, and with several processes."""

import os
import re
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from threading import Thread

import pytest

from qsproj.cli.main import main
from qsproj.parallel import Workers, map_in_order

pytestmark = pytest.mark.skipif(not hasattr(os, "killpg"), reason="groups of processes: not on this system")

# None of these comes to an end by itself: how fast a machine is changes nothing.
TRAIN = ("train", "corpora/en.conllu", "--epochs", "1000000")
PARSE = ("parse", "--jobs", "2")
WORDS = {signal.SIGINT: "interrupted", signal.SIGTERM: "terminated", signal.SIGHUP: "terminated"}
# Runs what is told when a module is looked for.
COMMAND = """
import os, sys
class Watcher:
    def find_spec(self, name, path=None, target=None):
        if name == {module!r}:
            {told}
sys.meta_path.insert(0, Watcher())
import qsproj.__main__
qsproj.__main__.run()
"""
# Our code begins: what comes before, as while Python starts, is not ours.
BEGINS = COMMAND.format(module="qsproj.cli.main", told="print(flush=True)")


def started(arguments, output, *, code=BEGINS):
    """Start a command with a group of processes of its own; what it reads never ends."""
    process = subprocess.Popen(
        [sys.executable, "-c", code, *arguments, "-o", str(output)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
        # Signals may be ignored where the tests were started, as behind nohup, and are then here, too.
        preexec_fn=lambda: [signal.signal(number, signal.SIG_DFL) for number in WORDS],
    )
    Thread(target=feed, args=(process.stdin,), daemon=True).start()
    process.stdout.readline()
    return process


def feed(pipe):
    sentences = Path("corpora/en.conllu").read_bytes()
    with suppress(BrokenPipeError), pipe:
        while True:
            pipe.write(sentences)


def ended(process):
    """Return the lines on stderr and the exit code of a command that was told to end."""
    try:
        process.wait(timeout=120)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        raise
    with process.stdout, process.stderr:
        lines = process.stderr.read().decode().splitlines()
    return [line for line in lines if not line.startswith("qsproj: compiling")], process.returncode


def check_one_line(arguments, number, lines, code):
    said = WORDS[number]
    assert lines in ([f"qsproj {arguments[0]}: {said}"], [f"qsproj: {said}"])
    assert code == 128 + number


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    path = tmp_path_factory.mktemp("model") / "en.model"
    assert main(["train", "corpora/en.conllu", "--epochs", "1", "-o", str(path)]) == 0
    return path


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="signals of processes: not on this system")
def test_processes_are_started_with_signals_blocked():
    """Whenever a signal comes, as while they import, they say nothing."""
    (blocked,) = map_in_order(_blocked_signals, [None], workers=Workers(jobs=2))
    assert [number for number in WORDS if not blocked & 1 << (number - 1)] == []


def _blocked_signals(_):
    status = Path("/proc/self/status").read_text(encoding="ascii")
    return int(re.search("SigBlk:\\s*([0-9a-f]+)", status)[1], 16)


@pytest.mark.parametrize(
    "seconds", [0.1, *(pytest.param(late, marks=pytest.mark.slow) for late in (0, 0.5, 1))]
)
def test_an_interrupt_is_one_line_at_any_time(tmp_path, seconds):
    process = started(TRAIN, tmp_path / "model")
    time.sleep(seconds)
    os.killpg(process.pid, signal.SIGINT)
    check_one_line(TRAIN, signal.SIGINT, *ended(process))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
@pytest.mark.parametrize(
    ("number", "seconds"),
    [(signal.SIGINT, 0.3), (signal.SIGINT, 0.8), (signal.SIGINT, 1.5), (signal.SIGTERM, 1)],
)
def test_several_processes_stop_at_any_time(tmp_path, model, number, seconds):
    process = started((*PARSE, "-m", str(model)), tmp_path / "trees")
    time.sleep(seconds)
    os.killpg(process.pid, number)
    check_one_line(PARSE, number, *ended(process))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
def test_names_that_stopped_processes_leave_or_take_away_are_no_news(tmp_path):
    code = """
from joblib.externals.loky.backend.resource_tracker import register
from qsproj.parallel import Workers, map_in_order, stop_processes
print(*map_in_order(abs, [-1], workers=Workers(jobs=2)), flush=True)
register("/qsproj-gone-already", "semlock")
stop_processes()
"""
    assert ended(started((), tmp_path / "nothing", code=code)) == ([], 0)


def processes_of(session):
    """Return the processes that were started by a command, and by those that it started."""
    found = []
    for path in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            state, _, _, its = path.read_text(encoding="utf-8").rpartition(")")[2].split()[:4]
            if int(its) == session and state != "Z":
                found.append(int(path.parent.name))
    return found


def wait_until(true):
    """Wait until what is asked for is so; a slow machine gets two minutes."""
    end = time.monotonic() + 120
    while not true():
        assert time.monotonic() < end
        time.sleep(0.05)


def has_output(folder):
    """Whether a file here holds something; one that only tries the folder may be gone meanwhile."""
    for path in folder.iterdir():
        with suppress(FileNotFoundError):
            if path.stat().st_size:
                return True
    return False


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="processes of others: not on this system")
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_processes_end_with_the_one_that_started_them(tmp_path, model, number):
    process = started((*PARSE, "-m", str(model)), tmp_path / "trees")
    wait_until(lambda: has_output(tmp_path))
    assert len(processes_of(process.pid)) >= 3
    process.send_signal(number)
    process.wait()
    # The pipes end, too, so that whoever reads the output does not wait for ever.
    assert process.stdout.read() == b""
    wait_until(lambda: not processes_of(process.pid))
    lines, code = ended(process)
    if number == signal.SIGTERM:
        check_one_line(PARSE, number, lines, code)
        assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
@pytest.mark.parametrize(
    ("module", "number"),
    [
        ("qsproj.cli.main", signal.SIGTERM),
        ("argparse", signal.SIGINT),
        ("numpy", signal.SIGHUP),
        ("numba", signal.SIGINT),
        # C code imports it, and made an ImportError of the interrupt.
        ("numba._devicearray", signal.SIGINT),
        ("qsproj.kernels.compilation", signal.SIGTERM),
    ],
)
def test_a_signal_waits_for_the_end_of_an_import(tmp_path, module, number):
    code = COMMAND.format(module=module, told=f"os.kill(os.getpid(), {number:d}) or print(flush=True)")
    check_one_line(TRAIN, number, *ended(started(TRAIN, tmp_path / "model", code=code)))
    assert list(tmp_path.iterdir()) == []


def test_a_signal_that_comes_in_a_finalizer_is_not_lost(tmp_path):
    code = """
import os, signal, time
from qsproj import interrupts
class Final:
    def __del__(self):
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(1)
interrupts.raise_stopped()
print(flush=True)
try:
    Final()
    time.sleep(100)
except interrupts.Stopped:
    interrupts.ignore()
    raise SystemExit(interrupts.exit_status()[1])
"""
    assert ended(started((), tmp_path / "nothing", code=code)) == ([], 130)


def test_what_was_ignored_still_is(tmp_path):
    code = """
import os, signal
from qsproj import interrupts
signal.signal(signal.SIGHUP, signal.SIG_IGN)
interrupts.raise_stopped()
print(flush=True)
os.kill(os.getpid(), signal.SIGHUP)
"""
    assert ended(started((), tmp_path / "nothing", code=code)) == ([], 0)


def test_another_error_that_c_code_makes_of_a_signal_is_no_bug(tmp_path):
    code = """
import os, signal, time
import qsproj.__main__, qsproj.cli.main
def main():
    print(flush=True)
    try:
        os.kill(os.getpid(), signal.SIGTERM)
        time.sleep(1)
    except KeyboardInterrupt as error:
        raise SystemError from error
qsproj.cli.main.main = main
qsproj.__main__.run()
"""
    assert ended(started((), tmp_path / "nothing", code=code)) == (["qsproj: terminated"], 143)


def test_signals_wait_for_the_end_of_a_block(tmp_path):
    code = """
import os, signal, sys, threading, time
from qsproj import interrupts
interrupts.raise_stopped()
print(flush=True)
threading.Thread(target=time.sleep, args=[0.3]).start()
try:
    with interrupts.held():
        os.kill(os.getpid(), signal.SIGTERM)
        time.sleep(0.1)
        print("the end of the block", file=sys.stderr)
    time.sleep(100)
except interrupts.Stopped:
    sys.exit(interrupts.exit_status()[1])
"""
    assert ended(started((), tmp_path / "nothing", code=code)) == (["the end of the block"], 143)
