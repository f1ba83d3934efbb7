"""EM that is interrupted and goes on: the same bytes as if it had never stopped."""

from __future__ import annotations

import numpy as np
import pytest

from qsproj.corpus.sentence import SentencePair, make_alignment
from qsproj.errors import DataError, UsageError
from qsproj.models.checkpoint import Checkpoint, EMRun
from qsproj.models.dmv import dmv, dmv_training
from qsproj.models.dmv.dmv_options import DmvOptions, QgOptions
from qsproj.models.dmv.dmv_training import train_dmv
from qsproj.models.qg_dmv import qg_dmv
from qsproj.models.qg_dmv.qg_dmv import train_qg_dmv
from qsproj.models.storage import load_archive, save_model
from tests.sentences import make_sentence


def pairs():
    """Twelve pairs of three lengths, with tags on either side."""
    result = []
    for number in range(12):
        n = 2 + number % 3
        tags = " ".join("ABC"[(number + word) % 3] for word in range(n))
        heads = [0, *range(1, n)]
        links = [(1 + (word + number) % n, word) for word in range(1, n + 1)]
        result.append(
            SentencePair(
                make_sentence("s " * n, tags.lower(), heads),
                make_sentence("t " * n, tags, heads),
                make_alignment(n, n, links),
            )
        )
    return result


def train(method, iterations, checkpoint=None, **changed):
    if method == "dmv":
        options = DmvOptions(iterations=iterations, tolerance=-1.0, **changed)
        return train_dmv([pair.target for pair in pairs()], options=options, run=EMRun(checkpoint=checkpoint))
    options = QgOptions(iterations=iterations, tolerance=-1.0, **changed)
    return train_qg_dmv(pairs(), options=options, run=EMRun(checkpoint=checkpoint))


def saved(model, path):
    model.save(path)
    return path.read_bytes()


@pytest.fixture(autouse=True)
def small_parts(monkeypatch):
    monkeypatch.setattr(dmv_training, "PART_SENTENCES", 5)
    monkeypatch.setattr(qg_dmv, "PART_PAIRS", 5)


@pytest.mark.parametrize("method", ["dmv", "qg"])
def test_going_on_gives_the_same_bytes(method, tmp_path):
    whole, report = train(method, 4)
    train(method, 2, Checkpoint(folder=tmp_path / "state"))
    resumed, again = train(method, 4, Checkpoint(folder=tmp_path / "state", resume=True))
    assert saved(resumed, tmp_path / "a") == saved(whole, tmp_path / "b")
    assert again == report


@pytest.mark.parametrize("method", ["dmv", "qg"])
def test_one_iteration_is_kept(method, tmp_path, monkeypatch):
    """It is not done again, neither for the same model nor for one that goes on; only the report counts."""
    whole, report = train(method, 2)
    once, _ = train(method, 1, Checkpoint(folder=tmp_path / "state"))
    e_steps = []
    counted = dmv.summed
    monkeypatch.setattr(dmv, "summed", lambda *given: e_steps.append(1) or counted(*given))
    again, _ = train(method, 1, Checkpoint(folder=tmp_path / "state", resume=True))
    assert len(e_steps) == 1
    e_steps.clear()
    assert saved(again, tmp_path / "a") == saved(once, tmp_path / "b")
    resumed, twice = train(method, 2, Checkpoint(folder=tmp_path / "state", resume=True))
    assert len(e_steps) == 2
    assert saved(resumed, tmp_path / "c") == saved(whole, tmp_path / "d")
    assert twice == report


def test_without_resume_it_starts_anew(tmp_path):
    checkpoint = Checkpoint(folder=tmp_path)
    train("dmv", 3, checkpoint)
    assert len(train("dmv", 1, checkpoint)[1].iterations) == 1


def test_a_checkpoint_of_something_else_is_refused(tmp_path):
    train("dmv", 1, Checkpoint(folder=tmp_path))
    again = Checkpoint(folder=tmp_path, resume=True)
    for method, changed in (("dmv", {"smoothing": 0.7}), ("qg", {})):
        with pytest.raises(DataError, match=r"em\.checkpoint: found a checkpoint of other data or options"):
            train(method, 2, again, **changed)


def test_a_damaged_checkpoint_is_refused(tmp_path):
    train("dmv", 1, Checkpoint(folder=tmp_path))
    (tmp_path / "em.checkpoint").write_bytes((tmp_path / "em.checkpoint").read_bytes()[:100])
    with pytest.raises(DataError, match="damaged"):
        train("dmv", 2, Checkpoint(folder=tmp_path, resume=True))


def test_a_file_is_no_folder(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(UsageError, match="cannot be made a folder"):
        train("dmv", 1, Checkpoint(folder=tmp_path / "file"))


@pytest.mark.parametrize("method", ["dmv", "qg"])
def test_parts_do_not_change_what_is_learned(method, monkeypatch):
    in_parts, _ = train(method, 3)
    monkeypatch.setattr(dmv_training, "PART_SENTENCES", 100)
    monkeypatch.setattr(qg_dmv, "PART_PAIRS", 100)
    whole, _ = train(method, 3)
    for name in ("stop", "child", "root"):
        np.testing.assert_allclose(getattr(in_parts.parameters, name), getattr(whole.parameters, name))


@pytest.mark.parametrize(
    "header", [{}, {"fingerprint": "x"}, {"records": None}, {"records": [{"iteration": "1"}]}]
)
def test_a_state_without_what_belongs_to_it_is_refused(tmp_path, header):
    train("dmv", 1, Checkpoint(folder=tmp_path))
    path = tmp_path / "em.checkpoint"
    kind, good, arrays = load_archive(path)
    save_model(path, kind, {**good, **header} if header else {}, arrays)
    with pytest.raises(DataError, match="checkpoint: found"):
        train("dmv", 2, Checkpoint(folder=tmp_path, resume=True))


def test_a_state_of_other_shapes_is_refused(tmp_path):
    train("dmv", 1, Checkpoint(folder=tmp_path))
    path = tmp_path / "em.checkpoint"
    kind, header, arrays = load_archive(path)
    save_model(path, kind, header, arrays | {"root": arrays["root"][:1]})
    with pytest.raises(DataError, match=r"checkpoint: found .*root has shape"):
        train("dmv", 2, Checkpoint(folder=tmp_path, resume=True))


@pytest.mark.parametrize("method", ["dmv", "qg"])
def test_fewer_iterations_than_were_saved_are_refused(method, tmp_path):
    train(method, 3, Checkpoint(folder=tmp_path))
    with pytest.raises(DataError, match="a checkpoint after 3 iterations, expected 2 at most; ask for more"):
        train(method, 2, Checkpoint(folder=tmp_path, resume=True))
