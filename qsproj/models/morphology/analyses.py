"""The analyses of a treebank's words: language-specific tag and features under each UPOS."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from qsproj.conventions import starts_of
from qsproj.corpus.cells import OUTSIDE, UNSPECIFIED

XPOS_ATTRIBUTE = "XPOS"
# Above this number, XPOS is read letter by letter, each position an attribute of its own.
MOST_XPOS = 200
# Attributes fused in one ending in languages with gender: Latin -am is accusative, feminine, singular.
AGREEMENT = "Agreement"
TOGETHER = frozenset({"Animacy", "Case", "Definite", "Gender", "Number", "Person"})
_NONE, _START = 0, 1
SIGNS = frozenset({"PUNCT", "SYM"})

Attributes = tuple[tuple[str, str], ...]
# Six arrays, see :mod:`qsproj.kernels.tagging.analyses`.
ChainTable = tuple[NDArray[np.int64], ...]


class Analysis(NamedTuple):
    """Analysis of a word: ``xpos`` or ``feats`` is ``_`` where the column is empty or not trained."""

    upos: str
    xpos: str
    feats: str


def feature_pairs(feats: str) -> Attributes:
    if feats == UNSPECIFIED:
        return ()
    pairs = (feature.partition("=") for feature in feats.split("|"))
    return tuple((attribute, value) for attribute, _, value in pairs)


def features_of(feats: str) -> dict[str, str]:
    """Return the features of a FEATS cell, in any order, without values that are not UD's (``Case=nom``)."""
    return {name: value for name, value in feature_pairs(feats) if value[:1].isupper() or value[:1].isdigit()}


def feature_cell(features: Mapping[str, str]) -> str:
    pairs = sorted(features.items(), key=lambda pair: pair[0].lower())
    return "|".join(f"{name}={value}" for name, value in pairs) or UNSPECIFIED


def shared_features(gold: str, feats: str) -> tuple[int, int]:
    one, other = (set(feature_pairs(cell)) for cell in (gold, feats))
    return len(one & other), -len(other - one)


@dataclass(frozen=True, slots=True, eq=False)
class AnalysisTable:
    """The A analyses, sorted, and the arrays for scoring in :mod:`qsproj.kernels.tagging.analyses`."""

    analyses: tuple[Analysis, ...]
    ranges: Mapping[str, tuple[int, int]]  # analyses of each UPOS, and OUTSIDE sentences: first and end
    chain: ChainTable  # ``table`` of the kernels
    n_parts: int
    n_pairs: int
    fused: bool  # whether the values of TOGETHER form an additional part


def analysis_table(found: Iterable[Analysis], *, fused: bool) -> AnalysisTable:
    analyses = tuple(sorted(set(found)))
    ranges: dict[str, tuple[int, int]] = {}
    for number, analysis in enumerate(analyses):
        ranges[analysis.upos] = ranges.get(analysis.upos, (number, 0))[0], number + 1
    letters = len({analysis.xpos for analysis in analyses}) > MOST_XPOS
    attributes = [_attributes(analysis, letters=letters, fused=fused) for analysis in analyses]
    parts = {part: number for number, part in enumerate(sorted({part for row in attributes for part in row}))}
    names = sorted({name for name, _ in parts})
    # Of each attribute: none, at the start of a sentence, then its values.
    values = {name: [value for of, value in parts if of == name] for name in names}
    table = np.full((len(analyses) + 1, len(names)), _NONE, dtype=np.int64)
    table[-1] = _START
    for row, pairs in zip(table, attributes, strict=False):
        for name, value in pairs:
            row[names.index(name)] = values[name].index(value) + 2
    widths = np.array([len(values[name]) + 2 for name in names], dtype=np.int64)
    begins = starts_of(widths**2)
    numbers = [[parts[pair] for pair in pairs] for pairs in attributes]
    distinctive: list[list[int]] = [[] for _ in (*analyses, OUTSIDE)]
    for first, last in ranges.values():
        of_tag = [frozenset(own) for own in numbers[first:last]]
        distinctive[first] = sorted(frozenset().union(*of_tag) - of_tag[0].intersection(*of_tag))
    # The last analysis, without parts, is that of places between sentences.
    chain = *_joined([*numbers, []]), table, np.stack([begins[:-1], widths], axis=1), *_joined(distinctive)
    ranges[OUTSIDE] = len(analyses), len(analyses) + 1
    return AnalysisTable(analyses, ranges, chain, n_parts=len(parts), n_pairs=int(begins[-1]), fused=fused)


def _joined(rows: Sequence[Sequence[int]]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return where each row begins and the last one ends, and all rows in one."""
    return starts_of(list(map(len, rows))), np.array(list(chain.from_iterable(rows)), dtype=np.int64)


def _attributes(analysis: Analysis, *, letters: bool, fused: bool) -> Attributes:
    if letters and analysis.xpos != UNSPECIFIED:
        xpos = tuple((f"{XPOS_ATTRIBUTE}{place:02}", sign) for place, sign in enumerate(analysis.xpos))
    else:
        xpos = ((XPOS_ATTRIBUTE, analysis.xpos),)
    pairs = feature_pairs(analysis.feats)
    together = tuple(f"{name}={value}" for name, value in pairs if fused and name in TOGETHER)
    agreement = ((AGREEMENT, "|".join(together)),) if len(together) > 1 else ()
    return (("UPOS", analysis.upos), *xpos, *pairs, *agreement)
