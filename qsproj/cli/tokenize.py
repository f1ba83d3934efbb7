"""Tokenise text for an external word aligner: one line per line, words separated by spaces.

Tokens are those of other commands: with --language those of `qsproj align --tokenize`, with -m those of the
model. Links between such files therefore fit `qsproj project-tags`, `qsproj bootstrap --alignment` and other
commands. A space within a word is written as _. Blank lines are kept. In CoNLL-U, blank lines are left out,
and sent_id is the number of the line.
"""

import argparse
from functools import partial

from qsproj.cli.options.declare import Option
from qsproj.corpus.conllu import write_conllu
from qsproj.corpus.contractions import known_contractions
from qsproj.corpus.files import open_output
from qsproj.corpus.formats import named_format, open_raw_text
from qsproj.corpus.text import read_text, words_of_lines

CONLLU = "conllu"
OPTIONS = (
    Option("[INPUT]", "plain text, one sentence per line", default="-"),
    Option("-o, --output FILE", f"tokens, one sentence per line, or CoNLL-U for *.{CONLLU}", default="-"),
    Option("--language CODE", "tokenise by the rules of this language, two or three letters", required=True),
    Option("-m, --model MODEL", "tokenise with this model: a tagger, or a tagger and parser", instead=True),
    Option("--split-contractions", "with rules, split contractions into words: zum to zu dem"),
)
EXAMPLES = """examples:
  qsproj tokenize --language de text.de -o words.de
  qsproj tokenize -m en.tagger text.en -o words.en
  qsproj tokenize --language de --split-contractions text.de -o words.de.conllu
  qsproj tokenize --language fr --split-contractions < text.fr > words.fr
"""


def run(options: argparse.Namespace) -> None:
    if options.model is not None:
        from qsproj.models.parser import load_tags

        tagger = load_tags(options.model)
        read = tagger.reader(split_contractions=options.split_contractions, name=options.input)
    else:
        contractions = known_contractions(options.language, []) if options.split_contractions else None
        how = {"language": options.language, "contractions": contractions}
        read = partial(read_text, name=options.input, **how)
    with open_raw_text(options.input) as lines:
        format = named_format(options.output)
        if format is not None and format.name == CONLLU:
            write_conllu(read(lines), options.output)
            return
        with open_output(options.output) as out:
            for words in words_of_lines(lines, read):
                out.write(" ".join(form.replace(" ", "_") for form in words) + "\n")
