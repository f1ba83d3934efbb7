"""Words with and without vowel marks: the same tags, trees, links and suggestions; words keep their marks."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from qsproj.alignment.encoding import encode_bitext
from qsproj.corpus.conllu import read_conllu
from qsproj.corpus.language.lexicon import read_lexicon
from qsproj.corpus.sentence import Sentence
from qsproj.features.joint_templates import word_hashes
from qsproj.features.tagging import WORD_TEMPLATES
from qsproj.models.morphology.morphology_training import train_morphology
from qsproj.models.storage import load_model
from qsproj.models.tagging.tagger import FeatureExtractor
from qsproj.pipelines.bootstrap.suggestions import counts_of
from qsproj.pipelines.suggest import word_kinds
from qsproj.pipelines.tagging.self_training import share_unknown
from qsproj.pipelines.tagging.tags_through_links import project_tags
from qsproj.pipelines.treebanks import Treebank
from tests.pipelines.tagging.made_bitext import gold, made_pairs

FATHA = "\u064e"


def marked(forms, seed=0):
    """Return forms with vowel marks after some of their letters."""
    rng = np.random.default_rng(seed)
    return ["".join(one + FATHA * (one.isalpha() and rng.random() < 0.5) for one in form) for form in forms]


def with_marks(sentence, seed=0):
    cells = dict(upos=sentence.upos, heads=sentence.heads, deprels=sentence.deprels)
    return Sentence.from_words(marked(sentence.forms, seed), **cells)


def test_a_marked_bitext_teaches_what_the_plain_one_teaches(tmp_path):
    pairs, raw = made_pairs(60), [pair.target.forms for pair in made_pairs(30, seed=7)]
    path = tmp_path / "words.tsv"
    found = []
    for number, write in enumerate((lambda sentence, seed: sentence, with_marks)):
        path.write_text("\t".join([*(marked(["Hund"]) if number else ["Hund"]), "NOUN PROPN\n"]), "utf-8")
        texts = [replace(pair, target=write(pair.target, seed)) for seed, pair in enumerate(pairs)]
        found.append(
            project_tags(
                ((pair,) for pair in texts),
                rng=np.random.default_rng(1),
                tagged=[write(one, seed) for seed, one in enumerate(gold(made_pairs(8, seed=3)))],
                raw=[marked(forms, 1) if number else forms for forms in raw],
                lexicon=read_lexicon(path),
                relatives=[Treebank("made", [write(one, 5) for one in gold(made_pairs(20, seed=5))])],
                columns=(),
            )
        )
    plain, other = (one.tagger for one in found)
    assert np.array_equal(plain.weights, other.weights)
    assert np.array_equal(plain.index.keys, other.index.keys)
    assert found[0].report == found[1].report
    forms = pairs[0].target.forms
    assert plain.tag_words(forms) == plain.tag_words(marked(forms))


def test_features_links_and_counts_are_the_same():
    pairs = made_pairs(20)
    marks = [with_marks(pair.target, seed) for seed, pair in enumerate(pairs)]
    plain = [pair.target for pair in pairs]
    extractor = FeatureExtractor(WORD_TEMPLATES, {})
    for one, other in zip(plain, marks, strict=True):
        assert one.forms != other.forms
        assert np.array_equal(extractor.keys(one.forms), extractor.keys(other.forms))
        assert np.array_equal(word_hashes(one).forms, word_hashes(other).forms)
        assert word_kinds(one) == word_kinds(other)
    assert counts_of(plain) == counts_of(marks)
    words = [form for one in marks for form in one.forms]
    assert share_unknown(words, [form for one in plain for form in one.forms]) == 0.0
    encoded = []
    for targets in (plain, marks):
        vocabularies = ({}, {})
        sides = [(pair.source.forms, one.forms) for pair, one in zip(pairs, targets, strict=True)]
        list(encode_bitext(sides, vocabularies, size=100))
        encoded.append(vocabularies[1])
    assert encoded[0] == encoded[1]


def test_features_of_words_are_the_same():
    sentences = [
        one.replace(feats=["Case=Nom" if tag == "NOUN" else None for tag in one.upos], lemmas=one.forms)
        for one in gold(made_pairs(20))
    ]
    learned = train_morphology(sentences, rng=np.random.default_rng(1))
    one = gold(made_pairs(1, seed=9))[0]
    found, other = learned.fill([one, with_marks(one)])
    assert (found.lemmas, found.feats) == (other.lemmas, other.feats)


@pytest.mark.parametrize(
    "kind",
    ["arc-parser", "labelled-parser", "cluster-parser", "tagging-parser", "text-parser", "graph-parser"],
)
def test_kept_models_parse_both_alike_and_keep_the_words(kind):
    model = load_model(Path("tests/kept_models") / f"{kind}.model")
    for one in list(read_conllu("corpora/de.conllu"))[:2]:
        found, other = model.parse(one), model.parse(with_marks(one))
        for columns in (lambda parsed: parsed.heads.tolist(), lambda parsed: (parsed.deprels, parsed.upos)):
            assert columns(found) == columns(other)
        assert other.forms == with_marks(one).forms != one.forms
