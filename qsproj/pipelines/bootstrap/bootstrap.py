"""Run the stages of a bootstrap in order: from treebank and bitext to one model of the target language."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from qsproj.corpus.pairs.aligned import AlignedFiles
from qsproj.corpus.text import UNSPACED_LANGUAGES
from qsproj.errors import UsageError, pluralise
from qsproj.models.storage import Provenance
from qsproj.parallel import THIS_PROCESS, Workers
from qsproj.pipelines.bootstrap import stages
from qsproj.pipelines.bootstrap.checks import Estimate, check_given, check_raw, expected_seconds
from qsproj.pipelines.bootstrap.texts import LINE, SourceText
from qsproj.pipelines.bootstrap.workspace import InputPath, Workspace, digest_of
from qsproj.pipelines.projection.projected import SoftProjectionOptions

# Share of the evidence from links added to the prior where the raw text is far from the bitext.
SHARE_OF_FAR_TEXT = 0.75
# Below LITTLE pairs the model's parser is the mean of DRAWS parsers, because each trains quickly. Gain over a
# single one: docs/results/testament.md.
LITTLE = 20_000
DRAWS = 3
# Number of sentences suggested for annotation.
SUGGESTED = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class BootstrapOptions:
    """Optional training data and settings of a bootstrap.

    ``also``: treebanks of other languages, which vote in the prior. ``tagged``, ``annotated``: target
    sentences with UPOS, and with UPOS and trees, CoNLL-U. ``parsed``: gold trees over all or some lines of
    the source sides, CoNLL-U. ``lexicon``: target words with allowed tags, or with lemmas. ``lemmatizer``:
    see :func:`qsproj.corpus.language.lemmas.lexicon_of`. ``text``: raw target text, one sentence a line, best
    with the text to be parsed; with ``paragraphs``, running text to be split into sentences. ``unspaced``:
    the side written without spaces, by default the target if its language is; see
    :func:`qsproj.alignment.aligners.align_words`. ``alignment``: links of each bitext, Pharaoh, one line for
    each pair; the bitext must then be tokenised, with spaces between words. ``draws``: number of averaged
    parsers; None: DRAWS below LITTLE pairs, else one. ``soft``: training of each parser.
    """

    also: tuple[str, ...] = ()
    tagged: tuple[str, ...] = ()
    annotated: tuple[str, ...] = ()
    parsed: tuple[str, ...] = ()
    lexicon: str | None = None
    lemmatizer: str | None = None
    text: tuple[str, ...] = ()
    paragraphs: bool = False
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

    ``trees``: target sentences of the bitext with the trees that the parser, or the first of several, was
    trained on. ``examples``: target sentences parsed by the model, with the probability of each arc.
    ``suggested``: parsed sentences of these or of raw text to annotate next, best first. ``suggested_words``:
    words for a lexicon, best first, see
    :func:`qsproj.pipelines.bootstrap.suggestions.write_suggested_words`. These three are None unless
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
    if options.alignment:
        _check_alignment(texts, options)
    sizes = [check_given(text, tagged=(*options.tagged, *options.annotated)) for text in texts]
    check_raw(options.text, texts[0])
    given: dict[str, Any] = {
        name: tuple(map(InputPath, getattr(options, name)))
        for name in ("also", "tagged", "annotated", "parsed", "text", "alignment")
    }
    run = partial(
        _run,
        [_given(text) for text in texts],
        workspace,
        replace(options, lexicon=None if options.lexicon is None else InputPath(options.lexicon), **given),
        draws=options.draws or (DRAWS if sum(size.pairs for size in sizes) < LITTLE else 1),
        made=made or {},
        with_examples=with_examples,
        suggested_sentences=suggested_sentences,
        workers=workers,
    )
    planned = workspace.plan(run)
    estimate = Estimate(planned, expected_seconds(sizes, [stage.name for stage in planned]))
    if not all(stage.kept for stage in planned):
        say(estimate.whole())
    workspace.begun = lambda name: say(estimate.begun(name))
    workspace.ended = estimate.ended
    return run()


def _check_alignment(texts: Sequence[SourceText], options: BootstrapOptions) -> None:
    if len(options.alignment) != len(texts):
        raise UsageError(
            f"found {pluralise(len(options.alignment), 'file')} of links, expected one for each of "
            f"{pluralise(len(texts), 'bitext')}: --alignment"
        )
    if any(text.cut or text.paired_by != LINE for text in texts) or options.parsed:
        raise UsageError(
            "links of a file are of lines as they are; leave out --alignment, or --cut, --paired-by verse "
            "and --parsed-source"
        )


def _given(text: SourceText) -> SourceText:
    treebanks, bitext = (tuple(map(InputPath, paths)) for paths in (text.treebanks, text.bitext))
    return replace(text.decided(), treebanks=treebanks, bitext=bitext)


def _run(
    texts: Sequence[SourceText],
    workspace: Workspace,
    options: BootstrapOptions,
    *,
    draws: int,
    made: Provenance,
    with_examples: bool,
    suggested_sentences: int,
    workers: Workers,
) -> Bootstrapped:
    """Request each stage from the workspace; its key covers all arguments except ``aside``."""
    seed, language = options.seed, texts[0].languages[1]
    tagged = (*options.tagged, *options.annotated)
    labels = [f"-{number}" if len(texts) > 1 else "" for number in range(1, len(texts) + 1)]
    models = workspace.stages_at_once(
        stages.SOURCE,
        [{"treebanks": text.treebanks, "language": text.languages[0], "seed": seed} for text in texts],
        labels=labels,
        workers=workers,
    )
    sides = [
        _side(text, source.file, label, links, workspace, options, workers)
        for text, source, label, links in zip(
            texts, models, labels, options.alignment or [None] * len(texts), strict=True
        )
    ]
    if options.parsed and all(side.given == 0 for side in sides):
        raise UsageError(
            f"{options.parsed[0]}: found no tree over a source line of the bitext, expected trees over its "
            "very words; check that it is the same edition"
        )
    tagger = workspace.stage(
        stages.TAGGER,
        corpora=[replace(side.files, target=side.words) for side in sides],
        tagged=tagged,
        lexicon=options.lexicon,
        lemmatizer=options.lemmatizer,
        text=options.text,
        paragraphs=options.paragraphs,
        language=language,
        seed=seed,
    )
    corpora = []
    for side, label in zip(sides, labels, strict=True):
        done = workspace.stage(
            stages.TAGGED,
            words=side.words,
            tagger=tagger.file,
            label=label,
            aside={"total": side.pairs, "workers": workers},
        )
        corpora.append(replace(side.files, target=done.file))
    unshared = tagger.told.figures.get("unshared", ())
    seeds = stages.seeds_of(seed, draws)
    of_draws = [f", {draw} of {draws}" if draws > 1 else "" for draw in range(1, draws + 1)]
    sources = [stages.Source(text.treebanks, pairs) for text, pairs in zip(texts, corpora, strict=True)]
    drawn = {"sources": sources, "others": options.also, "unshared": unshared}
    priors = workspace.stages_at_once(
        stages.PRIOR,
        [{**drawn, "seed": drawn_by} for drawn_by in seeds],
        labels=of_draws,
        workers=workers,
        files=stages.prior_files(options.also),
    )
    learned = {
        "corpora": corpora,
        "annotated": options.annotated,
        "unshared": unshared,
        "tagger": tagger.file,
        "options": evidence_share(options.soft, tagger.told.figures.get("unknown", 0.0)),
    }
    parsers = workspace.stages_at_once(
        stages.PARSER,
        [
            {**learned, "priors": prior.files, "seed": drawn_by}
            for prior, drawn_by in zip(priors, seeds, strict=True)
        ],
        labels=of_draws,
        workers=workers,
    )
    model = workspace.stage(
        stages.MODEL,
        tagger=tagger.file,
        parsers=[parser.file for parser in parsers],
        made=dict(made),
        readings=stages.TAG_READINGS,
    )
    examples = suggested = words = None
    if with_examples:
        examples, suggested, words = workspace.stage(
            stages.EXAMPLES,
            corpora=[replace(side.files, target=side.words) for side in sides],
            text=options.text,
            paragraphs=options.paragraphs,
            tagged=tagged,
            language=language,
            seed=seed,
            model=model.file,
            sentences=suggested_sentences,
            aside={"workers": workers},
        ).files
    return Bootstrapped(
        model=model.file,
        trees=parsers[0].files[1],
        examples=examples,
        suggested=suggested,
        suggested_words=words,
        corpora=tuple(corpora),
    )


def evidence_share(soft: SoftProjectionOptions, unknown: float) -> SoftProjectionOptions:
    """Set the default evidence share by ``unknown``, the share of raw words that are not in the bitext.

    Trees of the bitext are less informative for text far from it. On dev files of two languages, from New
    Testaments of one and of two sources, mean UAS and LAS are equal with three quarters and with all
    evidence: better in Ukrainian, worse in Armenian. Probabilities are better calibrated.
    """
    if soft.share is not None or unknown <= stages.FAR_APART:
        return soft
    return replace(soft, share=SHARE_OF_FAR_TEXT)


@dataclass(frozen=True, slots=True)
class _Side:
    """Files of a bitext before its target, ``words``, is tagged; ``given``: source lines with gold trees."""

    files: AlignedFiles
    words: str
    pairs: int
    given: float | None


def _side(
    text: SourceText,
    model: str,
    label: str,
    alignment: str | None,
    workspace: Workspace,
    options: BootstrapOptions,
    workers: Workers,
) -> _Side:
    """Tokenize a bitext, align its words, and parse the source side."""
    tagged, contractions = stages.shown_cuts((*options.tagged, *options.annotated), text.languages[1])
    at_spaces: dict[str, Any] = {} if alignment is None else {"at_spaces": True}
    words = workspace.stage(
        stages.WORDS,
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
        links = workspace.stage(
            stages.LINKS,
            **sides,
            unspaced=options.unspaced or ("target" if text.languages[1] in UNSPACED_LANGUAGES else None),
            label=label,
            aside={"name": text.bitext[-1], "workers": workers},
        )
    else:
        links = workspace.stage(
            stages.GIVEN_LINKS, **sides, alignment=alignment, label=label, aside={"name": str(alignment)}
        )
    pairs = int(words.told.figures.get("pairs", 0))
    trees = workspace.stage(
        stages.TREES,
        words=words.files[0],
        model=model,
        label=label,
        aside={"total": pairs, "workers": workers},
    )
    files = AlignedFiles(trees.file, words.files[1], links.file)
    return _Side(files, words.files[1], pairs, words.told.figures.get("given trees"))
