"""Templates of factors over several arcs, and the inputs of the feature kernels.

A template is a tuple of atoms ``ROLE.ATTRIBUTE`` with an optional offset (``+1``: the word to the right). The
roles depend on the family of factors:

- ``grand``: ``grand`` -> ``head`` -> ``dep``;
- ``childseq``: the dependents ``previous`` and ``next`` of ``head``, with no other between them; the boundary
  before the first is the outside of the sentence on the left, that after the last the one on the right;
- ``valence``: the ``head`` whose dependents on a side are counted;
- ``nocross``: the dependents ``first`` and ``second`` of two arcs that cross;
- ``taglink``: ``head`` -> ``dep``, each a *candidate*, a word with one of its possible tags, the value of
  ``head.upos``. There are no offsets: the tagger's tags of neighbours fitted only training trees better.

Factors also have a *place*, a small number: directions, binned distances, counts (see `FamilyTemplates`).
"""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from qsproj.conventions import ROOT, Hashes, Mask, Numbers
from qsproj.features.atoms import PADDING, EncodedSentence
from qsproj.features.hashing import Template, hashes_of, operations_of, stable_hash, templates_of
from qsproj.kernels.features.arc_features import position_parts
from qsproj.kernels.features.second_order_features import FactorFeatures

ROLES = {
    "grand": ("grand", "head", "dep"),
    "childseq": ("head", "previous", "next"),
    "valence": ("head",),
    "nocross": ("first", "second"),
    "taglink": ("head", "dep"),
}


@dataclass(frozen=True, slots=True)
class FamilyTemplates:
    """Templates of one family: with and without the factor's place (``plain``), or only with it."""

    plain: tuple[Template, ...] = ()
    placed: tuple[Template, ...] = ()


@dataclass(frozen=True, slots=True)
class CompiledFamily:
    """Templates of one family, for :func:`qsproj.kernels.features.arc_features.position_parts`."""

    operations: Numbers  # int32[R, T, W]
    seeds: Hashes  # uint64[R, T], the initial hash of each role
    plain: int  # templates [0, plain) fire with and without the place


def _lexical(three: Template, two: Template, word: str) -> tuple[Template, ...]:
    """Return the templates of three roles, then of two, each with its tag or its ``word``."""
    lexical = ((), (0,), (1,), (2,), (0, 1), (1, 2), (0, 2))
    rows = ([word if at in own else "upos" for at in range(3)] for own in lexical)
    triples = (tuple(map("{}.{}".format, three, row)) for row in rows)
    ends = ((one, other) for other in ("upos", word) for one in ("upos", word))
    return *triples, *(tuple(map("{}.{}".format, two, row)) for row in ends)


_GRAND = ("grand", "head", "dep"), ("grand", "dep")
_CHILDSEQ = ROLES["childseq"], ("previous", "next")
_VALENCE = templates_of("head.upos; head.upos-1, head.upos, head.upos+1")
_NOCROSS = templates_of("first.upos, second.upos; first.upos; second.upos")

DELEXICALISED = {
    "grand": FamilyTemplates(templates_of("grand.upos, head.upos, dep.upos; grand.upos, dep.upos")),
    "childseq": FamilyTemplates(
        templates_of("head.upos, previous.upos, next.upos; previous.upos, next.upos")
    ),
    "valence": FamilyTemplates(placed=_VALENCE),
    "nocross": FamilyTemplates(_NOCROSS),
}

WORDS = {
    "grand": FamilyTemplates(_lexical(*_GRAND, "lower")),
    "childseq": FamilyTemplates(_lexical(*_CHILDSEQ, "lower")),
    "valence": FamilyTemplates(placed=_VALENCE + templates_of("head.lower, head.upos")),
    "nocross": FamilyTemplates(_NOCROSS),
}

MORPHOLOGY = {
    "grand": FamilyTemplates(
        _lexical(*_GRAND, "lemma")
        + templates_of("""
            grand.xpos, head.xpos, dep.xpos; grand.upos, head.upos, head.case, dep.upos, dep.lower;
            grand.lemma, head.case, dep.lower;
            grand.upos, grand.verbform, head.upos, head.case, dep.upos, dep.case
        """)
    ),
    "childseq": FamilyTemplates(
        _lexical(*_CHILDSEQ, "lemma")
        + templates_of("""
            head.xpos, previous.xpos, next.xpos;
            head.upos, previous.upos, previous.case, next.upos, next.case;
            head.upos, previous.upos, previous.verbform, next.upos, next.verbform
        """)
    ),
    "valence": FamilyTemplates(
        placed=_VALENCE + templates_of("head.lemma, head.upos; head.xpos; head.upos, head.verbform")
    ),
    "nocross": FamilyTemplates(_NOCROSS + templates_of("first.xpos, second.xpos; first.xpos; second.xpos")),
}

# Each set reads the same attributes as the arc templates of the same name.
TEMPLATE_SETS = {"delexicalised": DELEXICALISED, "words": WORDS, "morphology": MORPHOLOGY}


@lru_cache
def compile_family(family: str, templates: FamilyTemplates, attributes: tuple[str, ...]) -> CompiledFamily:
    """Compile the templates of one family for sentences encoded with ``attributes``."""
    ordered = (*templates.plain, *templates.placed)
    roles = ROLES[family]
    operations = operations_of(ordered, roles, attributes)
    names = [" ".join(template) for template in ordered]
    seeds = [[stable_hash(f"{family} {role} {name}") for name in names] for role in roles]
    return CompiledFamily(operations, np.array(seeds, dtype=np.uint64), len(templates.plain))


Words = Numbers
Places = Hashes

# Distances 1, 2, 3, 4, 5-9, 10 and more (McDonald et al. 2005), and a bin for a missing one.
DISTANCE_BINS = np.array([7, 1, 2, 3, 4, 5, 5, 5, 5, 5, 6])
NEAR = 2
LARGEST_COUNT = 5  # of dependents that VALENCE distinguishes


def grand_places(words: Words) -> Places:
    """Return the place of GRAND factors, words int32[F, 3]: order, and whether the last two are near."""
    grand, head, dependent = words.T
    order = 4 * (grand < head) + 2 * (head < dependent) + (grand > dependent)
    near = np.abs(head - dependent) <= NEAR
    # Orders 0 and 7 (a < b < c < a) do not exist, so the place is never 0.
    return np.asarray(2 * order + near, dtype=np.uint64)


def sequence_places(heads: Words, following: Words, sides: Words, *, inside: Mask) -> Places:
    """Return the place of each CHILDSEQ factor: side, and binned distance to the next dependent if any."""
    distance = np.where(inside, np.minimum(np.abs(following - heads), 10), 0)
    return (2 * DISTANCE_BINS[distance] + sides).astype(np.uint64)


def factor_features(
    encoded: EncodedSentence, compiled: CompiledFamily, members: Words, places: Places, *, buckets: int
) -> FactorFeatures:
    """Hash a family's templates at each position; ``members`` int32[F, R] are words plus one."""
    # One more row before, so that the outside is also a position with neighbours.
    atoms = np.concatenate([encoded.atoms[:1], encoded.atoms])
    return _hashed(atoms, len(atoms) - 2 * PADDING + 1, compiled, members, places, buckets)


def _hashed(
    atoms: Hashes, positions: int, compiled: CompiledFamily, members: Words, places: Places, buckets: int
) -> FactorFeatures:
    roles, templates = compiled.seeds.shape
    parts = np.empty((roles, positions, templates), dtype=np.uint64)
    position_parts(atoms, compiled.operations, compiled.seeds, parts)
    shift = np.uint64(64 - (buckets.bit_length() - 1))
    return FactorFeatures(parts, members, places, compiled.plain, shift)


FAMILY = "taglink"
# Each reads a tag, to distinguish the candidates of a word.
TAG_LINK_TEMPLATES = FamilyTemplates(
    plain=templates_of("""
        head.upos, dep.upos; head.lower, head.upos, dep.upos; dep.lower, head.upos, dep.upos;
        head.suffix, head.upos, dep.upos; dep.suffix, head.upos, dep.upos;
        head.suffix, dep.suffix, head.upos, dep.upos; head.lower, dep.upos; head.upos, dep.lower
    """),
    placed=templates_of("head.upos; dep.upos; head.upos, head.suffix; dep.upos, dep.suffix"),
)


def tag_hashes(tags: tuple[str, ...]) -> Hashes:
    return hashes_of(f"upos\t{tag}" for tag in tags)


def arc_places(heads: Numbers, dependents: Numbers) -> Places:
    """Return the place of arcs, uint64: direction and binned distance, 2..13."""
    distances = np.minimum(np.abs(heads - dependents), 10)
    return (2 * DISTANCE_BINS[distances] + (heads < dependents)).astype(np.uint64)


def tag_link_features(
    encoded: EncodedSentence,
    attributes: tuple[str, ...],
    candidates: tuple[Numbers, Hashes],
    members: Numbers,
    places: Places,
    *,
    buckets: int,
) -> FactorFeatures:
    """Hash the templates' attributes of each candidate, in a sentence encoded with ``attributes``.

    ``candidates`` int32[C], uint64[C]: word of each and the hash of its tag, unread for the root. ``members``
    int32[P, 2]: candidate head and dependent of each pair of tags of each arc. ``places``: `arc_places`.
    """
    words, hashes = candidates
    compiled = compile_family(FAMILY, TAG_LINK_TEMPLATES, attributes)
    atoms = encoded.atoms[words + PADDING]
    tagged = words != ROOT
    atoms[tagged, attributes.index("upos")] = hashes[tagged]
    # The kernel skips the padding rows of a sentence.
    atoms = np.concatenate([encoded.atoms[:PADDING], atoms])
    return _hashed(atoms, len(words), compiled, members, places, buckets)
