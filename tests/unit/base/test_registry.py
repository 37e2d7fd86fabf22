"""Names that configurations use: heron's own are imported on demand, forks add theirs."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from heron.base import folders
from heron.base.errors import ConfigError
from heron.base.folders import VARIABLE, Fork, add_forks, find_forks, load_forks
from heron.base.registry import Hook, Registry


@pytest.fixture
def numbers() -> Registry[float]:
    return Registry("number", {"pi": "math:pi", "e": "math:e"})


def test_a_hook_calls_the_function_that_implements_it():
    double: Hook[[int], int] = Hook()

    @double.implement
    def _double(number: int) -> int:
        return 2 * number

    assert double(4) == _double(4) == 8


@dataclass(frozen=True)
class Folder:
    folder: Path

    def write(self, code: str) -> None:
        (self.folder / "__init__.py").write_text(code, encoding="utf-8")


@pytest.fixture
def fork(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Write a fork into a folder of forks."""
    monkeypatch.setenv(VARIABLE, str(tmp_path / "experiments"))
    folder = tmp_path / "experiments" / "aurora"
    folder.mkdir(parents=True)
    yield Folder(folder)
    for name in [name for name in sys.modules if name.startswith("heron_forks.aurora")]:
        del sys.modules[name]


def test_an_own_entry_is_imported_when_it_is_asked_for(numbers: Registry[float]) -> None:
    assert 3.14 < numbers["pi"] < 3.15
    assert list(numbers)[:2] == ["pi", "e"]


def test_a_fork_is_loaded_at_the_first_name_that_heron_does_not_have(fork, monkeypatch) -> None:
    numbers = Registry[float]("number", {"pi": "math:pi"})
    monkeypatch.setitem(sys.modules, "numbers_of_the_test", numbers)  # the fork registers with it
    (fork.folder / "tau.py").write_text("TAU = 6.28\n", encoding="utf-8")
    fork.write(
        "import sys\nfrom heron_forks.aurora.tau import TAU\n"
        "sys.modules['numbers_of_the_test'].register('tau', TAU)\n"
    )
    assert numbers["pi"] > 3
    assert "heron_forks.aurora" not in sys.modules
    assert numbers["tau"] == 6.28
    assert "tau" in numbers


def test_a_fork_s_mistake_is_named_where_it_is(numbers, fork) -> None:
    fork.write("from heron_forks.aurora import heads\n")
    (fork.folder / "heads.py").write_text("X = 1\nY = Z\n", encoding="utf-8")
    with pytest.raises(ConfigError, match=r"aurora/heads.py:2 cannot be imported: NameError: .*Z"):
        numbers["tau"]
    (fork.folder / "heads.py").write_text("X = = 1\n", encoding="utf-8")
    with pytest.raises(ConfigError, match=r"aurora/heads.py:1 cannot be imported: SyntaxError"):
        numbers["tau"]


def test_a_folder_on_the_search_path_is_a_fork_here_and_in_child_processes(
    fork, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(VARIABLE, "")
    conf = tmp_path / "elsewhere" / "village" / "conf"
    conf.mkdir(parents=True)
    add_forks([conf])
    assert not os.environ.get(VARIABLE)  # YAML alone
    code = "from heron.languages import LANGUAGES\nLANGUAGES.register('vi', 7)\n"
    (conf.parent / "__init__.py").write_text(code, encoding="utf-8")
    add_forks([conf])
    add_forks([conf])
    assert [each.conf for each in find_forks([])].count(conf) == 1
    script = "from heron.languages import LANGUAGES; print(LANGUAGES['vi'])"
    said = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert said.stdout == "7\n"
    monkeypatch.setenv(VARIABLE, str(tmp_path / "aurora"))
    with pytest.raises(ConfigError, match="two forks are named aurora"):
        find_forks([tmp_path])


def test_an_installed_package_is_a_fork(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package, about = tmp_path / "village_heron", tmp_path / "village_heron-1.dist-info"
    (package / "conf").mkdir(parents=True)
    (package / "__init__.py").write_text("", encoding="utf-8")
    about.mkdir()
    (about / "METADATA").write_text("Name: village-heron\nVersion: 1\n", encoding="utf-8")
    entry = "[heron.forks]\nvillage = village_heron\n"
    (about / "entry_points.txt").write_text(entry, encoding="utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setenv(VARIABLE, "")
    folders._installed.cache_clear()
    try:
        assert Fork("village_heron", package) in find_forks([])
        load_forks([])
        assert "village_heron" in sys.modules
    finally:
        folders._installed.cache_clear()
        sys.modules.pop("village_heron", None)
