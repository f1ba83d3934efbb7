"""A stored joint model over a stream of sentence pairs, by one process or several."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from itertools import islice

from qsproj.corpus.sentence import SentencePair
from qsproj.errors import UsageError
from qsproj.models.arc.arc_parser import ArcParser
from qsproj.models.graph.graph_parser import GraphParser
from qsproj.models.joint.joint_parser import JointParser, ParsedPair
from qsproj.models.joint.joint_trees import TreeParser
from qsproj.models.storage import load_model_of
from qsproj.parallel import THIS_PROCESS, Workers, map_in_order
from qsproj.pipelines.bilingual.biparse import parse_pairs
from qsproj.pipelines.bilingual.biparse_reports import ParsingCounts
from qsproj.pipelines.streams import loaded_once

# A pair takes much longer than a sentence alone, so that a few are worth being sent away.
BLOCK_PAIRS = 16

ParsedBlock = tuple[list[ParsedPair], UsageError | None]


def parse_pair_stream(
    model: str,
    pairs: Iterable[SentencePair],
    *,
    source_tree: str | None = None,
    link_threshold: float | None = None,
    counts: ParsingCounts | None = None,
    workers: Workers = THIS_PROCESS,
) -> Iterator[ParsedPair]:
    """Yield each pair parsed, in their order, as :func:`.biparse.parse_pairs` parses it."""
    # Here, too, though it may be others who use it: what is wrong with the file is to be told at once.
    loaded_once(load_joint_parser, model)
    on_block = partial(_parse_block, model, source_tree, link_threshold)
    return _parsed(on_block, pairs, ParsingCounts() if counts is None else counts, workers)


def load_joint_parser(path: str) -> JointParser:
    """Read a joint parser from a file."""
    return load_model_of(
        path, JointParser, expected="a joint parser", remedy="train one: qsproj biparse train"
    )


# What the joint model goes on from.
TREE_PARSER = "a parser of order 1 or 2, trained without --labels joint and --objective hidden"


def load_tree_parser(path: str) -> TreeParser:
    """Read a parser of one side from a file."""
    kinds: tuple[type[TreeParser], ...] = (ArcParser, GraphParser)
    return load_model_of(path, kinds, expected=TREE_PARSER, remedy="train one: qsproj train")


def _parsed(
    on_block: Callable[[list[SentencePair]], ParsedBlock],
    pairs: Iterable[SentencePair],
    counts: ParsingCounts,
    workers: Workers,
) -> Iterator[ParsedPair]:
    for done, problem in map_in_order(on_block, _blocks(pairs), workers=workers):
        for parsed in done:
            counts.add(parsed)
            yield parsed
        if problem is not None:
            raise problem


def _blocks(pairs: Iterable[SentencePair]) -> Iterator[list[SentencePair]]:
    remaining = iter(pairs)
    while block := list(islice(remaining, BLOCK_PAIRS)):
        yield block


def _parse_block(
    model: str, source_tree: str | None, link_threshold: float | None, block: list[SentencePair]
) -> ParsedBlock:
    """Return a block parsed, up to the pair that the model does not take, and why it does not take that."""
    done: list[ParsedPair] = []
    try:
        parser = loaded_once(load_joint_parser, model)
        done.extend(parse_pairs(parser, block, source_tree=source_tree, link_threshold=link_threshold))
    except UsageError as error:
        return done, error
    return done, None
