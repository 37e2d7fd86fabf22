"""`python -m tests.benchmarks.long_premises`: what premises beyond 512 tokens cost, three ways.

Cut at 512 tokens, read in overlapping windows, or read whole by a Longformer. Real ConTRoL text,
heron's own training loop, each variant in a fresh process. See README.md here.

Shape suffixes: U units, S sequences.
"""

from __future__ import annotations

import json
import tempfile
from dataclasses import asdict, dataclass, field
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import numpy as np

from heron.base.cells import Cell, Formatted, Table
from heron.config.constraints import Count, OneOf

from .frame import Found, call, find, main

if TYPE_CHECKING:
    from heron.data.features import Units
    from heron.tasks.config import Config

_NEEDED = "control/dev.jsonl"
_LONG = 4096  # tokens


class Variant(NamedTuple):
    """One way to read a long premise.

    Args:
        title: what it is, for the table.
        overrides: its configuration.
        longformer: whether it needs the Longformer instead of the encoder.
    """

    title: str
    overrides: tuple[str, ...]
    longformer: bool = False


VARIANTS = {
    "cut": Variant("cut at 512", ("encoder.max_length=512",)),
    "windows": Variant(
        "windows of 512, stride 128",
        (
            "encoder.max_length=512",
            "encoder.overflow=windows",
            "encoder.stride=128",
            "head.over_windows=mean_logits",
        ),
    ),
    "longformer": Variant("Longformer, whole", (f"encoder.max_length={_LONG}",), longformer=True),
    "recomputed": Variant(
        "Longformer, activations recomputed",
        (f"encoder.max_length={_LONG}", "encoder.gradient_checkpointing=true"),
        longformer=True,
    ),
}
BASELINE = "cut"


@dataclass
class Options:
    """Options of the benchmark.

    Args:
        encoder: folder of a BERT-like encoder; `HERON_ENCODER` where absent.
        data: folder that holds `control/`; `HERON_DATA` where absent.
        variants: what is measured; the ratios need the first.
        steps: timed steps of each; one more comes first, untimed.
        tokens: padded tokens per batch at most; a longer pair is a batch of its own.
        threads: CPU threads.
        cache: where tokenized features are kept.
        out: JSON file with every measurement.
        only: measure this variant in this process, on `encoder` as it is, and print JSON.
    """

    encoder: Path | None = None
    data: Path | None = None
    variants: list[Annotated[str, OneOf(*VARIANTS)]] = field(default_factory=lambda: list(VARIANTS))
    steps: Count = 2
    tokens: Count = _LONG
    threads: Count = 1
    cache: Path = Path("cache")
    out: Path = Path("runs/benchmark_long.json")
    only: Annotated[str, OneOf(*VARIANTS)] | None = None


@dataclass(frozen=True, slots=True)
class Measurement:
    """What one variant takes.

    Args:
        truncated: share of all pairs whose premise is cut, from 0 to 1.
        sequences_per_pair: sequences that the encoder reads for a pair, mean over train.
        tokens_per_batch: padded tokens of a batch, median over an epoch.
        pairs_per_batch: mean over an epoch.
        seconds_per_step: clock time of forward, backward and update, median.
        seconds_per_pair: clock time of an epoch by its pairs, estimated from the timed steps.
        cpu_seconds_per_pair: the same in processor time, all threads together.
        peak_rss_mb: the process's largest resident memory, in MiB.
        seconds: clock time of each timed step.
    """

    truncated: float
    sequences_per_pair: float
    tokens_per_batch: float
    pairs_per_batch: float
    seconds_per_step: float
    seconds_per_pair: float
    cpu_seconds_per_pair: float
    peak_rss_mb: float
    seconds: list[float]


def run(options: Options) -> Found:
    """Measure all variants, or one of them in this process."""
    encoder, data = find(options, encoder="config.json", data=_NEEDED)
    if options.only:
        config = configure(VARIANTS[options.only], encoder, data, options)
        return Found(lines=[json.dumps(asdict(measure(config, options.steps)))])
    measured = measure_all(options, encoder, data)
    variants = {name: {"title": VARIANTS[name].title, **one} for name, one in measured.items()}
    record = {"encoder": encoder.name, "longformer": NOTE, "variants": variants}
    return Found(record, [table(measured)])


NOTE = (
    "The Longformer has the encoder's shape and random weights: its speed and memory count, its "
    "answers would not."
)


def measure_all(options: Options, encoder: Path, data: Path) -> dict[str, dict[str, Any]]:
    """Run every variant in a process of its own."""
    measured = {}
    with tempfile.TemporaryDirectory() as made:
        longformer = Path(made) / "longformer"
        if any(VARIANTS[name].longformer for name in options.variants):
            build_longformer(encoder, longformer)
        for name in options.variants:
            read = longformer if VARIANTS[name].longformer else encoder
            one = measured[name] = _measure(name, read, data, options)
            # A line at once: the next variant may take minutes.
            line = f"{one['seconds_per_step']:.2f} s / step, {one['peak_rss_mb']:.0f} MiB"
            print(f"{VARIANTS[name].title}: {line}", flush=True)
    return measured


def _measure(name: str, encoder: Path, data: Path, options: Options) -> dict[str, Any]:
    words = [
        *(f"only={name}", f"encoder={encoder}", f"data={data}", f"cache={options.cache.resolve()}"),
        *(f"steps={options.steps}", f"tokens={options.tokens}", f"threads={options.threads}"),
    ]
    said = call("tests.benchmarks.long_premises", *words, threads=options.threads)
    measurement: dict[str, Any] = json.loads(said.splitlines()[-1])
    return measurement


def build_longformer(encoder: Path, made: Path, length: int = _LONG) -> None:
    """Save a Longformer of an encoder's shape, with its tokenizer and random weights.

    Args:
        encoder: folder of a BERT-like encoder.
        made: the folder to write.
        length: longest sequence, in tokens.
    """
    import torch
    from transformers import AutoConfig, AutoTokenizer, LongformerConfig, LongformerModel
    from transformers.utils.logging import disable_progress_bar

    disable_progress_bar()
    shape, tokenizer = AutoConfig.from_pretrained(encoder), AutoTokenizer.from_pretrained(encoder)
    torch.manual_seed(0)
    config = LongformerConfig(
        vocab_size=len(tokenizer),
        hidden_size=shape.hidden_size,
        num_hidden_layers=shape.num_hidden_layers,
        num_attention_heads=shape.num_attention_heads,
        intermediate_size=shape.intermediate_size,
        type_vocab_size=shape.type_vocab_size,
        attention_window=min(512, length),  # as released Longformers have it
        pad_token_id=tokenizer.pad_token_id,
        # Positions are counted from behind the padding's.
        max_position_embeddings=length + tokenizer.pad_token_id + 1,
    )
    LongformerModel(config, add_pooling_layer=False).save_pretrained(made)
    tokenizer.save_pretrained(made)


def configure(variant: Variant, encoder: Path, data: Path, options: Options) -> Config:
    """Compose one variant's configuration."""
    from heron.training.compose import compose

    overrides = [
        *("data=control_dev", "task=nli", "head=mlp3"),
        *("encoder=pretrained", "encoder.name=given below", *variant.overrides),
        *("batching=bucket", f"batching.tokens={options.tokens}"),
        f"trainer.threads={options.threads}",
        # Nothing but training: the clock stands still at an epoch's end, but time is precious.
        *("data.validation.fraction=0", "trainer.select=last"),
        *("trainer.max_epochs=1", "trainer.enable_progress_bar=false"),
    ]
    config = compose(overrides)
    config.encoder.name = str(encoder)
    config.paths.data, config.paths.cache = str(data), str(options.cache)
    return config


def measure(config: Config, steps: int) -> Measurement:
    """Train on a few batches that stand for an epoch.

    Args:
        config: heron's configuration.
        steps: timed steps; the first one of all is not.
    """
    import pytorch_lightning as pl
    import torch

    from heron.base.libraries import silence_libraries
    from heron.data.config import TRAIN
    from heron.training.status import peak_rss_mb

    from .epoch import choose_batches
    from .rivals import ChosenBatches, Stopwatch, train_heron

    silence_libraries()
    torch.set_num_threads(config.trainer.threads or 1)
    pl.seed_everything(config.seed, verbose=False)
    data = ChosenBatches(config)
    units, plan = data.units[TRAIN], data.plan(epoch=0)
    chosen = choose_batches(plan, units.longest_U, steps)
    data.chosen = [chosen[len(chosen) // 2], *chosen]  # the first one warms up
    watch = Stopwatch()
    with tempfile.TemporaryDirectory() as run:
        train_heron(config, data, watch, Path(run))
    laps, padded = watch.laps(), [padded_tokens(batch, units) for batch in plan]
    scale = sum(padded) / sum(padded_tokens(batch, units) for batch in chosen)
    cpu_seconds, seconds = (laps.sum(axis=0) * scale / len(units)).tolist()
    rows = [features.truncated_R for features in data.features.values()]
    return Measurement(
        truncated=float(np.concatenate(rows).mean()),
        sequences_per_pair=float(units.sizes_U.mean()),
        tokens_per_batch=float(median(padded)),
        pairs_per_batch=len(units) / len(plan),
        seconds_per_step=float(median(laps[:, 1])),
        seconds_per_pair=seconds,
        cpu_seconds_per_pair=cpu_seconds,
        peak_rss_mb=peak_rss_mb(),
        seconds=laps[:, 1].tolist(),
    )


def padded_tokens(batch_U: np.ndarray, units: Units) -> int:
    """Count a batch's tokens, padding included."""
    return int(units.longest_U[batch_U].max()) * int(units.sizes_U[batch_U].sum())


def table(measured: dict[str, dict[str, Any]]) -> Table:
    """Set the variants side by side; ratios to the first of all."""
    first = measured.get(BASELINE)
    rows = [
        (
            VARIANTS[name].title,
            Formatted(one["truncated"], ".1%"),
            Formatted(one["sequences_per_pair"], ".2f"),
            Formatted(one["tokens_per_batch"], ".0f"),
            Formatted(one["seconds_per_step"], ".2f"),
            Formatted(one["seconds_per_pair"], ".3f"),
            Formatted(one["peak_rss_mb"], ".0f"),
            *(_ratio(one, first, key) for key in ("cpu_seconds_per_pair", "peak_rss_mb")),
        )
        for name, one in measured.items()
    ]
    columns = ("", "cut", "seq. / pair", "tokens / batch", "s / step", "s / pair", "peak MiB")
    title = "ConTRoL dev: premises that are longer than 512 tokens"
    return Table(title, (*columns, "time x", "memory x"), tuple(rows), NOTE)


def _ratio(one: dict[str, Any], first: dict[str, Any] | None, key: str) -> Cell:
    return Formatted(one[key] / first[key], ".2f") if first else None


if __name__ == "__main__":
    raise SystemExit(main(Options, run))
