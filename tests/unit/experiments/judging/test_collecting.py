"""From filled forms to tables: known raters give known numbers."""

import json
import math

import numpy as np
import pytest

from heron.base.files import read_json
from heron.base.tables import write_table
from heron_forks.hesum.judging.reading import read_forms
from heron_forks.hesum.judging.tables import human_scores, unblind
from small_study import (
    SYSTEMS,
    answer_csv,
    answer_json,
    collect,
    knowing_raters,
    rows_of,
    table,
    with_ratings,
)
from tiers import quick


@pytest.mark.parametrize("sure", quick([0.5, 0.0, 0.85]))
def test_alpha_of_raters_who_know_with_a_probability_is_its_square(big, sure):
    folder, study = big
    forms = f"sure-{sure}"
    answer_json(study, knowing_raters(study, sure, seed=7), folder / forms)
    assert collect(folder, forms) == 0
    found = table(folder, "agreement")
    for name in ("coherence", "completeness", "all"):
        assert float(found[name]["alpha"]) == pytest.approx(sure**2, abs=0.04)
        assert float(found[name]["alpha low"]) < sure**2 + 0.02
        assert float(found[name]["alpha high"]) > sure**2 - 0.02
    assert int(found["coherence"]["ratings"]) == 7 * 120 * 3
    assert int(found["all"]["summaries"]) == 2 * 120 * 3


def test_raters_who_agree_have_alpha_one_and_the_means_are_theirs(small):
    folder, study = small
    marks = {"nightingale": 5, "sparrow": 3, "wagtail": 2}
    fill = with_ratings(lambda rater, guid, system, i: marks[system] - i)
    answer_json(study, fill, folder / "returned")
    assert collect(folder) == 0
    found = table(folder, "agreement")
    assert [float(found[name]["alpha"]) for name in ("coherence", "all")] == [1, 1]
    means = table(folder, "mean-ratings")
    for system, mark in marks.items():
        assert float(means[system]["coherence"]) == mark
        assert float(means[system]["completeness"]) == mark - 1
        assert (means[system]["summaries"], means[system]["ratings"]) == ("6", "36")


def test_forms_of_either_kind_give_the_same_rows(small):
    folder, study = small
    random = np.random.default_rng(0)
    filled = {}

    def fill(rater, item, one):
        if (rater, item) not in filled:
            ratings = {"coherence": int(random.integers(1, 6))}
            errors = ["repetition", "copying"] if random.random() < 0.3 else []
            filled[rater, item] = {
                "ratings": ratings,
                "errors": errors,
                "none": not errors and item.startswith("002"),
                "comment": 'הערה, "עם" סימנים' if item.startswith("001") else "",
            }
        return filled[rater, item]

    answer_json(study, fill, folder / "json")
    answer_csv(study, fill, folder / "study" / "forms", folder / "csv")
    rows = []
    for forms in ("json", "csv"):
        assert collect(folder, forms, f"out={folder / 'out' / forms}") == 0
        files = [folder / "out" / forms / f"{n}.csv" for n in ("ratings", "errors", "comments")]
        rows.append([file.read_text("utf-8") for file in files])
    assert rows[0] == rows[1]
    unblinded = rows_of(folder / "out" / "csv" / "ratings.csv")
    expected = {
        (rater, one.guid, one.system, "coherence", str(filled[rater, item]["ratings"]["coherence"]))
        for rater, items in study.items.items()
        for item, one in items.items()
    }
    assert {tuple(row.values()) for row in unblinded} == expected
    assert len(unblinded) == len(expected)


def test_one_rater_constant_ratings_and_missing_ones_leave_alpha_undefined(small, capsys):
    folder, study = small
    fill = with_ratings(lambda *_: 3)
    answer_json(study, lambda *words: fill(*words) if words[0] == "r1" else None, folder / "one")
    assert collect(folder, "one") == 0
    found = table(folder, "agreement")
    assert (found["coherence"]["alpha"], found["coherence"]["summaries"]) == ("", "0")
    report = (folder / "study" / "results" / "report.md").read_text("utf-8")
    assert "one rater only" in report
    answer_json(study, fill, folder / "constant")
    assert collect(folder, "constant") == 0
    found = table(folder, "agreement")
    assert (found["coherence"]["alpha"], found["coherence"]["summaries"]) == ("", "18")
    rows = table(folder, "human-and-automatic-scores", key=2)
    assert rows["summary"]["Pearson r"] == ""
    capsys.readouterr()
    answer_json(study, lambda *_: None, folder / "nothing")
    assert collect(folder, "nothing") == 2
    assert "is any form filled?" in capsys.readouterr().err


def test_correlations_are_scipy_s_over_summaries_and_over_systems(small):
    from scipy.stats import kendalltau, pearsonr

    folder, study = small
    answer_json(study, knowing_raters(study, 0.8), folder / "returned")
    systems = [(guid, system) for guid in study.guids for system in SYSTEMS]
    scores = np.random.default_rng(5).normal(size=len(systems))
    columns = {"guid": [g for g, _ in systems], "system": [s for _, s in systems]}
    write_table(folder / "more.csv", {**columns, "bertscore": scores})
    assert collect(folder, "returned", f"metrics={folder / 'more.csv'}") == 0
    answers, problems = read_forms(sorted((folder / "returned").iterdir()), study)
    ratings = unblind(study, answers)
    human = human_scores(ratings)["all"]
    assert not problems
    assert [(u.guid, u.system) for u in ratings.units] == systems
    path = folder / "study" / "results" / "tables" / "human-and-automatic-scores.csv"
    rows = {(r["metric"], r["criterion"], r["unit"]): r for r in rows_of(path)}
    assert len(rows) == len({metric for metric, _, _ in rows}) * 3 * 2
    assert {"rouge1", "rougeL_heron", "words"} < {metric for metric, _, _ in rows}
    for unit, x, y in (
        ("summary", human, scores),
        ("system", *(v.reshape(-1, 3).mean(axis=0) for v in (human, scores))),
    ):
        row = rows["bertscore", "all", unit]
        assert int(row["n"]) == len(x)
        r, tau = pearsonr(x, y), kendalltau(x, y)
        for name, value in (
            ("Pearson r", r.statistic),
            ("p", r.pvalue),
            ("Kendall tau-b", tau.statistic),
            ("p of tau", tau.pvalue),
        ):
            assert float(row[name]) == pytest.approx(value), name


def test_errors_are_counted_by_majority_and_by_any_of_those_who_looked(small):
    folder, study = small
    target = study.guids[0]

    def fill(rater, item, one):
        ticked = ["hallucination"] if (one.guid, one.system) == (target, "sparrow") else []
        if rater == "r1":
            return {"ratings": {"coherence": 3}, "errors": ticked or ["copying"]}
        if rater == "r2":
            return {"ratings": {"coherence": 3}, "errors": ticked, "none": not ticked}
        return {"ratings": {"coherence": 3}}  # has not looked for errors

    answer_json(study, fill, folder / "returned")
    assert collect(folder) == 0
    most = table(folder, "errors-that-most-raters-noticed")
    some = table(folder, "errors-that-any-rater-noticed")
    assert [most["summaries looked at"][system] for system in SYSTEMS] == ["6"] * 3
    assert [most["hallucination"][system] for system in SYSTEMS] == ["0", "1", "0"]
    assert [most["copying"][system] for system in SYSTEMS] == ["0"] * 3
    assert [some["copying"][system] for system in SYSTEMS] == ["6", "5", "6"]
    agreement = table(folder, "agreement")
    assert float(agreement["hallucination"]["alpha"]) == 1
    assert agreement["hallucination"]["ratings"] == str(2 * 18)
    assert float(agreement["copying"]["alpha"]) < 0


def test_pairs_raters_and_places_have_a_row_each(small):
    folder, study = small
    low = with_ratings(lambda rater, guid, system, i: SYSTEMS.index(system) + 1 + (rater == "r3"))
    answer_json(study, low, folder / "returned")
    assert collect(folder) == 0
    pairs = table(folder, "agreement-of-every-two-raters")
    assert set(pairs) == {"r1 and r2", "r1 and r3", "r2 and r3"}
    assert float(pairs["r1 and r2"]["coherence"]) == 1 > float(pairs["r1 and r3"]["coherence"])
    raters = table(folder, "raters")
    assert float(raters["r3"]["coherence mean"]) == 3
    assert raters["r1"]["rated"] == raters["r1"]["summaries given"] == "18"
    places = table(folder, "ratings-by-place")
    assert set(places) == {"1", "2", "3"}
    # Every system is six times at every place over the forms: their means cannot differ.
    assert [float(row["coherence mean"]) for row in places.values()] == pytest.approx([7 / 3] * 3)


def test_differences_are_paired_by_article(small):
    folder, study = small

    def fill(rater, item, one):  # articles differ by more than systems do
        if (rater, one.system) == ("r1", "wagtail"):
            return None
        level = 1 + study.guids.index(one.guid) % 3
        return {"ratings": {"coherence": level + (one.system == "sparrow")}}

    answer_json(study, fill, folder / "returned")
    assert collect(folder) == 0
    row = table(folder, "differences-of-systems")["nightingale - sparrow"]
    found = [float(row[name]) for name in ("coherence", "coherence low", "coherence high")]
    assert found == [-1, -1, -1]
    assert (row["articles"], row["completeness"]) == ("6", "")
    assert float(table(folder, "differences-of-systems")["sparrow - wagtail"]["coherence"]) == 1


def test_a_missing_rating_is_missing_and_no_zero(small):
    folder, study = small

    def fill(rater, item, one):
        return {"ratings": {"coherence": 5}} if one.system == "sparrow" else {"comment": "?"}

    answer_json(study, fill, folder / "returned")
    assert collect(folder) == 0
    means = table(folder, "mean-ratings")
    assert float(means["sparrow"]["coherence"]) == 5
    assert means["wagtail"]["coherence"] == means["sparrow"]["completeness"] == ""
    assert means["wagtail"]["summaries"] == "0"


def test_the_mean_of_all_criteria_needs_all_of_them(small):
    folder, study = small

    def fill(rater, item, one):
        both = {"coherence": 4, "completeness": 2}
        return {"ratings": both if one.system == "sparrow" else {"coherence": 4}}

    answer_json(study, fill, folder / "returned")
    answers, _ = read_forms(sorted((folder / "returned").iterdir()), study)
    means = human_scores(unblind(study, answers))["all"]
    found = [3.0 if system == "sparrow" else math.nan for _ in study.guids for system in SYSTEMS]
    np.testing.assert_array_equal(means, found)


def test_the_page_escapes_what_raters_and_files_say(small):
    folder, study = small
    answer_json(study, with_ratings(lambda *_: 4), folder / "returned")
    path = folder / "returned" / "r1.json"
    content = read_json(path)
    content["answers"][0]["ratings"]["coherence"] = "<img src=x onerror=alert(1)>"
    path.write_text(json.dumps(content), encoding="utf-8")
    assert collect(folder) == 1
    page = (folder / "study" / "results" / "report.html").read_text("utf-8")
    assert "&lt;img src=x" in page
    assert "<img src=x" not in page
