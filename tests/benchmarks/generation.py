"""`python -m tests.benchmarks.generation`: writing summaries in batches and one by one.

Articles of the built-in corpus, every summary of the same length; greedily and with beams. The
model has a given shape and random weights; where `HERON_ENCODER` names an encoder, a second one
begins with its weights (`head=warm_start`). One by one is what a script does: tokenize,
`model.generate`, decode, for each article. `Seq2SeqTrainer` generates in batches of several sizes,
each padded to its longest. heron's way is what a run does at its end: batches by length, each kept
on disk as it is done. See README.md here.
"""

from __future__ import annotations

import tempfile
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import product
from pathlib import Path
from statistics import median
from time import perf_counter, process_time
from typing import Annotated, Any

import torch
import transformers

from heron.base.errors import HeronError
from heron.base.libraries import silence_libraries
from heron.config.constraints import Count, OneOf
from heron.data.config import TEST
from heron.data.datamodule import DataModule
from heron.tasks.config import Config
from heron.tasks.summarization.seq2seq import generation_settings
from heron.training.compose import compose
from heron.training.trainer import build_module, predict_split, prediction_trainer

from .frame import Found, Headline, Times, folder, main, ratios, set_beside, time_rounds

ALONE, TRAINER = "one by one", "Seq2SeqTrainer"


@dataclass
class Options:
    """Options of the benchmark."""

    articles: Count = 24
    tokens: Count = 40  # of every summary
    beams: list[Count] = field(default_factory=lambda: [1, 4])
    # The second model begins with this folder's encoder; default `HERON_ENCODER`.
    encoder: Path | None = None
    hidden: Count = 256  # width of encoder and decoder of the model with random weights
    layers: Count = 4  # of each
    batch: Count = 4096  # padded tokens of a batch; on a GPU, heron's default
    sizes: list[Count] = field(default_factory=lambda: [4, 8, 24])  # of `Seq2SeqTrainer`'s batches
    device: Annotated[str, OneOf("cpu", "cuda")] = "cpu"
    rounds: Count = 2
    out: Path = Path("runs/benchmark_generation.json")


def configure(options: Options, encoder: Path | None, beams: int, folder: Path) -> Config:
    """Compose the run whose model writes."""
    shape = {"hidden": options.hidden, "layers": options.layers}
    shape |= {"intermediate": 4 * options.hidden}
    scratch = (f"encoder.scratch.{key}={value}" for key, value in shape.items())
    generation = {"num_beams": beams, "no_repeat_ngram_size": 0}
    generation |= dict.fromkeys(("min_new_tokens", "max_new_tokens"), options.tokens)
    return compose(
        [
            *("data=chronicle_summaries", f"paths.cache={folder}"),
            f"data.generator.size={max(100, 5 * options.articles)}",
            *((f"encoder={encoder}", "head=warm_start") if encoder else scratch),
            f"batching.tokens={options.batch if options.device == 'cpu' else 'null'}",
            *(f"task.generation.{key}={value}" for key, value in generation.items()),
            *("trainer.precision=32-true", f"trainer.accelerator={options.device}"),
            "trainer.enable_progress_bar=false",
        ]
    )


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
                input_ids=read["input_ids"].to(model.device),
                attention_mask=read["attention_mask"].to(model.device),
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
        use_cpu=config.trainer.accelerator == "cpu",
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
    predictions: Any = predict_split(
        prediction_trainer(data.config, folder), module, data, TEST, folder / "kept"
    )
    texts: list[str] = predictions.texts
    return texts


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
    ways = {
        ALONE: lambda: one_by_one(module, data),
        **{
            f"{TRAINER}, {size} at once": partial(by_trainer, module, data, size, made / "rival")
            for size in options.sizes
        },
        "heron": lambda: in_batches(module, data, made),
    }

    def check(texts: dict[str, list[str]]) -> None:
        for name, rival in texts.items():
            differing = sum(a != b for a, b in zip(rival, texts["heron"], strict=True))
            if differing > len(rival) / 20 and options.device == "cpu":
                raise HeronError(f"{differing} summaries differ from those of {name}")

    clock = process_time if options.device == "cpu" else perf_counter
    return time_rounds(ways, options.rounds, check, clock)


def run(options: Options) -> Found:
    """Write the summaries of every case in every way."""
    silence_libraries()
    torch.set_num_threads(1)
    encoder, cases = folder(options.encoder, "HERON_ENCODER"), dict[str, Times]()
    if encoder is None:
        print("HERON_ENCODER names no folder: only the model with random weights is measured")
    for read, beams in product([None, *([encoder] if encoder else [])], options.beams):
        name = f"{read.name if read else 'random weights'}, {beams} beams"
        with tempfile.TemporaryDirectory() as made:
            config = configure(options, read, beams, Path(made))
            cases[name] = measure(options, config, Path(made))
    title = f"{options.articles} summaries of {options.tokens} tokens"
    found = set_beside(title, cases, ALONE, bars={case: {"heron": None} for case in cases})
    best = [
        (case, min((way for way in times if TRAINER in way), key=lambda way: median(times[way])))
        for case, times in cases.items()
    ]
    more = [Headline(case, way, ratios(cases[case], way, "heron"), 1.3) for case, way in best]
    return replace(found, headlines=[*found.headlines, *more])


if __name__ == "__main__":
    raise SystemExit(main(Options, run))
