"""A bitext whose sides are tagged one by one stays aligned, blank lines or not."""

import pytest

from qsproj.corpus.conllu import write_conllu
from qsproj.corpus.pairs.aligned import AlignedText, pair_with_text
from qsproj.corpus.pairs.pairing import pair_files, pair_sentences
from qsproj.corpus.text import read_text
from qsproj.errors import DataError
from qsproj.progress import notices

ONE = ["a", "", "c", "d", "", "", "g"]
OTHER = ["A", "B", "C", "", "", "", "G"]


def read(lines):
    return list(read_text(lines, "en"))


def told(work):
    said = []
    with notices(said.append):
        return [
            tuple(" ".join(side if isinstance(side, tuple) else side.forms) for side in p) for p in work()
        ], said


def test_lines_that_are_blank_on_one_side_are_left_out_and_counted():
    pairs, said = told(lambda: pair_sentences(read(ONE), read(OTHER)))
    assert pairs == [("a", "A"), ("c", "C"), ("g", "G")]
    assert said == ["2 pairs left out: a line is blank in a side"]


def test_what_is_missing_without_a_blank_line_is_an_error():
    one, other = read(["a", "b", "", "d"]), read(["A", "B", "", "D"])
    for missing, name in ((0, 1), (2, 4)):
        rest = [*other[:missing], *other[missing + 1 :]]
        with pytest.raises(DataError, match=f"sent_id {name} in the source only"):
            list(pair_sentences(one, rest))
        with pytest.raises(DataError, match=f"sent_id {name} in the target only"):
            list(pair_sentences(rest, one))


def test_files_are_named(tmp_path):
    for name, lines in (("one", ONE), ("other", OTHER)):
        write_conllu(read(lines), tmp_path / name)
    pairs, said = told(lambda: pair_files(str(tmp_path / "one"), str(tmp_path / "other")))
    assert len(pairs) == 3
    assert said == [f"2 pairs left out: a line is blank in {tmp_path}/one or {tmp_path}/other"]


def test_tagged_text_stays_aligned_with_text(tmp_path):
    write_conllu(read(ONE), tmp_path / "one")
    (tmp_path / "other").write_text("\n".join(OTHER) + "\n\n", encoding="utf-8")
    files = str(tmp_path / "one"), str(tmp_path / "other")
    pairs, said = told(lambda: pair_with_text(*files))
    assert pairs == [("a", "A"), ("c", "C"), ("d", ""), ("g", "G")]
    assert len(said) == 1
    (tmp_path / "links").write_text("0-0\n0-0\n\n0-0\n", encoding="utf-8")
    aligned = AlignedText(*files, str(tmp_path / "links"))
    pairs, said = told(lambda: ((pair.source, pair.target) for pair in aligned))
    assert pairs == [("a", "A"), ("c", "C"), ("g", "G")]
    assert len(said) == 2


def test_more_text_than_sentences_is_an_error(tmp_path):
    write_conllu(read(["a", "b"]), tmp_path / "one")
    (tmp_path / "other").write_text("A\nB\n\nC\n", encoding="utf-8")
    with pytest.raises(DataError, match="other:4: found sentence 3, but only 2"):
        list(pair_with_text(str(tmp_path / "one"), str(tmp_path / "other")))
