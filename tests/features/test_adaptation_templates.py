"""Relations and tags as adaptation reads them, and templates that name what is not there."""

import pytest

from qsproj.features.adaptation_templates import (
    base_relation,
    compile_templates,
    encode_source,
    function_words,
    shallow_relation,
)
from tests.sentences import make_sentence


@pytest.mark.parametrize(
    ("relation", "shallow", "base"),
    [
        ("nsubj", "nsubj", "nsubj"),
        ("nmod:poss", "nmod:poss", "nmod"),
        ("comp:obj@lvc", "comp:obj", "comp"),
        ("mod$cause", "mod", "mod"),
        ("comp:obl$cause@x", "comp:obl", "comp"),
    ],
)
def test_subtypes_are_taken_off_by_depth(relation, shallow, base):
    assert shallow_relation(relation) == shallow
    assert base_relation(relation) == base


def test_function_words_are_those_that_styles_let_head_or_depend():
    sentence = make_sentence("that he has gone to Rome .", "SCONJ PRON AUX VERB ADP PROPN PUNCT")
    found = function_words(encode_source(sentence))
    assert found.tolist() == [False, True, False, True, False, True, False, False]


@pytest.mark.parametrize(
    ("atom", "message"),
    [
        ("uncle.tag", "unknown place 'uncle'; known: head, dep, "),
        ("head.colour", "unknown 'colour'; known: base, relation"),
        ("pair.colour", "unknown 'colour'; known: shape, coarse"),
    ],
)
def test_unknown_atoms_list_the_known_ones(atom, message):
    with pytest.raises(ValueError, match=message):
        compile_templates((("head.tag", atom),), hash_bits=16)
