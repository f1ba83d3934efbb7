"""Templates of factors over two or more arcs, as data (thesis 2.8.2, with words beside its tags).

A template is a tuple of atoms ``ROLE.ATTRIBUTE`` with an optional offset (``+1``: the word to the right). The
roles depend on the family of factors:

- ``grand``: ``grand`` -> ``head`` -> ``dep``;
- ``childseq``: the dependents ``previous`` and ``next`` of ``head``, with no other between them; the boundary
  before the first is the outside of the sentence on the left, that after the last the one on the right;
- ``valence``: the ``head`` that is to have so many dependents on a side;
- ``nocross``: the dependents ``first`` and ``second`` of two arcs that cross;
- ``taglink`` (:mod:`qsproj.features.tag_link`): ``head`` -> ``dep``, each with a tag that it may have.

Each factor also has a *place*, a small number (:mod:`qsproj.features.second_order`): directions, binned
distances, counts. Templates in ``plain`` fire with and without it, those in ``placed`` only with it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from qsproj.features.atoms import ATTRIBUTES
from qsproj.features.hashing import stable_hash

Template = tuple[str, ...]

ROLES = {
    "grand": ("grand", "head", "dep"),
    "childseq": ("head", "previous", "next"),
    "valence": ("head",),
    "nocross": ("first", "second"),
    "taglink": ("head", "dep"),
}
ATOM = re.compile(r"([a-z]+)\.([a-z]+)([+-]1)?$")


@dataclass(frozen=True, slots=True)
class FamilyTemplates:
    """Templates of one family: with and without the factor's place (``plain``), or only with it."""

    plain: tuple[Template, ...]
    placed: tuple[Template, ...]


@dataclass(frozen=True, slots=True)
class CompiledFamily:
    """Templates of one family as :func:`qsproj.kernels.features.arc_features.position_parts` reads them.

    ``operations`` int32[R, T, W]: for each role, what each template asks of it, packed as ``column << 8 |
    (offset + 128)``; -1 fills. ``seeds`` uint64[R, T]: where the hash of each role starts; all differ, so
    that words in other roles are other features. ``plain``: templates [0, plain) fire with and without the
    place, the others with it only.
    """

    operations: NDArray[np.int32]
    seeds: NDArray[np.uint64]
    plain: int


def _triples(first: str, second: str, third: str, word: str) -> tuple[Template, ...]:
    """Return the tags of three words, with none, one or two of them sharpened by ``word``."""
    tags = (f"{first}.upos", f"{second}.upos", f"{third}.upos")
    words = (f"{first}.{word}", f"{second}.{word}", f"{third}.{word}")
    return (
        tags,
        (words[0], tags[1], tags[2]),
        (tags[0], words[1], tags[2]),
        (tags[0], tags[1], words[2]),
        (words[0], words[1], tags[2]),
        (tags[0], words[1], words[2]),
        (words[0], tags[1], words[2]),
    )


def _pairs(first: str, second: str, word: str) -> tuple[Template, ...]:
    """Return the tags of two words, with none, one or both of them sharpened by ``word``."""
    return (
        (f"{first}.upos", f"{second}.upos"),
        (f"{first}.{word}", f"{second}.upos"),
        (f"{first}.upos", f"{second}.{word}"),
        (f"{first}.{word}", f"{second}.{word}"),
    )


DELEXICALISED = {
    "grand": FamilyTemplates((("grand.upos", "head.upos", "dep.upos"), ("grand.upos", "dep.upos")), ()),
    "childseq": FamilyTemplates(
        (("head.upos", "previous.upos", "next.upos"), ("previous.upos", "next.upos")), ()
    ),
    "valence": FamilyTemplates((), (("head.upos",), ("head.upos-1", "head.upos", "head.upos+1"))),
    "nocross": FamilyTemplates((("first.upos", "second.upos"), ("first.upos",), ("second.upos",)), ()),
}

WORDS = {
    "grand": FamilyTemplates(
        (*_triples("grand", "head", "dep", "lower"), *_pairs("grand", "dep", "lower")), ()
    ),
    "childseq": FamilyTemplates(
        (*_triples("head", "previous", "next", "lower"), *_pairs("previous", "next", "lower")), ()
    ),
    "valence": FamilyTemplates((), (*DELEXICALISED["valence"].placed, ("head.lower", "head.upos"))),
    "nocross": DELEXICALISED["nocross"],
}

MORPHOLOGY = {
    "grand": FamilyTemplates(
        (
            *_triples("grand", "head", "dep", "lemma"),
            *_pairs("grand", "dep", "lemma"),
            ("grand.xpos", "head.xpos", "dep.xpos"),
            ("grand.upos", "head.upos", "head.case", "dep.upos", "dep.lower"),
            ("grand.lemma", "head.case", "dep.lower"),
            ("grand.upos", "grand.verbform", "head.upos", "head.case", "dep.upos", "dep.case"),
        ),
        (),
    ),
    "childseq": FamilyTemplates(
        (
            *_triples("head", "previous", "next", "lemma"),
            *_pairs("previous", "next", "lemma"),
            ("head.xpos", "previous.xpos", "next.xpos"),
            ("head.upos", "previous.upos", "previous.case", "next.upos", "next.case"),
            ("head.upos", "previous.upos", "previous.verbform", "next.upos", "next.verbform"),
        ),
        (),
    ),
    "valence": FamilyTemplates(
        (),
        (
            *DELEXICALISED["valence"].placed,
            ("head.lemma", "head.upos"),
            ("head.xpos",),
            ("head.upos", "head.verbform"),
        ),
    ),
    "nocross": FamilyTemplates(
        (*DELEXICALISED["nocross"].plain, ("first.xpos", "second.xpos"), ("first.xpos",), ("second.xpos",)),
        (),
    ),
}

# What each set reads of a word is what the arc templates of the same name read.
TEMPLATE_SETS = {"delexicalised": DELEXICALISED, "words": WORDS, "morphology": MORPHOLOGY}


def compile_family(family: str, templates: FamilyTemplates, attributes: tuple[str, ...]) -> CompiledFamily:
    """Turn the templates of one family into integer programs over sentences encoded with ``attributes``.

    Raises ValueError when an atom names a role that the family does not have, or an attribute that is not
    encoded.
    """
    ordered = (*templates.plain, *templates.placed)
    roles = ROLES[family]
    operations = np.full((len(roles), len(ordered), max(map(len, ordered))), -1, dtype=np.int32)
    for row, template in enumerate(ordered):
        filled = dict.fromkeys(roles, 0)
        for atom in template:
            role, name, offset = _parse(atom, roles, attributes)
            operations[roles.index(role), row, filled[role]] = attributes.index(name) << 8 | (offset + 128)
            filled[role] += 1
    names = [" ".join(template) for template in ordered]
    seeds = [[stable_hash(f"{family} {role} {name}") for name in names] for role in roles]
    return CompiledFamily(operations, np.array(seeds, dtype=np.uint64), len(templates.plain))


def _parse(atom: str, roles: tuple[str, ...], attributes: tuple[str, ...]) -> tuple[str, str, int]:
    """Split an atom into role, attribute and offset, and check them."""
    match = ATOM.match(atom)
    if match is None or match[1] not in roles:
        raise ValueError(f"atom {atom!r} is not ROLE.NAME with one of the roles {', '.join(roles)}")
    role, name, offset = match.groups()
    if name not in ATTRIBUTES or name not in attributes:
        raise ValueError(f"atom {atom!r}: {name!r} is not encoded; encoded are: {', '.join(attributes)}")
    return role, name, int(offset or 0)
