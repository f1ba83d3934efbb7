"""What killed processes left half-written goes with the next output of that name; all else stays."""

import os
import tempfile

import pytest

from qsproj.corpus.files import open_output, partial_of, remove_stale, temporary_folder
from qsproj.errors import UsageError


def left_by(process, path):
    """Write what a process of that number would have left of a file."""
    own = partial_of(path)
    left = own.with_name(own.name.replace(f".{os.getpid()}.", f".{process}."))
    left.write_text("half")
    return left


def test_the_next_output_of_that_name_removes_what_a_dead_process_left(tmp_path, dead_process):
    stale, other = (left_by(dead_process, tmp_path / name) for name in ("out", "other"))
    of_living = left_by(os.getppid(), tmp_path / "out")
    with open_output(tmp_path / "out") as handle:
        handle.write("whole")
        # Before anything is written: the disk may be full of what was left.
        assert not stale.exists()
    assert other.exists()
    assert of_living.exists()
    remove_stale(tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted([of_living.name, "out"])


def test_files_of_other_machines_and_other_names_stay(tmp_path, dead_process):
    own = partial_of(tmp_path / "out").name
    machine = own.split(".")[2]
    names = [
        f".out.{'0' * len(machine)}.{dead_process}.partial",
        f".out.{machine}.x.partial",
        f"out.{machine}.{dead_process}.partial",
    ]
    for name in names:
        (tmp_path / name).write_text("")
    remove_stale(tmp_path)
    assert {path.name for path in tmp_path.iterdir()} == set(names)


def test_long_names_are_shortened(tmp_path):
    assert len(partial_of(tmp_path / ("x" * 255)).name) < 100


def test_the_next_temporary_folder_removes_those_of_dead_processes(tmp_path, monkeypatch, dead_process):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    with temporary_folder() as own:
        machine = own.name.removeprefix("qsproj-").partition(".")[0]
    assert not own.exists()
    stale, living, foreign = (
        tmp_path / f"qsproj-{name}.x" for name in (f"{machine}.{dead_process}", f"{machine}.1", "other.2")
    )
    elsewhere = tmp_path / "elsewhere"
    for folder in (stale, living, foreign, elsewhere):
        folder.mkdir()
        (folder / "00000.cells.npy").write_text("")
    link = tmp_path / f"qsproj-{machine}.{dead_process}.link"
    link.symlink_to(elsewhere)
    with temporary_folder() as own:
        assert set(tmp_path.iterdir()) == {own, living, foreign, elsewhere, link}
    assert (elsewhere / "00000.cells.npy").exists()


def test_where_no_temporary_folder_can_be_made_a_message_says_so(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "missing"))
    with pytest.raises(UsageError, match="TMPDIR"), temporary_folder():
        pass
