"""The real TRC files: every row loads, and the published counts come out."""

from collections import Counter

import pytest

from heron.base.folders import data_set_file
from heron.base.tables import read_table
from heron.data.config import SampleConfig, read_config
from heron.data.markers import event_markers, mark, parse_marked
from heron.data.readers import load
from heron.data.sources import State, inspect
from real_data import DATA, needs

pytestmark = needs(DATA)
CLASSES = ("BEFORE", "AFTER", "EQUAL", "VAGUE")


@pytest.fixture(scope="module")
def config():
    return read_config(data_set_file("trc"))


@pytest.fixture(scope="module")
def splits(config, tmp_path_factory):
    return load(config, DATA, tmp_path_factory.mktemp("cache"))


@pytest.fixture(scope="module")
def shipped(config, splits):
    """Train as the authors ship it: what is left of it, and what was carved."""
    return splits["train"] + splits["validation"]


def test_every_file_is_the_pinned_one(config, tmp_path):
    sources = inspect(config, DATA, tmp_path)
    assert {source.state for source in sources.values()} == {State.VERIFIED}


def test_all_rows_load_with_the_published_class_counts(shipped, splits):
    # Source: TRC paper, Table 2, and the authors' files (63 and 15 documents).
    assert counts(shipped) == (2418, 1937, 512, 908)
    assert counts(splits["test"]) == (674, 437, 106, 268)
    assert (len({e.group for e in shipped}), len({e.group for e in splits["test"]})) == (63, 15)


def counts(examples) -> tuple[int, ...]:
    found = Counter(example.label for example in examples)
    return tuple(found[label] for label in CLASSES)


def test_no_document_is_in_two_splits(splits):
    groups = [{example.group for example in examples} for examples in splits.values()]
    assert len(set.union(*groups)) == sum(map(len, groups)) == 78


def test_guids_are_document_window_pair(shipped, splits):
    for example in shipped + splits["test"]:
        assert example.guid.split(".")[0] == example.group


def test_pairs_of_one_window_share_one_plain_text(shipped, splits):
    train, test = ({e.text for e in examples} for examples in (shipped, splits["test"]))
    assert (len(train), len(train | test)) == (1145, 1389)
    texts_of: dict[str, set[str]] = {}
    for example in shipped + splits["test"]:
        texts_of.setdefault(example.guid.rpartition(".")[0], set()).add(example.text)
    assert {len(texts) for texts in texts_of.values()} == {1}


@pytest.mark.parametrize("split", ["train", "test"])
def test_marking_the_parsed_text_gives_the_file_back(config, split):
    markers = event_markers(config)
    table = read_table(DATA / config.files[split].path)
    for text in table.values("text"):
        plain, spans = parse_marked(text, markers)
        assert mark(plain, spans, markers).text == text.strip()


def test_validation_is_a_tenth_of_train_in_whole_documents(shipped, splits):
    assert 0.1 <= len(splits["validation"]) / len(shipped) < 0.13
    assert min(counts(splits["validation"])) > 0


@pytest.mark.parametrize("by", ["pair", "window"])
def test_learning_curve_shares_nest(config, splits, by, tmp_path):
    smaller: set[str] = set()
    for fraction in (0.15, 0.25, 0.5, 0.75):
        config.sample = SampleConfig(fraction, by)
        train = load(config, DATA, tmp_path)["train"]
        share = {example.guid for example in train}
        assert smaller < share
        # The last window drawn may bring several dozen pairs more than were wanted.
        assert 0 <= len(share) / len(splits["train"]) - fraction < 0.02
        smaller = share
    config.sample = SampleConfig()
