"""Bitext: one pair out for each line in."""

import io

import pytest

from qsproj.corpus.bitext import read_bitext
from qsproj.corpus.files import open_output
from qsproj.errors import DataError
from qsproj.progress import notices

PAIRS = [("a b", "A"), ("", ""), ("c | d", "C"), ("", "E"), ("f", "")]


@pytest.mark.parametrize("suffix", ["", ".gz", ".xz"])
@pytest.mark.parametrize("separator", [" ||| ", "|||", "\t"])
def test_one_file(tmp_path, separator, suffix):
    path = tmp_path / f"pairs{suffix}"
    with open_output(path) as handle:
        handle.write("\ufeff" + "".join(f"{s}{separator}{t}\r\n" for s, t in PAIRS))
    assert list(read_bitext(path)) == PAIRS


def test_bars_are_text_in_a_file_of_tabs(tmp_path):
    (tmp_path / "pairs.tsv").write_text("a ||| b\tx\nc\ty\n")
    assert list(read_bitext(str(tmp_path / "pairs.tsv"))) == [("a ||| b", "x"), ("c", "y")]


@pytest.mark.parametrize("text", ["a\tb\tc\nd\te\tf", "a ||| b ||| 0-0\nd ||| e ||| 1-1"])
def test_further_columns_are_ignored_and_said_once(text):
    said = []
    with notices(said.append):
        assert list(read_bitext(io.StringIO(text))) == [("a", "b"), ("d", "e")]
    assert said == ["<open file>: columns after the second are ignored"]


@pytest.mark.parametrize(
    ("line", "remedy"),
    [
        ("{}\tThe dog .\t1{}\tDer Hund .", "cut -f2,4 FILE"),
        ("1.0{}\tThe dog .\tDer Hund .", "cut -f2,3 FILE"),
        ("The dog .\t{}e-3\tDer Hund .", "cut -f1,3 FILE"),
        ("https://a/{}\thttps://b\tGo on .\tWeiter !\t0.9", "cut -f3,4 FILE"),
        ("{}\teng\tGo on .\t{}\tdeu\tWeiter !", "cut -f3,6 FILE"),
        ("sent-{}\tGo on .\tWeiter !", "cut -f2,3 FILE"),
        ("en/2003/{}.xml.gz\tGo on .\tWeiter !", "cut -f2,3 FILE"),
        ("{} ||| The dog . ||| Der Hund .", r"awk -F .*\$2.*\$3"),
        ("{}\t{}", "give the columns that hold text"),
    ],
)
def test_columns_of_numbers_and_names_are_refused_with_the_command_that_mends_it(line, remedy):
    text = "".join(line.format(*[number] * line.count("{}")) + "\n" for number in range(6))
    with pytest.raises(DataError, match=f"numbers or names alone in column .*{remedy}"):
        list(read_bitext(io.StringIO(text)))


@pytest.mark.parametrize("text", ["w1\tx1\n" * 9, "ja\tnein\n" * 9, "1984\t1984\nA b\tC d\n2 x\t2 y\n"])
def test_short_sentences_are_text(text):
    assert list(read_bitext(io.StringIO(text)))


def test_numbers_beside_a_side_in_two_files_are_refused(tmp_path):
    (tmp_path / "s").write_text("The dog .\n" * 5)
    (tmp_path / "t").write_text("".join(f"{number}\tDer Hund .\n" for number in range(5)))
    with pytest.raises(DataError, match=r"t: found numbers or names alone in column 1.*cut -f2 FILE"):
        list(read_bitext(tmp_path / "s", tmp_path / "t"))


@pytest.mark.parametrize(("separator", "found"), [("\t", "a tab"), (" ||| ", r"\|\|\|")])
def test_a_file_of_pairs_beside_a_side_is_refused(tmp_path, separator, found):
    (tmp_path / "s").write_text("\nthe dog\n" + "a cat\n" * 3)
    (tmp_path / "t").write_text(f"\nthe dog{separator}der Hund\n" + f"a cat{separator}eine Katze\n" * 3)
    message = f"t:2: found {found} as between the sentences of a pair, expected one sentence a line"
    for sides in (("s", "t"), ("t", "s")):
        with pytest.raises(DataError, match=message):
            list(read_bitext(*(tmp_path / side for side in sides)))
    # A tab in some lines is white space.
    (tmp_path / "t").write_text("\nder\tHund\n" + "eine Katze\n" * 3)
    assert len(list(read_bitext(tmp_path / "s", tmp_path / "t"))) == 5


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
