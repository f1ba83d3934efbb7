"""A joint factor of a stranger, added by the rows that docs/architecture.md names, and nothing else.

In a process of its own: names are rows of tables, which modules read when they are first imported.
"""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

from qsproj.corpus.pairs.aligned import AlignedFiles
from qsproj.models.arc.arc_training import train_arc_parser
from qsproj.models.arc.training_options import TrainingOptions
from qsproj.models.joint.joint_options import BiparseOptions, JointTrainingOptions
from qsproj.pipelines.bilingual.biparse import train_joint_parser

# Two source words without an arc between them, where there is one between the target words.
ROWS = """
import sys
import numpy as np
import qsproj.features.joint_templates as templates
templates.FAMILIES += ("UNRELATED",)
from qsproj.models.joint.joint_structure import ARC, FACTORS, SAME_WORD, NodeRelation
UNRELATED = NodeRelation(
    lambda side, words: (words[:, None] != words) & ~ARC.possible(side, words),
    SAME_WORD.ask,
)
FACTORS["UNRELATED"] = UNRELATED, ARC

from qsproj.corpus.pairs.aligned import AlignedFiles
from qsproj.models.arc.training_options import TrainingOptions
from qsproj.models.joint.joint_options import JointOptions, JointTrainingOptions
from qsproj.models.storage import load_model
from qsproj.pipelines.bilingual.biparse import train_joint_parser
from qsproj.models.joint.joint_options import BiparseOptions

def told(parser, pair):
    parsed = parser.parse_pair(pair.source, pair.target, pair.alignment)
    assert not parsed.alone
    return f"{parsed.target.heads.tolist()} {parsed.target.deprels} {parsed.alignment.weights.tolist()}"

old, new = sys.argv[1:]
pairs = list(AlignedFiles("corpora/en.conllu", "corpora/de.conllu", "corpora/en-de.pharaoh"))
before = load_model(old)
print(told(before, pairs[20]))
options = BiparseOptions(
    joint=JointOptions(), training=JointTrainingOptions(epochs=2), target_training=TrainingOptions(epochs=1)
)
assert "UNRELATED" in options.joint.families
parser, _ = train_joint_parser(pairs[:8], before.source, rng=np.random.default_rng(1), options=options)
parser.save(new)
again = load_model(new)
assert again.options.families == options.joint.families
assert told(again, pairs[20]) == told(parser, pairs[20])
prepared = parser.prepare(pairs[20])
own = prepared.structure.families == templates.FAMILIES.index("UNRELATED")
fired, scored = parser.infer(prepared).factors[own], parser.weights.scores(prepared).factors[own]
assert own.any() and fired.max() > 0.0 and np.abs(scored).max() > 0.1
"""


@pytest.fixture(scope="module")
def pairs():
    return list(AlignedFiles("corpora/en.conllu", "corpora/de.conllu", "corpora/en-de.pharaoh"))


def test_a_factor_family_is_a_row_and_a_name_and_models_of_before_are_read_as_before(pairs, tmp_path):
    few = TrainingOptions(epochs=1)
    sources = [pair.source for pair in pairs[:8]]
    source, _ = train_arc_parser(sources, rng=np.random.default_rng(1), options=few)
    options = BiparseOptions(training=JointTrainingOptions(epochs=2), target_training=few)
    parser, _ = train_joint_parser(pairs[:8], source, rng=np.random.default_rng(1), options=options)
    assert parser.labeller is not None
    parser.save(tmp_path / "old")
    pair = pairs[20]
    parsed = parser.parse_pair(pair.source, pair.target, pair.alignment)
    done = subprocess.run(
        [sys.executable, "-c", ROWS, tmp_path / "old", tmp_path / "new"], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    expected = f"{parsed.target.heads.tolist()} {parsed.target.deprels} {parsed.alignment.weights.tolist()}"
    assert done.stdout.strip() == expected
