"""An interrupt is one line and exit code 130, whenever it comes, and with several processes too."""

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from qsproj.parallel import Workers, map_in_order

PROJECT = (
    "--source",
    "corpora/en.conllu",
    "--target",
    "corpora/de.conllu",
    "--alignment",
    "corpora/en-de.pharaoh",
)
JOBS = ("project", *PROJECT, "--method", "qg", "--iterations", "1000", "--jobs", "2")
TRAIN = ("train", "corpora/en.conllu", "--epochs", "1000")
# Read once by ``python -v``: from here on the code is ours.
OURS = "import qsproj.__main__"


def interrupted(arguments, output, seconds):
    """Send SIGINT to a command and all its processes, ``seconds`` after our code begins."""
    code = f"{OURS}; print(flush=True); qsproj.__main__.run()"
    process = subprocess.Popen(
        [sys.executable, "-c", code, *arguments, "-o", str(output)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        # Interrupts may be ignored where the tests were started, as behind nohup, and are then here, too.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    process.stdout.readline()
    time.sleep(seconds)
    os.killpg(process.pid, signal.SIGINT)
    return process.communicate(timeout=60)[1], process.returncode


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="signals of processes: not on this system")
def test_processes_are_started_with_interrupts_blocked():
    """Whenever an interrupt comes, as while they import, they say nothing."""
    (blocked,) = map_in_order(_blocked_signals, [None], workers=Workers(jobs=2))
    assert blocked & 1 << (signal.SIGINT - 1)


def _blocked_signals(_):
    status = Path("/proc/self/status").read_text(encoding="ascii")
    return int(re.search("SigBlk:\\s*([0-9a-f]+)", status)[1], 16)


@pytest.mark.skipif(not hasattr(os, "killpg"), reason="groups of processes: not on this system")
@pytest.mark.parametrize(
    ("arguments", "seconds"),
    # With two processes it is done after two seconds where nothing else runs.
    [(TRAIN, seconds) for seconds in (0.01, 0.1, 0.3, 0.6, 1.0, 1.5, 2.5)]
    + [(JOBS, seconds) for seconds in (0.01, 0.1, 0.3, 0.6, 1.0)],
)
def test_an_interrupt_is_one_line_at_any_time(tmp_path, arguments, seconds):
    said, code = interrupted(arguments, tmp_path / "model", seconds)
    lines = [line for line in said.splitlines() if not line.startswith("qsproj: compiling")]
    assert lines in ([f"qsproj {arguments[0]}: interrupted"], ["qsproj: interrupted"]), said
    # Python ends by the signal itself where an interrupt broke off code made from text; a shell sees 130.
    assert code in (130, -signal.SIGINT)
    assert list(tmp_path.iterdir()) == []
