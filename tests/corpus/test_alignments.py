"""Alignments: sorted, in range, and the same whatever format they come in."""

import io

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from qsproj.corpus.alignments import ENOUGH_PAIRS, write_alignments
from qsproj.corpus.formats import ALIGNMENTS, names_of, read_alignments
from qsproj.corpus.sentence import make_alignment
from qsproj.errors import DataError, UsageError
from qsproj.progress import notices


def read(text, format="pharaoh", sizes=None):
    return list(read_alignments(io.StringIO(text), format, sizes))


def facts(alignment):
    weights = None if alignment.weights is None else alignment.weights.tolist()
    return alignment.links.tolist(), alignment.sure.tolist(), weights


def test_what_is_no_link_is_reported_before_a_bad_weight():
    """A line of another format may have both; the advice is to name the format."""
    with pytest.raises(DataError, match=r":1: found 'x', expected links like 0-2.*name its format"):
        read("3-3:9 x\n")


def test_a_link_that_is_no_link_is_to_be_corrected():
    with pytest.raises(DataError, match=r":1: found .0-1:nan., expected links like 0-2.*; correct the link"):
        read("0-0 0-1:nan\n")


@pytest.mark.parametrize(
    ("size", "remedy"),
    [
        ((3, 2), "swap source and target"),
        ((2, 4), "have the format pharaoh, of tokens such as zum pharaoh:tokens"),
    ],
)
def test_links_of_other_words_are_refused_with_their_cause(tmp_path, size, remedy):
    (tmp_path / "links").write_text("0-0\n")
    (tmp_path / "links.counts").write_text("2 3 1 2\n")
    with pytest.raises(DataError, match=f"links that were made of 2 and 3 words, .*{remedy}"):
        list(read_alignments(tmp_path / "links", sizes=[size]))


@pytest.mark.parametrize(
    ("format", "text"),
    [
        ("pharaoh", "2p0 0-1\r\n\n1?1\n"),
        ("talp", "3p1 1-2\n\n2p2"),
        ("naacl", "1 0 3\n1 3 1 P\n0001 1 2 S\n1 3 0\n3 2 2 P\n"),
        ("naacl-zero", "1 2 0 P\n1 0 1\n\ufeff3 1 1 P\n"),
        ("tsv", "a b c\tA B\t2p0 0-1\na\tB\t\nx y\tX Y\t1p1\n"),
    ],
)
def test_every_format_says_the_same(format, text):
    assert [facts(a) for a in read(text, format)] == [
        ([[1, 2], [3, 1]], [True, False], None),
        ([], [], None),
        ([[2, 2]], [False], None),
    ]


def test_sizes_come_from_the_last_links_the_words_or_the_caller():
    assert [(a.n_source, a.n_target) for a in read("0-4\n\n")] == [(1, 5), (0, 0)]
    assert [(a.n_source, a.n_target) for a in read("a b\tA\t0-0", "tsv")] == [(2, 1)]
    assert [(a.n_source, a.n_target) for a in read("0-4", sizes=[(7, 8)])] == [(7, 8)]
    # NAACL files say nothing of pairs without links.
    assert [a.n_source for a in read("2 1 1\n", "naacl", [(3, 3), (4, 4), (5, 5)])] == [3, 4, 5]


def test_weights():
    (alignment,) = read("1-0:0.25 0-0:1e-3 0-1")
    assert facts(alignment) == ([[1, 1], [1, 2], [2, 1]], [True] * 3, [0.001, 1.0, 0.25])
    (alignment,) = read("1 1 1 S 0.5\n1 2 2 0.75", "naacl")
    assert facts(alignment) == ([[1, 1], [2, 2]], [True] * 2, [0.5, 0.75])


@pytest.mark.parametrize(
    ("text", "sizes", "message"),
    [
        (
            "0-0\n0-2",
            [(1, 1), (2, 2)],
            ":2: found a link of word 1 with word 3, counted from 1, expected words",
        ),
        ("2-0", [(2, 2)], ":1: found a link of word 3 with word 1"),
        ("0-0\n\n\n", [(1, 1)], ":2: found the links of pair 2, expected the links of 1 pair, as there are"),
        (
            "0-0",
            [(1, 1)] * 4,
            ":2: found the end of the file after 1 line, expected the links of 4 pairs, as there are of",
        ),
        ("", [(1, 1)], ":1: found the end of the file after 0 lines, expected the links of 1 pair"),
    ],
)
def test_sizes_are_checked(text, sizes, message):
    with pytest.raises(DataError, match=message):
        read(text, sizes=sizes)


def test_naacl_links_of_a_pair_too_many_name_their_line():
    """Also where they come after pairs that have none, and no line."""
    with pytest.raises(DataError, match=":3: found the links of pair 2, expected the links of 1 pair"):
        read("1 1 1\n1 2 2\n4 1 1\n", "naacl", [(3, 3)])


def test_a_naacl_link_out_of_range_names_its_own_line():
    with pytest.raises(DataError, match=":2: found a link of word 2 with word 9"):
        read("1 1 1\n1 2 9\n", "naacl", [(3, 3)])


def test_unknown_formats_list_the_known_ones(tmp_path):
    with pytest.raises(UsageError, match=r"'fast'; known: pharaoh, talp, naacl, naacl-zero, tsv"):
        read_alignments(tmp_path / "a", "fast")


LINKS = st.lists(
    st.tuples(st.integers(1, 5), st.integers(1, 7), st.booleans(), st.integers(0, 8)), max_size=9
)


@settings(max_examples=60)
@given(st.lists(LINKS, max_size=4), st.booleans())
def test_alignments_come_back(pairs, with_weights):
    # Eighths have an exact decimal form.
    alignments = [
        make_alignment(5, 7, [x[:2] for x in p], [x[2] for x in p], [x[3] / 8 for x in p]) for p in pairs
    ]
    stream = io.StringIO()
    write_alignments(alignments, stream, with_weights=with_weights)
    restored = read(stream.getvalue(), "pharaoh", [(5, 7)] * len(pairs))
    assert len(restored) == len(alignments)
    for before, after in zip(alignments, restored):
        assert facts(before)[:2] == facts(after)[:2]
        # Without links there is nothing that could carry weights.
        expected = facts(before)[2] if with_weights and len(before.links) else None
        assert facts(after)[2] == expected


@settings(max_examples=60)
@given(LINKS)
def test_make_alignment_sorts_and_merges(links):
    alignment = make_alignment(5, 7, [x[:2] for x in links], [x[2] for x in links], [x[3] / 8 for x in links])
    expected = sorted({x[:2] for x in links})
    assert [tuple(row) for row in alignment.links.tolist()] == expected
    assert alignment.sure.tolist() == [any(x[2] for x in links if x[:2] == pair) for pair in expected]
    assert alignment.weights.tolist() == [max(x[3] / 8 for x in links if x[:2] == pair) for pair in expected]
    assert alignment.links.dtype == np.int32
    assert not any(a.flags.writeable for a in (alignment.links, alignment.sure, alignment.weights))


def test_make_alignment_leaves_its_arguments_alone():
    links = np.array([[1, 1], [2, 2]], dtype=np.int32)
    alignment = make_alignment(2, 2, links)
    links[0, 0] = 2
    assert facts(alignment) == ([[1, 1], [2, 2]], [True, True], None)


@pytest.mark.parametrize(
    ("links", "sure", "weights", "message"),
    [
        ([[0, 1]], None, None, "link 0-1 is outside 1..2 by 1..3"),
        ([[2, 4]], None, None, "link 2-4 is outside"),
        ([1, 1, 2, 2], None, None, r"links have shape \(4,\), expected \(k, 2\)"),
        ([[1, 1]], [True, True], None, "1 links have 2 flags"),
        ([[1, 1]], None, [1.5], "weight is outside 0..1"),
        ([[1, 1]], None, [float("nan")], "weight is outside 0..1"),
    ],
)
def test_make_alignment_checks(links, sure, weights, message):
    with pytest.raises(ValueError, match=message):
        make_alignment(2, 3, links, sure, weights)


def test_real_alignments(data_dir):
    folder = data_dir / "alignments"
    from_zero = list(read_alignments(folder / "de-en" / "deen.0based.talp", "pharaoh"))
    from_one = list(read_alignments(folder / "de-en" / "deen.orig.talp", "talp"))
    assert [facts(a) for a in from_zero] == [facts(a) for a in from_one]
    assert len(from_zero) == 508
    assert len(list(read_alignments(folder / "en-es" / "xl-wa-test.tsv", "tsv"))) == 245
    # The sample counts words from 0: read as the shared task counted, it is refused.
    naacl = folder / "naacl-sample" / "de-en.ref.wa"
    assert len(list(read_alignments(naacl, "naacl-zero"))) == 100
    with pytest.raises(DataError, match="name the format naacl-zero"):
        list(read_alignments(naacl, "naacl"))


def test_all_formats_are_tried_above():
    assert names_of(ALIGNMENTS) == (
        "pharaoh",
        "talp",
        "naacl",
        "naacl-zero",
        "tsv",
        "triples",
        "triples-one",
        "giza",
        "misc",
    )


@pytest.mark.parametrize(
    ("format", "line", "other"),
    [("pharaoh", "1-1 2-3\n", "talp"), ("triples", "1 1 1\n2 3 1\n\n", "triples-one")],
)
def test_links_that_never_touch_a_first_word_are_told(tmp_path, format, line, other):
    path, told = tmp_path / "links", []
    with notices(told.append):
        for pairs in (ENOUGH_PAIRS - 1, ENOUGH_PAIRS):
            path.write_text(line * pairs)
            list(read_alignments(path, format))
    expected = f"no link of {ENOUGH_PAIRS} pairs uses word 0; if words count from 1, "
    assert told == [f"{path}: {expected}name the format {other}"]
    with notices(told.append):
        list(read_alignments(path, other))
        path.write_text(line * ENOUGH_PAIRS + line.replace("1", "0", 1))
        list(read_alignments(path, format))
    assert len(told) == 1


def test_a_short_file_of_several_lines_a_pair_is_counted_in_pairs(tmp_path):
    path = tmp_path / "links"
    head, body = (
        "# Sentence pair ({}) source length 1 target length 1 alignment score : 1",
        "a\nNULL ({ }) a ({ 1 })",
    )
    path.write_text("".join(f"{head.format(number)}\n{body}\n" for number in (1, 2)))
    with pytest.raises(DataError, match=r"links: found the end of the file after 2 pairs, .* of 3 pairs"):
        list(read_alignments(path, "giza", [(1, 1)] * 3))
