"""List annotation styles, detect the style of a treebank, or measure the loss of a rule-based conversion.

A style is one choice in each of eight dimensions: the head of a coordination, the attachment of its
conjunctions, shared dependents and punctuation, and whether determiners, prepositions, copulas and
auxiliaries are heads or children. It is given as a list of presets and choices, where later ones override
earlier ones: prague,determiners=head. Dimensions that are not named keep the choice of the source style.
`qsproj convert --to STYLE` converts.
"""

import argparse
from collections.abc import Iterable, Mapping
from itertools import islice

from qsproj.cli.command_parser import print_lines
from qsproj.cli.options.declare import Option
from qsproj.corpus.files import name_of
from qsproj.corpus.formats import read_sentences
from qsproj.corpus.sentence import Sentence
from qsproj.progress import track
from qsproj.styles.convert import measure_round_trip
from qsproj.styles.detect import checked_relations, detect_style
from qsproj.styles.style import DIMENSIONS, PRESETS, Style, parse_style

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
SOURCE_STYLE = Option(
    "--from STYLE", "style of the input; auto: read all and detect it (default: ud)", dest="from_style"
)
_TREEBANK = Option("[TREEBANK]", "CoNLL-U", default="-")
_TO = Option("--to STYLE", "the style to convert to and back", required=True)
ACTIONS = {
    "detect": (_DETECT, (_TREEBANK,)),
    "roundtrip": (_ROUND_TRIP, (_TO, SOURCE_STYLE, _TREEBANK)),
    "list": (_LIST, ()),
}


def read_styles(path: str, *, to: str, source: str | None) -> tuple[Iterable[Sentence], Style, Style]:
    parse_style(to)
    sentences: Iterable[Sentence] = checked_relations(read_sentences(path), name_of(path))
    if source == "auto":
        sentences = list(sentences)
    style = detect_style(sentences).style if source == "auto" else parse_style(source or "ud")
    return sentences, style, parse_style(to, base=style)


def run(options: argparse.Namespace) -> None:
    print_lines({"detect": _detect, "roundtrip": _round_trip, "list": _list}[options.action](options))


def _detect(options: argparse.Namespace) -> list[str]:
    read = track(read_sentences(options.treebank), "reading", unit="sentence")
    found = detect_style(checked_relations(read, name_of(options.treebank), refuse=False))
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
        lines.append(f"{entry.dimension:<13} {entry.choice:<15} {seen}  {', '.join(others)}".rstrip())
    return lines


def _round_trip(options: argparse.Namespace) -> list[str]:
    def line(label: str, count: int, total: int, noun: str) -> str:
        share = f"{100 * count / total:.2f}%" if total else "-"
        return f"{label:<22} {count:>8,} {share:>8} of {total:,} {noun}"

    sentences, source, target = read_styles(options.treebank, to=options.to, source=options.from_style)
    found = measure_round_trip(track(sentences, "converting", unit="sentence"), target, source=source)
    return [
        f"from  {source}",
        f"to    {target}",
        "",
        line("heads that changed", found.changed_heads, found.words, "words"),
        line("heads lost", found.lost_heads, found.words, "words"),
        line("relations lost", found.lost_relations, found.words, "words"),
        line("sentences with losses", found.lost_sentences, found.sentences, "sentences"),
        *(
            line(f"  heads lost of {relation}", count, found.lost_heads, "lost heads")
            for relation, count in islice(found.lost_by_relation.items(), _SHOWN_RELATIONS)
        ),
    ]


def _list(_: argparse.Namespace) -> list[str]:
    dimensions = {name: " | ".join(choices) for name, choices in DIMENSIONS.items()}
    presets = {
        name: ",".join(f"{one}={own[one]}" for one in DIMENSIONS if one in own)
        for name, own in PRESETS.items()
    }
    return ["dimensions", *_columns(dimensions), "", "presets", *_columns(presets)]


def _columns(rows: Mapping[str, str]) -> list[str]:
    width = max(map(len, rows))
    return [f"  {name:<{width}}  {text}" for name, text in rows.items()]
