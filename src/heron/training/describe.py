"""Counts of the data that a run reads, for `status.json`, and warnings about it."""

from collections.abc import Mapping, Sequence
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np

from heron.base import ranks
from heron.base.run_folder import RunFolder
from heron.base.terminal import say
from heron.data.config import TRAIN
from heron.data.datamodule import DataModule
from heron.data.examples import Example, count_repairs, text_key
from heron.data.features import Features
from heron.tasks.config import Config
from heron.tasks.task import task_of

_MOST_UNKNOWN = 0.1  # share of tokens; texts in an encoder's own language have about 0.01
_FEWEST_ROWS = 10
_FEWEST_STEPS = 3  # of the optimizer, an epoch


def say_findings(config: Config, folder: RunFolder) -> None:
    """Print the known faults of the data, from an audit or the data set's own page."""
    cache = Path(config.paths.cache)
    if ranks.is_first() and (config.data.findings or any((cache / "audit").glob("*.json"))):
        from heron.data.findings import known_problems  # start-up time

        sources = folder.read_status()["sources"]
        for finding in known_problems(config.data, sources, cache):
            say(f"{config.data.name}: {finding}")


def describe_run(data: DataModule, folder: RunFolder) -> None:
    """Write counts of what a run reads to `status.json`, and print warnings."""
    if ranks.is_first():
        described = describe(data.examples, data.dropped, data.features)
        folder.update_status(data={**described, **describe_training(data)})


def describe(
    examples: Mapping[str, Sequence[Example]],
    dropped: Mapping[str, Mapping[str, int]],
    features: Mapping[str, Features] | None = None,
) -> dict[str, Any]:
    """Count what a run reads, and print warnings on standard error.

    Without `features`, of systems that read words, there are no counts of tokens.

    Returns:
        `splits` (rows, and with features: sequences, refused, truncated rows, and what the task has
        counted), `dropped`, `shared`: how many examples two splits have in common, and `repairs`
        of answers, where there are any.
    """
    splits = {split: {"rows": len(rows)} for split, rows in examples.items()}
    for split, found in (features or {}).items():
        rows, cut, left_out = len(found), int(found.truncated_R.sum()), found.refused
        sizes = {"sequences": len(found.lengths_S), "refused": len(left_out), "truncated": cut}
        counted = {name: number for name, (number, _) in found.counts.items()}
        splits[split] = {"rows": rows, **sizes, **counted}
        if cut:
            say(f"{split}: {cut} of {rows} texts ({cut / rows:.0%}) are cut at max_length")
        if left_out:
            named = ", ".join(each.where for each in left_out[:3]) + ", ..." * (len(left_out) > 3)
            say(f"{split}: left out {len(left_out)} that max_length does not hold: {named}")
        for number, warning in found.counts.values():
            if number and warning:
                say(f"{split}: {number} {warning}")
    repairs = {s: counts for s, each in examples.items() if (counts := count_repairs(each))}
    for what, by_split in (("answers", repairs), ("left out", dropped)):
        for split, reasons in by_split.items():
            say(f"{split}: {what} {', '.join(f'{n} {why}' for why, n in reasons.items())}")
    keys = {split: {text_key(each) for each in rows} for split, rows in examples.items()}
    shared = {
        f"{later} and {earlier}": len(keys[earlier] & keys[later])
        for earlier, later in combinations(keys, 2)
    }
    for both, number in shared.items():
        if number:
            say(f"{number} examples are in both {both}")
    left = {split: dict(reasons) for split, reasons in dropped.items()}
    found_repairs = {"repairs": repairs} if repairs else {}
    return {"splits": splits, "shared": shared, "dropped": left, **found_repairs}


def describe_training(data: DataModule) -> dict[str, Any]:
    """Warn of training data from which little can be learnt, and name the key to change.

    Returns:
        `unknown`: share of the train split's tokens that the tokenizer does not know; `steps`:
        optimizer steps of the first epoch; under `bucket`, `batch_tokens`: padded tokens a batch.
    """
    config, batching = data.config, data.batching
    rows, steps, unknown = len(data.features[TRAIN]), data.steps_per_epoch()[0], _unknown(data)
    if unknown >= _MOST_UNKNOWN:
        say(
            f"train: {unknown:.0%} of the tokens are {data.tokenizer.unk_token}: the "
            f"tokenizer of encoder.name={config.encoder.name} does not know this script; set "
            "encoder= to one of the data's language"
        )
    counts_C = data.label_counts_C
    if rows < _FEWEST_ROWS:
        say(f"train: {rows} rows are too few to learn from; see data.files.train and data.sample")
    elif task_of(config).has_classes and len(counts_C) > 1 and np.count_nonzero(counts_C) == 1:
        label = config.data.label_order[int(counts_C.argmax())]
        say(
            f"train: all {rows} rows are of class {label}: nothing can be learnt; see "
            "data.columns.label, data.label_aliases and data.label_order"
        )
    by_size = batching.plan == "shuffle"
    if steps <= _FEWEST_STEPS:
        word = f"size={batching.size}" if by_size else f"tokens={batching.tokens}"
        say(
            f"train: {steps} optimizer steps an epoch: lower batching.{word} or "
            "trainer.accumulate_grad_batches, or raise trainer.max_epochs"
        )
    tokens = {} if by_size else {"batch_tokens": batching.tokens}
    return {"unknown": unknown, "steps": steps, **tokens}


def _unknown(data: DataModule) -> float:
    """Compute the share of the train split's tokens that are unknown, from 0 to 1."""
    tokens_T, tokenizer = data.features[TRAIN].tokens_T, data.tokenizer
    unknown = tokenizer.unk_token_id
    # GPT-2 uses its end-of-text token for this; its bytes cover every text.
    if unknown in (None, tokenizer.eos_token_id, tokenizer.bos_token_id) or not len(tokens_T):
        return 0.0
    return round(float(np.mean(np.asarray(tokens_T) == unknown)), 4)
