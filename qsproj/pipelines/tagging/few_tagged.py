"""The few sentences of the target language that somebody tagged, as what training needs of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from qsproj.corpus.columns import UNSPECIFIED
from qsproj.corpus.contractions import Contractions, learn_contractions, merge_contractions, word_ranges
from qsproj.corpus.sentence import Sentence
from qsproj.errors import UsageError
from qsproj.models.tagging.set_training import LogEvidence, SetExample

# Of fewer tagged sentences none is set aside to judge by.
FEWEST = 50

Words = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class FewTagged:
    """Tagged sentences.

    Attributes
    ----------
    sentences : tuple of Sentence
        With UPOS on every word; maybe none.
    counts : mapping
        Word to tag to how often it has it; words as they are and lower-cased.
    contractions : mapping
        How multiword tokens are split.
    """

    sentences: tuple[Sentence, ...]
    counts: Mapping[str, Mapping[str, int]]
    contractions: Contractions

    @classmethod
    def of(cls, sentences: Sequence[Sentence]) -> FewTagged:
        """Count what the sentences show.

        Raises
        ------
        UsageError
            When a word has no UPOS.
        """
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

    def split(self) -> tuple[FewTagged, tuple[Sentence, ...]]:
        """Return all but every fifth sentence, and these; all and none where there are fewer than FEWEST."""
        if len(self.sentences) < FEWEST:
            return self, ()
        rest = [sentence for number, sentence in enumerate(self.sentences) if number % 5 != 4]
        return FewTagged.of(rest), self.sentences[4::5]

    @property
    def tags(self) -> set[str]:
        """The tags that occur."""
        return {tag for sentence in self.sentences for tag in sentence.upos}

    def examples(self, tags: Words, *, strength: float) -> list[SetExample]:
        """Return the sentences to train on; one with multiword tokens also with these whole, at half each."""
        examples = []
        for sentence in self.sentences:
            versions: list[tuple[Words, Words]] = [(sentence.forms, sentence.upos)]
            if word_ranges(sentence):
                versions.append(merge_contractions(sentence))
            examples += [
                SetExample(forms, settled(upos, tags), strength / len(versions), trusted=True)
                for forms, upos in versions
            ]
        return examples


def settled(upos: Iterable[str], tags: Words) -> LogEvidence:
    """Return the evidence of words that have one tag each, float32[n, T]: 0 for it, -inf for the others."""
    columns = [tags.index(tag) for tag in upos]
    evidence = np.full((len(columns), len(tags)), -np.inf, dtype=np.float32)
    evidence[np.arange(len(columns)), columns] = 0.0
    return evidence
