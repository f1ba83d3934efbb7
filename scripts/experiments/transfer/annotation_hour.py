"""An hour of a speaker after a New Testament: words and sentences in the order that is suggested, by simulation.

Answers are gold: of words all tags that they have in the treebank, of sentences the trees of the first half of the
development file. Each costs time: a word of the list, a word read, a correction, a confirmation. After each checkpoint
the bootstrap is repeated with all answers so far, and the next sentences are suggested and parsed by the new model. The second
half of the development file is scored: words given, the model's own tags, relations without subtypes, one seed, one draw.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from qsproj.corpus.conllu import read_conllu, write_conllu
from qsproj.corpus.sentence import Sentence
from qsproj.models.storage import load_model_of
from qsproj.models.text.text_parser import TextParser
from qsproj.pipelines.bootstrap.bootstrap import BootstrapOptions, bootstrap
from qsproj.pipelines.bootstrap.suggestions import suggested_sentences
from qsproj.pipelines.bootstrap.texts import VERSE, SourceText
from qsproj.pipelines.bootstrap.workspace import Workspace
from scripts.experiments.harness.experiment import Experiment, Lab
from scripts.experiments.harness.page import Figures
from scripts.experiments.harness.tables import listed, table
from scripts.experiments.transfer.by_tags import UNCERTAIN_TAGS, Part, scores_by_tags
from scripts.experiments.transfer.new_testament import TREEBANKS, text_of

NAMES = {
    "uk": "Ukrainian",
    "wo": "Wolof",
    "hy": "Armenian",
    "et": "Estonian",
    "ru": "Russian",
    "ar": "Arabic",
}
CHECKPOINTS = (0, 10, 30, 60)
# Of the minutes, this share goes to words before the first sentence.
SHARE_OF_WORDS = 0.11
BOTH, WORDS, SENTENCES, CHANCE = WAYS = ("words and sentences", "words", "sentences", "sentences by chance")


@dataclass(frozen=True)
class Row:
    """A language, and what a speaker is asked."""

    target: str
    way: str = BOTH

    @property
    def name(self) -> str:
        return f"{self.target}: {self.way}"


ROWS = tuple(Row(target, way) for way in WAYS for target in NAMES)


@dataclass(frozen=True)
class Costs:
    """Seconds of a speaker."""

    listed_word: float = 4.0
    read_word: float = 1.0
    correction: float = 3.0
    confirmation: float = 2.0

    def of_sentence(self, draft: Sentence, gold: Sentence) -> float:
        """Return the time to read a draft, correct its wrong cells and confirm it."""
        cells = zip(
            draft.upos, draft.heads[1:], draft.deprels, gold.upos, gold.heads[1:], gold.deprels, strict=True
        )
        wrong = sum((one != a) + ((head, rel) != (b, c)) for one, head, rel, a, b, c in cells)
        return self.read_word * len(gold) + self.correction * wrong + self.confirmation


@dataclass
class Speaker:
    """What was answered so far. Mutable."""

    pool: Sequence[Sentence]
    lexicon: dict[str, tuple[str, ...]]  # all words of the treebank, lower case, with their tags
    costs: Costs
    words: list[str]
    sentences: list[int]

    def list_words(self, suggested: Sequence[str], seconds: float) -> float:
        """Tag suggested words while time is left; return the rest of it."""
        for word in suggested:
            if seconds < self.costs.listed_word:
                break
            if word in self.lexicon:
                self.words.append(word)
            seconds -= self.costs.listed_word
        return seconds

    def correct(self, order: Sequence[int], drafts: Sequence[Sentence], seconds: float) -> None:
        """Correct drafts in an order while time is left."""
        for index in order:
            cost = self.costs.of_sentence(drafts[index], self.pool[index])
            if cost > seconds:
                break
            self.sentences.append(index)
            seconds -= cost


def dev_path(lab: Lab, target: str) -> Path:
    return (
        lab.treebank_path("arabic-padt-dev")
        if target == "ar"
        else lab.data / "bible" / f"{target}-dev.conllu.gz"
    )


def texts_of(lab: Lab, target: str) -> SourceText:
    verses = lab.data / "bible" / "verses"
    return SourceText(
        treebanks=tuple(str(lab.treebank_path(name)) for name in TREEBANKS["en"]),
        bitext=tuple(str(verses / f"{code}.tsv.xz") for code in ("en", target)),
        languages=("en", target),
        paired_by=VERSE,
    )


def curve(lab: Lab, row: Row, costs: Costs) -> dict[str, Any]:
    """Return by minutes the scores, and how many words and sentences were answered."""
    dev = list(read_conllu(dev_path(lab, row.target)))
    pool, rest = dev[: len(dev) // 2], dev[len(dev) // 2 :]
    tags: dict[str, set[str]] = {}
    for sentence in dev:
        for form, tag in zip(sentence.forms, sentence.upos, strict=True):
            tags.setdefault(form.lower(), set()).add(tag)
    speaker = Speaker(pool, {form: tuple(sorted(of_word)) for form, of_word in tags.items()}, costs, [], [])
    lab.cache.folder.mkdir(parents=True, exist_ok=True)
    raw = lab.cache.folder / f"hour-{row.target}.txt"
    raw.write_text("".join(f"{text_of(sentence)}\n" for sentence in dev), "utf-8")
    plain = [Sentence.from_words(one.forms, sent_id=str(i)) for i, one in enumerate(pool)]
    chance = np.random.default_rng(1).permutation(len(pool)).tolist()
    model, words = made(lab, row, raw, speaker)
    found = {}
    for start, end in pairwise((0, *CHECKPOINTS)):
        seconds = 60.0 * (end - start)
        if seconds:
            share = {BOTH: SHARE_OF_WORDS, WORDS: 1.0}.get(row.way, 0.0)
            known = {*speaker.words}
            left = speaker.list_words([word for word in words if word not in known], share * seconds)
            left += (1.0 - share) * seconds
            if row.way != WORDS:
                drafts = list(model.parse_all(plain, confidence=True))
                done = {*speaker.sentences}
                open_ = [draft for i, draft in enumerate(drafts) if i not in done]
                annotated = [pool[i] for i in speaker.sentences]
                ranked = suggested_sentences(open_, model.tagger, annotated, count=max(len(open_), 1))
                order = [i for i in chance if i not in done]
                if row.way != CHANCE:
                    order = [int(one.sent_id or 0) for one in ranked]
                speaker.correct(order, drafts, left)
            model, words = made(lab, row, raw, speaker)
        scores = scores_by_tags(model.base, [Part(rest, model.tagger)], kinds=[UNCERTAIN_TAGS])
        answered = {"words": len(speaker.words), "sentences": len(speaker.sentences)}
        found[str(end)] = scores[UNCERTAIN_TAGS] | answered
    return found


def made(lab: Lab, row: Row, raw: Path, speaker: Speaker) -> tuple[TextParser, list[str]]:
    """Repeat the bootstrap with what was answered; return the model, and the words that it suggests."""
    options = BootstrapOptions(seed=1, draws=1, text=(str(raw),))
    if speaker.sentences:
        path = lab.cache.folder / f"hour-{row.name}.conllu"
        write_conllu([speaker.pool[i] for i in speaker.sentences], path)
        options = replace(options, annotated=(str(path),))
    if speaker.words:
        path = lab.cache.folder / f"hour-{row.name}.lexicon"
        path.write_text(
            "".join(f"{word}\t{' '.join(speaker.lexicon[word])}\n" for word in speaker.words), "utf-8"
        )
        options = replace(options, lexicon=str(path))
    workspace = Workspace(lab.cache.folder / "annotation-hour", run=row.name)
    done = bootstrap([texts_of(lab, row.target)], workspace=workspace, options=options, with_examples=True)
    model = load_model_of(
        done.model, TextParser, expected="a model of text", remedy="make one: qsproj bootstrap"
    )
    lines = Path(done.suggested_words or "").read_text("utf-8").splitlines()
    return model, [line.partition("\t")[0] for line in lines if not line.startswith("# ")]


def run(lab: Lab) -> Figures:
    costs = Costs(**{name: getattr(lab.options, name) for name in Costs.__annotations__})
    found = {}
    for row in ROWS:
        name, data = f"hour, {row.name}, {costs}", [dev_path(lab, row.target)]
        kept = lab.cache.kept(name, data=data)
        if kept is None and row.name in lab.options.rows:
            kept = lab.cache.figures(name, partial(curve, lab, row, costs), data=data)
            print(row.name, kept, flush=True)
        if kept:
            found[row] = {int(minutes): figures for minutes, figures in kept.items()}
    lines = [
        [
            NAMES[row.target],
            row.way,
            str(minutes),
            *(str(figures[name]) for name in ("words", "sentences")),
            *(f"{figures[name]:.1f}" for name in ("upos", "uas", "las_no_subtypes", "ece")),
        ]
        for row, of_row in found.items()
        for minutes, figures in of_row.items()
    ]
    header = ["", "asked", "minutes", "words", "sentences", "UPOS", "UAS", "LAS", "calibration error"]
    return Figures(
        tables={"hour": table(header, lines)},
        values={"missing": listed([row.name for row in ROWS if row not in found]) or "none"},
    )


def add_arguments(parser: argparse.ArgumentParser) -> None:
    every = [row.name for row in ROWS]
    parser.add_argument("--rows", nargs="*", default=every, choices=every, metavar="NAME")
    for name, seconds in vars(Costs()).items():
        parser.add_argument(f"--{name.replace('_', '-')}", type=float, default=seconds, metavar="SECONDS")


EXPERIMENT = Experiment(file=__file__, about=__doc__ or "", measure=run, add_arguments=add_arguments)

if __name__ == "__main__":
    EXPERIMENT.main()
