"""A kind of model that nobody has thought of: its class and one row are enough for all commands."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import qsproj
from qsproj.corpus.editing import with_heads
from qsproj.errors import DataError
from qsproj.models.schema import checked, shaped, text
from qsproj.models.storage import KINDS, Kind, Stored, load_parser
from tests.cli.refusals import SAMPLE


@dataclass(frozen=True)
class Nearest(Stored):
    """A parser whose words depend on the word before, or after, as a weight says."""

    relation: str
    weight: np.ndarray

    def arc_probabilities(self, sentence):
        n = len(sentence)
        right = 1.0 / (1.0 + np.exp(-self.weight[0]))
        chances = np.zeros((n + 1, n + 1))
        for word in range(1, n + 1):
            chances[word - 1, word] += right
            chances[word + 1 if word < n else 0, word] += 1.0 - right
        return chances

    def parse(self, sentence, *, decode="mbr", confidence=False):
        step = -1 if self.weight[0] >= 0.0 else 1
        heads = [-1, *((word + step) % (len(sentence) + 1) for word in range(1, len(sentence) + 1))]
        return with_heads(sentence, heads, (self.relation,) * len(sentence))

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


def test_what_is_wrong_with_its_file_is_told(stranger, tmp_path):
    Nearest("dep", np.zeros(2)).save(tmp_path / "bad")
    with pytest.raises(DataError, match=r"weight has shape .2,. of float64, expected .1,."):
        qsproj.load_model(tmp_path / "bad")
