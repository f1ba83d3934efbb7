"""What is fuzzed: every command that reads files, on inputs of a few sentences, and models made of these."""

from __future__ import annotations

import contextlib
import io
from dataclasses import dataclass
from pathlib import Path

from qsproj.cli.main import main

SENTENCES = 6
CORPORA = Path("corpora")


@dataclass(frozen=True)
class Job:
    """A command; its inputs and outputs in braces, by the names that they have in a folder.

    Attributes
    ----------
    command : str
    slow : bool
        Whether it takes more than a moment, and is left to longer runs.
    endless : bool
        Whether it would go on for hours.
    """

    command: str
    slow: bool = False
    endless: bool = False

    def inputs(self) -> list[str]:
        """Return the names of the inputs, which stand in braces."""
        return [word[1:-1] for word in self.command.split() if word.startswith("{")]

    def outputs(self) -> list[str]:
        """Return the names of the outputs, which begin with ``out``."""
        return [word for word in self.command.split() if word.startswith("out")]

    def words(self, inputs: dict[str, Path], folder: Path) -> list[str]:
        """Return the words of the command, with the paths of its inputs; its outputs go to the folder."""
        return [
            str(inputs[word[1:-1]])
            if word.startswith("{")
            else str(folder / word)
            if word.startswith("out")
            else word
            for word in self.command.split()
        ]


# How each model is made, in this order.
MODELS = (
    "train {en.conllu} --epochs 1 -o arc.model",
    "train {en.conllu} --epochs 1 --features delexicalised -o delexicalised.model",
    "train-tagger {de.conllu} --language de -o tagger.model",
    "bundle tagger.model arc.model -o text.model",
    "adapt --source {en.conllu} --target {prague.conllu} -o converter.model",
    "adapt --parser arc.model --source {en.conllu} --target {prague.conllu} -o adapted.model",
    "align {en.conllu} {de.conllu} --hand-alignment {links} --weights --save-model chooser.model -o weighted",
    "project --source {en.conllu} --target {de.conllu} --alignment {links} --method em --checkpoint state"
    " -o dmv.model",
    "project --source {en.conllu} --target {de.conllu} --alignment {links} --method qg -o qg.model",
    "train {en.conllu} --epochs 1 --order 2 -o graph.model",
    "train {en.conllu} --epochs 1 --joint-tags -o tagging.model",
    "train {en.conllu} --epochs 1 --labels joint -o labelled.model",
    "train {en.conllu} --epochs 1 --objective hidden -o cluster.model",
    "train-biparser --source {en.conllu} --target {de.conllu} --alignment {links} --source-model arc.model"
    " --epochs 1 -o joint.model",
)
# The models that come first are enough for the jobs of the suite.
QUICK_MODELS = 6

_PAIR = "--source {en.conllu} --target {de.conllu} --alignment {links}"
JOBS = (
    Job("parse -m {arc.model} {en.conllu} -o out.conllu"),
    Job("parse -m {text.model} {de.txt} -o out.conllu"),
    Job("parse -m {adapted.model} {en.conllu} -o out.conllu --confidence"),
    Job("tag -m {tagger.model} {de.conllu} -o out.conllu"),
    Job("tag -m {text.model} {de.txt} -o out.conllu"),
    Job("convert -m {converter.model} {en.conllu} -o out.conllu"),
    Job("info {arc.model}"),
    Job("info {text.model}"),
    Job("parse -m {labelled.model} {en.conllu} --confidence -o out.conllu", slow=True),
    Job("parse -m {cluster.model} {en.conllu} --decode max-z -o out.conllu", slow=True),
    Job("eval {en.conllu} {prague.conllu}"),
    Job("eval {en.conllu} {prague.conllu} --by relation --versus {en.conllu}"),
    Job("eval --alignments {links} {links}"),
    Job("eval --alignments {links} {triples} --alignment-format triples"),
    Job("eval {en.conllu} {parsed.conllu} --calibration"),
    Job("draw {en.conllu} -o out.html"),
    Job("draw {en.conllu} --target {de.conllu} --alignment {links} -o out.html"),
    Job("styles detect {en.conllu}"),
    Job("convert --to prague {en.conllu} -o out.conllu"),
    Job("styles roundtrip --to conll {en.conllu}"),
    Job("align {en.conllu} {de.conllu} -o out.links"),
    Job("align {en.txt} {de.txt} --weights -o out.links"),
    Job("align {pairs.tsv} -o out.links"),
    Job("suggest -m {arc.model} {en.conllu} --annotated {de.conllu} --count 2 -o out.conllu"),
    Job("search upos=NOUN {en.conllu} {prague.conllu} --count"),
    Job("search deprel=nsubj {en.conllu} -o out.conllu"),
    Job("tokenize --language de {de.txt} -o out.txt"),
    Job("tokenize -m {tagger.model} {de.txt} -o out.conllu"),
    Job("bundle {tagger.model} {arc.model} -o out.model"),
    Job("bundle {tagger.model} {labelled.model} -o out.model", slow=True),
    # Refused, undamaged too: there are too few pairs. What is checked before anything is learned is the same.
    Job("bootstrap --treebank {en.conllu} --bitext {pairs.tsv} --languages en de -o out.model"),
    Job("serve -m {text.model} {de.conllu} -o out.conllu"),
    Job("serve -m {text.model} {de.txt} -o out.conllu"),
    Job("train {en.conllu} --epochs 1 -o out.model", slow=True),
    Job(
        "train {en.conllu} {prague.conllu} --epochs 1 --features delexicalised --like {de.conllu}"
        " -o out.model",
        slow=True,
    ),
    Job("train {en.conllu} --epochs 1 --order 2 -o out.model", slow=True),
    Job("train {en.conllu} --epochs 1 --joint-tags -o out.model", slow=True),
    Job("train {en.conllu} --epochs 1 --labels joint --dev {prague.conllu} -o out.model", slow=True),
    Job("train {en.conllu} --epochs 1 --objective hidden -o out.model", slow=True),
    Job("train {en.conllu} --epochs 1 --objective mira-kbest --cutoff 1 -o out.model", slow=True),
    Job("train {en.conllu} --epochs 1 --unlabelled {de.conllu} -o out.model", slow=True),
    Job("train-tagger {de.conllu} --raw {de.txt} --language de -o out.model", slow=True),
    Job(f"project-tags {_PAIR} --lexicon {{lexicon.tsv}} --language de -o out.model", slow=True),
    Job("train-tagger {de.conllu} --lexicon {unimorph} --language de -o out.model", slow=True),
    Job(f"project-tags {_PAIR} --lexicon {{unimorph}} --tagged {{de.conllu}} -o out.model", slow=True),
    Job(f"project-tags {_PAIR} --text {{de.txt}} --language de -o out.model", slow=True),
    Job("adapt --source {en.conllu} --target {prague.conllu} -o out.model", slow=True),
    Job(f"project {_PAIR} -o out.model --trees out.conllu", slow=True),
    Job(f"project {_PAIR} --prior {{delexicalised.model}} --annotated {{de.conllu}} -o out.model", slow=True),
    Job(f"project {_PAIR} --nonprojective -o out.model", slow=True),
    Job(f"project {_PAIR} --method hard -o out.model", slow=True),
    Job(f"project {_PAIR} --method hard-em -o out.model --trees out.conllu", slow=True),
    Job(f"project {_PAIR} --method qg -o out.model", slow=True),
    Job(f"project {_PAIR} --method em -o out.model", slow=True),
    Job(f"train-biparser {_PAIR} --source-model {{arc.model}} --epochs 1 -o out.model", slow=True),
    Job(
        "join-biparser -m {joint.model} --source-model {arc.model} --target-model {arc.model} -o out.model",
        slow=True,
    ),
    Job(f"biparse -m {{joint.model}} {_PAIR} -o out.conllu", slow=True),
    Job(
        f"cotrain -m {{joint.model}} {_PAIR} --trees {{de.conllu}} --method noisy-channel -o out.model",
        slow=True,
    ),
    Job("parse -m {arc.model} {en.conllu} --jobs 2 -o out.conllu", slow=True),
    Job("align {bitext.tsv} --weights --jobs 2 -o out.links", slow=True),
    Job(f"project {_PAIR} --method qg --jobs 2 -o out.model", slow=True),
    Job(f"biparse -m {{joint.model}} {_PAIR} --jobs 2 -o out.conllu", slow=True),
    Job("parse -m {graph.model} {en.conllu} -o out.conllu", slow=True),
    Job("parse -m {tagging.model} {en.conllu} -o out.conllu", slow=True),
    Job("parse -m {dmv.model} {en.conllu} -o out.conllu", slow=True),
    Job("parse -m {qg.model} {en.conllu} -o out.conllu", slow=True),
    Job("align {en.conllu} {de.conllu} -m {chooser.model} -o out.links", slow=True),
    Job("align {en.conllu} {de.conllu} --hand-alignment {links} -o out.links", slow=True),
    Job(
        "bootstrap --treebank {en.conllu} --bitext {bitext.en} {bitext.de} --languages en de --lexicon"
        " {lexicon.tsv} -o out.model --trees out.conllu",
        slow=True,
    ),
    Job(
        "bootstrap --treebank {en.conllu} --bitext {bitext.tsv} --languages en de --jobs 2"
        " --also {prague.conllu} --annotated {de.conllu} -o out.model --report out.html",
        slow=True,
    ),
)

_WHOLE = "--source corpora/en.conllu --target corpora/de.conllu --alignment corpora/en-de.pharaoh"
# One of each way to learn, long enough to be told to end while it learns.
LEARNING = (
    Job("train corpora/en.conllu --epochs 1000000 -o out.model", endless=True),
    *(
        Job(f"train corpora/en.conllu --epochs 1000000 {way} -o out.model", slow=True, endless=True)
        for way in (
            *("--objective mira-kbest", "--objective hidden", "--labels joint", "--joint-tags"),
            "--unlabelled corpora/de.conllu",
        )
    ),
    # These end when nothing more is gained.
    Job("train corpora/en.conllu --epochs 1000000 --optimizer lbfgs -o out.model"),
    Job("train corpora/en.conllu --epochs 1000000 --dev corpora/de.conllu -o out.model"),
    Job("train corpora/en.conllu --order 2 -o out.model"),
    Job("train-tagger corpora/de.conllu --raw {de.txt} --language de -o out.model"),
    Job(f"project-tags {_WHOLE} --language de -o out.model"),
    Job("adapt --source {en.conllu} --target {prague.conllu} --epochs 1000000 -o out.model", endless=True),
    Job(
        "adapt --parser {arc.model} --source {en.conllu} --target {prague.conllu} --epochs 1000000"
        " -o out.model",
        slow=True,
        endless=True,
    ),
    Job(f"project {_WHOLE} -o out.model --trees out.conllu"),
    Job(f"project {_WHOLE} --method hard --epochs 1000000 -o out.model", endless=True),
    *(Job(f"project {_WHOLE} --method {method} -o out.model") for method in ("em", "qg", "hard-em")),
    Job(
        f"train-biparser {_WHOLE} --source-model {{arc.model}} --epochs 1000000 -o out.model",
        endless=True,
    ),
    Job(
        f"train-biparser {_WHOLE} --source-model {{arc.model}} --order 2 --tags links --epochs 1000000"
        " -o out.model",
        slow=True,
        endless=True,
    ),
    Job(
        f"cotrain -m {{joint.model}} {_WHOLE} --trees {{de.conllu}} --rounds 1000000 -o out.model",
        slow=True,
        endless=True,
    ),
    Job(
        "bootstrap --treebank corpora/en.conllu --bitext {bitext.tsv} --languages en de --jobs 2"
        " -o out.model",
        slow=True,
    ),
)


def make_inputs(folder: Path, *, quick: bool) -> dict[str, Path]:
    """Write the undamaged inputs into a folder, and return their paths by name."""
    inputs = {}
    for language in ("en", "de"):
        sentences = (CORPORA / f"{language}.conllu").read_text(encoding="utf-8").split("\n\n")[:SENTENCES]
        inputs[f"{language}.conllu"] = "\n\n".join(sentences) + "\n\n"
        lines = [line for sentence in sentences for line in sentence.split("\n")]
        texts = [line.removeprefix("# text = ") for line in lines if line.startswith("# text = ")]
        inputs[f"{language}.txt"] = "".join(f"{text}\n" for text in texts)
    links = (CORPORA / "en-de.pharaoh").read_text(encoding="utf-8").splitlines(keepends=True)
    inputs["links"] = "".join(links[:SENTENCES])
    both = zip(inputs["en.txt"].splitlines(), inputs["de.txt"].splitlines(), strict=True)
    inputs["pairs.tsv"] = "".join(f"{source}\t{target}\n" for source, target in both)
    inputs |= _bitext()
    inputs["lexicon.tsv"] = "Haus\tNOUN\ngeht\tVERB\n"
    inputs["unimorph"] = "Haus\tHäuser\tN;NOM;PL\ngehen\tgeht\tV;IND;PRS;3;SG\ngehen\tgegangen\tV.PTCP;PST\n"
    inputs["triples"] = "\n".join(
        "".join(f"{link.replace('-', ' ')} 1\n" for link in line.split()) for line in links[:SENTENCES]
    )
    for name, text in inputs.items():
        (folder / name).write_text(text, encoding="utf-8")
    paths = {name: folder / name for name in inputs}
    _run(f"convert --to prague {paths['en.conllu']} -o {folder / 'prague.conllu'}".split())
    paths["prague.conllu"] = folder / "prague.conllu"
    for command in MODELS[:QUICK_MODELS] if quick else MODELS:
        words = [str(folder / word.strip("{}")) if _is_file(word) else word for word in command.split()]
        _run(words)
    parsed = folder / "parsed.conllu"
    _run(f"parse -m {folder / 'arc.model'} {paths['en.conllu']} --confidence -o {parsed}".split())
    paths["parsed.conllu"] = parsed
    return paths | {path.name: path for path in folder.glob("*.model")}


def _bitext() -> dict[str, str]:
    """Return enough pairs for ``bootstrap``, as two files and as one."""
    sides = []
    for language in ("en", "de"):
        lines = (CORPORA / f"{language}.conllu").read_text(encoding="utf-8").splitlines()
        sides.append([line.removeprefix("# text = ") for line in lines if line.startswith("# text = ")])
    pairs = "".join(f"{source}\t{target}\n" for source, target in zip(*sides, strict=True))
    texts = ("".join(f"{line}\n" for line in side) for side in sides)
    return {"bitext.tsv": pairs, **dict(zip(("bitext.en", "bitext.de"), texts, strict=True))}


def _is_file(word: str) -> bool:
    return word.startswith("{") or word.endswith(".model") or word in ("state", "weighted")


def _run(words: list[str]) -> None:
    with contextlib.redirect_stderr(io.StringIO()) as said, contextlib.redirect_stdout(io.StringIO()):
        try:
            code = main(words)
        except SystemExit as exit_:
            code = exit_.code
    if code != 0:
        raise AssertionError(f"{' '.join(words)}: {said.getvalue()}")
