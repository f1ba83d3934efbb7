"""The DMV as a model: training never loses likelihood, parsing keeps every word, files come back the same."""

from __future__ import annotations

import numpy as np
import pytest

from qsproj.conventions import NO_HEAD, frozen_heads
from qsproj.corpus.editing import misc_values
from qsproj.errors import UsageError
from qsproj.models.dmv.dmv import (
    Dmv,
    added,
    attach_stripped,
    kept_words,
    normalised,
    strip_heads,
    uniform_parameters,
)
from qsproj.models.dmv.dmv_options import DmvOptions
from qsproj.models.dmv.dmv_training import TagNumbering, e_step_of, pack, train_dmv
from qsproj.models.storage import load_model
from tests.oracles.trees import all_trees, is_projective, is_tree
from tests.sentences import make_sentence


def drawn(rng, *, with_heads=False):
    """Draw a sentence of determiners before nouns before and after a verb, and a full stop."""
    tags, heads = [], []
    for _ in range(rng.integers(0, 2)):
        tags += ["DET", "NOUN"]
    verb = len(tags) + 1
    heads = [head for noun in range(2, verb, 2) for head in (noun, verb)]
    tags.append("VERB")
    heads.append(0)
    for _ in range(rng.integers(1, 3)):
        tags += ["DET", "NOUN"]
        heads += [len(tags), verb]
    tags.append("PUNCT")
    heads.append(verb)
    return make_sentence("w " * len(tags), " ".join(tags), heads if with_heads else None)


def treebank(size=30):
    rng = np.random.default_rng(1)
    return [drawn(rng, with_heads=True) for _ in range(size)]


@pytest.mark.parametrize("smoothing", [0.0, 0.5])
@pytest.mark.parametrize("start", ["harmonic", "trees"])
def test_the_objective_never_falls(smoothing, start):
    options = DmvOptions(smoothing=smoothing, start=start, iterations=25, tolerance=-1.0)
    _, report = train_dmv(treebank(), options=options)
    objectives = [record.objective for record in report.iterations]
    assert len(objectives) == 25
    assert np.all(np.diff(objectives) >= -1e-9 * abs(objectives[0]))
    assert start == "trees" or objectives[-1] > objectives[0] + 1.0


def test_trees_alone_give_relative_frequencies():
    options = DmvOptions(start="trees", iterations=0, smoothing=0.0)
    model, report = train_dmv(treebank(), options=options)
    tag = model.inventory.index
    assert report.iterations == ()
    assert report.whole == report.sentences == 30
    assert model.parameters.child[tag("NOUN"), 0, tag("DET")] == 1.0
    assert model.parameters.stop[tag("DET"), 0, 0] == 1.0
    assert model.parameters.root[tag("VERB")] == 1.0
    for sentence in treebank():
        for decode in ("map", "mbr"):
            assert model.parse(sentence, decode=decode).heads.tolist() == sentence.heads.tolist()


def test_smoothing_adds_to_every_count():
    np.testing.assert_allclose(normalised(np.array([[3.0, 1.0], [0.0, 0.0]]), 0.5), [[0.7, 0.3], [0.5, 0.5]])
    np.testing.assert_allclose(
        normalised(np.array([[3.0, 1.0], [0.0, 0.0]]), 0.0), [[0.75, 0.25], [0.5, 0.5]]
    )


def test_known_heads_all_given_make_em_count_trees():
    """Thesis 4.6.3.3: with every arc clamped the E-step has nothing to impute."""
    counted, _ = train_dmv(treebank(), options=DmvOptions(start="trees", iterations=0))
    clamped, _ = train_dmv(treebank(), options=DmvOptions(start="uniform", keep_heads=True, iterations=1))
    np.testing.assert_allclose(clamped.parameters.child, counted.parameters.child)
    np.testing.assert_allclose(clamped.parameters.stop, counted.parameters.stop)


def test_some_heads_known_pull_the_rest_along():
    """Verbs alone are attached, in half of the sentences: enough to tell which word is the root."""
    partial = [
        make_sentence(
            " ".join(sentence.forms),
            " ".join(sentence.upos),
            [0 if tag == "VERB" else NO_HEAD for tag in sentence.upos],
        )
        for sentence in treebank()
    ]
    model, report = train_dmv(partial, options=DmvOptions(start="uniform", keep_heads=True, iterations=5))
    assert report.sentences == len(partial)
    assert model.parameters.root[model.inventory.index("VERB")] > 0.9


def test_impossible_heads_are_left_out_and_counted():
    two_roots = make_sentence("a b", "DET NOUN", [0, 0])
    _, report = train_dmv([*treebank(), two_roots], options=DmvOptions(keep_heads=True, iterations=1))
    assert report.skipped == {"arcs that no possible tree contains": 1}
    _, report = train_dmv([*treebank(), two_roots], options=DmvOptions(iterations=1))
    assert report.skipped == {}


@pytest.mark.parametrize(
    ("option", "text"),
    [
        ({"start": "lucky"}, "harmonic, uniform, trees"),
        ({"punctuation": "drop"}, "keep, strip"),
        ({"max_words": 1}, "more than 1 words"),
    ],
)
def test_wrong_options_name_the_right_ones(option, text):
    with pytest.raises(UsageError, match=text):
        train_dmv(treebank(), options=DmvOptions(**option))


def test_starting_from_trees_needs_one():
    with pytest.raises(UsageError, match="no training sentence has all its heads"):
        train_dmv([make_sentence("a b", "DET NOUN")], options=DmvOptions(start="trees"))
    with pytest.raises(UsageError, match="UPOS"):
        train_dmv([make_sentence("a b", "_ _")])


def test_a_sentence_that_cannot_be_generated_is_an_error():
    """Without smoothing, a tag pair that no tree had has probability zero."""
    other_way = make_sentence("a b", "VERB DET")
    with pytest.raises(UsageError, match="probability 0"):
        train_dmv([*treebank(), other_way], options=DmvOptions(start="trees", smoothing=0.0))


def test_counts_of_two_halves_add_up_to_those_of_the_whole():
    bank = treebank()
    numbering = TagNumbering()
    corpora = [
        pack(part, [numbering.number(one.upos) for one in part], punctuation="keep")
        for part in (bank, bank[:11], bank[11:])
    ]
    parameters = uniform_parameters(len(numbering.inventory()))
    whole, first, second = (e_step_of(corpus, parameters)[0] for corpus in corpora)
    both = added(first, second)
    for name in ("stop", "child", "root"):
        np.testing.assert_allclose(getattr(both, name), getattr(whole, name))


@pytest.mark.parametrize("punctuation", ["keep", "strip"])
def test_every_word_is_parsed_whatever_its_tag(punctuation):
    model, _ = train_dmv(
        treebank(), options=DmvOptions(punctuation=punctuation, smoothing=0.0, iterations=20)
    )
    for tags in ("PUNCT", "PUNCT PUNCT", "X SYM _ INTJ", "PUNCT DET PUNCT NOUN VERB PUNCT PUNCT"):
        sentence = make_sentence("w " * len(tags.split()), tags)
        for decode in ("map", "mbr"):
            heads = model.parse(sentence, decode=decode).heads.tolist()
            assert is_tree(heads) and is_projective(heads) and heads.count(0) == 1
        probabilities = model.arc_probabilities(sentence)
        np.testing.assert_allclose(probabilities[:, 1:].sum(axis=0), 1.0, atol=1e-9)
        assert np.isfinite(model.log_likelihood(sentence))


def test_known_heads_stand_in_completed_trees():
    model, _ = train_dmv(treebank(), options=DmvOptions(punctuation="strip", iterations=3))
    rng = np.random.default_rng(5)
    for sentence in treebank(20):
        known = np.where(rng.random(len(sentence)) < 0.5, sentence.heads[1:], NO_HEAD)
        relations = " ".join("given" if head != NO_HEAD else "_" for head in known)
        partial = make_sentence("w " * len(sentence), " ".join(sentence.upos), known.tolist(), relations)
        whole = model.complete(partial)
        assert is_tree(whole.heads.tolist()) and is_projective(whole.heads.tolist())
        words = np.array([tag != "PUNCT" for tag in sentence.upos])
        given = (known != NO_HEAD) & words
        assert (whole.heads[1:] == known)[given].all()
        assert all(whole.deprels[place] == "given" for place in np.flatnonzero(given))
        free = make_sentence("w " * len(sentence), " ".join(sentence.upos))
        assert model.complete(free).heads.tolist() == model.parse(free, decode="map").heads.tolist()


def test_heads_that_no_tree_has_are_let_go():
    """Two roots: the model has one, so that none of the heads is kept."""
    model, _ = train_dmv(treebank(), options=DmvOptions(iterations=3))
    two_roots = make_sentence("a b c", "DET NOUN VERB", [0, -1, 0], "one _ two")
    free = make_sentence("a b c", "DET NOUN VERB")
    whole = model.complete(two_roots)
    assert whole.heads.tolist() == model.parse(free, decode="map").heads.tolist()


def test_confidence_is_the_probability_of_the_arc():
    model, _ = train_dmv(treebank(), options=DmvOptions(punctuation="strip", iterations=3))
    sentence = make_sentence("( a b ) c", "PUNCT DET NOUN PUNCT VERB")
    parsed = model.parse(sentence, confidence=True)
    probabilities = model.arc_probabilities(sentence)
    for word, value in enumerate(misc_values(parsed, "ArcProb"), start=1):
        if sentence.upos[word - 1] == "PUNCT":
            assert value is None
        else:
            assert float(value) == pytest.approx(probabilities[parsed.heads[word], word], abs=1e-4)
    assert set(parsed.deprels) == {"root", "dep"}


def test_parsing_refuses_what_it_cannot_do():
    model = Dmv(("_", "NOUN"), uniform_parameters(2))
    with pytest.raises(UsageError, match="map, mbr"):
        model.parse(make_sentence("a", "NOUN"), decode="best")
    with pytest.raises(UsageError, match="1,001 words"):
        model.parse(make_sentence("a " * 1001, "NOUN " * 1001))


def test_files_come_back_the_same(tmp_path):
    model, _ = train_dmv(treebank(), options=DmvOptions(punctuation="strip", iterations=2))
    model.save(tmp_path / "dmv.model")
    again = load_model(tmp_path / "dmv.model")
    assert (again.inventory, again.punctuation) == (model.inventory, model.punctuation)
    for name in ("stop", "child", "root"):
        np.testing.assert_array_equal(getattr(again.parameters, name), getattr(model.parameters, name))


def test_stripped_words_come_back_without_crossings():
    """Every projective tree of four words with two marks put anywhere between them."""
    for heads in all_trees(4, projective=True, single_root=True):
        for first in range(1, 7):
            for second in range(first + 1, 7):
                kept = np.array([word for word in range(1, 7) if word not in (first, second)])
                whole = attach_stripped(frozen_heads(heads), kept, 6)
                assert is_tree(whole.tolist()) and is_projective(whole.tolist())
                assert strip_heads(whole, kept).tolist() == list(heads)


def test_marks_hang_on_what_they_set_off():
    # He said , she left .        said -> left over the comma; nothing over the full stop
    upos = ("PRON", "VERB", "PUNCT", "PRON", "VERB", "PUNCT")
    kept = kept_words(upos, punctuation="strip")
    whole = attach_stripped(frozen_heads([-1, 2, 0, 4, 2]), kept, 6)
    assert whole.tolist() == [-1, 2, 0, 5, 5, 2, 2]


def test_a_head_that_is_stripped_leaves_its_dependent_free():
    kept = kept_words(("NOUN", "PUNCT", "VERB"), punctuation="strip")
    assert strip_heads(frozen_heads([-1, 2, 3, 0]), kept).tolist() == [-1, -1, 0]


def test_what_prefers_nothing_are_distributions():
    uniform = uniform_parameters(3)
    assert set(uniform.stop.ravel()) == {0.5} and uniform.stop.shape == (3, 2, 2)
    np.testing.assert_allclose(uniform.child.sum(axis=-1), np.ones((3, 2)))
    assert uniform.root.sum() == pytest.approx(1.0)
    assert len(set(uniform.child.ravel())) == len(set(uniform.root)) == 1
