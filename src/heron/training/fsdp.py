"""FSDP: a model whose parameters are shared out among processes."""

from typing import Any

from pytorch_lightning.plugins.precision.fsdp import FSDPPrecision
from pytorch_lightning.strategies import FSDPStrategy
from torch.distributed.fsdp.wrap import ModuleWrapPolicy
from transformers.modeling_layers import GradientCheckpointingLayer


def strategy() -> FSDPStrategy:
    """Make Lightning's strategy with `fsdp_settings`."""
    return FSDPStrategy(**fsdp_settings())


def fsdp_settings() -> dict[str, Any]:
    """Shard each transformer layer, and the rest together; checkpoints are whole."""
    return {
        # The class of every layer in transformers.
        "auto_wrap_policy": ModuleWrapPolicy({GradientCheckpointingLayer}),
        "state_dict_type": "full",
    }


class ShardedPrecision(FSDPPrecision):
    """Precision of a sharded model; a `Batch` has integers and is frozen, so nothing is cast."""

    def convert_input(self, data: Any) -> Any:
        """Leave a batch as it is."""
        return data
