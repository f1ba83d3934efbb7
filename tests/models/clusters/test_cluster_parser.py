"""The parser with hidden clusters: decoders against all trees, its file, its training, the command line."""

import itertools
import json
from functools import partial

import numpy as np
import pytest

import qsproj
from qsproj.corpus.conllu import read_conllu
from qsproj.corpus.editing import misc_values
from qsproj.errors import DataError, UsageError
from qsproj.models.arc.arc_scorer import zero_weights
from qsproj.models.arc.arc_training import train_arc_parser
from qsproj.models.arc.training_options import TrainingOptions
from qsproj.models.clusters import cluster_parser
from qsproj.models.clusters.cluster_parser import (
    ClusterParser,
    ClusterScorer,
    random_start,
    train_cluster_parser,
)
from qsproj.models.storage import load_model, save_model
from qsproj.models.tree_decoder import TreeDecoder
from tests.oracles.trees import all_trees
from tests.sentences import make_sentence

SAMPLE = "corpora/en.conllu"


def trained(sentences, **options):
    settings = TrainingOptions(objective="hidden", template_set="delexicalised", **options)
    return train_cluster_parser(sentences, rng=np.random.default_rng(1), options=settings)


@pytest.fixture(scope="module")
def sentences():
    return list(read_conllu(SAMPLE))[:10]


@pytest.fixture(scope="module")
def parser(sentences):
    return trained(sentences, epochs=3)[0]


@pytest.mark.parametrize("projective", [True, False])
def test_trees_are_the_best_of_all(projective):
    """Of most probability, of most with its best clusters, of most expected right heads."""
    inference = TreeDecoder(projective=projective, single_root=True)
    parser = ClusterParser(ClusterScorer("words", zero_weights(64, 3)), None, inference)
    trees = all_trees(4, projective=projective, single_root=True)
    words, found = np.arange(1, 5), []
    for seed in range(20):
        scores = np.random.default_rng(seed).normal(scale=1.5, size=(5, 5, 3))
        each = [scores[list(tree[1:]), words] for tree in trees]
        chances = np.array([np.exp(arcs).sum(axis=1).prod() for arcs in each])
        right = [sum(p * sum(map(int.__eq__, one, tree)) for p, one in zip(chances, trees)) for tree in trees]
        wanted = {
            "map": trees[int(chances.argmax())],
            "max-z": trees[int(np.argmax([arcs.max(axis=1).sum() for arcs in each]))],
            "mbr": trees[int(np.argmax(right))],
        }
        found.append({name: tuple(parser.heads(scores, decode=name).tolist()) for name in wanted})
        assert found[-1] == wanted
    assert all(any(one[a] != one[b] for one in found) for a, b in itertools.combinations(found[0], 2))


def test_unknown_decoders_are_told(parser, sentences):
    with pytest.raises(UsageError, match="unknown decoder 'luck'; known: map, mbr, max-z"):
        parser.parse(sentences[0], decode="luck")


def test_trees_and_relations_are_learned(parser, sentences):
    parsed = [parser.parse(sentence, confidence=True) for sentence in sentences]
    right = [one.heads[1:] == gold.heads[1:] for one, gold in zip(parsed, sentences, strict=True)]
    assert np.concatenate(right).mean() > 0.9
    marginals = parser.arc_probabilities(sentences[0])
    np.testing.assert_allclose(marginals[:, 1:].sum(axis=0), 1.0)
    chosen = marginals[parsed[0].heads[1:], np.arange(1, len(sentences[0]) + 1)]
    assert [float(value) for value in misc_values(parsed[0], "ArcProb")] == pytest.approx(chosen, abs=1e-4)
    assert "nsubj" in parsed[0].deprels


def test_clusters_are_stored(parser, sentences, tmp_path):
    parser.save(tmp_path / "model")
    stored = load_model(tmp_path / "model")
    for sentence in sentences:
        np.testing.assert_array_equal(stored.cluster_scores(sentence), parser.cluster_scores(sentence))
        assert (
            stored.parse(sentence, decode="max-z").deprels == parser.parse(sentence, decode="max-z").deprels
        )


@pytest.mark.parametrize(("clusters", "told"), [(0, "an integer of 1 to 64"), (3, "shape")])
def test_files_with_other_clusters_are_refused(parser, tmp_path, clusters, told):
    header, arrays = parser.to_archive()
    header["scorer"]["clusters"] = clusters
    save_model(tmp_path / "bad", "cluster-parser", header, arrays)
    with pytest.raises(DataError, match=told):
        load_model(tmp_path / "bad")


def test_dev_trees_stop_training_and_unlabelled_sentences_are_learned_from(sentences):
    options = TrainingOptions(objective="hidden", template_set="delexicalised", epochs=2, clusters=3)
    parser, report = train_cluster_parser(
        sentences,
        dev=sentences[:3],
        rng=np.random.default_rng(1),
        options=options,
        unlabelled=[make_sentence("a b c", "NOUN VERB NOUN")],
    )
    assert parser.scorer.clusters == 3
    assert all(record.score is not None for record in report.epochs)


@pytest.mark.parametrize("penalties", [{"l2": 60.0}, {"l2": 0.0, "l1": 0.01}])
def test_clusters_that_are_alike_learn_as_a_parser_without_them(sentences, monkeypatch, penalties):
    """Each of four takes a quarter of every gradient, and of every penalty."""
    monkeypatch.setattr(cluster_parser, "random_start", partial(random_start, deviation=0.0))
    options = TrainingOptions(objective="likelihood", template_set="delexicalised", epochs=3, **penalties)
    # One sentence: the weights of the start are drawn first, and change the order of several.
    plain = train_arc_parser(sentences[5:6], rng=np.random.default_rng(1), options=options)[0]
    four = trained(sentences[5:6], clusters=4, epochs=3, **penalties)[0]
    for sentence in sentences:
        np.testing.assert_allclose(four.scores(sentence) - np.log(4), plain.scores(sentence), atol=1e-5)


def test_other_trainers_refuse_clusters(sentences):
    with pytest.raises(UsageError, match="the objective hidden trains another kind of first-order parser"):
        train_arc_parser(sentences, rng=np.random.default_rng(1), options=TrainingOptions(objective="hidden"))
    with pytest.raises(UsageError, match="found 65 clusters, expected 1 to 64"):
        trained(sentences, clusters=65)
    with pytest.raises(
        UsageError, match=r"--optimizer cg requires an objective .*: margin, likelihood; found hidden"
    ):
        trained(sentences, optimizer="cg")


def test_the_public_function_trains_it(sentences):
    assert isinstance(qsproj.train_parser(sentences[:2], objective="hidden"), ClusterParser)


def test_the_commands_train_tell_and_parse(run_cli, tmp_path):
    model = tmp_path / "m"
    options = ("--objective", "hidden", "--clusters", "3", "--epochs", "2", "--features", "delexicalised")
    assert run_cli("train", SAMPLE, "-o", model, *options).code == 0
    info = json.loads(run_cli("info", model, "--json").out)
    assert (info["kind"], info["clusters"], info["made"]["options"]["clusters"]) == ("cluster-parser", 3, 3)
    for decode in ("map", "mbr", "max-z"):
        parsed = run_cli("parse", "-m", model, "corpora/de.conllu", "--decode", decode)
        assert (parsed.code, parsed.out.count("\troot\t")) == (0, 90)
    refused = run_cli("train", SAMPLE, "-o", model, "--objective", "hidden", "--order", "2")
    assert refused.err.endswith("--objective hidden and --order 2 are different parsers; choose one\n")
    refused = run_cli("train", SAMPLE, "-o", model, "--clusters", "3")
    assert "--clusters belongs to --objective hidden" in refused.err
