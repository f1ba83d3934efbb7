"""An aligner trained on hand alignments: the joint model without trees (thesis 4.7.1)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from qsproj.conventions import Rng
from qsproj.corpus.cells import UNSPECIFIED
from qsproj.corpus.sentence import Alignment, Sentence, SentencePair, likely_links
from qsproj.errors import UsageError
from qsproj.models.joint.joint_graph import JointWeights, PreparedPair, infer_jointly, prepare_pair
from qsproj.models.joint.joint_options import LINK_FACTORS, JointTrainingOptions, Propagation
from qsproj.models.joint.joint_structure import NO_VARIABLE, Relation, Side, known_states
from qsproj.models.joint.joint_training import JointExample, JointTrainer, observed_links
from qsproj.models.joint.joint_trees import TreeScores
from qsproj.models.schema import Archive, Arrays, checked, flag, names
from qsproj.models.storage import Stored
from qsproj.training.loop import learn


@dataclass(frozen=True)
class LinkChooser(Stored):
    """An aligner that chooses among the links that another aligner proposes."""

    takes = "pairs of sentences: align(pair)"

    weights: JointWeights
    families: tuple[str, ...] = ()  # members of LINK_FAMILIES in use
    tagged: bool = False  # whether it learned from tags and reads them

    def align(self, pair: SentencePair, *, threshold: float = 0.5) -> Alignment:
        """Return the links of at least probability ``threshold``; UsageError where it needs tags."""
        links = pair.alignment
        if not len(links.links):
            return links
        prepared = self.prepare(pair)
        structure, scores = prepared.structure, self.weights.scores(prepared)
        beliefs = infer_jointly(structure, scores, known_states(structure), Propagation())
        return likely_links(links, beliefs.links, threshold)

    def prepare(self, pair: SentencePair) -> PreparedPair:
        pair = replace(pair, source=self._seen(pair.source), target=self._seen(pair.target))
        return links_only(pair, self.families)

    def _seen(self, sentence: Sentence) -> Sentence:
        untagged = (UNSPECIFIED,) * len(sentence)
        if not self.tagged:
            return replace(sentence, upos=untagged)
        if sentence.upos == untagged:
            found = "the links were learned from words with UPOS tags, found a sentence without"
            raise UsageError(f"{found}; tag it first (qsproj tag) and align CoNLL-U")
        return sentence

    def to_archive(self) -> Archive:
        return {"families": list(self.families), "tagged": self.tagged}, self.weights.to_arrays()

    @staticmethod
    def described(header: Mapping[str, Any]) -> dict[str, Any]:
        return {"link_factors": [*LINK_FACTORS, *header["families"]], "reads_tags": header["tagged"]}

    @staticmethod
    def from_archive(header: dict[str, Any], arrays: Arrays) -> "LinkChooser":
        checked(header, {"families": names, "tagged": flag})
        return LinkChooser(JointWeights.from_arrays(arrays), tuple(header["families"]), header["tagged"])


def links_only(pair: SentencePair, families: tuple[str, ...] = ()) -> PreparedPair:
    """Prepare a pair without trees: no arc of either side has a variable."""
    words, sides, scores = np.zeros(0, dtype=np.int32), [], []
    for sentence in (pair.source, pair.target):
        zeros = np.zeros((len(sentence) + 1, len(sentence) + 1))
        impossible = zeros.astype(np.bool_)
        none = Relation(impossible, words, words, np.zeros((0, 2), dtype=np.int32))
        sides.append(Side(np.full(zeros.shape, NO_VARIABLE, dtype=np.int32), None, none, none))
        scores.append(TreeScores(marginals=zeros, kept=impossible, links=zeros))
    return prepare_pair(pair, sides, scores, families=families)


def train_link_chooser(
    pairs: Sequence[SentencePair], *, rng: Rng, families: tuple[str, ...] = ()
) -> LinkChooser:
    """Train a link chooser on hand alignments; possible links stay hidden (``observed_links``)."""
    options = JointTrainingOptions(rate=0.1, l2=5.0)
    trainer = JointTrainer(options)
    tagged = all(set(side.upos) != {UNSPECIFIED} for pair in pairs for side in (pair.source, pair.target))
    chooser = LinkChooser(trainer.weights, families, tagged)
    linked = ((pair, pair.hand) for pair in pairs if pair.hand is not None and len(pair.alignment.links))
    # Trees play no part, so the training tree has no words.
    no_tree = np.array([-1], dtype=np.int32)
    states = ((pair, observed_links(pair.alignment, hand, families)) for pair, hand in linked)
    examples = [JointExample(chooser.prepare(pair), no_tree, known) for pair, known in states]
    weights, _ = learn(trainer, examples, epochs=options.epochs, rng=rng, description="training links")
    return replace(chooser, weights=weights)
