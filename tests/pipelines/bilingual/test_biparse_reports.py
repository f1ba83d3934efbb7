"""What is told of pairs that were learned from, or parsed."""

from __future__ import annotations

from collections import Counter

from qsproj.bp.run import Status
from qsproj.corpus.sentence import SentencePair, make_alignment
from qsproj.models.joint.joint_alignment import LinkChooser
from qsproj.models.joint.joint_graph import JointWeights
from qsproj.models.joint.joint_options import MOST_ITG_WORDS
from qsproj.models.joint.joint_parser import ParsedPair
from qsproj.models.joint.joint_training import convergence
from qsproj.pipelines.bilingual.biparse import ParsingCounts, choose_links, warn_without_itg
from qsproj.progress import notices
from tests.sentences import make_sentence

TOLD = f"2 pairs without ITG: more than {MOST_ITG_WORDS} words a side have candidate links"


def pair_of(n):
    """Return a pair whose words are linked one after the other."""
    sentence = make_sentence(" ".join("x" * n), " ".join(["NOUN"] * n))
    return SentencePair(sentence, sentence, make_alignment(n, n, [(i, i) for i in range(1, n + 1)]))


PAIRS = [pair_of(n) for n in (2, MOST_ITG_WORDS + 1, MOST_ITG_WORDS + 2)]


def test_pairs_that_are_too_long_for_itg_are_counted():
    """Where they are learned from, where links are chosen, and where they are parsed."""
    said = []
    with notices(said.append):
        warn_without_itg(("ITG",), PAIRS)
    assert said == [TOLD]
    for families in (("ITG",), ("SOURCEHMM",)):
        told = []
        with notices(told.append):
            warn_without_itg(("MONO",), PAIRS)
            chooser = LinkChooser(JointWeights.untrained(), families)
            assert len(list(choose_links(chooser, PAIRS, threshold=0.5))) == 3
        assert told == [TOLD] * ("ITG" in families)
    counts = ParsingCounts()
    for pair in PAIRS:
        sides = {"source": pair.source, "target": pair.target, "alignment": pair.alignment}
        beyond = pair is not PAIRS[0]
        counts.add(ParsedPair(**sides, status=Status.CONVERGED, alone=False, without_itg=beyond))
    assert counts.summary().endswith(f"; {TOLD}")


def test_convergence_says_of_what():
    assert convergence(Counter()) == "nothing to infer"
    statuses = Counter({Status.CONVERGED: 3, Status.LIMIT: 1})
    assert convergence(statuses) == "belief propagation converged in 75.0% of 4 runs"
