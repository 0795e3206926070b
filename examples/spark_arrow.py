#!/usr/bin/env python3
"""Runs a column of arrays with irrun's Python module, in Spark's workers, by mapInArrow.

    spark-submit --py-files irrun.py spark_arrow.py model.xml readings.parquet scores.parquet

Reads the columns `key` and `values` (an array of numbers), runs each row as a sequence of records of
one number, and writes `key` and `scores`. PySpark needs pandas for mapInArrow. SPDX-License-Identifier: Apache-2.0"""
import sys

import numpy as np
import pyarrow as pa
from pyspark.sql import SparkSession

model, source, target = sys.argv[1:4]


def score(batches):
    import irrun
    session = irrun.Session(model)  # one per partition; the variables live on within a row
    for batch in batches:
        rows = []
        for values in batch.column("values"):
            session.reset()
            rows.append([
                float(session.run({"reading": np.float32([[v]])})["score"][0, 0])
                for v in values.as_py()
            ])
        yield pa.RecordBatch.from_arrays([batch.column("key"), pa.array(rows)], ["key", "scores"])


spark = SparkSession.builder.appName("irrun").getOrCreate()
spark.read.parquet(source).mapInArrow(score, "key long, scores array<double>").write.parquet(target)
