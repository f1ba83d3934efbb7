"""The judge of words: what it learns from, how ways to cut a line are chosen, and its place in a file."""

from dataclasses import replace

import numpy as np
import pytest

from qsproj.corpus.conllu import read_conllu
from qsproj.corpus.editing import comment_value, with_columns
from qsproj.corpus.sentence import Sentence
from qsproj.evaluation.conll18 import cut_scores
from qsproj.models.tagging.tagger import EACH_WORD, NOT_A_WORD, OF_WORDS, SEGMENTATIONS, Tagger
from qsproj.models.tagging.tagger_training import train_segmentation_reranker, train_tagger
from qsproj.models.tokens.tokenizer_training import train_tokenizer

SAMPLE = "corpora/de.conllu"


@pytest.fixture(scope="module")
def german():
    sentences = list(read_conllu(SAMPLE))[:40]
    tokenizer = train_tokenizer(sentences[:20], rng=np.random.default_rng(1), language="de")
    # With small weights, several ways are probable.
    loose = replace(tokenizer, weights=0.2 * tokenizer.weights, transitions=0.2 * tokenizer.transitions)
    judge = train_segmentation_reranker(sentences, rng=np.random.default_rng(1), language="de")
    tagger = train_tagger(sentences, rng=np.random.default_rng(1), language="de")
    return replace(tagger, tokenizer=loose, judge=judge)


def test_the_way_of_the_best_words_is_taken(german):
    assert NOT_A_WORD in german.judge.tags and NOT_A_WORD not in german.tags
    line = "Die Katze schläft im Garten."
    liked = {}
    for tokens, chance in german.tokenizer.segmentations(line, SEGMENTATIONS):
        words = tuple(word for _, own in tokens for word in own)
        chances = german.judge.tag_distribution(Sentence.from_words(words))
        of_words = np.log(1.0 - chances[:, german.judge.tags.index(NOT_A_WORD)])
        liked[words] = np.log(chance) + EACH_WORD * len(words) + OF_WORDS * of_words.sum()
    assert len(liked) > 1
    (sentence,) = german.read([line])
    assert sentence.forms == max(liked, key=liked.get)
    assert comment_value(sentence, "text") == line
    (plain,) = replace(german, judge=None).read([line])
    assert plain.forms == tuple(german.tokenizer.words(line))


def test_saved_and_read_back(german):
    again = Tagger.from_archive(*german.to_archive())
    line = "Die Katze geht zum Haus, und der Hund schläft."
    assert [one.forms for one in again.read([line])] == [one.forms for one in german.read([line])]
    assert again.judge.tags == german.judge.tags
    assert "words with their tags" in Tagger.described(german.to_archive()[0])["tokens"]
    with pytest.raises(ValueError, match="not a word"):
        Tagger.from_archive(*replace(german, judge=replace(german, judge=None)).to_archive())


def test_too_few_sentences_teach_no_judge(german):
    few = list(read_conllu(SAMPLE))[:2]
    assert train_segmentation_reranker(few, rng=np.random.default_rng(1)) is None
    untagged = [with_columns(one, upos=["_"] * len(one)) for one in read_conllu(SAMPLE)]
    assert train_segmentation_reranker(untagged, rng=np.random.default_rng(1)) is None


def test_chinese_is_cut_better(data_dir):
    sentences = list(read_conllu(data_dir / "pud" / "zh.conllu.gz"))[:260]
    tokenizer = train_tokenizer(sentences[:160], rng=np.random.default_rng(1), language="zh")
    plain = train_tagger(sentences[:160], rng=np.random.default_rng(1), language="zh")
    plain = replace(plain, tokenizer=tokenizer)
    judge = train_segmentation_reranker(sentences[:160], rng=np.random.default_rng(1), language="zh")
    test = sentences[160:]
    lines = [comment_value(one, "text") for one in test]
    before, after = (
        cut_scores(test, one.read(lines)).parts["words"].f1 for one in (plain, replace(plain, judge=judge))
    )
    assert after > before + 0.5
