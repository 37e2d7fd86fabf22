"""Zero-shot: what the NLI model is asked, how answers become classes, and the known mistake."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from transformers import AutoModelForSequenceClassification, AutoTokenizer

from heron.base.errors import ConfigError
from heron.data.config import BatchingConfig, Columns, DataConfig
from heron.data.examples import Example
from heron.tasks.config import Config, TaskConfig, TrainerConfig
from heron.training.compose import compose
from heron_forks.ronli.rules import ZeroShotConfig
from heron_forks.ronli.zero_shot import load_zero_shot, misplace
from small_baselines import save_nli_model

LABELS = ["contrastive", "entailment", "reasoning", "neutral"]
SENTENCES = {label: f"Relația este {label}." for label in LABELS}
EXAMPLES = [
    Example("1", "Șoferul a oprit mașina", "Câinele a traversat"),
    Example("2", "Bunica a încuiat poarta înainte să plece la țară , apoi a închis", "Ea pleacă"),
    Example("3", "Plouă", "Ninge"),
]


@pytest.fixture(scope="module")
def nli_model(tiny_encoder, tmp_path_factory):
    folder = tmp_path_factory.mktemp("nli_model")
    return save_nli_model(folder, tiny_encoder, ["Contradiction", "Neutral", "Entailment"])


def load(settings: Config) -> Any:
    return load_zero_shot(settings)


def config(model: Path, labels: list[str] | None = None, **values: object) -> Config:
    baseline = ZeroShotConfig(
        name="zero_shot",
        model=str(model),
        hypotheses=SENTENCES,
        template="unu: {premise} doi: {hypothesis}",
    )
    return Config(
        data=DataConfig(
            name="pairs",
            language="ro",
            label_order=labels or LABELS,
            task="nli",
            format="pair_table",
            columns=Columns(text_pair="hypothesis"),
        ),
        task=TaskConfig(name="nli"),
        baseline=replace(baseline, **values),  # type: ignore[arg-type]
        batching=BatchingConfig(tokens=64),
        trainer=TrainerConfig(accelerator="cpu", enable_progress_bar=False),
    )


def logits(folder: Path, text: str, text_pair: str) -> torch.Tensor:
    """Ask the model about one pair, by itself and with plain transformers."""
    tokenizer = AutoTokenizer.from_pretrained(folder)
    model = AutoModelForSequenceClassification.from_pretrained(folder).eval()
    with torch.inference_mode():
        found: torch.Tensor = model(**tokenizer(text, text_pair, return_tensors="pt")).logits[0]
    return found.double()


def asked(example: Example) -> str:
    return f"unu: {example.text} doi: {example.text_pair}"


@pytest.mark.parametrize("entailment", ["probability", "logit"])
def test_a_class_scores_how_far_the_pair_entails_its_sentence(nli_model, entailment):
    found_RC = load(config(nli_model, entailment=entailment)).probabilities(EXAMPLES)
    for example, found_C in zip(EXAMPLES, found_RC, strict=True):
        answers_CM = torch.stack(
            [logits(nli_model, asked(example), SENTENCES[label]) for label in LABELS]
        )
        if entailment == "probability":
            scores_C = answers_CM.softmax(dim=1)[:, 2]
            expected_C = scores_C / scores_C.sum()
        else:
            expected_C = answers_CM[:, 2].softmax(dim=0)
        np.testing.assert_allclose(found_C, expected_C, atol=1e-5)


def test_logits_of_entailment_are_compared_as_transformers_pipeline_does(nli_model):
    from transformers import pipeline

    ask = pipeline("zero-shot-classification", model=str(nli_model), device="cpu")
    answer = ask(
        asked(EXAMPLES[0]), list(SENTENCES.values()), hypothesis_template="{}", multi_label=False
    )
    expected = dict(zip(answer["labels"], answer["scores"], strict=True))
    found_RC = load(config(nli_model, entailment="logit")).probabilities(EXAMPLES[:1])
    np.testing.assert_allclose(
        found_RC[0], [expected[SENTENCES[label]] for label in LABELS], atol=1e-5
    )


def test_direct_takes_the_models_own_classes_in_the_order_of_the_data(nli_model):
    labels = ["entailment", "contradiction", "neutral"]
    baseline = load(config(nli_model, labels, zero_shot="direct"))
    for example, found_C in zip(EXAMPLES, baseline.probabilities(EXAMPLES), strict=True):
        expected = logits(nli_model, example.text, str(example.text_pair)).softmax(dim=0)
        np.testing.assert_allclose(found_C, expected[[2, 0, 1]], atol=1e-5)


def test_batches_do_not_change_the_answers(nli_model):
    small, large = config(nli_model), config(nli_model)
    large.batching.tokens = 100_000
    np.testing.assert_allclose(
        load(small).probabilities(EXAMPLES),
        load(large).probabilities(EXAMPLES),
        atol=1e-5,
    )


def test_too_long_a_pair_gives_way_and_the_sentence_stays(nli_model):
    long = Example("long", "plouă " * 500, "ninge")
    baseline = load(config(nli_model, max_length=64))
    other = Example("other", "plouă " * 900, "ninge")
    np.testing.assert_allclose(
        baseline.probabilities([long]),
        baseline.probabilities([other]),
        atol=1e-6,
    )
    probabilities_C = baseline.probabilities([long])[0]
    assert len(set(probabilities_C.tolist())) == len(LABELS), "the sentences made a difference"


def test_no_examples_no_rows(nli_model):
    assert load(config(nli_model)).probabilities([]).shape == (0, 4)


def test_the_repositorys_order_predicts_the_rank_of_the_first_class():
    scores_RC = np.array(
        [
            [0.6, 0.1, 0.2, 0.1],  # the first class is best: right
            [0.1, 0.2, 0.6, 0.1],  # best is 2, the first is third: class 2, right by chance
            [0.3, 0.6, 0.08, 0.02],  # best is 1, the first is second: class 1, right by chance
            [0.1, 0.25, 0.05, 0.6],  # best is 3, the first is third: class 2, wrong
            [0.05, 0.7, 0.15, 0.1],  # best is 1, the first is last: class 3, wrong
        ]
    )
    assert scores_RC.argmax(axis=1).tolist() == [0, 2, 1, 3, 1]
    assert misplace(scores_RC).argmax(axis=1).tolist() == [0, 2, 1, 2, 3]


@given(arrays(np.float64, (5, 4), elements=st.floats(0, 1), unique=True))
def test_misplaced_rows_hold_the_same_numbers(scores_RC):
    found_RC = misplace(scores_RC)
    np.testing.assert_array_equal(np.sort(found_RC), np.sort(scores_RC))
    ranks_R = (scores_RC > scores_RC[:, :1]).sum(axis=1)
    np.testing.assert_array_equal(found_RC.argmax(axis=1), ranks_R)


def test_repo_permutation_is_applied_only_where_it_is_asked_for(nli_model):
    right_RC = load(config(nli_model)).probabilities(EXAMPLES)
    repo_RC = load(config(nli_model, permutation="repo")).probabilities(EXAMPLES)
    np.testing.assert_array_equal(repo_RC, misplace(right_RC))


def test_weights_that_can_run_code_are_not_loaded(tiny_encoder, tmp_path):
    save_nli_model(tmp_path, tiny_encoder, ["entailment", "neutral"])
    model = AutoModelForSequenceClassification.from_pretrained(tmp_path)
    (tmp_path / "model.safetensors").unlink()
    torch.save(model.state_dict(), tmp_path / "pytorch_model.bin")
    with pytest.raises(ConfigError, match=r"baseline\.model="):
        load(config(tmp_path))


def run_files(*words: str) -> set[str]:
    return set(compose(["experiment=ronli/zero_shot", *words]).data.files)


def test_a_run_that_is_fitted_to_nothing_asks_for_no_train_file() -> None:
    assert {"train", "validation", "test"} & run_files() == {"validation", "test"}
    assert "train" in run_files("baseline=majority")
    assert "train" in run_files("data=ronli_dev"), "its validation and test are parts of this file"
