"""The page of answers in a browser: what a reader sees and does. Needs an installed Chromium."""

import pytest

from browser import CARDS, COUNT, choose, find_browser
from made_up_runs import HOSTILE

CHROMIUM = find_browser()
pytestmark = [
    pytest.mark.skipif(CHROMIUM is None, reason="needs an installed Chromium"),
    pytest.mark.slow,
]


def test_question_and_context_run_from_right_to_left(opened):
    for part in ("h2", ".context"):
        node = f"{CARDS}[1].querySelector('{part}')"
        assert opened.run(f"getComputedStyle({node}).direction") == "rtl"
        assert opened.run(f"{node}.lang") == "he"


def test_both_answers_are_marked_where_they_stand_behind_an_emoji_too(opened):
    marked = (
        f"(which => (number) => [...{CARDS}[number].querySelectorAll(`mark.${{which}}`)].map((m) =>"
        " [...m.childNodes].filter((n) => n.nodeType === 3).map((n) => n.data).join('')).join(''))"
    )
    assert opened.run(f"{marked}('gold')(1)") == "העיר תל אביב"
    assert opened.run(f"{marked}('model')(1)") == "תל אביב"
    assert opened.run(f"{marked}('gold')(3)") == "רות, מורה"
    assert opened.run(f"{marked}('model')(3)") == "מורה צעירה"
    tags = f"[...{CARDS}[3].querySelectorAll('.tag')].map((t) => t.textContent)"
    assert opened.run(tags) == ["gold", "model"]


def test_candidates_are_listed_with_probability_and_place(opened):
    listed = opened.run(f"{CARDS}[3].querySelector('details li').textContent")
    assert listed.startswith("מורה צעירה 0.898, characters ")


def test_filters_by_class_and_question_word_hold_together(opened):
    choose(opened, "word", "where")
    assert opened.run(COUNT).startswith("400 of 1000")
    choose(opened, "class", "disjoint")
    assert opened.run(COUNT).startswith("200 of 1000")
    questions = f"{CARDS}.map((card) => card.querySelector('h2').textContent)"
    assert set(opened.run(questions)) == {"מאיפה יצא?"}


def test_search_finds_guids_questions_and_contexts(opened):
    choose(opened, "search", "q123")
    assert opened.run(COUNT) == "1 of 1000 chosen, 1 shown"
    assert opened.run("document.getElementById('cards-more').hidden") is True
    choose(opened, "search", "פסקה 6")
    assert opened.run(COUNT).startswith("142 of 1000")
    choose(opened, "search", "אין כזה")
    assert opened.run(COUNT) == "0 of 1000 chosen, 0 shown"


def test_the_worst_answers_and_the_most_probable_ones_come_first_when_asked(opened):
    first = f"{CARDS}[0].innerText"
    choose(opened, "order", "worst")
    assert "answer is disjoint" in opened.run(first)
    choose(opened, "class", "disjoint")
    choose(opened, "order", "sure")
    assert "q4" in opened.run(first).split("\n")[-1]


def test_markup_in_a_context_is_shown_never_run(opened):
    opened.run(f"{CARDS}[0].querySelector('.context button')?.click()")
    assert HOSTILE in opened.run(f"{CARDS}[0].querySelector('.context').textContent")
    assert opened.run("typeof window.broken") == "undefined"
