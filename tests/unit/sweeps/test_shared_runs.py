"""Somebody else's run folder: damaged or made to do harm, it costs one clear error and no more."""

from __future__ import annotations

import dataclasses
import json
import os
import shutil
import socket
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

from heron.base.errors import ConfigError, DataError
from heron.base.files import SEAL, dump_yaml, read_yaml, seal
from heron.base.run_folder import RunFolder, config_text
from heron.commands.train_from import configure
from heron.data.config import FileConfig, JoinConfig
from heron.data.datamodule import DataModule
from heron.data.sources import locate
from heron.tasks.config import Config
from heron.training.checkpointing import damage
from heron.training.curriculum import without_curriculum
from heron.training.exported import export
from heron.training.stored import read_stored
from heron.training.trainer import build_module
from small_runs import heron, train

TEXT = "text=אתמול [א1] הגיע [/א1] השר ואז [א2] עזב [/א2] ."
CODE = """
from pathlib import Path
from transformers import BertConfig, BertModel
Path({mark!r}).write_text("this code has run")
class EvilConfig(BertConfig):
    model_type = "evil"
class Evil(BertModel):
    config_class = EvilConfig
"""


@pytest.fixture
def run(chronicle_config, tmp_path):
    """Export a model that was never trained, with its configuration."""
    config, folder = chronicle_config(), RunFolder(tmp_path / "run")
    data = DataModule(config)
    torch.manual_seed(1)
    module = build_module(config, data)
    export(folder.model, module.encoder, module.head, data.tokenizer, config)
    folder.config.write_text(config_text(config), "utf-8")
    return folder


def predict(run: RunFolder, *words: str) -> int:
    return heron("predict", f"run={run.path}", TEXT, *words)


def edit(run: RunFolder, change: Callable[[Config], object]) -> None:
    """Write another configuration into a run's folder, as whoever shares it can."""
    config = read_stored(run.config)
    change(config)
    run.config.write_text(config_text(config), "utf-8")


def refuse_to_fetch(monkeypatch: pytest.MonkeyPatch) -> None:
    get = "huggingface_hub.file_download.http_get"
    monkeypatch.setattr(get, lambda *inputs, **named: pytest.fail("fetched"))


def flip(path: Path) -> None:
    content = bytearray(path.read_bytes())
    for place in range(len(content) // 2, len(content) // 2 + 4):
        content[place] ^= 0xFF
    path.write_bytes(content)


@pytest.mark.parametrize("sealed", [True, False], ids=["", "by an older version"])
@pytest.mark.parametrize(
    "damage",
    [
        flip,
        lambda path: path.write_bytes(path.read_bytes()[:100]),
        lambda path: path.write_text(""),
    ],
    ids=["four bytes", "cut", "empty"],
)
@pytest.mark.parametrize("name", ["model.safetensors", "head.safetensors", "tokenizer.json"])
def test_a_damaged_model_is_named_with_what_to_do(name, damage, sealed, run, capsys):
    if not sealed:
        (run.model / SEAL).unlink()
        if damage is flip:
            pytest.skip("nothing in the folder tells")
    damage(run.model / name)
    assert predict(run) == 2
    error = capsys.readouterr().err
    assert "Traceback" not in error
    assert (f"{run.model}: {name}: damaged" if sealed else str(run.model)) in error
    assert not sealed or "copy the folder again" in error


@pytest.mark.parametrize("content", ["", "[]"])
def test_a_damaged_pointer_to_a_frozen_encoder_is_named(content, run, capsys):
    (run.model / SEAL).unlink()
    (run.model / "encoder.json").write_text(content, "utf-8")
    assert predict(run) == 2
    assert "encoder.json is damaged" in capsys.readouterr().err


def test_an_export_without_checksums_is_read_with_a_note(run, capsys):
    (run.model / SEAL).unlink()
    assert predict(run) == 0
    assert f"{run.model} has no {SEAL}" in capsys.readouterr().err


@pytest.mark.parametrize(
    "damage",
    [
        lambda text: text[: text.index("\ntrainer:") + 1],
        lambda text: "",
        lambda text: "- 1\n",
        lambda text: text + "data: [\n",
        lambda text: "[" * 100_000,
        lambda text: f"a: &a [1, 1]\nb: [*a, *a]\n{text}",
        lambda text: text.replace("seed: 0", "seed: x", 1),
    ],
)
@pytest.mark.parametrize("command", ["predict", "train"])
def test_a_damaged_configuration_is_named(command, damage, run, capsys):
    run.config.write_text(damage(run.config.read_text("utf-8")), "utf-8")
    assert (predict(run) if command == "predict" else heron("train", f"run.from={run.path}")) == 2
    error = capsys.readouterr().err
    assert f"{run.config}" in error
    assert "Traceback" not in error


def test_its_code_runs_only_where_this_command_says_so(run, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr("transformers.dynamic_module_utils.HF_MODULES_CACHE", str(tmp_path / "hf"))
    mark = tmp_path / "mark"
    (run.model / "evil.py").write_text(CODE.format(mark=str(mark)), "utf-8")
    settings = json.loads((run.model / "config.json").read_text("utf-8"))
    settings |= {"model_type": "evil", "architectures": ["Evil"]}
    settings["auto_map"] = {"AutoConfig": "evil.EvilConfig", "AutoModel": "evil.Evil"}
    (run.model / "config.json").write_text(json.dumps(settings), "utf-8")
    seal(run.model)
    edit(run, lambda config: setattr(config.encoder, "trust_remote_code", True))

    for words in (("predict", TEXT), ("evaluate",)):
        assert heron(words[0], f"run={run.path}", *words[1:]) == 2
        assert "encoder.trust_remote_code=true" in capsys.readouterr().err
    assert not configure(run, []).encoder.trust_remote_code
    assert configure(run, ["encoder.trust_remote_code=true"]).encoder.trust_remote_code
    assert not mark.exists()
    assert predict(run, "encoder.trust_remote_code=true") == 0
    assert mark.exists()


def test_nothing_in_it_is_looked_up_in_the_environment(run, monkeypatch, capsys):
    monkeypatch.setenv("A_VARIABLE", "hush-hush")
    values = read_yaml(run.config)
    values["data"]["homepage"] = "https://example.org/?q=${oc.env:A_VARIABLE}"
    run.config.write_text(dump_yaml(values), "utf-8")
    for command, *words in (("predict", TEXT), ("evaluate",)):
        assert heron(command, f"run={run.path}", *words) == 0, command
    said = "".join(capsys.readouterr())
    pages = [file.read_text("utf-8", errors="replace") for file in run.path.rglob("*.html")]
    assert "hush-hush" not in said + "".join(pages)


def test_a_file_is_fetched_by_its_hash_or_not_at_all(run, tmp_path, monkeypatch):
    refuse_to_fetch(monkeypatch)
    file = FileConfig("rows.csv", url="https://example.org/rows.csv")
    other = dataclasses.replace(file, sha256="0" * 64)

    def name_files(config: Config) -> None:
        config.data.generator = None
        config.data.files = {"train": file, "test": other}
        config.data.join, config.data.files["join"] = JoinConfig(take={"guid": "guid"}), file
        config.others = {"more": dataclasses.replace(config.data)}

    edit(run, name_files)
    config = read_stored(run.config)
    for data in (config.data, config.others["more"]):
        assert data.join is not None
        assert data.files["train"].url is data.files["join"].url is None
        assert data.files["test"].url == other.url
    del config.data.files["test"]
    with pytest.raises(DataError, match="has no address"):
        locate(config.data, tmp_path, tmp_path / "cache")


@pytest.mark.parametrize(
    "key", ["encoder.trust_remote_code", "encoder", "paths.cache", "data.files.train.url", "stages"]
)
def test_no_stage_and_no_first_run_brings_back_what_is_taken_away(key, run, tmp_path):
    for part in ("stages", "curriculum"):
        values = read_yaml(run.config)
        if part == "stages":
            values["stages"] = [{"data": "chronicle", "changes": {key: True}}]
        else:
            values["curriculum"] |= {"name": "own", "pacing": "linear", "changes": {key: 1}}
        other = tmp_path / f"{part}.yaml"
        other.write_text(dump_yaml(values), "utf-8")
        with pytest.raises(
            ConfigError, match=f"changes: neither a stage nor curriculum.changes may set {key}"
        ):
            read_stored(other)


def test_no_change_reaches_behind_the_keys(run):
    config = read_stored(run.config)
    inner = {**vars(config.encoder), "trust_remote_code": True}
    config.curriculum.changes = {"encoder.__dict__": inner}
    with pytest.raises(ConfigError, match=r"encoder\.__dict__"):
        without_curriculum(config)


def test_no_data_set_s_name_leads_out_of_the_run_s_folder(run):
    values = read_yaml(run.config)
    values["data"]["name"] = "../../../evil"
    values["also_test"] = ["../../../evil"]  # predictions/../../../evil.test.parquet
    run.config.write_text(dump_yaml(values), "utf-8")
    said = r"data\.name=\.\./\.\./\.\./evil: allowed are names without '/'"
    with pytest.raises(ConfigError, match=said):
        read_stored(run.config)


@pytest.mark.parametrize(
    "path", ["../../mine.csv", "a/../../../mine.csv", "{tmp}/elsewhere/mine.csv"]
)
def test_no_file_is_fetched_to_a_place_outside_the_cache(path, run, tmp_path, monkeypatch):
    refuse_to_fetch(monkeypatch)
    path = path.format(tmp=tmp_path)

    def name_file(config: Config) -> None:
        config.data.generator = None
        config.data.files = {"train": FileConfig(path, "https://example.org/x", "0" * 64)}

    edit(run, name_file)
    with pytest.raises(DataError, match="its path leads out of"):
        locate(read_stored(run.config).data, tmp_path / "data", tmp_path / "a" / "cache")
    assert not list(tmp_path.rglob("*mine.csv*"))


def test_caches_are_filled_in_a_cache_of_heron_s_alone(run, tmp_path, monkeypatch):
    monkeypatch.setenv("HERON_CACHE", str(tmp_path / "mine"))
    known = read_stored(run.config).paths.cache
    assert known != str(tmp_path / "mine"), "it is one, and stays"
    precious = tmp_path / "precious"
    precious.mkdir()
    edit(run, lambda config: setattr(config.paths, "cache", str(precious)))
    assert read_stored(run.config).paths.cache == str(tmp_path / "mine")
    assert predict(run) == 0
    assert list(precious.iterdir()) == []


def test_a_head_to_begin_with_is_checked_too(run, tmp_path):
    from heron.training.exported import load_head

    shutil.copytree(run.model, tmp_path / "copy")
    flip(tmp_path / "copy" / "head.safetensors")
    with pytest.raises(ConfigError, match=r"head\.safetensors: damaged"):
        load_head(torch.nn.Linear(2, 2), tmp_path / "copy")


class Code:
    """What pickle runs when it is loaded."""

    def __reduce__(self) -> tuple[Any, ...]:
        return print, ("this code has run",)


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    return train(tmp_path_factory.mktemp("finished")).path


@pytest.fixture
def theirs(finished, tmp_path):
    """Copy a finished run into a sweep of its own."""
    return Path(shutil.copytree(finished, tmp_path / "sweep" / "run", symlinks=True))


def name_badly(run: Path) -> None:
    status = json.loads((run / "status.json").read_text("utf-8"))
    status |= {"state": "failed", "error": "\x1b]0;title\x07\x1b[2J\u202eשגיאה, eroare în fișier"}
    (run / "status.json").write_text(json.dumps(status), "utf-8")


def link(name: str) -> Callable[[Path], None]:
    """Make a link to a folder beside the sweep's, which is to stay empty."""

    def make(run: Path) -> None:
        (run.parents[1] / "elsewhere").mkdir()
        (run / name).parent.mkdir(exist_ok=True)
        (run / name).symlink_to(run.parents[1] / "elsewhere")

    return make


def pickle_weights(run: Path) -> None:
    (run / "model" / SEAL).unlink()
    (run / "model" / "model.safetensors").unlink()
    torch.save({"weight": Code()}, run / "model" / "pytorch_model.bin")


def not_utf8(run: Path) -> None:
    text = (run / "config.yaml").read_bytes()
    (run / "config.yaml").write_bytes(text.replace(b"chronicle", b"chr\xffnicle"))


HALF_WRITTEN = f".report.html.{socket.gethostname()}-{2**22 + 1}.abcdefgh"
# What is done to the run, the command, its exit code, and what it names.
TAMPERED: list[tuple[Callable[[Path], None], str, int, str]] = [
    (name_badly, "sweep {sweep}", 1, "eroare în fișier"),
    (name_badly, "sweep {sweep} json=true", 1, "eroare în fișier"),
    (link("map"), "map run={run}", 2, "run/map"),
    (link("map/training_dynamics"), "map run={run} format=jsonl", 2, "map/training_dynamics"),
    (link("noise"), "noise run={run}", 2, "run/noise"),
    (link("analysis"), "analyze run={run}", 2, "run/analysis"),
    (link(HALF_WRITTEN), "report {run}", 0, "report.html"),
    (not_utf8, "report {run}", 0, "config.yaml"),
    (not_utf8, "report {sweep}", 0, "config.yaml"),
    (not_utf8, "analyze run={run}", 2, "config.yaml"),
    (not_utf8, "train run.from={run}", 2, "config.yaml"),
    (pickle_weights, "evaluate run={run}", 2, "run/model"),
]


@pytest.mark.parametrize(("tamper", "command", "code", "named"), TAMPERED)
def test_a_tampered_run_costs_a_clear_line_and_reaches_nothing_else(
    tamper, command, code, named, theirs, capsys
):
    tamper(theirs)
    words = [word.format(run=theirs, sweep=theirs.parent) for word in command.split()]
    assert heron(*words) == code
    said = "".join(capsys.readouterr())
    assert named in said
    for unwanted in ("Traceback", "\x1b", "\u202e", "add_safe_globals", "this code has run"):
        assert unwanted not in said
    assert not list(theirs.parents[1].glob("elsewhere/*"))


def test_a_run_that_lies_behind_a_link_is_mapped(finished, tmp_path):
    shutil.copytree(finished, tmp_path / "disk" / "run")
    (tmp_path / "runs").symlink_to(tmp_path / "disk")
    assert heron("noise", f"run={tmp_path / 'runs' / 'run'}") == 0
    assert (tmp_path / "disk" / "run" / "noise" / "suspects.csv").is_file()


def test_a_checkpoint_with_pickled_objects_counts_as_damaged(tmp_path, capsys):
    torch.save({"state_dict": {}, "callbacks": Code()}, tmp_path / "last.ckpt")
    assert "add_safe_globals" not in str(damage(tmp_path / "last.ckpt") or "add_safe_globals")
    assert not capsys.readouterr().out


def test_code_beside_the_runs_is_not_imported(theirs, monkeypatch, capsys):
    bundle = theirs.parents[1]
    evil = bundle / "experiments" / "evil"
    evil.mkdir(parents=True)
    (evil / "__init__.py").write_text("print('this code has run')", "utf-8")
    monkeypatch.chdir(bundle)
    assert heron("options") == 0
    assert heron("report", theirs) == 0
    said = capsys.readouterr()
    assert "this code has run" not in said.out
    assert "heron_forks.evil" not in sys.modules
    assert "HERON_FORKS" in said.err
    monkeypatch.setenv("HERON_FORKS", os.path.join("experiments", "evil"))
    assert heron("options") == 0
    assert "this code has run" in capsys.readouterr().out
    del sys.modules["heron_forks.evil"]
