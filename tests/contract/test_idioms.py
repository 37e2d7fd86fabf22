"""What people who come from Lightning know works here as Lightning documents it."""

from __future__ import annotations

import csv
import io
import json
import logging
from typing import NamedTuple

import pyarrow.parquet as pq
import pytest
import pytorch_lightning as pl
import torch
from hydra import compose as compose_with_hydra
from hydra import initialize_config_dir
from hydra.core.global_hydra import GlobalHydra
from pytorch_lightning.callbacks import ModelCheckpoint
from pytorch_lightning.plugins import MixedPrecision
from pytorch_lightning.tuner import Tuner
from torch._dynamo.testing import CompileCounter

import heron
from heron.base.folders import conf_dir
from heron.base.run_folder import RunFolder
from heron.dynamics.files import read_dynamics
from heron.tasks.base import TaskModule
from small_runs import TINY, compose, train
from small_runs import heron as heron_command
from stopping import assert_same_run
from tiers import quick

WORDS = {
    "relation": ("data=chronicle",),
    "nli": ("data=chronicle_nli",),
    "classification": ("data=chronicle_nli", "head=hypothesis_only"),
    "qa": ("data=chronicle_qa",),
    "summarization": ("data=chronicle_summaries", "task.generation.max_new_tokens=4"),
}
EPOCHS = 2


class Seen(pl.Callback):
    """The rows of each batch, and the learning rate after it, by epoch."""

    def __init__(self):
        self.rows: dict[int, list[list[int]]] = {}
        self.rates: list[float] = []

    def on_train_batch_end(self, trainer, module, outputs, batch, batch_idx):
        self.rows.setdefault(trainer.current_epoch, []).append(batch.rows_R.tolist())
        self.rates.append(module.learning_rates()["head"])


def plain(folder, config, *callbacks, **options):
    """Make a Trainer as Lightning's documentation does."""
    options = {
        "max_epochs": EPOCHS,
        "gradient_clip_val": config.trainer.gradient_clip_val,
        **options,
    }
    quiet = {"enable_progress_bar": False, "enable_model_summary": False, "logger": False}
    kept = (
        {}
        if any(isinstance(c, ModelCheckpoint) for c in callbacks)
        else {"enable_checkpointing": False}
    )
    where = {"default_root_dir": folder, "accelerator": "cpu"}
    return pl.Trainer(callbacks=list(callbacks), **quiet, **kept, **where, **options)


def build(folder, *words):
    config = compose(folder, "trainer.select=last", *words)
    pl.seed_everything(config.seed, workers=True, verbose=False)
    data = heron.DataModule(config)
    return config, data, heron.build_module(config, data)


@pytest.mark.parametrize("task", quick(WORDS, 2))
def test_fit_and_test_with_a_default_trainer_give_the_scores_of_heron_train(task, tmp_path):
    config, data, module = build(tmp_path, *WORDS[task])
    trainer = plain(tmp_path, config)
    trainer.fit(module, datamodule=data)
    scores = {k: v for each in trainer.test(module, data, verbose=False) for k, v in each.items()}
    words = (*WORDS[task], "trainer.select=last", "run.sweep=chronicle-relation")
    expected = train(tmp_path, *words).read_scores()["test"]
    del expected["refused"]
    assert scores == {
        f"test/{name}": pytest.approx(v, nan_ok=True, abs=0, rel=0) for name, v in expected.items()
    }
    batch = next(iter(data.val_dataloader()))
    assert module.eval()(batch) is not None
    assert trainer.validate(module, data, verbose=False)[0]
    trainer.save_checkpoint(tmp_path / "any.ckpt")
    again = TaskModule.load_from_checkpoint(tmp_path / "any.ckpt")
    again_scores = plain(tmp_path, config).test(again, heron.DataModule(config), verbose=False)
    assert {k: v for each in again_scores for k, v in each.items()} == pytest.approx(
        scores, nan_ok=True, abs=0, rel=0
    )
    outputs = trainer.predict(module, data)
    assert sum(len(output.rows_R) for output in outputs) == len(data.features["test"])


def test_nothing_is_read_before_it_is_needed(tmp_path):
    config = compose(tmp_path)
    data = heron.DataModule(config)
    assert not (tmp_path / "cache").exists()
    data.prepare_data()
    data.setup("fit")
    assert len(data.features["train"]) > 0


def test_batches_differ_between_epochs_and_cover_each(tmp_path):
    config, data, module = build(tmp_path)
    seen = Seen()
    plain(tmp_path, config, seen).fit(module, datamodule=data)
    first, second = (seen.rows[epoch] for epoch in range(EPOCHS))
    assert first != second
    for rows in (first, second):
        assert sorted(row for each in rows for row in each) == list(
            range(len(data.features["train"]))
        )


@pytest.mark.parametrize(
    "options", [{"max_epochs": 4}, {"accumulate_grad_batches": 3}, {"limit_train_batches": 3}]
)
def test_the_schedule_ends_where_the_trainer_does(options, tmp_path):
    config, data, module = build(tmp_path, "optim.schedule=linear")
    seen = Seen()
    trainer = plain(tmp_path, config, seen, **options)
    trainer.fit(module, datamodule=data)
    assert module.total_steps() == trainer.global_step
    assert seen.rates[-1] == 0 < seen.rates[-2 * trainer.accumulate_grad_batches]


def test_curricula_pace_and_the_recorder_records(tmp_path):
    config, data, module = build(tmp_path, "curriculum=length_cl")
    seen = Seen()
    plain(tmp_path, config, seen, heron.Recorder(tmp_path / "run")).fit(module, datamodule=data)
    assert [len(rows) for rows in seen.rows.values()] == data.curriculum.batches
    assert read_dynamics(tmp_path / "run").epochs_E.tolist() == [1, 2]
    first = {row for rows in seen.rows[0][:2] for row in rows}
    lengths_S = data.features["train"].lengths_S
    assert lengths_S[sorted(first)].mean() < lengths_S.mean(), "short texts come first"


def test_a_resume_inside_an_epoch_is_exact(tmp_path):
    config, data, whole = build(tmp_path)
    plain(tmp_path, config).fit(whole, datamodule=data)

    class Cut(pl.Callback):
        def on_train_batch_start(self, trainer, module, batch, batch_idx):
            if trainer.global_step == 5:
                raise KeyboardInterrupt

    kept = ModelCheckpoint(tmp_path / "kept", save_last=True, every_n_train_steps=3)
    config, data, module = build(tmp_path)
    with pytest.raises(SystemExit):  # Lightning ends the program at Ctrl+C
        plain(tmp_path, config, kept, Cut()).fit(module, datamodule=data)
    config, data, module = build(tmp_path)
    plain(
        tmp_path, config, ModelCheckpoint(tmp_path / "kept", save_last=True, every_n_train_steps=3)
    ).fit(module, datamodule=data, ckpt_path="last")
    for (name, weights), (_, expected) in zip(
        module.named_parameters(), whole.named_parameters(), strict=True
    ):
        assert torch.equal(weights, expected), name


def test_float16_clips_the_gradient_and_not_the_scaled_one(tmp_path):
    config, data, module = build(tmp_path, "trainer.gradient_clip_val=0.01")
    scaled = MixedPrecision("16-mixed", "cpu", torch.amp.GradScaler("cpu", init_scale=1024.0))
    norms = []

    class Norm(pl.Callback):
        def on_train_batch_end(self, trainer, module, outputs, batch, batch_idx):
            gradients = [p.grad for p in module.parameters() if p.grad is not None]
            norms.append(torch.nn.utils.get_total_norm(gradients))

    trainer = plain(tmp_path, config, Norm(), plugins=[scaled], limit_train_batches=2)
    trainer.fit(module, datamodule=data)
    assert [float(norm) for norm in norms] == [pytest.approx(0.01, rel=1e-3)] * 4


@pytest.mark.real  # takes seconds in processes of their own
def test_a_compiled_encoder_trains_and_is_not_compiled_for_every_length(tmp_path):
    config, data, module = build(tmp_path, "batching=bucket", "batching.tokens=300")
    module.encoder.compile(backend=(graphs := CompileCounter()))
    plain(tmp_path, config, limit_train_batches=9, max_epochs=1).fit(module, datamodule=data)
    assert module.trainer.global_step == 9
    assert graphs.frame_count <= 4


def test_the_learning_rate_finder_sets_the_rate(tmp_path):
    config, data, module = build(tmp_path)
    found = Tuner(plain(tmp_path, config)).lr_find(module, datamodule=data, num_training=12)
    assert module.lr == found.suggestion() or found.suggestion() is None
    assert len(found.results["lr"]) > 5


def test_compose_leaves_a_hosts_hydra_as_it_was(tmp_path, monkeypatch):
    monkeypatch.setattr(GlobalHydra.instance(), "hydra", None)
    (tmp_path / "conf").mkdir()
    (tmp_path / "conf" / "config.yaml").write_text("own: 1\n", encoding="utf-8")
    with initialize_config_dir(str(tmp_path / "conf"), version_base=None):
        own = GlobalHydra.instance().hydra
        heron.compose(["seed=0"])
        with pytest.raises(heron.base.errors.ConfigError):
            heron.compose(["sed=0"])
        assert GlobalHydra.instance().hydra is own
        assert compose_with_hydra("config").own == 1


def test_the_lines_of_the_page_lead_from_data_to_a_data_map(tmp_path, monkeypatch):
    page = (conf_dir().parent / "docs" / "start.md").read_text(encoding="utf-8")
    lines = page.split("## From Python")[1].split("```python\n")[1].split("```")[0]
    lines = lines.replace('"trainer.max_epochs=2"', '"trainer.max_epochs=2", *TINY')
    monkeypatch.chdir(tmp_path)
    names = {"TINY": [*TINY, f"paths.cache={tmp_path}/cache"]}
    exec(lines, names)  # the page's own lines
    assert 0 <= names["scores"][0]["test/macro_f1"] <= 1
    assert heron_command("map", "run=runs/mine") == 0
    assert (tmp_path / "runs" / "mine" / "map").is_dir()


class Ended(NamedTuple):
    """What a run of `heron train` has left."""

    folder: RunFolder
    rows: list[dict[str, str]]  # of metrics.csv
    spent: dict[str, int]  # in ledger.json
    planned: int  # optimizer steps

    def logged(self, name: str) -> list[float]:
        return [float(row[name]) for row in self.rows if row.get(name)]


def run(folder, *words, job="tiny"):
    found = train(folder, "run.sweep=chronicle-relation", *words, job=job)
    ledger = json.loads(found.ledger.read_text())
    rows = list(csv.DictReader(found.metrics.open())) if found.metrics.is_file() else []
    return Ended(found, rows, ledger["total"], ledger["planned_steps"])


@pytest.mark.parametrize("task", quick(WORDS, 2))
def test_a_fast_dev_run_tries_every_step_and_is_no_finished_run(task, tmp_path):
    for _ in range(2):  # it is not skipped either
        ended = run(tmp_path, *WORDS[task], "trainer.fast_dev_run=true")
        assert ended.spent["batches"] == 1
        assert ended.folder.state() == "tried"
        assert not ended.folder.last.exists()
        assert ended.folder.read_scores()["test"]


def test_limited_batches_shorten_epochs_schedule_and_scores(tmp_path):
    words = ("trainer.limit_train_batches=3", "trainer.limit_test_batches=1")
    tokens = "batching.tokens=400"
    ended = run(tmp_path, *words, tokens, "trainer.log_every_n_steps=1")
    assert ended.spent["steps"] == ended.planned == 3 * EPOCHS
    assert ended.logged("lr/head")[-1] == pytest.approx(1e-3 / (0.9 * 3 * EPOCHS), rel=0.1)
    whole = run(tmp_path, tokens, job="whole")
    tests = [pq.read_table(each.folder.predictions("test")) for each in (ended, whole)]
    assert 0 < len(tests[0]) < len(tests[1])
    assert not {*ended.folder.read_scores()["validation"]} ^ {
        *whole.folder.read_scores()["validation"]
    }
    half = run(tmp_path, tokens, "trainer.limit_train_batches=0.5", job="half")
    assert half.spent["steps"] == half.planned < 0.6 * whole.planned
    few = run(tmp_path, tokens, "trainer.limit_val_batches=1", job="few")
    parts = [pq.read_table(few.folder.predictions(split)) for split in ("validation", "test")]
    assert len(parts[0]) < len(parts[1]) == len(tests[1])
    some = ("trainer.limit_train_batches=0.5", "trainer.max_steps=5")
    assert run(tmp_path, tokens, *some, job="five").spent["steps"] == 5


def test_validation_twice_an_epoch(tmp_path):
    ended = run(tmp_path, "trainer.val_check_interval=0.5", "trainer.patience=9")
    scores = ended.logged("validation/macro_f1")
    assert len(scores) == 2 * EPOCHS
    assert ended.folder.read_scores()["validation"]["macro_f1"] == pytest.approx(max(scores))
    assert read_dynamics(ended.folder.path).epochs_E.tolist() == [1, 2]
    stopped = run(
        tmp_path, "trainer.val_check_interval=2", "trainer.patience=1", "optim.lr=1e-9", job="s"
    )
    assert stopped.spent["batches"] < ended.spent["batches"], "patience counts validations"
    assert stopped.folder.state() == "done"
    seldom = run(tmp_path, "trainer.check_val_every_n_epoch=2", job="seldom")
    assert len(seldom.logged("validation/macro_f1")) == 1
    never = run(tmp_path, "trainer.limit_val_batches=0", job="never")
    assert never.logged("validation/macro_f1") == []
    assert {*never.folder.read_scores()} == {"test"}


def test_a_run_ends_when_its_time_is_over(tmp_path):
    ended = run(tmp_path, "trainer.max_time=00:00:00:02", "trainer.max_epochs=2000")
    assert 0 < ended.spent["steps"] < ended.planned
    assert ended.folder.state() == "done"


def test_profiler_summary_and_sanity_check(tmp_path, capfd):
    words = ("+trainer.profiler=simple", "trainer.enable_model_summary=true")
    heard = io.StringIO()
    logging.getLogger("pytorch_lightning.profilers").addHandler(logging.StreamHandler(heard))
    run(tmp_path, *words, "trainer.num_sanity_val_steps=1", "trainer.detect_anomaly=true")
    assert "run_training_epoch" in heard.getvalue()
    assert "Trainable params" in capfd.readouterr().out


def test_overfit_batches_are_the_same_in_each_epoch(tmp_path):
    config, data, module = build(tmp_path)
    seen = Seen()
    plain(tmp_path, config, seen, overfit_batches=2).fit(module, datamodule=data)
    assert len(seen.rows[0]) == 2
    assert seen.rows[0] == seen.rows[1]
    ended = run(tmp_path, "trainer.overfit_batches=2")
    assert ended.spent["unique"] * EPOCHS == ended.spent["samples"]


def test_gradients_are_clipped_by_value(tmp_path):
    config, data, module = build(tmp_path)
    largest = []

    class Largest(pl.Callback):
        def on_train_batch_end(self, trainer, module, outputs, batch, batch_idx):
            largest.append(
                max(p.grad.abs().max() for p in module.parameters() if p.grad is not None)
            )

    words = {"gradient_clip_val": 1e-3, "gradient_clip_algorithm": "value"}
    plain(tmp_path, config, Largest(), max_epochs=1, **words).fit(module, datamodule=data)
    assert max(largest) == pytest.approx(1e-3)


@pytest.mark.parametrize("select", ["best", "mean"])
def test_a_run_that_is_trained_on_equals_one_that_was_longer(select, tmp_path):
    words = (
        "optim.schedule=constant",
        "optim.warmup=0",
        f"trainer.select={select}",
        "trainer.mean_of=2",
    )
    first = run(tmp_path, *words, job="first=1,a")
    whole = run(tmp_path, *words, "trainer.max_epochs=4", job="whole")
    named = first.folder.path if select == "best" else first.folder.last
    more = run(tmp_path, *words, "trainer.max_epochs=4", f"ckpt_path={named}", job="more")
    assert_same_run(more.folder, whole.folder)
    assert len(more.rows) > len(first.rows)


def test_loggers_and_callbacks_are_made_from_their_targets(tmp_path, monkeypatch, capsys):
    (tmp_path / "beside.py").write_text(
        "import pytorch_lightning as pl\n"
        "class Shout(pl.Callback):\n"
        "    def __init__(self, word): self.word = word\n"
        "    def on_train_start(self, trainer, module): print(self.word)\n",
        encoding="utf-8",
    )
    monkeypatch.chdir(tmp_path)
    own = ("+callbacks.mine._target_=beside.Shout", "+callbacks.mine.word=hallo")
    csv = ("+logger.own._target_=lightning.pytorch.loggers.CSVLogger", "+logger.own.name=own")
    groups = ("callbacks=[default,lr_monitor,model_summary]", "logger=csv")
    run = train(tmp_path, *own, *csv, *groups, "trainer.max_epochs=1", "batching.tokens=300")
    said = capsys.readouterr().out
    assert "hallo" in said
    assert "Trainable params" in said
    (rows,) = run.path.glob("own/*/metrics.csv")  # in the run folder
    assert "lr-AdamW" in rows.read_text("utf-8")
    assert "validation/macro_f1" in rows.read_text("utf-8")
