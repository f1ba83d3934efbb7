"""TMX: pairs by language, whatever their order, varieties and inline codes."""

import io

import pytest

from qsproj.corpus.bitext import read_bitext
from qsproj.errors import DataError, UsageError
from qsproj.progress import notices

HEAD = '<?xml version="1.0" encoding="UTF-16"?>\n<!DOCTYPE tmx SYSTEM "tmx14.dtd">\n<tmx version="1.4">\n'


def tmx(*units, srclang="*all*"):
    body = "".join(
        "<tu>" + "".join(f"<tuv {language}><seg>{text}</seg></tuv>" for language, text in unit) + "</tu>\n"
        for unit in units
    )
    return io.StringIO(f'{HEAD}<header srclang="{srclang}"/>\n<body>{body}</body></tmx>')


EN, DE, FR = ('xml:lang="en-US"', "The dog."), ('xml:lang="DE_at"', "Der Hund."), ('lang="fr"', "Le chien.")


@pytest.mark.parametrize("languages", [("en", "de"), ("en-US", "de-AT"), ("en", "de_AT")])
def test_languages_are_found_in_any_order(languages):
    units = [(EN, DE), (DE, EN), (EN, FR), (FR, DE, EN)]
    said = []
    with notices(said.append):
        assert list(read_bitext(tmx(*units), languages=languages)) == [("The dog.", "Der Hund.")] * 3
    assert said == ["<open file>: left out 1 unit of 4 that lack one of the languages"]


def test_without_names_the_header_names_the_source():
    assert next(read_bitext(tmx((EN, DE)))) == ("The dog.", "Der Hund.")
    assert next(read_bitext(tmx((EN, DE), srclang="de"))) == ("Der Hund.", "The dog.")
    with pytest.raises(DataError, match="found units in en, de, fr, expected two languages; name two"):
        list(read_bitext(tmx((EN, DE), (EN, FR))))


def test_varieties_and_longer_codes_are_of_one_language():
    british, coded = ('xml:lang="en-GB"', "The hound."), ('xml:lang="deu"', "Der Hund.")
    pairs = [("The dog.", "Der Hund."), ("The hound.", "Der Hund.")]
    assert list(read_bitext(tmx((EN, DE), (british, coded)))) == pairs
    assert list(read_bitext(tmx((EN, DE), (british, coded)), languages=("en", "de"))) == pairs
    assert list(read_bitext(tmx((EN, british)))) == [("The dog.", "The hound.")]
    both = ('xml:lang="zh-CN"', "简体"), ('xml:lang="zh-TW"', "繁體")
    with pytest.raises(DataError, match="found units in en, zh, zh-TW, expected two languages; name two"):
        list(read_bitext(tmx((EN, *both), (EN, *both[::-1]))))
    assert [other for _, other in read_bitext(tmx((EN, *both)), languages=("en", "zh-TW"))] == ["繁體"]
    with pytest.raises(UsageError, match="found the language en twice"):
        next(read_bitext(tmx((EN, DE)), languages=("en", "eng")))


def test_a_variety_that_is_named_comes_first():
    british = ('xml:lang="en-GB"', "The hound.")
    assert next(read_bitext(tmx((EN, british, DE)), languages=("en-GB", "de")))[0] == "The hound."


def test_codes_within_segments_are_no_text():
    coded = (
        'xml:lang="en"',
        '<bpt i="1">&lt;b&gt;</bpt>The <hi>dog</hi><ept i="1">x</ept>\n  &amp; <ph>y</ph>cat.',
    )
    assert next(read_bitext(tmx((coded, DE)), languages=("en", "de")))[0] == "The dog & cat."


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (tmx((EN, FR)).getvalue(), "found units in en-US, fr, expected some in en and de"),
        (HEAD + "<body>", "found XML that cannot be read"),
        ("<?xml version='1.0'?><xliff/>", "found XML of the kind <xliff>, expected TMX, or lines of pairs"),
    ],
)
def test_other_files_are_refused(text, message):
    with pytest.raises(DataError, match=message):
        list(read_bitext(io.StringIO(text), languages=("en", "de")))


def test_memory_does_not_grow_with_the_file(tmp_path):
    import tracemalloc

    path = tmp_path / "a.tmx"
    path.write_text(tmx(*[(EN, DE)] * 20_000).getvalue())
    tracemalloc.start()
    assert sum(1 for _ in read_bitext(path)) == 20_000
    assert tracemalloc.get_traced_memory()[1] < 4 << 20
    tracemalloc.stop()


def test_align_reads_tmx(tmp_path, run_cli):
    path, out = tmp_path / "a.tmx", tmp_path / "links"
    path.write_text(tmx(*[(EN, DE)] * 20).getvalue())
    assert run_cli("align", path, "-o", out).code == 0
    assert out.read_text().splitlines()[0] == "0-0 1-1"


def test_tmx_is_no_text_to_parse(tmp_path, run_cli):
    path = tmp_path / "a.tmx"
    path.write_text(tmx((EN, DE)).getvalue())
    with pytest.raises(DataError, match="found XML, expected CoNLL-U or plain text"):
        from qsproj.corpus.formats import open_source

        with open_source(path):
            pass
