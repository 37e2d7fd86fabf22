"""Settings of `baseline=prompted`: the model, the prompt, its shots, sampling and translation.

Only runs that prompt a language model load this module.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Annotated

from annotated_types import Ge, Interval

from heron.config.constraints import (
    MISSING,
    ConstrainedConfig,
    Count,
    Natural,
    OneOf,
    Positive,
    Share,
)
from heron.languages import LanguageCode


@dataclass
class ModelConfig(ConstrainedConfig):
    """A language model and its backend."""

    name: str = MISSING  # hub id or folder, or the name by which a server knows it
    # `local` (transformers, on this machine), `server` (any with OpenAI's interface), or another of
    # `heron_tools.prompting.BACKENDS`
    backend: str = "local"
    # `chat` (messages; a local model's own template) or `completion` (one text)
    form: Annotated[str, OneOf("chat", "completion")] = "chat"
    revision: str | None = None  # branch, tag or commit on the hub
    # precision of a local model's weights; `auto`: as they are stored
    dtype: Annotated[str, OneOf("auto", "float32", "bfloat16", "float16")] = "auto"
    # the server's address, `http://127.0.0.1:8000/v1`, `https://NAME.openai.azure.com/openai/v1/`;
    # null: OpenAI's
    url: str | None = None
    # the environment variable with the API key; the key itself is never stored
    key: str = "OPENAI_API_KEY"
    # input_price, output_price: US dollars per million tokens; null: unknown
    input_price: Annotated[float, Ge(0)] | None = None
    output_price: Annotated[float, Ge(0)] | None = None


@dataclass
class PromptConfig(ConstrainedConfig):
    """A prompt, as Jinja2 templates.

    Variables of the templates: `words` (`prompting:` of the language's YAML), `classes` (of the
    data), `labels` (the answers, in the order of `classes`; see `answers`), `output` (name of the
    answer's language), and in `item` also the row's `text`, `text_pair` and `side`.
    """

    name: str = MISSING  # name in tables
    # language of `words` and answers; null: the data's
    language: Annotated[str, LanguageCode()] | None = None
    instruction: str = MISSING  # what is to be done
    item: str = MISSING  # one row
    answer: str = "{{ words.answer }}:"  # what precedes the answer
    # the answer for each class; by default the language's word for it, or the class's name
    answers: dict[str, str] = field(default_factory=dict)
    # how shots are shown: as `turns` of a chat, in one `text`, or by `item`, which is then the
    # whole prompt, without `instruction`, and gets them as `shots` (rows with `answer`)
    examples: Annotated[str, OneOf("text", "turns", "item")] = "text"


@dataclass
class SamplingConfig:
    """How an answer is generated."""

    max_tokens: Count = 16  # most tokens of an answer
    temperature: Annotated[float, Interval(ge=0, le=2)] = 0.0  # 0: greedy decoding
    top_p: Share = 1.0  # with a temperature: nucleus sampling from this share of probability
    stop: list[str] = field(default_factory=list)  # texts at which an answer ends


@dataclass
class TrafficConfig:
    """How requests are sent; nothing here changes an answer."""

    concurrency: Count = 8  # requests at a time
    timeout: Positive = 60.0  # seconds to wait for an answer
    attempts: Count = 6  # per request, before it counts as failed


@dataclass
class TranslationConfig(ConstrainedConfig):
    """Machine translation of rows and answers; none if `input` and `output` are null."""

    # the language that rows are translated to for prompts; null: the data's
    input: Annotated[str, LanguageCode()] | None = None
    # the language of the model's answers, which are translated back; null: the data's
    output: Annotated[str, LanguageCode()] | None = None
    # `local` (a sequence-to-sequence model of transformers) or `server` (`q`, `source`, `target`
    # by HTTP, as LibreTranslate and Google take them)
    backend: str = "local"
    # hub id or folder; `{source}` and `{target}` are replaced by the languages' codes
    model: str | None = None
    # the model's own language codes, for a multilingual model: `{he: heb_Hebr}`
    codes: dict[str, str] = field(default_factory=dict)
    url: str | None = None  # of the server, `http://127.0.0.1:5000/translate`
    key: str = "HERON_TRANSLATION_KEY"  # the environment variable with the key, where one is needed

    def problems(self) -> Iterator[str]:
        """Check that there is something to translate with."""
        needed = "url" if self.backend == "server" else "model"
        if (self.input or self.output) and getattr(self, needed) is None:
            yield f"prompting.translation needs prompting.translation.{needed}"


@dataclass
class PromptingConfig(ConstrainedConfig):
    """Settings of a run that prompts a language model."""

    # keys that cannot change a result
    NEUTRAL = ("traffic", "model.key", "model.input_price", "model.output_price")

    model: ModelConfig = field(default_factory=ModelConfig)
    prompt: PromptConfig = field(default_factory=PromptConfig)
    shots: Natural = 0  # number of examples in the prompt
    # shots are drawn from the train split of this data set, or from a table below `paths.data` with
    # the columns of the run's data; null: the run's train split
    pool: str | None = None
    # `random`, `balanced` (classes in equal numbers, as far as possible) or `first` (in the order
    # of the pool)
    draw: Annotated[str, OneOf("random", "balanced", "first")] = "random"
    # whether every row gets the same shots; otherwise they are drawn for each
    same: bool = True
    # `generate` (write an answer, which is parsed) or `likelihood` (the answer that the model finds
    # most probable; needs classes)
    scoring: Annotated[str, OneOf("generate", "likelihood")] = "generate"
    splits: list[str] = field(default_factory=lambda: ["test"])  # splits to ask about
    translation: TranslationConfig = field(default_factory=TranslationConfig)
    sampling: SamplingConfig = field(default_factory=SamplingConfig)
    traffic: TrafficConfig = field(default_factory=TrafficConfig)

    def problems(self) -> Iterator[str]:
        """List settings that exclude each other."""
        if self.scoring != "generate" and self.model.backend == "server":
            yield (
                f"prompting.scoring={self.scoring} needs a local model: a server gives texts only; "
                "set prompting.scoring=generate"
            )
