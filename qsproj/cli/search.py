"""Search trees: print the words that match a pattern, count them, or write their sentences.

PATTERN has the syntax of the review page (`qsproj serve --review`): conditions that all hold for one word:

  upos=NOUN|PROPN          a noun or a name
  deprel=obl, obl:*        this relation; with any subtype
  head.upos!=VERB          a word whose head is not a verb; head.head. is two steps up
  child.deprel=case        a word with such a child, != without; prev. and next. are its neighbours
  feats.Case=              a word without case; misc.NAME works in the same way
  form~^un.*lich$          a form that matches this regular expression

Attributes are form, lemma, upos, xpos, deprel, feats.NAME and misc.NAME. Each match is printed as a line: the
sentence, the word's number, and its context with the word in brackets.
"""

import argparse

from qsproj.cli.options.declare import Option
from qsproj.corpus.files import open_output
from qsproj.corpus.formats import read_sentences, write_sentences
from qsproj.errors import UsageError, pluralise
from qsproj.serve.review.search import compiled, in_context

OPTIONS = (
    Option("PATTERN", "conditions, in quotes"),
    Option("[FILE ...]", "CoNLL-U (default: standard input)", dest="files"),
    Option("--totals", "print the number of matching words and sentences of each file", former="--count"),
    Option("-o, --output FILE", "write the matching sentences as CoNLL-U instead of printing lines"),
)
EXAMPLES = """examples:
  qsproj search 'upos=NOUN head.deprel=root' de.conllu
  qsproj search 'deprel=obj child.deprel=case' de.conllu sv.conllu --totals
  qsproj search 'feats.Case= upos=NOUN' de.conllu -o without-case.conllu
"""


def run(options: argparse.Namespace) -> None:
    paths = options.files or ["-"]
    if options.totals and options.output is not None:
        raise UsageError("found --totals and -o, expected one of them")
    find = compiled(options.pattern)
    if options.output is not None:
        write_sentences((one for path in paths for one in read_sentences(path) if find(one)), options.output)
        return
    with open_output(None) as out:
        for path in paths:
            name = f"{path}:" if len(paths) > 1 else ""
            words = sentences = 0
            for number, sentence in enumerate(read_sentences(path), start=1):
                found = find(sentence)
                words, sentences = words + len(found), sentences + bool(found)
                for word in () if options.totals else found:
                    context = in_context(sentence.forms, word)
                    text = "{left} [{form}] {right}".format(**context).strip(" ")
                    out.write(f"{name}{sentence.sent_id or number}\t{word}\t{text}\n")
            if options.totals:
                said = f"{pluralise(words, 'word')} in {pluralise(sentences, 'sentence')}"
                out.write(f"{name}{' ' * bool(name)}{said}\n")
