"""Conventions of the source's treebanks that do not hold in all languages: whether they do in the target.

English *my* is PRON and `nmod:poss`, Ukrainian *мій* DET and `det`; *living* before a noun is VERB, *живий*
ADJ. No link tells; tagged sentences of the target do, and where there are none, what its treebanks or most
languages do is the better guess.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from qsproj.corpus.editing import with_columns
from qsproj.corpus.sentence import Sentence, SentencePair


@dataclass(frozen=True, slots=True)
class Convention:
    """Words of the source that have one tag there and often another in other languages."""

    tag: str  # UPOS of the words
    relation: str
    becomes: tuple[str, str]  # their UPOS and relation elsewhere
    elsewhere: int  # in so many of ``languages``
    languages: int
    holds_in: frozenset[str]  # codes of the others

    @property
    def name(self) -> str:
        """A tag of its own for these words; no UPOS has a space."""
        return f"{self.tag} {self.relation}"


@dataclass(frozen=True, slots=True)
class Either:
    """Words of the source that are of one of two tags in the target."""

    tag: str  # UPOS of the words
    relation: str
    other: str
    # of their vote, which is for the other tag as well; None: all of it and none for their own, where the
    # type of the target has more votes for the other tag
    share: float | None = None


# Possessives, in the UD treebanks of Armenian, Czech, Danish, Dutch, German, Gothic, Greek, Hungarian,
# Italian, Slovenian, Spanish, Swedish, Ukrainian and Wolof; participles before nouns in these but for
# Italian, and in Arabic, Japanese and Turkish: in Danish and Dutch a tenth of amod is VERB as in English,
# else next to none. *Not* is ADV in Chinese, Danish, Dutch, Gothic, Hungarian, Italian and Spanish: .3 and .7
# points of UPOS on dev files of Spanish. Where as many languages have either, what is not English is taken.
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
        holds_in=frozenset({"cs", "de", "el", "hy", "sl", "sv", "uk"}),
    ),
)
# Words of these relations vote by so much: often the target has another kind of word for them. *Election* in
# *election campaign* is an adjective in Czech, *was* in *was sold* the reflexive *se* in Spanish.
LOOSE = {"compound": 0.1, "aux:pass": 0.1}
# Of an adverbial noun without a case marker, as *today*.
UNMARKED = "obl:unmarked"
# These may have another tag; what else their types are linked to tells which it is. *Research* in *research
# plan* is an adjective in Czech: on dev files 1.5 points of UPOS there, .1 in Spanish and Swedish; of 1,000
# pairs 1.8 in Czech, -.3 in Chinese, where nouns stand before nouns. *Up* in *give up* is an adverb in
# Swedish: .2. *To* before infinitives is a preposition in Spanish: .5. *Today*, if nothing depends on it, is
# an adverb in most treebanks: .1 and .2 on dev files of Spanish, .1 in Czech, 0 in German and Swedish.
EITHER = {
    f"{one.tag} {one.relation}": one
    for one in (
        Either("NOUN", "compound", other="ADJ", share=0.75),
        Either("ADP", "compound:prt", other="ADV", share=1.0),
        Either("PART", "mark", other="ADP"),
        Either("NOUN", UNMARKED, other="ADV", share=1.0),
    )
}
# All languages together count as much as so many words of tagged sentences.
WEIGHT_OF_LANGUAGES = 3.0


def source_tags(sentence: Sentence) -> tuple[str, ...]:
    """Return the UPOS of each word, or the name of the convention, or in EITHER, that speaks of the word.

    *Last year* is a noun everywhere: of words of UNMARKED those that have dependents keep their tag.
    """
    names = {(one.tag, one.relation): one.name for one in CONVENTIONS}
    names |= {(one.tag, one.relation): name for name, one in EITHER.items()}
    heads = set(sentence.heads.tolist())
    return tuple(
        pair[0] if pair[1] == UNMARKED and word in heads else names.get(pair, pair[0])
        for word, pair in enumerate(zip(sentence.upos, sentence.deprels, strict=True), start=1)
    )


def trust_in_tags(sentence: Sentence) -> NDArray[np.float64]:
    """Return by how much each word's tag is believed to be that of its translation, float64[n]."""
    return np.array([LOOSE.get(relation, 1.0) for relation in sentence.deprels])


def settled_names(
    vocabulary: Iterable[str],
    shares: Mapping[str, NDArray[np.float64]],
    known: Mapping[str, Mapping[str, int]],
    *,
    language: str | None = None,
) -> dict[str, str]:
    """Return the UPOS that the words of each convention have in the target, of V types.

    ``shares``: the share of the votes of each type that is of words of a convention, float64[V], by its name.
    ``known``: word of tagged sentences to tag to count. ``language``: of the target; other languages tell
    where neither these nor its own treebanks do.
    """
    forms = tuple(vocabulary)
    settled = {}
    for one in CONVENTIONS:
        if one.name not in shares:
            continue
        elsewhere = one.becomes[0]
        of_languages = (
            0.0 if language in one.holds_in else WEIGHT_OF_LANGUAGES * one.elsewhere / one.languages
        )
        counts = {elsewhere: of_languages, one.tag: WEIGHT_OF_LANGUAGES - of_languages}
        for form, share in zip(forms, shares[one.name].tolist(), strict=True):
            if share:
                found = known.get(form, {})
                for tag in counts:
                    counts[tag] += share * found.get(tag, 0)
        settled[one.name] = max((elsewhere, one.tag), key=lambda tag: counts[tag])
    return settled


@dataclass(frozen=True, slots=True)
class Conventional:
    """Pairs whose sources are annotated as the target is, where conventions do not hold there."""

    pairs: Iterable[SentencePair]
    names: Collection[str]  # of these conventions

    def __iter__(self) -> Iterator[SentencePair]:
        for pair in self.pairs:
            yield replace(pair, source=conventional(pair.source, self.names))


def conventional(sentence: Sentence, names: Collection[str]) -> Sentence:
    """Return a sentence with the tags and relations that words of the named conventions have elsewhere."""
    becomes = {(one.tag, one.relation): one.becomes for one in CONVENTIONS if one.name in names}
    pairs = list(zip(sentence.upos, sentence.deprels, strict=True))
    if becomes.keys().isdisjoint(pairs):
        return sentence
    upos, deprels = zip(*(becomes.get(pair, pair) for pair in pairs), strict=True)
    return with_columns(sentence, upos=upos, deprels=deprels)
