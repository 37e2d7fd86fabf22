"""`trainer.precision=auto` is decided by the processor, and a run keeps it."""

import json
from pathlib import Path

import pytest
import torch

import small_runs
from heron.base.errors import ConfigError
from heron.base.run_folder import RunFolder
from heron.models import precision as measured
from heron.models import rates as rates_
from heron.models.precision import precision, recorded_precision, with_precision
from heron.models.rates import rates
from heron.training.run import Run
from heron.training.stored import read_own

FAST_HALF = {"32-true": 100.0, "bf16-mixed": 200.0}


@pytest.fixture
def machine(monkeypatch):
    """Say what a measurement gives; lists what has been measured."""
    asked, answer = [], dict(FAST_HALF)
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    monkeypatch.setattr(rates_, "_measure", lambda *shape: asked.append(shape) or dict(answer))
    return asked, answer


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
def test_named_precision_is_taken_as_it_is(name, tmp_path, machine) -> None:
    assert precision(auto(tmp_path, f"trainer.precision={name}")) == name
    assert machine[0] == []


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
def test_auto_is_decided_by_the_processor_and_measures_nothing(
    parts, expected, tmp_path, machine, built
) -> None:
    built(**parts)
    assert precision(auto(tmp_path, "trainer.accelerator=auto")) == expected
    assert (precision(auto(tmp_path)) == expected) == ("gpu" not in parts)
    assert machine[0] == []


def test_fastest_is_the_faster_one_and_full_where_bf16_gains_next_to_nothing(tmp_path, machine):
    for number, (half, expected) in enumerate(
        [(200.0, "bf16-mixed"), (77.0, "32-true"), (102.0, "32-true"), (106.0, "bf16-mixed")]
    ):
        machine[1]["bf16-mixed"] = half
        assert precision(auto(tmp_path / str(number), "trainer.precision=fastest")) == expected


def test_rates_are_measured_once_for_a_machine_a_shape_and_a_number_of_threads(
    tmp_path, machine, tiny_encoder
) -> None:
    config = auto(tmp_path)
    assert rates(config) == rates(config) == FAST_HALF
    assert machine[0] == [(32, 32, 1)]
    rates(auto(tmp_path, "trainer.threads=2"))
    rates(auto(tmp_path, f"encoder={tiny_encoder}"))
    shape = json.loads((tiny_encoder / "config.json").read_text())
    widths = shape["hidden_size"], shape["intermediate_size"]
    assert machine[0][1:] == [(32, 32, 2), (*widths, 1)]


@pytest.mark.parametrize("content", ["", "[]", "{", '"text"'])
def test_a_damaged_file_of_rates_is_written_again(content, tmp_path, machine) -> None:
    config = auto(tmp_path)
    path = Path(config.paths.cache) / "precision.json"
    path.parent.mkdir(parents=True)
    path.write_text(content)
    assert rates(config) == FAST_HALF
    assert list(json.loads(path.read_text()).values()) == [FAST_HALF]


def test_a_measurement_leaves_threads_and_random_numbers_as_they_were(tmp_path) -> None:
    threads = torch.get_num_threads()
    torch.manual_seed(0)
    expected = torch.randn(3)
    torch.manual_seed(0)
    found = rates(auto(tmp_path, "trainer.threads=2"))
    assert torch.equal(torch.randn(3), expected)
    assert torch.get_num_threads() == threads
    assert found.keys() == {"32-true", "bf16-mixed"}
    assert all(rate > 0 for rate in found.values())


def again(folder, *words: str):
    """Resume a run that was cut after its training; returns its `config.yaml`."""
    folder.update_status(state="running")
    root = folder.path.parents[2]
    small_runs.train(root, *words)
    return read_own(folder.config).trainer.precision


def test_config_yaml_has_the_choice_and_the_same_command_keeps_it_on_any_processor(
    tmp_path, machine, built, capsys
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


def test_a_choice_for_another_kind_of_device_is_made_again(tmp_path, machine, built) -> None:
    folder = RunFolder(tmp_path)
    folder.update_status(precision="16-mixed", accelerator="cuda")
    built(**AMD)
    stored = auto(tmp_path, "trainer.precision=16-mixed")
    assert precision(recorded_precision(stored, folder)) == "bf16-mixed"
    assert with_precision(auto(tmp_path), folder).trainer.precision == "bf16-mixed"
    assert folder.read_status()["accelerator"] == "cpu"


def test_compare_names_the_systems_that_differ_in_precision(
    tmp_path, machine, built, monkeypatch, capsys
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
