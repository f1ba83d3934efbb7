"""Frequent words that links hardly reach, or contradict.

Function words without a translation are linked to whatever is left: Wolof *di*, an auxiliary, to *and*.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from qsproj.conventions import Mask
from qsproj.corpus.characters import lower_form
from qsproj.models.tagging.tagger import TagWords
from qsproj.pipelines.tagging.linked_text import LinkedText
from qsproj.pipelines.tagging.options import HALF, TagProjectionOptions
from qsproj.pipelines.tagging.type_dictionary import type_shares
from qsproj.pipelines.tagging.votes import Sets, Shares, Words, normalised, words_of

# Most untranslated words have one of these tags.
UNTRANSLATED = frozenset({"AUX", "DET", "PRON"})
# Conjunctions are translated: a rarely linked word with links to *and* is no conjunction (Wolof *di*), unless
# they have this share of its votes (German *aber*).
TRANSLATED = "CCONJ"
SURELY_TRANSLATED = 0.75
# Words with similar neighbours may be this many times rarer than frequent ones.
RARER = 10


def shares_of_types(text: LinkedText, allowed: Sets, options: TagProjectionOptions) -> Shares:
    """Return the shares of tags in the votes of each type, float64[V, T], with those of function words.

    Of several translations the first decides for frequent words that it has votes for: treebanks differ in
    the tags of function words, so that words get tags of several conventions.
    """
    shares = with_function_tags(text, type_shares(text, allowed), options)
    if text.first is None:
        return shares
    of_first = shares_of_types(replace(text, votes=text.first, first=None), allowed, options)
    words = words_of(text, options.frequent)
    decided = words.frequent[words.of_types] & of_first.any(axis=1)
    return np.where(decided[:, None], of_first, shares)


def with_function_tags(text: LinkedText, shares: Shares, options: TagProjectionOptions) -> Shares:
    """Return the shares of types; those of rarely linked frequent words allow the tags of function words.

    These are AUX, DET and PRON, beside the tags that the links of the word bring. Each counts as much as
    among the votes of the words with the most similar neighbours: most links of Spanish *se* are to
    auxiliaries, but it stands where *me*, *nos* and *te* do. The chain model chooses among the rest.
    Words whose links agree on a tag keep their shares, however few the links.
    """
    words = words_of(text, options.frequent)
    own = normalised(words.votes)
    known = np.flatnonzero(words.counts >= options.frequent * len(text.types) / RARER)
    rarely = rarely_linked(text, words, options)[known]
    contexts = _contexts(text, words, known)
    function, translated = (np.isin(text.tags, list(tags)) for tags in (UNTRANSLATED, {TRANSLATED}))
    result = shares.copy()
    for word, context in zip(known[rarely].tolist(), contexts[rarely], strict=True):
        similar = np.argsort(-(contexts[~rarely] @ context), kind="stable")[: options.similar]
        company = own[known[~rarely][similar]].sum(axis=0)
        tags = (function & (own[word] > 0.0)) | (~translated & (own[word] >= options.least))
        weights = tags * company if (tags * company).any() else tags.astype(np.float64)
        result[words.of_types == word] = normalised(weights[None])
    return result


def rarely_linked(text: LinkedText, words: Words, options: TagProjectionOptions) -> Mask:
    """Return the frequent words with few votes per occurrence and no majority tag, bool[W]; no signs."""
    mean = words.votes.sum() / len(text.types)
    # In 600 pairs of news all words are rarely linked: .15 to .23 votes a word, in Testaments .49 to .71.
    few = words.votes.sum(axis=1) < options.rarely_linked * mean * words.counts
    spelled = np.zeros_like(words.frequent)
    spelled[words.of_types] = [any(map(str.isalpha, form)) for form in text.vocabulary]
    enough = [SURELY_TRANSLATED if tag == TRANSLATED else options.agreeing for tag in text.tags]
    agree = (normalised(words.votes) >= enough).any(axis=1)
    return words.frequent & spelled & few & ~agree & (mean >= options.rarely_linked)


def _contexts(text: LinkedText, words: Words, known: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return the roots of the chances of the previous and next word of each known word, float64[K, C].

    Frequent words count by form, others by tag.
    """
    edge = len(text.tags) + int(words.frequent.sum())
    at = words.of_types[text.types]
    by_form = len(text.tags) + np.cumsum(words.frequent) - 1
    place = np.where(words.frequent, by_form, words.votes.argmax(axis=1))[at]
    before, after = np.roll(place, 1), np.roll(place, -1)
    before[text.starts[:-1]] = after[text.starts[1:] - 1] = edge
    rows = np.full(len(words.counts), -1)
    rows[known] = np.arange(len(known))
    row = rows[at]
    counts = np.zeros((len(known), 2 * (edge + 1)))
    for neighbour in (before, edge + 1 + after):
        np.add.at(counts, (row[row >= 0], neighbour[row >= 0]), 1.0)
    return np.sqrt(normalised(counts))


@dataclass(frozen=True, slots=True)
class Contradiction:
    """A frequent word whose usual tag differs from that of its links, with the shares of both."""

    word: str
    count: int
    linked: tuple[str, float]
    given: tuple[str, float]

    def __str__(self) -> str:
        (linked, believed), (given, share) = self.linked, self.given
        return f"{self.word} {linked} {100 * believed:.0f}%, tagged {given} {100 * share:.0f}%"


def contradictions(
    text: LinkedText, tag_words: TagWords, sentences: Sequence[int], options: TagProjectionOptions
) -> list[Contradiction]:
    """Return frequent words whose tags in ``sentences`` contradict their links, the commonest first."""
    words = words_of(text, options.frequent)
    given: dict[int, Counter[str]] = {}
    for sentence in sentences:
        of_sentence = words.of_types[text.types[text.words_of(sentence)]]
        for word, tag in zip(of_sentence.tolist(), tag_words(text.sentences[sentence]), strict=True):
            if words.frequent[word]:
                given.setdefault(word, Counter())[tag] += 1
    names = dict(zip(words.of_types.tolist(), map(lower_form, text.vocabulary), strict=True))
    shares = normalised(words.votes)
    found = []
    for word, counts in given.items():
        best = int(shares[word].argmax())
        tag, count = min(counts.items(), key=lambda one: (-one[1], one[0]))
        if tag != text.tags[best] and shares[word, best] >= HALF and count > HALF * counts.total():
            linked = text.tags[best], float(shares[word, best])
            share = count / counts.total()
            found.append(Contradiction(names[word], int(words.counts[word]), linked, (tag, share)))
    return sorted(found, key=lambda one: (-one.count, one.word))
