"""The steps of a bootstrap: each names its stage and all that this is made of."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from functools import partial
from itertools import chain

from qsproj.corpus.pairs.aligned import AlignedFiles
from qsproj.models.storage import Made
from qsproj.parallel import Workers
from qsproj.pipelines.bootstrap import stages
from qsproj.pipelines.bootstrap.linking import link_words
from qsproj.pipelines.bootstrap.texts import SourceText
from qsproj.pipelines.bootstrap.workspace import Stage, Workspace
from qsproj.pipelines.projection.method_options import SoftProjectionOptions


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
    translated : bool
        Whether the source's own part of the prior reads words, translated by the links; else tags alone.
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
    translated: bool = True
    unspaced: str | None = None
    soft: SoftProjectionOptions = field(default_factory=SoftProjectionOptions)
    seed: int = 1

    @property
    def with_tags(self) -> tuple[str, ...]:
        """The files whose tags are learned from."""
        return *self.tagged, *self.annotated


@dataclass(frozen=True, slots=True, kw_only=True)
class Side:
    """What is made of one bitext before the target is tagged."""

    text: SourceText
    label: str
    words: Stage
    trees: Stage
    links: Stage

    @property
    def pairs(self) -> int:
        """How many sentence pairs there are."""
        return int(self.words.told.figures["pairs"])

    def files(self, target: str) -> AlignedFiles:
        """Return the pairs with the target read from a file."""
        return AlignedFiles(self.trees.path, target, self.links.path)


@dataclass(frozen=True, slots=True, kw_only=True)
class Corpus:
    """A bitext with its target tagged."""

    side: Side
    tagged: Stage

    @property
    def files(self) -> AlignedFiles:
        """The pairs, read from files."""
        return self.side.files(self.tagged.path)

    @property
    def stages(self) -> tuple[Stage, ...]:
        """All that the files are made of."""
        return self.side.trees, self.tagged, self.side.links


@dataclass(frozen=True, slots=True)
class Steps:
    """Makes each stage of those before it."""

    workspace: Workspace
    options: BootstrapOptions
    workers: Workers

    def side(self, text: SourceText, label: str) -> Side:
        """Train what reads the source, cut the bitext into words, link these, parse the source side.

        Raises
        ------
        UsageError, DataError
            When the text cannot be learned from.
        """
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
                workers=self.workers,
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
                link_words,
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
        return Side(text=text, label=label, words=words, trees=trees, links=links)

    def target_tagger(self, sides: Sequence[Side]) -> Stage:
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

    def corpus(self, side: Side, tagger: Stage) -> Corpus:
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
        return Corpus(side=side, tagged=tagged)

    def priors(self, corpora: Sequence[Corpus]) -> Stage:
        """Train parsers on the sources' treebanks, their words translated, and on others by tags alone."""
        options = self.options
        sources = [stages.Source(corpus.side.text.treebanks, corpus.files) for corpus in corpora]
        treebanks = tuple(chain.from_iterable(source.treebanks for source in sources))
        stages_of_pairs = chain.from_iterable(corpus.stages for corpus in corpora)
        return self.workspace.stage(
            "prior",
            partial(
                stages.train_priors,
                sources=sources,
                others=options.also,
                translated=options.translated,
                seed=options.seed,
            ),
            made_of=(*treebanks, *options.also, *stages_of_pairs),
            options=[options.translated, options.seed],
            suffixes=[
                f".{number}.model"
                for number in range(1, stages.prior_count(options.also, translated=options.translated) + 1)
            ],
        )

    def parser(self, corpora: Sequence[Corpus], priors: Stage) -> Stage:
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
            options=[dict(made), stages.TAG_READINGS],
        )

    def examples(self, corpus: Corpus, model: Stage) -> Stage:
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
