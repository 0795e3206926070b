#!/usr/bin/env python3
"""Runs the tests that the onnx package carries as data, as IR: with irrun and with OpenVINO.

  onnx_node_tests.py [--dynamic] [--constants] [--keep DIR] [--irrun PROGRAM] [TEST...]

A test (a folder of onnx/backend/test/data: node, simple, pytorch-converted, pytorch-operator) is a
model in ONNX, inputs, and outputs that ONNX itself gives. OpenVINO converts the model to IR; both
irrun and OpenVINO's CPU device in f32 then compute it, and both are compared with ONNX's outputs:
abs(got - want) <= ATOL * max(1, largest abs(want)) + RTOL * abs(want), integers within 0. With
--dynamic the IR has no dimension left: every shape is `?`. With --constants the integer inputs are
constants of the model. TEST is a part of the name of a test.

"by conversion": the IR means something else than the ONNX model, for a reason in CONVERSION that
was found by reading it; irrun then gives what OpenVINO gives. Where no reason stands there, the
same numbers count as wrong.

OpenVINO works in processes of its own, which may crash. The exit status is 1 if irrun gave a wrong
number, crashed, failed or took too long anywhere. Needs onnx 1.16, openvino and numpy.
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

# Where OpenVINO's CPU device gives one number if shapes are known and another if they are not.
UNSTEADY = r"cast.*_to_U?INT4"

# What a test's name holds -> how its IR departs from the ONNX model.
CONVERSION = (
    (r"cast.*_to_BFLOAT16", "ONNX's golden cuts bits off where Convert rounds"),
    (r"cast.*_to_FLOAT8", "Convert overflows, ONNX's Cast saturates"),
    (r"cast.*_to_U?INT4", "Convert wraps, ONNX's golden saturates"),
    (r"averagepool_3d.*include_pad_is_1_ceil", "AvgPool-1 divides by the cells inside the padding"),
    (r"maxpool_2d_ceil_output_size_reduce_by_one", "MaxPool-8 keeps windows that start in the pad"),
    (r"dft_axis", "the axis is constant 1: an axis input that is no constant is not read"),
    (r"dynamicquantizelinear|qlinearmatmul|quantizelinear", "quantised by another formula"),
    (r"(gru|lstm|simple_rnn)_batchwise", "layout=1 is not looked at"),
    (r"lstm_with_peepholes", "LSTMSequence-5 has no peepholes"),
    (r"resize.*(antialias|exclude_outside|not_larger|not_smaller)", "the attribute is dropped"),
    (r"resize_downsample_scales_.*_align_corners", "Interpolate takes the rounded size for a scale"),
)

# In the child: ONNX and OpenVINO ------------------------------------------------------------------


def read_tensor(path, type_proto):
    """The array in a .pb file, or an error that says why it is none. bf16 and f8 come as f32."""
    import onnx
    kind = type_proto.WhichOneof("value")
    if kind != "tensor_type":
        raise ValueError(kind.replace("_type", ""))
    tensor = onnx.TensorProto()
    with open(path, "rb") as f:
        tensor.ParseFromString(f.read())
    if tensor.data_type == onnx.TensorProto.STRING:
        raise ValueError("string")
    array = np.asarray(onnx.numpy_helper.to_array(tensor))
    if type_proto.tensor_type.elem_type == onnx.TensorProto.BFLOAT16 and array.dtype == np.uint16:
        return widened(array)  # some tests hold bits
    return array


def widened(bits):
    """bf16 as f32."""
    return (bits.astype(np.uint32) << 16).view(np.float32)


def test_tensors(folder, values, word):
    """name -> array, of the graph's inputs or outputs in their order."""
    data = os.path.join(folder, "test_data_set_0")
    return {
        v.name: read_tensor(os.path.join(data, f"{word}_{k}.pb"), v.type)
        for k, v in enumerate(values) if v.name
    }


def by_port(arrays, ports):
    """port number -> array. By name; the converter takes some names away, then by order. An input
    that it found no use for has no port."""
    numbers = {name: k for k, port in enumerate(ports) for name in port.get_names()}
    found = {numbers[name]: array for name, array in arrays.items() if name in numbers}
    free = [k for k in range(len(ports)) if k not in found]
    left = [array for name, array in arrays.items() if name not in numbers]
    return found | dict(zip(free, left))


def packed(array, port):
    """array as what an OpenVINO port takes; types that NumPy lacks come in a wider one."""
    import openvino as ov
    from onnx import helper
    element_type = port.get_element_type()
    if element_type.get_bitwidth() == 4:
        nibbles = np.append(array.astype(np.int64).ravel() & 15, np.zeros(array.size % 2, np.int64))
        data = nibbles[0::2] | nibbles[1::2] << 4
    elif element_type == ov.Type.bf16:
        data = np.asarray(array, np.float32, order="C").view(np.uint32) >> 16
    elif element_type == ov.Type.f8e4m3:
        data = [helper.float32_to_float8e4m3(x) for x in array.ravel()]
    elif element_type == ov.Type.f8e5m2:
        data = [helper.float32_to_float8e5m2(x, fn=False, uz=False) for x in array.ravel()]
    else:
        return array
    tensor = ov.Tensor(element_type, ov.Shape(array.shape))
    bits = tensor.data.view(np.uint16 if element_type == ov.Type.bf16 else np.uint8).ravel()
    bits[:] = np.asarray(data, bits.dtype)
    return tensor


def unpacked(tensor):
    """An array that NumPy can hold, of the values in an OpenVINO tensor."""
    import openvino as ov
    from onnx import numpy_helper
    element_type, shape = tensor.get_element_type(), list(tensor.get_shape())
    if element_type.get_bitwidth() == 4:
        data = tensor.data.view(np.uint8).ravel()
        nibbles = np.stack([data & 15, data >> 4], axis=-1).ravel()[:int(np.prod(shape))]
        signed = element_type == ov.Type.i4
        wide = nibbles.astype(np.int8)
        return (np.where(signed & (wide > 7), wide - 16, wide)).reshape(shape)
    if element_type == ov.Type.bf16:
        return widened(tensor.data.view(np.uint16))
    if element_type == ov.Type.f8e4m3:
        return numpy_helper.float8e4m3_to_float32(tensor.data.view(np.uint8), shape)
    if element_type == ov.Type.f8e5m2:
        return numpy_helper.float8e5m2_to_float32(tensor.data.view(np.uint8), shape)
    return tensor.data.copy()


def hold_integers(proto, folder):
    """Makes constants of the graph's integer inputs."""
    import onnx
    graph = proto.graph
    data = os.path.join(folder, "test_data_set_0")
    integers = (onnx.TensorProto.INT32, onnx.TensorProto.INT64, onnx.TensorProto.BOOL)
    held = {t.name for t in graph.initializer}
    for k, value in enumerate([v for v in graph.input if v.name not in held]):
        if value.type.tensor_type.elem_type in integers and len(graph.input) > 1:
            with open(os.path.join(data, f"input_{k}.pb"), "rb") as f:
                tensor = onnx.TensorProto()
                tensor.ParseFromString(f.read())
            tensor.name = value.name
            graph.initializer.append(tensor)
            graph.input.remove(value)


def free_shapes(model):
    import openvino as ov
    model.reshape({
        port: ov.PartialShape([ov.Dimension()] * port.get_partial_shape().rank.get_length())
        for port in model.inputs if port.get_partial_shape().rank.is_static
    })


def convert(folder, target, dynamic, constants):
    """Writes model.xml, in_K.npy and want_K.npy. Returns the model, and inputs and golden outputs
    by number."""
    import onnx
    import openvino as ov
    proto = onnx.load(os.path.join(folder, "model.onnx"))
    held = {t.name for t in proto.graph.initializer}
    feed = test_tensors(folder, [v for v in proto.graph.input if v.name not in held], "input")
    want = test_tensors(folder, proto.graph.output, "output")
    path = os.path.join(folder, "model.onnx")
    if constants:
        hold_integers(proto, folder)
        path = os.path.join(target, "model.onnx")
        onnx.save(proto, path)
    model = ov.convert_model(path)
    if dynamic:
        free_shapes(model)
    feed, want = by_port(feed, model.inputs), by_port(want, model.outputs)
    for k, array in feed.items():
        np.save(os.path.join(target, f"in_{k}.npy"), array)
    for k, array in want.items():
        np.save(os.path.join(target, f"want_{k}.npy"), array)
    ov.save_model(model, os.path.join(target, "model.xml"), compress_to_fp16=False)
    return model, feed, want


def run_openvino(model, feed, target):
    import openvino as ov
    compiled = ov.Core().compile_model(model, "CPU", {
        "INFERENCE_PRECISION_HINT": "f32", "INFERENCE_NUM_THREADS": 2
    })
    request = compiled.create_infer_request()
    request.infer({k: packed(a, compiled.inputs[k]) for k, a in feed.items()})
    for k in range(len(compiled.outputs)):
        array = unpacked(request.get_output_tensor(k))
        np.save(os.path.join(target, f"openvino_{k}.npy"), array)


def telling_line(error):
    """The line of an exception's text that says most; the last if in doubt."""
    lines = [line.strip(" -") for line in str(error).splitlines() if line.strip()]
    words = r"No conversion rule|Conversion is failed|not supported|Unsupported|not implemented"
    found = [line for line in lines if re.search(words, line)] or lines[-1:]
    return (found or [type(error).__name__])[0][:160]


def serve():
    """Reads lines [folder, target, dynamic, constants] and answers each with a line of JSON."""
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # OpenVINO may print
    for line in sys.stdin:
        folder, target, dynamic, constants = json.loads(line)
        said = {"converted": False, "why": "", "outputs": [], "types": []}
        try:
            model, feed, want = convert(folder, target, dynamic, constants)
            said.update(converted=True, inputs=sorted(feed), outputs=sorted(want),
                        types=[p.get_element_type().get_type_name() for p in model.outputs])
            run_openvino(model, feed, target)
        except Exception as error:  # pylint: disable=broad-except
            said["why"] = telling_line(error)
        print(json.dumps(said), file=answers, flush=True)


class Child:
    """A process that serves; started again after a crash or a timeout."""
    def __init__(self):
        self.process = None

    def ask(self, *question):
        if self.process is None:
            self.process = subprocess.Popen([sys.executable, os.path.abspath(__file__), "--serve"],
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
            is_unsteady = options.dynamic and re.search(UNSTEADY, os.path.basename(folder))
            reason = conversion_of(folder) if is_same or is_unsteady else ""
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
    parser.add_argument("--serve", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("tests", nargs="*", metavar="TEST")
    options = parser.parse_args()
    if options.serve:
        serve()
        return 0
    with tempfile.TemporaryDirectory() as temporary:
        return report(run_all(options, options.keep or temporary), options.verbose)


if __name__ == "__main__":
    sys.exit(main())
