"""Training of lemmas, features and language-specific tags on a treebank."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache, partial
from itertools import chain, groupby

import numpy as np
from numpy.typing import NDArray

from qsproj.conventions import Numbers, Rng
from qsproj.corpus.cells import UNSPECIFIED
from qsproj.corpus.characters import composed_form, plain_form
from qsproj.corpus.language.lexicon import Inflection
from qsproj.corpus.sentence import Sentence
from qsproj.errors import UsageError, check_name
from qsproj.features.hashing import FeatureIndex, commonest
from qsproj.kernels.tagging.analyses import LEVELS, analysis_gradient
from qsproj.kernels.tagging.linear_chain import every_row, step_rows, step_steep_rows
from qsproj.models.chains import strongest, without_faint
from qsproj.models.morphology import morphology as model
from qsproj.models.morphology.analyses import (
    SIGNS,
    Analysis,
    AnalysisTable,
    analysis_table,
    feature_cell,
    feature_pairs,
    features_of,
    shared_features,
)
from qsproj.models.morphology.lemmatizer import (
    AS_IT_IS,
    LOWER,
    WHOLE,
    EditScript,
    Lemmatizer,
    Word,
    edit_script,
)
from qsproj.training.choices import Choice, ChoiceTrainer
from qsproj.training.loop import Steps, learn
from qsproj.training.optimiser import RowAdaGrad

# Least count of a feature, as those of one word do not generalise; largest number of features.
RAREST, MOST_FEATURES = 2, 250_000
EPOCHS, RATE = 10, 0.05
# Of scripts: passes over the distinct words, and hash buckets of weights.
SCRIPT_EPOCHS, SCRIPT_RATE, BUCKETS = 8, 0.1, 1 << 20
# Features whose weights all stay below the first are dropped, weights below the second; of scripts, the last.
FAINTEST, FAINT = 0.1, 0.06
FAINT_OF_SCRIPTS = 0.02
FORMS_OF_A_SCRIPT = 2  # a script of fewer forms is an exception, only in the lexicon
MOST_ENTRIES = 50_000  # entries of the lexicon, drawn at random, that train the choice of scripts
# Without known lemmas of a tag, signs and names are their own lemmas, uninflected words in lower case; others
# have none.
UNINFLECTED = frozenset({"ADP", "CCONJ", "INTJ", "NUM", "PART", "SCONJ"})
NAMES = frozenset({"PROPN"})
# Sentences without features where at least this many words should have some were not annotated.
EXPECTED_FEATURES = 3.0

Analysed = tuple[Sentence, tuple[Analysis, ...]]
# Returns the number of the edit script of a form and its lemma.
ScriptOf = Callable[[str, str], int]
# Counts of analyses and scripts by form and UPOS.
_Lexicon = dict[tuple[str, str], Counter[tuple[Analysis, int]]]
# Active weight rows int32[n, T], right analyses int64[n], and the words as the kernels read them.
_Example = tuple[Numbers, NDArray[np.int64], tuple[NDArray[np.int64], ...]]


def columns_shown(treebank: Sequence[Sentence]) -> tuple[str, ...]:
    """Return the annotated columns: lemma and XPOS in half of the sentences or more, features in any."""
    shown = sentences_that_show(treebank)
    return tuple(one for one in shown if shown[one] and (one == "feats" or 2 * shown[one] >= len(treebank)))


def sentences_that_show(treebank: Sequence[Sentence]) -> dict[str, int]:
    return {column: sum(_shows(one, cells) for one in treebank) for column, cells in model.COLUMNS.items()}


def _shows(sentence: Sentence, cells: str) -> bool:
    return any(cell != UNSPECIFIED for cell in getattr(sentence, cells))


def train_morphology(
    treebank: Sequence[Sentence],
    *,
    rng: Rng,
    columns: Sequence[str] | None = None,
    inflections: Sequence[Inflection] = (),
    epochs: int = EPOCHS,
) -> model.Morphology | None:
    """Train a model of columns of CoNLL-U other than UPOS; None without any column.

    ``treebank``: with UPOS on every word; sentences that lack a column are left out of its training.
    ``columns``: None: those that the treebank has. ``inflections``: forms with lemmas; of two with the same
    features the first counts. Raises UsageError when a column is unknown, or empty in most sentences.
    """
    shown = columns_shown(treebank)
    listed = bool(inflections) and "lemma" not in shown
    shown = ("lemma", *shown) if listed else shown
    for column in columns or ():
        check_name("column", column, model.COLUMNS)
        if column not in shown:
            few = f"too few sentences of the treebank have {column.upper()}"
            raise UsageError(f"{few}; leave {column} out of the columns")
    chosen = tuple(column for column in shown if columns is None or column in columns)
    if not chosen:
        return None
    analysed = _analysed(treebank, chosen)
    scripts: dict[EditScript, int] = {}

    @cache
    def script_of(form: str, lemma: str) -> int:
        return scripts.setdefault(edit_script(form, lemma), len(scripts))

    lexicon = _lexicon(analysed, script_of, lemmas="lemma" in chosen)
    analyses = {analysis for _, of_sentence in analysed for analysis in of_sentence}
    # The gender of pronouns alone does not affect endings.
    inflected = (dict(feature_pairs(one.feats)) for one in analyses if one.upos in ("ADJ", "NOUN"))
    table = analysis_table(analyses, fused=any("Gender" in features for features in inflected))
    numbers = {analysis: number for number, analysis in enumerate(table.analyses)}
    if "lemma" in chosen:
        _add_inflections(lexicon, inflections, table, script_of)
    numbered = {
        key: [(numbers[analysis], script, count) for (analysis, script), count in sorted(entries.items())]
        for key, entries in sorted(lexicon.items())
    }
    known = tuple(scripts)
    lemmas = model.known_lemmas(numbered, known) if "lemma" in chosen else {}
    # A list of lemmas has no information on features.
    stems = model.STEM_TEMPLATES if "lemma" in chosen and not listed else ()
    features = model.AnalysisFeatures((*model.TEMPLATES, *stems), lemmas)
    morphology = model.Morphology(
        columns=chosen, table=table, lexicon=numbered, scripts=known, features=features
    )
    if len(table.ranges) <= len(analyses):  # else UPOS alone decides
        morphology = replace(morphology, weights=_train_chain(morphology, analysed, epochs, rng))
    if "lemma" in chosen:
        lemmatizer = _train_lemmatizer(morphology, lemmas, rng, listed=listed)
        morphology = replace(morphology, lemmatizer=lemmatizer, scripts=lemmatizer.scripts)
    return morphology


def _analysed(treebank: Sequence[Sentence], columns: Sequence[str]) -> list[Analysed]:
    words, featured, found = Counter[str](), Counter[str](), list[Analysed]()
    for sentence in treebank:
        tags = [tag for tag, cell in zip(sentence.upos, sentence.feats, strict=True) if cell != UNSPECIFIED]
        featured.update(tags)
        words.update(sentence.upos if tags else ())
    # In output form: sorted, without duplicates and without values that are not UD's.
    written = {cell: feature_cell(features_of(cell)) for cell in {*chain(*(one.feats for one in treebank))}}
    for sentence in treebank:
        if "xpos" in columns and not _shows(sentence, "xpos"):
            continue
        expected = sum(featured[tag] / max(words[tag], 1) for tag in sentence.upos)
        if "feats" in columns and not _shows(sentence, "feats") and expected >= EXPECTED_FEATURES:
            continue
        empty = [UNSPECIFIED] * len(sentence)
        xpos = sentence.xpos if "xpos" in columns else empty
        feats = [written[cell] for cell in sentence.feats] if "feats" in columns else empty
        found.append((sentence, tuple(map(Analysis, sentence.upos, xpos, feats))))
    return found


def _lexicon(analysed: Sequence[Analysed], script_of: ScriptOf, *, lemmas: bool) -> _Lexicon:
    lexicon: _Lexicon = {}
    for sentence, analyses in analysed:
        composed = (map(plain_form, sentence.forms), map(composed_form, sentence.lemmas))
        for form, lemma, analysis in zip(*composed, analyses, strict=True):
            has_lemma = lemmas and (lemma != UNSPECIFIED or form == UNSPECIFIED)
            script = script_of(form, lemma) if has_lemma else model.NO_SCRIPT
            lexicon.setdefault((form, analysis.upos), Counter())[analysis, script] += 1
    return lexicon


def _add_inflections(
    lexicon: _Lexicon, inflections: Sequence[Inflection], table: AnalysisTable, script_of: ScriptOf
) -> None:
    listed: dict[tuple[str, str], dict[str, str]] = {}
    for form, lemma, tags, feats in inflections:
        for upos in tags:
            if upos in table.ranges:
                listed.setdefault((plain_form(form), upos), {}).setdefault(feats, composed_form(lemma))
    nearest: dict[tuple[str, str], Analysis] = {}
    for (form, upos), lemmas in listed.items():
        entries = lexicon.setdefault((form, upos), Counter())
        for analysis, script in [entry for entry in entries if entry[1] == model.NO_SCRIPT]:
            best = max(lemmas, key=partial(shared_features, feats=analysis.feats))
            entries[analysis, script_of(form, lemmas[best])] += entries.pop((analysis, script))
        known = {script for _, script in entries}
        for feats, lemma in lemmas.items():
            script = script_of(form, lemma)
            if script not in known:
                if (feats, upos) not in nearest:
                    own = table.analyses[slice(*table.ranges[upos])]
                    nearest[feats, upos] = max(own, key=lambda one: shared_features(feats, one.feats))
                entries.setdefault((nearest[feats, upos], script), 0)


def _train_chain(
    morphology: model.Morphology, analysed: list[Analysed], epochs: int, rng: Rng
) -> model.AnalysisWeights:
    keys = [morphology.features.keys(sentence.forms, sentence.upos) for sentence, _ in analysed]
    index = FeatureIndex(commonest(np.concatenate(keys), MOST_FEATURES, least=RAREST))
    numbers = {analysis: number for number, analysis in enumerate(morphology.table.analyses)}
    examples = list[_Example]()
    for rows, (sentence, analyses) in zip(keys, analysed, strict=True):
        gold = np.array([numbers[analysis] for analysis in analyses], dtype=np.int64)
        examples.append((index.rows(rows), gold, morphology.encoded(sentence.forms, sentence.upos)))
    table, descent = morphology.table, partial(RowAdaGrad, rate=RATE, counts_start=True)
    emissions = descent(np.zeros((len(index.keys), table.n_parts), dtype=np.float32))
    transitions, support = descent(np.zeros((1, table.n_pairs))), descent(np.zeros((LEVELS, LEVELS)))
    row, of_levels = every_row(transitions.weights), every_row(support.weights)

    def step(example: _Example) -> float:
        rows, gold, words = example
        weights = emissions.weights, transitions.weights, support.weights
        of_parts = np.empty((len(rows), table.n_parts))
        of_pairs, of_support = np.empty_like(transitions.weights), np.empty_like(support.weights)
        slopes = of_parts, of_pairs, of_support
        loss: float = analysis_gradient(rows, gold, table.chain, words, *weights, model.PLACES, slopes)
        emissions.step(step_steep_rows, rows, of_parts)
        transitions.step(step_steep_rows, row, of_pairs)
        support.step(step_rows, of_levels, of_support)
        return loss

    def averaged() -> model.AnalysisWeights:
        kept = strongest(index, without_faint(emissions.mean(), FAINT), least=FAINTEST)
        return model.AnalysisWeights(*kept, transitions.mean(), support.mean())

    trainer, what = Steps(step, averaged), "learning features"
    return learn(trainer, examples, epochs=epochs, rng=rng, patience=None, description=what)[0]


def _train_lemmatizer(
    morphology: model.Morphology, lemmas: dict[str, str], rng: Rng, *, listed: bool
) -> Lemmatizer:
    """Train scripts on the distinct words of the lexicon; a tag without known lemmas makes ``_``."""
    words = [
        (Word(form, morphology.table.analyses[analysis]), script)
        for (form, _), entries in morphology.lexicon.items()
        for analysis, script, _ in entries
        if script != model.NO_SCRIPT
    ]
    if len(words) > MOST_ENTRIES:
        words = [words[place] for place in np.sort(rng.permutation(len(words))[:MOST_ENTRIES]).tolist()]
    whole = {number for number, script in enumerate(morphology.scripts) if script.casing == WHOLE}
    made = {(word.form, word.analysis.upos, script) for word, script in words if script not in whole}
    forms = Counter((upos, script) for _, upos, script in made)
    frequent = sorted(of_tag for of_tag, count in forms.items() if count >= FORMS_OF_A_SCRIPT)
    of_tags = groupby(frequent, key=lambda of_tag: of_tag[0])
    allowed = {upos: tuple(script for _, script in own) for upos, own in of_tags}
    listed_tags = set(allowed) if listed else {word.analysis.upos for word, _ in words}
    unlisted = {
        upos: _script_of_unlisted(upos)
        for upos in sorted({one.upos for one in morphology.table.analyses} - listed_tags - SIGNS)
    }
    scripts = (*morphology.scripts, *dict.fromkeys(unlisted.values()))
    allowed |= {upos: (scripts.index(script, len(morphology.scripts)),) for upos, script in unlisted.items()}
    start = Lemmatizer(scripts, allowed, lemmas, np.zeros(BUCKETS, dtype=np.float32))
    trainer = ChoiceTrainer(BUCKETS, rate=SCRIPT_RATE, faint=FAINT_OF_SCRIPTS)
    choices = _choices(start, words)
    what = "learning lemmas"
    weights, _ = learn(trainer, choices, epochs=SCRIPT_EPOCHS, rng=rng, patience=None, description=what)
    return replace(start, weights=weights, _found={})


def _script_of_unlisted(upos: str) -> EditScript:
    if upos in NAMES:
        return EditScript(AS_IT_IS)
    return EditScript(LOWER) if upos in UNINFLECTED else EditScript(WHOLE, suffix=UNSPECIFIED)


def _choices(lemmatizer: Lemmatizer, words: Sequence[tuple[Word, int]]) -> list[Choice]:
    # Forms by lemma: a lemma is known where another form has it.
    forms_of: dict[str, set[str]] = {}
    for word, script in words:
        lemma = lemmatizer.scripts[script].apply(word.form) or word.form
        forms_of.setdefault(lemma, set()).add(word.form)
    choices = []
    for word, script in words:
        found = dict(lemmatizer.candidates(word))
        if script in found and len(found) > 1:
            others = {lemma for lemma in found.values() if forms_of.get(lemma, set()) - {word.form}}
            choices.append((*lemmatizer.features(word, found, others), list(found).index(script)))
    return choices
