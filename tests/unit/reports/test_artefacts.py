import shutil

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from heron.base.errors import DataError
from heron.commands.sweep import read_progress
from heron.reports import artefacts
from heron.reports.artefacts import (
    read_artefacts,
    read_curves,
    read_data_map,
    reliability_of,
)
from heron.results.collect import collect
from heron.results.frame import read_frame


def test_everything_a_run_left_is_read_and_nothing_is_missing(make_run):
    (run,) = collect(make_run(rows=40, epochs=3))
    found = read_artefacts(run)
    assert found.missing == ()
    assert (found.split, len(found.predictions)) == ("test", 40)
    assert found.classes == ("BEFORE", "AFTER", "EQUAL", "VAGUE")
    counts_CC, columns = found.confusion
    assert columns == found.classes
    assert counts_CC.sum() == 40
    assert np.trace(counts_CC) == sum(found.right)


def test_what_is_missing_is_named(make_run):
    (run,) = collect(make_run(state="running"))
    missing = " / ".join(read_artefacts(run).missing)
    for part in ("predictions/test.parquet", "metrics.csv", "dynamics", "scores.json"):
        assert part in missing


def test_a_damaged_file_is_named_and_stops_no_report(make_run):
    folder = make_run()
    (folder / "metrics.csv").write_bytes(b"\xff\xfe\x00bad")
    (run,) = collect(folder)
    (missing,) = read_artefacts(run).missing
    assert "metrics.csv cannot be read: " in missing
    (job,) = read_progress(folder.parent)
    assert job.epochs == 0


def test_a_baseline_misses_neither_curves_nor_dynamics(make_run):
    folder = make_run(config={"baseline": {"name": "cbow_svm"}})
    (folder / "metrics.csv").unlink()
    shutil.rmtree(folder / "dynamics")
    assert read_artefacts(collect(folder)[0]).missing == ()


def test_without_test_predictions_the_validation_split_is_shown_and_said(make_run):
    folder = make_run()
    (folder / "predictions/test.parquet").rename(folder / "predictions/validation.parquet")
    artefacts = read_artefacts(collect(folder)[0])
    assert artefacts.split == "validation"
    assert "the validation split is shown" in artefacts.missing[0]


@pytest.mark.parametrize("content", ['{"test": {', "[1]", ""])
def test_damaged_scores_are_not_taken_for_a_run_without_scores(content, make_run):
    folder = make_run()
    (folder / "scores.json").write_text(content)
    (record,) = collect(folder)
    assert record.state == "broken"
    (said,) = read_artefacts(record).missing
    assert f"{folder / 'scores.json'} is damaged" in said


def _write_probabilities(folder, probabilities, gold):
    columns = {"guid": list("abc"), "gold": gold, "prediction": ["X"] * 3}
    for name, values in zip("XY", np.transpose(probabilities), strict=True):
        columns[f"p/{name}"] = values.tolist()
    pq.write_table(pa.table(columns), folder / "test.parquet")
    return folder / "test.parquet"


def test_reliability_counts_the_labelled_rows_by_confidence(tmp_path):
    path = _write_probabilities(tmp_path, [(0.9, 0.1), (0.6, 0.4), (0.5, 0.5)], ["X", "Y", None])
    bins = reliability_of(read_frame(path), ["Y", "X"])
    assert bins.count.sum() == 2
    assert bins.accuracy[bins.count > 0].tolist() == [0.0, 1.0]


def test_predictions_without_probabilities_have_no_reliability(tmp_path):
    columns = {"guid": ["a"], "gold": ["X"], "prediction": ["Y"]}
    pq.write_table(pa.table(columns), tmp_path / "test.parquet")
    assert reliability_of(read_frame(tmp_path / "test.parquet"), ["X", "Y"]) is None


def test_probabilities_that_are_none_are_named_and_the_report_goes_on(make_run, tmp_path):
    path = _write_probabilities(tmp_path, [(0.9, 0.9), (0.6, 0.4), (2.0, 0.5)], ["X", "Y", "X"])
    with pytest.raises(DataError, match="2 problems in the data:\nrow 1"):
        reliability_of(read_frame(path), ["X", "Y"])
    folder = make_run()
    table = pq.read_table(folder / "predictions/test.parquet")
    column = pa.array([7.0] * len(table))
    index = table.column_names.index("p/EQUAL")
    pq.write_table(table.set_column(index, "p/EQUAL", column), folder / "predictions/test.parquet")
    artefacts = read_artefacts(collect(folder)[0])
    assert artefacts.reliability is None
    assert artefacts.missing[0].startswith("test.parquet: 40 problems in the data: row 1")
    assert len(artefacts.missing[0]) < 300


def test_the_second_text_of_a_pair_is_read(make_run):
    (run,) = collect(make_run(rows=2, pairs=["a", "b"]))
    assert read_artefacts(run).predictions.texts("text_pair") == ["a", "b"]


def test_curves_have_an_epochs_last_value_and_empty_cells_are_skipped(tmp_path):
    lines = [
        "epoch,step,train/loss,validation/loss",
        "0,1,1.0,",
        "0,2,2.0,",
        "0,3,,0.7",
        "1,4,nan,",
    ]
    (tmp_path / "metrics.csv").write_text("\n".join(lines))
    curves = read_curves(tmp_path / "metrics.csv")
    assert curves["train/loss"].values == (2.0,)
    assert (curves["validation/loss"].epochs, curves["validation/loss"].values) == ((0,), (0.7,))


def test_data_map_is_mean_population_sd_and_fraction_correct(write_record, tmp_path):
    for epoch, p in enumerate((0.1, 0.5, 0.9, 0.3)):
        write_record(tmp_path, epoch, ["b", "a"], [p, 1.0])
    data_map = read_data_map(tmp_path)
    assert data_map["guid"] == ["b", "a"]
    assert data_map["visits"] == [4, 4]
    np.testing.assert_allclose(data_map["confidence"], [0.45, 1.0], atol=1e-7)
    # Golden: Dataset Cartography's own formula gives .2958 here; with n - 1 it would be .3416.
    np.testing.assert_allclose(data_map["variability"], [0.2958, 0.0], atol=5e-5)
    np.testing.assert_allclose(data_map["correctness"], [0.5, 1.0])


def test_an_example_that_an_epoch_did_not_visit_is_averaged_over_the_others(write_record, tmp_path):
    write_record(tmp_path, 0, ["a", "b"], [0.2, 0.6])
    write_record(tmp_path, 1, ["a"], [0.4])
    np.testing.assert_allclose(read_data_map(tmp_path)["confidence"], [0.3, 0.6], atol=1e-7)


def test_the_confusion_matrix_of_many_classes_is_not_drawn(make_run, monkeypatch):
    (run,) = collect(make_run())
    monkeypatch.setattr(artefacts, "_MOST_CLASSES", 3)
    found = read_artefacts(run)
    assert (found.classes, found.reliability) == ((), None)
    assert "4 classes" in " ".join(found.missing)
