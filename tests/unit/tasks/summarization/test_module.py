"""The summarization module: its loss, what it tells the recorder, what it writes and what it costs
nothing to write again."""

import dataclasses
import math
from operator import attrgetter
from types import SimpleNamespace

import numpy as np
import pytest
import torch
import yaml
from torch.nn import functional as F
from transformers import GenerationConfig

from heron.base.errors import ConfigError
from heron.base.files import parse_yaml
from heron.base.run_folder import config_text
from heron.data.collate import IGNORED
from heron.data.config import TEST, VALIDATION
from heron.data.datamodule import DataModule
from heron.metrics.names import rouge_names
from heron.tasks.config import read
from heron.tasks.summarization.config import GenerationConfig as Generation
from heron.tasks.summarization.predictions import (
    Written,
    choose_rows,
    stored_extractive,
)
from heron.tasks.summarization.seq2seq import generation_settings
from heron.training.trainer import build_module, predict_split, prediction_trainer

SMALL = (
    "data=chronicle_summaries",
    "data.generator.size=100",
    "data.generator.premise_sentences=[8,9]",
    "task.generation.num_beams=1",
    "task.generation.max_new_tokens=12",
)


@pytest.fixture
def built(chronicle_config):
    """Return a function that builds a module in eval mode, its data and a batch of validation."""

    def build(*overrides):
        config = chronicle_config(*SMALL)
        for override in overrides:  # composing anew takes half a second
            key, _, value = override.partition("=")
            part, _, name = key.rpartition(".")
            setattr(attrgetter(part)(config), name, yaml.safe_load(value))
        data = DataModule(config)
        module = build_module(data.config, data).eval()
        return module, data, next(iter(data.evaluation_loader(VALIDATION)))

    return build


def scores_by_place(module, batch):
    """Score like `module.logits`, laid out as the targets are: [B, M, V], NaN beside the tokens."""
    logits_NV = module.logits(batch)
    known_RM = batch.columns["target"] != IGNORED
    logits_BMV = logits_NV.new_full((*known_RM.shape, logits_NV.shape[1]), math.nan)
    logits_BMV[known_RM] = logits_NV
    return logits_BMV


@pytest.mark.parametrize("smoothing", [0.0, 0.2])
def test_loss_is_the_mean_cross_entropy_over_target_tokens(built, smoothing):
    module, _, batch = built(f"optim.label_smoothing={smoothing}")
    with torch.no_grad():
        logits_NV = module.logits(batch)
        loss = module.output(logits_NV, batch).loss
    gold_N = batch.columns["target"][batch.columns["target"] != IGNORED]
    expected = F.cross_entropy(logits_NV, gold_N, label_smoothing=smoothing)
    torch.testing.assert_close(loss, expected)


def test_a_summary_s_token_is_scored_by_the_article_and_the_tokens_before_it_alone(built):
    for words in ((), ("encoder.kernels=torch",)):
        module, _, batch = built(*words, "encoder.dropout=0.0")
        module.train()  # where heron's own attention is at work
        assert (batch.columns["target"][:, :9] != IGNORED).all()
        logits_BMV = scores_by_place(module, batch)
        later_RM = batch.columns["target"].clone()
        later_RM[:, 5:] = 7
        changed_BMV = scores_by_place(module, batch.with_columns(target=later_RM))
        torch.testing.assert_close(logits_BMV[:, :6], changed_BMV[:, :6])
        assert not torch.allclose(logits_BMV[:, 6:9], changed_BMV[:, 6:9])
        other = dataclasses.replace(batch, tokens_BL=batch.tokens_BL.flip(0))
        assert not torch.allclose(logits_BMV[:, :1], scores_by_place(module, other)[:, :1])


def test_the_recorder_is_told_probability_correctness_and_margin(built):
    module, _, batch = built()
    with torch.no_grad():
        logits_BMV = scores_by_place(module, batch)
        observed_R3 = module.observe(module.step(batch))
    for row in range(len(batch)):
        gold = [token for token in batch.columns["target"][row].tolist() if token != IGNORED]
        log_p, right, margins = 0.0, 0, 0.0
        for place, token in enumerate(gold):
            scores_V = logits_BMV[row, place]
            log_p += float(scores_V.log_softmax(0)[token])
            others_V = scores_V.clone()
            others_V[token] = -math.inf
            margin = float(scores_V[token] - others_V.max())
            margins += margin
            right += margin > 0
        wanted = [math.exp(log_p / len(gold)), right / len(gold), margins / len(gold)]
        assert observed_R3[row].tolist() == pytest.approx(wanted, abs=1e-4)


def test_greedy_writing_takes_the_likeliest_token_each_time(built):
    module, data, batch = built("task.generation.no_repeat_ngram_size=0")
    written_RM = module.write(batch).written_RM
    end, pad = data.tokenizer.sep_token_id, data.tokenizer.pad_token_id
    for row in range(len(batch)):
        told: list[int] = []
        while len(told) < 12 and (not told or told[-1] != end):
            # One token more than told: what is asked for is scored, whatever stands there.
            target_RM = torch.full((len(batch), len(told) + 1), 7)
            target_RM[row, : len(told)] = torch.tensor(told, dtype=torch.int64)
            with torch.no_grad():
                asked = batch.with_columns(target=target_RM)
                scores_V = scores_by_place(module, asked)[row, -1]
            told.append(int(scores_V.argmax()))
        assert [token for token in written_RM[row].tolist() if token != pad] == told


def test_predictions_are_whole_and_in_the_order_of_the_file(built, tmp_path):
    module, data, _ = built()
    predictions = predict_split(prediction_trainer(data.config, tmp_path), module, data, TEST)
    assert predictions.guids == [example.guid for example in data.examples[TEST]]
    assert predictions.golds == [example.target for example in data.examples[TEST]]
    scores = predictions.scores(data.config)
    assert scores["rouge1_low"] <= scores["rouge1"] <= scores["rouge1_high"]
    assert scores["lead3_rouge1"] <= scores["oracle_rouge1"]
    columns = predictions.columns(data.config)
    assert columns["text"] == [example.text for example in data.examples[TEST]]


def test_a_gold_summary_written_scores_1(built):
    module, data, _ = built()
    features = data.features[TEST]
    target = features.columns["target"]
    outputs = [
        Written(
            torch.tensor([row]),
            torch.from_numpy(
                target.array[target.offsets[row] : target.offsets[row + 1]].astype(np.int64)
            )[None],
            torch.ones(1, dtype=torch.bool),
        )
        for row in range(len(features))
    ]
    predictions = module.collect(outputs, data, TEST)
    scores = predictions.scores(data.config)
    assert {scores[name] for name in rouge_names()} == {1.0}
    assert scores["lead3_rouge1"] < scores["oracle_rouge1"] < 1


def test_what_was_written_before_a_cut_is_not_written_again(built, tmp_path, monkeypatch):
    module, data, _ = built("batching.tokens=600")
    whole = predict_split(
        prediction_trainer(data.config, tmp_path), module, data, TEST, tmp_path / "generated"
    )
    assert not (tmp_path / "generated").exists()
    write, rows = module.write, []

    def until_cut(batch):
        if len(rows) >= 2:
            raise KeyboardInterrupt
        rows.append(batch.rows_R.tolist())
        return write(batch)

    monkeypatch.setattr(module, "write", until_cut)
    with pytest.raises((KeyboardInterrupt, SystemExit)):
        predict_split(
            prediction_trainer(data.config, tmp_path), module, data, TEST, tmp_path / "generated"
        )
    kept = module.kept_parts(tmp_path / "generated", data, TEST)
    assert len(kept.read()) == 2
    next(kept.folder.glob("*.safetensors")).write_bytes(b"torn")  # is written anew
    again: list[int] = []
    monkeypatch.setattr(
        module, "write", lambda batch: again.extend(batch.rows_R.tolist()) or write(batch)
    )
    resumed = predict_split(
        prediction_trainer(data.config, tmp_path), module, data, TEST, tmp_path / "generated"
    )
    assert resumed == whole
    assert len(again) == len(data.features[TEST]) - min(map(len, rows)) or len(again) == len(
        data.features[TEST]
    ) - max(map(len, rows))
    assert not (tmp_path / "generated").exists()


def test_parts_of_other_weights_texts_or_settings_are_not_taken(built, tmp_path):
    module, data, _ = built()
    folders = [module.kept_parts(tmp_path, data, split).folder for split in (TEST, VALIDATION)]
    with torch.no_grad():
        next(module.parameters()).add_(1e-3)
    folders.append(module.kept_parts(tmp_path, data, TEST).folder)
    data.config.task.generation.num_beams = 2
    folders.append(module.kept_parts(tmp_path, data, TEST).folder)
    assert len(set(folders)) == 4


def test_validation_takes_the_same_rows_each_time():
    guids = [f"article-{number}" for number in range(50)]
    chosen_N = choose_rows(guids, 10)
    assert chosen_N.sum() == 10
    turned_N = choose_rows(guids[::-1], 10)[::-1]
    np.testing.assert_array_equal(chosen_N, turned_N)
    assert choose_rows(guids, 11)[chosen_N].all()
    assert choose_rows(guids, None).all()
    assert choose_rows(guids, 60).all()


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"head.input": "pair"}, "head.input"),
        ({"head.classifier": "linear"}, "seq2seq or warm_start"),
        ({"head.classifier": "seq2seq"}, "encoder=scratch has none"),
        ({"encoder.overflow": "windows"}, "overflow"),
        ({"trainer.strategy": "fsdp", "trainer.devices": 2, "trainer.accelerator": "cuda"}, "fsdp"),
        ({"task.generation.min_new_tokens": 30}, "min_new_tokens"),
        ({"baseline.name": "majority"}, "needs task=relation or nli"),
    ],
)
def test_what_cannot_write_is_refused(chronicle_config, changes, says):
    config = chronicle_config(*SMALL)
    for key, value in changes.items():
        part, _, name = key.rpartition(".")
        setattr(attrgetter(part)(config), name, value)
    with pytest.raises(ConfigError, match=says):
        read(parse_yaml(config_text(config)))


def test_a_damaged_cache_of_extractive_scores_is_computed_anew(tmp_path, chronicle_config):
    config = chronicle_config()
    config.paths.cache = str(tmp_path)
    texts = ["One sentence. Another one.", "A third one."]
    expected = stored_extractive(texts, texts, config)
    (file,) = tmp_path.glob("extractive/*.json")
    whole = file.read_bytes()
    for damaged in (whole[:-9], whole.replace(b"1.0", b"0.5", 1)):
        assert damaged != whole
        file.write_bytes(damaged)
        assert stored_extractive(texts, texts, config) == expected
        assert file.read_bytes() == whole


def test_the_models_own_shortest_summary_and_zeros_do_not_reach_beyond_the_settings(tmp_path):
    own = GenerationConfig(min_length=56, no_repeat_ngram_size=3, length_penalty=2.0)
    wanted = Generation(length_penalty=0.0, no_repeat_ngram_size=0)
    found = generation_settings(SimpleNamespace(generation_config=own), wanted)
    assert (found.min_length, found.no_repeat_ngram_size, found.length_penalty) == (0, 0, 0.0)
    assert found.min_new_tokens is None
    found.save_pretrained(tmp_path)  # as in an export, which plain `generate` reads
    saved = GenerationConfig.from_pretrained(tmp_path)
    assert (saved.min_length or 0, saved.no_repeat_ngram_size or 0) == (0, 0)
    assert saved.length_penalty == 0.0
