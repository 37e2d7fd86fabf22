"""`python -m tests.benchmarks.gpu`: training on a GPU beside the Hugging Face Trainer.

Encoders with random weights, on the built-in corpus: nothing is fetched. Every row is written to
`out=` as soon as it is measured; once `seconds=` are over, no other begins. See README.md here.
"""

from __future__ import annotations

import os
import tempfile
import time
import traceback
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import torch

from heron.base.files import write_json
from heron.base.libraries import silence_libraries
from heron.config.constraints import Count, OneOf
from heron.data.collate import Collator
from heron.data.config import TRAIN

from . import generation
from .all import machine
from .epoch import Blocks, ChosenBatches, DoneError, Meter, Watch, choose_batches, now
from .frame import Found, Headline, main
from .gpu_cases import CASES, prepare
from .rivals import BATCH, Rival, gflop_per_sample, is_windowed, plan_rival, train

HERON, TRAINER = (Rival(name, name.lower(), "bf16-mixed") for name in ("heron", "Trainer"))
RIVALS = [HERON, TRAINER._replace(title="Trainer, group_by_length", grouped=True), TRAINER]
COMPILED = [each._replace(title=f"{each.title}, compiled", compiled=True) for each in RIVALS[:2]]


@dataclass
class Options:
    """Options of the benchmark."""

    device: Annotated[str, OneOf("cuda", "cpu")] = "cuda"
    size: Annotated[str, OneOf("full", "tiny")] = "full"
    seconds: Count = 400  # after which no row begins
    steps: Count = 16  # batches that stand for an epoch
    only: list[str] = field(default_factory=list)  # how names of rows begin; default: all
    out: Path = Path("runs/benchmark_gpu.json")


class Rows:
    """The benchmark's rows, each of which returns what it has measured."""

    def __init__(self, options: Options, made: Path):
        self.options, self.made, self.gpu = options, made, options.device == "cuda"
        self.headlines: list[Headline] = []
        self.pairs: dict[str, tuple[float, str]] = {}  # by size: of the Trainer in a second

    def peak(self) -> dict[str, float]:
        """Measure bf16 products (TFLOP/s) and a copy (TB/s of bytes read and written)."""
        n = 8192 if self.gpu else 256
        a, b, c = torch.randn(3, n, n, device=self.options.device, dtype=torch.bfloat16)

        def best(work: Any) -> float:
            return min(-now(self.gpu) + (work(), now(self.gpu))[1] for _ in range(20))

        self.tflops = 2 * n**3 / best(lambda: torch.mm(a, b, out=c)) / 1e12
        return {"tflops": self.tflops, "tb_s": 4 * n**2 / best(lambda: c.copy_(a)) / 1e12}

    def training(self, case: str, size: str, rivals: list[Rival], batch: int = BATCH) -> Any:
        """Train as every rival does; the window head's rival is the Trainer on pairs."""
        found = {each.title: self.measure(each, case, size, batch) for each in rivals}
        theirs = [(found[each.title]["rows_s"], each.title) for each in rivals[1:]]
        rate, name = max(theirs, default=self.pairs.get(size, (0.0, "")))
        if case == "pairs" and batch == BATCH:
            self.pairs[size] = max(self.pairs.get(size, (0.0, "")), (rate, name))
        ratio = found[rivals[0].title]["rows_s"] / rate
        work = f"{rivals[0].title}, {case}, {size}, {batch} a batch"
        self.headlines.append(Headline(work, name, [ratio], 1.3))
        if self.gpu:
            waits = [100 * found[rivals[0].title]["gpu_waits"]]
            self.headlines.append(Headline(f"{work}: the GPU waits", "a step", waits, 5.0, "%"))
        return found

    def measure(self, rival: Rival, case: str, size: str, batch: int) -> dict[str, Any]:
        """Measure one rival's steps."""
        data = prepare(case, size, self.made, self.options.device)
        plan, lengths, samples = plan_rival(rival, data.config, data, batch)
        chosen = choose_batches(plan, lengths, self.options.steps)
        self.train(rival, data, meter := Meter(chosen, self.gpu))
        taken, features = np.concatenate(chosen), data.features[TRAIN]
        found: dict[str, Any] = {"rows_s": float(samples[taken].sum()) / meter.seconds}
        found["step_ms"] = 1000 * meter.seconds / len(chosen)
        if self.gpu:
            found["gpu_waits"] = 1 - meter.kernels / meter.seconds
            found |= {"waits": Counter(meter.waits), "gb": torch.cuda.max_memory_reserved() / 1e9}
        if data.config.task.name != "summarization":
            if rival.framework == "heron":
                taken = Collator(features, 0).sequences(taken)
            elif not is_windowed(features):
                taken = features.sequences_R[taken]
            gflop = gflop_per_sample(data.config, features.lengths_S[taken]) * len(taken)
            found["share_of_peak"] = gflop / 1000 / meter.seconds / self.tflops
        return found

    def train(self, rival: Rival, data: ChosenBatches, watch: Watch) -> None:
        """Train until a watch has seen enough."""
        data.chosen = watch.batches()
        with suppress(DoneError):
            train(rival, data.config, data, watch)

    def overhead(self, size: str) -> dict[str, list[float]]:
        """Train with all callbacks, without the recorder, and without any, in turn."""
        data = prepare("pairs", size, self.made, self.options.device)
        plan, lengths, _ = plan_rival(HERON, data.config, data)
        chosen = choose_batches(plan, lengths, self.options.steps)
        self.train(HERON, data, blocks := Blocks(chosen, self.gpu, 5))
        every, but, none = map(np.asarray, blocks.spent.values())
        for work, more in (("recorder", every / but), ("progress and loggers", but / none)):
            percent = (100 * (more - 1)).tolist()
            self.headlines.append(Headline(f"{work}, {size}", "a step", percent, 1.0, "%"))
        return blocks.spent

    def writing(self) -> dict[str, list[float]]:
        """Write summaries, as a run does at its end and as `Seq2SeqTrainer` does."""
        options = generation.Options(articles=64, hidden=768, layers=12, sizes=[64])
        if self.options.size == "tiny":
            options = generation.Options(articles=4, tokens=5, hidden=32, layers=1, sizes=[4])
        options = replace(options, device=self.options.device)
        config = generation.configure(options, None, 1, self.made)
        times = generation.measure(options, config, self.made)
        rivals = {name: spent[-1] for name, spent in times.items() if name != "heron"}
        best = min(rivals, key=lambda name: rivals[name])
        ratio = rivals[best] / times["heron"][-1]
        self.headlines.append(Headline(f"{options.articles} summaries", best, [ratio], 1.3))
        return times

    def all(self) -> dict[str, Any]:
        """List the rows, the most important first."""
        base, large = ("tiny", "") if self.options.size == "tiny" else ("base", "large")
        rows: dict[str, Any] = {"peak": self.peak}

        def add(case: str, size: str, rivals: list[Rival], batch: int = BATCH) -> None:
            rivals = rivals[:1] if case == "window" else rivals
            name = f"{'compiled ' * rivals[0].compiled}{case}, {size}, {batch} a batch"
            rows[name] = partial(self.training, case, size, rivals, batch)

        for case in CASES:
            add(case, base, RIVALS)
        rows[f"overhead, {base}"] = partial(self.overhead, base)
        add("pairs", base, RIVALS, 8 * BATCH)
        rows["summaries written"] = self.writing
        add("pairs", base, COMPILED)
        for case in CASES if large else ():
            add(case, large, RIVALS[:2])
        return rows


def run(options: Options) -> Found:
    """Measure as many rows as there is time for."""
    os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")  # read at the first product
    silence_libraries()
    began, record = time.monotonic(), {"machine": machine(), "rows": dict[str, Any]()}
    with tempfile.TemporaryDirectory() as made:
        rows = Rows(options, Path(made))
        for name, measure in rows.all().items():
            if options.only and not name.startswith(("peak", *options.only)):
                continue
            why = "no GPU" if rows.gpu and not torch.cuda.is_available() else ""
            if (since := time.monotonic() - began) > options.seconds:
                why = f"{options.seconds} s are over"
            if why:
                print(f"{name}: not measured: {why}")
                continue
            try:
                record["rows"][name] = measure()
            except Exception:  # the other rows count, too
                record["rows"][name] = traceback.format_exc()
            spent = time.monotonic() - began - since
            print(f"{name} ({spent:.0f} s): {record['rows'][name]}", flush=True)
            write_json(options.out, record)
    return Found(record if record["rows"] else {}, headlines=rows.headlines)


if __name__ == "__main__":
    raise SystemExit(main(Options, run))
