#!/usr/bin/env python3
"""The process of onnx_node_tests.py that converts and runs OpenVINO, and may crash.

Reads lines of JSON, [folder of a test, folder to write to, dynamic, constants], and answers each
with a line of JSON. It writes model.xml, in_K.npy, want_K.npy (ONNX's outputs) and openvino_K.npy.
Needs onnx 1.16, openvino and numpy. SPDX-License-Identifier: Apache-2.0
"""
import json
import os
import re
import sys

import numpy as np


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


if __name__ == "__main__":
    serve()
