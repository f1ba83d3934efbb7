"""Options of the commands that serve a page."""

import argparse

from qsproj.cli.options.former_names import with_former_name
from qsproj.cli.options.numbers import number, whole_number


def add_address(parser: argparse.ArgumentParser) -> None:
    """Declare where a server listens, and how long a request may take."""
    parser.add_argument(
        "--host", metavar="ADDRESS", default="127.0.0.1", help="address of the server (default: 127.0.0.1)"
    )
    parser.add_argument(
        "--port",
        metavar="N",
        type=whole_number(least=0),
        default=8001,
        help="port of the server; 0: any free port (default: 8001)",
    )
    parser.add_argument(
        "--seconds",
        metavar="S",
        type=number(least=0.01),
        default=60,
        help="time limit of a request (default: 60)",
    )


def add_reviewing(group: argparse._ActionsContainer) -> None:
    """Declare who reviews, and when a page may train."""
    group.add_argument(
        "--train-after",
        metavar="N",
        type=whole_number(least=1),
        default=10,
        help="number of reviewed sentences needed for training (default: 10)",
    )
    reviewer = group.add_argument(
        "--reviewer", metavar="NAME", help='add the comment "# reviewed_by = NAME" to confirmed sentences'
    )
    with_former_name(group, reviewer, "--by")
