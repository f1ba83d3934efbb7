"""Cases: for each, the commands to run, and the cases whose files they read.

Commands are lines of ``qsproj``, or of Python, run in a folder that initially contains :data:`INPUTS`. File names differ
between cases. Each case is as small as its purpose allows.
"""

from __future__ import annotations

from dataclasses import dataclass

# Files at the start -> file of the sample, its first sentence, and the one after its last.
# "text" is the words of each sentence in a line.
INPUTS: dict[str, tuple[str, int, int]] = {
    "en.conllu": ("en.conllu", 0, 24),
    "de.conllu": ("de.conllu", 0, 24),
    "es.conllu": ("es.conllu", 0, 24),
    "en-de.pharaoh": ("en-de.pharaoh", 0, 24),
    "es-de.pharaoh": ("de-es.pharaoh", 0, 24),
    "hand.pharaoh": ("en-de.pharaoh", 0, 6),
    "few.de.conllu": ("de.conllu", 24, 32),
    # With crossing arcs.
    "all.de.conllu": ("de.conllu", 0, 90),
    "new.en.conllu": ("en.conllu", 30, 40),
    "new.de.conllu": ("de.conllu", 30, 40),
    "new.en-de.pharaoh": ("en-de.pharaoh", 30, 40),
    "en.text": ("en.conllu", 0, 60),
    "de.text": ("de.conllu", 0, 60),
    "short.de.text": ("de.conllu", 0, 24),
    "new.de.text": ("de.conllu", 60, 66),
}


@dataclass(frozen=True)
class Case:
    """Commands, one a line, and the cases that they build upon."""

    commands: str
    needs: tuple[str, ...] = ()


def trained(name: str, options: str, *, treebank: str = "de.conllu", parse: str = "") -> Case:
    """Return the case of a parser that is trained on a treebank and parses new sentences."""
    return Case(f"""
        train {treebank} -o {name}.parser {options}
        parse -m {name}.parser new.de.conllu --confidence {parse} -o {name}.parsed.conllu
        info {name}.parser
    """)


WORDS = "--features words"
LINKED = "--source en.conllu --target de.conllu --alignment en-de.pharaoh"
NEW_PAIRS = "--source new.en.conllu --target new.de.conllu --alignment new.en-de.pharaoh"


def projected(name: str, options: str, needs: tuple[str, ...] = (), given: str = LINKED) -> Case:
    """Return the case of a parser that is projected."""
    return Case(
        f"""
        project {given} -o {name}.parser --trees {name}.trees.conllu {options}
        parse -m {name}.parser new.de.conllu --confidence -o {name}.parsed.conllu
        info {name}.parser
    """,
        needs,
    )


def in_python(name: str, options: str) -> Case:
    """Return the case of a parser that is projected with options that the command line does not offer."""
    return Case(f"""
        python "from scripts.digests.python_only import project; project('{name}', {options})"
        parse -m {name}.parser new.de.conllu --confidence -o {name}.parsed.conllu
        info {name}.parser
    """)


def joint(name: str, options: str, needs: tuple[str, ...] = (), source: str = "english") -> Case:
    """Return the case of a joint model that is trained on pairs and parses new ones."""
    return Case(
        f"""
        train-biparser {LINKED} --source-model {source}.parser -o {name}.joint {options}
        biparse {NEW_PAIRS} -m {name}.joint -o {name}.de.conllu --source-output {name}.en.conllu \
            --alignment-output {name}.links
        info {name}.joint
    """,
        (source, *needs),
    )


def joint_of_given(name: str, options: str) -> Case:
    """Return the case of a joint model whose target parser is there already, which takes less time."""
    return joint(name, f"--epochs 1 --target-model german.parser {options}", ("german",))


def chosen(name: str, options: str) -> Case:
    """Return the case of links that are learned from those made by hand."""
    return Case(f"""
        align en.conllu de.conllu --hand-alignment hand.pharaoh --weights {options} \
            --save-model {name}.chooser -o {name}.pharaoh
        align new.en.conllu new.de.conllu -m {name}.chooser --weights -o {name}.new.pharaoh
        info {name}.chooser
    """)


ONE_EPOCH = f"--epochs 1 {WORDS}"

CASES: dict[str, Case] = {
    # Monolingual parsers.
    "english": Case(f"""
        train en.conllu -o english.parser --epochs 2 {WORDS}
        parse -m english.parser new.en.conllu -o english.parsed.conllu
    """),
    "first-order": Case("""
        train de.conllu -o first-order.parser --dev few.de.conllu --epochs 2
        parse -m first-order.parser new.de.conllu --confidence -o first-order.parsed.conllu
        parse -m first-order.parser new.de.conllu --decode map -o first-order.map.conllu
        eval new.de.conllu first-order.parsed.conllu --by relation
        eval new.de.conllu first-order.parsed.conllu --calibration --json
        eval new.de.conllu first-order.parsed.conllu --versus first-order.map.conllu
        eval new.de.conllu first-order.parsed.conllu --report first-order.html
        draw first-order.parsed.conllu --versus new.de.conllu -o first-order.drawn.html
        draw first-order.parsed.conllu -o first-order.svg
        info first-order.parser
    """),
    "nonprojective": trained(
        "nonprojective", f"{ONE_EPOCH} --nonprojective --multi-root", treebank="all.de.conllu"
    ),
    "nonprojective-one-root": trained(
        "nonprojective-one-root", f"{ONE_EPOCH} --nonprojective --single-root", treebank="all.de.conllu"
    ),
    "likelihood": trained("likelihood", f"{ONE_EPOCH} --objective likelihood"),
    "risk": trained("risk", f"--epochs 2 {WORDS} --objective risk"),
    "perceptron": trained("perceptron", f"{ONE_EPOCH} --objective perceptron --dev few.de.conllu"),
    "mira": trained("mira", f"{ONE_EPOCH} --objective mira --dev few.de.conllu"),
    "mira-kbest": trained("mira-kbest", f"{ONE_EPOCH} --objective mira-kbest --best 3"),
    "mira-factored": trained("mira-factored", f"{ONE_EPOCH} --objective mira-factored"),
    "eg": trained("eg", f"--epochs 2 {WORDS} --objective eg"),
    "hidden": trained("hidden", f"{ONE_EPOCH} --objective hidden --clusters 2", parse="--decode max-z"),
    "lbfgs": trained("lbfgs", f"--epochs 3 {WORDS} --optimizer lbfgs --l2 5"),
    "cg": trained("cg", f"--epochs 3 {WORDS} --optimizer cg --objective likelihood"),
    "cutoff": Case("""
        python "from scripts.digests.python_only import train_supported; train_supported('cutoff.parser')"
        parse -m cutoff.parser new.de.conllu --confidence -o cutoff.parsed.conllu
        info cutoff.parser
    """),
    "unlabelled": trained("unlabelled", f"{ONE_EPOCH} --unlabelled new.de.conllu --objective likelihood"),
    "delexicalised": Case("""
        train en.conllu es.conllu -o delexicalised.parser --features delexicalised --like de.conllu --epochs 1
        parse -m delexicalised.parser new.de.conllu -o delexicalised.parsed.conllu
    """),
    "labels-joint": trained("labels-joint", f"{ONE_EPOCH} --labels joint --dev few.de.conllu"),
    "labels-joint-crossing": trained(
        "labels-joint-crossing",
        f"{ONE_EPOCH} --labels joint --nonprojective --objective likelihood",
        treebank="all.de.conllu",
    ),
    "order-2": trained("order-2", f"{ONE_EPOCH} --order 2"),
    "order-2-grand": trained("order-2-grand", f"{ONE_EPOCH} --order 2 --factors grand"),
    "order-2-childseq": trained("order-2-childseq", f"{ONE_EPOCH} --order 2 --factors childseq"),
    "order-2-valence": trained("order-2-valence", f"{ONE_EPOCH} --order 2 --factors valence"),
    "order-2-nocross": trained(
        "order-2-nocross", f"{ONE_EPOCH} --order 2 --factors nocross,grand --nonprojective"
    ),
    "joint-tags": trained("joint-tags", "--epochs 1 --joint-tags"),
    # Taggers, text, aligners.
    "tagger": Case("""
        train-tagger de.conllu --language de --text de.text --dev few.de.conllu -o de.tagger
        tag -m de.tagger new.de.text --confidence -o tagger.tagged.conllu
        tag -m de.tagger new.de.conllu -o tagger.conllu
        eval new.de.conllu tagger.conllu --tags
        info de.tagger
    """),
    "tagger-by-rules": Case("""
        train-tagger de.conllu --language de --rules -o rules.tagger
        tag -m rules.tagger new.de.text --split-contractions -o rules.tagged.conllu
    """),
    "tags-through-links": Case("""
        project-tags --source en.conllu --target de.conllu --alignment en-de.pharaoh --language de \
            -o projected.tagger
        tag -m projected.tagger new.de.conllu --confidence -o projected.tagged.conllu
        info projected.tagger
    """),
    "tags-through-links-few-tagged": Case("""
        project-tags --source en.conllu --alignment en-de.pharaoh --source es.conllu \
            --alignment es-de.pharaoh --target de.conllu --tagged few.de.conllu --language de -o votes.tagger
        tag -m votes.tagger new.de.conllu --confidence -o votes.tagged.conllu
    """),
    "align": Case("""
        align en.text de.text --weights --threshold 0.1 -o align.threshold.pharaoh
        align en.text de.text --symmetrize intersection -o align.intersection.pharaoh
        align en.text de.text --symmetrize union -o align.union.pharaoh
        align en.text de.text --symmetrize grow-diag -o align.grow-diag.pharaoh
        align en.text de.text --symmetrize grow-diag-final-and -o align.grow-diag-final-and.pharaoh
        align en.conllu short.de.text --tokenize en de --unspaced target -o align.unspaced.pharaoh
        align en.conllu de.conllu --linked align.linked.conllu -o align.pharaoh
        eval --alignments en-de.pharaoh align.pharaoh
    """),
    "links-fertility": chosen("links-fertility", ""),
    "links-target-hmm": chosen("links-target-hmm", "--alignment-factors target-hmm"),
    "links-source-hmm": chosen("links-source-hmm", "--alignment-factors source-hmm"),
    "links-itg": chosen("links-itg", "--alignment-factors itg"),
    "bundle": Case(
        f"""
        train de.conllu -o bundle.parser {ONE_EPOCH}
        bundle de.tagger bundle.parser --readings 4 -o bundle.model
        parse -m bundle.model new.de.text --confidence -o bundle.parsed.conllu
        info bundle.model
    """,
        ("tagger",),
    ),
    # Projection.
    "soft": projected("soft", ""),
    "soft-two-sources": projected(
        "soft-two-sources",
        "--annotated few.de.conllu --prior delexicalised.parser",
        ("delexicalised",),
        given=f"{LINKED} --source es.conllu --alignment es-de.pharaoh",
    ),
    "hard": in_python("hard", "method='hard', epochs=1, min_attached=0.5"),
    "hard-hwa": in_python("hard-hwa", "method='hard', epochs=1, completion='hwa', min_attached=0.5"),
    "hard-em": projected("hard-em", "--method hard-em --iterations 2"),
    "qg": in_python("qg", "method='qg', iterations=2, min_linked=0.3"),
    "qg-uniform": in_python("qg-uniform", "method='qg', start='uniform', iterations=3, min_linked=0.0"),
    "em": projected("em", "--method em --iterations 3"),
    # Both sides of a bitext.
    "joint": joint("joint", f"--epochs 1 {WORDS}"),
    "joint-best": joint_of_given("joint-best", "--source-tree best"),
    "joint-mono": joint_of_given("joint-mono", "--factors mono --labels after --source-tree observed"),
    "joint-synch": joint("joint-synch", f"--factors synch {WORDS}"),
    "joint-order-2": joint(
        "joint-order-2", "--epochs 1 --order 2", ("english-order-2",), source="english-order-2"
    ),
    "joint-tags-links": joint("joint-tags-links", "--epochs 1 --target-tags links --factors mono"),
    "joint-tags-joint": joint("joint-tags-joint", "--epochs 1 --target-tags joint --factors mono"),
    "joint-target-hmm": joint_of_given(
        "joint-target-hmm",
        "--hand-alignment hand.pharaoh --alignment-factors target-hmm --factors mono",
    ),
    "joint-source-hmm": joint_of_given(
        "joint-source-hmm", "--hand-alignment hand.pharaoh --alignment-factors source-hmm --factors mono"
    ),
    "joint-itg": joint_of_given(
        "joint-itg", "--hand-alignment hand.pharaoh --alignment-factors itg --factors mono"
    ),
    "german": Case(f"train few.de.conllu -o german.parser {ONE_EPOCH}"),
    "english-order-2": Case(f"train en.conllu -o english-order-2.parser --order 2 {ONE_EPOCH}"),
    "joined": Case(
        f"""
        train de.conllu -o joined.parser {ONE_EPOCH}
        join-biparser -m joint.joint --source-model english.parser --target-model joined.parser -o joined.joint
        biparse {NEW_PAIRS} -m joined.joint -o joined.de.conllu --alignment-output joined.links
    """,
        ("joint",),
    ),
    "co-training": Case(
        f"""
        cotrain {NEW_PAIRS} -m joint.joint --annotated few.de.conllu -o co-training.parser
        parse -m co-training.parser new.de.conllu --confidence -o co-training.parsed.conllu
    """,
        ("joint",),
    ),
    "noisy-channel": Case(
        f"""
        cotrain {NEW_PAIRS} -m joint.joint --annotated few.de.conllu -o noisy-channel.parser \
            --method noisy-channel --source-forest agreement
        parse -m noisy-channel.parser new.de.conllu --confidence -o noisy-channel.parsed.conllu
    """,
        ("joint",),
    ),
    # Other annotation styles, suggestions for annotation, and a model for raw text.
    "styles": Case("""
        convert --to prague all.de.conllu -o styles.prague.conllu
        convert --from prague --to coordination=moscow,auxiliaries=head styles.prague.conllu \
            -o styles.moscow.conllu
        styles detect styles.moscow.conllu
        styles roundtrip --to conll all.de.conllu
    """),
    "converter": Case("""
        convert --to prague few.de.conllu -o converter.few.prague.conllu
        adapt --source few.de.conllu --target converter.few.prague.conllu --epochs 2 -o prague.converter
        convert -m prague.converter new.de.conllu --confidence --least-sure converter.check.conllu \
            -o converter.converted.conllu
        suggest -m prague.converter new.de.conllu --annotated few.de.conllu --count 3 \
            -o converter.next.conllu
        info prague.converter
    """),
    "adapted-parser": Case(
        """
        train de.conllu -o adapted.ud.parser --epochs 1
        convert --to prague few.de.conllu -o adapted.few.prague.conllu
        adapt --parser adapted.ud.parser --source few.de.conllu --target adapted.few.prague.conllu \
            --epochs 2 -o adapted.parser
        parse -m adapted.parser new.de.conllu --confidence -o adapted.parsed.conllu
        info adapted.parser
    """
    ),
    "suggest": Case(
        """
        suggest -m likelihood.parser new.de.conllu --count 4 --predict -o suggest.errors.conllu
        suggest -m likelihood.parser new.de.conllu --words 30 -o suggest.words.conllu
        suggest -m likelihood.parser new.de.conllu --annotated few.de.conllu -o suggest.annotated.conllu
        suggest -m likelihood.parser new.de.conllu --plain -o suggest.plain.conllu
    """,
        ("likelihood",),
    ),
    "bootstrap": Case("""
        bootstrap --treebank en.conllu --bitext en.text de.text --languages en de --work stages \
            --trees bootstrap.conllu -o bootstrap.model
        parse -m bootstrap.model new.de.text --confidence -o bootstrap.parsed.conllu
        info bootstrap.model
    """),
}


def with_needs(names: list[str]) -> list[str]:
    """Return the named cases and what they build upon, each after what it needs."""
    found: dict[str, None] = {}

    def add(name: str) -> None:
        for needed in CASES[name].needs:
            add(needed)
        found.setdefault(name)

    for name in names:
        add(name)
    return list(found)
