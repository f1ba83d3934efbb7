"""Conversion of sentences from one annotation style to another."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from qsproj.corpus.editing import with_heads
from qsproj.corpus.sentence import Sentence
from qsproj.styles.coordination import coordinations_to_core, coordinations_to_style
from qsproj.styles.function_words import FUNCTION_WORDS
from qsproj.styles.style import UD, Style
from qsproj.styles.working_tree import WorkingTree


def convert(sentence: Sentence, target: Style, *, source: Style = UD) -> Sentence:
    """Return the sentence in another style: other heads and relations, all else as it was.

    Only heads, relations, UPOS, FEATS and the forms of punctuation marks are looked at; MISC is neither read
    nor written, and enhanced dependencies (DEPS) are left as they are, those of the source style. A tree
    gives a tree, with as many roots; of a partial tree as many words are without a head.

    ``sentence``: in the source style, with relations of Universal Dependencies or those that this function
    writes. Its heads must have no cycle; CoNLL-U that was read has none. ``target``, ``source``: where they
    are equal the sentence itself is returned.
    """
    if source == target:
        return sentence
    tree = WorkingTree(sentence)
    coordinations_to_core(tree, source)
    for rule in reversed(FUNCTION_WORDS):
        if getattr(source, rule.dimension) == "head":
            rule.to_child(tree)
    for rule in FUNCTION_WORDS:
        if getattr(target, rule.dimension) == "head":
            rule.to_head(tree)
    coordinations_to_style(tree, target)
    size = tree.n_words + 1
    return with_heads(sentence, tree.heads[:size], tree.relations[1:size])


def convert_all(sentences: Iterable[Sentence], target: Style, *, source: Style = UD) -> Iterator[Sentence]:
    """Yield each sentence in another style; see :func:`convert`."""
    for sentence in sentences:
        yield convert(sentence, target, source=source)
