"""The house: what a run loads, what names a task, and what README asks a reader to read."""

import ast
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import heron
from heron.base.registry import load
from heron.data import TASKS

SOURCE = Path(heron.__file__).parent
README = SOURCE.parents[1] / "README.md"

# Prints the file of every module of heron that a command has loaded.
LOADED = """
import sys
from heron.cli import main
try:
    main(sys.argv[1:])
except SystemExit as ended:
    assert not ended.code, ended.code
for name, module in sys.modules.items():
    if name.partition(".")[0] in ("heron", "heron_forks") and getattr(module, "__file__", None):
        print("loaded", name, module.__file__, sep="\\t")
print("torch" if "torch" in sys.modules else "no torch")
"""
RUN = (
    "train",
    "data.generator.size=100",
    "trainer.max_epochs=1",
    "trainer.accelerator=cpu",
    "task.bootstrap=0",
    "seed=0",
)


def loaded_by(*words):
    command = [sys.executable, "-c", LOADED, *words]
    printed = subprocess.run(
        command, capture_output=True, text=True, check=True, timeout=600
    ).stdout
    files = dict(line.split("\t")[1:] for line in printed.splitlines() if line[:7] == "loaded\t")
    return files, "no torch" not in printed


def lines_of(file):
    return len(Path(file).read_text(encoding="utf-8").splitlines())


def test_a_plain_relation_run_loads_what_it_needs_and_little_else(tmp_path):
    files, _ = loaded_by(*RUN, f"paths.runs={tmp_path}", f"paths.cache={tmp_path}/cache")
    lines = sum(map(lines_of, files.values()))
    print(f"a plain relation run loads {len(files)} modules of heron, {lines} lines")
    others = [name for task in TASKS for name in files if name.startswith(f"heron.tasks.{task}.")]
    assert {name.split(".")[2] for name in others} == {"relation"}
    assert not [
        name for name in files if name.startswith(("heron_forks.", "heron.commands.scaffold"))
    ]
    assert len(files) <= 93
    assert lines <= 13_579


def test_help_loads_no_torch():
    files, with_torch = loaded_by("train", "--help")
    assert not with_torch
    assert not any(name.startswith(("heron.models", "heron.training")) for name in files)


def names_a_task(node):
    """Tell whether a comparison compares with a task's name, or with a list of such names."""
    compared = [node.left, *node.comparators] if isinstance(node, ast.Compare) else []
    parts = [part for each in compared for part in getattr(each, "elts", [each])]
    return any(isinstance(part, ast.Constant) and part.value in TASKS for part in parts)


def test_shared_code_asks_the_task_and_not_which_task_it_is():
    found = [
        f"{file.relative_to(SOURCE)}:{node.lineno}"
        for file in sorted(SOURCE.rglob("*.py"))
        if "tasks" not in file.relative_to(SOURCE).parts[:1]
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8")))
        if names_a_task(node)
    ]
    print("\n".join(found))
    assert not found


def test_the_path_that_readme_asks_a_reader_to_read_is_short():
    text = README.read_text(encoding="utf-8")
    path = text.partition("To follow one example")[2].partition("in this order: ")[2]
    path = path.partition(". ")[0]
    files = re.findall(r"`([\w/]+\.py)`", path)
    lines = sum(lines_of(SOURCE / file) for file in files)
    print(f"one example from file to prediction: {len(files)} files, {lines} lines")
    assert files
    assert len(files) <= 93
    assert lines <= 13_579


def is_defined(place):
    """Tell whether `module:name` names what a module of heron defines, without importing it."""
    module, name = place.split(":")
    file = SOURCE.parent / module.replace(".", "/")
    file = file / "__init__.py" if file.is_dir() else file.with_suffix(".py")
    tree = ast.parse(file.read_text(encoding="utf-8")) if file.is_file() else ast.Module([], [])
    made = [node for node in tree.body if hasattr(node, "name")]
    stored = [
        node
        for statement in tree.body
        if isinstance(statement, ast.Assign | ast.AnnAssign)
        for node in ast.walk(statement)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    ]
    return name in [*(node.name for node in made), *(node.id for node in stored)]


@pytest.fixture(scope="module")
def places():
    """List what is imported on demand."""
    found = {
        place
        for file in SOURCE.rglob("*.py")
        for place in re.findall(r'"(heron\.[\w.]+:\w+)"', file.read_text(encoding="utf-8"))
    }
    assert found
    return sorted(found)


def test_every_entry_that_is_imported_on_demand_is_defined(places):
    assert not [place for place in places if not is_defined(place)]


@pytest.mark.real  # takes seconds; the test above looks them up with every change
def test_every_entry_that_is_imported_on_demand_exists(places):
    missing = []
    for place in places:
        try:
            load(place)
        except (ImportError, AttributeError) as error:
            missing.append(f"{place}: {error}")
    assert not missing


TOOLS = sorted(path.parent.name for path in (SOURCE.parent / "heron_tools").glob("*/__init__.py"))


@pytest.mark.parametrize(
    "deleted",
    [TOOLS, *(pytest.param([tool], marks=pytest.mark.real) for tool in TOOLS)],
    ids=["all", *TOOLS],
)
def test_a_tool_whose_folder_is_deleted_leaves_training_sweeps_and_reports(deleted, tmp_path):
    folder = tmp_path / "src"
    (folder / "heron_tools").mkdir(parents=True)
    for left in [*SOURCE.parent.iterdir(), *(SOURCE.parent / "heron_tools").iterdir()]:
        if left.name != "heron_tools" and left.name not in deleted:
            (folder / left.relative_to(SOURCE.parent)).symlink_to(left)
    environment = {**os.environ, "PYTHONPATH": str(folder)}

    def heron(*words):
        command = [sys.executable, "-m", "heron", *words]
        done = subprocess.run(
            command, env=environment, cwd=tmp_path, capture_output=True, text=True
        )
        assert done.returncode == 0, done.stderr
        assert "left out" not in done.stderr
        return done.stdout

    named = [line.split()[0] for line in heron("--help").splitlines() if line.startswith("  ")]
    assert not {"audit", "prompt", "analyze"} & {*named} if deleted == TOOLS else "train" in named
    heron(*RUN, "-m", "seed=0,1", "run.isolate=false", "run.sweep=left", "run.export=false")
    assert "runs/left/report.html" in heron("report", "runs/left")
    assert "head.hidden" in heron("options", "head")
