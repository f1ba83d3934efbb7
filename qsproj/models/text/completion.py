"""Trees of which a part is known: the rest is inferred given that part.

Known are the cells of HEAD, DEPREL and UPOS that are not ``_``, and spans: ``Span=3-7`` in MISC says that one
of the words 3 to 7 has its head elsewhere, and the others have theirs among them. All that a parser believes
passes through its :class:`qsproj.models.tree_inference.TreeInference`; here that knows of no other trees.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from itertools import product
from math import prod
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from qsproj.conventions import NO_HEAD, ROOT, Heads, Scores
from qsproj.corpus.cells import UNSPECIFIED, bare_relation
from qsproj.corpus.editing import misc_values, with_columns, with_heads, with_misc
from qsproj.corpus.sentence import Sentence
from qsproj.errors import SentenceError, UsageError, counted
from qsproj.models.arc.arc_parser import ArcParser, FirstOrderParser
from qsproj.models.converter.converter import AdaptedParser
from qsproj.models.dmv.dmv import Dmv, strip_heads
from qsproj.models.enhanced.enhanced_parser import EnhancedParser
from qsproj.models.graph.graph_parser import GraphParser
from qsproj.models.joint.joint_parser import JointParser
from qsproj.models.labelled.labelled_parser import LabelledParser
from qsproj.models.qg_dmv.qg_dmv import QgDmv
from qsproj.models.storage import Parser, kind_of
from qsproj.models.tagging.tagger import Tagger
from qsproj.models.tagging.tagging_parser import TaggingParser
from qsproj.models.text.text_parser import TextParser
from qsproj.models.tree_inference import TreeInference, arcs_in, check_decoder
from qsproj.trees.crossings import crossing_arcs
from qsproj.trees.family import NoTreeError

SPAN = "Span"
_SPAN = re.compile(r"(\d+)-(\d+)")
# Each span multiplies the cases by its number of words; more of them are refused.
MOST_CASES = 1000

Arcs = NDArray[np.bool_]


@dataclass(frozen=True, slots=True, kw_only=True)
class Given(TreeInference):
    """Inference over the trees within one of several sets of arcs, which share none.

    ``cases``: bool[n+1, n+1] each, not empty. ``evidence`` float64[n+1, n+1]: what is added to the score of
    each arc, natural log.
    """

    cases: tuple[Arcs, ...]
    evidence: Scores

    def infer(self, scores: Scores) -> tuple[float, Scores]:
        """Return log Z over the cases and arc marginals; a case without a tree has none of them."""
        cases = [np.where(case, scores + self.evidence, -np.inf) for case in self.cases]
        found = [self._trees.marginals(case, single_root=self.single_root) for case in cases]
        log_z = np.array([own for own, _ in found])
        total = float(np.logaddexp.reduce(log_z))
        return total, np.tensordot(np.exp(log_z - total), [own for _, own in found], axes=1)

    def best(self, scores: Scores) -> Heads:
        """Return the best tree of all cases; the evidence does not count, as it does in :meth:`infer`."""
        ranked = [
            self._trees.best(np.where(case, scores, -np.inf), single_root=self.single_root)
            for case in self.cases
        ]
        return max(ranked, key=lambda found: found[1])[0]

    def decode(self, scores: Scores, decode: str) -> Heads:
        check_decoder(decode)
        return self.best(self.infer(scores)[1] if decode == "mbr" else scores + self.evidence)

    def decode_block(
        self, scores: NDArray[np.float64], sizes: NDArray[np.int64], decode: str
    ) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
        """Do so for a block of the one sentence whose trees these are."""
        heads = self.decode(scores.reshape(int(sizes[0]), -1), decode)
        return heads, np.full(len(heads), np.nan)


@dataclass(frozen=True)
class _KnownTags(Tagger):
    """A tagger that leaves the tags that a sentence has."""

    def tag(self, sentence: Sentence, **options: Any) -> Sentence:
        tagged = super().tag(sentence, **options)
        pairs = zip(sentence.upos, tagged.upos, strict=True)
        return with_columns(tagged, upos=[new if own == UNSPECIFIED else own for own, new in pairs])

    def tag_distribution(
        self, sentence: Sentence, emissions: NDArray[np.float64] | None = None
    ) -> NDArray[np.float64]:
        """Return the probability of each tag, float64[n, T]; that of a known one is 1."""
        chances = super().tag_distribution(sentence, emissions).copy()
        for word, tag in enumerate(sentence.upos):
            if tag in self.tags:
                chances[word] = np.arange(len(self.tags)) == self.tags.index(tag)
        return chances


class _KnownHeads(Dmv):
    """A valence model whose trees have the heads that a sentence has."""

    def _packed(
        self, sentence: Sentence, kept: NDArray[np.int64], known: Heads | None = None
    ) -> tuple[NDArray[np.int16], NDArray[np.int64], NDArray[np.int16]]:
        return super()._packed(sentence, kept, strip_heads(sentence.heads, kept) if known is None else known)


def complete(
    parser: Parser, sentence: Sentence, *, decode: str = "mbr", confidence: bool = False, retag: bool = False
) -> Sentence:
    """Return the sentence with the tree that a parser finds given the part of it that the sentence has.

    Heads, relations and tags that the sentence has stay, and so do spans (``Span=3-7`` in MISC); the rest is
    inferred given these, and so are the probabilities.

    ``parser`` is any model that parses, as :func:`qsproj.load_model` returns it; ``decode`` and
    ``confidence`` are those of its own ``parse``, and so is ``retag``, for models of text. Unknown heads of
    the sentence are -1, unknown relations and tags ``_``.

    Raises SentenceError when no tree that the parser can build has that part, naming the heads that exclude
    each other; UsageError when the model takes whole trees, as a converter does.
    """
    given = conditioned(parser, sentence)
    try:
        if isinstance(given, TextParser):
            parsed = given.parse(sentence, decode=decode, confidence=confidence, retag=retag)
        else:
            parsed = given.parse(sentence, decode=decode, confidence=confidence)
    except NoTreeError as error:
        raise _impossible(sentence, _inference_of(parser)) from error
    return _as_known(sentence, parsed, confidence=confidence)


def completed(parser: Parser, sentence: Sentence) -> tuple[Sentence, Scores]:
    """Return what :func:`complete` does, and the probability of every arc given what is known.

    float64[n+1, n+1]; columns 1..n sum to one. Raises as :func:`complete`.
    """
    given = conditioned(parser, sentence)
    try:
        parsed, beliefs = given.parse(sentence), given.arc_probabilities(sentence)
    except NoTreeError as error:
        raise _impossible(sentence, _inference_of(parser)) from error
    return _as_known(sentence, parsed, confidence=False), beliefs


def conditioned(parser: Parser, sentence: Sentence) -> Parser:
    """Return the parser as it parses this sentence, given what is known of its tree.

    Arcs hold in every model. The relation of a word without a head weighs the arcs into it by how likely each
    has that relation; of second-order parsers, and of several parts, it rules arcs out that hardly have it.

    Raises SentenceError, UsageError as :func:`complete`.
    """
    if isinstance(parser, TextParser):
        return replace(parser, parser=conditioned(parser.parser, parser.tagged(sentence)))
    if isinstance(parser, EnhancedParser):
        return replace(parser, parser=conditioned(parser.parser, sentence))
    if isinstance(parser, JointParser):
        own = conditioned(parser.target, parser.with_tags_alone(sentence))
        return replace(parser, target=cast(Any, own))
    if isinstance(parser, AdaptedParser):
        converter = parser.converter
        return replace(parser, converter=replace(converter, inference=_given(sentence, converter.inference)))
    if isinstance(parser, QgDmv):
        return replace(parser, monolingual=cast(Dmv, conditioned(parser.monolingual, sentence)))
    if isinstance(parser, Dmv):
        _check_possible(sentence, TreeInference(projective=True, single_root=True))
        return _KnownHeads(*(getattr(parser, field.name) for field in fields(parser)))
    if isinstance(parser, TaggingParser):
        _check_tags(sentence, parser.tagger)
        tagger = _KnownTags(**{field.name: getattr(parser.tagger, field.name) for field in fields(Tagger)})
        base = cast(ArcParser, conditioned(parser.base, tagger.tag(sentence)))
        return replace(parser, tagger=tagger, base=_without_evidence(base))
    if isinstance(parser, GraphParser):
        return replace(parser, base=_without_evidence(cast(ArcParser, conditioned(parser.base, sentence))))
    if isinstance(parser, FirstOrderParser):
        inference = _given(sentence, parser.inference)
        given = replace(parser, inference=inference)
        wanted = [
            word
            for word, relation in enumerate(sentence.deprels, start=1)
            if relation != UNSPECIFIED and sentence.heads[word] == NO_HEAD
        ]
        if not wanted:
            return cast(Parser, given)
        evidence = _of_relations(given, sentence, wanted)
        return cast(Parser, replace(given, inference=replace(inference, evidence=evidence)))
    raise UsageError(
        f"a model of kind {kind_of(parser)} takes no trees of which a part is known; give it to a parser"
    )


# An arc that has the known relation so much less often than the likeliest arc is none, where arcs are chosen
# before they are scored.
_HARDLY = 0.02


def _without_evidence(parser: ArcParser) -> ArcParser:
    """Rule out arcs in place of weighing them: what prunes must not count evidence that others add."""
    given = cast(Given, parser.inference)
    least = given.evidence.max(axis=0) + np.log(_HARDLY)
    cases = tuple(case & (given.evidence >= least) for case in given.cases)
    return replace(parser, inference=replace(given, cases=cases, evidence=np.zeros_like(given.evidence)))


def _given(sentence: Sentence, inference: TreeInference) -> Given:
    """Return inference over the trees that have the heads and spans of a sentence."""
    _check_possible(sentence, inference)
    size = len(sentence) + 1
    allowed = arcs_in(sentence.heads)
    allowed[:, 0] = False
    if inference.single_root and (sentence.heads == ROOT).any():
        allowed[ROOT] &= sentence.heads == ROOT
    for word, relation in enumerate(sentence.deprels, start=1):
        if bare_relation(relation) == "root" and sentence.heads[word] == NO_HEAD:
            allowed[:, word] &= np.arange(size) == ROOT
    cases = tuple(case for case in _of_spans(sentence, allowed) if inference.admits(case))
    if not cases:
        raise _impossible(sentence, inference)
    return Given(
        projective=inference.projective,
        single_root=inference.single_root,
        cases=cases,
        evidence=np.zeros((size, size)),
    )


def _of_spans(sentence: Sentence, allowed: Arcs) -> list[Arcs]:
    """Return the arcs that are left for each choice of the word of every span whose head lies outside."""
    spans = sorted(spans_of(sentence))
    if prod(last - first + 1 for first, last in spans) > MOST_CASES:
        raise SentenceError(
            found=f"{counted(len(spans), 'span')}, whose words can be heads of them in too many ways",
            expected=f"{MOST_CASES:,} ways at most",
            remedy="leave some spans out, or give some heads",
        )
    cases = []
    for heads in product(*(range(first, last + 1) for first, last in spans)):
        case = allowed.copy()
        for (first, last), head in zip(spans, heads, strict=True):
            inside = np.zeros(len(case), dtype=np.bool_)
            inside[first : last + 1] = True
            case[~inside, first : last + 1] &= np.arange(first, last + 1) == head
            case[inside, head] = False
        if case[:, 1:].any(axis=0).all():
            cases.append(case)
    return cases


def spans_of(sentence: Sentence) -> set[tuple[int, int]]:
    """Return first and last word of each span that MISC names.

    Raises SentenceError when one is none.
    """
    spans = set()
    for word, cell in enumerate(misc_values(sentence, SPAN), start=1):
        for text in cell.split(",") if cell else ():
            match = _SPAN.fullmatch(text)
            first, last = map(int, match.groups()) if match else (0, 0)
            if not 1 <= first <= last <= len(sentence):
                raise SentenceError(
                    found=f"{SPAN}={cell} in MISC",
                    expected=f"first and last word of a span, as {SPAN}=1-{len(sentence)}",
                    remedy="name words of the sentence",
                    word=word,
                )
            spans.add((first, last))
    return spans


def _of_relations(parser: FirstOrderParser[Any], sentence: Sentence, words: Sequence[int]) -> Scores:
    """Return the log probability that an arc into each of these words has the relation known of it.

    Of a relation that the model does not know nothing is said.
    """
    size = len(sentence) + 1
    evidence = np.zeros((size, size))
    if parser.labeller is None:
        return evidence
    joint = parser if isinstance(parser, LabelledParser) else None
    names = joint.relations.relations if joint else parser.labeller.relations
    words = [word for word in words if sentence.deprels[word - 1] in names]
    chances = np.zeros((size, size))
    if joint:
        scores = joint.posterior(sentence).scores
        of_arcs = scores.summed()[1]
    else:
        encoded = parser.scorer.encode(sentence)
        heads = np.array(cast(Parser, parser).parse(sentence).heads)
    for word in words:
        place = names.index(sentence.deprels[word - 1])
        if joint:
            into = scores.dependents == word
            chances[scores.heads[into], word] = of_arcs[into, place]
            continue
        for head in set(range(size)) - {word}:
            other = heads.copy()
            other[word] = head
            chances[head, word] = parser.labeller.chances(encoded, other)[word, place]
    evidence[:, words] = np.log(np.maximum(chances[:, words], np.finfo(np.float64).tiny))
    return evidence


def _as_known(sentence: Sentence, parsed: Sentence, *, confidence: bool) -> Sentence:
    """Put back what a rule of the model has changed: known relations, and heads of stripped punctuation.

    The probability of a known relation is that of its arc.
    """
    heads = np.where(sentence.heads == NO_HEAD, parsed.heads, sentence.heads)
    if not np.array_equal(heads, parsed.heads):
        parsed = with_heads(parsed, heads, parsed.deprels)
    known = [relation != UNSPECIFIED for relation in sentence.deprels]
    if not any(known):
        return parsed
    parsed = with_columns(
        parsed,
        deprels=[
            own if is_known else found
            for own, found, is_known in zip(sentence.deprels, parsed.deprels, known, strict=True)
        ],
    )
    of_relations = misc_values(parsed, "RelProb")
    if not confidence or not any(of_relations):
        return parsed
    arcs = misc_values(parsed, "ArcProb")
    return with_misc(
        parsed,
        "RelProb",
        [arc if is_known else own for arc, own, is_known in zip(arcs, of_relations, known, strict=True)],
    )


def _check_tags(sentence: Sentence, tagger: Tagger) -> None:
    for word, tag in enumerate(sentence.upos, start=1):
        if tag not in (UNSPECIFIED, *tagger.tags):
            raise SentenceError(
                found=f"the tag {tag}, which is to be kept",
                expected=f"one that the model knows: {', '.join(tagger.tags)}",
                remedy="change it, or put _ in its place",
                word=word,
            )


def _check_possible(sentence: Sentence, inference: TreeInference) -> None:
    if not inference.admits(arcs_in(sentence.heads)):
        raise _impossible(sentence, inference)


def _inference_of(parser: Parser) -> TreeInference:
    """Return which trees a parser builds."""
    part: Any = parser
    for name in ("parser", "target", "converter", "base"):
        part = getattr(part, name, part)
    own = getattr(part, "inference", None)
    return own if isinstance(own, TreeInference) else TreeInference(projective=True, single_root=True)


def _impossible(sentence: Sentence, inference: TreeInference) -> SentenceError:
    """Say which of the known heads exclude each other."""
    heads = sentence.heads
    remedy = "correct HEAD, or put _ in its place"
    roots = np.flatnonzero(heads[1:] == ROOT) + 1
    if inference.single_root and len(roots) > 1:
        return SentenceError(
            found=f"the words {', '.join(map(str, roots))} at the root",
            expected="one, as the model learned it",
            remedy=remedy,
            word=int(roots[1]),
        )
    if inference.projective and crossing_arcs(heads).any():
        first, second = np.flatnonzero(crossing_arcs(heads))[:2]
        return SentenceError(
            found=f"arcs that cross: {heads[first]} -> {first} and {heads[second]} -> {second}",
            expected="arcs that do not, as the model builds none",
            remedy=f"{remedy}; or train the model with --nonprojective",
            word=int(first),
        )
    what = "heads and spans" if any(misc_values(sentence, SPAN)) else "heads and relations"
    return SentenceError(
        found=f"{what} that no tree of the model has together",
        expected="a part of one of its trees",
        remedy=remedy,
    )
