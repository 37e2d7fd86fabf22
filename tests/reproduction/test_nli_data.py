"""The real NLI files that are at hand: every row loads, and the counted figures come out."""

from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from heron.base.errors import DataError
from heron.base.files import git_blob
from heron.base.folders import data_set_file
from heron.data.config import DataConfig, read_config
from heron.data.examples import text_key
from heron.data.readers import load, load_with_report, read_rows
from heron.data.sources import State, inspect
from heron_forks.ronli.phrases import Phrases
from real_data import DATA, needs

pytestmark = needs(DATA)
DEV = ("ronli_dev", "hebnli_dev", "control_dev")
COUNTS = {  # in label order
    "ronli_dev": (74, 72, 1135, 1778),
    "hebnli_dev": (657, 654, 688),
    "control_dev": (276, 286, 237),
}
SIZES = {  # train, validation, test
    "ronli_dev": (2079, 368, 612),
    "hebnli_dev": (1359, 240, 400),
    "control_dev": (540, 97, 162),
}


def config_of(name: str) -> DataConfig:
    return read_config(data_set_file(name))


def read(config: DataConfig, tmp_path: Path):
    return load(config, DATA, tmp_path)


def whole(splits):
    return [example for examples in splits.values() for example in examples]


@pytest.mark.parametrize("name", DEV)
def test_every_file_is_the_pinned_one(name, tmp_path):
    sources = inspect(config_of(name), DATA, tmp_path)
    assert {source.state for source in sources.values()} == {State.VERIFIED}


@pytest.mark.parametrize("name", DEV)
def test_the_parts_are_disjoint_and_hold_every_row(name, tmp_path):
    config = config_of(name)
    splits = read(config, tmp_path)
    assert tuple(len(splits[split]) for split in ("train", "validation", "test")) == SIZES[name]
    assert len({example.guid for example in whole(splits)}) == sum(SIZES[name])
    counts = Counter(example.label for example in whole(splits))
    assert tuple(counts[label] for label in config.label_order) == COUNTS[name]
    assert all(example.text and example.text_pair for example in whole(splits))


def test_the_one_hebnli_pair_without_gold_label_is_counted_and_dropped(tmp_path):
    loaded = load_with_report(config_of("hebnli_dev"), DATA, tmp_path)
    assert loaded.dropped == {"train": {"unlabelled": 1}}
    assert "71720n" not in {example.guid for example in whole(loaded.examples)}


def test_hebnli_reads_in_english_with_two_overrides(tmp_path):
    config = config_of("hebnli_dev")
    config.language, config.columns.text, config.columns.text_pair = "en", "sentence1", "sentence2"
    splits = read(config, tmp_path)
    assert tuple(map(len, splits.values())) == SIZES["hebnli_dev"]
    latin = [example for example in whole(splits) if example.text[0].isascii()]
    assert len(latin) > 0.99 * sum(SIZES["hebnli_dev"])


def test_no_control_premise_is_in_two_parts(tmp_path):
    splits = read(config_of("control_dev"), tmp_path)
    premises = [{" ".join(e.text.split()) for e in examples} for examples in splits.values()]
    assert len(set.union(*premises)) == sum(map(len, premises)) == 204


def test_ronli_and_control_dev_hold_no_pair_in_two_parts(tmp_path):
    for name in ("ronli_dev", "control_dev"):
        keys = [{text_key(e) for e in es} for es in read(config_of(name), tmp_path).values()]
        assert len(set.union(*keys)) == sum(map(len, keys))


def casing_rule(examples) -> float:
    """Score "a later capital means neutral, else reasoning" (a fraction)."""
    right = 0
    for example in examples:
        rest = example.text_pair[1:]
        right += example.label == ("neutral" if rest != rest.lower() else "reasoning")
    return right / len(examples)


def test_capitalising_every_hypothesis_removes_ronlis_casing_artefact(tmp_path):
    config = config_of("ronli_dev")
    assert round(casing_rule(whole(read(config, tmp_path))), 3) == 0.743
    for how in ("capitalize", "lower"):
        config.normalize_case = how
        # Every pair is then called reasoning: its share, and nothing that casing tells.
        assert casing_rule(whole(read(config, tmp_path))) == pytest.approx(1135 / 3059)


def test_ronli_has_few_linking_phrases_left_and_they_can_be_removed(tmp_path):
    config = config_of("ronli_dev")
    kept = {e.guid: e.text_pair for e in whole(read(config, tmp_path))}
    changed = {}
    for remove in ("start", "anywhere"):
        config.phrases = remove
        without = {e.guid: e.text_pair for e in whole(read(config, tmp_path))}
        changed[remove] = {guid for guid in kept if kept[guid] != without[guid]}
    assert changed["start"] <= changed["anywhere"]
    assert (len(changed["start"]), len(changed["anywhere"])) == (17, 136)


def test_the_official_files_that_are_absent_are_all_named(tmp_path):
    config = config_of("ronli")
    absent = [file.path for file in config.split_files.values() if not (DATA / file.path).is_file()]
    if not absent:
        pytest.skip("all of RoNLI's files are there")
    with pytest.raises(DataError, match="data=ronli_dev needs fewer files") as error:
        read(config, tmp_path)
    assert all(path in str(error.value) for path in absent)


def test_a_real_file_reads_as_a_file_of_the_users_own():
    config = config_of("hebnli")
    path = DATA / "hebnli" / "HebNLI_val.jsonl"
    assert len(read_rows(path, config, labels="ignored").examples) == 2000
    rows = read_rows(path, config, labels="required")
    assert (len(rows.examples), rows.unlabelled) == (1999, {"-": 1})
    row = read_rows(DATA / "control/lchaim/train_translated.jsonl", config_of("lchaim"))
    assert [example.label for example in row.examples] == ["neutral"]


def test_ronlis_released_subsets_and_metrics_are_pinned_and_read_in_place_of_train(tmp_path):
    config = config_of("ronli")
    further = {name: file for name, file in config.files.items() if name.startswith("train_")}
    assert len(further) == 7
    assert all(file.git_blob and file.unseen and file.rows is None for file in further.values())
    # The files are not here: validation stands for one of the subsets, which have its schema.
    seen = config.files["validation"]
    config.files = {"train": replace(further["train_easy"], path=seen.path)}
    config.files["train"].git_blob = git_blob(DATA / seen.path)
    assert len(whole(read(config, tmp_path))) == 3059, "counts are those of the whole of train"


def test_the_phrase_list_is_the_pinned_one_and_reads(tmp_path):
    from heron.data.sources import locate_phrases
    from heron_forks.ronli.phrases import read_phrases

    config = config_of("ronli")
    config.phrases = "anywhere"
    path = locate_phrases(config, DATA, tmp_path)
    assert path is not None
    assert isinstance(read_phrases(path, config), Phrases)
