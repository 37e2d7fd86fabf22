"""Training hears of what an audit of exactly its files found, unless an option answers it."""

import dataclasses

import pytest

from heron.data.config import DataConfig, SummariesConfig
from heron.data.findings import known_problems, store
from heron_tools.audit.findings import Finding

FILES = {"train": "a1", "test": "b2"}
CASING = Finding("casing", "serious", "capitals tell").as_json(rows=False)
SHARED = Finding("duplicates.train.test", "serious", "9 pairs are shared").as_json(rows=False)
ACROSS = Finding("conflicts.train.test", "serious", "4 of them differ in label").as_json(rows=False)
INSIDE = Finding("conflicts.train", "serious", "2 pairs differ in label").as_json(rows=False)
MILD = Finding("length", "warning", "lengths tell a little").as_json(rows=False)


@pytest.fixture
def config():
    return DataConfig(name="own", task="nli", label_order=["a", "b"])


def test_serious_findings_of_these_files_are_told(config, tmp_path):
    store(config, FILES, [CASING, MILD], tmp_path)
    assert known_problems(config, {**FILES, "encoder": "c3"}, tmp_path) == ["casing: capitals tell"]


@pytest.mark.parametrize("sources", [{"train": "a1", "test": "other"}, {"train": "a1"}, {}])
def test_an_audit_of_other_files_says_nothing(config, tmp_path, sources):
    store(config, FILES, [CASING], tmp_path)
    assert known_problems(config, sources, tmp_path) == []


def test_an_option_that_answers_a_finding_silences_it(config, tmp_path):
    store(config, FILES, [CASING, SHARED, ACROSS, INSIDE], tmp_path)
    cured = dataclasses.replace(config, normalize_case="capitalize", duplicates="drop")
    assert known_problems(cured, FILES, tmp_path) == ["conflicts.train: 2 pairs differ in label"]
    assert len(known_problems(config, FILES, tmp_path)) == 4


def test_what_is_still_there_under_the_option_is_told(config, tmp_path):
    store(config, FILES, [CASING], tmp_path)
    cured = dataclasses.replace(config, normalize_case="capitalize")
    store(cured, FILES, [CASING], tmp_path)
    assert known_problems(cured, FILES, tmp_path) == ["casing: capitals tell"]


def test_what_the_yaml_says_is_told_until_an_audit_says_it_better(config, tmp_path):
    config.findings = {"casing": "known\n  for long", "conflicts": "two labels"}
    assert known_problems(config, FILES, tmp_path) == [
        "casing: known for long",
        "conflicts: two labels",
    ]
    store(config, FILES, [CASING], tmp_path)
    assert known_problems(config, FILES, tmp_path) == [
        "casing: capitals tell",
        "conflicts: two labels",
    ]
    config.normalize_case = "lower"
    assert known_problems(config, FILES, tmp_path) == ["conflicts: two labels"]


def test_an_audit_of_other_rows_of_the_files_is_kept_beside_it(config, tmp_path):
    short = dataclasses.replace(config, summaries=SummariesConfig(min_summary_tokens=9))
    assert store(config, FILES, [CASING], tmp_path) != store(short, FILES, [], tmp_path)
    assert known_problems(config, FILES, tmp_path) == ["casing: capitals tell"]
