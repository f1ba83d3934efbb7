"""Count the actions of an annotator until the trees are gold, with and without live inference.

A simulated annotator repeatedly corrects the first wrong cell of a sentence (tag, head, relation without subtype, word by
word), as on the page of `qsproj serve --review`. Without live inference, a correction changes only that cell, and a new
root becomes the head of the old one; with it, the rest is inferred given all corrections. Drafts are parsed from words
alone by bootstrapped models of the first pairs of a bitext.

A bootstrapped model is also trained on gold trees of a development file: sentences by `--order worth`, and random ones.

Settings were chosen on development files with --dev, which prints and writes no page; the page reports PUD and test files.
"""

from __future__ import annotations

import argparse
import lzma
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice
from operator import itemgetter
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Any

import numpy as np

from qsproj.conventions import NO_HEAD, ROOT, frozen_heads
from qsproj.corpus.cells import UNSPECIFIED, bare_relation
from qsproj.corpus.conllu import read_conllu, write_conllu
from qsproj.corpus.sentence import Sentence
from qsproj.errors import SentenceError
from qsproj.evaluation.attachment import attachment_scores
from qsproj.models.storage import load_model_of
from qsproj.models.text.text_parser import TextParser
from qsproj.pipelines.suggest import Candidate, Costs, rank
from qsproj.serve.review.correction import belief_of
from qsproj.serve.review.inference import FixedCells, InferredTree, infer_rest
from qsproj.serve.review.retraining import parsed_as_used
from scripts.experiments.harness.experiment import Experiment, Lab
from scripts.experiments.harness.page import Figures
from scripts.experiments.harness.tables import Table, table
from scripts.experiments.transfer.stages import timed

LANGUAGES = {"de": "German", "sv": "Swedish", "zh": "Chinese", "es": "Spanish"}
REVIEWED = ("de", "sv", "zh")
DEV = {"de": "german-gsd-dev", "sv": "swedish-talbanken-dev"}
PAIRS, SENTENCES = 10_000, 100
# Sentences of PUD: those that teach how Chinese is cut and tagged, and those that are corrected.
TAGGED, REPORTED = {"zh": (500, 600)}, slice(600, 700)
LONG, TIMED = 40, 20
# Treebanks of whose development files CHOSEN sentences are learned from; their test files are parsed.
TREEBANKS = {"de": "german-gsd", "sv": "swedish-talbanken", "es": "spanish-gsd"}
CHOSEN, SEEDS, FOLDS = 100, 5, 3
# Costs of a sentence in words; lower ones prefer short sentences. On development files (--dev) of German and
# Swedish all but the smallest are about equally good.
SENTENCE_COST = 10.0
COSTS = (2.0, 5.0, SENTENCE_COST, 20.0, 50.0)
READING, DOUBT = "in reading order", "the least sure word first"

Cell = tuple[int, str]  # of a word 1..n: tag, head or relation
COLUMNS = TAG, HEAD, RELATION = ("tag", "head", "relation")


@dataclass(frozen=True)
class Way:
    """Settings of the annotator: live inference, order of sentences, and cells confirmed by reading."""

    name: str
    live: bool
    order: str = READING
    # cells before a correction are fixed, because they were read: "words above stay" on the page
    above: bool = False


WAYS = (
    Way("without", live=False),
    Way("without, the least sure word first", live=False, order=DOUBT),
    Way("with live inference", live=True),
    Way("and words above stay", live=True, above=True),
    Way("with live inference, the least sure word first", live=True, order=DOUBT),
)


@dataclass
class State:
    """A sentence under correction: the displayed tree, the gold tree and the fixed cells. Mutable."""

    parser: TextParser
    sentence: Sentence
    tags: list[str]
    heads: list[int]
    relations: list[str]
    chances: tuple[float | None, ...]
    gold: dict[Cell, Any]
    fixed: set[Cell]

    def shown(self, cell: Cell) -> Any:
        word, column = cell
        if column == HEAD:
            return self.heads[word - 1]
        return self.tags[word - 1] if column == TAG else bare_relation(self.relations[word - 1])

    def set(self, cell: Cell, value: Any) -> None:
        word, column = cell
        columns: dict[str, list[Any]] = {TAG: self.tags, HEAD: self.heads, RELATION: self.relations}
        columns[column][word - 1] = value

    def refused(self, word: int) -> bool:
        """Tell whether the page, without live inference, refuses the gold head of a word: it closes a cycle."""
        above = self.gold[word, HEAD]
        while above > 0 and above != word:
            above = self.heads[above - 1]
        return bool(above == word)

    def attach(self, word: int) -> None:
        """Change a head as on the page without live inference: a new root becomes the head of the old one."""
        head = self.gold[word, HEAD]
        if head == ROOT and ROOT in self.heads:
            old = self.heads.index(ROOT) + 1
            self.heads[old - 1] = word
            names = self.relations
            names[old - 1], names[word - 1] = names[word - 1], names[old - 1]
        self.heads[word - 1] = head

    def infer(self) -> None:
        """Infer the rest of the tree; leave it unchanged if the model has no such tree."""
        n = len(self.sentence)
        words = range(1, n + 1)
        fixed = FixedCells(
            tuple(self.gold[word, HEAD] if (word, HEAD) in self.fixed else NO_HEAD for word in words),
            tuple(
                self.gold[word, RELATION] if (word, RELATION) in self.fixed else UNSPECIFIED for word in words
            ),
            tuple(self.tags),
            (True,) * n,
        )
        try:
            found: InferredTree = infer_rest(self.parser, self.sentence, fixed)
        except SentenceError:
            return
        self.heads, self.relations, self.chances = list(found.heads), list(found.relations), found.chances


def actions(parser: TextParser, draft: Sentence, gold: Sentence, way: Way) -> int:
    """Return how many cells an annotator corrects until the draft is gold."""
    words = range(1, len(gold) + 1)
    cells = {
        **{(word, TAG): gold.upos[word - 1] for word in words},
        **{(word, HEAD): int(gold.heads[word]) for word in words},
        **{(word, RELATION): bare_relation(gold.deprels[word - 1]) for word in words},
    }
    state = State(
        parser,
        draft,
        list(draft.upos),
        draft.heads.tolist()[1:],
        list(draft.deprels),
        belief_of(draft).chances,
        cells,
        set(),
    )
    done = 0
    while (cell := _first_wrong(state, way)) is not None:
        done += 1
        word, column = cell
        if way.live:
            state.set(cell, cells[cell])
            state.fixed.add(cell)
            if way.above:
                state.fixed |= {
                    one for one in cells if (one[0], COLUMNS.index(one[1])) < (word, COLUMNS.index(column))
                }
            state.infer()
            state.set(cell, cells[cell])
        elif column == HEAD:
            state.attach(word)
        else:
            state.set(cell, cells[cell])
    return done


def _first_wrong(state: State, way: Way) -> Cell | None:
    for word in _order(state, way):
        for column in COLUMNS:
            cell = word, column
            if state.shown(cell) != state.gold[cell] and (
                way.live or column != HEAD or not state.refused(word)
            ):
                return cell
    return None


def _order(state: State, way: Way) -> Iterator[int]:
    words = range(1, len(state.sentence) + 1)
    chances = [1.0 if chance is None else chance for chance in state.chances]
    return iter(sorted(words, key=lambda word: chances[word - 1]) if way.order == DOUBT else words)


def model_of(lab: Lab, language: str) -> Path:
    """Return a model bootstrapped on the first pairs of a bitext; its stages are stored with the figures."""
    bitext, treebank = lab.bitext_path(language), lab.treebank_path("english-ewt-train")
    pairs = lab.cache.folder / f"en-{language}.tsv"
    pairs.parent.mkdir(parents=True, exist_ok=True)
    with lzma.open(bitext, "rt", encoding="utf-8") as lines:
        pairs.write_text("".join(islice(lines, PAIRS)), encoding="utf-8")

    def make(path: Path) -> dict[str, Any]:
        command = ["--treebank", treebank, "--bitext", pairs, "--languages", "en", language]
        if language in TAGGED:
            command += ["--unspaced", "target", "--tagged", tagged_part(lab, language)]
        work = lab.cache.folder / "bootstrap"
        return timed(["bootstrap", *map(str, command), "--jobs", "1", "--work", str(work), "-o", str(path)])

    return lab.cache.file(
        f"{language}.model",
        make,
        options={"pairs": PAIRS},
        data=[bitext, treebank],
        experiment=Path(__file__),
    )


def tagged_part(lab: Lab, language: str) -> Path:
    """Return some sentences of PUD, words and tags alone, for a language that is written without spaces."""
    path = lab.cache.folder / f"{language}-tagged.conllu"
    write_conllu(
        (_without_tree(one) for one in islice(read_conllu(lab.pud_path(language)), *TAGGED[language])), path
    )
    return path


def counted_actions(lab: Lab, language: str, path: Path) -> dict[str, Any]:
    """Return the words of the sentences, the draft's faults, and the actions of each way."""
    model = load_model_of(model_of(lab, language), TextParser, expected="a model of text", remedy="make one")
    part = slice(SENTENCES) if lab.options.dev else REPORTED
    gold = list(read_conllu(path))[part]
    drafts = [model.parse(_without_tree(one), retag=True, confidence=True) for one in gold]
    return {
        "words": sum(map(len, gold)),
        "milliseconds": _milliseconds(model, list(read_conllu(path))),
        **{
            way.name: sum(actions(model, draft, one, way) for draft, one in zip(drafts, gold, strict=True))
            for way in WAYS
        },
    }


def learned_trees(
    model: TextParser, pool: list[Sentence], test: list[Sentence], costs: tuple[float, ...]
) -> dict[str, list[float]]:
    """Return (sentences, words, LAS) after training on trees of a pool: by worth, at some costs, and by chance.

    "as many words" has as many words, by chance, as the first of the costs.
    """
    drafts = [model.parse(_without_tree(one), retag=True, confidence=True) for one in pool]
    doubts = [
        np.array([0.0 if one is None else 1.0 - one for one in belief_of(draft).chances]) for draft in drafts
    ]
    candidates = list(map(Candidate, drafts, doubts))
    places = {id(draft): index for index, draft in enumerate(drafts)}
    chosen = {
        f"worth {cost:g}": [
            places[id(one.sentence)] for one in rank(candidates, count=CHOSEN, costs=Costs.in_words(cost))
        ]
        for cost in costs
    }
    sizes = np.array([len(one) for one in pool])
    words = sizes[chosen[f"worth {costs[0]:g}"]].sum()
    for seed in range(1, SEEDS + 1):
        order = np.random.default_rng(seed).permutation(len(pool))
        chosen[f"chance {seed}"] = order[:CHOSEN].tolist()
        chosen[f"as many words {seed}"] = order[
            : np.searchsorted(np.cumsum(sizes[order]), words) + 1
        ].tolist()
    found = {"none": [0.0, 0.0, _las(model, test)]}
    for name, own in chosen.items():
        trained = model.fine_tuned([pool[index] for index in own], rng=np.random.default_rng(1))
        assert isinstance(trained, TextParser)
        found[name] = [float(len(own)), float(sizes[own].sum()), _las(trained, test)]
    return found


def _las(model: TextParser, test: list[Sentence]) -> float:
    parsed = [parsed_as_used(model, _without_tree(one), retag=True) for one in test]
    return attachment_scores(test, [parsed])[0].las


def _learned(lab: Lab, language: str) -> dict[str, list[float]]:
    """Return mean scores after training: on a test file, or with --dev over folds of the development file."""
    dev, test = (lab.treebank(f"{TREEBANKS[language]}-{part}") for part in ("dev", "test"))
    model = load_model_of(model_of(lab, language), TextParser, expected="a model of text", remedy="make one")
    if lab.options.dev:
        folds = [
            learned_trees(
                model, [one for at, one in enumerate(dev) if at % FOLDS != fold], dev[fold::FOLDS], COSTS
            )
            for fold in range(FOLDS)
        ]
    else:
        folds = [learned_trees(model, dev, test, (SENTENCE_COST,))]
    return {name: np.mean([one[name] for one in folds], axis=0).tolist() for name in folds[0]}


def _milliseconds(model: TextParser, sentences: list[Sentence]) -> float:
    """Return the median time to infer the rest of a sentence of about LONG words, of which the first heads are fixed."""
    taken = []
    for one in [one for one in sentences if LONG - 2 <= len(one) <= LONG + 2][:TIMED]:
        n = len(one)
        heads = tuple(head if word < n // 4 else NO_HEAD for word, head in enumerate(one.heads.tolist()[1:]))
        fixed = FixedCells(heads, (UNSPECIFIED,) * n, one.upos, (True,) * n)
        for _ in range(2):
            start = perf_counter()
            infer_rest(model, one, fixed)
            again = perf_counter() - start
        taken.append(1000 * again)
    return round(median(taken), 1) if taken else 0.0


def _without_tree(sentence: Sentence) -> Sentence:
    blank = (UNSPECIFIED,) * len(sentence)
    return replace(sentence, deprels=blank, heads=frozen_heads(np.full(len(sentence) + 1, NO_HEAD)))


def measure(lab: Lab) -> Figures:
    asked = tuple(DEV) if lab.options.dev else REVIEWED
    rows = {}
    for language in asked:
        path = lab.treebank_path(DEV[language]) if lab.options.dev else lab.pud_path(language)
        count = partial(counted_actions, lab, language, path)
        rows[language] = lab.cache.figures(
            f"{language} actions", count, options={"sentences": SENTENCES}, data=[path]
        )
    learned = {}
    for language in DEV if lab.options.dev else TREEBANKS:
        paths = [lab.treebank_path(f"{TREEBANKS[language]}-{part}") for part in ("dev", "test")]
        learn = partial(_learned, lab, language)
        options = {"chosen": CHOSEN, "cost": SENTENCE_COST, "dev": lab.options.dev}
        learned[language] = lab.cache.figures(f"{language} learned", learn, options=options, data=paths)
    return Figures(
        tables={"actions": _table(rows), "learned": _learned_table(learned)},
        values=_values(rows) | _learned_values(learned),
    )


def _by_chance(row: dict[str, list[float]], name: str = "chance") -> list[float]:
    means: list[float] = np.mean([row[f"{name} {seed}"] for seed in range(1, SEEDS + 1)], axis=0).tolist()
    return means


def _learned_table(rows: dict[str, dict[str, list[float]]]) -> Table:
    def line(name: str, of: Callable[[dict[str, list[float]]], list[float]]) -> list[str]:
        cells = map(of, rows.values())
        return [
            name,
            *(f"{las:.1f} ({words:,.0f} words)" if words else f"{las:.1f}" for _, words, las in cells),
        ]

    costs = [name for name in next(iter(rows.values())) if name.startswith("worth")]
    by_worth = [
        line(f"{CHOSEN} by {name}" if len(costs) > 1 else f"{CHOSEN} by `--order worth`", itemgetter(name))
        for name in costs
    ]
    return table(
        ["LAS", *(LANGUAGES[language] for language in rows)],
        [
            line("as bootstrapped", itemgetter("none")),
            line(f"{CHOSEN} by chance", _by_chance),
            line("as many words by chance", partial(_by_chance, name="as many words")),
            *by_worth,
        ],
    )


def _learned_values(rows: dict[str, dict[str, list[float]]]) -> dict[str, str]:
    def gains(than: str) -> list[float]:
        return [row[f"worth {SENTENCE_COST:g}"][2] - _by_chance(row, than)[2] for row in rows.values()]

    def signed(found: list[float]) -> str:
        return ", ".join(f"{gain:+.1f}" for gain in found)

    by_sentences = gains("chance")
    return {
        "chosen": str(CHOSEN),
        "seeds": str(SEEDS),
        "cost": f"{SENTENCE_COST:g}",
        "costs": ", ".join(f"{cost:g}" for cost in COSTS),
        "gains": signed(by_sentences),
        "gains by words": signed(gains("as many words")),
        "mean gain": f"{np.mean(by_sentences):+.1f}",
    }


def _table(rows: dict[str, dict[str, Any]]) -> Table:
    header = [
        "actions to gold",
        *(f"{LANGUAGES[language]}, {row['words']:,} words" for language, row in rows.items()),
    ]
    base = WAYS[0].name
    return table(
        header,
        [[way.name, *(_cell(row[way.name], row[base]) for row in rows.values())] for way in WAYS],
    )


def _cell(found: int, base: int) -> str:
    return f"{found:,}" if found == base else f"{found:,} ({100 * (found - base) / base:+.0f}%)"


def _values(rows: dict[str, dict[str, Any]]) -> dict[str, str]:
    def fewer(name: str, than: str) -> str:
        return ", ".join(f"{100 - 100 * row[name] / row[than]:.0f}%" for row in rows.values())

    return {
        "pairs": f"{PAIRS:,}",
        "sentences": str(SENTENCES),
        "long": str(LONG),
        "milliseconds": ", ".join(f"{row['milliseconds']:.1f}" for row in rows.values()),
        "fewer than without": fewer("and words above stay", "without"),
        "fewer than in order of doubt": fewer(
            "and words above stay", "with live inference, the least sure word first"
        ),
    }


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--dev", action="store_true", help="use development files, and only print")


EXPERIMENT = Experiment(file=__file__, about=__doc__ or "", measure=measure, add_arguments=add_arguments)

if __name__ == "__main__":
    EXPERIMENT.main()
