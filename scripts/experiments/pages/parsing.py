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


def hidden_tree(tables: Tables) -> Phrases:
    rivals = {
        "first": ("+ hidden tree", "+ NOCROSS"),
        "second": ("+ second order, hidden tree", "+ second order, NOCROSS"),
    }
    phrases = {}
    for order, (hidden, nocross) in rivals.items():
        for part in ("crossing", "rest"):
            uas = tables[part]
            *each, mean = (uas.number(hidden, name) - uas.number(nocross, name) for name in uas.header[1:])
            phrases[f"{order}, {part}"] = f"{mean:+.2f}"
            gains = (f"{name} {gain:+.2f}" for name, gain in zip(uas.header[1:], each, strict=False))
            phrases[f"{order}, {part}, each"] = ", ".join(gains)
    return phrases


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
    chosen, full, first = "0.001", "0", "first order"
    pruned = {name: one for name, one in tables.items() if name != "length" and "pruning" not in name}
    unpruned, length = tables["danish test, next to no pruning"], tables["length"]
    english = pruned["english dev"]
    short, long = (length.number(full, f"{words} words") for words in (10, 100))
    return {
        "chosen": chosen,
        "of all": span((one.number(chosen, "of all %") for one in pruned.values()), digits=2),
        "share": span((one.number(chosen, "share %") for one in pruned.values()), digits=0),
        "dev": english.cell(chosen, "against full"),
        "tests": span(
            (pruned[name].number(chosen, "against full") for name in ("danish test", "english test")),
            digits=2,
            sign=True,
        ),
        "least p": f"{min(one.number(chosen, 'p') for one in pruned.values()):g}",
        "without": english.cell("0.1", "against full"),
        "time": english.cell(chosen, "times first order"),
        "full time": english.cell(full, "times first order"),
        "gain without pruning": unpruned.cell(chosen, "against full"),
        "share without pruning": unpruned.cell(chosen, "of all %"),
        "longer": f"{long / short:.0f}",
        "longer in first order": f"{length.number(first, '100 words') / length.number(first, '10 words'):.0f}",
    }


def arguments(tables: Tables) -> Phrases:
    rows = tables["arguments"]
    ways = {"": [name for name in rows.names if "projected" not in name]}
    ways[" projected"] = [name for name in rows.names if "projected" in name]
    phrases: dict[str, str] = {}
    for way, names in ways.items():
        for column in ("ceiling", "decoder"):
            found, sign = [rows.number(name, column) for name in names], column == "decoder"
            phrases[f"{column}{way}"] = span(found, digits=2, sign=sign)
            phrases[f"mean {column}{way}"] = span([sum(found) / len(found)], digits=2, sign=sign)
    return phrases


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


def nonprojective_trees(tables: Tables) -> Phrases:
    pairs, crossing, exact, long = (
        tables[name] for name in ("pairs", "crossing", "than exact", "than exact, long")
    )
    shares = [pairs.number(name, "%") for name in ("projective trees, too", "non-projective trees only")]
    most = max(crossing.names, key=lambda name: crossing.number(name, "crossing, test"))
    here = tables["than PTREE"].header[1:]
    # From the most errors to the fewest, as in the thesis.
    order = ("NOT2", "EXACTLY1", "EXACTLY1 + NO2CYCLE", "PTREE")
    ordered = [
        name
        for name in here
        if (found := [tables["than PTREE"].number(one, name) for one in order]) == sorted(found, reverse=True)
    ]
    uas = tables["uas"]
    return {
        "projective pairs": f"{100 * shares[0] / sum(shares):.0f}%",
        "most crossing": f"{most} with {crossing.cell(most, 'crossing, test')}%",
        **{
            f"{name}{', long' if one is long else ''}": span(row_of(one, name), digits=2)
            for one in (exact, long)
            for name in ("NOT2", "EXACTLY1", "PTREE")
        },
        "in order": listed(ordered),
        "lost by EXACTLY1": span(
            (a - b for a, b in zip(row_of(uas, "PTREE"), row_of(uas, "EXACTLY1"), strict=True)), digits=2
        ),
    }


def row_of(one: Table, name: str) -> list[float]:
    """Return the figures of a row."""
    return [one.number(name, heading) for heading in one.header[1:]]


def labels(tables: Tables) -> Phrases:
    accuracy, time = tables["accuracy"], tables["time"]
    return {
        **{f"gain of {score}": accuracy.cell("mean", f"gain of {score}") for score in ("LAS", "UAS")},
        "time of parsing": time.cell("mean", "parsing"),
        "time of training": time.cell("mean", "training"),
    }


def features(tables: Tables) -> Phrases:
    """Say what columns gain in LAS, on the mean of treebanks."""
    learned = tables["learned"]
    names = list(dict.fromkeys(learned.names))

    def gain(whose: str, read: str) -> str:
        gains = [
            learned.number(name, whose, read, "LAS") - learned.number(name, whose, "words", "LAS")
            for name in names
        ]
        return f"{sum(gains) / len(gains):+.1f} ({span(gains, sign=True)})"

    return {
        f"{whose}: {read}": gain(whose, read)
        for whose in ("gold", "own", "gold in training")
        for read in ("features", "all")
    }
