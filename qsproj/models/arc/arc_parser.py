"""The first-order parser: an arc scorer, exact tree inference, and a labeller."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import pairwise
from typing import Any, Generic, Self

import numpy as np

from qsproj.conventions import Heads, Rng, Scores
from qsproj.corpus.editing import ARC_PROBABILITY, with_predicted_heads, with_probabilities, with_tree
from qsproj.corpus.sentence import Sentence, check_sentence
from qsproj.features.atoms import EncodedSentence, columns_read
from qsproj.models import parser
from qsproj.models.arc.arc_scorer import IGNORABLE, ArcScorer, Scorer
from qsproj.models.arc.labeller import Labeller, unlabelled
from qsproj.models.arc.punctuation import with_marks_attached
from qsproj.models.constraints import Given, decode_blocks
from qsproj.models.packing import joined
from qsproj.models.schema import Archive, Arrays, anything, checked, flag, number, optional
from qsproj.models.tree_decoder import TreeDecoder, of_tree, squares


@dataclass(frozen=True)
class FirstOrderParser(parser.Parser, Generic[Scorer]):
    """A parser whose tree scores are sums of arc scores; ``labeller`` None: trained without relations."""

    scorer: Scorer
    labeller: Labeller | None
    inference: TreeDecoder
    refuses_training = None

    @property
    def reads(self) -> tuple[str, ...]:
        read = columns_read(self.scorer.templates.attributes)
        return tuple(column for column in read if column not in self.ignored)

    @property
    def ignored(self) -> tuple[str, ...]:
        return self.scorer.ignored

    def encode(self, sentence: Sentence) -> EncodedSentence:
        """Hash the attributes that the templates read; SentenceLengthError when the sentence is too long."""
        check_sentence(sentence)
        return self.scorer.encode(sentence)

    def constrained(self, sentence: Sentence, given: Given) -> TreeDecoder:
        """Return inference over the trees that agree with the known part; its relations weight arcs."""
        if given is None or given.leave_trees_free:
            return self.inference
        inference = given.within(self.inference)
        if self.labeller is None or not (words := given.without_head(self.labeller.relations)):
            return inference
        encoded = self.encode(sentence)
        heads = inference.decode(self.scorer.scores(self.scorer.features(encoded)), "mbr")
        return replace(inference, evidence=self.labeller.evidence(encoded, heads, words, given.relations))

    def allowing_crossings(self) -> Self | None:
        if not self.inference.projective:
            return None
        return replace(self, inference=replace(self.inference, projective=False))

    def attached(
        self,
        sentence: Sentence,
        heads: Heads,
        *,
        probabilities: Scores | None = None,
        evidence: Scores | None = None,
        given: Given = None,
    ) -> Sentence:
        """Return the sentence with a tree and the relations that the labeller gives its arcs.

        ``probabilities`` float64[n+1, n+1]: become ``ArcProb=`` in MISC. ``evidence`` float64[n+1, L]: added
        to the scores of relations. ``given``: its known relations are kept.
        """
        if self.labeller is None:
            relations = unlabelled(heads)
        else:
            relations = self.labeller.label(self.scorer.encode(sentence), heads, evidence)
        if given is not None:
            relations = given.keep_relations(relations)
        parsed = with_predicted_heads(sentence, heads, relations)
        if probabilities is None:
            return parsed
        return with_probabilities(parsed, ARC_PROBABILITY, of_tree(probabilities, heads))

    def to_archive(self) -> Archive:
        header, arrays = joined({"scorer": ("", self.scorer), "labeller": ("", self.labeller)})
        return header | asdict(self.inference), arrays

    @staticmethod
    def described(header: Mapping[str, Any]) -> dict[str, Any]:
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
    header: dict[str, Any], arrays: Arrays, kind: type[Scorer]
) -> tuple[Scorer, Labeller | None, TreeDecoder]:
    checked(header, {"projective": flag, "single_root": flag, "scorer": anything})
    scorer, labels = kind.from_archive(header["scorer"], arrays), header["labeller"]
    labeller = None if labels is None else Labeller.from_archive(labels, arrays, scorer.ignored)
    return scorer, labeller, TreeDecoder(projective=header["projective"], single_root=header["single_root"])


@dataclass(frozen=True)
class ArcParser(FirstOrderParser[ArcScorer]):
    """A trained first-order dependency parser.

    Reported probabilities are those of arc scores divided by ``temperature``, which training sets by the
    objective; trees are decoded from the undivided scores. ``attaches_marks``: whether punctuation is also
    attached by the guidelines in trees sampled at the temperature, see
    :mod:`qsproj.models.arc.punctuation`.
    """

    temperature: float = 1.0
    attaches_marks: bool = False
    block = parser.BLOCK

    def scores(self, sentence: Sentence) -> Scores:
        """Return arc scores float64[n+1, n+1], natural log, as learned: not divided by the temperature.

        Raises SentenceLengthError when the sentence has more than MAX_WORDS words.
        """
        return self.scorer.scores(self.scorer.features(self.encode(sentence)))

    def posterior(self, sentence: Sentence, given: Given = None) -> parser.Posterior:
        inference = self.constrained(sentence, given)
        scores = self.marked_scores(sentence, inference)
        return parser.ArcPosterior(inference.infer(scores / self.temperature)[1])

    def marked_scores(self, sentence: Sentence, inference: TreeDecoder | None = None) -> Scores:
        """Return the arc scores that trees are decoded from: :meth:`scores`, :meth:`with_marks`."""
        return self.with_marks(self.scores(sentence), sentence, inference or self.inference)

    def with_marks(self, scores: Scores, sentence: Sentence, inference: TreeDecoder) -> Scores:
        """Return arc scores that attach punctuation by the guidelines as well, if the parser does so."""
        if not self.attaches_marks:
            return scores
        words = sentence.forms, sentence.upos
        return with_marks_attached(scores, *words, inference, temperature=self.temperature)

    def heads(self, scores: Scores, *, decode: str = "mbr") -> Heads:
        return self.inference.decode(scores, decode)

    def parsed_block(
        self, sentences: list[Sentence], given: list[Given], *, decode: str, confidence: bool
    ) -> Iterator[Sentence]:
        """Score, then decode, then label: a fifth faster than one by one, as weights stay in the cache."""
        block = self.scorer.encode_block(sentences)
        sizes, scores = block.sizes, self.scorer.score_block(block)
        inferences = list(map(self.constrained, sentences, given))
        of_sentences = squares(scores, sizes)
        if self.attaches_marks:
            of_sentences = list(map(self.with_marks, of_sentences, sentences, inferences))
            scores = np.concatenate([square.reshape(-1) for square in of_sentences])
        heads, chances = decode_blocks(inferences, scores, sizes, decode)
        words = [slice(*own) for own in pairwise([0, *np.cumsum(sizes).tolist()])]
        trees, stated = [heads[own] for own in words], [chances[own] for own in words]
        labels = self.labeller.label_block(block, heads) if self.labeller else map(unlabelled, trees)
        rows = zip(sentences, trees, stated, labels, given, inferences, of_sentences, strict=True)
        for sentence, tree, own, relations, known, inference, square in rows:
            if known is not None:
                relations = known.keep_relations(relations)
            parsed = with_tree(sentence, tree, relations)
            if confidence:
                own = own[1:]
                if self.temperature != 1.0 or np.isnan(own).any():
                    own = of_tree(inference.infer(square / self.temperature)[1], parsed.heads)
                parsed = with_probabilities(parsed, ARC_PROBABILITY, own.tolist())
            yield parsed

    def fine_tuned(self, trees: Sequence[parser.TrainingTree], *, rng: Rng) -> "ArcParser":
        from qsproj.models.arc.arc_training import tuned_and_judged

        return tuned_and_judged(self, parser.trees_of(trees), rng=rng)[0]

    def to_archive(self) -> Archive:
        header, arrays = super().to_archive()
        marks = {"attaches_marks": True} if self.attaches_marks else {}
        return {**header, "temperature": self.temperature, **marks}, arrays

    @staticmethod
    def from_archive(header: dict[str, Any], arrays: Arrays) -> "ArcParser":
        checked(header, {"temperature": number(1e-3, 1e3), "attaches_marks": optional(flag)})
        parts = parts_from(header, arrays, ArcScorer)
        return ArcParser(*parts, header["temperature"], bool(header.get("attaches_marks")))
