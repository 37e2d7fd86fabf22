"""Modern Hebrew."""

from __future__ import annotations

from heron.languages.language import Language, Prefixes, question_words
from heron.languages.wording import Interface, Question, Wording

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

_INTERFACE = Interface(
    title="הערכת תקצירים",
    instructions=(
        "יש לקרוא קודם את הכתבה ואחר כך את התקצירים שלה. כל תקציר בא ממקור אחר; הסדר משתנה מכתבה "
        "לכתבה, ולכן המספרים אינם אומרים דבר.",
        "יש להעריך כל תקציר בפני עצמו ולהשתמש בכל הסולם, מ־1 עד 5. מותר לתת ציונים שווים.",
        "מה שאי אפשר להעריך אפשר להשאיר ריק. אפשר לשנות כל תשובה עד לשליחת הקובץ.",
    ),
    keys="מקשים: 1 עד 5 מדרגים את השאלה המסומנת ועוברים הלאה, 0 מוחק; Tab לשאלה הבאה; "
    "n ו־p לכתבה הבאה ולקודמת.",
    article="כתבה {number} מתוך {total}",
    summary="תקציר {number}",
    progress="{done} מתוך {total} תקצירים דורגו",
    previous="הכתבה הקודמת",
    next="הכתבה הבאה",
    open="השאלה הפתוחה הבאה",
    save="שמירת קובץ",
    load="טעינת קובץ",
    clear="מחיקה",
    errors="שגיאות שנמצאו (רשות)",
    none="בדקתי ולא מצאתי אף אחת מאלה",
    comment="הערה (רשות)",
    empty="(אין טקסט)",
    kept="התשובות נשמרות בדפדפן הזה. ליתר ביטחון כדאי לשמור קובץ.",
    not_kept="הדפדפן הזה אינו שומר את התשובות: יש לשמור קובץ לפני סגירת הדף.",
    saved="נשמר בשם {name}",
    loaded="{name}: נטענו תשובות על {count} תקצירים",
    foreign="{name} שייך לטופס אחר",
    unreadable="{name} אינו קובץ של הטופס הזה",
    unread="{count} תשובות שבו לא היו ניתנות לשימוש",
    done="הכול דורג. יש לשמור את הקובץ ולשלוח אותו בחזרה.",
    noscript="הטופס הזה זקוק ל־JavaScript. טופס ה־CSV שלצדו שואל אותן שאלות.",
)

_CRITERIA = (
    Question(
        "coherence",
        "קוהרנטיות",
        "האם התקציר קריא: משפטים תקינים שנקשרים זה לזה?",
        "כמעט בלתי מובן, משפטים ללא קשר",
        "תקין ושוטף, כל דבר נובע מקודמו",
    ),
    Question(
        "completeness",
        "שלמות",
        "האם התקציר כולל את הרעיונות המרכזיים של הכתבה?",
        "העיקר חסר",
        "כל העיקר נמצא בו",
    ),
    Question(
        "faithfulness",
        "נאמנות",
        "האם כל מה שכתוב בתקציר נתמך בכתבה?",
        "רובו אינו בכתבה או סותר אותה",
        "כולו נמצא בכתבה",
    ),
    Question(
        "fluency",
        "רהיטות",
        "האם כל משפט בפני עצמו תקין וטבעי?",
        "מלא שגיאות",
        "ללא שגיאה",
    ),
)

_ERRORS = (
    Question("repetition", "חזרה", "אותו דבר נאמר פעמיים, אולי בשינוי קל"),
    Question("copying", "העתקה", "קטע מן הכתבה הועתק מילה במילה"),
    Question("lost_signs", "סימן חסר", "חסר סימן שאינו אות, כגון גרש או מירכאות"),
    Question("wrong_reading", "קריאה שגויה", "מילה רב־משמעית הובנה במשמעותה האחרת"),
    Question("hallucination", "המצאה", "דבר שאינו כתוב בכתבה"),
    Question("culture_transfer", "העברה תרבותית", "מה שמקובל בתרבות אחרת הועבר לכאן"),
    Question("wrong_gender", "מין דקדוקי שגוי", "אין התאמה במין בין מילים השייכות זו לזו"),
    Question("wrong_definiteness", "יידוע שגוי", "ה״א הידיעה מיותרת או חסרה, כגון בסמיכות"),
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
    wording=Wording(_INTERFACE, _CRITERIA, _ERRORS),
)
