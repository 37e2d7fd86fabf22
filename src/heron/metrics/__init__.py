"""Scores: pure functions first, the stateful metric around them in `heron.metrics.running`."""
