"""Names of styles: read, written, and unknown."""

import pytest
from hypothesis import given

from qsproj.errors import UsageError
from qsproj.styles.style import DIMENSIONS, PRESETS, UD, Style, agreeing_presets, parse_style
from tests.styles.trees import styles


def test_the_defaults_are_those_of_ud():
    assert Style() == UD == parse_style("ud")


@given(styles)
def test_what_is_written_is_read(style):
    assert parse_style(str(style)) == style


@pytest.mark.parametrize("name", PRESETS)
def test_presets_choose_what_there_is(name):
    style = parse_style(name)
    assert name in agreeing_presets({dimension: getattr(style, dimension) for dimension in DIMENSIONS})


@pytest.mark.parametrize("table", [DIMENSIONS, PRESETS])
def test_tables_are_read_only(table):
    with pytest.raises(TypeError):
        table["ud"] = {}


def test_the_later_name_wins_and_the_rest_is_of_the_base():
    style = parse_style("function-head, copula=child", base=parse_style("coordination=conll"))
    assert (style.coordination, style.copula, style.auxiliaries) == ("conll", "child", "head")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("pragu", "unknown style 'pragu'; known: ud, stanford, prague, .*coordination="),
        ("", "unknown style ''; known: ud"),
        ("heads=first", "unknown dimension of styles 'heads'; known: coordination, "),
        ("coordination=first", "unknown coordination 'first'; known: stanford, conll, moscow, "),
        ("ud,prepositions=", "unknown prepositions ''; known: child, head"),
    ],
)
def test_unknown_names_list_the_known_ones(text, message):
    with pytest.raises(UsageError, match=message):
        parse_style(text)
