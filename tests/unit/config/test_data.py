"""The YAML of a data set is checked before anything is read."""

import pytest
from omegaconf import OmegaConf

from heron.base.errors import ConfigError
from heron.base.folders import conf_dir
from heron.config.data import (
    Columns,
    DataConfig,
    FileConfig,
    GeneratorConfig,
    HoldoutConfig,
    PhrasesConfig,
    SampleConfig,
    ValidationConfig,
    read_config,
)
from heron.config.registries import TASKS
from heron.data.markers import event_markers


@pytest.mark.parametrize("path", sorted((conf_dir() / "data").glob("*.yaml")), ids=lambda p: p.stem)
def test_every_shipped_data_set_reads_and_is_named_after_its_file(path):
    config = read_config(path)
    assert config.name == path.stem
    # Where every question has an answer there is nothing to choose between.
    assert len(config.label_order) > TASKS[config.task].has_classes
    for file in (*config.files.values(), *config.texts.files):
        assert not file.url or (file.url.startswith("https://") and file.sha256 and file.size)
    for split, counts in config.counts.items():
        assert sum(counts.values()) == config.files[split].rows
    assert not config.substitute or (path.parent / f"{config.substitute}.yaml").is_file()


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
    ("make", "message"),
    [
        (lambda: DataConfig(language="hebrew"), r"data\.language=hebrew"),
        (lambda: DataConfig(format="marked_tabel"), r"data\.format.*'marked_table'"),
        (lambda: DataConfig(on_cut="skip"), r"data\.on_cut=skip"),
        (lambda: DataConfig(markers=["<a>"]), "four different strings"),
        (lambda: DataConfig(markers=["<a>", "</a>", "<a>", "</a>"]), "four different"),
        (lambda: DataConfig(label_order=["A", "A"]), "each class once"),
        (lambda: DataConfig(counts={"trian": {}}), "'train'"),
        (lambda: DataConfig(label_order=["A", "B"], counts={"train": {"C": 1}}), "'C' is not in"),
        (lambda: DataConfig(validation=ValidationConfig(fraction=1.0)), r"must be in \[0, 1\)"),
        (lambda: DataConfig(validation=ValidationConfig(by="document")), r"data\.validation\.by"),
        (lambda: DataConfig(holdout=HoldoutConfig(by="premise")), r"data\.holdout\.by"),
        (lambda: DataConfig(holdout=HoldoutConfig(fraction=-0.1)), r"data\.holdout\.fraction"),
        (lambda: DataConfig(task="nil"), r"data\.task=nil.*'nli'"),
        (lambda: DataConfig(format="pair_table"), r"needs the column of the second text"),
        (lambda: DataConfig(columns=Columns(text_pair="b")), r"needs data\.format=pair_table"),
        (lambda: DataConfig(duplicates="dorp"), r"data\.duplicates=dorp.*'drop'"),
        (lambda: DataConfig(unlabelled="keep"), r"data\.unlabelled=keep"),
        (lambda: DataConfig(normalize_case="lowercase"), r"data\.normalize_case=.*'lower'"),
        (
            lambda: pairs(label_aliases={"0": "yess"}),
            r"data\.label_aliases\.0: 'yess' .* name one of these",
        ),
        (
            lambda: pairs(name="mine", label_aliases={"0": "other"}),
            r"data\.label_order=\[yes, no\]; .* copy conf/data/mine\.yaml",
        ),
        (
            lambda: DataConfig(label_order=["A"], inverse={"B": "C"}, generator=GeneratorConfig()),
            r"'B' is not in data\.label_order=\[A\]; the classes of a generated corpus",
        ),
        (lambda: pairs(label_aliases={"yes": "no"}), r"yes is a class itself"),
        (lambda: pairs(label_field={"tets": "gold"}), r"data\.label_field: key=tets.*'test'"),
        (lambda: pairs(no_label=["no"]), r"data\.no_label.*'no' is a label"),
        (lambda: pairs(counts={"train": {"-": 1}}), r"data\.counts\.train: '-' is not in"),
        (
            lambda: DataConfig(phrases=PhrasesConfig(remove="start")),
            r"data\.phrases\.file\.path=FILE",
        ),
        (
            lambda: DataConfig(phrases=PhrasesConfig(remove="inside")),
            r"data\.phrases\.remove=inside",
        ),
        (
            lambda: DataConfig(normalize_case="lower"),
            r"data\.normalize_case: not for data\.task=relation, whose events are counted",
        ),
        (
            lambda: DataConfig(phrases=PhrasesConfig(FileConfig("p.json"), "start")),
            r"data\.phrases\.remove: not for data\.task=relation",
        ),
        (
            lambda: single_texts(normalize_case="capitalize"),
            r"data\.normalize_case=capitalize changes the second text; .* has one text",
        ),
        (
            lambda: single_texts(phrases=PhrasesConfig(FileConfig("p.json"), "start")),
            r"data\.phrases\.remove changes the second text",
        ),
        (lambda: DataConfig(sample=SampleConfig(fraction=0.0)), r"must be in \(0, 1\]"),
        (lambda: DataConfig(sample=SampleConfig(by="windows")), "'window'"),
    ],
)
def test_value_that_heron_does_not_know_names_key_and_nearest(make, message):
    with pytest.raises(ConfigError, match=message):
        make()


@pytest.mark.parametrize(
    "content",
    ["nmae: x", "label_order: {", "sample: {fraction: much}"],
    ids=["key", "yaml", "type"],
)
def test_broken_yaml_is_an_error_that_names_the_file(tmp_path, content):
    path = tmp_path / "mine.yaml"
    path.write_text(content)
    with pytest.raises(ConfigError, match=r"mine\.yaml: "):
        read_config(path)
