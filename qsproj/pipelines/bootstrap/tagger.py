"""Train a tagger of the target through links, and tag the target side."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import chain
from pathlib import Path

import numpy as np

from qsproj.corpus.conllu import conllu_kept, read_conllu
from qsproj.corpus.contractions import Contractions
from qsproj.corpus.formats import read_all
from qsproj.corpus.language.lexicon import lexicon_of
from qsproj.corpus.pairs.aligned import AlignedFiles
from qsproj.corpus.pairs.translations import join_same_targets
from qsproj.errors import pluralise
from qsproj.models.tagging.tagger import UPOS_COLUMN
from qsproj.parallel import Workers
from qsproj.pipelines.bootstrap.bitext import track_from
from qsproj.pipelines.bootstrap.workspace import StageReport, stage
from qsproj.pipelines.streams import tag_stream
from qsproj.pipelines.tagging.options import TagProjectionOptions
from qsproj.pipelines.tagging.tags_through_links import project_tags
from qsproj.pipelines.tagging.target_words import raw_sentences, showing_words, with_target_words
from qsproj.pipelines.treebank_weights import read_treebanks

# Share of unknown words from which raw text counts as far from the bitext. 46% of the words of modern
# Ukrainian are not in a New Testament; 67% of these are tagged correctly, 76% of the others.
FAR_APART = 0.25
OUT_OF_DOMAIN = (
    "the raw text is out of domain, and tags of unknown words are often wrong; a --lexicon of the words that "
    "--suggest-words writes, or sentences --tagged, help most"
)


@stage("tagger", version=68)
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
    shown = showing_words(sentences, read_conllu(corpora[0].target), language=language)
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
    tagger = with_target_words(projected.tagger, sentences, shown=shown, language=language, seed=seed)
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
