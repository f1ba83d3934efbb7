"""Train the models of a bootstrap: tagger and parser of the sources, of the target, and the final model."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, islice
from pathlib import Path
from typing import Any

import numpy as np

from qsproj.corpus.conllu import conllu_kept, read_conllu, write_conllu
from qsproj.corpus.contractions import Contractions
from qsproj.corpus.formats import read_all
from qsproj.corpus.language.lexicon import lexicon_of
from qsproj.corpus.pairs.aligned import AlignedFiles
from qsproj.corpus.pairs.translations import join_same_targets
from qsproj.corpus.sentence import Sentence, SentencePair, has_tree
from qsproj.corpus.unspaced import UNSPACED_LANGUAGES
from qsproj.errors import pluralise
from qsproj.models.arc.arc_training import train_arc_parser
from qsproj.models.arc.training_options import TrainingOptions
from qsproj.models.morphology.morphology_training import columns_shown, sentences_that_show, train_morphology
from qsproj.models.parser import load_parser, load_tags
from qsproj.models.storage import Provenance
from qsproj.models.tagging.tagger import UPOS_COLUMN
from qsproj.models.tagging.tagger_training import train_tagger
from qsproj.models.text.text_parser import load_text_parser, text_parser
from qsproj.parallel import Workers
from qsproj.pipelines.bootstrap.answers import TaggerInputs, learn_answers, text_to_parse
from qsproj.pipelines.bootstrap.bitext import MeanConfidence, track_rest
from qsproj.pipelines.bootstrap.suggestions import CANDIDATES, suggested_sentences, thinned, write_lexicon
from qsproj.pipelines.bootstrap.workspace import StageReport, stage
from qsproj.pipelines.projection.methods import SoftProjectionOptions
from qsproj.pipelines.projection.priors import load_prior, source_priors
from qsproj.pipelines.projection.soft_projection import annotated_report, project_soft
from qsproj.pipelines.streams import parse_stream, tag_stream
from qsproj.pipelines.tagging.conventions import REFLEXIVE, Annotation, ReannotatedPairs
from qsproj.pipelines.tagging.options import TagProjectionOptions
from qsproj.pipelines.tagging.tags_through_links import PROJECTED_COLUMNS, project_tags
from qsproj.pipelines.tagging.target_words import (
    raw_sentences,
    segmented_sentences,
    target_tokenizer,
    with_target_words,
)
from qsproj.pipelines.tagging.type_dictionary import KNOWN
from qsproj.pipelines.treebanks import Treebank, read_treebanks

# Options of the source models. With 4 epochs of the tagger, UPOS of Wolof was 1.4 points lower (one seed).
TAG_EPOCHS = 6
ARCS_OF_SOURCE = TrainingOptions(template_set="words", epochs=6)
LABEL_EPOCHS = 3
FEATURE_EPOCHS = 3
# Least share of unknown words in raw text that is out of domain. 46% of the words of modern Ukrainian are
# not in a New Testament; 67% of these are tagged correctly, 76% of the others.
FAR_APART = 0.25
OUT_OF_DOMAIN = (
    "the raw text is out of domain, and tags of unknown words are often wrong; a --lexicon of the words that "
    "--suggest-words writes, or sentences --tagged, help most"
)
MOST_KEPT = 20_000  # largest bitext whose pairs are kept in memory
TAG_READINGS = 16  # tag sequences tried for untagged text; on three dev files 8 were as good
EXAMPLE_SENTENCES = 2000  # number of sentences that the finished model parses for the report


@stage("source", version=13)
def train_source(paths: Sequence[Path], *, treebanks: Sequence[str], language: str, seed: int) -> StageReport:
    """Train tagger and parser of the source; the tagger also predicts features if the treebank has them.

    Raises UsageError or DataError when a treebank cannot be read, or has no trees or tags.
    """
    sentences = list(read_all(treebanks))
    rng = np.random.default_rng(seed)
    tagger = train_tagger(sentences, rng=rng, language=language, epochs=TAG_EPOCHS)
    if language in UNSPACED_LANGUAGES:
        tagger = replace(tagger, tokenizer=target_tokenizer(sentences, language=language, seed=seed))
    parser, report = train_arc_parser(sentences, rng=rng, options=ARCS_OF_SOURCE, label_epochs=LABEL_EPOCHS)
    parser = replace(parser, temperature=1.0)  # flatter evidence was not better in Turkish and Wolof
    if "feats" in columns_shown(sentences):
        rng = np.random.default_rng(seed)  # separate: features must not change tags and trees
        features = train_morphology(sentences, rng=rng, columns=["feats"], epochs=FEATURE_EPOCHS)
        tagger = replace(tagger, morphology=features)
    text_parser(tagger, parser).save(paths[0])
    figures = {"sentences": len(sentences), "words": sum(map(len, sentences))}
    trained = f"trained on {pluralise(len(sentences), 'sentence')}, {pluralise(figures['words'], 'word')}"
    return StageReport(line=f"{trained}; {report.summary(parser.inference)}", figures=figures)


@stage("tagger", version=94)
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
    token_examples: Sequence[str] = (),
) -> StageReport:
    """Train a tagger of the target through links; warn if too many words of raw text are not in the bitext.

    ``treebanks``: those of each source, if there are several; the source with the largest one comes first.
    ``attached``: tokens of the bitext that are divided like raw text. ``token_examples``: sentences to learn
    tokens and contractions from, if not those ``tagged``.
    """
    corpora, of_sources = largest_first(corpora, treebanks)
    sentences = list(read_all(tagged))
    examples = list(read_all(token_examples)) if token_examples else sentences
    shown = segmented_sentences(examples, read_conllu(corpora[0].target), language=language)
    raw = raw_sentences(text, paragraphs=paragraphs, tagged=shown, language=language, seed=seed)
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
    tagger = with_target_words(projected.tagger, examples, shown=shown, language=language, seed=seed)
    replace(tagger, contractions={**tagger.contractions, **attached}).save(paths[0])
    figures = {"unshared": dict(projected.tagger.unshared or {}), "contradicted": projected.contradicted}
    warning = (OUT_OF_DOMAIN,) if projected.unknown > FAR_APART else ()
    return StageReport(line="; ".join((*projected.report, *warning)), figures=figures)


def largest_first(
    corpora: Sequence[AlignedFiles], treebanks: Sequence[Sequence[str]]
) -> tuple[Sequence[AlignedFiles], list[list[Treebank]]]:
    """Return bitexts and treebanks of several sources, that with most trees first; of one, none are given."""
    of_sources = list(map(read_treebanks, treebanks))
    sizes = [sum(len(one.sentences) for one in of_source) for of_source in of_sources]
    order = np.argsort([-size for size in sizes], kind="stable").tolist()
    return [corpora[at] for at in order] or corpora, [of_sources[at] for at in order]


@stage("tagged", version=2, files=(".conllu",))
def tag_words(paths: Sequence[Path], *, words: str, tagger: str, workers: Workers) -> StageReport:
    """Tag the target side with UPOS, the only column that later stages read."""
    with conllu_kept(paths[0]) as (kept, write):
        done = sum(1 for _ in kept)
        rest = track_rest(words, done, "tagging the target")
        for sentence in tag_stream(tagger, rest, columns=[UPOS_COLUMN], workers=workers):
            write(sentence)
            done += 1
    return StageReport(line=f"{pluralise(done, 'sentence')} tagged", figures={})


@dataclass(frozen=True, slots=True)
class Source:
    """A source language: its treebanks, and its pairs with the target, tagged on both sides."""

    treebanks: tuple[str, ...]
    pairs: AlignedFiles


PairCache = dict[AlignedFiles, list[SentencePair]]  # pairs read by the prior stage, for the parser stage


def caching_pairs(files: AlignedFiles, cache: PairCache) -> Iterator[SentencePair]:
    """Yield the pairs; after the last one store all in ``cache``, unless they are too many."""
    pairs = list[SentencePair]()
    for number, pair in enumerate(files, start=1):
        if number <= MOST_KEPT:
            pairs.append(pair)
        else:
            pairs.clear()
        yield pair
    if pairs:
        cache[files] = pairs


@stage("prior", version=19)
def train_priors(
    paths: Sequence[Path],
    *,
    sources: Sequence[Source],
    others: Sequence[str],
    unshared: Mapping[str, Annotation],
    draws: int,
    seed: int,
    cache: PairCache,
) -> StageReport:
    """Train the priors: a parser of the sources' translated words and, with ``others``, two of tags alone."""
    of_sources = [(read_treebanks(one.treebanks), caching_pairs(one.pairs, cache)) for one in sources]
    target = read_all([source.pairs.target for source in sources])
    rng = np.random.default_rng(seed)
    prior, report, words = source_priors(
        of_sources, read_treebanks(others), unshared=unshared, target=target, rng=rng, draws=draws
    )
    for member, path in zip(prior, paths, strict=True):
        member.save(path)
    of_tags = f", {len(prior) - 1} of tags alone" if others else ""
    line = f"1 parser of translated words{of_tags}, from {pluralise(words, 'word')}"
    return StageReport(line="; ".join((line, *report)), figures={"words": words})


@stage("parser", version=33, files=(".model", ".trees.conllu"))
def project(
    paths: Sequence[Path],
    *,
    corpora: Sequence[AlignedFiles],
    priors: Sequence[str],
    unshared: Mapping[str, Annotation],
    options: SoftProjectionOptions,
    seed: int,
    cache: PairCache,
) -> StageReport:
    """Train the parser of the target on projected evidence and priors; also write its training trees.

    ``unshared``: conventions of the sources that do not hold in the target.
    """
    voters = [load_prior(path, reads_words=True) for path in priors]
    pairs = [ReannotatedPairs(cache.pop(one, one), unshared) for one in corpora]
    rng, expletives = np.random.default_rng(seed), REFLEXIVE in unshared
    projected = project_soft(pairs, priors=voters, rng=rng, options=options, expletives=expletives)
    write_conllu(projected.learned_from, paths[1])
    projected.parser.save(paths[0])
    return StageReport(line="; ".join(projected.report), figures={})


@stage("model", version=3)
def assemble(
    paths: Sequence[Path], *, tagger: str, parser: str, made: Provenance, readings: int
) -> StageReport:
    """Combine tagger and parser to one model, which tries ``readings`` tag sequences of untagged text."""
    text_parser(load_tags(tagger), load_parser(parser), readings=readings).save(paths[0], made=made)
    return StageReport(line=f"{paths[0].stat().st_size / 1e6:.0f} MB", figures={})


def tagger_inputs(
    corpora: Sequence[AlignedFiles],
    treebanks: Sequence[Sequence[str]],
    *,
    tagged: Sequence[str],
    lexicon: str | None,
    lemmatizer: str | None,
    text: Sequence[str],
    learn_text: bool | None,
    language: str,
) -> TaggerInputs:
    """Return the training data of :func:`tag_target`; without ``text``, taggers learn from no raw text."""
    corpora, _ = largest_first(corpora, treebanks)
    options = TagProjectionOptions(learn_raw=learn_text if text else False)
    return TaggerInputs(corpora, list(read_all(tagged)), lexicon_of(lexicon, lemmatizer, language), options)


@stage("learned", version=19)
def learn_annotated(
    paths: Sequence[Path],
    *,
    model: str,
    corpora: Sequence[AlignedFiles],
    treebanks: Sequence[Sequence[str]],
    annotated: Sequence[str],
    text: Sequence[str],
    paragraphs: bool,
    seed: int,
    made: Provenance,
    **how: Any,
) -> StageReport:
    """Teach annotated sentences to the model, as qsproj annotate does; ``how``: see :func:`tagger_inputs`."""
    base, sentences = load_text_parser(model, remedy="bootstrap again"), list(read_all(annotated))
    columns = columns_of(sentences)
    learned = learn_answers(
        base,
        sentences,
        {},
        raw=[one.forms for one in text_to_parse(base, text, paragraphs=paragraphs, bitext=corpora)],
        rng=np.random.default_rng(seed),
        inputs=tagger_inputs(corpora, treebanks, text=text, **how),
        columns=columns,
    )
    learned.save(paths[0], made=made)
    trees = list(filter(has_tree, sentences))
    lines = annotated_report(trees, chain.from_iterable(corpora))
    if columns and KNOWN not in base.tagger.extractor.class_sets:
        lines += ("their features and lemmas are not learned: the tagger is of --tagged sentences alone",)
    return StageReport(line="; ".join(lines), figures={})


def columns_of(annotated: Sequence[Sentence]) -> Sequence[str]:
    """Return the columns to be learned again, with annotated sentences that show one of them; else none."""
    shown = sentences_that_show(annotated)
    return PROJECTED_COLUMNS if any(shown[column] for column in PROJECTED_COLUMNS) else ()


@stage("examples", version=11, files=(".conllu", ".suggested.conllu", ".words.tsv"))
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
    """Parse some target text with the finished model, and suggest sentences and words to annotate.

    Suggestions come from the raw text if there is any, which is closer to the text to be parsed. Examples
    come from the first of the ``corpora``. At most ``sentences`` sentences are suggested.
    """
    sure, trained = MeanConfidence(), load_text_parser(model)
    bare = islice(read_conllu(corpora[0].target), EXAMPLE_SENTENCES)
    examples = list(sure.counted(parse_stream(model, bare, confidence=True, workers=workers)))
    write_conllu(examples, paths[0])
    candidates, raw = examples[:CANDIDATES], []
    if text:
        raw = list(text_to_parse(trained, text, paragraphs=paragraphs, bitext=corpora))
        parsed = parse_stream(model, iter(thinned(raw, CANDIDATES)), confidence=True, workers=workers)
        candidates = list(parsed)
    suggested = suggested_sentences(candidates, trained.tagger, list(read_all(tagged)), count=sentences)
    write_conllu(suggested, paths[1])
    write_lexicon(paths[2], tagger=trained.tagger, text=raw, corpora=corpora, lexicon=lexicon)
    return sure.report
