"""Local models: both ways to an answer, each equal to its plain form."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from heron.base.errors import ConfigError
from heron_tools.prompting.answers import ModelRequest
from heron_tools.prompting.config import ModelConfig, PromptingConfig, SamplingConfig
from heron_tools.prompting.local import LocalModel, _count_common
from small_prompts import compose, save_causal_model

SHARED = "Read the text and decide . one two three four five six seven eight nine ten . "
ENDS = ["The committee met", "The workers ended their strike before the talks", "it", "a b c d e"]
CHOICES = ("yes", "not at all", "maybe so")


def model_of(folder, tmp_path, **settings):
    form = settings.pop("form", "completion")
    config = compose(tmp_path, "model=local", f"prompting.model.name={folder}")
    own = PromptingConfig(model=ModelConfig(name=str(folder), form=form), **settings)
    return LocalModel(config, own)


def requests(choices=(), prompts=None):
    prompts = [f"{SHARED}{end} . Answer :" for end in ENDS] if prompts is None else prompts
    return [
        ModelRequest(str(place), ({"role": "user", "content": prompt},), tuple(choices))
        for place, prompt in enumerate(prompts)
    ]


def answers_of(model, asked):
    found = dict(model.answer(asked))
    assert sorted(found) == sorted(request.key for request in asked)
    return [found[request.key] for request in asked]


def plain_logprob(model, prompt, choice):
    """Compute a choice's log-probability alone, from its whole text."""
    tokenizer, causal = model.tokenizer, model.model
    before = tokenizer(prompt)["input_ids"]
    whole = tokenizer(f"{prompt} {choice}")["input_ids"]
    with torch.no_grad():
        logprobs = causal(torch.tensor([whole])).logits.float().log_softmax(-1)[0]
    return sum(float(logprobs[i - 1, whole[i]]) for i in range(len(before), len(whole)))


@pytest.mark.parametrize("most_tokens", [64, 4096])
def test_likelihood_with_a_shared_prefix_equals_each_text_alone(
    causal_model, tmp_path, most_tokens
):
    model = model_of(causal_model, tmp_path, scoring="likelihood")
    model.most_tokens = most_tokens
    asked = requests(CHOICES)
    found = answers_of(model, asked)
    model.shares_prefix = False
    whole = answers_of(model, asked)
    for request, answer, other in zip(asked, found, whole, strict=True):
        prompt = request.messages[0]["content"]
        expected = [plain_logprob(model, prompt, choice) for choice in CHOICES]
        np.testing.assert_allclose(answer.logprobs, expected, atol=1e-5)
        np.testing.assert_allclose(other.logprobs, expected, atol=1e-5)
        assert answer.text == CHOICES[int(np.argmax(expected))]
        assert answer.input_tokens == len(model.tokenizer(prompt)["input_ids"])


def test_likelihood_reads_the_shared_tokens_once(causal_model, tmp_path, monkeypatch):
    model = model_of(causal_model, tmp_path, scoring="likelihood")
    read = []
    forward = model.model.forward

    def counting(input_ids=None, **rest):
        read.append(input_ids.numel())
        return forward(input_ids=input_ids, **rest)

    monkeypatch.setattr(model.model, "forward", counting)
    prompts = [f"{SHARED * 10}{end} . Answer :" for end in ENDS * 5]
    answers_of(model, requests(CHOICES, prompts))
    once = sum(read)
    read.clear()
    model.shares_prefix = False
    answers_of(model, requests(CHOICES, prompts))
    assert once < sum(read) / 5


@pytest.mark.parametrize("form", ["completion", "chat"])
def test_writing_in_batches_equals_transformers_own_generation(causal_model, tmp_path, form):
    sampling = SamplingConfig(max_tokens=12)
    model = model_of(causal_model, tmp_path, form=form, sampling=sampling)
    for request, answer in zip(requests(), answers_of(model, requests()), strict=True):
        text = model._text(request)
        ids = torch.tensor([model.tokenizer(text)["input_ids"]])
        whole = model.model.generate(
            ids, attention_mask=torch.ones_like(ids), max_new_tokens=12, do_sample=False
        )
        expected = model.tokenizer.decode(whole[0, ids.shape[1] :], skip_special_tokens=True)
        assert answer.text == expected.strip()
        assert ("assistant :" in text) == (form == "chat")


def test_an_answer_that_begins_another_is_refused(causal_model, tmp_path):
    model = model_of(causal_model, tmp_path, scoring="likelihood")
    with pytest.raises(ConfigError, match="the tokens of 'not' begin those of 'not at all'"):
        answers_of(model, requests(("not at all", "maybe so", "not")))


def test_sampled_answers_differ_between_seeds_and_repeat_within_one(causal_model, tmp_path):
    hot = SamplingConfig(temperature=2.0, top_p=0.95, max_tokens=8)

    def texts(seed):
        model = model_of(causal_model, tmp_path, sampling=hot)
        model.seed = seed
        return [answer.text for answer in answers_of(model, requests())]

    assert texts(0) == texts(0) != texts(1)


def test_an_answer_ends_at_a_stop_text(causal_model, tmp_path):
    free = answers_of(model_of(causal_model, tmp_path), requests())[0].text
    stop = free.split()[2]
    model = model_of(causal_model, tmp_path, sampling=SamplingConfig(stop=[stop]))
    cut = answers_of(model, requests())[0]
    assert cut.text == free[: free.index(stop)].strip()
    assert cut.finish == "stop"


def test_a_prompt_that_is_too_long_fails_alone(tiny_encoder, tmp_path):
    folder = save_causal_model(tiny_encoder, tmp_path / "short", positions=48)
    model = model_of(folder, tmp_path)
    first, second = answers_of(model, requests(prompts=["the committee", "so " * 60]))
    assert first.finish != "failed"
    assert second.finish == "failed"
    assert "120 tokens" in second.error
    assert "with an answer after it, 32" in second.error


@given(st.lists(st.lists(st.integers(0, 2), max_size=6), min_size=1, max_size=5))
def test_common_tokens_are_those_that_all_rows_begin_with(rows):
    expected = 0
    while all(len(row) > expected and row[expected] == rows[0][expected] for row in rows):
        expected += 1
    assert _count_common(rows) == expected


def test_gpt2_with_learnt_positions_scores_the_same(tiny_gpt2, tmp_path):
    model = model_of(tiny_gpt2, tmp_path, scoring="likelihood")
    asked = requests(CHOICES)
    found = answers_of(model, asked)
    for request, answer in zip(asked, found, strict=True):
        prompt = request.messages[0]["content"]
        expected = [plain_logprob(model, prompt, choice) for choice in CHOICES]
        np.testing.assert_allclose(answer.logprobs, expected, atol=1e-5)
    other = replace(model.settings, scoring="generate")
    assert LocalModel(compose(tmp_path, "model=local", "prompting.model.name=x"), other)
