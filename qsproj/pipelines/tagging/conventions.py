"""Treebank conventions of the source that may not hold in the target.

English *my* is PRON and `nmod:poss`, Ukrainian *мій* DET and `det`; *living* before a noun is VERB, *живий*
ADJ. Links do not show this, but tagged sentences of the target do; without them, the practice of its
treebanks or of most languages is the best guess.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from functools import cache

from qsproj.conventions import ROOT, Floats
from qsproj.corpus.cells import bare_relation
from qsproj.corpus.characters import lower_form
from qsproj.corpus.editing import with_columns, with_heads
from qsproj.corpus.files import packaged_rows
from qsproj.corpus.sentence import Alignment, Sentence, SentencePair
from qsproj.pipelines.tagging.options import ENOUGH, HALF, PRIOR_VOTES

# UPOS and relation; HEAD: the word takes the place of its head, which becomes its xcomp; ANY: its own.
Annotation = tuple[str, str]
HEAD = "head"
ANY = "any"


@dataclass(frozen=True, slots=True, kw_only=True)
class Convention:
    """Source words whose annotation often differs in other languages."""

    tag: str  # UPOS of the words
    relation: str
    forms: frozenset[str] = frozenset()  # lower-cased; empty: any
    becomes: Annotation  # in other languages
    in_trees: bool = True  # whether source trees are re-annotated, too, not only votes

    @property
    def name(self) -> str:
        """Return a tag reserved for these words; unlike UPOS, it contains a space."""
        return " ".join((self.tag, self.relation, *sorted(self.forms)))

    @property
    def languages(self) -> dict[str, Annotation]:
        """Return the annotation in the treebanks of all languages but English, by code."""
        return {code: annotation for code, annotation in _practice()[self.name].items() if code != "en"}

    @property
    def own(self) -> Annotation:
        return self.tag, self.relation


@cache
def _practice() -> dict[str, dict[str, Annotation]]:
    """Return the annotation of each convention by language; later rows replace earlier ones."""
    found: dict[str, dict[str, Annotation]] = {}
    for name, tag, relation, languages, _ in packaged_rows(__file__, "conventions.tsv"):
        found.setdefault(name, {}).update(dict.fromkeys(languages.split(), (tag, relation)))
    return found


def registered_auxiliaries(language: str | None, *, pronouns: bool = False) -> frozenset[str]:
    """Return lower-cased lemmas that UD registers as auxiliaries, or ``pronouns`` that serve as copulas."""
    rows = {code: lemmas for code, *lemmas in packaged_rows(__file__, "auxiliaries.tsv")}
    return frozenset(map(lower_form, [*rows.get(language or "", []), "", ""][pronouns].split()))


# Where UD registers no auxiliary of possibility, necessity or wish, words for *can* and *must* are verbs.
_MODALS = frozenset({"can", "could", "must"})
MODALS = Convention(tag="AUX", relation="aux", forms=_MODALS, becomes=("AUX", "aux"))
# *Be*, not the copula *is*, is a verb in Irish, Manx and Scottish Gaelic: predicates are xcomp, *tha e mòr*.
BE = tuple(Convention(tag="AUX", relation=one, becomes=("AUX", one)) for one in ("cop", "aux"))
# *Election campaign* is a compound in English, Hebrew and Thai, elsewhere a noun with a modifier. In Hebrew
# and Thai, *day of rest* is one as well, unless *of* is translated.
COMPOUNDS, MODIFIERS = (
    tuple(Convention(tag=tag, relation=own, becomes=(tag, "nmod")) for tag in ("NOUN", "PROPN"))
    for own in ("compound", "nmod")
)
# *Gave him* has an iobj in English, an oblique in languages that distinguish no indirect objects.
INDIRECT = tuple(
    Convention(tag=tag, relation="iobj", becomes=(tag, "obl")) for tag in ("NOUN", "PRON", "PROPN")
)
# Chinese and Persian have no article: their numeral *one*, which is NUM, translates *a*. If trees have it,
# too, Chinese loses 1 LAS with gold tags.
ARTICLES = Convention(
    tag="DET", relation="det", forms=frozenset({"a", "an"}), becomes=("NUM", "nummod"), in_trees=False
)
_DAYS = frozenset({"today", "tomorrow", "tonight", "yesterday"})
DAYS = tuple(
    Convention(tag="NOUN", relation=one, forms=_DAYS, becomes=("ADV", "advmod"))
    for one in ("obl:tmod", "obl:unmarked")  # of older and newer treebanks
)
_MORE = frozenset({"more"})
_ACCORDING = frozenset({"according", "concerning", "regarding"})
# ``conventions.tsv`` has the practice of languages, by the published statistics of UD (``python -m
# scripts.conventions`` reads them) or by counts in treebanks, which take precedence. In Danish and Dutch a
# tenth of amod is VERB as in English, elsewhere almost none. *Not* is AUX if most words for it are inflected.
CONVENTIONS = (
    Convention(tag="PRON", relation="nmod:poss", becomes=("DET", "det")),
    Convention(tag="VERB", relation="amod", becomes=("ADJ", "amod")),
    Convention(tag="PART", relation="advmod", becomes=("ADV", "advmod")),
    ARTICLES,
    MODALS,
    *BE,
    *COMPOUNDS,
    *MODIFIERS,
    *INDIRECT,
    # Wolof has verbs for *good* and *new*: its treebank has no ADJ.
    Convention(tag="ADJ", relation="amod", becomes=("ADJ", "amod")),
    Convention(tag="ADJ", relation=ANY, becomes=("ADJ", ANY)),
    # In English treebanks *when* is an adverb, *today* a noun, *more* an adjective, *according* a verb.
    Convention(tag="ADV", relation="advmod", forms=frozenset({"when"}), becomes=("SCONJ", "mark")),
    *DAYS,
    Convention(tag="ADJ", relation="amod", forms=_MORE, becomes=("ADV", "advmod")),
    Convention(tag="ADJ", relation=ANY, forms=_MORE, becomes=("ADV", ANY)),
    Convention(tag="VERB", relation=ANY, forms=_ACCORDING, becomes=("ADP", ANY)),
    # Chinese has a particle for *of*. If trees have it, too, 1,000 pairs lose 1.9 UAS and 1.3 LAS.
    Convention(tag="ADP", relation="case", forms=frozenset({"of"}), becomes=("ADP", "case"), in_trees=False),
)
OWN = {one.name: one.own for one in CONVENTIONS}
# Relations whose words often have another part of speech in the target, so that their votes barely count:
# *election* in *election campaign* is an adjective in Czech, *was* in *was sold* Spanish *se*.
LOOSE = frozenset({"compound", "aux:pass"})
# Source words that vote for two tags, by names like those of conventions; the other links of the target type
# decide. *Research* in *research plan* is an adjective in Czech, which gains .7 UPOS.
EITHER = {"NOUN compound": "ADJ"}
# UPOS and FEATS of source words that vote for two tags in some languages of ``conventions.tsv``, by name.
# *Written* may be an adjective in Slavic treebanks, and *which* a determiner; in Celtic ones, *writing* and
# *to write* may be nouns.
PASSIVE = ("VERB", "VerbForm=Part", "Voice=Pass")
GERUND = ("VERB", "VerbForm=Ger")
INFINITIVE = ("VERB", "VerbForm=Inf")
PARTICIPLE = ("VERB", "Tense=Pres", "VerbForm=Part")
RELATIVE = ("PRON", "PronType=Rel")
INFLECTED = {" ".join(one): one for one in (PASSIVE, GERUND, INFINITIVE, PARTICIPLE, RELATIVE)}
# English adjectives that are determiners in many treebanks, Spanish *otro*, German *viel*: they vote for both
# tags, but not where a row of ``conventions.tsv`` says that they are adjectives.
QUANTIFIERS = {
    "ADJ other": frozenset({"other"}),
    "ADJ many": frozenset({"few", "many", "much", "several", "such"}),
}
DETERMINER = "DET"
# Pronouns whose person an auxiliary may show instead, Czech *jsme*; *you* may be singular, plural or polite.
FIRST_PERSON = ("PRON", "Person=1")
# Name of auxiliaries before their subject, as *do* in *do you know*: they are also linked to particles that
# ask, Estonian *kas*, which are PARTICLE, but where a row of ``conventions.tsv`` says that they are adverbs.
INVERTED = "AUX inverted"
PARTICLE = "PART"
# Name of relative pronouns that are also the conjunction *that*, Ukrainian *що*, which is SCONJ in both uses.
THAT = "PRON that"
# Target words: reflexive pronouns are EXPLETIVE in many Romance and most Slavic treebanks, Spanish *se*.
REFLEXIVE = "PRON Reflex=Yes"
EXPLETIVE = "expl"
# Source words that vote for the second tag if most links of the target type do. *To* before infinitives is a
# preposition in Spanish, which gains .5 UPOS, and a particle in Wolof, where votes for both tags lose .7. In
# PARTICLES it is a particle, though the word is also a preposition: German gains .3.
MAJORITY = {"PART mark": "ADP"}
PARTICLES = frozenset({"da", "de", "sv"})
# Languages whose names contain adjectives with their usual endings, *Северная Корея*: of capitalised words
# within sentences that are PROPN or ADJ, 11 to 33% are ADJ in Czech, Greek, Russian, Slovenian and Ukrainian.
ADJECTIVES_IN_NAMES = frozenset(
    {"be", "bg", "cs", "el", "hr", "hsb", "mk", "pl", "ru", "sk", "sl", "sr", "uk"}
)
# Languages that read years, and numbers with letters as *3-й*, as ordinals: ADJ in 95% of cases in both.
ORDINALS_IN_DIGITS = frozenset({"ru", "uk"})
_OF_FORMS = {(*one.own, form): one.name for one in CONVENTIONS for form in one.forms}
_OF_QUANTIFIERS = {("ADJ", form): name for name, forms in QUANTIFIERS.items() for form in forms}
_SPEAKER = " ".join(FIRST_PERSON)
_NAMED = INFLECTED | {_SPEAKER: FIRST_PERSON}
_COMPOUNDS, _MODIFIERS = (frozenset(one.name for one in of) for of in (COMPOUNDS, MODIFIERS))
_KNOWN = frozenset({*OWN, *EITHER, *MAJORITY})
# Relations of words that move from a verb to the modal, or *be*, above it, on either side; to one behind it,
# as in German *dass er krank ist*, conjunctions do, too.
RISING = frozenset({"csubj", "expl", "nsubj", "parataxis", "punct"})
CONJUNCTIONS = frozenset({"cc", "mark"})
# The parts of a misspelt source word, *what ever*; in other languages these relations are of foreign words.
MISSPELT, FOREIGN = "goeswith", "flat"


def name_of(form: str, tag: str, relation: str) -> str:
    """Return the name of the entry of the tables above that covers a word, empty without one."""
    of_forms, name = _entries(tag, relation)
    return of_forms.get(lower_form(form), name) if of_forms else name


@cache
def _entries(tag: str, relation: str) -> tuple[dict[str, str], str]:
    """Return the names of the entries of certain forms, and that of all others."""
    ways = (ANY, relation)
    of_forms = {form: name for way in ways for (*own, form), name in _OF_FORMS.items() if own == [tag, way]}
    return of_forms, next((one for one in (f"{tag} {relation}", f"{tag} {ANY}") if one in _KNOWN), "")


def second_tags(language: str | None) -> dict[str, str]:
    """Return the second tag of source words that vote for two in a language, by name."""
    practice = {name: _practice().get(name, {}).get(language or "") for name in INFLECTED}
    return EITHER | {name: annotation[0] for name, annotation in practice.items() if annotation}


def may_be_determiner(form: str, tag: str, language: str | None) -> bool:
    """Return whether a word is a quantifier that may be DETERMINER in a language."""
    name = _OF_QUANTIFIERS.get((tag, lower_form(form)))
    return name is not None and language not in _practice()[name]


def is_speaker(tag: str, relation: str, inflected: str) -> bool:
    """Return whether a word, with its name of :func:`inflected_names`, is the subject *I* or *we*."""
    return tag == "PRON" and bare_relation(relation) == "nsubj" and inflected == _SPEAKER


def of_reflexives(language: str | None) -> dict[str, Annotation]:
    """Return the annotation of reflexive pronouns in a language by REFLEXIVE; empty if as that of others."""
    found = _practice()[REFLEXIVE].get(language or "")
    return {REFLEXIVE: found} if found else {}


def of_questions(language: str | None) -> str:
    """Return the tag of particles that ask in a language."""
    return _practice()[INVERTED].get(language or "", (PARTICLE, ""))[0]


def relatives_as_conjunctions(language: str | None) -> str:
    """Return the tag of relative pronouns that are also the word for *that*, empty if as of others."""
    return _practice()[THAT].get(language or "", ("", ""))[0]


def inflected_names(sentence: Sentence) -> list[str]:
    """Return each word's key of _NAMED, INVERTED, or empty; an infinitive with an auxiliary is finite."""
    names, heads = list(map(_inflected_name, sentence.upos, sentence.feats)), sentence.heads[1:].tolist()
    subjects = {
        head: word
        for word, (head, relation) in enumerate(zip(heads, sentence.deprels, strict=True), start=1)
        if bare_relation(relation) == "nsubj"
    }
    for word, (head, relation) in enumerate(zip(heads, sentence.deprels, strict=True), start=1):
        if relation == "aux" and head > ROOT and INFLECTED.get(names[head - 1]) == INFINITIVE:
            names[head - 1] = ""
        if sentence.upos[word - 1] == "AUX" and word < subjects.get(head, 0):
            names[word - 1] = INVERTED
    return names


@cache
def _inflected_name(tag: str, feats: str) -> str:
    own = {tag, *feats.split("|")}
    return next((name for name, parts in _NAMED.items() if own.issuperset(parts)), "")


def names_of(sentence: Sentence) -> list[str]:
    return list(map(name_of, sentence.forms, sentence.upos, sentence.deprels))


def target_conventions(
    vocabulary: Sequence[str],
    shares: Mapping[str, Floats],
    known: Mapping[str, Mapping[str, int]],
    *,
    language: str | None = None,
) -> dict[str, Annotation]:
    """Return the annotation that the words of each convention have in a target with V types.

    ``shares``: for each convention by name, its share of the votes of each type, float64[V].
    ``known``: tag counts of each word of the tagged sentences. ``language``: code of the target; other
    languages decide where neither tagged sentences nor the target's own treebanks do.
    """
    found = {}
    for one in CONVENTIONS:
        if one.name not in shares:
            continue
        annotations = list(one.languages.values())
        # Of another tag only the tag counts: possessives that are DET may be `det` or `nmod:poss`.
        other = one.becomes[0] != one.tag
        becoming = [at for at in annotations if at == one.becomes or (other and at[0] == one.becomes[0])]
        of_languages = PRIOR_VOTES * len(becoming) / len(annotations)
        counts = {one.becomes: of_languages, one.own: PRIOR_VOTES - of_languages}
        if practice := one.languages.get(language or ""):
            counts = {**dict.fromkeys(counts, 0.0), practice: PRIOR_VOTES}
        for form, share in zip(vocabulary, shares[one.name].tolist(), strict=True):
            for annotation in counts if share else ():
                counts[annotation] += share * known.get(form, {}).get(annotation[0], 0)
        found[one.name] = max(counts, key=lambda annotation: counts[annotation])
    return found


def unshared_conventions(pairs: Iterable[SentencePair]) -> dict[str, Annotation]:
    """Return the source's conventions that the target lacks, with the annotation of most linked words.

    Links do not show BE: where verbs mark the tense, auxiliaries are linked to verbs (Turkish, Chinese).
    """
    found: Counter[tuple[str, str]] = Counter()
    for pair in pairs:
        of_words = names_of(pair.source)
        links, chances = pair.alignment.links.tolist(), pair.alignment.shares.tolist()
        for (source, target), chance in zip(links, chances, strict=True):
            found[of_words[source - 1], pair.target.upos[target - 1]] += chance
    unshared = {}
    for one in CONVENTIONS:
        ways = tuple(dict.fromkeys((one.own, one.becomes, *one.languages.values())))
        way = max(ways, key=lambda way: found[one.name, way[0]])
        if one.in_trees and one not in BE and way != one.own and found[one.name, way[0]] >= ENOUGH:
            unshared[one.name] = way
    return unshared


@dataclass(frozen=True, slots=True)
class ReannotatedPairs:
    """Sentence pairs with sources re-annotated by the conventions of the target."""

    pairs: Iterable[SentencePair]
    unshared: Mapping[str, Annotation]  # annotation in the target, for conventions that do not hold there

    def __iter__(self) -> Iterator[SentencePair]:
        for pair in self.pairs:
            yield replace(pair, source=reannotated(pair.source, self.unshared, alignment=pair.alignment))


def reannotated(
    sentence: Sentence, unshared: Mapping[str, Annotation], *, alignment: Alignment | None = None
) -> Sentence:
    """Replace tags and relations of conventions by those in ``unshared``, and MISSPELT by FOREIGN.

    With an ``alignment`` only linked modals and *be* become heads: a translation may have the verb alone.
    """
    if MISSPELT in sentence.deprels:
        deprels = [FOREIGN if relation == MISSPELT else relation for relation in sentence.deprels]
        sentence = with_columns(sentence, deprels=deprels)
    names = names_of(sentence)
    if unshared.keys().isdisjoint(names):
        return sentence
    linked = None if alignment is None else set(alignment.links[alignment.shares >= HALF, 0].tolist())
    names = _names_in_tree(sentence, names, linked)
    own = list(zip(sentence.upos, sentence.deprels, strict=True))
    found, heads = list(map(unshared.get, names, own)), sentence.heads.tolist()
    kept = (old if new in {HEAD, ANY} else new for (_, old), (_, new) in zip(own, found, strict=True))
    deprels = ["", *kept]
    raised = [word for word, (_, new) in enumerate(found, start=1) if new == HEAD and heads[word] > ROOT]
    # Those behind their verbs in reverse: the last word of *dass er kommen können wird* is the highest.
    for word in sorted(raised, key=lambda word: -word if heads[word] < word else -len(heads)):
        if linked is None or word in linked:
            _raise(word, heads, deprels, sentence.upos)
    verbs = {
        word
        for word, (tag, _) in enumerate(found, start=1)
        if (sentence.upos[word - 1], tag) == ("ADJ", "VERB")
    }
    for word, head in enumerate(heads):
        if deprels[word] == "cop" and head in verbs:  # no verb has a copula
            deprels[word] = "aux"
    changed = with_columns(sentence, upos=[tag for tag, _ in found], deprels=deprels[1:])
    return changed if heads == sentence.heads.tolist() else with_heads(changed, heads)


def _names_in_tree(sentence: Sentence, names: list[str], linked: Set[int] | None) -> list[str]:
    """Return the names, empty for titles (*King Herod*), and nouns with ``linked`` markers (None: any)."""
    found, heads = list(names), sentence.heads.tolist()
    marks = {word for word, relation in enumerate(sentence.deprels, start=1) if relation == "case"}
    marked = {heads[word] for word in (marks if linked is None else marks & linked)}
    for word, name in enumerate(names, start=1):
        of_noun = heads[word] > ROOT and sentence.upos[heads[word] - 1] == "NOUN"
        if (name in _COMPOUNDS and not of_noun) or (name in _MODIFIERS and (not of_noun or word in marked)):
            found[word - 1] = ""
    return found


def _raise(word: int, heads: list[int], deprels: list[str], upos: Sequence[str]) -> None:
    """Make a modal or *be* the head of its verb, the subject and, if first, what precedes or negates it."""
    verb = heads[word]
    heads[word], deprels[word] = heads[verb], deprels[verb]
    heads[verb], deprels[verb] = word, "xcomp"
    for other, head in enumerate(heads):
        relation, is_particle = bare_relation(deprels[other]), upos[other - 1] == "PART"
        before = other < word < verb or (word < other < verb and is_particle)
        joins = verb < word and relation in CONJUNCTIONS and not is_particle
        if head == verb and (before or joins or relation in RISING):
            heads[other] = word
