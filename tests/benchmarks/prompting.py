"""Questions with a shared prompt, one by one and together.

100 prompts of about 600 tokens, the first 500 of which (instruction, examples) are the same. One
by one is what the papers' scripts do: tokenize, `model.generate`, decode, for each prompt. heron
writes the same answers in batches, or scores the labels in one pass; both read the shared tokens
once. A model of a given shape with random weights.
"""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch

from heron.base.errors import HeronError
from heron.base.libraries import silence_libraries
from heron.config.constraints import Count, Natural
from heron.data.hub import load_tokenizer
from heron.data.readers import load_run_data
from heron.models.config import EncoderConfig
from heron.training.compose import compose
from heron_tools.prompting.answers import ModelAnswer, ModelRequest
from heron_tools.prompting.config import ModelConfig, PromptingConfig, SamplingConfig
from heron_tools.prompting.local import LocalModel
from tiny_models import save_model

from .frame import Found, Out, Times, beside, time_rounds
from .scripts import one_by_one

CHOICES = ("נגזר", "סותר", "ניטרלי")
ALONE, WRITTEN, LIKELY = "one by one", "heron, written", "heron, likelihood"


@dataclass
class Options(Out):
    """Options of the benchmark."""

    prompts: Count = 100
    shared: Natural = 500  # tokens that all prompts begin with
    own: Count = 100  # tokens of each prompt after them
    written: Count = 16  # tokens of an answer
    hidden: Count = 256  # width of the model
    layers: Count = 6
    rounds: Count = 2


def make_model(options: Options, folder: Path) -> tuple[Path, list[str]]:
    """Save a model and a tokenizer of the built-in corpus; returns its folder and the prompts."""
    words = ("data=chronicle_nli", "data.generator.size=2000", f"paths.cache={folder / 'cache'}")
    examples = load_run_data(compose(words)).examples["train"]
    known = [" ".join(f"{each.text} {each.text_pair}" for each in examples)]
    known += [f"תשובה: {' '.join(CHOICES)}"]
    tokenizer: Any = load_tokenizer(EncoderConfig(name="scratch"), (), known, folder)
    tokenizer.backend_tokenizer.post_processor = None
    tokenizer.eos_token = "[SEP]"
    shape = {"hidden_size": options.hidden, "num_hidden_layers": options.layers}
    shape |= {"num_attention_heads": 4, "intermediate_size": 4 * options.hidden}
    shape |= {"eos_token_id": tokenizer.eos_token_id, "max_position_embeddings": 4096}
    own = {**shape, "bos_token_id": None}
    place = save_model("llama", tokenizer, folder / "model", "AutoModelForCausalLM", **own)
    ids = tokenizer(known[0], add_special_tokens=False)["input_ids"]
    shared, rest = ids[: options.shared], np.array(ids[options.shared :])
    parts = rest[: options.prompts * options.own].reshape(options.prompts, -1).tolist()
    return place, [f"{tokenizer.decode([*shared, *part])}\nתשובה:" for part in parts]


def answers(
    model: LocalModel, prompts: Sequence[str], choices: tuple[str, ...]
) -> list[ModelAnswer]:
    """Ask heron's local model."""
    asked = [ModelRequest(p, ({"role": "user", "content": p},), choices) for p in prompts]
    found = dict(model.answer(asked))
    return [found[prompt] for prompt in prompts]


def measure(options: Options, folder: Path) -> Times:
    """Time every way once a round, in processor seconds."""
    place, prompts = make_model(options, folder)
    sampling = SamplingConfig(max_tokens=options.written)
    own = ModelConfig(name=str(place), form="completion", dtype="float32")
    config = compose(["batching.tokens=4096", "trainer.accelerator=cpu"])
    writing = LocalModel(config, PromptingConfig(model=own, sampling=sampling))
    scoring = LocalModel(config, replace(writing.settings, scoring="likelihood"))
    model, tokenizer = writing.model, writing.tokenizer
    scoring.__dict__ |= {"model": model, "tokenizer": tokenizer}
    script = partial(one_by_one, model, tokenizer, tokenizer, prompts, do_sample=False)
    ways = {
        ALONE: partial(script, max_new_tokens=options.written),
        WRITTEN: partial(answers, writing, prompts, ()),
        LIKELY: partial(answers, scoring, prompts, CHOICES),
    }
    return time_rounds(ways, options.rounds, check)


def check(found: dict[str, Any]) -> None:
    """Compare what is written; sums in another order can turn a choice."""
    written = [answer.text for answer in found[WRITTEN]]
    differing = sum(a != b for a, b in zip(found[ALONE], written, strict=True))
    if differing > len(written) / 20:
        raise HeronError(f"{differing} answers differ from those written one by one")


def run(options: Options) -> Found:
    """Answer all prompts in every way."""
    silence_libraries()
    torch.set_num_threads(1)
    with tempfile.TemporaryDirectory() as folder:
        times = measure(options, Path(folder))
    prompt, written = options.shared + options.own, f"answers of {options.written} tokens"
    work = f"{written}, {options.prompts} prompts of {prompt} tokens, {options.shared} shared"
    return Found(beside(work, times, ALONE, {LIKELY: "≥ 6"}))
