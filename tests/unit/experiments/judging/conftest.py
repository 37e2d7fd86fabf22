"""Studies for all tests of judging."""

import pytest

from small_study import sample


@pytest.fixture(scope="module")
def big(tmp_path_factory):
    """Seven raters, 120 articles, three systems: enough for an alpha near its expectation."""
    folder = tmp_path_factory.mktemp("big")
    return folder, sample(folder, "articles=120", articles=130)


@pytest.fixture
def small(tmp_path):
    return tmp_path, sample(tmp_path, "articles=6", "raters=3")
