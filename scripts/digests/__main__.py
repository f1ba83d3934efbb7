"""Compute digests of tiny models and compare them with the recorded ones.

    python -m scripts.digests                     # all cases: a minute once kernels are compiled
    python -m scripts.digests first-order soft    # cases that a change could affect: seconds
    python -m scripts.digests --list
    python -m scripts.digests soft --write        # for an intended change: say in the commit which changed and why

If digests differ, the differing parts of models and files are listed.
"""

from __future__ import annotations

import argparse
import sys

from scripts.digests.cases import CASES
from scripts.digests.comparing import RECORD, difference, made, record, recorded, why_not_comparable


def main() -> int:
    """Run the command and return its exit code."""
    parser = argparse.ArgumentParser(
        prog="python -m scripts.digests",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("names", nargs="*", metavar="NAME", help="a case (default: all)")
    parser.add_argument("--write", action="store_true", help="record the new digests")
    parser.add_argument("--list", action="store_true", help="list the cases")
    options = parser.parse_args()
    if options.list:
        print(*CASES, sep="\n")
        return 0
    unknown = [name for name in options.names if name not in CASES]
    if unknown:
        parser.error(f"no case is called {', '.join(unknown)}; see --list")
    names = options.names or list(CASES)
    if options.write:
        record(dict(made(names)))
        print(f"{RECORD}: written")
        return 0
    circumstances, digests = recorded()
    reason = why_not_comparable(circumstances)
    if reason:
        print(reason, file=sys.stderr)
        return 2
    different = 0
    for name, found in made(names):
        lines = difference(found, digests.get(name, {}))
        different += bool(lines)
        print(
            f"{name}: {'differs' if lines else 'as on record'}", *(f"    {line}" for line in lines), sep="\n"
        )
    return 1 if different else 0


if __name__ == "__main__":
    sys.exit(main())
