"""Scores of files with the same text but different sentences, tokens or words.

The number of right items is divided by the number of gold items (recall) and of system items (precision); the
score is their harmonic mean, F1. Both files must have the same characters, ignoring white space. These are
the scores of the CoNLL 2018 shared task (universaldependencies.org/conll18/evaluation.html):

- A sentence or token is right when the other file has one with the same first and last character.
- A word is right when it is aligned with a word of the other file
  (:mod:`qsproj.evaluation.token_alignment`).
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
from typing import Any

from qsproj.corpus.cells import UNSPECIFIED, bare_relation
from qsproj.corpus.enhanced import THROUGH, collapsed_graph
from qsproj.corpus.sentence import Sentence
from qsproj.evaluation.attachment import percentage
from qsproj.evaluation.token_alignment import Text, aligned_words, laid_out, same_text


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


@dataclass(frozen=True, slots=True, kw_only=True)
class CutScores:
    """Scores of one system against a gold file with different tokens or sentences."""

    sentences: F1
    tokens: F1
    words: F1
    tags: F1  # right UPOS
    unlabelled: F1  # right head
    labelled: F1  # right head and relation
    labelled_no_subtypes: F1  # right head and relation up to subtypes
    roots: F1  # words attached to the root
    # ``xpos``, ``ufeats`` ... ``eulas``; XPOS, features, lemmas, DEPS only if the gold file has them
    columns: Mapping[str, F1]
    complete: int  # gold sentences with all heads right
    without_gold_head: int  # words of the gold file
    without_head: int  # words of the system
    without_gold_tag: int  # words of the gold file without UPOS

    @property
    def uem(self) -> float:
        return percentage(self.complete, self.sentences.gold)


def cut_scores(
    gold: Iterable[Sentence], system: Iterable[Sentence], *, names: tuple[str, str] = ("gold", "system")
) -> CutScores:
    counts: Counter[str] = Counter()
    has: set[str] = set()
    for gold_sentences, system_sentences in same_text(iter(gold), iter(system), names):
        one, other = laid_out(gold_sentences), laid_out(system_sentences)
        _count(counts, one, other)
        has |= shown(one)
    words = (counts["gold_words"], counts["system_words"])
    of_words = ("words", "tags", "unlabelled", "labelled", "labelled_no_subtypes")
    scores: dict[str, Any] = {name: F1(counts[name], *words) for name in of_words}
    for name in ("sentences", "tokens", "roots"):
        scores[name] = F1(counts[name], counts[f"gold_{name}"], counts[f"system_{name}"])
    numbers = ("complete", "without_gold_head", "without_head", "without_gold_tag")
    scores |= {name: counts[name] for name in numbers}
    return CutScores(**scores, columns=_of_columns(counts, has))


def _of_columns(counts: Counter[str], has: set[str]) -> dict[str, F1]:
    words = (counts["gold_words"], counts["system_words"])
    content = (counts["gold_content"], counts["system_content"])
    needs = {"xpos": "xpos", **dict.fromkeys(("alltags", "ufeats", "mlas"), "feats")}
    needs |= dict.fromkeys(("lemmas", "blex"), "lemmas")
    scores = {name: F1(counts[name], *words) for name in OF_WORDS}
    scores |= {name: F1(counts[name], *content) for name in OF_CONTENT}
    if counts["gold_edges"]:
        edges = counts["gold_edges"], counts["system_edges"]
        scores |= {name: F1(counts[name], *edges) for name in OF_EDGES}
    return {name: score for name, score in scores.items() if name not in needs or needs[name] in has}


def _count(counts: Counter[str], gold: Text, system: Text) -> None:
    for name, text in (("gold", gold), ("system", system)):
        counts[f"{name}_sentences"] += len(text.sentences)
        counts[f"{name}_tokens"] += len(text.tokens)
        counts[f"{name}_words"] += len(text.words)
        counts[f"{name}_roots"] += text.heads.count(-1)
    counts["sentences"] += len(set(gold.sentences) & set(system.sentences))
    counts["tokens"] += len(set(gold.tokens) & set(system.tokens))
    counts["without_gold_head"] += gold.heads.count(None)
    counts["without_head"] += system.heads.count(None)
    gold_tags, system_tags = gold.column("upos"), system.column("upos")
    counts["without_gold_tag"] += gold_tags.count("_")
    gold_relations, system_relations = gold.column("deprels"), system.column("deprels")
    partner = dict(aligned_words(gold.words, system.words, gold.column("forms"), system.column("forms")))
    count_columns(counts, gold, system, partner)
    count_edges(counts, gold, system, partner)
    partner_or_root = {**partner, -1: -1}
    right_heads = set()
    for i, j in partner.items():
        counts["words"] += 1
        counts["tags"] += gold_tags[i] == system_tags[j]
        head = gold.heads[i]
        if head is None or system.heads[j] is None or partner_or_root.get(head) != system.heads[j]:
            continue
        right_heads.add(i)
        counts["roots"] += head == -1
        counts["unlabelled"] += 1
        counts["labelled"] += gold_relations[i] == system_relations[j]
        counts["labelled_no_subtypes"] += bare_relation(gold_relations[i]) == bare_relation(
            system_relations[j]
        )
    first = 0
    for sentence in gold.parts:
        counts["complete"] += right_heads.issuperset(range(first, first + len(sentence)))
        first += len(sentence)


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
# Scores over all words, and over content words.
OF_WORDS = ("xpos", "ufeats", "alltags", "lemmas")
OF_CONTENT = ("clas", "mlas", "blex")
# Scores over edges of enhanced graphs.
OF_EDGES = ("elas", "eulas")


def universal_features(cell: str) -> str:
    features = sorted(
        feature for feature in cell.split("|") if feature.partition("=")[0] in UNIVERSAL_FEATURES
    )
    return "|".join(features) or UNSPECIFIED


class _Columns:
    """The cells of a text, and the function words that depend on each word."""

    def __init__(self, text: Text) -> None:
        self.relations = [bare_relation(relation) for relation in text.column("deprels")]
        self.upos, self.xpos, self.lemmas = (text.column(name) for name in ("upos", "xpos", "lemmas"))
        self.feats = [universal_features(cell) for cell in text.column("feats")]
        self.heads = text.heads
        self.functions: dict[int, list[int]] = {}
        for word, (head, relation) in enumerate(zip(text.heads, self.relations, strict=True)):
            if head is not None and relation in FUNCTION_RELATIONS:
                self.functions.setdefault(head, []).append(word)

    def content(self) -> int:
        return sum(relation in CONTENT_RELATIONS for relation in self.relations)

    def tags(self, word: int) -> tuple[str, str]:
        return self.upos[word], self.feats[word]


def count_columns(counts: Counter[str], gold: Text, system: Text, partner: Mapping[int, int]) -> None:
    one, other = _Columns(gold), _Columns(system)
    partner_or_root = {**partner, -1: -1}
    counts["gold_content"] += one.content()
    counts["system_content"] += other.content()
    for i, j in partner.items():
        xpos, ufeats = one.xpos[i] == other.xpos[j], one.feats[i] == other.feats[j]
        lemma = one.lemmas[i] in (UNSPECIFIED, other.lemmas[j])
        counts["xpos"] += xpos
        counts["ufeats"] += ufeats
        counts["alltags"] += xpos and ufeats and one.upos[i] == other.upos[j]
        counts["lemmas"] += lemma
        head = one.heads[i]
        if (
            head is None
            or one.relations[i] not in CONTENT_RELATIONS
            or one.relations[i] != other.relations[j]
            or partner_or_root.get(head) != other.heads[j]
        ):
            continue
        counts["clas"] += 1
        counts["blex"] += lemma
        functions = [(partner.get(k), one.relations[k], one.tags(k)) for k in one.functions.get(i, ())]
        found = [(k, other.relations[k], other.tags(k)) for k in other.functions.get(j, ())]
        counts["mlas"] += one.tags(i) == other.tags(j) and functions == found


def count_edges(counts: Counter[str], gold: Text, system: Text, partner: Mapping[int, int]) -> None:
    one, other = _edges(gold), _edges(system)
    counts["gold_edges"] += sum(map(len, one))
    counts["system_edges"] += sum(map(len, other))
    partner_or_root = {**partner, -1: -1}
    for i, j in partner.items():
        edges = [(partner_or_root.get(head), relation) for head, relation in one[i]]
        counts["elas"] += len(set(edges) & set(other[j]))
        bare = [Counter((head, _bare(relation)) for head, relation in own) for own in (edges, other[j])]
        # As in IWPT 2021, edges from one head that differ only in subtypes count in all pairs.
        counts["eulas"] += sum(times * bare[1][edge] for edge, times in bare[0].items())


def _edges(text: Text) -> list[list[tuple[int, str]]]:
    """Return the (head, relation) pairs in DEPS of each word; heads are numbered over the whole text."""
    edges: list[list[tuple[int, str]]] = []
    for sentence in text.parts:
        first = len(edges) - 1
        edges += [
            [
                (first + int(head) if head != "0" else -1, relation)
                for head, relation in own
                if head.isdecimal()
            ]
            for own in collapsed_graph(sentence)
        ]
    return edges


def _bare(relation: str) -> str:
    return THROUGH.join(map(bare_relation, relation.split(THROUGH)))


def shown(gold: Text, names: tuple[str, ...] = ("xpos", "feats", "lemmas")) -> set[str]:
    return {name for name in names if any(cell != UNSPECIFIED for cell in gold.column(name))}
