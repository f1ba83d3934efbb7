"""A change of soft projection is measured by the stages of bootstrap, as they are called today."""

from __future__ import annotations

import argparse
import gzip
import lzma
from pathlib import Path

import pytest

from qsproj.corpus.conllu import read_conllu
from scripts.experiments.harness.cache import Cache
from scripts.experiments.harness.experiment import Lab
from scripts.experiments.transfer import choose_on_many
from scripts.experiments.transfer.by_tags import GOLD_TAGS, UNCERTAIN_TAGS
from scripts.experiments.transfer.many_languages import ENGLISH, LANGUAGES

pytestmark = pytest.mark.slow


def test_both_sides_of_a_comparison_are_learned_and_scored(tmp_path):
    (test,) = LANGUAGES["de"].tests.values()
    for name, file in ((ENGLISH, "en"), (f"{test}.conllu.gz", "de")):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(gzip.compress(Path(f"corpora/{file}.conllu").read_bytes()))
    pairs = tmp_path / f"{LANGUAGES['de'].bitext}.tsv.xz"
    pairs.parent.mkdir()
    sides = (read_conllu(f"corpora/{code}.conllu") for code in ("en", "de"))
    lines = (f"{' '.join(one.forms)}\t{' '.join(other.forms)}\n" for one, other in zip(*sides))
    pairs.write_bytes(lzma.compress("".join(lines).encode()))
    options = argparse.Namespace(work=tmp_path / "work", pairs=None, tested=10)
    lab = Lab(tmp_path, Cache(tmp_path / "cache", Path(choose_on_many.__file__)), options)
    before, after, of_two = (
        choose_on_many.measured(lab, "de", way, 1) for way in ("", "--share 0.5", "--draws 2")
    )
    for found in (before, after, of_two):
        assert found.keys() == LANGUAGES["de"].tests.keys()
        (scores,) = found.values()
        assert scores.keys() == {GOLD_TAGS, UNCERTAIN_TAGS}
        assert all(50.0 < row["uas"] < 100.0 for row in scores.values())
    assert before != after
    assert before != of_two
