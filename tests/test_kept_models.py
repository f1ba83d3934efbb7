"""Models that an earlier build wrote are still read, one of each kind, and do what they did.

The files in ``tests/kept_models`` are never made anew: each was trained on the first sentences of the sample
by the build of its day. A new kind of model adds its file.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from qsproj.cli.main import main
from qsproj.corpus.conllu import read_conllu
from qsproj.corpus.formats import read_alignments
from qsproj.corpus.sentence import SentencePair
from qsproj.models.storage import KINDS, kind_of, load_model

TESTS = Path(__file__).parent
KEPT = TESTS / "kept_models"
CORPORA = TESTS.parent / "corpora"


def sentences(code, count=2):
    return list(read_conllu(CORPORA / f"{code}.conllu"))[:count]


def path_of(kind):
    return KEPT / f"{kind}.model"


def test_every_kind_is_kept():
    assert sorted(path.stem for path in KEPT.iterdir()) == sorted(KINDS)
    assert sum(path.stat().st_size for path in KEPT.iterdir()) < 300_000


@pytest.mark.parametrize("kind", KINDS)
def test_a_kept_model_is_read_as_what_it_was(kind, capsys):
    assert kind_of(load_model(path_of(kind))) == kind
    assert main(["info", str(path_of(kind))]) == 0
    assert "0.1.0" in capsys.readouterr().out


@pytest.mark.parametrize("kind", sorted(set(KINDS) - {"joint-parser", "link-chooser", "converter", "tagger"}))
def test_a_kept_parser_parses_what_it_learned_from(kind):
    model = load_model(path_of(kind))
    for sentence in sentences("de"):
        parsed = model.parse(sentence)
        assert parsed.forms == sentence.forms
        assert list(parsed.heads).count(0) == 1
        assert None not in parsed.deprels


def test_the_kept_tagger_tags():
    for sentence in sentences("de"):
        assert load_model(path_of("tagger")).tag(sentence).upos == sentence.upos


def test_the_kept_converter_converts():
    for sentence in sentences("de"):
        converted = load_model(path_of("converter")).convert_sentence(sentence)
        assert list(converted.heads).count(0) == 1


def test_the_kept_joint_models_parse_and_align():
    links = list(read_alignments(CORPORA / "en-de.pharaoh"))
    for source, target, alignment in zip(sentences("en"), sentences("de"), links, strict=False):
        parsed = load_model(path_of("joint-parser")).parse_pair(source, target, alignment)
        chosen = load_model(path_of("link-chooser")).align(SentencePair(source, target, alignment))
        assert len(chosen.links)
        assert {(one[0], one[1]) for one in chosen.links} <= {(one[0], one[1]) for one in alignment.links}
        assert list(parsed.target.heads).count(0) == 1


@pytest.mark.parametrize("kind", sorted(set(KINDS) - {"link-chooser", "converter", "tagger"}))
def test_an_unknown_option_is_an_error_with_or_without_sentences(kind):
    with pytest.raises(TypeError, match="confidenc"):
        load_model(path_of(kind)).parse_all([], confidenc=True)
