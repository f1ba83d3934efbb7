"""The tagger: its chain against listing all tag sequences, its training, its storage."""

from dataclasses import replace

import numpy as np
import pytest

import qsproj
from qsproj.corpus.characters import lower_letters
from qsproj.corpus.conllu import read_conllu
from qsproj.corpus.editing import with_columns
from qsproj.corpus.sentence import Sentence
from qsproj.errors import DataError, UsageError
from qsproj.kernels.tagging.linear_chain import gradient, k_best, posterior, viterbi
from qsproj.models.arc.arc_parser import ArcParser
from qsproj.models.arc.arc_scorer import ArcScorer
from qsproj.models.parser import load_tags
from qsproj.models.tagging import tagger_training
from qsproj.models.tagging.tagger import Tagger
from qsproj.models.tagging.tagger_training import accuracy, train_tagger
from qsproj.models.tree_decoder import TreeDecoder
from tests.oracles import linear_chain as oracle

SIZES = [(1, 1), (1, 4), (4, 1), (2, 3), (5, 3), (4, 4)]


def chain(n_words, n_tags, scale, seed=3):
    rng = np.random.default_rng(seed)
    return scale * rng.normal(size=(n_words, n_tags)), scale * rng.normal(size=(n_tags + 1, n_tags))


@pytest.mark.parametrize(("n_words", "n_tags"), SIZES)
@pytest.mark.parametrize("scale", [1.0, 10.0, 50.0])
def test_chain_agrees_with_listing(n_words, n_tags, scale):
    emissions, transitions = chain(n_words, n_tags, scale)
    log_z, marginals, pairs, best, highest = oracle.enumerate_all(emissions.tolist(), transitions.tolist())
    found, found_pairs = np.empty((n_words, n_tags)), np.zeros((n_tags + 1, n_tags))
    assert posterior(emissions.copy(), transitions, found, found_pairs) == pytest.approx(log_z, rel=1e-12)
    np.testing.assert_allclose(found, marginals, atol=1e-12)
    np.testing.assert_allclose(found_pairs, pairs, atol=1e-12)
    tags = np.empty(n_words, dtype=np.int32)
    assert viterbi(emissions, transitions, tags) == pytest.approx(highest, rel=1e-12)
    assert tags.tolist() == best


@pytest.mark.parametrize(("n_words", "n_tags"), SIZES)
@pytest.mark.parametrize("k", [1, 3, 300])
def test_k_best_sequences_agree_with_listing(n_words, n_tags, k):
    emissions, transitions = chain(n_words, n_tags, 2.0)
    if n_tags > 1:
        transitions[0, 1] = -np.inf
    tags, scores = np.empty((k, n_words), dtype=np.int32), np.empty(k)
    k_best(emissions, transitions, tags, scores)
    listed = sorted(
        ((oracle.score(emissions, transitions, one), one) for one in np.ndindex((n_tags,) * n_words)),
        reverse=True,
    )
    possible = [(score, one) for score, one in listed if score > -np.inf][:k]
    np.testing.assert_allclose(scores[: len(possible)], [score for score, _ in possible], rtol=1e-12)
    assert [tuple(one) for one in tags[: len(possible)].tolist()] == [one for _, one in possible]
    assert (scores[len(possible) :] == -np.inf).all()


def test_gradient_agrees_with_finite_differences():
    rng = np.random.default_rng(5)
    rows = np.array([[0, 1], [2, -1], [1, 3]], dtype=np.int32)
    gold = np.array([1, 0, 2], dtype=np.int32)
    weights = rng.normal(size=(4, 3)).astype(np.float32)
    transitions = rng.normal(size=(4, 3))

    def likelihood(features, pairs):
        emissions = [[sum(features[r][t] for r in row if r >= 0) for t in range(3)] for row in rows.tolist()]
        log_z, *_ = oracle.enumerate_all(emissions, pairs.tolist())
        return oracle.score(emissions, pairs.tolist(), gold.tolist()) - log_z

    residuals, pair_residuals = np.empty((3, 3)), np.empty((4, 3))
    value = gradient(rows, gold, weights, transitions, residuals, pair_residuals)
    wide = weights.astype(np.float64)
    assert value == pytest.approx(likelihood(wide, transitions), rel=1e-9)
    slopes = np.zeros((4, 3))
    for word, row in enumerate(rows.tolist()):
        for r in row:
            if r >= 0:
                slopes[r] += residuals[word]
    for array, expected in ((wide, slopes), (transitions, pair_residuals)):
        for cell in np.ndindex(array.shape):
            step = 1e-5
            before = array[cell]
            array[cell] = before + step
            above = likelihood(wide, transitions)
            array[cell] = before - step
            below = likelihood(wide, transitions)
            array[cell] = before
            assert expected[cell] == pytest.approx((above - below) / (2 * step), abs=1e-8)


WORDS = {"DET": ["der", "die"], "NOUN": ["Hund", "Katze", "Maus"], "VERB": ["bellt", "schläft", "jagt"]}


def made(size, seed=0):
    rng = np.random.default_rng(seed)
    patterns = [("DET", "NOUN", "VERB"), ("DET", "NOUN", "VERB", "DET", "NOUN"), ("VERB",)]
    for number in range(size):
        tags = patterns[rng.integers(len(patterns))]
        yield Sentence.from_words(
            [str(rng.choice(WORDS[tag])) for tag in tags], sent_id=str(number), upos=tags
        )


@pytest.fixture(scope="module")
def tagger():
    return train_tagger(list(made(40)), rng=np.random.default_rng(1), language="de")


def test_learns_a_made_language(tagger):
    assert accuracy(tagger, list(made(40, seed=9))) == 100.0


@pytest.mark.parametrize("figure", ["14", "1999", "2,5"])
def test_digits_are_numbers_where_the_treebank_spells_them_out(figure):
    """In Czech-CAC # stands for every number in digits."""
    spelled = Sentence.from_words(("der", "Hund", "zwei"), upos=("DET", "NOUN", "NUM"))
    tagger = train_tagger([*made(40), *[spelled] * 5], rng=np.random.default_rng(1))
    assert tagger.tag_words(("der", "Hund", figure)) == ("DET", "NOUN", "NUM")


def test_keeps_everything_but_upos(tagger):
    before = Sentence.from_words(["der", "Hund"], heads=[-1, 2, 0], upos=["X", "X"])
    after = tagger.tag(with_columns(before, lemmas=["x", "y"]))
    assert (after.upos, after.lemmas, after.heads.tolist()) == (("DET", "NOUN"), ("x", "y"), [-1, 2, 0])


@pytest.mark.parametrize("words", [["Hund"], ["q"], ["Ω", "δ"], ["der", "Hund"] * 1000])
def test_posterior_of_short_unknown_and_long_sentences(tagger, words):
    distribution = tagger.tag_distribution(Sentence.from_words(words))
    assert distribution.shape == (len(words), 3)
    np.testing.assert_allclose(distribution.sum(axis=1), 1.0, atol=1e-9)
    assert len(tagger.tag_words(tuple(words))) == len(words)


def test_no_words_no_tags(tagger):
    assert tagger.tag_words(()) == ()


def with_raw(seed):
    raw = [list(sentence.forms) * 2 for sentence in made(60, seed=4)]
    return train_tagger(
        list(made(20)),
        rng=np.random.default_rng(seed),
        raw=raw,
        dev=list(made(10, seed=7)),
        epochs=3,
    )


def test_classes_of_words_are_stored(tmp_path):
    original = with_raw(seed=1)
    original.save(tmp_path / "model")
    loaded = load_tags(tmp_path / "model")
    assert set(loaded.extractor.class_sets) == {"lowerclass", "casedclass"}
    for sentence in made(10, seed=11):
        np.testing.assert_array_equal(original.tag_distribution(sentence), loaded.tag_distribution(sentence))


def test_a_file_holds_two_bytes_of_each_weight_that_is_not_zero(tmp_path):
    tagger = with_raw(seed=1)
    tagger.weights[::2, 1] = 0.0
    arrays = tagger.to_archive()[1]
    assert arrays["weights"].dtype == np.float16
    assert arrays["weights"].shape == (np.count_nonzero(tagger.weights),)
    tagger.save(tmp_path / "halved")
    np.testing.assert_array_equal(load_tags(tmp_path / "halved").weights, tagger.weights)
    exact = replace(tagger, weights=tagger.weights * np.float32(1.0001))
    exact.save(tmp_path / "exact")
    np.testing.assert_array_equal(load_tags(tmp_path / "exact").weights, exact.weights)


def test_faint_weights_are_dropped_and_features_of_one_word_where_there_are_many(tagger, monkeypatch):
    found = np.abs(tagger.weights)
    assert not ((found > 0.0) & (found < tagger_training.FAINT)).any()
    assert (found == 0.0).any()
    odd = Sentence.from_words(["der", "Qxyz"], upos=["DET", "INTJ"])
    learned = [train_tagger([*made(40), odd], rng=np.random.default_rng(1))]
    monkeypatch.setattr(tagger_training, "MOST_FEATURES", len(learned[0].index.keys) - 1)
    learned.append(train_tagger([*made(40), odd], rng=np.random.default_rng(1)))
    assert [one.knows(odd.forms).tolist() for one in learned] == [[True, True], [True, False]]


def test_a_file_of_older_versions_is_read():
    tagger = with_raw(seed=1)
    header, arrays = tagger.to_archive()
    del arrays["used"]
    older = Tagger.from_archive(header, arrays | {"weights": tagger.weights})
    np.testing.assert_array_equal(older.weights, tagger.weights)


def test_another_kind_of_model_is_refused(tmp_path):
    inference = TreeDecoder(projective=True, single_root=True)
    ArcParser(ArcScorer.untrained("words"), None, inference).save(tmp_path / "m")
    with pytest.raises(DataError, match="m: found a model of kind arc-parser, expected a tagger"):
        load_tags(tmp_path / "m")


def test_untagged_words_are_refused():
    with pytest.raises(UsageError, match=r"word 1 \('Hund'\)"):
        train_tagger([Sentence.from_words(["Hund"])], rng=np.random.default_rng(1))


def test_swedish_from_the_real_treebank(data_dir):
    treebank = list(read_conllu(data_dir / "treebanks" / "swedish-talbanken-dev.conllu.gz"))
    test = list(read_conllu(data_dir / "treebanks" / "swedish-talbanken-test.conllu.gz"))[:200]
    tagger = train_tagger(treebank, rng=np.random.default_rng(1), epochs=5)
    assert accuracy(tagger, test) > 88.0


def test_lines_in_capitals_are_tagged_as_others_are():
    """Words keep their capitals; a single acronym is no such line, nor are words without casing."""
    treebank = list(read_conllu("corpora/de.conllu"))
    tagger = qsproj.train_tagger(treebank, seed=1)
    upper = [Sentence.from_words([form.upper() for form in one.forms]) for one in treebank]
    tagged = list(tagger.tag_all(upper))
    assert [one.forms for one in tagged] == [one.forms for one in upper]
    right = [a == b for one, own in zip(tagged, treebank) for a, b in zip(one.upos, own.upos, strict=True)]
    assert np.mean(right) > 0.97
    lemmas = [
        a == b for one, own in zip(tagged, treebank) for a, b in zip(one.lemmas, own.lemmas, strict=True)
    ]
    assert np.mean(lemmas) > 0.95
    for forms in (("NATO",), ("NATO", "ist", "DA"), ("NATO", "."), ("我", "用", "DVD", "和", "CD"), ()):
        assert tagger.recased(forms) is forms


class Confident(Tagger):
    """A tagger whose tags are certain for one sentence of words and not for others."""

    def _emissions(self, forms):
        return np.array([[999.0 * (tuple(forms) == self.wanted), 0.0]] * len(forms))


@pytest.mark.parametrize("wanted", ["DER ZEBRA", "der zebra", "der ZEBRA", "DER zebra"])
def test_the_casing_of_the_most_confident_tags_is_taken(wanted):
    """Known words are as in training; unknown ones lower-cased or as they are, but all alike."""
    known = Sentence.from_words(["der", "Hund"], upos=["DET", "NOUN"])
    tagger = train_tagger([known] * 3, rng=np.random.default_rng(1))
    confident = object.__new__(Confident)
    for name in tagger.__slots__:
        object.__setattr__(confident, name, getattr(tagger, name))
    Confident.wanted = tuple(wanted.split())
    expected = "DER ZEBRA" if wanted == "DER zebra" else wanted
    assert " ".join(confident.recased(("DER", "ZEBRA"))) == expected


def test_turkish_capitals_have_their_own_small_letters():
    assert lower_letters("BİR KADIN", "tr") == "bir kadın"
    assert lower_letters("BİR KADIN") == "bir kadin"


def test_words_of_characters_that_were_never_seen_are_symbols_or_names():
    """In a German tagger of ten sentences; what it has learned is tagged as before."""
    sample = list(read_conllu("corpora/de.conllu"))[:10]
    rng = np.random.default_rng(1)
    signs = Sentence.from_words(
        ["Preis", ":", "5", "\u20ac", "%"], upos=["NOUN", "PUNCT", "NUM", "SYM", "SYM"]
    )
    tagger = train_tagger([*sample, signs], rng=rng, language="de", epochs=2)
    words = (
        "Der",
        "\U0001f600",
        "Hund",
        "\u4eca\u5929",
        "heißt",
        "\u0418\u0432\u0430\u043d",
        "n°12",
        "№7",
        "\u20ac",
        "Öl",
        ".",
    )
    tags = dict(zip(words, tagger.tag_words(words), strict=True))
    assert tags["\U0001f600"] == tags["\u20ac"] == "SYM"
    assert tags["\u4eca\u5929"] in ("PROPN", "X")
    assert tags["\u0418\u0432\u0430\u043d"] in ("PROPN", "X")
    assert tags["n°12"] in ("NUM", "X")
    assert tags["№7"] in ("NUM", "X")


@pytest.mark.parametrize(("symbols", "expected"), [((), "PUNCT"), (("%",), "SYM")])
def test_signs_that_were_never_seen_are_punctuation_or_symbols(symbols, expected):
    sample = list(read_conllu("corpora/de.conllu"))[:10]
    known = [Sentence.from_words(list(symbols), upos=["SYM"] * len(symbols))] if symbols else []
    rng = np.random.default_rng(1)
    tagger = train_tagger([*sample, *known], rng=rng, epochs=2)
    words = ("Der", "[", "Hund", "]", "heißt", "「", "Bello", "」", "+", "...", ":)")
    tags = dict(zip(words, tagger.tag_words(words), strict=True))
    assert {tags[sign] for sign in ("[", "]", "「", "」", "...", ":)")} == {"PUNCT"}
    assert tags["+"] == expected
