"""Manual tagging of words suggested by a bootstrap; decisions are written to a lexicon file."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from qsproj.corpus.cells import UNIVERSAL_TAGS
from qsproj.corpus.files import open_output, open_text
from qsproj.corpus.language.lexicon import read_lexicon
from qsproj.errors import DataError, UsageError, check_name
from qsproj.serve.review.session import Session

_MOST_TAGS = 2
_CONTEXTS, _AROUND = 30, 8  # lines of a concordance, and words on each side


@dataclass(frozen=True, slots=True)
class Word:
    """A suggested word: the model's tags, likeliest first, and the remaining cells of its line."""

    form: str
    tags: tuple[str, ...]
    more: tuple[str, ...]  # counts in text and bitext, expected wrong words, an example


@dataclass(slots=True, kw_only=True)
class WordList:
    """Suggested words (``--suggest-words``), and the lexicon file for decisions. Mutable; final.

    Each decision is saved immediately, as ``word TAB tags``; other lines of the lexicon are unchanged.
    """

    suggestions: str
    lexicon: str
    words: Sequence[Word] = ()
    decided: dict[str, tuple[str, ...]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.words = read_suggestions(self.suggestions)
        if Path(self.lexicon).exists() and Path(self.lexicon).stat().st_size:
            known = read_lexicon(self.lexicon)
            if known.inflections:
                raise DataError(
                    self.lexicon, 1, "forms with lemmas", "word TAB tags", "name another file for decisions"
                )
            self.decided = {word: tuple(tags) for word, tags in known.tags.items()}

    def rows(self) -> dict[str, Any]:
        """Return the words and the decisions, as JSON."""
        rows = [[one.form, one.tags, self.decided.get(one.form, ()), *one.more] for one in self.words]
        return {"words": rows, "tags": UNIVERSAL_TAGS}

    def decide(self, form: str, tags: Sequence[str]) -> None:
        """Save the tags of a word, likeliest first; no tags: undecided. UsageError for unknown tags."""
        if form not in {one.form for one in self.words}:
            raise UsageError(f"found the word {form[:40]!r}, expected one of {self.suggestions}")
        for tag in tags:
            check_name("tag", tag, UNIVERSAL_TAGS)
        if len(tags) > _MOST_TAGS or len(set(tags)) < len(tags):
            raise UsageError(f"found tags {' '.join(tags)}, expected one or two")
        path = Path(self.lexicon)
        lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
        kept = [line for line in lines if line.partition("\t")[0] != form]
        own = [f"{form}\t{' '.join(tags)}"] if tags else []
        if kept or own:
            with open_output(self.lexicon) as handle:
                handle.writelines(f"{line}\n" for line in (*kept, *own))
        else:
            path.unlink(missing_ok=True)  # an empty lexicon is invalid
        self.decided.pop(form, None)
        if tags:
            self.decided[form] = tuple(tags)


def read_suggestions(path: str) -> list[Word]:
    """Read the words of ``--suggest-words``; DataError at a line without a word or its tags."""
    words = []
    with open_text(path) as lines:
        for number, line in enumerate(lines, start=1):
            if line.startswith("# ") or not line.strip():
                continue
            form, *cells = line.rstrip("\r\n").split("\t")
            tags = tuple(cells[0].split()) if cells else ()
            if not form or not tags or not set(tags) <= set(UNIVERSAL_TAGS):
                raise DataError(
                    path,
                    number,
                    f"{line.strip()[:40]!r}",
                    "word TAB tags",
                    "see qsproj bootstrap --suggest-words",
                )
            words.append(Word(form, tags, tuple(cells[1:5])))
    return words


def contexts(session: Session, form: str) -> dict[str, Any]:
    """Return the occurrences of a word in the draft, in any case, with tag and translation, as JSON."""
    found, wanted = list[dict[str, Any]](), form.casefold()
    for index, sentence in enumerate(session.draft.sentences):
        for word in (at for at, one in enumerate(sentence.forms, start=1) if one.casefold() == wanted):
            if len(found) == _CONTEXTS:
                return {"contexts": found}
            forms = sentence.forms
            source, links = session.translation(index)
            found.append(
                {
                    "index": index,
                    "word": word,
                    "tag": session.belief(index).upos[word - 1],
                    "form": forms[word - 1],
                    "left": " ".join(forms[max(0, word - 1 - _AROUND) : word - 1]),
                    "right": " ".join(forms[word : word + _AROUND]),
                    "translation": source,
                    "linked": [one for one, other in links if other == word],
                }
            )
    return {"contexts": found}
