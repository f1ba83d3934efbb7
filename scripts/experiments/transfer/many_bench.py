"""Measure bootstraps of many languages, and what a change gains on each: tags, trees, probabilities.

The languages are ten New Testaments, with raw text of the treebank; 8,000 pairs of news of four languages; and 1,000
pairs of Turkish and Chinese. Development files are scored, with the model's own tags and with gold tags.

What is in use is ``--a``; each ``--b`` is a change to compare with it. Both are options in quotes:

  python -m scripts.experiments.transfer.many_bench --languages wo uk --jobs 2 \\
      --b="--cut never" --b="--no-text" --b="--without balance" --b="--share 0.75"

Other languages may be measured from a folder of files, which is how choices are tried on languages that they were not
made on.

Stages are kept in ``--work``: a change of the last ones takes minutes. Stages of changed code are made again when their
versions are raised, or with ``--again STAGE``. A run that was stopped goes on where it was. Figures are recorded for the
page when all languages are measured; ``--kept`` records those that are, where a change was measured on some languages.
"""

from __future__ import annotations

import argparse
import itertools
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from functools import partial
from math import comb
from pathlib import Path
from statistics import mean, stdev
from typing import Any

from qsproj.cli.bootstrap import WHEN
from qsproj.cli.command_parser import CommandParser
from qsproj.cli.options.declare import add_options, of_fields
from qsproj.cli.options.shared import values_of
from qsproj.corpus.sentence import Sentence
from qsproj.errors import UsageError, pluralise
from qsproj.models.parser import load_tags
from qsproj.models.storage import load_model_of
from qsproj.models.tagging.tagger import Tagger
from qsproj.models.text.text_parser import TextParser
from qsproj.parallel import THIS_PROCESS, Workers, map_in_order
from qsproj.pipelines.bootstrap.bitext import link_words, parse_source, tokenize_bitext
from qsproj.pipelines.bootstrap.bootstrap import BootstrapOptions, bootstrap
from qsproj.pipelines.bootstrap.training import project, tag_target, tag_words, train_priors, train_source
from qsproj.pipelines.bootstrap.workspace import InputPath, Make, Stage, StageResult, Workspace
from qsproj.pipelines.projection.methods import SoftProjectionOptions
from scripts.experiments.harness.build import this_build
from scripts.experiments.harness.experiment import Experiment, Lab
from scripts.experiments.harness.page import Figures
from scripts.experiments.harness.tables import Table, table
from scripts.experiments.transfer.ablations import ABLATIONS, apart, without
from scripts.experiments.transfer.by_tags import GOLD_TAGS, UNCERTAIN_TAGS, Part, scores_by_tags
from scripts.experiments.transfer.many_languages import (
    ENGLISH,
    LANGUAGES,
    TESTAMENT,
    TREEBANKS,
    Corpora,
    add_work,
    language_of,
)

FIELDS = ("strength", "sentences", "share")
# Heading, kind of tags, measure. All but the calibration error are better when higher.
COLUMNS = {
    "UPOS": (UNCERTAIN_TAGS, "upos"),
    "UAS": (UNCERTAIN_TAGS, "uas"),
    "LAS": (UNCERTAIN_TAGS, "las_no_subtypes"),
    "ECE": (UNCERTAIN_TAGS, "ece"),
    "UAS, gold tags": (GOLD_TAGS, "uas"),
    "LAS, gold tags": (GOLD_TAGS, "las_no_subtypes"),
    "ECE, gold tags": (GOLD_TAGS, "ece"),
}
# Measures that decide whether a language loses, and by how much.
DECISIVE = ("UPOS", "UAS", "LAS", "UAS, gold tags", "LAS, gold tags")
NOISE = 0.3
# Number of frequent errors of tags to show.
WORST = 8
# Stages that can be made again, first to last.
STAGES: dict[str, Make] = {
    "source": train_source,
    "words": tokenize_bitext,
    "links": link_words,
    "trees": parse_source,
    "tagger": tag_target,
    "tagged": tag_words,
    "prior": train_priors,
    "parser": project,
}

# Measures of a run, by kind of tags.
Row = Mapping[str, Any]
# Runs of one way, by language and seed.
Runs = Mapping[tuple[str, int], Row]


@dataclass(frozen=True)
class Way:
    """One side of a comparison: options of a bootstrap, and ingredients to leave out."""

    draws: int | None
    cut: bool | None
    text: bool | None
    learn_text: bool | None
    sources: tuple[str, ...]
    also: tuple[str, ...]
    without: tuple[str, ...]
    soft: SoftProjectionOptions

    @classmethod
    def of(cls, text: str) -> Way:
        """Read the options in quotes."""
        parser = CommandParser(prog="--a, --b", add_help=False)
        add = parser.add_argument
        add("--draws", type=int)
        add("--cut", choices=list(WHEN))
        add("--text", action=argparse.BooleanOptionalAction)
        add("--learn-text", choices=list(WHEN))
        add("--sources", nargs="+", default=[ENGLISH], choices=list(TREEBANKS))
        add("--also", nargs="+", default=[], choices=list(TREEBANKS))
        add("--without", nargs=1, action="extend", default=[], choices=list(ABLATIONS))
        add_options(parser, of_fields(SoftProjectionOptions(), *FIELDS))
        found = parser.parse_args(_words(text))
        return cls(
            found.draws,
            WHEN.get(found.cut),
            found.text,
            WHEN.get(found.learn_text),
            tuple(found.sources),
            tuple(found.also),
            tuple(found.without),
            SoftProjectionOptions(**values_of(found, *FIELDS)),
        )


def _words(text: str) -> list[str]:
    """Split options, keeping the names of ingredients whole."""
    start, *named = text.split("--without ")
    words = start.split()
    for one in named:
        name = next((name for name in sorted(ABLATIONS, key=len, reverse=True) if one.startswith(name)), one)
        words += ["--without", name, *one.removeprefix(name).split()]
    return words


class _OnlyTags(Workspace):
    """Workspace of a run that ends with its tagger. Mutable; final."""

    def complete(self, *stages: Stage, workers: Workers = THIS_PROCESS) -> list[StageResult]:
        if stages[0].make is tag_words:
            raise _EnoughError
        return super().complete(*stages, workers=workers)


class _EnoughError(Exception):
    """The end of a run that needs no parser."""


def corpora_of(lab: Lab) -> Corpora:
    options = lab.options
    return Corpora(lab.data, options.work, options.pairs, options.tested, options.folder)


@contextmanager
def made_again(lab: Lab) -> Iterator[None]:
    """Keep the stage of ``--again`` by the build, so that this code makes it and all later ones."""
    name = lab.options.again
    if name is None:
        yield
        return
    with apart(STAGES[name], f"of {this_build(Path(__file__)).code}"):
        yield


def measured(lab: Lab, code: str, text: str, seed: int) -> Row:
    """Run a bootstrap of a language in a way; return what it scores and what its stages report."""
    way, corpora, language = Way.of(text), corpora_of(lab), language_of(code)
    sources = [one for one in way.sources if language.kind == TESTAMENT or one == ENGLISH]
    texts = [replace(corpora.text(code, one), cut=way.cut) for one in sources if one != code]
    raw = (language.kind == TESTAMENT) if way.text is None else way.text
    workspace = (_OnlyTags if lab.options.tags else Workspace)(lab.options.work, run=code)
    options = BootstrapOptions(
        text=(str(corpora.raw_text(code)),) if raw else (),
        learn_text=way.learn_text,
        also=tuple(str(lab.data / f"{name}.conllu.gz") for one in way.also for name in TREEBANKS[one]),
        draws=way.draws,
        soft=way.soft,
        seed=seed,
    )
    model = None
    with made_again(lab), without(way.without), suppress(_EnoughError):
        model = bootstrap(texts, workspace=workspace, options=options).model
    tagger = load_tags(next(stage.files[0] for stage in workspace.stages if stage.name == "tagger"))
    gold = corpora.gold(code)
    found: dict[str, Any] = {
        "log": [stage.in_full() for stage in workspace.stages],
        "seconds": sum(stage.seconds for stage in workspace.stages),
        "pairs": next(
            stage.report.figures["pairs"] for stage in workspace.stages if "pairs" in stage.report.figures
        ),
        UNCERTAIN_TAGS: {},
        GOLD_TAGS: {},
    }
    if model is None:
        found[UNCERTAIN_TAGS], found["wrong"] = tag_scores(tagger, gold)
    else:
        found["wrong"] = tag_scores(tagger, gold)[1]
        parser = load_model_of(
            model, TextParser, expected="a model of text", remedy="make one: qsproj bootstrap"
        )
        found |= scores_by_tags(parser.base, [Part(gold, parser.tagger)], kinds=(UNCERTAIN_TAGS, GOLD_TAGS))
    print(f"{code} {seed} {text}", *cells(found), found["wrong"], sep="  ", file=sys.stderr, flush=True)
    return found


def tag_scores(tagger: Tagger, gold: Sequence[Sentence]) -> tuple[dict[str, float], list[str]]:
    """Return UPOS of a tagger's best tags, in percent, and the words and tags that most errors are of."""
    right = words = 0
    wrong: Counter[str] = Counter()
    for sentence in gold:
        tags = tagger.tag_words(sentence.forms)
        for form, tag, own in zip(sentence.forms, tags, sentence.upos, strict=True):
            right += tag == own
            wrong[f"{form.lower()} {own}>{tag}"] += tag != own
            words += 1
    return {"upos": 100 * right / words}, [f"{one} {n}" for one, n in wrong.most_common(WORST)]


def every_run(lab: Lab, ways: Sequence[str]) -> dict[str, Runs]:
    """Return the runs of all ways, languages and seeds, made now by several processes, or kept."""
    options = lab.options
    asked = list(itertools.product(ways, options.languages, options.seeds))
    missing = [one for one in asked if lab.cache.kept(*_name(one), **_source(lab, one)) is None]
    if options.kept:
        asked, missing = [one for one in asked if one not in missing], []
    if options.jobs != 1 and len(missing) > 1:
        _train_sources(lab, ways)
    for _ in map_in_order(partial(_kept, lab), missing, workers=Workers(jobs=options.jobs)):
        pass
    found: dict[str, dict[tuple[str, int], Row]] = {way: {} for way in ways}
    for one in asked:
        found[one[0]][one[1:]] = _kept(lab, one)
    return dict(found)


def _kept(lab: Lab, one: tuple[str, str, int]) -> Row:
    way, code, seed = one
    measure = partial(measured, lab, code, way, seed)
    found: Row = lab.cache.figures(*_name(one), measure, **_source(lab, one))
    return found


def _name(one: tuple[str, str, int]) -> tuple[str]:
    way, code, seed = one
    return (f"{code} {seed} {way}".strip(),)


def _source(lab: Lab, one: tuple[str, str, int]) -> dict[str, Any]:
    """Return what the figures of a run depend on beside the code."""
    way, code, seed = one
    options = {"way": way, "code": code, "seed": seed, "tags": lab.options.tags}
    options |= {"pairs": lab.options.pairs, "tested": lab.options.tested, "again": lab.options.again}
    corpora = corpora_of(lab)
    verses = [] if corpora.folder is None else [corpora.verses(code)]
    return {"options": options, "data": [*corpora.files(code), *verses]}


def _train_sources(lab: Lab, ways: Sequence[str]) -> None:
    """Train the models of the sources once, before several processes need them."""
    workspace = Workspace(lab.options.work, run=ENGLISH)
    with made_again(lab):
        for source in {source for way in ways for source in Way.of(way).sources}:
            paths = tuple(InputPath(lab.data / f"{name}.conllu.gz") for name in TREEBANKS[source])
            for seed in lab.options.seeds:
                stage = workspace.declare(train_source, treebanks=paths, language=source, seed=seed)
                workspace.complete(stage)


def value(row: Row, column: str) -> float | None:
    kind, measure = COLUMNS[column]
    found: float | None = row[kind].get(measure)
    return found


def values(runs: Runs, code: str, column: str) -> list[float]:
    """Return a measure of a language with each seed."""
    found = [value(row, column) for (of, _), row in runs.items() if of == code]
    return [one for one in found if one is not None]


def cells(row: Row) -> list[str]:
    return [_cell(value(row, column)) for column in COLUMNS]


def _cell(one: float | None, form: str = ".1f") -> str:
    if one is None:
        return ""
    text = f"{one:{form}}"
    # No minus sign before a zero.
    return text if float(text) else f"{0.0:{form}}"


def _mean(numbers: Sequence[float]) -> float | None:
    return mean(numbers) if numbers else None


def codes_in(runs: Runs) -> list[str]:
    return list(dict.fromkeys(code for code, _ in runs))


def score_table(runs: Runs) -> Table:
    """Lay out the figures in use: means over seeds, and means over languages of a kind."""
    rows, codes = [], codes_in(runs)
    for code in codes:
        language = language_of(code)
        first = next(row for (of, _), row in runs.items() if of == code)
        found = [_cell(_mean(values(runs, code, column))) for column in COLUMNS]
        rows.append([language.name, language.kind, f"{first['pairs']:,}", *found, f"{first['seconds']:.0f}"])
    for kind in dict.fromkeys(language_of(code).kind for code in codes):
        means = [
            [_mean(values(runs, code, column)) for code in codes if language_of(code).kind == kind]
            for column in COLUMNS
        ]
        rows.append(
            ["mean", kind, "", *(_cell(_mean([one for one in of if one is not None])) for of in means), ""]
        )
    return table(["language", "text", "pairs", *COLUMNS, "seconds"], rows)


def gains(before: Runs, after: Runs, column: str) -> dict[str, float]:
    """Return what each language gains in a measure, the mean over seeds."""
    return {
        code: mean(values(after, code, column)) - mean(values(before, code, column))
        for code in codes_in(before)
        if values(before, code, column) and values(after, code, column)
    }


def change_row(name: str, before: Runs, after: Runs) -> list[str]:
    """Show the mean gain over languages, its spread over seeds, how many gain, and who loses."""
    found = {column: gains(before, after, column) for column in COLUMNS}
    losers = {
        code: min(found[column][code] for column in DECISIVE if code in found[column])
        for code in codes_in(after)
    }
    losing = [f"{code} {loss:+.1f}" for code, loss in losers.items() if loss < -NOISE]
    main = found["LAS"] or found["UPOS"]
    up, down = sum(one > 0 for one in main.values()), sum(one < 0 for one in main.values())
    return [
        name,
        *(_cell(_mean(list(of.values())), "+.2f") for of in found.values()),
        _cell(_spread(before, after), ".2f"),
        f"{up} of {up + down}, p = {sign_test(up, down):.3f}",
        "; ".join(losing),
    ]


def _spread(before: Runs, after: Runs) -> float | None:
    """Return the standard deviation over seeds of the mean gain in LAS, or UPOS; None with one seed."""
    means = []
    for seed in dict.fromkeys(seed for _, seed in before):
        one, other = ({key: row for key, row in runs.items() if key[1] == seed} for runs in (before, after))
        if found := gains(one, other, "LAS") or gains(one, other, "UPOS"):
            means.append(mean(found.values()))
    return stdev(means) if len(means) > 1 else None


def sign_test(up: int, down: int) -> float:
    """Return the probability of so uneven a split, or a more uneven one, by chance; two-sided."""
    count, fewer = up + down, min(up, down)
    return min(1.0, 2 * sum(comb(count, k) for k in range(fewer + 1)) / 2**count)


def other_languages(folder: Path) -> list[str]:
    found = sorted(path.stem for path in folder.glob("*.conllu"))
    if not found or not {ENGLISH, *LANGUAGES}.isdisjoint(found):
        raise UsageError(
            f"{folder}: found {', '.join(found) or 'none'}, expected trees of languages not listed"
        )
    return found


def run(lab: Lab) -> Figures:
    options = lab.options
    if options.folder is not None:
        options.languages = other_languages(options.folder)
    # Figures of some languages are printed and not recorded.
    options.dev = options.tags or not (options.kept or set(options.languages) == set(LANGUAGES))
    every = every_run(lab, list(dict.fromkeys([options.a, *options.b])))
    before, changed = every[options.a], {text: every[text] for text in options.b}
    tables = {
        "in use": score_table(before),
        "errors": table(
            ["language", "word, gold tag > given tag, times"],
            [[f"{code}, seed {seed}", ", ".join(row["wrong"])] for (code, seed), row in before.items()],
        ),
    }
    if changed:
        header = ["change", *COLUMNS, "spread over seeds", "languages that gain", f"lose more than {NOISE}"]
        tables["changes"] = table(
            header, [change_row(text, before, after) for text, after in changed.items()]
        )
        tables["changes, by language"] = table(
            ["change", "language", *COLUMNS],
            [
                [
                    text,
                    language_of(code).name,
                    *(_cell(gains(before, after, column).get(code), "+.1f") for column in COLUMNS),
                ]
                for text, after in changed.items()
                for code in codes_in(after)
            ],
        )
    seeds = pluralise(len(options.seeds), "seed")
    said = f"`{options.a}`, " if options.a else ""
    return Figures(tables=tables, values={"run": f"{said}{seeds}, {options.tested} sentences"})


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add, codes = parser.add_argument, list(LANGUAGES)
    add("--a", default="", metavar="OPTIONS", help="options to compare with (default: none)")
    add("--b", action="append", default=[], metavar="OPTIONS", help="a change; may be given several times")
    add("--languages", nargs="+", default=codes, choices=codes, metavar="CODE", help=f"of {' '.join(codes)}")
    add(
        "--folder",
        type=Path,
        help="measure the languages of this folder: gold trees hr.conllu, verses hr.verses",
    )
    add("--seeds", nargs="+", type=int, default=[1], metavar="N")
    add("--pairs", type=int, default=8000, metavar="N", help="pairs of news (default: %(default)s)")
    add("--tested", type=int, default=500, metavar="N", help="sentences to score (default: %(default)s)")
    add("--tags", action="store_true", help="train taggers only, and score their tags")
    add("--again", choices=STAGES, metavar="STAGE", help="make this stage and later ones with this code")
    add("--kept", action="store_true", help="show and record stored figures, and measure nothing")
    add("--jobs", type=int, default=1, metavar="N", help="languages at once (default: %(default)s)")
    add_work(parser)


EXPERIMENT = Experiment(file=__file__, about=__doc__, measure=run, add_arguments=add_arguments)

if __name__ == "__main__":
    EXPERIMENT.main()
