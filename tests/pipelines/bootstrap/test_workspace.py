"""Stages are made once for what they are made of, and again when any of that has changed."""

from __future__ import annotations

import json
import os

import pytest

from qsproj.corpus.partial_files import partial_of
from qsproj.errors import UsageError
from qsproj.pipelines.bootstrap import workspace as workspaces
from qsproj.pipelines.bootstrap.workspace import Told, Workspace, copy_to


@pytest.fixture
def text(tmp_path):
    path = tmp_path / "input.txt"
    path.write_text("one")
    return path


class Maker:
    """Makes a stage, and remembers how often it was asked to."""

    def __init__(self):
        self.calls = 0

    def __call__(self, paths):
        self.calls += 1
        for path in paths:
            path.write_text(f"made {self.calls}")
        return Told(line=f"made {self.calls}", figures={"calls": self.calls})


def run(folder, make, text, *, options=None, say=lambda _: None):
    workspace = Workspace(folder, say=say)
    first = workspace.stage("first", make, made_of=[str(text)], options=options)
    second = workspace.stage("second", make, made_of=[first], options=["fixed"])
    return first, second


def test_a_stage_is_made_once(tmp_path, text):
    make, lines = Maker(), []
    first, second = run(tmp_path / "work", make, text)
    again = run(tmp_path / "work", make, text, say=lines.append)
    assert make.calls == 2
    assert [stage.kept for stage in (first, second, *again)] == [False, False, True, True]
    assert again[1].paths == second.paths
    assert again[1].told == second.told
    assert [line.split(" (")[1] for line in lines] == ["kept)", "kept)"]


def test_another_input_makes_all_that_follows_again(tmp_path, text):
    make = Maker()
    run(tmp_path / "work", make, text)
    text.write_text("two")
    run(tmp_path / "work", make, text)
    assert make.calls == 4


def test_another_option_makes_all_that_follows_again_and_the_old_is_kept(tmp_path, text):
    make = Maker()
    run(tmp_path / "work", make, text, options={"seed": 1})
    run(tmp_path / "work", make, text, options={"seed": 2})
    assert make.calls == 4
    run(tmp_path / "work", make, text, options={"seed": 1})
    assert make.calls == 4


def test_other_code_makes_everything_again(tmp_path, text, monkeypatch):
    make = Maker()
    run(tmp_path / "work", make, text)
    monkeypatch.setattr(workspaces, "code_digest", lambda: "other")
    run(tmp_path / "work", make, text)
    assert make.calls == 4


def test_a_stage_that_failed_is_made_again(tmp_path, text):
    def fail(paths):
        paths[0].write_text("half")
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run(tmp_path / "work", fail, text)
    make = Maker()
    first, _ = run(tmp_path / "work", make, text)
    assert make.calls == 2
    assert first.paths[0].read_text() == "made 1"


@pytest.mark.parametrize("damage", ["", "{}", '{"line": "x"}', "no JSON"])
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
    first.paths[0].unlink()
    run(tmp_path / "work", make, text)
    assert make.calls == 3


def test_the_record_can_be_read(tmp_path, text):
    first, _ = run(tmp_path / "work", Maker(), text)
    record = json.loads(next((tmp_path / "work").glob("first-*.json")).read_text())
    assert record["line"] == first.told.line
    assert record["figures"] == {"calls": 1}


def test_what_cannot_be_read_is_named(tmp_path):
    with pytest.raises(UsageError, match=r"missing\.txt: cannot be read"):
        Workspace(tmp_path / "work").stage("first", Maker(), made_of=[str(tmp_path / "missing.txt")])


def test_a_folder_that_cannot_be_made_is_named(tmp_path, text):
    with pytest.raises(UsageError, match="cannot be made"):
        Workspace(text / "work")


def test_a_copy_is_whole(tmp_path, text):
    copy_to(str(text), str(tmp_path / "copy"))
    assert (tmp_path / "copy").read_text() == "one"


def test_a_stage_that_is_numbered_otherwise_is_kept(tmp_path, text):
    make = Maker()
    one, numbered = (
        Workspace(tmp_path / "work").stage("source", make, made_of=[str(text)], label=label)
        for label in ("", "-1")
    )
    assert (one.name, numbered.name) == ("source", "source-1")
    assert (numbered.kept, numbered.paths, make.calls) == (True, one.paths, 1)


def test_what_other_runs_left_is_told_and_removed(tmp_path, text):
    folder = tmp_path / "work"
    first, _ = run(folder, Maker(), text, options=1)
    (folder / "notes.txt").write_text("mine")
    workspace = Workspace(folder)
    workspace.stage("first", Maker(), made_of=[str(text)], options=2)
    assert first.paths[0] in workspace.unused()
    assert len(workspace.unused()) == 4
    workspace.remove_unused()
    assert workspace.unused() == []
    assert len(list(folder.iterdir())) == 3
    assert (folder / "notes.txt").exists()


def test_what_a_killed_run_left_half_written_is_removed(tmp_path, dead_process):
    left = partial_of(tmp_path / "parser-0.model")
    left = left.with_name(left.name.replace(str(os.getpid()), str(dead_process)))
    left.write_text("half")
    Workspace(tmp_path)
    assert not left.exists()
