#!/usr/bin/env python3
"""Saves every tensor of a model as OpenVINO's CPU device computes it, for irrun's --diff.

  tap_openvino.py [--reset K] MODEL.xml IN.npz OUT.npz
  irrun MODEL.xml -i IN.npz --diff=OUT.npz -o none:

OUT.npz has the names and the layout of irrun's --tap-records. A member of IN.npz with one dimension
more than its input is a stack of records. Every tensor becomes an output of the model, which may
keep OpenVINO from fusing ops: a difference can disappear. Needs openvino and numpy.
SPDX-License-Identifier: Apache-2.0
"""
import argparse
import sys

try:
    import numpy as np
    import openvino as ov
except ImportError as error:
    sys.exit(f"tap_openvino.py: {error.name} is missing: pip install openvino numpy")

SKIPPED = ("Constant", "Assign", "Result")


def name_of(port):
    """The name that irrun has for it too: of the tensor, or of the layer with the port."""
    node = port.get_node()
    if port.get_names():
        return min(port.get_names())
    name = node.get_friendly_name()
    return name if len(node.outputs()) == 1 else f"{name}:{port.get_index()}"


def tap(model):
    """Adds Results; returns the names of all outputs, in their order."""
    done = {id_of(result.input_value(0)) for result in model.get_results()}
    names = [name_of(result.input_value(0)) for result in model.get_results()]
    added = []
    for node in model.get_ordered_ops():
        if node.get_type_name() in SKIPPED:
            continue
        for port in node.outputs():
            if id_of(port) not in done:
                names.append(name_of(port))
                added.append(ov.opset13.result(port))
    model.add_results(added)
    return names


def id_of(port):
    return port.get_node().get_name(), port.get_index()


def records_of(model, archive):
    """For each record the inputs, by their index."""
    feeds, counts = [], []
    for parameter in model.get_parameters():
        names = parameter.output(0).get_names() | {parameter.get_friendly_name()}
        name = next((n for n in archive.files if n in names), None)
        if name is None:
            sys.exit(f"tap_openvino.py: the input {sorted(names)} is not in the archive")
        value, rank = archive[name], parameter.get_partial_shape().rank
        is_stack = not rank.is_dynamic and value.ndim > rank.get_length()
        counts += [len(value)] if is_stack else []
        feeds.append((value, is_stack))
    for k in range(min(counts, default=1)):
        yield {
            i: np.array(value[k] if is_stack else value, order="C")
            for i, (value, is_stack) in enumerate(feeds)
        }


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--reset", type=int, metavar="K", help="reset the variables every K records")
    parser.add_argument("model", metavar="MODEL.xml")
    parser.add_argument("input", metavar="IN.npz")
    parser.add_argument("output", metavar="OUT.npz")
    options = parser.parse_args()
    core = ov.Core()
    model = core.read_model(options.model)
    names = tap(model)
    request = core.compile_model(model, "CPU",
                                 {"INFERENCE_PRECISION_HINT": "f32"}).create_infer_request()
    collected = [[] for _ in names]
    with np.load(options.input) as archive:
        for k, record in enumerate(records_of(model, archive)):
            if options.reset and k and k % options.reset == 0:
                request.reset_state()
            request.infer(record)
            for i, values in enumerate(collected):
                values.append(request.get_output_tensor(i).data.copy())
    saved = {}
    for name, values in zip(names, collected):
        if len({value.shape for value in values}) == 1:  # a stack has one shape
            saved.setdefault(name, np.stack(values))
    np.savez(options.output, **saved)


if __name__ == "__main__":
    main()
