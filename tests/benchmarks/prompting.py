"""`python -m tests.benchmarks.prompting`: questions with a shared prompt, one by one and together.

100 prompts of about 600 tokens, the first 500 of which (instruction, examples) are the same. One
by one is what the papers' scripts do: tokenize, `model.generate`, decode, for each prompt. heron
writes the same answers in batches, or scores the labels in one pass; both read the shared tokens
once. A model of a given shape with random weights. See README.md here.
"""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
import transformers

from heron.base.errors import ConfigError, HeronError
from heron.base.libraries import silence_libraries
from heron.config.constraints import Count, Natural
from heron.data.hub import load_tokenizer
from heron.data.readers import load_run_data
from heron.models.config import EncoderConfig
from heron.training.compose import compose
from heron_tools.prompting.answers import Answer, Request
from heron_tools.prompting.config import ModelConfig, PromptingConfig, SamplingConfig
from heron_tools.prompting.local import LocalModel

from .frame import Found, Times, main, set_beside, time_rounds

LEAD, CHOICES = "תשובה:", ("נגזר", "סותר", "ניטרלי")
ONE_BY_ONE = "one by one"


@dataclass
class Options:
    """Options of the benchmark."""

    prompts: Count = 100
    shared: Natural = 500  # tokens that all prompts begin with
    own: Count = 100  # tokens of each prompt after them
    written: Count = 16  # tokens of an answer
    hidden: Count = 256  # width of the model
    layers: Count = 6
    batch: Count = 4096  # padded tokens of a batch
    rounds: Count = 2  # every way runs so often; ratios are taken within a round
    threads: Count = 1  # CPU threads
    out: Path = Path("runs/benchmark_prompting.json")


def make_model(options: Options, folder: Path) -> tuple[Path, list[str]]:
    """Save a model and a tokenizer of the built-in corpus; returns its folder and texts."""
    words = ("data=chronicle_nli", "data.generator.size=2000", f"paths.cache={folder / 'cache'}")
    examples = load_run_data(compose(words)).examples["train"]
    texts = [f"{each.text} {each.text_pair}" for each in examples]
    scratch = EncoderConfig(name="scratch")
    tokenizer: Any = load_tokenizer(
        scratch, (), [*texts, f"{LEAD} {' '.join(CHOICES)}"], folder / "cache"
    )
    tokenizer.backend_tokenizer.post_processor = None
    tokenizer.eos_token = "[SEP]"
    shape = transformers.LlamaConfig(
        vocab_size=len(tokenizer),
        hidden_size=options.hidden,
        num_hidden_layers=options.layers,
        num_attention_heads=4,
        intermediate_size=4 * options.hidden,
        max_position_embeddings=4096,
        eos_token_id=tokenizer.eos_token_id,
        bos_token_id=None,
    )
    torch.manual_seed(0)
    transformers.LlamaForCausalLM(shape).save_pretrained(folder / "model")
    tokenizer.save_pretrained(folder / "model")
    return folder / "model", texts


def make_prompts(options: Options, tokenizer: Any, texts: Sequence[str]) -> list[str]:
    """Join texts to prompts of the lengths asked for."""
    ids = tokenizer(" ".join(texts), add_special_tokens=False)["input_ids"]
    needed = options.shared + options.prompts * options.own
    if len(ids) < needed:
        raise ConfigError(f"prompts={options.prompts}: the texts have {len(ids)} tokens")
    shared, rest = ids[: options.shared], ids[options.shared : needed]
    parts = [rest[i : i + options.own] for i in range(0, len(rest), options.own)]
    return [f"{tokenizer.decode([*shared, *part])}\n{LEAD}" for part in parts]


def one_by_one(model: LocalModel, prompts: Sequence[str]) -> list[str]:
    """Write an answer to each prompt as a script does."""
    texts = []
    for prompt in prompts:
        read = model.tokenizer(prompt, return_tensors="pt", return_token_type_ids=False)
        ids = model.model.generate(
            **read, max_new_tokens=model.settings.sampling.max_tokens, do_sample=False
        )
        new = ids[0, read["input_ids"].shape[1] :]
        texts.append(model.tokenizer.decode(new, skip_special_tokens=True).strip())
    return texts


def answers(model: LocalModel, prompts: Sequence[str], choices: tuple[str, ...]) -> list[Answer]:
    """Ask heron's local model."""
    asked = [Request(p, ({"role": "user", "content": p},), choices) for p in prompts]
    found = dict(model.answer(asked))
    return [found[prompt] for prompt in prompts]


def measure(options: Options, folder: Path) -> Times:
    """Time every way once a round, in processor seconds.

    Raises:
        HeronError: two ways give other answers.
    """
    place, texts = make_model(options, folder)
    sampling = SamplingConfig(max_tokens=options.written)
    own = ModelConfig(name=str(place), form="completion", dtype="float32")
    config = compose([f"batching.tokens={options.batch}", "trainer.accelerator=cpu"])
    writing = LocalModel(config, PromptingConfig(model=own, sampling=sampling))
    scoring, alone = (
        LocalModel(config, replace(writing.settings, scoring="likelihood")) for _ in range(2)
    )
    alone.shares_prefix = False
    for each in (scoring, alone):
        each.__dict__ |= {"model": writing.model, "tokenizer": writing.tokenizer}
    prompts = make_prompts(options, writing.tokenizer, texts)
    ways = {
        ONE_BY_ONE: lambda: one_by_one(writing, prompts),
        "heron, written": lambda: answers(writing, prompts, ()),
        "likelihood, each prompt whole": lambda: answers(alone, prompts, CHOICES),
        "heron, likelihood": lambda: answers(scoring, prompts, CHOICES),
    }
    return time_rounds(ways, options.rounds, _check)


def _check(found: dict[str, Any]) -> None:
    written = [answer.text for answer in found["heron, written"]]
    differing = sum(a != b for a, b in zip(found[ONE_BY_ONE], written, strict=True))
    if differing > len(written) / 20:  # sums in another order can turn a choice
        raise HeronError(f"{differing} answers differ from those written one by one")
    whole, shared = (
        np.asarray([answer.logprobs for answer in found[name]])
        for name in ("likelihood, each prompt whole", "heron, likelihood")
    )
    if (furthest := np.abs(whole - shared).max()) > 1e-5:
        raise HeronError(f"log-likelihoods differ by {furthest:.1g}")


def run(options: Options) -> Found:
    """Answer all prompts in every way."""
    silence_libraries()
    torch.set_num_threads(options.threads)
    with tempfile.TemporaryDirectory() as folder:
        times = measure(options, Path(folder))
    shared, prompt = options.shared, options.shared + options.own
    case = f"{options.prompts} prompts of {prompt} tokens, {shared} shared"
    bars = {case: {"heron, likelihood": 6.0, "heron, written": None}}
    return set_beside(f"answers of {options.written} tokens", {case: times}, ONE_BY_ONE, bars=bars)


if __name__ == "__main__":
    raise SystemExit(main(Options, run))
