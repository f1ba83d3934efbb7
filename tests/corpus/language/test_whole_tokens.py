"""What stays one token: where it begins and ends, and that any text is spelled by its tokens."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qsproj.corpus.text import cut_around, whole_tokens
from tests.timing import assert_linear


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("http://a.de.", ["http://a.de"]),
        ("(see http://a.de/b_(c)), ", ["http://a.de/b_(c)"]),
        ("“https://a.de/b”...", ["https://a.de/b"]),
        ("见http://a.cn/b。然后", ["http://a.cn/b"]),
        ("me.you+x@a-b.co.uk, www.a.b", ["me.you+x@a-b.co.uk", "www.a.b"]),
        ("http://a.de/?b=1&amp;c=2 &lt; &#39;", ["http://a.de/?b=1&amp;c=2", "&lt;", "&#39;"]),
        ("and/or and.or/else x @ y 3 & 4 a@b www. AT&T; http://", []),
    ],
)
def test_what_is_found(text, found):
    assert [text[begin:end] for begin, end in whole_tokens(text)] == found


@given(st.text(alphabet="ab./:@&;()www ht", max_size=40))
def test_tokens_around_spell_the_text(text):
    tokens = cut_around(text, lambda rest: rest.replace(".", " . ").replace(")", " ) ").split())
    assert "".join(tokens) == "".join(text.split())


@pytest.mark.parametrize("piece", ["www.a", ")", "]a", "!", "&lt; http://a ", "a@", "-", "a."])
def test_time_is_linear_in_the_text(piece):
    assert_linear(lambda text: whole_tokens("www.a" + text), piece)
