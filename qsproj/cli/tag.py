"""Tag CoNLL-U or plain text with a tagger.

UPOS and the other columns of the model are replaced, or only those of --columns; every other byte is kept.
Plain text is one sentence per line, raw or tokenised; with --paragraphs, running text with one paragraph per
line or blank lines between paragraphs. Blank lines are skipped and marked by `# newpar`; sent_id is the line
number. Of a combined tagger and parser only the tagger is used. Taggers are trained by `qsproj train-tagger`
and `qsproj project-tags`.
"""

import argparse
from functools import partial

from qsproj.cli.options import shared
from qsproj.cli.options.declare import Option
from qsproj.cli.options.files import check_keeps
from qsproj.corpus.files import name_of
from qsproj.corpus.formats import check_has_misc, count_sentences, open_source, write_sentences
from qsproj.errors import UsageError
from qsproj.progress import track

OPTIONS = (
    Option("-m, --model MODEL", "tagger, or tagger and parser", required=True),
    Option("[INPUT]", "CoNLL-U or plain text", default="-"),
    Option("-o, --output FILE", "tagged CoNLL-U", default="-", writes="input"),
    Option("--confidence", "add the probability of each tag to MISC as TagProb="),
    *shared.TEXT_READING,
    Option("--split-contractions", "split contractions of text: zum to zu dem; trained tokenizers always do"),
    shared.columns(use="write", names="upos, xpos, feats, lemma", usual="model"),
    *shared.WORKERS,
)
EXAMPLES = """examples:
  qsproj tag -m en.tagger en.txt -o en.conllu
  qsproj tag -m en.tagger book.txt --paragraphs -o book.conllu
  qsproj tag -m zh.tagger zh.txt --segmentations 5 -o zh.conllu
  qsproj tag -m en.tagger en.conllu --columns lemma,feats -o en.full.conllu
  qsproj tag -m de.tagger parsed.conllu --confidence -o tagged.conllu
  echo 'Wir gehen zum Haus.' | qsproj tag -m de.tagger --split-contractions
"""


def run(options: argparse.Namespace) -> None:
    from qsproj.cli.options.model_warnings import warn_unknown
    from qsproj.models.parser import load_tags
    from qsproj.pipelines.streams import InputSource, loaded_once, tag_stream

    if options.confidence:
        check_has_misc(options.output, "--confidence")
    tagger = loaded_once(load_tags, options.model)
    if missing := [column for column in options.columns or () if column not in tagger.columns]:
        known = ", ".join(tagger.columns)
        raise UsageError(f"--columns: {options.model} has not learned {missing[0]}, it fills {known}")
    with open_source(options.input) as source:
        if source.is_text:
            check_keeps(options.output, [options.input])
            how = shared.values_of(options, "language", "split_contractions", "paragraphs", "segmentations")
            sentences = tagger.read(source.lines, name=source.name, **how)
        else:
            shared.check_no_text_options(options, "split_contractions", "paragraphs", "segmentations")
            sentences = source.sentences()
        sentences = warn_unknown(sentences, None, tagger, path=options.model, name=name_of(options.input))
        total = partial(count_sentences, options.input)
        sentences = track(sentences, "tagging", total=total, unit="sentence")
        how = shared.values_of(options, "confidence", "columns")
        origin = InputSource(name=source.name, is_text=source.is_text)
        workers = shared.workers_of(options)
        write_sentences(
            tag_stream(options.model, sentences, **how, origin=origin, workers=workers), options.output
        )
