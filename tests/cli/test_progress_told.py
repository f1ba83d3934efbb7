"""What a command tells of how far it is, and of what it is given."""

from __future__ import annotations

import gzip

import pytest

from qsproj.corpus.conllu import read_conllu
from qsproj.corpus.formats import count_sentences
from qsproj.progress import logged
from tests.cli.refusals import SAMPLE

TREE = SAMPLE.read_text(encoding="utf-8")


@pytest.mark.parametrize("command", ["parse", "tag"])
def test_parsing_and_tagging_tell_how_many_sentences_there_are(command, model, tagger, run_cli, tmp_path):
    said = []
    with logged(said.append, every=0.0):
        path = model if command == "parse" else tagger
        assert run_cli(command, "-m", path, SAMPLE, "-o", tmp_path / "out").code == 0
    assert any(line.endswith(f"ing: 7 of {len(list(read_conllu(SAMPLE)))}") for line in said), said


@pytest.mark.parametrize(
    ("text", "count"),
    [
        (TREE, 90),
        (TREE.rstrip("\n"), 90),
        (TREE.replace("\n", "\r\n"), 90),
        ("\n\n" + TREE.replace("\n\n", "\n\n\n") + "# a comment\n", 90),
        ("Eins.\n\n  \nZwei.\nDrei.", 3),
        ("", 0),
        (b"\xff\xfe", None),
    ],
    ids=["whole", "no last line end", "CRLF", "blank lines", "text", "empty", "not UTF-8"],
)
def test_sentences_are_counted_without_reading_them(text, count, tmp_path):
    content = text if isinstance(text, bytes) else text.encode()
    (tmp_path / "file").write_bytes(content)
    (tmp_path / "file.gz").write_bytes(gzip.compress(content))
    assert count_sentences(str(tmp_path / "file")) == count_sentences(str(tmp_path / "file.gz")) == count


def test_what_can_be_read_once_is_not_counted(tmp_path):
    for path in ("-", str(tmp_path / "missing"), "/dev/stdin", str(tmp_path)):
        assert count_sentences(path) is None


def test_drawing_a_file_without_trees_says_so(run_cli, tmp_path):
    bare = tmp_path / "bare.conllu"
    bare.write_text("1\ta\t_\tX\t_\t_\t_\t_\t_\t_\n\n", encoding="utf-8")
    outcome = run_cli("draw", bare, "-o", tmp_path / "page.html")
    message = f"{bare}: found no tree: no word has a head; parse it first (qsproj parse)\n"
    assert (outcome.code, outcome.err) == (0, message)
    assert run_cli("draw", SAMPLE, "-o", tmp_path / "page.html").err == ""


def test_info_explains_its_languages(model, run_cli):
    line = "languages that the text may be in, with the share of its words that are common in each:"
    assert line in run_cli("info", model).out
