#!/usr/bin/env python3
"""Prints a Markdown table of the operators of OpenVINO's opsets, and which of them irrun has.

  op_census.py [--irrun PROGRAM]

An operator is in the table if OpenVINO's Python package has it in one of its modules opset1,
opset2 …, or if irrun has it. What is refused needs a reason here; the exit status is 1 if one has
none, or if one with a reason is there after all. Needs openvino. SPDX-License-Identifier: Apache-2.0
"""
import argparse
import importlib
import os
import pkgutil
import re
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
DETECTION = "detection post-processing"
RANDOM = "random numbers"
STRINGS = "strings"
PICTURES = "decodes camera formats"

# What irrun refuses, and why.
REASONS = {
    "BinaryConvolution": "nets of single bits",
    "CTCLoss": "a loss, training only",
    "DeformableConvolution": "detection back ends",
    "DeformablePSROIPooling": DETECTION,
    "DetectionOutput": DETECTION,
    "ErfInv": "new in opset17",
    "ExtractImagePatches": "TensorFlow's patches of pictures",
    "FakeConvert": "arithmetic in 8-bit floats, simulated",
    "GatherTree": "the end of a beam search",
    "GenerateProposals": DETECTION,
    "GRN": "normalisation of one family of vision nets",
    "GroupedMatMul": "mixtures of experts, new in opset17",
    "I420toBGR": PICTURES,
    "I420toRGB": PICTURES,
    "Inverse": "matrix inversion",
    "MatrixNms": DETECTION,
    "MulticlassNms": DETECTION,
    "Multinomial": RANDOM,
    "NMSRotated": DETECTION,
    "NonMaxSuppression": DETECTION,
    "NV12toBGR": PICTURES,
    "NV12toRGB": PICTURES,
    "PriorBox": DETECTION,
    "PriorBoxClustered": DETECTION,
    "Proposal": DETECTION,
    "PSROIPooling": DETECTION,
    "RandomUniform": RANDOM,
    "RegionYolo": DETECTION,
    "ReorgYolo": DETECTION,
    "ROIAlign": DETECTION,
    "ROIAlignRotated": DETECTION,
    "ROIPooling": DETECTION,
    "SegmentMax": "maxima over segments of ragged data",
    "SliceScatter": "writes into a slice",
    "SparseFillEmptyRows": "sparse tensors",
    "StringTensorPack": STRINGS,
    "StringTensorUnpack": STRINGS,
}
# The name in a file where the Python function's is spelled otherwise.
SPELLED = {
    "absolute": "Abs", "ceil": "Ceiling", "constant": "Const", "if_op": "If",
    "max_pool": "MaxPool", "sign": "Sign", "nv12_to_bgr": "NV12toBGR", "nv12_to_rgb": "NV12toRGB",
    "i420_to_bgr": "I420toBGR", "i420_to_rgb": "I420toRGB",
    "batch_norm_inference": "BatchNormInference",
}


def plain(name):
    return re.sub("[^a-z0-9]", "", name.lower())


def runs(numbers):
    """[1, 2, 3, 7] -> 1-3, 7."""
    text, numbers = [], sorted(numbers)
    for n in numbers:
        if text and text[-1][1] == n - 1:
            text[-1][1] = n
        else:
            text.append([n, n])
    return ", ".join(str(a) if a == b else f"{a}-{b}" for a, b in text)


def openvino_ops():
    """plain name -> (Python's name, numbers of the opsets that have it)."""
    import openvino
    found = {}
    for info in pkgutil.iter_modules(openvino.__path__):
        match = re.fullmatch(r"opset(\d+)", info.name)
        if not match:
            continue
        module = importlib.import_module(f"openvino.{info.name}")
        for name, item in vars(module).items():
            if not name.startswith("_") and name[0].islower() and callable(item):
                key = plain(SPELLED.get(name, name))
                found.setdefault(key, (name, set()))[1].add(int(match[1]))
    return found


def irrun_ops(program):
    """plain name -> (name in files, text of opsets)."""
    text = subprocess.run([program, "--supported-ops"], stdout=subprocess.PIPE, text=True,
                          check=True).stdout
    found = {}
    for line in text.splitlines():
        name, opsets = line.split("\t")[:2]
        key = plain(name)
        found[key] = (name, ", ".join(filter(None, [found.get(key, ("", ""))[1], opsets])))
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--irrun", default=os.path.join(HERE, "..", "build", "irrun"),
                        metavar="PROGRAM")
    options = parser.parse_args()
    if not os.path.exists(options.irrun):
        sys.exit(f"there is no {os.path.relpath(options.irrun)}: build it with make, or name one "
                 "with --irrun")
    theirs, ours = openvino_ops(), irrun_ops(options.irrun)
    written = {plain(name): name for name in REASONS}
    rows, missing, surprises = [], [], []
    for key in sorted(set(theirs) | set(ours)):
        name = ours[key][0] if key in ours else written.get(key, theirs[key][0])
        opsets = runs(theirs[key][1]) if key in theirs else "in files only"
        if key in ours:
            rows.append(f"| {name} | {opsets} | yes: {ours[key][1].replace('opset', '')} |")
            if name in REASONS:
                surprises.append(f"{name} has a reason to be refused, but is there")
        else:
            missing.append(name)
            reason = REASONS.get(name, "")
            rows.append(f"| {name} | {opsets} | no: {reason} |")
            if not reason:
                surprises.append(f"{name} is refused for no reason")
    print(f"{len(rows)} operators: {len(rows) - len(missing)} supported, {len(missing)} refused.\n")
    print("| operator | OpenVINO's opsets | irrun |\n|---|---|---|\n" + "\n".join(rows))
    print("\n".join(surprises), file=sys.stderr, end="\n" if surprises else "")
    return 1 if surprises else 0


if __name__ == "__main__":
    sys.exit(main())
