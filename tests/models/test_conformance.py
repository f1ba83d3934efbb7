"""What every kind of model does alike: one suite, over the kept model of each kind.

A new kind is added by a file in ``tests/kept_models``, and by a row of :data:`TRAINED` where it learns alone.
"""

from __future__ import annotations

from dataclasses import replace
from io import StringIO

import numpy as np
import pytest

import qsproj
from qsproj.corpus.conllu import read_conllu
from qsproj.corpus.editing import misc_values
from qsproj.corpus.formats import read_alignments
from qsproj.corpus.sentence import SentencePair
from qsproj.errors import MissingTreeError, UntaggedError
from qsproj.models.storage import KINDS, kind_of, load_model
from tests.test_kept_models import CORPORA, path_of

# How a model of a kind is trained on English and German sentences, which are translations, by their links.
TRAINED = {
    "arc-parser": lambda en, de, links, seed: qsproj.train_parser(de, features="words", seed=seed),
    "labelled-parser": lambda en, de, links, seed: qsproj.train_parser(de, labels="joint", seed=seed),
    "cluster-parser": lambda en, de, links, seed: qsproj.train_parser(de, objective="hidden", seed=seed),
    "graph-parser": lambda en, de, links, seed: qsproj.train_parser(de, order=2, seed=seed),
    "tagger": lambda en, de, links, seed: qsproj.train_tagger(de, language="de", seed=seed),
    "dmv": lambda en, de, links, seed: qsproj.project(en, de, links, method="em", seed=seed),
    "qg-dmv": lambda en, de, links, seed: qsproj.project(en, de, links, method="qg", seed=seed),
    "converter": lambda en, de, links, seed: qsproj.adapt(de, de, seed=seed),
    "joint-parser": lambda en, de, links, seed: qsproj.train_biparser(
        en, de, links, source_model=load_model(path_of("arc-parser")), seed=seed
    ),
}
OTHERS = {"joint-parser", "link-chooser", "converter", "tagger"}
PARSERS = sorted(set(KINDS) - OTHERS)
# Each kind with each of its decoders.
DECODED = [
    (kind, name) for kind in PARSERS for name in ("mbr", "map") if (kind, name) != ("tagging-parser", "map")
]
# They say nothing of the probability of an arc; nor does a converter of the most probable tree.
WITHOUT_CONFIDENCE = [
    ("dmv", "mbr"),
    ("dmv", "map"),
    ("qg-dmv", "mbr"),
    ("qg-dmv", "map"),
    ("adapted-parser", "map"),
]


@pytest.fixture(scope="module")
def loaded():
    """Return each kept model, by its kind; models are not changed by what they do."""
    return {kind: load_model(path_of(kind)) for kind in KINDS}


@pytest.fixture(scope="module")
def sentences():
    """Return a dozen sentences, more than the models learned from: words, tags and relations are new."""
    return list(read_conllu(CORPORA / "de.conllu"))[:12]


@pytest.fixture(scope="module")
def pairs(sentences):
    sources, links = read_conllu(CORPORA / "en.conllu"), read_alignments(CORPORA / "en-de.pharaoh")
    return [SentencePair(*parts) for parts in zip(sources, sentences[:3], links, strict=False)]


@pytest.fixture
def treebank(sentences, tmp_path):
    """Return a function that writes some sentences, as they are or with some columns changed, to a file."""

    def write(change=lambda row: row):
        path = tmp_path / "in.conllu"
        blocks = (CORPORA / "de.conllu").read_text(encoding="utf-8").split("\n\n")[: len(sentences)]
        rows = "\n\n".join(blocks).split("\n")
        changed = [change(row.split("\t")) if row[:1].isdigit() else [row] for row in rows]
        path.write_text("\n".join("\t".join(row) for row in changed) + "\n\n", encoding="utf-8")
        return path

    return write


def predictions(kind, model, pairs):
    """Return what a model of any kind predicts for the targets of some pairs, as values to compare."""
    if kind == "link-chooser":
        return [sorted(map(tuple, model.align(pair).links.tolist())) for pair in pairs]
    if kind == "joint-parser":
        parsed = [model.parse_pair(pair.source, pair.target, pair.alignment) for pair in pairs]
        return [str(tree) for pair in parsed for tree in (pair.source, pair.target)]
    of_sentence = {"tagger": "tag", "converter": "convert_sentence"}.get(kind, "parse")
    return [str(getattr(model, of_sentence)(pair.target)) for pair in pairs]


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_saved_and_loaded_is_the_same_model(kind, loaded, pairs, tmp_path):
    once, twice = tmp_path / "once.model", tmp_path / "twice.model"
    loaded[kind].save(once)
    again = load_model(once)
    again.save(twice)
    assert once.read_bytes() == twice.read_bytes()
    assert predictions(kind, again, pairs) == predictions(kind, loaded[kind], pairs)


@pytest.mark.parametrize("kind", PARSERS)
def test_columns_of_arc_probabilities_sum_to_one(kind, loaded, sentences):
    for sentence in sentences[:4]:
        found = loaded[kind].arc_probabilities(sentence)
        assert found.shape == (len(sentence) + 1,) * 2
        assert found[:, 1:].sum(axis=0) == pytest.approx(1.0)
        assert np.all(found >= 0.0)
        assert found[0].sum() >= 1.0 - 1e-9
        assert not np.any(np.diag(found)[1:])


@pytest.mark.parametrize(("kind", "decode"), DECODED)
def test_a_tree_comes_back_with_the_probabilities_of_its_arcs(kind, decode, loaded, sentences):
    for sentence in sentences[:3]:
        parsed = loaded[kind].parse(sentence, decode=decode, confidence=True)
        assert parsed.forms == sentence.forms
        assert all(reaches_root(parsed.heads, word) for word in range(1, len(parsed) + 1))
        if (kind, decode) in WITHOUT_CONFIDENCE:
            continue
        told = [float(misc_values(parsed, "ArcProb")[word]) for word in range(len(parsed))]
        of_arcs = loaded[kind].arc_probabilities(sentence)[parsed.heads[1:], np.arange(1, len(parsed) + 1)]
        assert told == pytest.approx(of_arcs, abs=1e-4)


def reaches_root(heads, word):
    steps = 0
    while word and steps <= len(heads):
        word, steps = heads[word], steps + 1
    return word == 0


@pytest.mark.parametrize(("kind", "decode"), DECODED)
def test_blocks_are_parsed_as_single_sentences_are(kind, decode, loaded, sentences, treebank, run_cli):
    outcome = run_cli("parse", "-m", path_of(kind), treebank(), "--decode", decode)
    assert outcome.code == 0, outcome.err
    assert outcome.out == "".join(str(loaded[kind].parse(sentence, decode=decode)) for sentence in sentences)


@pytest.mark.parametrize(
    "kind", [pytest.param(kind, marks=[pytest.mark.slow] * (kind != "arc-parser")) for kind in PARSERS]
)
def test_two_processes_write_the_bytes_of_one(kind, treebank, run_cli):
    path = treebank()
    alone, together = (run_cli("parse", "-m", path_of(kind), path, "--jobs", jobs) for jobs in ("1", "2"))
    assert alone.code == together.code == 0, together.err
    assert alone.out == together.out


@pytest.mark.parametrize("kind", PARSERS)
def test_known_heads_are_kept(kind, sentences, treebank, run_cli):
    """Every third word of the sample's trees has its head and its relation."""

    def third(row):
        # A parser that tags would keep tags as well, and does not know all of them.
        upos = "_" if kind == "tagging-parser" else row[3]
        known = row[0].isdigit() and int(row[0]) % 3 == 0
        return [*row[:3], upos, *row[4:6], *(row[6:8] if known else "__"), *row[8:]]

    outcome = run_cli("parse", "-m", path_of(kind), "--fixed", treebank(third))
    assert outcome.code == 0, outcome.err
    for tree, parsed in zip(sentences, read_conllu(StringIO(outcome.out)), strict=True):
        assert parsed.heads[3::3].tolist() == tree.heads[3::3].tolist()
        assert parsed.deprels[2::3] == tree.deprels[2::3]
        assert all(reaches_root(parsed.heads, word) for word in range(1, len(parsed) + 1))


@pytest.mark.parametrize("kind", TRAINED)
def test_the_same_seed_gives_the_same_file(kind, pairs, tmp_path):
    sides = (
        [pair.source for pair in pairs],
        [pair.target for pair in pairs],
        [pair.alignment for pair in pairs],
    )
    for name in ("a", "b"):
        TRAINED[kind](*sides, seed=3).save(tmp_path / name)
    assert kind_of(load_model(tmp_path / "a")) == kind
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


@pytest.mark.parametrize("kind", [*PARSERS, "joint-parser"])
def test_a_single_sentence_without_the_tags_that_are_read_is_refused(kind, loaded, sentences):
    untagged = sentences[0].replace(upos=["_"] * len(sentences[0]), xpos=["_"] * len(sentences[0]))
    model = loaded[kind]
    if "upos" not in model.reads:
        assert model.parse(untagged).root is not None
        return
    for use in (model.parse, model.arc_probabilities):
        with pytest.raises(UntaggedError):
            use(untagged)


def test_a_converter_needs_a_tree_but_no_tags(loaded, sentences):
    model, bare = loaded["converter"], sentences[0].replace(upos=["_"] * len(sentences[0]))
    assert model.parse(bare).heads.size == model.arc_probabilities(bare).shape[0] == len(bare) + 1
    for use in (model.parse, model.arc_probabilities):
        with pytest.raises(MissingTreeError):
            use(qsproj.Sentence.from_words(["a", "b"], upos=["DET", "NOUN"]))


def test_a_joint_parser_learns_from_partial_trees_and_keeps_its_tagger(loaded, pairs):
    model, rng = loaded["joint-parser"], np.random.default_rng(1)
    parts = [replace(pair, target=pair.target.replace(heads=[-1, *pair.target.heads[2:]])) for pair in pairs]
    assert type(model.fine_tuned(parts, rng=rng)) is type(model)
    tagged = replace(model, tagger=loaded["tagger"])
    free = tagged.allowing_crossings()
    assert free.tagger is tagged.tagger and not free.target.inference.projective
