"""Languages that changes are measured on: bitexts with English and development files, none of them a test file."""

from __future__ import annotations

import argparse
import lzma
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TypeVar

import numpy as np

from qsproj.corpus.conllu import read_conllu
from qsproj.corpus.files import open_output
from qsproj.corpus.sentence import Sentence
from qsproj.pipelines.bootstrap.texts import LINE, VERSE, SourceText
from scripts.experiments.harness.experiment import DEFAULT_CACHE

Item = TypeVar("Item")
ENGLISH = "en"
# Treebanks of the languages that can be sources.
TREEBANKS = {
    "en": ("treebanks/english-ewt-train",),
    "es": ("treebanks/spanish-gsd-dev", "treebanks/spanish-ancora-dev"),
    "de": ("treebanks/german-gsd-dev",),
    "it": ("partut/it-train", "partut/it-dev"),
    "ru": ("bible/ru-dev",),
    "ar": ("treebanks/arabic-padt-dev",),
    "cs": ("treebanks/czech-cac-dev",),
    "sl": ("treebanks/slovenian-ssj-dev",),
    "tr": ("treebanks/turkish-imst-dev",),
}
KINDS = TESTAMENT, NEWS, FEW_PAIRS = "New Testament", "news", "1,000 pairs"
# Trees of PUD after these are for reports.
PUD_TREES = 600
# Seed of the subset of a bitext, and of the sentences that are scored.
DRAWN_BY = 1

# Relations of UD 1, which the Arabic treebank has, in UD 2.
_UD_2 = {
    "dobj": "obj",
    "nsubjpass": "nsubj",
    "csubjpass": "csubj",
    "auxpass": "aux",
    "neg": "advmod",
    "mwe": "fixed",
    "name": "flat",
}


@dataclass(frozen=True)
class Language:
    """A target language: its kind of bitext, and files of gold trees to score."""

    name: str
    kind: str
    dev: tuple[str, ...]


LANGUAGES = {
    "de": Language("German", TESTAMENT, ("treebanks/german-gsd-dev",)),
    "es": Language("Spanish", TESTAMENT, ("treebanks/spanish-gsd-dev", "treebanks/spanish-ancora-dev")),
    "it": Language("Italian", TESTAMENT, ("partut/it-dev", "partut/it-train")),
    "ru": Language("Russian", TESTAMENT, ("bible/ru-dev",)),
    "ar": Language("Arabic", TESTAMENT, ("treebanks/arabic-padt-dev",)),
    "et": Language("Estonian", TESTAMENT, ("bible/et-dev",)),
    "uk": Language("Ukrainian", TESTAMENT, ("bible/uk-dev",)),
    "wo": Language("Wolof", TESTAMENT, ("bible/wo-dev",)),
    "hy": Language("Armenian", TESTAMENT, ("bible/hy-dev",)),
    "got": Language("Gothic", TESTAMENT, ("bible/got-dev",)),
    "de-news": Language("German", NEWS, ("treebanks/german-gsd-dev",)),
    "es-news": Language("Spanish", NEWS, ("treebanks/spanish-gsd-dev", "treebanks/spanish-ancora-dev")),
    "sv-news": Language("Swedish", NEWS, ("treebanks/swedish-talbanken-dev", "lines/sv-dev")),
    "cs-news": Language("Czech", NEWS, ("treebanks/czech-cac-dev",)),
    "tr": Language("Turkish", FEW_PAIRS, ("pud/tr",)),
    "zh": Language("Chinese", FEW_PAIRS, ("pud/zh",)),
}


def language_of(code: str) -> Language:
    """Return a language; those that are not listed have a New Testament."""
    return LANGUAGES.get(code) or Language(code, TESTAMENT, ())


@dataclass(frozen=True)
class Corpora:
    """Files of the languages: ``data`` as they are, ``work`` for those that are made of them.

    ``pairs``: number of pairs drawn from a bitext of news. ``tested``: number of sentences that are scored.
    ``folder``: gold trees and Testaments of languages that ``data`` lacks, as ``hr.conllu`` and ``hr.verses``.
    """

    data: Path
    work: Path
    pairs: int
    tested: int
    folder: Path | None = None

    def files(self, code: str) -> list[Path]:
        """Return the files of gold trees of a language."""
        if self.folder is not None:
            return [self.folder / f"{code}.conllu"]
        return [self.data / f"{name}.conllu.gz" for name in LANGUAGES[code].dev]

    def verses(self, code: str) -> Path:
        """Return the New Testament of a language of the folder."""
        assert self.folder is not None
        return self.folder / f"{code}.verses"

    def all_trees(self, code: str) -> list[Sentence]:
        """Read the gold trees of a language, of PUD those that settings may be chosen on."""
        most = PUD_TREES if language_of(code).kind == FEW_PAIRS else None
        found = [sentence for path in self.files(code) for sentence in islice(read_conllu(path), most)]
        return [as_ud_2(sentence) for sentence in found] if code == "ar" else found

    def gold(self, code: str) -> list[Sentence]:
        """Return the gold trees to score, drawn from all files of the language."""
        return drawn(self.all_trees(code), self.tested)

    def raw_text(self, code: str) -> Path:
        """Write the text of all gold trees, one sentence a line."""
        return self._written(f"{code}.raw.txt", map(text_of, self.all_trees(code)))

    def text(self, code: str, source: str = ENGLISH) -> SourceText:
        """Return the bitext of a target language and a source language, which has treebanks."""
        kind, target = language_of(code).kind, code.partition("-")[0]
        if kind == TESTAMENT:
            bitext = [self.data / f"bible/verses/{one}.tsv.xz" for one in (source, target)]
            if self.folder is not None:
                bitext[1] = self.verses(code)
        elif kind == NEWS:
            with lzma.open(self.data / f"bitext/{source}-{target}.tsv.xz", "rt", encoding="utf-8") as lines:
                chosen = drawn([line.rstrip("\n") for line in lines], self.pairs)
            bitext = [self._written(f"{source}-{target}.{self.pairs}.tsv", chosen)]
        else:
            sides = (read_conllu(self.data / f"pud/{one}.conllu.gz") for one in (source, target))
            said: Callable[[Sentence], str] = words_of if target == "zh" else text_of
            pairs = (f"{text_of(one)}\t{said(other)}" for one, other in zip(*sides, strict=True))
            bitext = [self._written(f"{source}-{target}.pud.tsv", pairs)]
        return SourceText(
            treebanks=tuple(str(self.data / f"{name}.conllu.gz") for name in TREEBANKS[source]),
            bitext=tuple(map(str, bitext)),
            languages=(source, target),
            paired_by=VERSE if kind == TESTAMENT else LINE,
        )

    def _written(self, name: str, lines: Iterable[str]) -> Path:
        self.work.mkdir(parents=True, exist_ok=True)
        path = self.work / name
        with open_output(path) as out:
            out.writelines(f"{line}\n" for line in lines)
        return path


def drawn(items: Sequence[Item], most: int) -> list[Item]:
    """Return at most ``most`` items by chance, always the same, in their order."""
    chosen = np.random.default_rng(DRAWN_BY).permutation(len(items))[:most]
    return [items[place] for place in sorted(chosen.tolist())]


def text_of(sentence: Sentence) -> str:
    """Return the text that a treebank gives of a sentence, else its words."""
    lines = sentence.layout.lines if sentence.layout else ()
    return next((line[9:] for line in lines if line.startswith("# text = ")), words_of(sentence))


def words_of(sentence: Sentence) -> str:
    return " ".join(sentence.forms)


def as_ud_2(sentence: Sentence) -> Sentence:
    """Return a sentence with the tags and trees of UD 2 in place of those of UD 1."""
    upos = ["CCONJ" if tag == "CONJ" else tag for tag in sentence.upos]
    heads, relations = sentence.heads.tolist(), ["", *_relations(sentence)]

    def following(word: int, head: int, relation: str) -> int | None:
        after = range(word + 1, len(heads))
        return next((one for one in after if heads[one] == head and relations[one] == relation), None)

    for word in range(1, len(heads)):
        # A coordinator at the start of a sentence is the head of its clause.
        clause = following(word, word, "parataxis") if upos[word - 1] == "CCONJ" else None
        if clause is not None:
            heads = [clause if head == word else head for head in heads]
            heads[clause], heads[word] = sentence.heads[word].item(), clause
            relations[clause], relations[word] = relations[word], "cc"
    for word in range(1, len(heads)):
        # Others are below the first conjunct, in UD 2 below the next one.
        conjunct = following(word, heads[word], "conj") if relations[word] == "cc" else None
        if conjunct is not None and heads[word] < word:
            heads[word] = conjunct
    return Sentence.from_words(sentence.forms, upos=upos, heads=heads, deprels=relations[1:])


def _relations(sentence: Sentence) -> Iterator[str]:
    for head, relation in zip(sentence.heads[1:].tolist(), sentence.deprels, strict=True):
        if relation == "nmod" and head > 0 and sentence.upos[head - 1] == "VERB":
            yield "obl"
        else:
            yield _UD_2.get(relation, relation)


def add_work(parser: argparse.ArgumentParser) -> None:
    """Declare the folder of stages that experiments on these languages share."""
    folder, help = DEFAULT_CACHE / "many-bench", "kept stages of many_bench (default: %(default)s)"
    parser.add_argument("--work", type=Path, default=folder, metavar="FOLDER", help=help)
