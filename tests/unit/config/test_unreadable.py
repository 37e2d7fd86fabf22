"""YAML and forks that cannot be read: one line that names the file and the line in it."""

from __future__ import annotations

import pytest

from heron.cli import main

EXPERIMENT = "# @package _global_\n"
DATA = "name: x\nlanguage: ro\ntask: nli\nlabel_order: [a, b]\nfiles: {train: {path: t.csv}}\n"
BROKEN = {
    "a tab": b"columns:\n\ttext: a\n",
    "a key twice": b"task: nli\n",
    "a key twice inside": b"columns: {text: a,\n  text: b}\n",
    "Latin-1": "#\ntitle: café\n".encode("latin-1"),
}
LINES = {"a tab": 7, "a key twice": 6, "a key twice inside": 7, "Latin-1": 7}


@pytest.fixture
def fork(tmp_path, monkeypatch):
    folder = tmp_path / "broken"
    for group in ("data", "experiment"):
        (folder / "conf" / group).mkdir(parents=True)
    monkeypatch.setenv("HERON_FORKS", str(folder))
    return folder


@pytest.mark.parametrize("kind", BROKEN)
@pytest.mark.parametrize("words", [("data", "x"), ("train", "data=x"), ("data",)])
def test_a_broken_data_set_is_one_line_with_file_and_line(fork, kind, words, capsys):
    file = fork / "conf" / "data" / "x.yaml"
    file.write_bytes(DATA.encode() + BROKEN[kind])
    assert main(list(words)) == 2
    said = capsys.readouterr().err
    assert said.count("\n") == 1
    assert str(file) in said
    assert f"line {LINES[kind]}" in said


def test_defaults_in_a_circle_are_named_by_their_files(fork, capsys):
    for name, other in (("a", "b"), ("b", "c"), ("c", "a")):
        defaults = f"defaults: [/experiment/{other}, _self_]\n"
        (fork / "conf" / "experiment" / f"{name}.yaml").write_text(EXPERIMENT + defaults)
    assert main(["train", "experiment=b"]) == 2
    said = capsys.readouterr().err
    assert said.count("\n") == 1
    assert str(fork / "conf" / "experiment" / "a.yaml") in said
    assert "experiment/a -> experiment/b -> experiment/c -> experiment/a" in said


@pytest.mark.parametrize("words", [("help",), ("data",), ("no_command",)])
def test_a_fork_that_exits_when_it_is_imported_is_an_error_with_file_and_line(fork, words, capsys):
    (fork / "__init__.py").write_text("import sys\n\nsys.exit(0)\n")
    assert main(list(words)) == 2
    said = capsys.readouterr().err
    assert said.splitlines()[-1].startswith(f"heron {words[0]}: {fork / '__init__.py'}:3")


@pytest.mark.parametrize("name", ["absent", "empty"])
def test_a_folder_in_HERON_FORKS_that_is_no_fork_is_warned_about_once(
    tmp_path, monkeypatch, name, capsys
):
    (tmp_path / "empty").mkdir()
    monkeypatch.setenv("HERON_FORKS", str(tmp_path / name))
    assert main(["data", "chronicle"]) == 0
    said = capsys.readouterr().err
    assert said.count(str(tmp_path / name)) == 1
