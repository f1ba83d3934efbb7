"""Phrases of the pages of benchmarks, from their tables."""

from __future__ import annotations

from scripts.experiments.harness.page import Tables
from scripts.experiments.harness.tables import Table

# The row of all stages together.
ALL = "all"


def scale(tables: Tables) -> dict[str, str]:
    """Say of the largest bitext what it took, and whether a pair costs there what it costs before."""
    seconds, memory = tables["seconds"], tables["memory"]
    pairs = [heading.removesuffix(", s") for heading in seconds.header if heading.endswith(" pairs, s")]
    largest = [one for one in pairs if seconds.has(ALL, f"{one}, s")][-1:]
    growths = [heading for heading in seconds.header if heading.startswith("a pair more")]
    costs = [f"{seconds.cell(ALL, heading)} ms" for heading in growths if seconds.has(ALL, heading)]
    return {
        "largest": "".join(of_size(seconds, memory, one) for one in largest) or "No size is measured whole",
        "costs": ", then ".join(costs) or "not measured",
    }


def of_size(seconds: Table, memory: Table, pairs: str) -> str:
    """Say what all stages took of a bitext."""
    stage = max(memory.names, key=lambda name: memory.number(name, f"{pairs}, MB"))
    return (
        f"{pairs}: {seconds.number(ALL, f'{pairs}, s') / 60:.0f} minutes of processor time, at most "
        f"{memory.number(stage, f'{pairs}, MB') / 1e3:.1f} GB (stage `{stage}`)"
    )
