#!/usr/bin/env python
"""Adapt a style: a treebank that follows old guidelines, ten of its sentences annotated by new ones.

    python scripts/example_adapt.py [FOLDER]

FOLDER is that of the sample, corpora/, unless you name it; it holds en.conllu. The new style is made by rule here,
prepositions and auxiliaries head their phrases, so that the result can be scored; yours will come from annotators.
"""

import sys
from pathlib import Path

import qsproj
from qsproj.styles.convert import convert
from qsproj.styles.style import parse_style

ANNOTATED = 10
CHECKOUT = Path(__file__).resolve().parent.parent


def main(folder: Path) -> None:
    """Learn from ten sentences in both styles, convert the others, and see what is left to correct."""
    old = list(qsproj.read_conllu(folder / "en.conllu"))
    new = [convert(sentence, parse_style("function-head")) for sentence in old]

    converter = qsproj.adapt(old[:ANNOTATED], new[:ANNOTATED])
    rest, gold = old[ANNOTATED:], new[ANNOTATED:]
    converted = [converter.convert_sentence(sentence, confidence=True) for sentence in rest]

    for name, trees in (("the old trees", rest), ("converted", converted)):
        scores = qsproj.evaluate(gold, trees)
        print(f"{name:14} UAS {scores.uas:.1f}  LAS {scores.las:.1f}  of the new style")

    # Trees to check first: those with the least confident arc.
    chances = [converter.arc_probabilities(sentence) for sentence in rest]
    doubt = [
        min(p[head, word] for word, head in enumerate(tree.heads[1:], 1))
        for p, tree in zip(chances, converted)
    ]
    first = min(range(len(rest)), key=doubt.__getitem__)
    print("look first at:", " ".join(rest[first].forms))

    converter.save("new.converter")
    qsproj.write_conllu(converted, "en.new.conllu")
    qsproj.draw(converted[first]).save("doubtful.svg")
    print("wrote new.converter, en.new.conllu, and doubtful.svg, a picture of that tree")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else CHECKOUT / "corpora")
