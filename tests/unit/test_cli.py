"""The command line's frame: commands, help, exit codes; nothing heavy before it must."""

import importlib
import os
import re
import subprocess
import sys
import types

import pytest

from heron.base.errors import ConfigError
from heron.cli import main
from heron.commands import COMMANDS, OWN

KERNELS = "ONEDNN_PRIMITIVE_CACHE_CAPACITY"
HEAVY = ("torch", "transformers", "pytorch_lightning", "hydra", "omegaconf", "numpy", "pyarrow")

ALL = [*COMMANDS]


def imported(*arguments: str) -> set[str]:
    """Run heron in a process of its own; returns the top-level modules that it imported."""
    command = [sys.executable, "-X", "importtime", "-m", "heron", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    names = re.findall(r"^import time:[^|]*\|[^|]*\|\s*(\S+)$", done.stderr, flags=re.M)
    assert "heron" in names
    return {name.partition(".")[0] for name in names}


@pytest.mark.parametrize("arguments", [("--help",), ("--version",), ("train", "--help")])
def test_help_imports_nothing_heavy(arguments):
    assert not imported(*arguments) & set(HEAVY)


@pytest.mark.parametrize("arguments", [[], ["-h"], ["--help"], ["help"]])
def test_help_lists_every_command_with_its_summary(arguments, capsys):
    assert main(arguments) == 0
    output = capsys.readouterr().out
    for name in ALL:
        summary = COMMANDS[name].help.read_text("utf-8").splitlines()[0]
        assert re.search(rf"^[ *] {name} +{re.escape(summary)}$", output, flags=re.M)


@pytest.mark.parametrize("name", ALL)
@pytest.mark.parametrize("flag", ["-h", "--help"])
def test_every_command_has_a_help_with_an_example(name, flag, capsys):
    assert main([*name.split(), flag]) == 0
    output = capsys.readouterr().out
    assert output.splitlines()[2].startswith(f"usage: heron {name}")
    assert re.search(rf"^  heron {name}\b", output, flags=re.M)


@pytest.mark.parametrize("name", OWN)
def test_every_command_has_its_module(name):
    assert callable(importlib.import_module(COMMANDS[name].module).run)


@pytest.fixture
def command(monkeypatch):
    """Put a command `train` in place whose body the test chooses."""

    def put(body):
        module = types.ModuleType("heron.commands.train")
        module.run = body
        monkeypatch.setitem(sys.modules, module.__name__, module)

    return put


def _raise(error):
    def body(arguments):
        raise error

    return body


@pytest.mark.parametrize(
    ("error", "code", "message"),
    [
        (ConfigError("unknown key 'sed'."), 2, "heron train: unknown key 'sed'.\n"),
        (KeyboardInterrupt(), 130, "\nheron train: interrupted; the same command resumes it"),
        (BrokenPipeError(), 0, ""),
    ],
)
def test_how_a_command_ends_is_its_exit_code(error, code, message, command, capsys):
    command(_raise(error))
    assert main(["train"]) == code
    assert capsys.readouterr().err.startswith(message)


@pytest.mark.parametrize("words", [["--help"], ["score", "--help"]])
def test_a_reader_that_has_enough_ends_a_command_quietly(words):
    read, write = os.pipe()
    os.close(read)
    command = [sys.executable, "-m", "heron", *words]
    ended = subprocess.run(command, stdout=write, stderr=subprocess.PIPE, check=False)
    os.close(write)
    assert (ended.returncode, ended.stderr) == (0, b"")


def test_an_error_that_is_a_bug_keeps_its_traceback(command):
    command(_raise(ZeroDivisionError()))
    with pytest.raises(ZeroDivisionError):
        main(["train"])


@pytest.mark.parametrize(("returned", "code"), [(None, 0), (0, 0), (1, 1)])
def test_a_command_gets_its_words_and_gives_its_code(returned, code, command):
    seen = []
    command(lambda arguments: seen.append(arguments) or returned)
    assert main(["train", "seed=1", "-m"]) == code
    assert seen == [["seed=1", "-m"]]


def test_memory_for_kernels_is_limited_unless_the_user_says_otherwise(monkeypatch):
    seen = []
    command = types.SimpleNamespace(run=lambda rest: seen.append(os.environ[KERNELS]))
    monkeypatch.setattr("importlib.import_module", lambda name: command)
    monkeypatch.delenv(KERNELS, raising=False)
    assert main(["train"]) == 0
    monkeypatch.setenv(KERNELS, "512")
    assert main(["train"]) == 0
    assert seen == ["64", "512"]
