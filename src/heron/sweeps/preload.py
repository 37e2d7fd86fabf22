"""Imports of the server of `heron.sweeps.isolation`, before it forks jobs.

They include modules that libraries import on first use, each of which takes as long as a small job.
Nothing here may touch a device or start threads: neither survives a fork.
"""

import gc

import hydra.experimental.callback  # noqa: F401
import pandas  # noqa: F401  (pyarrow asks for it when a table is made)
import pyarrow.fs
import pyarrow.pandas_compat
import pyarrow.parquet  # noqa: F401
import torch.profiler  # noqa: F401
import transformers.models.auto.modeling_auto
import transformers.models.auto.tokenization_auto
import transformers.models.bert.modeling_bert  # noqa: F401
from transformers.conversion_mapping import get_checkpoint_conversion_mapping

import chronicle.corpus  # noqa: F401
import heron.data.findings
import heron.metrics.torch_metrics
import heron.models.feature_cache
import heron.tasks.class_module
import heron.tasks.class_readers
import heron.training.compose
import heron.training.job  # noqa: F401

get_checkpoint_conversion_mapping("bert")  # builds a table that every export uses

# Exempt all this from garbage collection, which in every job would copy the shared memory.
gc.collect()
gc.freeze()
