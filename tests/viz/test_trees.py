"""Drawn trees and pairs: what is in the picture, where it stands, and that any text can stand in it."""

import itertools
from xml.etree import ElementTree

import pytest

from qsproj.corpus.editing import with_misc
from qsproj.corpus.sentence import SentencePair, make_alignment
from qsproj.errors import UsageError
from qsproj.viz.markup import html_document, svg_document, text_width
from qsproj.viz.trees import draw_pair, draw_tree
from tests.sentences import make_sentence

SVG = "{http://www.w3.org/2000/svg}"
SLEEPS = make_sentence("The dog sleeps here", "DET NOUN VERB ADV", [2, 3, 0, 3], "det nsubj root advmod")
CROSSING = make_sentence("a b c d", "X X X X", [3, 4, 0, 3], "p q root s")


def picture(*drawings):
    """Parse the SVG file of the drawings; a string that is not well formed fails here."""
    return ElementTree.fromstring(svg_document(drawings).encode())


def arcs(root):
    return {
        (int(group.get("data-head")), int(group.get("data-dependent"))): group
        for group in root.iter(f"{SVG}g")
        if group.get("class") == "arc"
    }


def texts(element, role):
    return [text.text for text in element.iter(f"{SVG}text") if text.get("class") == role]


def number(element, name):
    return float(element.get(name))


def test_words_tags_arcs_and_relations_are_drawn():
    root = picture(draw_tree(SLEEPS))
    assert texts(root, "form") == ["The", "dog", "sleeps", "here"]
    assert texts(root, "tag") == ["DET", "NOUN", "VERB", "ADV"]
    drawn = {arc: texts(group, "label") for arc, group in arcs(root).items()}
    assert drawn == {(2, 1): ["det"], (3, 2): ["nsubj"], (0, 3): ["root"], (3, 4): ["advmod"]}
    titles = {group.find(f"{SVG}title").text for group in arcs(root).values()}
    assert "sleeps → dog: nsubj" in titles
    assert "root → sleeps: root" in titles


def test_arrows_point_at_dependents():
    root = picture(draw_tree(SLEEPS))
    centres = [number(text, "x") for text in root.iter(f"{SVG}text") if text.get("class") == "form"]
    for (_, dependent), group in arcs(root).items():
        tip = float(group.find(f"{SVG}polygon").get("points").split(",")[0])
        assert min(range(4), key=lambda word: abs(centres[word] - tip)) == dependent - 1


def label_middle(group):
    """Return how high an arc runs: smaller is farther up."""
    return number(group.find(f"{SVG}rect"), "y")


def test_an_arc_runs_above_what_it_spans_and_the_root_above_all():
    heads = [2, 0, 5, 5, 2]
    root = picture(draw_tree(make_sentence("a b c d e", "X X X X X", heads, "p q r s t")))
    height = {arc: label_middle(group) for arc, group in arcs(root).items()}
    assert height[0, 2] < height[2, 5] < height[5, 3] < height[5, 4] == height[2, 1]


def test_arcs_that_cross_are_both_drawn():
    assert set(arcs(picture(draw_tree(CROSSING)))) == {(3, 1), (4, 2), (0, 3), (3, 4)}


def test_labels_have_room_between_neighbours():
    for relation in ("p", "a-very-long-relation:with-a-subtype"):
        root = picture(draw_tree(make_sentence("a b", "X X", [2, 0], f"{relation} root")))
        first, second = (number(text, "x") for text in root.iter(f"{SVG}text") if text.get("class") == "form")
        assert second - first > text_width(relation, 11.0)


def test_words_do_not_overlap():
    words = "incomprehensibilities of internationalisation 本語本語 e\u0301"
    sentence = make_sentence(words, "NOUN ADP NOUN NOUN X")
    placed = [text for text in picture(draw_tree(sentence)).iter(f"{SVG}text") if text.get("class") == "form"]
    for left, right in itertools.pairwise(placed):
        room = number(right, "x") - number(left, "x")
        assert room > (text_width(left.text, 15.0) + text_width(right.text, 15.0)) / 2


def test_everything_lies_within_the_picture():
    drawing = draw_tree(CROSSING)
    root = picture(drawing)
    assert (number(root, "width"), number(root, "height")) == pytest.approx(
        (drawing.width, drawing.height), abs=0.1
    )
    for text in root.iter(f"{SVG}text"):
        assert 0 < number(text, "x") < drawing.width
        assert 0 < number(text, "y") < drawing.height


def test_a_word_without_a_head_gets_no_arc():
    assert set(arcs(picture(draw_tree(make_sentence("a b c", "X X X", [2, -1, 2]))))) == {(2, 1), (2, 3)}
    assert not arcs(picture(draw_tree(make_sentence("a", "X"))))


def test_probable_arcs_are_opaque():
    sentence = with_misc(SLEEPS, "ArcProb", ["1.0000", "0.5", None, "0"])
    opacity = {arc: group.get("opacity") for arc, group in arcs(picture(draw_tree(sentence))).items()}
    assert opacity == {(2, 1): "1.00", (3, 2): "0.50", (0, 3): None, (3, 4): "0.30"}


@pytest.mark.parametrize("value", ["high", "1.5", "-0.1", "nan"])
def test_a_confidence_that_is_no_probability_is_refused(value):
    sentence = with_misc(SLEEPS, "ArcProb", [value, None, None, None])
    with pytest.raises(UsageError, match=rf"found ArcProb={value}, expected a probability"):
        draw_tree(sentence)


def test_any_text_can_be_drawn():
    odd = make_sentence('<b> & "quote" \x01', "<X> & ' X", [0, 1, 1, 1], "a<b & \" '")
    root = picture(draw_tree(odd))
    assert texts(root, "form") == ["<b>", "&", '"quote"', "\ufffd"]
    assert texts(root, "tag") == ["<X>", "&", "'", "X"]


def pair(weights=None):
    target = make_sentence("Hier schläft er", "ADV VERB PRON", [2, 0, 2], "advmod root nsubj")
    links = make_alignment(4, 3, [[2, 3], [3, 2], [4, 1]], [False, True, True], weights)
    return SentencePair(SLEEPS, target, links)


def test_a_pair_shows_both_trees_and_the_links():
    root = picture(draw_pair(pair()))
    assert texts(root, "form") == ["The", "dog", "sleeps", "here", "Hier", "schläft", "er"]
    links = {(line.get("data-source"), line.get("data-target")): line for line in root.iter(f"{SVG}line")}
    assert set(links) == {("2", "3"), ("3", "2"), ("4", "1")}
    assert links["2", "3"].get("class") == "link possible"
    assert links["3", "2"].get("class") == "link"
    forms = {text.text: text for text in root.iter(f"{SVG}text") if text.get("class") == "form"}
    link = links["4", "1"]
    assert (link.get("x1"), link.get("x2")) == (forms["here"].get("x"), forms["Hier"].get("x"))
    assert number(forms["here"], "y") < number(link, "y1") < number(link, "y2") < number(forms["Hier"], "y")


def test_the_arcs_of_a_pair_lie_outside_its_words():
    root = picture(draw_pair(pair()))
    words = [number(text, "y") for text in root.iter(f"{SVG}text") if text.get("class") == "form"]
    labels = [number(text, "y") for text in root.iter(f"{SVG}text") if text.get("class") == "label"]
    assert sum(y < min(words) for y in labels) == 4
    assert sum(y > max(words) for y in labels) == 3


def test_weighted_links_are_as_opaque_as_they_are_probable():
    lines = picture(draw_pair(pair([0.45, 1.0, 0.01]))).iter(f"{SVG}line")
    assert [line.get("opacity") for line in lines] == ["0.45", "1.00", "0.30"]


def test_drawings_stand_one_below_the_other():
    one, other = draw_tree(SLEEPS), draw_tree(CROSSING)
    root = picture(one, other)
    assert number(root, "width") == pytest.approx(max(one.width, other.width), abs=0.1)
    assert number(root, "height") > one.height + other.height
    assert texts(root, "form") == ["The", "dog", "sleeps", "here", "a", "b", "c", "d"]


def test_a_page_is_well_formed_and_holds_headings_and_drawings():
    page = "".join(html_document("a < b", [("one & only", draw_tree(SLEEPS)), ("two", draw_tree(CROSSING))]))
    assert page.startswith("<!DOCTYPE html>\n")
    root = ElementTree.fromstring(page.partition("\n")[2])
    assert root.find("head/title").text == "a < b"
    assert [heading.text for heading in root.iter("h2")] == ["one & only", "two"]
    assert len(list(root.iter(f"{SVG}svg"))) == 2


def test_the_same_sentence_gives_the_same_picture():
    assert draw_tree(SLEEPS) == draw_tree(SLEEPS)


def test_no_drawing_is_still_a_file():
    assert picture().get("width") == "0.0"
