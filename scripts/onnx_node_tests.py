#!/usr/bin/env python3
"""Runs the tests that the onnx package carries as data, as IR: with irrun and with OpenVINO.

  onnx_node_tests.py [--dynamic] [--constants] [--keep DIR] [--irrun PROGRAM] [TEST...]

A test (a folder of onnx/backend/test/data: node, simple, pytorch-converted, pytorch-operator) is a
model in ONNX, inputs, and outputs that ONNX itself gives. OpenVINO converts the model to IR; both
irrun and OpenVINO's CPU device in f32 then compute it, and both are compared with ONNX's outputs:
abs(got - want) <= ATOL * max(1, largest abs(want)) + RTOL * abs(want), integers within 0. With
--dynamic the IR has no dimension left: every shape is `?`. With --constants the integer inputs are
constants of the model. TEST is a part of the name of a test.

"by conversion": irrun and OpenVINO compute the same numbers from the IR, others than ONNX's, and
CONVERSION holds a reason, which goes by the test's name. That the two agree is checked each time;
that the reason is the whole reason is not. Without one the same numbers count as wrong.

onnx_conversion.py converts and runs OpenVINO, in processes that may crash. The exit status is 1 if
irrun gave a wrong number, crashed, failed or took too long anywhere. Needs onnx 1.16, openvino and
numpy.
SPDX-License-Identifier: Apache-2.0
"""
import argparse
import collections
import json
import os
import queue
import re
import select
import signal
import subprocess
import sys
import tempfile
import threading

import numpy as np

GROUPS = ("node", "simple", "pytorch-converted", "pytorch-operator")
RTOL = 1e-3  # ONNX's own
ATOL = {"f": 1e-6, "f16": 1e-3, "bf16": 1e-2}  # ONNX's is 1e-7, which one rounding near 1 exceeds
TIMEOUT = 60  # seconds, for a conversion or a run
CLASSES = ("passed", "by conversion", "wrong", "refused", "failed", "crashed", "timeout")
HERE = os.path.dirname(os.path.abspath(__file__))
CONVERSION_SCRIPT = os.path.join(HERE, "onnx_conversion.py")

# Where OpenVINO's CPU device gives one number if shapes are known and another if they are not. With
# --dynamic irrun is held to the former.
UNSTEADY = r"cast.*_to_U?INT4"

# What a test's name holds -> how its IR departs from the ONNX model.
CONVERSION = (
    (r"cast.*_to_BFLOAT16", "ONNX's golden cuts bits off where Convert rounds"),
    (r"cast.*_to_FLOAT8", "Convert overflows, ONNX's Cast saturates"),
    (r"cast.*_to_U?INT4", "Convert wraps, ONNX's golden saturates"),
    (r"averagepool_3d.*include_pad_is_1_ceil", "AvgPool-1 divides by the cells inside the padding"),
    (r"maxpool_2d_ceil_output_size_reduce_by_one", "MaxPool-8 keeps windows that start in the pad"),
    (r"dft_axis", "the axis is constant 1: an axis input that is not a constant is not read"),
    (r"dynamicquantizelinear|qlinearmatmul|quantizelinear", "quantised by another formula"),
    (r"(gru|lstm|simple_rnn)_batchwise", "layout=1 is not looked at"),
    (r"lstm_with_peepholes", "LSTMSequence-5 has no peepholes"),
    (r"resize.*(antialias|exclude_outside|not_larger|not_smaller)", "the attribute is dropped"),
    (r"resize_downsample_scales_.*_align_corners", "Interpolate takes the rounded size for a scale"),
)

# The process that converts -----------------------------------------------------------------------


class Child:
    """A process of onnx_conversion.py; started again after a crash or a timeout."""
    def __init__(self):
        self.process = None

    def ask(self, *question):
        if self.process is None:
            self.process = subprocess.Popen([sys.executable, CONVERSION_SCRIPT],
                                            stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                            stderr=subprocess.DEVNULL, text=True)
        print(json.dumps(question), file=self.process.stdin, flush=True)
        ready, _, _ = select.select([self.process.stdout], [], [], TIMEOUT)
        line = self.process.stdout.readline() if ready else ""
        if line:
            return json.loads(line)
        self.process.kill()
        status = self.process.wait()
        self.process = None
        why = f"dies of signal {-status}" if ready else "takes too long"
        converted = os.path.exists(os.path.join(question[1], "model.xml"))
        return {"converted": converted, "why": why, "outputs": [], "inputs": []}

    def end(self):
        if self.process is not None:
            self.process.stdin.close()
            self.process.wait()


# irrun, and the comparison ------------------------------------------------------------------------


def difference(got, want, element_type):
    """'' or what differs."""
    if got.shape != want.shape:
        return f"shape {list(got.shape)}, not {list(want.shape)}"
    if want.dtype.kind not in "fc":
        return "" if np.array_equal(got, want) else "other integers"
    got, want = got.astype(np.float64), want.astype(np.float64)
    finite = np.abs(want[np.isfinite(want)])
    atol = ATOL.get(element_type, ATOL["f"]) * max(1, finite.max(initial=0))
    with np.errstate(invalid="ignore"):
        bad = ~((got == want) | (np.isnan(got) & np.isnan(want)) |
                (np.abs(got - want) <= atol + RTOL * np.abs(want)))
    if not bad.any():
        return ""
    at = tuple(np.argwhere(bad)[0])
    return f"{int(bad.sum())} of {bad.size} differ, first {got[at]:g} for {want[at]:g}"


def compare(target, who, than, said):
    """'' or where the outputs of who differ from those of than."""
    for k in said["outputs"]:
        paths = [os.path.join(target, f"{name}_{k}.npy") for name in (who, than)]
        if not all(map(os.path.exists, paths)):
            return f"no output {k}"
        found = difference(np.load(paths[0]), np.load(paths[1]), said["types"][k])
        if found:
            return f"output {k}: {found}"
    return ""


def run_irrun(program, target, said):
    """(class, why) before the numbers are compared."""
    command = [program, os.path.join(target, "model.xml"), "--cast=any", "-q"]
    for k in said["inputs"]:
        command += ["-i", f"@{k}={os.path.join(target, f'in_{k}.npy')}"]
    for k in said["outputs"]:
        command += ["-o", f"@{k}={os.path.join(target, f'irrun_{k}.npy')}"]
    try:
        done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                              timeout=TIMEOUT, check=False)
    except subprocess.TimeoutExpired:
        return "timeout", ""
    lines = [line for line in done.stderr.splitlines() if line.strip()]
    why = lines[0] if lines else ""
    if done.returncode == 69:
        why = ", ".join(re.findall(r"^  \d+ x (.*), line", done.stderr, re.M)) or why
    why = re.sub(r"\S*model\.xml:\d+:\d+: ", "", why)
    if done.returncode < 0:
        return "crashed", signal.Signals(-done.returncode).name
    return {0: "passed", 69: "refused"}.get(done.returncode, "failed"), why


def conversion_of(folder):
    """Why the IR of this test means something else, or ''."""
    name = os.path.basename(folder)
    return next((reason for pattern, reason in CONVERSION if re.search(pattern, name)), "")


def is_wrapped(target, said):
    """Whether irrun's output has the low 4 bits of the whole part of the input."""
    nibbles = np.trunc(np.load(os.path.join(target, "in_0.npy"))).astype(np.int64) & 15
    is_negative = (said["types"][0] == "i4") & (nibbles > 7)
    got = np.load(os.path.join(target, "irrun_0.npy"))
    return np.array_equal(got, np.where(is_negative, nibbles - 16, nibbles))


def run_test(child, folder, target, options):
    """(irrun's class, why, OpenVINO's class, why)."""
    os.makedirs(target, exist_ok=True)
    said = child.ask(folder, target, options.dynamic, options.constants)
    if not said["converted"] or not said["outputs"]:
        return "not convertible", said["why"], "not convertible", said["why"]
    other, other_why = ("failed", said["why"]) if said["why"] else ("passed", "")
    if other == "passed":
        other_why = compare(target, "openvino", "want", said)
        other = "wrong" if other_why else "passed"
    mine, why = run_irrun(options.irrun, target, said)
    if mine == "passed":
        why = compare(target, "irrun", "want", said)
        if why:
            is_same = other == "wrong" and not compare(target, "irrun", "openvino", said)
            if options.dynamic and re.search(UNSTEADY, os.path.basename(folder)):
                is_same = is_wrapped(target, said)
            reason = conversion_of(folder) if is_same else ""
            mine, why = ("by conversion", reason) if reason else ("wrong", why)
    return mine, why, other, other_why


def test_folders(patterns):
    import onnx
    root = os.path.join(os.path.dirname(onnx.__file__), "backend", "test", "data")
    for group in GROUPS:
        path = os.path.join(root, group)
        for name in sorted(os.listdir(path)) if os.path.isdir(path) else []:
            key = f"{group}/{name}"
            if not patterns or any(p in key for p in patterns):
                yield key, os.path.join(path, name)


def run_all(options, root):
    """test -> what run_test says."""
    tests, results = queue.Queue(), {}
    for test in test_folders(options.tests):
        tests.put(test)

    def work():
        child = Child()
        while True:
            try:
                key, folder = tests.get_nowait()
            except queue.Empty:
                break
            results[key] = run_test(child, folder, os.path.join(root, key), options)
        child.end()

    threads = [threading.Thread(target=work) for _ in range(options.jobs)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return results


def report(results, verbose):
    for key, (mine, why, other, other_why) in sorted(results.items()):
        if verbose or mine in ("wrong", "failed", "crashed", "timeout", "by conversion"):
            print(f"{mine}: {key}: {why} (OpenVINO: {other}{': ' + other_why if other_why else ''})")
    for name in ("refused", "not convertible"):
        reasons = collections.Counter(r[1] for r in results.values() if r[0] == name)
        for why, count in reasons.most_common():
            print(f"{name}, {count}: {why}")
    counts = [collections.Counter(r[k] for r in results.values()) for k in (0, 2)]
    print(f"\n| {len(results)} tests | irrun | OpenVINO |\n|---|---|---|")
    for name in CLASSES + ("not convertible",):
        print(f"| {name} | {counts[0][name]} | {counts[1][name]} |")
    return int(any(counts[0][name] for name in ("wrong", "failed", "crashed", "timeout")))


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--irrun", default=os.path.join(HERE, "..", "build", "irrun"),
                        metavar="PROGRAM")
    parser.add_argument("--dynamic", action="store_true", help="set every dimension free")
    parser.add_argument("--constants", action="store_true", help="hold integer inputs constant")
    parser.add_argument("--keep", metavar="DIR", help="leave models and arrays there")
    parser.add_argument("--jobs", type=int, default=2, help="processes (2)")
    parser.add_argument("--verbose", action="store_true", help="a line for each test")
    parser.add_argument("tests", nargs="*", metavar="TEST")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        return report(run_all(options, options.keep or temporary), options.verbose)


if __name__ == "__main__":
    sys.exit(main())
