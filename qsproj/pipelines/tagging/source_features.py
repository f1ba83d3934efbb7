"""Features of source words to be projected, with those that other languages mark by agreement.

English *these old houses* marks plural twice, Spanish three times. So a word without number takes that of its
noun, a noun the definiteness of its article, a finite verb person and number of its subject. The word forms
of the target show later which features it marks.
"""

from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from qsproj.corpus.cells import UNSPECIFIED, bare_relation
from qsproj.corpus.sentence import Sentence
from qsproj.models.morphology.analyses import features_of

# Attributes of agreement: their absence in a source word is no evidence about the target.
SHARED = ("Animacy", "Case", "Definite", "Gender", "Number", "Person")
OF_FINITE_VERBS = ("Mood", "Tense")
OF_WORDS = ("Aspect", "Degree", "NumType", "Polarity", "Poss", "PronType", "VerbForm")
CARRIED = tuple(sorted((*SHARED, *OF_FINITE_VERBS, *OF_WORDS)))
INFLECTED = frozenset(SHARED) - {"Definite"}  # attributes that nouns and verbs inflect for
NONE, UNKNOWN = "", "?"
NO_LINK = -1

NOUNS, VERBS = frozenset({"NOUN", "PROPN", "PRON"}), frozenset({"AUX", "VERB"})
_OF_NOUN = ("Animacy", "Case", "Gender", "Number")


class Mark(NamedTuple):
    """UPOS of a word, and its value of each attribute of CARRIED, which may be NONE or UNKNOWN."""

    upos: str
    values: tuple[str, ...]


def marks_of(sentence: Sentence, linked: Sequence[int] | None = None) -> list[Mark]:
    """Return the mark of each word, extended by agreement; all UNKNOWN in a sentence without features.

    ``linked``: the likeliest target word of each word, -1 for none; None: a different one for each word.
    """
    if all(cell == UNSPECIFIED for cell in sentence.feats):
        return [Mark(tag, (UNKNOWN,) * len(CARRIED)) for tag in sentence.upos]
    found = [dict(_features(cell)) for cell in sentence.feats]
    # Word, head and relation of each arc; roots and words without a head have none.
    heads = sentence.heads[1:].tolist()
    arcs = [
        (word, head - 1, relation if relation == "nmod:poss" else bare_relation(relation))
        for word, (head, relation) in enumerate(zip(heads, sentence.deprels, strict=True))
        if head > 0
    ]
    if any("Definite" in features for features in found):
        # In a language with articles, a noun without one is indefinite; a possessed noun may be either.
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
            # Number and gender of a possessive are those of the owner.
            found[word] = {name: value for name, value in found[word].items() if name not in _OF_NOUN}
            _share(found[head], found[word], _OF_NOUN)
        elif relation in ("det", "amod") and sentence.upos[head] in NOUNS:
            if found[word].get("VerbForm") in ("Inf", "Ger"):  # *reading* in *these reading lists*
                continue
            _share(found[head], found[word], _OF_NOUN)
            if relation == "amod":
                _share(found[head], found[word], ("Definite",))
    for word, head, relation in arcs:
        if relation in ("aux", "cop") and head in subjects:
            _agree(subjects[head], sentence.upos[word], found[word])
    for word, subject in subjects.items():
        _agree(subject, sentence.upos[word], found[word])
    return [_mark(tag, frozenset(one.items())) for tag, one in zip(sentence.upos, found, strict=True)]


_features = lru_cache(maxsize=1 << 12)(features_of)  # few distinct cells; copy before changing


def _finite(auxiliary: dict[str, str], verb: dict[str, str], *, passive: bool) -> None:
    """Make a verb finite whose auxiliary has no translation (*did not go*); *has gone* keeps no tense."""
    perfect = not passive and verb.get("VerbForm") == "Part" and verb.get("Tense") == "Past"
    verb.pop("Tense", None)
    verb["VerbForm"] = "Fin"
    for name in OF_FINITE_VERBS:
        if name in auxiliary and not (perfect and name == "Tense"):
            verb[name] = auxiliary[name]


def _share(giver: dict[str, str], taker: dict[str, str], names: tuple[str, ...]) -> None:
    for name in names:
        if name in giver:
            taker.setdefault(name, giver[name])


def _agree(subject: dict[str, str], tag: str, predicate: dict[str, str]) -> None:
    """Give a finite verb the number and person of its subject, an adjective its number and gender.

    Imperatives are left out: what looks like their subject is often the person called (*go, my son*).
    """
    if tag == "ADJ":
        _share(subject, predicate, ("Gender", "Number"))
    elif predicate.get("VerbForm") == "Fin" and predicate.get("Mood") != "Imp":
        _share(subject, predicate, ("Number", "Person"))


@lru_cache(maxsize=1 << 14)
def _mark(tag: str, found: frozenset[tuple[str, str]]) -> Mark:
    """Return the mark of a word with these features, cached because a text has few distinct ones."""
    is_pronoun = tag in ("DET", "PRON")
    # Only function words have a PronType: treebanks differ in their annotation of adverbs.
    features = {name: value for name, value in found if name != "PronType" or is_pronoun}
    form, unknown = features.get("VerbForm"), set[str]()
    if form in (None, "Fin", "Part") or tag not in VERBS:
        unknown.update(SHARED)
    if form == "Fin" or (tag in VERBS and form is None):
        unknown.update(OF_FINITE_VERBS)
    if is_pronoun:
        unknown -= {"Definite", "Person"}
    return Mark(tag, tuple(features.get(name, UNKNOWN if name in unknown else NONE) for name in CARRIED))
