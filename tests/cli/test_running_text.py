"""`qsproj parse` of plain text: lines with several sentences, numbers of sentences."""

from pathlib import Path

import pytest

TEXT_PARSER = Path("tests/kept_models/text-parser.model")


def parsed(run_cli, text, *options):
    outcome = run_cli("parse", "-m", TEXT_PARSER, *options, stdin=text)
    assert outcome.code == 0, outcome.err
    names = [line.removeprefix("# sent_id = ") for line in outcome.out.splitlines() if "# sent_id" in line]
    return names, outcome.err


@pytest.mark.parametrize(
    ("text", "noticed"),
    [
        ("Der Hund schläft. Die Katze auch.\n", "1 of the first 1 line holds several sentences"),
        ("Der Hund schläft. Die Katze auch.\nEs regnet.\n", "1 of the first 2 lines holds several sentences"),
        ("Der Hund schläft.\nDie Katze auch.\n", ""),
        ("Der Hund schläft.\n" * 9 + "Er ist müde. Ja.\n", ""),
        ("Er ist müde. Ja.\n" * 300, "100 of the first 100 lines hold several sentences"),
    ],
)
def test_lines_with_several_sentences_are_noticed_once(run_cli, text, noticed):
    _, said = parsed(run_cli, text)
    assert said.count("--paragraphs") == bool(noticed)
    assert noticed in said


def test_nothing_is_noticed_where_sentences_are_found(run_cli):
    assert parsed(run_cli, "Er ist müde. Ja.\n", "--paragraphs")[1] == ""


def test_blank_lines_cost_no_number(run_cli):
    text = "\nDer Hund schläft.\n\n\nDie Katze auch.\nEs regnet.\n"
    assert parsed(run_cli, text)[0] == ["1", "2", "3"]
    assert parsed(run_cli, "Er ist müde. Ja.\n\nEs regnet.\n", "--paragraphs")[0] == ["1.1", "1.2", "2"]
