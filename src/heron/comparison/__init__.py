"""Comparing systems on stored predictions: which runs, which rows, which tests."""
