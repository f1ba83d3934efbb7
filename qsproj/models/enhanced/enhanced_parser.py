"""A parser whose trees come with enhanced dependencies."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, cast

from qsproj.conventions import Scores
from qsproj.corpus.editing import with_misc
from qsproj.corpus.enhanced import with_graph
from qsproj.corpus.sentence import Sentence
from qsproj.errors import UntaggedError
from qsproj.models.enhanced.enhancer import Enhancer
from qsproj.models.packing import nested, unnested
from qsproj.models.schema import Archive, Arrays, anything, checked, one_of
from qsproj.models.storage import KINDS, Parser, Stored, described, kind_of, model_from, parse_each


@dataclass(frozen=True)
class EnhancedParser(Stored):
    """Parses, and writes DEPS: the heads of each word in the enhanced graph, with their relations.

    Empty nodes that a file has stay, and lose what led from them to words; none is invented.
    """

    parser: Parser
    enhancer: Enhancer

    def parse(self, sentence: Sentence, *, decode: str = "mbr", confidence: bool = False) -> Sentence:
        """Return the sentence with its tree and DEPS; see :meth:`qsproj.models.storage.Parser.parse`.

        With ``confidence``, ``DepsProb=`` in MISC has the probability of each edge given the tree, in the
        order of DEPS, with commas.
        """
        parsed = self.parser.parse(sentence, decode=decode, confidence=confidence)
        return self.enhanced(parsed, confidence=confidence, arcs=partial(self._arcs_if_tagged, parsed))

    def parse_all(
        self, sentences: Iterable[Sentence], *, decode: str = "mbr", confidence: bool = False
    ) -> Iterator[Sentence]:
        parsed = parse_each(self.parser, sentences, decode=decode, confidence=confidence)
        for one in parsed:
            arcs = partial(self._arcs_if_tagged, one)
            yield self.enhanced(one, confidence=confidence, arcs=arcs)

    def _arcs_if_tagged(self, sentence: Sentence) -> Scores | None:
        try:
            return self.arc_probabilities(sentence)
        except UntaggedError:  # which a sentence among others is not refused for
            return None

    def enhanced(
        self,
        sentence: Sentence,
        *,
        confidence: bool = False,
        arcs: Callable[[], Scores | None] | None = None,
    ) -> Sentence:
        """Return a sentence that has a tree with its DEPS; see :meth:`Enhancer.graph`."""
        graph, chances = self.enhancer.graph(sentence, arcs)
        told = with_graph(sentence, graph)
        if not confidence:
            return told
        return with_misc(told, "DepsProb", [",".join(f"{own:.4f}" for own in row) for row in chances])

    def arc_probabilities(self, sentence: Sentence) -> Scores:
        return self.parser.arc_probabilities(sentence)

    def to_archive(self) -> Archive:
        header, arrays = cast(Stored, self.parser).to_archive()
        own, own_arrays = self.enhancer.to_archive()
        part = {"kind": kind_of(self.parser), "model": header}
        return {"parser": part, "enhancer": own}, {**nested("parser_", arrays), **own_arrays}

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
