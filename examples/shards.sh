#!/bin/sh
# Slurm: the runs of `bestarm run` as a job array, a shard per task.
#
#     sbatch --array=1-8 shards.sh 8 my-instance.yaml --reps 10000 --delta 0.05
#     bestarm merge shards/*.parquet --csv statistics.csv     # when all are done
#
# A task that failed is done again by `sbatch --array=3 shards.sh 8 ...`, with its number.
#SBATCH --cpus-per-task=1
#SBATCH --mem=1500
#SBATCH --time=60
set -eu
shards=$1
shift
exec bestarm run "$@" --cores "${SLURM_CPUS_PER_TASK:-1}" \
    --shard "$SLURM_ARRAY_TASK_ID/$shards" --out "shards/$SLURM_ARRAY_TASK_ID.parquet"
