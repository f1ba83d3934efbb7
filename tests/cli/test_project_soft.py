"""``qsproj project --method soft``: from files to a parser, on the sample."""

import json
import re
from pathlib import Path

import numpy as np
import pytest

from qsproj.corpus.conllu import read_conllu
from qsproj.evaluation.attachment import attachment_scores
from qsproj.models.storage import load_archive

FILES = (
    *("--source", "corpora/en.conllu"),
    *("--target", "corpora/de.conllu"),
    *("--alignment", "corpora/en-de.pharaoh"),
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("soft")


def project(run_cli, *more):
    return run_cli("project", *FILES, "--method", "soft", *more)


def test_a_prior_of_ones_own_and_the_trees_learned_from(run_cli, folder):
    run_cli("train", "corpora/es.conllu", "--features", "delexicalised", "--epochs", "2", "-o", folder / "es")
    run_cli("train", "corpora/en.conllu", "--features", "delexicalised", "--epochs", "2", "-o", folder / "en")
    priors = ("--prior", folder / "es", "--prior", folder / "en")
    outcome = project(run_cli, *priors, "--trees", folder / "trees.conllu", "-o", folder / "de")
    assert outcome.code == 0, outcome.err
    assert "2 prior parsers; trained on" in outcome.err
    assert "every tenth pair is held out for calibration" in outcome.err
    trees = list(read_conllu(folder / "trees.conllu"))
    assert len(trees) > 50
    assert all((tree.heads[1:] >= 0).all() and "_" not in tree.deprels for tree in trees)
    parsed = run_cli(
        "parse", "-m", folder / "de", "corpora/de.conllu", "--confidence", "-o", folder / "parsed"
    )
    assert parsed.code == 0
    outcome = run_cli("eval", "corpora/de.conllu", folder / "parsed", "--calibration")
    assert outcome.out.startswith("expected calibration error")


def test_it_is_the_default(run_cli, folder):
    assert run_cli("project", *FILES, "-o", folder / "default").code == 0
    assert run_cli("project", *FILES, "--method", "soft", "-o", folder / "named").code == 0
    assert (folder / "default").read_bytes() == (folder / "named").read_bytes()


def test_a_prior_without_a_treebank_is_reported(run_cli, folder):
    hint = "give the source's gold trees as well: --treebank"
    assert hint in project(run_cli, "-o", folder / "de").err
    outcome = project(run_cli, "--treebank", "corpora/en.conllu", "-o", folder / "de")
    assert outcome.code == 0, outcome.err
    assert hint not in outcome.err


def test_the_weight_of_links_can_be_given(run_cli, folder):
    outcome = project(run_cli, "--draws", "1", "--share", "1.25", "-o", folder / "weighed")
    assert outcome.code == 0 and "evidence weight 1.25" in outcome.err
    outcome = project(run_cli, "--share", "3", "-o", folder / "too_much")
    assert outcome.code == 2 and "share" in outcome.err


def test_conventions_of_the_target_hold_without_a_treebank(run_cli, folder):
    """English possessives are pronouns, Spanish ones determiners: the parser learns nothing else."""
    english = Path("corpora/en.conllu").read_text(encoding="utf-8")
    changed = re.sub("\tPRON(\t.*)\tnmod:poss\t", r"\tDET\1\tdet\t", english)
    assert changed != english
    (folder / "changed.conllu").write_text(changed, encoding="utf-8")
    for source in ("corpora/en.conllu", folder / "changed.conllu"):
        files = ("--source", source, "--target", SPANISH, "--alignment", "corpora/en-es.pharaoh")
        assert run_cli("project", *files, "-o", folder / f"es.{Path(source).stem}").code == 0
    kept, turned = (load_archive(folder / f"es.{name}") for name in ("en", "changed"))
    assert kept[1] == turned[1]
    assert all(np.array_equal(kept[2][name], turned[2][name]) for name in kept[2])


def test_the_same_seed_gives_the_same_bytes(run_cli, folder):
    for name in ("one", "two"):
        assert project(run_cli, "-o", folder / name).code == 0
    assert (folder / "one").read_bytes() == (folder / "two").read_bytes()


SPANISH = "corpora/es.conllu"
TWO_SOURCES = (
    *("--source", "corpora/en.conllu", "--alignment", "corpora/en-es.pharaoh"),
    *("--source", "corpora/de.conllu", "--alignment", "corpora/de-es.pharaoh"),
)


def test_two_source_languages_vote(run_cli, folder):
    files = (*TWO_SOURCES, "--target", SPANISH, "--method", "soft")
    outcome = run_cli("project", *files, "--trees", folder / "es.trees", "-o", folder / "es.model")
    assert outcome.code == 0, outcome.err
    assert "1 prior parser" in outcome.err
    run_cli("parse", "-m", folder / "es.model", SPANISH, "-o", folder / "es.parsed")
    scores = attachment_scores(read_conllu(SPANISH), [read_conllu(folder / "es.parsed")])[0]
    assert scores.uas > 85


def test_sources_may_be_of_different_texts(run_cli, folder):
    sources = []
    for name, alignment, kept in (("en", "en-es", slice(60)), ("de", "de-es", slice(30, None))):
        for language in (name, "es"):
            text = Path(f"corpora/{language}.conllu").read_text(encoding="utf-8").strip().split("\n\n")
            (folder / f"{language}.{name}.part").write_text(
                "\n\n".join(text[kept]) + "\n\n", encoding="utf-8"
            )
        links = Path(f"corpora/{alignment}.pharaoh").read_text(encoding="utf-8").splitlines()
        (folder / f"{alignment}.part").write_text("\n".join(links[kept]) + "\n", encoding="utf-8")
        sources += ["--source", folder / f"{name}.{name}.part", "--target", folder / f"es.{name}.part"]
        sources += ["--alignment", folder / f"{alignment}.part"]
    outcome = run_cli("project", *sources, "--method", "soft", "-o", folder / "parts")
    assert outcome.code == 0, outcome.err
    # One in ten of the 60 pairs of either text is held out.
    assert 60 < int(re.search(r"trained on (\d+) pairs", outcome.err)[1]) <= 108


def test_sources_of_other_sentences_are_refused(run_cli, folder):
    lines = Path(SPANISH).read_text(encoding="utf-8").split("\n\n")
    (folder / "fewer").write_text("\n\n".join(lines[1:]), encoding="utf-8")
    files = (*TWO_SOURCES, "--target", folder / "fewer", "--method", "soft")
    outcome = run_cli("project", *files, "-o", folder / "none")
    assert outcome.code == 2
    assert outcome.err.count("\n") == 1


def test_annotated_trees_fine_tune_the_parser(run_cli, folder):
    german = "corpora/de.conllu"
    outcome = project(run_cli, "--annotated", german, "-o", folder / "tuned")
    assert outcome.code == 0
    assert "fine-tuned on 90 annotated sentences" in outcome.err
    assert project(run_cli, "-o", folder / "plain").code == 0

    def uas(model):
        run_cli("parse", "-m", model, german, "-o", folder / "parsed")
        return json.loads(run_cli("eval", german, folder / "parsed", "--json").out)["uas"]

    assert uas(folder / "tuned") > uas(folder / "plain")


@pytest.mark.parametrize(
    ("options", "found"),
    [
        (("--labels", "joint"), "a parser with relations inside its trees"),
        (("--objective", "hidden"), "a parser with hidden clusters of arcs"),
    ],
)
def test_a_prior_of_another_kind_is_refused(run_cli, folder, options, found):
    run_cli(
        "train", SPANISH, "--features", "delexicalised", "--epochs", "1", *options, "-o", folder / "other"
    )
    outcome = project(run_cli, "--prior", folder / "other", "-o", folder / "none")
    assert (outcome.code, outcome.err) == (
        2,
        f"qsproj project: {folder / 'other'}: found {found}, expected a first-order parser of tags alone; "
        f"train one: qsproj train --features delexicalised, without {' '.join(options)}\n",
    )


@pytest.mark.parametrize("features", ["words", "morphology"])
def test_a_prior_that_reads_more_than_tags_is_refused(run_cli, folder, features):
    run_cli("train", SPANISH, "--features", features, "--epochs", "1", "-o", folder / "rich")
    outcome = project(run_cli, "--prior", folder / "rich", "-o", folder / "none")
    assert outcome.code == 2
    assert "train one: qsproj train --features delexicalised" in outcome.err
    assert not (folder / "none").exists()
