"""What papers on objectives of training found, and whether it holds of the figures here.

McDonald, Crammer and Pereira 2006; Koo et al. 2007; Smith and Smith 2007, of which the thesis has table 3.1.
"""

from __future__ import annotations

import math

from scripts.experiments.harness.page import Tables
from scripts.experiments.harness.tables import Table, span, table
from scripts.experiments.pages.rows import above, gains_of, starred, treebanks

Finding = tuple[str, str, str]
HOLDS, CHANCE, FAILS = "holds", "holds, but for what may be chance", "does not hold"
UNSURE = "too small to tell"
# Rows of the tables that findings compare.
SHAPES = {
    name: (f"{name}, non-projective", f"{name}, projective") for name in ("perceptron", "eg", "likelihood")
}
RISK = {
    "MIRA": ("1-best MIRA, non-projective, mbr", "1-best MIRA, non-projective, map"),
    "likelihood": ("likelihood, non-projective, mbr", "likelihood, non-projective, map"),
    "projective": ("likelihood, projective, mbr", "likelihood, projective, map"),
}
# The language with the most crossing arcs in Koo et al. 2007, and the two of McDonald et al. 2006.
CROSSING, CZECH, ENGLISH = "Dutch", "Czech", "English"
KBEST, ONE, FACTORED = "5-best MIRA, projective", "1-best MIRA, non-projective", "factored MIRA"


def findings(tables: Tables) -> Table:
    """Say of each finding of the papers whether it holds on these data."""
    every, shapes, chosen = (tables[name] for name in ("objectives", "shapes", "chosen"))
    rows = [
        mean_finding(
            "Koo et al., table 3: log-linear above the perceptron", every, "likelihood", "perceptron"
        ),
        mean_finding(
            "Koo et al., table 3: max-margin (`eg`) above the perceptron", every, "eg", "perceptron"
        ),
    ]
    if treebanks(chosen, "perceptron"):
        rows += [
            mean_finding(
                f"the same, the kind of trees chosen on held-out sentences: {name}",
                chosen,
                name,
                "perceptron",
            )
            for name in ("likelihood", "eg")
        ]
    rows += shape_findings(shapes) + mira_findings(tables["mira"], tables["crossing"])
    rows += [
        mean_finding("McDonald et al., table 5: five trees above one", tables["sweep"], "k = 5", "k = 1"),
        mean_finding(
            "McDonald et al., table 5: ten trees hardly above five",
            tables["sweep"],
            "k = 10",
            "k = 5",
            most=SMALL,
        ),
        hurt_finding(tables["decoders"]),
        risk_finding(tables["decoders"], "likelihood", "non-projective"),
        risk_finding(tables["decoders"], "projective", "projective"),
    ]
    return table(["finding", "here", "UAS"], rows)


# What still is slight, in UAS, where a paper says so.
SMALL = 0.25


def mean_finding(said: str, one: Table, name: str, other: str, *, most: float = math.inf) -> Finding:
    """Judge whether a row is above another on the mean, and by how much at most."""
    gains = gains_of(one, name, other)
    if not gains:
        return said, "not measured", ""
    mean = sum(gains) / len(gains)
    return said, HOLDS if 0 < round(mean, 2) <= most else FAILS, above(one, name, other)


def shape_findings(shapes: Table) -> list[Finding]:
    """Judge what non-projective training gains, where arcs cross most and elsewhere."""
    rows = []
    for most_crossing in (True, False):
        gains: list[float] = []
        worse: list[str] = []
        for name, pair in SHAPES.items():
            headings = [h for h in treebanks(shapes, *pair) if (h == CROSSING) == most_crossing]
            found = {h: shapes.number(pair[0], h) - shapes.number(pair[1], h) for h in headings}
            gains += found.values()
            worse += [f"{name}, {h}" for h in starred(shapes, pair[0]) if h in found and found[h] < 0]
        where = f"better for {CROSSING}" if most_crossing else "as good or better elsewhere"
        holds = min(gains, default=-1.0) > 0 if most_crossing else not worse
        of = f"{span(gains, digits=2, sign=True)}; significantly worse in {len(worse)} of {len(gains)}"
        rows.append(
            (f"Koo et al., table 2: non-projective training is {where}", HOLDS if holds else FAILS, of)
        )
    return rows


def mira_findings(mira: Table, crossing: Table) -> list[Finding]:
    """Judge what McDonald et al. say of search with and without projectivity (tables 2, 3, 6 and 7)."""

    def accuracy(language: str, search: str, system: str) -> float:
        return mira.number(language, search, system)

    here = list(dict.fromkeys(mira.names))
    rows = []
    if CZECH in here:
        own = accuracy(CZECH, "projective", KBEST)
        gains = [accuracy(CZECH, "non-projective", one) - own for one in (ONE, FACTORED)]
        rows.append(
            judged(
                "table 2: Czech gains from non-projective trees",
                min(gains) > 0,
                span(gains, digits=2, sign=True),
            )
        )
    if crossing.has(CZECH, KBEST):
        own = crossing.number(CZECH, KBEST)
        within = [crossing.number(CZECH, one) - own for one in (ONE, FACTORED)]
        rows.append(
            judged(
                "table 2: the effect is larger in sentences with crossing arcs",
                min(a - b for a, b in zip(within, gains, strict=True)) > 0,
                span(within, digits=2, sign=True),
            )
        )
    if ENGLISH in here:
        behind = [
            accuracy(ENGLISH, "projective", KBEST) - accuracy(ENGLISH, search, one)
            for search in ("projective", "non-projective")
            for one in (ONE, FACTORED)
        ]
        rows.append(
            judged(
                "tables 3 and 6: projective 5-best MIRA is best for English",
                min(behind) > 0,
                span(behind, digits=2, sign=True),
            )
        )
    lost = [accuracy(h, "projective", KBEST) - accuracy(h, "non-projective", KBEST) for h in here]
    factored = [accuracy(h, "non-projective", FACTORED) - accuracy(h, "non-projective", ONE) for h in here]
    rows.append(
        judged(
            "tables 6 and 7: non-projective search ruins projective training",
            min(lost) > 0,
            f"{span((-one for one in lost), digits=2, sign=True)} ({len(here)} treebanks)",
        )
    )
    rows.append(
        judged(
            "tables 2, 6 and 7: factored MIRA at least as good as 1-best MIRA, non-projective search",
            min(factored) >= 0,
            f"{span(factored, digits=2, sign=True)}; in {sum(one >= 0 for one in factored)} of {len(here)} treebanks",
        )
    )
    return rows


def judged(said: str, holds: bool, figures: str) -> Finding:
    return f"McDonald et al., {said}", HOLDS if holds else FAILS, figures


def hurt_finding(decoders: Table) -> Finding:
    """Judge whether minimum Bayes risk makes MIRA slightly worse."""
    mbr, best = RISK["MIRA"]
    gains = gains_of(decoders, mbr, best)
    told = starred(decoders, mbr)
    verdict = HOLDS if told and -SMALL <= sum(gains) / len(gains) < 0 else FAILS if told else UNSURE
    return (
        "Smith and Smith, table 1: minimum Bayes risk hurts MIRA slightly",
        verdict,
        above(decoders, mbr, best),
    )


def risk_finding(decoders: Table, name: str, kind: str) -> Finding:
    """Judge whether minimum Bayes risk is as good as the best tree everywhere, or not significantly worse."""
    said = f"Smith and Smith, table 1: minimum Bayes risk at least as good under likelihood, {kind} trees"
    mbr, best = RISK[name]
    below = [h for h in treebanks(decoders, mbr, best) if decoders.number(mbr, h) < decoders.number(best, h)]
    significant = [h for h in below if h in starred(decoders, mbr)]
    verdict = HOLDS if not below else FAILS if significant else CHANCE
    return said, verdict, above(decoders, mbr, best)
