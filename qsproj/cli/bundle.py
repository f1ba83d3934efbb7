"""Combine a tagger and a parser into one model that parses plain text, or split such a model.

With the combined model, `qsproj parse -m MODEL text.txt` tokenises, tags and parses; `qsproj tag -m MODEL`
only tags. The parser may use all columns that the tagger fills in: lemmas, XPOS and features if the tagger's
treebank has them. Otherwise train it with `--features words`.
"""

from argparse import ArgumentParser, Namespace

from qsproj.cli.options.declare import Option, only_where
from qsproj.cli.options.shared import provenance_of
from qsproj.errors import UsageError, WrongTypeError
from qsproj.progress import notice

OPTIONS = (
    Option("TAGGER", "model of qsproj train-tagger"),
    Option("[PARSER]", "model of qsproj train, project, adapt ..."),
    Option("--take", "extract a part of a combined model", choices=("tagger", "parser")),
    Option("-o, --output MODEL", "where the model is written", required=True),
    Option(
        "--readings N",
        "for first-order parsers: average over parses with up to N uncertain tags, 1,000 at most; 0 uses "
        "the best tags only, 16 is the value of qsproj bootstrap",
        default=0,
        least=0,
    ),
)
EXAMPLES = """examples:
  qsproj train-tagger corpora/de.conllu --language de -o de.tagger
  qsproj train corpora/de.conllu --features words -o de.parser
  qsproj bundle de.tagger de.parser -o de.model
  qsproj bundle --take parser de.model -o de.parser
  echo 'Der Hund schläft.' | qsproj parse -m de.model
"""


def add_conditions(parser: ArgumentParser) -> None:
    only_where(parser, "TAGGER and PARSER", lambda options: options.take is None, "readings")


def run(options: Namespace) -> None:
    from qsproj.cli.options.model_warnings import warn_misfit, warn_one_side
    from qsproj.models.parser import load_parser, load_tags
    from qsproj.models.storage import load_made
    from qsproj.models.text.text_parser import load_text_parser, text_parser

    if options.take is not None:
        if options.parser is not None:
            raise UsageError(f"--take takes one model apart, found {options.tagger} and {options.parser}")
        whole = load_text_parser(options.tagger, remedy="give a model of qsproj bootstrap or bundle")
        part = {"tagger": whole.tagger, "parser": whole.base}[options.take]
        part.save(options.output, made=load_made(options.tagger).get(options.take) or provenance_of(options))
        notice(f"the {options.take} of {options.tagger}: {options.output}")
        return
    if options.parser is None:
        raise UsageError("give a tagger and a parser, or take a part out of one model: --take parser")
    tagger, parser = load_tags(options.tagger), load_parser(options.parser)
    try:
        model = text_parser(tagger, parser, readings=options.readings)
    except WrongTypeError as error:
        raise UsageError(f"{options.parser}: {error}") from None
    made = {"tagger": load_made(options.tagger), "parser": load_made(options.parser)}
    # Of a combined model, that of the part.
    parts = {part: whole.get(part) or whole for part, whole in made.items()}
    warn_one_side(parser, options.parser)
    warn_misfit(tagger, parser, parts["parser"], tagger_path=options.tagger, path=options.parser)
    model.save(options.output, made=provenance_of(options, **parts))
    readings = f", which averages over {options.readings} readings of a sentence" if options.readings else ""
    notice(f"one model of {options.tagger} and {options.parser}{readings}: {options.output}")
