"""Templates for the relation of an arc; the same atoms as for arcs, but the dependent alone also counts."""

from __future__ import annotations

from qsproj.features.arc_templates import Template, TemplateSet


def _and(templates: TemplateSet, *more: tuple[Template, ...]) -> TemplateSet:
    return TemplateSet(plain=sum(more, templates.plain), directed=templates.directed)


DELEXICALISED_LABELS = TemplateSet(
    plain=(
        ("dep.upos",),
        ("head.upos", "dep.upos"),
        ("head.upos", "dep.upos", "between.punctuation", "between.verbs"),
        ("head.upos", "dep.upos", "dep.upos-1"),
        ("head.upos", "dep.upos", "dep.upos+1"),
        ("head.upos", "dep.upos", "dep.upos-1", "dep.upos+1"),
        ("head.upos", "dep.upos", "head.upos-1", "head.upos+1"),
        ("head.upos", "dep.upos", "dep.upos-2", "dep.upos-1"),
        ("head.upos", "dep.upos", "dep.upos+1", "dep.upos+2"),
        ("head.upos", "dep.upos", "between.upos"),
    ),
    directed=(),
)

WORD_LABELS = TemplateSet(
    plain=(
        *DELEXICALISED_LABELS.plain,
        ("dep.lower",),
        ("dep.lower", "dep.upos", "head.upos"),
        ("head.lower", "dep.upos", "head.upos"),
        ("head.lower", "dep.lower"),
        ("dep.suffix", "head.upos"),
        ("head.upos", "dep.upos", "dep.lower-1"),
        ("head.upos", "dep.upos", "dep.lower+1"),
        ("head.upos", "dep.upos", "dep.lower-2"),
    ),
    directed=(),
)

MORPHOLOGY_LABELS = TemplateSet(
    plain=(
        *WORD_LABELS.plain,
        ("head.lemma", "dep.lemma"),
        ("head.lemma", "dep.upos", "dep.case"),
        ("dep.lemma", "head.upos"),
        ("head.upos", "dep.upos", "dep.feats"),
        ("head.upos", "dep.upos", "head.feats"),
        ("head.xpos", "dep.xpos"),
        ("head.upos", "dep.upos", "dep.case", "head.verbform"),
    ),
    directed=(),
)

_TREE_TAGS: tuple[Template, ...] = (
    ("head.upos", "dep.upos", "dep.adposition.upos"),
    ("head.upos", "dep.upos", "dep.marker.upos"),
    ("head.upos", "dep.upos", "dep.coordinator.upos"),
    ("head.upos", "dep.upos", "dep.auxiliary.upos", "head.auxiliary.upos"),
    ("head.upos", "dep.upos", "head.parent.upos"),
    ("head.upos", "dep.upos", "dep.adposition.upos", "dep.rank"),
    ("head.upos", "dep.upos", "dep.first.upos", "dep.last.upos"),
)

_TREE_WORDS: tuple[Template, ...] = (
    ("head.upos", "dep.upos", "dep.adposition.lower"),
    ("head.lower", "dep.adposition.lower"),
    ("head.upos", "dep.upos", "dep.determiner.lower"),
    ("head.upos", "dep.upos", "dep.adposition.lower", "dep.determiner.lower"),
    ("head.upos", "dep.upos", "dep.determiner.lower", "dep.rank"),
    ("head.upos", "dep.upos", "dep.marker.lower"),
    ("head.upos", "dep.upos", "head.auxiliary.lower"),
    ("head.upos", "dep.upos", "dep.first.lower", "dep.last.upos"),
    ("head.upos", "dep.upos", "dep.suffix", "dep.rank"),
)

# The end of the name of a set that asks what the tree says of words as well.
IN_TREE = "-in-tree"

LABEL_TEMPLATE_SETS = {
    "delexicalised": DELEXICALISED_LABELS,
    "words": WORD_LABELS,
    "morphology": MORPHOLOGY_LABELS,
    f"delexicalised{IN_TREE}": _and(DELEXICALISED_LABELS, _TREE_TAGS),
    f"words{IN_TREE}": _and(WORD_LABELS, _TREE_TAGS, _TREE_WORDS),
    f"morphology{IN_TREE}": _and(MORPHOLOGY_LABELS, _TREE_TAGS, _TREE_WORDS),
}
