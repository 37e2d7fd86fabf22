"""Extractive question answering."""

ANSWER, NO_ANSWER = "answer", "no_answer"  # the classes
