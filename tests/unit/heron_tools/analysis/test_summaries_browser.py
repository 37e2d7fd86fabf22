"""The page of summaries in a browser: what a reader sees and does. Needs an installed Chromium."""

import pytest

from browser import CARDS, choose, find_browser
from made_up_runs import HOSTILE, gold_of, written_for

CHROMIUM = find_browser()
pytestmark = [
    pytest.mark.skipif(CHROMIUM is None, reason="needs an installed Chromium"),
    pytest.mark.slow,
]


def values_of(opened, score, place):
    """Read a score of the system at a place off every card that is shown."""
    facts = f"{CARDS}.map((card) => [...card.querySelectorAll('.facts')][{place}])"
    found = (
        f"{facts}.map((each) => [...each.children].find((f) => f.innerText.startsWith('{score} ')))"
    )
    return opened.run(f"{found}.map((each) => Number(each.querySelector('bdi').textContent))")


def test_gold_and_every_systems_summary_stand_in_one_card(opened):
    headings = f"[...{CARDS}[0].querySelectorAll('h3')].map((each) => each.innerText)"
    assert opened.run(headings) == ["gold summary", "run", "mine", "lead3", "oracle"]
    texts = f"[...{CARDS}[2].querySelectorAll('.summary')].map((each) => each.textContent)"
    assert opened.run(texts)[:3] == [gold_of(2), written_for(2), written_for(2, 1)]
    assert "no summary" in opened.run(f"{CARDS}[1].innerText")


def test_novel_words_are_underlined_behind_an_emoji_too(opened):
    marks = f"[...{CARDS}[1].querySelectorAll('.own mark')].map((each) => each.textContent)"
    assert opened.run(marks) == ["בקרוב"]
    style = f"getComputedStyle({CARDS}[1].querySelector('.own mark')).textDecorationLine"
    assert opened.run(style) == "underline"
    assert opened.run(f"{CARDS}[1].querySelectorAll('.copied mark').length") == 0


@pytest.mark.parametrize(
    ("score", "system", "place"), [("rouge1", "0", 0), ("rougeL_heron", "2", -2)]
)
def test_any_score_of_any_system_puts_articles_in_order(opened, score, system, place):
    choose(opened, "system", system)
    choose(opened, "score", score)
    shown = score.replace("_", " ")
    if place < 0:
        place = f"card.querySelectorAll('.facts').length - {-place}"
    lowest = values_of(opened, shown, place)
    assert lowest == sorted(lowest)
    choose(opened, "from", "highest")
    highest = values_of(opened, shown, place)
    assert highest == sorted(highest, reverse=True)
    assert highest[0] > lowest[0]


def test_markup_in_an_article_is_shown_never_run(opened):
    opened.run(f"{CARDS}[0].querySelector('details').open = true")
    opened.settle()
    assert HOSTILE in opened.run(f"{CARDS}[0].querySelector('.article').textContent")
    assert opened.run("typeof window.broken") == "undefined"
