"""Changes of tokens and sentence boundaries; IDs, heads, DEPS, SpaceAfter and ``# text`` are updated."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import accumulate

from qsproj.corpus.cells import DEPREL, DEPS, FORM, HEAD, MISC, UNSPECIFIED
from qsproj.corpus.editing import column_values, layout_of, order_of
from qsproj.corpus.formats import read_sentences
from qsproj.corpus.sentence import Layout, Sentence
from qsproj.errors import DataError, UsageError, unknown_name
from qsproj.serve.review.correction import CHECKED, is_text
from qsproj.serve.review.draft import NamedBytes

NO_SPACE = "SpaceAfter=No"
_TEXT, _NAME = re.compile(r"#\s*text\s*="), re.compile(r"#\s*sent_id\s*=")
_NEW_PARAGRAPH = re.compile(r"#\s*newpar\b")
_CHECKED = re.compile(rf"#\s*{CHECKED}\s*=")
# Other texts of a sentence: translations, transliterations.
_OTHER_TEXT = re.compile(r"#\s*(text_\w+|translit)\s*=\s*(.*)")
_DEPENDENCY = re.compile(r"(\d+(?:\.\d+)?)(:.*)")


@dataclass(slots=True)
class _Token:
    """A surface token: its words, and its own row if it is a multiword token. Mutable."""

    words: "list[_Word]"
    row: list[str] | None = None

    @property
    def form(self) -> str:
        return (self.row or self.words[0].row)[FORM]

    @property
    def space_after(self) -> bool:
        return NO_SPACE not in (self.row or self.words[-1].row)[MISC].split("|")

    def put_space(self, follows: bool) -> None:
        row = self.row or self.words[-1].row
        items = [one for one in row[MISC].split("|") if one not in (NO_SPACE, UNSPECIFIED)]
        row[MISC] = "|".join(items if follows else [*items, NO_SPACE]) or UNSPECIFIED


@dataclass(slots=True, eq=False)
class _Word:
    """A word with its head, and the empty nodes after it. Mutable; head None is the root, or missing."""

    row: list[str]
    head: "_Word | None" = None
    empty: list[list[str]] = field(default_factory=list)


@dataclass(slots=True)
class Tokens:
    """A sentence as tokens, comments, and empty nodes before the first word. Mutable; final."""

    comments: list[str]
    tokens: list[_Token]
    empty: list[list[str]]
    layout: Layout
    # DEPS by identity of the row: (head, relation); a head is a word, the row of an empty node, or "0"
    deps: dict[int, list[tuple[_Word | list[str] | str, str]]] = field(default_factory=dict)
    # words merged into another one, by identity
    merged: dict[int, _Word] = field(default_factory=dict)

    @staticmethod
    def of(sentence: Sentence) -> "Tokens":
        layout = layout_of(sentence)
        lines = [line.rstrip("\r") for line in layout.lines]
        rows = [line.split("\t") for line in lines if not line.startswith("#")]
        found = Tokens([line for line in lines if line.startswith("#")], [], [], layout)
        words, nodes, last = dict[str, _Word](), dict[str, list[str]](), 0
        for row in rows:
            number = row[0]
            if "-" in number:
                last = int(number.partition("-")[2])
                found.tokens.append(_Token([], row))
            elif "." in number:
                (found.words[-1].empty if found.words else found.empty).append(row)
                nodes[number] = row
            else:
                word = words[number] = _Word(row)
                if int(number) > last:
                    found.tokens.append(_Token([]))
                found.tokens[-1].words.append(word)
        # Cells of the layout may have been changed since it was read.
        for column, cells in column_values(sentence):
            for word, cell in zip(words.values(), cells, strict=True):
                word.row[column] = cell
        for word in words.values():
            word.head = words.get(word.row[HEAD])
        for row in rows:
            parts = [_DEPENDENCY.fullmatch(part) for part in row[DEPS].split("|")]
            if all(parts):
                found.deps[id(row)] = [
                    (words.get(part[1]) or nodes.get(part[1]) or part[1], part[2]) for part in parts if part
                ]
        return found

    @property
    def words(self) -> list[_Word]:
        return [word for token in self.tokens for word in token.words]

    def word(self, number: int) -> _Word:
        words = self.words
        if not 1 <= number <= len(words):
            raise UsageError(f"found word {number}, expected 1 to {len(words)}")
        return words[number - 1]

    def spans(self) -> list[tuple[int, int, str, bool]]:
        """Return (first word, last word, form, whether a space follows) of each token."""
        pairs = zip(accumulate(len(token.words) for token in self.tokens), self.tokens, strict=True)
        return [(end - len(one.words) + 1, end, one.form, one.space_after) for end, one in pairs]

    def token_of(self, word: _Word) -> _Token:
        return next(token for token in self.tokens if word in token.words)

    def put(self, new: list[_Token], whole: Sequence[_Token]) -> None:
        """Replace the tokens ``whole`` by ``new`` ones, without spaces between; the space after is kept."""
        space = whole[-1].space_after
        for token in whole:
            token.put_space(True)
        for token in new:
            token.put_space(False)
        new[-1].put_space(space)
        place = self.tokens.index(whole[0])
        self.tokens[place : place + len(whole)] = new

    def lines(self) -> list[str]:
        numbers = {id(word): str(at) for at, word in enumerate(self.words, start=1)}
        for number, empty in (("0", self.empty), *((numbers[id(one)], one.empty) for one in self.words)):
            numbers |= {id(row): f"{number}.{at}" for at, row in enumerate(empty, start=1)}
        numbers |= {old: numbers[id(word)] for old, word in self.merged.items() if id(word) in numbers}
        rows = list(self.empty)
        for token in self.tokens:
            if token.row is not None:
                token.row[0] = f"{numbers[id(token.words[0])]}-{numbers[id(token.words[-1])]}"
                rows.append(token.row)
            for word in token.words:
                word.row[0] = numbers[id(word)]
                if word.head is not None:
                    word.row[HEAD] = numbers[id(word.head)]
                rows += [word.row, *word.empty]
        for row in rows:
            row[0] = numbers.get(id(row), row[0])
            self._set_deps(row, numbers)
        return [*self.comments, *map("\t".join, rows)]

    def _set_deps(self, row: list[str], numbers: Mapping[int, str]) -> None:
        """Renumber the heads of DEPS; ``_`` where one is in another sentence."""
        if given := self.deps.get(id(row)):
            found = [(one if isinstance(one, str) else numbers.get(id(one), ""), rest) for one, rest in given]
            if self.merged:
                found = [one for one in sorted({*found}, key=order_of) if one[0] != row[0]]
            known = found and all(head for head, _ in found)
            row[DEPS] = "|".join(map("".join, found)) if known else UNSPECIFIED

    def set_text(self) -> None:
        text = "".join(token.form + " " * token.space_after for token in self.tokens).rstrip()
        self.comments = [f"# text = {text}" if _TEXT.match(one) else one for one in self.comments]


@dataclass(frozen=True, slots=True)
class Edit:
    """A change of boundaries: one of ACTIONS, words first to last, and texts if the action takes any."""

    action: str
    word: int = 1
    last: int = 1
    texts: tuple[str, ...] = ()


def _row(form: str, relation: str = UNSPECIFIED) -> list[str]:
    return ["", form, *[UNSPECIFIED] * 5, relation, UNSPECIFIED, UNSPECIFIED]


def _split_word(tokens: Tokens, edit: Edit) -> None:
    """Split a word, or make a token of parts that do not spell it; the others depend on the first."""
    own, forms = tokens.word(edit.word), edit.texts
    if len(forms) < 2:
        raise UsageError("found one part, expected two or more, separated by spaces")
    for form in forms:
        _check_form(form, own.row[FORM])
    token = tokens.token_of(own)
    new = [_Word(_row(form, "dep"), own) for form in forms[1:]]
    new[-1].empty, own.empty = own.empty, []
    if token.row is not None:
        at = token.words.index(own)
        token.words[at + 1 : at + 1] = new
    elif "".join(forms) == own.row[FORM]:
        tokens.put([_Token([one]) for one in (own, *new)], [token])
    else:
        tokens.put([_Token([own, *new], _row(own.row[FORM]))], [token])
    own.row[FORM] = forms[0]


def _several_words(tokens: Tokens, edit: Edit) -> tuple[list[_Word], list[_Token]]:
    words = [tokens.word(word) for word in range(edit.word, edit.last + 1)]
    if len(words) < 2:
        raise UsageError(f"found words {edit.word} to {edit.last}, expected two or more")
    return words, _whole_tokens(tokens, words)


def _above(word: _Word) -> list[_Word]:
    """Return the heads of a word, up to the root."""
    found = list[_Word]()
    while word.head is not None:
        word = word.head
        found.append(word)
    return found


def _merge_words(tokens: Tokens, edit: Edit) -> None:
    """Merge words into one, with the cells of the word nearest to the root, so that no cycle can arise."""
    words, whole = _several_words(tokens, edit)
    inside = {id(word) for word in words}
    above = {id(word): _above(word) for word in words}
    tops = [word for word in words if not any(id(one) in inside for one in above[id(word)])]
    # A word without a head is not on a path to the root.
    top = min(tops, key=lambda word: (word.row[HEAD] == UNSPECIFIED, len(above[id(word)])))
    form = "".join(token.form for token in whole)
    if len(whole) == 1 and len(whole[0].words) != len(words):
        form = "".join(word.row[FORM] for word in words)
        at = whole[0].words.index(words[0])
        whole[0].words[at : at + len(words)] = [top]
    else:
        tokens.put([_Token([top])], whole)
    top.row[FORM] = form
    top.empty = [row for word in words for row in word.empty]
    for word in tokens.words:
        if word.head is not None and id(word.head) in inside:
            word.head = top
    tokens.merged = dict.fromkeys(inside, top)


def _join_token(tokens: Tokens, edit: Edit) -> None:
    words, whole = _several_words(tokens, edit)
    if any(token.row is not None for token in whole):
        raise UsageError(f"found words {edit.word} to {edit.last}, expected tokens of their own")
    tokens.put([_Token(words, _row("".join(token.form for token in whole)))], whole)


def _part_token(tokens: Tokens, edit: Edit) -> None:
    token = tokens.token_of(tokens.word(edit.word))
    if token.row is None:
        raise UsageError(f"found word {edit.word} outside of multiword tokens, expected one inside")
    tokens.put([_Token([one]) for one in token.words], [token])


def _set_space(tokens: Tokens, edit: Edit) -> None:
    token = tokens.token_of(tokens.word(edit.word))
    token.put_space(not token.space_after)


def _set_form(tokens: Tokens, edit: Edit) -> None:
    row, form = tokens.word(edit.word).row, " ".join(edit.texts)
    _check_form(form, row[FORM])
    row[FORM] = form


def _check_form(form: str, old: str) -> None:
    """Raise UsageError for an invalid form; spaces are allowed where the old form has them."""
    known = {" "} if " " in old else set()
    if not form.strip() or not is_text(form) or {one for one in form if one.isspace()} - known:
        raise UsageError(f"found {form!r}, expected a word without spaces; to cut it, split it into parts")


def _set_comments(tokens: Tokens, edit: Edit) -> None:
    for line in edit.texts:
        if line not in tokens.comments and not (line.startswith("#") and is_text(line)):
            raise UsageError(f"found {line[:40]!r}, expected a comment that begins with #")
    tokens.comments = list(edit.texts)


def _split_sentence(tokens: Tokens, word: int) -> list[Tokens]:
    """Split the sentence after a word; words with a head on the other side attach to their own root."""
    words = tokens.words
    if not 1 <= word < len(words):
        raise UsageError(f"found word {word}, expected one that others follow")
    whole = _whole_tokens(tokens, words[:word])
    if sum(len(token.words) for token in whole) != word:
        raise UsageError(f"found word {word} inside of a multiword token, expected the last one of it")
    kept = (one for one in tokens.comments if any(kind.match(one) for kind in (_TEXT, _NAME, _CHECKED)))
    comments = [f"{one}-2" if _NAME.match(one) else one for one in kept]
    rest = tokens.tokens[len(whole) :]
    parts = [replace(tokens, tokens=whole), replace(tokens, comments=comments, tokens=rest, empty=[])]
    for part in parts:
        inside = {id(one) for one in part.words}
        tops = [one for one in part.words if one.head is None or id(one.head) not in inside]
        root = next((one for one in tops if one.head is None), tops[0])
        for one in tops:
            one.head = None if one is root else root
        root.row[HEAD], root.row[DEPREL] = "0", "root"
        part.set_text()
    return parts


def _merge_sentences(first: Tokens, second: Tokens) -> Tokens:
    """Merge two sentences; the second root depends on the first, as ``parataxis``."""
    roots = [next((word for word in one.words if word.row[HEAD] == "0"), None) for one in (first, second)]
    if roots[1] is not None and roots[0] is not None:
        roots[1].head, roots[1].row[DEPREL] = roots[0], "parataxis"
    first.words[-1].empty += second.empty
    comments, tokens = _joined_comments(first.comments, second), first.tokens + second.tokens
    joined = replace(first, comments=comments, tokens=tokens, deps=first.deps | second.deps)
    joined.set_text()
    return joined


def _joined_comments(comments: Sequence[str], second: Tokens) -> list[str]:
    """Return the comments of both, translations concatenated; ``# newpar`` of the second moves to MISC."""
    found = list(comments)
    places = {match[1]: at for at, one in enumerate(found) if (match := _OTHER_TEXT.fullmatch(one))}
    for line in second.comments:
        text = _OTHER_TEXT.fullmatch(line)
        if text is not None and text[1] in places:
            found[places[text[1]]] += f" {text[2]}"
        elif _NEW_PARAGRAPH.match(line):
            row = second.tokens[0].row or second.tokens[0].words[0].row
            items = [one for one in row[MISC].split("|") if one not in (UNSPECIFIED, "NewPar=Yes")]
            row[MISC] = "|".join(["NewPar=Yes", *items])
        elif line not in found and not any(kind.match(line) for kind in (_TEXT, _NAME, _CHECKED)):
            found.append(line)
    # Checked are columns that were checked in both.
    return [one for one in found if not _CHECKED.match(one) or one in second.comments]


_CHANGES: dict[str, Callable[[Tokens, Edit], None]] = {
    "split": _split_word,
    "merge": _merge_words,
    "join": _join_token,
    "part": _part_token,
    "space": _set_space,
    "form": _set_form,
    "comments": _set_comments,
}
ACTIONS = (*_CHANGES, "end sentence", "join next")


def edited(sentence: Sentence, edit: Edit, following: Sentence | None, *, name: str) -> list[Sentence]:
    tokens = Tokens.of(sentence)
    parts, end = [tokens], tokens.layout.end
    if edit.action in _CHANGES:
        _CHANGES[edit.action](tokens, edit)
        if edit.action not in ("split", "comments"):
            tokens.set_text()
    elif edit.action == "end sentence":
        parts = _split_sentence(tokens, edit.word)
    elif edit.action == "join next":
        if following is None:
            raise UsageError("found no next sentence, expected one to join")
        other = Tokens.of(following)
        parts, end = [_merge_sentences(tokens, other)], other.layout.end
    else:
        raise unknown_name("action", edit.action, ACTIONS)
    newline = tokens.layout.newline
    texts = [newline.join(part.lines()) for part in parts]
    content = tokens.layout.start + (newline * 2).join(texts) + end
    try:
        return list(read_sentences(NamedBytes(content.encode(), name)))
    except DataError as error:
        raise UsageError(f"this is no sentence: {error}") from None


def _whole_tokens(tokens: Tokens, words: Sequence[_Word]) -> list[_Token]:
    """Return the tokens of some words; UsageError where these cover only part of a multiword token."""
    inside = {id(word) for word in words}
    found = [token for token in tokens.tokens if any(id(word) in inside for word in token.words)]
    cut = [token for token in found if not all(id(word) in inside for word in token.words)]
    if cut and len(found) > 1:
        part = f"a part of the multiword token {cut[0].form}"
        raise UsageError(f"found {part}, expected all of it, or words in it")
    return found
