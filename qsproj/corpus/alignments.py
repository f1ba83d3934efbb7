"""Word alignments: Pharaoh, which is also written, Talp, NAACL, aligned TSV, weighted triples, GIZA++.

============== ======================================================= =================================
format         a link                                                  words count from
============== ======================================================= =================================
``pharaoh``    ``0-2``, possible ``0p2`` or ``0?2``, ``0-2:0.93``      0
``talp``       the same                                                1
``naacl``      ``sentence source target [S|P] [weight]``, one a line   1; 0 is NULL (Mihalcea & Pedersen
                                                                       2003, HLT-NAACL shared task)
``naacl-zero`` the same                                                0; no NULL
``tsv``        source TAB target TAB Pharaoh, words between spaces     0
``triples``    ``source target weight``, one a line                    0; as ``triples-one`` from 1
``giza``       ``NULL ({ }) the ({ 1 }) house ({ 2 3 })``              1
============== ======================================================= =================================

``pharaoh``, ``talp`` and ``tsv`` have one line per sentence, ``triples`` a blank line after each sentence,
and ``giza`` (``A3.final`` of GIZA++) three lines per sentence. The source comes first in all formats.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from itertools import groupby, repeat, zip_longest
from operator import index, itemgetter
from os import PathLike, fspath
from os.path import exists, isfile
from pathlib import Path
from typing import NamedTuple, TextIO

import numpy as np

from qsproj.corpus.cells import COLUMN_COUNT
from qsproj.corpus.conllu import read_conllu
from qsproj.corpus.editing import line_of, misc_values, with_misc, without_misc
from qsproj.corpus.files import BYTE_ORDER_MARK, PathOrFile, name_of, open_output, open_text, stream_of
from qsproj.corpus.messages import check_type, described, number_of, probability_in
from qsproj.corpus.sentence import Alignment, Sentence, make_alignment
from qsproj.errors import DataError, WrongTypeError, pluralise
from qsproj.progress import notice

_PHARAOH_LINK = re.compile(r"(?<!\S)([0-9]+)([-p?])([0-9]+)(?::([0-9.eE+-]+))?(?!\S)")  # a whole token
_TRIPLE = re.compile(r"([0-9]+)\s+([0-9]+)\s+([0-9.eE+-]+)")
_SOURCE_WORD = re.compile(r"(\S+) \(\{((?: [0-9]{1,9})*) \}\)")
_NAACL_LINK = re.compile(r"([0-9]+)\s+([0-9]+)\s+([0-9]+)(?:\s+([SP]))?(?:\s+([0-9.eE+-]+))?")
_SCORE = re.compile(r"\s*\|\|\|\s*[-+]?[0-9.]+(e[-+]?[0-9]+)?\s*$")
_MAX_WORD = 2**31 - 2
_OPTION = "--alignment-format"
_OTHER_FORMAT = f"name its format: {_OPTION} pharaoh, talp, naacl or another of those in the help"
# Pattern of a line of each format.
_LINE_OF = {
    "giza": re.compile(r"# Sentence pair|NULL \(\{"),
    "tsv": re.compile(r"[^\t]*\t[^\t]*\t([0-9]+[-p?][0-9]+(:\S+)?\s*)+$"),
    "triples": re.compile(r"[0-9]+ [0-9]+ [01]?\.[0-9]+\s*$"),
    "naacl": re.compile(r"[0-9]+ [0-9]+ [0-9]+( [SP])?( \S+)?\s*$"),
    "pharaoh": re.compile(r"([0-9]+[-p?][0-9]+(:\S+)?\s*)+$"),
}


class Base(NamedTuple):
    """The number of the first word, and the format that differs only in this number, if there is one."""

    first_word: int
    other: str | None


class Row(NamedTuple):
    """A link and its line; words count from 1. ``weight``: its probability, None without."""

    line: int
    source: int
    target: int
    sure: bool = True
    weight: float | None = None


class Links(NamedTuple):
    """The links of a sentence pair, the number of their first line, and the sizes of both sides if known."""

    line: int
    rows: list[Row]
    sizes: tuple[int, int] | None = None


_NO_GIZA = "check that it is A3.final of GIZA++"
ENOUGH_PAIRS = 20  # of this many pairs with links, at least one links its first word


def write_alignments(
    alignments: Iterable[Alignment],
    path: PathOrFile | None,
    *,
    with_weights: bool = False,
    with_counts: bool = False,
) -> None:
    """Write alignments one at a time; ``with_counts``: also a file of word counts, which readers check."""
    beside = counts_beside(path) if with_counts else None
    opened: AbstractContextManager[TextIO | None] = open_output(beside) if beside else nullcontext()
    with opened as counts, open_output(path) as handle:
        for alignment in alignments:
            if counts is not None:
                size = f"{alignment.n_source} {alignment.n_target} {len(alignment.links)}"
                counts.write(f"{size} {int(alignment.links.sum())}\n")
            words, marks = (alignment.links - 1).tolist(), np.where(alignment.sure, "-", "p").tolist()
            links = [f"{source}{mark}{target}" for (source, target), mark in zip(words, marks, strict=True)]
            if with_weights and alignment.weights is not None:
                weights = alignment.weights.tolist()
                links = [f"{link}:{weight:.6g}" for link, weight in zip(links, weights, strict=True)]
            handle.write(" ".join(links) + "\n")


def read_alignment_lines(
    path: PathOrFile, *, format: str, sizes: Iterable[tuple[int, int]] | None = None
) -> Iterator[Alignment]:
    """Read the formats of this module; see :func:`qsproj.corpus.formats.read_alignments`."""
    (read, base), name = READERS[format], name_of(path)
    expected = None if sizes is None else _word_counts(sizes)
    count, linked, first = 0, 0, False
    with ExitStack() as opened:
        handle = opened.enter_context(open_text(path))
        beside = None if expected is None else counts_beside(path)
        counts = opened.enter_context(open_text(beside)) if beside and beside.is_file() else iter(())
        for count, links in enumerate(read(handle, name, base), start=1):
            size = links.sizes
            if expected is not None:
                size = next(expected, None)
                if size is None:
                    raise _count_error(name, links.line, f"the links of pair {count}", count - 1)
                _check_counts(links, next(counts, ""), size, name)
            linked += bool(links.rows)
            first = first or any(1 in (row.source, row.target) for row in links.rows)
            yield _alignment(links, size, name, base)
    if linked >= ENOUGH_PAIRS and not first and base.first_word == 0 and base.other is not None:
        remedy = f"if words count from 1, name the format {base.other}"
        notice(f"{name}: no link of {pluralise(linked, 'pair')} uses word 0; {remedy}")
    for missing in expected or ():
        if format not in OMIT_PAIRS:
            line = count + 1 if count == 0 or links.line == count else None  # None: a pair has several lines
            end = f"the end of the file after {pluralise(count, 'line' if line else 'pair')}"
            raise _count_error(name, line, end, count + 1 + sum(1 for _ in expected or ()))
        yield _alignment(Links(0, []), missing, name, base)


def counts_beside(path: PathOrFile | None) -> Path | None:
    """Return the file of numbers of words and links, and sums of link positions; None but beside a file."""
    if not isinstance(path, str | PathLike) or path == "-" or stream_of(path) is not None:
        return None
    device = exists(path) and not isfile(path)  # noqa: PTH110, PTH113 - no error for a name that is too long
    return None if device else Path(f"{fspath(path)}.counts")


def _check_counts(links: Links, line: str, size: tuple[int, int], name: str) -> None:
    counts = [number_of(one) for one in line.split() if one.isdigit()]
    if not links.rows or tuple(counts[:2]) == size:
        return
    if counts[2:] == [len(links.rows), sum(row.source + row.target for row in links.rows)]:
        found = f"links that were made of {counts[0]} and {counts[1]} words"
        expected = f"{size[0]} and {size[1]}, as in the pair; else links would connect wrong words"
        tokens = "links of words have the format pharaoh, of tokens such as zum pharaoh:tokens"
        other = f"align the tokens that qsproj tokenize writes, or CoNLL-U; {tokens}"
        remedy = "swap source and target" if (counts[1], counts[0]) == size else other
        raise DataError(name, links.line, found, expected, remedy)


def _word_counts(sizes: Iterable[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    check_type(sizes, Iterable, "the numbers of words of each pair", "sizes")
    for number, size in enumerate(sizes, start=1):
        try:
            source, target = map(index, size)
        except (TypeError, ValueError):
            found = f"found {described(size)} as element {number} of sizes"
            raise WrongTypeError(f"{found}, expected the numbers of source and target words") from None
        yield source, target


def _count_error(name: str, line: int | None, found: str, pairs: int) -> DataError:
    expected = f"the links of {pluralise(pairs, 'pair')}, as there are of sentences"
    return DataError(name, line, found, expected, "check that the alignment is that of these sentences")


def _alignment(links: Links, size: tuple[int, int] | None, name: str, base: Base) -> Alignment:
    if not links.rows:
        return make_alignment(*(size or (0, 0)), [])
    _, sources, targets, sure, weights = zip(*links.rows, strict=True)
    last_source, last_target = max(sources), max(targets)
    if min(*sources, *targets) < 1 or max(last_source, last_target) > _MAX_WORD:
        words = ((row.line, word) for row in links.rows for word in (row.source, row.target))
        line, bad = next((line, word) for line, word in words if not 1 <= word <= _MAX_WORD)
        remedy = "check the format"
        if bad < 1 and base.other is not None:
            remedy = f"if they count from 0, name the format {base.other}"
        found = f"a link of word {bad - 1 + base.first_word}"
        raise DataError(name, line, found, f"words that count from {base.first_word}", remedy)
    n_source, n_target = size or (last_source, last_target)
    if last_source > n_source or last_target > n_target:
        row = next(row for row in links.rows if row.source > n_source or row.target > n_target)
        remedy = "check that source comes first and that words are counted as in the format"
        one_off = last_source <= n_source + 1 and last_target <= n_target + 1
        if one_off and base.first_word == 0 and base.other is not None:
            remedy = f"if words count from 1, name the format {base.other}; source comes first"
        found = f"a link of word {row.source} with word {row.target}, counted from 1"
        raise DataError(name, row.line, found, f"words of a pair of {n_source} by {n_target}", remedy)
    pairs = np.array([sources, targets], dtype=np.int32).T
    return make_alignment(n_source, n_target, pairs, sure, _weights_of(weights))


def _weights_of(stated: Sequence[float | None]) -> list[float] | None:
    """Return the weights of links; one without among weighted links is certain. None if none is stated."""
    are_stated = stated.count(None) < len(stated)
    return [1.0 if weight is None else weight for weight in stated] if are_stated else None


def _row(
    line: int, words: Sequence[str], weight: str | None, name: str, base: Base, *, sure: bool = True
) -> Row:
    source, target = (number_of(word) + 1 - base.first_word for word in words)
    return Row(line, source, target, sure, _weight_in(weight, line, name))


def _pharaoh_line(text: str, line: int, name: str, base: Base) -> Links:
    # fast_align -s adds the score of the pair: ||| -3.2
    shown = _SCORE.sub("", text) if "|||" in text else text
    tokens, links = shown.split(), _PHARAOH_LINK.findall(shown)
    if len(links) < len(tokens):
        expected = "links like 0-2, 0p2 or 0-2:0.93 between spaces"
        bad = next(token for token in tokens if not _PHARAOH_LINK.fullmatch(token))
        remedy = "correct the link" if _LINE_OF["pharaoh"].match(text) else _other_format(text)
        raise DataError(name, line, repr(bad[:40]), expected, remedy)
    shift, rows = 1 - base.first_word, list[Row]()
    for source, mark, target, weight in links:
        words = number_of(source) + shift, number_of(target) + shift
        rows.append(Row(line, *words, mark == "-", _weight_in(weight or None, line, name)))
    return Links(line, rows)


@contextmanager
def naming_option(option: str) -> Iterator[None]:
    """Name another option in errors that advise to give the format of alignments."""
    try:
        yield
    except DataError as error:
        raise error.with_remedy(error.remedy.replace(_OPTION, option)) from error


def _other_format(text: str) -> str:
    for format, pattern in _LINE_OF.items():
        if pattern.match(text):
            return f"name its format: {_OPTION} {format}"
    if text.startswith("#") or text.count("\t") >= COLUMN_COUNT - 2:
        return f"CoNLL-U with its links in MISC (Align=2,4) is read with {_OPTION} misc"
    return _OTHER_FORMAT


def _weight_in(text: str | None, line: int | None, name: str) -> float | None:
    """Return the stated probability of a link, None without."""
    weight = None if text is None else probability_in(text)
    if weight is None and text is not None:
        raise DataError(name, line, f"weight {text}", "a probability", "scale the weights to 0..1")
    return weight


def _read_pharaoh(handle: TextIO, name: str, base: Base) -> Iterator[Links]:
    for line, text in enumerate(handle, start=1):
        yield _pharaoh_line(text.lstrip(BYTE_ORDER_MARK), line, name, base)


def _read_tsv(handle: TextIO, name: str, base: Base) -> Iterator[Links]:
    for line, text in enumerate(handle, start=1):
        cells = text.rstrip("\r\n").lstrip(BYTE_ORDER_MARK).split("\t")
        if len(cells) != 3:
            expected = "source, target and links, separated by tabs"
            raise DataError(name, line, pluralise(len(cells), "column"), expected, _other_format(text))
        sizes = (len(cells[0].split()), len(cells[1].split()))
        yield _pharaoh_line(cells[2], line, name, base)._replace(sizes=sizes)


def _read_naacl(handle: TextIO, name: str, base: Base) -> Iterator[Links]:
    """Yield the links of sentences 1, 2, ...; a skipped number is a pair without links."""
    matches = _matches(handle, name, _NAACL_LINK, "sentence source target [S|P] [weight]")
    rows = (
        (number_of(match[1]), _row(line, match.group(2, 3), match[5], name, base, sure=match[4] != "P"))
        for line, match in matches
        if match is not None
    )
    following = 1
    for number, group in groupby(rows, key=itemgetter(0)):
        found = [row for _, row in group]
        line = found[0].line
        if number < following:
            remedy = "sort the file by sentence, counted from 1"
            raise DataError(name, line, f"sentence {number}", f"{following} or later", remedy)
        yield from repeat(Links(line, []), number - following)
        # In a row with word 0 after the shift, the other word is aligned to NULL; a row 0 0 is an error.
        yield Links(line, [row for row in found if bool(row.source) == bool(row.target)])
        following = number + 1


def _matches(
    handle: TextIO, name: str, pattern: re.Pattern[str], expected: str
) -> Iterator[tuple[int, re.Match[str] | None]]:
    """Yield the number of each line and its match, None for a blank line."""
    for line, text in enumerate(handle, start=1):
        stripped = text.lstrip(BYTE_ORDER_MARK).strip()
        match = pattern.fullmatch(stripped)
        if stripped and match is None:
            raise DataError(name, line, repr(stripped[:40]), expected, _other_format(stripped))
        yield line, match


def _read_giza(handle: TextIO, name: str, _: Base) -> Iterator[Links]:
    """Yield the links of an ``A3.final`` file: three lines per pair; words of NULL are unlinked.

    # Sentence pair (1) source length 2 target length 3 alignment score : 0.01
    das kleine Haus
    NULL ({ }) the ({ 1 }) house ({ 2 3 })
    """
    # Buffered pairs: concatenated parts of MGIZA hold pairs in any order.
    following, early = 1, dict[int, Links]()
    for number, links in _giza_pairs(handle, name):
        if number < following or number in early:
            found, expected = f"pair ({number}) a second time", f"pair ({following})"
            raise DataError(name, links.line - 2, found, expected, _NO_GIZA)
        early[number] = links
        while following in early:
            yield early.pop(following)
            following += 1
    if early:
        first = early[min(early)]
        found = f"pair ({min(early)}) and no pair ({following})"
        expected = f"the pairs from 1 to {max(early)}, in any order"
        raise DataError(name, first.line - 2, found, expected, "concatenate all parts of MGIZA: cat *.part*")


def _giza_pairs(handle: TextIO, name: str) -> Iterator[tuple[int, Links]]:
    lines = iter(handle)
    for pair, (head, target, links) in enumerate(zip_longest(lines, lines, lines)):
        line = 3 * pair + 1
        match = re.match(r"# Sentence pair \(([0-9]+)\)", head)
        if match is None:
            found, expected = repr(head[:40].rstrip("\n")), "# Sentence pair (1) source length ..."
            remedy = _other_format(head) if _other_format(head) != _OTHER_FORMAT else _NO_GIZA
            raise DataError(name, line, found, expected, remedy)
        if target is None or links is None:
            raise DataError(name, line, "the end of the file", "three lines for each pair", _NO_GIZA)
        yield number_of(match[1]), _giza_links(links, len(target.split()), line + 2, name)


def _giza_links(text: str, n_target: int, line: int, name: str) -> Links:
    words = [match.groups() for match in _SOURCE_WORD.finditer(text)]
    if _SOURCE_WORD.sub("", text).strip() or not words or words[0][0] != "NULL":
        found, expected = repr(text[:40].rstrip("\n")), "NULL ({ 1 }) word ({ 2 3 }) ..."
        raise DataError(name, line, found, expected, _NO_GIZA)
    pairs = [(source, int(target)) for source, (_, linked) in enumerate(words) for target in linked.split()]
    outside = next((target for _, target in pairs if not 1 <= target <= n_target), None)
    if outside is not None:
        found, expected = f"a link of target word {outside}", f"words 1 to {n_target}"
        raise DataError(name, line, found, expected, _NO_GIZA)
    return Links(line, [Row(line, *pair) for pair in pairs if pair[0]], (len(words) - 1, n_target))


def _read_triples(handle: TextIO, name: str, base: Base) -> Iterator[Links]:
    expected = "source target weight, three numbers, or a blank line after a pair"
    first, rows = 1, list[Row]()
    for line, match in _matches(handle, name, _TRIPLE, expected):
        if match is not None:
            rows.append(_row(line, match.group(1, 2), match[3], name, base))
            continue
        yield Links(first, rows)
        first, rows = line + 1, []
    if rows:
        yield Links(first, rows)


READERS: dict[str, tuple[Callable[..., Iterator[Links]], Base]] = {
    "pharaoh": (_read_pharaoh, Base(0, "talp")),
    "talp": (_read_pharaoh, Base(1, "pharaoh")),
    "naacl": (_read_naacl, Base(1, "naacl-zero")),
    "naacl-zero": (_read_naacl, Base(0, "naacl")),
    "tsv": (_read_tsv, Base(0, None)),
    "triples": (_read_triples, Base(0, "triples-one")),
    "triples-one": (_read_triples, Base(1, "triples")),
    "giza": (_read_giza, Base(1, None)),
}
# Formats whose files omit pairs without links.
OMIT_PAIRS = ("naacl", "naacl-zero")


# Links in MISC of the target, for tools without alignment files: ``Align=2,4`` links a word to words 2 and 4
# of the source sentence, from 1; ``Align=2:0.93,4?`` gives one a probability and marks the other as possible.
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


def links_in_misc(target: Sentence, n_source: int | None = None, *, name: str) -> Alignment:
    """Return the links in MISC of a target sentence; without ``n_source``, source words are not checked."""
    links, sure, weights = list[tuple[int, int]](), list[bool](), list[float | None]()
    for word, value in enumerate(misc_values(target, LINKS), start=1):
        for text in value.split(",") if value is not None else ():
            match, place = _LINK.fullmatch(text), line_of(target, word)
            if match is None or not 1 <= int(match[1]) <= (n_source or int(match[1])):
                words = f"1 to {n_source}" if n_source else "from 1 on"
                expected = f"words of the source, {words}, as in 2,4 or 2:0.93,4?"
                remedy = "check that it is the translation of these sentences"
                raise DataError(name, place, f"{LINKS}={value}", expected, remedy)
            links.append((int(match[1]), word))
            sure.append(match[2] is None)
            weights.append(_weight_in(match[3], place, name))
    size = n_source or max((source for source, _ in links), default=0)
    return make_alignment(size, len(target), links, sure, _weights_of(weights))


def read_links_in_misc(
    path: PathOrFile, sizes: Iterable[tuple[int, int]] | None = None
) -> Iterator[Alignment]:
    """Yield the alignment of each sentence of a target file, consuming ``sizes`` in parallel."""
    name, of_pairs, links = name_of(path), None if sizes is None else iter(sizes), 0
    for target in read_conllu(path):
        size = None if of_pairs is None else next(of_pairs, (0, 0))
        if size is not None and size[1] != len(target):
            found, expected = f"a sentence of {len(target)} words", f"one of {size[1]}"
            raise _other_sentences(name, line_of(target), found, expected)
        alignment = links_in_misc(target, size[0] if size else None, name=name)
        links += len(alignment.links)
        yield alignment
    note_links(links, name)
    if of_pairs is not None and next(of_pairs, None) is not None:
        raise _other_sentences(name, None, "the end of the file", "as many sentences as there are pairs")


def note_links(found: int, name: str) -> None:
    """Give a notice of a file without links in MISC."""
    if not found:
        notice(f"{name}: no word has links in MISC, such as {LINKS}=2,4")


def _other_sentences(name: str, line: int | None, found: str, expected: str) -> DataError:
    return DataError(name, line, found, expected, "take the links from the file of the target sentences")
