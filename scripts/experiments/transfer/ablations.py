"""Ingredients of a bootstrap that an experiment can leave out: functions and constants in place of others."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from qsproj.pipelines.bootstrap import bitext, training
from qsproj.pipelines.bootstrap.bitext import tokenize_bitext
from qsproj.pipelines.bootstrap.spelling import Spelling
from qsproj.pipelines.bootstrap.training import project, tag_target, train_priors
from qsproj.pipelines.bootstrap.workspace import KINDS, Make
from qsproj.pipelines.projection import priors, soft_evidence, soft_projection
from qsproj.pipelines.tagging import (
    conventions,
    function_words,
    tags_through_links,
    type_dictionary,
)
from qsproj.pipelines.tagging.options import TagProjectionOptions
from qsproj.pipelines.tagging.self_training import SelfTraining
from qsproj.pipelines.tagging.tags_through_links import project_tags
from qsproj.pipelines.translated_trees import MissingWords, WordOrder


@dataclass(frozen=True)
class Ablation:
    """Values to put in place of names of modules and classes; ``stage`` is the first stage that they change."""

    stage: Make
    values: tuple[tuple[object, str, Any], ...]


def _tag_options(**changes: Any) -> Ablation:
    """Change defaults of tags through links."""
    usual = TagProjectionOptions

    def changed(**given: Any) -> Any:
        return usual(**{**changes, **given})

    return Ablation(tag_target, ((training, "TagProjectionOptions", changed),))


def _tags(*values: tuple[object, str, Any]) -> Ablation:
    return Ablation(tag_target, values)


def _no_relations(
    _: object, heads: NDArray[np.int32], numbers: Mapping[str, int], reflexives: object = ()
) -> NDArray[np.float64]:
    return np.zeros((len(heads), len(numbers)))


ABLATIONS = {
    "features": _tags((training, "project_tags", partial(project_tags, columns=()))),
    "function words": _tags((function_words, "rarely_linked", lambda text, words, _: words.counts < 0)),
    "registered auxiliaries": _tags(
        (tags_through_links, "registered_auxiliaries", lambda language, **_: frozenset[str]())
    ),
    "conventions": _tags((conventions, "target_conventions", lambda *_, **known: conventions.OWN)),
    "prior of unknown words": _tags(
        (type_dictionary, "prior_of_unknown", lambda text: np.zeros(len(text.tags)))
    ),
    "word classes": _tag_options(classes=0),
    "sentences in digits": _tag_options(in_digits=0),
    "balance": _tag_options(balance=0.0),
    "loose relations": _tags((conventions, "LOOSE", frozenset())),
    "words of either tag": _tags((conventions, "EITHER", {})),
    "second tags": _tags((conventions, "second_tags", lambda language: conventions.EITHER)),
    "spelling": Ablation(tokenize_bitext, ((bitext, "spelling_of", lambda raw, texts: Spelling((), {})),)),
    "sureness of links": _tag_options(link_power=1.0),
    "similar forms": _tags((type_dictionary, "PRIOR_VOTES", 0.0)),
    "several taggers": _tag_options(taggers=1),
    "self-training": _tags((SelfTraining, "self_train", lambda _, tagger, *more, **others: tagger)),
    "rounds of raw text": _tag_options(rounds_of_raw=1),
    "translated words": Ablation(
        train_priors, ((priors, "make_translator", lambda pairs: lambda trees, rng, complete: trees),)
    ),
    "reordered trees": Ablation(train_priors, ((WordOrder, "reordered", lambda _, tree, rng: tree),)),
    "missing words": Ablation(train_priors, ((MissingWords, "left_out", lambda _, tree, rng: tree),)),
    "evidence of relations": Ablation(project, ((soft_evidence, "relation_evidence", _no_relations),)),
    "overconfidence": Ablation(project, ((soft_projection, "FACTORS", (1.0,)),)),
}


@contextmanager
def apart(make: Make, why: str) -> Iterator[None]:
    """Keep the stages of a function apart from the usual ones."""
    usual = KINDS[make]
    KINDS[make] = usual._replace(version=f"{usual.version} {why}")
    try:
        yield
    finally:
        KINDS[make] = usual


@contextmanager
def without(names: Sequence[str]) -> Iterator[None]:
    """Leave ingredients out; stages that they change are kept apart from the usual ones."""
    kept: list[tuple[Any, str, Any]] = []
    try:
        for name in names:
            one = ABLATIONS[name]
            for module, attribute, value in one.values:
                kept.append((module, attribute, getattr(module, attribute)))
                setattr(module, attribute, value)
        with ExitStack() as stack:
            for name in names:
                stack.enter_context(apart(ABLATIONS[name].stage, f"without {name}"))
            yield
    finally:
        for module, attribute, value in reversed(kept):
            setattr(module, attribute, value)
