"""Small models that many tests of commands are given."""

from __future__ import annotations

import pytest

from tests.cli.refusals import SAMPLE


def parser_and_tagger(folder):
    """Train a parser and a tagger of the German sample."""
    from qsproj.cli.main import main

    assert main(["train", str(SAMPLE), "-o", str(folder / "de.model"), "--epochs", "1"]) == 0
    assert main(["train-tagger", str(SAMPLE), "--language", "de", "-o", str(folder / "de.tagger")]) == 0


@pytest.fixture(scope="session")
def model(made_once):
    return made_once(parser_and_tagger) / "de.model"


@pytest.fixture(scope="session")
def tagger(made_once):
    return made_once(parser_and_tagger) / "de.tagger"
