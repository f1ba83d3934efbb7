"""Pages of ours as axe sees them in Chromium; skipped, saying so, where either is missing."""

from __future__ import annotations

from pathlib import Path

import pytest

from qsproj.corpus.pairs.aligned import AlignedFiles
from tests.serve.test_review_app import reviewing
from tests.serve.test_review_page import DRAFT, windows, word, written


@pytest.fixture(scope="module")
def faults():
    """Return what tells the faults of a page."""
    axe = pytest.importorskip(
        "axe_playwright_python.sync_playwright", reason="axe is not installed: qsproj[browser]"
    ).Axe()

    def found(page):
        response = axe.run(page).response
        assert response["passes"]
        return [(one["id"], [node["html"] for node in one["nodes"]]) for one in response["violations"]]

    return found


@pytest.mark.parametrize("width", [400, 1280])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_page_of_reviews(browser, serving, tmp_path, faults, width, scheme):
    path, source, links = written(tmp_path), tmp_path / "en.conllu", tmp_path / "links"
    source.write_text(DRAFT)
    links.write_text("0-0\n0-0 1-1\n\n\n0-0\n")
    other = tmp_path / "other.conllu"
    other.write_text(DRAFT.replace("4\tlaut\t_\tX\t_\t_\t2", "4\tlaut\t_\tADV\t_\t_\t3"))
    pairs = AlignedFiles(str(source), str(path), str(links))
    with (
        reviewing(serving, path, pairs=pairs, beside=str(other)) as served,
        windows(browser, served.client) as open_window,
    ):
        page = open_window()
        page.set_viewport_size({"width": width, "height": 800})
        page.emulate_media(color_scheme=scheme)
        word(page, 2).focus()
        page.locator("#cut summary").click()
        assert faults(page) == []
        page.locator("#look").click()
        page.fill("#pattern", "deprel=nsubj")
        page.fill("#change", "deprel=obj")
        page.keyboard.press("Enter")
        page.locator("#found", has_text="words in").wait_for()
        page.locator("#searching summary").click()
        assert faults(page) == []
        page.locator("#leave").click()
        page.locator("#confirm").click()
        page.locator("#progress", has_text="1 of 5").wait_for()
        page.locator("#tell").click()
        page.locator("#batches tr").wait_for()
        assert faults(page) == []
        page.locator("#report button").click()
        page.locator("#help").click()
        assert faults(page) == []
        page.locator("#keys button").click()
        if width < 800:
            page.locator("#sentences").click()
            assert faults(page) == []


MADE = {
    "trees": "draw corpora/de.conllu -o",
    "pairs": "draw corpora/en.conllu --target corpora/de.conllu --alignment corpora/en-de.pharaoh -o",
    "report": "eval corpora/de.conllu {system} --report",
}


@pytest.mark.parametrize("width", [400, 1280])
@pytest.mark.parametrize("made", MADE)
def test_drawings_and_reports(browser, run_cli, tmp_path, faults, made, width):
    system, path = tmp_path / "system.conllu", tmp_path / "page.html"
    system.write_text(Path("corpora/de.conllu").read_text(encoding="utf-8").replace("\tobj\t", "\tobl\t"))
    assert run_cli(*MADE[made].format(system=system).split(), path).code == 0
    page = browser.new_page(viewport={"width": width, "height": 800})
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        page.goto(path.as_uri())
        assert faults(page) == []
    page.close()
