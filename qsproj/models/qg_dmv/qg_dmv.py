"""The quasi-synchronous DMV: target sentences generated through the trees of their translations."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from qsproj.conventions import ROOT, Scores
from qsproj.corpus.sentence import Sentence, SentencePair
from qsproj.errors import UsageError
from qsproj.features.qg_configurations import CONFIGURATION_NAMES
from qsproj.kernels.dmv.qg_expectation import qg_expectation
from qsproj.models.dmv.dmv import TREES, Dmv
from qsproj.models.dmv.dmv_punctuation import attach_stripped, kept_words
from qsproj.models.qg_dmv.qg_dmv_corpus import PairNodes, QgCorpus, pack_pairs, pair_nodes
from qsproj.models.qg_dmv.qg_dmv_parameters import QgCounts, QgParameters
from qsproj.models.schema import anything, checked, names, number, optional, shaped
from qsproj.models.storage import Stored
from qsproj.parallel import THIS_PROCESS, Workers, map_in_order


@dataclass(frozen=True)
class QgDmv(Stored):
    """A trained QG-DMV.

    Attributes
    ----------
    source_inventory : tuple of str
        Tags of source words; the first stands for every tag not among them. NULL is counted after them.
    parameters : QgParameters
    monolingual : Dmv
        What parses new text: the same expected counts with the source summed out, but for words without
        a link.

    *Source*: thesis 4.6; Smith and Eisner 2006b.
    """

    source_inventory: tuple[str, ...]
    parameters: QgParameters
    monolingual: Dmv

    def parse(self, sentence: Sentence, *, decode: str = "mbr", confidence: bool = False) -> Sentence:
        """Parse without a translation; see :meth:`qsproj.models.dmv.dmv.Dmv.parse`."""
        return self.monolingual.parse(sentence, decode=decode, confidence=confidence)

    def nodes(self, pair: SentencePair) -> PairNodes:
        """Return the target words in each of their senses."""
        return pair_nodes(
            pair,
            self.monolingual.inventory,
            self.source_inventory,
            punctuation=self.monolingual.punctuation,
        )

    def arc_probabilities(self, sentence: Sentence) -> Scores:
        """Return the posterior of every arc without a translation; see :meth:`Dmv.arc_probabilities`."""
        return self.monolingual.arc_probabilities(sentence)

    def arc_probabilities_given_source(self, pair: SentencePair) -> Scores:
        """Return the posterior probability of every target arc given the source tree and the links.

        Returns
        -------
        float64[n+1, n+1]
            Senses summed out; columns 1..n sum to one. Stripped punctuation has one head, by rule.

        Raises
        ------
        UsageError
            When the pair has probability 0 (possible only with parameters that were not smoothed).
        """
        nodes = self.nodes(pair)
        *_, logs, arcs, root_arcs = expectation(pack_pairs([nodes]), self.parameters)
        if logs[0] == -np.inf:
            raise UsageError("a sentence pair has probability 0 under the model; train with smoothing")
        kept = kept_words(pair.target.upos, punctuation=self.monolingual.punctuation)
        words = nodes.first[:-1]
        among_kept = np.zeros((len(kept) + 1, len(kept) + 1))
        among_kept[1:, 1:] = np.add.reduceat(np.add.reduceat(arcs, words, axis=0), words, axis=1)
        among_kept[ROOT, 1:] = np.add.reduceat(root_arcs, words)
        places = np.concatenate([[ROOT], kept])
        whole = np.zeros((len(pair.target) + 1, len(pair.target) + 1))
        whole[np.ix_(places, places)] = among_kept
        stripped = np.setdiff1d(np.arange(1, len(pair.target) + 1), kept)
        if len(stripped):
            heads = attach_stripped(TREES.best(among_kept), kept, len(pair.target))
            whole[heads[stripped], stripped] = 1.0
        return whole

    def to_archive(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """Return header and arrays; configurations are stored by name."""
        header, arrays = self.monolingual.to_archive()
        parameters = self.parameters
        return {
            "source_inventory": list(self.source_inventory),
            "configurations": dict(zip(CONFIGURATION_NAMES, parameters.configuration.tolist(), strict=True)),
            "monolingual": header,
        }, {
            **arrays,
            "qg-stop": parameters.stop,
            "qg-child": parameters.child,
            "qg-root": parameters.root,
        }

    @staticmethod
    def from_archive(header: dict[str, Any], arrays: Mapping[str, NDArray[Any]]) -> QgDmv:
        """Rebuild what :meth:`to_archive` gave; a configuration that the file does not name gets 0."""
        checked(header, {"configurations": anything, "source_inventory": names, "monolingual": anything})
        checked(header["configurations"], dict.fromkeys(CONFIGURATION_NAMES, optional(number(0.0, 1.0))))
        configuration = np.array([header["configurations"].get(name) or 0.0 for name in CONFIGURATION_NAMES])
        monolingual = Dmv.from_archive(header["monolingual"], arrays)
        source_inventory = tuple(header["source_inventory"])
        tags, senses = len(monolingual.inventory), len(source_inventory) + 1
        parameters = QgParameters(
            shaped(arrays, "qg-stop", (tags, 2, 2), least=0.0, most=1.0),
            configuration,
            shaped(arrays, "qg-child", (tags, 2, senses, tags), least=0.0, most=1.0),
            shaped(arrays, "qg-root", (senses, tags), least=0.0, most=1.0),
        )
        return QgDmv(source_inventory, parameters, monolingual)


def expectation(corpus: QgCorpus, parameters: QgParameters) -> tuple[NDArray[np.float64], ...]:
    """Run the kernel: counts, log-likelihoods, and the arcs of the last pair."""
    result: tuple[NDArray[np.float64], ...] = qg_expectation(
        corpus.word_starts,
        corpus.first_nodes,
        corpus.node_starts,
        corpus.tags,
        corpus.source_tags,
        corpus.priors,
        corpus.relation_starts,
        corpus.relations,
        corpus.choices,
        parameters.stop,
        parameters.configuration,
        parameters.child,
        parameters.root,
    )
    return result


def expected_counts(
    corpora: Iterable[QgCorpus], parameters: QgParameters, *, workers: Workers = THIS_PROCESS
) -> tuple[QgCounts, float]:
    """Return expected counts and log-likelihood, summed over parts of a corpus in their order.

    ``corpora``: the parts, consumed a few ahead of what is computed. ``workers``: who computes; the result
    does not depend on it. Raises UsageError when a pair has probability 0, or there is no part.
    """
    results = map_in_order(partial(_counts_of_part, parameters=parameters), corpora, workers=workers)
    total, log_likelihood = next(results, (None, 0.0))
    if total is None:
        raise UsageError("no sentence pairs to count")
    for counts, log in results:
        total, log_likelihood = total + counts, log_likelihood + log
    return total, log_likelihood


def _counts_of_part(corpus: QgCorpus, parameters: QgParameters) -> tuple[QgCounts, float]:
    stop, configuration, child, root, logs, _, _ = expectation(corpus, parameters)
    if np.any(logs == -np.inf):
        raise UsageError(
            f"{int((logs == -np.inf).sum())} sentence pairs have probability 0 under the parameters they "
            "are to improve; add smoothing"
        )
    return QgCounts(stop, configuration, child, root), float(logs.sum())
