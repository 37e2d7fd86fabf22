"""The numbers of HeSum's paper beside measured ones."""

import pytest

from heron.languages.romanian import ROMANIAN
from heron_forks.hesum.published_statistics import PublishedStatistics
from heron_tools.morphology.backends import load_morphology
from heron_tools.statistics.profiles import ArticleSummary, definitions, profile


@pytest.fixture(scope="module")
def simplemma():
    return load_morphology("simplemma", ROMANIAN)


@pytest.mark.parametrize("printed", [0.5, None])
def test_distances_are_over_the_shares_that_both_have(simplemma, printed):
    row = {"novel_1": printed, "novel_4": 0.9, "compression": 0.25}
    paper = PublishedStatistics("paper", {}, {"row": row}, {}, {"words": "row"})
    found = definitions(profile([ArticleSummary("un om", "un", "")], simplemma))  # no four words
    ways = paper.rank(found)
    compared = [way for way in ways if way.row]
    assert {way.compared for way in compared} == {1 if printed is None else 2}
    assert {way.largest for way in compared} == {0.25 if printed is None else 0.5}
    assert {way.mean_distance for way in compared} == {0.25 if printed is None else 0.375}
    shares = "1 of 7" if printed is None else "2 of 7"
    assert f"that both have, {shares}" in paper.nearest({"test": ways}).note
    nothing = PublishedStatistics("paper", {}, {"row": {"novel_4": 0.9}}, {}, {"words": "row"})
    assert {way.mean_distance for way in nothing.rank(found)} == {None}
