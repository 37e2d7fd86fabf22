"""Rows of train can learn what several annotators or a teacher say, beside their label."""

import json
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import torch
from torch.nn import functional as F

import small_runs
from heron.base.errors import DataError
from heron.base.run_folder import RunFolder
from heron.base.tables import FileTable
from heron.data.datamodule import DataModule
from heron.dynamics.cartography import statistics
from heron.dynamics.files import read_dynamics
from heron.tasks.soft_targets import _add_predictions, soft_loss, soft_targets
from heron.training.compose import compose
from heron.training.job import run_job

LABELS = ["BEFORE", "AFTER", "EQUAL", "VAGUE"]
TWO_PEOPLE = [
    ("BEFORE", "BEFORE", "BEFORE"),
    ("AFTER", "AFTER", "EQUAL"),
    ("EQUAL", "", ""),
    ("VAGUE", "BEFORE", "NONE"),
]


def written(folder, people=TWO_PEOPLE, copies=6):
    """Write a table of event pairs that two people have labelled, and its configuration."""
    text = "He [א1] came [/א1] and {} [א2] went [/א2] ."
    rows = [
        {"guid": f"r{n}", "text": text.format("then " * (n % 5)), "label": label, "a": a, "b": b}
        for n, (label, a, b) in enumerate(people * copies)
    ]
    folder.mkdir(exist_ok=True)
    pd.DataFrame(rows).to_csv(folder / "train.csv", index=False)
    return (
        *("data=own_relation", f"paths.data={folder}", "data.files.train.path=train.csv"),
        *("data.files.test.path=train.csv", "data.columns.guid=guid", "data.columns.side=[a,b]"),
        *("data.validation.fraction=0.2", "data.validation.by=row", "data.no_label=[NONE]"),
        *("optim.soft.columns=[a,b]", "head=window"),
    )


def data_of(folder, *words):
    tiny = [w for w in small_runs.TINY if "generator" not in w or "data=own_relation" not in words]
    config = compose([*tiny, *small_runs.in_folder(folder), "data.language=he", *words])
    data = DataModule(config)
    data.setup("fit")
    return config, data


def by_guid(config, data):
    found = soft_targets(config, data).numpy()
    return dict(zip(data.features["train"].guids, found, strict=True))


def test_target_is_the_label_and_the_share_of_each_annotator(tmp_path) -> None:
    config, data = data_of(tmp_path, *written(tmp_path / "d"), "optim.soft.weight=0.4")
    expected = {0: [1, 0, 0, 0], 1: [0, 0.8, 0.2, 0], 2: [0, 0, 1, 0], 3: [0.4, 0, 0, 0.6]}
    for guid, target_C in by_guid(config, data).items():
        assert target_C == pytest.approx(expected[int(guid[1:]) % 4])


def test_an_unknown_label_of_an_annotator_is_named_by_its_row(tmp_path) -> None:
    people = [*TWO_PEOPLE, ("AFTER", "LATER", "AFTER")]
    config, data = data_of(tmp_path, *written(tmp_path / "d", people))
    with pytest.raises(DataError, match="LATER"):
        soft_targets(config, data)
    config.data.label_aliases["LATER"] = "AFTER"
    assert len(soft_targets(config, data))


def test_a_teacher_may_say_nothing_of_a_row_but_nothing_that_is_no_probability() -> None:
    columns = ("guid", "p/a", "p/b")

    def add(*rows):
        named = [dict(zip(columns, row, strict=True)) for row in rows]
        sum_RC, lines = np.zeros((2, 2)), list(range(2, 2 + len(rows)))
        table = FileTable(Path("t.csv"), columns, named, lines, [])
        _add_predictions(sum_RC, table, {"1": 0, "2": 1}, ["a", "b"])
        return sum_RC.tolist()

    rows = [(1.0, 0.25, 0.75), ("2", None, float("nan")), ("9", 1, 0)]
    assert add(*rows) == [[0.25, 0.75], [0, 0]]
    for cells in (("x", 1), (0.5, float("nan")), (-1, 2), (float("inf"), 1)):
        with pytest.raises(DataError, match=r"t\.csv:2: p/<class> is"):
            add(("1", *cells))


def test_a_teacher_is_read_from_a_file_and_from_the_folds_of_a_sweep(tmp_path) -> None:
    words = [*small_runs.TINY, *small_runs.in_folder(tmp_path), "run.sweep=teacher"]
    assert small_runs.heron("train", "-m", *words, "trainer.max_epochs=1", "folds=2") == 0
    files = sorted((tmp_path / "runs/teacher").glob("*/predictions/validation.parquet"))
    table = pd.concat([pd.read_parquet(file) for file in files])
    table.to_csv(tmp_path / "teacher.csv", index=False)
    columns = [f"p/{label}" for label in LABELS]
    teacher = table.set_index("guid")[columns]
    for word in (tmp_path / "runs/teacher", tmp_path / "teacher.csv"):
        words = [f"optim.soft.predictions=[{word}]", "optim.soft.weight=1"]
        found = by_guid(*data_of(tmp_path, *words))
        assert found.keys() <= set(teacher.index)
        for guid, target_C in found.items():
            assert target_C == pytest.approx(teacher.loc[guid].to_numpy(), abs=1e-5)
    student = small_runs.train(tmp_path, *words)
    assert student.read_scores()["test"]
    assert student.read_status()["sources"]["optim.soft.predictions"]
    with pytest.raises(DataError, match="no file, run or sweep with predictions"):
        soft_targets(*data_of(tmp_path, "optim.soft.predictions=[nowhere]"))


def test_suspects_may_come_from_another_tool_which_numbers_the_classes(tmp_path) -> None:
    words = [*written(tmp_path / "d"), "optim.soft.columns=[]", "optim.suspects.share=0.25"]
    words += [f"optim.suspects.dynamics=[{tmp_path / 'tool'}]", "optim.suspects.weight=0.5"]
    config, data = data_of(tmp_path, *words)
    train = data.features["train"]
    record = tmp_path / "tool" / "training_dynamics" / "dynamics_epoch_0.jsonl"
    record.parent.mkdir(parents=True)
    lines = [
        {"guid": guid, "gold": int(gold), "logits_epoch_0": [0.0, 0.0, 0.0, float(row)]}
        for row, (guid, gold) in enumerate(zip(train.guids, train.labels_R, strict=True))
    ]
    record.write_text("\n".join(map(json.dumps, lines)))
    weights = [target_C.sum() for target_C in by_guid(config, data).values()]
    assert weights.count(0.5) == round(len(weights) / 4)
    record.write_text(record.read_text().replace('"gold": 3', '"gold": 2'))
    with pytest.raises(DataError, match="differ"):
        soft_targets(config, data)


@pytest.mark.real  # takes seconds; another test of the file runs with every change
def test_suspects_are_found_by_the_run_of_the_same_fold_and_weigh_what_is_set(tmp_path) -> None:
    words = [*small_runs.TINY, *small_runs.in_folder(tmp_path), "trainer.max_epochs=2"]
    first = [*words, "run.sweep=first", "dynamics.enabled=true", "folds=2"]
    assert small_runs.heron("train", "-m", *first) == 0
    sweep = tmp_path / "runs/first"
    of_fold = ["data.folds.count=2", "data.folds.fold=1", "optim.suspects.share=0.25"]
    words = [*of_fold, f"optim.suspects.dynamics=[{sweep}]", "optim.suspects.weight=0.5"]
    found = by_guid(*data_of(tmp_path, *words))
    (run,) = (path.parent for path in sweep.glob("*fold=1*/dynamics"))
    same = statistics(read_dynamics(run))
    assert set(same.guids) == set(found)
    ranked = sorted(zip(same.confidence_N, same.guids, strict=True))
    suspects = {guid for _, guid in ranked[: round(len(ranked) / 4)]}
    assert suspects
    assert {guid: target_C.sum() for guid, target_C in found.items()} == {
        guid: 0.5 if guid in suspects else 1.0 for guid in found
    }
    student = small_runs.train(tmp_path, *words)
    assert student.read_scores()["validation"]
    assert student.read_status()["sources"]["optim.suspects.dynamics"]
    with pytest.raises(DataError, match="none of the 2"):
        soft_targets(*data_of(tmp_path, *words, "data.folds.count=3"))
    one = [*of_fold, f"optim.suspects.dynamics=['{run}']"]  # its name has commas
    with pytest.raises(DataError, match="differ"):
        soft_targets(*data_of(tmp_path, *one, "data.folds.fold=0"))
    config, data = data_of(tmp_path, *one)
    train = data.features["train"]
    data.features["train"] = replace(train, labels_R=[(label + 1) % 4 for label in train.labels_R])
    with pytest.raises(DataError, match="differ"):
        soft_targets(config, data)
    shutil.rmtree(sweep)
    again = small_runs.train(tmp_path, *words)
    assert again.read_scores() == student.read_scores(), "scores outlive what they were made from"


def test_a_row_s_weight_scales_its_loss_smoothed_or_not() -> None:
    logits_RC, labels_R = torch.randn(3, 4), torch.tensor([0, 3, 1])
    weight_R = torch.tensor([1.0, 0.0, 0.25])
    for smoothing in (0.0, 0.2):
        plain_R = F.cross_entropy(logits_RC, labels_R, reduction="none", label_smoothing=smoothing)
        target_TC = F.one_hot(labels_R, 4) * weight_R[:, None]
        found_R = soft_loss(target_TC, torch.arange(3), smoothing, logits_RC, None)
        torch.testing.assert_close(found_R, plain_R * weight_R)


@pytest.mark.parametrize("weights", [None, [1.0, 2.0, 0.5, 3.0]])
@pytest.mark.parametrize("smoothing", [0.0, 0.2])
def test_targets_that_are_labels_give_the_loss_of_labels(weights, smoothing) -> None:
    generator = torch.Generator().manual_seed(0)
    logits_RC = torch.randn(12, 4, generator=generator)
    labels_R = torch.randint(4, (12,), generator=generator)
    weights_C = None if weights is None else torch.tensor(weights)
    expected_R = F.cross_entropy(
        logits_RC, labels_R, weights_C, reduction="none", label_smoothing=smoothing
    )
    target_TC = F.one_hot(labels_R, 4).float()
    found_R = soft_loss(target_TC, torch.arange(12), smoothing, logits_RC, weights_C)
    torch.testing.assert_close(found_R, expected_R)


def test_scores_and_dynamics_are_of_the_labels(tmp_path) -> None:
    config, _ = data_of(tmp_path, *written(tmp_path / "d"), "optim.soft.weight=1")
    folder = RunFolder(tmp_path / "run")
    run_job(config, folder)
    rows = pd.read_parquet(folder.predictions("validation"))
    assert set(rows["gold"]) <= set(LABELS)
    assert json.loads(folder.scores.read_text())["validation"]["accuracy"] == pytest.approx(
        (rows["gold"] == rows["prediction"]).mean()
    )
