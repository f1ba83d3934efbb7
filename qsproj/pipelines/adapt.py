"""Adapt treebanks and parsers to another annotation style, from sentences annotated in both."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from qsproj.conventions import MAX_WORDS, Rng
from qsproj.corpus.cells import UNIVERSAL_RELATIONS, UNSPECIFIED, bare_relation
from qsproj.corpus.editing import line_of, with_comment
from qsproj.corpus.pairs.aligned import check_same_words
from qsproj.corpus.pairs.pairing import BY_ID, pair_sentences
from qsproj.corpus.sentence import Sentence, has_tree
from qsproj.errors import NothingToLearnError, SentenceLengthError, listed_first, pluralise
from qsproj.models.converter.converter import (
    Conversion,
    Converter,
    ConverterReport,
    check_has_whole_tree,
    converted_sentence,
    train_converter,
)
from qsproj.progress import notice, track

_MOSTLY = 0.8  # minimum share of UD relations that identifies the UD style
_NAMED = 10  # maximum number of relations in a message
# Relations missing from many treebanks.
_RARE = frozenset(
    {"clf", "dep", "discourse", "dislocated", "goeswith", "list", "orphan", "reparandum", "vocative"}
)


@dataclass(frozen=True, slots=True)
class ConvertedSentence:
    """A source tree, its conversion (None if too long), and the expected number of wrong heads in it."""

    source: Sentence
    conversion: Conversion | None
    expected_errors: float

    def sentence(self, *, confidence: bool) -> Sentence:
        if self.conversion is None:
            return self.source
        return converted_sentence(self.source, self.conversion, confidence=confidence)


def pair_styles(
    source_sentences: Iterable[Sentence],
    target_sentences: Iterable[Sentence],
    *,
    names: tuple[str, str] | None = None,
    pairing: str = BY_ID,
) -> list[tuple[Sentence, Sentence]]:
    pairs = list(pair_sentences(source_sentences, target_sentences, names=names, pairing=pairing))
    for number, (source, target) in enumerate(pairs, start=1):
        place = (names[0], line_of(source)) if names else (f"pair {number}", None)
        check_same_words(source, target, *place, "leave out sentences that are tokenised differently")
        if not 0 < len(source) <= MAX_WORDS:
            raise SentenceLengthError(len(source), MAX_WORDS).at(*place)
    return pairs


def train_adaptation(
    pairs: Sequence[tuple[Sentence, Sentence]],
    *,
    rng: Rng,
    epochs: int | None = None,
    projective: bool | None = None,
) -> tuple[Converter, ConverterReport]:
    source_trees = [source for source, _ in pairs]
    if not any(has_tree(source) for source in source_trees):
        raise NothingToLearnError("no source sentence has a head; parse the source first (qsproj parse)")
    if all((one.heads == other.heads).all() and one.deprels == other.deprels for one, other in pairs):
        notice("the trees of both styles are the same, so that the converter changes none")
    targets = [target for _, target in pairs]
    found = train_converter(source_trees, targets, rng=rng, epochs=epochs, projective=projective)
    if all(set(target.deprels) <= {UNSPECIFIED} for target in targets):
        notice("no target word has a relation, so none is learned: the converter keeps those of the source")
    # Only if the source style is UD's.
    seen = Counter(bare_relation(relation) for tree in source_trees for relation in tree.deprels)
    universal = sum(seen[relation] for relation in UNIVERSAL_RELATIONS)
    unseen = sorted(UNIVERSAL_RELATIONS - _RARE - set(seen))
    if unseen and universal > _MOSTLY * (seen.total() - seen[UNSPECIFIED]):
        kept = "the converter keeps these relations unchanged"
        notice(f"no source tree has {', '.join(unseen)}: {kept}")
    return found


def convert_treebank(converter: Converter, sentences: Iterable[Sentence]) -> Iterator[ConvertedSentence]:
    """Convert each tree to the target style; too long ones are unchanged. MissingTreeError without heads."""
    known = {bare_relation(relation) for relation in converter.relations.relations}
    left, long = Counter[str](), 0
    for sentence in track(sentences, "converting", unit="sentence"):
        check_has_whole_tree(sentence)
        if len(sentence) > MAX_WORDS:
            long += 1
            yield ConvertedSentence(sentence, None, 0.0)
            continue
        conversion = converter.convert(sentence)
        left.update(relation for relation in conversion.relations if bare_relation(relation) not in known)
        yield ConvertedSentence(sentence, conversion, float((1.0 - conversion.probabilities).sum()))
    if long:
        sentences_left = f"{pluralise(long, 'sentence')} of more than {MAX_WORDS:,} words"
        notice(f"{sentences_left} written unchanged, not converted")
    if known and left:
        shown = listed_first([f"{relation} {count:,}" for relation, count in left.most_common()], _NAMED)
        notice(
            f"relations of the old style are left on {pluralise(left.total(), 'word')}: {shown}; the "
            "converter has not seen them in the new style: train it with trees that have them (qsproj adapt)"
        )


def least_sure_first(converted: Iterable[ConvertedSentence]) -> list[Sentence]:
    return [
        with_comment(one.sentence(confidence=True), "expected_errors", f"{one.expected_errors:.2f}")
        for one in sorted(converted, key=lambda one: -one.expected_errors / len(one.source))
    ]
