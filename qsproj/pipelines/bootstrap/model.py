"""Combine tagger and parser into a model, teach it annotated trees, and parse examples with it."""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import chain, islice
from pathlib import Path

import numpy as np

from qsproj.corpus.conllu import read_conllu, write_conllu
from qsproj.corpus.formats import read_all
from qsproj.corpus.pairs.aligned import AlignedFiles
from qsproj.corpus.sentence import has_tree
from qsproj.errors import NothingToLearnError
from qsproj.models.parser import load_parser, load_tags
from qsproj.models.storage import Provenance
from qsproj.models.text.text_parser import load_text_parser, text_parser
from qsproj.parallel import Workers
from qsproj.pipelines.bootstrap.answers import text_to_parse
from qsproj.pipelines.bootstrap.bitext import MeanConfidence
from qsproj.pipelines.bootstrap.suggestions import CANDIDATES, evenly, suggested_sentences, write_words
from qsproj.pipelines.bootstrap.workspace import StageReport, stage
from qsproj.pipelines.projection.soft_projection import about_annotated
from qsproj.pipelines.streams import parse_stream

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


@stage("learned", version=10)
def learn_trees(
    paths: Sequence[Path],
    *,
    model: str,
    corpora: Sequence[AlignedFiles],
    annotated: Sequence[str],
    seed: int,
    made: Provenance,
) -> StageReport:
    """Fine-tune the parser of a model on annotated trees, whose tags its tagger has learned before.

    Learned once more, as answers are, they make the tagger too sure: it has seen the sentences that judge it.
    """
    base = load_text_parser(model, remedy="bootstrap again")
    trees = list(filter(has_tree, read_all(annotated)))
    parser = base.base
    # Trees none of which the parser can build teach it nothing.
    with suppress(NothingToLearnError):
        parser = parser.fine_tuned(trees, rng=np.random.default_rng(seed))
    replace(base, base=parser).save(paths[0], made=made)
    return StageReport(line="; ".join(about_annotated(trees, chain.from_iterable(corpora))), figures={})


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
    candidates, raw = examples[:CANDIDATES], []
    if text:
        raw = list(text_to_parse(trained, text, paragraphs=paragraphs, bitext=corpora))
        parsed = parse_stream(model, iter(evenly(raw, CANDIDATES)), confidence=True, workers=workers)
        candidates = list(parsed)
    suggested = suggested_sentences(candidates, trained.tagger, list(read_all(tagged)), count=sentences)
    write_conllu(suggested, paths[1])
    write_words(paths[2], tagger=trained.tagger, text=raw, corpora=corpora, lexicon=lexicon)
    return sure.report
