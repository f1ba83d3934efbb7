"""Rules for lemmas of unknown words: related parts of speech, spelling and capitals, as in a treebank."""

from collections import Counter, defaultdict
from collections.abc import Iterable
from typing import NamedTuple

from qsproj.corpus.characters import lower_letters

# Tags that share lemmas: an auxiliary may be a verb elsewhere, a determiner a pronoun.
PARTNERS = {"AUX": ("VERB",), "VERB": ("AUX",), "DET": ("PRON",), "PRON": ("DET",)}
# Forms of these tags are irregular: unknown ones get the lemma of the most similar known form, not a new one.
IRREGULAR = frozenset({"AUX", "DET", "PRON"})
LEAST_ALIKE = 0.6  # least similarity of that form: Dice coefficient of the common beginning
LONGEST_ACRONYM = 4  # in letters; longer words in capitals are lemmatised as if they had one
# A character is replaced in lemmas if two forms or more show it, and a tenth as many lemmas keep it at most.
LEAST_REPLACED, MOST_KEPT = 2, 0.1


class LemmaRules(NamedTuple):
    """What a treebank shows of its lemmas."""

    forms: dict[str, list[tuple[str, str]]]  # lower-cased form and lemma, by IRREGULAR tag
    lemmas: dict[str, set[str]]  # by IRREGULAR tag
    characters: dict[int, str]  # non-letters that lemmas replace
    keeps_capitals: bool  # whether lemmas of short words in capitals are in capitals

    def improved(self, form: str, upos: str, lemma: str) -> str:
        """Return a better lemma than the predicted one of an unknown word, or that one."""
        if upos in IRREGULAR and lemma not in self.lemmas.get(upos, ()):
            return self._most_similar(lower_letters(form), upos)
        if self.keeps_capitals and is_acronym(form) and lemma == lower_letters(form):
            return form
        return lemma.translate(self.characters) if self.characters else lemma

    def _most_similar(self, form: str, upos: str) -> str:
        best, found = LEAST_ALIKE, form
        for other, lemma in self.forms.get(upos, ()):
            alike = 2 * _common_beginning(form, other) / (len(form) + len(other))
            if alike > best:
                best, found = alike, lemma
        return found


def lemma_rules(words: Iterable[tuple[str, str, str]]) -> LemmaRules:
    """Return the rules that words show: form, UPOS and lemma of each."""
    forms = defaultdict[str, list[tuple[str, str]]](list)
    lemmas, kept, replaced = defaultdict[str, set[str]](set), Counter[str](), Counter[tuple[str, str]]()
    capitals = 0
    for form, upos, lemma in words:
        lower = lower_letters(form)
        for tag in (upos, *PARTNERS.get(upos, ())):
            if tag in IRREGULAR:
                forms[tag].append((lower, lemma))
        if upos in IRREGULAR:
            lemmas[upos].add(lemma)
        if is_acronym(form):
            capitals += 1 if lemma == form else -1
        kept.update({one for one in lemma if not one.isalnum()})
        if not lower.isalnum() and len(form) == len(lemma):
            different = [pair for pair in zip(lower, lower_letters(lemma), strict=True) if pair[0] != pair[1]]
            if len(different) == 1 and not different[0][0].isalnum():
                replaced[different[0]] += 1
    characters = {
        ord(old): new
        for (old, new), count in replaced.items()
        if count >= LEAST_REPLACED and kept[old] <= MOST_KEPT * count
    }
    return LemmaRules(dict(forms), dict(lemmas), characters, capitals > 0)


def is_acronym(form: str) -> bool:
    return 1 < len(form) <= LONGEST_ACRONYM and form.isupper() and form.isalpha()


def _common_beginning(one: str, other: str) -> int:
    different = (at for at, (a, b) in enumerate(zip(one, other, strict=False)) if a != b)
    return next(different, min(len(one), len(other)))
