"""Sentences learned from treebanks: what treebanks show, what is learned of it, and that it is read back."""

from __future__ import annotations

import random

import numpy as np
import pytest

from qsproj.corpus.conllu import read_conllu
from qsproj.corpus.language.sentence_ends import rule_starts
from qsproj.models.tokens import splitter as splitting
from qsproj.models.tokens.splitter import SIGHT, Splitter, pieces, running_texts, start_keys, train_splitter
from tests.timing import assert_linear

BLOCK = "{comments}# text = {text}\n1\t{first}\t_\t_\t_\t_\t_\t_\t_\t_\n2\t.\t_\t_\t_\t_\t_\t_\t_\t{misc}\n\n"


def treebank(tmp_path, *sentences):
    """Read sentences of (comments, text, MISC of the last word)."""
    path = tmp_path / "x.conllu"
    blocks = [
        BLOCK.format(comments=comments, text=text, first=text[:-1], misc=misc)
        for comments, text, misc in sentences
    ]
    path.write_text("".join(blocks), encoding="utf-8")
    return list(read_conllu(path))


def notes(tmp_path, count, seed):
    """Make a treebank in which a sentence ends at a semicolon, and behind *ca.* none does."""
    rng, words = random.Random(seed), ["Bo", "sees", "Tim", "ca.", "Ann", "now", "and", "Kai", "5"]
    texts = [" ".join([*rng.choices(words, k=rng.randint(2, 7)), "end;"]) for _ in range(count)]
    return treebank(tmp_path, *(("", text, "_") for text in texts))


@pytest.fixture(scope="module")
def splitter(tmp_path_factory):
    return train_splitter(notes(tmp_path_factory.mktemp("notes"), 150, 1), language="en")


def test_a_treebank_shows_paragraphs(tmp_path):
    found = running_texts(
        treebank(
            tmp_path,
            ("# newdoc id = a\n# newpar\n", "One.", "_"),
            ("", "Two  and.", "SpaceAfter=No"),
            ("", "Three.", "_"),
            ("# newpar id = b\n", "Four.", "SpaceAfter=No|X=1"),
        )
    )
    assert list(found) == [("One. Two and.Three.", [0, 5, 13]), ("Four.", [0])]


def test_pieces_are_words_numbers_addresses_and_signs():
    text = "It's 3.50, see http://a.b/c?d=1. Wait... (क्या) 他来"
    assert [piece for _, piece in pieces(text)] == (
        ["It's", "3.50", ",", "see", "http://a.b/c?d=1", ".", "Wait", "...", "(", "क्या", ")", "他", "来"]
    )
    assert all(text.startswith(piece, begin) for begin, piece in pieces(text))


def test_what_the_treebank_does_is_learned_where_rules_do_not(tmp_path, splitter):
    ((text, starts),) = running_texts(notes(tmp_path, 40, 2))
    assert splitter.starts(text) == starts != rule_starts(text, "en")


def test_rules_decide_where_nothing_was_learned(tmp_path):
    few = train_splitter(treebank(tmp_path, ("", "One.", "_"), ("", "Two.", "_")), language="en")
    text = "Dr. Gil came. They met Mr. Hale! All was well."
    assert few.starts(text) == rule_starts(text, "en")


def test_one_sentence_shows_nothing(tmp_path):
    assert train_splitter(treebank(tmp_path, ("", "One.", "_"), ("# newpar\n", "Two.", "_"))) is None
    assert train_splitter([]) is None


def test_a_splitter_is_read_back(splitter):
    header, arrays = splitter.to_archive()
    again = Splitter.from_archive(header, arrays)
    assert again.language == "en"
    assert (again.weights == splitter.weights).all()
    text = "Bo sees ca. Ann; now and Kai; end; Tim"
    assert again.starts(text) == splitter.starts(text)
    with pytest.raises(ValueError, match="other templates"):
        Splitter.from_archive(header | {"templates": ["lower"]}, arrays)


@pytest.mark.parametrize(
    "text", ["", ".", "...!?", "¿", "a", "\u200b", "e\u0301. E\u0301", "他来了。你呢？", "\u0301"]
)
def test_any_text_is_cut_without_loss(splitter, text):
    starts = splitter.starts(text)
    assert starts[0] == 0
    assert starts == sorted(set(starts))
    assert all(start < len(text) for start in starts[1:])


def test_a_long_text_is_looked_at_in_blocks_without_a_difference(monkeypatch):
    rng = random.Random(3)
    text = " ".join(rng.choices(["Aa", "bb", "C", '"Dd', "(ee", ")", ".", "?!", "5", '"'], k=400))
    found, rules = pieces(text), {0, 30}
    whole = np.concatenate(start_keys(text, found, rules))
    monkeypatch.setattr(splitting, "_BLOCK", 37)
    assert (np.concatenate(start_keys(text, found, rules)) == whole).all()
    monkeypatch.setattr(splitting, "SIGHT", SIGHT // 12)
    assert (np.concatenate(start_keys(text, found, rules)) != whole).any()


@pytest.mark.slow
@pytest.mark.parametrize("piece", ["a", "_a", ". ", "Aa. ", "他", "(", '" '])
def test_time_is_linear_in_the_text(splitter, piece):
    assert_linear(splitter.starts, piece)
