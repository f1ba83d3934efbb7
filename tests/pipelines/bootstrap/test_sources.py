"""Several sources of one target, whose tagger is the same in whatever order they are given."""

from dataclasses import replace

import numpy as np

from qsproj.corpus.alignments import write_alignments
from qsproj.corpus.conllu import read_conllu, write_conllu
from qsproj.corpus.editing import with_columns
from qsproj.corpus.pairs.aligned import AlignedFiles
from qsproj.corpus.sentence import Sentence
from qsproj.models.parser import load_tags
from qsproj.models.tagging.tagger_training import train_tagger
from qsproj.parallel import THIS_PROCESS
from qsproj.pipelines.bootstrap import parser
from qsproj.pipelines.bootstrap.parser import PairsRead, noted, with_tags
from qsproj.pipelines.bootstrap.tagger import tag_target, tag_words
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
            read={},
        )
        made.append(path.read_bytes())
    assert made[0] == made[1]
    tagger = load_tags(path)
    assert tagger.tag_words(("der", "Hund", "sieht")) == ("DET", "NOUN", "VERB")


def test_a_bitext_that_is_read_to_its_end_is_not_read_again():
    files = AlignedFiles("corpora/en.conllu", "corpora/de.conllu", "corpora/en-de.pharaoh")
    read = PairsRead()
    next(noted(files, read))
    assert not read
    pairs = list(noted(files, read))
    assert read == {files.alignment: pairs}


def test_pairs_that_were_read_before_get_tagged_targets(tmp_path):
    files = AlignedFiles("corpora/en.conllu", "corpora/de.conllu", "corpora/en-de.pharaoh")
    tagged = replace(files, target=str(tmp_path / "tagged.conllu"))
    targets = [with_columns(one.target, upos=["X"] * len(one.target)) for one in files]
    write_conllu(targets, tagged.target)
    read = PairsRead()
    untagged, anew = list(noted(files, read)), list(tagged)
    found = list(with_tags(tagged, read))
    assert all(one.source is other.source for one, other in zip(found, untagged, strict=True))
    assert [str(one.target) for one in found] == [str(one.target) for one in anew]
    assert read[files.alignment] == found
    # Without pairs that were read before, the files are read.
    read.clear()
    assert [str(one.target) for one in with_tags(tagged, read)] == [str(one.target) for one in anew]


def test_the_target_of_several_sources_is_tagged_once(tmp_path):
    targets = [pair.source for pair in made_pairs(60)]
    sentences = [Sentence.from_words(one.forms) for one in (*targets[:9], *targets[:4])]
    path, tagger = tmp_path / "words.conllu", tmp_path / "xx.model"
    write_conllu(sentences, path)
    train_tagger(targets, rng=np.random.default_rng(1)).save(tagger)
    other = sentences[2].forms
    known = {other: ("X",) * len(other)}
    how = {"words": str(path), "tagger": str(tagger), "workers": THIS_PROCESS}
    tag_words([tmp_path / "alone.conllu"], known={}, **how)
    tag_words([tmp_path / "again.conllu"], known=known, **how)
    alone, again = (list(read_conllu(tmp_path / f"{name}.conllu")) for name in ("alone", "again"))
    by_tagger = load_tags(tagger)
    assert [one.upos for one in alone] == [by_tagger.tag_words(one.forms) for one in sentences]
    for sentence, found in zip(alone, again, strict=True):
        assert found.upos == (known[other] if found.forms == other else sentence.upos)
    assert set(known) == {one.forms for one in sentences}


def test_the_pairs_of_large_bitexts_are_not_kept(monkeypatch):
    monkeypatch.setattr(parser, "MOST_KEPT", 30)
    files = AlignedFiles("corpora/en.conllu", "corpora/de.conllu", "corpora/en-de.pharaoh")
    read = PairsRead()
    assert len(list(noted(files, read))) > 30
    assert not read
