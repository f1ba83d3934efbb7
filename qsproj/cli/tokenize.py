"""Tokenise text for an external word aligner: one line per line, words separated by spaces.

Tokens are those of other commands: with --language those of `qsproj align --tokenize`, with -m those of the
model. Links between such files therefore fit `qsproj project-tags`, `qsproj bootstrap --alignment` and other
commands. A space within a word is written as _. Blank lines are kept. In CoNLL-U, blank lines are left out,
and sent_id is the number of the line.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import TYPE_CHECKING

from qsproj.cli.command_parser import CommandParser

if TYPE_CHECKING:
    from qsproj.corpus.sentence import Sentence

    Reader = Callable[[Iterable[str]], Iterator[Sentence]]

EXAMPLES = """examples:
  qsproj tokenize --language de text.de -o words.de
  qsproj tokenize -m en.tagger text.en -o words.en
  qsproj tokenize --language de --split-contractions text.de -o words.de.conllu
  qsproj tokenize --language fr --split-contractions < text.fr > words.fr
"""

CONLLU = ".conllu"


def add_arguments(parser: CommandParser) -> None:
    parser.option("[INPUT]", "plain text, one sentence per line", default="-")
    written = f"tokens, one sentence per line, or CoNLL-U if the name ends in {CONLLU}"
    parser.option("-o, --output FILE", written, default="-")
    way = parser.add_mutually_exclusive_group(required=True)
    way.option("--language CODE", "tokenise by the rules of this language, two or three letters")
    way.option("-m, --model MODEL", "tokenise with this model: a tagger, or a tagger and parser")
    parser.option("--split-contractions", "with rules, split contractions into words: zum to zu dem")


def run(options: argparse.Namespace) -> None:
    from qsproj.corpus.conllu import write_conllu
    from qsproj.corpus.files import open_output
    from qsproj.corpus.formats import open_raw_text
    from qsproj.corpus.text import words_of_lines

    read = _reader(options)
    with open_raw_text(options.input) as lines:
        if options.output.endswith(CONLLU):
            write_conllu(read(lines), options.output)
            return
        with open_output(options.output) as out:
            for words in words_of_lines(lines, read):
                out.write(" ".join(form.replace(" ", "_") for form in words) + "\n")


def _reader(options: argparse.Namespace) -> Reader:
    from qsproj.corpus.contractions import known_contractions
    from qsproj.corpus.text import read_text
    from qsproj.models.parser import load_tags

    if options.model is not None:
        tagger = load_tags(options.model)
        return tagger.reader(split_contractions=options.split_contractions, name=options.input)
    contractions = known_contractions(options.language, []) if options.split_contractions else None
    return partial(read_text, language=options.language, contractions=contractions, name=options.input)
