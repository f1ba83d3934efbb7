"""Measure enhanced dependencies: trained, by rules, and a copy of the tree; on gold trees, parsed trees and predicted tags.

ELAS and EULAS are those of IWPT 2021. *Added* is the F1 of edges between words that the tree lacks: gold edges compared
with the gold tree, others with the parsed one. Rules: lemmas of markers in relations, heads shared by conjuncts, subjects
of xcomp, relative clauses.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

import numpy as np

from qsproj.corpus.editing import collapsed_graph, graph_of, with_graph
from qsproj.corpus.sentence import Sentence
from qsproj.corpus.token import Edge
from qsproj.evaluation.conll18 import cut_scores
from qsproj.models.arc.arc_parser import ArcParser
from qsproj.models.arc.arc_training import train_arc_parser
from qsproj.models.enhanced.enhancer import Enhancer, Tree, train_enhancer
from qsproj.models.morphology.morphology_training import train_morphology
from qsproj.models.tagging.tagger_training import train_tagger
from scripts.experiments.harness.experiment import Experiment, Lab
from scripts.experiments.harness.page import Figures
from scripts.experiments.harness.tables import table

TREEBANKS = {
    "English-EWT": ("english-ewt-train", "english-ewt-test"),
    "Swedish-Talbanken, dev": ("swedish-talbanken-dev", "swedish-talbanken-test"),
    "Dutch-Alpino, dev": ("dutch-alpino-dev", "dutch-alpino-test"),
    "Czech-CAC, dev": ("czech-cac-dev", "czech-cac-test"),
}
MARKED = {"nmod": "case", "obl": "case", "advcl": "mark", "acl": "mark", "conj": "cc"}
SEED = 1


def copied(sentence: Sentence) -> Sentence:
    """Return a parsed sentence with its tree as DEPS."""
    heads = map(str, sentence.heads.tolist()[1:])
    return with_graph(sentence, [[edge] for edge in zip(heads, sentence.deprels, strict=True)])


def by_rules(sentence: Sentence) -> Sentence:
    """Return a parsed sentence with the DEPS derived by rules."""
    tree = Tree(sentence)
    graph: list[list[Edge]] = []
    for word in range(1, len(sentence) + 1):
        head, relation = tree.heads[word], marked(tree, word)
        edges = [(str(head), relation)]
        while tree.bare[word] == "conj" and tree.bare[head] == "conj":
            head = tree.heads[head]
        if tree.bare[word] == "conj":
            edges.append((str(tree.heads[head]), marked(tree, head)))
        if "subj" in relation:
            edges += [
                (str(other), f"{relation}:xsubj")
                for other in tree.children[head]
                if tree.bare[other] == "xcomp"
            ]
        graph.append(edges)
    for clause in range(1, len(sentence) + 1):
        if tree.relation(clause) == "acl:relcl":
            antecedent = tree.heads[clause]
            for word in tree.children[clause]:
                if "rel" in tree.feature(word, "PronType").split(","):
                    graph[antecedent - 1].append((str(clause), tree.relation(word)))
                    graph[word - 1] = [(str(antecedent), "ref")]
    return with_graph(sentence, graph)


def marked(tree: Tree, word: int) -> str:
    """Return a relation with the lemma of its marker, and with its case where the language has cases."""
    kind = MARKED.get(tree.bare[word])
    if kind is None:
        return tree.relation(word)
    marker = tree.conjunction(word) if kind == "cc" else tree.marker(word, kind)
    case = tree.feature(word, "Case") if kind == "case" else ""
    return ":".join(filter(None, [tree.relation(word), marker, case]))


def learned(enhancer: Enhancer, parser: ArcParser | None, sentence: Sentence) -> Sentence:
    """Return a sentence with the graph that was learned; ``parser``: whose tree it is, None for a gold one."""
    arcs = None if parser is None else partial(parser.arc_probabilities, sentence)
    return with_graph(sentence, enhancer.graph(sentence, arcs)[0])


def scores(gold: Sequence[Sentence], trees: Sequence[Sentence]) -> dict[str, float]:
    """Return ELAS, EULAS and F1 of added edges, which the given tree lacks, in percent."""
    found_scores = cut_scores(gold, trees)
    right = wanted = found = 0
    for one, other in zip(gold, trees, strict=True):
        sides = [zip(one.heads[1:], collapsed_graph(one)), zip(other.heads[1:], graph_of(other))]
        for words in zip(*sides, strict=True):
            extra, made = ({at for at, _ in row if at != str(head)} for head, row in words)
            right, wanted, found = right + len(extra & made), wanted + len(extra), found + len(made)
    return {
        "ELAS": found_scores.parts["elas"].f1,
        "EULAS": found_scores.parts["eulas"].f1,
        "added": 200 * right / max(wanted + found, 1),
        "LAS": found_scores.parts["las"].f1,
    }


def measure(lab: Lab, train: str, test: str) -> dict[str, float]:
    """Train on one treebank, test on another."""
    treebank, gold = lab.treebank(train), lab.treebank(test)
    parser, _ = train_arc_parser(treebank, rng=np.random.default_rng(SEED))
    tagger = train_tagger(treebank, rng=np.random.default_rng(SEED))
    morphology = train_morphology(treebank, rng=np.random.default_rng(SEED))
    enhancer = train_enhancer(treebank, rng=np.random.default_rng(SEED))
    tagged = [tagger.tag(one) for one in gold]
    if morphology is not None:
        tagged = list(morphology.fill(tagged))
    trees = {
        "gold trees": gold,
        "own trees": list(parser.parse_all(gold)),
        "own tags and trees": list(parser.parse_all(tagged)),
    }

    def ways(kind: str) -> dict[str, Callable[[Sentence], Sentence]]:
        own = None if kind == "gold trees" else parser
        return {"copy": copied, "rules": by_rules, "learned": partial(learned, enhancer, own)}

    return {
        f"{kind}|{way}|{name}": value
        for kind, sentences in trees.items()
        for way, make in ways(kind).items()
        for name, value in scores(gold, [make(one) for one in sentences]).items()
    }


def run(lab: Lab) -> Figures:
    rows = []
    for name, files in TREEBANKS.items():
        data = [lab.treebank_path(file) for file in files]
        found = lab.cache.figures(f"enhanced {name}", partial(measure, lab, *files), data=data)
        for kind in ("gold trees", "own trees", "own tags and trees"):
            cells = [found[f"{kind}|copy|LAS"]]
            for way in ("copy", "rules", "learned"):
                cells += [found[f"{kind}|{way}|{score}"] for score in ("ELAS", "EULAS", "added")]
            del cells[3]
            rows.append([name, kind, *(f"{cell:.1f}" for cell in cells)])
    heads = [f"{way} {score}" for way in ("copy", "rules", "learned") for score in ("ELAS", "EULAS", "added")]
    heads.remove("copy added")
    return Figures(tables={"edges": table(["treebank", "trees", "LAS", *heads], rows)})


EXPERIMENT = Experiment(file=__file__, about=__doc__, measure=run)

if __name__ == "__main__":
    EXPERIMENT.main()
