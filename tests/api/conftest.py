"""The sample as a user of a notebook reads it."""

from __future__ import annotations

import pytest

import qsproj


@pytest.fixture(scope="package")
def english():
    return list(qsproj.read_conllu("corpora/en.conllu"))


@pytest.fixture(scope="package")
def german():
    return list(qsproj.read_conllu("corpora/de.conllu"))


@pytest.fixture(scope="package")
def links():
    return list(qsproj.read_alignments("corpora/en-de.pharaoh"))


@pytest.fixture(scope="package")
def parser(english):
    return qsproj.train_parser(english[:40], features="words")
