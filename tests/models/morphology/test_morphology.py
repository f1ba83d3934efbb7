"""Lemmas, XPOS and FEATS: the chain against listing, edit scripts, what is learned, stored and written."""

import random
from dataclasses import replace
from pathlib import Path
from unicodedata import is_normalized, normalize

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import qsproj
from qsproj.corpus.editing import misc_values, with_columns
from qsproj.corpus.language.lexicon import Inflection
from qsproj.corpus.sentence import Sentence
from qsproj.errors import UsageError
from qsproj.features.hashing import FeatureIndex
from qsproj.kernels.tagging.analyses import LEVELS, NO_ANALYSIS, analysis_gradient, propose
from qsproj.models.morphology import morphology_training
from qsproj.models.morphology.analyses import Analysis, analysis_table, feature_pairs
from qsproj.models.morphology.lemmatizer import WHOLE, EditScript, Lemmatizer, Word, edit_script
from qsproj.models.morphology.morphology import AnalysisWeights, Morphology
from qsproj.models.morphology.morphology_training import train_morphology
from qsproj.models.storage import load_model
from tests.oracles import analyses as oracle

ANALYSES = [
    Analysis("N", "_", "Case=Nom"),
    Analysis("N", "_", "Case=Gen|Number=Sing"),
    Analysis("N", "_", "_"),
    Analysis("V", "_", "Number=Plur"),
    Analysis("V", "_", "Number=Sing"),
]
FORMS, TAGS = ("a", "b", "a"), ("N", "V", "N")
CORPORA = Path(qsproj.__file__).parent.parent / "corpora"
LEXICON = {("a", "N"): [(0, -1, 3), (1, -1, 1)], ("b", "V"): [(3, -1, 12)]}


class OneRowEach:
    """Features of words in place of templates: word i fires row i."""

    templates = ("form",)

    def keys(self, forms, upos):
        return np.arange(1, len(forms) + 1, dtype=np.uint64).reshape(-1, 1)


def parts_of(analysis):
    return {"UPOS": analysis.upos, "XPOS": analysis.xpos, **dict(feature_pairs(analysis.feats))}


def small_chain(seed=3, analyses=ANALYSES):
    """Return a morphology of random weights over analyses, and the same weights as the oracle takes them."""
    rng = np.random.default_rng(seed)
    table = analysis_table(analyses, fused=False)
    emissions = rng.normal(size=(3, table.n_parts)).astype(np.float32)
    transitions, support = rng.normal(size=(1, table.n_pairs)), rng.normal(size=(LEVELS, LEVELS))
    lexicon = {
        key: [(table.analyses.index(analyses[analysis]), *rest) for analysis, *rest in entries]
        for key, entries in LEXICON.items()
    }
    weights = AnalysisWeights(FeatureIndex(np.arange(1, 4, dtype=np.uint64)), emissions, transitions, support)
    morphology = Morphology(
        columns=("feats",), table=table, lexicon=lexicon, scripts=(), features=OneRowEach(), weights=weights,
        lemmatizer=None,
    )  # fmt: skip
    parts = sorted({part for analysis in analyses for part in parts_of(analysis).items()})
    names = sorted({name for name, _ in parts})
    values = {name: ["none", "start", *(value for of, value in parts if of == name)] for name in names}
    pairs = [(name, before, after) for name in names for before in values[name] for after in values[name]]
    return morphology, {
        "words": [
            [(parts_of(analyses[analysis]), count) for analysis, _, count in LEXICON[form, tag]]
            for form, tag in zip(FORMS, TAGS, strict=True)
        ],
        "emissions": [dict(zip(parts, row, strict=True)) for row in emissions.astype(float).tolist()],
        "pairs": dict(zip(pairs, transitions[0].tolist(), strict=True)),
        "support": support.tolist(),
    }


def allowed(analyses=ANALYSES):
    table = analysis_table(analyses, fused=False)
    return [[one for one in table.analyses if one.upos == tag] for tag in TAGS]


@pytest.mark.parametrize("seed", range(5))
def test_the_best_analyses_and_their_probabilities_are_those_of_listing(seed):
    morphology, weights = small_chain(seed)
    rows = [[parts_of(one) for one in row] for row in allowed()]
    _, marginals, best = oracle.enumerate_all(rows, **weights)
    assert morphology.analyses(FORMS, TAGS) == [allowed()[i][k] for i, k in enumerate(best)]
    for k, analysis in enumerate(allowed()[1]):
        feats = ["_", analysis.feats, "_"]
        assert morphology.feature_probabilities(FORMS, TAGS, feats)[1] == pytest.approx(marginals[1, k])


def test_the_probability_of_features_is_that_of_all_analyses_that_have_them():
    """Two differ in XPOS alone: what is written of FEATS is the sum of both, not the larger one."""
    of_noun = [Analysis("N", xpos, "Case=Nom") for xpos in ("A", "B")] + [Analysis("N", "_", "_")]
    analyses = of_noun + [one for one in ANALYSES if one.upos == "V"]
    morphology, weights = small_chain(5, analyses)
    rows = [[parts_of(one) for one in row] for row in allowed(analyses)]
    _, marginals, _ = oracle.enumerate_all(rows, **weights)
    same = [marginals[2, place] for place, one in enumerate(allowed(analyses)[2]) if one.feats == "Case=Nom"]
    assert len(same) == 2
    assert min(same) > 0.01
    found = morphology.feature_probabilities(FORMS, TAGS, ["_", "_", "Case=Nom"])
    assert found[2] == pytest.approx(sum(same))


def test_a_word_whose_tag_was_never_seen_surely_has_no_features():
    morphology, _ = small_chain()
    sentence = Sentence.from_words(FORMS, upos=("N", "SYM", "N"))
    filled = next(morphology.fill([sentence], confidence=True))
    assert filled.feats[1] == "_"
    assert misc_values(filled, "FeatProb")[1] == "1.0000"
    assert morphology.feature_probabilities(FORMS, ("N", "SYM", "N"), ["_", "Case=Nom", "_"])[1] == 0.0


def test_analyses_far_below_the_best_are_no_candidates_unless_right():
    morphology, _ = small_chain()
    table, weights = morphology.table, morphology.weights
    words = morphology.encoded(FORMS, TAGS)
    first, last = table.ranges["N"]
    of_parts = np.zeros((3, table.n_parts))
    # The third word has one analysis that is hardly likely, and one that is hopeless.
    starts, parts = table.chain[:2]
    distinct = [parts[starts[a + 1] - 1] for a in range(first, last)]
    assert len(set(distinct)) == 3
    of_parts[2, distinct] = -3.0, -12.0, 0.0
    support = np.zeros_like(weights.support)

    def proposed(gold):
        candidates, scores = np.empty((3, 8), dtype=np.int64), np.empty((3, 8))
        propose(of_parts, table.chain, words, support, np.array([first, 3, gold]), candidates, scores)
        return [int(one) - first for one in candidates[2][scores[2] > -np.inf]]

    assert proposed(NO_ANALYSIS) == [2, 0]
    assert proposed(first + 1) == [2, 0, 1]


def test_the_gradient_agrees_with_finite_differences():
    morphology, weights = small_chain()
    table, learned = morphology.table, morphology.weights
    gold = [ANALYSES[1], ANALYSES[3], ANALYSES[0]]
    rows = np.arange(3, dtype=np.int32).reshape(-1, 1)
    numbers = np.array([table.analyses.index(one) for one in gold])

    def loss(emissions, transitions, support):
        """Return the loss and its slopes."""
        slopes = np.empty((3, table.n_parts)), np.empty_like(transitions), np.empty_like(support)
        value = analysis_gradient(
            rows,
            numbers,
            table.chain,
            morphology.encoded(FORMS, TAGS),
            emissions,
            transitions,
            support,
            8,
            slopes,
        )
        return value, slopes

    at = [learned.emissions.astype(np.float64), learned.transitions, learned.support]
    value, slopes = loss(*at)
    told = [parts_of(one) for one in gold]
    log_z, *_ = oracle.enumerate_all(
        [[parts_of(one) for one in row] for row in allowed()], **weights, gold=told
    )
    assert value == pytest.approx(log_z - oracle.score(told, **weights, gold=told))
    for which, slope in enumerate(slopes):
        for place in np.ndindex(slope.shape):
            moved = [array.copy() for array in at]
            moved[which][place] += 1e-5
            above = loss(*moved)[0]
            moved[which][place] -= 2e-5
            assert slope[place] == pytest.approx((above - loss(*moved)[0]) / 2e-5, abs=1e-7)


WORDS = st.text(st.characters(exclude_categories=["Cs", "Cc", "Zs", "Zl", "Zp"]), min_size=1, max_size=12)


@given(WORDS, WORDS)
def test_a_script_makes_the_lemma_it_was_made_of(form, lemma):
    assert edit_script(form, lemma).apply(form) == lemma


@pytest.mark.parametrize(
    ("form", "lemma", "other", "made"),
    [
        ("sagte", "sagen", "fragte", "fragen"),
        ("Hunde", "Hund", "Berge", "Berg"),
        ("gesagt", "sagen", "gefragt", "fragen"),
        ("The", "the", "Those", "those"),
        ("USA", "USA", "EU", "EU"),
    ],
)
def test_words_that_inflect_alike_share_a_script(form, lemma, other, made):
    assert edit_script(form, lemma).apply(other) == made


def test_a_script_that_does_not_fit_gives_no_lemma():
    script = edit_script("sagte", "sagen")
    assert script.apply("Haus") is None
    assert edit_script("war", "sein") == EditScript(WHOLE, suffix="sein")


@pytest.fixture(scope="module")
def treebank():
    return list(qsproj.read_conllu(CORPORA / "de.conllu"))


@pytest.fixture(scope="module")
def tagger(treebank):
    return qsproj.train_tagger(treebank[:70], language="de")


def right(morphology, sentences, cells):
    pairs = [
        (own, gold)
        for sentence, filled in zip(sentences, morphology.fill(sentences), strict=True)
        for own, gold in zip(getattr(filled, cells), getattr(sentence, cells), strict=True)
    ]
    return np.mean([own == gold for own, gold in pairs])


def test_columns_are_learned_and_kept_in_the_file(tagger, treebank, tmp_path):
    assert tagger.columns == ("upos", "lemma", "feats")
    assert right(tagger.morphology, treebank[:70], "feats") > 0.97
    assert right(tagger.morphology, treebank[:70], "lemmas") > 0.99
    assert right(tagger.morphology, treebank[70:], "feats") > 0.6
    assert right(tagger.morphology, treebank[70:], "lemmas") > 0.8
    tagger.save(tmp_path / "de.tagger")
    again = load_model(tmp_path / "de.tagger")
    for sentence in treebank[60:]:
        first, second = tagger.tag(sentence, confidence=True), again.tag(sentence, confidence=True)
        assert (first.lemmas, first.feats, first.layout) == (second.lemmas, second.feats, second.layout)


def test_a_block_is_tagged_as_each_of_its_sentences_alone(tagger, treebank):
    sentences = [*treebank[40:50], Sentence.from_words(["."], upos=["PUNCT"]), *treebank[50:90]]
    told = list(tagger.tag_all(sentences, confidence=True))
    assert list(map(str, told)) == [str(tagger.tag(one, confidence=True)) for one in sentences]
    some = [with_columns(one, feats=["_"] * len(one)) for one in sentences[::2]]
    filled = list(tagger.morphology.fill([*sentences[:3], *some], anew=False))
    assert [one.feats for one in filled[:3]] == [one.feats for one in sentences[:3]]
    assert [one.feats for one in filled[3:]] == [tagger.tag(one, columns=["feats"]).feats for one in some]


def test_features_have_probabilities(tagger, treebank):
    told = tagger.tag(treebank[75], confidence=True)
    assert all("FeatProb=" in told.layout.lines[line] for line in told.layout.word_lines)


def test_words_that_the_lexicon_lacks_get_a_lemma_like_those_it_has(tagger):
    analysis = Analysis("NOUN", "_", "Case=Nom|Gender=Fem|Number=Sing")
    assert ("Zitrone", "NOUN") not in tagger.morphology.lexicon
    assert tagger.morphology.lemma("Zitrone", analysis) == "Zitrone"


def test_a_tag_that_the_treebank_lacks_gets_no_features(tagger):
    sentence = Sentence.from_words(["Ach", "ja"], upos=["INTJ", "SYM"])
    assert next(tagger.morphology.fill([sentence])).feats[1] == "_"


def test_columns_that_are_named_are_replaced_and_no_others(tagger, treebank):
    wrong = with_columns(treebank[0], upos=["X"] * 7, lemmas=["?"] * 7, feats=["_"] * 7)
    assert tagger.tag(wrong, columns=["lemma"]).upos == wrong.upos
    assert tagger.tag(wrong, columns=["lemma"]).feats == wrong.feats
    assert tagger.tag(wrong, columns=["upos"]).lemmas == wrong.lemmas
    assert tagger.tag(wrong).feats == treebank[0].feats
    with pytest.raises(UsageError, match="xpos"):
        tagger.tag(wrong, columns=["xpos"])
    with pytest.raises(UsageError, match="no UPOS on word 1"):
        tagger.tag(Sentence.from_words(["Ja"]), columns=["lemma"])


def test_sentences_without_features_do_not_teach_that_there_are_none(treebank):
    bare = [replace(sentence, feats=("_",) * len(sentence)) for sentence in treebank[:70]]
    mixed = train_morphology(
        [*treebank[:70], *bare], rng=np.random.default_rng(1), columns=["feats"], epochs=3
    )
    assert right(mixed, treebank[:70], "feats") > 0.9


def test_a_column_that_is_empty_is_not_learned(treebank):
    bare = [
        replace(sentence, feats=("_",) * len(sentence), lemmas=("_",) * len(sentence))
        for sentence in treebank
    ]
    assert train_morphology(bare, rng=np.random.default_rng(1)) is None
    with pytest.raises(UsageError, match="XPOS"):
        train_morphology(treebank, rng=np.random.default_rng(1), columns=["xpos"])


def test_the_same_seed_learns_the_same(treebank):
    one, other = (
        train_morphology(treebank[:30], rng=np.random.default_rng(5), epochs=2).to_archive() for _ in range(2)
    )
    assert one[0] == other[0]
    assert all(np.array_equal(one[1][name], other[1][name]) for name in one[1])


def test_the_command_writes_all_columns(run_cli, tmp_path):
    model = tmp_path / "de.tagger"
    assert run_cli("train-tagger", CORPORA / "de.conllu", "-o", model, "--language", "de").code == 0
    said = run_cli("tag", "-m", model, stdin="Der Hund schläft .\n")
    assert said.out.splitlines()[2].split("\t")[1:6] == [
        *("Der", "der", "DET", "_"),
        "Case=Nom|Definite=Def|Gender=Masc|Number=Sing|PronType=Art",
    ]
    said = run_cli("tag", "-m", model, "--columns", "upos", stdin="Der Hund schläft .\n")
    assert said.out.splitlines()[2].split("\t")[1:6] == ["Der", "_", "DET", "_", "_"]
    said = run_cli("tag", "-m", model, "--columns", "xpos", stdin="Der Hund schläft .\n")
    assert said.code == 2 and "has not learned xpos" in said.err
    said = run_cli("tag", "-m", model, "--columns", "lemmas", stdin="Der Hund schläft .\n")
    assert said.code == 2 and "expected some of upos, xpos, feats, lemma" in said.err


def test_a_column_that_few_sentences_have_keeps_none_from_teaching(treebank):
    """A handful of sentences with XPOS, among hundreds without, are no treebank of XPOS."""
    few = [replace(sentence, xpos=sentence.upos) for sentence in treebank[:5]]
    learned = train_morphology([*few, *treebank[5:70]], rng=np.random.default_rng(1), epochs=1)
    assert learned.columns == ("lemma", "feats")
    assert len({form for form, _ in learned.lexicon}) == len(
        {form for one in treebank[:70] for form in one.forms}
    )


def test_words_with_accents_apart_are_the_same_words():
    sentences = list(qsproj.read_conllu(CORPORA / "de.conllu"))
    tagger = qsproj.train_tagger(sentences)
    apart = [
        Sentence.from_words([normalize("NFD", form) for form in one.forms], upos=one.upos)
        for one in sentences
    ]
    assert sum(one.forms != other.forms for one, other in zip(sentences, apart, strict=True)) > 20
    filled = list(tagger.morphology.fill(sentences))
    for whole, one in zip(filled, tagger.morphology.fill(apart), strict=True):
        assert one.feats == whole.feats
        assert [normalize("NFC", lemma) for lemma in one.lemmas] == list(whole.lemmas)
        for form, lemma, composed in zip(one.forms, one.lemmas, whole.lemmas, strict=True):
            assert lemma == (composed if is_normalized("NFC", form) else normalize("NFD", composed))


def test_the_scripts_that_fit_a_word_are_found_by_its_ending():
    """Those of trying each in turn."""
    rng = random.Random(5)
    parts = ["", "a", "b", "ab", "ba"]
    rows = {
        (rng.choice(["lower", "title", "upper", "as", "whole"]), *(rng.choice(parts) for _ in range(4)))
        for _ in range(150)
    }
    scripts = tuple(EditScript(*row) for row in sorted(rows))
    one = Lemmatizer(scripts, {"X": tuple(range(0, len(scripts), 2))}, (), np.zeros(4, dtype=np.float32))
    found = 0
    for form in ("ab", "BAB", "Abba", "a", "bbbb", "aBa", "\u0130b", "ß"):
        word = Word(form, Analysis("X", "_", "_"))
        tried = [(number, scripts[number].apply(form)) for number in range(0, len(scripts), 2)]
        assert list(one.candidates(word)) == [(number, lemma) for number, lemma in tried if lemma]
        found += len(list(one.candidates(word)))
    assert found > 50
    assert list(one.candidates(Word("ab", Analysis("Y", "_", "_")))) == []


def listed(*rows):
    return [Inflection(form, lemma, tuple(upos.split()), feats) for form, lemma, upos, feats in rows]


PAST, BASE = "Tense=Past|VerbForm=Fin", "VerbForm=Inf"
LISTED = listed(
    ("saw", "saw", "VERB", BASE),
    ("saw", "see", "VERB AUX", PAST),
    ("saw", "look", "VERB", PAST),
    ("saws", "saw", "NOUN PROPN", "Number=Plur"),
    *((f"{stem}en", stem, "NOUN", "Number=Plur") for stem in ("ox", "brax", "flax", "ax")),
    ("hen", "hen", "NOUN", "Number=Sing"),
)


def without_lemmas():
    """Return sentences with tags and features."""
    forms, upos = ("saw", "saws", "saw", "two", ".", "In"), ("VERB", "NOUN", "VERB", "NUM", "PUNCT", "ADP")
    feats = (PAST, "Number=Plur", BASE, "_", "_", "_")
    return [with_columns(Sentence.from_words(forms, upos=upos), feats=feats)] * 3


@pytest.fixture(scope="module")
def by_list(tmp_path_factory):
    learned = train_morphology(without_lemmas(), rng=np.random.default_rng(1), inflections=LISTED)
    return Morphology.from_archive(*learned.to_archive())


def test_lemmas_are_those_of_a_list(by_list):
    assert by_list.columns == ("lemma", "feats")
    # Two lemmas of a form: the one whose features fit, and of these the first.
    assert by_list.lemma("saw", Analysis("VERB", "_", PAST)) == "see"
    assert by_list.lemma("saw", Analysis("VERB", "_", BASE)) == "saw"
    assert by_list.lemma("saws", Analysis("NOUN", "_", "Number=Plur")) == "saw"
    # In the list alone; in none, by how the others end.
    assert by_list.lemma("Flaxen", Analysis("NOUN", "_", "Number=Plur")) == "flax"
    assert by_list.lemma("waxen", Analysis("NOUN", "_", "Number=Plur")) == "wax"


def test_words_without_a_listed_lemma_of_their_tag(by_list):
    filled = next(by_list.fill(without_lemmas()[:1]))
    assert filled.lemmas[3:] == ("two", ".", "in")
    assert by_list.lemma("Seven", Analysis("NUM", "_", "_")) == "seven"
    # No two verbs of the list are made alike.
    assert by_list.lemma("gnaw", Analysis("VERB", "_", BASE)) == "_"


def test_a_list_does_not_change_features(by_list):
    bare = train_morphology(without_lemmas(), rng=np.random.default_rng(1))
    assert (bare.weights.emissions == by_list.weights.emissions).all()
    forms, upos = ("Flaxen", "hen"), ("NOUN", "NOUN")
    assert bare.analyses(forms, upos) == by_list.analyses(forms, upos)


def test_lemmas_of_a_treebank_come_before_those_of_a_list():
    treebank = [with_columns(one, lemmas=("spot", "saw", "saw", "2", ".", "in")) for one in without_lemmas()]
    learned = train_morphology(treebank, rng=np.random.default_rng(1), inflections=LISTED)
    assert learned.lemma("saw", Analysis("VERB", "_", PAST)) == "spot"
    assert learned.lemma("oxen", Analysis("NOUN", "_", "Number=Plur")) == "ox"
    assert learned.lemma("two", Analysis("NUM", "_", "_")) == "2"


def test_of_many_entries_some_are_learned_from(monkeypatch):
    monkeypatch.setattr(morphology_training, "MOST_ENTRIES", 4)
    learned = [
        train_morphology(without_lemmas(), rng=np.random.default_rng(1), inflections=LISTED) for _ in range(2)
    ]
    assert (learned[0].lemmatizer.weights == learned[1].lemmatizer.weights).all()
    assert learned[0].lemma("oxen", Analysis("NOUN", "_", "Number=Plur")) == "ox"


def test_features_are_written_as_ud_has_them():
    cells = ["Number=Sing|Case=Nom", "Case=nom|Number=Sing", "Number=Plur|Number=Sing", "SpaceAfter=no"]
    treebank = [
        with_columns(Sentence.from_words([f"w{number}"] * 3, upos=["NOUN"] * 3), feats=[cell] * 3)
        for number, cell in enumerate(cells)
    ]
    learned = train_morphology(treebank, rng=np.random.default_rng(1))
    written = {analysis.feats for analysis in learned.table.analyses}
    assert written == {"Case=Nom|Number=Sing", "Number=Sing", "_"}


@pytest.mark.parametrize("genders", [True, False])
def test_case_number_and_gender_are_one_part_where_there_are_genders(genders, tmp_path):
    feats = "Case=Acc|Gender=Fem|Number=Sing" if genders else "Case=Acc|Number=Sing"
    one = with_columns(Sentence.from_words(["silvam", "silva"], upos=["NOUN"] * 2), feats=[feats, "_"])
    learned = train_morphology([one], rng=np.random.default_rng(1))
    assert learned.table.fused == genders
    assert learned.table.n_parts == len(["UPOS", "XPOS", *feats.split("|")]) + genders
    again = Morphology.from_archive(*learned.to_archive())
    assert (again.table.n_parts, again.table.n_pairs) == (learned.table.n_parts, learned.table.n_pairs)


@pytest.mark.parametrize(
    ("form", "lemma", "casing"),
    [
        ("NATO", "NATO", "as"),
        ("Berlin", "Berlin", "as"),
        ("McKays", "McKay", "as"),
        ("BERLIN", "Berlin", "title"),
        ("Hunde", "hund", "lower"),
        ("İnce", "ince", "lower"),
        ("us", "US", "upper"),
        ("BİRLİK", "Birlik", "title"),
    ],
)
def test_the_casing_of_a_form_stays_unless_another_keeps_more_of_it(form, lemma, casing):
    script = edit_script(form, lemma)
    assert (script.casing, script.apply(form)) == (casing, lemma)


def test_long_words_in_capitals_are_lemmatised_as_in_running_text():
    scripts = (EditScript("as"), EditScript("as", cut_suffix="s"))
    weights = np.zeros(2, dtype=np.float32)
    found = Lemmatizer(scripts, {"PROPN": [0, 1]}, frozenset(), weights)
    analysis = Analysis("PROPN", "_", "_")
    assert found.lemma(Word("NATO", analysis)) == "NATO"
    assert found.lemma(Word("BERLIN", analysis)) == "Berlin"
    assert found.lemma(Word("COVID-19", analysis)) == "COVID-19"
