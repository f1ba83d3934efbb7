"""Options of commands that learn from hand alignments, and what their values stand for."""

from __future__ import annotations

import argparse

from qsproj.corpus.formats import ALIGNMENTS, DEFAULT_ALIGNMENT_FORMAT, names_of
from qsproj.errors import unknown_name
from qsproj.models.joint.joint_options import MOST_ITG_WORDS

# The values of --alignment-factors, and what they add to ALIGN, SOURCEFERT and TARGETFERT.
FACTORS = {"fertility": (), "target-hmm": ("TARGETHMM",), "source-hmm": ("SOURCEHMM",), "itg": ("ITG",)}


def add_link_learning(parser: argparse.ArgumentParser) -> argparse._ArgumentGroup:
    """Add ``--hand-alignment`` and its format, ``--alignment-factors`` and ``--dictionary``, as a group."""
    group = parser.add_argument_group("hand alignments", "and what is learned of links")
    group.add_argument(
        "--hand-alignment",
        metavar="FILE",
        help="links by hand of the first pairs, as many as the file has: sure ones are true, those that are "
        "not there false, possible ones hidden; those that are no candidates are counted and teach nothing",
    )
    group.add_argument(
        "--hand-alignment-format",
        metavar="NAME",
        help=f"{', '.join(names_of(ALIGNMENTS))} (default: {DEFAULT_ALIGNMENT_FORMAT})",
    )
    group.add_argument(
        "--alignment-factors",
        metavar="NAME",
        help="fertility (default): how many links each word has; target-hmm: also how far one target word's "
        "link jumps from the last one's, each target word then having one link at most; source-hmm: the same "
        "of source words; itg: each word has one link at most, and their order comes about by bracketing, in "
        f"pairs of at most {MOST_ITG_WORDS} words a side that have candidates (longer ones do without)",
    )
    group.add_argument(
        "--dictionary",
        action="store_true",
        help="count from the candidate links how firmly words belong together, and learn from that, too",
    )
    return group


def alignment_families(options: argparse.Namespace) -> tuple[str, ...]:
    """Return which of LINK_FAMILIES were asked for; UsageError where the name is unknown."""
    name = options.alignment_factors or "fertility"
    if name not in FACTORS:
        raise unknown_name("alignment factors", name, list(FACTORS))
    return FACTORS[name]
