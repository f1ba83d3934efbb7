"""Model files that are damaged in ways that an archive does not notice are told in one error."""

from __future__ import annotations

import json
import zipfile
from io import BytesIO

import numpy as np
import pytest

from qsproj.corpus.pairs.aligned import AlignedFiles
from qsproj.errors import DataError
from qsproj.models.arc.arc_parser import ArcParser
from qsproj.models.arc.arc_scorer import ArcScorer
from qsproj.models.dmv.dmv_options import DmvOptions
from qsproj.models.dmv.dmv_training import train_dmv
from qsproj.models.qg_dmv.qg_dmv_options import QgOptions
from qsproj.models.qg_dmv.qg_dmv_training import train_qg_dmv
from qsproj.models.storage import HEADER_NAME, load_model
from qsproj.models.tagging.tagger_training import TaggerOptions, train_tagger
from qsproj.models.tagging.tagging_parser import TaggingOptions, TaggingParser
from qsproj.models.tagging.tagging_weights import TaggingWeights
from qsproj.models.tree_inference import TreeInference

# All arrays whose sizes hang together, by kind of model.
ARRAYS = [
    *(("tagger", name) for name in ("weights", "transitions", "keys")),
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
    tagger = train_tagger(targets, rng=rng, options=TaggerOptions(epochs=1))
    tagger.save(folder / "tagger")
    base = ArcParser(ArcScorer.untrained("words"), None, TreeInference(projective=True, single_root=True))
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

    with pytest.raises(DataError, match=f"bad: found a damaged or foreign file .'{missing}'"):
        load_model(rewritten(models / "tagger", tmp_path / "bad", change))
