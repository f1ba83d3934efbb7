"""Raw text of the target, from which taggers learn by their own probabilities.

A New Testament lacks most modern words; raw text has them in context, so each tagger labels it for the next.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from qsproj.corpus.characters import lower_form, plain_form
from qsproj.corpus.contractions import Contractions, split_contractions
from qsproj.corpus.language.lexicon import WordTags
from qsproj.pipelines.tagging.linked_text import Words, sampled
from qsproj.pipelines.tagging.type_dictionary import allowed_tags
from qsproj.pipelines.tagging.votes import Sets


def share_unknown(forms: Iterable[str], vocabulary: Iterable[str]) -> float:
    """Return the share of words with letters that are not in a vocabulary in any case; 0 without words."""
    known = set(map(lower_form, vocabulary))
    words = [lower_form(form) for form in forms if any(map(str.isalpha, form))]
    return sum(word not in known for word in words) / max(len(words), 1)


@dataclass(frozen=True, slots=True, eq=False)
class RawText:
    """Raw sentences of the target language."""

    sentences: tuple[Words, ...]  # plain forms of each sentence; none is empty
    allowed: Mapping[str, Sets]  # bool[T] of each word: tags that script and lexicon allow

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
        of_numbers: Iterable[str] = (),
    ) -> "RawText":
        """Split contractions and look up the allowed tags of each word, for a sample of at most ``most``."""
        words, _ = sampled(
            filter(len, sentences),
            lambda tokens: tuple(map(plain_form, split_contractions(tokens, contractions)[0])),
            most=most,
            rng=rng,
        )
        rows = dict.fromkeys(form for forms in words for form in forms)
        allowed = allowed_tags(tuple(rows), tags, lexicon, of_numbers=of_numbers)
        return cls(tuple(words), dict(zip(rows, allowed, strict=True)))

    def frequent(self, share: float) -> list[str]:
        counts = Counter(lower_form(form) for forms in self.sentences for form in forms)
        least = share * counts.total()
        return [word for word, count in counts.items() if count >= least]

    def sets_of(self, forms: Words) -> Sets:
        return np.array([self.allowed[form] for form in forms])

    def drawn(self, most: int, rng: np.random.Generator) -> list[Words]:
        chosen = np.sort(rng.permutation(len(self.sentences))[:most])
        return [self.sentences[number] for number in chosen.tolist()]
