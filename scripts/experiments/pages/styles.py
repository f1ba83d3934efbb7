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


def two_styles(tables: Tables) -> Phrases:
    four, others = tables["four"], tables["others"]
    adapted, native, joint = (
        {part: four.number(row, f"{part}, UAS") for part in ("dev", "test")}
        for row in ("adapted parser", "parser of the new style", "joint")
    )
    shares = {
        part: (joint[part] - adapted[part]) / (native[part] - adapted[part]) for part in ("dev", "test")
    }
    ten = [row for row in others.rows if row[0].startswith("Naija test") and row[1].startswith("10 ")]
    return {
        **{f"share {part}": f"{100 * share:.0f}%" for part, share in shares.items()},
        **{f"gain {part}": f"{joint[part] - adapted[part]:+.2f}" for part in ("dev", "test")},
        "known relations": span(numbers(row[-1])[0] for row in ten),
        "ten converter": span(numbers(row[others.column("converter, old tree given")])[1] for row in ten),
        "ten joint": span(numbers(row[others.column("joint, old tree given")])[1] for row in ten),
    }
