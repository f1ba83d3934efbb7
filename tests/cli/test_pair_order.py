"""``--pair order``: files whose ids say something else are paired as they stand."""

from pathlib import Path

import pytest

from tests.cli.refusals import assert_one_line

ENGLISH, GERMAN, LINKS = "corpora/en.conllu", "corpora/de.conllu", "corpora/en-de.pharaoh"


@pytest.fixture
def renamed(tmp_path):
    """German sentences with ids of another numbering."""
    text = Path(GERMAN).read_text(encoding="utf-8").replace("= sample", "= other")
    path = tmp_path / "renamed.conllu"
    path.write_text(text, encoding="utf-8")
    return path


def commands(target, out):
    pair = ("--source", ENGLISH, "--target", target, "--alignment", LINKS, "-o", out)
    return {
        "project": ("project", *pair, "--method", "hard", "--epochs", "1"),
        "biparse": ("train-biparser", *pair, "--source-model", "no-such.model"),
        "adapt": ("adapt", "--source", GERMAN, "--target", target, "--epochs", "1", "-o", out),
        "align": ("align", ENGLISH, target, "-o", out),
        "draw": ("draw", ENGLISH, "--target", target, "--alignment", LINKS, "-o", f"{out}.html"),
    }


@pytest.mark.parametrize("command", ["project", "adapt", "align", "draw"])
def test_order_pairs_what_ids_do_not(run_cli, renamed, tmp_path, command):
    by_id = run_cli(*commands(renamed, tmp_path / "out")[command])
    assert_one_line(by_id, "parallel_id sample/001 in the source only", "--pair order")
    assert run_cli(*commands(renamed, tmp_path / "out")[command], "--pair", "order").code == 0


@pytest.mark.parametrize("command", ["project", "adapt", "align", "draw"])
def test_a_pairing_that_is_unknown_is_refused(run_cli, tmp_path, command):
    outcome = run_cli(*commands(GERMAN, tmp_path / "out")[command], "--pair", "line")
    assert_one_line(outcome, "unknown --pair 'line'; known: id, order")


def test_biparse_takes_it_too(run_cli, tmp_path):
    assert "--pair HOW" in run_cli("train-biparser", "--help").out
