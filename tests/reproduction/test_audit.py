"""The audit of the real files finds by itself what their authors' papers do not say."""

import json

import pytest

from heron.cli import main
from heron.data.overrides import configure
from heron.results.shipped import read_shipped
from heron_tools.audit.duplicates import find_duplicates
from heron_tools.audit.rules import labelled
from heron_tools.audit.shortcuts import find_shortcuts
from heron_tools.audit.texts import loose, numbered
from real_data import DATA, needs

pytestmark = needs(DATA)


def shipped(name: str, tmp_path, *overrides: str):
    return read_shipped(configure(name, overrides), DATA, tmp_path)


def test_control_dev_repeats_nine_pairs_four_of_them_with_other_labels(tmp_path):
    splits = shipped("control", tmp_path).splits
    found = find_duplicates(splits, numbered(splits, loose))
    by_id = {finding.id: finding for finding in found}
    identical = by_id["repeated_pairs.validation"].measures[0]
    assert (identical["groups"], identical["conflicting labels"]) == (9, 4)
    conflicts = by_id["conflicts.validation"]
    assert conflicts.severity == "serious"
    assert conflicts.measures[0]["groups"] == 4
    assert len({row.guid for row in conflicts.rows if row.group <= 4}) == 8


def test_the_casing_rule_of_ronli_is_found_with_its_score(tmp_path):
    ronli = shipped("ronli", tmp_path)
    labels = ronli.config.label_order
    found = find_shortcuts(labelled(ronli.splits, labels), labels, "ro")
    casing = found[0]
    assert (casing.id, casing.severity) == ("casing", "serious")
    rule = casing.measures[0]
    assert rule["rule"] == "hypothesis: upper-case letter after the first character"
    assert rule["predicts"] == "no → reasoning, yes → neutral"
    assert rule["accuracy"] == pytest.approx(0.743, abs=0.0005)
    assert rule["majority accuracy"] == pytest.approx(0.581, abs=0.0005)


def test_normalize_case_takes_the_casing_rule_away(tmp_path):
    ronli = shipped("ronli", tmp_path, "data.normalize_case=capitalize")
    labels = ronli.config.label_order
    found = find_shortcuts(labelled(ronli.splits, labels), labels, "ro")
    assert "casing" not in {finding.id for finding in found}


def test_pairs_shared_with_a_test_file_are_found_with_their_labels(tmp_path):
    """RoNLI's own test file is not at hand: one is made that shares 132 pairs, 29 relabelled."""
    rows = json.loads((DATA / "ronli/validation.json").read_text(encoding="utf-8"))
    test = []
    for number, row in enumerate(rows[:132]):
        label = (row["label"] + 1) % 4 if number < 29 else row["label"]
        test.append({**row, "guid": f"t{number}", "label": label})
    for number, row in enumerate(rows[132:145]):  # one sentence in common, on the other side
        other = f"Un text pe care nu îl are nimeni, {number}."
        pair = {"sentence1": other, "sentence2": row["sentence1"]}
        test.append({**row, **pair, "guid": f"s{number}"})
    path = tmp_path / "test.json"
    path.write_text(json.dumps(test), encoding="utf-8")
    words = [f"data.files.test.path={path}", "data.verify=false"]
    splits = shipped("ronli", tmp_path, *words).splits
    found = find_duplicates(splits, numbered(splits, loose))
    by_id = {finding.id: finding for finding in found}
    identical = by_id["duplicates.validation.test"].measures[0]
    assert (identical["groups"], identical["one label"]) == (132, 103)
    assert identical["conflicting labels"] == 29
    distinct = {row[side] for row in rows[:132] for side in ("sentence1", "sentence2")}
    distinct |= {row["sentence1"] for row in rows[132:145]}
    assert by_id["shared_texts.validation.test"].measures[0]["groups"] == len(distinct) == 277


@pytest.mark.slow
@pytest.mark.parametrize("name", ["trc", "hebnli", "ronli"])
def test_the_command_reports_what_is_there(name, tmp_path, capsys):
    words = [f"paths.data={DATA}", f"paths.cache={tmp_path}", f"out={tmp_path}/out"]
    assert main(["audit", f"data={name}", *words]) == 0
    assert capsys.readouterr().out.startswith("Audit of ")
    found = json.loads((tmp_path / "out/findings.json").read_text(encoding="utf-8"))
    assert {finding["id"] for finding in found["findings"]} >= {"rows", "rules"}
