"""The files around the code agree with each other: make, workflow, hooks, citation, pins, locks."""

import itertools
import re
import tomllib

import pytest
import yaml

from heron.base.folders import conf_dir
from install import options, pinned_uv
from pins import LOCKS, MALICIOUS, PINNED, pins

ROOT = conf_dir().parent
TARGETS = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.M))
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
CITATION = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
WORKFLOWS = sorted((ROOT / ".github" / "workflows").iterdir())
HOOKS = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text())["repos"][0]["hooks"]


def commands(job):
    """List what a job of a workflow runs, once for each entry of its matrix."""
    matrix = job.get("strategy", {}).get("matrix", {})
    for values in itertools.product(*matrix.values()):
        for step in job["steps"]:
            text = step.get("run", "")
            for name, value in zip(matrix, values, strict=True):
                text = text.replace(f"${{{{ matrix.{name} }}}}", value)
            yield from filter(None, text.splitlines())


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_a_workflow_runs_make_targets_only_and_may_only_read(path):
    workflow = yaml.safe_load(path.read_text())
    assert workflow["permissions"] == {"contents": "read"}
    assert set(workflow[True]) == {"push", "pull_request"}  # YAML reads `on` as true
    for job in workflow["jobs"].values():
        assert "permissions" not in job
        ran = list(commands(job))
        assert ran
        assert [line for line in ran if line.removeprefix("make ") not in TARGETS] == []
        for used in (step["uses"] for step in job["steps"] if "uses" in step):
            assert re.fullmatch(r"actions/[\w-]+@[0-9a-f]{40}", used), used


def test_the_workflow_runs_lint_tests_and_pages():
    jobs = [job for path in WORKFLOWS for job in yaml.safe_load(path.read_text())["jobs"].values()]
    ran = [line for job in jobs for line in commands(job)]
    assert {"make lint", "make test", "make docs"} <= set(ran)


def test_hooks_run_the_tools_that_make_lint_runs():
    (lint,) = re.findall(r"^lint:.*\n\t(.+)$", (ROOT / "Makefile").read_text(), re.M)
    tools = [command.strip() for command in lint.replace("$(BIN)", ".venv/bin").split("&&")]
    for hook in HOOKS:
        assert hook["language"] == "system"  # a hook of its own would be another version
        own = hook["entry"].removesuffix(" --force-exclude")
        assert own == "make lint" or f"{own} ." in tools


def test_contributing_names_targets_that_exist():
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    named = set(re.findall(r"(?:^|`)make ([a-z-]+)", text, re.M))
    assert {"test", "lint", "format", "update"} <= named <= TARGETS


def test_the_citation_is_of_this_version_and_licence():
    assert CITATION["cff-version"] == "1.2.0"
    assert {"message", "title", "authors"} <= set(CITATION)
    assert CITATION["version"] == PROJECT["version"]
    assert CITATION["license"] == PROJECT["license"]


@pytest.mark.parametrize("path", [*PINNED, *LOCKS], ids=lambda path: path.name)
def test_no_pin_is_a_malicious_release(path):
    found = pins(path.read_text(encoding="utf-8"))
    assert found
    assert [name for name in MALICIOUS if found.get(name) in MALICIOUS[name]] == []


@pytest.mark.parametrize("path", LOCKS, ids=lambda path: path.name)
def test_a_lock_has_the_pinned_versions_each_with_hashes_and_no_address(path):
    text = path.read_text(encoding="utf-8")
    entries = re.split(r"\n(?=\S)", text.strip())
    assert [e for e in entries if not re.match(r"[\w.-]+==\S+[^\n]* \\\n +--hash=sha256:", e)] == []
    assert not re.search(r"://|\bindex\b|find-links", text)
    wanted = pins(PINNED[0].read_text())
    for extra in LOCKS[path]:
        wanted |= pins("\n".join(PROJECT["optional-dependencies"][extra]))
    locked = pins(text)
    assert "torch" not in locked  # its build depends on the computer
    assert {name: locked.get(name) for name in wanted if name != "torch"} == {
        name: version for name, version in wanted.items() if name != "torch"
    }


def test_uv_installs_from_where_pip_is_set_to():
    settings = """:env:.find-links='/wheels'
:env:.timeout='9'
global.extra-index-url='https://a.example/simple https://b.example/simple'
global.find-links='/old'
global.index-url='https://c.example/simple'
install.no-index='false'
"""
    assert options(settings) == [
        *("--index", "https://a.example/simple", "--index", "https://b.example/simple"),
        *("--find-links", "/wheels", "--default-index", "https://c.example/simple"),
    ]
    assert options(":env:.index-url=''") == []
    assert options("install.no-index='true'") == ["--no-index"]
    assert pinned_uv() in PROJECT["optional-dependencies"]["update"]
