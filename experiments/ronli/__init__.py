"""RoNLI: baselines without a trained encoder, claims and statistics, and the corpus builder."""

from pathlib import Path
from typing import Any

from heron.base.files import read_yaml
from heron.base.registry import on_demand
from heron.results import CLAIMS, STATISTICS
from heron.commands import COMMANDS, DATA, Command
from heron.data import REMOVERS
from heron.tasks import BASELINES, FORK_ANALYSES, Baseline

from .rules import (
    CbowConfig,
    ZeroShotConfig,
    other_vectors,
    vector_files,
    zero_shot_files,
    zero_shot_problems,
)

_HERE = Path(__file__).parent

for name in ("cbow_svm", "cbow_softmax"):
    BASELINES.register(
        name,
        Baseline(
            fit=on_demand("heron_forks.ronli.shallow:fit_cbow"),
            load=on_demand("heron_forks.ronli.shallow:load_cbow"),
            options=CbowConfig,
            tasks=("nli", "classification"),
            sources=vector_files,
            caveat=other_vectors,
        ),
    )

BASELINES.register(
    "zero_shot",
    Baseline(
        fit=on_demand("heron_forks.ronli.zero_shot:load_zero_shot"),
        load=on_demand("heron_forks.ronli.zero_shot:load_zero_shot"),
        options=ZeroShotConfig,
        tasks=("nli",),
        reads_train=False,
        problems=zero_shot_problems,
        sources=zero_shot_files,
    ),
)

for _mode in ("start", "anywhere"):
    REMOVERS.register(_mode, on_demand("heron_forks.ronli.phrases:remover"))
for _data in ("ronli", "ronli_dev"):  # ronli_dev is ronli's validation file
    STATISTICS.register(_data, on_demand("heron_forks.ronli.tables:splits"))


@FORK_ANALYSES.registered("published_groups")
def published_groups(data: str) -> Any:
    """Read Table 3: its title, and the sizes of the data map's groups; None for other data."""
    if data != "ronli":
        return None
    table = read_yaml(_HERE / "published.yaml")["tables"]["table3"]
    sizes = {}
    for group, counts in table["groups"].items():
        sizes[group] = dict(zip(table["classes"], counts, strict=True))
    return table["title"], sizes


CLAIMS.register("ronli", on_demand("heron_forks.ronli.claims:claims"))
COMMANDS.register(
    "build ronli",
    Command("heron_forks.ronli.corpus.command", _HERE / "corpus/build.txt", True, DATA),
)
