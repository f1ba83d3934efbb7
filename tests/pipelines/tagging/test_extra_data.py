"""What sentences beside those of the bitext teach: raw text, and numbers in digits."""

import numpy as np

from qsproj.corpus.sentence import Sentence, SentencePair, make_alignment
from qsproj.models.tagging.tagger_training import FIGURES, SetExample, accuracy, train_tagger
from qsproj.pipelines.tagging import tags_through_links
from qsproj.pipelines.tagging.options import TagProjectionOptions
from qsproj.pipelines.tagging.script_rules import ScriptRules
from qsproj.pipelines.tagging.self_training import RawText, balanced, in_digits, self_tagged, share_unknown
from qsproj.pipelines.tagging.tags_through_links import project_tags
from tests.pipelines.tagging.made_bitext import gold, made_pairs

TAGS = ("DET", "NOUN", "NUM")


def projected(pairs, **more):
    return project_tags(((pair,) for pair in pairs), rng=np.random.default_rng(1), **more)


def example(words, *sets):
    """Return a sentence whose words may have the tags of these sets."""
    rows = [[0.0 if tag in allowed else -np.inf for tag in TAGS] for allowed in sets]
    return SetExample(tuple(words.split()), np.array(rows, dtype=np.float32))


def test_the_first_word_that_is_a_number_becomes_digits():
    examples = [
        example("die zwei Hunde", {"DET"}, {"NUM"}, {"NOUN"}),
        example("die eine", {"DET"}, {"DET", "NUM"}),
        example("zwei drei", {"NUM"}, {"NUM"}),
    ]
    changed = in_digits(examples, TAGS, ScriptRules(), most=9)
    assert [one.forms for one in changed] == [("die", FIGURES[0], "Hunde"), (FIGURES[1], "drei")]
    for one, of in zip(changed, (examples[0], examples[2]), strict=True):
        np.testing.assert_array_equal(one.log_evidence, of.log_evidence)
        assert one.strength == of.strength


def test_copies_are_limited_and_need_numerals():
    numbers = [example("zwei", {"NUM"})] * 1000
    assert len(in_digits(numbers, TAGS, ScriptRules(), most=300)) == 300
    assert in_digits(numbers, ("DET", "NOUN", "VERB"), ScriptRules(), most=300) == []


def counting(count):
    """Return pairs of *two dogs* in words, and no digit."""
    source = Sentence.from_words(
        ["two", "dogs", "hear", "the", "cat"], upos=["NUM", "NOUN", "VERB", "DET", "NOUN"]
    )
    target = Sentence.from_words(["zwei", "Hunde", "hören", "die", "Katze"])
    links = make_alignment(5, 5, [(i, i) for i in range(1, 6)], weights=[0.95] * 5)
    return [SentencePair(source, target, links)] * count


def test_digits_are_numbers_though_the_bitext_has_none():
    tagger = projected([*made_pairs(100), *counting(40)]).tagger
    assert tagger.tag_words(("1987", "Hunde", "hören", "die", "Katze"))[0] == "NUM"
    assert tagger.tag_words(("40.000", "Hunde", "hören", "die", "Katze"))[0] == "NUM"


def test_years_are_adjectives_in_russian():
    pairs = [*made_pairs(100), *counting(60)]
    for language, tag in (("ru", "ADJ"), ("de", "NUM")):
        tagger = projected(pairs, language=language).tagger
        assert "ADJ" in tagger.tags
        assert tagger.tag_words(("1987", "Hunde", "hören", "die", "Katze"))[0] == tag
        assert tagger.tag_words(("12", "Hunde", "hören", "die", "Katze"))[0] == "NUM"


def raw_text(sentences, lexicon=None, tags=TAGS, most=100, seed=1):
    return RawText.of(
        sentences,
        tags=tags,
        lexicon=lexicon or {},
        contractions={"zum": ("zu", "dem")},
        most=most,
        rng=np.random.default_rng(seed),
    )


def test_words_are_known_composed_or_not():
    (words,) = raw_text([["la", "Citt\u00e0", "e\u0300", "grande", "."]]).sentences
    assert share_unknown(words, ["La", "citta\u0300", "\u00e8", "."]) == 0.25


def test_of_more_raw_text_than_is_kept_each_sentence_is_as_likely():
    counts = dict.fromkeys(range(8), 0)
    for seed in range(400):
        raw = raw_text(([str(number)] for number in range(8)), most=3, seed=seed)
        numbers = [int(forms[0]) for forms in raw.sentences]
        assert len(numbers) == 3
        assert numbers == sorted(set(numbers))
        for number in numbers:
            counts[number] += 1
    # 150 are expected, with a standard deviation of 9.7.
    assert all(110 < count < 190 for count in counts.values()), counts


def test_raw_words_are_cut_as_tagged_ones_and_have_the_tags_of_script_and_lexicon():
    raw = raw_text([["zum", "Hund"], [], ["1999"]], lexicon={"hund": ("NOUN",)})
    assert raw.sentences == (("zu", "dem", "Hund"), ("1999",))
    everything = [True, True, True]
    assert raw.sets_of(("zu", "dem", "Hund")).tolist() == [everything, everything, [False, True, False]]
    assert raw.sets_of(("1999",)).tolist() == [[False, False, True]]


def test_sentences_are_evidence_as_the_tagger_reads_them_frequent_tags_for_less():
    """Word by word: p / max(mean of p, .03)^.4, of which the best counts 1."""
    tagger = projected(made_pairs(200)).tagger
    sentences = [("der", "Wolf", "sieht", "die", "Katze", "."), ("ein", "Wolf", "hört", "!")]
    raw = raw_text(sentences, tags=tagger.tags, lexicon={"wolf": ("NOUN", "VERB")})
    read = [
        tagger.marginals(np.where(raw.sets_of(forms), tagger.emissions(forms), -np.inf)).tolist()
        for forms in sentences
    ]
    words = [row for rows in read for row in rows]
    often = [max(sum(column) / len(words), 0.03) for column in zip(*words, strict=True)]
    examples = self_tagged(tagger, raw, sentences, strength=3.0, balance=0.4)
    assert [one.forms for one in examples] == sentences
    for one, rows in zip(examples, read, strict=True):
        assert one.strength == 3.0
        for found, row in zip(one.log_evidence, rows, strict=True):
            less = [p / f**0.4 for p, f in zip(row, often, strict=True)]
            expected = [value / max(less) for value in less]
            np.testing.assert_allclose(np.exp(found), expected, rtol=1e-4, atol=1e-12)
    assert examples[0].log_evidence[1, tagger.tags.index("ADJ")] == -np.inf
    assert self_tagged(tagger, raw, [], strength=3.0, balance=0.4) == []


# A word that the bitext lacks, where nouns stand.
RAW = [
    ["der", "Wagner", "sieht", "die", "Katze", "."],
    ["ein", "alter", "Wagner", "hört", "der", "Maus", "!"],
    ["der", "großer", "Wagner", "jagt", "ein", "Hund", "."],
] * 20


def test_raw_text_teaches_words_that_the_bitext_lacks():
    pairs = made_pairs(300, wrong=0.1)
    word = Sentence.from_words(["Wagner"])
    options = TagProjectionOptions(temperature=1.0)
    without, with_raw = projected(pairs, options=options), projected(pairs, raw=RAW, options=options)
    column = without.tagger.tags.index("NOUN")
    chances = [result.tagger.tag_distribution(word)[0, column] for result in (without, with_raw)]
    assert chances[0] < 0.5 < 0.7 < chances[1]
    assert accuracy(with_raw.tagger, gold(made_pairs(100, seed=7))) > 99.0
    assert "60 sentences of raw text" in with_raw.report[1]
    assert "raw text" not in without.report[1]


def test_the_same_seed_gives_the_same_bytes_with_raw_text(tmp_path):
    for name in ("one", "two"):
        projected(made_pairs(60), raw=RAW).tagger.save(tmp_path / name)
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()


def test_of_raw_text_a_sample_is_learned_from():
    raw = raw_text([str(number)] * 6 for number in range(50))
    numbers = [int(forms[0]) for forms in raw.drawn(20, np.random.default_rng(1))]
    assert len(numbers) == 20
    assert numbers == sorted(set(numbers))


def test_what_a_tagger_reads_is_learned_from_and_frequent_tags_count_less():
    probabilities = np.array([[0.9, 0.1, 0.0], [0.6, 0.4, 0.0]], dtype=np.float32)
    evidence = balanced(probabilities, 0.5)
    for row, found in zip(probabilities.tolist(), evidence, strict=True):
        less = [p / max(often, 0.03) ** 0.5 for p, often in zip(row, (0.75, 0.25, 0.0), strict=True)]
        expected = [value / max(less) for value in less]
        np.testing.assert_allclose(np.exp(found), expected, rtol=1e-5)


def test_a_number_that_may_be_something_else_becomes_no_digits():
    evidence = np.array([[-12.0, -2.0, 0.0]], dtype=np.float32)
    assert in_digits([SetExample(("eins",), evidence)], TAGS, ScriptRules(), most=9) == []
    evidence[0, 1] = -4.0
    assert [
        one.forms for one in in_digits([SetExample(("zwei",), evidence)], TAGS, ScriptRules(), most=9)
    ] == [(FIGURES[0],)]


def test_raw_text_without_unknown_words_is_not_learned_from():
    """The tagger is that of no raw text, and a clause of the report says so; the option decides otherwise."""
    pairs, raw = made_pairs(200), [pair.target.forms for pair in made_pairs(40, seed=3)]
    known = projected(pairs, raw=raw)
    assert "raw text not learned from: 0% of its words are not in the bitext, fewer" in known.report[0]
    taggers = {"known": known, "without": projected(pairs)}
    for name, learn in (("always", True), ("never", False)):
        options = TagProjectionOptions(learn_raw=learn)
        taggers[name] = projected(pairs, raw=raw if learn else RAW, options=options)
    assert "raw text learned from" in taggers["always"].report[0]
    assert "raw text not learned from: 24% of its words" in taggers["never"].report[0]
    found = {name: one.tagger.tag_distribution(Sentence.from_words(RAW[0])) for name, one in taggers.items()}
    np.testing.assert_array_equal(found["known"], found["without"])
    np.testing.assert_array_equal(found["never"], found["without"])
    assert np.abs(found["always"] - found["without"]).max() > 0


def test_raw_text_that_lowers_agreement_with_links_is_not_learned_from(monkeypatch):
    """Disagreement of the first tagger, of that with raw text, and of the last one, in this order."""
    pairs = made_pairs(200)
    monkeypatch.setattr(tags_through_links, "disagreement", lambda *_: (next(found), 0.0, 100))
    found = iter([10, 16, 11])
    result = projected(pairs, raw=RAW)
    assert "fewer held-out words would be tagged as linked, 84.0% instead of 90.0%" in result.report[0]
    assert next(found, None) is None
    found = iter([10, 12, 12])
    kept = projected(pairs, raw=RAW)
    assert "raw text learned from: 24% of its words are not in the bitext" in kept.report[0]


def test_adjectives_of_names_are_read_as_in_lower_case():
    """Of unknown capitalised words, only within a sentence, and only in languages that have them."""
    words = ["severnaja", "juznaja", "novaja", "staraja"] * 8
    treebank = [
        sentence
        for at, word in enumerate(words)
        for sentence in (
            Sentence.from_words(["vot", word, "reka", "."], upos=["PART", "ADJ", "NOUN", "PUNCT"]),
            Sentence.from_words(["vot", f"Iv{'abcd'[at % 4]}n", "."], upos=["PART", "PROPN", "PUNCT"]),
            Sentence.from_words(["vot", f"Mar{'abcd'[at % 4]}ja", "reka"], upos=["PART", "PROPN", "NOUN"]),
        )
    ]
    tagger = train_tagger(treebank, rng=np.random.default_rng(1))
    sentence = ("vot", "Zapadnaja", "reka")
    raw = raw_text([sentence], tags=tagger.tags)
    beside = RawText.of(
        *([sentence, ["Zapadnaja", "Novaja"]], tagger.tags, {}, {}),
        most=9,
        rng=np.random.default_rng(1),
        language="ru",
        known=["novaja", "vot"],
    )
    assert (raw.capitalised, beside.capitalised) == (frozenset(), {"Zapadnaja"})

    def tags(raw, forms=sentence):
        (example,) = self_tagged(tagger, raw, [forms], strength=1.0, balance=0.0)
        return [tagger.tags[at] for at in example.log_evidence.argmax(axis=1)]

    assert tags(raw) == ["PART", "PROPN", "NOUN"]
    assert tags(beside) == ["PART", "ADJ", "NOUN"]
    scores = np.where(beside.sets_of(sentence), tagger.emissions(("vot", "zapadnaja", "reka")), -np.inf)
    lower = tagger.marginals(scores)[1]
    (example,) = self_tagged(tagger, beside, [sentence], strength=1.0, balance=0.0)
    np.testing.assert_allclose(np.exp(example.log_evidence[1]), lower / lower.max(), rtol=1e-4, atol=1e-9)
