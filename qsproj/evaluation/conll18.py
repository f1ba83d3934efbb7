"""Scores of files with the same text but different sentences, tokens or words.

The number of right items is divided by the number of gold items (recall) and of system items (precision); the
score is their harmonic mean, F1. Both files must have the same characters, ignoring white space. These are
the scores of the CoNLL 2018 shared task (universaldependencies.org/conll18/evaluation.html):

- A sentence or token is right when the other file has one with the same first and last character.
- A word is right when :mod:`qsproj.evaluation.token_alignment` aligns it with a word of the other file.
- Columns are compared for aligned words only. A head is right when it is aligned with the gold head, or both
  are the root. Only universal features, and relations without subtypes, are compared. A lemma is right where
  the gold file has none.
- CLAS, MLAS and BLEX count content words only, by head and relation; MLAS also compares UPOS, features and
  dependent function words with theirs; BLEX also the lemma.
- ELAS counts enhanced dependencies (DEPS) with the right head and relation, EULAS up to subtypes, as in IWPT
  2021: a path through empty nodes is one edge with joined relations.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from qsproj.corpus.cells import UNSPECIFIED, bare_relation
from qsproj.corpus.editing import THROUGH, collapsed_graph
from qsproj.corpus.sentence import Sentence
from qsproj.evaluation.attachment import percentage
from qsproj.evaluation.token_alignment import Text, aligned_words, laid_out, same_text

_OF_WORDS = ("words", "upos", "xpos", "ufeats", "alltags", "lemmas", "uas", "las", "las_no_subtypes")
# Names of the scores, and the items that each counts.
COUNTED = {
    **{"sentences": "sentences", "tokens": "tokens", **dict.fromkeys(_OF_WORDS, "words"), "root": "roots"},
    **dict.fromkeys(("clas", "mlas", "blex"), "content words"),
    **dict.fromkeys(("elas", "eulas"), "edges"),
}
# Columns that the gold file must have.
_NEEDED = {
    **{"upos": "upos", "xpos": "xpos", "lemmas": "lemmas", "blex": "lemmas"},
    **dict.fromkeys(("ufeats", "alltags", "mlas"), "feats"),
    **dict.fromkeys(("elas", "eulas"), "edges"),
}
UNIVERSAL_FEATURES = frozenset(
    """
    PronType NumType Poss Reflex Foreign Abbr Gender Animacy Number Case Definite Degree VerbForm Mood
    Tense Aspect Voice Evident Polarity Person Polite
    """.split()  # noqa: SIM905
)
CONTENT_RELATIONS = frozenset(
    """
    nsubj obj iobj csubj ccomp xcomp obl vocative expl dislocated advcl advmod discourse nmod appos nummod
    acl amod conj fixed flat compound list parataxis orphan goeswith reparandum root dep
    """.split()  # noqa: SIM905
)
FUNCTION_RELATIONS = frozenset({"aux", "cop", "mark", "det", "clf", "case", "cc"})


@dataclass(frozen=True, slots=True)
class F1:
    """Counts of right, gold and system items, and the percentages; NaN for 0 / 0."""

    right: int
    gold: int
    system: int

    @property
    def precision(self) -> float:
        return percentage(self.right, self.system)

    @property
    def recall(self) -> float:
        return percentage(self.right, self.gold)

    @property
    def f1(self) -> float:
        return percentage(2 * self.right, self.gold + self.system)


@dataclass(frozen=True, slots=True)
class CutScores:
    """Scores of one system against a gold file with different tokens or sentences.

    ``parts``: each score by its name, a key of COUNTED; without those of columns that the gold file lacks.
    """

    parts: Mapping[str, F1]
    complete: int  # gold sentences with all heads right
    without_gold_head: int  # words of the gold file
    without_head: int  # words of the system

    @property
    def uem(self) -> float:
        return percentage(self.complete, self.parts["sentences"].gold)


def cut_scores(
    gold: Iterable[Sentence], system: Iterable[Sentence], *, names: tuple[str, str] = ("gold", "system")
) -> CutScores:
    right, totals = Counter[str](), (Counter[str](), Counter[str]())
    for stretch in same_text(iter(gold), iter(system), names):
        one, other = map(_Words, map(laid_out, stretch))
        for total, side in zip(totals, (one, other), strict=True):
            total.update(side.counts())
        _count_right(right, one, other)
    parts = {
        name: F1(right[name], totals[0][what], totals[1][what])
        for name, what in COUNTED.items()
        if name not in _NEEDED or totals[0][_NEEDED[name]]
    }
    return CutScores(parts, right["complete"], *(total["without head"] for total in totals))


def universal_features(cell: str) -> str:
    features = (one for one in cell.split("|") if one.partition("=")[0] in UNIVERSAL_FEATURES)
    return "|".join(sorted(features)) or UNSPECIFIED


class _Words:
    """The columns of a text, and the function words that depend on each word."""

    def __init__(self, text: Text) -> None:
        self.text, self.heads = text, text.heads
        columns = ("upos", "xpos", "lemmas", "deprels")
        self.upos, self.xpos, self.lemmas, self.deprels = map(text.column, columns)
        self.feats = list(map(universal_features, text.column("feats")))
        self.relations = list(map(bare_relation, self.deprels))
        self.edges = _edges(text)
        self.functions: dict[int, list[int]] = {}
        for word, (head, relation) in enumerate(zip(text.heads, self.relations, strict=True)):
            if head is not None and relation in FUNCTION_RELATIONS:
                self.functions.setdefault(head, []).append(word)

    def counts(self) -> dict[str, int]:
        columns, parts = ("upos", "xpos", "feats", "lemmas"), ("sentences", "tokens", "words")
        return {
            **{name: sum(cell != UNSPECIFIED for cell in self.text.column(name)) for name in columns},
            **{name: len(getattr(self.text, name)) for name in parts},
            "roots": self.heads.count(-1),
            "content words": sum(relation in CONTENT_RELATIONS for relation in self.relations),
            "edges": sum(map(len, self.edges)),
            "without head": self.heads.count(None),
        }

    def function(self, word: int) -> tuple[str, str, str]:
        return self.relations[word], self.upos[word], self.feats[word]


def _count_right(right: Counter[str], gold: _Words, system: _Words) -> None:
    right["sentences"] += len(set(gold.text.sentences) & set(system.text.sentences))
    right["tokens"] += len(set(gold.text.tokens) & set(system.text.tokens))
    partner = dict(aligned_words(gold.text, system.text))
    partner_or_root = {**partner, -1: -1}
    right_heads = set()
    for i, j in partner.items():
        upos = gold.upos[i] == system.upos[j]
        xpos, ufeats = gold.xpos[i] == system.xpos[j], gold.feats[i] == system.feats[j]
        lemma = gold.lemmas[i] in (UNSPECIFIED, system.lemmas[j])
        tags = {"upos": upos, "xpos": xpos, "ufeats": ufeats, "alltags": upos and xpos and ufeats}
        right.update({"words": 1, **tags, "lemmas": lemma})
        edges = [(partner_or_root.get(head), relation) for head, relation in gold.edges[i]]
        right["elas"] += len(set(edges) & set(system.edges[j]))
        bare, found = (Counter((head, _bare(name)) for head, name in own) for own in (edges, system.edges[j]))
        # As in IWPT 2021, edges from one head that differ only in subtypes count in all pairs.
        right["eulas"] += sum(times * found[edge] for edge, times in bare.items())
        head = gold.heads[i]
        if head is None or system.heads[j] is None or partner_or_root.get(head) != system.heads[j]:
            continue
        right_heads.add(i)
        right["root"] += head == -1
        right["uas"] += 1
        right["las"] += gold.deprels[i] == system.deprels[j]
        if gold.relations[i] == system.relations[j]:
            right["las_no_subtypes"] += 1
            if gold.relations[i] in CONTENT_RELATIONS:
                right["clas"] += 1
                right["blex"] += lemma
                wanted = [(partner.get(k), *gold.function(k)) for k in gold.functions.get(i, ())]
                dependents = [(k, *system.function(k)) for k in system.functions.get(j, ())]
                right["mlas"] += upos and ufeats and wanted == dependents
    first = 0
    for sentence in gold.text.parts:
        right["complete"] += right_heads.issuperset(range(first, first + len(sentence)))
        first += len(sentence)


def _edges(text: Text) -> list[list[tuple[int, str]]]:
    """Return the (head, relation) pairs in DEPS of each word; heads are numbered over the whole text."""
    edges: list[list[tuple[int, str]]] = []
    for sentence in text.parts:
        first = len(edges) - 1
        for own in collapsed_graph(sentence):
            known = ((int(head), relation) for head, relation in own if head.isdecimal())
            edges.append([(first + head if head else -1, relation) for head, relation in known])
    return edges


def _bare(relation: str) -> str:
    return THROUGH.join(map(bare_relation, relation.split(THROUGH)))
