"""Counts what torch computes: each operation, views left out, starts a kernel on a GPU."""

from __future__ import annotations

from collections import Counter
from typing import Any

from torch.utils._python_dispatch import TorchDispatchMode

_WITHOUT_KERNEL = ("detach", "empty", "empty_like", "empty_strided", "new_empty", "_unsafe_view")


class Operations(TorchDispatchMode):
    """Counts by name the operations in a `with` block that would each start a kernel on a GPU."""

    def __init__(self) -> None:
        super().__init__()
        self.counts: Counter[str] = Counter()

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        name = func.overloadpacket.__name__
        if not func.is_view and name not in _WITHOUT_KERNEL:
            self.counts[name] += 1
        return func(*args, **(kwargs or {}))
