"""Changed copies of sentences; no function changes its argument.

The enhanced graph is in column DEPS of CoNLL-U: the heads of each word with their relations.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from qsproj.conventions import NO_HEAD, Heads, frozen_heads
from qsproj.corpus.cells import COLUMN_COUNT, COLUMN_OF, DEPS, HEAD, MISC, UNSPECIFIED, comment_in
from qsproj.corpus.sentence import Layout, Sentence
from qsproj.corpus.token import ARC_PROBABILITY as ARC_PROBABILITY
from qsproj.corpus.token import Edge, edges_of, other_rows, spelled
from qsproj.progress import notice

NEW_PARAGRAPH = "# newpar"
# Keys in MISC of the probabilities of a word's arc and relation, its tag, all its features given its tag, and
# its edges in DEPS.
RELATION_PROBABILITY = "RelProb"
TAG_PROBABILITY = "TagProb"
FEATURE_PROBABILITY = "FeatProb"
EDGE_PROBABILITY = "DepsProb"


def column_values(sentence: Sentence) -> list[tuple[int, tuple[str, ...]]]:
    """Return (column, its n cells) for the seven columns of a sentence, in the order of CoNLL-U."""
    columns = [(at, getattr(sentence, name)) for name, at in COLUMN_OF.items()]
    heads = [UNSPECIFIED if head == NO_HEAD else str(head) for head in sentence.heads.tolist()[1:]]
    columns.insert(-1, (HEAD, tuple(heads)))
    return columns


def layout_of(sentence: Sentence) -> Layout:
    """Return the layout of a sentence; by default ``sent_id`` and ``text`` comments and plain rows."""
    if sentence.layout is not None:
        return sentence.layout
    comments = [f"# text = {' '.join(sentence.forms)}"]
    if sentence.sent_id is not None:
        comments.insert(0, f"# sent_id = {sentence.sent_id}")
    numbers = (str(word) for word in range(1, len(sentence) + 1))
    unspecified = (UNSPECIFIED,) * len(sentence)
    columns = [numbers, *(values for _, values in column_values(sentence)), unspecified, unspecified]
    lines = (*comments, *map("\t".join, zip(*columns, strict=True)))
    return Layout(lines=lines, word_lines=tuple(range(len(comments), len(lines))))


def with_heads(sentence: Sentence, heads: ArrayLike, deprels: Iterable[str] | None = None) -> Sentence:
    """Return the sentence with new heads, int[n+1], copied, and, unless None, n new relations.

    Does not check that the heads form a tree. Raises ValueError for a wrong length or a head out of range.
    """
    array = frozen_heads(heads)
    if array.size != len(sentence) + 1:
        raise ValueError(f"heads have shape {array.shape}, expected ({len(sentence) + 1},)")
    without = without_misc(sentence, ARC_PROBABILITY, RELATION_PROBABILITY)
    return with_columns(replace(without, heads=array), deprels=deprels)


def with_predicted_heads(sentence: Sentence, heads: ArrayLike, deprels: Iterable[str]) -> Sentence:
    """Return the sentence as :func:`with_heads`, with DEPS emptied, as it belongs to the old heads."""
    return with_tree(sentence, frozen_heads(heads), tuple(deprels))


def without_tree(sentence: Sentence) -> Sentence:
    """Return the sentence without heads and relations, and without DEPS."""
    return with_predicted_heads(sentence, [NO_HEAD] * (len(sentence) + 1), [UNSPECIFIED] * len(sentence))


def with_tree(sentence: Sentence, heads: Heads, deprels: tuple[str, ...]) -> Sentence:
    """Return the sentence as :func:`with_predicted_heads`, for valid heads that are no longer written to."""
    bare = without_misc(sentence, ARC_PROBABILITY, RELATION_PROBABILITY)
    heads.flags.writeable = False
    layout = bare.layout
    if layout is not None and has_deps(bare):
        layout = _with_deps(layout, [UNSPECIFIED] * len(layout.lines))
    return replace(bare, deprels=deprels, heads=heads, layout=layout)


def has_deps(sentence: Sentence) -> bool:
    """Return whether a word, or an empty node, has DEPS."""
    return sentence.layout is not None and any(map(_states_deps, sentence.layout.lines))


def _states_deps(line: str) -> bool:
    """Return whether a line is a row with DEPS."""
    # The first test is the fastest, and true of most rows.
    return not (line.endswith("\t_\t_") or line[0] == "#" or line.rpartition("\t")[0].endswith("\t_"))


def _with_deps(layout: Layout, cells: Iterable[str]) -> Layout:
    """Return a layout with new DEPS; ``cells``: one for each line, not used in comments."""
    lines = list(layout.lines)
    for at, (line, cell) in enumerate(zip(layout.lines, cells, strict=True)):
        if line[0] != "#":
            row, _, misc = line.rsplit("\t", 2)
            lines[at] = f"{row}\t{cell}\t{misc}"
    return replace(layout, lines=tuple(lines))


def with_columns(
    sentence: Sentence,
    *,
    lemmas: Iterable[str] | None = None,
    upos: Iterable[str] | None = None,
    xpos: Iterable[str] | None = None,
    feats: Iterable[str] | None = None,
    deprels: Iterable[str] | None = None,
) -> Sentence:
    """Return the sentence with new columns, n cells each."""
    given = {"lemmas": lemmas, "upos": upos, "xpos": xpos, "feats": feats, "deprels": deprels}
    columns: Any = {name: tuple(cells) for name, cells in given.items() if cells is not None}
    return replace(sentence, **columns)


def with_forms(sentence: Sentence, forms: Sequence[str]) -> Sentence:
    """Return the sentence with other words, n of them, and the same tokens in its text."""
    return sentence if forms == sentence.forms else replace(sentence, forms=tuple(forms))


# The probabilities in MISC that become invalid when a column is replaced.
_STALE = {
    "heads": (ARC_PROBABILITY, RELATION_PROBABILITY),
    "deprels": (RELATION_PROBABILITY,),
    "upos": (TAG_PROBABILITY,),
    "feats": (FEATURE_PROBABILITY,),
}


def replaced(sentence: Sentence, values: Mapping[str, Any], rows: Mapping[int, Sequence[str]]) -> Sentence:
    """Return a sentence with new fields and layout cells, without MISC probabilities of replaced fields."""
    stale = [key for name in values for key in _STALE.get(name, ())]
    changed = replace(without_misc(sentence, *stale), **values)
    if rows:
        changed = with_layout_cells(changed, rows)
    # The default text of words has a space between any two, so a new SpaceAfter needs a text comment.
    return with_comment(changed, "text", spelled(changed)) if rows and sentence.layout is None else changed


def layout_cells(sentence: Sentence, column: int) -> list[str]:
    """Return the n cells of a column that is stored only in the layout."""
    if sentence.layout is None:
        return [UNSPECIFIED] * len(sentence)
    lines, from_end = sentence.layout.lines, COLUMN_COUNT - column
    return [lines[at].rstrip("\r").rsplit("\t", from_end)[-from_end] for at in sentence.layout.word_lines]


def with_layout_cells(sentence: Sentence, columns: Mapping[int, Sequence[str]]) -> Sentence:
    """Return the sentence with new cells, n each, in columns stored only in its layout."""
    layout = layout_of(sentence)
    lines, from_end = list(layout.lines), COLUMN_COUNT - min(columns)
    for word, at in enumerate(layout.word_lines):
        bare = lines[at].rstrip("\r")
        cells = bare.rsplit("\t", from_end)
        for column, values in columns.items():
            cells[column - COLUMN_COUNT] = values[word]
        lines[at] = "\t".join(cells) + lines[at][len(bare) :]
    return replace(sentence, layout=replace(layout, lines=tuple(lines)))


def comment_value(sentence: Sentence, key: str) -> str | None:
    """Return the value of the first comment ``# key = value``, None without one, empty for ``# key``."""
    if sentence.layout is None:
        return sentence.sent_id if key == "sent_id" else None
    found = comment_in(sentence.layout.lines, key)
    return None if found is None else found[1]


def begins_paragraph(sentence: Sentence) -> bool:
    """Return whether a sentence is the first of a paragraph (``# newpar``), as after a blank line of text."""
    layout = sentence.layout
    return layout is not None and any(line.startswith(NEW_PARAGRAPH) for line in layout.lines)


def with_comment(sentence: Sentence, key: str, value: str) -> Sentence:
    """Return the sentence with a comment ``# key = value``, replacing an older one or added last."""
    text = f"# {key} = {value}"
    layout = layout_of(sentence)
    found = comment_in(layout.lines, key)
    if found is not None:
        lines = (*layout.lines[: found[0]], text, *layout.lines[found[0] + 1 :])
        return replace(sentence, layout=replace(layout, lines=lines))
    at = next(i for i, line in enumerate(layout.lines) if not line.startswith("#"))
    word_lines = tuple(line + 1 for line in layout.word_lines)
    lines, first = (*layout.lines[:at], text, *layout.lines[at:]), layout.line
    first = None if first is None else first - 1  # the words stay where they are in the file
    return replace(sentence, layout=replace(layout, lines=lines, word_lines=word_lines, line=first))


def line_of(sentence: Sentence, word: int = 0) -> int | None:
    """Return the line in its file of a sentence, or of its word 1..n; None if it was not read from a file."""
    layout = sentence.layout
    if layout is None or layout.line is None:
        return None
    return layout.line + layout.word_lines[word - 1] if word else max(layout.line, 1)


def misc_values(sentence: Sentence, key: str) -> tuple[str | None, ...]:
    """Return the value of ``key=value`` in MISC for each of the n words, None without the key."""
    start = f"|{key}="
    found = (f"|{cell}".partition(start) for cell in layout_cells(sentence, MISC))
    return tuple([rest.partition("|")[0] if has else None for _, has, rest in found])


def with_misc(sentence: Sentence, key: str, values: Sequence[str | None]) -> Sentence:
    """Return the sentence with ``key=value`` in MISC of its n words, None to leave that of a word unchanged.

    Values are without tabs, line ends and ``|``.
    """
    cells = layout_cells(sentence, MISC)
    for at, (cell, value) in enumerate(zip(cells, values, strict=True)):
        if value is not None and cell == UNSPECIFIED:
            cells[at] = f"{key}={value}"
        elif value is not None:
            items = cell.split("|")
            keys = [item.partition("=")[0] for item in items]
            place = keys.index(key) if key in keys else len(keys)
            items[place : place + 1] = [f"{key}={value}"]
            cells[at] = "|".join(items)
    return with_layout_cells(sentence, {MISC: cells})


def without_misc(sentence: Sentence, *keys: str, words: Iterable[int] | None = None) -> Sentence:
    """Return the sentence without ``KEY=...`` in MISC of ``words`` (1..n; None: all), for each key."""
    starts = tuple(f"{key}=" for key in keys)
    text = "" if sentence.layout is None else "\n".join(sentence.layout.lines)
    if not any(start in text for start in starts):
        return sentence
    cells = layout_cells(sentence, MISC)
    for word in range(1, len(cells) + 1) if words is None else words:
        kept = [item for item in cells[word - 1].split("|") if not item.startswith(starts)]
        cells[word - 1] = "|".join(kept) or UNSPECIFIED
    return with_layout_cells(sentence, {MISC: cells})


def with_probabilities(sentence: Sentence, key: str, probabilities: ArrayLike) -> Sentence:
    """Return the sentence with n probabilities in MISC, to four decimals, within 0..1."""
    return with_misc(sentence, key, [f"{p:.4f}" for p in np.clip(probabilities, 0.0, 1.0).tolist()])


Graph = tuple[tuple[Edge, ...], ...]  # the edges into each of the n words, in the order of DEPS
THROUGH = ">"  # between the relations of a path through an empty node, as in IWPT 2021


def has_graph(sentence: Sentence) -> bool:
    """Return whether any word has DEPS."""
    return any(graph_of(sentence))


def graph_of(sentence: Sentence) -> Graph:
    """Return the edges into each word, including those from empty nodes."""
    return tuple(map(edges_of, layout_cells(sentence, DEPS)))


def collapsed_graph(sentence: Sentence) -> Graph:
    """Return the edges into each word, with paths through empty nodes as single edges of joined relations.

    *Source*: the evaluation of IWPT 2021, which compares graphs with and without empty nodes in this way.
    """
    empty = {cells[0]: edges_of(cells[DEPS]) for cells in other_rows(sentence, ".")}

    def paths(edge: Edge, passed: tuple[str, ...]) -> set[Edge]:
        head, relation = edge
        if head not in empty:
            return {edge}
        return {
            (above, f"{first}{THROUGH}{relation}")
            for upper in empty[head]
            if head not in passed
            for above, first in paths(upper, (*passed, head))
        }

    words = graph_of(sentence)
    return tuple(tuple(sorted({found for edge in edges for found in paths(edge, ())})) for edges in words)


def order_of(edge: Edge) -> tuple[list[int], str]:
    """Return the key by which edges of DEPS are sorted: 8 and 8.1 before 10; an empty head comes first."""
    head, relation = edge
    return [int(part) for part in head.split(".") if head], relation


def with_graph(sentence: Sentence, graph: Sequence[Sequence[Edge]]) -> Sentence:
    """Return the sentence with new edges into its words, sorted by head; empty nodes are kept."""
    cells = ["|".join(map(":".join, sorted(edges, key=order_of))) or UNSPECIFIED for edges in graph]
    return with_layout_cells(sentence, {DEPS: cells})


def with_kept_deps(parsed: Sentence, given: Sentence) -> Sentence:
    """Return a parsed sentence with its own DEPS if its tree was given whole, as DEPS still belongs to it.

    Probabilities of predicted edges are left out.
    """
    same = parsed.heads.tolist() == given.heads.tolist() and parsed.deprels == given.deprels
    if not same or not has_deps(given):
        return parsed
    lines = layout_of(given).lines
    cells = (line if line[0] == "#" else line.rsplit("\t", 2)[1] for line in lines)
    return without_misc(replace(parsed, layout=_with_deps(layout_of(parsed), cells)), EDGE_PROBABILITY)


def _edges_of_empty_nodes(sentence: Sentence) -> int:
    return sum(len(node.deps) for node in sentence.empty_nodes)


def warn_emptied(
    change: Callable[[Iterator[Sentence]], Iterable[Sentence]], sentences: Iterable[Sentence], name: str
) -> Iterator[Sentence]:
    """Yield sentences with the new trees of ``change``; one notice at the end if old DEPS were emptied."""
    taken = given = kept = emptied = 0
    lost, edges = False, 0  # edges: of the empty nodes, those taken and not yet returned

    def watched() -> Iterator[Sentence]:
        nonlocal taken, given, edges
        for sentence in sentences:
            if not lost:
                taken, given = taken + 1, given + has_deps(sentence)
                edges += _edges_of_empty_nodes(sentence) if given else 0
            yield sentence

    for sentence in change(watched()):
        if given and not lost:  # none can be lost before, and one is enough
            has = has_deps(sentence)
            kept, emptied = kept + has, emptied + (not has)
            lost = given == taken and not has
            edges -= _edges_of_empty_nodes(sentence)
        yield sentence
    of_nodes = "empty nodes without DEPS are not valid in UD"
    if lost or (emptied and given > kept):
        more = f"; {of_nodes}" if edges else ""
        notice(f"{name}: DEPS belongs to the trees that are replaced, and is left empty{more}")
    elif edges > 0:
        notice(f"{name}: the new DEPS have no edges to empty nodes, which stay; {of_nodes}")
