"""Corpora for joint parsing: pairs with gold trees on both sides, and their candidate links."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path

import numpy as np

from qsproj.alignment.aligners import align_words
from qsproj.alignment.reading import read_word_pairs
from qsproj.corpus.alignments import write_alignments
from qsproj.corpus.conllu import read_conllu
from qsproj.corpus.formats import read_alignments
from qsproj.corpus.pairs.pairing import pair_sentences
from qsproj.corpus.sentence import Alignment, Sentence, SentencePair
from qsproj.errors import UsageError
from qsproj.models.arc.arc_parser import ArcParser
from qsproj.models.arc.arc_training import train_arc_parser
from qsproj.models.arc.training_options import TrainingOptions
from qsproj.models.graph.graph_parser import GraphParser, train_graph_parser
from qsproj.models.storage import load_model_of
from scripts.experiments.harness.experiment import Lab

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

    def paths(self, lab: Lab) -> list[Path]:
        """Return the files of both sides."""
        return [lab.data / f"{name}.conllu.gz" for name in (self.source, self.target)]

    def pairs(self, lab: Lab) -> Iterator[tuple[Sentence, Sentence]]:
        """Yield the sentences of both sides."""
        return islice(pair_sentences(*map(read_conllu, self.paths(lab))), self.start, self.stop)


@dataclass(frozen=True, kw_only=True)
class Corpus:
    """Training and test data of a corpus.

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


def pud_corpus(language: str, title: str, bitext: tuple[str, tuple[str, str]] | None = None) -> Corpus:
    """Return English PUD with that of another language."""
    whole = Part("pud/en", f"pud/{language}")
    return Corpus(
        title=f"PUD, English-{title}: sentences 601 to 1,000, trained on 1 to 600",
        language=title,
        train=replace(whole, stop=600),
        test=replace(whole, start=600),
        aligned=(whole,),
        bitext=bitext,
        sizes=(100, 200, 400, 600),
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
    sizes=(100, 200, 400, 800, 2738),
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
        sizes=(100, 200, 400),
    ),
    "pud-de": pud_corpus("de", "German", ("bitext/en-de.tsv.xz", ("en", "de"))),
    "pud-zh": replace(
        pud_corpus("zh", "Chinese", ("bitext/en-zh.tsv.xz", ("en", "zh"))),
        unspaced=True,
        conversion="t2s",
        sizes=(100, 600),
    ),
}


def source_parser_path(lab: Lab, order: int = 1) -> Path:
    """Return the model file of the English parser, trained when it is first asked for; it never sees the corpora."""

    def train(path: Path) -> None:
        trees = lab.treebank("english-ewt-train")
        options = TrainingOptions(template_set="words", epochs=8)
        train_parser = train_arc_parser if order == 1 else train_graph_parser
        train_parser(trees, rng=np.random.default_rng(1), options=options)[0].save(path)

    data = [lab.treebank_path("english-ewt-train")]
    return lab.cache.file(
        "en.parser" if order == 1 else "en-2.parser", train, data=data, experiment=Path(__file__)
    )


def source_parser(lab: Lab) -> ArcParser:
    return load_model_of(
        source_parser_path(lab), ArcParser, expected="the English parser", remedy="remove it"
    )


def second_order_source_parser(lab: Lab) -> GraphParser:
    """Return the English parser of the second order, of the same trees."""
    expected = "the English parser of the second order"
    return load_model_of(source_parser_path(lab, 2), GraphParser, expected=expected, remedy="remove it")


def link_files(lab: Lab, corpus: Corpus) -> list[Path]:
    """Return the files of the aligner's training data for a corpus."""
    files = [path for part in corpus.aligned for path in part.paths(lab)]
    return [*files, lab.data / corpus.bitext[0]] if corpus.bitext else files


def links_of(lab: Lab, corpus: Corpus) -> Path:
    """Align the forms of a corpus, together with other bitext, when that is first asked for."""

    def align(path: Path) -> None:
        respelt = respelling(corpus.conversion)
        words = [
            (first.forms, tuple(map(respelt, second.forms)))
            for part in corpus.aligned
            for first, second in part.pairs(lab)
        ]
        words += bitext_words(lab, corpus)
        unspaced = "target" if corpus.unspaced else None
        write_alignments(align_words(words, threshold=THRESHOLD, unspaced=unspaced), path, with_weights=True)

    return lab.cache.file(
        f"links-{corpus.aligned[0].target.replace('/', '-')}.pharaoh",
        align,
        options={"unspaced": corpus.unspaced, "conversion": corpus.conversion, "bitext": corpus.bitext},
        data=link_files(lab, corpus),
        experiment=Path(__file__),
    )


def bitext_words(lab: Lab, corpus: Corpus) -> Iterator[tuple[tuple[str, ...], tuple[str, ...]]]:
    """Yield the words of the other bitext for the aligner, if any."""
    if corpus.bitext is not None:
        name, languages = corpus.bitext
        yield from islice(read_word_pairs(str(lab.data / name), None, languages=languages), BITEXT_PAIRS)


def aligned_bitext(lab: Lab, corpus: Corpus) -> Iterator[tuple[tuple[str, ...], tuple[str, ...], Alignment]]:
    """Yield the pairs of that bitext which have words on both sides, with the links that the aligner found."""
    links = read_alignments(links_of(lab, corpus))
    for part in corpus.aligned:
        for _ in part.pairs(lab):
            next(links)
    for (first, second), alignment in zip(bitext_words(lab, corpus), links, strict=True):
        if first and second:
            yield first, second, replace(alignment, n_source=len(first), n_target=len(second))


def respelling(conversion: str | None) -> Callable[[str], str]:
    """Return a function that transliterates a word, which needs the extra ``measure``, or None."""
    if conversion is None:
        return str
    try:
        from opencc import OpenCC
    except ModuleNotFoundError as error:
        raise UsageError(
            "found no opencc, expected the extra measure; pip install 'qsproj[measure]'"
        ) from error
    converted: Callable[[str], str] = OpenCC(conversion).convert
    return converted


def pairs_of(lab: Lab, corpus: Corpus) -> tuple[list[SentencePair], list[SentencePair]]:
    """Return the pairs to train on, in random order, and those to test on.

    Every sample of training pairs is the beginning of this order, so that each is contained in the next.
    """
    linked = {}
    links = read_alignments(links_of(lab, corpus))
    for part in corpus.aligned:
        for first, second in part.pairs(lab):
            alignment = replace(next(links), n_source=len(first), n_target=len(second))
            linked[part.source, first.sent_id] = SentencePair(first, second, alignment)
    train, test = (
        [linked[part.source, first.sent_id] for first, _ in part.pairs(lab)]
        for part in (corpus.train, corpus.test)
    )
    order = np.random.default_rng(7).permutation(len(train))
    return [train[i] for i in order], test


def dev_pairs_of(lab: Lab, corpus: Corpus) -> tuple[list[SentencePair], list[SentencePair]]:
    """Return the pairs to train on, as :func:`pairs_of` does, and those of the dev file."""
    return pairs_of(lab, replace(corpus, test=corpus.aligned[1]))


def parallel_arcs(pair: SentencePair) -> Iterator[bool]:
    """Tell of each two likely links whose source words are head and dependent whether the target's are."""
    assert pair.alignment.weights is not None
    likely = pair.alignment.links[pair.alignment.weights >= 0.5].tolist()
    for source, target in likely:
        for source_head, target_head in likely:
            if source_head == pair.source.heads[source]:
                yield bool(target_head == pair.target.heads[target])
