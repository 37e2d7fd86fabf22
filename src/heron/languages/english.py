"""English, the language most of the papers' methods come from."""

from __future__ import annotations

from heron.languages.language import Language, question_words
from heron.languages.wording import Interface, Question, Wording

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

# Source: HeSum, section 4.1 (what coherence and completeness are), Table 4 (kinds of errors); the
# wording is heron's own. The other languages say the same.
_INTERFACE = Interface(
    title="Judging summaries",
    instructions=(
        "Read the article first, then its summaries. Each comes from a different source; their "
        "order changes from article to article, so their numbers mean nothing.",
        "Rate every summary by itself, with the whole scale from 1 to 5. Equal ratings are fine.",
        "If you cannot judge something, leave it open. You can change every answer until you send "
        "your file.",
    ),
    keys="Keys: 1 to 5 rate the outlined question and go on, 0 clears it; Tab the next question; "
    "n and p the next and the previous article.",
    article="Article {number} of {total}",
    summary="Summary {number}",
    progress="{done} of {total} summaries rated",
    previous="Previous article",
    next="Next article",
    open="Next open question",
    save="Save file",
    load="Load file",
    clear="clear",
    errors="Errors that you noticed (optional)",
    none="I looked and found none of these",
    comment="Comment (optional)",
    empty="(no text)",
    kept="Your answers are kept in this browser. Save a file to be safe.",
    not_kept="This browser does not keep your answers: save a file before you close the page.",
    saved="Saved as {name}",
    loaded="{name}: answers on {count} summaries loaded",
    foreign="{name} belongs to another form",
    unreadable="{name} is not a file of this form",
    unread="{count} answers in it could not be used",
    done="Everything is rated. Save the file and send it back.",
    noscript="This form needs JavaScript. The CSV form beside it asks the same questions.",
)

_CRITERIA = (
    Question(
        "coherence",
        "Coherence",
        "Does the summary read well: correct sentences that connect to each other?",
        "hardly to be understood, sentences without a connection",
        "correct and fluent, everything follows",
    ),
    Question(
        "completeness",
        "Completeness",
        "Does the summary hold the main ideas of the article?",
        "the main points are missing",
        "every main point is there",
    ),
    Question(
        "faithfulness",
        "Faithfulness",
        "Does the article support everything that the summary says?",
        "mostly not in the article, or against it",
        "all of it is in the article",
    ),
    Question(
        "fluency",
        "Fluency",
        "Are the sentences, each by itself, correct and natural?",
        "full of mistakes",
        "without a mistake",
    ),
)

_ERRORS = (
    Question("repetition", "Repetition", "the same thing is said twice, perhaps a little changed"),
    Question("copying", "Copied", "a stretch of the article is taken over word by word"),
    Question(
        "lost_signs", "Lost signs", "a sign that is no letter is missing, such as a geresh or quote"
    ),
    Question("wrong_reading", "Wrong reading", "an ambiguous word was taken in its other meaning"),
    Question("hallucination", "Made up", "something that the article does not say"),
    Question(
        "culture_transfer", "Foreign habit", "what is usual in another culture was carried over"
    ),
    Question("wrong_gender", "Wrong gender", "words that belong together differ in gender"),
    Question(
        "wrong_definiteness",
        "Wrong definiteness",
        "an article too many or too few: construct state",
    ),
)

ENGLISH = Language(
    code="en",
    name="English",
    direction="ltr",
    alphabet="abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ",
    negation=frozenset(_NEGATION.split()),
    questions=_QUESTIONS,
    wording=Wording(_INTERFACE, _CRITERIA, _ERRORS),
)
