"""Training of a reranker of segmentations: a tagger with an additional tag for wrongly cut words.

Words and their tags are thus chosen jointly, among the tokeniser's most probable segmentations.
"""

from collections.abc import Sequence

import numpy as np

from qsproj.corpus.cells import UNSPECIFIED
from qsproj.corpus.editing import with_columns
from qsproj.corpus.sentence import Sentence
from qsproj.corpus.text import sentence_from_tokens
from qsproj.models.tagging.tagger import NOT_A_WORD, WAYS, Tagger
from qsproj.models.tagging.tagger_training import train_tagger
from qsproj.models.tokens.tokenizer import Tokenizer, Tokens
from qsproj.models.tokens.tokenizer_training import TokenizedText, tokenized_text, train_tokenizer

# Folds for tokenisers that have not seen a sentence; segmentations of each line to train on.
FOLDS, LEARNED = 3, 3


def train_segmentation_reranker(
    treebank: Sequence[Sentence], *, rng: np.random.Generator, language: str | None = None
) -> Tagger | None:
    """Train on segmentations of parts of a treebank by tokenisers of the others; None without errors."""
    examples = [one for one in treebank if UNSPECIFIED not in one.upos]
    shown = [(one, text) for one in examples if (text := tokenized_text(one, language)) is not None]
    if len(shown) < FOLDS:
        return None
    for fold in range(FOLDS):
        rest = [one for at, (one, _) in enumerate(shown) if at % FOLDS != fold]
        tokenizer = train_tokenizer(rest, rng=rng, language=language)
        for one, text in shown[fold::FOLDS]:
            for way, _ in tokenizer.segmentations(text.text, WAYS)[:LEARNED]:
                examples.append(_judged(way, one, text))
    wrong = any(NOT_A_WORD in one.upos for one in examples)
    return train_tagger(examples, rng=rng, language=language) if wrong else None


def segmentation_reranker_for(
    tokenizer: Tokenizer | None,
    treebank: Sequence[Sentence],
    *,
    rng: np.random.Generator,
    language: str | None = None,
) -> Tagger | None:
    if tokenizer is None or not tokenizer.known:
        return None
    return train_segmentation_reranker(treebank, rng=rng, language=language)


def _judged(way: Tokens, gold: Sentence, text: TokenizedText) -> Sentence:
    """Return a segmented line with tags: NOT_A_WORD for words that differ from the treebank's."""
    places = _places([(text.text[a:b], words) for a, b, words in text.tokens])
    tags = dict(zip(places, gold.upos, strict=True))
    found = sentence_from_tokens(way, text.text, sent_id="1")
    return with_columns(found, upos=[tags.get(place, NOT_A_WORD) for place in _places(way)])


def _places(tokens: Tokens) -> list[tuple[int, int, str]]:
    """Return each word with first and last character of its token, white space left out."""
    places, at = list[tuple[int, int, str]](), 0
    for token, words in tokens:
        end = at + len(token.replace(" ", ""))
        places += [(at, end, word) for word in words]
        at = end
    return places
