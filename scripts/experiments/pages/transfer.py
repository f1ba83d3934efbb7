"""What pages on projection say in figures, computed from their tables."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from scripts.experiments.harness.page import Tables
from scripts.experiments.harness.tables import Table, listed, span, verdict

Phrases = Mapping[str, str]
LANGUAGES = ("German", "Spanish", "Swedish")
ENGLISH, OTHERS = "English", "other treebanks too"
UNKNOWN = "not measured yet"
KINDS_OF_TAGS = GOLD_TAGS, BEST_TAGS, UNCERTAIN_TAGS = "gold tags", "best tags", "uncertain tags"
# Rows and columns of the page on soft projection.
SOFT = "soft, English"
UNCHANGED, SHARE = "unchanged", "share of wrong heads"
LOSSES = (
    "no prior",
    "no evidence",
    "words not translated",
    "half of the pairs",
    "evidence nearly certain (strength 6)",
    "no pull towards the prior",
    "all that was learned added (share 1)",
    "links without weights",
)


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
    systems = {language: tables[language] for language in LANGUAGES}
    tagger_uas = "UAS, tagger's tags"

    def gained(name: str, column: str = "UAS", over: str = UNCHANGED) -> str:
        """Say what one row of each language has more than another."""
        found = {
            language: table.number(name, column) - table.number(over, column)
            for language, table in changes.items()
            if table.has(name, column) and table.has(over, column)
        }
        return by_language(found)

    def ece(tags: str) -> str:
        rows = [(table, SOFT, tags, "ECE") for table in systems.values()]
        return span_known(table.number(*names) for table, *names in rows if table.has(*names))

    return {
        **{f"lost: {name}": gained(UNCHANGED, over=name) for name in LOSSES},
        "aims reached": aims_reached(tables["aims"]),
        **{f"ECE, {tags}": ece(tags) for tags in KINDS_OF_TAGS},
        "relations": gained(UNCHANGED, "LAS, no subtypes", "relations of the prior"),
        "uncertain tags": gained("uncertain tags tried", tagger_uas),
        "temperature": gained("probabilities as learned (temperature 1)", "ECE"),
        **{
            f"cost of tags: {name}": by_language(
                {
                    language: table.number(UNCHANGED, f"{name}, tagger's tags")
                    - table.number(UNCHANGED, name)
                    for language, table in changes.items()
                    if table.has(UNCHANGED, name)
                }
            )
            for name in ("UAS", "LAS, no subtypes")
        },
        "worst relations": worst(tables["errors by relation"]),
        "far arcs": by_language(
            {
                language: sum(far.numbers_in(f"{language}: {SHARE}", rows=("left 7+", "right 7+")))
                for language in LANGUAGES
                if (far := tables["errors by distance"]).numbers_in(f"{language}: {SHARE}")
            },
            sign=False,
        ),
        "pipeline": f"{seconds:.0f} seconds" if (seconds := pipeline_seconds(tables["time"])) else UNKNOWN,
    }


def pipeline_seconds(time: Table) -> float:
    """Return what the whole of German takes; 0 where it is not measured."""
    return time.number("all", "German") if time.has("all", "German") else 0.0


def worst(errors: Table, most: int = 4) -> str:
    """Name the groups with the most wrong heads in each language."""
    said = []
    for language in LANGUAGES:
        column = f"{language}: {SHARE}"
        known = [name for name in errors.names if errors.has(name, column)]
        ordered = sorted(known, key=lambda name: -errors.number(name, column))[:most]
        if ordered:
            shares = [f"{name} {errors.cell(name, column)}" for name in ordered]
            said.append(f"{', '.join(shares)} percent ({language})")
    return "; ".join(said) or UNKNOWN


def by_language(found: Mapping[str, float], *, sign: bool = True) -> str:
    """Say a figure of each language."""
    shown = [f"{round(value, 1) + 0.0:{'+' if sign else ''}.1f} ({name})" for name, value in found.items()]
    return listed(shown) if shown else UNKNOWN


def span_known(values: Iterable[float], *, sign: bool = False) -> str:
    """Say between what and what values lie, where there are any."""
    found = list(values)
    return span(found, sign=sign) if found else UNKNOWN


def aims_reached(aims: Table) -> str:
    """Say how many aims are reached."""
    verdicts = [row[aims.column(f"{score} is")] for score in ("UAS", "LAS, no subtypes") for row in aims.rows]
    known = [one for one in verdicts if one]
    if not known:
        return f"Which aims are reached is {UNKNOWN}"
    return f"{known.count('reached')} of {len(known)} figures reach what was wanted"


def bootstrap(tables: Tables) -> Phrases:
    pud, readings = tables["PUD"], tables["readings"]
    return {
        **{f"{language}: aims": against_aims(tables, language) for language in tables["aims"].names},
        "missing": listed([f"{language} ({way})" for language, way, *cells in pud.rows if not any(cells)]),
        "others": differences(pud, (OTHERS, "UAS"), (ENGLISH, "UAS")),
        "others on dev": differences(tables["dev"], (OTHERS, "UAS"), (ENGLISH, "UAS")),
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
        said.append(f"{name} {found:.1f}, aim {aim:g}: {verdict(found, aim)}")
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
    rooms = {"PUD": LANGUAGES, "parallel": ("Swedish LinES", "Italian ParTUT")}
    tuned = "fine-tuned"

    def more(room: str, score: str, tags: str, over: Iterable[str], one: str = tuned) -> str:
        """Say what a row has more than the best of others, over settings and numbers of trees."""
        cells = [
            (tables[name], column)
            for name in rooms[room]
            for column in tables[name].header
            if column.startswith(f"{score}, ") and tables[name].has(tags, one, column)
        ]
        return span_known(
            (
                table.number(tags, one, column) - max(table.number(tags, rival, column) for rival in over)
                for table, column in cells
            ),
            sign=True,
        )

    def of_tuned(score: str, tags: str) -> list[float]:
        """Return its scores in all settings."""
        columns = (
            (table, column)
            for table in (tables[name] for room in rooms.values() for name in room)
            for column in table.header
            if column.startswith(f"{score}, ") and table.has(tags, tuned, column)
        )
        return [table.number(tags, tuned, column) for table, column in columns]

    rivals = ("trees alone", "projection alone", "projected trees and these, mixed")
    phrases = {"aims reached": aims_reached(tables["aims"])}
    for room in rooms:
        for score in ("UAS", "LAS, no subtypes"):
            phrases[f"{room}: gain, {score}"] = more(room, score, GOLD_TAGS, rivals)
            phrases[f"{room}: gain, {score}, best tags"] = more(room, score, BEST_TAGS, rivals)
            phrases[f"{room}: choice, {score}"] = more(
                room, score, GOLD_TAGS, [tuned], "fine-tuned, suggested trees"
            )
        without = "fine-tuned, nothing of trees alone added"
        phrases[f"{room}: added, UAS"] = more(room, "UAS", GOLD_TAGS, [without])
    best, uncertain = (of_tuned("UAS", tags) for tags in (BEST_TAGS, UNCERTAIN_TAGS))
    return {
        **phrases,
        "uncertain tags, UAS": span_known(
            (one - other for one, other in zip(uncertain, best, strict=True)), sign=True
        ),
        **{f"ECE, {tags}": span_known(of_tuned("ECE", tags)) for tags in KINDS_OF_TAGS},
    }
