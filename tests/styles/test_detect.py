"""Detection finds the style that a treebank was converted to."""

import itertools
import math

import pytest

from qsproj.corpus.conllu import read_conllu
from qsproj.styles.convert import convert
from qsproj.styles.detect import detect_style
from qsproj.styles.style import DIMENSIONS, UD, Style, parse_style
from tests.styles.tables import sentence_of

THREE = """
    saw   VERB   0 root
    cats  NOUN   1 obj
    ,     PUNCT  4 punct
    dogs  NOUN   2 conj
    ,     PUNCT  7 punct
    and   CCONJ  7 cc
    mice  NOUN   2 conj
    .     PUNCT  1 punct
"""


def test_counts_of_one_tree():
    found = {entry.dimension: entry for entry in detect_style([sentence_of(THREE)]).evidence}
    assert (found["coordination"].places, dict(found["coordination"].counts)) == (1, {"stanford": 1})
    assert (found["conjunctions"].places, dict(found["conjunctions"].counts)) == (1, {"following": 1})
    assert (found["punctuation"].choice, found["punctuation"].share) == ("following", 1.0)
    assert found["shared"].choice is None
    assert math.isnan(found["shared"].share)
    assert found["determiners"].places == 0


def test_two_conjuncts_agree_with_chains_and_with_fans():
    found = detect_style([sentence_of("cats NOUN 0 root\n and CCONJ 3 cc\n dogs NOUN 1 conj")])
    assert dict(found.evidence[0].counts) == {"stanford": 1, "moscow": 1}
    assert found.style.coordination == "stanford"


def test_a_first_conjunct_that_is_a_coordination_without_conjunction_is_no_chain():
    nested = "a NOUN 3 conj\n b NOUN 1 conj\n , PUNCT 0 root\n c NOUN 3 conj"
    coordination = detect_style([sentence_of(nested)]).evidence[0]
    assert (coordination.places, coordination.choice) == (2, "stanford")
    assert dict(coordination.counts) == {"stanford": 1, "moscow": 1, "prague": 1}


def test_a_conjunction_in_no_place_of_a_style_tells_nothing():
    skipping = "a NOUN 0 root\n and CCONJ 4 cc\n b NOUN 1 conj\n c NOUN 1 conj"
    assert detect_style([sentence_of(skipping)]).evidence[1].places == 0


def test_without_evidence_the_style_is_that_of_ud():
    found = detect_style([sentence_of("go VERB 0 root")])
    assert found.style == UD
    assert found.sentences == 1
    assert all(entry.choice is None for entry in found.evidence)


def test_presets_are_those_that_nothing_contradicts():
    converted = [convert(sentence_of(THREE), parse_style("prague"))]
    assert detect_style(converted).presets[0] == "prague"


@pytest.fixture(scope="module")
def trees(data_dir):
    path = data_dir / "treebanks" / "english-ewt-dev.conllu.gz"
    # Most choices show only among three conjuncts or more.
    return [sentence for sentence in read_conllu(path) if sentence.deprels.count("conj") > 1]


_COORDINATIONS = list(itertools.product(*list(DIMENSIONS.values())[:4]))
_FUNCTION_WORDS = list(itertools.product(*list(DIMENSIONS.values())[4:]))


@pytest.mark.parametrize("number", range(len(_COORDINATIONS)))
def test_the_style_of_a_converted_treebank_is_found(trees, number):
    """Every choice for coordinations, each with one for function words; the script tries all of both."""
    choices = (*_COORDINATIONS[number], *_FUNCTION_WORDS[number * 7 % len(_FUNCTION_WORDS)])
    style = Style(**dict(zip(DIMENSIONS, choices, strict=True)))
    assert detect_style(convert(tree, style) for tree in trees).style == style


@pytest.mark.parametrize("treebank", ["german-gsd", "czech-cac", "danish-ddt"])
def test_treebanks_of_ud_are_found_to_be_ud(data_dir, treebank):
    assert detect_style(read_conllu(data_dir / "treebanks" / f"{treebank}-dev.conllu.gz")).style == UD


def test_a_treebank_that_hangs_conjunctions_on_the_first_conjunct(data_dir):
    found = detect_style(read_conllu(data_dir / "treebanks" / "arabic-padt-dev.conllu.gz"))
    assert (found.style.coordination, found.style.conjunctions) == ("stanford", "between")


def test_sud_chains_conjuncts_and_heads_verbs_by_auxiliaries(data_dir):
    """The relation that SUD shares with us is found; its other function words have names of their own."""
    found = detect_style(read_conllu(data_dir / "styles" / "naija-dev.sud.conllu.gz"))
    assert (found.style.coordination, found.style.auxiliaries) == ("moscow", "head")
    assert found.evidence[5].choice is None


def test_choices_of_a_place_are_counted_in_one_order():
    found = detect_style([sentence_of("cats NOUN 0 root\n and CCONJ 1 cc\n dogs NOUN 1 conj")])
    for entry in found.evidence:
        assert list(entry.counts) == sorted(entry.counts)
