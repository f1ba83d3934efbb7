"""Questions of annotation convention: classes of words that treebanks tag differently.

The tag of such a class is a decision of the annotators, which no link to another language reveals:
possessives are DET in German, PRON in English. One answer settles many words.

``practice.tsv`` (``scripts.practice``): the UD v2 treebanks in which most words of a class have a tag.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from qsproj.corpus.cells import bare_relation
from qsproj.corpus.files import packaged_rows
from qsproj.corpus.sentence import Sentence


@dataclass(frozen=True, slots=True)
class Question:
    """A class of words, recognised in a treebank by relation and features."""

    name: str  # for people
    tags: tuple[str, ...]  # the possible answers
    relations: tuple[str, ...] = ()  # without subtypes; empty: any
    features: tuple[str, ...] = ()  # one of these; empty: any, also none
    apart: tuple[str, ...] = ()  # UPOS tags and features outside the class

    def covers(self, upos: str, relation: str, features: frozenset[str]) -> bool:
        """Return whether a word with these cells belongs to the class."""
        return (
            (not self.relations or bare_relation(relation) in self.relations)
            and (not self.features or not features.isdisjoint(self.features))
            and upos not in self.apart
            and features.isdisjoint(self.apart)
        )


_MODIFIERS = ("det", "nmod", "amod")
_PARTICIPLE = ("VerbForm=Part", "VerbForm=Ger")
_NOMINAL = ("VerbForm=Ger", "VerbForm=Inf", "VerbForm=Vnoun")
QUESTIONS = (
    Question("words for be (copula)", ("AUX", "VERB", "PRON"), ("cop",)),
    Question("auxiliaries (will, have, must)", ("AUX", "VERB", "PART"), ("aux",)),
    Question("possessives (my, your)", ("DET", "PRON", "ADJ"), _MODIFIERS, ("Poss=Yes",)),
    Question("demonstratives (this book)", ("DET", "PRON"), _MODIFIERS, ("PronType=Dem",)),
    Question("words for not", ("PART", "ADV", "AUX"), ("advmod", "aux"), ("Polarity=Neg",)),
    Question(
        "qualities (good, big)",
        ("ADJ", "VERB", "NOUN"),
        ("amod",),
        apart=(*_PARTICIPLE, "NumType=Ord", "NumType=Card"),
    ),
    Question("verbal nouns and infinitives (the doing, to do)", ("VERB", "NOUN"), (), _NOMINAL, ("AUX",)),
    Question("participles before nouns (living water)", ("ADJ", "VERB"), ("amod",), _PARTICIPLE),
    Question("ordinals (first, second)", ("ADJ", "NUM"), features=("NumType=Ord",)),
    Question("words that introduce clauses (that, if)", ("SCONJ", "ADP", "PART"), ("mark",)),
)


def questions_in(sentence: Sentence) -> list[tuple[Question, ...]]:
    """Return for each word 1..n the questions whose class it belongs to."""
    features = (frozenset(cell.split("|")) for cell in sentence.feats)
    words = zip(sentence.upos, sentence.deprels, features, strict=True)
    return [tuple(one for one in QUESTIONS if one.covers(*word)) for word in words]


@cache
def practice() -> Mapping[str, Mapping[str, Sequence[str]]]:
    """Return by question the languages of each tag, by tag; the commonest tag first."""
    found: dict[str, dict[str, Sequence[str]]] = {}
    for name, tag, languages in packaged_rows(__file__, "practice.tsv"):
        found.setdefault(name, {})[tag] = languages.split()
    return found


def share_of_languages(question: str, tag: str) -> float:
    """Return the share of languages, with one more for each answer, that give a question this tag."""
    counts = Counter({one: len(languages) for one, languages in practice().get(question, {}).items()})
    answers = next(one.tags for one in QUESTIONS if one.name == question)
    return (counts[tag] + 1) / (counts.total() + len(answers))
