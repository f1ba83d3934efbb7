"""Drawn trees and pairs: what is in the picture, where it stands, and that any text can stand in it."""

import itertools
from xml.etree import ElementTree

import pytest

from qsproj.corpus.conllu import read_conllu
from qsproj.corpus.editing import with_misc
from qsproj.corpus.sentence import SentencePair, make_alignment
from qsproj.errors import SentenceError, UsageError
from qsproj.viz import layout
from qsproj.viz.drawing import svg_document, text_width
from qsproj.viz.trees import draw_pair, draw_tree, draw_versus
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
        if group.get("class") == "arc" and group.get("data-head")
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
        (tip,) = [path.get("d") for path in group.iter(f"{SVG}path") if path.get("class") == "tip"]
        across = float(tip.removeprefix("M").split()[0])
        assert min(range(4), key=lambda word: abs(centres[word] - across)) == dependent - 1


def label_middle(group):
    """Return how high an arc runs: smaller is farther up."""
    return number(group.find(f"{SVG}text"), "y")


def test_an_arc_runs_above_what_it_spans_and_the_root_above_all():
    heads = [2, 0, 5, 5, 2]
    root = picture(draw_tree(make_sentence("a b c d e", "X X X X X", heads, "p q r s t")))
    height = {arc: label_middle(group) for arc, group in arcs(root).items()}
    assert height[0, 2] < height[2, 5] < height[5, 3] < height[5, 4] == height[2, 1]


def test_arcs_that_cross_run_at_different_heights():
    drawn = arcs(picture(draw_tree(CROSSING)))
    assert set(drawn) == {(3, 1), (4, 2), (0, 3), (3, 4)}
    assert label_middle(drawn[3, 1]) != label_middle(drawn[4, 2])
    # Neither spans an arc that the other does not.
    apart = arcs(picture(draw_tree(make_sentence("a b c d e", "X X X X X", [3, 4, 0, 5, 3], "p q root r s"))))
    assert label_middle(apart[3, 1]) != label_middle(apart[4, 2])


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


def test_improbable_arcs_are_faint_and_their_labels_are_not():
    root = picture(draw_tree(with_misc(SLEEPS, "ArcProb", ["1.0000", "0.5", None, "0"])))
    opacity = {
        arc: {path.get("opacity") for path in group.iter(f"{SVG}path")} for arc, group in arcs(root).items()
    }
    assert opacity == {(2, 1): {"1.00"}, (3, 2): {"0.50"}, (0, 3): {None}, (3, 4): {"0.30"}}
    assert all(text.get("opacity") is None for text in root.iter(f"{SVG}text"))


def test_what_is_unsure_shows_its_number():
    root = picture(draw_tree(with_misc(SLEEPS, "ArcProb", ["0.9", "0.8999", None, "0.071"])))
    numbers = {arc: [one.text for one in group.iter(f"{SVG}tspan")] for arc, group in arcs(root).items()}
    assert numbers == {(2, 1): [], (3, 2): ["90%"], (0, 3): [], (3, 4): ["7%"]}
    notes = [text for text in texts(root, "note") if "90%" in text]
    assert len(notes) == 1
    assert not texts(picture(draw_tree(SLEEPS)), "note")


@pytest.mark.parametrize("value", ["high", "1.5", "-0.1", "nan"])
def test_a_confidence_that_is_no_probability_is_refused(value):
    sentence = with_misc(SLEEPS, "ArcProb", [value, None, None, None])
    with pytest.raises(UsageError, match=rf"found ArcProb={value} in .*, expected a probability"):
        draw_tree(sentence)


def test_any_text_can_be_drawn():
    odd = make_sentence('<b> & "quote" \x01', "<X> & ' X", [0, 1, 1, 1], "a<b & \" '")
    root = picture(draw_tree(odd))
    assert texts(root, "form") == ["<b>", "&", '"quote"', "\ufffd"]
    assert texts(root, "tag") == ["<X>", "&", "'", "X"]


def links_in(root):
    return [line for line in root.iter(f"{SVG}line") if line.get("data-source")]


def pair(weights=None):
    target = make_sentence("Hier schläft er", "ADV VERB PRON", [2, 0, 2], "advmod root nsubj")
    links = make_alignment(4, 3, [[2, 3], [3, 2], [4, 1]], [False, True, True], weights)
    return SentencePair(SLEEPS, target, links)


def test_a_pair_shows_both_trees_and_the_links():
    root = picture(draw_pair(pair()))
    assert texts(root, "form") == ["The", "dog", "sleeps", "here", "Hier", "schläft", "er"]
    links = {(line.get("data-source"), line.get("data-target")): line for line in links_in(root)}
    assert set(links) == {("2", "3"), ("3", "2"), ("4", "1")}
    assert links["2", "3"].get("class") == "link possible"
    assert links["3", "2"].get("class") == "link"
    forms = {text.text: text for text in root.iter(f"{SVG}text") if text.get("class") == "form"}
    link = links["4", "1"]
    assert (link.get("x1"), link.get("x2")) == (forms["here"].get("x"), forms["Hier"].get("x"))
    assert number(forms["here"], "y") < number(link, "y1") < number(link, "y2") < number(forms["Hier"], "y")
    assert link.find(f"{SVG}title").text == "here – Hier"
    assert texts(root, "note") == ["words linked with each other", "a link that is only possible"]


def test_the_arcs_of_a_pair_lie_outside_its_words():
    root = picture(draw_pair(pair()))
    words = [number(text, "y") for text in root.iter(f"{SVG}text") if text.get("class") == "form"]
    labels = [number(text, "y") for text in root.iter(f"{SVG}text") if text.get("class") == "label"]
    assert sum(y < min(words) for y in labels) == 4
    assert sum(y > max(words) for y in labels) == 3


def test_weighted_links_are_as_opaque_as_they_are_probable():
    lines = links_in(picture(draw_pair(pair([0.45, 1.0, 0.01]))))
    assert [line.get("opacity") for line in lines] == ["0.45", "1.00", "0.30"]


def test_drawings_stand_one_below_the_other():
    one, other = draw_tree(SLEEPS), draw_tree(CROSSING)
    root = picture(one, other)
    assert number(root, "width") == pytest.approx(max(one.width, other.width), abs=0.1)
    assert number(root, "height") > one.height + other.height
    assert not texts(root, "note")
    assert texts(root, "form") == ["The", "dog", "sleeps", "here", "a", "b", "c", "d"]


def test_the_same_sentence_gives_the_same_picture():
    assert draw_tree(SLEEPS) == draw_tree(SLEEPS)


def test_no_drawing_is_still_a_file():
    assert picture().get("width") == "0.0"


def test_an_arc_of_a_pair_tells_what_goes_with_it_in_the_other_language():
    root = picture(draw_pair(pair()))
    trees = [group for group in root.iter(f"{SVG}g") if "tree" in group.get("class", "").split()]
    said = [
        {
            arc: (group.find(f"{SVG}title").text, group.get("data-partner"))
            for arc, group in arcs(tree).items()
        }
        for tree in trees
    ]
    assert said[0][3, 2] == ("sleeps → dog: nsubj; translated: schläft → er: nsubj", "3")
    assert said[0][0, 3] == ("root → sleeps: root; translated: root → schläft: root", "2")
    assert said[0][2, 1] == ("dog → The: det; its dependent has no link", None)
    assert said[1][2, 1] == ("schläft → Hier: advmod; translated: sleeps → here: advmod", "4")


def test_arcs_of_a_pair_may_be_turned_around_or_have_no_partner():
    source = make_sentence("a b c", "X X X", [2, 0, 2], "p root q")
    target = make_sentence("x y z", "X X X", [0, 1, 2], "root r s")
    links = make_alignment(3, 3, [[1, 1], [2, 2], [3, 1]])
    root = picture(draw_pair(SentencePair(source, target, links)))
    said = {group.find(f"{SVG}title").text for group in arcs(root).values()}
    assert "b → a: p; translated, turned around: x → y: r" in said
    assert "root → b: root; its dependent is linked with: y" in said


LONG = make_sentence(
    " ".join(f"word{number}" for number in range(1, 41)),
    " ".join(["X"] * 40),
    [40, *range(1, 39), 0],
    " ".join(["first-of-all", *["p"] * 38, "root"]),
)


def test_long_sentences_go_on_in_further_lines():
    whole, broken = draw_tree(LONG, width=None), draw_tree(LONG, width=900)
    assert broken.width < 1000 < whole.width
    root = picture(broken)
    assert texts(root, "form") == list(LONG.forms)
    lines = {number(text, "y") for text in root.iter(f"{SVG}text") if text.get("class") == "form"}
    assert len(lines) == 3
    # One arc goes over all of the lines; it is drawn, and named, in each.
    parts = [group for group in root.iter(f"{SVG}g") if group.get("data-dependent") == "1"]
    assert len(parts) == 3
    assert all(set(texts(part, "label")) == {"first-of-all"} for part in parts)
    tips = [[path for path in part.iter(f"{SVG}path") if path.get("class") == "tip"] for part in parts]
    assert [len(one) for one in tips] == [1, 0, 0]


def long_pair(links):
    """Return two sentences of 60 words, the target's twice as wide."""
    chain = [*range(2, 61), 0]
    source = make_sentence(" ".join(f"s{i}" for i in range(60)), " ".join(["X"] * 60), chain)
    target = make_sentence(" ".join(f"longer{i}" for i in range(60)), " ".join(["X"] * 60), chain)
    return SentencePair(source, target, make_alignment(60, 60, links))


def lines_of(root, side):
    """Return the words of each line of a side, by the height at which they stand."""
    (group,) = (one for one in root.iter(f"{SVG}g") if one.get("class") == f"tree {side}")
    lines = {}
    for text in group.iter(f"{SVG}text"):
        if text.get("class") == "form":
            lines.setdefault(number(text, "y"), []).append(int(text.get("data-word")))
    return lines


@pytest.mark.parametrize("shift", [0, 7])
def test_long_pairs_go_on_in_further_lines(shift):
    pair = long_pair([[word, (word + shift - 1) % 60 + 1] for word in range(1, 61)])
    whole, broken = draw_pair(pair, width=None), draw_pair(pair, width=900)
    assert broken.width < 1000 < whole.width
    root = picture(broken)
    source, target = lines_of(root, "source"), lines_of(root, "target")
    for lines in (source, target):
        assert [word for line in lines.values() for word in line] == list(range(1, 61))
    assert len(source) == len(target) > 2
    # A line of the source, one of the target, and so on downwards.
    assert [y for both in zip(source, target, strict=True) for y in both] == sorted([*source, *target])
    ends = {(int(line.get("data-source")), int(line.get("data-target"))): line for line in links_in(root)}
    assert len(ends) == 60
    lines = list(zip(source.values(), target.values(), strict=True))
    inside = sum(i in one and j in other for one, other in lines for i, j in ends)
    assert inside >= 60 - 2 * shift
    for (i, j), line in ends.items():
        (top,) = (y for y, words in source.items() if i in words)
        (bottom,) = (y for y, words in target.items() if j in words)
        assert top < number(line, "y1") and number(line, "y2") < bottom


def test_sides_of_different_lengths_go_on_in_lines_of_their_own():
    whole = long_pair([])
    for pair in (
        SentencePair(whole.source, SLEEPS, make_alignment(60, 4, [[60, 4]])),
        SentencePair(SLEEPS, whole.target, make_alignment(4, 60, [[1, 1]])),
    ):
        root = picture(draw_pair(pair, width=500))
        for side, sentence in (("source", pair.source), ("target", pair.target)):
            found = [word for line in lines_of(root, side).values() for word in line]
            assert found == list(range(1, len(sentence) + 1))


def test_a_short_pair_stays_on_one_line():
    assert draw_pair(pair()).markup == draw_pair(pair(), width=None).markup


def test_labels_stand_within_the_picture():
    relations = " ".join(["a-long-relation:with-subtype"] * 39 + ["root"])
    sentence = make_sentence(" ".join("abcdefghij" * 4), " ".join(["X"] * 40), [*range(2, 41), 0], relations)
    alone = make_sentence("a", "X", [0], "a-long-relation:with-subtype")
    for drawing in (draw_tree(sentence, width=300), draw_tree(alone)):
        for label in picture(drawing).iter(f"{SVG}text"):
            if label.get("class") == "label":
                half = text_width(label.text, 11.0) / 2
                assert half <= number(label, "x") <= drawing.width - half


def test_a_label_on_a_long_arc_is_in_view_from_everywhere():
    drawing = draw_tree(LONG, width=None)
    labels = [
        number(text, "x")
        for text in picture(drawing).iter(f"{SVG}text")
        if text.get("class") == "label" and text.text == "first-of-all"
    ]
    assert max(b - a for a, b in itertools.pairwise([0, *sorted(labels), drawing.width])) < 1000


ARABIC = make_sentence("قرأ الطالب الكتاب", "VERB NOUN NOUN", [0, 1, 1], "root nsubj obj")


def test_scripts_that_are_read_from_right_to_left_are_drawn_so():
    drawing = draw_tree(ARABIC)
    forms = [text for text in picture(drawing).iter(f"{SVG}text") if text.get("class") == "form"]
    places = [number(text, "x") for text in forms]
    assert [text.text for text in forms] == list(ARABIC.forms)
    assert places == sorted(places, reverse=True)
    assert all(text.get("direction") == "rtl" for text in forms)
    assert all(0 < place < drawing.width for place in places)
    # A name in another script does not turn a sentence around.
    mixed = make_sentence("The word قرأ means read", "DET NOUN X VERB X")
    assert 'direction="rtl"' not in draw_tree(mixed).markup


def test_a_pair_has_a_direction_for_each_side():
    links = make_alignment(4, 3, [[2, 2], [3, 1]])
    drawing = draw_pair(SentencePair(SLEEPS, ARABIC, links))
    root = picture(drawing)
    forms = {text.text: number(text, "x") for text in root.iter(f"{SVG}text") if text.get("class") == "form"}
    assert forms["The"] < forms["dog"]
    assert forms["الطالب"] < forms["قرأ"]
    ends = {(line.get("x1"), line.get("x2")) for line in links_in(root)}
    assert ends == {
        (f"{forms['dog']:.0f}", f"{forms['الطالب']:.0f}"),
        (f"{forms['sleeps']:.0f}", f"{forms['قرأ']:.0f}"),
    }


def test_two_trees_of_the_same_words_show_where_they_differ():
    other = make_sentence("The dog sleeps here", "DET NOUN VERB ADV", [2, 3, 0, 2], "amod nsubj root advmod")
    root = picture(draw_versus(SLEEPS, other))
    kinds = {
        (group.get("class"), group.get("data-head"), group.get("data-dependent"), *texts(group, "label"))
        for group in root.iter(f"{SVG}g")
        if "arc" in group.get("class", "").split() and group.get("data-head")
    }
    assert kinds == {
        ("arc differs", "2", "1", "det"),
        ("arc", "3", "2", "nsubj"),
        ("arc", "0", "3", "root"),
        ("arc differs", "3", "4", "advmod"),
        ("arc other", "2", "1", "amod"),
        ("arc other", "2", "4", "advmod"),
    }
    words = max(number(text, "y") for text in root.iter(f"{SVG}text") if text.get("class") == "tag")
    below = [group for group in root.iter(f"{SVG}g") if group.get("class") == "arc other"]
    assert all(label_middle(group) > words for group in below if group.get("data-head"))
    assert len(texts(root, "note")) == 2


def test_trees_of_other_words_are_not_compared():
    other = make_sentence("The cat sleeps here", "DET NOUN VERB ADV", [2, 3, 0, 3])
    with pytest.raises(SentenceError, match="found 'cat' as word 2, expected 'dog'"):
        draw_versus(SLEEPS, other)


ENHANCED = (
    "1\tElle\t_\tPRON\t_\t_\t2\tnsubj\t2:nsubj|6:nsubj\t_\n2\tva\t_\tVERB\t_\t_\t0\troot\t0:root\t_\n"
    "3-4\tau\t_\t_\t_\t_\t_\t_\t_\t_\n3\tà\t_\tADP\t_\t_\t5\tcase\t5:case\t_\n4\tle\t_\tDET\t_\t_\t5\tdet\t5:det\t_\n"
    "5\tbois\t_\tNOUN\t_\t_\t2\tobl\t2:obl:à\t_\n6\tdort\t_\tVERB\t_\t_\t2\tconj\t2:conj|0:root\t_\n"
    "6.1\tx\t_\tVERB\t_\t_\t_\t_\t2:conj\t_\n7\tlà\t_\tADV\t_\t_\t2\torphan\t6.1:advmod\t_\n\n"
)


@pytest.mark.parametrize("width", [None, 150.0])
def test_multiword_tokens_and_enhanced_dependencies_are_drawn(tmp_path, width):
    (tmp_path / "x.conllu").write_text(ENHANCED)
    (sentence,) = read_conllu(tmp_path / "x.conllu")
    root = picture(draw_tree(sentence, width=width))
    assert set(texts(root, "token")) == {"au"}
    drawn = {
        (group.get("data-head"), group.get("data-dependent"), texts(group, "label")[0])
        for group in root.iter(f"{SVG}g")
        if group.get("class") == "arc enhanced" and group.get("data-head")
    }
    assert drawn == {
        ("6", "1", "nsubj"), ("2", "5", "obl:à"), ("0", "6", "root"), ("2", "7", "conj>advmod"),
    }  # fmt: skip
    assert any("enhanced dependency" in note for note in texts(root, "note"))
    # The token stands below both of its words, and above the arcs.
    forms = {text.text: text for text in root.iter(f"{SVG}text")}
    if width is None:
        assert number(forms["à"], "x") < number(forms["au"], "x") < number(forms["le"], "x")
        assert number(forms["le"], "y") < number(forms["au"], "y") < number(forms["conj>advmod"], "y")
    plain = make_sentence("a b", "X X", [0, 1], "root dep")
    assert not texts(picture(draw_tree(plain)), "token") and "enhanced" not in draw_tree(plain).markup


def test_labels_of_the_root_have_room():
    """Of two trees over the same word, and of two roots side by side."""
    long, short = (
        make_sentence("a b", "X X", [0, 0]).replace(deprels=[name] * 2) for name in ("parataxis:x", "r")
    )
    assert draw_versus(long, short).width == draw_tree(long).width > draw_tree(short).width
    centres = [float(one.get("x")) for one in drawn_texts(draw_tree(long)) if one.text == "parataxis:x"]
    assert centres[1] - centres[0] >= text_width("parataxis:x", layout.LABEL_SIZE)


def drawn_texts(drawing):
    return [one for one in ElementTree.fromstring(svg_document([drawing])).iter() if one.tag.endswith("text")]
