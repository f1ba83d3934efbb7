"""Score a parsed file against gold trees, compare two parsed files, or score word alignments.

UAS and LAS are the percentages of words with the correct head, and with the correct head and relation; "LAS,
no subtypes" compares nsubj:pass as nsubj. UPOS is the percentage of words with the correct tag, UEM and LEM
that of sentences without an error in heads, and in heads and relations. If the words or sentences of SYSTEM
differ on the same text, each score is the F1 of the CoNLL 2018 shared task. Words without a gold head are not
scored; in F1 they count as wrong. Files with different sentences are paired by sent_id.

With --versus, p is that of an exact two-sided randomisation test that swaps the two systems' results sentence
by sentence. --by groups words by the gold trees; "found" counts the words that SYSTEM puts into the group.
"""

import argparse
import json
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path

from qsproj.cli.command_parser import print_lines
from qsproj.cli.options.declare import Heading, Option, only_where
from qsproj.corpus import formats
from qsproj.corpus.alignments import OMIT_PAIRS, naming_option
from qsproj.corpus.editing import ARC_PROBABILITY, RELATION_PROBABILITY
from qsproj.corpus.files import name_of
from qsproj.corpus.sentence import Sentence, make_alignment
from qsproj.errors import DataError, UsageError, pluralise
from qsproj.evaluation import agreement, score_tables, validation
from qsproj.evaluation.alignment import alignment_scores
from qsproj.evaluation.attachment import GROUPINGS, AttachmentScores, WordsDifferError, attachment_scores
from qsproj.evaluation.calibration import confidences_of, relations_can_be_judged, reliability, share_stated
from qsproj.evaluation.conll18 import CutScores, cut_scores
from qsproj.evaluation.token_alignment import Files, on_common_sentences
from qsproj.progress import notice

KIND_OF_INPUTS = "of GOLD, SYSTEM and OTHER"
OPTIONS = (
    Option("GOLD", "CoNLL-U with gold trees (- for standard input)"),
    Option("SYSTEM", "the same text, parsed, CoNLL-U"),
    Option("[SYSTEM ...]", "further systems, for --report", dest="more"),
    Option("--json", "print JSON instead of a table"),
    Heading("scores of trees"),
    Option("--no-punct", "ignore words with UPOS PUNCT"),
    Option("--by", "show the scores by group", choices=GROUPINGS),
    Option("--versus OTHER", "second system, for a significance test of the difference"),
    Option("--report FILE", "write an HTML page that compares all systems", writes=""),
    Option("--at N ...", "for --report: training data size of each system, for a learning curve", least=0.0),
    Heading("other scores"),
    Option("--columns", "all CoNLL 2018 shared task scores: XPOS, features, lemmas, CLAS, MLAS, BLEX, ELAS"),
    Option("--tags", "score tags only; the files need no trees", instead=True),
    Option("--agreement", "agreement of two annotators, GOLD and SYSTEM, as Cohen's kappa", instead=True),
    Option(
        "--calibration",
        "calibration of ArcProb and RelProb: of arcs with 0.8, 80%% should be right",
        instead=True,
    ),
    Option("--alignments", "score word links: alignment error rate (AER), precision, recall", instead=True),
    Option("--validate FILE", "report errors that the UD validator finds in FILE", alone=True, instead=True),
    Option(
        "--level N",
        "for --validate: 1 columns, 2 format (maximum if relations are missing), 3 guidelines, 4 and 5 "
        "guidelines of the language",
        default=2,
        most=5,
        needs="--validate",
    ),
    Option("--language CODE", "for --validate: language (default: any)", default="ud", needs="--validate"),
    Option("--gold-format NAME", "format of the links in GOLD, as --alignment-format", needs="--alignments"),
    Option(
        "--alignment-format NAME",
        f"format of links: {', '.join(formats.names_of(formats.ALIGNMENTS))} (default: "
        f"{formats.DEFAULT_ALIGNMENT_FORMAT})",
        needs="--alignments",
    ),
)
EXAMPLES = """examples:
  qsproj eval gold.conllu parsed.conllu
  qsproj eval gold.conllu parsed.conllu --no-punct --by relation
  qsproj eval gold.conllu parsed.conllu --versus other-parser.conllu
  qsproj parse -m MODEL gold.conllu --confidence | qsproj eval gold.conllu - --calibration
  qsproj parse -m MODEL text.txt | qsproj eval --validate - --level 3
  qsproj eval gold.conllu by-100.conllu by-300.conllu --at 100 300 --report report.html
  qsproj eval --alignments corpora/en-de.pharaoh links.pharaoh
"""

Scores = Mapping[str, object] | list[str]
# Kinds of scores that replace attachment scores.
KINDS = ("tags", "columns", "agreement", "calibration", "alignments", "validate")
# Options without F1: files of the same text in other words are refused with them.
OF_SAME_WORDS = ("agreement", "calibration", "report", "by", "versus", "no_punct")


def add_conditions(parser: argparse.ArgumentParser) -> None:
    def only(text: str, kinds: tuple[str | None, ...], *names: str) -> None:
        only_where(parser, text, lambda options: _kind(options) in kinds, *names)

    only("scores of trees", (None,), "more", "by", "report", "at")
    only("scores of trees, --tags", (None, "tags"), "versus")
    only("scores of trees, --tags, --calibration", (None, "tags", "calibration"), "no_punct")


def _kind(options: argparse.Namespace) -> str | None:
    return next((kind for kind in KINDS if getattr(options, kind)), None)


def run(options: argparse.Namespace) -> None:
    if options.validate and options.gold is not None:
        raise UsageError(f"--validate tests one file, {options.validate}; leave out {options.gold}")
    try:
        found = _scores(options)
    except WordsDifferError as error:
        given = [f"--{name.replace('_', '-')}" for name in OF_SAME_WORDS if getattr(options, name)]
        if not given:
            raise
        without = f"without {' and '.join(given)}, files of the same text are scored by F1"
        raise error.with_remedy(f"score files of the same words; {without}") from None
    text = "\n".join(found) if isinstance(found, list) else json.dumps(found, ensure_ascii=False, indent=2)
    print_lines([text])


def _scores(options: argparse.Namespace) -> Scores:
    """Return the scores as lines, or as JSON with --json."""
    paths = [path for path in (options.gold, options.system, options.versus) if path is not None]
    if options.validate:
        faults = validation.validate(options.validate, level=options.level, language=options.language)
        if options.json:
            return validation.validation_as_json(faults)
        return validation.validation_as_table(name_of(options.validate), faults)
    if options.alignments:
        return _of_alignments(options)
    if options.agreement:
        rows = agreement.agreement(*_read_all(paths))
        return agreement.agreement_as_json(rows) if options.json else agreement.agreement_as_table(rows)
    if options.calibration:
        return _of_calibration(options)
    if options.report is not None:
        return _of_systems(options, [*paths, *options.more])
    if options.more or options.at:
        raise UsageError("several systems, and --at, need --report; two systems are compared by --versus")
    files, names = [_readable_twice(path, kept=options.json) for path in paths], list(map(name_of, paths))
    return on_common_sentences(partial(_of_trees, options, names), files, names)


def _of_systems(options: argparse.Namespace, paths: list[str]) -> Scores:
    """Write the report, and return a table of all systems."""
    from qsproj.pipelines.evaluation_report import Compared, write_report

    if options.at and len(options.at) != len(paths) - 1:
        found = f"{pluralise(len(options.at), 'size')} for {pluralise(len(paths) - 1, 'system')}"
        raise UsageError(f"--at: found {found}, expected one for each")
    if options.json or options.by is not None:
        raise UsageError("--report has relations and all scores; leave out --json and --by")
    gold, *systems = _read_all(paths)
    punctuation = not options.no_punct
    scores = attachment_scores(gold, systems, punctuation=punctuation, by="relation", names=paths)
    _check_something_scored(options, paths, scores)
    write_report(options.report, Compared(paths, gold, systems, punctuation, options.at), scores)
    return score_tables.systems_as_table(paths[1:], scores)


def _of_trees(options: argparse.Namespace, paths: list[str], files: Sequence[Files]) -> Scores:
    punctuation, trees = not options.no_punct, not options.tags
    of_words = partial(cut_scores, names=(paths[0], paths[1]))
    if options.columns:
        return _of_cut_words(options, of_words(files[0](), files[1]()))
    others = [read() for read in files[1:]]
    try:
        scores = attachment_scores(files[0](), others, punctuation=punctuation, by=options.by, names=paths)
    except WordsDifferError:
        if any(getattr(options, name) for name in OF_SAME_WORDS):
            raise
        return _of_cut_words(options, of_words(files[0](), files[1]()))
    _check_something_scored(options, paths, scores)
    if not options.json:
        return score_tables.scores_as_table(paths, scores, punctuation=punctuation, trees=trees)
    columns = score_tables.columns_as_json(of_words(files[0](), files[1]()), trees=trees)
    return {**score_tables.scores_as_json(paths, scores), **columns}


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
        _check_has_trees(options, path, without_head=system.total("without_head"), words=system.tokens)


def _check_has_trees(options: argparse.Namespace, path: str, *, without_head: int, words: int) -> None:
    if not options.tags and without_head == words:
        remedy = "parse it first: qsproj parse; or score tags alone: --tags"
        raise DataError(path, None, "no head on any word", "trees", remedy)


def _of_cut_words(options: argparse.Namespace, scores: CutScores) -> Scores:
    words, trees = scores.parts["words"], not options.tags
    _check_has_trees(options, options.gold, without_head=scores.without_gold_head, words=words.gold)
    _check_has_trees(options, options.system, without_head=scores.without_head, words=words.system)
    if options.json:
        return score_tables.cut_scores_as_json(scores, trees=trees)
    paths = options.gold, options.system
    return score_tables.cut_scores_as_table(paths, scores, trees=trees, columns=options.columns)


def _of_alignments(options: argparse.Namespace) -> Scores:
    gold_format = options.gold_format or formats.DEFAULT_ALIGNMENT_FORMAT
    with naming_option("--gold-format"):
        gold = list(formats.read_alignments(options.gold, gold_format))
    # If GOLD holds the words, links outside them are errors.
    sizes = [(one.n_source, one.n_target) for one in gold] if gold_format in formats.WITH_WORDS else None
    system_format = options.alignment_format or formats.DEFAULT_ALIGNMENT_FORMAT
    system = list(formats.read_alignments(options.system, system_format, sizes))
    for own, others, format in ((gold, system, gold_format), (system, gold, system_format)):
        if format in OMIT_PAIRS:
            own += [make_alignment(0, 0, [])] * (len(others) - len(own))
    paths = options.gold, options.system
    scores = alignment_scores(gold, system, names=paths)
    if scores.possible == 0:
        remedy = "check that GOLD is the file with the right links"
        raise DataError(options.gold, None, "no link", "links to score against", remedy)
    if options.json:
        return score_tables.alignment_scores_as_json(scores)
    return score_tables.alignment_scores_as_table(paths, scores)


def _of_calibration(options: argparse.Namespace) -> Scores:
    gold, system = _read_all([options.gold, options.system])
    tables, name = {}, name_of(options.system)
    for key in (ARC_PROBABILITY, RELATION_PROBABILITY)[: 1 + relations_can_be_judged(gold, system)]:
        judged, words = share_stated(system, key)
        if 0 < judged < words:
            notice(f"{name}: {key} of {judged:,} of {words:,} words; others are not judged")
        stated = confidences_of(gold, system, key, punctuation=not options.no_punct, name=options.system)
        tables[key] = reliability(*stated)
    if options.json:
        scored = {key: score_tables.calibration_as_json(table) for key, table in tables.items()}
        return {**scored.pop(ARC_PROBABILITY), **scored}
    lines = [score_tables.calibration_as_table(key, table) for key, table in tables.items()]
    return ["\n\n".join(map("\n".join, lines))]
