"""The languages that changes are tried on: bitexts with English, and development files of many kinds.

What comes before the prior (source tagger and parser, words, links, source trees, target tags) is made once by the
stages of the bootstrap and kept in a workspace, whatever the code is later: a stage is made again when its version is
raised or its inputs change.
"""

from __future__ import annotations

import lzma
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice
from pathlib import Path

from qsproj.corpus.conllu import read_conllu
from qsproj.corpus.contractions import known_contractions
from qsproj.corpus.pairs.aligned import AlignedFiles
from qsproj.corpus.sentence import Sentence
from qsproj.models.parser import load_tags
from qsproj.models.tagging.tagger import Tagger
from qsproj.parallel import THIS_PROCESS
from qsproj.pipelines.bootstrap import stages
from qsproj.pipelines.bootstrap.texts import SourceText
from qsproj.pipelines.bootstrap.workspace import InputPath, Workspace

SOURCE = "en"
ENGLISH = "treebanks/english-ewt-train.conllu.gz"
# The rest of PUD is for reports.
PUD_SENTENCES = 600


@dataclass(frozen=True)
class Language:
    """Where the bitext with English is, and what is tested on.

    Attributes
    ----------
    bitext : str
        A file of pairs; of two treebanks of the same sentences, parted by a space, the texts are taken.
    tests : mapping of str to str
        Files of gold trees.
    """

    name: str
    bitext: str
    tests: dict[str, str]


LANGUAGES = {
    "de": Language("German", "bitext/en-de", {"GSD": "treebanks/german-gsd-dev"}),
    "es": Language(
        "Spanish",
        "bitext/en-es",
        {"GSD": "treebanks/spanish-gsd-dev", "AnCora": "treebanks/spanish-ancora-dev"},
    ),
    "sv": Language(
        "Swedish",
        "bitext/en-sv",
        {"Talbanken": "treebanks/swedish-talbanken-dev", "LinES": "lines/sv-dev"},
    ),
    "cs": Language("Czech", "bitext/en-cs", {"CAC": "treebanks/czech-cac-dev"}),
    "it": Language("Italian", "partut/en-train partut/it-train", {"ParTUT": "partut/it-dev"}),
    "uk": Language("Ukrainian", "bible/en-uk", {"IU": "bible/uk-dev"}),
    "wo": Language("Wolof", "bible/en-wo", {"WTB": "bible/wo-dev"}),
    "hy": Language("Armenian", "bible/en-hy", {"ArmTDP": "bible/hy-dev"}),
    "got": Language("Gothic", "bible/en-got", {"PROIEL": "bible/got-dev"}),
    "tr": Language("Turkish", "pud/en pud/tr", {"PUD": "pud/tr"}),
    "zh": Language("Chinese", "pud/en pud/zh", {"PUD": "pud/zh"}),
}


@dataclass(frozen=True)
class Prepared:
    """A language ready for its prior: pairs with source trees, target tags and links, and who tagged."""

    code: str
    corpus: AlignedFiles
    tagger: Path
    # conventions of English that do not hold in it
    unshared: tuple[str, ...]

    def load_tagger(self) -> Tagger:
        return load_tags(self.tagger)


def first_of(path: Path) -> Iterable[Sentence]:
    """Read a file of trees; of PUD the part that may be looked at."""
    return islice(read_conllu(path), PUD_SENTENCES if path.parent.name == "pud" else None)


def tests_of(code: str, data: Path, most: int | None) -> dict[str, list[Sentence]]:
    """Return the gold trees of each test, the first of them where there are too many."""
    tests = LANGUAGES[code].tests.items()
    return {name: list(islice(first_of(data / f"{path}.conllu.gz"), most)) for name, path in tests}


def prepared(code: str, data: Path, work: Path, most: int | None) -> Prepared:
    """Bring a language as far as its prior, or find that it is; ``most`` pairs at most are read."""
    treebank = InputPath(data / ENGLISH)
    text = SourceText(
        treebanks=(treebank,),
        bitext=(InputPath(bitext_of(code, data, work, most)),),
        languages=(SOURCE, code),
        cut=LANGUAGES[code].bitext.startswith("bible/"),
    )
    made = partial(Workspace(work, run=code).stage)
    aside = {"workers": THIS_PROCESS}
    model = made(stages.SOURCE, treebanks=text.treebanks, language=SOURCE, seed=1).file
    words = made(
        stages.WORDS,
        text=text,
        model=model,
        tagged=(),
        contractions=known_contractions(code),
        parsed=(),
        seed=1,
        aside=aside,
    )
    ours, theirs = words.files
    named = {"name": text.bitext[0], **aside}
    links = made(stages.LINKS, source=ours, target=theirs, unspaced=None, aside=named).file
    told = {"total": int(words.told.figures.get("pairs", 0)), **aside}
    trees = made(stages.TREES, words=ours, model=model, aside=told).file
    corpus = AlignedFiles(trees, theirs, links)
    learned = made(
        stages.TAGGER,
        corpora=[corpus],
        tagged=(),
        lexicon=None,
        lemmatizer=None,
        text=(),
        paragraphs=False,
        language=code,
        seed=1,
    )
    tagged = made(stages.TAGGED, words=theirs, tagger=learned.file, aside=told).file
    unshared = tuple(learned.told.figures.get("unshared", ()))
    return Prepared(code, replace(corpus, target=tagged), Path(learned.file), unshared)


def bitext_of(code: str, data: Path, work: Path, most: int | None) -> Path:
    """Return the file of pairs of a language: the first of a bitext, or of two treebanks."""
    names = LANGUAGES[code].bitext.split()
    if len(names) == 1:
        whole = data / f"{names[0]}.tsv.xz"
        if most is None:
            return whole
        with lzma.open(whole, "rt", encoding="utf-8") as pairs:
            lines = list(islice(pairs, most))
    else:
        source, target = (first_of(data / f"{name}.conllu.gz") for name in names)
        by_id = {id_of(sentence): sentence for sentence in target}
        both = ((one, by_id.get(id_of(one))) for one in source)
        lines = [f"{' '.join(one.forms)}\t{' '.join(other.forms)}\n" for one, other in both if other]
    path = work / f"{SOURCE}-{code}.tsv"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(lines), encoding="utf-8")
    return path


def id_of(sentence: Sentence) -> str:
    """Return what tells which sentences of two treebanks translate each other."""
    lines = sentence.layout.lines if sentence.layout else ()
    named = next((line for line in lines if line.startswith("# parallel_id = ")), "")
    return named.partition(" = ")[2] or sentence.sent_id or ""
