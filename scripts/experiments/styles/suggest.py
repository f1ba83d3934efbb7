"""Measure what suggested sentences are worth beside random ones; writes docs/suggest.md and its plots.

Learning curves: ten random trees to start with, then in rounds those of the sentences that `qsproj suggest` puts
first, by a parser, or a converter, trained on what is annotated so far. Each seed starts from other ten trees.

    QSPROJ_DATA=... python -m scripts.experiments.styles.suggest [--results FILE] [--criteria]

With --results, curves that FILE has are not measured again and new ones are added to it. With --criteria the
criteria of --by are compared, too, on English-EWT dev.
"""

from __future__ import annotations

import argparse
import json
import os
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import mean, stdev

import numpy as np

from qsproj.corpus.conllu import read_conllu
from qsproj.corpus.sentence import Sentence
from qsproj.evaluation.attachment import attachment_scores
from qsproj.models.arc.arc_training import train_arc_parser
from qsproj.models.converter.converter_training import train_converter
from qsproj.models.storage import Parser
from qsproj.pipelines.suggest import Candidate, RankingOptions, rank, source_kinds, tag_kinds
from qsproj.pipelines.uncertainty import word_uncertainties
from qsproj.viz.markup import svg_document
from qsproj.viz.plots import Axis, Series, line_plot

DOCS = Path(__file__).resolve().parents[3] / "docs"
POOL, TEST, SEEDS, CRITERIA_SEEDS = 800, 300, 5, 3
ROUNDS = (10, 25, 40, 60, 100)
START = ROUNDS[0]
COMMITTEE = 3

Train = Callable[[Sequence[Sentence], Sequence[Sentence]], Parser]


@dataclass(frozen=True)
class Task:
    """Which files hold what is parsed and the trees it should get, and how a parser is trained on both."""

    name: str
    plot: str
    inputs: str
    gold: str
    train: Train
    converts: bool = False


@dataclass(frozen=True)
class Data:
    """The sentences of a task as they are before annotation, and with their trees."""

    pool: list[Sentence]
    pool_trees: list[Sentence]
    test: list[Sentence]
    test_trees: list[Sentence]


@dataclass(frozen=True)
class Policy:
    """How sentences are chosen; ``by_words``: as many words as the random trees have, not as many trees."""

    name: str
    criterion: str | None = "errors"
    by_words: bool = False
    variety: bool = True


@dataclass(frozen=True)
class Point:
    """What is annotated after a round, and how good the parser is that was trained on it, in percent."""

    trees: int
    words: int
    uas: float
    las: float


def parser_of(_: Sequence[Sentence], trees: Sequence[Sentence]) -> Parser:
    return train_arc_parser(trees, rng=np.random.default_rng(1))[0]


def converter_of(sources: Sequence[Sentence], trees: Sequence[Sentence]) -> Parser:
    return train_converter(sources, trees, rng=np.random.default_rng(1))[0]


EWT = "treebanks/english-ewt-{}.conllu.gz"
NAIJA_UD, NAIJA_SUD = "styles/naija-{}.ud.conllu.gz", "styles/naija-{}.sud.conllu.gz"
ENGLISH = Task("Parser, English-EWT", "suggest-english.svg", EWT, EWT, parser_of)
TASKS = (
    Task(
        "Converter, Naija UD to SUD",
        "suggest-converter.svg",
        NAIJA_UD,
        NAIJA_SUD,
        converter_of,
        converts=True,
    ),
    ENGLISH,
    Task("Parser, Naija", "suggest-naija.svg", NAIJA_UD, NAIJA_UD, parser_of),
)
RANDOM = Policy("random", criterion=None)
POLICIES = (
    RANDOM,
    Policy("suggested, as many trees"),
    Policy("suggested, as many words", by_words=True),
)
CRITERIA = (
    RANDOM,
    Policy("errors, kinds do not count", by_words=True, variety=False),
    *(Policy(name, name, by_words=True) for name in ("errors", "entropy", "margin", "committee")),
)


def load(task: Task, folder: Path, split: str) -> Data:
    rng = np.random.default_rng(0)

    def draw(part: str, size: int) -> tuple[list[Sentence], list[Sentence]]:
        inputs, gold = (list(read_conllu(folder / name.format(part))) for name in (task.inputs, task.gold))
        chosen = rng.permutation(len(inputs))[:size]
        return [inputs[i] for i in chosen], [gold[i] for i in chosen]

    return Data(*draw("train", POOL), *draw(split, TEST))


def curve(task: Task, data: Data, policy: Policy, seed: int, random_words: Sequence[int]) -> list[Point]:
    """Annotate in rounds; ``random_words`` are those of the random trees after each round."""
    order = np.random.default_rng(seed).permutation(len(data.pool)).tolist()
    chosen, left = order[:START], order[START:]
    parser = task.train(*annotated(data, chosen))
    points = [evaluated(data, parser, chosen)]
    for trees, words in zip(ROUNDS[1:], random_words[1:] or ROUNDS[1:], strict=True):
        more = left[: trees - len(chosen)]
        if policy.criterion is not None:
            parsers = committee(task, data, chosen) if policy.criterion == "committee" else [parser]
            more = choose(task, data, policy, parsers, chosen, left, words if policy.by_words else trees)
        taken = set(more)
        chosen, left = chosen + more, [index for index in left if index not in taken]
        parser = task.train(*annotated(data, chosen))
        points.append(evaluated(data, parser, chosen))
    return points


def evaluated(data: Data, parser: Parser, chosen: Sequence[int]) -> Point:
    (scores,) = attachment_scores(data.test_trees, [map(parser.parse, data.test)])
    return Point(len(chosen), words_in(data, chosen), scores.uas, scores.las)


def choose(
    task: Task,
    data: Data,
    policy: Policy,
    parsers: Sequence[Parser],
    chosen: Sequence[int],
    left: Sequence[int],
    goal: int,
) -> list[int]:
    """Return what the policy takes from ``left``, until ``goal`` trees, or words, are annotated."""
    places = {}
    for index in left:
        sentence = data.pool[index]
        candidate = Candidate(
            sentence, word_uncertainties(parsers, sentence, criterion=policy.criterion or "")
        )
        places[candidate] = index
    budget = goal - words_in(data, chosen) if policy.by_words else goal - len(chosen)
    if budget < 1:
        return []
    options = RankingOptions(
        words=budget if policy.by_words else None,
        count=None if policy.by_words else budget,
        kinds=(source_kinds if task.converts else tag_kinds) if policy.variety else None,
    )
    known = [data.pool[i] for i in chosen]
    return [places[candidate] for candidate in rank(list(places), annotated=known, options=options)]


def committee(task: Task, data: Data, chosen: Sequence[int]) -> list[Parser]:
    """Train several parsers, each on as many trees as are annotated, drawn from these with replacement."""
    rng = np.random.default_rng(len(chosen))
    draws = (rng.choice(chosen, len(chosen)).tolist() for _ in range(COMMITTEE))
    return [task.train(*annotated(data, draw)) for draw in draws]


def annotated(data: Data, indices: Sequence[int]) -> tuple[list[Sentence], list[Sentence]]:
    return [data.pool[i] for i in indices], [data.pool_trees[i] for i in indices]


def words_in(data: Data, indices: Sequence[int]) -> int:
    return sum(len(data.pool[i]) for i in indices)


def measure(
    task: Task, data: Data, policies: Sequence[Policy], *, seeds: int, cache: Path | None, split: str
) -> dict[str, list[list[Point]]]:
    """Return the curves of each policy, one for each seed."""
    stored = json.loads(cache.read_text()) if cache is not None and cache.exists() else {}
    result: dict[str, list[list[Point]]] = {}
    for policy in policies:
        name = f"{split}, {task.name}, {policy.name}"
        if name not in stored:
            start = time.process_time()
            random_words = [[point.words for point in one] for one in result.get(RANDOM.name, [[]] * seeds)]
            curves = [curve(task, data, policy, seed, random_words[seed]) for seed in range(seeds)]
            stored[name] = [[asdict(point) for point in one] for one in curves]
            print(name, [round(mean(p.uas for p in ps), 2) for ps in zip(*curves, strict=True)], flush=True)
            print(f"{time.process_time() - start:.0f} s of processor time", flush=True)
        result[policy.name] = [[Point(**point) for point in one] for one in stored[name]]
        if cache is not None:
            cache.write_text(json.dumps(stored))
    return result


def means(curves: Sequence[Sequence[Point]], field: str) -> list[float]:
    return [mean(getattr(point, field) for point in points) for points in zip(*curves, strict=True)]


def table(results: dict[str, list[list[Point]]]) -> Iterator[str]:
    yield "| chosen | " + " | ".join(f"round {number}" for number in range(len(ROUNDS))) + " |"
    yield "|---" * (1 + len(ROUNDS)) + "|"
    for name, curves in results.items():
        spread = [stdev(point.uas for point in points) for points in zip(*curves, strict=True)]
        fields = (means(curves, field) for field in ("trees", "words", "uas", "las"))
        cells = [
            f"{trees:.0f} / {words:,.0f}: **{uas:.2f}** ({deviation:.2f}) {las:.2f}"
            for trees, words, uas, las, deviation in zip(*fields, spread, strict=True)
        ]
        yield f"| {name} | " + " | ".join(cells) + " |"


def needed(results: dict[str, list[list[Point]]]) -> Iterator[str]:
    """Say what it takes to be as good as with all random trees, by linear interpolation between rounds."""
    for name, field in (("suggested, as many trees", "trees"), ("suggested, as many words", "words")):
        curves, base = results[name], results[RANDOM.name]
        goal = means(base, "uas")[-1]
        scores, amounts = means(curves, "uas"), means(curves, field)
        if max(scores) < goal:
            yield f"As good as random ({goal:.2f} UAS), in {field}: not reached."
            continue
        reached = next(place for place, score in enumerate(scores) if score >= goal)
        amount = np.interp(goal, scores[reached - 1 : reached + 1], amounts[reached - 1 : reached + 1])
        total = means(base, field)[-1]
        yield f"As good as random ({goal:.2f} UAS): {amount:,.0f} of {total:,.0f} {field}, {100 * amount / total:.0f}%."


def plot(task: Task, results: dict[str, list[list[Point]]]) -> None:
    """Draw the share of wrong heads by words, both axes logarithmic."""
    series = [
        Series(name, means(curves, "words"), [100.0 - uas for uas in means(curves, "uas")])
        for name, curves in results.items()
    ]
    drawing = line_plot(
        series,
        title=task.name,
        x=Axis("words annotated", logarithmic=True),
        y=Axis("wrong heads, %", logarithmic=True),
    )
    (DOCS / task.plot).write_text(svg_document([drawing]), encoding="utf-8")


def report(
    measured: Sequence[tuple[Task, dict[str, list[list[Point]]]]],
    criteria: dict[str, list[list[Point]]] | None,
) -> str:
    lines = [INTRODUCTION.format(pool=POOL, test=TEST, seeds=SEEDS, start=START)]
    for task, results in measured:
        lines += [f"## {task.name}", "", *table(results), "", *needed(results), ""]
        lines += [f"![{task.name}: wrong heads by words annotated]({task.plot})", ""]
    if criteria is not None:
        introduction = CRITERIA_INTRODUCTION.format(seeds=CRITERIA_SEEDS, committee=COMMITTEE)
        lines += [introduction, *table(criteria), ""]
    return "\n".join([*lines, READING])


INTRODUCTION = """\
# Suggested sentences, measured

Written by `scripts/experiments/styles/suggest.py`. What is a tree worth that `qsproj suggest` asks for, beside a random one?
From {start} random trees on, in rounds: train, rank what is not annotated of a pool of {pool} random sentences of
the training file, add the first of them with their gold trees. Tested on {test} random sentences of the test
file, means over {seeds} seeds, each with other trees to start from. Cells: trees / words annotated: **UAS**
(standard deviation over seeds) LAS. The same words are a fairer comparison than the same trees: long sentences
teach more and take longer.
"""
CRITERIA_INTRODUCTION = """\
## Criteria

The same on English-EWT dev, {seeds} seeds, always as many words as the random trees have. The committee: {committee}
parsers, each trained on as many trees as are annotated, drawn from these with replacement.
"""
READING = """\
## Reading the tables

- The aim was the accuracy of 100 random trees with at most 60 suggested ones. The converter stays well below;
  the English parser just makes it, the Naija parser misses it by two, within the spread of the seeds.
- Part of that is length: suggested sentences are about 1.4 times as long as random ones, though they are ranked
  per word. At equal words the gain is smaller, but it is there in every round of every table. For the parsers
  it grows: the first one, of ten trees, knows little of what it does not know. For the converter it shrinks in
  the end: there is little left to learn.
- Suggesting pays most for the converter, which is nearly always right: most random trees teach it nothing.
- All criteria beat random choice, and differ hardly more than the seeds do; the committee, at the price of
  three more trainings, is the weakest. `errors` with and without kinds of words (`--plain`): kinds help in some
  rounds and not in others. Kinds, `--sentence-cost` and the default criterion were chosen in earlier trials on
  Naija dev and English-EWT dev.
- Not measured: what a person needs for a tree. Sentences that a parser finds hard may take a person longer,
  too; `--predict` makes correcting out of annotating, which all sentences gain from.
"""


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--results", type=Path)
    parser.add_argument("--criteria", action="store_true")
    options = parser.parse_args()
    folder, cache = Path(os.environ["QSPROJ_DATA"]), options.results
    measured = []
    for task in TASKS:
        data = load(task, folder, "test")
        results = measure(task, data, POLICIES, seeds=SEEDS, cache=cache, split="test")
        measured.append((task, results))
        plot(task, results)
    criteria = None
    if options.criteria:
        data = load(ENGLISH, folder, "dev")
        criteria = measure(ENGLISH, data, CRITERIA, seeds=CRITERIA_SEEDS, cache=cache, split="dev")
    (DOCS / "suggest.md").write_text(report(measured, criteria), encoding="utf-8")


if __name__ == "__main__":
    main()
