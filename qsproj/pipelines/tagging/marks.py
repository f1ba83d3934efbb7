"""The features of a source word, and those that it would share with its neighbours in other languages.

English *these old houses* says twice that it is plural; German and Spanish say it three times. So a word
without a number has that of the noun it belongs to, a noun the definiteness of its article, a finite verb
person and number of its subject. Whether the target shows any of it, its forms tell.
"""

from collections.abc import Sequence
from typing import NamedTuple

from qsproj.corpus.cells import UNSPECIFIED, bare_relation
from qsproj.corpus.sentence import Sentence
from qsproj.models.morphology.analyses import features_of

# What words share with others: that a source word lacks it says nothing of the target.
SHARED = ("Animacy", "Case", "Definite", "Gender", "Number", "Person")
OF_FINITE_VERBS = ("Mood", "Tense")
OF_WORDS = ("Aspect", "Degree", "NumType", "Polarity", "Poss", "PronType", "VerbForm")
CARRIED = tuple(sorted((*SHARED, *OF_FINITE_VERBS, *OF_WORDS)))
# What nouns and verbs inflect for.
INFLECTED = frozenset(SHARED) - {"Definite"}
# Attributes of function words, whatever else has them: treebanks differ in what they tell of adverbs.
OF_FUNCTION_WORDS = {"PronType": frozenset({"DET", "PRON"})}
NONE, UNKNOWN = "", "?"
NO_LINK = -1

NOUNS, VERBS = frozenset({"NOUN", "PROPN", "PRON"}), frozenset({"AUX", "VERB"})
_OF_NOUN = ("Animacy", "Case", "Gender", "Number")


class Mark(NamedTuple):
    """UPOS of a word, and its value of each attribute of CARRIED: NONE where it has none, or UNKNOWN."""

    upos: str
    values: tuple[str, ...]

    @property
    def told(self) -> list[str]:
        return [value for value in self.values if value not in (NONE, UNKNOWN)]


def marks_of(sentence: Sentence, linked: Sequence[int] | None = None) -> list[Mark]:
    """Return the mark of each word; without heads, by its features alone, and without any all is unknown.

    ``linked``: the target word that each word is likeliest linked to, -1 for none; None: each to
    another.
    """
    if all(cell == UNSPECIFIED for cell in sentence.feats):
        return [Mark(tag, (UNKNOWN,) * len(CARRIED)) for tag in sentence.upos]
    found = [features_of(cell) for cell in sentence.feats]
    # Of each word its head and relation; a root and a word without a head have none.
    arcs = [
        (word, int(head) - 1, relation if relation == "nmod:poss" else bare_relation(relation))
        for word, (head, relation) in enumerate(zip(sentence.heads[1:], sentence.deprels, strict=True))
        if head > 0
    ]
    if any("Definite" in features for features in found):
        # In a language with articles, a noun without one is indefinite; one with an owner may be either.
        bare = set(range(len(found))) - {head for _, head, one in arcs if one in ("det", "nmod:poss")}
        for word, _, relation in arcs:
            if word in bare and sentence.upos[word] == "NOUN" and relation != "compound":
                found[word].setdefault("Definite", "Ind")
    linked = range(len(found)) if linked is None else linked
    for word, head, relation in arcs:
        finite = relation == "aux" and found[word].get("VerbForm") == "Fin" and sentence.upos[head] in VERBS
        if finite and linked[word] in (NO_LINK, linked[head]):
            _finite(found[word], found[head], passive=sentence.deprels[word] == "aux:pass")
    subjects: dict[int, dict[str, str]] = {}
    for word, head, relation in arcs:
        if relation == "det" and sentence.upos[head] == "NOUN":
            _share(found[word], found[head], ("Definite",))
        if relation == "nsubj" and sentence.upos[word] in NOUNS:
            person = {} if sentence.upos[word] == "PRON" else {"Person": "3"}
            subjects[head] = person | found[word]
    for word, head, relation in arcs:
        if found[word].get("Poss") and sentence.upos[head] in NOUNS:
            # Number and gender are those of the owner.
            found[word] = {name: value for name, value in found[word].items() if name not in _OF_NOUN}
            _share(found[head], found[word], _OF_NOUN)
        elif relation in ("det", "amod") and sentence.upos[head] in NOUNS:
            _share(found[head], found[word], _OF_NOUN)
            if relation == "amod":
                _share(found[head], found[word], ("Definite",))
    for word, head, relation in arcs:
        if relation in ("aux", "cop") and head in subjects:
            _agree(subjects[head], sentence.upos[word], found[word])
    for word, subject in subjects.items():
        _agree(subject, sentence.upos[word], found[word])
    return [Mark(tag, _values(tag, features)) for tag, features in zip(sentence.upos, found, strict=True)]


def _finite(auxiliary: dict[str, str], verb: dict[str, str], *, passive: bool) -> None:
    """Make a verb finite whose auxiliary nothing translates: *did not go* is one verb elsewhere.

    Of *has gone* nobody knows the tense.
    """
    perfect = not passive and verb.get("VerbForm") == "Part" and verb.get("Tense") == "Past"
    verb.pop("Tense", None)
    verb["VerbForm"] = "Fin"
    for name in OF_FINITE_VERBS:
        if name in auxiliary and not (perfect and name == "Tense"):
            verb[name] = auxiliary[name]


def _share(giver: dict[str, str], taker: dict[str, str], names: tuple[str, ...]) -> None:
    """Give a word the features of another that it has none of."""
    for name in names:
        if name in giver:
            taker.setdefault(name, giver[name])


def _agree(subject: dict[str, str], tag: str, predicate: dict[str, str]) -> None:
    """Give a finite verb number and person of its subject, an adjective number and gender."""
    if tag == "ADJ":
        _share(subject, predicate, ("Gender", "Number"))
    elif predicate.get("VerbForm") == "Fin":
        _share(subject, predicate, ("Number", "Person"))


def _values(tag: str, features: dict[str, str]) -> tuple[str, ...]:
    form = features.get("VerbForm")
    unknown: tuple[str, ...] = ()
    if form in (None, "Fin", "Part") or tag not in VERBS:
        unknown = SHARED
    if form == "Fin" or (tag in VERBS and form is None):
        unknown = (*unknown, *OF_FINITE_VERBS)
    if tag in ("DET", "PRON"):
        unknown = tuple(name for name in unknown if name not in ("Definite", "Person"))
    return tuple(
        NONE
        if tag not in OF_FUNCTION_WORDS.get(name, (tag,))
        else features.get(name, UNKNOWN if name in unknown else NONE)
        for name in CARRIED
    )
