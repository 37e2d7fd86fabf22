"""The rating form in a browser: what a rater sees, does and gets. Needs an installed Chromium."""

import json
import time

import pytest

from browser import find_browser
from heron.cli import main
from small_study import rows_of, sample

CHROMIUM = find_browser()
pytestmark = [
    pytest.mark.skipif(CHROMIUM is None, reason="needs an installed Chromium"),
    pytest.mark.slow,
]

COUNT = "document.getElementById('judge-count').textContent"
TITLE = "document.getElementById('judge-title').textContent"
SETS = "[...document.querySelectorAll('fieldset[data-criterion]')]"
CURRENT = f"{SETS}.findIndex((set) => set.classList.contains('current'))"
CHECKED = f"{SETS}.map((set) => Number(set.querySelector('input:checked')?.value ?? 0))"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("form")


@pytest.fixture(scope="module")
def study(folder):
    return sample(folder, "articles=4", "raters=3")


@pytest.fixture
def opened(page, folder, study):
    """The form of the first rater, empty."""
    page.errors.clear()
    file = folder / "study" / "forms" / "r1.html"
    page.open(file)
    page.run("localStorage.clear()")
    page.open(file.parent / "r2.html")
    page.open(file)
    yield page
    assert page.errors == []


def click(page, selector, number=0):
    page.run(f"document.querySelectorAll({json.dumps(selector)})[{number}].click()")


def rate_all(page, folder):
    """Rate 12 summaries by the number keys and save; returns the path of the file."""
    for article in range(4):
        click(page, "fieldset input")
        for number in range(6):
            page.key(str(1 + (article + number) % 5))
        page.key("n")
    for file in folder.glob("judgements-*"):
        file.unlink()
    page.downloads_to(folder)
    click(page, "#judge-save")
    for _ in range(200):
        if files := list(folder.glob("judgements-*.json")):
            return files[0]
        time.sleep(0.02)
    raise AssertionError("nothing was saved")


def load(page, content, name="answers.json"):
    page.run(
        f"""(() => {{
          const made = new DataTransfer();
          made.items.add(new File([{json.dumps(content)}], {json.dumps(name)}));
          const input = document.getElementById("judge-file");
          input.files = made.files;
          input.dispatchEvent(new Event("change"));
        }})()"""
    )
    page.settle()


def test_the_page_and_its_texts_run_from_right_to_left(opened):
    assert opened.run("document.documentElement.lang") == "he"
    for part in ("body", "#judge-article", ".judge-summary .text", "fieldset legend"):
        node = f"document.querySelector('{part}')"
        assert opened.run(f"getComputedStyle({node}).direction") == "rtl", part
    # In a scale the 1 is at the right and the 5 at the left.
    places = f"{SETS}[0].querySelectorAll('input')"
    left = f"[...{places}].map((radio) => radio.getBoundingClientRect().left)"
    lefts = opened.run(left)
    assert lefts == sorted(lefts, reverse=True)


def test_keys_rate_go_on_and_clear(opened):
    click(opened, "fieldset input")  # a click rates 1, and outlines the question
    opened.run(f"{SETS}[0].querySelector('input').focus()")
    opened.key("4")
    opened.key("2")
    assert opened.run(CHECKED) == [4, 2, 0, 0, 0, 0]
    assert opened.run(CURRENT) == 2
    opened.key("7")
    opened.key("3")
    opened.run(f"{SETS}[0].querySelector('input:checked').focus()")
    opened.key("0")
    assert opened.run(CHECKED) == [0, 2, 3, 0, 0, 0]
    assert opened.run(CURRENT) == 0
    opened.key("n")
    assert opened.run(TITLE) == "כתבה 2 מתוך 4"
    opened.key("p")
    assert opened.run(CHECKED) == [0, 2, 3, 0, 0, 0]
    click(opened, "#judge-open")
    assert opened.run(CURRENT) == 0


def test_answers_are_there_again_when_the_page_is_opened_again(opened, folder):
    opened.run(f"{SETS}[0].querySelector('input').focus()")
    for number in "513524":
        opened.key(number)
    click(opened, ".judge-summary .kinds input", 1)
    opened.run(
        "(() => { const text = document.querySelector('textarea'); text.value = 'הערה 🦩';"
        " text.dispatchEvent(new Event('input')); })()"
    )
    forms = folder / "study" / "forms"
    opened.open(forms / "r2.html")
    assert opened.run(CHECKED) == [0] * 6
    opened.open(forms / "r1.html")
    assert opened.run(TITLE) == "כתבה 2 מתוך 4"  # the first that is not done
    opened.key("p")
    assert opened.run(CHECKED) == [5, 1, 3, 5, 2, 4]
    assert opened.run("document.querySelector('textarea').value") == "הערה 🦩"
    assert opened.run("document.querySelectorAll('.kinds input:checked').length") == 1
    assert opened.run("document.querySelectorAll('.judge-summary.done').length") == 3


def test_a_saved_file_is_what_collect_reads_and_what_the_form_loads(opened, folder, study):
    path = rate_all(opened, folder)
    assert path.name == f"judgements-{study.id}-r1.json"
    key = folder / "study" / "key.json"
    assert main(["judge", "collect", f"forms={path}", f"key={key}"]) == 0
    rows = rows_of(folder / "study" / "results" / "ratings.csv")
    expected = {}
    for article in range(4):
        for number in range(6):
            one = study.items["r1"][f"{article + 1:03d}-{number // 2 + 1}"]
            criterion = ("coherence", "completeness")[number % 2]
            expected[one.guid, one.system, criterion] = str(1 + (article + number) % 5)
    found = {(r["guid"], r["system"], r["criterion"]): r["value"] for r in rows}
    assert found == expected

    opened.run("localStorage.clear()")
    opened.open(folder / "study" / "forms" / "r2.html")
    opened.open(folder / "study" / "forms" / "r1.html")
    assert opened.run(CHECKED) == [0] * 6
    load(opened, path.read_text("utf-8"))
    assert opened.run(CHECKED) == [1, 2, 3, 4, 5, 1]
    assert opened.run(COUNT).startswith("12 ")
