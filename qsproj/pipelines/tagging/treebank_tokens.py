"""Learn tokenization from a treebank: tokens, sentences and, in scripts without spaces, words."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from qsproj.corpus.contractions import known_contractions
from qsproj.corpus.sentence import Sentence
from qsproj.models.tagging.segmentation_reranker import segmentation_reranker_for
from qsproj.models.tagging.tagger import Tagger
from qsproj.models.tokens.splitter import Splitter, train_splitter
from qsproj.models.tokens.tokenizer import Tokenizer
from qsproj.models.tokens.tokenizer_training import shows_tokens, train_tokenizer


@dataclass(frozen=True, slots=True)
class TreebankTokens:
    """Parts of a tagger that tokenize as a treebank does; ``contractions`` only where rules tokenize."""

    tokenizer: Tokenizer | None = None
    splitter: Splitter | None = None
    judge: Tagger | None = None
    contractions: dict[str, tuple[str, ...]] | None = None

    def parts(self) -> dict[str, Any]:
        """Return the fields of a tagger."""
        found: dict[str, Any] = {
            "tokenizer": self.tokenizer,
            "splitter": self.splitter,
            "judge": self.judge,
        }
        return found if self.contractions is None else {**found, "contractions": self.contractions}


def learn_tokens(
    sentences: Sequence[Sentence], *, language: str | None, seed: int, rules: bool = False
) -> TreebankTokens:
    """Learn tokenization where the treebank shows it; ``rules``: use those of the language in any case."""
    if rules or not shows_tokens(sentences):
        return TreebankTokens(contractions=known_contractions(language, sentences))
    # Separate generators: learning tokens must not change the tags.
    tokenizer = train_tokenizer(sentences, rng=np.random.default_rng(seed), language=language)
    judge = segmentation_reranker_for(
        tokenizer, sentences, rng=np.random.default_rng(seed), language=language
    )
    return TreebankTokens(tokenizer, train_splitter(sentences, language=language), judge)
