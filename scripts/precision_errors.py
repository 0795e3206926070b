#!/usr/bin/env python3
"""Measures the errors of irrun's precisions, and of OpenVINO's default, against irrun in f64.

  precision_errors.py [MODEL_FOLDER...]     print the tables of docs/precision.md

A folder has model.xml and in.npz: records, stacked along one more axis than the inputs have. Each folder is a row: the
largest and the median error of its elements, relative to the largest number of the output, and how many decisions of
its first output change: which element of a row is the largest, or whether a row's only one is above 0.5. Without folders, runs those
recurrent cases of tests/cases that OpenVINO confirms, and prints the largest and the median of their largest errors.
Environment: IRRUN_LIBRARY, as in python/irrun.py. Needs NumPy; with openvino also its default precision on this CPU.
SPDX-License-Identifier: Apache-2.0
"""
import glob
import os
import sys

import numpy as np

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
sys.path.insert(0, os.path.join(ROOT, "python"))
import irrun  # noqa: E402

try:
    import openvino as ov
except ModuleNotFoundError:
    ov = None

PRECISIONS = ["f32", "f16", "bf16"]
FAMILIES = [f"{kind}_{form}" for kind in ("lstm", "gru", "rnn") for form in ("cell", "sequence")]


def records_of(folder, ranks):
    """The records as dicts. ranks: of the inputs, by name; an array with one more axis is a stack."""
    with np.load(os.path.join(folder, "in.npz")) as file:
        arrays = dict(file)
    stacked = {n: a.ndim > ranks[n] for n, a in arrays.items()}
    n = max([len(a) for k, a in arrays.items() if stacked[k]], default=1)
    return [{k: a[i] if stacked[k] else a for k, a in arrays.items()} for i in range(n)]


def by_irrun(folder, records, **options):
    session = irrun.Session(os.path.join(folder, "model.xml"), **options)
    return [session.run(record) for record in records]


def by_openvino(folder, records, names):
    """names: of the outputs, for irrun."""
    request = ov.Core().compile_model(os.path.join(folder, "model.xml"), "CPU").create_infer_request()
    found = []
    for record in records:
        outs = request.infer(record)
        found.append({name: np.array(outs[k]) for k, name in enumerate(names)})
    return found


def error_of(got, want):
    """The largest and the median relative error of all elements of all outputs."""
    errors = []
    for name in want[0]:
        reference = [np.float64(record[name]) for record in want]
        scale = max((np.nanmax(np.abs(r), initial=0) for r in reference), default=0) or 1
        for record, r in zip(got, reference):
            value = np.float64(record[name])
            same = (value == r) | (np.isnan(value) & np.isnan(r))
            errors.append(np.where(same, 0, np.abs(value - r)).ravel() / scale)
    errors = np.concatenate(errors)
    return (errors.max(), np.median(errors)) if errors.size else (0, 0)


def decisions_of(outputs):
    """Of the first output."""
    rows = np.concatenate([np.atleast_2d(next(iter(record.values()))).reshape(-1, np.shape(next(iter(record.values())))[-1])
                           for record in outputs])
    return np.argmax(rows, axis=1) if rows.shape[1] > 1 else rows[:, 0] > 0.5


def summary_of(got, want):
    changed = decisions_of(got) != decisions_of(want)
    return (*error_of(got, want), f"{changed.sum()} of {changed.size}")


def errors_of(folder):
    """The errors of each precision, or None for a model whose outputs are not all f32."""
    model = irrun.Model(os.path.join(folder, "model.xml"))
    if any(dtype != "f32" for dtype, _ in model.outputs.values()):
        return None
    records = records_of(folder, {n: len(shape) for n, (_, shape) in model.inputs.items()})
    want = by_irrun(folder, records, f64=True)
    errors = [summary_of(by_irrun(folder, records, precision=p), want) for p in PRECISIONS]
    if ov:
        try:
            errors.append(summary_of(by_openvino(folder, records, list(model.outputs)), want))
        except (RuntimeError, KeyError):
            errors.append((np.nan,))
    return errors


def print_row(name, errors):
    print(f"| {name} | " + " | ".join("" if np.isnan(e[0]) else ", ".join(x if isinstance(x, str) else f"{x:.1e}" for x in e)
                                     for e in errors) + " |")


def print_head(first):
    columns = PRECISIONS + ["OpenVINO"] * bool(ov)
    print(f"| {first} | " + " | ".join(columns) + " |")
    print("|" + "---|" * (len(columns) + 1))


def print_cases():
    table = []
    for family in FAMILIES:
        for folder in sorted(glob.glob(os.path.join(ROOT, "tests/cases", family, "*/"))):
            with open(os.path.join(folder, "args"), encoding="utf-8") as args, \
                    open(os.path.join(folder, "about"), encoding="utf-8") as about:
                if "--" in args.read().replace("--atol", "").replace("--rtol", "") or \
                        "OpenVINO confirms it." not in about.read():
                    continue
            errors = errors_of(folder)
            if errors and not any(np.isnan(e[0]) for e in errors):
                table.append([e[0] for e in errors])
    print_head("recurrent cases")
    print_row(f"{len(table)} cases", zip(np.max(table, axis=0), np.median(table, axis=0)))


def main():
    if len(sys.argv) == 1:
        print_cases()
        return
    print_head("model")
    for folder in sys.argv[1:]:
        errors = errors_of(folder)
        if errors:
            print_row(os.path.basename(os.path.normpath(folder)), errors)


if __name__ == "__main__":
    main()
