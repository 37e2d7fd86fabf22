"""`python -m tests.benchmarks.generation`: writing summaries in batches and one by one.

Articles of the built-in corpus, every summary of the same length; greedily and with beams. The
model has a given shape and random weights; where `HERON_ENCODER` names an encoder, a second one
begins with its weights (`head=warm_start`). One by one is what a script does: tokenize,
`model.generate`, decode, for each article. `Seq2SeqTrainer` generates in batches of several sizes,
each padded to its longest. heron's way is what a run does at its end: batches by length, each kept
on disk as it is done. See README.md here.
"""

from __future__ import annotations

import statistics
import tempfile
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import torch
import transformers

from heron.base.cells import Formatted, Table
from heron.base.errors import ConfigError, HeronError
from heron.base.libraries import silence_libraries
from heron.config.constraints import Count
from heron.data.config import TEST
from heron.data.datamodule import DataModule
from heron.tasks.config import Config
from heron.tasks.summarization.seq2seq import generation_settings
from heron.training.build import build_module
from heron.training.compose import compose
from heron.training.inference import _trainer
from heron.training.outcome import predict_split

from .frame import Found, Times, folder, main, ratio, time_rounds

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

    articles: Count = 24
    tokens: Count = 40
    beams: list[Count] = field(default_factory=lambda: [1, 4])
    encoder: Path | None = None
    hidden: Count = 256
    layers: Count = 4
    batch: Count = 4096
    precision: str = "32-true"
    sizes: list[Count] = field(default_factory=lambda: [4, 8, 24])
    rounds: Count = 2
    threads: Count = 1
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
    path = folder(None, "HERON_ENCODER")
    if path and path.is_dir():
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
        "trainer.enable_progress_bar=false",
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


def measure(options: Options, case: Case, made: Path) -> Times:
    """Time every way once a round, in processor seconds.

    Raises:
        HeronError: in full precision, they write otherwise in more than a twentieth of the cases
            (sums in another order can turn a choice).
    """
    config = configure(options, case, made)
    torch.manual_seed(0)
    data = DataModule(config)
    module = build_module(config, data).eval()
    data.examples[TEST] = data.examples[TEST][: options.articles]
    data = DataModule(config, {TEST: data.examples[TEST]}, data.tokenizer)
    ways = {
        "one by one": lambda: one_by_one(module, data),
        **{
            f"{TRAINER}, {size} at once": partial(by_trainer, module, data, size, made / "rival")
            for size in options.sizes
        },
        "heron": lambda: in_batches(module, data, made),
    }

    def check(texts: dict[str, list[str]]) -> None:
        for name, rival in texts.items():
            differing = sum(a != b for a, b in zip(rival, texts["heron"], strict=True))
            if options.precision == "32-true" and differing > len(rival) / 20:
                raise HeronError(f"{case.name}: {differing} summaries differ from those of {name}")

    return time_rounds(ways, options.rounds, check)


def result_table(found: dict[str, Times], options: Options) -> Table:
    """Show tokens per processor second and the median of the ratios within rounds."""
    written = options.articles * options.tokens
    rows = [
        (
            case,
            way,
            Formatted(statistics.median(spent), ".2f"),
            Formatted(written / statistics.median(spent), ".0f"),
            Formatted(ratio(times, "one by one", way), ".1f"),
        )
        for case, times in found.items()
        for way, spent in times.items()
    ]
    columns = ("model", "way", "processor s", "tokens per s", "times faster")
    title = f"{options.articles} summaries of {options.tokens} tokens; rounds: {options.rounds}"
    return Table(title, columns, tuple(rows))


def run(options: Options) -> Found:
    """Write the summaries of every case in every way."""
    silence_libraries()
    if options.encoder is None:
        options.encoder = named_encoder()
    torch.set_num_threads(options.threads)
    with tempfile.TemporaryDirectory() as made:
        found = {case.name: measure(options, case, Path(made)) for case in cases(options)}
    return Found({"seconds": found}, [result_table(found, options)])


if __name__ == "__main__":
    raise SystemExit(main(Options, run))
