"""The dashboard of a sweep as a saved W&B workspace.

Needs an account and the package `wandb-workspaces` (Apache-2.0), which heron does not install.
"""

import os
from collections.abc import Sequence
from typing import Any

from heron.base.errors import ConfigError, first_line
from heron.metrics.names import copied_names, is_copied, is_minimised, with_copied
from heron.results.collect import RunRecord, headline_metrics
from heron.results.systems import is_seed, varying_keys

PACKAGE = "wandb-workspaces==0.4.13"


def save_workspace(sweep: str, runs: Sequence[RunRecord], entity: str | None = None) -> str:
    """Save the workspace in the runs' W&B project; returns its address.

    `sweep` is the runs' group in W&B; `entity` a user or team, default: the account's.

    Raises:
        ConfigError: the package is missing, no account is known, or the server refuses.
    """
    try:
        import wandb  # optional: logger=wandb
        import wandb_workspaces.workspaces  # noqa: F401
    except ImportError as error:
        raise ConfigError(
            "wandb=true needs a package that is not installed: "
            f"python -m pip install {PACKAGE}. The local page is written without it"
        ) from error

    try:
        owner = entity or _named(runs, "entity") or wandb.Api().default_entity
        if not owner:
            raise ConfigError("the W&B account has no default entity; name one with entity=NAME")
        saved = build_workspace(sweep, runs, owner).save()
    # Errors of wandb, errors of requests and ValueErrors all mean that it was not saved.
    except Exception as error:
        if isinstance(error, ConfigError):
            raise
        why = first_line(error) or type(error).__name__
        raise ConfigError(
            f"W&B did not save the workspace: {why}. `wandb login` signs in; the local page needs "
            "no account"
        ) from error

    return str(saved.url)


def build_workspace(sweep: str, runs: Sequence[RunRecord], entity: str) -> Any:
    """Build the workspace, without saving it: settings and score, curves, final scores.

    Names are those by which `heron.training.wandb_logger` records runs.
    """
    import wandb_workspaces.reports.v2 as panels  # optional, see the module
    import wandb_workspaces.workspaces as views

    metrics = headline_metrics(runs)
    monitor = watched_score(runs) or "macro_f1"
    monitored = f"scores/validation/{monitor}"
    settings = [_path(runs, key) for key in varying_keys(runs) if not is_seed(key)]

    columns = [panels.ParallelCoordinatesPlotColumn(panels.Config(path)) for path in settings]
    columns.append(panels.ParallelCoordinatesPlotColumn(panels.SummaryMetric(monitored)))

    curves = [["train/loss"], ["validation/loss"]]
    for name in (monitor, *copied_names(monitor)):
        curves.append([f"validation/{name}"])

    bars = []
    for split in ("validation", "test"):
        for metric in metrics:
            if not is_copied(metric):
                names = with_copied([metric], metrics)
                scores = [panels.SummaryMetric(f"scores/{split}/{name}") for name in names]
                bars.append(panels.BarPlot(metrics=scores))

    sections = [
        views.Section(
            name="Settings and score",
            panels=[panels.ParallelCoordinatesPlot(columns=columns)],
            is_open=True,
            layout_settings=views.SectionLayoutSettings(columns=1, rows=1),
        ),
        views.Section(
            name="Learning curves",
            panels=[panels.LinePlot(x="trainer/global_step", y=names) for names in curves],
            is_open=True,
        ),
        views.Section(name="Final scores", panels=bars),
        views.Section(name="Differences", panels=[panels.RunComparer(diff_only="split")]),
    ]
    group = _named(runs, "group") or sweep
    project = _named(runs, "project") or os.environ.get("WANDB_PROJECT", "heron")
    return views.Workspace(
        entity=entity,
        project=str(project),
        name=f"heron: {sweep}",
        sections=sections,
        runset_settings=views.RunsetSettings(
            filters=[views.Metric("System") == group],
            order=[views.Ordering(views.Summary(monitored), ascending=is_minimised(monitor))],
            pinned_columns=[f"summary:{monitored}", *(f"config:{path}" for path in settings)],
        ),
    )


def _named(runs: Sequence[RunRecord], key: str) -> Any:
    """Read a setting of W&B's logger."""
    return runs[0].setting(f"logger.wandb.{key}")


def _path(runs: Sequence[RunRecord], key: str) -> str:
    """Name a setting as W&B does; for a config group (`head=ess`), its `name`."""
    is_config_group = any(isinstance(run.setting(key), dict) for run in runs)
    return f"{key}.name" if is_config_group else key


def watched_score(runs: Sequence[RunRecord]) -> str:
    """Return the score of `trainer.monitor`; if no run names one, the first headline score."""
    for run in runs:
        monitor = run.setting("trainer.monitor")
        if monitor:
            return str(monitor)
    return next(iter(headline_metrics(runs)), "")
