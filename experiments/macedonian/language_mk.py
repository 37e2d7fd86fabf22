"""Macedonian, in Cyrillic letters."""

from pathlib import Path

from heron.languages import LANGUAGES, Language
from heron.languages.language import question_words

# The 31 letters, and е and и with a grave, which distinguish a few words: нѐ (us), не (not).
_LETTERS = "абвгдѓежзѕијклљмнњопрстќуфхцчџшѐѝ"

# Words of negation in any context. `нѐ` and `не` differ by their mark only, which
# `data.unicode.nfc` composes.
_NEGATION = """
не ни ниту нема немаше немам немаш немаме немате немаат немав немавме немавте немаа немој немојте
никој никого никому ништо никогаш никаде никако никаков никаква никакво никакви ниеден ниедна
ниедно ниедни без
"""

_QUESTIONS = question_words(
    what="што",
    which="која, кое, кои, кој ден, кој месец, каков, каква, какво, какви",
    who="кој, кого, кому, чиј, чија, чие, чии",
    when="кога",
    where="каде, накаде",
    how="како, на кој начин",
    how_many="колку, колкав, колкава, колкаво, колкави",
    why="зошто",
    yes_or_no="дали нели зар",
)

MACEDONIAN = Language(
    code="mk",
    name="Macedonian",
    direction="ltr",
    alphabet=_LETTERS + _LETTERS.upper(),
    # Serbian keyboards have ђ and ћ for Macedonian ѓ and ќ, also in names (Ѓорѓевиќ). Latin j and
    # s, which look like ј and ѕ, are not replaced, because Latin words use them.
    variants="ђѓЂЃћќЋЌ",
    negation=frozenset(_NEGATION.split()),
    questions=_QUESTIONS,
    wording=Path(__file__).with_suffix(".yaml"),
)
LANGUAGES.register(MACEDONIAN.code, MACEDONIAN)
