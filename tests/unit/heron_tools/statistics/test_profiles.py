"""Profiles of articles and summaries: whole, merged, in draws; the figure of them."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from heron.languages.hebrew import HEBREW
from heron.languages.romanian import ROMANIAN
from heron.metrics.summary import by_words
from heron_tools.morphology.backends import load_morphology
from heron_tools.statistics.profiles import (
    ArticleSummary,
    compare_profiles,
    definitions,
    measure,
    merge,
    profile,
)
from heron_tools.statistics.summaries import summaries_figure, system_table
from summary_shares import mean_shares

texts = st.lists(st.sampled_from(["casa", "case", "un", "mare,", "și"]), max_size=12).map(" ".join)
pairs = st.lists(
    st.builds(ArticleSummary, texts, texts, st.sampled_from(["", "a", "b"])), min_size=2, max_size=9
)


@pytest.fixture(scope="module")
def simplemma():
    return load_morphology("simplemma", ROMANIAN)


def shares_of(found, unit):
    ways = {way[:3]: way.shares for way in definitions(found)}
    return ways[unit, "type", "document"]


@given(pairs=pairs, cut=st.integers(1, 8))
def test_parts_counted_apart_and_merged_are_what_the_whole_is(simplemma, pairs, cut):
    cut = min(cut, len(pairs) - 1)
    whole = profile(pairs, simplemma)
    merged = merge([profile(pairs[:cut], simplemma), profile(pairs[cut:], simplemma)])
    assert merged.articles == whole.articles
    assert merged.summaries == whole.summaries
    assert len(merged) == len(whole) == len(pairs)
    for unit, tally in whole.tallies.items():
        assert merged.tallies[unit].vocabularies == tally.vocabularies
        assert np.array_equal(merged.tallies[unit].lengths(), tally.lengths())
        for name, values in shares_of(whole, unit).items():
            assert shares_of(merged, unit)[name] == pytest.approx(values, nan_ok=True)


@given(pairs=pairs)
def test_units_are_those_of_the_statistics_a_run_stores(simplemma, pairs):
    found = profile(pairs, simplemma)
    articles, summaries = [pair.article for pair in pairs], [pair.summary for pair in pairs]

    def lemmas_of(texts):
        return [one.lemmas for one in simplemma.analyse(texts)]

    for unit, segment in (("words", by_words), ("lemmas", lemmas_of)):
        stored = mean_shares(articles, summaries, segment)
        for name, value in shares_of(found, unit).items():
            assert value == pytest.approx(stored[name], nan_ok=True)


@pytest.mark.parametrize("group", ["", "one"])
def test_documents_that_are_alike_or_of_one_group_leave_nothing_to_draw(simplemma, group):
    alike = [ArticleSummary("un om mare", "om mic", group)] * 5
    other = [ArticleSummary("un om", "o casă mare", group)] * bool(group)
    for units in measure(profile([*alike, *other], simplemma)).values():
        interval = units["novel_1"]
        assert interval.low == pytest.approx(interval.value) == pytest.approx(interval.high)


def test_what_a_backend_lacks_is_none_and_stays_so_when_merged(simplemma):
    one = profile([ArticleSummary("un om", "om", "")], simplemma)
    assert "morphemes" not in one.tallies
    both = merge([one, one])
    for side in (both.articles, both.summaries):
        assert (side.morphemes, side.constructs, side.anaphors, side.readings) == (None,) * 4
    prefixes = load_morphology("simplemma-prefixes", HEBREW)
    found = profile([ArticleSummary("ובבית, שהיה.", "בית.", "")], prefixes)
    assert found.articles.morphemes == 4
    assert (found.articles.readings, found.articles.ambiguous) == (4, 1)
    assert found.tallies["morphemes and marks"].lengths()[0].tolist() == [6.0]


def test_a_system_is_compared_on_the_draws_that_gold_sees(simplemma):
    random = np.random.default_rng(0)
    articles = [" ".join(random.choice(list("abcdefgh"), 20)) for _ in range(40)]
    gold = profile([ArticleSummary(a, a[:9] + " x y", "") for a in articles], simplemma)
    same = compare_profiles(gold, gold).differences["words"]
    assert all(change == (0, 0, 0) for change in same.values())
    longer = profile([ArticleSummary(a, a[:9] + " x y z", "") for a in articles], simplemma)
    change = compare_profiles(longer, gold).differences["words"]["novel_1"]
    assert 0 < change.low <= change.value <= change.high
    # Documents vary together: the difference is known better than either value.
    alone = measure(gold)["words"]["novel_1"]
    assert change.high - change.low < alone.high - alone.low


def test_a_system_is_compared_over_the_articles_where_both_have_something_to_count(simplemma):
    articles = [" ".join("abcdefgh"[row:]) for row in range(4)]
    golds = [f"{article[:3]} {'x y ' * row}" for row, article in enumerate(articles)]
    own = [f"{article[:3]} x" for article in articles]
    own[0], golds[3] = "", "a"  # one empty, one too short for pairs of words
    gold, system = (
        profile(
            [ArticleSummary(*pair, "") for pair in zip(articles, texts, strict=True)], simplemma
        )
        for texts in (golds, own)
    )
    found = compare_profiles(system, gold)
    assert found.empty == 1
    inner = slice(1, 3)
    for texts, shares in ((golds, found.gold), (own, found.system)):
        expected = mean_shares(articles[inner], texts[inner])
        assert shares["words"]["novel_2"].value == pytest.approx(expected["novel_2"])
    one, other = (shares["words"]["novel_2"].value for shares in (found.system, found.gold))
    assert found.differences["words"]["novel_2"].value == pytest.approx(one - other)
    assert "Empty summaries of the system: 1 of 4" in system_table(found, 4).note


def test_without_a_paper_definitions_have_no_distance(simplemma):
    ways = definitions(profile([ArticleSummary("a b", "a", "")], simplemma))
    assert {way.mean_distance for way in ways} == {None}
    assert len({way[:3] for way in ways}) == len(ways) == 16


@pytest.mark.usefixtures("drawn_figures")
def test_the_figure_draws_any_lengths(simplemma):
    found = profile([ArticleSummary("", "", ""), ArticleSummary("a b", "a", "")], simplemma)
    image = summaries_figure({"one": found, "other": found}, "title")
    assert image.startswith(b"\x89PNG")
    assert image == summaries_figure({"one": found, "other": found}, "title")
