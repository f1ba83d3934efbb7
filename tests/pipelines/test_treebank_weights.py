"""Treebanks weighed by their likeness to a language, and what weights do to training."""

from dataclasses import replace

import numpy as np
import pytest

from qsproj.corpus.conllu import read_conllu
from qsproj.errors import UsageError
from qsproj.models.arc.arc_training import train_arc_parser
from qsproj.models.arc.training_options import TrainingOptions
from qsproj.pipelines.projection import priors
from qsproj.pipelines.projection.priors import train_on_draws, weighted_prior
from qsproj.pipelines.treebanks import Treebank, treebank_weights
from tests.sentences import make_sentence

OPTIONS = TrainingOptions(template_set="delexicalised", epochs=3, projective=True, single_root=True)
# The same tags in two languages: the last word is the head in one, the first in the other.
FINAL = [make_sentence("a b c", "NOUN ADV VERB", [3, 3, 0], "x y root")] * 20
INITIAL = [make_sentence("a b c", "NOUN ADV VERB", [0, 1, 1], "root y x")] * 20


@pytest.fixture(scope="module")
def sample():
    return {name: list(read_conllu(f"corpora/{name}.conllu")) for name in ("en", "de", "es")}


def trained(sentences, weights=None):
    return train_arc_parser(sentences, rng=np.random.default_rng(1), options=OPTIONS, weights=weights)[0]


def test_the_likeness_to_a_treebank_itself_is_greatest(sample):
    treebanks = [Treebank(name, sentences) for name, sentences in sample.items()]
    for treebank in treebanks:
        likenesses = treebank_weights(treebanks, treebank.sentences)
        by_name = {likeness.name: likeness for likeness in likenesses}
        assert by_name[treebank.name].weight == 1.0
        assert all(likeness.weight < 0.5 for likeness in likenesses if likeness.name != treebank.name)
    assert str(likenesses[0]).startswith("en: 90 sentences, divergence of tag trigrams ")


def test_sentences_without_tags_do_not_count(sample):
    untagged = make_sentence("a b", "_ NOUN")
    english = Treebank("en", sample["en"])
    (mixed,) = treebank_weights([english], [*sample["de"], untagged])
    assert mixed.divergence == treebank_weights([english], sample["de"])[0].divergence
    with pytest.raises(UsageError, match="the target: found no sentence with UPOS"):
        treebank_weights([english], [untagged])
    with pytest.raises(UsageError, match="bare: found no sentence with UPOS"):
        treebank_weights([Treebank("bare", [untagged])], sample["de"])


def test_the_heavier_treebank_is_believed():
    test = make_sentence("d e f", "NOUN ADV VERB")
    for final, initial, root in ((1.0, 0.1, 3), (0.1, 1.0, 1)):
        weights = [final] * len(FINAL) + [initial] * len(INITIAL)
        assert trained([*FINAL, *INITIAL], weights).parse(test).heads.tolist().index(0) == root


def test_weights_of_one_change_nothing_and_weight_zero_is_not_learned_from():
    plain, weighed = trained(FINAL), trained(FINAL, [1.0] * len(FINAL))
    np.testing.assert_array_equal(plain.scorer.weights, weighed.scorer.weights)
    assert not trained(FINAL, [0.0] * len(FINAL)).scorer.weights.any()


def test_a_weighted_prior_votes_and_is_told(sample):
    english, spanish = Treebank("en", sample["en"]), Treebank("es", sample["es"])
    sources, rng = [(english, as_they_are)], np.random.default_rng(1)
    (one,), report = weighted_prior(sources, target=sample["de"], rng=rng)
    assert report == ()
    rng = np.random.default_rng(1)
    three, report = weighted_prior(sources, [spanish], target=iter(sample["de"]), rng=rng)
    assert len(three) == 3
    assert [line.split(":")[0] for line in report] == ["en", "es"]
    np.testing.assert_array_equal(three[0].scorer.weights, one.scorer.weights)


def test_the_parser_of_all_treebanks_believes_the_one_that_is_like_the_target():
    strange = make_sentence("g h", "SYM X", [0, 1], "root x")
    sentence = make_sentence("d e f", "NOUN ADV VERB")
    for like, unlike, root in ((FINAL, INITIAL, 3), (INITIAL, FINAL, 1)):
        # Were treebanks not weighed, the second would win: it has twice as many trees.
        other = Treebank("unlike", [*unlike, *unlike, *[strange] * 200])
        sources, rng = [(Treebank("like", like), as_they_are)], np.random.default_rng(1)
        (_, of_all, of_others), _ = weighted_prior(sources, [other], target=like, rng=rng)
        assert of_all.parse(sentence).heads.tolist().index(0) == root
        assert of_others.parse(sentence).heads.tolist().index(0) == 4 - root


def as_they_are(sentences, rng, *, complete):
    return sentences


def test_each_pass_reads_trees_translated_anew():
    drawn = []

    def translated(sentences, rng, *, complete):
        # Words with no affix in common.
        word = "".join(rng.permutation(list("abcdefgh")))
        if not complete:
            drawn.append(word)
        return [replace(one, forms=(word, *one.forms[1:])) for one in sentences]

    def prior(draws):
        sources, rng = [(Treebank("final", FINAL), translated)], np.random.default_rng(1)
        (parser,), _ = weighted_prior(sources, target=FINAL, rng=rng, draws=draws)
        return parser

    def gain(parser, word):
        """Return what the right arc gains by a word."""
        known, unknown = (
            parser.scores(make_sentence(f"{form} b c", "NOUN ADV VERB"))[3, 1] for form in (word, "unseen")
        )
        return known - unknown

    parser = prior(3)
    assert len(set(drawn)) == 3 and parser.labeller is not None
    assert all(gain(parser, word) > 0.02 for word in drawn)
    assert gain(prior(1), drawn[1]) == pytest.approx(0.0, abs=0.02)


def test_a_pass_reads_half_of_the_trees_of_a_large_treebank(monkeypatch):
    monkeypatch.setattr(priors, "FEW_TREES", 3)
    for count, read in ((2, 2), (5, 3), (8, 4)):
        passes = []

        def translated(sentences, rng, *, complete, passes=passes):
            passes.append((complete, [one.sent_id for one in sentences]))
            return sentences

        trees = [replace(FINAL[0], sent_id=str(number)) for number in range(count)]
        train_on_draws([(translated, trees)], rng=np.random.default_rng(1), draws=5)
        # The last one is for the relations.
        assert [(complete, len(one)) for complete, one in passes] == [(False, read)] * 5 + [(True, read)]
        assert all(one == sorted(one) for _, one in passes)
        assert (len({tuple(one) for _, one in passes}) > 1) == (read < count)


def test_a_pass_over_many_treebanks_reads_no_more_trees(monkeypatch):
    monkeypatch.setattr(priors, "FEW_TREES", 4)
    monkeypatch.setattr(priors, "MOST_TREES", 6)
    read = []

    def translated(sentences, rng, *, complete):
        read.append(len(sentences))
        return sentences

    def trees(count):
        return translated, [FINAL[0]] * count

    for counts, expected in (((4,), [4]), ((4, 2), [4, 2]), ((8, 4, 4), [2, 2, 2]), ((16, 2, 2), [4, 1, 1])):
        read.clear()
        train_on_draws(list(map(trees, counts)), rng=np.random.default_rng(1), draws=1)
        assert read == expected * 2


def test_a_prior_of_translated_trees_reads_their_words():
    words = {"a": "eins", "b": "zwei", "c": "drei"}

    def translated(sentences, rng, *, complete):
        return [replace(one, forms=tuple(words[form] for form in one.forms)) for one in sentences]

    # Tags alone cannot tell the two apart.
    other = [replace(one, forms=("d", "e", "f")) for one in INITIAL]
    words.update(d="vier", e="fünf", f="sechs")
    treebank = Treebank("both", [*FINAL, *other])
    for translate, first, last in ((translated, "vier", "eins"), (as_they_are, "d", "a")):
        rng = np.random.default_rng(1)
        (parser,), _ = weighted_prior([(treebank, translate)], target=FINAL, rng=rng)
        assert parser.scorer.template_set == "words"
        for form, root in ((last, 3), (first, 1)):
            sentence = make_sentence(f"{form} x x", "NOUN ADV VERB")
            assert parser.parse(sentence).heads.tolist().index(0) == root
