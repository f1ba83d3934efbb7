"""Frequent words that links hardly reach, or contradict.

Function words without a translation are linked to whatever is left: Wolof *di*, an auxiliary, to *and*.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from qsproj.models.tagging.tagger import Tagger
from qsproj.pipelines.tagging.linked_text import LinkedText
from qsproj.pipelines.tagging.votes import Shares, Words, normalised, words_of

# Votes per occurrence, relative to the mean of all words, below which a frequent word counts as untranslated.
# Of 45 words of German, Spanish, Swedish, Czech, Ukrainian, Wolof, Armenian and Italian with less than .2
# votes, where .5 to .7 are usual, 15 are auxiliaries, 11 determiners, 9 pronouns, none a conjunction, and the
# majority tag of their links is right for 19; of 829 with .45 or more for 651.
WEAKLY_LINKED = 0.4
# Mean votes per word below which all words are weakly linked, and none is treated so: from 600 pairs .15
# (Chinese) and .23 (Turkish), from 1,800 and more .49 to .68.
LINKED = 0.4
# Links are believed where one tag has share SAID of a word's votes and the word has HEARD of the mean votes.
# Of 46 weakly linked words of ten New Testaments 17 have such a tag: German *aber* CCONJ .85, Italian *gli*
# DET .85, Gothic *þan* ADV .89; it is right for all but Wolof *ga*. For half of the other words the first tag
# is wrong.
SAID = 0.75
HEARD = 0.1
# Prior weights of the frequent tags of weakly linked words, weight of any other tag, and power of the shares
# of votes, which are mostly noise: at a power of a third two sources made Wolof *di* DET, one AUX.
OF_WEAKLY_LINKED = {"AUX": 0.3, "DET": 0.3, "PRON": 0.3, "ADV": 0.05, "PART": 0.05}
OF_OTHERS = 0.005
BELIEVED = 0.1


def function_word_prior(text: LinkedText, shares: Shares) -> Shares:
    """Return the shares of types, with a function-word prior on weakly linked words.

    Words without translations are linked to each other: Wolof *di*, an auxiliary, to *and*. The chain model
    decides between AUX, DET and PRON. Words whose links agree on a tag keep their shares.
    """
    words = words_of(text)
    weak = _weakly_linked(text, words)
    # Without signs, whose links to PUNCT or SYM are right.
    spelled = [any(map(str.isalpha, form)) for form in text.vocabulary]
    rows = weak[words.of_types] & spelled
    weights = np.array([OF_WEAKLY_LINKED.get(tag, OF_OTHERS) for tag in text.tags])
    result = shares.copy()
    result[rows] = normalised(shares[rows] ** BELIEVED * weights)
    return result


def _weakly_linked(text: LinkedText, words: Words) -> NDArray[np.bool_]:
    """Return the frequent words with few votes per occurrence and no majority tag, bool[W]."""
    mean = words.votes.sum() / len(text.types)
    if mean < LINKED:
        return np.zeros_like(words.frequent)
    heard = words.votes.sum(axis=1) / (mean * words.counts)
    agree = (normalised(words.votes).max(axis=1) >= SAID) & (heard >= HEARD)
    return words.frequent & (heard < WEAKLY_LINKED) & ~agree


# Number of distributional neighbours of a weakly linked word, and how many of them must share a tag; rarest
# neighbour (one in RARE_COMPANY words), and least share of the tag in the word's own votes. Most links of
# Spanish *se* are to auxiliaries; its neighbours are *nos*, *me*, *te*, and two fifths of its links are PRON.
COMPANY = 4
ALIKE = 3
RARE_COMPANY = 10_000
LEAST_OWN = 0.3


def distributional_tags(text: LinkedText, shares: Shares) -> Shares:
    """Return the shares of types, with those of weakly linked words multiplied by distributional evidence.

    Their few links belong to the words around them. Contexts are the previous and next word: frequent words
    by form, others by tag. The word's shares and the votes of the words with the most similar contexts are
    multiplied as if independent. Contexts do not help in Czech, where *se* stands in the places of *be*.
    """
    own_words = words_of(text)
    words, counts, votes, frequent = own_words
    weak = _weakly_linked(text, own_words)
    at = words[text.types]
    if not weak.any():
        return shares
    own, edge = normalised(votes), len(text.tags) + int(frequent.sum())
    place = np.where(frequent, len(text.tags) + np.cumsum(frequent) - 1, votes.argmax(axis=1))[at]
    before, after = np.roll(place, 1), np.roll(place, -1)
    before[text.starts[:-1]] = after[text.starts[1:] - 1] = edge
    company = np.zeros((len(counts), 2 * edge + 2))
    np.add.at(company, (np.tile(at, 2), np.concatenate([before, edge + 1 + after])), 1.0)
    like = np.flatnonzero(~weak & (votes.sum(axis=1) > 0.0) & (counts * RARE_COMPANY >= len(at)))
    roots = np.sqrt(normalised(company))
    result = shares.copy()
    for word in np.flatnonzero(weak).tolist():
        nearest = like[np.argsort(-(roots[like] @ roots[word]), kind="stable")[:COMPANY]]
        [(tag, alike)] = Counter(votes[nearest].argmax(axis=1).tolist()).most_common(1)
        if alike >= ALIKE and own[word, tag] >= LEAST_OWN:
            result[words == word] = normalised(shares[words == word] * own[nearest].sum(axis=0))
    return result


# Majority, of links for one tag and of occurrences tagged otherwise, that makes a contradiction.
MOST = 0.5


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


def contradictions(text: LinkedText, tagger: Tagger, sentences: Sequence[int]) -> list[Contradiction]:
    """Return frequent words whose tags in ``sentences`` contradict their links, the commonest first."""
    words = words_of(text)
    given: dict[int, Counter[str]] = {}
    for sentence in sentences:
        of_sentence = words.of_types[text.types[text.words_of(sentence)]]
        for word, tag in zip(of_sentence.tolist(), tagger.tag_words(text.sentences[sentence]), strict=True):
            if words.frequent[word]:
                given.setdefault(word, Counter())[tag] += 1
    names = dict(zip(words.of_types.tolist(), text.vocabulary, strict=True))
    shares = normalised(words.votes)
    found = []
    for word, counts in given.items():
        best = int(shares[word].argmax())
        tag, count = min(counts.items(), key=lambda one: (-one[1], one[0]))
        if tag != text.tags[best] and shares[word, best] >= MOST and count > MOST * counts.total():
            linked = text.tags[best], float(shares[word, best])
            share = count / counts.total()
            found.append(Contradiction(names[word].lower(), int(words.counts[word]), linked, (tag, share)))
    return sorted(found, key=lambda one: (-one.count, one.word))
