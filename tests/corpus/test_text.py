"""Plain text to words: raw and already tokenised lines must come out alike."""

import pytest

import qsproj
from qsproj.corpus.editing import comment_value
from qsproj.corpus.language.recognition import check_known_language
from qsproj.corpus.pairs.aligned import pair_with_text
from qsproj.corpus.text import read_text, sentence_from_tokens, tokenize
from qsproj.errors import DataError, UsageError
from tests.timing import assert_linear


@pytest.mark.parametrize(
    ("line", "language", "words"),
    [
        ("Am Montag, z.B. im Haus.\n", "de", "Am Montag , z.B. im Haus ."),
        ("Am Montag , z.B. im Haus .", "de", "Am Montag , z.B. im Haus ."),
        ("¿Qué está?", "es", "¿ Qué está ?"),
        ("We can't, I don't.", "en", "We ca n't , I do n't ."),
        ("We can 't , I don &apos;t .", "en", "We ca n't , I do n't ."),
        ("the house' s and the dog 's", "en", "the house 's and the dog 's"),
        ("AT &amp; T &quot; x &quot;", "en", 'AT & T " x "'),
        ('the "A &lt; b".', "en", 'the " A &lt; b " .'),
        (
            "See (http://a.org/b_(c)?d=1&e), or www.x.de.",
            "en",
            "See ( http://a.org/b_(c)?d=1&e ) , or www.x.de .",
        ),
        ("Mail me@x-y.de, and/or a.com/x!", "en", "Mail me@x-y.de , and / or a.com/x !"),
        ("Vgl. z.B. https://a.de/Köln.", "de", "Vgl. z.B. https://a.de/Köln ."),
        (
            "Aujourd'hui, dit-il, l'homme va-t-il bien ?",
            "fr",
            "Aujourd'hui , dit -il , l' homme va -t-il bien ?",
        ),
        ("Donne-moi-le, c’est aujourd’hui.", "fr", "Donne -moi -le , c’ est aujourd’hui ."),
        (
            "Peut-être celui-ci : un rendez-vous là-bas, est-ce lui-même ?",
            "fr",
            "Peut-être celui-ci : un rendez-vous là-bas , est -ce lui-même ?",
        ),
        (
            "L’arc-en-ciel, jusqu’ici, y va-t-on ? Vas-y.",
            "fr",
            "L’ arc-en-ciel , jusqu’ ici , y va -t-on ? Vas -y .",
        ),
        ("བོད་ ཀྱི་ གལ་ཆེན་པོ་ ཡིན །", "bo", "བོད་ ཀྱི་ གལ་ཆེན་པོ་ ཡིན །"),
        (
            "Er sagte: ``Wir kommen'' und `gut' ist's.",
            "de",
            "Er sagte : `` Wir kommen '' und ` gut ' ist's .",
        ),
        ("``It's the dogs' ball'', he said.", "en", "`` It 's the dogs ' ball '' , he said ."),
        ("l'``ami'' d'accord", "fr", "l' `` ami '' d' accord"),
        ("об`єкт Ankara''nın", "uk", "об`єкт Ankara''nın"),
        ("Perche` non e` vero, piu` o meno", "it", "Perche` non e` vero , piu` o meno"),
        ("Er sagte``Ja'' und `Nein`.", "de", "Er sagte `` Ja '' und ` Nein ` ."),
        ("L'11 maggio è l'anno, all’80%, A′11.", "it", "L' 11 maggio è l' anno , all’ 80 % , A ′ 11 ."),
        ("L'11 mai, d'1 million", "fr", "L' 11 mai , d' 1 million"),
        ("It is n't here, they ca n't.", "en", "It is n't here , they ca n't ."),
        ("Il sig. Rossi, art. 5. Vedi pag. Poi", "it", "Il sig. Rossi , art. 5 . Vedi pag . Poi"),
        ("նշեց` որ", "hy", "նշեց ` որ"),
        ("   \n", "en", ""),
    ],
)
def test_tokenize(line, language, words):
    assert tokenize(line, language) == words.split()
    if language == "it":
        assert tokenize(words, language) == words.split()


def test_tibetan_is_written_without_spaces_between_words():
    with pytest.raises(DataError, match="t:1: found 21 letters without a space"):
        list(read_text(["བོད་སྐད་ཡིག་ཡིན་ང་འགྲ །"], "bo", name="t"))


@pytest.mark.parametrize("code", ["da", "tlh"])
def test_languages_without_rules_are_cut_as_english(code):
    assert tokenize("Mr. Hansen går.", code) == ["Mr.", "Hansen", "går", "."]


@pytest.mark.parametrize("name", ["klingon", "DE", "", "de_DE", "qq"])
def test_a_language_is_given_by_its_code(name):
    with pytest.raises(UsageError, match=f"found language '{name}', expected a code of ISO 639"):
        check_known_language(name)


@pytest.mark.parametrize(("name", "code"), [("cmn", "zh"), ("swe", "sv"), ("ger", "de"), ("se", "sme")])
def test_a_language_has_the_code_of_its_tables(name, code):
    with pytest.raises(UsageError, match=f"found language '{name}', expected '{code}'"):
        check_known_language(name)
    check_known_language(code)


def test_one_sentence_out_for_each_line_that_is_not_blank():
    sentences = list(read_text(["Ja.\n", " \n", "\x01\n", "Nein", "Doch"], "de"))
    assert [s.forms for s in sentences] == [("Ja", "."), ("Nein",), ("Doch",)]
    assert [s.sent_id for s in sentences] == ["1", "4", "5"]
    assert [s.layout.lines[0] for s in sentences] == ["# sent_id = 1", "# newpar", "# sent_id = 5"]


def test_layout_spells_the_text():
    sentence = sentence_from_tokens(
        [(one, (one,)) for one in ("Ja", ",", "gut", ".")], "Ja, gut.", sent_id="7"
    )
    assert sentence.layout.lines == (
        "# sent_id = 7",
        "# text = Ja, gut.",
        "1\tJa\t_\t_\t_\t_\t_\t_\t_\tSpaceAfter=No",
        "2\t,\t_\t_\t_\t_\t_\t_\t_\t_",
        "3\tgut\t_\t_\t_\t_\t_\t_\t_\tSpaceAfter=No",
        "4\t.\t_\t_\t_\t_\t_\t_\t_\t_",
    )
    assert sentence.layout.word_lines == (2, 3, 4, 5)


def test_words_that_do_not_spell_the_text():
    sentence = sentence_from_tokens([("a", ("a",)), ("b", ("b",))], "a c", sent_id="1")
    assert sentence.layout.lines[1] == "# text = a b"


def test_contractions_stand_under_a_range_row():
    (sentence,) = read_text(["Zum Haus"], "de", contractions={"zum": ("zu", "dem")})
    assert sentence.forms == ("Zu", "dem", "Haus")
    assert [line.split("\t")[:2] for line in sentence.layout.lines[2:]] == [
        ["1-2", "Zum"],
        ["1", "Zu"],
        ["2", "dem"],
        ["3", "Haus"],
    ]
    assert sentence.layout.word_lines == (3, 4, 5)


def test_pronouns_are_cut_off_in_linear_time():
    assert tokenize("va-t-on-y dit-on-x -je --je je-t-il", "fr") == [
        "va",
        "-t-on",
        "-y",
        "dit-on-x",
        "-je",
        "-",
        "-je",
        "je",
        "-t-il",
    ]
    assert_linear(lambda text: tokenize(f"{text}x", "fr"), "-je")


def test_marks_on_armenian_words_are_words_of_their_own_behind_them():
    """As in UD_Armenian-ArmTDP: the mark stands on the last vowel, and is no end of a word."""
    line = "«Ո՞ւր է, Դաւթի՛ որդի ՞»"
    (sentence,) = read_text([line], "hy")
    assert sentence.forms == ("«", "Ուր", "՞", "է", ",", "Դաւթի", "՛", "որդի", "՞", "»")
    assert [span.form for span in sentence.multiword_tokens] == ["Ո՞ւր", "Դաւթի՛"]
    assert comment_value(sentence, "text") == line


@pytest.mark.parametrize("word", ["etc", "Mr", "z.B", "é", "", "α1"])
def test_small_letters_are_those_of_the_moses_tokeniser(word):
    from sacremoses import MosesTokenizer

    from qsproj.corpus.text import moses_tokenizer

    assert moses_tokenizer("en").islower(word) == MosesTokenizer("en").islower(word)
    assert moses_tokenizer("en").isanyalpha(word) == MosesTokenizer("en").isanyalpha(word)


def test_a_byte_order_mark_belongs_to_no_word(tmp_path):
    (tmp_path / "text").write_text("\ufeffDas Haus.\n", encoding="utf-8")
    assert next(qsproj.read_text(tmp_path / "text", language="de")).forms == ("Das", "Haus", ".")
    rows = "".join(f"{i}\tthe" + 8 * "\t_" + "\n" for i in (1, 2))
    (tmp_path / "trees").write_text(f"{rows}\n", encoding="utf-8")
    ((_, words),) = pair_with_text(str(tmp_path / "trees"), str(tmp_path / "text"))
    assert words == ("Das", "Haus.")


def test_control_characters_are_white_space():
    sentence = next(read_text(["Der\x00Hund\x1bbellt\x7f."], "de"))
    assert (sentence.forms, comment_value(sentence, "text")) == (
        ("Der", "Hund", "bellt", "."),
        "Der Hund bellt .",
    )
    assert list(read_text(["\x00\x07"], "de")) == []
    assert next(read_text(["\u0301\x07"], "de")).forms == ("\u0301",)
