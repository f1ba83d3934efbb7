"""Rules for lemmas of unknown words: related parts of speech, spelling and capitals, as in a treebank."""

import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterable
from typing import NamedTuple

from qsproj.corpus.characters import lower_letters

# Tags that share lemmas: an auxiliary may be a verb elsewhere, a determiner a pronoun.
PARTNERS = {"AUX": ("VERB",), "VERB": ("AUX",), "DET": ("PRON",), "PRON": ("DET",)}
# Forms of these tags are irregular: unknown ones get the lemma of the most similar known form, not a new one.
IRREGULAR = frozenset({"AUX", "DET", "PRON"})
# Least length of the common beginning, in letters, and its least Dice coefficient.
LEAST_COMMON, LEAST_ALIKE = 2, 0.6
# Least share of forms that are their own lemma for a tag without inflection, as in Chinese.
UNINFLECTED = 0.9
LONGEST_ACRONYM = 4  # in letters; longer words in capitals are lemmatised as if they had one
NAMES = frozenset({"NOUN", "PROPN", "X"})  # tags of acronyms
# A mark is replaced in lemmas if five forms or more show it, and a tenth as many lemmas keep it at most.
LEAST_REPLACED, MOST_KEPT = 5, 0.1


class LemmaRules(NamedTuple):
    """Regularities of the lemmas of a treebank."""

    forms: dict[
        tuple[str, str], dict[str, str]
    ]  # lemma of lower-cased forms, by IRREGULAR tag and first letter
    lemmas: dict[str, set[str]]  # by IRREGULAR tag
    uninflected: set[str]  # IRREGULAR tags
    characters: dict[int, str]  # marks that lemmas replace
    keeps_capitals: bool  # whether lemmas of short words in capitals are in capitals

    def improved(self, form: str, upos: str, lemma: str) -> str:
        """Return a better lemma than the predicted one of an unknown word, or that one."""
        lower = lower_letters(form)
        if upos in IRREGULAR and lemma not in self.lemmas.get(upos, ()):
            return lemma if lemma == lower and upos in self.uninflected else self._most_similar(lower, upos)
        if self.keeps_capitals and upos in NAMES and is_acronym(form) and lemma == lower:
            return form
        return lemma.translate(self.characters) if self.characters else lemma

    def _most_similar(self, form: str, upos: str) -> str:
        best, found = LEAST_ALIKE, form
        for other, lemma in self.forms.get((upos, form[:1]), {}).items():
            common = _common_beginning(form, other)
            alike = 2 * common / (len(form) + len(other))
            if common >= LEAST_COMMON and alike > best:
                best, found = alike, lemma
        return found


def lemma_rules(words: Iterable[tuple[str, str, str]]) -> LemmaRules:
    """Return the rules that words show: form, UPOS and lemma of each."""
    forms = defaultdict[tuple[str, str], dict[str, str]](dict)
    lemmas, same = defaultdict[str, set[str]](set), defaultdict[str, list[bool]](list)
    kept, replaced, capitals = Counter[str](), defaultdict[str, Counter[str]](Counter), 0
    for form, upos, lemma in words:
        lower = lower_letters(form)
        for tag in (upos, *PARTNERS.get(upos, ())):
            if tag in IRREGULAR:
                forms[tag, lower[:1]].setdefault(lower, lemma)
        if upos in IRREGULAR:
            lemmas[upos].add(lemma)
            same[upos].append(lemma == lower)
        if upos in NAMES and is_acronym(form):
            capitals += 1 if lemma == form else -1
        kept.update(filter(_is_mark, set(lemma)))
        if not lower.isalnum() and len(form) == len(lemma):
            different = [pair for pair in zip(lower, lower_letters(lemma), strict=True) if pair[0] != pair[1]]
            if len(different) == 1 and _is_mark(different[0][0]):
                replaced[different[0][0]][different[0][1]] += 1
    characters = {}
    for old, others in replaced.items():
        new, count = others.most_common(1)[0]
        if count >= LEAST_REPLACED and kept[old] <= MOST_KEPT * count:
            characters[ord(old)] = new
    uninflected = {tag for tag, own in same.items() if sum(own) >= UNINFLECTED * len(own)}
    return LemmaRules(dict(forms), dict(lemmas), uninflected, characters, capitals > 0)


def is_acronym(form: str) -> bool:
    return 1 < len(form) <= LONGEST_ACRONYM and form.isupper() and form.isalpha()


def _is_mark(character: str) -> bool:
    return unicodedata.category(character)[0] in "PS"


def _common_beginning(one: str, other: str) -> int:
    different = (at for at, (a, b) in enumerate(zip(one, other, strict=False)) if a != b)
    return next(different, min(len(one), len(other)))
