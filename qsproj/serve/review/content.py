"""The content of the page as JSON: the file, its list of sentences, one sentence, the report."""

from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from qsproj.corpus.cells import UNIVERSAL_RELATIONS, UNIVERSAL_TAGS, UNSPECIFIED
from qsproj.corpus.characters import lower_form
from qsproj.corpus.editing import TAG_PROBABILITY, layout_of
from qsproj.corpus.sentence import Sentence
from qsproj.errors import check_name
from qsproj.serve.review import correction
from qsproj.serve.review.session import Session
from qsproj.serve.review.tokens import Tokens

TO_DO, REVIEWED, ALL = SHOWN = ("todo", "reviewed", "all")
_BATCH = 10  # confirmations in a line of the report
_PREVIEW = 120


def overview(session: Session) -> dict[str, Any]:
    return {
        "file": session.draft.path.name,
        "sentences": len(session.draft.sentences),
        "reviewed": session.reviewed,
        "live": session.live,
        "keeps": session.learns_parts,
        "order": session.order,
        "beside": None if session.beside is None else Path(session.beside).name,
        **_vocabulary(session),
        **progress(session),
    }


def _vocabulary(session: Session) -> dict[str, Any]:
    sentences = session.draft.sentences
    relations = set(UNIVERSAL_RELATIONS).union(*(one.deprels for one in sentences))
    tags = set(UNIVERSAL_TAGS).union(*(one.upos for one in sentences))
    features = set(session.features).union(*(one.feats for one in sentences))
    values = defaultdict[str, set[str]](set)
    for pair in {pair for cell in features - {UNSPECIFIED} for pair in cell.split("|")}:
        name, _, value = pair.partition("=")
        values[name].add(value)
    return {
        "relations": sorted(relations - {UNSPECIFIED}),
        "tags": sorted(tags - {UNSPECIFIED}),
        "features": {name: sorted(values[name]) for name in sorted(values)},
    }


def progress(session: Session) -> dict[str, Any]:
    return {
        "train_after": session.train_after,
        "training": session.training,
        "parts": list(session.parts) if session.training else [0, 0],
        "trained": session.summary,
    }


def report(session: Session) -> dict[str, Any]:
    made = session.draft.history.corrections()
    batches = []
    for at in range(0, len(made), _BATCH):
        times, words, changed = zip(*made[at : at + _BATCH], strict=True)
        counts = {"sentences": len(times), "words": sum(words), "corrections": sum(changed)}
        batches.append({"from": times[0], "to": times[-1], **counts})
    return {"batches": batches}


def page(session: Session, *, order: str, shown: str, query: str, offset: int, limit: int) -> dict[str, Any]:
    """Return a part of the list of sentences; ``query``: a relation, or a part of id or text in any case."""
    check_name("choice", shown, SHOWN)
    found = [
        index
        for index in session.ordered(order)
        if shown in (ALL, REVIEWED if session.is_reviewed[index] else TO_DO) and _holds(session, index, query)
    ]
    rows = [_row(session, index) for index in found[offset : offset + limit]]
    return {"total": len(found), "offset": offset, "sentences": rows}


def _holds(session: Session, index: int, query: str) -> bool:
    sentence, wanted = session.draft.sentences[index], lower_form(query)
    texts = (sentence.sent_id or "", sentence.text) if query else ("",)
    return any(wanted in lower_form(text) for text in texts) or query in session.belief(index).tree.relations


def _row(session: Session, index: int) -> dict[str, Any]:
    sentence = session.draft.sentences[index]
    return {
        "index": index,
        "id": sentence.sent_id or str(index + 1),
        "text": sentence.text[:_PREVIEW],
        "words": len(sentence),
        "unsure": round(correction.unsureness(session.belief(index).chances), 4),
        "reviewed": session.is_reviewed[index],
        **({"differing": session.differing(index)} if session.beside else {}),
    }


def shown_sentence(session: Session, index: int) -> dict[str, Any]:
    draft, belief = session.draft, session.belief(index)
    sentence, other, pair = draft.sentences[index], session.others.get(index), session.linked(index)
    tag_chances = zip(correction.chances(sentence, TAG_PROBABILITY), belief.upos, sentence.upos, strict=True)
    return {
        **_row(session, index),
        "text": sentence.text,
        "version": draft.version(index),
        "proposed": draft.version(index) in session.proposed,
        "undo": draft.can_undo(index),
        "forms": sentence.forms,
        "comments": [line for line in layout_of(sentence).lines if line.startswith("#")],
        "other": None if other is None else _tree_cells(other),
        "text_tokens": Tokens.of(sentence).spans(),
        "tag_chances": [chance if shown == own else None for chance, shown, own in tag_chances],
        "tokens": [[one.first, one.last, one.form] for one in sentence.multiword_tokens],
        "decided": correction.decided_cells(sentence),
        **{name: correction.cells(sentence, name) for name in correction.CELLS},
        **belief.columns,
        "heads": belief.tree.heads,
        "relations": belief.tree.relations,
        "chances": belief.chances,
        "translation": None if pair is None else {"forms": pair.source.forms, **_tree_cells(pair.source)},
        "links": [] if pair is None else (pair.hand or pair.alignment).links.tolist(),
    }


def _tree_cells(sentence: Sentence) -> dict[str, Sequence[Any]]:
    heads: list[int] = sentence.heads.tolist()[1:]
    return {"heads": heads, "relations": sentence.deprels, "upos": sentence.upos}
