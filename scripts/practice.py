"""Print which tags the treebanks of the data folder give the words of each question of convention.

python -m scripts.practice FOLDER > qsproj/corpus/language/practice.tsv. A line names a question, a tag, and the languages
in whose treebank most words of the class have it. Treebanks before UD v2, with the tag CONJ, are left out. A
language counts with at least LEAST words of the class.
"""

import sys
from collections import Counter, defaultdict
from pathlib import Path

from qsproj.corpus.conllu import read_conllu
from qsproj.corpus.language.questions import QUESTIONS, questions_in

# One treebank of each language.
TREEBANKS = {
    "ar": "treebanks/arabic-padt-dev",
    "cs": "treebanks/czech-cac-dev",
    "da": "treebanks/danish-ddt-dev",
    "de": "treebanks/german-gsd-dev",
    "el": "treebanks/greek-gdt-dev",
    "en": "treebanks/english-ewt-dev",
    "es": "treebanks/spanish-gsd-dev",
    "et": "bible/et-dev",
    "got": "bible/got-dev",
    "hu": "treebanks/hungarian-szeged-dev",
    "hy": "bible/hy-dev",
    "it": "partut/it-dev",
    "ja": "treebanks/japanese-gsd-dev",
    "nl": "treebanks/dutch-alpino-dev",
    "pcm": "styles/naija-dev.ud",
    "ru": "bible/ru-dev",
    "sl": "treebanks/slovenian-ssj-dev",
    "sv": "treebanks/swedish-talbanken-dev",
    "tr": "treebanks/turkish-imst-dev",
    "uk": "bible/uk-dev",
    "wo": "bible/wo-dev",
    "zh": "pud/zh",
}
LEAST = 10
FORMER = "CONJ"


def lines_of(folder: Path) -> list[str]:
    """Return the lines of the table, the commonest tag of a question first."""
    found: dict[str, dict[str, list[str]]] = {one.name: defaultdict(list) for one in QUESTIONS}
    for language, name in TREEBANKS.items():
        counts: dict[str, Counter[str]] = {one.name: Counter() for one in QUESTIONS}
        tags = set[str]()
        for sentence in read_conllu(folder / f"{name}.conllu.gz"):
            tags.update(sentence.upos)
            for tag, questions in zip(sentence.upos, questions_in(sentence), strict=True):
                for one in questions:
                    counts[one.name][tag] += 1
        for question, of_question in counts.items():
            if FORMER not in tags and of_question.total() >= LEAST:
                tag = min(of_question, key=lambda tag: (-of_question[tag], tag))
                found[question][tag].append(language)
    return [
        f"{question}\t{tag}\t{' '.join(languages)}"
        for question, by_tag in found.items()
        for tag, languages in sorted(by_tag.items(), key=lambda one: (-len(one[1]), one[0]))
    ]


if __name__ == "__main__":
    print("\n".join(lines_of(Path(sys.argv[1]))))
