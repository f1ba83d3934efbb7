"""Drawing from the command line: formats, choice of sentences, bad input."""

import re
from pathlib import Path
from xml.etree import ElementTree

import pytest

ENGLISH, GERMAN, LINKS = "corpora/en.conllu", "corpora/de.conllu", "corpora/en-de.pharaoh"
SVG = "{http://www.w3.org/2000/svg}"


def forms(root):
    return [text.text for text in root.iter(f"{SVG}text") if text.get("class") == "form"]


def test_the_name_of_the_output_gives_the_format(run_cli, tmp_path):
    out = tmp_path / "tree.svg"
    assert run_cli("draw", ENGLISH, "--sentence", "sample-001", "-o", out).code == 0
    root = ElementTree.parse(out).getroot()
    assert root.tag == f"{SVG}svg"
    assert forms(root) == ["The", "dog", "sleeps", "in", "the", "garden", "."]


def test_the_standard_input_is_drawn_where_no_file_is_named(run_cli):
    text = Path(ENGLISH).read_text(encoding="utf-8")
    outcome = run_cli("draw", "--sentence", "sample-001", "--format", "svg", stdin=text)
    assert (outcome.code, outcome.err) == (0, "")
    assert forms(ElementTree.fromstring(outcome.out)) == ["The", "dog", "sleeps", "in", "the", "garden", "."]


@pytest.mark.parametrize(
    ("option", "of"),
    [(("--pair", "order"), "--target or --versus"), (("--alignment-format", "talp"), "--alignment")],
)
def test_options_of_pairs_are_refused_without_pairs(run_cli, option, of):
    outcome = run_cli("draw", ENGLISH, *option)
    assert (outcome.code, f"{option[0]} belongs to {of}; leave it out" in outcome.err) == (2, True)


def test_a_page_on_the_standard_output(run_cli):
    outcome = run_cli("draw", ENGLISH, "--sentence", "sample-002", "--sentence", "sample-001")
    assert outcome.code == 0
    assert re.findall("<h2[^>]*>(.*?)</h2>", outcome.out) == ["sample-001", "sample-002"]


def test_features_stand_beside_tags_where_asked_for(run_cli):
    one = ("draw", ENGLISH, "--sentence", "sample-001", "--target", GERMAN, "--alignment", LINKS)
    assert ">DET Def.Art</text>" not in run_cli(*one).out
    page = run_cli(*one, "--features").out
    assert ">DET Def.Art</text>" in page
    assert ">PUNCT</text>" in page


def test_pairs_are_drawn_with_their_links(run_cli):
    outcome = run_cli(
        "draw",
        ENGLISH,
        "--target",
        GERMAN,
        "--alignment",
        LINKS,
        "--sentence",
        "sample-001",
        "--format",
        "svg",
    )
    assert outcome.code == 0
    root = ElementTree.fromstring(outcome.out.encode())
    assert forms(root)[:2] == ["The", "dog"]
    assert "Hund" in forms(root)
    assert list(root.iter(f"{SVG}line"))


def test_the_picture_in_the_documentation_is_what_is_drawn(run_cli):
    """Regenerate it with these options and ``-o docs/pair.svg``."""
    options = ("--target", GERMAN, "--alignment", LINKS, "--sentence", "sample-010", "--format", "svg")
    outcome = run_cli("draw", ENGLISH, *options)
    assert outcome.out == Path("docs/pair.svg").read_text(encoding="utf-8")


def test_sentences_without_an_id_go_by_number(run_cli):
    row = "1\t{}\t_\tX\t_\t_\t0\troot\t_\t_\n\n"
    outcome = run_cli(
        "draw", "-", "--sentence", "2", "--format", "svg", stdin=row.format("a") + row.format("b")
    )
    assert forms(ElementTree.fromstring(outcome.out.encode())) == ["b"]


def test_numbers_are_of_sentences_without_such_an_id(run_cli):
    """A sent_id comes first, also that of a later sentence."""
    row = "# sent_id = {}\n1\t{}\t_\tNOUN\t_\t_\t0\troot\t_\t_\n\n"
    text = row.format("s1", "first") + row.format("s2", "second") + row.format("1", "third")
    for wanted, word in (("1", "third"), ("2", "second"), ("s1", "first")):
        drawn = run_cli("draw", "-", "--sentence", wanted, "--format", "svg", stdin=text)
        assert [one for one in ("first", "second", "third") if f">{one}<" in drawn.out] == [word]
    refused = run_cli("draw", "-", "--sentence", "4", stdin=text)
    assert (refused.code, "found no sentence '4'; check its sent_id or number" in refused.err) == (2, True)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            (ENGLISH, "--sentence", "none"),
            f"{ENGLISH}: found no sentence 'none'; check its sent_id or number",
        ),
        ((ENGLISH, "--format", "jpg"), "unknown format 'jpg'; known: html, svg, png, pdf"),
        (
            (ENGLISH, "--versus", GERMAN, "--target", GERMAN, "--alignment", LINKS),
            "--versus compares trees of one language; leave out --target and --alignment",
        ),
        (
            (ENGLISH, "--versus", GERMAN),
            f"{GERMAN}: found 'Der' as word 1 of sample-001, expected 'The'; compare trees of the same text",
        ),
        ((ENGLISH, "--target", GERMAN), "--target and --alignment go together: give both, or neither"),
        (("no-such-file",), "no-such-file: cannot be read: No such file or directory"),
    ],
)
def test_bad_input_is_one_line_and_writes_nothing(run_cli, tmp_path, arguments, message):
    out = tmp_path / "page.html"
    outcome = run_cli("draw", *arguments, "-o", out)
    assert (outcome.code, outcome.err) == (2, f"qsproj draw: {message}\n")
    assert not out.exists()


def test_sentences_are_chosen_by_their_arcs(run_cli):
    row = "1\t{}\t_\tX\t_\t_\t0\troot\t_\tArcProb={}\n2\tx\t_\tX\t_\t_\t1\t{}\t_\tArcProb=0.9\n\n"
    text = row.format("a", 0.4, "nsubj:pass") + row.format("b", 0.9, "nsubjx") + row.format("c", 0.3, "obj")

    def drawn(*arguments):
        outcome = run_cli("draw", "-", "--format", "svg", *arguments, stdin=text)
        assert outcome.code == 0
        return forms(ElementTree.fromstring(outcome.out.encode()))[::2]

    assert drawn("--relation", "nsubj") == ["a"]
    assert drawn("--below", "0.5") == ["a", "c"]
    assert drawn("--below", "0.95", "--relation", "obj") == ["c"]


def test_two_parses_are_compared(run_cli, tmp_path):
    other = tmp_path / "other.conllu"
    changed = Path(ENGLISH).read_text(encoding="utf-8").replace("\tdet\t", "\tdetx\t", 1)
    other.write_text(changed, encoding="utf-8")
    outcome = run_cli("draw", ENGLISH, "--versus", other, "--sentence", "sample-001", "--format", "svg")
    kinds = re.findall('<g class="arc (differs|other)" data-head="[0-9]+" data-dependent="1">', outcome.out)
    assert kinds == ["differs", "other"]
    page = run_cli("draw", ENGLISH, "--versus", other).out
    assert f"below, where it differs: {other}" in page


@pytest.mark.parametrize(
    ("choice", "message"),
    [
        (("--sentence", "sample-001", "--relation", "none"), "found no such arc; leave out --relation"),
        (("--relation", "none"), "found no such arc; leave out --relation"),
        (("--below", "0.5", "--relation", "det"), "found no such arc; leave out --relation or --below"),
        (
            ("--below", "0.5"),
            "found no such arc; leave out --below, or parse with --confidence, if MISC has no ArcProb",
        ),
    ],
)
@pytest.mark.parametrize("ending", ["html", "svg", "png"])
def test_nothing_to_draw_is_told(run_cli, tmp_path, choice, message, ending):
    if ending == "png":
        pytest.importorskip("typst")
    out = tmp_path / f"arcs.{ending}"
    outcome = run_cli("draw", ENGLISH, *choice, "-o", out)
    assert (outcome.code, out.exists()) == (2, False)
    assert outcome.err.startswith(f"qsproj draw: {ENGLISH}: {message}")


def test_a_bad_probability_is_told_with_its_line(run_cli, tmp_path):
    page = tmp_path / "page.html"
    rows = "# text = a b\n1\ta" + "\t_" * 4 + "\t0\troot\t_\t_\n2\tb" + "\t_" * 4 + "\t1\tx\t_\tArcProb=7\n\n"
    path = tmp_path / "trees.conllu"
    path.write_text(rows.replace("=7", "=1") + rows)
    outcome = run_cli("draw", path, "-o", page)
    assert (outcome.code, outcome.err.partition(" in ")[0]) == (2, f"qsproj draw: {path}:7: found ArcProb=7")


def _conllu(path, rows, sent_id="1"):
    lines = [
        f"{i}\t{form}\t_\t{tag}\t_\t_\t{head}\tdep\t_\t_\n" for i, (form, tag, head) in enumerate(rows, 1)
    ]
    path.write_text(f"# sent_id = {sent_id}\n{''.join(lines)}\n")
    return path


def test_tags_that_differ_are_marked(tmp_path, run_cli):
    one = _conllu(tmp_path / "one", [("can", "AUX", 2), ("run", "VERB", 0), ("x", "_", 2)])
    other = _conllu(tmp_path / "other", [("can", "NOUN", 2), ("run", "VERB", 0), ("x", "NOUN", 2)])
    outcome = run_cli("draw", one, "--versus", other, "--format", "svg")
    assert outcome.code == 0
    assert "AUX≠NOUN" in outcome.out
    assert outcome.out.count("≠") == 1


def test_trees_of_one_text_in_other_words_are_drawn_below_each_other(tmp_path, run_cli):
    one = _conllu(tmp_path / "one", [("do", "AUX", 3), ("n't", "PART", 3), ("run", "VERB", 0)])
    other = _conllu(tmp_path / "other", [("don't", "AUX", 2), ("run", "VERB", 0)])
    outcome = run_cli("draw", one, "--versus", other, "--format", "svg")
    assert outcome.code == 0
    assert outcome.out.count('class="link') == 2  # run, and the legend
    assert all(
        word in outcome.out for word in (">do<", ">don&#x27;t<" if "&#x27;" in outcome.out else ">don't<")
    )
    refused = run_cli(
        "draw", one, "--versus", _conllu(tmp_path / "third", [("else", "X", 0)]), "--format", "svg"
    )
    assert refused.code == 2
    assert "third: found 'else' as word 1 of 1, expected 'do'; compare trees of the same text" in refused.err
