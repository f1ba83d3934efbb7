"""What users of a notebook get wrong: each mistake is one sentence that says what to do."""

from __future__ import annotations

import numpy as np
import pytest

import qsproj
from qsproj.api.validation import check_same_number, generator_of
from qsproj.errors import UsageError
from tests.test_kept_models import path_of

ONE = qsproj.Sentence.from_words(
    ["Dogs", "bark"], upos=["NOUN", "VERB"], heads=[2, 0], deprels=["nsubj", "root"]
)


def linked(*links):
    return qsproj.Alignment(2, 2, np.array(links), np.ones(len(links), dtype=bool))


def model(kind):
    return qsproj.load_model(path_of(kind))


REFUSED = {
    "a path for sentences": (lambda: qsproj.train_parser("corpora/en.conllu"), "read files first"),
    "one sentence for several": (lambda: qsproj.train_parser(ONE), "found one Sentence as sentences"),
    "words for sentences": (lambda: qsproj.train_parser([["a", "b"]]), "as element 1 of sentences, expected"),
    "no sentence": (lambda: qsproj.train_parser([]), "found 0 sentences in sentences, expected 1 or more"),
    "None": (lambda: qsproj.train_parser(None), "found None as sentences, expected a list"),
    "no head": (
        lambda: qsproj.train_parser([qsproj.Sentence.from_words(["a"])]),
        "no usable sentence in the training data",
    ),
    "a third order": (lambda: qsproj.train_parser([ONE], order=3), "found order 3, expected 1 or 2"),
    "an order in letters": (lambda: qsproj.train_parser([ONE], order="2"), "found '2' (str) as order"),
    "an objective": (
        lambda: qsproj.train_parser([ONE], objective="loss"),
        "known: margin, likelihood, risk, perceptron, mira",
    ),
    "features": (lambda: qsproj.train_parser([ONE], features="form"), "known: "),
    "no epoch": (lambda: qsproj.train_parser([ONE], epochs=0), "found 0 (int) as epochs, expected"),
    "a negative penalty": (lambda: qsproj.train_parser([ONE], l2=-1.0), "l2 is -1.0, expected at least 0"),
    "a penalty in letters": (lambda: qsproj.train_parser([ONE], l2="1"), "found '1' (str) as l2, expected"),
    "crossings by number": (lambda: qsproj.train_parser([ONE], projective=1), "as projective, expected True"),
    "a negative seed": (lambda: qsproj.train_parser([ONE], seed=-1), "as seed, expected a whole number"),
    "no seed": (lambda: qsproj.train_parser([ONE], seed=None), "found None as seed"),
    "untagged words": (
        lambda: qsproj.train_tagger([qsproj.Sentence.from_words(["a"])]),
        "has no UPOS, expected one on every word",
    ),
    "raw text": (lambda: qsproj.train_tagger([ONE], raw="Dogs bark"), "found the string 'Dogs bark' as raw"),
    "raw lines": (
        lambda: qsproj.train_tagger([ONE], raw=["Dogs bark"]),
        "as sentence 1 of raw, expected a list",
    ),
    "a language": (lambda: qsproj.train_tagger([ONE], language="German"), "language"),
    "strings to align": (
        lambda: qsproj.align(["a b"], ["x y"]),
        "'a b' as sentence 1 of source, expected a list",
    ),
    "a text to align": (lambda: qsproj.align("a b", "x y"), "found the string 'a b' as source"),
    "other numbers": (
        lambda: qsproj.align([["a"], ["b"]], [["x"]]),
        "found element 2 in source and none in target (2 in source, 1 in target)",
    ),
    "a number as word": (lambda: qsproj.align([["a", 1]], [["x"]]), "found 1 (int) as word 2 of sentence 1"),
    "an empty word": (lambda: qsproj.align([["a", ""]], [["x"]]), "found '' as word 2"),
    "a threshold": (lambda: qsproj.align([["a"]], [["x"]], threshold=15), "threshold"),
    "a method": (
        lambda: qsproj.project([ONE], [ONE], [], method="best"),
        "known: soft, hard, hard-em, qg, em",
    ),
    "too few links": (
        lambda: qsproj.project([ONE], [ONE], []),
        "found element 1 in source and none in alignments",
    ),
    "links that are none": (
        lambda: qsproj.project([ONE], [ONE], [[(1, 1)]]),
        "as element 1 of alignments, expected objects of class Alignment",
    ),
    "one alignment": (
        lambda: qsproj.project([ONE], [ONE], qsproj.align([ONE], [ONE])[0]),
        "found one Alignment as alignments, expected a list",
    ),
    "a path for a model": (
        lambda: qsproj.train_biparser([ONE], [ONE], [], source_model="en.parser"),
        "found 'en.parser' (str) as source_model, expected a parser of order 1 or 2",
    ),
    "no tree to adapt": (
        lambda: qsproj.adapt([qsproj.Sentence.from_words(["Dogs", "bark"])], [ONE]),
        "no source sentence has a head",
    ),
    "a threshold in letters": (
        lambda: qsproj.align([["a"]], [["x"]], threshold="x"),
        "found 'x' (str) as threshold",
    ),
    "methods": (lambda: qsproj.project([ONE], [ONE], [], method=["soft"]), "unknown method ['soft']"),
    "several features": (
        lambda: qsproj.train_parser([ONE], features=["words"]),
        "unknown features ['words']",
    ),
    "dev without trees": (
        lambda: qsproj.train_parser([ONE], dev=[qsproj.Sentence.from_words(["a"])]),
        "found no head in dev",
    ),
    "a path that is none": (lambda: list(qsproj.read_conllu(None)), "found None, expected a path"),
    "a model of no path": (lambda: qsproj.load_model(ONE), "found a Sentence, expected the path of a model"),
    "words to write": (lambda: qsproj.write_conllu([["a"]], "-"), "expected a Sentence"),
    "nothing to write": (lambda: qsproj.write_conllu(None, "-"), "found None as sentences"),
    "a string to draw": (lambda: qsproj.draw("Dogs bark"), "expected a Sentence or a SentencePair"),
    "sentences to draw": (lambda: qsproj.draw([ONE]), "expected a Sentence or a SentencePair"),
    "a picture of another kind": (lambda: qsproj.draw(ONE).save("tree.jpg"), "expected .html, .svg"),
    "a tree against one of other words": (
        lambda: qsproj.draw(ONE, versus=qsproj.Sentence.from_words(["b"])),
        "of the same words",
    ),
    "one sentence to write": (lambda: qsproj.write_conllu(ONE, "-"), "put it in a list"),
    "nowhere to write": (lambda: qsproj.write_conllu([ONE], 3), "found 3 (int), expected a path or an open"),
    "a model saved nowhere": (lambda: model("tagger").save(None), "found None, expected a path"),
    "a language that is none": (lambda: qsproj.tokenize("a", language=5), "found 5 (int) as language"),
    "lines that are none": (lambda: qsproj.tokenize([1], language="de"), "found 1 (int) as line 1"),
    "no text": (lambda: qsproj.tokenize(None, language="de"), "found None as text, expected"),
    "no text to parse": (lambda: model("text-parser").parse_text(None), "found None, expected a text"),
    "no pattern": (lambda: qsproj.search([ONE], None), "found None as pattern"),
    "no style": (lambda: qsproj.convert([ONE], "prague", source=None), "expected the name of a style"),
    "a cost in letters": (
        lambda: qsproj.suggest(model("arc-parser"), [ONE], sentence_cost="x"),
        "found 'x' (str) as the cost of a sentence",
    ),
    "a tree against none": (lambda: qsproj.draw(ONE, versus=3), "found 3 (int) as versus"),
    "a tagger to complete": (
        lambda: qsproj.complete(model("tagger"), ONE),
        "found a Tagger, expected a parser",
    ),
    "no sentence to complete": (
        lambda: qsproj.complete(model("arc-parser"), None),
        "found None, expected a Sentence",
    ),
    "sizes that are none": (
        lambda: list(qsproj.read_alignments("corpora/en-de.pharaoh", sizes=[(1, "x")])),
        "as element 1 of sizes, expected the numbers",
    ),
    "an array for a name": (
        lambda: qsproj.train_parser([ONE], objective=np.zeros((2, 2))),
        "unknown objective",
    ),
    "a string of tags": (
        lambda: qsproj.project_tags([ONE], [ONE], qsproj.align([ONE], [ONE]), lexicon={"dogs": "NOUN"}),
        "found the string 'NOUN' as tags of dogs, expected a list",
    ),
    "links counted from 0": (
        lambda: qsproj.project([ONE], [ONE], [linked((0, 1))], method="hard"),
        "pair 1 (sentence 1): link 0-1 is outside 1..2 by 1..2; links are pairs of words, which count from 1",
    ),
    "links to no word": (
        lambda: qsproj.draw(qsproj.SentencePair(ONE, ONE, linked((1, 3)))),
        "pair: link 1-3 is outside 1..2 by 1..2",
    ),
    "links of a longer pair": (
        lambda: qsproj.draw(qsproj.SentencePair(ONE, ONE, qsproj.align([["a"] * 3], [["b"]])[0])),
        "pair: found an alignment of 3 by 1 words, expected at most 2 by 2",
    ),
    "no source": (lambda: qsproj.project_tags(None, [ONE], []), "found None as source, expected a list"),
    "trees as text": (
        lambda: list(qsproj.read_text("corpora/de.conllu", language="de")),
        "corpora/de.conllu:1: found CoNLL-U, expected plain text",
    ),
    "trees as a bitext": (
        lambda: list(qsproj.read_bitext("corpora/de.conllu", "corpora/de.conllu")),
        "corpora/de.conllu:1: found CoNLL-U, expected text",
    ),
    "columns": (lambda: qsproj.project_tags([ONE], [ONE], [], columns=1), "found 1 (int) as columns"),
    "a picture saved nowhere": (lambda: qsproj.draw(ONE).save(None), "found None, expected a path"),
    "labels of a number": (lambda: qsproj.BiparseOptions(labels=1), "unknown labels 1"),
    "arguments that changed places": (
        lambda: qsproj.write_conllu("out.conllu", [ONE]),
        "found 'out.conllu' (str) as sentences",
    ),
}


@pytest.mark.parametrize("mistake", REFUSED)
def test_mistakes_are_told(mistake):
    call, message = REFUSED[mistake]
    with pytest.raises(qsproj.QsprojError) as error:
        call()
    assert message in str(error.value)
    assert "\n" not in str(error.value)


MADE = {
    "a string": (("Dogs bark",), {}, "found the string 'Dogs bark' as a sentence, expected a list of words"),
    "no word": (([],), {}, "no words"),
    "None": ((None,), {}, "found None as a sentence"),
    "a tab": ((["a\tb"],), {}, "without tabs and line ends"),
    "a column as string": ((["a", "b", "c"],), {"upos": "DET"}, "found the string 'DET' as upos"),
    "a short column": ((["a", "b"],), {"deprels": ["root"]}, "found 1 cell in deprels, expected 2"),
    "a column of numbers": ((["a"],), {"upos": [1]}, "found 1 (int) as word 1 of upos"),
    "too many heads": ((["a"],), {"heads": [0, 1]}, "found 2 heads, expected 1"),
    "a head outside": ((["a"],), {"heads": [2]}, "found HEAD 2, expected 0 to 1"),
    "a cycle": ((["a", "b"],), {"heads": [2, 1]}, "found the cycle of heads 1 <- 2 <- 1, expected a tree"),
    "a fraction": ((["a"],), {"heads": [0.5]}, "found 0.5 (float) as head 1, expected a whole number"),
    "a negative head": ((["a"],), {"heads": [-2]}, "found -2 as head 1"),
    "heads as string": ((["a"],), {"heads": "0"}, "found '0' (str) as heads"),
    "a number as name": ((["a"],), {"sent_id": 7}, "found 7 (int) as sent_id"),
}


@pytest.mark.parametrize("mistake", MADE)
def test_sentences_cannot_be_made_of_anything(mistake):
    arguments, options, message = MADE[mistake]
    with pytest.raises(UsageError) as error:
        qsproj.Sentence.from_words(*arguments, **options)
    assert message in str(error.value)


def test_a_sentence_of_words_can_be_written_and_read(tmp_path):
    heads = np.array([2, 0, 2])
    made = qsproj.Sentence.from_words(
        (word for word in ("Žluťoučký", "kůň", "\N{HORSE}")),
        upos=["ADJ", "NOUN", None],
        heads=heads,
        deprels=["amod", "root", None],
        sent_id="s1",
    )
    qsproj.write_conllu([made], tmp_path / "one.conllu")
    (read,) = qsproj.read_conllu(tmp_path / "one.conllu")
    for name in ("sent_id", "forms", "upos", "deprels"):
        assert getattr(read, name) == getattr(made, name)
    assert read.heads.tolist() == made.heads.tolist() == [-1, 2, 0, 2]
    heads[:] = 1
    assert made.heads[1] == 2


@pytest.mark.parametrize("heads", [[0, None, 1], [-1, 0, -1, 1], np.array([-1, 0, -1, 1], dtype=np.int64)])
def test_heads_are_given_with_the_root_or_without(heads):
    made = qsproj.Sentence.from_words(["a", "b", "c"], heads=heads)
    assert made.heads.tolist() == [-1, 0, -1, 1]
    assert made.heads.dtype == np.int32


def test_a_sentence_without_name_has_none():
    assert qsproj.Sentence.from_words(["a"]).sent_id is None


def test_lists_of_one_length_pass_and_seeds_may_be_of_numpy():
    check_same_number(source=[1, 2], target=[3, 4])
    assert generator_of(np.int64(3)).random() == np.random.default_rng(3).random()


def test_models_take_sentences_and_say_so(parser, german):
    tagger, converter, biparser = (
        qsproj.load_model(path_of(kind)) for kind in ("tagger", "converter", "joint-parser")
    )
    calls = (
        parser.parse,
        parser.arc_probabilities,
        tagger.tag,
        converter.convert_sentence,
        biparser.parse,
        lambda given: biparser.parse_pair(given, german[0], qsproj.align([["a"]], [["b"]])[0]),
    )
    for call in calls:
        for given in (["Dogs", "bark"], "Dogs bark", None):
            with pytest.raises(UsageError, match="expected a Sentence; make one of words"):
                call(given)
    with pytest.raises(qsproj.QsprojError, match=r"^pair: found word 1 .* the alignment of two languages"):
        biparser.parse_pair(german[0], german[1], None)


def test_words_of_numpy_become_strings():
    made = qsproj.Sentence.from_words(np.array(["a", "b"]))
    assert [type(form) for form in made.forms] == [str, str]
