"""Write what UD publishes about the conventions of languages: python -m scripts.conventions DOCS AUTOMATION.

DOCS is a clone of https://github.com/UniversalDependencies/docs, whose folder treebanks/ has a page of statistics for
each UPOS, feature and relation of each treebank. conventions.tsv shows how languages annotate *a*, *my*, *not*, *of*,
*be*, compounds and *living* in *living water*, which have verbs for adjectives, and where reflexive pronouns are
expletives: a line has the English tag and relation, those of other languages, and the languages. Where a line has
FEATS in place of the relation, as of *written*, *writing* and *which*, such words may have either tag; where it has
*other* or *many*, these are adjectives, and elsewhere may be determiners. A language counts with at least LEAST words
of the class, in all its treebanks together. Such lines end with "published"; those that end with "counted" were counted
in treebanks by hand, are kept, and replace the published ones of their languages.

AUTOMATION is a clone of https://github.com/UniversalDependencies/docs-automation, whose valrules/data.json registers the
lemmas that may be AUX in each language, with their functions. auxiliaries.tsv has those that are single words, and those
that are pronouns in the last column; conventions.tsv shows which languages have modal ones.
"""

import json
import re
import sys
from collections import Counter, defaultdict
from pathlib import Path
from statistics import mean
from typing import Any

from qsproj.pipelines.tagging.conventions import (
    ANY,
    ARTICLES,
    BE,
    COMPOUNDS,
    EXPLETIVE,
    GERUND,
    HEAD,
    INDIRECT,
    INFINITIVE,
    MODALS,
    MODIFIERS,
    PARTICIPLE,
    PASSIVE,
    REFLEXIVE,
    RELATIVE,
)
from qsproj.pipelines.tagging.options import HALF

FOLDER = Path("qsproj/pipelines/tagging")
PUBLISHED = "published"
LEAST = 10
LEAST_MODIFIERS = 200
# Functions of modal auxiliaries: possibility, necessity, wish.
MODALITY = {"Mood=Pot", "Mood=Nec", "Mood=Des"}
# Function of pronouns in the place of a copula, Hebrew *הוא*: they are PRON, not AUX.
PRONOUN = "cop.PRON"
# Share of the modifiers of nouns that are verbs, in a language with participles of verbs; in English .054.
VERBS = 0.05
# Share of the words that are ADJ, in a language that has adjectives, and number of words that show it.
ADJECTIVES, LEAST_WORDS = 0.0005, 2000
# Share of the words that mark case, in a language with a particle for *of*.
CASE_PARTICLES = 0.3
# Share of the complements of verbs (xcomp) that are nouns, in a language whose verbal nouns are nouns.
NOUNS = 0.8
OF_TAG = r"POS Tags: `(\w+)`\n[\s\S]*? types \(\d+%\) and (\d+) `"
OF_VALUE = r"### `(\w+)`\n(?:(?!###)[\s\S])*?\* `{}` \((\d+);"
OF_HEAD = r"<tt><a[^>]*>{}</a></tt>-<tt><a[^>]*>(\w+)</a></tt> \((\d+);"
OF_PAIR = OF_HEAD.format(r"\w+")
OF_LEMMA = r">(\w+)</a></tt> (\d+)"
# Ratio of predicates of verbs to auxiliaries, in a language where *be* is a verb; of particles that are marks
# to those that are adverbials, in one whose word for *not* is a mark.
RATIO = 10
# Share of compounds among nouns that modify nouns, in a language that has compounds; in English .41.
COMPOUND = 0.2
# Least share of expletive pronouns among words, in a language where reflexive ones are expletive; in English
# .0033. Least share of these pronouns with a verb as head: Norwegian *det* has other heads, too.
EXPLETIVES, OF_VERBS = 0.007, 0.9
# Share of the words that are the numeral *one*, in a language that has it for *a*; in Korean, without articles, .0017.
ONES = 0.003
# Least ratio of indirect to direct objects, in a language that distinguishes them; in English .063.
INDIRECT_OBJECTS = 0.01
# By language, counts of UPOS.
Counts = defaultdict[str, Counter[str]]


def counts(docs: Path, page: str, pattern: str) -> Counts:
    """Return how often each UPOS occurs on the pages of a name, by language."""
    found: Counts = defaultdict(Counter)
    for path in sorted(docs.glob(f"treebanks/*/*-{page}.md")):
        for tag, number in re.findall(pattern, path.read_text(encoding="utf-8")):
            found[path.parent.name.split("_")[0]][tag] += int(number)
    return found


def conventions(docs: Path) -> list[str]:
    found: dict[tuple[str, str, str], list[str]] = defaultdict(list)
    determiners = counts(docs, "dep-det", OF_PAIR)
    modifiers = counts(docs, "dep-nmod-poss", OF_PAIR)
    for language, of in counts(docs, "feat-Poss", OF_VALUE.format("Yes")).items():
        if of["DET"] + of["PRON"] < LEAST:
            continue
        tag = max("DET", "PRON", key=of.__getitem__)
        half = of[tag] / 2
        if modifiers[language][tag] >= half:
            relation = "nmod:poss"
        elif tag == "DET" or determiners[language]["PRON"] >= half:
            relation = "det"
        else:
            relation = "nmod"
        found["PRON nmod:poss", tag, relation].append(language)
    of_amod = counts(docs, "dep-amod", OF_PAIR)
    for language, of in of_amod.items():
        if of.total() >= LEAST_MODIFIERS:
            tag = "VERB" if of["VERB"] >= VERBS * of.total() else "ADJ"
            found["VERB amod", tag, "amod"].append(language)
    words = counts(docs, "pos-*", OF_TAG)
    for language, of in words.items():
        if of["ADJ"] < ADJECTIVES * of.total() and of.total() >= LEAST_WORDS:
            verbs = of_amod[language]["VERB"] >= LEAST_MODIFIERS
            found["ADJ amod", "VERB", "amod" if verbs else "acl"].append(language)
            found[f"ADJ {ANY}", "VERB", ANY].append(language)
    for language, of in counts(docs, "dep-case", OF_PAIR).items():
        if of.total() >= LEAST_MODIFIERS and of["PART"] >= CASE_PARTICLES * of.total():
            found["ADP case of", "PART", "case"].append(language)
    adverbials, marks = (counts(docs, f"dep-{one}*", OF_PAIR) for one in ("advmod", "mark"))
    for language, of in counts(docs, "feat-Polarity", OF_VALUE.format("Neg")).items():
        # Where verbs, too, have negative forms, those of auxiliaries are no words for *not*.
        tag = max(("PART", "ADV", "AUX") if of["AUX"] >= of["VERB"] else ("PART", "ADV"), key=of.__getitem__)
        # In Irish all particles before verbs are marks.
        marking = marks[language][tag] >= max(RATIO * adverbials[language][tag], LEAST_MODIFIERS)
        particle = "mark" if marking else "advmod"
        if of[tag] >= LEAST:
            relation = {"AUX": "aux", "PART": particle}.get(tag, "advmod")
            found["PART advmod", tag, relation].append(language)
    auxiliaries = counts(docs, "dep-aux", OF_PAIR)
    for language, of in counts(docs, "dep-xcomp-pred", OF_PAIR).items():
        if of.total() >= LEAST_MODIFIERS and of.total() >= RATIO * auxiliaries[language].total():
            for one in BE:
                found[one.name, "VERB", HEAD].append(language)
    of_ones = ones(docs)
    for language, of in words.items():
        if of["NUM"] >= LEAST:
            annotation = ARTICLES.becomes if of_ones.get(language, 0.0) >= ONES else ARTICLES.own
            found[ARTICLES.name, *annotation].append(language)
    for language, share in compounds(docs).items():
        for one in COMPOUNDS:
            annotation = one.own if share > COMPOUND else one.becomes
            found[one.name, *annotation].append(language)
        for one in MODIFIERS if share > HALF else ():
            found[one.name, one.tag, "compound"].append(language)
    expletives, verbal = (counts(docs, "dep-expl*", of) for of in (OF_PAIR, OF_HEAD.format("VERB")))
    for language, of in counts(docs, "feat-Reflex", OF_VALUE.format("Yes")).items():
        expletive = expletives[language]["PRON"]
        frequent = expletive >= max(EXPLETIVES * words[language].total(), LEAST_MODIFIERS)
        if (
            of["PRON"] >= max(of["AUX"], LEAST)
            and frequent
            and verbal[language]["PRON"] >= OF_VERBS * expletive
        ):
            found[REFLEXIVE, "PRON", EXPLETIVE].append(language)
    objects, indirect = (counts(docs, f"dep-{one}", OF_PAIR) for one in ("obj", "iobj"))
    for language, of in objects.items():
        if of.total() >= LEAST_MODIFIERS:
            shared = indirect[language].total() >= INDIRECT_OBJECTS * of.total()
            for one in INDIRECT:
                found[one.name, *(one.own if shared else one.becomes)].append(language)
    complements = counts(docs, "dep-xcomp", OF_PAIR)
    nominal = {language: of for language, of in complements.items() if of["NOUN"] >= NOUNS * of.total()}
    for parts, others, of_languages in (
        (PASSIVE, ("ADJ",), counts(docs, "feat-Voice", OF_VALUE.format("Pass"))),
        (GERUND, ("NOUN",), counts(docs, "feat-VerbForm", OF_VALUE.format("Vnoun")) | nominal),
        (INFINITIVE, ("NOUN",), nominal),
        (PARTICIPLE, ("NOUN",), nominal),
        (RELATIVE, ("DET", "PART"), counts(docs, "feat-PronType", OF_VALUE.format(r"(?:\w+,)*Rel"))),
    ):
        for language, of in of_languages.items():
            tag = max(others, key=of.__getitem__)
            if of[tag] > of[parts[0]] and of.total() >= LEAST:
                found[" ".join(parts), tag, ANY].append(language)
    return ["\t".join((*key, " ".join(sorted(of)), PUBLISHED)) for key, of in sorted(found.items())]


def compounds(docs: Path) -> dict[str, float]:
    """Return the share of compounds among nouns that modify nouns, by language: the mean of its treebanks."""
    of_treebanks: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for relation in ("compound", "nmod"):
        for path in sorted(docs.glob(f"treebanks/*/*-dep-{relation}*.md")):
            of_nouns = re.findall(OF_HEAD.format("NOUN"), path.read_text(encoding="utf-8"))
            of_treebanks[path.parent.name][relation] += sum(
                int(number) for tag, number in of_nouns if tag == "NOUN"
            )
    shares = defaultdict[str, list[float]](list)
    for name, of in of_treebanks.items():
        if of.total() >= LEAST_MODIFIERS:
            shares[name.split("_")[0]].append(of["compound"] / of.total())
    return {language: mean(of) for language, of in shares.items()}


def ones(docs: Path) -> dict[str, float]:
    """Return the share of the commonest numeral among words, by language: the mean of its treebanks.

    Pages show it if the word has another UPOS, too; it must be NUM in most cases.
    """
    shares = defaultdict[str, list[float]](list)
    for path in sorted(docs.glob("treebanks/*/*-pos-NUM.md")):
        page, treebank = path.read_text(encoding="utf-8"), path.name.partition("-pos-")[0]
        first = re.search(r"frequent `NUM` lemmas: *([^,،、\s]+)", page)
        also = first and re.search(rf"ambiguous lemmas:.*?[ ,]{re.escape(first[1])} \(([^)]*)\)", page)
        if not also:
            continue
        of = {tag: int(number) for tag, number in re.findall(OF_LEMMA, also[1])}
        pages = (one.read_text(encoding="utf-8") for one in path.parent.glob(f"{treebank}-pos-*.md"))
        total = sum(int(number) for page in pages for _, number in re.findall(OF_TAG, page))
        if max(of, key=of.__getitem__) == "NUM":
            shares[path.parent.name.split("_")[0]].append(of["NUM"] / total)
    return {language: mean(of) for language, of in shares.items()}


def counted() -> list[str]:
    lines = (FOLDER / "conventions.tsv").read_text(encoding="utf-8").splitlines()
    return [line for line in lines if not line.endswith(PUBLISHED)]


def registered(automation: Path) -> dict[str, dict[str, Any]]:
    found: dict[str, dict[str, Any]] = json.loads(
        (automation / "valrules/data.json").read_text(encoding="utf-8")
    )["auxiliaries"]
    return found


def functions_of(lemma: dict[str, Any]) -> set[str]:
    return {one["function"] for one in lemma["functions"]}


def modals(automation: Path) -> list[str]:
    """Return which languages have an auxiliary of possibility, necessity or wish, and which have none."""
    languages: dict[bool, list[str]] = {True: [], False: []}
    for code, lemmas in sorted(registered(automation).items()):
        functions = set[str]().union(*map(functions_of, lemmas.values()))
        languages[functions.isdisjoint(MODALITY)].append(code)
    annotations = {True: ("VERB", HEAD), False: MODALS.own}
    rows = ((MODALS.name, *annotations[one], " ".join(codes), PUBLISHED) for one, codes in languages.items())
    return list(map("\t".join, rows))


def auxiliaries(automation: Path) -> list[str]:
    lines = []
    for code, lemmas in sorted(registered(automation).items()):
        verbs, pronouns = list[str](), list[str]()
        for one, lemma in sorted(lemmas.items()):
            if " " not in one and one != "null":
                (pronouns if functions_of(lemma) == {PRONOUN} else verbs).append(one)
        if verbs or pronouns:
            columns = (code, " ".join(verbs), *([" ".join(pronouns)] if pronouns else ()))
            lines.append("\t".join(columns))
    return lines


if __name__ == "__main__":
    for name, lines in (
        ("conventions", [*modals(Path(sys.argv[2])), *conventions(Path(sys.argv[1])), *counted()]),
        ("auxiliaries", auxiliaries(Path(sys.argv[2]))),
    ):
        (FOLDER / f"{name}.tsv").write_text("\n".join(lines) + "\n", encoding="utf-8")
