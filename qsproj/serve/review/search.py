"""A small pattern language over trees, and bulk correction of the matching words.

``qsproj search --help`` explains patterns. A correction is ``upos=X``, ``deprel=obl``, ``feats.Case=Nom``,
``lemma=sein`` or ``head=head.head``, or several separated by spaces.
"""

import re
import signal
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from threading import current_thread, main_thread
from typing import TYPE_CHECKING, Any, NoReturn

from qsproj.conventions import NO_HEAD, ROOT, frozen_heads
from qsproj.corpus.cells import UNSPECIFIED
from qsproj.corpus.editing import ARC_PROBABILITY, RELATION_PROBABILITY, without_misc
from qsproj.corpus.messages import check_type
from qsproj.corpus.sentence import Sentence
from qsproj.errors import UsageError
from qsproj.serve.review import correction
from qsproj.serve.review.draft import StaleError

if TYPE_CHECKING:
    from qsproj.serve.review.session import Session  # slow to import for qsproj search

Test = Callable[[Sentence, int], bool]  # a condition on a word 1..n
_CELLS = {"form": "forms", "lemma": "lemmas", "upos": "upos", "xpos": "xpos", "deprel": "deprels"}
_PARTS = {"feats": "feats", "misc": "misc"}
_CONDITION = re.compile(r"((?:(?:head|child|prev|next)\.)*)([a-z]+)(?:\.([^\s=!~]+))?(!?[=~])(\S*)")
_CHANGE = re.compile(r"([a-z]+)(?:\.([^\s=]+))?=(\S+)")
_GRANDPARENT = "head=head.head"
_MOST_SECONDS = 3.0  # of CPU time, for the search in one sentence


def compiled(pattern: str) -> Callable[[Sentence], list[int]]:
    """Compile a pattern to a function that returns a sentence's matches, 1..n; UsageError if invalid."""
    check_type(pattern, str, "a string", "pattern")
    tests = [_test(text) for text in pattern.split()]
    if not tests:
        raise UsageError("found an empty pattern, expected conditions such as upos=NOUN deprel=nsubj")

    def find(sentence: Sentence) -> list[int]:
        words = range(1, len(sentence) + 1)
        with _limited_time(sentence) if "~" in pattern else nullcontext():
            return [word for word in words if all(test(sentence, word) for test in tests)]

    return find


@contextmanager
def _limited_time(sentence: Sentence) -> Iterator[None]:
    """Limit the CPU time of a search in a sentence; in the main thread only, which receives signals."""

    def stop(*_: object) -> NoReturn:
        name = sentence.sent_id or " ".join(sentence.forms)[:40]
        found = f"a regular expression that takes more than {_MOST_SECONDS:g} s in sentence {name!r}"
        expected = "none with repetitions inside repetitions, such as (a+)+"
        raise UsageError(f"found {found}, expected {expected}")

    if current_thread() is not main_thread() or not hasattr(signal, "setitimer"):
        yield
        return
    earlier = signal.signal(signal.SIGVTALRM, stop)
    signal.setitimer(signal.ITIMER_VIRTUAL, _MOST_SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, earlier)


def search(session: "Session", pattern: str, change: str, *, most: int) -> dict[str, Any]:
    """Return the matches in the trees that the page shows, and their cells, corrected, as JSON."""
    find, draft = compiled(pattern), session.draft
    shown = map(session.shown, range(len(draft.sentences)))
    found = {index: (one, words) for index, one in enumerate(shown) if (words := find(one))}
    hits = list[dict[str, Any]]()
    for index, (sentence, words) in found.items():
        if len(hits) >= most:
            break
        after = corrected(sentence, words, change) if change else sentence
        hits += [
            {
                "index": index,
                "word": word,
                "id": sentence.sent_id or str(index + 1),
                "version": draft.version(index),
                **in_context(sentence.forms, word),
                "before": _cells_of_word(sentence, word),
                "after": _cells_of_word(after, word),
            }
            for word in words
        ]
    return {
        "total": sum(len(words) for _, words in found.values()),
        "sentences": len(found),
        "hits": hits[:most],
    }


def _cells_of_word(sentence: Sentence, word: int) -> list[str]:
    column = [correction.cells(sentence, name)[word - 1] for name in ("lemmas", "upos", "xpos", "feats")]
    return [*column, str(int(sentence.heads[word])), sentence.deprels[word - 1]]


def correct_hits(session: "Session", hits: Iterable[tuple[int, int, str]], change: str) -> int:
    """Correct words, (index, word, version) each, in one save; return the number of changed sentences.

    Where the session learns parts, changes of an unreviewed sentence are decided, and stay in new drafts.

    Raises StaleError when a sentence has another version, UsageError when a result is not a tree.
    """
    draft, words = session.draft, defaultdict[int, list[int]](list)
    for index, word, version in hits:
        if not 0 <= index < len(draft.sentences) or version != draft.version(index):
            raise StaleError("a sentence was changed meanwhile; search again")
        if not 1 <= word <= len(draft.sentences[index]):
            raise UsageError(f"found word {word}, expected one of the sentence")
        words[index].append(word)
    places = []
    for at, own in words.items():
        old = session.shown(at)
        new = corrected(old, own, change)
        if session.learns_parts:
            changed = (one for one in correction.CHECKABLE if getattr(old, one) != getattr(new, one))
            new = correction.with_checked(new, changed)
            new = new if correction.is_reviewed(old) else _with_decided(old, new)
        places.append((at, 1, [new]))
    draft.replace(places)
    return len(words)


def _with_decided(old: Sentence, new: Sentence) -> Sentence:
    """Return a corrected draft whose changed cells are decided, beside those decided before."""
    before, after = (
        {"upos": one.upos, "heads": correction.tree_of(one).heads, "relations": one.deprels}
        for one in (old, new)
    )
    decided = {
        column: [known or a != b for known, a, b in zip(own, before[column], after[column], strict=True)]
        for column, own in correction.decided_cells(old).items()
    }
    return correction.with_tree(new, correction.tree_of(new), decided=decided)


def _test(text: str) -> Test:
    match = _CONDITION.fullmatch(text)
    if (
        match is None
        or match[2] not in (_PARTS if match[3] else _CELLS)
        or _has_no_tag(*match.group(2, 4, 5))
    ):
        examples = "upos=NOUN, deprel=obj|obl, head.deprel!=root, feats.Case=Nom, form~^un, lemma=, xpos="
        hint = "" if match or re.search("[=~]", text) else r"; a space in a word is \s: form~^10\s000$"
        raise UsageError(f"found {text!r}, expected a condition such as {examples}{hint}")
    path, column, name, operator, values = match.groups()
    steps, negated = path.split(".")[:-1], operator[0] == "!"
    if operator[-1] == "~":
        try:
            found = re.compile(values).search
        except re.error as error:
            raise UsageError(f"found {values!r}, expected a regular expression: {error}") from None
        holds: Callable[[str], bool] = lambda cell: found(cell) is not None  # noqa: E731
    else:
        # Without a step, an empty cell; with one, no such word.
        wanted = values.split("|")
        if "" in wanted and not steps and column != "form":
            wanted.append(UNSPECIFIED)
        holds = _is_one_of(wanted, several=column == "feats")

    def value(sentence: Sentence, word: int) -> str:
        if name is None:
            return getattr(sentence, _CELLS[column])[word - 1] if word else ""
        return getattr(sentence[word], column).get(name) or "" if word else ""

    def test(sentence: Sentence, word: int) -> bool:
        places = [word]
        for step in steps:
            places = [other for place in places for other in _step(sentence, place, step)]
        return any(holds(value(sentence, place)) for place in places or [0]) != negated

    return test


def _is_one_of(values: Sequence[str], *, several: bool) -> Callable[[str], bool]:
    """Return a test of cells for these values, and for relations with any subtype (nsubj:*).

    ``several``: cells may have several values, PronType=Int,Rel.
    """
    exact = {one for one in values if not one.endswith(":*")}
    subtyped = {one.removesuffix(":*") for one in values if one.endswith(":*")}

    def holds(cell: str) -> bool:
        parts = (cell, *cell.split(",")) if several else (cell,)
        return not exact.isdisjoint(parts) or (bool(subtyped) and cell.partition(":")[0] in subtyped)

    return holds


def _has_no_tag(column: str, operator: str, values: str) -> bool:
    """Return whether the values cannot be tags: upos==NOUN, or upos=NOUN,deprel=obj."""
    return column in ("upos", "deprel") and operator[-1] == "=" and bool(set("=,") & set(values))


def _step(sentence: Sentence, word: int, step: str) -> Sequence[int]:
    """Return the words that a prefix leads to; none beyond the root and the sentence's ends."""
    if step == "head":
        head = int(sentence.heads[word])
        return [head] if head > ROOT else []
    if step == "child":
        return (sentence.heads == word).nonzero()[0].tolist()
    other = word + (1 if step == "next" else -1)
    return [other] if 1 <= other <= len(sentence) else []


def in_context(forms: Sequence[str], word: int, around: int = 6) -> dict[str, str]:
    left, right = forms[max(0, word - 1 - around) : word - 1], forms[word : word + around]
    return {"left": " ".join(left), "form": forms[word - 1], "right": " ".join(right)}


def corrected(sentence: Sentence, words: Sequence[int], change: str) -> Sentence:
    for text in change.split() or [""]:
        if text == _GRANDPARENT:
            sentence = _raised(sentence, words)
            continue
        match = _CHANGE.fullmatch(text)
        if match is None or match[1] in ("form", "misc") or (match[1] not in _CELLS) == (match[2] is None):
            examples = f"deprel=obl, feats.Case=Nom, {_GRANDPARENT}"
            raise UsageError(f"found {text!r}, expected a correction such as {examples}")
        column, name, value = match.groups()
        own = _PARTS.get(column) or _CELLS[column]
        given = list(correction.cells(sentence, own))
        for word in words:
            given[word - 1] = value if name is None else _with_part(given[word - 1], name, value)
        if column == "deprel":
            correction.check_relation(value)
            sentence = without_misc(sentence, RELATION_PROBABILITY, words=words)
            sentence = replace(sentence, deprels=tuple(given))
        else:
            sentence = correction.with_cells(sentence, {own: given})
    return sentence


def _with_part(cell: str, name: str, value: str) -> str:
    kept = [pair for pair in cell.split("|") if pair != UNSPECIFIED and not pair.startswith(f"{name}=")]
    return "|".join(kept if value == UNSPECIFIED else [*kept, f"{name}={value}"]) or UNSPECIFIED


def _raised(sentence: Sentence, words: Sequence[int]) -> Sentence:
    """Reattach words to the heads of their heads; dependents of the root stay."""
    sentence = without_misc(sentence, ARC_PROBABILITY, RELATION_PROBABILITY, words=words)
    heads = sentence.heads.copy()
    for word in words:
        head = int(sentence.heads[word])
        if head > ROOT and sentence.heads[head] not in (ROOT, NO_HEAD):
            heads[word] = sentence.heads[head]
    return replace(sentence, heads=frozen_heads(heads))
