"""An hour of a speaker after a New Testament: words and sentences in the order that is suggested, by simulation.

Answers are gold: of words all tags that they have in the treebank, of sentences the trees of the first half of the
development file, without subtypes. Each costs time: a word of the list, a word read, a correction, a confirmation.
After each correction the model infers the rest of the sentence, as the page does. After each batch the model learns all
answers so far, and the next words and sentences are suggested by the new model. The second half of the development file
is scored: words given, the model's own tags, relations without subtypes, one seed, one draw.
"""

from __future__ import annotations

import argparse
import lzma
import re
import shutil
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np

from qsproj.conventions import NO_HEAD, frozen_heads
from qsproj.corpus.cells import UNSPECIFIED, bare_relation
from qsproj.corpus.characters import lower_form, plain_form
from qsproj.corpus.conllu import read_conllu
from qsproj.corpus.editing import with_columns
from qsproj.corpus.sentence import Sentence
from qsproj.errors import SentenceError
from qsproj.models.arc.arc_training import train_arc_parser
from qsproj.models.arc.training_options import TrainingOptions
from qsproj.models.storage import load_model_of
from qsproj.models.tagging.tagger_training import train_tagger
from qsproj.models.text.text_parser import TextParser, text_parser
from qsproj.pipelines.bootstrap.answers import Answers, learn_answers, text_to_parse
from qsproj.pipelines.bootstrap.bootstrap import BootstrapOptions, bootstrap
from qsproj.pipelines.bootstrap.model import TAG_READINGS
from qsproj.pipelines.bootstrap.suggestions import LinkedTags, suggested_sentences, suggested_words
from qsproj.pipelines.bootstrap.texts import VERSE, SourceText
from qsproj.pipelines.bootstrap.workspace import Workspace
from qsproj.pipelines.suggest import Costs
from qsproj.pipelines.tagging.raw_text import count_unknown
from qsproj.serve.review.inference import Fixed, infer_rest
from scripts.experiments.harness.experiment import Experiment, Lab
from scripts.experiments.harness.page import Figures
from scripts.experiments.harness.tables import listed, table
from scripts.experiments.transfer.by_tags import UNCERTAIN_TAGS, Part, scores_by_tags
from scripts.experiments.transfer.many_languages import as_ud_2
from scripts.experiments.transfer.new_testament import TREEBANKS, text_of

NAMES = {
    "uk": "Ukrainian",
    "wo": "Wolof",
    "hy": "Armenian",
    "et": "Estonian",
    "ru": "Russian",
    "ar": "Arabic",
}
# Minutes between two models.
BATCH = 10
# From 60 minutes on, models are farther apart.
LATER = 20
# The share of the minutes that goes to words is the share of the text's words that the bitext lacks, times this.
# LAS after the hour, halves of development files exchanged, by share of the minutes: Armenian (.63 unknown) 51.2 (.22),
# 51.3 (.4), 52.7 (.6); Estonian (.39) 47.7 (.15), 48.9 (.4), 49.2 (.6); Wolof (.21) 63.4 (.11), 61.8 (.4), 62.5 (.6).
SHARE_OF_UNKNOWN = 1.0
BOTH, CHANCE, SENTENCES, WORDS, MISTAKES, NOTHING = WAYS = (
    "words and sentences",
    "words and sentences by chance",
    "sentences",
    "words",
    "words and sentences, 5% of the answers wrong",
    "sentences, without the projected start",
)
WRONG = 0.05
# The largest number of sentences of the second half that are scored, at equal distances.
SCORED = 300


@dataclass(frozen=True)
class Row:
    """A language, and what a speaker is asked."""

    target: str
    way: str = BOTH
    minutes: int = 60

    @property
    def name(self) -> str:
        return f"{self.target}: {self.way}"


# Languages with a row of two hours.
LONG = ("wo", "hy")
ROWS = tuple(
    Row(target, way, 120 if way == BOTH and target in LONG else 60) for way in WAYS for target in NAMES
)


@dataclass
class Speaker:
    """What was answered so far. Mutable."""

    pool: Sequence[Sentence]
    lexicon: dict[str, tuple[str, ...]]  # all words of the treebank, lower case, with their tags
    costs: Costs
    share: float  # of the minutes, for words
    asked: dict[str, tuple[str, ...]]
    corrected: dict[int, Sentence]

    def list_words(self, suggested: Sequence[str], seconds: float) -> float:
        """Tag suggested words while time is left; return the rest of it."""
        for word in suggested:
            if seconds < self.costs.listed_word:
                break
            if word not in self.asked:
                self.asked[word] = self.lexicon.get(word, ())
                seconds -= self.costs.listed_word
        return seconds

    def correct(
        self, order: Sequence[int], drafts: Sequence[Sentence], model: TextParser | None, seconds: float
    ) -> float:
        """Correct drafts in an order while time is left; return the rest of it."""
        for index in order:
            wrong = corrections(model, drafts[index], self.pool[index])
            cost = self.costs.of_draft(len(drafts[index]), wrong)
            if cost > seconds:
                break
            self.corrected[index] = self.pool[index]
            seconds -= cost
        return seconds

    @property
    def words(self) -> dict[str, tuple[str, ...]]:
        """The words of the list that the speaker's text has, with their tags."""
        return {word: tags for word, tags in self.asked.items() if tags}


def corrections(model: TextParser | None, draft: Sentence, gold: Sentence) -> int:
    """Return the number of corrected tags and arcs, in reading order; a model infers the rest after each."""
    tags, heads = list(draft.upos), draft.heads.tolist()[1:]
    relations = [bare_relation(relation) for relation in draft.deprels]
    done = 0

    def infer(read: int) -> None:
        nonlocal heads, relations
        if model is None:
            return
        n = len(gold)
        kept = [NO_HEAD if word >= read else heads[word] for word in range(n)]
        named = [UNSPECIFIED if word >= read else relations[word] for word in range(n)]
        try:
            found = infer_rest(model, draft, Fixed(tuple(kept), tuple(named), tuple(tags), (True,) * n))
        except SentenceError:
            return
        heads = [*heads[:read], *found.heads[read:]]
        relations = [*relations[:read], *map(bare_relation, found.relations[read:])]

    for word in range(len(gold)):
        if tags[word] != gold.upos[word]:
            tags[word] = gold.upos[word]
            done += 1
            infer(word)
        right = int(gold.heads[word + 1]), gold.deprels[word]
        if (heads[word], relations[word]) != right:
            heads[word], relations[word] = right
            done += 1
            infer(word + 1)
    return done


def with_mistakes(sentence: Sentence, share: float, rng: np.random.Generator) -> Sentence:
    """Return a sentence of which a share of the tags, heads and relations are others of its own."""
    n = len(sentence)
    wrong = rng.random((3, n)) < share
    tags, relations, heads = list(sentence.upos), list(sentence.deprels), sentence.heads.copy()
    for word in range(n):
        if wrong[0, word]:
            tags[word] = str(rng.choice(sentence.upos))
        if wrong[1, word]:
            relations[word] = str(rng.choice(sentence.deprels))
        if wrong[2, word] and heads[word + 1] != 0:
            heads[word + 1] = int(rng.choice([head for head in range(1, n + 1) if head != word + 1]))
    return with_columns(replace(sentence, heads=frozen_heads(heads), deprels=tuple(relations)), upos=tags)


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


def treebank(lab: Lab, target: str) -> tuple[list[Sentence], list[Sentence]]:
    """Return the halves of a development file, the first without subtypes."""
    dev = list(read_conllu(dev_path(lab, target)))
    if target == "ar":
        dev = list(map(as_ud_2, dev))
    pool, rest = dev[: len(dev) // 2], dev[len(dev) // 2 :]
    bare = [replace(one, deprels=tuple(bare_relation(relation) for relation in one.deprels)) for one in pool]
    return bare, rest


def unknown_share(lab: Lab, target: str, sentences: Sequence[Sentence]) -> float:
    """Return the share of words in sentences that are not in the verses of their language."""
    with lzma.open(texts_of(lab, target).bitext[1], "rt", encoding="utf-8") as lines:
        known = [word for line in lines for word in re.findall(r"\w+", plain_form(line))]
    unknown, words = count_unknown((form for one in sentences for form in one.forms), known)
    return unknown / words


def start_of(lab: Lab, target: str) -> tuple[Path, Path]:
    """Return the raw text, and the model of a bootstrap with it."""
    folder = lab.cache.folder / "annotation-hour"
    folder.mkdir(parents=True, exist_ok=True)
    raw, model = folder / f"{target}.txt", folder / f"{target}.model"
    if not model.exists():
        dev = read_conllu(dev_path(lab, target))
        raw.write_text("".join(f"{text_of(sentence)}\n" for sentence in dev), "utf-8")
        done = bootstrap(
            [texts_of(lab, target)],
            workspace=Workspace(folder / "work", run=target),
            options=BootstrapOptions(seed=1, text=(str(raw),)),
        )
        shutil.copy(done.model, model)
    return raw, model


def curve(lab: Lab, row: Row, costs: Costs) -> dict[str, Any]:
    """Return by minutes the scores, how much was answered, and the processor time of learning it."""
    pool, rest = treebank(lab, row.target)
    scored = rest[:: -(-len(rest) // SCORED)]
    tags: dict[str, set[str]] = {}
    for sentence in (*pool, *rest):
        for form, tag in zip(sentence.forms, sentence.upos, strict=True):
            tags.setdefault(lower_form(form), set()).add(tag)
    if row.way == MISTAKES:
        rng = np.random.default_rng(5)
        pool = [with_mistakes(one, WRONG, rng) for one in pool]
        every = sorted(set().union(*tags.values()))
        for form in sorted(tags):
            if rng.random() < WRONG:
                tags[form] = {str(rng.choice(every))}
    lexicon = {form: tuple(sorted(of_word)) for form, of_word in tags.items()}
    share = {WORDS: 1.0, SENTENCES: 0.0, NOTHING: 0.0}.get(row.way)
    if share is None:
        share = SHARE_OF_UNKNOWN * unknown_share(lab, row.target, (*pool, *rest))
    speaker = Speaker(pool, lexicon, costs, share, {}, {})
    raw, path = start_of(lab, row.target)
    base = load_model_of(path, TextParser, expected="a model of text", remedy="delete it")
    text = text_to_parse(base, [str(raw)], paragraphs=False, bitext=[])
    learn = partial(learned_alone if row.way == NOTHING else learned_above, base, text)
    model = None if row.way == NOTHING else base
    left, found, taken = 0.0, {}, 0.0
    before = 0
    for minute in (*range(0, 60, BATCH), *range(60, row.minutes + 1, LATER)):
        if minute:
            left = ask(speaker, row, model, text, 60.0 * (minute - before) + left)
            before = minute
            start = process_time()
            model = learn(speaker)
            taken = max(taken, process_time() - start)
        answered = {"words": len(speaker.asked), "sentences": len(speaker.corrected), "seconds": taken}
        if model is not None:
            scores = scores_by_tags(model.base, [Part(scored, model.tagger)], kinds=[UNCERTAIN_TAGS])
            found[str(minute)] = scores[UNCERTAIN_TAGS] | answered
    return found


def ask(
    speaker: Speaker, row: Row, model: TextParser | None, text: Sequence[Sentence], seconds: float
) -> float:
    """Ask for words and sentences in a number of seconds; return the rest of these."""
    chance = np.random.default_rng(1)
    share, left = speaker.share, 0.0
    if share and model is not None:
        words = [one.form for one in suggested_words(model.tagger, text=text, bitext=[], linked=LinkedTags())]
        if row.way == CHANCE:
            words = [lower_form(form) for one in text for form in one.forms if any(map(str.isalpha, form))]
            words = [words[at] for at in chance.permutation(len(words))]
        left = speaker.list_words(words, share * seconds)
    left += (1.0 - share) * seconds
    if share == 1.0:
        return left
    plain = [Sentence.from_words(one.forms, sent_id=str(i)) for i, one in enumerate(speaker.pool)]
    order = [i for i in chance.permutation(len(plain)).tolist() if i not in speaker.corrected]
    drafts = plain if model is None else list(model.parse_all(plain, confidence=True))
    if model is not None and row.way not in (CHANCE, NOTHING):
        annotated = list(speaker.corrected.values())
        open_ = [drafts[i] for i in order]
        ranked = suggested_sentences(open_, model.tagger, annotated, count=max(len(open_), 1))
        order = [int(one.sent_id or 0) for one in ranked]
    return speaker.correct(order, drafts, model, left)


def learned_above(base: TextParser, text: Sequence[Sentence], speaker: Speaker) -> TextParser:
    """Return the bootstrapped model after all answers."""
    answers = Answers(sentences=list(speaker.corrected.values()), lexicon=speaker.words)
    rng = np.random.default_rng(1)
    return learn_answers(base, answers, raw=[one.forms for one in text], rng=rng)


def learned_alone(_: TextParser, text: Sequence[Sentence], speaker: Speaker) -> TextParser:
    """Return a model of the corrected sentences alone, and of raw text."""
    trees, rng = list(speaker.corrected.values()), np.random.default_rng(1)
    tagger = train_tagger(trees, rng=rng, raw=[one.forms for one in text])
    options = TrainingOptions(template_set="words", projective=True, single_root=True)
    return text_parser(tagger, train_arc_parser(trees, rng=rng, options=options)[0], readings=TAG_READINGS)


def run(lab: Lab) -> Figures:
    costs = Costs(**{name: getattr(lab.options, name) for name in Costs.__annotations__})
    found = {}
    for row in ROWS:
        name, data = f"hour, {row.name}, {costs}, {row.minutes}", [dev_path(lab, row.target)]
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
        values={
            "seconds": f"{max((one['seconds'] for of_row in found.values() for one in of_row.values()), default=0):.0f}",
            "missing": listed([row.name for row in ROWS if row not in found]) or "none",
        },
    )


def add_arguments(parser: argparse.ArgumentParser) -> None:
    every = [row.name for row in ROWS]
    parser.add_argument("--rows", nargs="*", default=every, choices=every, metavar="NAME")
    for name in Costs.__annotations__:
        seconds = getattr(Costs(), name)
        parser.add_argument(f"--{name.replace('_', '-')}", type=float, default=seconds, metavar="SECONDS")


EXPERIMENT = Experiment(file=__file__, about=__doc__ or "", measure=run, add_arguments=add_arguments)

if __name__ == "__main__":
    EXPERIMENT.main()
