"""Enhanced dependencies, column DEPS of CoNLL-U: the heads of each word with their relations."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace

from qsproj.corpus.cells import DEPS, UNSPECIFIED, Edge, edges_of, order_of
from qsproj.corpus.editing import has_deps, layout_cells, layout_of, with_layout_cells
from qsproj.corpus.sentence import Sentence
from qsproj.corpus.token import other_rows
from qsproj.progress import notice

# The edges into each of the n words, in the order of DEPS.
Graph = tuple[tuple[Edge, ...], ...]
# Separator of the relations of a path through an empty node, as in IWPT 2021.
THROUGH = ">"


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


def with_graph(sentence: Sentence, graph: Sequence[Sequence[Edge]]) -> Sentence:
    """Return the sentence with new edges into its words, sorted by head; empty nodes are kept."""
    cells = ["|".join(map(":".join, sorted(edges, key=order_of))) or UNSPECIFIED for edges in graph]
    return with_layout_cells(sentence, {DEPS: cells})


def with_deps_of(sentence: Sentence, other: Sentence) -> Sentence:
    """Return the sentence with the DEPS of another one with the same rows, also those of empty nodes."""
    layout = layout_of(sentence)
    lines = list(layout.lines)
    for at, (line, like) in enumerate(zip(layout.lines, layout_of(other).lines, strict=True)):
        if line[0] != "#":
            row, _, misc = line.rsplit("\t", 2)
            lines[at] = "\t".join((row, like.rsplit("\t", 2)[1], misc))
    return replace(sentence, layout=replace(layout, lines=tuple(lines)))


def warn_emptied(
    change: Callable[[Iterator[Sentence]], Iterable[Sentence]], sentences: Iterable[Sentence], name: str
) -> Iterator[Sentence]:
    """Yield sentences with the new trees of ``change``; one notice at the end if old DEPS were emptied."""
    given = kept = emptied = 0

    def watched() -> Iterator[Sentence]:
        nonlocal given
        for sentence in sentences:
            given += has_deps(sentence)
            yield sentence

    for sentence in change(watched()):
        kept += has_deps(sentence)
        emptied += not has_deps(sentence)
        yield sentence
    if emptied and given > kept:
        notice(f"{name}: DEPS belongs to the trees that are replaced, and is left empty")
