"""Stored features are whole, checked, and built once, whatever happens to the builder."""

import multiprocessing
import os
import signal
import time
from dataclasses import asdict

import numpy as np
import pytest

from heron.base.errors import Problem
from heron.data.features import Column, Features, load_features

KEY = "a" * 64
FORK = multiprocessing.get_context("fork")


def made_up_features():
    return Features(
        tokens_T=np.arange(7, dtype=np.int32),
        offsets_S=np.array([0, 3, 7]),
        second_S=np.full(2, -1, np.int32),
        sequences_R=np.array([0, 1], np.int32),
        labels_R=np.array([3, -100], np.int32),
        truncated_R=np.zeros(2, bool),
        guids=["ב", "a"],
        refused=[Problem("c", "cut", "raise it")],
        columns={
            "spans": Column(np.arange(8, dtype=np.int32).reshape(2, 4), "row"),
            "tags": Column(np.arange(3, dtype=np.int32), "row", -100, np.array([0, 3, 3])),
        },
        counts={"cut": (1, "are cut")},
    )


ARRAYS = [
    each for each, value in asdict(made_up_features()).items() if isinstance(value, np.ndarray)
]
FILES = [*ARRAYS, "column spans", "column tags", "offsets tags"]


def must_not_build():
    raise AssertionError("built again")


def assert_is_made_up(features):
    expected = made_up_features()
    for name in ARRAYS:
        array = getattr(features, name)
        assert array.dtype == getattr(expected, name).dtype
        np.testing.assert_array_equal(array, getattr(expected, name))
    assert list(features.guids) == expected.guids
    assert features.refused == expected.refused
    assert features.counts == expected.counts
    for name, column in expected.columns.items():
        found = features.columns[name]
        assert (found.axis, found.fill) == (column.axis, column.fill)
        np.testing.assert_array_equal(found.array, column.array)
        assert (found.offsets is None) == (column.offsets is None)
    np.testing.assert_array_equal(
        features.columns["tags"].offsets, expected.columns["tags"].offsets
    )


def test_what_is_stored_is_what_was_built(tmp_path):
    assert_is_made_up(load_features(tmp_path, KEY, made_up_features))


def test_the_second_call_does_not_build(tmp_path):
    load_features(tmp_path, KEY, made_up_features)
    assert_is_made_up(load_features(tmp_path, KEY, must_not_build))


def test_another_key_is_another_entry(tmp_path):
    load_features(tmp_path, KEY, made_up_features)
    with pytest.raises(AssertionError, match="built again"):
        load_features(tmp_path, "b" * 64, must_not_build)


def test_arrays_are_memory_mapped_and_read_only(tmp_path):
    features = load_features(tmp_path, KEY, made_up_features)
    assert isinstance(features.tokens_T, np.memmap)
    with pytest.raises(ValueError, match="read-only"):
        features.tokens_T[0] = 1


def _flip_a_byte(path):
    content = bytearray(path.read_bytes())
    content[-3] ^= 1
    path.write_bytes(content)


@pytest.mark.parametrize(
    "damage",
    [_flip_a_byte, lambda path: path.unlink(), lambda path: path.write_bytes(b"")],
    ids=["one bit", "deleted", "empty"],
)
@pytest.mark.parametrize(
    "name", [*(f"{array}.npy" for array in FILES), "meta.json", "checksums.json"]
)
def test_a_damaged_entry_is_built_again(tmp_path, name, damage):
    load_features(tmp_path, KEY, made_up_features)
    (folder,) = (path for path in (tmp_path / "features").iterdir() if path.is_dir())
    damage(folder / name)
    assert_is_made_up(load_features(tmp_path, KEY, made_up_features))
    assert_is_made_up(load_features(tmp_path, KEY, must_not_build))


def _load_counting(cache, gate, count):
    def build():
        with open(count, "a") as file:
            file.write("built\n")
        time.sleep(0.1)  # long enough for the others to arrive
        return made_up_features()

    gate.wait()
    assert_is_made_up(load_features(cache, KEY, build))


def test_processes_that_need_the_same_features_at_once_build_them_once(tmp_path):
    gate, count = FORK.Barrier(3), tmp_path / "count"
    processes = [
        FORK.Process(target=_load_counting, args=(tmp_path, gate, count)) for _ in range(3)
    ]
    for process in processes:
        process.start()
    for process in processes:
        process.join(60)
    assert [process.exitcode for process in processes] == [0, 0, 0]
    assert count.read_text() == "built\n"


def _be_killed_while_storing(cache):
    save = np.save

    def save_one_and_die(path, array):
        save(path, array)
        os.kill(os.getpid(), signal.SIGKILL)

    np.save = save_one_and_die
    load_features(cache, KEY, made_up_features)


def test_a_killed_builder_leaves_nothing_that_counts_and_the_next_one_tidies_up(tmp_path):
    process = FORK.Process(target=_be_killed_while_storing, args=(tmp_path,))
    process.start()
    process.join(60)
    assert process.exitcode == -signal.SIGKILL
    entry = tmp_path / "features" / KEY[:32]
    assert not entry.exists()
    assert_is_made_up(load_features(tmp_path, KEY, made_up_features))
    assert [path for path in entry.parent.iterdir() if path.is_dir()] == [entry]


def test_a_builder_that_fails_leaves_nothing(tmp_path):
    def fail():
        raise RuntimeError

    with pytest.raises(RuntimeError):
        load_features(tmp_path, KEY, fail)
    assert not [path for path in (tmp_path / "features").iterdir() if path.is_dir()]
    assert_is_made_up(load_features(tmp_path, KEY, made_up_features))
