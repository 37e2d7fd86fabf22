"""Where the papers' data and a pretrained encoder lie, and the marks of tests that need them."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

DATA = Path(os.environ.get("HERON_DATA", "absent"))
ENCODER = Path(os.environ.get("HERON_ENCODER", "absent"))


def needs(*paths: Path) -> list[pytest.MarkDecorator]:
    """Mark tests that run in `make test-real` alone, where these files and folders are."""
    absent = [str(path) for path in paths if not path.exists()]
    reason = f"HERON_DATA and HERON_ENCODER name no {', '.join(absent)}"
    return [pytest.mark.real, pytest.mark.skipif(bool(absent), reason=reason)]


def on_real(test: object) -> object:
    """Mark one test that reads the papers' data."""
    for mark in needs(DATA):
        test = mark(test)
    return test
