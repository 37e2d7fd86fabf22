"""Words are taken as they are written: texts in files and overrides, keys of every mapping."""

from typing import get_args

import pytest

from heron.base.files import parse_yaml
from heron.cli import main
from heron.config.constraints import key_types, plain
from heron.config.written import is_mapping
from heron.data.overrides import configure
from heron.tasks.config import Config

NAMES = ["ya", '"0"', "1", "rău", "כן", "'a b'", "v1.0", "1e1", "no", "True"]
TEXTS = [name.strip("\"'") for name in NAMES]
MAPPINGS = {key: hint for key, hint in key_types(Config).items() if is_mapping(hint)}
del MAPPINGS["data.join.take"]  # of a part that is null here


def composed(key, capfd, *words):
    assert main(["train", "data=own_classification", *words, "--cfg", "job", "-p", key]) == 0
    return parse_yaml(capfd.readouterr().out)


@pytest.mark.parametrize("key", MAPPINGS)
def test_any_key_of_any_mapping_is_taken_from_the_command_line(key, capfd):
    inner = plain(get_args(plain(MAPPINGS[key]))[1])
    value, written = {str: ("01", "01"), int: (2, "2")}.get(inner, ({"ya": 2}, "{ya: 2}"))
    entries = ", ".join(f"{name}: {written}" for name in NAMES)
    mapping = composed(key, capfd, f"{key}={{{entries}}}")
    assert {name: mapping[name] for name in TEXTS} == dict.fromkeys(TEXTS, value)
    for name in ("ya", "rău", "0"):
        assert composed(key, capfd, f"{key}.{name}={written}")[name] == value


def test_a_mapping_is_merged_alike_in_all_commands():
    words = ["data.label_aliases={ya: entailment, rău: neutral}"]
    own = {"c": "contradiction", "e": "entailment", "n": "neutral"}
    expected = {**own, "ya": "entailment", "rău": "neutral"}
    assert configure("own_nli", words).label_aliases == expected
    assert configure("own_nli", ["data.label_aliases.no=neutral"]).label_aliases["no"] == "neutral"


@pytest.mark.parametrize(
    ("word", "value"),
    [
        ("data.label_order=[01,1e1,no,true]", ["01", "1e1", "no", "true"]),
        ("data.label_order=[rău,1.0]", ["rău", "1.0"]),
        ("data.no_label=[1_0]", ["1_0"]),
        ("data.language=no", "no"),
        ("data.title=1e3", "1e3"),
        ("data.name=007", "007"),
    ],
)
def test_a_text_on_the_command_line_is_the_word(word, value, capfd):
    name = word.partition("=")[0].removeprefix("data.")
    assert composed("data", capfd, word)[name] == value


FILE = """defaults: [own_classification]
name: norsk
language: no
label_order: [yes, no, 01, true]
label_aliases: {y: yes, on: yes, 0x1: 01}
no_label: [off, 1e1]
verify: no
"""


def test_a_data_set_s_file_has_the_words_in_its_texts(tmp_path, capfd, monkeypatch):
    (tmp_path / "conf" / "data").mkdir(parents=True)
    (tmp_path / "conf" / "data" / "norsk.yaml").write_text(FILE)
    monkeypatch.setenv("HERON_FORKS", str(tmp_path))
    values = composed("data", capfd, "data=norsk", f"--config-dir={tmp_path / 'conf'}")
    config = configure("norsk", [])
    assert config.task == "classification"  # of the data set that it is based on
    assert config.verify is values["verify"] is False
    for name, value in {
        "language": "no",
        "label_order": ["yes", "no", "01", "true"],
        "label_aliases": {"y": "yes", "on": "yes", "0x1": "01"},
        "no_label": ["off", "1e1"],
    }.items():
        assert values[name] == value
        assert getattr(config, name) == value
