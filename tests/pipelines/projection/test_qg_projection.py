"""Projection through the QG-DMV: what it starts from."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest

from qsproj.corpus.sentence import SentencePair, make_alignment
from qsproj.errors import UsageError
from qsproj.models.dmv.dmv_options import DmvOptions, QgOptions
from qsproj.models.dmv.dmv_training import train_dmv
from qsproj.models.qg_dmv.qg_dmv import train_qg_dmv
from qsproj.pipelines.projection import em_projection
from qsproj.pipelines.projection.em_projection import project_hard_em, project_qg
from qsproj.pipelines.projection.hard_projection import ProjectedTrees
from qsproj.pipelines.projection.methods import EM_FROM_ARCS, ProjectedArcs

OPTIONS = QgOptions(min_linked=0.5)


def projected_qg(pairs, training=OPTIONS):
    return project_qg(pairs, training=training, rng=np.random.default_rng(1))


def child(parser):
    return parser.base.parameters.child


def test_it_starts_from_the_trees_that_project_whole(sample):
    whole = DmvOptions(start="trees", keep_heads=True, iterations=0, punctuation="strip")
    dmv, report = train_dmv(ProjectedTrees(sample), options=whole)
    assert 10 < report.whole < 90
    expected, _ = train_qg_dmv(sample, start=lambda: dmv, options=OPTIONS)
    np.testing.assert_allclose(child(projected_qg(sample).parser), child(expected))


def test_no_more_trees_are_kept_than_are_needed(sample, monkeypatch):
    of_all = child(projected_qg(sample).parser)
    monkeypatch.setattr(em_projection, "MOST_WHOLE_TREES", 5)
    assert not np.allclose(child(projected_qg(sample).parser), of_all)


def test_without_whole_trees_it_starts_from_no_preference(sample):
    pairs = [unlinked_at_the_end(pair) for pair in sample]
    expected, _ = train_qg_dmv(pairs, options=OPTIONS)
    np.testing.assert_allclose(child(projected_qg(pairs).parser), child(expected))


def unlinked_at_the_end(pair):
    """Take the links of the last word that is no punctuation away."""
    last = max(place for place, tag in enumerate(pair.target.upos, start=1) if tag != "PUNCT")
    links = pair.alignment.links
    kept = make_alignment(len(pair.source), len(pair.target), links[links[:, 1] != last])
    return SentencePair(pair.source, pair.target, kept)


def test_it_starts_as_in_the_thesis_where_that_is_asked_for(sample):
    options = replace(OPTIONS, start="uniform", iterations=2)
    expected, _ = train_qg_dmv(sample, options=options)
    np.testing.assert_array_equal(child(projected_qg(sample, training=options).parser), child(expected))
    with pytest.raises(UsageError, match=r"unknown start 'harmonic'.*trees, uniform"):
        projected_qg(sample, training=replace(OPTIONS, start="harmonic"))


def test_the_report_tells_what_the_step_gained(sample):
    report = projected_qg(sample).report[1]
    before, after = re.fullmatch(
        "stopped after 1 iteration of EM: log-likelihood from (-[0-9.]+) to (-[0-9.]+)", report
    ).groups()
    assert float(after) > float(before)


def test_siblings_are_read_unless_no_pair_is_to_tell_of_them(sample):
    for pairs, known in ((0, False), (50, True)):
        qg = projected_qg(sample, replace(OPTIONS, sibling_pairs=pairs)).parser.base
        hard = project_hard_em(
            sample,
            projection=ProjectedArcs(min_attached=0.5),
            training=replace(EM_FROM_ARCS, sibling_pairs=pairs),
            rng=np.random.default_rng(1),
        ).parser
        assert (qg.siblings is not None, hard.siblings is not None) == (known, known)
