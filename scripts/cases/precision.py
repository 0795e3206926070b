# --precision=f16: a model with f32 weights gives what one with weights rounded to f16 gives. So every case is made
# twice, and the golden is that of the rounded weights, in float64.
# SPDX-License-Identifier: Apache-2.0
import numpy as np

from . import dense, lstm_sequence, recurrent
from .common import RECURRENT, Case, rng, uniform
from .convolution_transposed import backprop_case
from .lstm_sequence import make_data
from .net import Net

FAMILY = "precision"
FLOAT = "--atol 2e-6 --rtol 1e-5"
F16_MAX = 65504


def f16(values):
    """values rounded to f16 and clamped to its range, as f32."""
    return np.float32(np.float16(np.clip(values, -F16_MAX, F16_MAX)))


def case(name, about, make, weights, args=FLOAT):
    """make: weights -> a Case of another family."""
    exact, rounded = make(weights), make({k: f16(v) for k, v in weights.items()})
    return Case(FAMILY, name, exact.net, exact.feed, rounded.want, about, f"{args} --precision=f16",
                stand_in=rounded.net, runs_openvino=False)


def product_cases():
    g = rng(FAMILY, "products")
    a, rows = uniform(g, (1, 70)), uniform(g, (9, 70))
    wide, narrow, tall = uniform(g, (70, 37)), uniform(g, (70, 5)), uniform(g, (19, 9))
    large = np.float32([[1e6, -70000, 65504, 65519, -65520], [1e-5, 3e-8, -2e-8, 6.1e-5, -0.0]])
    for name, x, w, about in (("row", a, wide, "A packed constant and one row."),
                              ("rows", rows, wide, "A packed constant and nine rows."),
                              ("few_columns", rows, narrow, "Too few columns to pack."),
                              ("range", np.float32([[1e-3, 1]]), large, "Weights out of the range of f16.")):
        yield case(f"f16_matmul_{name}", about,
                   lambda v, x=x, name=name: dense.matmul_case(f"f16_matmul_{name}", x, v["w"], "", const_b=True),
                   {"w": w})

    def first(v):
        net = Net("f16_matmul_first")
        net.result(net.op("MatMul", net.const(v["w"]), net.param("x", "f32", [9, 70]), data={"transpose_a": False,
                                                                                          "transpose_b": False}), "y")
        return Case("", "", net, {"x": rows}, {"y": np.float32(np.float64(v["w"]) @ np.float64(rows))}, "")
    yield case("f16_matmul_first", "The first factor is constant.", first, {"w": tall})

    def einsum(v):
        net = Net("f16_einsum")
        net.result(net.op("Einsum", net.param("x", "f32", [9, 70]), net.const(v["w"]), v=7, equation="ij,jk->ki"), "y")
        return Case("", "", net, {"x": rows}, {"y": np.float32((np.float64(rows) @ np.float64(v["w"])).T)}, "")
    yield case("f16_einsum", "Einsum.", einsum, {"w": wide})


def kept_cases():
    """What is not a constant factor of a product is not rounded."""
    g = rng(FAMILY, "kept")
    x, w, bias, scale = uniform(g, (3, 20)), uniform(g, (20, 18)), uniform(g, (18,)), uniform(g, (3, 1))
    codes, step = g.integers(0, 255, (18, 18)).astype(np.uint8), uniform(g, (18, 1), 0.001, 0.01)

    def make(name, v):
        net = Net(name)
        first = net.op("MatMul", net.param("x", "f32", [3, 20]), net.const(v["w"]), data={"transpose_a": False,
                                                                                       "transpose_b": False})
        first = net.op("Multiply", net.op("Add", first, net.const(bias)), net.const(scale))
        wide = net.op("Multiply", net.op("Convert", net.const(codes), destination_type="f32"), net.const(step))
        net.result(net.op("MatMul", first, wide, data={"transpose_a": False, "transpose_b": True}), "y")
        want = (np.float64(x) @ np.float64(v["w"]) + bias) * np.float64(scale) @ (codes * np.float64(step)).T
        return Case("", "", net, {"x": x}, {"y": np.float32(want)}, "")
    about = "A bias, a factor of a Multiply and quantized weights stay as they are"
    for name, rest, args in (("f16_kept", ".", ""), ("f16_kept_unfused", ", also when they are expanded.", " --no-fuse")):
        yield case(name, about + rest, lambda v, name=name: make(name, v), {"w": w}, "--atol 1e-5 --rtol 1e-5" + args)


def grouped(name, x, w):
    net = Net(name)
    zeros = [0] * (x.ndim - 2)
    attrs = {"strides": [1] * len(zeros), "dilations": [1] * len(zeros), "pads_begin": zeros, "pads_end": zeros,
             "auto_pad": "explicit"}
    net.result(net.op("GroupConvolution", net.param("x", "f32", list(x.shape)), net.const(w), data=attrs), "y")
    want = [dense.convolve(np.float64(part), np.float64(filters), [1] * len(zeros), zeros, zeros, [1] * len(zeros))
            for part, filters in zip(np.split(x, w.shape[0], axis=1), w)]
    return Case("", "", net, {"x": x}, {"y": np.float32(np.concatenate(want, axis=1))}, "")


def convolution_cases():
    g = rng(FAMILY, "convolutions")
    x, x1 = uniform(g, (1, 6, 9, 11)), uniform(g, (2, 4, 30))
    for name, data, w, more, about in (
            ("positions", x, uniform(g, (20, 6, 3, 3)), {"begin": [1, 1], "end": [1, 1]}, "A 3x3 kernel."),
            ("strides", x, uniform(g, (5, 6, 2, 3)), {"strides": [2, 2]}, "Strides."),
            ("one_axis", x1, uniform(g, (17, 4, 5)), {}, "One axis.")):
        yield case(f"f16_convolution_{name}", about,
                   lambda v, data=data, name=name, more=more: dense.convolution_case(
                       f"f16_convolution_{name}", data, v["w"], "", **more), {"w": w})
    for name, w, about in (("depthwise", uniform(g, (6, 1, 1, 3, 3)), "A group for each channel."),
                           ("groups", uniform(g, (2, 5, 3, 3, 3)), "Two groups.")):
        yield case(f"f16_convolution_{name}", about, lambda v, name=name: grouped(f"f16_convolution_{name}", x, v["w"]),
                   {"w": w})
    yield case("f16_convolution_transposed", "ConvolutionBackpropData.",
               lambda v: backprop_case("f16_convolution_transposed", x, v["w"], "", strides=[2, 2],
                                       constant=True),
               {"w": uniform(g, (6, 4, 3, 3))})


def recurrent_cases():
    for name, size, direction in (("one_row", (1, 6, 20, 33), "forward"), ("batch", (5, 4, 7, 18), "bidirectional")):
        lstm = make_data((FAMILY, "lstm", name), *size, direction)
        yield case(f"f16_lstm_{name}", f"LSTMSequence, B {size[0]}.",
                   lambda v, name=name, size=size, direction=direction, lstm=lstm: lstm_sequence.case(
                       f"f16_lstm_{name}", "", size, direction, data={**lstm, **v}),
                   {k: lstm[k] for k in "WR"}, RECURRENT)
    for kind, gates, lbr in (("gru", 3, False), ("gru", 3, True), ("rnn", 1, False)):
        name = f"f16_{kind}{'_linear' * lbr}"
        data = make_data((FAMILY, name), 2, 5, 9, 21, "forward", None, np.float32, gates, gates + lbr, 1)
        yield case(name, f"{kind.upper()}Sequence.",
                   lambda v, kind=kind, name=name, data=data, lbr=lbr: recurrent.sequence_case(
                       kind, name, "", (2, 5, 9, 21), data={**data, **v}, lbr=lbr),
                   {k: data[k] for k in "WR"}, RECURRENT)


def cases():
    yield from product_cases()
    yield from kept_cases()
    yield from convolution_cases()
    yield from recurrent_cases()
