"""A model that parses text is taken apart, by `qsproj bundle --take` and where a parser is asked for."""

from pathlib import Path

import pytest

from qsproj.models.storage import load_made
from tests.cli.refusals import PAIR, SAMPLE, assert_one_line

TEXT_PARSER = Path("tests/kept_models/text-parser.model")
KINDS = {"tagger": "tagger", "parser": "arc-parser"}


@pytest.mark.parametrize("part", ["tagger", "parser"])
def test_a_part_does_what_the_whole_does(run_cli, tmp_path, part):
    taken = tmp_path / part
    outcome = run_cli("bundle", "--take", part, TEXT_PARSER, "-o", taken)
    assert (outcome.code, outcome.err) == (0, f"the {part} of {TEXT_PARSER}: {taken}\n")
    whole, alone = tmp_path / "whole", tmp_path / "alone"
    if part == "tagger":
        commands = (("tag", "-m", TEXT_PARSER, SAMPLE), ("tag", "-m", taken, SAMPLE))
    else:
        commands = (("parse", "-m", TEXT_PARSER, SAMPLE), ("parse", "-m", taken, SAMPLE))
    for command, path in zip(commands, (whole, alone), strict=True):
        assert run_cli(*command, "-o", path).code == 0
    assert whole.read_bytes() == alone.read_bytes()


def test_a_part_keeps_its_provenance_in_a_model_of_combined_models(run_cli, tmp_path):
    parts = {part: f"tests/kept_models/{kind}.model" for part, kind in KINDS.items()}
    first, second = tmp_path / "first", tmp_path / "second"
    assert run_cli("bundle", parts["tagger"], parts["parser"], "-o", first).code == 0
    assert run_cli("bundle", first, first, "-o", second).code == 0
    for part, path in parts.items():
        assert load_made(second)[part] == load_made(path)
        taken = tmp_path / part
        assert run_cli("bundle", "--take", part, second, "-o", taken).code == 0
        assert load_made(taken) == load_made(path)


def test_what_cannot_be_taken_apart(run_cli, tmp_path):
    out = tmp_path / "out"
    refused = run_cli("bundle", "--take", "parser", "tests/kept_models/arc-parser.model", "-o", out)
    assert_one_line(refused, "found a model of kind arc-parser, expected a model that parses text")
    refused = run_cli("bundle", "--take", "parser", TEXT_PARSER, TEXT_PARSER, "-o", out)
    assert_one_line(refused, "--take takes one model apart")
    assert_one_line(run_cli("bundle", TEXT_PARSER, "-o", out), "give a tagger and a parser")
    assert not out.exists()


def test_a_source_model_may_parse_text(run_cli, tmp_path):
    """Its parser is taken; a joint model is made of the same parser alone or within a model of text."""
    joint = "tests/kept_models/joint-parser.model"
    alone, text = tmp_path / "alone", tmp_path / "text"
    parser = tmp_path / "parser"
    run_cli("bundle", "--take", "parser", TEXT_PARSER, "-o", parser)
    for source, out in ((parser, alone), (TEXT_PARSER, text)):
        outcome = run_cli(
            "join-biparser", "-m", joint, "--source-model", source, "--target-model", parser, "-o", out
        )
        assert outcome.code == 0, outcome.err
    parsed = [tmp_path / name for name in ("one", "other")]
    for model, path in zip((alone, text), parsed, strict=True):
        assert run_cli("biparse", "-m", model, *PAIR, "-o", path).code == 0
    assert parsed[0].read_bytes() == parsed[1].read_bytes()
