#!/usr/bin/env python3
"""Runs the sequences of a manifest with irrun, in Spark's workers.

    spark-submit spark_pipe.py model.xml calls.manifest [PARTITIONS]

Each partition is one irrun, which reads lines of the manifest from a pipe. The outputs that the lines
name are in a directory that all workers share. irrun renames them when they are complete, so a task
may run twice. SPDX-License-Identifier: Apache-2.0"""
import os
import sys

from pyspark.sql import SparkSession

model, manifest = sys.argv[1:3]
context = SparkSession.builder.appName("irrun").getOrCreate().sparkContext
lines = context.textFile(manifest, int(sys.argv[3]) if len(sys.argv) > 3 else None)
# if irrun fails, so does the task, and Spark runs it again elsewhere; pipe does not pass the environment
lines.pipe(f"irrun {model} --manifest=- --skip-existing --quiet", env={"PATH": os.environ["PATH"]},
           checkCode=True).count()
print(f"{lines.count()} sequences in {lines.getNumPartitions()} partitions")
