"""Every score orders the units of a train split as it says, whatever order the file has."""

import numpy as np
import pytest

from heron.base.errors import DataError
from heron.base.files import read_yaml
from heron.base.folders import conf_dir
from heron.base.tables import write_table
from heron.data.features import Features
from heron.dynamics.cartography import allenai, scatter, statistics, tercile_partition
from heron.dynamics.config import CurriculumConfig
from heron.dynamics.difficulty import cosine, difficulty, rank_units, read_scores, unit_statistics
from heron.models import LEARNT
from made_up_dynamics import make_dynamics

GUIDS = ["e", "b", "d", "a", "c", "f"]
LENGTHS = [9, 4, 7, 4, 12, 1]
GROUPS = [{"share": 1.0, "groups": ["easy", "hard"]}]


def features_of(lengths=LENGTHS, guids=GUIDS, sequences_R=None):
    """Make a split of sequences of these lengths, a row each unless told otherwise."""
    rows = len(guids)
    sequences_R = np.arange(rows) if sequences_R is None else np.asarray(sequences_R)
    return Features(
        tokens_T=np.zeros(sum(lengths), np.int32),
        offsets_S=np.concatenate([[0], np.cumsum(lengths)]),
        second_S=np.full(len(lengths), -1, np.int32),
        sequences_R=sequences_R.astype(np.int32),
        labels_R=np.zeros(rows, np.int32),
        truncated_R=np.zeros(rows, bool),
        guids=list(guids),
        refused=[],
    )


def learnt(guids=GUIDS, records=4, seed=0, margins=True):
    """Make statistics of random dynamics."""
    random = np.random.default_rng(seed)
    p_gold_EN = random.random((records, len(guids))).astype(np.float32)
    margin_EN = random.normal(size=p_gold_EN.shape) if margins else np.full(p_gold_EN.shape, np.nan)
    return statistics(make_dynamics(p_gold_EN, margin_EN=margin_EN, guids=guids))


def order(features, known=None, similarity_R=None, seed=0, **changes):
    """Rank, and name the units from easy to hard."""
    config = CurriculumConfig(**{"name": "mine", "pacing": "linear", **changes})
    units = features.units()
    ranking = rank_units(config, features, units, seed, known, similarity_R)
    assert sorted(ranking.order_U) == list(range(len(units)))
    return [features.guids[units.rows_V[unit]] for unit in ranking.order_U]


def test_length_is_the_number_of_tokens_and_reverse_is_hardest_first():
    tied = "".join(sorted("ab", key=scatter))
    assert order(features_of(), difficulty="length") == list(f"f{tied}dec")
    assert order(features_of(), difficulty="length", reverse=True) == list(f"ced{tied}f")


def test_equally_hard_examples_of_a_file_sorted_by_class_begin_with_every_class():
    guids = [f"{place:03}" for place in range(300)]  # a third of each class
    ranked = order(features_of([5] * 300, guids), difficulty="length")
    for part in (ranked[:60], ranked[-60:]):
        classes = np.bincount([int(guid) // 100 for guid in part], minlength=3)
        assert classes.min() > 10
    config = CurriculumConfig(
        name="mine", stages=GROUPS, grouping="tercile_partition", difficulty="length"
    )
    features = features_of([5] * 300, guids)
    for mask in rank_units(config, features, features.units(), 0).groups.values():
        assert np.bincount(np.flatnonzero(mask) // 100, minlength=3).min() > 15


def test_the_order_does_not_depend_on_the_order_of_the_file():
    shuffled = [3, 0, 5, 1, 4, 2]
    other = features_of([LENGTHS[i] for i in shuffled], [GUIDS[i] for i in shuffled])
    assert order(other, difficulty="length") == order(features_of(), difficulty="length")
    known = learnt()
    assert order(other, known, difficulty="loss") == order(features_of(), known, difficulty="loss")


def test_a_unit_of_many_sequences_is_as_long_as_they_are_together():
    # Premise and hypothesis read apart: 5 + 5, then 1 + 8, then 7 + 1 tokens.
    apart = features_of([5, 5, 1, 8, 7, 1], ["x", "y", "z"], [0, 2, 4])
    assert order(apart, difficulty="length") == ["z", "y", "x"]


def test_random_is_the_seed_s():
    features = features_of([5] * 40, [f"g{i:02}" for i in range(40)])
    first = order(features, difficulty="random", seed=1)
    assert order(features, difficulty="random", seed=1) == first
    assert order(features, difficulty="random", seed=2) != first
    assert first != sorted(first)


# By hand: (1, 0) and (1, 1) are 45 degrees apart, (3, 4) and (4, 3) have 24/25.
VECTORS = np.array(
    [
        [1, 0, 1, 1],
        [3, 4, 4, 3],
        [2, 0, 5, 0],
        [1, 0, 0, 1],
        [1, 2, -2, -4],
        [0, 0, 1, 1],
    ],
    dtype=np.float32,
)
COSINES = [np.sqrt(0.5), 0.96, 1.0, 0.0, -1.0, 0.0]


def test_cosine_compares_the_two_halves_and_is_0_for_a_zero_vector():
    assert cosine(VECTORS) == pytest.approx(COSINES, abs=1e-12)


def test_similar_pairs_come_first():
    found = order(features_of(), similarity_R=cosine(VECTORS), difficulty="sts")
    # 1, .96, .71, then the two zeros, then -1.
    tied = "".join(sorted("af", key=scatter))
    assert found == list(f"dbe{tied}c")


@pytest.mark.parametrize("name", LEARNT)
def test_every_statistic_orders_by_what_the_dynamics_say(name):
    known = learnt()
    score_N = difficulty(name, known)
    names = scatter(known.guids)
    expected = [guid for *_, guid in sorted(zip(score_N, names, known.guids, strict=True))]
    shuffled = [4, 2, 0, 1, 5, 3]  # the file's order is not that of the dynamics
    features = features_of([LENGTHS[i] for i in shuffled], [GUIDS[i] for i in shuffled])
    assert order(features, known, difficulty=name) == expected
    reverse = [guid for *_, guid in sorted(zip(-score_N, names, known.guids, strict=True))]
    assert order(features, known, difficulty=name, reverse=True) == reverse


def test_a_unit_of_many_rows_is_as_hard_as_they_are_on_average():
    # Windows: texts of 3, 1 and 2 pairs.
    windows = features_of([8, 8, 8], GUIDS, [0, 0, 0, 1, 2, 2])
    known = learnt()
    of_units = unit_statistics(known, windows, windows.units())
    assert of_units.guids == ["e", "a", "c"]
    for field in ("confidence_N", "variability_N", "loss_N", "aum_N", "correctness_N"):
        values = getattr(known, field)
        expected = [values[:3].mean(), values[3], values[4:].mean()]
        assert getattr(of_units, field) == pytest.approx(expected)
    losses = of_units.loss_N
    assert order(windows, known, difficulty="loss") == [
        of_units.guids[unit] for unit in np.argsort(losses)
    ]


def test_dynamics_of_another_data_set_are_refused_with_count_and_first_guid():
    known = learnt(["a", "b", "c", "d"])
    with pytest.raises(DataError, match="2 of 6 train examples are not in the dynamics") as refused:
        order(features_of(), known, difficulty="loss")
    assert refused.value.problems[0].where == "e"


def test_groups_are_made_of_the_dynamics_or_of_thirds_of_the_score():
    features, known = features_of(), learnt()
    config = CurriculumConfig(name="mine", stages=GROUPS, fraction=0.5, difficulty="length")
    units = features.units()
    found = rank_units(config, features, units, 0, known).groups
    expected = allenai(known, 0.5, exact=False)
    assert {name: mask.tolist() for name, mask in found.items()} == {
        name: mask.tolist() for name, mask in expected.items()
    }
    config.grouping = "tercile_partition"
    found = rank_units(config, features, units, 0).groups
    expected = tercile_partition(np.array(LENGTHS), GUIDS)
    assert {name: mask.tolist() for name, mask in found.items()} == {
        name: mask.tolist() for name, mask in expected.items()
    }
    (shorter,) = sorted("ab", key=scatter)[:1]
    assert {GUIDS[unit] for unit in np.flatnonzero(found["easy"])} == {shorter, "f"}


@pytest.mark.parametrize("exact", [False, True])
def test_an_order_by_groups_is_that_of_the_released_file_each_example_once(exact):
    """The released script writes a file, then what another has besides; so do these lines."""
    features, known = features_of(), learnt(seed=3)
    size = 2 if exact else 1  # int(0.2 * 6) + 1, round(0.2 * 6)
    confidence, variability = known.confidence_N, known.variability_N
    kinds = (-confidence, -variability, confidence)
    expected: list[str] = []
    for kind in kinds:
        selected = [GUIDS[place] for place in np.argsort(kind, kind="stable")[:size]]
        expected += [guid for guid in selected if guid not in expected]
    config = CurriculumConfig(
        name="mine", order="groups", fraction=0.2, exact=exact, stages=[{"share": 1.0}]
    )
    ranking = rank_units(config, features, features.units(), 0, known)
    assert [GUIDS[unit] for unit in ranking.order_U] == expected
    assert len(expected) < len(GUIDS), "who is in no group is never unlocked"


@pytest.mark.parametrize("name", ["e2l", "a", "h2l", "e2l_a", "cart_cl"])
def test_groups_of_a_shipped_curriculum_are_those_of_the_map(name):
    guids = [f"g{place}" for place in range(40)]
    features, known = features_of([5] * 40, guids), learnt(guids)
    values = read_yaml(conf_dir() / "curriculum" / f"{name}.yaml")
    found = rank_units(CurriculumConfig(**values), features, features.units(), 0, known).groups
    assert {mask.sum() for mask in found.values()} == {int(0.3319 * 40) + 1}
    for group, mask in allenai(known).items():  # as `heron map` calls it
        assert found[group].tolist() == mask.tolist()


def test_thirds_of_a_difficulty_stand_in_its_order():
    features = features_of()
    config = CurriculumConfig(
        name="mine", order="groups", grouping="tercile_partition", difficulty="length"
    )
    order_U = rank_units(config, features, features.units(), 0).order_U
    assert [GUIDS[unit] for unit in order_U] == order(features, difficulty="length")


class TestExternalScores:
    """A column of the user's own table."""

    def write(self, tmp_path, guids=GUIDS, scores=(3, 1, 2, 0.5, 9, 1), suffix="csv"):
        path = tmp_path / f"scores.{suffix}"
        write_table(path, {"guid": list(guids), "hard": list(scores)})
        return path

    @pytest.mark.parametrize("suffix", ["csv", "jsonl", "parquet"])
    def test_higher_is_harder_in_any_format(self, tmp_path, suffix):
        path = self.write(tmp_path, scores=(3.0, 1.0, 2.0, 0.5, 9.0, 1.0), suffix=suffix)
        words = {"difficulty": "external", "scores": str(path), "column": "hard"}
        tied = "".join(sorted("bf", key=scatter))
        assert order(features_of(), **words) == list(f"a{tied}dec")

    def test_train_examples_without_a_number_are_counted_and_the_first_named(self, tmp_path):
        for value in ("high", "", "nan", None):
            path = self.write(tmp_path, GUIDS[1:], (1, value, 0.5, 9, 1))
            with pytest.raises(DataError, match=f"2 of 6 train examples, first {GUIDS[0]}"):
                read_scores(path, "hard", GUIDS)
