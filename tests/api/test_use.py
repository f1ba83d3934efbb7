"""The public functions as a notebook calls them: words and sentences in, results out."""

from __future__ import annotations

from xml.etree import ElementTree

import numpy as np
import pytest

import qsproj
from qsproj.cli.main import main
from qsproj.errors import DataError
from tests.test_kept_models import path_of


def without_trees(sentences):
    return [qsproj.Sentence.from_words(s.forms, upos=s.upos) for s in sentences]


def same(first, second):
    return all(one.heads.tolist() == other.heads.tolist() for one, other in zip(first, second, strict=True))


def test_a_parser_is_trained_used_and_kept(english, parser, tmp_path):
    test = english[60:70]
    bare = without_trees(test)
    parsed = [parser.parse(sentence) for sentence in bare]
    scores = qsproj.evaluate(test, parsed)
    assert scores.uas > 60 and scores.las > 40 and scores.upos == 100
    assert scores.las_no_subtypes >= scores.las
    chances = parser.arc_probabilities(bare[0])
    assert chances.shape == (len(bare[0]) + 1,) * 2
    np.testing.assert_allclose(chances[:, 1:].sum(axis=0), 1.0)
    parser.save(tmp_path / "en.parser")
    again = qsproj.load_model(tmp_path / "en.parser")
    assert same(parsed, map(again.parse, bare))
    # A generator is as good as a list, and the seed decides.
    assert same(parsed, map(qsproj.train_parser(iter(english[:40]), features="words").parse, bare))


@pytest.mark.parametrize("kind", ["arc-parser", "labelled-parser", "cluster-parser", "graph-parser"])
def test_a_sentence_without_tags_is_refused(kind, english):
    """As the command line does: a parser that reads tags makes nothing of words that have none."""
    parser = qsproj.load_model(path_of(kind))
    words = qsproj.Sentence.from_words(english[30].forms)
    for use in (parser.parse, parser.arc_probabilities):
        with pytest.raises(qsproj.QsprojError, match=r"found a sentence without UPOS.*; tag it first"):
            use(words)
    half = qsproj.Sentence.from_words(words.forms, upos=["X", *[None] * (len(words) - 1)])
    assert (parser.parse(half).heads[1:] >= 0).all()


def test_a_parser_trained_without_tags_needs_none(english):
    words = [qsproj.Sentence.from_words(s.forms, heads=s.heads) for s in english[:10]]
    parser = qsproj.train_parser(words[:8], features="words", dev=words[8:])
    assert (parser.parse(words[9]).heads[1:] >= 0).all()


def test_dev_trees_may_lack_tags(english):
    dev = [qsproj.Sentence.from_words(s.forms, heads=s.heads) for s in english[20:25]]
    assert qsproj.train_parser(english[:5], dev=dev).parse(english[30])


def test_a_parser_of_second_order(english):
    parser = qsproj.train_parser(english[:15], order=np.int64(2), objective="likelihood", dev=english[20:25])
    assert parser.arc_probabilities(english[30])[:, 1:].sum(axis=0) == pytest.approx(1.0)


def test_a_tagger_is_trained_and_used(german, tmp_path):
    raw = [sentence.forms for sentence in german[40:60]]
    tagger = qsproj.train_tagger(iter(german[:40]), raw=raw, language="de")
    tagged = tagger.tag(qsproj.Sentence.from_words(["Die", "Katze", "schläft", "."]))
    assert tagged.upos[0] == "DET" and tagged.upos[3] == "PUNCT"
    tagger.save(tmp_path / "de.tagger")
    assert qsproj.load_model(tmp_path / "de.tagger").parse(tagged).upos == tagged.upos


def test_words_and_sentences_are_aligned_alike(english, german):
    by_sentence = qsproj.align(english, german)
    by_words = qsproj.align([s.forms for s in english], (list(s.forms) for s in german))
    mixed = qsproj.align([s.forms for s in english], german)
    for one, *others in zip(by_sentence, by_words, mixed, strict=True):
        for other in others:
            assert other.links.tolist() == one.links.tolist()
            assert other.weights.tolist() == one.weights.tolist()
    assert sum(len(a.links) for a in qsproj.align(english, german, threshold=0.1)) > sum(
        len(a.links) for a in by_sentence
    )


def test_sentences_are_aligned_with_those_of_their_id(english, german):
    turned = [german[1], german[0], *german[2:]]
    links = qsproj.align(english, turned)
    assert (links[0].n_source, links[0].n_target) == (len(english[0]), len(german[0]))


def test_an_empty_side_has_no_links():
    (links,) = qsproj.align([[]], [["x"]])
    assert (links.n_source, links.n_target, len(links.links)) == (0, 1, 0)


@pytest.mark.parametrize("method", ["soft", "hard", "hard-em", "qg", "em"])
def test_every_method_projects(method, english, german, links, tmp_path):
    bare = without_trees(german)
    parser = qsproj.project(iter(english), iter(bare), links, method=method)
    parsed = [parser.parse(sentence) for sentence in bare]
    chain = [qsproj.Sentence.from_words(s.forms, heads=range(len(s))) for s in german]
    if method != "em":
        assert qsproj.evaluate(german, parsed).uas > qsproj.evaluate(german, chain).uas + 10
    assert parser.arc_probabilities(bare[0])[:, 1:].sum(axis=0) == pytest.approx(1.0)
    parser.save(tmp_path / "model")
    assert same(parsed[:5], map(qsproj.load_model(tmp_path / "model").parse, bare[:5]))


def test_treebanks_and_annotated_trees_make_the_parser_of_the_command(english, german, links, tmp_path):
    bare, few = without_trees(german), german[80:]
    tagger = qsproj.project_tags(english, german, links, language="de")
    tagger.save(tmp_path / "tagger")
    given = {"treebank": english, "also": german[:10], "annotated": few, "tagger": tagger}
    parser = qsproj.project(english, bare, links, **given)
    for name, trees in (("bare", bare), ("few", few), ("also", german[:10])):
        qsproj.write_conllu(trees, tmp_path / name)
    files = ["--source", "corpora/en.conllu", "--alignment", "corpora/en-de.pharaoh"]
    files += ["--treebank", "corpora/en.conllu", "-o", str(tmp_path / "by-command")]
    files += ["--tagger", str(tmp_path / "tagger")]
    for option, name in (("--target", "bare"), ("--annotated", "few"), ("--also", "also")):
        files += [option, str(tmp_path / name)]
    assert main(["project", *files]) == 0
    by_command = qsproj.load_model(tmp_path / "by-command")
    assert np.array_equal(parser.scorer.weights, by_command.scorer.weights)
    alone = qsproj.project(english, bare, links, treebank=english, annotated=few)
    assert not np.array_equal(alone.scorer.weights, parser.scorer.weights)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"method": "hard", "annotated": 1}, "method 'hard' does not read annotated"),
        ({"also": 1}, "found also without treebank"),
        ({"tagger": "de.tagger"}, r"found 'de\.tagger' \(str\) as tagger, expected a Tagger"),
    ],
)
def test_treebanks_that_a_method_does_not_read_are_refused(given, message, english, german, links):
    given = {name: german[:5] if value == 1 else value for name, value in given.items()}
    with pytest.raises(qsproj.QsprojError, match=message):
        qsproj.project(english, german, links, **given)


def test_a_converter_is_trained_and_used(english, tmp_path):
    new = [
        qsproj.Sentence.from_words(s.forms, heads=[len(s)] * (len(s) - 1) + [0], sent_id=s.sent_id)
        for s in english[:20]
    ]
    converter = qsproj.adapt(english[:20], new)
    converted = converter.convert_sentence(english[30])
    assert (converted.heads[1:-1] == len(converted)).mean() > 0.8
    converter.save(tmp_path / "converter")
    assert same([converted], [qsproj.load_model(tmp_path / "converter").parse(english[30])])
    with pytest.raises(qsproj.QsprojError, match="without a head"):
        converter.convert_sentence(without_trees(english[:1])[0])


def test_two_sides_are_parsed_together(english, german, links, parser, tmp_path):
    biparser = qsproj.train_biparser(english[:20], german[:20], links[:20], source_model=parser)
    bare = without_trees([english[50], german[50]])
    pair = biparser.parse_pair(*bare, links[50])
    assert isinstance(pair, qsproj.SentencePair)
    assert (pair.target.heads[1:] >= 0).all() and (pair.source.heads[1:] >= 0).all()
    assert qsproj.draw(pair).markup.count('class="link"') == len(pair.alignment.links)
    biparser.save(tmp_path / "biparser")
    again = qsproj.load_model(tmp_path / "biparser").parse_pair(*bare, links[50])
    assert same([pair.source, pair.target], [again.source, again.target])
    with pytest.raises(qsproj.QsprojError, match="an alignment of"):
        biparser.parse_pair(bare[1], bare[0], qsproj.align([["a"] * 40], [["b"] * 40])[0])


def test_one_text_is_parsed_in_two_styles(english, parser):
    """Without alignments each word is linked to itself."""
    biparser = qsproj.train_biparser(english[:20], english[:20], None, source_model=parser)
    (bare,) = without_trees(english[50:51])
    pair = biparser.parse_pair(bare, bare, None)
    assert pair.alignment.links.tolist() == [[word, word] for word in range(1, len(bare) + 1)]
    assert (pair.target.heads[1:] >= 0).all() and (pair.source.heads[1:] >= 0).all()
    with pytest.raises(qsproj.QsprojError, match=r"^pair 2 \(sentence 2\): found word 1"):
        qsproj.train_biparser([bare, *without_trees(english[:1])], [bare, bare], None, source_model=parser)


def test_a_target_without_tags_is_tagged_through_links(english, german, links, parser):
    pairs = english[:6], german[:6], links[:6]
    biparser = qsproj.train_biparser(*pairs, source_model=parser, options=qsproj.BiparseOptions(tags="links"))
    words = qsproj.Sentence.from_words(german[50].forms)
    pair = biparser.parse_pair(english[50], words, links[50])
    assert "_" in words.upos and "_" not in pair.target.upos
    with pytest.raises(qsproj.QsprojError, match="unknown tags 'both'; known: given, links, joint"):
        qsproj.BiparseOptions(tags="both")


def test_relations_of_two_sides_are_decided_together_or_after(english, german, links, parser):
    pairs = english[:6], german[:6], links[:6]
    together = qsproj.train_biparser(*pairs, source_model=parser)
    after = qsproj.train_biparser(*pairs, source_model=parser, options=qsproj.BiparseOptions(labels="after"))
    assert together.labeller is not None and after.labeller is None
    with pytest.raises(qsproj.QsprojError, match="unknown labels 'both'; known: joint, after"):
        qsproj.BiparseOptions(labels="both")
    with pytest.raises(
        qsproj.QsprojError, match=r"found .*after.* as options, expected qsproj\.BiparseOptions"
    ):
        qsproj.train_biparser(*pairs, source_model=parser, options={"labels": "after"})


def test_a_drawing_shows_itself_and_is_kept(english, tmp_path):
    drawing = qsproj.draw(english[0])
    root = ElementTree.fromstring(drawing.svg.split("\n", 1)[1])
    assert root.tag.endswith("svg")
    page = ElementTree.fromstring(drawing._repr_html_())
    assert page.tag == "div" and english[0].forms[0] in "".join(page.itertext())
    # What it says of texts and labels holds inside of it, not for the notebook.
    style = page.find("style").text.strip().splitlines()
    assert style and all(rule.startswith(f".{page.get('class')} ") for rule in style)
    for name in ("tree.svg", "tree.html"):
        drawing.save(tmp_path / name)
        assert english[0].forms[0] in (tmp_path / name).read_text(encoding="utf-8")


def test_progress_bars_are_shown_where_asked(capfd):
    """Bars come after two seconds, which nothing here takes; the choice ends with its block."""
    from qsproj.progress import _SHOWN

    with qsproj.progress_bars():
        assert _SHOWN.get() is True
        with qsproj.progress_bars(False):
            assert _SHOWN.get() is False
        assert _SHOWN.get() is True
    assert _SHOWN.get() is None


def test_errors_of_pairing_name_no_option_of_the_command():
    english, german = (qsproj.Sentence.from_words(["a"], sent_id=name) for name in ("1", "2"))
    with pytest.raises(DataError, match=r"sent_id 1 in the source only.*; remove what is on one side only$"):
        qsproj.align([english], [german])
    with pytest.raises(DataError, match=r"no sent_id, expected one.*; give every sentence a sent_id$"):
        qsproj.align([english, qsproj.Sentence.from_words(["b"])], [english, german])
