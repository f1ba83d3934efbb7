"""Pairing: by parallel_id, else by sent_id, else by order."""

import io
import itertools

import pytest

from qsproj.corpus.alignments import read_links_in_misc
from qsproj.corpus.conllu import read_conllu, write_conllu
from qsproj.corpus.formats import read_alignments
from qsproj.corpus.pairs.aligned import AlignedFiles, pair_aligned
from qsproj.corpus.pairs.pairing import pair_files, pair_sentences
from qsproj.corpus.sentence import Sentence, make_alignment
from qsproj.errors import DataError, UsageError
from qsproj.progress import notices


def sentences(*names, key="sent_id"):
    """Make sentences whose ``key`` is as named, None without; the form is the name."""
    blocks = []
    for name in names:
        comment = "" if name is None else f"# {key} = {name}\n"
        blocks.append(f"{comment}1\t{name}\t_\t_\t_\t_\t0\troot\t_\t_\n\n")
    return list(read_conllu(io.StringIO("".join(blocks)))) if blocks else []


def forms(pairs):
    return [(source.forms[0], target.forms[0]) for source, target in pairs]


@pytest.mark.parametrize("key", ["parallel_id", "sent_id"])
def test_by_id_in_any_order_of_the_target(key):
    expected = [(name, name) for name in "abcd"]
    for order in itertools.permutations("abcd"):
        assert forms(pair_sentences(sentences(*"abcd", key=key), sentences(*order, key=key))) == expected


def test_another_order_of_targets_is_noticed_once():
    for order, lines in (("abcd", 0), ("dcba", 1), ("bacd", 1)):
        said = []
        with notices(said.append):
            list(pair_sentences(sentences(*"abcd"), sentences(*order), names=("en", "de")))
        assert len(said) == lines
        expected = "de: its sentences are in another order than those of en"
        assert all(line.startswith(expected) for line in said)


def test_a_target_without_links_in_misc_is_noticed(tmp_path):
    paths = [str(tmp_path / side) for side in ("en", "de")]
    for path in paths:
        write_conllu(sentences(*"ab"), path)
    said = []
    with notices(said.append):
        pairs = list(AlignedFiles(*paths, paths[1], "misc"))
    assert [len(pair.alignment.links) for pair in pairs] == [0, 0]
    assert said == [f"{paths[1]}: no word has links in MISC, such as Align=2,4"]
    with notices(said.append):
        list(read_links_in_misc(paths[1]))
    assert said[1:] == said[:1]


def test_by_order_when_a_side_has_no_ids():
    assert forms(pair_sentences(sentences("a", "b"), sentences(None, None))) == [("a", "None"), ("b", "None")]
    made = [Sentence.from_words(["x"], sent_id="b"), Sentence.from_words(["y"], sent_id="a")]
    assert forms(pair_sentences(sentences("a", "b"), made)) == [("a", "y"), ("b", "x")]
    # A parallel_id on one side only does not count, nor does a sent_id on the other.
    assert forms(pair_sentences(sentences("a", key="parallel_id"), sentences("z"))) == [("a", "z")]


def test_pairs_are_streamed():
    def endless():
        for number in itertools.count():
            yield Sentence.from_words(["x"], sent_id=str(number))

    pairs = list(itertools.islice(pair_sentences(endless(), endless()), 5))
    assert [source.sent_id for source, _ in pairs] == list("01234")


@pytest.mark.parametrize(
    ("source", "target", "message"),
    [
        (
            ["a", "b"],
            ["a", "c"],
            "source sentence 2: found sent_id b in the source only, expected it in the target, too",
        ),
        (["a"], ["b", "a"], "target sentence 1: found sent_id b in the target only"),
        (["a"], ["a", "b"], "target sentence 2: found sent_id b in the target only"),
        (["a", None], ["a", "b"], "source sentence 2: found no sent_id, expected one"),
        (["a", "a"], ["a", "b"], "source sentence 2: found sent_id a again"),
        (["b"], ["a", "a"], "target sentence 2: found sent_id a again"),
        (
            [None],
            [None, None],
            "target sentence 2: found sentence 2, but no more source sentences, expected",
        ),
        ([None, "x"], [None], "source sentence 2: found sent_id x, but no more target sentences, expected a"),
        ([None], [], "source sentence 1: found sentence 1, but no more target sentences"),
    ],
)
def test_the_first_that_does_not_fit_is_named(source, target, message):
    with pytest.raises(DataError, match=message):
        list(pair_sentences(sentences(*source), sentences(*target)))


def test_by_order_whatever_the_ids():
    mixed = sentences("b", "a", None), sentences("a", "b", "b")
    assert forms(pair_sentences(*mixed, pairing="order")) == [("b", "a"), ("a", "b"), ("None", "b")]
    with pytest.raises(UsageError, match="unknown pairing 'line'; known: id, order"):
        pair_sentences(*mixed, pairing="line")


@pytest.mark.parametrize(
    ("source", "target", "message"),
    [
        (["a", "b"], ["a", "c"], "S:4: found sent_id b in the source only, expected it in T, too"),
        (["a", "b"], ["c", "a", "b"], "T:1: found sent_id c in the target only"),
        (["a", "b"], ["a", "b", "c"], "T:7: found sent_id c in the target only"),
        (["a", None], ["a", "b"], "S:4: found no sent_id"),
        (
            [None],
            [None, None],
            "T:3: found sentence 2, but no more source sentences in S, expected a",
        ),
    ],
)
def test_files_are_named_with_the_line(tmp_path, monkeypatch, source, target, message):
    monkeypatch.chdir(tmp_path)
    write_conllu(sentences(*source), "S")
    write_conllu(sentences(*target), "T")
    with pytest.raises(DataError, match=message):
        list(pair_files("S", "T"))


def test_aligned_pairs_have_the_sizes_of_their_sentences():
    source, target = Sentence.from_words(list("abc")), Sentence.from_words(list("AB"))
    (pair,) = pair_aligned([source], [target], [make_alignment(1, 1, [[1, 1]])])
    assert (pair.source, pair.target) == (source, target)
    assert (pair.alignment.n_source, pair.alignment.n_target) == (3, 2)
    assert pair.alignment.links.tolist() == [[1, 1]]


@pytest.mark.parametrize(
    ("sizes", "message"),
    [
        ([(2, 3)], r"pair 1 \(sent_id 7\): found an alignment of 2 by 3 words, expected at most 3 by 2"),
        ([(4, 1)], "found an alignment of 4 by 1"),
    ],
)
def test_alignments_that_do_not_fit(sizes, message):
    source, target = Sentence.from_words(list("abc"), sent_id="7"), Sentence.from_words(list("AB"))
    alignments = [make_alignment(*size, []) for size in sizes]
    with pytest.raises(DataError, match=message):
        list(pair_aligned([source], [target], alignments))


def test_aligned_files_are_paired_in_one_pass_and_again():
    files = AlignedFiles("corpora/en.conllu", "corpora/de.conllu", "corpora/en-de.pharaoh")
    expected = pair_aligned(
        read_conllu(files.source), read_conllu(files.target), read_alignments(files.alignment)
    )
    pairs = list(files)
    assert [pair.source.forms for pair in pairs] == [pair.source.forms for pair in files]
    for pair, other in zip(pairs, expected, strict=True):
        assert (pair.source.forms, pair.target.forms) == (other.source.forms, other.target.forms)
        assert (pair.alignment.n_source, pair.alignment.n_target) == (len(pair.source), len(pair.target))
        assert pair.alignment.links.tolist() == other.alignment.links.tolist()


@pytest.mark.parametrize(
    ("source", "target", "count"),
    [
        ("lines/en-dev", "lines/sv-dev", 1118),
        ("partut/en-test", "partut/it-test", 153),
        ("pud/en", "pud/tr", 1000),
    ],
)
def test_real_corpora_pair(data_dir, source, target, count):
    source_sentences = list(read_conllu(data_dir / f"{source}.conllu.gz"))
    target_sentences = list(read_conllu(data_dir / f"{target}.conllu.gz"))
    pairs = list(pair_sentences(source_sentences, target_sentences))
    assert len(pairs) == count
    assert pairs == list(pair_sentences(source_sentences, reversed(target_sentences)))
