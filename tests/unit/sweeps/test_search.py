"""A search chooses, prunes and goes on: no trial is lost and none is trained twice."""

from __future__ import annotations

import copy
import math
import pickle
import re
import stat
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import optuna
import pytest
from omegaconf import OmegaConf

from heron.base.errors import ConfigError
from heron.base.files import read_json, write_json
from heron.base.run_folder import RunFolder
from heron.config.compose import Composition, compose_and_run
from heron.config.resolve import resolve
from heron.sweeps.ledger import JOURNAL, Outcome, Queue
from heron.sweeps.search import Search
from heron.sweeps.start import run_search
from heron.sweeps.study import Journal, _storage, distributions, seed_sampler
from heron.sweeps.sweep import Sweep
from heron.training.process import Job
from small_runs import TINY, heron
from small_sweeps import jobs_of, kill_one, meanwhile, states, sweep

LR = "optim.lr=tag(log,interval(1e-5,1e-1))"
SWEEP = ("run.sweep=sweep", "run.export=false", "dynamics.enabled=false", "run.isolate=false")


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Work in a folder of the test's own: what is composed is then the same for all tests."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("heron.commands.train._report", lambda folder: None)


@cache
def composed(*words: str) -> list[Composition]:
    """Compose a sweep as `heron train -m` would; Hydra takes its time."""
    found: list[Composition] = []
    paths = ("paths.runs=runs", "paths.cache=cache")
    compose_and_run("train", [*TINY, *paths, *SWEEP, "-m", *words], found.append)
    return found


def first(*words: str, **settings: object) -> Composition:
    """Compose a search; keys that do not change its jobs are set afterwards (`run__retry=...`)."""
    composition = composed("sweeper=optuna", *words)[0]
    config = copy.deepcopy(composition.config)
    for key, value in settings.items():
        OmegaConf.update(config, key.replace("__", "."), value)
    return replace(composition, config=config)


def again(*words: str, **settings: object) -> int:
    """Run the command; returns the exit code, 130 where it was interrupted."""
    startup = {"sweeper__startup_trials": 3, "sweeper__sampler": "tpe"}
    try:
        return run_search(first(*words, **{**startup, **settings}), lambda folder: None)
    except KeyboardInterrupt:
        return 130


def search_of(*words: str, **settings: object) -> Search:
    """Open a search."""
    composition = first(*words, **settings)
    assert composition.search is not None
    search = Search(composition.search, resolve(composition.config), composition.overrides)
    search.start()
    return search


def trials() -> list[Any]:
    """Read the only study of the sweep."""
    storage = _storage(Path("runs/sweep"))
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
def ran(monkeypatch: pytest.MonkeyPatch) -> Trainings:
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


def test_trials_are_what_optuna_alone_would_choose_and_the_lines_show_the_best(
    ran: Trainings, capsys: pytest.CaptureFixture[str]
) -> None:
    assert again(LR, sweeper__trials=6) == 0
    assert ran.lrs == optuna_alone(ran.score, 6)
    assert [trial.value for trial in trials()] == [ran.score(lr) for lr in ran.lrs]
    assert again(LR, sweeper__trials=6) == 0
    assert len(ran.lrs) == 6, "nothing is trained again"
    printed = capsys.readouterr().out
    assert "6 of 6 jobs done already" in printed
    best = max(ran.lrs, key=ran.score)
    assert f"best so far {ran.score(best):.4f} with optim.lr={best!r}" in printed
    assert again(LR, sweeper__trials=7) == 0
    assert ran.lrs == optuna_alone(ran.score, 7), "more trials go on from there"


def test_a_search_by_the_loss_seeks_the_lowest(
    ran: Trainings, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ran, "score", lambda lr: abs(math.log10(lr) + 3) / 10)
    assert again(LR, sweeper__trials=6, trainer__monitor="loss") == 0
    assert ran.lrs == optuna_alone(ran.score, 6, "minimize")
    assert f"best so far {min(map(ran.score, ran.lrs)):.4f}" in capsys.readouterr().out


@pytest.mark.parametrize(("sampler", "pruner"), [("gp", "hyperband"), ("random", "median")])
def test_every_sampler_and_pruner_finds_other_points(
    sampler: str, pruner: str, ran: Trainings
) -> None:
    assert again(LR, sweeper__trials=4, sweeper__sampler=sampler, sweeper__pruner=pruner) == 0
    assert len(set(ran.lrs)) == 4


@pytest.mark.real  # takes too long for every change
def test_a_search_that_is_cut_goes_on_as_if_nothing_had_happened(
    ran: Trainings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert again(LR, sweeper__trials=6) == 0
    expected, ran.lrs = ran.lrs, []
    ran.fail = {2: KeyboardInterrupt(), 4: KeyboardInterrupt()}
    (tmp_path / "cut").mkdir()
    monkeypatch.chdir(tmp_path / "cut")
    assert again(LR, sweeper__trials=6) == 130
    assert sorted(states(Path())) == ["done", "done", "interrupted"]
    assert again(LR, sweeper__trials=6) == 130
    assert again(LR, sweeper__trials=6) == 0
    # The cut ones are there twice, in a row: they were taken up first of all.
    assert ran.lrs == [*expected[:3], *expected[2:4], *expected[3:]]
    assert states(Path()) == ["done"] * 6
    assert len(trials()) == 6


def test_a_job_that_is_cut_goes_on_before_the_next_point_is_chosen(
    ran: Trainings, capsys: pytest.CaptureFixture[str]
) -> None:
    ran.fail = {3: MemoryError("killed"), 4: MemoryError("killed")}
    assert again(LR, sweeper__trials=5) == 0
    chosen = [*ran.lrs[:3], *ran.lrs[5:]]
    assert ran.lrs[3] == ran.lrs[4] == ran.lrs[5]
    assert chosen == optuna_alone(ran.score, 5)
    assert re.search("OutOfMemoryError: .*; it goes on", capsys.readouterr().out)


def test_a_job_that_is_cut_goes_on_also_in_a_search_that_begins_anew(ran: Trainings) -> None:
    ran.fail = {1: MemoryError("killed")}
    assert again(LR, "run.resume=false", sweeper__trials=3) == 0
    assert ran.lrs[1] == ran.lrs[2]
    assert ran.resumed == [False, False, True, False]


@pytest.mark.real  # takes too long for every change
def test_failures_are_told_counted_and_tried_again_when_asked(
    ran: Trainings, capsys: pytest.CaptureFixture[str]
) -> None:
    full = OSError(28, "No space left on device")
    ran.fail = {1: ValueError("a bug"), 2: full, 3: full, 4: full}
    assert again(LR, sweeper__trials=4) == 2
    assert ran.lrs[2] == ran.lrs[3] == ran.lrs[4] != ran.lrs[5]
    told = [trial.state.name for trial in trials()]
    assert told == ["COMPLETE", "FAIL", "RUNNING", "COMPLETE"]
    assert again(LR, sweeper__trials=4) == 2
    assert ran.lrs[6:] == [ran.lrs[2]], "the machine's failure is tried again, the bug is not"
    assert again(LR, sweeper__trials=4, run__retry="failed") == 0
    assert ran.lrs[7:] == [ran.lrs[1]]
    assert states(Path()) == ["done"] * 4
    assert again(LR, sweeper__trials=4) == 0
    values = {trial.params["optim.lr"] for trial in trials() if trial.value is not None}
    assert len(values) == 4, "the study has learnt of the one that was tried again, too"
    assert "ValueError: a bug" in capsys.readouterr().err


def test_a_pruned_job_is_settled_no_failure_and_has_no_scores(
    ran: Trainings, capsys: pytest.CaptureFixture[str]
) -> None:
    ran.prune = {1}
    assert again(LR, sweeper__trials=3, sweeper__pruner="median") == 0
    assert sorted(states(Path())) == ["done", "done", "pruned"]
    assert "1 pruned" in capsys.readouterr().out
    assert again(LR, sweeper__trials=3, sweeper__pruner="median") == 0
    assert len(ran.lrs) == 3
    assert "2 of 3 jobs done already, 1 pruned" in capsys.readouterr().out
    assert [trial.state.name for trial in trials()].count("PRUNED") == 1
    (job,) = [job for job in jobs_of(Path()) if job.state() == "pruned"]
    assert not job.scores.is_file()
    assert heron("sweep", "runs/sweep") == 0
    assert "3 jobs: 2 done, 1 pruned" in capsys.readouterr().out


def test_without_its_search_s_pruner_a_pruned_job_is_trained_on(ran: Trainings) -> None:
    points, settings = "optim.lr=1e-4,1e-3", {"sweeper__trials": 2, "sweeper__sampler": "random"}
    ran.prune = {0}
    assert again(points, **settings, sweeper__pruner="median") == 0
    assert sorted(states(Path())) == ["done", "pruned"]
    assert again(points, **settings) == 0
    assert ran.lrs[2:] == ran.lrs[:1]
    values = [trial.value for trial in trials() if trial.value is not None]
    assert sorted(values) == sorted(map(ran.score, ran.lrs[:2])), "the study has learnt of it"


@pytest.mark.real  # takes seconds; another test of the file runs with every change
def test_for_a_grid_and_for_another_search_a_pruned_job_is_trained_on(ran: Trainings) -> None:
    ran.prune = {0, 2}
    words = ("optim.lr=1e-4,1e-3", "seed=0")
    assert again(*words, sweeper__trials=2, sweeper__pruner="median") == 0
    assert sorted(states(Path())) == ["done", "pruned"]
    wider = search_of("optim.lr=1e-4,1e-3,1e-2", "seed=0", sweeper__pruner="median")
    (ended,) = [job for job in jobs_of(Path()) if job.state() == "pruned"]
    assert wider.name != read_json(ended.status)["pruned_by"]
    config = first(*words, sweeper__pruner="median").config
    for study, trained in (("another", 3), (None, 4)):
        trial = resolve(config)
        trial.optim.lr = ran.lrs[0]
        trial.sweeper.study, trial.sweeper.trial = study, 0 if study else None
        outcomes = Sweep(Queue([Job(trial, ended, ["seed=0"])]), isolate=False).run()
        assert len(ran.lrs) == trained
        assert [each.state for each in outcomes] == ["pruned" if study else "done"]


def test_a_job_of_a_search_keeps_no_words_of_the_search(ran: Trainings) -> None:
    (trial,) = [each for each in [search_of(LR, sweeper__trials=1).take()] if each]
    assert not [word for word in trial.overrides if word.startswith(("sweeper", "launcher"))]
    assert [word for word in trial.overrides if word.startswith("optim.lr=")]


TOKEN = "hf_" + "a1B2" * 8


def test_a_space_with_a_secret_in_it_is_refused_before_anything_is_written(tmp_path: Path) -> None:
    values = f"logger.project=https://me:{TOKEN}@a.org/b,plain"
    with pytest.raises(ConfigError, match=r"logger\.project: .* holds a secret") as error:
        search_of(values)
    assert TOKEN not in str(error.value)
    assert not list(tmp_path.rglob(JOURNAL))


def test_no_file_of_a_search_holds_a_secret_and_its_journal_is_its_owner_s(
    ran: Trainings, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    ran.fail = {1: ValueError(f"cannot reach https://me:{TOKEN}@a.org")}
    number = iter(range(9))

    def refuse(config: Any) -> Any:
        if next(number) == 2:
            raise ConfigError(f"no such project: https://me:{TOKEN}@a.org")
        return resolve(config)

    monkeypatch.setattr("heron.config.compose.resolve", refuse)
    assert again(LR, sweeper__trials=4, logger__project=f"https://me:{TOKEN}@a.org") == 2
    refused = [trial.user_attrs["refused"] for trial in trials() if "refused" in trial.user_attrs]
    assert refused == ["no such project: https://***@a.org"]
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert len(files) > 10
    assert [path for path in files if TOKEN.encode() in path.read_bytes()] == []
    assert stat.S_IMODE((tmp_path / "runs/sweep" / JOURNAL).stat().st_mode) == 0o600


@pytest.mark.real  # takes too long for every change
def test_a_small_space_ends_with_its_last_point(ran: Trainings) -> None:
    for _ in range(2):
        assert again("optim.lr=1e-4,1e-3", "seed=0,1", sweeper__sampler="random") == 0
        assert len(ran.lrs) == 4
    assert len([trial for trial in trials() if trial.value is not None]) == 4


def test_a_point_that_is_refused_fails_alone(
    ran: Trainings, capsys: pytest.CaptureFixture[str]
) -> None:
    assert again("encoder.scratch.heads=2,3,4", sweeper__sampler="random") == 2
    assert len(ran.lrs) == 2
    error = capsys.readouterr().err
    assert "must be a multiple of encoder.scratch.heads=3" in error
    assert "1 of 3 jobs failed" in error


def test_starting_over_forgets_the_study(ran: Trainings) -> None:
    assert again(LR, sweeper__trials=2) == 0
    composition = first(LR, sweeper__trials=2, sweeper__startup_trials=3, run__resume=False)
    assert run_search(composition, lambda folder: None) == 0
    assert ran.lrs[2:] == ran.lrs[:2]
    assert len(trials()) == 2


def test_a_drawn_sweep_is_the_same_again_and_takes_more() -> None:
    def drawn(*words: str) -> list[list[str]]:
        found = composed("sweeper=random", "seed=0,1", LR, *words)
        keys = ("seed=", "optim.lr=")
        return [[word for word in each.overrides if word.startswith(keys)] for each in found]

    three = drawn("sweeper.trials=3")
    assert len({tuple(words) for words in three}) == 3
    more = drawn("sweeper.trials=5")
    assert more[:3] == three
    assert len(more) == 5
    assert drawn("sweeper.trials=3", "sweeper.seed=1") != three


@pytest.mark.real  # takes too long for every change
def test_two_processes_share_a_study_and_ask_for_different_trials() -> None:
    one = search_of("optim.lr=1e-4,1e-3,1e-2", "seed=0,1", sweeper__trials=5)
    other = pickle.loads(pickle.dumps(one))
    jobs = [each.take() for each in (one, other, one, other, one, other)]
    assert jobs.pop() is None, "five were wanted in all"
    folders = {job.folder.path for job in jobs if job}
    assert len(folders) == 5
    assert {job.folder.path for job in one.known()} == folders
    numbers = [job.config.sweeper.trial for job in jobs if job]
    assert [job.config.sweeper.trial for job in other.known()] == numbers


def test_a_trial_cut_while_it_was_asked_for_changes_no_point(ran: Trainings) -> None:
    search = search_of(LR)
    search._study.ask()
    with open(search.folder / JOURNAL, "a") as journal:
        journal.write('{"op_code": 4, "worker')  # and its last line was cut, too
    assert again(LR, sweeper__trials=5) == 0
    assert ran.lrs == optuna_alone(ran.score, 5)


@pytest.mark.parametrize("cut", [0, 1, 2])
def test_a_kill_while_a_point_is_drawn_again_changes_no_point(
    cut: int, ran: Trainings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In a small space, points are repeated; others are then drawn and wait in the study."""
    space, settings = "optim.lr=1e-5,1e-4,1e-3,1e-2", {"sweeper__sampler": "random"}
    assert again(space, sweeper__trials=4, **settings) == 0
    expected, ran.lrs = ran.lrs, []
    (tmp_path / "cut").mkdir()
    monkeypatch.chdir(tmp_path / "cut")
    if cut:
        assert again(space, sweeper__trials=cut, **settings) == 0
    search = search_of(space, sweeper__trials=4, **settings)
    seed_sampler(search._study, search.settings)
    search._study.ask(distributions(search.composer.space))  # then the process is killed
    assert again(space, sweeper__trials=4, **settings) == 0
    assert ran.lrs == expected


def test_a_trial_that_somebody_interrupts_stays_open() -> None:
    search = search_of(LR)
    job = search.take()
    assert job is not None
    search.ended(Outcome(job, "interrupted"))
    assert [trial.state.name for trial in trials()] == ["RUNNING"]


@pytest.mark.real  # takes seconds; another test of the file runs with every change
def test_half_a_line_in_the_journal_costs_no_process_its_view(ran: Trainings) -> None:
    one = search_of(LR, sweeper__trials=4)
    other = pickle.loads(pickle.dumps(one))
    found = [one.take(), other.take()]
    with open(one.folder / JOURNAL, "a") as journal:
        journal.write('{"op_code": 4, "worker')  # a full disk, while both have it open
    found += [one.take(), other.take()]
    assert one.take() is other.take() is None
    folders = {job.folder.path for job in found if job}
    assert len(folders) == 4
    for search in (one, other, search_of(LR, sweeper__trials=4)):
        assert {job.folder.path for job in search.known()} == folders


def test_a_line_of_the_journal_that_cannot_be_read_is_passed_over(ran: Trainings) -> None:
    one = search_of(LR, sweeper__trials=3)
    one.take()
    with open(one.folder / JOURNAL, "a") as journal:
        journal.write('{"op_code": 4, "wor{"op_code": 4, "worker_id": "x"}\n7\n')
    one.take()
    assert len(search_of(LR, sweeper__trials=3).known()) == len(one.known()) == 2
    assert again(LR, sweeper__trials=3) == 0
    assert len(ran.lrs) == 3


def test_a_full_disk_leaves_the_journal_as_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    journal = Journal(tmp_path / JOURNAL)
    journal.append_logs([{"op_code": 1}])

    def full(number: int) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr("os.fsync", full)
        with pytest.raises(OSError, match="No space left"):
            journal.append_logs([{"op_code": 2}])
    assert list(journal.read_logs(0)) == [{"op_code": 1}]
    journal.append_logs([{"op_code": 3}, {"op_code": 4}])
    assert list(journal.read_logs(1)) == [{"op_code": 3}, {"op_code": 4}]
    assert list(Journal(tmp_path / JOURNAL).read_logs(2)) == [{"op_code": 4}]


def test_another_space_or_another_setting_is_another_search() -> None:
    names = [
        search_of(LR).name,
        search_of(LR, sweeper__trials=3, sweeper__pruner="median").name,
        search_of(LR, trainer__max_epochs=9).name,
        search_of(LR, "seed=0,1").name,
        search_of("optim.lr=tag(log,interval(1e-5,1e-2))").name,
    ]
    assert names[0] == names[1]
    assert len(set(names)) == 4


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("optim.lr=interval(0,1)",), "a grid needs single values"),
        (("sweeper=random",), "sweeper=random has nothing to choose from"),
        (("sweeper=optuna",), "sweeper=optuna has nothing to choose from"),
        (("sweeper=random", "seed=1,2", "sweeper.trials=0"), "sweeper.trials=0: "),
        (("sweeper=optuna", "experiment=demo,null"), "one experiment at a time"),
        (("sweeper=optun", "seed=1,2"), "Did you mean 'optuna'"),
        (("sweeper.trials=2", "seed=1,2"), "sweeper.trials does nothing under sweeper=grid"),
        (("sweeper=random", "sweeper.pruner=median", "seed=1,2"), "nothing under sweeper=random"),
        (("launcher.workers=2", "seed=1,2"), "launcher.workers needs launcher=slurm, ray or"),
    ],
)
def test_what_cannot_be_searched_is_refused(words: tuple[str, ...], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        composed(*words)


def test_what_trials_are_compared_by_cannot_be_searched() -> None:
    with pytest.raises(ConfigError, match="a search compares its trials by one score"):
        search_of("trainer.monitor=loss,macro_f1")
    with pytest.raises(ConfigError, match="a search compares its trials on the same rows"):
        search_of(LR, "data.folds.count=3", "data.folds.fold=0,1,2")


def test_trials_of_one_folder_are_refused() -> None:
    with pytest.raises(ConfigError, match=r"run.job=best names one folder for all trials"):
        search_of(LR, run__job="best")


def test_a_missing_library_is_named_with_the_command_that_installs_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(ConfigError, match=r"sweeper=optuna needs.*pip install optuna=="):
        again(LR)


@pytest.mark.slow
@pytest.mark.real  # a minute of whole trainings: `make test-real` has the time
def test_a_real_search_prunes_is_killed_and_loses_nothing(tmp_path: Path) -> None:
    words = (
        LR, "sweeper=optuna", "sweeper.trials=5", "sweeper.startup_trials=1", "sweeper.seed=1",
        "sweeper.pruner=median", "trainer.max_epochs=4", "trainer.checkpoint_steps=3",
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
