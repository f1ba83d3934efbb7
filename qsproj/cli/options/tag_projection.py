"""``qsproj tag --project``: its options, the files that it reads, and what it does with them."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from qsproj.cli.options.pair_files import add_alignment_format
from qsproj.errors import UsageError

if TYPE_CHECKING:
    from qsproj.corpus.sentence import SentencePair

OPTIONS_OF_PROJECT = ("source", "target", "alignment", "alignment_format", "tagged", "lexicon", "text")


def add_tag_projection(parser: argparse.ArgumentParser) -> None:
    """Declare the options of ``--project``."""
    group = parser.add_argument_group(
        "tags through links",
        "with --project: learn from tagged translations and what words they are linked to",
    )
    group.add_argument(
        "--source",
        action="append",
        metavar="FILE",
        help="the translation in CoNLL-U with UPOS; several vote: --source and --alignment for each",
    )
    group.add_argument(
        "--target",
        metavar="FILE",
        help="CoNLL-U, or text, one sentence a line: cut as --language says, else at white space",
    )
    group.add_argument(
        "--alignment",
        action="append",
        metavar="FILE",
        help="links of --source and --target, best with weights",
    )
    add_alignment_format(group)
    group.add_argument(
        "--tagged", nargs="+", metavar="FILE", help="target sentences with UPOS, as few as there are"
    )
    group.add_argument(
        "--text",
        nargs="+",
        metavar="FILE",
        help="raw text of the target language, one sentence a line, that to be tagged among it: helps where "
        "the target has few of its words",
    )
    group.add_argument("--lexicon", metavar="FILE", help="lines of a word, a tab, and the tags it may have")


def project_tagger(options: argparse.Namespace) -> None:
    """Learn a tagger through links, write it, say how it went."""
    import numpy as np

    from qsproj.cli.options.command_files import check_files
    from qsproj.cli.options.common import naming, read_tagged
    from qsproj.cli.options.made import made_by
    from qsproj.corpus.language.lexicon import read_lexicon
    from qsproj.pipelines.tagging.tags_through_links import project_tags
    from qsproj.pipelines.translations import join_translations

    sources, alignments, tagged = options.source or [], options.alignment or [], options.tagged or []
    if not (sources and options.target and alignments):
        raise UsageError("--project needs --source, --target and --alignment")
    if len(sources) != len(alignments):
        raise UsageError(
            f"found {len(sources)} --source and {len(alignments)} --alignment; give each source its links"
        )
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
    with naming(*sources, options.target, *alignments):
        projected = project_tags(
            corpus,
            rng=np.random.default_rng(options.seed),
            tagged=list(read_tagged(tagged)),
            raw=_words_of(texts, options.language),
            lexicon=read_lexicon(options.lexicon) if options.lexicon else None,
            language=options.language,
        )
    projected.tagger.save(options.output, made=made_by(options))
    for line in projected.report:
        print(line, file=sys.stderr)


def _words_of(paths: Iterable[str], language: str | None) -> Iterator[tuple[str, ...]]:
    """Yield the words of each line that has some."""
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
    from qsproj.corpus.pairs.aligned import AlignedFiles
    from qsproj.corpus.pairs.aligned_text import AlignedText

    if is_conllu(target):
        return AlignedFiles(source, target, alignment, alignment_format)
    return AlignedText(source, target, alignment, alignment_format, language)
