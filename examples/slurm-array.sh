#!/bin/sh
# An array job over the sequences of a manifest. A task runs every N-th of them. A task that is stopped
# is requeued, and runs the sequences whose outputs do not exist yet.
#
#     sbatch --array=0-39 examples/slurm-array.sh model.xml calls.manifest --keep-going
#     SHARDS=40 sbatch --array=7 examples/slurm-array.sh ...    # task 7 of 40 again
#
# Further options go to irrun. irrun must be on the PATH of the nodes; the array starts at 0.
# SPDX-License-Identifier: Apache-2.0
#SBATCH --requeue
#SBATCH --open-mode=append
#SBATCH --signal=B:TERM@30

model=$1 manifest=$2
shift 2
irrun "$model" --manifest="$manifest" --shard="$SLURM_ARRAY_TASK_ID/${SHARDS:-$SLURM_ARRAY_TASK_COUNT}" \
    --skip-existing "$@" &
child=$!
trap 'kill -TERM $child' TERM
wait $child
status=$?
while kill -0 $child 2>/dev/null; do # the trap interrupted wait
    wait $child
    status=$?
done
case $status in
75 | 143) # stopped: run the rest later
    scontrol requeue "${SLURM_ARRAY_JOB_ID}_$SLURM_ARRAY_TASK_ID" ;;
esac
exit $status
