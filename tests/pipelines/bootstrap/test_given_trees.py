"""Gold trees over the source of a bitext: which lines they cover, and that they come through as they are."""

from __future__ import annotations

from qsproj.corpus.conllu import read_conllu
from qsproj.corpus.sentence import Sentence
from qsproj.pipelines.bootstrap import texts
from qsproj.pipelines.bootstrap.bitext import MeanConfidence
from qsproj.pipelines.bootstrap.texts import SourceText, find_trees, write_bitext


def tree(words, heads):
    forms = words.split()
    return Sentence.from_words(forms, upos=["X"] * len(forms), heads=heads, deprels=["dep"] * len(forms))


LINES = [
    ("1", "In the beginning was the Word,", "a"),
    ("2", "and the Word was with God. He wept.", "b"),
    ("3", "All things were made", "c"),
    ("4", "through him.", "d"),
    ("5", "No one has seen this.", "e"),
    ("6", "Grace to you.", "f"),
]
TREES = [
    tree("In the beginning was the Word ,", [3, 3, 0, 3, 6, 3, 6]),
    tree("and the word was with God", [6, 3, 6, 6, 6, 0]),
    tree("He wept .", [2, 0, 2]),
    tree("All things were made through him .", [2, 4, 4, 0, 6, 4, 4]),
    tree("No one has seen", [2, 4, 4, 0]),
    tree("grace to you", [0, 3, 1]),
]


def test_lines_are_covered_by_their_letters():
    pairs, found = find_trees(LINES, TREES)
    assert [name for name, *_ in pairs] == ["1", "2", "3", "5", "6"]
    assert pairs[2] == ("3", "All things were made through him.", "c d")
    # Two sentences of a line have a root each; one that ends within a line covers none.
    two = found["and the Word was with God. He wept."]
    assert two.heads.tolist() == [-1, 6, 3, 6, 6, 6, 0, 8, 0, 8]
    assert found["All things were made through him."].heads.tolist()[1:] == [2, 4, 4, 0, 6, 4, 4]
    assert set(found) == {LINES[0][1], LINES[1][1], "All things were made through him.", LINES[5][1]}


def test_trees_of_another_order_are_found_where_their_letters_stand_alone():
    far = [("0", "x " * 3000, "z"), *LINES]
    _, found = find_trees(far, [TREES[3], TREES[0], TREES[5]])
    assert "All things were made through him." in found
    assert LINES[0][1] in found
    # Too short to be looked for far away.
    assert LINES[5][1] in found
    assert LINES[5][1] not in find_trees(far, [TREES[5], TREES[0]])[1]


def test_what_is_written_has_the_trees(tmp_path, monkeypatch):
    monkeypatch.setattr(texts, "FEWEST_PAIRS", 2)
    pairs = tmp_path / "pairs.tsv"
    pairs.write_text("".join(f"{source}\t{target}\n" for _, source, target in LINES), encoding="utf-8")
    paths = tmp_path / "source.conllu", tmp_path / "target.conllu"
    text = SourceText(treebanks=(), bitext=(str(pairs),), languages=("xx", "yy"), cut=True)
    told = write_bitext(paths, text, tokenizers=(cut, cut), trees=TREES)
    source, target = (list(read_conllu(path)) for path in paths)
    assert source[0].heads.tolist() == TREES[0].heads.tolist()
    assert source[0].forms == TREES[0].forms
    assert source[3].heads.tolist() == [-1] * 6
    assert [one.forms for one in target] == [("a",), ("b",), ("c", "d"), ("e",), ("f",)]
    assert "4 source lines with given trees" in told.line


def cut(line):
    return Sentence.from_words(line.split()) if line else None


def test_without_a_parsed_sentence_no_mean_probability_is_stated():
    confidence = MeanConfidence()
    assert list(confidence.counted(TREES)) == TREES
    assert (confidence.report.line, confidence.report.figures) == ("all trees are given", {})
