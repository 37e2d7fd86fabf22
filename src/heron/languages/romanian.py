"""Romanian, spelled with comma-below ș and ț."""

from pathlib import Path

from heron.languages.language import Language, question_words

# Function words; "n" stands before a hyphen: n-am, n-are.
_NEGATION = """
nu n nici niciun nicio niciunul niciuna niciodată nicăieri nimeni nimănui nimic fără nicicum
nicidecum
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
    any_question="oare",
)

ROMANIAN = Language(
    code="ro",
    name="Romanian",
    direction="ltr",
    alphabet="aăâbcdefghiîjklmnopqrsștțuvwxyzAĂÂBCDEFGHIÎJKLMNOPQRSȘTȚUVWXYZ",
    variants="şșŞȘţțŢȚ",
    negation=frozenset(_NEGATION.split()),
    questions=_QUESTIONS,
    wording=Path(__file__).with_suffix(".yaml"),
)
