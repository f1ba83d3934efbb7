"""What tests of refused input and options share."""

from __future__ import annotations

from pathlib import Path

SAMPLE = Path("corpora/de.conllu")
LINKS = "corpora/en-de.pharaoh"
PAIR = ("--source", "corpora/en.conllu", "--target", SAMPLE, "--alignment", LINKS)
PROJECT = ("project", *PAIR)


def conllu(path, content):
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def assert_one_line(outcome, *parts):
    assert outcome.code == 2
    assert outcome.err.count("\n") == 1, outcome.err
    for part in parts:
        assert part in outcome.err
