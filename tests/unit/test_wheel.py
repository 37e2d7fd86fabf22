"""The wheel holds all that heron reads, and finds it from any folder."""

import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from heron.base.folders import conf_dir

ROOT = conf_dir().parent
LEFT_OUT = shutil.ignore_patterns("__pycache__", "*.egg-info")


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    """Build the wheel from a copy of the repository, and unpack it; returns its folder."""
    source = tmp_path_factory.mktemp("source")
    for name in ("conf", "experiments", "src"):
        shutil.copytree(ROOT / name, source / name, symlinks=True, ignore=LEFT_OUT)
    for name in ("pyproject.toml", "requirements.txt", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, source)
    build = "from setuptools.build_meta import build_wheel; build_wheel('dist')"
    command = [sys.executable, "-c", build]
    said = subprocess.run(command, cwd=source, check=True, capture_output=True, text=True)
    assert "absent from" not in said.stdout + said.stderr
    (path,) = (source / "dist").glob("*.whl")
    folder = tmp_path_factory.mktemp("unpacked")
    with zipfile.ZipFile(path) as archive:
        archive.extractall(folder)
    return folder


def installed(wheel, cwd, *words):
    """Run Python in a folder with nothing but the unpacked wheel to import heron from."""
    environment = {k: v for k, v in os.environ.items() if not k.startswith("HERON_")}
    found = subprocess.run(
        [sys.executable, *words],
        cwd=cwd,
        env={**environment, "PYTHONPATH": str(wheel), "HERON_FORKS": "experiments"},
        capture_output=True,
        text=True,
    )
    assert found.returncode == 0, found.stderr
    return found.stdout


def files(folder, *patterns):
    return {path.relative_to(folder) for pattern in patterns for path in folder.rglob(pattern)}


def test_the_wheel_holds_everything_that_heron_reads(wheel):
    assert files(wheel / "heron" / "conf", "*.yaml") == files(ROOT / "conf", "*.yaml")
    experiments = Path("heron", "experiments")
    texts = ("*.yaml", "*.txt", "templates/*", "adding/*.md")
    assert files(wheel / experiments, *texts) == files(ROOT / "experiments", *texts)
    own, tools = Path("heron"), Path("heron_tools")
    assert files(wheel / tools, *texts) == files(ROOT / "src" / tools, *texts)
    assert files(wheel / tools, "*.py") == files(ROOT / "src" / tools, "*.py")
    for folder in (own / "reports" / "templates", own / "commands" / "help"):
        assert files(wheel / folder, "*") == files(ROOT / "src" / folder, "*")
    modules = files(ROOT / "src" / "heron", "*.py")
    modules |= {Path("experiments", path) for path in files(ROOT / "experiments", "*.py")}
    assert files(wheel / "heron", "*.py") == modules


def test_the_wheel_asks_for_what_heron_runs_on_and_for_no_tool_of_its_development(wheel):
    (metadata,) = wheel.glob("heron_nlu-*.dist-info/METADATA")
    lines = [line for line in metadata.read_text().splitlines() if line.startswith("Requires-Dist")]
    always = {line.split()[1] for line in lines if "extra ==" not in line}
    pinned = (ROOT / "requirements.txt").read_text().split("\n")
    assert always == {line for line in pinned if line and line[0] != "#"}
    assert not [line for line in always if line.startswith(("pytest", "ruff", "mypy"))]


def test_an_installed_heron_finds_its_configuration_and_the_forks_that_are_named(wheel, tmp_path):
    fork = tmp_path / "experiments" / "village" / "conf" / "data" / "village_news.yaml"
    fork.parent.mkdir(parents=True)
    fork.write_text("")
    code = (
        "from heron.base.folders import conf_dir, data_sets; print(conf_dir());"
        "from heron_tools.reproduction.published import find_published as find;"
        "print(find('trc/table4'));"
        "print(*data_sets());"
        "from heron.tasks import FORK_ANALYSES; print(*FORK_ANALYSES)"
    )
    conf, published, names, added = installed(wheel, tmp_path, "-c", code).splitlines()
    assert conf == str(wheel / "heron" / "conf")
    assert published == str(wheel / "heron" / "experiments" / "trc" / "published.yaml")
    assert {"chronicle", "trc", "village_news"} <= set(names.split())
    assert {"score_sheet", "published_statistics"} <= set(added.split())
    said = installed(wheel, tmp_path, "-m", "heron", "new", "head", "mine", "fork=village")
    assert "experiments/village/conf/head/mine.yaml" in said
    assert (tmp_path / "experiments" / "village" / "head_mine.py").is_file()


@pytest.mark.real  # five commands, each a process
def test_an_installed_heron_lists_composes_trains_and_exports_in_an_empty_folder(wheel, tmp_path):
    assert "own_relation" in installed(wheel, tmp_path, "-m", "heron", "data")
    words = ("-m", "heron", "train", "experiment=trc/ess", "--cfg", "job")
    assert "pooling: event_start" in installed(wheel, tmp_path, *words)
    assert "heron score task=" in installed(wheel, tmp_path, "-m", "heron", "score", "--help")
    small = ("data.generator.size=120", "trainer.max_epochs=1", "run.sweep=one", "run.job=run")
    installed(wheel, tmp_path, "-m", "heron", "train", "experiment=demo", *small)
    run = tmp_path / "runs" / "one" / "run"
    assert (run / "report.html").is_file()
    assert '"git": null' in (run / "status.json").read_text()
    installed(wheel, tmp_path, "-m", "heron", "export", f"run={run}", "out=exported")
    exported = {path.name for path in (tmp_path / "exported").iterdir()}
    assert {"README.md", "model.safetensors", "heron_model.py", "map.png"} <= exported
