"""Small models that many tests of commands are given."""

from __future__ import annotations

import pytest

from tests.cli.refusals import SAMPLE


@pytest.fixture(scope="session")
def model(tmp_path_factory):
    from qsproj.cli.main import main

    path = tmp_path_factory.mktemp("models") / "de.model"
    assert main(["train", str(SAMPLE), "-o", str(path), "--epochs", "1"]) == 0
    return path


@pytest.fixture(scope="session")
def tagger(tmp_path_factory):
    from qsproj.cli.main import main

    path = tmp_path_factory.mktemp("models") / "de.tagger"
    assert main(["train-tagger", str(SAMPLE), "--language", "de", "-o", str(path)]) == 0
    return path
