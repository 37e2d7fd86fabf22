"""`trainer.precision=auto` is decided by the processor, and a run keeps it."""

from pathlib import Path

import pytest
import torch

import small_runs
from heron.base.errors import ConfigError
from heron.base.run_folder import RunFolder
from heron.models import precision as measured
from heron.models.precision import precision, recorded_precision, with_precision
from heron.training.run import Run
from heron.training.stored import read_own


@pytest.fixture
def built(monkeypatch):
    """Put another processor into the machine."""

    def build(vendor="GenuineIntel", avx=False, amx=False, gpu=None):
        monkeypatch.setattr(measured, "processor", lambda *field: vendor)
        monkeypatch.setattr(torch.cpu, "_is_avx512_bf16_supported", lambda: avx)
        monkeypatch.setattr(torch.cpu, "_is_amx_tile_supported", lambda: amx)
        monkeypatch.setattr(torch.cuda, "is_available", lambda: gpu is not None)
        monkeypatch.setattr(torch.cuda, "is_bf16_supported", lambda: gpu == "bf16")

    build()
    return build


AMD = {"vendor": "AuthenticAMD", "avx": True}


def auto(folder: Path, *words: str):
    return small_runs.compose(folder, "trainer.precision=auto", *words)


@pytest.mark.parametrize("name", ["32-true", "bf16-mixed", "16-mixed"])
def test_named_precision_is_taken_as_it_is(name, tmp_path) -> None:
    assert precision(auto(tmp_path, f"trainer.precision={name}")) == name


@pytest.mark.parametrize(
    ("parts", "expected"),
    [
        ({}, "32-true"),
        (AMD, "bf16-mixed"),
        ({"vendor": "AuthenticAMD"}, "32-true"),
        ({"avx": True}, "32-true"),  # Intel without AMX
        ({"avx": True, "amx": True}, "bf16-mixed"),
        ({"gpu": "bf16"}, "bf16-mixed"),
        ({"gpu": "old"}, "16-mixed"),
    ],
)
def test_auto_is_decided_by_the_processor(parts, expected, tmp_path, built) -> None:
    built(**parts)
    assert precision(auto(tmp_path, "trainer.accelerator=auto")) == expected
    assert (precision(auto(tmp_path)) == expected) == ("gpu" not in parts)


def again(folder, *words: str):
    """Resume a run that was cut after its training; returns its `config.yaml`."""
    folder.update_status(state="running")
    root = folder.path.parents[2]
    small_runs.train(root, *words)
    return read_own(folder.config).trainer.precision


def test_config_yaml_has_the_choice_and_the_same_command_keeps_it_on_any_processor(
    tmp_path, built, capsys
) -> None:
    built(**AMD)
    folder = small_runs.train(tmp_path, "trainer.precision=auto")
    assert read_own(folder.config).trainer.precision == "bf16-mixed"
    assert capsys.readouterr().out.count("bf16-mixed") == 1
    built()
    assert precision(auto(tmp_path)) == "32-true"
    assert again(folder, "trainer.precision=auto") == "bf16-mixed"
    other = Run(auto(tmp_path, "trainer.precision=32-true"), folder)
    with pytest.raises(ConfigError, match="was bf16-mixed, now 32-true"), other.claimed():
        pass


def test_a_choice_for_another_kind_of_device_is_made_again(tmp_path, built) -> None:
    folder = RunFolder(tmp_path)
    folder.update_status(precision="16-mixed", accelerator="cuda")
    built(**AMD)
    stored = auto(tmp_path, "trainer.precision=16-mixed")
    assert precision(recorded_precision(stored, folder)) == "bf16-mixed"
    assert with_precision(auto(tmp_path), folder).trainer.precision == "bf16-mixed"
    assert folder.read_status()["accelerator"] == "cpu"


def test_compare_names_the_systems_that_differ_in_precision(
    tmp_path, built, monkeypatch, capsys
) -> None:
    given = [word for word in small_runs.TINY if not word.startswith("trainer.precision")]
    monkeypatch.setattr(small_runs, "TINY", given)
    first = small_runs.train(tmp_path)
    built(**AMD)
    again = small_runs.train(tmp_path, job="other")
    assert small_runs.heron("compare", first.path, again.path) == 0
    said = " ".join(capsys.readouterr().out.split())
    home = first.path.parent.name
    assert f"32-true: {home}/tiny; bf16-mixed: {home}/other" in said
