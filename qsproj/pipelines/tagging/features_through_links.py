"""Project features through links, and check them against the word forms of the target.

All links of a type vote for its values, smoothed over types with the same suffix. An attribute that form and
tag predict no better than the tag alone is not marked in the target and is not written. Each word gets the
likeliest combination of the other attributes; a model is then trained as on a treebank.
"""

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from qsproj.conventions import Floats, Rng
from qsproj.corpus.cells import UNSPECIFIED
from qsproj.corpus.characters import lower_form
from qsproj.corpus.editing import with_columns
from qsproj.corpus.language.lexicon import Inflection, Lexicon
from qsproj.corpus.sentence import Sentence
from qsproj.errors import pluralise
from qsproj.models.morphology.analyses import feature_cell, feature_pairs
from qsproj.models.morphology.morphology import Morphology
from qsproj.models.morphology.morphology_training import columns_shown, train_morphology
from qsproj.models.tagging.tagger import TagWords
from qsproj.pipelines.tagging.few_tagged import FewTagged, with_tagged_features
from qsproj.pipelines.tagging.linked_text import LinkedText, MarkedLinks, normalised, numbered, summed
from qsproj.pipelines.tagging.options import BARELY, ENDING, FEW, HALF, PRIOR_VOTES, TagProjectionOptions
from qsproj.pipelines.tagging.source_features import CARRIED, INFLECTED, NONE, SHARED, UNKNOWN

Numbers = NDArray[np.int64]

# Tags that translations and treebanks confuse; features are projected between them.
ALIKE = {"AUX": "VERB", "PROPN": "NOUN", "DET": "PRON", "PART": "ADV"}
# Attributes of these tags are tested on held-out types with the same suffix: all translations of a noun have
# the same gender, whatever its form. Other tags have few types, each tested on half of its occurrences.
OPEN = frozenset({"ADJ", "NOUN", "NUM", "VERB"})
# Tested tags. PROPN is left out: its forms do not show whether treebanks mark its number.
TESTED_TAGS = OPEN | {"ADV", "AUX", "DET", "PART", "PRON"}
FIRST_OF = {"ADJ": "NOUN", "AUX": "VERB"}  # the first agrees in an attribute only if the second marks it
FEWEST_VOTES = 20.0  # minimum number of votes to test an attribute
# Features that treebanks mark whatever forms show, and languages whose treebanks do not (of 23 at hand).
MARKED = {
    ("NUM", "NumType"): frozenset({"ar", "got", "ja", "nl"}),
    ("PRON", "Number"): frozenset({"nl"}),
    ("PRON", "Person"): frozenset({"sv"}),
}
BLOCK_WORDS = 50


@dataclass(frozen=True, slots=True)
class AttributeTest:
    """Test of an attribute under a tag: share of uncertainty removed by forms, and precision of values."""

    tag: str
    attribute: str
    shown: float
    precision: float


@dataclass(frozen=True, eq=False)
class MarkedWords:
    """N tagged words with the feature values of their links."""

    types: Numbers  # int64[N]
    names: tuple[tuple[str, str], ...]  # tag and lower-cased form of each type
    values: Mapping[str, tuple[str, ...]]  # values of each attribute that occurs; NONE is the first
    votes: Mapping[str, Floats]  # votes of each attribute, float64[N, values]
    together: Mapping[str, Collection[tuple[str, ...]]]  # of each tag, its source words' value combinations

    @cached_property
    def groups(self) -> list[Numbers]:
        """Groups of the types by tag and suffix, from large to small; last, a group for each type."""
        return [*suffix_groups(self.names), np.arange(len(self.names))]


def marked_words(
    text: LinkedText, links: MarkedLinks, sentences: Sequence[int], tags: Sequence[Sequence[str]]
) -> MarkedWords:
    """Collect the feature votes of links whose two tags agree, for the words of ``sentences``."""
    tagged = [
        (tag, lower_form(form))
        for number, of_sentence in zip(sentences, tags, strict=True)
        for tag, form in zip(of_sentence, text.sentences[number], strict=True)
    ]
    types, names = numbered(tagged)
    places = np.full(len(text.types), -1, dtype=np.int64)
    places[text.places(sentences)] = np.arange(len(tagged))
    at, marks = places[links.words], links.marks
    alike = np.array([ALIKE.get(tag, tag) for tag, _ in names])
    of_marks = np.array([ALIKE.get(mark.upos, mark.upos) for mark in links.names])
    heard = (at >= 0) & (alike[types[at]] == of_marks[marks])
    at, marks, weights = at[heard], marks[heard], links.votes[heard]
    values, votes = dict[str, tuple[str, ...]](), dict[str, Floats]()
    for column, name in enumerate(CARRIED):
        if found := {mark.values[column] for mark in links.names} - {NONE, UNKNOWN}:
            values[name] = (NONE, *sorted(found))
            number = {value: place for place, value in enumerate(values[name])}
            brought = np.array([number.get(mark.values[column], -1) for mark in links.names])[marks]
            votes[name] = np.zeros((len(tagged), len(values[name])))
            np.add.at(votes[name], (at[brought >= 0], brought[brought >= 0]), weights[brought >= 0])
    together = defaultdict[str, set[tuple[str, ...]]](set)
    for pair in np.unique(types[at] * len(links.names) + marks).tolist():
        of_type, mark = divmod(pair, len(links.names))
        together[names[of_type][0]].add(links.names[mark].values)
    return MarkedWords(types, names, values, votes, together)


def suffix_groups(names: Sequence[tuple[str, str]]) -> list[Numbers]:
    """Return the group of each type by tag alone, then by longer and longer suffixes, int64[types] each."""
    return [
        numbered((tag, form[max(len(form) - length, 0) :]) for tag, form in names)[0]
        for length in range(ENDING + 1)
    ]


def smoothed(counts: Floats, groups: Sequence[Numbers], leaning: float, *, others: bool = False) -> Floats:
    """Return the probabilities of the values of each type, float64[types, values], smoothed by its groups.

    ``groups``: from large to small. ``others``: leave out the counts of the type itself.

    *Source*: suffixes of unknown words as in Brants (2000), "TnT", section 2.3, with prior counts.
    """
    chances = np.full(counts.shape, 1.0 / counts.shape[1])
    for group in groups:
        pooled = summed(counts, group, int(group.max()) + 1)
        heard = np.maximum(pooled[group] - counts, 0.0) if others else pooled[group]
        chances = normalised(heard + leaning * chances)
    return chances


def tested_attributes(words: MarkedWords) -> Iterator[AttributeTest]:
    """Test whether forms show an attribute, for each attribute and tag with enough votes."""
    groups = words.groups[:-1]
    tags = np.array([tag for tag, _ in words.names])
    seen = np.arange(len(words.types)) // BLOCK_WORDS % 2 == 0
    for name, votes in words.votes.items():
        # NONE is left out of shared attributes: the absence of number may follow from being an infinitive.
        votes = votes[:, 1:] if name in SHARED else votes
        counts = summed(votes, words.types, len(words.names))
        half = summed(votes[seen], words.types[seen], len(words.names))
        own = (counts - half, smoothed(half, words.groups, PRIOR_VOTES), smoothed(half, groups[:1], BARELY))
        few = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1.0)
        by_suffix = smoothed(few, groups, PRIOR_VOTES, others=True)
        others = few, by_suffix, smoothed(few, groups[:1], BARELY)
        # Values that are written: the likeliest of each type, except NONE.
        best = own[1].argmax(axis=1)
        is_written = best >= (name not in SHARED)
        for tag in sorted(TESTED_TAGS.intersection(tags.tolist())):
            of_tag = np.flatnonzero((tags == tag) & is_written)
            right, said = float(own[0][of_tag, best[of_tag]].sum()), float(own[0][of_tag].sum())
            if said >= FEWEST_VOTES:
                tested, *chances = (array[tags == tag] for array in (others if tag in OPEN else own))
                left, doubt = (-float((tested * np.log(one)).sum()) for one in chances)
                shown = (doubt - left) / (doubt + BARELY * float(tested.sum()))
                yield AttributeTest(tag, name, shown, right / said)


def written_attributes(judged: Sequence[AttributeTest], language: str | None) -> dict[str, list[str]]:
    """Return the attributes to write for each tag.

    Inflectional ones must show in words of open classes: Swedish verbs do not mark person. Adjectives share
    only attributes that nouns show, auxiliaries those of verbs. Those of MARKED need not show.
    """
    marked = {place for place, unmarked in MARKED.items() if language not in unmarked}
    precise = [one for one in judged if one.precision >= HALF]
    good = [place for one in precise if (place := (one.tag, one.attribute)) in marked or one.shown >= FEW]
    kept = [
        (tag, name)
        for tag, name in good
        if name not in SHARED or tag not in FIRST_OF or (FIRST_OF[tag], name) in good
    ]
    inflected = {name for tag, name in kept if tag in OPEN}
    written = dict[str, list[str]]()
    for tag, name in kept:
        if name not in INFLECTED or name in inflected or (tag, name) in marked:
            written.setdefault(tag, []).append(name)
    return written


def likeliest_features(words: MarkedWords, written: Mapping[str, Sequence[str]]) -> list[str]:
    """Return the FEATS cell of each word: the likeliest combination found in source words of its tag."""
    logs = dict[str, Floats]()
    for name in {name for names in written.values() for name in names}:
        votes = words.votes[name]
        of_types = smoothed(summed(votes, words.types, len(words.names)), words.groups, PRIOR_VOTES)
        logs[name] = np.log(normalised(votes + HALF * of_types[words.types]))
    tags = np.array([tag for tag, _ in words.names])[words.types]
    cells = np.full(len(words.types), UNSPECIFIED, dtype=object)
    for tag, names in written.items():
        place_of = [CARRIED.index(name) for name in names]
        known = sorted({tuple(one[place] for place in place_of) for one in words.together.get(tag, ())})
        at = np.nonzero(tags == tag)[0]
        if known and len(at):
            scores = np.zeros((len(at), len(known)))
            for place, name in enumerate(names):
                of_name = logs[name][at]
                open_to_all = of_name.max(axis=1, keepdims=True) + np.log(HALF)
                number = {value: column for column, value in enumerate(words.values[name])}
                columns = [number.get(values[place], -1) for values in known]
                scores += np.hstack([of_name, open_to_all])[:, columns]
            made = np.array([_cell(names, values) for values in known], dtype=object)
            cells[at] = made[scores.argmax(axis=1)]
    return cells.tolist()


def _cell(names: Sequence[str], values: Sequence[str]) -> str:
    pairs = zip(names, values, strict=True)
    return feature_cell({name: value for name, value in pairs if value not in (NONE, UNKNOWN)})


OF_FINITE = frozenset({"Mood", "Person"})  # attributes of finite verbs


def with_listed_features(sentences: Sequence[Sentence], inflections: Sequence[Inflection]) -> list[Sentence]:
    """Restrict the features of listed words to the values of a lexicon.

    Of several readings, the one with most projected values is chosen; of several such readings, the values
    they share. Attributes that are never projected to words of a tag are left out.
    """
    linked = {
        (tag, name)
        for one in sentences
        for tag, cell in zip(one.upos, one.feats, strict=True)
        for name, _ in feature_pairs(cell)
    }
    readings = dict[tuple[str, str], list[dict[str, str]]]()
    for form, _, tags, feats in inflections:
        for tag in tags if feats != UNSPECIFIED else ():
            pairs = {name: value for name, value in feature_pairs(feats) if (tag, name) in linked}
            readings.setdefault((tag, lower_form(form)), []).append(pairs)

    def listed(tag: str, form: str, cell: str) -> str:
        """Return the values that the best readings share, and projected values of other attributes."""
        projected, of_word = dict(feature_pairs(cell)), readings.get((tag, lower_form(form)), [{}])
        shared = [len(projected.items() & one.items()) for one in of_word]
        best = [one for one, count in zip(of_word, shared, strict=True) if count == max(shared)]
        common = dict(set.intersection(*(set(one.items()) for one in best)))
        replaced = set().union(*best)
        if common.get("VerbForm", "Fin") != "Fin":
            replaced |= OF_FINITE
        return feature_cell({name: projected[name] for name in projected.keys() - replaced} | common)

    return [with_columns(one, feats=list(map(listed, one.upos, one.forms, one.feats))) for one in sentences]


def learn_features(
    text: LinkedText,
    sentences: Sequence[int],
    tag_words: TagWords,
    *,
    few: FewTagged,
    lexicon: Lexicon,
    columns: Sequence[str],
    language: str | None,
    rng: Rng,
    options: TagProjectionOptions,
) -> tuple[Morphology | None, list[str]]:
    """Learn features and lemmas of words with the tags of a tagger, and return report lines.

    ``sentences``: numbers of the usable sentences. ``few`` and ``lexicon`` give lemmas, and features beside
    those of links. ``columns``: feats, lemma, both or none. ``language``: of the target, None if not known.
    None without any source of them.
    """
    links = text.marked
    if links is not None and all(set(mark.values) <= {NONE, UNKNOWN} for mark in links.names):
        links = None
    tagged = [one for one in few.sentences if "feats" in columns and {*one.feats} != {UNSPECIFIED}]
    with_lemmas = "lemma" in columns and bool(few.inflections or lexicon.has_lemmas)
    if not (links or tagged or with_lemmas):
        return None, []
    drawn = np.sort(rng.permutation(sentences)[: options.feature_sentences]).tolist()
    tags = [tag_words(text.sentences[number]) for number in drawn]
    lines = list[str]()
    made = [Sentence.from_words(text.sentences[at], upos=upos) for at, upos in zip(drawn, tags, strict=True)]
    if links:
        words = marked_words(text, links, drawn, tags)
        judged = list(tested_attributes(words))
        written = written_attributes(judged, language)
        lines += _report(judged, written)
        cells = iter(likeliest_features(words, written))
        made = [with_columns(one, feats=[next(cells) for _ in one.forms]) for one in made]
        if lexicon.inflections:
            made = with_listed_features(made, lexicon.inflections)
    if tagged:
        made = [*with_tagged_features(made, tagged, rng=rng), *tagged]
        lines.append(f"features are corrected by {pluralise(len(tagged), 'tagged sentence')}")
    inflections = [*few.inflections, *lexicon.inflections_of(made)] if with_lemmas else []
    shown = [name for name in columns_shown(made) if name == "feats"] + ["lemma"] * bool(inflections)
    morphology = train_morphology(
        made, rng=rng, columns=shown, inflections=inflections, epochs=options.feature_epochs
    )
    if morphology is not None and (weights := morphology.weights) is not None:
        potentials = ("emissions", "transitions", "support")
        flat = {name: getattr(weights, name) / options.feature_temperature for name in potentials}
        morphology = replace(morphology, weights=replace(weights, **flat))
    return morphology, lines


def _report(judged: Sequence[AttributeTest], written: Mapping[str, Sequence[str]]) -> Iterator[str]:
    if not written:
        yield "no features: what the source marks does not show in forms of the target"
        return
    names = sorted({one.attribute for one in judged})
    tags = {name: [tag for tag in sorted(written) if name in written[tag]] for name in names}
    of_tags = [f"{name} of {', '.join(tags[name])}" for name in names if tags[name]]
    yield f"features that forms show: {'; '.join(of_tags)}"
    if without := ", ".join(name for name in names if not tags[name]):
        yield f"features of the source that forms do not show, not written: {without}"
