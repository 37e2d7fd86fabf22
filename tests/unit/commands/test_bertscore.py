"""BERTScore from the command line: `heron score`, `evaluate`, `train` and `judge`."""

from pathlib import Path

import pytest

from heron.base.files import read_json
from heron.base.run_folder import RunFolder
from heron.base.tables import read_table, write_table
from heron.cli import main
from heron.metrics.bertscore import bertscore, sign
from heron.metrics.config import BertScoreConfig
from heron.results.frame import Frame
from heron_forks.hesum.judging.measuring import sign_measures
from heron_forks.hesum.judging.study import read_key
from heron_tools.analysis.systems import SummarySystem
from small_runs import TINY, heron, in_folder
from small_study import sample

SUMMARIES = ["הוועדה התכנסה בבוקר", "the committee met", "Șoferul a oprit mașina"]
GOLDS = ["הוועדה דחתה את ההצעה", "the committee met", "Șoferul a văzut câinele"]


@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.setenv("HERON_CACHE", str(tmp_path / "cache"))
    articles = [f"{text} . {text} ." for text in GOLDS]
    write_table(tmp_path / "gold.csv", {"article": articles, "summary": GOLDS})
    write_table(tmp_path / "mine.csv", {"prediction": SUMMARIES})
    return tmp_path


def score(folder, *words):
    paths = [
        f"gold={folder / 'gold.csv'}",
        f"predictions={folder / 'mine.csv'}",
        f"out={folder / 'scores.json'}",
        "resamples=50",
    ]
    return main(["score", "task=summarization", *paths, *words])


def test_score_writes_bertscore_with_intervals_and_its_signature_beside(
    files, tiny_encoder, capsys
):
    assert score(files, f"bertscore={tiny_encoder}", "bertscore_layer=2") == 0
    scores = read_json(files / "scores.json")["mine"]
    assert scores["bertscore_f1_low"] <= scores["bertscore_f1"] <= scores["bertscore_f1_high"]
    config = BertScoreConfig(str(tiny_encoder), 2)
    expected = bertscore(SUMMARIES, GOLDS, config).means()
    assert {name: scores[name] for name in expected} == pytest.approx(expected, abs=1e-6)
    assert all(isinstance(value, int | float) for value in scores.values())
    signature = sign(config)
    assert read_json(files / "scores.signatures.json") == {"mine": {"bertscore": signature}}
    assert f"BERTScore: {signature}" in capsys.readouterr().out


def test_scores_without_bertscore_leave_no_signature_of_earlier_ones(files, tiny_encoder):
    assert score(files, f"bertscore={tiny_encoder}", "bertscore_layer=2") == 0
    assert score(files) == 0
    assert not (files / "scores.signatures.json").exists()
    assert "bertscore_f1" not in read_json(files / "scores.json")["mine"]


LEAD = ("data=chronicle_summaries", "data.generator.size=100", "baseline=lead", "run.job=lead")


def test_a_run_scores_every_split_and_keeps_the_signature(tmp_path, tiny_encoder, monkeypatch):
    monkeypatch.setenv("HERON_CACHE", str(tmp_path / "cache"))
    asked = (f"task.bertscore.model={tiny_encoder}", "task.bertscore.layer=1")
    asked = (*asked, "task.bertscore.idf=true")
    assert heron("train", *TINY, *in_folder(tmp_path), *LEAD, *asked) == 0
    run = RunFolder(tmp_path / "runs" / "chronicle_summaries-summarization" / "lead")
    scores, status = read_json(run.scores), read_json(run.status)
    for split in ("validation", "test"):
        low, high = (scores[split][f"bertscore_f1_{end}"] for end in ("low", "high"))
        assert low <= scores[split]["bertscore_f1"] <= high
    golds = {split: read_table(run.predictions(split)).values("gold") for split in scores}
    config = BertScoreConfig(str(tiny_encoder), 1, idf=True)
    expected = {split: {"bertscore": sign(config, golds[split])} for split in golds}
    assert status["signatures"] == expected
    assert expected["test"] != expected["validation"]
    assert "bertscore" in status["sources"]
    out = tmp_path / "again.json"
    stored = [f"{name}={run.predictions('test')}" for name in ("gold", "predictions")]
    words = (f"bertscore={tiny_encoder}", "bertscore_layer=1", "bertscore_idf=true")
    assert heron("score", "task=summarization", *stored, f"out={out}", *words) == 0
    assert read_json(tmp_path / "again.signatures.json") == {"test": expected["test"]}
    assert read_json(out)["test"]["bertscore_f1"] == pytest.approx(scores["test"]["bertscore_f1"])
    words = (f"bertscore={tiny_encoder}", "bertscore_layer=2", "bertscore_idf=true")
    assert heron("evaluate", f"run={run.path}", f"out={out}", *words) == 0
    assert read_json(out)["test"]["bertscore_f1"] != scores["test"]["bertscore_f1"]
    of_layer_2 = sign(BertScoreConfig(str(tiny_encoder), 2, idf=True), golds["test"])
    assert read_json(tmp_path / "again.signatures.json") == {"test": {"bertscore": of_layer_2}}


def test_a_missing_encoder_stops_a_run_before_it_has_trained(tmp_path, capsys):
    asked = (f"task.bertscore.model={tmp_path / 'nowhere'}", "task.bertscore.layer=1")
    assert heron("train", *TINY, *in_folder(tmp_path), *LEAD, *asked) != 0
    assert "nowhere" in capsys.readouterr().err
    run = RunFolder(tmp_path / "runs" / "chronicle_summaries-summarization" / "lead")
    assert not run.predictions("test").exists()


def test_judged_summaries_are_scored_too(tmp_path, tiny_encoder, monkeypatch):
    monkeypatch.setenv("HERON_CACHE", str(tmp_path / "cache"))
    words = (f"bertscore={tiny_encoder}", "bertscore_layer=1")
    study = sample(tmp_path, "articles=4", "raters=2", *words)
    found = study.metrics
    assert all(0 < v["bertscore_f1"] < 1 for guids in found.values() for v in guids.values())
    made = read_key(tmp_path / "study" / "key.json").made
    assert made["bertscore"] == sign(BertScoreConfig(str(tiny_encoder), 1))


def written_by(name: str, references: dict[str, str | None]) -> SummarySystem:
    columns = {"guid": [*references], "gold": [*references.values()]}
    return SummarySystem(name, Frame(Path(name), columns | {"prediction": ["x"] * len(references)}))


def test_judged_systems_whose_references_differ_have_signatures_of_their_own_under_idf(
    tmp_path, tiny_encoder, monkeypatch
):
    monkeypatch.setenv("HERON_CACHE", str(tmp_path / "cache"))
    words = (f"bertscore={tiny_encoder}", "bertscore_layer=1", "bertscore_idf=true")
    sample(tmp_path, "articles=4", "raters=2", *words)
    study = read_key(tmp_path / "study" / "key.json")
    golds = [f"כותרת משנה {guid[-2:]}" for guid in study.guids]
    config = BertScoreConfig(str(tiny_encoder), 1, idf=True)
    assert study.made["bertscore"] == sign(config, golds)
    one = written_by("one", {"a": "x", "b": None})
    two = written_by("two", {"a": "x", "b": "y"})
    assert sign_measures([one, two], ["a", "b"], "he", config) == {
        "bertscore": sign(config, ["x", "y"])  # the other file's reference fills the gap
    }
    own = written_by("one", {"a": "x", "b": "z"})
    assert sign_measures([own, two], ["a", "b"], "he", config) == {
        "bertscore": {"one": sign(config, ["x", "z"]), "two": sign(config, ["x", "y"])}
    }
    assert sign_measures([own, two], ["a", "b"], "he", None) == {}
