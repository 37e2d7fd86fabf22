"""Word vectors and the mean of them: gensim's numbers, trained on nothing but the train split."""

from __future__ import annotations

import gzip

import numpy as np
import pytest
from gensim.models import FastText
from gensim.models.fasttext import save_facebook_model
from hypothesis import given
from hypothesis import strategies as st

from heron.base.errors import ConfigError
from heron.data.examples import Example
from heron_forks.ronli.rules import CbowConfig
from heron_forks.ronli.word_vectors import (
    CbowFeatures,
    VectorFile,
    WordVectors,
    kept_vectors,
    mean_vectors,
    vector_source,
)

SENTENCES = [
    ["pisica", "doarme", "pe", "scaun"],
    ["câinele", "doarme", "pe", "covor"],
    ["pisica", "și", "câinele", "aleargă"],
]
TEXTS = [" ".join(words) for words in SENTENCES]
WORDS = ["pisica", "câinele", "necunoscut", "doarm", "x", "א"]


@pytest.fixture(scope="module")
def model():
    return FastText(SENTENCES, vector_size=6, min_count=1, bucket=50, workers=1, seed=1, epochs=2)


@pytest.fixture(scope="module")
def facebook_file(model, tmp_path_factory):
    path = tmp_path_factory.mktemp("vectors") / "tiny.bin"
    save_facebook_model(model, str(path))
    return path


def settings(**values: object) -> CbowConfig:
    chosen = {"name": "cbow_svm", "dim": 6, "epochs": 2, "min_count": 1, "buckets": 50}
    return CbowConfig(**(chosen | values))  # type: ignore[arg-type]


def plain(*names: str, width: int = 2) -> WordVectors:
    values = np.arange(len(names) * width, dtype=np.float32).reshape(-1, width)
    return WordVectors({name: place for place, name in enumerate(names)}, values)


def pair(text: str, text_pair: str | None = "b") -> Example:
    return Example("1", text, text_pair)


def test_vectors_of_known_and_unknown_words_are_gensims(model, facebook_file):
    vectors_UD, known_U = VectorFile(facebook_file).open().find(WORDS)
    expected_UD = np.stack([model.wv[word] for word in WORDS])
    np.testing.assert_allclose(vectors_UD, expected_UD, atol=1e-6)
    assert known_U.all(), "every word has character n-grams"


@pytest.mark.parametrize("suffix", [".vec", ".vec.gz"])
def test_text_files_give_known_words_and_no_others(suffix, tmp_path):
    path = tmp_path / f"small{suffix}"
    text = "2 3\npisica 1 2 3\ncâinele 4 5 6\n".encode()
    path.write_bytes(gzip.compress(text) if suffix.endswith("gz") else text)
    vectors_UD, known_U = VectorFile(path).open().find(["câinele", "pisica", "pisici"])
    assert vectors_UD.tolist() == [[4, 5, 6], [1, 2, 3], [0, 0, 0]]
    assert known_U.tolist() == [True, True, False]


def test_mean_counts_a_repeated_word_twice_and_an_unknown_one_as_zero():
    means_TD, counts = mean_vectors([["a", "b", "b"], ["b", "?"], []], plain("a", "b"))
    np.testing.assert_allclose(means_TD, [[4 / 3, 7 / 3], [1, 1.5], [0, 0]], rtol=1e-6)
    assert counts == {"words": 5, "without_vector": 1, "empty": 1}


@given(st.lists(st.lists(st.sampled_from("abcd?"), max_size=6), max_size=8))
def test_mean_equals_numpys(texts):
    vectors = plain(*"abcd")
    means_TD, _ = mean_vectors(texts, vectors)
    for words, mean_D in zip(texts, means_TD, strict=True):
        expected_D = vectors.find(words)[0].mean(axis=0) if words else np.zeros(2)
        np.testing.assert_allclose(mean_D, expected_D, atol=1e-5)


def test_training_twice_gives_identical_vectors_and_another_seed_others(tmp_path):
    def trained(folder: str, seed: int) -> np.ndarray:
        return vector_source(settings(), TEXTS, seed, tmp_path / folder).open().vectors_VD

    np.testing.assert_array_equal(trained("one", 0), trained("two", 0))
    assert not np.array_equal(trained("one", 0), trained("one", 1))


def test_trained_vectors_are_made_once_and_kept_with_the_run(tmp_path, monkeypatch):
    source = vector_source(settings(), TEXTS, 0, tmp_path / "cache")
    first = source.open()
    monkeypatch.setattr("heron_forks.ronli.word_vectors.TrainedVectors._train", None)  # would fail
    description = source.keep(tmp_path / "model")
    kept = kept_vectors(tmp_path / "model", description)
    assert kept.key == source.key, "what is cached for one is for the other"
    np.testing.assert_array_equal(kept.open().find(WORDS)[0], first.find(WORDS)[0])
    again = kept_vectors(tmp_path / "copy", kept.keep(tmp_path / "copy"))
    np.testing.assert_array_equal(again.open().find(WORDS)[0], first.find(WORDS)[0])


def test_file_of_vectors_is_remembered_with_its_content(facebook_file, tmp_path):
    path = tmp_path / "copy.bin"
    path.write_bytes(facebook_file.read_bytes())
    description = VectorFile(path).keep(tmp_path)
    assert kept_vectors(tmp_path, description).open().vectors_VD.shape == (8, 6)
    path.write_bytes(b"something else")
    with pytest.raises(ConfigError, match="changed since the run was trained"):
        kept_vectors(tmp_path, description)


@pytest.mark.parametrize(
    ("texts", "expected"),
    [("pair", [[0, 1, 2, 3]]), ("premise", [[0, 1]]), ("hypothesis", [[2, 3]])],
)
def test_features_are_the_texts_that_are_read_side_by_side(texts, expected, tmp_path):
    (tmp_path / "two.vec").write_text("2 2\na 0 1\nb 2 3\n")
    chosen = settings(input=texts)
    features = CbowFeatures(chosen, VectorFile(tmp_path / "two.vec"), tmp_path / "cache")
    assert features([pair("a")]).tolist() == expected
    assert features.counts["words"] == len(expected[0]) / 2


def test_features_are_computed_once_per_content(tmp_path, monkeypatch):
    source = vector_source(settings(), TEXTS, 0, tmp_path)
    features = CbowFeatures(settings(), source, tmp_path)
    first = features([pair("pisica"), pair("câinele")])
    monkeypatch.setattr("heron_forks.ronli.word_vectors.mean_vectors", None)  # would fail
    np.testing.assert_array_equal(features([pair("pisica"), pair("câinele")]), first)
    with pytest.raises(TypeError):
        features([pair("altceva")])


@pytest.mark.parametrize(("words", "known"), [("words", 2), ("folded", 3), ("whitespace", 1)])
def test_what_a_word_is_is_a_choice(words, known, tmp_path):
    (tmp_path / "one.vec").write_text("1 1\ncasa 1\n")
    source = VectorFile(tmp_path / "one.vec")
    features = CbowFeatures(settings(input="premise", words=words), source, tmp_path)
    features([pair("Casa, casa casa.")])
    assert features.counts["words"] - features.counts["without_vector"] == known
