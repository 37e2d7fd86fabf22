"""Summarization."""

SUMMARY = "summary"  # the one class
