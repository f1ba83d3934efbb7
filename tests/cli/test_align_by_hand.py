"""``qsproj align`` with hand alignments: what they teach, the model, and what bad input says."""

from __future__ import annotations

import json
from itertools import islice
from pathlib import Path

import pytest

from qsproj.corpus.formats import read_alignments
from qsproj.evaluation.alignment import alignment_scores

SIDES = ("corpora/en.conllu", "corpora/de.conllu")
LINKS = "corpora/en-de.pharaoh"
FIRST = 40


def error_rate(path):
    """Return the AER of the pairs that were not aligned by hand."""
    right, found = (islice(read_alignments(file), FIRST, None) for file in (LINKS, path))
    return alignment_scores(right, found).error_rate


@pytest.fixture(scope="module")
def hand(tmp_path_factory):
    path = tmp_path_factory.mktemp("links") / "hand"
    lines = Path(LINKS).read_text(encoding="utf-8").splitlines(keepends=True)
    path.write_text("".join(lines[:FIRST]), encoding="utf-8")
    return path


@pytest.mark.parametrize("factors", ["fertility", "target-hmm", "itg"])
def test_links_by_hand_better_the_others_now_and_by_a_model(run_cli, hand, tmp_path, factors):
    alone, learned, again, model = (tmp_path / name for name in ("alone", "learned", "again", "model"))
    assert run_cli("align", *SIDES, "-o", alone).code == 0
    teaching = ("--hand-alignment", hand, "--alignment-factors", factors, "--save-model", model)
    outcome = run_cli("align", *SIDES, *teaching, "-o", learned)
    assert outcome.code == 0
    assert f"hand alignments of {FIRST} pairs" in outcome.err
    assert error_rate(learned) < error_rate(alone) - 1.0
    assert run_cli("align", *SIDES, "-m", model, "-o", again).code == 0
    assert again.read_bytes() == learned.read_bytes()
    made = json.loads(run_cli("info", model, "--json").out)["made"]
    assert (made["options"]["alignment_factors"], made["hand_aligned"]) == (factors, FIRST)
    if factors == "target-hmm":
        for links in read_alignments(learned):
            assert len(set(links.links[:, 1].tolist())) == len(links.links)


def test_a_threshold_is_that_of_what_is_written(run_cli, hand, tmp_path):
    model, many, few = (tmp_path / name for name in ("model", "many", "few"))
    teaching = ("--hand-alignment", hand, "--save-model", model)
    assert run_cli("align", *SIDES, *teaching, "-o", tmp_path / "links").code == 0
    for threshold, path in (("0.1", many), ("0.9", few)):
        arguments = ("--threshold", threshold, "--weights", "-o", path)
        assert run_cli("align", *SIDES, "-m", model, *arguments).code == 0
        assert all((links.weights >= float(threshold)).all() for links in read_alignments(path))
    assert few.stat().st_size < many.stat().st_size


def test_a_model_of_tagged_words_does_not_take_others(run_cli, hand, tmp_path):
    """One that was learned from text takes either."""
    texts = tmp_path / "en", tmp_path / "de"
    for path in texts:
        path.write_text(f"{path.name} y\nz\n", encoding="utf-8")
    (tmp_path / "own").write_text("0-0 1-1\n", encoding="utf-8")
    tagged, plain = tmp_path / "tagged", tmp_path / "plain"
    outputs = ("-o", tmp_path / "out")
    assert run_cli("align", *SIDES, "--hand-alignment", hand, "--save-model", tagged, *outputs).code == 0
    own = ("--hand-alignment", tmp_path / "own", "--save-model", plain)
    assert run_cli("align", *texts, *own, *outputs).code == 0
    outcome = run_cli("align", *texts, "-m", tagged, *outputs)
    assert outcome.code == 2
    assert "learned from words with UPOS tags" in outcome.err
    assert outcome.err.count("\n") == 1
    assert run_cli("align", *SIDES, "-m", plain, *outputs).code == 0


def test_pairs_to_choose_nothing_for_are_counted(run_cli, tmp_path):
    texts = tmp_path / "en", tmp_path / "de"
    for path in texts:
        path.write_text(f"{path.name} y\n\nz\n" + "z " * 1001 + "\n", encoding="utf-8")
    (tmp_path / "own").write_text("0-0 1-1\n\n0-0\n0-0\n", encoding="utf-8")
    outputs = ("--save-model", tmp_path / "model", "-o", tmp_path / "out")
    outcome = run_cli("align", *texts, "--hand-alignment", tmp_path / "own", *outputs)
    assert outcome.code == 0
    assert (tmp_path / "out").read_text(encoding="utf-8").splitlines()[:3] == ["0-0 1-1", "", "0-0"]
    taught, long, empty = outcome.err.splitlines()
    assert taught.startswith("hand alignments of 2 pairs; 0 of 3 sure links")
    assert taught.endswith("; left out: 1 pair too long or without candidates")
    assert long == "1 pair with a side of more than 1,000 words: links are those of the aligner"
    assert empty == "1 of 4 pairs has an empty side: no links"
    assert run_cli("align", *texts, "-m", tmp_path / "model", "-o", tmp_path / "again").code == 0
    assert (tmp_path / "again").read_bytes() == (tmp_path / "out").read_bytes()


def test_a_model_does_not_take_the_place_of_what_taught_it(run_cli, hand, tmp_path):
    own = tmp_path / "own"
    own.write_bytes(hand.read_bytes())
    outcome = run_cli(
        *("align", *SIDES, "--hand-alignment", own, "--save-model", own, "-o", tmp_path / "out")
    )
    assert outcome.code == 2
    assert "as a file to read and as one to write" in outcome.err
    assert own.read_bytes() == hand.read_bytes()


def test_nothing_is_learned_where_links_cannot_be_written(run_cli, tmp_path):
    model = tmp_path / "model"
    outcome = run_cli(
        *("align", *SIDES, "--hand-alignment", LINKS, "--save-model", model, "-o", tmp_path / "none" / "out")
    )
    assert outcome.code == 2
    assert "cannot be written" in outcome.err
    assert not model.exists()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--save-model", "m"), "--save-model belongs to --hand-alignment; leave it out"),
        (
            ("--alignment-factors", "target-hmm"),
            "--alignment-factors belongs to --hand-alignment; leave it out",
        ),
        (
            ("--hand-alignment-format", "talp"),
            "--hand-alignment-format belongs to --hand-alignment; leave it out",
        ),
        (("--hand-alignment", LINKS, "-m", "m"), "leave out --hand-alignment, or -m"),
        (
            ("--hand-alignment", LINKS, "--symmetrize", "union"),
            "--hand-alignment belongs to --symmetrize threshold; leave it out",
        ),
        (("--hand-alignment", LINKS, "--alignment-factors", "x"), "known: fertility, target-hmm"),
        (("--hand-alignment", "-"), "cannot be - (standard input)"),
        (("--hand-alignment", "no-such-file"), "no-such-file"),
        (("--hand-alignment", SIDES[0]), "is read with --hand-alignment-format misc"),
        (
            ("--hand-alignment", LINKS, "--hand-alignment-format", "talp"),
            f"{LINKS}:1: found a link of word 0",
        ),
        (("--hand-alignment", LINKS, "--threshold", "2"), "expected a number, from 0 to 1"),
        (("--hand-alignment", LINKS, "--save-model", "-"), "not written to standard output"),
        (("--hand-alignment", LINKS, "--save-model", "none/model"), "none/model: cannot be written"),
        (("-m", "corpora/en.conllu"), "found a damaged or foreign file"),
    ],
)
def test_what_does_not_fit_is_one_line(run_cli, tmp_path, options, message):
    outcome = run_cli("align", *SIDES, *options, "-o", tmp_path / "out")
    assert outcome.code == 2
    assert message in outcome.err
    assert outcome.err.count("\n") == 1, outcome.err
    assert not (tmp_path / "out").exists()
