#!/usr/bin/env python
"""Project a treebank: a German parser from English trees, a bitext and German tags.

    python scripts/example_project.py [FOLDER]

FOLDER is that of the sample, corpora/, unless you name it; it holds en.conllu and de.conllu. German trees are
looked at in the end only, to see how well it went.
"""

import sys
from pathlib import Path

import qsproj

# Every third sentence is kept for the test.
HELD_OUT = 3
CHECKOUT = Path(__file__).resolve().parent.parent


def main(folder: Path) -> None:
    """Link words, train an English parser, carry its trees over, and score what came of it."""
    english = list(qsproj.read_conllu(folder / "en.conllu"))
    german = list(qsproj.read_conllu(folder / "de.conllu"))
    test = german[::HELD_OUT]
    learned_from = [i for i in range(len(german)) if i % HELD_OUT]

    # Where you have no gold trees of the source, parse it; where the target has no tags, train a tagger for them:
    # source = [parser.parse(sentence) for sentence in ...]; target = [tagger.tag(sentence) for sentence in ...]
    source = [english[i] for i in learned_from]
    training = [german[i] for i in learned_from]
    target = [qsproj.Sentence.from_words(s.forms, upos=s.upos, sent_id=s.sent_id or "") for s in training]

    # These links are made by hand. Of a bitext of yours: qsproj.align(english, german, threshold=0.15)
    sizes = [(len(one), len(other)) for one, other in zip(english, german, strict=True)]
    links = list(qsproj.read_alignments(folder / "en-de.pharaoh", sizes=sizes))
    parser = qsproj.project(source, target, [links[i] for i in learned_from], method="soft")
    parsed = [parser.parse(sentence, confidence=True) for sentence in test]

    delexicalised = qsproj.train_parser(source, features="delexicalised")
    for name, trees in (
        ("an English parser that reads tags alone", map(delexicalised.parse, test)),
        ("the same, moved by what links carry over", parsed),
    ):
        scores = qsproj.evaluate(test, trees)
        print(f"{name:42} UAS {scores.uas:.1f}  LAS {scores.las_no_subtypes:.1f}")

    parser.save("de.parser")  # qsproj.load_model("de.parser") reads it again
    qsproj.write_conllu(parsed, "de.parsed.conllu")
    qsproj.draw(parsed[0]).save("de.svg")
    print("wrote de.parser, de.parsed.conllu, and de.svg, a picture of its first tree")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else CHECKOUT / "corpora")
