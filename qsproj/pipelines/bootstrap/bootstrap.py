"""Run the stages of a bootstrap in order: from treebank and bitext to one model of the target language."""

import json
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any

from qsproj.alignment.unspaced import SIDES
from qsproj.corpus.conllu import read_conllu
from qsproj.corpus.contractions import Contractions
from qsproj.corpus.files import digest_of, write_json
from qsproj.corpus.formats import read_alignments, read_all
from qsproj.corpus.language.lexicon import lexicon_of
from qsproj.corpus.pairs.aligned import AlignedFiles
from qsproj.corpus.sentence import Sentence
from qsproj.corpus.unspaced import UNSPACED_LANGUAGES
from qsproj.errors import DataError, UsageError, check_name, pluralise
from qsproj.models.parser import BLOCK, load_tags
from qsproj.models.storage import Provenance
from qsproj.parallel import THIS_PROCESS, Workers, blocks_of
from qsproj.pipelines.bootstrap import bitext, checks, training
from qsproj.pipelines.bootstrap.answers import TaggerInputs
from qsproj.pipelines.bootstrap.texts import LINE, SourceText
from qsproj.pipelines.bootstrap.workspace import InputPath, Stage, StageReport, StageResult, Workspace
from qsproj.pipelines.projection.methods import DRAWS, SoftProjectionOptions

# Options that are lists of files; with the lexicon, all that are files.
_LISTS = ("also", "tagged", "annotated", "parsed", "text", "alignment")
_OF_TAGGER = ("tagged", "lexicon", "lemmatizer", "text", "learn_text")  # what the tagger learns from
_CALL = "bootstrap.{}.json"  # name of the file of a call, by target language


@dataclass(frozen=True, slots=True, kw_only=True)
class BootstrapOptions:
    """Optional training data and settings of a bootstrap."""

    # Treebanks of other languages, which vote on tags and in the prior; those of several sources vote on
    # tags as well.
    also: tuple[str, ...] = ()
    tagged: tuple[str, ...] = ()  # target sentences with UPOS, CoNLL-U
    annotated: tuple[str, ...] = ()  # target sentences with UPOS and trees, CoNLL-U
    # Gold trees over all or some lines of the source sides, CoNLL-U; several files count as one.
    parsed: tuple[str, ...] = ()
    lexicon: str | None = None  # target words with allowed tags, or with lemmas
    lemmatizer: str | None = None  # see :func:`qsproj.corpus.language.lexicon.lexicon_of`
    text: tuple[str, ...] = ()  # raw target text, one sentence a line, best with the text to be parsed
    paragraphs: bool = False  # ``text`` is running text to be split into sentences
    # Whether taggers learn from ``text``; None: see :mod:`qsproj.pipelines.tagging.options`.
    learn_text: bool | None = None
    # The side written without spaces, by default the target if its language is; see
    # :func:`qsproj.alignment.aligners.align_words`.
    unspaced: str | None = None
    # Links of each bitext, Pharaoh, one line for each pair; the bitext must then be tokenised, with spaces
    # between words.
    alignment: tuple[str, ...] = ()
    draws: int | None = None  # see :func:`qsproj.pipelines.projection.priors.train_on_draws`
    soft: SoftProjectionOptions = field(default_factory=SoftProjectionOptions)  # training of the parser
    seed: int = 1

    @property
    def files(self) -> list[str]:
        return [*chain(*(getattr(self, name) for name in _LISTS)), *filter(None, [self.lexicon])]


@dataclass(frozen=True, slots=True)
class BootstrapCall:
    """Texts and options of :func:`bootstrap`, stored in its workspace so that its model can be retrained."""

    texts: tuple[SourceText, ...]
    options: BootstrapOptions

    @property
    def language(self) -> str:
        return self.texts[0].languages[1]

    @property
    def files(self) -> list[str]:
        return [*chain(*((*text.treebanks, *text.bitext) for text in self.texts)), *self.options.files]

    def save(self, folder: Path) -> None:
        """Write the call to a workspace, with absolute paths, without the options of parser training."""
        options = _absolute(asdict(self.options))
        del options["soft"]
        texts = [_absolute(asdict(text)) for text in self.texts]
        write_json(folder / _CALL.format(self.language), {"texts": texts, "options": options})

    @classmethod
    def load(cls, folder: Path, language: str | None) -> "BootstrapCall":
        """Read the call of a language, or the only one. UsageError if none or several; DataError: damaged."""
        found = {path.name.split(".")[1]: path for path in sorted(folder.glob(_CALL.format("*")))}
        if language is None and len(found) > 1:
            remedy = f"choose one: --language {next(iter(found))}"
            raise UsageError(f"{folder}: found bootstraps of {', '.join(found)}; {remedy}")
        path = next(iter(found.values()), None) if language is None else found.get(language)
        if path is None:
            found_none = "found no bootstrap" + ("" if language is None else f" of {language}")
            raise UsageError(f"{folder}: {found_none}; make one: qsproj bootstrap ... --work {folder}")
        try:
            record = json.loads(path.read_text(encoding="utf-8"))
            texts = tuple(SourceText(**_with_tuples(text)) for text in record["texts"])
            known = {field.name for field in fields(BootstrapOptions)}
            options = {name: value for name, value in record["options"].items() if name in known}
            return cls(texts, BootstrapOptions(**_with_tuples(options)))
        except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            expected, remedy = "the call of a bootstrap", "run the bootstrap again"
            raise DataError(str(path), None, "a damaged record", expected, remedy) from error


def _absolute(record: dict[str, Any]) -> dict[str, Any]:
    for name in record.keys() & {"treebanks", "bitext", *_LISTS, "lexicon"}:
        if isinstance(value := record[name], str):
            record[name] = str(Path(value).resolve())
        elif value:
            record[name] = [str(Path(path).resolve()) for path in value]
    return record


def _with_tuples(record: dict[str, Any]) -> dict[str, Any]:
    return {name: tuple(value) if isinstance(value, list) else value for name, value in record.items()}


@dataclass(frozen=True, slots=True)
class Bootstrapped:
    """Results of a bootstrap, as files of its workspace; None: not requested."""

    model: str
    base: str  # the model before it learned annotated sentences, if these are given; else the same
    trees: str  # target sentences of the bitext with the trees that the parser was trained on
    corpora: tuple[AlignedFiles, ...]  # of each bitext: parsed source, tagged target, links
    examples: str | None = None  # target sentences parsed by the model, with the probability of each arc
    suggested: str | None = None  # sentences to annotate next, best first
    suggested_words: str | None = None  # for a lexicon, best first

    def tagger_inputs(self, texts: Sequence[SourceText], options: BootstrapOptions) -> TaggerInputs:
        """Return what the tagger of this call learned from, for :func:`.answers.learn_answers`."""
        treebanks = [text.treebanks for text in texts] if len(texts) > 1 else []
        how = {name: getattr(options, name) for name in _OF_TAGGER}
        return training.tagger_inputs(self.corpora, treebanks, language=texts[0].languages[1], **how)

    def described_trees(self) -> Iterator[Sentence]:
        """Yield the training trees, with the lemmas and features that the model gives their words."""
        describe = partial(load_tags(self.model).with_morphology, anew=True)
        return chain.from_iterable(map(describe, blocks_of(read_conllu(self.trees), BLOCK)))


def bootstrap(
    texts: Sequence[SourceText],
    *,
    workspace: Workspace,
    options: BootstrapOptions | None = None,
    made: Provenance | None = None,
    suggested_sentences: int | None = None,
    workers: Workers = THIS_PROCESS,
    say: Callable[[str], None] = lambda _: None,
) -> Bootstrapped:
    """Train a model that tokenizes, tags and parses text of the target language.

    ``texts``: source languages, each with treebanks and a bitext; all with the same target language.
    ``workspace``: storage and log of the stages. ``made``: provenance stored in the model file.
    ``suggested_sentences``: parse some target text at the end, for a report and this many suggestions; None:
    do not. ``say``: receives the number of stages, the start of each, and the remaining time.

    Raises UsageError or DataError when an input cannot be used: see the checks and stages.
    """
    options = options or BootstrapOptions()
    for path in options.files:
        digest_of(path)  # some files are read in late stages only; report missing ones before
    if options.unspaced is not None:
        check_name("side", options.unspaced, SIDES)
    if options.alignment:
        _check_alignment(texts, options)
    of_sources = list(chain.from_iterable(text.treebanks for text in texts))
    checks.check_annotated(options.tagged, options.annotated, treebanks=of_sources)
    lexicon_of(options.lexicon, options.lemmatizer, texts[0].languages[1])
    checks.check_other_trees(options.also, options.parsed, treebanks=of_sources)
    checked = [checks.check_inputs(text, tagged=(*options.tagged, *options.annotated)) for text in texts]
    checks.check_raw(options.text, texts[0])
    stages = _Stages(texts, [apart for _, apart in checked], workspace, options, workers)
    after = partial(stages.after, made=dict(made or {}), suggested_sentences=suggested_sentences)
    rest, _ = after(workspace.state(stages.tagger).report)
    every = (*stages.sources, *chain(*stages.sides), stages.tagger, *rest)
    planned = list(map(workspace.state, every))
    expected = expected_seconds([sizes for sizes, _ in checked], [stage.name for stage in planned])
    estimate = Estimate(planned, expected)
    if not all(stage.kept for stage in planned):
        say(estimate.whole())
    workspace.begun = lambda name: say(estimate.begun(name))
    workspace.ended = estimate.ended
    workspace.complete(*stages.sources, workers=workers)
    completed = [workspace.complete(stage)[0] for stage in chain(*stages.sides)]
    if options.parsed and not any(stage.report.figures.get("given trees") for stage in completed):
        found = "found no tree over a source line of the bitext, expected trees over the same words"
        raise UsageError(f"{options.parsed[0]}: {found}; check that both are the same edition")
    (tagger,) = workspace.complete(stages.tagger)
    rest, results = after(tagger.report)
    for stage in rest:
        workspace.complete(stage)
    return results


def _check_alignment(texts: Sequence[SourceText], options: BootstrapOptions) -> None:
    if len(options.alignment) != len(texts):
        found = pluralise(len(options.alignment), "file")
        bitexts = pluralise(len(texts), "bitext")
        raise UsageError(f"found {found} of links, expected one for each of {bitexts}: --alignment")
    if any(text.cut or text.paired_by != LINE for text in texts) or options.parsed:
        others = "leave out --cut, --paired-by verse and --parsed-source"
        raise UsageError(f"the links of --alignment refer to unchanged lines; leave it out, or {others}")
    for path in options.alignment:
        try:
            deque(read_alignments(path), maxlen=0)
        except DataError as error:
            raise error.with_remedy("write links i-j that count from 0, as qsproj align does") from error


class _Stages:
    """The declared stages of a bootstrap. Final.

    ``apart``: for each text, the tokens of the source side that its treebank divides. ``sides``: for each
    bitext, the stages of words, links and source trees.
    """

    def __init__(
        self,
        texts: Sequence[SourceText],
        apart: Sequence[Contractions],
        workspace: Workspace,
        options: BootstrapOptions,
        workers: Workers,
    ) -> None:
        inputs: dict[str, Any] = {name: tuple(map(InputPath, getattr(options, name))) for name in _LISTS}
        lexicon = None if options.lexicon is None else InputPath(options.lexicon)
        self._options = options = replace(options, lexicon=lexicon, **inputs)
        self._declare = declare = workspace.declare
        self._aside = {"workers": workers}
        self._tagged, language = (*options.tagged, *options.annotated), texts[0].languages[1]
        self._treebanks = [tuple(map(InputPath, text.treebanks)) for text in texts]
        # One source is rarely a relative, and training on its trees takes time.
        self._voting = self._treebanks if len(texts) > 1 else ()
        self._language = language
        self.sources, self.sides = list[Stage](), list[tuple[Stage, Stage, Stage]]()
        self._untagged = list[AlignedFiles]()
        raw, attached = () if options.alignment else options.text, dict[str, tuple[str, ...]]()
        tagged = list(read_all(options.tagged))
        shown = [*tagged, *read_all(options.annotated)]
        of_tagged = bitext.tokens_shown(options.tagged, tagged, language)
        of_both = bitext.tokens_shown(self._tagged, shown, language)
        by_text = bitext.tokenization_arguments(of_both, shown, language, raw=raw, texts=texts)
        # Names of the stages of one bitext among several.
        self._labels = [f"-{number}" if len(texts) > 1 else "" for number in range(1, len(texts) + 1)]
        for number, (text, tokenization, label) in enumerate(zip(texts, by_text, self._labels, strict=True)):
            text = replace(text, treebanks=self._treebanks[number], bitext=tuple(map(InputPath, text.bitext)))
            tokenization |= self._chosen("parsed", "seed")
            attached |= tokenization.get("attached", {})
            if options.alignment:
                tokenization["at_spaces"] = True
            elif apart[number]:
                tokenization["apart"] = apart[number]
            source = declare(
                training.train_source,
                treebanks=text.treebanks,
                language=text.languages[0],
                seed=options.seed,
                label=label,
            )
            how: Any = {"model": source.file, "label": label, "aside": self._aside}
            words = declare(bitext.tokenize_bitext, text=text, **tokenization, **how)
            sides = {"source": words.files[0], "target": words.files[1], "label": label}
            if options.alignment:
                path = options.alignment[number]
                links = declare(bitext.read_links, **sides, alignment=path, aside={"name": str(path)})
            else:
                unspaced = options.unspaced or ("target" if language in UNSPACED_LANGUAGES else None)
                aside = {"name": text.bitext[-1], **self._aside}
                links = declare(bitext.link_words, **sides, unspaced=unspaced, aside=aside)
            trees = declare(bitext.parse_source, words=words.files[0], **how)
            self.sources.append(source)
            self.sides.append((words, links, trees))
            self._untagged.append(AlignedFiles(trees.file, words.files[1], links.file))
        # Annotated sentences are learned last, which keeps earlier stages, unless they show other tokens.
        examples: Any = {} if of_tagged == of_both else {"token_examples": self._tagged}
        self.tagger = declare(
            training.tag_target,
            corpora=self._untagged,
            treebanks=self._voting,
            language=language,
            attached=attached,
            **self._chosen("also", "paragraphs", "seed", *_OF_TAGGER),
            **examples,
        )

    def _chosen(self, *names: str) -> dict[str, Any]:
        """Return some of the options, as arguments of a stage."""
        return {name: getattr(self._options, name) for name in names}

    def after(
        self, tagger: StageReport, *, made: Provenance, suggested_sentences: int | None
    ) -> tuple[list[Stage], Bootstrapped]:
        """Declare the stages after the tagger, which depend on its report; return them and their results."""
        declare, options = self._declare, self._options
        how: Any = {"tagger": self.tagger.file, "aside": self._aside}
        both = zip(self._untagged, self._labels, strict=True)
        tagged = [declare(training.tag_words, words=one.target, label=label, **how) for one, label in both]
        corpora = [replace(one, target=stage.file) for one, stage in zip(self._untagged, tagged)]
        unshared = tagger.figures.get("unshared", {})
        how = {"unshared": unshared, "seed": options.seed, "aside": {"cache": training.PairCache()}}
        prior = declare(
            training.train_priors,
            sources=list(map(training.Source, self._treebanks, corpora)),
            others=options.also,
            draws=options.draws or DRAWS,
            files=[f".{number}.model" for number in range(1, 4 if options.also else 2)],
            **how,
        )
        parser = declare(training.project, options=options.soft, priors=prior.files, corpora=corpora, **how)
        how = {"tagger": self.tagger.file, "parser": parser.file, "readings": training.TAG_READINGS}
        model = declare(training.assemble, made=made, **how)
        stages, base = [*tagged, prior, parser, model], model.file
        if options.annotated:
            how = {"model": base, "made": made, "treebanks": self._voting, "language": self._language}
            chosen = self._chosen("annotated", "paragraphs", "seed", *_OF_TAGGER)
            stages.append(model := declare(training.learn_annotated, corpora=corpora, **how, **chosen))
        examples: tuple[str, ...] = ()
        if suggested_sentences is not None:
            last = declare(
                training.parse_examples,
                corpora=self._untagged,
                model=model.file,
                tagged=self._tagged,
                sentences=suggested_sentences,
                aside=self._aside,
                **self._chosen("text", "paragraphs", *(["lexicon"] if options.lexicon else [])),
            )
            stages, examples = [*stages, last], last.files
        return stages, Bootstrapped(model.file, base, parser.files[1], tuple(corpora), *examples)


# Descriptions of the stages for linguists.
TITLES = {
    "source": "tagger and parser of the source language",
    "words": "both sides tokenised",
    "links": "word alignment",
    "trees": "source side parsed",
    "tagger": "target tagger, trained through the links",
    "tagged": "target side tagged",
    "prior": "parser of the source treebank, its words translated",
    "parser": "target parser, trained on projected trees",
    "model": "one model for raw text",
    "learned": "annotated sentences learned",
    "examples": "sample of parsed target text",
}


def in_short(stage: StageResult) -> str:
    """Return a line without details; those of annotated trees are warnings about them, and are kept."""
    line = stage.report.line if stage.name == "learned" else stage.report.line.partition(";")[0]
    return f"{_title(stage.name)}: {line} ({stage.time})"


def _title(name: str) -> str:
    kind, _, number = name.partition("-")
    return f"{TITLES.get(kind, kind)}{f' ({number})' if number else ''}"


# Maximum number of pairs that a parser learns from; minimum remaining time to report.
LEARNED_PAIRS, LEAST_SECONDS = 16_000, 20.0
_SECONDS: Mapping[str, Callable[[checks.Sizes], float]] = {
    "source": lambda size: 1e-4 * size.treebank,
    "words": lambda size: 1e-5 * (size.source + size.target),
    "links": lambda size: 6.5e-6 * (size.source + size.target),
    "trees": lambda size: 2.2e-5 * size.source,
    "tagger": lambda size: 6.5e-5 * size.target,
    "tagged": lambda size: 5e-6 * size.target,
    "prior": lambda size: 6e-5 * size.treebank,
    "parser": lambda size: 1e-3 * min(size.pairs, LEARNED_PAIRS) + 2e-4 * size.pairs,
    "learned": lambda size: 5e-5 * size.target,
}


def expected_seconds(sizes: Sequence[checks.Sizes], names: Sequence[str]) -> dict[str, float]:
    """Estimate the seconds of stages on one core, at rates measured on bitexts and Testaments.

    The machine was fast; the first stages show how much slower this one is.
    """
    seconds = {}
    for name in names:
        kind, _, number = name.partition("-")
        of_stage = [sizes[int(number) - 1]] if number else sizes
        seconds[name] = sum(map(_SECONDS.get(kind, lambda _: 2.0), of_stage))
    return seconds


class Estimate:
    """Estimate of the remaining time from planned stages and their expected seconds. Mutable; final."""

    def __init__(self, planned: Sequence[StageResult], expected: Mapping[str, float]) -> None:
        self._names = [stage.name for stage in planned]
        self._left = {stage.name: expected[stage.name] for stage in planned if not stage.kept}
        kept = [stage for stage in planned if stage.kept]  # these show the speed of this machine
        self._spent = sum(stage.seconds for stage in kept)
        self._spent_expected = sum(expected[stage.name] for stage in kept)

    def whole(self) -> str:
        kept = len(self._names) - len(self._left)
        return f"{pluralise(len(self._names), 'stage')}, {kept} of them kept{self._time()}"

    def begun(self, name: str) -> str:
        place = self._names.index(name) + 1
        return f"{_title(name)}: begun, stage {place} of {len(self._names)}{self._time()}"

    def ended(self, name: str, seconds: float) -> None:
        """Record the seconds of a stage, and rescale the estimate of the others accordingly."""
        self._spent += seconds
        self._spent_expected += self._left.pop(name, 0.0)

    def _time(self) -> str:
        total = sum(self._left.values())
        if self._spent_expected >= LEAST_SECONDS:
            total *= self._spent / self._spent_expected
        if total < LEAST_SECONDS:
            return ""
        minutes = round(total / 60)
        about = f"{minutes} min" if minutes >= 2 else f"{10 * round(total / 10)} s"
        return f"; about {about} left on one core"
