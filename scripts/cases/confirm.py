# Runs cases with OpenVINO's CPU device in f32 and compares with the goldens; fills in port shapes
# from OpenVINO's own inference. Two threads: with one, OpenVINO loses errors and returns
# uninitialised memory.
# SPDX-License-Identifier: Apache-2.0
import os
import shlex
import tempfile

import numpy as np
import openvino as ov

CONFIG = {
    "INFERENCE_PRECISION_HINT": "f32", "INFERENCE_NUM_THREADS": 2,
    "DYNAMIC_QUANTIZATION_GROUP_SIZE": 0,  # else what meets int8 weights becomes int8
    "LP_TRANSFORMS_MODE": False,  # else a model with FakeQuantize runs on integers
    "KV_CACHE_PRECISION": "f32"  # else the variables of an attention become u8
}
CORE = ov.Core()


def read(net):
    """The ov.Model of a Net."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "model.xml")
        with open(path, "wb") as f:
            f.write(net.xml_bytes())
        with open(path[:-3] + "bin", "wb") as f:
            f.write(bytes(net.data))
        return CORE.read_model(path)


def bodies_of(op):
    if op.get_type_name() == "If":
        return [op.get_function(0), op.get_function(1)]
    return [op.get_function() if hasattr(op, "get_function") else op.get_body()]


def copy_types(net, model):
    """Sets dtype and shape of every port of net from the layers of the same name in model."""
    ops = {op.get_friendly_name(): op for op in model.get_ops()}
    for layer in net.layers:
        op = ops.get(layer.name)
        if op is None or op.get_output_size() < len(layer.outputs) or layer.type == "Result":
            continue
        for port in layer.outputs:
            out = op.output(port.index)
            shape = out.get_partial_shape()
            port.shape = None if shape.rank.is_dynamic else [
                -1 if d.is_dynamic else d.get_length() for d in shape
            ]
            element_type = out.get_element_type().get_type_name()
            port.dtype = "u1" if element_type == "u1" else element_type
        inner = [part for tag, part in layer.parts if tag.endswith("body")]
        if inner:
            for body, function in zip(inner, bodies_of(op)):
                copy_types(body, function)


def fill_types(case):
    """Best effort: what OpenVINO cannot read keeps the shapes the case gave."""
    for net in (case.net, case.stand_in):
        if net is None or case.exit or (case.openvino and not case.runs_openvino):
            continue
        try:
            copy_types(case.net, read(net))
            return
        except RuntimeError:
            pass


def parse_args(args):
    words = shlex.split(args)
    options = {"reset": "sequence", "atol": 1e-5, "rtol": 1e-4, "n": None, "fed": {}}
    while words:
        key, eq, value = words.pop(0).partition("=")
        if key == "--reset":
            options["reset"] = value if eq else "iteration"
        elif key in ("--atol", "--rtol"):
            options[key[2:]] = float(value if eq else words.pop(0))
        elif key == "-n":
            options["n"] = int(words.pop(0))
        elif key == "--feed":
            source, _, target = value.partition("=")
            options["fed"][target] = source
    return options


def port_names(port, node):
    return list(port.get_names()) + [node.get_friendly_name()]


def replay(model, feed, reset, wanted=(), n=None, fed=None):
    """Outputs of all iterations (n; None: as many as there are records), as out.npz holds them:
    name -> array. fed: input -> the output that becomes its next value."""
    fed = fed or {}
    model_inputs = []
    counts = []
    for index, parameter in enumerate(model.get_parameters()):
        name = next(n for n in port_names(parameter.output(0), parameter) if n in feed)
        rank = parameter.get_partial_shape().rank
        stacked = not rank.is_dynamic and feed[name].ndim > rank.get_length()
        if stacked:
            counts.append(len(feed[name]))
        model_inputs.append((index, name, stacked))
    flag = feed[reset[3:]] if reset.startswith("if:") else None
    if flag is not None and flag.ndim:
        counts.append(len(flag))
    request = CORE.compile_model(model, "CPU", CONFIG).create_infer_request()
    names = output_names(model, wanted)
    collected = {name: [] for name in names}
    for k in range(n or (counts[0] if counts else 1)):
        if reset == "iteration" or (reset.isdigit() and k and k % int(reset) == 0) or (
                flag is not None and np.ravel(flag[k] if flag.ndim else flag)[0]):
            request.reset_state()
        request.infer({
            i: np.array(
                collected[fed[name]][-1] if k and name in fed else
                feed[name][k] if stacked else feed[name], order="C")
            for i, name, stacked in model_inputs
        })
        for i, name in enumerate(names):
            collected[name].append(request.get_output_tensor(i).data.copy())
    is_stack = counts or n
    return {name: np.stack(values) if is_stack else values[0] for name, values in collected.items()}


def output_names(model, wanted):
    """The names that cases know the outputs by. OpenVINO adds names of its own to the tensors."""
    taken = []
    for result in model.get_results():
        source = result.input_value(0)
        layer, port = source.get_node().get_friendly_name(), source.get_index()
        names = sorted(source.get_names() - {result.get_friendly_name()})
        names += [layer, f"{layer}:{port}", result.get_friendly_name()]
        taken.append(min(names, key=lambda n: (n in taken, n not in wanted)))
    return taken


def compare(got, want, atol, rtol):
    """'' or what differs."""
    if got.shape != want.shape or got.dtype != want.dtype:
        return f"got {got.dtype}{list(got.shape)}, expected {want.dtype}{list(want.shape)}"
    if got.dtype.kind in "iu" and not atol and not rtol:
        bad, a, b = got != want, got, want
    else:
        with np.errstate(invalid="ignore"):
            a, b = got.astype(np.float64), want.astype(np.float64)
            same = (a == b) | (np.isnan(a) & np.isnan(b))
            bad = ~(same | (np.abs(a - b) <= atol + rtol * np.abs(b)))
    if not bad.any():
        return ""
    at = tuple(np.argwhere(bad)[0])
    return (f"{list(map(int, at))}: got {a[at]:.9g}, expected {b[at]:.9g}, "
            f"{int(bad.sum())} of {bad.size} outside")


def confirm(case, net):
    """'' if OpenVINO gives the case's golden with net, else what it gives or says. Never raises for
    what OpenVINO does."""
    options = parse_args(case.args)
    atol, rtol = case.confirm_tolerance or (options["atol"], options["rtol"])
    try:
        got = replay(read(net), case.feed, options["reset"], case.want)
    except RuntimeError as error:
        lines = [line.strip() for line in str(error).splitlines() if line.strip()]
        return "it says: " + (lines[-1] if lines else "nothing")
    problems = [
        f"no output {n}, only {sorted(got)}" if n not in got else f"{n} {m}" for n in case.want
        if n not in got or (m := compare(got[n], case.want[n], atol, rtol))
    ]
    return "; ".join(problems + [f"further output {n}" for n in got if n not in case.want])


def reference_agrees(case):
    """Whether OpenVINO's reference code (Model.evaluate), which is not its CPU device, gives the
    golden. It knows neither variables nor the recurrent ops."""
    if case.exit or not case.runs_openvino or any(l.type in ("ReadValue", "Assign")
                                                  for l in case.net.layers):
        return False
    options = parse_args(case.args)
    try:
        model = read(case.net)
        got = {name: [] for name in output_names(model, case.want)}
        inputs = [(p.get_friendly_name(), p.get_partial_shape().rank.get_length())
                  for p in model.get_parameters()]
        counts = [len(case.feed[n]) for n, rank in inputs if case.feed[n].ndim > rank]
        for k in range(counts[0] if counts else 1):
            tensors = [
                ov.Tensor(
                    np.array(case.feed[n][k] if case.feed[n].ndim > rank else case.feed[n],
                             order="C")) for n, rank in inputs
            ]
            outputs = [
                ov.Tensor(r.get_element_type(), ov.Shape(list(case.want[n].shape[bool(counts):])))
                for n, r in zip(got, model.outputs)
            ]
            if not model.evaluate(outputs, tensors):
                return False
            for name, tensor in zip(got, outputs):
                got[name].append(tensor.data.copy())
    except (RuntimeError, LookupError, TypeError):
        return False
    return all(not compare(
        np.stack(v) if counts else v[0], case.want[n], options["atol"], options["rtol"])
               for n, v in got.items())
