"""Scores as pure functions over whole splits; `torch_metrics` wraps those that modules log."""
