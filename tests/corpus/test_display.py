"""Sentences, pairs, documents and scores show themselves in notebooks, with bars."""

from __future__ import annotations

import sys
from types import SimpleNamespace

import pytest

import qsproj
from qsproj import Document, Sentence, SentencePair
from qsproj.progress import _hidden, progress_bars

TREE = Sentence.from_words(["Hunde", "bellen"], heads=[2, 0], deprels=["nsubj", "root"])


def test_a_sentence_shows_its_tree_as_draw_does():
    assert TREE._repr_html_() == qsproj.draw(TREE)._repr_html_()
    assert "<svg" in Sentence.from_words(["Hunde", "<b>"])._repr_html_()


def test_a_pair_shows_its_links_and_has_a_short_repr():
    pair = SentencePair(TREE, TREE, qsproj.align([TREE.forms], [TREE.forms])[0])
    assert pair._repr_html_() == qsproj.draw(pair)._repr_html_()
    assert repr(pair).startswith("<SentencePair <Sentence 'Hunde bellen' 2 words> ") and len(repr(pair)) < 120


def test_a_document_shows_its_first_trees():
    html = Document([TREE] * 13, text="<b>")._repr_html_()
    assert html.count("<svg") == 10 and "<p>and 3 sentences more</p>" in html and "<b>" not in html
    assert "more" not in Document([TREE])._repr_html_()
    assert "<svg" not in Document([])._repr_html_()


def test_scores_are_a_table():
    html = qsproj.evaluate([TREE], [TREE])._repr_html_()
    assert "<th>uas</th><td>100.00</td>" in html and "<th>tokens</th><td>2</td>" in html


@pytest.mark.parametrize(
    ("shell", "hidden"), [(SimpleNamespace(kernel=1), False), (object(), True), (None, True)]
)
def test_bars_are_shown_in_a_notebook(shell, hidden, monkeypatch):
    monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(get_ipython=lambda: shell))
    monkeypatch.setattr(sys, "stderr", SimpleNamespace(isatty=lambda: False))
    assert _hidden() is hidden
    with progress_bars(False):
        assert _hidden()
