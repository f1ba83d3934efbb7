"""Warnings about models that do not fit their input."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, islice

import numpy as np

from qsproj.cli.options.shared import languages_of
from qsproj.corpus.cells import UNSPECIFIED
from qsproj.corpus.files import name_of
from qsproj.corpus.language.recognition import OTHER_SCRIPT, other_than, recognise, share_in_scripts
from qsproj.corpus.sentence import Sentence
from qsproj.errors import DataError
from qsproj.models.arc.arc_scorer import IGNORABLE, share_of_known_tags
from qsproj.models.converter.converter import Converter
from qsproj.models.parser import Parser
from qsproj.models.storage import Provenance, load_made
from qsproj.models.tagging.tagger import Tagger
from qsproj.pipelines.treebanks import TagCount
from qsproj.progress import notice

FEWEST_WORDS = 50  # least number for a warning
# Number of sentences checked, and the shares of known words and of known tags below which a warning is given.
# Five trees contain more than three quarters of the tags of other treebanks, even of another language.
LOOKED_AT, _FEW, _FEW_TAGS = 100, 0.1, 0.5
_PARSED = 20  # sentences parsed to compare styles


def warn_one_side(parser: Parser, path: str) -> None:
    if any(layer.parses_pairs for layer in parser.layers()):
        one_side = "a parser of both sides of a bitext, of which only the target side is used here"
        notice(f"{path}: {one_side}. To parse pairs: qsproj biparse")


def warn_ignored(read: Iterator[Sentence], parser: Parser, *, path: str, name: str) -> Iterator[Sentence]:
    ignored = parser.ignored
    for sentence in read:
        for column in ignored:
            if set(getattr(sentence, column)) != {UNSPECIFIED}:
                notice(f"{path} was trained without {IGNORABLE[column]}, and ignores that of {name}")
        yield sentence


def warn_unknown_tags(sentences: Sequence[Sentence], parser: Parser, *, path: str, name: str) -> None:
    tags = share_of_known_tags(parser, sentences, fewest_words=FEWEST_WORDS)
    if tags is not None and tags < _FEW_TAGS:
        remedy = "give it tags like those of its training data, for instance from qsproj tag"
        notice(f"{path} knows {100 * tags:.0f}% of the tags (UPOS) of {name}; {remedy}")


def warn_unknown(
    sentences: Iterator[Sentence], parser: Parser | None, tagger: Tagger | None, *, path: str, name: str
) -> Iterator[Sentence]:
    first = list(islice(sentences, LOOKED_AT))
    if parser is not None:
        warn_unknown_tags(first, parser, path=path, name=name)
    if tagger is not None:
        words = [np.array([form.isalpha() for form in one.forms], dtype=bool) for one in first]
        total = sum(int(one.sum()) for one in words)
        known = sum(int((tagger.knows(one.forms) & own).sum()) for one, own in zip(first, words))
        if total >= FEWEST_WORDS and known / total < _FEW:
            share = f"{100 * known / total:.0f}% of the words"
            notice(f"{path} knows {share} of {name}, which seems to be in another language")
    if parser is not None and tagger is None and "forms" in parser.layers()[-1].reads:
        _warn_language(first, load_made(path).get("languages"), path=path, name=name)
    yield from chain(first, sentences)


def _warn_language(
    sentences: Sequence[Sentence], languages: Mapping[str, float] | None, *, path: str, name: str
) -> None:
    if not languages:
        return
    lines = [" ".join(one.forms) for one in sentences]
    found, seems = recognise(lines).likely(), ""
    if found and not languages.keys() & found.keys():
        seems = max(sorted(found), key=found.__getitem__)
    elif sum(map(len, sentences)) >= FEWEST_WORDS and share_in_scripts("".join(lines), languages) < _FEW:
        seems = OTHER_SCRIPT
    if seems:
        notice(
            f"{path} was trained on text in {max(sorted(languages), key=languages.__getitem__)}, and {name} "
            f"seems to be in {seems}; a parser reads words, and knows few of another language"
        )


def warn_unknown_relations(
    sentences: Iterator[Sentence], converter: Converter, *, path: str, name: str
) -> Iterator[Sentence]:
    relations, known = list[str](), converter.source_relations
    for sentence in islice(sentences, LOOKED_AT):
        yield sentence
        relations += [relation for relation in sentence.deprels if relation != UNSPECIFIED]
    if known and len(relations) >= FEWEST_WORDS:
        share = sum(relation in known for relation in relations) / len(relations)
        if share < _FEW:
            style = "which seems to be in another style than its source trees"
            notice(f"{path} knows {100 * share:.0f}% of the relations (DEPREL) of {name}, {style}")
    yield from sentences


def warn_swapped(parser: Parser, pairs: Sequence[tuple[Sentence, Sentence]], *, path: str) -> None:
    """Warn if a parser writes more relations of the new style, the second of each pair, than of the old."""
    some = pairs[:_PARSED]
    written = [relation for source, _ in some for relation in parser.parse(source).deprels]
    old, new = ({name for one in side for name in one.deprels} for side in zip(*some, strict=True))
    shares = [100 * sum(one in known for one in written) / max(len(written), 1) for known in (old, new)]
    if shares[0] < shares[1]:
        of_both = f"{shares[0]:.0f}% are in --source, {shares[1]:.0f}% in --target"
        notice(f"{path}: of the relations that it writes, {of_both}; are --source and --target swapped?")


def warn_other_language(
    annotated: Sequence[Sentence], target: Iterable[Sentence], *, path: str, name: str
) -> None:
    likely = languages_of(target)
    if not likely:
        return
    code = max(likely, key=likely.__getitem__)
    if other := recognise(" ".join(one.forms) for one in annotated[:LOOKED_AT]).other_than(code):
        notice(f"{path} seems to be in {other}, and {name} in {code}; give trees of the target")


def warn_misfit(tagger: Tagger, parser: Parser, made: Provenance, *, tagger_path: str, path: str) -> None:
    if "upos" in parser.ignored:
        remedy = "tag its treebank (qsproj tag -m), then train it again"
        notice(f"{path} was trained without UPOS, and ignores the tags of {tagger_path}; {remedy}")
    if tagger.language is None or "forms" not in parser.layers()[-1].reads:
        return
    other = None if parser.word_tagger is None else parser.word_tagger.language
    if other is None and isinstance(languages := made.get("languages"), dict):
        other = other_than(tagger.language, languages)
    if other not in (None, tagger.language):
        remedy = "give a tagger and a parser of one language"
        notice(f"{path} was trained on text in {other}, and {tagger_path} tags {tagger.language}; {remedy}")


_TAGS_LOOKED_AT = 1000  # sentences; a file is treated as untagged if none of them has a tag


def _noting_untagged(sentences: Iterator[Sentence], columns: Sequence[str], name: str) -> Iterator[Sentence]:
    count = TagCount(columns)
    for sentence in sentences:
        count.add(sentence)
        yield sentence
    count.note(name_of(name))


def refusing_untagged(
    sentences: Iterator[Sentence], parser: Parser, *, path: str, name: str
) -> Iterator[Sentence]:
    """Return the sentences; raise DataError before the first if none has the tags that the parser reads."""
    columns = load_made(path).get("columns")
    if columns == [] or not {"upos", "xpos"} & set(parser.reads):
        return sentences
    # A model with missing or malformed `columns` may read either column.
    said = [column for column in ("upos", "xpos") if isinstance(columns, list) and columns[:1] == [column]]
    needed = said or [column for column in ("upos", "xpos") if column in parser.reads]
    waiting = []
    for sentence in sentences:
        waiting.append(sentence)
        if any(set(getattr(sentence, column)) != {UNSPECIFIED} for column in needed):
            return _noting_untagged(chain(waiting, sentences), needed, name)
        if len(waiting) == _TAGS_LOOKED_AT:
            break
    found, expected = f"no word with {' or '.join(map(str.upper, needed))}", "the tags that the parser reads"
    remedy = "tag it first: qsproj tag; or make one model of a tagger and the parser: qsproj bundle"
    if "upos" not in needed:
        remedy = "give the treebank's own tags, which the parser was trained on; or train it on UPOS"
    raise DataError(name_of(name), None, found, expected, remedy)
