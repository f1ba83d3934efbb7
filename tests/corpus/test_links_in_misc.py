"""Links within CoNLL-U: what is written is read again, and is what annotation tools take."""

from dataclasses import replace

import numpy as np
import pytest

from qsproj.corpus.alignments import links_in_misc, with_links_in_misc
from qsproj.corpus.conllu import read_conllu, write_conllu
from qsproj.corpus.editing import misc_values, with_misc
from qsproj.corpus.formats import read_alignments
from qsproj.corpus.pairs.aligned import AlignedFiles
from qsproj.corpus.sentence import make_alignment
from qsproj.errors import DataError
from tests.sentences import make_sentence

ENGLISH, GERMAN, LINKS = "corpora/en.conllu", "corpora/de.conllu", "corpora/en-de.pharaoh"
TARGET = make_sentence("er schläft hier", "PRON VERB ADV", [2, 0, 2], "nsubj root advmod")


def same(one, other):
    assert (one.n_source, one.n_target) == (other.n_source, other.n_target)
    assert one.links.tolist() == other.links.tolist()
    assert one.sure.tolist() == other.sure.tolist()
    assert (one.weights is None) == (other.weights is None)
    assert one.weights is None or np.allclose(one.weights, other.weights, atol=1e-6)


def test_links_are_written_by_word():
    links = make_alignment(4, 3, [[4, 1], [2, 1], [1, 3]], [False, True, True], [0.25, 1.0, 0.123456789])
    linked = with_links_in_misc(with_misc(TARGET, "Align", ["9", "9", None]), links)
    assert misc_values(linked, "Align") == ("2:1,4?:0.25", None, "1:0.123457")
    same(links_in_misc(linked, 4, name=""), links)
    bare = replace(links, weights=None)
    assert misc_values(with_links_in_misc(linked, bare), "Align") == ("2,4?", None, "1")


def test_random_links_come_back():
    rng = np.random.default_rng(3)
    for _ in range(50):
        table = rng.random((6, 3)) < 0.4
        links = np.argwhere(table) + 1
        weights = rng.random(len(links)) if len(links) and rng.random() < 0.5 else None
        alignment = make_alignment(6, 3, links, rng.random(len(links)) < 0.7, weights)
        same(links_in_misc(with_links_in_misc(TARGET, alignment), 6, name=""), alignment)


def linked_sample(folder):
    """Write the German sample with its links in MISC; return the path and the sentences."""
    pairs = list(AlignedFiles(ENGLISH, GERMAN, LINKS))
    path = folder / "de.linked.conllu"
    write_conllu([with_links_in_misc(pair.target, pair.alignment) for pair in pairs], path)
    return path, pairs


def test_a_file_of_links_is_read_like_any_other(tmp_path):
    path, pairs = linked_sample(tmp_path)
    sizes = [(len(pair.source), len(pair.target)) for pair in pairs]
    for read in (
        [pair.alignment for pair in AlignedFiles(ENGLISH, str(path), str(path), "misc")],
        [pair.alignment for pair in AlignedFiles(ENGLISH, GERMAN, str(path), "misc")],
        list(read_alignments(path, "misc", sizes)),
    ):
        for found, pair in zip(read, pairs, strict=True):
            same(found, pair.alignment)


def test_links_go_with_their_sentence_whatever_the_order(tmp_path):
    path, pairs = linked_sample(tmp_path)
    write_conllu(list(read_conllu(path))[::-1], path)
    for found, pair in zip(AlignedFiles(ENGLISH, str(path), str(path), "misc"), pairs, strict=True):
        same(found.alignment, pair.alignment)


@pytest.mark.parametrize(
    ("sizes", "message"),
    [
        ([(7, 3)], "de.linked.conllu:1: found a sentence of [0-9]+ words, expected one of 3"),
        ([], "found a sentence of"),
        (None, "found the end of the file, expected as many sentences as there are pairs"),
    ],
)
def test_files_of_other_sentences_are_refused(tmp_path, sizes, message):
    path, pairs = linked_sample(tmp_path)
    given = [(len(pair.source), len(pair.target)) for pair in pairs] + [(1, 1)] if sizes is None else sizes
    with pytest.raises(DataError, match=message):
        list(read_alignments(path, "misc", given))


def test_annotation_tools_take_it(tmp_path):
    """What is valid at level 2 of Universal Dependencies is what they ask for."""
    udtools = pytest.importorskip("udtools")
    path, _ = linked_sample(tmp_path)
    state = udtools.Validator(lang="ud", level=2).validate_files([str(path)])
    assert state.passed(), [str(incident) for incident in list(state.error_tracker.values())[:1]]
