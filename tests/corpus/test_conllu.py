"""CoNLL-U: every byte comes back, and only what was changed is changed."""

import dataclasses
import gzip
import io
import itertools

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from qsproj.corpus.conllu import read_conllu, write_conllu
from qsproj.corpus.editing import with_columns, with_heads
from qsproj.corpus.files import open_text
from qsproj.corpus.sentence import Sentence
from qsproj.errors import DataError

EXAMPLE = """\
# newdoc
# sent_id = s-1
# note = a = b == c
# text = vámonos al mar
# sent_id = again
0.1\te\te\t_\t_\t_\t_\t_\t_\t_
1-2\tvámonos\t_\t_\t_\t_\t_\t_\t_\t_
1\tvamos\tir\tVERB\tv\tMood=Imp\t0\troot\t_\tA=1|B=2
2\tnos\tnosotros\tPRON\tp\t_\t1\tobj\t1:obj\t_
2.1\tx\tx\t_\t_\t_\t_\t_\t1:dep\t_
3-4\tal\t_\t_\t_\t_\t_\t_\t_\t_
3\ta\ta\tADP\ts\t_\t5\tcase\t_\t_
4\tel\tel\tDET\td\t_\t5\tdet\t_\t_
5\tmar\tmar\tNOUN\tn\t_\t_\t_\t_\tSpaceAfter=No

"""
ROW = "{}\tw\t_\t_\t_\t_\t{}\t_\t_\t_"


def read(text):
    return list(read_conllu(io.BytesIO(text.encode())))


def written(sentences):
    stream = io.StringIO()
    write_conllu(sentences, stream)
    return stream.getvalue()


def test_fields():
    (sentence,) = read(EXAMPLE)
    assert sentence.sent_id == "s-1"
    assert sentence.forms == ("vamos", "nos", "a", "el", "mar")
    assert sentence.lemmas[1] == "nosotros"
    assert sentence.upos == ("VERB", "PRON", "ADP", "DET", "NOUN")
    assert sentence.xpos == ("v", "p", "s", "d", "n")
    assert sentence.feats == ("Mood=Imp", "_", "_", "_", "_")
    assert sentence.heads.tolist() == [-1, 0, 1, 5, 5, -1]
    assert sentence.heads.dtype == np.int32
    assert not sentence.heads.flags.writeable
    assert sentence.deprels == ("root", "obj", "case", "det", "_")


LOSSLESS = {
    "as it should be": EXAMPLE,
    "no blank line at the end": EXAMPLE[:-1],
    "no line end at the end": EXAMPLE[:-2],
    "CRLF": EXAMPLE.replace("\n", "\r\n") * 2,
    "CRLF without line end at the end": EXAMPLE.replace("\n", "\r\n")[:-4],
    "mixed line ends": EXAMPLE.replace("det\t_\t_\n", "det\t_\t_\r\n") + EXAMPLE,
    "blank lines around": f"\n\n{EXAMPLE}\n\n{EXAMPLE}\n",
    "blank line of spaces": f"{EXAMPLE[:-1]}  \n{EXAMPLE}",
    "byte order mark": f"\ufeff{EXAMPLE}{EXAMPLE}",
    "byte order mark before a row": "\ufeff" + ROW.format(1, 0),
    "comment among the words": f"# a\n{ROW.format(1, 0)}\n# b\n{ROW.format(2, 1)}\n\n",
    "odd line separators": EXAMPLE.replace("mar\tmar", "m\u2028a\x0b\x1c\x85r\tmar"),
    "several roots": f"{ROW.format(1, 0)}\n{ROW.format(2, 0)}\n\n",
    "a tab-free comment that looks like a row": f"#1\n{ROW.format(1, 0)}\n\n",
}


@pytest.mark.parametrize("text", LOSSLESS.values(), ids=LOSSLESS.keys())
def test_every_byte_comes_back(text):
    assert written(read(text)) == text


@pytest.mark.parametrize("name", ["a.conllu", "a.conllu.gz", "a.conllu.xz"])
def test_files_and_paths(tmp_path, name):
    write_conllu(read(EXAMPLE), tmp_path / name)
    with open_text(tmp_path / name) as handle:
        assert handle.read() == EXAMPLE
    assert written(read_conllu(str(tmp_path / name))) == EXAMPLE


def test_a_file_may_be_rewritten_while_it_is_read(tmp_path):
    path = tmp_path / "a.conllu"
    path.write_text(EXAMPLE * 3)
    write_conllu((s for s in read_conllu(path)), path)
    assert path.read_text() == EXAMPLE * 3


def test_a_sentence_is_yielded_before_the_end_is_read():
    lines = itertools.chain(EXAMPLE.splitlines(keepends=True) * 2, itertools.repeat("no row"))

    class Endless(io.StringIO):
        def readline(self, size=-1, /):
            return next(lines)

        def __next__(self):
            return next(lines)

    assert next(read_conllu(Endless())).sent_id == "s-1"


def test_a_sentence_of_two_thousand_words():
    text = "\n".join(ROW.format(word, word - 1) for word in range(1, 2001)) + "\n\n"
    (sentence,) = read(text)
    assert sentence.heads.tolist() == list(range(-1, 2000))
    assert written([sentence]) == text


def test_changes_are_put_into_the_rows():
    (sentence,) = read(EXAMPLE)
    changed = with_heads(sentence, [-1, 0, 1, 5, 5, 1], ["root", "obj", "case", "det", "obl"])
    changed = with_columns(changed, upos=["X", "PRON", "ADP", "DET", "NOUN"])
    expected = EXAMPLE.replace("VERB", "X").replace("n\t_\t_\t_\t_\tSpace", "n\t_\t1\tobl\t_\tSpace")
    assert written([changed]) == expected
    assert written([with_heads(changed, sentence.heads, sentence.deprels)]) == EXAMPLE.replace("VERB", "X")
    assert written([dataclasses.replace(sentence, forms=("Vamos", *sentence.forms[1:]))]) == EXAMPLE.replace(
        "\tvamos", "\tVamos"
    )


def test_changes_in_a_file_with_crlf_and_a_mark():
    text = "\ufeff" + EXAMPLE.replace("\n", "\r\n")
    (sentence,) = read(text)
    changed = with_heads(sentence, [-1, 0, 1, 5, 5, 1])
    assert written([changed]) == text.replace("n\t_\t_\t_\t_\tSpace", "n\t_\t1\t_\t_\tSpace")


def test_a_new_sent_id_replaces_the_comment_or_comes_first():
    (sentence,) = read(EXAMPLE)
    renamed = dataclasses.replace(sentence, sent_id="new")
    assert written([renamed]) == EXAMPLE.replace("sent_id = s-1", "sent_id = new")
    (nameless,) = read(ROW.format(1, 0))
    changed = with_heads(dataclasses.replace(nameless, sent_id="new"), [-1, -1])
    assert written([changed]) == "# sent_id = new\n" + ROW.format(1, "_") + "\n\n"


def test_sentences_of_several_files_do_not_run_together():
    ends = [read(EXAMPLE[:-2]), read(EXAMPLE[:-1]), read("\ufeff\n" + EXAMPLE)]
    assert written(itertools.chain(*ends)) == EXAMPLE * 3


def test_sentences_made_from_words():
    sentence = Sentence.from_words(["Hello", "world"], sent_id="1", upos=["INTJ", "NOUN"], heads=[-1, 2, 0])
    assert written([sentence]) == (
        "# sent_id = 1\n# text = Hello world\n"
        "1\tHello\t_\tINTJ\t_\t_\t2\t_\t_\t_\n2\tworld\t_\tNOUN\t_\t_\t0\t_\t_\t_\n\n"
    )


@pytest.mark.parametrize("cell", ["", "a\tb", "a\nb"])
def test_cells_that_would_break_the_file_are_refused(cell):
    (sentence,) = read(EXAMPLE)
    with pytest.raises(ValueError, match="DEPREL of word 2"):
        written([with_columns(sentence, deprels=["root", cell, "case", "det", "_"])])
    with pytest.raises(ValueError, match="FORM has 1 cells, expected 5"):
        written([dataclasses.replace(sentence, forms=("a",))])


def test_errors_come_after_the_sentences_before_them(tmp_path):
    path = tmp_path / "a.conllu"
    path.write_text(EXAMPLE + "\n" + EXAMPLE.replace("2\tnos", "7\tnos"))
    sentences = read_conllu(path)
    assert next(sentences).sent_id == "s-1"
    with pytest.raises(DataError, match=r"a.conllu:25: found ID '7', expected 2;"):
        next(sentences)


def test_a_repeated_row_is_reported_where_it_is_repeated():
    with pytest.raises(DataError, match="open file>:4: found ID '2', expected 3"):
        read("# c\n" + "\n".join([ROW.format(1, 0), ROW.format(2, 1), ROW.format(2, 1)]))


def test_a_gzip_that_is_cut_off(tmp_path):
    path = tmp_path / "cut.conllu.gz"
    many = "".join(EXAMPLE.replace("s-1", str(i * i)) for i in range(2000)).encode()
    whole = gzip.compress(many)
    path.write_bytes(whole[: len(whole) // 2])
    sentences = read_conllu(path)
    assert next(sentences).sent_id == "0"
    with pytest.raises(DataError, match=r"cut.conllu.gz:[0-9]+: found a damaged"):
        list(sentences)


CELL = st.text(st.characters(codec="utf-8", exclude_characters="\t\n\r"), min_size=1).filter(
    lambda cell: not cell.isspace()
)


@st.composite
def blocks(draw):
    """Draw the lines of one legal sentence: comments, ranges, empty nodes, a forest of words."""
    size = draw(st.integers(1, 6))
    comments = draw(st.lists(st.one_of(st.just(" sent_id = x"), CELL), max_size=3))
    # Heads that come before their dependent in a random order of the words cannot form a cycle.
    order = draw(st.permutations(range(1, size + 1)))
    heads = {word: draw(st.sampled_from(["_", 0, *order[:place]])) for place, word in enumerate(order)}
    range_end = draw(st.integers(2, size)) if size > 1 and draw(st.booleans()) else 0
    # A few drawn cells, dealt out in turn: drawing every cell is slow and finds no more.
    cells = itertools.cycle(draw(st.lists(CELL, min_size=1, max_size=7)))
    rows = []
    for word in range(1, size + 1):
        if word == 2 and range_end:
            rows.append([f"2-{range_end}", *itertools.islice(cells, 9)])
        before, after = itertools.islice(cells, 5), itertools.islice(cells, 3)
        rows.append([str(word), *before, str(heads[word]), *after])
        if draw(st.booleans()):
            rows.append([f"{word}.1", *itertools.islice(cells, 9)])
    return [f"#{comment}" for comment in comments] + ["\t".join(row) for row in rows]


def test_a_last_line_without_line_end_gets_that_of_the_lines_before():
    row = "\t".join("1abcde0ghi")
    first, last = read(f"{row}\r\n\r\n{row}")
    assert written([first, with_heads(last, [-1, -1])]).endswith("\t_\tg\th\ti\r\n\r\n")


@settings(max_examples=60)
@given(
    st.lists(blocks(), min_size=1, max_size=3),
    st.sampled_from(["\n", "\r\n"]),
    st.sampled_from(["", "\ufeff", "\n"]),
    st.integers(0, 3),
    st.integers(1, 3),
)
def test_generated_text_comes_back(sentences, newline, start, newlines_at_end, blank_lines):
    gap = newline * (1 + blank_lines)
    text = start + gap.join(newline.join(lines) for lines in sentences) + newline * newlines_at_end
    parsed = read(text)
    assert len(parsed) == len(sentences)
    assert written(parsed) == text
    # The slow way through the writer: take every head away, and put it back.
    taken = [with_heads(sentence, [-1] * (len(sentence) + 1)) for sentence in parsed]
    given_back = [with_heads(s, original.heads) for s, original in zip(read(written(taken)), parsed)]
    # A changed sentence ends with a blank line.
    is_changed = (parsed[-1].heads >= 0).any()
    end = newline if newline in text else "\n"
    assert written(given_back) == text + end * (max(2 - newlines_at_end, 0) if is_changed else 0)


@settings(max_examples=60)
@given(
    st.lists(blocks(), min_size=2, max_size=4),
    st.sampled_from(["\n", "\r\n"]),
    st.sampled_from(["", "\ufeff", "\n", " \n"]),
    st.text(alphabet="\n\r ", max_size=6),
)
def test_sentences_in_another_order_can_be_read(sentences, newline, start, end):
    text = start + (2 * newline).join(newline.join(lines) for lines in sentences) + newline + end
    assume("\0" not in text)  # text with many is refused as UTF-16
    parsed = read(text)
    again = read(written(parsed[::-1]))
    assert [one.forms for one in again] == [one.forms for one in parsed[::-1]]
    assert written(again) == written(read(written(again)))


def test_real_treebanks_come_back(data_dir):
    paths = sorted(data_dir.glob("*/*.conllu.gz"))
    assert paths
    for path in paths:
        with open_text(path) as handle:
            expected = "".join(itertools.islice(handle, 2000))
        # Whole sentences only: the last one may be cut.
        expected = expected[: expected.rindex("\n\n") + 2]
        assert written(read(expected)) == expected, path
