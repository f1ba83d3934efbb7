"""Score a parsed file against gold trees, compare two parsed files, or score word alignments.

UAS and LAS are the percentages of words with the correct head, and with the correct head and relation; "LAS,
no subtypes" compares nsubj:pass as nsubj. UPOS is the percentage of words with the correct tag, UEM and LEM
that of sentences without an error in heads, and in heads and relations. If the words or sentences of SYSTEM
differ on the same text, each score is the F1 of the CoNLL 2018 shared task. Words without a gold head are not
scored. Files with different sentences are paired by sent_id.

With --versus, p is that of an exact two-sided randomisation test that swaps the two systems' results sentence
by sentence. --by groups words by the gold trees; "found" counts the words that SYSTEM puts into the group.
"""

import argparse
import json
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from qsproj.cli.command_parser import CommandParser, print_lines
from qsproj.cli.options.declare import only_where, only_with
from qsproj.corpus import formats
from qsproj.corpus.alignments import naming_option
from qsproj.corpus.editing import ARC_PROBABILITY, RELATION_PROBABILITY
from qsproj.corpus.files import name_of
from qsproj.corpus.sentence import Sentence
from qsproj.errors import DataError, UsageError, pluralise
from qsproj.evaluation import score_tables
from qsproj.evaluation.alignment import alignment_scores
from qsproj.evaluation.attachment import GROUPINGS, AttachmentScores, WordsDifferError, attachment_scores
from qsproj.evaluation.calibration import confidences_of, relations_can_be_judged, reliability, share_stated
from qsproj.evaluation.conll18 import CutScores, cut_scores
from qsproj.evaluation.token_alignment import Files, on_common_sentences
from qsproj.progress import notice

EXAMPLES = """examples:
  qsproj eval gold.conllu parsed.conllu
  qsproj eval gold.conllu parsed.conllu --no-punct --by relation
  qsproj eval gold.conllu parsed.conllu --versus other-parser.conllu
  qsproj parse -m MODEL gold.conllu --confidence | qsproj eval gold.conllu - --calibration
  qsproj parse -m MODEL text.txt | qsproj eval --validate - --level 3
  qsproj eval gold.conllu by-100.conllu by-300.conllu --at 100 300 --report report.html
  qsproj eval --alignments corpora/en-de.pharaoh links.pharaoh
"""


# Kinds of scores that replace attachment scores.
KINDS = ("tags", "columns", "agreement", "calibration", "alignments", "validate")


def add_arguments(parser: CommandParser) -> None:
    parser.set_defaults(kind_of_inputs="of GOLD, SYSTEM and OTHER")
    parser.option("GOLD", "CoNLL-U with gold trees (- for standard input)")
    parser.option("SYSTEM", "the same text, parsed, CoNLL-U")
    more = parser.option("[SYSTEM ...]", "further systems, for --report", dest="more")
    parser.option("--json", "print JSON instead of a table")
    trees = parser.add_argument_group("scores of trees")
    no_punct = trees.option("--no-punct", "ignore words with UPOS PUNCT")
    by = trees.option("--by", "show the scores by group", choices=tuple(GROUPINGS))
    versus = trees.option("--versus OTHER", "second system, for a significance test of the difference")
    report = trees.option("--report FILE", "write an HTML page that compares all systems", writes="")
    at = trees.option(
        "--at N ...", "for --report: training data size of each system, for a learning curve", least=0.0
    )
    kinds = parser.add_argument_group("other scores")
    instead = kinds.add_mutually_exclusive_group()
    instead.option(
        "--columns",
        "all scores of the CoNLL 2018 shared task: XPOS, features, lemmas, CLAS, MLAS, BLEX, ELAS",
    )
    instead.option("--tags", "score tags only; the files need no trees")
    instead.option("--agreement", "agreement of two annotators, GOLD and SYSTEM, as Cohen's kappa")
    instead.option(
        "--calibration", "calibration of ArcProb and RelProb: of arcs with 0.8, 80%% should be correct"
    )
    instead.option("--alignments", "score word links: alignment error rate (AER), precision, recall")
    instead.option("--validate FILE", "report the errors that the UD validator finds in FILE", action=_Alone)
    level = kinds.option(
        "--level N",
        "for --validate: 1 columns, 2 format (most where words lack relations), 3 guidelines, 4 and 5 "
        "guidelines of the language",
        default=2,
        most=5,
    )
    language = kinds.option(
        "--language CODE", "for --validate: two or three letters (default: any)", default="ud"
    )
    gold_format = kinds.option("--gold-format NAME", "format of the links in GOLD, as --alignment-format")
    known = ", ".join(formats.names_of(formats.ALIGNMENTS))
    alignment_format = kinds.option(
        "--alignment-format NAME", f"format of links: {known} (default: {formats.DEFAULT_ALIGNMENT_FORMAT})"
    )
    only_where("scores of trees", lambda options: _kind(options) is None, more, by, report, at)
    tags = (None, "tags")
    calibration = (None, "tags", "calibration")
    only_where("scores of trees, --tags", lambda options: _kind(options) in tags, versus)
    text = "scores of trees, --tags, --calibration"
    only_where(text, lambda options: _kind(options) in calibration, no_punct)
    only_with("alignments", gold_format, alignment_format)
    only_with("validate", level, language)


def _kind(options: argparse.Namespace) -> str | None:
    return next((kind for kind in KINDS if getattr(options, kind)), None)


class _Alone(argparse.Action):
    """Store a file and make GOLD and SYSTEM optional."""

    def __call__(
        self, parser: argparse.ArgumentParser, options: argparse.Namespace, value: Any, *_: Any
    ) -> None:
        setattr(options, self.dest, value)
        for action in parser._actions:
            if not action.option_strings:
                action.required = False


def run(options: argparse.Namespace) -> None:
    if options.validate and options.gold is not None:
        raise UsageError(f"--validate tests one file, {options.validate}; leave out {options.gold}")
    paths = [path for path in (options.gold, options.system, options.versus) if path is not None]
    if options.validate:
        from qsproj.evaluation.validation import validate, validation_as_json, validation_as_table

        found = validate(options.validate, level=options.level, language=options.language)
        table = validation_as_table(name_of(options.validate), found)
        _print(validation_as_json(found) if options.json else table)
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
    from qsproj.pipelines.evaluation_report import Compared, write_report

    if options.at and len(options.at) != len(paths) - 1:
        found = f"{pluralise(len(options.at), 'size')} for {pluralise(len(paths) - 1, 'system')}"
        raise UsageError(f"--at: found {found}, expected one for each")
    if options.json or options.by is not None:
        raise UsageError("--report has relations and all scores; leave out --json and --by")
    gold, *systems = _read_all(paths)
    punctuation = not options.no_punct
    scores = attachment_scores(gold, systems, punctuation=punctuation, names=paths)
    _check_something_scored(options, paths, scores)
    write_report(options.report, Compared(paths, gold, systems, punctuation, options.at))
    _print(score_tables.systems_as_table(paths[1:], scores))


def _run_trees(options: argparse.Namespace, paths: list[str]) -> None:
    files = [_readable_twice(path, kept=options.json) for path in paths]
    names = list(map(name_of, paths))
    on_common_sentences(partial(_print_trees, options, names), files, names)


def _print_trees(options: argparse.Namespace, paths: list[str], files: Sequence[Files]) -> None:
    punctuation, trees = not options.no_punct, not options.tags
    of_words = partial(cut_scores, names=(paths[0], paths[1]))
    if options.columns:
        _print_conll18(options, of_words(files[0](), files[1]()))
        return
    others = [read() for read in files[1:]]
    try:
        scores = attachment_scores(files[0](), others, punctuation=punctuation, by=options.by, names=paths)
    except WordsDifferError:
        if options.by is not None or options.versus is not None or options.no_punct:
            raise
        _print_conll18(options, of_words(files[0](), files[1]()))
        return
    _check_something_scored(options, paths, scores)
    if not options.json:
        _print(score_tables.scores_as_table(paths, scores, punctuation=punctuation, trees=trees))
        return
    columns = score_tables.columns_as_json(of_words(files[0](), files[1]()), trees=trees)
    _print({**score_tables.scores_as_json(paths, scores), **columns})


def _read_all(paths: Sequence[str]) -> list[list[Sentence]]:
    names = list(map(name_of, paths))

    def checked(files: Sequence[Files]) -> list[list[Sentence]]:
        sentences = [list(file()) for file in files]
        # Only to check that all files have the same words.
        attachment_scores(sentences[0], sentences[1:], names=names)
        return sentences

    return on_common_sentences(checked, [_readable_twice(path, kept=True) for path in paths], names)


def _readable_twice(path: str, *, kept: bool) -> Files:
    if Path(path).is_file() and not kept:
        return partial(formats.read_sentences, path)
    sentences = list(formats.read_sentences(path))
    return lambda: sentences


def _check_something_scored(
    options: argparse.Namespace, paths: list[str], scores: tuple[AttachmentScores, ...]
) -> None:
    count, what = ("with_gold_tag", "UPOS") if options.tags else ("tokens", "heads")
    if scores[0].total(count) == 0:
        expected = f"words with {what}" + (" other than punctuation" if options.no_punct else "")
        remedy = f"check that GOLD is the file with the {'tags' if options.tags else 'trees'}"
        raise DataError(options.gold, None, "no word to score", expected, remedy)
    for path, system in zip(paths[1:], scores):
        if not options.tags and system.total("without_head") == system.tokens:
            raise _without_trees(path)


def _without_trees(path: str) -> DataError:
    remedy = "parse it first: qsproj parse; or score tags alone: --tags"
    return DataError(path, None, "no head on any word", "trees", remedy)


def _print_conll18(options: argparse.Namespace, scores: CutScores) -> None:
    words = scores.parts["words"]
    for path, missing, count in (
        (options.gold, scores.without_gold_head, words.gold),
        (options.system, scores.without_head, words.system),
    ):
        if missing == count and not options.tags:
            raise _without_trees(path)
    paths, trees = (options.gold, options.system), not options.tags
    table = score_tables.cut_scores_as_table(paths, scores, trees=trees, columns=options.columns)
    _print(score_tables.cut_scores_as_json(scores, trees=trees) if options.json else table)


def _run_alignments(options: argparse.Namespace) -> None:
    gold_format = options.gold_format or formats.DEFAULT_ALIGNMENT_FORMAT
    with naming_option("--gold-format"):
        gold = list(formats.read_alignments(options.gold, gold_format))
    # If GOLD holds the words, links outside them are errors.
    sizes = [(one.n_source, one.n_target) for one in gold] if gold_format in formats.WITH_WORDS else None
    system_format = options.alignment_format or formats.DEFAULT_ALIGNMENT_FORMAT
    system = formats.read_alignments(options.system, system_format, sizes)
    scores = alignment_scores(gold, system, names=(options.gold, options.system))
    if scores.possible == 0:
        remedy = "check that GOLD is the file with the right links"
        raise DataError(options.gold, None, "no link", "links to score against", remedy)
    paths = (options.gold, options.system)
    as_json, as_table = score_tables.alignment_scores_as_json, score_tables.alignment_scores_as_table
    _print(as_json(scores) if options.json else as_table(paths, scores))


def _print(lines: Mapping[str, object] | list[str]) -> None:
    text = "\n".join(lines) if isinstance(lines, list) else json.dumps(lines, ensure_ascii=False, indent=2)
    print_lines([text])


def _run_calibration(options: argparse.Namespace) -> None:
    gold, system = _read_all([options.gold, options.system])
    tables = {}
    for key in (ARC_PROBABILITY, RELATION_PROBABILITY)[: 1 + relations_can_be_judged(gold, system)]:
        judged, words = share_stated(system, key)
        if 0 < judged < words:
            notice(
                f"{name_of(options.system)}: {key} of {judged:,} of {words:,} words; others are not judged"
            )
        stated = confidences_of(gold, system, key, punctuation=not options.no_punct, name=options.system)
        tables[key] = reliability(*stated)
    scored = {key: score_tables.calibration_as_json(table) for key, table in tables.items()}
    lines = ["\n".join(score_tables.calibration_as_table(key, table)) for key, table in tables.items()]
    _print({**scored.pop(ARC_PROBABILITY), **scored} if options.json else ["\n\n".join(lines)])
