"""Tokenize the target language like tagged sentences, or by rules."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain, islice
from typing import Any

import numpy as np

from qsproj.corpus.contractions import Contractions, known_contractions
from qsproj.corpus.editing import comment_value
from qsproj.corpus.formats import open_raw_text
from qsproj.corpus.language.recognition import LOOKED_AT, check_language
from qsproj.corpus.language.sentence_ends import read_running_text, rule_starts
from qsproj.corpus.sentence import Sentence
from qsproj.corpus.text import read_text, without_spaces
from qsproj.corpus.unspaced import UNSPACED_LANGUAGES, are_parted, with_spaces
from qsproj.models.tagging.tagger import Tagger
from qsproj.models.tagging.tagger_training import train_segmentation_reranker
from qsproj.models.tokens.splitter import train_splitter
from qsproj.models.tokens.tokenizer import Tokenizer
from qsproj.models.tokens.tokenizer_training import placed, shows_tokens, tokenized_text, train_tokenizer
from qsproj.progress import track
from qsproj.training.cross_fitting import cross_fit, in_order

FEWEST_TO_TOKENIZE = 200  # minimum to learn a tokenizer; with fewer, rules and contractions are better
MOST_SEGMENTED = 2000  # most sentences split at spaces to learn to segment a script without spaces


def learns_tokenizer(tagged: Sequence[Sentence], language: str | None) -> bool:
    return (len(tagged) >= FEWEST_TO_TOKENIZE or language in UNSPACED_LANGUAGES) and shows_tokens(tagged)


def target_tokenizer(tagged: Sequence[Sentence], *, language: str | None, seed: int) -> Tokenizer | None:
    if not learns_tokenizer(tagged, language):
        return None
    return train_tokenizer(tagged, rng=np.random.default_rng(seed), language=language)


def segmented_sentences(
    tagged: Sequence[Sentence], words: Iterable[Sentence], *, language: str | None
) -> Sequence[Sentence]:
    """Return sentences that show word boundaries: ``tagged`` and, in unspaced scripts, ``words``.

    Spaces between these are removed. Words that a tokenizer of many sentences has cut show nothing new.
    """
    if language not in UNSPACED_LANGUAGES:
        return tagged
    first = list(islice(words, MOST_SEGMENTED))
    texts = (comment_value(one, "text") or " ".join(one.forms) for one in first[:LOOKED_AT])
    if len(tagged) >= FEWEST_TO_TOKENIZE and not are_parted(texts):
        return tagged
    return [*tagged, *_joined(one.forms for one in first)]


def _joined(sentences: Iterable[Sequence[str]]) -> list[Sentence]:
    """Return sentences of words without the spaces between these."""
    return [without_spaces(words, sent_id=str(number)) for number, words in enumerate(sentences, start=1)]


def keeps_words(lines: Iterable[str], tagged: Sequence[Sentence], *, language: str) -> bool:
    """Return whether text with spaces in an unspaced script keeps its words, or is cut like ``tagged``.

    Few sentences cut worse than most segmenters. Many decide: a tokenizer of the text against tokenizers of
    half of the sentences, by the words of the others that each finds.
    """
    first = tagged[: 2 * FEWEST_TO_TOKENIZE]
    judges = [(one, text) for one in first if (text := tokenized_text(one, language)) is not None]
    if len(judges) < FEWEST_TO_TOKENIZE or not shows_tokens([one for one, _ in judges]):
        return True
    words = (with_spaces(line).split() for line in islice(lines, MOST_SEGMENTED))
    segmented = _joined(filter(None, words))
    if not segmented:
        return True

    def trained(sentences: Sequence[Sentence]) -> Tokenizer:
        return train_tokenizer(sentences, rng=np.random.default_rng(0), language=language)

    def found(tokenizer: Tokenizer, at: int) -> tuple[int, int]:
        """Return the number of right tokens, and of the tokenizer's."""
        text, gold = judges[at][1]
        own = placed(text, tokenizer.tokens(text))
        tokens = () if own is None else own.tokens
        return len({*gold}.intersection(tokens)), len(tokens)

    of_text = trained(segmented)
    of_others = cross_fit(len(judges), lambda rest: trained([judges[at][0] for at in rest]), found, folds=2)
    n_gold = sum(len(text.tokens) for _, text in judges)
    by_text, by_others = (
        sum(right for right, _ in counts) / (n_gold + sum(own for _, own in counts))
        for counts in ([found(of_text, at) for at in range(len(judges))], in_order(of_others))
    )
    return by_text >= by_others


def target_reader(
    tokenizer: Tokenizer | None, contractions: Contractions, *, language: str | None, name: str
) -> Callable[[Iterable[str]], Iterator[Sentence]]:
    if tokenizer is not None:
        return partial(tokenizer.read, name=name)
    return partial(read_text, language=language or "", contractions=contractions, name=name)


def raw_sentences(
    paths: Sequence[str], *, paragraphs: bool, tagged: Sequence[Sentence], language: str | None, seed: int
) -> list[Sentence]:
    """Read the distinct sentences of raw text: one per line or, with ``paragraphs``, running text."""
    found: dict[tuple[str, ...], Sentence] = {}
    splitter = train_splitter(tagged, language=language) if paragraphs and shows_tokens(tagged) else None
    starts = partial(rule_starts, language=language) if splitter is None else splitter.starts
    tokenizer = target_tokenizer(tagged, language=language, seed=seed) if paths else None
    contractions = known_contractions(language, tagged)
    for path in paths:
        read = target_reader(tokenizer, contractions, language=language, name=path)
        with open_raw_text(path) as rest:
            head = list(islice(rest, LOOKED_AT))
            if language is not None:
                check_language(path, head, language)
            lines = chain(head, rest)
            sentences = read_running_text(lines, read, starts) if paragraphs else read(lines)
            for sentence in track(sentences, "reading raw text"):
                found.setdefault(sentence.forms, sentence)
    return list(found.values())


def with_target_words(
    tagger: Tagger, tagged: Sequence[Sentence], *, shown: Sequence[Sentence], language: str | None, seed: int
) -> Tagger:
    """Add to a tagger a trained tokenizer, or the contractions that the rules need.

    ``shown``: sentences that show word boundaries (:func:`segmented_sentences`).
    """
    parts = _learned_parts(shown, tagged, language, seed) if learns_tokenizer(shown, language) else {}
    return replace(tagger, contractions=known_contractions(language, tagged), **parts)


def with_answered_words(
    tagger: Tagger, answered: Sequence[Sentence], words: Iterable[Sentence], *, seed: int
) -> Tagger:
    """Return a tagger of an unspaced script that cuts text like ``answered`` sentences and the bitext."""
    if not answered or tagger.tokenizer is None or not tagger.tokenizer.known:
        return tagger
    shown = segmented_sentences(answered, words, language=tagger.language)
    return with_target_words(tagger, answered, shown=shown, language=tagger.language, seed=seed)


def treebank_tokens(
    sentences: Sequence[Sentence], *, language: str | None, seed: int, rules: bool = False
) -> dict[str, Any]:
    """Return the parts of a tagger that tokenize like a treebank.

    Only contractions if the treebank does not show tokens, or with ``rules``.
    """
    if rules or not shows_tokens(sentences):
        return {"contractions": known_contractions(language, sentences)}
    return _learned_parts(sentences, sentences, language, seed)


def _learned_parts(
    shown: Sequence[Sentence], tagged: Sequence[Sentence], language: str | None, seed: int
) -> dict[str, Any]:
    """Learn tokens and words from ``shown``, ends of sentences from ``tagged``."""
    # Separate generators: training a tokenizer must not change the tags.
    tokenizer = train_tokenizer(shown, rng=np.random.default_rng(seed), language=language)
    judge = None
    if tokenizer.known:
        judge = train_segmentation_reranker(shown, rng=np.random.default_rng(seed), language=language)
    return {"tokenizer": tokenizer, "splitter": train_splitter(tagged, language=language), "judge": judge}
