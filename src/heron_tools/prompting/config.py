"""Settings of `baseline=prompted`: the model, the prompt, the examples in it, and how it is asked.

Only runs that ask a language model load this module.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Annotated

from annotated_types import Ge, Interval

from heron.config.constraints import MISSING, Checked, Count, Natural, OneOf, Positive, Share
from heron.languages import LANGUAGES


@dataclass
class ModelConfig(Checked):
    """A language model, and where it answers."""

    name: str = MISSING  # hub id or folder, or the name by which a server knows it
    # `local` (transformers, on this machine), `server` (any with OpenAI's interface), `batch`
    # (files of requests and of answers), or another of `heron_tools.prompting.BACKENDS`
    backend: str = "local"
    # `chat` (messages; a local model's own template) or `completion` (one text)
    form: Annotated[str, OneOf("chat", "completion")] = "chat"
    revision: str | None = None  # branch, tag or commit on the hub
    # precision of a local model's weights; `auto`: as they are stored
    dtype: Annotated[str, OneOf("auto", "float32", "bfloat16", "float16")] = "auto"
    # of the server, `http://127.0.0.1:8000/v1`, `https://NAME.openai.azure.com/openai/v1/`; null:
    # OpenAI's
    url: str | None = None
    # the environment variable with the key; the key itself is never stored
    key: str = "OPENAI_API_KEY"
    # input_price, output_price: of a million tokens, in US dollars; null: unknown
    input_price: Annotated[float, Ge(0)] | None = None
    output_price: Annotated[float, Ge(0)] | None = None


@dataclass
class PromptConfig(Checked):
    """A prompt, as Jinja2 templates.

    Templates know `words` (of the language's `prompting:`), `classes` (of the data), `labels` (the
    answers for them), `output` (the word for the language of the answer), and in `item` also
    `text`, `text_pair` and `side` of the row.
    """

    name: str = MISSING  # name in tables
    # of `words` and of the answers; null: the data's
    language: Annotated[str, OneOf(registry=LANGUAGES)] | None = None
    instruction: str = MISSING  # what is to be done
    item: str = MISSING  # one row
    answer: str = "{{ words.answer }}:"  # what precedes the answer
    # the answer for each class: null: the language's word for it, else the class's name
    answers: dict[str, str] = field(default_factory=dict)
    # whether examples are `turns` of a chat, part of one `text`, or written by `item` alone, which
    # then knows them as `shots`, rows with `answer`, and is all that is sent
    examples: Annotated[str, OneOf("text", "turns", "item")] = "text"


@dataclass
class SamplingConfig:
    """How an answer is generated."""

    max_tokens: Count = 16  # most tokens of an answer
    temperature: Annotated[float, Interval(ge=0, le=2)] = 0.0  # 0: the most probable token
    top_p: Share = 1.0  # with a temperature: the most probable tokens that make up this share
    stop: list[str] = field(default_factory=list)  # texts at which an answer ends


@dataclass
class TrafficConfig:
    """How a server is asked; nothing here changes an answer."""

    concurrency: Count = 8  # requests at a time
    timeout: Positive = 60.0  # seconds to wait for an answer
    attempts: Count = 6  # at a request, before it counts as failed
    answers: list[str] = field(default_factory=list)  # of `model.backend=batch`: files of answers


@dataclass
class TranslationConfig(Checked):
    """Machine translation around a prompt; none where `input` and `output` are null."""

    # the language that rows are translated to before they are asked about; null: the data's
    input: Annotated[str, OneOf(registry=LANGUAGES)] | None = None
    # the language that the model writes, whose texts are translated back; null: the data's
    output: Annotated[str, OneOf(registry=LANGUAGES)] | None = None
    # `local` (a sequence-to-sequence model of transformers) or `server` (`q`, `source`, `target`
    # by HTTP, as LibreTranslate and Google take them)
    backend: str = "local"
    # hub id or folder; `{source}` and `{target}` are replaced by the languages' codes
    model: str | None = None
    # the model's own codes of languages, where one model has several: `{he: heb_Hebr}`
    codes: dict[str, str] = field(default_factory=dict)
    url: str | None = None  # of the server, `http://127.0.0.1:5000/translate`
    key: str = "HERON_TRANSLATION_KEY"  # the environment variable with the key, where one is needed

    def problems(self) -> Iterator[str]:
        """Check that there is something to translate with."""
        needed = "url" if self.backend == "server" else "model"
        if (self.input or self.output) and getattr(self, needed) is None:
            yield f"prompting.translation needs prompting.translation.{needed}"


@dataclass
class PromptingConfig(Checked):
    """Everything about a run that asks a language model."""

    NEUTRAL = ("traffic", "model.key", "model.input_price", "model.output_price")

    model: ModelConfig = field(default_factory=ModelConfig)
    prompt: PromptConfig = field(default_factory=PromptConfig)
    shots: Natural = 0  # examples in the prompt, in all
    # the data set whose train split they are drawn from, or a table with the columns of the run's,
    # below `paths.data`; null: the run's
    pool: str | None = None
    # `random`, `balanced` (as many of each class, as far as the number allows) or `first` (in the
    # order of the pool)
    draw: Annotated[str, OneOf("random", "balanced", "first")] = "random"
    # whether every question has the same examples; otherwise each has its own
    same: bool = True
    # `generate` (write an answer, which is parsed), `constrained` (write one of the answers), or
    # `likelihood` (the answer that the model finds most probable); the last two need classes
    scoring: Annotated[str, OneOf("generate", "constrained", "likelihood")] = "generate"
    # of `likelihood`: divide by the probabilities that the answers have without a row's texts
    calibrate: bool = False
    splits: list[str] = field(default_factory=lambda: ["test"])  # which are asked about
    translation: TranslationConfig = field(default_factory=TranslationConfig)
    sampling: SamplingConfig = field(default_factory=SamplingConfig)
    traffic: TrafficConfig = field(default_factory=TrafficConfig)

    def problems(self) -> Iterator[str]:
        """List what cannot work together."""
        if self.scoring != "generate" and self.model.backend in ("server", "batch"):
            yield (
                f"prompting.scoring={self.scoring} needs a local model: a "
                f"{self.model.backend} gives texts only; set prompting.scoring=generate"
            )
        if self.model.form == "completion" and self.model.backend == "batch":
            yield "prompting.model.backend=batch writes chats; set prompting.model.form=chat"
