"""Compare joint tagging and parsing with tagging first. The input has only forms."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from qsproj.corpus.editing import with_columns
from qsproj.corpus.sentence import Sentence
from qsproj.evaluation.attachment import exact_paired_test
from qsproj.models.arc.arc_training import train_arc_parser
from qsproj.models.arc.training_options import TrainingOptions
from qsproj.models.tagging.tagging_parser import TaggingParser
from qsproj.models.tagging.tagging_parser_training import cross_fitted_tags, train_tagging_parser
from qsproj.styles.working_tree import base_relation
from scripts.experiments.harness.cache import Source
from scripts.experiments.harness.experiment import Experiment, Lab
from scripts.experiments.harness.page import Figures
from scripts.experiments.harness.tables import Table, table
from scripts.experiments.parsing.treebank_rows import add_rows_argument

Parse = Callable[[Sentence], Sentence]

SEED = 1
ITERATIONS = (3, 5, 10, 30)
FIRST, JACKKNIFED, JOINT, GOLD = "tagging first", "tagging first, jackknifed", "joint", "gold tags"


@dataclass(frozen=True)
class Row:
    """A treebank, the files that are tested on, and whether arcs may cross though the trees' do not."""

    treebank: str
    parts: tuple[str, ...] = ("dev", "test")
    crossing: bool = False

    @property
    def name(self) -> str:
        return f"{self.treebank}{', crossing arcs allowed' if self.crossing else ''}"


ROWS = (
    Row("turkish-imst"),
    Row("hungarian-szeged"),
    Row("turkish-imst", ("dev",), crossing=True),
)


@dataclass(frozen=True)
class Counts:
    """Of each sentence the right heads, labelled heads and tags; and milliseconds a sentence."""

    heads: list[int]
    labelled: list[int]
    labelled_no_subtypes: list[int]
    tags: list[int]
    milliseconds: float


@dataclass(frozen=True)
class Result:
    """Figures of one part of one treebank."""

    name: str
    part: str
    words: int
    training_seconds: float
    systems: dict[str, Counts]
    convergence: dict[str, dict[str, float]]

    @property
    def label(self) -> str:
        return f"{self.name}: {self.part}"


def blank(sentence: Sentence) -> Sentence:
    """Return the sentence with nothing but its forms."""
    cells = ("_",) * len(sentence)
    return replace(
        with_columns(sentence, lemmas=cells, upos=cells, xpos=cells, feats=cells, deprels=cells),
        heads=np.full(len(sentence) + 1, -1, dtype=np.int32),
    )


def counted(gold: Sequence[Sentence], given: Sequence[Sentence], parse: Parse) -> Counts:
    """Parse the input, and compare with the gold trees."""
    parse(given[0])
    start = time.process_time()
    parsed = [parse(sentence) for sentence in given]
    seconds = time.process_time() - start
    right = [(p.heads == g.heads)[1:] for p, g in zip(parsed, gold)]
    labels = [np.array(p.deprels) == np.array(g.deprels) for p, g in zip(parsed, gold)]
    bases = [np.array(base_relations(p)) == np.array(base_relations(g)) for p, g in zip(parsed, gold)]
    return Counts(
        heads=[int(hits.sum()) for hits in right],
        labelled=[int((hits & same).sum()) for hits, same in zip(right, labels)],
        labelled_no_subtypes=[int((hits & same).sum()) for hits, same in zip(right, bases)],
        tags=[sum(a == b for a, b in zip(p.upos, g.upos)) for p, g in zip(parsed, gold)],
        milliseconds=1000 * seconds / len(gold),
    )


def base_relations(sentence: Sentence) -> list[str]:
    return [base_relation(relation) for relation in sentence.deprels]


def measure(row: Row, lab: Lab) -> list[dict[str, Any]]:
    """Train on the train file, and test all systems on the parts."""
    train = lab.treebank(f"{row.treebank}-train")
    options = TrainingOptions(template_set="words", projective=False if row.crossing else None)
    start = time.process_time()
    parser, _ = train_tagging_parser(train, rng=np.random.default_rng(SEED), options=options)
    seconds = time.process_time() - start
    _, tagged = cross_fitted_tags(train, parser.tagger, rng=np.random.default_rng(SEED))
    jackknifed, _ = train_arc_parser(tagged, rng=np.random.default_rng(SEED), options=options)
    systems: dict[str, Parse] = {
        FIRST: lambda sentence: parser.base.parse(parser.tagger.tag(sentence)),
        JACKKNIFED: lambda sentence: jackknifed.parse(parser.tagger.tag(sentence)),
        JOINT: parser.parse,
    }
    results = []
    for part in row.parts:
        gold = lab.treebank(f"{row.treebank}-{part}")
        forms = [blank(sentence) for sentence in gold]
        right_tags = [with_columns(given, upos=sentence.upos) for given, sentence in zip(forms, gold)]
        counts = {name: counted(gold, forms, parse) for name, parse in systems.items()}
        counts[GOLD] = counted(gold, right_tags, parser.base.parse)
        words = sum(map(len, gold))
        result = Result(row.name, part, words, seconds, counts, convergence(parser, forms))
        results.append(asdict(result))
    return results


def restored(kept: dict[str, Any]) -> Result:
    """Return a result from its JSON form."""
    systems = {name: Counts(**counts) for name, counts in kept["systems"].items()}
    return Result(**{**kept, "systems": systems})


def convergence(parser: TaggingParser, sentences: Sequence[Sentence]) -> dict[str, dict[str, float]]:
    """Return for each limit of iterations the share of sentences by how message passing ended, in percent."""
    shares: dict[str, dict[str, float]] = {}
    for limit in ITERATIONS:
        longer = replace(parser, options=replace(parser.options, iterations=limit))
        ends = Counter(longer.posterior(sentence).status.name.lower() for sentence in sentences[::4])
        shares[str(limit)] = {name: 100 * count / ends.total() for name, count in ends.items()}
    return shares


def accuracy_table(results: Sequence[Result]) -> Table:
    header = ("treebank", "system", "UAS", "LAS", "LAS, no subtypes", "UPOS", "ms a sentence")
    versus = ("joint minus this, UAS", "p", "joint minus this, UPOS", "p of that")
    return table((*header, *versus), [row for result in results for row in accuracy_rows(result)])


def accuracy_rows(result: Result) -> Iterator[list[str]]:
    """Yield a row for each system: its scores, and the gain of the joint one with predicted tags."""
    joint = result.systems[JOINT]
    for name, counts in result.systems.items():
        parts = (counts.heads, counts.labelled, counts.labelled_no_subtypes, counts.tags)
        scores = (f"{100 * sum(part) / result.words:.2f}" for part in parts)
        versus = ["", "", "", ""]
        if name in (FIRST, JACKKNIFED):
            versus = [
                *compared(joint.heads, counts.heads, result.words),
                *compared(joint.tags, counts.tags, result.words),
            ]
        yield [result.label, name, *scores, f"{counts.milliseconds:.1f}", *versus]


def compared(ours: list[int], theirs: list[int], words: int) -> tuple[str, str]:
    """Return a difference and its p-value."""
    difference = np.array(ours) - np.array(theirs)
    return f"{100 * difference.sum() / words:+.2f}", f"{exact_paired_test(difference):.2g}"


def convergence_table(results: Sequence[Result]) -> Table:
    header = ["treebank", *(f"within {limit}" for limit in ITERATIONS), "oscillating at the end"]
    rows = []
    for result in results:
        shares = [result.convergence[str(limit)].get("converged", 0.0) for limit in ITERATIONS]
        oscillating = result.convergence[str(ITERATIONS[-1])].get("oscillating", 0.0)
        rows.append([result.label, *(f"{share:.0f}%" for share in (*shares, oscillating))])
    return table(header, rows)


def pooled(results: Sequence[Result]) -> str:
    """Return the gain of the joint parser over the better method of tagging first, on all test files together."""
    tests = [result.systems for result in results if result.part == "test"]
    gains = np.concatenate([np.array(s[JOINT].heads) - np.array(s[FIRST].heads) for s in tests])
    return f"{gains.sum():+d} right heads over *{FIRST}*, p = {exact_paired_test(gains):.2g}"


def run(lab: Lab) -> Figures:
    results: list[Result] = []
    for row in ROWS:
        names = [f"{row.treebank}-{part}" for part in ("train", *row.parts)]
        source: Source = {
            "options": {"crossing": row.crossing},
            "data": [lab.treebank_path(name) for name in names],
        }
        kept = lab.cache.kept(row.name, **source)
        if row.name in lab.options.rows:
            kept = lab.cache.figures(row.name, partial(measure, row, lab), **source)
        results += map(restored, kept or [])
    seconds = {result.name: result.training_seconds for result in results}
    return Figures(
        tables={"accuracy": accuracy_table(results), "convergence": convergence_table(results)},
        values={
            "pooled": pooled(results),
            "training": ", ".join(f"{taken:.0f} s ({name})" for name, taken in seconds.items()),
        },
    )


EXPERIMENT = Experiment(
    file=__file__,
    about=__doc__,
    measure=run,
    add_arguments=add_rows_argument([row.name for row in ROWS]),
)

if __name__ == "__main__":
    EXPERIMENT.main()
