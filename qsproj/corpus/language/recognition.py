"""Recognise the language of a text by its commonest words, to notice a code that does not fit."""

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from math import prod

from qsproj.corpus.text import UNSPACED, UNSPACED_LANGUAGES, check_language
from qsproj.errors import UsageError

# Words without content that texts in a language are full of. Relatives share some, and so none is exclusive.
_COMMONEST = {
    "af": "die en van in is het nie dat wat om vir te op sy met hy as aan was ek",
    "bg": "и на да в за се от е не с че по до са като ще които през към това",
    "ca": "de la el i que a en els les un una per amb del al no es és va ha",
    "cs": "a se na je v že o s z do i to za by ve od k pro jako po",
    "cy": "y yn a i o yr ar ei am ac gan wedi mae bod oedd fel hyn sydd at wrth",
    "da": "og i at det en den til er på som de med for af ikke der et har var om",
    "de": "der die und in den das von zu mit ist des sich dem nicht ein eine auf für es im",
    "el": "και το να του η της με που την από για είναι ο στο τα οι των τον θα σε",
    "en": "the of and to in a is that for it was on with as be by he are at from",
    "es": "de la que el en y a los se del las un por con una su para no es al",
    "et": "ja on ei et ta see oli kui ka mis oma aga või mida kes nii siis ma ning olid",
    "eu": "eta da ez bat du zuen izan zen dute ere dira baina egin hau hori edo dela ziren beste bere",
    "fi": "ja on ei että se oli hän mutta ovat kun myös kuin joka tai niin sen olla hänen ole mukaan",
    "fr": "de la le et les des en un une du est que dans qui pour au il par sur pas",
    "ga": "an agus na ar a i go is le ag bhí sé do atá nach don ach leis mar seo",
    "gl": "de a o que e do da en os no un para na as unha se por non cun dos",
    "hr": "i je u na se da za su od s o će kao koji to bi ne iz što ili",
    "hu": "a az és hogy nem is egy ez volt meg csak de már mint még el kell vagy ha azt",
    "id": "yang dan di dari untuk dengan pada ini dalam itu tidak akan ke adalah oleh juga telah ada karena",
    "is": "og að í á er sem það til um var við en með fyrir ekki hann af því hafa þeir",
    "it": "di e il la che in a per un del è i le con non della una si dei da",
    "lt": "ir į iš kad su yra tai ne buvo apie kaip už bet o po jis nuo savo tik ar",
    "lv": "un ir ar ka no par uz kas bet tas arī vai kā lai tiek bija pie gan viņš tā",
    "nb": "og i det er på en som for til av at å med ikke de har den var et om",
    "nl": "de van het een en in is dat op te zijn voor met die niet aan er om ook als",
    "nn": "og i det er på ein som for til av at å med ikkje dei har den var eit om",
    "pl": "i w na z się do nie że to jest o jak za od po przez dla są oraz który",
    "pt": "de a o que e do da em um para com não uma os no se na por mais dos",
    "ro": "de și în a la cu pe care nu o din un să mai este pentru au că o al",
    "ru": "и в не на что с по как он это а к из у за но от о для же",
    "sk": "a sa na v je že o s z do to i pre za by ako vo od po nie",
    "sl": "in je v na se da za so ki pa z s bi kot po ne tudi o ali iz",
    "sr": "и је у на се да за су од о ће као који то би не из што или са",
    "sv": "och i att det en som på är av för den med till inte ett om har de var vi",
    "tr": "ve bir bu da de için ile olarak çok daha olan gibi o ne en kadar sonra ama var her",
    "uk": "і в на не що з до та за як у від про це він але для є б по",
    "vi": "và của là các có được trong cho một không với người đã những để này khi từ đến về",
}
_LIKE = {"no": "nb", "bs": "hr"}
_WORD = re.compile(r"[^\W\d_]+")

# A text is in another language than is said where that one's words are so common in it, and so many times as
# common as those of the one that is said. Of two sides with two codes, less tells that these are swapped.
COMMON_ENOUGH, MORE_COMMON, SWAPPED = 0.08, 2.5, 1.5
# Of fewer words nothing is said.
LEAST_WORDS = 200
_UNSPACED_SHARE = 0.3
OTHER_SCRIPT = "another script"


@dataclass(frozen=True, slots=True)
class Recognised:
    """The evidence for the language of a text."""

    words: int  # how many there are
    shares: Mapping[str, float]  # of the words that are among the commonest of each language
    is_unspaced: bool  # whether it is in a script that does not part words

    def other_than(self, code: str) -> str | None:
        """Return the language that the text is in instead of that of a code; None where nothing tells."""
        if self.words < LEAST_WORDS:
            return None
        if self.is_unspaced != (code in UNSPACED_LANGUAGES):
            return OTHER_SCRIPT
        return other_than(code, self.shares)

    def share(self, code: str) -> float | None:
        """Return the share of words among the commonest of a language; None where it has no list."""
        return self.shares.get(_LIKE.get(code, code))

    def likely(self) -> dict[str, float]:
        """Return the shares of the languages that it may be in, rounded; none where nothing tells."""
        most = max(self.shares.values())
        if self.words < LEAST_WORDS or most < COMMON_ENOUGH:
            return {}
        return {code: round(share, 3) for code, share in self.shares.items() if MORE_COMMON * share > most}


def other_than(code: str, shares: Mapping[str, float]) -> str | None:
    """Return the language that a text of these shares is in instead of that of a code, if any."""
    own = _LIKE.get(code, code)
    if own not in _COMMONEST or not shares:
        return None
    best = max(sorted(shares), key=shares.__getitem__)
    fits = shares[best] < max(COMMON_ENOUGH, MORE_COMMON * shares.get(own, 0.0))
    # In other letters than those of the list it may be transliterated, or right as Latin ones are of Serbian.
    fits = fits or _script(own) != _script(best)
    return None if fits else best


def recognise(lines: Iterable[str]) -> Recognised:
    """Count the words of some text, gone through once."""
    counts: Counter[str] = Counter()
    letters = unspaced = 0
    for line in lines:
        words = _WORD.findall(line.lower())
        counts.update(words)
        letters += sum(map(len, words))
        unspaced += sum(map(len, UNSPACED.findall(line)))
    total = counts.total()
    return Recognised(
        total,
        {code: sum(counts[word] for word in words) / max(total, 1) for code, words in _lists().items()},
        unspaced >= _UNSPACED_SHARE * max(letters, 1),
    )


def are_swapped(sides: tuple[Recognised, Recognised], codes: tuple[str, str]) -> bool:
    """Return whether each text is in the language whose code the other one has, as far as words tell."""
    if min(side.words for side in sides) < LEAST_WORDS:
        return False
    unspaced = [code in UNSPACED_LANGUAGES for code in codes]
    if unspaced[0] != unspaced[1]:
        return [side.is_unspaced for side in sides] == unspaced[::-1]
    pairs = [(sides[at].share(code), sides[1 - at].share(code)) for at, code in enumerate(codes)]
    known = [(own, other) for own, other in pairs if own is not None and other is not None]
    ratio = prod(other / max(own, 1e-3) for own, other in known)
    return any(other > COMMON_ENOUGH for _, other in known) and ratio > SWAPPED ** len(known) > 1


def share_in_scripts(text: str, codes: Iterable[str]) -> float:
    """Return the share of the letters of a text that are in the scripts of some languages with a list."""
    scripts = {_script(code) for code in codes}
    letters = Counter(character for character in text if character.isalpha())
    inside = sum(number for letter, number in letters.items() if _script_of(letter) in scripts)
    return inside / max(letters.total(), 1)


def commonest_script(lines: Iterable[str]) -> str:
    """Return the script of most letters, as Unicode names it: LATIN, CYRILLIC; nothing without letters."""
    letters = Counter(character for line in lines for character in line if character.isalpha())
    scripts: Counter[str] = Counter()
    for letter, number in letters.items():
        scripts[_script_of(letter)] += number
    return max(scripts, key=scripts.__getitem__, default="")


def _script(code: str) -> str:
    """Return the script of the commonest words of a language: LATIN, CYRILLIC, GREEK."""
    return _script_of(_COMMONEST[code][0])


def _script_of(letter: str) -> str:
    return unicodedata.name(letter, "?").partition(" ")[0]


@cache
def _lists() -> Mapping[str, frozenset[str]]:
    return {code: frozenset(words.split()) for code, words in _COMMONEST.items()}


# All codes of ISO 639-1: first letters, each with the second letters that may follow.
_LETTERS = (
    "aabefkmnrsvyz baeghimnors caehorsuvy daevz eelnostu fafijory gadlnuv haeiortuyz iadegikostu jav "
    "kagijklmnorsuvwy labginotuv mghiklnrsty nabdeglnorvy ocjmrs pailst qu rmnouw "
    "sacdeghiklmnoqrstuvw taeghiklnorstwy ugkrz veio wao xh yio zahu"
)
TWO_LETTERS = frozenset(row[0] + second for row in _LETTERS.split() for second in row[1:])


def check_known_language(language: str) -> None:
    """Raise UsageError for a code of two letters that is none of ISO 639-1."""
    check_language(language)
    if len(language) == 2 and language not in TWO_LETTERS:
        raise UsageError(
            f"found language {language!r}, expected a code of ISO 639: two letters (en, de), or three where "
            "a language has no two; for one without a code take qaa to qtz. Languages that sacremoses has no "
            "rules for are cut into words as English is, or as tagged sentences show it"
        )
