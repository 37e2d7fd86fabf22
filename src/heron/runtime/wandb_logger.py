"""Weights & Biases beside `metrics.csv`: one W&B run per run folder, continued on resume."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from pytorch_lightning.loggers import WandbLogger

from heron.config import as_dict
from heron.files import fingerprint
from heron.runtime.run_folder import RunFolder
from heron.schema import Config


def wandb_logger(config: Config, folder: RunFolder) -> WandbLogger:
    """Open the W&B run of a run folder.

    The id follows from the sweep and the job, so a resumed job goes on in the same W&B run.
    """
    sweep, job = folder.path.parent.name, folder.path.name
    return WandbLogger(
        name=job,
        group=sweep,
        id=fingerprint(sweep, job)[:16],
        project=config.logger.project,
        save_dir=folder.path,
        mode=config.logger.mode,
        resume="allow",
        job_type="train",
        tags=[
            config.task.name,
            config.data.language,
            config.head.name,
            f"protocol={config.protocol}",
        ],
        config=as_dict(config),
    )


@contextmanager
def wandb_closed() -> Iterator[None]:
    """Close the W&B run when the block ends, as a failed one when the block fails.

    Otherwise the next job of a sweep would log into it, and a failed run would look finished.
    """
    import wandb

    try:
        yield
    except BaseException:
        wandb.finish(exit_code=1)
        raise
    wandb.finish()
