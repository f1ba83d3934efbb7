"""Use a few tagged sentences beside the bitext: as training data, and to test whether links help.

Their tags and contractions correct those of links; their features correct projected ones.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np

from qsproj.conventions import Rng
from qsproj.corpus.cells import UNSPECIFIED
from qsproj.corpus.characters import lower_form, plain_form
from qsproj.corpus.contractions import Contractions, learn_contractions, merge_contractions
from qsproj.corpus.editing import with_columns
from qsproj.corpus.language.lexicon import Inflection
from qsproj.corpus.sentence import Sentence
from qsproj.errors import UsageError, pluralise
from qsproj.models.morphology.analyses import feature_cell, feature_pairs
from qsproj.models.morphology.morphology_training import train_morphology
from qsproj.models.tagging.tagger import Tagger
from qsproj.models.tagging.tagger_training import SetExample, train_tagger
from qsproj.pipelines.tagging.linked_text import LinkedText, Words
from qsproj.pipelines.tagging.options import HALF
from qsproj.training.cross_fitting import exceeds_chance

FEWEST = 50  # minimum number of tagged sentences to set some aside for testing
FEWEST_WORDS = 5  # tagged words needed to learn the features of a tag


def tag_counts(sentences: Iterable[Sentence]) -> Mapping[str, Mapping[str, int]]:
    """Count the tags of each word, in its plain form and lower-cased; words without one are left out."""
    counts = defaultdict[str, Counter[str]](Counter)
    for form, tag in chain.from_iterable(zip(one.forms, one.upos, strict=True) for one in sentences):
        for known in {plain_form(form), lower_form(form)} if tag != UNSPECIFIED else ():
            counts[known][tag] += 1
    return counts


@dataclass(frozen=True, slots=True)
class FewTagged:
    """Tagged sentences (possibly none) with UPOS on every word."""

    sentences: tuple[Sentence, ...]
    counts: Mapping[str, Mapping[str, int]]  # see :func:`tag_counts`
    contractions: Contractions

    @classmethod
    def of(cls, sentences: Sequence[Sentence]) -> "FewTagged":
        """Count tags and contractions of the sentences; UsageError when a word has no UPOS."""
        for number, sentence in enumerate(sentences, start=1):
            if UNSPECIFIED in sentence.upos:
                word = sentence.forms[sentence.upos.index(UNSPECIFIED)]
                raise UsageError(
                    f"tagged sentence {sentence.sent_id or number}: {word!r} has no UPOS, expected one on "
                    "every word; tag it or leave the sentence out"
                )
        return cls(tuple(sentences), tag_counts(sentences), learn_contractions(sentences))

    def split(self) -> "tuple[FewTagged, tuple[Sentence, ...]]":
        """Split into training and test sentences, 4 : 1; no test sentences if there are fewer than FEWEST."""
        if len(self.sentences) < FEWEST:
            return self, ()
        rest = [sentence for number, sentence in enumerate(self.sentences) if number % 5 != 4]
        return FewTagged.of(rest), self.sentences[4::5]

    @property
    def inflections(self) -> list[Inflection]:
        """Return forms with lemma and features, the commonest first."""
        found = Counter(
            Inflection(form, lemma, (tag,), feats)
            for one in self.sentences
            for form, lemma, tag, feats in zip(one.forms, one.lemmas, one.upos, one.feats, strict=True)
            if lemma != UNSPECIFIED
        )
        return [inflection for inflection, _ in found.most_common()]

    def examples(self, tags: Words, *, strength: float) -> list[SetExample]:
        """Return training examples; with multiword tokens a split and an unsplit one, of half weight each."""
        examples = []
        for sentence in self.sentences:
            merged = [merge_contractions(sentence)] if sentence.multiword_tokens else []
            versions = [(sentence.forms, sentence.upos), *merged]
            for forms, upos in versions:
                wrong = np.array(upos)[:, None] != np.array(tags)
                evidence = np.where(wrong, np.float32(-np.inf), np.float32(0.0))
                examples.append(SetExample(forms, evidence, strength / len(versions), trusted=True))
        return examples


def with_tagged_features(
    sentences: Sequence[Sentence], tagged: Sequence[Sentence], *, rng: Rng
) -> list[Sentence]:
    """Correct projected features with a model of a few tagged sentences.

    Tagged words, and those with probable predictions, get the features of the model. For other words,
    projected values take precedence if some tagged word of the same UPOS has them. A UPOS with fewer than
    FEWEST_WORDS tagged words keeps projected features.
    """
    learned = train_morphology(tagged, rng=rng, columns=["feats"])
    assert learned is not None
    words = Counter(tag for one in tagged for tag in one.upos)
    known = {(lower_form(form), tag) for one in tagged for form, tag in zip(one.forms, one.upos, strict=True)}
    values = {
        (tag, pair)
        for one in tagged
        for tag, cell in zip(one.upos, one.feats, strict=True)
        for pair in feature_pairs(cell)
    }
    corrected = []
    for sentence in sentences:
        own = [one.feats for one in learned.analyses(sentence.forms, sentence.upos)]
        sure = learned.feature_probabilities(sentence.forms, sentence.upos, own) >= HALF
        cells = []
        rows = zip(sentence.forms, sentence.upos, sentence.feats, own, sure.tolist(), strict=True)
        for form, tag, linked, cell, certain in rows:
            if words[tag] < FEWEST_WORDS:
                cell = linked
            elif not certain and (lower_form(form), tag) not in known:
                kept = (pair for pair in feature_pairs(linked) if (tag, pair) in values)
                cell = feature_cell(dict(feature_pairs(cell)) | dict(kept))
            cells.append(cell)
        corrected.append(with_columns(sentence, feats=cells))
    return corrected


def compare_with_tagged_alone(
    tagger: Tagger, text: LinkedText, learned_from: FewTagged, aside: Sequence[Sentence], *, rng: Rng
) -> tuple[bool, list[str]]:
    """Test whether training without links gives the better tagger; return the answer and report lines.

    Both taggers are trained on the same tagged sentences and tested on those set ``aside``; the one without
    links uses word classes of the text. Links win if no sentences are aside, or if the difference is not
    significant (sign test), because later rounds improve their tagger further.
    """
    if not aside:
        return False, []
    without_links = train_tagger(learned_from.sentences, rng=rng, raw=text.sentences, self_training=0)
    forms, upos = [one.forms for one in aside], np.concatenate([one.upos for one in aside])
    linked, alone = (np.concatenate([*one.tag_block(forms)]) == upos for one in (tagger, without_links))
    wins = exceeds_chance(int(alone.sum()) - int(linked.sum()), int(np.count_nonzero(alone != linked)))
    line = (
        f"{pluralise(len(aside), 'tagged sentence')} set aside: {100.0 * linked.mean():.1f}% of words "
        f"right with links, {100.0 * alone.mean():.1f}% without"
    )
    verdict = "links do not help: learned from the tagged sentences and the raw text alone"
    return wins, [line, verdict] if wins else [line]
