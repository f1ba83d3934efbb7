"""Find the questions of convention that a bitext raises, and the target words that each would settle."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

import numpy as np

from qsproj.corpus.characters import lower_form
from qsproj.corpus.language.lexicon import QUESTION
from qsproj.corpus.language.questions import QUESTIONS, practice, questions_in, share_of_languages
from qsproj.corpus.sentence import Sentence, SentencePair
from qsproj.models.tagging.tagger import Tagger

# Number of pairs in which links are counted, and of target sentences tagged.
PAIRS, SENTENCES = 10_000, 2000
# Least share of a word's links to the class of a question, where the tagger is sure, and where it is not.
LEAST_LINKS, LEAST_LINKS_OF_UNSURE = 0.5, 0.2
# Least probability of two of the tags of a question for an unsure word.
UNSURE = 0.2
# Least mean probability of all tags of a question: a word with others is no matter of this convention.
LEAST_TAGS = 0.8
# Least links an occurrence, and least occurrences, of a word in question.
LEAST_LINKED, LEAST_COUNT = 0.15, 5
MOST_WORDS = 40
# Least expected number of wrong occurrences of a listed question.
LEAST_WRONG = 1.0


@dataclass(frozen=True, slots=True)
class Asked:
    """A question about words of a target language.

    ``tags``: the possible answers, the model's first. ``words``: those that the answer settles, lower case,
    the most frequent first. ``wrong``: expected number of occurrences with a wrong tag: the model's share of
    them times the share of languages with another convention.
    """

    name: str
    tags: tuple[str, ...]
    in_text: int
    in_bitext: int
    wrong: float
    words: tuple[str, ...]

    def __str__(self) -> str:
        """Return the line of a file of suggested words."""
        known = practice().get(self.name, {})
        used = "; ".join(f"{tag}: {' '.join(languages)}" for tag, languages in known.items())
        cells = (
            f"{QUESTION}{self.name}",
            " ".join(self.tags),
            self.in_text,
            self.in_bitext,
            f"{self.wrong:.1f}",
            " ".join(self.words),
            f"treebanks: {used}",
        )
        return "\t".join(map(str, cells))


@dataclass(slots=True)
class _Links:
    """Links of a target word: all, and by question. Mutable; final."""

    every: float = 0.0
    of_question: Counter[str] = field(default_factory=Counter)


def asked_questions(
    tagger: Tagger,
    pairs: Iterable[SentencePair],
    *,
    text: Sequence[Sentence],
    bitext: Sequence[Sentence],
) -> list[Asked]:
    """Return the questions whose answers would settle most, best first.

    ``pairs``: with source trees and weighted links. A word is in question if most of its links are to source
    words of the class, or some and the tagger is unsure between two of the answers; no word is in two
    questions.
    """
    links = _links(pairs)
    in_text, in_bitext = counts_of(text), counts_of(bitext)
    shares = _mean_tags(tagger, evenly(bitext, SENTENCES), set(links))
    columns = {tag: column for column, tag in enumerate(tagger.tags)}
    found, taken = list[Asked](), set[str]()
    for question in QUESTIONS:
        answers = [columns[tag] for tag in question.tags if tag in columns]
        words = list[str]()
        for word in sorted(set(links) - taken, key=lambda word: (-in_bitext[word], word)):
            own, tags = links[word], shares.get(word)
            if tags is None or in_bitext[word] < LEAST_COUNT or own.every < LEAST_LINKED * in_bitext[word]:
                continue
            unsure = bool(np.sum(tags[answers] >= UNSURE) > 1)
            least = LEAST_LINKS_OF_UNSURE if unsure else LEAST_LINKS
            if own.of_question[question.name] >= least * own.every and tags[answers].sum() >= LEAST_TAGS:
                words.append(word)
        if not words:
            continue
        words = words[:MOST_WORDS]
        # The tag of each word by the model, weighted by its occurrences in the text to be parsed.
        weights = {word: in_text[word] if text else in_bitext[word] for word in words}
        mass = dict.fromkeys(question.tags, 0.0)
        for tag in columns.keys() & mass:
            mass[tag] = sum(float(shares[word][columns[tag]]) * weights[word] for word in words)
        wrong = sum(count * (1.0 - share_of_languages(question.name, tag)) for tag, count in mass.items())
        if wrong < LEAST_WRONG:
            continue
        taken.update(words)
        found.append(
            Asked(
                name=question.name,
                tags=tuple(sorted(question.tags, key=lambda tag: -mass[tag])),
                in_text=sum(in_text[word] for word in words),
                in_bitext=sum(in_bitext[word] for word in words),
                wrong=wrong,
                words=tuple(words),
            )
        )
    return sorted(found, key=lambda one: (-one.wrong, one.name))


def _links(pairs: Iterable[SentencePair]) -> Mapping[str, _Links]:
    found: dict[str, _Links] = defaultdict(_Links)
    for pair in islice(pairs, PAIRS):
        classes = questions_in(pair.source)
        for source, form, share in weighted_links(pair):
            found[form].every += share
            for question in classes[source - 1]:
                found[form].of_question[question.name] += share
    return found


def weighted_links(pair: SentencePair) -> Iterator[tuple[int, str, Any]]:
    """Yield source word 1..n, lower-cased target form and weight of each link."""
    links, weights = pair.alignment.links, pair.alignment.weights
    shares = np.ones(len(links)) if weights is None else weights
    for (source, target), share in zip(links.tolist(), shares.tolist(), strict=True):
        yield source, lower_form(pair.target.forms[target - 1]), share


def evenly(sentences: Sequence[Sentence], most: int) -> Sequence[Sentence]:
    """Return at most ``most`` sentences at equal distances in a text."""
    return sentences[:: max(-(-len(sentences) // most), 1)]


def _mean_tags(tagger: Tagger, sentences: Iterable[Sentence], words: set[str]) -> dict[str, np.ndarray]:
    """Return the mean tag probabilities of words by their lower-cased form, float64[T]."""
    sums: dict[str, np.ndarray] = {}
    counts: Counter[str] = Counter()
    for sentence in sentences:
        forms = list(map(lower_form, sentence.forms))
        if words.isdisjoint(forms):
            continue
        for form, tags in zip(forms, tagger.tag_distribution(sentence), strict=True):
            sums[form] = sums.get(form, 0.0) + tags
            counts[form] += 1
    return {form: total / counts[form] for form, total in sums.items()}


def counts_of(sentences: Iterable[Sentence]) -> Counter[str]:
    return Counter(lower_form(form) for sentence in sentences for form in sentence.forms)
