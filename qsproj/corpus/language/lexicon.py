"""A lexicon: which tags a word may have, one word a line."""

from __future__ import annotations

import re
from collections.abc import Mapping

from qsproj.corpus.cells import UNIVERSAL_TAGS
from qsproj.corpus.files import PathOrFile, name_of, open_text
from qsproj.errors import DataError

Lexicon = Mapping[str, tuple[str, ...]]


def read_lexicon(path: PathOrFile) -> dict[str, tuple[str, ...]]:
    """Read ``word TAB tags`` lines; tags are parted by spaces, commas or bars. Blank lines are passed over.

    A word may have several lines; its tags are those of all of them, sorted. Case is kept. Raises DataError
    at a line without a tab, a word or a tag; at a tag that is not a universal one; without any line.
    """
    tags: dict[str, set[str]] = {}
    with open_text(path) as lines:
        for number, line in enumerate(lines, start=1):
            if not line.strip():
                continue
            word, tab, rest = line.rstrip("\r\n").lstrip("\ufeff").partition("\t")
            given = [tag for tag in re.split(r"[\s,|]+", rest) if tag]
            if not (tab and word.strip() and given):
                raise DataError(name_of(path), number, "a line of another form", "a word, a tab, its tags")
            for tag in given:
                if tag not in UNIVERSAL_TAGS:
                    raise DataError(
                        name_of(path),
                        number,
                        found=f"the tag {tag!r}",
                        expected=f"one of {' '.join(UNIVERSAL_TAGS)}",
                        remedy="map it to universal tags, or leave the word out",
                    )
            tags.setdefault(word.strip(), set()).update(given)
    if not tags:
        raise DataError(name_of(path), None, "no line", "word TAB tags", "check that it is the right file")
    return {word: tuple(sorted(of_word)) for word, of_word in tags.items()}
