"""The stages of a bootstrap, in the order of a run: functions that write files."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain, islice
from pathlib import Path
from typing import Any

import numpy as np

from qsproj.alignment.aligners import align_words
from qsproj.corpus.alignments import write_alignments
from qsproj.corpus.conllu import conllu_kept, read_conllu, write_conllu
from qsproj.corpus.contractions import Contractions, known_contractions
from qsproj.corpus.files import open_text
from qsproj.corpus.formats import count_sentences, read_alignments, read_all
from qsproj.corpus.language.lexicon import lexicon_of
from qsproj.corpus.pairs.aligned import AlignedFiles
from qsproj.corpus.pairs.pairing import pair_files
from qsproj.corpus.pairs.translations import join_same_targets
from qsproj.corpus.sentence import Alignment, Sentence, has_tree, make_alignment
from qsproj.corpus.text import UNSPACED_LANGUAGES
from qsproj.errors import DataError, pluralise
from qsproj.evaluation.calibration import stated_confidences
from qsproj.models.arc.arc_training import train_arc_parser
from qsproj.models.arc.training_options import TrainingOptions
from qsproj.models.morphology import morphology_training
from qsproj.models.parser import load_parser, load_tags
from qsproj.models.storage import Provenance
from qsproj.models.tagging.tagger import UPOS_COLUMN
from qsproj.models.tagging.tagger_training import TaggerOptions, train_tagger
from qsproj.models.text.text_parser import load_text_parser, text_parser
from qsproj.parallel import Workers
from qsproj.pipelines.bootstrap import suggestions, texts
from qsproj.pipelines.bootstrap.answers import given_answers, learn_answers, text_to_parse
from qsproj.pipelines.bootstrap.attached_words import attached_words
from qsproj.pipelines.bootstrap.checks import LinkCounts, check_translations
from qsproj.pipelines.bootstrap.texts import Cut, SourceText
from qsproj.pipelines.bootstrap.workspace import StageReport, stage
from qsproj.pipelines.projection.priors import load_prior, source_priors
from qsproj.pipelines.projection.projected import SoftProjectionOptions
from qsproj.pipelines.projection.soft_projection import about_annotated, project_soft
from qsproj.pipelines.streams import parse_stream, tag_stream
from qsproj.pipelines.tagging import target_words
from qsproj.pipelines.tagging.conventions import Annotation, Conventional
from qsproj.pipelines.tagging.options import TagProjectionOptions
from qsproj.pipelines.tagging.tags_through_links import project_tags
from qsproj.pipelines.treebank_weights import read_treebanks
from qsproj.progress import notice, track

# Options of the source models. With 4 passes for tags, Wolof words had 1.4 UPOS less (one seed).
TAGS_OF_SOURCE = TaggerOptions(epochs=6)
ARCS_OF_SOURCE = TrainingOptions(template_set="words", epochs=6)
LABEL_EPOCHS_OF_SOURCE = 3
FEATURES_OF_SOURCE = morphology_training.MorphologyOptions(epochs=3)


@stage("source", version=11)
def train_source(paths: Sequence[Path], *, treebanks: Sequence[str], language: str, seed: int) -> StageReport:
    """Train tagger and parser of the source, with features if the treebank has them, to be projected.

    Raises UsageError or DataError when a treebank cannot be read, or has no trees or tags.
    """
    sentences = list(read_all(treebanks))
    rng = np.random.default_rng(seed)
    tagger = train_tagger(sentences, rng=rng, language=language, options=TAGS_OF_SOURCE)
    parser, report = train_arc_parser(
        sentences, rng=rng, options=ARCS_OF_SOURCE, label_epochs=LABEL_EPOCHS_OF_SOURCE
    )
    if "feats" in morphology_training.columns_shown(sentences):
        # Separate generator: features must not change tags and trees.
        features = morphology_training.train_morphology(
            sentences, rng=np.random.default_rng(seed), columns=["feats"], options=FEATURES_OF_SOURCE
        )
        tagger = replace(tagger, morphology=features)
    text_parser(tagger, parser).save(paths[0])
    words = sum(map(len, sentences))
    trained = f"trained on {pluralise(len(sentences), 'sentence')}, {pluralise(words, 'word')}"
    figures = {"sentences": len(sentences), "words": words}
    return StageReport(line=f"{trained}; {report.summary(parser.inference)}", figures=figures)


# Minimum probability of a link; most links below it are wrong. The rest are weighted by probability.
LEAST_LINK = 0.15


def shown_cuts(
    tagged: Sequence[str], language: str, *, raw: Sequence[str], text: SourceText
) -> dict[str, Any]:
    """Return arguments of :func:`cut_words`: the files to learn a tokenizer from, or what raw text divides.

    A few more tagged sentences rarely change them, so that kept words, links and source trees stay valid.
    """
    sentences = list(read_all(tagged))
    if target_words.learns_to_cut(sentences, language):
        return {"tagged": tagged, "contractions": {}}
    contractions = known_contractions(language, sentences)
    shown: dict[str, Any] = {"tagged": (), "contractions": contractions}
    if not raw or language in UNSPACED_LANGUAGES:
        return shown
    with ExitStack() as files:
        lines = chain.from_iterable(files.enter_context(open_text(path)) for path in raw)
        bitext = (target for _, target in text.pairs())
        found, too_short = attached_words(lines, bitext, language=language)
    if too_short:
        notice(f"{', '.join(map(str, raw))}: {_too_few(too_short)}")
    attached = {token: found[token] for token in found if token not in contractions}
    return shown | ({"attached": attached} if attached else {"too_short": too_short} if too_short else {})


def _too_few(words: int) -> str:
    return f"{words:,} words of raw text are too few to divide the tokens of the bitext alike; give more"


def _cut_at_spaces(line: str) -> Sentence | None:
    return Sentence.from_words(words) if (words := line.split()) else None


def _cut_line(read: Callable[[Iterable[str]], Iterator[Sentence]], line: str) -> Sentence | None:
    return next(read([line]), None)


@stage("words", version=7, files=(".source.conllu", ".target.conllu"))
def cut_words(
    paths: Sequence[Path],
    *,
    text: SourceText,
    model: str,
    tagged: Sequence[str],
    contractions: Contractions,
    parsed: Sequence[str],
    seed: int,
    workers: Workers,
    at_spaces: bool = False,
    attached: Contractions | None = None,
    too_short: int = 0,
) -> StageReport:
    """Tokenize both sides of a bitext: the source as its treebank, the target by rules or a tokenizer.

    ``at_spaces``: both are tokenised already, because the links of a file count words. Source lines covered
    by ``parsed`` sentences take over words and trees. Others: see :func:`shown_cuts`.
    """
    source = load_text_parser(model)
    language = text.languages[1]
    tokenizer = target_words.target_tokenizer(list(read_all(tagged)), language=language, seed=seed)
    divided = {**contractions, **(attached or {})}
    target = target_words.target_reader(tokenizer, divided, language=language, name=text.bitext[-1])
    cut: tuple[Cut, Cut] = (_cut_at_spaces, _cut_at_spaces)
    if not at_spaces:
        cut = partial(_cut_line, source.tagger.reader(split_contractions=True)), partial(_cut_line, target)
    report = texts.write_words(paths, text, cut=cut, trees=read_all(parsed), workers=workers)
    remark = f"; {pluralise(len(attached or ()), 'kind')} of target tokens divided like words of the raw text"
    if too_short:
        remark = f"; {_too_few(too_short)}"
    return replace(report, line=f"{report.line}{remark}") if attached or too_short else report


@stage("links", version=4, files=(".pharaoh",))
def link_words(
    paths: Sequence[Path], *, source: str, target: str, unspaced: str | None, name: str, workers: Workers
) -> StageReport:
    """Align the words of two files of CoNLL-U, with link probabilities, after :func:`check_translations`."""
    check_translations(source, target, name=name)
    counts = LinkCounts()
    pairs = ((one.forms, other.forms) for one, other in pair_files(source, target))
    alignments = align_words(pairs, threshold=LEAST_LINK, unspaced=unspaced, workers=workers)
    write_alignments(counts.counted(alignments), paths[0], with_weights=True)
    return counts.report(f"{counts.a_word:.2f} links a word are expected")


@stage("links", version=1, files=(".pharaoh",))
def given_links(paths: Sequence[Path], *, source: str, target: str, alignment: str, name: str) -> StageReport:
    """Use the links of a file, one line for each pair of the bitext, for the words of two CoNLL-U files.

    ``name``: the file of links in messages.
    """
    lines = list(read_alignments(alignment))
    counts = LinkCounts()

    def of_pairs() -> Iterator[Alignment]:
        for one, other in pair_files(source, target):
            number = int(one.sent_id or 0)
            if number > len(lines):
                expected = "a line of links for each pair of the bitext"
                raise DataError(name, len(lines), "the end of the file", expected, "align the whole bitext")
            links = lines[number - 1]
            if links.n_source > len(one) or links.n_target > len(other):
                found = f"links to {links.n_source} source and {links.n_target} target words"
                expected = f"at most {len(one)} and {len(other)}, as many as the lines have"
                remedy = "give as --bitext the tokens that were aligned, as qsproj tokenize writes them"
                raise DataError(name, number, found, expected, remedy)
            yield make_alignment(len(one), len(other), links.links, weights=links.shares)

    write_alignments(counts.counted(of_pairs()), paths[0], with_weights=True)
    return counts.report(f"as {name} has them")


@stage("trees", version=1, files=(".conllu",))
def parse_source(paths: Sequence[Path], *, words: str, model: str, workers: Workers) -> StageReport:
    """Tag and parse the source side, with the probability of each arc; existing trees are kept."""
    sure = MeanConfidence()
    with conllu_kept(paths[0]) as (kept, write):
        done = sum(1 for _ in sure.of_arcs(kept))
        bare = (sentence for sentence in read_from(words, done) if not has_tree(sentence))
        parsed = sure.of_arcs(parse_stream(model, bare, confidence=True, workers=workers))
        rest = track_from(words, done, "parsing the source")
        for sentence in rest:
            write(sentence if has_tree(sentence) else next(parsed))
    return sure.report


def track_from(path: str, done: int, doing: str) -> Iterable[Sentence]:
    return track(read_from(path, done), doing, total=(count_sentences(path) or done) - done, unit="sentence")


def read_from(path: str, number: int) -> Iterator[Sentence]:
    return islice(read_conllu(path), number, None)


@dataclass(slots=True)
class MeanConfidence:
    """Running mean of arc probabilities. Mutable; final."""

    total: float = 0.0
    count: int = 0

    @property
    def report(self) -> StageReport:
        mean = self.total / max(self.count, 1)
        return StageReport(line=f"mean probability of an arc {mean:.3f}", figures={"mean ArcProb": mean})

    def of_arcs(self, sentences: Iterable[Sentence]) -> Iterator[Sentence]:
        for sentence in sentences:
            stated = stated_confidences(sentence, name="parsed")[1:]
            self.total += float(np.nansum(stated))
            self.count += int(np.count_nonzero(~np.isnan(stated)))
            yield sentence


# Share of unknown words from which raw text counts as far from the bitext. 46% of the words of modern
# Ukrainian are not in a New Testament; 67% of these are tagged correctly, 76% of the others.
FAR_APART = 0.25
OUT_OF_DOMAIN = (
    "the raw text is out of domain, and tags of unknown words are often wrong; a --lexicon of the words that "
    "--suggest-words writes, or sentences --tagged, help most"
)


@stage("tagger", version=65)
def tag_target(
    paths: Sequence[Path],
    *,
    corpora: Sequence[AlignedFiles],
    tagged: Sequence[str],
    lexicon: str | None,
    lemmatizer: str | None,
    text: Sequence[str],
    paragraphs: bool,
    learn_text: bool | None,
    treebanks: Sequence[Sequence[str]],
    also: Sequence[str],
    language: str,
    attached: Contractions,
    seed: int,
) -> StageReport:
    """Train a tagger of the target through links; report the share of raw words unknown in the bitext.

    ``treebanks``: those of each of several sources; the largest counts most. ``attached``: tokens of the
    bitext that are divided like raw text.
    """
    of_sources = list(map(read_treebanks, treebanks))
    if of_sources:
        sizes = [sum(len(one.sentences) for one in of_source) for of_source in of_sources]
        order = sorted(range(len(sizes)), key=lambda number: -sizes[number])
        corpora = [corpora[number] for number in order]
        of_sources = [of_sources[number] for number in order]
    sentences = list(read_all(tagged))
    shown = target_words.showing_words(sentences, read_conllu(corpora[0].target), language=language)
    raw = target_words.raw_sentences(text, paragraphs=paragraphs, tagged=shown, language=language, seed=seed)
    projected = project_tags(
        join_same_targets(corpora),
        rng=np.random.default_rng(seed),
        tagged=sentences,
        raw=[sentence.forms for sentence in raw],
        lexicon=lexicon_of(lexicon, lemmatizer, language),
        relatives=[*chain(*of_sources), *read_treebanks(also)],
        language=language,
        options=TagProjectionOptions(learn_raw=learn_text),
    )
    tagger = target_words.with_target_words(
        projected.tagger, sentences, shown=shown, language=language, seed=seed
    )
    tagger = replace(tagger, contractions={**tagger.contractions, **attached})
    tagger.save(paths[0])
    contradicted = [[one.word, one.count, *one.linked, *one.given] for one in projected.contradicted]
    figures = {"unshared": dict(projected.unshared), "contradicted": contradicted}
    warning = (OUT_OF_DOMAIN,) if projected.unknown > FAR_APART else ()
    return StageReport(line="; ".join((*projected.report, *warning)), figures=figures)


@stage("tagged", version=2, files=(".conllu",))
def tag_words(paths: Sequence[Path], *, words: str, tagger: str, workers: Workers) -> StageReport:
    """Tag the target side with UPOS, the only column that later stages read."""
    with conllu_kept(paths[0]) as (kept, write):
        done = sum(1 for _ in kept)
        rest = track_from(words, done, "tagging the target")
        for sentence in tag_stream(tagger, rest, columns=[UPOS_COLUMN], workers=workers):
            write(sentence)
            done += 1
    return StageReport(line=f"{pluralise(done, 'sentence')} tagged", figures={})


@dataclass(frozen=True, slots=True)
class Source:
    """A source language: its treebanks, and its pairs with the target, tagged on both sides."""

    treebanks: tuple[str, ...]
    pairs: AlignedFiles


@stage("prior", version=15)
def train_priors(
    paths: Sequence[Path],
    *,
    sources: Sequence[Source],
    others: Sequence[str],
    unshared: Mapping[str, Annotation],
    draws: int,
    seed: int,
) -> StageReport:
    of_sources = [(read_treebanks(source.treebanks), source.pairs) for source in sources]
    target = read_all([source.pairs.target for source in sources])
    rng = np.random.default_rng(seed)
    prior, words = source_priors(
        of_sources, read_treebanks(others), unshared=unshared, target=target, rng=rng, draws=draws
    )
    for member, path in zip(prior.members, paths, strict=True):
        member.save(path)
    of_tags = f", {len(prior.members) - 1} of tags alone" if others else ""
    line = f"1 parser of translated words{of_tags}, from {pluralise(words, 'word')}"
    return StageReport(line="; ".join((line, *prior.report)), figures={"words": words})


@stage("parser", version=25, files=(".model", ".trees.conllu"))
def project(
    paths: Sequence[Path],
    *,
    corpora: Sequence[AlignedFiles],
    priors: Sequence[str],
    unshared: Mapping[str, Annotation],
    options: SoftProjectionOptions,
    seed: int,
) -> StageReport:
    """Train the parser of the target on projected evidence and priors; also write its training trees.

    ``unshared``: conventions of the sources that do not hold in the target.
    """
    voters = [load_prior(path, reads_words=True) for path in priors]
    pairs = [Conventional(one, unshared) for one in corpora]
    rng = np.random.default_rng(seed)
    projected = project_soft(pairs, priors=voters, rng=rng, options=options)
    write_conllu(projected.learned_from, paths[1])
    projected.parser.save(paths[0])
    return StageReport(line="; ".join(projected.report), figures={})


def prior_files(others: Sequence[str]) -> list[str]:
    return [f".{number}.model" for number in range(1, 4 if others else 2)]


# Tag sequences tried for untagged text; on dev files of German, Spanish and Swedish 8 were as good.
TAG_READINGS = 16
# Number of sentences that the finished model parses for the report.
EXAMPLE_SENTENCES = 2000


@stage("model", version=3)
def assemble(
    paths: Sequence[Path], *, tagger: str, parser: str, made: Provenance, readings: int
) -> StageReport:
    text_parser(load_tags(tagger), load_parser(parser), readings=readings).save(paths[0], made=made)
    return StageReport(line=f"{paths[0].stat().st_size / 1e6:.0f} MB", figures={})


@stage("learned", version=8)
def learn(
    paths: Sequence[Path],
    *,
    model: str,
    corpora: Sequence[AlignedFiles],
    tagged: Sequence[str],
    annotated: Sequence[str],
    lexicon: str | None,
    text: Sequence[str],
    paragraphs: bool,
    seed: int,
    made: Provenance,
) -> StageReport:
    """Teach a bootstrapped model the annotation and the lexicon that were given, as ``annotate`` does."""
    base = load_text_parser(model, remedy="bootstrap again")
    answers = given_answers(tagged, annotated, lexicon)
    raw = (one.forms for one in text_to_parse(base, text, paragraphs=paragraphs, bitext=corpora))
    learn_answers(base, answers, raw=raw, rng=np.random.default_rng(seed)).save(paths[0], made=made)
    trees = list(filter(has_tree, answers.sentences))
    counts = ((len(answers.sentences), "sentence"), (len(answers.lexicon), "word"))
    known = " and ".join(pluralise(count, name) for count, name in counts if count) or "lemmas alone: nothing"
    about = about_annotated(trees, chain.from_iterable(corpora)) if trees else ()
    return StageReport(line="; ".join((f"learned from {known}", *about)), figures={})


@stage("examples", version=9, files=(".conllu", ".suggested.conllu", ".words.tsv"))
def parse_examples(
    paths: Sequence[Path],
    *,
    corpora: Sequence[AlignedFiles],
    text: Sequence[str],
    paragraphs: bool,
    tagged: Sequence[str],
    model: str,
    sentences: int,
    lexicon: str | None = None,
    workers: Workers,
) -> StageReport:
    """Parse some target text without its projected trees, and suggest sentences and words to annotate.

    At most ``sentences`` sentences are suggested. Suggestions come from the raw text if there is any, because
    the text to be parsed differs from the bitext. Examples come from the first of the ``corpora``.
    """
    sure, trained = MeanConfidence(), load_text_parser(model)
    bare = islice(read_conllu(corpora[0].target), EXAMPLE_SENTENCES)
    examples = list(sure.of_arcs(parse_stream(model, bare, confidence=True, workers=workers)))
    write_conllu(examples, paths[0])
    candidates, raw = examples[: suggestions.CANDIDATES], []
    if text:
        raw = list(text_to_parse(trained, text, paragraphs=paragraphs, bitext=corpora))
        parsed = parse_stream(
            model, iter(suggestions.evenly(raw, suggestions.CANDIDATES)), confidence=True, workers=workers
        )
        candidates = list(parsed)
    suggested = suggestions.suggested_sentences(
        candidates, trained.tagger, list(read_all(tagged)), count=sentences
    )
    write_conllu(suggested, paths[1])
    suggestions.write_words(paths[2], tagger=trained.tagger, text=raw, corpora=corpora, lexicon=lexicon)
    return sure.report
