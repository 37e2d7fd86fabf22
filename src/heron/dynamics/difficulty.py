"""How hard every unit of a train split is, by the score that a curriculum names.

Shape suffixes: R rows, U units, N examples of some dynamics, P pooled.
"""

import dataclasses
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from operator import attrgetter
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np

from heron.base.errors import ConfigError, DataError, Problem, raise_all
from heron.base.tables import read_table
from heron.data.features import Features, Units
from heron.dynamics import DIFFICULTIES
from heron.dynamics.cartography import (
    GROUPS,
    Statistics,
    allenai,
    rank,
    scatter,
    select,
    tercile_partition,
)
from heron.dynamics.config import CurriculumConfig, uses_groups
from heron.dynamics.curriculum import Ranking, mean_of_units
from heron.metrics import require_rows


class Statistic(NamedTuple):
    """A statistic of examples; its values are the same wherever its name is shown."""

    formula: str  # c is confidence, v variability
    unit: str
    hardest: Literal["highest", "lowest"]  # which values hard examples have
    values: Callable[[Statistics], np.ndarray]  # float64 [N]; NaN where no record visited


def eq1(confidence_N: np.ndarray, variability_N: np.ndarray, swapped: bool) -> np.ndarray:
    """Return RoNLI's equation 1, as printed or with its branches swapped (see `COLUMNS`)."""
    first_N = 1 - confidence_N + variability_N
    second_N = 2 - confidence_N - variability_N
    return np.where((confidence_N < 0.5) != swapped, first_N, second_N)


def repo(of: Statistics) -> np.ndarray:
    """Return the score of RoNLI's released code."""
    variability_N = of.variability_N
    spread_N = np.where(variability_N < 0.5, 1 - variability_N, variability_N)
    return 1 - of.correctness_count_N + spread_N


# Every statistic that is printed, written, drawn or logged, and the scores of RoNLI. Its equation 1
# as printed ranks neither easy nor hard examples as its text says: (c, v) = (.97, .03) and
# (.03, .03) both have 1.00; with the branches exchanged, as the text describes it, .06 and 1.94.
# Source: see `heron.dynamics.cartography`; RoNLI, equation 1 and its released code.
COLUMNS = {
    "eq1_swapped": Statistic(
        formula="2 - c - v where c < 0.5, else 1 - c + v",
        unit="0 to 2",
        hardest="highest",
        values=lambda of: eq1(of.confidence_N, of.variability_N, swapped=True),
    ),
    "eq1_printed": Statistic(
        formula="1 - c + v where c < 0.5, else 2 - c - v",
        unit="0 to 2",
        hardest="highest",
        values=lambda of: eq1(of.confidence_N, of.variability_N, swapped=False),
    ),
    "repo": Statistic(
        formula="(1 - number of right records) + (1 - v where v < 0.5, else v)",
        unit="",
        hardest="highest",
        values=repo,
    ),
    "confidence": Statistic(
        formula="mean probability of the gold label",
        unit="0 to 1",
        hardest="lowest",
        values=attrgetter("confidence_N"),
    ),
    "loss": Statistic(
        formula="mean -log probability of the gold label",
        unit="nats",
        hardest="highest",
        values=attrgetter("loss_N"),
    ),
    "variability": Statistic(
        formula="standard deviation of the gold label's probability",
        unit="0 to 0.5",
        hardest="highest",
        values=attrgetter("variability_N"),
    ),
    "correctness": Statistic(
        formula="share of the records with a right prediction",
        unit="0 to 1",
        hardest="lowest",
        values=attrgetter("correctness_N"),
    ),
    "aum": Statistic(
        formula="area under the margin: mean of the gold logit minus the largest other one",
        unit="logits",
        hardest="lowest",
        values=attrgetter("aum_N"),
    ),
    "forgetting": Statistic(
        formula="number of changes from right to wrong; "
        "of examples never right, the number of records",
        unit="records",
        hardest="highest",
        values=attrgetter("forgetting_N"),
    ),
}
SCORES = tuple(COLUMNS)


def difficulty(name: str, statistics: Statistics) -> np.ndarray:
    """Grade examples by one of `COLUMNS`; the higher, the harder.

    Returns:
        float64_N; NaN for examples that no record visited.

    Raises:
        ConfigError: `aum` of dynamics without margins.
    """
    column = COLUMNS[name]
    values_N = column.values(statistics)
    if name == "aum" and len(values_N) and np.isnan(values_N).all():
        raise ConfigError("score 'aum' needs margins, which these dynamics lack: choose 'loss'")
    return values_N if column.hardest == "highest" else -values_N


@dataclass(frozen=True, slots=True)
class Material:
    """What a difficulty is computed from."""

    config: CurriculumConfig  # `difficulty` and its settings
    # features, units: the train split.
    features: Features
    units: Units
    seed: int  # of the run
    # Of an earlier run, one entry per unit; given if `needs_dynamics`.
    statistics_U: Statistics | None = None
    similarity_R: np.ndarray | None = None  # cosine of premise and hypothesis, for `sts`

    @property
    def tokens_U(self) -> np.ndarray:
        """Tokens of each unit, padding excluded, int64."""
        return np.diff(self.features.offsets_S[self.units.sequences_V])


def length(material: Material) -> np.ndarray:
    """Count the tokens of each unit."""
    return material.tokens_U.astype(np.float64)


def random(material: Material) -> np.ndarray:
    """Draw a number for each unit."""
    return np.random.default_rng([material.seed, 2]).random(len(material.units))


def sts(material: Material) -> np.ndarray:
    """Measure how unlike premise and hypothesis are."""
    assert material.similarity_R is not None
    return 1 - mean_of_units(material.similarity_R, material.units)


def external(material: Material) -> np.ndarray:
    """Read a table's column."""
    config = material.config
    assert config.scores is not None
    assert config.column is not None
    score_R = read_scores(Path(config.scores), config.column, material.features.guids)
    return mean_of_units(score_R, material.units)


def learnt(material: Material) -> np.ndarray:
    """Take the statistic of an earlier run that has the difficulty's name."""
    assert material.statistics_U is not None
    return difficulty(material.config.difficulty, material.statistics_U)


def rank_units(
    config: CurriculumConfig,
    features: Features,
    units: Units,
    seed: int,
    statistics: Statistics | None = None,
    similarity_R: np.ndarray | None = None,
) -> Ranking:
    """Order the units of a train split from easy to hard, and group them; see `Material`.

    Equally hard ones are in the order of `scatter`. `statistics` are by guid. A unit of many rows
    is as hard as they are on average.

    Raises:
        DataError: the difficulty has not given one number for each unit, or rows of the train split
            are not in the dynamics or the table of scores.
    """
    guids_U = units.guids(features)
    of_units = None
    if statistics is not None:
        of_units = unit_statistics(statistics, features, units)

    material = Material(config, features, units, seed, of_units, similarity_R)
    score_U = np.asarray(DIFFICULTIES[config.difficulty].score(material), dtype=np.float64)
    require_rows(f"curriculum.difficulty={config.difficulty}", units, score_U)

    order_U = rank(-score_U if config.reverse else score_U, scatter(guids_U))
    if not uses_groups(config):
        return Ranking(order_U, {})

    if config.grouping == "tercile_partition":
        groups = tercile_partition(score_U, guids_U)
        if config.order == "groups":  # an example without a difficulty is in no group
            order_U = order_U[~np.isnan(score_U[order_U])]
        return Ranking(order_U, groups)

    assert of_units is not None
    groups = allenai(of_units, config.fraction, config.exact)
    if config.order == "groups":
        selected = select(of_units, config.fraction, config.exact)
        members = np.concatenate([selected[group] for group in GROUPS])
        _, first = np.unique(members, return_index=True)  # a unit may be in several groups
        order_U = members[np.sort(first)]

    return Ranking(order_U, groups)


def unit_statistics(statistics: Statistics, features: Features, units: Units) -> Statistics:
    """Bring a run's statistics into the order of a train split's units.

    A unit's entry is the mean over its rows, under the guid of its first one.

    Raises:
        DataError: rows that the statistics do not have.
    """
    index_of = {guid: index for index, guid in enumerate(statistics.guids)}
    absent = [guid for guid in features.guids if guid not in index_of]
    if absent:
        what = f"{len(absent)} of {len(features)} train examples are not in the dynamics"
        fix = "the dynamics must come from a run on the same train split, recorded to its end"
        raise DataError(absent[0], what, fix)

    rows_R = np.array([index_of[guid] for guid in features.guids], np.int64)
    first_U = rows_R[units.rows_V[:-1]]

    arrays: dict[str, Any] = {}
    for name, values_N in vars(statistics).items():
        if name in ("gold_N", "visits_N"):
            arrays[name] = values_N[first_U]
        elif name.endswith("_N"):
            values_R = values_N[rows_R].astype(np.float64)
            arrays[name] = mean_of_units(values_R, units)

    return dataclasses.replace(statistics, guids=units.guids(features), **arrays)


def read_scores(path: Path, column: str, guids: Sequence[str]) -> np.ndarray:
    """Read a difficulty score for every row from a table; returns float64 in the order of `guids`.

    Raises:
        DataError: no such file or column, a guid twice, or train examples without a number.
    """
    table = read_table(path, own=True)
    table.require("guid", column)
    problems = table.duplicates("guid")

    scores: dict[str, float] = {}
    for guid, score in zip(table.texts("guid"), table.values(column), strict=True):
        with suppress(TypeError, ValueError):
            scores[guid] = float(score)

    absent = [guid for guid in guids if np.isnan(scores.get(guid, np.nan))]
    if absent:
        what = f"no number for {len(absent)} of {len(guids)} train examples, first {absent[0]}"
        problems.append(Problem(str(path), what, "each train example needs a score"))
    raise_all(problems)

    return np.asarray([scores[guid] for guid in guids])


def cosine(pairs_RP: np.ndarray) -> np.ndarray:
    """Compute the cosine of the two halves of each row, float64 [R]; 0 for a zero vector."""
    u_RD, v_RD = np.split(pairs_RP.astype(np.float64), 2, axis=1)
    products_R = (u_RD * v_RD).sum(axis=1)
    norms_R = np.linalg.norm(u_RD, axis=1) * np.linalg.norm(v_RD, axis=1)

    zeros_R = np.zeros_like(norms_R)
    return np.divide(products_R, norms_R, out=zeros_R, where=norms_R > 0)
