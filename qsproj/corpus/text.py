"""Tokenisation of plain text, one sentence per line.

Words are tokenised by sacremoses (the Moses tokeniser) without its escapes; addresses are single tokens.
Lines that are already tokenised, as in half of any real bitext, give the same tokens as raw text: Moses
escapes are undone first, and detached English clitics are joined before tokenisation. A typed quotation mark
that Moses has cut in two (' ') stays so.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import lru_cache, partial
from itertools import islice, pairwise
from typing import TYPE_CHECKING

from qsproj.corpus.cells import UNSPECIFIED
from qsproj.corpus.characters import belongs_to_neighbour, readable, without_unseen_words
from qsproj.corpus.contractions import MARKS_ON_WORDS, Contractions, words_of_tokens
from qsproj.corpus.editing import NEW_PARAGRAPH
from qsproj.corpus.files import BYTE_ORDER_MARK
from qsproj.corpus.sentence import Layout, Sentence
from qsproj.corpus.unspaced import UNSPACED_LANGUAGES, check_has_spaces, with_spaces
from qsproj.errors import DataError

if TYPE_CHECKING:
    from sacremoses import MosesTokenizer

# Characters of an address: no closing quotes or brackets, other full stops, or letters of unspaced scripts.
_IN_ADDRESS = (
    r"[^\s<>\"“”„‘’«»、。，；：！？（）「」【】\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\u0e00-\u0eff]"
)
_PAGE = rf"(?:(?:https?|ftp)://|www\.(?=\w)){_IN_ADDRESS}+"
# Without a scheme, only these domains with a path: and.or/else is not an address.
_BARE_PAGE = rf"(?:[A-Za-z0-9-]{{1,63}}\.){{1,9}}(?:com|org|net|edu|gov|info|int|eu)/{_IN_ADDRESS}*"
_MAIL = r"[A-Za-z0-9_.+-]{1,64}@[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)+"
_ADDRESS = re.compile(rf"(?<![A-Za-z0-9@])(?:{_PAGE}|{_BARE_PAGE}|{_MAIL})")
_BEHIND = ".,;:!?'*_~|…"  # punctuation after an address is not part of it
_BRACKETS = {")": "(", "]": "[", "}": "{"}
_ESCAPE = re.compile(r"&(?:[A-Za-z]{2,6}|#[0-9]{2,6}|#[xX][0-9A-Fa-f]{2,5});")

_STAND_IN = "QSPROJWHOLETOKEN"  # for a whole token; rules treat it as a word
_LETTER = "\ua717"  # for a character within a word at which rules would split
# Between letters these are letters or mark an elision; two of them may be at the end of a word.
_APOSTROPHES = frozenset("'’‘ʼʻ´′ꞌ＇")
_AT_THE_END = frozenset("'’ʼ")
_OPENING = re.compile(r"(?<![\w`])['’‘‚`](?=\w)")
# Languages whose rules split clitics at an apostrophe; in Catalan those before a word.
_ELISION_LANGUAGES = frozenset({"fr", "it"})
_CLITIC_LANGUAGES = _ELISION_LANGUAGES | {"en"}
_CLITICS = {"ca": frozenset("dlmnst")}
# Armenian marks, and the tsek between Tibetan syllables, also within a word.
_IN_WORDS = f"{MARKS_ON_WORDS}\u0f0b\u0f0c"
_DOTS = frozenset("·‧")  # Catalan col·legi; Hebrew abbreviations and modified letters
_GERSHAYIM, _GERESH = frozenset('"״”“'), "׳"
_HEBREW = re.compile("[א-ת]")
_HEBREW_QUOTED = re.compile(r"""[א-ת]{2,}[^"״”“]*(?<!\s)["״”“](?![א-ת])""")
_SPACES = re.compile(r"[\s\x00-\x1f\x7f-\x9f]+")  # white space and control characters
_SUSPECT = re.compile(r"[^\x00-\x7f\w\s]|['`\"ʼʻꞌ]")
_TYPED_QUOTES = re.compile("`+|''+")  # quotation marks as TeX and typewriters have them


def whole_tokens(text: str) -> list[tuple[int, int]]:
    """Return the spans of addresses and escapes in a text, without punctuation after them."""
    if not any(mark in text for mark in ("@", "/", "www.", "&")):
        return []
    found = [(match.start(), match.start() + _length(match[0])) for match in _ADDRESS.finditer(text)]
    escapes = [match.span() for match in _ESCAPE.finditer(text)]
    spans = list[tuple[int, int]]()
    # Sorted, so that only the last address needs checking for an escape inside it.
    for span in sorted([*found, *escapes]):
        if not spans or span[0] >= spans[-1][1]:
            spans.append(span)
    return spans


def cut_around(text: str, cut: Callable[[str], list[str]]) -> list[str]:
    """Tokenise a text by ``cut``, keeping addresses and escapes whole."""
    spans = whole_tokens(text)
    if not spans or _STAND_IN in text:
        return cut(text)
    parts, at = [], 0
    for begin, end in spans:
        # An escape represents a non-letter, which separates words.
        parts += [text[at:begin], f" {_STAND_IN} " if text[begin] == "&" else _STAND_IN]
        at = end
    whole = iter([text[begin:end] for begin, end in spans])
    tokens = cut("".join([*parts, text[at:]]))
    return [re.sub(_STAND_IN, lambda _: next(whole), token) for token in tokens]


def _length(address: str) -> int:
    counts = Counter(mark for mark in address if mark in "()[]{}")
    for end in range(len(address), 0, -1):
        # Invariant: counts of the characters before ``end``.
        last = address[end - 1]
        unopened = last in _BRACKETS and counts[last] > counts[_BRACKETS[last]]
        if last not in _BEHIND and not unopened:
            return end
        counts[last] -= 1
    return 0


# Escapes of the Moses tokeniser for characters of its decoder; the last is &, so that none is undone twice.
_MOSES_ESCAPES = (
    *(("&apos;", "'"), ("&quot;", '"'), ("&lt;", "<"), ("&gt;", ">")),
    *(("&#124;", "|"), ("&#91;", "["), ("&#93;", "]"), ("&amp;", "&")),
)
# Characters that do not begin or end a word in a line tokenised by Moses.
_CUT_OFF = frozenset(',;?!()"«»“”„')
_DETACHED_CLITIC = re.compile(r"(?<=\w) ?(['’]) ?(s|t|re|m|ll|ve|d)(?= |$)", re.IGNORECASE)
_DETACHED_NEGATION = re.compile(r"(?<=\w) (?=n['’]t\b)", re.IGNORECASE)
_NEGATION = re.compile(r"['’]t", re.IGNORECASE)
_PRONOUNS = frozenset(
    "je tu il ils elle elles on nous vous ce moi toi le les la lui leur y en".split()  # noqa: SIM905
)
_FRENCH_NOUNS = frozenset({"rendez-vous", "chez-moi", "chez-toi", "chez-nous", "chez-vous", "entre-nous"})
_EMPTY_COLUMNS = "\t".join(UNSPECIFIED * 7)
# Italian abbreviations that the lists of sacremoses lack: those of words, and those of numbers (*art. 5*).
_ABBREVIATIONS = {"it": "arch avv ca cfr geom ing mons prof rag sig sigg".split()}  # noqa: SIM905
_BEFORE_NUMBERS = {"it": "art artt cap fig n nn p pag pagg tab vol".split()}  # noqa: SIM905


@lru_cache(maxsize=8)
def moses_tokenizer(language: str) -> "MosesTokenizer":
    """Return the tokeniser of a language, with its abbreviations."""
    from sacremoses import MosesTokenizer

    moses = MosesTokenizer(language)
    moses.NONBREAKING_PREFIXES = [*moses.NONBREAKING_PREFIXES, *_ABBREVIATIONS.get(language, [])]
    moses.NUMERIC_ONLY_PREFIXES = [*moses.NUMERIC_ONLY_PREFIXES, *_BEFORE_NUMBERS.get(language, [])]
    letters = frozenset(moses.IsAlpha)
    # Its own methods build the sets anew for each word with a full stop, in a millisecond.
    setattr(moses, "islower", frozenset(moses.IsLower).issuperset)  # noqa: B010 - mypy: a method
    setattr(moses, "isanyalpha", lambda text: not letters.isdisjoint(text))  # noqa: B010
    return moses


def tokenize(line: str, language: str) -> list[str]:
    """Return the words of a line of raw or tokenised text, none for a blank line, without inner white space.

    ``language`` determines abbreviations that keep their full stop (without sacremoses rules, those of
    English), and the splitting at apostrophes.
    As in treebanks, English has ``do`` + ``n't``, French ``dit`` + ``-il`` and *aujourd'hui*.
    """
    text = readable(normalise(line, language))[0]
    cut = partial(moses_tokenizer(language).tokenize, escape=False)
    plain = text.isascii() and language == "en" and _TYPED_QUOTES.search(text) is None
    if plain or _SUSPECT.search(text) is None:
        words = cut_around(text, cut)
    else:
        shown, written = _sheltered(text, language)
        words = cut_around(shown, cut)
        if sum(map(len, words)) == len(written):
            spelled = iter(written)
            words = ["".join(islice(spelled, len(word))) for word in words]
        else:
            words = cut_around(text, cut)
    if language == "fr":
        return _french_as_in_treebanks(words)
    return _negations_as_in_treebanks(words) if language == "en" else words


def _sheltered(text: str, language: str) -> tuple[str, list[str]]:
    """Return a text whose words rules do not split, and the original of each character except white space."""
    shown, written = list(text), list(text)
    opening, done = _OPENING.search(text), 0
    for found in _SUSPECT.finditer(text):
        begin = found.start()
        if begin < done:
            continue
        before, done = shown[begin - 1] if begin else " ", begin + 1
        if text[begin] in _IN_WORDS:
            shown[begin] = _LETTER
        elif typed := _TYPED_QUOTES.match(text, begin):
            done, nothing = typed.end(), [""] * (len(typed[0]) - 1)
            if _is_quotation(typed, language, opening):
                # Marks without letters, before and after, are part of its first and last character.
                spelled = "".join(written[begin:done])
                shown[begin:done], written[begin:done] = [*nothing, ' " '], [*nothing, spelled]
            else:
                shown[begin:done] = _LETTER * len(typed[0])
        elif belongs_to_neighbour(text[begin]):
            while done < len(text) and belongs_to_neighbour(text[done]):
                done += 1
            if before.isalnum() and _as_letter(before) == before:
                shown[begin:done] = map(_as_letter, text[begin:done])
                continue
            # A run of marks before a word is part of its first character.
            place = begin - 1 if before > " " else min(done, len(text) - 1)
            run = [*written[begin:done]]
            shown[begin:done] = written[begin:done] = [""] * (done - begin)
            written[place] = "".join([written[place], *run] if place < begin else [*run, written[place]])
            if not shown[place]:
                shown[place] = _LETTER
        elif text[begin] in _DOTS:
            if _is_cased(before) and _is_cased(text[done : done + 1]):
                shown[begin] = _LETTER
        elif _HEBREW.match(before):
            if _is_hebrew_letter(text, begin) or _goes_on(text, begin, opening):
                shown[begin] = _LETTER
        elif text[begin] not in _APOSTROPHES:
            continue
        elif (
            language in _ELISION_LANGUAGES
            and text[begin] in _AT_THE_END
            and before.isalpha()
            and text[done : done + 1].isdecimal()
        ):
            shown[begin] = f"{_LETTER} "  # rules know *l'anno*, but not *l'11*
        elif language in _CLITIC_LANGUAGES and (language == "en" or text[done : done + 1].isalnum()):
            shown[begin] = "'" if text[begin] in _AT_THE_END else text[begin]
        elif before.isalnum() and _goes_on(text, begin, opening):
            single = begin < 2 or not shown[begin - 2].isalnum()
            clitic = single and before.lower() in _CLITICS.get(language, frozenset())
            shown[begin] = f"{_LETTER} " if clitic else _LETTER
    kept = [one for one, at in zip(written, shown, strict=True) if at > " "]
    return "".join(shown), kept


@lru_cache(maxsize=1 << 12)
def _as_letter(character: str) -> str:
    """Return a letter or mark that rules know, else a placeholder letter."""
    from sacremoses import MosesTokenizer

    return character if character in MosesTokenizer.IsAlnum else _LETTER


def _is_quotation(typed: re.Match[str], language: str, opening: re.Match[str] | None) -> bool:
    """Return whether a typed mark is no part of a word, unlike in *piu` o meno* or *об`єкт*.

    In Armenian a single one stands for the mark of a pause.
    """
    text, start, end = typed.string, *typed.span()
    before, after = text[max(start - 1, 0) : start].isalnum(), text[end : end + 1].isalnum()
    if typed[0] != "`":
        return typed[0][0] == "`" or not (before and after)
    is_open = opening is not None and opening.start() < start
    return not before or (not after and (language == "hy" or is_open))


def _is_cased(character: str) -> bool:
    return character.lower() != character.upper()


def _is_hebrew_letter(text: str, at: int) -> bool:
    """Return whether a mark after a Hebrew letter is geresh or gershayim, not a quotation mark."""
    is_before_letter = text[at] in _GERSHAYIM and _HEBREW.match(text, at + 1) is not None
    return text[at] == _GERESH or (is_before_letter and not _HEBREW_QUOTED.match(text, at + 1))


def _goes_on(text: str, at: int, opening: re.Match[str] | None) -> bool:
    """Return whether a word continues at an apostrophe: letters follow, or no quotation is open."""
    if text[at] in _APOSTROPHES and text[at + 1 : at + 2].isalnum():
        return True
    return text[at] in _AT_THE_END and not text[at - 1].isdigit() and not (opening and opening.start() < at)


def normalise(line: str, language: str) -> str:
    """Return the normalised text for :func:`tokenize`: single spaces, detached clitics joined."""
    if language in UNSPACED_LANGUAGES:
        line = with_spaces(line)
    text = without_unseen_words(_SPACES.sub(" ", line.lstrip(BYTE_ORDER_MARK)).strip(" "))
    if "&" in text and (undone := _without_escapes(text)) is not None:
        text = undone
    return _DETACHED_CLITIC.sub(r"\1\2", _DETACHED_NEGATION.sub("", text)) if language == "en" else text


def _without_escapes(text: str) -> str | None:
    """Return the text with Moses escapes undone, None if its words show that Moses did not tokenise it."""
    chunks = []
    for chunk in text.split(" "):
        undone = chunk
        for escape, character in _MOSES_ESCAPES:
            undone = undone.replace(escape, character)
        ends = undone[:1], undone[-1:]
        is_cut_off = not _CUT_OFF.isdisjoint(ends) or (undone != chunk and "'" not in ends)
        if len(undone) > 1 and is_cut_off:
            return None
        chunks.append(undone)
    ends_in_word = len(chunks[-1]) > 1 and chunks[-1].endswith(".") and "." not in chunks[-1][:-1]
    return None if ends_in_word else " ".join(chunks)


def _negations_as_in_treebanks(words: list[str]) -> list[str]:
    """Move the n of a negated auxiliary: ``ca`` + ``n't``, as in the Penn and UD treebanks."""
    result = list(words)
    for i, (before, word) in enumerate(pairwise(words)):
        if _NEGATION.fullmatch(word) and len(before) > 1 and before[-1] in "nN":
            result[i : i + 2] = before[:-1], before[-1] + word
    return result


def _french_as_in_treebanks(words: list[str]) -> list[str]:
    """Join *aujourd'hui*; split pronouns from verbs."""
    joined: list[str] = []
    for word in words:
        if word.lower() == "hui" and joined and joined[-1][:-1].lower() == "aujourd":
            joined[-1] += word
        else:
            joined.append(word)
    return [part for word in joined for part in _pronouns_apart(word)]


def _pronouns_apart(word: str) -> list[str]:
    """Split the pronouns from a French verb: *donne-moi-le* to *donne*, *-moi*, *-le*."""
    pieces = word.split("-")
    pronouns = list[str]()
    # From the end, for linear time; the part before the pronouns is not empty.
    while len(pieces) > 1 and pieces[-1] in _PRONOUNS and pieces != ["", pieces[-1]]:
        pronouns.append(f"-{pieces.pop()}")
        if len(pieces) > 1 and pieces[-1] == "t" and pieces != ["", "t"]:
            pronouns[-1] = f"-{pieces.pop()}{pronouns[-1]}"
    is_whole = not pronouns or word.lower() in _FRENCH_NOUNS
    return [word] if is_whole else ["-".join(pieces), *reversed(pronouns)]


def read_text(
    lines: Iterable[str], language: str, *, contractions: Contractions | None = None, name: str = "text"
) -> Iterator[Sentence]:
    """Yield one sentence for each non-blank line; ``sent_id`` is the line number.

    A sentence after a blank line begins a paragraph (``# newpar``), so that line-aligned files stay aligned.
    Tokens in ``contractions`` are split under a range row. Raises DataError if no spaces separate words.
    """
    for number, line, begins in numbered(lines):
        check_has_spaces(line, language, name=name, number=number)
        tokens, text = tokenize(line, language), normalise(line, language)
        pairs = list(zip(tokens, words_of_tokens(tokens, contractions or {}), strict=True))
        yield sentence_from_tokens(pairs, text, sent_id=str(number), begins_paragraph=begins)


def lines_of(text: str) -> list[str]:
    """Return the lines of a text, which end at line feeds alone, as those of files do."""
    return text.removesuffix("\n").split("\n") if text else []


def words_of_lines(
    lines: Iterable[str], read: Callable[[Iterable[str]], Iterator[Sentence]]
) -> Iterator[tuple[str, ...]]:
    """Yield the words of each line as a reader of text finds them, none for a blank line."""
    for number, line in enumerate(lines, start=1):
        try:
            sentence = next(read([line]), None)
        except DataError as error:
            raise error.at(number) from error
        yield () if sentence is None else sentence.forms


def written_words(line: str, language: str) -> tuple[str, ...]:
    """Return the words of :func:`tokenize` with the marks and invisible characters that the line has."""
    tokens = [(token, (token,)) for token in tokenize(line, language)]
    return sentence_from_tokens(tokens, normalise(line, language), sent_id="").forms if tokens else ()


def without_spaces(words: Sequence[str], *, sent_id: str) -> Sentence:
    """Return a sentence of words in a script without spaces; spaces between Latin letters are kept."""
    text = words[0]
    for before, word in pairwise(words):
        text += f" {word}" if f"{before[-1]}{word[0]}".isascii() else word
    return sentence_from_tokens([(word, (word,)) for word in words], text, sent_id=sent_id)


def numbered(lines: Iterable[str]) -> Iterator[tuple[int, str, bool]]:
    """Yield the non-blank lines, with their numbers from 1 and whether they follow a blank line."""
    after_blank = False
    for number, line in enumerate(lines, start=1):
        if not is_blank(line):
            yield number, line, after_blank
        after_blank = is_blank(line)


def is_blank(line: str) -> bool:
    """Return whether a line has only invisible characters: white space, control characters, joiners."""
    return not any(character.isprintable() and not character.isspace() for character in line)


def rule_starts(text: str, language: str | None) -> list[bool] | None:
    """Return for each character of a text whether a token starts there by rules, None without rules."""
    if language in UNSPACED_LANGUAGES:
        return None
    starts, at = [False] * len(text), 0
    # For the code of an unknown language, sacremoses uses the rules of English.
    for token in tokenize(text, language or "und"):
        at += text.startswith(" ", at)
        if not text.startswith(token, at):
            return None
        starts[at] = True
        at += len(token)
    return starts if at == len(text) else None


def sentence_from_tokens(
    tokens: Sequence[tuple[str, Sequence[str]]], text: str, *, sent_id: str, begins_paragraph: bool = False
) -> Sentence:
    """Return an unannotated sentence of tokens and their words, as they are written in ``text``."""
    forms = [token for token, _ in tokens]
    gaps = _space_after(forms, text)
    if gaps is None:
        shown, starts = readable(text)
        gaps = _space_after(forms, shown)
        if gaps is None:
            text, gaps = " ".join(forms), [True] * len(tokens)
        elif starts is not None:
            tokens = _as_written(tokens, gaps, text, [*starts, len(text)])
    lines = [*[NEW_PARAGRAPH] * begins_paragraph, f"# sent_id = {sent_id}", f"# text = {text}"]
    word_lines, forms = list[int](), list[str]()
    for (token, words), gap in zip(tokens, gaps, strict=True):
        misc = UNSPECIFIED if gap else "SpaceAfter=No"
        if len(words) > 1:
            number = f"{len(forms) + 1}-{len(forms) + len(words)}"
            lines.append(f"{number}\t{token}\t{_EMPTY_COLUMNS}\t{misc}")
            misc = UNSPECIFIED
        for word in words:
            forms.append(word)
            word_lines.append(len(lines))
            lines.append(f"{len(forms)}\t{word}\t{_EMPTY_COLUMNS}\t{misc}")
    plain = Sentence.from_words(forms, sent_id=sent_id)
    return replace(plain, layout=Layout(lines=tuple(lines), word_lines=tuple(word_lines)))


def _as_written(
    tokens: Sequence[tuple[str, Sequence[str]]], gaps: Sequence[bool], text: str, starts: Sequence[int]
) -> list[tuple[str, Sequence[str]]]:
    """Return tokens in their original spelling, by ``starts`` of characters; split ones keep their words."""
    written, at = list[tuple[str, Sequence[str]]](), 0
    for (token, words), gap in zip(tokens, gaps, strict=True):
        original = text[starts[at] : starts[at + len(token)]] or token
        written.append((original, words if len(words) > 1 else (original,)))
        at += len(token) + gap
    return written


def _space_after(tokens: Sequence[str], text: str) -> list[bool] | None:
    """Return whether white space follows each token in ``text``, None if the tokens do not match it."""
    gaps, at = list[bool](), 0
    for token in tokens:
        if not text.startswith(token, at):
            return None
        gap = text.startswith(" ", at + len(token))
        at += len(token) + gap
        gaps.append(gap or at == len(text))
    return gaps if at == len(text) else None
