"""The best of several systems or runs: one rule, wherever something is chosen on validation."""

from collections.abc import Sequence

Complexity = tuple[bool, bool, int]
_TIE = 1e-9  # means of the same scores differ in their last bits


def complexity(baseline: str, curriculum: str, overrides: int) -> Complexity:
    """Tell how complicated settings are; the smallest is the simplest.

    A baseline is simpler than a trained encoder, no curriculum than one, fewer overrides than more.

    Args:
        baseline, curriculum: their names, `none` without one.
        overrides: number of settings that differ from the defaults.
    """
    return baseline == "none", curriculum != "none", overrides


def best_of(
    values: Sequence[float | None], complexities: Sequence[Complexity] | None = None
) -> list[int]:
    """Find the indices of the best values; several are a tie, whose simplest comes first.

    Args:
        values: more is better, as `heron.metrics.names.signed` gives them; None does not count.
        complexities: of what has these values; None: a tie stays in order.
    """
    scored = {index: value for index, value in enumerate(values) if value is not None}
    highest = max(scored.values(), default=0.0)
    tied = [index for index, value in scored.items() if highest - value <= _TIE]
    return tied if complexities is None else sorted(tied, key=lambda index: complexities[index])


def tie_note(chosen: str, others: Sequence[str]) -> str:
    """Say that others score as what was chosen; empty without others."""
    if not others:
        return ""
    equal = ", ".join(others)
    return f"A tie on validation: {equal} score as {chosen} does, the simplest or first of them."
