"""The stages of a bootstrap: files in, files out, and a report line of statistics without gold trees."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain, islice
from pathlib import Path

import numpy as np

from qsproj.alignment.aligners import align_words
from qsproj.corpus.alignments import write_alignments
from qsproj.corpus.conllu import conllu_kept, read_conllu, write_conllu
from qsproj.corpus.contractions import Contractions, known_contractions
from qsproj.corpus.files import open_text
from qsproj.corpus.formats import read_alignments, read_all
from qsproj.corpus.language.lemmas import lexicon_of
from qsproj.corpus.language.sentence_ends import read_running_text, rule_starts
from qsproj.corpus.pairs.aligned import AlignedFiles
from qsproj.corpus.pairs.pairing import pair_files
from qsproj.corpus.pairs.translations import join_same_targets
from qsproj.corpus.sentence import Alignment, Sentence, SentencePair, has_tree, make_alignment
from qsproj.corpus.text import UNSPACED_LANGUAGES, read_text, without_spaces
from qsproj.errors import DataError, pluralise
from qsproj.evaluation.calibration import stated_confidences
from qsproj.models.arc.arc_parser import ArcParser, mean_parser
from qsproj.models.arc.arc_training import train_arc_parser
from qsproj.models.arc.training_options import TrainingOptions
from qsproj.models.morphology.morphology_training import (
    MorphologyOptions,
    columns_shown,
    train_morphology,
)
from qsproj.models.parser import load_tags
from qsproj.models.storage import Provenance, load_model_of
from qsproj.models.tagging.segmentation_reranker import segmentation_reranker_for
from qsproj.models.tagging.tagger import UPOS_COLUMN, load_tagger
from qsproj.models.tagging.tagger_training import TaggerOptions, train_tagger
from qsproj.models.text.text_parser import TextParser, text_parser
from qsproj.models.tokens.splitter import train_splitter
from qsproj.models.tokens.tokenizer import Tokenizer
from qsproj.models.tokens.tokenizer_training import shows_tokens, train_tokenizer
from qsproj.parallel import Workers
from qsproj.pipelines.bootstrap.checks import LinkCounts, check_translations
from qsproj.pipelines.bootstrap.questions import asked_questions
from qsproj.pipelines.bootstrap.suggestions import (
    LinkedTags,
    evenly,
    suggested_sentences,
    suggested_words,
    write_suggested_words,
)
from qsproj.pipelines.bootstrap.texts import Cut, SourceText, write_words
from qsproj.pipelines.bootstrap.workspace import Recipe, StageReport
from qsproj.pipelines.projection.projected import SoftProjectionOptions
from qsproj.pipelines.projection.soft_projection import load_prior, project_soft, soft_sources
from qsproj.pipelines.projection.source_priors import TranslatedTreebanks, source_priors
from qsproj.pipelines.streams import parse_stream, tag_stream
from qsproj.pipelines.tagging.conventions import Conventional
from qsproj.pipelines.tagging.tags_through_links import project_tags
from qsproj.progress import track

# An integer, or a pair for a separate random stream of each draw.
Seed = int | tuple[int, int]
# Options of the source models. The usual 10 epochs gain .02 UPOS, .06 UAS and .01 features on English dev.
TAGS_OF_SOURCE = TaggerOptions(epochs=6)
ARCS_OF_SOURCE = TrainingOptions(template_set="words", epochs=6)
FEATURES_OF_SOURCE = MorphologyOptions(epochs=5)
# Minimum number of tagged sentences to learn a tokenizer; with fewer, rules are better, which take from them
# the contractions missing in a table.
SENTENCES_TO_CUT = 200
# Tag sequences tried for untagged text; on dev files of German, Spanish and Swedish 8 were as good.
TAG_READINGS = 16
# Share of unknown words from which raw text counts as far from the bitext. 46% of the words of modern
# Ukrainian are not in a New Testament; 67% of these are tagged correctly, 76% of the others.
FAR_APART = 0.25
# Number of sentences that the finished model parses for the report.
EXAMPLE_SENTENCES = 2000
# Number of sentences with spaces between words to learn segmentation for a script without spaces.
SENTENCES_OF_WORDS = 2000
# Number of candidates for suggested sentences.
CANDIDATES = 500

# Minimum probability of a link; most links below it are wrong. The rest are weighted by probability.
LEAST_LINK = 0.15


def train_source(paths: Sequence[Path], *, treebanks: Sequence[str], language: str, seed: int) -> StageReport:
    """Train tagger and parser of the source, with features if the treebank has them, to be projected.

    Raises UsageError or DataError when a treebank cannot be read, or has no trees or tags.
    """
    sentences = list(read_all(treebanks))
    rng = np.random.default_rng(seed)
    tagger = train_tagger(sentences, rng=rng, language=language, options=TAGS_OF_SOURCE)
    parser, report = train_arc_parser(sentences, rng=rng, options=ARCS_OF_SOURCE)
    if "feats" in columns_shown(sentences):
        # Separate generator: features must not change tags and trees.
        features = train_morphology(
            sentences, rng=np.random.default_rng(seed), columns=["feats"], options=FEATURES_OF_SOURCE
        )
        tagger = replace(tagger, morphology=features)
    text_parser(tagger, parser).save(paths[0])
    words = sum(map(len, sentences))
    return StageReport(
        line=f"trained on {pluralise(len(sentences), 'sentence')}, {pluralise(words, 'word')}; "
        f"{report.summary(parser.inference)}",
        figures={"sentences": len(sentences), "words": words},
    )


def learns_to_cut(tagged: Sequence[Sentence], language: str) -> bool:
    """Return whether a tokenizer is to be learned from tagged sentences."""
    enough = len(tagged) >= SENTENCES_TO_CUT or language in UNSPACED_LANGUAGES
    return enough and shows_tokens(tagged)


def target_tokenizer(tagged: Sequence[Sentence], *, language: str, seed: int) -> Tokenizer | None:
    """Train a tokenizer of the target if :func:`learns_to_cut` allows it; else return None."""
    if not learns_to_cut(tagged, language):
        return None
    return train_tokenizer(tagged, rng=np.random.default_rng(seed), language=language)


def showing_words(
    tagged: Sequence[Sentence], words: Iterable[Sentence], *, language: str
) -> Sequence[Sentence]:
    """Return sentences that show word boundaries: the tagged ones, else those of a text cut by spaces.

    The latter only for scripts without spaces; their spaces are removed, as in the text to be parsed.
    """
    if tagged or language not in UNSPACED_LANGUAGES:
        return tagged
    first = enumerate(islice(words, SENTENCES_OF_WORDS), start=1)
    return [without_spaces(one.forms, sent_id=str(number)) for number, one in first]


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
) -> StageReport:
    """Tokenize both sides of a bitext: the source as its treebank, the target by rules or a tokenizer.

    ``at_spaces``: both are tokenised already, because the links of a file count words. Source lines covered
    by ``parsed`` sentences take over words and trees. ``tagged``, ``contractions``: see :func:`shown_cuts`.
    """
    source = load_model_of(model, TextParser, expected="a model of the source", remedy="")
    language, name = text.languages[1], text.bitext[-1]
    tokenizer = target_tokenizer(list(read_all(tagged)), language=language, seed=seed)
    target = _reader(tokenizer, contractions, language=language, name=name)
    read = source.tagger.reader(split_contractions=True)
    trees = read_all(parsed)
    cut: tuple[Cut, Cut] = (partial(_cut_line, read), partial(_cut_line, target))
    if at_spaces:
        cut = (_cut_at_spaces, _cut_at_spaces)
    return write_words(paths, text, cut=cut, trees=trees, workers=workers)


def shown_cuts(tagged: Sequence[str], language: str) -> tuple[Sequence[str], Contractions]:
    """Return the files to learn a tokenizer from, and the contractions to split without one.

    A few more tagged sentences rarely change either, so that kept words, links and source trees stay valid.
    """
    sentences = list(read_all(tagged))
    if learns_to_cut(sentences, language):
        return tagged, {}
    return (), known_contractions(language, sentences)


def reader_of_target(
    tagged: Sequence[Sentence], *, language: str, seed: int, name: str
) -> Callable[[Iterable[str]], Iterator[Sentence]]:
    """Return a function that tokenizes target lines, learned from tagged sentences or by rules."""
    tokenizer = target_tokenizer(tagged, language=language, seed=seed)
    return _reader(tokenizer, known_contractions(language, tagged), language=language, name=name)


def _reader(
    tokenizer: Tokenizer | None, contractions: Contractions, *, language: str, name: str
) -> Callable[[Iterable[str]], Iterator[Sentence]]:
    if tokenizer is not None:
        return partial(tokenizer.read, name=name)
    return partial(read_text, language=language, contractions=contractions, name=name)


def _cut_at_spaces(line: str) -> Sentence | None:
    words = line.split()
    return Sentence.from_words(words) if words else None


def _cut_line(read: Callable[[Iterable[str]], Iterator[Sentence]], line: str) -> Sentence | None:
    """Return the sentence that ``read`` makes of a line, None for a blank one."""
    return next(read([line]), None)


def link_words(
    paths: Sequence[Path], *, source: str, target: str, unspaced: str | None, name: str, workers: Workers
) -> StageReport:
    """Align the words of two files of CoNLL-U, with link probabilities, after :func:`check_translations`."""
    check_translations(source, target, name=name)
    counts = LinkCounts()
    pairs = ((one.forms, other.forms) for one, other in pair_files(source, target))
    alignments = align_words(pairs, threshold=LEAST_LINK, unspaced=unspaced, workers=workers)
    write_alignments(counts.counted(alignments), paths[0], with_weights=True)
    share = counts.share_linked
    return StageReport(
        line=f"{100 * share:.0f}% of the target words have a likely link, "
        f"{counts.links / max(counts.target_words, 1):.2f} links a word are expected",
        figures={"linked": share, "links a word": counts.links / max(counts.target_words, 1)},
    )


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
                remedy = "give as --bitext the very words that were aligned, as qsproj tokenize writes them"
                raise DataError(name, number, found, expected, remedy)
            weights = np.ones(len(links.links)) if links.weights is None else links.weights
            yield make_alignment(len(one), len(other), links.links, weights=weights)

    write_alignments(counts.counted(of_pairs()), paths[0], with_weights=True)
    return StageReport(
        line=f"{100 * counts.share_linked:.0f}% of the target words have a likely link, as {name} has them",
        figures={
            "linked": counts.share_linked,
            "links a word": counts.links / max(counts.target_words, 1),
        },
    )


def parse_source(
    paths: Sequence[Path], *, words: str, model: str, total: int, workers: Workers
) -> StageReport:
    """Tag and parse the source side, with the probability of each arc; existing trees are kept."""
    sure = _Mean()
    with conllu_kept(paths[0]) as (kept, write):
        done = sum(1 for _ in sure.of_arcs(kept))
        bare = (sentence for sentence in read_from(words, done) if not has_tree(sentence))
        parsed = sure.of_arcs(parse_stream(model, bare, confidence=True, workers=workers))
        rest = track(read_from(words, done), "parsing the source", total=total - done, unit="sentence")
        for sentence in rest:
            write(sentence if has_tree(sentence) else next(parsed))
    return StageReport(
        line=f"mean probability of an arc {sure.value:.3f}", figures={"mean ArcProb": sure.value}
    )


def read_from(path: str, number: int) -> Iterator[Sentence]:
    return islice(read_conllu(path), number, None)


@dataclass(slots=True)
class _Mean:
    """Running mean of arc probabilities. Mutable; final."""

    total: float = 0.0
    count: int = 0

    @property
    def value(self) -> float:
        return self.total / max(self.count, 1)

    def of_arcs(self, sentences: Iterable[Sentence]) -> Iterator[Sentence]:
        for sentence in sentences:
            stated = stated_confidences(sentence, name="parsed")[1:]
            self.total += float(np.nansum(stated))
            self.count += int(np.count_nonzero(~np.isnan(stated)))
            yield sentence


def tag_target(
    paths: Sequence[Path],
    *,
    corpora: Sequence[AlignedFiles],
    tagged: Sequence[str],
    lexicon: str | None,
    lemmatizer: str | None,
    text: Sequence[str],
    paragraphs: bool,
    language: str,
    seed: int,
) -> StageReport:
    """Train a tagger of the target through links; measure the share of raw words unknown in the bitext."""
    sentences = list(read_all(tagged))
    shown = showing_words(sentences, read_conllu(corpora[0].target), language=language)
    raw = raw_sentences(text, paragraphs=paragraphs, tagged=shown, language=language, seed=seed)
    compared = compared_words(raw, corpora)
    projected = project_tags(
        join_same_targets(corpora),
        rng=np.random.default_rng(seed),
        tagged=sentences,
        raw=[sentence.forms for sentence in raw],
        lexicon=lexicon_of(lexicon, lemmatizer, language),
        language=language,
    )
    tokenizer = target_tokenizer(shown, language=language, seed=seed)
    splitter = None if tokenizer is None else train_splitter(sentences, language=language)
    tagger = replace(
        projected.tagger,
        tokenizer=tokenizer,
        splitter=splitter,
        judge=segmentation_reranker_for(tokenizer, shown, rng=np.random.default_rng(seed), language=language),
        contractions=known_contractions(language, sentences),
    )
    tagger.save(paths[0])
    return StageReport(
        line="; ".join((*projected.report, *compared.report)),
        figures={
            "unshared": list(projected.unshared),
            "contradicted": [
                [one.word, one.count, *one.linked, *one.given] for one in projected.contradicted
            ],
        }
        | ({"unknown": compared.share} if text else {}),
    )


@dataclass(frozen=True, slots=True)
class Compared:
    """Size of the raw text of the target, and number of its words that are in no bitext."""

    sentences: int
    words: int
    unknown: int

    @property
    def share(self) -> float:
        return self.unknown / max(self.words, 1)

    @property
    def report(self) -> tuple[str, ...]:
        if not self.sentences:
            return ()
        far = (
            ": text and bitext are far apart, and tags of unknown words are often wrong; a --lexicon of the "
            "words that --suggest-words writes, or sentences --tagged, help most"
        )
        return (
            f"raw text of {pluralise(self.sentences, 'sentence')}, {100 * self.share:.0f}% of whose "
            f"{pluralise(self.words, 'word')} the bitext does not have"
            f"{far if self.share > FAR_APART else ''}",
        )


def raw_sentences(
    paths: Sequence[str], *, paragraphs: bool, tagged: Sequence[Sentence], language: str, seed: int
) -> list[Sentence]:
    """Read the distinct sentences of raw text, one a line or, with ``paragraphs``, found in running text."""
    found: dict[tuple[str, ...], Sentence] = {}
    splitter = train_splitter(tagged, language=language) if paragraphs and shows_tokens(tagged) else None
    starts = partial(rule_starts, language=language) if splitter is None else splitter.starts
    for path in paths:
        read = reader_of_target(tagged, language=language, seed=seed, name=path)
        with open_text(path) as lines:
            sentences = read_running_text(lines, read, starts) if paragraphs else read(lines)
            for sentence in track(sentences, "reading raw text"):
                found.setdefault(sentence.forms, sentence)
    return list(found.values())


def compared_words(raw: Sequence[Sentence], corpora: Sequence[AlignedFiles]) -> Compared:
    """Count the words of raw text that are in the target side of no bitext."""
    if not raw:
        return Compared(0, 0, 0)
    known = {form.lower() for files in corpora for one in read_conllu(files.target) for form in one.forms}
    words = [form.lower() for one in raw for form in one.forms if any(map(str.isalpha, form))]
    return Compared(len(raw), len(words), sum(word not in known for word in words))


def tag_words(paths: Sequence[Path], *, words: str, tagger: str, total: int, workers: Workers) -> StageReport:
    """Tag the target side with UPOS, the only column that later stages read."""
    with conllu_kept(paths[0]) as (kept, write):
        done = sum(1 for _ in kept)
        rest = track(read_from(words, done), "tagging the target", total=total - done, unit="sentence")
        for sentence in tag_stream(tagger, rest, columns=[UPOS_COLUMN], workers=workers):
            write(sentence)
    return StageReport(line=f"{pluralise(total, 'sentence')} tagged", figures={})


@dataclass(frozen=True, slots=True)
class Source:
    """A source language: its treebanks, and its pairs with the target, tagged on both sides."""

    treebanks: tuple[str, ...]
    pairs: AlignedFiles


def train_priors(
    paths: Sequence[Path],
    *,
    sources: Sequence[Source],
    others: Sequence[str],
    unshared: Sequence[str],
    seed: Seed,
) -> StageReport:
    """Train the priors of a target (:func:`source_priors`)."""
    prior, words = source_priors(
        [TranslatedTreebanks(source.treebanks, source.pairs) for source in sources],
        others,
        unshared=unshared,
        target=read_all([source.pairs.target for source in sources]),
        rng=np.random.default_rng(seed),
    )
    for member, path in zip(prior.members, paths, strict=True):
        member.save(path)
    voters = (
        f"{pluralise(len(prior.members), 'parser')} from {pluralise(words, 'word')}; translated words are "
        f"read by 1, tags alone by {len(prior.members) - 1}"
    )
    return StageReport(line="; ".join((voters, *prior.report)), figures={"words": words})


@dataclass(frozen=True, slots=True)
class NumberedPairs:
    """Pairs of one of several bitexts, with its number prefixed to the ``sent_id`` of target sentences."""

    pairs: Iterable[SentencePair]
    number: int

    def __iter__(self) -> Iterator[SentencePair]:
        for pair in self.pairs:
            name = f"{self.number}-{pair.target.sent_id}"
            yield replace(pair, target=replace(pair.target, sent_id=name))


def project(
    paths: Sequence[Path],
    *,
    corpora: Sequence[AlignedFiles],
    priors: Sequence[str],
    annotated: Sequence[str],
    unshared: Sequence[str],
    tagger: str,
    options: SoftProjectionOptions,
    seed: Seed,
) -> StageReport:
    """Train the parser of the target on projected evidence and priors; also write its training trees.

    ``unshared``: conventions of the sources that do not hold in the target. ``tagger``: of the target; it
    provides lemmas and features of the words of these trees.
    """
    # Prefixed numbers: sent_ids are line numbers, which are not unique over several bitexts.
    named = corpora if len(corpora) == 1 else [NumberedPairs(pairs, i) for i, pairs in enumerate(corpora, 1)]
    rng = np.random.default_rng(seed)
    projected = project_soft(
        soft_sources(
            [[Conventional(pairs, unshared)] for pairs in named],
            rng=rng,
            priors=[load_prior(path, reads_words=True) for path in priors],
        ),
        rng=rng,
        options=options,
        annotated=list(read_all(annotated)),
    )
    describe = partial(load_tagger(tagger).with_morphology, anew=True)
    write_conllu(map(describe, projected.learned_from), paths[1])
    projected.parser.save(paths[0])
    return StageReport(line="; ".join(projected.report), figures={})


def parse_examples(
    paths: Sequence[Path],
    *,
    corpora: Sequence[AlignedFiles],
    text: Sequence[str],
    paragraphs: bool,
    tagged: Sequence[str],
    language: str,
    seed: int,
    model: str,
    sentences: int,
    workers: Workers,
) -> StageReport:
    """Parse some target text without its projected trees, and suggest sentences and words to annotate.

    At most ``sentences`` sentences are suggested. Suggestions come from the raw text if there is any, because
    the text to be parsed differs from the bitext. Examples come from the first of the ``corpora``.
    """
    sure = _Mean()
    words = corpora[0].target
    bare = islice(read_conllu(words), EXAMPLE_SENTENCES)
    examples = list(sure.of_arcs(parse_stream(model, bare, confidence=True, workers=workers)))
    write_conllu(examples, paths[0])
    known = list(read_all(tagged))
    candidates = examples[:CANDIDATES]
    raw: list[Sentence] = []
    if text:
        shown = showing_words(known, read_conllu(words), language=language)
        raw = raw_sentences(text, paragraphs=paragraphs, tagged=shown, language=language, seed=seed)
        parsed = parse_stream(model, iter(evenly(raw, CANDIDATES)), confidence=True, workers=workers)
        candidates = list(parsed)
    tagger = load_tags(model)
    write_conllu(suggested_sentences(candidates, tagger, known, count=sentences), paths[1])
    targets = [one for files in corpora for one in read_conllu(files.target)]
    linked = LinkedTags.of(chain.from_iterable(corpora))
    asked = asked_questions(tagger, chain.from_iterable(corpora), text=raw, bitext=targets)
    listed = suggested_words(tagger, text=raw, bitext=targets, linked=linked)
    write_suggested_words(listed, paths[2], asked=asked)
    return StageReport(
        line=f"mean probability of an arc {sure.value:.3f}", figures={"mean ArcProb": sure.value}
    )


def assemble(
    paths: Sequence[Path], *, tagger: str, parsers: Sequence[str], made: Provenance, readings: int
) -> StageReport:
    """Combine the tagger and the mean of the parsers into one model that tries several tag sequences."""
    expected = "a first-order parser"
    parser = mean_parser([load_model_of(path, ArcParser, expected=expected, remedy="") for path in parsers])
    text_parser(load_tagger(tagger), parser, readings=readings).save(paths[0], made=made)
    return StageReport(line=f"{paths[0].stat().st_size / 1e6:.0f} MB", figures={})


def seeds_of(seed: int, draws: int) -> list[Seed]:
    """Return the seed of each draw; the first does not depend on the number of draws."""
    return [seed, *[(seed, draw) for draw in range(2, draws + 1)]]


def prior_files(others: Sequence[str]) -> list[str]:
    """Return the file suffixes of :func:`train_priors`, one for each prior."""
    return [f".{number}.model" for number in range(1, 4 if others else 2)]


# Raise a version when a stage makes other files from the same arguments; a test detects this.
SOURCE = Recipe(name="source", make=train_source, version=7)
WORDS = Recipe(name="words", make=cut_words, version=6, files=(".source.conllu", ".target.conllu"))
LINKS = Recipe(name="links", make=link_words, version=3, files=(".pharaoh",))
GIVEN_LINKS = Recipe(name="links", make=given_links, version=1, files=(".pharaoh",))
TREES = Recipe(name="trees", make=parse_source, version=1, files=(".conllu",))
TAGGER = Recipe(name="tagger", make=tag_target, version=32)
TAGGED = Recipe(name="tagged", make=tag_words, version=2, files=(".conllu",))
PRIOR = Recipe(name="prior", make=train_priors, version=6)
PARSER = Recipe(name="parser", make=project, version=9, files=(".model", ".trees.conllu"))
MODEL = Recipe(name="model", make=assemble, version=2)
EXAMPLES = Recipe(
    name="examples",
    make=parse_examples,
    version=5,
    files=(".conllu", ".suggested.conllu", ".words.tsv"),
)
