"""Lemmas, features and language-specific tags of aligned words, as the CoNLL 2018 shared task scores them.

*Source*: universaldependencies.org/conll18/evaluation.html. Features are compared without those that are not
universal, relations without subtypes. A lemma is right where the gold file has none. CLAS, MLAS and BLEX
count content words alone: of each the head and the relation; for MLAS also UPOS, features and the function
words that hang on it, with theirs; for BLEX also the lemma.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from qsproj.corpus.cells import UNSPECIFIED, bare_relation
from qsproj.evaluation.same_text import Text

UNIVERSAL_FEATURES = frozenset(
    {
        "PronType",
        "NumType",
        "Poss",
        "Reflex",
        "Foreign",
        "Abbr",
        "Gender",
        "Animacy",
        "Number",
        "Case",
        "Definite",
        "Degree",
        "VerbForm",
        "Mood",
        "Tense",
        "Aspect",
        "Voice",
        "Evident",
        "Polarity",
        "Person",
        "Polite",
    }
)
CONTENT_RELATIONS = frozenset(
    {
        "nsubj",
        "obj",
        "iobj",
        "csubj",
        "ccomp",
        "xcomp",
        "obl",
        "vocative",
        "expl",
        "dislocated",
        "advcl",
        "advmod",
        "discourse",
        "nmod",
        "appos",
        "nummod",
        "acl",
        "amod",
        "conj",
        "fixed",
        "flat",
        "compound",
        "list",
        "parataxis",
        "orphan",
        "goeswith",
        "reparandum",
        "root",
        "dep",
    }
)
FUNCTION_RELATIONS = frozenset({"aux", "cop", "mark", "det", "clf", "case", "cc"})
# What is counted of all words, and of content words.
OF_WORDS = ("xpos", "ufeats", "alltags", "lemmas")
OF_CONTENT = ("clas", "mlas", "blex")


def universal_features(cell: str) -> str:
    """Return the universal features of a cell of FEATS, sorted."""
    features = sorted(
        feature for feature in cell.split("|") if feature.partition("=")[0] in UNIVERSAL_FEATURES
    )
    return "|".join(features) or UNSPECIFIED


class _Side:
    """The cells of one text, and the function words that hang on each word."""

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
        """Count content words."""
        return sum(relation in CONTENT_RELATIONS for relation in self.relations)

    def tags(self, word: int) -> tuple[str, str]:
        return self.upos[word], self.feats[word]


def count_columns(counts: Counter[str], gold: Text, system: Text, partner: Mapping[int, int]) -> None:
    """Add what is right in one stretch of text to ``counts`` (mutated).

    ``partner``: the system's word of each gold word that is aligned, words counted from 0 over all sentences.
    """
    one, other = _Side(gold), _Side(system)
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


def shown(gold: Text, names: tuple[str, ...] = ("xpos", "feats", "lemmas")) -> set[str]:
    """Return which of the columns have a cell that is not empty."""
    return {name for name in names if any(cell != UNSPECIFIED for cell in gold.column(name))}
