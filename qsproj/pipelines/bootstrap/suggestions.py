"""Suggest the most useful annotation: questions of convention, words to tag in a lexicon, trees.

*Source* on the value of an hour of words and sentences: Garrette and Baldridge (2013), "Learning a
part-of-speech tagger from two hours of annotation".
"""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import log, sqrt
from pathlib import Path

import numpy as np

from qsproj.corpus.characters import lower_form
from qsproj.corpus.files import open_output
from qsproj.corpus.language.lexicon import QUESTION, SUGGESTIONS_HEADER, read_lexicon
from qsproj.corpus.language.questions import QUESTIONS, practice, questions_in, share_of_languages
from qsproj.corpus.pairs.aligned import AlignedFiles
from qsproj.corpus.pairs.translations import Translations, join_same_targets
from qsproj.corpus.sentence import Sentence
from qsproj.evaluation.calibration import stated_confidences
from qsproj.models.tagging.tagger import Tagger
from qsproj.pipelines.suggest import Candidate, Costs, Kind, rank, tag_kinds, word_kinds
from qsproj.pipelines.tagging.conventions import Annotation, reannotated

MOST_WORDS = 500
CANDIDATES = 500  # number of candidates for suggested sentences
# Most sentences tagged to find errors of words, and words of questions; most pairs whose links are counted.
JUDGED_SENTENCES, QUESTIONED_SENTENCES, LINKED_PAIRS = 8000, 2000, 10_000
LEAST_TAG = 0.05  # minimum mean probability of a listed tag
CONTEXT = 6  # context words on each side in the example
# Thresholds of a contradiction: a frequent word is mostly linked, and most links are to another tag.
FREQUENT, LEAST_LINKED, LEAST_AGREED = 20, 0.5, 0.6
# Value of a tag for words of the same stem, as a share of their own.
SHARE_OF_STEM, SHORTEST_STEM, LONGEST_ENDING = 0.25, 4, 3
# Least share of a word's links to the class of a question, if the tagger is sure of its tag, and if not.
LEAST_LINKS, LEAST_LINKS_OF_UNSURE = 0.5, 0.2
UNSURE = 0.2  # least probability of two of the tags of a question for an unsure word
LEAST_ANSWERS = 0.8  # least mean probability of all tags of a question; it covers no words with other tags
# Least links per occurrence, and least occurrences, of a word in a question.
LEAST_LINKED_OF_ASKED, LEAST_COUNT = 0.15, 5
MOST_ASKED = 40
LEAST_WRONG = 1.0  # least expected number of wrong occurrences of a listed question
# Points of LAS for each percent of wrong words corrected, and for each point of accuracy of drafts, which are
# of sentences that the model is unsure of. LAS after 10, 30 and 60 minutes, first halves of development files
# of Ukrainian, Wolof, Arabic and Estonian: 48.4, 52.3, 55.7; with a fixed share of words 46.2, 51.6, 54.7.
OF_WORDS, OF_DRAFTS = 0.8, 0.5
# The accuracy of drafts is linear in log(1 + minutes / SCALE), like LAS in a simulated hour of Wolof, which
# rises by 11 points per unit. SLOPE, in points, and its standard deviation are the prior.
SCALE, SLOPE, SLOPE_DEVIATION = 30.0, 10.0, 8.0
AHEAD = 10.0
WORDS, SENTENCES = "words", "sentences"


@dataclass(frozen=True, slots=True, kw_only=True)
class Suggestion:
    """A suggestion as a line of a file, with numbers of occurrences."""

    tags: tuple[str, ...]  # possible ones, the model's most probable first
    in_text: int
    in_bitext: int
    wrong: float  # expected number of occurrences with a wrong tag

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
class SuggestedQuestion(Suggestion):
    """A question about the convention for words of a target language.

    ``words``: those that the answer settles, lower case, the most frequent first. ``wrong``: the sum over
    tags of the expected occurrences of the tag times the share of languages with another convention.
    ``others``: expected number of words with another tag than most, to be taken out of the answer.
    """

    name: str
    words: tuple[str, ...]
    others: float

    def __str__(self) -> str:
        known = practice().get(self.name, {})
        used = "; ".join(f"{tag}: {' '.join(languages)}" for tag, languages in known.items())
        return self.line(f"{QUESTION}{self.name}", " ".join(self.words), f"treebanks: {used}")


@dataclass(slots=True)
class _WordStatistics:
    """Statistics of the tagger on the occurrences of a word. Mutable; final."""

    tags: np.ndarray
    count: int = 0
    doubt: float = 0.0
    worst: float = -1.0
    example: str = ""


@dataclass(frozen=True, slots=True)
class LinkedTags:
    """Weight of the links of each target word, by tag of the source word and by question about it; counts."""

    votes: Mapping[str, Counter[str]] = field(default_factory=dict)
    questions: Mapping[str, Counter[str]] = field(default_factory=dict)
    counts: Mapping[str, int] = field(default_factory=dict)

    def share_against(self, word: str, tag: str) -> float:
        """Return the share of a word's occurrences linked to one tag other than ``tag``; 0 for weak links."""
        count, votes = self.counts.get(word, 0), self.votes.get(word)
        if count < FREQUENT or not votes:
            return 0.0
        (best, weight), total = votes.most_common(1)[0], votes.total()
        if best == tag or total < LEAST_LINKED * count or weight < LEAST_AGREED * total:
            return 0.0
        return min(weight / count, 1.0)


def targets_with_links(
    corpus: Iterable[Translations], unshared: Mapping[str, Annotation] | None = None
) -> tuple[list[Sentence], LinkedTags]:
    """Return the targets of a bitext, and the links of the first LINKED_PAIRS, averaged over translations.

    Source words count with the tags of the target's conventions, ``unshared``.
    """
    targets, counts = list[Sentence](), Counter[str]()
    votes, questions = defaultdict[str, Counter[str]](Counter), defaultdict[str, Counter[str]](Counter)
    for translations in corpus:
        targets.append(translations[0].target)
        if len(targets) > LINKED_PAIRS:
            continue
        forms = list(map(lower_form, translations[0].target.forms))
        counts.update(forms)
        for pair in translations:
            classes = questions_in(pair.source)
            links, shares = pair.alignment.links.tolist(), pair.alignment.shares / len(translations)
            tags = reannotated(pair.source, unshared or {}, alignment=pair.alignment).upos
            for (source, target), share in zip(links, shares.tolist(), strict=True):
                votes[forms[target - 1]][tags[source - 1]] += share
                for question in classes[source - 1]:
                    questions[forms[target - 1]][question.name] += share
    return targets, LinkedTags(votes, questions, counts)


def suggested_words(
    tagger: Tagger,
    *,
    text: Sequence[Sentence],
    bitext: Sequence[Sentence],
    linked: LinkedTags,
    known: Collection[str] = (),
) -> list[SuggestedWord]:
    """Return the words whose tags would help a tagger most, best first, without the ``known`` ones.

    The value of a word is its expected number of wrongly tagged occurrences in ``text``, or else ``bitext``;
    if a frequent word is tagged against its links, all linked occurrences count as wrong. The best word of a
    stem also gets a share of the value of the others.
    """
    read = thinned(text or bitext, JUDGED_SENTENCES)
    scale = len(text or bitext) / max(len(read), 1)
    words = {form: of_word for form, of_word in _word_statistics(tagger, read).items() if form not in known}
    wrong = {}
    for form, of_word in words.items():
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
        for form in _ranked_words(wrong)[:MOST_WORDS]
    ]


def _word_statistics(tagger: Tagger, sentences: Iterable[Sentence]) -> dict[str, _WordStatistics]:
    found: dict[str, _WordStatistics] = {}
    for sentence in sentences:
        for place, (form, tags) in enumerate(zip(sentence.forms, tagger.tag_distribution(sentence))):
            if not any(map(str.isalpha, form)):
                continue
            of_word = found.setdefault(lower_form(form), _WordStatistics(np.zeros(len(tagger.tags))))
            doubt = 1.0 - float(tags.max())
            of_word.count += 1
            of_word.doubt += doubt
            of_word.tags += tags
            if doubt > of_word.worst:
                before, after = sentence.forms[max(place - CONTEXT, 0) : place], sentence.forms[place + 1 :]
                of_word.worst, of_word.example = doubt, " ".join((*before, f"[{form}]", *after[:CONTEXT]))
    return found


def _listed_tags(tagger: Tagger, word: _WordStatistics) -> tuple[str, ...]:
    shares = word.tags / word.count
    order = np.argsort(-shares, kind="stable").tolist()
    return tuple(tagger.tags[tag] for tag in order if tag == order[0] or shares[tag] >= LEAST_TAG)


def _ranked_words(wrong: Mapping[str, float]) -> list[str]:
    """Rank words by value; the best word of a stem gets a share of the value of the others."""
    of_stem: dict[str, list[str]] = defaultdict(list)
    for form in sorted(wrong, key=lambda form: (-wrong[form], form)):
        of_stem[form[: max(len(form) - LONGEST_ENDING, SHORTEST_STEM)]].append(form)
    worth = {}
    for best, *others in of_stem.values():
        worth[best] = wrong[best] + SHARE_OF_STEM * sum(wrong[other] for other in others)
        worth |= {other: (1.0 - SHARE_OF_STEM) * wrong[other] for other in others}
    return sorted(worth, key=lambda form: (-worth[form], form))


def suggested_questions(
    tagger: Tagger,
    *,
    text: Sequence[Sentence],
    bitext: Sequence[Sentence],
    linked: LinkedTags,
    known: Collection[str] = (),
) -> list[SuggestedQuestion]:
    """Return the questions whose answers would correct most tags, best first.

    A question covers a word if most of its links are to source words of the class, or if some are and the
    tagger is unsure between two of the answers. No question covers ``known`` words or words of another one.
    """
    in_text, in_bitext = counts_of(text), counts_of(bitext)
    judged = _word_statistics(tagger, thinned(bitext, QUESTIONED_SENTENCES))
    shares = {form: of_word.tags / of_word.count for form, of_word in judged.items()}
    links = {form: votes.total() for form, votes in linked.votes.items()}
    columns = {tag: column for column, tag in enumerate(tagger.tags)}
    candidates = [
        word
        for word in sorted(links.keys() & shares, key=lambda word: (-in_bitext[word], word))
        if (count := in_bitext[word]) >= LEAST_COUNT and links[word] >= LEAST_LINKED_OF_ASKED * count
    ]
    found = list[SuggestedQuestion]()
    taken = set(known)
    for question in QUESTIONS:
        answers = [columns[tag] for tag in question.tags if tag in columns]
        words = list[str]()
        for word in candidates:
            of_answers = shares[word][answers]
            least = LEAST_LINKS_OF_UNSURE if np.sum(of_answers >= UNSURE) > 1 else LEAST_LINKS
            asked = linked.questions.get(word, Counter[str]())[question.name]
            if word not in taken and asked >= least * links[word] and of_answers.sum() >= LEAST_ANSWERS:
                words.append(word)
        words = words[:MOST_ASKED]
        # The tag of each word by the model, weighted by its occurrences in the text to be parsed.
        weights = in_text if text else in_bitext
        mass = dict.fromkeys(question.tags, 0.0)
        for tag in columns.keys() & mass:
            mass[tag] = sum(float(shares[word][columns[tag]]) * weights[word] for word in words)
        wrong = sum(count * (1.0 - share_of_languages(question.name, tag)) for tag, count in mass.items())
        if wrong < LEAST_WRONG:
            continue
        taken.update(words)
        tags = tuple(sorted(question.tags, key=lambda tag: -mass[tag]))
        found.append(
            SuggestedQuestion(
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


def merged_by_gain(
    asked: Iterable[SuggestedQuestion], listed: Iterable[SuggestedWord], costs: Costs | None = None
) -> list[SuggestedQuestion | SuggestedWord]:
    """Merge questions and words by expected gain per second; both lists keep their order of words.

    With all questions first, LAS was 4 points lower after ten minutes of Armenian, 3 after forty of Estonian.
    """
    costs = costs or Costs()

    def settled(question: SuggestedQuestion) -> float:
        return question.wrong / costs.of_draft(len(question.words), question.others)

    waiting = sorted(asked, key=settled)
    found = list[SuggestedQuestion | SuggestedWord]()
    for word in listed:
        while waiting and settled(waiting[-1]) >= word.wrong / costs.listed_word:
            found.append(waiting.pop())
        found.append(word)
    return [*found, *reversed(waiting)]


def thinned(sentences: Sequence[Sentence], most: int) -> Sequence[Sentence]:
    """Return at most ``most`` sentences at equal distances in a text."""
    return sentences[:: max(-(-len(sentences) // most), 1)]


def counts_of(sentences: Iterable[Sentence]) -> Counter[str]:
    return Counter(lower_form(form) for sentence in sentences for form in sentence.forms)


def suggested_sentences(
    parsed: Sequence[Sentence], tagger: Tagger, annotated: Sequence[Sentence], *, count: int
) -> Iterator[Sentence]:
    """Yield the parsed sentences with the highest expected gain per second of annotation, best first.

    ``parsed``: with ``ArcProb`` in MISC; without those that are annotated. A tag is evidence for all words of
    the form, an arc for all words with the same tags around them.
    """
    known, candidates = {sentence.forms for sentence in annotated}, []
    for sentence in parsed:
        if sentence.forms in known:
            continue
        arcs = np.nan_to_num(stated_confidences(sentence, name="parsed")[1:], nan=1.0)
        tags = tagger.tag_distribution(sentence).max(axis=1)
        candidates.append(Candidate(sentence, 1.0 - np.concatenate([tags, arcs])))

    def kinds(sentence: Sentence) -> list[Kind]:
        return [*word_kinds(sentence), *tag_kinds(sentence)]

    return (one.sentence for one in rank(candidates, annotated=annotated, count=count, kinds=kinds))


def write_lexicon(
    path: str | Path,
    *,
    tagger: Tagger,
    text: Sequence[Sentence],
    corpora: Sequence[AlignedFiles],
    lexicon: str | None = None,
) -> None:
    """Write the questions and words that are not in ``lexicon``; ``text``: raw text, possibly none."""
    targets, linked = targets_with_links(join_same_targets(corpora), tagger.unshared)
    known = set(map(lower_form, read_lexicon(lexicon).tags)) if lexicon else set()
    asked = suggested_questions(tagger, text=text, bitext=targets, linked=linked, known=known)
    listed = suggested_words(tagger, text=text, bitext=targets, linked=linked, known=known)
    with open_output(path) as handle:
        handle.writelines(f"{one}\n" for one in (SUGGESTIONS_HEADER, *merged_by_gain(asked, listed)))


@dataclass(frozen=True, slots=True)
class DraftScore:
    """Score of the draft of a corrected sentence: minutes spent so far, words, and words left as drafted."""

    minutes: float
    words: int
    kept: int


@dataclass(frozen=True, slots=True)
class GainPerMinute:
    """Expected points of LAS per minute, from tagging words and from correcting sentences."""

    words: float
    words_ahead: float  # in the next AHEAD minutes together
    sentences: float
    deviation: float  # standard deviation of ``sentences``

    @property
    def next(self) -> str:
        return WORDS if self.words > self.sentences else SENTENCES


def gain_per_minute(
    wrong: Sequence[float], seconds: float, *, tokens: int, passed: Sequence[DraftScore]
) -> GainPerMinute:
    """Estimate the gain of the next minute if spent on words, and if spent on sentences.

    ``wrong``: expected number of wrong occurrences of each remaining word, in list order. ``seconds``: time
    per word. ``tokens``: length of the text. ``passed``: sentences corrected so far.
    """
    counts = (max(round(60.0 * minutes / seconds), 1) for minutes in (1.0, AHEAD))
    words = (100.0 * OF_WORDS * sum(wrong[:count]) / max(tokens, 1) for count in counts)
    gain, deviation = expected_gain(passed)
    return GainPerMinute(*words, *(100.0 * OF_DRAFTS * one / AHEAD for one in (gain, deviation)))


def expected_gain(passed: Sequence[DraftScore]) -> tuple[float, float]:
    """Return the expected gain of accuracy in the next AHEAD minutes, and its standard deviation, as shares.

    Bayesian linear regression of the accuracy of drafts on log(1 + minutes / SCALE), with a prior of SLOPE.
    """
    minutes = passed[-1].minutes if passed else 0.0
    ahead = log(1 + (minutes + AHEAD) / SCALE) - log(1 + minutes / SCALE)
    precision, slope = (100.0 / SLOPE_DEVIATION) ** 2, SLOPE / 100.0
    words = sum(one.words for one in passed)
    if words:
        share = sum(one.kept for one in passed) / words
        places = [log(1 + one.minutes / SCALE) for one in passed]
        mean = sum(one.words * place for one, place in zip(passed, places, strict=True)) / words
        # At least the variance at an error rate of 1%: a line through two points fits without error.
        variance = max(share * (1 - share), 0.01) * design_effect(passed, share)
        rows = [(one, place - mean) for one, place in zip(passed, places, strict=True)]
        spread = sum(one.words * away**2 for one, away in rows)
        product = sum((one.kept - share * one.words) * away for one, away in rows)
        seen = spread / variance
        slope = (precision * slope + product / variance) / (precision + seen)
        precision += seen
    return max(slope, 0.0) * ahead, ahead / sqrt(precision)


def design_effect(passed: Sequence[DraftScore], share: float) -> float:
    """Return the variance of a share over sentences, relative to that over independent words; at least 1."""
    words, count = sum(one.words for one in passed), len(passed)
    if count < 2 or not 0.0 < share < 1.0:
        return 1.0
    squares = sum((one.kept - share * one.words) ** 2 for one in passed)
    return max(squares / words**2 * count / (count - 1) / (share * (1 - share) / words), 1.0)
