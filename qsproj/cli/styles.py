"""List annotation styles, detect the style of a treebank, or measure the loss of a rule-based conversion.

A style is one choice in each of eight dimensions: the head of a coordination, the attachment of its
conjunctions, shared dependents and punctuation, and whether determiners, prepositions, copulas and
auxiliaries are heads or children. It is given as a list of presets and choices, where later ones override
earlier ones: prague,determiners=head. Dimensions that are not named keep the choice of the source style.
`qsproj convert --to STYLE` converts.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from qsproj.cli.command_parser import CommandParser, add_action, print_lines
from qsproj.cli.options.declare import Options

if TYPE_CHECKING:
    from qsproj.corpus.sentence import Sentence
    from qsproj.styles.convert import RoundTrip
    from qsproj.styles.detect import DetectedStyle
    from qsproj.styles.style import Style

EXAMPLES = """examples:
  qsproj styles list
  qsproj styles detect corpora/en.conllu
  qsproj styles roundtrip --to conll corpora/en.conllu
"""

_DETECT = """Detect the style of a treebank: for each dimension the choice, and the evidence for it.

The command counts the places that are evidence for a dimension, and those that agree with each choice.
"""
_ROUND_TRIP = """Convert a treebank to another style and back, and count the lost heads and relations."""
_LIST = """List the dimensions with their choices, those of Universal Dependencies first, and the presets."""
_SHOWN_RELATIONS = 5


def add_arguments(parser: CommandParser) -> None:
    actions = parser.add_subparsers(dest="action", metavar="ACTION", required=True)
    detect = add_action(actions, "detect", _DETECT, EXAMPLES)
    round_trip = add_action(actions, "roundtrip", _ROUND_TRIP, EXAMPLES)
    round_trip.option("--to STYLE", "the style to convert to and back", required=True)
    add_source_style(round_trip)
    for action in (detect, round_trip):
        action.option("[TREEBANK]", "CoNLL-U", default="-")
    add_action(actions, "list", _LIST, EXAMPLES)


def add_source_style(parser: Options) -> None:
    parser.option(
        "--from STYLE",
        "style of the input; auto: detect it, reading the whole input into memory (default: ud)",
        dest="from_style",
    )


def read_styles(path: str, *, to: str, source: str | None) -> tuple[Iterable[Sentence], Style, Style]:
    from qsproj.corpus.files import name_of
    from qsproj.corpus.formats import read_sentences
    from qsproj.styles.detect import checked_relations, detect_style
    from qsproj.styles.style import parse_style

    parse_style(to)
    sentences = checked_relations(read_sentences(path), name_of(path))
    if source == "auto":
        kept = list(sentences)
        found = detect_style(kept).style
        return kept, found, parse_style(to, base=found)
    style = parse_style(source or "ud")
    return sentences, style, parse_style(to, base=style)


def run(options: argparse.Namespace) -> None:
    {"detect": _detect, "roundtrip": _round_trip, "list": _list}[options.action](options)


def _detect(options: argparse.Namespace) -> None:
    from qsproj.corpus.files import name_of
    from qsproj.corpus.formats import read_sentences
    from qsproj.progress import track
    from qsproj.styles.detect import checked_relations, detect_style

    read = track(read_sentences(options.treebank), "reading", unit="sentence")
    sentences = checked_relations(read, name_of(options.treebank), refuse=False)
    print_lines(_detected_lines(detect_style(sentences)))


def _round_trip(options: argparse.Namespace) -> None:
    from qsproj.progress import track
    from qsproj.styles.convert import measure_round_trip

    sentences, source, target = read_styles(options.treebank, to=options.to, source=options.from_style)
    found = measure_round_trip(track(sentences, "converting", unit="sentence"), target, source=source)
    print_lines([f"from  {source}", f"to    {target}", *_round_trip_lines(found)])


def _list(options: argparse.Namespace) -> None:
    from qsproj.styles.style import DIMENSIONS, PRESETS

    dimensions = [(name, " | ".join(choices)) for name, choices in DIMENSIONS.items()]
    named = {name: [f"{one}={own[one]}" for one in DIMENSIONS if one in own] for name, own in PRESETS.items()}
    presets = [(name, ",".join(choices)) for name, choices in named.items()]
    print_lines(["dimensions", *_columns(dimensions), "", "presets", *_columns(presets)])


def _columns(rows: Sequence[tuple[str, str]]) -> list[str]:
    width = max(len(name) for name, _ in rows)
    return [f"  {name:<{width}}  {text}" for name, text in rows]


def _detected_lines(found: DetectedStyle) -> list[str]:
    is_clear = any(entry.choice for entry in found.evidence)
    without = "no evidence: no conjuncts, and no function words with relations of UD"
    style = str(found.style) if is_clear else without
    presets = (" ".join(found.presets) or "none") if is_clear else "any"
    lines = [f"sentences  {found.sentences:,}", f"style      {style}", f"presets    {presets}", ""]
    lines.append(f"{'dimension':<13} {'choice':<15} {'places':>8} {'agree':>8} {'share':>7}  others")
    for entry in found.evidence:
        if entry.choice is None:
            lines.append(f"{entry.dimension:<13} {'?':<15} {0:>8} {'-':>8} {'-':>7}  no evidence")
            continue
        counts = sorted(entry.counts.items(), key=lambda item: -item[1])
        others = [f"{choice} {count:,}" for choice, count in counts if choice != entry.choice and count]
        seen = f"{entry.places:>8,} {entry.counts[entry.choice]:>8,} {100 * entry.share:>6.1f}%"
        line = f"{entry.dimension:<13} {entry.choice:<15} {seen}  {', '.join(others)}"
        lines.append(line.rstrip())
    return lines


def _round_trip_lines(found: RoundTrip) -> list[str]:
    def line(label: str, count: int, total: int, noun: str) -> str:
        share = f"{100 * count / total:.2f}%" if total else "-"
        return f"{label:<22} {count:>8,} {share:>8} of {total:,} {noun}"

    lines = [
        "",
        line("heads that changed", found.changed_heads, found.words, "words"),
        line("heads lost", found.lost_heads, found.words, "words"),
        line("relations lost", found.lost_relations, found.words, "words"),
        line("sentences with losses", found.lost_sentences, found.sentences, "sentences"),
    ]
    for relation, count in list(found.lost_by_relation.items())[:_SHOWN_RELATIONS]:
        lines.append(line(f"  heads lost of {relation}", count, found.lost_heads, "lost heads"))
    return lines
