"""Lemmas, features and XPOS of words whose UPOS is known: a chain over analyses, then lemmas."""

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from itertools import chain, compress, product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from qsproj.conventions import Floats, Hashes, Weights
from qsproj.corpus.cells import UNSPECIFIED
from qsproj.corpus.characters import composed_as, lower_form, plain_form, remembered
from qsproj.corpus.editing import FEATURE_PROBABILITY, with_columns, with_probabilities
from qsproj.corpus.sentence import Sentence
from qsproj.features import tagging
from qsproj.features.hashing import FeatureIndex, stable_hash
from qsproj.kernels.tagging import analyses as kernels
from qsproj.kernels.tagging.tag_features import feature_keys
from qsproj.models import schema
from qsproj.models.morphology.analyses import (
    Analysis,
    AnalysisTable,
    Attributes,
    analysis_table,
    shared_features,
)
from qsproj.models.morphology.inherent import Inherent, inherent_features
from qsproj.models.morphology.lemma_rules import PARTNERS, LemmaRules, lemma_rules
from qsproj.models.morphology.lemmatizer import EditScript, Lemmatizer, Word
from qsproj.models.packing import packed_weights, unpack_weights

# The columns that can be trained, and the fields of a sentence that hold them.
COLUMNS = {"lemma": "lemmas", "xpos": "xpos", "feats": "feats"}
PLACES = 8  # candidates of a word that enter the chain
# Lemmas of candidates whose score is lower than the best one's by more, natural log, are not looked up.
CLOSE = 3.0
TEMPLATES = (
    *tagging.WORD_TEMPLATES,
    *tagging.LONG_SUFFIXES,
    *("tag & lower", "tag & suffix2", "tag & suffix3", "tag & suffix4"),
    *("tag & suffix5", "tag & suffix6"),
    *("tag-1 & tag", "tag & tag+1", "tag-1 & tag+1", "tag-2 & tag-1", "tag+1 & tag+2"),
    *("tag-1 & suffix2", "tag-1 & suffix3", "tag-1 & suffix4", "tag+1 & suffix2", "tag+1 & suffix3"),
)
# For treebanks with lemmas: agglutinated words of unknown forms begin with known lemmas.
STEM_TEMPLATES = (*tagging.STEM_AND_ENDING, "tag & ending")
# Analyses and scripts of a form under a UPOS, with the count of each.
Entries = Sequence[tuple[int, int, int]]
Lexicon = Mapping[tuple[str, str], Entries]  # by form and UPOS
NO_SCRIPT = -1
# Words as the kernels read them, see :mod:`qsproj.kernels.tagging.analyses`.
Encoded = tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]
# Candidates int64[n, PLACES], potentials float64[n, PLACES], those of neighbours float64[n, PLACES, PLACES].
Lattice = tuple[NDArray[np.int64], Floats, Floats]


class AnalysisFeatures:
    """Extractor of feature keys from words and their UPOS, by templates; ``lemmas``: see WordTable."""

    def __init__(self, templates: tuple[str, ...], lemmas: Mapping[str, str]) -> None:
        self.templates = templates
        self._compiled = tagging.compiled(templates, ("tag",))
        self._table = tagging.WordTable({}, lemmas if set(STEM_TEMPLATES) & set(templates) else None)

    def keys(self, forms: Sequence[str], upos: Sequence[str]) -> Hashes:
        """Return the features of the words of a sentence, or of several :func:`as_one`."""
        words = self._table.encode(forms)
        codes = {tag: stable_hash(f"tag {tag}") | 1 for tag in set(upos)}
        tags = np.array([codes[tag] for tag in upos], dtype=np.uint64)
        attributes = np.column_stack([self._table.attributes[words], tags])
        keys = np.empty((len(forms), len(self._compiled)), dtype=np.uint64)
        places = np.where(words < 0, words, np.arange(len(forms), dtype=np.int32))
        feature_keys(attributes, places, self._compiled, keys)
        return keys


@dataclass(frozen=True, slots=True, eq=False)
class AnalysisWeights:
    """Weights of the chain over analyses, natural log."""

    index: FeatureIndex
    emissions: Weights  # float32[R, P]: of the R features of ``index`` and parts
    transitions: Floats  # float64[1, X]: of values of an attribute in neighbours
    support: Floats  # float64[L, L]: :mod:`qsproj.kernels.tagging.analyses`


@dataclass(frozen=True, eq=False, kw_only=True)
class Morphology:
    """Predictor of lemma, XPOS and FEATS of words with UPOS; ``train_morphology`` makes one."""

    columns: tuple[str, ...]
    table: AnalysisTable
    # By form and UPOS, the treebank's analyses, each with the number of its edit script or NO_SCRIPT, and
    # count; 0 where only a list of lemmas has it.
    lexicon: Lexicon
    scripts: tuple[EditScript, ...]
    features: AnalysisFeatures
    weights: AnalysisWeights | None = None  # None where UPOS alone determines the analysis
    lemmatizer: Lemmatizer | None = None  # for words missing from the lexicon
    # Cache by form and UPOS: analyses and counts in alternation, as the kernels read them.
    _known: dict[tuple[str, str], tuple[int, ...]] = field(default_factory=dict, init=False, repr=False)
    # Cache by form and analysis: see :meth:`_against`.
    _opposed: dict[tuple[str, int], float] = field(default_factory=dict, init=False, repr=False)

    def fill(
        self,
        sentences: Sequence[Sentence],
        *,
        columns: Collection[str] = COLUMNS,
        anew: bool = True,
        confidence: bool = False,
    ) -> Iterator[Sentence]:
        """Yield sentences with trained columns, only empty ones unless ``anew``; ``confidence``: FeatProb."""
        asked, empty = [column for column in self.columns if column in columns], {UNSPECIFIED}
        wanted = [
            [name for name in asked if anew or set(getattr(one, COLUMNS[name])) <= empty] for one in sentences
        ]
        lattices = iter(self._lattices(list(compress(sentences, wanted))))
        for sentence, own in zip(sentences, wanted, strict=True):
            if not own:
                yield sentence
                continue
            lattice = next(lattices)
            analyses = self._best(lattice, sentence.upos)
            cells = {name: [getattr(one, name) for one in analyses] for name in own if name != "lemma"}
            if "lemma" in own:
                rows = zip(sentence.forms, analyses, strict=True)
                cells["lemmas"] = [composed_as(form, self.lemma(plain_form(form), one)) for form, one in rows]
            filled = with_columns(sentence, **cells)
            if confidence and "feats" in own:
                chances = self._probabilities(lattice, sentence.upos, filled.feats)
                filled = with_probabilities(filled, FEATURE_PROBABILITY, chances)
            yield filled

    def analyses(self, forms: Sequence[str], upos: Sequence[str]) -> list[Analysis]:
        """Return the best sequence of analyses under the tags; empty ones for tags not seen in training."""
        return self._best(self._lattice(forms, upos), upos)

    def _best(self, lattice: Lattice | None, upos: Sequence[str]) -> list[Analysis]:
        known, ranges = self.table.analyses, self.table.ranges
        numbers = [ranges.get(tag, (0, 1))[0] for tag in upos]
        if lattice is not None:
            candidates, scores, links = lattice
            best = np.empty(len(upos), dtype=np.int64)
            kernels.best_candidates(scores, links, best)
            numbers = candidates[np.arange(len(upos)), best].tolist()
        return [
            known[number] if tag in ranges else Analysis(tag, UNSPECIFIED, UNSPECIFIED)
            for number, tag in zip(numbers, upos, strict=True)
        ]

    def feature_probabilities(
        self, forms: Sequence[str], upos: Sequence[str], feats: Sequence[str]
    ) -> Floats:
        return self._probabilities(self._lattice(forms, upos), upos, feats)

    def _probabilities(self, lattice: Lattice | None, upos: Sequence[str], feats: Sequence[str]) -> Floats:
        if lattice is None:
            return np.ones(len(feats))
        candidates, scores, links = lattice
        marginals, pairs = np.empty_like(scores), np.empty_like(links)
        kernels.candidate_posterior(scores, links, marginals, pairs)
        known = self.table.analyses
        rows = zip(candidates.tolist(), feats, strict=True)
        same = np.array([[known[number].feats == cell for number in row] for row, cell in rows])
        seen = [tag in self.table.ranges for tag in upos]
        return np.where(seen, (marginals * same).sum(axis=1), [float(cell == UNSPECIFIED) for cell in feats])

    def lemma(self, form: str, analysis: Analysis) -> str:
        """Return the commonest lemma of form and analysis, else of form and UPOS, else the likeliest one.

        Unknown words with a known form of a partner of their UPOS have the lemma of that form.
        """
        tags = analysis.upos, *PARTNERS.get(analysis.upos, ())
        for tag, known in product(tags, (form, form.lower())):
            entries = self.lexicon.get((known, tag), ())
            same = [entry for entry in entries if self.table.analyses[entry[0]] == analysis]
            made = [entry for entry in same or entries if entry[1] != NO_SCRIPT]
            if made:
                best = made[0] if len(made) == 1 else max(made, key=lambda one: self._fitness(one, analysis))
                return self.scripts[best[1]].apply(known) or form
        if self.lemmatizer is None:
            return UNSPECIFIED
        return self._rules.improved(form, analysis.upos, self.lemmatizer.lemma(Word(form, analysis)))

    def _fitness(self, entry: tuple[int, int, int], analysis: Analysis) -> tuple[tuple[int, int], int]:
        return shared_features(analysis.feats, self.table.analyses[entry[0]].feats), entry[2]

    def encoded(self, forms: Sequence[str], upos: Sequence[str]) -> Encoded:
        ranges = np.array([self.table.ranges.get(tag, (0, 1)) for tag in upos], dtype=np.int64)
        seen, known = [0], list[int]()
        for word in zip(forms, upos, strict=True):
            counts = remembered(self._known, word, partial(self._counts, *word))
            known += counts
            seen.append(len(known) // 2)
        return ranges, np.array(seen), np.array(known, dtype=np.int64).reshape(-1, 2)

    def _counts(self, form: str, tag: str) -> tuple[int, ...]:
        form, counts = plain_form(form), Counter[int]()
        for known in (form, form.lower()):
            for analysis, _, count in self.lexicon.get((known, tag), ()):
                if count:
                    counts[analysis] += count
            if counts:
                break
        return tuple(chain.from_iterable(counts.items()))

    def _lattice(self, forms: Sequence[str], upos: Sequence[str]) -> Lattice | None:
        n, weights = len(forms), self.weights
        if weights is None or not forms:
            return None
        emissions = np.empty((n, self.table.n_parts))
        rows, words = weights.index.rows(self.features.keys(forms, upos)), self.encoded(forms, upos)
        kernels.add_distinctive(rows, weights.emissions, self.table.chain, words, emissions)
        candidates = np.empty((n, PLACES), dtype=np.int64)
        scores, links = np.empty((n, PLACES)), np.empty((n, PLACES, PLACES))
        unknown = np.full(n, kernels.NO_ANALYSIS)
        kernels.propose(emissions, self.table.chain, words, weights.support, unknown, candidates, scores)
        if self._inherent.odds:
            self._oppose(forms, candidates, scores)
        kernels.link(candidates, scores, self.table.chain, weights.transitions[0], links)
        return candidates, scores, links

    def _oppose(self, forms: Sequence[str], candidates: NDArray[np.int64], scores: Floats) -> None:
        """Lower the scores of candidates whose features contradict what is known of their lemmas."""
        # Others count as if they had the features of the best candidate.
        close = np.where(scores > scores[:, :1] - CLOSE, candidates, candidates[:, :1])
        kinds = self._kinds[close]
        for word in np.flatnonzero((kinds != kinds[:, :1]).any(axis=1)).tolist():
            against: dict[int, float] = {}
            # Analyses with the same inherent features have the lemma of the likeliest one.
            for kind, number in zip(kinds[word].tolist(), close[word].tolist(), strict=True):
                if kind not in against:
                    against[kind] = self._against(forms[word], number)
            scores[word] -= [against[kind] for kind in kinds[word].tolist()]

    def _against(self, form: str, number: int) -> float:
        """Return the log-odds against an analysis of a word by what is known of the lemma it would have."""

        def found() -> float:
            analysis = self.table.analyses[number]
            return self._inherent.against(analysis, self.lemma(plain_form(form), analysis).lower())

        return remembered(self._opposed, (form, number), found)

    def _words(self) -> Iterator[tuple[str, Analysis, str]]:
        """Yield the forms of the treebank with their analyses and lemmas."""
        for (form, _), entries in self.lexicon.items():
            for analysis, script, count in entries:
                if script != NO_SCRIPT and count:
                    yield form, self.table.analyses[analysis], self.scripts[script].apply(form) or form

    @cached_property
    def _rules(self) -> LemmaRules:
        return lemma_rules((form, analysis.upos, lemma) for form, analysis, lemma in self._words())

    @cached_property
    def _inherent(self) -> Inherent:
        return inherent_features((form, lemma.lower(), analysis) for form, analysis, lemma in self._words())

    @cached_property
    def _kinds(self) -> NDArray[np.int64]:
        """The number of the inherent features of each analysis, int64[A+1]; the last is that of no word."""
        kinds: dict[Attributes, int] = {}
        found = (kinds.setdefault(self._inherent.of(one), len(kinds)) for one in self.table.analyses)
        return np.array([*found, len(kinds)], dtype=np.int64)

    def _lattices(self, sentences: Sequence[Sentence]) -> list[Lattice | None]:
        forms, places = tagging.as_one(one.forms for one in sentences)
        whole = self._lattice(forms, tagging.as_one(one.upos for one in sentences)[0])
        if whole is None:
            return [None] * len(places)
        candidates, scores, links = whole
        return [(candidates[at], scores[at], links[at]) if at.start < at.stop else None for at in places]

    def to_archive(self) -> schema.Archive:
        forms = sorted({form for form, _ in self.lexicon})
        place = {form: number for number, form in enumerate(forms)}
        entries = sorted((place[form], *entry) for (form, _), own in self.lexicon.items() for entry in own)
        header: dict[str, Any] = {
            "columns": list(self.columns),
            "analyses": [list(analysis) for analysis in self.table.analyses],
            "fused": self.table.fused,
            "scripts": [list(script) for script in self.scripts],
            "templates": list(self.features.templates) if self.weights is not None else [],
        }
        arrays: dict[str, NDArray[Any]] = {
            "forms": np.frombuffer("\n".join(forms).encode("utf-8"), dtype=np.uint8),
            "entries": np.array(entries, dtype=np.int32).reshape(-1, 4),
        }
        if self.weights is not None:
            arrays |= {
                "keys": self.weights.index.keys,
                "transitions": self.weights.transitions,
                "support": self.weights.support,
                **packed_weights("emissions.", self.weights.emissions.astype(np.float16)),
            }
        if self.lemmatizer is not None:
            header["allowed"] = {upos: list(scripts) for upos, scripts in self.lemmatizer.allowed.items()}
            header["buckets"] = len(self.lemmatizer.weights)
            arrays |= packed_weights("lemmas.", self.lemmatizer.weights.astype(np.float16))
        return header, arrays

    @staticmethod
    def from_archive(header: Mapping[str, Any], arrays: schema.Arrays) -> "Morphology":
        schema.checked(header, {"columns": schema.some_of(COLUMNS), "analyses": schema.text_rows(3)})
        fields = {"scripts": schema.text_rows(5), "templates": schema.names, "fused": schema.flag}
        schema.checked(header, fields)
        table = analysis_table((Analysis(*row) for row in header["analyses"]), fused=header["fused"])
        if [list(analysis) for analysis in table.analyses] != header["analyses"]:
            raise ValueError("the analyses in the header are not sorted, or not unique")
        scripts = tuple(EditScript.from_fields(row) for row in header["scripts"])
        lexicon = _stored_lexicon(arrays, table, len(scripts))
        lemmas = known_lemmas(lexicon, scripts)
        weights = None
        if header["templates"]:
            index = FeatureIndex(schema.ascending(arrays, "keys", np.uint64, least=1))
            emissions = np.zeros((len(index.keys), table.n_parts), dtype=np.float32)
            unpack_weights("emissions.", arrays, emissions)
            transitions = schema.shaped(arrays, "transitions", (1, table.n_pairs))
            support = schema.shaped(arrays, "support", (kernels.LEVELS,) * 2)
            weights = AnalysisWeights(index, emissions, transitions, support)
        lemmatizer = None
        if "allowed" in header:
            schema.checked(header, {"buckets": schema.buckets})
            of_scripts = unpack_weights("lemmas.", arrays, np.zeros(header["buckets"], dtype=np.float32))
            allowed = _stored_scripts(header["allowed"], len(scripts))
            lemmatizer = Lemmatizer(scripts, allowed, lemmas, of_scripts)
        return Morphology(
            columns=tuple(header["columns"]),
            table=table,
            lexicon=lexicon,
            scripts=scripts,
            features=AnalysisFeatures(tuple(header["templates"]) or TEMPLATES, lemmas),
            weights=weights,
            lemmatizer=lemmatizer,
        )


def known_lemmas(lexicon: Lexicon, scripts: Sequence[EditScript]) -> dict[str, str]:
    found: dict[str, str] = {}
    for form, script in {(form, script) for (form, _), own in lexicon.items() for _, script, _ in own}:
        if script != NO_SCRIPT:
            lower = lower_form(form)
            lemma = plain_form(scripts[script].apply(form) or form)
            found[lemma] = lower if found.get(lemma, lower) == lower else ""
    return found


def _stored_lexicon(arrays: schema.Arrays, table: AnalysisTable, n_scripts: int) -> Lexicon:
    forms = schema.lines_of(arrays, "forms")
    entries = arrays["entries"]
    schema.shaped(arrays, "entries", (len(entries), 4), kind="i")
    most = np.array([len(forms), len(table.analyses), n_scripts, np.iinfo(np.int32).max])
    if len(entries) and not ((entries >= [0, 0, NO_SCRIPT, 0]) & (entries < most)).all():
        raise ValueError("the lexicon names a form, analysis or script that is not there")
    lexicon: dict[tuple[str, str], list[tuple[int, int, int]]] = {}
    for form, analysis, script, count in entries.tolist():
        key = forms[form], table.analyses[analysis].upos
        lexicon.setdefault(key, []).append((analysis, script, count))
    return lexicon


def _stored_scripts(header: Any, n_scripts: int) -> dict[str, tuple[int, ...]]:
    if not isinstance(header, dict):
        raise ValueError("found no object of scripts in the header")
    known = range(n_scripts)
    for numbers in header.values():
        if not isinstance(numbers, list) or not all(type(one) is int and one in known for one in numbers):
            raise ValueError("the header names an edit script that is not there")
    return {upos: tuple(numbers) for upos, numbers in header.items()}
