"""Measure what each ingredient of a bootstrap is worth: leave one out at a time, with the rest as in use.

Ingredients of the tagger are measured by UPOS on all languages of ``many_bench``, those of the parser by UAS and LAS on
the Testaments. Development files are scored. Stages of ``--work`` are shared with ``many_bench``, whose options hold here,
too.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from statistics import mean

from qsproj.errors import pluralise
from scripts.experiments.harness.experiment import Experiment, Lab
from scripts.experiments.harness.page import Figures
from scripts.experiments.harness.tables import Table, table
from scripts.experiments.transfer.many_bench import Runs, every_run, gains
from scripts.experiments.transfer.many_languages import KINDS, LANGUAGES, NEWS, TESTAMENT, add_work

CLEAR = 0.5  # points of one language that its change is named from

# Features are not scored and change no tag; learning them takes a third of the time of a tagger.
TAGS = "--without features"
OF_TAGS = {
    "several taggers": "--without several taggers",
    "fourth power of probabilities of links": "--without sureness of links",
    "votes of similar forms": "--without similar forms",
    "nouns before nouns as adjectives": "--without words of either tag",
    "second tags of the target": "--without second tags",
    "spelling of raw text": "--without spelling",
    "function words": "--without function words",
    "registered auxiliaries": "--without registered auxiliaries",
    "conventions of the target": "--without conventions",
    "self-training": "--without self-training",
    "division by frequency": "--without balance",
    "raw text": "--learn-text never",
    "more than one round of raw text": "--without rounds of raw text",
    "prior of unknown words": "--without prior of unknown words",
    "word classes": "--without word classes",
    "numbers in digits": "--without sentences in digits",
}
OF_TREES = {
    "evidence of links": "--share 0",
    "evidence of relations": "--without evidence of relations",
    "translated words in the prior": "--without translated words",
    "word order of the target in the prior": "--without reordered trees",
    "untranslated words left out of the prior": "--without missing words",
    "more than one draw of translations": "--draws 1",
}


def run(lab: Lab) -> Figures:
    options = lab.options
    tags = _changes(lab, {name: f"{TAGS} {way}" for name, way in OF_TAGS.items()}, tags=True)
    trees = _changes(lab, OF_TREES, tags=False)
    measures = ("UAS", "LAS", "UAS, gold tags", "LAS, gold tags")
    return Figures(
        tables={"tags": worth_table(tags, ("UPOS",)), "trees": worth_table(trees, measures, each="LAS")},
        values={"run": f"{pluralise(len(options.seeds), 'seed')}, {options.tested} sentences"},
    )


def _changes(lab: Lab, ways: Mapping[str, str], *, tags: bool) -> dict[str, tuple[Runs, Runs]]:
    """Return the runs in use, and those of each way without an ingredient."""
    languages = lab.options.languages if tags else lab.options.of_trees
    options = argparse.Namespace(**{**vars(lab.options), "languages": languages, "tags": tags})
    every = every_run(replace(lab, options=options), ["", *ways.values()])
    return {name: (every[""], every[way]) for name, way in ways.items()}


def worth_table(
    left_out: Mapping[str, tuple[Runs, Runs]], measures: Sequence[str], each: str = "UPOS"
) -> Table:
    """Lay out the mean change of measures without an ingredient, and how ``each`` changes; largest losses first.

    Of ``each``: the mean of each kind of bitext, and the languages that lose or gain at least CLEAR.
    """
    of = {
        name: {measure: gains(*runs, measure) for measure in {*measures, each}}
        for name, runs in left_out.items()
    }
    measured = [name for name, found in of.items() if found[each]]
    return table(
        ["left out", *measures, *(f"{each}, {kind}" for kind in KINDS), "loses", "gains"],
        [
            [
                name,
                *(_mean(of[name][measure].values()) for measure in measures),
                *(_mean(_of_kind(of[name][each], kind)) for kind in KINDS),
                _named({code: one for code, one in of[name][each].items() if one <= -CLEAR}),
                _named({code: one for code, one in of[name][each].items() if one >= CLEAR}),
            ]
            for name in sorted(measured, key=lambda name: mean(of[name][each].values()))
        ],
    )


def _of_kind(changes: Mapping[str, float], kind: str) -> list[float]:
    return [one for code, one in changes.items() if LANGUAGES[code].kind == kind]


def _named(changes: Mapping[str, float]) -> str:
    """Name languages with their changes, the largest first."""
    ordered = sorted(changes, key=lambda code: -abs(changes[code]))
    return ", ".join(f"{_label(code)} {_signed(changes[code])}" for code in ordered)


def _label(code: str) -> str:
    language = LANGUAGES[code]
    return f"{language.name} news" if language.kind == NEWS else language.name


def _mean(changes: Iterable[float]) -> str:
    found = list(changes)
    return _signed(mean(found)) if found else ""


def _signed(number: float) -> str:
    # No minus sign before a zero.
    return f"{round(number, 1) + 0.0:+.1f}"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    testaments = [code for code, language in LANGUAGES.items() if language.kind == TESTAMENT]
    for name, codes, help_ in (
        ("--languages", [*LANGUAGES], "of taggers (default: all)"),
        ("--of-trees", testaments, "of parsers (default: all with a Testament)"),
    ):
        add(name, nargs="+", default=codes, choices=codes, metavar="CODE", help=help_)
    add("--seeds", nargs="+", type=int, default=[1], metavar="N")
    add("--tested", type=int, default=500, metavar="N", help="sentences to score (default: %(default)s)")
    add("--kept", action="store_true", help="show stored figures, and measure nothing")
    add("--jobs", type=int, default=1, metavar="N", help="languages at once (default: %(default)s)")
    add_work(parser)
    parser.set_defaults(pairs=8000, again=None, folder=None)


EXPERIMENT = Experiment(file=__file__, about=__doc__, measure=run, add_arguments=add_arguments)

if __name__ == "__main__":
    EXPERIMENT.main()
