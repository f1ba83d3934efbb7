"""What suggested sentences are worth beside random ones.

Learning curves: ten random trees to start with, then in rounds those of the sentences that `qsproj suggest` puts
first, by a parser, or a converter, trained on what is annotated so far. Each seed starts from other ten trees. Tags,
and the trees that the converter reads, are gold.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from statistics import mean, stdev

import numpy as np

from qsproj.corpus.conllu import read_conllu
from qsproj.corpus.sentence import Sentence
from qsproj.evaluation.attachment import attachment_scores
from qsproj.models.arc.arc_training import train_arc_parser
from qsproj.models.converter.converter_training import train_converter
from qsproj.models.storage import Parser
from qsproj.pipelines.suggest import (
    Candidate,
    rank,
    source_kinds,
    tag_kinds,
)
from qsproj.viz.drawing import svg_document
from qsproj.viz.page import Axis, Series, line_plot
from scripts.experiments.harness.experiment import Experiment, Lab
from scripts.experiments.harness.page import Figures
from scripts.experiments.harness.tables import Table, table
from scripts.experiments.pages.styles import suggest
from scripts.experiments.styles.uncertainty import uncertainties_by

POOL, TEST, SEEDS, CRITERIA_SEEDS = 800, 300, 5, 3
ROUNDS = (10, 25, 40, 60, 100)
START = ROUNDS[0]
COMMITTEE = 3

Results = dict[str, list[list["Point"]]]
Train = Callable[[Sequence[Sentence], Sequence[Sentence]], Parser]


@dataclass(frozen=True)
class Task:
    """Which files hold what is parsed and the trees it should get, and how a parser is trained on both."""

    name: str
    key: str
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
    las_no_subtypes: float


def parser_of(_: Sequence[Sentence], trees: Sequence[Sentence]) -> Parser:
    return train_arc_parser(trees, rng=np.random.default_rng(1))[0]


def converter_of(sources: Sequence[Sentence], trees: Sequence[Sentence]) -> Parser:
    return train_converter(sources, trees, rng=np.random.default_rng(1))[0]


EWT = "treebanks/english-ewt-{}.conllu.gz"
NAIJA_UD, NAIJA_SUD = "styles/naija-{}.ud.conllu.gz", "styles/naija-{}.sud.conllu.gz"
ENGLISH = Task("Parser, English-EWT", "english", EWT, EWT, parser_of)
TASKS = (
    Task(
        "Converter, Naija UD to SUD",
        "converter",
        NAIJA_UD,
        NAIJA_SUD,
        converter_of,
        converts=True,
    ),
    ENGLISH,
    Task("Parser, Naija", "naija", NAIJA_UD, NAIJA_UD, parser_of),
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


def files_of(task: Task, folder: Path, split: str) -> list[Path]:
    """Return the files that are read."""
    return [folder / name.format(part) for name in (task.inputs, task.gold) for part in ("train", split)]


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
    return Point(len(chosen), words_in(data, chosen), scores.uas, scores.las, scores.las_no_subtypes)


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
        candidate = Candidate(sentence, uncertainties_by(parsers, sentence, criterion=policy.criterion or ""))
        places[candidate] = index
    budget = goal - words_in(data, chosen) if policy.by_words else goal - len(chosen)
    if budget < 1:
        return []
    ranked = rank(
        list(places),
        annotated=[data.pool[i] for i in chosen],
        words=budget if policy.by_words else None,
        count=None if policy.by_words else budget,
        kinds=(source_kinds if task.converts else tag_kinds) if policy.variety else None,
    )
    return [places[candidate] for candidate in ranked]


def committee(task: Task, data: Data, chosen: Sequence[int]) -> list[Parser]:
    """Train several parsers, each on as many trees as are annotated, drawn from these with replacement."""
    rng = np.random.default_rng(len(chosen))
    draws = (rng.choice(chosen, len(chosen)).tolist() for _ in range(COMMITTEE))
    return [task.train(*annotated(data, draw)) for draw in draws]


def annotated(data: Data, indices: Sequence[int]) -> tuple[list[Sentence], list[Sentence]]:
    return [data.pool[i] for i in indices], [data.pool_trees[i] for i in indices]


def words_in(data: Data, indices: Sequence[int]) -> int:
    return sum(len(data.pool[i]) for i in indices)


def measure(lab: Lab, task: Task, policies: Sequence[Policy], *, seeds: int, split: str) -> Results:
    """Return the curves of each policy, one for each seed."""
    data = load(task, lab.data, split)
    result: Results = {}
    for policy in policies:
        random_words = [[point.words for point in one] for one in result.get(RANDOM.name, [[]] * seeds)]
        kept = lab.cache.figures(
            f"{split}, {task.name}, {policy.name}",
            partial(curves, task, data, policy, random_words),
            options={"policy": asdict(policy), "seeds": seeds},
            data=files_of(task, lab.data, split),
        )
        result[policy.name] = [[Point(**point) for point in one] for one in kept]
    return result


def curves(
    task: Task, data: Data, policy: Policy, random_words: Sequence[Sequence[int]]
) -> list[list[dict[str, float]]]:
    """Return a policy's curve for each seed, as JSON takes it."""
    found = (curve(task, data, policy, seed, words) for seed, words in enumerate(random_words))
    return [[asdict(point) for point in one] for one in found]


def means(curves: Sequence[Sequence[Point]], field: str) -> list[float]:
    return [mean(getattr(point, field) for point in points) for points in zip(*curves, strict=True)]


def curve_table(results: Results) -> Table:
    """Show each policy round by round: trees / words, UAS (standard deviation), LAS."""
    rows = []
    for name, found in results.items():
        spread = [stdev(point.uas for point in points) for points in zip(*found, strict=True)]
        fields = (means(found, field) for field in ("trees", "words", "uas", "las", "las_no_subtypes"))
        cells = (
            f"{trees:.0f} / {words:,.0f}: **{uas:.2f}** ({deviation:.2f}) {las:.2f} / {plain:.2f}"
            for trees, words, uas, las, plain, deviation in zip(*fields, spread, strict=True)
        )
        rows.append([name, *cells])
    return table(["chosen", *(f"round {number}" for number in range(len(ROUNDS)))], rows)


def needed(results: Results) -> Iterator[str]:
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


def plot(task: Task, results: Results) -> str:
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
    return svg_document([drawing])


def run(lab: Lab) -> Figures:
    measured = {task: measure(lab, task, POLICIES, seeds=SEEDS, split="test") for task in TASKS}
    criteria = measure(lab, ENGLISH, CRITERIA, seeds=CRITERIA_SEEDS, split="dev")
    tables = {task.key: curve_table(results) for task, results in measured.items()}
    return Figures(
        tables={**tables, "criteria": curve_table(criteria)},
        values={f"{task.key}: needed": "\n".join(needed(results)) for task, results in measured.items()},
        drawings={f"suggest-{task.key}.svg": plot(task, results) for task, results in measured.items()},
    )


EXPERIMENT = Experiment(file=__file__, about=__doc__, measure=run, page="suggest", reading=suggest)

if __name__ == "__main__":
    EXPERIMENT.main()
