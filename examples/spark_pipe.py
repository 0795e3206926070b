#!/usr/bin/env python3
"""The sequences of a manifest through irrun, in Spark's workers.

    spark-submit spark_pipe.py model.xml calls.manifest [PARTITIONS]

Each partition is one irrun, which reads lines of the manifest from a pipe. Outputs go where the
lines say, to a directory that all workers share; they are written under another name first, so that
a task may run twice. SPDX-License-Identifier: Apache-2.0"""
import os
import sys

from pyspark.sql import SparkSession

model, manifest = sys.argv[1:3]
context = SparkSession.builder.appName("irrun").getOrCreate().sparkContext
lines = context.textFile(manifest, int(sys.argv[3]) if len(sys.argv) > 3 else None)
# a failure of irrun is one of the task: Spark runs it again elsewhere; pipe passes no environment on
lines.pipe(f"irrun {model} --manifest=- --skip-existing --quiet", env={"PATH": os.environ["PATH"]},
           checkCode=True).count()
print(f"{lines.count()} sequences in {lines.getNumPartitions()} partitions")
