"""Lexicons: the possible tags of words, or forms with lemmas and features in the format of UniMorph.

*Source* of the meaning of features: Sylak-Glassman (2016), "The composition and use of the universal
morphological feature schema", and the guidelines of Universal Dependencies.
"""

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache, partial
from typing import Any, NamedTuple

from qsproj.corpus.cells import UNIVERSAL_TAGS, UNSPECIFIED
from qsproj.corpus.characters import is_lower_case, lower_form, plain_form
from qsproj.corpus.conllu import looks_like_conllu
from qsproj.corpus.files import PathOrFile, name_of, open_text
from qsproj.corpus.messages import excerpt
from qsproj.corpus.sentence import Sentence
from qsproj.errors import DataError, UsageError, optional_package, pluralise, unknown_name
from qsproj.progress import notice

WordTags = Mapping[str, tuple[str, ...]]
# Universal tags of UniMorph's parts of speech and of universal tags.
PARTS_OF_SPEECH: Mapping[str, tuple[str, ...]] = {
    **{tag: (tag,) for tag in UNIVERSAL_TAGS},
    **{"N": ("NOUN", "PROPN"), "PRO": ("PRON", "DET"), "DET": ("DET", "PRON"), "ART": ("DET",)},
    **dict.fromkeys(("V", "V.PTCP", "V.CVB", "V.MSDR"), ("VERB", "AUX")),
    **{"CONJ": ("CCONJ", "SCONJ"), "COMP": ("SCONJ",), "CLF": ("NOUN",)},
}
# Features with the same meaning in all treebanks; other UniMorph features are ignored.
FEATURES = {
    **{"SG": "Number=Sing", "DU": "Number=Dual", "PL": "Number=Plur"},
    **{person: f"Person={person}" for person in "0123"},
    **{"PRS": "Tense=Pres", "PST": "Tense=Past", "FUT": "Tense=Fut"},
    **{"IND": "Mood=Ind", "SBJV": "Mood=Sub", "IMP": "Mood=Imp", "COND": "Mood=Cnd", "OPT": "Mood=Opt"},
    **{"NFIN": "VerbForm=Inf", "V.PTCP": "VerbForm=Part", "ACT": "Voice=Act", "PASS": "Voice=Pass"},
    **{"MASC": "Gender=Masc", "FEM": "Gender=Fem", "NEUT": "Gender=Neut"},
    **{"ANIM": "Animacy=Anim", "INAN": "Animacy=Inan", "DEF": "Definite=Def", "INDF": "Definite=Ind"},
    **{"CMPR": "Degree=Cmp", "COMPV": "Degree=Cmp", "SPRL": "Degree=Sup"},
    **{case.upper(): f"Case={case}" for case in ("Nom", "Acc", "Dat", "Gen", "Ins", "Voc", "Abl", "Com")},
    **{case.upper(): f"Case={case}" for case in ("Par", "Ess", "Erg", "Abs")},
}
# A feature in UD format.
_FEATURE = re.compile(r"[A-Z0-9][A-Za-z0-9]*(\[[a-z0-9]+\])?=[A-Z0-9][A-Za-z0-9,]*")
# Header of the words suggested by a bootstrap; the first two cells of each line are a lexicon.
SUGGESTIONS_HEADER = "# word\ttags\tin text\tin bitext\texpected wrong\texample"
QUESTION = "# question: "  # begins a question of convention among these lines
_LIKE_QUESTION = re.compile(r"\W*#\s*question\s*:", re.IGNORECASE)
_QUESTION_CELLS = 7
_NUMBER = re.compile(r"\d+")  # third cell of a line of a word
NO_FORM = frozenset({"-", "\N{EM DASH}"})  # placeholders for missing forms


class Inflection(NamedTuple):
    """A form, its lemma, its possible tags with that lemma, and its known features (FEATS)."""

    form: str
    lemma: str
    upos: tuple[str, ...]
    feats: str


@dataclass(frozen=True, slots=True)
class QuestionRow:
    """A question of convention about words: possible tags, words, and counts in text and bitext."""

    place: int  # the number of its line
    name: str
    tags: tuple[str, ...]
    counts: tuple[str, ...]  # as text, the last the expected number of wrong words
    words: tuple[str, ...]
    practice: str

    def line(self) -> str:
        """Return the question as a line of suggested words."""
        words = " ".join(self.words)
        return "\t".join((QUESTION + self.name, " ".join(self.tags), *self.counts, words, self.practice))


def question_in(line: str, place: int = 0, file: str = "suggested words") -> QuestionRow | None:
    """Return the question of a line of suggested words, None if it has none; DataError for a broken one."""
    is_whole = line.startswith(QUESTION) and line.count("\t") >= _QUESTION_CELLS - 1
    # A comment of a person has no tags.
    if not _LIKE_QUESTION.match(line) or not (is_whole or set(_tags_in(line)) & {*UNIVERSAL_TAGS}):
        return None
    if not is_whole:
        expected = (
            f"{QUESTION.strip()} and {_QUESTION_CELLS} columns separated by tabs, without quotation marks"
        )
        raise DataError(file, place, excerpt(line), expected, "change its tags alone, or remove the line")
    name, tags, *counts, words, practice = line.removeprefix(QUESTION).split("\t")[:_QUESTION_CELLS]
    return QuestionRow(place, name, tuple(tags.split()), tuple(counts), tuple(words.split()), practice)


@dataclass(frozen=True, slots=True)
class Lexicon:
    """Possible tags of words, as listed, and inflections; ``more``: those of a lemmatizer, appended last."""

    tags: WordTags = field(default_factory=dict)
    inflections: Sequence[Inflection] = ()
    more: Callable[[Iterable[Sentence]], Iterable[Inflection]] | None = None

    @property
    def has_lemmas(self) -> bool:
        """Whether there is a source of lemmas."""
        return bool(self.inflections) or self.more is not None

    def corrected(self, tags: WordTags) -> "Lexicon":
        """Return the lexicon with other tags of some words, which hold in any case of letters."""
        words = set(map(lower_form, tags))
        kept = {word: own for word, own in self.tags.items() if lower_form(word) not in words}
        return replace(self, tags=kept | dict(tags))

    def inflections_of(self, sentences: Iterable[Sentence]) -> list[Inflection]:
        """Return the listed inflections, followed by those of the words of sentences."""
        return [*self.inflections, *(self.more(sentences) if self.more is not None else ())]


def read_lexicon(path: PathOrFile, *, tags: bool = True, may_be_empty: bool = False) -> Lexicon:
    """Read lines of ``word TAB tags``, or of UniMorph: ``lemma TAB form TAB features``.

    Tags are separated by spaces, commas or bars. The tags of several lines of a word are combined. Case is
    kept. The first line determines the format. Ignored are blank lines, lines that begin with ``# ``,
    UniMorph forms of several words, and cells after the tags in a file of a bootstrap's ``--suggest-words``.
    A QUESTION is only read with one tag, which its words have, whatever other lines say. Raises DataError at
    lines without tab, word, tag or part of speech, at tags that are not universal, and without any line;
    without ``tags``, where there are tags in place of lemmas. ``may_be_empty``: no line is needed.
    """
    name, cells = name_of(path), "word TAB tags" if tags else "lemma TAB form TAB features"
    with open_text(path) as handle:
        stripped = (line.rstrip("\r\n").lstrip("\ufeff") for line in handle)
        lines = [(number, line) for number, line in enumerate(stripped, start=1) if line.strip()]
    answers = dict[str, tuple[str, ...]]()
    for number, line in lines:
        if question := question_in(line, number, name):
            _check_tags(name, number, question.tags)
            answers |= dict.fromkeys(question.words if len(question.tags) == 1 else (), question.tags)
    rows = [(number, line) for number, line in lines if not line.startswith("# ")]
    if not rows and not answers:
        if may_be_empty:
            return Lexicon()
        asked = any(question_in(line, number, name) for number, line in lines)
        found, remedy = "no line", "check that it is the right file"
        if asked:
            found, remedy = "questions alone", "leave one tag in the line of a question to answer it"
        raise DataError(name, None, found, cells, remedy)
    if rows and looks_like_conllu([rows[0][1]]):
        remedy = "project-tags and bootstrap read tagged sentences by --tagged"
        remedy = remedy if tags else "name it as a TREEBANK"
        raise DataError(name, rows[0][0], "CoNLL-U", cells, remedy)
    rest = _without_counts(rows[0][1].partition("\t")[2]) if rows else ""
    # ``zu TAB ADP TAB PART`` is a word with its tags, not a lemma, its form and features as in UniMorph.
    if "\t" in rest and not set(_tags_in(rest)) <= set(UNIVERSAL_TAGS):
        return Lexicon(inflections=tuple(_inflections(name, rows)), tags=answers if tags else {})
    if not tags:
        number, line = rows[0] if rows else lines[0]
        raise DataError(name, number, excerpt(line), cells, "tags are learned from the treebanks")
    return Lexicon(tags=_word_tags(name, rows)).corrected(answers)


def _without_counts(rest: str) -> str:
    """Return the rest of a line after the word, without the counts and example of a suggested word."""
    tags, *more = rest.split("\t")
    return tags if more and _NUMBER.fullmatch(more[0].strip()) else rest


def _tags_in(text: str) -> list[str]:
    return [tag for tag in re.split(r"[\s,|]+", text) if tag]


def _word_tags(name: str, rows: Iterable[tuple[int, str]]) -> dict[str, tuple[str, ...]]:
    tags: dict[str, dict[str, None]] = defaultdict(dict)
    for number, line in rows:
        word, tab, rest = line.partition("\t")
        given = _tags_in(_without_counts(rest))
        if not (tab and word.strip() and given):
            raise DataError(name, number, excerpt(line), "a word, a tab, its tags")
        _check_tags(name, number, given)
        tags[plain_form(word.strip())] |= dict.fromkeys(given)
    return {word: tuple(of_word) for word, of_word in tags.items()}


def _check_tags(name: str, number: int, tags: Sequence[str]) -> None:
    if other := next((tag for tag in tags if tag not in UNIVERSAL_TAGS), None):
        remedy = "map it to universal tags, or leave the word out; UniMorph is lemma TAB form TAB features"
        raise DataError(name, number, f"the tag {other!r}", f"one of {' '.join(UNIVERSAL_TAGS)}", remedy)


def _inflections(name: str, rows: Iterable[tuple[int, str]]) -> Iterator[Inflection]:
    odd: list[tuple[int, str]] = []
    lemmas: dict[tuple[str, str], str] = {}
    several: list[tuple[int, str]] = []
    for number, line in rows:
        lemma, form, features = (*map(str.strip, line.split("\t")), "", "")[:3]
        if not (lemma and form and features):
            expected = "a lemma, a form and its features, separated by tabs"
            raise DataError(name, number, excerpt(line), expected)
        if any("=" in part and not _FEATURE.fullmatch(part) for part in _parts(features)):
            odd.append((number, repr(features)))
        upos, feats = _universal(features)
        if not upos:
            expected = f"a part of speech among them: {' '.join(PARTS_OF_SPEECH)}"
            remedy = "name it, or leave the line out"
            raise DataError(name, number, f"the features {features!r}", expected, remedy)
        if upos == PARTS_OF_SPEECH["N"] and is_lower_case(lemma):
            upos = upos[:1]  # no name
        if form not in NO_FORM and len(form.split()) == 1:
            first = lemmas.setdefault((form, features), lemma)
            if first != lemma:
                several.append((number, f"{form!r} with the lemma {lemma!r}, after {first!r}"))
            yield Inflection(form, lemma, upos, feats)
    for faults, rest in (
        (odd, ", expected Name=Value, the value with a capital or a digit; other values are left out"),
        (several, " for the same features; of several lemmas the first is taken"),
    ):
        if faults:
            number, found = faults[0]
            notice(f"{name}: line {number}: found {found}{rest} ({pluralise(len(faults), 'line')})")


@lru_cache(maxsize=1 << 12)
def _universal(features: str) -> tuple[tuple[str, ...], str]:
    """Return the possible universal tags of UniMorph features, possibly none, and the known FEATS."""
    parts = _parts(features)
    upos = next((PARTS_OF_SPEECH[part] for part in parts if part in PARTS_OF_SPEECH), ())
    # The imperfect is a tense in some treebanks and an aspect in others.
    pairs = (FEATURES.get(part, part) for part in parts if part != "PST" or "IPFV" not in parts)
    feats: dict[str, str] = {}
    for pair in filter(_FEATURE.fullmatch, pairs):
        feats.setdefault(pair.partition("=")[0], pair)
    if "Mood" in feats and "VERB" in upos:  # only finite verbs have one
        feats.setdefault("VerbForm", "VerbForm=Fin")
    return upos, "|".join(feats[attribute] for attribute in sorted(feats, key=str.lower)) or UNSPECIFIED


def _parts(features: str) -> list[str]:
    return [part.strip() for part in re.split("[;|]", features)]


SIMPLEMMA = "simplemma"
# Codes of the package that differ from those of qsproj.
OTHER_CODES = {"no": "nb", "bs": "hbs", "hr": "hbs", "sr": "hbs"}
CASED = ("NOUN", "PROPN")  # looked up as written, words with other tags in lower case first
NOT_LISTED = frozenset({"PUNCT", "SYM", "X"})  # tags for which a word list gives no lemmas


def lexicon_of(
    path: str | None, lemmatizer: str | None, language: str | None, *, tags: bool = True
) -> Lexicon:
    """Return the lexicon of a file, with a lemmatizer for other words; either may be None."""
    lexicon = Lexicon() if path is None else read_lexicon(path, tags=tags)
    if lemmatizer is None:
        return lexicon
    if lemmatizer != SIMPLEMMA:
        raise unknown_name("lemmatizer", lemmatizer, [SIMPLEMMA])
    if language is None:
        raise UsageError("--lemmatizer needs --language CODE, the language of the lemmas")
    remedy = "install it: pip install 'qsproj[lemmas]'"
    package = optional_package(SIMPLEMMA, f"--lemmatizer: found no package {SIMPLEMMA}; {remedy}")
    code = OTHER_CODES.get(language, language)
    try:
        package.is_known("a", code)
    except ValueError as error:
        remedy = "give a --lexicon of lemma, form and features"
        raise UsageError(f"--lemmatizer: {SIMPLEMMA} has no lemmas of {language!r}; {remedy}") from error
    return replace(lexicon, more=partial(_listed, package, code))


def _listed(package: Any, code: str, sentences: Iterable[Sentence]) -> Iterator[Inflection]:
    """Yield each word of tagged sentences that the package lists, once."""
    words = dict.fromkeys(pair for one in sentences for pair in zip(one.forms, one.upos, strict=True))
    for form, tag in words:
        ways = (form, form.lower()) if tag in CASED else (form.lower(), form)
        known = next((way for way in ways if package.is_known(way, code)), None)
        if known is not None and tag not in NOT_LISTED:
            yield Inflection(form, package.lemmatize(known, code), (tag,), UNSPECIFIED)
