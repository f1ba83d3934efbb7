"""Runs of `qsproj bootstrap`, each in a separate process on one core, and the scores of their models.

A workspace beside the stored figures keeps the stages of an interrupted run, and the next run resumes from them.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from functools import partial
from pathlib import Path
from typing import Any

from qsproj.corpus.conllu import read_conllu
from qsproj.models.storage import load_model_of
from qsproj.models.text.text_parser import TextParser
from scripts.experiments.harness.cache import said
from scripts.experiments.harness.experiment import Lab
from scripts.experiments.transfer.by_tags import Part, scores_by_tags
from scripts.experiments.transfer.stages import timed

ENGLISH, OTHERS = "English", "other treebanks too"
VARIANTS = (ENGLISH, OTHERS)
LANGUAGES = {"de": "German", "es": "Spanish", "sv": "Swedish", "cs": "Czech"}
PUD, DEV, TEST = "PUD", "dev", "test"
# The treebank of a language, beside PUD: its development file and its test file.
TREEBANKS = {"de": "german-gsd", "es": "spanish-gsd", "sv": "swedish-talbanken", "cs": "czech-cac"}

Row = dict[str, Any]


def other_treebanks(lab: Lab, language: str) -> list[Path]:
    """Return the development treebanks of all languages but English, the source, and the target."""
    left_out = ("english-", f"{LANGUAGES[language].lower()}-")
    treebanks = sorted((lab.data / "treebanks").glob("*-dev.conllu.gz"))
    found = [path for path in treebanks if not path.name.startswith(left_out)]
    return [*found, lab.data / "partut" / "it-dev.conllu.gz"]


def tests_of(lab: Lab, language: str) -> dict[str, Path]:
    """Return where the gold trees are that a language is tested on."""
    files = {PUD: lab.pud_path(language)} if lab.pud_path(language).exists() else {}
    return files | {part: lab.treebank_path(f"{TREEBANKS[language]}-{part}") for part in (DEV, TEST)}


def row(lab: Lab, language: str, way: str) -> Row | None:
    """Return resources and scores of a run, by test and tags, or None if it is not chosen.

    The options ``languages`` and ``variants`` select the runs to make now; stored runs are always returned.
    """
    also = other_treebanks(lab, language) if way == OTHERS else []
    treebank, bitext = lab.treebank_path("english-ewt-train"), lab.bitext_path(language)
    command: list[str | Path] = ["--treebank", treebank, "--bitext", bitext, "--languages", "en", language]
    command += ["--also", *also] if also else []
    data = [treebank, bitext, *also]
    tests = tests_of(lab, language).values()
    name, options, this = f"{language} {way}", {"language": language, "way": way}, Path(__file__)
    found: Row | None = lab.cache.kept(name, options=options, data=[*data, *tests], experiment=this)
    if found is None and language in lab.options.languages and way in lab.options.variants:
        make = partial(bootstrap, command, work=lab.cache.folder / "bootstrap")
        model = lab.cache.file(f"{name}.model", make, options=options, data=data, experiment=this)
        measure = partial(measured, lab, language, model)
        found = lab.cache.figures(name, measure, options=options, data=[*data, *tests], experiment=this)
    return found


def bootstrap(command: Iterable[str | Path], path: Path, *, work: Path) -> dict[str, Any]:
    """Run the command; return its resources, see :func:`~scripts.experiments.transfer.stages.timed`."""
    words = list(map(str, command))
    print(f"qsproj bootstrap {' '.join(words)}", file=sys.stderr, flush=True)
    return timed(["bootstrap", *words, "--jobs", "1", "--work", str(work), "-o", str(path)])


def measured(lab: Lab, language: str, path: Path) -> Row:
    """Test a model on all of PUD, and on the development and the test file of a treebank."""
    model = load_model_of(path, TextParser, expected="a model of text", remedy="make one: qsproj bootstrap")
    tests = {name: list(read_conllu(gold)) for name, gold in tests_of(lab, language).items()}
    return {
        "run": said(path),
        **{test: scores_by_tags(model.base, [Part(gold, model.tagger)]) for test, gold in tests.items()},
    }
