"""Train a part-of-speech tagger on treebanks.

The tagger learns UPOS and, if the treebanks have them, lemmas, XPOS and features (FEATS), or the --columns.
With --text it also learns from plain text of the same language, which improves accuracy on a new domain. With
a few hundred sentences and a translated text, `qsproj project-tags --tagged` is more accurate.

If the treebanks contain the original text (SpaceAfter=No in MISC, or "# text"), tokenisation, multiword
tokens such as German zum = zu dem, and sentence splitting are learned, too; otherwise plain text is tokenised
by the rules of the language. In scripts without spaces, words and tags are predicted jointly.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from qsproj.cli.command_parser import CommandParser
from qsproj.cli.options.provenance import made_by
from qsproj.cli.options.shared import (
    add_columns,
    add_language,
    add_lemmatizer,
    add_seed,
    warn_trained_on_dev,
)
from qsproj.corpus.formats import open_raw_text
from qsproj.corpus.sentence import Sentence
from qsproj.corpus.text import tokenize
from qsproj.errors import UsageError
from qsproj.pipelines.treebanks import read_tagged
from qsproj.progress import notice

if TYPE_CHECKING:
    from qsproj.corpus.language.lexicon import Lexicon
    from qsproj.models.tokens.tokenizer import Tokenizer

EXAMPLES = """examples:
  qsproj train-tagger corpora/de.conllu -o de.tagger --language de
  qsproj train-tagger a.conllu b.conllu --text news.de.txt.xz --language de --dev dev.conllu -o de.tagger
  qsproj train-tagger upos.conllu --lexicon unimorph/deu -o de.tagger   # lemmas where the treebank has none
  qsproj train-tagger upos.conllu --lemmatizer simplemma --language de -o de.tagger
  qsproj tag -m de.tagger text.txt -o de.conllu
"""

# Report a column present in a smaller share of sentences. Not 1: headings and interjections have no features.
MOST_SHOW = 0.8


def add_arguments(parser: CommandParser) -> None:
    parser.option("TREEBANK ...", "CoNLL-U files with UPOS, plain, .gz or .xz", dest="treebanks")
    parser.option("-o, --output MODEL", "where the model is written", required=True)
    add_language(parser, "language of plain text")
    parser.option("--text FILE ...", "plain text to train on as well", former="--raw")
    parser.option("--dev FILE", "keep the best epoch on this treebank")
    parser.option("--lexicon FILE", "UniMorph lines, lemma TAB form TAB features, for lemmas")
    add_lemmatizer(parser, others="the lexicon, if the treebanks have no lemmas")
    parser.option(
        "--rules",
        "tokenise plain text by the rules and contractions of the language even if the treebanks "
        "contain the original text; better below 200 sentences",
    )
    add_columns(parser, "learn", "upos, xpos, feats, lemma", usual="treebanks; upos is always learned")
    add_seed(parser)


def run(options: argparse.Namespace) -> None:
    import numpy as np

    from qsproj.models.morphology.morphology_training import columns_shown, train_morphology
    from qsproj.models.tagging.tagger_training import accuracy, train_tagger
    from qsproj.pipelines.tagging.target_words import treebank_tokens

    lexicon = _lemmas_of(options)
    warn_trained_on_dev(options)
    rng = np.random.default_rng(options.seed)
    dev = list(read_tagged([options.dev])) if options.dev else []
    sentences = list(read_tagged(options.treebanks))
    if lexicon.more is not None and "lemma" in columns_shown(sentences):
        raise UsageError("--lemmatizer: the treebanks have lemmas, which are learned; leave it out")
    tokens = treebank_tokens(sentences, language=options.language, seed=options.seed, rules=options.rules)
    tokenizer = tokens.get("tokenizer")
    raw = _raw_words(options.text, options.language, tokenizer)
    tagger = train_tagger(sentences, rng=rng, raw=raw, dev=dev, language=options.language)
    columns = None if options.columns is None else [name for name in options.columns if name != "upos"]
    inflections = lexicon.inflections_of(sentences)
    morphology = train_morphology(
        sentences, rng=np.random.default_rng(options.seed), columns=columns, inflections=inflections
    )
    tagger = replace(tagger, morphology=morphology, **tokens)
    words = sum(map(len, sentences))
    by_rules = "by rules of the language, as the treebank lacks the original text"
    how = "as the treebank shows" if tokenizer else by_rules
    if tagger.morphology is not None:
        notice(f"also learned: {', '.join(tagger.morphology.columns)}")
    _warn_columns(sentences, tagger.columns, wanted=options.columns)
    notice(f"plain text will be tokenised {'by rules' if options.rules else how}")
    tagger.save(options.output, made=made_by(options, sentences=len(sentences), words=words))
    if dev:
        notice(f"{options.dev}: UPOS accuracy {accuracy(tagger, dev):.2f}")


def _warn_columns(
    sentences: Sequence[Sentence], learned: Sequence[str], *, wanted: Sequence[str] | None
) -> None:
    from qsproj.models.morphology.morphology_training import sentences_that_show

    for column, shown in sentences_that_show(sentences).items():
        if 0 < shown < MOST_SHOW * len(sentences) and (wanted is None or column in wanted):
            how = "they alone teach it" if column in learned else "too few to learn it"
            notice(f"{shown:,} of {len(sentences):,} sentences have {column}: {how}")


def _lemmas_of(options: argparse.Namespace) -> Lexicon:
    from qsproj.corpus.language.lexicon import lexicon_of

    lexicon = lexicon_of(options.lexicon, options.lemmatizer, options.language)
    if lexicon.tags:
        found = "words with tags, but tags are learned from treebanks"
        expected = "lemma, form and features, separated by tabs"
        raise UsageError(f"{options.lexicon}: found {found}; expected {expected}")
    return lexicon


def _raw_words(paths: list[str], language: str | None, tokenizer: Tokenizer | None) -> Iterator[list[str]]:
    if paths and language is None and tokenizer is None:
        raise UsageError("--text needs --language CODE, to tokenise the text")
    for path in paths:
        with open_raw_text(path) as lines:
            for line in lines:
                yield tokenizer.words(line) if tokenizer else tokenize(line, language or "")
