"""Measure the ladder of methods (thesis, table 4.3) on real data, and the accuracy of links (table 4.2).

Taggers, source parser, tagged and parsed bitexts are those of projection.py. Every row is one call of `qsproj project`,
named in the report.
"""

from __future__ import annotations

import argparse
import itertools
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from qsproj.corpus.alignments import write_alignments
from qsproj.corpus.conllu import read_conllu, write_conllu
from qsproj.corpus.formats import read_alignments
from qsproj.corpus.pairs.aligned import AlignedFiles
from qsproj.corpus.sentence import Sentence, SentencePair
from qsproj.evaluation.attachment import attachment_scores
from qsproj.models.dmv.dmv_options import QgOptions
from qsproj.models.parser import load_parser
from qsproj.models.storage import load_model
from qsproj.pipelines.demo import attach_next, attach_previous
from qsproj.pipelines.projection.em_projection import project_hard_em, project_qg, project_tags_only
from qsproj.pipelines.projection.hard_projection import ProjectionCounts, project_tree
from qsproj.pipelines.projection.methods import EM_FROM_ARCS, EM_FROM_TAGS, Projected, ProjectedArcs
from scripts.experiments.harness.experiment import Experiment, Lab
from scripts.experiments.harness.page import Figures
from scripts.experiments.harness.tables import Table, table
from scripts.experiments.transfer.projection import PROPORTIONS, direct_projection
from scripts.experiments.transfer.stages import NAMES, Stages

ALL = "all"
SIZES = {"1,000": 1_000, "10,000": 10_000, ALL: None}

Pairs = Sequence[SentencePair]


@dataclass(frozen=True)
class Rung:
    """A trained row of the table: its name, the options of `qsproj project`, and the same as a call."""

    name: str
    options: str
    project: Callable[[Pairs], Projected]


EVERY_ARC = ProjectedArcs(min_attached=0.0)
BY_ARCS = replace(EM_FROM_ARCS, sibling_pairs=0)


def generator() -> np.random.Generator:
    """Return the generator for training relations, which are not scored here."""
    return np.random.default_rng(1)


RUNGS = (
    Rung(
        "EM",
        "--method em",
        lambda pairs: project_tags_only(pairs, training=EM_FROM_TAGS, rng=generator()),
    ),
    Rung(
        "hard",
        "--method hard-em --iterations 0 --sibling-pairs 0",
        lambda pairs: project_hard_em(
            pairs, projection=ProjectedArcs(), training=replace(BY_ARCS, iterations=0), rng=generator()
        ),
    ),
    Rung(
        "hard + EM, as in the thesis",
        "--method hard-em --iterations 10 --min-attached 0 --sibling-pairs 0",
        lambda pairs: project_hard_em(
            pairs, projection=EVERY_ARC, training=replace(BY_ARCS, iterations=10), rng=generator()
        ),
    ),
    Rung(
        "hard + EM",
        "--method hard-em --sibling-pairs 0",
        lambda pairs: project_hard_em(pairs, projection=ProjectedArcs(), training=BY_ARCS, rng=generator()),
    ),
    Rung(
        "QG + EM, as in the thesis",
        "--method qg --start uniform --iterations 50 --min-linked 0 --sibling-pairs 0",
        lambda pairs: project_qg(
            pairs,
            training=QgOptions(start="uniform", iterations=50, min_linked=0.0, sibling_pairs=0),
            rng=generator(),
        ),
    ),
    Rung(
        "QG + EM",
        "--method qg --sibling-pairs 0",
        lambda pairs: project_qg(pairs, training=QgOptions(sibling_pairs=0), rng=generator()),
    ),
)
BASELINES = {"attach previous": attach_previous, "attach next": attach_next}
THESIS = {
    "attach previous": {"de": 18.2, "es": 28.5},
    "attach next": {"de": 27.5, "es": 21.4},
    "EM": {"de": 30.2, "es": 25.6},
    "hard": {"de": 66.2, "es": 59.1},
    "hard + EM, as in the thesis": {"de": 58.6, "es": 53.0},
    "QG + EM, as in the thesis": {"de": 68.5, "es": 64.8},
}

DIRECT_IN_THESIS = ("*Spanish, thesis*", "64.3", "28.4", "72.0", "30.8")

# UAS with gold tags and with predicted tags, and the report of training.
Scored = tuple[float, float, list[str]]


def test_sets(stages: Stages, language: str) -> list[list[Sentence]]:
    """Return PUD with gold tags, whose trees are the gold trees, and with the tagger's."""
    return [stages.lab.pud(language), list(read_conllu(stages.tagged_pud(language)))]


def score(parse: Callable[[Sentence], Sentence], tests: list[list[Sentence]]) -> tuple[float, float]:
    """Return the UAS on all tokens of either test set."""
    gold, tagged = attachment_scores(tests[0], [map(parse, test) for test in tests])
    return gold.uas, tagged.uas


def climb(rung: Rung, number: int | None, pairs: Pairs, tests: list[list[Sentence]]) -> Scored:
    """Train and test one row with a given number of pairs."""
    start = time.process_time()
    projected = rung.project(pairs[:number])
    took = f"{time.process_time() - start:.1f} s of processor time"
    return *score(projected.parser.parse, tests), [*projected.report, took]


def bitext(stages: Stages, language: str) -> tuple[Path, Path, Path]:
    """Return the files of the parsed source, the tagged target, and all links that are worth a thought."""
    return stages.parsed_english(language), stages.tagged(language, language), stages.candidates(language)


def measure(stages: Stages, language: str) -> dict[tuple[str, str], Scored]:
    """Return every row with every size of bitext."""
    cache, files = stages.lab.cache, bitext(stages, language)
    tests = test_sets(stages, language)
    pairs: list[SentencePair] = []

    def of(rung: Rung, number: int | None) -> Scored:
        pairs[:] = pairs or AlignedFiles(*map(str, files))
        return climb(rung, number, pairs, tests)

    found: dict[tuple[str, str], Scored] = {}
    for (size, number), rung in itertools.product(SIZES.items(), RUNGS):
        found[rung.name, size] = cache.figures(
            f"ladder {language} {rung.name} {size}",
            partial(of, rung, number),
            options={"rung": rung.name, "options": rung.options, "pairs": number},
            data=[*files, stages.tagged_pud(language)],
        )
        print(language, rung.name, size, *found[rung.name, size], file=sys.stderr, flush=True)
    baselines: dict[tuple[str, str], Scored] = {
        (name, ALL): (*score(parse, tests), []) for name, parse in BASELINES.items()
    }
    return baselines | found


def table_of(found: dict[tuple[str, str], Scored], language: str) -> Table:
    """Show the rows of a language, with the thesis's figures."""
    rows = []
    for name in dict.fromkeys(name for name, _ in found):
        cells = [f"{found[name, size][0]:.1f}" if (name, size) in found else "" for size in SIZES]
        theirs = THESIS.get(name, {}).get(language)
        rows.append([name, *cells, f"{found[name, ALL][1]:.1f}", f"{theirs}" if theirs else ""])
    return table(["method", *(f"{size} pairs" for size in SIZES), "all, predicted tags", "thesis"], rows)


def hand_aligned_sentences(stages: Stages) -> list[Path]:
    """Write the hand-aligned English-Spanish sentences, tagged and parsed by models of treebanks."""
    treebank = stages.lab.treebank_path("spanish-gsd-dev")
    judge = stages.stage("es.judge.parser", "train", treebank, "--features", "words", "--epochs", "5")
    paths = []
    for side, (language, model) in enumerate((("en", stages.source_parser()), ("es", judge))):
        tagger = stages.tagger(language)
        write = partial(write_parsed, stages.lab, side, tagger, model)
        data = [*hand_files(stages.lab), tagger, model]
        paths.append(stages.lab.cache.file(f"hand.{language}.conllu", write, data=data))
    return paths


def write_parsed(lab: Lab, side: int, tagger: Path, model: Path, path: Path) -> None:
    """Tag and parse one side of the hand-aligned sentences."""
    tag, parse = load_model(tagger).parse, load_parser(model).parse
    words = (line.split("\t")[side].split() for line in hand_lines(lab))
    write_conllu((parse(tag(Sentence.from_words(sentence))) for sentence in words), path)


def hand_files(lab: Lab) -> list[Path]:
    return [lab.data / "alignments" / "en-es" / f"xl-wa-{part}.tsv" for part in ("dev", "test")]


def hand_lines(lab: Lab) -> Iterator[str]:
    """Yield the lines of both files of XL-WA: source, target, links."""
    for path in hand_files(lab):
        yield from path.read_text(encoding="utf-8").splitlines(keepends=True)


def hand_table(stages: Stages) -> Table:
    """Project through hand-made links and through ours onto the same sentences.

    No gold trees exist for them: the English trees are parsed, and the Spanish ones that judge are those of a
    parser trained on Spanish trees.
    """
    lab = stages.lab
    english, spanish = hand_aligned_sentences(stages)

    def write_by_hand(path: Path) -> None:
        path.write_text("".join(line.split("\t")[2] for line in hand_lines(lab)), encoding="utf-8")

    def write_ours(path: Path) -> None:
        count = sum(1 for _ in hand_lines(lab))
        write_alignments(itertools.islice(read_alignments(str(aligned)), count), path, with_weights=True)

    by_hand = lab.cache.file("hand.pharaoh", write_by_hand, data=hand_files(lab))
    together = [
        stages.joined(f"hand+en-es.{side}.conllu", [path, stages.tagged("es", side)])
        for side, path in (("en", english), ("es", spanish))
    ]
    aligned = stages.stage("hand+en-es.pharaoh", "align", *together, "--weights")
    ours = lab.cache.file("hand.ours.pharaoh", write_ours, data=[aligned])
    rows = []
    for name, links in (("by hand", by_hand), ("our aligner", ours)):
        pairs = AlignedFiles(str(english), str(spanish), str(links))
        counts = sum((project_tree(pair)[1] for pair in pairs), start=ProjectionCounts())
        rows.append([name, f"{counts.precision:.1f}", f"{counts.recall:.1f}"])
    return table(["links", "precision", "recall"], rows)


def run(lab: Lab) -> Figures:
    stages = Stages(lab)
    tables: dict[str, Table] = {
        "rows": table(["row", "`qsproj project ...`"], [(r.name, f"`{r.options}`") for r in RUNGS])
    }
    values: dict[str, str] = {}
    for language in lab.options.languages:
        found: dict[tuple[str, str], Any] = measure(stages, language)
        tables[NAMES[language]] = table_of(found, language)
        said = (f"- {rung.name}: {'; '.join(found[rung.name, ALL][2])}" for rung in RUNGS)
        values[f"{NAMES[language]}: said"] = "\n".join(said)
    direct = [[NAMES[language], *direct_projection(stages, language)] for language in lab.options.languages]
    tables["direct"] = table(["language", *PROPORTIONS], [*direct, DIRECT_IN_THESIS])
    tables["by hand"] = hand_table(stages)
    return Figures(tables=tables, values=values)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--languages", nargs="+", default=list(NAMES), choices=list(NAMES), help="default: all"
    )


EXPERIMENT = Experiment(
    file=__file__,
    about=__doc__,
    measure=run,
    add_arguments=add_arguments,
)

if __name__ == "__main__":
    EXPERIMENT.main()
