"""The tree that conversions work on: words, and a node of its own for every coordination.

In this *core* a coordination is headed by no word: its node's children are the conjuncts (relation conj), the
conjunctions and punctuation that separate them, and the dependents of the whole. Every style of coordination
is read into it and written from it, and function words are turned round in it.
"""

from functools import cache
from unicodedata import category

from qsproj.corpus.sentence import Sentence

CONJUNCT = "conj"
#: A word's relation to the function word that heads it: ``comp:`` and the relation that was turned round,
#: such as ``comp:case`` or ``comp:aux:pass`` (SUD writes ``comp:aux`` in the same sense).
COMPLEMENT = "comp"
SUBJECTS = frozenset({"nsubj", "csubj"})
#: Parts of one word or name: they stay with the word that they hang on, whatever becomes of it.
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
    """Return the relation that was turned round to ``comp:RELATION``; empty for any other relation."""
    base, _, turned = relation.partition(":")
    return turned if base == COMPLEMENT else ""


@cache
def is_separator(form: str) -> bool:
    """Tell whether a punctuation mark can separate conjuncts: all but brackets, quotes and full stops."""
    first = form[:1] or '"'
    return first not in _QUOTES and category(first) not in _BRACKET_OR_QUOTE and form not in _TERMINAL


@cache
def is_terminal(form: str) -> bool:
    """Tell whether a punctuation mark ends a sentence: full stops, exclamation and question marks."""
    return form != "" and all(character in _TERMINAL for character in form)


class WorkingTree:
    """A tree that conversions change in place; made from one sentence, for one conversion.

    Nodes are words 1..n, then coordinations. ``forms``, ``upos``, ``feats``: of word i at index i - 1.
    ``heads``: 0 the root, -1 none. ``relations``: of each node to its head. ``children``: of each node in no
    order; those of the root are not kept. ``starts``, ``ends``: the positions of a coordination's first and
    last conjunct; of a word, its own position.
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
        """Return the form of a word; that of a coordination is empty."""
        return self.forms[node - 1] if node <= len(self.forms) else ""

    def tag(self, node: int) -> str:
        """Return the UPOS of a word, and for a coordination that of its first conjunct."""
        return self.upos[node - 1] if node <= len(self.upos) else self.upos[self.starts[node] - 1]

    def attach(self, node: int, head: int, relation: str) -> None:
        """Hang a node on another head, by another relation. That no cycle arises is the caller's care."""
        old_head = self.heads[node]
        if old_head > 0:
            self.children[old_head].remove(node)
        if head > 0:
            self.children[head].append(node)
        self.heads[node] = head
        self.relations[node] = relation

    def substitute(self, node: int, replacement: int) -> None:
        """Give a node's place, its head and its relation, to another; the node is left without a head."""
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

    def is_inside(self, child: int) -> bool:
        """Tell whether a node is part of the coordination that heads it: a conjunct, or between conjuncts."""
        head = self.heads[child]
        if head <= len(self.forms):
            return False
        base = base_relation(self.relations[child])
        return base == CONJUNCT or (
            base in ("cc", "punct") and self.starts[head] < self.starts[child] < self.ends[head]
        )

    def has(self, node: int, relations: frozenset[str]) -> bool:
        return any(base_relation(self.relations[child]) in relations for child in self.children[node])

    def depth(self, node: int) -> int:
        depth = 0
        while (node := self.heads[node]) > 0:
            depth += 1
        return depth
