"""Model files that are damaged in ways that an archive does not notice are told in one error."""

from __future__ import annotations

import json
import os
import tracemalloc
import zipfile
from io import BytesIO

import numpy as np
import pytest

from qsproj.cli.info import lines_of, model_info
from qsproj.corpus.pairs.aligned import AlignedFiles
from qsproj.errors import DataError
from qsproj.models.arc.arc_parser import ArcParser
from qsproj.models.arc.arc_scorer import ArcScorer
from qsproj.models.dmv.dmv_options import DmvOptions, QgOptions
from qsproj.models.dmv.dmv_training import train_dmv
from qsproj.models.packing import packed_weights, unnested, unpack_weights
from qsproj.models.qg_dmv.qg_dmv import train_qg_dmv
from qsproj.models.schema import declared, labels
from qsproj.models.storage import HEADER_NAME, load_archive, load_model, opened_model, save_model
from qsproj.models.tagging.tagger_training import train_tagger
from qsproj.models.tagging.tagging_parser import TaggingOptions, TaggingParser, TaggingWeights
from qsproj.models.tree_decoder import TreeDecoder

# All arrays whose sizes hang together, by kind of model.
ARRAYS = [
    *(("tagger", name) for name in ("weights", "used", "transitions", "keys")),
    ("tagging-parser", "weights_trigram_weights"),
    *(("dmv", name) for name in ("stop", "child", "root")),
    *(("qg-dmv", name) for name in ("qg-stop", "qg-child", "qg-root")),
]


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    """One small model of each kind."""
    folder = tmp_path_factory.mktemp("models")
    pairs = list(AlignedFiles("corpora/en.conllu", "corpora/de.conllu", "corpora/en-de.pharaoh"))[:10]
    targets = [pair.target for pair in pairs]
    rng = np.random.default_rng(1)
    tagger = train_tagger(targets, rng=rng, epochs=1)
    tagger.save(folder / "tagger")
    base = ArcParser(ArcScorer.untrained("words"), None, TreeDecoder(projective=True, single_root=True))
    weights = TaggingWeights.untrained("words", n_tags=len(tagger.tags))
    TaggingParser(tagger, base, weights, TaggingOptions()).save(folder / "tagging-parser")
    train_dmv(targets, options=DmvOptions(iterations=1))[0].save(folder / "dmv")
    train_qg_dmv(pairs, options=QgOptions())[0].save(folder / "qg-dmv")
    return folder


def rewritten(old_path, new_path, change):
    """Write a model file anew; ``change`` maps the bytes of all entries, by name, to others."""
    with zipfile.ZipFile(old_path) as old:
        entries = {name: old.read(name) for name in old.namelist()}
    with zipfile.ZipFile(new_path, "w") as new:
        for name, content in change(entries).items():
            new.writestr(name, content)
    return new_path


def saved(array):
    content = BytesIO()
    np.save(content, array)
    return content.getvalue()


@pytest.mark.parametrize(("kind", "name"), ARRAYS)
@pytest.mark.parametrize(
    "reshape", [lambda array: array[:-1], lambda array: array[None]], ids=["cut", "deep"]
)
def test_arrays_of_other_shapes_are_refused(models, tmp_path, kind, name, reshape):
    """Kernels, which trust them, would read what is not theirs."""

    def change(entries):
        array = np.load(BytesIO(entries[f"{name}.npy"]))
        return entries | {f"{name}.npy": saved(reshape(array))}

    with pytest.raises(DataError, match="bad: found a damaged or foreign file"):
        load_model(rewritten(models / kind, tmp_path / "bad", change))


@pytest.mark.parametrize("missing", ["kind", "model"])
def test_a_header_that_lacks_something_is_refused(models, tmp_path, missing):
    def change(entries):
        header = json.loads(entries[HEADER_NAME])
        del header[missing]
        return entries | {HEADER_NAME: json.dumps(header)}

    with pytest.raises(DataError, match=f"bad: found a damaged or foreign file .no '{missing}'"):
        load_model(rewritten(models / "tagger", tmp_path / "bad", change))


def test_an_array_that_says_it_is_huge_asks_for_no_memory(models, tmp_path):
    """A file of some hundred bytes may not ask for terabytes."""

    def change(entries):
        shape = "'shape': (999999999999, 999), "
        header = f"{{'descr': '<f8', 'fortran_order': False, {shape}}}".ljust(117).encode() + b"\n"
        return entries | {"weights.npy": b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header}

    with pytest.raises(DataError, match="does not have its declared shape"):
        load_model(rewritten(models / "tagger", tmp_path / "bad", change))


def zeros(n_bytes):
    """Return an array of so many zeros as numpy saves it, without making it."""
    header = (
        f"{{'descr': '|u1', 'fortran_order': False, 'shape': ({n_bytes},), }}".ljust(117).encode() + b"\n"
    )
    return b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header


def with_zeros(old_path, new_path, name, n_bytes):
    """Write a model file anew, with an array of zeros that takes a thousandth of its bytes."""
    with zipfile.ZipFile(old_path) as old:
        entries = {entry: old.read(entry) for entry in old.namelist() if entry != f"{name}.npy"}
    with zipfile.ZipFile(new_path, "w") as new:
        for entry, content in entries.items():
            new.writestr(entry, content)
        packed = zipfile.ZipInfo(f"{name}.npy")
        packed.compress_type = zipfile.ZIP_DEFLATED
        with new.open(packed, "w", force_zip64=True) as content:
            content.write(zeros(n_bytes))
            for _ in range(n_bytes >> 20):
                content.write(bytes(1 << 20))
    return new_path


def memory_for(action):
    """Return how many bytes an action had at a time."""
    tracemalloc.start()
    try:
        action()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_an_array_that_no_model_asks_for_is_not_read(models, tmp_path):
    path = with_zeros(models / "dmv", tmp_path / "padded", "unknown", 200 << 20)
    assert memory_for(lambda: load_model(path)) < 20 << 20
    assert memory_for(lambda: model_info(path)) < 20 << 20


@pytest.mark.parametrize(("kind", "name"), [("tagger", "weights"), ("tagger", "keys"), ("dmv", "stop")])
def test_an_array_of_another_shape_is_not_read(models, tmp_path, kind, name):
    path = with_zeros(models / kind, tmp_path / "padded", name, 200 << 20)

    def refused():
        with pytest.raises(DataError, match=f"{name} (has shape|is uint8)"):
            load_model(path)

    assert memory_for(refused) < 20 << 20


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (b"[" + b"[]," * (5 << 20) + b"[]]", "a header of more than 1,048,576 values"),
        (b'"' + b"x" * (33 << 20) + b'"', "a header of more than 32 MB"),
    ],
)
def test_a_header_that_is_too_large_is_not_made_into_objects(models, tmp_path, more, message):
    def change(entries):
        return entries | {HEADER_NAME: b'{"more": ' + more + b"," + entries[HEADER_NAME].lstrip()[1:]}

    path = rewritten(models / "dmv", tmp_path / "bad", change)

    def refused():
        with pytest.raises(DataError, match=message):
            load_model(path)

    assert memory_for(refused) < 64 << 20


def test_a_directory_of_very_many_entries_is_not_read(tmp_path):
    with zipfile.ZipFile(tmp_path / "bad", "w") as archive:
        for number in range(40_000):
            archive.writestr(f"{number}", b"")

    def refused():
        with pytest.raises(DataError, match="40,000 entries, expected at most 1,000"):
            load_model(tmp_path / "bad")

    assert memory_for(refused) < 2 << 20


def test_devices_and_pipes_are_refused(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path / "pipe", "/dev/zero", "/dev/full", "/dev/null"):
        with pytest.raises(DataError, match="found a device, a pipe or a socket, expected a model file"):
            load_model(path)


def test_what_a_model_is_made_of_can_be_read_before_and_after_its_part(models):
    """Kinds that hold others ask for arrays by the names of these."""
    with opened_model(models / "qg-dmv") as file:
        part = unnested("qg-", file.arrays)
        assert set(part) == {name.removeprefix("qg-") for name in file.arrays if name.startswith("qg-")}
        for name in part:
            assert part[name].shape == declared(part, name)[0] == declared(file.arrays, f"qg-{name}")[0]
            assert part[name].dtype == declared(part, name)[1]


@pytest.mark.parametrize(
    ("kind", "fields", "value", "message"),
    [
        ("tagger", ["tags"], "NOUN", "tags in the header: found 'NOUN', expected a list"),
        ("tagger", ["tags"], ["", "NOUN"], "names that CoNLL-U may hold"),
        ("tagger", ["contractions"], {"zum": "zu"}, "expected an object of lists"),
        ("tagger", ["language"], 1, "language in the header: found 1, expected a string"),
        (
            "tagging-parser",
            ["base", "projective"],
            "no",
            "projective in the header: found 'no', expected true",
        ),
        ("tagging-parser", ["base", "temperature"], 0, "temperature in the header: found 0"),
        ("tagging-parser", ["base", "scorer", "template_set"], "nothing", "one of delexicalised, words"),
        ("tagging-parser", ["base", "scorer", "buckets"], 1 << 60, "buckets in the header"),
        ("tagging-parser", ["base", "scorer", "buckets"], 12345, "expected a power of two"),
        ("tagging-parser", ["options", "iterations"], 1.5, "iterations in the header: found 1.5"),
        ("tagging-parser", ["options", "colour"], 1, "unknown option 'colour'"),
        ("dmv", ["punctuation"], None, "punctuation in the header: found nothing"),
        ("qg-dmv", ["configurations", "parent-child"], 7.0, "parent-child in the header: found 7.0"),
    ],
)
def test_a_field_that_is_something_else_is_refused(models, tmp_path, kind, fields, value, message):
    def change(entries):
        header = json.loads(entries[HEADER_NAME])
        inside = header["model"]
        for field in fields[:-1]:
            inside = inside[field]
        inside[fields[-1]] = value
        return entries | {HEADER_NAME: json.dumps(header)}

    with pytest.raises(DataError, match=f"bad: found a damaged or foreign file .*{message}"):
        load_model(rewritten(models / kind, tmp_path / "bad", change))


@pytest.mark.parametrize(
    ("kind", "name", "made", "message"),
    [
        ("tagger", "keys", lambda array: array[::-1], "keys does not ascend"),
        ("tagger", "keys", lambda array: array.astype(np.int64), "keys is int64"),
        ("tagger", "weights", lambda array: array.astype(np.int32), "of kind f"),
        ("tagger", "weights", lambda array: array.astype(">f4"), "not plain numbers"),
        ("tagger", "weights", lambda array: array.astype("S3"), "not plain numbers"),
        ("tagger", "weights", lambda array: array.astype(np.longdouble), "not plain numbers"),
        ("tagger", "weights", lambda array: np.full(array.shape, 1e20), "numbers that are not"),
        ("tagging-parser", "weights_tag_link_used", lambda array: array[1:], "has shape"),
        ("tagging-parser", "weights_tag_link_used", lambda array: array.astype(np.uint32), "uint8"),
        ("tagging-parser", "weights_arc_weights", lambda _: np.ones(1, np.float32), "has shape .1,."),
        ("dmv", "stop", lambda array: array + 2.0, "numbers that are not 0 to 1"),
    ],
)
def test_an_array_of_something_else_is_refused(models, tmp_path, kind, name, made, message):
    def change(entries):
        return entries | {f"{name}.npy": saved(made(np.load(BytesIO(entries[f"{name}.npy"]))))}

    with pytest.raises(DataError, match=f"bad: found a damaged or foreign file .*{message}"):
        load_model(rewritten(models / kind, tmp_path / "bad", change))


@pytest.mark.parametrize(
    ("offset", "byte", "message"),
    [
        (8, 1, "is encrypted"),
        (10, 12, "has an unknown compression"),
        (27, 0xFF, "more than 2,048 MB"),
    ],
)
def test_entries_of_another_kind_are_refused(models, tmp_path, offset, byte, message):
    content = bytearray((models / "dmv").read_bytes())
    content[content.rfind(b"PK\x01\x02") + offset] = byte
    (tmp_path / "bad").write_bytes(content)
    with pytest.raises(DataError, match=message):
        load_model(tmp_path / "bad")


def test_a_header_that_is_nested_without_end_is_refused(models, tmp_path):
    def change(entries):
        return entries | {HEADER_NAME: b"[" * 1_000_000}

    with pytest.raises(DataError, match="bad: found a damaged or foreign file"):
        load_model(rewritten(models / "dmv", tmp_path / "bad", change))


def test_labels_are_all_that_columns_of_conllu_may_hold():
    labels(1)(["of\xa0two words", "nsubj"])
    for name in ("", "a\tb", "a\rb", "a\n"):
        with pytest.raises(ValueError, match="names that CoNLL-U may hold"):
            labels(1)([name])


WEIGHTS = np.array([[0.0, 0.0], [1.5, 0.0], [0.0, -2.0], [3.0, 4.0], [0.0, 0.0]], np.float32)


def test_weights_come_back():
    arrays = packed_weights("some_", WEIGHTS)
    assert (unpack_weights("some_", arrays, np.zeros_like(WEIGHTS)) == WEIGHTS).all()


def test_numbers_that_packing_makes_no_smaller_are_stored(tmp_path):
    rng = np.random.default_rng(1)
    arrays = {"many": rng.normal(size=1000), "none": np.zeros((0, 3)), "zeros": np.zeros(1000)}
    save_model(tmp_path / "model", "dmv", {}, arrays)
    with zipfile.ZipFile(tmp_path / "model") as archive:
        packed = {entry.filename: entry.compress_type == zipfile.ZIP_DEFLATED for entry in archive.infolist()}
    assert packed == {HEADER_NAME: False, "many.npy": False, "none.npy": False, "zeros.npy": True}
    _, _, read = load_archive(tmp_path / "model")
    for name, array in arrays.items():
        assert read[name].dtype == array.dtype
        assert read[name].flags.writeable
        assert np.array_equal(read[name], array)


def test_info_explains_shares_of_languages_but_not_an_option_of_that_name():
    shares, option = lines_of({"languages": {"de": 0.5}}), lines_of({"languages": ["en", "de"]})
    assert list(option) == ["languages: en, de"]
    assert next(shares).startswith("languages that the text may be in")
