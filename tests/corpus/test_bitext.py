"""Bitext: one pair out for each line in."""

import io

import pytest

from qsproj.corpus.bitext import read_bitext
from qsproj.corpus.files import open_output
from qsproj.errors import DataError

PAIRS = [("a b", "A"), ("", ""), ("c | d", "C"), ("", "E"), ("f", "")]


@pytest.mark.parametrize("suffix", ["", ".gz", ".xz"])
@pytest.mark.parametrize("separator", [" ||| ", "|||", "\t"])
def test_one_file(tmp_path, separator, suffix):
    path = tmp_path / f"pairs{suffix}"
    with open_output(path) as handle:
        handle.write("\ufeff" + "".join(f"{s}{separator}{t}\r\n" for s, t in PAIRS))
    assert list(read_bitext(path)) == PAIRS


def test_further_columns_are_ignored():
    assert list(read_bitext(io.StringIO("a\tb\tc\nd\te"))) == [("a", "b"), ("d", "e")]


def test_two_files(tmp_path):
    for side in (0, 1):
        (tmp_path / str(side)).write_text("".join(pair[side] + "\n" for pair in PAIRS))
    assert list(read_bitext(tmp_path / "0", tmp_path / "1")) == PAIRS


def test_odd_separators_within_a_line_do_not_cut_it():
    assert list(read_bitext(io.StringIO("a\u2028\x0bb\tc\rd\n"))) == [("a\u2028\x0bb", "c\rd")]


@pytest.mark.parametrize(("source_lines", "target_lines"), [(3, 5), (5, 3), (0, 1)])
def test_unequal_files_are_both_named_with_their_counts(tmp_path, source_lines, target_lines):
    source, target = tmp_path / "s.txt", tmp_path / "t.txt"
    source.write_text("x\n" * source_lines)
    target.write_text("x\n" * target_lines)
    longer, shorter = sorted([(source_lines, source), (target_lines, target)], reverse=True)
    with pytest.raises(DataError) as caught:
        list(read_bitext(source, target))
    assert f"{longer[1]}:{shorter[0] + 1}: found {longer[0]} line" in str(caught.value)
    assert f"expected {shorter[0]} as in {shorter[1]}" in str(caught.value)


def test_real_bitext(data_dir):
    pairs = list(read_bitext(data_dir / "alignments" / "de-en" / "test.de-en"))
    assert len(pairs) == 508
    assert pairs[1] == ("Das stimmt nicht !", "But this is not what happens .")
    first = next(read_bitext(data_dir / "bitext" / "en-de.tsv.xz"))
    assert all(first)
