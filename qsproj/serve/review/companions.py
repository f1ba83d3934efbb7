"""Translations and another annotator's trees, shown beside the sentences of a draft."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import Any

from qsproj.corpus.editing import misc_values
from qsproj.corpus.formats import read_sentences
from qsproj.corpus.pairs.aligned import AlignedFiles, with_links
from qsproj.corpus.pairs.linked import LINKS, links_in_misc
from qsproj.corpus.pairs.pairing import pair_sentences
from qsproj.corpus.sentence import Sentence, SentencePair
from qsproj.errors import QsprojError, UsageError
from qsproj.serve.review.draft import Draft


@dataclass(slots=True, kw_only=True)
class Companions:
    """Translations, and another annotator's sentences, by the index of the sentence. Mutable; final.

    ``pairs``: the files that pair the draft with its translation, or the bitexts that it was taken from.
    ``beside``: a file of the same sentences.
    """

    pairs: AlignedFiles | Sequence[AlignedFiles] | None
    beside: str | None
    translations: dict[int, SentencePair] = field(default_factory=dict)
    others: dict[int, Sentence] = field(default_factory=dict)
    # both of re-tokenized sentences, by version, for undo
    _set_aside: dict[str, tuple[SentencePair | None, Sentence | None]] = field(default_factory=dict)

    def read(self, draft: Draft, *, again: bool = False) -> list[str]:
        """Read both; ``again``: leave out those that no longer fit, and return the reasons."""
        self._set_aside, left_out = {}, list[str]()
        try:
            self._read_translations(draft)
        except QsprojError as error:
            if not again:
                raise
            self.pairs, self.translations = None, {}
            left_out.append(f"translations are left out: {error}")
        try:
            self.others = {} if self.beside is None else _same_sentences(draft.sentences, self.beside)
        except QsprojError as error:
            if not again:
                raise
            self.beside, self.others = None, {}
            left_out.append(f"the other annotator is left out: {error}")
        return left_out

    def _read_translations(self, draft: Draft) -> None:
        sentences, files = draft.sentences, self.pairs
        if isinstance(files, AlignedFiles):
            by_id = {id(sentence): index for index, sentence in enumerate(sentences)}
            names = (files.source, files.target)
            sources = read_sentences(files.source)
            pairs = pair_sentences(sources, sentences, names=names, pairing=files.pairing)
            linked = with_links(pairs, files.alignment, files.alignment_format)
            self.translations = {by_id[id(pair.target)]: pair for pair in linked}
        else:
            places = {(one.sent_id, one.forms): index for index, one in enumerate(sentences)}
            keyed = (((pair.target.sent_id, pair.target.forms), pair) for pair in chain(*files or ()))
            self.translations = {places[key]: pair for key, pair in keyed if key in places}

    def linked(self, draft: Draft, index: int) -> SentencePair | None:
        """Return the translation of a sentence; links corrected in MISC (``Align=``) are links by hand."""
        pair, sentence = self.translations.get(index), draft.sentences[index]
        if pair is None or not any(misc_values(sentence, LINKS)):
            return pair
        return replace(pair, hand=links_in_misc(sentence, len(pair.source), name=str(draft.path)))

    def move(self, draft: Draft, at: int, before: Sequence[str], new: int) -> None:
        """Renumber after sentences with versions ``before``, at ``at``, became ``new`` sentences.

        A sentence keeps its translation while its number of words is unchanged, and the other annotator's
        sentence while its words are; undo restores both with the version that had them.
        """
        count = len(before)
        for place, version in enumerate(before, start=at):
            self._set_aside[version] = self.translations.get(place), self.others.get(place)
        for places in (self.translations, self.others):
            moved: dict[int, Any] = {
                index if index < at else index + new - count: one
                for index, one in places.items()
                if not at <= index < at + count
            }
            places.clear()
            places.update(moved)
        for place in range(at, at + new):
            words = draft.sentences[place].forms
            own = self._set_aside.get(draft.version(place))
            pair, other = own or (self._set_aside[before[0]] if count == new else (None, None))
            if pair is not None and (own or len(pair.target) == len(words)):
                self.translations[place] = pair
            if other is not None and other.forms == words:
                self.others[place] = other


def _same_sentences(draft: Sequence[Sentence], path: str) -> dict[int, Sentence]:
    """Return the sentences of another file by draft index, matched by id, or place, and words."""
    others = list(read_sentences(path))
    by_id: Mapping[str | None, Sentence] = {one.sent_id: one for one in others if one.sent_id is not None}
    found = {}
    for index, one in enumerate(draft):
        other = by_id.get(one.sent_id) if one.sent_id else (others[index] if index < len(others) else None)
        if other is not None and other.forms == one.forms:
            found[index] = other
    if draft and not found:
        raise UsageError(f"{path}: found no sentence of the file under review, expected the same words")
    return found
