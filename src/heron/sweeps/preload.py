"""Imports of the server of `heron.sweeps.isolation`, and data that it reads, before it forks jobs.

They include modules that libraries import on first use, each of which takes as long as a small job.
Nothing here may touch a device or start threads: neither survives a fork.
"""

import gc
import os
from contextlib import suppress
from pathlib import Path

import hydra.experimental.callback  # noqa: F401
import pandas  # noqa: F401  (pyarrow asks for it when a table is made)
import pyarrow.fs
import pyarrow.pandas_compat
import pyarrow.parquet  # noqa: F401
import torch.profiler
import torch.utils.serialization.config  # noqa: F401
import transformers.models.auto.modeling_auto
import transformers.models.auto.tokenization_auto
import transformers.models.bert.modeling_bert  # noqa: F401
from hydra.core.utils import env_override
from transformers.conversion_mapping import get_checkpoint_conversion_mapping

import chronicle.corpus  # noqa: F401
import heron.data.findings
import heron.metrics.intervals
import heron.metrics.torch_metrics
import heron.models.feature_cache
import heron.tasks.class_module
import heron.tasks.class_readers
import heron.training.compose
import heron.training.job  # noqa: F401
from heron.base.libraries import git_state
from heron.base.terminal import OutputFormat, output
from heron.data.datamodule import prepare_once
from heron.sweeps import READ
from heron.training.stored import read_own

get_checkpoint_conversion_mapping("bert")  # builds a table that every export uses
git_state()  # of the code that all jobs have

path = os.environ.pop(READ, "")
if path:
    output(OutputFormat(quiet=True))  # the command reads it, too, and says what there is to say
    with env_override({"TOKENIZERS_PARALLELISM": "false"}), suppress(Exception):
        prepare_once(read_own(Path(path)))  # a job says what is wrong
    output(OutputFormat())

# Exempt all this from garbage collection, which in every job would copy the shared memory.
gc.collect()
gc.freeze()
