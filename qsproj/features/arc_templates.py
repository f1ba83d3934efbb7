"""Templates of arcs and of their relations as data, and their compilation for the arc kernels.

A template is a tuple of atoms: ``head.ATTRIBUTE`` or ``dep.ATTRIBUTE`` with an optional offset (``+1``: the
word to the right), or an attribute of the words between head and dependent: ``between.upos`` (one feature for
each distinct tag there), ``between.set`` (the set of tags), ``between.verbs``, ``between.punctuation``,
``between.coordinators`` (their number, at most 3). Every template fires conjoined with direction and binned
distance; those in ``plain`` also fire without. Templates of arcs that only read the dependent are in
``directed``, as they do not distinguish heads. Templates of relations may also use attributes from the tree:
``dep.adposition.lower``, ``dep.rank`` (:mod:`qsproj.features.atoms`).

*Source*: McDonald et al. 2005, table 1; lemmas, morphology and trees are ours.
"""

import re
from dataclasses import dataclass

import numpy as np

from qsproj.conventions import Hashes, Numbers
from qsproj.features.atoms import ATTRIBUTES, EncodedSentence, reads_tree
from qsproj.features.hashing import Template, operations_of, stable_hash, templates_of
from qsproj.kernels.features.arc_features import ArcFeatures, position_parts

# Bits of kernels.arc_features (a test compares them).
BETWEEN_BITS = {"upos": 1, "set": 2, "verbs": 4, "punctuation": 8, "coordinators": 16}
ATOM = re.compile(r"(head|dep|between)\.([a-z]+(?:\.[a-z]+)?)(?:[+-]\d)?$")
ENDS = ("head", "dep")


@dataclass(frozen=True, slots=True)
class TemplateSet:
    """Templates that fire with and without direction and distance (``plain``), or with (``directed``)."""

    plain: tuple[Template, ...]
    directed: tuple[Template, ...] = ()


@dataclass(frozen=True, slots=True)
class CompiledTemplates:
    """Compiled templates for the kernels; see :mod:`qsproj.kernels.features.arc_features` for the codes."""

    attributes: tuple[str, ...]  # columns of the atoms
    operations: Numbers  # of each of ENDS
    seeds: Hashes  # of each of ENDS; all differ
    between: Numbers
    plain: int  # end of the first templates, which fire with and without the direction
    directed: int  # end of the next ones, which fire only with it


def _pairs(word: str) -> tuple[Template, ...]:
    """Return the templates of both words, one or both with their tags."""
    return templates_of(f"""
        head.{word}, head.upos, dep.{word}, dep.upos; head.upos, dep.{word}, dep.upos;
        head.{word}, head.upos, dep.upos; head.{word}, dep.{word}
    """)


DELEXICALISED = TemplateSet(
    plain=templates_of("""
        head.upos, dep.upos; head.upos, head.upos+1, dep.upos-1, dep.upos;
        head.upos-1, head.upos, dep.upos-1, dep.upos; head.upos, head.upos+1, dep.upos, dep.upos+1;
        head.upos-1, head.upos, dep.upos, dep.upos+1; head.upos, head.upos+1, dep.upos;
        head.upos-1, head.upos, dep.upos; head.upos, dep.upos, dep.upos+1; head.upos, dep.upos-1, dep.upos;
        head.upos, dep.upos, dep.upos+1, dep.upos+2; head.upos, dep.upos-2, dep.upos-1, dep.upos;
        head.upos, head.upos+1, head.upos+2, dep.upos; head.upos-2, head.upos-1, head.upos, dep.upos;
        head.upos, between.upos, dep.upos;
        head.upos, dep.upos, between.verbs, between.punctuation, between.coordinators;
        head.upos, dep.upos, between.verbs; head.upos, dep.upos, between.punctuation;
        head.upos, between.set, dep.upos
    """),
    directed=templates_of("head.upos; dep.upos"),
)

WORDS = TemplateSet(
    plain=(
        *DELEXICALISED.plain,
        *_pairs("lower"),
        *templates_of("""
            head.prefix, head.upos, dep.upos; head.upos, dep.prefix, dep.upos;
            head.suffix, head.upos, dep.suffix, dep.upos; head.upos, dep.upos, dep.lower+1;
            head.upos, dep.upos, dep.lower-1; head.upos, dep.upos, head.lower-1;
            head.upos, dep.upos, head.lower+1
        """),
    ),
    directed=(
        *DELEXICALISED.directed,
        *templates_of("head.lower, head.upos; head.lower; dep.lower, dep.upos; dep.lower"),
    ),
)

MORPHOLOGY = TemplateSet(
    plain=(
        *WORDS.plain,
        *_pairs("lemma"),
        *templates_of("""
            head.xpos, dep.xpos; head.xpos, head.xpos+1, dep.xpos-1, dep.xpos;
            head.xpos-1, head.xpos, dep.xpos-1, dep.xpos; head.xpos, head.xpos+1, dep.xpos, dep.xpos+1;
            head.xpos-1, head.xpos, dep.xpos, dep.xpos+1; head.xpos, between.upos, dep.xpos;
            head.upos, head.feats, dep.upos, dep.feats; head.upos, dep.upos, dep.feats;
            head.upos, head.feats, dep.upos; head.upos, dep.upos, head.case, dep.case;
            head.upos, dep.upos, head.agreement, dep.agreement;
            head.upos, dep.upos, head.verbform, dep.verbform;
            head.upos, dep.upos, head.verbform, dep.case; head.lemma, dep.upos, dep.case
        """),
    ),
    directed=WORDS.directed + templates_of("head.lemma; dep.lemma; head.xpos; dep.xpos"),
)

# The attributes that each set reads: UPOS; also forms; also lemmas, XPOS and FEATS.
TEMPLATE_SETS = {"delexicalised": DELEXICALISED, "words": WORDS, "morphology": MORPHOLOGY}


_TAG_LABELS = templates_of("""
    dep.upos; head.upos, dep.upos; head.upos, dep.upos, between.punctuation, between.verbs;
    head.upos, dep.upos, dep.upos-1; head.upos, dep.upos, dep.upos+1;
    head.upos, dep.upos, dep.upos-1, dep.upos+1; head.upos, dep.upos, head.upos-1, head.upos+1;
    head.upos, dep.upos, dep.upos-2, dep.upos-1; head.upos, dep.upos, dep.upos+1, dep.upos+2;
    head.upos, dep.upos, between.upos
""")

_WORD_LABELS = _TAG_LABELS + templates_of("""
    dep.lower; dep.lower, dep.upos, head.upos; head.lower, dep.upos, head.upos; head.lower, dep.lower;
    dep.suffix, head.upos; head.upos, dep.upos, dep.lower-1; head.upos, dep.upos, dep.lower+1;
    head.upos, dep.upos, dep.lower-2
""")

_MORPHOLOGY_LABELS = _WORD_LABELS + templates_of("""
    head.lemma, dep.lemma; head.lemma, dep.upos, dep.case; dep.lemma, head.upos;
    head.upos, dep.upos, dep.feats; head.upos, dep.upos, head.feats; head.xpos, dep.xpos;
    head.upos, dep.upos, dep.case, head.verbform
""")

_TREE_TAGS = templates_of("""
    head.upos, dep.upos, dep.adposition.upos; head.upos, dep.upos, dep.marker.upos;
    head.upos, dep.upos, dep.coordinator.upos;
    head.upos, dep.upos, dep.auxiliary.upos, head.auxiliary.upos; head.upos, dep.upos, head.parent.upos;
    head.upos, dep.upos, dep.adposition.upos, dep.rank;
    head.upos, dep.upos, dep.first.upos, dep.last.upos
""")

_TREE_WORDS = templates_of("""
    head.upos, dep.upos, dep.adposition.lower; head.lower, dep.adposition.lower;
    head.upos, dep.upos, dep.determiner.lower;
    head.upos, dep.upos, dep.adposition.lower, dep.determiner.lower;
    head.upos, dep.upos, dep.determiner.lower, dep.rank; head.upos, dep.upos, dep.marker.lower;
    head.upos, dep.upos, head.auxiliary.lower; head.upos, dep.upos, dep.first.lower, dep.last.upos;
    head.upos, dep.upos, dep.suffix, dep.rank
""")

IN_TREE = "-in-tree"  # suffix of the names of sets with attributes from the tree

LABEL_TEMPLATE_SETS = {
    "delexicalised": TemplateSet(_TAG_LABELS),
    "words": TemplateSet(_WORD_LABELS),
    "morphology": TemplateSet(_MORPHOLOGY_LABELS),
    f"delexicalised{IN_TREE}": TemplateSet(_TAG_LABELS + _TREE_TAGS),
    f"words{IN_TREE}": TemplateSet(_WORD_LABELS + _TREE_TAGS + _TREE_WORDS),
    f"morphology{IN_TREE}": TemplateSet(_MORPHOLOGY_LABELS + _TREE_TAGS + _TREE_WORDS),
}


def compile_templates(templates: TemplateSet, known: tuple[str, ...] = ()) -> CompiledTemplates:
    """Compile templates to the program of the kernels; ``known`` attributes first; ValueError if bad."""
    far = [one for one in templates.plain if any(atom.startswith("between.") for atom in one)]
    near = [one for one in templates.plain if one not in far]
    ordered, attributes = [*near, *templates.directed, *far], list(known)
    between = np.zeros(len(ordered), dtype=np.int32)
    for row, template in enumerate(ordered):
        for place, name in map(_parse, template):
            if place == "between":
                between[row] += BETWEEN_BITS[name]
            elif name not in attributes:
                attributes.append(name)
        if between[row] & BETWEEN_BITS["upos"] and between[row] != BETWEEN_BITS["upos"]:
            raise ValueError(f"template {template}: between.upos fires for each tag and cannot be combined")
    of_ends = [tuple(atom for atom in one if not atom.startswith("between.")) for one in ordered]
    seeds = [[stable_hash(f"{end} {' '.join(template)}") for template in ordered] for end in ENDS]
    operations = operations_of(of_ends, ENDS, attributes)
    runs = len(near), len(near) + len(templates.directed)
    return CompiledTemplates(tuple(attributes), operations, np.array(seeds, dtype=np.uint64), between, *runs)


def _parse(atom: str) -> tuple[str, str]:
    match = ATOM.match(atom)
    if match is None:
        raise ValueError(f"atom {atom!r} is not head.NAME, dep.NAME or between.NAME")
    place, name = match.groups()
    known = BETWEEN_BITS if place == "between" else ATTRIBUTES
    read = name.partition(".")[2]
    in_tree = place != "between" and reads_tree(name) and (not read or read in ATTRIBUTES)
    if name not in known and not in_tree:
        raise ValueError(f"atom {atom!r}: unknown {name!r}; known: {', '.join(known)}")
    return place, name


def arc_features(encoded: EncodedSentence, templates: CompiledTemplates, buckets: int) -> ArcFeatures:
    """Hash the templates' attributes of each position of a sentence encoded with them; O(n T)."""
    parts = np.empty((len(ENDS), len(encoded) + 1, len(templates.between)), np.uint64)
    position_parts(encoded.atoms, templates.operations, templates.seeds, parts)
    shift = np.uint64(64 - (buckets.bit_length() - 1))
    kinds = templates.between, templates.plain, templates.directed
    return ArcFeatures(parts[0], parts[1], encoded.tags, *kinds, shift)
