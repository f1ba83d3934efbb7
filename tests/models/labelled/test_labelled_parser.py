"""The labelled parser: exact against all labelled trees, saved and loaded, its probabilities in MISC."""

from __future__ import annotations

import io
import json
import zipfile
from dataclasses import replace

import numpy as np
import pytest

from qsproj import load_model, read_conllu, write_conllu
from qsproj.corpus.editing import RELATION_PROBABILITY, misc_values, with_heads
from qsproj.errors import DataError, UsageError
from qsproj.evaluation.calibration import confidences_of, expected_calibration_error, reliability
from qsproj.kernels.features.label_features import score_labels
from qsproj.kernels.trees.eisner_block import possible_arcs
from qsproj.models.arc.training_options import TrainingOptions
from qsproj.models.labelled.labelled_parser import all_arcs
from qsproj.models.labelled.labelled_training import calibrated, surprise, train_labelled_parser
from qsproj.models.tree_decoder import TreeDecoder
from qsproj.trees import projective
from tests.oracles.labelled_trees import all_labelled_trees, log_sum, score_of
from tests.sentences import make_sentence

OPTIONS = TrainingOptions(epochs=3, template_set="words")
SHORT = make_sentence("dogs see cats", "NOUN VERB NOUN")


@pytest.fixture(scope="module")
def sample():
    return list(read_conllu("corpora/en.conllu"))


@pytest.fixture(scope="module")
def parser(sample):
    return train_labelled_parser(sample[:60], rng=np.random.default_rng(1), options=OPTIONS)[0]


def written(sentence):
    text = io.StringIO()
    write_conllu([sentence], text)
    return text.getvalue()


def enumerated(parser, sentence):
    """Return the log of the summed scores of all labelled trees, all trees, and the score of each."""
    scores = parser.beliefs(sentence).scores
    size, relations = len(sentence) + 1, len(parser.relations.relations)
    table = np.full((size, size, relations), -np.inf)
    table[scores.heads, scores.dependents] = (
        scores.arcs[scores.heads, scores.dependents][:, None] + scores.relations
    )
    # Relations that no arc can have would only multiply trees of score -inf.
    used = np.flatnonzero(np.isfinite(table).any(axis=(0, 1)))
    trees = list(
        all_labelled_trees(
            len(sentence),
            len(used),
            projective=parser.inference.projective,
            single_root=parser.inference.single_root,
        )
    )
    found = [score_of(tree, table[:, :, used].tolist()) for tree in trees]
    return used, trees, np.array(found)


@pytest.mark.parametrize("projective", [True, False])
@pytest.mark.parametrize("single_root", [True, False])
@pytest.mark.parametrize("temperature", [1.0, 2.0])
def test_sums_and_marginals_are_those_of_all_labelled_trees(parser, projective, single_root, temperature):
    inference = TreeDecoder(projective=projective, single_root=single_root)
    exact = replace(parser, least=0.0, inference=inference, temperature=temperature)
    used, trees, scores = enumerated(exact, SHORT)
    posterior = exact.beliefs(SHORT)
    assert posterior.log_z == pytest.approx(log_sum(scores.tolist()))
    log_z = log_sum((scores / temperature).tolist())
    expected = np.zeros_like(posterior.labelled())
    for tree, score in zip(trees, scores, strict=True):
        for word, (head, relation) in enumerate(tree, start=1):
            expected[head, word, used[relation]] += np.exp(score / temperature - log_z)
    assert np.allclose(exact.relation_probabilities(SHORT), expected, atol=1e-9)
    assert np.allclose(exact.arc_probabilities(SHORT), expected.sum(axis=2), atol=1e-9)


@pytest.mark.parametrize("projective", [True, False])
def test_decoding_finds_the_best_labelled_tree_and_that_of_most_expected_arcs(parser, projective):
    exact = replace(parser, least=0.0, inference=TreeDecoder(projective=projective, single_root=True))
    _, trees, scores = enumerated(exact, SHORT)
    posterior = exact.beliefs(SHORT)
    best = trees[int(scores.argmax())]
    assert exact.heads(posterior, decode="map")[1:].tolist() == [head for head, _ in best]
    used = enumerated(exact, SHORT)[0]
    chances = posterior.labelled()[:, :, used]
    expected = [
        sum(chances[head, word, relation] for word, (head, relation) in enumerate(tree, start=1))
        for tree in trees
    ]
    most = trees[int(np.argmax(expected))]
    assert exact.heads(posterior)[1:].tolist() == [head for head, _ in most]


def test_candidates_score_what_all_relations_score(parser, sample):
    """The kernel of candidates against the labeller's, which scores every relation."""
    encoded = parser.encode(sample[70])
    features = parser.relations.hashed(encoded)
    heads = sample[70].heads
    possible = np.zeros((len(heads), len(heads)), dtype=bool)
    possible[heads[1:], np.arange(1, len(heads))] = True
    scores = parser.relations.scores(features, np.zeros(possible.shape), possible)
    all_scores = np.empty((len(heads), len(parser.relations.relations)))
    score_labels(features, heads, parser.relations.weights, all_scores)
    finite = np.isfinite(scores.relations)
    assert np.allclose(scores.relations[finite], all_scores[scores.dependents][finite], atol=1e-5)
    assert finite.any(axis=1).all()
    assert not finite.all()


def test_hardly_probable_arcs_are_left_out_and_nothing_changes(parser, sample):
    exact = replace(parser, least=0.0)
    for sentence in sample[60:70]:
        pruned, whole = parser.beliefs(sentence), exact.beliefs(sentence)
        assert len(pruned.scores.heads) < len(whole.scores.heads) == all_arcs(len(sentence)).sum()
        assert np.abs(pruned.marginals - whole.marginals).max() < 0.2


def test_training_trees_are_learned_with_their_relations(parser, sample):
    parsed = list(parser.parse_all(sample[:60]))
    pairs = [
        (gold.heads[word], gold.deprels[word - 1]) == (own.heads[word], own.deprels[word - 1])
        for gold, own in zip(sample[:60], parsed, strict=True)
        for word in range(1, len(gold) + 1)
    ]
    assert np.mean(pairs) > 0.9


def test_probabilities_stand_in_misc_and_can_be_judged(parser, sample):
    gold = sample[60:]
    parsed = list(parser.parse_all(gold, confidence=True))
    for sentence in parsed:
        arcs, relations = (
            np.array(misc_values(sentence, key), dtype=float) for key in ("ArcProb", "RelProb")
        )
        assert np.all(relations <= arcs)
    table = reliability(*confidences_of(gold, parsed, RELATION_PROBABILITY))
    assert expected_calibration_error(table) < 0.15
    assert written(next(iter(parser.parse_all(gold)))) == written(parser.parse(gold[0]))


def test_blocks_parse_as_sentences_do(parser, sample):
    """Blocks go through other kernels than sentences whose probabilities are asked for."""
    block = list(parser.parse_all(sample[60:]))
    alone = [with_heads(one, one.heads) for one in parser.parse_all(sample[60:], confidence=True)]
    assert [(one.heads.tolist(), one.deprels) for one in block] == [
        (one.heads.tolist(), one.deprels) for one in alone
    ]
    assert written(block[0]) == written(alone[0])
    many = replace(parser, inference=TreeDecoder(projective=True, single_root=False), least=0.0)
    trees = [many.heads(many.beliefs(one)).tolist() for one in sample[60:64]]
    assert [one.heads.tolist() for one in many.parse_all(sample[60:64])] == trees


@pytest.mark.parametrize("temperature", [1.0, 2.5, 1000.0])
def test_relations_are_as_sure_as_their_temperature_says(parser, sample, temperature):
    """RelProb= is ArcProb= times the softmax of what relations score for the arc, divided by it."""
    tempered = replace(parser, relation_temperature=temperature)
    for sentence in sample[60:70]:
        parsed = tempered.parse(sentence, confidence=True)
        arcs, found = (np.array(misc_values(parsed, key), dtype=float) for key in ("ArcProb", "RelProb"))
        scores = parser.relation_scores(parser.encode(sentence), parser.beliefs(sentence), parsed.heads)
        chances = np.exp((scores - scores.max(axis=1)[:, None]) / temperature)
        expected = [row[parser.relations.relations.index(r)] for row, r in zip(chances, parsed.deprels)]
        np.testing.assert_allclose(found, arcs * expected / chances.sum(axis=1), atol=1e-3)


def test_the_temperature_of_relations_is_best_beside_that_of_arcs(parser, sample):
    """Of a parser too unsure of arcs and too sure of relations; no other temperature of these fits better."""
    held_out = sample[60:80]
    sure = replace(
        parser,
        scorer=replace(parser.scorer, weights=np.float32(0.4) * parser.scorer.weights),
        relations=replace(parser.relations, weights=np.float32(3.0) * parser.relations.weights),
        labeller=replace(parser.labeller, weights=np.float32(3.0) * parser.labeller.weights),
    )
    cooled = calibrated(sure, held_out)
    assert cooled.relation_temperature > 2.0

    def loss(factor):
        one = replace(cooled, relation_temperature=factor * cooled.relation_temperature)
        parsed = list(one.parse_all(held_out, confidence=True))
        stated, right = confidences_of(held_out, parsed, RELATION_PROBABILITY)
        return surprise(np.asarray(stated), np.asarray(right))

    assert loss(1.0) < min(loss(0.9), loss(1.1))


def test_dev_trees_are_scored_as_the_parser_parses(sample):
    dev = sample[60:]
    trained, report = train_labelled_parser(
        sample[:15], dev=dev, rng=np.random.default_rng(1), options=OPTIONS
    )
    right, by_map = (
        100.0
        * np.mean(np.concatenate([trained.parse(one, decode=name).heads[1:] == one.heads[1:] for one in dev]))
        for name in ("mbr", "map")
    )
    assert max(record.score for record in report.epochs) == pytest.approx(right)
    assert right != by_map


@pytest.mark.parametrize("least", [0.03, 0.95])
@pytest.mark.parametrize("single_root", [True, False])
def test_blocks_keep_probable_arcs_and_those_of_the_best_tree(least, single_root):
    """However improbable they are; without them, there may be no tree."""
    rng, sizes = np.random.default_rng(2), np.array([2, 6, 9])
    matrices = [rng.normal(scale=2.0, size=(size, size)) for size in sizes]
    scores, starts = np.concatenate([matrix.ravel() for matrix in matrices]), np.array([0, 10, 20])
    heads, dependents, counts, exact = possible_arcs(scores, starts, sizes, single_root, least)
    assert exact
    end, rare = 0, 0
    for matrix, start, size, count in zip(matrices, starts, sizes, counts, strict=True):
        marginals = projective.posterior(matrix, single_root=single_root).marginals
        tree, _ = projective.best(marginals, single_root=single_root)
        arcs = marginals >= least
        arcs[:, 0] = False
        rare += int(np.sum(~arcs[tree[1:], np.arange(1, size)]))
        arcs[tree[1:], np.arange(1, size)] = True
        found = heads[end : end + count] - start, dependents[end : end + count] - start
        assert list(zip(*found)) == list(zip(*np.nonzero(arcs)))
        end += count
    assert (rare > 0) == (least > 0.1)


def test_temperatures_make_stated_probabilities_fit(parser, sample):
    """A parser that is far too sure of itself is cooled down on other sentences, and parses as before."""
    held_out, others = sample[60:80], sample[80:]
    sure = replace(parser, temperature=0.3, relation_temperature=0.3)
    cooled = calibrated(sure, held_out)

    def error(one):
        parsed = list(one.parse_all(others, confidence=True))
        return expected_calibration_error(reliability(*confidences_of(others, parsed, RELATION_PROBABILITY)))

    assert cooled.temperature > 0.3
    assert error(cooled) < error(sure)
    assert [one.deprels for one in cooled.parse_all(others)] == [
        one.deprels for one in sure.parse_all(others)
    ]


def test_surprise_is_least_where_statements_are_true():
    right = np.array([True, True, True, False])
    assert surprise(np.full(4, 0.75), right) == pytest.approx(-0.75 * np.log(0.75) - 0.25 * np.log(0.25))
    assert surprise(np.full(4, 0.75), right) < min(
        surprise(np.full(4, p), right) for p in (0.0, 0.6, 0.9, 1.0)
    )


def test_few_sentences_have_no_temperature(sample):
    few, _ = train_labelled_parser(sample[:5], rng=np.random.default_rng(1), options=OPTIONS)
    assert few.temperature == few.relation_temperature == 1.0


def test_a_model_comes_back_from_its_file(parser, sample, tmp_path):
    parser.save(tmp_path / "m")
    back = load_model(tmp_path / "m")
    assert written(back.parse(sample[70], confidence=True)) == written(
        parser.parse(sample[70], confidence=True)
    )
    parser.save(tmp_path / "again")
    assert (tmp_path / "m").read_bytes() == (tmp_path / "again").read_bytes()


@pytest.mark.parametrize(
    "change",
    [
        lambda model: model.pop("least"),
        lambda model: model.update(temperature=0.0),
        lambda model: model["relations"].update(template_set="other"),
        lambda model: model["labeller"]["relations"].reverse(),
        lambda model: model["relations"]["relations"].pop(),
    ],
    ids=["no bound", "temperature", "templates", "labeller", "fewer relations"],
)
def test_a_damaged_header_is_one_error(parser, tmp_path, change):
    parser.save(tmp_path / "m")
    with zipfile.ZipFile(tmp_path / "m") as old:
        entries = {name: old.read(name) for name in old.namelist()}
    name = next(name for name in entries if name.endswith(".json"))
    document = json.loads(entries[name])
    change(document["model"])
    entries[name] = json.dumps(document).encode()
    with zipfile.ZipFile(tmp_path / "bad", "w") as new:
        for entry, content in entries.items():
            new.writestr(entry, content)
    with pytest.raises(DataError, match="damaged or foreign"):
        load_model(tmp_path / "bad")


def test_partial_trees_train_and_missing_relations_are_summed_over(sample):
    partial = [
        make_sentence("a b c", "DET NOUN VERB", [2, 3, -1], relations="det nsubj _"),
        make_sentence("b c b", "NOUN VERB NOUN", [2, 0, 2], relations="_ root obj"),
    ]
    trained, report = train_labelled_parser(partial, rng=np.random.default_rng(1), options=OPTIONS)
    assert trained.relations.relations == ("det", "nsubj", "obj", "root")
    assert not report.skipped
    assert trained.parse(partial[0]).deprels == ("det", "nsubj", "root")


def test_a_sentence_of_weight_zero_teaches_nothing(sample):
    def weights(sentences, **options):
        trained, _ = train_labelled_parser(
            sentences, rng=np.random.default_rng(1), options=replace(OPTIONS, epochs=1, l2=0.0), **options
        )
        return trained.relations.weights

    assert not weights(sample[:3], weights=[0.0, 0.0, 0.0]).any()
    assert weights(sample[:3]).any()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"objective": "mira"}, "not mira; leave --labels joint out"),
        ({"optimizer": "cg"}, "not --optimizer cg"),
    ],
)
def test_what_cannot_be_trained_for_is_refused(sample, options, message):
    with pytest.raises(UsageError, match=message):
        train_labelled_parser(sample[:2], rng=np.random.default_rng(1), options=replace(OPTIONS, **options))


def test_trees_without_relations_are_refused():
    with pytest.raises(UsageError, match="no word of the training data has a relation"):
        train_labelled_parser([make_sentence("a", "X", [0])], rng=np.random.default_rng(1), options=OPTIONS)
