"""The hand-written sample is valid Universal Dependencies, lines up, and is what its manifest says."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from udtools import Validator

from qsproj.corpus.conllu import read_conllu
from qsproj.corpus.editing import comment_value
from qsproj.corpus.formats import read_alignments
from qsproj.corpus.sentence import Alignment, Sentence, SentencePair

FOLDER = Path(__file__).parents[2] / "corpora"
LANGUAGES = ("en", "de", "es")
PAIRS = ("en-de", "en-es", "de-es")


@pytest.fixture(scope="module")
def treebanks() -> dict[str, list[Sentence]]:
    return {language: list(read_conllu(FOLDER / f"{language}.conllu")) for language in LANGUAGES}


@pytest.fixture(scope="module")
def bitexts(treebanks) -> dict[str, list[SentencePair]]:
    return {name: read_pairs(name, treebanks) for name in PAIRS}


@pytest.fixture(scope="module")
def manifest() -> str:
    return (FOLDER / "README.md").read_text(encoding="utf-8")


def read_pairs(name: str, treebanks: dict[str, list[Sentence]]) -> list[SentencePair]:
    """Join two treebanks by order; reading fails on a missing line and on a link past its sentences."""
    source, target = (treebanks[language] for language in name.split("-"))
    sizes = [(len(words), len(translation)) for words, translation in zip(source, target, strict=True)]
    alignments = read_alignments(FOLDER / f"{name}.pharaoh", sizes=sizes)
    return [SentencePair(*triple) for triple in zip(source, target, alignments, strict=True)]


def links_of(alignment: Alignment) -> set[tuple[int, int]]:
    return {(int(i), int(j)) for i, j in alignment.links}


def links_by_word(alignment: Alignment, side: int) -> dict[int, int]:
    """Return how many links each linked word of the source (0) or target (1) has."""
    words = [link[side] for link in links_of(alignment)]
    return {word: words.count(word) for word in words}


def has_crossing_arcs(sentence: Sentence) -> bool:
    """Tell whether two arcs between words cross; the arc from the root is left out."""
    arcs = [
        (min(int(head), word), max(int(head), word))
        for word, head in enumerate(sentence.heads[1:], start=1)
        if head > 0
    ]
    return any(a < c < b < d for a, b in arcs for c, d in arcs)


def listed_sentences(manifest: str, row: str) -> list[str]:
    """Return the ``sent_id`` values in the row of the manifest that starts with ``row``."""
    (line,) = [line for line in manifest.splitlines() if line.startswith(f"| {row}")]
    return [f"sample-{number}" for number in line.split("|")[2].replace(" ", "").split(",")]


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_validator_of_universal_dependencies_finds_nothing(language):
    state = Validator(lang=language, level=5, output=None).validate_files(
        [str(FOLDER / f"{language}.conllu")]
    )
    assert str(state).strip() == "*** PASSED ***"


def test_the_three_languages_hold_the_same_sentences(treebanks):
    numbers = [f"{number:03d}" for number in range(1, len(treebanks["en"]) + 1)]
    assert len(numbers) >= 60
    for sentences in treebanks.values():
        assert [sentence.sent_id for sentence in sentences] == [f"sample-{number}" for number in numbers]
        parallel = [comment_value(sentence, "parallel_id") for sentence in sentences]
        assert parallel == [f"sample/{number}" for number in numbers]


def test_the_english_text_is_quoted_in_the_other_languages(treebanks):
    texts = [comment_value(sentence, "text") for sentence in treebanks["en"]]
    for language in ("de", "es"):
        assert [comment_value(sentence, "text_en") for sentence in treebanks[language]] == texts


def test_german_and_spanish_are_linked_where_english_links_them(bitexts):
    for german, spanish, direct in zip(*(bitexts[name] for name in PAIRS), strict=True):
        composed = {
            (j, k)
            for i, j in links_of(german.alignment)
            for other, k in links_of(spanish.alignment)
            if i == other
        }
        assert links_of(direct.alignment) == composed, direct.source.sent_id


@pytest.mark.parametrize("name", PAIRS)
def test_the_mark_that_ends_a_sentence_is_linked(name, bitexts):
    for pair in bitexts[name]:
        assert pair.source.forms[-1] == pair.target.forms[-1]
        assert (len(pair.source), len(pair.target)) in links_of(pair.alignment), pair.source.sent_id


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_manifest_counts_the_treebank(language, treebanks, manifest):
    sentences = treebanks[language]
    lengths = [len(sentence) for sentence in sentences]
    multiword = sum(len(sentence.multiword_tokens) for sentence in sentences)
    crossing = sum(map(has_crossing_arcs, sentences))
    row = f"| `{language}.conllu` | {len(sentences)} | {sum(lengths)} | {multiword} | {crossing} |"
    assert f"{row} {min(lengths)}-{max(lengths)} |" in manifest


@pytest.mark.parametrize("name", PAIRS)
def test_the_manifest_counts_the_links(name, bitexts, manifest):
    alignments = [pair.alignment for pair in bitexts[name]]
    sure = sum(int(alignment.sure.sum()) for alignment in alignments)
    possible = sum(len(alignment.links) for alignment in alignments) - sure
    by_word = [(links_by_word(alignment, 0), links_by_word(alignment, 1)) for alignment in alignments]
    lone_sources = sum(
        alignment.n_source - len(linked) for alignment, (linked, _) in zip(alignments, by_word, strict=True)
    )
    lone_targets = sum(
        alignment.n_target - len(linked) for alignment, (_, linked) in zip(alignments, by_word, strict=True)
    )
    shared = sum(max([*source.values(), *target.values()]) > 1 for source, target in by_word)
    counts = [len(alignments), sure, possible, lone_sources, lone_targets, shared]
    assert min(counts) > 0
    assert f"| `{name}.pharaoh` | {' | '.join(map(str, counts))} |" in manifest


@pytest.mark.parametrize(
    ("language", "row", "least"),
    [
        ("en", "Non-projective tree, English", 7),
        ("de", "Non-projective tree, German", 7),
        ("es", "Non-projective tree, Spanish", 4),
    ],
)
def test_the_manifest_lists_the_trees_with_crossing_arcs(language, row, least, treebanks, manifest):
    crossing = [sentence.sent_id for sentence in treebanks[language] if has_crossing_arcs(sentence)]
    assert len(crossing) >= least
    assert listed_sentences(manifest, row) == crossing


@pytest.mark.parametrize(
    ("row", "language", "deprel"),
    [
        ("German separable verb", "de", "compound:prt"),
        ("Coordination", "en", "conj"),
        ("Relative clause", "en", "acl:relcl"),
        ("Many to one", "en", "compound"),
        ("Name of two words", "en", "flat"),
        ("Spanish clitic that doubles", "es", "expl"),
    ],
)
def test_the_manifest_lists_a_construction_where_the_trees_have_it(
    row, language, deprel, treebanks, manifest
):
    having = [sentence.sent_id for sentence in treebanks[language] if deprel in sentence.deprels]
    assert listed_sentences(manifest, row) == having


def test_the_manifest_names_only_sentences_that_exist(treebanks, manifest):
    known = {sentence.sent_id for sentence in treebanks["en"]}
    _, _, table = manifest.partition("| divergence or construction | sentences |")
    rows = [line.split("|")[1].strip() for line in table.splitlines() if re.match(r"\| [^-]", line)]
    assert len(rows) >= 20
    for row in rows:
        assert set(listed_sentences(manifest, row)) <= known, row
