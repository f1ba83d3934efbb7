"""A parser whose trees come with enhanced dependencies."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, cast

from numpy.typing import NDArray

from qsproj.conventions import Scores
from qsproj.corpus.editing import with_misc
from qsproj.corpus.enhanced import with_graph
from qsproj.corpus.sentence import Sentence
from qsproj.models.enhanced.enhancer import Enhancer
from qsproj.models.packing import nested, unnested
from qsproj.models.schema import anything, checked, one_of
from qsproj.models.storage import KINDS, BlockParser, Parser, Stored, described, kind_of, model_from


@dataclass(frozen=True)
class EnhancedParser(Stored):
    """Parses, and writes DEPS: the heads of each word in the enhanced graph, with their relations.

    Empty nodes that a file has stay, and lose what led from them to words; none is invented.

    ``parser``: any that finds trees.
    """

    parser: Parser
    enhancer: Enhancer

    def parse(self, sentence: Sentence, *, decode: str = "mbr", confidence: bool = False) -> Sentence:
        """Return the sentence with its tree and DEPS; see :meth:`qsproj.models.storage.Parser.parse`.

        With ``confidence``, ``DepsProb=`` in MISC has the probability of each edge given the tree, in the
        order of DEPS, with commas.
        """
        return self.enhanced(
            self.parser.parse(sentence, decode=decode, confidence=confidence), confidence=confidence
        )

    def parse_all(
        self, sentences: Iterable[Sentence], *, decode: str = "mbr", confidence: bool = False
    ) -> Iterator[Sentence]:
        """Parse sentences one after the other, several at a time where the parser can."""
        if isinstance(self.parser, BlockParser):
            parsed = self.parser.parse_all(sentences, decode=decode, confidence=confidence)
        else:
            parsed = (self.parser.parse(one, decode=decode, confidence=confidence) for one in sentences)
        return (self.enhanced(one, confidence=confidence) for one in parsed)

    def enhanced(self, sentence: Sentence, *, confidence: bool = False) -> Sentence:
        """Return a sentence that has a tree with its DEPS."""
        graph, chances = self.enhancer.graph(sentence)
        told = with_graph(sentence, graph)
        if not confidence:
            return told
        return with_misc(told, "DepsProb", [",".join(f"{own:.4f}" for own in row) for row in chances])

    def arc_probabilities(self, sentence: Sentence) -> Scores:
        """Return the posterior probability of every arc of the tree, float64[n+1, n+1]."""
        return self.parser.arc_probabilities(sentence)

    def to_archive(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """Return header and arrays."""
        header, arrays = cast(Stored, self.parser).to_archive()
        own, own_arrays = self.enhancer.to_archive()
        return {"parser": {"kind": kind_of(self.parser), "model": header}, "enhancer": own}, {
            **nested("parser_", arrays),
            **own_arrays,
        }

    @staticmethod
    def described(header: Mapping[str, Any]) -> dict[str, Any]:
        """Return what ``qsproj info`` tells of a model with this header."""
        part = header["parser"]
        return {"enhanced": "DEPS", "parser": described(part["kind"], part["model"])}

    @staticmethod
    def from_archive(header: dict[str, Any], arrays: Mapping[str, NDArray[Any]]) -> "EnhancedParser":
        """Rebuild what :meth:`to_archive` gave."""
        checked(header, {"parser": anything, "enhancer": anything})
        checked(header["parser"], {"kind": one_of(KINDS), "model": anything})
        parser = model_from(header["parser"]["kind"], header["parser"]["model"], unnested("parser_", arrays))
        return EnhancedParser(cast(Parser, parser), Enhancer.from_archive(header["enhancer"], arrays))
