"""The YAML of a data set is checked before anything is read."""

import pytest
from omegaconf import OmegaConf

from heron.base.errors import ConfigError
from heron.config.parsing import check
from heron.data.config import (
    Columns,
    DataConfig,
    HoldoutConfig,
    SampleConfig,
    ValidationConfig,
)
from heron.data.markers import event_markers


def pairs(**values) -> DataConfig:
    columns = Columns(text_pair="other")
    return DataConfig(format="pair_table", columns=columns, label_order=["yes", "no"], **values)


def single_texts(**values) -> DataConfig:
    return DataConfig(task="classification", format="text_table", **values)


def test_a_count_of_rows_without_gold_label_is_allowed_under_their_value():
    assert pairs(no_label=["-"], counts={"train": {"yes": 2, "-": 1}}).no_label == ["-"]


def test_defaults_can_be_merged_and_overridden_by_omegaconf():
    config = OmegaConf.structured(DataConfig)
    config.sample.fraction = 0.25
    assert OmegaConf.to_object(config).sample.fraction == 0.25


def test_markers_default_to_those_of_the_language():
    assert event_markers(DataConfig(language="he")).start_1 == "[א1]"
    assert event_markers(DataConfig(language="ro")).start_1 == "[E1]"
    own = ["<a>", "</a>", "<b>", "</b>"]
    assert list(event_markers(DataConfig(markers=own))) == own


@pytest.mark.parametrize(
    ("config", "message"),
    [
        (
            DataConfig(language="hebrewish", on_cut="skip"),
            r"data\.language=hebrewish.*\n.*on_cut=skip",
        ),
        (DataConfig(format="marked_tabel"), r"data\.format.*marked_table"),
        (DataConfig(markers=["<a>"]), r"data\.markers"),
        (DataConfig(label_order=["A", "A"]), r"data\.label_order"),
        (DataConfig(counts={"trian": {}}), "data.counts.trian.*'train'"),
        (DataConfig(label_order=["A", "B"], counts={"train": {"C": 1}}), "data.counts: C"),
        (DataConfig(validation=ValidationConfig(1.0)), r"data\.validation\.fraction=1.0"),
        (DataConfig(holdout=HoldoutConfig(by="premise")), r"data\.holdout\.by"),
        (DataConfig(task="nil"), r"data\.task=nil.*'nli'"),
        (DataConfig(format="pair_table"), r"data\.columns\.text_pair"),
        (DataConfig(columns=Columns(text_pair="b")), r"data\.format=pair_table"),
        (pairs(label_field={"tets": "gold"}), r"data\.label_field\.tets.*'test'"),
        (DataConfig(phrases="start"), r"data\.files\.phrases\.path"),
        (DataConfig(sample=SampleConfig(fraction=0.0)), r"data\.sample\.fraction=0\.0"),
    ],
)
def test_what_cannot_be_read_is_named_by_key(config, message):
    with pytest.raises(ConfigError, match=message):
        check(config, "data.")
