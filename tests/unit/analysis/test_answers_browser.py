"""The page of answers in a browser: what a reader sees and does. Needs an installed Chromium."""

import pytest

from browser import CARDS, COUNT, choose, find_browser
from heron.cli import main
from small_answers import HOSTILE, make_answered_run

CHROMIUM = find_browser()
pytestmark = [
    pytest.mark.skipif(CHROMIUM is None, reason="needs an installed Chromium"),
    pytest.mark.slow,
]


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    run = make_answered_run(tmp_path_factory.mktemp("answers"), questions=1000)
    assert main(["analyze", f"run={run}", "by=answers"]) == 0
    return run / "analysis" / "answers.html"


def test_a_thousand_questions_open_with_the_first_ones_shown(opened):
    assert opened.run(COUNT) == "1000 of 1000 chosen, 25 shown"
    opened.run("document.getElementById('cards-more').click()")
    assert opened.run(COUNT) == "1000 of 1000 chosen, 50 shown"
    assert opened.run(f"{CARDS}.length") == 50


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


def test_a_context_without_an_answer_is_shown_from_its_beginning_unmarked(opened):
    letters = "Array.from('אבג דהו '.repeat(500))"
    assert opened.run(f"HeronAnswers.excerpt({letters}, [], null)") == [0, 880]
    (part,) = opened.run(f"HeronAnswers.parts({letters}, [], null, 0, 8)")
    assert part == {
        "text": "אבג דהו ",
        **dict.fromkeys(("gold", "goldFirst", "model", "first", "last"), False),
    }


def test_a_long_context_is_cut_between_words_around_both_answers(opened):
    letters = "Array.from('אבג דהו '.repeat(500))"
    low, high = opened.run(f"HeronAnswers.excerpt({letters}, [[1000, 1003]], [2000, 2003])")
    assert (low, high) == (780, 2223)
    assert opened.run(f"{letters}[{low} - 1]") == opened.run(f"{letters}[{high}]") == " "


def test_the_two_marks_differ_in_form_and_not_in_colour_alone(opened):
    style = f"(which) => getComputedStyle({CARDS}[4].querySelector(`mark.${{which}}`))"
    assert opened.run(f"({style})('gold').textDecorationLine") == "underline"
    assert opened.run(f"({style})('gold').borderTopStyle") == "none"
    assert opened.run(f"({style})('model').textDecorationLine") == "none"
    assert opened.run(f"({style})('model').borderTopStyle") == "dashed"


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


@pytest.mark.parametrize("dark", [False, True])
def test_marks_stand_out_in_light_and_dark(page, file, dark):
    page.open(file, dark=dark)
    contrast = """((which, property) => {
      const channels = (text) => text.match(/[\\d.]+/g).slice(0, 3).map(Number);
      const light = (rgb) => rgb.map((v) => v / 255).map((v) =>
        v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)
        .reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
      const mark = getComputedStyle(document.querySelector(`.card mark.${which}`));
      const ground = getComputedStyle(document.body).backgroundColor;
      const [a, b] = [light(channels(mark[property])), light(channels(ground))];
      return (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    })"""
    assert page.run(f"{contrast}('gold', 'textDecorationColor')") > 3
    assert page.run(f"{contrast}('model', 'borderTopColor')") > 3
