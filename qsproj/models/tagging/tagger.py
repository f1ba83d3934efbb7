"""Part-of-speech tagger: a linear-chain conditional random field over sparse features of words in context."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import chain
from typing import Any, cast

import numpy as np

from qsproj.conventions import Floats, Hashes, Mask, Numbers, Weights
from qsproj.corpus.cells import UNSPECIFIED
from qsproj.corpus.characters import MOST_CACHED, lower_form, lower_letters, plain_form
from qsproj.corpus.editing import TAG_PROBABILITY, with_columns, with_forms, with_probabilities
from qsproj.corpus.language.sentence_ends import read_running_text, rule_starts
from qsproj.corpus.sentence import Sentence, check_sentence
from qsproj.corpus.text import lines_of, read_text
from qsproj.errors import SentenceError, UsageError, check_name
from qsproj.features.hashing import FeatureIndex
from qsproj.features.tagging import SPELLING, Classes, WordTable, as_one, compiled, likely_tags
from qsproj.kernels.tagging.linear_chain import add_emissions, posterior, viterbi
from qsproj.kernels.tagging.tag_features import feature_keys
from qsproj.models import schema
from qsproj.models.chains import packed_chain, stored_chain
from qsproj.models.morphology.analyses import SIGNS, feature_pairs
from qsproj.models.morphology.morphology import Morphology
from qsproj.models.packing import joined, unnested
from qsproj.models.parser import BLOCK
from qsproj.models.storage import Stored
from qsproj.models.tokens.splitter import Splitter
from qsproj.models.tokens.tokenizer import Tokenizer, Tokens
from qsproj.parallel import blocks_of

# Subtracted from the potentials of tags that words of unknown characters and unknown signs rarely have.
FOREIGN = 20.0
UNLISTED = 100.0  # the same for tags that a list of words with their tags does not have
# Optional fields of a tagger, each with arrays under its name.
PARTS: dict[str, Any] = {"tokenizer": Tokenizer, "splitter": Splitter, "morphology": Morphology}
UPOS_COLUMN = "upos"
TagWords = Callable[[tuple[str, ...]], tuple[str, ...]]  # returns the tags of a sentence of words
# The reranker's tag for wrongly cut words; no treebank has one with spaces.
NOT_A_WORD = "not a word"
# Number of segmentations to rerank. Their score is their log probability plus, for each word, EACH_WORD and
# OF_WORDS times its log probability of being a word: docs/notes/words-and-tags.md.
SEGMENTATIONS = 10
EACH_WORD = 0.5
OF_WORDS = 0.7
MOST_SURE = 1.0 - 1e-9  # largest probability of not being a word


class FeatureExtractor:
    """Extractor of feature keys from words, by templates and sets of word classes."""

    def __init__(self, templates: tuple[str, ...], class_sets: Mapping[str, Classes]) -> None:
        self.templates = templates
        self.class_sets = class_sets
        self._compiled = compiled(templates, tuple(class_sets))
        self._table = WordTable(class_sets)
        # Columns of the features of a word's spelling, and of its whole form.
        self.of_spelling = np.flatnonzero(np.isin(templates, SPELLING))
        self.of_form = [at for at, name in enumerate(templates) if name in ("form", "lower")]

    def keys(self, forms: Sequence[str]) -> Hashes:
        """Return the features of the words of a sentence, or of several :func:`as_one`."""
        words = self._table.encode(forms)
        keys = np.empty((len(forms), len(self._compiled)), dtype=np.uint64)
        feature_keys(self._table.attributes, words, self._compiled, keys)
        return keys


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Tagger(Stored):
    """A trained tagger; :func:`qsproj.models.tagging.tagger_training.train_tagger` makes one.

    ``weights`` float32[R, T]: natural-log potentials of the R features in ``index``, with the precision of
    :func:`~qsproj.models.packing.in_half_the_bytes`. ``transitions`` float64[T+1, T]: those of [previous tag,
    tag]; row T is for the first tag. ``contractions``: lower-cased token to lower-cased words. ``language``:
    its code; None: unknown. ``undoubted``: share of tags in new text that are wrong without a doubt of the
    tagger. ``unshared``: tag and relation of words that the sources annotate by another convention; None:
    unknown. ``listed``: the only tags of words, by plain form, or in lower case for all casings.
    ``tokenizer``, ``splitter``, ``morphology``: each where the treebanks had what it predicts.
    ``judge``: scores candidate words where a script puts no spaces between them.
    """

    tags: tuple[str, ...]
    extractor: FeatureExtractor
    index: FeatureIndex
    weights: Weights
    transitions: Floats
    contractions: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    language: str | None = None
    undoubted: float = 0.0
    unshared: Mapping[str, tuple[str, str]] | None = None
    listed: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    tokenizer: Tokenizer | None = None
    splitter: Splitter | None = None
    morphology: Morphology | None = None
    judge: "Tagger | None" = None
    # Cache by form: the amounts subtracted from the potentials of its tags, float64[T], or None.
    _penalties: dict[str, Floats | None] = field(default_factory=dict, init=False, repr=False)

    def read(
        self,
        lines: Iterable[str],
        *,
        language: str | None = None,
        split_contractions: bool = False,
        paragraphs: bool = False,
        segmentations: int | None = None,
        name: str = "text",
    ) -> Iterator[Sentence]:
        """Yield one sentence for each line of plain text, cut into words and not yet tagged.

        Without a trained tokeniser, or for a ``language`` that is not that of the model, rules cut it;
        ``split_contractions``: then split tokens as the training treebanks did. ``paragraphs``: see
        :func:`qsproj.corpus.language.sentence_ends.paragraphs`. ``segmentations``: see
        :meth:`qsproj.models.tokens.tokenizer.Tokenizer.read`. Raises UsageError without tokeniser and
        language, or for several segmentations by rules or over lines; DataError where rules cannot cut.
        """
        in_own_language = language in (None, self.language)
        if segmentations is not None:
            if self.tokenizer is None or not in_own_language:
                raise UsageError("several segmentations need a model with a trained tokenizer")
            if paragraphs:
                raise UsageError("several segmentations need one sentence per line, not running text")
            return self.tokenizer.read(lines, name=name, segmentations=segmentations)
        read = self.reader(language=language, split_contractions=split_contractions, name=name)
        if not paragraphs:
            return read(lines)
        if self.splitter is not None and in_own_language:
            return read_running_text(lines, read, self.splitter.starts)
        return read_running_text(lines, read, partial(rule_starts, language=language or self.language))

    def reader(
        self, *, language: str | None = None, split_contractions: bool = False, name: str = "text"
    ) -> Callable[[Iterable[str]], Iterator[Sentence]]:
        """Return a function that cuts lines as :meth:`read` does; it pickles without the tagger's weights."""
        if self.tokenizer is not None and language in (None, self.language):
            return partial(self.tokenizer.read, name=name, cut=self._cut if self.judge else None)
        code = language or self.language
        if code is None:
            raise UsageError("plain text needs --language CODE: the model was trained without")
        contractions = self.contractions if split_contractions else None
        return partial(read_text, language=code, contractions=contractions, name=name)

    def _cut(self, text: str) -> Tokens:
        tokenizer, judge = cast(Tokenizer, self.tokenizer), cast(Tagger, self.judge)

        def liking(way: tuple[Tokens, float]) -> float:
            emissions = judge.emissions([word for _, words in way[0] for word in words])
            none = judge.marginals(emissions)[:, judge.tags.index(NOT_A_WORD)]
            of_words = EACH_WORD + OF_WORDS * np.log1p(-np.minimum(none, MOST_SURE))
            return float(np.log(way[1]) + of_words.sum())

        return max(tokenizer.segmentations(text, SEGMENTATIONS), key=liking)[0]

    def tag_words(self, forms: tuple[str, ...]) -> tuple[str, ...]:
        """Return the most probable sequence of tags. O(n (K T + T^2)) time for K templates."""
        return next(self.tag_block([forms]))

    def tag_block(self, sentences: Iterable[Sequence[str]]) -> Iterator[tuple[str, ...]]:
        return map(self.best_tags, self.scored(sentences))

    def best_tags(self, emissions: Floats) -> tuple[str, ...]:
        return tuple([self.tags[tag] for tag in self.best_numbers(emissions).tolist()])

    def best_numbers(self, emissions: Floats) -> Numbers:
        tags = np.empty(len(emissions), dtype=np.int32)
        if len(emissions):
            viterbi(emissions, self.transitions, tags)
        return tags

    @property
    def columns(self) -> tuple[str, ...]:
        return UPOS_COLUMN, *(self.morphology.columns if self.morphology is not None else ())

    def tag(
        self, sentence: Sentence, *, confidence: bool = False, columns: Sequence[str] | None = None
    ) -> Sentence:
        """Return the sentence with UPOS and other trained columns replaced; everything else is unchanged.

        ``confidence``: ``TagProb=`` and ``FeatProb=`` (given the tag) in MISC. ``columns``: replace only
        these; without ``upos``, by the tags of the sentence. Raises UsageError for a column that the model
        does not fill; SentenceError for a word left untagged.
        """
        return next(self.tag_all([sentence], confidence=confidence, columns=columns))

    def tag_all(
        self, sentences: Iterable[Sentence], *, confidence: bool = False, columns: Sequence[str] | None = None
    ) -> Iterator[Sentence]:
        """Tag sentences in order, as :meth:`tag`, but faster; an error concerns the one last taken."""
        wanted = self.columns if columns is None else tuple(columns)
        for column in wanted:
            check_name("column of this model", column, self.columns)
        for block in blocks_of(map(partial(self._input_checked, wanted), sentences), BLOCK):
            if UPOS_COLUMN in wanted:
                scored = self.scored(one.forms for one in block)
                block = list(map(partial(self._tagged, confidence=confidence), block, scored))
            yield from self.with_morphology(block, columns=wanted, confidence=confidence)

    @staticmethod
    def _input_checked(wanted: Sequence[str], sentence: Sentence) -> Sentence:
        check_sentence(sentence, most=None)
        if UPOS_COLUMN not in wanted and UNSPECIFIED in sentence.upos:
            word = sentence.upos.index(UNSPECIFIED) + 1
            found = f"no UPOS on word {word} ({sentence.forms[word - 1]!r})"
            expected = "tags, as upos is not among the columns"
            raise SentenceError(found=found, expected=expected, remedy="add upos to the columns", word=word)
        return sentence

    def _tagged(self, sentence: Sentence, emissions: Floats, *, confidence: bool) -> Sentence:
        numbers = self.best_numbers(emissions)
        tagged = with_columns(sentence, upos=[self.tags[number] for number in numbers.tolist()])
        if not confidence:
            return tagged
        probabilities = self.tag_distribution(sentence, emissions)[np.arange(len(sentence)), numbers]
        return with_probabilities(tagged, TAG_PROBABILITY, probabilities)

    def with_morphology(self, sentences: Sequence[Sentence], **options: Any) -> Iterable[Sentence]:
        """Return a block of tagged sentences with other trained columns: see :meth:`Morphology.fill`."""
        if self.morphology is None:
            return sentences
        filled = self.morphology.fill(
            [with_forms(one, self.recased(one.forms)) for one in sentences], **options
        )
        return (with_forms(one, own.forms) for one, own in zip(filled, sentences, strict=True))

    def parse(self, sentence: Sentence, *, confidence: bool = False) -> Sentence:
        return self.tag(sentence, confidence=confidence)

    def cut(self, text: str) -> Iterator[Sentence]:
        """Return the sentences of running text, cut into words and not yet tagged; see :meth:`read`."""
        if self.tokenizer is None and self.language is None:
            called = "call it with sentences: qsproj.Sentence.from_words(words)"
            found = "found a text, and the tagger does not know its language"
            raise UsageError(f"{found}; train it with language=CODE, or {called}")
        return self.read(lines_of(text), paragraphs=True, split_contractions=True)

    def tag_distribution(self, sentence: Sentence, emissions: Floats | None = None) -> Floats:
        """Return p(tag of word i is t given the words), float64[n, T], tags as in ``tags``."""
        return self.marginals(self.emissions(sentence.forms) if emissions is None else emissions.copy())

    def marginals(self, emissions: Floats) -> Floats:
        """Return the :meth:`tag_distribution` of a sentence by its potentials, which are overwritten."""
        marginals = np.empty_like(emissions)
        if len(emissions):
            posterior(emissions, self.transitions, marginals, np.zeros_like(self.transitions))
        return marginals

    def emissions(self, forms: Sequence[str]) -> Floats:
        """Return the tag potentials of a sentence, float64[n, T], natural log."""
        return next(self.scored([forms]))

    def _emissions(self, forms: Sequence[str]) -> Floats:
        """Return :meth:`emissions` of several sentences :func:`as_one`."""
        emissions = np.empty((len(forms), len(self.tags)))
        rows = self.index.rows(self.extractor.keys(forms))
        add_emissions(rows, self.weights, emissions)
        known = self._penalties
        for word, form in enumerate(forms):
            if self.listed or not (form.isascii() and form.isalnum()):
                if form not in known:
                    if len(known) >= MOST_CACHED:
                        known.clear()
                    known[form] = self._penalty(form, rows[word])
                if (penalty := known[form]) is not None:
                    emissions[word] -= penalty
        return emissions

    def _penalty(self, form: str, rows: Numbers) -> Floats | None:
        """Return the amounts subtracted from the potentials of a word with features ``rows``; None: 0."""
        listed = self.listed.get(plain_form(form)) or self.listed.get(lower_form(form)) or ()
        if allowed := {*listed}.intersection(self.tags):
            return np.array([0.0 if tag in allowed else UNLISTED for tag in self.tags])
        likely, of_spelling = likely_tags(form), rows[self.extractor.of_spelling]
        if likely and likely[0] in SIGNS:
            of_form = rows[self.extractor.of_form]
            learned = self.weights[of_form[of_form >= 0]].sum(axis=0)
            if not learned.any():
                likely = tuple(tag for tag in likely if tag in self.tags)[:1]
            elif self.tags[int(learned.argmax())] not in likely:
                likely = ()
        elif likely and likely[0] != "NUM" and not (len(of_spelling) and (of_spelling < 0).all()):
            likely = ()
        return np.array([0.0 if tag in likely else FOREIGN for tag in self.tags]) if likely else None

    def scored(self, sentences: Iterable[Sequence[str]]) -> Iterator[Floats]:
        """Yield the :meth:`emissions` of each sentence, computed in blocks."""
        for block in blocks_of(map(self.recased, sentences), BLOCK):
            forms, places = as_one(block)
            yield from map(self._emissions(forms).__getitem__, places)

    def recased(self, forms: Sequence[str]) -> Sequence[str]:
        """Return words that are all in capitals in the casing of training; other sentences as they are.

        Of three casings, that of the most confident tags: as written, or with known words as training has
        them, and the others in lower case or as written.
        """
        if not "".join(forms).isupper() or "form" not in self.extractor.templates:
            return forms
        lettered = [form for form in forms if any(map(str.isalpha, form))]
        # Scripts without casing are not in capitals, nor is a single acronym.
        if not all(map(str.isupper, lettered)) or sum(len(form) > 1 for form in lettered) < 2:
            return forms
        lower = partial(lower_letters, language=self.language)
        cased = [(lower(form), form[:1] + lower(form[1:]), form) for form in forms]
        rows = self.index.rows(self.extractor.keys([*chain.from_iterable(cased)]))
        seen = rows[:, self.extractor.templates.index("form")].reshape(-1, 3) >= 0
        ways = [tuple(forms)]
        for other in (0, 2):
            places = np.where(seen.any(axis=1), seen.argmax(axis=1), other).tolist()
            ways.append(tuple(own[place] for own, place in zip(cased, places, strict=True)))
        return max(ways, key=lambda way: float(self.marginals(self._emissions(way)).max(axis=1).mean()))

    def knows(self, forms: tuple[str, ...]) -> Mask:
        """Return for each word whether it was seen in training, in any casing: bool[n]."""
        rows = self.index.rows(self.extractor.keys(forms))
        return np.asarray((rows[:, self.extractor.of_form] >= 0).any(axis=1))

    def to_archive(self) -> schema.Archive:
        header: dict[str, Any] = {
            "tags": list(self.tags),
            "templates": list(self.extractor.templates),
            "class_sets": list(self.extractor.class_sets),
            "contractions": {token: list(words) for token, words in self.contractions.items()},
            "language": self.language,
        }
        if self.undoubted:
            header["undoubted"] = self.undoubted
        if self.unshared is not None:
            header["unshared"] = {name: list(annotation) for name, annotation in self.unshared.items()}
        if self.listed:
            header["listed"] = {word: list(tags) for word, tags in self.listed.items()}
        arrays = packed_chain(self)
        for name, classes in self.extractor.class_sets.items():
            arrays[f"{name}.words"] = np.frombuffer("\n".join(classes).encode("utf-8"), dtype=np.uint8)
            arrays[f"{name}.classes"] = np.array(list(classes.values()), dtype=np.int32)
        there = {name: (f"{name}.", part) for name in PARTS if (part := getattr(self, name)) is not None}
        parts, own = joined(there)
        return header | parts, arrays | own

    @staticmethod
    def described(header: Mapping[str, Any]) -> dict[str, Any]:
        tokens = "rules of the language" if header["language"] else "rules of a language to be named"
        learned = "learned from a treebank" + (", words with their tags" if header.get("judge") else "")
        facts = {
            "language": header["language"],
            "tags": header["tags"],
            "word_classes": header["class_sets"],
            "contractions": len(header["contractions"]),
            **({"listed_words": len(header["listed"])} if header.get("listed") else {}),
            "tokens": tokens if header.get("tokenizer") is None else learned,
            "sentences": "by rules" if header.get("splitter") is None else "learned from a treebank",
        }
        if (morphology := header.get("morphology")) is not None:
            pairs = (pair for *_, feats in morphology["analyses"] for pair in feature_pairs(feats))
            facts["columns"] = [UPOS_COLUMN, *morphology["columns"]]
            facts["features"] = sorted({attribute for attribute, _ in pairs})
        return facts

    @classmethod
    def from_archive(cls, header: Mapping[str, Any], arrays: schema.Arrays) -> "Tagger":
        fields = {"tags": schema.labels(1), "language": schema.optional(schema.text)}
        fields |= {"templates": schema.names, "class_sets": schema.names, "contractions": schema.word_lists}
        fields |= {"undoubted": schema.optional(schema.number(0.0, 1.0))}
        fields |= {name: schema.optional(schema.word_lists) for name in ("unshared", "listed")}
        schema.checked(header, fields)
        class_sets = {}
        for name in header["class_sets"]:
            words = schema.lines_of(arrays, f"{name}.words")
            classes = schema.shaped(arrays, f"{name}.classes", (len(words),), kind="i")
            class_sets[name] = dict(zip(words, classes.tolist(), strict=True))
        parts: dict[str, Any] = {
            name: kind.from_archive(header[name], unnested(f"{name}.", arrays))
            for name, kind in PARTS.items()
            if header.get(name) is not None
        }
        if "judge" in parts and NOT_A_WORD not in parts["judge"].tags:
            raise ValueError(f"the segmentation reranker has no tag {NOT_A_WORD!r}")
        parts |= stored_chain(arrays, len(header["tags"]))
        parts["contractions"] = {token: tuple(words) for token, words in header["contractions"].items()}
        parts["undoubted"] = header.get("undoubted") or 0.0
        if (unshared := header.get("unshared")) is not None:
            parts["unshared"] = {name: (tag, relation) for name, (tag, relation) in unshared.items()}
        parts["listed"] = {word: tuple(tags) for word, tags in (header.get("listed") or {}).items()}
        extractor = FeatureExtractor(tuple(header["templates"]), class_sets)
        return cls(tags=tuple(header["tags"]), extractor=extractor, language=header["language"], **parts)


PARTS["judge"] = Tagger
