"""Suggest the most useful annotation: questions of convention, words to tag in a lexicon, trees.

*Source* on the value of an hour of words and sentences: Garrette and Baldridge (2013), "Learning a
part-of-speech tagger from two hours of annotation".
"""

from collections import Counter, defaultdict, deque
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path

import numpy as np

from qsproj.corpus.characters import lower_form
from qsproj.corpus.files import open_output
from qsproj.corpus.language.lexicon import QUESTION, SUGGESTIONS_HEADER, read_lexicon
from qsproj.corpus.language.questions import QUESTIONS, practice, questions_in, share_of_languages
from qsproj.corpus.pairs.aligned import AlignedFiles
from qsproj.corpus.pairs.translations import Translations, join_same_targets
from qsproj.corpus.sentence import Sentence, SentencePair
from qsproj.evaluation.calibration import stated_confidences
from qsproj.models.tagging.tagger import Tagger
from qsproj.pipelines.suggest import Candidate, Costs, Kind, rank, tag_kinds, word_kinds

MOST_WORDS = 500
# Number of candidates for suggested sentences.
CANDIDATES = 500
# Maximum number of sentences tagged to estimate the errors of words.
JUDGED_SENTENCES = 8000
# Number of pairs in which links are counted.
LINKED_PAIRS = 10_000
# Minimum mean probability of a listed tag.
LEAST_TAG = 0.05
# Context words on each side in the example.
CONTEXT = 6
# Thresholds of a contradiction: the word is frequent, mostly linked, and most links are to another tag.
FREQUENT = 20
LEAST_LINKED = 0.5
LEAST_AGREED = 0.6
# Value of a tag for words of the same stem, as a share of their own.
SHARE_OF_STEM = 0.25
SHORTEST_STEM = 4
LONGEST_ENDING = 3
# Number of target sentences tagged to find words in question.
QUESTIONED_SENTENCES = 2000
# Least share of a word's links to the class of a question, where the tagger is sure, and where it is not.
LEAST_LINKS, LEAST_LINKS_OF_UNSURE = 0.5, 0.2
# Least probability of two of the tags of a question for an unsure word.
UNSURE = 0.2
# Least mean probability of all tags of a question: a word with others is no matter of this convention.
LEAST_ANSWERS = 0.8
# Least links an occurrence, and least occurrences, of a word in question.
LEAST_LINKED_OF_ASKED, LEAST_COUNT = 0.15, 5
MOST_ASKED = 40
# Least expected number of wrong occurrences of a listed question.
LEAST_WRONG = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Suggestion:
    """A line of a file of suggested words.

    ``tags``: possible ones, the model's most probable first. ``in_text``, ``in_bitext``: number of
    occurrences. ``wrong``: expected number of occurrences with a wrong tag.
    """

    tags: tuple[str, ...]
    in_text: int
    in_bitext: int
    wrong: float

    def line(self, name: str, *more: str) -> str:
        cells = (name, " ".join(self.tags), self.in_text, self.in_bitext, f"{self.wrong:.1f}", *more)
        return "\t".join(map(str, cells))


@dataclass(frozen=True, slots=True, kw_only=True)
class SuggestedWord(Suggestion):
    """A word for a lexicon, in lower case, and an example: a context, with the word in square brackets."""

    form: str
    example: str

    def __str__(self) -> str:
        return self.line(self.form, self.example)


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked(Suggestion):
    """A question about words of a target language.

    ``words``: those that the answer settles, lower case, the most frequent first. ``wrong``: the model's
    share of them times the share of languages with another convention. ``others``: expected number of words
    that have another tag than the others, and are to be left out.
    """

    name: str
    words: tuple[str, ...]
    others: float

    def __str__(self) -> str:
        known = practice().get(self.name, {})
        used = "; ".join(f"{tag}: {' '.join(languages)}" for tag, languages in known.items())
        return self.line(f"{QUESTION}{self.name}", " ".join(self.words), f"treebanks: {used}")


@dataclass(slots=True)
class _Judged:
    """Statistics of the tagger on the occurrences of a word. Mutable; final."""

    tags: np.ndarray
    count: int = 0
    doubt: float = 0.0
    worst: float = -1.0
    example: str = ""


@dataclass(frozen=True, slots=True)
class LinkedTags:
    """Links of target words: weight by tag and by question of the source word; occurrences of the word."""

    votes: Mapping[str, Counter[str]] = field(default_factory=dict)
    questions: Mapping[str, Counter[str]] = field(default_factory=dict)
    counts: Mapping[str, int] = field(default_factory=dict)

    @classmethod
    def of(cls, corpus: Iterable[Translations]) -> "LinkedTags":
        """Count the words of each target sentence once, and their links as the mean of its translations."""
        votes, questions = defaultdict[str, Counter[str]](Counter), defaultdict[str, Counter[str]](Counter)
        counts: Counter[str] = Counter()
        for translations in islice(corpus, LINKED_PAIRS):
            forms = list(map(lower_form, translations[0].target.forms))
            counts.update(forms)
            for pair in translations:
                classes = questions_in(pair.source)
                links, shares = pair.alignment.links.tolist(), pair.alignment.shares / len(translations)
                for (source, target), share in zip(links, shares.tolist(), strict=True):
                    votes[forms[target - 1]][pair.source.upos[source - 1]] += share
                    for question in classes[source - 1]:
                        questions[forms[target - 1]][question.name] += share
        return cls(votes, questions, counts)

    def share_against(self, word: str, tag: str) -> float:
        """Return the share of occurrences linked to one other tag; 0 where links are weak."""
        count, votes = self.counts.get(word, 0), self.votes.get(word)
        if count < FREQUENT or not votes:
            return 0.0
        (best, weight), total = votes.most_common(1)[0], votes.total()
        if best == tag or total < LEAST_LINKED * count or weight < LEAST_AGREED * total:
            return 0.0
        return min(weight / count, 1.0)


def targets_with_links(corpora: Sequence[Iterable[SentencePair]]) -> tuple[list[Sentence], LinkedTags]:
    """Return the target sentences of bitexts, those that several share once, and the first ones' links."""
    targets = list[Sentence]()

    def noted() -> Iterator[Translations]:
        for translations in join_same_targets(corpora):
            targets.append(translations[0].target)
            yield translations

    joined = noted()
    linked = LinkedTags.of(joined)
    deque(joined, maxlen=0)  # the sentences whose links are not counted
    return targets, linked


def suggested_words(
    tagger: Tagger,
    *,
    text: Sequence[Sentence],
    bitext: Sequence[Sentence],
    linked: LinkedTags,
    count: int = MOST_WORDS,
    known: Collection[str] = (),
) -> list[SuggestedWord]:
    """Return the words whose tags would help a tagger most, best first, without the ``known`` ones.

    The value of a word is its expected number of wrongly tagged occurrences, in ``text`` or else in
    ``bitext``, plus a share of those of words with the same stem that were not suggested before. For a
    frequent word tagged against its links, all linked occurrences count as wrong.
    """
    judged = text or bitext
    read = evenly(judged, JUDGED_SENTENCES)
    scale = len(judged) / max(len(read), 1)
    words = _judged(tagger, read)
    wrong = {}
    for form, of_word in words.items():
        if form in known:
            continue
        against = linked.share_against(form, tagger.tags[int(of_word.tags.argmax())])
        wrong[form] = scale * max(of_word.doubt, against * of_word.count)
    in_text, in_bitext = counts_of(text), counts_of(bitext)
    return [
        SuggestedWord(
            form=form,
            tags=_listed_tags(tagger, words[form]),
            in_text=in_text[form],
            in_bitext=in_bitext[form],
            wrong=wrong[form],
            example=words[form].example,
        )
        for form in _by_worth(wrong)[:count]
    ]


def _judged(tagger: Tagger, sentences: Iterable[Sentence]) -> dict[str, _Judged]:
    found: dict[str, _Judged] = {}
    for sentence in sentences:
        tags = tagger.tag_distribution(sentence)
        for position, form in enumerate(sentence.forms):
            if not any(map(str.isalpha, form)):
                continue
            of_word = found.setdefault(lower_form(form), _Judged(np.zeros(len(tagger.tags))))
            doubt = 1.0 - float(tags[position].max())
            of_word.count += 1
            of_word.doubt += doubt
            of_word.tags += tags[position]
            if doubt > of_word.worst:
                of_word.worst, of_word.example = doubt, _context(sentence.forms, position)
    return found


def _context(forms: Sequence[str], position: int) -> str:
    words = list(forms)
    words[position] = f"[{words[position]}]"
    return " ".join(words[max(position - CONTEXT, 0) : position + CONTEXT + 1])


def _listed_tags(tagger: Tagger, word: _Judged) -> tuple[str, ...]:
    shares = word.tags / word.count
    order = np.argsort(-shares, kind="stable").tolist()
    return tuple(tagger.tags[tag] for tag in order if tag == order[0] or shares[tag] >= LEAST_TAG)


def _by_worth(wrong: Mapping[str, float]) -> list[str]:
    """Return words by value; the best word of a stem gains a share of the value of the others."""
    of_stem: dict[str, list[str]] = defaultdict(list)
    for form in sorted(wrong, key=lambda form: (-wrong[form], form)):
        of_stem[form[: max(len(form) - LONGEST_ENDING, SHORTEST_STEM)]].append(form)
    worth = {}
    for best, *others in of_stem.values():
        worth[best] = wrong[best] + SHARE_OF_STEM * sum(wrong[other] for other in others)
        worth |= {other: (1.0 - SHARE_OF_STEM) * wrong[other] for other in others}
    return sorted(worth, key=lambda form: (-worth[form], form))


def asked_questions(
    tagger: Tagger,
    *,
    text: Sequence[Sentence],
    bitext: Sequence[Sentence],
    linked: LinkedTags,
    known: Collection[str] = (),
) -> list[Asked]:
    """Return the questions whose answers would settle most, best first.

    A word is in question if most of its links are to source words of the class, or some and the tagger is
    unsure between two of the answers; no word is in two questions, and no ``known`` word in any.
    """
    in_text, in_bitext = counts_of(text), counts_of(bitext)
    judged = _judged(tagger, evenly(bitext, QUESTIONED_SENTENCES))
    shares = {form: of_word.tags / of_word.count for form, of_word in judged.items()}
    links = {form: votes.total() for form, votes in linked.votes.items()}
    columns = {tag: column for column, tag in enumerate(tagger.tags)}
    found = list[Asked]()
    taken = set(known)
    for question in QUESTIONS:
        answers = [columns[tag] for tag in question.tags if tag in columns]
        words = list[str]()
        for word in sorted(set(links) - taken, key=lambda word: (-in_bitext[word], word)):
            of_word, count = shares.get(word), in_bitext[word]
            if of_word is None or count < LEAST_COUNT or links[word] < LEAST_LINKED_OF_ASKED * count:
                continue
            unsure = bool(np.sum(of_word[answers] >= UNSURE) > 1)
            least = LEAST_LINKS_OF_UNSURE if unsure else LEAST_LINKS
            asked = linked.questions[word][question.name] if word in linked.questions else 0.0
            if asked >= least * links[word] and of_word[answers].sum() >= LEAST_ANSWERS:
                words.append(word)
        if not words:
            continue
        words = words[:MOST_ASKED]
        # The tag of each word by the model, weighted by its occurrences in the text to be parsed.
        weights = {word: in_text[word] if text else in_bitext[word] for word in words}
        mass = dict.fromkeys(question.tags, 0.0)
        for tag in columns.keys() & mass:
            mass[tag] = sum(float(shares[word][columns[tag]]) * weights[word] for word in words)
        wrong = sum(count * (1.0 - share_of_languages(question.name, tag)) for tag, count in mass.items())
        if wrong < LEAST_WRONG:
            continue
        taken.update(words)
        tags = tuple(sorted(question.tags, key=lambda tag: -mass[tag]))
        found.append(
            Asked(
                name=question.name,
                tags=tags,
                in_text=sum(in_text[word] for word in words),
                in_bitext=sum(in_bitext[word] for word in words),
                wrong=wrong,
                words=tuple(words),
                others=sum(1.0 - float(shares[word][columns[tags[0]]]) for word in words),
            )
        )
    return sorted(found, key=lambda one: (-one.wrong, one.name))


def by_the_second(
    asked: Iterable[Asked], listed: Iterable[SuggestedWord], costs: Costs | None = None
) -> list[Asked | SuggestedWord]:
    """Merge questions and words, so that a question precedes the words that settle less by the second.

    Questions are not always worth their time: asked first, they cost 4 points of LAS after ten minutes of
    Armenian, and 3 after forty of Estonian.
    """
    costs = costs or Costs()

    def settled(question: Asked) -> float:
        return question.wrong / costs.of_draft(len(question.words), question.others)

    waiting = sorted(asked, key=settled)
    found = list[Asked | SuggestedWord]()
    for word in listed:
        while waiting and settled(waiting[-1]) >= word.wrong / costs.listed_word:
            found.append(waiting.pop())
        found.append(word)
    return [*found, *reversed(waiting)]


def evenly(sentences: Sequence[Sentence], most: int) -> Sequence[Sentence]:
    """Return at most ``most`` sentences at equal distances in a text."""
    return sentences[:: max(-(-len(sentences) // most), 1)]


def counts_of(sentences: Iterable[Sentence]) -> Counter[str]:
    return Counter(lower_form(form) for sentence in sentences for form in sentence.forms)


def suggested_sentences(
    parsed: Sequence[Sentence], tagger: Tagger, annotated: Sequence[Sentence], *, count: int
) -> Iterator[Sentence]:
    """Yield the parsed sentences, with ``ArcProb`` in MISC, that teach most by the second, best first.

    A tag teaches all words of the form, an arc all words with the same tags around them.
    """
    candidates = []
    for sentence in parsed:
        arcs = np.nan_to_num(stated_confidences(sentence, name="parsed")[1:], nan=1.0)
        tags = tagger.tag_distribution(sentence).max(axis=1)
        candidates.append(Candidate(sentence, 1.0 - np.concatenate([tags, arcs])))

    def kinds(sentence: Sentence) -> list[Kind]:
        return [*word_kinds(sentence), *tag_kinds(sentence)]

    for candidate in rank(candidates, annotated=annotated, count=count, kinds=kinds):
        yield candidate.sentence


def write_words(
    path: str | Path,
    *,
    tagger: Tagger,
    text: Sequence[Sentence],
    corpora: Sequence[AlignedFiles],
    lexicon: str | None = None,
) -> None:
    """Write questions and words in the format of :func:`qsproj.corpus.language.lexicon.read_lexicon`.

    ``text``: the raw text, if there is any. Words whose tags the ``lexicon`` gives are left out.
    """
    targets, linked = targets_with_links(corpora)
    known = set(map(lower_form, read_lexicon(lexicon).tags)) if lexicon else set()
    asked = asked_questions(tagger, text=text, bitext=targets, linked=linked, known=known)
    listed = suggested_words(tagger, text=text, bitext=targets, linked=linked, known=known)
    with open_output(path) as handle:
        handle.writelines(f"{one}\n" for one in (SUGGESTIONS_HEADER, *by_the_second(asked, listed)))
