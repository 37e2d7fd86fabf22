"""Statistics of a split: by hand on two pairs, and RoNLI's Table 2 on its own file."""

import os
from pathlib import Path

import pytest

from heron.base.files import read_json
from heron.base.folders import conf_dir
from heron.data.examples import Example
from heron.data.overrides import configure
from heron.languages.romanian import ROMANIAN
from heron.results.shipped import read_shipped
from heron_tools.morphology.backends import load_morphology
from heron_tools.statistics.labels import OVERALL, split_statistics
from small_runs import heron

SURFACE = load_morphology("surface", ROMANIAN)


def test_means_are_over_the_rows_of_a_class():
    pairs = [
        Example("1", "a b c", "a b", label="yes"),
        Example("2", "a b c d e", "x", label="yes"),
        Example("3", "a a", "a a", label="no"),
    ]
    found = split_statistics(pairs, ["no", "yes", "maybe"], str.split, SURFACE)
    yes = found["yes"]
    assert (yes["rows"], yes["first"], yes["second"]) == (2, 4, 1.5)
    assert yes["share"] == pytest.approx(2 / 3)
    assert yes["overlap"] == pytest.approx((2 / 3 + 0) / 2)
    assert found["no"]["ttr"] == 0.25
    assert (found["maybe"]["rows"], found["maybe"]["first"]) == (0, None)
    assert (found[OVERALL]["rows"], found[OVERALL]["share"]) == (3, 1)


def test_rows_without_a_label_are_a_line_of_their_own():
    found = split_statistics([Example("1", "a")], ["yes"], str.split, SURFACE)
    assert found["(no label)"]["rows"] == 1
    assert list(found) == ["yes", "(no label)", OVERALL]


# Mean words of premise and hypothesis, and overlap ratio.
# Source: RoNLI, Table 2, the validation columns.
TABLE_2 = {
    "contrastive": (25.7, 27.1, 0.07),
    "entailment": (25.6, 20.9, 0.08),
    "reasoning": (25.3, 23.8, 0.05),
    "neutral": (23.5, 23.9, 0.03),
    OVERALL: (24.4, 23.9, 0.04),
}
COUNTS = {"contrastive": 74, "entailment": 72, "reasoning": 1135, "neutral": 1778}


@pytest.fixture
def validation(tmp_path):
    """RoNLI's validation pairs, with automatic or with manual labels."""
    root = os.environ.get("HERON_DATA")
    if not root or not (Path(root) / "ronli/processed_items.json").is_file():
        pytest.skip("RoNLI's files are not here: HERON_DATA")

    def read(column):
        words = [
            "data.files.validation.path=ronli/processed_items.json",
            "data.files.validation.sha256=null",
            f"data.columns.label={column}",
            "data.verify=false",
        ]
        config = configure("ronli", words)
        return config, read_shipped(config, Path(root), tmp_path).splits["validation"]

    return read


@pytest.mark.real
def test_table_2_counts_manual_labels_but_averages_over_automatic_ones(validation):
    """The printed lengths are those of the automatic labels' groups, as the next test shows."""
    config, manual = validation("corrected_label")
    found = split_statistics(manual, config.label_order, str.split, SURFACE)
    assert {name: found[name]["rows"] for name in COUNTS} == COUNTS
    assert found["contrastive"]["first"] == pytest.approx(26.85, abs=0.005)  # printed: 25.7


@pytest.mark.real
@pytest.mark.usefixtures("validation")
def test_the_documented_command_gives_table_2s_averages_of_validation(tmp_path):
    """Words are what stands between spaces, capitals count.

    Every printed mean agrees to its last digit but two of all classes together (23.969 words,
    overlap .045) and one overlap of .035.
    """
    command = "heron analyze data=ronli_auto words=whitespace"
    assert f"`{command}`" in (conf_dir().parent / "experiments/ronli/README.md").read_text()
    words = [f"paths.data={os.environ['HERON_DATA']}", f"paths.cache={tmp_path}", f"out={tmp_path}"]
    assert heron(*command.split()[1:], *words) == 0
    found = read_json(tmp_path / "statistics.json")["splits"]["train"]
    for name, (premise, hypothesis, overlap) in TABLE_2.items():
        assert found[name]["first"] == pytest.approx(premise, abs=0.0501)
        assert found[name]["second"] == pytest.approx(hypothesis, abs=0.0701)
        assert found[name]["overlap"] == pytest.approx(overlap, abs=0.0055)
