"""Predict tags with treebanks of related languages: a voter on the target's words, beside links.

A classifier learns the tags of a relative's words from their suffixes and the tags around them. Both carry
over where whole words do not: Czech and Ukrainian share suffixes, Italian and Spanish also word order. In
the target, it uses the tags that a tagger gives the neighbours. Its weight depends on how often it agrees
with this tagger, without any gold tag: unrelated languages get no weight.
"""

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import chain, repeat

import numpy as np

from qsproj.conventions import Floats, Hashes, Rng, Weights, spawned
from qsproj.corpus.characters import lower_case, plain_form
from qsproj.corpus.language.recognition import commonest_script
from qsproj.features.hashing import FeatureIndex, commonest, pair_templates, stable_hash
from qsproj.features.tagging import as_one
from qsproj.kernels.tagging.linear_chain import add_emissions
from qsproj.kernels.tagging.tag_features import feature_keys
from qsproj.models.chains import ChainExample, ChainTrainer
from qsproj.models.tagging.tagger import Tagger
from qsproj.models.tagging.tagger_training import LogEvidence
from qsproj.pipelines.tagging.linked_text import Words
from qsproj.pipelines.treebanks import Treebank
from qsproj.training.loop import learn

ENDINGS = ("ending1", "ending2", "ending3", "ending4")
ATTRIBUTES = ("any", "capital", "length", "tag", *ENDINGS)
TEMPLATES = pair_templates(
    (
        *("any", "capital & any-1", "length", *ENDINGS, "tag-1", "tag+1", "tag-1 & tag+1"),
        *("tag-2 & tag-1", "tag+1 & tag+2", "ending2 & tag-1", "ending2 & tag+1"),
    ),
    ATTRIBUTES,
)
EPOCHS, RATE = 4, 0.3
# Share of words on which tagger and voter must agree for any weight, and for the largest weight, MOST; words
# without letters do not count. On New Testaments related languages agree on 37 to 57%, others on 20 to 32%.
UNRELATED, RELATED, MOST = 0.33, 0.45, 0.3
# Power of the frequency of a tag by which its probability is divided; least probability of a tag.
DISCOUNT, LEAST = 0.5, 1e-4
COMPARED = 1000  # number of target sentences to measure the agreement


@dataclass(frozen=True, slots=True, eq=False)
class RelativeVoter:
    """A classifier of words by ending and neighbours' tags."""

    tags: Words
    latin: bool  # whether it reads words in basic Latin letters
    index: FeatureIndex
    weights: Weights  # float32[R, T]
    transitions: Floats  # all 0: the words of a sentence are independent
    shares: Floats  # float64[T], of the tags in its treebanks
    power: float = 0.0  # of its probabilities, as evidence

    def probabilities(self, sentences: Sequence[Words], given: Sequence[Words]) -> Floats:
        """Return the probability of each tag of each word, [N, T], if the other words have the tags given."""
        keys, places = features_of(sentences, given, latin=self.latin)
        padded = np.empty((len(keys), len(self.tags)))
        add_emissions(self.index.rows(keys), self.weights, padded)
        emissions = np.concatenate([padded[place] for place in places])
        found: Floats = np.exp(emissions - emissions.max(axis=1, keepdims=True))
        return found / found.sum(axis=1, keepdims=True)

    def evidence(self, sentences: Sequence[Words], given: Sequence[Words], tags: Words) -> LogEvidence:
        """Return the evidence for each of ``tags``, float32[N, T], natural log."""
        discount = DISCOUNT * np.log(self.shares)
        votes = np.log(np.maximum(self.probabilities(sentences, given), LEAST)) - discount
        found = np.full((len(votes), len(tags)), np.log(LEAST) - discount.min())
        for column, tag in enumerate(tags):
            if tag in self.tags:
                found[:, column] = votes[:, self.tags.index(tag)]
        return (self.power * found).astype(np.float32)

    def agreement(self, sentences: Sequence[Words], given: Sequence[Words]) -> float:
        """Return the share of words with letters to which it gives the tags given; 0 without such words."""
        best = self.probabilities(sentences, given).argmax(axis=1).tolist()
        words = zip(best, chain(*given), chain(*sentences), strict=True)
        same = [self.tags[number] == tag for number, tag, form in words if any(map(str.isalpha, form))]
        return float(np.mean(same)) if same else 0.0


def distribution_with(
    voter: RelativeVoter | None, tagger: Tagger, sentences: Sequence[Words], evidence: LogEvidence
) -> Floats:
    """Return the tagger's probabilities, [N, T], given evidence and that of the voter, if there is one."""
    scored = list(tagger.scored(sentences))
    if voter is not None:
        given = list(map(tagger.best_tags, scored))
        evidence = evidence + voter.evidence(sentences, given, tagger.tags)
    parts = np.split(evidence, np.cumsum(list(map(len, scored)))[:-1])
    return np.concatenate([tagger.marginals(own + of) for own, of in zip(scored, parts, strict=True)])


def relative_voter(
    treebanks: Sequence[Treebank], tagger: Tagger, sentences: Sequence[Words], *, rng: Rng
) -> tuple[RelativeVoter | None, tuple[str, ...]]:
    """Train a voter on treebanks of other languages, each weighted by its agreement with the tagger.

    Returns None in place of the voter if all are unrelated, and a report line for each treebank.
    ``treebanks``: with UPOS on every word. ``sentences``: of the target.
    """
    seed = int(spawned(rng, 1)[0].integers(2**63))  # treebanks that do not vote change nothing
    script = commonest_script(form for forms in sentences for form in forms)
    compared = sentences[:COMPARED]
    given = list(map(tagger.tag_words, compared))
    related, lines = list[tuple[Treebank, RelativeVoter]](), list[str]()
    for treebank in treebanks:
        own = commonest_script(form for one in treebank.sentences for form in one.forms)
        voter = _trained([(treebank, 1.0)], latin=own != script, seed=seed)
        agreed = voter.agreement(compared, given)
        power = float(np.interp(agreed, (UNRELATED, RELATED), (0.0, MOST)))
        if power:
            related.append((treebank, replace(voter, power=power)))
        verdict = f"votes on tags with power {power:.2f}" if power else "no vote on tags"
        lines.append(f"{treebank.name}: agrees with the tagger on {100 * agreed:.0f}% of words, {verdict}")
    if len(related) < 2:
        return related[0][1] if related else None, tuple(lines)
    most = max(voter.power for _, voter in related)
    weighted = [(treebank, voter.power / most) for treebank, voter in related]
    joined = _trained(weighted, latin=any(voter.latin for _, voter in related), seed=seed)
    return replace(joined, power=most), tuple(lines)


def _trained(treebanks: Sequence[tuple[Treebank, float]], *, latin: bool, seed: int) -> RelativeVoter:
    """Train a classifier of each word by its ending and the tags around it; treebanks have weights."""
    sentences = [one for treebank, _ in treebanks for one in treebank.sentences]
    strengths = [strength for treebank, strength in treebanks for _ in treebank.sentences]
    tags = sorted({tag for one in sentences for tag in one.upos})
    known = [np.array([tags.index(tag) for tag in one.upos], dtype=np.int32) for one in sentences]
    keys, places = features_of([one.forms for one in sentences], [one.upos for one in sentences], latin=latin)
    index = FeatureIndex(commonest(keys, keys.size))
    counts = np.bincount(np.concatenate(known), minlength=len(tags)) + 1.0
    start = RelativeVoter(
        tags=tuple(tags),
        latin=latin,
        index=index,
        weights=np.zeros((len(index.keys), len(tags)), dtype=np.float32),
        transitions=np.zeros((len(tags) + 1, len(tags))),
        shares=counts / counts.sum(),
    )
    rows = index.rows(keys)
    examples = list(map(ChainExample, (rows[place] for place in places), known, strengths))
    # Transitions stay 0: the tags around a word are among its features.
    trainer = ChainTrainer(start, rate=RATE, faintest=0.0, fixed=True)
    rng = np.random.default_rng(seed)
    return learn(trainer, examples, epochs=EPOCHS, rng=rng, description="learning from relatives")[0]


def features_of(texts: Sequence[Words], tags: Sequence[Words], *, latin: bool) -> tuple[Hashes, list[slice]]:
    """Return features of words given the tags of others, uint64[M, K], and rows by sentence; 0 between."""
    (forms, places), (given, _) = as_one(texts), as_one(tags)
    codes = bytearray().join(map(_attributes, forms, given, repeat(latin)))
    attributes = np.frombuffer(codes, dtype=np.uint64).reshape(-1, len(ATTRIBUTES))
    words = np.array([at if form else -1 for at, form in enumerate(forms)], dtype=np.int32)
    keys = np.empty((len(words), len(TEMPLATES)), dtype=np.uint64)
    feature_keys(attributes, words, TEMPLATES, keys)
    return keys, places


@lru_cache(maxsize=1 << 16)
def _attributes(form: str, tag: str, latin: bool) -> bytes:
    """Return the codes of a word's ATTRIBUTES, as the bytes of uint64[A]."""
    form = in_latin(plain_form(form)) if latin else plain_form(form)
    lower = lower_case(form)
    endings = (lower[-size:] if size < len(lower) else "" for size in range(1, len(ENDINGS) + 1))
    texts = ("any", str(form[:1].isupper()), str(min(len(form), 6)), tag, *endings)
    return np.array([stable_hash(text) | 1 if text else 0 for text in texts], dtype=np.uint64).tobytes()


@lru_cache(maxsize=1 << 16)
def in_latin(form: str) -> str:
    """Transliterate a word by the Unicode names of its letters, without accents."""
    # Cyrillic *ES* is s, *ZHE* z: Ukrainian *-ого* and Czech *-ého* become *-ogo* and *-eho*.
    return "".join(map(_in_latin, unicodedata.normalize("NFD", form))) or form


@lru_cache(maxsize=1 << 12)
def _in_latin(character: str) -> str:
    if character.isascii() or not character.isalpha():
        return "" if unicodedata.category(character)[0] == "M" else character
    words = unicodedata.name(character, character).partition(" WITH ")[0].split()
    name = words[-1]
    if name == "SIGN":
        return ""
    # Cyrillic EL, EM, EN, ER, ES and EF are consonants; YA, YI, YU, IE and IO vowels.
    is_second = name[0] in "YI" or (name[0] == "E" and name[1:] not in tuple("AEIOU"))
    second = words[0] == "CYRILLIC" and len(name) == 2 and is_second
    return name[second] if character.isupper() else name[second].lower()
