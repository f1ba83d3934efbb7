"""An objective that is added by its row alone, as docs/architecture.md says, trains from everywhere."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace

import numpy as np
import pytest

import qsproj
from qsproj.conventions import Heads
from qsproj.models.arc import training_options
from qsproj.models.arc.training_options import OBJECTIVES, ArcObjective, objective_named
from tests.oracles.finite_differences import gradient

CORPUS = "corpora/en.conllu"


@dataclass(frozen=True)
class HeadSelection:
    """Negative log-probability of each word's head, whatever the heads of others are."""

    heads: Heads

    def value_and_gradient(self, scores):
        words = np.arange(1, len(self.heads))
        columns = scores.copy()
        np.fill_diagonal(columns, -np.inf)
        chances = np.exp(columns - np.logaddexp.reduce(columns, axis=0))
        slopes = chances.copy()
        slopes[self.heads[words], words] -= 1.0
        slopes[:, 0] = 0.0
        return -float(np.log(chances[self.heads[words], words]).sum()), slopes


STRANGER = ArcObjective(
    name="heads",
    purpose="each head for itself, a tree only when parsing",
    loss_of=lambda gold, _: HeadSelection(gold.heads) if gold.whole else None,
    reads=("l2", "cost"),
    epochs=3,
    l2=2.0,
    whole=True,
)
TWIN = replace(objective_named("margin"), name="twin")


@pytest.fixture(autouse=True)
def rows(monkeypatch):
    monkeypatch.setattr(training_options, "OBJECTIVES", (*OBJECTIVES, STRANGER, TWIN))


@pytest.fixture(scope="module")
def trees():
    return list(qsproj.read_conllu(CORPUS))[:40]


def test_its_gradient_is_right():
    scores = np.random.default_rng(1).normal(size=(4, 4))
    loss = HeadSelection(np.array([-1, 2, 0, 2], dtype=np.int32))
    slopes = loss.value_and_gradient(scores)[1]
    expected = gradient(lambda x: loss.value_and_gradient(x)[0], scores)
    np.testing.assert_allclose(slopes, expected, atol=1e-6)


def test_from_python(trees):
    parser = qsproj.train_parser(trees, objective="heads", features="words")
    right = [parser.parse(tree).heads[1:] == tree.heads[1:] for tree in trees]
    assert np.concatenate(right).mean() > 0.95
    other = qsproj.train_parser(trees, objective="likelihood", features="words")
    assert not np.array_equal(parser.scorer.weights, other.scorer.weights)
    with pytest.raises(qsproj.QsprojError, match=r"unknown objective 'tails'; known: .*hidden, heads, twin"):
        qsproj.train_parser(trees, objective="tails")
    with pytest.raises(qsproj.QsprojError, match="margin and likelihood and twin, by sgd, not heads"):
        qsproj.train_parser(trees, objective="heads", labels="joint")
    with pytest.raises(qsproj.QsprojError, match="objective of a second-order parser 'heads'; known: margin"):
        qsproj.train_parser(trees, objective="heads", order=2)


def test_from_the_command_line(run_cli, tmp_path):
    options = ("--objective", "heads", "--features", "words")
    outcome = run_cli("train", CORPUS, "-o", tmp_path / "m", *options, "--l2", "3")
    assert outcome.code == 0
    assert "projective parser, one root, 3 epochs\n" in outcome.err
    made = json.loads(run_cli("info", tmp_path / "m", "--json").out)["made"]["options"]
    assert (made["objective"], made["l2"], made["cost"]) == ("heads", 3.0, 0.01)
    assert "best" not in made
    refused = run_cli("train", CORPUS, "-o", tmp_path / "m", *options, "--best", "1")
    assert refused.code == 2
    assert "--best belongs to --objective mira-kbest; leave it out" in refused.err
    refused = run_cli("train", CORPUS, "-o", tmp_path / "m", *options, "--unlabelled", CORPUS)
    assert "--unlabelled belongs to --objective margin, likelihood, risk, hidden, twin;" in refused.err
    told = run_cli("train", "--help").out
    assert "heads 3, perceptron 3, risk 8, eg 20" in " ".join(told.split())


@pytest.mark.parametrize("way", [(), ("--labels", "joint"), ("--order", "2"), ("--joint-tags",)])
def test_a_margin_by_another_name_trains_the_same_parser_of_every_kind(run_cli, tmp_path, trees, way):
    small = tmp_path / "small.conllu"
    qsproj.write_conllu(trees[:12], small)
    for name in ("margin", "twin", "likelihood"):
        options = ("--objective", name, "--features", "words", "--epochs", "1", *way)
        assert run_cli("train", small, "-o", tmp_path / name, *options).code == 0
    margin, twin, other = (
        run_cli("parse", "-m", tmp_path / name, small, "--confidence").out
        for name in ("margin", "twin", "likelihood")
    )
    assert margin == twin != other
