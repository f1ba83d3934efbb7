"""The state of a review: the order of sentences, predicted trees, progress of training."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from qsproj.conventions import ROOT
from qsproj.corpus.cells import UNIVERSAL_RELATIONS, UNIVERSAL_TAGS, UNSPECIFIED
from qsproj.corpus.editing import TAG_PROBABILITY, comment_value, misc_values, with_columns
from qsproj.corpus.formats import read_sentences
from qsproj.corpus.pairs.aligned import AlignedFiles, with_links
from qsproj.corpus.pairs.linked import LINKS, links_in_misc
from qsproj.corpus.pairs.pairing import pair_sentences
from qsproj.corpus.sentence import Alignment, Sentence, SentencePair, layout_of
from qsproj.corpus.token import multiword_tokens
from qsproj.errors import QsprojError, UsageError, check_name
from qsproj.pipelines.suggest import Candidate, Costs, rank
from qsproj.serve.review import correction
from qsproj.serve.review.draft import Draft, StaleError, version_of
from qsproj.serve.review.history import Judged
from qsproj.serve.review.retraining import Retrained
from qsproj.serve.review.search import compiled, corrected, in_context
from qsproj.serve.review.tokens import Edit, Tokens, edited


def read_translations(files: AlignedFiles, draft: Sequence[Sentence]) -> Mapping[int, SentencePair]:
    """Return translations by the index of the target sentence in the draft."""
    places = {id(sentence): index for index, sentence in enumerate(draft)}
    names = files.source, files.target
    pairs = pair_sentences(read_sentences(files.source), draft, names=names, pairing=files.pairing)
    linked = with_links(pairs, files.alignment, files.alignment_format)
    return {places[id(pair.target)]: pair for pair in linked}


UNSURE, WORTH, FILE, DIFFERING = ORDERS = ("unsure", "worth", "file", "differing")
TO_DO, REVIEWED, ALL = SHOWN = ("todo", "reviewed", "all")
_BATCH = 10  # confirmed sentences between two rankings by informativeness
# Sentences ranked by informativeness; they are ranked again long before all are reviewed.
_RANKED = 100
_PREVIEW = 120


class DoubtError(QsprojError):
    """An unusual tree, to be confirmed a second time or corrected."""


@dataclass(frozen=True, slots=True)
class Belief:
    """The displayed tree of a sentence, and the probability of each arc or None."""

    tree: correction.Tree
    chances: tuple[float | None, ...]
    upos: tuple[str, ...]


@dataclass(slots=True, kw_only=True)
class Session:
    """A draft under review. Mutable; final."""

    draft: Draft
    pairs: AlignedFiles | None = None
    # number of reviewed sentences at which a parser is trained; None: no training
    train_after: int | None = None
    training: bool = False  # whether training is running
    summary: dict[str, Any] = field(default_factory=dict)  # results of training, for the page
    features: Iterable[str] = ()  # FEATS values of the model, offered beside those of the file
    learns_links: bool = False  # whether training reads links, as for a joint parser
    live: bool = False  # whether a model infers the rest after each correction
    # file and training count of the model trained in this review, which then serves inference
    model: tuple[str, int] | None = None
    # number of finished steps of training, and of all
    parts: Sequence[int] = (0, 0)
    readings: int = 0  # number of times the file was read: training on an earlier reading is discarded
    _translations: dict[int, SentencePair] = field(default_factory=dict)
    _proposed: dict[str, Belief] = field(default_factory=dict)  # by the version of the sentence
    _order: list[int] = field(default_factory=list)
    # reviewed sentences at the last ranking, ranking; empty: none yet
    _worth: tuple[int, list[int]] = (0, [])
    order: str = UNSURE  # the initial order of the page
    beside: str | None = None  # file of the same sentences by another annotator, for comparison
    _others: dict[int, Sentence] = field(default_factory=dict)
    # translation and the other annotator's sentence of re-tokenized sentences, by version, for undo
    _set_aside: dict[str, tuple[SentencePair | None, Sentence | None]] = field(default_factory=dict)
    _reviewed: list[bool] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._read_translations()
        self._read_others()
        self._start()

    def load(self) -> None:
        """Read the draft again, or change nothing on an error; other files that no longer fit are dropped."""
        self.draft.load()
        left_out = list[str]()
        try:
            self._read_translations()
        except QsprojError as error:
            self.pairs, self._translations = None, {}
            left_out.append(f"translations are left out: {error}")
        try:
            self._read_others()
        except QsprojError as error:
            self.beside, self._others = None, {}
            left_out.append(f"the other annotator is left out: {error}")
        self._start()
        if left_out:
            self.summary = {"error": "; ".join(left_out)}

    def _read_translations(self) -> None:
        if self.pairs is not None:
            self._translations = dict(read_translations(self.pairs, self.draft.sentences))

    def _read_others(self) -> None:
        if self.beside is not None:
            self._others = _same_sentences(self.draft.sentences, self.beside)

    def _start(self) -> None:
        self._proposed, self.summary, self._set_aside = {}, {}, {}
        self.readings += 1
        self._reviewed = [correction.is_reviewed(sentence) for sentence in self.draft.sentences]
        self._sort()

    def _sort(self) -> None:
        unsure = [
            correction.unsureness(self.belief(index).chances) for index in range(len(self.draft.sentences))
        ]
        self._worth = 0, []
        self._order = sorted(range(len(unsure)), key=lambda index: -unsure[index])

    def belief(self, index: int) -> Belief:
        """Return the displayed tree: the file's, or a new prediction for an unreviewed sentence."""
        proposed = self._proposed.get(self.draft.version(index)) if self._proposed else None
        if proposed is not None:
            return proposed
        sentence = self.draft.sentences[index]
        return Belief(correction.tree_of(sentence), correction.arc_chances(sentence), sentence.upos)

    @property
    def reviewed(self) -> int:
        return sum(self._reviewed)

    def overview(self) -> dict[str, Any]:
        """Return the page's summary of the file, as JSON."""
        return {
            "file": self.draft.path.name,
            "sentences": len(self.draft.sentences),
            "reviewed": self.reviewed,
            "live": self.live,
            "order": self.order,
            "beside": None if self.beside is None else Path(self.beside).name,
            **self._vocabulary(),
            **self.progress(),
        }

    def _vocabulary(self) -> dict[str, Any]:
        """Return the relations, tags and features of the file; features as values by name."""
        relations, tags = set(UNIVERSAL_RELATIONS), set(UNIVERSAL_TAGS)
        features = set(self.features)
        for one in self.draft.sentences:
            relations.update(one.deprels)
            tags.update(one.upos)
            features.update(one.feats)
        values = dict[str, set[str]]()
        for pair in {pair for cell in features - {UNSPECIFIED} for pair in cell.split("|")}:
            name, _, value = pair.partition("=")
            values.setdefault(name, set()).add(value)
        return {
            "relations": sorted(relations - {UNSPECIFIED}),
            "tags": sorted(tags - {UNSPECIFIED}),
            "features": {name: sorted(values[name]) for name in sorted(values)},
        }

    def progress(self) -> dict[str, Any]:
        parts = list(self.parts) if self.training else [0, 0]
        state = {"train_after": self.train_after, "training": self.training}
        return state | {"parts": parts, "trained": self.summary}

    def report(self) -> dict[str, Any]:
        """Return the number of corrections over time, in batches of confirmations, as JSON."""
        made = self.draft.corrections()
        batches = [made[at : at + _BATCH] for at in range(0, len(made), _BATCH)]
        return {
            "batches": [
                {
                    "from": batch[0][0],
                    "to": batch[-1][0],
                    "sentences": len(batch),
                    "words": sum(words for _, words, _ in batch),
                    "corrections": sum(changed for *_, changed in batch),
                }
                for batch in batches
            ]
        }

    def page(self, *, order: str, shown: str, query: str, offset: int, limit: int) -> dict[str, Any]:
        """Return a part of the list of sentences, as JSON.

        ``order``, ``shown``: one of ORDERS, one of SHOWN. ``query``: a case-insensitive substring of id, text
        or a relation.
        """
        check_name("order", order, ORDERS)
        check_name("choice", shown, SHOWN)
        places = self._places(order)
        found = [
            index
            for index in places
            if shown in (ALL, REVIEWED if self._reviewed[index] else TO_DO) and self._holds(index, query)
        ]
        rows = [self._row(index) for index in found[offset : offset + limit]]
        return {"total": len(found), "offset": offset, "sentences": rows}

    def _places(self, order: str) -> Sequence[int]:
        if order == DIFFERING:
            return sorted(range(len(self._order)), key=lambda index: -self._differing(index))
        if order == WORTH:
            reviewed, worth = self._worth
            if not worth or abs(self.reviewed - reviewed) >= _BATCH:
                self._worth = self.reviewed, self._by_worth()
            return self._worth[1]
        return self._order if order == UNSURE else range(len(self._order))

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
        ranked = rank(candidates, annotated=known, count=_RANKED, costs=Costs())
        first = [places[id(one.sentence)] for one in ranked]
        later = set(left).difference(first)
        return [*first, *(index for index in self._order if index in later), *reviewed]

    def _differing(self, index: int) -> int:
        """Return the number of words that the other annotator analyses differently."""
        other = self._others.get(index)
        if other is None:
            return 0
        own = self.belief(index)
        mine = zip(own.tree.heads, own.tree.relations, own.upos, strict=True)
        theirs = zip(other.heads.tolist()[1:], other.deprels, other.upos, strict=True)
        return sum(one != two for one, two in zip(mine, theirs, strict=True))

    def _holds(self, index: int, query: str) -> bool:
        if not query:
            return True
        sentence, wanted = self.draft.sentences[index], query.casefold()
        if wanted in (sentence.sent_id or "").casefold() or query in self.belief(index).tree.relations:
            return True
        return wanted in text_of(sentence).casefold()

    def _row(self, index: int) -> dict[str, Any]:
        sentence = self.draft.sentences[index]
        return {
            "index": index,
            "id": sentence.sent_id or str(index + 1),
            "text": text_of(sentence)[:_PREVIEW],
            "words": len(sentence),
            "unsure": round(correction.unsureness(self.belief(index).chances), 4),
            "reviewed": self._reviewed[index],
            **({"differing": self._differing(index)} if self.beside else {}),
        }

    def sentence(self, index: int) -> dict[str, Any]:
        self.check(index)
        sentence, belief = self.draft.sentences[index], self.belief(index)
        translation, other = self._translations.get(index), self._others.get(index)
        return self._row(index) | {
            "text": text_of(sentence),
            "version": self.draft.version(index),
            "proposed": self.draft.version(index) in self._proposed,
            "undo": self.draft.can_undo(index),
            "forms": sentence.forms,
            "comments": [line for line in layout_of(sentence).lines if line.startswith("#")],
            "other": None
            if other is None
            else {"heads": other.heads.tolist()[1:], "relations": other.deprels, "upos": other.upos},
            "text_tokens": Tokens.of(sentence).spans(),
            "tag_chances": [
                chance if shown == own else None
                for chance, shown, own in zip(
                    correction.chances(sentence, TAG_PROBABILITY), belief.upos, sentence.upos, strict=True
                )
            ],
            "tokens": [[one.first, one.last, one.form] for one in multiword_tokens(sentence)],
            "spaces": [value != "No" for value in misc_values(sentence, "SpaceAfter")],
            "decided": correction.decided_cells(sentence),
            **{name: correction.cells(sentence, name) for name in correction.CELLS},
            "upos": belief.upos,
            "heads": belief.tree.heads,
            "relations": belief.tree.relations,
            "chances": belief.chances,
            "translation": None if translation is None else list(translation.source.forms),
            "translation_heads": [] if translation is None else translation.source.heads.tolist()[1:],
            "translation_upos": [] if translation is None else translation.source.upos,
            "translation_relations": [] if translation is None else translation.source.deprels,
            "links": self.translation(index)[1],
        }

    def translation(self, index: int) -> tuple[tuple[str, ...], list[list[int]]]:
        """Return the words and links (corrected, else original) of a translation; empty without one."""
        pair = self._translations.get(index)
        if pair is None:
            return (), []
        own = self._corrected_links(self.draft.sentences[index], pair) or pair.alignment
        links: list[list[int]] = own.links.tolist()
        return pair.source.forms, links

    def _corrected_links(self, sentence: Sentence, translation: SentencePair) -> Alignment | None:
        """Return the links from MISC (``Align=``)."""
        if not any(misc_values(sentence, LINKS)):
            return None
        return links_in_misc(sentence, len(translation.source), name=str(self.draft.path))

    def lessons(self) -> dict[int, SentencePair]:
        """Return by index the training pairs of a joint parser; corrected links are gold."""
        if not self.learns_links:
            return {}
        sentences = self.draft.sentences
        return {
            index: replace(
                pair,
                target=sentences[index],
                hand=self._corrected_links(sentences[index], pair) if self._reviewed[index] else None,
            )
            for index, pair in self._translations.items()
        }

    def root_relation(self) -> str:
        roots = Counter(
            relation
            for one in self.draft.sentences
            for head, relation in zip(one.heads.tolist()[1:], one.deprels, strict=True)
            if head == ROOT and relation != UNSPECIFIED
        )
        return min(roots, key=lambda relation: (-roots[relation], relation), default="root")

    def confirm(
        self,
        index: int,
        tree: correction.Tree,
        *,
        version: str,
        sure: bool = True,
        columns: Mapping[str, Sequence[str]] | None = None,
    ) -> None:
        """Confirm a tree as :meth:`Draft.confirm`; DoubtError for an unusual tree unless ``sure``."""
        self.check(index)
        doubt = None if sure else correction.doubt_about(tree, root_relation=self.root_relation())
        if doubt is not None:
            correction.check_tree(tree, len(self.draft.sentences[index]))
            raise DoubtError(doubt)
        self.draft.confirm(
            index, tree, version=version, columns=columns, judged=self._judged(index, tree, columns or {})
        )
        self._reviewed[index] = True

    def keep(
        self,
        index: int,
        tree: correction.Tree,
        decided: correction.Decided,
        *,
        version: str,
        columns: Mapping[str, Sequence[str]] | None = None,
    ) -> None:
        """Save a tree without confirming it; the cells ``decided`` are certain, others are parsed again."""
        self.check(index)
        if self._reviewed[index]:
            raise UsageError("this sentence is reviewed; confirm its corrections")
        judged = self._judged(index, tree, columns or {}, decided)
        self._keep(index, tree, decided, version=version, columns=columns or {}, judged=judged)

    def tag(self, index: int, word: int, form: str, tag: str) -> None:
        """Save the tag of a word in the context of a draft; StaleError if another word is there now."""
        self.check(index)
        check_name("tag", tag, UNIVERSAL_TAGS)
        sentence = self.draft.sentences[index]
        if self._reviewed[index] or not 1 <= word <= len(sentence) or sentence.forms[word - 1] != form:
            raise StaleError("this sentence was changed meanwhile; look at it again")
        cells, shown = correction.decided_cells(sentence), self.belief(index)
        upos = (*shown.upos[: word - 1], tag, *shown.upos[word:])
        cells["upos"] = (*cells["upos"][: word - 1], True, *cells["upos"][word:])
        version = self.draft.version(index)
        self._keep(index, shown.tree, cells, version=version, columns={"upos": upos}, judged=None)

    def _keep(
        self,
        index: int,
        tree: correction.Tree,
        decided: correction.Decided,
        *,
        version: str,
        columns: Mapping[str, Sequence[str]],
        judged: Judged | None,
    ) -> None:
        shown = self.belief(index)
        self.draft.confirm(index, tree, version=version, columns=columns, decided=decided, judged=judged)
        arcs = zip(shown.chances, shown.tree.heads, tree.heads, strict=True)
        chances = tuple(chance if old == new else None for chance, old, new in arcs)
        upos = tuple(columns.get("upos", shown.upos))
        self._proposed[self.draft.version(index)] = Belief(tree, chances, upos)

    def _judged(
        self,
        index: int,
        tree: correction.Tree,
        columns: Mapping[str, Sequence[str]],
        decided: correction.Decided | None = None,
    ) -> Judged | None:
        """Return how many words of the draft were right; each counts once, when a cell is first decided."""
        if self._reviewed[index]:
            return None
        shown = self.belief(index)
        rows = zip(shown.upos, shown.tree.heads, shown.tree.relations, strict=True)
        given = zip(columns.get("upos", shown.upos), tree.heads, tree.relations, strict=False)
        differing = [
            sum(a != b for a, b in zip(one, other, strict=True))
            for one, other in zip(rows, given, strict=False)
        ]
        before = map(any, zip(*correction.decided_cells(self.draft.sentences[index]).values(), strict=True))
        now = [True] * len(shown.upos) if decided is None else map(any, zip(*decided.values(), strict=False))
        words = [cells for cells, old, new in zip(differing, before, now, strict=False) if new and not old]
        return Judged(len(words), words.count(0), sum(differing))

    def undo(self, index: int, *, version: str) -> tuple[int, int]:
        """Undo the last change of a sentence, as :meth:`Draft.undo`.

        Returns the index of the restored sentence, and the number of changes undone.
        """
        self.check(index)
        changes = self.draft.undo(index, version=version)
        for change in changes:
            self._moved(change.at, list(map(version_of, change.before)), len(change.after))
        own = next(one for one in changes if one.at <= index < one.at + len(one.before))
        return min(index, own.at + len(own.after) - 1), len(changes)

    def edit(self, index: int, edit: Edit, *, version: str) -> None:
        """Change word, token or sentence boundaries, and save; raises as :meth:`Draft.confirm`."""
        self.check(index)
        sentences, joins = self.draft.sentences, edit.action == "join next"
        following = sentences[index + 1] if joins and index + 1 < len(sentences) else None
        new = edited(sentences[index], edit, following, name=str(self.draft.path))
        before = [self.draft.version(at) for at in range(index, index + 1 + joins)]
        self.draft.replace(index, new, version=version, count=len(before))
        self._moved(index, before, len(new))

    def _moved(self, at: int, before: Sequence[str], new: int) -> None:
        """Renumber sentences after those with versions ``before``, at ``at``, became ``new`` sentences.

        A sentence keeps its translation while its number of words is unchanged, and the other annotator's
        sentence while its words are; undo restores both with the version that had them.
        """
        count, draft = len(before), self.draft
        for place, version in enumerate(before, start=at):
            self._set_aside[version] = self._translations.get(place), self._others.get(place)
        for places in (self._translations, self._others):
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
                self._translations[place] = pair
            if other is not None and other.forms == words:
                self._others[place] = other
        self._reviewed[at : at + count] = map(correction.is_reviewed, draft.sentences[at : at + new])
        if count != new:
            self._sort()

    def found(self, pattern: str, change: str, *, most: int) -> dict[str, Any]:
        """Return the words that match a pattern, and the effect of a correction on each, as JSON."""
        find = compiled(pattern)
        hits = list[dict[str, Any]]()
        total = sentences = 0
        for index, sentence in enumerate(self.draft.sentences):
            words = find(sentence)
            total, sentences = total + len(words), sentences + bool(words)
            if not words or len(hits) >= most:
                continue
            after = corrected(sentence, words, change) if change else sentence
            hits += [
                {
                    "index": index,
                    "word": word,
                    "id": sentence.sent_id or str(index + 1),
                    "version": self.draft.version(index),
                    **dict(zip(("left", "form", "right"), in_context(sentence, word), strict=True)),
                    "before": _cells_of_word(sentence, word),
                    "after": _cells_of_word(after, word),
                }
                for word in words
            ]
        return {"total": total, "sentences": sentences, "hits": hits[:most]}

    def correct(self, hits: Iterable[tuple[int, int, str]], change: str) -> int:
        """Correct words, (index, word, version) each, in one save; return the number of changed sentences.

        Raises StaleError when a sentence has another version, UsageError when a result is not a tree.
        """
        words = dict[int, list[int]]()
        for index, word, version in hits:
            self.check(index)
            if version != self.draft.version(index):
                raise StaleError("a sentence was changed meanwhile; search again")
            if not 1 <= word <= len(self.draft.sentences[index]):
                raise UsageError(f"found word {word}, expected one of the sentence")
            words.setdefault(index, []).append(word)
        after = {index: corrected(self.draft.sentences[index], own, change) for index, own in words.items()}
        self.draft.correct(after)
        return len(after)

    def check(self, index: int) -> None:
        if not 0 <= index < len(self.draft.sentences):
            raise UsageError(f"found no sentence {index}, expected 0 to {len(self.draft.sentences) - 1}")

    def trees(self) -> tuple[list[int], list[int]]:
        """Return the indices of the reviewed and of the remaining sentences."""
        places = range(len(self._reviewed))
        return [i for i in places if self._reviewed[i]], [i for i in places if not self._reviewed[i]]

    def versions(self) -> list[str]:
        """Return the version of each sentence, for :meth:`take`."""
        return [self.draft.version(index) for index in range(len(self.draft.sentences))]

    def take(self, retrained: Retrained, versions: Sequence[str]) -> None:
        """Show new trees for the remaining sentences, least certain first, except those changed meanwhile.

        ``versions``: the versions of the sentences at the start of training, which the trees belong to.
        """
        if retrained.summary.get("worse"):
            self.summary = dict(retrained.summary)
            return
        self._proposed = {
            versions[index]: Belief(correction.Tree(heads, relations), chances, upos)
            for index, (heads, relations, chances, upos) in retrained.beliefs.items()
        }
        self.summary = dict(retrained.summary)
        if retrained.model is not None:
            self.model = retrained.model, (self.model or ("", 0))[1] + 1
        self._sort()
        self.rank(retrained.order)

    def rank(self, order: Sequence[int]) -> None:
        """Take an order by informativeness, for as long as few other sentences are reviewed."""
        left = [index for index in order if not self._reviewed[index]]
        if left:
            others = set(range(len(self._order))).difference(left)
            self._worth = self.reviewed, [*left, *sorted(others, key=lambda index: self._reviewed[index])]


def _same_sentences(draft: Sequence[Sentence], path: str) -> dict[int, Sentence]:
    """Return the sentences of another file by draft index, matched by id, or place, and words."""
    others = list(read_sentences(path))
    by_id = {one.sent_id: one for one in others if one.sent_id is not None}
    found = {}
    for index, one in enumerate(draft):
        other = by_id.get(one.sent_id) if one.sent_id else (others[index] if index < len(others) else None)
        if other is not None and other.forms == one.forms:
            found[index] = other
    if draft and not found:
        raise UsageError(f"{path}: found no sentence of the file under review, expected the same words")
    return found


def _cells_of_word(sentence: Sentence, word: int) -> list[str]:
    """Return the cells of a word that a search may correct."""
    head = int(sentence.heads[word])
    column = [correction.cells(sentence, name)[word - 1] for name in ("lemmas", "upos", "xpos", "feats")]
    return [*column, str(head), sentence.deprels[word - 1]]


def text_of(sentence: Sentence) -> str:
    return comment_value(sentence, "text") or Tokens.of(sentence).text
