"""The ten columns of CoNLL-U, and functions for the cells, rows and comments of a sentence."""

from collections.abc import Mapping, Sequence

COLUMN_NAMES = ("ID", "FORM", "LEMMA", "UPOS", "XPOS", "FEATS", "HEAD", "DEPREL", "DEPS", "MISC")
FORM, LEMMA, UPOS, XPOS, FEATS, HEAD, DEPREL, DEPS, MISC = range(1, 10)
COLUMN_COUNT = len(COLUMN_NAMES)
# Columns that a sentence holds as tuples of cells, by their names there.
COLUMN_OF = {"forms": FORM, "lemmas": LEMMA, "upos": UPOS, "xpos": XPOS, "feats": FEATS, "deprels": DEPREL}
UNSPECIFIED = "_"
OUTSIDE = ""  # a cell of the places between sentences that are read as one
UNIVERSAL_TAGS = (
    *("ADJ", "ADP", "ADV", "AUX", "CCONJ", "DET", "INTJ", "NOUN", "NUM"),
    *("PART", "PRON", "PROPN", "PUNCT", "SCONJ", "SYM", "VERB", "X"),
)
UNIVERSAL_RELATIONS = frozenset(
    """
    acl advcl advmod amod appos aux case cc ccomp clf compound conj cop csubj dep det discourse dislocated
    expl fixed flat goeswith iobj list mark nmod nsubj nummod obj obl orphan parataxis punct reparandum root
    vocative xcomp
    """.split()  # noqa: SIM905
)


def comment_in(lines: Sequence[str], key: str) -> tuple[int, str] | None:
    """Return (index, value) of the first comment ``# key = value`` or ``# key``, None if there is none."""
    for index, line in enumerate(lines):
        if line.startswith("#") and key in line:
            name, _, value = line[1:].partition("=")
            if name.strip() == key:
                return index, value.strip()
    return None


def items_of(cell: str) -> dict[str, str | None]:
    """Return the items of a cell of FEATS or MISC, None for one without ``=``; the first of equal keys."""
    items: dict[str, str | None] = {}
    for item in () if cell == UNSPECIFIED else cell.split("|"):
        key, equals, value = item.partition("=")
        items.setdefault(key, value if equals else None)
    return items


def cell_from(items: Mapping[str, str | None]) -> str:
    """Undo :func:`items_of`."""
    return "|".join(key if value is None else f"{key}={value}" for key, value in items.items()) or UNSPECIFIED


def bare_relation(relation: str) -> str:
    """Return a relation without its subtype: ``obl`` for ``obl:arg``."""
    return relation.partition(":")[0]
