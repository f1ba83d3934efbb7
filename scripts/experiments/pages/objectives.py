"""What pages on objectives of training say in figures, computed from their tables."""

from __future__ import annotations

from scripts.experiments.harness.page import Tables
from scripts.experiments.harness.tables import Table, listed, span
from scripts.experiments.pages.parsing import Phrases


def objectives(tables: Tables) -> Phrases:
    every, shapes, decoders, sweep = (tables[name] for name in ("objectives", "shapes", "decoders", "sweep"))

    def above(name: str, other: str) -> str:
        found = gains_of(every, name, other)
        spread = f", {span(found, digits=2, sign=True)}" if len(found) > 1 else ""
        return f"{sum(found) / len(found):+.2f} UAS (mean of {len(found)}{spread})"

    projective = [
        gain
        for name in ("perceptron", "eg", "likelihood")
        for gain in gains_of(shapes, f"{name}, projective", f"{name}, non-projective")
    ]
    marked = {
        name: [h for h in every.header[1:-1] if "*" in every.cell(name, h)]
        for name in every.names
        if name != "likelihood"
    }
    return {
        "differing": "; ".join(f"{name} ({listed(found)})" for name, found in marked.items() if found)
        or "none",
        "likelihood and perceptron": above("likelihood", "perceptron"),
        "eg and perceptron": above("eg", "perceptron"),
        "margin and likelihood": above("margin", "likelihood"),
        "mira and mira-kbest": above("mira", "mira-kbest"),
        "risk and likelihood": above("risk", "likelihood"),
        "projective": span(projective, digits=2),
        "five trees": span(gains_of(sweep, "k = 5", "k = 1"), digits=2, sign=True),
        "ten trees": span(gains_of(sweep, "k = 10", "k = 5"), digits=2, sign=True),
        "risk of MIRA": span(gains_of(decoders, "1-best MIRA, mbr", "1-best MIRA, map"), digits=2, sign=True),
        "risk of likelihood": span(
            gains_of(decoders, "likelihood, mbr", "likelihood, map"), digits=2, sign=True
        ),
    }


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
    }


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


def gains_of(one: Table, name: str, other: str) -> list[float]:
    """Return how far one row is above another, in each column of treebanks that has both."""
    headings = [h for h in one.header[1:-1] if one.has(name, h) and one.has(other, h)]
    return [one.number(name, h) - one.number(other, h) for h in headings]
