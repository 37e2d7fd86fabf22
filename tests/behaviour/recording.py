"""Run the cases of `cases.toml`, each command in a process of its own, and keep what they leave.

OUT/work                   the working folder: runs/, out/, and the inputs made for commands
OUT/steps/<case>/<n>.txt   what a command printed; .err what it complained of, .code its exit code
OUT/record.json            the checkout, seconds of each case
"""

from __future__ import annotations

import csv
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import time
import tomllib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from string import Template
from typing import Any

import pandas as pd

# Runs `python -m heron` for each line of its input, in a process forked from this one: importing
# the libraries, none of which is heron's own, takes far longer than most commands.
_SERVER = """\
import atexit, gc, importlib, json, os, runpy, sys, threading, traceback
for name in ("torch", "pytorch_lightning", "transformers.models.bert.modeling_bert", "hydra",
             "matplotlib.figure", "pandas", "pyarrow.parquet", "scipy.stats", "sklearn.svm"):
    try:
        importlib.import_module(name)
    except ImportError:
        pass
gc.freeze()
for line in sys.stdin:
    order = json.loads(line)
    if (child := os.fork()) == 0:
        break
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    print(code, sum(os.times()[:4]), flush=True)
else:
    sys.exit()
for number, name in enumerate((os.devnull, order["out"], order["err"])):
    os.dup2(os.open(name, os.O_RDWR | os.O_CREAT, 0o644), number)
sys.argv, code = ["heron", *order["words"]], 0
try:
    runpy.run_module("heron", run_name="__main__", alter_sys=True)
except SystemExit as end:
    code = end.code or 0
except BaseException:
    traceback.print_exc()
    code = 1
# Python's own end would take apart all libraries, which takes a second.
threading._shutdown()
atexit._run_exitfuncs()
sys.stdout.flush()
os._exit(code)
"""
# Composes many configurations in one process: file and what is typed after `python -m heron`.
_COMPOSE = """\
import contextlib, json, runpy, sys
for name, words in json.load(sys.stdin):
    sys.argv = ["heron", *words]
    with open(name, "w", encoding="utf-8") as file, contextlib.redirect_stdout(file):
        try:
            runpy.run_module("heron", run_name="__main__", alter_sys=True)
        except SystemExit as end:
            print("exit code", end.code or 0)
"""


@dataclass(frozen=True, slots=True)
class Case:
    """Commands that are run one after the other; see `cases.toml`."""

    steps: tuple[str, ...]
    common: str = ""
    needs: tuple[str, ...] = ()
    fails: bool = False


def read_cases() -> dict[str, Case]:
    """Read `cases.toml`; cases stand behind those that they need."""
    tables = tomllib.loads(Path(__file__).with_name("cases.toml").read_text("utf-8"))
    names: dict[str, str] = {}
    for name, text in tables.pop("names").items():
        names[name] = Template(text).substitute(names)
    cases = {}
    for name, table in tables.items():
        text = Template(table["steps"]).substitute(names).strip()
        steps = re.sub(r"\n\s+", " ", text).splitlines()
        common = Template(table.get("common", "")).substitute(names)
        needs = tuple(table.get("needs", ()))
        cases[name] = Case(tuple(steps), common, needs, table.get("fails", False))
    return cases


def record(out: Path, source: Path, only: Sequence[str] = (), runs: Path | None = None) -> int:
    """Record cases into a new folder.

    Args:
        out: the folder.
        source: root of the checkout to record.
        only: names of cases, recorded with those that they need; empty: all.
        runs: a recording whose run folders are read instead of training.

    Returns:
        0, or 1 where a command ended otherwise than its case says.
    """
    cases = read_cases()
    if out.exists() and any(out.iterdir()):
        raise SystemExit(f"{out} is not empty: name a new folder")
    if unknown := set(only) - set(cases):
        raise SystemExit(f"unknown cases: {sorted(unknown)}; choose from {', '.join(cases)}")
    wanted = set(only or cases)
    for name in reversed(cases):
        wanted |= set(cases[name].needs) if name in wanted else set()
    if runs is not None:
        left_out = shutil.ignore_patterns("out")
        shutil.copytree(runs / "work", out / "work", symlinks=True, ignore=left_out)
    recorder = Recorder(out, source, runs)
    with recorder.server:
        for name in (name for name in cases if name in wanted):
            recorder.run(name, cases[name])
    facts = {"source": str(source), "seconds": recorder.seconds, "failed": recorder.failed}
    (out / "record.json").write_text(json.dumps(facts, indent=1))
    wall, cpu = (sum(each[key] for each in recorder.seconds.values()) for key in ("wall", "cpu"))
    print(f"{wall:.0f} s, {cpu:.0f} s of CPU, {len(recorder.failed)} unexpected exit codes")
    return 1 if recorder.failed else 0


@dataclass
class Recorder:
    """Runs cases.

    Args:
        out: the recording's folder.
        source: root of the checkout.
        runs: another recording, whose trainings are not repeated.
        seconds: of each case, on the clock and of the processor.
        failed: steps that ended with an exit code that their case does not expect.
    """

    out: Path
    source: Path
    runs: Path | None = None
    seconds: dict[str, dict[str, float]] = field(default_factory=dict)
    failed: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.work, self.used = self.out / "work", 0.0
        self.work.mkdir(parents=True, exist_ok=True)
        dropped = ("HERON_", "PYTHONDONTWRITEBYTECODE")
        kept = {name: text for name, text in os.environ.items() if not name.startswith(dropped)}
        ours = {
            "PYTHONPATH": str(self.source / "src"),
            "PYTHONPYCACHEPREFIX": str(self.out / "bytecode"),
            "HF_HUB_OFFLINE": "1",
            "WANDB_MODE": "offline",
            "OMP_NUM_THREADS": "1",
            "TOKENIZERS_PARALLELISM": "false",
            "COLUMNS": "120",
            "TZ": "UTC",
        }
        self.place: dict[str, Any] = {"cwd": self.work, "env": {**kept, **ours}, "text": True}
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
        self.server = subprocess.Popen([sys.executable, "-c", _SERVER], **self.place, **pipes)

    def run(self, name: str, case: Case) -> None:
        """Run the steps of a case one after the other."""
        folder = self.out / "steps" / name
        folder.mkdir(parents=True)
        started, used = time.monotonic(), self._cpu()
        for number, step in enumerate(case.steps):
            words = shlex.split(step)
            if "train" in words:
                words[(start := words.index("train") + 1) : start] = shlex.split(case.common)
            words = [re.sub(r"<(.+?)>", self._find, word) for word in words]
            if words[0] in ("train", "@cut") and self.runs is not None and not case.fails:
                for kept in (self.runs / "steps" / name).glob(f"{number:02}.*"):
                    shutil.copy(kept, folder)
            elif words[0] in _TOOLS:
                _TOOLS[words[0]](self, folder, *words[1:])
            else:
                self._command(words, folder / f"{number:02}", case.fails)
        wall, cpu = time.monotonic() - started, self._cpu() - used
        self.seconds[name] = {"wall": round(wall, 1), "cpu": round(cpu, 1)}
        print(f"{name:<14}{wall:7.1f} s{cpu:7.1f} s of CPU", flush=True)

    def _cpu(self) -> float:
        """Read the seconds of the processor that finished commands have taken."""
        return self.used + sum(os.times()[2:4])

    def _find(self, found: re.Match[str]) -> str:
        paths = [str(path.relative_to(self.work)) for path in self.work.glob(found[1])]
        return paths[0] if len(paths) == 1 else f"{len(paths)}-paths-match-{found[1]}"

    def _command(self, words: Sequence[str], place: Path, fails: bool) -> None:
        order = {"words": words, "out": f"{place}.txt", "err": f"{place}.err"}
        print(json.dumps(order), file=self.server.stdin, flush=True)
        assert self.server.stdout is not None
        code, used = self.server.stdout.readline().split()
        self.used = float(used)
        said = f"{code}: heron {shlex.join(words)}\n"
        Path(f"{place}.code").write_text(said, "utf-8")
        if (code != "0") != fails:
            self.failed.append(f"{place.parent.name}/{place.name}")
            print(said, Path(f"{place}.err").read_text("utf-8", "replace")[-2000:], flush=True)


def _cut(recorder: Recorder, folder: Path, run: str, *words: str) -> None:
    """Begin a training and kill it as soon as it has saved its state."""
    null = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.DEVNULL)
    command = [sys.executable, "-m", "heron", *words]
    with subprocess.Popen(command, **recorder.place, **null) as process:
        while process.poll() is None and not any((recorder.work / run).glob("checkpoints/last*")):
            time.sleep(0.01)
        process.kill()


def _compose(recorder: Recorder, folder: Path) -> None:
    """Compose experiments under each protocol, their grids, and data sets, a file each."""
    conf, listed = recorder.source / "conf", []
    for path in sorted((conf / "experiment").rglob("*.yaml")):
        name = path.relative_to(conf / "experiment").with_suffix("").as_posix()
        for protocol in ("fixed", "paper", "repo"):
            words = [f"experiment={name}", f"protocol={protocol}", "--cfg", "job", "--resolve"]
            listed.append((f"experiment {name} {protocol}", words))
        if "MULTIRUN" in path.read_text("utf-8"):
            grid = [f"experiment={name}", "--cfg", "hydra", "--package", "hydra.sweeper.params"]
            listed.append((f"grid {name}", grid))
    for path in sorted((conf / "data").glob("*.yaml")):
        listed.append((f"data {path.stem}", [f"data={path.stem}", "--cfg", "job", "--resolve"]))
    files = [
        (f"{folder / name.replace('/', ' ')}.txt", ["train", *words]) for name, words in listed
    ]
    command = [sys.executable, "-c", _COMPOSE]
    null = {"stderr": subprocess.DEVNULL}
    subprocess.run(command, **recorder.place, **null, input=json.dumps(files), check=True)


def _make_table(recorder: Recorder, folder: Path, source: str, target: str, *names: str) -> None:
    """Write columns (`name` or `name:new name`) of a Parquet file as a table, or {id: text}."""
    pairs = [name.partition(":")[::2] for name in names]
    table = pd.read_parquet(recorder.work / source)[[old for old, _ in pairs]]
    table.columns = [new or old for old, new in pairs]
    path = recorder.work / target
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.suffix == ".csv":
        table.to_csv(path, index=False)
    elif path.suffix == ".jsonl":
        table.to_json(path, orient="records", lines=True, force_ascii=False)
    else:
        ids, texts = (table[name].tolist() for name in table)
        path.write_text(json.dumps(dict(zip(ids, texts, strict=True))))


def _fill_forms(recorder: Recorder, folder: Path, forms: str, target: str, *names: str) -> None:
    """Fill the CSV forms of a study; the ratings follow from the lengths of the summaries."""
    (recorder.work / target).mkdir(parents=True)
    for number, path in enumerate(sorted((recorder.work / forms).glob("*.csv"))):
        with path.open(encoding="utf-8-sig", newline="") as file:
            rows = list(csv.DictReader(file))
        for place, row in enumerate(rows):
            for shift, name in enumerate(names):
                row[name] = str(1 + (len(row["summary"]) // 7 + shift + place % (number + 2)) % 5)
        filled = recorder.work / target / path.name
        with filled.open("w", encoding="utf-8", newline="") as file:
            writer = csv.DictWriter(file, rows[0])
            writer.writeheader()
            writer.writerows(rows)


_TOOLS: dict[str, Callable[..., None]] = {
    "@cut": _cut,
    "@compose": _compose,
    "@table": _make_table,
    "@fill": _fill_forms,
}
