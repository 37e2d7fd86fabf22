"""`heron agreement`: layouts of labels, measures beside references, majority, adjudication."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from sklearn.metrics import cohen_kappa_score
from statsmodels.stats.inter_rater import aggregate_raters, fleiss_kappa

from heron.base.errors import ConfigError, DataError
from heron.base.tables import read_table
from heron.cli import main
from heron_tools.annotation.labels import Labels, Layout, read_labels
from heron_tools.annotation.measures import (
    agreements,
    cohen,
    fleiss,
    majority,
    pair_table,
    rating_differences,
    relax,
)

A = ["yes", "no", "no", "maybe", "yes", "no", "maybe", "no", "yes", "yes"]
B = ["yes", "no", "maybe", "maybe", "no", "no", "maybe", "yes", "yes", "yes"]
C = ["no", "no", "no", "maybe", "yes", "no", "yes", "no", "yes", "maybe"]
names = st.sampled_from(["a", "b", "c"])
rows = st.lists(st.tuples(names, names, names), min_size=2, max_size=30)


def labels_of(values):
    items = [str(n) for n in range(len(values))]
    raters = [f"r{n}" for n in range(len(values[0]))]
    return Labels(items, raters, values)


def found(values, *more):
    return {each.measure: each for each in agreements(labels_of(values), *more, resamples=50)}


def test_kappas_equal_scikit_learns_and_statsmodels():
    pairs = list(zip(A, B, strict=True))
    assert cohen(pairs) == pytest.approx(cohen_kappa_score(A, B), abs=1e-12)
    assert found(pairs)["Cohen's kappa"].n == 10
    values = list(zip(A, B, C, strict=True))
    counts, _ = aggregate_raters(np.asarray(values))
    assert fleiss(values) == pytest.approx(fleiss_kappa(counts), abs=1e-12)


def test_fleiss_kappa_is_of_the_items_with_the_most_frequent_number_of_labels():
    """Whoever gave them: each of four raters has labelled some rows only."""
    values = list(zip(A, B, C, strict=True))
    pairs = [(a, "", b, "") if n % 2 else ("", b, "", a) for n, (a, b, _) in enumerate(values)]
    triples = [(*said, "") for said in values[:4]]
    counts, _ = aggregate_raters(np.asarray([[a, b] for a, b, _ in values]))
    got = found([*triples, *pairs, ("yes", "", "", "")])["Fleiss' kappa"]
    assert (got.value, got.n) == (pytest.approx(fleiss_kappa(counts), abs=1e-12), 10)
    assert got.low < got.value < got.high
    assert found([*triples, *pairs[:4]])["Fleiss' kappa"].n == 4
    counts, _ = aggregate_raters(np.asarray(values[:4]))
    tied = found([*triples, *pairs[:4]])["Fleiss' kappa"].value
    assert tied == pytest.approx(fleiss_kappa(counts), abs=1e-12), "the larger number"
    assert found([("a", "", ""), ("", "b", "")])["Fleiss' kappa"].value is None


@given(rows)
def test_draws_by_counts_equal_the_repeated_rows(values):
    kinds = sorted(set(values))
    counts = np.array([values.count(kind) for kind in kinds])
    for measure, part in ((fleiss, 3), (cohen, 2)):
        ours = measure([kind[:part] for kind in kinds], counts)
        assert ours == pytest.approx(measure([v[:part] for v in values]), nan_ok=True)


def test_raters_who_always_agree_have_agreement_one():
    for each in found([(x, x) for x in A]).values():
        assert (each.value, each.low, each.high) == (1, 1, 1)


def test_one_label_for_everything_leaves_kappa_undefined():
    assert found([("a", "a")] * 4)["Cohen's kappa"].value is None


def test_a_relaxed_label_counts_as_the_other_raters():
    pairs = [("VAGUE", "EQUAL"), ("BEFORE", "VAGUE"), ("BEFORE", "AFTER"), ("VAGUE", "VAGUE")]
    relaxed = [("EQUAL", "EQUAL"), ("BEFORE", "BEFORE"), ("BEFORE", "AFTER"), ("VAGUE", "VAGUE")]
    assert relax(pairs, "VAGUE") == relaxed
    kappa = cohen_kappa_score(*zip(*relaxed, strict=True))
    assert found(pairs, "VAGUE")["relaxed Cohen's kappa"].value == pytest.approx(kappa)


def test_intervals_hold_the_value_and_repeat_with_a_seed():
    values = list(zip(A, B, strict=True)) * 5
    first, again = found(values), found(values)
    assert first == again
    kappa = first["Cohen's kappa"]
    assert kappa.low < kappa.value < kappa.high


def test_differences_of_ratings_have_a_t_interval():
    got = rating_differences(labels_of([("1", "3"), ("4", "4"), ("5", "2"), ("3", "")]))
    low, high = stats.t.interval(0.95, 2, np.mean([2, 0, 3]), stats.sem([2, 0, 3]))
    assert (got.value, got.low, got.high, got.n) == pytest.approx((5 / 3, low, high, 3))
    with pytest.raises(DataError, match="good"):
        rating_differences(labels_of([("1", "good")]))


def test_ties_have_no_majority():
    values = [("a", "a", "b"), ("a", "b", ""), ("", "", ""), ("a", "b", "c"), ("", "b", "")]
    assert majority(labels_of(values)) == ["a", "", "", "", "b"]


def test_every_layout_reads_the_same_labels(tmp_path):
    (tmp_path / "wide.csv").write_text("id,anna,ben\n1,yes,no\n2,NONE,yes\n")
    (tmp_path / "anna.csv").write_text("id,label\n1,yes\n2,NONE\n")
    (tmp_path / "ben.jsonl").write_text('{"id": "1", "label": "no"}\n{"id": "2", "label": "yes"}\n')
    (tmp_path / "long.csv").write_text(
        "id,who,label\n1,anna,yes\n1,ben,no\n2,ben,yes\n2,anna,NONE\n"
    )
    files = {
        ("wide.csv",): Layout(raters=["anna", "ben"], ignore=["NONE"]),
        ("anna.csv", "ben.jsonl"): Layout(ignore=["NONE"]),
        ("long.csv",): Layout(rater="who", ignore=["NONE"]),
    }
    for names_, layout in files.items():
        got = read_labels([tmp_path / name for name in names_], layout)
        assert (got.items, got.raters) == (["1", "2"], ["anna", "ben"])
        assert [list(said) for said in got.values] == [["yes", "no"], ["", "yes"]]


def test_an_item_twice_and_a_single_rater_are_refused(tmp_path):
    path = tmp_path / "anna.csv"
    path.write_text("id,label\n1,yes\n1,no\n")
    with pytest.raises(DataError, match=r"anna.csv:3.*anna has labelled '1' already"):
        read_labels([path], Layout())
    path.write_text("id,label\n1,yes\n")
    with pytest.raises(ConfigError, match="one rater only"):
        read_labels([path], Layout())


def test_the_command_shows_groups_and_writes_what_is_to_be_decided(tmp_path, capsys):
    table = tmp_path / "all.csv"
    lines = [f"{n},{a},{b},{c},{'x' if n < 5 else 'y'},text {n}" for n, (a, b, c) in
             enumerate(zip(A, B, C, strict=True))]  # fmt: skip
    table.write_text("id,a,b,c,part,text\n" + "\n".join(lines))
    words = [f"files={table}", "raters=a,b,c", "by=part", "resamples=20"]
    words += [f"majority={tmp_path}/m.csv", f"adjudicate={tmp_path}/d.csv"]
    assert main(["agreement", *words]) == 0
    printed = capsys.readouterr().out
    assert "Fleiss' kappa" in printed
    assert "Pairs of raters" in printed
    decided = read_table(tmp_path / "m.csv").rows
    assert [row["prediction"] for row in decided][:4] == ["yes", "no", "no", "maybe"]
    rows_ = read_table(tmp_path / "d.csv").rows
    assert rows_[0]["text"] == "text 0"
    assert len(rows_) == sum(len(set(said)) > 1 for said in zip(A, B, C, strict=True))
    assert not math.isnan(float(decided[0]["votes"]))


def test_what_is_empty_is_no_label_in_any_format(tmp_path):
    (tmp_path / "a.csv").write_text("id,x,y\n1,,no\n2,yes, \n3,yes,\n4,yes,no\n")
    (tmp_path / "a.json").write_text(
        '[{"id": 1, "x": null, "y": "no"}, {"id": 2, "x": "yes"}, '
        '{"id": 3, "x": "yes", "y": NaN}, {"id": 4, "x": "yes", "y": "no"}]'
    )
    for name in ("a.csv", "a.json"):
        got = read_labels([tmp_path / name], Layout(raters=["x", "y"]))
        assert [list(said) for said in got.values] == [
            ["", "no"], ["yes", ""], ["yes", ""], ["yes", "no"]
        ]  # fmt: skip


def test_rows_without_an_item_or_a_rater_are_named_and_no_cell_is_called_none(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_text('{"id": null, "who": "x", "label": "a"}\n{"id": "1", "label": "a"}\n')
    with pytest.raises(DataError) as caught:
        read_labels([path], Layout(rater="who"))
    assert "a.jsonl:1: 'id' is empty" in str(caught.value)
    assert "a.jsonl:2: 'who' is empty" in str(caught.value)
    path.write_text('{"id": 1, "x": "a", "y": "b", "part": null, "text": null}\n')
    got = read_labels([path], Layout(raters=["x", "y"], by="part"))
    assert [*got.groups, *got.texts] == ["", ""]


def test_empty_rows_name_no_item_but_count_where_positions_do(tmp_path):
    (tmp_path / "a.csv").write_text("id,x,y\n1,a,b\n,,\n2,a,a\n,,\n")
    assert read_labels([tmp_path / "a.csv"], Layout(raters=["x", "y"])).items == ["1", "2"]
    (tmp_path / "b.csv").write_text("x,y\na,b\n,\na,a\n")
    assert read_labels([tmp_path / "b.csv"], Layout(raters=["x", "y"])).items == ["0", "1", "2"]


@pytest.mark.parametrize("other", ["yes", "YES\u200f"])
def test_labels_that_differ_in_case_or_unicode_form_are_one_and_said(tmp_path, capsys, other):
    path = tmp_path / "a.csv"
    path.write_text(
        f"id,x,y\n1,Yes,{other}\n2,Yes,contradic\u021bie\n3,Contradic\u0163ie,", "utf-8"
    )
    got = read_labels([path], Layout(raters=["x", "y"]))
    assert [list(said) for said in got.values] == [
        ["Yes", "Yes"], ["Yes", "contradic\u021bie"], ["contradic\u021bie", ""]
    ]  # fmt: skip
    assert "counts as 'Yes' (2)" in capsys.readouterr().err


def test_every_two_of_several_raters_have_relaxed_measures(tmp_path, capsys):
    table = pair_table(labels_of(list(zip(A, B, C, strict=True))), "maybe")
    pairs = relax(list(zip(A, C, strict=True)), "maybe")
    row = next(row for row in table.rows if row[:2] == ("r0", "r2"))
    found = dict(zip(table.columns, row, strict=True))
    assert found["relaxed Cohen's kappa"] == pytest.approx(
        cohen_kappa_score(*zip(*pairs, strict=True))
    )
    assert found["relaxed raw agreement"] == pytest.approx(np.mean([a == b for a, b in pairs]))


def test_a_rater_called_like_a_column_of_the_list_has_a_column_of_their_own(tmp_path):
    table = tmp_path / "all.csv"
    table.write_text("guid,label,relabel,text\n1,one,two,A\n2,one,one,B\n")
    words = [f"files={table}", "raters=label,relabel", f"adjudicate={tmp_path}/decide.csv"]
    assert main(["agreement", *words]) == 0
    assert read_table(tmp_path / "decide.csv").rows == [
        {"guid": "1", "text": "A", "rater label": "one", "relabel": "two", "label": ""}
    ]
