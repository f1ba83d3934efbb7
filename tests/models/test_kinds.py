"""A kind of model that nobody has thought of: its class and one row are enough for all commands."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest

import qsproj
from qsproj.corpus.conllu import write_conllu
from qsproj.corpus.editing import with_heads, with_probabilities
from qsproj.errors import DataError
from qsproj.models.parser import ArcPosterior, Parser, load_parser, trees_of
from qsproj.models.schema import checked, shaped, text
from qsproj.models.storage import KINDS, Kind
from qsproj.models.tree_decoder import TreeDecoder, of_tree
from qsproj.serve.review.inference import FixedCells, infer_rest
from qsproj.serve.review.retraining import Retraining, Reviewed
from tests.cli.refusals import SAMPLE


@dataclass(frozen=True)
class Nearest(Parser):
    """A parser whose words depend on the word before, or after, as a weight says."""

    relation: str
    weight: np.ndarray

    refuses_training = None
    inference = TreeDecoder(projective=False, single_root=False)

    def scores(self, sentence, given):
        scores = np.full((len(sentence) + 1,) * 2, -9.0)
        for word in range(1, len(sentence) + 1):
            scores[word - 1, word] = self.weight[0]
            scores[(word + 1) % (len(sentence) + 1), word] = -self.weight[0]
        return scores, self.inference if given is None else given.within(self.inference)

    def posterior(self, sentence, given=None):
        scores, inference = self.scores(sentence, given)
        return ArcPosterior(inference.infer(scores)[1])

    def parse_all(self, sentences, *, decode="mbr", confidence=False, known=None):
        for sentence in sentences:
            given = None if known is None else known(sentence)
            scores, inference = self.scores(sentence, given)
            names = (self.relation,) * len(sentence)
            names = names if given is None else given.keep_relations(names)
            parsed = with_heads(sentence, inference.decode(scores, decode), names)
            chances = of_tree(inference.infer(scores)[1], parsed.heads)
            yield with_probabilities(parsed, "ArcProb", chances) if confidence else parsed

    def fine_tuned(self, trees, *, rng):
        before = [(one.heads[1:] == np.arange(len(one))).mean() for one in trees_of(trees)]
        return replace(self, weight=np.array([8.0 if np.mean(before) > 0.5 else -8.0]))

    def to_archive(self):
        return {"relation": self.relation}, {"weight": self.weight}

    @staticmethod
    def from_archive(header: dict[str, Any], arrays: Mapping[str, np.ndarray]):
        checked(header, {"relation": text})
        return Nearest(header["relation"], shaped(arrays, "weight", (1,)))

    @staticmethod
    def described(header):
        return {"direction": "one word on", "relation": header["relation"]}


@pytest.fixture
def stranger(monkeypatch, tmp_path):
    monkeypatch.setitem(KINDS, "nearest", Kind(__name__, "Nearest", "parser of neighbours", "qsproj parse"))
    path = tmp_path / "nearest.model"
    Nearest("dep", np.array([1.5])).save(path, made={"command": "test"})
    return path


def test_it_is_saved_and_loaded(stranger):
    assert isinstance(load_parser(stranger), Nearest)
    sentence = qsproj.Sentence.from_words(["a", "b", "c"], upos=["X"] * 3)
    model = qsproj.load_model(stranger)
    assert model.parse(sentence).heads.tolist() == [-1, 0, 1, 2]
    assert model.arc_probabilities(sentence)[:, 1:].sum(axis=0) == pytest.approx(1.0)


def test_info_tells_what_it_is(stranger, run_cli):
    outcome = run_cli("info", stranger, "--json")
    assert outcome.code == 0, outcome.err
    assert json.loads(outcome.out) == {
        **{"kind": "nearest", "what": "parser of neighbours", "use": "qsproj parse"},
        **{"bytes": stranger.stat().st_size, "numbers": 1},
        **{"direction": "one word on", "relation": "dep", "made": {"command": "test"}},
    }


def test_commands_parse_by_it(stranger, run_cli, tmp_path):
    tagger = tmp_path / "de.tagger"
    assert run_cli("train-tagger", SAMPLE, "--language", "de", "-o", tagger).code == 0
    outcome = run_cli("parse", "-m", stranger, SAMPLE, "-o", tmp_path / "parsed.conllu")
    assert outcome.code == 0, outcome.err
    parsed = list(qsproj.read_conllu(tmp_path / "parsed.conllu"))
    assert all(sentence.heads.tolist() == [-1, *range(len(sentence))] for sentence in parsed)
    assert {relation for sentence in parsed for relation in sentence.deprels} == {"dep"}
    both = tmp_path / "both.model"
    assert run_cli("bundle", tagger, stranger, "-o", both).code == 0
    assert qsproj.load_model(both).parse("Der Hund schläft.").heads.tolist() == [-1, 0, 1, 2, 3]
    assert json.loads(run_cli("info", both, "--json").out)["parser"]["direction"] == "one word on"
    assert run_cli("suggest", "-m", stranger, SAMPLE, "--count", "2", "-o", tmp_path / "next").code == 0


def test_it_completes_trees(stranger, run_cli, tmp_path):
    half = tmp_path / "half.conllu"
    one = qsproj.Sentence.from_words(list("abc"), upos=["X"] * 3)
    write_conllu([with_heads(one, [-1, 3, -1, -1], ["_", "told", "_"])], half)
    outcome = run_cli(
        "parse", "-m", stranger, half, "--fixed", "--confidence", "-o", tmp_path / "whole.conllu"
    )
    assert outcome.code == 0, outcome.err
    (whole,) = qsproj.read_conllu(tmp_path / "whole.conllu")
    assert whole.heads[1] == 3
    assert whole.deprels == ("dep", "told", "dep")
    assert "ArcProb=1.0000" in str(whole.layout.lines)


def test_it_is_reviewed_and_trained(stranger, tmp_path):
    parser, sentence = load_parser(stranger), qsproj.Sentence.from_words(list("abc"), upos=["X"] * 3)
    fixed = FixedCells((3, -1, -1), ("_",) * 3, ("X",) * 3, (False,) * 3)
    rest = infer_rest(parser, sentence, fixed)
    assert (rest.heads[0], rest.chances[0]) == (3, 1.0)
    path = tmp_path / "draft.conllu"
    others = [with_heads(sentence, [-1, 2, 3, 0], ("dep",) * 3)] * 4
    write_conllu(others, path)
    training = Retraining(parser, str(tmp_path / "trained.model"), 1)
    found = training(Reviewed(path.read_bytes(), str(path), range(3), range(3, 4)))
    assert found.summary["after"]["uas"] == 100.0
    assert load_parser(found.model).parse(sentence).heads.tolist() == [-1, 2, 3, 0]


def test_what_is_wrong_with_its_file_is_told(stranger, tmp_path):
    Nearest("dep", np.zeros(2)).save(tmp_path / "bad")
    with pytest.raises(DataError, match=r"weight has shape .2,. of float64, expected .1,."):
        qsproj.load_model(tmp_path / "bad")
