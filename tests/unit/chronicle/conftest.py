"""The bytes of every corpus are pinned: what a large one shows is counted in `make test-real`."""

from pathlib import Path

import pytest

LARGE = {"corpora", "threes", "fours"}  # fixtures


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Function]) -> None:
    for item in items:
        if item.path.parent == Path(__file__).parent and LARGE & set(item.fixturenames):
            item.add_marker(pytest.mark.real)
