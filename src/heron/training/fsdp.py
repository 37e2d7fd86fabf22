"""FSDP: a model whose parameters are shared out among processes."""

from typing import Any

from pytorch_lightning.plugins.precision.fsdp import FSDPPrecision
from torch.distributed.fsdp.wrap import ModuleWrapPolicy
from transformers.modeling_layers import GradientCheckpointingLayer

# Of Lightning's strategy: each layer (of a class that all of transformers have) is sharded, and the
# rest together; checkpoints are whole.
SETTINGS: dict[str, Any] = {
    "auto_wrap_policy": ModuleWrapPolicy({GradientCheckpointingLayer}),
    "state_dict_type": "full",
}


class ShardedPrecision(FSDPPrecision):
    """Precision of a sharded model; a `Batch` has integers and is frozen, so nothing is cast."""

    def convert_input(self, data: Any) -> Any:
        """Leave a batch as it is."""
        return data
