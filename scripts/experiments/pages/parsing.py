"""What pages on parsing say in figures, computed from their tables."""

from __future__ import annotations

from collections.abc import Mapping

from scripts.experiments.harness.page import Tables
from scripts.experiments.harness.tables import Table, listed, numbers, span

Phrases = Mapping[str, str]


def second_order(tables: Tables) -> Phrases:
    gains = tables["gains"]
    three = [gains.number(name, "gain") for name in ("Danish-DDT", "Dutch-Alpino", "Hungarian-Szeged")]
    return {
        "mean of three": f"{sum(three) / len(three):.2f}",
        "all of English": f"{gains.number('English-EWT', 'gain'):.2f}",
        "a twelfth of English": f"{gains.number('English-EWT, 1 in 12', 'gain'):.2f}",
    }


def nonprojective(tables: Tables) -> Phrases:
    uas, crossing, time = tables["uas"], tables["crossing"], tables["time"]
    names = uas.header[1:]
    first, nocross, richest = "TREE + LINK", "+ NOCROSS", "+ CHILDSEQ"
    best, mbr, climbed = "exact projective, best tree", "exact projective, MBR", "best tree + hill climbing"

    def gains(one: str, other: str) -> dict[str, float]:
        return {name: uas.number(one, name) - uas.number(other, name) for name in names}

    def times_as_many(way: str) -> str:
        ratios = (crossing.number(way, name) / crossing.number("test file", name) for name in names)
        return ", ".join(f"{ratio:.1f} ({name})" for ratio, name in zip(ratios, names, strict=True))

    of_all = gains(richest, first)
    significant = [name for name in names if "*" in uas.cell(richest, name)]
    others = [f"{name} ({of_all[name]:+.2f})" for name in names if name not in significant]
    return {
        "crossing without": times_as_many(first),
        "crossing with": times_as_many(nocross),
        "gain of NOCROSS": span(gains(nocross, first).values(), digits=2),
        "significant gain of NOCROSS": listed([name for name in names if "*" in uas.cell(nocross, name)]),
        "gain of all": span(of_all.values(), digits=2, sign=True),
        "significant gain of all": listed(significant),
        "not significant": f"Not significantly: {listed(others)}; why was not found out." if others else "",
        "gain over best": span(gains(richest, best).values()),
        "better than MBR": listed([name for name, gain in gains(richest, mbr).items() if gain > 0]),
        "gain of climbing": span(gains(climbed, best).values(), digits=2, sign=True),
        "time of climbing": span(time.number(climbed, name) / time.number(richest, name) for name in names),
    }


def hard_constraints(tables: Tables) -> Phrases:
    uas = tables["uas"]
    names = uas.header[1:]

    def both(constraint: str, name: str) -> list[float]:
        """Return the UAS where TREE was used in training and where the constraint was."""
        return numbers(uas.cell(constraint, name).replace("*", ""))

    def most(constraints: tuple[str, ...], other: str) -> str:
        return f"{max(abs(a - b) for c in constraints for n in names for a, b in zip(both(c, n), both(other, n))):.2f}"

    better = [name for name in names if uas.number("PTREE", name) > uas.number("TREE", name)]
    decoded = {name: uas.cell("EXACTLY1", name).partition("(")[0] for name in names}
    return {
        "most of EXACTLY1": most(("EXACTLY1", "EXACTLY1 + NO2CYCLE"), "TREE"),
        "significant EXACTLY1": listed([name for name in names if "*" in decoded[name]]),
        "most of ATMOST1": most(("ATMOST1",), "EXACTLY1"),
        "missing of NOT2": span((both("TREE", name)[1] - both("NOT2", name)[1] for name in names), digits=2),
        "better PTREE": listed(better),
        "significant PTREE": listed([name for name in better if "*" in uas.cell("PTREE", name)]),
    }


def relaxation(tables: Tables) -> Phrases:
    most = "0.1"
    pruned = {name: one for name, one in tables.items() if "pruning" not in name}
    unpruned = tables["danish test, next to no pruning"]
    english = [pruned[name].number(most, "against full") for name in ("english dev", "english test")]
    return {
        "factors": span((one.number(most, "share %") for one in pruned.values()), digits=0),
        "English": span(english, digits=2, sign=True),
        "Danish": pruned["danish test"].cell(most, "against full"),
        "least p": f"{min(p for one in pruned.values() for p in one.numbers_in('p')):g}",
        "factors without pruning": unpruned.cell(most, "share %"),
        "time": f"{100 * unpruned.number(most, 'ms') / unpruned.number('0', 'ms'):.0f}%",
        "gain": unpruned.cell(most, "against full"),
        "pruned": f"{unpruned.number(most, 'UAS') - pruned['danish test'].number('0', 'UAS'):+.2f}",
    }


TEN, EXACT = "BP, flooding, 10", "exact, MBR"


def search_error(tables: Tables) -> Phrases:
    def faster(model: str) -> str:
        """Say for joined texts of how many words exact MBR is faster than ten iterations."""
        joined = tables[f"{model}: joined"]
        return listed(
            [n for n in joined.names if joined.number(n, f"{EXACT}, ms") < joined.number(n, f"{TEN}, ms")]
        )

    return {
        "GRAND: error": tables["GRAND"].cell(TEN, "by sentence %"),
        "CHILDSEQ: error": tables["GRAND + CHILDSEQ"].cell(TEN, "by sentence %"),
        "faster without pruning": faster("GRAND + CHILDSEQ"),
        "faster pruned": faster("GRAND + CHILDSEQ, pruned"),
    }


def learned_search_error(tables: Tables) -> Phrases:
    both = tables.values()
    return {
        "GRAND: error": tables["GRAND"].cell(TEN, "by sentence %"),
        "CHILDSEQ: error": tables["GRAND + CHILDSEQ"].cell(TEN, "by sentence %"),
        "not settled": span((100 - one.number(TEN, "settled %") for one in both), digits=0),
        "UAS": f"{max(abs(one.number(TEN, 'UAS') - one.number(EXACT, 'UAS')) for one in both):.2f}",
    }


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


def labels(tables: Tables) -> Phrases:
    accuracy, time = tables["accuracy"], tables["time"]
    return {
        **{f"gain of {score}": accuracy.cell("mean", f"gain of {score}") for score in ("LAS", "UAS")},
        "time of parsing": time.cell("mean", "parsing"),
        "time of training": time.cell("mean", "training"),
    }
