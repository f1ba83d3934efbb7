"""Word links within CoNLL-U: ``Align=`` in MISC of the target, for tools without alignment files.

``Align=2,4`` links a word to words 2 and 4 of the source sentence; ``Align=2:0.93,4?`` gives the probability
of one link and marks the other as possible. Words are numbered as in column ID, from 1.
"""

import re
from collections.abc import Iterable, Iterator

from qsproj.corpus.alignments import weight_in, weights_of
from qsproj.corpus.conllu import read_conllu
from qsproj.corpus.editing import lines_before, lines_in, misc_values, with_misc, without_misc
from qsproj.corpus.files import PathOrFile, name_of
from qsproj.corpus.sentence import Alignment, Sentence, make_alignment
from qsproj.errors import DataError

MISC_FORMAT = "misc"
LINKS = "Align"
_LINK = re.compile(r"([0-9]{1,9})(\?)?(?::([0-9.eE+-]+))?")


def with_links_in_misc(target: Sentence, alignment: Alignment) -> Sentence:
    """Return a target sentence with the links of each word in MISC, replacing older links."""
    links = alignment.links.tolist()
    weights = [None] * len(links) if alignment.weights is None else alignment.weights.tolist()
    cells: list[list[str]] = [[] for _ in range(len(target))]
    for (source, word), sure, weight in zip(links, alignment.sure.tolist(), weights, strict=True):
        chance = "" if weight is None else f":{weight:.6g}"
        cells[word - 1].append(f"{source}{'' if sure else '?'}{chance}")
    return with_misc(without_misc(target, LINKS), LINKS, [",".join(cell) or None for cell in cells])


def links_in_misc(target: Sentence, n_source: int | None = None, *, name: str, line: int = 1) -> Alignment:
    """Return the links in MISC of a target sentence; without ``n_source``, source words are not checked."""
    links, sure, weights = list[tuple[int, int]](), list[bool](), list[float | None]()
    for word, value in enumerate(misc_values(target, LINKS), start=1):
        for text in value.split(",") if value is not None else ():
            match, place = _LINK.fullmatch(text), line + lines_before(target, word)
            if match is None or not 1 <= int(match[1]) <= (n_source or int(match[1])):
                words = f"1 to {n_source}" if n_source else "from 1 on"
                expected = f"words of the source, {words}, as in 2,4 or 2:0.93,4?"
                remedy = "check that it is the translation of these sentences"
                raise DataError(name, place, f"{LINKS}={value}", expected, remedy)
            links.append((int(match[1]), word))
            sure.append(match[2] is None)
            weights.append(weight_in(match[3], place, name))
    size = n_source or max((source for source, _ in links), default=0)
    return make_alignment(size, len(target), links, sure, weights_of(weights))


def read_links_in_misc(
    path: PathOrFile, sizes: Iterable[tuple[int, int]] | None = None
) -> Iterator[Alignment]:
    """Yield the alignment of each sentence of a target file, consuming ``sizes`` in parallel."""
    expected = None if sizes is None else iter(sizes)
    line, name = 1, name_of(path)
    for target in read_conllu(path):
        size = None if expected is None else next(expected, (0, 0))
        if size is not None and size[1] != len(target):
            raise _other_sentences(name, line, f"a sentence of {len(target)} words", f"one of {size[1]}")
        yield links_in_misc(target, size[0] if size else None, name=name, line=line)
        line += lines_in(target)
    if expected is not None and next(expected, None) is not None:
        raise _other_sentences(name, line, "the end of the file", "as many sentences as there are pairs")


def _other_sentences(name: str, line: int, found: str, expected: str) -> DataError:
    remedy = "take the links from the file of the target sentences"
    return DataError(name, line, found, expected, remedy)
