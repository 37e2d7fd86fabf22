"""Prompts: the papers' texts, words of the language, templates that cannot reach out."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from heron.base.errors import ConfigError
from heron.config.describe import options
from heron.data.examples import Example, Span
from heron.languages import LANGUAGES
from heron_tools.prompting.prompts import Prompter, as_text
from small_prompts import compose, examples_of

PREMISE, HYPOTHESIS = "דנה יצאה לחיפה.", "דנה בירושלים."
PAIR = Example("1", PREMISE, HYPOTHESIS, label="contradiction")
# LCHAIM, Figure 4 (right side).
FIGURE_4 = f"""\
אני אתן לך פסקה ומשפט ואתה תצטרך לסווג האם המשפט סותר את הנאמר הפסקה (ס), נגזר מהנאמר מהפסקה (מ) \
או לא סותר את הנאמר בפסקה ולא נגזר מהנאמר בפסקה (נ) עליך לענות באמצעות אחת האותיות המייצגות את \
הקשר של המשפט לטקסט בלבד
דוגמאות לתשובות:
תשובה: מ
תשובה: ס
תשובה: נ
ענה על הפסקה והמשפט הבאים

פסקה:
{PREMISE}
משפט:
{HYPOTHESIS}
תשובה:"""


def prompter(tmp_path, *overrides):
    config = compose(tmp_path, "model=local", "prompting.model.name=x", *overrides)
    return Prompter(config, config.prompting.prompt)


def text_of(found, example, shots=()):
    return as_text(found.messages(example, shots))


def test_lchaims_prompt_is_that_of_figure_4(tmp_path):
    found = prompter(tmp_path, "data=chronicle_nli", "prompt=lchaim")
    assert text_of(found, PAIR) == FIGURE_4
    assert found.answers == {"entailment": "מ", "contradiction": "ס", "neutral": "נ"}


def test_hesums_prompt_asks_for_three_sentences_in_english(tmp_path):
    english = ["prompting.translation.output=en", "prompting.translation.model=x"]
    found = prompter(tmp_path, "data=chronicle_summaries", "prompt=hesum", *english)
    lines = text_of(found, Example("1", "An article.")).splitlines()
    assert lines[0].startswith("You are a genius summarizer. Your task is to summarize")
    assert lines[3] == "3. The output should be in English."
    assert lines[-1] == "An article."


def test_examples_stand_before_the_question_with_their_answers(tmp_path):
    found = prompter(tmp_path, "data=chronicle_nli", "prompt=lchaim")
    shot = Example("2", "א", "ב", label="entailment")
    head, tail = text_of(found, PAIR, [shot]).split("\n\nפסקה:\nא\nמשפט:\nב\nתשובה: מ\n\n")
    assert f"{head}\n\n{tail}" == FIGURE_4


def test_examples_may_be_turns_of_a_chat(tmp_path):
    found = prompter(tmp_path, "data=chronicle_nli", "prompting.prompt.examples=turns")
    shots = [Example(name, name, name, label="neutral") for name in "ab"]
    turns = found.messages(PAIR, shots)
    assert [turn["role"] for turn in turns] == ["user", "assistant"] * 2 + ["user"]
    assert turns[1]["content"] == turns[3]["content"] == "ניטרלי"
    assert turns[0]["content"].count("\n\n") == 1, "the instruction stands before the first one"


def test_events_are_marked_in_the_text(tmp_path):
    found = prompter(tmp_path, "data=chronicle")
    row = Example("1", "a b c", spans=(Span(0, 1), Span(4, 5)), label="BEFORE")
    assert text_of(found, row).splitlines()[-2].count("[") >= 2


def test_questions_without_an_answer_are_told_what_to_write(tmp_path):
    said = text_of(prompter(tmp_path, "data=chronicle_qa"), Example("1", "t", "q"))
    label = "data.label_order=[answer,no_answer]"
    more = text_of(prompter(tmp_path, "data=chronicle_qa", label), Example("1", "t", "q"))
    assert "אין תשובה" not in said
    assert "אין תשובה" in more


@pytest.mark.parametrize(
    ("data", "prompt"),
    [
        ("chronicle", "relation"),
        ("chronicle_nli", "nli"),
        ("chronicle_qa", "qa"),
        ("chronicle_summaries", "summarization"),
    ],
)
def test_every_language_has_the_words_of_every_prompt(tmp_path, data, prompt):
    config = prompter(tmp_path, f"data={data}").config
    rows = examples_of(config)
    for code in sorted(LANGUAGES):
        found = Prompter(config, replace(config.prompting.prompt, language=code))
        text = text_of(found, rows[0], rows[1:3])
        assert rows[0].text[:20] in text.replace("[", "").replace("]", "") or "<" in text
        assert found.prompt.name == prompt
        own = set(found.answers) & set(found.answers.values())
        assert code == "en" or not own, "a class without a word of its own"


def test_every_prompt_says_what_it_is():
    assert all(options("prompt").values())
    assert all(options("model").values())


def test_a_template_cannot_reach_pythons_objects(tmp_path):
    evil = "{{ ''.__class__.__mro__ }}"
    found = prompter(tmp_path, "data=chronicle_nli", f'prompting.prompt.item="{evil}"')
    with pytest.raises(ConfigError, match=r"prompting\.prompt\.item.*unsafe"):
        found.messages(PAIR)


@pytest.fixture(scope="module")
def pairs_prompter(tmp_path_factory):
    return prompter(tmp_path_factory.mktemp("pairs"), "data=chronicle_nli")


@given(st.text(min_size=1), st.text(min_size=1))
def test_any_text_is_in_the_prompt_unchanged(pairs_prompter, premise, hypothesis):
    said = text_of(pairs_prompter, Example("1", f"x{premise}x", f"x{hypothesis}x"))
    assert f"x{premise}x" in said
    assert f"x{hypothesis}x" in said
