"""Words of a bitext from text and CoNLL-U."""

import pytest

from qsproj.alignment.reading import is_conllu, read_word_pairs
from qsproj.errors import DataError, UsageError
from qsproj.progress import notices

ROW = "{}\t{}\t_\t_\t_\t_\t_\t_\t_\t_\n"


@pytest.fixture
def write(tmp_path):
    def write_file(name, text):
        path = tmp_path / name
        path.write_text(text, encoding="utf-8")
        return str(path)

    return write_file


def test_two_texts(write):
    pairs = read_word_pairs(write("en", "The  house\n\n"), write("de", "Das Haus\nx\n"))
    assert list(pairs) == [(("The", "house"), ("Das", "Haus")), ((), ("x",))]


def test_one_file(write):
    assert list(read_word_pairs(write("t.tsv", "a b\tx\n"))) == [(("a", "b"), ("x",))]
    assert list(read_word_pairs(write("t.txt", "a b ||| x\n"))) == [(("a", "b"), ("x",))]


def test_raw_text_is_noticed(write):
    found = []
    with notices(found.append):
        read = read_word_pairs(write("en", "A dog here.\n\n"), write("de", "Ein Hund hier .\n\n"))
        assert next(read)[0] == ("A", "dog", "here.")
        list(read_word_pairs(write("s", "A dog here.\n"), write("t", "Ja\n"), languages=("en", "de")))
    (line,) = found
    assert "en: the source side has words such as 'here.'; tokenise raw text: --tokenize" in line


def test_trees_are_paired_by_id(write):
    source = "".join(
        f"# sent_id = {i}\n{ROW.format('1-2', 'zum')}" + ROW.format(1, "zu") + ROW.format(2, w) + "\n"
        for i, w in (("a", "dem"), ("b", "der"))
    )
    target = "".join(f"# sent_id = {i}\n{ROW.format(1, w)}\n" for i, w in (("b", "2"), ("a", "1")))
    pairs = read_word_pairs(write("s.conllu", source), write("t.conllu", target))
    assert list(pairs) == [(("zu", "dem"), ("1",)), (("zu", "der"), ("2",))]


def test_tokenised_when_asked(write):
    pairs = read_word_pairs(write("en", "It's here.\n"), write("de", "Es ist da.\n"), languages=("en", "de"))
    assert list(pairs) == [(("It", "'s", "here", "."), ("Es", "ist", "da", "."))]


def test_trees_and_text_are_paired_by_order(write):
    """The tagger's words of one side, the tokeniser's of the other, whichever comes first."""
    trees = write("c", ROW.format(1, "It") + ROW.format(2, "'s") + "\n" + ROW.format(1, "_") + "\n")
    text = write("t", "Es ist da.\n\n")
    expected = [(("It", "'s"), ("Es", "ist", "da", ".")), (("_",), ())]
    assert list(read_word_pairs(trees, text, languages=("en", "de"))) == expected
    swapped = [(other, one) for one, other in expected]
    assert list(read_word_pairs(text, trees, languages=("de", "en"))) == swapped
    assert next(read_word_pairs(trees, text))[1] == ("Es", "ist", "da.")
    with pytest.raises(DataError, match=r"more:3: found sentence 3, but only 2 in .*c, expected as many"):
        list(read_word_pairs(trees, write("more", "a\nb\nc\n")))


def test_a_text_of_hashes_and_tabs_is_no_tree(write):
    assert not is_conllu(write("t", "# heading\nword\tword\n"))
    assert not is_conllu(write("e", ""))
    assert is_conllu(write("c", "\ufeff# sent_id = 1\n" + ROW.format(1, "a") + "\n"))


def test_formats_that_do_not_go_together(write):
    tree = write("c", ROW.format(1, "a") + "\n")
    for arguments, message in (
        ((tree, "-"), f"found CoNLL-U in {tree} and text in -; name a file, as - is text"),
        ((tree,), "name the file of the other language"),
        ((tree, tree), "leave out --tokenize"),
    ):
        with pytest.raises(UsageError, match=message):
            read_word_pairs(*arguments, languages=("en", "de"))


def test_nothing_to_read(write):
    with pytest.raises(DataError, match="found no line"):
        list(read_word_pairs(write("a", ""), write("b", "")))


def test_clauses_without_spaces_are_noticed(write):
    found = []
    with notices(found.append):
        list(read_word_pairs(write("en", "It is fine .\n"), write("ja", "今日は良い天気です。\n")))
        list(
            read_word_pairs(
                write("a", "The name 中华人民共和国 is long .\n"), write("b", "Der Name ist lang .\n")
            )
        )
        list(read_word_pairs(write("s", "It is fine .\n"), write("t", "今日 は 良い 天気 です 。\n")))
    (line,) = found
    assert "ja: the target side has few spaces, in a script without them" in line
