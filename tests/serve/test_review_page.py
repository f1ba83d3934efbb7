"""The page in Chromium, by the keyboard in Firefox, too; skipped, saying so, where one is missing."""

from __future__ import annotations

import os
import re
import signal
from contextlib import contextmanager

import pytest

from qsproj.corpus.conllu import read_conllu, write_conllu
from qsproj.corpus.editing import misc_values, with_columns
from qsproj.corpus.language.lexicon import SUGGESTIONS_HEADER
from qsproj.corpus.pairs.aligned import AlignedFiles
from qsproj.models.parser import load_parser
from qsproj.serve.requests import Limits, with_access_log
from qsproj.serve.review.app import HEADERS, PATHS, Review, guarded, review_app
from qsproj.serve.review.draft import Draft
from qsproj.serve.review.loop import Loop
from qsproj.serve.review.session import Session
from qsproj.serve.review.words import WordList
from tests.serve.client import until
from tests.serve.test_review_app import TOKEN, reviewing


def row(form, head, relation, chance, number, upos="X"):
    return f"{number}\t{form}\t_\t{upos}\t_\t_\t{head}\t{relation}\t_\tArcProb={chance:.4f}\n"


def sentence(name, forms, heads, relations, chances):
    cells = zip(forms, heads, relations, chances, range(1, len(forms) + 1), strict=True)
    return f"# sent_id = {name}\n" + "".join(row(*one) for one in cells) + "\n"


LONG = [f"w{number}" for number in range(1, 101)]
DRAFT = (
    sentence("sure", ["Er", "geht"], [2, 0], ["nsubj", "root"], [0.99, 0.99])
    + sentence(
        "unsure",
        ["Der", "Hund", "bellt", "laut"],
        [2, 3, 0, 2],
        ["det", "nsubj", "root", "amod"],
        [0.9, 0.8, 0.9, 0.2],
    )
    + sentence("arabic", ["كتب", "الولد", "رسالة"], [0, 1, 1], ["root", "nsubj", "obj"], [0.9, 0.9, 0.9])
    + sentence("long", LONG, [0, *range(1, 100)], ["root"] + ["dep"] * 99, [0.95] * 100)
    + sentence(
        "<b>markup</b>", ["<img", "src=x>", "<script>"], [0, 1, 1], ["root", "<i>", "&amp;"], [0.9, 0.9, 0.9]
    )
)


@pytest.fixture
def path(tmp_path):
    return written(tmp_path)


def written(folder):
    path = folder / "draft.conllu"
    path.write_text(DRAFT, encoding="utf-8")
    return path


@pytest.fixture
def server(serving, path):
    with reviewing(serving, path) as page:
        yield page.client


@pytest.fixture
def window(browser, server):
    """Return what opens a window on a draft of the test's own, at its least sure sentence."""
    with windows(browser, server) as open_window:
        yield open_window


@pytest.fixture(scope="module")
def reader(browser, serving, tmp_path_factory):
    """Return a window for tests that change nothing."""
    path = written(tmp_path_factory.mktemp("reader"))
    with reviewing(serving, path) as page, windows(browser, page.client) as open_window:
        yield open_window()


@contextmanager
def windows(browser, server, *, first="unsure", height=800):
    """Open windows; a fault of the page's scripts, or anything that it may not load, fails in the end."""
    faults = []
    context = browser.new_context(viewport={"width": 1200, "height": height}, reduced_motion="reduce")

    def open_window():
        page = context.new_page()
        page.on("pageerror", lambda error: faults.append(str(error)))
        page.on("console", lambda message: faults.append(message.text) if "Policy" in message.text else None)
        failed = []
        page.on("requestfailed", lambda request: failed.append(f"{request.url}: {request.failure}"))
        page.goto(f"{server.address}/?token={TOKEN}")
        shown = page.locator("#name", has_text=first)
        until(lambda: shown.count(), lambda: (faults, failed, page.content(), server.log.read_text()))
        return page

    yield open_window
    context.close()
    assert faults == []


def show(page, name):
    """Open a sentence from the list."""
    page.locator("#list button", has_text=name).first.click()
    page.locator("#name", has_text=name).wait_for()


def word(page, number):
    return page.locator(f"#words tr[data-word='{number}']")


def heads(path, name):
    return next(one.heads.tolist()[1:] for one in read_conllu(path) if one.sent_id == name)


def said(page, text):
    page.locator("#message", has_text=text).wait_for()


def test_a_head_is_corrected_saved_and_taken_back(window, path):
    page = window()
    assert page.locator("#list button").first.inner_text().startswith("unsure")
    assert page.evaluate("document.activeElement.dataset.word") == "4"
    word(page, 4).locator(".word").click()
    word(page, 3).locator(".word").click()
    assert word(page, 4).locator(".head").inner_text() == "3 bellt"
    word(page, 4).locator(".relation button").click()
    page.keyboard.type("advmod")
    page.keyboard.press("Enter")
    assert page.locator("#state").inner_text() == "changed"
    page.locator("#confirm").click()
    page.locator("#progress", has_text="1 of 5").wait_for()
    assert heads(path, "unsure") == [2, 3, 0, 3]
    assert "4\tlaut\t_\tX\t_\t_\t3\tadvmod\t_\tReviewed=Yes\n" in path.read_text()
    page.reload()
    page.locator("#progress", has_text="1 of 5").wait_for()
    assert page.locator("#list button", has_text="unsure").count() == 0
    page.select_option("#shown", "reviewed")
    show(page, "unsure")
    assert word(page, 4).locator(".head").inner_text() == "3 bellt"
    page.locator("#undo").click()
    page.locator("#progress", has_text="0 of 5").wait_for()
    assert path.read_text() == DRAFT


def test_the_last_confirmation_is_taken_back_from_the_next_sentence(window, path):
    page = window()
    page.locator("#confirm").click()
    page.locator("#progress", has_text="1 of 5").wait_for()
    until(lambda: page.locator("#name").inner_text() != "unsure")
    assert page.locator("#undo").is_enabled()
    page.locator("#undo").click()
    page.locator("#progress", has_text="0 of 5").wait_for()
    assert page.locator("#name").inner_text() == "unsure"
    assert path.read_text() == DRAFT
    assert page.locator("#undo").is_disabled()


def test_an_odd_root_is_confirmed_once_more(window, path):
    page = window()
    word(page, 3).locator(".relation button").click()
    page.keyboard.type("csubj")
    page.keyboard.press("Enter")
    page.locator("#confirm").click()
    said(page, "Not saved: word 3 is the root, with relation csubj, not root")
    assert path.read_text() == DRAFT
    page.locator("#confirm").click()
    page.locator("#progress", has_text="1 of 5").wait_for()


def test_in_a_narrow_window_the_list_comes_when_it_is_asked_for(window):
    page = window()
    page.set_viewport_size({"width": 400, "height": 800})
    assert not page.locator("#list").is_visible()
    assert box(page, "#confirm")["y"] < 400
    page.locator("#sentences").click()
    show(page, "sure")
    assert not page.locator("#list").is_visible()


def test_a_list_that_comes_late_does_not_replace_a_newer_one(window):
    page = window()
    page.locator("#confirm").click()
    page.locator("#progress", has_text="1 of 5").wait_for()
    late = []
    page.route("**/api/sentences?*", lambda route: route.continue_() if late else late.append(route))
    page.reload()
    page.locator("#progress", has_text="1 of 5").wait_for()
    page.select_option("#shown", "reviewed")
    page.locator("#list .reviewed").wait_for()
    late[0].continue_()
    page.locator("#name", has_text="unsure").wait_for()
    assert page.locator("#list button").count() == 1


def test_the_keyboard_does_it_all(browsers, server, path):
    with windows(browsers[0], server) as open_window:
        page = open_window()
        for key in ("Enter", "ArrowUp", "Enter"):
            page.keyboard.press(key)
        assert word(page, 4).locator(".head").inner_text() == "3 bellt"
        page.keyboard.press("u")
        assert word(page, 4).locator(".head").inner_text() == "2 Hund"
        page.keyboard.press("0")
        assert word(page, 4).locator(".head").inner_text() == "root"
        page.keyboard.press("r")
        page.keyboard.type("ccomp")
        page.keyboard.press("Enter")
        for key in ("e", *"Laut", "Tab", "Tab", *"Degree=Pos", "Tab", "Tab", "Tab", "Escape"):
            page.keyboard.press(key)
        assert page.evaluate("document.activeElement.dataset.word") == "4"
        page.keyboard.press("c")
        said(page, "Confirm again to accept this")
        page.keyboard.press("c")
        page.locator("#progress", has_text="1 of 5").wait_for()
        # The old root hangs below the new one, with its relation.
        assert heads(path, "unsure") == [2, 3, 4, 0]
        assert "4\tlaut\tLaut\tX\t_\tDegree=Pos\t0\tccomp\t" in path.read_text()
        until(lambda: page.locator("#name").inner_text() != "unsure")
        name = page.locator("#name").inner_text()
        page.keyboard.press("n")
        until(lambda: page.locator("#name").inner_text() != name)
        page.keyboard.press("p")
        page.locator("#name", has_text=name).wait_for()
        page.keyboard.press("/")
        page.keyboard.type("markup")
        until(lambda: page.locator("#list button").count() == 1)


def test_training_leaves_the_view_as_it_was(browser, serving, tmp_path, model_files):
    parser = load_parser(model_files / "de.model")
    path = tmp_path / "draft.conllu"
    sentences = [parser.parse(one, confidence=True) for one in read_conllu("corpora/de.conllu")]
    # In another style, so that there is something to learn.
    styled = [["root" if head == 0 else "x" for head in one.heads[1:]] for one in sentences]
    write_conllu(
        (with_columns(one, deprels=names) for one, names in zip(sentences, styled, strict=True)), path
    )
    with (
        reviewing(serving, path, parser=parser, output=str(tmp_path / "better.model")) as page,
        windows(browser, page.client, first="sample-", height=420) as open_window,
    ):
        page = open_window()
        for done in ("1 of", "2 of"):
            name = page.locator("#name").inner_text()
            page.locator("#confirm").click()
            page.locator("#progress", has_text=done).wait_for()
            until(lambda name=name: page.locator("#name").inner_text() != name)
        page.locator("#later").click()
        page.locator("#place", has_text="51 to").wait_for()
        name = page.locator("#list button .about span").nth(20).inner_text()
        show(page, name)
        word(page, 3).focus()
        page.locator("#sentence").evaluate("one => { one.scrollTop = 30 }")
        stands = """() => [document.getElementById("name").textContent, document.activeElement.dataset.word,
            document.getElementById("sentence").scrollTop, document.getElementById("place").textContent]"""
        before = page.evaluate(stands)
        assert before[:3] == [name, "3", 30]
        page.locator("#train").evaluate("button => button.click()")  # a mouse would take the focus with it
        page.locator("#trained", has_text="are new").wait_for(timeout=60_000)
        until(lambda: page.evaluate(stands) == before, lambda: (before, page.evaluate(stands)))


# Training as the page sees it, until `ended`; what the server says of the open sentence is new afterwards.
TRAINING = """() => {
    const fetched = window.fetch;
    window.ended = false;
    window.fetch = async (path, options) => {
        const reply = await fetched(path, options);
        if (!String(path).endsWith("/training")) return reply;
        if (window.silent) throw new TypeError("no connection");
        return new Response(JSON.stringify({ training: !window.ended, train_after: 1, trained: {} }),
            { headers: { "content-type": "application/json" } });
    };
}"""


def training(page):
    """Have the page follow a training, whose start and end it is told."""
    page.evaluate(TRAINING)
    page.locator("#train").evaluate("button => { button.hidden = button.disabled = false; button.click() }")
    page.locator("#parts-done:visible").wait_for()


def ended(page):
    page.evaluate("window.ended = true")
    page.locator("#parts-done:visible").wait_for(state="hidden")


@pytest.mark.parametrize("key", ["r", "t", "e", "Enter"])
def test_new_trees_wait_until_a_value_is_typed_or_a_head_chosen(window, key):
    page = window()
    word(page, 2).focus()
    training(page)
    page.keyboard.press(key)
    page.keyboard.type("" if key == "Enter" else "a")
    page.evaluate("document.getElementById('name').textContent = 'old'")
    ended(page)
    page.wait_for_timeout(300)
    assert page.locator("#name").inner_text() == "old"
    if key == "Enter":
        said(page, "Choose the head of 2 Hund")
        assert word(page, 2).get_attribute("class") == "taken"
    else:
        page.keyboard.type("cl")
        assert page.evaluate("document.activeElement.value") == "acl"
    page.keyboard.press("Escape")
    if key == "e":  # the lemma is a correction now, which new trees do not replace
        assert page.locator("#state").inner_text() == "changed"
    else:
        page.locator("#name", has_text="unsure").wait_for()


def test_a_poll_without_an_answer_is_tried_again(window):
    page = window()
    training(page)
    page.evaluate("window.silent = true")
    said(page, "the server does not answer")
    page.evaluate("window.silent = false")
    until(lambda: "does not answer" not in page.locator("#message").inner_text())
    ended(page)


def test_a_window_shows_on_return_what_another_did(window):
    first, second = window(), window()
    word(first, 4).locator(".word").click()
    word(first, 3).locator(".word").click()
    first.locator("#confirm").click()
    first.locator("#progress", has_text="1 of 5").wait_for()
    assert second.locator("#progress").inner_text() == "0 of 5 reviewed"
    second.evaluate("dispatchEvent(new Event('focus'))")
    second.locator("#progress", has_text="1 of 5").wait_for()
    until(lambda: word(second, 4).locator(".head").inner_text() == "3 bellt")


def test_the_rest_follows_a_correction(browser, serving, tmp_path, model_files):
    parser = load_parser(model_files / "de.model")
    path = tmp_path / "draft.conllu"
    sentences = [one for one in read_conllu("corpora/de.conllu") if len(one) > 6]
    sentence = min(sentences, key=lambda one: parser.arc_probabilities(one).max(axis=0)[1:].min())
    write_conllu([parser.parse(sentence, confidence=True)], path)
    with (
        reviewing(serving, path, parser=parser) as page,
        windows(browser, page.client, first=sentence.sent_id) as open_window,
    ):
        page = open_window()
        shown = "() => [...document.querySelectorAll('#words tr')].map((row) => row.children[3].textContent)"
        before = page.evaluate(shown)
        root = before.index("root")
        other = root + 1 if root + 1 < len(before) else root - 1
        word(page, other).focus()
        page.keyboard.press("0")
        page.locator("#words tr.moved").first.wait_for()
        after = page.evaluate(shown)
        assert (after[other], after.count("root")) == ("root", 1)
        assert word(page, root).locator(".relation").inner_text() != "root"
        assert word(page, other).locator(".mark").inner_text().startswith("●")
        page.keyboard.press("u")
        assert page.evaluate(shown) == before
        # Nor does a relation stay that was passed over before.
        word(page, root).focus()
        page.keyboard.press("f")
        page.keyboard.press("Enter")
        word(page, other).click()
        page.locator("#words tr.moved").first.wait_for()
        assert word(page, root).locator(".head").inner_text().startswith(f"{other} ")
        assert word(page, root).locator(".relation").inner_text() != "root"
        page.keyboard.press("u")
        page.keyboard.press("u")
        # The second head, and what was fixed stays.
        seconds = page.locator("td.second button:visible")
        until(seconds.count)
        at = int(seconds.first.evaluate("button => button.closest('tr').dataset.word"))
        named = seconds.first.inner_text().rpartition(" ")[0]
        word(page, at).focus()
        page.keyboard.press("s")
        assert word(page, at).locator(".head").inner_text() == named
        page.keyboard.press("l")
        assert not page.locator("#live").is_checked()


def test_corrections_that_are_not_confirmed_are_kept_for_learning(browser, serving, path, tmp_path):
    """Where a model learns from them, in qsproj annotate, they are saved on leaving the sentence."""
    (tmp_path / "words.tsv").write_text(f"{SUGGESTIONS_HEADER}\nHund\tNOUN\t1\t1\t0.5\t[Hund]\n")
    words = WordList(suggestions=str(tmp_path / "words.tsv"), lexicon=str(tmp_path / "lexicon.tsv"))

    def make_app(_):
        session = Session(draft=Draft(str(path)), train_after=10, learns_parts=True)
        loop = Loop(session=session, words=words, tokens=100, batch=10, model="better.model")
        app = review_app(Review(session=session, words=words, loop=loop), Limits(bytes=100_000))
        return with_access_log(guarded(app, token=TOKEN, host="127.0.0.1"), paths=PATHS, headers=HEADERS)

    with serving(make_app) as client, windows(browser, client) as open_window:
        page = open_window()
        word(page, 4).focus()
        page.keyboard.press("Enter")
        word(page, 3).click()
        assert "Decided" not in path.read_text()
        page.keyboard.press("Enter")
        said(page, "Choose the head of")  # the sentence may be left before that
        show(page, "long")
        page.locator("#standing", has_text="4 words").wait_for()
        # The word, and those above, which were read.
        marks = misc_values(next(one for one in read_conllu(path) if one.sent_id == "unsure"), "Decided")
        assert marks == (*["UPOS,HEAD,DEPREL"] * 3, "UPOS,HEAD")
        assert heads(path, "unsure") == [2, 3, 0, 3]
        page.route("**/part", lambda route: route.fulfill(status=400, body="the disk is full"))
        word(page, 5).locator(".word").click()
        word(page, 3).locator(".word").click()
        show(page, "unsure")
        said(page, "Corrections of long are not saved: the disk is full")
        page.unroute("**/part")
        page.on("dialog", lambda dialog: dialog.accept())
        page.reload()
        said(page, "not confirmed yet")
        assert word(page, 4).locator(".head").inner_text() == "3 bellt"
        page.keyboard.press("u")
        said(page, "was reverted")
        assert path.read_text(encoding="utf-8") == DRAFT


def test_the_sentence_asked_for_last_is_opened(window):
    page = window()
    late, loads = [], re.compile(r"/api/sentences/3$")
    page.route(loads, lambda route: late.append(route))
    with page.expect_request(loads):
        page.locator("#list button", has_text="long").first.click()
    show(page, "arabic")
    with page.expect_response(loads):
        late[0].continue_()
    page.wait_for_timeout(200)
    assert page.locator("#name").inner_text() == "arabic"


def test_a_sentence_opened_before_an_undo_keeps_its_confirmation(window, path):
    page = window()
    for name, more in (("arabic", "1 of 5"), ("unsure", "2 of 5")):
        show(page, name)
        page.locator("#confirm").click()
        page.locator("#progress", has_text=more).wait_for()
        until(lambda name=name: page.locator("#name").inner_text() != name)
    show(page, "long")
    late, loads = [], re.compile(r"/api/sentences/1$")
    page.route(loads, lambda route: late.append(route))
    with page.expect_request(loads):
        page.keyboard.press("u")
    show(page, "arabic")
    with page.expect_response(loads):
        late[0].continue_()
    page.wait_for_timeout(200)
    assert path.read_text(encoding="utf-8").count("Reviewed=Yes") == 7
    assert page.locator("#progress").inner_text().startswith("2 of 5")


@pytest.mark.parametrize("next_one", ["unsure", "long"])
def test_corrections_made_while_a_sentence_loads_are_kept(window, next_one):
    page = window()
    late, loads = [], re.compile(r"/api/sentences/[13]$")
    page.route(loads, lambda route: route.continue_() if late else late.append(route))
    with page.expect_request(loads):
        page.locator("#list button", has_text=next_one).first.click()
    word(page, 4).focus()
    page.keyboard.press("Enter")
    word(page, 3).click()
    assert word(page, 4).locator(".head").inner_text() == "3 bellt"
    late[0].continue_()
    page.locator("#name", has_text=next_one).wait_for()
    show(page, "unsure")
    said(page, "not confirmed yet")
    assert word(page, 4).locator(".head").inner_text() == "3 bellt"


def test_another_annotation_is_taken_over(browser, serving, tmp_path):
    path, other = written(tmp_path), tmp_path / "other.conllu"
    other.write_text(DRAFT.replace("4\tlaut\t_\tX\t_\t_\t2\tamod", "4\tlaut\t_\tADV\t_\t_\t3\tadvmod"))
    with (
        reviewing(serving, path, beside=str(other)) as page,
        windows(browser, page.client) as open_window,
    ):
        page = open_window()
        page.select_option("#order", "differing")
        page.locator("#list button", has_text="1 differ").wait_for()
        show(page, "unsure")
        assert word(page, 4).locator(".other").inner_text() == "ADV 3 bellt advmod"
        assert word(page, 3).locator(".other button").is_hidden()
        word(page, 4).focus()
        page.keyboard.press("o")
        until(lambda: word(page, 4).locator(".other button").is_hidden())
        page.keyboard.press("c")
        page.locator("#progress", has_text="1 of 5").wait_for()
        assert "4\tlaut\t_\tADV\t_\t_\t3\tadvmod\t" in path.read_text()
        page.locator("#open-report").click()
        page.locator("#batches tr").wait_for()
        assert page.locator("#batches td").nth(4).inner_text() == "3"


def test_links_are_corrected(browser, serving, tmp_path):
    path, source, links = written(tmp_path), tmp_path / "en.conllu", tmp_path / "links"
    source.write_text(DRAFT)
    links.write_text("0-0\n0-0 1-1\n\n\n0-0\n")
    pairs = AlignedFiles(str(source), str(path), str(links))
    with reviewing(serving, path, pairs=pairs) as page, windows(browser, page.client) as open_window:
        page = open_window()
        assert word(page, 2).locator(".links").inner_text() == "Hund"
        word(page, 4).focus()
        page.locator("#translation span").nth(2).click()
        assert word(page, 4).locator(".links").inner_text() == "bellt"
        word(page, 2).focus()
        page.keyboard.press("a")
        page.keyboard.press("Control+A")
        page.keyboard.type("1 4")
        page.keyboard.press("Enter")
        assert word(page, 2).locator(".links").inner_text() == "Der laut"
        page.keyboard.press("c")
        page.locator("#progress", has_text="1 of 5").wait_for()
        until(lambda: "Align=1,4" in path.read_text())
        (second,) = [one for one in read_conllu(path) if one.sent_id == "unsure"]
        assert misc_values(second, "Align") == ("1", "1,4", None, "3")
        page.select_option("#shown", "reviewed")
        show(page, "unsure")
        assert word(page, 2).locator(".links").inner_text() == "Der laut"


def test_the_tree_of_the_translation_stands_beside(browser, serving, tmp_path):
    path, source, links = written(tmp_path), tmp_path / "en.conllu", tmp_path / "links"
    blocks = DRAFT.split("\n\n")
    blocks[2] = sentence("arabic", ["a", "b"], ["_"] * 2, ["_"] * 2, [0.9] * 2).strip()
    source.write_text("\n\n".join(blocks))
    links.write_text("0-0\n0-0 1-1\n\n\n0-0\n")
    pairs = AlignedFiles(str(source), str(path), str(links))
    with reviewing(serving, path, pairs=pairs) as page, windows(browser, page.client) as open_window:
        page = open_window()
        rows = page.locator("#source-words tr")
        assert rows.all_inner_texts()[1:3] == ["1\tDer\tX\t2 Hund\tdet", "2\tHund\tX\t3 bellt\tnsubj"]
        assert page.locator("#source-arcs g[data-word]").count() == 4
        assert box(page, "#source")["x"] > box(page, "#words")["x"] + box(page, "#words")["width"]
        word(page, 2).focus()
        assert page.locator("#source-words tr.linked td.word").all_inner_texts() == ["Hund"]
        rows.nth(3).click()  # links the word at hand
        assert word(page, 2).locator(".links").inner_text() == "Hund bellt"
        page.keyboard.press("u")
        page.set_viewport_size({"width": 400, "height": 800})
        assert box(page, "#source")["y"] > box(page, "#words")["y"] + box(page, "#words")["height"]
        assert page.evaluate("document.documentElement.scrollWidth") <= 400
        page.locator("#sentences").click()
        show(page, "arabic")
        assert page.locator("#translation").is_visible() and page.locator("#source").is_hidden()


def test_other_columns_are_edited(window, path):
    page = window()
    word(page, 2).focus()
    page.keyboard.press("t")
    page.keyboard.type("NOUN")
    page.keyboard.press("Enter")
    page.keyboard.press("e")
    page.keyboard.type("Hund")
    page.fill("#more-feats", "Number=Sing|Case=Nom")
    page.keyboard.press("Escape")
    assert page.evaluate("document.activeElement.dataset.word") == "2"
    page.keyboard.press("c")
    page.locator("#progress", has_text="1 of 5").wait_for()
    assert "2\tHund\tHund\tNOUN\t_\tCase=Nom|Number=Sing\t3\t" in path.read_text()


def test_words_are_cut_and_all_hits_corrected(window, path):
    page = window()
    word(page, 2).focus()
    page.locator("#cut summary").click()
    page.fill("#parts", "Hu nd")
    page.locator("#cut button", has_text="Split").click()
    said(page, "Saved. Undo reverts it.")
    assert page.locator("#words tr").count() == 6
    page.locator("#undo").click()
    said(page, "was reverted")
    assert path.read_text() == DRAFT
    word(page, 2).focus()
    page.keyboard.press("x")
    page.keyboard.type("deprel=nsubj")
    page.fill("#change", "deprel=obj")
    page.keyboard.press("Enter")
    page.locator("#found", has_text="3 words in 3 sentences").wait_for()
    page.locator("#hits input").first.uncheck()
    page.locator("#correct").click()
    page.locator("#found", has_text="2 words in 2 sentences are corrected").wait_for()
    assert path.read_text().count("\tobj\t") == 3


def test_a_cycle_is_refused_on_the_spot(window, path):
    page = window()
    word(page, 3).locator(".word").click()
    word(page, 4).locator(".word").click()
    said(page, "Refused: a cycle, 3 → 2 → 4 → 3")
    assert word(page, 3).locator(".head").inner_text() == "root"
    word(page, 1).locator(".relation button").click()
    page.keyboard.type("two words")
    page.keyboard.press("Enter")
    said(page, "is not a relation")
    assert path.read_text() == DRAFT


def test_sentences_are_found(reader):
    assert reader.locator("#list button").count() == 5
    for text, count in (("HUND", 1), ("nsubj", 3), ("nothing of this kind", 0), ("", 5)):
        reader.fill("#query", text)
        until(lambda count=count: reader.locator("#list button").count() == count)
    reader.select_option("#order", "file")
    until(lambda: reader.locator("#list button").first.inner_text().startswith("sure"))
    reader.select_option("#order", "unsure")


def box(page, selector):
    return page.locator(selector).bounding_box()


def test_scripts_from_right_to_left(reader):
    show(reader, "arabic")
    assert reader.locator("#tree").get_attribute("dir") == "rtl"
    arcs, first, last = (
        box(reader, "#arcs"),
        box(reader, "td.number >> nth=1"),
        box(reader, "td.sure >> nth=1"),
    )
    assert arcs["x"] > first["x"] > last["x"]
    assert reader.locator("#arcs g[transform^=matrix]").count() == 1
    reader.set_viewport_size({"width": 220, "height": 800})  # narrower than the table
    words = box(reader, "td.word >> nth=1")
    assert 0 <= words["x"] < words["x"] + words["width"] <= 220
    reader.set_viewport_size({"width": 1200, "height": 800})


def test_a_long_sentence_stays_in_view(reader):
    show(reader, "long")
    assert reader.locator("#words tr").count() == 101
    assert reader.locator("#arcs g[data-word]").count() == 100
    assert reader.evaluate("document.documentElement.scrollWidth <= innerWidth")
    word(reader, 1).focus()
    reader.keyboard.press("End")
    assert word(reader, 100).locator(".word").is_visible()
    assert box(reader, "#confirm")["y"] >= 0


def test_no_text_is_markup(reader):
    show(reader, "markup")
    assert reader.locator("#name").inner_text() == "<b>markup</b>"
    assert word(reader, 1).locator(".word").inner_text() == "<img"
    assert word(reader, 2).locator(".relation").inner_text() == "<i>"
    assert reader.locator("main b, main img, main i, main script").count() == 0


def test_two_windows_do_not_overwrite_each_other(window, path):
    first, second = window(), window()
    for page, head in ((first, 3), (second, 1)):
        word(page, 4).locator(".word").click()
        word(page, head).locator(".word").click()
    first.locator("#confirm").click()
    first.locator("#progress", has_text="1 of 5").wait_for()
    second.locator("#confirm").click()
    said(second, "Not saved: this sentence was changed in another window")
    assert heads(path, "unsure") == [2, 3, 0, 3]
    assert word(second, 4).locator(".head").inner_text() == "1 Der"
    second.locator("#choices button", has_text="Keep this tree").click()
    second.locator("#confirm").click()
    until(lambda: heads(path, "unsure") == [2, 3, 0, 1])


def test_a_file_that_changed_is_loaded_again(window, path):
    page = window()
    path.write_text(DRAFT.replace("Hund", "Wolf"))
    page.locator("#confirm").click()
    said(page, "was changed by someone else")
    page.locator("#choices button").click()
    word(page, 2).get_by_text("Wolf").wait_for()


def test_corrections_outlive_the_server(window, server):
    page = window()
    word(page, 4).locator(".word").click()
    word(page, 3).locator(".word").click()
    os.kill(server.pid, signal.SIGKILL)
    page.locator("#confirm").click()
    said(page, "Not saved: the server does not answer")
    assert word(page, 4).locator(".head").inner_text() == "3 bellt"


def test_a_restarted_server_is_reached_by_its_new_address(window, path):
    """Its token is another one, as if the page's own were old."""
    page = window()
    word(page, 4).locator(".word").click()
    word(page, 3).locator(".word").click()
    page.route(
        "**/api/**",
        lambda route: route.continue_(headers=route.request.headers | {"x-qsproj-token": "old"}),
        times=1,
    )
    asked = []
    page.once(
        "dialog",
        lambda dialog: (asked.append(dialog.message), dialog.accept(f"open http://x/?token={TOKEN}")),
    )
    page.locator("#confirm").click()
    page.locator("#progress", has_text="1 of 5").wait_for()
    assert heads(path, "unsure") == [2, 3, 0, 3]
    assert asked[0].startswith("Was the server started again?")


def test_it_is_legible_in_the_dark(reader):
    """Contrast of text to its ground, as WCAG computes it, is 4.5 and more."""
    show(reader, "unsure")
    for scheme in ("light", "dark"):
        reader.emulate_media(color_scheme=scheme)
        ratios = reader.evaluate(CONTRASTS)
        assert min(ratios.values()) >= 4.5, ratios


CONTRASTS = """() => {
  const parts = (text) => text.match(/[\\d.]+/g).map(Number);
  const light = (text) => {
    const linear = (c) => c <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4;
    const [r, g, b] = parts(text).map((c) => linear(c / 255));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const ground = (element) => {
    const color = getComputedStyle(element).backgroundColor;
    return parts(color)[3] === 0 ? ground(element.parentElement) : color;
  };
  const found = {};
  const selectors = "h1 .about .preview #text td.number td.tag td.unsure #confirm th";
  for (const selector of selectors.split(" ")) {
    const element = document.querySelector(selector);
    const [a, b] = [light(getComputedStyle(element).color), light(ground(element))].sort((x, y) => y - x);
    found[selector] = (a + 0.05) / (b + 0.05);
  }
  return found;
}"""


MANY = (
    "# sent_id = many\n# text = am Haus.\n1-2\tam\t_\t_\t_\t_\t_\t_\t_\t_\n"
    "1\tan\t_\tADP\t_\t_\t3\tcase\t_\tArcProb=0.9|TagProb=0.4\n2\tdem\t_\tDET\t_\t_\t3\tdet\t_\tArcProb=0.9|TagProb=0.9\n"
    "3\tHaus\t_\tNOUN\t_\t_\t0\troot\t_\tSpaceAfter=No|ArcProb=0.1\n4\t.\t_\tPUNCT\t_\t_\t3\tpunct\t_\tArcProb=0.9\n\n"
)


@pytest.mark.parametrize("width", [1280, 400])
def test_keys_work_wherever_the_focus_is(window, width):
    page = window()
    page.set_viewport_size({"width": width, "height": 800})
    focused = "document.activeElement.dataset.word"
    word(page, 2).focus()
    page.keyboard.press("?")
    page.keyboard.press("Escape")
    page.keyboard.press("ArrowDown")
    assert page.evaluate(focused) == "3"
    page.locator("h1").click()
    page.keyboard.press("ArrowUp")
    assert page.evaluate(focused) == "2"
    page.locator("#help").click()
    page.locator("#keys button").click()
    page.keyboard.press("0")
    assert word(page, 2).locator(".head").inner_text() == "root"
    page.locator("#sentence h2").click()
    page.keyboard.press("u")
    assert word(page, 2).locator(".head").inner_text() == "3 bellt"


@pytest.mark.parametrize("width", [1280, 400])
def test_nothing_moves_under_a_click(browser, serving, tmp_path, model_files, width):
    """Columns stay where they are as marks and inputs appear; messages push nothing down."""
    path, parser = tmp_path / "draft.conllu", load_parser(model_files / "de.model")
    write_conllu(
        (parser.parse(one, confidence=True) for one in list(read_conllu("corpora/de.conllu"))[:3]), path
    )
    with (
        reviewing(serving, path, parser=parser) as page,
        windows(browser, page.client, first="") as open_window,
    ):
        page = open_window()
        page.set_viewport_size({"width": width, "height": 800})
        word(page, 2).wait_for()
        cells = "[...document.querySelectorAll('#words tr:nth-child(3) td')].map((cell) => cell.offsetLeft)"
        top = "document.querySelector('#words').getBoundingClientRect().top + scrollY"
        before = page.evaluate(cells), page.evaluate(top)
        page.locator("#words .second button:visible").first.wait_for()
        word(page, 2).focus()
        for key in ("r", "Escape", "t", "Escape", "f"):
            page.keyboard.press(key)
            assert (page.evaluate(cells), page.evaluate(top)) == before, key
        page.evaluate("document.querySelector('#trained').textContent = 'many words '.repeat(30)")
        assert box(page, "#trained")["width"] > width / 3


def test_an_unknown_relation_is_asked_for_twice(window):
    page = window()
    word(page, 2).focus()
    page.keyboard.press("r")
    page.keyboard.type("foo")
    page.keyboard.press("Enter")
    said(page, "foo is not a relation of Universal Dependencies, and new in this file. Press Enter again")
    page.keyboard.press("Escape")
    assert word(page, 2).locator(".relation").inner_text() == "nsubj"
    for relation, twice in (("foo", True), ("obl:x", False), ("csubj", False)):
        page.keyboard.press("r")
        page.keyboard.type(relation)
        page.keyboard.press("Enter")
        if twice:
            page.keyboard.press("Enter")
        assert word(page, 2).locator(".relation").inner_text() == relation
    page.keyboard.press("t")
    page.keyboard.type("NOWN")
    page.locator("#sentence h2").click()
    said(page, "Not accepted: NOWN is not a tag of Universal Dependencies")
    assert word(page, 2).locator(".tag").inner_text() == "X"


def test_text_shows_tokens_and_unsure_tags_are_marked(browser, serving, tmp_path):
    path = tmp_path / "draft.conllu"
    path.write_text(MANY)
    with reviewing(serving, path) as page, windows(browser, page.client, first="many") as open_window:
        page = open_window()
        assert page.locator("#text").inner_text().strip() == "am Haus."
        word(page, 2).focus()
        assert page.locator("#text .chosen").inner_text() == "am"
        marked = [word(page, number).locator(".tag.unsure").count() for number in (1, 2, 3)]
        assert marked == [1, 0, 0]
        assert "0.40" in word(page, 1).locator(".tag").get_attribute("title")


def test_other_columns_are_edited_with_their_word_in_sight(window):
    page = window()
    show(page, "long")
    word(page, 60).focus()
    page.keyboard.press("e")
    row, panel = word(page, 60).bounding_box(), page.locator("#more").bounding_box()
    assert row["y"] > 0 and row["y"] + row["height"] <= panel["y"] and panel["y"] + panel["height"] <= 800
    assert page.evaluate("document.activeElement.id") == "more-lemmas"


def test_a_correction_of_many_is_taken_back_at_once(window, path):
    page, before = window(), path.read_bytes()
    page.keyboard.press("x")
    page.fill("#pattern", "upos=X")
    page.fill("#change", "deprel=foo")
    page.keyboard.press("Enter")
    page.locator("#found", has_text="112 words in 5 sentences").wait_for()
    page.locator("#correct").click()
    page.locator("#found", has_text="foo: neither in Universal Dependencies").wait_for()
    assert path.read_bytes() == before
    page.locator("#correct").click()
    page.locator("#take-back").click()
    page.locator("#found", has_text="5 sentences was reverted").wait_for()
    assert path.read_bytes() == before
    page.locator("#correct").click()
    page.locator("#correct").click()
    page.locator("#found", has_text="are corrected").wait_for()
    page.locator("#leave").click()
    page.keyboard.press("u")
    said(page, "The correction of 5 sentences was reverted.")
    assert path.read_bytes() == before


HOSTILE = '"><img src=x onerror=window.hit=1><script>window.hit=1</script>'


@pytest.mark.parametrize("width", [1280, 400])
def test_scripts_in_any_cell_or_comment_are_text(browser, serving, tmp_path, width):
    bare = HOSTILE.replace(" ", "\u00a0")
    cells = (
        bare,
        HOSTILE,
        bare,
        bare,
        f"{bare.replace('=', '')}=x",
        "0",
        bare.replace("|", ""),
        "_",
        f"Note={HOSTILE}",
    )
    path, source, links = tmp_path / "draft.conllu", tmp_path / "source.conllu", tmp_path / "links"
    content = f"# sent_id = {HOSTILE}\n# text = {HOSTILE}\n# {HOSTILE}\n1-1\t{bare}\t_\t_\t_\t_\t_\t_\t_\t_\n"
    content = content.replace("1-1\t", "1-2\t") + "1\t" + "\t".join(cells) + "\n"
    content += f"2\t{bare}\t_\t{bare}\t_\t_\t1\tdep\t_\tArcProb=0.5\n\n"
    for one in (path, source):
        one.write_text(content)
    links.write_text("0-0\n")
    pairs = AlignedFiles(str(source), str(path), str(links))
    with (
        reviewing(serving, path, pairs=pairs, beside=str(source)) as page,
        windows(browser, page.client, first="img") as open_window,
    ):
        page = open_window()
        page.set_viewport_size({"width": width, "height": 800})
        word(page, 1).focus()
        page.keyboard.press("e")
        page.keyboard.press("Escape")
        page.keyboard.press("r")
        page.keyboard.type("<b>x</b>")
        for _ in range(2):
            page.keyboard.press("Enter")
        page.keyboard.press("c")
        said(page, "Confirm again to accept this")
        page.keyboard.press("c")
        page.locator("#progress", has_text="1 of 1").wait_for()
        page.locator("#open-report").click()
        page.locator("#report button").click()
        page.keyboard.press("x")
        page.fill("#pattern", "form~.")
        page.fill("#change", "lemma=<b>x</b>")
        page.keyboard.press("Enter")
        page.locator("#found", has_text="2 words in 1 sentences").wait_for()
        assert page.locator("img, #sentence script, #searching script, #list script, td b b").count() == 0
        assert page.evaluate("window.hit") is None


def test_a_correction_stays_when_the_rest_is_not_inferred(browser, serving, tmp_path, model_files):
    path = written(tmp_path)
    parser = load_parser(model_files / "de.model")
    with reviewing(serving, path, parser=parser) as page, windows(browser, page.client) as open_window:
        page = open_window()
        word(page, 4).locator(".second button:visible").wait_for()
        page.route("**/rest", lambda route: route.fulfill(status=503, body="no result within 60 seconds"))
        word(page, 4).locator(".word").click()
        word(page, 3).locator(".word").click()
        said(page, "No inference: no result within 60 seconds")
        assert word(page, 4).locator(".head").inner_text() == "3 bellt"
        assert page.locator("#state").inner_text() == "changed"
