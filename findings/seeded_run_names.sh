#!/usr/bin/env bash
# mlflow 3.17.2: starting a run without a name draws its name from the program's random generator.
#
# Expected: run names differ, and logging leaves the program's random numbers alone. Seen: after
# `random.seed(0)`, which seed_everything calls, all runs have one name; and `random` gives other
# numbers than in the same program without MLflow. With a name of one's own (`run_name=`) it does not.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install --quiet --disable-pip-version-check mlflow-skinny==3.17.2
cd "$folder"
MLFLOW_DISABLE_TELEMETRY=true MLFLOW_ALLOW_FILE_STORE=true "$folder/env/bin/python" - <<'PYTHON'
import random

import mlflow

mlflow.set_tracking_uri("file:runs")


def started(**options):
    """Start a run after seeding; returns its name, and the program's next random number."""
    random.seed(0)
    with mlflow.start_run(**options) as run:
        return run.info.run_name, random.random()


random.seed(0)
without_mlflow = random.random()
(first, number), (second, _) = started(), started()
_, named = started(run_name="mine")
print(f"mlflow {mlflow.__version__}: two runs are called {first} and {second};")
print(f"the next random number is {number:.3f}, without MLflow and in a named run {without_mlflow:.3f}")
assert named == without_mlflow
assert first == second, "seeded runs have different names now"
assert number != without_mlflow, "starting a run leaves the random numbers alone now"
PYTHON
