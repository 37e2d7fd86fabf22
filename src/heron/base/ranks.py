"""The processes ("ranks") of one training on several devices, how they communicate, their cores.

Each rank runs the whole program on its share of every batch; only rank 0, the first, writes.
Outside such a training there is one rank, and nothing here communicates.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from torch import Tensor

Value = TypeVar("Value")

# How long a rank waits for a gradient or a score before it fails: the others are gone or stuck.
TIMEOUT = timedelta(minutes=30)
# How long the others wait while rank 0 encodes a corpus, or waits for another command's run.
PATIENCE = timedelta(days=7)


@dataclass
class _Place:
    rank: int = 0
    ranks: int = 1
    # A gloo group that waits for `PATIENCE`: for Python values, and for sums on the CPU.
    patient: Any = None


# A module global, because a process joins the others once, in `join`, and has one rank.
_here = _Place()


def rank() -> int:
    """Return the number of this process, from 0."""
    return _here.rank


def ranks() -> int:
    """Count the processes of this training."""
    return _here.ranks


def is_first() -> bool:
    """Tell whether this process is rank 0, the one that writes."""
    return _here.rank == 0


def uses_gpu(accelerator: str) -> bool:
    """Tell whether `trainer.accelerator` means a GPU of NVIDIA's on this machine."""
    import torch  # start-up time

    return accelerator != "cpu" and torch.cuda.is_available()


def join(accelerator: str = "auto", meet: str = "env://") -> None:
    """Meet the other ranks of this training at `meet`, an address as torch knows it; once.

    CPU tensors travel by gloo, those on GPUs by nccl.
    """
    import torch  # start-up time
    from torch import distributed

    on_gpu = uses_gpu(accelerator)
    if on_gpu:
        torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
    rank = int(os.environ["RANK"])
    ranks = int(os.environ["WORLD_SIZE"])
    backend = "cpu:gloo,cuda:nccl" if on_gpu else "gloo"
    distributed.init_process_group(backend, meet, TIMEOUT, ranks, rank)
    _here.rank = rank
    _here.ranks = ranks
    _here.patient = distributed.new_group(backend="gloo", timeout=PATIENCE)


def leave() -> None:
    """Leave the process group, at the end of the program."""
    from torch import distributed  # start-up time

    distributed.destroy_process_group()


def from_first(value: Value) -> Value:
    """Return rank 0's `value` in every rank."""
    if _here.ranks == 1:
        return value
    from torch import distributed  # start-up time

    box = [value]
    distributed.broadcast_object_list(box, src=0, group=_here.patient)
    return box[0]


def gather(value: Value) -> list[Value]:
    """Collect every rank's `value`, in the order of the ranks."""
    if _here.ranks == 1:
        return [value]
    from torch import distributed  # start-up time

    values: list[Any] = [None] * _here.ranks
    distributed.all_gather_object(values, value, group=_here.patient)
    return values


def sum_over_ranks(tensor: Tensor) -> Tensor:
    """Add up a tensor of every rank; each gets the sum, on the CPU.

    A single rank gets its tensor back as it is.
    """
    if _here.ranks == 1:
        return tensor
    from torch import distributed  # start-up time

    total = tensor.detach().cpu().clone()
    distributed.all_reduce(total, group=_here.patient)
    return total


@contextmanager
def first_alone() -> Iterator[None]:
    """Run the block in rank 0 first; the others then find what it has stored."""
    if not is_first():
        from_first(None)  # waits until rank 0 has run its block
    yield
    if is_first():
        from_first(None)  # lets the others begin


def threads(processes: int = 1) -> int:
    """Divide the cores (or `OMP_NUM_THREADS`) by a number of processes; at least 1 thread each."""
    return max(1, int(os.environ.get("OMP_NUM_THREADS") or count_cores()) // processes)


def count_cores() -> int:
    """Count the processor cores that this process may use, by affinity and quota."""
    from joblib import cpu_count  # start-up time

    return int(cpu_count())
