"""Build a joint parser of a bitext from two parsers, with a joint model of another language pair.

No target trees are needed. The result parses both sides of a bitext together (`qsproj biparse`).
"""

import argparse

from qsproj.cli.options.declare import Option
from qsproj.cli.options.shared import provenance_of
from qsproj.progress import notice

OPTIONS = (
    Option(
        "-m, --model MODEL",
        "model of `qsproj train-biparser` for other languages, best with a --target-model of the same kind",
        required=True,
    ),
    Option("--source-model MODEL", "a parser of the source", required=True),
    Option("--target-model MODEL", "a parser of the target", required=True),
    Option("-o, --output MODEL", "where the model is written", required=True),
)
EXAMPLES = """examples:
  qsproj join-biparser -m en-de.model --source-model en.model --target-model sv.projected -o en-sv.model
  qsproj biparse -m en-sv.model --source en.conllu --target sv.conllu --alignment en-sv.weighted
"""


def run(options: argparse.Namespace) -> None:
    from qsproj.models.joint.joint_parser import load_joint_parser
    from qsproj.models.joint.joint_trees import load_tree_parser

    parsers = (load_tree_parser(path) for path in (options.source_model, options.target_model))
    model = load_joint_parser(options.model)
    model.of_parsers(*parsers).save(options.output, made=provenance_of(options))
    joined = f"joins {options.source_model} and {options.target_model} with the weights of {options.model}"
    left = "; unlike that model, it does not tag words: tag them first (qsproj tag)" if model.tagger else ""
    notice(f"{options.output}: {joined}{left}")
