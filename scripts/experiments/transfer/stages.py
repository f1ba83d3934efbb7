"""The stages of projection, each a qsproj command in a separate process: taggers, parsers, tagged and aligned bitexts."""

from __future__ import annotations

import gzip
import lzma
import os
import subprocess
import sys
import time
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from qsproj.corpus.conllu import read_conllu, write_conllu
from qsproj.corpus.pairs.aligned import AlignedFiles
from qsproj.errors import UsageError
from qsproj.models.arc.training_options import TrainingOptions
from qsproj.pipelines.projection.hard_projection import project_hard
from qsproj.pipelines.projection.methods import HARD_EPOCHS, HardProjectionOptions
from scripts.experiments.harness.cache import said
from scripts.experiments.harness.experiment import Lab

TAGGER_TREEBANKS = {
    "en": ("english-ewt-train",),
    "de": ("german-gsd-dev", "german-lit-test"),
    "es": ("spanish-gsd-dev", "spanish-ancora-dev", "spanish-ancora-test"),
    "sv": ("swedish-talbanken-dev", "swedish-talbanken-test"),
}
NAMES = {"de": "German", "es": "Spanish", "sv": "Swedish"}
SUBWORDS = "--split-contractions"

Argument = str | Path


@dataclass(frozen=True)
class Stages:
    """A folder of outputs, each made when first requested; every method returns the path of a file."""

    lab: Lab

    def stage(self, name: str, *command: Argument) -> Path:
        """Run one qsproj command that writes the file ``name``; paths among its arguments are its inputs."""
        inputs = [argument for argument in command if isinstance(argument, Path)]
        words = [argument.name if isinstance(argument, Path) else argument for argument in command]

        def run(path: Path) -> dict[str, Any]:
            print(f"{name}: qsproj {' '.join(words)}", file=sys.stderr, flush=True)
            return timed([*map(str, command), "-o", str(path)])

        return self.lab.cache.file(
            name, run, options={"command": words}, data=inputs, experiment=Path(__file__)
        )

    def joined(self, name: str, parts: Iterable[Path]) -> Path:
        """Put CoNLL-U files after each other, without comments, so that sentences are paired by order."""
        sources = list(parts)

        def write(path: Path) -> None:
            path.write_bytes(b"".join(without_comments(decompressed(part)) for part in sources))

        return self.lab.cache.file(name, write, data=sources, experiment=Path(__file__))

    def tagger(self, language: str) -> Path:
        """Train on treebanks and, but for English, on the raw text of the bitext's side."""
        treebanks = map(self.lab.treebank_path, TAGGER_TREEBANKS[language])
        return self.tagger_of(f"{language}.tagger", language, treebanks)

    def tagger_of(self, name: str, language: str, treebanks: Iterable[Path], *, raw: bool = True) -> Path:
        """Train such a tagger on other treebanks, or one without raw text."""
        text = ("--raw", self.text(language, language)) if raw and language != "en" else ()
        return self.stage(name, "train-tagger", *treebanks, *text, "--language", language)

    def half(self, treebank: str, number: int) -> Path:
        """Write the first half of a treebank, or the second."""
        whole = self.lab.treebank_path(treebank)

        def write(path: Path) -> None:
            sentences = list(read_conllu(whole))
            middle = len(sentences) // 2
            write_conllu(sentences[middle:] if number else sentences[:middle], path)

        options = {"half": number}
        name = f"{treebank}.half-{number}.conllu"
        return self.lab.cache.file(name, write, options=options, data=[whole], experiment=Path(__file__))

    def source_parser(self) -> Path:
        ewt = self.lab.treebank_path("english-ewt-train")
        return self.stage("en.parser", "train", ewt, "--features", "words", "--epochs", "8")

    def delexicalised_parser(self) -> Path:
        ewt = self.lab.treebank_path("english-ewt-train")
        return self.stage(
            "delexicalised.parser", "train", ewt, "--features", "delexicalised", "--epochs", "8"
        )

    def text(self, language: str, side: str) -> Path:
        """Write either side of the bitext as a text file."""
        bitext = self.lab.bitext_path(language)

        def write(path: Path) -> None:
            with lzma.open(bitext, "rt", encoding="utf-8") as pairs, path.open("w", encoding="utf-8") as out:
                for line in pairs:
                    left, right = line.rstrip("\n").split("\t")
                    out.write((left if side == "en" else right) + "\n")

        name = f"en-{language}.{side}.txt"
        return self.lab.cache.file(
            name, write, options={"side": side}, data=[bitext], experiment=Path(__file__)
        )

    def tagged(self, language: str, side: str) -> Path:
        """Tag a side of the bitext."""
        text = self.text(language, side)
        name = f"en-{language}.{side}.tagged.conllu"
        return self.stage(name, "tag", "-m", self.tagger(side), text, SUBWORDS)

    def parsed_english(self, language: str) -> Path:
        """Parse the English side of the bitext."""
        tagged = self.tagged(language, "en")
        return self.stage(f"en-{language}.en.conllu", "parse", "-m", self.source_parser(), tagged)

    def links(self, language: str) -> Path:
        """Align the bitext."""
        sides = self.tagged(language, "en"), self.tagged(language, language)
        return self.stage(f"en-{language}.pharaoh", "align", *sides, "--weights")

    def main_job(self, language: str) -> dict[str, Path]:
        """Return the outputs of the stages before projection, by stage."""
        return {
            "train the English tagger": self.tagger("en"),
            "train the English parser": self.source_parser(),
            "train the target tagger, with raw text": self.tagger(language),
            "tag English": self.tagged(language, "en"),
            "tag the target": self.tagged(language, language),
            "align": self.links(language),
            "parse English": self.parsed_english(language),
        }

    def candidates(self, language: str) -> Path:
        """Align the bitext; return all links that are worth a thought."""
        sides = self.tagged(language, "en"), self.tagged(language, language)
        name = f"en-{language}.candidates.pharaoh"
        return self.stage(name, "align", *sides, "--weights", "--threshold", "0.15")

    def tagged_pud(self, language: str) -> Path:
        """Give PUD the tagger's tags."""
        name = f"pud.{language}.tagged.conllu"
        return self.stage(name, "tag", "-m", self.tagger(language), self.lab.pud_path(language))

    def projected(self, language: str, name: str, options: HardProjectionOptions) -> Path:
        """Train a parser on trees that are projected through the bitext, by the method ``hard``."""
        if options == HardProjectionOptions():
            sides = ("--source", self.parsed_english(language), "--target", self.tagged(language, language))
            given = (*sides, "--alignment", self.links(language), "--method", "hard")
            return self.stage(f"{language}.{name}.parser", "project", *given)
        files = [self.parsed_english(language), self.tagged(language, language), self.links(language)]

        def run(path: Path) -> dict[str, Any]:
            training = TrainingOptions(epochs=HARD_EPOCHS, projective=True)
            made = project_hard(
                AlignedFiles(*map(str, files)),
                rng=np.random.default_rng(1),
                projection=options,
                training=training,
            )
            made.parser.save(str(path))
            return {"said": list(made.report)}

        return self.lab.cache.file(
            f"{language}.{name}.parser", run, options=asdict(options), data=files, experiment=Path(__file__)
        )

    def parsed_pud(self, language: str, model: Path, *, tagged: bool) -> Path:
        """Parse PUD with its own tags or the tagger's."""
        tags = self.tagged_pud(language) if tagged else self.lab.pud_path(language)
        name = f"pud.{language}.{model.name}{'.tagged' if tagged else ''}.conllu"
        return self.stage(name, "parse", "-m", model, tags)


def took(path: Path) -> dict[str, Any]:
    """Return the resources and the report of the command that made a file."""
    found: dict[str, Any] = said(path)
    return found


def timed(command: list[str]) -> dict[str, Any]:
    """Run qsproj; return seconds, the peak of its memory in MB, and the lines of its standard error."""
    start = time.perf_counter()
    with subprocess.Popen(
        [sys.executable, "-m", "qsproj", *command], stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stderr is not None
        lines = process.stderr.read()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise UsageError(f"qsproj {' '.join(command)}: {lines.strip()}")
    return {
        "wall": time.perf_counter() - start,
        "cpu": usage.ru_utime + usage.ru_stime,
        "peak": usage.ru_maxrss / 1024,
        "said": lines.strip().splitlines(),
    }


def decompressed(path: Path) -> bytes:
    """Return the content of a file, decompressed if necessary."""
    return gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()


def without_comments(conllu: bytes) -> bytes:
    return b"".join(line for line in conllu.splitlines(keepends=True) if not line.startswith(b"#"))
