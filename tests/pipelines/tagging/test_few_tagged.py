"""What training makes of a few tagged sentences."""

import pytest

from qsproj.corpus.conllu import read_conllu
from qsproj.pipelines.tagging.few_tagged import FewTagged

TAGS = ("ADP", "DET", "NOUN")


@pytest.fixture
def sentences(tmp_path):
    """A sentence with a multiword token, and one without."""
    contracted = [("1-2", "zum", "_"), ("1", "zu", "ADP"), ("2", "dem", "DET"), ("3", "Haus", "NOUN")]
    plain = [("1", "das", "DET"), ("2", "Haus", "NOUN")]
    path = tmp_path / "few.conllu"
    rows = [
        "\n".join("\t".join([number, form, "_", tag, *"______"]) for number, form, tag in sentence) + "\n\n"
        for sentence in (contracted, plain)
    ]
    path.write_text("".join(rows), encoding="utf-8")
    return list(read_conllu(path))


def test_a_sentence_counts_once_however_many_ways_it_is_cut(sentences):
    weights = {}
    for example in FewTagged.of(sentences).examples(TAGS, strength=5.0):
        assert example.trusted
        weights[example.forms] = example.strength
    assert weights == {("zu", "dem", "Haus"): 2.5, ("zum", "Haus"): 2.5, ("das", "Haus"): 5.0}
