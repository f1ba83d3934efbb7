"""Lines of more words than a sentence may have are cut where sentences end, and nothing is lost."""

import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qsproj.corpus.conllu import read_conllu, write_conllu
from qsproj.corpus.language.sentence_ends import cut_long_lines
from qsproj.corpus.text import read_text
from qsproj.corpus.token import multiword_tokens

ZUM = {"zum": ("zu", "dem")}


def parts_of(line, longest, language="de"):
    told = []
    read = read_text([line], language, contractions=ZUM)
    return list(cut_long_lines(read, longest=longest, notify=lambda *one: told.append(one))), told


@pytest.mark.parametrize(
    ("line", "longest", "texts"),
    [
        ("Ja. Nein! Doch?", 5, ["Ja.", "Nein!", "Doch?"]),
        ('Er sagte "Ja." Wir z.B. gehen.', 8, ['Er sagte "Ja."', "Wir z.B. gehen."]),
        ("Am 3. Mai? kam er, der alte Mann.", 7, ["Am 3. Mai? kam er,", "der alte Mann."]),
        ("a b c d e", 2, ["a b", "c d", "e"]),
        ("a zum b", 2, ["a", "zum", "b"]),
        ("kurz.", 2, ["kurz."]),
    ],
)
def test_where_a_line_is_cut(line, longest, texts):
    parts, told = parts_of(line, longest)
    lines = [next(row for row in part.layout.lines if row.startswith("# text")) for part in parts]
    assert [line.removeprefix("# text = ") for line in lines] == texts
    assert [number for number, *_ in told] == ["1"] * (len(texts) > 1)
    assert told == [] or told[0][2] == len(texts)


@given(st.text(alphabet='ab zum.,?!"', min_size=1, max_size=60), st.integers(2, 6))
def test_parts_can_be_read_and_spell_the_line(line, longest):
    whole = list(read_text([line], "de", contractions=ZUM))
    parts, _ = parts_of(line, longest)
    out = io.StringIO()
    write_conllu(parts, out)
    again = list(read_conllu(io.StringIO(out.getvalue()))) if parts else []
    assert all(len(one) <= longest for one in again)
    assert [form for one in again for form in one.forms] == [form for one in whole for form in one.forms]
    ranges = [span.form for one in again for span in multiword_tokens(one)]
    assert ranges == [span.form for one in whole for span in multiword_tokens(one)]
