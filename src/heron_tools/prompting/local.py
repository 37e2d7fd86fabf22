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
from heron.data.hub import loading, origin, read_as_stored
from heron.data.weights import load_weights
from heron.models.config import EncoderConfig
from heron.tasks.config import Config
from heron_tools.prompting.answers import KeyedAnswers, ModelAnswer, ModelRequest
from heron_tools.prompting.config import ModelConfig, PromptingConfig
from heron_tools.prompting.prompts import as_text

_LEAST_SHARED = 8  # tokens; fewer are not worth a pass of their own


_Row = tuple[int, ...]  # tokens of a prompt, or of a prompt with an answer after it


class _Prompt(NamedTuple):
    """An encoded request."""

    key: str  # the request's `key`
    text: str
    ids: _Row


class LocalModel:
    """See `heron_tools.prompting.answers.Backend`.

    Raises:
        ConfigError: the model cannot be loaded, or `form=chat` without a chat template.
    """

    shares_prefix = True  # False: encode every prompt as a whole, for comparison

    def __init__(self, config: Config, settings: PromptingConfig):
        silence_libraries()
        self.settings = settings
        self.most_tokens = budget(config.batching)
        self.accelerator = config.trainer.accelerator
        self.seed = config.seed

    @cached_property
    def tokenizer(self) -> Any:
        """The model's tokenizer."""
        from transformers import AutoTokenizer  # start-up time

        model = self.settings.model
        with _loading(model) as source:
            tokenizer = AutoTokenizer.from_pretrained(model.name, **source)
        read_as_stored(tokenizer, EncoderConfig(name=model.name, revision=model.revision))
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
        with _loading(settings) as source:
            model: Any = load_weights(
                AutoModelForCausalLM,
                settings.name,
                dtype=settings.dtype,
                use_safetensors=True,
                **source,
            )
        # The model's defaults (a temperature, a penalty) would overrule `prompting.sampling`.
        model_ends = _listed(model.generation_config.eos_token_id)
        ends = sorted({*model_ends, *_listed(self.tokenizer.eos_token_id)})
        pad = ends[0] if ends else 0
        model.generation_config = GenerationConfig(eos_token_id=ends or None, pad_token_id=pad)
        model.eval()
        return model.cuda() if uses_gpu(self.accelerator) else model

    def count_tokens(self, request: ModelRequest) -> int:
        """Count the tokens of a request."""
        return len(self._encode([self._text(request)])[0])

    def answer(self, requests: Sequence[ModelRequest]) -> KeyedAnswers:
        """See `Backend`; a prompt that is too long for the model gets a failed answer."""
        by_choices: dict[tuple[str, ...], list[ModelRequest]] = {}
        for request in requests:
            by_choices.setdefault(request.choices, []).append(request)

        for choices, group in by_choices.items():
            texts = [self._text(request) for request in group]
            encoded = self._encode(texts)
            room = self._room(choices)
            prompts = []
            for request, text, ids in zip(group, texts, encoded, strict=True):
                length = len(ids)
                if length > room:
                    error = f"the prompt has {length} tokens; with an answer after it, {room} fit"
                    yield request.key, ModelAnswer(finish="failed", error=error)
                    continue
                prompt = _Prompt(request.key, text, tuple(ids))
                prompts.append(prompt)

            if self.settings.scoring == "likelihood":
                yield from self._most_probable(prompts, choices)
            else:
                yield from self._write(prompts)

    def _room(self, choices: Sequence[str]) -> float:
        """Compute how many tokens a prompt may have."""
        limit = getattr(self.model.config, "max_position_embeddings", None) or float("inf")
        if not choices:
            return limit - self.settings.sampling.max_tokens
        encoded = self.tokenizer(list(choices), add_special_tokens=False)["input_ids"]
        longest = max(len(ids) for ids in encoded)
        return limit - longest - 1

    def _text(self, request: ModelRequest) -> str:
        """Write a request as one text, by the model's chat template if it has chats."""
        if self.settings.model.form == "completion":
            return as_text(request.messages)
        text: str = self.tokenizer.apply_chat_template(
            list(request.messages), tokenize=False, add_generation_prompt=True
        )
        return text

    def _encode(self, texts: Sequence[str]) -> list[list[int]]:
        """Encode texts, without an end token after them."""
        if not texts:
            return []
        # A chat template adds its special tokens.
        adds_special = self.settings.model.form == "completion"
        encoded = self.tokenizer(list(texts), add_special_tokens=adds_special)["input_ids"]
        # An end token that the tokenizer adds would end the answer before it begins.
        ends = (self.tokenizer.eos_token_id, self.tokenizer.sep_token_id)
        for ids in encoded:
            if adds_special and ids and ids[-1] in ends:
                ids.pop()
        return list(encoded)

    def _with_choices(self, prompt: _Prompt, choices: Sequence[str]) -> list[list[int]]:
        """Encode a prompt with each choice after it."""
        before = prompt.text
        if self.settings.model.form == "completion" and not before[-1:].isspace():
            before += " "
        return self._encode([f"{before}{choice}" for choice in choices])

    # Likelihood

    def _most_probable(self, prompts: Sequence[_Prompt], choices: Sequence[str]) -> KeyedAnswers:
        """Score every choice: the sum of its tokens' log-probabilities after the prompt."""
        rows: dict[_Prompt, list[_Row]] = {}  # the model's input for each choice
        answers: dict[_Prompt, list[_Row]] = {}  # the tokens of each choice
        every_row: list[_Row] = []
        starts: list[int] = []  # of the answers
        for prompt in prompts:
            sequences = [tuple(ids) for ids in self._with_choices(prompt, choices)]
            _check_beginnings(choices, sequences)
            start = _count_common([prompt.ids, *sequences])
            starts.append(start)
            answers[prompt] = [sequence[start:] for sequence in sequences]
            # The last token is only predicted: choices that differ there share a row.
            rows[prompt] = [sequence[:-1] for sequence in sequences]
            every_row += rows[prompt]

        # Logits are needed from the token before an answer on.
        first_start = min(starts, default=1)
        shared, cache = self._shared(every_row, first_start - 1)
        for batch in self._batches(prompts, shared, len(choices)):
            start_time = time.monotonic()
            place_of: dict[_Row, int] = {}  # in the batch, which has each row once
            longest = 0
            for prompt in batch:
                for row in rows[prompt]:
                    place_of.setdefault(row, len(place_of))
                for answer in answers[prompt]:
                    longest = max(longest, len(answer))
            logprobs_BLV = self._logprobs(list(place_of), shared, cache, longest)

            seconds = (time.monotonic() - start_time) / len(batch)
            for prompt in batch:
                logprobs = []
                for row, answer in zip(rows[prompt], answers[prompt], strict=True):
                    place = place_of[row]
                    length = len(answer)
                    answer_LV = logprobs_BLV[place, -length:]
                    logprobs_L = answer_LV[torch.arange(length), list(answer)]
                    logprobs.append(float(logprobs_L.double().sum()))
                best = choices[int(np.argmax(logprobs))]
                yield (
                    prompt.key,
                    ModelAnswer(
                        best,
                        logprobs=tuple(logprobs),
                        input_tokens=len(prompt.ids),
                        seconds=seconds,
                    ),
                )

    @torch.inference_mode()
    def _logprobs(self, rows: Sequence[_Row], shared: int, cache: Any, last: int) -> Tensor:
        """Compute log-probabilities after each of the last tokens.

        Args:
            rows: tokens, the shared ones included.
            shared: number of tokens that all rows share.
            cache: their keys and values, or None.
            last: number of tokens.

        Returns:
            logprobs_BLV, float32 [B, last, V].
        """
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

    def _write(self, prompts: Sequence[_Prompt]) -> KeyedAnswers:
        """Generate an answer to each prompt."""
        sampling = self.settings.sampling
        rows = [prompt.ids for prompt in prompts]
        shortest = min(map(len, rows), default=1)
        shared, cache = self._shared(rows, shortest - 1)
        for batch in self._batches(prompts, shared):
            start_time = time.monotonic()
            batch_rows = [prompt.ids for prompt in batch]
            generated = self._generate(batch_rows, shared, cache)

            seconds = (time.monotonic() - start_time) / len(batch)
            for prompt, ids in zip(batch, generated, strict=True):
                text = self.tokenizer.decode(ids, skip_special_tokens=True)
                stops = [text.find(stop) for stop in sampling.stop if stop in text]
                if stops:
                    text = text[: min(stops)]
                is_complete = stops or len(ids) < sampling.max_tokens
                yield (
                    prompt.key,
                    ModelAnswer(
                        text.strip(),
                        finish="stop" if is_complete else "length",
                        input_tokens=len(prompt.ids),
                        output_tokens=len(ids),
                        seconds=seconds,
                    ),
                )

    def _generate(self, rows: Sequence[_Row], shared: int, cache: Any) -> list[list[int]]:
        """Generate after each row until an end token or `max_tokens`."""
        tokens_BL, mask_BL = self._padded(rows, shared)
        sampling = self.settings.sampling
        options: dict[str, Any] = {"do_sample": False}
        if sampling.temperature:
            options = {
                "do_sample": True,
                "temperature": sampling.temperature,
                "top_p": sampling.top_p,
                "top_k": 0,
            }
        with torch.random.fork_rng():
            torch.manual_seed(self.seed)
            output_BL = self.model.generate(
                tokens_BL,
                attention_mask=mask_BL,
                past_key_values=_repeated(cache, len(rows)),
                max_new_tokens=sampling.max_tokens,
                **options,
            )

        ends = _listed(self.model.generation_config.eos_token_id)
        generated = output_BL[:, tokens_BL.shape[1] :].tolist()
        return [list(takewhile(lambda token: token not in ends, ids)) for ids in generated]

    # Batches

    @torch.inference_mode()
    def _shared(self, rows: Sequence[_Row], longest: int) -> tuple[int, Any]:
        """Encode the prefix that all rows share; returns its length, and its keys and values.

        It has at most `longest` tokens: the logits of later ones are needed.
        """
        if len(rows) < 2 or not self.shares_prefix:
            return 0, None
        length = min(_count_common(rows), longest)
        if length < _LEAST_SHARED:
            return 0, None
        tokens_1L = torch.tensor([rows[0][:length]], device=self.model.device)
        output = self.model(tokens_1L, use_cache=True, logits_to_keep=1)
        return length, output.past_key_values

    def _batches(
        self, prompts: Sequence[_Prompt], shared: int, rows_per_prompt: int = 1
    ) -> Iterator[list[_Prompt]]:
        """Divide prompts into batches of similar length, the longest first, by padded tokens.

        `rows_per_prompt` is the maximum.
        """
        batch: list[_Prompt] = []
        for prompt in sorted(prompts, key=lambda prompt: len(prompt.ids), reverse=True):
            if batch:
                rows = (len(batch) + 1) * rows_per_prompt
                length = len(batch[0].ids) - shared
                if rows * length > self.most_tokens:
                    yield batch
                    batch = []
            batch.append(prompt)
        if batch:
            yield batch

    def _padded(self, rows: Sequence[_Row], shared: int) -> tuple[Tensor, Tensor]:
        """Pad rows between the shared tokens and their own.

        Returns:
            Tokens and mask, int64 [B, L].
        """
        device = self.model.device
        longest = max(map(len, rows))
        tokens = []
        mask = []
        for row in rows:
            gap = [0] * (longest - len(row))
            own = row[shared:]
            tokens.append([*row[:shared], *gap, *own])
            mask.append([1] * shared + gap + [1] * len(own))
        return torch.tensor(tokens, device=device), torch.tensor(mask, device=device)


@contextmanager
def _loading(model: ModelConfig) -> Iterator[dict[str, Any]]:
    """Yield where to load from; errors name `prompting.model.name`."""
    try:
        with loading(model.name):
            yield origin(EncoderConfig(name=model.name, revision=model.revision))
    except ConfigError as error:
        message = str(error).replace("encoder.name", "prompting.model.name")
        raise ConfigError(message) from error


def _check_beginnings(choices: Sequence[str], sequences: Sequence[_Row]) -> None:
    """Refuse an answer whose tokens are a prefix of another's, which could never be chosen."""
    pairs = permutations(zip(choices, sequences, strict=True), 2)
    for (short, short_ids), (long, long_ids) in pairs:
        if short_ids != long_ids and long_ids[: len(short_ids)] == short_ids:
            raise ConfigError(
                f"prompting.prompt.answers: the tokens of '{short}' begin those of '{long}', which "
                "would never be chosen; choose words that differ at the start, or scoring=generate"
            )


def _count_common(rows: Sequence[Any]) -> int:
    """Count the tokens that all rows begin with."""
    # In sorting order, all others lie between.
    first = min(rows)
    last = max(rows)
    for index, (token, other) in enumerate(zip(first, last, strict=False)):
        if token != other:
            return index
    return len(first)


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
    if ids is None:
        return []
    return ids if isinstance(ids, list) else [ids]
