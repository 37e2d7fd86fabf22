"""Names that configurations use: heron's own are imported on demand, forks add theirs."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from heron.base.errors import ConfigError
from heron.base.registry import Registry


@pytest.fixture
def numbers() -> Registry[float]:
    return Registry("number", {"pi": "math:pi", "e": "math:e"})


@dataclass(frozen=True)
class Fork:
    folder: Path

    def write(self, code: str) -> None:
        (self.folder / "__init__.py").write_text(code, encoding="utf-8")


@pytest.fixture
def fork(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Write a fork into the working directory."""
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / "experiments" / "aurora"
    folder.mkdir(parents=True)
    yield Fork(folder)
    for name in [name for name in sys.modules if name.startswith("heron_forks")]:
        del sys.modules[name]


def test_an_own_entry_is_imported_when_it_is_asked_for(numbers: Registry[float]) -> None:
    assert 3.14 < numbers["pi"] < 3.15
    assert list(numbers)[:2] == ["pi", "e"]


def test_an_unknown_name_is_answered_with_the_nearest_forks_included(numbers, fork) -> None:
    numbers.register("phi", 1.618)
    with pytest.raises(ConfigError, match=r"no number 'phii'. Did you mean 'phi'"):
        numbers["phii"]


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


def test_a_fork_that_cannot_be_imported_is_named(numbers, fork) -> None:
    fork.write("import no_such_module\n")
    with pytest.raises(ConfigError, match=r"aurora/__init__.py cannot be imported: ModuleNotFound"):
        numbers["tau"]


def test_no_name_stands_for_two_entries(numbers: Registry[float]) -> None:
    with pytest.raises(ConfigError, match="number 'pi' exists already"):
        numbers.register("pi", 3.0)
