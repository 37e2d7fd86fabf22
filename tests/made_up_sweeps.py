"""A sweep made up: settings, seeds, scores, curves and ledgers; nothing is trained."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

from heron.base.yaml_files import dump_yaml

HEADS = ("ess", "emp", "עברית מעורבת mix")
RATES = ("1e-5", "3e-5", "1e-4")


def make_sweep(place: Path, seeds: int = 2, seed: int = 0) -> Path:
    """Write `seeds` runs of each head and learning rate; one fails, one is still running.

    On validation `ess` with 1e-4 is best by far, on test `emp` with 1e-5.

    Returns:
        The sweep's folder, `place/grid`.
    """
    random = np.random.default_rng(seed)
    folder = place / "grid"
    settings = [(h, r, s) for h in HEADS for r in RATES for s in range(seeds)]
    for number, (head, rate, run_seed) in enumerate(settings):
        noise = float(random.normal(0, 0.01))
        validation = 0.4 + 0.2 * ((head, rate) == ("ess", "1e-4")) + noise
        test = 0.35 + 0.3 * ((head, rate) == ("emp", "1e-5")) + noise
        words = [f"head={head}", f"optim.lr={rate}", f"seed={run_seed}", "run.sweep=grid"]
        state = {3: "failed", len(settings) - 1: "running"}.get(number, "done")
        scores = {"validation": {"macro_f1": validation}, "test": {"macro_f1": test}}
        job = folder / f"job {number:03d}, seed={run_seed}"
        _write_run(job, state, words, scores, {"name": head}, float(rate), run_seed)
    return folder


def _write_run(
    job: Path,
    state: str,
    words: list[str],
    scores: dict[str, dict[str, float]],
    head: dict[str, Any],
    rate: float,
    seed: int,
) -> None:
    job.mkdir(parents=True)
    config = {"seed": seed, "head": head, "optim": {"lr": rate}}
    config |= {"trainer": {"monitor": "macro_f1"}, "data": {"synthetic": True}}
    (job / "config.yaml").write_text(dump_yaml(config), encoding="utf-8")
    status: dict[str, Any] = {"state": state, "seconds": 61.25, "overrides": words}
    if state == "failed":
        status["error"] = "RuntimeError: </script><script>window.broken = 1</script>\nsecond line"
    (job / "status.json").write_text(json.dumps(status), encoding="utf-8")
    if state != "failed":
        rows = [f"{step // 50},{step},{1.5 - step / 400:.4f}," for step in range(0, 200, 10)]
        final = scores["validation"]["macro_f1"]
        rows += [f"{n},{50 * n + 49},,{final - 0.1 + 0.025 * (n + 1)}" for n in range(4)]
        lines = ["epoch,step,train/loss,validation/macro_f1", *rows]
        (job / "metrics.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    if state == "done":
        (job / "scores.json").write_text(json.dumps(scores), encoding="utf-8")
        total = {"steps": 200, "batches": 200, "samples": 6400, "tokens": 90_000}
        total |= {"padded": 120_000, "unique": 1600}
        ledger = {"planned_steps": 200, "total": total, "stages": []}
        (job / "ledger.json").write_text(json.dumps(ledger), encoding="utf-8")
