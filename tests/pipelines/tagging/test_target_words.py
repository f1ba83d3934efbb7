"""Which sentences show word boundaries, and which text a learned tokenizer cuts."""

import numpy as np
import pytest

from qsproj.corpus.sentence import Sentence
from qsproj.corpus.text import without_spaces
from qsproj.models.tagging import tagger_training
from qsproj.models.tagging.tagger_training import FOLDS
from qsproj.pipelines.bootstrap.bitext import tokenization_arguments
from qsproj.pipelines.bootstrap.texts import SourceText
from qsproj.pipelines.tagging.target_words import FEWEST_TO_TOKENIZE, segmented_sentences

WORDS = "我 有 一 隻 大 狗 。".split()  # noqa: SIM905


@pytest.mark.parametrize("parted", [True, False])
@pytest.mark.parametrize("count", [0, FEWEST_TO_TOKENIZE - 1, FEWEST_TO_TOKENIZE])
def test_few_sentences_do_not_cut_a_bitext_with_spaces(tmp_path, parted, count):
    (path := tmp_path / "zh.txt").write_text(
        (" " if parted else "").join(WORDS[:-1] * 2) + "\n", encoding="utf-8"
    )
    text = SourceText(treebanks=(), bitext=(str(path), str(path)), languages=("en", "zh"))
    tagged = [without_spaces(WORDS, sent_id="1")] * count
    (found,) = tokenization_arguments(("few",), tagged, "zh", raw=(), texts=[text])
    cut = count >= FEWEST_TO_TOKENIZE or (count > 0 and not parted)
    assert found == {"tagged": ("few",) if cut else (), "contractions": {}}


def test_few_sentences_and_those_of_the_bitext_show_words():
    untagged = [Sentence.from_words(WORDS)]
    tagged = [without_spaces(WORDS[:3], sent_id="1").replace(upos=["PRON", "VERB", "NUM"])]
    found = segmented_sentences(tagged, untagged, language="zh")
    assert [one.forms for one in found] == [tuple(WORDS[:3]), tuple(WORDS)]
    assert list(segmented_sentences(tagged, untagged, language="de")) == tagged
    many = tagged * FEWEST_TO_TOKENIZE
    assert segmented_sentences(many, untagged, language="zh") == many


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
