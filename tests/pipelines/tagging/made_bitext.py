"""A made language and its translation word by word, of which tags and links are known."""

from __future__ import annotations

import numpy as np

from qsproj.corpus.sentence import Sentence, SentencePair, make_alignment

WORDS = {
    "DET": {"the": "der", "a": "ein"},
    "NOUN": {"dog": "Hund", "cat": "Katze", "mouse": "Maus", "house": "Haus", "tree": "Baum"},
    "VERB": {"sees": "sieht", "hears": "hört", "chases": "jagt"},
    "ADJ": {"big": "großer", "old": "alter"},
    "PUNCT": {".": ".", "!": "!"},
}
PATTERNS = (
    ("DET", "NOUN", "VERB", "DET", "NOUN", "PUNCT"),
    ("DET", "ADJ", "NOUN", "VERB", "DET", "ADJ", "NOUN", "PUNCT"),
    ("DET", "NOUN", "VERB", "PUNCT", "PUNCT"),
)


def made_pairs(size, *, seed=0, wrong=0.0):
    """Return pairs; of the links a share is ``wrong``, to another word of the sentence, and less probable."""
    rng = np.random.default_rng(seed)
    pairs = []
    for _ in range(size):
        tags = PATTERNS[rng.integers(len(PATTERNS))]
        chosen = [list(WORDS[tag].items())[rng.integers(len(WORDS[tag]))] for tag in tags]
        source = Sentence.from_words([english for english, _ in chosen], upos=tags)
        target = Sentence.from_words([german for _, german in chosen])
        links, weights = [], []
        for word in range(1, len(tags) + 1):
            astray = rng.random() < wrong
            links.append((rng.integers(1, len(tags) + 1) if astray else word, word))
            weights.append(0.6 if astray else 0.95)
        pairs.append(
            SentencePair(source, target, make_alignment(len(tags), len(tags), links, weights=weights))
        )
    return pairs


def gold(pairs):
    """Return the target sentences with their tags."""
    return [Sentence.from_words(pair.target.forms, upos=pair.source.upos) for pair in pairs]
