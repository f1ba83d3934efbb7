"""What pages on joint parsing say in figures, computed from their tables."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from scripts.experiments.harness.page import Tables
from scripts.experiments.harness.tables import Table, listed, span
from scripts.experiments.pages.transfer import UNKNOWN

Phrases = Mapping[str, str]
CORPORA = {"lines": "Swedish", "partut": "Italian", "pud-de": "German", "pud-zh": "Chinese"}
ALONE = "target only"

# What is measured with real tags: kinds of tags, and ways to decide relations.
GOLD, SECOND_ORDER = "gold tags and features", "gold tags and features, second order"
TAGGER, LINKS, JOINTLY = "the tagger's tags", "tags through links", "tags decided with trees"
TARGET_PARSER, AFTER, TOGETHER = "target parser alone", "joint, labels after", "joint, labels joint"


def gains(table: Table, one: str, other: str, *, least: int = 0) -> dict[int, float]:
    """Return the differences of two rows by number of trees, where there are both, from ``least`` trees up."""
    sizes = [size for size in table.header[1:] if int(size) >= least]
    return {
        int(size): table.number(one, size) - table.number(other, size)
        for size in sizes
        if table.has(one, size) and table.has(other, size)
    }


def by_language(spans: Mapping[str, Iterable[float]]) -> str:
    """Say between what and what values lie in each language."""
    found = {language: list(values) for language, values in spans.items()}
    shown = [f"{span(values, digits=2, sign=True)} ({name})" for name, values in found.items() if values]
    return listed(shown) if shown else UNKNOWN


def joint_links(tables: Tables) -> Phrases:
    errors, parsing, lines = tables["alignment errors"], tables["hand alignments"], tables["link features"]
    plain = "ALIGN and fertilities"
    more = [name for name in errors.names if name.startswith("with ")]
    ours, hand = "the aligner's links", "hand alignments"
    observed = f"{ours}, those by hand observed in training"
    trees = ("source tree inferred", "1-best source tree")

    def change(column: str) -> list[float]:
        return [errors.number(name, column) - errors.number(plain, column) for name in more]

    def difference(one: str, other: str) -> str:
        found = (
            value for tree in trees for value in gains(parsing, f"{one}, {tree}", f"{other}, {tree}").values()
        )
        return span(found, sign=True)

    other_language = (value for tree in trees for value in gains(parsing, f"{ours}, {tree}", ALONE).values())

    def on_lines(name: str) -> str:
        return f"{lines.number(name, 'Swedish UAS') - lines.number('full QG', 'Swedish UAS'):+.2f}"

    return {
        "AER: aligner": errors.cell(ours, "test"),
        "AER: no tags": errors.cell(f"{plain}, without tags", "test"),
        "AER: tags": errors.cell(plain, "test"),
        "most on dev": f"{max(map(abs, change('dev, five folds'))):.2f}",
        "more on test": span(change("test"), digits=2, sign=True),
        "by hand": difference(hand, ours),
        "other language": span(other_language, sign=True),
        "observed": difference(observed, ours),
        "LinES: target words": on_lines("with ALIGNHMM over target words"),
        "LinES: source words": on_lines("with ALIGNHMM over source words"),
        "LinES: dictionary": on_lines("with a dictionary"),
    }


def joint_monolingual(tables: Tables) -> Phrases:
    swedish, italian = tables["lines"], tables["partut"]
    channel, one, two = "noisy channel", "co-trained, one round", "co-trained, two rounds"
    bilingual = "full QG, joint, with the source"

    def gain(table: Table, condition: str, other: str = ALONE) -> str:
        return span(gains(table, condition, other).values(), sign=True)

    def both(condition: str) -> str:
        return listed(
            [
                f"{gain(table, condition)} ({name})"
                for name, table in (("Swedish", swedish), ("Italian", italian))
            ]
        )

    return {
        "Swedish: channel": gain(swedish, channel),
        "Swedish: channel over joint": gain(swedish, channel, bilingual),
        "Swedish: all factors": gain(swedish, "noisy channel, all factors", channel),
        "Italian: channel": gain(italian, channel),
        "Italian: one round": gain(italian, one),
        "Italian: two rounds": gain(italian, two),
        "source words": both("noisy channel, source words too"),
        "self-training": both("self-trained"),
    }


def real_tags(tables: Tables) -> Phrases:
    def between(one: tuple[str, str], other: tuple[str, str], column: str) -> str:
        """Say how far one kind of tags and way to parse is above another, for each corpus."""
        return by_language(
            {
                CORPORA[name]: [
                    found.number(size, *one, column) - found.number(size, *other, column)
                    for size in dict.fromkeys(found.names)
                    if found.has(size, *one, column) and found.has(size, *other, column)
                ]
                for name, found in tables.items()
            }
        )

    def real(way: str, other: str, column: str) -> str:
        return between((TAGGER, way), (TAGGER, other), column)

    return {
        "labels: gold": between((GOLD, TOGETHER), (GOLD, AFTER), "LAS"),
        "labels: tagger": real(TOGETHER, AFTER, "LAS"),
        "joint: gold": between((GOLD, TOGETHER), (GOLD, TARGET_PARSER), "UAS"),
        "joint: tagger": real(TOGETHER, TARGET_PARSER, "UAS"),
        "joint: second order": between((SECOND_ORDER, TOGETHER), (SECOND_ORDER, TARGET_PARSER), "UAS"),
        "second order": between((SECOND_ORDER, TOGETHER), (GOLD, TOGETHER), "UAS"),
        "links: tags": between((LINKS, TOGETHER), (TAGGER, TOGETHER), "UPOS"),
        "links: UAS": between((LINKS, TOGETHER), (TAGGER, TOGETHER), "UAS"),
        "links: LAS": between((LINKS, TOGETHER), (TAGGER, TOGETHER), "LAS"),
        **{
            f"with trees: {column}": between((JOINTLY, TOGETHER), (LINKS, TOGETHER), column)
            for column in ("UPOS", "UAS", "LAS")
        },
    }
