"""What the server of `heron.sweeps.isolation` imports before it forks jobs: all that they need.

Beside the job's own imports, those that libraries put off until they are used: each takes as long
as a small job. Nothing here may touch a device or start threads: neither survives a fork.
"""

import gc

import pandas  # noqa: F401  (pyarrow asks for it when a table is made)
import pyarrow.fs
import pyarrow.pandas_compat
import pyarrow.parquet  # noqa: F401
import torch.profiler  # noqa: F401
import transformers.models.auto.modeling_auto
import transformers.models.auto.tokenization_auto
import transformers.models.bert.modeling_bert  # noqa: F401
from transformers.conversion_mapping import get_checkpoint_conversion_mapping

import chronicle  # noqa: F401
import heron.training.job  # noqa: F401

get_checkpoint_conversion_mapping("bert")  # makes a table of all architectures, for every export

# All this stays: a collection in every job would walk through it, and copy the memory it is in.
gc.collect()
gc.freeze()
