"""Several sources of one target, whose tagger is the same in whatever order they are given."""

from dataclasses import replace

from qsproj.corpus.alignments import write_alignments
from qsproj.corpus.conllu import read_conllu, write_conllu
from qsproj.corpus.editing import with_columns
from qsproj.corpus.pairs.aligned import AlignedFiles
from qsproj.models.parser import load_tags
from qsproj.pipelines.bootstrap import training
from qsproj.pipelines.bootstrap.bootstrap import BootstrapOptions, Bootstrapped
from qsproj.pipelines.bootstrap.texts import SourceText
from qsproj.pipelines.bootstrap.training import PairCache, caching_pairs, tag_target
from qsproj.pipelines.tagging.options import TagProjectionOptions
from tests.pipelines.tagging.made_bitext import made_pairs


def renamed(sentence, tag, other):
    return with_columns(sentence, upos=[other if one == tag else one for one in sentence.upos])


def test_the_source_with_the_largest_treebank_decides_for_frequent_words(tmp_path):
    """The small treebank calls every determiner a pronoun, and every verb a noun."""
    pairs = made_pairs(60)

    def files(name, sources, treebank):
        paths = AlignedFiles(*(str(tmp_path / f"{name}.{kind}") for kind in ("source", "target", "links")))
        write_conllu(sources, paths.source)
        write_conllu([pair.target for pair in pairs], paths.target)
        write_alignments([pair.alignment for pair in pairs], paths.alignment, with_weights=True)
        write_conllu(treebank, tmp_path / f"{name}.conllu")
        return paths, [str(tmp_path / f"{name}.conllu")]

    right = [pair.source for pair in pairs]
    wrong = [renamed(renamed(one, "DET", "PRON"), "VERB", "NOUN") for one in right]
    large, small = files("large", right, right), files("small", wrong, wrong[:20])
    made = []
    for number, order in enumerate(([large, small], [small, large])):
        corpora, treebanks = zip(*order, strict=True)
        path = tmp_path / f"{number}.model"
        tag_target(
            [path],
            corpora=corpora,
            treebanks=treebanks,
            also=(),
            tagged=(),
            lexicon=None,
            lemmatizer=None,
            text=(),
            paragraphs=False,
            learn_text=None,
            language="de",
            attached={},
            seed=1,
        )
        made.append(path.read_bytes())
    assert made[0] == made[1]
    tagger = load_tags(path)
    assert tagger.tag_words(("der", "Hund", "sieht")) == ("DET", "NOUN", "VERB")


def test_a_bitext_that_is_read_to_its_end_is_not_read_again():
    files = AlignedFiles("corpora/en.conllu", "corpora/de.conllu", "corpora/en-de.pharaoh")
    read = PairCache()
    next(caching_pairs(files, read))
    assert not read
    pairs = list(caching_pairs(files, read))
    assert read == {files: pairs}


def test_the_pairs_of_large_bitexts_are_not_kept(monkeypatch):
    monkeypatch.setattr(training, "MOST_KEPT", 30)
    files = AlignedFiles("corpora/en.conllu", "corpora/de.conllu", "corpora/en-de.pharaoh")
    read = PairCache()
    assert len(list(caching_pairs(files, read))) > 30
    assert not read


def test_links_of_a_finished_bootstrap_are_those_that_its_tagger_learned_from(tmp_path):
    """The source with the largest treebank comes first; without raw text, none is learned from."""
    trees = list(read_conllu("corpora/en.conllu"))
    small, large, tagged = (str(tmp_path / name) for name in ("small", "large", "tagged"))
    for path, count in ((small, 3), (large, 5), (tagged, 2)):
        write_conllu(trees[:count], path)
    texts = [
        SourceText(treebanks=(small,), bitext=("x",), languages=("es", "de")),
        SourceText(treebanks=(small, large), bitext=("x",), languages=("en", "de")),
    ]
    corpora = AlignedFiles("of", "es", "first"), AlignedFiles("of", "en", "second")
    made = Bootstrapped("model", "base", "trees", corpora)
    options = BootstrapOptions(tagged=(tagged,), learn_text=True)
    inputs = made.tagger_inputs(texts, options)
    assert inputs.corpora == [corpora[1], corpora[0]]
    assert [one.forms for one in inputs.tagged] == [one.forms for one in trees[:2]]
    assert inputs.options == TagProjectionOptions(learn_raw=False)
    one = replace(made, corpora=corpora[:1]).tagger_inputs(texts[:1], replace(options, text=("raw",)))
    assert tuple(one.corpora) == corpora[:1]
    assert one.options == TagProjectionOptions(learn_raw=True)
