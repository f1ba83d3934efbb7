"""Parsers of both sides, and joint training that is interrupted and goes on: the same bytes."""

from __future__ import annotations

from dataclasses import fields, replace

import numpy as np
import pytest

from qsproj.corpus.conllu import read_conllu
from qsproj.corpus.pairs.aligned import AlignedFiles
from qsproj.errors import DataError
from qsproj.models.arc.arc_training import train_arc_parser
from qsproj.models.arc.training_options import TrainingOptions
from qsproj.models.checkpoint import Checkpoint
from qsproj.models.joint.joint_options import BiparseOptions, JointOptions, JointTrainingOptions
from qsproj.models.joint.joint_training import JointTrainer
from qsproj.models.joint.joint_trees import monolingual_heads, packed, train_target, tree_scores, unpacked
from qsproj.models.joint.tag_choices import TaggedArcs, learned_tags
from qsproj.models.storage import load_archive, load_model, save_model
from qsproj.pipelines.bilingual.biparse import train_joint_parser

FEW = TrainingOptions(epochs=1)
PAIRS = 4


def test_a_parser_that_attaches_marks_does_so_in_a_pair():
    parser = replace(load_model("tests/kept_models/arc-parser.model"), attaches_marks=True)
    for sentence in list(read_conllu("corpora/de.conllu"))[:3]:
        scores = tree_scores(parser, sentence)
        np.testing.assert_array_equal(scores.marginals, parser.posterior(sentence).marginals)
        np.testing.assert_array_equal(scores.links, parser.marked_scores(sentence))
        assert (scores.links != parser.scores(sentence)).any()
        assert monolingual_heads(parser, sentence).tolist() == parser.parse(sentence).heads.tolist()


class InterruptedHereError(Exception):
    """Stands for whatever ends a process."""


@pytest.fixture(scope="module")
def pairs():
    files = AlignedFiles("corpora/en.conllu", "corpora/de.conllu", "corpora/en-de.pharaoh")
    return list(files)[:PAIRS]


@pytest.fixture(scope="module")
def source(pairs):
    return train_arc_parser([pair.source for pair in pairs], rng=np.random.default_rng(1), options=FEW)[0]


def train(pairs, source, checkpoint=None, *, epochs=2, seed=1, **changed):
    options = BiparseOptions(
        joint=JointOptions(families=("MONO",), source_tree="best"),
        training=JointTrainingOptions(epochs=epochs),
        target_training=FEW,
        **changed,
    )
    rng = np.random.default_rng(seed)
    return train_joint_parser(pairs, source, rng=rng, options=options, checkpoint=checkpoint)


def saved(model, path):
    model.save(path)
    return path.read_bytes()


def stop_after(monkeypatch, pairs):
    """Have training end in the midst of an epoch, once it has learned from so many pairs."""
    step, left = JointTrainer.step, [pairs]

    def counting(self, *given):
        if left[0] == 0:
            raise InterruptedHereError
        left[0] -= 1
        return step(self, *given)

    monkeypatch.setattr(JointTrainer, "step", counting)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("done", "changed"),
    [
        (0, {}),
        (PAIRS + 2, {}),
        (PAIRS + 2, {"order": 2, "tags": "joint"}),
    ],
    ids=str,
)
def test_going_on_gives_the_same_bytes(pairs, source, tmp_path, monkeypatch, done, changed):
    whole, report = train(pairs, source, **changed)
    with monkeypatch.context() as patch:
        stop_after(patch, done)
        with pytest.raises(InterruptedHereError):
            train(pairs, source, Checkpoint(folder=tmp_path), **changed)
    # What is kept is not done again.
    for name in ("train_arc_parser", "train_graph_parser"):
        monkeypatch.setattr(f"qsproj.models.joint.joint_trees.{name}", None)
    stop_after(monkeypatch, (2 - done // PAIRS) * PAIRS)
    resumed, again = train(pairs, source, Checkpoint(folder=tmp_path, resume=True), **changed)
    assert saved(resumed, tmp_path / "a") == saved(whole, tmp_path / "b")
    assert [(epoch.epoch, epoch.loss) for epoch in again.epochs] == [
        (epoch.epoch, epoch.loss) for epoch in report.epochs
    ]
    assert again.by_epoch == report.by_epoch


def test_more_epochs_go_on_from_fewer(pairs, source, tmp_path):
    train(pairs, source, Checkpoint(folder=tmp_path), epochs=1)
    resumed, _ = train(pairs, source, Checkpoint(folder=tmp_path, resume=True), epochs=2)
    whole, _ = train(pairs, source, epochs=2)
    assert saved(resumed, tmp_path / "a") == saved(whole, tmp_path / "b")
    with pytest.raises(DataError, match=r"epochs\.checkpoint: found a checkpoint after 2 epochs, expected 1"):
        train(pairs, source, Checkpoint(folder=tmp_path, resume=True), epochs=1)


def test_a_checkpoint_of_something_else_is_refused(pairs, source, tmp_path):
    train(pairs, source, Checkpoint(folder=tmp_path), epochs=1)
    again = Checkpoint(folder=tmp_path, resume=True)
    other_heads = replace(pairs[0].target, deprels=("x",) * len(pairs[0].target))
    changed = [
        (pairs[:-1], source, {}),
        ([replace(pairs[0], target=other_heads), *pairs[1:]], source, {}),
        ([replace(pairs[0], hand=pairs[0].alignment), *pairs[1:]], source, {}),
        (pairs, replace(source, labeller=None), {}),
        (pairs, source, {"seed": 2}),
    ]
    for others, parser, options in changed:
        with pytest.raises(
            DataError, match=r"target\.checkpoint: found a checkpoint of other data or options"
        ):
            train(others, parser, again, epochs=1, **options)


@pytest.mark.parametrize("stage", ["target", "epochs"])
def test_a_damaged_checkpoint_is_refused(pairs, source, tmp_path, stage):
    train(pairs, source, Checkpoint(folder=tmp_path), epochs=1)
    path = tmp_path / f"{stage}.checkpoint"
    kind, header, arrays = load_archive(path)
    needed = {"target": ("scores_kept", "scores_factor_counts"), "epochs": ("joint_steps", "scale_dense")}
    damaged = [({**header, "generator": None}, arrays)]
    for name in needed[stage]:
        damaged.append((header, {own: arrays[own] for own in arrays if own != name}))
        damaged.append((header, arrays | {name: arrays[name][:0]}))
    for others in damaged:
        save_model(path, kind, *others)
        with pytest.raises(DataError, match=rf"{stage}\.checkpoint: found .*damaged"):
            train(pairs, source, Checkpoint(folder=tmp_path, resume=True), epochs=1)


@pytest.mark.parametrize("order", [1, 2])
def test_what_is_said_of_trees_is_kept_whole(pairs, order):
    """Every field, so that one that is added is not forgotten."""
    rng = np.random.default_rng(1)
    tags, pairs = learned_tags(pairs, rng=rng, threshold=0.01)
    # One has no word whose tag is uncertain.
    tags = replace(tags, choices=[None, *tags.choices[1:]])
    options = BiparseOptions(target_training=FEW, order=order)
    trained = train_target(pairs, rng=rng, options=options, tags=tags)
    assert trained.scores[1].tagged is not None
    # A sentence of too many factors has the scores of the first order.
    scores = [replace(trained.scores[0], families=(), factors=()), *trained.scores[1:]]
    again = unpacked(packed(scores), trained.parser)
    for one, other in zip(scores, again, strict=True):
        for field in fields(one):
            assert_same(getattr(one, field.name), getattr(other, field.name))


def assert_same(one, other):
    """Compare arrays, and what is made of arrays."""
    if isinstance(one, tuple):
        assert len(one) == len(other)
        for mine, its in zip(one, other):
            assert_same(mine, its)
    elif isinstance(one, TaggedArcs):
        for field in fields(one):
            assert_same(getattr(one, field.name), getattr(other, field.name))
    elif hasattr(one, "group"):
        assert one.name == other.name
        np.testing.assert_array_equal(one.scored, other.scored)
        for name in ("edges", "starts", "scores"):
            if hasattr(one.group, name):
                np.testing.assert_array_equal(getattr(one.group, name), getattr(other.group, name))
    else:
        np.testing.assert_array_equal(one, other)
