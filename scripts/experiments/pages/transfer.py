"""What pages on projection say in figures, computed from their tables."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from scripts.experiments.harness.page import Tables
from scripts.experiments.harness.tables import Table, listed, span

Phrases = Mapping[str, str]
LANGUAGES = ("German", "Spanish", "Swedish")
ENGLISH, OTHERS, UNTRANSLATED = "English", "other treebanks too", "English, words not translated"
UNKNOWN = "not measured yet"


def ladder(tables: Tables) -> Phrases:
    sizes = ("1,000 pairs", "10,000 pairs", "all pairs")
    trained = ("EM", "hard", "hard + EM, as in the thesis", "hard + EM", "QG + EM")
    thesis_em = "hard + EM, as in the thesis"
    languages = {language: tables[language] for language in LANGUAGES if language in tables}

    def where(holds: Callable[[Table, str], bool]) -> str:
        """Name the cells for which something holds."""
        found = {
            language: [size.removesuffix(" pairs") for size in sizes if holds(table, size)]
            for language, table in languages.items()
        }
        named = [f"{language} ({', '.join(cells)})" for language, cells in found.items() if cells]
        return "every cell" if all(len(cells) == len(sizes) for cells in found.values()) else listed(named)

    def above(one: str, other: str, *, reference: str = "") -> str:
        """Name the cells where one row is above another; ``reference``: the other's only column."""
        return where(lambda table, size: table.number(one, size) > table.number(other, reference or size))

    def below(one: str, other: str, *, reference: str = "") -> str:
        return where(lambda table, size: table.number(one, size) < table.number(other, reference or size))

    last = sizes[-1]
    over = (table.number("QG + EM", last) - table.number("hard + EM", last) for table in languages.values())
    more = (
        table.number(row, last) - table.number(row, sizes[1])
        for table in languages.values()
        for row in trained
    )
    cost = (
        table.number(row, last) - table.number(row, "all, predicted tags")
        for table in languages.values()
        for row in trained
    )
    return {
        "EM above next": above("EM", "attach next", reference=last),
        "EM below next": below("EM", "attach next", reference=last),
        "hard above EM": above("hard", "EM"),
        "thesis EM below hard": below(thesis_em, "hard"),
        "thesis EM above hard": above(thesis_em, "hard"),
        "QG above hard": above("QG + EM", "hard"),
        "QG above thesis EM": above("QG + EM", thesis_em),
        "QG over hard + EM": ", ".join(f"{gain:+.1f} ({name})" for gain, name in zip(over, languages)),
        "from 10,000": span(more, sign=True),
        "cost of predicted tags": span(cost),
    }


def projection(tables: Tables) -> Phrases:
    languages = {language: tables[language] for language in LANGUAGES if language in tables}
    gains = (
        table.number("hard, partial trees", "UAS") - table.number("hard, whole trees", "UAS")
        for table in languages.values()
    )
    below = [
        language
        for language, table in languages.items()
        if max(table.numbers_in("UAS", rows=[name for name in table.names if name.startswith("hard")]))
        < table.number("delexicalised transfer", "UAS")
    ]
    return {"partial over whole": span(gains), "below transfer": listed(below)}


def soft_projection(tables: Tables) -> Phrases:
    changes = {language: tables[f"{language} changes"] for language in LANGUAGES}
    votes = tables["votes"]

    def lost(change: str, column: str = "UAS") -> list[float]:
        """Return what a change takes away, in each language."""
        return [
            table.number("unchanged", column) - table.number(change, column) for table in changes.values()
        ]

    def by_language(values: list[float]) -> str:
        return listed(
            [
                f"{round(value, 1) + 0.0:+.1f} ({language})"
                for value, language in zip(values, LANGUAGES, strict=True)
            ]
        )

    def voted(one: str, other: str) -> str:
        return by_language(
            [votes.number(one, f"{name} UAS") - votes.number(other, f"{name} UAS") for name in LANGUAGES]
        )

    def best_single(language: str) -> str:
        singles = [name for name in votes.names if name.startswith("PUD, ") and name != "PUD, all four"]
        scored = {
            name: votes.number(name, f"{language} UAS")
            for name in singles
            if votes.has(name, f"{language} UAS")
        }
        return max(scored, key=lambda name: scored[name]).removeprefix("PUD, ")

    grammar = "weighed by posteriors of the QG-DMV"
    return {
        "strength": span(lost("evidence nearly certain (strength 6)")),
        "prior": by_language(lost("no prior")),
        "prior on dev": by_language(lost("no prior", "dev UAS")),
        "pull": by_language(lost("no pull towards the prior")),
        "choice": by_language(lost("pairs not chosen")),
        "weights": by_language(lost("links without weights")),
        "grammar": by_language([-value for value in lost(grammar)]),
        "grammar on dev": by_language([-value for value in lost(grammar, "dev UAS")]),
        "all four over English": voted("PUD, all four", "PUD, English"),
        "English beside bitext": voted("bitext and PUD, English", "bitext"),
        "others beside bitext": voted("bitext and PUD, all four", "bitext and PUD, English"),
        "best single": listed([f"{best_single(language)} for {language}" for language in LANGUAGES]),
    }


def what_translating_adds(dev: Table) -> str:
    """Say what parsers of translated trees add to UAS and LAS, with the model's tags and with gold ones."""
    names = ("UAS", "LAS, no subtypes", "UAS, gold tags", "LAS, no subtypes, gold tags")
    found = {name: differences(dev, (ENGLISH, name), (UNTRANSLATED, name)) for name in names}
    if UNKNOWN in found.values():
        return UNKNOWN
    return "; ".join(f"{name} {added}" for name, added in found.items())


def bootstrap(tables: Tables) -> Phrases:
    pud, readings = tables["PUD"], tables["readings"]
    return {
        **{f"{language}: aims": against_aims(tables, language) for language in tables["aims"].names},
        "missing": listed([f"{language} ({way})" for language, way, *cells in pud.rows if not any(cells)]),
        "others": differences(pud, (OTHERS, "UAS"), (ENGLISH, "UAS")),
        "others on dev": differences(tables["dev"], (OTHERS, "UAS"), (ENGLISH, "UAS")),
        "translated": what_translating_adds(tables["dev"]),
        "gold tags": differences(pud, (ENGLISH, "UAS, gold tags"), (ENGLISH, "UAS")),
        **{
            f"readings: {name}": differences(
                readings, (ENGLISH, f"{name}, uncertain tags"), (ENGLISH, f"{name}, best tags")
            )
            for name in ("UAS", "LAS, no subtypes", "ECE")
        },
    }


def against_aims(tables: Tables, language: str) -> str:
    """Say which aims are reached with the trees of English alone, and what the others are missed by."""
    pud, aims = tables["PUD"], tables["aims"]
    said = []
    for name in aims.header[1:]:
        if not pud.has(language, ENGLISH, name):
            return UNKNOWN
        found, aim = pud.number(language, ENGLISH, name), aims.number(language, name)
        verdict = "reached" if found >= aim else f"missed by {aim - found:.1f}"
        said.append(f"{name} {found:.1f}, aim {aim:g}: {verdict}")
    return "; ".join(said)


def differences(table: Table, one: tuple[str, str], other: tuple[str, str]) -> str:
    """Say for each language by how much a cell is above another, each given by its way and heading."""
    languages = [
        language
        for language in dict.fromkeys(table.names)
        if table.has(language, *one) and table.has(language, *other)
    ]
    found = [
        f"{round(table.number(language, *one) - table.number(language, *other), 1) + 0.0:+.1f} ({language})"
        for language in languages
    ]
    return listed(found) if found else UNKNOWN


def few_trees(tables: Tables) -> Phrases:
    """Say what fine-tuning gains over the best of what there was without it, and what choosing adds."""
    phrases: dict[str, str] = {}
    for score in ("UAS", "LAS, no subtypes"):
        shown = {name: tables[f"{name}, {score}"] for name in ("Swedish", "Italian")}
        rivals = ("trees alone", "projection alone", "projected trees and these, mixed")
        gains, choices, added = [], [], []
        for one in shown.values():
            for size in (size for size in one.header[1:] if one.has("fine-tuned", size)):
                of = one.number("fine-tuned", size)
                gains.append(of - max(one.number(rival, size) for rival in rivals))
                choices.append(one.number("fine-tuned, suggested trees", size) - of)
                added.append(of - one.number("fine-tuned, nothing of trees alone added", size))
        phrases |= {
            f"gain, {score}": span(gains, sign=True),
            f"choice, {score}": span(choices, sign=True),
            f"added, {score}": span(added, sign=True),
        }
    return phrases
