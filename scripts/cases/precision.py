# --precision. f16: a model with f32 weights gives what one with weights rounded to f16 gives. So every case is made
# twice, and the golden is that of the rounded weights, in float64. bf16: both factors of a product are rounded; for
# OpenVINO the model is written out with two Converts before each product.
# SPDX-License-Identifier: Apache-2.0
import numpy as np

from . import dense, lstm_sequence, recurrent
from .common import RECURRENT, Case, rng, uniform
from .convolution_transposed import backprop_case
from .lstm_sequence import make_data
from .net import Net, round_bf16

FAMILY = "precision"
FLOAT = "--atol 2e-6 --rtol 1e-5"
F16_MAX = 65504


def f16(values):
    """values rounded to f16 and clamped to its range, as f32."""
    return np.float32(np.float16(np.clip(values, -F16_MAX, F16_MAX)))


def case(name, about, make, weights, args=FLOAT, precision="f16"):
    """make: weights -> a Case of another family."""
    narrow = f16 if precision == "f16" else round_bf16
    exact, rounded = make(weights), make({k: narrow(v) for k, v in weights.items()})
    return Case(FAMILY, name, exact.net, exact.feed, rounded.want, about, f"{args} --precision={precision}",
                stand_in=rounded.net, runs_openvino=False)


def product_cases():
    g = rng(FAMILY, "products")
    a, rows, many = uniform(g, (1, 70)), uniform(g, (3, 70)), uniform(g, (4, 70))
    wide, tall = uniform(g, (70, 119)), uniform(g, (941, 9))
    large = np.float32([[1e6, -70000, 65504, 65519, -65520], [1e-5, 3e-8, -2e-8, 6.1e-5, -0.0]])
    long = uniform(g, (2, 1700)) / 32
    for name, x, w, about in (("row", a, wide, "A packed constant and one row."),
                              ("rows", rows, wide, "A packed constant and three rows."),
                              ("few_columns", long, uniform(g, (1700, 5)), "Too few columns to pack."),
                              ("range", np.float32([[1e-3, 1]]), np.tile(large, 820), "Weights out of the range of f16.")):
        yield case(f"f16_matmul_{name}", about,
                   lambda v, x=x, name=name: dense.matmul_case(f"f16_matmul_{name}", x, v["w"], "", const_b=True),
                   {"w": w})

    columns = uniform(g, (9, 3))

    def first(v):
        net = Net("f16_matmul_first")
        net.result(net.op("MatMul", net.const(v["w"]), net.param("x", "f32", [9, 3]), data={"transpose_a": False,
                                                                                          "transpose_b": False}), "y")
        return Case("", "", net, {"x": columns}, {"y": np.float32(np.float64(v["w"]) @ np.float64(columns))}, "")
    yield case("f16_matmul_first", "The first operand is constant.", first, {"w": tall})

    def einsum(v):
        net = Net("f16_einsum")
        net.result(net.op("Einsum", net.param("x", "f32", [3, 70]), net.const(v["w"]), v=7, equation="ij,jk->ki"), "y")
        return Case("", "", net, {"x": rows}, {"y": np.float32((np.float64(rows) @ np.float64(v["w"])).T)}, "")
    yield case("f16_einsum", "Einsum.", einsum, {"w": wide})
    one = dense.matmul_case("f16_unrounded_rows", many, wide, "", const_b=True)
    yield Case(FAMILY, "f16_unrounded_rows", one.net, one.feed, one.want,
               "A product of four rows gains nothing, and keeps its weights.", f"{FLOAT} --precision=f16")


def kept_cases():
    """What is not a constant operand of a product is not rounded."""
    g = rng(FAMILY, "kept")
    x, w, bias, scale = uniform(g, (3, 48)), uniform(g, (48, 172)), uniform(g, (172,)), uniform(g, (3, 1))
    codes, step = g.integers(0, 255, (18, 172)).astype(np.uint8), uniform(g, (18, 1), 0.001, 0.01)

    def make(name, v):
        net = Net(name)
        first = net.op("MatMul", net.param("x", "f32", [3, 48]), net.const(v["w"]), data={"transpose_a": False,
                                                                                       "transpose_b": False})
        first = net.op("Multiply", net.op("Add", first, net.const(bias)), net.const(scale))
        wide = net.op("Multiply", net.op("Convert", net.const(codes), destination_type="f32"), net.const(step))
        net.result(net.op("MatMul", first, wide, data={"transpose_a": False, "transpose_b": True}), "y")
        want = (np.float64(x) @ np.float64(v["w"]) + bias) * np.float64(scale) @ (codes * np.float64(step)).T
        return Case("", "", net, {"x": x}, {"y": np.float32(want)}, "")
    about = "A bias, a factor of a Multiply and quantized weights stay as they are"
    for name, rest, args in (("f16_kept", ".", ""), ("f16_kept_unfused", ", also when they are expanded.", " --no-fuse")):
        yield case(name, about + rest, lambda v, name=name: make(name, v), {"w": w}, "--atol 1e-5 --rtol 1e-5" + args)


def small_cases():
    """The most weights that are not rounded, in two constants."""
    for precision, inputs, hidden in (("f16", 29, 33), ("bf16", 12, 11)):
        name = f"{precision}_unrounded_small"
        data = make_data((FAMILY, name), 1, 4, inputs, hidden, "forward")
        one = lstm_sequence.case(name, "", (1, 4, inputs, hidden), "forward", data=data)
        yield Case(FAMILY, name, one.net, one.feed, one.want, "A product of few weights gains nothing, and keeps them.",
                   f"{RECURRENT} --precision={precision}")


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
    """Nothing is rounded. The weights are not exact in f16."""
    g = rng(FAMILY, "convolutions")
    x = uniform(g, (1, 6, 9, 11))
    for name, make, w, about in (
            ("positions", lambda n, w: dense.convolution_case(n, x, w, "", begin=[1, 1], end=[1, 1]),
             uniform(g, (20, 6, 3, 3)), "A convolution."),
            ("groups", lambda n, w: grouped(n, x, w), uniform(g, (2, 5, 3, 3, 3)), "Two groups."),
            ("depthwise", lambda n, w: grouped(n, x, w), uniform(g, (6, 1, 1, 3, 3)), "A group for each channel."),
            ("transposed", lambda n, w: backprop_case(n, x, w, "", strides=[2, 2], constant=True),
             uniform(g, (6, 4, 3, 3)), "ConvolutionBackpropData.")):
        for precision in ("f16", "bf16"):
            full = f"{precision}_unrounded_{name}"
            one = make(full, w)
            yield Case(FAMILY, full, one.net, one.feed, one.want, f"{about} Its filters gain nothing, and are kept.",
                       f"{FLOAT} --precision={precision}")


def recurrent_cases():
    for name, size, direction in (("one_row", (1, 6, 23, 37), "forward"), ("batch", (5, 4, 15, 39), "bidirectional")):
        lstm = make_data((FAMILY, "lstm", name), *size, direction)
        yield case(f"f16_lstm_{name}", f"LSTMSequence, B {size[0]}.",
                   lambda v, name=name, size=size, direction=direction, lstm=lstm: lstm_sequence.case(
                       f"f16_lstm_{name}", "", size, direction, data={**lstm, **v}),
                   {k: lstm[k] for k in "WR"}, RECURRENT)
    for kind, gates, lbr, hidden in (("gru", 3, False, 49), ("gru", 3, True, 49), ("rnn", 1, False, 87)):
        name = f"f16_{kind}{'_linear' * lbr}"
        data = make_data((FAMILY, name), 2, 5, 9, hidden, "forward", None, np.float32, gates, gates + lbr, 1)
        yield case(name, f"{kind.upper()}Sequence.",
                   lambda v, kind=kind, name=name, data=data, lbr=lbr, hidden=hidden: recurrent.sequence_case(
                       kind, name, "", (2, 5, 9, hidden), data={**data, **v}, lbr=lbr),
                   {k: data[k] for k in "WR"}, RECURRENT)


def bf16(values):
    return np.float64(round_bf16(np.float32(values)))


def product_cases_bf16():
    g = rng(FAMILY, "bf16 products")
    attrs = {"transpose_a": False, "transpose_b": False}
    for name, x, w, about in (
            ("row", uniform(g, (1, 71)), uniform(g, (71, 37)), "One row, an odd number of terms."),
            ("rows", uniform(g, (11, 600)), uniform(g, (600, 64)) / 16, "Rows, more terms than a block."),
            ("special", np.float32([[np.inf, 1], [np.nan, 1], [-np.inf, np.inf], [3.4e38, 1], [3.38e38, 0], [-0.0, 0]]),
             np.float32((np.arange(1, 1025) % 32 + 1).reshape(2, 512) / 64), "NaN and infinity stay; what is beyond bf16 becomes infinity."),
            ("few_columns", uniform(g, (3, 206)), uniform(g, (206, 5)), "Few columns."),
            ("ties", np.float32([[1 + 2**-8, 1 + 3 * 2**-8, -1 - 2**-8, 2**-8]]),
             np.float32(np.arange(1, 1025).reshape(4, 256) * (1 + 2**-8)), "Halfway cases go to the even neighbour.")):
        net, written = Net(f"bf16_matmul_{name}"), Net(f"bf16_matmul_{name}")
        net.result(net.op("MatMul", net.param("x", "f32", list(x.shape)), net.const(w), data=attrs), "y")
        written.result(written.op("MatMul", rounded_port(written, written.param("x", "f32", list(x.shape))),
                                  written.const(round_bf16(w)), data=attrs), "y")
        with np.errstate(invalid="ignore"):
            want = np.float32(bf16(x) @ bf16(w))
        yield Case(FAMILY, f"bf16_matmul_{name}", net, {"x": x}, {"y": want}, about,
                   f"{FLOAT} --precision=bf16", stand_in=written, runs_openvino=False)


def tiled_case_bf16():
    """The constant is packed in slices of 256 KB; a Tile keeps the file small."""
    g, name = rng(FAMILY, "bf16 slices"), "bf16_matmul_slices"
    x, w = uniform(g, (2, 80)), uniform(g, (40, 16))
    net, written = Net(name), Net(name)
    for which, weights in ((net, w), (written, round_bf16(w))):
        port = which.param("x", "f32", [2, 80])
        b = which.op("Tile", which.const(weights), which.i64([2, 64]))
        which.result(which.op("MatMul", port if which is net else rounded_port(which, port), b,
                              data={"transpose_a": False, "transpose_b": False}), "y")
    want = np.float32(bf16(x) @ np.tile(bf16(w), (2, 64)))
    return Case(FAMILY, name, net, {"x": x}, {"y": want}, "A constant of more than one slice.",
                f"{FLOAT} --precision=bf16", stand_in=written, runs_openvino=False)


def largest_case_bf16():
    """Finite weights stay finite: those of f32 below 2^128, those that were f16 below 65536."""
    name, largest = "bf16_largest", round_bf16(np.float32(3.389e38))
    wide = np.full((2, 512), np.finfo(np.float32).max)
    wide[1] = -wide[0]
    nets = Net(name), Net(name)
    for net, w, half in ((nets[0], wide, 65504), (nets[1], np.sign(wide) * largest, 65280)):
        x, z = net.param("x", "f32", [1, 2]), net.param("z", "f16", [1, 16, 3])
        net.result(net.op("MatMul", x, net.const(np.float32(w)), data={"transpose_a": False, "transpose_b": False}), "y")
        net.result(net.op("Convolution", z, net.const(np.full((1, 16, 1), half, np.float16)),
                          data=convolution_attrs(1)), "c")
    x, z = np.float32([[1, 0]]), np.zeros((1, 16, 3), np.float16)
    z[0, 3] = 0.5, 0, -0.25
    want = {"y": np.full((1, 512), largest, np.float32), "c": np.float16(np.float64(z[:, 3:4]) * 65280)}
    return Case(FAMILY, name, nets[0], {"x": x, "z": z}, want, "The largest weights do not become infinite.",
                f"{FLOAT} --precision=bf16", stand_in=nets[1], runs_openvino=False)


def rounded_port(net, port):
    return net.op("Convert", net.op("Convert", port, destination_type="bf16"), destination_type="f32")


class Written:
    """A recurrent cell as ops of a Net, with the products of bf16, beside the same in float64. A value is a pair of a
    port and an array."""
    def __init__(self, net):
        self.net = net

    def product(self, x, w):
        port = self.net.op("MatMul", rounded_port(self.net, x[0]), self.net.const(round_bf16(w)),
                           data={"transpose_a": False, "transpose_b": True})
        return port, bf16(x[1]) @ bf16(w).T

    def add(self, x, y):
        return self.net.op("Add", x[0], y[0]), x[1] + y[1]

    def multiply(self, x, y):
        return self.net.op("Multiply", x[0], y[0]), x[1] * y[1]

    def rest(self, x):
        return self.net.op("Subtract", self.net.const(np.float32([1])), x[0]), 1 - x[1]

    def const(self, values):
        return self.net.const(values), np.float64(values)

    def sigmoid(self, x):
        return self.net.op("Sigmoid", x[0]), 1 / (1 + np.exp(-x[1]))

    def tanh(self, x):
        return self.net.op("Tanh", x[0]), np.tanh(x[1])


def lstm_step_bf16(at, x, h, c, w, r, b):
    size = r.shape[1]
    f, i, g, o = (at.add(at.add(at.product(x, w[k:k + size]), at.product(h, r[k:k + size])), at.const(b[k:k + size]))
                  for k in range(0, 4 * size, size))
    c = at.add(at.multiply(at.sigmoid(f), c), at.multiply(at.sigmoid(i), at.tanh(g)))
    return at.multiply(at.sigmoid(o), at.tanh(c)), c


def gru_step_bf16(at, x, h, w, r, b):
    size = r.shape[1]
    wz, wr, wn = np.split(w, 3)
    rz, rr, rn = np.split(r, 3)
    bz, br, bn = (at.const(part) for part in np.split(b[:3 * size], 3))
    z = at.sigmoid(at.add(at.add(at.product(x, wz), at.product(h, rz)), bz))
    reset = at.sigmoid(at.add(at.add(at.product(x, wr), at.product(h, rr)), br))
    if len(b) > 3 * size:
        inner = at.multiply(reset, at.add(at.product(h, rn), at.const(b[3 * size:])))
    else:
        inner = at.product(at.multiply(reset, h), rn)
    n = at.tanh(at.add(at.add(at.product(x, wn), inner), bn))
    return (at.add(at.multiply(at.rest(z), n), at.multiply(z, h)),)


def rnn_step_bf16(at, x, h, w, r, b):
    return (at.tanh(at.add(at.add(at.product(x, w), at.product(h, r)), at.const(b))),)


def cell_cases_bf16():
    """Two steps of a cell. Further ones would multiply the chance that a state of f32 and one of f64 round to
    neighbours in bf16."""
    for kind, op, gates, step, lbr in (("lstm", "LSTMCell", 4, lstm_step_bf16, False),
                                       ("gru", "GRUCell", 3, gru_step_bf16, False),
                                       ("gru_linear", "GRUCell", 3, gru_step_bf16, True),
                                       ("rnn", "RNNCell", 1, rnn_step_bf16, False)):
        for batch, inputs, hidden in ((1, 19, 33), (9, 40, 24)):
            name, names = f"bf16_{kind}_b{batch}", ["h", "c"][:1 + (kind == "lstm")]
            data = make_data((FAMILY, name), batch, 2, inputs, hidden, "forward", None, np.float32, gates, gates + lbr,
                             len(names))
            w, r, b = (data[k][0] for k in "WRB")
            feed = {"x0": data["X"][:, 0], "x1": data["X"][:, 1]}
            feed |= {n: data[k][:, 0] for n, k in zip(names, ("H0", "C0"))}
            net, written = Net(name), Net(name)
            at = Written(written)
            ports = {k: net.param(k, "f32", list(v.shape)) for k, v in feed.items()}
            values = {k: (written.param(k, "f32", list(v.shape)), np.float64(v)) for k, v in feed.items()}
            attrs = {"hidden_size": hidden} | ({"linear_before_reset": lbr} if op == "GRUCell" else {})
            states, now = [ports[n] for n in names], [values[n] for n in names]
            for x in ("x0", "x1"):
                out = net.op(op, ports[x], *states, net.const(w), net.const(r), net.const(b),
                             v=4 if kind == "lstm" else 3, outs=len(names), data=attrs)
                states = list(out) if isinstance(out, tuple) else [out]
                now = step(at, values[x], *now, w, r, b)
            for n, port, value in zip(names, states, now):
                net.result(port, f"{n}_out")
                written.result(value[0], f"{n}_out")
            yield Case(FAMILY, name, net, feed, {f"{n}_out": np.float32(v[1]) for n, v in zip(names, now)},
                       f"{op}, B {batch}: W x and R h of bf16, the rest of f32.", f"{FLOAT} --precision=bf16",
                       stand_in=written, runs_openvino=False)


def weights_case_bf16():
    g = rng(FAMILY, "bf16 weights")
    x, w = uniform(g, (1, 3, 20)), uniform(g, (347, 3))

    def make(v):
        net = Net("bf16_weights")
        p = net.param("x", "f32", [1, 3, 20])
        net.result(net.op("MatMul", net.const(v["w"]), p, data={"transpose_a": False, "transpose_b": False}), "y")
        return Case("", "", net, {"x": x}, {"y": np.float32(np.float64(v["w"]) @ np.float64(x))}, "")
    return case("bf16_weights", "With a constant first operand only the weights are rounded.", make, {"w": w}, FLOAT, "bf16")


def convolution_attrs(rank, strides=None, pads=None, dilations=None):
    return {"strides": strides or [1] * rank, "dilations": dilations or [1] * rank, "pads_begin": pads or [0] * rank,
            "pads_end": pads or [0] * rank, "auto_pad": "explicit"}


def convolved(x, w, attrs):
    return dense.convolve(x, w, attrs["strides"], attrs["pads_begin"], attrs["pads_end"], attrs["dilations"])


def convolution_cases_bf16():
    """Filters of at least 16 channels: both factors are rounded."""
    g = rng(FAMILY, "bf16 convolutions")
    x, x1 = uniform(g, (2, 17, 6, 9)), uniform(g, (1, 32, 30))
    for name, data, w, more, about in (
            ("odd", x, uniform(g, (20, 17, 3, 3)) / 4, {"pads": [1, 1]}, "An odd number of channels, pads."),
            ("strides", x, uniform(g, (5, 17, 2, 3)) / 4, {"strides": [2, 2]}, "Strides."),
            ("dilations", x1, uniform(g, (40, 32, 3)) / 4, {"dilations": [5], "pads": [4]}, "One axis, dilations."),
            ("point", x1, uniform(g, (70, 32, 1)) / 4, {}, "A kernel of one element."),
            ("long", uniform(g, (1, 60, 1, 8)), uniform(g, (16, 60, 1, 5)) / 8, {}, "More terms than a block."),
            ("one", uniform(g, (1, 16, 1, 1)), uniform(g, (1, 16, 1, 1)), {}, "One product.")):
        net, written = Net(f"bf16_convolution_{name}"), Net(f"bf16_convolution_{name}")
        attrs = convolution_attrs(data.ndim - 2, **more)
        net.result(net.op("Convolution", net.param("x", "f32", list(data.shape)), net.const(w), data=attrs), "y")
        written.result(written.op("Convolution", rounded_port(written, written.param("x", "f32", list(data.shape))),
                                  written.const(round_bf16(w)), data=attrs), "y")
        yield Case(FAMILY, f"bf16_convolution_{name}", net, {"x": data},
                   {"y": np.float32(convolved(bf16(data), bf16(w), attrs))}, about, f"{FLOAT} --precision=bf16",
                   stand_in=written, runs_openvino=False)


def convolution_chain_bf16():
    """Numbers whose sums are exact, so that the second convolution rounds the same ones everywhere."""
    g, name = rng(FAMILY, "bf16 chain"), "bf16_convolution_chain"
    x, first, second = (g.integers(-8, 9, shape) / 8 for shape in ((1, 16, 7, 7), (32, 16, 3, 3), (48, 32, 1, 1)))
    first, second = (np.float32(w * (1 + 2**-10)) for w in (first, second))
    nets, attrs = (Net(name), Net(name)), convolution_attrs(2)
    for net in nets:
        port = net.param("x", "f32", list(x.shape))
        for w in (first, second):
            port = net.op("Convolution", port if net is nets[0] else rounded_port(net, port),
                          net.const(w if net is nets[0] else round_bf16(w)), data=attrs)
        net.result(port, "y")
    want = convolved(bf16(convolved(x, bf16(first), attrs)), bf16(second), attrs)
    return Case(FAMILY, name, nets[0], {"x": np.float32(x)}, {"y": np.float32(want)},
                "Two convolutions with the channels last between them.", f"{FLOAT} --precision=bf16", stand_in=nets[1],
                runs_openvino=False)


def cases():
    yield from product_cases()
    yield from kept_cases()
    yield from convolution_cases()
    yield from recurrent_cases()
    yield from small_cases()
    yield from product_cases_bf16()
    yield from cell_cases_bf16()
    yield weights_case_bf16()
    yield tiled_case_bf16()
    yield largest_case_bf16()
    yield from convolution_cases_bf16()
    yield convolution_chain_bf16()
