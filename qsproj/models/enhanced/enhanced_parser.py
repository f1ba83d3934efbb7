"""A parser whose trees come with enhanced dependencies."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, cast

import numpy as np

from qsproj.conventions import Scores
from qsproj.corpus.editing import with_misc
from qsproj.corpus.enhanced import with_graph
from qsproj.corpus.sentence import Sentence
from qsproj.models.constraints import Given
from qsproj.models.enhanced.enhancer import Enhancer, train_enhancer
from qsproj.models.packing import joined, unnested
from qsproj.models.parser import BLOCK, KnownPart, Parser, Wrapper
from qsproj.models.schema import Archive, Arrays, anything, checked, one_of
from qsproj.models.storage import KINDS, described, kind_of, model_from


@dataclass(frozen=True)
class EnhancedParser(Wrapper[Parser]):
    """A parser that also writes DEPS; empty nodes stay, but lose their edges to words."""

    base: Parser
    enhancer: Enhancer

    block = BLOCK
    parse_all = Parser.parse_all

    def parsed_block(
        self, sentences: list[Sentence], given: list[Given], *, decode: str, confidence: bool
    ) -> Iterator[Sentence]:
        """Parse sentences with tree and DEPS; with ``confidence``, their ``DepsProb=`` in MISC."""
        parts = iter([own for own in given if own is not None])
        known: KnownPart | None = None if None in given else lambda _: next(parts)
        parsed = self.base.parse_all(sentences, decode=decode, confidence=confidence, known=known)
        for one, own in zip(parsed, given, strict=True):
            yield self.enhanced(one, confidence=confidence, arcs=partial(self._arcs, one, own))

    def _arcs(self, sentence: Sentence, given: Given) -> Scores:
        return self.base.posterior(sentence, given).marginals

    def enhanced(
        self, sentence: Sentence, *, confidence: bool = False, arcs: Callable[[], Scores] | None = None
    ) -> Sentence:
        graph, chances = self.enhancer.graph(sentence, arcs)
        found = with_graph(sentence, graph)
        if confidence:
            found = with_misc(found, "DepsProb", [",".join(f"{own:.4f}" for own in row) for row in chances])
        return found

    def to_archive(self) -> Archive:
        header, arrays = joined({"parser": ("parser_", self.base), "enhancer": ("", self.enhancer)})
        return header | {"parser": {"kind": kind_of(self.base), "model": header["parser"]}}, arrays

    @staticmethod
    def described(header: Mapping[str, Any]) -> dict[str, Any]:
        part = header["parser"]
        return {"enhanced": "DEPS", "parser": described(part["kind"], part["model"])}

    @staticmethod
    def from_archive(header: dict[str, Any], arrays: Arrays) -> "EnhancedParser":
        checked(header, {"parser": anything, "enhancer": anything})
        checked(header["parser"], {"kind": one_of(KINDS), "model": anything})
        parser = model_from(header["parser"]["kind"], header["parser"]["model"], unnested("parser_", arrays))
        return EnhancedParser(cast(Parser, parser), Enhancer.from_archive(header["enhancer"], arrays))


def train_enhanced_parser(
    parser: Parser, sentences: Sequence[Sentence], *, rng: np.random.Generator
) -> EnhancedParser:
    return EnhancedParser(parser, train_enhancer(sentences, rng=rng))
