# Images of bytes that are reduced over their pixels, multiplied by computed factors, or transposed.
# SPDX-License-Identifier: Apache-2.0
import numpy as np

from .common import uniform
from .int8 import Quantised
from .int8_chains import line
from .quantised import Value


def reduced(m, kind, x, axes, keep_dims):
    port = m.net.op(kind, x.port, m.net.i64(axes), keep_dims=keep_dims)
    function = {"ReduceMax": np.max, "ReduceMean": np.mean}[kind]
    return Value(m.net, port, function(x.array, axis=tuple(np.atleast_1d(axes)), keepdims=keep_dims))


def reduced_cases():
    m = Quantised("reduce_max", (2, 6, 5, 7), -1, 1.1)
    y = m.convolved(m.x, m.integers(21, 6, 3, 3)).quantised(-2, 1.9)
    yield m.case("The maxima of the channels, on to a product.",
                 m.multiplied(reduced(m, "ReduceMax", y, [2, 3], False), m.integers(7, 21)))
    m = Quantised("reduce_max_kept", (2, 6, 5, 7), -1, 1.1)
    y = m.convolved(m.x, m.integers(21, 6, 3, 3)).quantised(-2, 1.9)
    z = reduced(m, "ReduceMax", y, [-1, 2], True)
    yield m.case("An image of one pixel, which a convolution and somebody else read.",
                 m.convolved(z, m.integers(7, 21, 1, 1), pads=(0, 0)), z)
    m = Quantised("reduce_max_line", (2, 6, 40))
    y = line(m, m.x, m.integers(33, 6, 3)).quantised(-2, 2.1)
    yield m.case("One dimension.", reduced(m, "ReduceMax", y, 2, False))
    m = Quantised("reduce_max_channels", (1, 6, 5, 7))
    y = m.convolved(m.x, m.integers(9, 6, 3, 3)).quantised(-2, 2)
    yield m.case("Over other axes, in f32.", reduced(m, "ReduceMax", y, [1, 2], True))
    m = Quantised("reduce_mean", (1, 3, 17, 19), -1, 1.1)
    y = m.convolved(m.x, m.integers(21, 3, 3, 3)).quantised(-2, 1.97)
    yield m.case("More pixels than a sum of 16 bits holds.", reduced(m, "ReduceMean", y, [3, 2], True))
    m = Quantised("reduce_mean_large", (1, 1, 1, 1))
    m.feed[:] = 3
    image = [1, 1, 4105, 4105]
    port = m.net.op("Broadcast", m.x.port, m.net.i64(image), mode="numpy")
    y = Value(m.net, port, np.full(image, 2.0)).with_("Add", 0, np.add).quantised(0, 2)
    w = Value(m.net, m.net.const(np.int8([[[[127]]]])), [[[[127]]]]).dequantised(np.float32(1 / 64))
    y = m.convolved(y, w, pads=(0, 0)).quantised(0, 2)
    yield m.case("More pixels than a sum of 32 bits holds.", reduced(m, "ReduceMean", y, [2, 3], True))
    m = Quantised("reduce_mean_line", (2, 6, 9))
    y = line(m, m.x, m.integers(5, 6, 3)).quantised(0.5, 2)
    yield m.case("No level is 0.", reduced(m, "ReduceMean", y, [2], False))
    m = Quantised("reduce_max_dynamic", (1, 6, 4, 3), dynamic=True)
    y = m.convolved(m.x, m.integers(5, 6, 3, 3)).quantised(-2, 2)
    yield m.case("No dimension is known.", reduced(m, "ReduceMax", y, [2, 3], True))


def weighted(m, x, factors):
    return Value(m.net, m.net.op("Multiply", x.port, factors.port, auto_broadcast="numpy"),
                 x.array * factors.array)


def gate(m, x, n):
    """Factors of an image: a product of its means."""
    y = reduced(m, "ReduceMean", x, [2, 3], True)
    w = uniform(m.g, (n, y.array.shape[1], 1, 1), -0.4, 0.7)
    return m.convolved(y, Value(m.net, m.net.const(w), w), pads=(0, 0))


def weighted_cases():
    m = Quantised("weighted", (2, 6, 5, 7), -1, 1.1)
    y = m.convolved(m.x, m.integers(21, 6, 3, 3)).quantised(-2, 1.9)
    y = weighted(m, y, gate(m, y, 21)).quantised(-1.3, 1.1)
    yield m.case("A factor for each channel, from the means; the next convolution.",
                 m.convolved(y, m.integers(5, 21, 1, 1), pads=(0, 0)))
    m = Quantised("weighted_relu", (2, 6, 5, 7), -1, 1.1)
    y = m.convolved(m.x, m.integers(32, 6, 3, 3)).quantised(-2, 1.9)
    y = weighted(m, gate(m, y, 1), y).relu().quantised(0.01, 1.1)
    yield m.case("One factor, the first operand; no level is 0.", y)
    m = Quantised("weighted_one", (1, 6, 5, 7))
    y = m.convolved(m.x, m.integers(7, 6, 3, 3)).quantised(-2, 2)
    factors = Value(m.net, m.net.param("factors", "f32", [3, 7, 1, 1]), uniform(m.g, (3, 7, 1, 1), -1, 1))
    case = m.case("Three images of one.", weighted(m, y, factors).quantised(-1.5, 1.6))
    case.feed["factors"] = factors.array.astype(np.float32)
    yield case
    m = Quantised("weighted_line", (2, 6, 40), -1, 1.1)
    y = line(m, m.x, m.integers(21, 6, 3)).quantised(-2, 1.9)
    factors = Value(m.net, m.net.param("factors", "f32", [2, 21, 1]), uniform(m.g, (2, 21, 1), -1, 1))
    case = m.case("One dimension.", weighted(m, y, factors).quantised(-1.5, 1.6))
    case.feed["factors"] = factors.array.astype(np.float32)
    yield case
    m = Quantised("weighted_pixels", (1, 6, 5, 7))
    y = m.convolved(m.x, m.integers(7, 6, 3, 3)).quantised(-2, 2)
    z = m.convolved(m.x, m.integers(7, 6, 3, 3)).quantised(-2, 2)
    yield m.case("Factors for each pixel, in f32.", weighted(m, y, z).quantised(-1.5, 1.6))


def last_cases():
    m = Quantised("to_last", (2, 6, 5, 7), -1, 1.1)
    y = m.biased(m.convolved(m.x, m.integers(21, 6, 3, 3))).relu()
    port = m.net.op("Transpose", y.port, m.net.i64([0, 2, 3, 1]))
    yield m.case("Results in f32 that are transposed to the channels last.",
                 Value(m.net, port, y.array.transpose(0, 2, 3, 1)))
    m = Quantised("to_last_line", (2, 6, 60))
    y = line(m, m.x, m.integers(18, 6, 3))
    port = m.net.op("Transpose", y.port, m.net.i64([0, 2, 1]))
    yield m.case("One dimension.", Value(m.net, port, y.array.transpose(0, 2, 1)))
    m = Quantised("to_last_depthwise", (1, 20, 9, 9))
    y = m.convolved(m.x, m.integers(20, 1, 1, 3, 3))
    port = m.net.op("Transpose", y.port, m.net.i64([0, 2, 3, 1]))
    yield m.case("Channel by channel.", Value(m.net, port, y.array.transpose(0, 2, 3, 1)))
    m = Quantised("to_rows", (1, 6, 5, 5))
    y = m.convolved(m.x, m.integers(9, 6, 3, 3))
    port = m.net.op("Transpose", y.port, m.net.i64([0, 1, 3, 2]))
    yield m.case("Another order.", Value(m.net, port, y.array.transpose(0, 1, 3, 2)))


def tap_cases():
    for kernel, stride in ((5, 1), (5, 2), (7, 2), (2, 1)):
        m = Quantised(f"depthwise_{kernel}_by_{kernel}_{stride}", (1, 21, 13, 14), -1, 1.1)
        w = m.integers(21, 1, 1, kernel, kernel)
        pad = kernel // 2
        yield m.case(f"Kernels of {kernel} at stride {stride}.",
                     m.convolved(m.x, w, (stride, stride), (pad, pad)).quantised(-3, 3.1))
    m = Quantised("depthwise_wide", (1, 16, 3, 90))
    yield m.case("Rows of two blocks, few taps above each other.",
                 m.convolved(m.x, m.integers(16, 1, 1, 2, 40), pads=(0, 9)).quantised(-5, 5))


def cases():
    yield from reduced_cases()
    yield from weighted_cases()
    yield from last_cases()
    yield from tap_cases()
