"""What is measured on a GPU, each in a method that returns it and adds its rows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import torch

from heron.data.collate import Collator
from heron.data.config import TRAIN

from . import generation
from .epoch import ChosenBatches, choose_batches
from .frame import Row
from .gpu_data import prepare
from .gpu_watches import Blocks, DoneError, Meter, Watch, now
from .hf_rows import is_windowed
from .rivals import BATCH, Rival, plan_rival, train
from .steps import gflop_per_sample


class Rows:
    """The rows of a device (`cpu` shows what they do), with so many batches for an epoch."""

    def __init__(self, device: str, steps: int, made: Path):
        self.device, self.steps, self.made, self.gpu = device, steps, made, device == "cuda"
        self.found: list[Row] = []
        self.pairs: dict[str, tuple[float, str]] = {}  # by size: of the Trainer in a second

    def peak(self) -> dict[str, float]:
        """Measure bf16 products (TFLOP/s) and a copy (TB/s of bytes read and written)."""
        n = 8192 if self.gpu else 256
        a, b, c = torch.randn(3, n, n, device=self.device, dtype=torch.bfloat16)

        def best(work: Any) -> float:
            return min(-now(self.gpu) + (work(), now(self.gpu))[1] for _ in range(20))

        self.tflops = 2 * n**3 / best(lambda: torch.mm(a, b, out=c)) / 1e12
        self.found.append(Row("a large bf16 product", "", [self.tflops], "TFLOP/s"))
        return {"tflops": self.tflops, "tb_s": 4 * n**2 / best(lambda: c.copy_(a)) / 1e12}

    def training(self, case: str, size: str, rivals: Sequence[Rival], batch: int) -> Any:
        """Train as every rival does; the window head's rival is the Trainer on pairs."""
        found = {each.title: self.measure(each, case, size, batch) for each in rivals}
        theirs = [(found[each.title]["rows_s"], each.title) for each in rivals[1:]]
        rate, name = max(theirs, default=self.pairs.get(size, (0.0, "")))
        if case == "pairs" and batch == BATCH:
            self.pairs[size] = max(self.pairs.get(size, (0.0, "")), (rate, name))
        ours, work = found[rivals[0].title], f"{rivals[0].title}, {case}, {size}, {batch} a batch"
        self.found.append(Row(work, name, [ours["rows_s"] / rate], limit="≥ 1.3"))
        if self.gpu:
            waits = [100 * ours["gpu_waits"]]
            self.found.append(Row(f"{work}: no kernel runs", "", waits, "% of a step", "≤ 5"))
        elif name in found:
            more = ours["operations"] / found[name]["operations"]
            self.found.append(Row(f"{work}: operations a step", name, [more], limit="≤ 1"))
        return found

    def measure(self, rival: Rival, case: str, size: str, batch: int) -> dict[str, Any]:
        """Measure one rival's steps."""
        data, chosen, samples = self.choose(rival, case, size, batch)
        self.train(rival, data, meter := Meter(chosen, self.gpu))
        taken, features = np.concatenate(chosen), data.features[TRAIN]
        found: dict[str, Any] = {"rows_s": float(samples[taken].sum()) / meter.seconds}
        found["step_ms"] = 1000 * meter.seconds / len(chosen)
        if self.gpu:
            found["gpu_waits"] = 1 - meter.kernels / meter.seconds
            found |= {"waits": Counter(meter.waits), "gb": torch.cuda.max_memory_reserved() / 1e9}
        elif meter.counted is not None:
            found["operations"] = meter.counted.counts.total() / len(chosen)
            found["casts"] = meter.counted.counts["_to_copy"] / len(chosen)
        if data.config.task.name != "summarization":
            if rival.framework == "heron":
                taken = Collator(features, 0).sequences(taken)
            elif not is_windowed(features):
                taken = features.sequences_R[taken]
            gflop = gflop_per_sample(data.config, features.lengths_S[taken]) * len(taken)
            found["share_of_peak"] = gflop / 1000 / meter.seconds / self.tflops
        return found

    def choose(self, rival: Rival, case: str, size: str, batch: int = BATCH) -> Any:
        """Prepare data, and choose the batches that stand for an epoch."""
        data = prepare(case, size, self.made, self.device)
        plan, lengths, samples = plan_rival(rival, data.config, data, batch)
        return data, choose_batches(plan, lengths, self.steps), samples

    def train(self, rival: Rival, data: ChosenBatches, watch: Watch) -> None:
        """Train until a watch has seen enough."""
        data.chosen = watch.batches()
        with suppress(DoneError):
            train(rival, data.config, data, watch)

    def overhead(self, size: str, rival: Rival) -> dict[str, list[float]]:
        """Train with all callbacks, without the recorder, and without any, in turn."""
        data, chosen, _ = self.choose(rival, "pairs", size)
        self.train(rival, data, blocks := Blocks(chosen, self.gpu, 5))
        every, but, none = map(np.asarray, blocks.spent.values())
        for work, more in (("recorder", every / but), ("progress and loggers", but / none)):
            percent = (100 * (more - 1)).tolist()
            self.found.append(Row(f"{work}, {size}", "", percent, "% of a step", "≤ 1"))
        return blocks.spent

    def writing(self, tiny: bool) -> dict[str, list[float]]:
        """Write summaries, as a run does at its end and as `Seq2SeqTrainer` does."""
        options = generation.Options(articles=64, hidden=768, layers=12, sizes=[64])
        if tiny:
            options = generation.Options(articles=4, tokens=5, hidden=32, layers=1, sizes=[4])
        options.device = self.device
        config = generation.configure(options, None, 1, self.made)
        times = generation.measure(options, config, self.made)
        rivals = {name: spent[-1] for name, spent in times.items() if name != "heron"}
        best = min(rivals, key=lambda name: rivals[name])
        ratio = rivals[best] / times["heron"][-1]
        self.found.append(Row(f"{options.articles} summaries", best, [ratio], limit="≥ 1.3"))
        return times
