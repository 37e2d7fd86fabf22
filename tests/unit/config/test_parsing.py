"""`key=value` words become typed options, or an error that names the nearest key."""

from dataclasses import dataclass, field
from pathlib import Path

import pytest

from heron.config.constraints import Seed
from heron.config.parsing import parse_options


@dataclass
class Options:
    run: Path
    split: str = "test"
    rows: int | None = None
    seed: Seed = 0
    share: float = 0.5
    fetch: bool = False
    labels: list[str] = field(default_factory=list)
    out: Path | None = None


@dataclass
class Several:
    runs: list[Path]


def test_every_type_is_converted():
    words = ["run=~/a", "split=x=y", "rows=3", "share=0.25", "fetch=yes", "labels=A, B,", "out=o"]
    options = parse_options(Options, words)
    assert options == Options(
        Path("~/a").expanduser(), "x=y", 3, 0, 0.25, True, ["A", "B"], Path("o")
    )


def test_a_list_may_be_written_as_heron_train_takes_it():
    assert parse_options(Options, ["run=a", "labels=[A, B]"]).labels == ["A", "B"]


def test_defaults_hold_where_nothing_is_said():
    assert parse_options(Options, ["run=a"]) == Options(Path("a"))


@pytest.mark.parametrize("word", ["rows=", "rows=none", "rows=null", "rows=None"])
def test_an_optional_value_can_be_unset(word):
    assert parse_options(Options, ["run=a", word]).rows is None


@pytest.mark.parametrize(("word", "value"), [("true", True), ("0", False), ("No", False)])
def test_booleans_are_said_in_plain_words(word, value):
    assert parse_options(Options, ["run=a", f"fetch={word}"]).fetch is value


def test_a_sweep_whose_name_begins_with_anothers_is_found(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for folder in ("demo", "demo,epochs=1/a", "demo,epochs=1/b,c"):
        (tmp_path / folder).mkdir(parents=True)
    several = "demo,epochs=1/a,demo,epochs=1/b,c,demo"
    expected = [Path("demo,epochs=1/a"), Path("demo,epochs=1/b,c"), Path("demo")]
    assert parse_options(Several, [f"runs={several}"]).runs == expected


def test_words_alone_are_runs_whatever_their_names_hold(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for job in ("seed=0,a", "seed=1"):
        (tmp_path / "runs" / "s" / job).mkdir(parents=True)
        (tmp_path / "runs" / "s" / job / "status.json").touch()
    alone = parse_options(Options, ["runs/s/seed=0,a", "split=dev"])
    assert (alone.run, alone.split) == (Path("runs/s/seed=0,a"), "validation")
    several = [Path("runs/s/seed=0,a"), Path("runs/s/seed=1")]
    assert parse_options(Several, list(map(str, several))).runs == several
    assert parse_options(Options, ["latest"]).run in several
