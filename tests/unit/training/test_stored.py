"""The configuration refuses what cannot work, by key, and comes back from YAML unchanged."""

import dataclasses
import tempfile
from pathlib import Path

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st
from omegaconf import OmegaConf

from heron.base.errors import ConfigError
from heron.base.files import dump_yaml, fingerprint, parse_yaml, read_yaml
from heron.base.run_folder import config_text
from heron.config.constraints import all_keys
from heron.data.config import DataConfig
from heron.tasks.config import Config, read, resolve
from heron.training.run_names import NEUTRAL, SPREAD, identifying, is_identifying, is_neutral

DEFAULTS = Config(data=DataConfig(name="a", label_order=["X", "Y"]))


PLAIN = yaml.safe_load(config_text(DEFAULTS))


def changed(*overrides):
    """Resolve the default configuration with some keys set."""
    config = OmegaConf.create(PLAIN)
    for key, value in (override.split("=", 1) for override in overrides):
        OmegaConf.update(config, key, yaml.safe_load(value))
    return resolve(config)


@pytest.mark.parametrize("overrides", [(), ("head=window",), ("protocol=paper", "head=emp")])
def test_yaml_round_trip(chronicle_config, overrides):
    config = chronicle_config(*overrides)
    assert read(parse_yaml(config_text(config))) == config


@settings(max_examples=10)
@given(
    st.builds(
        dataclasses.replace,
        st.just(DEFAULTS.optim),
        lr=st.floats(1e-12, 1e3),
        head_lr=st.none() | st.floats(1e-12, 1e3),
        betas=st.lists(st.floats(0, 0.9999), min_size=2, max_size=2),
    ),
    st.text("אבșț:#'\"{}[]!&*?|>%@` \\abc\n").filter(lambda text: text != "???"),  # missing
)
def test_yaml_round_trip_of_any_number_and_text(optim, title):
    config = dataclasses.replace(
        DEFAULTS, optim=optim, data=dataclasses.replace(DEFAULTS.data, title=title)
    )
    assert read(parse_yaml(config_text(config))) == config


def test_a_stored_value_of_another_type_is_converted_and_a_lacking_one_is_the_default():
    values = yaml.safe_load(config_text(DEFAULTS))
    values["optim"]["lr"] = 1
    del values["optim"]["head_lr"]
    assert read(parse_yaml(dump_yaml(values))) == changed("optim.lr=1.0")


@pytest.mark.parametrize("wanting", ["trainer.select=best", "trainer.patience=2"])
def test_choosing_an_epoch_needs_a_validation_split_carved_or_shipped(wanting):
    without = ("trainer.select=last", "data.validation.fraction=0")
    assert changed(*without)
    with pytest.raises(ConfigError, match="need a validation split"):
        changed(*without, wanting)
    assert changed(*without, wanting, "data.files={validation: {path: v.csv}}")
    assert changed(*without, wanting, "data.generator={size: 100}")


def key_of(config):
    return fingerprint(identifying(config))


def leaves(values, prefix=""):
    for key, value in values.items():
        if isinstance(value, dict) and value:
            yield from leaves(value, f"{prefix}{key}.")
        else:
            yield prefix + key


def with_value(config, key, value):
    """Copy a configuration with one key set, whatever its type: hashing needs no valid value."""
    head, _, rest = key.partition(".")
    inner = with_value(getattr(config, head), rest, value) if rest else value
    copy = object.__new__(type(config))
    for field in dataclasses.fields(config):
        object.__setattr__(copy, field.name, getattr(config, field.name))
    object.__setattr__(copy, head, inner)
    return copy


NO_OTHER_RUN = {f"trainer.{key}" for key in SPREAD}
DECISIVE = [k for k in leaves(DEFAULTS.values()) if is_identifying(k) and k not in NO_OTHER_RUN]


def test_neutral_keys_exist_and_leave_the_jobs_hash_as_it_is():
    assert set(NEUTRAL) <= set(all_keys())
    own, neutral = key_of(DEFAULTS), [k for k in leaves(DEFAULTS.values()) if is_neutral(k)]
    other = [k for k in neutral if key_of(with_value(DEFAULTS, k, "another value")) != own]
    assert (bool(neutral), other) == (True, [])


def test_every_other_key_changes_the_jobs_hash():
    own = key_of(DEFAULTS)
    same = [key for key in DECISIVE if key_of(with_value(DEFAULTS, key, "another value")) == own]
    assert same == []


@given(st.one_of(st.text(), st.from_regex(r"[-+]?[0-9]{1,4}(\.[0-9]*)?[eE][-+]?[0-9]{1,3}")))
def test_texts_that_look_like_numbers_stay_texts(text):
    value = {"revision": text, "lr": 1e-5, "flag": True, "none": None, "labels": [text, "1e5"]}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "a.yaml"
        path.write_bytes(dump_yaml(value).encode("utf-8", errors="surrogatepass"))
        assert read_yaml(path) == value


def test_a_number_with_an_exponent_is_a_number_with_and_without_a_point(tmp_path):
    path = tmp_path / "a.yaml"
    path.write_text("a: 1e-5\nb: 1.0e-05\nc: '1e-5'\n")
    assert read_yaml(path) == {"a": 1e-5, "b": 1e-5, "c": "1e-5"}
