"""Which cases of a test run with every change, and which in `make test-real` alone."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest


def quick(cases: Iterable[Any], count: int = 1) -> list[Any]:
    """Leave all but the first `count` cases of a parametrization to `make test-real`."""
    return [_case(case, number < count) for number, case in enumerate(cases)]


def one_in(step: int, cases: Iterable[Any]) -> list[Any]:
    """Leave all but each `step`-th case, beginning with the first, to `make test-real`."""
    return [_case(case, number % step == 0) for number, case in enumerate(cases)]


def _case(case: Any, now: bool) -> Any:
    """Mark a case that does not run with every change; a tuple is of several arguments."""
    values = case if isinstance(case, tuple) else (case,)
    return pytest.param(*values, marks=[] if now else pytest.mark.real)
