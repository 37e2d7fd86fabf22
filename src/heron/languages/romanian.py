"""Romanian, spelled with comma-below ș and ț."""

from __future__ import annotations

from heron.languages.language import Language, question_words
from heron.languages.wording import Interface, Question, Wording

# Function words.
_NEGATION = """
nu n-a n-am n-au n-ai n-ați n-ar n-aș nici niciun nicio niciunul niciuna niciodată nicăieri nimeni
nimănui nimic fără nicicum nicidecum
"""

# Romanian marks questions for yes or no by tone alone unless `oare` does, so few are found.
_QUESTIONS = question_words(
    what="ce",
    which="care, cărui, cărei, căror, căruia, căreia, cărora",
    who="cine, cui",
    when="când",
    where="unde, încotro",
    how="cum, în ce fel, în ce mod",
    how_many="cât, câtă, câți, câte",
    why="de ce, din ce cauză, din ce motiv",
    yes_or_no="oare",
)

_INTERFACE = Interface(
    title="Evaluarea rezumatelor",
    instructions=(
        "Citiți întâi articolul, apoi rezumatele lui. Fiecare vine din altă sursă; ordinea se "
        "schimbă de la un articol la altul, deci numerele lor nu înseamnă nimic.",
        "Evaluați fiecare rezumat separat, folosind toată scala de la 1 la 5. Notele egale sunt "
        "permise.",
        "Ce nu puteți evalua lăsați necompletat. Puteți schimba orice răspuns până când trimiteți "
        "fișierul.",
    ),
    keys="Taste: 1–5 notează întrebarea încadrată și trec mai departe, 0 o șterge; Tab "
    "următoarea întrebare; n și p articolul următor și cel anterior.",
    article="Articolul {number} din {total}",
    summary="Rezumatul {number}",
    progress="{done} din {total} rezumate evaluate",
    previous="Articolul anterior",
    next="Articolul următor",
    open="Următoarea întrebare fără răspuns",
    save="Salvează fișierul",
    load="Încarcă un fișier",
    clear="șterge",
    errors="Greșeli observate (opțional)",
    none="Am căutat și nu am găsit niciuna dintre acestea",
    comment="Comentariu (opțional)",
    empty="(fără text)",
    kept="Răspunsurile se păstrează în acest browser. Pentru siguranță salvați un fișier.",
    not_kept="Acest browser nu păstrează răspunsurile: salvați un fișier înainte de a închide.",
    saved="Salvat ca {name}",
    loaded="{name}: s-au încărcat răspunsuri la {count} rezumate",
    foreign="{name} aparține altui formular",
    unreadable="{name} nu este un fișier al acestui formular",
    unread="{count} răspunsuri din el nu au putut fi folosite",
    done="Totul este evaluat. Salvați fișierul și trimiteți-l înapoi.",
    noscript="Acest formular are nevoie de JavaScript. Formularul CSV de lângă el întreabă la fel.",
)

_CRITERIA = (
    Question(
        "coherence",
        "Coerență",
        "Se citește bine rezumatul: propoziții corecte, legate între ele?",
        "aproape de neînțeles, propoziții fără legătură",
        "corect și fluent, totul se leagă",
    ),
    Question(
        "completeness",
        "Completitudine",
        "Cuprinde rezumatul ideile principale ale articolului?",
        "lipsește esențialul",
        "tot esențialul este acolo",
    ),
    Question(
        "faithfulness",
        "Fidelitate",
        "Este susținut de articol tot ce spune rezumatul?",
        "în mare parte nu este în articol sau îl contrazice",
        "totul este în articol",
    ),
    Question(
        "fluency",
        "Fluență",
        "Este fiecare propoziție, luată separat, corectă și naturală?",
        "plin de greșeli",
        "fără greșeli",
    ),
)

_ERRORS = (
    Question(
        "repetition", "Repetiție", "același lucru este spus de două ori, poate puțin schimbat"
    ),
    Question("copying", "Copiere", "un fragment al articolului este preluat cuvânt cu cuvânt"),
    Question("lost_signs", "Semne pierdute", "lipsește un semn sau un diacritic"),
    Question("wrong_reading", "Citire greșită", "un cuvânt ambiguu a fost luat în celălalt sens"),
    Question("hallucination", "Invenție", "ceva ce articolul nu spune"),
    Question(
        "culture_transfer", "Transfer cultural", "s-a preluat ce este obișnuit în altă cultură"
    ),
    Question("wrong_gender", "Gen greșit", "cuvinte care se acordă diferă prin gen"),
    Question("wrong_definiteness", "Articulare greșită", "un articol hotărât în plus sau lipsă"),
)

ROMANIAN = Language(
    code="ro",
    name="Romanian",
    direction="ltr",
    alphabet="aăâbcdefghiîjklmnopqrsștțuvwxyzAĂÂBCDEFGHIÎJKLMNOPQRSȘTȚUVWXYZ",
    variants="şșŞȘţțŢȚ",
    negation=frozenset(_NEGATION.split()),
    questions=_QUESTIONS,
    wording=Wording(_INTERFACE, _CRITERIA, _ERRORS),
)
