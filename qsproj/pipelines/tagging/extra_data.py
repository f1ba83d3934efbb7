"""Sentences beside those of the bitext: few tagged ones, raw text as the tagger reads it, numbers as digits.

Tagged sentences are learned from, and judge whether links help. A New Testament says nothing of most words of
today. Raw text of the language has them, in context: a tagger says what they are likely to be, the next
learns from that. And where a text spells all numbers out, a sentence with one of them in digits teaches what
digits are.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from operator import itemgetter

import numpy as np
from numpy.typing import NDArray

from qsproj.conventions import Mask
from qsproj.corpus.cells import UNSPECIFIED
from qsproj.corpus.contractions import (
    Contractions,
    learn_contractions,
    merge_contractions,
    split_contractions,
)
from qsproj.corpus.editing import with_columns
from qsproj.corpus.language.lexicon import Inflection, WordTags
from qsproj.corpus.sentence import Sentence
from qsproj.corpus.token import multiword_tokens
from qsproj.errors import UsageError, pluralise
from qsproj.models.morphology.analyses import feature_cell, feature_pairs
from qsproj.models.morphology.morphology_training import columns_shown, train_morphology
from qsproj.models.tagging.tagger import Tagger
from qsproj.models.tagging.tagger_training import LogEvidence, SetExample, TaggerOptions, train_tagger
from qsproj.pipelines.tagging.linked_text import LinkedText
from qsproj.pipelines.tagging.tag_evidence import Sets, allowed_tags

# Of fewer tagged sentences none is set aside to judge by.
FEWEST = 50
# In percent. A tagger that is worse by more than this without word classes is worse with them.
WORTH_OF_CLASSES = 2.0
# Standard deviations of the difference: one in twenty is larger by chance.
SURELY = 1.64
# Tagged sentences tell features of a tag by so many words; they are sure of them with this probability.
FEWEST_WORDS = 5
SURE = 0.5
NUMERAL = "NUM"
# However sure a tagger is: so much, in natural logs, is still open to doubt.
MOST_DOUBTED = -12.0
# No tag counts as rarer than this where probabilities are divided by how frequent it is.
RAREST = 0.03
# A tag less likely than this, in natural logs, is none that a number in words may have. Links alone make none
# so unlikely (DOUBT in tag_evidence); sets of types, and a tagger that is sure, do.
UNLIKELY = -3.0
# A text in which so many words are digits shows what they are.
ENOUGH_IN_DIGITS = 100
# Else numbers are replaced by these in turn.
FIGURES = ("7", "12", "150", "2015", "3,5", "1.000")

Words = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class FewTagged:
    """Tagged sentences, UPOS on every word, maybe none; word (as it is and lower-cased) to tag to count."""

    sentences: tuple[Sentence, ...]
    counts: Mapping[str, Mapping[str, int]]
    contractions: Contractions

    @classmethod
    def of(cls, sentences: Sequence[Sentence]) -> "FewTagged":
        """Count what the sentences show; UsageError when a word has no UPOS."""
        counts: dict[str, Counter[str]] = {}
        for number, sentence in enumerate(sentences, start=1):
            if UNSPECIFIED in sentence.upos:
                word = sentence.forms[sentence.upos.index(UNSPECIFIED)]
                raise UsageError(
                    f"tagged sentence {sentence.sent_id or number}: {word!r} has no UPOS, expected one on "
                    "every word; tag it or leave the sentence out"
                )
            for form, tag in zip(sentence.forms, sentence.upos, strict=True):
                for known in {form, form.lower()}:
                    counts.setdefault(known, Counter())[tag] += 1
        return cls(tuple(sentences), counts, learn_contractions(sentences))

    def split(self) -> "tuple[FewTagged, tuple[Sentence, ...]]":
        """Return all but every fifth sentence, and these; all and none where there are fewer than FEWEST."""
        if len(self.sentences) < FEWEST:
            return self, ()
        rest = [sentence for number, sentence in enumerate(self.sentences) if number % 5 != 4]
        return FewTagged.of(rest), self.sentences[4::5]

    @property
    def inflections(self) -> list[Inflection]:
        """Forms with lemma and features, the commonest first."""
        found = Counter(
            Inflection(form, lemma, (tag,), feats)
            for one in self.sentences
            for form, lemma, tag, feats in zip(one.forms, one.lemmas, one.upos, one.feats, strict=True)
            if lemma != UNSPECIFIED
        )
        return [inflection for inflection, _ in found.most_common()]

    @property
    def shows_features(self) -> bool:
        return "feats" in columns_shown(self.sentences)

    @property
    def tags(self) -> set[str]:
        return {tag for sentence in self.sentences for tag in sentence.upos}

    def examples(self, tags: Words, *, strength: float) -> list[SetExample]:
        """Return the sentences to train on; one with multiword tokens also with these whole, at half each."""
        examples = []
        for sentence in self.sentences:
            versions: list[tuple[Words, Words]] = [(sentence.forms, sentence.upos)]
            if multiword_tokens(sentence):
                versions.append(merge_contractions(sentence))
            examples += [
                SetExample(forms, settled(upos, tags), strength / len(versions), trusted=True)
                for forms, upos in versions
            ]
        return examples


def with_tagged_features(
    sentences: Sequence[Sentence], tagged: Sequence[Sentence], *, rng: np.random.Generator
) -> list[Sentence]:
    """Return sentences whose features links tell, corrected by what few tagged sentences teach.

    Words that these have, and those of whose features they are sure, have theirs; others have those of
    links, as far as words of the tag have such values, and beside them theirs. Of a tag that these hardly
    have, links tell all. On dev files, F1 of all attributes with 20 and 100 sentences, and of these alone:
    Talbanken 80.1, 83.6 (78.2, 83.5), German-GSD 66.9, 79.3 (63.1, 78.6), Spanish-GSD 85.2, 90.4 (82.8,
    89.9).
    """
    learned = train_morphology(tagged, rng=rng, columns=["feats"])
    assert learned is not None
    words: Counter[str] = Counter(tag for one in tagged for tag in one.upos)
    known = {(form.lower(), tag) for one in tagged for form, tag in zip(one.forms, one.upos, strict=True)}
    values = {
        (tag, pair)
        for one in tagged
        for tag, cell in zip(one.upos, one.feats, strict=True)
        for pair in feature_pairs(cell)
    }
    corrected = []
    for sentence in sentences:
        own = [one.feats for one in learned.analyses(sentence.forms, sentence.upos)]
        sure = learned.feature_probabilities(sentence.forms, sentence.upos, own) >= SURE
        cells = []
        for form, tag, linked, told, certain in zip(
            sentence.forms, sentence.upos, sentence.feats, own, sure.tolist(), strict=True
        ):
            cell = told
            if words[tag] < FEWEST_WORDS:
                cell = linked
            elif not certain and (form.lower(), tag) not in known:
                found = dict(feature_pairs(told))
                found.update(pair for pair in feature_pairs(linked) if (tag, pair) in values)
                cell = feature_cell(found)
            cells.append(cell)
        corrected.append(with_columns(sentence, feats=cells))
    return corrected


def settled(upos: Iterable[str], tags: Words) -> LogEvidence:
    """Return the evidence of words that have one tag each, float32[n, T]: 0 for it, -inf for the others."""
    columns = [tags.index(tag) for tag in upos]
    evidence = np.full((len(columns), len(tags)), -np.inf, dtype=np.float32)
    evidence[np.arange(len(columns)), columns] = 0.0
    return evidence


def words_right(tagger: Tagger, sentences: Iterable[Sentence]) -> Mask:
    """Return which of the words of all sentences get their tag, bool[N]."""
    found = [np.array(tagger.tag_words(one.forms)) == np.array(one.upos) for one in sentences]
    return np.concatenate(found)


def compare_with_tagged_alone(
    tagger: Tagger,
    text: LinkedText,
    learned_from: FewTagged,
    aside: Sequence[Sentence],
    *,
    rng: np.random.Generator,
) -> tuple[bool, list[str]]:
    """Return whether tagged sentences alone teach more than these and links do, and lines that say so.

    Both taggers learned from the same sentences and are tested on those set ``aside``; without, links win,
    and where the difference may be chance (sign test): the tagger with links gets better still, by what they
    bring to each word.
    The other tagger has word classes of the text, where it may win by them.
    """
    if not aside:
        return False, []
    with_links = words_right(tagger, aside)
    options = TaggerOptions(self_training=0)
    alone = words_right(train_tagger(learned_from.sentences, rng=rng, options=options), aside)
    if 100.0 * alone.mean() > 100.0 * with_links.mean() - WORTH_OF_CLASSES:
        richer = train_tagger(learned_from.sentences, rng=rng, raw=text.sentences, options=options)
        alone = max(alone, words_right(richer, aside), key=np.mean)
    differ = np.count_nonzero(alone != with_links)
    wins = bool(alone.sum() - with_links.sum() > SURELY * np.sqrt(differ))
    lines = [
        f"{pluralise(len(aside), 'tagged sentence')} set aside: {100.0 * with_links.mean():.1f}% of words "
        f"right with links, {100.0 * alone.mean():.1f}% without"
    ]
    if wins:
        lines.append("links do not help: learned from the tagged sentences and the raw text alone")
    return wins, lines


@dataclass(frozen=True, slots=True, eq=False)
class RawText:
    """Sentences of the target language."""

    sentences: tuple[Words, ...]  # their words; none is empty
    rows: dict[str, int]  # word to its row of ``allowed``
    allowed: Sets  # bool[V, T], the tags that script and lexicon leave each word

    @classmethod
    def of(
        cls,
        sentences: Iterable[Sequence[str]],
        *,
        tags: Sequence[str],
        lexicon: WordTags,
        contractions: Contractions,
        most: int,
        rng: np.random.Generator,
    ) -> "RawText":
        """Split contractions, and look up what each word may be; of more sentences draw ``most``.

        *Source*: algorithm R of Vitter (1985).
        """
        kept: list[tuple[int, Words]] = []
        for number, tokens in enumerate(filter(len, sentences)):
            place = number if number < most else int(rng.integers(number + 1))
            if place < most:
                kept[place : place + 1] = [(number, tuple(split_contractions(tokens, contractions)[0]))]
        words = tuple(forms for _, forms in sorted(kept, key=itemgetter(0)))
        rows: dict[str, int] = {}
        for forms in words:
            for form in forms:
                rows.setdefault(form, len(rows))
        return cls(words, rows, allowed_tags(tuple(rows), tags, lexicon))

    def sets_of(self, forms: Words) -> Sets:
        """Return the tags that the words of a sentence may have, bool[n, T]."""
        return self.allowed[[self.rows[form] for form in forms]]


def as_tagged(
    tagger: Tagger, raw: RawText, sentences: Sequence[Words], *, strength: float, balance: float
) -> list[SetExample]:
    """Return sentences of raw text with the probabilities of their tags, by a tagger, as evidence."""
    found = [tagger.distribution_within(forms, raw.sets_of(forms)) for forms in sentences]
    if not found:
        return []
    ends = np.cumsum([len(forms) for forms in sentences])
    evidence = np.split(balanced(np.concatenate(found), balance), ends[:-1])
    return [SetExample(forms, of, strength) for forms, of in zip(sentences, evidence, strict=True)]


def balanced(probabilities: NDArray[np.floating], power: float) -> LogEvidence:
    """Return a tagger's probabilities of words' tags, [N, T], as evidence to learn from, natural log.

    A tagger that learns from its own tags gives frequent ones to ever more words: NOUN takes from ADJ. So
    probabilities are divided by a ``power`` of how frequent the tag is in all N words.

    Source: targets divided by frequency are from Xie, Girshick and Farhadi (2016), "Unsupervised deep
    embedding for clustering analysis", equation 3; the power is ours.
    """
    frequency = np.maximum(probabilities.mean(axis=0, dtype=np.float64), RAREST)
    with np.errstate(divide="ignore"):
        evidence = np.log(probabilities) - power * np.log(frequency)
    evidence -= evidence.max(axis=1, keepdims=True)
    return np.maximum(evidence, MOST_DOUBTED).astype(np.float32)


def in_digits(examples: Sequence[SetExample], tags: Sequence[str], *, most: int) -> list[SetExample]:
    """Return the first sentences, ``most`` of them, with a word that can but be a number, this in digits.

    None where the text shows what digits are.
    """
    shown = sum(form[0].isdigit() for example in examples for form in example.forms)
    if NUMERAL not in tags or shown >= ENOUGH_IN_DIGITS:
        return []
    found: list[SetExample] = []
    for example in examples:
        place = _number(example.log_evidence, tags.index(NUMERAL))
        if place is not None and len(found) < most:
            figure = FIGURES[len(found) % len(FIGURES)]
            forms = (*example.forms[:place], figure, *example.forms[place + 1 :])
            found.append(SetExample(forms, example.log_evidence, example.strength))
    return found


def _number(evidence: LogEvidence, numeral: int) -> int | None:
    """Return the first word for which nothing but a number is likely."""
    possible = evidence >= UNLIKELY
    certain = np.nonzero(possible[:, numeral] & (possible.sum(axis=1) == 1))[0]
    return int(certain[0]) if len(certain) else None
