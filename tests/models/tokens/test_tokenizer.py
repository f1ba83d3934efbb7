"""The learned tokeniser: what treebanks show, what is learned of it, and that it is read back."""

import time
from collections import Counter
from dataclasses import replace
from itertools import pairwise, product

import numpy as np
import pytest

from qsproj.corpus.conllu import read_conllu
from qsproj.corpus.editing import comment_value
from qsproj.corpus.text import read_text, without_spaces
from qsproj.errors import UsageError
from qsproj.evaluation.conll18 import cut_scores
from qsproj.models.tokens import tokenizer_training
from qsproj.models.tokens.tokenizer import (
    BEGIN,
    INSIDE,
    MULTIWORD,
    SPACE,
    Expansions,
    Tokenizer,
    keys_of,
    learn_expansions,
)
from qsproj.models.tokens.tokenizer_training import (
    FAINT,
    TokenizedText,
    is_unspaced,
    shows_tokens,
    spaced,
    tokenized_text,
    train_tokenizer,
)
from tests.oracles import linear_chain as oracle

SAMPLE = "corpora/de.conllu"
ROW = "{}\t{}\t_\t_\t_\t_\t_\t_\t_\t{}\n"


def read(tmp_path, text):
    path = tmp_path / "x.conllu"
    path.write_text(text, encoding="utf-8")
    return list(read_conllu(path))


@pytest.fixture(scope="module")
def german():
    return list(read_conllu(SAMPLE))


@pytest.fixture(scope="module")
def tokenizer(german):
    return train_tokenizer(german, rng=np.random.default_rng(1), language="de")


def trained(sentences, **options):
    return train_tokenizer(sentences, rng=np.random.default_rng(1), **options)


def test_text_is_told_by_space_after_or_by_the_comment(tmp_path):
    rows = ROW.format("1-2", "zum", "_") + ROW.format(1, "zu", "_") + ROW.format(2, "dem", "_")
    rows += ROW.format(3, "Haus", "SpaceAfter=No") + ROW.format(4, ".", "_")
    wanted = ("zum Haus.", ((0, 3, ("zu", "dem")), (4, 8, ("Haus",)), (8, 9, (".",))))
    for comment in ("", "# text = zum  Haus.\n", "# text = something else\n"):
        (sentence,) = read(tmp_path, f"# sent_id = 1\n{comment}{rows}\n")
        assert tokenized_text(sentence) == wanted
        assert shows_tokens([sentence])
    plain = rows.replace("SpaceAfter=No", "_")
    (sentence,) = read(tmp_path, f"# text = zum Haus.\n{plain}\n")
    assert tokenized_text(sentence) == wanted
    (sentence,) = read(tmp_path, f"{plain}\n")
    assert tokenized_text(sentence).text == "zum Haus ."
    assert not shows_tokens([sentence])
    assert not shows_tokens([replace(sentence, layout=None)])


def test_tokens_are_parted_by_spaces():
    found = TokenizedText("ab, zum", ((0, 2, ("ab",)), (2, 3, (",",)), (4, 7, ("zu", "dem"))))
    parted = ((0, 2, ("ab",)), (3, 4, (",",)), (5, 8, ("zu", "dem")))
    assert spaced(found) == TokenizedText("ab , zum", parted)
    assert spaced(spaced(found)) == spaced(found)


def test_a_script_without_spaces_has_words_side_by_side():
    words = TokenizedText("今天天气", ((0, 2, ("今天",)), (2, 4, ("天气",))))
    letters = TokenizedText("a b", ((0, 1, ("a",)), (2, 3, ("b",))))
    marks = TokenizedText("a,", ((0, 1, ("a",)), (1, 2, (",",))))
    assert is_unspaced([words])
    assert is_unspaced([words, *[letters] * 3])
    assert not is_unspaced([words, *[letters] * 4])
    assert not is_unspaced([marks])
    # Burmese words end in vowel signs and tone marks, which are no letters.
    burmese = TokenizedText("ကလေးစား", ((0, 4, ("ကလေး",)), (4, 7, ("စား",))))
    assert is_unspaced([burmese])


def test_text_with_spaces_between_words_keeps_them():
    lines = ["大狗看見我", "我看見大貓", "貓有大狗"] * 5
    sentences = [
        without_spaces(line, sent_id="1")
        for line in (["大", "狗", "看見", "我"], ["我", "看見", "大", "貓"], ["貓", "有", "大", "狗"]) * 5
    ]
    tokenizer = train_tokenizer(sentences, rng=np.random.default_rng(1), language="zh")
    assert [one.forms for one in tokenizer.read(lines)] == [one.forms for one in sentences]
    line = "大狗 看 見我 了 ， 我 10% 大貓 。"
    cut = ("大狗", "看", "見我", "了", "，", "我", "10", "%", "大貓", "。")
    for space in (" ", "\u200b"):
        (found,) = tokenizer.read([line.replace(" ", space)])
        assert found.forms == cut
    assert [one.sent_id for one in tokenizer.read([line, lines[0]], segmentations=2)] == ["1.1", "2.1", "2.2"]
    assert next(tokenizer.read(["大狗 看見我 Go 大貓 Go 大狗"])).forms[:4] == ("大", "狗", "看見", "我")
    # A few spaces do not show words.
    assert next(tokenizer.read(["大狗 看見我"])).forms == ("大", "狗", "看見", "我")


def test_the_sample_is_learned_by_heart(german, tokenizer):
    lines = [comment_value(sentence, "text") for sentence in german]
    scores = cut_scores(german, tokenizer.read(lines))
    assert (scores.parts["tokens"].f1, scores.parts["words"].f1) == (100.0, 100.0)


def test_three_hyphens_between_letters_teach_all_others(german, tmp_path):
    rows = [(1, "{}", "SpaceAfter=No"), (2, "-", "SpaceAfter=No"), (3, "{}", "_"), (4, "kommt", "_")]
    row = "".join(ROW.format(*cells) for cells in rows)
    pairs = (("EU", "Rat"), ("Bundes", "Rat"), ("Mac", "OS"))
    hyphens = read(tmp_path, "".join(row.format(*pair) + "\n" for pair in pairs))
    learned = train_tokenizer([*german, *hyphens], rng=np.random.default_rng(1), language="de")
    assert learned.words("Der Wurst-verkauf schläft.") == ["Der", "Wurst", "-", "verkauf", "schläft", "."]


def all_segmentations(tokenizer, text):
    """Return the probability of each way to cut a line, by listing the states of its characters."""
    rows = tokenizer.index.rows(keys_of(text, tokenizer.language, tokenizer.known))
    emissions = [tokenizer.weights[own[own >= 0]].sum(axis=0, dtype=np.float64) for own in rows]
    chances, expansions = Counter(), tokenizer.expansions
    for states in product((BEGIN, INSIDE, SPACE, MULTIWORD), repeat=len(text)):
        begins = [at for at, state in enumerate(states) if state in (BEGIN, MULTIWORD)]
        of_space = (SPACE, INSIDE) if tokenizer.inner_spaces else (SPACE,)
        if begins[:1] != [0] or any(
            one not in of_space if at == " " else one == SPACE for one, at in zip(states, text)
        ):
            continue
        if any(pair == (SPACE, INSIDE) for pair in pairwise(states)):
            continue
        tokens = [
            (token, expansions.words(token, sure=states[begin] != MULTIWORD))
            for begin, end in pairwise([*begins, len(text)])
            for token in [text[begin:end].rstrip(" ")]
        ]
        chances[tuple(tokens)] += np.exp(oracle.score(emissions, tokenizer.transitions, states))
    total = sum(chances.values())
    return {tokens: chance / total for tokens, chance in chances.items()}


@pytest.mark.parametrize("text", ["a", "zum", "zum .", "am 1."])
def test_segmentations_are_the_most_probable_of_all(tokenizer, text):
    # Weights are made small, so that no way is far behind.
    loose = replace(tokenizer, weights=0.1 * tokenizer.weights, transitions=0.1 * tokenizer.transitions)
    for model, sizes in ((loose, [1, 1_000]), (tokenizer, [1, 2, 4])):
        listed = all_segmentations(model, text)
        for k in sizes:
            found = model.segmentations(text, k)
            assert len(found) == min(k, len(listed))
            assert all(listed[tuple(tokens)] == pytest.approx(chance) for tokens, chance in found)
            if model is tokenizer or k > len(listed):
                best = sorted(listed.values(), reverse=True)[:k]
                assert [chance for _, chance in found] == pytest.approx(best)
    assert loose.segmentations("", 2) == [([], 1.0)]


@pytest.mark.parametrize("seed", range(12))
def test_segmentations_with_spaces_inside_tokens(tokenizer, seed):
    """A space inside a token that ends there is a gap: both sequences are summed, for any weights."""
    rng = np.random.default_rng(seed)
    model = replace(
        tokenizer,
        weights=rng.normal(scale=0.4, size=tokenizer.weights.shape).astype(np.float32),
        transitions=rng.normal(size=tokenizer.transitions.shape),
        inner_spaces=True,
    )
    for text in ("a b", "1 000", "zum a", "a 1 ."):
        listed = all_segmentations(model, text)
        best = sorted(listed.values(), reverse=True)
        for k in (1, 3, 100):
            found = model.segmentations(text, k)
            assert [chance for _, chance in found] == pytest.approx(best[:k])
            assert all(listed[tuple(tokens)] == pytest.approx(chance) for tokens, chance in found)


def test_the_best_segmentation_is_what_the_tokeniser_cuts(tokenizer):
    line = "Wir gehen zum Haus, sagte z. B. er."
    assert tokenizer.segmentations(line, 3)[0][0] == tokenizer.tokens(line)
    never_split = replace(tokenizer, expansions=Expansions({}, {}))
    ways = [tokens for tokens, _ in never_split.segmentations(line, 20)]
    assert len({tuple(way) for way in ways}) == 20


def test_few_sentences_do_not_cut_worse_than_rules(data_dir):
    sentences = list(read_conllu(data_dir / "treebanks" / "spanish-gsd-dev.conllu.gz"))
    test = sentences[500:560]
    lines = [comment_value(sentence, "text") for sentence in test]
    rules = cut_scores(test, read_text(lines, "es"))
    rng = np.random.default_rng(1)
    few = train_tokenizer(sentences[:25], rng=rng, language="es", epochs=5)
    learned = cut_scores(test, few.read(lines))
    assert learned.parts["tokens"].f1 > rules.parts["tokens"].f1 - 0.5
    assert learned.parts["words"].f1 > rules.parts["words"].f1 + 2.0


def test_chinese_is_cut_without_spaces(data_dir):
    sentences = list(read_conllu(data_dir / "pud" / "zh.conllu.gz"))
    learned = trained(sentences[:60], epochs=4)
    assert learned.known
    lines = [comment_value(sentence, "text") for sentence in sentences[60:90]]
    assert cut_scores(sentences[60:90], learned.read(lines)).parts["words"].f1 > 65.0


def test_one_sentence_a_line_in_valid_rows(tokenizer):
    first, last = tokenizer.read(["Ich gehe  zum\tHaus.\r\n", " \n", "Zum Haus"])
    assert first.forms == ("Ich", "gehe", "zu", "dem", "Haus", ".")
    assert [(span.first, span.last, span.form) for span in first.multiword_tokens] == [(3, 4, "zum")]
    assert comment_value(first, "text") == "Ich gehe zum Haus."
    assert last.forms[-1] == "Haus"
    assert last.layout.lines[:2] == ("# newpar", "# sent_id = 3")


def test_addresses_stay_whole(tokenizer):
    (sentence,) = tokenizer.read(["Ich gehe (http://zum.haus.de/a.b?c=d,e), me@haus.de."])
    assert {"http://zum.haus.de/a.b?c=d,e", "me@haus.de"} <= set(sentence.forms)


@pytest.mark.parametrize(
    "text", ["...", "x" * 300, "¿?!", "😀 a", "\u0301", "a\u00a0b", "0", "ß" * 7, "今天天气"]
)
def test_any_text_is_cut_without_losing_a_character(tokenizer, text):
    (sentence,) = tokenizer.read([text])
    spelled = "".join(token for token, _ in tokenizer.tokens(" ".join(text.split())))
    assert spelled.replace(" ", "") == "".join(text.split())
    assert all(sentence.forms)


@pytest.mark.parametrize("mark", ["\u200c", "\u200d", "\u094d", "\u103a", "\u200f"])
def test_no_token_begins_with_a_mark(tokenizer, mark):
    (sentence,) = tokenizer.read([f"Zum{mark}Haus, zu{mark}. a.{mark}b {mark}zum Ha{mark}us"])
    assert not [form for form in sentence.forms if form.startswith(mark) and form != f"{mark}zum"]
    assert f"Ha{mark}us" in sentence.forms


def test_time_is_linear_in_the_length_of_a_line(tokenizer):
    """Quadratic time would take minutes."""
    begin = time.process_time()
    assert "".join(tokenizer.words("xü-" * 60_000)) == "xü-" * 60_000
    assert time.process_time() - begin < 15.0


def test_tokens_may_hold_spaces_where_the_treebank_has_them(tmp_path, monkeypatch):
    monkeypatch.setattr(tokenizer_training, "SPACED", 0.0)
    rows = ROW.format(1, "20 000", "_") + ROW.format(2, "Euro", "SpaceAfter=No") + ROW.format(3, ".", "_")
    learned = trained(read(tmp_path, (f"# text = 20 000 Euro.\n{rows}\n") * 20))
    assert learned.words("20 000 Euro.") == ["20 000", "Euro", "."]


def test_saved_and_read_back(tokenizer):
    again = Tokenizer.from_archive(*tokenizer.to_archive())
    for text in ("Ich gehe zum Haus.", "„Ja“, sagte z. B. er."):
        assert again.tokens(text) == tokenizer.tokens(text)
    header, arrays = tokenizer.to_archive()
    with pytest.raises(ValueError, match="weights has shape"):
        Tokenizer.from_archive(header, {**arrays, "weights": arrays["weights"][1:]})


def test_a_file_of_older_versions_is_read_and_a_new_one_has_no_faint_weights(tokenizer):
    header, arrays = tokenizer.to_archive()
    assert arrays["weights"].dtype == np.float16
    assert np.abs(arrays["weights"]).min() >= np.float16(FAINT)
    del arrays["used"]
    older = Tokenizer.from_archive(header, {**arrays, "weights": tokenizer.weights})
    np.testing.assert_array_equal(older.weights, tokenizer.weights)


def test_the_same_seed_gives_the_same_weights(german, tokenizer):
    other = train_tokenizer(german, rng=np.random.default_rng(1), language="de")
    assert np.array_equal(other.weights, tokenizer.weights)
    assert np.array_equal(other.index.keys, tokenizer.index.keys)


def test_nothing_to_learn_from(tmp_path):
    with pytest.raises(UsageError, match="no sentence has its original text"):
        trained([replace(one, layout=None) for one in read(tmp_path, ROW.format(1, "a", "_") + "\n")])


SPLITS = [
    ("del", ("de", "el")),
    ("verlo", ("ver", "lo")),
    ("hacerlo", ("hacer", "lo")),
    ("hacerse", ("hacer", "se")),
    ("dárselo", ("dar", "se", "lo")),
    ("wakitab", ("wa", "kitab")),
    ("walad", ("wa", "lad")),
]


@pytest.mark.parametrize(
    ("token", "words"),
    [
        ("del", ("de", "el")),
        ("Del", ("De", "el")),
        ("DEL", ("DE", "EL")),
        ("comerlo", ("comer", "lo")),
        ("Ponerse", ("Poner", "se")),
        ("wamadrasa", ("wa", "madrasa")),
        ("xyz", ("xyz",)),
    ],
)
def test_expansions_by_table_and_by_rule(token, words):
    for learned in (learn_expansions(SPLITS), learn_expansions(reversed(SPLITS))):
        assert learned.words(token) == words
        assert Expansions.from_json(learned.to_json()).words(token) == words


def test_words_that_begin_like_contractions_are_whole():
    contractions = [(f"{verb}n't", (verb, "n't")) for verb in ("do", "is", "wo", "did", "was")]
    clitics = [("im", ("i", "m")), ("ive", ("i", "ve")), ("he's", ("he", "'s")), ("dont", ("do", "nt"))]
    whole = [(word, (word,)) for word in ("in", "it", "if", "idea", "image", "ice", "item", "into", "dose")]
    learned = learn_expansions([*contractions, *clitics, *whole])
    for word in ("dog", "Israel", "wolf", "Iran", "done"):
        assert learned.words(word) == (word,)
    assert learned.words("Couldn't") == ("Could", "n't")
    tamil = [(f"{noun}உம்", (noun, "உம்")) for noun in ("மரம்", "வீடு", "நாய்")]
    assert learn_expansions([*tamil, ("10km", ("10", "km"))]).words("பூனைஉம்") == ("பூனை", "உம்")
    assert learn_expansions([("10km", ("10", "km"))]).words("77km") == ("77", "km")


def test_tokens_that_are_always_split_are_split_without_the_tokenizer():
    verbs = ("do", "is", "wo", "did", "was", "has")
    contractions = [(f"{verb}n't", (verb, "n't")) for verb in verbs]
    typing_errors = [("its", ("it", "s")), *[("its", ("its",))] * 4]
    learned = learn_expansions([*contractions, *typing_errors, ("can't", ("can't",))])
    assert learned.words("Couldn't", sure=True) == ("Could", "n't") == learned.words("Couldn't")
    assert learned.words("McDon't", sure=True) == ("McDo", "n't")
    for whole in ("its", "can't", "cat", "1930n't", "www.it.com/don't"):
        assert learned.words(whole, sure=True) == (whole,)
    assert (learned.words("its"), learned.words("can't")) == (("its",), ("ca", "n't"))
    again = Expansions.from_json(learned.to_json())
    assert (again.words("couldn't", sure=True), again.words("its")) == (("could", "n't"), ("its",))
    few = learn_expansions(contractions[:2])
    assert (few.words("couldn't", sure=True), few.words("couldn't")) == (("couldn't",), ("could", "n't"))
    older = Expansions.from_json({"table": {"des": ["de", "les"]}, "rules": []})
    assert (older.words("des", sure=True), older.words("des")) == (("des",), ("de", "les"))


class Counted(dict):
    """A table that counts how often it is asked."""

    asked = 0

    def get(self, key, default=None):
        self.asked += 1
        return super().get(key, default)


@pytest.mark.parametrize("ending", ["lo", "-"])
def test_a_long_token_takes_no_more_look_ups_than_a_short_one(ending):
    rules = Counted({("", "lo"): ("*", "lo"), ("", "melo"): ("*", "me", "lo"), ("re", "lo"): ("re*", "lo")})
    expansions = Expansions({}, rules)
    words = expansions.words("-" * 100 + ending)
    short, rules.asked = rules.asked, 0
    assert expansions.words("-" * 1_000 + ending)[1:] == words[1:]
    assert rules.asked == short <= len(rules)


def test_of_rules_that_fit_the_one_of_the_longest_affixes_is_taken():
    rules = {
        ("", "lo"): ("*", "a"),
        ("d", "lo"): ("*", "b"),
        ("", "elo"): ("*", "c"),
        ("", "dadelo"): ("*", "d"),
    }
    expansions = Expansions({}, rules)
    assert expansions.words("dadelo") == ("dad", "c")
    assert expansions.words("dadilo") == ("adi", "b")
    assert expansions.words("adilo") == ("adi", "a")
    assert expansions.words("lo") == ("lo",)


def test_punctuation_of_scripts_without_spaces_stands_alone(tmp_path):
    words = [("1", "他", "SpaceAfter=No"), ("2", "說", "SpaceAfter=No"), ("3", "。", "_")]
    learned = trained(
        read(tmp_path, ("# text = 他說。\n" + "".join(ROW.format(*one) for one in words) + "\n") * 20)
    )
    assert learned.known
    # Also where the weights would continue every token.
    joining = replace(learned, transitions=learned.transitions + 1e3 * (np.arange(4) == INSIDE))
    assert learned.words("他說。\u200d他")[2] == "。\u200d"
    assert joining.words("他說。iPhone好（說）「他」") == [
        "他說",
        "。",
        "iPhone好",
        "（",
        "說",
        "）",
        "「",
        "他",
        "」",
    ]
