"""Treebank conventions of the source that may not hold in the target.

English *my* is PRON and `nmod:poss`, Ukrainian *мій* DET and `det`; *living* before a noun is VERB, *живий*
ADJ. Links cannot decide this. Tagged sentences of the target can; without them, the practice of its
treebanks or of most languages is the best guess.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from qsproj.corpus.editing import with_columns
from qsproj.corpus.sentence import Sentence, SentencePair
from qsproj.pipelines.tagging.options import BARELY, PRIOR_VOTES


@dataclass(frozen=True, slots=True)
class Convention:
    """Source words whose tag often differs in other languages."""

    tag: str  # UPOS of the words
    relation: str
    becomes: tuple[str, str]  # UPOS and relation in other languages
    elsewhere: int  # number of languages with ``becomes``, of ``languages``
    languages: int
    holds_in: frozenset[str]  # codes of the languages that follow the source

    @property
    def name(self) -> str:
        """Return a tag reserved for these words; it has a space, which no UPOS has."""
        return f"{self.tag} {self.relation}"


# Possessives: counted in the UD treebanks of Armenian, Czech, Danish, Dutch, German, Gothic, Greek,
# Hungarian, Italian, Slovenian, Spanish, Swedish, Ukrainian and Wolof. Participles before nouns: in these
# without Italian, and in Arabic, Japanese and Turkish; in Danish and Dutch a tenth of amod is VERB as in
# English, elsewhere almost none. *Not* is ADV in Chinese, Danish, Dutch, Gothic, Hungarian, Italian and
# Spanish: .3 and .7 points of UPOS on dev files of Spanish. It is PART in Russian as well: .5 points there.
# Ties between languages go against the English convention.
CONVENTIONS = (
    Convention(
        tag="PRON",
        relation="nmod:poss",
        becomes=("DET", "det"),
        elsewhere=10,
        languages=14,
        holds_in=frozenset({"el", "hu", "nl", "sv"}),
    ),
    Convention(
        tag="VERB",
        relation="amod",
        becomes=("ADJ", "amod"),
        elsewhere=14,
        languages=16,
        holds_in=frozenset({"da", "nl"}),
    ),
    Convention(
        tag="PART",
        relation="advmod",
        becomes=("ADV", "advmod"),
        elsewhere=7,
        languages=14,
        holds_in=frozenset({"cs", "de", "el", "hy", "ru", "sl", "sv", "uk"}),
    ),
)
_NAMES = {(one.tag, one.relation): one.name for one in CONVENTIONS}
# Relations whose words often have another part of speech in the target, so that their votes barely count:
# *election* in *election campaign* is an adjective in Czech, *was* in *was sold* Spanish *se*.
LOOSE = frozenset({"compound", "aux:pass"})
# Source words that vote for two tags, by tag and relation; other links of the target type decide. *Research*
# in *research plan* is an adjective in Czech: .7 points of UPOS there.
EITHER = {("NOUN", "compound"): "ADJ"}
# Source words that vote for the second tag if most links of the target type do. *To* before infinitives is a
# preposition in Spanish, .5 points of UPOS there, and a particle in Wolof, where both tags lose .7.
MAJORITY = {("PART", "mark"): "ADP"}


def either_name(tag: str, relation: str) -> str:
    """Return a tag reserved for words of EITHER and MAJORITY; it has a space, which no UPOS has."""
    return f"{tag} {relation}"


def source_tags(sentence: Sentence) -> tuple[str, ...]:
    """Return the UPOS of each word, or the name of the entry of the tables above that covers it."""
    names = _NAMES | {pair: either_name(*pair) for pair in (*EITHER, *MAJORITY)}
    return tuple(names.get(pair, pair[0]) for pair in zip(sentence.upos, sentence.deprels, strict=True))


def trust_in_tags(sentence: Sentence) -> NDArray[np.float64]:
    """Return the weight of each word's tag as evidence for its translation's tag, float64[n]."""
    return np.array([BARELY if relation in LOOSE else 1.0 for relation in sentence.deprels])


def settled_names(
    vocabulary: Iterable[str],
    shares: Mapping[str, NDArray[np.float64]],
    known: Mapping[str, Mapping[str, int]],
    *,
    language: str | None = None,
) -> dict[str, str]:
    """Return the UPOS that the words of each convention have in the target, with V types.

    ``shares``: for each convention by name, its share of the votes of each type, float64[V].
    ``known``: tag counts of each word of the tagged sentences. ``language``: code of the target; other
    languages decide where neither tagged sentences nor the target's own treebanks do.
    """
    forms = tuple(vocabulary)
    settled = {}
    for one in CONVENTIONS:
        if one.name not in shares:
            continue
        elsewhere = one.becomes[0]
        of_languages = 0.0 if language in one.holds_in else PRIOR_VOTES * one.elsewhere / one.languages
        counts = {elsewhere: of_languages, one.tag: PRIOR_VOTES - of_languages}
        for form, share in zip(forms, shares[one.name].tolist(), strict=True):
            if share:
                found = known.get(form, {})
                for tag in counts:
                    counts[tag] += share * found.get(tag, 0)
        settled[one.name] = max((elsewhere, one.tag), key=lambda tag: counts[tag])
    return settled


def unshared_conventions(pairs: Iterable[SentencePair]) -> tuple[str, ...]:
    """Return the conventions of the source that the target lacks, by the tags of linked words."""
    found: Counter[tuple[str, str]] = Counter()
    for pair in pairs:
        weights = pair.alignment.weights
        of_words = [_NAMES.get(one) for one in zip(pair.source.upos, pair.source.deprels, strict=True)]
        if not any(of_words):
            continue
        chances = [1.0] * len(pair.alignment.links) if weights is None else weights.tolist()
        for (source, target), chance in zip(pair.alignment.links.tolist(), chances, strict=True):
            if name := of_words[source - 1]:
                found[name, pair.target.upos[target - 1]] += chance
    return tuple(
        one.name for one in CONVENTIONS if found[one.name, one.becomes[0]] > found[one.name, one.tag]
    )


@dataclass(frozen=True, slots=True)
class Conventional:
    """Sentence pairs with sources re-annotated by the conventions of the target."""

    pairs: Iterable[SentencePair]
    names: Collection[str]  # conventions that do not hold in the target

    def __iter__(self) -> Iterator[SentencePair]:
        for pair in self.pairs:
            yield replace(pair, source=conventional(pair.source, self.names))


def conventional(sentence: Sentence, names: Collection[str]) -> Sentence:
    """Replace tags and relations of the named conventions by those of other languages."""
    becomes = {(one.tag, one.relation): one.becomes for one in CONVENTIONS if one.name in names}
    pairs = list(zip(sentence.upos, sentence.deprels, strict=True))
    if becomes.keys().isdisjoint(pairs):
        return sentence
    upos, deprels = zip(*(becomes.get(pair, pair) for pair in pairs), strict=True)
    return with_columns(sentence, upos=upos, deprels=deprels)
