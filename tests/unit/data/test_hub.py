"""Where an encoder comes from: what is cached is named by its commit."""

import shutil
from pathlib import Path

import pytest
from huggingface_hub import constants

from heron.base.errors import ConfigError
from heron.base.files import seal
from heron.data.hub import identity, origin
from heron.metrics.bertscore import sign
from heron.metrics.config import BertScoreConfig
from heron.models.config import EncoderConfig

COMMITS = {"main": "0123456789abcdef0123456789abcdef01234567", "v2": "f" * 40}


@pytest.fixture
def cached(tiny_encoder, tmp_path, monkeypatch) -> str:
    """Put an encoder into a hub cache, twice; returns its id."""
    folder = tmp_path / "models--acme--encoder"
    (folder / "refs").mkdir(parents=True)
    for name, commit in COMMITS.items():
        (folder / "refs" / name).write_text(commit)
        (folder / "snapshots" / commit).mkdir(parents=True)
        for file in tiny_encoder.iterdir():
            Path(folder / "snapshots" / commit / file.name).symlink_to(file)
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path))
    return "acme/encoder"


@pytest.mark.parametrize("revision", [None, "main", "v2"])
def test_a_cached_encoder_is_named_by_its_commit(cached, revision):
    found = identity(EncoderConfig(name=cached, revision=revision))
    assert found == {"commit": COMMITS[revision or "main"]}


def test_a_signature_names_the_commit(cached):
    assert sign(BertScoreConfig(cached, 1)).startswith("acme/encoder@0123456789ab_L1_")


def test_a_damaged_export_is_no_encoder_to_begin_with(tiny_encoder, tmp_path):
    folder = tmp_path / "model"
    shutil.copytree(tiny_encoder, folder)
    config = EncoderConfig(name=str(folder))
    origin(config)  # a folder without checksums is anybody's
    seal(folder)
    origin(config)
    content = bytearray((folder / "model.safetensors").read_bytes())
    content[-5] ^= 1
    (folder / "model.safetensors").write_bytes(content)
    with pytest.raises(ConfigError, match=r"model\.safetensors: damaged or changed"):
        origin(config)
