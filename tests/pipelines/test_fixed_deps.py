"""DEPS belongs to a tree: where the whole tree was given, it stays."""

from pathlib import Path

from qsproj.corpus.editing import graph_of
from qsproj.corpus.sentence import Sentence
from qsproj.models.parser import load_parser
from qsproj.pipelines.streams import parse_all

PARSER = Path(__file__).parents[1] / "kept_models" / "arc-parser.model"
WHOLE = """# sent_id = 1
1\tDogs\tdog\tNOUN\t_\t_\t2\tnsubj\t2:nsubj|2.1:nsubj\t_
2\tbark\tbark\tVERB\t_\t_\t0\troot\t0:root\t_
2.1\tbark\tbark\tVERB\t_\t_\t_\t_\t2:conj\t_

"""


def test_deps_stay_where_the_whole_tree_was_given():
    given = [Sentence.from_conllu(text) for text in (WHOLE, WHOLE.replace("\t2\tnsubj", "\t_\t_"))]
    whole, partial = parse_all(load_parser(str(PARSER)), given, fixed=True, confidence=True)
    assert graph_of(whole) == graph_of(given[0])
    assert [node.deps for node in whole.empty_nodes] == [((2, "conj"),)]
    assert "ArcProb=1.0000" in whole.to_conllu()
    assert graph_of(partial) == ((), ())
