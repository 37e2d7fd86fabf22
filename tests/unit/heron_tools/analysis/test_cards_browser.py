"""The pages of answers and of summaries in a browser. Needs an installed Chromium."""

import pytest

from browser import CARDS, COUNT, choose, find_browser
from heron.base.tables import write_table
from heron.cli import main
from made_up_runs import HOSTILE, gold_of, make_answered_run, make_summary_run, written_for

pytestmark = [
    pytest.mark.skipif(find_browser() is None, reason="needs an installed Chromium"),
    pytest.mark.slow,
]


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """The page of 1,000 answers; that of a run's summaries and another system's, with gaps."""
    folder = tmp_path_factory.mktemp("pages")
    answers = make_answered_run(folder / "answers", questions=1000)
    assert main(["analyze", f"run={answers}", "by=answers"]) == 0
    run, rows = make_summary_run(folder, articles=60), range(0, 60, 2)
    mine = {"guid": [f"s{row}" for row in rows], "summary": [written_for(row, 1) for row in rows]}
    write_table(folder / "mine.csv", mine)
    assert main(["analyze", f"run={run}", "by=summaries", f"beside={folder / 'mine.csv'}"]) == 0
    return [answers / "analysis/answers.html", run / "analysis/summaries.html"]


@pytest.fixture(params=[0, 1], ids=["answers", "summaries"])
def opened(page, files, request):
    """Open a page, which must raise no error, nor run markup of its texts."""
    page.errors.clear()
    page.open(files[request.param])
    yield page
    assert page.errors == []
    assert page.run("typeof window.broken") == "undefined"


answers = pytest.mark.parametrize("opened", [0], indirect=True)
summaries = pytest.mark.parametrize("opened", [1], indirect=True)


def test_texts_run_from_right_to_left_and_markup_in_them_is_shown(opened):
    text = f"{CARDS}[1].querySelector('.context, .summary.own')"
    assert opened.run(f"[getComputedStyle({text}).direction, {text}.lang]") == ["rtl", "he"]
    opened.run(f"{CARDS}[0].querySelector('.context button')?.click()")
    opened.run(f"[...{CARDS}[0].querySelectorAll('details')].forEach((d) => d.open = true)")
    opened.settle()
    assert HOSTILE in opened.run(f"{CARDS}[0].querySelector('.context, .article').textContent")


@answers
def test_both_answers_are_marked_behind_an_emoji_too_and_candidates_listed(opened):
    marked = (
        f"((which, number) => [...{CARDS}[number].querySelectorAll(`mark.${{which}}`)].map((m) =>"
        " [...m.childNodes].filter((n) => n.nodeType === 3).map((n) => n.data).join('')).join(''))"
    )
    for number, gold, model in ((1, "העיר תל אביב", "תל אביב"), (3, "רות, מורה", "מורה צעירה")):
        assert opened.run(f"{marked}('gold', {number})") == gold
        assert opened.run(f"{marked}('model', {number})") == model
    listed = opened.run(f"{CARDS}[3].querySelector('details li').textContent")
    assert listed.startswith("מורה צעירה 0.898, characters ")


@answers
def test_filters_hold_together_search_finds_texts_and_the_worst_come_first_when_asked(opened):
    choose(opened, "word", "where")
    assert opened.run(COUNT).startswith("400 of 1000")
    choose(opened, "class", "disjoint")
    assert opened.run(COUNT).startswith("200 of 1000")
    questions = f"{CARDS}.map((card) => card.querySelector('h2').textContent)"
    assert set(opened.run(questions)) == {"מאיפה יצא?"}
    choose(opened, "order", "sure")
    assert "q4" in opened.run(f"{CARDS}[0].innerText").split("\n")[-1]
    for field in ("word", "class"):
        choose(opened, field, "")
    choose(opened, "order", "worst")
    assert "answer is disjoint" in opened.run(f"{CARDS}[0].innerText")
    for words, count in (
        ("q123", "1 of 1000"),
        ("פסקה 6", "142 of 1000"),
        ("אין כזה", "0 of 1000"),
    ):
        choose(opened, "search", words)
        assert opened.run(COUNT).startswith(count)


@summaries
def test_every_systems_summary_is_in_one_card_with_its_novel_words_underlined(opened):
    headings = f"[...{CARDS}[0].querySelectorAll('h3')].map((each) => each.innerText)"
    assert opened.run(headings) == ["gold summary", "run", "mine", "lead3", "oracle"]
    texts = f"[...{CARDS}[2].querySelectorAll('.summary')].map((each) => each.textContent)"
    assert opened.run(texts)[:3] == [gold_of(2), written_for(2), written_for(2, 1)]
    assert "no summary" in opened.run(f"{CARDS}[1].innerText")
    marks = f"[...{CARDS}[1].querySelectorAll('.own mark')].map((each) => each.textContent)"
    assert opened.run(marks) == ["בקרוב"]  # behind an emoji
    style = f"getComputedStyle({CARDS}[1].querySelector('.own mark')).textDecorationLine"
    assert opened.run(style) == "underline"
    assert opened.run(f"{CARDS}[1].querySelectorAll('.copied mark').length") == 0


@summaries
def test_a_score_puts_articles_in_order(opened):
    choose(opened, "system", "0")
    choose(opened, "score", "rouge1")
    values = (
        f"{CARDS}.map((card) => [...card.querySelector('.facts').children].find((f) =>"
        " f.innerText.startsWith('rouge1 ')).querySelector('bdi')).map((b) => +b.textContent)"
    )
    lowest = opened.run(values)
    choose(opened, "from", "highest")
    highest = opened.run(values)
    assert (lowest, highest) == (sorted(lowest), sorted(highest, reverse=True))
    assert highest[0] > lowest[0]
