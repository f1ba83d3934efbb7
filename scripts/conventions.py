"""Write what UD publishes about the conventions of languages: python -m scripts.conventions DOCS AUTOMATION.

DOCS is a clone of https://github.com/UniversalDependencies/docs, whose folder treebanks/ has a page of statistics for each
UPOS, feature and relation of each treebank. conventions.tsv shows how languages annotate *my*, *not*, *of* and *living* in
*living water*, and which have verbs for adjectives: a line has the English tag and relation, those of other languages, and
the languages. Where a line has FEATS in place of the relation, as of *written*, *writing* and *which*, such words may have
either tag. A language counts with at least LEAST words of the class, in all its treebanks together. Such lines end with
"published"; those that end with "counted" were counted in treebanks by hand, are kept, and replace what is published of
their languages.

AUTOMATION is a clone of https://github.com/UniversalDependencies/docs-automation, whose valrules/data.json registers the
lemmas that may be AUX in each language, with their functions. auxiliaries.tsv has those that are single words;
conventions.tsv shows which languages have modal ones.
"""

import json
import re
import sys
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

from qsproj.pipelines.tagging.conventions import (
    ANY,
    GERUND,
    HEAD,
    INFINITIVE,
    MODALS,
    PARTICIPLE,
    PASSIVE,
    RELATIVE,
)

FOLDER = Path("qsproj/pipelines/tagging")
PUBLISHED = "published"
LEAST = 10
LEAST_MODIFIERS = 200
# Functions of modal auxiliaries: possibility, necessity, wish.
MODALITY = {"Mood=Pot", "Mood=Nec", "Mood=Des"}
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
OF_PAIR = r"<tt><a[^>]*>\w+</a></tt>-<tt><a[^>]*>(\w+)</a></tt> \((\d+);"
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
        tag, relation, half = "PRON", "nmod", of["PRON"] / 2
        if of["DET"] >= of["PRON"]:
            tag, relation = "DET", "det"
        elif modifiers[language]["PRON"] >= half:
            relation = "nmod:poss"
        elif determiners[language]["PRON"] >= half:
            relation = "det"
        found["PRON nmod:poss", tag, relation].append(language)
    of_amod = counts(docs, "dep-amod", OF_PAIR)
    for language, of in of_amod.items():
        if of.total() >= LEAST_MODIFIERS:
            tag = "VERB" if of["VERB"] >= VERBS * of.total() else "ADJ"
            found["VERB amod", tag, "amod"].append(language)
    for language, of in counts(docs, "pos-*", OF_TAG).items():
        if of["ADJ"] < ADJECTIVES * of.total() and of.total() >= LEAST_WORDS:
            verbs = of_amod[language]["VERB"] >= LEAST_MODIFIERS
            found["ADJ amod", "VERB", "amod" if verbs else "acl"].append(language)
            found[f"ADJ {ANY}", "VERB", ANY].append(language)
    for language, of in counts(docs, "dep-case", OF_PAIR).items():
        if of.total() >= LEAST_MODIFIERS and of["PART"] >= CASE_PARTICLES * of.total():
            found["ADP case of", "PART", "case"].append(language)
    for language, of in counts(docs, "feat-Polarity", OF_VALUE.format("Neg")).items():
        # Where verbs, too, have negative forms, those of auxiliaries are no words for *not*.
        tag = max(("PART", "ADV", "AUX") if of["AUX"] >= of["VERB"] else ("PART", "ADV"), key=of.__getitem__)
        if of[tag] >= LEAST:
            found["PART advmod", tag, "aux" if tag == "AUX" else "advmod"].append(language)
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


def counted() -> list[str]:
    lines = (FOLDER / "conventions.tsv").read_text(encoding="utf-8").splitlines()
    return [line for line in lines if not line.endswith(PUBLISHED)]


def registered(automation: Path) -> dict[str, dict[str, Any]]:
    found: dict[str, dict[str, Any]] = json.loads(
        (automation / "valrules/data.json").read_text(encoding="utf-8")
    )["auxiliaries"]
    return found


def modals(automation: Path) -> list[str]:
    """Return which languages have an auxiliary of possibility, necessity or wish, and which have none."""
    languages: dict[bool, list[str]] = {True: [], False: []}
    for code, lemmas in sorted(registered(automation).items()):
        functions = {one["function"] for lemma in lemmas.values() for one in lemma["functions"]}
        languages[functions.isdisjoint(MODALITY)].append(code)
    annotations = {True: ("VERB", HEAD), False: MODALS.own}
    rows = ((MODALS.name, *annotations[one], " ".join(codes), PUBLISHED) for one, codes in languages.items())
    return list(map("\t".join, rows))


def auxiliaries(automation: Path) -> list[str]:
    found = {
        code: sorted(one for one in lemmas if " " not in one and one != "null")
        for code, lemmas in registered(automation).items()
    }
    return [f"{code}\t{' '.join(lemmas)}" for code, lemmas in sorted(found.items()) if lemmas]


if __name__ == "__main__":
    for name, lines in (
        ("conventions", [*modals(Path(sys.argv[2])), *conventions(Path(sys.argv[1])), *counted()]),
        ("auxiliaries", auxiliaries(Path(sys.argv[2]))),
    ):
        (FOLDER / f"{name}.tsv").write_text("\n".join(lines) + "\n", encoding="utf-8")
