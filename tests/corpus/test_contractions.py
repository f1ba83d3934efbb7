"""Multiword tokens: what is learned from a treebank is what tokens are split into."""

import io

from qsproj.corpus.conllu import read_conllu
from qsproj.corpus.contractions import learn_contractions, merge_contractions, words_of_tokens
from qsproj.corpus.token import MultiwordToken

ROWS = ["1-2\tIm", "1\tIn\tADP", "2\tdem\tDET", "3\tHaus\tNOUN", "4\tam\tX"]


def sentence():
    columns = [row.split("\t") for row in ROWS]
    lines = [f"{c[0]}\t{c[1]}\t_\t{c[2] if len(c) > 2 else '_'}\t_\t_\t_\t_\t_\t_" for c in columns]
    (result,) = read_conllu(io.StringIO("\n".join(lines) + "\n\n"))
    return result


def test_ranges():
    assert sentence().multiword_tokens == (MultiwordToken(1, 2, "Im"),)


def test_learn_and_split():
    table = learn_contractions([sentence()])
    assert table == {"im": ("in", "dem")}
    words = words_of_tokens(["IM", "Im", "im", "am"], table)
    assert words == [["IN", "DEM"], ["In", "dem"], ["in", "dem"], ["am"]]


def test_token_that_mostly_stands_whole_is_not_split():
    columns = "1\tim\t_\tX" + "\t_" * 6
    whole = list(read_conllu(io.StringIO(f"{columns}\n\n")))
    assert learn_contractions([sentence(), *whole]) == {}


def test_merged_words_take_the_tag_of_the_first():
    assert merge_contractions(sentence()) == (("Im", "Haus", "am"), ("ADP", "NOUN", "X"))
