"""Files come from paths.data, the cache or the network, whole and verified, or with one error."""

import hashlib
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import SimpleNamespace

import pytest

from chronicle.options import CorpusOptions
from heron.base.errors import ConfigError, DataError
from heron.config.parsing import check
from heron.data.config import JOIN, PHRASES, DataConfig, FileConfig, JoinConfig
from heron.data.sources import State, download, inspect, locate, locate_phrases

CONTENT = b"a,b\n" + b"1,2\n" * 64_000  # longer than one block
SHA256 = hashlib.sha256(CONTENT).hexdigest()


@pytest.fixture(autouse=True)
def online(monkeypatch):
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", False)
    monkeypatch.setattr("time.sleep", lambda seconds: None)
    monkeypatch.setenv("no_proxy", "127.0.0.1")


@pytest.fixture
def server():
    """Serve CONTENT at every address but /gone; `cuts` answers break off after 1,000 bytes."""
    state = SimpleNamespace(cuts=0, ranges=True, requested=[])

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            if self.path == "/gone":
                return self.send_error(404)
            asked = self.headers.get("Range")
            state.requested.append(asked)
            start = int(asked.removeprefix("bytes=").rstrip("-")) if asked and state.ranges else 0
            if start >= len(CONTENT):
                return self.send_error(416)
            self.send_response(206 if start else 200)
            self.send_header("Content-Length", str(len(CONTENT) - start))
            self.end_headers()
            state.cuts -= 1
            self.wfile.write(CONTENT[start : start + 1000 if state.cuts >= 0 else None])

        def log_message(self, *_):
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as httpd:
        thread = threading.Thread(target=httpd.serve_forever, args=(0.01,))
        thread.start()
        state.url = f"http://127.0.0.1:{httpd.server_port}"
        yield state
        httpd.shutdown()
        thread.join()


def served(server, path="set/train.csv", sha256=SHA256, name="train.csv") -> FileConfig:
    return FileConfig(path, url=f"{server.url}/{name}", sha256=sha256, size=len(CONTENT))


def data_set(**files: FileConfig) -> DataConfig:
    return DataConfig(name="set", label_order=["A", "B"], files=files)


def test_paths_data_comes_before_the_cache(tmp_path):
    for folder in ("data", "cache/downloads"):
        (tmp_path / folder).mkdir(parents=True)
        (tmp_path / folder / "a.csv").write_text("x")
    config = data_set(train=FileConfig("a.csv"))
    found = locate(config, tmp_path / "data", tmp_path / "cache")
    assert found == {"train": tmp_path / "data/a.csv"}
    (tmp_path / "data/a.csv").unlink()
    found = locate(config, tmp_path / "data", tmp_path / "cache")
    assert found == {"train": tmp_path / "cache/downloads/a.csv"}


def test_missing_file_is_downloaded_once_into_the_cache(server, tmp_path):
    config = data_set(train=served(server))
    for _ in range(2):
        found = locate(config, tmp_path / "data", tmp_path / "cache")
        assert found["train"].read_bytes() == CONTENT
    assert server.requested == [None]
    assert not list(tmp_path.rglob("*.part"))
    assert inspect(config, tmp_path / "data", tmp_path / "cache")["train"].state is State.VERIFIED


@pytest.mark.parametrize(
    ("cuts", "ranges", "part", "requested"),
    [
        (2, True, b"", [None] * 3),  # less than a chunk arrived each time
        (0, True, CONTENT[:5000], ["bytes=5000-"]),  # of an earlier process
        (0, False, CONTENT[:5000], ["bytes=5000-"]),
    ],
)
def test_a_download_goes_on_where_it_broke(server, tmp_path, cuts, ranges, part, requested):
    server.cuts, server.ranges = cuts, ranges
    (tmp_path / "a.part").write_bytes(part)
    download(served(server, "a"), tmp_path)
    assert (tmp_path / "a").read_bytes() == CONTENT
    assert server.requested == requested


def test_a_part_file_that_is_too_long_is_fetched_anew_by_the_next_attempt(server, tmp_path):
    (tmp_path / "a.part").write_bytes(CONTENT + b"x")
    with pytest.raises(Exception, match="416"):
        download(served(server, "a"), tmp_path)
    download(served(server, "a"), tmp_path)
    assert (tmp_path / "a").read_bytes() == CONTENT


def test_download_with_the_wrong_hash_leaves_nothing_behind(server, tmp_path):
    with pytest.raises(ValueError, match=f"sha256 is {SHA256}.*expected {'0' * 64}"):
        download(served(server, "a", sha256="0" * 64), tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == [".a.lock"]


def test_a_download_is_verified_by_gits_name_of_its_bytes(server, tmp_path, capsys):
    blob = hashlib.sha1(b"blob %d\0" % len(CONTENT) + CONTENT).hexdigest()
    file = FileConfig("a.csv", url=f"{server.url}/train.csv", git_blob=blob)
    download(file, tmp_path)
    said = capsys.readouterr().err
    assert SHA256 in said
    assert "a.csv: 64,000 rows" in said
    (found,) = inspect(data_set(train=file), tmp_path, tmp_path).values()
    assert found.state is State.VERIFIED
    file.path, file.git_blob = "b.csv", "0" * 40
    with pytest.raises(ValueError, match=blob):
        download(file, tmp_path)


def test_further_files_of_a_release_are_named_and_read_only_in_place_of_another(tmp_path):
    config = data_set(train=FileConfig("a.csv"), train_easy=FileConfig("e.csv", git_blob="0" * 40))
    assert [*inspect(config, tmp_path, tmp_path)] == ["train"]
    assert [*inspect(config, tmp_path, tmp_path, further=True)] == ["train", "train_easy"]
    with pytest.raises(ConfigError, match="train, validation"):
        check(data_set(trian=FileConfig("a.csv")))


def test_offline_lists_every_missing_file_with_address_and_place(server, tmp_path, monkeypatch):
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    config = data_set(train=served(server), test=served(server, "set/test.csv", name="test.csv"))
    config.join, config.files["join"] = JoinConfig(), FileConfig("set/all.csv")
    with pytest.raises(DataError) as error:
        locate(config, tmp_path / "data", tmp_path / "cache")
    assert len(error.value.problems) == 3
    for name in ("train.csv", "test.csv"):
        assert f"{tmp_path}/data/set/{name}: missing" in str(error.value)
        assert f"fetch {server.url}/{name}" in str(error.value)
    assert f"{tmp_path}/data/set/all.csv: missing" in str(error.value)
    assert server.requested == []


def test_address_that_is_gone_says_so_and_the_others_are_still_fetched(server, tmp_path):
    config = data_set(train=served(server, "a.csv", name="gone"), test=served(server, "b.csv"))
    with pytest.raises(DataError, match="404") as error:
        locate(config, tmp_path / "data", tmp_path / "cache")
    assert len(error.value.problems) == 1
    assert (tmp_path / "cache/downloads/b.csv").is_file()


def test_present_file_with_the_wrong_hash_names_both_and_the_key_that_accepts_it(tmp_path):
    (tmp_path / "a.csv").write_text("changed")
    config = data_set(train=FileConfig("a.csv", sha256=SHA256, size=9))
    with pytest.raises(DataError) as error:
        locate(config, tmp_path, tmp_path / "cache")
    for part in (hashlib.sha256(b"changed").hexdigest(), SHA256, "data.verify=false", "a.csv"):
        assert part in str(error.value)
    config.verify = False
    assert locate(config, tmp_path, tmp_path / "cache") == {"train": tmp_path / "a.csv"}


def test_absolute_path_is_taken_as_it_is(tmp_path):
    path = tmp_path / "mine.csv"
    path.write_text("x")
    config = data_set(train=FileConfig(str(path)))
    assert locate(config, Path("elsewhere"), tmp_path / "cache") == {"train": path}


def test_joined_table_is_among_the_files(tmp_path):
    (tmp_path / "all.csv").write_text("x")
    config = data_set()
    config.join, config.files["join"] = JoinConfig(), FileConfig("all.csv")
    assert locate(config, tmp_path, tmp_path) == {JOIN: tmp_path / "all.csv"}


def test_list_of_phrases_is_among_the_files_where_some_are_removed(tmp_path):
    (tmp_path / "phrases.json").write_text("{}")
    config = data_set(train=FileConfig("a.csv"))
    config.task = "nli"
    (tmp_path / "a.csv").write_text("x")
    config.files["phrases"] = FileConfig("phrases.json")
    assert set(locate(config, tmp_path, tmp_path)) == {"train"}
    assert locate_phrases(config, tmp_path, tmp_path) is None
    config.phrases = "start"
    assert locate(config, tmp_path, tmp_path)[PHRASES] == tmp_path / "phrases.json"
    assert locate_phrases(config, tmp_path, tmp_path) == tmp_path / "phrases.json"


def test_built_in_corpus_is_generated_once_and_again_when_its_settings_change(tmp_path):
    config = DataConfig(name="toy", language="he", generator=CorpusOptions(size=100))
    first = locate(config, tmp_path / "data", tmp_path / "cache")
    written = {path: path.stat().st_mtime_ns for path in first.values()}
    assert locate(config, tmp_path / "data", tmp_path / "cache") == first
    assert {path: path.stat().st_mtime_ns for path in first.values()} == written
    config.generator = CorpusOptions(size=100, seed=1)
    assert not set(locate(config, tmp_path / "data", tmp_path / "cache").values()) & set(written)


def test_corpus_that_was_half_deleted_is_written_again(tmp_path):
    config = DataConfig(name="toy", language="he", generator=CorpusOptions(size=100))
    paths = locate(config, tmp_path / "data", tmp_path / "cache")
    before = paths["test"].read_bytes()
    paths["test"].unlink()
    assert locate(config, tmp_path / "data", tmp_path / "cache")["test"].read_bytes() == before


def test_corpus_that_was_cut_is_written_again(tmp_path):
    config = DataConfig(name="toy", language="he", generator=CorpusOptions(size=100))
    path = locate(config, tmp_path / "data", tmp_path / "cache")["train"]
    before = path.read_bytes()
    path.write_bytes(before[: before.rindex(b"\n", 0, -1) + 1])  # its last row is gone, no half one
    assert locate(config, tmp_path / "data", tmp_path / "cache")["train"].read_bytes() == before
