"""What relations pairs of tags may stand in: those that were seen, and what stands in for the unseen."""

import numpy as np

from qsproj.features.atoms import TAG_NUMBERS, encode
from qsproj.kernels.features.label_features import TAGS
from qsproj.models.labelled.labelled_parser import Candidates, RelationScorer
from tests.sentences import make_sentence

DET, OBJ, ROOT_RELATION, SUBJ = range(4)
NOUN, VERB, DETERMINER, ADJ = (TAG_NUMBERS[tag] for tag in ("NOUN", "VERB", "DET", "ADJ"))


def learned():
    trees = [
        (make_sentence("a b c", "DET NOUN VERB", [2, 3, 0]), [-1, DET, SUBJ, ROOT_RELATION]),
        (make_sentence("b c b", "NOUN VERB NOUN", [2, 0, 2]), [-1, SUBJ, ROOT_RELATION, OBJ]),
        (make_sentence("b c", "NOUN VERB", [2, -1]), [-1, -1, DET]),
    ]
    return Candidates.of_trees(
        ((encode(sentence, ("upos",)), sentence.heads, np.array(numbers)) for sentence, numbers in trees), 4
    )


def relations_of(candidates, head, dependent):
    return np.flatnonzero(candidates.allowed[head, dependent]).tolist()


def test_a_pair_has_the_relations_it_was_seen_with():
    assert relations_of(learned(), VERB, NOUN) == [OBJ, SUBJ]
    assert relations_of(learned(), NOUN, DETERMINER) == [DET]
    assert relations_of(learned(), 0, VERB) == [ROOT_RELATION]


def test_an_unseen_pair_has_those_of_its_dependent_then_all():
    assert relations_of(learned(), NOUN, NOUN) == [OBJ, SUBJ]
    assert relations_of(learned(), VERB, ADJ) == [DET, OBJ, SUBJ]
    assert relations_of(learned(), 0, NOUN) == [ROOT_RELATION]
    assert learned().allowed.any(axis=2).all()


def test_lists_say_the_same():
    candidates = learned()
    starts, relations = candidates.lists
    pair = VERB * TAGS + NOUN
    assert relations[starts[pair] : starts[pair + 1]].tolist() == [OBJ, SUBJ]
    assert starts[-1] == len(relations) == candidates.allowed.sum()


def test_candidates_come_back_from_a_file():
    weights = np.zeros((64, 4), dtype=np.float32)
    scorer = RelationScorer("words", ("det", "obj", "root", "subj"), weights, learned())
    back = RelationScorer.from_archive(*scorer.to_archive())
    assert np.array_equal(back.candidates.seen, learned().seen)


def test_where_nothing_was_seen_all_is_allowed():
    assert Candidates(np.zeros((TAGS, TAGS, 2), dtype=bool)).allowed.all()
