"""The QG-DMV against all its derivations, and what training and files must not lose."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace

import numpy as np
import pytest

from qsproj.corpus.editing import with_heads
from qsproj.corpus.sentence import SentencePair, make_alignment
from qsproj.errors import SentenceError, UsageError
from qsproj.features.qg_configurations import CONFIGURATION_NAMES, PARENT_CHILD
from qsproj.models.dmv.dmv import Dmv, DmvParameters, normalised, tag_numbers, uniform_parameters
from qsproj.models.dmv.dmv_options import DmvOptions, QgOptions
from qsproj.models.dmv.dmv_training import train_dmv
from qsproj.models.qg_dmv.qg_dmv import (
    LEAST_PRIOR,
    QgDmv,
    QgParameters,
    biased_parameters,
    expectation,
    expected_counts,
    linked_share,
    nodes_of,
    pack_pairs,
    train_qg_dmv,
)
from qsproj.models.storage import load_model
from tests.oracles import qg_dmv as oracle
from tests.oracles.trees import all_trees
from tests.sentences import make_sentence

TAGS, SOURCE_TAGS = ("_", "A", "B"), ("_", "X", "Y")


def random_parameters(rng):
    tags, senses = len(TAGS), len(SOURCE_TAGS) + 1
    return QgParameters(
        rng.uniform(0.1, 0.9, (tags, 2, 2)),
        rng.dirichlet(np.ones(len(CONFIGURATION_NAMES))),
        rng.dirichlet(np.ones(tags), (tags, 2, senses)),
        rng.dirichlet(np.ones(tags), senses),
    )


def as_oracle(parameters):
    """Lay out parameters as the oracle reads them; the last source tag is that of NULL."""
    senses = [*range(len(SOURCE_TAGS)), None]
    tags = range(len(TAGS))
    return {
        "stop": {where: parameters.stop[where] for where in np.ndindex(parameters.stop.shape)},
        "configuration": dict(zip(CONFIGURATION_NAMES, parameters.configuration, strict=True)),
        "child": {
            (head, direction, sense, tag): parameters.child[head, direction, number, tag]
            for head, direction, (number, sense), tag in itertools.product(
                tags, (0, 1), enumerate(senses), tags
            )
        },
        "root": {
            (sense, tag): parameters.root[number, tag]
            for (number, sense), tag in itertools.product(enumerate(senses), tags)
        },
    }


def random_pair(rng, n, m, *, weighted=False):
    """Draw a pair in which a word has no link, one, or two."""
    trees = list(all_trees(m, projective=False, single_root=False))
    source = make_sentence(
        "s " * m, " ".join(rng.choice(SOURCE_TAGS[1:], m)), list(trees[rng.integers(len(trees))][1:])
    )
    target = make_sentence("t " * n, " ".join(rng.choice(TAGS[1:], n)))
    links = [
        (sense + 1, word)
        for word in range(1, n + 1)
        for sense in rng.choice(m, min(m, rng.integers(0, 3)), replace=False)
    ]
    weights = rng.uniform(0, 1, len(links)) if weighted else None
    return SentencePair(source, target, make_alignment(m, n, links, weights=weights))


def oracle_pair(pair):
    links, weights = pair.alignment.links.tolist(), pair.alignment.weights
    candidates = []
    for word in range(1, len(pair.target) + 1):
        senses = {
            sense: 1.0 if weights is None else max(weights[number], LEAST_PRIOR)
            for number, (sense, linked) in enumerate(links)
            if linked == word
        }
        candidates.append(senses or {None: 1.0})
    return (
        [TAGS.index(tag) for tag in pair.target.upos],
        pair.source.heads.tolist(),
        [SOURCE_TAGS.index(tag) for tag in pair.source.upos],
        candidates,
    )


def pair_nodes(pair, inventory, source_inventory, *, punctuation):
    tags = tag_numbers(pair.target.upos, inventory), tag_numbers(pair.source.upos, source_inventory)
    return nodes_of(pair, *tags, null_tag=len(source_inventory), punctuation=punctuation)


def packed(*pairs, punctuation="keep"):
    return pack_pairs([pair_nodes(pair, TAGS, SOURCE_TAGS, punctuation=punctuation) for pair in pairs])


def laid_out(events):
    """Lay out an oracle's counter as the kernel does."""
    like = biased_parameters(uniform_parameters(len(TAGS)), len(SOURCE_TAGS) + 1, parent_child=0.5)
    stop, child, root = np.zeros((len(TAGS), 2, 2, 2)), np.zeros_like(like.child), np.zeros_like(like.root)
    configuration = np.zeros_like(like.configuration)
    for (kind, *where), count in events.items():
        if kind == "configuration":
            configuration[CONFIGURATION_NAMES.index(where[0])] += count
        elif kind in ("stop", "go"):
            stop[(*where, int(kind == "go"))] += count
        else:
            *before, sense, tag = where
            place = (*before, len(SOURCE_TAGS) if sense is None else sense, tag)
            (child if kind == "child" else root)[place] += count
    return stop, configuration, child, root


@pytest.mark.parametrize(("n", "m"), [(1, 1), (1, 3), (2, 2), (3, 2), (3, 4), (4, 3)])
@pytest.mark.parametrize("weighted", [False, True])
def test_likelihood_and_counts_are_those_of_all_derivations(n, m, weighted):
    rng = np.random.default_rng(10 * n + m)
    for _ in range(4):
        pair, parameters = random_pair(rng, n, m, weighted=weighted), random_parameters(rng)
        *counts, logs, _, _ = expectation(packed(pair), parameters)
        expected = oracle.likelihood(oracle_pair(pair), as_oracle(parameters))
        assert logs[0] == pytest.approx(math.log(expected), abs=1e-12)
        right = laid_out(oracle.expected_counts(oracle_pair(pair), as_oracle(parameters)))
        for count, one in zip(counts, right, strict=True):
            np.testing.assert_allclose(count, one, atol=1e-12)


def test_every_word_in_two_senses():
    """The full product of four words in two senses each."""
    rng = np.random.default_rng(4)
    pair, parameters = random_pair(rng, 4, 3), random_parameters(rng)
    links = [(1 + (word + k) % 3, word) for word in range(1, 5) for k in (0, 1)]
    pair = SentencePair(pair.source, pair.target, make_alignment(3, 4, links))
    logs = expectation(packed(pair), parameters)[4]
    assert len(list(oracle.derivations(oracle_pair(pair), as_oracle(parameters)))) == 30 * 2**4
    assert logs[0] == pytest.approx(math.log(oracle.likelihood(oracle_pair(pair), as_oracle(parameters))))


def test_arc_probabilities_are_those_of_all_derivations():
    rng = np.random.default_rng(5)
    # Tags are numbered as they come: the first pair has them come in the order of TAGS and SOURCE_TAGS.
    first = SentencePair(
        make_sentence("s s", "X Y", [0, 1]), make_sentence("t t", "A B"), make_alignment(2, 2, [])
    )
    pairs = [first, *(random_pair(rng, 3, 3) for _ in range(20))]
    model, _ = train_qg_dmv(pairs, options=QgOptions(iterations=2, punctuation="keep", min_linked=0.0))
    assert (model.base.inventory, model.source_inventory) == (TAGS, SOURCE_TAGS)
    pair = pairs[1]
    probabilities = model.arc_probabilities_given_source(pair)
    np.testing.assert_allclose(probabilities[:, 1:].sum(axis=0), 1.0, atol=1e-12)
    for head, dependent in itertools.permutations(range(4), 2):
        if dependent:
            right = oracle.arc_probability(oracle_pair(pair), as_oracle(model.parameters), head, dependent)
            assert probabilities[head, dependent] == pytest.approx(right, abs=1e-12)


def test_pairs_add_up():
    rng = np.random.default_rng(6)
    pairs = [random_pair(rng, n, m) for n, m in ((4, 3), (2, 4), (7, 5), (1, 1), (3, 2))]
    parameters = random_parameters(rng)
    together, log_likelihood = expected_counts([packed(*pairs)], parameters)
    in_parts, in_parts_log = expected_counts([packed(*pairs[:2]), packed(*pairs[2:])], parameters)
    alone = [expected_counts([packed(pair)], parameters) for pair in pairs]
    assert log_likelihood == pytest.approx(sum(one[1] for one in alone))
    assert log_likelihood == pytest.approx(in_parts_log)
    for name in ("stop", "configuration", "child", "root"):
        total = sum(getattr(one[0], name) for one in alone)
        np.testing.assert_allclose(getattr(together, name), total, atol=1e-12)
        np.testing.assert_allclose(getattr(in_parts, name), total, atol=1e-12)


@pytest.mark.parametrize("smoothing", [0.0, 0.3])
def test_the_objective_never_falls(smoothing):
    rng = np.random.default_rng(7)
    pairs = [random_pair(rng, int(rng.integers(1, 9)), 4, weighted=True) for _ in range(30)]
    options = QgOptions(
        iterations=25, tolerance=-1.0, smoothing=smoothing, punctuation="keep", min_linked=0.0
    )
    model, report = train_qg_dmv(pairs, options=options)
    objectives = [record.objective for record in report.iterations]
    assert len(objectives) == 25
    assert np.all(np.diff(objectives) >= -1e-9 * abs(objectives[0]))
    assert objectives[-1] > objectives[0] + 1.0
    assert sum(report.configurations.values()) == pytest.approx(1.0)
    np.testing.assert_allclose(model.parameters.child.sum(axis=-1), 1.0)


def parallel(reverse):
    """Verb-object in the source; the target has the object first where ``reverse``."""
    source = make_sentence("see the dog", "VERB DET NOUN", [0, 3, 1])
    if reverse:
        target = make_sentence("den hund seh .", "DET NOUN VERB PUNCT")
        return SentencePair(source, target, make_alignment(3, 4, [(2, 1), (3, 2), (1, 3)]))
    target = make_sentence("seh hund .", "VERB NOUN PUNCT")
    return SentencePair(source, target, make_alignment(3, 2 + 1, [(1, 1), (3, 2)]))


def test_the_source_tree_teaches_the_target_language():
    """No target tree is seen, and the order of words differs: the links carry the heads over."""
    pairs = [parallel(True), parallel(False)] * 10
    model, report = train_qg_dmv(pairs, options=QgOptions(smoothing=0.01))
    assert report.configurations["parent-child"] > 0.9
    assert model.parse(pairs[0].target).heads.tolist() == [-1, 2, 3, 0, 3]
    assert model.parse(pairs[1].target).heads.tolist() == [-1, 0, 1, 1]
    probabilities = model.arc_probabilities_given_source(pairs[0])
    assert probabilities[3, 2] > 0.9
    assert probabilities[3, 4] == 1.0


def test_the_monolingual_model_comes_from_the_same_counts():
    rng = np.random.default_rng(8)
    pairs = [random_pair(rng, 5, 4) for _ in range(10)]
    options = QgOptions(
        iterations=2,
        tolerance=-1.0,
        smoothing=0.0,
        monolingual_smoothing=0.0,
        punctuation="keep",
        min_linked=0.0,
    )
    before, _ = train_qg_dmv(pairs, options=options)
    model, report = train_qg_dmv(pairs, options=replace(options, iterations=3))
    inventories = model.base.inventory, model.source_inventory
    corpus = pack_pairs([pair_nodes(pair, *inventories, punctuation="keep") for pair in pairs])
    # The last step is taken from where one step less ends.
    counts, log_likelihood = expected_counts([corpus], before.parameters)
    assert report.iterations[-1].log_likelihood == pytest.approx(log_likelihood)
    np.testing.assert_allclose(model.parameters.child, counts.estimate(0.0).child)
    # The last sense is NULL: dependents without a link are not counted.
    child = normalised(counts.child[:, :, :-1].sum(axis=2), 0.0)
    np.testing.assert_allclose(model.base.parameters.child, child)
    np.testing.assert_allclose(model.base.parameters.stop, normalised(counts.stop, 0.0)[..., 0])
    np.testing.assert_allclose(model.base.parameters.root, normalised(counts.root[:-1].sum(axis=0), 0.0))


def test_null_is_for_words_without_links_alone():
    pair = parallel(False)
    nodes = pair_nodes(pair, ("_", "NOUN", "PUNCT", "VERB"), ("_", "DET", "NOUN", "VERB"), punctuation="keep")
    assert nodes.first_nodes.tolist() == [0, 1, 2, 3]
    assert nodes.source_tags.tolist() == [3, 2, 4]


def test_a_link_of_weight_zero_is_a_candidate_still():
    pair = parallel(False)
    alignment = make_alignment(3, 3, [(1, 1), (3, 2)], weights=[0.0, 1.0])
    nodes = pair_nodes(
        SentencePair(pair.source, pair.target, alignment), TAGS, SOURCE_TAGS, punctuation="keep"
    )
    assert nodes.priors.tolist() == [LEAST_PRIOR, 1.0, 1.0]


def unlinked(number):
    pair = parallel(True)
    return [SentencePair(pair.source, pair.target, make_alignment(3, 4, []))] * number


def test_linked_share_leaves_punctuation_out():
    pair = parallel(True)
    assert linked_share(pair) == 1.0
    weighted = make_alignment(3, 4, [(2, 1), (3, 1), (3, 2), (1, 4)], weights=[0.5, 0.7, 0.2, 1.0])
    assert linked_share(SentencePair(pair.source, pair.target, weighted)) == pytest.approx(0.3)
    assert linked_share(unlinked(1)[0]) == 0.0


def test_what_cannot_be_learned_from_is_left_out_and_counted():
    headless = SentencePair(make_sentence("a b", "X Y"), make_sentence("c", "A"), make_alignment(2, 1, []))
    _, report = train_qg_dmv([parallel(True), headless], options=QgOptions(iterations=1))
    assert (report.pairs, report.skipped) == (1, {"a source word without a head": 1})
    _, report = train_qg_dmv([parallel(True), *unlinked(3)], options=QgOptions(iterations=1))
    assert report.skipped == {"a linked share of target words below 0.8": 3}
    with pytest.raises(UsageError, match="more than 1"):
        train_qg_dmv([parallel(True)], options=QgOptions(max_words=1))
    with pytest.raises(UsageError, match=r"parent_child is 1\.5"):
        train_qg_dmv([parallel(True)], options=QgOptions(parent_child=1.5))


def test_pairs_without_probability_are_an_error():
    rng = np.random.default_rng(9)
    parameters = random_parameters(rng)
    impossible = replace(parameters, root=np.zeros_like(parameters.root))
    with pytest.raises(UsageError, match="2 sentence pairs have probability 0"):
        expected_counts([packed(random_pair(rng, 3, 3), random_pair(rng, 1, 1))], impossible)


def test_training_may_start_from_a_dmv_of_other_tags():
    """Tags are found by name; one that the DMV does not know is its unknown one; every sense is the same."""
    start = DmvParameters(
        np.array([[[0.1, 0.2], [0.3, 0.4]], [[0.5, 0.6], [0.7, 0.8]]]),
        np.array([[[0.3, 0.7], [0.4, 0.6]], [[0.9, 0.1], [0.2, 0.8]]]),
        np.array([0.25, 0.75]),
    )
    known = start.over(np.array([0, 1, 0], dtype=np.int16))
    np.testing.assert_allclose(known.stop[:, 0, 0], [0.1, 0.5, 0.1])
    np.testing.assert_allclose(known.child[1, 0], [0.9 / 1.9, 0.1 / 1.9, 0.9 / 1.9])
    parameters = biased_parameters(known, 4, parent_child=0.8)
    assert parameters.configuration[PARENT_CHILD] == 0.8
    for sense in range(4):
        np.testing.assert_allclose(parameters.child[:, :, sense], known.child)
        np.testing.assert_allclose(parameters.root[sense], known.root)
    pairs = [parallel(True), parallel(False)]
    dmv = Dmv(("_", "VERB"), start)
    first, second = (train_qg_dmv(pairs, start=begin)[1] for begin in (lambda: dmv, lambda: None))
    assert first.iterations[0].log_likelihood != second.iterations[0].log_likelihood


def misleading():
    """Return a DMV of parallel(True) as a held-out pair has it, and pairs that teach the reverse of it."""
    turned = make_sentence("see the dog", "VERB DET NOUN", [2, 3, 0])
    pairs = [SentencePair(turned, parallel(True).target, parallel(True).alignment)] * 5
    start = train_dmv(
        [with_heads(parallel(True).target, np.array([-1, 2, 3, 0, 3]))] * 20,
        options=DmvOptions(start="trees", keep_heads=True, iterations=0, smoothing=0.01),
    )[0]
    return start, pairs


def test_without_a_step_it_is_what_it_starts_from():
    start, pairs = misleading()
    model, report = train_qg_dmv(pairs, start=lambda: start, options=QgOptions(iterations=0))
    assert report.iterations == ()
    np.testing.assert_allclose(model.base.parameters.child, start.parameters.child)


def test_the_report_tells_the_likelihood_after_the_last_step():
    pairs = [parallel(True), parallel(False)] * 4
    _, one = train_qg_dmv(pairs, options=QgOptions(iterations=1))
    _, two = train_qg_dmv(pairs, options=QgOptions(iterations=2, tolerance=-1.0))
    assert one.log_likelihood == pytest.approx(two.iterations[1].log_likelihood)
    assert one.log_likelihood > one.iterations[0].log_likelihood
    _, long = train_qg_dmv(pairs, options=QgOptions(iterations=100))
    assert long.converged
    assert long.log_likelihood == long.iterations[-1].log_likelihood


def test_smoothing_adds_to_the_counts_of_both_models():
    """Checked against the counts of the step, to which each model adds a number of its own."""
    rng = np.random.default_rng(11)
    pairs = [random_pair(rng, 4, 3) for _ in range(6)]
    options = QgOptions(smoothing=0.3, monolingual_smoothing=0.7, punctuation="keep", min_linked=0.0)
    model, _ = train_qg_dmv(pairs, options=options)
    tags, senses = model.base.inventory, model.source_inventory
    corpus = pack_pairs([pair_nodes(pair, tags, senses, punctuation="keep") for pair in pairs])
    start = biased_parameters(
        uniform_parameters(len(tags)), len(senses) + 1, parent_child=options.parent_child
    )
    counts, _ = expected_counts([corpus], start)

    def shares(values, added):
        return (values + added) / (values + added).sum(axis=-1, keepdims=True)

    np.testing.assert_allclose(model.parameters.child, shares(counts.child, 0.3))
    np.testing.assert_allclose(model.parameters.root, shares(counts.root, 0.3))
    np.testing.assert_allclose(model.parameters.stop, shares(counts.stop, 0.3)[..., 0])
    np.testing.assert_allclose(model.parameters.configuration, shares(counts.configuration, 0.3))
    alone, target = counts.without_source(), model.base.parameters
    np.testing.assert_allclose(target.child, shares(alone.child, 0.7))
    np.testing.assert_allclose(target.root, shares(alone.root, 0.7))
    np.testing.assert_allclose(target.stop, shares(alone.stop, 0.7)[..., 0])


def test_files_come_back_the_same(tmp_path):
    pairs = [parallel(True), parallel(False)]
    model, _ = train_qg_dmv(pairs, options=QgOptions(iterations=2))
    model.save(tmp_path / "qg.model")
    again = load_model(tmp_path / "qg.model")
    assert isinstance(again, QgDmv)
    for one in pairs[:3]:
        np.testing.assert_array_equal(
            again.arc_probabilities_given_source(one), model.arc_probabilities_given_source(one)
        )
    parsed = [one.parse(pairs[0].target, confidence=True) for one in (model, again)]
    assert parsed[0].layout == parsed[1].layout


def test_a_source_without_a_whole_tree_is_refused():
    model = load_model("tests/kept_models/qg-dmv.model")
    source, target = make_sentence("a b", "A B", [0, -1]), make_sentence("c d", "A B", [0, 1])
    with pytest.raises(SentenceError, match="a source tree without all heads"):
        model.arc_probabilities_given_source(SentencePair(source, target, make_alignment(2, 2, [(1, 1)])))
