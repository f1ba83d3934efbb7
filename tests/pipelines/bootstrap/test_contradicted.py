"""Frequent words that are tagged against their links stand in the report, with both tags and shares."""

from types import SimpleNamespace

from qsproj.pipelines.bootstrap.report import _contradicted
from qsproj.viz.page import Table


def test_the_report_lists_words_tagged_against_their_links():
    told = SimpleNamespace(figures={"contradicted": [["de", 12973, "ADP", 0.85, "AUX", 0.97]]})
    stages = [SimpleNamespace(report=SimpleNamespace(figures={})), SimpleNamespace(report=told)]
    pieces = list(_contradicted(SimpleNamespace(stages=stages)))
    assert not list(_contradicted(SimpleNamespace(stages=stages[:1])))
    (found,) = [piece for piece in pieces if isinstance(piece, Table)]
    assert found.rows == [("de", 12973, "ADP", "85%", "AUX", "97%")]
