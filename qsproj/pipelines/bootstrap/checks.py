"""Check inputs before training."""

from collections import Counter, deque
from collections.abc import Container, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice

from qsproj.conventions import is_whole
from qsproj.corpus.cells import UNIVERSAL_RELATIONS, UNIVERSAL_TAGS, UNSPECIFIED, bare_relation
from qsproj.corpus.characters import belongs_to_neighbour, lower_form
from qsproj.corpus.contractions import Contractions
from qsproj.corpus.editing import comment_value, line_of, misc_values
from qsproj.corpus.files import BYTE_ORDER_MARK, open_text
from qsproj.corpus.formats import open_raw_text, read_all, read_sentences
from qsproj.corpus.language import recognition
from qsproj.corpus.language.recognition import LOOKED_AT, check_language, commonest_script
from qsproj.corpus.pairs.fitting import fit_of, large_blocks
from qsproj.corpus.sentence import Sentence, has_tree
from qsproj.corpus.text import tokenize
from qsproj.corpus.unspaced import UNSPACED_LANGUAGES, are_parted
from qsproj.errors import DataError, UsageError, pluralise
from qsproj.models.tree_decoder import has_several_roots
from qsproj.pipelines.bootstrap import texts, verses
from qsproj.pipelines.bootstrap.spelling import attached_words
from qsproj.pipelines.treebanks import read_tagged
from qsproj.progress import notice
from qsproj.training.cross_fitting import FEWEST

# Treebanks of eleven languages contain 60 to 100% of the FREQUENT commonest words of a New Testament in the
# same language, and at most 40% of those in another.
LEAST_KNOWN = 0.5
FREQUENT = 50
VOCABULARY_TO_ASK = 3000  # treebanks with a smaller vocabulary are not tested
# Least share of source-side words that are in the treebank; below it, the treebank may divide tokens. In an
# Arabic New Testament it is .4, and .6 with divided tokens; in nine other languages .5 or more.
LEAST_ALIKE = 0.5
MOST_FOREIGN = 0.2  # greatest share of words with tags outside UD in treebanks of UD
OLD_RELATIONS = frozenset({"auxpass", "csubjpass", "dobj", "mwe", "neg", "nsubjpass"})  # of UD 1, until 2016
SHIFTED_SHARE = 0.25  # least share of shifted blocks for an error; fewer are local misalignments
REPEATED_SHARE = 0.5  # greatest share of the trees of a file of --parsed-source or --also in earlier files
# Rough word lengths, with the following space, to estimate times.
LETTERS_A_WORD, LETTERS_OF_UNSPACED = 5.5, 1.6


@dataclass(frozen=True, slots=True, kw_only=True)
class Sizes:
    """Numbers of words in the treebank of a source, of pairs of its bitext, and of words on each side."""

    treebank: int
    pairs: int
    source: int
    target: int


def check_inputs(text: texts.SourceText, *, tagged: Sequence[str] = ()) -> tuple[Sizes, Contractions]:
    """Check treebanks and bitext of a source before training; return their sizes, and tokens to divide."""
    pairs, source, target = check_pairs(text)
    if text.paired_by == texts.LINE:
        check_lines(text)
    treebank, apart = check_sides(text)
    unspaced = text.languages[1] in UNSPACED_LANGUAGES and not tagged
    if unspaced and not are_parted(target for _, target in islice(text.pairs(), LOOKED_AT)):
        raise UsageError(
            f"text in {text.languages[1]} has no spaces between words; give segmented sentences "
            "(--tagged or --annotated; a hundred or more), or a bitext with spaces between the target words"
        )
    check_languages(text)
    check_tagged(text, tagged)
    return Sizes(treebank=treebank, pairs=pairs, source=source, target=target), apart


def check_annotated(
    tagged: Sequence[str], annotated: Sequence[str], *, treebanks: Iterable[str] = ()
) -> None:
    """Check tagged and annotated sentences, read by late stages, before the first stage; raises DataError.

    Tags must be of UD or of the sources' ``treebanks``, unless these have another tagset.
    """
    trees = 0
    for path in (*tagged, *annotated):
        sentences = list(read_tagged([path]))
        _check_names(path, sentences, treebanks)
        own = sum(map(has_tree, sentences)) if path in annotated else 0
        trees += own
        if path in annotated and not own:
            raise DataError(path, None, "no head", "trees after --annotated", "give it as --tagged")
        drafts = sum("Yes" not in misc_values(one, "Reviewed") for one in sentences)
        if path in annotated and 0 < drafts < len(sentences):
            found = f"{drafts:,} of {len(sentences):,} sentences are not confirmed"
            remedy = f"leave them out: qsproj search misc.Reviewed=Yes {path} -o FILE"
            notice(f"{path}: {found}, but are used for training; {remedy}")
    if annotated and trees < FEWEST:
        expected, remedy = f"at least {FEWEST} after --annotated", "annotate more, or give it as --tagged"
        raise DataError(annotated[0], None, "a single tree", expected, remedy)


def _check_names(path: str, sentences: Sequence[Sentence], treebanks: Iterable[str]) -> None:
    """Raise DataError at a tag that neither UD nor the treebanks have; give a notice of such a relation.

    Beside treebanks of another tagset, give a notice of tags, too.
    """
    tags, relations = {*UNIVERSAL_TAGS}, {*UNIVERSAL_RELATIONS, UNSPECIFIED}
    if all(tags.issuperset(one.upos) and relations.issuperset(_relations_of(one)) for one in sentences):
        return
    words = foreign = 0
    for tree in read_all(list(treebanks)):
        words, foreign = words + len(tree), foreign + len(tree) - sum(map(UNIVERSAL_TAGS.count, tree.upos))
        tags.update(tree.upos)
        relations.update(_relations_of(tree))
    for sentence in sentences:
        for word, (tag, relation) in enumerate(
            zip(sentence.upos, _relations_of(sentence), strict=True), start=1
        ):
            line = line_of(sentence, word)
            if foreign <= MOST_FOREIGN * words and tag not in tags:
                raise DataError(path, line, f"the tag {tag!r}", f"one of {' '.join(UNIVERSAL_TAGS)}")
            for kind, name, known in (("tag", tag, tags), ("relation", relation, relations)):
                if name not in known:
                    notice(f"{path}:{line}: found the {kind} {name!r}, which neither UD nor a source has")
                    known.add(name)


def _relations_of(sentence: Sentence) -> list[str]:
    return list(map(bare_relation, sentence.deprels))


def check_other_trees(also: Sequence[str], parsed: Sequence[str], *, treebanks: Iterable[str] = ()) -> None:
    """Check treebanks of other languages and gold trees of the source side before the first stage.

    Raises DataError when a file has no usable tree, or repeats trees of an earlier file; treebanks of other
    languages must not repeat the sources' ``treebanks`` either.
    """
    before = dict[str, str]()
    for path in treebanks if also else ():
        before |= dict.fromkeys(map(_words_of, read_sentences(path)), path)
    for path in also:
        # The set reads the whole file, for errors of its format.
        tagged = {_words_of(one) for one in read_sentences(path) if len(one) and UNSPECIFIED not in one.upos}
        if not tagged:
            found, remedy = "no sentence with UPOS on every word", "tag it first (qsproj tag)"
            raise DataError(path, None, found, "a treebank after --also", remedy)
        _check_new(path, tagged, before, remedy="leave it out of --also")
    if also and not any(map(has_tree, read_all(also))):
        raise DataError(also[0], None, "no head", "trees after --also", "parse it first (qsproj parse)")
    before = {}
    for path in parsed:
        trees = {_words_of(one) for one in read_sentences(path) if is_whole(one.heads)}
        if not trees:
            raise DataError(path, None, "no tree", "trees after --parsed-source", "leave it out")
        _check_new(path, trees, before, remedy="leave one of the files out")


def _check_new(path: str, sentences: set[str], before: dict[str, str], *, remedy: str) -> None:
    """Raise DataError if most sentences are in ``before``, the files by sentence; else add them."""
    again = sorted(sentences & before.keys())
    # Different verses may have the same words.
    if len(again) > REPEATED_SHARE * len(sentences):
        found = f"{pluralise(len(again), 'sentence')} of {len(sentences)} that are also in {before[again[0]]}"
        raise DataError(path, None, found, "each tree in one file", remedy)
    before |= dict.fromkeys(sentences, path)


def _words_of(sentence: Sentence) -> str:
    return _letters("".join(sentence.forms))


def check_pairs(text: texts.SourceText) -> tuple[int, int, int]:
    """Check that a bitext is text, with equally many lines on both sides and enough full pairs.

    Returns the number of pairs with two different sides, and estimates of the words on either side.
    """
    for path in text.bitext:
        if text.paired_by == texts.VERSE:
            for line in verses.verse_notices(path, verses.read_verses(path)):
                notice(line)
        elif verses.is_scripture(path):
            raise UsageError(f"{path} is a Bible; give two, and --paired-by verse")
    if text.paired_by == texts.VERSE and (apart := verses.books_apart(*text.bitext)):
        notice(apart)
    if len(text.bitext) > 1 and text.paired_by == texts.LINE:
        check_no_verses(text)
    whole, letters, left_out = 0, [0, 0], Counter[str]()
    for _, *sides in text.named(left_out):
        if not all(sides):
            left_out[texts.BLANK_SIDE] += 1
        elif sides[0] == sides[1]:
            left_out[texts.ALIKE] += 1
        else:
            whole += 1
        letters = [count + len(line) for count, line in zip(letters, sides, strict=True)]
    if whole < texts.FEWEST_PAIRS:
        raise texts.too_few_pairs(text.bitext[0], whole, left_out)
    rates = (LETTERS_OF_UNSPACED if code in UNSPACED_LANGUAGES else LETTERS_A_WORD for code in text.languages)
    source, target = (round(count / rate) for count, rate in zip(letters, rates, strict=True))
    return whole, source, target


def check_lines(text: texts.SourceText) -> None:
    """Check, block by block, that line i of one side translates line i of the other.

    Raises DataError when at least SHIFTED_SHARE of the blocks clearly fit other lines; else gives a notice.
    """
    shifted, blocks, first = list[tuple[int, int]](), 0, 0
    for block in large_blocks(text.pairs()):
        if shift := fit_of(block).shift:
            shifted.append((max(1, 1 - shift) + first, shift))
        blocks, first = blocks + 1, first + len(block)
    if shifted:
        line, shift = shifted[0]
        where = f"line {line:,} of the source side on, which fits line {line + shift:,} of the target side"
        found = f"lines that are shifted from {where}"
        remedy = "look for a line that is missing, doubled or cut in two on one side, there or before"
        if len(shifted) >= SHIFTED_SHARE * blocks:
            raise DataError(text.bitext[-1], None, found, "line i to translate line i", remedy)
        notice(f"{text.bitext[-1]}: found {found}, in {len(shifted)} of {blocks} blocks; {remedy}")


def check_no_verses(text: texts.SourceText) -> None:
    """Raise DataError when most first lines of one of two files begin with the reference of a verse."""
    for path in text.bitext:
        with open_text(path) as handle:
            lines = [line.lstrip(BYTE_ORDER_MARK) for line in islice(handle, LOOKED_AT)]
        before = [line.partition("\t")[0] for line in lines if "\t" in line]
        if len(before) > len(lines) / 2 and all(map(verses.parse_reference, before)):
            remedy = "if both sides are files with verses, add --paired-by verse"
            raise DataError(path, None, "verses", "one side of the bitext", remedy)


def check_sides(text: texts.SourceText) -> tuple[int, Contractions]:
    """Check that the source side is in the treebank's language; return the number of treebank words.

    Also returns source-side tokens that the treebank divides, if it contains few source-side words. Raises
    DataError when the treebank has no head, or several roots in every tree, contains more words of the target
    side than of the source side, or, if it is large enough, contains few frequent words of the source side.
    """
    counts, relations, has_trees, has_one_root = Counter[str](), set[str](), False, False
    for one in read_all(text.treebanks):
        counts.update(map(lower_form, one.forms))
        relations.update(one.deprels)
        if has_tree(one):
            has_trees, has_one_root = True, has_one_root or not has_several_roots(one.heads)
        if UNSPECIFIED in one.upos:
            deque(read_tagged(text.treebanks), maxlen=0)  # raises an error with the line
    names = ", ".join(map(str, text.treebanks)) or "treebank"
    if not has_trees:
        raise DataError(names, None, "no head", "trees after --treebank", "parse it first (qsproj parse)")
    if not has_one_root:
        remedy = "attach all roots but one to another word"
        raise DataError(names, None, "several roots in every tree", "trees with one", remedy)
    if old := ", ".join(sorted(relations & OLD_RELATIONS)):
        notice(f"{names}: has relations of UD 1 ({old}), which other treebanks lack; take a newer one")
    sides, vocabulary = words_of_sides(text), vocabulary_for(text, counts)
    source, target = (known_share(words, vocabulary) for words in sides)
    if target > source:
        found = f"{source:.0%} of the words of the source side in the treebank"
        found += f", and {target:.0%} of those of the target side"
        remedy = f"swap the sides, or name a treebank in {text.languages[0]}"
        raise DataError(text.bitext[0], None, found, "the treebank's language on the source side", remedy)
    frequent = [word for word, _ in sides[0].most_common(FREQUENT)]
    share = known_share(Counter(frequent), vocabulary)
    if share < LEAST_KNOWN and len(counts) > VOCABULARY_TO_ASK:
        found = f"{share:.0%} of the {len(frequent)} commonest words of the source side in the treebank"
        expected = f"{LEAST_KNOWN:.0%} or more, as of text in one language"
        remedy = "name a treebank of the language of the source side"
        raise DataError(text.bitext[0], None, found, expected, remedy)
    if source >= LEAST_ALIKE:
        return counts.total(), {}
    of_treebank = (" ".join(one.forms) for one in read_all(text.treebanks))
    lines, cut = (line for line, _ in text.pairs()), partial(tokenize, language=text.languages[0])
    return counts.total(), attached_words(of_treebank, lines, cut=cut)[0]


def check_languages(text: texts.SourceText) -> None:
    """Raise DataError when the first pairs show that language codes are swapped or wrong."""
    pairs = list(islice(text.pairs(), LOOKED_AT))
    sides = recognition.recognise(pair[0] for pair in pairs), recognition.recognise(pair[1] for pair in pairs)
    source, target = text.languages
    if recognition.are_swapped(sides, text.languages):
        found = f"text in {target} on the source side and in {source} on the target side"
        expected, remedy = f"{source} and {target}, as --languages says", "swap the codes"
        raise DataError(text.bitext[0], None, found, expected, remedy)
    names = zip(("source", "target"), (text.bitext[0], text.bitext[-1]), strict=True)
    for side, code, (name, path) in zip(sides, text.languages, names, strict=True):
        if other := side.other_than(code):
            found = f"text in {other} on the {name} side, as its commonest words show"
            expected = f"{code}, as --languages says"
            raise DataError(path, None, found, expected, "name the code of its language")


def check_raw(paths: Sequence[str], text: texts.SourceText) -> None:
    """Raise DataError when a file is CoNLL-U, blank, or not in the language and script of the target."""
    language = text.languages[1]
    for path in paths:
        with open_raw_text(path) as lines:
            first = [line for line in islice(lines, LOOKED_AT) if line.strip()]
        check_language(path, first, language)
        target = (line for _, line in islice(text.pairs(), LOOKED_AT))
        scripts = commonest_script(first), commonest_script(target)
        if "" not in scripts and scripts[0] != scripts[1]:
            found, remedy = f"letters of the script {scripts[0]}", "transliterate one of them"
            raise DataError(path, None, found, f"{scripts[1]}, as on the target side of the bitext", remedy)


def check_tagged(text: texts.SourceText, tagged: Sequence[str]) -> None:
    """Raise DataError when tagged sentences contain more words of the source side than of the target side."""
    for path in tagged:
        sentences = list(read_sentences(path))
        forms = {lower_form(form) for sentence in sentences for form in sentence.forms}
        vocabulary = vocabulary_for(text, forms)
        source, target = (known_share(words, vocabulary) for words in words_of_sides(text))
        if source > target:
            of_target = f"{100 * target:.0f}% of the words of the target side of the bitext"
            found = f"{of_target}, and {100 * source:.0f}% of those of the source side"
            remedy = "name sentences of the target language"
            raise DataError(path, None, found, f"sentences in {text.languages[1]}", remedy)
        _warn_repeated(text, sentences, path)


def _warn_repeated(text: texts.SourceText, sentences: Sequence[Sentence], path: str) -> None:
    """Warn if sentences of a file are also in the bitext, because it may be a test file."""
    # The bitext may have contractions, as the text of a sentence, or their parts, as its words.
    words = ["".join(one.forms) for one in sentences]
    spelt = [{_letters(comment_value(one, "text") or own), own} for one, own in zip(sentences, words)]
    there = set().union(*spelt).intersection(_letters(target) for _, target in text.pairs())
    repeated = sum(not there.isdisjoint(spellings) for spellings in spelt)
    if repeated:
        among = f"{repeated:,} of {pluralise(len(sentences), 'sentence')} {'is' if repeated == 1 else 'are'}"
        notice(f"{path}: {among} among the bitext; do not test on training data")


def _letters(line: str) -> str:
    return "".join(line.split())


def words_of_sides(text: texts.SourceText) -> tuple[Counter[str], Counter[str]]:
    """Count the lower-cased words of both sides of LOOKED_AT pairs; letters in text without spaces."""
    sides = Counter[str](), Counter[str]()
    for lines, words, language in zip(
        zip(*islice(text.pairs(), LOOKED_AT), strict=True), sides, text.languages, strict=True
    ):
        by_letter = language in UNSPACED_LANGUAGES and not are_parted(lines)
        for line in lines:
            tokens = filter(str.isalpha, line) if by_letter else tokenize(line, language)
            spelled = (word for word in tokens if all(c.isalpha() or belongs_to_neighbour(c) for c in word))
            words.update(map(lower_form, spelled))
    return sides


def vocabulary_for(text: texts.SourceText, forms: Iterable[str]) -> set[str]:
    """Return lower-cased forms and, for languages without spaces, their letters: see words_of_sides."""
    words = set(forms)
    return words if UNSPACED_LANGUAGES.isdisjoint(text.languages) else words.union(*words)


def known_share(words: Counter[str], vocabulary: Container[str]) -> float:
    """Return the share of occurrences of words that are in a lower-cased vocabulary."""
    return sum(count for word, count in words.items() if word in vocabulary) / max(words.total(), 1)
