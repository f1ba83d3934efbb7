"""Manual tagging of words suggested by a bootstrap; decisions are written to a lexicon file."""

import json
import time
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from qsproj.corpus.cells import UNIVERSAL_TAGS
from qsproj.corpus.characters import lower_form, plain_form
from qsproj.corpus.files import open_output, open_text
from qsproj.corpus.language.lexicon import QuestionRow, question_in, read_lexicon
from qsproj.corpus.sentence import SentencePair
from qsproj.errors import DataError, UsageError, check_name
from qsproj.serve.review.search import in_context
from qsproj.serve.review.session import Session

HISTORY = ".history"  # end of the name of the file of times
_MOST_TAGS = 2
_CONTEXTS, _AROUND = 30, 8  # lines of a concordance, and words on each side

Context = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Word:
    """A suggested word: its line, the model's tags, likeliest first, and the remaining cells."""

    place: int
    form: str
    tags: tuple[str, ...]
    more: tuple[str, ...]  # counts in text and bitext, expected wrong words, an example


@dataclass(slots=True, kw_only=True)
class WordList:
    """Suggested words (``--suggest-words``), and the lexicon file for decisions. Mutable; final.

    Each decision is saved immediately, as ``word TAB tags`` or as the line of a question with one tag; other
    lines of the lexicon are unchanged. Times and passed words are kept in a file beside the lexicon, which
    ends in HISTORY. ``concordance``: lines of a bitext by word.
    """

    suggestions: str
    lexicon: str
    concordance: Mapping[str, Sequence[Context]] = field(default_factory=dict)
    words: Sequence[Word] = ()
    known: set[str] = field(default_factory=set)  # words of this list and of earlier ones
    passed: set[str] = field(default_factory=set)  # words and questions above a decided word
    times: list[float] = field(default_factory=list)  # of decisions and answers, Unix time
    questions: Mapping[str, QuestionRow] = field(default_factory=dict)
    decided: dict[str, tuple[str, ...]] = field(default_factory=dict)
    answers: dict[str, QuestionRow] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.load()
        history = Path(f"{self.lexicon}{HISTORY}")
        with suppress(OSError):  # estimates are rougher without it
            if not (self.decided or self.answers):
                history.unlink(missing_ok=True)
            for line in history.read_bytes().splitlines():
                with suppress(ValueError, KeyError, TypeError):  # a line half written
                    entry = json.loads(line)
                    self.times.append(float(entry["when"]))
                    self.passed |= set(map(str, entry["passed"]))

    def load(self) -> None:
        self.words, self.questions = read_suggestions(self.suggestions)
        self.known |= {one.form for one in self.words}
        self._read_decisions()

    def _read_decisions(self) -> None:
        self.decided, self.answers = {}, {}
        if not Path(self.lexicon).exists():
            return
        known = read_lexicon(self.lexicon, may_be_empty=True)
        if known.inflections:
            remedy = "name another file for decisions"
            raise DataError(self.lexicon, 1, "forms with lemmas", "word TAB tags", remedy)
        self.decided = {word: tuple(tags) for word, tags in known.tags.items()}
        questions = filter(None, map(question_in, self._lines()))
        self.answers = {one.name: one for one in questions if len(one.tags) == 1}

    def rows(self) -> dict[str, Any]:
        decided = self.decided
        rows = [[one.form, one.tags, decided.get(one.form, ()), one.place, *one.more] for one in self.words]
        asked = [
            {
                "name": one.name,
                "place": one.place,
                "tags": one.tags,
                "answer": self.answers[one.name].tags if one.name in self.answers else (),
                "words": one.words,
                "examples": [self._example(word) for word in one.words],
                "left": self.answers.get(one.name, one).words,
                "wrong": one.counts[-1],
                "practice": one.practice,
            }
            for one in self.questions.values()
        ]
        return {"words": rows, "questions": asked, "tags": UNIVERSAL_TAGS}

    @property
    def forms(self) -> set[str]:
        return self.known.union(*(one.words for one in self.questions.values()))

    def _example(self, word: str) -> str:
        lines = self.concordance.get(lower_form(word), ())
        return "{left} [{form}] {right}".format(**lines[0]) if lines else ""

    def open_wrong(self) -> list[float]:
        """Return the expected numbers of wrong words of undecided rows, in their order."""
        asked = [(one.place, one.name, one.counts[-1]) for one in self.questions.values()]
        listed = [(one.place, one.form, one.more[2]) for one in self.words if len(one.more) > 2]
        # Rows above a decided word count as passed over: the person does not know them.
        done = self.decided.keys() | self.answers.keys() | self.passed
        return [float(number) for _, name, number in sorted([*asked, *listed]) if name not in done]

    def decide(self, form: str, tags: Sequence[str]) -> None:
        """Save the tags of a word, likeliest first; no tags: undecided. UsageError for unknown tags."""
        if form not in self.known:
            raise UsageError(f"found the word {form[:40]!r}, expected one of {self.suggestions}")
        _check(tags, most=_MOST_TAGS)
        place = next((one.place for one in self.words if one.form == form), 0)
        above = {one.form for one in self.words if one.place < place}
        above |= {one.name for one in self.questions.values() if one.place < place}
        # The word leaves the question that settles it, if any.
        kept = [
            replace(one, words=tuple(word for word in one.words if word != form)).line()
            if (one := question_in(line)) and len(one.tags) == 1
            else line
            for line in self._lines()
            if plain_form(line.partition("\t")[0].strip()) != form
        ]
        self._write([*kept, *([f"{form}\t{' '.join(tags)}"] if tags else [])])
        if tags:
            self._note(above)

    def answer(self, name: str, tags: Sequence[str], words: Iterable[str]) -> None:
        """Save the answer to a question, for some of its words; no tag: none. UsageError for unknown tags."""
        if name not in self.questions:
            raise UsageError(f"found the question {name[:40]!r}, expected one of {self.suggestions}")
        _check(tags, most=1)
        asked, chosen = self.questions[name], set(words)
        for word in chosen:
            check_name("word", word, asked.words)
        if tags and not chosen:
            raise UsageError(f"found an answer to {name[:40]!r} for none of its words, expected one or more")
        kept = [line for line in self._lines() if not ((one := question_in(line)) and one.name == name)]
        own = replace(asked, tags=tuple(tags), words=tuple(word for word in asked.words if word in chosen))
        self._write([*kept, *([own.line()] if tags else [])])
        if tags:
            self._note()

    def contexts(self, session: Session, form: str) -> dict[str, Any]:
        wanted, found = lower_form(form), list[Context]()
        for index, sentence in enumerate(session.draft.sentences):
            for word, own in enumerate(sentence.forms, start=1):
                if lower_form(own) == wanted:
                    context = _context(sentence.forms, word, session.linked(index))
                    tag = session.belief(index).upos[word - 1]
                    found.append(context | {"index": index, "word": word, "tag": tag})
        return {"contexts": [*found, *self.concordance.get(wanted, ())][:_CONTEXTS]}

    def _lines(self) -> list[str]:
        if not Path(self.lexicon).exists():
            return []
        with open_text(self.lexicon) as lines:
            return [line.rstrip("\r\n").lstrip("\ufeff") for line in lines]

    def _write(self, lines: Sequence[str]) -> None:
        if lines:
            with open_output(self.lexicon) as handle:
                handle.writelines(f"{line}\n" for line in lines)
        else:
            Path(self.lexicon).unlink(missing_ok=True)  # an empty lexicon is invalid
        self._read_decisions()

    def _note(self, passed: Iterable[str] = ()) -> None:
        """Note the time of an answer, and words and questions that were passed over."""
        when, new = time.time(), sorted({*passed} - self.passed)
        self.times.append(when)
        self.passed.update(new)
        entry = json.dumps({"when": round(when, 1), "passed": new})
        # It begins with a line end, since the last line may be half written.
        with suppress(OSError), Path(f"{self.lexicon}{HISTORY}").open("ab") as history:
            history.write(f"\n{entry}".encode())


def _check(tags: Sequence[str], *, most: int) -> None:
    for tag in tags:
        check_name("tag", tag, UNIVERSAL_TAGS)
    if len(tags) > most or len(set(tags)) < len(tags):
        raise UsageError(f"found tags {' '.join(tags)}, expected {'one' if most == 1 else 'one or two'}")


def read_suggestions(path: str) -> tuple[list[Word], dict[str, QuestionRow]]:
    """Read the words and questions of ``--suggest-words``; DataError at a line without a word or its tags."""
    words, questions = [], {}
    with open_text(path) as lines:
        for number, line in enumerate(lines, start=1):
            question = question_in(line.rstrip("\r\n"), number, path)
            if question is not None:
                questions[question.name] = question
            if line.startswith("# ") or not line.strip():
                continue
            form, *cells = line.rstrip("\r\n").split("\t")
            tags = tuple(cells[0].split()) if cells else ()
            if not form or not tags or not set(tags) <= set(UNIVERSAL_TAGS):
                found, remedy = f"{line.strip()[:40]!r}", "see qsproj bootstrap --suggest-words"
                raise DataError(path, number, found, "word TAB tags", remedy)
            words.append(Word(number, plain_form(form), tags, tuple(cells[1:5])))
    return words, questions


def concordance_of(pairs: Iterable[SentencePair], words: Iterable[str]) -> dict[str, list[Context]]:
    found: dict[str, list[Context]] = {lower_form(word): [] for word in words}
    for pair in pairs:
        forms = pair.target.forms
        for word, form in enumerate(forms, start=1):
            lines = found.get(lower_form(form))
            if lines is not None and len(lines) < _CONTEXTS:
                lines.append(_context(forms, word, pair) | {"verse": pair.target.sent_id})
    return found


def _context(forms: Sequence[str], word: int, pair: SentencePair | None) -> Context:
    """Return a line of a concordance; the words linked to the one in the middle are marked."""
    links = [] if pair is None else (pair.hand or pair.alignment).links.tolist()
    translation = [] if pair is None else pair.source.forms
    linked = [one for one, other in links if other == word]
    return in_context(forms, word, _AROUND) | {"translation": translation, "linked": linked}
