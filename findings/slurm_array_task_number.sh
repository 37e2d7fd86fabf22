#!/usr/bin/env bash
# SLURM 22.05.8: in one task of an array, SLURM_JOB_ID is the number of the whole array.
#
# Expected: `scontrol requeue "$SLURM_JOB_ID"` in a task of an array requeues that task, as in any
# other job. Seen: in the array's last task, whose own number is the array's, it requeues every
# task; the others lose what they have not saved. Both numbers, ARRAY_TASK, name one task.
# A SLURM of one node runs on the loopback address; Debian 12's packages are only unpacked.
set -euo pipefail
folder=$(mktemp -d)
pids=()
stop() {
	for pid in "${pids[@]}"; do kill "$pid" 2>/dev/null || true; done
	wait 2>/dev/null || true
	rm -rf "$folder"
}
trap stop EXIT
version=22.05.8-4+deb12u3
mkdir "$folder/packages" "$folder/root" "$folder/state" "$folder/spool"
chmod 755 "$folder"
(cd "$folder/packages" && apt-get download -qq "slurmctld=$version" "slurmd=$version" \
	"slurm-client=$version" "slurm-wlm-basic-plugins=$version" munge libmunge2 libhwloc15 2>/dev/null)
for package in "$folder"/packages/*.deb; do dpkg-deb -x "$package" "$folder/root"; done
libraries=$(echo "$folder"/root/usr/lib/*-linux-gnu)
export LD_LIBRARY_PATH="$libraries:$libraries/slurm-wlm"
export PATH="$folder/root/usr/bin:$folder/root/usr/sbin:$PATH"
export SLURM_CONF="$folder/slurm.conf"
ports=($(python3 -c '
import socket
ends = [socket.create_server(("127.0.0.1", 0)) for _ in range(2)]
print(*(end.getsockname()[1] for end in ends))'))
host=$(hostname -s)
cat >"$SLURM_CONF" <<CONF
ClusterName=finding
SlurmctldHost=$host(127.0.0.1)
SlurmctldPort=${ports[0]}
SlurmUser=$(id -un)
SlurmdUser=$(id -un)
AuthType=auth/munge
AuthInfo=socket=$folder/munge.socket
PluginDir=$libraries/slurm-wlm
StateSaveLocation=$folder/state
SlurmdSpoolDir=$folder/spool
SlurmctldPidFile=$folder/slurmctld.pid
SlurmdPidFile=$folder/slurmd.pid
MpiDefault=none
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
MailProg=/bin/true
NodeName=node1 NodeHostname=$host NodeAddr=127.0.0.1 Port=${ports[1]} CPUs=2
PartitionName=all Nodes=ALL Default=YES
CONF
head -c 128 /dev/urandom >"$folder/munge.key"
chmod 600 "$folder/munge.key"
munged --foreground --force --key-file="$folder/munge.key" --socket="$folder/munge.socket" \
	--pid-file="$folder/munged.pid" --log-file="$folder/munged.log" \
	--seed-file="$folder/munged.seed" >/dev/null 2>&1 &
pids+=($!)
sleep 2
slurmctld-wlm -D >"$folder/slurmctld.log" 2>&1 &
pids+=($!)
slurmd-wlm -D -N node1 -d "$folder/root/usr/sbin/slurmstepd-wlm" >"$folder/slurmd.log" 2>&1 &
pids+=($!)
until [ "$(sinfo -h -o %t 2>/dev/null)" = idle ]; do sleep 1; done

array=$(sbatch --parsable --array=0-1 -o "$folder/%a.out" --wrap 'echo "$SLURM_JOB_ID"; sleep 60')
until [ -s "$folder/0.out" ] && [ -s "$folder/1.out" ]; do sleep 1; done
last=$(cat "$folder/1.out")
scontrol requeue "$last"
sleep 3
restarts() { scontrol show job "$1" | sed -n 's/.*Restarts=\([0-9]*\).*/\1/p'; }
first=$(restarts "${array}_0")
scancel "$array"
echo "SLURM 22.05.8: task 1 of array $array has SLURM_JOB_ID=$last;" \
	"scontrol requeue $last has also restarted task 0 ($first restart)"
[ "$last" = "$array" ] || { echo "the last task has a number of its own now"; exit 1; }
[ "$first" = 1 ] || { echo "requeueing the last task leaves the others alone now"; exit 1; }
