"""Run the stages of a bootstrap in order: from treebank and bitext to one model of the target language."""

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import chain
from typing import Any

from qsproj.alignment.unspaced import SIDES
from qsproj.corpus.conllu import read_conllu
from qsproj.corpus.contractions import Contractions
from qsproj.corpus.files import digest_of
from qsproj.corpus.formats import read_alignments
from qsproj.corpus.language.lexicon import lexicon_of
from qsproj.corpus.pairs.aligned import AlignedFiles
from qsproj.corpus.sentence import Sentence
from qsproj.corpus.text import UNSPACED_LANGUAGES
from qsproj.errors import DataError, UsageError, check_name, pluralise
from qsproj.models.parser import BLOCK, load_tags
from qsproj.models.storage import Provenance
from qsproj.parallel import THIS_PROCESS, Workers, blocks_of
from qsproj.pipelines.bootstrap.bitext import cut_words, given_links, link_words, parse_source, shown_cuts
from qsproj.pipelines.bootstrap.checks import check_annotated, check_given, check_other_trees, check_raw
from qsproj.pipelines.bootstrap.estimate import Estimate, expected_seconds
from qsproj.pipelines.bootstrap.model import TAG_READINGS, assemble, learn_trees, parse_examples
from qsproj.pipelines.bootstrap.parser import PairsRead, Source, prior_files, project, train_priors
from qsproj.pipelines.bootstrap.source import train_source
from qsproj.pipelines.bootstrap.tagger import tag_target, tag_words
from qsproj.pipelines.bootstrap.texts import LINE, SourceText
from qsproj.pipelines.bootstrap.workspace import InputPath, Stage, StageOutput, StageReport, Workspace
from qsproj.pipelines.projection.projected import DRAWS, SoftProjectionOptions

# Number of sentences suggested for annotation.
SUGGESTED = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class BootstrapOptions:
    """Optional training data and settings of a bootstrap.

    ``also``: treebanks of other languages, which vote on tags and in the prior; those of several sources vote
    on tags as well. ``tagged``, ``annotated``:
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


@dataclass(frozen=True, slots=True)
class Bootstrapped:
    """Results of a bootstrap, as files of its workspace.

    ``base``: the model before its parser learned annotated trees, if these are given; else the same.
    ``trees``: target sentences of the bitext with the trees that the parser was trained on. ``corpora``: for
    each bitext its parsed source, its tagged target, and links. None unless requested: ``examples``, target
    sentences parsed by the model, with the probability of each arc; ``suggested``, sentences of these or of
    raw text to annotate next, and ``suggested_words`` for a lexicon, see
    :func:`qsproj.pipelines.bootstrap.suggestions.write_words`; both best first.
    """

    model: str
    base: str
    trees: str
    corpora: tuple[AlignedFiles, ...]
    examples: str | None = None
    suggested: str | None = None
    suggested_words: str | None = None

    def described_trees(self) -> Iterator[Sentence]:
        """Yield the training trees, with the lemmas and features that ``base`` gives their words."""
        describe = partial(load_tags(self.base).with_morphology, anew=True)
        return chain.from_iterable(map(describe, blocks_of(read_conllu(self.trees), BLOCK)))


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
    language = texts[0].languages[1]
    check_annotated(options.tagged, options.annotated)
    lexicon_of(options.lexicon, options.lemmatizer, language)
    check_other_trees(options.also, options.parsed)
    checked = [check_given(text, tagged=(*options.tagged, *options.annotated)) for text in texts]
    check_raw(options.text, texts[0])
    lists = ("also", "tagged", "annotated", "parsed", "text", "alignment")
    given: dict[str, Any] = {name: tuple(map(InputPath, getattr(options, name))) for name in lists}
    lexicon = None if options.lexicon is None else InputPath(options.lexicon)
    options = replace(options, lexicon=lexicon, **given)
    bitexts = _Bitexts(texts, [apart for _, apart in checked], workspace, options, workers)
    sentences = suggested_sentences if with_examples else None
    rest, _ = bitexts.parsers(workspace.state(bitexts.tagger).report, made or {}, sentences)
    before = [*bitexts.sources, *chain(*bitexts.sides), bitexts.tagger, *bitexts.tagged]
    planned = [workspace.state(stage) for stage in (*before, *rest)]
    estimate = Estimate(
        planned, expected_seconds([sizes for sizes, _ in checked], [stage.name for stage in planned])
    )
    if not all(stage.kept for stage in planned):
        say(estimate.whole())
    workspace.begun = lambda name: say(estimate.begun(name))
    workspace.ended = estimate.ended
    workspace.complete(*bitexts.sources, workers=workers)
    completed = [workspace.complete(stage)[0] for stage in chain(*bitexts.sides)]
    if options.parsed and not any(stage.report.figures.get("given trees") for stage in completed):
        expected = "expected trees over the same words; check that both are the same edition"
        raise UsageError(f"{options.parsed[0]}: found no tree over a source line of the bitext, {expected}")
    (tagger,) = workspace.complete(bitexts.tagger)
    rest, results = bitexts.parsers(tagger.report, made or {}, sentences)
    for stage in (*bitexts.tagged, *rest):
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


class _Bitexts:
    """The stages of all bitexts, as declared, up to the tagged target sides. Final.

    ``apart``: of each text the tokens of the source side that its treebank divides. ``sides``: of each bitext
    the stages of words, links and source trees. ``untagged``, ``corpora``: its files before and after the
    target side is tagged.
    """

    def __init__(
        self,
        texts: Sequence[SourceText],
        apart: Sequence[Contractions],
        workspace: Workspace,
        options: BootstrapOptions,
        workers: Workers,
    ) -> None:
        self._declare, self._options, self._aside = workspace.declare, options, {"workers": workers}
        self._language, self._tagged = texts[0].languages[1], (*options.tagged, *options.annotated)
        self._treebanks = [tuple(map(InputPath, text.treebanks)) for text in texts]
        labels = [f"-{number}" if len(texts) > 1 else "" for number in range(1, len(texts) + 1)]
        self.sources, self.sides = list[Stage](), list[tuple[Stage, Stage, Stage]]()
        self._attached, self._read = dict[str, tuple[str, ...]](), PairsRead()
        alignments = options.alignment or [None] * len(texts)
        raw = () if options.alignment else options.text
        shown = shown_cuts(self._tagged, self._language, raw=raw, texts=texts)
        rows = zip(texts, apart, shown, self._treebanks, alignments, labels, strict=True)
        for text, divided, cuts, treebanks, links, label in rows:
            language = text.languages[0]
            source = self._declare(
                train_source, treebanks=treebanks, language=language, seed=options.seed, label=label
            )
            given = replace(text, treebanks=treebanks, bitext=tuple(map(InputPath, text.bitext)))
            self.sources.append(source)
            self.sides.append(self._side(given, divided, cuts, source.file, links, label))
        self.untagged = [
            AlignedFiles(trees.file, words.files[1], links.file) for words, links, trees in self.sides
        ]
        self.tagger = self._declare(
            tag_target,
            corpora=self.untagged,
            tagged=self._tagged,
            # One source is rarely a relative, and training on its trees takes time.
            treebanks=self._treebanks if len(texts) > 1 else (),
            also=options.also,
            language=self._language,
            attached=self._attached,
            **self._of("lexicon", "lemmatizer", "text", "paragraphs", "learn_text", "seed"),
        )
        how: Any = {"tagger": self.tagger.file, "aside": self._aside}
        files = list(zip(self.untagged, labels, strict=True))
        self.tagged = [self._declare(tag_words, words=one.target, label=label, **how) for one, label in files]
        both = zip(self.untagged, self.tagged, strict=True)
        self.corpora = tuple(replace(one, target=tagged.file) for one, tagged in both)

    def _of(self, *names: str) -> dict[str, Any]:
        return {name: getattr(self._options, name) for name in names}

    def _side(
        self,
        text: SourceText,
        apart: Contractions,
        shown: dict[str, Any],
        model: StageOutput,
        alignment: str | None,
        label: str,
    ) -> tuple[Stage, Stage, Stage]:
        """Declare the stages that tokenize a bitext, align its words, and parse the source side."""
        cuts = shown | self._of("parsed", "seed")
        self._attached |= cuts.get("attached", {})
        if alignment is not None:
            cuts["at_spaces"] = True
        elif apart:
            cuts["apart"] = apart
        words = self._declare(cut_words, text=text, model=model, label=label, aside=self._aside, **cuts)
        sides = {"source": words.files[0], "target": words.files[1], "label": label}
        if alignment is None:
            unspaced = "target" if self._language in UNSPACED_LANGUAGES else None
            aside = {"name": text.bitext[-1], **self._aside}
            unspaced = self._options.unspaced or unspaced
            links = self._declare(link_words, **sides, unspaced=unspaced, aside=aside)
        else:
            links = self._declare(given_links, **sides, alignment=alignment, aside={"name": str(alignment)})
        trees = self._declare(parse_source, words=words.files[0], model=model, label=label, aside=self._aside)
        return words, links, trees

    def parsers(
        self, tagger: StageReport, made: Provenance, suggested_sentences: int | None
    ) -> tuple[list[Stage], Bootstrapped]:
        """Declare the stages after the tagger, whose report is one of their inputs."""
        declare, options = self._declare, self._options
        unshared = tagger.figures.get("unshared", {})
        how: Any = {"unshared": unshared, "seed": options.seed, "aside": {"read": self._read}}
        prior = declare(
            train_priors,
            sources=[Source(*one) for one in zip(self._treebanks, self.corpora, strict=True)],
            others=options.also,
            draws=options.draws or DRAWS,
            files=prior_files(options.also),
            **how,
        )
        how |= {"priors": prior.files, "corpora": list(self.corpora)}
        parser = declare(project, options=options.soft, **how)
        model = declare(
            assemble, tagger=self.tagger.file, parser=parser.file, made=dict(made), readings=TAG_READINGS
        )
        stages, base = [prior, parser, model], model.file
        if options.annotated:
            how = self._of("annotated", "seed")
            model = declare(learn_trees, model=base, corpora=list(self.corpora), made=dict(made), **how)
            stages.append(model)
        examples: tuple[str, ...] = ()
        if suggested_sentences is not None:
            answered = self._of("lexicon") if options.lexicon else {}
            last = declare(
                parse_examples,
                corpora=self.untagged,
                model=model.file,
                tagged=self._tagged,
                sentences=suggested_sentences,
                aside=self._aside,
                **self._of("text", "paragraphs"),
                **answered,
            )
            stages, examples = [*stages, last], last.files
        return stages, Bootstrapped(model.file, base, parser.files[1], self.corpora, *examples)
