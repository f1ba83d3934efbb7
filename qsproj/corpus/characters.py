"""Normalised text for models: composed characters without invisible ones, and their positions in the text.

The same text has several encodings: letters and their accents as one character or as several (NFC and NFD of
Unicode), with soft hyphens and zero-width spaces in between. Vowel marks of Arabic, Hebrew and Syriac are
optional: some Bibles and treebanks have them, most texts do not. Models read one form; files keep theirs.
"""

import html
import re
import unicodedata
from collections.abc import Callable
from functools import lru_cache
from typing import TypeVar

# Maximum number of words whose forms are cached: more than the types of a bitext of 70,000 pairs; with fewer,
# each pass over its vocabulary makes all of them again.
MOST_REMEMBERED = 1 << 17
MOST_CACHED = 1 << 16  # size of each :func:`remembered` cache
Key = TypeVar("Key")
Value = TypeVar("Value")
# Soft hyphen, zero-width space, marks of direction, word joiner, invisible operators; not joiners of letters.
_CODES = (0xAD, 0x34F, 0x61C, 0x200B, 0x200E, 0x200F, *range(0x202A, 0x202F), *range(0x2060, 0x2070), 0xFEFF)
INVISIBLE = "".join(map(chr, _CODES))
_INVISIBLE = re.compile(f"[{INVISIBLE}]+")
# Marks that rarely compose with letters; emoji variation selectors and skin tones; the joiner of emoji.
_LOOSE = re.compile(
    "[\u0300-\u036f\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe00-\ufe0f\ufe20-\ufe2f\U0001f3fb-\U0001f3ff]"
)
_JOINER = "\u200d"
# Categories of marks and format characters, none of which are ASCII or letters.
_NO_CHARACTERS = frozenset({"Mn", "Mc", "Me", "Cf"})
_SUSPECT = re.compile(r"(?<![^ ])[^\x00-\x7f\w]")
_FLAG = re.compile("[\U0001f1e6-\U0001f1ff]")
# References of HTML to characters.
_ESCAPE = re.compile(r"&(?:amp|apos|quot|lt|gt|#\d{1,6}|#[xX][\da-fA-F]{1,5});")
# Hangul vowels and finals and Indic vowel signs compose with the preceding character but are not marks.
_COMPOSING = re.compile(
    "[\u1161-\u1175\u11a8-\u11c2\u09be\u09d7\u0b3e\u0b56\u0b57\u0bbe\u0bd7\u0cc2\u0cd5\u0cd6\u0d3e\u0d57"
    "\u0dcf\u0ddf\u102e\u1b35]"
)
# Ligatures, with Armenian *ev*; the long s; Arabic presentation forms; wide Hebrew letters.
_LIGATURE = re.compile(
    "[\u0132\u0133\u013f\u0140\u0149\u017f\u01c4-\u01cc\u01f1-\u01f3\u0587\ufb00-\ufb06\ufb13-\ufb17"
    "\ufb20-\ufb28\ufb4f-\ufdfb\ufe70-\ufefc]"
)
_ARMENIAN_EV = "\u0587"
_IN_TWO_LETTERS = unicodedata.normalize("NFKC", _ARMENIAN_EV)
# Marks that spelling may leave out: Hebrew accents and points, Arabic vowel marks, tatweel and signs of
# recitation, Syriac points. Not hamza, madda and marks that make letters, as the long vowels of Kashmiri.
_OPTIONAL = re.compile(
    "[\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0610-\u061a\u0640\u064b-\u0652\u0670"
    "\u06d6-\u06dc\u06df-\u06e4\u06e7\u06e8\u06ea-\u06ed\u0730-\u074a\u08d4-\u08e1\u08f0-\u08f2]"
)
# Words with points of Yiddish letters alone: on alef, pe, two yods and yod after yod. Pointed Hebrew has few.
_POINTED = "[\u0591-\u05bd\u05bf-\u05f2\ufb1d-\ufb4f]"
_YIDDISH = re.compile(
    f"(?<!{_POINTED})(?:[\u05d0-\u05f2\ufb1f\ufb2e\ufb2f\ufb44\ufb4e]|(?<=\u05d0)[\u05b7\u05b8]"
    f"|(?<=\u05d9\u05d9)[\u05b4\u05b7]|(?<=\u05f2)\u05b7|(?<=\u05e4)[\u05bc\u05bf])+(?!{_POINTED})"
)
_SPECIAL = re.compile("|".join([*(one.pattern for one in (_INVISIBLE, _LOOSE, _OPTIONAL, _FLAG)), _JOINER]))
_LEFT_OUT = re.compile(f"({_YIDDISH.pattern})|{_OPTIONAL.pattern}")
_ALEF = dict.fromkeys((0x0623, 0x0625, 0x0671), 0x0627)


@lru_cache(maxsize=MOST_REMEMBERED)
def composed_form(form: str) -> str:
    """Return a word in one encoding; a word of only invisible characters is unchanged.

    HTML escapes (``&quot;``, ``&#39;``) become their characters, except white space and control characters.
    """
    if "&" in form:
        form = _ESCAPE.sub(lambda found: html.unescape(found[0]).strip() or found[0], form)
    if form.isascii():
        return form
    # An isolated Arabic mark has a space before it.
    seen = _LIGATURE.sub(lambda one: unicodedata.normalize("NFKC", one[0]).strip(), _INVISIBLE.sub("", form))
    return unicodedata.normalize("NFC", seen) or form


def remembered(cache: dict[Key, Value], key: Key, make: Callable[[], Value]) -> Value:
    """Return the value of a key, made if it is not in the cache, which is emptied when full."""
    if key not in cache:
        if len(cache) >= MOST_CACHED:
            cache.clear()
        cache[key] = make()
    return cache[key]


@lru_cache(maxsize=MOST_REMEMBERED)
def plain_form(form: str) -> str:
    """Return a word in one encoding and without optional marks; one of only such characters keeps them."""
    composed = composed_form(form)
    return composed if composed.isascii() else _LEFT_OUT.sub(r"\1", composed) or composed


def lower_case(text: str) -> str:
    """Return a text in lower case, and alef without hamza or wasla, which much Arabic text does not write."""
    return text.lower() if text.isascii() else text.lower().translate(_ALEF)


def lower_letters(text: str, language: str | None = None) -> str:
    """Return a text in lower case, *i* for Turkish *İ*, and *ı* for *I* in Turkish and Azeri."""
    if language in ("tr", "az"):
        text = text.replace("I", "ı")
    return text.lower() if text.isascii() else text.lower().replace("i\u0307", "i")


@lru_cache(maxsize=MOST_REMEMBERED)
def lower_form(form: str) -> str:
    """Return the form in which words are compared: plain, in lower case."""
    return form.lower() if form.isascii() and "&" not in form else lower_case(plain_form(form))


def is_lower_case(form: str) -> bool:
    """Return whether a word is in lower case in a script that begins names with capitals: not Georgian."""
    return form.islower() and form.title() != form


def composed_as(form: str, text: str) -> str:
    """Return a text with decomposed accents, or Armenian *ev* as one letter, where ``form`` has them."""
    if _ARMENIAN_EV in form:
        text = text.replace(_IN_TWO_LETTERS, _ARMENIAN_EV)
    is_composed = form.isascii() or unicodedata.is_normalized("NFC", form)
    return text if is_composed else unicodedata.normalize("NFD", text)


def belongs_to_neighbour(character: str) -> bool:
    """Return whether a character belongs to its neighbour: a mark, a joiner, a direction mark."""
    return not character.isascii() and unicodedata.category(character) in _NO_CHARACTERS


def without_unseen_words(text: str) -> str:
    """Return a text with single spaces, without chunks of only marks and invisible characters."""
    if _SUSPECT.search(text) is None:
        return text
    chunks = text.split(" ")
    kept = [chunk for chunk in chunks if not chunk or not all(map(belongs_to_neighbour, chunk))]
    # A text of marks alone is one word.
    return " ".join(kept) if any(kept) else _INVISIBLE.sub("", "".join(chunks))


def readable(text: str) -> tuple[str, list[int] | None]:
    """Return the normalised text, and the place of each character in ``text`` (None: unchanged)."""
    if text.isascii() or (unicodedata.is_normalized("NFC", text) and not _SPECIAL.search(text)):
        return text, None
    characters, starts = list[str](), list[int]()
    letters = {at for word in _YIDDISH.finditer(text) for at in range(*word.span())}
    for begin, whole in _clusters(text):
        shown = unicodedata.normalize("NFC", _INVISIBLE.sub("", whole))
        rest = "" if _is_symbol(shown[:1]) else _LOOSE.sub("", shown[1:])
        kept = shown[:1] + (rest if begin in letters else _OPTIONAL.sub("", rest))
        characters.append(kept)
        starts.append(begin)
        starts += [begin + (at if kept == whole else len(whole)) for at in range(1, len(kept))]
    return "".join(characters), starts


def _clusters(text: str) -> list[tuple[int, str]]:
    """Return the start and text of each user-perceived character (grapheme cluster)."""
    begins, base = list[int](), ""
    for at, character in enumerate(text):
        before = text[at - 1] if at else " "
        if " " in (before, character) or not _goes_on(base, before, character, at - begins[-1]):
            begins.append(at)
            base = ""
        if not base and character not in INVISIBLE:
            base = character
    ends = [*begins[1:], len(text)]
    return [(begin, text[begin:end]) for begin, end in zip(begins, ends, strict=True)]


def _goes_on(base: str, before: str, character: str, length: int) -> bool:
    """Return whether a character continues the cluster before it, of a base and ``length`` characters."""
    if not base or character in INVISIBLE or unicodedata.combining(character):
        return True
    if any(marks.match(character) for marks in (_LOOSE, _COMPOSING, _OPTIONAL)):
        return True
    if _FLAG.match(character) and _FLAG.match(base):
        return length == 1
    return _is_symbol(base) and _JOINER in (character, before)


def _is_symbol(character: str) -> bool:
    return bool(character) and unicodedata.category(character) == "So"
