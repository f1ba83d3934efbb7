"""The translation of each sentence of a draft, and the links to its words, to be shown above it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from qsproj.corpus.formats import read_sentences
from qsproj.corpus.pairs.aligned import with_links
from qsproj.corpus.pairs.pairing import pair_sentences
from qsproj.corpus.sentence import Alignment, Sentence


@dataclass(frozen=True, slots=True)
class PairFiles:
    """Where translations come from.

    Attributes
    ----------
    source, links : str
        CoNLL-U, and word links from its words to those of the draft.
    links_format, pairing : str
        As :class:`qsproj.corpus.pairs.aligned.AlignedFiles` takes them.
    """

    source: str
    links: str
    links_format: str
    pairing: str


@dataclass(frozen=True, slots=True)
class Translation:
    """A translation: its words, and their links to those of the draft."""

    forms: tuple[str, ...]
    links: Alignment


def read_translations(files: PairFiles, draft: Sequence[Sentence], *, name: str) -> Mapping[int, Translation]:
    """Return translations by the index of the draft's sentence.

    Raises UsageError, DataError as :class:`qsproj.corpus.pairs.aligned.AlignedFiles` raises them.
    """
    places = {id(sentence): index for index, sentence in enumerate(draft)}
    pairs = pair_sentences(
        read_sentences(files.source), draft, names=(files.source, name), pairing=files.pairing
    )
    return {
        places[id(pair.target)]: Translation(pair.source.forms, pair.alignment)
        for pair in with_links(pairs, files.links, files.links_format)
    }
