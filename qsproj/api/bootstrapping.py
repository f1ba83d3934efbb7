"""The main task: from a treebank and a bitext to a text model for another language."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass
from os import PathLike
from pathlib import Path
from typing import Any, TypeGuard, cast

from qsproj import __version__
from qsproj.api import validation
from qsproj.corpus.conllu import read_conllu, write_conllu
from qsproj.corpus.document import Document
from qsproj.corpus.files import PathOrFile, open_output, open_text, temporary_folder
from qsproj.corpus.messages import check_type, described, shown
from qsproj.corpus.sentence import Sentence
from qsproj.errors import DataError, UsageError, WrongTypeError
from qsproj.models.storage import load_model
from qsproj.models.text.text_parser import TextParser
from qsproj.parallel import Workers
from qsproj.pipelines.bootstrap.bootstrap import BootstrapCall, BootstrapOptions
from qsproj.pipelines.bootstrap.bootstrap import bootstrap as run
from qsproj.pipelines.bootstrap.texts import SourceText, check_codes
from qsproj.pipelines.bootstrap.workspace import Workspace
from qsproj.progress import notice

Languages = tuple[str, str] | Sequence[tuple[str, str]]


@dataclass(frozen=True, slots=True)
class BootstrapStage:
    """A stage of a bootstrap: its name, a summary line, and whether it was reused from an earlier run."""

    name: str
    line: str
    kept: bool


@dataclass(frozen=True, slots=True, eq=False)
class Bootstrap:
    """The result of :func:`bootstrap`.

    ``model``: tokenizes, tags and parses text: ``model(text)``. ``trees``: the target side of the bitext with
    the parser's training trees. ``suggested``: the sentences to annotate next, parsed by the model, best
    first. ``stages``: in order.
    """

    model: TextParser
    trees: Document
    suggested: Document
    stages: tuple[BootstrapStage, ...]

    def __repr__(self) -> str:
        return f"<Bootstrap {self.model!r}, {len(self.trees)} trees, {len(self.stages)} stages>"


def bootstrap(
    *,
    treebank: Treebanks | Sequence[Treebanks],
    bitext: Bitext | Sequence[Bitext],
    languages: Languages,
    work: str | PathLike[str] | None = None,
    text: Texts = (),
    lexicon: PathOrFile | None = None,
    annotated: Treebanks = (),
    draws: int | None = None,
    jobs: int = 1,
    seed: int = 1,
    tagged: Treebanks = (),
    also: Treebanks = (),
    parsed_source: Treebanks = (),
    paired_by: str = "line",
    cut: bool | None = None,
    paragraphs: bool = False,
    lemmatizer: str | None = None,
    unspaced: str | None = None,
    suggest_sentences: int = 20,
    learn_text: bool | None = None,
) -> Bootstrap:
    """Train a model that tokenizes, tags and parses a language without a treebank.

    The model is the same as from ``qsproj bootstrap``. Files are paths or open files; treebanks may be
    sentences, and a bitext pairs of strings. Strings are always paths.

    Raises UsageError or DataError, before training, when there is no training data, a file is missing, or
    arguments do not fit together.

    Parameters
    ----------
    treebank : path, open file, sentences, or list of files
        Trees of the source language, CoNLL-U. For several sources: a list with one of these for each.
    bitext : path, two paths, or pairs of strings
        Source text and its translation: a file of pairs (a tab or ||| between them, or TMX), two files, one
        sentence a line, or pairs. For several sources: a list with one for each.
    languages : (str, str)
        Codes of source and target: ``("en", "de")``; a list of pairs for several sources.
    work : path, optional
        Folder for the results of each stage; a repeated call resumes from them.
    text : path, open file, or list of these
        Raw text of the target, one sentence a line, or with ``paragraphs`` running text.
    lexicon : path or open file, optional
        Words and their possible tags, or lines of UniMorph, for lemmas.
    annotated : as ``treebank``
        Target sentences with gold trees, learned last, as ``qsproj annotate`` does; ``tagged``: sentences
        with UPOS alone, from which the tagger learns at once.
    draws : int, optional
        Passes over the trees of the prior, each translated anew; None: 6.
    jobs : int
        Number of processes; -1: one per core. It does not change the model.
    seed : int
        The same seed gives the same model.
    also, parsed_source : as ``treebank``
        Treebanks of other languages, which vote on tags and trees; trees of the source side of the bitext.
    paired_by : str
        ``line``, or ``verse``: two files of reference, tab, text, or two Bibles.
    cut : bool, optional
        Split long pairs at clause ends found on both sides; by default verses that lose few links.
    lemmatizer, unspaced : str, optional
        ``simplemma``; ``source``, ``target`` or ``both``: the side written without spaces.
    suggest_sentences : int
        Number of sentences in ``suggested``.
    learn_text : bool, optional
        Whether tags are learned from ``text``; None: if it has unknown words.

    Examples
    --------
    >>> english, german = (list(qsproj.read_conllu(f"corpora/{code}.conllu")) for code in ("en", "de"))
    >>> pairs = [(one.text, other.text) for one, other in zip(english, german)]
    >>> made = qsproj.bootstrap(treebank=english, bitext=pairs, languages=("en", "de"))
    >>> made.model("Der Hund schläft im Garten.")[0].root
    <Token 3 'schläft' VERB>
    """
    check_type(work, str | PathLike | None, "a folder", "work")
    pairs = _languages(languages)
    count = None if draws is None else validation.whole_number(draws, "draws", least=1)
    suggested = validation.whole_number(suggest_sentences, "suggest_sentences", least=1)
    workers = Workers(jobs=jobs)
    with ExitStack() as stack:
        folder = Path(work) if work is not None else stack.enter_context(temporary_folder())
        workspace = Workspace(folder, run=pairs[0][1], say=notice)
        stack.callback(workspace.remove_if_empty)
        inputs = _Inputs(folder / "given")
        stack.enter_context(inputs.named_in_errors())
        options = BootstrapOptions(
            also=inputs.treebanks(also, "also"),
            tagged=inputs.treebanks(tagged, "tagged"),
            annotated=inputs.treebanks(annotated, "annotated"),
            parsed=inputs.treebanks(parsed_source, "parsed-source"),
            lexicon=None if lexicon is None else inputs.path(lexicon, "lexicon"),
            lemmatizer=lemmatizer,
            text=inputs.texts(text, "text"),
            paragraphs=paragraphs,
            learn_text=learn_text,
            unspaced=unspaced,
            draws=count,
            seed=validation.whole_number(seed, "seed", least=0),
        )
        texts = _source_texts(treebank, bitext, pairs, inputs, paired_by=paired_by, cut=cut)
        made = run(
            texts,
            options=options,
            workspace=workspace,
            suggested_sentences=suggested,
            workers=workers,
            made=_provenance(options, pairs),
            say=notice,
        )
        if work is not None:
            BootstrapCall(texts, options).save(folder)
        trees = Document(list(made.described_trees()))
        offered = Document(list(read_conllu(made.suggested or "")))
        stages = (BootstrapStage(one.name, one.report.line, one.kept) for one in workspace.stages)
        return Bootstrap(cast("TextParser", load_model(made.model)), trees, offered, tuple(stages))


def _provenance(options: BootstrapOptions, pairs: Sequence[tuple[str, str]]) -> dict[str, object]:
    named = {
        name: [Path(path).name for path in value] if isinstance(value, tuple) else value
        for name, value in asdict(options).items()
        if name != "soft" and value is not None and value is not False and value != ()
    }
    if options.lexicon is not None:
        named["lexicon"] = Path(options.lexicon).name
    return {"command": "bootstrap", "version": __version__, "options": {"languages": list(pairs), **named}}


def _languages(languages: Languages) -> list[tuple[str, str]]:
    """Return a (source, target) pair of codes for each source; all have the same target."""
    expected = 'codes of source and target: ("en", "de")'
    check_type(languages, Iterable, expected, "languages")
    given = [languages] if isinstance(languages, str) else list(languages)
    found = [given] if all(isinstance(one, str) for one in given) else given
    for pair in found:
        if not isinstance(pair, tuple | list) or [type(code) for code in pair] != [str, str]:
            raise WrongTypeError(f"found {shown(languages)} as languages, expected {expected}")
    pairs = [(str(source), str(target)) for source, target in found]
    check_codes(pairs)
    return pairs


def _source_texts(
    treebank: object,
    bitext: object,
    languages: Sequence[tuple[str, str]],
    inputs: _Inputs,
    *,
    paired_by: str,
    cut: bool | None,
) -> tuple[SourceText, ...]:
    labels = [f"-{number}" for number in range(1, len(languages) + 1)] if len(languages) > 1 else [""]
    treebanks, bitexts = _one_each(treebank, languages, "treebank"), _one_each(bitext, languages, "bitext")
    return tuple(
        SourceText(
            treebanks=inputs.treebanks(trees, f"treebank{label}"),
            bitext=inputs.bitext(sides, f"bitext{label}"),
            languages=pair,
            paired_by=paired_by,
            cut=cut,
        )
        for label, trees, sides, pair in zip(labels, treebanks, bitexts, languages, strict=True)
    )


def _one_each(value: Any, languages: Sequence[tuple[str, str]], name: str) -> list[Any]:
    if len(languages) == 1:
        return [value]
    if not isinstance(value, list | tuple) or len(value) != len(languages):
        found = len(value) if isinstance(value, list | tuple) else described(value)
        expected = f"a list of {len(languages)}, one for each of languages"
        raise UsageError(f"found {found} as {name}, expected {expected}")
    return list(value)


Treebanks = PathOrFile | Iterable[Sentence] | Sequence[PathOrFile]
Texts = PathOrFile | Sequence[PathOrFile]  # one sentence a line
# One file of pairs, two files, or the pairs themselves.
Bitext = PathOrFile | tuple[PathOrFile, PathOrFile] | Iterable[tuple[str, str]]


@dataclass(frozen=True, slots=True)
class _Inputs:
    """Paths of inputs; those that are not files on disk are written to a temporary folder."""

    folder: Path

    @contextmanager
    def named_in_errors(self) -> Iterator[None]:
        """Replace paths of temporary files by argument names in errors raised in the block."""
        try:
            yield
        except DataError as error:
            path = Path(error.path)
            raise (error.at(error.line, path.stem) if path.parent == self.folder else error) from None

    def treebanks(self, given: Treebanks, name: str) -> tuple[str, ...]:
        if not _is_file(given):
            given = elements = _elements(given, name, "paths, open files or sentences")
            if any(isinstance(one, Sentence) for one in elements):
                path = self._new(f"{name}.conllu")
                write_conllu(elements, path)
                return (path,)
        return self.texts(given, name)

    def texts(self, given: Any, name: str) -> tuple[str, ...]:
        if _is_file(given):
            return (self.path(given, name),)
        elements = _elements(given, name, "paths or open files")
        return tuple(self.path(one, f"{name}-{number}") for number, one in enumerate(elements, start=1))

    def bitext(self, given: Bitext, name: str) -> tuple[str, ...]:
        if _is_file(given):
            return self.texts(given, name)
        elements = _elements(given, name, "a file of pairs, two files, or pairs of strings")
        if 0 < len(elements) <= 2 and all(map(_is_file, elements)):
            return self.texts(elements, name)
        for number, pair in enumerate(elements, start=1):
            if not isinstance(pair, tuple | list) or [type(side) for side in pair] != [str, str]:
                found = f"{described(pair)} as pair {number} of {name}"
                raise WrongTypeError(f"found {found}, expected two strings")
        lines = ("\t".join(" ".join(side.split()) for side in pair) for pair in elements)
        return (self._written(f"{name}.tsv", (f"{line}\n" for line in lines)),)

    def path(self, given: Any, name: str) -> str:
        """Return the path of a file; the content of an open file is copied."""
        if given == "-":
            raise UsageError(f"found - as {name}, expected a file: it is read several times")
        if isinstance(given, str | os.PathLike):
            return os.fspath(given)
        if not _is_file(given):
            raise WrongTypeError(f"found {described(given)} as {name}, expected a path or an open file")
        suffix = "".join(Path(str(getattr(given, "name", ""))).suffixes[:1])
        with open_text(given) as handle:
            return self._written(f"{name}{suffix or '.txt'}", handle.readlines())

    def _written(self, name: str, lines: Iterable[str]) -> str:
        path = self._new(name)
        with open_output(path) as handle:
            handle.writelines(lines)
        return path

    def _new(self, name: str) -> str:
        self.folder.mkdir(parents=True, exist_ok=True)
        return str(self.folder / name)


def _is_file(given: object) -> TypeGuard[PathOrFile]:
    return isinstance(given, str | os.PathLike) or hasattr(given, "read")


def _elements(given: object, name: str, expected: str) -> list[Any]:
    if isinstance(given, Sentence | bytes) or not isinstance(given, Iterable):
        raise WrongTypeError(f"found {described(given)} as {name}, expected {expected}")
    return list(given)
