"""Notebooks run, what they store is current and fit for the web, what their prose names exists."""

from __future__ import annotations

import ast
import base64
import json
import os
import pydoc
import re
import subprocess
import sys
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from heron.base.folders import conf_dirs
from heron.base.run_folder import RunFolder
from heron.commands import COMMANDS
from heron.config.constraints import all_keys, choices, key_types

REPO = Path(__file__).parents[2]
SOURCE = REPO / "src" / "heron"
RUNNER = REPO / "tests" / "helpers" / "run_notebook.py"
NOTEBOOKS = sorted((REPO / "notebooks").glob("*.ipynb"))
LARGEST_PICTURE = 60_000  # bytes
LONGEST = 24  # cells: short is the point

every_notebook = pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
# Folders of people and systems, Windows drives, and where this copy of heron lies.
MACHINE_PATH = re.compile(
    rf"(?<![\w.])/(?:home|root|Users|tmp|var|opt|usr|mnt|srv)/|site-packages|\b[A-Z]:\\|{re.escape(str(REPO))}"
)
NUMBER = re.compile(r"[-+]?\d[\d.,]*(?:e[-+]?\d+)?")
NOT_OURS = {"pandas.read_parquet", "HERON_DATA"}


@cache
def read(path: Path) -> dict[str, Any]:
    return json.loads(path.read_text(encoding="utf-8"))


def cells(path: Path, kind: str) -> list[tuple[int, dict[str, Any]]]:
    """List the cells of a kind with their numbers, as a reader counts them."""
    numbered = enumerate(read(path)["cells"], 1)
    return [(number, cell) for number, cell in numbered if cell["cell_type"] == kind]


def execute(
    path: Path, folder: Path, **variables: str
) -> tuple[subprocess.CompletedProcess[str], Path]:
    """Run a notebook in a fresh process, with these environment variables and no other of heron."""
    environment = {name: value for name, value in os.environ.items() if "HERON_" not in name}
    environment |= variables
    out = folder / "printed.json"
    command = [sys.executable, str(RUNNER), str(path), str(out)]
    done = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, timeout=600
    )
    return done, out


def masked(text: str) -> list[str]:
    """Split into lines; numbers and spaces may differ from one machine to the next."""
    lines = (" ".join(NUMBER.sub("#", line).split()) for line in text.splitlines())
    return [line.replace("[ ", "[") for line in lines if line]


def stored(cell: dict[str, Any]) -> str:
    """Join what a cell has printed when the notebook was saved."""
    outputs = [out for out in cell["outputs"] if out.get("name") == "stdout"]
    return "".join("".join(out["text"]) for out in outputs)


def test_there_are_the_notebooks_that_the_readme_lists():
    listed = re.findall(r"\]\((\w+)\.ipynb\)", (REPO / "notebooks/README.md").read_text())
    assert sorted(listed) == [path.stem for path in NOTEBOOKS]


@every_notebook
def test_a_notebook_opens_with_what_the_reader_will_be_able_to_do(path):
    title, opening, *_ = prose_of(path).split("\n\n")
    assert title.startswith("# ")
    assert opening == "After this notebook you can"
    assert len(re.findall("^- ", prose_of(path).split("\n\n")[2], flags=re.MULTILINE)) >= 3


@every_notebook
@pytest.mark.real  # takes seconds each
def test_every_cell_runs_and_still_prints_what_is_stored(path, tmp_path):
    done, out = execute(path, tmp_path)
    assert done.returncode == 0, done.stderr
    printed = json.loads(out.read_text(encoding="utf-8"))
    for number, cell in cells(path, "code"):
        now = masked(printed[str(number)])
        missing = [line for line in masked(stored(cell)) if line not in now]
        assert not missing, f"{path.name}: cell {number} no longer prints {missing}: {now}"
    assert sorted(file.name for file in tmp_path.iterdir()) == ["printed.json"]


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("audit_a_data_set", "ronli"),
        ("data_map", "trc"),
        ("look_at_a_run", "trc"),
        ("reproduce_a_table", "trc"),
    ],
)
@pytest.mark.real
@pytest.mark.skipif("HERON_DATA" not in os.environ, reason="HERON_DATA is not set: no papers' data")
def test_one_variable_runs_a_notebook_on_real_data(name, data, tmp_path):
    content = read(REPO / "notebooks" / f"{name}.ipynb")
    text, changed = re.subn(r'DATA = \\"\w+\\"', rf'DATA = \\"{data}\\"', json.dumps(content))
    assert changed == 1
    path = tmp_path / f"{name}.ipynb"
    path.write_text(text, encoding="utf-8")
    done, out = execute(path, tmp_path, HERON_DATA=os.environ["HERON_DATA"])
    assert done.returncode == 0, done.stderr
    assert out.is_file()


PAGES = [*NOTEBOOKS, *sorted(REPO.glob("*.md")), *sorted((REPO / "docs").rglob("*.md"))]


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.name)
def test_what_notebooks_and_pages_import_exists(path):
    text = path.read_text(encoding="utf-8").replace(r"\n", "\n")
    for module, names in re.findall(r"from (heron[\w.]*) import ([^\n#\"]+)", text):
        for name in names.strip("() ").split(", "):
            own = name.split(" as ")[0]
            assert hasattr(import_module(module), own), f"{path.name}: {module}.{own}"


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.name)
def test_what_pages_name_exists(path):
    if path.name == "CHANGELOG.md":
        return  # names of earlier versions
    for place in re.findall(r"`(heron(?:\.\w+)+)", path.read_text(encoding="utf-8")):
        if place != "heron.forks":  # a group of entry points
            assert pydoc.locate(place), f"{path.name}: {place}"


@every_notebook
def test_notebooks_are_stored_as_run_from_top_to_bottom(path):
    code = cells(path, "code")
    assert [cell["execution_count"] for _, cell in code] == list(range(1, len(code) + 1))
    assert len(read(path)["cells"]) <= LONGEST
    shown = sum(bool(cell["outputs"]) for _, cell in code)
    assert shown >= len(code) - 2  # imports, and writing a file, show nothing


@every_notebook
def test_stored_outputs_hold_no_error_and_no_warning(path):
    for number, cell in cells(path, "code"):
        for output in cell["outputs"]:
            assert output["output_type"] != "error", f"cell {number}"
            assert output.get("name") != "stderr", f"cell {number}: {output['text']}"
            assert "Warning:" not in json.dumps(output), f"cell {number}"


@every_notebook
def test_stored_notebooks_name_no_place_on_a_machine(path):
    text = json.dumps(read(path), ensure_ascii=False)
    assert not (found := MACHINE_PATH.search(text)), text[max(0, found.start() - 60) :][:120]


@every_notebook
def test_pictures_are_small_png(path):
    for number, cell in cells(path, "code"):
        for output in cell["outputs"]:
            for kind, data in output.get("data", {}).items():
                if kind.startswith("image/"):
                    picture = base64.b64decode("".join(data))
                    assert kind == "image/png", f"cell {number}"
                    assert picture[:4] == b"\x89PNG"
                    assert len(picture) < LARGEST_PICTURE, f"cell {number}: {len(picture):,} bytes"


@cache
def names_in_source() -> frozenset[str]:
    """List what heron's source defines: functions, classes, fields; and values of settings."""
    found = {name for hint in key_types().values() for name in choices(hint)}
    for file in (*SOURCE.rglob("*.py"), *(SOURCE.parent / "heron_tools").rglob("*.py")):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef | ast.ClassDef):
                found.add(node.name)
            elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
                found.add(node.target.id)
    return frozenset(found)


@cache
def places_in_a_run() -> frozenset[str]:
    folder = RunFolder(Path("run"))
    values = [getattr(folder, name) for name in vars(RunFolder)]
    paths = [value for value in values if isinstance(value, Path)]
    paths += [folder.predictions("test"), folder.dynamics(0)]
    return frozenset(str(path.relative_to("run")) for path in paths)


def unknown_command(words: list[str]) -> str | None:
    """Say what is wrong with a command in prose; None if nothing is."""
    name, *rest = words
    if name not in COMMANDS:
        return name
    keys = [word.partition("=")[0] for word in rest if "=" in word]
    text = COMMANDS[name].help.read_text("utf-8")
    return next((key for key in keys if f"{key}=" not in text), None)


def is_known(name: str) -> bool:
    """Tell whether something in code font names what heron has."""
    if name.startswith("heron "):
        return unknown_command(name.split()[1:]) is None
    if "/" in name or Path(name).suffix in (".py", ".yaml", ".json", ".md", ".ipynb"):
        return name in places_in_a_run() or any(
            (root / name).exists() for root in (REPO, SOURCE, SOURCE.parent / "heron_tools")
        )
    options = {file.stem for conf in conf_dirs() for file in conf.rglob("*.yaml")}
    return name in {*names_in_source(), *options, *all_keys(), *NOT_OURS}


def prose_of(path: Path) -> str:
    if path.suffix == ".md":
        return path.read_text(encoding="utf-8")
    return "\n\n".join("".join(cell["source"]) for _, cell in cells(path, "markdown"))


def in_code_font(text: str) -> list[str]:
    return re.findall(r"`([^`\n]+)`", re.sub(r"```.*?```", "", text, flags=re.DOTALL))


@every_notebook
def test_every_name_and_file_in_the_prose_exists(path):
    named = in_code_font(prose_of(path))
    assert len(named) > 5
    run = "".join("".join(cell["source"]) for _, cell in cells(path, "code"))  # so it exists
    assert [name for name in named if not is_known(name) and name not in run] == []


@every_notebook
def test_the_files_that_a_notebook_links_to_exist(path):
    links = re.findall(r"\]\(([^)#]+)\)", prose_of(path))
    assert [link for link in links if "://" not in link and not (path.parent / link).exists()] == []
