"""What is taken for what, counted."""

from qsproj.pipelines.evaluation_report import TAGS, Confusion, confusions
from tests.sentences import make_sentence

GOLD = make_sentence("a b c d .", "X Y X Y PUNCT", [2, 0, 2, -1, 2], "p root p _ punct")
FOUND = make_sentence("a b c d .", "X X X Z X", [2, 0, 1, 2, 2], "q root q p dep")


def test_relations_are_counted_where_there_is_a_gold_head():
    assert confusions([GOLD], [FOUND]) == (Confusion("p", "q", 2, 2, 1), Confusion("punct", "dep", 1, 1, 1))
    assert confusions([GOLD], [FOUND], punctuation=False) == (Confusion("p", "q", 2, 2, 1),)


def test_tags_are_counted_everywhere():
    found = confusions([GOLD, GOLD], [FOUND, GOLD], column=TAGS, punctuation=False)
    assert [(one.gold, one.found, one.count, one.words) for one in found] == [
        ("Y", "X", 1, 4),
        ("Y", "Z", 1, 4),
    ]


def test_nothing_is_confused_in_the_same():
    assert confusions([GOLD], [GOLD]) == ()
