"""Changed copies of sentences."""

import io
from pathlib import Path

import pytest

from qsproj.corpus.conllu import read_conllu, write_conllu
from qsproj.corpus.editing import (
    comment_value,
    line_of,
    misc_values,
    with_columns,
    with_comment,
    with_heads,
    with_misc,
    with_probabilities,
)
from qsproj.corpus.sentence import Sentence


def sentence(*misc):
    rows = [f"{word}\tw\t_\t_\t_\t_\t0\t_\t_\t{cell}" for word, cell in enumerate(misc, start=1)]
    text = "\n".join(["# sent_id = 1", "# newpar", "#key=a = b", "# key = second", *rows])
    return next(read_conllu(io.StringIO(text)))


def test_comment_values():
    read = sentence("_")
    assert comment_value(read, "sent_id") == "1"
    assert comment_value(read, "newpar") == ""
    assert comment_value(read, "key") == "a = b"
    assert comment_value(read, "text") is None
    assert comment_value(Sentence.from_words(["a"], sent_id="7"), "sent_id") == "7"


@pytest.mark.parametrize(
    ("before", "value", "after"),
    [
        ("_", "0.9", "P=0.9"),
        ("SpaceAfter=No", "0.9", "SpaceAfter=No|P=0.9"),
        ("A=1|P=0.1|PP=2", "0.9", "A=1|P=0.9|PP=2"),
        ("P|A", "0.9", "P=0.9|A"),
        ("A=P=1", "0.9", "A=P=1|P=0.9"),
        ("A|P=1", None, "A|P=1"),
        ("A\r", "0.9", "A|P=0.9\r"),
    ],
)
def test_misc(before, value, after):
    original = sentence(before, "_")
    changed = with_misc(original, "P", [value, None])
    assert [line.split("\t")[9] for line in changed.layout.lines[4:]] == [after, "_"]
    assert misc_values(changed, "P") == (value or "1", None)
    assert original.layout.lines[4].endswith(f"\t{before}")


def test_misc_of_a_made_sentence():
    made = with_misc(Sentence.from_words(["a", "b"]), "P", ["1", None])
    assert made.layout.lines[0] == "# text = a b"
    assert misc_values(made, "P") == ("1", None)
    assert misc_values(Sentence.from_words(["a"]), "P") == (None,)


def test_lengths_are_checked():
    read = sentence("_", "_")
    with pytest.raises(ValueError, match=r"shape \(2,\), expected \(3,\)"):
        with_heads(read, [-1, 0])
    with pytest.raises(ValueError, match="a head is outside"):
        with_heads(read, [-1, 0, 3])
    with pytest.raises(ValueError, match="no words"):
        Sentence.from_words([])


def test_columns_are_replaced_and_the_rest_kept():
    made = with_columns(
        Sentence.from_words(["a", "b"], deprels=["d", "e"]),
        lemmas=["A", "B"],
        xpos=["x", "y"],
        feats=["f", "g"],
    )
    changed = with_columns(made, xpos=["z", "z"])
    assert (changed.lemmas, changed.xpos, changed.feats, changed.deprels) == (
        ("A", "B"),
        ("z", "z"),
        ("f", "g"),
        ("d", "e"),
    )
    assert with_heads(changed, [-1, 2, 0]).heads.tolist() == [-1, 2, 0]


ROW = "1\ta\t_\tX\t_\t_\t0\troot\t_\t_\n\n"


def written(sentence):
    handle = io.StringIO()
    write_conllu([sentence], handle)
    return handle.getvalue()


@pytest.mark.parametrize("comments", ["", "# sent_id = s\n", "# sent_id = s\n# text = a\n"])
def test_a_new_comment_is_the_last_and_nothing_else_changes(comments):
    (read,) = read_conllu(io.StringIO(comments + ROW))
    assert written(with_comment(read, "key", "0.25")) == f"{comments}# key = 0.25\n{ROW}"
    assert written(read) == comments + ROW


def test_an_older_comment_is_replaced_where_it_stands():
    (read,) = read_conllu(io.StringIO("# key = 0.9\n# sent_id = s\n" + ROW))
    assert written(with_comment(read, "key", "0.25")) == "# key = 0.25\n# sent_id = s\n" + ROW


def test_a_made_sentence_gets_its_rows_below_the_comment():
    marked = with_comment(Sentence.from_words(["a", "b"]), "key", "1")
    assert comment_value(marked, "key") == "1"
    assert [marked.layout.lines[i].split("\t")[1] for i in marked.layout.word_lines] == ["a", "b"]


def test_arc_probabilities_have_four_decimals_and_stay_within_0_and_1():
    made = with_probabilities(Sentence.from_words(["a", "b", "c"]), "ArcProb", [1.0 + 1e-12, 0.12345, -1e-17])
    assert misc_values(made, "ArcProb") == ("1.0000", "0.1235", "0.0000")


def test_words_keep_their_lines_whatever_comments_are_added():
    sentence = next(read_conllu("corpora/de.conllu"))
    lines = [line_of(sentence, word) for word in range(1, len(sentence) + 1)]
    rows = Path("corpora/de.conllu").read_text(encoding="utf-8").splitlines()
    assert [rows[line - 1].split("\t")[1] for line in lines] == list(sentence.forms)
    for number in range(4):
        sentence = with_comment(sentence, f"note{number}", "x")
        assert [line_of(sentence, word) for word in range(1, len(sentence) + 1)] == lines
    assert line_of(sentence) == 1
    assert line_of(with_comment(Sentence.from_words(["a"]), "note", "x"), 1) is None
