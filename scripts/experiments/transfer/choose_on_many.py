"""A change of soft projection on all development files at hand: means, spreads over seeds, and who loses.

What is in use (``--a``) is compared with each change (``--b``, which may be given several times), both told by the
options that `qsproj project` and `qsproj bootstrap` have. Pairs come as `qsproj bootstrap` makes them, from English-EWT
and a bitext; what comes before the parser is kept in ``--work``. A parser is tested with the treebank's tags and with
those of the tagger that learned through the links. A change of the code is measured by the figures of both builds.

  python -m scripts.experiments.transfer.choose_on_many --languages cs sv \\
      --b="--share 0.75" --b="--sentences 8000"
"""

from __future__ import annotations

import argparse
import itertools
import sys
from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path
from statistics import mean

import numpy as np

from qsproj.cli.options.fields import add_fields, values_of
from qsproj.errors import QsprojError
from qsproj.models.arc.arc_parser import ArcParser, mean_parser
from qsproj.models.parser import Parser
from qsproj.pipelines.bootstrap import stages
from qsproj.pipelines.bootstrap.workspace import InputPath, Workspace
from qsproj.pipelines.projection.projected import SoftProjectionOptions
from qsproj.pipelines.projection.soft_projection import load_prior, project_soft, soft_sources
from qsproj.pipelines.tagging.conventions import Conventional
from scripts.experiments.harness.cache import Cache
from scripts.experiments.harness.experiment import DEFAULT_CACHE, Lab, data_folder, exit_with
from scripts.experiments.harness.tables import Table, table
from scripts.experiments.transfer.by_tags import GOLD_TAGS, UNCERTAIN_TAGS, Part, Scores, scores_by_tags
from scripts.experiments.transfer.many_languages import ENGLISH, LANGUAGES, Prepared, prepared, tests_of

FIELDS = ("strength", "sentences", "share")
KINDS = {"gold": GOLD_TAGS, "own tags": UNCERTAIN_TAGS}
MEASURES = {"UAS": "uas", "LAS": "las_no_subtypes"}
COLUMNS = tuple(f"{measure}, {kind}" for kind in KINDS for measure in MEASURES)
# A test that loses more than this is a loser.
NOISE = 0.3
# By test and seed: what a parser scores by the kind of tags.
Found = dict[tuple[str, int], Mapping[str, Scores]]


def way_of(text: str) -> argparse.Namespace:
    """Read the options of one side of a comparison."""
    parser = argparse.ArgumentParser(prog="--a, --b", add_help=False)
    add_fields(parser, SoftProjectionOptions(), *FIELDS)
    parser.add_argument("--draws", type=int, default=1)
    return parser.parse_args(text.split())


def learned(language: Prepared, way: argparse.Namespace, *, data: Path, work: Path, seed: int) -> Parser:
    """Project a parser, or the mean of several; priors are kept."""
    seeds = stages.seeds_of(seed, way.draws)
    return mean_parser([drawn(language, way, data=data, work=work, seed=by) for by in seeds])


def drawn(
    language: Prepared, way: argparse.Namespace, *, data: Path, work: Path, seed: stages.Seed
) -> ArcParser:
    source = stages.Source((InputPath(data / ENGLISH),), language.corpus)
    priors = Workspace(work, run=language.code).stage(
        stages.PRIOR,
        sources=[source],
        others=(),
        unshared=language.unshared,
        seed=seed,
        files=stages.prior_files(()),
    )
    rng = np.random.default_rng(seed)
    members = [load_prior(path, reads_words=True) for path in priors.files]
    sources = soft_sources(
        [[list(Conventional(language.corpus, language.unshared))]], rng=rng, priors=members
    )
    options = SoftProjectionOptions(**values_of(way, *FIELDS))
    parser = project_soft(sources, rng=rng, options=options).parser
    assert isinstance(parser, ArcParser)
    return parser


def measured(lab: Lab, code: str, text: str, seed: int) -> dict[str, dict[str, Scores]]:
    """Return what a way scores on each test of a language, by the kind of tags."""
    print(f"{code}, seed {seed}: {text or 'as it is'}", file=sys.stderr, flush=True)
    options = lab.options
    language = prepared(code, lab.data, options.work, options.pairs)
    parser = learned(language, way_of(text), data=lab.data, work=options.work, seed=seed)
    tests = tests_of(code, lab.data, options.tested)
    return {
        name: scores_by_tags(parser, [Part(gold, language.load_tagger())], kinds=KINDS.values())
        for name, gold in tests.items()
    }


def found(lab: Lab, text: str) -> Found:
    """Return what a way scores on all tests, with all seeds."""
    every: Found = {}
    for code, seed in itertools.product(lab.options.languages, lab.options.seeds):
        asked = {"way": text, "code": code, "seed": seed, "pairs": lab.options.pairs}
        scores = lab.cache.figures(
            f"{code} {seed} {text}",
            partial(measured, lab, code, text, seed),
            options={**asked, "tested": lab.options.tested},
            data=[lab.data / f"{path}.conllu.gz" for path in LANGUAGES[code].tests.values()],
        )
        every |= {(f"{LANGUAGES[code].name} {name}", seed): row for name, row in scores.items()}
    return every


def of_test(every: Found, test: str, column: str) -> list[float]:
    """Return a measure of a test with each seed."""
    measure, _, kind = column.partition(", ")
    return [row[KINDS[kind]][MEASURES[measure]] for (name, _), row in every.items() if name == test]


def gains(before: Found, after: Found, test: str) -> list[float]:
    """Return what each measure of a test gains, the mean over seeds."""
    return [mean(of_test(after, test, column)) - mean(of_test(before, test, column)) for column in COLUMNS]


def tests_in(every: Found) -> list[str]:
    return list(dict.fromkeys(name for name, _ in every))


def score_rows(every: Found) -> Iterator[list[str]]:
    """Show means over seeds, and how far these lie apart."""
    for test in tests_in(every):
        rows = [of_test(every, test, column) for column in COLUMNS]
        errors = [row[UNCERTAIN_TAGS]["ece"] for (name, _), row in every.items() if name == test]
        apart = max(max(row) - min(row) for row in rows)
        yield [test, *(f"{mean(row):.1f}" for row in rows), f"{mean(errors):.1f}", f"{apart:.1f}"]


def change_row(name: str, before: Found, after: Found) -> list[str]:
    """Show the mean gain over tests, and who loses with either tags."""
    by_test = {test: gains(before, after, test) for test in tests_in(before)}
    means = [mean(column) for column in zip(*by_test.values(), strict=True)]
    losers = [f"{test} {min(each):+.1f}" for test, each in by_test.items() if min(each) < -NOISE]
    return [name, *(f"{one:+.2f}" for one in means), "; ".join(losers)]


def tables(lab: Lab) -> dict[str, Table]:
    """Lay out what is in use, what changes gain on the mean, and by test."""
    before = found(lab, lab.options.a)
    changed = {text: found(lab, text) for text in lab.options.b}
    losers = f"tests that lose more than {NOISE}"
    by_test = [
        [text, test, *(f"{gain:+.1f}" for gain in gains(before, after, test))]
        for text, after in changed.items()
        for test in tests_in(before)
    ]
    means = [change_row(text, before, after) for text, after in changed.items()]
    return {
        "as it is": table(["test", *COLUMNS, "ECE, own tags", "seeds apart"], score_rows(before)),
        "changes, mean gain": table(["change", *COLUMNS, losers], means),
        "changes, by test": table(["change", "test", *COLUMNS], by_test),
    }


def main() -> None:
    """Measure what is asked for and print it; there is no page, for each question has other changes."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    codes = list(LANGUAGES)
    add = parser.add_argument
    add("--a", default="", metavar="OPTIONS", help="what is compared with (default: no option)")
    add("--b", action="append", default=[], metavar="OPTIONS", help="a change; may be given several times")
    add("--languages", nargs="+", default=codes, choices=codes, metavar="CODE")
    add("--seeds", nargs="+", type=int, default=[1, 2], metavar="N")
    add("--pairs", type=int, metavar="N", help="the first N of each bitext (default: all)")
    add("--tested", type=int, metavar="N", help="the first N trees of each test (default: all)")
    for name, what in (("work", "stages"), ("cache", "figures")):
        folder = DEFAULT_CACHE / f"many-{name}"
        text = f"where {what} are kept (default: %(default)s)"
        add(f"--{name}", type=Path, default=folder, metavar="FOLDER", help=text)
    options = parser.parse_args()
    try:
        lab = Lab(data_folder(), Cache(options.cache, Path(__file__).resolve()), options)
        for name, one in tables(lab).items():
            print(f"{name}\n\n{one.markdown()}\n")
    except QsprojError as error:
        exit_with(str(error))


if __name__ == "__main__":
    main()
