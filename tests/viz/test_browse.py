"""The page of drawn sentences: what is in it, how large it gets, and that it works in a browser."""

import base64
import re
import shutil
import zlib
from contextlib import closing
from pathlib import Path

import pytest

from qsproj.corpus.editing import with_misc
from qsproj.corpus.sentence import SentencePair, make_alignment
from qsproj.viz.drawing import PLAIN, html_document
from qsproj.viz.page import Table
from qsproj.viz.page import page as page_of
from qsproj.viz.trees import draw_pair, draw_tree, draw_versus
from tests.sentences import make_sentence

SLEEPS = make_sentence("The dog sleeps here", "DET NOUN VERB ADV", [2, 3, 0, 3], "det nsubj root advmod")
UNSURE = with_misc(SLEEPS, "ArcProb", ["0.99", "0.4", "0.95", "0.8"])
GERMAN = make_sentence("Hier schläft er", "ADV VERB PRON", [2, 0, 2], "advmod root nsubj:outer")
PAIR = SentencePair(UNSURE, GERMAN, make_alignment(4, 3, [[2, 3], [3, 2], [4, 1]]))


def page(drawings, **more):
    return "".join(html_document("a < b", drawings, **more))


def unpacked(text):
    packed = re.findall('<script type="text/plain" class="packed">(.*?)</script>', text)
    return [zlib.decompress(base64.b64decode(one)).decode() for one in packed]


def test_a_small_page_is_plain():
    text = page([("one & only", draw_tree(SLEEPS)), ("two", draw_tree(SLEEPS))], about="<i>")
    assert text.startswith("<!DOCTYPE html>\n")
    assert "<title>a &lt; b</title>" in text and "<p>&lt;i&gt;</p>" in text
    assert re.findall("<h2 [^>]*>(.*?)</h2>", text) == ["one &amp; only", "two"]
    assert not unpacked(text)
    assert "<footer>" not in text


def test_a_large_page_is_packed_and_holds_everything():
    drawing = draw_tree(UNSURE)
    text = page((str(number), drawing) for number in range(600))
    blocks = unpacked(text)
    whole = text + "".join(blocks)
    assert re.findall('<h2 dir="auto">(.*?)</h2>', whole) == [str(number) for number in range(600)]
    assert text.count("<article>") == PLAIN
    assert "number stands beside the relation" in text


def test_no_text_is_markup():
    odd = make_sentence("<script>alert(1)</script> & ]]>", "X X X", [0, 1, 1], "<b> p q")
    whole = page([("<h1>", draw_tree(odd))])
    assert whole.count("<script>") == 1
    assert "<h1>&" not in whole and "<b>" not in whole


def test_a_thousand_sentences_take_less_than_3_mb(data_dir):
    from itertools import cycle, islice

    from qsproj.corpus.conllu import read_conllu

    # Enough to know what the rest takes: packing does not get better with more.
    sentences = list(islice(read_conllu(data_dir / "pud" / "en.conllu.gz"), PLAIN + 100))
    chances = cycle([f"0.{number}" for number in range(1000, 9999, 7)])
    drawings = [
        (str(number), draw_tree(with_misc(one, "ArcProb", list(islice(chances, len(one))))))
        for number, one in enumerate(sentences)
    ]
    plain, text = len(page(drawings[:PLAIN])), len(page(drawings))
    assert plain + (text - plain) * (1000 - PLAIN) / 100 < 3e6


@pytest.fixture
def browser():
    """Return a browser without windows; skip where there is none."""
    playwright = pytest.importorskip("playwright.sync_api")
    path = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if path is None:
        pytest.skip("no chromium is installed")
    with playwright.sync_playwright() as started:
        opened = started.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield opened
        opened.close()


def test_the_page_filters_and_explains(browser, tmp_path):
    drawings = [("pair", draw_pair(PAIR)), *((str(number), draw_tree(SLEEPS)) for number in range(PLAIN + 5))]
    path = Path(tmp_path / "page.html")
    path.write_text(page(drawings), encoding="utf-8")
    faults = []
    tab = browser.new_page(viewport={"width": 900, "height": 700})
    tab.on("pageerror", lambda error: faults.append(str(error)))
    tab.goto(path.as_uri())
    tab.wait_for_selector("form:not([hidden])")
    assert tab.locator("output").inner_text() == f"{PLAIN + 6} of {PLAIN + 6} sentences"

    tab.fill("[name=below]", "0.5")
    assert tab.locator("output").inner_text() == f"1 of {PLAIN + 6} sentences, 1 arcs"
    assert tab.locator("article:visible .arc:not(.dim) .label").text_content() == "nsubj40%"
    tab.fill("[name=below]", "")
    tab.fill("[name=relation]", "nsubj")
    assert tab.locator("output").inner_text() == f"{PLAIN + 6} of {PLAIN + 6} sentences, {PLAIN + 7} arcs"
    tab.fill("[name=relation]", "")
    tab.fill("[name=text]", "SCHLÄFT")
    assert tab.locator("article:visible h2").all_inner_texts() == ["pair"]

    tab.hover(".source .arc[data-dependent='2'] .label")
    assert tab.locator("#tip").inner_text() == (
        "sleeps → dog: nsubj, probability 0.4; translated: schläft → er: nsubj:outer"
    )
    on = tab.locator(".arc.on").evaluate_all("arcs => arcs.map(arc => arc.dataset.dependent)")
    assert on == ["2", "3"]
    assert tab.locator(".link.on").count() == 2
    assert not faults


def test_numbers_stand_below_the_names_of_their_columns():
    page = "".join(page_of("t", [Table(("name", "n", "text"), [("a", 3, "x"), ("b", "4.5%", "2")])]))
    assert re.findall("<th(.*?)>", page.partition("<thead>")[2]) == ["", ' class="number"', ""]


def test_tables_fit_into_a_narrow_window(browser, tmp_path):
    path = tmp_path / "page.html"
    row = ("word" * 30, 3, 4.5, "12%", "an example " * 20, 7)
    path.write_text("".join(page_of("title", [Table(("name", "n", "m", "share", "text", "x"), [row] * 3)])))
    with closing(browser.new_page(viewport={"width": 400, "height": 800})) as page:
        page.goto(path.as_uri())
        assert page.evaluate("document.documentElement.scrollWidth") <= 400
        assert page.locator("td").nth(1).inner_text() == "3"
        shown = page.locator("td").nth(1).evaluate("cell => getComputedStyle(cell, '::before').content")
        assert shown == '"n: "'


def test_trees_are_set_in_lines_of_the_windows_width(browser, tmp_path):
    """As Python sets them for that width, but for what fonts are wide; no arc and no word is lost."""
    words = [f"w{number}" for number in range(30)]
    long = make_sentence(
        " ".join(words), " ".join(["X"] * 30), [0, *(1 + k // 2 for k in range(29))], " ".join(["r"] * 30)
    )
    long = with_misc(long, "ArcProb", ["0.5"] * 30)
    other = make_sentence("The dog sleeps here", "DET NOUN VERB ADV", [2, 3, 0, 1], "det nsubj root advmod")
    drawings = [("long", draw_tree(long)), ("short", draw_tree(SLEEPS)), ("pair", draw_pair(PAIR))]
    drawings.append(("versus", draw_versus(SLEEPS, other)))
    path = tmp_path / "page.html"
    path.write_text(page(drawings, fit=True), encoding="utf-8")
    faults = []
    with closing(browser.new_page(viewport={"width": 1600, "height": 800})) as tab:
        tab.on("pageerror", lambda error: faults.append(str(error)))
        tab.goto(path.as_uri())
        drawn = tab.locator("article", has_text="long").first.locator("svg")
        for width in (1600, 700, 400):
            tab.set_viewport_size({"width": width, "height": 800})
            tab.wait_for_function(
                "width => document.querySelector('article svg').getAttribute('width') <= width", arg=width
            )
            forms = drawn.locator(".form")
            assert forms.all_text_contents() == words
            places = forms.evaluate_all(
                "all => all.map((one) => [one.getAttribute('y'), +one.getAttribute('x')])"
            )
            assert len({y for y, _ in places}) >= 2000 // width
            assert places == sorted(places, key=lambda place: (float(place[0]), place[1]))
            ends = "all => all.map((one) => `${one.dataset.head} ${one.dataset.dependent}`)"
            found = set(drawn.locator(".arc").evaluate_all(ends))
            assert found == {f"{head} {word}" for word, head in enumerate(long.heads.tolist()[1:], 1)}
            assert drawn.locator(".arc title").first.text_content().endswith("probability 0.5")
            outside = "all => all.filter((one) => one.getBBox().x < -1 || one.getBBox().y < -1).length"
            assert drawn.locator("text").evaluate_all(outside) == 0
        tab.fill("[name=relation]", "r")
        assert tab.locator("output").inner_text() == "1 of 4 sentences, 30 arcs"
        tab.fill("[name=relation]", "")
        assert (
            tab.locator(".arc.differs[data-head]").count() == 1
            and tab.locator(".arc.other[data-head]").count() == 1
        )
    assert not faults
