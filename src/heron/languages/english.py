"""English, the language most of the papers' methods come from."""

from pathlib import Path

from heron.languages.language import Language, question_words

# Function words.
_NEGATION = """
no not never none nobody nothing nowhere neither nor without cannot don't doesn't didn't isn't
aren't wasn't weren't won't wouldn't can't couldn't shouldn't hasn't haven't hadn't mustn't
"""

# Questions for yes or no begin with an auxiliary.
_QUESTIONS = question_words(
    what="what, whats",
    which="which",
    who="who, whos, whom, whose",
    when="when, whens",
    where="where, wheres",
    how="how, hows",
    how_many="how many, how much, how long, how old, how far, how often, how large, how high",
    why="why, how come",
    yes_or_no="""am are can could did do does had has have is may might must shall should was were
    will would aren't can't couldn't didn't doesn't don't hadn't hasn't haven't isn't
    shouldn't wasn't weren't won't wouldn't""",
)

ENGLISH = Language(
    code="en",
    name="English",
    direction="ltr",
    alphabet="abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ",
    negation=frozenset(_NEGATION.split()),
    questions=_QUESTIONS,
    wording=Path(__file__).with_suffix(".yaml"),
)
