"""What raters send back: bad cells are named, good ones kept, nothing crashes."""

import json

from hypothesis import given
from hypothesis import strategies as st

from heron.base.tables import read_table, write_table
from heron_forks.hesum.judging.reading import read_forms
from small_study import (
    answer_csv,
    collect,
    rows_of,
    with_ratings,
)


def test_every_bad_cell_is_named_and_all_others_count(small, capsys):
    folder, study = small
    answer_csv(study, with_ratings(lambda *_: 4), folder / "study" / "forms", folder / "returned")
    path = folder / "returned" / "r2.csv"
    rows = read_table(path).rows
    rows[0]["coherence"] = "6"
    rows[1]["completeness"] = "good"
    rows[2]["coherence"] = "3.5"
    rows[3]["repetition"] = "maybe"
    rows[4]["item"] = "999-1"
    rows[5]["rater"] = "r9"
    write_table(path, {name: [row[name] for row in rows] for name in rows[0]})
    assert collect(folder) == 1
    said = capsys.readouterr().err
    table_lines = read_table(path).lines
    for index, words in enumerate(
        ("coherence=6", "completeness=good", "coherence=3.5", "repetition=maybe")
    ):
        assert f"r2.csv:{table_lines[index]} (item {rows[index]['item']}): {words}" in said
    assert f"r2.csv:{table_lines[4]} (item 999-1): not on the form of r2" in said
    assert f"r2.csv:{table_lines[5]}: unknown rater r9" in said
    kept = rows_of(folder / "study" / "results" / "ratings.csv")
    assert len(kept) == 3 * 18 * 2 - 3 - 2 * 2
    report = (folder / "study" / "results" / "report.md").read_text("utf-8")
    assert "coherence=6" in report


def test_two_files_of_one_rater_complete_each_other_and_contradictions_do_not_count(small, capsys):
    folder, study = small
    first = {"kind": "heron judgements", "study": study.id, "rater": "r1", "saved": ""}
    returned = folder / "returned"
    returned.mkdir()
    for name, answers in {
        "a": [{"item": "001-1", "ratings": {"coherence": 4}}, {"item": "001-2", "comment": "x"}],
        "b": [{"item": "001-1", "ratings": {"coherence": 4, "completeness": 2}}],
        "c": [{"item": "001-1", "ratings": {"completeness": 5}}],
    }.items():
        content = json.dumps({**first, "answers": answers})
        (returned / f"{name}.json").write_text(content, encoding="utf-8")
    assert collect(folder) == 1
    assert "completeness=5, but 2 in" in capsys.readouterr().err
    (row,) = rows_of(folder / "study" / "results" / "ratings.csv")
    assert (row["criterion"], row["value"]) == ("coherence", "4")
    (row,) = rows_of(folder / "study" / "results" / "comments.csv")
    assert row["comment"] == "x"


scalars = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5)
anything = st.recursive(
    scalars | st.sampled_from(["001-1", "coherence", "repetition", 3]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["coherence", "completeness", "x"]), inner, max_size=3)
    ),
    max_leaves=6,
)
answers = st.fixed_dictionaries(
    {}, optional=dict.fromkeys(("item", "ratings", "errors", "none", "comment"), anything)
)


@given(st.lists(answers | anything, max_size=3), st.sampled_from(["r1", "r9", None, []]))
def test_no_file_crashes_and_what_is_used_is_valid(big, given_answers, rater):
    folder, study = big
    path = folder / "any.json"
    head = {"kind": "heron judgements", "study": study.id, "rater": rater}
    path.write_text(json.dumps({**head, "answers": given_answers}), encoding="utf-8")
    found, problems = read_forms([path], study)
    for answer in found:
        assert not answer.is_blank
        assert answer.item in study.items[answer.rater]
        assert set(answer.ratings.values()) <= set(range(1, 6))
        assert set(answer.ratings) <= {"coherence", "completeness"}
        assert not (answer.none and answer.errors)
    assert all(str(path) in problem.where for problem in problems)
