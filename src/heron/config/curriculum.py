"""Keys of the curriculum; `heron.config.special` checks them."""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Annotated, Any

from annotated_types import Ge

from heron.base.registry import on_demand
from heron.config.constraints import Count, OneOf, Share
from heron.config.registries import DIFFICULTIES

GROUPS = ("easy", "ambiguous", "hard")
# Most runs have no curriculum to check.
_plan_problems = on_demand("heron.config.special:plan_problems")


@dataclass
class CurriculumConfig:
    """In which order and in which share of the steps a run sees its examples.

    A run has the same optimizer steps with and without a curriculum (but see `budget`).
    """

    name: str = "none"  # name in tables; `none` draws from all examples all the time
    # what makes an example hard: `length` (tokens), `sts` (premise and hypothesis differ in
    # meaning), `external` (a column of `scores`), `random`, or a statistic of an earlier run's
    # dynamics (`heron.dynamics.difficulty.SCORES`)
    difficulty: Annotated[str, OneOf(registry="heron.config.registries:DIFFICULTIES")] = (
        "eq1_swapped"
    )
    reverse: bool = False  # hardest first
    # order of `unlock` and of pacings that grow: by `difficulty`, or by `groups`: easy, ambiguous,
    # hard, each example once (within a group the most confident, most variable, least confident
    # first), as in the file that RoNLI's code reads for Cart-CL. Examples in no group are never
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
    pacing: Annotated[
        str, OneOf("stages", "self_paced", registry="heron.config.registries:PACINGS")
    ] = "stages"
    # mappings with `share` (of all steps), and either `unlock` (the easiest share of the examples)
    # or `groups` (`easy`, `ambiguous`, `hard`). With `budget: own`, `steps` instead of `share`.
    stages: list[dict[str, Any]] = field(default_factory=list)
    start: Share = 0.2  # share that is unlocked at first, for pacings that grow
    until: Share = 0.5  # share of all steps at which everything is unlocked, for pacings that grow
    power: Annotated[float, Ge(1)] = 2.0  # of `root`: 2 is the square root
    updates: Count = 20  # number of times the unlocked share grows until then
    by_class: bool = False  # unlock the same share of every class
    # `plain`, or `stratified` (each batch has the classes in their shares)
    sampling: Annotated[str, OneOf("plain", "stratified")] = "plain"
    # `equal` (the steps of the run without curriculum) or `own` (the sum of `steps`)
    budget: Annotated[str, OneOf("equal", "own")] = "equal"
    # begin every stage with a new optimizer state, as the RoNLI repository does
    restart: bool = False
    # run folder whose dynamics say what is hard; null: the same run without curriculum, which is
    # found or trained first
    dynamics: str | None = None
    # dotted keys that differ in this first run, such as `{batching.oversample: none}`
    changes: dict[str, Any] = field(default_factory=dict)
    scores: str | None = None  # table (.csv, .jsonl, .parquet) with a `guid` column, for `external`
    column: str | None = None  # the column of `scores`; higher is harder
    # the encoder of `sts`: as it is loaded (`pretrained`) or as the first run has fine-tuned it
    # (`trained`, as in the paper)
    embeddings: Annotated[str, OneOf("pretrained", "trained")] = "pretrained"

    def problems(self) -> Iterator[str]:
        """See `heron.config.special.plan_problems`."""
        if self.name == "none":
            # An experiment may say `changes` for the curricula that a sweep sets beside it.
            if replace(self, changes={}) != CurriculumConfig():
                yield (
                    "curriculum.* is set, but curriculum=none draws from everything: choose one of "
                    "conf/curriculum to change it"
                )
        else:
            yield from _plan_problems(self)


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
