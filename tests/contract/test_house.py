"""The house: what a run loads, what names a task, and what README asks a reader to read."""

import ast
import json
import re
import shutil
from pathlib import Path

import pytest

import heron
from heron.data import TASKS
from small_forks import commands_in

SOURCE = Path(heron.__file__).parent
TOOLS = sorted(path.parent.name for path in (SOURCE.parent / "heron_tools").glob("*/__init__.py"))
ROOT = SOURCE.parents[1]
PAPERS = sorted(path.parent.name for path in ROOT.glob("experiments/*/published.yaml"))
PAGE = ROOT / "docs" / "architecture.md"
RUN = (
    "train",
    "data.generator.size=100",
    "trainer.max_epochs=1",
    "trainer.accelerator=cpu",
    "task.bootstrap=0",
)


@pytest.mark.parametrize(
    "deleted",
    [TOOLS + PAPERS, *([name] for name in TOOLS + PAPERS)],
    ids=["all", *TOOLS, *PAPERS],
)
@pytest.mark.real
def test_without_a_tool_or_paper_or_all_a_run_loads_what_it_needs_and_sweeps_and_reports_work(
    deleted, tmp_path
):
    for part in ("conf", "src", "experiments"):
        shutil.copytree(ROOT / part, tmp_path / part, symlinks=True)
    for name in deleted:
        shutil.rmtree(tmp_path / ("experiments" if name in PAPERS else "src/heron_tools") / name)
    with commands_in(tmp_path, PYTHONPATH=str(tmp_path / "src")) as heron:
        heron(*RUN, "seed=0")
        files = json.loads(heron("loaded"))
        commands = listed(heron("--help"))
        sweep = heron(*RUN, "-m", "seed=1,2", "run.sweep=s", "run.export=false", "protocol=paper")
        assert "left out" not in sweep
        assert "train" in commands
        if deleted == TOOLS + PAPERS:
            assert not {"audit", "prompt", "analyze"} & commands
        assert "runs/s/report.html" in heron("report", "runs/s")
        assert "head.hidden" in heron("options", "head")
        experiments = heron("options", "experiment")
        for paper in PAPERS:
            assert (f"{paper}/" in experiments) == (paper not in deleted)
    of_tasks = {name.split(".")[2] for name in files if name.startswith("heron.tasks.")}
    assert of_tasks & {*TASKS} == {"relation"}
    assert not [name for name in files if name.startswith(("heron_", "heron.commands.scaffold"))]


def listed(helped):
    """List the commands in what `heron --help` prints."""
    lines = [line[2:] for line in helped.splitlines() if line.startswith(("  ", "* "))]
    return {re.split("  +", line)[0] for line in lines}


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


def test_the_path_that_a_reader_is_asked_to_follow_has_nine_files():
    path = PAGE.read_text(encoding="utf-8").partition("Nine files, from top to bottom: ")[2]
    files = re.findall(r"`([\w/]+\.py)`", path.partition(". ")[0])
    assert len(files) == 9
    assert [file for file in files if not (SOURCE / file).is_file()] == []
