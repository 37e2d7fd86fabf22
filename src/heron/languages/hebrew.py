"""Modern Hebrew."""

from pathlib import Path

from heron.languages.language import Language, Prefixes, question_words

# Function words, also with the prefixes that they often take.
_NEGATION = """
לא ולא שלא כשלא הלא אין ואין שאין אינו אינה אינם אינן אינני איננו איננה איננם שאינו שאינה שאינם
שאינן בלי מבלי ללא מעולם שום כלום בלתי
"""

# Prepositions and "and" are prefixes (באיזו, in which; ומתי, and when). למה (why) and כמה (how
# many) are listed as words, so neither is read as a prefix with מה (what). One word marks questions
# for yes or no, in writing almost always.
_QUESTIONS = question_words(
    what="מה, מהו, מהי, מהם, מהן",
    which="איזה, איזו, אילו, אלו, איזהו, איזוהי",
    who="מי, מיהו, מיהי, מיהם, מיהן",
    when="מתי",
    where="איפה, היכן, לאן, מאין, מניין, איה",
    how="איך, כיצד, הכיצד, איכה",
    how_many="כמה",
    why="מדוע, למה",
    prefixes="ובלמכ",
    yes_or_no="האם והאם",
)

_PREFIXES = Prefixes(
    slots=(("ו",), ("כש", "לכש", "מש", "ש"), ("ב", "כ", "ל", "מ"), ("ה",)),
    article="ה",
    swallow_article=("ב", "כ", "ל"),
)

HEBREW = Language(
    code="he",
    name="Hebrew",
    direction="rtl",
    alphabet="אבגדהוזחטיכךלמםנןסעפףצץקרשת",
    event_markers=("[א1]", "[/א1]", "[א2]", "[/א2]"),
    negation=frozenset(_NEGATION.split()),
    questions=_QUESTIONS,
    prefixes=_PREFIXES,
    wording=Path(__file__).with_suffix(".yaml"),
)
