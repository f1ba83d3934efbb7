"""Words whose tags are decided on the page, and the lexicon that they are written to."""

from __future__ import annotations

from pathlib import Path

import pytest

from qsproj.corpus.conllu import read_conllu, write_conllu
from qsproj.corpus.language.lexicon import SUGGESTIONS_HEADER, read_lexicon
from qsproj.corpus.pairs.aligned import AlignedFiles
from qsproj.errors import DataError, UsageError
from qsproj.serve.review.draft import Draft
from qsproj.serve.review.session import Session
from qsproj.serve.review.words import WordList, concordance_of
from tests.serve.client import until

SUGGESTED = (
    f"{SUGGESTIONS_HEADER}\nder\tDET PRON\t3\t19\t4.8\t[der] Hund\nim\tADP\t0\t8\t3.9\tschläft [im]\n"
    "Hund\tNOUN VERB\t2\t6\t3.6\tDer [Hund]\n"
)


@pytest.fixture
def files(tmp_path):
    """The paths of a draft, of suggestions, and of a lexicon that is not there yet."""
    write_conllu(list(read_conllu("corpora/de.conllu"))[:10], tmp_path / "draft.conllu")
    (tmp_path / "words.tsv").write_text(SUGGESTED)
    return tmp_path / "draft.conllu", str(tmp_path / "words.tsv"), str(tmp_path / "lexicon.tsv")


def test_decisions_are_a_lexicon(files, tmp_path):
    words = WordList(suggestions=files[1], lexicon=files[2])
    assert [one[:3] for one in words.rows()["words"]] == [
        ["der", ("DET", "PRON"), ()], ["im", ("ADP",), ()], ["Hund", ("NOUN", "VERB"), ()],
    ]  # fmt: skip
    words.decide("der", ["PRON", "DET"])
    words.decide("Hund", ["NOUN"])
    words.decide("der", ["DET"])
    assert dict(read_lexicon(files[2]).tags) == {"der": ("DET",), "Hund": ("NOUN",)}
    # Another start goes on; lines that are not of a decision stay.
    path = tmp_path / "lexicon.tsv"
    path.write_text(f"{path.read_text()}# mine\nandere\tADJ,PRON\n")
    again = WordList(suggestions=files[1], lexicon=files[2])
    assert [one[2] for one in again.rows()["words"]] == [("DET",), (), ("NOUN",)]
    again.decide("der", [])
    assert path.read_text() == "Hund\tNOUN\n# mine\nandere\tADJ,PRON\n"
    for form, tags in (
        ("der", ["X", "DET", "ADP"]),
        ("der", ["NOWN"]),
        ("fremd", ["X"]),
        ("der", ["X", "X"]),
    ):
        with pytest.raises(UsageError):
            again.decide(form, tags)
    # Spreadsheets write a mark of the encoding, and blanks that nobody sees.
    path.write_bytes("\ufeffHund\tNOUN\r\nder \tPRON\r\n".encode())
    again.decide("Hund", ["X"])
    again.decide("der", ["DET"])
    assert again.decided == {"Hund": ("X",), "der": ("DET",)}
    path.write_bytes("Hund\tNOUN\nschläft\tVERB\n".encode("latin-1"))
    with pytest.raises(DataError, match="not UTF-8"):
        WordList(suggestions=files[1], lexicon=files[2])
    # A comment stays, and is no fault.
    path.write_text("# mine\n")
    commented = WordList(suggestions=files[1], lexicon=files[2])
    commented.decide("der", ["DET"])
    commented.decide("der", [])
    assert (path.read_text(), commented.decided) == ("# mine\n", {})
    assert WordList(suggestions=files[1], lexicon=files[2]).decided == {}
    # Without a decision there is no lexicon, which would be refused if it were empty.
    alone = WordList(suggestions=files[1], lexicon=str(tmp_path / "other"))
    alone.decide("der", ["DET"])
    alone.decide("der", [])
    assert not (tmp_path / "other").exists()


@pytest.mark.parametrize("line", ["der", "der\t", "\tDET", "der\tNOWN"])
def test_what_is_no_list_of_words_is_named(files, tmp_path, line):
    (tmp_path / "words.tsv").write_text(f"{SUGGESTED}{line}\n")
    with pytest.raises(DataError, match=r"words.tsv:5: found .* expected word TAB tags"):
        WordList(suggestions=files[1], lexicon=files[2])


def test_contexts_stand_beside_their_translation(files, tmp_path):
    source = tmp_path / "en.conllu"
    write_conllu(list(read_conllu("corpora/en.conllu"))[:10], source)
    lines = Path("corpora/en-de.pharaoh").read_text().splitlines(keepends=True)
    (tmp_path / "links").write_text("".join(lines[:10]))
    pairs = AlignedFiles(str(source), str(files[0]), str(tmp_path / "links"))
    words = WordList(suggestions=files[1], lexicon=files[2])
    found = words.contexts(Session(draft=Draft(str(files[0])), pairs=pairs), "Hund")["contexts"]
    first = found[0]
    assert (first["index"], first["word"], first["tag"], first["left"]) == (0, 2, "NOUN", "Der")
    assert [first["translation"][at - 1] for at in first["linked"]] == ["dog"]
    assert all(one["right"] for one in found)


def test_words_are_decided_by_single_keys(browser, serving, files):
    from tests.serve.test_review_app import TOKEN, reviewing

    words = WordList(suggestions=files[1], lexicon=files[2])
    with reviewing(serving, files[0], words=words) as page:
        tab = browser.new_page(viewport={"width": 1280, "height": 800})
        tab.goto(f"{page.client.address}/?token={TOKEN}")
        tab.locator("#wordlist:visible").wait_for()
        tab.locator("#words tr").first.wait_for()
        tab.keyboard.press("w")
        tab.keyboard.press("o")
        tab.keyboard.press("d")
        tab.keyboard.press("Enter")
        tab.keyboard.press("Enter")
        tab.locator("#decided", has_text="2 of 3 words decided").wait_for()
        assert Path(files[2]).read_text() == "der\tPRON DET\nim\tADP\n"
        # An answer that the model does not consider is marked.
        assert tab.locator("#lexicon td.decided").all_inner_texts() == ["PRON DET", "ADP", ""]
        tab.keyboard.press("v")
        tab.locator("#decided", has_text="3 of 3").wait_for()
        assert tab.locator("#lexicon td.decided").last.inner_text() == "VERB"
        tab.keyboard.press("Backspace")
        tab.keyboard.press("t")
        marked = tab.locator("#lexicon td.decided", has_text="PART ≠")
        marked.wait_for()
        assert "a slip" in marked.get_attribute("title")
        tab.keyboard.press("Backspace")
        tab.locator("#decided", has_text="2 of 3").wait_for()
        assert tab.locator("#lexicon td.decided").last.inner_text() == ""
        tab.keyboard.press(" ")
        tab.locator("tr.contexts li").first.wait_for()
        assert tab.locator("tr.contexts li bdi b").first.inner_text() == "Hund"
        tab.locator("tr.contexts li button").first.click()
        tab.locator("#words tr[data-word='2']:focus").wait_for()
        assert tab.locator("#name").inner_text() == "sample-001"
        tab.close()


QUESTIONS = (
    "# question: possessives (my, your)\tDET PRON ADJ\t5\t25\t9.1\tmein sein der\ttreebanks: DET: de\n"
    "# question: words for be (copula)\tAUX VERB PRON\t5\t25\t2.1\tist\ttreebanks: AUX: de\n"
)


@pytest.fixture
def asking(files):
    """The paths of a draft, of suggestions with two questions, and of a lexicon that is not there yet."""
    header, *rest = SUGGESTED.splitlines(keepends=True)
    Path(files[1]).write_text("".join((header, QUESTIONS, *rest)))
    return files


def tags_in(path):
    return dict(read_lexicon(path).tags)


def test_an_answer_settles_the_words_of_a_question(asking):
    name, path = "possessives (my, your)", Path(asking[2])
    words = WordList(suggestions=asking[1], lexicon=asking[2])
    assert [(one["name"], one["answer"], one["left"]) for one in words.rows()["questions"]] == [
        (name, (), ("mein", "sein", "der")),
        ("words for be (copula)", (), ("ist",)),
    ]
    words.decide("im", ["ADP"])
    words.answer(name, ["PRON"], ["mein", "der"])
    assert tags_in(path) == {"im": ("ADP",), "mein": ("PRON",), "der": ("PRON",)}
    words.answer(name, ["DET"], ["mein", "sein", "der"])
    # A word that is decided for itself leaves the question.
    words.decide("der", ["PRON", "DET"])
    assert tags_in(path) == {
        "im": ("ADP",),
        "mein": ("DET",),
        "sein": ("DET",),
        "der": ("PRON", "DET"),
    }
    again = WordList(suggestions=asking[1], lexicon=asking[2])
    asked = again.rows()["questions"][0]
    assert (asked["answer"], asked["left"], asked["words"]) == (
        ("DET",),
        ("mein", "sein"),
        ("mein", "sein", "der"),
    )
    assert [one[2] for one in again.rows()["words"]] == [("PRON", "DET"), ("ADP",), ()]
    again.answer(name, [], ["mein"])
    assert tags_in(path) == {"im": ("ADP",), "der": ("PRON", "DET")}
    for wrong in (
        (name, ["DET", "PRON"], ["mein"]),
        (name, ["DTE"], ["mein"]),
        (name, ["DET"], ["x"]),
        (name, ["DET"], []),
        ("who", ["DET"], []),
    ):
        with pytest.raises(UsageError):
            again.answer(*wrong)


def test_lines_of_a_bitext_stand_beside_their_translation(asking, tmp_path):
    source = tmp_path / "en.conllu"
    write_conllu(list(read_conllu("corpora/en.conllu"))[:10], source)
    lines = Path("corpora/en-de.pharaoh").read_text().splitlines(keepends=True)
    (tmp_path / "links").write_text("".join(lines[:10]))
    pairs = AlignedFiles(str(source), str(asking[0]), str(tmp_path / "links"))
    found = concordance_of(pairs, ["hund", "Katze"])
    first = found["hund"][0]
    assert (first["verse"], first["left"], first["form"]) == ("sample-001", "Der", "Hund")
    assert [first["translation"][at - 1] for at in first["linked"]] == ["dog"]
    words = WordList(suggestions=asking[1], lexicon=asking[2], concordance=found)
    both = words.contexts(Session(draft=Draft(str(asking[0]))), "HUND")["contexts"]
    assert "index" in both[0]
    assert "verse" in both[-1]
    assert len(both) == 2 * len(found["hund"])
    words = WordList(suggestions=asking[1], lexicon=asking[2], concordance=concordance_of(pairs, ["der"]))
    examples = words.rows()["questions"][0]["examples"]
    assert examples[:2] == ["", ""]
    assert "[der]" in examples[2].lower()


@pytest.mark.parametrize("width", [1280, 400])
def test_questions_are_answered_by_single_keys(browser, serving, asking, width):
    from tests.serve.test_review_app import TOKEN, reviewing

    words = WordList(suggestions=asking[1], lexicon=asking[2])
    with reviewing(serving, asking[0], words=words) as page:
        tab = browser.new_page(viewport={"width": width, "height": 800})
        tab.goto(f"{page.client.address}/?token={TOKEN}")
        tab.locator("#wordlist:visible").wait_for()
        tab.locator("#words tr").first.wait_for()
        tab.keyboard.press("w")
        assert tab.locator("#lexicon tr.question").count() == 2
        tab.keyboard.press(" ")
        tab.locator("td.lines li button", has_text="sein").click()
        tab.locator("#lexicon tr[data-at='0']").focus()
        tab.keyboard.press("o")
        tab.locator("#decided", has_text="1 of 2 questions answered").wait_for()
        tab.locator("#lexicon tr[data-at='2'] .decided", has_text="PRON").wait_for()
        assert tags_in(asking[2]) == {"mein": ("PRON",), "der": ("PRON",)}
        tab.keyboard.press("ArrowDown")
        tab.keyboard.press("Enter")
        tab.locator("#decided", has_text="2 of 2 questions answered").wait_for()
        # The context decides: both tags are possible, and the lines are open.
        tab.locator("#lexicon tr[data-at='4']").focus()
        tab.keyboard.press("b")
        tab.locator("tr.contexts li bdi b", has_text="Hund").first.wait_for()
        tab.locator("#decided", has_text="2 of 3 words decided").wait_for()
        assert tags_in(asking[2])["Hund"] == ("NOUN", "VERB")
        tab.keyboard.press("ArrowDown")
        tab.keyboard.press("v")
        tab.locator("tr.contexts li.tagged button", has_text="VERB").wait_for()
        assert "\tHund\tHund\tVERB\t" in Path(asking[0]).read_text()
        tab.keyboard.press("ArrowUp")
        assert tab.evaluate("document.activeElement.dataset.at") == "4"
        # The sentence behind has the tag, too.
        tab.locator("#words tr[data-word='2'] .tag", has_text="VERB").wait_for(state="attached")
        # The two tags that were given stay.
        tab.keyboard.press("Backspace")
        for key in "pab":
            tab.keyboard.press(key)
        until(lambda: {*tags_in(asking[2]).get("Hund", ())} == {"PROPN", "ADJ"})
        assert tab.evaluate("document.documentElement.scrollWidth <= innerWidth")
        tab.close()


# The list of words arrives a second late.
SLOW_LIST = """() => {
    const fetched = window.fetch;
    window.fetch = async (path, options) => {
        const reply = await fetched(path, options);
        if (String(path).endsWith("/words") && (options?.method ?? "GET") === "GET")
            await new Promise((resolve) => setTimeout(resolve, 1000));
        return reply;
    };
}"""


def test_keys_count_while_an_answer_is_being_saved(browser, serving, asking):
    from tests.serve.test_review_app import TOKEN, reviewing

    words = WordList(suggestions=asking[1], lexicon=asking[2])
    with reviewing(serving, asking[0], words=words) as page:
        tab = browser.new_page()
        tab.goto(f"{page.client.address}/?token={TOKEN}")
        tab.locator("#words tr").first.wait_for()
        tab.evaluate(SLOW_LIST)
        tab.keyboard.press("w")
        tab.locator("#lexicon tr[data-at='0']").focus()
        tab.keyboard.press("o")
        tab.locator("#lexicon tr[data-at='4']").focus()
        tab.keyboard.press("b")
        tab.locator("tr.contexts li bdi b", has_text="Hund").first.wait_for()
        tab.locator("#lexicon tr[data-at='2'] .decided", has_text="PRON").wait_for()
        tab.locator("#decided", has_text="2 of 3 words decided").wait_for()
        assert tab.locator("tr.contexts li bdi b", has_text="Hund").count()
        assert tab.locator("#lexicon tr[data-at='4'] .decided").text_content() == "NOUN VERB"
        assert tab.evaluate("document.activeElement.dataset.at") == "4"
        tab.close()
    assert tags_in(asking[2]) == dict.fromkeys(["mein", "sein", "der"], ("PRON",)) | {
        "Hund": ("NOUN", "VERB")
    }
