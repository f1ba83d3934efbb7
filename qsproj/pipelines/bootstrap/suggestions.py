"""Suggest the most useful annotation: words to tag in a lexicon, and sentences to parse.

*Source* on the value of an hour of words and sentences: Garrette and Baldridge (2013), "Learning a
part-of-speech tagger from two hours of annotation".
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, islice
from pathlib import Path

import numpy as np

from qsproj.corpus.characters import lower_form
from qsproj.corpus.conllu import read_conllu
from qsproj.corpus.files import open_output
from qsproj.corpus.language.lexicon import SUGGESTIONS_HEADER
from qsproj.corpus.pairs.aligned import AlignedFiles
from qsproj.corpus.sentence import Sentence, SentencePair
from qsproj.evaluation.calibration import stated_confidences
from qsproj.models.tagging.tagger import Tagger
from qsproj.pipelines.bootstrap.questions import asked_questions, counts_of, evenly, weighted_links
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


@dataclass(frozen=True, slots=True)
class SuggestedWord:
    """A word for a lexicon.

    ``form``: lower case. ``tags``: by the model, most probable first. ``in_text``, ``in_bitext``: number of
    occurrences. ``wrong``: expected number of occurrences with a wrong tag. ``example``: a context, with the
    word in square brackets.
    """

    form: str
    tags: tuple[str, ...]
    in_text: int
    in_bitext: int
    wrong: float
    example: str

    def __str__(self) -> str:
        """Return the line of a file of suggested words."""
        cells = (
            self.form,
            " ".join(self.tags),
            self.in_text,
            self.in_bitext,
            f"{self.wrong:.1f}",
            self.example,
        )
        return "\t".join(map(str, cells))


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
    """Tags of linked source words: weight by word and tag, and occurrences by word."""

    votes: Mapping[str, Counter[str]] = field(default_factory=dict)
    counts: Mapping[str, int] = field(default_factory=dict)

    @classmethod
    def of(cls, pairs: Iterable[SentencePair]) -> "LinkedTags":
        votes: dict[str, Counter[str]] = defaultdict(Counter)
        counts: Counter[str] = Counter()
        for pair in islice(pairs, LINKED_PAIRS):
            counts.update(map(lower_form, pair.target.forms))
            for source, form, share in weighted_links(pair):
                votes[form][pair.source.upos[source - 1]] += share
        return cls(votes, counts)

    def share_against(self, word: str, tag: str) -> float:
        """Return the share of occurrences linked to one other tag; 0 where links are weak."""
        count, votes = self.counts.get(word, 0), self.votes.get(word)
        if count < FREQUENT or not votes:
            return 0.0
        (best, weight), total = votes.most_common(1)[0], votes.total()
        if best == tag or total < LEAST_LINKED * count or weight < LEAST_AGREED * total:
            return 0.0
        return min(weight / count, 1.0)


def suggested_words(
    tagger: Tagger,
    *,
    text: Sequence[Sentence],
    bitext: Sequence[Sentence],
    linked: LinkedTags,
    count: int = MOST_WORDS,
) -> list[SuggestedWord]:
    """Return the words whose tags would help a tagger most, best first.

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

    for candidate in rank(candidates, annotated=annotated, count=count, costs=Costs(), kinds=kinds):
        yield candidate.sentence


def write_words(
    path: str | Path, *, tagger: Tagger, text: Sequence[Sentence], corpora: Sequence[AlignedFiles]
) -> None:
    """Write questions and words in the format of :func:`qsproj.corpus.language.lexicon.read_lexicon`.

    ``text``: the raw text, if there is any.
    """
    targets = [one for files in corpora for one in read_conllu(files.target)]
    linked = LinkedTags.of(chain.from_iterable(corpora))
    asked = asked_questions(tagger, chain.from_iterable(corpora), text=text, bitext=targets)
    listed = suggested_words(tagger, text=text, bitext=targets, linked=linked)
    with open_output(path) as handle:
        handle.writelines(f"{one}\n" for one in (SUGGESTIONS_HEADER, *asked, *listed))
