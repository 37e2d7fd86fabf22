"""`heron audit` from the command line to its report: what is there, by guid, left or right."""

import contextlib
import csv
import hashlib
import io
import json
import random

import pytest
from tests.unit.heron_tools.audit.builders import sentence

from heron.cli import main
from html_page import Page

HOSTILE = "<script>alert('x')</script> | \"citat\" & <b>atât</b>"


def rows(count: int, seed: int, prefix: str) -> list[list[str]]:
    rng = random.Random(seed)
    labels = ["contradiction", "entailment", "neutral"]
    return [
        [f"{prefix}{i}", sentence(rng), sentence(rng), rng.choice(labels)] for i in range(count)
    ]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def put(folder, name: str, content: list[list[str]]) -> str:
    path = folder / "data" / name
    path.parent.mkdir(exist_ok=True)
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([["guid", "premise", "hypothesis", "label"], *content])
    return f"data.files.{path.stem}.path={path}"


def heron(folder, *words: str) -> int:
    shared = [f"paths.data={folder}/data", f"paths.cache={folder}/cache", "data.language=ro"]
    return main(["audit", "data=own_nli", *shared, *words])


def findings(folder) -> dict:
    (path,) = folder.glob("runs/audit/own_nli,*/findings.json")
    found = json.loads(path.read_text(encoding="utf-8"))
    return found | {"by_id": {finding["id"]: finding for finding in found["findings"]}}


def leaky_files(folder) -> list[str]:
    """A train and a test file that share a pair with another label; its text tries to be markup."""
    copy = ["shared", HOSTILE, HOSTILE + " da", "neutral"]
    train = put(folder, "train.csv", [*rows(60, 0, "r"), copy])
    test = put(folder, "test.csv", [*rows(30, 1, "t"), [*copy[:3], "entailment"]])
    return [train, test]


@pytest.fixture(scope="module")
def audited(tmp_path_factory):
    """Audit leaky files once, under options that would drop rows; what came of it."""
    folder = tmp_path_factory.mktemp("audited")
    words = ["data.validation.fraction=0", "data.duplicates=drop", "data.sample.fraction=0.2"]
    output = io.StringIO()
    with pytest.MonkeyPatch.context() as patch, contextlib.redirect_stdout(output):
        patch.chdir(folder)
        assert heron(folder, *leaky_files(folder), *words) == 0
    return folder, output.getvalue()


def test_a_shared_pair_is_reported_by_guid_everywhere(audited):
    folder, output = audited
    found = findings(folder)
    shared = found["by_id"]["duplicates.train.test"]
    assert [(row["split"], row["guid"]) for row in shared["rows"]] == [
        ("train", "shared"),
        ("test", "shared"),
    ]
    assert shared["severity"] == "serious"
    train = folder / "data/train.csv"
    assert found["sha256"]["train"] == hashlib.sha256(train.read_bytes()).hexdigest()
    assert found["rows"] == {"train": 61, "test": 31}  # as shipped, whatever options drop
    assert "serious  duplicates.train.test: train and test share 1 pair" in output
    assert "runs/audit/own_nli,data_train.csv-" in output


def test_the_audit_of_a_second_table_leaves_that_of_the_first(folder):
    for name in ("a", "b", "a"):
        put(folder, f"{name}.csv", rows(30, 0, name))
        assert heron(folder, f"data.files.train.path={folder}/data/{name}.csv") == 0
    names = [path.name.partition("-")[0] for path in sorted(folder.glob("runs/audit/*"))]
    assert names == ["own_nli,data_a.csv", "own_nli,data_b.csv"]


def test_splits_that_training_takes_from_train_are_audited(folder):
    pairs = [[f"r{row}", f"text {row}", f"pereche {row % 3}", "neutral"] for row in range(60)]
    copies = [[f"c{guid}", f"{text} ", *rest] for guid, text, *rest in pairs]
    by_row = ["data.holdout.by=row", "data.validation.by=row"]
    assert heron(folder, put(folder, "train.csv", [*pairs, *copies]), *by_row) == 0
    found = findings(folder)
    assert found["rows"] == {"train": 86, "validation": 10, "test": 24}
    assert {"duplicates.train.test", "duplicates.train.validation"} <= found["by_id"].keys()


def test_texts_are_shown_and_never_run(audited):
    folder, _ = audited
    (path,) = folder.glob("runs/audit/own_nli,*/audit.html")
    text = path.read_text(encoding="utf-8")
    assert "<h1>Audit of data/train.csv</h1>" in text
    page = Page(text)
    assert "<script>alert" not in text
    assert "&lt;script&gt;alert(" in text
    assert [tag for tag, _ in page.tags].count("script") == 1
    assert "default-src 'none'" in text


def test_a_missing_split_is_named_and_the_others_are_audited(folder):
    test = put(folder, "test.csv", rows(40, 0, "t"))
    assert heron(folder, test) == 0
    found = findings(folder)
    assert found["missing"] == ["train"]
    assert found["rows"] == {"test": 40}
    assert "data.files.train.path=FILE" in found["by_id"]["missing.train"]["advice"]


def test_strict_leaves_with_1_only_where_something_is_serious(folder):
    assert heron(folder, "strict=true", *leaky_files(folder)) == 1
    clean = [put(folder, "train.csv", rows(60, 0, "r")), put(folder, "test.csv", rows(30, 1, "t"))]
    assert heron(folder, "strict=true", *clean) == 0


def test_what_is_serious_is_kept_for_training(audited):
    from heron.base.files import sha256_file
    from heron.data.findings import known_problems
    from heron.data.overrides import configure

    folder, _ = audited
    config = configure("own_nli", ["data.language=ro"])
    sources = {name: sha256_file(folder / f"data/{name}.csv") for name in ("train", "test")}
    lines = known_problems(config, sources, folder / "cache")
    assert [line.partition(":")[0] for line in lines] == [
        "duplicates.train.test",
        "conflicts.train.test",
    ]
    config.duplicates = "drop"
    assert known_problems(config, sources, folder / "cache") == []


def test_rows_that_are_left_out_are_counted_by_reason(folder):
    texts = [["g1", "unu doi", "trei", "da"], ["g2", "unu", "", "da"], ["g3", "a", "b c", "da"]]
    path = put(folder, "test.csv", [*texts, ["g4", "d", "e", "da"]])
    columns = "data.columns={text: premise, target: hypothesis, guid: guid}"
    words = ["paths.cache=cache", "out=report", path, "data.language=ro"]
    left_out = ["data.summaries.empty=drop", "data.summaries.min_summary_tokens=2"]
    assert main(["audit", "own_summaries", columns, *words, *left_out]) == 0
    found = json.loads((folder / "report/findings.json").read_text(encoding="utf-8"))["findings"]
    (only,) = [each for each in found if each["id"] == "unlabelled"]
    assert only["title"] == "3 rows were left out: 2 short summary, 1 empty"
    assert only["measures"] == [{"split": "test", "rows": 3, "short summary": 2, "empty": 1}]


def test_only_an_audit_with_the_default_threshold_is_kept_for_training(folder):
    files = leaky_files(folder)
    assert heron(folder, "near=0.999", *files) == 0
    assert not (folder / "cache/audit").exists()
    assert heron(folder, *files) == 0
    assert len(list((folder / "cache/audit").iterdir())) == 1


def test_event_pairs_are_audited_and_what_does_not_apply_is_said(folder):
    words = ["data.generator.size=200", "paths.cache=cache", "out=report"]
    assert main(["audit", "data=chronicle", *words]) == 0
    found = json.loads((folder / "report/findings.json").read_text(encoding="utf-8"))
    ids = {finding["id"] for finding in found["findings"]}
    assert {"skipped", "events_only", "window_only", "rows"} <= ids
    assert "hypothesis_only" not in ids
    assert "Synthetic data" in (folder / "report/audit.html").read_text(encoding="utf-8")
