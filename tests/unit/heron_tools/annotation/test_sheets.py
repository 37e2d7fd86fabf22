"""`heron annotate`: what raters get, what is refused, and what `heron score` makes of answers."""

import csv
import json
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from heron.base.errors import ConfigError, DataError
from heron.base.folders import default_cache_dir, default_data_dir
from heron.base.tables import read_table, write_table
from heron.cli import main
from heron.data.examples import Example
from heron.data.overrides import configure
from heron.data.readers import load
from heron.results.shipped import read_shipped
from heron_tools.annotation.sheets import (
    assign_raters,
    draw_rows,
    parse_questions,
    read_from_people,
    write_for_people,
)


@pytest.fixture
def sheets(tmp_path):
    """Draw ten rows of the built-in corpus for three raters, two of them for each row."""

    def draw(*more):
        words = ["data=chronicle", "split=validation", "rows=10", "per_row=2"]
        words += [f"out={tmp_path / 'study'}"]
        words += more or ["raters=anna,ben,dan"]
        assert main(["annotate", "draw", *words]) == 0
        return tmp_path / "study"

    return draw


def fill(path, answer):
    """Fill a sheet in: `answer(row)` gives the cells of each row."""
    with path.open(encoding="utf-8-sig", newline="") as file:
        rows = list(csv.DictReader(file))
    rows = [{**row, **answer(row)} for row in rows]
    write_table(path, {name: [row[name] for row in rows] for name in rows[0]})


def collect(study, *raters):
    paths = ",".join(str(study / f"{name}.csv") for name in raters)
    key = study / "key.json"
    return main(["annotate", "collect", f"sheets={paths}", f"key={key}", f"out={study / 'done'}"])


def test_each_row_goes_to_as_many_raters_as_asked_without_its_label(sheets):
    study = sheets()
    tables = {name: read_table(study / f"{name}.csv") for name in ("anna", "ben", "dan")}
    assert tables["anna"].columns == ("guid", "text", "label")
    counts = Counter(row["guid"] for table in tables.values() for row in table.rows)
    assert set(counts.values()) == {2}
    assert len(counts) == 10
    assert not any(row["label"] for table in tables.values() for row in table.rows)
    assert {len(table.rows) for table in tables.values()} == {6, 7}
    gold = json.loads((study / "key.json").read_text("utf-8"))["gold"]
    assert set(gold) == set(counts)
    assert all(gold.values())


def test_a_rater_sees_which_events_are_asked_about(sheets):
    texts = [row["text"] for row in read_table(sheets() / "anna.csv").rows]
    assert all("[א1]" in text and "[/א2]" in text for text in texts)


@pytest.mark.parametrize(
    ("data", "column", "of"), [("qa", "answer", "answers"), ("summaries", "summary", "target")]
)
def test_a_rater_sees_the_answers_or_the_summary_that_are_rated(tmp_path, data, column, of):
    small = "data.generator.size=100"
    words = [f"data=chronicle_{data}", small, "rows=5", "raters=anna,ben", "ask=good:1-5"]
    assert main(["annotate", "draw", *words, f"out={tmp_path}"]) == 0
    sheet = read_table(tmp_path / "anna.csv", own=True)
    assert sheet.columns[-2:] == (column, "good")
    config = configure(f"chronicle_{data}", [small])
    shipped = read_shipped(config, default_data_dir(), default_cache_dir()).splits["test"]
    examples = {example.guid: example for example in shipped}
    for row in sheet.rows:
        example = examples[row["guid"]]
        golds = example.side["answers"] if of == "answers" else [example.target]
        assert row[column] == "\n".join(golds)


def test_answers_are_scored_as_any_systems_predictions(sheets, capsys):
    study = sheets()
    gold = json.loads((study / "key.json").read_text("utf-8"))["gold"]
    wrong = min(gold)
    other = next(label for label in set(gold.values()) if label != gold[wrong])
    for name in ("anna", "ben", "dan"):
        # Letters in another case count; one row is answered wrongly.
        fill(
            study / f"{name}.csv",
            lambda row: {"label": other if row["guid"] == wrong else gold[row["guid"]].lower()},
        )
    assert collect(study, "anna", "ben", "dan") == 0
    done = study / "done"
    words = [f"{part}={done}/majority.{part}.csv" for part in ("gold", "predictions")]
    assert main(["score", "task=relation", *words, f"out={done / 'score.json'}"]) == 0
    assert "0.900" in capsys.readouterr().out
    answers = read_table(done / "answers.csv").rows
    assert len(answers) == 20
    assert {row["rater"] for row in answers} == {"anna", "ben", "dan"}


def test_a_sheet_may_have_semicolons_as_spreadsheets_of_some_countries_write(sheets):
    study = sheets("raters=anna,ben")
    for name in ("anna", "ben"):
        with (study / f"{name}.csv").open(encoding="utf-8-sig", newline="") as file:
            rows = [{**row, "label": "AFTER"} for row in csv.DictReader(file)]
        # Texts have commas and semicolons in them; Excel begins the file with a byte-order mark.
        rows[0]["text"] += "; a, b"
        with (study / f"{name}.csv").open("w", encoding="utf-8-sig", newline="") as file:
            writer = csv.DictWriter(file, list(rows[0]), delimiter=";")
            writer.writeheader()
            writer.writerows(rows)
    assert collect(study, "anna", "ben") == 0
    assert len(read_table(study / "done/answers.csv").rows) == 20


def test_ratings_have_their_mean_and_the_raters_difference(sheets, capsys):
    study = sheets("ask=fluency:1-5,valid:yes/no", "raters=2")
    fill(study / "rater1.csv", lambda row: {"fluency": "4", "valid": "Yes"})
    fill(study / "rater2.csv", lambda row: {"fluency": "3", "valid": "yes"})
    assert collect(study, "rater1", "rater2") == 0
    said = capsys.readouterr().out
    assert "3.500 ± 0.513 (20)" in said
    assert "difference" in said
    assert not list((study / "done").glob("*.gold.csv"))  # nobody was asked for labels


def test_only_what_was_asked_as_a_scale_is_averaged(sheets, capsys):
    study = sheets("ask=label,fluency:1-5,valid:yes/no", "raters=2")
    key = json.loads((study / "key.json").read_text("utf-8"))
    # Data sets may have classes that are named with digits.
    key["questions"]["label"] = ["0", "1"]
    key["questions"]["valid"] = ["0", "1"]
    (study / "key.json").write_text(json.dumps(key))
    answers = {"label": "1", "fluency": "4", "valid": "1"}
    for name in ("rater1", "rater2"):
        fill(study / f"{name}.csv", lambda row: answers)
    assert collect(study, "rater1", "rater2") == 0
    ratings, agreement = capsys.readouterr().out.split("Agreement")
    assert "fluency" in ratings
    assert "label" not in ratings.split("Ratings")[1]
    assert "valid" not in ratings.split("Ratings")[1]
    assert "label" in agreement
    assert "valid" in agreement


def test_unfinished_rows_are_left_out_and_counted(sheets, capsys):
    study = sheets("raters=2")
    rows = [row["guid"] for row in read_table(study / "rater1.csv").rows]
    fill(study / "rater1.csv", lambda row: {"label": "" if row["guid"] in rows[:3] else "BEFORE"})
    fill(study / "rater2.csv", lambda row: {"label": "BEFORE"})
    assert collect(study, "rater1", "rater2") == 0
    assert "left out: rater1 3" in capsys.readouterr().out
    assert len(read_table(study / "done/answers.csv").rows) == 17


def test_every_answer_that_is_not_allowed_is_named_by_line(sheets, capsys):
    study = sheets("raters=2")
    fill(study / "rater1.csv", lambda row: {"label": "perhaps"})
    assert collect(study, "rater1") == 2
    said = capsys.readouterr().err
    assert "rater1.csv:2 and 9 more" in said
    assert "label 'perhaps'" in said
    assert "BEFORE" in said
    assert not (study / "done").exists()


def test_sheets_that_may_be_with_people_are_not_written_again(sheets, capsys):
    study = sheets()
    before = (study / "anna.csv").read_bytes()
    words = ["data=chronicle", "split=validation", f"out={study}", "seed=1"]
    assert main(["annotate", "draw", *words]) == 2
    assert "may be with people" in capsys.readouterr().err
    assert (study / "anna.csv").read_bytes() == before


classes = st.lists(st.sampled_from(["a", "b", "c"]), min_size=1, max_size=60)


@given(classes, st.integers(1, 80), st.integers(0, 3))
def test_a_draw_has_each_class_in_its_share(labels, rows, seed):
    examples = [Example(f"g{n}", "text", label=label) for n, label in enumerate(labels)]
    drawn = draw_rows(examples, rows, True, seed)
    rows = min(rows, len(examples))
    assert len(drawn) == rows == len({example.guid for example in drawn})
    for label, count in Counter(labels).items():
        got = sum(example.label == label for example in drawn)
        assert abs(got - rows * count / len(labels)) < 1
    assert drawn == draw_rows(examples[::-1], rows, True, seed)  # file order does not matter


def test_questions_are_labels_scales_and_words():
    questions = parse_questions(["label", "fluency:1-3", "valid:yes/no"], ("x", "y"))
    assert questions == {"label": ["x", "y"], "fluency": ["1", "2", "3"], "valid": ["yes", "no"]}
    with pytest.raises(ConfigError, match="name:yes/no"):
        parse_questions(["label"], ())


@given(st.integers(0, 40), st.integers(1, 8), st.integers(0, 2**32 - 1), st.data())
def test_every_row_has_its_raters_and_nobody_has_two_more_than_another(n, raters, seed, data):
    per_row = data.draw(st.integers(1, raters))
    teams = assign_raters(n, raters, per_row, np.random.default_rng(seed))
    assert [len(set(team)) for team in teams] == [per_row] * n
    loads = np.bincount([one for team in teams for one in team], minlength=raters)
    assert np.ptp(loads) <= 1


def test_every_two_raters_share_about_as_many_rows():
    teams = assign_raters(60, 6, 2, np.random.default_rng(0))
    shared = {}
    for first, second in teams:
        shared[first, second] = shared.get((first, second), 0) + 1
    assert len(shared) == 15
    assert max(shared.values()) - min(shared.values()) <= 2


def test_sheets_of_nobody_in_the_study_and_second_sheets_are_refused(sheets, capsys):
    study = sheets("raters=anna,ben")
    fill(study / "anna.csv", lambda row: {"label": "AFTER"})
    (study / "anna (1).csv").write_bytes((study / "anna.csv").read_bytes())
    assert collect(study, "anna", "anna (1)") == 2
    assert "nobody in the study is called 'anna (1)'" in capsys.readouterr().err
    assert collect(study, "anna", "anna") == 2
    assert "a second sheet of 'anna'" in capsys.readouterr().err
    assert not (study / "done").exists()


def test_the_command_that_collect_prints_scores_the_answers_and_ties_are_named(sheets, capsys):
    study = sheets("raters=anna,ben")
    fill(study / "anna.csv", lambda row: {"label": "AFTER"})
    rows = [row["guid"] for row in read_table(study / "ben.csv").rows]
    fill(
        study / "ben.csv",
        lambda row: {"label": "BEFORE" if row["guid"] in rows[:4] else "AFTER"},
    )
    with (study / "ben.csv").open("a", encoding="utf-8") as file:
        file.write(",,\n,,\n")  # as spreadsheet programs write below the last row
    capsys.readouterr()
    assert collect(study, "anna", "ben") == 0
    said = capsys.readouterr().out
    assert "majority: 4 of 10 rows are ties and left out" in said
    command = next(
        line for line in said.splitlines() if line.startswith("majority, 6 rows: heron ")
    )
    assert main(command.split(": heron ")[1].split()) == 0
    assert "accuracy" in capsys.readouterr().out


# Files that people fill in

COLUMNS = {"guid": ["1", "2"], "text": ['=1+1, "so"', "שלום\nעולם"], "q1": ["", ""]}


def test_a_sheet_says_that_it_is_utf8_runs_nothing_and_comes_back_as_it_was(tmp_path):
    path = tmp_path / "new" / "anna.csv"
    write_for_people(path, COLUMNS)
    assert path.read_bytes().startswith(b"\xef\xbb\xbf")
    with path.open(encoding="utf-8-sig", newline="") as file:
        assert next(csv.DictReader(file))["text"] == '\'=1+1, "so"'
    table = read_table(path, own=True)
    assert {name: table.values(name) for name in table.columns} == COLUMNS


def test_rows_without_any_content_are_left_out_and_lines_are_the_files(tmp_path):
    path = tmp_path / "anna.csv"
    path.write_text("guid;q1\n1;yes\n ;\n2;\n;\n; \n")
    table = read_from_people(path)
    assert table.values("guid") == ["1", "2"]
    assert [table.where(n) for n in range(2)] == [f"{path}:2", f"{path}:4"]
    path.write_text("guid,q1\n,\n")
    with pytest.raises(DataError, match=r"anna\.csv.*has no rows"):
        read_from_people(path)


def test_a_table_in_another_format_has_no_mark_of_a_spreadsheet(tmp_path):
    write_for_people(tmp_path / "anna.jsonl", COLUMNS)
    assert (tmp_path / "anna.jsonl").read_bytes().startswith(b"{")
    assert read_table(tmp_path / "anna.jsonl").values("text") == COLUMNS["text"]


@pytest.mark.parametrize("split", ["train", "validation", "test"])
def test_splits_that_a_run_takes_from_train_are_drawn_from_as_the_run_reads_them(split, tmp_path):
    texts = [f"text {row}" for row in range(40)]
    labels = [("good", "bad")[row % 2] for row in range(40)]
    write_table(tmp_path / "train.csv", {"id": range(40), "text": texts, "label": labels})
    words = [f"data.files.train.path={tmp_path / 'train.csv'}", "data.columns.guid=id"]
    words += ["data.label_order=[good, bad]", "data.holdout.fraction=0.2"]
    out = tmp_path / "study"
    asked = ("data=own_classification", f"split={split}", "raters=1", "per_row=1", f"out={out}")
    assert main(["annotate", "draw", *asked, *words]) == 0
    wanted = load(configure("own_classification", words), tmp_path, tmp_path)[split]
    drawn = read_table(out / "rater1.csv").values("guid")
    assert sorted(map(str, drawn)) == sorted(example.guid for example in wanted)
