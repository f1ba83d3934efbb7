"""Convert trees to another annotation style, by a trained converter or by rules.

-m uses a converter of `qsproj adapt`, --to uses rules. A style is one choice in each of eight dimensions,
given as a list of presets and choices, where later ones override earlier ones: prague,determiners=head.
`qsproj styles list` shows all names. Dimensions that are not named keep the choice of the source style. Rules
require the relations of Universal Dependencies, or those that this command wrote.

HEAD and DEPREL change. Enhanced dependencies (DEPS), which follow the source style, are emptied; the
probabilities of old arcs (ArcProb and RelProb in MISC) are removed. All else is kept byte for byte.
"""

import argparse
from collections.abc import Iterator
from functools import partial

from qsproj.cli.options.declare import Heading, Option
from qsproj.cli.options.files import adding_lines
from qsproj.cli.styles import SOURCE_STYLE, read_styles
from qsproj.corpus.editing import warn_emptied
from qsproj.corpus.files import name_of
from qsproj.corpus.formats import check_has_misc, write_sentences
from qsproj.corpus.sentence import Sentence
from qsproj.errors import UsageError
from qsproj.progress import track
from qsproj.styles.convert import convert

OPTIONS = (
    Option("[INPUT]", "trees, CoNLL-U (default: standard input)"),
    Option("-m, --model MODEL", "convert by a model of qsproj adapt", required=True),
    Option("--to STYLE", "convert by rules to this style", instead=True),
    Option("-o, --output FILE", "CoNLL-U", default="-", writes="input given_input"),
    Option("--source FILE ", "", dest="given_input", hidden=True),
    Heading("by rules (--to)", needs="--to"),
    SOURCE_STYLE,
    Heading("by a converter (-m)", needs="-m"),
    Option("--confidence", "add ArcProb=, the probability of each arc, to MISC"),
    Option(
        "--least-sure FILE",
        "also write the converted trees to check, with ArcProb= and the expected number of wrong heads, most "
        "per word first",
        writes="",
    ),
)
EXAMPLES = """examples:
  qsproj convert -m sud.converter treebank.ud.conllu -o treebank.sud.conllu
  qsproj convert -m sud.converter treebank.ud.conllu --least-sure check.conllu -o treebank.sud.conllu
  qsproj convert --to prague corpora/en.conllu -o en.prague.conllu
  qsproj convert --from prague --to coordination=moscow,auxiliaries=head < en.prague.conllu
"""


def run(options: argparse.Namespace) -> None:
    if options.input is not None and options.given_input is not None:
        raise UsageError(f"found {options.input} and {options.given_input}, expected one file to convert")
    options.input = options.input or options.given_input or "-"
    if options.confidence:
        check_has_misc(options.output, "--confidence")
    if options.model is not None:
        _convert_by_model(options)
        return
    sentences, source, target = read_styles(options.input, to=options.to, source=options.from_style)
    tracked = track(sentences, "converting", unit="sentence")
    to_style = partial(map, partial(convert, target=target, source=source))
    write_sentences(warn_emptied(to_style, tracked, name_of(options.input)), options.output)


def _convert_by_model(options: argparse.Namespace) -> None:
    from qsproj.cli.options.model_warnings import warn_unknown_relations
    from qsproj.models.converter.converter import Converter
    from qsproj.models.storage import load_model_of
    from qsproj.pipelines.adapt import convert_treebank, least_sure_first

    remedy = "train one: qsproj adapt; or parse with it: qsproj parse"
    converter = load_model_of(options.model, Converter, expected="a converter", remedy=remedy)
    with adding_lines(options.input) as sentences:
        known = warn_unknown_relations(sentences, converter, path=options.model, name=name_of(options.input))

        def converted(taken: Iterator[Sentence]) -> Iterator[Sentence]:
            found = convert_treebank(converter, taken)
            if options.least_sure:
                found = iter(kept := list(found))
                write_sentences(least_sure_first(kept), options.least_sure)
            return (one.sentence(confidence=options.confidence) for one in found)

        write_sentences(warn_emptied(converted, known, name_of(options.input)), options.output)
