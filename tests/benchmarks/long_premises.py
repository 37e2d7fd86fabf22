"""`python -m tests.benchmarks.long_premises`: what premises beyond 512 tokens cost, three ways.

Cut at 512 tokens, read in overlapping windows, or read whole by a Longformer. Real ConTRoL text,
heron's own training loop, each variant in a fresh process. See README.md here.

Shape suffixes: U units, S sequences.
"""

from __future__ import annotations

import json
import tempfile
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median
from typing import Annotated, Any, NamedTuple

import numpy as np
import pytorch_lightning as pl
import torch
from transformers import AutoConfig, AutoTokenizer, LongformerConfig, LongformerModel
from transformers.utils.logging import disable_progress_bar

from heron.base.cells import Formatted, Table
from heron.base.libraries import silence_libraries
from heron.config.constraints import Count, OneOf
from heron.data.config import TRAIN
from heron.tasks.config import Config
from heron.training.compose import compose
from heron.training.run import peak_rss_mb

from .epoch import (
    TRAINING,
    ChosenBatches,
    Stopwatch,
    choose_batches,
    padded_tokens,
    scale,
    train_heron,
    warmed,
)
from .frame import Found, find, main, measure_apart

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
NOTE = (
    "The Longformer has the encoder's shape and random weights: its speed and memory count, its "
    "answers would not."
)


@dataclass
class Options:
    """Options of the benchmark."""

    encoder: Path | None = None  # folder of a BERT-like encoder; default `HERON_ENCODER`
    data: Path | None = None  # the folder of `control/`; default `HERON_DATA`
    steps: Count = 2  # that are timed; one more comes first
    tokens: Count = _LONG  # of a padded batch at most; a longer pair is a batch of its own
    threads: Count = 1
    cache: Path = Path("cache")  # of tokenized features
    out: Path = Path("runs/benchmark_long.json")
    # Measure this variant in this process, on `encoder` as it is, and print JSON.
    only: Annotated[str, OneOf(*VARIANTS)] | None = None


@dataclass(frozen=True, slots=True)
class Measurement:
    """What one variant takes.

    Args:
        truncated: share of all pairs whose premise is cut, from 0 to 1.
        sequences_per_pair: sequences that the encoder reads for a pair, mean over train.
        tokens_per_batch: padded tokens of a batch, median over an epoch.
        seconds_per_step: clock time of forward, backward and update, median.
        cpu_seconds_per_pair: processor time of an epoch by its pairs, estimated from some steps.
        peak_rss_mb: the process's largest resident memory, in MiB.
    """

    truncated: float
    sequences_per_pair: float
    tokens_per_batch: float
    seconds_per_step: float
    cpu_seconds_per_pair: float
    peak_rss_mb: float


def run(options: Options) -> Found:
    """Measure all variants, each in a process of its own, or one of them in this process."""
    encoder, data = find(options, encoder="config.json", data=_NEEDED)
    if options.only:
        config = configure(VARIANTS[options.only], encoder, data, options)
        return Found(lines=[json.dumps(asdict(measure(config, options.steps)))])
    measured: dict[str, dict[str, Any]] = {}
    shared = (f"data={data}", f"cache={options.cache.resolve()}", f"tokens={options.tokens}")
    shared += (f"steps={options.steps}", f"threads={options.threads}")
    with tempfile.TemporaryDirectory() as made:
        build_longformer(encoder, Path(made))
        for name, variant in VARIANTS.items():
            words = (f"only={name}", f"encoder={made if variant.longformer else encoder}")
            measured[name] = measure_apart(
                "tests.benchmarks.long_premises", *shared, *words, threads=options.threads
            )
            print(variant.title, measured[name], flush=True)  # the next one may take minutes
    return Found({"encoder": encoder.name, "variants": measured}, [table(measured)])


def build_longformer(encoder: Path, made: Path, length: int = _LONG) -> None:
    """Save a Longformer of an encoder's shape, with its tokenizer and random weights.

    Args:
        encoder: folder of a BERT-like encoder.
        made: the folder to write.
        length: longest sequence, in tokens.
    """
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
    words = ("data=control_dev", "task=nli", "head=mlp3", *TRAINING, *variant.overrides)
    more = (f"batching.tokens={options.tokens}", f"trainer.threads={options.threads}")
    config = compose([*words, *more])
    config.encoder.name = str(encoder)
    config.paths.data, config.paths.cache = str(data), str(options.cache)
    return config


def measure(config: Config, steps: int) -> Measurement:
    """Train on a few batches that stand for an epoch.

    Args:
        config: heron's configuration.
        steps: timed steps; the first one of all is not.
    """
    silence_libraries()
    torch.set_num_threads(config.trainer.threads or 1)
    pl.seed_everything(config.seed, verbose=False)
    data, watch = ChosenBatches(config), Stopwatch()
    units, plan = data.units[TRAIN], data.plan(epoch=0)
    lengths_U, sizes_U = units.longest_U, units.sizes_U
    chosen = choose_batches(plan, lengths_U, steps)
    data.chosen = warmed(chosen)
    train_heron(config, data, watch)
    laps, of_epoch = watch.laps(), scale(plan, chosen, lengths_U, sizes_U)
    rows = [features.truncated_R for features in data.features.values()]
    return Measurement(
        truncated=float(np.concatenate(rows).mean()),
        sequences_per_pair=float(sizes_U.mean()),
        tokens_per_batch=float(median(padded_tokens(plan, lengths_U, sizes_U))),
        seconds_per_step=float(median(laps[:, 1])),
        cpu_seconds_per_pair=float(laps[:, 0].sum() * of_epoch / len(units)),
        peak_rss_mb=peak_rss_mb(),
    )


def table(measured: dict[str, dict[str, Any]]) -> Table:
    """Set the variants side by side; ratios to the first of all."""
    first = measured["cut"]
    rows = [
        (
            VARIANTS[name].title,
            Formatted(one["truncated"], ".1%"),
            Formatted(one["sequences_per_pair"], ".2f"),
            Formatted(one["tokens_per_batch"], ".0f"),
            Formatted(one["seconds_per_step"], ".2f"),
            Formatted(one["peak_rss_mb"], ".0f"),
            *(
                Formatted(one[key] / first[key], ".2f")
                for key in ("cpu_seconds_per_pair", "peak_rss_mb")
            ),
        )
        for name, one in measured.items()
    ]
    columns = ("", "cut", "seq. / pair", "tokens / batch", "s / step", "peak MiB")
    title = "ConTRoL dev: premises that are longer than 512 tokens"
    return Table(title, (*columns, "time x", "memory x"), tuple(rows), NOTE)


if __name__ == "__main__":
    raise SystemExit(main(Options, run))
