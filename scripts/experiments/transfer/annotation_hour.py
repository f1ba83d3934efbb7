"""An hour of a speaker after a New Testament: questions, words and sentences in the suggested order, by simulation.

Answers are gold: of questions of convention the tag of most of their words, of words all tags that they have in the
treebank, of sentences the trees of the first half of the development file, without subtypes. Each costs time: a word of
the list, a word read, a correction, a confirmation. After each correction the model infers the rest of the sentence, as
the page does. After each batch the model learns all answers so far, and the next questions, words and sentences are
suggested by the new model. The second half of the development file is scored: words given, the model's own tags,
relations without subtypes, one seed, one draw.

``--work`` is the folder of stages of ``many_bench``, whose models are used where they are kept. Each row is stored when
it is measured, and a run that was stopped goes on with the next one. ``--kept`` records those that are stored.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import lru_cache, partial
from operator import eq
from pathlib import Path
from statistics import mean
from time import process_time
from typing import Any

import numpy as np

from qsproj.conventions import NO_HEAD, frozen_heads
from qsproj.corpus.cells import UNSPECIFIED, bare_relation
from qsproj.corpus.characters import lower_form
from qsproj.corpus.editing import with_columns
from qsproj.corpus.language.lexicon import WordTags
from qsproj.corpus.pairs.translations import join_same_targets
from qsproj.corpus.sentence import Sentence
from qsproj.errors import SentenceError
from qsproj.models.arc.arc_training import train_arc_parser
from qsproj.models.arc.training_options import TrainingOptions
from qsproj.models.tagging.tagger_training import train_tagger
from qsproj.models.text.text_parser import TextParser, load_text_parser, text_parser
from qsproj.pipelines.bootstrap.answers import TaggerInputs, learn_answers, text_to_parse
from qsproj.pipelines.bootstrap.bootstrap import BootstrapOptions, bootstrap
from qsproj.pipelines.bootstrap.suggestions import WORDS as NEXT_WORDS
from qsproj.pipelines.bootstrap.suggestions import (
    DraftScore,
    LinkedTags,
    SuggestedQuestion,
    SuggestedWord,
    gain_per_minute,
    merged_by_gain,
    suggested_questions,
    suggested_sentences,
    suggested_words,
    targets_with_links,
)
from qsproj.pipelines.bootstrap.training import TAG_READINGS
from qsproj.pipelines.bootstrap.workspace import Workspace
from qsproj.pipelines.suggest import Costs
from qsproj.pipelines.tagging.self_training import share_unknown
from qsproj.serve.review.inference import FixedCells, infer_rest
from scripts.experiments.harness.cache import Source
from scripts.experiments.harness.experiment import Experiment, Lab
from scripts.experiments.harness.page import Figures
from scripts.experiments.harness.tables import Table, listed, table
from scripts.experiments.transfer.by_tags import GOLD_TAGS, UNCERTAIN_TAGS, Part, parsed, scores_by_tags
from scripts.experiments.transfer.many_languages import ENGLISH, LANGUAGES, Corpora, add_work

TARGETS = ("uk", "wo", "hy", "et", "ru", "ar")
# Minutes between two models.
BATCH = 10
# From 60 minutes on, models are farther apart.
LATER = 20
BOTH, SOURCES, CHANCE, SENTENCES, WORDS, MISTAKES, NOTHING = (
    "words and sentences",
    "words and sentences, five sources",
    "words and sentences by chance",
    "sentences",
    "words",
    "words and sentences, 5% of the answers wrong",
    "sentences, without the projected start",
)
# By their names on the command line.
WAYS = {
    "both": BOTH,
    "sources": SOURCES,
    "chance": CHANCE,
    "sentences": SENTENCES,
    "words": WORDS,
    "mistakes": MISTAKES,
    "nothing": NOTHING,
}
# Ways with a row of two hours.
LONG = (BOTH,)
FIVE = (ENGLISH, "es", "de", "ru", "it")
WRONG = 0.05
# The largest number of sentences of the second half that are scored, at equal distances.
SCORED = 300
HOUR = 60
# Minutes of the table by worth.
SHOWN = (0, 10, 30, 60, 120)
# UPOS, UAS and LAS to be reached after the hour.
AIMS = {"uk": (90, 73, 64), "wo": (89, 70, 60), "hy": (88, 66, 54)}
MEASURES = {"UPOS": "upos", "UAS": "uas", "LAS": "las_no_subtypes", "calibration error": "ece"}
# Number of frequent errors to show.
WORST = 6
ERRORS = (
    "",
    "UAS, gold tags",
    "LAS, gold tags",
    "words without an answer",
    "of these, wrong tag",
    "tags, gold > given",
    "arcs with gold tags",
)

Row = tuple[str, str]
# Figures by minutes.
Curve = dict[int, dict[str, Any]]


@dataclass
class Speaker:
    """Answers so far. Mutable."""

    pool: Sequence[Sentence]
    lexicon: dict[str, tuple[str, ...]]  # all words of the treebank, lower case, with their tags
    costs: Costs
    share: float | None  # of the minutes, for words; None: words or sentences, whichever teaches more
    asked: dict[str, tuple[str, ...]] = field(default_factory=dict)
    corrected: dict[int, Sentence] = field(default_factory=dict)
    answered: set[str] = field(default_factory=set)  # questions, each of which is asked once
    passed: list[DraftScore] = field(default_factory=list)

    def settle(self, suggested: Iterable[SuggestedQuestion | SuggestedWord | str], seconds: float) -> float:
        """Answer questions and tag words while time is left; return the rest of it."""
        for one in suggested:
            if seconds < self.costs.listed_word:
                break
            if isinstance(one, SuggestedQuestion):
                seconds -= self.answer(one, seconds)
                continue
            word = one if isinstance(one, str) else one.form
            if word not in self.asked:
                self.asked[word] = self.lexicon.get(word, ())
                seconds -= self.costs.listed_word
        return seconds

    def answer(self, question: SuggestedQuestion, seconds: float) -> float:
        """Answer a question if there is time, once; return the seconds that it takes."""
        if question.name in self.answered:
            return 0.0
        words = [word for word in question.words if word not in self.asked]
        tags = Counter(tag for word in words for tag in self.lexicon.get(word, ()))
        best = max(question.tags, key=lambda tag: tags[tag])
        kept = [word for word in words if self.lexicon.get(word) == (best,)]
        cost = self.costs.of_draft(len(words), len(words) - len(kept))
        if not kept or cost > seconds:
            return 0.0
        self.answered.add(question.name)
        self.asked |= dict.fromkeys(kept, (best,))
        return cost

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
            minutes = self.passed[-1].minutes if self.passed else 0.0
            kept = words_kept(drafts[index], self.pool[index])
            self.passed.append(DraftScore(minutes + cost / 60.0, len(drafts[index]), kept))
            seconds -= cost
        return seconds

    @property
    def words(self) -> dict[str, tuple[str, ...]]:
        """The words of the list that the speaker's text has, with their tags."""
        return {word: tags for word, tags in self.asked.items() if tags}


def words_kept(draft: Sentence, gold: Sentence) -> int:
    """Return the number of words whose tag, head and relation are right in the draft."""
    cells = [
        zip(one.upos, one.heads.tolist()[1:], map(bare_relation, one.deprels), strict=True)
        for one in (draft, gold)
    ]
    return sum(map(eq, *cells))


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
            found = infer_rest(model, draft, FixedCells(tuple(kept), tuple(named), tuple(tags), (True,) * n))
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
    """Return a tree of which a share of the tags, heads and relations are others of its own.

    A wrong head is no descendant of the word: the page refuses cycles.
    """
    n = len(sentence)
    wrong = rng.random((3, n)) < share
    tags, relations, heads = list(sentence.upos), list(sentence.deprels), sentence.heads.copy()

    def is_above(word: int, other: int) -> bool:
        while other > 0 and other != word:
            other = int(heads[other])
        return other == word

    for word in range(n):
        if wrong[0, word]:
            tags[word] = str(rng.choice(sentence.upos))
        if wrong[1, word]:
            relations[word] = str(rng.choice(sentence.deprels))
        others = [head for head in range(1, n + 1) if not is_above(word + 1, head)]
        if wrong[2, word] and heads[word + 1] != 0 and others:
            heads[word + 1] = int(rng.choice(others))
    return with_columns(replace(sentence, heads=frozen_heads(heads), deprels=tuple(relations)), upos=tags)


@dataclass(frozen=True)
class Start:
    """The bootstrapped model of a language, its text, gold trees and drafts, shared by all rows."""

    model: TextParser
    text: Sequence[Sentence]
    bitext: Sequence[Sentence]
    inputs: TaggerInputs
    linked: LinkedTags
    unknown: float  # share of the words of the gold trees that the bitext lacks
    pool: Sequence[Sentence]
    scored: Sequence[Sentence]
    lexicon: dict[str, tuple[str, ...]]
    drafts: Sequence[Sentence]
    scores: dict[str, float]

    def learned(self, trees: Sequence[Sentence], words: WordTags) -> TextParser:
        """Return the bootstrapped model after answers, as the page learns them."""
        raw, rng = [one.forms for one in self.text], np.random.default_rng(1)
        return learn_answers(self.model, trees, words, raw=raw, rng=rng, inputs=self.inputs)


@lru_cache(maxsize=len(FIVE[:2]))
def start_of(data: Path, work: Path, target: str, sources: tuple[str, ...]) -> Start:
    """Return the start of a language, from the stages that ``many_bench`` keeps, or makes."""
    corpora = Corpora(data, work, pairs=0, tested=0)
    raw = str(corpora.raw_text(target))
    texts = [corpora.text(target, source) for source in sources if source != target]
    options = BootstrapOptions(seed=1, text=(raw,))
    made = bootstrap(texts, workspace=Workspace(work, run=target), options=options)
    model = load_text_parser(made.base)
    trees = corpora.all_trees(target)
    half = len(trees) // 2
    pool = [replace(one, deprels=tuple(map(bare_relation, one.deprels))) for one in trees[:half]]
    scored = trees[half:][:: -(-(len(trees) - half) // SCORED)]
    tags: dict[str, set[str]] = {}
    for sentence in trees:
        for form, tag in zip(sentence.forms, sentence.upos, strict=True):
            tags.setdefault(lower_form(form), set()).add(tag)
    bitext, linked = targets_with_links(join_same_targets(made.corpora), model.tagger.unshared)
    known = {form for one in bitext for form in one.forms}
    return Start(
        model=model,
        text=list(text_to_parse(model, [raw], paragraphs=False, bitext=[])),
        bitext=bitext,
        inputs=made.tagger_inputs(texts, options),
        linked=linked,
        unknown=share_unknown((form for one in trees for form in one.forms), known),
        pool=pool,
        scored=scored,
        lexicon={form: tuple(sorted(of_word)) for form, of_word in tags.items()},
        drafts=list(model.parse_all(blank(pool), confidence=True)),
        scores=scores_by_tags(model.base, [Part(scored, model.tagger)], kinds=[UNCERTAIN_TAGS])[
            UNCERTAIN_TAGS
        ],
    )


def blank(sentences: Sequence[Sentence]) -> list[Sentence]:
    """Return the words of sentences, with their places as names."""
    return [Sentence.from_words(one.forms, sent_id=str(at)) for at, one in enumerate(sentences)]


def curve(lab: Lab, target: str, way: str, costs: Costs) -> dict[str, Any]:
    """Return by minutes the scores, how much was answered, and the processor time of learning it."""
    sources = FIVE if way == SOURCES else (ENGLISH,)
    start = start_of(lab.data, lab.options.work, target, sources)
    pool, lexicon = start.pool, start.lexicon
    if way == MISTAKES:
        rng = np.random.default_rng(5)
        pool = [with_mistakes(one, WRONG, rng) for one in pool]
        every = sorted({tag for tags in lexicon.values() for tag in tags})
        wrong = [form for form in sorted(lexicon) if rng.random() < WRONG]
        lexicon = lexicon | {form: (str(rng.choice(every)),) for form in wrong}
    share = {WORDS: 1.0, SENTENCES: 0.0, NOTHING: 0.0, CHANCE: start.unknown}.get(way)
    speaker = Speaker(pool, lexicon, costs, share)
    model = None if way == NOTHING else start.model
    found: dict[str, Any] = {}
    if model is not None:
        found["0"] = start.scores | {"words": 0, "sentences": 0, "seconds": 0.0}
    left, before, chance = 0.0, 0, np.random.default_rng(1)
    for minute in (*range(BATCH, HOUR, BATCH), *range(HOUR, 121 if way in LONG else HOUR + 1, LATER)):
        left = ask(speaker, way, model, start, 60.0 * (minute - before) + left, chance)
        before, begun = minute, process_time()
        if way == NOTHING and not speaker.corrected:
            continue  # The first sentence takes longer.
        trees = list(speaker.corrected.values())
        model = learned_alone(trees, start.text) if way == NOTHING else start.learned(trees, speaker.words)
        seconds = process_time() - begun
        scores = scores_by_tags(model.base, [Part(start.scored, model.tagger)], kinds=[UNCERTAIN_TAGS])
        answered = {"words": len(speaker.asked), "sentences": len(speaker.corrected), "seconds": seconds}
        found[str(minute)] = scores[UNCERTAIN_TAGS] | answered
        spent = f"learned in {seconds:.1f} s, {process_time():.0f} s in all"
        print(
            target, way, minute, *cells_of(found[str(minute)]), spent, sep="  ", file=sys.stderr, flush=True
        )
        if minute == HOUR and way == BOTH:
            found[str(minute)]["errors"] = errors_left(model, start.scored, speaker)
    return found


def ask(
    speaker: Speaker,
    way: str,
    model: TextParser | None,
    start: Start,
    seconds: float,
    chance: np.random.Generator,
) -> float:
    """Ask questions, words and sentences in a number of seconds; return the rest of these."""
    listed = [] if model is None or speaker.share == 0.0 else words_to_ask(speaker, way, model, start, chance)
    wrong = [one.wrong for one in listed if not isinstance(one, str)]
    tokens = sum(map(len, start.text))
    drafts, order = sentences_to_correct(speaker, way, model, start, chance)
    left, of_words, at_word, at_sentence = seconds, 0.0, 0, 0
    while left >= speaker.costs.listed_word:
        if speaker.share is None:
            worth = gain_per_minute(
                wrong[at_word:], speaker.costs.listed_word, tokens=tokens, passed=speaker.passed
            )
            words_next = worth.next == NEXT_WORDS
        else:
            words_next = of_words < speaker.share * seconds
        before = left
        if words_next and at_word < len(listed):
            left = speaker.settle(listed[at_word : at_word + 1], left)
            at_word, of_words = at_word + 1, of_words + before - left
        elif speaker.share == 1.0:
            break
        else:
            left = speaker.correct(order[at_sentence : at_sentence + 1], drafts, model, left)
            at_sentence += 1
            if left == before:
                break  # The next sentence takes longer than is left.
    return left


def words_to_ask(
    speaker: Speaker, way: str, model: TextParser, start: Start, chance: np.random.Generator
) -> Sequence[SuggestedQuestion | SuggestedWord | str]:
    """Return questions and words in the order in which they are asked, without those that were answered."""
    if way == CHANCE:
        every = [lower_form(form) for one in start.text for form in one.forms if any(map(str.isalpha, form))]
        return [every[at] for at in chance.permutation(len(every))]
    given: dict[str, Any] = {"text": start.text, "bitext": start.bitext, "linked": start.linked}
    questions = [
        one for one in suggested_questions(model.tagger, **given) if one.name not in speaker.answered
    ]
    words = [one for one in suggested_words(model.tagger, **given) if one.form not in speaker.asked]
    return merged_by_gain(questions, words, speaker.costs)


def sentences_to_correct(
    speaker: Speaker, way: str, model: TextParser | None, start: Start, chance: np.random.Generator
) -> tuple[Sequence[Sentence], list[int]]:
    """Return the drafts of all sentences, and the places of those to correct, in this order."""
    order = [i for i in chance.permutation(len(speaker.pool)).tolist() if i not in speaker.corrected]
    if model is None:
        return blank(speaker.pool), order
    drafts = start.drafts
    if model is not start.model:
        of_open = model.parse_all([blank(speaker.pool)[i] for i in sorted(order)], confidence=True)
        by_place = {int(one.sent_id or 0): one for one in of_open}
        drafts = [by_place.get(i, one) for i, one in enumerate(speaker.pool)]
    if way not in (CHANCE, NOTHING):
        annotated = list(speaker.corrected.values())
        open_ = [drafts[i] for i in order]
        ranked = suggested_sentences(open_, model.tagger, annotated, count=max(len(open_), 1))
        order = [int(one.sent_id or 0) for one in ranked]
    return drafts, order


def learned_alone(trees: Sequence[Sentence], text: Sequence[Sentence]) -> TextParser:
    """Return a model of corrected sentences and raw text alone."""
    rng = np.random.default_rng(1)
    tagger = train_tagger(trees, rng=rng, raw=[one.forms for one in text])
    options = TrainingOptions(template_set="words", projective=True, single_root=True)
    return text_parser(tagger, train_arc_parser(trees, rng=rng, options=options)[0], readings=TAG_READINGS)


def errors_left(model: TextParser, gold: Sequence[Sentence], speaker: Speaker) -> dict[str, Any]:
    """Return the errors after the hour: trees with gold tags, tags of words without an answer, frequent errors."""
    part = Part(gold, model.tagger)
    found = scores_by_tags(model.base, [part], kinds=[GOLD_TAGS])[GOLD_TAGS]
    answered = {
        *speaker.words,
        *(lower_form(form) for one in speaker.corrected.values() for form in one.forms),
    }
    tags, relations = Counter[str](), Counter[str]()
    unseen = unseen_wrong = 0
    for one, own in zip(gold, parsed(model.base, part, UNCERTAIN_TAGS), strict=True):
        for form, tag, given in zip(one.forms, one.upos, own.upos, strict=True):
            tags[f"{tag} > {given}"] += tag != given
            unseen += lower_form(form) not in answered
            unseen_wrong += tag != given and lower_form(form) not in answered
    for one, own in zip(gold, parsed(model.base, part, GOLD_TAGS), strict=True):
        arcs = zip(one.heads[1:], one.deprels, own.heads[1:], own.deprels, strict=True)
        relations.update(
            bare_relation(relation)
            for head, relation, given, named in arcs
            if (head, bare_relation(relation)) != (given, bare_relation(named))
        )
    words = sum(map(len, gold))
    return {
        "uas": found["uas"],
        "las": found["las_no_subtypes"],
        "unseen": 100.0 * unseen / words,
        "unseen wrong": 100.0 * unseen_wrong / max(unseen, 1),
        "tags": [f"{name} {100.0 * n / words:.1f}" for name, n in tags.most_common(WORST)],
        "relations": [f"{name} {100.0 * n / words:.1f}" for name, n in relations.most_common(WORST)],
    }


def run(lab: Lab) -> Figures:
    options = lab.options
    costs = Costs(**{name: getattr(options, name) for name in asdict(Costs())})
    rows = [(target, WAYS[way]) for target in TARGETS for way in WAYS]
    asked = {(target, WAYS[way]) for target in options.languages for way in options.ways}
    # Some rows alone are stored and printed.
    options.dev = not options.kept and len(asked) < len(rows)
    found: dict[Row, Curve] = {}
    for target, way in rows:
        name = f"hour, {target}, {way}"
        source: Source = {"options": asdict(costs), "data": dev_files(lab, target)}
        kept = lab.cache.kept(name, **source)
        if kept is None and (target, way) in asked and not options.kept:
            kept = lab.cache.figures(name, partial(curve, lab, target, way, costs), **source)
            print(target, way, *cells_of(kept[max(kept, key=int)]), flush=True)
        if kept:
            found[target, way] = {int(minutes): figures for minutes, figures in kept.items()}
    missing = [
        f"{way} ({' '.join(codes)})"
        for way in WAYS.values()
        if (codes := [target for target in TARGETS if (target, way) not in found])
    ]
    seconds = max((one["seconds"] for of_row in found.values() for one in of_row.values()), default=0.0)
    return Figures(tables=tables(found), values={"seconds": f"{seconds:.0f}", "missing": listed(missing)})


def dev_files(lab: Lab, target: str) -> list[Path]:
    return Corpora(lab.data, lab.options.work, 0, 0).files(target)


def cells_of(figures: dict[str, Any]) -> list[str]:
    return [f"{figures[name]:.1f}" for name in MEASURES.values()]


def tables(found: dict[Row, Curve]) -> dict[str, Table]:
    """Lay out the curves, with means over languages, comparisons after the hour, and errors that are left."""
    ways = [way for way in WAYS.values() if any(one == way for _, one in found)]
    lines = [
        [LANGUAGES[target].name, way, str(minutes), str(one["words"]), str(one["sentences"]), *cells_of(one)]
        for way in ways
        for (target, of_row), curve in found.items()
        if of_row == way
        for minutes, one in curve.items()
    ]
    for way in ways:
        lines += [["mean", way, str(minutes), "", "", *cells_of(one)] for minutes, one in means(found, way)]
    header = ["", "asked", "minutes", "words", "sentences", *MEASURES]
    names = list(dict.fromkeys(line[0] for line in lines))
    after = sorted((line for line in lines if line[2] == str(HOUR)), key=lambda line: names.index(line[0]))
    return {
        "hour": table(header, lines),
        "by worth": table(header, [line for line in lines if line[1] == BOTH and int(line[2]) in SHOWN]),
        "after": table(header, after),
        "aims": table(["", *(f"{name}, aim" for name in list(MEASURES)[:3]), "reached"], list(aims(found))),
        "compared": table(
            ["words and sentences by worth", "languages", *list(MEASURES)[:3], "languages that gain LAS"],
            list(compared(found)),
        ),
        "first": table(["", "LAS, 10 minutes", "LAS, the hour", "share of the first 10"], list(first(found))),
        "errors": table(
            ERRORS,
            [
                [
                    LANGUAGES[target].name,
                    *(
                        f"{curve[HOUR]['errors'][name]:.1f}"
                        for name in ("uas", "las", "unseen", "unseen wrong")
                    ),
                    *(", ".join(curve[HOUR]["errors"][name]) for name in ("tags", "relations")),
                ]
                for (target, way), curve in found.items()
                if "errors" in curve[HOUR]
            ],
        ),
    }


def means(found: dict[Row, Curve], way: str) -> Iterator[tuple[int, dict[str, float]]]:
    """Yield the mean scores at the minutes that all languages have, if all are measured."""
    curves = [curve for (_, one), curve in found.items() if one == way]
    if len(curves) == len(TARGETS):
        for minutes in sorted(set(curves[0]).intersection(*curves)):
            yield minutes, {name: mean(one[minutes][name] for one in curves) for name in MEASURES.values()}


def aims(found: dict[Row, Curve]) -> Iterator[list[str]]:
    """Compare scores after the hour with what was to be reached, with one source and with five."""
    for target, aim in AIMS.items():
        for way in (BOTH, SOURCES):
            if (target, way) in found:
                reached = cells_of(found[target, way][HOUR])[:3]
                yield [f"{LANGUAGES[target].name}, {way}", *map(str, aim), "/".join(reached)]
    for way in (BOTH, SOURCES):
        for minutes, one in means(found, way):
            if minutes == HOUR:
                yield [f"mean of six, {way}", "90", "74", "64", "/".join(cells_of(one)[:3])]


def compared(found: dict[Row, Curve]) -> Iterator[list[str]]:
    """Compare words and sentences with the other ways after the hour, where both are measured."""
    for way in list(WAYS.values())[1:]:
        both = [target for target in TARGETS if (target, BOTH) in found and (target, way) in found]
        gains = [
            [found[target, BOTH][HOUR][name] - found[target, way][HOUR][name] for name in MEASURES.values()]
            for target in both
        ]
        if gains:
            shown = [f"{mean(column):+.1f}" for column in list(zip(*gains, strict=True))[:3]]
            yield [f"more than {way}", str(len(both)), *shown, str(sum(one[2] > 0.0 for one in gains))]


def first(found: dict[Row, Curve]) -> Iterator[list[str]]:
    """Show which share of the gain of the hour the first ten minutes bring."""
    for (target, way), curve in found.items():
        if way == BOTH:
            begin, ten, end = (curve[minutes]["las_no_subtypes"] for minutes in (0, BATCH, HOUR))
            share = f"{100.0 * (ten - begin) / (end - begin):.0f}%" if end > begin else ""
            yield [LANGUAGES[target].name, f"{ten - begin:+.1f}", f"{end - begin:+.1f}", share]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("--languages", nargs="+", default=list(TARGETS), choices=TARGETS, metavar="CODE")
    add("--ways", nargs="+", default=list(WAYS), choices=WAYS, metavar="WAY", help=f"of {' '.join(WAYS)}")
    add("--kept", action="store_true", help="record the rows that are stored, and measure nothing")
    add_work(parser)
    for name, seconds in asdict(Costs()).items():
        add(f"--{name.replace('_', '-')}", type=float, default=seconds, metavar="SECONDS")


EXPERIMENT = Experiment(file=__file__, about=__doc__ or "", measure=run, add_arguments=add_arguments)

if __name__ == "__main__":
    EXPERIMENT.main()
