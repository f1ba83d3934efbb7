"""Random changes of a draft, undone in random orders across restarts: the bytes come back."""

from __future__ import annotations

import random
import tempfile
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from qsproj.corpus.conllu import read_conllu
from qsproj.errors import UsageError
from qsproj.serve.review.draft import Draft
from qsproj.serve.review.search import correct_hits, search
from qsproj.serve.review.session import Session
from qsproj.serve.review.tokens import ACTIONS, Edit

# Empty nodes, a multiword token, CRLF, sentences that are alike, and no line end at the end.
CONTENT = (
    "\ufeff# sent_id = a\r\n# text = Ich geh zum Haus.\r\n"
    "0.1\tx\t_\t_\t_\t_\t_\t_\t2:dep\t_\r\n"
    "1\tIch\tich\tPRON\t_\t_\t2\tnsubj\t2:nsubj\t_\r\n"
    "2\tgeh\tgehen\tVERB\t_\t_\t0\troot\t0:root\t_\r\n"
    "3-4\tzum\t_\t_\t_\t_\t_\t_\t_\t_\r\n"
    "3\tzu\t_\tADP\t_\t_\t5\tcase\t5:case\t_\r\n"
    "4\tdem\t_\tDET\t_\t_\t5\tdet\t5:det\t_\r\n"
    "5\tHaus\tHaus\tNOUN\t_\t_\t2\tobl\t2:obl|0.1:x\tSpaceAfter=No\r\n"
    "6\t.\t.\tPUNCT\t_\t_\t2\tpunct\t2:punct\t_\r\n\r\n"
    + "# text = Ja!\n1\tJa\t_\tINTJ\t_\t_\t0\troot\t0:root|2.1:x\tSpaceAfter=No\n"
    "2\t!\t_\tPUNCT\t_\t_\t1\tpunct\t1:punct\t_\n2.1\ty\t_\t_\t_\t_\t_\t_\t2:dep\t_\n\n"
    * 3
    + "# newpar\n# sent_id = b\n1\tNein\t_\tINTJ\t_\t_\t0\troot\t_\t_"
)


class Reviewer:
    """Changes a draft at random, and undoes all that can be undone."""

    def __init__(self, folder: str, choices: random.Random) -> None:
        self.path, self.choices = Path(folder, "draft.conllu"), choices
        self.path.write_bytes(CONTENT.encode())
        self.restart()

    def restart(self) -> None:
        self.session = Session(draft=Draft(str(self.path)))

    def change(self) -> None:
        session, choose = self.session, self.choices
        index = choose.randrange(len(session.draft.sentences))
        version, n = session.draft.version(index), len(session.draft.sentences[index])
        first = choose.randint(1, n)
        edit = Edit(
            choose.choice(ACTIONS), first, choose.randint(first, n), ("Ha", choose.choice(["us", "x"]))
        )
        if edit.action == "comments":
            edit = Edit("comments", texts=("# text = y", "# note"))
        kind = choose.choice(["edit", "edit", "confirm", "correct", "restart"])
        try:
            if kind == "edit":
                session.edit(index, edit, version=version)
            elif kind == "confirm":
                session.confirm(index, session.belief(index).tree, version=version)
            elif kind == "correct":
                change = choose.choice(["lemma=z", "upos=X", "deprel=dep:x"])
                hits = search(session, "form~.", change, most=100)["hits"]
                correct_hits(
                    session, [(hit["index"], hit["word"], hit["version"]) for hit in hits[::3]], change
                )
            else:
                self.restart()
        except UsageError:
            pass  # not every edit fits every word
        self.check()

    def undo(self) -> bool:
        """Undo one change; False where there is none left."""
        draft = self.session.draft
        places = [at for at in range(len(draft.sentences)) if self.session.draft.can_undo(at)]
        if not places:
            return False
        index = self.choices.choice(places)
        self.session.undo(index, version=draft.version(index))
        self.check()
        if self.choices.random() < 0.2:
            self.restart()
        return True

    def check(self) -> None:
        """The file is what the session holds; DEPS name nodes that are there."""
        assert self.path.read_bytes() == self.session.draft.content()
        for sentence in read_conllu(self.path):
            rows = [line.rstrip("\r").split("\t") for line in sentence.layout.lines if line[0] != "#"]
            nodes = {row[0] for row in rows} | {"0"}
            named = {part.partition(":")[0] for row in rows if row[8] != "_" for part in row[8].split("|")}
            assert named <= nodes, rows


@settings(max_examples=20)
@given(st.integers(0, 1 << 32), st.integers(1, 9))
def test_undoing_everything_gives_back_the_bytes(seed, changes):
    with tempfile.TemporaryDirectory() as folder:
        reviewer = Reviewer(folder, random.Random(seed))
        for _ in range(changes):
            reviewer.change()
            if reviewer.choices.random() < 0.2:
                reviewer.undo()
        if reviewer.choices.random() < 0.5:
            reviewer.restart()
        while reviewer.undo():
            pass
        assert reviewer.path.read_bytes() == CONTENT.encode()
