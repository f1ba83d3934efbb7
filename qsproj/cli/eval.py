"""Score a parsed file against gold trees, compare two parsed files, or score word alignments.

UAS and LAS are percentages of words with the right head, and with the right head and relation; "LAS, no
subtypes" compares nsubj:pass as nsubj, and is the LAS of the CoNLL 2018 shared task. UPOS is the percentage
of words with the right tag; --tags scores nothing else. UEM and LEM are percentages of sentences without an
error. Punctuation (gold UPOS PUNCT) is scored unless --no-punct is given. Words without a gold head are not
scored; how many is said.

Where SYSTEM cuts the same text into other sentences, tokens or words, each score is the F1 of what is right,
as the scorer of the CoNLL 2018 shared task counts; of sentences, tokens and words, too. --columns counts so
in any case, and adds XPOS, universal features (UFeats), AllTags, lemmas, CLAS, MLAS and BLEX (of content
words), and ELAS and EULAS (of enhanced dependencies). Files that differ in sentences are paired by sent_id;
how many sentences that leaves is said.

--by groups words by the gold trees ("left 2": the dependent stands two words left of its head); its column
"found" counts those that SYSTEM puts into the group. With --versus, p is the exact two-sided probability
that swapping the two systems' results at random, sentence by sentence, sets them as far apart.

--calibration tells instead whether SYSTEM's ArcProb keeps its word: of the arcs that it gives 0.8, 80% should
be right. The expected calibration error is the mean distance from that, in percent. RelProb, of parsers that
were trained with --labels joint, is that of the arc together with its relation.

--agreement tells how far two annotators of one text agree: percentages and Cohen's kappa of tags, features,
heads and relations; a head counts by its distance. Where they differ: qsproj serve --review A --beside B.

--report writes a page of it all: scores, what is taken for what, sentences of which most is wrong,
calibration where there is ArcProb; of several systems side by side, and with --at, the number of trees that
each has learned from, their learning curve.

--validate has the validator of Universal Dependencies (udtools, pip install 'qsproj[validate]') test a single
file, instead: the tests that fail, how often, and of each the first sentence. Sentences without relations are
tested at level 2, whatever --level says.

--alignments scores links of the same sentence pairs: the alignment error rate (AER; less is better) and
precision against sure and possible gold links, recall against the sure ones.
"""

import argparse
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from qsproj.cli.options.common import add_options, check_files, declare_ways, number, refuse_unread
from qsproj.corpus.editing import ARC_PROBABILITY, RELATION_PROBABILITY
from qsproj.corpus.files import name_of, open_output
from qsproj.corpus.formats import (
    ALIGNMENTS,
    DEFAULT_ALIGNMENT_FORMAT,
    WITH_WORDS,
    names_of,
    read_alignments,
    read_sentences,
)
from qsproj.corpus.sentence import Sentence
from qsproj.errors import DataError, UsageError, counted
from qsproj.evaluation.alignment import alignment_scores
from qsproj.evaluation.attachment import GROUPINGS, AttachmentScores, WordsDifferError, attachment_scores
from qsproj.evaluation.calibration import confidences_of, relations_can_be_judged, reliability, share_stated
from qsproj.evaluation.common_sentences import common_sentences
from qsproj.evaluation.cut_differently import CutScores, cut_scores
from qsproj.evaluation.score_tables import (
    alignment_scores_as_json,
    alignment_scores_as_table,
    calibration_as_json,
    calibration_as_table,
    columns_as_json,
    cut_scores_as_json,
    cut_scores_as_table,
    scores_as_json,
    scores_as_table,
    systems_as_table,
)
from qsproj.progress import notice, notices

EXAMPLES = """examples:
  qsproj eval gold.conllu parsed.conllu
  qsproj eval gold.conllu.gz parsed.conllu --no-punct --by relation
  qsproj eval gold.conllu parsed.conllu --versus other-parser.conllu
  qsproj parse -m MODEL gold.conllu | qsproj eval gold.conllu - --json
  qsproj parse -m MODEL gold.conllu --confidence | qsproj eval gold.conllu - --calibration
  qsproj parse -m MODEL gold.conllu --retag | qsproj eval gold.conllu - --columns
  qsproj tag -m TAGGER gold.txt | qsproj eval gold.conllu - --tags    # words may be cut differently
  qsproj parse -m MODEL text.txt | qsproj eval --validate - --level 3
  qsproj eval anna.conllu ben.conllu --agreement
  qsproj eval gold.conllu parsed.conllu other-parser.conllu --report report.html
  qsproj eval gold.conllu by-100.conllu by-300.conllu by-1000.conllu --at 100 300 1000 --report report.html
  qsproj eval --alignments corpora/en-de.pharaoh links.pharaoh
  qsproj eval --alignments gold.talp --gold-format talp links.pharaoh --json
"""


# What each kind of scores reads that not all do.
TREES = "scores of trees"
WAYS = {
    TREES: ("more", "no_punct", "by", "versus", "report", "at"),
    "--tags": ("no_punct", "versus"),
    "--columns": (),
    "--agreement": (),
    "--calibration": ("no_punct",),
    "--alignments": ("gold_format", "alignment_format"),
    "--validate": ("level", "language"),
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_options(parser)("""
        gold GOLD: CoNLL-U file with the right trees (.gz, .xz; - for stdin)
        system SYSTEM: CoNLL-U file of the same text, parsed
        more SYSTEM*: further ones, for --report
        --no-punct: do not score words whose gold UPOS is PUNCT
    """)
    parser.add_argument("--by", choices=tuple(GROUPINGS), help="break the scores down by this")
    add_options(parser)("""
        --versus OTHER: a second parsed file: test the difference to SYSTEM
        --report FILE: write a page of HTML on all systems
    """)
    parser.add_argument(
        "--at",
        nargs="+",
        type=number(least=0.0),
        default=[],
        metavar="N",
        help="for --report, the size of what each system has learned from, in their order",
    )
    instead = parser.add_mutually_exclusive_group()
    add_options(instead)("""
        --columns: score all columns as the CoNLL 2018 shared task did: F1 of sentences, tokens, words, UPOS,
            XPOS, features, lemmas, trees
        --tags: score no trees; files need not have any
        --agreement: tell how far two annotators agree, GOLD and SYSTEM, beyond chance
        --calibration: tell how far ArcProb, and RelProb, can be trusted, instead of scores
        --alignments: score the links of SYSTEM against those of GOLD instead
    """)
    instead.add_argument(
        "--validate",
        action=_Alone,
        metavar="FILE",
        help="count the faults that UD's tests find in this file, without GOLD and SYSTEM",
    )
    add_options(parser)("""
        --level N[1..5]=2: of --validate: 1 columns, 2 the format of UD, 3 its guidelines, 4 and 5 those of
            the language
        --language CODE=ud: of --validate, two or three letters (default: any)
    """)
    formats = ", ".join(names_of(ALIGNMENTS))
    add_options(parser)(f"""
        --gold-format NAME: of gold links: {formats} (default: {DEFAULT_ALIGNMENT_FORMAT})
        --alignment-format NAME: of the system's links, the same names
        --json: print JSON instead of a table
    """)
    declare_ways(parser, WAYS)


class _Alone(argparse.Action):
    """Stores a file in place of GOLD and SYSTEM, which need not be given then."""

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        options: argparse.Namespace,
        value: Any,
        flag: str | None = None,
    ) -> None:
        setattr(options, self.dest, value)
        for action in parser._actions:
            if not action.option_strings:
                action.required = False


def run(options: argparse.Namespace) -> None:
    if options.validate and options.gold is not None:
        raise UsageError(f"--validate tests one file, {options.validate}; leave out {options.gold}")
    paths = [path for path in (options.gold, options.system, options.versus) if path is not None]
    if [*paths, *options.more].count("-") > 1:
        raise UsageError(
            "only one of GOLD, SYSTEM and OTHER can be - (standard input); name files for the rest"
        )
    asked = [way for way in WAYS if getattr(options, way.removeprefix("--"), False)]
    refuse_unread(options, WAYS, asked[0] if asked else TREES)
    if options.validate:
        from qsproj.evaluation.validation import validate, validation_as_json, validation_as_table

        found = validate(options.validate, level=options.level, language=options.language)
        _print(
            validation_as_json(found)
            if options.json
            else validation_as_table(name_of(options.validate), found)
        )
    elif options.alignments:
        _run_alignments(options)
    elif options.agreement:
        from qsproj.evaluation.agreement import agreement, agreement_as_json, agreement_as_table

        first, second = _read_all([options.gold, options.system])
        rows = agreement(first, second)
        _print(agreement_as_json(rows) if options.json else agreement_as_table(rows))
    elif options.calibration:
        _run_calibration(options)
    elif options.report is not None:
        _run_report(options, [*paths, *options.more])
    elif options.more or options.at:
        raise UsageError("several systems, and --at, need --report; two systems are compared by --versus")
    else:
        _run_trees(options, paths)


def _run_report(options: argparse.Namespace, paths: list[str]) -> None:
    """Write the page, and print where the systems stand."""
    from qsproj.pipelines.evaluation_report import Compared, write_report

    if options.at and len(options.at) != len(paths) - 1:
        found = f"{counted(len(options.at), 'size')} for {counted(len(paths) - 1, 'system')}"
        raise UsageError(f"--at: found {found}, expected one for each")
    if options.json or options.by is not None:
        raise UsageError("--report has relations and all scores; leave out --json and --by")
    check_files(reads=paths, writes=[(options.report, None)])
    gold, *systems = _read_all(paths)
    punctuation = not options.no_punct
    scores = attachment_scores(gold, systems, punctuation=punctuation, names=paths)
    _check_something_scored(options, paths, scores)
    write_report(options.report, Compared(paths, gold, systems, punctuation, options.at))
    _print(systems_as_table(paths[1:], scores))


def _run_trees(options: argparse.Namespace, paths: list[str]) -> None:
    files = [_readable_twice(path, kept=options.json) for path in paths]
    try:
        _print_trees(options, paths, files)
    except DataError:
        common = common_sentences([read() for read in files], paths)
        if common is None:
            raise
        _print_trees(options, paths, [partial(iter, sentences) for sentences in common])


def _print_trees(
    options: argparse.Namespace, paths: list[str], files: Sequence[Callable[[], Iterable[Sentence]]]
) -> None:
    if options.columns:
        _print_cut_differently(options, cut_scores(files[0](), files[1](), names=(paths[0], paths[1])))
        return
    try:
        scores = attachment_scores(
            files[0](),
            [read() for read in files[1:]],
            punctuation=not options.no_punct,
            by=options.by,
            names=paths,
        )
    except WordsDifferError:
        if options.by is not None or options.versus is not None or options.no_punct:
            raise
        _print_cut_differently(options, cut_scores(files[0](), files[1](), names=(paths[0], paths[1])))
        return
    _check_something_scored(options, paths, scores)
    if options.json:
        columns = cut_scores(files[0](), files[1](), names=(paths[0], paths[1]))
        _print({**scores_as_json(paths, scores), **columns_as_json(columns, trees=not options.tags)})
    else:
        _print(scores_as_table(paths, scores, punctuation=not options.no_punct, trees=not options.tags))


def _read_all(paths: Sequence[str]) -> list[list[Sentence]]:
    """Return the sentences of files that are the same, or those that all of them have."""
    files = [list(read_sentences(path)) for path in paths]
    try:
        # For its checks: that all hold the same words.
        attachment_scores(files[0], files[1:], names=paths)
    except DataError:
        common = common_sentences(files, paths)
        if common is None:
            raise
        # They may yet be cut into other words.
        attachment_scores(common[0], common[1:], names=paths)
        return common
    return files


def _readable_twice(path: str, *, kept: bool) -> Callable[[], Iterable[Sentence]]:
    """Return what reads a file from its beginning at each call.

    What is no regular file, and what is ``kept``, is read once into memory.
    """
    if Path(path).is_file() and not kept:
        return partial(read_sentences, path)
    sentences = list(read_sentences(path))
    return lambda: sentences


def _check_something_scored(
    options: argparse.Namespace, paths: list[str], scores: tuple[AttachmentScores, ...]
) -> None:
    """Raise DataError when there is nothing to score in the gold file or nothing to be scored in another."""
    counted, what = ("with_gold_tag", "UPOS") if options.tags else ("tokens", "heads")
    if scores[0].total(counted) == 0:
        raise DataError(
            options.gold,
            None,
            found="no word to score",
            expected=f"words with {what}" + (" other than punctuation" if options.no_punct else ""),
            remedy=f"check that GOLD is the file with the {'tags' if options.tags else 'trees'}",
        )
    for path, system in zip(paths[1:], scores):
        if not options.tags and system.total("without_head") == system.tokens:
            raise _without_trees(path)


def _without_trees(path: str) -> DataError:
    remedy = "parse it first: qsproj parse; or score tags alone: --tags"
    return DataError(path, None, "no head on any word", "trees", remedy)


def _print_cut_differently(options: argparse.Namespace, scores: CutScores) -> None:
    for path, missing, words in (
        (options.gold, scores.without_gold_head, scores.words.gold),
        (options.system, scores.without_head, scores.words.system),
    ):
        if missing == words and not options.tags:
            raise _without_trees(path)
    paths, trees = (options.gold, options.system), not options.tags
    _print(
        cut_scores_as_json(scores, trees=trees)
        if options.json
        else cut_scores_as_table(paths, scores, trees=trees, columns=options.columns)
    )


def _run_alignments(options: argparse.Namespace) -> None:
    gold_format = options.gold_format or DEFAULT_ALIGNMENT_FORMAT
    told: list[str] = []
    with notices(told.append):
        gold = list(read_alignments(options.gold, gold_format))
        # So that links to words that there are not are errors, where GOLD says what words there are.
        sizes = [(one.n_source, one.n_target) for one in gold] if gold_format in WITH_WORDS else None
        system = read_alignments(options.system, options.alignment_format or DEFAULT_ALIGNMENT_FORMAT, sizes)
        scores = alignment_scores(gold, system, names=(options.gold, options.system))
    if scores.possible == 0:
        raise DataError(
            options.gold,
            None,
            found="no link",
            expected="links to score against",
            remedy="check that GOLD is the file with the right links",
        )
    if scores.found_one_off > scores.found_possible:
        notice(
            f"{options.system}: {scores.found_possible:,} of its links are right, "
            f"{scores.found_one_off:,} were its words one off; check what words count from: --gold-format, "
            "--alignment-format"
        )
    else:  # What the files alone make one think is told where the scores say nothing of it.
        for line in told:
            notice(line)
    paths = (options.gold, options.system)
    _print(alignment_scores_as_json(scores) if options.json else alignment_scores_as_table(paths, scores))


def _print(told: Mapping[str, object] | list[str]) -> None:
    """Print JSON, or the lines of a table."""
    text = "\n".join(told) if isinstance(told, list) else json.dumps(told, ensure_ascii=False, indent=2)
    with open_output(None) as handle:
        handle.write(text + "\n")


def _run_calibration(options: argparse.Namespace) -> None:
    """Print how far ArcProb can be trusted, and RelProb where there is some."""
    gold, system = _read_all([options.gold, options.system])
    keys = [ARC_PROBABILITY] + ([RELATION_PROBABILITY] if relations_can_be_judged(gold, system) else [])
    for key in keys:
        judged, words = share_stated(system, key)
        if 0 < judged < words:
            notice(
                f"{name_of(options.system)}: {key} of {judged:,} of {words:,} words; others are not judged"
            )
    tables = {
        key: reliability(
            *confidences_of(gold, system, key, punctuation=not options.no_punct, name=options.system)
        )
        for key in keys
    }
    if options.json:
        scored = {key: calibration_as_json(table) for key, table in tables.items()}
        _print({**scored.pop(ARC_PROBABILITY), **scored})
    else:
        told = ["\n".join(calibration_as_table(key, table)) for key, table in tables.items()]
        _print(["\n\n".join(told)])
