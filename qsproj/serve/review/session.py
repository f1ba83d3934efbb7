"""The state of a review: the draft, files shown beside it, predicted trees, order, progress of training."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from operator import ne
from typing import Any, TypeVar

import numpy as np

from qsproj.corpus.alignments import LINKS, links_in_misc
from qsproj.corpus.cells import UNIVERSAL_TAGS
from qsproj.corpus.editing import misc_values, with_columns
from qsproj.corpus.formats import read_sentences
from qsproj.corpus.pairs.aligned import AlignedFiles, with_links
from qsproj.corpus.pairs.pairing import pair_sentences
from qsproj.corpus.sentence import Sentence, SentencePair
from qsproj.errors import QsprojError, UsageError, check_name
from qsproj.pipelines.suggest import Candidate, rank
from qsproj.serve.review import correction
from qsproj.serve.review.correction import (
    CHECKABLE,
    Belief,
    Decided,
    Tree,
    belief_of,
    with_usual_features,
)
from qsproj.serve.review.draft import Draft, Judgement, StaleError, version_of
from qsproj.serve.review.retraining import Retrained
from qsproj.serve.review.tokens import Edit, edited

UNSURE, WORTH, FILE, DIFFERING = ORDERS = ("unsure", "worth", "file", "differing")
_BATCH = 10  # confirmed sentences between two rankings by informativeness
_RANKED = 100  # sentences in such a ranking; the next comes long before all are reviewed

Columns = Mapping[str, Sequence[str]]
Kind = TypeVar("Kind")


class DoubtError(QsprojError):
    """An unusual tree, to be confirmed a second time or corrected."""


class Session:
    """A draft under review. Mutable; final.

    ``pairs``: the files that pair the draft with its translation, or the bitexts that it was taken from.
    ``beside``: another annotator's file of the same sentences. ``train_after``: number of reviewed sentences
    at which a parser is trained; None: no training. ``order``: the page's first order. ``learns_links``,
    ``learns_parts``: whether training reads links, as for a joint parser; corrections not confirmed.
    """

    def __init__(
        self,
        *,
        draft: Draft,
        pairs: AlignedFiles | Sequence[AlignedFiles] | None = None,
        beside: str | None = None,
        train_after: int | None = None,
        order: str = UNSURE,
        learns_links: bool = False,
        learns_parts: bool = False,
    ) -> None:
        self.draft, self.train_after, self.order = draft, train_after, order
        self.pairs, self.beside = pairs, beside
        # Translations, and another annotator's sentences, by the index of the sentence.
        self.translations, self.others = dict[int, SentencePair](), dict[int, Sentence]()
        self.learns_links, self.learns_parts = learns_links, learns_parts
        self.features: Iterable[str] = ()  # FEATS values of the model, offered beside those of the file
        self.live = False  # whether a model infers the rest after each correction
        self.training = False  # whether training is running
        self.parts: Sequence[int] = (0, 0)  # number of finished steps of training, and of all
        self.summary = dict[str, Any]()  # results of training, for the page
        # File and training count of the model trained in this review, which then serves inference.
        self.model: tuple[str, int] | None = None
        self.readings = 0  # number of times the file was read: training on an earlier reading is discarded
        self._read_companions()
        self._start()

    def load(self) -> None:
        """Read the draft again, or change nothing on an error; other files that no longer fit are dropped."""
        self.draft.load()
        left_out = self._read_companions(again=True)
        self._start()
        if left_out:
            self.summary = {"error": "; ".join(left_out)}

    def _start(self) -> None:
        self.proposed = dict[str, Belief]()  # new trees of unreviewed sentences, by version
        self.summary = {}
        self.readings += 1
        self.is_reviewed = [correction.is_reviewed(sentence) for sentence in self.draft.sentences]
        self._sort()

    def _sort(self) -> None:
        places = range(len(self.draft.sentences))
        unsure = [correction.unsureness(self.belief(index).chances) for index in places]
        # Reviewed sentences at the last ranking by informativeness, and the ranking; empty: none yet.
        self._worth: tuple[int, list[int]] = 0, []
        self._order = sorted(places, key=lambda index: -unsure[index])

    def belief(self, index: int) -> Belief:
        """Return the displayed tree: proposed, or the file's."""
        return self.proposed.get(self.draft.version(index)) or belief_of(self.draft.sentences[index])

    def shown(self, index: int) -> Sentence:
        """Return the sentence with the displayed tree."""
        sentence, belief = self.draft.sentences[index], self.proposed.get(self.draft.version(index))
        return sentence if belief is None else correction.with_belief(sentence, belief)

    @property
    def reviewed(self) -> int:
        return sum(self.is_reviewed)

    def ordered(self, order: str) -> Sequence[int]:
        check_name("order", order, ORDERS)
        places = range(len(self._order))
        if order == DIFFERING:
            return sorted(places, key=lambda index: -self.differing(index))
        if order == WORTH:
            reviewed, worth = self._worth
            if not worth or abs(self.reviewed - reviewed) >= _BATCH:
                self._worth = self.reviewed, self._by_worth()
            return self._worth[1]
        return self._order if order == UNSURE else places

    def _by_worth(self) -> list[int]:
        """Return indices: most informative first, then least certain, then reviewed sentences."""
        reviewed, left = self.trees()
        places, candidates = dict[int, int](), list[Candidate]()
        for index in left:
            belief = self.belief(index)
            sentence = with_columns(self.draft.sentences[index], upos=belief.upos)
            doubts = [0.0 if chance is None else 1.0 - chance for chance in belief.chances]
            candidates.append(Candidate(sentence, np.array(doubts)))
            places[id(sentence)] = index
        known = [self.draft.sentences[index] for index in reviewed]
        first = [places[id(one.sentence)] for one in rank(candidates, annotated=known, count=_RANKED)]
        later = set(left).difference(first)
        return [*first, *(index for index in self._order if index in later), *reviewed]

    def rank(self, order: Sequence[int]) -> None:
        """Take an order by informativeness, for as long as few other sentences are reviewed."""
        left = [index for index in order if not self.is_reviewed[index]]
        if left:
            others = set(range(len(self._order))).difference(left)
            self._worth = self.reviewed, [*left, *sorted(others, key=lambda index: self.is_reviewed[index])]

    def differing(self, index: int) -> int:
        """Return the number of words that the other annotator analyses differently."""
        other = self.others.get(index)
        return 0 if other is None else sum(map(ne, _rows(self.belief(index)), _rows(belief_of(other))))

    def training_pairs(self) -> dict[int, SentencePair]:
        if not self.learns_links:
            return {}
        found = {}
        for index, pair in self.translations.items():
            own = self.linked(index) if self.is_reviewed[index] or self.learns_parts else pair
            found[index] = replace(own or pair, target=self.draft.sentences[index])
        return found

    def confirm(
        self,
        index: int,
        tree: Tree,
        *,
        version: str,
        sure: bool = True,
        columns: Columns | None = None,
        checked: Iterable[str] | None = None,
    ) -> None:
        """Confirm a tree as :meth:`Draft.confirm`; DoubtError for an unusual one unless ``sure``.

        ``checked``: the columns of CHECKABLE that a person changed; None: those that are not as displayed.
        """
        cells, checked = self._cells(index, columns or {}, checked)
        if not sure and (doubt := correction.doubt_about(tree, cells["upos"], self.draft.sentences)):
            correction.check_tree(tree, len(self.draft.sentences[index]))
            raise DoubtError(doubt)
        self._check_links(index, cells)
        judged = self._judged(index, tree, cells["upos"], None)
        self.draft.confirm(index, tree, version=version, columns=cells, checked=checked, judged=judged)
        self.is_reviewed[index] = True

    def _cells(
        self, index: int, columns: Columns, checked: Iterable[str] | None = None
    ) -> tuple[dict[str, Sequence[str]], list[str]]:
        """Return the columns to save, given ones before displayed ones, and those checked by hand.

        Where a model learns them, words of a draft with a new tag lose features that it rarely has.
        """
        shown, own = self.belief(index), self.draft.sentences[index]
        cells: dict[str, Sequence[str]] = {"upos": shown.upos, **columns}
        if not self.learns_parts:
            return cells, []
        if checked is None:
            checked = [one for one in CHECKABLE if _differs(columns.get(one), getattr(shown, one))]
        names = set(checked)
        for name in CHECKABLE:
            if name not in columns and _differs(getattr(shown, name), getattr(own, name)):
                cells[name] = getattr(shown, name)
        feats = cells.get("feats", own.feats)
        if (
            "feats" not in names
            and not self.is_reviewed[index]
            and len(cells["upos"]) == len(feats) == len(own)
        ):
            cells["feats"] = with_usual_features(feats, cells["upos"], shown.upos, self.draft.sentences)
        return cells, [one for one in CHECKABLE if one in names]

    def keep(
        self,
        index: int,
        tree: Tree,
        decided: Decided,
        *,
        version: str,
        columns: Columns | None = None,
        checked: Iterable[str] | None = None,
    ) -> None:
        """Save a tree without confirming it; the cells ``decided`` are certain, others are parsed again."""
        if self.is_reviewed[index]:
            raise UsageError("this sentence is reviewed; confirm its corrections")
        cells, checked = self._cells(index, columns or {}, checked)
        self._check_links(index, cells)
        judged = self._judged(index, tree, cells["upos"], decided)
        self._keep(index, tree, decided, version, cells, judged, checked=checked)

    def tag(self, index: int, word: int, form: str, tag: str) -> None:
        """Save the tag of a word in the context of a draft; StaleError if another word is there now."""
        check_name("tag", tag, UNIVERSAL_TAGS)
        sentence = self.draft.sentences[index]
        if self.is_reviewed[index] or not 1 <= word <= len(sentence) or sentence.forms[word - 1] != form:
            raise StaleError("this sentence was changed meanwhile; look at it again")
        cells, shown = correction.decided_cells(sentence), self.belief(index)
        upos = (*shown.upos[: word - 1], tag, *shown.upos[word:])
        cells["upos"] = (*cells["upos"][: word - 1], True, *cells["upos"][word:])
        columns, _ = self._cells(index, {"upos": upos})
        self._keep(index, shown.tree, cells, self.draft.version(index), columns, None)

    def _keep(
        self,
        at: int,
        tree: Tree,
        decided: Decided,
        version: str,
        columns: Columns,
        judged: Judgement | None,
        *,
        checked: Sequence[str] = (),
    ) -> None:
        shown = self.belief(at)
        self.draft.confirm(
            at, tree, version=version, columns=columns, decided=decided, checked=checked, judged=judged
        )
        arcs = zip(shown.chances, shown.tree.heads, tree.heads, strict=True)
        chances = tuple(chance if old == new else None for chance, old, new in arcs)
        self.proposed[self.draft.version(at)] = replace(belief_of(self.draft.sentences[at]), chances=chances)

    def _judged(
        self, index: int, tree: Tree, upos: Sequence[str], decided: Decided | None
    ) -> Judgement | None:
        """Count the words of the draft that were right; each counts once, when a cell is first decided."""
        if self.is_reviewed[index]:
            return None
        shown = self.belief(index)
        rows = zip(_rows(shown), _rows(replace(shown, tree=tree, upos=upos)), strict=False)
        differing = [sum(a != b for a, b in zip(one, other, strict=True)) for one, other in rows]
        before = map(any, zip(*correction.decided_cells(self.draft.sentences[index]).values(), strict=True))
        now = [True] * len(shown.upos) if decided is None else map(any, zip(*decided.values(), strict=False))
        words = [cells for cells, old, new in zip(differing, before, now, strict=False) if new and not old]
        return Judgement(len(words), words.count(0), sum(differing))

    def undo(self, index: int, *, version: str) -> tuple[int, int]:
        """Undo as :meth:`Draft.undo`; return the index of the restored sentence, and the count of changes."""
        changes = self.draft.undo(index, version=version)
        for change in changes:
            self._moved(change.at, list(map(version_of, change.before)), len(change.after))
        own = next(one for one in changes if one.at <= index < one.at + len(one.before))
        return min(index, own.at + len(own.after) - 1), len(changes)

    def edit(self, index: int, edit: Edit, *, version: str) -> None:
        sentences, joins = self.draft.sentences, edit.action == "join next"
        following = sentences[index + 1] if joins and index + 1 < len(sentences) else None
        new = edited(sentences[index], edit, following, name=str(self.draft.path))
        before = [self.draft.version(at) for at in range(index, index + 1 + joins)]
        self.draft.replace([(index, len(before), new)], version=version)
        self._moved(index, before, len(new))

    def _moved(self, at: int, before: Sequence[str], new: int) -> None:
        self._renumber(at, before, new)
        now = map(correction.is_reviewed, self.draft.sentences[at : at + new])
        self.is_reviewed[at : at + len(before)] = now
        if len(before) != new:
            self._sort()

    def trees(self) -> tuple[list[int], list[int]]:
        places = range(len(self.is_reviewed))
        return [i for i in places if self.is_reviewed[i]], [i for i in places if not self.is_reviewed[i]]

    def versions(self) -> list[str]:
        return [self.draft.version(index) for index in range(len(self.draft.sentences))]

    def take(self, retrained: Retrained, versions: Sequence[str]) -> None:
        """Show new trees of sentences that still have their version in ``versions``, least certain first."""
        self.summary = dict(retrained.summary)
        if self.summary.get("worse"):
            return
        self.proposed = {versions[index]: belief for index, belief in retrained.beliefs.items()}
        if retrained.model is not None:
            self.model = retrained.model, (self.model or ("", 0))[1] + 1
        self._sort()
        self.rank(retrained.order)

    def _read_companions(self, *, again: bool = False) -> list[str]:
        """Read other files; ``again``: leave out those that no longer fit, and return the reasons."""
        left_out = list[str]()
        # Both of re-tokenized sentences, by version, for undo.
        self._set_aside = dict[str, tuple[SentencePair | None, Sentence | None]]()
        try:
            self._read_translations()
        except QsprojError as error:
            if not again:
                raise
            self.pairs, self.translations = None, {}
            left_out.append(f"translations are left out: {error}")
        try:
            self.others = {} if self.beside is None else _same_sentences(self.draft.sentences, self.beside)
        except QsprojError as error:
            if not again:
                raise
            self.beside, self.others = None, {}
            left_out.append(f"the other annotator is left out: {error}")
        return left_out

    def _read_translations(self) -> None:
        sentences, files = self.draft.sentences, self.pairs
        if isinstance(files, AlignedFiles):
            by_id = {id(sentence): index for index, sentence in enumerate(sentences)}
            names, sources = (files.source, files.target), read_sentences(files.source)
            pairs = pair_sentences(sources, sentences, names=names, pairing=files.pairing)
            linked = with_links(pairs, files.alignment, files.alignment_format)
            self.translations = {by_id[id(pair.target)]: pair for pair in linked}
        else:
            places = {(one.sent_id, one.forms): index for index, one in enumerate(sentences)}
            keyed = (((pair.target.sent_id, pair.target.forms), pair) for pair in chain(*files or ()))
            self.translations = {places[key]: pair for key, pair in keyed if key in places}

    def linked(self, index: int, sentence: Sentence | None = None) -> SentencePair | None:
        """Return the translation of a sentence; links corrected in MISC (``Align=``) are links by hand.

        ``sentence``: a new version of it. Raises DataError for links to words that the translation lacks.
        """
        pair = self.translations.get(index)
        sentence = self.draft.sentences[index] if sentence is None else sentence
        if pair is None or not any(misc_values(sentence, LINKS)):
            return pair
        return replace(pair, hand=links_in_misc(sentence, len(pair.source), name=str(self.draft.path)))

    def _check_links(self, index: int, columns: Columns) -> None:
        if "misc" in columns:
            self.linked(index, correction.with_cells(self.draft.sentences[index], {"misc": columns["misc"]}))

    def _renumber(self, at: int, before: Sequence[str], new: int) -> None:
        """Renumber after sentences with versions ``before``, at ``at``, became ``new`` sentences.

        A sentence keeps its translation while its number of words is unchanged, and the other annotator's
        sentence while its words are; undo restores both with the version that had them.
        """
        count = len(before)
        for place, version in enumerate(before, start=at):
            self._set_aside[version] = self.translations.get(place), self.others.get(place)
        self.translations = _renumbered(self.translations, at, count, new)
        self.others = _renumbered(self.others, at, count, new)
        for place in range(at, at + new):
            words = self.draft.sentences[place].forms
            own = self._set_aside.get(self.draft.version(place))
            pair, other = own or (self._set_aside[before[0]] if count == new else (None, None))
            if pair is not None and (own or len(pair.target) == len(words)):
                self.translations[place] = pair
            if other is not None and other.forms == words:
                self.others[place] = other


def _differs(cells: Sequence[str] | None, others: Sequence[str]) -> bool:
    return cells is not None and tuple(cells) != tuple(others)


def _rows(belief: Belief) -> Iterable[tuple[str, int, str]]:
    return zip(belief.upos, belief.tree.heads, belief.tree.relations, strict=False)


def _renumbered(places: Mapping[int, Kind], at: int, count: int, new: int) -> dict[int, Kind]:
    kept = ((index, one) for index, one in places.items() if not at <= index < at + count)
    return {index if index < at else index + new - count: one for index, one in kept}


def _same_sentences(draft: Sequence[Sentence], path: str) -> dict[int, Sentence]:
    """Return the sentences of another file by draft index, matched by id, or place, and words."""
    others = list(read_sentences(path))
    by_id = {one.sent_id: one for one in others if one.sent_id is not None}
    by_place = dict(enumerate(others))
    found = {}
    for index, one in enumerate(draft):
        other = by_id.get(one.sent_id) if one.sent_id else by_place.get(index)
        if other is not None and other.forms == one.forms:
            found[index] = other
    if draft and not found:
        raise UsageError(f"{path}: found no sentence of the file under review, expected the same words")
    return found
