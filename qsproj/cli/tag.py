"""Train a tagger, or tag CoNLL-U or plain text with one.

With --train, the tagger learns UPOS from treebanks and, given --raw, from plain text of the same language: on
a new domain a seventh of its errors go in German, a ninth in Swedish, none in Spanish. It also learns lemmas,
XPOS and features (FEATS) where the treebanks have them; --columns names fewer.

With --project, it learns from translations that are tagged, through word links, without any tagged sentence
of the language, or with the few that there are (--tagged). Where a source has features (FEATS), those that
show in forms of the target are learned, too, best with trees: a noun then has the definiteness of its
article, an adjective the number of its noun. Attributes that forms do not show are not written. Lemmas are
learned where a --lexicon of UniMorph, the sentences --tagged or a --lemmatizer have them; else the column
stays empty.

Where the treebanks show how text is cut into tokens (SpaceAfter=No in MISC, or "# text"), that is learned,
too, multiword tokens such as German zum = zu dem with it, and where sentences of running text begin; else the
rules of the language cut plain text. Where the script puts no spaces between words, words are chosen together
with their tags.

With -m, UPOS and the other columns that the model knows are replaced and every other byte is kept; with
--columns, only the columns named. Plain text is one sentence a line, raw or tokenised; with --paragraphs, a
paragraph a line, or lines that were broken to fit a page, with blank ones between paragraphs.
Blank lines are left out (`# newpar` says where); sent_id is the number of the line. The model may also be one
that parses text; it then tags alone.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from qsproj.cli.options.common import (
    add_options,
    add_seed,
    add_workers,
    check_files,
    declare_ways,
    refuse_unread,
    workers_of,
)
from qsproj.cli.options.pair_files import add_alignment_format
from qsproj.errors import UsageError

if TYPE_CHECKING:
    from qsproj.corpus.language.lexicon import Lexicon
    from qsproj.corpus.sentence import Sentence, SentencePair
    from qsproj.models.tagging.tagger import Tagger
    from qsproj.models.tokens.tokenizer import Tokenizer

EXAMPLES = """examples:
  qsproj tag --train corpora/de.conllu -o de.tagger --language de
  qsproj tag --train a.conllu b.conllu --raw news.de.txt.xz --language de --dev dev.conllu -o de.tagger
  qsproj tag -m en.tagger en.txt -o en.conllu
  qsproj tag -m en.tagger book.txt --paragraphs -o book.conllu
  qsproj tag -m zh.tagger zh.txt --segmentations 5 -o zh.conllu
  qsproj tag -m en.tagger en.conllu --columns lemma,feats -o en.full.conllu
  qsproj align en.conllu de.txt --tokenize en de --weights --threshold 0.1 -o en-de.pharaoh
  qsproj tag --project --source en.conllu --target de.txt --alignment en-de.pharaoh --language de -o de.tagger
  qsproj tag --project --source en.conllu --alignment en-de.pharaoh --target de.conllu \\
      --source nl.conllu --alignment nl-de.pharaoh --tagged few.conllu --lexicon de.tsv -o de.tagger
  qsproj tag --train upos.conllu --lexicon unimorph/deu -o de.tagger    # lemmas where the treebank has none
  qsproj tag --train upos.conllu --lemmatizer simplemma --language de -o de.tagger
  qsproj tag -m de.tagger parsed.conllu --confidence -o tagged.conllu
  echo 'Wir gehen zum Haus.' | qsproj tag -m de.tagger --split-contractions
"""


# Where fewer of the sentences have a column, that is told: headings and cries have no features.
MOST_SHOW = 0.8
# What each way to use the command reads that not all do.
WAYS = {
    "--train": ("raw", "dev", "rules", "lexicon", "lemmatizer", "columns", "seed"),
    "--project": (
        *("source", "target", "alignment", "alignment_format"),
        *("tagged", "lexicon", "lemmatizer", "text", "columns", "seed"),
    ),
    "-m": (
        *("input", "split_contractions", "paragraphs", "segmentations", "confidence", "columns"),
        *("jobs", "backend", "scheduler"),
    ),
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_options(parser)("input INPUT?: CoNLL-U or plain text (default: standard input)")
    task = parser.add_mutually_exclusive_group(required=True)
    add_options(task)("""
        -m --model MODEL: tag with this model
        --train TREEBANK+: train on these CoNLL-U files
        --project: train through links, on tagged translations: see below
    """)
    add_options(parser)("""
        -o --output FILE=-: the model, or tagged CoNLL-U (default: standard output)
        --language CODE: language of plain text, two or three letters; one that sacremoses has no rules for is
            cut as English is (default: that of the model)
        --raw FILE+: train also on this plain text
        --dev FILE: keep the epoch that is best on this treebank
        --lexicon FILE: lines of UniMorph, lemma TAB form TAB features, which tell lemmas, and with --project
            features; or, with --project, of a word, a tab, and the tags it may have
        --lemmatizer NAME: simplemma (pip install 'qsproj[lemmas]'): lemmas of some fifty languages, for words
            that neither treebank nor lexicon tells lemmas of
        --split-contractions: split tokens of plain text into words as the treebanks did: zum to zu dem; where
            tokens were learned, they are split in any case
        --paragraphs: find the sentences of plain text that goes on over them
        --segmentations K[1..]: write each line of plain text cut in the K most probable ways, 7.1, 7.2 and so
            on of line 7, with their probabilities in a comment, where the model has learned tokens
        --rules: cut plain text by the rules of the language and a table of its contractions, even where a
            treebank shows its tokens: better where it shows fewer than 200 sentences
        --confidence: add TagProb=, the probability of each tag, to MISC
    """)
    parser.add_argument(
        "--columns",
        metavar="NAME,...",
        type=column_names,
        help="columns to learn or to write: upos, xpos, feats, lemma, with commas between them; upos is "
        "always learned (default: all that the treebanks, the sources or the model have)",
    )
    add_seed(parser)
    add_tag_projection(parser)
    add_workers(parser)
    declare_ways(parser, WAYS)


def run(options: argparse.Namespace) -> None:
    from qsproj.corpus.language.recognition import check_known_language

    if options.language is not None:
        check_known_language(options.language)
    way = "--project" if options.project else "--train" if options.train else "-m"
    refuse_unread(options, WAYS, way)
    if options.project:
        project_tagger(options)
    elif options.train:
        _train(options)
    else:
        _tag(options)


def column_names(text: str) -> tuple[str, ...]:
    """Read a list of columns, as argparse calls it."""
    names = tuple(name.strip().lower() for name in text.split(","))
    known = ("upos", "xpos", "feats", "lemma")
    for name in names:
        if name not in known:
            raise argparse.ArgumentTypeError(f"found {name!r}, expected some of {', '.join(known)}")
    return names


def _train(options: argparse.Namespace) -> None:
    import numpy as np

    from qsproj.cli.options.common import made_by, read_tagged
    from qsproj.corpus.contractions import known_contractions
    from qsproj.models.morphology.morphology_training import columns_shown, train_morphology
    from qsproj.models.tagging.tagger_training import accuracy, train_tagger
    from qsproj.models.tagging.word_judge import word_judge_for
    from qsproj.models.tokens.splitter import train_splitter
    from qsproj.models.tokens.tokenizer_training import shows_tokens, train_tokenizer

    inputs = [*options.train, *(options.raw or ()), options.dev, options.lexicon]
    check_files(reads=inputs, model=options.output)
    lexicon = _lemmas_of(options)
    rng = np.random.default_rng(options.seed)
    dev = list(read_tagged([options.dev])) if options.dev else []
    sentences = list(read_tagged(options.train))
    if lexicon.more is not None and "lemma" in columns_shown(sentences):
        raise UsageError("--lemmatizer: the treebanks have lemmas, which are learned; leave it out")
    tokenizer = splitter = judge = None
    if not options.rules and shows_tokens(sentences):
        # A generator of its own: whether tokens are learned makes no difference to the tags.
        tokenizer = train_tokenizer(
            sentences, rng=np.random.default_rng(options.seed), language=options.language
        )
        splitter = train_splitter(sentences, language=options.language)
        judge = word_judge_for(
            tokenizer, sentences, rng=np.random.default_rng(options.seed), language=options.language
        )
    tagger = train_tagger(
        sentences,
        rng=rng,
        raw=_raw_words(options.raw or [], options.language, tokenizer),
        dev=dev,
        language=options.language,
    )
    columns = None if options.columns is None else [name for name in options.columns if name != "upos"]
    morphology = train_morphology(
        sentences,
        rng=np.random.default_rng(options.seed),
        columns=columns,
        inflections=lexicon.inflections_of(sentences),
    )
    tagger = replace(tagger, tokenizer=tokenizer, splitter=splitter, morphology=morphology, judge=judge)
    if tokenizer is None:
        tagger = replace(tagger, contractions=known_contractions(options.language, sentences))
    words = sum(map(len, sentences))
    how = "as the treebank shows" if tokenizer else "by rules of the language, as no token is shown"
    if tagger.morphology is not None:
        print(f"also learned: {', '.join(tagger.morphology.columns)}", file=sys.stderr)
    _tell_columns(sentences, tagger.columns, wanted=options.columns)
    print(f"plain text will be cut into words {'by rules' if options.rules else how}", file=sys.stderr)
    tagger.save(options.output, made=made_by(options, sentences=len(sentences), words=words))
    if dev:
        print(f"{options.dev}: UPOS accuracy {accuracy(tagger, dev):.2f}", file=sys.stderr)


def _tell_columns(
    sentences: Sequence[Sentence], learned: Sequence[str], *, wanted: Sequence[str] | None
) -> None:
    from qsproj.models.morphology.morphology_training import sentences_that_show

    for column, shown in sentences_that_show(sentences).items():
        if 0 < shown < MOST_SHOW * len(sentences) and (wanted is None or column in wanted):
            how = "they alone teach it" if column in learned else "too few to learn it"
            print(f"{shown:,} of {len(sentences):,} sentences have {column}: {how}", file=sys.stderr)


def _lemmas_of(options: argparse.Namespace) -> Lexicon:
    from qsproj.corpus.language.lemmas import lexicon_of

    lexicon = lexicon_of(options.lexicon, options.lemmatizer, options.language)
    if lexicon.tags:
        raise UsageError(
            f"{options.lexicon}: found words with their tags, which --train learns from treebanks; expected "
            "lemma, form and features, with tabs between"
        )
    return lexicon


def _raw_words(paths: list[str], language: str | None, tokenizer: Tokenizer | None) -> Iterator[list[str]]:
    from qsproj.corpus.files import open_text
    from qsproj.corpus.text import tokenize

    if paths and language is None and tokenizer is None:
        raise UsageError("--raw needs --language CODE, to cut the text into words")
    for path in paths:
        with open_text(path) as handle:
            for line in handle:
                yield tokenizer.words(line) if tokenizer else tokenize(line, language or "")


def _tag(options: argparse.Namespace) -> None:
    from qsproj.cli.options.given_parsers import telling_unknown
    from qsproj.corpus.formats import check_has_misc, count_sentences, write_sentences
    from qsproj.models.text.kinds import load_tags
    from qsproj.pipelines.streams import loaded_once, tag_stream
    from qsproj.progress import track

    check_files(reads=(options.input, options.model), writes=[(options.output, options.input)])
    if options.confidence:
        check_has_misc(options.output, "--confidence")
    tagger = loaded_once(load_tags, options.model)
    for column in options.columns or ():
        if column not in tagger.columns:
            raise UsageError(
                f"--columns: {options.model} has not learned {column}, it fills {', '.join(tagger.columns)}"
            )
    total = partial(count_sentences, options.input or "-")
    sentences = telling_unknown(
        _sentences(options, tagger), None, tagger, path=options.model, name=options.input or "-"
    )
    sentences = track(sentences, "tagging", total=total, unit="sentence")
    write_sentences(
        tag_stream(
            options.model,
            sentences,
            confidence=options.confidence,
            columns=options.columns,
            workers=workers_of(options),
        ),
        options.output,
    )


def _sentences(options: argparse.Namespace, tagger: Tagger) -> Iterator[Sentence]:
    from qsproj.corpus.formats import open_source

    with open_source(options.input or "-") as source:
        if source.is_text:
            yield from tagger.read(
                source.lines,
                language=options.language,
                split_contractions=options.split_contractions,
                paragraphs=options.paragraphs,
                segmentations=options.segmentations,
                name=source.name,
            )
            return
        for option in ("split_contractions", "paragraphs", "segmentations"):
            if getattr(options, option):
                flag = f"--{option.replace('_', '-')}"
                raise UsageError(f"{flag} is for plain text, found CoNLL-U; leave it out")
        yield from source.sentences()


def add_tag_projection(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group(
        "tags through links",
        "with --project: learn from tagged translations and what words they are linked to",
    )
    add_options(group)("""
        --source FILE...: the translation in CoNLL-U with UPOS; several vote: --source and --alignment for
            each
        --target FILE: CoNLL-U, or text, one sentence a line: cut as --language says, else at white space
        --alignment FILE...: links of --source and --target, best with weights
    """)
    add_alignment_format(group)
    add_options(group)("""
        --tagged FILE+: target sentences with UPOS, as few as there are
        --text FILE+: raw text of the target language, one sentence a line, that to be tagged among it: helps
            where the target has few of its words
    """)


def project_tagger(options: argparse.Namespace) -> None:
    """Learn a tagger through links, write it, say how it went."""
    import numpy as np

    from qsproj.cli.options.common import check_files, made_by, naming, read_tagged
    from qsproj.corpus.language.lemmas import lexicon_of
    from qsproj.corpus.pairs.translations import join_translations
    from qsproj.models.morphology.morphology_training import columns_shown
    from qsproj.pipelines.tagging.tags_through_links import PROJECTED_COLUMNS, project_tags

    sources, alignments, tagged = options.source or [], options.alignment or [], options.tagged or []
    if not (sources and options.target and alignments):
        raise UsageError("--project needs --source, --target and --alignment")
    if len(sources) != len(alignments):
        raise UsageError(
            f"found {len(sources)} --source and {len(alignments)} --alignment; give each source its links"
        )
    carried = "upos", *PROJECTED_COLUMNS
    for column in options.columns or ():
        if column not in carried:
            raise UsageError(f"--columns: links do not carry {column}, they carry {', '.join(carried)}")
    texts = options.text or []
    if texts and options.language is None:
        raise UsageError("--text needs --language CODE, to cut the text into words")
    inputs = [*sources, options.target, *alignments, *tagged, options.lexicon, *texts]
    if len(sources) > 1 and options.target == "-":
        raise UsageError("with several sources the target is read several times; name a file in place of -")
    check_files(reads=inputs, model=options.output)
    corpus = join_translations(
        tuple(
            _pairs(source, options.target, alignment, options.alignment_format, options.language)
            for source, alignment in zip(sources, alignments, strict=True)
        )
    )
    few = list(read_tagged(tagged))
    lexicon = lexicon_of(options.lexicon, options.lemmatizer, options.language)
    if "lemma" in (options.columns or ()) and not lexicon.tells_lemmas and "lemma" not in columns_shown(few):
        raise UsageError(
            "--columns: nothing tells lemmas; give --tagged sentences that have them, a --lexicon of "
            "lemma, form and features, or a --lemmatizer"
        )
    with naming(*sources, options.target, *alignments):
        projected = project_tags(
            corpus,
            rng=np.random.default_rng(options.seed),
            tagged=few,
            raw=_words_of(texts, options.language),
            lexicon=lexicon,
            language=options.language,
            columns=PROJECTED_COLUMNS if options.columns is None else options.columns,
        )
    projected.tagger.save(options.output, made=made_by(options))
    for line in projected.report:
        print(line, file=sys.stderr)


def _words_of(paths: Iterable[str], language: str | None) -> Iterator[tuple[str, ...]]:
    from qsproj.corpus.files import open_text
    from qsproj.corpus.text import read_text

    for path in paths:
        with open_text(path) as lines:
            for sentence in read_text(lines, language=language or "", name=path):
                yield sentence.forms


def _pairs(
    source: str, target: str, alignment: str, alignment_format: str, language: str | None
) -> Iterable[SentencePair]:
    from qsproj.alignment.reading import is_conllu
    from qsproj.corpus.pairs.aligned import AlignedFiles, AlignedText

    if is_conllu(target):
        return AlignedFiles(source, target, alignment, alignment_format)
    return AlignedText(source, target, alignment, alignment_format, language)
