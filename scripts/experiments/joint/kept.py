"""Figures of joint parsing by corpus, number of trees and condition, measured once for each build."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from scripts.experiments.harness.cache import Source
from scripts.experiments.harness.experiment import Lab
from scripts.experiments.harness.tables import Table, table
from scripts.experiments.joint.corpora import CORPORA, link_files

Figures = dict[str, float]
# Figures by number of trees, then by condition.
Results = dict[int, dict[str, Figures]]


@dataclass(frozen=True)
class Kept:
    """The figures of one corpus."""

    lab: Lab
    corpus: str

    def source(self, size: int, condition: str) -> Source:
        """Return the inputs that a figure depends on besides the code."""
        files = [*link_files(self.lab, CORPORA[self.corpus]), self.lab.treebank_path("english-ewt-train")]
        return {"options": {"corpus": self.corpus, "size": size, "condition": condition}, "data": files}

    def measured(self, size: int, condition: str, measure: Callable[[], Figures]) -> Figures:
        """Return a figure, measured if it is not stored."""
        figures: Figures = self.lab.cache.figures(self._name(size), measure, **self.source(size, condition))
        return figures

    def folder(self, size: int) -> Path:
        """Return the folder of unfinished trainings with a given number of pairs."""
        return self.lab.cache.unfinished(f"{self._name(size)} state", **self.source(size, "state"))

    def missing(self, size: int, conditions: Iterable[str]) -> list[str]:
        """Return the conditions that are not measured yet."""
        return [name for name in conditions if self._kept(size, name) is None]

    def results(self, sizes: Iterable[int], conditions: Iterable[str]) -> Results:
        """Return all stored figures, by size."""
        names = list(conditions)
        found = {
            size: {name: kept for name in names if (kept := self._kept(size, name)) is not None}
            for size in sizes
        }
        return {size: figures for size, figures in found.items() if figures}

    def _kept(self, size: int, condition: str) -> Figures | None:
        return self.lab.cache.kept(self._name(size), **self.source(size, condition))

    def _name(self, size: int) -> str:
        return f"{self.corpus} {size}"


def figure_table(
    results: Mapping[int, Mapping[str, Figures]], key: str, conditions: Iterable[str], *, digits: int = 2
) -> Table:
    """Show one figure by condition and number of trees; conditions without any are left out."""
    rows = []
    for condition in conditions:
        cells = [figures.get(condition, {}).get(key) for figures in results.values()]
        if any(cell is not None for cell in cells):
            rows.append([condition, *("" if cell is None else f"{cell:.{digits}f}" for cell in cells)])
    return table(["condition", *map(str, results)], rows)
