"""Corpora on which joint parsing is measured: pairs with gold trees on both sides, and their candidate links."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path

import numpy as np

from qsproj.alignment.aligners import align_words
from qsproj.alignment.reading import read_word_pairs
from qsproj.corpus.alignments import read_alignments, write_alignments
from qsproj.corpus.conllu import read_conllu
from qsproj.corpus.pairing import pair_sentences
from qsproj.corpus.sentence import Sentence, SentencePair
from qsproj.models.arc.arc_parser import ArcParser
from qsproj.models.arc.arc_training import TrainingOptions, train_arc_parser
from qsproj.models.storage import load_model_of

BITEXT_PAIRS = 20000
THRESHOLD = 0.1
SPLITS = ("train", "dev", "test")


@dataclass(frozen=True)
class Part:
    """Some pairs of two treebanks: ``start`` and ``stop`` as of a slice."""

    source: str
    target: str
    start: int = 0
    stop: int | None = None

    def pairs(self) -> Iterator[tuple[Sentence, Sentence]]:
        paths = (data_folder() / f"{name}.conllu.gz" for name in (self.source, self.target))
        return islice(pair_sentences(*map(read_conllu, paths)), self.start, self.stop)


@dataclass(frozen=True, kw_only=True)
class Corpus:
    """Where to train and to test.

    Attributes
    ----------
    title, language : str
        As the documents call the corpus and its target language.
    train, test : Part
    aligned : tuple of Part
        What the aligner learns from; it holds ``train`` and ``test``.
    bitext : (str, str) or None
        File and language codes of more text for the aligner, where there is any.
    unspaced : bool
        Whether the target language is written without spaces: the bitext is not cut into words as trees are.
    conversion : str or None
        The conversion of OpenCC (https://github.com/BYVoid/OpenCC) that spells the target's forms as the bitext
        does, where they are in another script.
    sizes : tuple of int
        Numbers of training pairs.
    """

    title: str
    language: str
    train: Part
    test: Part
    aligned: tuple[Part, ...]
    bitext: tuple[str, tuple[str, str]] | None = None
    unspaced: bool = False
    conversion: str | None = None
    sizes: tuple[int, ...]


def _splits(folder: str, language: str) -> tuple[Part, ...]:
    return tuple(Part(f"{folder}/en-{split}", f"{folder}/{language}-{split}") for split in SPLITS)


def _pud(language: str, title: str, bitext: tuple[str, tuple[str, str]] | None = None) -> Corpus:
    whole = Part("pud/en", f"pud/{language}")
    return Corpus(
        title=f"PUD, English-{title}: sentences 601 to 1,000, trained on 1 to 600",
        language=title,
        train=replace(whole, stop=600),
        test=replace(whole, start=600),
        aligned=(whole,),
        bitext=bitext,
        sizes=(50, 100, 200, 400, 600),
    )


_LINES = _splits("lines", "sv")
_PARTUT = _splits("partut", "it")
_SWEDISH_BITEXT = ("bitext/en-sv.tsv.xz", ("en", "sv"))

_LINES_CORPUS = Corpus(
    title="LinES, English-Swedish",
    language="Swedish",
    train=_LINES[0],
    test=_LINES[2],
    aligned=_LINES,
    bitext=_SWEDISH_BITEXT,
    sizes=(10, 50, 100, 200, 400, 800, 1000, 1600, 2738),
)

CORPORA = {
    "lines": _LINES_CORPUS,
    "lines-dev": replace(
        _LINES_CORPUS,
        title="LinES, English-Swedish: dev file",
        test=_LINES[1],
        sizes=(400,),
    ),
    "partut": Corpus(
        title="ParTUT, English-Italian",
        language="Italian",
        train=_PARTUT[0],
        test=_PARTUT[2],
        aligned=_PARTUT,
        sizes=(50, 100, 200, 400, 800, 1600),
    ),
    "pud-de": _pud("de", "German", ("bitext/en-de.tsv.xz", ("en", "de"))),
    "pud-zh": replace(
        _pud("zh", "Chinese", ("bitext/en-zh.tsv.xz", ("en", "zh"))), unspaced=True, conversion="t2s"
    ),
}


def data_folder() -> Path:
    return Path(os.environ["QSPROJ_DATA"])


def source_parser(work: Path) -> ArcParser:
    """Train, or load, the English parser; it never sees the corpora."""
    path = work / "en.parser"
    if not path.exists():
        trees = list(read_conllu(data_folder() / "treebanks" / "english-ewt-train.conllu.gz"))
        options = TrainingOptions(template_set="words", epochs=8)
        train_arc_parser(trees, rng=np.random.default_rng(1), options=options)[0].save(path)
    return load_model_of(path, ArcParser, expected="the English parser", remedy="remove it")


def links_of(corpus: Corpus, path: Path) -> None:
    """Align the forms of a corpus, together with other bitext, unless that was done before."""
    if path.exists():
        return
    respelt = respelling(corpus.conversion)
    words = [
        (first.forms, tuple(map(respelt, second.forms)))
        for part in corpus.aligned
        for first, second in part.pairs()
    ]
    if corpus.bitext is not None:
        name, languages = corpus.bitext
        more = read_word_pairs(str(data_folder() / name), None, languages=languages)
        words += islice(more, BITEXT_PAIRS)
    unspaced = "target" if corpus.unspaced else None
    write_alignments(align_words(words, threshold=THRESHOLD, unspaced=unspaced), path, with_weights=True)


def respelling(conversion: str | None) -> Callable[[str], str]:
    """Return what converts a word to another script; it needs the extra ``measure``. None: nothing does."""
    if conversion is None:
        return str
    from opencc import OpenCC

    converted: Callable[[str], str] = OpenCC(conversion).convert
    return converted


def pairs_of(corpus: Corpus, work: Path) -> tuple[list[SentencePair], list[SentencePair]]:
    """Return the pairs to train on, in random order, and those to test on.

    Every sample of training pairs is the beginning of this order, so that each is contained in the next.
    """
    kind = "-unspaced" if corpus.unspaced else ""
    path = work / f"links-{corpus.aligned[0].target.replace('/', '-')}{kind}.pharaoh"
    links_of(corpus, path)
    linked = {}
    links = read_alignments(path)
    for part in corpus.aligned:
        for first, second in part.pairs():
            alignment = replace(next(links), n_source=len(first), n_target=len(second))
            linked[part.source, first.sent_id] = SentencePair(first, second, alignment)
    train, test = (
        [linked[part.source, first.sent_id] for first, _ in part.pairs()]
        for part in (corpus.train, corpus.test)
    )
    order = np.random.default_rng(7).permutation(len(train))
    return [train[i] for i in order], test
