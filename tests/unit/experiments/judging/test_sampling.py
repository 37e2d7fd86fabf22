"""Sampling: the same for all systems, blind, repeatable, and nothing is written over."""

import csv
import dataclasses
import re

import pytest

from heron.base.run_folder import config_text
from heron.base.tables import read_table, write_table
from heron.cli import main
from heron.training.compose import compose
from heron_forks.hesum.judging.study import get_wording, read_key
from small_study import SYSTEMS, sample, write_systems


@pytest.fixture(scope="module")
def study_folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("sampled")
    sample(folder, "gold=true", "articles=12", "raters=4")
    return folder / "study"


def words(folder, *options):
    return [
        "judge",
        "sample",
        f"systems={write_systems(folder)}",
        f"out={folder / 'study'}",
        *options,
    ]


def refused(capsys, *arguments):
    assert main(list(arguments)) == 2
    return capsys.readouterr().err


def test_every_rater_judges_every_system_on_the_same_articles(study_folder):
    study = read_key(study_folder / "key.json")
    assert study.systems == (*SYSTEMS, "gold")
    assert len(study.guids) == 12
    for items in study.items.values():
        judged = {(one.guid, one.system) for one in items.values()}
        assert judged == {(guid, system) for guid in study.guids for system in study.systems}


def test_what_raters_get_names_no_system_no_guid_and_no_score(study_folder):
    files = sorted((study_folder / "forms").iterdir())
    assert len(files) == 4 * 2 + 1
    for file in files:
        content = file.read_text(encoding="utf-8-sig")
        for secret in (*SYSTEMS, "guid-", "rouge", ".jsonl", "'gold'", '"gold"'):
            assert secret not in content, (file.name, secret)


def test_a_spreadsheet_runs_nothing_in_a_form(tmp_path):
    for name in "ab":
        columns = {"guid": ["1", "2"], "text": ["=1+1 . b."] * 2, "prediction": ["-x", "@y"]}
        write_table(tmp_path / f"{name}.jsonl", columns)
    systems = f"systems={tmp_path / 'a.jsonl'},{tmp_path / 'b.jsonl'}"
    out = tmp_path / "study"
    options = [systems, f"out={out}", "language=en", "articles=2", "raters=1"]
    assert main(["judge", "sample", *options]) == 0
    with open(out / "forms" / "r1.csv", encoding="utf-8-sig", newline="") as file:
        rows = list(csv.DictReader(file))
    assert {row["article"] for row in rows} == {"'=1+1 . b.", ""}
    assert {row["summary"] for row in rows} == {"'-x", "'@y"}
    assert read_table(out / "forms" / "r1.csv", own=True).values("summary").count("-x") == 2


def test_items_and_order_do_not_tell_the_systems_apart(study_folder):
    study = read_key(study_folder / "key.json")
    for items in study.items.values():
        for place in "1234":
            here = [one.system for item, one in items.items() if item.endswith(f"-{place}")]
            assert sorted(here) == sorted([*study.systems] * 3)
    orders = {tuple(one.guid for one in items.values()) for items in study.items.values()}
    assert len(orders) == 4


def test_a_form_shows_the_summary_that_the_key_says(study_folder):
    study = read_key(study_folder / "key.json")
    letters = dict(zip(SYSTEMS, "אבג", strict=True))
    for row in read_table(study_folder / "forms" / "r2.csv").rows:
        one = study.items["r2"][row["item"]]
        number = one.guid[-2:]
        expected = f"תקציר {letters.get(one.system)} של כתבה. {number}"
        assert row["summary"] == (f"כותרת משנה {number}" if one.system == "gold" else expected)
        assert row["item"].endswith("-1") == row["article"].startswith(f"כתבה {number} ")


def test_the_same_seed_draws_the_same_forms_and_another_one_others(tmp_path):
    folders = [tmp_path / name for name in "abc"]
    studies = [
        sample(folder, "articles=9", "raters=2", f"seed={seed}")
        for folder, seed in zip(folders, (3, 3, 4), strict=True)
    ]
    assert studies[0].items == studies[1].items
    assert studies[0].id != studies[2].id
    assert studies[0].guids != studies[2].guids
    form = [(folder / "study" / "forms" / "r1.csv").read_text("utf-8-sig") for folder in folders]
    strip = [text.replace(study.id, "") for text, study in zip(form, studies, strict=True)]
    assert strip[0] == strip[1] != strip[2]


def test_overlap_gives_each_article_to_as_many_raters(tmp_path):
    study = sample(tmp_path, "articles=12", "raters=4", "overlap=2")
    for guid in study.guids:
        assert sum(any(o.guid == guid for o in i.values()) for i in study.items.values()) == 2
    assert {len(items) for items in study.items.values()} == {6 * 3}


def test_columns_of_numbers_win_over_the_rouge_and_length_that_are_computed(study_folder):
    study = read_key(study_folder / "key.json")
    assert set(study.metrics) == set(SYSTEMS)
    assert set(study.metrics["sparrow"]) == set(study.guids)
    rouges = {f"rouge{n}{profile}" for n in "12L" for profile in ("", "_heron")}
    for guid in study.guids:
        scores = study.metrics["nightingale"][guid]
        assert set(scores) == {*rouges, "words"}
        assert scores["rouge1"] == int(guid[-2:]) % 7 / 10  # the file's
        # The number is the one word of three that summary and reference share, of five and three.
        assert scores["rouge1_heron"] == pytest.approx(2 * 1 / (5 + 3))
        assert scores["words"] == 5


def test_names_of_documents_and_texts_of_digits_are_no_metrics(tmp_path):
    columns = {"guid": ["a", "b"], "prediction": ["x", "y z"], "text": ["one", "two"]}
    columns |= {"group": [1, 2], "page": ["7", "8"], "score": [0.5, None]}
    write_table(tmp_path / "one.parquet", columns)
    options = ("language=en", "articles=2", f"out={tmp_path / 'study'}")
    assert main(["judge", "sample", f"systems={tmp_path}/one.parquet", *options]) == 0
    found = read_key(tmp_path / "study" / "key.json").metrics["one"]
    assert found == {"a": {"words": 1, "score": 0.5}, "b": {"words": 2}}


def test_a_run_folder_brings_its_predictions_its_scores_of_items_and_its_language(tmp_path):
    write_systems(tmp_path)
    config = compose(["data=chronicle_summaries", "data.language=ro"])
    for name in ("a=1,b=2", "other"):
        run = tmp_path / "runs" / name
        run.mkdir(parents=True)
        run.joinpath("config.yaml").write_text(config_text(config), encoding="utf-8")
        columns = {
            n: read_table(tmp_path / "nightingale.jsonl").values(n) for n in ("guid", "text")
        }
        columns |= {"prediction": ["א"] * 20, "bertscore_f1": [n / 20 for n in range(20)]}
        write_table(run / "predictions" / "test.parquet", columns)
    runs = f"{tmp_path}/runs/a=1,b=2,{tmp_path}/runs/other"
    out = tmp_path / "study"
    assert main(["judge", "sample", f"systems={runs}", "articles=5", f"out={out}"]) == 0
    study = read_key(out / "key.json")
    assert (study.systems, study.language, study.synthetic) == (("a=1,b=2", "other"), "ro", True)
    for guid in study.guids:
        assert study.metrics["other"][guid]["bertscore_f1"] == int(guid[-2:]) / 20


def test_a_study_is_never_written_over(study_folder, tmp_path, capsys):
    before = (study_folder / "key.json").read_bytes()
    systems = write_systems(tmp_path)
    said = refused(
        capsys, "judge", "sample", f"systems={systems}", "language=he", f"out={study_folder}"
    )
    assert "exists already" in said
    assert (study_folder / "key.json").read_bytes() == before


def test_articles_that_differ_and_repeated_guids_are_refused_by_file(tmp_path, capsys):
    first = {"guid": ["a", "b"], "prediction": ["x", "y"], "text": ["one", "two"]}
    write_table(tmp_path / "one.csv", first)
    write_table(tmp_path / "two.csv", {**first, "text": ["one", "another"]})
    write_table(tmp_path / "three.csv", {**first, "guid": ["a", "a"]})
    start = ("judge", "sample", "language=en", "articles=1", f"out={tmp_path / 'study'}")
    said = refused(capsys, *start, f"systems={tmp_path}/one.csv,{tmp_path}/two.csv")
    assert f"{tmp_path}/two.csv: b: another article than in {tmp_path}/one.csv" in said
    said = refused(capsys, *start, f"systems={tmp_path}/three.csv")
    assert "three.csv:3: guid 'a' is already on line 2" in said


def test_files_in_other_unicode_spellings_are_of_the_same_data_and_score_the_same(tmp_path, capsys):
    texts = {
        "prediction": ["הכנסת אישרה", "שר האוצר"],
        "text": ["הכנסת אישרה את התקציב", "שר האוצר הודיע אתמול"],
        "gold": ["הכנסת אישרה תקציב", "האוצר הודיע"],
    }
    columns, marked = (
        {"guid": ["a", "b"]}
        | {name: [cell.replace("ש", shin) for cell in cells] for name, cells in texts.items()}
        for shin in ("ש\u05b8\u05c1", "\u200fש\u05c1\u05b8")
    )
    write_table(tmp_path / "plain.jsonl", columns)
    write_table(tmp_path / "marked.jsonl", marked)
    write_table(tmp_path / "other.jsonl", {**columns, "gold": [*columns["gold"][:1], "אחר"]})
    start = ("judge", "sample", "language=he", "articles=2", f"out={tmp_path / 'study'}")
    systems = f"systems={tmp_path}/plain.jsonl,{tmp_path}/marked.jsonl"
    said = refused(capsys, *start, f"{systems},{tmp_path}/other.jsonl")
    assert "other.jsonl: b: another reference than in" in said
    assert "'אחר', there 'האוצר הודיע'" in said
    assert main([*start, systems]) == 0
    study = read_key(tmp_path / "study" / "key.json")
    assert study.metrics["marked"] == study.metrics["plain"]
    assert study.metrics["plain"]["a"]["rouge1"] > 0.5
    shown = (tmp_path / "study" / "forms" / "r1.csv").read_text("utf-8-sig")
    assert "\u200f" in shown  # raters read what was written


def test_criteria_and_errors_of_one_s_own_come_from_tables(tmp_path, capsys):
    columns = {
        "name": ["wit"],
        "description": ["Is it funny?"],
        "lowest": ["no"],
        "highest": ["yes"],
    }
    write_table(tmp_path / "mine.csv", columns)
    write_table(tmp_path / "errors.csv", {"name": ["slip"], "description": ["a slip"]})
    options = (f"criteria={tmp_path}/mine.csv", f"errors={tmp_path}/errors.csv", "articles=3")
    study = sample(tmp_path, *options, "raters=1")
    (criterion,) = study.criteria
    assert dataclasses.astuple(criterion) == ("wit", "wit", "Is it funny?", "no", "yes")
    assert [one.name for one in study.errors] == ["slip"]
    assert "Is it funny?" in (tmp_path / "study" / "forms" / "r1.html").read_text("utf-8")
    columns = {**columns, "name": ["comment"]}
    write_table(tmp_path / "mine.csv", columns)
    other = words(tmp_path, "language=he", f"criteria={tmp_path}/mine.csv", "articles=3")
    other = [word.replace("/study", "/second") for word in other]
    assert "mine.csv:2: name=comment: unusable" in refused(capsys, *other)


@pytest.mark.parametrize("code", ["he", "ro"])
def test_every_language_says_what_english_says(code):
    english, other = get_wording("en"), get_wording(code)
    for group in ("criteria", "errors"):
        names = [[one.name for one in getattr(wording, group)] for wording in (english, other)]
        assert names[0] == names[1]
    for field in dataclasses.fields(english.interface):
        first, second = (getattr(wording.interface, field.name) for wording in (english, other))
        if isinstance(first, str):
            assert re.findall(r"\{\w+\}", first) == re.findall(r"\{\w+\}", second), field.name
            assert first != second
        else:
            assert len(first) == len(second)
