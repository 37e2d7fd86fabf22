"""`python -m tests.benchmarks.generation`: writing summaries in batches and one by one.

Articles of the built-in corpus, every summary of the same length; greedily and with beams. The
model has a given shape and random weights; where `HERON_ENCODER` names an encoder, a second one
begins with its weights (`head=warm_start`). One by one is what a script does: tokenize,
`model.generate`, decode, for each article. `Seq2SeqTrainer` generates in batches of several sizes,
each padded to its longest. heron's way is what a run does at its end: batches by length, each kept
on disk as it is done. See README.md here.
"""

from __future__ import annotations

import os
import platform
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import torch
import transformers

from heron.base.cells import Formatted, Table
from heron.base.errors import ConfigError, HeronError
from heron.base.files import write_json
from heron.base.libraries import silence_libraries
from heron.base.terminal import print_tables
from heron.config.compose import compose
from heron.config.data import TEST
from heron.config.options import parse_options
from heron.config.schema import Config
from heron.data.datamodule import DataModule
from heron.tasks.summarization.seq2seq import generation_settings
from heron.training.build import build_module
from heron.training.inference import _trainer
from heron.training.outcome import predict_split

TRAINER = "Seq2SeqTrainer"


@dataclass
class Options:
    """Options of the benchmark.

    Args:
        articles: how many are summarized.
        tokens: of every summary.
        beams: see `GenerationConfig.num_beams`; each number is measured.
        encoder: a folder whose encoder the second model begins with; default `HERON_ENCODER`.
        hidden: width of encoder and decoder of the model with random weights.
        layers: of each.
        batch: padded tokens of a batch.
        precision: see `TrainerConfig.precision`; one by one is always in full precision.
        sizes: of the batches of `Seq2SeqTrainer`; the best one counts.
        rounds: all ways run so often; ratios are taken within a round.
        threads: CPU threads.
        out: JSON file with every measurement.
    """

    articles: int = 24
    tokens: int = 40
    beams: list[int] = field(default_factory=lambda: [1, 4])
    encoder: Path | None = None
    hidden: int = 256
    layers: int = 4
    batch: int = 4096
    precision: str = "32-true"
    sizes: list[int] = field(default_factory=lambda: [4, 8, 24])
    rounds: int = 2
    threads: int = 1
    out: Path = Path("runs/benchmark_generation.json")


@dataclass(frozen=True)
class Case:
    """What is measured: a model, random or begun with an encoder's weights, and how it searches."""

    encoder: Path | None
    beams: int

    @property
    def name(self) -> str:
        """For tables."""
        model = self.encoder.name if self.encoder else "random weights"
        return f"{model}, {'greedy' if self.beams == 1 else f'{self.beams} beams'}"


def cases(options: Options) -> list[Case]:
    """List what is measured.

    Raises:
        ConfigError: there is no such encoder.
    """
    if options.encoder is not None and not options.encoder.is_dir():
        raise ConfigError(f"encoder={options.encoder}: no such folder")
    encoders = [None, *([options.encoder] if options.encoder else [])]
    return [Case(encoder, beams) for encoder in encoders for beams in options.beams]


def named_encoder() -> Path | None:
    """Find the encoder that `HERON_ENCODER` names; says so where it is not there."""
    path = Path(os.environ.get("HERON_ENCODER", "absent"))
    if path.is_dir():
        return path
    print("HERON_ENCODER names no folder: only the model with random weights is measured")
    return None


def configure(options: Options, case: Case, folder: Path) -> Config:
    """Compose the run whose model writes."""
    scratch = (
        f"encoder.scratch.hidden={options.hidden}",
        f"encoder.scratch.layers={options.layers}",
        f"encoder.scratch.intermediate={4 * options.hidden}",
    )
    words = (
        "data=chronicle_summaries",
        f"data.generator.size={max(100, 5 * options.articles)}",
        *((f"encoder={case.encoder}", "head=warm_start") if case.encoder else scratch),
        f"batching.tokens={options.batch}",
        f"task.generation.num_beams={case.beams}",
        f"task.generation.min_new_tokens={options.tokens}",
        f"task.generation.max_new_tokens={options.tokens}",
        "task.generation.no_repeat_ngram_size=0",
        f"trainer.precision={options.precision}",
        "trainer.accelerator=cpu",
        "trainer.progress=false",
        f"paths.cache={folder}",
    )
    return compose(words)


def one_by_one(module: Any, data: DataModule) -> list[str]:
    """Summarize the test split as a script does."""
    config, model, tokenizer = data.config, module.encoder.model, data.tokenizer
    settings = generation_settings(model, config.task.generation)
    texts = []
    for example in data.examples[TEST]:
        read = tokenizer(
            example.text, truncation=True, max_length=config.encoder.max_length, return_tensors="pt"
        )
        with torch.no_grad():
            ids = model.generate(
                input_ids=read["input_ids"],
                attention_mask=read["attention_mask"],
                generation_config=settings,
            )
        texts.append(tokenizer.decode(ids[0], skip_special_tokens=True).strip())
    return texts


def by_trainer(module: Any, data: DataModule, size: int, folder: Path) -> list[str]:
    """Summarize the test split with `Seq2SeqTrainer.predict`, `size` articles at once."""
    config, model, tokenizer = data.config, module.encoder.model, data.tokenizer
    read = partial(tokenizer, truncation=True, max_length=config.encoder.max_length)
    arguments = transformers.Seq2SeqTrainingArguments(
        str(folder),
        per_device_eval_batch_size=size,
        predict_with_generate=True,
        use_cpu=True,
        disable_tqdm=True,
        report_to=[],
    )
    collator = transformers.DataCollatorWithPadding(tokenizer)
    trainer = transformers.Seq2SeqTrainer(model, arguments, collator, processing_class=tokenizer)
    ids = trainer.predict(
        [read(example.text) for example in data.examples[TEST]],
        generation_config=generation_settings(model, config.task.generation),
    ).predictions
    ids[ids < 0] = tokenizer.pad_token_id
    return [text.strip() for text in tokenizer.batch_decode(ids, skip_special_tokens=True)]


def in_batches(module: Any, data: DataModule, folder: Path) -> list[str]:
    """Summarize the test split as a run does at its end."""
    predictions: Any = predict_split(_trainer(data.config), module, data, TEST, folder / "kept")
    texts: list[str] = predictions.texts
    return texts


def measure(options: Options, case: Case, folder: Path) -> dict[str, list[float]]:
    """Time every way once a round, in processor seconds.

    Raises:
        HeronError: in full precision, they write otherwise in more than a twentieth of the cases
            (sums in another order can turn a choice).
    """
    config = configure(options, case, folder)
    torch.manual_seed(0)
    data = DataModule(config)
    module = build_module(config, data).eval()
    data.examples[TEST] = data.examples[TEST][: options.articles]
    data = DataModule(config, {TEST: data.examples[TEST]}, data.tokenizer)
    ways: dict[str, Callable[[], list[str]]] = {
        "one by one": lambda: one_by_one(module, data),
        **{
            f"{TRAINER}, {size} at once": partial(by_trainer, module, data, size, folder / "rival")
            for size in options.sizes
        },
        "heron": lambda: in_batches(module, data, folder),
    }
    times: dict[str, list[float]] = {name: [] for name in ways}
    for _ in range(options.rounds):
        texts = {}
        for name, way in ways.items():
            start = time.process_time()
            texts[name] = way()
            times[name].append(time.process_time() - start)
        for name, rival in texts.items():
            differing = sum(a != b for a, b in zip(rival, texts["heron"], strict=True))
            if options.precision == "32-true" and differing > len(rival) / 20:
                raise HeronError(f"{case.name}: {differing} summaries differ from those of {name}")
    return times


def result_table(found: dict[str, dict[str, list[float]]], options: Options) -> Table:
    """Show tokens per processor second and the median of the ratios within rounds."""
    written = options.articles * options.tokens
    rows = [
        (
            case,
            way,
            Formatted(statistics.median(spent), ".2f"),
            Formatted(written / statistics.median(spent), ".0f"),
            Formatted(ratio(times, way), ".1f"),
        )
        for case, times in found.items()
        for way, spent in times.items()
    ]
    columns = ("model", "way", "processor s", "tokens per s", "times faster")
    title = f"{options.articles} summaries of {options.tokens} tokens; rounds: {options.rounds}"
    return Table(title, columns, tuple(rows))


def ratio(times: dict[str, list[float]], name: str) -> float:
    """Take the median of the ratios to one by one within rounds."""
    pairs = zip(times["one by one"], times[name], strict=True)
    return statistics.median(base / spent for base, spent in pairs)


def main(arguments: Sequence[str]) -> int:
    """Measure, print and write; returns the exit code."""
    silence_libraries()
    try:
        options = parse_options(Options, arguments)
        if options.encoder is None:
            options.encoder = named_encoder()
        numbers = (options.articles, options.tokens, options.rounds, options.threads)
        if min(*numbers, *options.beams, *options.sizes) < 1:
            raise ConfigError(
                "articles, tokens, beams, sizes, rounds and threads: expected 1 or more"
            )
        torch.set_num_threads(options.threads)
        with tempfile.TemporaryDirectory() as folder:
            found = {case.name: measure(options, case, Path(folder)) for case in cases(options)}
    except HeronError as error:
        print(f"benchmark: {error}", file=sys.stderr)
        return 2
    print_tables([result_table(found, options)])
    versions = {
        "python": platform.python_version(),
        "torch": torch.__version__,
        "transformers": transformers.__version__,
    }
    write_json(options.out, {"versions": versions, "seconds": found})
    print(options.out)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
