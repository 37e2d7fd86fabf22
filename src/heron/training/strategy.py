"""How a model and its gradients are spread over devices."""

from __future__ import annotations

from typing import Any

import torch
from pytorch_lightning.plugins.precision.fsdp import FSDPPrecision
from pytorch_lightning.strategies import DDPStrategy, FSDPStrategy, Strategy
from torch.distributed.fsdp.wrap import ModuleWrapPolicy
from transformers.modeling_layers import GradientCheckpointingLayer

from heron.base import ranks
from heron.base.errors import ConfigError
from heron.config.schema import Config


def build_strategy(config: Config, sharded: bool = True) -> Strategy | str:
    """Choose Lightning's strategy for this process; one process needs none.

    Args:
        config: `trainer.strategy` says which.
        sharded: false gives every device the whole model, whatever the configuration says.

    Raises:
        ConfigError: `trainer.strategy=fsdp` without GPUs.
    """
    if ranks.ranks() == 1:
        return "auto"
    if config.trainer.strategy != "fsdp" or not sharded:
        # Nothing changes a model's buffers; to send them before every forward pass would only
        # cost time.
        unused = config.trainer.strategy == "ddp_find_unused_parameters_true"
        return DDPStrategy(forward_sync_buffers=False, find_unused_parameters=unused)
    if not torch.cuda.is_available() or config.trainer.accelerator == "cpu":
        raise ConfigError("trainer.strategy=fsdp needs GPUs; on CPUs set trainer.strategy=ddp")
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
