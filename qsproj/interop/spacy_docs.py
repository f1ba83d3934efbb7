"""Conversion of sentences to and from a ``Doc`` of spaCy."""

from collections.abc import Iterable, Sequence
from itertools import chain
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from qsproj.conventions import NO_HEAD, ROOT
from qsproj.corpus.cells import UNIVERSAL_TAGS, UNSPECIFIED, items_of
from qsproj.corpus.document import Document
from qsproj.corpus.messages import check_type
from qsproj.corpus.sentence import Sentence
from qsproj.corpus.token import ARC_PROBABILITY, NO_SPACE, MultiwordToken, space_after, surface_tokens
from qsproj.errors import UsageError
from qsproj.interop.exchange import listed, package

if TYPE_CHECKING:
    from spacy.tokens import Doc
    from spacy.vocab import Vocab

# Key of ``user_data`` with each sentence as CoNLL-U, for the columns that tokens cannot hold.
USER_DATA = "qsproj.conllu"
EXTENSION = "arc_probability"
_ESCAPES = str.maketrans({" ": r"\s", "\t": r"\t", "\n": r"\n", "\r": r"\r", "|": r"\p", "\\": r"\\"})


class Columns(NamedTuple):
    """Values of a sentence for the tokens of a Doc, n each; ``heads`` does not start with the root."""

    lemmas: tuple[str, ...]
    upos: tuple[str, ...]
    xpos: tuple[str, ...]
    feats: tuple[str, ...]
    heads: tuple[int, ...]
    deprels: tuple[str, ...]


def to_spacy(sentences: Sentence | Iterable[Sentence], vocab: "Vocab | None" = None) -> "Doc":
    """Convert sentences to one ``Doc`` of spaCy, a token for each word.

    Tags, features, lemmas, heads and relations are set, UPOS as ``pos_``, XPOS as ``tag_``, the relation of a
    root as ``ROOT``; further roots depend on the first. ``token._.arc_probability`` is the probability from
    ``parse(..., confidence=True)``. Multiword tokens become their words. All else, such as comments and DEPS,
    is stored in ``user_data`` for :func:`from_spacy`. ``vocab``: ``nlp.vocab`` if the ``Doc`` is passed to a
    pipeline; None: a new one.

    Raises UsageError when the argument holds no sentences, or spaCy is not installed.
    """
    found = listed(sentences)
    tokens = package("spacy.tokens")
    vocab = package("spacy.vocab").Vocab() if vocab is None else vocab
    words = [form for sentence in found for form in sentence.forms]
    doc = tokens.Doc(vocab, words=words, spaces=spaces_of(found))
    annotate(doc, found, list(range(len(words))))
    doc.user_data[USER_DATA] = [sentence.to_conllu() for sentence in found]
    return doc


def spaces_of(sentences: Sequence[Sentence]) -> list[bool]:
    """Return whether a space follows each word; words inside a multiword token count as spaced."""
    spaces = []
    for token in chain.from_iterable(map(surface_tokens, sentences)):
        inside = token.last - token.first if isinstance(token, MultiwordToken) else 0
        spaces += [*[True] * inside, bool(space_after(token))]
    return spaces


def annotate(doc: "Doc", sentences: Sequence[Sentence], places: Sequence[int]) -> None:
    """Annotate a Doc with sentences, whose words are the tokens at ``places``; other tokens are white space.

    A white space token depends on the word before it, or on the first word.
    """
    register_extension()
    strings, morphology = doc.vocab.strings, doc.vocab.morphology
    names = ("POS", "TAG", "LEMMA", "MORPH", "DEP", "HEAD", "SENT_START")
    values = {name: np.zeros(len(doc), dtype=np.int64 if name in names[5:] else np.uint64) for name in names}
    at = 0
    for sentence in sentences:
        own = np.array(places[at : at + len(sentence)])
        at += len(sentence)
        columns = columns_of(sentence)
        heads = np.array(columns.heads)
        values["POS"][own] = list(map(strings.add, columns.upos))
        values["TAG"][own] = list(map(strings.add, columns.xpos))
        values["LEMMA"][own] = list(map(strings.add, columns.lemmas))
        values["MORPH"][own] = list(map(morphology.add, columns.feats))
        values["DEP"][own] = list(map(strings.add, columns.deprels))
        values["HEAD"][own] = np.where(heads > ROOT, own[heads - 1] - own, 0)
        values["SENT_START"][own] = np.where(own > own[0], -1, 1)
    has_tree = bool(values["DEP"].any())
    for place in sorted(set(range(len(doc))) - set(places)):
        values["POS"][place] = strings.add("SPACE")
        values["DEP"][place] = strings.add("dep")
        values["HEAD"][place] = -1 if place else next((word for word in places if word), 0)
        values["SENT_START"][place] = -1 if place else 1
    # spaCy derives sentence starts from trees; without trees they are set explicitly.
    used = names[:6] if has_tree else (*names[:4], names[6])
    if len(doc):
        table: Any = np.stack([values[name].astype(np.uint64) for name in used], axis=1)
        doc.from_array(list(used), table)
    for place, word in zip(places, chain.from_iterable(sentences), strict=True):
        if word.arc_probability is not None:
            doc[place]._.set(EXTENSION, word.arc_probability)


def columns_of(sentence: Sentence) -> Columns:
    """Return the values of a sentence for a Doc; all words are connected, else spaCy would split it.

    Further roots depend on the first, with relation ``ROOT``. A word with missing head has no relation, or is
    its own head where there is no root; a word with a head but no relation gets ``dep``.
    """
    heads = sentence.heads[1:].tolist()
    anchor = heads.index(ROOT if ROOT in heads else NO_HEAD) + 1
    shown = [head if head > ROOT else anchor for head in heads]
    shown[anchor - 1] = ROOT
    named = {NO_HEAD: "", ROOT: "ROOT"}
    pairs = zip(heads, sentence.deprels, strict=True)
    relations = [named.get(head, _empty(relation) or "dep") for head, relation in pairs]
    if any(relations) and not relations[anchor - 1]:
        relations[anchor - 1] = "dep"
    lemmas, xpos = (tuple(map(_empty, cells)) for cells in (sentence.lemmas, sentence.xpos))
    upos = tuple(tag if tag in UNIVERSAL_TAGS else "" for tag in sentence.upos)
    feats = tuple(map(_ordered, sentence.feats))
    return Columns(lemmas, upos, xpos, feats, tuple(shown), tuple(relations))


def _ordered(feats: str) -> str:
    """Return Name=Value pairs in the order of UD, "" for none; spaCy orders them otherwise."""
    pairs = sorted(items_of(feats).items(), key=lambda item: item[0].lower())
    return "|".join(f"{name}={','.join(sorted(value.split(',')))}" for name, value in pairs if value)


def from_spacy(doc: "Doc") -> Document:
    """Convert a ``Doc`` of spaCy to sentences; without sentence starts it is one sentence.

    White space tokens become ``SpacesAfter`` in MISC of the word before, as UDPipe writes it. The data that
    :func:`to_spacy` stored in ``user_data`` is restored where the words of the sentences are unchanged,
    except for cells that were changed in the ``Doc``. Without that data, features come in the order of UD,
    and a missing relation as ``dep``. Lost are entities, vectors and extensions other than
    ``arc_probability``.

    Raises UsageError when the argument is not a ``Doc``, or a head is outside its sentence.
    """
    check_type(doc, package("spacy.tokens").Doc, "a Doc of spaCy")
    cut = doc.sents if doc.has_annotation("SENT_START") else [doc[:]]
    spans = [span for span in cut if any(not token.is_space for token in span)]
    kept = doc.user_data.get(USER_DATA) or []
    originals = kept if len(kept) == len(spans) else [None] * len(spans)
    pairs = enumerate(zip(spans, originals, strict=True), start=1)
    sentences = [_sentence(span, original, f"sentence {number}") for number, (span, original) in pairs]
    return Document(sentences, text=None if kept else doc.text)


def _sentence(span: Any, original: str | None, where: str) -> Sentence:
    words = [token for token in span if not token.is_space]
    forms = tuple(token.text for token in words)
    known = None if original is None else Sentence.from_conllu(original)
    if known is None or known.forms != forms:
        misc = [_spacing(token) for token in words]
        if leading := "".join(token.text_with_ws for token in span if token.i < words[0].i):
            misc[0] = {"SpacesBefore": leading.translate(_ESCAPES), **misc[0]}
        known = Sentence.from_words(forms, misc=misc)
    return _updated(known, words, where)


def _updated(sentence: Sentence, words: list[Any], where: str) -> Sentence:
    columns, before = _columns_in(words, where), columns_of(sentence)

    def updated_cells(name: str) -> list[str]:
        cells = zip(*(getattr(one, name) for one in (sentence, columns, before)), strict=True)
        return [cell if new == old else new or UNSPECIFIED for cell, new, old in cells]

    changed: dict[str, Any] = {
        name: updated_cells(name)
        for name in ("lemmas", "upos", "xpos", "feats")
        if getattr(columns, name) != getattr(before, name)
    }
    arcs, arcs_before = _arcs(columns), _arcs(before)
    if arcs != arcs_before:
        named = {NO_HEAD: UNSPECIFIED, ROOT: "root"}
        rows = zip(arcs, arcs_before, sentence.deprels, updated_cells("deprels"), strict=True)
        changed["heads"] = [head for head, _ in arcs]
        changed["deprels"] = [old if arc == kept else named.get(arc[0], new) for arc, kept, old, new in rows]
    try:
        updated = sentence.replace(**changed)
    except UsageError as error:
        raise UsageError(f"{where}: {error}") from None
    chances = [token._.get(EXTENSION) if token.has_extension(EXTENSION) else None for token in words]
    if all(chance in (None, word.arc_probability) for chance, word in zip(chances, updated)):
        return updated
    items = [{} if chance is None else {ARC_PROBABILITY: f"{chance:.4f}"} for chance in chances]
    return updated.replace(misc=[word.misc | own for word, own in zip(updated, items)])


def _arcs(columns: Columns) -> list[tuple[int, str]]:
    """Return heads and relations of a Doc; a word without relation, or its own head, has no head."""
    pairs = zip(columns.heads, columns.deprels, strict=True)
    return [
        (ROOT if name == "ROOT" else head if name and head > ROOT else NO_HEAD, name) for head, name in pairs
    ]


def _columns_in(words: list[Any], where: str) -> Columns:
    numbers = {token.i: number for number, token in enumerate(words, start=1)}
    heads = []
    for token in words:
        head = token.head
        while head.is_space and head.head.i != head.i:
            head = head.head
        if head.i != token.i and head.i not in numbers:
            found = f"the head of {token.text!r} in another sentence"
            raise UsageError(f"{where}: found {found}, expected one in its own")
        heads.append(ROOT if head.i == token.i else numbers[head.i])
    cells = ((one.lemma_, one.pos_, one.tag_, _ordered(str(one.morph)), one.dep_) for one in words)
    lemmas, upos, xpos, feats, relations = zip(*cells, strict=True)
    return Columns(lemmas, upos, xpos, feats, tuple(heads), relations)


def _spacing(token: Any) -> dict[str, str | None]:
    following, at = token.whitespace_, token.i + 1
    while at < len(token.doc) and token.doc[at].is_space:
        following += token.doc[at].text_with_ws
        at += 1
    if following in ("", " "):
        return {} if following or at == len(token.doc) else dict([NO_SPACE])
    return {"SpacesAfter": following.translate(_ESCAPES)}


def _empty(cell: str) -> str:
    return "" if cell == UNSPECIFIED else cell


def register_extension() -> None:
    """Register the token extension ``token._.arc_probability``."""
    token = package("spacy.tokens").Token
    if not token.has_extension(EXTENSION):
        token.set_extension(EXTENSION, default=None)
