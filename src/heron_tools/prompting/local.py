"""Local models, by transformers: generation, or likelihoods of answers.

The prefix that all prompts share (instruction, examples) is encoded once; each batch reuses its
keys and values. Batches hold prompts of similar length.

Shape suffixes: B rows of a batch, L tokens, V vocabulary.
"""

from __future__ import annotations

import copy
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property
from itertools import permutations, takewhile
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

from heron.base.errors import ConfigError
from heron.base.libraries import silence_libraries
from heron.base.ranks import uses_gpu
from heron.data.batching import budget
from heron.data.hub import loading, origin
from heron.data.weights import load_weights
from heron.models.config import EncoderConfig
from heron.tasks.config import Config
from heron_tools.prompting.answers import Answer, Request
from heron_tools.prompting.config import ModelConfig, PromptingConfig
from heron_tools.prompting.prompts import as_text

_LEAST_SHARED = 8  # tokens; fewer are not worth a pass of their own


_Row = tuple[int, ...]  # tokens of a prompt, or of a prompt with an answer after it


class _Prompt(NamedTuple):
    """An encoded request."""

    key: str  # the request's `key`
    text: str
    ids: tuple[int, ...]


class LocalModel:
    """See `heron_tools.prompting.answers.Backend`.

    Raises:
        ConfigError: the model cannot be loaded, or `form=chat` without a chat template.
    """

    shares_prefix = True  # False: encode every prompt as a whole, for comparison

    def __init__(self, config: Config, settings: PromptingConfig):
        silence_libraries()
        self.settings, self.most_tokens = settings, budget(config.batching)
        self.accelerator = config.trainer.accelerator
        self.seed = config.seed

    @cached_property
    def tokenizer(self) -> Any:
        """The model's tokenizer."""
        from transformers import AutoTokenizer  # start-up time

        model = self.settings.model
        with _loading(model) as place:
            tokenizer = AutoTokenizer.from_pretrained(model.name, **place)
        if model.form == "chat" and tokenizer.chat_template is None:
            raise ConfigError(
                f"prompting.model.name={model.name}: its tokenizer has no chat template; set "
                "prompting.model.form=completion"
            )
        return tokenizer

    @cached_property
    def model(self) -> Any:
        """The model, in eval mode, on the device that `trainer.accelerator` allows."""
        from transformers import AutoModelForCausalLM, GenerationConfig  # start-up time

        settings = self.settings.model
        with _loading(settings) as place:
            model: Any = load_weights(
                AutoModelForCausalLM,
                settings.name,
                dtype=settings.dtype,
                use_safetensors=True,
                **place,
            )
        # The model's defaults (a temperature, a penalty) would overrule `prompting.sampling`.
        own = _listed(model.generation_config.eos_token_id)
        ends = sorted({*own, *_listed(self.tokenizer.eos_token_id)})
        pad = ends[0] if ends else 0
        model.generation_config = GenerationConfig(eos_token_id=ends or None, pad_token_id=pad)
        model.eval()
        return model.cuda() if uses_gpu(self.accelerator) else model

    def count_tokens(self, request: Request) -> int:
        """Count the tokens of a request."""
        return len(self._encode([self._text(request)])[0])

    def answer(self, requests: Sequence[Request]) -> Iterator[tuple[str, Answer]]:
        """See `Backend`."""
        way = self._most_probable if self.settings.scoring == "likelihood" else self._write
        for choices in dict.fromkeys(request.choices for request in requests):
            prompts = []
            group = [request for request in requests if request.choices == choices]
            texts = [self._text(request) for request in group]
            room = self._room(choices)
            for request, text, ids in zip(group, texts, self._encode(texts), strict=True):
                if len(ids) <= room:
                    prompts.append(_Prompt(request.key, text, tuple(ids)))
                else:
                    error = f"the prompt has {len(ids)} tokens; with an answer after it, {room} fit"
                    yield request.key, Answer(finish="failed", error=error)
            yield from way(prompts, choices)

    def _room(self, choices: Sequence[str]) -> float:
        """Compute how many tokens a prompt may have."""
        most = getattr(self.model.config, "max_position_embeddings", None) or float("inf")
        if not choices:
            return most - self.settings.sampling.max_tokens
        plain = self.tokenizer(list(choices), add_special_tokens=False)["input_ids"]
        return most - max(1 + len(ids) for ids in plain)

    def _text(self, request: Request) -> str:
        if self.settings.model.form == "completion":
            return as_text(request.messages)
        text: str = self.tokenizer.apply_chat_template(
            list(request.messages), tokenize=False, add_generation_prompt=True
        )
        return text

    def _encode(self, texts: Sequence[str]) -> list[list[int]]:
        if not texts:
            return []
        # A chat template adds its special tokens.
        special = self.settings.model.form == "completion"
        encoded = self.tokenizer(list(texts), add_special_tokens=special)["input_ids"]
        # An end token that the tokenizer adds would end the answer before it begins.
        ends = (self.tokenizer.eos_token_id, self.tokenizer.sep_token_id)
        return [ids[:-1] if special and ids and ids[-1] in ends else ids for ids in encoded]

    def _with_choices(self, prompt: _Prompt, choices: Sequence[str]) -> list[list[int]]:
        """Encode a prompt with each choice after it."""
        space = "" if self.settings.model.form == "chat" or prompt.text[-1:].isspace() else " "
        return self._encode([f"{prompt.text}{space}{choice}" for choice in choices])

    # Likelihood

    def _most_probable(
        self, prompts: Sequence[_Prompt], choices: Sequence[str]
    ) -> Iterator[tuple[str, Answer]]:
        """Score every choice: the sum of its tokens' log-probabilities after the prompt."""
        pairs: dict[_Prompt, list[tuple[_Row, list[int]]]] = {}  # per choice: input, answer
        for prompt in prompts:
            whole = self._with_choices(prompt, choices)
            _check_beginnings(choices, whole)
            before = _count_common([prompt.ids, *map(tuple, whole)])
            # The last token is only predicted: choices that differ there share a row.
            pairs[prompt] = [(tuple(ids[:-1]), ids[before:]) for ids in whole]
        every = [pair for of in pairs.values() for pair in of]
        # Logits are needed from the token before an answer on.
        most = min((len(row) - len(answer) for row, answer in every), default=0)
        shared, cache = self._shared([row for row, _ in every], most)
        for batch in self._batches(prompts, shared, len(choices)):
            begun, of = time.monotonic(), [pair for prompt in batch for pair in pairs[prompt]]
            rows = list(dict.fromkeys(row for row, _ in of))
            last = max(len(answer) for _, answer in of)
            logprobs_BLV = self._logprobs(rows, shared, cache, last)
            seconds = (time.monotonic() - begun) / len(batch)
            for prompt in batch:
                found = []
                for row, answer in pairs[prompt]:
                    of_LV = logprobs_BLV[rows.index(row), -len(answer) :]
                    places = torch.arange(len(answer))
                    found.append(float(of_LV[places, answer].double().sum()))
                best, tokens = choices[int(np.argmax(found))], len(prompt.ids)
                answered = Answer(best, logprobs=tuple(found), input_tokens=tokens, seconds=seconds)
                yield prompt.key, answered

    @torch.inference_mode()
    def _logprobs(self, rows: Sequence[_Row], shared: int, cache: Any, last: int) -> Tensor:
        """Compute log-probabilities after each of the `last` tokens, float32 [B, last, V]."""
        tokens_BL, mask_BL = self._padded(rows, shared)
        output = self.model(
            input_ids=tokens_BL[:, shared:],
            attention_mask=mask_BL,
            position_ids=(mask_BL.cumsum(1) - 1).clamp(min=0)[:, shared:],
            past_key_values=_repeated(cache, len(rows)),
            use_cache=cache is not None,
            logits_to_keep=last,
        )
        logprobs_BLV: Tensor = output.logits.float().log_softmax(-1).cpu()
        return logprobs_BLV

    # Writing

    def _write(
        self, prompts: Sequence[_Prompt], choices: Sequence[str] = ()
    ) -> Iterator[tuple[str, Answer]]:
        """Generate an answer to each prompt."""
        ids = [prompt.ids for prompt in prompts]
        shared, cache = self._shared(ids, min(map(len, ids), default=1) - 1)
        for batch in self._batches(prompts, shared):
            begun = time.monotonic()
            written = self._generate([prompt.ids for prompt in batch], shared, cache)
            seconds = (time.monotonic() - begun) / len(batch)
            for prompt, new in zip(batch, written, strict=True):
                text = self.tokenizer.decode(new, skip_special_tokens=True)
                stops = [at for s in self.settings.sampling.stop if (at := text.find(s)) >= 0]
                text = text[: min(stops)] if stops else text
                ends = stops or len(new) < self.settings.sampling.max_tokens
                finish = "stop" if ends else "length"
                found = Answer(text.strip(), finish, (), len(prompt.ids), len(new), seconds)
                yield prompt.key, found

    def _generate(self, rows: Sequence[_Row], shared: int, cache: Any) -> list[list[int]]:
        """Generate after each row until an end token or `max_tokens`."""
        tokens_BL, mask_BL = self._padded(rows, shared)
        sampling, start = self.settings.sampling, tokens_BL.shape[1]
        ends = _listed(self.model.generation_config.eos_token_id)

        options: dict[str, Any] = {"max_new_tokens": sampling.max_tokens, "do_sample": False}
        if sampling.temperature:
            own = {"temperature": sampling.temperature, "top_p": sampling.top_p, "top_k": 0}
            options |= {"do_sample": True, **own}
        with torch.random.fork_rng():
            torch.manual_seed(self.seed)
            output = self.model.generate(
                tokens_BL,
                attention_mask=mask_BL,
                past_key_values=_repeated(cache, len(rows)),
                **options,
            )
        written = output[:, start:].tolist()
        return [list(takewhile(lambda token: token not in ends, ids)) for ids in written]

    # Batches

    @torch.inference_mode()
    def _shared(self, rows: Sequence[_Row], most: int) -> tuple[int, Any]:
        """Encode the prefix that all rows share; returns its length, and its keys and values.

        It has at most `most` tokens: the logits of later ones are needed.
        """
        is_shared = len(rows) > 1 and self.shares_prefix
        count = min(_count_common(rows), most) if is_shared else 0
        if count < _LEAST_SHARED:
            return 0, None
        tokens_1L = torch.tensor([rows[0][:count]], device=self.model.device)
        return count, self.model(tokens_1L, use_cache=True, logits_to_keep=1).past_key_values

    def _batches(
        self, prompts: Sequence[_Prompt], shared: int, each: int = 1
    ) -> Iterator[list[_Prompt]]:
        """Divide prompts into batches of similar length, the longest first, by padded tokens.

        `each` is the maximum number of rows per prompt.
        """
        batch: list[_Prompt] = []
        for prompt in sorted(prompts, key=lambda prompt: len(prompt.ids), reverse=True):
            tokens = (len(batch) + 1) * each * (len((batch or [prompt])[0].ids) - shared)
            if batch and tokens > self.most_tokens:
                yield batch
                batch = []
            batch.append(prompt)
        if batch:
            yield batch

    def _padded(self, rows: Sequence[_Row], shared: int) -> tuple[Tensor, Tensor]:
        """Pad rows between the shared tokens and their own; tokens and mask, int64 [B, L]."""
        longest, device = max(map(len, rows)), self.model.device
        gaps = [[0] * (longest - len(row)) for row in rows]
        tokens = [[*r[:shared], *gap, *r[shared:]] for r, gap in zip(rows, gaps, strict=True)]
        mask = [[*[1] * shared, *gap, *[1] * (longest - shared - len(gap))] for gap in gaps]
        return torch.tensor(tokens, device=device), torch.tensor(mask, device=device)


@contextmanager
def _loading(model: ModelConfig) -> Iterator[dict[str, Any]]:
    """Yield where to load from; errors name `prompting.model.name`."""
    try:
        with loading(model.name):
            yield origin(EncoderConfig(name=model.name, revision=model.revision))
    except ConfigError as error:
        said = str(error).replace("encoder.name", "prompting.model.name")
        raise ConfigError(said) from error


def _check_beginnings(choices: Sequence[str], paths: Sequence[Sequence[int]]) -> None:
    """Refuse an answer whose tokens are a prefix of another's, which could never be chosen."""
    for (short, begun), (long, path) in permutations(zip(choices, paths, strict=True), 2):
        if len(begun) < len(path) and list(path[: len(begun)]) == list(begun):
            raise ConfigError(
                f"prompting.prompt.answers: the tokens of '{short}' begin those of '{long}', which "
                "would never be chosen; choose words that differ at the start, or scoring=generate"
            )


def _count_common(rows: Sequence[Any]) -> int:
    """Count the tokens that all rows begin with."""
    first, last = min(rows), max(rows)  # in sorting order, all others lie between
    return next(
        (i for i, (a, b) in enumerate(zip(first, last, strict=False)) if a != b), len(first)
    )


def _repeated(cache: Any, rows: int) -> Any:
    """Give each row of a batch the shared keys and values; None without any."""
    if cache is None:
        return None
    repeated = copy.deepcopy(cache)
    for layer in repeated.layers:  # views, copied when a row's own keys are appended
        layer.keys = layer.keys.expand(rows, *layer.keys.shape[1:])
        layer.values = layer.values.expand(rows, *layer.values.shape[1:])
    return repeated


def _listed(ids: Any) -> list[int]:
    return ids if isinstance(ids, list) else [] if ids is None else [ids]
