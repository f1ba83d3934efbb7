"""A parser of the target style: a parser of the source style, and a converter behind it, in one model."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from typing import Any, Protocol, runtime_checkable

from numpy.typing import NDArray

from qsproj.conventions import Scores
from qsproj.corpus.sentence import Sentence
from qsproj.models.converter.converter import Converter, converted_sentence
from qsproj.models.packing import nested, unnested
from qsproj.models.schema import anything, checked, one_of
from qsproj.models.storage import KINDS, Parser, Stored, kind_of

SOURCE_PREFIX = "source_"


@runtime_checkable
class StoredParser(Parser, Protocol):
    """A parser that can be part of another model file."""

    def to_archive(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """Return header and arrays."""
        ...


@dataclass(frozen=True)
class AdaptedParser(Stored):
    """Parses in the source style and converts the tree.

    Attributes
    ----------
    source_parser : StoredParser
    converter : Converter
    """

    source_parser: StoredParser
    converter: Converter

    def parse(self, sentence: Sentence, *, decode: str = "mbr", confidence: bool = False) -> Sentence:
        """Return the sentence with heads and relations; with ``confidence``, ``ArcProb=`` in MISC.

        Probabilities are those of the converter, given the best tree of the source parser.
        """
        source = self.source_parser.parse(sentence, decode=decode)
        return converted_sentence(
            sentence, self.converter.convert(source, decode=decode), confidence=confidence
        )

    def arc_probabilities(self, sentence: Sentence) -> Scores:
        """Return the probability of every target arc, float64[n+1, n+1], given the best source tree."""
        return self.converter.arc_probabilities(self.source_parser.parse(sentence))

    def to_archive(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """Return header and arrays, those of the source parser under SOURCE_PREFIX.

        Raises
        ------
        UsageError
            When the source parser is of a kind that has no name in model files.
        """
        source_header, source_arrays = self.source_parser.to_archive()
        header, arrays = self.converter.to_archive()
        return {
            "source_kind": kind_of(self.source_parser),
            "source": source_header,
            "converter": header,
        }, {**arrays, **nested(SOURCE_PREFIX, source_arrays)}

    @staticmethod
    def from_archive(header: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> AdaptedParser:
        """Rebuild what :meth:`to_archive` gave."""
        checked(header, {"source_kind": one_of(KINDS), "source": anything, "converter": anything})
        module, name = KINDS[header["source_kind"]]
        source_parser = getattr(import_module(module), name).from_archive(
            header["source"], unnested(SOURCE_PREFIX, arrays)
        )
        return AdaptedParser(source_parser, Converter.from_archive(header["converter"], arrays))
