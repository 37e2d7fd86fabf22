"""Writing summaries in batches and one by one.

Articles of the built-in corpus, every summary of the same length; greedily and with beams. The
model has a given shape and random weights; where `HERON_ENCODER` names an encoder, a second one
begins with its weights (`head=warm_start`). One by one is what a script does: tokenize,
`model.generate`, decode, for each article. `Seq2SeqTrainer` generates in batches of several sizes,
each padded to its longest. heron's way is what a run does at its end: batches by length, each kept
on disk as it is done.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from itertools import product
from pathlib import Path
from statistics import median
from time import perf_counter, process_time
from typing import Annotated, Any

import torch

from heron.base.errors import HeronError
from heron.base.libraries import silence_libraries
from heron.config.constraints import Count, OneOf
from heron.data.config import TEST
from heron.data.datamodule import DataModule
from heron.tasks.config import Config
from heron.tasks.summarization.seq2seq import generation_settings
from heron.training.compose import compose
from heron.training.trainer import build_module, predict_split, prediction_trainer

from .apart import folder
from .frame import Found, Out, Row, Times, beside, ratios, time_rounds
from .scripts import by_trainer, one_by_one

ALONE, TRAINER = "one by one", "Seq2SeqTrainer"


@dataclass
class Options(Out):
    """Options of the benchmark."""

    articles: Count = 24
    tokens: Count = 40  # of every summary
    beams: list[Count] = field(default_factory=lambda: [1, 4])
    hidden: Count = 256  # width of encoder and decoder of the model with random weights
    layers: Count = 4  # of each
    batch: Count = 4096  # padded tokens of a batch; on a GPU, heron's default
    sizes: list[Count] = field(default_factory=lambda: [4, 8, 24])  # of `Seq2SeqTrainer`'s batches
    device: Annotated[str, OneOf("cpu", "cuda")] = "cpu"
    rounds: Count = 2


def configure(options: Options, encoder: Path | None, beams: int, folder: Path) -> Config:
    """Compose the run whose model writes."""
    shape = {"hidden": options.hidden, "layers": options.layers}
    shape |= {"intermediate": 4 * options.hidden}
    scratch = [f"encoder.scratch.{key}={value}" for key, value in shape.items()]
    generation = {"num_beams": beams, "no_repeat_ngram_size": 0}
    generation |= dict.fromkeys(("min_new_tokens", "max_new_tokens"), options.tokens)
    words = ["data=chronicle_summaries", f"data.generator.size={max(100, 5 * options.articles)}"]
    words += [f"paths.cache={folder}", "trainer.precision=32-true"]
    words += [f"trainer.accelerator={options.device}", "trainer.enable_progress_bar=false"]
    words += [f"batching.tokens={options.batch if options.device == 'cpu' else 'null'}"]
    words += [f"encoder={encoder}", "head=warm_start"] if encoder else scratch
    return compose([*words, *(f"task.generation.{key}={generation[key]}" for key in generation)])


def measure(options: Options, config: Config, made: Path) -> Times:
    """Time every way once a round, in processor seconds (on a GPU: in seconds).

    Raises:
        HeronError: they write otherwise in more than a twentieth of the cases (sums in another
            order can turn a choice; on a GPU, more often).
    """
    torch.manual_seed(0)
    data = DataModule(config)
    module = build_module(config, data).eval().to(options.device)
    data = DataModule(config, {TEST: data.examples[TEST][: options.articles]}, data.tokenizer)
    model, texts = module.encoder.model, [example.text for example in data.examples[TEST]]
    settings = generation_settings(model, config.task.generation)
    read = partial(data.tokenizer, truncation=True, max_length=config.encoder.max_length)
    rival = made / "rival"
    alone = partial(one_by_one, model, data.tokenizer, read, texts, generation_config=settings)
    ways: dict[str, Callable[[], list[str]]] = {ALONE: alone}
    for size in options.sizes:
        way = partial(by_trainer, model, data.tokenizer, read, texts, size, rival, settings)
        ways[f"{TRAINER}, {size} at once"] = way
    predict: Any = partial(predict_split, module=module, data=data, split=TEST, keep=made / "kept")
    ways["heron"] = lambda: list(predict(prediction_trainer(config, made)).texts)

    def check(texts: dict[str, list[str]]) -> None:
        for name, rival in texts.items():
            differing = sum(a != b for a, b in zip(rival, texts["heron"], strict=True))
            if differing > len(rival) / 20 and options.device == "cpu":
                raise HeronError(f"{differing} summaries differ from those of {name}")

    clock = process_time if options.device == "cpu" else perf_counter
    return time_rounds(ways, options.rounds, check, clock=clock)


def run(options: Options) -> Found:
    """Write the summaries of every case in every way; heron beside the best of the Trainer's."""
    silence_libraries()
    torch.set_num_threads(1)
    encoder, rows = folder("HERON_ENCODER", "config.json"), []
    for read, beams in product([None, *([encoder] if encoder else [])], options.beams):
        with tempfile.TemporaryDirectory() as made:
            config = configure(options, read, beams, Path(made))
            times = measure(options, config, Path(made))
        weights = read.name if read else "random weights"
        work = f"{options.articles} summaries of {options.tokens} tokens, {weights}, {beams} beams"
        rows += beside(work, times, ALONE)
        best = min((way for way in times if TRAINER in way), key=lambda way: median(times[way]))
        rows.append(Row(work, best, ratios(times, best, "heron"), limit="≥ 1.3"))
    return Found(rows)
