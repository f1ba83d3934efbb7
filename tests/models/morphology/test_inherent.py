"""Features that a lemma has in all of its forms: found by counting, and held in unseen forms."""

from __future__ import annotations

from math import log

import numpy as np
import pytest

from qsproj.corpus.editing import with_columns
from qsproj.models.morphology.analyses import Analysis
from qsproj.models.morphology.inherent import LEAST_ODDS, inherent_features
from qsproj.models.morphology.morphology_training import train_morphology
from tests.sentences import make_sentence

FEMININE, MASCULINE = "Case=Nom|Gender=Fem", "Case=Nom|Gender=Masc"


def noun(feats):
    return Analysis("NOUN", "_", feats)


def words():
    """Yield nine lemmas with two forms of one gender, one with two genders, and some that show it once."""
    for at in range(9):
        yield f"a{at}", f"l{at}", noun("Case=Nom|Gender=Fem")
        yield f"b{at}", f"l{at}", noun("Case=Acc|Gender=Fem")
    yield "c", "both", noun("Case=Nom|Gender=Fem")
    yield "d", "both", noun("Case=Acc|Gender=Masc")
    yield "e", "single", noun("Case=Nom|Gender=Masc")
    for at in range(9):
        yield f"f{at}", f"once{at}", noun("Number=Plur")
        yield f"g{at}", f"once{at}", noun("_")


def test_odds_count_the_lemmas_whose_forms_agree():
    found = inherent_features(words())
    assert found.odds == {("NOUN", "Gender"): pytest.approx(log((9 + 1) / (1 + 1)))}
    assert found.of(noun(MASCULINE)) == (("Gender", "Masc"),)
    against = [found.against(noun(MASCULINE), lemma) for lemma in ("l0", "both", "single", "unknown")]
    assert against == [pytest.approx(log(5)), 0.0, 0.0, 0.0]
    assert found.against(noun(FEMININE), "single") == pytest.approx(log(5))
    assert found.against(Analysis("VERB", "_", MASCULINE), "l0") == 0.0


def test_features_that_change_as_often_as_not_are_not_inherent():
    rows = [
        (f"{at}{form}", str(at), noun(f"Number={form if at % 2 else 'Sing'}"))
        for at in range(8)
        for form in ("Sing", "Plur")
    ]
    assert log(5 / 5) < LEAST_ODDS
    assert inherent_features(rows).odds == {}


def treebank():
    """Yield nouns, feminine in -a and masculine in -o, but for one in -o that is feminine."""
    cases = {"Nom": "", "Gen": "m", "Dat": "s"}
    stems = [(f"{one}{vowel}", vowel) for one in ("br", "kl", "st", "tr", "gl", "pr") for vowel in "ao"]
    for case, ending in cases.items():
        for stem, vowel in stems:
            yield stem + ending, stem, f"Case={case}|Gender={'Fem' if vowel == 'a' else 'Masc'}"
    yield from (("zo", "zo", "Case=Nom|Gender=Fem"), ("zom", "zo", "Case=Gen|Gender=Fem"))


def test_an_unseen_form_keeps_the_gender_of_its_lemma():
    """*zos* ends as masculine nouns do; its lemma is feminine in all forms that were seen."""
    sentences = []
    for form, lemma, feats in treebank():
        one = make_sentence(form, "NOUN")
        sentences.append(with_columns(one, lemmas=[lemma], feats=[feats]))
    morphology = train_morphology(sentences * 3, rng=np.random.default_rng(1), columns=["lemma", "feats"])
    (found,) = morphology.fill([make_sentence("zos", "NOUN")])
    assert (found.lemmas, found.feats) == (("zo",), ("Case=Dat|Gender=Fem",))
    morphology.__dict__["_inherent"] = inherent_features([])
    morphology._opposed.clear()
    (found,) = morphology.fill([make_sentence("zos", "NOUN")])
    assert found.feats == ("Case=Dat|Gender=Masc",)
