"""Scale: what is read off a command from outside, and how its figures grow."""

from __future__ import annotations

import itertools
import lzma
import sys

import pytest

from qsproj.errors import UsageError
from scripts.experiments.bench.scale import by_stage, memory_table, seconds_table, write_pairs
from scripts.experiments.bench.watched import Taken, watch

# A process that works, then starts another that holds memory; it says when it is done with either.
WORKING = """
import subprocess, sys, time
def say(line):
    print(line, file=sys.stderr, flush=True)
while time.process_time() < 0.3:
    pass
say("worked")
holding = "held = bytearray(b'x') * 300_000_000; print(flush=True); input()"
child = subprocess.Popen([sys.executable, "-c", holding], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
child.stdout.readline()
say("held")
child.wait()
"""


def python(program):
    return [sys.executable, "-c", program]


def test_time_and_memory_of_all_processes_are_told_line_by_line():
    worked, held = itertools.islice(watch(python(WORKING), go_on=lambda: True), 2)
    assert (worked.line, held.line) == ("worked", "held")
    assert worked.seconds >= 0.25
    assert worked.peak < 200 < 300 < held.peak < 400


def test_a_command_ends_where_there_is_no_time_left():
    program = "import sys, time; print('one', file=sys.stderr, flush=True); time.sleep(60)"
    lines = watch(python(program), go_on=lambda: False)
    assert [taken.line for taken in lines] == ["one"]


def test_what_a_command_fails_with_is_told():
    with pytest.raises(UsageError, match=r"nothing to learn from$"):
        list(watch(python("import sys; sys.exit('nothing to learn from')"), go_on=lambda: True))


def test_a_stage_takes_what_was_taken_since_the_stage_before():
    lines = [
        Taken("source: trained on 3 sentences (kept)", 1.0, 100.0),
        Taken("compiling ...", 2.0, 300.0),
        Taken("links: 58% linked (12 s)", 4.0, 200.0),
        Taken("bitext.tsv: also holds 2 files", 8.0, 50.0),
    ]
    assert list(by_stage(lines)) == [("links", Taken(lines[2].line, 6.0, 300.0))]


def test_short_pairs_are_repeated_and_numbered(tmp_path):
    bitext = tmp_path / "pairs.xz"
    bitext.write_bytes(lzma.compress(b"a dog\tein Hund\nit is far\tfern\nhi\tna\n"))
    write_pairs(bitext, tmp_path / "out.tsv", pairs=3, longest=2)
    assert (tmp_path / "out.tsv").read_text().splitlines() == [
        "0 a dog\t0 ein Hund",
        "0 hi\t0 na",
        "1 a dog\t1 ein Hund",
    ]


def test_growth_is_told_from_one_size_to_the_next():
    sizes = 1000, 3000, 10_000
    stages = {
        stage: [{"seconds": first + cost * size / 1e3, "peak": 500.0 + first} for size in sizes]
        for stage, first, cost in (("words", 10.0, 1.0), ("links", 0.0, 2.0))
    }
    seconds = seconds_table(sizes, stages)
    assert seconds.rows[0] == ("words", "11", "13", "20", "1.00", "1.00")
    assert seconds.rows[2] == ("all", "13", "19", "40", "3.00", "3.00")


def test_what_is_not_measured_is_an_empty_cell():
    stages = {"words": [{"seconds": 60.0, "peak": 500.0}, {}]}
    tables = {"seconds": seconds_table([10, 20], stages), "memory": memory_table([10, 20], stages)}
    assert [one.rows[-1] for one in tables.values()] == [("all", "60", "", ""), ("words", "500", "")]
