"""Read tagged treebanks for training, with line numbers in errors."""

from collections.abc import Iterator, Sequence
from functools import lru_cache

from qsproj.corpus.cells import UNSPECIFIED
from qsproj.corpus.editing import at_lines, lines_before
from qsproj.corpus.files import name_of
from qsproj.corpus.formats import read_sentences
from qsproj.corpus.sentence import Sentence
from qsproj.errors import DataError, pluralise
from qsproj.models.morphology.analyses import feature_cell, feature_pairs, features_of
from qsproj.progress import notice

OF_MISC = "it in MISC, the last column"


def read_tagged(paths: Sequence[str]) -> Iterator[Sentence]:
    """Read CoNLL-U files one after the other; DataError with its line for a word without UPOS."""
    for path in paths:
        faults: dict[str, list[tuple[int, str]]] = {}
        for line, sentence in at_lines(read_sentences(path)):
            for word, (tag, cell) in enumerate(zip(sentence.upos, sentence.feats, strict=True), start=1):
                fault = _fault_of_features(cell)
                if tag != UNSPECIFIED and fault is None:
                    continue
                place = line + lines_before(sentence, word)
                if tag == UNSPECIFIED:
                    untagged = f"word {word} ({sentence.forms[word - 1]!r}) without UPOS"
                    remedy = "tag it, or leave the sentence out"
                    raise DataError(name_of(path), place, untagged, "one on every word", remedy)
                if fault == OF_MISC:
                    remedy = "put the two columns where they belong: they seem to be swapped"
                    raise DataError(name_of(path), place, f"{cell!r} in FEATS", fault, remedy)
                faults.setdefault(str(fault), []).append((place, cell))
            yield sentence
        for fault, found in faults.items():
            first, cell = found[0]
            words = pluralise(len(found), "word")
            notice(f"{name_of(path)}: line {first}: found {cell!r} in FEATS, {fault} ({words})")


@lru_cache(maxsize=1 << 14)
def _fault_of_features(cell: str) -> str | None:
    """Return how malformed FEATS are handled, None for well-formed ones."""
    if "SpaceAfter=No" in cell.split("|"):
        return OF_MISC
    kept = features_of(cell)
    if feature_cell(kept) == cell:
        return None
    if {name for name, _ in feature_pairs(cell)} - set(kept) or not kept:
        return "expected Name=Value, the value with a capital or a digit; other values are not learned"
    return "expected them sorted, each once; they are sorted, and of two values the last counts"
