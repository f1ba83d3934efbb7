"""What the page on joint parsing without target trees says in figures, computed from its tables."""

from __future__ import annotations

from collections.abc import Mapping

from scripts.experiments.harness.page import Tables
from scripts.experiments.harness.tables import listed

PROJECTED = "the projected parser"
JOINT, PIPELINED = "in the joint model, source tree inferred", "in the joint model, 1-best source tree"
NOT_MEASURED = "not measured"
# What was to be gained in UAS.
WANTED = 1.5


def without_trees(tables: Tables) -> Mapping[str, str]:
    scores = tables["scores"]

    def gains(way: str, measure: str) -> dict[str, float]:
        found = {}
        for heading in scores.header[1:]:
            language, _, what = heading.partition(", ")
            if what == measure and scores.has(way, heading) and scores.has(PROJECTED, heading):
                found[language] = scores.number(way, heading) - scores.number(PROJECTED, heading)
        return found

    def said(found: Mapping[str, float]) -> str:
        named = [f"{value:+.2f} ({language})" for language, value in found.items()]
        return listed(named) if named else NOT_MEASURED

    reached = [language for language, value in gains(JOINT, "UAS").items() if value >= WANTED]
    return {
        "wanted": f"{WANTED}",
        "UAS": said(gains(JOINT, "UAS")),
        "LAS": said(gains(JOINT, "LAS")),
        "UAS, 1-best": said(gains(PIPELINED, "UAS")),
        "reached": listed(reached) or "no language",
    }
