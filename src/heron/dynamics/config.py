"""Keys of training dynamics and of the curriculum, and what a curriculum chooses by name."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Annotated, Any

from annotated_types import Ge

from heron.config.constraints import AsWritten, ConstrainedConfig, Count, OneOf, Positive, Share
from heron.dynamics import DIFFICULTIES, PACINGS

GROUPS = ("easy", "ambiguous", "hard")


@dataclass
class DynamicsConfig(ConstrainedConfig):
    """Per-example training dynamics."""

    enabled: bool = True  # write `dynamics/epoch=<n>.parquet`
    # `train` records the training passes, as published; `evaluation` makes another forward pass
    # over the train split, without dropout
    mode: Annotated[str, OneOf("train", "evaluation")] = "train"
    # epochs between records: 1, or a fraction of one (0.25: four records an epoch)
    every: float = 1.0

    def problems(self) -> Iterator[str]:
        """Check that an epoch is a whole number of records."""
        if not 0 < self.every <= 1 or abs(1 / self.every - round(1 / self.every)) > 1e-6:
            yield f"dynamics.every={self.every}: must be 1, 0.5, 0.25 or another 1/n"


@dataclass
class CurriculumStage:
    """One of `curriculum.stages`, before its steps are known (`curriculum.Stage`)."""

    name: str = ""
    share: Positive | None = None
    steps: Count | None = None
    unlock: Share = 1.0
    groups: list[Annotated[str, OneOf(*GROUPS)]] = field(default_factory=list)


@dataclass
class CurriculumConfig(ConstrainedConfig):
    """In which order and in which share of the steps a run sees its examples.

    A run has the same optimizer steps with and without a curriculum (but see `budget`).
    """

    name: str = "none"  # name in tables; `none` always draws from all examples
    # what makes an example hard: `length` (tokens), `sts` (premise and hypothesis differ in
    # meaning), `external` (a column of `scores`), `random`, or a statistic of an earlier run's
    # dynamics (`heron.dynamics.difficulty.SCORES`)
    difficulty: Annotated[str, OneOf(registry=DIFFICULTIES)] = "eq1_swapped"
    reverse: bool = False  # hardest first
    # order of `unlock` and of pacings that grow: by `difficulty`, or by `groups`: easy, ambiguous,
    # hard, each example once (`allenai`: the most confident, most variable, least confident first),
    # as in the file that RoNLI's code reads for Cart-CL. Examples in no group are never
    # unlocked then, and shares are of the others.
    order: Annotated[str, OneOf("difficulty", "groups")] = "difficulty"
    # how groups are made: `allenai` (the examples with the highest confidence, the highest
    # variability, the lowest confidence; they overlap) or `tercile_partition` (disjoint thirds by
    # difficulty)
    grouping: Annotated[str, OneOf("allenai", "tercile_partition")] = "allenai"
    # size of each group under `allenai`; the shipped curricula have the published tool's third,
    # .3319
    fraction: Share = 0.33
    # with the published tool's off-by-one, int(fraction x N) + 1 examples, as `heron map` and the
    # shipped curricula; false: the nearest whole number
    exact: bool = False
    # `stages` (as listed), `linear`, `root`, `competence` (the unlocked share grows with the
    # steps), or `self_paced` (a growing share, of the examples with the lowest loss)
    pacing: Annotated[str, OneOf("stages", "self_paced", registry=PACINGS)] = "stages"
    # mappings with `share` (of all steps), and either `unlock` (the easiest share of the examples)
    # or `groups` (`easy`, `ambiguous`, `hard`). With `budget: own`, `steps` instead of `share`.
    stages: list[Annotated[dict[str, Any], AsWritten(CurriculumStage)]] = field(
        default_factory=list
    )
    start: Share = 0.2  # share that is unlocked at first, for pacings that grow
    until: Share = 0.5  # share of all steps at which everything is unlocked, for pacings that grow
    power: Annotated[float, Ge(1)] = 2.0  # of `root`: 2 is the square root
    by_class: bool = False  # unlock the same share of every class
    # `plain`, or `stratified` (each batch has the classes in their shares)
    sampling: Annotated[str, OneOf("plain", "stratified")] = "plain"
    # `equal` (the steps of the run without curriculum) or `own` (the sum of `steps`)
    budget: Annotated[str, OneOf("equal", "own")] = "equal"
    # begin every stage with a new optimizer state, as the RoNLI repository does
    restart: bool = False
    # run folder whose dynamics say what is hard, or a table of their statistics (guid, confidence,
    # variability, correctness); null: the same run without curriculum, found or trained first
    dynamics: str | None = None
    # dotted keys that differ in that earlier run, such as `{batching.oversample: none}`
    changes: dict[str, Any] = field(default_factory=dict)
    scores: str | None = None  # table (.csv, .jsonl, .parquet) with a `guid` column, for `external`
    column: str | None = None  # the column of `scores`; higher is harder
    # the encoder of `sts`: as it is loaded (`pretrained`) or as that earlier run has fine-tuned it
    # (`trained`, as in the paper)
    embeddings: Annotated[str, OneOf("pretrained", "trained")] = "pretrained"

    def __post_init__(self) -> None:
        if self.name == "none":
            # An experiment may say `changes` for the curricula that a sweep sets beside it.
            self.changes = {}

    def problems(self) -> Iterator[str]:
        """List which settings of a curriculum cannot work together."""
        if self.name == "none":
            if self != CurriculumConfig():
                yield "curriculum.* is set, but curriculum=none: choose one of conf/curriculum"
            return
        if self.pacing == "stages":
            yield from self._stage_problems()
        elif self.budget == "own" or self.stages:
            yield (
                "curriculum.stages and curriculum.budget=own need curriculum.pacing=stages, not "
                f"{self.pacing}"
            )
        if self.difficulty == "external" and not (self.scores and self.column):
            yield "curriculum.difficulty=external needs curriculum.scores and curriculum.column"
        if uses_groups(self) and self.reverse:
            yield "curriculum.reverse=true cannot reverse curriculum.order=groups or stages' groups"

    def _stage_problems(self) -> Iterator[str]:
        size = "steps" if self.budget == "own" else "share"
        if not self.stages or any(stage.get(size) is None for stage in self.stages):
            yield (
                f"curriculum.stages: under curriculum.budget={self.budget} there is at least one "
                f"stage, and each has `{size}`"
            )
        elif size == "share" and abs((total := sum(s["share"] for s in self.stages)) - 1) > 1e-6:
            yield f"curriculum.stages: the shares add up to {total:g}, not to 1"
        if any("groups" in stage and "unlock" in stage for stage in self.stages):
            yield "curriculum.stages: a stage has either unlock or groups, not both"


def uses_groups(config: CurriculumConfig) -> bool:
    """Tell whether a curriculum uses groups, in a stage or in its order."""
    return config.order == "groups" or any(stage.get("groups") for stage in config.stages)


def needs_dynamics(config: CurriculumConfig) -> bool:
    """Tell whether a curriculum needs the dynamics of an earlier run."""
    if uses_groups(config) and config.grouping == "allenai":
        return True
    return DIFFICULTIES[config.difficulty].needs_dynamics


def compares_trained(config: CurriculumConfig) -> bool:
    """Tell whether texts are compared by an encoder that an earlier run has fine-tuned."""
    return config.difficulty == "sts" and config.embeddings == "trained"
