"""What was set out to be reached in UAS and in LAS without subtypes, beside what is."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from scripts.experiments.harness.tables import Table, table, verdict


@dataclass(frozen=True, slots=True)
class Aim:
    """Scores in percent; ``las`` is without subtypes."""

    uas: float
    las: float


# What names a row, its aim, and what is found, by the name of a score; None where it is not measured.
AimRow = tuple[Sequence[str], Aim, Mapping[str, float] | None]


def aims_table(heading: Sequence[str], rows: Iterable[AimRow]) -> Table:
    """Show figures with their aims, and whether these are reached."""
    lines = []
    for names, aim, found in rows:
        line = list(names)
        for score, wanted in (("uas", aim.uas), ("las_no_subtypes", aim.las)):
            shown = [f"{found[score]:.1f}", verdict(found[score], wanted)] if found else ["", ""]
            line += [f"{wanted:g}", *shown]
        lines.append(line)
    scores = ("UAS", "LAS, no subtypes")
    return table(
        [*heading, *(cell for name in scores for cell in (f"{name}: aim", name, f"{name} is"))], lines
    )
