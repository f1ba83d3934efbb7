"""Core representation of trees for conversions: words, and a node above the parts of every coordination."""

from collections.abc import Iterable
from functools import cache
from unicodedata import category

from qsproj.corpus.sentence import Sentence

CONJUNCT = "conj"
#: Relation of a word to the function word that heads it: ``comp:`` and the relation before reversal,
#: such as ``comp:case`` or ``comp:aux:pass`` (SUD writes ``comp:aux`` in the same sense).
COMPLEMENT = "comp"
SUBJECTS = frozenset({"nsubj", "csubj"})
#: Parts of one word or name, which always stay with their head.
INSEPARABLE = frozenset({"fixed", "flat", "goeswith", "reparandum"})

_QUOTES = frozenset("\"'`´")
_BRACKET_OR_QUOTE = frozenset({"Ps", "Pe", "Pi", "Pf"})
_TERMINAL = frozenset(".!?…。！？।؟")


@cache
def base_relation(relation: str) -> str:
    """Return the relation without its subtype (``aux:pass``; ``aux@pass`` in SUD)."""
    return relation.partition(":")[0].partition("@")[0]


@cache
def turned_relation(relation: str) -> str:
    """Return the original relation of ``comp:RELATION``, empty for any other relation."""
    base, _, turned = relation.partition(":")
    return turned if base == COMPLEMENT else ""


@cache
def _is_separator(form: str) -> bool:
    """Return whether a punctuation mark can separate conjuncts: all but brackets, quotes and full stops."""
    first = form[:1] or '"'
    return first not in _QUOTES and category(first) not in _BRACKET_OR_QUOTE and form not in _TERMINAL


class WorkingTree:
    """A mutable tree for one conversion of one sentence.

    Nodes are words 1..n, then coordinations. ``forms``, ``upos``, ``feats``: those of word i at index i - 1.
    ``heads``: 0 for the root, -1 for none. ``relations``: of each node to its head. ``children``: unordered,
    none of the root. ``starts``, ``ends``: positions of the first and last conjunct, or of a word.
    """

    __slots__ = ("children", "ends", "feats", "forms", "heads", "relations", "starts", "upos")

    def __init__(self, sentence: Sentence) -> None:
        size = len(sentence) + 1
        self.forms = sentence.forms
        self.upos = sentence.upos
        self.feats = sentence.feats
        self.heads: list[int] = sentence.heads.tolist()
        self.relations = ["", *sentence.deprels]
        self.starts = list(range(size))
        self.ends = list(range(size))
        self.children: list[list[int]] = [[] for _ in range(size)]
        for node, head in enumerate(self.heads):
            if head > 0:
                self.children[head].append(node)

    @property
    def n_words(self) -> int:
        return len(self.forms)

    def form(self, node: int) -> str:
        return self.forms[node - 1] if node <= len(self.forms) else ""

    def tag(self, node: int) -> str:
        return self.upos[node - 1] if node <= len(self.upos) else self.upos[self.starts[node] - 1]

    def base(self, node: int) -> str:
        return base_relation(self.relations[node])

    def attach(self, node: int, head: int, relation: str) -> None:
        """Attach a node to a new head with a new relation. The caller must avoid cycles."""
        old_head = self.heads[node]
        if old_head > 0:
            self.children[old_head].remove(node)
        if head > 0:
            self.children[head].append(node)
        self.heads[node] = head
        self.relations[node] = relation

    def move(self, nodes: Iterable[int], head: int) -> None:
        """Attach nodes to a new head with the relations that they have."""
        for node in nodes:
            self.attach(node, head, self.relations[node])

    def substitute(self, node: int, replacement: int) -> None:
        """Give the head and relation of a node to another node; the node is left without a head."""
        head, relation = self.heads[node], self.relations[node]
        self.attach(node, -1, relation)
        self.attach(replacement, head, relation)

    def add_coordination(self, start: int, end: int) -> int:
        self.heads.append(-1)
        self.relations.append("")
        self.children.append([])
        self.starts.append(start)
        self.ends.append(end)
        return len(self.heads) - 1

    def is_bound(self, child: int) -> bool:
        """Return whether a node always stays with its head: a part, complement, conjunct or in between."""
        base, head = self.base(child), self.heads[child]
        if base in INSEPARABLE or base == COMPLEMENT:
            return True
        between = self.starts[head] < self.starts[child] < self.ends[head]
        return head > self.n_words and (base == CONJUNCT or (base in ("cc", "punct") and between))

    def is_separating(self, node: int) -> bool:
        """Return whether a word is a conjunction, or a punctuation mark that can separate conjuncts."""
        base = self.base(node)
        if base == "cc":
            return self.relations[node] != "cc:preconj"
        return base == "punct" and _is_separator(self.form(node))

    def is_terminal(self, node: int) -> bool:
        """Return whether a word is a full stop, or an exclamation or question mark."""
        return self.base(node) == "punct" and not set(self.form(node) or " ") - _TERMINAL

    def has(self, node: int, relations: frozenset[str]) -> bool:
        return any(self.base(child) in relations for child in self.children[node])

    def depth(self, node: int) -> int:
        depth = 0
        while (node := self.heads[node]) > 0:
            depth += 1
        return depth
