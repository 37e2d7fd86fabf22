"""`heron train`: compose with Hydra, run one job or a sweep, report."""

from __future__ import annotations

import sys
import traceback
from collections.abc import Sequence

from heron import repeat
from heron.composition import Composition, compose_and_run
from heron.config import resolve
from heron.errors import HeronError
from heron.runtime.notices import begin
from heron.runtime.run_folder import RunFolder, run_path


def run(arguments: Sequence[str]) -> int:
    """Train as the command line says; returns the exit code."""
    begin()
    if any(word.startswith(repeat.FLAG) for word in arguments):
        return repeat.run(arguments)
    jobs: list[str] = []
    failed: list[str] = []
    folders: list[RunFolder] = []

    def job(composition: Composition) -> None:
        jobs.append(", ".join(composition.overrides))
        # One job's failure must not take the rest of a sweep with it.
        try:
            folders.append(_run_job(composition))
        except Exception as error:
            failed.append(jobs[-1])
            if not isinstance(error, HeronError | OSError):
                traceback.print_exc()
            print(f"heron train: {error}", file=sys.stderr, flush=True)

    compose_and_run("train", arguments, job)
    if folders:
        _report(folders)
    if failed and len(jobs) > 1:
        print(f"heron train: {len(failed)} of {len(jobs)} jobs failed:", file=sys.stderr)
        print(*(f"  {overrides}" for overrides in failed), sep="\n", file=sys.stderr)
    return 2 if failed else 0


def _run_job(composition: Composition) -> RunFolder:
    config = resolve(composition.config)
    config.experiment = composition.choices.get("experiment")
    folder = RunFolder(run_path(config, composition.overrides))
    done = config.run.resume and folder.state() == "done"
    note = ": done already; run.resume=false starts over" if done else ""
    print(f"heron train: {folder.path}{note}", flush=True)
    # Lightning and transformers take seconds to import; a typo in a key should not wait for them.
    from heron.runtime.job import run_job

    run_job(config, folder, composition.overrides)
    return folder


def _report(folders: Sequence[RunFolder]) -> None:
    from heron.reporting.report import write_report

    files = write_report(folders[0].path if len(folders) == 1 else folders[0].path.parent)
    for path in (files.html, files.figure, *files.tables):
        print(path)
