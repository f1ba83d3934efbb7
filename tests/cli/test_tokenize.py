"""`qsproj tokenize`: words for aligners, cut as other commands cut them."""

import pytest

from qsproj.corpus.conllu import read_conllu
from tests.cli.refusals import assert_one_line


def test_words_are_those_of_align_and_tag(run_cli, tagger, tmp_path):
    text = tmp_path / "text"
    text.write_text("Ich gehe zum Haus.\n\n»Nein!«, sagt er (leise).\n", encoding="utf-8")
    out = run_cli("tokenize", "--language", "de", text).out
    assert out == "Ich gehe zum Haus .\n\n» Nein ! « , sagt er ( leise ) .\n"
    split = run_cli("tokenize", "--language", "de", "--split-contractions", text).out
    assert split.splitlines()[0] == "Ich gehe zu dem Haus ."
    by_model = run_cli("tokenize", "-m", tagger, text).out.splitlines()
    tagged = run_cli("tag", "-m", tagger, text).out.split("\n\n")
    words = [
        [row.split("\t")[1] for row in block.splitlines() if row.split("\t")[0].isdecimal()]
        for block in tagged
    ]
    assert [line.split() for line in by_model if line] == [one for one in words if one]
    assert by_model[1] == ""


@pytest.mark.parametrize("name", ["words.conllu", "words.conllu.gz"])
def test_words_are_written_as_conllu(run_cli, tmp_path, name):
    """Sentences have the numbers of their lines, so that the sides of a bitext stay paired."""
    text, out = tmp_path / "text", tmp_path / name
    text.write_text("Ich gehe zum Haus.\n\nNein!\n", encoding="utf-8")
    assert run_cli("tokenize", "--language", "de", "--split-contractions", text, "-o", out).code == 0
    first, second = read_conllu(out)
    assert (first.sent_id, first.forms) == ("1", ("Ich", "gehe", "zu", "dem", "Haus", "."))
    assert (second.sent_id, second.forms) == ("3", ("Nein", "!"))


def test_its_words_are_cut_once(run_cli, tmp_path):
    """Links of its lines count the words that `align --tokenize` counts."""
    for name, line in (("en", "It's Tom's, isn't it?\n"), ("de", "Das ist Toms.\n")):
        (tmp_path / name).write_text(line * 3, encoding="utf-8")
        run_cli("tokenize", "--language", name, tmp_path / name, "-o", tmp_path / f"{name}.words")
    cut = run_cli("align", tmp_path / "en", tmp_path / "de", "--tokenize", "en", "de").out
    assert run_cli("align", tmp_path / "en.words", tmp_path / "de.words").out == cut != ""


@pytest.mark.parametrize("name", ["out", "out.conllu"])
def test_a_line_that_rules_cannot_cut_is_named(run_cli, tmp_path, name):
    text = tmp_path / "text"
    text.write_text("a\n今天天气很好今天天气很好\n", encoding="utf-8")
    outcome = run_cli("tokenize", "--language", "zh", text, "-o", tmp_path / name)
    assert_one_line(outcome, f"{text}:2: found")
    assert not (tmp_path / name).exists()


@pytest.mark.parametrize("way", [(), ("--language", "de", "-m", "x")])
def test_one_way_to_cut_is_named(run_cli, way):
    assert run_cli("tokenize", *way, "text").code == 2


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "text:1: found no sentence, expected CoNLL-U or plain text"),
        ("# sent_id = 1\n1\tHaus" + "\t_" * 8 + "\n\n", "text:1: found CoNLL-U, expected plain text"),
        ("Haus\thouse\n", "text:1: found a tab as between the sentences of a pair"),
    ],
)
def test_other_files_than_text_are_refused(run_cli, tmp_path, text, message):
    (tmp_path / "text").write_text(text, encoding="utf-8")
    outcome = run_cli("tokenize", "--language", "de", tmp_path / "text", "-o", tmp_path / "out")
    assert_one_line(outcome, message)
    assert not (tmp_path / "out").exists()


def test_a_byte_order_mark_is_no_part_of_a_token(run_cli, tmp_path):
    (tmp_path / "text").write_text("\ufeffDas Haus.\n", encoding="utf-8")
    assert run_cli("tokenize", "--language", "de", tmp_path / "text").out == "Das Haus .\n"
