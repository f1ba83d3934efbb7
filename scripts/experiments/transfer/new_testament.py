"""Measure bootstraps of languages with only a New Testament, the gain from annotation, and the cost of wrong tags.

Settings were chosen on development files; test files are only reported. Stages are stored in a workspace in the cache,
so a change of late stages is measured in minutes. Each figure is stored when it is measured; ``--rows`` selects the rows
to measure now. ``--quick`` tests that the experiment runs.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

from qsproj.corpus.conllu import read_conllu, write_conllu
from qsproj.corpus.editing import with_columns
from qsproj.corpus.sentence import Sentence
from qsproj.models.storage import load_model_of
from qsproj.models.text.text_parser import TextParser
from qsproj.pipelines.bootstrap.bootstrap import BootstrapOptions, Bootstrapped, bootstrap
from qsproj.pipelines.bootstrap.suggestions import suggested_sentences
from qsproj.pipelines.bootstrap.texts import SourceText
from qsproj.pipelines.bootstrap.workspace import Workspace
from scripts.experiments.harness.experiment import Experiment, Lab
from scripts.experiments.harness.page import Figures
from scripts.experiments.harness.tables import table
from scripts.experiments.transfer.by_tags import UNCERTAIN_TAGS, Part, scores, scores_by_tags
from scripts.experiments.transfer.stages import timed

NAMES = {
    "uk": "Ukrainian",
    "wo": "Wolof",
    "hy": "Armenian",
    "got": "Gothic",
    "tr": "Turkish",
    "zh": "Chinese",
}
# Of these there are 1,000 pairs of news, those of PUD.
NEWS = ("tr", "zh")
TREEBANKS = {
    "en": ("english-ewt-train",),
    "es": ("spanish-gsd-dev", "spanish-gsd-test", "spanish-ancora-dev", "spanish-ancora-test"),
}
SOURCES = {"en": "English", "es": "Spanish"}
# Of any language that the data has trees of; none of a target's own.
OTHERS = (
    *("danish-ddt-test", "dutch-alpino-test", "german-gsd-dev", "spanish-gsd-dev", "czech-cac-dev"),
    *(
        "slovenian-ssj-dev",
        "swedish-talbanken-dev",
        "turkish-imst-dev",
        "greek-gdt-dev",
        "hungarian-szeged-dev",
    ),
    *("arabic-padt-dev", "japanese-gsd-dev"),
)
CLOSED = frozenset({"ADP", "AUX", "CCONJ", "DET", "NUM", "PART", "PRON", "PUNCT", "SCONJ"})
FIGURES = ("upos", "uas", "las_no_subtypes", "ece")
SORTS = ("known", "unknown", "ADJ", "NOUN", "VERB", "DET", "PRON", "SCONJ", "PUNCT")


@dataclass(frozen=True)
class Row:
    """A bootstrap: its inputs besides English trees and a New Testament."""

    target: str
    sources: tuple[str, ...] = ("en",)
    raw: bool = True
    also: bool = False
    trees: int = 0
    draw: int = 0  # seed of trees by chance; 0: as suggested
    words: int = 0

    @property
    def given(self) -> str:
        """Its name in a table."""
        found = [" and ".join(SOURCES[one] for one in self.sources)]
        found += ["raw text"] * self.raw
        found += [f"{len(OTHERS)} other treebanks"] * self.also
        if self.trees:
            found.append(
                f"{self.trees} trees {f'by chance, draw {self.draw}' if self.draw else 'as suggested'}"
            )
        if self.words:
            found.append(f"lexicon of {self.words} words as suggested")
        return ", ".join(found)

    @property
    def annotated(self) -> bool:
        return bool(self.trees or self.words)

    @property
    def name(self) -> str:
        return f"{self.target}: {self.given}"


BOTH = ("en", "es")
CHAINS = (
    *(Row(target) for target in ("uk", "wo", "hy", "got")),
    *(Row(target, BOTH) for target in ("wo", "uk", "hy", "got")),
    *(Row(target, also=True) for target in ("uk", "wo", "hy")),
    *(Row(target, raw=False) for target in NEWS),
)
# Rows of the tables of words by sorts and of tags made right.
EXAMINED = tuple(Row(target) for target in ("uk", "wo", "hy", "got"))


def part_path(lab: Lab, target: str, part: str) -> Path:
    if target in NEWS:
        return lab.pud_path(target)
    return lab.data / "bible" / f"{target}-{part}.conllu.gz"


def halves_of_dev(lab: Lab, target: str) -> tuple[list[Sentence], list[Sentence]]:
    """Return the first half of the development sentences, to be annotated, and the second, to be scored."""
    dev = list(read_conllu(part_path(lab, target, "dev")))
    return dev[: len(dev) // 2], dev[len(dev) // 2 :]


def parts_of(target: str) -> tuple[str, ...]:
    return ("PUD",) if target in NEWS else ("dev", "test")


def bitext_path(lab: Lab, source: str, target: str) -> Path:
    """Return a New Testament; of Turkish, the text of PUD, of Chinese its words, parted by spaces."""
    if target not in NEWS:
        return lab.data / "bible" / f"{source}-{target}.tsv.xz"
    sides = [lab.pud_path(source), lab.pud_path(target)]

    def write(path: Path) -> None:
        pairs = zip(*map(read_conllu, sides), strict=True)
        said = text_of if target == "tr" else lambda sentence: " ".join(sentence.forms)
        path.write_text("".join(f"{text_of(one)}\t{said(other)}\n" for one, other in pairs), "utf-8")

    return lab.cache.file(f"{source}-{target}.tsv", write, data=sides)


def raw_file(lab: Lab, target: str) -> Path:
    """Write the texts of the treebanks, one sentence a line: the text to be parsed."""
    parts = [part_path(lab, target, part) for part in parts_of(target)]

    def write(path: Path) -> None:
        sentences = chain.from_iterable(map(read_conllu, parts))
        path.write_text("".join(f"{text_of(sentence)}\n" for sentence in sentences), "utf-8")

    return lab.cache.file(f"{target}.raw.txt", write, data=parts)


def text_of(sentence: Sentence) -> str:
    """Return the text that the treebank says a sentence has, else its words."""
    lines = sentence.layout.lines if sentence.layout else ()
    return next((line[9:] for line in lines if line.startswith("# text = ")), " ".join(sentence.forms))


def made(lab: Lab, row: Row) -> tuple[Bootstrapped, TextParser]:
    """Run a bootstrap; return its outputs and the model."""
    more: dict[str, Any] = {"text": (str(raw_file(lab, row.target)),)} if row.raw else {}
    if row.also:
        more["also"] = tuple(
            str(lab.treebank_path(name)) for name in OTHERS if not name.startswith(NAMES[row.target].lower())
        )
    if row.trees or row.words:
        first, model = made(lab, Row(row.target, row.sources, row.raw))
    if row.trees:
        chosen = trees_to_annotate(lab, row, model)
        annotated = lab.cache.folder / f"{row.name}.conllu"
        write_conllu(chosen, annotated)
        more["annotated"] = (str(annotated),)
    if row.words:
        lexicon = lab.cache.folder / f"{row.name}.lexicon"
        lexicon.write_text("".join(f"{line}\n" for line in lexicon_of(lab, row, first)), "utf-8")
        more["lexicon"] = str(lexicon)
    texts = [
        SourceText(
            treebanks=tuple(str(lab.treebank_path(name)) for name in TREEBANKS[source]),
            bitext=(str(bitext_path(lab, source, row.target)),),
            languages=(source, row.target),
            cut=row.target not in NEWS,
        )
        for source in row.sources
    ]
    workspace = Workspace(lab.cache.folder / "new-testament", run="experiment")
    options = BootstrapOptions(seed=1, **more)
    done = bootstrap(
        texts, workspace=workspace, options=options, suggested_sentences=None if row.annotated else 20
    )
    expected, remedy = "a model of text", "make one: qsproj bootstrap"
    return done, load_model_of(done.model, TextParser, expected=expected, remedy=remedy)


def trees_to_annotate(lab: Lab, row: Row, model: TextParser) -> list[Sentence]:
    """Return gold trees of the first half of the development sentences, suggested or random."""
    pool, _ = halves_of_dev(lab, row.target)
    if row.draw:
        return [pool[i] for i in np.random.default_rng(row.draw).permutation(len(pool))[: row.trees]]
    plain = [Sentence.from_words(one.forms, sent_id=str(i)) for i, one in enumerate(pool)]
    parsed = list(model.parse_all(plain, confidence=True))
    return [
        pool[int(one.sent_id or 0)] for one in suggested_sentences(parsed, model.tagger, [], count=row.trees)
    ]


def lexicon_of(lab: Lab, row: Row, first: Bootstrapped) -> list[str]:
    """Return lines of a lexicon: the words that are suggested, with all their tags."""
    tags: dict[str, set[str]] = {}
    for part in parts_of(row.target):
        for sentence in read_conllu(part_path(lab, row.target, part)):
            for form, tag in zip(sentence.forms, sentence.upos, strict=True):
                tags.setdefault(form.lower(), set()).add(tag)
    lines = Path(first.suggested_words or "").read_text("utf-8").splitlines()
    words = [line.split("\t")[0] for line in lines if not line.startswith("# ")]
    return [f"{word}\t{' '.join(sorted(tags[word]))}" for word in words if word in tags][: row.words]


def known_words(done: Bootstrapped) -> set[str]:
    """Return the words of the bitexts, lower-cased."""
    return {form.lower() for files in done.corpora for one in read_conllu(files.target) for form in one.forms}


def measured(lab: Lab, row: Row) -> dict[str, Any]:
    """Score a bootstrap with gold words and predicted tags; for those in EXAMINED, also tags by kind and corrected tags."""
    done, model = made(lab, row)
    scored = {}
    if not row.annotated:
        scored = {part: list(read_conllu(part_path(lab, row.target, part))) for part in parts_of(row.target)}
    if row.target not in NEWS:
        scored["rest"] = halves_of_dev(lab, row.target)[1]
    found: dict[str, Any] = {}
    for part, gold in scored.items():
        kinds = [UNCERTAIN_TAGS]
        found[part] = scores_by_tags(model.base, [Part(gold, model.tagger)], kinds=kinds)[UNCERTAIN_TAGS]
    found["pairs"] = sum(1 for _ in read_conllu(done.trees))
    if row in EXAMINED:
        found["took"] = took(lab, row)
        gold = list(read_conllu(part_path(lab, row.target, "dev")))
        known = known_words(done)
        found["sorts"] = tags_by_sorts(gold, model, known)
        found["ceilings"] = {name: made_right(gold, model, of) for name, of in tags_made_right(known).items()}
    return found


def took(lab: Lab, row: Row) -> dict[str, Any]:
    """Run the command without stored stages, as a user does; return seconds and peak memory."""
    read: dict[str, list[str | Path]] = {
        "--treebank": [lab.treebank_path(name) for name in TREEBANKS["en"]],
        "--bitext": [bitext_path(lab, "en", row.target)],
        "--languages": ["en", row.target],
        "--text": [raw_file(lab, row.target)],
    }
    command = ["bootstrap", "--cut", "--jobs", "1"]
    command += [str(word) for option, words in read.items() for word in (option, *words)]
    with tempfile.TemporaryDirectory() as folder:
        return timed([*command, "-o", f"{folder}/model"])


def tags_by_sorts(gold: Sequence[Sentence], model: TextParser, known: set[str]) -> dict[str, float]:
    """Return in percent which words of each sort the tagger tags right."""
    counts: dict[str, list[int]] = {}
    for sentence in gold:
        tags = model.tagger.tag_words(sentence.forms)
        for form, right, tag in zip(sentence.forms, sentence.upos, tags, strict=True):
            for sort in ("known" if form.lower() in known else "unknown", right):
                counts.setdefault(sort, [0, 0])[right == tag] += 1
    return {sort: 100 * right / (wrong + right) for sort, (wrong, right) in counts.items()}


Sort = Callable[[str, str], bool]


def tags_made_right(known: set[str]) -> dict[str, Sort]:
    """Return the sorts of words of which tags are made right, by form and gold tag."""
    return {
        "none": lambda form, tag: False,
        "words of closed classes, punctuation, numbers": lambda form, tag: tag in CLOSED,
        "adjectives": lambda form, tag: tag == "ADJ",
        "words that the bitext lacks": lambda form, tag: form.lower() not in known,
        "all": lambda form, tag: True,
    }


def made_right(gold: Sequence[Sentence], model: TextParser, of: Sort) -> dict[str, float]:
    """Score trees under the tagger's best tags, those of some words made right."""
    tagged = []
    for one in gold:
        best = zip(one.forms, one.upos, model.tagger.tag_words(one.forms), strict=True)
        tagged.append(
            with_columns(one, upos=[right if of(form, right) else tag for form, right, tag in best])
        )
    return scores(gold, [model.base.parse(one, confidence=True) for one in tagged])


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_rows(parser, CHAINS)


def add_rows(parser: argparse.ArgumentParser, rows: Iterable[Row]) -> None:
    every = [row.name for row in rows]
    parser.add_argument("--rows", nargs="*", default=every, choices=every, metavar="NAME")


def run(lab: Lab) -> Figures:
    return shown(rows_found(lab, CHAINS))


def rows_found(lab: Lab, rows: Iterable[Row]) -> dict[Row, Any]:
    """Return the stored figures of rows, after measuring the chosen ones."""
    found: dict[Row, Any] = {}
    for row in rows:
        data = [bitext_path(lab, source, row.target) for source in row.sources]
        data += [lab.treebank_path(name) for source in row.sources for name in TREEBANKS[source]]
        data += [part_path(lab, row.target, part) for part in parts_of(row.target)]
        data += [lab.treebank_path(name) for name in OTHERS if row.also]
        kept = lab.cache.kept(row.name, data=data)
        if kept is None and row.name in lab.options.rows:
            kept = lab.cache.figures(row.name, partial(measured, lab, row), data=data)
            print(row.name, kept, flush=True)
        if kept:
            found[row] = kept
    return found


def cells(figures: Mapping[str, float], names: Iterable[str] = FIGURES) -> list[str]:
    return [f"{figures[name]:.1f}" if name in figures else "" for name in names]


def shown(found: dict[Row, Any]) -> Figures:
    """Lay figures out."""

    examined = [row for row in EXAMINED if row in found]
    header = ["UPOS", "UAS", "LAS", "calibration error"]
    return Figures(
        tables={
            "chain": table(
                ["", "from", *header, "pairs"],
                [
                    [
                        f"{NAMES[row.target]}, {part}",
                        row.given,
                        *cells(found[row][part]),
                        str(found[row]["pairs"]),
                    ]
                    for target in NAMES
                    for part in parts_of(target)
                    for row in CHAINS
                    if row.target == target and row in found
                ],
            ),
            "time": table(
                ["", "processor, s", "wall, s", "peak MB"],
                [
                    [
                        NAMES[row.target],
                        *(f"{found[row]['took'][key]:.0f}" for key in ("cpu", "wall", "peak")),
                    ]
                    for row in examined
                ],
            ),
            "sorts": table(
                ["dev", *SORTS],
                [[NAMES[row.target], *cells(found[row]["sorts"], SORTS)] for row in examined],
            ),
            "ceilings": table(
                ["", "tags right of", *header[:3]],
                [
                    [f"{NAMES[row.target]}, dev", name, *cells(of, FIGURES[:3])]
                    for row in examined
                    for name, of in found[row]["ceilings"].items()
                ],
            ),
        }
    )


EXPERIMENT = Experiment(
    file=__file__,
    about=__doc__,
    measure=run,
    add_arguments=add_arguments,
)

if __name__ == "__main__":
    EXPERIMENT.main()
