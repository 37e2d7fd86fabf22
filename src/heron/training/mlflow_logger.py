"""MLflow beside `metrics.csv`: one MLflow run per run folder, continued on resume."""

from pathlib import Path
from typing import Any

from pytorch_lightning.loggers import MLFlowLogger

from heron.base.files import fingerprint, locked, read_json, write_json
from heron.base.run_folder import RunFolder

_DATABASE = "sqlite:///"  # before the path of the file


class MLFlowFolderLogger(MLFlowLogger):
    """Lightning's logger, with the run that the folder had before."""

    def __init__(
        self,
        save_dir: str,
        tracking_uri: str,
        experiment_name: str = "heron",
        run_name: str | None = None,
        run_id: str | None = None,
        tags: dict[str, Any] | None = None,
        log_model: bool | str = False,
        prefix: str = "",
        artifact_location: str | None = None,
    ):
        """Open the folder's run, or make one.

        Args:
            save_dir: the run folder.
            tracking_uri: of MLflow's server or database.
            experiment_name: of MLflow.
            run_name: of a new run; default: sweep and job. MLflow would draw it from `random`, so
                that all runs with one seed had one name.
            run_id: of the run to continue; default: the folder's.
            tags, log_model, prefix, artifact_location: as Lightning's.
        """
        folder = RunFolder(Path(save_dir))
        record = folder.last.parent / "mlflow.json"  # beside `last.ckpt`: starting over removes it
        server = fingerprint(tracking_uri)  # which may have a password
        stored = read_json(record) if record.is_file() else {}
        if not run_id and stored.get("server") == server:
            run_id = _if_kept(stored["run_id"], tracking_uri)

        # The first process makes the database and the experiment; at once, all but one would fail.
        with locked(_lock_file(tracking_uri, folder)):
            super().__init__(
                experiment_name=experiment_name,
                run_name=run_name or f"{folder.path.parent.name}/{folder.path.name}",
                tracking_uri=tracking_uri,
                tags=tags,
                log_model=log_model,
                prefix=prefix,
                artifact_location=artifact_location,
                run_id=run_id,
            )
            client = self.experiment

        self._is_resumed = run_id is not None
        if self._is_resumed:
            client.update_run(self.run_id, status="RUNNING")
        write_json(record, {"server": server, "run_id": self.run_id})

    def log_hyperparams(self, params: Any) -> None:
        """Store the configuration of a new run; MLflow refuses another value in an old one."""
        if not self._is_resumed:
            super().log_hyperparams(params)


def _lock_file(tracking_uri: str, folder: RunFolder) -> Path:
    """Name the file that jobs of one server lock: beside a database, or else beside the sweeps."""
    if tracking_uri.startswith(_DATABASE):
        return Path(f"{tracking_uri.removeprefix(_DATABASE)}.lock")
    return folder.path.parent.parent / f".mlflow-{fingerprint(tracking_uri)}.lock"


def _if_kept(run_id: str, tracking_uri: str) -> str | None:
    """Return a run's id; None where somebody has deleted the run."""
    from mlflow.exceptions import MlflowException  # an optional package
    from mlflow.tracking import MlflowClient

    try:
        stage = MlflowClient(tracking_uri).get_run(run_id).info.lifecycle_stage
    except MlflowException as error:
        if error.error_code != "RESOURCE_DOES_NOT_EXIST":
            raise
        return None
    return run_id if stage == "active" else None
