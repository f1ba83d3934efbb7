"""Pages of ours as axe sees them in Chromium and Firefox; skipped, saying so, where one is missing."""

from __future__ import annotations

from pathlib import Path

import pytest

from qsproj.corpus.pairs.aligned import AlignedFiles
from tests.serve.conftest import SCHEMES
from tests.serve.test_review_app import reviewing
from tests.serve.test_review_page import DRAFT, windows, word, written


@pytest.mark.parametrize("width", [400, 1280])
@pytest.mark.parametrize("scheme", SCHEMES)
def test_the_page_of_reviews(browsers, serving, tmp_path, faults, width, scheme):
    path, source, links = written(tmp_path), tmp_path / "en.conllu", tmp_path / "links"
    source.write_text(DRAFT)
    links.write_text("0-0\n0-0 1-1\n\n\n0-0\n")
    other = tmp_path / "other.conllu"
    other.write_text(DRAFT.replace("4\tlaut\t_\tX\t_\t_\t2", "4\tlaut\t_\tADV\t_\t_\t3"))
    pairs = AlignedFiles(str(source), str(path), str(links))
    with (
        reviewing(serving, path, pairs=pairs, beside=str(other)) as served,
        windows(browsers[SCHEMES.index(scheme)], served.client) as open_window,
    ):
        page = open_window()
        page.set_viewport_size({"width": width, "height": 800})
        word(page, 2).focus()
        page.locator("#cut summary").click()
        assert faults(page, scheme) == []
        page.locator("#open-search").click()
        page.fill("#pattern", "deprel=nsubj")
        page.fill("#change", "deprel=obj")
        page.keyboard.press("Enter")
        page.locator("#found", has_text="words in").wait_for()
        page.locator("#searching summary").click()
        assert faults(page, scheme) == []
        page.locator("#leave").click()
        page.locator("#confirm").click()
        page.locator("#progress", has_text="1 of 5").wait_for()
        page.locator("#open-report").click()
        page.locator("#batches tr").wait_for()
        assert faults(page, scheme) == []
        page.locator("#report button").click()
        page.locator("#help").click()
        assert faults(page, scheme) == []
        page.locator("#keys button").click()
        if width < 800:
            page.locator("#sentences").click()
            assert faults(page, scheme) == []


MADE = {
    "trees": "draw {de} -o",
    "pairs": "draw {en} --target {de} --alignment {links} -o",
    "report": "eval {de} {system} --report",
}


@pytest.mark.parametrize("made", MADE)
def test_drawings_and_reports(browsers, run_cli, tmp_path, faults, made):
    files, path = (
        {name: tmp_path / f"{name}.conllu" for name in ("de", "en", "system", "links")},
        tmp_path / "page.html",
    )
    for name, ends in (("de.conllu", "\n\n"), ("en.conllu", "\n\n"), ("en-de.pharaoh", "\n")):
        text = Path("corpora", name).read_text(encoding="utf-8")
        ten = "".join(one + ends for one in text.split(ends)[:10])
        files["links" if ends == "\n" else name[:2]].write_text(ten, encoding="utf-8")
    files["system"].write_text(
        files["de"].read_text(encoding="utf-8").replace("\tobj\t", "\tobl\t"), encoding="utf-8"
    )
    assert run_cli(*MADE[made].format(**files).split(), path).code == 0
    for scheme, browser in zip(SCHEMES, browsers, strict=True):
        page = browser.new_page()
        for width in (400, 1280):
            page.set_viewport_size({"width": width, "height": 800})
            page.goto(path.as_uri())
            assert faults(page, scheme) == []
        page.close()
