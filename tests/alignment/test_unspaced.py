"""Words of scripts without spaces: how they are cut, and what words get of their characters."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from qsproj.alignment.aligners import align_words
from qsproj.alignment.unspaced import carry_to_words, cut_pair, cut_sentence, cut_word, known_words
from qsproj.errors import UsageError
from tests.oracles.word_pieces import word_links


@pytest.mark.parametrize(
    ("word", "pieces"),
    [
        ("数字化", "数 字 化"),
        ("BBC的", "BBC 的"),
        ("2,000.5年", "2,000.5 年"),
        ("中-日", "中 - 日"),
        ("唐纳德·特朗普", "唐 纳 德 · 特 朗 普"),
        ("𠮷野", "𠮷 野"),
        ("食べました", "食 べました"),
        ("ニュースでは", "ニュース では"),
        ("クリス・マス", "クリス ・ マス"),
        ("これか\u3099", "これか\u3099"),
        ("日本の", "日 本 の"),
        ("don't", "don't"),
        ("می\u200cخواهد", "می\u200cخواهد"),
        ("हिन्दी中", "हिन्दी 中"),
        ("ශ්\u200dරී", "ශ්\u200dරී"),
        ("O‘zbek", "O‘zbek"),
        ("e\u0301te\u0301", "e\u0301te\u0301"),
        ("한국어", "한국어"),
        ("说：“好", "说 ： “ 好"),
        ("\u00a0", "\u00a0"),
    ],
)
def test_where_words_are_cut(word, pieces):
    assert cut_word(word) == (pieces.split(" ") if word.strip() else [word])


@given(st.text(alphabet="中文かがé3a.,' -\u3099ที่", min_size=1, max_size=12))
def test_nothing_but_white_space_is_lost(word):
    if word.strip():
        assert "".join(cut_word(word, {"か", "\u3099é", "がé", "が", "ที", "é"})) == word.replace(" ", "")


def test_the_longest_known_word_is_cut_off_and_the_rest_stays_whole():
    known = {"です", "ま", "ました", "すし"}
    assert cut_word("すしです", known) == ["すし", "です"]
    assert cut_word("おべんとうでした", known) == ["おべんとうでした"]
    assert cut_word("食べました", known) == ["食", "べ", "ました"]
    assert cut_word("まま", known) == ["ま", "ま"]


def test_no_word_ends_before_a_mark_of_its_last_letter():
    assert cut_word("かか\u3099", {"か"}) == ["か", "か\u3099"]
    assert cut_word("ไทยที่", {"ไทย", "ท"}) == ["ไทย", "ที่"]


def test_known_are_words_seen_five_times_alone_or_within_running_text():
    running = [(("x",), (text,)) for text in ("ねこがいる", "ねこをみる", "いぬがねこを", "ねこもいぬ")]
    treebank = [(("x",), ("ねこ", "を", "を", "を"))]
    assert known_words([*running, *treebank], "target") == (None, {"ねこ", "を"})
    assert known_words([*running[:3], *treebank], "target")[1] == {"を"}
    assert known_words(treebank * 5, "source") == (frozenset(), None)


def test_what_is_too_long_for_a_word_is_none():
    phrase = "ねこがいる" * 6
    assert known_words([(("x",), (phrase,))] * 9, "both") == (frozenset(), frozenset())


def test_a_word_begins_with_its_first_piece():
    source, target = cut_pair((("ab", "日本"), ("日本", "x", "語")), (None, frozenset()))
    assert (source.pieces, source.starts.tolist()) == (("ab", "日本"), [0, 1])
    assert (target.pieces, target.starts.tolist()) == (("日", "本", "x", "語"), [0, 2, 3])
    empty = cut_sentence((), frozenset())
    assert (empty.pieces, empty.starts.tolist()) == ((), [])


@pytest.mark.parametrize("known", [(None, {"で"}), ({"で"}, None), ({"で"}, {"で"})])
def test_probabilities_of_words_against_the_definition(known):
    rng = np.random.default_rng(1)
    words = ("日本語", "まで", "BBC", "放送")
    for _ in range(20):
        pair = tuple(tuple(rng.choice(words, size=rng.integers(1, 6))) for _ in range(2))
        cut = cut_pair(pair, known)
        m, n = (len(sentence.pieces) for sentence in cut)
        forward, backward = rng.random((2, m, n), dtype=np.float32)
        owners = [
            np.searchsorted(sentence.starts, range(size), side="right") - 1
            for sentence, size in zip(cut, (m, n))
        ]
        found = carry_to_words(forward, backward, cut)
        np.testing.assert_allclose(found[0], word_links(forward, *owners), rtol=1e-6)
        np.testing.assert_allclose(found[1].T, word_links(backward.T, *owners[::-1]), rtol=1e-6)


NAMES = {"cat": "猫儿", "dog": "狗子", "sees": "看见", "house": "房屋", "finds": "找到", "tree": "树木"}


def sentences():
    """Return pairs whose target sides run on, and one whose is cut into words."""
    rng = np.random.default_rng(2)
    order = [[str(word) for word in rng.permutation(list(NAMES))[:4]] for _ in range(60)]
    running = [(tuple(words), ("".join(NAMES[word] for word in words),)) for words in order]
    return [*running, (("cat", "finds", "tree"), ("猫儿", "找到", "树木"))]


def test_words_are_linked_that_no_other_sentence_has():
    alignment = list(align_words(sentences(), unspaced="target"))[-1]
    assert (alignment.n_source, alignment.n_target) == (3, 3)
    assert alignment.links.tolist() == [[1, 1], [2, 2], [3, 3]]
    assert (alignment.weights > 0.9).all()


def test_without_it_they_are_not():
    assert list(align_words(sentences()))[-1].links.tolist() != [[1, 1], [2, 2], [3, 3]]


def test_the_source_is_cut_as_the_target_is():
    turned = [(target, source) for source, target in sentences()]
    there = list(align_words(sentences(), unspaced="target"))
    back = list(align_words(turned, unspaced="source"))
    for one, other in zip(there, back, strict=True):
        assert (one.n_source, one.n_target) == (other.n_target, other.n_source)
        assert {tuple(link) for link in one.links} == {tuple(link[::-1]) for link in other.links}


def test_words_of_one_piece_are_linked_as_without_it():
    pairs = [(("the", "house"), ("das", "haus")), ((), ("x",)), (("the", "book"), ("das", "buch"))] * 4
    for one, other in zip(align_words(pairs), align_words(iter(pairs), unspaced="both"), strict=True):
        assert one.links.tolist() == other.links.tolist()
        assert one.weights.tolist() == other.weights.tolist()


def test_an_unknown_side_is_told_at_once():
    with pytest.raises(UsageError, match=r"unknown side 'left'.*known: source, target, both"):
        align_words([], unspaced="left")
