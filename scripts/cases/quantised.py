# Models as quantisation leaves them: FakeQuantize on weights and activations, or integers with
# Convert, Subtract and Multiply ahead of what they are multiplied with. Computed in f32.
# SPDX-License-Identifier: Apache-2.0
import numpy as np

from . import departures, reference
from .common import Case, rng, uniform
from .dense import convolve
from .fake_quantize import fake_quantize
from .lstm_sequence import make_data, op_attrs
from .net import Net

FLOAT = "--atol 5e-6 --rtol 1e-5"
BOX = {"strides": "1,1", "pads_begin": "1,1", "pads_end": "1,1", "dilations": "1,1",
       "auto_pad": "explicit"}


class Value:
    """A port and what it holds, in f64."""
    def __init__(self, net, port, array):
        self.net, self.port, self.array = net, port, np.float64(array)

    def quantised(self, low, high, out_low=None, out_high=None, levels=256):
        bounds = [np.float32(b) for b in (low, high, low if out_low is None else out_low,
                                          high if out_high is None else out_high)]
        port = self.net.op("FakeQuantize", self.port, *map(self.net.const, bounds), levels=levels,
                           auto_broadcast="numpy")
        return Value(self.net, port, fake_quantize(self.array, *bounds, levels))

    def converted(self, dtype):
        """To an integer type that holds every element, or back."""
        return Value(self.net, self.net.op("Convert", self.port, destination_type=dtype), self.array)

    def with_(self, op, other, function):
        """An operation with constants."""
        other = np.float32(other)
        port = self.net.op(op, self.port, self.net.const(other), auto_broadcast="numpy")
        return Value(self.net, port, function(self.array, np.float64(other)))

    def dequantised(self, scale, zero=None):
        value = self.converted("f32")
        if zero is not None:
            value = value.with_("Subtract", zero, np.subtract)
        return value.with_("Multiply", scale, np.multiply)

    def relu(self):
        return Value(self.net, self.net.op("ReLU", self.port), np.maximum(self.array, 0))

    def convolved(self, filters):
        port = self.net.op("Convolution", self.port, filters.port, data=BOX)
        return Value(self.net, port, convolve(self.array, filters.array, *[[1, 1]] * 4))

    def convolved_by_groups(self, filters):
        """Depthwise: filters [C,1,1,k,k]."""
        port = self.net.op("GroupConvolution", self.port, filters.port, data=BOX)
        pieces = [
            convolve(self.array[:, c:c + 1], filters.array[c], *[[1, 1]] * 4)
            for c in range(len(filters.array))
        ]
        return Value(self.net, port, np.concatenate(pieces, 1))

    def times(self, matrix):
        """MatMul by the transposed matrix."""
        port = self.net.op("MatMul", self.port, matrix.port, transpose_a=False, transpose_b=True)
        return Value(self.net, port, self.array @ matrix.array.T)


class Model:
    def __init__(self, name, *shape):
        self.name, self.net, self.g = name, Net(name), rng("quantised", name)
        self.feed = uniform(self.g, shape, -2.2, 2.2)
        self.x = Value(self.net, self.net.param("x", "f32", list(shape)), self.feed)

    def weights(self, *shape):
        """f32 ones, for a FakeQuantize."""
        array = uniform(self.g, shape)
        return Value(self.net, self.net.const(array), array)

    def integers(self, dtype, *shape):
        array = self.g.integers(-127 if dtype == "i8" else 0, 128, shape)
        array = array.astype(np.int8 if dtype == "i8" else np.uint8)
        return Value(self.net, self.net.const(array), array)

    def scale(self, *shape):
        return uniform(self.g, shape, 0.004, 0.012)

    def case(self, y, about):
        self.net.result(y.port, "y")
        return Case("quantised", self.name, self.net, {"x": self.feed},
                    {"y": y.array.astype(np.float32)}, about, FLOAT)


def convolution_cases():
    m = Model("convolution_fake_quantize", 1, 3, 8, 8)
    high = uniform(m.g, (5, 1, 1, 1), 0.6, 1)
    w = m.weights(5, 3, 3, 3).quantised(-high, high, levels=255)
    yield m.case(m.x.quantised(-2, 1.984375).convolved(w).relu(),
                 "FakeQuantize ahead of a Convolution, on its filters for each channel.")
    m = Model("convolution_i8", 1, 3, 8, 8)
    w = m.integers("i8", 5, 3, 3, 3).dequantised(m.scale(5, 1, 1, 1))
    y = m.x.quantised(0, 2).convolved(w).with_("Add", m.scale(1, 5, 1, 1), np.add).relu()
    yield m.case(y.quantised(0, 1.5), "Filters in i8, a bias, and what follows quantised again.")
    m = Model("convolution_u8_zero_points", 1, 3, 8, 8)
    zero = m.g.integers(50, 70, (5, 1, 1, 1))
    w = m.integers("u8", 5, 3, 3, 3).dequantised(m.scale(5, 1, 1, 1), zero)
    yield m.case(m.x.convolved(w), "Filters in u8 with a zero point for each channel.")
    m = Model("convolution_u8_input", 1, 3, 8, 8)
    w = m.integers("i8", 5, 3, 3, 3).dequantised(np.float32(0.01))
    x = m.x.quantised(-2, 1.984375, 0, 255).converted("u8").dequantised(np.float32(2 / 128), 128)
    yield m.case(x.convolved(w), "The activations really become u8, and come back.")
    m = Model("group_convolution_i8", 1, 4, 8, 8)
    w = m.integers("i8", 4, 1, 1, 3, 3).dequantised(m.scale(4, 1, 1, 1, 1))
    yield m.case(m.x.quantised(-2, 1.984375).convolved_by_groups(w), "Depthwise filters in i8.")


def matmul_cases():
    m = Model("matmul_fake_quantize", 3, 24)
    w = m.weights(11, 24).quantised(-1, 1, levels=255)
    yield m.case(m.x.quantised(-2, 1.984375).times(w), "One range for all weights, 255 levels.")
    m = Model("matmul_i8_i32_bias", 3, 24)
    w = m.integers("i8", 11, 24).dequantised(m.scale(11, 1))
    bias = m.g.integers(-1000, 1000, (1, 11)).astype(np.int32)
    y = m.x.quantised(-2, 1.984375).times(w)
    bias = Value(m.net, m.net.const(bias), bias).dequantised(np.float32(0.001))
    port = m.net.op("Add", y.port, bias.port, auto_broadcast="numpy")
    y = Value(m.net, port, y.array + bias.array)
    yield m.case(y.quantised(-4, 3.96875), "Weights in i8, the bias in i32.")
    m = Model("matmul_4_levels_a_row", 3, 24)
    high = uniform(m.g, (11, 1), 0.6, 1)
    w = m.weights(11, 24).quantised(-high, high * 0.5, -2, 1, 4).with_("Multiply", high,
                                                                       np.multiply)
    yield m.case(m.x.times(w), "2-bit weights: four levels, scaled afterwards.")
    m = Model("matmul_large_fake_quantize", 1, 515)
    high = np.exp2(-(np.arange(514) % 3))[:, None] * 127 / 128
    array = np.resize(np.float32(m.g.integers(-128, 128, 251) + 0.3) / 128, (514, 515))  # no ties
    w = Value(m.net, m.net.const(array), array).quantised(-high, high, levels=255)
    y = m.x.times(w).with_("Multiply", np.float32(1 / 16), np.multiply)
    yield m.case(y, "More than 1 MB of weights, quantised row by row.")


def lstm_net(data, is_folded):
    """The net, and its operands in f64."""
    net = Net("lstm_fake_quantize")
    held, ports = {}, []
    for key, value in data.items():
        port = net.param(key, "f32", list(value.shape)) if key == "X" else None
        operand = Value(net, port, value)
        if key in ("W", "R") and is_folded:
            folded = Value(Net(""), None, value)
            folded.port = folded.net.const(value)
            operand.array = folded.quantised(-0.5, 0.5, levels=255).array
            operand.port = net.const(operand.array.astype(np.float32))
        elif key in ("W", "R", "X"):
            operand.port = port or net.const(value)
            high = 2 if key == "X" else 0.5
            operand = operand.quantised(-high, high, levels=255)
        else:
            operand.port = net.const(value)
        held[key] = operand.array
        ports.append(operand.port)
    outs = net.op("LSTMSequence", *ports, v=5, outs=3, dtype="f32", data=op_attrs(data, "forward"))
    for port, output in zip(outs, ("Y", "Ho", "Co")):
        net.result(port, output)
    return net, held


def lstm_case():
    data = make_data(("quantised", "lstm"), 2, 4, 6, 5)
    net, held = lstm_net(data, False)
    want = reference.lstm_sequence(*(held[k] for k in ("X", "H0", "C0", "lengths", "W", "R", "B")))
    return Case("quantised", net.name, net, {"X": data["X"]},
                {k: v.astype(np.float32) for k, v in zip(("Y", "Ho", "Co"), want)},
                "FakeQuantize on X, W and R of an LSTMSequence.", FLOAT,
                departures.QUANTISED_SEQUENCE, stand_in=lstm_net(data, True)[0])


def cases():
    yield from convolution_cases()
    yield from matmul_cases()
    yield lstm_case()
