#!/usr/bin/env bash
# Runs the examples for Spark on a local cluster of two workers, one of which is killed on the way.
# The outputs must be those of one process. Needs pyspark, pyarrow, pandas and NumPy in PYTHON
# (python3), and a JDK for the example in Java.
# SPDX-License-Identifier: Apache-2.0
# shellcheck disable=SC1091,SC2154 # sequences.sh sets the names
set -euo pipefail
. "$(dirname "$0")/sequences.sh"
python=${PYTHON:-python3}
SPARK_HOME=$("$python" -c 'import numpy, pandas, pyarrow, pyspark, os; print(os.path.dirname(pyspark.__file__))' 2>/dev/null) ||
    { echo "spark: skipped: no pyspark, pyarrow, pandas and NumPy in $python"; exit 77; }
export SPARK_HOME PYSPARK_PYTHON=$python PYSPARK_DRIVER_PYTHON=$python
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
make_sequences
export PATH=$dir/slow:$PATH SPARK_WORKER_DIR=$dir/work SPARK_LOCAL_DIRS=$dir

# submit LOG WORD...: spark-submit on two workers with a core each, which have the directory's name
submit() {
    local log=$1
    shift
    timeout 900 "$SPARK_HOME/bin/spark-submit" --master 'local-cluster[2,1,1024]' \
        --conf "spark.executor.extraJavaOptions=-Dtest=$dir" --conf spark.ui.enabled=false \
        --conf "spark.executorEnv.PATH=$PATH" --conf spark.driver.bindAddress=127.0.0.1 --conf spark.driver.host=127.0.0.1 "$@" \
        >"$log.out" 2>"$log.err" || { grep -E "^[A-Za-z.]*Error|Caused by" "$log.err" | head -20; return 1; }
}

# kill_worker: as soon as there are 20 outputs
kill_worker() {
    local i pid
    for ((i = 0; i < 2400; i++)); do
        if [ "$(find many -name '*.csv' | wc -l)" -ge 20 ]; then
            pid=$(pgrep -f "^[^ ]*java .*-Dtest=$dir.*CoarseGrainedExecutorBackend" | head -1)
            kill -KILL "$pid"
            echo "killed one worker with $(find many -name '*.csv' | wc -l) outputs made"
            return
        fi
        sleep 0.1
    done
    echo "there was nothing to kill"
    return 1
}

kill_worker 2>/dev/null &
submit pipe "$root/examples/spark_pipe.py" "$model" "$dir/many.manifest" 8
wait $!
grep sequences pipe.out
diff -r one many
echo "pipe: the same bytes as one process"

if command -v javac >/dev/null; then
    rm many/*
    cp "$root/examples/SparkPipe.java" .
    javac -cp "$SPARK_HOME/jars/*" SparkPipe.java 2>javac.err || { cat javac.err; exit 1; }
    "$(dirname "$(readlink -f "$(command -v javac)")")/jar" cf pipe.jar SparkPipe.class
    submit java --class SparkPipe pipe.jar "$model" "$dir/many.manifest" 8
    grep sequences java.out
    diff -r one many
    echo "pipe in Java: the same bytes as one process"
else
    echo "pipe in Java: skipped: no javac"
fi

# the Python module: 20 sequences of a table
"$python" - <<'END'
import numpy as np, pyarrow as pa, pyarrow.parquet as pq
rows = [np.loadtxt(f"in/{i}.csv", np.float32).tolist() for i in range(20)]
pq.write_table(pa.table({"key": range(20), "values": rows}), "readings.parquet")
END
export IRRUN_LIBRARY=$root/${BUILD:-build}/libirrun.so.0
submit arrow --py-files "$root/python/irrun.py" "$root/examples/spark_arrow.py" "$model" "file://$dir/readings.parquet" \
    "file://$dir/scores.parquet"
"$python" - <<'END'
import numpy as np, pyarrow.parquet as pq
got = pq.read_table("scores.parquet").to_pydict()
assert sorted(got["key"]) == list(range(20))
for key, scores in zip(got["key"], got["scores"]):
    want = np.loadtxt(f"one/{key}.csv", np.float32)
    assert np.array_equal(np.float32(scores), want), key
END
echo "mapInArrow: the same numbers as one process"
