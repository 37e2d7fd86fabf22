"""Files are whole or absent, locks hold between processes, equal content has equal hashes."""

import hashlib
import multiprocessing
import os
import socket
import stat
import time
from contextlib import suppress

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from heron.base.errors import ConfigError
from heron.base.files import (
    atomic_folder,
    atomic_open,
    fingerprint,
    is_locked,
    locked,
    parse_yaml,
    read_json,
    read_yaml,
    remove_half_written,
    sha256_file,
    write_json,
)

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=8,
)


def test_a_file_appears_whole_with_its_folders(tmp_path):
    path = tmp_path / "a" / "b.txt"
    with atomic_open(path) as file:
        file.write("שלום\r\nSalut\n")
        assert not path.exists()
    assert path.read_bytes() == "שלום\r\nSalut\n".encode()
    assert stat.S_IMODE(path.stat().st_mode) == 0o644


def test_after_an_error_the_old_content_is_still_there_and_nothing_else(tmp_path):
    path = tmp_path / "a.txt"
    path.write_text("old")

    def fail_halfway():
        with atomic_open(path) as file:
            file.write("half of the n")
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fail_halfway()
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


@settings(max_examples=15)  # each one waits for the disk
@given(value=JSON)
def test_json_round_trip(tmp_path_factory, value):
    path = tmp_path_factory.mktemp("json") / "value.json"
    write_json(path, value)
    assert read_json(path) == value


def test_json_is_readable_and_keeps_the_order_of_keys(tmp_path):
    write_json(tmp_path / "a.json", {"z": "ș", "a": "ש"})
    assert (tmp_path / "a.json").read_text("utf-8") == '{\n  "z": "ș",\n  "a": "ש"\n}\n'


def test_sha256_is_of_the_bytes(tmp_path):
    (tmp_path / "a").write_bytes(b"abc")
    assert sha256_file(tmp_path / "a") == hashlib.sha256(b"abc").hexdigest()


@given(st.dictionaries(st.text(), JSON))
def test_a_fingerprint_ignores_the_order_of_keys(value):
    assert fingerprint(value) == fingerprint(dict(reversed(value.items())))


@given(st.lists(st.text()), st.lists(st.text()))
def test_different_values_have_different_fingerprints(one, other):
    assert (fingerprint(*one) == fingerprint(*other)) == (one == other)


def test_an_iterator_is_hashed_as_its_list():
    rows = [("a", None, ["ă"]), ("b", "c", [])]
    for some in (rows, rows[:1], []):
        assert fingerprint(1, (row for row in some), "x") == fingerprint(1, some, "x")


def _add_one_slowly(folder):
    with locked(folder / "lock"):
        value = int((folder / "counter").read_text())
        time.sleep(0.02)  # without the lock, the other processes would read the same value
        (folder / "counter").write_text(str(value + 1))


def test_a_lock_lets_one_process_in_at_a_time(tmp_path):
    (tmp_path / "counter").write_text("0")
    context = multiprocessing.get_context("fork")
    processes = [context.Process(target=_add_one_slowly, args=(tmp_path,)) for _ in range(4)]
    for process in processes:
        process.start()
    for process in processes:
        process.join(30)
    assert (tmp_path / "counter").read_text() == "4"


def test_a_process_forked_under_a_lock_has_no_part_in_it(tmp_path):
    """A killed run can go on at once, though its loader's workers may outlive it by seconds."""
    context = multiprocessing.get_context("fork")
    begun, over = context.Event(), context.Event()
    with locked(tmp_path / "lock"):
        child = context.Process(target=lambda: (begun.set(), over.wait(60)))
        child.start()
        assert begun.wait(30)
    try:
        with locked(tmp_path / "lock", wait=False):
            assert child.is_alive()
    finally:
        over.set()
        child.join()


def test_a_forked_process_leaves_its_parent_s_lock_alone(tmp_path):
    context = multiprocessing.get_context("fork")
    with locked(tmp_path / "lock"):
        child = context.Process(target=lambda: None)
        child.start()
        child.join()
        with pytest.raises(BlockingIOError), locked(tmp_path / "lock", wait=False):
            pass


def test_a_lock_neither_empties_a_file_nor_follows_a_link(tmp_path):
    (tmp_path / "mine").write_text("precious")
    (tmp_path / "link").symlink_to(tmp_path / "mine")
    with pytest.raises(OSError, match="link"), locked(tmp_path / "link"):
        pass
    with locked(tmp_path / "mine"):
        assert is_locked(tmp_path / "mine")
    assert not is_locked(tmp_path / "mine")
    assert (tmp_path / "mine").read_text() == "precious"


def test_looking_at_a_lock_writes_nothing(tmp_path):
    assert not is_locked(tmp_path / "absent")
    assert list(tmp_path.iterdir()) == []


def test_what_killed_processes_were_writing_is_removed_and_nothing_else(tmp_path):
    gone = os.fork()
    if not gone:
        os._exit(0)
    os.waitpid(gone, 0)
    here, name = socket.gethostname(), "last.ckpt"
    half = [tmp_path / place / f".{name}.{here}-{gone}.abc12_xy" for place in ("", "inside")]
    kept = [
        tmp_path / f".{name}.{here}-{os.getpid()}.abc12_xy",  # is being written
        tmp_path / f".{name}.another.machine-{gone}.abc12_xy",
        tmp_path / ".lock",
        tmp_path / ".gitignore",
    ]
    half[1].parent.mkdir()
    for path in (*half, *kept):
        path.write_text("half")
    with atomic_open(tmp_path / name):
        assert not half[0].exists(), "by whoever writes the file again"
    remove_half_written(tmp_path.rglob(".*"))
    assert not half[1].exists()
    assert all(path.is_file() for path in kept)
    folder = tmp_path / f".out.{here}-{gone}.abc12_xy"
    own = tmp_path / ".out.backup"
    for path in (folder, own):
        path.mkdir()
        (path / "weights").write_text("half")
    with atomic_folder(tmp_path / "out") as temporary:
        assert not folder.exists(), "by whoever makes the folder again"
        with atomic_folder(tmp_path / "out"):
            assert temporary.is_dir(), "another is at work"
        (temporary / "weights").write_text("whole")
    assert (tmp_path / "out" / "weights").read_text() == "whole"
    assert (own / "weights").is_file()


@pytest.mark.parametrize(
    "text",
    [
        "a: 1\nb:\n- x\n- {y: 2}\n# end\nc: |\n  a: 2\n\n  b\n",
        "a: 1\na: 2\n",
        "a: 1\n---\nb: 2\n",
        "a: 1\n...\nb: 2\n",
        'a: "x\nb: y"\nc: 3\n',
        '"a": 1\nb: 2\n"c": 3\n',
        "a: &x 1\nb: *x\n",
        "a: x\nb\n",
        "- a: 1\n",
        "{a: 1,\nb: 2}\n",
        "%YAML 1.1\n---\na: 1\n",
        "",
        "word\n",
    ],
)
def test_a_file_parsed_in_parts_is_what_it_is_as_a_whole(tmp_path, text):
    def found(parse, given):
        with suppress(ConfigError):
            return parse(given)

    (tmp_path / "a.yaml").write_text(text)
    assert found(read_yaml, tmp_path / "a.yaml") == found(parse_yaml, text)
