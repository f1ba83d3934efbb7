"""Tokenize the target language like tagged sentences, or by rules."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain, islice
from typing import Any

import numpy as np

from qsproj.corpus.contractions import Contractions, known_contractions
from qsproj.corpus.formats import open_raw_text
from qsproj.corpus.language.recognition import LOOKED_AT, check_language
from qsproj.corpus.language.sentence_ends import read_running_text, rule_starts
from qsproj.corpus.sentence import Sentence
from qsproj.corpus.text import UNSPACED_LANGUAGES, read_text, without_spaces
from qsproj.models.tagging.tagger import Tagger
from qsproj.models.tagging.tagger_training import train_segmentation_reranker
from qsproj.models.tokens.splitter import train_splitter
from qsproj.models.tokens.tokenizer import Tokenizer
from qsproj.models.tokens.tokenizer_training import shows_tokens, train_tokenizer
from qsproj.progress import track

FEWEST_TO_TOKENIZE = 200  # minimum to learn a tokenizer; with fewer, rules and contractions are better
MOST_SEGMENTED = 2000  # most sentences split at spaces to learn to segment a script without spaces


def learns_tokenizer(tagged: Sequence[Sentence], language: str | None, *, has_spaces: bool = False) -> bool:
    """Return whether to learn a tokenizer; ``has_spaces``: the text of an unspaced script has spaces."""
    is_needed = language in UNSPACED_LANGUAGES and not has_spaces
    return (len(tagged) >= FEWEST_TO_TOKENIZE or is_needed) and shows_tokens(tagged)


def target_tokenizer(tagged: Sequence[Sentence], *, language: str | None, seed: int) -> Tokenizer | None:
    if not learns_tokenizer(tagged, language):
        return None
    return train_tokenizer(tagged, rng=np.random.default_rng(seed), language=language)


def segmented_sentences(
    tagged: Sequence[Sentence], words: Iterable[Sentence], *, language: str | None
) -> Sequence[Sentence]:
    """Return sentences that show word boundaries: ``tagged`` and, if few in unspaced scripts, also ``words``.

    Spaces between ``words`` are removed, as in the text to be parsed.
    """
    if len(tagged) >= FEWEST_TO_TOKENIZE or language not in UNSPACED_LANGUAGES:
        return tagged
    first = enumerate(islice(words, MOST_SEGMENTED), start=1)
    return [*tagged, *(without_spaces(one.forms, sent_id=str(number)) for number, one in first)]


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
