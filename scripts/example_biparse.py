#!/usr/bin/env python
"""Parse a bitext: English has a parser, thirty German trees are known; both sides help each other.

    python scripts/example_biparse.py [FOLDER]

FOLDER is that of the sample, corpora/, unless you name it; it holds en.conllu and de.conllu.
"""

import sys
from pathlib import Path

import qsproj

KNOWN, TEST = 30, 20
CHECKOUT = Path(__file__).resolve().parent.parent


def main(folder: Path) -> None:
    """Train on pairs with German trees, parse pairs without, and compare with parsing German alone."""
    english = list(qsproj.read_conllu(folder / "en.conllu"))
    german = list(qsproj.read_conllu(folder / "de.conllu"))
    # Candidates, of which the joint model believes some and others not.
    links = qsproj.align(english, german, threshold=0.1)

    english_parser = qsproj.train_parser(english[:-TEST], features="words")
    biparser = qsproj.train_biparser(
        english[:KNOWN], german[:KNOWN], links[:KNOWN], source_model=english_parser
    )
    test = zip(english[-TEST:], german[-TEST:], links[-TEST:], strict=True)
    pairs = [biparser.parse_pair(*pair) for pair in test]

    alone = [biparser.parse(sentence) for sentence in german[-TEST:]]
    for name, trees in (("German alone", alone), ("with its English side", [pair.target for pair in pairs])):
        scores = qsproj.evaluate(german[-TEST:], trees)
        print(f"{name:22} UAS {scores.uas:.1f}  LAS {scores.las_no_subtypes:.1f}")

    biparser.save("en-de.model")
    qsproj.write_conllu([pair.source for pair in pairs], "en.parsed.conllu")
    qsproj.write_conllu([pair.target for pair in pairs], "de.parsed.conllu")
    qsproj.draw(pairs[0]).save("pair.html")
    print("wrote en-de.model, en.parsed.conllu, de.parsed.conllu, and pair.html, a picture of the first pair")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else CHECKOUT / "corpora")
