"""Templates: what compiles, what does not, and that the kernels' numbers are those of the tables."""

import numpy as np
import pytest

from qsproj.features.arc_templates import (
    BETWEEN_BITS,
    LABEL_TEMPLATE_SETS,
    TEMPLATE_SETS,
    TemplateSet,
    compile_templates,
)
from qsproj.features.atoms import PADDING, TAG_NUMBERS, encode
from qsproj.features.hashing import stable_hash
from qsproj.kernels.features import arc_features as kernels
from tests.sentences import make_sentence


def test_kernel_numbers_are_those_of_the_tables():
    assert kernels.PAD == PADDING
    assert BETWEEN_BITS == {
        "upos": kernels.EACH,
        "set": kernels.SET,
        "verbs": kernels.VERBS,
        "punctuation": kernels.PUNCTUATION,
        "coordinators": kernels.COORDINATORS,
    }
    assert TAG_NUMBERS["VERB"] == kernels.TAG_VERB
    assert TAG_NUMBERS["PUNCT"] == kernels.TAG_PUNCTUATION
    assert TAG_NUMBERS["CCONJ"] == kernels.TAG_COORDINATOR


@pytest.mark.parametrize("sets", [TEMPLATE_SETS, LABEL_TEMPLATE_SETS])
def test_no_template_stands_twice(sets):
    for templates in sets.values():
        assert len(set(templates.plain)) == len(templates.plain)
        assert len(set(templates.directed)) == len(templates.directed)
        compile_templates(templates)


def test_delexicalised_templates_ask_for_nothing_but_upos():
    assert compile_templates(TEMPLATE_SETS["delexicalised"]).attributes == ("upos",)
    assert compile_templates(LABEL_TEMPLATE_SETS["delexicalised"]).attributes == ("upos",)


@pytest.mark.parametrize("name", TEMPLATE_SETS)
def test_relations_read_nothing_that_arcs_do_not(name):
    """The labeller reads the sentence as it was encoded for the arcs."""
    arcs = compile_templates(TEMPLATE_SETS[name]).attributes
    assert compile_templates(LABEL_TEMPLATE_SETS[name], arcs).attributes == arcs


def test_templates_about_the_dependent_alone_only_fire_directed():
    for templates in TEMPLATE_SETS.values():
        for template in templates.plain:
            assert any(atom.startswith("head.") for atom in template), template


@pytest.mark.parametrize(
    ("template", "message"),
    [
        (("child.upos",), "is not head.NAME"),
        (("head.uposs",), "unknown 'uposs'; known: lower, prefix"),
        (("head.upos", "between.nouns"), "unknown 'nouns'; known: upos, set"),
        (("head.upos", "between.upos", "between.verbs"), "cannot be combined"),
    ],
)
def test_a_wrong_template_is_named(template, message):
    with pytest.raises(ValueError, match=message):
        compile_templates(TemplateSet(plain=(template,), directed=()))


def test_hashes_do_not_change_between_versions():
    # Saved models depend on these values.
    assert stable_hash("upos\tNOUN") == 11851933269116390644


def test_encoding_hashes_attribute_and_value():
    sentence = make_sentence("Die Katze schläft", "DET NOUN VERB")
    encoded = encode(sentence, ("upos", "lower"))
    assert encoded.atoms.shape == (3 + 1 + 2 * PADDING, 2)
    assert encoded.tags.tolist() == [0, TAG_NUMBERS["DET"], TAG_NUMBERS["NOUN"], TAG_NUMBERS["VERB"]]
    assert encoded.atoms[PADDING + 2, 1] == stable_hash("lower\tkatze")
    assert len(np.unique(encoded.atoms[PADDING : PADDING + 5])) == 10
