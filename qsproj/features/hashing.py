"""Features as numbers: hashes of strings, equal on every machine, and an index without collisions."""

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from hashlib import blake2b

import numpy as np

from qsproj.conventions import Hashes, Numbers
from qsproj.errors import UsageError, unknown_name
from qsproj.kernels.tagging.tag_features import fill_table, find_rows

MOST_REMEMBERED = 1 << 19


@lru_cache(maxsize=MOST_REMEMBERED)
def stable_hash(text: str) -> int:
    """Hash ``text`` to 0..2**64 - 1 (BLAKE2b, first eight bytes). Unlike ``hash``, never salted."""
    return int.from_bytes(blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "little")


def hashes_of(texts: Iterable[str]) -> Hashes:
    return np.array([stable_hash(text) for text in texts], dtype=np.uint64)


Template = tuple[str, ...]


def templates_of(text: str) -> tuple[Template, ...]:
    """Parse templates separated by semicolons, with atoms separated by commas."""
    rows = (row.split(",") for row in text.split(";"))
    return tuple(tuple(atom.strip() for atom in row if atom.strip()) for row in rows)


_PLACED_ATOM = re.compile(r"([a-z]+)\.([a-z]+(?:\.[a-z]+)?)([+-]\d)?")


def operations_of(templates: Sequence[Template], roles: Sequence[str], columns: Sequence[str]) -> Numbers:
    """Return the program of :func:`qsproj.kernels.features.arc_features.position_parts` for each role.

    int32[R, T, W]; atoms are ``ROLE.COLUMN`` with an optional offset (``+1``); ValueError for others.
    """
    operations = np.full((len(roles), len(templates), max(map(len, templates))), -1, dtype=np.int32)
    for row, template in enumerate(templates):
        for atom in template:
            match = _PLACED_ATOM.fullmatch(atom)
            if match is None or match[1] not in roles or match[2] not in columns:
                raise ValueError(f"atom {atom!r} is not one of {', '.join(roles)} with one of {columns}")
            of_role = operations[roles.index(match[1]), row]
            of_role[of_role.tolist().index(-1)] = columns.index(match[2]) << 8 | (int(match[3] or 0) + 128)
    return operations


_ATOM = re.compile(r"(?P<name>[a-z]+[0-9]*)(?P<distance>[-+][0-9]+)?")


def pair_templates(templates: Sequence[str], known: Sequence[str]) -> Numbers:
    """Return int32[K, 4]: attribute, distance, second or -1, distance; UsageError for bad ones."""
    rows = []
    for template in templates:
        row = []
        for atom in template.split(" & "):
            match = _ATOM.fullmatch(atom)
            if match is None or match["name"] not in known:
                raise unknown_name("attribute of the tagger", atom, known)
            row += [known.index(match["name"]), int(match["distance"] or 0)]
        if len(row) > 4:
            raise UsageError(f"template {template!r} joins more than two attributes")
        rows.append(row + [-1, 0] * (2 - len(row) // 2))
    return np.array(rows, dtype=np.int32)


def commonest(keys: Hashes, most: int, *, least: int = 1) -> Hashes:
    """Return the ``most`` features, ascending and not 0, that occur ``least`` times or more."""
    distinct, counts = np.unique(keys[keys != 0], return_counts=True)
    while np.count_nonzero(counts >= least) > most:
        least += 1
    return distinct[counts >= least]


class FeatureIndex:
    """The features of the training data, as rows 0..R-1: an open-addressing table of 64-bit keys."""

    def __init__(self, keys: Hashes) -> None:
        self.keys = keys
        # Two to four slots per key, so that a look-up takes one or two steps.
        n_slots = 1 << (2 * max(len(keys), 1)).bit_length()
        self._slots = np.zeros(n_slots, dtype=np.uint64)
        self._rows = np.zeros(n_slots, dtype=np.int32)
        fill_table(keys, self._slots, self._rows)

    def rows(self, keys: Hashes) -> Numbers:
        """Return the row of each key, int32[n, K]; -1 for one unseen in training."""
        found = np.empty(keys.shape, dtype=np.int32)
        find_rows(keys, self._slots, self._rows, found)
        return found
