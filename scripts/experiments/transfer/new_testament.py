"""A language that has only a New Testament: tags through links, one ingredient after another, and the whole chain.

Settings were chosen on development files; test files are only reported. What does not depend on how tags are learned
(trees of the source, words, links) is kept in a workspace of the bootstrap in the cache, so that a change of the tag
stage is measured in a minute. Each figure is kept as it is measured; ``--targets`` and ``--ways`` say which are measured
now, ``--chain`` the targets of whole bootstraps.
"""

from __future__ import annotations

import argparse
import lzma
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain, islice
from pathlib import Path
from typing import Any

import numpy as np

from qsproj.corpus.conllu import read_conllu
from qsproj.corpus.pairs.aligned import AlignedFiles
from qsproj.corpus.sentence import Sentence
from qsproj.models.storage import load_model_of
from qsproj.models.tagging.tagger import Tagger
from qsproj.models.text.text_parser import TextParser
from qsproj.parallel import THIS_PROCESS
from qsproj.pipelines.bootstrap import stages
from qsproj.pipelines.bootstrap.bootstrap import BootstrapOptions, bootstrap
from qsproj.pipelines.bootstrap.texts import SourceText
from qsproj.pipelines.bootstrap.workspace import Given, Workspace
from qsproj.pipelines.tagging.tags_through_links import TagProjectionOptions, project_tags
from qsproj.pipelines.translations import Translations, join_same_targets
from scripts.experiments.harness.experiment import Experiment, Lab
from scripts.experiments.harness.page import Figures
from scripts.experiments.harness.tables import table
from scripts.experiments.transfer.by_tags import UNCERTAIN_TAGS, Part, scores_by_tags

NAMES = {"uk": "Ukrainian", "wo": "Wolof", "hy": "Armenian", "got": "Gothic"}
GUARDS = {"de": "german-gsd-dev", "es": "spanish-gsd-dev", "sv": "swedish-talbanken-dev"}
SPANISH = ("spanish-gsd-dev", "spanish-gsd-test", "spanish-ancora-dev", "spanish-ancora-test")
TREEBANKS = {"en": ("english-ewt-train",), "es": SPANISH}
# Of news, so many pairs.
PAIRS_OF_NEWS = 20_000
TESTED = {"uk": ("dev", "test"), "wo": ("dev", "test"), "hy": ("dev", "test")}

FULL = TagProjectionOptions()
BARE = replace(FULL, parts=1, little=0, few=0, in_digits=0)
SOURCES, AFTER, TOGETHER = ("en",), "one after the other", "together"


@dataclass(frozen=True)
class Way:
    """How a tagger is learned: options, sources and how they are joined, whether verses are cut, raw text is read."""

    options: TagProjectionOptions = FULL
    sources: tuple[str, ...] = SOURCES
    joined: str = TOGETHER
    cut: bool = True
    raw: bool = False


WAYS = {
    "all of these left out": Way(BARE, cut=False),
    "as it is": Way(),
    "one tagger, not three": Way(replace(FULL, parts=1)),
    "no word classes": Way(replace(FULL, classes=0)),
    "no word classes, forms of a stem apart": Way(replace(FULL, little=0)),
    "possessives as in the source": Way(replace(FULL, few=0)),
    "no numbers in digits": Way(replace(FULL, in_digits=0)),
    "verses not cut": Way(cut=False),
    "with raw text": Way(raw=True),
    "with raw text, frequent tags not divided": Way(replace(FULL, balance=0.0), raw=True),
    "English and Spanish, one after the other": Way(sources=("en", "es"), joined=AFTER),
    "English and Spanish, together": Way(sources=("en", "es")),
    "English and Spanish, with raw text": Way(sources=("en", "es"), raw=True),
}
# Found before there was this command, as each ingredient was tried; verses not cut.
TRIALS = (
    ("before", 75.9, 67.0, 68.2, 77.7),
    ("three taggers", 77.0, 68.3, 69.6, 78.0),
    ("forms of a stem", 77.1, 68.4, 70.1, 78.5),
    ("word classes", 78.5, 68.3, 70.6, 78.3),
    ("numbers in digits", 77.9, 69.1, 72.6, 78.8),
    ("possessives are DET", 78.3, 70.9, 73.3, 79.6),
    ("raw text", 78.7, 72.5, 75.8, 79.6),
    ("frequent tags divided", 80.0, 72.5, 75.8, 80.0),
    ("Spanish votes, too", 79.9, 76.0, 76.7, 82.1),
    ("Spanish votes, too, no raw text", 78.6, 75.3, 73.9, 82.7),
)
TRIALS_OF_NEWS = (
    ("before", 87.1, 88.6, 86.3),
    ("three taggers, forms of a stem, word classes", 87.0, 89.2, 86.3),
)
# The Ukrainian model with raw text, on dev with its best tags, of which some were made right by hand.
CEILINGS = (
    ("none", 80.0, 59.2, 48.2),
    ("words of closed classes, punctuation, numbers", 87.4, 60.7, 51.7),
    ("adjectives", 84.7, 63.1, 52.9),
    ("words that the bitext lacks", 91.8, 68.5, 59.2),
    ("all", 100.0, 72.0, 64.8),
)
OF_GUARDS = ("all of these left out", "as it is", "with raw text")


def bitext_path(lab: Lab, source: str, target: str) -> Path:
    """Return a New Testament, or the first pairs of a bitext of news."""
    if target not in GUARDS:
        return lab.data / "bible" / f"{source}-{target}.tsv.xz"
    whole = lab.bitext_path(target)

    def write(path: Path) -> None:
        with lzma.open(whole, "rt", encoding="utf-8") as lines:
            path.write_text("".join(islice(lines, PAIRS_OF_NEWS)), encoding="utf-8")

    return lab.cache.file(f"{source}-{target}.tsv", write, data=[whole])


def part_path(lab: Lab, target: str, part: str) -> Path:
    """Return the path of a treebank of the target language."""
    return (
        lab.treebank_path(GUARDS[target])
        if target in GUARDS
        else lab.data / "bible" / f"{target}-{part}.conllu.gz"
    )


def texts(lab: Lab, target: str, sources: Sequence[str], *, cut: bool = True) -> list[SourceText]:
    """Name treebanks and bitexts; news are never cut."""
    return [
        SourceText(
            treebanks=tuple(str(lab.treebank_path(name)) for name in TREEBANKS[source]),
            bitext=(str(bitext_path(lab, source, target)),),
            languages=(source, target),
            cut=cut and target not in GUARDS,
        )
        for source in sources
    ]


def workspace(lab: Lab) -> Workspace:
    return Workspace(lab.cache.folder / "new-testament", run="experiment")


def linked(lab: Lab, target: str, source: str, *, cut: bool = True) -> AlignedFiles:
    """Return a bitext as the tag stage has it: source trees, target words, links."""
    (text,) = texts(lab, target, [source], cut=cut)
    given = replace(text, treebanks=tuple(map(Given, text.treebanks)), bitext=tuple(map(Given, text.bitext)))
    kept, aside = workspace(lab), {"workers": THIS_PROCESS}
    model = kept.stage(stages.SOURCE, treebanks=given.treebanks, language=source, seed=1).file
    words = kept.stage(stages.WORDS, text=given, model=model, tagged=(), seed=1, aside=aside)
    ours, theirs = words.files
    links = kept.stage(
        stages.LINKS, source=ours, target=theirs, unspaced=None, aside={"name": text.bitext[0], **aside}
    )
    pairs = int(words.told.figures.get("pairs", 0))
    trees = kept.stage(stages.TREES, words=ours, model=model, aside={"total": pairs, **aside})
    return AlignedFiles(trees.file, theirs, links.file)


def raw_words(lab: Lab, target: str) -> list[tuple[str, ...]]:
    """Return the words of the treebanks' texts: the text to be tagged is raw text, too."""
    parts = ("dev",) if target in GUARDS else ("dev", "test")
    return [sentence.forms for part in parts for sentence in read_conllu(part_path(lab, target, part))]


def learned(lab: Lab, target: str, way: Way) -> Tagger:
    """Learn a tagger."""
    files = [linked(lab, target, source, cut=way.cut) for source in way.sources]
    corpus: Iterable[Translations] = join_same_targets(files)
    if way.joined == AFTER:
        corpus = ((pair,) for pair in chain.from_iterable(files))
    return project_tags(
        corpus,
        rng=np.random.default_rng(1),
        raw=raw_words(lab, target) if way.raw else (),
        language=target,
        options=way.options,
    ).tagger


def tagged_right(lab: Lab, target: str, way: Way) -> dict[str, float]:
    """Return in percent which words of the development treebank are tagged right: all, and by sorts."""
    tagger = learned(lab, target, way)
    known = {form.lower() for pair in linked(lab, target, "en") for form in pair.target.forms}
    counts: dict[str, list[int]] = {}
    sure = []
    for sentence in read_conllu(part_path(lab, target, "dev")):
        tags = tagger.tag_words(sentence.forms)
        sure += tagger.tag_distribution(sentence).max(axis=1).tolist()
        for form, gold, tag in zip(sentence.forms, sentence.upos, tags, strict=True):
            for sort in ("all", "known" if form.lower() in known else "unknown", gold):
                counts.setdefault(sort, [0, 0])[gold == tag] += 1
    shares = {sort: 100 * right / (wrong + right) for sort, (wrong, right) in counts.items()}
    return {**shares, "sure": 100 * float(np.mean(sure))}


def chained(lab: Lab, target: str, sources: Sequence[str], *, raw: bool) -> dict[str, Any]:
    """Make a model by a whole bootstrap; return what it scores, words given, with its own tags."""
    more: dict[str, Any] = {"text": (str(raw_file(lab, target)),)} if raw else {}
    made = bootstrap(
        texts(lab, target, sources), workspace=workspace(lab), options=BootstrapOptions(seed=1, **more)
    )
    model = load_model_of(
        made.model, TextParser, expected="a model of text", remedy="make one: qsproj bootstrap"
    )
    found = {}
    for part in TESTED[target]:
        gold: list[Sentence] = list(read_conllu(part_path(lab, target, part)))
        of_part = Part(gold, model.tagger)
        found[part] = scores_by_tags(model.parser, [of_part], kinds=[UNCERTAIN_TAGS])[UNCERTAIN_TAGS]
    return found


def raw_file(lab: Lab, target: str) -> Path:
    """Write the texts of the treebanks, one sentence a line."""
    parts = [part_path(lab, target, part) for part in ("dev", "test")]

    def write(path: Path) -> None:
        sentences = chain.from_iterable(map(read_conllu, parts))
        path.write_text("".join(f"{text_of(sentence)}\n" for sentence in sentences), encoding="utf-8")

    return lab.cache.file(f"{target}.raw.txt", write, data=parts)


def text_of(sentence: Sentence) -> str:
    """Return the text that the treebank says a sentence has, else its words."""
    lines = sentence.layout.lines if sentence.layout else ()
    return next((line[9:] for line in lines if line.startswith("# text = ")), " ".join(sentence.forms))


def add_arguments(parser: argparse.ArgumentParser) -> None:
    every = [*NAMES, *GUARDS]
    parser.add_argument("--targets", nargs="*", default=every, choices=every, metavar="CODE")
    parser.add_argument("--ways", nargs="*", default=list(WAYS), choices=list(WAYS), metavar="NAME")
    parser.add_argument("--chain", nargs="*", default=list(TESTED), choices=list(TESTED), metavar="CODE")


CHAINS = {
    "English, raw text": (("en",), True),
    "English": (("en",), False),
    "English and Spanish, raw text": (("en", "es"), True),
}


def run(lab: Lab) -> Figures:
    data = {
        target: [bitext_path(lab, "en", target), *(lab.treebank_path(n) for n in TREEBANKS["en"])]
        + [part_path(lab, target, part) for part in ("dev", "test")]
        for target in (*NAMES, *GUARDS)
    }

    def measured(name: str, target: str, measure: Callable[[], Any], *, now: bool) -> Any | None:
        kept = lab.cache.kept(f"{target} {name}", options={"way": name}, data=data[target])
        if kept is None and now:
            kept = lab.cache.figures(f"{target} {name}", measure, options={"way": name}, data=data[target])
            print(target, name, kept, flush=True)
        return kept

    asked, ways = lab.options.targets, lab.options.ways
    right = {
        (name, target): measured(
            name, target, partial(tagged_right, lab, target, way), now=target in asked and name in ways
        )
        for name, way in WAYS.items()
        for target in (*NAMES, *(GUARDS if name in OF_GUARDS else ()))
    }
    whole = {
        (name, target): measured(
            f"chain {name}",
            target,
            partial(chained, lab, target, sources, raw=raw),
            now=target in lab.options.chain,
        )
        for name, (sources, raw) in CHAINS.items()
        for target in TESTED
    }
    return shown(right, whole)


def shown(right: dict[tuple[str, str], Any], whole: dict[tuple[str, str], Any]) -> Figures:
    """Lay figures out."""

    def cell(name: str, target: str, sort: str = "all") -> str:
        kept = right.get((name, target))
        return "" if kept is None or sort not in kept else f"{kept[sort]:.1f}"

    def mean(name: str) -> str:
        cells = [right.get((name, target)) for target in NAMES]
        return "" if None in cells else f"{np.mean([kept['all'] for kept in cells if kept]):.1f}"

    sorts = ("known", "unknown", "ADJ", "NOUN", "VERB", "DET", "PRON", "SCONJ", "NUM", "sure")
    of_sorts = ("as it is", "with raw text, frequent tags not divided", "with raw text")
    return Figures(
        tables={
            "trials": table(
                ["UPOS", *(f"{target}-dev" for target in NAMES), "mean"],
                [[name, *(f"{one:.1f}" for one in (*found, np.mean(found)))] for name, *found in TRIALS],
            ),
            "ingredients": table(
                ["UPOS", *(f"{target}-dev" for target in NAMES), "mean"],
                filled([name, *(cell(name, target) for target in NAMES), mean(name)] for name in WAYS),
            ),
            "sorts": table(
                ["dev", "", *sorts],
                [
                    [NAMES[target], name, *(cell(name, target, sort) for sort in sorts)]
                    for target in NAMES
                    for name in of_sorts
                    if right.get((name, target))
                ],
            ),
            "news": table(
                ["UPOS", *GUARDS.values()],
                [
                    *([name, *(f"{one:.1f}" for one in found)] for name, *found in TRIALS_OF_NEWS),
                    *filled([name, *(cell(name, target) for target in GUARDS)] for name in OF_GUARDS),
                ],
            ),
            "ceilings": table(
                ["tags right of", "UPOS", "UAS", "LAS"],
                [[name, *(f"{one:.1f}" for one in found)] for name, *found in CEILINGS],
            ),
            "chain": table(
                ["", "from", "UPOS", "UAS", "LAS", "calibration error"],
                [
                    [
                        f"{NAMES[target]}, {part}",
                        name,
                        *(f"{kept[part][figure]:.1f}" for figure in CHAIN_FIGURES),
                    ]
                    for target, parts in TESTED.items()
                    for part in parts
                    for name in CHAINS
                    if (kept := whole.get((name, target)))
                ],
            ),
        }
    )


def filled(rows: Iterable[list[str]]) -> list[list[str]]:
    """Leave out rows of which nothing was measured."""
    return [row for row in rows if any(row[1:])]


CHAIN_FIGURES = ("upos", "uas", "las_no_subtypes", "ece")

EXPERIMENT = Experiment(
    file=__file__,
    about=__doc__,
    measure=run,
    page="new-testament",
    add_arguments=add_arguments,
)

if __name__ == "__main__":
    EXPERIMENT.main()
