"""Run the stages of a bootstrap in order: from treebank and bitext to one model of the target language."""

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from qsproj.alignment.unspaced import SIDES
from qsproj.corpus.formats import read_alignments
from qsproj.corpus.pairs.aligned import AlignedFiles
from qsproj.corpus.text import UNSPACED_LANGUAGES
from qsproj.errors import DataError, UsageError, check_name, pluralise
from qsproj.models.storage import Provenance
from qsproj.parallel import THIS_PROCESS, Workers
from qsproj.pipelines.bootstrap.bitext import cut_words, given_links, link_words, parse_source, shown_cuts
from qsproj.pipelines.bootstrap.checks import check_annotated, check_given, check_other_trees, check_raw
from qsproj.pipelines.bootstrap.estimate import Estimate, expected_seconds
from qsproj.pipelines.bootstrap.model import TAG_READINGS, assemble, parse_examples
from qsproj.pipelines.bootstrap.parser import Source, prior_files, project, train_priors
from qsproj.pipelines.bootstrap.source import train_source
from qsproj.pipelines.bootstrap.tagger import FAR_APART, tag_target, tag_words
from qsproj.pipelines.bootstrap.texts import LINE, SourceText
from qsproj.pipelines.bootstrap.workspace import (
    InputPath,
    Stage,
    StageOutput,
    StageReport,
    StageResult,
    Workspace,
    digest_of,
)
from qsproj.pipelines.projection.projected import DRAWS, SoftProjectionOptions

# Share of the evidence from links added to the prior where the raw text is far from the bitext.
SHARE_OF_FAR_TEXT = 0.75
# Number of sentences suggested for annotation.
SUGGESTED = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class BootstrapOptions:
    """Optional training data and settings of a bootstrap.

    ``also``: treebanks of other languages, which vote on tags and in the prior. ``tagged``, ``annotated``:
    target sentences with UPOS, and with UPOS and trees, CoNLL-U. ``parsed``: gold trees over all or some
    lines of the source sides, CoNLL-U; several files count as one. ``lexicon``: target words with allowed
    tags, or with lemmas. ``lemmatizer``: see :func:`qsproj.corpus.language.lexicon.lexicon_of`. ``text``: raw
    target text, one sentence a line, best with the text to be parsed; with ``paragraphs``, running text to be
    split into sentences. ``learn_text``: whether taggers learn from it; None: see
    :mod:`qsproj.pipelines.tagging.options`. ``unspaced``: the side written without spaces, by default the
    target if its language is; see :func:`qsproj.alignment.aligners.align_words`. ``alignment``: links of each
    bitext, Pharaoh, one line for each pair; the bitext must then be tokenised, with spaces between words.
    ``draws``: see :func:`qsproj.pipelines.projection.priors.train_on_draws`. ``soft``: training of
    the parser.
    """

    also: tuple[str, ...] = ()
    tagged: tuple[str, ...] = ()
    annotated: tuple[str, ...] = ()
    parsed: tuple[str, ...] = ()
    lexicon: str | None = None
    lemmatizer: str | None = None
    text: tuple[str, ...] = ()
    paragraphs: bool = False
    learn_text: bool | None = None
    unspaced: str | None = None
    alignment: tuple[str, ...] = ()
    draws: int | None = None
    soft: SoftProjectionOptions = field(default_factory=SoftProjectionOptions)
    seed: int = 1

    @property
    def files(self) -> tuple[str, ...]:
        named = (*self.also, *self.tagged, *self.annotated, *self.parsed, *self.text, *self.alignment)
        return *named, *filter(None, [self.lexicon])


@dataclass(frozen=True, slots=True, kw_only=True)
class Bootstrapped:
    """Results of a bootstrap, as files of its workspace.

    ``trees``: target sentences of the bitext with the trees that the parser was trained on. ``examples``:
    target sentences parsed by the model, with the probability of each arc. ``suggested``: parsed sentences of
    these or of raw text to annotate next, best first. ``suggested_words``: words for a lexicon, best first,
    see :func:`qsproj.pipelines.bootstrap.suggestions.write_suggested_words`. These three are None unless
    requested. ``corpora``: for each bitext its parsed source, its tagged target, and links.
    """

    model: str
    trees: str
    examples: str | None
    suggested: str | None
    suggested_words: str | None
    corpora: tuple[AlignedFiles, ...]


def bootstrap(
    texts: Sequence[SourceText],
    *,
    workspace: Workspace,
    options: BootstrapOptions | None = None,
    made: Provenance | None = None,
    with_examples: bool = False,
    suggested_sentences: int = SUGGESTED,
    workers: Workers = THIS_PROCESS,
    say: Callable[[str], None] = lambda _: None,
) -> Bootstrapped:
    """Train a model that tokenizes, tags and parses text of the target language.

    ``texts``: source languages, each with treebanks and a bitext; all with the same target language.
    ``workspace``: storage and log of the stages. ``made``: provenance stored in the model file.
    ``with_examples``: parse some of the target text at the end, for a report and for suggestions, with this
    many ``suggested_sentences``. ``workers``: parallelism; does not change results. ``say``: receives the
    number of stages, the start of each, and the remaining time.

    Raises UsageError or DataError when there is nothing to learn from: see each stage.
    """
    options = options or BootstrapOptions()
    for path in options.files:
        # Some files are read in late stages only; report missing ones before the first stage.
        digest_of(path)
    if options.unspaced is not None:
        check_name("side", options.unspaced, SIDES)
    if options.alignment:
        _check_alignment(texts, options)
    check_annotated(
        options.tagged,
        options.annotated,
        options.lexicon,
        options.lemmatizer,
        language=texts[0].languages[1],
    )
    check_other_trees(options.also, options.parsed)
    sizes = [check_given(text, tagged=(*options.tagged, *options.annotated)) for text in texts]
    check_raw(options.text, texts[0])
    given: dict[str, Any] = {
        name: tuple(map(InputPath, getattr(options, name)))
        for name in ("also", "tagged", "annotated", "parsed", "text", "alignment")
    }
    options = replace(
        options, lexicon=None if options.lexicon is None else InputPath(options.lexicon), **given
    )
    bitexts = _declare_bitexts([_given(text) for text in texts], workspace, options, workers)
    declare_parsers = partial(
        _declare_parsers,
        bitexts,
        workspace,
        options,
        made=made or {},
        suggested_sentences=suggested_sentences if with_examples else None,
        workers=workers,
    )
    rest, _ = declare_parsers(workspace.state(bitexts.tagger).report)
    planned = [workspace.state(stage) for stage in (*bitexts.in_order, *rest)]
    estimate = Estimate(planned, expected_seconds(sizes, [stage.name for stage in planned]))
    if not all(stage.kept for stage in planned):
        say(estimate.whole())
    workspace.begun = lambda name: say(estimate.begun(name))
    workspace.ended = estimate.ended
    tagger = _complete_bitexts(bitexts, workspace, options, workers)
    rest, results = declare_parsers(tagger.report)
    for stage in rest:
        workspace.complete(stage)
    return results


def _check_alignment(texts: Sequence[SourceText], options: BootstrapOptions) -> None:
    if len(options.alignment) != len(texts):
        raise UsageError(
            f"found {pluralise(len(options.alignment), 'file')} of links, expected one for each of "
            f"{pluralise(len(texts), 'bitext')}: --alignment"
        )
    if any(text.cut or text.paired_by != LINE for text in texts) or options.parsed:
        raise UsageError(
            "the links of --alignment refer to unchanged lines; leave it out, or leave out --cut, "
            "--paired-by verse and --parsed-source"
        )
    for path in options.alignment:
        try:
            deque(read_alignments(path), maxlen=0)
        except DataError as error:
            raise error.with_remedy("write links i-j that count from 0, as qsproj align does") from error


def _given(text: SourceText) -> SourceText:
    treebanks, bitext = (tuple(map(InputPath, paths)) for paths in (text.treebanks, text.bitext))
    return replace(text, treebanks=treebanks, bitext=bitext)


@dataclass(frozen=True, slots=True)
class _Side:
    """The stages of a bitext before its target side is tagged."""

    words: Stage
    links: Stage
    trees: Stage

    @property
    def files(self) -> AlignedFiles:
        return AlignedFiles(self.trees.file, self.words.files[1], self.links.file)


@dataclass(frozen=True, slots=True)
class _Bitexts:
    """The stages of all bitexts: inputs of the parsers."""

    texts: Sequence[SourceText]
    sources: list[Stage]
    sides: list[_Side]
    tagger: Stage
    tagged: list[Stage]

    @property
    def in_order(self) -> list[Stage]:
        sides = [stage for side in self.sides for stage in (side.words, side.links, side.trees)]
        return [*self.sources, *sides, self.tagger, *self.tagged]

    @property
    def corpora(self) -> list[AlignedFiles]:
        return [
            replace(side.files, target=tagged.file)
            for side, tagged in zip(self.sides, self.tagged, strict=True)
        ]


def _declare_bitexts(
    texts: Sequence[SourceText], workspace: Workspace, options: BootstrapOptions, workers: Workers
) -> _Bitexts:
    declare, seed, language = workspace.declare, options.seed, texts[0].languages[1]
    labels = [f"-{number}" if len(texts) > 1 else "" for number in range(1, len(texts) + 1)]
    sources = [
        declare(train_source, treebanks=text.treebanks, language=text.languages[0], seed=seed, label=label)
        for text, label in zip(texts, labels, strict=True)
    ]
    alignments = options.alignment or [None] * len(texts)
    sides = [
        _declare_side(text, source.file, label, links, workspace, options, workers)
        for text, source, label, links in zip(texts, sources, labels, alignments, strict=True)
    ]
    tagger = declare(
        tag_target,
        corpora=[side.files for side in sides],
        tagged=(*options.tagged, *options.annotated),
        lexicon=options.lexicon,
        lemmatizer=options.lemmatizer,
        text=options.text,
        paragraphs=options.paragraphs,
        learn_text=options.learn_text,
        also=options.also,
        language=language,
        seed=seed,
    )
    tagged = [
        declare(
            tag_words, words=side.words.files[1], tagger=tagger.file, label=label, aside={"workers": workers}
        )
        for side, label in zip(sides, labels, strict=True)
    ]
    return _Bitexts(texts, sources, sides, tagger, tagged)


def _declare_side(
    text: SourceText,
    model: StageOutput,
    label: str,
    alignment: str | None,
    workspace: Workspace,
    options: BootstrapOptions,
    workers: Workers,
) -> _Side:
    """Declare the stages that tokenize a bitext, align its words, and parse the source side."""
    tagged, contractions = shown_cuts((*options.tagged, *options.annotated), text.languages[1])
    at_spaces: dict[str, Any] = {} if alignment is None else {"at_spaces": True}
    words = workspace.declare(
        cut_words,
        text=text,
        model=model,
        tagged=tagged,
        contractions=contractions,
        parsed=options.parsed,
        seed=options.seed,
        label=label,
        aside={"workers": workers},
        **at_spaces,
    )
    sides = {"source": words.files[0], "target": words.files[1]}
    if alignment is None:
        links = workspace.declare(
            link_words,
            **sides,
            unspaced=options.unspaced or ("target" if text.languages[1] in UNSPACED_LANGUAGES else None),
            label=label,
            aside={"name": text.bitext[-1], "workers": workers},
        )
    else:
        links = workspace.declare(
            given_links, **sides, alignment=alignment, label=label, aside={"name": str(alignment)}
        )
    trees = workspace.declare(
        parse_source, words=words.files[0], model=model, label=label, aside={"workers": workers}
    )
    return _Side(words, links, trees)


def _complete_bitexts(
    bitexts: _Bitexts, workspace: Workspace, options: BootstrapOptions, workers: Workers
) -> StageResult:
    """Make the stages of the bitexts; return that of the tagger."""
    workspace.complete(*bitexts.sources, workers=workers)
    parsed = 0.0
    for side in bitexts.sides:
        (words,), _, _ = (workspace.complete(stage) for stage in (side.words, side.links, side.trees))
        parsed += words.report.figures.get("given trees") or 0.0
    if options.parsed and not parsed:
        raise UsageError(
            f"{options.parsed[0]}: found no tree over a source line of the bitext, expected trees over the "
            "same words; check that both are the same edition"
        )
    (tagger,) = workspace.complete(bitexts.tagger)
    for stage in bitexts.tagged:
        workspace.complete(stage)
    return tagger


def _declare_parsers(
    bitexts: _Bitexts,
    workspace: Workspace,
    options: BootstrapOptions,
    tagger: StageReport,
    *,
    made: Provenance,
    suggested_sentences: int | None,
    workers: Workers,
) -> tuple[list[Stage], Bootstrapped]:
    """Declare the stages after the tagger, whose report is one of their inputs."""
    declare, corpora = workspace.declare, bitexts.corpora
    unshared = tagger.figures.get("unshared", ())
    sources = [Source(text.treebanks, pairs) for text, pairs in zip(bitexts.texts, corpora, strict=True)]
    soft = evidence_share(options.soft, tagger.figures.get("unknown", 0.0))
    prior = declare(
        train_priors,
        sources=sources,
        others=options.also,
        unshared=unshared,
        draws=options.draws or DRAWS,
        seed=options.seed,
        files=prior_files(options.also),
    )
    parser = declare(
        project,
        corpora=corpora,
        annotated=options.annotated,
        unshared=unshared,
        tagger=bitexts.tagger.file,
        options=soft,
        priors=prior.files,
        seed=options.seed,
    )
    model = declare(
        assemble,
        tagger=bitexts.tagger.file,
        parser=parser.file,
        made=dict(made),
        readings=TAG_READINGS,
    )
    results = Bootstrapped(
        model=model.file,
        trees=parser.files[1],
        examples=None,
        suggested=None,
        suggested_words=None,
        corpora=tuple(corpora),
    )
    if suggested_sentences is None:
        return [prior, parser, model], results
    last = declare(
        parse_examples,
        corpora=[side.files for side in bitexts.sides],
        text=options.text,
        paragraphs=options.paragraphs,
        tagged=(*options.tagged, *options.annotated),
        language=bitexts.texts[0].languages[1],
        seed=options.seed,
        model=model.file,
        sentences=suggested_sentences,
        aside={"workers": workers},
    )
    examples, suggested, words = last.files
    results = replace(results, examples=examples, suggested=suggested, suggested_words=words)
    return [prior, parser, model, last], results


def evidence_share(soft: SoftProjectionOptions, unknown: float) -> SoftProjectionOptions:
    """Set the default evidence share by ``unknown``, the share of raw words that are not in the bitext.

    Trees of the bitext are less informative for text far from it. On dev files of Estonian, Ukrainian and
    Armenian, from New Testaments, UAS and LAS gain .3 and .4 with gold tags, as much in each language, and
    -.1 and 0 with the model's own.
    """
    if soft.share is not None or unknown <= FAR_APART:
        return soft
    return replace(soft, share=SHARE_OF_FAR_TEXT)
