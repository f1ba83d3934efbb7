"""Tags through links: PUD with nothing tagged, with a few sentences, with all; what the ingredients are worth.

Settings were chosen on the development treebanks; PUD is only tested on. Each condition is kept as it is measured,
and ``--languages``, ``--tagged``, ``--alone`` and ``--ingredients`` say which are measured now: the others are shown
where they are kept, else their cells stay empty.
"""

from __future__ import annotations

import argparse
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from qsproj.corpus.pairs.aligned import AlignedText
from qsproj.corpus.pairs.translations import Translations
from qsproj.corpus.sentence import Sentence
from qsproj.corpus.text import tokenize
from qsproj.evaluation.calibration import expected_calibration_error, reliability
from qsproj.features.tagging import templates_with
from qsproj.models.tagging.tagger import FeatureExtractor, Tagger
from qsproj.models.tagging.tagger_training import SetExample, SetTrainingOptions, train_on_sets, train_tagger
from qsproj.pipelines.tagging.linked_text import read_linked_text
from qsproj.pipelines.tagging.tag_evidence import (
    allowed_tags,
    set_evidence,
    told_by_company,
    type_sets,
    type_shares,
    weighed_as_unlinked,
)
from qsproj.pipelines.tagging.tags_through_links import (
    TagProjectionOptions,
    choose_sentences,
    project_tags,
)
from scripts.experiments.harness.experiment import Experiment, Lab
from scripts.experiments.harness.page import Figures
from scripts.experiments.harness.tables import table
from scripts.experiments.pages.words import tags_through_links
from scripts.experiments.transfer.by_tags import DEV
from scripts.experiments.transfer.stages import NAMES, TAGGER_TREEBANKS, Stages

TAGGED = ("0", "20", "100", "300", "all")
LINKS, ALONE, INGREDIENT = "through links", "tagged sentences alone", "ingredient"
WORST = 12

FULL = TagProjectionOptions()
TYPES_ALONE = "types alone, in one round"
INGREDIENTS: dict[str, TagProjectionOptions | None] = {
    "as it is": FULL,
    TYPES_ALONE: None,
    "sets of types as narrow as in the first round": replace(FULL, least=FULL.first_least),
    "12,000 sentences": replace(FULL, sentences=FULL.first_sentences),
    "one epoch": replace(FULL, training=SetTrainingOptions(epochs=1)),
    "four epochs": replace(FULL, training=SetTrainingOptions(epochs=4)),
}


@dataclass(frozen=True)
class Bitext:
    """Files of a bitext: tagged English, words of the other side, links."""

    source: Path
    target: Path
    links: Path

    @property
    def files(self) -> list[Path]:
        return [self.source, self.target, self.links]

    def __iter__(self) -> Iterator[Translations]:
        pairs = AlignedText(str(self.source), str(self.target), str(self.links))
        return ((pair,) for pair in pairs)


@dataclass(frozen=True)
class Condition:
    """Task, language and what differs; what measures it, what that reads, and whether it is asked for."""

    names: tuple[str, str, str]
    measure: Callable[[], Any]
    data: list[Path]
    asked: bool


def bitext(stages: Stages, language: str) -> Bitext:
    """Tag English as it is, cut the other side into words, link them."""
    texts = {side: stages.text(language, side) for side in ("en", language)}
    source = stages.stage(f"en-{language}.whole.en.conllu", "tag", "-m", stages.tagger("en"), texts["en"])
    words = stages.lab.cache.file(
        f"en-{language}.{language}.words",
        partial(write_words, text=texts[language], language=language),
        data=[texts[language]],
        experiment=Path(__file__),
    )
    links = stages.stage(
        f"en-{language}.whole.pharaoh", "align", source, words, "--weights", "--threshold", "0.1"
    )
    return Bitext(source, words, links)


def write_words(path: Path, *, text: Path, language: str) -> None:
    """Write the words of each line, parted by spaces."""
    with text.open(encoding="utf-8") as lines, path.open("w", encoding="utf-8") as out:
        for line in lines:
            out.write(" ".join(tokenize(line, language)) + "\n")


def few(lab: Lab, language: str, tagged: str) -> list[Sentence]:
    """Return the first sentences of the treebanks that taggers learn from, or all."""
    sentences = (s for name in TAGGER_TREEBANKS[language] for s in lab.treebank(name))
    return [s for s, _ in zip(sentences, range(10**9 if tagged == "all" else int(tagged)))]


def tested(tagger: Tagger, test: Sequence[Sentence]) -> dict[str, Any]:
    """Return accuracy and calibration error in percent, and the commonest errors."""
    errors: Counter[tuple[str, str]] = Counter()
    chances, right = [], []
    for sentence in test:
        tags = tagger.tag_words(sentence.forms)
        probabilities = tagger.tag_distribution(sentence)
        chances += [min(row[tagger.tags.index(tag)], 1.0) for row, tag in zip(probabilities, tags)]
        right += [tag == gold for tag, gold in zip(tags, sentence.upos)]
        errors.update((gold, tag) for tag, gold in zip(tags, sentence.upos) if tag != gold)
    return {
        "accuracy": 100 * float(np.mean(right)),
        "calibration": 100 * expected_calibration_error(reliability(chances, right)),
        "errors": [(gold, tag, 100 * count / len(right)) for (gold, tag), count in errors.most_common(WORST)],
    }


def projected(lab: Lab, stages: Stages, language: str, tagged: str) -> dict[str, Any]:
    """Learn through links; return what PUD says, and seconds."""
    corpus, started = bitext(stages, language), time.process_time()
    result = project_tags(
        corpus, rng=np.random.default_rng(1), tagged=few(lab, language, tagged), language=language
    )
    seconds = time.process_time() - started
    return {**tested(result.tagger, lab.pud(language)), "seconds": seconds, "said": list(result.report)}


def alone(lab: Lab, stages: Stages, language: str, tagged: str) -> dict[str, Any]:
    """Learn from tagged sentences and raw text; return what PUD says."""
    words = bitext(stages, language).target.read_text(encoding="utf-8").splitlines()
    tagger = train_tagger(
        few(lab, language, tagged), rng=np.random.default_rng(1), raw=(line.split() for line in words)
    )
    return tested(tagger, lab.pud(language))


def ingredient(lab: Lab, stages: Stages, language: str, name: str) -> float:
    """Learn with one thing changed and nothing tagged; return the accuracy on the development treebank."""
    corpus, options = bitext(stages, language), INGREDIENTS[name]
    if options is None:
        tagger = from_types(corpus)
    else:
        tagger = project_tags(corpus, rng=np.random.default_rng(1), options=options).tagger
    accuracy: float = tested(tagger, lab.treebank(DEV[language]))["accuracy"]
    return accuracy


def from_types(corpus: Bitext) -> Tagger:
    """Learn from the sets of types, deaf to the links of words."""
    text, rng = read_linked_text(corpus), np.random.default_rng(1)
    chosen, _ = choose_sentences(text, rng=rng, options=FULL)
    allowed = allowed_tags(text.vocabulary, text.tags, {})
    shares = told_by_company(text, weighed_as_unlinked(text, type_shares(text, text.votes, allowed)))
    sets = type_sets(shares, allowed, least=FULL.first_least)
    evidence = text.parted(set_evidence(text, sets, chosen), chosen)
    return train_on_sets(
        [SetExample(text.sentences[s], known) for s, known in zip(chosen, evidence, strict=True)],
        tags=text.tags,
        extractor=FeatureExtractor(templates_with(()), {}),
        rng=rng,
        options=FULL.training,
    )


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--languages", nargs="*", default=list(NAMES), choices=list(NAMES))
    parser.add_argument("--tagged", nargs="*", default=list(TAGGED), choices=TAGGED)
    parser.add_argument("--alone", nargs="*", default=list(TAGGED[1:]), choices=TAGGED[1:])
    parser.add_argument(
        "--ingredients", nargs="*", default=list(INGREDIENTS), choices=list(INGREDIENTS), metavar="NAME"
    )


def run(lab: Lab) -> Figures:
    stages, found = Stages(lab), dict[tuple[str, str, str], Any]()
    for condition in conditions(lab, stages):
        name, options = " ".join(condition.names), {"condition": condition.names}
        kept = lab.cache.kept(name, options=options, data=condition.data)
        if kept is None and condition.asked:
            kept = lab.cache.figures(name, condition.measure, options=options, data=condition.data)
            print(name, kept, flush=True)
        if kept is not None:
            found[condition.names] = kept
    return shown(found)


def conditions(lab: Lab, stages: Stages) -> Iterator[Condition]:
    """Yield all conditions there are."""
    for language in NAMES:
        data = [lab.bitext_path(language), lab.treebank_path("english-ewt-train"), lab.pud_path(language)]
        data += map(lab.treebank_path, (*TAGGER_TREEBANKS[language], DEV[language]))
        for task, known, asked, measure in (
            (LINKS, TAGGED, lab.options.tagged, projected),
            (ALONE, TAGGED[1:], lab.options.alone, alone),
            (INGREDIENT, INGREDIENTS, lab.options.ingredients, ingredient),
        ):
            for one in known:
                measured = partial(measure, lab, stages, language, one)
                now = language in lab.options.languages and one in asked
                yield Condition((task, language, one), measured, data, now)


def shown(found: dict[tuple[str, str, str], Any]) -> Figures:
    """Lay figures out."""

    def cell(task: str, language: str, one: str, figure: str) -> str:
        kept = found.get((task, language, one))
        return "" if kept is None else f"{kept if figure == '' else kept[figure]:.1f}"

    accuracy = [
        [NAMES[language], task, *(cell(task, language, one, "accuracy") for one in TAGGED)]
        for language in NAMES
        for task in (LINKS, ALONE)
    ]
    calibration = [
        [NAMES[language], *(cell(LINKS, language, one, "calibration") for one in TAGGED)]
        for language in NAMES
    ]
    seconds = [
        [NAMES[language], *(cell(LINKS, language, one, "seconds") for one in TAGGED)] for language in NAMES
    ]
    worth = [[name, *(cell(INGREDIENT, language, name, "") for language in NAMES)] for name in INGREDIENTS]
    errors = [
        [NAMES[language], ", ".join(f"{gold} as {tag} {share:.2f}" for gold, tag, share in kept["errors"])]
        for language in NAMES
        if (kept := found.get((LINKS, language, "0")))
    ]
    said = [
        [NAMES[language], "; ".join(kept["said"])]
        for language in NAMES
        if (kept := found.get((LINKS, language, "0")))
    ]
    return Figures(
        tables={
            "accuracy": table(["PUD", "learned", *(f"{one} tagged" for one in TAGGED)], accuracy),
            "calibration": table(["PUD", *(f"{one} tagged" for one in TAGGED)], calibration),
            "seconds": table(["bitext", *(f"{one} tagged" for one in TAGGED)], seconds),
            "ingredients": table(["nothing tagged", *(DEV[language] for language in NAMES)], worth),
            "errors": table(["PUD", "gold tag as wrong tag, % of all words"], errors),
            "said": table(["bitext", "report"], said),
        }
    )


EXPERIMENT = Experiment(
    file=__file__,
    about=__doc__,
    measure=run,
    page="tags-through-links",
    reading=tags_through_links,
    add_arguments=add_arguments,
)

if __name__ == "__main__":
    EXPERIMENT.main()
