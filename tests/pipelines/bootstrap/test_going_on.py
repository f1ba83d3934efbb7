"""Stages that were stopped while they wrote: what was written stays, and the rest comes to the same bytes."""

from __future__ import annotations

from dataclasses import replace
from itertools import islice

import numpy as np
import pytest

from qsproj.conventions import NO_HEAD
from qsproj.corpus.conllu import conllu_kept, read_conllu, write_conllu
from qsproj.models.storage import load_model
from qsproj.parallel import THIS_PROCESS
from qsproj.pipelines.bootstrap import bitext
from qsproj.pipelines.bootstrap.training import tag_words, train_source


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    path = tmp_path_factory.mktemp("source") / "en.model"
    train_source([path], treebanks=["corpora/en.conllu"], language="en", seed=1)
    return path


@pytest.fixture
def words(tmp_path):
    """Forty sentences, of which every third has its tree."""
    path = tmp_path / "words.conllu"
    sentences = islice(read_conllu("corpora/en.conllu"), 40)
    bare = {"heads": lambda one: np.full_like(one.heads, NO_HEAD), "deprels": lambda one: ("_",) * len(one)}
    write_conllu(
        (
            replace(one, **{} if i % 3 == 0 else {name: empty(one) for name, empty in bare.items()})
            for i, one in enumerate(sentences)
        ),
        path,
    )
    return path


def parsed(path, words, model):
    return bitext.parse_source([path], words=str(words), model=str(model), workers=THIS_PROCESS)


def tagged(path, words, model):
    return tag_words([path], words=str(words), tagger=str(model), workers=THIS_PROCESS)


@pytest.mark.parametrize("stage", [parsed, tagged])
@pytest.mark.parametrize("share", [0.0, 0.01, 0.4, 1.0])
def test_the_rest_comes_to_the_same_bytes(tmp_path, words, model, monkeypatch, stage, share):
    tagger = tmp_path / "en.tagger"
    load_model(model).tagger.save(tagger)
    made = model if stage is parsed else tagger
    whole, path = tmp_path / "whole.conllu", tmp_path / "stopped.conllu"
    report = stage(whole, words, made)
    text = whole.read_bytes()
    part = tmp_path / "stopped.conllu.part"
    part.write_bytes(text[: int(share * len(text))])
    begun = part.read_bytes().count(b"\n\n")
    done = []
    monkeypatch.setattr(bitext, "track", lambda sentences, *_, total, **__: done.append(total) or sentences)
    assert stage(path, words, made) == report
    assert path.read_bytes() == text
    assert done == [40 - begun]
    assert not part.exists()


def test_what_is_written_stays_when_it_fails(tmp_path, words):
    path = tmp_path / "out.conllu"
    with pytest.raises(KeyboardInterrupt), conllu_kept(path) as (_, write):
        for sentence in islice(read_conllu(words), 3):
            write(sentence)
        raise KeyboardInterrupt
    assert not path.exists()
    with conllu_kept(path) as (kept, write):
        assert len(list(kept)) == 3


def test_two_that_write_the_same_do_not_mix(tmp_path, words):
    path = tmp_path / "out.conllu"
    first, second, third = islice(read_conllu(words), 3)
    with conllu_kept(path) as (_, write):
        write(first)
        with conllu_kept(path) as (kept, write_too):
            assert list(kept) == []
            write_too(third)
        assert [one.forms for one in read_conllu(path)] == [third.forms]
        write(second)
    assert [one.forms for one in read_conllu(path)] == [first.forms, second.forms]
