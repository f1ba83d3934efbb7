"""What is done to inputs: structured changes to lines of text and to model files, drawn from a seed."""

from __future__ import annotations

import gzip
import io
import json
import lzma
import zipfile
from random import Random

import numpy as np

# Put in the place of a column, a link or a word.
ODD_TEXTS = (
    *("", "_", " ", "0", "-1", "1", "2", "999", "1-2", "2-1", "1-1", "3.1", "0.1", "1.5", "٣", "²"),
    *(
        "9" * 20,
        "9" * 5000,
        "1e999",
        "nan",
        "inf",
        "0x1",
        "+1",
        "1_0",
        "True",
        "=",
        "|",
        "a=b|a=c",
        "ArcProb=2",
    ),
    *("ArcProb=nan", "TagProb=x", "SpaceAfter=No", "root", "nsubj:x:y", "punct", "X" * 10_000, "NOUN"),
    *(
        "\x00",
        "\x0b",
        "\x85",
        "\u2028",
        "\u00a0",
        "\ufeff",
        "\ud7ff",
        "e\u0301",
        "𝔘",
        "\r",
        "# sent_id = x",
        "#",
    ),
    *("1-1:0.5", "1-1:nan", "1-1:-2", "1-1:", "1?1", "1-", "-", "--", "1-2-3", "99999-1", "1-99999", "a-b"),
)
ODD_LINES = (
    *("", " ", "\t", "#", "# sent_id", "# sent_id = sample-001", "# newdoc", "# global.columns = ID FORM"),
    *(
        "1-2\tzum" + "\t_" * 8,
        "2-3\tzum" + "\t_" * 8,
        "8.1\tx" + "\t_" * 8,
        "1\tx" + "\t_" * 8,
        "1\tx",
        "x y",
    ),
    *("\t" * 9, "\t" * 10, "1-1", "0-0 0-0", "a\tb", "a\tb\tc", "日本語 の 文", "مرحبا"),
)
ODD_VALUES = (
    *(None, True, False, 0, 1, -1, 2, 3, 1.5, -0.5, 1e300, -1e300, 10**9, 10**30, "", "x", "words", "\x00"),
    *([], {}, [1], ["x"], ["x", "x"], [[]], {"x": 1}, [None], "x" * 10_000, "delexicalised", "arc-parser"),
)


def changed_text(content: bytes, rng: Random) -> bytes:
    """Return a text, of columns or links or words, with some faults, most often one."""
    for _ in range(rng.choice((1, 1, 1, 2, 5))):
        content = rng.choice((*(_changed_column,) * 6, *(_changed_lines,) * 4, *(_changed_bytes,) * 2))(
            content, rng
        )
    return content


def _changed_column(content: bytes, rng: Random) -> bytes:
    lines = content.split(b"\n")
    at = rng.randrange(len(lines))
    mark = b"\t" if b"\t" in lines[at] else b" "
    columns = lines[at].split(mark)
    place = rng.randrange(len(columns))
    odd = rng.choice(ODD_TEXTS).encode()
    columns[place : place + 1] = rng.choice(
        ([odd], [odd], [odd], [], [columns[place]] * 2, [columns[place] + odd])
    )
    lines[at] = rng.choice((*(mark,) * 9, b" ", b"\t", b"")).join(columns)
    return b"\n".join(lines)


def _changed_lines(content: bytes, rng: Random) -> bytes:
    lines = content.split(b"\n")
    at, other = rng.randrange(len(lines)), rng.randrange(len(lines))
    what = rng.randrange(6)
    if what == 0:
        del lines[at]
    elif what == 1:
        lines.insert(at, lines[other])
    elif what == 2:
        lines[at], lines[other] = lines[other], lines[at]
    elif what == 3:
        lines.insert(at, rng.choice(ODD_LINES).encode())
    elif what == 4:
        lines = lines[:at]
    else:
        lines = [line for line in lines if line]
    return b"\n".join(lines)


def _changed_bytes(content: bytes, rng: Random) -> bytes:
    at = rng.randrange(len(content) + 1)
    return rng.choice(
        (
            content[:at],
            content[:at] + bytes([rng.randrange(256)]) + content[at + 1 :],
            b"\xef\xbb\xbf" + content,
            content.replace(b"\n", b"\r\n"),
            content.replace(b"\n", b"\r"),
            content.replace(b"\t", b"    "),
            content + b"\n \n\r\n",
            b"",
            gzip.compress(content, mtime=0),
            gzip.compress(content, mtime=0)[:-9],
            lzma.compress(content)[: rng.choice((None, 40))],
            content.decode("utf-8", "replace").encode("utf-16"),
        )
    )


def changed_model(content: bytes, rng: Random) -> bytes:
    """Return a model file with a fault: in its header, in an array, among its entries, or in its bytes."""
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            entries = {name: archive.read(name) for name in archive.namelist()}
    except Exception:  # it is damaged already
        return _changed_bytes(content, rng)
    what = rng.choice((*(_changed_header,) * 4, *(_changed_array,) * 4, _changed_entries, None))
    if what is None:
        return _changed_archive(content, rng)
    return _archived(what(entries, rng))


def _archived(entries: dict[str, bytes], method: int = zipfile.ZIP_STORED) -> bytes:
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", method) as archive:
        for name, entry in entries.items():
            archive.writestr(name, entry)
    return content.getvalue()


def _changed_header(entries: dict[str, bytes], rng: Random) -> dict[str, bytes]:
    header = json.loads(entries["header.json"])
    places = list(_places(header))
    inside, key = rng.choice(places[4:] or places)
    what = rng.randrange(8)
    if what == 0:
        del inside[key]
    elif what == 1:
        text = json.dumps(header).replace(json.dumps(inside[key]), "[" * 10_000, 1)
        return {**entries, "header.json": text.encode()}
    else:
        inside[key] = rng.choice(ODD_VALUES)
    return {**entries, "header.json": json.dumps(header).encode()}


def _places(value):
    """Yield every place in a JSON value, as what holds it and its key there."""
    if isinstance(value, dict | list):
        for key in list(value) if isinstance(value, dict) else range(len(value)):
            yield value, key
            yield from _places(value[key])


def _large(dtype: np.dtype) -> int:
    """Return a number that is out of the range of what arrays hold, yet in that of their type."""
    if dtype.itemsize <= 2:
        return 200
    return min(4_000_000_000, np.iinfo(dtype).max) if dtype.kind in "iu" else 4_000_000_000


def _changed_array(entries: dict[str, bytes], rng: Random) -> dict[str, bytes]:
    name = rng.choice([name for name in entries if name.endswith(".npy")])
    array = np.load(io.BytesIO(entries[name]))
    flat = array.reshape(-1)
    with np.errstate(all="ignore"):
        made = (
            *(array[:-1], array[None], array.T.copy("F"), flat, flat[:1], flat[:0], array[..., :1]),
            *(np.concatenate([array, array]), array[::-1], np.zeros_like(array), array.astype(">f8")),
            *(array.astype(np.float16), array.astype(np.complex64), array.astype("S3"), array.astype(bool)),
            *(array.astype(np.int64), array.astype(np.uint8), array.astype(np.float64) * 1e300),
            *(array.astype(np.float64) * -1, np.full(array.shape, np.nan), np.full(array.shape, 1e8)),
            *(np.full_like(array, _large(array.dtype)),),
        )
    content = io.BytesIO()
    np.save(content, made[rng.randrange(len(made))])
    changed = content.getvalue()
    if rng.random() < 0.2:  # what it says of itself is another shape
        changed = changed.replace(b"(", b"(99999999, 9999, ", 1)[: len(changed)]
    return {**entries, name: changed}


def _changed_entries(entries: dict[str, bytes], rng: Random) -> dict[str, bytes]:
    name, other = rng.choice(list(entries)), rng.choice(list(entries))
    return rng.choice(
        (
            {key: entry for key, entry in entries.items() if key != name},
            {**entries, name: entries[other]},
            {**entries, name: entries[name][: len(entries[name]) // 2]},
            {**entries, f"more/{name}": entries[name]},
            {**entries, name: bytes(50_000_000)},
        )
    )


def _changed_archive(content: bytes, rng: Random) -> bytes:
    at = rng.randrange(len(content))
    directory = content.rfind(b"PK\x01\x02")
    return rng.choice(
        (
            content[:at],
            content[:at] + bytes([rng.randrange(256)]) + content[at + 1 :],
            content[: directory + 8] + b"\x01" + content[directory + 9 :],  # encrypted
            content[: directory + 10] + bytes([rng.choice((9, 12, 14, 99))]) + content[directory + 11 :],
            content[: directory + 24] + b"\xff\xff\xff\x7f" + content[directory + 28 :],  # its size
            content * 2,
            content + b"more",
            gzip.compress(content, mtime=0),
            b"",
        )
    )
