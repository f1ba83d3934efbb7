"""Learning which ways to cut a line make words: a tagger with one tag more, for what is cut wrongly.

Words and their tags are so chosen together, among the ways that the tokeniser finds most probable.
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

# The ways of each part are those of a tokeniser of the others; so many of each line are learned from.
FOLDS, LEARNED = 3, 3


def train_segmentation_reranker(
    treebank: Sequence[Sentence], *, rng: np.random.Generator, language: str | None = None
) -> Tagger | None:
    """Learn from a tagged treebank, and from what tokenisers of parts of it make of the rest.

    Sentences with words that have no tag are left out. None where fewer than FOLDS show their text, or all is
    cut as in the treebank.
    """
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
    """Train a reranker where the tokeniser was learned from words without spaces between them; else None."""
    if tokenizer is None or not tokenizer.known:
        return None
    return train_segmentation_reranker(treebank, rng=rng, language=language)


def _judged(way: Tokens, gold: Sentence, text: TokenizedText) -> Sentence:
    """Return a line cut in some way, with tags: NOT_A_WORD of what the treebank cuts otherwise."""
    tags = dict(
        zip(_places([(text.text[a:b], words) for a, b, words in text.tokens]), gold.upos, strict=True)
    )
    found = sentence_from_tokens(way, text.text, sent_id="1")
    return with_columns(found, upos=[tags.get(place, NOT_A_WORD) for place in _places(way)])


def _places(tokens: Tokens) -> list[tuple[int, int, str]]:
    """Return each word, and between which characters, white space left out, its token is."""
    places, at = list[tuple[int, int, str]](), 0
    for token, words in tokens:
        end = at + len(token.replace(" ", ""))
        places += [(at, end, word) for word in words]
        at = end
    return places
