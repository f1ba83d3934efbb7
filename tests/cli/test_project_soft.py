"""``qsproj project --method soft``: from files to a parser, on the sample."""

import pytest

from qsproj.corpus.conllu import read_conllu

FILES = (
    *("--source", "corpora/en.conllu"),
    *("--target", "corpora/de.conllu"),
    *("--alignment", "corpora/en-de.pharaoh"),
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("soft")


def project(run_cli, *more):
    return run_cli("project", *FILES, "--method", "soft", "--rounds", "1", *more)


def test_a_prior_of_ones_own_and_the_trees_learned_from(run_cli, folder):
    run_cli("train", "corpora/es.conllu", "--features", "delexicalised", "--epochs", "2", "-o", folder / "es")
    run_cli("train", "corpora/en.conllu", "--features", "delexicalised", "--epochs", "2", "-o", folder / "en")
    priors = ("--prior", folder / "es", "--prior", folder / "en")
    outcome = project(run_cli, *priors, "--trees", folder / "trees.conllu", "-o", folder / "de")
    assert outcome.code == 0, outcome.err
    assert "2 prior parsers; learned from" in outcome.err
    trees = list(read_conllu(folder / "trees.conllu"))
    assert len(trees) > 50
    assert all((tree.heads[1:] >= 0).all() and "_" not in tree.deprels for tree in trees)
    parsed = run_cli(
        "parse", "-m", folder / "de", "corpora/de.conllu", "--confidence", "-o", folder / "parsed"
    )
    assert parsed.code == 0
    outcome = run_cli("eval", "corpora/de.conllu", folder / "parsed", "--calibration")
    assert outcome.out.startswith("expected calibration error")


def test_the_same_seed_gives_the_same_bytes(run_cli, folder):
    for name in ("one", "two"):
        assert project(run_cli, "-o", folder / name).code == 0
    assert (folder / "one").read_bytes() == (folder / "two").read_bytes()


def test_a_prior_that_is_no_parser_is_refused(run_cli, folder):
    run_cli("train", "corpora/es.conllu", "--features", "morphology", "--epochs", "1", "-o", folder / "rich")
    outcome = project(run_cli, "--prior", folder / "rich", "-o", folder / "none")
    assert outcome.code == 2
    assert "train it with --features delexicalised" in outcome.err
    assert not (folder / "none").exists()
