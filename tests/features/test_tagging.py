"""What the tagger looks at: word attributes, templates, keys and word classes."""

import numpy as np
import pytest

from qsproj.errors import UsageError
from qsproj.features import tagging
from qsproj.features.hashing import stable_hash
from qsproj.features.tagging import (
    LONG_SUFFIXES,
    STEM_AND_ENDING,
    WORD_ATTRIBUTES,
    WORD_TEMPLATES,
    WordTable,
    as_one,
    compiled,
    templates_with,
    word_attributes,
    word_classes,
)
from qsproj.kernels.tagging.tag_features import feature_keys


@pytest.mark.parametrize(
    ("form", "kind", "lower", "suffix2", "shape"),
    [
        ("Hund", "X", "hund", "nd", "Xxx"),
        ("USA", "XX", "usa", "sa", "XX"),
        ("1999", "0", "0000", "00", "00"),
        ("„", '"', '"', "", "Po"),
        ("E-Mail", "X", "e-mail", "il", "X-Xxx"),
    ],
)
def test_word_attributes(form, kind, lower, suffix2, shape):
    found = dict(zip(WORD_ATTRIBUTES, word_attributes(form), strict=True))
    assert (found["kind"], found["lower"], found["suffix2"], found["shape"]) == (kind, lower, suffix2, shape)


def test_compiled_templates():
    table = compiled(["form", "lower-1 & setA+2".replace("setA", "group")], ["group"])
    first_class = len(WORD_ATTRIBUTES) + len(LONG_SUFFIXES) + len(STEM_AND_ENDING)
    assert table.tolist() == [
        [WORD_ATTRIBUTES.index("form"), 0, -1, 0],
        [WORD_ATTRIBUTES.index("lower"), -1, first_class, 2],
    ]


@pytest.mark.parametrize("template", ["colour", "form & form-1 & form+1"])
def test_bad_templates_are_refused(template):
    with pytest.raises(UsageError):
        compiled([template], [])


def keys(table, forms, templates):
    words = table.encode(forms)
    found = np.empty((len(forms), len(templates)), dtype=np.uint64)
    feature_keys(table.attributes, words, templates, found)
    return found


def test_keys_depend_on_context_only_where_the_template_says():
    templates = compiled(["lower", "lower-1", "lower-1 & lower", "suffix3"], [])
    table = WordTable({})
    left, right = keys(table, ["ab", "haus"], templates), keys(table, ["cd", "Haus"], templates)
    assert left[1, 0] == right[1, 0]
    assert left[1, 1] != right[1, 1]
    assert left[1, 2] != right[1, 2]
    assert left[0, 3] == 0, "a word of two letters has no suffix of three"
    assert left[0, 1] == right[0, 1] != 0, "the place before a sentence is a feature of its own"


def test_sentences_as_one_have_the_features_of_each():
    templates, table = (
        compiled(["lower", "lower-2", "lower-1 & lower", "lower+1 & lower+2"], []),
        WordTable({}),
    )
    sentences = [["ab", "haus"], ["haus"], ["cd", "ab", "ab"]]
    cells, places = as_one(sentences)
    whole = keys(table, cells, templates)
    for sentence, place in zip(sentences, places, strict=True):
        assert cells[place] == sentence
        np.testing.assert_array_equal(whole[place], keys(table, sentence, templates))
    assert not whole[2:4].any(), "places between sentences have no features"


def test_table_grows_past_its_first_size():
    table = WordTable({})
    templates = compiled(["form"], [])
    first = keys(table, ["word0"], templates)
    keys(table, [f"word{i}" for i in range(3000)], templates)
    np.testing.assert_array_equal(keys(table, ["word0"], templates), first)


def test_classes_fall_back_to_lower_case():
    classes = {"haus": 2}
    templates = compiled(["group"], ["group"])
    found = keys(WordTable({"group": classes}), ["Haus", "haus", "Baum"], templates)
    assert found[0, 0] == found[1, 0] != 0
    assert found[2, 0] == 0


def test_class_templates_are_repeated_for_each_set():
    names = templates_with(["one", "two"])
    assert names[: len(WORD_TEMPLATES)] == WORD_TEMPLATES
    assert {"one-1 & one", "two-1 & two"} <= set(names)
    assert not any("CLASS" in name for name in names)


@pytest.mark.parametrize("seed", [None, 1, 2])
def test_words_in_the_same_places_share_a_class(seed):
    rng = np.random.default_rng(2)
    text = [
        [
            str(rng.choice(["der", "ein"])),
            str(rng.choice(["hund", "mann", "baum"])),
            str(rng.choice(["geht", "steht"])),
        ]
        for _ in range(400)
    ]
    classes = word_classes(text, 5, None if seed is None else np.random.default_rng(seed))
    groups = [
        {classes[word] for word in words}
        for words in (["der", "ein"], ["hund", "mann", "baum"], ["geht", "steht"])
    ]
    assert [len(group) for group in groups] == [1, 1, 1]
    assert len(set.union(*groups)) == 3


def test_words_of_similar_frequency_start_in_different_classes(monkeypatch):
    monkeypatch.setattr(tagging, "PASSES", 0)
    text = [[word] * (20 - number) for number, word in enumerate("abcdefgh")]
    assert list(word_classes(text, 5).values()) == [4, 2, 3, 4, 2, 3, 4, 2]
    drawn = [tuple(word_classes(text, 5, np.random.default_rng(seed)).values()) for seed in (1, 2, 3, 1)]
    assert drawn[0] == drawn[3]
    assert len(set(drawn)) == 3
    for classes in drawn:
        assert sorted(classes[:3]) == sorted(classes[3:6]) == [2, 3, 4]


def test_classes_of_text_without_frequent_words():
    assert word_classes([["a", "b"]], 4) == {}


@pytest.mark.parametrize(
    ("form", "cut"),
    [
        ("Evler", ("ev", "-ler")),
        ("ev", ("ev", "-")),
        ("Ankara'da", ("Ankara", "-'da")),
        # The one form that has a lemma does not know it; a shorter one of others is found.
        ("evlendi", ("ev", "-lendi")),
        ("okudu", ("", "")),
    ],
)
def test_a_word_is_cut_after_the_longest_lemma_of_another_word(form, cut):
    lemmas = {"ev": "", "evlen": "evlendi", "Ankara": "ankara", "e": ""}
    table = WordTable({}, lemmas)
    number = table.encode([form])[0]
    found = table.attributes[number, -2:]
    np.testing.assert_array_equal(found, [stable_hash(text) | 1 if text else 0 for text in cut])
