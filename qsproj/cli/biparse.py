"""Parse both sides of a bitext with a joint model: two trees and an alignment.

SOURCE and TARGET are CoNLL-U with UPOS, paired by parallel_id, else by sent_id, else by order; ALIGNMENT
holds candidate links, best with probabilities and a low threshold (`qsproj align --weights --threshold 0.1`).
The probabilities of the joint model are written to MISC (ArcProb=) and as weights of links. Models are
trained by `qsproj train-biparser`.
"""

import argparse
from contextlib import ExitStack
from functools import partial
from typing import Any

from qsproj.cli.options import pair_files
from qsproj.cli.options.declare import Option
from qsproj.cli.options.shared import WORKERS, workers_of
from qsproj.corpus.alignments import write_alignments
from qsproj.corpus.conllu import write_conllu
from qsproj.corpus.files import open_output
from qsproj.progress import notice, track

OPTIONS = (
    *pair_files.PAIR_FILES,
    pair_files.source_tree(usual="as the model was trained"),
    Option("-m, --model MODEL", "from `qsproj train-biparser`", required=True),
    Option("-o, --output FILE", "target trees", default="-", writes="target"),
    Option("--source-output FILE", "also write source trees", writes="source"),
    Option("--alignment-output FILE", "also write links, as i-j:p", writes=""),
    Option(
        "--link-threshold P", "minimum probability of links (default: as trained)", needs="--alignment-output"
    ),
    *WORKERS,
)
EXAMPLES = """examples:
  qsproj biparse -m en-de.model --source corpora/en.conllu --target corpora/de.conllu \\
      --alignment en-de.weighted -o de.parsed.conllu --source-output en.parsed.conllu \\
      --alignment-output en-de.links --jobs 2
"""


def run(options: argparse.Namespace) -> None:
    from qsproj.cli.options.model_warnings import LOOKED_AT, warn_unknown_tags
    from qsproj.models.joint.joint_parser import ParsedPair, load_joint_parser
    from qsproj.pipelines.bilingual.biparse import ParsingCounts, parse_pair_stream
    from qsproj.pipelines.streams import loaded_once

    files = pair_files.pair_files_of(options)
    model = loaded_once(load_joint_parser, options.model)
    source_tree = options.source_tree or model.options.source_tree
    counts = ParsingCounts()
    how: dict[str, Any] = {"source_tree": source_tree, "link_threshold": options.link_threshold}
    parse = partial(parse_pair_stream, options.model, **how, counts=counts, workers=workers_of(options))
    first: list[ParsedPair] = []
    with ExitStack() as stack:
        paths = options.output, options.source_output, options.alignment_output
        opened = (None if path is None else stack.enter_context(open_output(path)) for path in paths)
        target, source, links = opened
        parsing = pair_files.located_pairs(files, parse, source_tree=source_tree, model=model)
        for parsed in track(parsing, "parsing", unit="pair"):
            if len(first) < LOOKED_AT:
                first.append(parsed)
            write_conllu([parsed.target], target)
            if source is not None:
                write_conllu([parsed.source], source)
            if links is not None:
                write_alignments([parsed.alignment], links, with_weights=True)
    for side in pair_files.tagged_sides(model):
        sentences = [getattr(parsed, side) for parsed in first]
        warn_unknown_tags(sentences, getattr(model, side), path=options.model, name=getattr(options, side))
    notice(counts.summary())
