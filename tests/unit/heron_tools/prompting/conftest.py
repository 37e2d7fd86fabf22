"""A causal model with random weights, for all tests of prompts."""

from pathlib import Path

import pytest

from small_prompts import save_causal_model


@pytest.fixture(scope="session")
def causal_model(tiny_encoder: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Save a small Llama with a chat template; returns the folder."""
    return save_causal_model(tiny_encoder, tmp_path_factory.mktemp("causal_model"))
