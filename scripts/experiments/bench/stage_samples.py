"""Where the time of a command goes, by stages: ``python stage_samples.py OUTPUT.json ARGUMENTS OF qsproj``.

A timer of processor time interrupts the command; each sample counts for the first stage that a function on the
stack belongs to. It runs with any commit's package, and imports nothing else.
"""

from __future__ import annotations

import json
import signal
import sys
import time
from collections import Counter
from pathlib import Path
from types import FrameType

EVERY = 0.001
# By function, innermost first.
STAGES = {
    "reading": ("read_conllu", "_blocks", "_sentence"),
    "encoding": ("encode", "encode_block", "features", "arc_features"),
    "scores of arcs": ("_scores", "score_block", "scores"),
    "trees": ("heads", "decode", "decode_block", "infer"),
    "relations": ("label", "label_block"),
    "sentences": ("with_tree", "with_heads"),
    "writing": ("write",),
}
_STAGE_OF = {function: stage for stage, functions in STAGES.items() for function in functions}


def stage(frame: FrameType | None) -> str:
    """Return the stage of a stack."""
    while frame is not None:
        code = frame.f_code
        if "qsproj" in code.co_filename and code.co_name in _STAGE_OF:
            return _STAGE_OF[code.co_name]
        frame = frame.f_back
    return "the rest"


def main(output: str, *arguments: str) -> None:
    from qsproj.cli.main import main as command

    counts: Counter[str] = Counter()
    command(list(arguments))
    signal.signal(signal.SIGPROF, lambda _, frame: counts.update([stage(frame)]))
    signal.setitimer(signal.ITIMER_PROF, EVERY, EVERY)
    start = time.process_time()
    command(list(arguments))
    taken = time.process_time() - start
    signal.setitimer(signal.ITIMER_PROF, 0)
    # The system may sample less often than it is asked to: shares count.
    shares = {name: taken * count / counts.total() for name, count in counts.items()}
    Path(output).write_text(json.dumps(shares), encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
