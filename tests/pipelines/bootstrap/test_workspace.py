"""Stages are made once for what they are made of, and again when any of that has changed."""

from __future__ import annotations

import json
import os
import pickle
from dataclasses import dataclass
from pathlib import Path

import pytest

from qsproj.corpus.files import copy_to, partial_of
from qsproj.errors import DataError, UsageError
from qsproj.parallel import Workers
from qsproj.pipelines.bootstrap.bootstrap import Estimate, expected_seconds, in_short
from qsproj.pipelines.bootstrap.checks import Sizes
from qsproj.pipelines.bootstrap.workspace import (
    InputPath,
    StageOutput,
    StageReport,
    StageResult,
    Workspace,
    stage,
)


@pytest.fixture
def text(tmp_path):
    path = tmp_path / "input.txt"
    path.write_text("one")
    return path


class Maker:
    """Makes a stage, and remembers how often it was asked to."""

    def __init__(self):
        self.calls = 0

    def __call__(self, paths, **arguments):
        self.calls += 1
        for path in paths:
            path.write_text(f"made {self.calls}")
        return StageReport(line=f"made {self.calls}", figures={"calls": self.calls})


def declared(workspace, make, text, *, options=None, version=1):
    first = workspace.declare(stage("first", version=version)(make), text=InputPath(text), options=options)
    second = workspace.declare(stage("second", version=1)(make), first=first.file, fixed=["fixed"])
    return first, second


def stages(workspace, make, text, **more):
    return [workspace.complete(one)[0] for one in declared(workspace, make, text, **more)]


def plan(workspace, make, text, **more):
    return [workspace.state(one) for one in declared(workspace, make, text, **more)]


def run(folder, make, text, *, say=lambda _: None, language="de", **more):
    return stages(Workspace(folder, run=language, say=say), make, text, **more)


def test_a_stage_is_made_once(tmp_path, text):
    make, lines = Maker(), []
    first, second = run(tmp_path / "work", make, text)
    again = run(tmp_path / "work", make, text, say=lines.append)
    assert make.calls == 2
    assert [one.kept for one in (first, second, *again)] == [False, False, True, True]
    assert again[1].files == second.files
    assert again[1].report == second.report
    assert [line.split(" (")[1] for line in lines] == ["kept)", "kept)"]


def test_another_input_makes_all_that_follows_again(tmp_path, text):
    make = Maker()
    run(tmp_path / "work", make, text)
    text.write_text("two")
    run(tmp_path / "work", make, text)
    assert make.calls == 4


def test_a_file_under_another_name_is_the_same_input(tmp_path, text):
    make = Maker()
    run(tmp_path / "work", make, text)
    run(tmp_path / "work", make, text.rename(tmp_path / "renamed"))
    assert make.calls == 2


def test_another_option_makes_all_that_follows_again_and_the_old_is_kept(tmp_path, text):
    make = Maker()
    run(tmp_path / "work", make, text, options={"seed": 1})
    run(tmp_path / "work", make, text, options={"seed": 2})
    assert make.calls == 4
    run(tmp_path / "work", make, text, options={"seed": 1})
    assert make.calls == 4


def test_another_version_makes_all_that_follows_again(tmp_path, text):
    make = Maker()
    run(tmp_path / "work", make, text)
    run(tmp_path / "work", make, text, version=2)
    assert make.calls == 4


@dataclass(frozen=True)
class Bundle:
    """Arguments within arguments."""

    path: str
    number: int


def test_all_arguments_count_wherever_they_stand_but_for_those_aside(tmp_path, text):
    make = Maker()
    recipe = stage("first", version=1)(make)
    workspace = Workspace(tmp_path / "work")

    def asked(path=text, number=1, more=(), aside=None):
        bundles = [Bundle(InputPath(path), number)]
        stage_asked = workspace.declare(recipe, bundles=bundles, more=more, aside=aside)
        return workspace.complete(stage_asked)[0].files

    before = asked()
    other = tmp_path / "other"
    other.write_text("other")
    assert asked(aside={"workers": 2}) == before
    assert make.calls == 1
    assert len({before, asked(other), asked(number=2), asked(more=("x",)), asked(more=("x", None))}) == 5
    assert make.calls == 5


def test_a_made_path_crosses_processes():
    made = pickle.loads(pickle.dumps(StageOutput("folder/file", "key")))
    assert (made, made.key) == ("folder/file", "key")


def test_a_stage_that_failed_is_made_again(tmp_path, text):
    def fail(paths, **arguments):
        paths[0].write_text("half")
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run(tmp_path / "work", fail, text)
    make = Maker()
    first, _ = run(tmp_path / "work", make, text)
    assert make.calls == 2
    assert Path(first.files[0]).read_text() == "made 1"


@pytest.mark.parametrize(
    "damage", ["", "{}", '{"line": "x"}', "no JSON", "[]", '{"files": 3, "line": 2}', "[" * 100_000]
)
def test_a_damaged_record_makes_the_stage_again(tmp_path, text, damage):
    make = Maker()
    run(tmp_path / "work", make, text)
    for record in (tmp_path / "work").glob("*.json"):
        record.write_text(damage)
    run(tmp_path / "work", make, text)
    assert make.calls == 4


def test_a_missing_file_makes_the_stage_again(tmp_path, text):
    make = Maker()
    first, _ = run(tmp_path / "work", make, text)
    Path(first.files[0]).unlink()
    run(tmp_path / "work", make, text)
    assert make.calls == 3


def test_a_file_that_was_changed_by_hand_is_named(tmp_path, text):
    make = Maker()
    first, _ = run(tmp_path / "work", make, text)
    Path(first.files[0]).write_text("other")
    with pytest.raises(DataError, match=r"first-\w+\.model: found changed content.* delete it; the stage"):
        run(tmp_path / "work", make, text)
    Path(first.files[0]).unlink()
    run(tmp_path / "work", make, text)
    assert make.calls == 3


def test_the_record_can_be_read(tmp_path, text):
    first, _ = run(tmp_path / "work", Maker(), text)
    record = json.loads(next((tmp_path / "work").glob("first-*.json")).read_text())
    assert record["line"] == first.report.line
    assert record["figures"] == {"calls": 1}
    assert record["runs"] == ["de"]


def test_what_cannot_be_read_is_named(tmp_path):
    recipe = stage("first", version=1)(Maker())
    with pytest.raises(UsageError, match=r"missing\.txt: cannot be read"):
        Workspace(tmp_path / "work").declare(recipe, text=InputPath(tmp_path / "missing.txt"))


def test_a_folder_that_cannot_be_made_is_named(tmp_path, text):
    with pytest.raises(UsageError, match="cannot be made"):
        Workspace(text / "work")


def test_a_copy_is_whole(tmp_path, text):
    copy_to(str(text), str(tmp_path / "copy"))
    assert (tmp_path / "copy").read_text() == "one"


def test_a_stage_that_is_numbered_otherwise_is_kept(tmp_path, text):
    make = Maker()
    recipe = stage("source", version=1)(make)
    workspace = Workspace(tmp_path / "work")
    declared = [workspace.declare(recipe, text=InputPath(text), label=label) for label in ("", "-1")]
    one, numbered = (workspace.complete(each)[0] for each in declared)
    assert (one.name, numbered.name) == ("source", "source-1")
    assert (numbered.kept, numbered.files, make.calls) == (True, one.files, 1)


def test_what_other_runs_left_is_told_and_removed(tmp_path, text):
    folder = tmp_path / "work"
    first, _ = run(folder, Maker(), text, options=1)
    (folder / "notes.txt").write_text("mine")
    workspace = Workspace(folder, run="de")
    workspace.complete(workspace.declare(stage("first", version=1)(Maker()), text=InputPath(text), options=2))
    assert first.files[0] in map(str, workspace.unused())
    assert len(workspace.unused()) == 4
    workspace.remove_unused()
    assert workspace.unused() == []
    assert len(list(folder.iterdir())) == 3
    assert (folder / "notes.txt").exists()


def test_what_runs_of_other_languages_use_stays(tmp_path, text):
    folder, make = tmp_path / "work", Maker()
    run(folder, make, text, language="es")
    run(folder, make, text, language="de", options=1)
    # The first of its stages is shared with the run in Spanish.
    run(folder, make, text, language="sv")
    assert make.calls == 4
    workspace = Workspace(folder, run="de")
    stages(workspace, make, text, options=2)
    assert len(workspace.unused()) == 4
    # Each file is counted once, although some are of two runs.
    run(folder, make, text, language="annotate-es")
    others, runs = workspace.of_other_runs()
    assert (len(others), runs) == (4, "annotate of es, bootstrap of es, bootstrap of sv")
    workspace.remove_unused()
    run(folder, make, text, language="es")
    assert make.calls == 6
    run(folder, make, text, language="de", options=1)
    assert make.calls == 8


def test_what_a_killed_run_left_half_written_is_removed(tmp_path, dead_process):
    left = partial_of(tmp_path / "parser-0.model")
    left = left.with_name(left.name.replace(str(os.getpid()), str(dead_process)))
    left.write_text("half")
    Workspace(tmp_path)
    assert not left.exists()


def test_a_plan_tells_what_is_kept_and_makes_nothing(tmp_path, text):
    make, lines = Maker(), []
    workspace = Workspace(tmp_path / "work", say=lines.append)
    planned = plan(workspace, make, text)
    assert [(one.name, one.kept) for one in planned] == [("first", False), ("second", False)]
    assert (make.calls, lines, workspace.stages) == (0, [], [])
    done = stages(workspace, make, text)
    assert [one.files for one in planned] == [one.files for one in done]
    planned = plan(workspace, make, text, options="other")
    assert [one.kept for one in planned] == [False, False]
    Path(done[1].files[0]).unlink()
    planned = plan(workspace, make, text)
    assert [one.kept for one in planned] == [True, False]


def test_what_is_left_to_do_is_told_by_what_was_done(tmp_path, text):
    workspace, make = Workspace(tmp_path / "work"), Maker()
    workspace.complete(workspace.declare(stage("second", version=1)(make), first=1))
    planned = plan(workspace, make, text)
    estimate = Estimate(planned, {"first": 60.0, "second": 300.0})
    assert estimate.whole() == "2 stages, 0 of them kept; about 6 min left on one core"
    assert estimate.begun("first") == "first: begun, stage 1 of 2; about 6 min left on one core"
    # Half as fast as expected: so will the rest be.
    estimate.ended("first", 120.0)
    assert estimate.begun("second") == "second: begun, stage 2 of 2; about 10 min left on one core"
    stages(workspace, make, text)
    kept = Estimate(plan(workspace, make, text), {"first": 60.0, "second": 300.0})
    assert kept.whole() == "2 stages, 2 of them kept"
    links = Estimate([StageResult(name="links-2", files=())], {"links-2": 0.0})
    assert links.begun("links-2") == "word alignment (2): begun, stage 1 of 1"


def test_a_short_line_keeps_what_is_said_of_the_data_of_a_person():
    report = StageReport(line="learned from 2 sentences; they are in another style", figures={})
    of_stages = [StageResult(name=name, files=(), report=report) for name in ("words-1", "learned")]
    assert [in_short(one).partition(" (0")[0] for one in of_stages] == [
        "both sides tokenised (1): learned from 2 sentences",
        "annotated sentences learned: learned from 2 sentences; they are in another style",
    ]


def test_stages_of_each_source_are_expected_to_take_as_long_as_it_is_large():
    small = Sizes(treebank=1000, pairs=100, source=2000, target=2000)
    large = Sizes(treebank=2000, pairs=100, source=4000, target=2000)
    names = ["source-1", "source-2", "trees-1", "trees-2", "prior"]
    seconds = expected_seconds([small, large], names)
    assert seconds["source-2"] == pytest.approx(2 * seconds["source-1"])
    assert seconds["trees-2"] == pytest.approx(2 * seconds["trees-1"])
    assert seconds["prior"] == pytest.approx(3 * expected_seconds([small], ["prior"])["prior"])


def made_by_another(paths, *, text):
    paths[0].write_text(f"{text} by {os.getpid()}")
    return StageReport(line="made", figures={})


def at_once(workspace, recipe, each, *, labels, workers):
    declared = [
        workspace.declare(recipe, label=label, **one) for one, label in zip(each, labels, strict=True)
    ]
    return workspace.complete(*declared, workers=workers)


@pytest.mark.parametrize(("jobs", "alike"), [(1, True), (2, False)])
def test_stages_that_do_not_depend_on_each_other_are_made_at_the_same_time(tmp_path, jobs, alike):
    lines = []
    workspace = Workspace(tmp_path / "work", say=lines.append)
    recipe = stage("source", version=1)(made_by_another)
    each = [{"text": name} for name in ("one", "other", "one")]
    given = {"labels": ["-1", "-2", "-3"], "workers": Workers(jobs=jobs)}
    first, second, again = at_once(workspace, recipe, each, **given)
    assert first.files == again.files
    (one, here), (other, _) = (Path(stage.files[0]).read_text().split(" by ") for stage in (first, second))
    assert (one, other) == ("one", "other")
    assert (int(here) == os.getpid()) == alike
    assert not any(line.endswith("(kept)") for line in lines[:2])
    lines.clear()
    at_once(Workspace(tmp_path / "work", say=lines.append), recipe, each, **given)
    assert [line.rpartition(" ")[2] for line in lines] == ["(kept)"] * 3
