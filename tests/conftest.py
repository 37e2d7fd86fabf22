"""Shared by all tests: no network, one thread, a tiny encoder and small configurations."""

from __future__ import annotations

import base64
import copy
import dataclasses
import gc
import os
import signal
import sys
from collections.abc import Callable
from functools import cache
from typing import IO, Any
from unittest.mock import create_autospec

# Before anything imports torch or transformers: both read these once.
os.environ.update(
    HF_HUB_OFFLINE="1",
    WANDB_MODE="offline",
    OMP_NUM_THREADS="1",
    TOKENIZERS_PARALLELISM="false",
)

import pytest
from hypothesis import settings
from matplotlib.figure import Figure

import cached_hydra
from browser import browser, find_browser
from heron.base.folders import experiment_roots, load_forks
from heron.languages.english import ENGLISH
from heron.languages.hebrew import HEBREW
from heron.languages.romanian import ROMANIAN
from heron.models.config import EncoderConfig
from heron.tasks.config import Config, PathsConfig
from tiny_models import plain_tokenizer, save_model, tokenizer_of

# Other jobs share the cores: a slow example is no failure. The suite draws the same examples every
# time, so that red means a change broke it; `make fuzz` looks for new ones.
settings.register_profile("heron", deadline=None, max_examples=25, derandomize=True)
settings.register_profile("fuzz", deadline=None, max_examples=250, print_blob=True)
settings.load_profile("heron")
cached_hydra.install()
os.fsync = lambda _: None  # no test ends with a power cut, and each call waits for the disk
# A suite in the background of a shell inherits an ignored SIGINT, and so would the commands that it
# interrupts.
signal.signal(signal.SIGINT, signal.default_int_handler)
load_forks(experiment_roots())  # tests of forks import them as `heron_forks.<fork>`
# What is imported stays: searching it for garbage took a tenth of the suite's time.
gc.freeze()
gc.set_threshold(100_000, 50, 100)

# Each alphabet as one word, so that every letter has a piece at and after a word's start.
ALPHABETS = [language.alphabet for language in (HEBREW, ROMANIAN, ENGLISH)]
TEXTS = [
    *ALPHABETS,
    *(" ".join(alphabet) for alphabet in ALPHABETS),
    "הוועדה התכנסה בבוקר ודחתה את ההצעה לאחר שהשר עזב את האולם .",
    'מנכ"ל החברה הודיע על הפיטורים לפני שהעובדים פתחו בשביתה , 0 1 2 3 4 5 6 7 8 9 .',
    "Șoferul a oprit mașina după ce a văzut câinele în fața școlii .",
    "Înainte să plece la țară , bunica a încuiat poarta și a hrănit găinile .",
    "The committee met in the morning and rejected the proposal after the minister had left .",
    "Before the talks began , the workers ended their strike ( it had lasted a week ) .",
]

ComposeConfig = Callable[..., Config]
SAVEFIG = Figure.savefig
# One black point, as Pillow writes it.
PNG = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGNgAAAAAgABSK+kcQAAAABJRU5ErkJggg=="
)


@pytest.fixture(scope="session", autouse=True)
def fast_figures():
    """Replace the figures of reports and the drawing of all others, most of a tiny run's time.

    Tests of figures ask for `drawn_figures`, and tests that start a process draw.
    """
    from heron.reports import figures

    def savefig(self: Figure, image: IO[bytes], format: str, **options: Any) -> None:
        image.write(b"%PDF-" if format == "pdf" else PNG)

    with pytest.MonkeyPatch.context() as patch:
        for name in ("run_figure", "sweep_figure"):
            stand_in = create_autospec(getattr(figures, name), return_value=PNG)
            patch.setattr(figures, name, stand_in)
        for name in ("run_panels", "sweep_panels"):
            panels = [figures.Panel("figure", PNG)]
            stand_in = create_autospec(getattr(figures, name), return_value=panels)
            patch.setattr(figures, name, stand_in)
        patch.setattr(Figure, "savefig", savefig)
        yield


@pytest.fixture
def drawn_figures(monkeypatch):
    """Draw figures in this test, which `fast_figures` replaces in others."""
    monkeypatch.setattr(Figure, "savefig", SAVEFIG)


@pytest.fixture
def copied_code(tmp_path, monkeypatch):
    """Keep what transformers copies of a folder's code out of the user's cache."""
    cache = str(tmp_path / "modules")
    monkeypatch.setattr("transformers.dynamic_module_utils.HF_MODULES_CACHE", cache)
    monkeypatch.setattr(sys, "path", [*sys.path])


@pytest.fixture(scope="session")
def tiny_encoder(tmp_path_factory):
    """Save a BERT of 2 layers x 32 units and its WordPiece tokenizer; returns the folder."""
    from heron.data.hub import load_tokenizer

    scratch = EncoderConfig(name="scratch", max_length=256)
    tokenizer = load_tokenizer(scratch, (), TEXTS, tmp_path_factory.mktemp("tokenizer_cache"))
    return save_model("bert", tokenizer, tmp_path_factory.mktemp("tiny_encoder"))


@pytest.fixture(scope="session")
def tiny_longformer(tiny_encoder, tmp_path_factory):
    """Save a Longformer of 2 layers x 32 units that reads 640 tokens; returns the folder."""
    own = {"attention_window": 16, "max_position_embeddings": 642, "type_vocab_size": 1}
    folder = tmp_path_factory.mktemp("tiny_longformer")
    return save_model("longformer", tokenizer_of(tiny_encoder), folder, **own)


@pytest.fixture(scope="session")
def tiny_gpt2(tiny_encoder, tmp_path_factory):
    """Save a GPT-2 of 2 layers x 32 units whose tokenizer adds nothing; returns the folder."""
    folder = tmp_path_factory.mktemp("tiny_gpt2")
    return save_model("gpt2", plain_tokenizer(tiny_encoder), folder)


@pytest.fixture(scope="session")
def session_cache(tmp_path_factory):
    """Name one cache folder for all tests, so that a corpus is generated once."""
    return tmp_path_factory.mktemp("cache")


@pytest.fixture
def chronicle_config(tmp_path, session_cache):
    """Return a function that composes a small run on the built-in corpus.

    Its arguments are overrides as on the command line: `chronicle_config("head=emp", "seed=1")`.
    Runs go to `tmp_path/runs`; 150 rows, one epoch, a 2 x 32 encoder from scratch.
    """

    def compose(*overrides: str) -> Config:
        config = copy.deepcopy(_compose(overrides, str(session_cache)))
        paths = PathsConfig(
            data=str(tmp_path / "data"), cache=str(session_cache), runs=str(tmp_path / "runs")
        )
        return dataclasses.replace(config, paths=paths)

    return compose


SMALL = (
    "data.generator.size=150",
    "trainer.max_epochs=1",
    "trainer.precision=32-true",
    "trainer.accelerator=cpu",
    "trainer.threads=1",
    "trainer.enable_progress_bar=false",
    "batching.tokens=1024",
    "task.bootstrap=20",
    "encoder.scratch.vocabulary=500",
    "encoder.scratch.hidden=32",
    "encoder.scratch.heads=2",
    "encoder.scratch.intermediate=64",
)


@cache
def _compose(overrides: tuple[str, ...], runs: str) -> Config:
    """Compose once per set of overrides; Hydra takes a good part of a second each time."""
    from heron.training.compose import compose

    return compose([*SMALL, *overrides, f"paths.runs={runs}"])


@pytest.fixture(scope="module")
def page():
    """Open a headless browser, for tests that are skipped where there is none."""
    if (path := find_browser()) is None:
        pytest.skip("needs an installed Chromium")
    with browser(path) as started:
        yield started
