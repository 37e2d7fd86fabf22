"""Which cases of a test run with every change, and which in `make test-real` alone."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest


def quick(cases: Iterable[Any], count: int = 1) -> list[Any]:
    """Leave all but the first `count` cases of a parametrization to `make test-real`."""
    return [
        case
        if number < count
        else pytest.param(*(case if isinstance(case, tuple) else (case,)), marks=pytest.mark.real)
        for number, case in enumerate(cases)
    ]
