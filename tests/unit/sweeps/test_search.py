"""A search chooses, prunes and goes on: no trial is lost and none is trained twice."""

from __future__ import annotations

import math
import stat
from pathlib import Path
from typing import Any

import optuna
import pytest

from heron.base.files import read_json, write_json
from heron.base.run_folder import JOURNAL, RunFolder
from heron.training.study import open_storage
from small_runs import TINY, heron
from small_sweeps import jobs_of, kill_one, meanwhile, states, sweep

LR = "optim.lr=tag(log,interval(1e-5,1e-1))"
TRIALS = "hydra.sweeper.n_trials"
TOKEN = "hf_" + "a1B2" * 8


@pytest.fixture(autouse=True)
def _here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("heron.commands.train.report", lambda folder: None)


def again(*words: str, trials: int = 20, **settings: object) -> int:
    """Run the command; returns the exit code, 130 where it was interrupted."""
    own = {"startup_trials": 3, **settings, "n_trials": trials}
    return heron(
        *("train", *TINY, "paths.runs=runs", "paths.cache=cache", "run.sweep=sweep"),
        *("run.export=false", "dynamics.enabled=false", "-m", "hydra/sweeper=optuna"),
        *(f"hydra.sweeper.{key}={value}" for key, value in own.items()),
        *words,
    )


def trials() -> list[Any]:
    """Read the only study of the sweep."""
    storage = open_storage(Path("runs/sweep"))
    (name,) = optuna.get_all_study_names(storage)
    return optuna.load_study(study_name=name, storage=storage).get_trials()


class Trainings:
    """Trainings with made-up scores: best at a learning rate of 1e-3.

    Args:
        fail: what the n-th training raises, by n.
        prune: the numbers of trainings that are ended early.
    """

    def __init__(self) -> None:
        self.lrs: list[float] = []
        self.resumed: list[bool] = []
        self.fail: dict[int, BaseException] = {}
        self.prune: set[int] = set()

    def __call__(
        self, config: Any, folder: RunFolder, overrides: Any
    ) -> dict[str, dict[str, float]] | None:
        number = len(self.lrs)
        self.lrs.append(config.optim.lr)
        self.resumed.append(config.run.resume)
        if number in self.fail:
            raise self.fail[number]
        if number in self.prune:
            return None
        scores = {"validation": {config.trainer.monitor: self.score(config.optim.lr)}}
        write_json(folder.scores, scores)
        return scores

    def score(self, lr: float) -> float:
        return 1 - abs(math.log10(lr) + 3) / 10


@pytest.fixture
def ran(monkeypatch):
    trainings = Trainings()
    monkeypatch.setattr("heron.training.job._train_and_score", trainings)
    return trainings


def optuna_alone(score: Any, trials: int, direction: str = "maximize") -> list[float]:
    """Ask Optuna for learning rates without heron; it hears of the same scores."""
    study = optuna.create_study(direction=direction)
    spread = optuna.distributions.FloatDistribution(1e-5, 1e-1, log=True)
    found = []
    for number in range(trials):
        study.sampler = optuna.samplers.TPESampler(seed=number, n_startup_trials=3)
        trial = study.ask({"optim.lr": spread})
        found.append(float(f"{trial.params['optim.lr']:.6g}"))
        study.tell(trial, score(found[-1]))
    return found


def test_trials_are_what_optuna_alone_would_choose_and_the_lines_show_the_best(ran, capsys):
    assert again(LR, trials=6) == 0
    assert ran.lrs == optuna_alone(ran.score, 6)
    assert [trial.value for trial in trials()] == [ran.score(lr) for lr in ran.lrs]
    assert again(LR, trials=6) == 0
    assert len(ran.lrs) == 6, "nothing is trained again"
    printed = capsys.readouterr().out
    assert "6 of 6 jobs done already" in printed
    best = max(ran.lrs, key=ran.score)
    assert f"best so far {ran.score(best):.4f} with optim.lr={best!r}" in printed
    assert again(LR, trials=7) == 0
    assert ran.lrs == optuna_alone(ran.score, 7), "more trials go on from there"


def test_a_search_by_the_loss_seeks_the_lowest(ran, capsys, monkeypatch):
    monkeypatch.setattr(ran, "score", lambda lr: abs(math.log10(lr) + 3) / 10)
    assert again(LR, "trainer.monitor=loss", trials=6) == 0
    assert ran.lrs == optuna_alone(ran.score, 6, "minimize")
    assert f"best so far {min(map(ran.score, ran.lrs)):.4f}" in capsys.readouterr().out


@pytest.mark.parametrize(("sampler", "pruner"), [("gp", "hyperband"), ("random", "median")])
def test_every_sampler_and_pruner_finds_other_points(sampler, pruner, ran):
    assert again(LR, trials=4, sampler=sampler, pruner=pruner) == 0
    assert len(set(ran.lrs)) == 4


@pytest.mark.real  # takes too long for every change
def test_a_search_that_is_cut_goes_on_as_if_nothing_had_happened(ran, tmp_path, monkeypatch):
    assert again(LR, trials=6) == 0
    expected, ran.lrs = ran.lrs, []
    ran.fail = {2: KeyboardInterrupt(), 4: KeyboardInterrupt()}
    (tmp_path / "cut").mkdir()
    monkeypatch.chdir(tmp_path / "cut")
    assert again(LR, trials=6) == 130
    assert sorted(states(Path())) == ["done", "done", "interrupted"]
    assert again(LR, trials=6) == 130
    assert again(LR, trials=6) == 0
    # The cut ones are there twice, in a row: they were taken up first of all.
    assert ran.lrs == [*expected[:3], *expected[2:4], *expected[3:]]
    assert states(Path()) == ["done"] * 6
    assert len(trials()) == 6


def test_a_job_that_is_cut_goes_on_before_the_next_point_is_chosen(ran, capsys):
    ran.fail = {3: MemoryError("killed"), 4: MemoryError("killed")}
    assert again(LR, trials=5) == 0
    chosen = [*ran.lrs[:3], *ran.lrs[5:]]
    assert ran.lrs[3] == ran.lrs[4] == ran.lrs[5]
    assert chosen == optuna_alone(ran.score, 5)


def test_a_job_that_is_cut_goes_on_also_in_a_search_that_begins_anew(ran):
    ran.fail = {1: MemoryError("killed")}
    assert again(LR, "run.resume=false", trials=3) == 0
    assert ran.lrs[1] == ran.lrs[2]
    assert ran.resumed == [False, False, True, False]


@pytest.mark.real  # takes too long for every change
def test_failures_are_told_counted_and_tried_again_when_asked(ran, capsys):
    full = OSError(28, "No space left on device")
    ran.fail = {1: ValueError("a bug"), 2: full, 3: full, 4: full}
    assert again(LR, trials=4) == 2
    assert ran.lrs[2] == ran.lrs[3] == ran.lrs[4] != ran.lrs[5]
    told = [trial.state.name for trial in trials()]
    assert told == ["COMPLETE", "FAIL", "RUNNING", "COMPLETE"]
    assert again(LR, trials=4) == 2
    assert ran.lrs[6:] == [ran.lrs[2]], "the machine's failure is tried again, the bug is not"
    assert again(LR, "run.retry=failed", trials=4) == 0
    assert ran.lrs[7:] == [ran.lrs[1]]
    assert states(Path()) == ["done"] * 4
    assert again(LR, trials=4) == 0
    values = {trial.params["optim.lr"] for trial in trials() if trial.value is not None}
    assert len(values) == 4, "the study has learnt of the one that was tried again, too"
    assert "ValueError: a bug" in capsys.readouterr().err


def test_a_pruned_job_is_settled_no_failure_and_has_no_scores(ran, capsys):
    ran.prune = {1}
    assert again(LR, trials=3, pruner="median") == 0
    assert sorted(states(Path())) == ["done", "done", "pruned"]
    assert "1 pruned" in capsys.readouterr().out
    assert again(LR, trials=3, pruner="median") == 0
    assert len(ran.lrs) == 3
    assert "2 of 3 jobs done already, 1 pruned" in capsys.readouterr().out
    assert [trial.state.name for trial in trials()].count("PRUNED") == 1
    (job,) = [job for job in jobs_of(Path()) if job.state() == "pruned"]
    assert not job.scores.is_file()
    assert heron("sweep", "runs/sweep") == 0
    assert "3 jobs: 2 done, 1 pruned" in capsys.readouterr().out


def test_without_its_search_s_pruner_a_pruned_job_is_trained_on(ran):
    points, settings = "optim.lr=1e-4,1e-3", {"trials": 2, "sampler": "random"}
    ran.prune = {0}
    assert again(points, **settings, pruner="median") == 0
    assert sorted(states(Path())) == ["done", "pruned"]
    assert again(points, **settings) == 0
    assert ran.lrs[2:] == ran.lrs[:1]
    values = [trial.value for trial in trials() if trial.value is not None]
    assert sorted(values) == sorted(map(ran.score, ran.lrs[:2])), "the study has learnt of it"


@pytest.mark.real  # takes too long for every change
def test_a_small_space_ends_with_its_last_point(ran):
    for _ in range(2):
        assert again("optim.lr=1e-4,1e-3", "seed=0,1", sampler="random") == 0
        assert len(ran.lrs) == 4
    assert len([trial for trial in trials() if trial.value is not None]) == 4


def test_a_point_that_is_refused_fails_alone(ran, capsys):
    assert again("encoder.scratch.heads=2,3,4", sampler="random") == 2
    assert len(ran.lrs) == 2
    error = capsys.readouterr().err
    assert "must be a multiple of encoder.scratch.heads=3" in error
    assert "1 of 3 jobs failed" in error


def test_no_file_of_a_search_holds_a_secret_and_its_journal_is_its_owner_s(ran, tmp_path, capsys):
    assert again(f"++logger.wandb.project=https://me:{TOKEN}@a.org/b,plain") == 2
    assert TOKEN not in capsys.readouterr().err
    assert not list(tmp_path.rglob(JOURNAL))
    ran.fail = {1: ValueError(f"cannot reach https://me:{TOKEN}@a.org")}
    assert again(LR, f"++logger.wandb.project=https://me:{TOKEN}@a.org", trials=3) == 2
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert [path for path in files if TOKEN.encode() in path.read_bytes()] == []
    assert stat.S_IMODE((tmp_path / "runs/sweep" / JOURNAL).stat().st_mode) == 0o600


def test_a_cut_journal_and_a_trial_that_was_only_asked_for_change_no_point(ran):
    assert again(LR, trials=2) == 0
    storage = open_storage(Path("runs/sweep"))
    (name,) = optuna.get_all_study_names(storage)
    optuna.load_study(study_name=name, storage=storage).ask()
    with open(Path("runs/sweep") / JOURNAL, "a") as journal:
        journal.write('{"op_code": 4, "worker')  # as a kill or a full disk leaves it
    assert again(LR, trials=5) == 0
    assert ran.lrs == optuna_alone(ran.score, 5)


def test_another_space_or_another_setting_is_another_search(ran):
    for words in (
        (LR,),
        (LR, "trainer.gradient_clip_val=2"),
        ("optim.lr=tag(log,interval(1e-5,1e-2))",),
    ):
        assert again(*words, trials=1) == 0
    assert again(LR, trials=1, pruner="median") == 0
    assert len(optuna.get_all_study_names(open_storage(Path("runs/sweep")))) == 3


@pytest.mark.parametrize(
    "words",
    [
        ("trainer.monitor=loss,macro_f1",),
        (LR, "data.folds.count=3", "data.folds.fold=0,1,2"),
        (LR, "run.job=best"),
        (LR, "experiment=demo,null"),
        ("optim.lr=interval(1,0)",),
        ("optim.lr=tag(log,interval(0,1))",),
        (LR, "hydra.sweeper.sampler=tp"),
    ],
)
def test_what_cannot_be_searched_is_refused(words, ran):
    assert again(*words) == 2
    assert ran.lrs == []


@pytest.mark.slow
@pytest.mark.real  # a minute of whole trainings: `make test-real` has the time
def test_a_real_search_prunes_is_killed_and_loses_nothing(tmp_path):
    words = (
        LR, "hydra/sweeper=optuna", f"{TRIALS}=5", "hydra.sweeper.startup_trials=1",
        "hydra.sweeper.seed=1", "hydra.sweeper.pruner=median", "trainer.max_epochs=4",
        "trainer.checkpoint_steps=3",
    )  # fmt: skip
    with meanwhile(lambda: kill_one(tmp_path)):
        assert sweep(tmp_path, *words, n=1) == 0  # the killed job goes on before the next point
    assert {trial.state.name for trial in trials()} == {"COMPLETE", "PRUNED"}
    assert len(trials()) == len(jobs_of(tmp_path)) == 5
    ended = [job for job in jobs_of(tmp_path) if job.state() == "pruned"]
    assert ended
    for job in ended:
        assert read_json(job.status)["pruned"]["epochs"] < 4
        assert "epoch 4/4" not in job.log.read_text("utf-8")
    # A pruned training can be trained to its end by itself, from where it was.
    typed = read_json(ended[0].status)["overrides"]
    alone = [word for word in typed if not word.startswith(("sweeper", "run.isolate"))]
    assert heron("train", *alone, "run.isolate=false") == 0
    assert ended[0].state() == "done"
    assert ended[0].metrics.read_text().splitlines()[-1].startswith("3,")
