"""What pages on objectives of training say in figures, computed from their tables."""

from __future__ import annotations

from scripts.experiments.harness.page import Tables
from scripts.experiments.harness.tables import Table, listed, numbers, span
from scripts.experiments.pages.findings import RISK, SHAPES, findings
from scripts.experiments.pages.parsing import Phrases
from scripts.experiments.pages.rows import above, gains_of, starred, treebanks


def objectives(tables: Tables) -> Phrases:
    every, shapes, decoders, sweep = (tables[name] for name in ("objectives", "shapes", "decoders", "sweep"))
    marked = {name: starred(every, name) for name in every.names if name != "likelihood"}
    return {
        "differing": "; ".join(f"{name} ({listed(found)})" for name, found in marked.items() if found)
        or "none",
        "margin and likelihood": above(every, "margin", "likelihood"),
        "mira and mira-kbest": above(every, "mira", "mira-kbest"),
        "risk and likelihood": above(every, "risk", "likelihood"),
        "five trees": above(sweep, "k = 5", "k = 1"),
        "ten trees": above(sweep, "k = 10", "k = 5"),
        "risk of MIRA": above(decoders, *RISK["MIRA"]),
        "risk of likelihood": above(decoders, *RISK["likelihood"]),
        "risk, projective": above(decoders, *RISK["projective"]),
        "temperatures": told_span(tables["risk"], "temperature"),
        "expected gain": told_span(tables["risk"], "expected gain", sign=True),
        "chance": within_chance(tables["risk"]),
        "below the best tree": below_the_best_tree(decoders),
        "non-projective training": "; ".join(
            f"{name}: {above(shapes, *pair)}" for name, pair in SHAPES.items()
        ),
        "findings": findings(tables).markdown(),
    }


def told_span(one: Table, heading: str, *, sign: bool = False) -> str:
    """Say between what the figures of a column lie."""
    found = one.numbers_in(heading)
    return span(found, digits=2, sign=sign) if found else "not measured"


def within_chance(risk: Table) -> str:
    """Say how many gains are within two standard errors of what the model expects."""
    cells = [
        (numbers(row[risk.column("gain")]), numbers(row[risk.column("expected gain")])) for row in risk.rows
    ]
    near = sum(abs(gain - expected) <= 2 * error for (gain, error), (expected,) in cells)
    return f"{near} of {len(cells)} gains are within two of them of what was expected"


def below_the_best_tree(decoders: Table) -> str:
    """Say where minimum Bayes risk is below the best tree under likelihood, and whether significantly."""
    said = []
    for name, kind in (("likelihood", "non-projective"), ("projective", "projective")):
        mbr, best = RISK[name]
        gains = {
            h: decoders.number(mbr, h) - decoders.number(best, h) for h in treebanks(decoders, mbr, best)
        }
        below = [
            f"{h} ({gain:+.2f}, {'significant' if h in starred(decoders, mbr) else 'not significant'})"
            for h, gain in gains.items()
            if round(gain, 2) < 0
        ]
        said.append(f"with {kind} trees in {len(gains) - len(below)} of {len(gains)} treebanks")
        if below:
            said[-1] += f", but not in {listed(below)}"
    return "; ".join(said)


def hidden_clusters(tables: Tables) -> Phrases:
    found = [tables[name] for name in ("clusters", "projective clusters")]
    greedy = tables["greedy"]

    def cells(one: Table) -> list[tuple[str, str, str]]:
        """Return clusters, decoder and treebank of each figure with clusters."""
        return [
            (number, decode, heading)
            for number, _, decode in (name.partition(", ") for name in one.names)
            for heading in one.header[1:-1]
            if number != "none" and one.has(f"{number}, {decode}", heading)
        ]

    above = {
        id(one): [
            one.number(f"{number}, {decode}", heading) - one.number(f"none, {decode}", heading)
            for number, decode, heading in cells(one)
            if decode != "max-z"
        ]
        for one in found
    }
    joint = [
        one.number(f"{number}, max-z", heading) - one.number(f"{number}, map", heading)
        for one in found
        for number, decode, heading in cells(one)
        if decode == "max-z"
    ]
    marked = [
        f"{number} with {decode} ({heading}, {kind})"
        for one, kind in zip(found, ("non-projective", "projective"), strict=True)
        for number, decode, heading in cells(one)
        if "*" in one.cell(f"{number}, {decode}", heading)
    ]
    return {
        "gain": span((max(gains) for gains in above.values() if gains), digits=2, sign=True),
        "significant": listed(marked),
        "max-z": span(joint, digits=2, sign=True),
        "posterior": span(
            gains_of(greedy, "best head by posterior", "best head by score"), digits=2, sign=True
        ),
        "tree": span(gains_of(greedy, "minimum Bayes risk", "best head by posterior"), digits=2, sign=True),
        "posteriors better": better_in(greedy, "best head by posterior", "best head by score"),
        "trees better": better_in(greedy, "best tree", "best head by posterior"),
    }


def better_in(one: Table, name: str, other: str) -> str:
    """Say in how many treebanks one row is above another."""
    gains = gains_of(one, name, other)
    return f"{sum(gain > 0 for gain in gains)} of {len(gains)}"


def feature_selection(tables: Tables) -> Phrases:
    uas, weights = tables["uas"], tables["weights"]
    first, *names = uas.names
    trees, sentences, short = (
        next(name for name in names if start in name) for start in ("right", "sentences", "short")
    )
    shares = [
        weights.number(trees, h) / weights.number(first, h)
        for h in weights.header[1:-1]
        if weights.has(trees, h)
    ]
    return {
        "share": f"{span((100.0 * share for share in shares), digits=0)}%",
        **{
            phrase: span(gains_of(uas, name, first), digits=2, sign=True)
            for phrase, name in (("trees", trees), ("sentences", sentences), ("short", short))
        },
    }
