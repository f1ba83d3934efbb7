"""Templates for the relation of an arc; the same atoms as for arcs, but the dependent alone also counts."""

from __future__ import annotations

from qsproj.features.arc_templates import TemplateSet

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

LABEL_TEMPLATE_SETS = {
    "delexicalised": DELEXICALISED_LABELS,
    "words": WORD_LABELS,
    "morphology": MORPHOLOGY_LABELS,
}
