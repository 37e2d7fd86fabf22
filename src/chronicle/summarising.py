"""Rows of summarization: an article is one long story, with its summary."""

from __future__ import annotations

from collections.abc import Mapping

from chronicle.english_summaries import EnglishSummariser
from chronicle.hebrew_summaries import HebrewSummariser
from chronicle.romanian_summaries import RomanianSummariser
from chronicle.summary import Summariser

SUMMARISERS: Mapping[str, type[Summariser]] = {
    "he": HebrewSummariser,
    "ro": RomanianSummariser,
    "en": EnglishSummariser,
}
