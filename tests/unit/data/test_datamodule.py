"""One DataModule from configuration to batches: features per split, stored once, planned."""

import dataclasses
from types import SimpleNamespace

import numpy as np
import pytest

from heron.base.errors import ConfigError, DataError
from heron.base.registry import on_demand
from heron.data import TASKS, datamodule
from heron.data.datamodule import DataModule, EpochPlan
from heron.data.markers import event_markers
from heron.tasks.relation.features import relation_features

BUILDER = "heron.tasks.relation.features.relation_features"


@pytest.fixture
def config(chronicle_config):
    return chronicle_config()


@pytest.fixture
def data(config):
    return DataModule(config)


def with_encoder(config, **changes):
    return dataclasses.replace(config, encoder=dataclasses.replace(config.encoder, **changes))


def with_data(config, **changes):
    return dataclasses.replace(config, data=dataclasses.replace(config.data, **changes))


def test_every_split_has_its_rows_by_guid(data):
    assert set(data.features) == {"train", "validation", "test"}
    for split, tokenized in data.features.items():
        assert sorted(tokenized.guids) == sorted(e.guid for e in data.examples[split])
        assert len(tokenized) == {"train": 105, "validation": 15, "test": 30}[split]


def test_label_counts_are_those_of_the_train_split(data, config):
    labels = [example.label for example in data.examples["train"]]
    expected = [labels.count(label) for label in config.data.label_order]
    assert data.label_counts_C.tolist() == expected
    assert len(data.label_counts_C) == len(config.data.label_order)


def test_tokenizing_happens_once_per_content(config, data, monkeypatch):
    monkeypatch.setattr(BUILDER, lambda *inputs: pytest.fail("built again"))
    again = DataModule(config)
    assert again.features["train"].guids == data.features["train"].guids


@pytest.mark.parametrize("change", ["text", "label", "guid", "max_length", "label_order"])
def test_what_decides_features_decides_the_key(config, data, change, monkeypatch):
    examples = dict(data.examples)
    if change == "max_length":
        config = with_encoder(config, max_length=200)
    elif change == "label_order":
        config = with_data(config, label_order=config.data.label_order[::-1])
    else:
        first, *rest = examples["train"]
        value = {"text": first.text + " .", "label": "EQUAL", "guid": "new"}[change]
        if getattr(first, change) == value:
            value = "AFTER"
        examples["train"] = [dataclasses.replace(first, **{change: value}), *rest]
    built = []
    monkeypatch.setattr(BUILDER, lambda *inputs: built.append(1) or relation_features(*inputs))
    assert DataModule(config, examples, data.tokenizer).features
    assert built


def test_the_code_and_the_name_of_a_fork_s_task_decide_the_key(config, data, tmp_path, monkeypatch):
    monkeypatch.setenv("HERON_FORKS", str(tmp_path / "experiments"))
    fork = tmp_path / "experiments" / "tokenizing_fork"
    fork.mkdir(parents=True)
    relation = TASKS["relation"]
    tokenize = on_demand("heron_forks.tokenizing_fork:tokenize")  # written, but never called
    monkeypatch.setattr(datamodule, "load_features", lambda *_: data.features["train"])

    def key(name, tokenizes):
        task = dataclasses.replace(relation, features=tokenizes)
        monkeypatch.setitem(TASKS._entries, name, task)
        return DataModule(with_data(config, task=name), data.examples).keys["train"]

    (fork / "__init__.py").write_text("tokenize = None\n", encoding="utf-8")
    keys = [key("ours", relation.features), key("first", tokenize), key("second", tokenize)]
    (fork / "__init__.py").write_text("tokenize = True\n", encoding="utf-8")
    assert len({*keys, key("first", tokenize)}) == 4
    assert keys[0] == data.keys["train"]


def test_markers_are_tokens_in_the_marked_form_alone(chronicle_config):
    for head, known in (("ess", True), ("window", False)):
        config = chronicle_config(f"head={head}")
        vocabulary = DataModule(config).tokenizer.get_vocab()
        assert all((marker in vocabulary) is known for marker in event_markers(config.data))
    replaced = DataModule(chronicle_config("head=ess", "head.markers=['$','$','<b>','</b>']"))
    vocabulary = replaced.tokenizer.get_vocab()
    assert "<b>" in vocabulary
    assert not any(marker in vocabulary for marker in event_markers(config.data))


def test_the_tokenizer_from_scratch_has_seen_the_train_split_alone(data, config):
    examples = dict(data.examples)
    examples["test"] = [dataclasses.replace(e, text=e.text + " ѣ") for e in examples["test"]]
    again = DataModule(config, examples)
    assert again.tokenizer.get_vocab() == data.tokenizer.get_vocab()


def test_the_tokenizer_from_scratch_has_seen_second_texts_and_targets(data, config):
    first, second, *rest = data.examples["train"]
    told = [dataclasses.replace(first, text_pair="ѣ"), dataclasses.replace(second, target="ѫ")]
    again = DataModule(config, {**data.examples, "train": [*told, *rest]})
    assert {"ѣ", "ѫ"} <= again.tokenizer.get_vocab().keys()


def test_a_cut_row_stops_the_run_unless_it_is_dropped_and_counted(config, data):
    lengths = sorted(data.features["train"].lengths_S)
    short = with_encoder(config, max_length=int(lengths[len(lengths) // 2]))
    with pytest.raises(DataError, match="raise encoder") as error:
        DataModule(short).prepare_data()
    dropping = DataModule(with_data(short, on_cut="drop"))
    features = dropping.features["train"]
    assert len(features.refused) == len(error.value.problems) > 0
    assert len(features) + len(features.refused) == len(dropping.examples["train"])
    assert len(np.unique(features.sequences_R)) == len(features.lengths_S)


def test_a_train_split_that_is_cut_altogether_stops_the_run_even_when_dropping(config):
    short = with_data(with_encoder(config, max_length=8), on_cut="drop")
    with pytest.raises(DataError, match=r"train chronicle-he-0.* no row would be left") as error:
        DataModule(short).prepare_data()
    assert "on_cut=drop" not in str(error.value), "it is set"


@pytest.mark.parametrize("accumulate", [1, 2, 3, 100])
def test_steps_are_batches_over_accumulation_with_the_rest_of_each_epoch(config, data, accumulate):
    config = dataclasses.replace(
        config,
        trainer=dataclasses.replace(
            config.trainer, max_epochs=3, accumulate_grad_batches=accumulate
        ),
    )
    module = DataModule(config, data.examples, data.tokenizer)
    batches = [len(module.plan(epoch)) for epoch in range(3)]
    assert module.steps_per_epoch() == [int(np.ceil(count / accumulate)) for count in batches]


def test_an_epoch_of_batches_holds_every_row_once(data):
    rows = [row for batch in data.train_dataloader() for row in batch.rows_R.tolist()]
    assert sorted(rows) == list(range(len(data.features["train"])))


@pytest.mark.parametrize("split", ["train", "validation", "test"])
def test_evaluation_visits_every_row_once(data, split):
    rows = [row for batch in data.evaluation_loader(split) for row in batch.rows_R.tolist()]
    assert sorted(rows) == list(range(len(data.features[split])))


def test_padding_is_the_tokenizers(data):
    batch = next(iter(data.evaluation_loader("test")))
    assert set(batch.tokens_BL[batch.mask_BL == 0].tolist()) <= {data.tokenizer.pad_token_id}


def test_a_resumed_epoch_goes_on_behind_the_batches_that_are_done(config, data):
    plan = data.plan(2)
    batch_progress = SimpleNamespace(current=SimpleNamespace(ready=3))
    fit_loop = SimpleNamespace(
        epoch_progress=SimpleNamespace(current=SimpleNamespace(ready=1, processed=0)),
        epoch_loop=SimpleNamespace(batch_progress=batch_progress),
    )
    data.trainer = SimpleNamespace(
        current_epoch=2,
        max_epochs=3,
        fit_loop=fit_loop,
        global_rank=0,
        world_size=1,
        overfit_batches=0,
    )
    loader = data.train_dataloader()
    assert len(loader) == len(plan)
    assert len(list(loader)) == len(plan) - 3
    sequences = np.concatenate(plan[3:])
    expected = np.flatnonzero(np.isin(data.features["train"].sequences_R, sequences))
    assert sorted(r for b in loader for r in b.rows_R.tolist()) == expected.tolist()


def test_a_plan_is_as_long_as_it_is_but_starts_later_until_the_next_epoch():
    plan = EpochPlan(lambda epoch: [10 * epoch + batch for batch in range(5)], epoch=1, done=2)
    assert list(plan) == [12, 13, 14]
    assert len(plan) == 5
    plan.set_epoch(2)
    assert list(plan) == [20, 21, 22, 23, 24]


def test_a_data_set_without_validation_has_no_validation_loader(config, data):
    examples = {split: data.examples[split] for split in ("train", "test")}
    assert DataModule(config, examples, data.tokenizer).val_dataloader() == []


@pytest.mark.parametrize("plan", ["shuffle", "bucket"])
@pytest.mark.parametrize("accumulate", [1, 3])
@pytest.mark.parametrize("steps", [1, 7, 40])
def test_a_number_of_steps_takes_the_epochs_it_needs_and_cuts_the_last(
    chronicle_config, plan, accumulate, steps
):
    words = [f"batching={plan}", "batching.size=8", f"trainer.accumulate_grad_batches={accumulate}"]
    data = DataModule(chronicle_config(*words, f"trainer.max_steps={steps}"))
    whole = DataModule(chronicle_config(*words, "trainer.max_epochs=100"))
    assert sum(data.steps_per_epoch()) == steps
    *first, last = (data.plan(epoch) for epoch in range(len(data.batches_per_epoch())))
    for epoch, batches in enumerate(first):
        assert list(map(list, batches)) == list(map(list, whole.plan(epoch)))
    expected = whole.plan(len(first))[: len(last)]
    assert list(map(list, last)) == list(map(list, expected))


@pytest.mark.parametrize(("lacking", "what"), [("train", "train on"), ("validation", "choose an")])
def test_a_run_without_rows_to_train_on_or_to_choose_by_is_refused(
    config, monkeypatch, lacking, what
):
    loaded = datamodule.load_run_data(config)
    monkeypatch.setitem(loaded.examples, lacking, [])
    monkeypatch.setattr(datamodule, "load_run_data", lambda _: loaded)
    with pytest.raises(ConfigError, match=f"no rows to {what}.*data.files.{lacking}"):
        datamodule.prepare(config)
