"""Scores that say what a ROUGE is worth: beside other articles' references, beside extracts."""

from __future__ import annotations

import pytest

from heron.languages import get_language
from heron.metrics.summary import exchanged_scores, item_rouge

HEBREW = get_language("he")
GOLDS = ["הסכר נפרץ בצפון", "הבחירות נדחו לחורף", "המחירים ירדו השנה", "התחרות בוטלה"]


def test_a_system_that_reads_scores_more_beside_its_own_references():
    assert item_rouge(GOLDS, GOLDS, HEBREW)["rouge1"].mean() == 1
    assert set(exchanged_scores(GOLDS, GOLDS, HEBREW).values()) == {0}


def test_one_text_for_every_article_scores_the_same_beside_any_reference():
    texts = ["הסכר נפרץ והבחירות נדחו"] * len(GOLDS)
    own = item_rouge(texts, GOLDS, HEBREW)
    exchanged = exchanged_scores(texts, GOLDS, HEBREW)
    for measure in ("rouge1", "rouge2", "rougeL"):
        assert exchanged[f"exchanged_{measure}"] == pytest.approx(own[measure].mean())
    assert exchanged["exchanged_rouge1"] > 0


def test_every_reference_is_another_articles_however_many_rows():
    for rows in (2, 3):
        assert exchanged_scores(GOLDS[:rows], GOLDS[:rows], HEBREW)["exchanged_rouge1"] == 0
    assert exchanged_scores(GOLDS[:1], GOLDS[:1], HEBREW) == {}
