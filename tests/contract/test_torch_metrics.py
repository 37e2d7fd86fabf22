"""Every metric equals its pure function on the whole split, however its rows arrive."""

from __future__ import annotations

import copy
import json
import os
import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import pytorch_lightning as pl
import torch
from hypothesis import given
from hypothesis import strategies as st
from torchmetrics import MetricCollection

from heron.data.features import UNLABELLED
from heron.languages import get_language
from heron.metrics.calibration import calibration_scores
from heron.metrics.classification import score_task
from heron.metrics.span import best_threshold, item_scores, language_profile, mean_scores
from heron.metrics.summary import item_rouge
from heron.metrics.torch_metrics import (
    CalibrationError,
    ClassificationScores,
    RougeScores,
    SpanScores,
)
from heron_tools.mlm.module import MaskedScores
from heron_tools.mlm.predictions import score_sums

CLASSES = ["BEFORE", "AFTER", "EQUAL", "VAGUE"]
ROWS = 101
WORDS = ["the", "town", "צה״ל", "הכנסת", "un", "an", "și", "ş", "1948", "1949", ","]


def texts(seed: int) -> list[str]:
    random = np.random.default_rng(seed)
    return [" ".join(random.choice(WORDS, size=random.integers(1, 7))) for _ in range(ROWS)]


def arguments() -> dict[str, tuple[Any, ...]]:
    """Make what a whole split gives to `update`, by kind."""
    generator = torch.Generator().manual_seed(0)
    logits = torch.randn(ROWS, len(CLASSES), generator=generator)
    gold = torch.randint(len(CLASSES), (ROWS,), generator=generator)
    none = torch.randn(ROWS, generator=generator).tolist()
    golds = [[] if row % 4 == 0 else [text, "town"] for row, text in enumerate(texts(1))]
    sums = torch.rand(ROWS, 4, generator=generator) * torch.tensor([9.0, -30.0, 9.0, 1.0])
    return {
        "classes": (logits, gold),
        "probabilities": (logits.softmax(dim=1), gold),
        "texts": (texts(0), texts(1)),
        "golds": (texts(0), golds, none),
        "sums": (sums,),
    }


def names(ids: torch.Tensor) -> list[str]:
    return [CLASSES[i] for i in ids.tolist()]


def classes(task: str) -> Any:
    def score(logits: torch.Tensor, gold: torch.Tensor) -> dict[str, float]:
        return score_task(task, names(gold), names(logits.argmax(dim=1)), CLASSES, relaxed="drop")

    return score


def answers(given_: list[str], golds: list[str]) -> dict[str, float]:
    profiles = [language_profile(get_language("he"))]
    return mean_scores(item_scores(given_, [[gold] for gold in golds], profiles, no_answer=False))


def with_threshold(given_: list[str], golds: list[list[str]], none: list[float]) -> Any:
    always, never = (item_scores(each, golds)["f1"] for each in (given_, [""] * ROWS))
    threshold = best_threshold(none, always - never)
    chosen = [a if value <= threshold else "" for a, value in zip(given_, none, strict=True)]
    return mean_scores(item_scores(chosen, golds)) | {"threshold": threshold}


def masked(sums: torch.Tensor) -> dict[str, float]:
    return score_sums(sums.double().sum(dim=0).numpy())


# Each metric with the arguments of `update`, and the pure function of the same.
METRICS: dict[str, Any] = {
    "nli": (lambda: ClassificationScores(CLASSES, "nli"), "classes", classes("nli")),
    "relation": (
        lambda: ClassificationScores(CLASSES, "relation", "drop"),
        "classes",
        classes("relation"),
    ),
    "relaxed": (
        lambda: ClassificationScores(CLASSES, "relation", "drop", only="relaxed_weighted_f1"),
        "classes",
        lambda *rows: classes("relation")(*rows)["relaxed_drop_weighted_f1"],
    ),
    "span": (lambda: SpanScores("he"), "texts", answers),
    "no answer": (lambda: SpanScores(no_answer=True), "golds", with_threshold),
    "rouge": (
        lambda: RougeScores("he"),
        "texts",
        lambda *rows: mean_scores(item_rouge(*rows, get_language("he"))),
    ),
    "calibration": (
        CalibrationError,
        "probabilities",
        lambda p, gold: calibration_scores(p, gold),
    ),
    "brier": (
        lambda: CalibrationError(only="brier"),
        "probabilities",
        lambda p, gold: calibration_scores(p, gold)["brier"],
    ),
    "masked": (MaskedScores, "sums", masked),
}


def plain(value: Any) -> Any:
    """Make numbers of what `compute` returns."""
    return value.item() if isinstance(value, torch.Tensor) else value


def update(metric: Any, rows: tuple[Any, ...], size: int = ROWS, forward: bool = False) -> Any:
    for first in range(0, len(rows[0]), size):
        (metric if forward else metric.update)(*(part[first : first + size] for part in rows))
    return metric


@pytest.fixture(params=METRICS)
def metric(request):
    build, kind, pure = METRICS[request.param]
    rows = arguments()[kind]
    return build(), rows, pure(*rows)


@pytest.mark.parametrize("size", [ROWS, 17])
@pytest.mark.parametrize("forward", [False, True])
def test_batches_give_the_scores_of_the_whole_split(metric, size, forward):
    made, rows, expected = metric
    assert plain(update(made, rows, size, forward).compute()) == expected


def test_a_metric_is_reset_copied_and_pickled(metric):
    made, rows, expected = metric
    update(made, rows)
    update(made, tuple(part[:3] for part in rows))
    made.reset()
    update(made, rows, 50)
    for twin in (copy.deepcopy(made), pickle.loads(pickle.dumps(made)), made.to("cpu").half()):
        assert plain(twin.compute()) == expected
    assert not made.state_dict()


def test_a_collection_keeps_metrics_apart_that_begin_alike():
    kinds = {"he": RougeScores("he", "rouge1_heron"), "ro": RougeScores("ro", "rouge1_heron")}
    collection = MetricCollection(copy.deepcopy(kinds))
    for rows in ((["a"], ["b"]), (["oraşul"], ["orașul"])):  # all score 0 in the first batch
        for each in (collection, *kinds.values()):
            each.update(*rows)
    assert collection.compute() == {name: each.compute() for name, each in kinds.items()}
    assert collection["ro"].compute() == 0.5 != collection["he"].compute()


LABELS = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=1, max_size=40)


@given(LABELS, st.integers(1, 40))
def test_any_labels_in_any_batches_are_scored_alike(pairs, size):
    given_, gold = torch.tensor(pairs).T
    ignored = torch.cat([gold, torch.tensor([UNLABELLED])])
    made = ClassificationScores(CLASSES, "relation")
    update(made, (torch.cat([given_, given_[:1]]), ignored), size)
    assert made.compute() == score_task("relation", names(gold), names(given_), CLASSES)


@given(LABELS)
def test_the_order_of_rows_changes_not_the_last_bit(pairs):
    ids, gold = torch.tensor(pairs).T
    p = torch.nn.functional.one_hot(ids, 4).double() * 0.7 + torch.rand(len(ids), 1) / 9
    p /= p.sum(dim=1, keepdim=True)
    assert calibration_scores(p, gold) == calibration_scores(p.flip(0), gold.flip(0))


class Other(pl.LightningModule):
    """A module of somebody else that logs by Lightning's idioms."""

    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(2, 2)
        self.relaxed = METRICS["relaxed"][0]()
        self.scores = ClassificationScores(CLASSES, "nli")
        few = {"brier": CalibrationError(only="brier"), "ece": CalibrationError(only="ece")}
        self.few = MetricCollection(few)

    def validation_step(self, batch, batch_idx):
        logits, gold = batch
        self.relaxed.update(logits, gold)
        self.log("relaxed", self.relaxed)
        self.scores.update(logits, gold)
        self.few.update(logits.softmax(dim=1), gold)
        self.log_dict(self.few)

    def on_validation_epoch_end(self):
        self.log_dict(self.scores.compute())
        self.scores.reset()


def test_they_work_in_a_module_of_somebody_else():
    rows = arguments()["classes"]
    loader = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(*rows), batch_size=9)
    quiet = {"enable_progress_bar": False, "logger": False, "enable_checkpointing": False}
    trainer = pl.Trainer(accelerator="cpu", enable_model_summary=False, **quiet)
    (found,) = trainer.validate(Other(), loader, verbose=False)
    assert found["relaxed"] == METRICS["relaxed"][2](*rows)
    assert found["macro_f1"] == pytest.approx(METRICS["nli"][2](*rows)["macro_f1"])
    calibration = calibration_scores(rows[0].softmax(dim=1), rows[1])
    assert {name: found[name] for name in ("brier", "ece")} == {
        name: calibration[name] for name in ("brier", "ece")
    }


def test_the_lines_of_the_page_run(capsys):
    page = Path(__file__).parents[2] / "docs" / "metrics.md"
    exec(page.read_text(encoding="utf-8").split("```python\n")[1].split("```")[0], {})
    shown = capsys.readouterr().out.replace("tensor(", "").replace(", dtype=torch.float64)", "")
    assert [float(line) for line in shown.splitlines()] == pytest.approx([7 / 9, 1, 0.25])


def in_two_processes(what: str, folder: Path) -> Any:
    """Run `main` in two processes of Lightning's or torch's own; heron joins none."""
    command = [sys.executable, "-m", "torch.distributed.run", "--standalone"]
    command += ["--local-addr=127.0.0.1", "--nproc-per-node=2", __file__, what, str(folder)]
    paths = os.pathsep.join([str(Path(__file__).parents[1] / "helpers"), *sys.path])
    environment = {**os.environ, "PYTHONPATH": paths}
    done = subprocess.run(command, env=environment, capture_output=True, timeout=170)
    assert done.returncode == 0, (done.stdout + done.stderr).decode()[-4000:]
    return json.loads((folder / "found.json").read_text())


@pytest.mark.real
def test_two_processes_give_the_scores_of_one(tmp_path):
    found = in_two_processes("metrics", tmp_path)
    for name, (_, kind, pure) in METRICS.items():
        assert found[name] == [pure(*arguments()[kind])] * 2, name


VALIDATED = {
    "relation": ("data=chronicle",),
    "qa": (
        "data=chronicle_qa",
        "data.label_order=[answer,no_answer]",
        "data.generator.unanswerable=0.3",
    ),
    "summarization": ("data=chronicle_summaries", "task.generation.max_new_tokens=4"),
}


def validate(folder: Path, devices: int, words: tuple[str, ...]) -> dict[str, float]:
    """Validate an untrained module with a default Trainer."""
    import heron
    from small_runs import compose

    config = compose(folder, *words)
    pl.seed_everything(0, verbose=False)
    data = heron.DataModule(config)
    quiet = {"enable_progress_bar": False, "logger": False, "enable_model_summary": False}
    strategy = "ddp" if devices > 1 else "auto"
    trainer = pl.Trainer(accelerator="cpu", devices=devices, strategy=strategy, **quiet)
    (found,) = trainer.validate(heron.build_module(config, data), data, verbose=False)
    return {name: value for name, value in found.items() if name != "validation/loss"}


@pytest.mark.slow
@pytest.mark.real  # takes seconds in processes of their own
def test_validation_under_lightnings_own_ddp_has_the_scores_of_one_process(tmp_path):
    expected = {name: validate(tmp_path, 1, words) for name, words in VALIDATED.items()}
    assert in_two_processes("validate", tmp_path) == expected


def main(what: str, folder: Path) -> None:
    """Be one of two processes."""
    if what == "validate":
        found: Any = {name: validate(folder, 2, words) for name, words in VALIDATED.items()}
    else:
        torch.distributed.init_process_group("gloo")
        found = {}
        for name, (build, kind, _) in METRICS.items():
            both = []
            for cut in (60, 0):  # the first process has some rows, then none
                mine = slice(None, cut) if torch.distributed.get_rank() == 0 else slice(cut, None)
                rows = tuple(part[mine] for part in arguments()[kind])
                both.append(plain(update(build(), rows, 17).compute()))
            found[name] = both
    if torch.distributed.get_rank() == 0:
        (folder / "found.json").write_text(json.dumps(found))
    torch.distributed.destroy_process_group()


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
