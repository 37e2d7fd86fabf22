"""Every command of the pages runs, in its page's order, on a heron in small."""

from __future__ import annotations

import os
import re
import shlex
from functools import cache
from pathlib import Path

import pytest

import page_commands
from heron.data.config import read_config
from page_inputs import WRITTEN, write_inputs
from small_forks import commands_in, write_data, write_fork
from small_heron import ROOT, fewer, smaller, write_files, write_heron

DATA = os.environ.get("HERON_DATA", "")
# Commands that `test_pages.py` composes, and why they are not run here.
NOT_RUN = {
    r"^(make|source|pre-commit|\S*/pre-commit)\b": "not heron's; `make` would run all tests",
    r"\bpip\b": "installs packages",
    r"\bjupyter\b": "a server; tests/unit/test_notebooks.py runs the notebooks",
    r"^wandb sync|wandb=true": "needs an account",
    r"^ray |launcher=(ray|submitit|joblib)": "needs a plugin of Hydra's, an extra",
    r"^srun ": "needs SLURM; tests/cluster starts one",
    r"logger=(tensorboard|mlflow)": "needs a package of its own",
    r"trainer=fsdp": "needs GPUs; tests/unit/training/test_devices.py shards on CPUs",
    r"contact=": "fetches pages; tests/unit/experiments/test_hesum_corpus.py serves some",
    r"backend=server": "needs a server; tests/unit/experiments/lchaim/test_translation.py has one",
} | ({} if DATA else {r"trc:T3": "reads the annotators' own files: set HERON_DATA"})
# What replaces, in every page, what it leaves open or what this machine lacks.
REPLACED = {
    "trc:T3": f"trc:T3 paths.data={DATA}",
    "paths.data=DIR": "",
    "encoder=DIR": "encoder=onlplab/alephbert-base",
    "check=ENCODER": "check=onlplab/alephbert-base",
    "=FOLDER": "={small}/llama",
    "=FILE": "={place}/FILE.csv",
    "$PWD": "{place}",
    "bertscore=...": "bertscore=onlplab/alephbert-base",
    "systems=...": "systems=runs/hesum/base articles=10",
    "=...": "=text",
    " ... ": " ",
    "logger.wandb.mode=online": "",
    "my_module.MyCallback": "pytorch_lightning.callbacks.Timer",
}
RUN = "heron train data={} run.sweep={} run.job=job"
SUMMARIES = "heron train data=hesum run.sweep=hesum run.job=base"
# Of a page: the commands before its own, and what replaces what it leaves open.
SETUPS: dict[str, tuple[list[str], dict[str, str]]] = {
    "docs/comparing.md": (
        [
            "heron train -m data=trc head=ess,seq_cls run.sweep=trc-table4",
            "heron train -m data=parashoot head=span,biaffine run.sweep=parashoot-stages",
        ],
        {},
    ),
    "docs/curricula.md": ([], {"runs/sweep": "runs/demo"}),
    "docs/export.md": ([RUN.format("chronicle", "sweep")], {}),
    "docs/files.md": (
        [RUN.format(f"chronicle{task}", f"sweep{task}") for task in ("", "_qa", "_nli")],
        {"sweep/job context": "sweep_qa/job context", "sweep/job text": "sweep_nli/job text"},
    ),
    "docs/little_data.md": ([], {"runs/SWEEP": "runs/trc-window"}),
    "docs/logging.md": ([], {"runs/sweep": "runs/chronicle-relation"}),
    "docs/prompting.md": (
        [
            "heron prompt data=lchaim model=local model.name=FOLDER run.sweep=lchaim-table3",
            "heron train data=lchaim baseline=majority run.sweep=lchaim-table2",
        ],
        {},
    ),
    "docs/reproducing.md": ([], {"only=ess": "only=seq_cls"}),
    "docs/run_folder.md": ([RUN.format("chronicle", "sweep")], {}),
    "docs/start.md": ([], {"demo run.keep": "demo run.job=kept run.keep", "demo/...": "demo/kept"}),
    "docs/your_language.md": (
        [
            RUN.format("chronicle_nli", "sweep"),
            "heron train data=chronicle_nli head=cross run.sweep=sweep run.job=other",
        ],
        {},
    ),
    "experiments/hesum/README.md": (
        [SUMMARIES, "heron judge sample systems=runs/hesum/base raters=3 articles=5 out=judged"],
        {
            "run=DIR": "run=runs/hesum/base",
            "beside=DIR2": "beside=runs/hesum/base",
            "from=study": "from=judged",
            "RUN/": "runs/hesum/base/",
            "hesum/table3": "hesum/table3 dry_run=true",
        },
    ),
    "experiments/hesum/judging/README.md": ([SUMMARIES], {}),
    "experiments/lchaim/README.md": (
        [],
        {
            "minimum=0.75": "minimum=0.75 similarity=onlplab/alephbert-base",
        },
    ),
    "experiments/parashoot/README.md": (
        [
            RUN.format("parashoot", "shoot"),
            "heron analyze data=parashoot sheet=judge.csv sample=10",
        ],
        {"=RUN": "=runs/shoot/job"},
    ),
    "experiments/strength/README.md": ([], {"strength enc": "strength dry_run=true enc"}),  # hours
}
PAGES: dict[str, list[str]] = {}  # the pages in `adding` are of one fork, so they are one
for path in page_commands.pages(ROOT):
    name = str(path.relative_to(ROOT)) if path.parent.name != "adding" else "experiments/adding"
    if path.name != "CHANGELOG.md" and path.parent.name not in (
        "macedonian",
        "tagger",
    ):  # have own tests
        PAGES[name] = PAGES.get(name, []) + page_commands.commands(path)
LINES = [line for lines in PAGES.values() for line in lines]


def is_run(line: str) -> bool:
    return not any(re.search(pattern, line) for pattern in NOT_RUN)


@pytest.fixture(scope="session")
def small(tiny_encoder, tmp_path_factory):
    return write_heron(tmp_path_factory.mktemp("small"), tiny_encoder)


@pytest.mark.real  # minutes
@pytest.mark.parametrize("page", [name for name in PAGES if any(map(is_run, PAGES[name]))])
def test_every_command_of_a_page_runs_in_its_order(page, small, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    before, replaced = SETUPS.get(page, ([], {}))
    variables = {
        "PYTHONPATH": str(small / "src"),
        "HF_HUB_CACHE": str(small / "hub"),
        "HERON_DATA": str(small / "data"),
    }
    if page == "experiments/adding":
        village = write_fork(tmp_path / "experiments" / "village")
        write_files(read_config(village / "conf" / "data" / "village_news.yaml"), small / "data")
        write_data(small / "data" / "village")
    with commands_in(tmp_path, **variables) as heron:
        for line in [*before, *filter(is_run, PAGES[page])]:
            for text, replacement in (REPLACED | replaced).items():
                line = line.replace(text, replacement)
            line = smaller(line.replace("{place}", str(tmp_path)).replace("{small}", str(small)))
            line = re.sub(r"\bruns/[\w-]+/job\b", lambda found: job_of(found[0], tmp_path), line)
            write_inputs(tmp_path, line)
            _, command, *words = shlex.split(line)
            heron(command, *(fewer(words) if command in ("train", "prompt") else words))


@pytest.mark.real  # minutes
@pytest.mark.skipif(not DATA, reason="set HERON_DATA")
@pytest.mark.parametrize(
    "page",
    [
        name
        for name in PAGES
        if name.endswith(".md") and page_commands.MARKED.search((ROOT / name).read_text("utf-8"))
    ],
)
def test_every_marked_figure_of_a_page_comes_out(page, tmp_path):
    with commands_in(tmp_path, HERON_DATA=DATA) as heron:
        run = cache(lambda line: heron(*shlex.split(line)[1:]))
        assert page_commands.missing_figures(ROOT / page, run) == []


def job_of(name: str, place: Path) -> str:
    """Find the first finished job of a sweep, or else of all, where a page says `job`."""
    sweep = place / Path(name).parent
    finished = [*sweep.glob("*/status.json")] or [*place.glob("runs/*/*/status.json")]
    first = min(finished, key=lambda path: path.stat().st_mtime)
    return str(first.parent.relative_to(place))


def test_what_is_said_of_commands_is_said_of_some():
    assert [line for line in filter(is_run, LINES) if not line.startswith("heron ")] == []
    assert [each for each in NOT_RUN if not any(re.search(each, line) for line in LINES)] == []
    texts = [*REPLACED, *(f"heron {start}" for start in WRITTEN)]
    assert [each for each in texts if not any(each in line for line in LINES)] == []
    for page, (_, replaced) in SETUPS.items():
        said = "\n".join(PAGES[page])
        assert [each for each in replaced if each not in said] == []
