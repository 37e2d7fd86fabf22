"""Natural language inference: does the premise entail, contradict or leave open the hypothesis?"""

from __future__ import annotations

from heron.base.registry import on_demand
from heron.tasks.classes import CLASS_FORMATS, ClassTask

TASK = ClassTask(
    forms=("pair", "separate", "premise", "hypothesis"),
    formats=CLASS_FORMATS,
    head="mlp3",
    headline=on_demand("heron.metrics.classification:nli_headline"),
    features=on_demand("heron.tasks.text_features:text_features"),
)
