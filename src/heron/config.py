"""The configuration: dataclass schemas hold the types, YAML in `conf/` holds the values.

Hydra composes plain YAML; `resolve` then checks it against these schemas, so every key that the
code reads is declared here, once, with its unit.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, get_args, get_origin, get_type_hints

from omegaconf import DictConfig, OmegaConf
from omegaconf.errors import OmegaConfBaseException

from heron.data.config import DataConfig
from heron.errors import ConfigError, nearest

PROTOCOLS = ("fixed", "paper", "repo")


@dataclass
class PathsConfig:
    """Folders; none of them influences a result.

    Args:
        data: where data sets lie (`<data>/trc/...`); `HERON_DATA` sets the default.
        cache: downloads, generated corpora, tokenized features.
        runs: run folders.
    """

    data: str = "data"
    cache: str = "cache"
    runs: str = "runs"


@dataclass
class TaskConfig:
    """What is learned and how it is scored.

    Args:
        name: `relation`.
        relaxed: which relaxed score `relaxed_macro_f1` means: `recode`, `drop`.
        bootstrap: resamples behind the 95 % intervals; 0 leaves them out.
        resample: what a resample draws: `group` (whole documents; rows without one stand alone)
            or `row`. Pairs of one document are not independent, so rows give too narrow intervals.
    """

    name: str = "relation"
    relaxed: str = "recode"
    bootstrap: int = 1000
    resample: str = "group"


@dataclass
class ScratchConfig:
    """Shape of an encoder built from nothing, with a tokenizer trained on the train split.

    Args:
        vocabulary: word pieces at most.
        hidden: width D.
        layers: number of layers.
        heads: attention heads.
        intermediate: width of the feed-forward layers.
        positions: longest sequence, in tokens.
    """

    vocabulary: int = 4000
    hidden: int = 128
    layers: int = 2
    heads: int = 4
    intermediate: int = 256
    positions: int = 256


@dataclass
class EncoderConfig:
    """A Hugging Face encoder, by hub id or path, or one built from `scratch`.

    Args:
        name: hub id or folder; `scratch` builds one from config.
        revision: branch, tag or commit on the hub.
        max_length: longest sequence, in tokens, special tokens included.
        num_layers: use the first k layers; null uses all.
        freeze: `none`, `embeddings`, `all`, or a number k: embeddings and the first k layers.
        dropout: probability for hidden states and attention; null keeps the encoder's own.
        attention: `eager` or `sdpa`, or another implementation that transformers knows.
        fast_dropout: on a CPU, draw dropout masks and attend in ways that suit it: the same
            functions, other random numbers (`models/dropout.py`); replaces `attention` there.
        gradient_checkpointing: recompute activations in the backward pass to save memory.
        trust_remote_code: run code that comes with the weights; off unless you have read it.
    """

    name: str = "scratch"
    revision: str | None = None
    max_length: int = 512
    num_layers: int | None = None
    freeze: str = "none"
    dropout: float | None = None
    attention: str = "sdpa"
    fast_dropout: bool = True
    gradient_checkpointing: bool = False
    trust_remote_code: bool = False
    scratch: ScratchConfig = field(default_factory=ScratchConfig)


@dataclass
class HeadConfig:
    """A pooling times a classifier, and the input form the pooling needs.

    Args:
        name: name for tables.
        input: `marked` (one pair per sequence, mentions between marker tokens, as in the papers)
            or `window` (each text once, unmarked, with all its pairs).
        pooling: `cls`, `event_start`, `mention_pool`, `span_ends`.
        classifier: `linear`, `mlp`, or `per_event`, the TRC repository's stack: a layer per event,
            then one for both; with `cls`, which has no events, BERT's pooler.
        hidden: widths of the hidden layers of `mlp`.
        dropout: probability before and inside the classifier.
        distance: width of the embedding of the distance between two spans; 0 leaves it out.
    """

    name: str = "ess"
    input: str = "marked"
    pooling: str = "event_start"
    classifier: str = "linear"
    hidden: list[int] = field(default_factory=list)
    dropout: float = 0.1
    distance: int = 0


@dataclass
class OptimConfig:
    """AdamW and its schedule.

    Args:
        lr: peak learning rate of the encoder.
        head_lr: peak learning rate of the head; null means `lr`.
        layer_decay: factor on the learning rate for each layer further from the head.
        weight_decay: on matrices only, never on biases and normalisation.
        schedule: `constant`, `linear`, `cosine` (both decay to 0).
        warmup: fraction of all optimizer steps.
        clip: largest gradient norm; 0 leaves gradients alone.
        accumulate: batches per optimizer step.
        label_smoothing: share of the target spread over all classes.
        class_weights: `none`, `balanced` (N / (C n_c)), `one_minus_share` (1 - n_c / N).
    """

    lr: float = 3e-5
    head_lr: float | None = None
    layer_decay: float = 1.0
    weight_decay: float = 0.01
    betas: list[float] = field(default_factory=lambda: [0.9, 0.999])
    eps: float = 1e-8
    schedule: str = "linear"
    warmup: float = 0.1
    clip: float = 1.0
    accumulate: int = 1
    label_smoothing: float = 0.0
    class_weights: str = "none"


@dataclass
class BatchingConfig:
    """How sequences become batches.

    Args:
        plan: `shuffle` (batches of `size` sequences) or `bucket` (sequences of like length, up to
            `tokens` tokens with padding).
        size: sequences per batch under `shuffle`.
        tokens: padded tokens per batch under `bucket` and in evaluation.
        workers: data loading processes.
    """

    plan: str = "shuffle"
    size: int = 32
    tokens: int = 4096
    workers: int = 0


@dataclass
class TrainerConfig:
    """How long, on what, and what is kept.

    Args:
        max_epochs: passes over the train split.
        monitor: validation metric that chooses the best epoch; a name in `scores.json`.
        select: `best` (by `monitor`, needs a validation split) or `last` epoch.
        patience: epochs without a better `monitor` before stopping; null never stops early.
        precision: `auto` (bf16 where the processor has it), `bf16-mixed`, `32-true`, `16-mixed`.
        checkpoint_minutes: a kill loses at most this much work; epochs are always kept.
        checkpoint_steps: the same, counted in optimizer steps; null leaves it to the clock.
        threads: CPU threads; null leaves it to torch.
        deterministic: bit-identical repeats on one machine.
        progress: show a progress bar; null: when the output is a terminal.
    """

    max_epochs: int = 3
    monitor: str = "macro_f1"
    select: str = "best"
    patience: int | None = None
    accelerator: str = "auto"
    devices: int = 1
    strategy: str = "auto"
    precision: str = "auto"
    checkpoint_minutes: float = 5.0
    checkpoint_steps: int | None = None
    threads: int | None = None
    deterministic: bool = True
    progress: bool | None = None


@dataclass
class DynamicsConfig:
    """Per-example training dynamics.

    Args:
        enabled: write `dynamics/epoch=<n>.parquet`.
    """

    enabled: bool = True


@dataclass
class LoggerConfig:
    """Weights & Biases; `metrics.csv` is always written.

    Args:
        wandb: log there too.
        project: W&B project.
        mode: `offline` (default; `wandb sync` uploads later), `online`, `disabled`.
    """

    wandb: bool = False
    project: str = "heron"
    mode: str = "offline"


@dataclass
class RunConfig:
    """Where the run folder lies and what happens when it is already there.

    Args:
        sweep: folder under `paths.runs`; null derives it from the experiment or the data.
        job: folder under the sweep; null derives it from the overrides and a hash.
        resume: go on from `last.ckpt`, skip what is done; false starts over.
        export: write `model/` in Hugging Face form.
    """

    sweep: str | None = None
    job: str | None = None
    resume: bool = True
    export: bool = True


@dataclass
class Config:
    """Everything one run needs."""

    data: DataConfig
    seed: int = 0
    protocol: str = "fixed"
    experiment: str | None = None
    report: str | None = None
    paths: PathsConfig = field(default_factory=PathsConfig)
    task: TaskConfig = field(default_factory=TaskConfig)
    encoder: EncoderConfig = field(default_factory=EncoderConfig)
    head: HeadConfig = field(default_factory=HeadConfig)
    optim: OptimConfig = field(default_factory=OptimConfig)
    batching: BatchingConfig = field(default_factory=BatchingConfig)
    trainer: TrainerConfig = field(default_factory=TrainerConfig)
    dynamics: DynamicsConfig = field(default_factory=DynamicsConfig)
    logger: LoggerConfig = field(default_factory=LoggerConfig)
    run: RunConfig = field(default_factory=RunConfig)


# What a value may be, where the type alone does not say it.
CHOICES = {
    "protocol": PROTOCOLS,
    "task.name": ("relation",),
    "task.relaxed": ("recode", "drop"),
    "task.resample": ("group", "row"),
    "head.input": ("marked", "window"),
    "head.pooling": ("cls", "event_start", "mention_pool", "span_ends"),
    "head.classifier": ("linear", "mlp", "per_event"),
    "optim.schedule": ("constant", "linear", "cosine"),
    "optim.class_weights": ("none", "balanced", "one_minus_share"),
    "batching.plan": ("shuffle", "bucket"),
    "trainer.select": ("best", "last"),
    "trainer.accelerator": ("auto", "cpu", "cuda", "gpu", "mps", "tpu"),
    "trainer.precision": ("auto", "bf16-mixed", "32-true", "16-mixed"),
    "logger.mode": ("offline", "online", "disabled"),
}
_AT_LEAST = {
    "seed": 0,
    "encoder.max_length": 8,
    "encoder.num_layers": 1,
    "encoder.scratch.layers": 1,
    "encoder.scratch.heads": 1,
    "head.distance": 0,
    "batching.size": 1,
    "batching.tokens": 8,
    "batching.workers": 0,
    "trainer.max_epochs": 1,
    "trainer.devices": 1,
    "trainer.patience": 1,
    "trainer.checkpoint_steps": 1,
    "trainer.threads": 1,
    "optim.accumulate": 1,
    "optim.lr": 0,
    "optim.head_lr": 0,
    "optim.layer_decay": 0,
    "optim.weight_decay": 0,
    "optim.clip": 0,
    "task.bootstrap": 0,
}
_FRACTIONS = ("optim.warmup", "optim.label_smoothing", "head.dropout", "encoder.dropout")

# Keys that say where things lie or how they look, and so cannot change a result.
NEUTRAL = ("paths", "run", "logger", "report", "trainer.progress")


def resolve(config: DictConfig) -> Config:
    """Check a composed configuration and turn it into dataclasses.

    Raises:
        ConfigError: an unknown key, a value of the wrong type or outside its range, or a
            combination that cannot work; names the key and what is allowed.
    """
    _refuse_unknown(config, Config, "")
    try:
        merged = OmegaConf.merge(OmegaConf.structured(Config), config)
        resolved = OmegaConf.to_object(merged)
    except OmegaConfBaseException as error:
        message = str(error).splitlines()[0]
        raise ConfigError(f"{error.full_key or 'configuration'}: {message}") from error
    assert isinstance(resolved, Config)
    _check_values(resolved)
    return resolved


def to_yaml(config: Config) -> str:
    """Write a configuration as YAML, every key with its value."""
    return OmegaConf.to_yaml(OmegaConf.structured(config))


def from_yaml(text: str) -> Config:
    """Read what `to_yaml` wrote."""
    config = OmegaConf.create(text)
    if not isinstance(config, DictConfig):
        raise ConfigError("config.yaml is not a mapping of keys to values")
    return resolve(config)


def decisive(config: Config) -> dict[str, Any]:
    """List what can change a result: `{dotted key: value}` without the keys in `NEUTRAL`."""
    neutral = tuple(f"{key}." for key in NEUTRAL)
    return {
        key: value for key, value in _flatten(as_dict(config)) if not f"{key}.".startswith(neutral)
    }


def as_dict(config: Any) -> dict[str, Any]:
    """Turn a configuration (or a part of it) into plain dictionaries."""
    return dataclasses.asdict(config)


def select(config: Any, key: str) -> Any:
    """Read a dotted key, such as `optim.lr`."""
    for part in key.split("."):
        config = getattr(config, part)
    return config


def all_keys(schema: Any = Config, prefix: str = "") -> list[str]:
    """List every dotted key of the schema."""
    keys = []
    for name, inner in _nested(schema).items():
        keys += [prefix + name, *(all_keys(inner, f"{prefix}{name}.") if inner else [])]
    return keys


def _flatten(values: dict[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    for key, value in values.items():
        if isinstance(value, dict) and value:
            yield from _flatten(value, f"{prefix}{key}.")
        else:
            yield prefix + key, value


def _nested(schema: Any) -> dict[str, Any]:
    """Map each field of a dataclass to the dataclass it holds (perhaps optional), or None."""
    fields: dict[str, Any] = {}
    for name, hint in get_type_hints(schema).items():
        inner = [each for each in (hint, *get_args(hint)) if dataclasses.is_dataclass(each)]
        # A mapping's keys are the user's own: data.files.<split>, data.counts.<split>.
        fields[name] = inner[0] if inner and get_origin(hint) is not dict else None
    return fields


def _refuse_unknown(config: DictConfig, schema: Any, prefix: str) -> None:
    fields, hints = _nested(schema), get_type_hints(schema)
    for key in map(str, config):
        name = prefix + key
        if key not in fields:
            known = [*all_keys(), *(prefix + field for field in fields)]
            raise ConfigError(f"unknown key '{name}'.{nearest(name, known)}")
        if not OmegaConf.is_dict(config._get_node(key)) or config[key] is None:
            continue
        if fields[key]:
            _refuse_unknown(config[key], fields[key], f"{name}.")
        elif dataclasses.is_dataclass(entry := get_args(hints[key])[-1]):
            for each in map(str, config[key]):
                _refuse_unknown(config[key][each], entry, f"{name}.{each}.")


def _check_values(config: Config) -> None:
    for key, allowed in CHOICES.items():
        value = select(config, key)
        if value not in allowed:
            raise ConfigError(f"{key}={value}.{nearest(str(value), allowed)}")
    for key, least in _AT_LEAST.items():
        value = select(config, key)
        if value is not None and not value >= least:  # so that nan is refused as well
            raise ConfigError(f"{key}={value}: must be at least {least}")
    for key in _FRACTIONS:
        value = select(config, key)
        if value is not None and not 0 <= value < 1:
            raise ConfigError(f"{key}={value}: must be in [0, 1)")
    if len(config.optim.betas) != 2 or not all(0 <= beta < 1 for beta in config.optim.betas):
        raise ConfigError(f"optim.betas={config.optim.betas}: must be two numbers in [0, 1)")
    _check_freeze(config.encoder)
    _check_scratch(config.encoder)
    _check_combination(config)


def _check_freeze(encoder: EncoderConfig) -> None:
    if encoder.freeze not in ("none", "embeddings", "all") and not encoder.freeze.isdigit():
        raise ConfigError(
            f"encoder.freeze={encoder.freeze}: allowed are none, embeddings, all or a layer count"
        )


def _check_scratch(encoder: EncoderConfig) -> None:
    shape = encoder.scratch
    if shape.hidden < 1 or shape.hidden % shape.heads:
        raise ConfigError(
            f"encoder.scratch.hidden={shape.hidden}: must be a multiple of "
            f"encoder.scratch.heads={shape.heads}"
        )


def _check_combination(config: Config) -> None:
    head = config.head
    needs = {"event_start": "marked", "span_ends": "window"}
    if head.pooling in needs and head.input != needs[head.pooling]:
        raise ConfigError(
            f"head.pooling={head.pooling} needs head.input={needs[head.pooling]}, not {head.input}"
        )
    if head.pooling == "cls" and head.input == "window":
        raise ConfigError("head.pooling=cls needs head.input=marked: a window holds many pairs")
    if head.classifier == "mlp" and not head.hidden:
        raise ConfigError("head.classifier=mlp needs head.hidden, for example head.hidden=[256]")
    if not all(width >= 1 for width in head.hidden):
        raise ConfigError(f"head.hidden={head.hidden}: widths must be at least 1")
    data, trainer = config.data, config.trainer
    validated = data.generator or "validation" in data.files or data.validation.fraction
    if not validated and (trainer.select == "best" or trainer.patience is not None):
        raise ConfigError(
            "trainer.select=best and trainer.patience need a validation split: name "
            "data.files.validation, or set data.validation.fraction above 0"
        )
