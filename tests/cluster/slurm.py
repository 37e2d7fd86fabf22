"""A SLURM of one machine in a temporary folder: munged, slurmctld and a slurmd for each node.

Needs Debian's `slurm-wlm` (which brings munge). Everything listens on the loopback address, and
only processes that were started here are ended.
"""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

PROGRAMS = ("munged", "slurmctld", "slurmd", "srun")
INSTALL = "apt-get install slurm-wlm"
TESTS = str(Path(__file__).parents[1])
# `PYTHONPATH` of what the tests start: it finds `cluster.pace`.
MODULES = os.pathsep.join([TESTS, *sys.path])
GRACE = 6  # seconds between SIGTERM and the end of a preempted job

_CONFIGURATION = """\
ClusterName=heron
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={controller_port}
SlurmUser={user}
SlurmdUser={user}
AuthType=auth/munge
CredType=cred/munge
AuthInfo=socket={folder}/munge.socket,cred_expire=5
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool.%n
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.%n.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.%n.log
MpiDefault=none
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SwitchType=switch/none
AccountingStorageType=accounting_storage/none
JobAcctGatherType=jobacct_gather/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SchedulerType=sched/backfill
SchedulerParameters=sched_interval=5,bf_interval=5
PreemptType=preempt/partition_prio
PreemptMode=REQUEUE
JobRequeue=1
ReturnToService=2
SlurmdTimeout=15
KillWait=15
MinJobAge=300
MailProg=/bin/true
"""
_NODE = (
    "NodeName={name} NodeHostname={host} NodeAddr=127.0.0.1 Port={port} CPUs=2 RealMemory=2000\n"
)
_PARTITIONS = f"""\
PartitionName=low Nodes=ALL Default=YES PriorityTier=1 PreemptMode=REQUEUE GraceTime={GRACE}
PartitionName=high Nodes=ALL PriorityTier=10 PreemptMode=OFF
"""


def missing_programs() -> list[str]:
    """List the programs of SLURM that are not installed."""
    return [name for name in PROGRAMS if shutil.which(name) is None]


class Slurm:
    """A running cluster; its commands find it by `SLURM_CONF`, which `environment` holds."""

    def __init__(self, folder: Path, nodes: int = 1):
        self.folder = folder
        self.nodes = [f"node{number}" for number in range(1, nodes + 1)]
        self.environment = {**os.environ, "SLURM_CONF": str(folder / "slurm.conf")}
        self.environment["PYTHONPATH"] = MODULES
        self._processes: dict[str, subprocess.Popen[bytes]] = {}
        self._configure()

    def _configure(self) -> None:
        self.folder.mkdir(parents=True)
        self.folder.chmod(0o755)  # munged refuses a socket below a folder that others may write
        (self.folder / "state").mkdir()

        controller_port, *node_ports = _free_ports(1 + len(self.nodes))
        host = socket.gethostname().partition(".")[0]
        user = _user()
        text = _CONFIGURATION.format(
            host=host, user=user, folder=self.folder, controller_port=controller_port
        )
        for name, port in zip(self.nodes, node_ports, strict=True):
            (self.folder / f"spool.{name}").mkdir()
            text += _NODE.format(name=name, host=host, port=port)
        (self.folder / "slurm.conf").write_text(text + _PARTITIONS, encoding="utf-8")

        key = self.folder / "munge.key"
        key.write_bytes(os.urandom(128))
        key.chmod(0o600)

    def start(self) -> None:
        """Start all daemons; returns when every node is idle."""
        folder = self.folder
        self._run_daemon(
            "munged",
            "--foreground",
            "--force",
            f"--key-file={folder}/munge.key",
            f"--socket={folder}/munge.socket",
            f"--pid-file={folder}/munged.pid",
            f"--log-file={folder}/munged.log",
            f"--seed-file={folder}/munged.seed",
        )
        wait_for(lambda: (folder / "munge.socket").exists(), "munged's socket", 20)
        self._run_daemon("slurmctld", "-D", "-f", f"{folder}/slurm.conf")
        for name in self.nodes:
            self.start_node(name)
        wait_for(self._is_idle, f"idle nodes (see {folder}/*.log)", 60)

    def start_node(self, name: str) -> None:
        """Start the daemon of a node."""
        self._run_daemon(
            "slurmd", "-D", "-f", f"{self.folder}/slurm.conf", "-N", name, as_name=name
        )

    def kill_node(self, name: str) -> None:
        """Kill the daemon of a node and all that it has started, as if its power were cut."""
        daemon = self._processes.pop(name)
        pids = [daemon.pid, *self._job_processes()]
        for sent in (signal.SIGSTOP, signal.SIGKILL):  # none sees the others die
            for pid in pids:
                _send(pid, sent)
        daemon.wait()

    def _job_processes(self) -> list[int]:
        """List the processes of jobs, and SLURM's own that watch them."""
        pids = []
        for entry in Path("/proc").glob("[0-9]*"):
            try:
                arguments = (entry / "cmdline").read_text(errors="replace")
                variables = (entry / "environ").read_text(errors="replace")
            except OSError:
                continue
            is_of_a_job = "SLURM_JOB_ID=" in variables or arguments.startswith("slurmstepd")
            if is_of_a_job and str(self.folder) in variables:
                pids.append(int(entry.name))
        return pids

    def _run_daemon(self, *words: str, as_name: str | None = None) -> None:
        name = as_name or words[0]
        program = shutil.which(words[0]) or words[0]
        with open(self.folder / f"{name}.out", "wb") as output:
            self._processes[name] = subprocess.Popen(
                [program, *words[1:]],
                env=self.environment,
                stdout=output,
                stderr=output,
                start_new_session=True,
            )

    def _is_idle(self) -> bool:
        states = self.command("sinfo", "-h", "-N", "-p", "low", "-o", "%t", check=False).split()
        return len(states) == len(self.nodes) and set(states) == {"idle"}

    def command(self, *words: str, check: bool = True, **options: object) -> str:
        """Run one of SLURM's commands on the cluster; returns what it prints."""
        completed = subprocess.run(
            words,
            env=self.environment,
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
            **options,  # type: ignore[call-overload]
        )
        if check and completed.returncode:
            raise RuntimeError(f"{' '.join(words)}: {completed.stderr}")
        return str(completed.stdout)

    def job(self, number: str) -> dict[str, str]:
        """Read what the controller knows of a job; empty where it knows none."""
        text = self.command("scontrol", "--oneliner", "show", "job", number, check=False)
        fields = {}
        for line in text.splitlines():
            for word in line.split():
                key, equals, value = word.partition("=")
                if equals:
                    fields[key] = value
        return fields

    def state(self, number: str) -> str:
        """Read the state of a job, such as RUNNING."""
        return self.job(number).get("JobState", "")

    def running(self) -> list[str]:
        """List the numbers of the running jobs; of an array's, with the task's number."""
        return self.command("squeue", "-h", "-r", "-t", "RUNNING", "-o", "%i").split()

    def submit(self, script: str, *options: str, folder: Path) -> str:
        """Submit a batch script; returns the job's number."""
        path = folder / "job.sh"
        path.write_text(script, encoding="utf-8")
        words = ["sbatch", "--parsable", *options, str(path)]
        return self.command(*words, cwd=folder).strip()

    def preempt(self, seconds: int = 5, cpus: int = 2) -> str:
        """Ask for all cores with the higher priority; returns the job's number."""
        words = ["sbatch", "--parsable", "-p", "high", "-c", str(cpus), "-o", "/dev/null"]
        return self.command(*words, f"--wrap=sleep {seconds}", cwd=self.folder).strip()

    def stop(self) -> None:
        """Cancel all jobs and end what was started here."""
        self.command("scancel", "-f", "-u", _user(), check=False)
        for pid in self._job_processes():
            _send(pid, signal.SIGKILL)
        for process in reversed(self._processes.values()):
            process.terminate()
        for process in self._processes.values():
            try:
                process.wait(timeout=10)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        self._processes = {}


def wait_for(condition: Callable[[], object], what: str, seconds: float) -> None:
    """Wait until a function returns a true value."""
    until = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > until:
            raise TimeoutError(f"no {what} within {seconds:.0f} s")
        time.sleep(0.2)


def _free_ports(number: int) -> list[int]:
    sockets = [socket.socket() for _ in range(number)]
    for free in sockets:
        free.bind(("127.0.0.1", 0))
    ports = [free.getsockname()[1] for free in sockets]
    for free in sockets:
        free.close()
    return ports


def _user() -> str:
    import pwd

    return pwd.getpwuid(os.getuid()).pw_name


def _send(pid: int, number: int) -> None:
    with suppress(ProcessLookupError):
        os.kill(pid, number)
