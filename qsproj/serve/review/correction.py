"""Replacement of a sentence's tree: validity checks, and updates of the other columns."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, compress
from unicodedata import category

import numpy as np

from qsproj.conventions import NO_HEAD, ROOT, frozen_heads
from qsproj.corpus import editing
from qsproj.corpus.cells import (
    COLUMN_NAMES,
    DEPS,
    FEATS,
    LEMMA,
    MISC,
    UNSPECIFIED,
    UPOS,
    XPOS,
    bare_relation,
    comment_in,
)
from qsproj.corpus.conllu_faults import head_fault
from qsproj.corpus.messages import probability_in
from qsproj.corpus.sentence import Sentence
from qsproj.corpus.token import edges_of, other_rows
from qsproj.errors import UsageError, check_name

REVIEWED, DECIDED, YES = "Reviewed", "Decided", "Yes"
_RELATION = re.compile(r"[^\s|]{1,80}")


@dataclass(frozen=True, slots=True)
class Tree:
    """A tree from an annotator: heads of words 1..n, 0 for the root, and n relations."""

    heads: tuple[int, ...]
    relations: tuple[str, ...]


def tree_of(sentence: Sentence) -> Tree:
    return Tree(tuple(sentence.heads.tolist()[1:]), sentence.deprels)


def is_text(text: str) -> bool:
    """Return whether a text fits a line: no control characters, line breaks, lone surrogates."""
    return not any(category(character) in ("Cc", "Cs", "Zl", "Zp") for character in text)


def check_relation(relation: str, where: str = "") -> None:
    if not _RELATION.fullmatch(relation) or not is_text(relation) or relation == UNSPECIFIED:
        raise UsageError(f"found relation {relation!r}{where}, expected a name without spaces or |")


def check_tree(tree: Tree, words: int, *, known: tuple[str, ...] = ()) -> None:
    """Raise UsageError unless a tree is valid: no cycles, one root, a relation on each arc.

    ``known``: the previous relations of the words, which are not checked again.
    """
    if len(tree.heads) != words or len(tree.relations) != words:
        sizes = f"{len(tree.heads)} heads and {len(tree.relations)} relations"
        raise UsageError(f"found {sizes} for {words} words, expected one of each for every word")
    for word, head in enumerate(tree.heads, start=1):
        if not ROOT <= head <= words:
            raise UsageError(f"found head {head} of word {word}, expected 0 to {words}; choose another")
    fault = head_fault(tuple(map(str, tree.heads)), (NO_HEAD, *tree.heads))
    if fault is not None:
        raise UsageError(f"found {fault.found}, expected {fault.expected}; {fault.remedy}")
    roots = [word for word, head in enumerate(tree.heads, start=1) if head == ROOT]
    if len(roots) != 1:
        raise UsageError(f"found roots {', '.join(map(str, roots))}, expected one; move all others")
    for word, relation in enumerate(tree.relations, start=1):
        if known[word - 1 : word] != (relation,) or relation == UNSPECIFIED:
            check_relation(relation, f" of word {word}")


def doubt_about(tree: Tree, upos: Sequence[str], others: Iterable[Sentence]) -> str | None:
    """Return a warning about a word without a tag among others, or about an unusual relation of the root."""
    if UNSPECIFIED in upos and set(upos) != {UNSPECIFIED}:
        return f"word {upos.index(UNSPECIFIED) + 1} has no tag"
    pairs = chain.from_iterable(zip(one.heads.tolist()[1:], one.deprels, strict=True) for one in others)
    roots = Counter(relation for head, relation in pairs if head == ROOT)
    del roots[UNSPECIFIED]
    root_relation = min(roots, key=lambda relation: (-roots[relation], relation), default="root")
    for word, (head, relation) in enumerate(zip(tree.heads, tree.relations), start=1):
        is_root, is_named_so = head == ROOT, bare_relation(relation) == bare_relation(root_relation)
        if is_root and not is_named_so:
            return f"word {word} is the root, with relation {relation}, not {root_relation}"
        if is_named_so and not is_root:
            return f"word {word} has relation {relation}, and is not the root"
    return None


_FEATS = r"_|[^\s=|]+=[^\s=|]+(\|[^\s=|]+=[^\s=|]+)*"
_DEPS = r"_|\d+(\.\d+)?:[^\s|]+(\|\d+(\.\d+)?:[^\s|]+)*"
# Editable columns beside the tree: the format of a cell, and its description in errors.
CELLS = {
    "lemmas": (LEMMA, r"[^\t\r\n]+", "a lemma, or _"),
    "upos": (UPOS, r"\S+", "a tag without spaces"),
    "xpos": (XPOS, r"\S+", "a tag without spaces"),
    "feats": (FEATS, _FEATS, "Name=Value|Name=Value, or _"),
    "deps": (DEPS, _DEPS, "head:relation|head:relation, or _"),
    "misc": (MISC, r"[^\t\r\n]+", "text without tabs, or _"),
}
# Columns that a parser learns only from reviewed sentences in which a person has changed one of their cells,
# and their names in the comment CHECKED.
CHECKABLE, CHECKED = {"lemmas": "LEMMA", "feats": "FEATS"}, "checked"
# Least share of a tag's words with a feature, for a word with a new tag to keep it; least number of words.
USUAL, ENOUGH = 0.05, 20
_PROBABILITY_OF = {"upos": editing.TAG_PROBABILITY, "feats": editing.FEATURE_PROBABILITY}


def cells(sentence: Sentence, name: str) -> tuple[str, ...]:
    if name in ("deps", "misc"):
        return tuple(editing.layout_cells(sentence, CELLS[name][0]))
    return getattr(sentence, name)


def with_cells(sentence: Sentence, columns: Mapping[str, Sequence[str]]) -> Sentence:
    """Return the sentence with replaced columns of CELLS; features are sorted by name.

    Probabilities of replaced cells are removed from MISC. Raises UsageError for an invalid cell.
    """
    for name, given in columns.items():
        check_name("column", name, CELLS)
        column, pattern, expected = CELLS[name]
        if len(given) != len(sentence):
            raise UsageError(f"found {len(given)} cells of {name} for {len(sentence)} words")
        changed = _differing(cells(sentence, name), given)
        for word in changed:
            cell = given[word - 1]
            if not re.fullmatch(pattern, cell) or not is_text(cell):
                where = f"{COLUMN_NAMES[column]} of word {word}"
                raise UsageError(f"found {cell!r} in {where}, expected {expected}")
        if name == "deps":
            heads = {*map(str, range(len(sentence) + 1)), *(row[0] for row in other_rows(sentence, "."))}
            edges = ((word, head) for word in changed for head, _ in edges_of(given[word - 1]))
            for word, head in edges:
                if head not in heads:
                    expected = f"0 to {len(sentence)}, or an empty node"
                    raise UsageError(f"found head {head} in DEPS of word {word}, expected {expected}")
        if name == "feats":
            for word in changed:
                cell = given[word - 1]
                features = _names_in(cell)
                if len({*features}) < len(features):
                    expected = "each feature once, with commas between its values: Case=Acc,Nom"
                    raise UsageError(f"found {cell!r} in FEATS of word {word}, expected {expected}")
            pairs = (sorted(one.split("|"), key=lambda pair: pair.partition("=")[0].lower()) for one in given)
            given = list(map("|".join, pairs))
        if name in ("deps", "misc"):
            sentence = editing.with_layout_cells(sentence, {column: given})
        else:
            sentence = editing.with_columns(sentence, **{name: given})
        if name in _PROBABILITY_OF:
            sentence = editing.without_misc(sentence, _PROBABILITY_OF[name], words=changed)
    return sentence


# The columns that a person decides cell by cell in a draft, and their names in MISC (``Decided=UPOS,HEAD``).
DECIDABLE = {"upos": "UPOS", "heads": "HEAD", "relations": "DEPREL"}
Decided = Mapping[str, Sequence[bool]]  # by column of DECIDABLE: whether words 1..n are decided


def with_tree(sentence: Sentence, tree: Tree, *, decided: Decided | None = None) -> Sentence:
    """Return a sentence with another tree, marked in MISC as reviewed, or with the cells ``decided``.

    ``ArcProb=`` is kept where the arc is unchanged, ``RelProb=`` where arc and relation are. UsageError
    unless the tree is valid; a draft may keep an invalid one.
    """
    old = tree_of(sentence)
    if decided is None or tree != old:
        check_tree(tree, len(sentence), known=old.relations)
    corrected = editing.without_misc(_with_rows(sentence, tree), DECIDED)
    if decided is None:
        return editing.with_misc(corrected, REVIEWED, [YES] * len(sentence))
    if set(decided) != set(DECIDABLE) or any(len(cells) != len(sentence) for cells in decided.values()):
        raise UsageError(f"found other cells than {len(sentence)} each of {', '.join(DECIDABLE)}")
    marks = zip(*(decided[column] for column in DECIDABLE), strict=True)
    names = [",".join(compress(DECIDABLE.values(), cells)) or None for cells in marks]
    return editing.with_misc(corrected, DECIDED, names)


def _with_rows(sentence: Sentence, tree: Tree) -> Sentence:
    old = tree_of(sentence)
    moved = _differing(old.heads, tree.heads)
    changed = sorted({*moved, *_differing(old.relations, tree.relations)})
    sentence = editing.without_misc(sentence, editing.ARC_PROBABILITY, words=moved)
    sentence = editing.without_misc(sentence, editing.RELATION_PROBABILITY, words=changed)
    return replace(sentence, heads=frozen_heads([NO_HEAD, *tree.heads]), deprels=tree.relations)


def decided_cells(sentence: Sentence) -> dict[str, tuple[bool, ...]]:
    """Return which cells of DECIDABLE a person has decided; all of a reviewed sentence."""
    if is_reviewed(sentence):
        return dict.fromkeys(DECIDABLE, (True,) * len(sentence))
    marks = [(value or "").split(",") for value in editing.misc_values(sentence, DECIDED)]
    return {column: tuple(name in own for own in marks) for column, name in DECIDABLE.items()}


def certain(sentence: Sentence) -> Sentence:
    """Return the sentence with the cells that a person has decided; others are ``_`` and -1."""
    cells = decided_cells(sentence)
    upos, relations = (
        [cell if stays else UNSPECIFIED for cell, stays in zip(own, cells[column], strict=True)]
        for column, own in (("upos", sentence.upos), ("relations", sentence.deprels))
    )
    heads = np.where([False, *cells["heads"]], sentence.heads, NO_HEAD)
    return replace(editing.with_columns(sentence, upos=upos, deprels=relations), heads=frozen_heads(heads))


def _differing(first: Iterable[object], second: Iterable[object]) -> list[int]:
    cells = enumerate(zip(first, second, strict=True), start=1)
    return [word for word, (one, other) in cells if one != other]


def is_reviewed(sentence: Sentence) -> bool:
    return set(editing.misc_values(sentence, REVIEWED)) == {YES}


def checked_columns(sentence: Sentence) -> frozenset[str]:
    """Return the columns of CHECKABLE in which a person has changed a cell."""
    found = comment_in(sentence.layout.lines if sentence.layout else (), CHECKED)
    names = found[1].split() if found else ()
    return frozenset(column for column, name in CHECKABLE.items() if name in names)


def with_checked(sentence: Sentence, columns: Iterable[str]) -> Sentence:
    """Return a sentence with these columns of CHECKABLE noted as checked, beside those that are."""
    checked = checked_columns(sentence).union(columns)
    names = [name for column, name in CHECKABLE.items() if column in checked]
    return editing.with_comment(sentence, CHECKED, " ".join(names)) if names else sentence


def with_usual_features(
    feats: Sequence[str], tags: Sequence[str], old_tags: Sequence[str], others: Iterable[Sentence]
) -> tuple[str, ...]:
    """Return features without those that are rare in ``others`` with a word's tag, where it is a new one.

    Of tags with fewer than ENOUGH words, no feature is rare.
    """
    changed = [at for at, tag in enumerate(tags) if tag != old_tags[at] and feats[at] != UNSPECIFIED]
    if not changed:
        return tuple(feats)
    wanted = {tags[at] for at in changed}
    rows = chain.from_iterable(zip(one.upos, one.feats, strict=True) for one in others)
    words, named = Counter[str](), defaultdict[str, Counter[str]](Counter)
    for (tag, cell), count in Counter(row for row in rows if row[0] in wanted).items():
        words[tag] += count
        named[tag].update(dict.fromkeys(_names_in(cell), count))
    result = list(feats)
    for at in changed:
        counts, total = named[tags[at]], words[tags[at]]
        if total >= ENOUGH:
            pairs = zip(feats[at].split("|"), _names_in(feats[at]), strict=True)
            kept = [pair for pair, name in pairs if counts[name] > USUAL * total]
            result[at] = "|".join(kept) or UNSPECIFIED
    return tuple(result)


def _names_in(cell: str) -> list[str]:
    return [] if cell == UNSPECIFIED else [one.partition("=")[0] for one in cell.split("|")]


BELIEVED = ("upos", *CHECKABLE)


@dataclass(frozen=True, slots=True)
class Belief:
    """A tree, the probability of each of its arcs or None, and the tags, lemmas and features of words."""

    tree: Tree
    chances: tuple[float | None, ...]
    upos: Sequence[str]
    lemmas: Sequence[str]
    feats: Sequence[str]

    @property
    def columns(self) -> dict[str, Sequence[str]]:
        return {name: getattr(self, name) for name in BELIEVED}


def belief_of(sentence: Sentence) -> Belief:
    columns = {name: getattr(sentence, name) for name in BELIEVED}
    return Belief(tree_of(sentence), chances(sentence, editing.ARC_PROBABILITY), **columns)


def with_belief(sentence: Sentence, belief: Belief) -> Sentence:
    """Return the sentence with the cells and arc probabilities of a belief: the inverse of belief_of."""
    sentence = _with_rows(with_cells(sentence, belief.columns), belief.tree)
    sentence = editing.without_misc(sentence, editing.ARC_PROBABILITY)
    texts = [None if chance is None else f"{chance:.4f}" for chance in belief.chances]
    return editing.with_misc(sentence, editing.ARC_PROBABILITY, texts)


def chances(sentence: Sentence, key: str) -> tuple[float | None, ...]:
    return tuple(probability_in(value or "") for value in editing.misc_values(sentence, key))


def unsureness(chances: Sequence[float | None]) -> float:
    """Return the expected number of wrong arcs per unit of reading cost of a sentence."""
    # Arcs without a probability count as right. The cost is that of ``qsproj suggest``.
    return sum(1.0 - chance for chance in chances if chance is not None) / (len(chances) + 2.0)
