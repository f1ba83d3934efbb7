"""Common sentences of files with different sets of sentences, matched by ``sent_id``."""

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import TypeVar

from qsproj.corpus.sentence import Sentence
from qsproj.errors import DataError, pluralise
from qsproj.progress import notice

Result = TypeVar("Result")
# Reads a file from its beginning.
Files = Callable[[], Iterable[Sentence]]


def on_common_sentences(
    score: Callable[[Sequence[Files]], Result], files: Sequence[Files], names: Sequence[str]
) -> Result:
    """Return the score of files; where their sentences differ, that of the common ones, with a notice."""
    try:
        return score(files)
    except DataError:
        common = common_sentences([file() for file in files], names)
        if common is None:
            raise
        return score([partial(iter, sentences) for sentences in common])


def common_sentences(
    files: Sequence[Iterable[Sentence]], names: Sequence[str]
) -> list[list[Sentence]] | None:
    """Return the sentences that all files have, in the order of the first; None if IDs cannot pair them."""
    read = [list(file) for file in files]
    ids = [[sentence.sent_id for sentence in sentences] for sentences in read]
    unusable = any(None in of_file or len(set(of_file)) < len(of_file) for of_file in ids)
    if unusable or ids.count(ids[0]) == len(ids):
        return None
    by_id = [dict(zip(of_file, sentences)) for of_file, sentences in zip(ids, read)]
    common = [name for name in ids[0] if all(name in of_file for of_file in by_id)]
    found = [[of_file[name] for name in common] for of_file in by_id]
    if not common or any(len({"".join(one.text.split()) for one in row}) > 1 for row in zip(*found)):
        return None
    fewer = ((len(of_file) - len(common), name) for of_file, name in zip(ids, names, strict=True))
    left_out = ", ".join(f"{number:,} of {name}" for number, name in fewer if number)
    rest = f"; left out {left_out}" if left_out else ""
    notice(f"paired {pluralise(len(common), 'sentence')} by sent_id{rest}")
    return found
