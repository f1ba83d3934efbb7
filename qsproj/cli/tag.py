"""Tag CoNLL-U or plain text with a tagger.

UPOS and the other columns of the model are replaced, or only those of --columns; every other byte is kept.
Plain text is one sentence per line, raw or tokenised; with --paragraphs, running text with one paragraph per
line or blank lines between paragraphs. Blank lines are skipped and marked by `# newpar`; sent_id is the line
number. Of a combined tagger and parser only the tagger is used. Taggers are trained by `qsproj train-tagger`
and `qsproj project-tags`.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING

from qsproj.cli.command_parser import CommandParser
from qsproj.cli.options import shared
from qsproj.cli.options.declare import values_of
from qsproj.cli.options.files import check_keeps
from qsproj.corpus.files import name_of
from qsproj.corpus.formats import check_has_misc, count_sentences, open_source, write_sentences
from qsproj.corpus.sentence import Sentence
from qsproj.errors import UsageError
from qsproj.progress import track

if TYPE_CHECKING:
    from qsproj.models.tagging.tagger import Tagger

EXAMPLES = """examples:
  qsproj tag -m en.tagger en.txt -o en.conllu
  qsproj tag -m en.tagger book.txt --paragraphs -o book.conllu
  qsproj tag -m zh.tagger zh.txt --segmentations 5 -o zh.conllu
  qsproj tag -m en.tagger en.conllu --columns lemma,feats -o en.full.conllu
  qsproj tag -m de.tagger parsed.conllu --confidence -o tagged.conllu
  echo 'Wir gehen zum Haus.' | qsproj tag -m de.tagger --split-contractions
"""


def add_arguments(parser: CommandParser) -> None:
    parser.option("-m, --model MODEL", "tagger, or tagger and parser", required=True)
    parser.option("[INPUT]", "CoNLL-U or plain text", default="-")
    parser.option("-o, --output FILE", "tagged CoNLL-U", default="-", writes="input")
    parser.option("--confidence", "add the probability of each tag to MISC as TagProb=")
    shared.add_text_reading(parser)
    parser.option(
        "--split-contractions",
        "split contractions of plain text into words as in the treebanks: zum to zu dem; always done by "
        "a model with a trained tokenizer",
    )
    shared.add_columns(parser, "write", "upos, xpos, feats, lemma", usual="model")
    shared.add_workers(parser)


def run(options: argparse.Namespace) -> None:
    from qsproj.cli.options.model_warnings import warn_unknown
    from qsproj.models.parser import load_tags
    from qsproj.pipelines.streams import loaded_once, tag_stream

    if options.confidence:
        check_has_misc(options.output, "--confidence")
    tagger = loaded_once(load_tags, options.model)
    for column in options.columns or ():
        if column not in tagger.columns:
            known = ", ".join(tagger.columns)
            raise UsageError(f"--columns: {options.model} has not learned {column}, it fills {known}")
    total = partial(count_sentences, options.input)
    read = _sentences(options, tagger)
    sentences = warn_unknown(read, None, tagger, path=options.model, name=name_of(options.input))
    sentences = track(sentences, "tagging", total=total, unit="sentence")
    how = values_of(options, "confidence", "columns")
    tagged = tag_stream(options.model, sentences, **how, workers=shared.workers_of(options))
    write_sentences(tagged, options.output)


def _sentences(options: argparse.Namespace, tagger: Tagger) -> Iterator[Sentence]:
    with open_source(options.input) as source:
        if source.is_text:
            check_keeps(options.output, [options.input])
            how = values_of(options, "language", "split_contractions", "paragraphs", "segmentations")
            yield from tagger.read(source.lines, name=source.name, **how)
            return
        shared.check_no_text_options(options, "split_contractions", "paragraphs", "segmentations")
        yield from source.sentences()
