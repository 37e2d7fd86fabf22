"""Curricula end to end: they train, cost what the run without one costs, and survive a kill."""

import copy
import dataclasses
from collections import Counter
from operator import attrgetter

import numpy as np
import pyarrow.parquet as pq
import pytest
import pytorch_lightning as pl
import torch
import yaml

from heron.base.files import read_json
from heron.base.run_folder import RunFolder
from heron.base.tables import write_table
from heron.data.config import TRAIN
from heron.data.datamodule import DataModule
from heron.dynamics.cartography import statistics
from heron.dynamics.config import needs_dynamics
from heron.dynamics.files import read_dynamics
from heron.reports.map_data import read_logits
from heron.training import job
from heron.training.checkpointing import History, LastCheckpoint
from heron.training.curriculum import build_curriculum, first_run, similarities
from heron.training.run_names import run_path
from heron.training.trainer import build_module, build_trainer, predict_split
from made_up_dynamics import SHIPPED, shipped
from small_runs import TINY, compose, heron, in_folder
from stopping import Stopped, assert_same_run, stopping
from tiers import quick

SMALL = (
    "data.generator.size=100",
    "batching.tokens=1000",
    "trainer.select=last",
    "trainer.enable_progress_bar=false",
    "run.export=false",
    "task.bootstrap=0",
)

FORMS = {
    "ronli": ("data=chronicle_ronli", "task=nli", "head=siamese_cls"),
    "nli": ("data=chronicle_nli", "task=nli", "head=cross"),
    "relation": ("head=ess",),
    "windows": ("head=window", "batching.tokens=200"),
}


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    return tmp_path_factory.mktemp("curricula")


@pytest.fixture(scope="module")
def configure(home):
    """Return a function that makes a configuration of one of `FORMS`, each composed once.

    Its words are set in a copy: Hydra takes a third of a second for a composition.
    """
    composed = {}

    def make(form, curriculum="none", *words, folder=home, **changes):
        if form not in composed:
            composed[form] = compose(home, *SMALL, *FORMS[form])
        config = copy.deepcopy(composed[form])
        for word in words:
            key, value = word.split("=")
            parent, _, name = key.rpartition(".")
            setattr(attrgetter(parent)(config) if parent else config, name, yaml.safe_load(value))
        config.paths.runs, config.paths.cache = str(folder / "runs"), str(folder / "cache")
        config.curriculum = dataclasses.replace(shipped(curriculum), **changes)
        if config.curriculum.pacing == "self_paced":
            config.dynamics.mode = "evaluation"
        return config

    return make


def folder_of(config, label="job"):
    return RunFolder(run_path(config, (label,)))


@pytest.fixture(scope="module")
def trained(configure):
    """Return a function that trains a configuration, once; arguments as for `configure`."""
    done = {}

    def run(form, curriculum="none", *words, **changes):
        key = (form, curriculum, words, str(changes))
        if key not in done:
            config = configure(form, curriculum, *words, **changes)
            done[key] = folder_of(config)
            done[key].path.mkdir(parents=True, exist_ok=True)
            job.run_job(config, done[key])
        return done[key]

    return run


@pytest.fixture
def trainings(monkeypatch):
    """List the curricula of the runs that are trained, in order; a finished one is not."""
    begun, train = [], job._train_and_score

    def train_and_note(config, folder, overrides):
        begun.append(config.curriculum.name)
        return train(config, folder, overrides)

    monkeypatch.setattr(job, "_train_and_score", train_and_note)
    return begun


def checkpoint(folder):
    return torch.load(folder.last, weights_only=True)


def weights(folder):
    return checkpoint(folder)["state_dict"]


def same_weights(one, other):
    first, second = weights(one), weights(other)
    return all(torch.equal(first[name], second[name]) for name in first | second)


# Every option on pairs, and on event pairs those that learn from a run.
EVERY = [
    *(("ronli", name) for name in SHIPPED),
    *(("relation", name) for name in SHIPPED if needs_dynamics(shipped(name))),
    ("nli", "sts_cl"),
]


@pytest.mark.parametrize(("form", "name"), quick(EVERY, 2))
def test_every_curriculum_trains_for_the_steps_of_the_run_without_one(form, name, trained):
    folder, baseline = trained(form, name), trained(form)
    assert folder.state() == "done"
    ledger, other = read_json(folder.ledger), read_json(baseline.ledger)
    steps = checkpoint(folder)["global_step"]
    assert steps == ledger["planned_steps"] == ledger["total"]["steps"]
    assert steps == other["planned_steps"] == other["total"]["steps"]
    assert ledger["total"]["batches"] == other["total"]["batches"]
    assert [stage["steps"] > 0 for stage in ledger["stages"]] == [True] * len(ledger["stages"])
    assert read_dynamics(folder.path).epochs_E.tolist() == [1, 2]


OWN = {
    "budget": "own",
    "stages": [{"steps": 5, "unlock": 0.5}, {"steps": 9}],
    "restart": True,
}
RESUMED = {
    "stratified": (
        "cart_stra_clpp",
        ("batching.oversample=balanced", "trainer.accumulate_grad_batches=2"),
        {},
    ),
    "self-paced": ("self_paced", ("dynamics.every=0.5",), {"by_class": True}),
    "restarted": ("cart_clpp", ("trainer.accumulate_grad_batches=2",), OWN),
}
OFTEN = ("trainer.checkpoint_steps=2", "batching.tokens=500")


class TestLedger:
    """What a run has spent, counted from what it recorded."""

    def test_samples_of_an_epoch_are_the_visits_that_the_recorder_counted(self, trained):
        oversampled = ("none", "batching.oversample=balanced")
        for words in (["none"], ["cart_stra_clpp"], ["competence"], oversampled):
            folder = trained("ronli", *words)
            visits_EN = read_dynamics(folder.path).count_EN
            ledger = read_json(folder.ledger)
            assert ledger["total"]["samples"] == visits_EN.sum()
            assert ledger["total"]["unique"] == (visits_EN.sum(axis=0) > 0).sum()
        assert visits_EN.max() > 1, "rows are seen again"

    def test_stages_add_up_and_tokens_are_those_of_the_split(self, trained, configure):
        folder, config = trained("ronli"), configure("ronli")
        ledger = read_json(folder.ledger)
        (stage,) = ledger["stages"]
        assert stage == {"stage": "everything", **ledger["total"]}
        data = DataModule(config)
        tokens = int(data.features[TRAIN].lengths_S.sum())
        assert stage["tokens"] == 2 * tokens  # two epochs
        assert tokens * 2 < stage["padded"] < tokens * 4
        staged = read_json(trained("ronli", "cart_stra_clpp").ledger)
        for count in ("steps", "batches", "samples", "tokens", "padded"):
            assert sum(stage[count] for stage in staged["stages"]) == staged["total"][count]
        assert [stage["stage"] for stage in staged["stages"]] == [
            "20%",
            "40%",
            "60%",
            "80%",
            "100%",
        ]

    @pytest.mark.real  # takes seconds; another test of the file runs with every change
    def test_windows_count_rows_and_a_subset_sees_no_other_row(self, trained):
        folder = trained("windows", "e2l")
        visits_EN = read_dynamics(folder.path).count_EN
        total = read_json(folder.ledger)["total"]
        assert total["samples"] == visits_EN.sum()
        whole = read_json(trained("windows").ledger)["total"]
        assert 0 < total["unique"] < whole["unique"]
        assert total["unique"] == (visits_EN.sum(axis=0) > 0).sum()

    def test_an_own_budget_is_spent_to_the_step(self, trained):
        name, words, changes = RESUMED["restarted"]
        folder = trained("ronli", name, *words, *OFTEN, **changes)
        ledger = read_json(folder.ledger)
        assert [stage["steps"] for stage in ledger["stages"]] == [5, 9]
        assert checkpoint(folder)["global_step"] == ledger["planned_steps"] == 14


class TestFirstRun:
    """The run that a curriculum learns from is an ordinary run of the sweep, trained once."""

    def test_is_trained_once_and_is_the_sweep_s_own_run_without_curriculum(
        self, tmp_path, trainings, monkeypatch
    ):
        monkeypatch.setattr("heron.commands.train.report", lambda folders: None)
        words = [*TINY, *SMALL, *in_folder(tmp_path), *FORMS["ronli"]]
        # The curricula come first: the run that they need is found again as a job of its own.
        assert heron("train", "-m", *words, "curriculum=cart_cl,a,none") == 0
        assert trainings == ["cart_cl", "none", "a"]
        folders = list((tmp_path / "runs").glob("*/*/"))
        assert len(folders) == 3
        assert {RunFolder(folder).state() for folder in folders} == {"done"}

    @pytest.mark.real  # takes seconds; another test of the file runs with every change
    def test_is_left_alone_and_makes_no_difference_when_a_curriculum_starts_over(
        self, tmp_path, configure, trainings
    ):
        config, found = configure("ronli", "a", folder=tmp_path), []
        config.run.resume = False
        folder = folder_of(config)
        for _ in range(2):
            job.run_job(config, folder)
            found.append(weights(folder))
        assert trainings == ["a", "none", "a"]
        assert all(torch.equal(found[0][name], found[1][name]) for name in found[0])

    def test_follows_the_changes_that_the_curriculum_asks_for(self, tmp_path, configure):
        config = configure("ronli", "a", "batching.oversample=balanced", folder=tmp_path)
        config.curriculum.changes = {"batching.oversample": "none", "trainer.max_epochs": 1}
        folder = first_run(config, job.run_job)
        assert read_dynamics(folder.path).count_EN.max() == 1
        assert read_dynamics(folder.path).epochs_E.tolist() == [1]

    def test_may_be_any_run_on_the_same_split(self, configure, trained, tmp_path, trainings):
        other = trained("ronli", "none", *WATCHED)
        config = configure("ronli", "e2l", dynamics=str(other.path), folder=tmp_path)
        folder = folder_of(config)
        trainings.clear()
        job.run_job(config, folder)
        assert trainings == ["e2l"]
        assert "curriculum.dynamics" in read_json(folder.status)["sources"]
        # Or a table of its statistics.
        table = tmp_path / "td_metrics.jsonl"
        write_table(table, statistics(read_dynamics(other.path)).as_columns())
        of_table = configure("ronli", "e2l", dynamics=str(table), folder=tmp_path / "of_table")
        job.run_job(of_table, folder_of(of_table))
        assert read_json(folder_of(of_table).scores) == read_json(folder.scores)

    @pytest.mark.parametrize("name", quick(["length_cl", "self_paced", "competence"]))
    def test_is_not_trained_where_nothing_is_learnt_from_it(
        self, name, configure, tmp_path, trainings
    ):
        config = configure("ronli", name, folder=tmp_path)
        job.run_job(config, folder_of(config))
        assert trainings == [name]


# The share of its batches after which a run is cut, or None: when its second epoch begins.
STOPS = {"inside the first stages": 0.3, "in the second epoch": 0.75, "between two epochs": None}
CUTS = [
    ("restarted", "inside the first stages"),
    *((setting, stop) for setting in ("stratified", "self-paced") for stop in STOPS),
]


@pytest.mark.slow
class TestResume:
    """A run that was cut anywhere ends as one that never was: bit for bit."""

    @pytest.mark.parametrize(("setting", "stop"), quick(CUTS))
    def test_goes_on_inside_its_plan(self, setting, stop, trained, configure, tmp_path):
        name, words, changes = RESUMED[setting]
        words = (*words, *OFTEN)
        expected = trained("ronli", name, *words, **changes)
        config, folder = configure("ronli", name, *words, **changes), RunFolder(tmp_path / "run")
        ledger, share = read_json(expected.ledger), STOPS[stop]
        count = round((share or 0) * ledger["total"]["batches"])
        hook = ("on_train_batch_start", count) if share else ("on_train_epoch_start", 2)
        with stopping(*hook):
            job.run_job(config, folder)
        done = checkpoint(folder)["global_step"] / ledger["planned_steps"]
        assert done == pytest.approx(share or 0.5, abs=0.2)
        job.run_job(config, folder)
        assert_same_run(folder, expected)
        assert same_weights(folder, expected)

    def test_keeps_the_ledger_though_it_was_cut_when_training_was_over(
        self, trained, configure, tmp_path, monkeypatch
    ):
        expected, config = trained("ronli"), configure("ronli")
        folder, save = RunFolder(tmp_path / "run"), LastCheckpoint._save

        def save_and_stop(self, trainer):
            save(self, trainer)
            if trainer.current_epoch == 1:
                raise Stopped

        with monkeypatch.context() as patch:
            patch.setattr(LastCheckpoint, "_save", save_and_stop)
            with pytest.raises(Stopped):
                job.run_job(config, folder)
        job.run_job(config, folder)
        assert_same_run(folder, expected)
        assert same_weights(folder, expected)


def test_self_paced_epochs_draw_a_growing_share(trained, configure):
    pace = shipped("self_paced")
    rows = len(DataModule(configure("ronli")).features[TRAIN])
    for epoch, stage in enumerate(read_json(trained("ronli", "self_paced").ledger)["stages"]):
        share = min(pace.start + (1 - pace.start) * epoch / (pace.until * 2), 1)
        assert stage["unique"] == int(np.ceil(round(share * rows, 6)))


class Moments(pl.Callback):
    """Notes at which batches an optimizer knows nothing of the steps before."""

    def __init__(self):
        self.empty = []

    def on_train_batch_start(self, trainer, module, batch, batch_idx):
        (optimizer,) = trainer.optimizers
        if not optimizer.state:
            self.empty.append((trainer.current_epoch, batch_idx))


@pytest.mark.parametrize("restart", quick([True, False]))
def test_restart_forgets_the_moments_where_a_stage_begins_and_nowhere_else(
    restart, configure, tmp_path, monkeypatch
):
    entries = [{"share": 0.2, "unlock": 0.5}, {"share": 0.4}, {"share": 0.4}]
    changes = {"stages": entries, "difficulty": "length", "restart": restart}
    config = configure(
        "ronli", "cart_clpp", "trainer.accumulate_grad_batches=2", folder=tmp_path, **changes
    )
    noted = Moments()
    monkeypatch.setattr("heron.training.trainer.Progress", lambda *_: noted)
    folder = folder_of(config)
    job.run_job(config, folder)
    data = DataModule(config)
    curriculum = build_curriculum(config, data, None)
    begins, before = [], None
    for epoch in range(2):
        for place, stage in enumerate(curriculum.stages_of(epoch)):
            if stage != before:
                begins.append((epoch, place))
            before = stage
    assert len(begins) == 3
    # Two batches make a step: at the second one there still is nothing to know.
    starts = begins if restart else begins[:1]
    assert noted.empty == [(epoch, place + half) for epoch, place in starts for half in (0, 1)]


@pytest.mark.parametrize("name", quick(["cart_stra_clpp", "self_paced", "sts_cl"]))
def test_curricula_train_a_head_on_stored_vectors(name, trained):
    folder, baseline = trained("ronli", name, *FROZEN), trained("ronli", "none", *FROZEN)
    assert checkpoint(folder)["global_step"] == checkpoint(baseline)["global_step"]
    assert not any(key.startswith("encoder") for key in weights(folder)), "vectors were stored"
    assert not same_weights(folder, baseline)


@pytest.mark.real  # takes seconds; another test of the file runs with every change
def test_sequential_stages_each_have_the_curriculum_and_its_first_run(
    configure, tmp_path, trainings
):
    config = configure("nli", "a", folder=tmp_path)
    config.stages = ["chronicle_nli", "chronicle_nli"]
    folder = folder_of(config)
    job.run_job(config, folder)
    inner = [RunFolder(path) for path in sorted(folder.stages.iterdir())]
    assert trainings == ["a", "a", "none", "a", "none"]
    for stage in inner:
        ledger = read_json(stage.ledger)
        assert [entry["stage"] for entry in ledger["stages"]] == ["ambiguous"]
    assert not same_weights(*inner)


class TestSimilarity:
    """Premise and hypothesis, compared by the encoder as it comes or as it was fine-tuned."""

    def test_is_the_cosine_of_the_mean_states(self, configure, tmp_path):
        config = configure("nli", "sts_cl", folder=tmp_path)
        data = DataModule(config)
        found_R = similarities(config, data, None)
        assert found_R.shape == (len(data.features[TRAIN]),)
        assert np.all(np.abs(found_R) <= 1 + 1e-6)
        assert np.std(found_R) > 1e-4
        assert similarities(config, data, None).tolist() == found_R.tolist(), "from the cache"

    def test_draws_no_random_number_of_the_run_s(self, configure, tmp_path):
        """Else a run would depend on what an earlier one has left in the cache."""
        config = configure("nli", "sts_cl", folder=tmp_path)
        data, found = DataModule(config), []
        for seed in (3, 4):
            torch.manual_seed(seed)
            before = torch.get_rng_state()
            config.paths.cache = str(tmp_path / f"cache {seed}")
            found.append(similarities(config, data, None).tolist())
            assert torch.equal(torch.get_rng_state(), before)
        assert found[0] == found[1], "an encoder from nothing is the seed's, too"

    @pytest.mark.real  # takes seconds; another test of the file runs with every change
    def test_may_be_that_of_the_fine_tuned_encoder(self, configure, tmp_path, trainings):
        config = configure("nli", "sts_cl", embeddings="trained", folder=tmp_path)
        folder = folder_of(config)
        job.run_job(config, folder)
        assert trainings == ["sts_cl", "none"]
        data = DataModule(config)
        first = first_run(config, job.run_job)
        assert trainings == ["sts_cl", "none"], "it was there"
        fine_tuned = similarities(config, data, first)
        config.curriculum.embeddings = "pretrained"
        assert np.abs(fine_tuned - similarities(config, data, None)).max() > 1e-6


WATCHED = ("dynamics.mode=evaluation", "dynamics.every=0.5")
FROZEN = ("encoder.freeze=all", "optim.lr=0.01")


class TestEvaluationMode:
    """Looking at all of train once more changes nothing and says what a fresh pass says."""

    def test_leaves_training_as_it_is_bit_for_bit(self, trained):
        plain = trained("ronli")
        watched = trained("ronli", "none", *WATCHED)
        assert same_weights(plain, watched)
        assert plain.scores.read_bytes() == watched.scores.read_bytes()
        assert plain.metrics.read_bytes() == watched.metrics.read_bytes()
        assert read_dynamics(watched.path).epochs_E.tolist() == [0.5, 1, 1.5, 2]

    @pytest.mark.parametrize(("name", "words"), [("none", WATCHED), ("self_paced", FROZEN)])
    def test_the_last_record_is_what_the_trained_model_says(
        self, name, words, trained, configure, tmp_path
    ):
        folder, config = trained("ronli", name, *words), configure("ronli", "none", *words)
        data = DataModule(config)
        module = build_module(config, data)
        module.load_state_dict(weights(folder))
        trainer = build_trainer(config, RunFolder(tmp_path), data, History(tmp_path / "m.csv"))
        fresh = predict_split(trainer, module, data, TRAIN)
        guids, logits_NC = read_logits(folder.path, -1)
        assert guids == list(fresh.guids)
        record = read_dynamics(folder.path)
        probabilities = torch.from_numpy(logits_NC).softmax(dim=1).numpy()
        place = {guid: row for row, guid in enumerate(fresh.guids)}
        rows = [place[guid] for guid in guids]
        np.testing.assert_allclose(
            probabilities, np.asarray(fresh.probabilities_RC)[rows], atol=1e-6
        )
        assert set(record.count_EN.ravel().tolist()) == {1}


class TestExternalScores:
    def write(self, path, guids):
        lines = [f"{guid},{place}" for place, guid in enumerate(guids)]
        path.write_text("\n".join(["guid,rank", *lines]), encoding="utf-8")
        return {"scores": str(path), "column": "rank", "difficulty": "external"}

    def test_order_the_run(self, configure, trained, tmp_path):
        guids = DataModule(configure("ronli")).features[TRAIN].guids
        words = self.write(tmp_path / "mine.csv", guids)
        config = configure("ronli", "cart_clpp", folder=tmp_path, **words)
        folder = folder_of(config)
        job.run_job(config, folder)
        assert "curriculum.scores" in read_json(folder.status)["sources"]
        early = pq.read_table(folder.dynamics(0))["guid"].to_pylist()
        # The first half of the steps draws from the first .8 of the table.
        assert set(early) <= set(guids[: int(np.ceil(0.8 * len(guids)))])


def test_subsets_hold_the_published_shares(trained):
    """A third of the examples each, and easy and hard ones apart."""
    seen = {
        name: {
            guid
            for guid, count in zip(dynamics.guids, dynamics.count_EN.sum(axis=0), strict=True)
            if count
        }
        for name in ("e2l", "a", "h2l", "e2l_a")
        for dynamics in [read_dynamics(trained("ronli", name).path)]
    }
    rows = len(read_dynamics(trained("ronli").path).guids)
    assert Counter(len(seen[name]) for name in ("e2l", "a", "h2l")) == {int(0.3319 * rows) + 1: 3}
    assert not seen["e2l"] & seen["h2l"]
    assert seen["e2l_a"] == seen["e2l"] | seen["a"]


def test_patience_counts_from_the_last_stage_on(configure, tmp_path):
    """A model of easy examples alone gets no better."""
    # A learning rate of almost nothing: no epoch is better than the first.
    words = ("trainer.patience=1", "trainer.max_epochs=8", "optim.lr=1.0e-12")
    config = configure("nli", "length_cl", *words, folder=tmp_path)
    job.run_job(config, folder := folder_of(config))
    assert len(read_dynamics(folder.path).epochs_E) > 4
