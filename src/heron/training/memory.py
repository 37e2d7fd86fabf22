"""Running out of memory, said with the keys that make a run take less."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager

from heron.base.errors import HeronError, first_line
from heron.base.libraries import precision
from heron.config.schema import Config
from heron.data.batching import budget

_OUT_OF_MEMORY = re.compile(r"out of memory|(can't|cannot) allocate|bad_alloc", re.IGNORECASE)


class OutOfMemoryError(HeronError):
    """Memory, of the machine or of a device, was not enough for a run."""


@contextmanager
def naming_memory(config: Config, training: bool = True) -> Iterator[None]:
    """Name the keys that make a run take less memory where it runs out.

    Args:
        config: the run's; a baseline has no such keys.
        training: whether it trains; a trained run that predicts takes fewer keys.

    Raises:
        OutOfMemoryError: instead of what torch says.
    """
    try:
        yield
    except Exception as error:
        is_torch_s = isinstance(error, RuntimeError) and _OUT_OF_MEMORY.search(str(error))
        if not isinstance(error, MemoryError) and not is_torch_s:
            raise
        text = f"out of memory ({first_line(error) or type(error).__name__})"
        if config.baseline.name == "none":
            text += f". To use less, set: {'; '.join(_savings(config, training))}"
        raise OutOfMemoryError(text) from error


def _savings(config: Config, training: bool) -> list[str]:
    batching, settings = config.batching, config.trainer
    key = "size" if training and batching.plan == "shuffle" else "tokens"
    now = batching.size if key == "size" else budget(batching)
    also = "; twice optim.accumulate keeps a step" if training else ""
    less = [f"batching.{key}={max(1, now // 2)} (it is {now}{also})"]
    if key == "size":
        less.append(f"in evaluation batching.tokens (it is {budget(batching)})")
    if training and "16" not in precision(settings.precision):
        less.append("trainer.precision=bf16-mixed")
    if training and not config.encoder.gradient_checkpointing:
        less.append("encoder.gradient_checkpointing=true")
    return less
