"""What pages on annotation styles say in figures, computed from their tables."""

from __future__ import annotations

from collections.abc import Mapping

from scripts.experiments.harness.page import Tables
from scripts.experiments.harness.tables import numbers, span

Phrases = Mapping[str, str]


def adaptation(tables: Tables) -> Phrases:
    return {"words of ten": tables["naija"].cell("UD to SUD", "10", "words")}


def suggest(tables: Tables) -> Phrases:
    def words(task: str, policy: str) -> float:
        """Return the words that are annotated after the last round."""
        table = tables[task]
        return numbers(table.cell(policy, table.header[-1]))[1]

    tasks = ("converter", "english", "naija")
    ratios = (words(task, "suggested, as many trees") / words(task, "random") for task in tasks)
    return {"length": span(ratios)}
