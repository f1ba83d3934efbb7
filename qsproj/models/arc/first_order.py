"""What parsers that score arc by arc share: a scorer, exact tree inference, a labeller, and their archive."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any, Generic, TypeVar

from numpy.typing import NDArray

from qsproj.conventions import Heads, Scores
from qsproj.corpus.editing import with_arc_probabilities, with_heads
from qsproj.corpus.sentence import Sentence, check_sentence
from qsproj.features.atoms import EncodedSentence
from qsproj.models.arc.arc_scorer import IGNORABLE, ArcWeights
from qsproj.models.arc.labeller import Labeller
from qsproj.models.schema import anything, checked, flag
from qsproj.models.storage import Stored
from qsproj.models.tree_inference import TreeInference, of_tree

# So many sentences go through each kernel at once.
BLOCK = 32
Scorer = TypeVar("Scorer", bound=ArcWeights)


@dataclass(frozen=True)
class FirstOrderParser(Stored, Generic[Scorer]):
    """A trained parser whose trees are sums of arcs. Abstract.

    Attributes
    ----------
    scorer : ArcWeights
        What scores arcs.
    labeller : Labeller or None
        None when the training data had no relations.
    inference : TreeInference
        Which trees are possible: projective or all, one root or several.
    """

    scorer: Scorer
    labeller: Labeller | None
    inference: TreeInference

    def encode(self, sentence: Sentence) -> EncodedSentence:
        """Hash what the templates ask of a sentence.

        Raises
        ------
        SentenceLengthError
            When the sentence has more than MAX_WORDS words: time grows with the cube of the length.
        """
        check_sentence(sentence)
        return self.scorer.encode(sentence)

    def attached(
        self,
        sentence: Sentence,
        heads: Heads,
        *,
        encoded: EncodedSentence | None = None,
        probabilities: Scores | None = None,
        evidence: Scores | None = None,
    ) -> Sentence:
        """Return the sentence with a tree and the relations that the labeller gives its arcs.

        Parameters
        ----------
        encoded : EncodedSentence, optional
            The sentence, where it has been encoded already.
        probabilities : float64[n+1, n+1], optional
            Of each arc; those of the tree become ``ArcProb=`` in MISC.
        evidence : float64[n+1, L], optional
            What else is known of the relations, as :meth:`Labeller.label` takes it.
        """
        if self.labeller is None:
            relations = unlabelled(sentence)
        else:
            encoded = self.scorer.encode(sentence) if encoded is None else encoded
            relations = self.labeller.label(encoded, heads, evidence)
        parsed = with_heads(sentence, heads, relations)
        return (
            parsed if probabilities is None else with_arc_probabilities(parsed, of_tree(probabilities, heads))
        )

    def to_archive(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """Return header and arrays."""
        header, arrays = self.scorer.to_archive()
        label_header, label_arrays = self.labeller.to_archive() if self.labeller else (None, {})
        return {
            "scorer": header,
            "labeller": label_header,
            "projective": self.inference.projective,
            "single_root": self.inference.single_root,
        }, {**arrays, **label_arrays}

    @staticmethod
    def described(header: Mapping[str, Any]) -> dict[str, Any]:
        """Return what ``qsproj info`` tells of a model with this header."""
        labels, scorer = header["labeller"], header["scorer"]
        ignored = [IGNORABLE[column] for column in scorer.get("ignored") or ()]
        return {
            "features": scorer["template_set"],
            **({"ignores_as_trained_without": ignored} if ignored else {}),
            "trees": "projective" if header["projective"] else "any, arcs may cross",
            "roots": "one" if header["single_root"] else "any number",
            "relations": labels["relations"] if labels else [],
        }


def parts_from(
    header: dict[str, Any], arrays: Mapping[str, NDArray[Any]], kind: type[Scorer]
) -> tuple[Scorer, Labeller | None, TreeInference]:
    """Rebuild scorer, labeller and inference from what :meth:`FirstOrderParser.to_archive` gave."""
    checked(header, {"projective": flag, "single_root": flag, "scorer": anything})
    scorer, labels = kind.from_archive(header["scorer"], arrays), header["labeller"]
    return (
        scorer,
        None if labels is None else replace(Labeller.from_archive(labels, arrays), ignored=scorer.ignored),
        TreeInference(projective=header["projective"], single_root=header["single_root"]),
    )


def blocks_of(sentences: Iterable[Sentence]) -> Iterator[list[Sentence]]:
    """Yield BLOCK sentences at a time; a SentenceLengthError is of the one that was taken last."""
    remaining = map(_checked, sentences)
    while block := list(islice(remaining, BLOCK)):
        yield block


def _checked(sentence: Sentence) -> Sentence:
    check_sentence(sentence)
    return sentence


def unlabelled(sentence: Sentence) -> tuple[str, ...]:
    """Return the relation of each word where nothing is known of relations."""
    return ("dep",) * len(sentence)
