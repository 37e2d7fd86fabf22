"""Scores as pure functions; tasks keep their running states."""
