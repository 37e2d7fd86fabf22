"""Local models, by transformers: generate freely, among the answers, or score each answer.

The tokens that all prompts begin with (instruction, examples) are read once; each batch begins from
their keys and values. Batches hold prompts of similar length.

Shape suffixes: B rows of a batch, L their tokens after the shared ones, V vocabulary, K choices.
"""

from __future__ import annotations

import copy
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from itertools import permutations, takewhile
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

from heron.base.errors import ConfigError
from heron.base.libraries import silence_libraries
from heron.data.batching import budget
from heron.data.hub import loading, origin
from heron.models.config import EncoderConfig
from heron.tasks.config import Config
from heron_tools.prompting.answers import Answer, Request
from heron_tools.prompting.config import ModelConfig, PromptingConfig
from heron_tools.prompting.prompts import as_text

_LEAST_SHARED = 8  # tokens; fewer are not worth a pass of their own


class _Prompt(NamedTuple):
    """A request to the model."""

    key: str  # of the request
    text: str
    ids: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class _Row:
    """Token ids of a prompt, or of a prompt with an answer behind it."""

    ids: tuple[int, ...]
    prompt: _Prompt


class LocalModel:
    """See `heron_tools.prompting.backends.Backend`.

    Raises:
        ConfigError: the model cannot be loaded, or `form=chat` without a chat template.
    """

    shares_prefix = True  # False reads every prompt from its first token, for comparison

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
        gpu = self.accelerator in ("auto", "gpu", "cuda") and torch.cuda.is_available()
        with _loading(settings) as place:
            model: Any = AutoModelForCausalLM.from_pretrained(
                settings.name, dtype=settings.dtype, use_safetensors=True, **place
            )
        # Its own defaults (a temperature, a penalty) would overrule `prompting.sampling`.
        own = _listed(model.generation_config.eos_token_id)
        ends = sorted({*own, *_listed(self.tokenizer.eos_token_id)})
        pad = ends[0] if ends else 0
        model.generation_config = GenerationConfig(eos_token_id=ends or None, pad_token_id=pad)
        model.eval()
        return model.cuda() if gpu else model

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
                    error = (
                        f"the prompt has {len(ids)} tokens; beside an answer, {room} can be read"
                    )
                    yield request.key, Answer(finish="failed", error=error)
            yield from way(prompts, choices)

    def _room(self, choices: Sequence[str]) -> float:
        """Count the tokens that a prompt may have."""
        most = getattr(self.model.config, "max_position_embeddings", None) or float("inf")
        longest = max((1 + len(ids) for ids in self._encode_plain(choices)), default=0)
        return most - (longest or self.settings.sampling.max_tokens)

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
        # A chat template has its special tokens.
        special = self.settings.model.form == "completion"
        encoded = self.tokenizer(list(texts), add_special_tokens=special)["input_ids"]
        # An end token that the tokenizer adds would end the answer before it begins.
        ends = (self.tokenizer.eos_token_id, self.tokenizer.sep_token_id)
        return [ids[:-1] if special and ids and ids[-1] in ends else ids for ids in encoded]

    def _encode_plain(self, texts: Sequence[str]) -> list[list[int]]:
        if not texts:
            return []
        found: list[list[int]] = self.tokenizer(list(texts), add_special_tokens=False)["input_ids"]
        return found

    def _with_choices(self, prompt: _Prompt, choices: Sequence[str]) -> list[list[int]]:
        """Encode a prompt with each choice behind it."""
        space = "" if self.settings.model.form == "chat" or prompt.text[-1:].isspace() else " "
        return self._encode([f"{prompt.text}{space}{choice}" for choice in choices])

    # Likelihood

    def _most_probable(
        self, prompts: Sequence[_Prompt], choices: Sequence[str]
    ) -> Iterator[tuple[str, Answer]]:
        """Score every choice: the sum of its tokens' log-probabilities after the prompt."""
        wanted: dict[_Prompt, list[tuple[_Row, list[int]]]] = {}  # by choice: row, its answer
        answers: dict[_Row, list[list[int]]] = {}  # of each row, which several choices may share
        for prompt in prompts:
            whole = self._with_choices(prompt, choices)
            if not self.settings.calibrate:  # else the longer answer may win
                _check_beginnings(choices, whole)
            shared = _count_common([prompt.ids, *map(tuple, whole)])
            # The last token is predicted, and need not be read.
            pairs = [(_Row(tuple(ids[:-1]), prompt), ids[shared:]) for ids in whole]
            wanted[prompt] = pairs
            for row, answer in pairs:
                answers.setdefault(row, []).append(answer)
        left = {prompt: len({row for row, _ in pairs}) for prompt, pairs in wanted.items()}
        scores: dict[tuple[_Row, tuple[int, ...]], float] = {}
        for batch, score, seconds in self._read(answers):
            for row in batch:
                scores |= {(row, tuple(answer)): score(row, answer) for answer in answers[row]}
                left[row.prompt] -= 1
                if left[row.prompt]:
                    continue
                found = [scores[each, tuple(answer)] for each, answer in wanted[row.prompt]]
                yield (
                    row.prompt.key,
                    Answer(
                        choices[int(np.argmax(found))],
                        logprobs=tuple(found),
                        input_tokens=len(row.prompt.ids),
                        seconds=seconds,
                    ),
                )

    def _read(self, answers: dict[_Row, list[list[int]]]) -> Iterator[Any]:
        """Read rows in batches; yields each batch, a look-up of scores, and seconds per row."""
        rows, longest = list(answers), {row: max(map(len, answers[row])) for row in answers}
        # The logits of the tokens before an answer and in it are needed.
        most = min((len(row.ids) - longest[row] for row in rows), default=0)
        shared, cache = self._shared(rows, most)
        for batch in self._batches(rows, shared):
            begun = time.monotonic()
            logprobs = self._logprobs(batch, shared, cache, max(longest[row] for row in batch))
            number = {row: index for index, row in enumerate(batch)}

            def score(row: _Row, answer: list[int]) -> float:
                found_LV = logprobs[number[row], -len(answer) :]  # noqa: B023
                return float(found_LV[torch.arange(len(answer)), answer].double().sum())

            yield batch, score, (time.monotonic() - begun) / len(batch)

    @torch.inference_mode()
    def _logprobs(self, rows: Sequence[_Row], shared: int, cache: Any, last: int) -> Tensor:
        """Compute log-probabilities [B, L, V] after each of the `last` tokens."""
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
        self, prompts: Sequence[_Prompt], choices: Sequence[str]
    ) -> Iterator[tuple[str, Answer]]:
        """Write an answer behind each prompt, token by token; with choices, one of them."""
        rows = [_Row(prompt.ids, prompt) for prompt in prompts]
        shared, cache = self._shared(rows, min((len(row.ids) for row in rows), default=1) - 1)
        for batch in self._batches(rows, shared):
            begun = time.monotonic()
            allowed = [self._continuations(row.prompt, choices) for row in batch]
            written = self._generate(batch, shared, cache, allowed)
            seconds = (time.monotonic() - begun) / len(batch)
            for row, ids, paths in zip(batch, written, allowed, strict=True):
                if choices:
                    place = next(n for n, p in enumerate(paths) if tuple(ids[: len(p)]) == p)
                    ids, text, finish = list(paths[place]), choices[place], "stop"
                else:
                    text = self.tokenizer.decode(ids, skip_special_tokens=True)
                    stops = [at for s in self.settings.sampling.stop if (at := text.find(s)) >= 0]
                    text = text[: min(stops)] if stops else text
                    ends = stops or len(ids) < self.settings.sampling.max_tokens
                    finish = "stop" if ends else "length"
                found = Answer(text.strip(), finish, (), len(row.ids), len(ids), seconds)
                yield row.prompt.key, found

    def _continuations(self, prompt: _Prompt, choices: Sequence[str]) -> list[tuple[int, ...]]:
        """List the tokens of each choice behind a prompt; empty where anything may be written."""
        if not choices:
            return []
        # Where the first token of an answer joins the prompt's last one, the answer alone counts.
        before = len(prompt.ids)
        paths = [
            tuple(ids[before:]) if tuple(ids[:before]) == prompt.ids else tuple(alone)
            for ids, alone in zip(
                self._with_choices(prompt, choices), self._encode_plain(choices), strict=True
            )
        ]
        _check_beginnings(choices, paths)
        return paths

    def _generate(
        self,
        rows: Sequence[_Row],
        shared: int,
        cache: Any,
        allowed: Sequence[list[tuple[int, ...]]],
    ) -> list[list[int]]:
        """Write behind each row until its end token, or `max_tokens`; or one of `allowed` paths."""
        tokens_BL, mask_BL = self._padded(rows, shared)
        sampling, start = self.settings.sampling, tokens_BL.shape[1]
        ends = _listed(self.model.generation_config.eos_token_id)

        def next_tokens(row: int, ids_L: Tensor) -> list[int]:
            written = tuple(ids_L[start:].tolist())
            going = [p for p in allowed[row] if p[: len(written)] == written != p]
            return [path[len(written)] for path in going] or ends or [0]  # behind a path, anything

        options: dict[str, Any] = {"max_new_tokens": sampling.max_tokens, "do_sample": False}
        if any(allowed):
            longest = max(len(path) for paths in allowed for path in paths)
            options |= {"max_new_tokens": longest, "prefix_allowed_tokens_fn": next_tokens}
        elif sampling.temperature:
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
        """Read the tokens that all rows begin with; returns their number, and keys and values.

        At most the first `most`: the logits of those that follow are needed.
        """
        is_shared = len(rows) > 1 and self.shares_prefix
        count = min(_count_common([row.ids for row in rows]), most) if is_shared else 0
        if count < _LEAST_SHARED:
            return 0, None
        tokens_1L = torch.tensor([rows[0].ids[:count]], device=self.model.device)
        return count, self.model(tokens_1L, use_cache=True, logits_to_keep=1).past_key_values

    def _batches(self, rows: Sequence[_Row], shared: int) -> Iterator[list[_Row]]:
        """Divide rows into batches of similar length, the longest first, by padded tokens."""
        batch: list[_Row] = []
        for row in sorted(rows, key=lambda row: len(row.ids), reverse=True):
            if batch and (len(batch) + 1) * (len(batch[0].ids) - shared) > self.most_tokens:
                yield batch
                batch = []
            batch.append(row)
        if batch:
            yield batch

    def _padded(self, rows: Sequence[_Row], shared: int) -> tuple[Tensor, Tensor]:
        """Pad rows between the shared tokens and their own; tokens and mask, int64 [B, L]."""
        longest, device = max(len(row.ids) for row in rows), self.model.device
        tokens, mask = [], []
        for row in rows:
            padding, own = [0] * (longest - len(row.ids)), len(row.ids) - shared
            tokens.append([*row.ids[:shared], *padding, *row.ids[shared:]])
            mask.append([*[1] * shared, *padding, *[1] * own])
        return torch.tensor(tokens, device=device), torch.tensor(mask, device=device)


@contextmanager
def _loading(model: ModelConfig) -> Iterator[dict[str, Any]]:
    """Say where to load from; errors name the key of prompts."""
    try:
        with loading(model.name):
            yield origin(EncoderConfig(name=model.name, revision=model.revision))
    except ConfigError as error:
        said = str(error).replace("encoder.name", "prompting.model.name")
        raise ConfigError(said) from error


def _check_beginnings(choices: Sequence[str], paths: Sequence[Sequence[int]]) -> None:
    """Refuse an answer whose tokens begin those of another, which would never be chosen."""
    for (short, begun), (long, path) in permutations(zip(choices, paths, strict=True), 2):
        if len(begun) < len(path) and list(path[: len(begun)]) == list(begun):
            raise ConfigError(
                f"prompting.prompt.answers: the tokens of '{short}' begin those of '{long}', which "
                "would never be chosen; choose words that differ at the start, or scoring=generate"
            )


def _count_common(rows: Sequence[Any]) -> int:
    """Count the tokens that all rows begin with."""
    first, last = min(rows), max(rows)  # all others lie between them
    return next(
        (i for i, (a, b) in enumerate(zip(first, last, strict=False)) if a != b), len(first)
    )


def _repeated(cache: Any, rows: int) -> Any:
    """Give each row of a batch the shared keys and values; None without any."""
    if cache is None:
        return None
    repeated = copy.deepcopy(cache)
    for layer in repeated.layers:  # as views: they are copied when a row's own ones are added
        layer.keys = layer.keys.expand(rows, *layer.keys.shape[1:])
        layer.values = layer.values.expand(rows, *layer.values.shape[1:])
    return repeated


def _listed(ids: Any) -> list[int]:
    return ids if isinstance(ids, list) else [] if ids is None else [ids]
