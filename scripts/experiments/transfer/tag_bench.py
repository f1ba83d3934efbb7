"""Tags through links on ten New Testaments, from English: UPOS of development treebanks, nothing tagged.

Verses are paired, cut, linked and their English parsed by the stages of the bootstrap, once for each language, and kept
in ``--work``. Then a tagger is learned through the links with each seed, and each way of ``--ways``: as it is, or with
an ingredient taken out.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice
from pathlib import Path
from statistics import mean
from types import ModuleType
from typing import Any

import numpy as np

from qsproj.corpus.conllu import read_conllu
from qsproj.corpus.contractions import known_contractions
from qsproj.corpus.pairs.aligned import AlignedFiles
from qsproj.corpus.pairs.translations import join_same_targets
from qsproj.corpus.sentence import Sentence
from qsproj.models.tagging.tagger import Tagger
from qsproj.parallel import THIS_PROCESS
from qsproj.pipelines.bootstrap import stages
from qsproj.pipelines.bootstrap.texts import VERSE, SourceText
from qsproj.pipelines.bootstrap.workspace import InputPath, Workspace
from qsproj.pipelines.tagging import conventions, linked_text, tag_evidence, tags_through_links
from qsproj.pipelines.tagging.tags_through_links import TagProjectionOptions, project_tags
from scripts.experiments.harness.experiment import DEFAULT_CACHE, Experiment, Lab
from scripts.experiments.harness.page import Figures
from scripts.experiments.harness.tables import table

SOURCE, TREEBANK = "en", "treebanks/english-ewt-train.conllu.gz"
_VOWELS = re.compile("[\u064b-\u0652\u0670]")
AS_IT_IS = "as it is"
# Options and functions in place of others, by what is taken out.
WAYS: dict[str, tuple[dict[str, Any], list[tuple[ModuleType, str, Any]]]] = {
    AS_IT_IS: ({}, []),
    "without the function-word prior": (
        {},
        [(tags_through_links, "function_word_prior", lambda text, shares: shares)],
    ),
    "without tags by company": (
        {},
        [(tags_through_links, "distributional_tags", lambda text, shares: shares)],
    ),
    "without stems": ({}, [(tag_evidence, "OF_STEM", 0.0)]),
    "without word classes": ({"classes": 0}, []),
    "without sentences in digits": ({"in_digits": 0}, []),
    "without balance": ({"balance": 0.0}, []),
    "without learning again": ({"rounds": 0}, []),
    "learned again once": ({"rounds": 1}, []),
    "without loose relations": ({}, [(conventions, "LOOSE", {})]),
    "without words of either tag": ({}, [(conventions, "EITHER", {}), (linked_text, "EITHER", {})]),
    "all links as sure": ({}, [(linked_text, "SURENESS", 1)]),
}
# Words that are shown with the tags that they get wrong.
WORST = 8


@dataclass(frozen=True)
class Testament:
    """A language of the bench: its name and the files of gold tags, none of them a test file."""

    name: str
    dev: tuple[str, ...]


TESTAMENTS = {
    "de": Testament("German", ("treebanks/german-gsd-dev",)),
    "es": Testament("Spanish", ("treebanks/spanish-gsd-dev", "treebanks/spanish-ancora-dev")),
    "it": Testament("Italian", ("partut/it-dev", "partut/it-train")),
    "ru": Testament("Russian", ("bible/ru-dev",)),
    "ar": Testament("Arabic", ("treebanks/arabic-padt-dev",)),
    "et": Testament("Estonian", ("bible/et-dev",)),
    "uk": Testament("Ukrainian", ("bible/uk-dev",)),
    "wo": Testament("Wolof", ("bible/wo-dev",)),
    "hy": Testament("Armenian", ("bible/hy-dev",)),
    "got": Testament("Gothic", ("bible/got-dev",)),
}


def linked(code: str, data: Path, work: Path) -> AlignedFiles:
    """Pair the verses of a Testament with English, as far as words, links and English trees."""
    treebank = InputPath(data / TREEBANK)
    verses = [InputPath(data / f"bible/verses/{one}.tsv.xz") for one in (SOURCE, code)]
    text = SourceText(treebanks=(treebank,), bitext=tuple(verses), languages=(SOURCE, code), paired_by=VERSE)
    made = partial(Workspace(work, run=code).stage)
    aside = {"workers": THIS_PROCESS}
    model = made(stages.SOURCE, treebanks=text.treebanks, language=SOURCE, seed=1).file
    words = made(
        stages.WORDS,
        text=text,
        model=model,
        tagged=(),
        contractions=known_contractions(code),
        parsed=(),
        seed=1,
        aside=aside,
    )
    ours, theirs = words.files
    links = made(
        stages.LINKS, source=ours, target=theirs, unspaced=None, aside={"name": verses[1], **aside}
    ).file
    total = int(words.told.figures.get("pairs", 0))
    trees = made(stages.TREES, words=ours, model=model, aside={"total": total, **aside}).file
    return AlignedFiles(trees, theirs, links)


def gold(code: str, data: Path, most: int) -> list[Sentence]:
    """Read the gold tags of a language, ``most`` sentences of each file."""
    paths = (data / f"{name}.conllu.gz" for name in TESTAMENTS[code].dev)
    found = [sentence for path in paths for sentence in islice(read_conllu(path), most)]
    return [as_printed(sentence) for sentence in found] if code == "ar" else found


def as_printed(sentence: Sentence) -> Sentence:
    """Take the vowels off Arabic words, which no Testament has, and write tags as UD does now."""
    forms = [_VOWELS.sub("", form) or form for form in sentence.forms]
    upos = ["CCONJ" if tag == "CONJ" else tag for tag in sentence.upos]
    return Sentence.from_words(forms, upos=upos)


def scored(tagger: Tagger, sentences: list[Sentence]) -> dict[str, Any]:
    """Return UPOS in percent, and the words and tags that most errors are of."""
    right = words = 0
    wrong: Counter[str] = Counter()
    for sentence in sentences:
        for form, tag, own in zip(
            sentence.forms, tagger.tag_words(sentence.forms), sentence.upos, strict=True
        ):
            right += tag == own
            wrong[f"{form.lower()} {own}>{tag}"] += tag != own
            words += 1
    return {"upos": 100 * right / words, "wrong": [f"{one} {n}" for one, n in wrong.most_common(WORST)]}


@contextmanager
def without(way: str) -> Iterator[TagProjectionOptions]:
    """Take an ingredient out of tags through links, and give it back; yield the options to learn with."""
    options = TagProjectionOptions()
    changed, names = WAYS[way]
    kept = [(module, name, getattr(module, name)) for module, name, _ in names]
    try:
        for module, name, value in names:
            setattr(module, name, value)
        yield replace(options, **changed)
    finally:
        for module, name, value in kept:
            setattr(module, name, value)


def measured(lab: Lab, code: str, way: str, seed: int) -> dict[str, Any]:
    """Learn a tagger in a way; return what it scores."""
    corpus = linked(code, lab.data, lab.options.work)
    with without(way) as options:
        made = project_tags(
            join_same_targets([corpus]),
            rng=np.random.default_rng(seed),
            language=code,
            columns=(),
            options=options,
        )
    found = scored(made.tagger, gold(code, lab.data, lab.options.tested))
    print(code, seed, way, f"{found['upos']:.2f}", found["wrong"], file=sys.stderr, flush=True)
    return found


def run(lab: Lab) -> Figures:
    options = lab.options
    rows, errors = list[list[str]](), list[list[str]]()
    for way in options.ways:
        means = []
        for code in options.languages:
            found = [
                lab.cache.figures(
                    f"{code} {seed} {way}",
                    partial(measured, lab, code, way, seed),
                    options={"code": code, "way": way, "seed": seed, "tested": options.tested},
                    data=[lab.data / f"{name}.conllu.gz" for name in TESTAMENTS[code].dev],
                )
                for seed in options.seeds
            ]
            means.append(mean(one["upos"] for one in found))
            if way == AS_IT_IS:
                errors.append([TESTAMENTS[code].name, ", ".join(found[0]["wrong"])])
        rows.append([way, *(f"{one:.1f}" for one in means), f"{mean(means):.1f}"])
    names = [TESTAMENTS[code].name for code in options.languages]
    return Figures(
        tables={
            "ways": table(["UPOS, dev", *names, "mean"], rows),
            "errors": table(["dev", "word, gold tag > given tag, times"], errors),
        }
    )


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("--languages", nargs="+", default=list(TESTAMENTS), choices=list(TESTAMENTS), metavar="CODE")
    add("--seeds", nargs="+", type=int, default=[1], metavar="N")
    add("--ways", nargs="+", default=list(WAYS), choices=list(WAYS), metavar="WAY")
    add("--tested", type=int, default=1000, metavar="N", help="sentences of each file (default: %(default)s)")
    add("--work", type=Path, default=DEFAULT_CACHE / "tag-bench", metavar="FOLDER")


EXPERIMENT = Experiment(file=__file__, about=__doc__, measure=run, add_arguments=add_arguments)

if __name__ == "__main__":
    EXPERIMENT.main()
