"""Training of the tokeniser on the tokens and texts of a treebank."""

from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from qsproj.conventions import Numbers, Rng, Weights
from qsproj.corpus.characters import plain_form, readable
from qsproj.corpus.editing import comment_value
from qsproj.corpus.sentence import Sentence
from qsproj.corpus.text import normalise
from qsproj.corpus.token import MultiwordToken, Token, space_after, surface_tokens
from qsproj.corpus.unspaced import UNSPACED
from qsproj.errors import UsageError
from qsproj.features.characters import TEMPLATES
from qsproj.features.hashing import FeatureIndex, commonest
from qsproj.models.chains import ChainExample, ChainTrainer
from qsproj.models.tokens import tokenizer
from qsproj.training.cross_fitting import cross_fit, in_order
from qsproj.training.loop import learn

# A script is unspaced above this share of tokens that begin with a letter directly after a letter.
UNSPACED_SHARE = 0.2
# Features whose weights all stay below the first are dropped, and weights below the second.
FAINTEST, FAINT = 0.05, 0.03
MOST_FEATURES = 650_000  # the commonest
EPOCHS, RATE = 10, 0.1
# Weight of a copy of each line with spaces between all tokens; initial weight of the rules, in nats.
SPACED, TRUST = 0.2, 2.0
FOLDS = 8  # known words come from the other folds, where the script puts no spaces between words


class TokenizedText(NamedTuple):
    """A line of text with single spaces, and its tokens: first character, the one after the last, words."""

    text: str
    tokens: tuple[tuple[int, int, tuple[str, ...]], ...]


def tokenized_text(sentence: Sentence, language: str | None = None) -> TokenizedText | None:
    """Return the text of a sentence and the places of its tokens; None where the treebank lacks it."""
    if sentence.layout is None:
        return None
    surface = surface_tokens(sentence)
    tokens = [(readable(" ".join(one.form.split()))[0], _words_of(sentence, one)) for one in surface]
    text = "".join(form + space_after(one) for (form, _), one in zip(tokens, surface, strict=True))
    texts = (one for one in (comment_value(sentence, "text"), text) if one is not None)
    found = (placed(readable(normalise(one, language or ""))[0], tokens) for one in texts)
    return next(filter(None, found), None)


def shows_tokens(sentences: Iterable[Sentence]) -> bool:
    """Return whether some token of a treebank directly precedes the next one in its text."""
    texts = filter(None, map(tokenized_text, sentences))
    return any(one[1] == other[0] for text in texts for one, other in pairwise(text.tokens))


def train_tokenizer(
    treebank: Sequence[Sentence], *, rng: Rng, language: str | None = None, epochs: int = EPOCHS
) -> tokenizer.Tokenizer:
    """Train on the sentences of a treebank that have their text; raise UsageError where none has."""
    texts = [found for sentence in treebank if (found := tokenized_text(sentence, language)) is not None]
    if not texts:
        raise UsageError("no sentence has its original text, expected CoNLL-U with SpaceAfter=No or # text")
    unspaced = is_unspaced(texts)
    lexicons = [frozenset[str]()] * len(texts)
    if unspaced:
        folds = cross_fit(
            len(texts), lambda others: _words(texts[i] for i in others), lambda words, _: words, folds=FOLDS
        )
        lexicons = in_order(folds)
    examples = [(found, words, 1.0) for found, words in zip(texts, lexicons, strict=True)]
    if SPACED and not unspaced:
        examples += [(spaced(found), lexicons[0], SPACED) for found in texts]
    keys = [tokenizer.keys_of(found.text, language, known) for found, known, _ in examples]
    index = FeatureIndex(commonest(np.concatenate(keys), MOST_FEATURES))
    encoded = [
        ChainExample(index.rows(own), _states(found), strength)
        for (found, _, strength), own in zip(examples, keys, strict=True)
    ]
    tokens = [(one.text[begin:end], words) for one in texts for begin, end, words in one.tokens]
    start = tokenizer.Tokenizer(
        language=language,
        index=index,
        weights=_rules_first(index, language),
        transitions=np.zeros((tokenizer.N_STATES + 1, tokenizer.N_STATES)),
        expansions=tokenizer.learn_expansions(tokens),
        known=_words(texts) if unspaced else frozenset(),
        inner_spaces=any(" " in token for token, _ in tokens),
    )
    trainer = ChainTrainer(start, rate=RATE, faintest=FAINTEST, faint=FAINT)
    return learn(trainer, encoded, epochs=epochs, rng=rng, patience=None, description="learning tokens")[0]


def _rules_first(index: FeatureIndex, language: str | None) -> Weights:
    weights = np.zeros((len(index.keys), tokenizer.N_STATES), dtype=np.float32)
    # In this line rules begin a token at the first character and none at the second, in any language.
    rows = index.rows(tokenizer.keys_of("aa", language, frozenset())[:, [TEMPLATES.index("rule")]])[:, 0]
    for row, signs in zip(rows.tolist(), ((1, -1, 0, 1), (-1, 1, 0, -1)), strict=True):
        if row >= 0:
            weights[row] = TRUST * np.array(signs, dtype=np.float32)
    return weights


def _words_of(sentence: Sentence, token: Token | MultiwordToken) -> tuple[str, ...]:
    if isinstance(token, MultiwordToken):
        return tuple(map(plain_form, sentence.forms[token.first - 1 : token.last]))
    return (plain_form(token.form),)


def placed(text: str, tokens: Sequence[tuple[str, tuple[str, ...]]]) -> TokenizedText | None:
    """Return a text with the places of its tokens, each given with its words; None if they do not fit."""
    placed, at = [], 0
    for form, words in tokens:
        at += text.startswith(" ", at)
        if not form or not text.startswith(form, at):
            return None
        placed.append((at, at + len(form), words))
        at += len(form)
    return TokenizedText(text, tuple(placed)) if at == len(text) else None


def spaced(found: TokenizedText) -> TokenizedText:
    tokens, at = [], 0
    for begin, end, words in found.tokens:
        tokens.append((at, at + end - begin, words))
        at += end - begin + 1
    return TokenizedText(" ".join(found.text[begin:end] for begin, end, _ in found.tokens), tuple(tokens))


def _states(found: TokenizedText) -> Numbers:
    states = np.full(len(found.text), tokenizer.SPACE, dtype=np.int32)
    for begin, end, words in found.tokens:
        states[begin:end] = tokenizer.INSIDE
        states[begin] = tokenizer.MULTIWORD if len(words) > 1 else tokenizer.BEGIN
    return states


def is_unspaced(texts: Sequence[TokenizedText]) -> bool:
    pairs = [text[begin - 1 : begin + 1] for text, tokens in texts for begin, _, _ in tokens[1:]]
    joined = sum(pair.isalpha() or UNSPACED.fullmatch(pair) is not None for pair in pairs)  # with vowel signs
    return joined > UNSPACED_SHARE * len(pairs)


def _words(texts: Iterable[TokenizedText]) -> frozenset[str]:
    return frozenset(text[begin:end] for text, tokens in texts for begin, end, _ in tokens)
