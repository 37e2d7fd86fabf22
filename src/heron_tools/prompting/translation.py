"""Machine translation of the texts in a prompt, and of the answers.

Source: HeSum appendix B, Table 8 (instruction, article and summary each in Hebrew or English).
Deviates: the paper used Google Translate; here it is any seq2seq model or translation server.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import Any

import httpx

from heron.base.errors import ConfigError, HeronError
from heron.base.files import fingerprint
from heron.base.registry import Registry
from heron.data.batching import budget
from heron.data.examples import Example
from heron.data.hub import identity, loading, origin, read_as_stored
from heron.data.weights import load_weights
from heron.metrics.summary import split_sentences
from heron.models.config import EncoderConfig
from heron.tasks.config import Config
from heron.tasks.task import task_of
from heron_tools.prompting.answers import KeyedAnswers, ModelAnswer, ModelRequest, Store
from heron_tools.prompting.config import ModelConfig, PromptingConfig
from heron_tools.prompting.prompts import user_message
from heron_tools.prompting.server import Server

_BEAMS = 4  # beam search, as usual in machine translation


class Translator:
    """Translates between the data's language and the prompts' languages.

    Each translation is stored once, in `<paths.cache>/answers/translation-<model>.sqlite`.
    """

    def __init__(self, config: Config, settings: PromptingConfig):
        self.config = config
        self.settings = settings.translation
        self.backend = TRANSLATORS[self.settings.backend](config, settings)
        self.home = config.data.language

    def translate_rows(self, rows: Sequence[Example]) -> list[Example]:
        """Translate the texts of rows to the language of the prompts.

        Raises:
            ConfigError: a row has events, whose positions would be lost.
        """
        target = self.settings.input
        if target is None:
            return list(rows)
        if task_of(self.config).has_classes:
            for row in rows:
                if row.spans:
                    raise ConfigError(
                        f"prompting.translation.input={target}: translation would lose the "
                        f"positions of the events in {row.guid}; set it to null"
                    )

        texts = self.translate([row.text for row in rows], self.home, target)
        pairs = self.translate([row.text_pair or "" for row in rows], self.home, target)
        translated = []
        for row, text, pair in zip(rows, texts, pairs, strict=True):
            text_pair = pair or row.text_pair
            translated.append(replace(row, text=text, text_pair=text_pair, spans=()))
        return translated

    def translate_golds(self, answers: Sequence[str]) -> list[str]:
        """Translate the gold answers of shots to the language that the model answers in."""
        target = self.settings.output
        if target is None:
            return list(answers)
        return self.translate(answers, self.home, target)

    def translate_answers(self, texts: Sequence[str]) -> list[str]:
        """Translate the model's answers to the data's language."""
        source = self.settings.output
        if source is None:
            return list(texts)
        return self.translate(texts, source, self.home)

    def requests(self, texts: Sequence[str], source: str, target: str) -> list[ModelRequest]:
        """List the translations that texts need; none where source and target are equal.

        Args:
            texts: empty ones need no translation.
            source: code of their language.
            target: code of the language to translate to.
        """
        if source == target:
            return []
        settings = self.settings
        model: list[Any] = [settings.model, settings.url, source, target]  # what decides a text
        if settings.codes:
            model.append(dict(settings.codes))
        if settings.backend == "local":
            folder = model_name(settings.model, source, target)
            if Path(folder).is_dir():  # its files may change
                model.append(identity(EncoderConfig(name=folder)))

        requests = []
        for text in dict.fromkeys(texts):
            if text.strip():
                key = fingerprint(model, text)
                requests.append(ModelRequest(key, (user_message(text),), (source, target)))
        return requests

    @property
    def store(self) -> Store:
        """Where translations are kept."""
        cache_dir = Path(self.config.paths.cache)
        model = Path(self.settings.model or str(self.settings.url))
        return Store(cache_dir, f"translation-{model.name}")

    def translate(self, texts: Sequence[str], source: str, target: str) -> list[str]:
        """Translate texts; empty texts are returned as they are.

        Args:
            texts: in any order, also repeated.
            source: code of their language.
            target: code of the language to translate to.

        Raises:
            HeronError: a text could not be translated; finished ones are stored.
        """
        requests = self.requests(texts, source, target)
        bar = self.config.trainer.enable_progress_bar
        answers = self.store.ask(requests, self.backend, "translating", bar)
        failed = [answer for answer in answers.values() if answer.finish != "stop"]
        if failed:
            raise HeronError(
                f"{len(failed)} of {len(requests)} texts could not be translated: "
                f"{failed[0].error or failed[0].finish}. The same command asks for them again"
            )
        translations = {}
        for request in requests:
            text = request.messages[0]["content"]
            translations[text] = answers[request.key].text
        return [translations.get(text, text) for text in texts]


def model_name(model: str | None, source: str, target: str) -> str:
    """Name the model for two languages: `{source}` and `{target}` are replaced by their codes."""
    try:
        return str(model).format(source=source, target=target)
    except (LookupError, ValueError, AttributeError) as error:
        raise ConfigError(
            f"prompting.translation.model={model}: only {{source}} and {{target}} may stand in "
            "braces"
        ) from error


class LocalTranslation:
    """Translates sentence by sentence with a seq2seq model of transformers.

    Raises:
        ConfigError: the model cannot be loaded.
    """

    def __init__(self, config: Config, settings: PromptingConfig):
        self.settings = settings.translation
        self.most_tokens = budget(config.batching)
        self._loaded: dict[str, tuple[Any, Any]] = {}

    def answer(self, requests: Sequence[ModelRequest]) -> KeyedAnswers:
        """See `Backend`; `choices` of a request are its two languages."""
        for request in requests:
            source, target = request.choices
            text = request.messages[0]["content"]
            sentences = self._sentences(split_sentences(text), source, target)
            yield request.key, ModelAnswer(" ".join(sentences))

    def _sentences(self, sentences: Sequence[str], source: str, target: str) -> Iterable[str]:
        """Translate sentences one by one."""
        import torch  # start-up time

        tokenizer, model = self._model(source, target)
        codes = self.settings.codes
        limit = getattr(model.config, "max_position_embeddings", None) or 512
        options = {"num_beams": _BEAMS, "max_length": limit}
        if codes:  # one model for many languages, such as NLLB
            tokenizer.src_lang = codes.get(source, source)
            target_code = codes.get(target, target)
            options["forced_bos_token_id"] = tokenizer.convert_tokens_to_ids(target_code)

        for sentence in sentences:
            encoded = tokenizer(sentence, truncation=True, max_length=limit, return_tensors="pt")
            encoded.pop("token_type_ids", None)
            with torch.inference_mode():
                ids = model.generate(**encoded, **options)
            text = tokenizer.decode(ids[0], skip_special_tokens=True)
            yield text.strip()

    def _model(self, source: str, target: str) -> tuple[Any, Any]:
        from transformers import AutoModelForSeq2SeqLM, AutoTokenizer  # start-up time

        name = model_name(self.settings.model, source, target)
        if name not in self._loaded:
            with loading(name):
                encoder = EncoderConfig(name=name)
                options = origin(encoder)
                tokenizer = AutoTokenizer.from_pretrained(name, **options)
                read_as_stored(tokenizer, encoder)
                model = load_weights(AutoModelForSeq2SeqLM, name, use_safetensors=True, **options)
            self._loaded[name] = tokenizer, model.eval()
        return self._loaded[name]


class TranslationServer(Server):
    """A client of HTTP APIs like LibreTranslate's or Google's: `q`, `source` and `target`."""

    def __init__(self, config: Config, settings: PromptingConfig):
        own = settings.translation
        model = ModelConfig(own.model or "translation", "server", url=own.url, key=own.key)
        super().__init__(config, replace(settings, model=model))

    @cached_property
    def _key(self) -> dict[str, str]:
        key = os.environ.get(self.settings.model.key)
        return {"api_key": key} if key else {}

    def _once(self, request: ModelRequest) -> ModelAnswer:
        source, target = request.choices
        text = request.messages[0]["content"]
        body = {"q": text, "source": source, "target": target, "format": "text", **self._key}
        headers = {"X-goog-api-key": self._key.get("api_key", "")}
        response = self.client.post(
            str(self.settings.model.url),
            cast_to=httpx.Response,
            body=body,
            options={"headers": headers},
        )
        reply = response.json()
        try:
            if "data" in reply:
                reply = reply["data"]["translations"][0]
            return ModelAnswer(str(reply["translatedText"]).strip())
        except (LookupError, TypeError) as error:
            raise ValueError(f"no translation: {reply!s:.80}") from error


TRANSLATORS: Registry[Any] = Registry(
    "translator",
    {
        "local": "heron_tools.prompting.translation:LocalTranslation",
        "server": "heron_tools.prompting.translation:TranslationServer",
    },
    key="prompting.translation.backend",
)
