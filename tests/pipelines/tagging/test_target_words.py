"""Which sentences show word boundaries, and which text a learned tokenizer cuts."""

import numpy as np
import pytest

from qsproj.corpus.sentence import Sentence
from qsproj.corpus.text import without_spaces
from qsproj.models.tagging import tagger_training
from qsproj.models.tagging.tagger_training import FOLDS, train_tagger
from qsproj.pipelines.bootstrap.bitext import tokenization_arguments, tokens_shown
from qsproj.pipelines.bootstrap.texts import SourceText
from qsproj.pipelines.tagging.target_words import (
    FEWEST_TO_TOKENIZE,
    segmented_sentences,
    with_answered_words,
    with_target_words,
)

WORDS = "我 有 一 隻 大 狗 。".split()  # noqa: SIM905


def arguments_of(folder, lines, tagged):
    (path := folder / "zh.txt").write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    text = SourceText(treebanks=(), bitext=(str(path), str(path)), languages=("en", "zh"))
    (found,) = tokenization_arguments(
        tokens_shown(("tagged",), tagged, "zh"), tagged, "zh", raw=(), texts=[text]
    )
    return found


KEPT = {"tagged": (), "contractions": {}}
CUT = {"tagged": ("tagged",), "contractions": {}}


@pytest.mark.parametrize("count", [0, 1, FEWEST_TO_TOKENIZE - 1])
def test_few_sentences_do_not_cut_a_bitext_with_spaces(tmp_path, count):
    tagged = [without_spaces(WORDS, sent_id="1")] * count
    assert arguments_of(tmp_path, [" ".join(WORDS)] * 50, tagged) == KEPT
    assert arguments_of(tmp_path, ["".join(WORDS[:-1] * 2)] * 50, tagged) == (CUT if count else KEPT)


def test_many_sentences_cut_a_bitext_of_another_standard(tmp_path):
    rng = np.random.default_rng(1)
    sentences = [rng.choice(WORDS[:-1], size=8).tolist() for _ in range(FEWEST_TO_TOKENIZE)]
    tagged = [without_spaces(words, sent_id="1") for words in sentences]
    assert arguments_of(tmp_path, map(" ".join, sentences), tagged) == KEPT
    pairs = (" ".join(map("".join, zip(words[::2], words[1::2], strict=True))) for words in sentences)
    assert arguments_of(tmp_path, pairs, tagged) == CUT | {"join": True}


def test_few_sentences_and_those_of_the_bitext_show_words():
    untagged = [Sentence.from_words(WORDS)]
    tagged = [without_spaces(WORDS[:3], sent_id="1").replace(upos=["PRON", "VERB", "NUM"])]
    found = segmented_sentences(tagged, untagged, language="zh")
    assert [one.forms for one in found] == [tuple(WORDS[:3]), tuple(WORDS)]
    assert list(segmented_sentences(tagged, untagged, language="de")) == tagged
    # A tokenizer of many sentences has cut the words, if spaces do not separate them.
    many = tagged * FEWEST_TO_TOKENIZE
    assert len(segmented_sentences(many, untagged, language="zh")) == len(many) + 1
    assert segmented_sentences(many, [without_spaces(WORDS[:-1] * 2, sent_id="1")], language="zh") == many


def test_answered_words_are_learned():
    words = ["我 有 一 隻 大 狗 。".split(), "我 有 大 貓 。".split()] * 10  # noqa: SIM905
    sentences = [without_spaces(own, sent_id="1").replace(upos=["X"] * len(own)) for own in words]
    tagger = train_tagger(sentences, rng=np.random.default_rng(1), language="zh")
    tagger = with_target_words(tagger, [], shown=sentences, language="zh", seed=1)
    line = "我有大貓。"
    assert next(tagger.read([line])).forms == ("我", "有", "大", "貓", "。")
    answered = [without_spaces(["我有", "大貓", "。"], sent_id="1").replace(upos=["X"] * 3)] * 4
    learned = with_answered_words(tagger, answered, [], seed=1)
    assert next(learned.read([line])).forms == ("我有", "大貓", "。")
    assert with_answered_words(tagger, [], sentences, seed=1) is tagger


def test_the_reranker_learns_errors_of_tokenizers_that_know_untagged_sentences(monkeypatch):
    sizes, train = [], tagger_training.train_tokenizer
    monkeypatch.setattr(
        tagger_training,
        "train_tokenizer",
        lambda given, **how: sizes.append(len(given)) or train(given, **how),
    )
    untagged = [without_spaces(WORDS, sent_id="1")] * 7
    tagged = [one.replace(upos=["X"] * len(one)) for one in untagged[: 2 * FOLDS]]
    tagger_training.train_segmentation_reranker(
        [*tagged, *untagged], rng=np.random.default_rng(1), language="zh"
    )
    assert sizes == [len(tagged) - len(tagged[fold::FOLDS]) + len(untagged) for fold in range(FOLDS)]
