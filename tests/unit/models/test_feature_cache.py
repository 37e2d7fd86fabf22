"""A frozen encoder is computed once: the scores are those of computing it every time."""

import dataclasses
from types import SimpleNamespace

import numpy as np
import pytest

from heron.base.files import read_json
from heron.base.folders import experiment_roots, load_forks
from heron.base.run_folder import RunFolder
from heron.models import HEADS, POOLINGS, encoder, feature_cache
from heron.training import job
from heron.training.exported import POINTER
from heron.training.inference import open_trained

FROZEN = ("encoder.freeze=all", "encoder.max_length=256", "trainer.max_epochs=2", "optim.lr=1e-2")
NLI = ("data=chronicle_nli", "task=nli")
LONG = "data.generator.premise_sentences=[3,5]"
WINDOWS = (
    *("head=cross", "encoder.overflow=windows", "encoder.stride=8", "encoder.max_length=96", LONG),
)


def train(config, path, cache=None):
    """Train; with a cache of the test's own, nothing that other tests have encoded is there."""
    if cache:
        config.paths.cache = str(cache)
    folder = RunFolder(path)
    return job.run_job(config, folder), folder


@pytest.fixture
def encodings(monkeypatch):
    """Count the splits that are encoded."""
    counted, encode = [], feature_cache.encode_split

    def encode_and_count(*inputs):
        counted.append(inputs[-1])
        return encode(*inputs)

    monkeypatch.setattr(feature_cache, "encode_split", encode_and_count)
    return counted


@pytest.mark.parametrize(
    "overrides",
    [
        (*NLI, "head=siamese_cls"),
        pytest.param(
            (*NLI, "head=siamese_cls", "head.combine=compare", "head.pooling=mean"),
            marks=pytest.mark.real,
        ),
        pytest.param((*NLI, "head=mlp3"), marks=pytest.mark.real),
        pytest.param((*NLI, *WINDOWS), marks=pytest.mark.real),
        pytest.param((*NLI, *WINDOWS, "head.over_windows=mean_states"), marks=pytest.mark.real),
        ("head=ess",),
        ("head=window",),
    ],
    ids=["siamese", "compare", "pair", "windows by logits", "windows by states", "ess", "window"],
)
def test_scores_equal_those_of_encoding_every_time(
    overrides, chronicle_config, tiny_encoder, tmp_path
):
    words = (*FROZEN, f"encoder.name={tiny_encoder}", *overrides)
    stored, _ = train(chronicle_config(*words), tmp_path / "stored")
    anew, _ = train(chronicle_config(*words, "encoder.cache=false"), tmp_path / "anew")
    assert stored.keys() == anew.keys()
    for split, scores in stored.items():
        assert scores == pytest.approx(anew[split], abs=1e-5)


def test_vectors_with_and_without_global_attention_are_stored_apart(
    chronicle_config, tiny_longformer, tmp_path, encodings
):
    words = (*FROZEN, *NLI, "head=mlp3", f"encoder.name={tiny_longformer}", LONG)
    for attention in ("first", "none"):
        before = len(encodings)
        config = chronicle_config(*words, f"encoder.global_attention={attention}")
        train(config, tmp_path / attention, tmp_path / "cache")
        assert len(encodings) > before


def test_an_encoder_from_nothing_is_the_same_with_and_without(chronicle_config, tmp_path):
    words = (*FROZEN, *NLI, "head=siamese_cls")
    stored, folder = train(chronicle_config(*words), tmp_path / "stored")
    anew, _ = train(chronicle_config(*words, "encoder.cache=false"), tmp_path / "anew")
    assert stored["test"] == pytest.approx(anew["test"], abs=1e-5)
    assert (folder.model / "config.json").is_file()  # nobody else has these weights


def test_runs_share_vectors_and_load_no_encoder(
    chronicle_config, tiny_encoder, tmp_path, encodings, monkeypatch
):
    words = (*FROZEN, *NLI, "head=siamese_cls", f"encoder.name={tiny_encoder}", "run.export=false")
    train(chronicle_config(*words), tmp_path / "first", tmp_path / "cache")
    assert sorted(encodings) == ["test", "train", "validation"]
    monkeypatch.setattr(encoder, "load_encoder", lambda *inputs: pytest.fail("loaded again"))
    other = chronicle_config(*words, "seed=3", "head.hidden=[8,8]")
    train(other, tmp_path / "second", tmp_path / "cache")
    assert len(encodings) == 3


@pytest.mark.real  # takes seconds; another test of the file runs with every change
def test_other_texts_poolings_and_lengths_are_encoded_anew(
    chronicle_config, tiny_encoder, tmp_path, encodings
):
    words = (*FROZEN, *NLI, "head=siamese_cls", f"encoder.name={tiny_encoder}", "run.export=false")
    others = ["seed=0", "head.pooling=mean", "encoder.max_length=60", "data.generator.seed=5"]
    for number, other in enumerate(others):
        config = chronicle_config(*words, other)
        train(config, tmp_path / str(number), tmp_path / "cache")
        assert len(encodings) == 3 * (number + 1)


def test_vectors_of_new_tokens_depend_on_the_seed_that_drew_them(
    chronicle_config, tiny_encoder, tmp_path, encodings
):
    words = (*FROZEN, "head=ess", f"encoder.name={tiny_encoder}", "run.export=false")
    for seed in (0, 1):
        config = chronicle_config(*words, f"seed={seed}")
        train(config, tmp_path / str(seed), tmp_path / "cache")
    assert len(encodings) == 6


def test_a_run_on_a_pretrained_frozen_encoder_points_to_it_and_predicts(
    chronicle_config, tiny_encoder, tmp_path
):
    words = (*FROZEN, *NLI, "head=siamese_cls", f"encoder.name={tiny_encoder}")
    _, folder = train(chronicle_config(*words), tmp_path / "run")
    assert read_json(folder.model / POINTER)["name"] == str(tiny_encoder)
    assert not list(folder.model.glob("model*.safetensors"))
    from heron.base.tables import read_table
    from heron.training.inference import read_splits

    trained = open_trained(folder)
    predictions, _ = trained.predict(read_splits(trained)["test"])
    stored = read_table(folder.predictions("test")).rows
    expected = [[row[f"p/{label}"] for label in trained.config.data.label_order] for row in stored]
    np.testing.assert_allclose(predictions.probabilities_RC, expected, atol=1e-5)


FORK = """
from heron.models import HEADS, POOLINGS, Pooling
from heron.models.heads import Head

def first(states_BLD, batch):
    return states_BLD[:, 0]

class Doubled(Head):
    def pool(self, states_BLD, batch):
        return 2 * super().pool(states_BLD, batch)

class Scaled(Head):
    def classify(self, pooled_XP, batch):
        return 2 * super().classify(pooled_XP, batch)

POOLINGS.register("fork_first", Pooling(first))
HEADS.register("doubled", Doubled)
HEADS.register("scaled", Scaled)
"""


def test_the_code_of_a_fork_that_pools_is_part_of_the_key(
    chronicle_config, tiny_encoder, tmp_path, monkeypatch
):
    monkeypatch.setenv("HERON_FORKS", str(tmp_path / "experiments"))
    for registry in (POOLINGS, HEADS):
        monkeypatch.setattr(registry, "_entries", dict(registry._entries))
    fork = tmp_path / "experiments" / "pooling_fork"
    fork.mkdir(parents=True)
    (fork / "__init__.py").write_text(FORK, encoding="utf-8")
    load_forks(experiment_roots())
    config = chronicle_config(*FROZEN, *NLI, "head=siamese_cls", f"encoder.name={tiny_encoder}")
    data = SimpleNamespace(tokenizer="word", known_tokens=4)

    def keys():
        heads = (
            {"pooling": "fork_first"},
            {"module": "doubled"},
            {"module": "scaled"},
            {"pooling": "cls"},
        )
        for head in heads:
            changed = dataclasses.replace(config, head=dataclasses.replace(config.head, **head))
            yield feature_cache.encoding(changed, data)

    pooled, doubled, scaled, plain = keys()
    assert len({pooled, doubled, plain}) == 3
    assert scaled == plain  # it pools as heron's own heads do
    (fork / "helper.py").write_text("NEW = 1\n", encoding="utf-8")
    again = list(keys())
    assert (again[0] != pooled, again[1] != doubled, again[2:]) == (True, True, [scaled, plain])
