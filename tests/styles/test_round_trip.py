"""Counts of what conversion there and back changed."""

from qsproj.styles.convert import measure_round_trip
from qsproj.styles.style import parse_style
from tests.styles.tables import sentence_of


def test_counts():
    kept = sentence_of("in ADP 2 case\n Paris PROPN 0 root")
    lost = sentence_of("right ADV 2 advmod:emph\n in ADP 3 case\n Paris PROPN 0 root")
    found = measure_round_trip([kept, lost], parse_style("prepositions=head"))
    assert (found.sentences, found.words, found.changed_heads) == (2, 5, 4)
    assert (found.lost_heads, found.lost_relations, found.lost_sentences) == (1, 0, 1)
    assert found.lost_by_relation == {"advmod": 1}


def test_lost_relations():
    subtyped = sentence_of("cats NOUN 0 root\n and CCONJ 3 cc:nom\n dogs NOUN 1 conj")
    found = measure_round_trip([subtyped], parse_style("prague"))
    assert (found.lost_heads, found.lost_relations, found.lost_sentences) == (0, 1, 1)
