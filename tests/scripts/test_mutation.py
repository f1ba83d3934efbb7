"""The mutation check changes one place at a time, and sees what tests notice."""

from __future__ import annotations

from pathlib import Path

import pytest

from scripts.experiments import mutation
from scripts.experiments.mutation import Mutation, mutations, room_tests, survivors

SOURCE = b'''"""Doc 1."""

from math import sqrt

LIMIT: int = 3


def share(part: float, whole: float, *, known: bool = True) -> float:
    """Say 1."""
    if part < 0 and known:
        raise ValueError(f"found {part - 1}")
    return round(part + whole, ndigits=2)
'''


@pytest.fixture(autouse=True)
def plain_pytest(monkeypatch):
    """Plugins take longer to start than the tests here."""
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")


def test_places_that_run_are_changed():
    path = Path("qsproj/share.py")
    found = {one.described(SOURCE).removeprefix(f"{path}:") for one in mutations(path, SOURCE)}
    assert found == {
        "5: 3 -> (4)".replace(" -> ", "  ->  "),
        "8: True  ->  (False)",
        "10: part < 0 and known  ->  (part < 0 or known)",
        "10: part < 0  ->  (part <= 0)",
        "10: 0  ->  (1)",
        "12: round(part + whole, ndigits=2)  ->  (round(part + whole))",
        "12: part + whole  ->  (part - whole)",
        "12: part + whole  ->  (part)",
        "12: 2  ->  (3)",
    }


def test_every_change_is_source_that_can_be_read():
    for path in (Path("qsproj/training/em.py"), Path("qsproj/models/arc/arc_training.py")):
        source = (mutation.CHECKOUT / path).read_bytes()
        found = mutations(path, source)
        assert len(found) > 20
        for one in found:
            compile(one.applied(source), str(path), "exec")
            assert one.applied(source) != source


def test_tests_of_a_room():
    assert room_tests(Path("qsproj/models/arc/arc_training.py")) == "tests/models/arc"
    assert room_tests(Path("qsproj/training/em.py")) == "tests/training"
    with pytest.raises(mutation.UsageError, match="no tests of its room"):
        room_tests(Path("qsproj/errors.py"))


@pytest.mark.slow
def test_survivors_are_what_no_test_notices(tmp_path):
    (tmp_path / "share.py").write_bytes(SOURCE)
    (tmp_path / "test_share.py").write_text(
        "from share import share\n\ndef test_share():\n    assert share(0.5, 0.251) == 0.75\n"
    )
    path = Path("share.py")
    tried = [one for one in mutations(path, SOURCE) if one.line == 5 or one.text == "(part)"]
    left = [one.described(SOURCE) for one in survivors(tmp_path, tried, {path: ["test_share.py"]})]
    assert (len(tried), left) == (2, ["share.py:5: 3  ->  (4)"])
    assert (tmp_path / "share.py").read_bytes() == SOURCE


@pytest.mark.slow
def test_tests_that_fail_unchanged_are_no_measure(tmp_path):
    (tmp_path / "share.py").write_bytes(SOURCE)
    (tmp_path / "test_share.py").write_text("def test_share():\n    assert False\n")
    one = Mutation(Path("share.py"), 5, 0, 1, "(1)")
    with pytest.raises(mutation.UsageError, match="fail unchanged"):
        list(survivors(tmp_path, [one], {one.path: ["test_share.py"]}))


@pytest.mark.slow
def test_tests_that_run_for_ever_notice_the_change(tmp_path, monkeypatch):
    monkeypatch.setattr(mutation, "PATIENCE", 1.0)
    monkeypatch.setattr(mutation, "GRACE", 0.5)
    (tmp_path / "count.py").write_bytes(b"STEP = 1\n")
    (tmp_path / "test_count.py").write_text(
        "import count\n\ndef test_it():\n    k = 0\n    while k != 1:\n        k += count.STEP\n"
    )
    path = Path("count.py")
    endless = Mutation(path, 1, 7, 8, "2")
    assert list(survivors(tmp_path, [endless], {path: ["test_count.py"]})) == []
    code, seconds = mutation.run_tests(tmp_path, ["test_count.py"])
    assert (code, seconds < 60.0) == (0, True)
