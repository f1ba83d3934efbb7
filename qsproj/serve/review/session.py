"""The state of a review: the draft, predicted trees, the order of sentences, progress of training."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from qsproj.conventions import ROOT
from qsproj.corpus.cells import UNIVERSAL_TAGS, UNSPECIFIED
from qsproj.corpus.editing import with_columns
from qsproj.corpus.pairs.aligned import AlignedFiles
from qsproj.corpus.sentence import SentencePair
from qsproj.errors import QsprojError, UsageError, check_name
from qsproj.pipelines.suggest import Candidate, rank
from qsproj.serve.review import correction
from qsproj.serve.review.companions import Companions
from qsproj.serve.review.correction import Belief, Decided, Tree, belief_of
from qsproj.serve.review.draft import Draft, StaleError, version_of
from qsproj.serve.review.history import Judged
from qsproj.serve.review.retraining import Retrained
from qsproj.serve.review.tokens import Edit, edited

UNSURE, WORTH, FILE, DIFFERING = ORDERS = ("unsure", "worth", "file", "differing")
_BATCH = 10  # confirmed sentences between two rankings by informativeness
# Sentences ranked by informativeness; they are ranked again long before all are reviewed.
_RANKED = 100

Columns = Mapping[str, Sequence[str]]


class DoubtError(QsprojError):
    """An unusual tree, to be confirmed a second time or corrected."""


class Session:
    """A draft under review. Mutable; final.

    ``pairs``, ``beside``: see :class:`Companions`. ``train_after``: number of reviewed sentences at which a
    parser is trained; None: no training. ``order``: the page's first order.
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
        self.companions = Companions(pairs=pairs, beside=beside)
        self.learns_links = learns_links  # whether training reads links, as for a joint parser
        self.learns_parts = learns_parts  # whether training reads corrections that are not confirmed
        self.features: Iterable[str] = ()  # FEATS values of the model, offered beside those of the file
        self.live = False  # whether a model infers the rest after each correction
        self.training = False  # whether training is running
        self.parts: Sequence[int] = (0, 0)  # number of finished steps of training, and of all
        self.summary = dict[str, Any]()  # results of training, for the page
        # File and training count of the model trained in this review, which then serves inference.
        self.model: tuple[str, int] | None = None
        self.readings = 0  # number of times the file was read: training on an earlier reading is discarded
        self.companions.read(draft)
        self._start()

    def load(self) -> None:
        """Read the draft again, or change nothing on an error; other files that no longer fit are dropped."""
        self.draft.load()
        left_out = self.companions.read(self.draft, again=True)
        self._start()
        if left_out:
            self.summary = {"error": "; ".join(left_out)}

    def _start(self) -> None:
        self._proposed = dict[str, Belief]()  # by the version of the sentence
        self.summary = {}
        self.readings += 1
        self._reviewed = [correction.is_reviewed(sentence) for sentence in self.draft.sentences]
        self._sort()

    def _sort(self) -> None:
        places = range(len(self.draft.sentences))
        unsure = [correction.unsureness(self.belief(index).chances) for index in places]
        # Reviewed sentences at the last ranking by informativeness, and the ranking; empty: none yet.
        self._worth: tuple[int, list[int]] = 0, []
        self._order = sorted(places, key=lambda index: -unsure[index])

    def belief(self, index: int) -> Belief:
        """Return the displayed tree: the file's, or a new prediction for an unreviewed sentence."""
        return self._proposed.get(self.draft.version(index)) or belief_of(self.draft.sentences[index])

    def is_proposed(self, index: int) -> bool:
        return self.draft.version(index) in self._proposed

    def is_reviewed(self, index: int) -> bool:
        return self._reviewed[index]

    @property
    def reviewed(self) -> int:
        return sum(self._reviewed)

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
        ranked = rank(candidates, annotated=known, count=_RANKED)
        first = [places[id(one.sentence)] for one in ranked]
        later = set(left).difference(first)
        return [*first, *(index for index in self._order if index in later), *reviewed]

    def rank(self, order: Sequence[int]) -> None:
        """Take an order by informativeness, for as long as few other sentences are reviewed."""
        left = [index for index in order if not self._reviewed[index]]
        if left:
            others = set(range(len(self._order))).difference(left)
            self._worth = self.reviewed, [*left, *sorted(others, key=lambda index: self._reviewed[index])]

    def differing(self, index: int) -> int:
        """Return the number of words that the other annotator analyses differently."""
        other = self.companions.others.get(index)
        if other is None:
            return 0
        rows = zip(_rows(self.belief(index)), _rows(belief_of(other)), strict=True)
        return sum(own != others for own, others in rows)

    def lessons(self) -> dict[int, SentencePair]:
        if not self.learns_links:
            return {}
        found = {}
        for index, pair in self.companions.translations.items():
            if self._reviewed[index] or self.learns_parts:
                pair = self.companions.linked(self.draft, index) or pair
            found[index] = replace(pair, target=self.draft.sentences[index])
        return found

    def root_relation(self) -> str:
        words = (zip(one.heads.tolist()[1:], one.deprels, strict=True) for one in self.draft.sentences)
        roots = Counter(relation for own in words for head, relation in own if head == ROOT)
        del roots[UNSPECIFIED]
        return min(roots, key=lambda relation: (-roots[relation], relation), default="root")

    def confirm(
        self, index: int, tree: Tree, *, version: str, sure: bool = True, columns: Columns | None = None
    ) -> None:
        """Confirm a tree as :meth:`Draft.confirm`; DoubtError for an unusual tree unless ``sure``."""
        if not sure and (doubt := correction.doubt_about(tree, root_relation=self.root_relation())):
            correction.check_tree(tree, len(self.draft.sentences[index]))
            raise DoubtError(doubt)
        judged = self._judged(index, tree, columns or {})
        self.draft.confirm(index, tree, version=version, columns=columns, judged=judged)
        self._reviewed[index] = True

    def keep(
        self, index: int, tree: Tree, decided: Decided, *, version: str, columns: Columns | None = None
    ) -> None:
        """Save a tree without confirming it; the cells ``decided`` are certain, others are parsed again."""
        if self._reviewed[index]:
            raise UsageError("this sentence is reviewed; confirm its corrections")
        columns = columns or {}
        self._keep(index, tree, decided, version, columns, self._judged(index, tree, columns, decided))

    def tag(self, index: int, word: int, form: str, tag: str) -> None:
        """Save the tag of a word in the context of a draft; StaleError if another word is there now."""
        check_name("tag", tag, UNIVERSAL_TAGS)
        sentence = self.draft.sentences[index]
        if self._reviewed[index] or not 1 <= word <= len(sentence) or sentence.forms[word - 1] != form:
            raise StaleError("this sentence was changed meanwhile; look at it again")
        cells, shown = correction.decided_cells(sentence), self.belief(index)
        upos = (*shown.upos[: word - 1], tag, *shown.upos[word:])
        cells["upos"] = (*cells["upos"][: word - 1], True, *cells["upos"][word:])
        self._keep(index, shown.tree, cells, self.draft.version(index), {"upos": upos}, None)

    def _keep(
        self, index: int, tree: Tree, decided: Decided, version: str, columns: Columns, judged: Judged | None
    ) -> None:
        shown = self.belief(index)
        self.draft.confirm(index, tree, version=version, columns=columns, decided=decided, judged=judged)
        arcs = zip(shown.chances, shown.tree.heads, tree.heads, strict=True)
        chances = tuple(chance if old == new else None for chance, old, new in arcs)
        upos = tuple(columns.get("upos", shown.upos))
        self._proposed[self.draft.version(index)] = Belief(tree, chances, upos)

    def _judged(
        self, index: int, tree: Tree, columns: Columns, decided: Decided | None = None
    ) -> Judged | None:
        """Return how many words of the draft were right; each counts once, when a cell is first decided."""
        if self._reviewed[index]:
            return None
        shown = self.belief(index)
        rows = zip(_rows(shown), _rows(Belief(tree, (), columns.get("upos", shown.upos))), strict=False)
        differing = [sum(a != b for a, b in zip(one, other, strict=True)) for one, other in rows]
        before = map(any, zip(*correction.decided_cells(self.draft.sentences[index]).values(), strict=True))
        now = [True] * len(shown.upos) if decided is None else map(any, zip(*decided.values(), strict=False))
        words = [cells for cells, old, new in zip(differing, before, now, strict=False) if new and not old]
        return Judged(len(words), words.count(0), sum(differing))

    def undo(self, index: int, *, version: str) -> tuple[int, int]:
        """Undo the last change of a sentence, as :meth:`Draft.undo`.

        Returns the index of the restored sentence, and the number of changes undone.
        """
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
        self.companions.move(self.draft, at, before, new)
        now = map(correction.is_reviewed, self.draft.sentences[at : at + new])
        self._reviewed[at : at + len(before)] = now
        if len(before) != new:
            self._sort()

    def trees(self) -> tuple[list[int], list[int]]:
        places = range(len(self._reviewed))
        return [i for i in places if self._reviewed[i]], [i for i in places if not self._reviewed[i]]

    def versions(self) -> list[str]:
        return [self.draft.version(index) for index in range(len(self.draft.sentences))]

    def take(self, retrained: Retrained, versions: Sequence[str]) -> None:
        """Show new trees for the remaining sentences, least certain first, except those changed meanwhile.

        ``versions``: the versions of the sentences at the start of training, which the trees belong to.
        """
        self.summary = dict(retrained.summary)
        if self.summary.get("worse"):
            return
        self._proposed = {versions[index]: belief for index, belief in retrained.beliefs.items()}
        if retrained.model is not None:
            self.model = retrained.model, (self.model or ("", 0))[1] + 1
        self._sort()
        self.rank(retrained.order)


def _rows(belief: Belief) -> Iterable[tuple[str, int, str]]:
    return zip(belief.upos, belief.tree.heads, belief.tree.relations, strict=False)
