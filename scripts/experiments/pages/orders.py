"""What the page on the second order of joint parsing says in figures, computed from its tables."""

from __future__ import annotations

from collections.abc import Mapping

from scripts.experiments.harness.page import Tables
from scripts.experiments.harness.tables import span
from scripts.experiments.pages.joint import CORPORA, by_language, gains

ALONE, JOINT, PIPELINED = "target only", "full QG, joint", "full QG, 1-best source"
SECOND_ALONE, SECOND_JOINT = "order 2, alone", "order 2, joint"
SECOND_PIPELINED = "order 2, 1-best source"
NOT_MEASURED = "not measured"


def orders(tables: Tables) -> Mapping[str, str]:
    def compared(side: str, one: str, other: str, least: int = 0) -> str:
        found = {
            language: gains(tables[f"{name} {side}"], one, other, least=least).values()
            for name, language in CORPORA.items()
            if f"{name} {side}" in tables
        }
        return by_language(found) if any(found.values()) else NOT_MEASURED

    times = tables["milliseconds"]

    def milliseconds(condition: str) -> str:
        found = [times.number(condition, size) for size in times.header[1:] if times.has(condition, size)]
        return f"{span(found, digits=0)} ms a pair" if found else NOT_MEASURED

    return {
        "joint over alone": compared("target", SECOND_JOINT, SECOND_ALONE),
        "second over first": compared("target", SECOND_JOINT, JOINT),
        "second alone": compared("target", SECOND_ALONE, ALONE),
        "joint over pipelined": compared("target", SECOND_JOINT, SECOND_PIPELINED),
        "LAS over alone": compared("LAS", SECOND_JOINT, SECOND_ALONE),
        "English gain": compared("source", SECOND_JOINT, ALONE),
        "time": milliseconds(SECOND_JOINT),
        "time: 1-best": milliseconds(SECOND_PIPELINED),
    }
