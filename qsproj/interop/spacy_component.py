"""``nlp.add_pipe("qsproj")``: a spaCy component that annotates with a qsproj model.

spaCy finds it through the entry point ``spacy_factories`` of the installed package.
"""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from spacy.language import Language
from spacy.tokens import Doc
from spacy.util import DummyTokenizer, ensure_path
from spacy.vocab import Vocab

from qsproj.corpus.editing import with_columns
from qsproj.corpus.sentence import Sentence
from qsproj.errors import UsageError
from qsproj.interop.spacy_docs import USER_DATA, annotate, from_spacy, register_extension, spaces_of
from qsproj.models.annotation import Annotator
from qsproj.models.storage import load_model
from qsproj.parallel import blocks_of

MODEL_FILE = "model"  # in the folder of the component


@Language.factory(
    "qsproj",
    assigns=["token.pos", "token.tag", "token.morph", "token.lemma", "token.head", "token.dep", "doc.sents"],
    default_config={"model": "", "tokenize": False, "confidence": True, "retag": True},
)
def make_component(
    nlp: Language, name: str, model: str, tokenize: bool, confidence: bool, retag: bool
) -> "QsprojComponent":
    """Create the component; with ``tokenize`` its model also becomes the tokenizer of the pipeline."""
    component = QsprojComponent(nlp.vocab, name, model, confidence=confidence, retag=retag)
    if tokenize:
        nlp.tokenizer = ModelTokenizer(component)
    return component


class QsprojComponent:
    """A component that sets tags, features, lemmas, heads, relations and sentence starts of a ``Doc``. Final.

    ``model``: path of a model file; a text model needs no other component, a parser of tagged words needs a
    tagger before it. ``confidence``: set ``token._.arc_probability``. ``retag``: a text model replaces
    existing tags by its own.
    """

    def __init__(self, vocab: Vocab, name: str, model: str, *, confidence: bool, retag: bool) -> None:
        register_extension()
        self.vocab, self.name, self.path = vocab, name, model
        self.confidence, self.retag = confidence, retag
        # A component loaded with its pipeline reads the model from the pipeline's folder.
        self._model = _loaded(model) if model and Path(model).exists() else None

    @property
    def annotator(self) -> Annotator:
        """The model; not named ``model``, since spaCy recognises trainable components by that attribute."""
        if self._model is None:
            found = f"no model at {self.path!r}" if self.path else "no model"
            remedy = 'nlp.add_pipe("qsproj", config={"model": PATH})'
            raise UsageError(f"{self.name}: found {found}, expected a file; {remedy}")
        return self._model

    def __call__(self, doc: Doc) -> Doc:
        """Annotate a Doc in place."""
        return next(self.pipe([doc]))

    def pipe(self, stream: Iterable[Doc], *, batch_size: int = 64) -> Iterator[Doc]:
        """Annotate Docs, parsing the sentences of a batch together."""
        for docs in blocks_of(stream, batch_size):
            sentences = [list(self._sentences(doc)) for doc in docs]
            joined = [one for part in sentences for one in part]
            annotated = iter(self.annotator(joined, confidence=self.confidence))
            for doc, part in zip(docs, sentences, strict=True):
                places = [token.i for token in doc if not token.is_space]
                annotate(doc, [next(annotated) for _ in part], places)
                yield doc

    def _sentences(self, doc: Doc) -> Iterator[Sentence]:
        """Yield the sentences of a Doc: its own if sentence starts are set, else the model's."""
        if any(not token.is_space for token in doc):
            tags_itself = self.retag and hasattr(type(self.annotator), "tag")
            for sentence in from_spacy(doc):
                bare = with_columns(sentence, upos=["_"] * len(sentence)) if tags_itself else sentence
                yield from [bare] if doc.has_annotation("SENT_START") else self._cut(doc, bare)

    def _cut(self, doc: Doc, words: Sentence) -> Iterator[Sentence]:
        """Split given words into sentences where the model splits the text."""
        try:
            sizes = [len("".join(one.text.split())) for one in self.annotator.cut(doc.text)]
        except UsageError:  # The model has no tokenizer.
            sizes = []
        begin, end, size = 0, 0, 0
        for form in words.forms:
            end += 1
            size += len("".join(form.split()))
            if sizes and size >= sizes[0]:
                yield _part(words, begin, end)
                begin, size = end, size - sizes.pop(0)
        if begin < end:
            yield _part(words, begin, end)

    def to_disk(self, path: str | Path, **_: Any) -> None:
        """Write the model to a folder, for :meth:`from_disk`."""
        folder: Path = ensure_path(path)
        folder.mkdir(parents=True, exist_ok=True)
        model: Any = self.annotator
        model.save(folder / MODEL_FILE)

    def from_disk(self, path: str | Path, **_: Any) -> "QsprojComponent":
        """Load the model from a folder."""
        self._model = _loaded(ensure_path(path) / MODEL_FILE)
        return self


class ModelTokenizer(DummyTokenizer):
    """A tokenizer by a model, which the component saves; multiword tokens are split into words. Final."""

    def __init__(self, component: QsprojComponent) -> None:
        self.component = component

    def __call__(self, text: str) -> Doc:
        """Return a Doc of words with sentence starts; multiword tokens are kept for ``from_spacy``."""
        sentences = list(self.component.annotator.cut(text))
        words = [form for sentence in sentences for form in sentence.forms]
        starts: list[bool | int | None] = [at == 0 for sentence in sentences for at in range(len(sentence))]
        spaces = [*spaces_of(sentences)[:-1], text[-1:].isspace()] if words else []
        several = any(one.multiword_tokens for one in sentences)
        data = {USER_DATA: [one.to_conllu() for one in sentences if several]}
        return Doc(self.component.vocab, words=words, spaces=spaces, sent_starts=starts, user_data=data)


def _part(words: Sentence, begin: int, end: int) -> Sentence:
    misc = [token.misc for token in words][begin:end]
    columns = {name: getattr(words, name)[begin:end] for name in ("lemmas", "upos", "xpos", "feats")}
    return Sentence.from_words(words.forms[begin:end], misc=misc, **columns)


def _loaded(path: str | Path) -> Annotator:
    model: Any = load_model(path)
    if not hasattr(model, "parse") and not hasattr(model, "tag"):
        raise UsageError(f"{path}: found {model!r}, expected a parser, a tagger or a text model")
    return model
