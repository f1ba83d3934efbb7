"""A draft under review: what is refused, and that no byte changes but those that were confirmed."""

from __future__ import annotations

import itertools
import resource
from contextlib import contextmanager

import pytest

from qsproj.corpus.conllu import read_conllu
from qsproj.errors import DataError, UsageError
from qsproj.serve.review.correction import (
    Tree,
    cells,
    check_tree,
    tree_of,
    unsureness,
    with_cells,
    with_tree,
)
from qsproj.serve.review.draft import Draft, FileChangedError, StaleError
from qsproj.serve.review.tokens import Edit, edited
from tests.oracles.trees import is_tree

# With all that a file may hold: a byte order mark, a range, an empty node, CRLF, no line end at its end.
CONTENT = (
    "\ufeff\r\n# sent_id = a\r\n# note\r\n"
    "1-2\tzum\t_\t_\t_\t_\t_\t_\t_\tSpaceAfter=No\r\n"
    "1\tzu\t_\tADP\t_\t_\t3\tcase\t_\tArcProb=0.9000|X=1\r\n"
    "2\tdem\t_\tDET\t_\t_\t3\tdet\t3:det\tX=1|ArcProb=0.8000|Y=2\r\n"
    "2.1\tx\t_\t_\t_\t_\t_\t_\t3:dep\t_\r\n"
    "3\tHaus\t_\tNOUN\t_\t_\t0\troot\t_\tArcProb=0.7000\r\n\r\n"
    "# sent_id = b\n1\tJa\t_\tINTJ\t_\t_\t0\troot\t_\tArcProb=0.9900"
)


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "draft.conllu"
    path.write_bytes(CONTENT.encode())
    return path


def test_what_is_no_tree_is_refused():
    """All assignments of heads to three words, against walks to the root."""
    for heads in itertools.product(range(4), repeat=3):
        fine = is_tree((-1, *heads)) and heads.count(0) == 1
        try:
            check_tree(Tree(heads, ("a", "b", "c")), 3)
            assert fine, heads
        except UsageError:
            assert not fine, heads


@pytest.mark.parametrize(
    ("heads", "relations", "told"),
    [
        ((0,), ("root", "x"), "1 heads and 2 relations for 2 words"),
        ((0, 3), ("root", "x"), "head 3 of word 2"),
        ((0, -1), ("root", "x"), "head -1 of word 2"),
        ((2, 1), ("a", "b"), "the cycle of heads 1 <- 2 <- 1"),
        ((0, 0), ("root", "root"), "roots 1, 2, expected one"),
        ((0, 1), ("root", ""), "relation '' of word 2"),
        ((0, 1), ("root", "a\tb"), "of word 2"),
        ((0, 1), ("root", "_"), "relation '_' of word 2"),
        ((0, 1), ("root", "\ud800"), "of word 2"),
    ],
)
def test_what_is_wrong_is_told(heads, relations, told):
    with pytest.raises(UsageError, match=told.replace("(", r"\(")):
        check_tree(Tree(heads, relations), 2)


def test_a_confirmation_changes_its_rows_and_nothing_else(path):
    draft = Draft(str(path))
    draft.confirm(0, Tree((2, 0, 2), ("case", "root", "obl:x")), version=draft.version(0))
    expected = (
        CONTENT.replace("3\tcase\t_\tArcProb=0.9000|X=1", "2\tcase\t_\tX=1|Reviewed=Yes")
        .replace("3\tdet\t3:det\tX=1|ArcProb=0.8000|Y=2", "0\troot\t3:det\tX=1|Y=2|Reviewed=Yes")
        .replace("0\troot\t_\tArcProb=0.7000\r", "2\tobl:x\t_\tReviewed=Yes\r")
    )
    assert path.read_bytes() == expected.encode()
    draft.confirm(1, tree_of(draft.sentences[1]), version=draft.version(1))
    assert path.read_bytes() == (expected + "|Reviewed=Yes").encode()
    draft.undo(1, version=draft.version(1))
    draft.undo(0, version=draft.version(0))
    assert path.read_bytes() == CONTENT.encode()
    with pytest.raises(UsageError, match="nothing to undo"):
        draft.undo(0, version=draft.version(0))


def test_probabilities_of_arcs_that_stay_are_kept():
    sentence = next(iter(read_conllu("corpora/de.conllu")))
    again = with_tree(sentence, tree_of(sentence))
    assert with_tree(again, tree_of(again)).layout == again.layout


def test_an_older_state_of_a_sentence_is_not_written_over(path):
    draft = Draft(str(path))
    version = draft.version(1)
    draft.confirm(1, tree_of(draft.sentences[1]), version=version)
    content = path.read_bytes()
    for change in (draft.confirm, lambda index, tree, version: draft.undo(index, version=version)):
        with pytest.raises(StaleError):
            change(1, tree_of(draft.sentences[1]), version=version)
    assert path.read_bytes() == content


def test_what_someone_else_wrote_is_not_written_over(path):
    draft = Draft(str(path))
    tree, version = tree_of(draft.sentences[1]), draft.version(1)
    path.write_text(CONTENT.replace("Ja", "Nein"))
    with pytest.raises(FileChangedError):
        draft.confirm(1, tree, version=version)
    assert "Nein" in path.read_text()
    assert [one.name for one in path.parent.iterdir()] == [path.name]
    draft.load()
    draft.confirm(1, tree, version=draft.version(1))
    assert "Nein" in path.read_text()
    # A file that was written with the same bytes is the same file; one that is gone loses nothing.
    path.write_bytes(path.read_bytes())
    draft.undo(1, version=draft.version(1))
    path.unlink()
    draft.confirm(1, tree, version=draft.version(1))
    assert path.exists()


def test_a_file_that_became_unreadable_leaves_the_draft(path):
    draft = Draft(str(path))
    before = draft.content()
    path.write_text("1\tx\n")
    with pytest.raises(DataError):
        draft.load()
    assert (draft.content(), len(draft.sentences)) == (before, 2)


@contextmanager
def full_disk():
    """Let no file grow, as on a disk without room; Python ignores the signal that comes along."""
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100, limits[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)


def test_a_full_disk_loses_nothing(path):
    draft = Draft(str(path))
    tree, version = tree_of(draft.sentences[0]), draft.version(0)
    with full_disk(), pytest.raises(UsageError, match="cannot be written"):
        draft.confirm(0, tree, version=version)
    assert path.read_bytes() == CONTENT.encode()
    assert [one.name for one in path.parent.iterdir()] == [path.name]
    draft.confirm(0, tree, version=version)
    assert path.read_text().count("Reviewed=Yes") == 3


def test_files_that_are_no_draft(tmp_path):
    import gzip

    packed = tmp_path / "draft.conllu.gz"
    packed.write_bytes(gzip.compress(CONTENT.encode()))
    with pytest.raises(UsageError, match="compressed"):
        Draft(str(packed))
    with pytest.raises(UsageError, match="cannot be read"):
        Draft(str(tmp_path / "nothing.conllu"))


def test_unsure_sentences_come_first():
    assert unsureness([0.5, 1.0]) == 0.125
    assert unsureness([None]) == 0.0
    # Four unsure words are more than one unsure word alone.
    assert unsureness([0.6] * 4) > unsureness([0.6])


def test_undo_outlives_the_server(path):
    draft = Draft(str(path))
    draft.confirm(0, Tree((2, 0, 2), ("case", "root", "obl")), version=draft.version(0))
    once = path.read_bytes()
    draft.confirm(0, Tree((3, 3, 0), ("case", "det", "root")), version=draft.version(0))
    draft.confirm(1, tree_of(draft.sentences[1]), version=draft.version(1))
    draft.undo(1, version=draft.version(1))
    again = Draft(str(path))
    assert (again.can_undo(0), again.can_undo(1)) == (True, False)
    again.undo(0, version=again.version(0))
    assert path.read_bytes() == once
    third = Draft(str(path))
    third.undo(0, version=third.version(0))
    assert path.read_bytes() == CONTENT.encode()


def test_the_history_of_what_others_wrote_is_passed_over(path):
    draft = Draft(str(path))
    for index in (0, 1):
        draft.confirm(index, tree_of(draft.sentences[index]), version=draft.version(index))
    path.write_bytes(path.read_bytes().replace(b"Ja", b"Nein"))
    history = path.with_name("draft.conllu.history")
    history.write_bytes(history.read_bytes() + b'\n{"at": 0, "bef')  # and a crash
    again = Draft(str(path))
    assert (again.can_undo(0), again.can_undo(1)) == (True, False)
    again.undo(0, version=again.version(0))
    assert "Reviewed" not in path.read_text().split("sent_id = b")[0]
    assert not Draft(str(path)).can_undo(0)


def test_what_stood_elsewhere_is_undone_after_what_moved_it(path):
    draft = Draft(str(path))
    draft.confirm(1, tree_of(draft.sentences[1]), version=draft.version(1))
    parts = edited(draft.sentences[0], Edit("end sentence", 2), None, name=str(path))
    draft.replace([(0, 1, parts)], version=draft.version(0))
    for own in (draft, Draft(str(path))):
        assert [own.can_undo(index) for index in range(3)] == [True, True, True]
    draft.undo(2, version=draft.version(2))
    draft.undo(1, version=draft.version(1))
    assert path.read_bytes() == CONTENT.encode()
    path.write_text("".join(f"1\t{form}\t_\t_\t_\t_\t0\troot\t_\t_\n\n" for form in "abcd"))
    draft = Draft(str(path))
    draft.confirm(2, tree_of(draft.sentences[2]), version=draft.version(2))
    joined = edited(draft.sentences[0], Edit("join next"), draft.sentences[1], name=str(path))
    draft.replace([(0, 2, joined)], version=draft.version(0))
    assert [draft.can_undo(index) for index in range(3)] == [True, True, False]
    # What was confirmed comes back in its own place, although that has moved twice.
    draft.undo(0, version=draft.version(0))
    draft.undo(2, version=draft.version(2))
    assert path.read_text() == "".join(f"1\t{form}\t_\t_\t_\t_\t0\troot\t_\t_\n\n" for form in "abcd")


def test_a_change_is_not_undone_under_a_later_one(path):
    draft = Draft(str(path))
    parts = edited(draft.sentences[0], Edit("end sentence", 2), None, name=str(path))
    draft.replace([(0, 1, parts)], version=draft.version(0))
    draft.confirm(1, tree_of(draft.sentences[1]), version=draft.version(1))
    content = path.read_bytes()
    for own in (draft, Draft(str(path))):
        assert [own.can_undo(index) for index in range(3)] == [False, True, False]
        with pytest.raises(UsageError, match="sentence 2 belongs to the same change and was changed later"):
            own.undo(0, version=own.version(0))
    assert path.read_bytes() == content


@pytest.mark.parametrize("undone", [False, True])
def test_a_crash_before_the_file_is_written_costs_no_undo(path, undone):
    draft = Draft(str(path))
    draft.confirm(1, tree_of(draft.sentences[1]), version=draft.version(1))
    parts = edited(draft.sentences[0], Edit("end sentence", 2), None, name=str(path))
    before = path.read_bytes()
    draft.replace([(0, 1, parts)], version=draft.version(0))
    if undone:
        before = path.read_bytes()
        draft.undo(0, version=draft.version(0))
    path.write_bytes(before)  # as if the history alone had been written
    again = Draft(str(path))
    again.undo(len(again.sentences) - 1, version=again.version(len(again.sentences) - 1))
    if undone:
        third = Draft(str(path))
        third.undo(0, version=third.version(0))
    assert path.read_bytes() == CONTENT.encode()


def test_probabilities_go_with_their_cells(path):
    path.write_text(CONTENT.replace("ArcProb=0.9900", "ArcProb=0.9900|TagProb=0.5|FeatProb=0.4"))
    sentence = list(read_conllu(path))[1]
    assert cells(with_cells(sentence, {"upos": ["X"]}), "misc") == ("ArcProb=0.9900|FeatProb=0.4",)
    assert cells(with_cells(sentence, {"feats": ["A=B"]}), "misc") == ("ArcProb=0.9900|TagProb=0.5",)
    assert with_cells(sentence, {"upos": sentence.upos}).layout == sentence.layout


def test_corrections_are_counted(path):
    draft = Draft(str(path))
    draft.confirm(0, Tree((2, 0, 2), ("case", "root", "obl")), version=draft.version(0))
    draft.confirm(1, tree_of(draft.sentences[1]), version=draft.version(1))
    # Heads of three words, relations of two.
    assert [told[1:] for told in Draft(str(path)).history.corrections()] == [(3, 5), (1, 0)]


def test_who_reviewed_is_told(path):
    draft = Draft(str(path), who="Anna")
    draft.confirm(0, tree_of(draft.sentences[0]), version=draft.version(0))
    assert path.read_text().count("# reviewed_by = Anna") == 1
    assert '"who": "Anna"' in path.with_name("draft.conllu.history").read_text()


def test_an_edit_keeps_what_was_corrected_before(path):
    draft = Draft(str(path))
    sentence = draft.sentences[0]
    rest = len(sentence) - 1
    tree = Tree((0, *[1] * rest), ("root", *["dislocated"] * rest))
    draft.confirm(0, tree, version=draft.version(0), columns={"upos": ["X"] * len(sentence)})
    (new,) = edited(draft.sentences[0], Edit("space", 1), None, name=str(path))
    draft.replace([(0, 1, [new])], version=draft.version(0))
    for now in (draft.sentences[0], Draft(str(path)).sentences[0]):
        assert tree_of(now) == tree
        assert set(now.upos) == {"X"}
