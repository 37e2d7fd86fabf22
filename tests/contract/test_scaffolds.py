"""`heron new`: each kind is written into an empty folder, and then used as it is."""

import csv
import json
import random
import re
import subprocess
import sys

import pytest
from sklearn.metrics import balanced_accuracy_score

from heron.base.files import read_yaml
from heron.base.folders import conf_dir
from heron.base.tables import read_table
from heron.commands.scaffolds import KINDS
from heron.data.config import read_config
from small_forks import ENVIRONMENT, SMALL, commands_in

NAMES = {kind: f"mine_{kind}" for kind in KINDS} | {"language": "is"}  # also a word of Python
WORDS = {"contradiction": "no", "entailment": "yes", "neutral": "maybe"}  # of a data set
TASKS = ("classification", "nli", "qa", "relation", "summarization")


def files_in(folder):
    """List the files of fork and tests."""
    found = [*folder.glob("experiments/**/*.*"), *folder.glob("tests/**/*.*")]
    return sorted(path for path in found if path.suffix in (".py", ".yaml"))


def write_table(path, header, rows):
    """Write a CSV file; returns its path."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([header, *rows])
    return path


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """Make a working directory with an empty place for forks."""
    folder = tmp_path_factory.mktemp("work")
    (folder / "experiments").mkdir()
    return folder


@pytest.fixture(scope="module")
def said(place):
    """Write every kind into one fork; returns what was printed for each."""
    with commands_in(place) as run:
        return {kind: run("new", kind, name, "fork=tried") for kind, name in NAMES.items()}


@pytest.fixture(scope="module")
def heron(said, place):
    """Run commands with what was written, in another process: one imports a fork once."""
    with commands_in(place) as run:
        yield run


@pytest.fixture(scope="module")
def run(heron, place):
    """Train with every part but task and experiment at once; returns the folder."""
    draw = random.Random(0)
    folder = place / "data" / NAMES["dataset"]
    for split, size in (("train", 60), ("test", 15)):
        rows = [
            (f"{split}-{row}", f"{draw.random()}", f"{word} {row}", label)
            for row in range(size)
            for label, word in [draw.choice(list(WORDS.items()))]
        ]
        write_table(folder / f"{split}.csv", ("guid", "premise", "hypothesis", "label"), rows)
    chosen = [f"{kind}={NAMES[kind]}" for kind in ("head", "curriculum")]
    chosen += [f"batching={NAMES['plan']}", f"data={NAMES['dataset']}"]
    chosen += [f"data.language={NAMES['language']}"]
    heron("train", *SMALL, *chosen, f"task.metrics=[{NAMES['metric']}]", "run.job=all")
    (found,) = (place / "runs").glob("*/all")
    return found


def test_what_is_printed_is_what_was_written_and_what_to_type_next(said, place):
    written = set()
    for text in said.values():
        files, _, commands = text.partition("\n\n")
        written |= {line.strip() for line in files.splitlines()}
        assert re.search(
            r"^  python -m pytest tests/unit/experiments/tried/test_\w+\.py$", text, re.M
        )
        assert "\n  heron " in commands
    assert written == {str(path.relative_to(place)) for path in files_in(place)}


def test_no_name_of_a_page_is_left_in_what_was_written(said, place):
    # "first" is also a word of plain texts.
    names = {"village", *(kind.example for kind in KINDS.values())} - {"first"}
    left = re.compile(rf"(?<![^\W_])({'|'.join(names)})(?![^\W_])", re.I)
    for path in files_in(place):
        assert not left.search(path.read_text(encoding="utf-8")), path


@pytest.mark.real  # takes seconds; another test of the file runs with every change
def test_head_curriculum_plan_metric_language_and_data_set_train_together(run):
    stored = read_table(run / "predictions" / "test.parquet")
    wanted = balanced_accuracy_score(stored.values("gold"), stored.values("prediction"))
    scores = json.loads((run / "scores.json").read_text())["test"]
    assert scores[NAMES["metric"]] == pytest.approx(wanted)
    config = read_yaml(run / "config.yaml")
    assert config["head"]["pooling"] == NAMES["head"]
    assert config["curriculum"]["difficulty"] == NAMES["curriculum"]
    assert config["batching"]["plan"] == NAMES["plan"]
    assert config["data"]["language"] == NAMES["language"]


@pytest.mark.real  # takes seconds; another test of the file runs with every change
def test_the_task_trains_on_its_data(heron, place):
    data = [f"data={NAMES['task']}_news", "data.label_order=[a,b,c]"]
    for split, size in (("train", 48), ("test", 12)):
        rows = [
            (f"{split}-{n}", f"{split} {n}", f"Body {n % 3}", "abc"[n % 3]) for n in range(size)
        ]
        path = write_table(place / f"{split}.csv", ("guid", "headline", "body", "label"), rows)
        data.append(f"data.files.{split}.path={path}")
    heron("train", *SMALL, *data, "run.job=task", "run.isolate=false")
    (found,) = (place / "runs").glob("*/task")
    assert "accuracy" in json.loads((found / "scores.json").read_text())["test"]


@pytest.mark.real  # takes seconds; another test of the file runs with every change
def test_the_experiment_runs_its_grid(heron, place):
    words = ("data.generator.size=100", "run.sweep=grid", "run.isolate=false", "seed=0")
    heron("train", f"experiment=tried/{NAMES['experiment']}", *SMALL, *words, "head=ess")
    assert len(list((place / "runs" / "grid").glob("*/scores.json"))) == 1


@pytest.mark.real  # takes seconds; another test of the file runs with every change
def test_the_tests_that_are_written_pass(heron):
    # Plugins such as Hypothesis take longer to load than these tests.
    done = heron(
        "pytest", "-q", "-s", "-p", "no:cacheprovider", "--disable-plugin-autoload", "tests"
    )
    assert f"{len(KINDS) + 1} passed" in done  # a data set has two


@pytest.mark.slow
@pytest.mark.real  # slow: the others hold what is written in every run
def test_the_contract_tests_of_configurations_accept_it(said, place):
    fork = place / "experiments" / "tried"
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-k", "mine_"]
    done = subprocess.run(
        [*command, "tests/contract/test_configs.py"],
        cwd=conf_dir().parent,
        env={**ENVIRONMENT, "HERON_FORKS": str(fork)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout
    (found,) = re.findall(r"(\d+) passed", done.stdout)
    assert int(found) > len(list(fork.rglob("conf/**/*.yaml")))  # each has one of its own at least


@pytest.mark.parametrize("task", TASKS)
def test_a_data_set_of_any_task_is_described_whole(task, heron, place):
    name = f"rows_of_{task}"
    heron("new", "dataset", name, "fork=tried", f"task={task}")
    config = read_config(place / "experiments" / "tried" / "conf" / "data" / f"{name}.yaml")
    assert (config.name, config.task) == (name, task)
    assert config.licence
    assert config.citation
    assert config.files["train"].path == f"{name}/train.csv"


@pytest.mark.real  # takes seconds in processes of their own
def test_a_head_reads_what_its_task_has(tmp_path):
    named = {"classification": "text", "nli": "mlp3", "relation": "ess"}
    commands = {}
    with commands_in(tmp_path) as run:
        for task in named:
            said = run("new", "head", f"head_of_{task}", "fork=tried", f"task={task}")
            commands[task] = re.findall(r"heron train -m (data=\w+) head=(\w+),(\w+)", said)[0]
    rows = [(f"text {n}", "ab"[n % 2]) for n in range(20)]
    own = write_table(tmp_path / "train.csv", ("text", "label"), rows)
    with commands_in(tmp_path) as run:
        for task, (data, head, other) in commands.items():
            files = [f"data.files.train.path={own}"] if data.startswith("data=own") else []
            run("train", *SMALL, data, f"head={head}", *files, "trainer.fast_dev_run=true")
            assert other == named[task]
        run("new", "head", "other", "task=qa", wanted=2)


@pytest.mark.real  # takes seconds in processes of their own
def test_outside_a_clone_the_first_step_names_the_fork_and_its_test_needs_it(tmp_path):
    environment = {name: value for name, value in ENVIRONMENT.items() if name != "HERON_FORKS"}
    new = [sys.executable, "-m", "heron", "new", "language", "is", "fork=tried"]
    options = {"cwd": tmp_path, "capture_output": True, "text": True, "check": False}
    said = subprocess.run(new, env=environment, **options).stdout
    (named,) = re.findall(r"Then:\n  export HERON_FORKS=(\S+)\n", said)
    test = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "tests"]
    assert subprocess.run(test, env=environment, **options).returncode == 1
    assert (
        subprocess.run(test, env={**environment, "HERON_FORKS": named}, **options).returncode == 0
    )


def test_nothing_is_overwritten(heron, place):
    path = place / "tests" / "unit" / "experiments" / "tried" / "test_head_later.py"
    path.write_text("mine", encoding="utf-8")
    assert f"{path.name}: exists already" in heron("new", "head", "later", "fork=tried", wanted=2)
    assert path.read_text(encoding="utf-8") == "mine"
    assert not (place / "experiments" / "tried" / "head_later.py").exists()
    path.unlink()
    start = (place / "experiments" / "tried" / "__init__.py").read_text(encoding="utf-8")
    heron("new", "head", "later", "fork=tried")
    after = (place / "experiments" / "tried" / "__init__.py").read_text(encoding="utf-8")
    assert after == start + "from . import head_later\n"


def test_every_kind_has_a_page_with_a_test(said):
    for kind in KINDS:
        page = conf_dir().parent / "experiments" / "adding" / f"{kind}.md"
        assert f"`heron new {kind} {KINDS[kind].example} fork=village" in page.read_text("utf-8")


@pytest.mark.real  # takes seconds in processes of their own
def test_a_task_may_begin_as_a_copy_of_a_fork_with_tensors_of_its_own(tmp_path):
    with commands_in(tmp_path) as run:
        run("new", "task", "chunks", "fork=mine", "like=tagger")
    rows = [("mr ann bee", "O B-PER E-PER"), ("in oslo", "O S-GPE")] * 10
    for split in ("train", "test"):
        write_table(tmp_path / "data" / "chunks" / f"{split}.csv", ("words", "tags"), rows)
    with commands_in(tmp_path) as run:
        run("train", *SMALL, "data=chunks_own", "data.language=en", "run.job=all")
        run("new", "task", "other", "like=absent", wanted=2)
    (found,) = (tmp_path / "runs").glob("*/all/scores.json")
    assert "f1/PER" in json.loads(found.read_text(encoding="utf-8"))["test"]
