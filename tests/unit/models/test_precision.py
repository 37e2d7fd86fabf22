"""`trainer.precision=auto` is what this machine computes fastest in, and a run keeps it."""

import json
from pathlib import Path

import pytest
import torch

import small_runs
from heron.models import precision as measured
from heron.models.precision import precision, rates, with_precision

FAST_HALF = {"32-true": 100.0, "bf16-mixed": 200.0}
SLOW_HALF = {"32-true": 111.0, "bf16-mixed": 77.0}


@pytest.fixture
def machine(monkeypatch):
    """Say what a measurement gives; lists what has been measured."""
    asked, answer = [], dict(FAST_HALF)
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    monkeypatch.setattr(measured, "_measure", lambda *shape: asked.append(shape) or dict(answer))
    return asked, answer


def auto(folder: Path, *words: str):
    return small_runs.compose(folder, "trainer.precision=auto", *words)


@pytest.mark.parametrize("name", ["32-true", "bf16-mixed", "16-mixed"])
def test_named_precision_is_taken_as_it_is(name, tmp_path, machine) -> None:
    assert precision(auto(tmp_path, f"trainer.precision={name}")) == name
    assert machine[0] == []


def test_auto_is_the_faster_one_and_full_where_bf16_gains_next_to_nothing(tmp_path, machine):
    for number, (half, expected) in enumerate(
        [(200.0, "bf16-mixed"), (77.0, "32-true"), (102.0, "32-true"), (106.0, "bf16-mixed")]
    ):
        machine[1]["bf16-mixed"] = half
        assert precision(auto(tmp_path / str(number))) == expected


def test_a_graphics_card_is_not_measured(tmp_path, machine, monkeypatch) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    for has_bf16, expected in ((True, "bf16-mixed"), (False, "16-mixed")):
        monkeypatch.setattr(torch.cuda, "is_bf16_supported", lambda has=has_bf16: has)
        assert precision(auto(tmp_path, "trainer.accelerator=auto")) == expected
    assert machine[0] == []
    assert precision(auto(tmp_path, "trainer.accelerator=cpu")) == "bf16-mixed"
    assert len(machine[0]) == 1


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


def test_status_names_the_choice_and_the_rates_and_a_resumed_run_keeps_its_own(
    tmp_path, machine
) -> None:
    folder = small_runs.train(tmp_path, "trainer.precision=auto")
    status = folder.read_status()
    assert (status["precision"], status["accelerator"]) == ("bf16-mixed", "cpu")
    assert status["gflops"] == FAST_HALF
    machine[1].update(SLOW_HALF)
    (tmp_path / "cache/precision.json").unlink()
    config = auto(tmp_path)
    assert precision(config) == "32-true"
    assert with_precision(config, folder).trainer.precision == "bf16-mixed"
    assert folder.read_status() == status


def test_a_run_that_goes_on_on_another_device_has_what_is_chosen_there(
    tmp_path, machine, monkeypatch
) -> None:
    folder = small_runs.train(tmp_path, "trainer.precision=auto")
    folder.last.parent.mkdir(parents=True, exist_ok=True)
    folder.last.touch()
    folder.update_status(accelerator="cuda")
    monkeypatch.setattr(torch.cpu, "_is_avx512_bf16_supported", lambda: False)
    monkeypatch.setattr(torch.cpu, "_is_amx_tile_supported", lambda: False)
    assert with_precision(auto(tmp_path), folder).trainer.precision == "bf16-mixed"


@pytest.mark.real  # takes seconds; another test of the file runs with every change
def test_a_run_of_an_earlier_version_is_continued_in_what_it_began_with(
    tmp_path, machine, monkeypatch
) -> None:
    folder = small_runs.train(tmp_path, "trainer.precision=auto")
    status = {k: v for k, v in folder.read_status().items() if k not in ("precision", "gflops")}
    del status["accelerator"]
    folder.status.write_text(json.dumps(status))
    folder.last.parent.mkdir(parents=True, exist_ok=True)
    folder.last.touch()
    monkeypatch.setattr(torch.cpu, "_is_avx512_bf16_supported", lambda: False)
    monkeypatch.setattr(torch.cpu, "_is_amx_tile_supported", lambda: False)
    assert with_precision(auto(tmp_path), folder).trainer.precision == "32-true"
    assert folder.read_status()["precision"] == "32-true"


@pytest.mark.real  # takes seconds; another test of the file runs with every change
def test_compare_and_a_repeat_name_a_difference_in_precision(tmp_path, machine, capsys) -> None:
    first = small_runs.train(tmp_path, "trainer.precision=auto")
    machine[1].update(SLOW_HALF)
    (tmp_path / "cache/precision.json").unlink()
    words = [f"run.from={first.path}", f"paths.cache={tmp_path / 'cache'}"]
    assert small_runs.heron("train", *words) == 0
    assert "the precisions (trainer.precision sets it) differ" in capsys.readouterr().out
    again = first.path.with_name("tiny-again")
    assert small_runs.heron("compare", first.path, again) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "The runs differ in precision (32-true, bf16-mixed)" in said
