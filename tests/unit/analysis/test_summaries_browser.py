"""The page of summaries in a browser: what a reader sees and does. Needs an installed Chromium."""

import pytest

from browser import CARDS, COUNT, choose, find_browser
from heron.base.tables import write_table
from heron.cli import main
from small_summaries import HOSTILE, article_of, gold_of, make_summary_run, written_for

CHROMIUM = find_browser()
pytestmark = [
    pytest.mark.skipif(CHROMIUM is None, reason="needs an installed Chromium"),
    pytest.mark.slow,
]

ARTICLES = 300
GUIDS = f"{CARDS}.map((card) => card.querySelector('.about:last-child bdi:last-child').textContent)"


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    """The page of a run and of another system, which lacks every second summary."""
    folder = tmp_path_factory.mktemp("summaries")
    run = make_summary_run(folder, articles=ARTICLES)
    even = range(0, ARTICLES, 2)
    mine = {"guid": [f"s{row}" for row in even], "summary": [written_for(row, 1) for row in even]}
    write_table(folder / "mine.csv", mine)
    assert main(["analyze", f"run={run}", "by=summaries", f"beside={folder / 'mine.csv'}"]) == 0
    return run / "analysis" / "summaries.html"


def values_of(opened, score, place):
    """Read a score of the system at a place off every card that is shown."""
    facts = f"{CARDS}.map((card) => [...card.querySelectorAll('.facts')][{place}])"
    found = (
        f"{facts}.map((each) => [...each.children].find((f) => f.innerText.startsWith('{score} ')))"
    )
    return opened.run(f"{found}.map((each) => Number(each.querySelector('bdi').textContent))")


def test_all_articles_are_there_and_the_first_ones_shown(opened):
    assert opened.run(COUNT) == f"{ARTICLES} of {ARTICLES} chosen, 25 shown"
    opened.run("document.getElementById('cards-more').click()")
    assert opened.run(f"{CARDS}.length") == 50


def test_gold_and_every_systems_summary_stand_in_one_card(opened):
    headings = f"[...{CARDS}[0].querySelectorAll('h3')].map((each) => each.innerText)"
    assert opened.run(headings) == ["gold summary", "run", "mine", "lead3", "oracle"]
    texts = f"[...{CARDS}[2].querySelectorAll('.summary')].map((each) => each.textContent)"
    assert opened.run(texts)[:3] == [gold_of(2), written_for(2), written_for(2, 1)]
    assert "no summary" in opened.run(f"{CARDS}[1].innerText")


def test_texts_run_from_right_to_left_and_names_do_not(opened):
    for part in (".summary.gold", ".summary.own", ".summary.copied"):
        node = f"{CARDS}[1].querySelector('{part}')"
        assert opened.run(f"getComputedStyle({node}).direction") == "rtl"
        assert opened.run(f"{node}.lang") == "he"
    assert opened.run(f"getComputedStyle({CARDS}[1].querySelector('h3')).direction") == "ltr"


def test_novel_words_are_underlined_behind_an_emoji_too(opened):
    marks = f"[...{CARDS}[1].querySelectorAll('.own mark')].map((each) => each.textContent)"
    assert opened.run(marks) == ["בקרוב"]
    style = f"getComputedStyle({CARDS}[1].querySelector('.own mark')).textDecorationLine"
    assert opened.run(style) == "underline"
    assert opened.run(f"{CARDS}[1].querySelectorAll('.copied mark').length") == 0


def test_an_article_is_folded_until_it_is_opened(opened):
    folded = f"{CARDS}[1].querySelector('details')"
    assert opened.run(f"{folded}.open") is False
    opened.run(f"{folded}.open = true")
    opened.settle()
    assert opened.run(f"{folded}.querySelector('.article').textContent") == article_of(1)


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


def test_a_lead_over_another_system_orders_and_gaps_come_last(opened):
    choose(opened, "score", "rouge1")
    choose(opened, "from", "highest")
    choose(opened, "system", "1-0")
    names = "document.getElementById('cards-filters').elements.system.selectedOptions[0].text"
    assert opened.run(names) == "mine minus run"
    ours, theirs = (values_of(opened, "rouge1", place) for place in (0, 1))
    leads = [b - a for a, b in zip(ours, theirs, strict=True)]
    assert leads == sorted(leads, reverse=True)
    for _ in range(ARTICLES // 25):
        opened.run("document.getElementById('cards-more').click()")
    guids = opened.run(GUIDS)
    assert len(guids) == ARTICLES
    assert {int(guid[1:]) % 2 for guid in guids[: ARTICLES // 2]} == {0}


def test_search_finds_guids_summaries_and_articles(opened):
    choose(opened, "search", "s123")
    assert opened.run(COUNT) == "1 of 300 chosen, 1 shown"
    choose(opened, "search", "בסעיף 77 של")
    assert opened.run(GUIDS) == ["s77"]
    choose(opened, "search", "אין כזה")
    assert opened.run(COUNT) == "0 of 300 chosen, 0 shown"


def test_markup_in_an_article_is_shown_never_run(opened):
    opened.run(f"{CARDS}[0].querySelector('details').open = true")
    opened.settle()
    assert HOSTILE in opened.run(f"{CARDS}[0].querySelector('.article').textContent")
    assert opened.run("typeof window.broken") == "undefined"
