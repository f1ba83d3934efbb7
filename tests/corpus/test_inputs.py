"""What a file of sentences is found to be."""

import gzip

import pytest

from qsproj.corpus.formats import open_source
from qsproj.errors import DataError, UsageError

ROW = "1\tHaus\tHaus\tNOUN\t_\t_\t0\troot\t_\t_\n"
RANGE = "1-2\tzum\t_\t_\t_\t_\t_\t_\t_\t_\n1\tzu\t_\t_\t_\t_\t_\t_\t_\t_\n2\tdem\t_\t_\t_\t_\t_\t_\t_\t_\n"


@pytest.fixture
def write(tmp_path):
    def write_file(text):
        path = tmp_path / "file"
        path.write_bytes(text.encode("utf-8"))
        return path

    return write_file


@pytest.mark.parametrize("start", ["", "\ufeff", "\n\n", "# sent_id = a\n", "\ufeff# text = Haus\n"])
@pytest.mark.parametrize("rows", [ROW, RANGE, ROW.replace("\n", "\r\n")])
def test_conllu(write, start, rows):
    with open_source(write(f"{start}{rows}\n")) as source:
        assert not source.is_text
        assert len(list(source.sentences())) == 1


@pytest.mark.parametrize(
    "text",
    ["Das Haus.\n", "# Haus am See\nx\n", "#Berlin ist schön\n", "\n\nHaus", "1 Haus, 2 Häuser", "# ab\n"],
)
@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_plain_text_comes_whole_but_for_its_mark(write, text, mark):
    with open_source(write(mark + text)) as source:
        assert source.is_text
        assert "".join(source.lines) == text


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("# sent_id = 1\nDas Haus.\n", "file:2: found the text 'Das Haus.'"),
        ("\ufeff# sent_id = 1\nDas Haus.\n", "file:2: found the text 'Das Haus.'"),
        (ROW.replace("\t0\troot", "\t0 root") + "\n", "file:1: found 9 columns"),
        (ROW.replace("\t", " ") + "\n", "file:1: found columns separated by spaces, expected tabs"),
        ("# newdoc\n\n", "found a sentence without words"),
    ],
)
def test_what_is_nearly_conllu_is_told_by_its_line(write, text, message):
    path = write(text)
    with pytest.raises(DataError, match=message), open_source(path) as source:
        assert not source.is_text
        list(source.sentences())


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "file:1: found no sentence"),
        ("\ufeff", "file:1: found no sentence"),
        ("Haus\thouse\n", "file:1: found a tab as between the sentences of a pair.*cut -f2"),
        ("\nHaus ||| house\n", r"file:2: found \|\|\| as between the sentences of a pair"),
    ],
)
def test_what_is_neither(write, text, message):
    with pytest.raises(DataError, match=message), open_source(write(text)):
        pass


@pytest.mark.parametrize("name", ["in.conllx", "in.conllu", "in.conllx.gz"])
def test_rows_with_too_few_columns_are_told_as_such_where_the_name_says_what_it_is(tmp_path, name):
    path = tmp_path / name
    row = b"1\tHaus\tNOUN\n\n"
    path.write_bytes(gzip.compress(row) if name.endswith(".gz") else row)
    message = rf"{name}:1: found 3 columns, expected 10"
    with open_source(path) as source, pytest.raises(DataError, match=message):
        list(source.sentences())


def test_a_file_that_is_not_there(tmp_path):
    with pytest.raises(UsageError, match="cannot be read"), open_source(tmp_path / "none"):
        pass
