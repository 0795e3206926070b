# Ops between convolutions and products of bytes that pass bytes on.
# SPDX-License-Identifier: Apache-2.0
import math

import numpy as np

from .common import uniform
from .convolution_transposed import transpose_convolve
from .int8 import Quantised
from .quantised import Value


def pooled(m, x, kernel, stride, pad, rounding="floor", dilation=1):
    """MaxPool of rows and columns alike; pads take no part. An empty window has the lowest number."""
    version = {} if dilation == 1 else {"v": 8, "outs": 2, "dilations": f"{dilation},{dilation}",
                                        "index_element_type": "i64", "axis": 0}
    port = m.net.op("MaxPool", x.port, kernel=f"{kernel},{kernel}", strides=f"{stride},{stride}",
                    pads_begin=f"{pad},{pad}", pads_end=f"{pad},{pad}", rounding_type=rounding,
                    auto_pad="explicit", **version)
    port = port if dilation == 1 else port[0]
    array = np.pad(x.array, ((0, 0), (0, 0), (pad, pad), (pad, pad)),
                   constant_values=np.finfo(np.float32).min)
    reach = (kernel - 1) * dilation + 1
    sizes = [n + 2 * pad - reach for n in x.array.shape[2:]]
    sizes = [-(-n // stride) + 1 if rounding == "ceil" else n // stride + 1 for n in sizes]
    result = np.full(x.array.shape[:2] + tuple(sizes), -np.inf)
    for y in range(sizes[0]):
        for z in range(sizes[1]):
            window = array[:, :, y * stride:y * stride + reach:dilation,
                           z * stride:z * stride + reach:dilation]
            result[:, :, y, z] = window.max((2, 3))
    return Value(m.net, port, result)


def joined(m, axis, *xs):
    return Value(m.net, m.net.op("Concat", *[x.port for x in xs], axis=axis),
                 np.concatenate([x.array for x in xs], axis))


def pool_cases():
    m = Quantised("max_pool", (2, 3, 11, 13))
    y = m.biased(m.convolved(m.x, m.integers(20, 3, 3, 3))).relu().quantised(0, 2)
    y = pooled(m, y, 2, 2, 0)
    yield m.case("The bytes of a convolution, on to the next one.",
                 m.convolved(y, m.integers(6, 20, 3, 3)).quantised(-3, 3))
    m = Quantised("max_pool_pads", (1, 5, 9, 10), -1, 1)
    y = m.convolved(m.x, m.integers(7, 5, 3, 3)).quantised(-1.5, -0.25)
    yield m.case("Pads do not count: all values are below 0.",
                 m.convolved(pooled(m, y, 3, 2, 1), m.integers(7, 1, 1, 3, 3)))
    m = Quantised("max_pool_dilated", (1, 5, 2, 3))
    y = m.convolved(m.x, m.integers(7, 5, 3, 3)).quantised(-2, 2)
    yield m.case("Rows -1 and 2 of an image of two: a window that lies in the pads.",
                 pooled(m, y, 2, 1, 1, dilation=3))
    m = Quantised("max_pool_observed", (1, 5, 9, 10))
    y = m.convolved(m.x, m.integers(7, 5, 3, 3)).quantised(-2, 2)
    z = pooled(m, y, 3, 1, 1)
    yield m.case("Somebody looks at the values, before and after.", y, z)
    m = Quantised("max_pool_ceil", (1, 5, 8, 10))
    y = m.convolved(m.x, m.integers(7, 5, 3, 3)).quantised(-2, 2)
    y = pooled(m, y, 3, 2, 0, "ceil")
    yield m.case("The last windows reach beyond the image.", m.convolved(y, m.integers(4, 7, 3, 3)))
    m = Quantised("max_pool_ceil_pads", (1, 5, 7, 8))
    y = m.convolved(m.x, m.integers(7, 5, 3, 3)).quantised(-2, 2)
    yield m.case("As many windows as the pads at the end allow.", pooled(m, y, 3, 2, 1, "ceil"))
    for n in (58, 29):
        m = Quantised(f"max_pool_{n}", (1, 4, 9, 9), -1, 1)
        y = m.convolved(m.x, m.integers(n, 4, 3, 3)).quantised(-2, 2)
        yield m.case("Channels that fill no vector.", pooled(m, y, 3, 2, 1))


def padded(m, x, begin, end, value=0.0, mode="constant"):
    """Pads of each dimension."""
    port = m.net.op("Pad", x.port, m.net.const(np.array(begin)), m.net.const(np.array(end)),
                    m.net.const(np.float32(value)), v=12, pad_mode=mode)
    more = {"constant_values": np.float32(value)} if mode == "constant" else {}
    return Value(m.net, port, np.pad(x.array, list(zip(begin, end)), mode, **more))


def enlarged(m, x):
    """Twice the rows and columns, of the nearest elements."""
    sizes = np.array([2 * n for n in x.array.shape[2:]])
    port = m.net.op("Interpolate", x.port, m.net.const(sizes), m.net.const(np.array([2, 3])), v=11,
                    mode="nearest", shape_calculation_mode="sizes", nearest_mode="floor",
                    coordinate_transformation_mode="asymmetric")
    return Value(m.net, port, x.array.repeat(2, 2).repeat(2, 3))


def pad_cases():
    m = Quantised("pad_channels", (2, 6, 8, 7))
    y = m.convolved(m.x, m.integers(9, 6, 3, 3)).relu().quantised(0, 2)
    z = m.convolved(y, m.integers(13, 9, 3, 3)).quantised(-3, 3)
    y = added(m, padded(m, pooled(m, y, 3, 1, 1), (0, 0, 0, 0), (0, 4, 0, 0)), z).relu().quantised(0, 4)
    yield m.case("A residual block whose channels become more.", m.convolved(y, m.integers(5, 13, 3, 3)))
    m = Quantised("pad_image", (2, 6, 5, 7), -1, 1.1)
    y = m.convolved(m.x, m.integers(9, 6, 3, 3)).relu().quantised(0, 2)
    y = padded(m, y, (1, 2, 0, 1), (0, 1, 2, 3))
    yield m.case("Pads on some sides of each dimension; the next convolution has none.",
                 m.convolved(y, m.integers(20, 12, 3, 3), pads=(0, 0)).quantised(-3, 3), y)
    m = Quantised("pad_no_level", (1, 6, 5, 7))
    y = m.convolved(m.x, m.integers(9, 6, 3, 3)).quantised(-2, 2)
    y = padded(m, y, (0, 0, 1, 1), (0, 0, 1, 1)).quantised(-2, 2)
    yield m.case("No level is 0.", m.convolved(y, m.integers(9, 9, 3, 3), pads=(0, 0)))
    m = Quantised("pad_last_level", (1, 6, 5, 7))
    y = m.convolved(m.x, m.integers(9, 6, 3, 3)).quantised(-2, 2.1)
    y = padded(m, y, (0, 1, 1, 0), (0, 0, 0, 2), 2.1)
    yield m.case("The highest level.", m.convolved(y, m.integers(9, 10, 3, 3), pads=(0, 0)))
    m = Quantised("pad_line", (1, 6, 12))
    y = line(m, m.x, m.integers(9, 6, 3)).quantised(-2, 2)
    yield m.case("Elements are mirrored.",
                 line(m, padded(m, y, (0, 2, 3), (0, 0, 4), mode="reflect"), m.integers(7, 11, 5), 2, 0))
    m = Quantised("pad_rows", (5, 24), dynamic=True)
    y = padded(m, m.multiplied(m.x, m.integers(10, 24)).relu().quantised(0, 2), (2, 0), (0, 6))
    yield m.case("Products, more of them and longer ones.", m.multiplied(y, m.integers(9, 16)))
    m = Quantised("pad_input", (2, 6, 5, 7), -1, 1.1)
    y = padded(m, m.x, (0, 0, 2, 1), (0, 0, 1, 3), mode="reflect")
    yield m.case("No convolution computes what is mirrored.",
                 m.convolved(y, m.integers(9, 6, 3, 3), pads=(0, 0)).quantised(-2, 2))
    m = Quantised("pad_input_zero", (2, 6, 5, 7), 0, 2)
    y = padded(m, m.x, (0, 1, 0, 2), (0, 2, 1, 0))
    yield m.case("No convolution computes what is padded with zeros.",
                 m.convolved(y, m.integers(9, 9, 3, 3), pads=(0, 0)).quantised(-2, 2))
    m = Quantised("pad_volume", (2, 3, 4, 5, 6), 0, 2)
    y = padded(m, m.x, (0, 0, 1, 2, 0), (0, 0, 0, 1, 2))
    w = m.integers(4, 3, 2, 1, 3)
    yield m.case("Three dimensions.", m.convolved(y, w, (1, 1, 1), (0, 0, 0), (1, 1, 1)))
    m = Quantised("pad_filters", (1, 6, 5, 7), 0, 2)
    array = uniform(m.g, (9, 6, 2, 2))
    w = Value(m.net, m.net.const(array), array).quantised(-1, 1, levels=255)
    w = padded(m, w, (0, 0, 1, 0), (0, 0, 0, 1), mode="edge")
    yield m.case("The filters are padded.", m.convolved(m.x, w).quantised(-2, 2))
    m = Quantised("pad_enlarged", (1, 6, 5, 7))
    y = padded(m, enlarged(m, m.x.relu().quantised(0, 2)), (0, 0, 1, 1), (0, 0, 1, 1), mode="edge")
    yield m.case("An image is enlarged, then padded.",
                 m.convolved(y, m.integers(9, 6, 3, 3), pads=(0, 0)).quantised(-2, 2))
    m = Quantised("enlarged", (1, 6, 5, 7))
    y = enlarged(m, m.convolved(m.x, m.integers(9, 6, 3, 3)).quantised(-2, 2))
    yield m.case("A convolution reads an enlarged image.", m.convolved(y, m.integers(5, 9, 3, 3)))


def concat_cases():
    m = Quantised("concat_channels", (2, 6, 6, 7))
    y = m.convolved(m.x, m.integers(5, 6, 3, 3)).quantised(-2, 2)
    z = m.convolved(m.x, m.integers(9, 6, 1, 1), pads=(0, 0)).quantised(-2, 2)
    yield m.case("The channels of two convolutions.",
                 m.convolved(joined(m, 1, y, z), m.integers(8, 14, 3, 3)).quantised(-4, 4))
    m = Quantised("concat_rows", (1, 6, 6, 7))
    y = m.convolved(m.x, m.integers(5, 6, 3, 3)).quantised(-2, 2)
    z = m.convolved(m.x, m.integers(5, 6, 3, 3), pads=(0, 1)).quantised(-2, 2)
    yield m.case("One image below another.",
                 m.convolved(joined(m, -2, y, z), m.integers(8, 5, 3, 3)).quantised(-4, 4))
    m = Quantised("concat_products", (4, 24))
    y = m.multiplied(m.x, m.integers(10, 24)).quantised(-2, 2)
    z = m.multiplied(m.x, m.integers(7, 24)).quantised(-2, 2)
    yield m.case("The columns of two products.",
                 m.multiplied(joined(m, -1, y, z), m.integers(5, 17)).quantised(-4, 4))
    m = Quantised("concat_two_scales", (1, 6, 6, 7))
    y = m.convolved(m.x, m.integers(5, 6, 3, 3)).quantised(-2, 2)
    z = m.convolved(m.x, m.integers(5, 6, 3, 3)).quantised(-1, 2)
    yield m.case("Bytes that stand for other numbers stay apart.",
                 m.convolved(joined(m, 1, y, z), m.integers(8, 10, 3, 3)).quantised(-4, 4))


    m = Quantised("concat_floats", (1, 6, 6, 7))
    y = m.convolved(m.x, m.integers(5, 6, 3, 3)).quantised(-2, 2)
    z = m.x.with_("Add", 0.0043, np.add).quantised(-2, 2)
    yield m.case("What is not convolved, but has the range of the others.",
                 m.convolved(joined(m, 1, z, y), m.integers(8, 11, 3, 3)).quantised(-4, 4))


def split(m, x, axis, n):
    ports = m.net.op("Split", x.port, m.net.i64(axis), outs=n, num_splits=n)
    return [Value(m.net, port, part) for port, part in zip(ports, np.split(x.array, n, axis))]


def reshaped(m, x, shape):
    return Value(m.net, m.net.op("Reshape", x.port, m.net.i64(shape), special_zero=False),
                 x.array.reshape(shape))


def moved_cases():
    m = Quantised("split_channels", (1, 6, 6, 7))
    y, z = split(m, m.convolved(m.x, m.integers(10, 6, 3, 3)).quantised(-2, 2), 1, 2)
    u = m.convolved(z, m.integers(5, 5, 3, 3)).quantised(-2, 2)
    yield m.case("Halves of the channels, and what a convolution makes of one of them.",
                 m.convolved(joined(m, 1, y, z, u), m.integers(8, 15, 1, 1), pads=(0, 0)))
    m = Quantised("broadcast_channels", (2, 6, 5, 6))
    y = m.convolved(m.x, m.integers(5, 6, 3, 3)).with_("Add", 0.25, np.add).quantised(-2, 2)
    peak = m.net.op("ReduceMax", y.port, m.net.i64([2, 3]), keep_dims=True)
    peak = Value(m.net, peak, y.array.max((2, 3), keepdims=True)).quantised(-2, 2)
    wide = m.net.op("Broadcast", peak.port, m.net.i64([2, 5, 5, 6]), v=3, mode="numpy")
    wide = Value(m.net, wide, np.broadcast_to(peak.array, (2, 5, 5, 6)))
    yield m.case("The maximum of each channel, at every position.",
                 m.convolved(joined(m, 1, y, wide), m.integers(8, 10, 3, 3)).quantised(-4, 4))
    m = Quantised("reshaped_product", (2, 3, 8))
    yield m.case("A product of what is reshaped.",
                 m.multiplied(reshaped(m, m.x, [6, 8]), m.integers(5, 8)).quantised(-4, 4))
    m = Quantised("moved_two_ranges", (1, 8, 6, 7))
    y, z = split(m, m.x, 1, 2)
    z = z.quantised(-1, 2)
    yield m.case("Parts of other ranges stay in f32.",
                 m.convolved(joined(m, 1, y, z), m.integers(8, 8, 3, 3)).quantised(-4, 4))
    m = Quantised("moved_out_range", (1, 8, 6, 7))
    y = m.x.quantised(0, 2, 0.5, 3)
    yield m.case("The results of a FakeQuantize are not its levels.",
                 m.convolved(split(m, y, 1, 2)[1], m.integers(8, 4, 3, 3)).quantised(-4, 4))


def clamped(m, x, low, high):
    return Value(m.net, m.net.op("Clamp", x.port, min=low, max=high), np.clip(x.array, low, high))


def clamp_cases():
    for name, low, high, about in (("clamp", 0.0, 1.5, "ReLU6, with a smaller number."),
                                   ("clamp_wide", -9.0, 9.0, "The range of FakeQuantize is smaller."),
                                   ("clamp_beyond", 1.0, 4.0, "It cuts the range of FakeQuantize off at one end.")):
        m = Quantised(name, (1, 6, 6, 7))
        y = clamped(m, m.biased(m.convolved(m.x, m.integers(9, 6, 3, 3))), low, high)
        yield m.case(about, m.convolved(y.quantised(-2, 2), m.integers(4, 9, 1, 1), pads=(0, 0)))
    m = Quantised("clamp_floats", (1, 6, 6, 7))
    yield m.case("The result stays in f32.",
                 clamped(m, m.convolved(m.x, m.integers(9, 6, 3, 3)), -0.5, 0.75))


def line(m, x, w, stride=1, pad=1, dilation=1):
    return m.convolved(x, w, (stride, ), (pad, ), (dilation, ))


def cut(m, x, axis, n):
    """Without the last n positions."""
    lists = [m.net.const(np.array([i])) for i in (0, -n, 1, axis)]
    array = x.array.take(range(max(0, x.array.shape[axis] - n)), axis)
    return Value(m.net, m.net.op("Slice", x.port, *lists, v=8), array)


def causal_cases():
    """A Slice behind a convolution makes its pads smaller."""
    m = Quantised("causal", (2, 6, 21))
    y = line(m, m.x, m.integers(9, 6, 3), 1, 4, 2).with_("Add", uniform(m.g, (1, 9, 1)), np.add)
    y = cut(m, y, 2, 4).relu().quantised(0, 2)
    z = cut(m, line(m, y, m.integers(8, 9, 3), 2, 2), 2, 1)
    yield m.case("Over one dimension; behind a bias, and at stride 2.", z,
                 cut(m, line(m, y, m.faked(5, 9, 3)), 2, 3))
    m = Quantised("causal_rows", (1, 6, 7, 8), dynamic=True)
    y = cut(m, m.convolved(m.x, m.integers(9, 6, 3, 3), pads=(2, 1)), 2, 2).quantised(-2, 1.9)
    yield m.case("Rows of an image, then columns of channels on their own.",
                 cut(m, m.convolved(y, m.integers(9, 1, 1, 3, 3), pads=(1, 2)), 3, 1).quantised(-2, 1.9))
    m = Quantised("causal_two_readers", (1, 6, 12))
    y = line(m, m.x, m.integers(9, 6, 3), 1, 2)
    yield m.case("The whole result is read, too.", cut(m, y, 2, 2).quantised(-2, 2), y)
    m = Quantised("causal_add_of_columns", (1, 6, 12))
    y = line(m, m.x, m.integers(9, 6, 3), 1, 2).with_("Add", uniform(m.g, (1, 1, 14)), np.add)
    yield m.case("What is added differs between the positions.", cut(m, y, 2, 2).quantised(-2, 2))
    m = Quantised("causal_short", (1, 6, 1))
    yield m.case("Windows that fit by means of the pads alone: fewer pads would be too few.",
                 cut(m, line(m, m.x, m.integers(9, 6, 4), 1, 2), 2, 2))


def line_cases():
    """Images of one dimension: sound and other series."""
    m = Quantised("line", (2, 5, 23))
    y = m.biased(line(m, m.x, m.integers(18, 5, 3)), (1, 18, 1)).relu().quantised(0, 2)
    yield m.case("A kernel of adjacent taps, then one of taps that are apart.",
                 m.biased(line(m, y, m.integers(7, 18, 3), 1, 4, 4), (1, 7, 1)).quantised(-2, 2))
    m = Quantised("line_border", (1, 6, 15), -1, 1.1)
    yield m.case("No level stands for 0; the result is f32.", line(m, m.x, m.integers(9, 6, 5), 2, 2))
    m = Quantised("line_depthwise", (1, 20, 19), -1, 1)
    y = line(m, m.x, m.integers(20, 1, 1, 3)).quantised(-1, 1)
    yield m.case("Channel by channel, twice.", line(m, y, m.integers(20, 1, 1, 3), 2, 2, 2))
    m = Quantised("line_channels_last", (2, 17, 6), order=(0, 2, 1))
    yield m.case("Channels are last in the input.",
                 line(m, m.x, m.integers(8, 6, 3)).quantised(-2, 2))
    m = Quantised("line_dynamic", (2, 6, 17), dynamic=True)
    y = line(m, m.x, m.integers(8, 6, 3)).quantised(-2, 2)
    z = line(m, m.x, m.integers(8, 6, 1), 1, 0).quantised(-2, 2)
    yield m.case("No dimension is known; one piece follows the other.",
                 line(m, joined(m, -1, y, z), m.integers(4, 8, 3), 2))
    m = Quantised("line_concat", (1, 6, 17))
    y = line(m, m.x, m.integers(8, 6, 3)).quantised(-2, 2)
    yield m.case("The channels of two, one of them twice.",
                 line(m, joined(m, 1, y, line(m, m.x, m.integers(3, 6, 3)).quantised(-2, 2), y),
                      m.integers(4, 19, 3)))


def gathered_cases():
    """Convolutions by tiles whose rows of pixels or of taps are short."""
    m = Quantised("tiles_three_channels", (1, 3, 19, 17), -1, 1.1)
    yield m.case("A kernel of 7 by 7 over three channels, at stride 2; no level stands for 0.",
                 m.biased(m.convolved(m.x, m.integers(20, 3, 7, 7), (2, 2), (3, 3))).quantised(-4, 4))
    m = Quantised("tiles_small_image", (2, 16, 5, 6))
    y = m.biased(m.convolved(m.x, m.integers(20, 16, 3, 3))).relu().quantised(0, 2)
    yield m.case("All pixels of the image are one block, divided by channels; the last result is f32.",
                 m.convolved(y, m.integers(150, 20, 3, 3), (1, 2), (2, 1), (2, 1)))
    m = Quantised("tiles_short_rows", (1, 12, 9, 9))
    yield m.case("Blocks that begin and end within a row.",
                 m.convolved(m.x, m.integers(64, 12, 3, 3)).quantised(-2, 2))


def added(m, x, y):
    return Value(m.net, m.net.op("Add", x.port, y.port, auto_broadcast="numpy"), x.array + y.array)


def add_cases():
    m = Quantised("add", (2, 6, 6, 7))
    y = m.biased(m.convolved(m.x, m.integers(19, 6, 3, 3))).quantised(-2, 2.1)
    z = m.biased(m.convolved(m.x, m.integers(19, 6, 1, 1), pads=(0, 0))).quantised(-1.7, 1.5)
    y = added(m, y, z).relu().quantised(0, 2.3)
    yield m.case("A residual block: Add, ReLU, and the next convolution.",
                 m.convolved(y, m.integers(8, 19, 3, 3)).quantised(-4, 4.1))
    m = Quantised("add_clamp", (1, 6, 6, 7))
    y = m.convolved(m.x, m.integers(9, 6, 3, 3)).quantised(-2, 2.1)
    z = m.convolved(m.x, m.integers(9, 6, 3, 3)).quantised(0.5, 3.3)
    yield m.case("No level is 0.", clamped(m, added(m, y, z), -0.4, 1.9).quantised(-1.3, 3.7))
    m = Quantised("add_broadcast", (2, 6, 6, 7))
    y = m.convolved(m.x, m.integers(9, 6, 3, 3)).quantised(-2, 2.1)
    z = m.convolved(m.x, m.integers(1, 6, 3, 3)).quantised(-1.7, 1.5)
    yield m.case("One channel is added to nine.", added(m, z, y).quantised(-2.2, 2.9))
    m = Quantised("add_rows", (5, 24))
    y = m.multiplied(m.x, m.integers(10, 24)).quantised(-2, 2.1)
    z = m.multiplied(m.x, m.integers(10, 24)).quantised(-1.7, 1.5)
    yield m.case("Two products.", added(m, y, z).quantised(-2.2, 2.9))
    m = Quantised("add_by_shape", (1, 6, 6, 7), dynamic=True)
    row = uniform(m.g, (1, 6, 1, 1), 0, 2)
    port = m.net.op("Broadcast", m.net.const(row), m.net.op("ShapeOf", m.x.port, v=3,
                                                            output_type="i64"), v=3, mode="numpy")
    c = Value(m.net, port, np.broadcast_to(row, (1, 6, 6, 7))).quantised(0, 2)
    z = m.convolved(c, m.integers(6, 6, 3, 3)).quantised(-1.7, 1.5)
    y = m.convolved(m.x, m.integers(6, 6, 3, 3)).quantised(-2, 2.1)
    yield m.case("One of the two depends on the shape of the input alone.",
                 added(m, y, z).quantised(-2.2, 2.9))


def grouped(m, n_groups, n_out, n_in, *kernel):
    """Filters with a scale for each output channel."""
    array = m.g.integers(-127, 128, (n_groups, n_out, n_in, *kernel)).astype(np.int8)
    scale = uniform(m.g, (n_groups, n_out, 1) + (1, ) * len(kernel), 0.002, 0.006)
    return Value(m.net, m.net.const(array), array).dequantised(scale)


def group_cases():
    m = Quantised("groups_of_8", (2, 24, 9, 9))
    y = m.biased(m.convolved(m.x, grouped(m, 3, 8, 8, 3, 3))).relu().quantised(0, 2)
    yield m.case("Two groups in a vector, and one in the last; then pixels of the next image at stride 2.",
                 m.convolved(y, grouped(m, 3, 16, 8, 3, 3), (2, 2)).quantised(-2, 2))
    m = Quantised("groups_of_12", (1, 36, 5, 6), -1, 1.1)
    yield m.case("Vectors of parts of two groups; no level stands for 0.",
                 m.convolved(m.x, grouped(m, 3, 12, 12, 3, 3), dilations=(1, 2)).quantised(-3, 3))
    m = Quantised("groups_of_pixels", (1, 10, 5, 6))
    y = m.convolved(m.x, grouped(m, 2, 20, 5, 1, 1), pads=(0, 0)).quantised(-2, 2)
    yield m.case("One tap; groups that have more output than input channels, and fewer.",
                 m.convolved(y, grouped(m, 10, 1, 4, 1, 1), pads=(0, 0)))
    m = Quantised("column", (2, 17, 22, 1), -1, 1.1)
    y = m.convolved(m.x, grouped(m, 17, 1, 1, 5, 1), pads=(0, 0)).quantised(-2, 2)
    y = m.convolved(y, m.integers(20, 17, 3, 1), (2, 1), (1, 0)).quantised(-3, 2.1)
    yield m.case("Images of one column; no level of the first and the last stands for 0.",
                 m.convolved(y, grouped(m, 20, 1, 1, 3, 1), pads=(1, 0), dilations=(2, 1)))
    m = Quantised("groups_line", (1, 32, 15))
    yield m.case("One dimension, groups of a vector.",
                 line(m, m.x, grouped(m, 2, 16, 16, 3)).quantised(-2, 1.9))


def scaled_cases():
    """Multiply and Add, what is left of batch normalisation, between a Concat and a FakeQuantize."""
    m = Quantised("concat_scaled", (2, 6, 6, 7))
    y = m.convolved(m.x, m.integers(5, 6, 3, 3)).quantised(-2, 2)
    z = pooled(m, m.convolved(m.x, m.integers(9, 6, 3, 3)).quantised(-1.5, 1), 3, 1, 1)
    y = joined(m, 1, y, z, z).with_("Multiply", uniform(m.g, (1, 23, 1, 1), -1, 1), np.multiply)
    y = m.biased(y).relu().quantised(0, 1.7)
    yield m.case("Each channel has the range of its convolution.",
                 m.convolved(y, m.integers(8, 23, 1, 1), pads=(0, 0)).quantised(-2, 2))
    m = Quantised("scaled", (1, 6, 6, 7))
    y = m.convolved(m.x, m.integers(19, 6, 3, 3)).quantised(-2, 2)
    factors = uniform(m.g, (19, 1, 1), -1, 1)
    y = Value(m.net, m.net.op("Multiply", m.net.const(factors), y.port, auto_broadcast="numpy"),
              factors * y.array)
    yield m.case("A factor for each channel, without an Add.", y.quantised(-1.9, 1.8))
    m = Quantised("scaled_wider", (1, 6, 6, 7))
    y = m.convolved(m.x, m.integers(1, 6, 3, 3)).quantised(-2, 2)
    yield m.case("One channel becomes five.",
                 y.with_("Multiply", uniform(m.g, (1, 5, 1, 1), -1, 1), np.multiply).quantised(-2, 2))
    m = Quantised("scaled_sums", (1, 6, 6, 7))
    y = m.biased(m.convolved(m.x, m.integers(19, 6, 3, 3))).relu()
    y = m.biased(y.with_("Multiply", uniform(m.g, (1, 19, 1, 1), -1, 1), np.multiply)).quantised(-1.9, 1.8)
    z = clamped(m, m.convolved(m.x, m.integers(9, 6, 3, 3)), -0.5, 0.75)
    yield m.case("Factors of both signs behind a ReLU, and one behind a Clamp.", y,
                 z.with_("Multiply", -0.7, np.multiply).quantised(-0.6, 0.3))
    m = Quantised("scaled_by_0", (1, 6, 6, 7))
    y = m.convolved(m.x, m.integers(3, 6, 3, 3)).relu()
    yield m.case("A factor of 0 behind a ReLU.",
                 y.with_("Multiply", [[[0.5]], [[0]], [[-0.5]]], np.multiply).quantised(-1, 1))
    m = Quantised("scaled_addition", (1, 6, 6, 7))
    y = added(m, m.convolved(m.x, m.integers(19, 6, 3, 3)).quantised(-2, 2),
              m.convolved(m.x, m.integers(19, 6, 3, 3)).quantised(-1.5, 1)).quantised(-3, 2.5)
    z = m.biased(y.with_("Multiply", uniform(m.g, (1, 19, 1, 1), -1, 1), np.multiply))
    yield m.case("The sum of two images, scaled; it is an output, too.", z.quantised(-2, 2), y)
    m = Quantised("concat_transposed_scaled", (1, 10, 5, 6))
    y = joined(m, 1, transposed(m, m.x, 16, 2, 2).quantised(-2, 2),
               transposed(m, m.x, 8, 2, 2).quantised(-1.5, 1))
    yield m.case("Transposed convolutions: the columns of a pixel are not channels.",
                 y.with_("Multiply", uniform(m.g, (1, 24, 1, 1), -1, 1), np.multiply).quantised(-2, 2))
    m = Quantised("concat_rows_scaled", (1, 6, 6, 7))
    y = joined(m, 2, m.convolved(m.x, m.integers(5, 6, 3, 3)).quantised(-2, 2),
               m.convolved(m.x, m.integers(5, 6, 3, 3)).quantised(-2, 2))
    z = m.convolved(m.x, m.integers(9, 6, 3, 3), pads=(4, 1)).quantised(-1.5, 1)
    yield m.case("Images below each other, then other channels.",
                 joined(m, 1, y, z).with_("Multiply", uniform(m.g, (1, 14, 1, 1), -1, 1),
                                          np.multiply).quantised(-2, 2))
    m = Quantised("concat_rows_wider", (1, 6, 6, 7))
    y = joined(m, 2, m.convolved(m.x, m.integers(1, 6, 3, 3)).quantised(-2, 2),
               m.convolved(m.x, m.integers(1, 6, 3, 3)).quantised(-2, 2))
    yield m.case("Two images of one channel below each other, which becomes two channels.",
                 y.with_("Multiply", uniform(m.g, (1, 2, 1, 1), -1, 1), np.multiply).quantised(-2, 2))
    m = Quantised("concat_doubled", (0, 6, 2, 3))
    y = m.convolved(m.x, m.integers(1, 6, 3, 3)).quantised(-2, 2)
    for _ in range(40):
        y = joined(m, 1, y, y)
    y = joined(m, 1, y, m.convolved(m.x, m.integers(1, 6, 3, 3)).quantised(-1.5, 1))
    yield m.case("2^40 + 1 channels of no image: they are not counted one by one.",
                 y.with_("Multiply", uniform(m.g, (1, 1, 1, 1), -1, 1), np.multiply).quantised(-2, 2))
    m = Quantised("line_bias_of_four", (1, 6, 17))
    y = line(m, m.x, m.integers(8, 6, 3)).with_("Add", uniform(m.g, (1, 1, 8, 1)), np.add)
    y = y.quantised(-2, 2)
    port = m.net.op("Transpose", y.port, m.net.const(np.array((2, 3, 0, 1))))
    yield m.case("The Add makes four dimensions of three.",
                 Value(m.net, port, y.array.transpose(2, 3, 0, 1)))


def transposed(m, x, n_out, *kernel):
    """A transposed convolution whose strides are its kernel."""
    array = m.g.integers(-127, 128, (x.array.shape[1], n_out, *kernel)).astype(np.int8)
    scale = uniform(m.g, (1, n_out) + (1, ) * len(kernel), 0.002, 0.006)
    w = Value(m.net, m.net.const(array), array).dequantised(scale)
    n = len(kernel)
    strides, ones, zeros = (",".join(map(str, list)) for list in (kernel, [1] * n, [0] * n))
    port = m.net.op("ConvolutionBackpropData", x.port, w.port,
                    data={"strides": strides, "dilations": ones, "pads_begin": zeros,
                          "pads_end": zeros, "auto_pad": "explicit", "output_padding": zeros})
    sizes = [i * k for i, k in zip(x.array.shape[2:], kernel)]
    return Value(m.net, port, transpose_convolve(x.array, w.array, kernel, [0] * n, sizes, [1] * n))


def transposed_cases():
    m = Quantised("transposed", (2, 10, 5, 6))
    y = m.biased(transposed(m, m.x, 16, 2, 2)).relu().quantised(0, 2)
    yield m.case("Each pixel becomes four, which the next convolution reads as bytes.",
                 m.convolved(y, m.integers(9, 16, 3, 3)).quantised(-2, 2))
    m = Quantised("transposed_3_by_4", (1, 7, 2, 50), -1, 1.1)
    yield m.case("A kernel of 3 by 4, rows of two blocks; no level stands for 0.",
                 transposed(m, m.x, 4, 3, 4).quantised(-2, 2.1))
    m = Quantised("transposed_line", (1, 12, 9))
    yield m.case("One dimension.", transposed(m, m.x, 8, 2).quantised(-2, 2))
    m = Quantised("transposed_9", (1, 6, 4, 5))
    yield m.case("Pixels that fill no vector.", transposed(m, m.x, 9, 2, 2).quantised(-2, 2))
    m = Quantised("transposed_floats", (1, 6, 4, 5))
    yield m.case("The result is not quantised.", transposed(m, m.x, 16, 2, 2))
    m = Quantised("transposed_no_pixels", (2, 10, 0, 6), dynamic=True)
    yield m.case("An image without rows stays one.", transposed(m, m.x, 16, 2, 2).quantised(-2, 2))


ACTIVATIONS = {"Swish": lambda x: x / (1 + np.exp(-x)),
               "HSwish": lambda x: x * np.clip(x + 3, 0, 6) / 6,
               "Mish": lambda x: x * np.tanh(np.log1p(np.exp(x))),
               "Sigmoid": lambda x: 1 / (1 + np.exp(-x)),
               "Tanh": np.tanh}
GELUS = {"ERF": lambda x: x / 2 * (1 + np.vectorize(math.erf)(x / 2**0.5)),
         "TANH": lambda x: x / 2 * (1 + np.tanh((2 / np.pi)**0.5 * (x + 0.044715 * x**3)))}


def activated(m, x, kind):
    version = 1 if kind in ("Sigmoid", "Tanh") else 4
    return Value(m.net, m.net.op(kind, x.port, v=version), ACTIVATIONS[kind](x.array))


def gelu(m, x, mode):
    port = m.net.op("Gelu", x.port, v=7, approximation_mode=mode)
    return Value(m.net, port, GELUS[mode](x.array))


def bent(m, x, shape):
    slope = uniform(m.g, shape, -0.5, 0.5)
    by_channel = shape[0] == x.array.shape[1]
    full = slope.reshape(shape[0], 1, 1) if len(shape) == 1 and by_channel else slope
    port = m.net.op("PReLU", x.port, m.net.const(slope))
    return Value(m.net, port, np.where(x.array < 0, x.array * np.float64(full), x.array))


def activation_cases():
    """Functions between a convolution and a FakeQuantize."""
    m = Quantised("swish", (2, 6, 9, 7))
    y = activated(m, m.biased(m.convolved(m.x, m.integers(19, 6, 3, 3))), "Swish")
    y = y.quantised(-0.3, uniform(m.g, (1, 19, 1, 1), 1, 2))
    y = activated(m, m.biased(m.convolved(y, m.integers(19, 1, 1, 3, 3))), "HSwish")
    y = y.quantised(-0.4, 2)
    yield m.case("A convolution, channels with ranges of their own, a depthwise one.",
                 m.convolved(y, m.integers(8, 19, 1, 1), pads=(0, 0)).quantised(-3, 3), y)
    m = Quantised("slopes", (2, 6, 9, 7))
    y = m.biased(m.convolved(m.x, m.integers(19, 6, 3, 3)))
    y = bent(m, y, (19,)).quantised(uniform(m.g, (1, 19, 1, 1), -1, -0.5), 2)
    y = bent(m, m.convolved(y, m.integers(19, 1, 1, 3, 3)), (1,)).quantised(-0.4, 2)
    y = bent(m, m.convolved(y, m.integers(9, 19, 1, 1), pads=(0, 0)), (9, 1, 1))
    yield m.case("PReLU with a slope for each channel, or for all.", y.quantised(-1, 3))
    m = Quantised("slopes_of_columns", (1, 6, 9, 7))
    y = bent(m, m.convolved(m.x, m.integers(8, 6, 3, 3)), (7,))
    yield m.case("A slope for each column stays in f32.", y.quantised(-1, 2))
    m = Quantised("mish_line", (1, 6, 61))
    y = activated(m, line(m, m.x, m.integers(33, 6, 3)).relu(), "Mish").quantised(0, 2)
    yield m.case("One dimension, behind a ReLU; two blocks of pixels.",
                 line(m, y, m.integers(8, 33, 3), 1, 0))
    m = Quantised("gelu", (1, 6, 9, 7))
    y = gelu(m, m.convolved(m.x, m.integers(19, 6, 3, 3)), "ERF").quantised(-0.2, 2)
    y = gelu(m, m.convolved(y, m.integers(8, 19, 3, 3)), "TANH").quantised(-0.2, 2)
    yield m.case("Both forms of Gelu.", y)
    m = Quantised("sigmoid_tanh", (1, 6, 9, 7))
    y = activated(m, m.convolved(m.x, m.integers(19, 6, 3, 3)), "Sigmoid").quantised(0, 1)
    y = activated(m, m.convolved(y, m.integers(8, 19, 3, 3)), "Tanh").quantised(-1, 1)
    yield m.case("Functions that are bounded.", y)
    m = Quantised("swish_transposed", (1, 6, 4, 5))
    yield m.case("A transposed convolution.",
                 activated(m, transposed(m, m.x, 16, 2, 2), "Swish").quantised(-0.3, 2))


def excess_cases():
    m = Quantised("few_large_weights", (1, 16, 6, 7))
    array = m.g.integers(-60, 61, (20, 16, 3, 3)).astype(np.int8)
    array[3, :2], array[17, 9:] = 127, -127
    scale = uniform(m.g, (20, 1, 1, 1), 0.002, 0.006)
    yield m.case("Few sums of two products that 16 bits do not hold.",
                 m.convolved(m.x, Value(m.net, m.net.const(array), array).dequantised(scale)).quantised(-9, 9))


def cases():
    yield from group_cases()
    yield from scaled_cases()
    yield from transposed_cases()
    yield from activation_cases()
    yield from excess_cases()
    yield from add_cases()
    yield from pool_cases()
    yield from pad_cases()
    yield from gathered_cases()
    yield from clamp_cases()
    yield from line_cases()
    yield from causal_cases()
    yield from concat_cases()
    yield from moved_cases()
