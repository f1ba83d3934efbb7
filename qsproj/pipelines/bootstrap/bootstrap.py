"""The stages of a bootstrap in their order: from treebank and bitext to one model of the target language."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from functools import partial
from itertools import chain

from qsproj.corpus.pairs.aligned import AlignedFiles
from qsproj.corpus.text import UNSPACED_LANGUAGES
from qsproj.errors import UsageError
from qsproj.models.storage import Made
from qsproj.parallel import THIS_PROCESS, Workers
from qsproj.pipelines.bootstrap import stages
from qsproj.pipelines.bootstrap.texts import SourceText, check_languages, check_sides
from qsproj.pipelines.bootstrap.workspace import Stage, Workspace, digest_of
from qsproj.pipelines.projection.soft_projection import SoftProjectionOptions


@dataclass(frozen=True, slots=True, kw_only=True)
class BootstrapOptions:
    """What else there is to learn from, and how.

    Attributes
    ----------
    also : tuple of str
        Treebanks of any other languages; they vote in the prior.
    tagged : tuple of str
        Target sentences with UPOS, CoNLL-U.
    annotated : tuple of str
        Target sentences with UPOS and trees, CoNLL-U.
    lexicon : str or None
        Target words with the tags they may have.
    unspaced : str or None
        The side that is written without spaces; see :func:`qsproj.alignment.aligners.align_words`.
    soft : SoftProjectionOptions
        How the parser is learned.
    seed : int
    """

    also: tuple[str, ...] = ()
    tagged: tuple[str, ...] = ()
    annotated: tuple[str, ...] = ()
    lexicon: str | None = None
    unspaced: str | None = None
    soft: SoftProjectionOptions = field(default_factory=SoftProjectionOptions)
    seed: int = 1

    @property
    def with_tags(self) -> tuple[str, ...]:
        """The files whose tags are learned from."""
        return *self.tagged, *self.annotated


@dataclass(frozen=True, slots=True, kw_only=True)
class Bootstrapped:
    """What a bootstrap made, as files of its workspace.

    Attributes
    ----------
    model : str
        The model of the target language.
    trees : str
        Target sentences of the bitext with the trees that the parser was trained on.
    examples : str
        Target sentences as the model parses them, with the probability of each arc; None where not asked for.
    corpora : tuple of AlignedFiles
        For each bitext its parsed source, its tagged target, and links.
    """

    model: str
    trees: str
    examples: str | None
    corpora: tuple[AlignedFiles, ...]


def bootstrap(
    texts: Sequence[SourceText],
    *,
    workspace: Workspace,
    options: BootstrapOptions | None = None,
    made: Made | None = None,
    with_examples: bool = False,
    workers: Workers = THIS_PROCESS,
) -> Bootstrapped:
    """Make a model that cuts, tags and parses text of the target language.

    Parameters
    ----------
    texts : sequence of SourceText
        Source languages, each with treebanks and a bitext; all with the same target language.
    workspace : Workspace
        Where stages are kept, and who is told of each.
    made : mapping or None
        What the model's file says of how it was made.
    with_examples : bool
        Whether to parse some of the target text in the end, for a report.
    workers : Workers
        Who parses and tags; the result does not depend on it.

    Raises
    ------
    UsageError, DataError
        When there is nothing to learn from: see each stage.
    """
    options = options or BootstrapOptions()
    for path in (*options.also, *options.with_tags, *filter(None, [options.lexicon])):
        # Read in late stages; that it is missing is to be told before the first.
        digest_of(path)
    job = _Job(workspace, options, workers)
    sides = [job.side(text, f"-{number}" if len(texts) > 1 else "") for number, text in enumerate(texts, 1)]
    tagger = job.target_tagger(sides)
    corpora = [job.corpus(side, tagger) for side in sides]
    priors = job.priors(corpora)
    parser = job.parser(corpora, priors)
    model = job.model(tagger, parser, made or {})
    examples = job.examples(corpora[0], model) if with_examples else None
    return Bootstrapped(
        model=model.path,
        trees=str(parser.paths[1]),
        examples=None if examples is None else examples.path,
        corpora=tuple(corpus.files for corpus in corpora),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Side:
    """What is made of one bitext before the target is tagged."""

    text: SourceText
    label: str
    words: Stage
    trees: Stage
    links: Stage

    @property
    def pairs(self) -> int:
        return int(self.words.told.figures["pairs"])

    def files(self, target: str) -> AlignedFiles:
        """Return the pairs with the target read from a file."""
        return AlignedFiles(self.trees.path, target, self.links.path)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Corpus:
    """A bitext with its target tagged."""

    side: _Side
    tagged: Stage

    @property
    def files(self) -> AlignedFiles:
        return self.side.files(self.tagged.path)

    @property
    def stages(self) -> tuple[Stage, ...]:
        return self.side.trees, self.tagged, self.side.links


@dataclass(frozen=True, slots=True)
class _Job:
    """Makes each stage of those before it."""

    workspace: Workspace
    options: BootstrapOptions
    workers: Workers

    def side(self, text: SourceText, label: str) -> _Side:
        check_sides(text)
        if text.languages[1] in UNSPACED_LANGUAGES and not self.options.with_tags:
            raise UsageError(
                f"text in {text.languages[1]} has no spaces between words; give sentences that show how it "
                "is cut (--tagged or --annotated; the more the better, from a hundred on)"
            )
        check_languages(text)
        source = text.languages[0]
        seed = self.options.seed
        trained = self.workspace.stage(
            "source",
            partial(stages.train_source, treebanks=text.treebanks, language=source, seed=seed),
            made_of=text.treebanks,
            options=[source, seed],
            label=label,
        )
        words = self.workspace.stage(
            "words",
            partial(
                stages.cut_words,
                text=text,
                model=trained.path,
                tagged=self.options.with_tags,
                seed=seed,
            ),
            made_of=(*text.bitext, trained, *self.options.with_tags),
            options=[text.languages, seed],
            suffixes=(".source.conllu", ".target.conllu"),
            label=label,
        )
        pairs = int(words.told.figures["pairs"])
        links = self.workspace.stage(
            "links",
            partial(
                stages.link_words,
                source=str(words.paths[0]),
                target=str(words.paths[1]),
                unspaced=self.options.unspaced,
                name=text.bitext[-1],
                workers=self.workers,
            ),
            made_of=(words,),
            options=self.options.unspaced,
            suffixes=(".pharaoh",),
            label=label,
        )
        trees = self.workspace.stage(
            "trees",
            partial(
                stages.parse_source,
                words=str(words.paths[0]),
                model=trained.path,
                total=pairs,
                workers=self.workers,
            ),
            made_of=(words, trained),
            suffixes=(".conllu",),
            label=label,
        )
        return _Side(text=text, label=label, words=words, trees=trees, links=links)

    def target_tagger(self, sides: Sequence[_Side]) -> Stage:
        """Learn to tag the target from what all sources' links carry over."""
        options, language = self.options, sides[0].text.languages[1]
        corpora = [side.files(str(side.words.paths[1])) for side in sides]
        return self.workspace.stage(
            "tagger",
            partial(
                stages.tag_target,
                corpora=corpora,
                tagged=options.with_tags,
                lexicon=options.lexicon,
                language=language,
                seed=options.seed,
            ),
            made_of=(
                *chain.from_iterable((side.words, side.trees, side.links) for side in sides),
                *options.with_tags,
                *(() if options.lexicon is None else (options.lexicon,)),
            ),
            options=[language, options.seed],
        )

    def corpus(self, side: _Side, tagger: Stage) -> _Corpus:
        """Tag the target side of a bitext."""
        tagged = self.workspace.stage(
            "tagged",
            partial(
                stages.tag_words,
                words=str(side.words.paths[1]),
                tagger=tagger.path,
                total=side.pairs,
                workers=self.workers,
            ),
            made_of=(side.words, tagger),
            suffixes=(".conllu",),
            label=side.label,
        )
        return _Corpus(side=side, tagged=tagged)

    def priors(self, corpora: Sequence[_Corpus]) -> Stage:
        """Train parsers of tags alone on the sources' and other treebanks."""
        options = self.options
        sources = tuple(chain.from_iterable(corpus.side.text.treebanks for corpus in corpora))
        tagged = tuple(corpus.tagged for corpus in corpora)
        return self.workspace.stage(
            "prior",
            partial(
                stages.train_priors,
                sources=sources,
                others=options.also,
                target=[stage.path for stage in tagged],
                seed=options.seed,
            ),
            made_of=(*sources, *options.also, *tagged),
            options=options.seed,
            suffixes=[f".{number}.model" for number in range(1, stages.prior_count(options.also) + 1)],
        )

    def parser(self, corpora: Sequence[_Corpus], priors: Stage) -> Stage:
        """Project the sources' trees onto the target, and train a parser on that."""
        options = self.options
        return self.workspace.stage(
            "parser",
            partial(
                stages.project,
                corpora=[corpus.files for corpus in corpora],
                priors=[str(path) for path in priors.paths],
                annotated=options.annotated,
                options=options.soft,
                seed=options.seed,
            ),
            made_of=(
                *chain.from_iterable(corpus.stages for corpus in corpora),
                priors,
                *options.annotated,
            ),
            options=[asdict(options.soft), options.seed],
            suffixes=(".model", ".trees.conllu"),
        )

    def model(self, tagger: Stage, parser: Stage, made: Made) -> Stage:
        """Put tokeniser, tagger and parser into one file."""
        return self.workspace.stage(
            "model",
            partial(stages.assemble, tagger=tagger.path, parser=parser.path, made=made),
            made_of=(tagger, parser),
            options=dict(made),
        )

    def examples(self, corpus: _Corpus, model: Stage) -> Stage:
        """Parse some of the text by the model."""
        return self.workspace.stage(
            "examples",
            partial(
                stages.parse_examples,
                words=str(corpus.side.words.paths[1]),
                model=model.path,
                workers=self.workers,
            ),
            made_of=(corpus.side.words, model),
            suffixes=(".conllu",),
        )
