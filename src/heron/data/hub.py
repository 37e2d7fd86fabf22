"""Where encoders and tokenizers come from: a folder, the local hub cache, or the hub."""

from __future__ import annotations

import socket
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from huggingface_hub import constants, try_to_load_from_cache

from heron.base.errors import ConfigError
from heron.base.files import SEAL, damaged_files, sha256_file
from heron.config.schema import EncoderConfig


def origin(config: EncoderConfig) -> dict[str, Any]:
    """Make the `from_pretrained` arguments that say where to load from, and what may be run.

    A copy in the local cache is used as it is. Otherwise the hub must answer: the hub client
    itself would retry for a minute before it says that it cannot be reached.

    Raises:
        ConfigError: neither a folder, nor in the cache, nor is the hub reachable; or the folder is
            a run's `model/` and damaged.
    """
    is_folder = Path(config.name).is_dir()
    cached = not is_folder and _is_cached(config)
    if not is_folder and not cached and not _hub_answers():
        raise unreachable(config.name)
    if is_folder and (damaged := damaged_files(Path(config.name))):
        raise ConfigError(
            f"encoder.name={config.name}: {', '.join(damaged)}: damaged or changed since a run "
            f"exported it; copy the folder again. If you have changed it yourself, remove {SEAL}"
        )
    return {
        "revision": config.revision,
        "trust_remote_code": config.trust_remote_code,
        "local_files_only": cached,
    }


def identity(config: EncoderConfig) -> dict[str, str]:
    """Name what a pretrained encoder is: its own files by their hashes, or the hub's commit.

    Returns:
        `{file: SHA-256}` of a folder's weights, settings, tokenizer and code, or `{"commit": id}`;
        empty for an encoder that is built from nothing.
    """
    if config.name == "scratch":
        return {}
    folder = Path(config.name)
    if folder.is_dir():
        kinds = ("*.safetensors", "*.bin", "*.json", "*.txt", "*.model", "*.py")
        files = sorted(file for kind in kinds for file in folder.glob(kind))
        return {file.name: sha256_file(file) for file in files}
    from transformers import AutoConfig

    AutoConfig.from_pretrained(config.name, **origin(config))  # fetches it where it is not cached
    found = try_to_load_from_cache(config.name, "config.json", revision=config.revision)
    # The cache keeps each commit in a folder of its name; transformers 5 does not tell it.
    commit = Path(found).parent.name if isinstance(found, str) else config.revision
    return {"commit": str(commit)}


@contextmanager
def loading(name: str) -> Iterator[None]:
    """Raise `unreachable` for whatever the libraries raise while a model loads.

    Of damaged files each raises another kind, some a bare `Exception`.
    """
    try:
        yield
    except (ConfigError, MemoryError):
        raise
    except Exception as error:
        raise unreachable(name, error) from error


def unreachable(name: str, error: Exception | None = None) -> ConfigError:
    """Say why a model or tokenizer could not be loaded, and what to do."""
    if "trust_remote_code" in str(error):
        return ConfigError(
            f"encoder.name={name}: brings code of its own (*.py), which does not run unasked; read "
            "it, then say encoder.trust_remote_code=true in this command"
        )
    if Path(name).is_dir():
        return ConfigError(f"encoder.name={name}: the folder holds no loadable model ({error})")
    return ConfigError(
        f"encoder.name={name}: neither a folder here nor to be had from the hub now. "
        "Give a folder with config.json, model.safetensors and tokenizer.json, or go online once."
    )


def _is_cached(config: EncoderConfig) -> bool:
    try:
        found = try_to_load_from_cache(config.name, "config.json", revision=config.revision)
    except ValueError as error:  # no hub id, such as a folder that is not there
        raise unreachable(config.name, error) from error
    return isinstance(found, str)


def _hub_answers(seconds: float = 5.0) -> bool:
    if constants.HF_HUB_OFFLINE:
        return False
    if urllib.request.getproxies():
        return True  # only the proxy can tell
    endpoint = urlsplit(constants.ENDPOINT)
    port = endpoint.port or (443 if endpoint.scheme == "https" else 80)
    try:
        with socket.create_connection((endpoint.hostname or "", port), timeout=seconds):
            return True
    except OSError:
        return False
