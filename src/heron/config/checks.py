"""The configuration: composed YAML in, checked dataclasses out.

`heron.config.schema` holds the types; here are the ranges, the combinations that cannot work, and
the way to YAML and back.
"""

from __future__ import annotations

import dataclasses
import math
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, get_args, get_origin, get_type_hints

from omegaconf import DictConfig, OmegaConf
from omegaconf.errors import OmegaConfBaseException

from heron.base.errors import ConfigError, nearest
from heron.base.yaml_files import dump_yaml, parse_yaml
from heron.config.baseline import check_baseline
from heron.config.bertscore import LONG, PRECISIONS, check_bertscore
from heron.config.curriculum import DIFFICULTIES, GROWING, check_dynamics
from heron.config.options import LAST_SEED
from heron.config.schema import BUDGET, Config, EncoderConfig, StageConfig, TrainerConfig

# What a value may be, where the type alone does not say it.
CHOICES = {
    "protocol": ("fixed", "paper", "repo"),
    "task.name": ("relation", "nli", "qa", "summarization"),
    "task.relaxed": ("recode", "drop"),
    "task.resample": ("group", "row"),
    "task.bertscore.long": LONG,
    "task.bertscore.precision": PRECISIONS,
    "encoder.truncation": ("only_first", "only_second", "longest_first"),
    "encoder.overflow": ("truncate", "windows"),
    "head.input": (
        "marked",
        "window",
        "pair",
        "separate",
        "premise",
        "hypothesis",
        "question",
        "article",
    ),
    "head.pooling": (
        "cls",
        "last_token",
        "mean",
        "event_start",
        "mention_pool",
        "span_ends",
        "tokens",
    ),
    "head.combine": ("concat", "compare"),
    "head.over_windows": ("mean_logits", "max_logits", "mean_states"),
    "head.classifier": ("linear", "mlp", "per_event", "span", "biaffine", "seq2seq", "warm_start"),
    "head.dropout_at": ("all", "hidden", "first", "first_two"),
    "head.layer_norm": ("none", "first", "all"),
    "baseline.name": (
        "none",
        "majority",
        "cbow_svm",
        "cbow_softmax",
        "zero_shot",
        "lead",
        "textrank",
        "oracle",
    ),
    "baseline.input": ("pair", "premise", "hypothesis"),
    "baseline.words": ("words", "folded", "whitespace"),
    "baseline.scale": ("none", "standard", "minmax"),
    "baseline.kernel": ("linear", "rbf"),
    "baseline.class_weight": ("none", "balanced"),
    "baseline.zero_shot": ("definitions", "direct"),
    "baseline.entailment": ("probability", "logit"),
    "baseline.permutation": ("none", "repo"),
    "optim.name": ("adamw", "adafactor"),
    "optim.schedule": ("constant", "linear", "cosine"),
    "optim.class_weights": ("none", "balanced", "one_minus_share"),
    "batching.plan": ("shuffle", "bucket"),
    "batching.oversample": ("none", "balanced", "multipliers"),
    "dynamics.mode": ("train", "evaluation"),
    "curriculum.difficulty": DIFFICULTIES,
    "curriculum.order": ("difficulty", "groups"),
    "curriculum.grouping": ("allenai", "tercile_partition"),
    "curriculum.pacing": ("stages", *GROWING, "self_paced"),
    "curriculum.sampling": ("plain", "stratified"),
    "curriculum.budget": ("equal", "own"),
    "curriculum.embeddings": ("pretrained", "trained"),
    "trainer.select": ("best", "last"),
    "trainer.accelerator": ("auto", "cpu", "cuda", "gpu", "mps", "tpu"),
    "trainer.strategy": ("auto", "ddp", "ddp_find_unused_parameters_true", "fsdp"),
    "trainer.precision": ("auto", "bf16-mixed", "32-true", "16-mixed"),
    "run.retry": ("cut", "failed"),
    "logger.mode": ("offline", "online", "disabled"),
    "launcher.name": ("local", "joblib", "slurm", "ray"),
    "launcher.cluster": ("slurm", "local", "debug"),
    "sweeper.name": ("grid", "random", "optuna"),
    "sweeper.sampler": ("tpe", "gp", "random"),
    "sweeper.pruner": ("none", "median", "hyperband"),
}
_AT_LEAST = {
    "seed": 0,
    "encoder.max_length": 8,
    "encoder.num_layers": 1,
    "encoder.stride": 0,
    "encoder.scratch.layers": 1,
    "encoder.scratch.heads": 1,
    "head.distance": 0,
    "baseline.sentences": 1,
    "baseline.dim": 1,
    "baseline.epochs": 1,
    "baseline.min_count": 1,
    "baseline.buckets": 1,
    "baseline.max_iter": 1,
    "baseline.max_length": 8,
    "batching.size": 1,
    "batching.tokens": 8,
    "batching.workers": 0,
    "trainer.max_epochs": 1,
    "trainer.max_steps": 1,
    "trainer.devices": 1,
    "trainer.num_nodes": 1,
    "trainer.patience": 1,
    "trainer.checkpoint_steps": 1,
    "trainer.threads": 1,
    "run.n_jobs": 1,
    "launcher.workers": 1,
    "launcher.minutes": 1,
    "launcher.gpus": 0,
    "launcher.cpus": 1,
    "launcher.memory_gb": 0,
    "sweeper.trials": 1,
    "sweeper.seed": 0,
    "sweeper.startup_trials": 0,
    "sweeper.startup_epochs": 1,
    "curriculum.updates": 1,
    "curriculum.power": 1,
    "optim.accumulate": 1,
    "optim.warmup_steps": 0,
    "optim.layer_decay": 0,
    "optim.weight_decay": 0,
    "optim.clip": 0,
    "task.bootstrap": 0,
    "task.max_answer_tokens": 1,
    "task.n_best": 1,
    "task.max_target_tokens": 2,
    "task.validation_samples": 1,
    "task.generation.num_beams": 1,
    "task.generation.no_repeat_ngram_size": 0,
    "task.generation.min_new_tokens": 0,
    "task.generation.max_new_tokens": 1,
    "head.decoder_layers": 1,
}
_ABOVE_ZERO = ("optim.lr", "optim.head_lr")
_FRACTIONS = ("optim.warmup", "optim.label_smoothing", "head.dropout", "encoder.dropout")

# Groups that every version of heron has written; a file that was cut off lacks the last of them.
_ALWAYS = ("data", "task", "encoder", "head", "optim", "batching", "trainer", "paths", "run")
# Keys that `changes` in a stored configuration may not hold: they would undo `read_stored`.
_UNCHANGED = (
    "encoder.trust_remote_code",
    "paths",
    "data.files",
    "data.join",
    "data.phrases",
    "others",
    "stages",
    "curriculum",
)
# Folders in a cache; a folder without any of them is no cache of heron's.
_CACHED = ("features", "tokenizers", "chronicle", "vectors", "word-vectors")

# Keys that say where things lie or how they look, and so cannot change a result.
NEUTRAL = ("paths", "run", "logger", "report", "trainer.progress", "launcher", "sweeper")
# Nor can an experiment's name: what it stands for is in the other keys.
INDECISIVE = (*NEUTRAL, "experiment")
# Trainer keys that spread one training over devices; they change no result.
SPREAD = ("devices", "num_nodes", "strategy")
# Keys that earlier versions of heron did not have, and the value that does what these versions did.
_LATER = {
    "curriculum.order": "difficulty",
    "encoder.trailing_separator": False,
    "optim.warmup_steps": None,
}


def resolve(config: DictConfig) -> Config:
    """Check a composed configuration and turn it into dataclasses.

    Raises:
        ConfigError: an unknown key, a value of the wrong type or outside its range, or a
            combination that cannot work; names the key and what is allowed.
    """
    refuse_unknown(config, Config, "")
    try:
        merged = OmegaConf.merge(OmegaConf.structured(Config), config)
        resolved = OmegaConf.to_object(merged)
    except OmegaConfBaseException as error:
        message = str(error).splitlines()[0]
        raise ConfigError(f"{error.full_key or 'configuration'}: {message}") from error
    assert isinstance(resolved, Config)
    if resolved.curriculum.name == "none":
        resolved.curriculum.changes = {}
    _check_values(resolved)
    return resolved


def resolve_stages(config: Config) -> list[StageConfig]:
    """Read `config.stages`: names of data sets, or mappings as in `StageConfig`.

    Raises:
        ConfigError: a stage without data, an unknown key, or a value of the wrong type.
    """
    stages = []
    for entry in config.stages:
        values = {"data": entry} if isinstance(entry, str) else entry
        if not isinstance(values, dict):
            raise ConfigError(f"stages: {entry!r} is neither a data set's name nor a mapping")
        known = [field.name for field in dataclasses.fields(StageConfig)]
        for key in values:
            if key not in known:
                raise ConfigError(f"stages: unknown key '{key}'.{nearest(str(key), known)}")
        try:
            merged = OmegaConf.merge(OmegaConf.structured(StageConfig), values)
            stage = OmegaConf.to_object(merged)
        except OmegaConfBaseException as error:
            raise ConfigError(f"stages: {str(error).splitlines()[0]}") from error
        assert isinstance(stage, StageConfig)
        _check_rate("stages: lr", stage.lr)
        _check_rate("stages: head_lr", stage.head_lr)
        stages.append(stage)
    return stages


def to_yaml(config: Config) -> str:
    """Write a configuration as YAML, every key with its value."""
    return dump_yaml(as_dict(config))


def from_yaml(text: str) -> Config:
    """Read what `to_yaml` wrote.

    Raises:
        ConfigError: it is no mapping, lacks keys that every version has written, or holds `${...}`,
            which `to_yaml` never leaves: nothing in it is looked up in the environment.
    """
    return _from_values(_whole_values(text))


def _whole_values(text: str) -> dict[str, Any]:
    values = parse_yaml(text)
    if not isinstance(values, dict):
        raise ConfigError("config.yaml is not a mapping of keys to values")
    if missing := [key for key in _ALWAYS if key not in values]:
        raise ConfigError(f"it has no {', '.join(missing)}")
    return values


def _from_values(values: dict[str, Any]) -> Config:
    for key, value in flatten(values):
        if "${" in f"{key} {value}":
            raise ConfigError(f"{key}={value}: a stored configuration has no ${{...}}.")
    try:
        config = OmegaConf.create(values)
    except OmegaConfBaseException as error:
        raise ConfigError(str(error).splitlines()[0]) from error
    return resolve(config)


def read_stored(path: Path, run_code: bool = False) -> Config:
    """Read a run's `config.yaml`, which somebody else may have written.

    It can name what to read, but it cannot make heron run code, fetch a file of unknown content, or
    write to a folder that is no cache of heron's: `trust_remote_code` is off, files without a hash
    have no address, and such a cache is replaced by the default one.

    Args:
        path: the file.
        run_code: whether the user has said that code which comes with the weights may run.

    Raises:
        ConfigError: names the file, and what in it this version of heron cannot use.
    """
    config = read_own(path)
    stages = (stage.changes for stage in resolve_stages(config))
    for key in (key for changes in (config.curriculum.changes, *stages) for key in changes):
        if any(f"{key}.".startswith(f"{own}.") or own.startswith(f"{key}.") for own in _UNCHANGED):
            raise ConfigError(f"{path}: changes: no stage and no first run may change {key}")
    config.encoder.trust_remote_code = run_code
    for data in (config.data, *config.others.values()):
        joined = [data.join.file] if data.join else []
        listed = [data.phrases.file] if data.phrases.file else []
        for file in (*data.files.values(), *joined, *listed):
            file.url = file.url if file.sha256 else None
    cache = Path(config.paths.cache)
    if not any(os.access(cache / name, os.W_OK) for name in _CACHED):
        # Imported late, because it loads the libraries for downloads.
        from heron.data.sources import default_cache_dir

        config.paths.cache = str(default_cache_dir())
    return config


def read_own(path: Path) -> Config:
    """Read the `config.yaml` of a run that is this command's own, as it is.

    Raises:
        ConfigError: as for `read_stored`.
    """
    try:
        values = _whole_values(path.read_text(encoding="utf-8"))
    except (ConfigError, UnicodeDecodeError) as error:
        what = f"{path} is damaged: {error}; copy it again from where the run was trained"
        raise ConfigError(what) from error
    try:
        return _from_values(values)
    except ConfigError as error:
        fix = "If another version of heron wrote this file, correct it, or use that version."
        raise ConfigError(f"{path}: {error} {fix}") from error


def decisive(config: Config) -> dict[str, Any]:
    """List what can change a result: `{dotted key: value}` without the keys in `INDECISIVE`.

    The number of devices does not change a batch, so every run is listed as one on one device.
    """
    left_out = tuple(f"{key}." for key in INDECISIVE)
    found = {
        key: value for key, value in flatten(as_dict(config)) if not f"{key}.".startswith(left_out)
    }
    return found | _spread(TrainerConfig())


def decisive_earlier(config: Config) -> dict[str, Any]:
    """List what earlier versions of heron listed as `decisive`; the names of their runs hash it."""
    found = decisive(config) | _spread(config.trainer)
    if config.batching.tokens is None:
        found["batching.tokens"] = BUDGET
    return {k: value for k, value in found.items() if k not in _LATER or value != _LATER[k]}


def _spread(trainer: TrainerConfig) -> dict[str, Any]:
    return {f"trainer.{key}": getattr(trainer, key) for key in SPREAD}


def as_dict(config: Any) -> dict[str, Any]:
    """Turn a configuration (or a part of it) into plain dictionaries."""
    return dataclasses.asdict(config)


def select(config: Any, key: str) -> Any:
    """Read a dotted key, such as `optim.lr`."""
    for part in key.split("."):
        config = getattr(config, part)
    return config


def set_keys(config: Config, changes: Mapping[str, Any], name: str) -> None:
    """Set dotted keys of a configuration; the caller checks the result.

    Args:
        config: changed in place.
        changes: `{"optim.lr": 1e-4}`.
        name: of the mapping, for messages.

    Raises:
        ConfigError: there is no such key.
    """
    known = all_keys()
    for key, value in changes.items():
        parent, _, field = key.rpartition(".")
        try:
            if key not in known:  # such as `encoder.__dict__`, an attribute of every object
                raise AttributeError(key)
            part = select(config, parent) if parent else config
            getattr(part, field)
        except AttributeError as error:
            raise ConfigError(f"{name}: there is no key '{key}'.{nearest(key, known)}") from error
        setattr(part, field, value)


def all_keys(schema: Any = Config, prefix: str = "") -> list[str]:
    """List every dotted key of the schema."""
    keys = []
    for name, inner in _nested(schema).items():
        keys += [prefix + name, *(all_keys(inner, f"{prefix}{name}.") if inner else [])]
    return keys


def flatten(values: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    """List nested values by dotted key."""
    for key, value in values.items():
        if isinstance(value, Mapping) and value:
            yield from flatten(value, f"{prefix}{key}.")
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


def refuse_unknown(config: DictConfig, schema: Any, prefix: str) -> None:
    """Refuse keys that a schema does not have; keys of mappings are the user's own.

    Args:
        config: what was given.
        schema: a dataclass.
        prefix: what stands before its keys in messages, `data.`.

    Raises:
        ConfigError: the key, with the nearest there is.
    """
    fields, hints = _nested(schema), get_type_hints(schema)
    for key in map(str, config):
        name = prefix + key
        if key not in fields:
            known = [*all_keys(), *(prefix + field for field in fields)]
            raise ConfigError(f"unknown key '{name}'.{nearest(name, known)}")
        if not OmegaConf.is_dict(config._get_node(key)) or config[key] is None:
            continue
        if fields[key]:
            refuse_unknown(config[key], fields[key], f"{name}.")
        elif dataclasses.is_dataclass(entry := (get_args(hints[key]) or (None,))[-1]):
            for each in map(str, config[key]):
                refuse_unknown(config[key][each], entry, f"{name}.{each}.")


def _check_values(config: Config) -> None:
    for key, allowed in CHOICES.items():
        value = select(config, key)
        if value not in allowed:
            raise ConfigError(f"{key}={value}.{nearest(str(value), allowed)}")
    for key, least in _AT_LEAST.items():
        value = select(config, key)
        if value is not None and not value >= least:  # so that nan is refused as well
            raise ConfigError(f"{key}={value}: must be at least {least}")
    if config.seed > LAST_SEED:
        raise ConfigError(f"seed={config.seed}: must be at most {LAST_SEED}")
    for key in _ABOVE_ZERO:
        _check_rate(key, select(config, key))
    for key in _FRACTIONS:
        value = select(config, key)
        if value is not None and not 0 <= value < 1:
            raise ConfigError(f"{key}={value}: must be in [0, 1)")
    if len(config.optim.betas) != 2 or not all(0 <= beta < 1 for beta in config.optim.betas):
        raise ConfigError(f"optim.betas={config.optim.betas}: must be two numbers in [0, 1)")
    if resolve_stages(config) and config.baseline.name != "none":
        raise ConfigError(f"stages train an encoder; baseline={config.baseline.name} has none")
    _check_freeze(config.encoder)
    _check_scratch(config.encoder)
    _check_combination(config)


def _check_rate(key: str, value: float | None) -> None:
    if value is not None and not 0 < value < math.inf:
        raise ConfigError(
            f"{key}={value}: must be above 0; to train the head alone, set encoder.freeze=all"
        )


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
    _check_devices(config)
    _check_task(config)
    _check_sweeper(config)
    _check_multipliers(config)
    if config.baseline.name != "none":
        check_baseline(config)
        check_dynamics(config)
        return  # encoder, head and epochs are left unused
    _check_input(config)
    check_dynamics(config)
    if head.classifier in _SPANS and config.task.name != "qa":
        raise ConfigError(f"head.classifier={head.classifier} finds answers: it needs task=qa")
    if head.classifier in _WRITERS and config.task.name != "summarization":
        raise ConfigError(
            f"head.classifier={head.classifier} writes summaries: it needs task=summarization"
        )
    if head.classifier == "mlp" and not head.hidden:
        raise ConfigError("head.classifier=mlp needs head.hidden, for example head.hidden=[256]")
    if not all(width >= 1 for width in head.hidden):
        raise ConfigError(f"head.hidden={head.hidden}: widths must be at least 1")
    trainer = config.trainer
    if not _is_validated(config) and (trainer.select == "best" or trainer.patience is not None):
        raise ConfigError(
            "trainer.select=best and trainer.patience need a validation split: name "
            "data.files.validation, or set data.validation.fraction above 0"
        )


def _check_devices(config: Config) -> None:
    trainer = config.trainer
    several = trainer.devices * trainer.num_nodes > 1
    if several and trainer.accelerator in ("mps", "tpu"):
        raise ConfigError(
            f"trainer.devices={trainer.devices}: several devices need trainer.accelerator=cpu or "
            f"cuda, not {trainer.accelerator}"
        )
    if trainer.strategy == "fsdp" and (not several or trainer.accelerator == "cpu"):
        raise ConfigError(
            "trainer.strategy=fsdp shards a model over several GPUs: set trainer.devices to their "
            "number, or trainer.strategy=auto"
        )


def _is_validated(config: Config) -> bool:
    data = config.data
    return bool(data.generator or "validation" in data.files or data.validation.fraction)


def _check_sweeper(config: Config) -> None:
    sweeper = config.sweeper
    if sweeper.name != "optuna":
        return
    if not _is_validated(config):
        raise ConfigError(
            "sweeper=optuna chooses by scores on validation: name data.files.validation, or set "
            "data.validation.fraction above 0"
        )
    if config.baseline.name != "none" and config.trainer.monitor == "loss":
        raise ConfigError(
            f"sweeper=optuna chooses by trainer.monitor=loss, and baseline={config.baseline.name} "
            "has none: set trainer.monitor=macro_f1"
        )
    if sweeper.pruner != "none" and config.stages:
        raise ConfigError(
            f"sweeper.pruner={sweeper.pruner} compares one training's epochs; stages train several "
            "times: set sweeper.pruner=none"
        )


# Which poolings read which input forms, and which forms belong to which task.
_EVENT_FORMS = {
    "event_start": ("marked",),
    "mention_pool": ("marked", "window"),
    "span_ends": ("window",),
    "tokens": ("question", "article"),
}
_TASK_FORMS = {
    "relation": ("marked", "window"),
    "nli": ("pair", "separate", "premise", "hypothesis"),
    "qa": ("question",),
    "summarization": ("article",),
}
_SPANS = ("span", "biaffine")
_WRITERS = ("seq2seq", "warm_start")


def _check_task(config: Config) -> None:
    if config.data.task != config.task.name:
        raise ConfigError(
            f"task.name={config.task.name}: data={config.data.name} is for task={config.data.task}"
        )
    check_bertscore(config.task.bertscore)
    if config.task.bertscore.model and config.task.name != "summarization":
        raise ConfigError("task.bertscore.model scores summaries: it needs task=summarization")


def _check_multipliers(config: Config) -> None:
    unknown = set(config.batching.multipliers) - set(config.data.label_order)
    if unknown:
        label = sorted(unknown)[0]
        hint = nearest(label, config.data.label_order)
        raise ConfigError(f"batching.multipliers.{label}: no such class.{hint}")


def _check_input(config: Config) -> None:
    head, encoder, task = config.head, config.encoder, config.task.name
    if head.input not in _TASK_FORMS[task]:
        raise ConfigError(
            f"head.input={head.input}: task={task} reads {' or '.join(_TASK_FORMS[task])}; "
            f"head={head.name} is for another task"
        )
    if task == "qa":
        _check_answers(config)
    if task == "summarization":
        _check_summaries(config)
    forms = _EVENT_FORMS.get(head.pooling, ("marked", *_TASK_FORMS["nli"]))
    if head.input not in forms:
        why = ": a window holds many pairs" if head.input == "window" else ""
        raise ConfigError(
            f"head.pooling={head.pooling} needs head.input={' or '.join(forms)}, not "
            f"{head.input}{why}"
        )
    if head.both_ways and (head.input != "window" or not config.data.inverse):
        raise ConfigError("head.both_ways=true needs head.input=window and data.inverse")
    if head.distance and task != "relation":
        raise ConfigError("head.distance needs task=relation: only events have a distance")
    _check_overflow(config)
    if config.batching.oversample != "none" and head.input == "window":
        raise ConfigError(
            "batching.oversample needs one row per sequence; with head.input=window a text comes "
            "with all its pairs: use optim.class_weights"
        )
    if encoder.separator is not None and head.input != "pair":
        raise ConfigError("encoder.separator needs head.input=pair")
    if encoder.trailing_separator and encoder.separator is None:
        raise ConfigError(
            "encoder.trailing_separator=true writes encoder.separator at the end as well: it needs "
            "encoder.separator, for example ' [SEP] '"
        )


def _check_answers(config: Config) -> None:
    """Refuse what finding a span cannot do."""
    head = config.head
    if head.pooling != "tokens" or head.classifier not in _SPANS:
        raise ConfigError(
            f"head.pooling={head.pooling}, head.classifier={head.classifier}: task=qa needs "
            f"head.pooling=tokens and head.classifier={' or '.join(_SPANS)}, as head=span has"
        )
    if head.classifier == "biaffine" and len(head.hidden) != 1:
        raise ConfigError(
            f"head.hidden={head.hidden}: head.classifier=biaffine needs one width, [128]"
        )
    if config.optim.class_weights != "none":
        raise ConfigError("optim.class_weights weighs classes; task=qa finds spans")
    if config.encoder.truncation != "only_first":
        raise ConfigError(
            f"encoder.truncation={config.encoder.truncation}: with task=qa the text gives way, "
            "never the question; leave it at only_first"
        )


def _check_summaries(config: Config) -> None:
    """Refuse what writing a summary cannot do."""
    head, generation = config.head, config.task.generation
    if head.pooling != "tokens" or head.classifier not in _WRITERS:
        raise ConfigError(
            f"head.pooling={head.pooling}, head.classifier={head.classifier}: task=summarization "
            f"needs head.pooling=tokens and head.classifier={' or '.join(_WRITERS)}, as "
            f"{' and '.join(f'head={name}' for name in _WRITERS)} have"
        )
    if head.classifier == "seq2seq" and config.encoder.name == "scratch":
        raise ConfigError(
            "head=seq2seq takes the decoder that encoder.name brings, and encoder=scratch has "
            "none: name a sequence-to-sequence model, or set head=warm_start"
        )
    if config.optim.class_weights != "none":
        raise ConfigError("optim.class_weights weighs classes; task=summarization has one")
    if config.encoder.overflow == "windows":
        raise ConfigError(
            "encoder.overflow=windows reads a text in parts; with task=summarization it is read "
            "once: raise encoder.max_length, and leave encoder.overflow=truncate"
        )
    if config.encoder.num_layers is not None and head.classifier == "seq2seq":
        raise ConfigError(
            "encoder.num_layers is not for head=seq2seq, whose decoder was trained with all layers"
        )
    if config.trainer.strategy == "fsdp":
        raise ConfigError(
            "trainer.strategy=fsdp gives no process the whole model, which writing needs; with "
            "task=summarization use trainer.strategy=ddp, encoder.gradient_checkpointing=true and "
            "optim.name=adafactor"
        )
    if generation.min_new_tokens > generation.max_new_tokens:
        raise ConfigError(
            f"task.generation.min_new_tokens={generation.min_new_tokens}: must be at most "
            f"task.generation.max_new_tokens={generation.max_new_tokens}"
        )


def _check_overflow(config: Config) -> None:
    head, encoder = config.head, config.encoder
    if encoder.overflow != "windows":
        return
    if head.input not in ("pair", "premise", "hypothesis", "question"):
        raise ConfigError(
            f"encoder.overflow=windows needs head.input=pair, premise, hypothesis or question, not "
            f"{head.input}"
        )
    if encoder.separator is not None:
        raise ConfigError(
            "encoder.overflow=windows needs encoder.separator=null: windows over one joined text "
            "would not each hold the hypothesis"
        )
    if encoder.truncation == "longest_first":
        raise ConfigError(
            "encoder.overflow=windows needs encoder.truncation=only_first or only_second: windows "
            "move over one of the two texts"
        )
    if encoder.stride > encoder.max_length // 2:
        raise ConfigError(
            f"encoder.stride={encoder.stride}: must be at most half of encoder.max_length="
            f"{encoder.max_length}, or windows hardly move"
        )
