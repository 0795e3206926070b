#!/usr/bin/env bash
# Runs examples/slurm-array.sh on a Slurm of one node that it starts itself: 40 tasks over 200
# sequences, three of them stopped and one killed on the way. The outputs must be those of one
# process. Needs munge, slurmctld and slurmd, and root: slurmd starts jobs as their users.
# SPDX-License-Identifier: Apache-2.0
# shellcheck disable=SC1091,SC2154 # sequences.sh sets the names
set -euo pipefail
. "$(dirname "$0")/sequences.sh"
PATH=$PATH:/usr/sbin
for need in munged slurmctld slurmd sbatch; do
    command -v "$need" >/dev/null || { echo "slurm: skipped: no $need"; exit 77; }
done
[ "$(id -u)" -eq 0 ] || { echo "slurm: skipped: it needs root"; exit 77; }

dir=$(mktemp -d)
chmod 755 "$dir"
pids=()
stop() {
    [ -z "${pids[*]-}" ] || kill "${pids[@]}" 2>/dev/null || :
    wait
    [ -n "${KEEP-}" ] || rm -rf "$dir"
}
trap stop EXIT
trap 'exit 143' TERM INT
cd "$dir"

# ---- a cluster of one node, on the loopback interface
mkdir key spool state logs
chmod 700 key
dd if=/dev/urandom of=key/key bs=1024 count=1 2>/dev/null
chmod 400 key/key
host=$(hostname -s)
cat >slurm.conf <<END
ClusterName=test
SlurmctldHost=$host(127.0.0.1)
SlurmUser=root
AuthInfo=socket=$dir/key/socket
AuthType=auth/munge
CryptoType=crypto/munge
CredType=cred/munge
SlurmctldPort=16817
SlurmdPort=16818
SlurmctldPidFile=$dir/slurmctld.pid
SlurmdPidFile=$dir/slurmd.pid
StateSaveLocation=$dir/state
SlurmdSpoolDir=$dir/spool
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
MpiDefault=none
ReturnToService=2
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SchedulerParameters=sched_interval=1,batch_sched_delay=0
MinJobAge=600
RequeueExit=137,265
NodeName=$host NodeAddr=127.0.0.1 CPUs=$(nproc) State=UNKNOWN
PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP
END
sed -i '/^CryptoType/d' slurm.conf
export SLURM_CONF=$dir/slurm.conf
munged --foreground --force --key-file=key/key --socket=key/socket --pid-file=key/pid \
    --seed-file=key/seed --log-file=logs/munged 2>logs/munged.err & pids+=($!)
sleep 1
slurmctld -D -f slurm.conf >logs/slurmctld 2>&1 & pids+=($!)
slurmd -D -N "$host" -f slurm.conf >logs/slurmd 2>&1 & pids+=($!)
for ((i = 0; i < 60; i++)); do
    sinfo -h -o %T 2>/dev/null | grep -q idle && break
    sleep 0.5
done
sinfo -h -o %T | grep -q idle || { tail -5 logs/*; exit 1; }

# ---- the array, slowly, so that some tasks can be stopped on the way
make_sequences
PATH="$dir/slow:$PATH" sbatch --array=0-39 --output="$dir/logs/task-%a" \
    "$root/examples/slurm-array.sh" "$model" "$dir/many.manifest"
stopped=0 done=none
for ((i = 0; i < 200 && stopped < 4; i++)); do
    sleep 0.3
    task=$(squeue -h -r -t RUNNING -o %i | grep -vwF "$done" | head -1 || :)
    [ -n "$task" ] || continue
    how=(--signal=TERM --batch)
    [ "$stopped" -lt 3 ] || how=(--signal=KILL --full) # a node that fails; RequeueExit runs it again
    timeout 5 scancel "${how[@]}" "$task" 2>>logs/scancel || : # waits if the task is ending
    echo "stopped task $task"
    done=$done$'\n'$task
    stopped=$((stopped + 1))
done
for ((i = 0; i < 600; i++)); do
    [ -n "$(squeue -h)" ] || break
    sleep 0.5
done
echo "$(find many -name "*.csv" | wc -l) outputs of 40 tasks, $stopped of them stopped on the way"
diff -r one many
[ "$stopped" -eq 4 ]
echo "the same bytes as one process"
