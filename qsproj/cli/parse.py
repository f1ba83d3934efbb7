"""Parse sentences: fill in HEAD and DEPREL, keep everything else byte for byte.

The input is CoNLL-U with the columns that the model was trained on (UPOS at least; see `qsproj tag`). A model
with a tagger (see `qsproj bundle`) also reads plain text: one sentence per line or, with --paragraphs,
running text with one paragraph per line or blank lines between paragraphs. Blank lines are skipped. CoNLL-U
words without UPOS are tagged first, and sentences without lemmas or features get those of the tagger. A model
trained with `qsproj train --joint-tags` needs only word forms and fills in UPOS. Sentences of more than 1,000
words are not parsed, but written and counted.
"""

import argparse
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING

from qsproj.cli.options.declare import Option
from qsproj.cli.options.files import check_keeps
from qsproj.cli.options.shared import TEXT_READING, WORKERS, check_no_text_options, values_of, workers_of
from qsproj.corpus.files import name_of
from qsproj.corpus.formats import Source, check_has_misc, count_sentences, open_source, write_sentences
from qsproj.corpus.language.sentence_ends import numbered_by_line, rule_starts
from qsproj.corpus.sentence import Sentence
from qsproj.corpus.text import is_blank
from qsproj.errors import DataError, UsageError, pluralise
from qsproj.progress import notice, track

if TYPE_CHECKING:
    from qsproj.models.parser import Parser

OPTIONS = (
    Option("-m, --model MODEL", "parser, or tagger and parser, trained by qsproj", required=True),
    Option("[INPUT]", "CoNLL-U or text", default="-"),
    Option("-o, --output FILE", "CoNLL-U", default="-", writes="input"),
    Option(
        "--decode NAME",
        "mbr: tree with the highest expected number of correct heads, for train --labels joint with correct "
        "relations (default); map: most probable tree; "
        "max-z: most probable tree together with its hidden clusters, for models that have them",
        default="mbr",
        choices=("mbr", "map", "max-z"),
    ),
    Option(
        "--confidence",
        "add the probability of each arc to MISC as ArcProb=; for models of train --joint-tags also that "
        "of the tag (UposProb=), for train --labels joint that of arc and relation (RelProb=), for train "
        "--enhanced those of the edges in DEPS, given their relations (DepsProb=)",
    ),
    Option("--retag", "replace the UPOS of the input by the model's own tags"),
    Option(
        "--fixed",
        "keep the heads and relations of the input and infer the missing ones (_) given these; with "
        "Span=3-7 in MISC, one of words 3 to 7 is the head of the others",
    ),
    *TEXT_READING,
    *WORKERS,
)
EXAMPLES = """examples:
  qsproj parse -m en.model corpora/en.conllu -o parsed.conllu
  qsproj parse -m de.model text.txt -o parsed.conllu          # plain text, where the model tags as well
  qsproj parse -m de.model book.txt --paragraphs -o book.conllu
  xzcat big.conllu.xz | qsproj parse -m en.model --confidence > parsed.conllu
  qsproj parse -m en.model big.conllu.xz --jobs 8 -o parsed.conllu.gz
  qsproj parse -m en.model half-annotated.conllu --fixed -o whole.conllu
"""

# Number of lines checked for one sentence per line, and the share of lines with several that refutes it.
_LINES_LOOKED_AT, _SEVERAL = 100, 0.2


def run(options: argparse.Namespace) -> None:
    from qsproj.cli.options.model_warnings import warn_one_side
    from qsproj.models.parser import load_parser
    from qsproj.pipelines.streams import InputSource, loaded_once, parse_stream

    if options.confidence:
        check_has_misc(options.output, "--confidence")
    workers, parser = workers_of(options), loaded_once(load_parser, options.model)
    warn_one_side(parser, options.model)
    if options.retag and parser.retagging() is None:
        remedy = "give it a tagger: qsproj bundle"
        raise UsageError(f"--retag is for models that tag; {options.model} does not; {remedy}")
    total = partial(count_sentences, options.input)
    with open_source(options.input) as source:
        sentences = track(_sentences(options, source, parser), "parsing", total=total, unit="sentence")
        how = values_of(options, "decode", "confidence", "retag", "fixed")
        origin = InputSource(name=source.name, is_text=source.is_text)
        parsed = parse_stream(options.model, sentences, **how, origin=origin, workers=workers)
        # Not before: notices and errors name lines of the file.
        write_sentences(numbered_by_line(parsed) if source.is_text else parsed, options.output)


def _sentences(options: argparse.Namespace, source: Source, parser: "Parser") -> Iterator[Sentence]:
    from qsproj.cli.options.model_warnings import refusing_untagged, warn_ignored, warn_unknown

    if not source.is_text:
        check_no_text_options(options, "language", "paragraphs", "segmentations")
        read = refusing_untagged(source.sentences(), parser, path=options.model, name=source.name)
        names = {"path": options.model, "name": name_of(source.name)}
        known = warn_unknown(read, None if options.retag else parser, parser.word_tagger, **names)
        return warn_ignored(known, parser, **names)
    check_keeps(options.output, [options.input])
    if options.fixed:
        raise UsageError("--fixed is for CoNLL-U with some heads, found plain text; leave it out")
    tagger = parser.word_tagger
    if tagger is None:
        remedy = "tag it first: qsproj tag; or make one model of a tagger and the parser: qsproj bundle"
        raise DataError(source.name, 1, "plain text", "CoNLL-U, as this parser reads tags", remedy)
    lines = source.lines
    if not (options.paragraphs or options.segmentations):
        starts = tagger.splitter.starts if tagger.splitter else partial(rule_starts, language=tagger.language)
        lines = _noticing_paragraphs(lines, starts, source.name)
    how = values_of(options, "language", "paragraphs", "segmentations")
    sentences = tagger.read(lines, split_contractions=True, name=source.name, **how)
    return warn_unknown(sentences, None, tagger, path=options.model, name=source.name)


def _noticing_paragraphs(
    lines: Iterator[str], starts: Callable[[str], Sequence[int]], name: str
) -> Iterator[str]:
    """Yield the lines unchanged, with one notice if many of the first ones hold several sentences."""
    several = looked_at = 0
    for line in lines:
        yield line
        if not is_blank(line):
            looked_at += 1
            several += len(starts(" ".join(line.split()))) > 1
            if looked_at == _LINES_LOOKED_AT:
                break
    if looked_at and several >= _SEVERAL * looked_at:
        holds = "holds" if several == 1 else "hold"
        notice(
            f"{name_of(name)}: {several} of the first {pluralise(looked_at, 'line')} {holds} several "
            "sentences, each parsed as one; find them with --paragraphs"
        )
    yield from lines
