"""Templates over a candidate arc and a source tree over the same words: quasi-synchronous features as data.

A template is a tuple of atoms. ``PLACE.COLUMN`` is a column (COLUMNS below) of a node of the source tree,
where PLACE is an end of the arc (``head``, ``dep``), its head there (``head-parent``, ``dep-parent``), the
lowest common ``ancestor`` of both ends, or its dependent on the path to either end (``head-branch``,
``dep-branch``; the ancestor itself where it is that end). ``pair.NAME``, or NAME, is of the pair:

================== ========================================================================================
``shape``          the configuration, finer than the names of the thesis: steps up and down the source tree
                   from the dependent to the head, and the order of head, dependent and ancestor
``coarse``         the same with steps as 0, 1 or more, and the order of the ends alone
``bases``          relations without subtypes on the path
``relations``      relations on the path
``runs``           as ``relations``, with runs of equal ones reduced to one
``tags``           tags strictly between the ends of the path
``kinds``          number of siblings of the same relation between the branches, or beyond them
``between``        number of siblings of any relation between the branches
``ends``           whether there is a sibling beyond the head's branch
``gap``            distance in words, binned, and direction
``votes``          the trees of kernels.turned_trees that contain the arc
``stay``, ``move`` whether the tree of that name contains it
================== ========================================================================================

*Source*: thesis 4.3, 4.4 (configurations with tags of 1 to 4 words); paths, siblings, turned trees: ours.
"""

from functools import lru_cache

import numpy as np

from qsproj.conventions import ROOT
from qsproj.corpus.cells import bare_relation
from qsproj.corpus.characters import lower_form, plain_form
from qsproj.corpus.sentence import Sentence
from qsproj.features.hashing import Template, stable_hash, templates_of
from qsproj.kernels.adaptation import source_paths
from qsproj.kernels.adaptation.adaptation_features import PAIR_PLACE, Templates


def _templates(text: str) -> tuple[Template, ...]:
    return tuple(tuple(atom if "." in atom else f"pair.{atom}" for atom in row) for row in templates_of(text))


#: Templates of a candidate arc: of the source tree, of trees with reversed arcs, and of the arc alone as in a
#: parser. Only the first fires where the path is too long.
ARC_TEMPLATES = _templates("""
    shape; shape, bases; shape, relations; shape, tags; shape, relations, tags;
    shape, bases, head.tag, dep.tag; shape, relations, head.tag, dep.tag;
    shape, relations, tags, head.tag, dep.tag; shape, runs; coarse, runs; coarse, runs, head.tag;
    coarse, runs, head.tag, dep.tag; shape, head.tag; shape, dep.tag; shape, head.tag, dep.tag;
    shape, head.base; shape, dep.base; shape, head.base, dep.base; shape, head.base, head.tag;
    shape, dep.base, dep.tag; shape, dep.base, head.tag; shape, dep.relation;
    shape, dep.relation, head.tag; shape, dep.relation, head.relation; shape, head.relation, dep.tag;
    shape, head.relation; shape, relations, head.word; shape, relations, dep.word;
    shape, head.word, dep.word; shape, relations, kinds; shape, kinds; shape, relations, between;
    shape, relations, ends; shape, relations, head-branch.inner; shape, relations, head-branch.outer;
    shape, relations, dep-branch.inner; shape, relations, dep-branch.outer;
    shape, relations, head-branch.inner, head-branch.outer; shape, relations, head.children;
    shape, relations, dep.children; shape, relations, ancestor.children;
    shape, relations, ancestor.left; shape, relations, ancestor.right; shape, relations, ancestor.tag;
    shape, relations, ancestor.base; shape, head-branch.base, dep-branch.base, ancestor.tag;
    shape, relations, head-parent.tag; shape, relations, dep-parent.tag, dep-parent.base;
    shape, relations, gap;

    votes; votes, dep.relation, dep.side; votes, head.tag, dep.tag; votes, head.relation, dep.relation;
    votes, dep.relation, dep.tag, coarse; votes, coarse; votes, shape; votes, shape, dep.relation;
    stay, move; stay, move, dep.tag; stay, move, dep.base; stay, move, dep.base, dep.side;
    stay, move, dep.relation; stay, move, head.tag; stay, move, head.tag, dep.tag;
    stay, move, head.relation, dep.base; stay, move, head.tag, dep.relation;
    stay, move, dep.class, head.class; stay, move, shape;

    gap, head.tag, dep.tag; gap, head.tag, head.next, dep.previous, dep.tag;
    gap, head.previous, head.tag, dep.tag, dep.next; gap, head.fine, dep.fine; gap, head.lemma;
    gap, dep.lemma; gap, head.tag, dep.lemma; gap, head.lemma, dep.tag; head.lemma, dep.lemma
""")

#: Templates of a source arc that may be reversed; head and dep are those of the source tree.
TURN_TEMPLATES = _templates("""
    coarse; coarse, dep.tag; coarse, dep.base; dep.class, head.class; dep.base; dep.relation; dep.tag;
    dep.tag, dep.base; dep.tag, dep.relation; head.tag, dep.relation; head.class, dep.relation;
    head.tag, dep.tag, dep.relation; head.tag, dep.tag, dep.relation, coarse; dep.word, dep.relation;
    head.word, dep.relation
""")

#: Templates of the relation of a target arc.
RELATION_TEMPLATES = _templates("""
    shape; dep.base; dep.relation; dep.tag; dep.base, dep.tag; coarse, dep.base; shape, bases;
    shape, relations; coarse, runs; dep-branch.base, coarse; dep-branch.relation, coarse;
    dep-branch.base, dep.tag, head.tag; head.tag, dep.tag; head.tag, dep.base; head.base, dep.base;
    bases, head.tag, dep.tag; dep.word, dep.base; dep.word, coarse; head.word, dep.base;
    head.word, bases; dep.children, dep.base; head.children, dep.base; dep-parent.tag, dep.base;
    dep-parent.tag, dep-parent.base, dep.base; dep.features, dep.base; head.lemma, dep.base;
    dep.lemma, dep.base
""")


@lru_cache(maxsize=16)
def compile_templates(templates: tuple[Template, ...], *, hash_bits: int) -> Templates:
    """Compile templates for the kernels and ``2**hash_bits`` buckets; ValueError at an unknown atom."""
    operations = np.full((len(templates), max(map(len, templates))), -1, dtype=np.int32)
    for row, template in enumerate(templates):
        operations[row, : len(template)] = [_operation(atom) for atom in template]
    seeds = np.array([stable_hash(" ".join(template)) for template in templates], dtype=np.uint64)
    return Templates(operations, seeds, np.uint64(64 - hash_bits))


def _operation(atom: str) -> int:
    place, _, name = atom.partition(".")
    if place not in source_paths.PLACES:
        raise ValueError(f"atom {atom!r}: unknown place {place!r}; known: {', '.join(source_paths.PLACES)}")
    number = source_paths.PLACES.index(place)
    known = source_paths.PAIR if number == PAIR_PLACE else COLUMNS
    if name not in known:
        raise ValueError(f"atom {atom!r}: unknown {name!r}; known: {', '.join(known)}")
    return number << 8 | known.index(name)


# Columns read from the sentence; the first three as kernels.source_paths numbers them.
GIVEN = ("base", "relation", "tag", "class", "fine", "word", "lemma", "features")
#: Attributes of a node in templates: relation without subtype, and with that after the first colon (UD
#: `nmod:poss`, SUD `comp:aux`) but not the deep ones of SUD (`@lvc`, `$cause`); UPOS and its class, XPOS;
#: form of a closed class, else the tag; lemma; FEATS; and those that the kernel derives.
COLUMNS = (*GIVEN, *source_paths.DERIVED)

# Tags with few enough distinct words to use these as features.
CLOSED_CLASSES = frozenset({"ADP", "AUX", "CCONJ", "SCONJ", "DET", "PART", "PRON", "PUNCT"})
# Classes of tags: words that head a phrase in some annotation styles and depend on it in others (function),
# words with an argument structure of their own (content, the unlisted tags), or neither.
FUNCTION = "function"
TAG_CLASSES = {
    **dict.fromkeys(("ADP", "AUX", "SCONJ"), FUNCTION),
    **dict.fromkeys(("CCONJ", "DET", "INTJ", "PART", "SYM", "X"), "other"),
    "PUNCT": "punctuation",
}


def base_relation(relation: str) -> str:
    return bare_relation(shallow_relation(relation))


def shallow_relation(relation: str) -> str:
    """Return a relation without the deep subtypes of SUD, which follow ``@`` and ``$``."""
    return relation.partition("@")[0].partition("$")[0]


def encode_source(sentence: Sentence) -> source_paths.SourceNodes:
    """Hash the attributes of each node of a sentence's tree or partial tree, in O(n depth)."""
    heads, n = sentence.heads, len(sentence)
    names = ("deprels", "upos", "xpos", "forms", "lemmas", "feats")
    atoms = np.full((n + 2, len(COLUMNS)), source_paths.NONE)
    atoms[1 : n + 1, : len(GIVEN)] = list(map(_cells, *(getattr(sentence, name) for name in names)))
    atoms[ROOT, : len(GIVEN)] = stable_hash("<root>")
    depths = np.empty(n + 1, dtype=np.int32)
    source_paths.node_depths(heads, depths)
    source_paths.derive_nodes(heads, atoms, len(GIVEN))
    turned = np.repeat(heads[None], len(source_paths.TREES), axis=0)
    return source_paths.SourceNodes(heads, depths, atoms, turned)


def function_words(nodes: source_paths.SourceNodes) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    return nodes.atoms[:-1, COLUMNS.index("class")] == np.uint64(stable_hash(FUNCTION))


@lru_cache(maxsize=1 << 17)
def _cells(relation: str, tag: str, fine: str, form: str, lemma: str, features: str) -> tuple[int, ...]:
    word = lower_form(form)
    words = word if tag in CLOSED_CLASSES else tag, word if lemma == "_" else plain_form(lemma)
    relations = base_relation(relation), shallow_relation(relation)
    cells = (*relations, tag, TAG_CLASSES.get(tag, "content"), fine, *words, features)
    return tuple(map(stable_hash, cells))
