"""A run's page in a browser: what a reader sees of its predictions. Needs an installed Chromium."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from browser import Browser, choose, find_browser
from heron.commands.report import write_report

pytestmark = [
    pytest.mark.skipif(find_browser() is None, reason="needs an installed Chromium"),
    pytest.mark.slow,
]
HOSTILE = "[א1] <img src=x onerror=window.ran=1> [/א1] </script><script>window.ran=1</script>"
ROWS = "document.querySelectorAll('.predictions tbody tr').length"
SHOWN = (
    "[...document.querySelectorAll('.predictions tbody .number')].map((e) => Number(e.textContent))"
)


@pytest.fixture
def opened(page: Browser, make_run: Callable[..., Path]) -> Iterator[Browser]:
    folder = make_run(rows=120, texts=[HOSTILE], config={"data.name": "<b>trc</b>"})
    page.errors.clear()
    page.open(write_report(folder).html)
    page.settle()
    yield page
    assert page.errors == []


def test_predictions_are_put_in_order_by_confidence(opened: Browser) -> None:
    crosses = "[...document.querySelectorAll('.predictions tbody tr')].map((e) => e.className)"
    assert set(opened.run(crosses)) == {"wrong"}  # the most surprising first
    choose(opened, "order", "high")
    shown = opened.run(SHOWN)
    assert shown == sorted(shown, reverse=True)
    choose(opened, "order", "low")
    assert opened.run(SHOWN) == sorted(opened.run(SHOWN))
    choose(opened, "right", "false")
    assert opened.run(ROWS) == opened.run("document.querySelectorAll('.predictions .cross').length")


def test_texts_are_text_in_their_direction_and_never_run(opened: Browser) -> None:
    assert opened.run("window.ran") is None
    first = "document.querySelector('.predictions .text')"
    assert opened.run(f"{first}.textContent") == HOSTILE
    assert opened.run(f"[{first}.dir, {first}.lang]") == ["rtl", "he"]
    assert opened.run(f"{first}.querySelector('mark').children.length") == 2
    assert opened.run("document.querySelectorAll('main img[src=x], main h1 b').length") == 0
