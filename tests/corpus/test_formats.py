"""Every format in the table: what it writes it reads, and bad files are refused in one clear line."""

import io
import itertools

import pytest

from qsproj.corpus import formats
from qsproj.corpus.bitext import read_bitext
from qsproj.corpus.files import open_text
from qsproj.corpus.formats import ALIGNMENTS, FORMATS, SENTENCES, Format
from qsproj.corpus.pairs.aligned import AlignedFiles
from qsproj.corpus.sentence import Sentence, make_alignment
from qsproj.errors import DataError, UsageError
from qsproj.progress import notices

BITEXTS = [Format(name, "pairs", read_bitext, None) for name in ("bitext", "tmx")]
BY_NAME = {format.name: format for format in (*FORMATS, *BITEXTS)}
ROW = "{}\tw\t_\tX\t_\t_\t{}\tdep\t_\t_\n"
TREE = ROW.format(1, 0) + ROW.format(2, 1)

GOOD = {
    "conllu": f"# sent_id = a\n{TREE}\n{TREE}\n",
    "conllup": "# global.columns = ID FORM UPOS HEAD DEPREL X:Y\n1\ta\tX\t0\troot\t*\n\n",
    "conllx": f"{TREE}\n{TREE.replace('dep	_	_', 'dep	2	obj')}\n",
    "pharaoh": "0-0:0.25 0-2:0.5 3p1:1\n\n1-1\n",
    "talp": "1-1:0.25 1-3:0.5 4p2:1\n\n2-2\n",
    "naacl": "1 1 1 S 0.25\n1 1 2 S 0.5\n1 4 2 P 1\n3 2 2 S\n",
    "naacl-zero": "1 0 0 S 0.25\n1 0 1 S 0.5\n1 3 1 P 1\n3 1 1 S\n",
    "tsv": "a b\tA B\t0-1\n",
    "triples": "0 0 0.25\n0 2 0.5\n\n\n1 1 1\n\n",
    "triples-one": "1 1 0.25\n1 3 0.5\n\n\n2 2 1\n\n",
    "misc": TREE.replace("_\n", "Align=2:0.5,1?\n") + "\n",
    "giza": "# Sentence pair (1) source length 2 target length 3 alignment score : 0.1\n"
    "A B C\nNULL ({ 2 }) a ({ 1 3 }) b ({ }) \n",
    "bitext": "a b ||| A B\n",
    "tmx": '<tmx><body><tu><tuv xml:lang="en"><seg>a b</seg></tuv>'
    '<tuv xml:lang="de"><seg>A B</seg></tuv></tu></body></tmx>\n',
}

GIZA_PAIR = "# Sentence pair ({}) source length 1\nA\nNULL ({{ }}) a ({{ {} }})\n"

# format, content, line, what the message says was found and expected
BAD = [
    ("conllu", "", 1, "found no sentence, expected CoNLL-U"),
    ("conllu", "\n\n", 1, "found no sentence"),
    ("conllu", TREE.replace("\tdep", ""), 1, "found 9 columns, expected 10 separated by tabs"),
    ("conllu", TREE + "3\tw\n", 3, "found 2 columns, expected 10"),
    ("conllu", TREE.replace("\t", "  "), 1, "found columns separated by spaces, expected tabs; .*sed"),
    ("conllu", f"{TREE}\nThe cat sat.\n", 4, "found the text 'The cat sat.', expected 10 columns"),
    ("conllu", TREE.replace("X", "", 1), 1, "found nothing in column UPOS, expected a value"),
    (
        "conllu",
        TREE.replace("X", "X\r", 1),
        1,
        "found a carriage return in column UPOS, expected text on one line",
    ),
    ("conllu", "\t" * 9 + "\n", 1, "found nothing in column ID"),
    ("conllu", ROW.format(1, 0) + ROW.format("", 1), 2, "found nothing in column ID"),
    # As many cells as two rows have, and the second ID where it would be.
    (
        "conllu",
        ROW.format(1, 0).replace("\n", "\t2\n") + ROW.format(2, 1).replace("\t_\n", "\n"),
        1,
        "found 11 columns, expected 10",
    ),
    ("conllu", f"# a\n\n{TREE}", 1, "found a sentence without words, expected at least one"),
    ("conllu", ROW.format(1, 0) + ROW.format(3, 1), 2, "found ID '3', expected 2; number the words"),
    ("conllu", ROW.format(2, 0), 1, "found ID '2', expected 1"),
    ("conllu", TREE + TREE, 3, "found ID '1', expected 3; .*blank line"),
    ("conllu", f"\n\n# a\n{TREE}\n\n# b\n{ROW.format(2, 0)}", 9, "found ID '2', expected 1"),
    ("conllu", ROW.format("a", 0), 1, "found ID 'a', expected 1"),
    ("conllu", TREE + ROW.format("2-3", "_"), 3, "found range 2-3, expected one that starts at word 3"),
    ("conllu", ROW.format("1-3", "_") + TREE, 1, "found range 1-3, expected an end of at most 2"),
    ("conllu", ROW.format("1-0", "_") + TREE, 1, "found ID '1-0', expected 1"),
    (
        "conllu",
        ROW.format("1-2", "_") + ROW.format(1, 0) + ROW.format("2-2", "_") + ROW.format(2, 1),
        3,
        "found range 2-2, .* after the last range",
    ),
    ("conllu", ROW.format(1, 0) + ROW.format("2-1", "_") + ROW.format(2, 1), 2, "found range 2-1"),
    ("conllu", TREE + ROW.format("1.1", "_"), 3, "found ID '1.1', expected 3"),
    ("conllu", TREE + ROW.format("2.2", "_"), 3, "found empty node 2.2, expected 2.1"),
    ("conllu", f"# a\n{ROW.format('1-2', '_')}{TREE}".replace("\t1\t", "\t3\t"), 4, "found HEAD 3"),
    ("conllu", ROW.format(1, 0) + ROW.format(2, 3), 2, "found HEAD 3, expected 0 to 2"),
    ("conllu", ROW.format(1, 0) + ROW.format(2, -1), 2, "found HEAD '-1', expected a number"),
    ("conllu", ROW.format(1, 0) + ROW.format(2, "x"), 2, "found HEAD 'x', expected a number"),
    ("conllu", ROW.format(1, 0) + ROW.format(2, "01"), 2, "found HEAD '01', expected .* leading zeros"),
    ("conllu", ROW.format(1, 0) + ROW.format(2, "١"), 2, "found HEAD '١', expected a number"),
    ("conllu", ROW.format(1, 0) + ROW.format(2, 2), 2, "found word 2 as its own HEAD, expected a tree"),
    ("conllu", TREE.replace("\t0\t", "\t2\t"), 1, "found the cycle of heads 1 <- 2 <- 1, expected a tree"),
    (
        "conllu",
        ROW.format(1, "_") + "".join(ROW.format(i, i % 30 + 1 if i < 30 else 2) for i in range(2, 31)),
        2,
        r"found the cycle of heads 2 <- 3 <- .* <- \.\.\., expected",
    ),
    ("conllu", (TREE + "\ncaf").encode() + b"\xe9\n", 4, "found byte 0xe9 that is not UTF-8, expected UTF-8"),
    ("conllx", "", 1, "found no sentence"),
    ("conllx", f"{TREE}\n# a\n{TREE}", 4, "found a comment, a range or an empty node, expected words only"),
    ("conllx", f"\n{TREE}\n\n{ROW.format(1, 0)}{ROW.format('1.1', '_')}", 7, "found a comment, a range"),
    ("conllx", ROW.format(1, 3), 1, "found HEAD 3"),
    ("pharaoh", "0-0\n0-1 x\n", 2, "found 'x', expected links like 0-2, 0p2 or 0-2:0.93"),
    ("pharaoh", "0-0 1\n", 1, "found '1', expected links"),
    ("pharaoh", "0--1\n", 1, "found '0--1'"),
    ("pharaoh", "0-1:2\n", 1, "found weight 2, expected a probability"),
    ("pharaoh", "0-1:e\n", 1, "found weight e, expected a probability"),
    ("pharaoh", "99999999999-1\n", 1, "found a link of word 99999999999"),
    ("pharaoh", b"0-0\n\xff\n", 2, "found byte 0xff"),
    ("talp", "1-1\n0-1\n", 2, "found a link of word 0, expected words that count from 1; .*pharaoh"),
    ("naacl", "1 1 1 S\n1 0 0 S\n", 2, "found a link of word 0, expected words .* 1; .*naacl-zero"),
    ("naacl", "1 1 1 X\n", 1, "found '1 1 1 X', expected sentence source target"),
    ("naacl", "1 1 1\n\n1 x\n", 3, "found '1 x', expected sentence source target"),
    ("pharaoh", "# Sentence pair (1) source\n", 1, "found '#'.*name its format: --alignment-format giza"),
    ("pharaoh", "1 1 1 S\n", 1, "found '1'.*name its format: --alignment-format naacl"),
    ("pharaoh", "a b\tA B\t0-1\n", 1, "found 'a'.*name its format: --alignment-format tsv"),
    ("pharaoh", "0 1 0.25\n", 1, "found '0'.*name its format: --alignment-format triples"),
    ("giza", "0-0 1-1\n", 1, "found '0-0 1-1'.*name its format: --alignment-format pharaoh"),
    (
        "giza",
        GIZA_PAIR.format(2, 1) + GIZA_PAIR.format(3, 1),
        1,
        r"found pair \(2\) and no pair \(1\).*MGIZA",
    ),
    ("giza", GIZA_PAIR.format(1, 1) * 2, 4, r"found pair \(1\) a second time, expected pair \(2\)"),
    (
        "conllu",
        TREE.replace("_\n", "_\t*\n"),
        1,
        "found 11 columns.*CoNLL-U Plus.*.conllup.*cut -f1-10",
    ),
    ("conllu", TREE.replace("_\n", "_\t_\t_\t_\t_\n"), 1, "found 14 columns.*CoNLL-2009 .*awk"),
    ("conllu", TREE.replace("\t_\t_\n", "\n"), 1, "found 8 columns.*CoNLL-X has 8 or 10: name .* .conllx"),
    ("conllu", TREE.replace("\t_\t_\n", "\n").replace("_\tX", "X"), 1, "found 7 columns.*read are CoNLL-U"),
    ("conllu", TREE.replace("\n", "\r"), 1, "found line ends that are carriage returns alone, .*tr"),
    (
        "conllup",
        "# global.columns = ID FORM X\n1\ta\n",
        2,
        "found 2 columns, expected 3, as in global.columns",
    ),
    ("conllup", "# global.columns = ID LEMMA\n1\ta\n", 1, "found global.columns without ID and FORM"),
    ("naacl", "2 1 1\n1 1 1\n", 2, "found sentence 1, expected 3 or later; sort"),
    ("naacl-zero", "1 1\n", 1, "found '1 1', expected sentence source target"),
    ("tsv", "a\tb\n", 1, "found 2 columns, expected source, target and links"),
    (
        "tsv",
        "a\tb\t0-0\na\tb\t0-1\n",
        2,
        "found a link of word 1 with word 2, .* expected words of a pair of 1 by",
    ),
    (
        "misc",
        TREE.replace("_\n", "Align=a\n") + "\n",
        1,
        "found Align=a, expected words of the source, from 1",
    ),
    ("misc", TREE + "\n" + TREE.replace("_\n", "Align=1,0\n") + "\n", 4, "found Align=1,0, expected words"),
    ("misc", TREE.replace("_\n", "Align=1:2\n") + "\n", 1, "found weight 2, expected a probability"),
    ("misc", "x\n", 1, "expected 10 columns"),
    ("giza", "A B\nNULL ({ })\n", 1, "found 'A B', expected # Sentence pair"),
    ("giza", "# Sentence pair (1)\nA\nNULL ({ }) a ({ })\n# x\n", 4, "found '# x', expected # Sentence pair"),
    ("giza", "# Sentence pair (1)\nA\n", 1, "found the end of the file, expected three lines"),
    ("giza", "# Sentence pair (1)\nA\na ({ 1 })\n", 3, r"found 'a \(\{ 1 \}\)', expected NULL"),
    ("giza", "# Sentence pair (1)\nA\nNULL ({ }) a ({ x })\n", 3, "found 'NULL .*, expected NULL"),
    ("giza", "# Sentence pair (1)\nA\nNULL ({ }) a ({ 2 })\n", 3, "found a link of target word 2, expected"),
    ("triples", "0 0 1\n0 0\n", 2, "found '0 0', expected source target weight"),
    ("triples", "0 0 1.5\n", 1, "found weight 1.5, expected a probability"),
    ("triples", "0-0:0.5\n", 1, "found '0-0:0.5', expected source target weight"),
    ("triples-one", "1 1 1\n\n0 1 1\n", 3, "found a link of word 0, expected .* from 1; .*format triples$"),
    ("bitext", "a\tb\nc\n", 2, r"found a line without '\\t', expected source '\\t' target, as in line 1"),
    ("bitext", "a ||| b\nc\td\n", 2, r"found a line without '\|\|\|'"),
    ("tmx", "<tmx>\n<body>\n", 3, r"found XML that cannot be read \(no element found"),
    (
        "bitext",
        "a\n",
        1,
        r"found a line without .*, expected source \|\|\| target, or source TAB target; or give two files",
    ),
]


def test_a_new_format_is_a_row_that_commands_read_through(tmp_path, monkeypatch, run_cli):
    """Trees of one word a line, links of the words in order: eval, draw and align know neither by name."""

    def words(path):
        with open_text(path) as handle:
            for line in handle:
                yield Sentence.from_words(line.split(), heads=[-1, 0, *range(1, len(line.split()))])

    def in_order(path, sizes=None):
        with open_text(path) as handle:
            for line, size in zip(handle, sizes or itertools.repeat((9, 9))):
                yield make_alignment(*size, [(int(word), int(word)) for word in line.split()])

    rows = (
        Format("words", SENTENCES, words, None, (".words",)),
        Format("diagonal", ALIGNMENTS, in_order, None),
    )
    monkeypatch.setattr(formats, "FORMATS", (*FORMATS, *rows))
    trees, links = tmp_path / "trees.words", tmp_path / "links"
    trees.write_text("a b c\nd e\n")
    links.write_text("1 3\n2\n")
    pairs = list(AlignedFiles(str(trees), str(trees), str(links), "diagonal"))
    assert [pair.alignment.links.tolist() for pair in pairs] == [[[1, 1], [3, 3]], [[2, 2]]]
    assert run_cli("eval", trees, trees, "--json").code == 0
    drawn = run_cli("draw", trees, "--target", trees, "--alignment", links, "--alignment-format", "diagonal")
    assert drawn.code == 0
    unknown = run_cli("draw", trees, "--target", trees, "--alignment", links, "--alignment-format", "x")
    assert (
        "known: pharaoh, talp, naacl, naacl-zero, tsv, triples, triples-one, giza, misc, diagonal"
        in unknown.err
    )


def test_conll_x_has_words_alone(tmp_path, run_cli):
    trees, out = tmp_path / "trees.conllu", tmp_path / "out.conllx"
    rich = "# sent_id = a\n" + ROW.format("1-2", "_") + TREE.replace("dep\t_\t_", "dep\t2:dep\tSpaceAfter=No")
    trees.write_text(rich + ROW.format("2.1", "_") + "\n")
    assert run_cli("convert", "--to", "ud", trees, "-o", out).code == 0
    assert out.read_text() == f"{TREE}\n"
    assert [len(sentence) for sentence in formats.read_sentences(str(out))] == [2]


def test_giza_links_source_words_of_the_third_line_to_words_of_the_second():
    (alignment,) = BY_NAME["giza"].read(io.StringIO(GOOD["giza"]))
    assert (alignment.n_source, alignment.n_target) == (2, 3)
    assert alignment.links.tolist() == [[1, 1], [1, 3]]


def test_links_that_are_one_word_off_are_told_of_the_other_base():
    for text, told, other in (
        ("1-1 2-2\n", "pharaoh", "talp"),
        ("1 1 1\n1 2 2\n", "naacl-zero", "naacl"),
        ("1 1 0.5\n2 2 0.5\n", "triples", "triples-one"),
    ):
        with pytest.raises(DataError, match=f"if words count from 1, name the format {other}; source"):
            list(formats.read_alignments(io.StringIO(text), told, sizes=[(2, 2)]))
    with pytest.raises(DataError, match="check that source comes first"):
        list(formats.read_alignments(io.StringIO("3-3\n"), "talp", sizes=[(2, 2)]))
    with pytest.raises(DataError, match="check that source comes first"):
        list(formats.read_alignments(io.StringIO("5-1\n"), sizes=[(2, 2)]))


def test_triples_need_no_blank_line_at_the_end():
    whole, cut = (
        list(BY_NAME["triples"].read(io.StringIO(text))) for text in (GOOD["triples"], "0 1 1\n\n\n2 0 1")
    )
    assert len(whole) == len(cut) == 3
    assert [alignment.links.tolist() for alignment in cut] == [[[1, 2]], [], [[3, 1]]]


def test_every_format_is_tried():
    assert set(GOOD) == set(BY_NAME)
    assert {name for name, *_ in BAD} == set(BY_NAME)


@pytest.mark.parametrize("name", [format.name for format in FORMATS if format.write is not None])
@pytest.mark.parametrize("suffix", ["", ".gz", ".xz"])
def test_what_is_written_is_read(tmp_path, name, suffix):
    path = tmp_path / f"file{suffix}"
    first, second = io.StringIO(), io.StringIO()
    BY_NAME[name].write(BY_NAME[name].read(io.StringIO(GOOD[name])), first)
    BY_NAME[name].write(BY_NAME[name].read(io.StringIO(GOOD[name])), path)
    BY_NAME[name].write(BY_NAME[name].read(path), second)
    assert first.getvalue() == second.getvalue() == GOOD[name]


@pytest.mark.parametrize("name", BY_NAME)
def test_good_files_are_read(name):
    assert list(BY_NAME[name].read(io.StringIO(GOOD[name])))


@pytest.mark.parametrize(("name", "content", "line", "message"), BAD)
def test_bad_files_are_refused(tmp_path, name, content, line, message):
    path = tmp_path / "bad"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(DataError, match=message) as caught:
        list(BY_NAME[name].read(path))
    assert str(caught.value).startswith(f"{path}:{line}: found ")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("name", BY_NAME)
def test_files_that_are_not_there(tmp_path, name):
    with pytest.raises(UsageError, match="cannot be read: No such file"):
        list(BY_NAME[name].read(tmp_path / "nowhere"))


def test_columns_of_conllu_plus_are_put_in_their_places(tmp_path):
    path = tmp_path / "a.conllup"
    rows = "1\tX\ta\t2\t*\t_\n2\tY\tb\t0\t*\tA=1\n\n"
    plus = f"\ufeff# global.columns = ID UPOS FORM HEAD X:Y MISC\n# text = a b\n{rows}"
    path.write_text(plus, encoding="utf-8")
    said = []
    with notices(said.append):
        (sentence,) = formats.read_sentences(path)
    assert said == [f"{path}: left out the columns that CoNLL-U does not have: X:Y"]
    assert (sentence.forms, sentence.upos, sentence.heads.tolist()) == (("a", "b"), ("X", "Y"), [-1, 2, 0])
    out = tmp_path / "b.conllu"
    formats.write_sentences([sentence], out)
    assert (
        out.read_text("utf-8").splitlines()[0].endswith("ID FORM LEMMA UPOS XPOS FEATS HEAD DEPREL DEPS MISC")
    )
    (again,) = formats.read_sentences(out)
    assert (again.forms, again.deprels) == (sentence.forms, sentence.deprels)
    # By its opening, too, whatever its name; the ten columns named are CoNLL-U.
    for text, name in ((plus, "conllup"), (out.read_text("utf-8"), "conllu")):
        with formats.open_source(io.BytesIO(text.encode())) as source:
            assert source.format.name == name
    with pytest.raises(UsageError, match=r"conllup can only be read; name the file .conllu"):
        formats.write_sentences([sentence], path)


def test_conllx_of_eight_columns(tmp_path):
    path = tmp_path / "a.conllx"
    path.write_text("1\tEr\t_\tPRON\tPRON\t_\t2\tSB\n2\tgeht\t_\tVERB\tVVFIN\t_\t0\tROOT\n\n")
    (sentence,) = formats.read_sentences(path)
    assert (sentence.heads.tolist(), sentence.deprels) == ([-1, 2, 0], ("SB", "ROOT"))
    formats.write_sentences([sentence], path)
    assert path.read_text().splitlines()[1] == "2\tgeht\t_\tVERB\tVVFIN\t_\t0\tROOT\t_\t_"


def test_seven_columns_are_no_pair():
    opened = formats.open_source(io.BytesIO(b"1\tEr\ter\tPRP\tO\t2\tnsubj\n"))
    with pytest.raises(DataError, match=r"found 7 columns, expected CoNLL-U or plain text.*read are CoNLL-U"):
        opened.__enter__()


def test_pairs_of_mgiza_come_in_any_order():
    parts = GIZA_PAIR.format(3, "") + GIZA_PAIR.format(1, 1) + GIZA_PAIR.format(2, "")
    parts = parts.replace("({  })", "({ })")
    found = formats.read_alignments(io.StringIO(parts), "giza", [(1, 1)] * 3)
    assert [alignment.links.tolist() for alignment in found] == [[[1, 1]], [], []]


def test_scores_of_fast_align_are_taken_off():
    lines = io.StringIO("0-0 1-1 ||| -3.2\n0-1 1-0 ||| -4.1e-05\n ||| -1\n")
    assert [len(alignment.links) for alignment in formats.read_alignments(lines)] == [2, 2, 0]


def test_blank_lines_between_naacl_links_are_none():
    lines = io.StringIO("1 1 1\n\n2 1 1\n\n")
    assert len(list(formats.read_alignments(lines, "naacl", [(1, 1)] * 2))) == 2
