"""`heron map`: what it writes, prints and refuses."""

import csv
import re

import numpy as np
import pyarrow.parquet as pq
import pytest

from heron.base.errors import ConfigError
from heron.base.tables import read_table
from heron.commands.map import run as run_map
from heron.dynamics.cartography import statistics
from heron.dynamics.files import export_jsonl, read_dynamics
from made_up_runs import CLASSES, make_records, make_run, read_payload, unpack


def page_data(folder, *words, name="map"):
    """Map a run; returns the data of its page."""
    assert run_map([f"run={folder}", *words]) == 0
    return read_payload((folder / name / "map.html").read_text(encoding="utf-8"))


def _column(payload, name):
    return next(column for column in payload["columns"] if column["name"] == name)


def _names(column):
    return [column["names"][code] if code >= 0 else "" for code in unpack(column["codes"])]


def test_every_file_is_written_and_named(tmp_path, capsys):
    folder = make_run(tmp_path)
    assert run_map([f"run={folder}"]) == 0
    written = {path.name for path in (folder / "map").iterdir()}
    assert written == {"map.png", "map.pdf", "map.html", "map.csv", "map.parquet"}
    output = capsys.readouterr().out
    for name in written:
        assert str(folder / "map" / name) in output
    for word in ("examples", "records", "never right", "group easy", "Classes by group"):
        assert word in output


@pytest.mark.real  # takes seconds; another test of the file runs with every change
@pytest.mark.usefixtures("drawn_figures")
def test_the_same_run_gives_the_same_bytes(tmp_path):
    folder = make_run(tmp_path)
    for out in ("a", "b"):
        run_map([f"run={folder}", f"out={tmp_path / out}"])
    for path in (tmp_path / "a").iterdir():
        assert path.read_bytes() == (tmp_path / "b" / path.name).read_bytes(), path.name


def test_the_table_holds_the_statistics_of_the_dynamics(tmp_path):
    folder = make_run(tmp_path)
    run_map([f"run={folder}"])
    measured = statistics(read_dynamics(folder))
    table = pq.read_table(folder / "map" / "map.parquet").to_pydict()
    assert table["guid"] == measured.guids
    assert table["label"] == [CLASSES[row % 3] for row in range(60)]
    for name, expected in {
        "confidence": measured.confidence_N,
        "variability": measured.variability_N,
        "correctness": measured.correctness_N,
        "forgetting": measured.forgetting_N,
        "aum": measured.aum_N,
        "loss": measured.loss_N,
    }.items():
        np.testing.assert_array_equal(table[name], expected)
    swapped = np.where(
        measured.confidence_N >= 0.5,
        1 - measured.confidence_N + measured.variability_N,
        2 - measured.confidence_N - measured.variability_N,
    )
    np.testing.assert_allclose(table["eq1_swapped"], swapped)
    easiest = np.argsort(-measured.confidence_N)[:20]
    assert {row for row, name in enumerate(table["groups"]) if "easy" in name} == set(easiest)
    with open(folder / "map" / "map.csv", encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert list(rows[0]) == list(table)
    assert [float(row["loss"]) for row in rows] == table["loss"]


def _forgetfulness(trend):
    """As the published tool counts it, a loop over one example's records."""
    if not any(trend):
        return 1000
    learnt, forgotten = False, 0
    for right in trend:
        forgotten += learnt and not right
        learnt = right
    return forgotten


@pytest.mark.parametrize("burn_out", [4, 3])
def test_the_table_has_the_published_tool_s_columns_beside_heron_s(tmp_path, burn_out):
    folder = make_run(tmp_path)
    dynamics = read_dynamics(folder)
    run_map([f"run={folder}", f"burn_out={burn_out}"])
    rows = read_table(folder / "map" / "map.csv").rows
    trends = dynamics.correct_EN[:burn_out].T > 0.5
    assert [float(row["correctness_count"]) for row in rows] == trends.sum(1).tolist()
    assert [float(row["forgetfulness"]) for row in rows] == [*map(_forgetfulness, trends.tolist())]
    confidence = dynamics.p_gold_EN[:burn_out].mean(0, dtype=np.float64)
    closeness = [float(row["threshold_closeness"]) for row in rows]
    np.testing.assert_allclose(closeness, confidence * (1 - confidence))
    assert "1000.0" in {row["forgetfulness"] for row in rows}


def test_the_page_holds_each_rows_texts_and_predicted_label(tmp_path):
    folder = make_run(tmp_path, rows=24)
    payload = page_data(folder)
    rows = read_table(tmp_path / "data" / "train.jsonl").rows
    strings = payload["texts"]["strings"]
    first, second = (unpack(payload["texts"][name]) for name in ("first", "second"))
    assert [strings[place] for place in first] == [row["premise"] for row in rows]
    assert [strings[place] for place in second] == [row["hypothesis"] for row in rows]
    assert len(set(strings)) == len(strings)
    assert (payload["texts"]["direction"], payload["texts"]["language"]) == ("rtl", "he")
    # The file's name is the same for all: nothing to colour by.
    assert "file" not in [column["name"] for column in payload["columns"]]
    assert _names(_column(payload, "label")) == [row["label"] for row in rows]
    assert _names(_column(payload, "genre")) == [row["genre"] for row in rows]
    last = read_dynamics(folder).p_gold_EN[-1]
    right = np.array(_names(payload["runs"][0]["predicted"])) == [row["label"] for row in rows]
    assert right[last > 1 / 3].all()
    assert not right[last < 1 / 3].any()


@pytest.mark.usefixtures("drawn_figures")
def test_a_map_without_its_data_says_so_and_is_drawn(tmp_path, capsys):
    folder = make_run(tmp_path)
    (tmp_path / "data" / "train.jsonl").unlink()
    assert page_data(folder)["texts"] is None
    assert re.search(r"note: no texts: .*train.jsonl: missing", capsys.readouterr().out)


def test_a_map_of_generated_data_has_a_banner_and_one_of_real_data_has_none(tmp_path):
    folder = make_run(tmp_path)
    config = folder / "config.yaml"
    for synthetic in (False, True):
        setting = f"synthetic: {str(synthetic).lower()}"
        config.write_text(re.sub("synthetic: .*", setting, config.read_text("utf-8")))
        run_map([f"run={folder}", "texts=false"])
        page = (folder / "map" / "map.html").read_text(encoding="utf-8")
        assert ('class="banner"' in page, "not a research result" in page) == (synthetic,) * 2


def test_texts_can_be_kept_out_of_the_page(tmp_path):
    folder = make_run(tmp_path, texts=["סודי ביותר"])
    run_map([f"run={folder}", "texts=false"])
    assert "סודי" not in (folder / "map" / "map.html").read_text(encoding="utf-8")


def test_two_runs_are_aligned_by_guid(tmp_path, capsys):
    folder, other = make_run(tmp_path), tmp_path / "other"
    guids = [f"p{row}" for row in reversed(range(10, 62))]
    make_records(other, guids, records=3, seed=7)
    payload = page_data(folder, f"with={other}", name="map-with-other")
    assert [run["records"] for run in payload["runs"]] == [4, 3]
    theirs = dict(zip(guids, statistics(read_dynamics(other)).confidence_N, strict=True))
    expected = [theirs.get(guid, np.nan) for guid in payload["guids"]]
    shown = unpack(payload["runs"][1]["values"]["confidence"])
    np.testing.assert_array_equal(shown, np.array(expected, np.float32))
    assert "50 examples are in both runs; 10 are only in A" in capsys.readouterr().out


def test_columns_of_a_table_are_joined_by_guid_and_unknown_rows_counted(tmp_path, capsys):
    folder = make_run(tmp_path, rows=12)
    table = tmp_path / "known.csv"
    table.write_text("guid,flipped,length,label\np3,1,2.5,x\np1,0,7,y\nzz,1,1,z\n", "utf-8")
    payload = page_data(folder, f"columns={table}", "colour=flipped")
    assert "1 of 3 guids have no dynamics" in capsys.readouterr().out
    assert _names(_column(payload, "flipped"))[:4] == ["", "0", "", "1"]
    assert _names(_column(payload, "label (known)"))[:4] == ["", "y", "", "x"]


def test_include_ci_widens_variability_and_needs_two_records(tmp_path):
    folder = make_run(tmp_path)
    payload = page_data(folder, "include_ci=true")
    p_gold_EN = read_dynamics(folder).p_gold_EN.astype(np.float64)
    variance_N = p_gold_EN.var(axis=0)
    shown = unpack(payload["runs"][0]["values"]["variability"])
    np.testing.assert_allclose(shown, np.sqrt(variance_N + variance_N**2 / 3), rtol=1e-5)
    with pytest.raises(ConfigError, match="needs two records"):
        run_map([f"run={folder}", "include_ci=true", "burn_out=1"])


def test_burn_out_keeps_the_first_records_and_their_predictions(tmp_path):
    folder = make_run(tmp_path)
    payload = page_data(folder, "burn_out=2")
    p_gold_EN = read_dynamics(folder).p_gold_EN
    shown = unpack(payload["runs"][0]["values"]["confidence"])
    np.testing.assert_allclose(shown, p_gold_EN[:2].mean(axis=0), rtol=1e-6)
    assert payload["runs"][0]["records"] == 2
    right = np.array(_names(payload["runs"][0]["predicted"])) == _names(_column(payload, "label"))
    np.testing.assert_array_equal(right, p_gold_EN[1] > 1 / 3)


def test_a_task_without_classes_has_a_map_without_labels(tmp_path, capsys):
    make_records(tmp_path / "run", ["a", "b", "c"], labels=())
    payload = page_data(tmp_path / "run")
    assert [column["name"] for column in payload["columns"]] == ["group"]
    assert "aum" not in payload["runs"][0]["values"]
    assert payload["runs"][0]["predicted"] is None
    assert "Classes by group" not in capsys.readouterr().out
    with pytest.raises(ConfigError, match="colour=label"):
        run_map([f"run={tmp_path / 'run'}", "colour=label"])


def test_thirds_of_difficulty_are_disjoint_groups(tmp_path):
    folder = make_run(tmp_path)
    run_map([f"run={folder}", "group=tercile_partition"])
    table = pq.read_table(folder / "map" / "map.parquet").to_pydict()
    order = np.argsort(table["eq1_swapped"])
    assert [table["groups"][row] for row in order] == ["easy"] * 20 + ["ambiguous"] * 20 + [
        "hard"
    ] * 20


def _classes_printed(output):
    """Give the printed rows of the table of classes as lists of words, by group."""
    lines = [line.split() for line in output.partition("Classes by group")[2].splitlines()]
    return {line[0]: line[1:] for line in lines if line and line[0] in ("easy", "hard")}


def test_counts_of_classes_stand_beside_those_that_the_datas_paper_prints(tmp_path, capsys):
    folder = make_run(tmp_path)
    run_map([f"run={folder}"])
    plain = capsys.readouterr().out
    counts = _classes_printed(plain)["easy"]
    assert "paper" not in plain
    config = folder / "config.yaml"
    config.write_text(config.read_text().replace("name: pairs", "name: ronli"))
    run_map([f"run={folder}"])
    beside = capsys.readouterr().out
    # contradiction is no class of the paper's.
    printed = _classes_printed(beside)["easy"]
    assert printed == [counts[0], "–", counts[1], "0", counts[2], "17,082", counts[3], "19,289"]
    assert "paper: Table 3: classes of the groups of train" in beside
    run_map([f"run={folder}", "group=tercile_partition"])
    assert "paper" not in capsys.readouterr().out


def test_dynamics_of_other_cartography_tools_are_mapped_without_texts(tmp_path):
    folder = make_run(tmp_path)
    export_jsonl(folder, tmp_path / "other")
    ours = unpack(page_data(folder)["runs"][0]["values"]["confidence"])
    theirs = unpack(page_data(tmp_path / "other")["runs"][0]["values"]["confidence"])
    np.testing.assert_allclose(theirs, ours, atol=1e-5)
