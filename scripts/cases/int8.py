# What runs in integers: products of 32-bit integers that hold 8 bits, as dynamic quantisation writes
# them, exact whatever the operands hold; convolutions between FakeQuantizes.
# SPDX-License-Identifier: Apache-2.0
import numpy as np

from . import departures
from .common import EXACT, Case, rng, uniform
from .dense import convolve, same_pads
from .fake_quantize import fake_quantize
from .net import Net
from .quantised import FLOAT, Value


def matmul_case(name, a, b, about, transpose_b=False, openvino="", dynamic=False, dtype="i32"):
    """b is a Const."""
    a, b = np.asarray(a, np.int64), np.asarray(b, np.int64)
    kind = np.int32 if dtype == "i32" else np.uint32
    y = (a @ (b.T if transpose_b else b)).astype(np.uint64).astype(np.uint32).view(kind)
    net = Net(name)
    x = net.param("x", dtype, [-1] * a.ndim if dynamic else list(a.shape))
    weights = net.const(b.astype(np.uint64).astype(np.uint32).view(kind))
    net.result(net.op("MatMul", x, weights,
                      data={"transpose_a": False, "transpose_b": transpose_b}), "y")
    feed = a.astype(np.uint64).astype(np.uint32).view(kind)
    return Case("int8", name, net, {"x": feed}, {"y": y}, about, EXACT, openvino)


def dynamically_quantised(name, rows, k, n, about):
    """u8 and a zero point, less it in i32: what a QDQ converter makes of MatMulInteger."""
    g = rng("int8 " + name)
    data, zero = g.integers(0, 256, (rows, k)), 131
    weights, weights_zero = g.integers(0, 256, (n, k)), 125
    net = Net(name)
    x = net.op("Convert", net.param("x", "u8", [rows, k]), destination_type="i32")
    x = net.op("Subtract", x, net.const(np.int32(zero)), auto_broadcast="numpy")
    w = net.const(np.int32(weights - weights_zero))
    y = net.op("MatMul", x, w, data={"transpose_a": False, "transpose_b": True})
    y = net.op("Multiply", net.op("Convert", y, destination_type="f32"),
               net.const(np.float32(0.0078125)), auto_broadcast="numpy")
    net.result(y, "y")
    want = ((data - zero) @ (weights - weights_zero).T * 0.0078125).astype(np.float32)
    return Case("int8", name, net, {"x": data.astype(np.uint8)}, {"y": want}, about, EXACT)


def product_cases():
    g = rng("int8 products")

    def some(low, high, *shape):
        return g.integers(low, high, shape)

    yield matmul_case("matmul_bytes", some(0, 256, 7, 33), some(-128, 128, 33, 50),
                      "u8 by i8, rows and columns that fill no tile.")
    yield matmul_case("matmul_signed", some(-128, 128, 5, 64), some(-128, 128, 64, 16),
                      "i8 by i8: the first operand is below 0.")
    yield matmul_case("matmul_nine_bits", some(-131, 125, 20, 128), some(-127, 128, 128, 48),
                      "u8 less a zero point: 9 bits that span 8.")
    yield matmul_case("matmul_weights_with_zero_point", some(-100, 100, 6, 40), some(-160, 95, 40, 20),
                      "The weights are u8 less a zero point.")
    yield matmul_case("matmul_saturation", np.full((4, 66), 255), np.where(some(0, 2, 66, 34), 127, -128),
                      "Sums of two products that 16 bits do not hold.")
    yield matmul_case("matmul_transposed", some(0, 256, 3, 37), some(-128, 128, 19, 37),
                      "The weights lie by columns.", transpose_b=True)
    yield matmul_case("matmul_row", some(0, 256, 1, 130), some(-128, 128, 130, 200), "One row.")
    yield matmul_case("matmul_one_column", some(0, 256, 9, 21), some(-128, 128, 21, 1), "One column.")
    yield matmul_case("matmul_wide_rows", some(-3000, 3000, 6, 30), some(-128, 128, 30, 40),
                      "The first operand is not of 8 bits.")
    yield matmul_case("matmul_wide_rows_with_zero_point", some(-3000, 3000, 6, 30), some(-30, 200, 30, 40),
                      "Nor are the weights, but for a zero point.")
    yield matmul_case("matmul_wide_weights", some(0, 256, 6, 30), some(-3000, 3000, 30, 40),
                      "The weights are not of 8 bits.")
    yield matmul_case("matmul_wraps", some(-2**31, 2**31, 5, 12), some(-128, 128, 12, 18),
                      "Sums that wrap.", openvino=departures.INTEGER_SUMS)
    yield matmul_case("matmul_unsigned", some(0, 256, 5, 12), some(0, 128, 12, 18), "In u32.", dtype="u32")
    yield matmul_case("matmul_batch", some(0, 256, 2, 3, 5, 24), some(-128, 128, 24, 17),
                      "Batches that meet one matrix.")
    yield matmul_case("matmul_dynamic", some(0, 256, 4, 24), some(-128, 128, 24, 17), "No dimension is known.",
                      dynamic=True)
    yield dynamically_quantised("matmul_dynamically_quantised", 20, 140, 250, "Zero points on both sides.")


class Quantised:
    """A model of convolutions; x is quantised to [low, high]. Its kind may be of bytes; order: that of
    a Transpose in front."""
    def __init__(self, name, shape, low=0.0, high=2.0, levels=256, dynamic=False, kind=None, order=None):
        self.name, self.net, self.g = name, Net(name), rng("int8 " + name)
        self.feed = uniform(self.g, shape, low - 0.2, high + 0.2)
        if kind:
            self.feed = self.g.integers(np.iinfo(kind).min, np.iinfo(kind).max + 1, shape).astype(kind)
        dtype = {np.uint8: "u8", np.int8: "i8", None: "f32"}[kind]
        port = self.net.param("x", dtype, [-1] * len(shape) if dynamic else list(shape))
        x = Value(self.net, port, self.feed)
        if kind:
            x = x.converted("f32")
        if order:
            port = self.net.op("Transpose", x.port, self.net.const(np.array(order)))
            x = Value(self.net, port, x.array.transpose(order))
        self.x = x.quantised(low, high, levels=levels)

    def integers(self, *shape, scales=None, low=-127):
        """Filters in i8 with a scale for each output channel, or one."""
        array = self.g.integers(low, 128, shape).astype(np.int8)
        n = shape[0] if scales is None else scales
        scale = uniform(self.g, (n, ) + (1, ) * (len(shape) - 1), 0.002, 0.006)
        return Value(self.net, self.net.const(array), array).dequantised(scale)

    def faked(self, *shape, levels=255):
        array = uniform(self.g, shape)
        high = uniform(self.g, (shape[0], ) + (1, ) * (len(shape) - 1), 0.6, 1)
        low = -high if levels == 255 else np.float32(-high * 128 / 127)
        return Value(self.net, self.net.const(array), array).quantised(low, high, levels=levels)

    def convolved(self, x, w, strides=(1, 1), pads=(1, 1), dilations=(1, 1), auto_pad="explicit"):
        """By groups if w has a dimension more than x."""
        begin = end = pads
        by_groups = w.array.ndim > x.array.ndim
        groups = w.array if by_groups else w.array[None]
        if auto_pad == "same_upper":
            begin, end = same_pads(x.array.shape[2:], groups.shape[3:], strides, dilations, False)
        lists = {"strides": strides, "pads_begin": pads, "pads_end": pads, "dilations": dilations}
        data = {name: ",".join(map(str, numbers)) for name, numbers in lists.items()}
        data["auto_pad"] = auto_pad
        kind = "GroupConvolution" if by_groups else "Convolution"
        port = self.net.op(kind, x.port, w.port, data=data)
        pieces = [convolve(piece, group, strides, begin, end, dilations)
                  for piece, group in zip(np.split(x.array, len(groups), 1), groups)]
        return Value(self.net, port, np.concatenate(pieces, 1))

    def multiplied(self, x, w, transpose_b=True):
        port = self.net.op("MatMul", x.port, w.port,
                           data={"transpose_a": False, "transpose_b": transpose_b})
        return Value(self.net, port, x.array @ (w.array.T if transpose_b else w.array))

    def biased(self, x, shape=None):
        return x.with_("Add", uniform(self.g, shape or (1, x.array.shape[1], 1, 1)), np.add)

    def case(self, about, *ys):
        for i, y in enumerate(ys):
            self.net.result(y.port, f"y{i}")
        want = {f"y{i}": y.array.astype(np.float32) for i, y in enumerate(ys)}
        return Case("int8", self.name, self.net, {"x": self.feed}, want, about, FLOAT)


def convolution_cases():
    m = Quantised("convolution", (1, 16, 7, 9))
    y = m.biased(m.convolved(m.x, m.integers(20, 16, 3, 3))).relu().quantised(0, 3)
    yield m.case("Filters with a scale for each channel, a bias, ReLU, and quantised again.", y)
    m = Quantised("convolution_faked_filters", (1, 6, 7, 9))
    yield m.case("FakeQuantize of 255 levels on the filters; the result stays in f32.",
                 m.biased(m.convolved(m.x, m.faked(5, 6, 3, 3))))
    m = Quantised("convolution_256_levels", (1, 6, 7, 9))
    yield m.case("FakeQuantize of 256 levels on the filters: -128 is one of them.",
                 m.convolved(m.x, m.faked(5, 6, 3, 3, levels=256)))
    m = Quantised("convolution_one_scale", (1, 4, 6, 6))
    yield m.case("One scale for all channels.", m.convolved(m.x, m.integers(3, 4, 3, 3, scales=1)))
    m = Quantised("convolution_zero_point", (1, 5, 6, 7), -0.5, 0.7750000953674316)
    yield m.case("Pads are the level that stands for 0.",
                 m.convolved(m.x, m.integers(9, 5, 3, 3)).quantised(-2.5, 2.3984375))
    m = Quantised("convolution_signed", (1, 8, 6, 7), -2, 1.984375)
    yield m.case("An input of both signs.", m.convolved(m.x, m.integers(9, 8, 3, 3)))
    m = Quantised("convolution_no_level_is_zero", (1, 8, 6, 7), -1, 1)
    yield m.case("No level stands for 0, and pads are 0.", m.convolved(m.x, m.integers(9, 8, 3, 3)))
    m = Quantised("convolution_16_levels", (1, 8, 6, 7), 0, 1.5, levels=16)
    yield m.case("Few levels.", m.convolved(m.x, m.integers(9, 8, 3, 3)).quantised(-2, 2, levels=9))
    m = Quantised("convolution_1x1", (1, 32, 7, 11))
    yield m.case("Pixels are rows of the product.",
                 m.convolved(m.x, m.integers(40, 32, 1, 1), pads=(0, 0)).quantised(-3, 2.9765625))
    m = Quantised("convolution_1x1_odd_channels", (1, 5, 7, 11))
    yield m.case("Channels that fill no quad.", m.convolved(m.x, m.integers(7, 5, 1, 1), pads=(0, 0)))
    m = Quantised("convolution_strides", (1, 3, 15, 14))
    yield m.case("Strides, dilations and a kernel of 5 by 5.",
                 m.convolved(m.x, m.integers(8, 3, 5, 5), (2, 1), (2, 3), (2, 1)))
    m = Quantised("convolution_same_upper", (1, 3, 12, 12))
    yield m.case("auto_pad same_upper at stride 2.",
                 m.convolved(m.x, m.integers(8, 3, 3, 3), (2, 2), (0, 0), auto_pad="same_upper"))
    m = Quantised("convolution_batch", (3, 4, 6, 5))
    yield m.case("Three batch elements.", m.convolved(m.x, m.integers(8, 4, 3, 3)).quantised(-2, 1.984375))
    m = Quantised("convolution_few_outputs", (2, 8, 7, 13), -0.5, 0.7750000953674316)
    y = m.biased(m.convolved(m.x, m.integers(3, 8, 5, 5), pads=(2, 2))).quantised(-2, 1.984375)
    yield m.case("Several pixels fill a vector, and the last ones of a row do not.", y,
                 m.convolved(y, m.integers(2, 3, 3, 3), (1, 2)))
    m = Quantised("convolution_dynamic", (2, 4, 6, 5), dynamic=True)
    yield m.case("No dimension is known.", m.convolved(m.x, m.integers(8, 4, 3, 3)).quantised(-2, 1.984375))


def winograd_cases():
    """3 by 3 taps of many channels, which fewer products compute."""
    m = Quantised("winograd", (1, 32, 6, 8))
    y = m.biased(m.convolved(m.x, m.integers(32, 32, 3, 3))).relu().quantised(0, 4)
    yield m.case("Whole tiles.", y)
    m = Quantised("winograd_odd", (2, 20, 9, 13), -0.5, 0.7750000953674316)
    yield m.case("An odd number of pixels, channels that fill no vector, two batch elements.",
                 m.convolved(m.x, m.integers(21, 20, 3, 3)).quantised(-2.5, 2.3984375))
    m = Quantised("winograd_few_outputs", (1, 24, 6, 7))
    yield m.case("Fewer output channels than a vector has lanes.",
                 m.convolved(m.x, m.integers(12, 24, 3, 3)).quantised(-2, 1.984375))
    m = Quantised("winograd_no_pads", (1, 16, 8, 10))
    yield m.case("No pads: the image is read in place.",
                 m.convolved(m.x, m.integers(16, 16, 3, 3), pads=(0, 0)).quantised(-2, 1.984375))
    m = Quantised("winograd_wide_pads", (1, 17, 4, 3), -1, 0.9921875)
    yield m.case("Tiles that see nothing but pads.",
                 m.convolved(m.x, m.integers(18, 17, 3, 3), pads=(4, 5)).quantised(-2, 1.984375))
    m = Quantised("winograd_pixel", (1, 24, 1, 1))
    yield m.case("One pixel.", m.convolved(m.x, m.integers(130, 24, 3, 3)).quantised(-1, 1))
    m = Quantised("winograd_same_upper", (1, 16, 7, 8))
    yield m.case("auto_pad same_upper.",
                 m.convolved(m.x, m.integers(16, 16, 3, 3), pads=(0, 0), auto_pad="same_upper").quantised(-2, 2))
    m = Quantised("winograd_dynamic", (2, 16, 6, 5), dynamic=True)
    y = m.convolved(m.x, m.integers(40, 16, 3, 3)).quantised(-2, 1.984375)
    yield m.case("No dimension is known; a second convolution reads the bytes of the first.",
                 m.convolved(y, m.integers(16, 40, 3, 3)).quantised(-7, 7))
    m = Quantised("winograd_extreme", (1, 64, 5, 6), 0, 2.0)
    m.feed = np.where(m.g.integers(0, 8, m.feed.shape) > 0, 2, 0).astype(np.float32)
    m.x = Value(m.net, m.x.port, m.feed.astype(np.float64))
    signs = np.where(m.g.integers(0, 2, (32, 64, 3, 3)) > 0, 127, -128)
    signs[:8], signs[8:16] = 127, -128
    array = signs.astype(np.int8)
    w = Value(m.net, m.net.const(array), array).dequantised(uniform(m.g, (32, 1, 1, 1), 0.002, 0.006))
    yield m.case("The largest levels and filters.", m.convolved(m.x, w).quantised(-512, 508))
    m = Quantised("winograd_observed", (1, 16, 6, 6))
    y = m.biased(m.convolved(m.x, m.integers(16, 16, 3, 3))).quantised(-2, 2)
    yield m.case("The result is an output, and bytes of the next convolution.", y,
                 m.convolved(y, m.integers(16, 16, 3, 3)).quantised(-3, 3))


def depthwise_cases():
    for n, about in ((8, "Half a vector."), (20, "The last vector begins early."), (3, "Few channels.")):
        m = Quantised(f"depthwise_{n}", (1, n, 8, 9))
        y = m.biased(m.convolved(m.x, m.integers(n, 1, 1, 3, 3))).relu().quantised(0, 2)
        yield m.case(about, y)
    m = Quantised("depthwise_1", (1, 1, 8, 9))
    yield m.case("One channel.", m.biased(m.convolved(m.x, m.integers(1, 1, 1, 3, 3))).quantised(0, 2))
    m = Quantised("depthwise_1_row", (2, 1, 8, 9))
    yield m.case("One channel, a kernel of one row.",
                 m.convolved(m.x, m.integers(1, 1, 1, 1, 3), pads=(0, 1)))
    m = Quantised("depthwise_stride_2", (1, 16, 9, 9))
    yield m.case("Stride 2, the result in f32.", m.convolved(m.x, m.integers(16, 1, 1, 3, 3), (2, 2)))
    m = Quantised("depthwise_dilated", (1, 16, 9, 9), -1, 0.9921875)
    yield m.case("Dilations, an input of both signs.",
                 m.convolved(m.x, m.integers(16, 1, 1, 3, 3), (1, 1), (2, 2), (2, 2)))
    m = Quantised("groups", (1, 8, 9, 9))
    yield m.case("Groups of several channels.", m.convolved(m.x, m.integers(2, 6, 4, 3, 3)))


def border_cases():
    """No level of the input stands for 0, which pads are."""
    m = Quantised("border_5x5", (1, 4, 9, 11), -1, 1.1)
    yield m.case("Borders of two pixels, each of another number of taps.",
                 m.biased(m.convolved(m.x, m.integers(18, 4, 5, 5), pads=(2, 2))).relu().quantised(0, 3))
    m = Quantised("border_above_0", (2, 8, 6, 7), 0.5, 2.25)
    yield m.case("All levels lie above 0.", m.convolved(m.x, m.integers(9, 8, 3, 3)).quantised(-4, 4))
    m = Quantised("border_below_0", (1, 8, 6, 7), -3, -0.7)
    yield m.case("All levels lie below 0.", m.convolved(m.x, m.integers(9, 8, 3, 3)))
    m = Quantised("border_dilated", (1, 5, 10, 12), -1, 1)
    yield m.case("Dilations and strides, taps that are read one by one.",
                 m.convolved(m.x, m.integers(7, 5, 3, 3), (2, 1), (3, 2), (2, 2)))
    m = Quantised("border_wide_pads", (1, 4, 4, 3), -1, 1)
    yield m.case("Pixels that see nothing but pads.",
                 m.biased(m.convolved(m.x, m.integers(6, 4, 3, 3), pads=(4, 5))).quantised(-3, 3))
    m = Quantised("border_depthwise", (1, 20, 8, 9), -1, 1)
    y = m.biased(m.convolved(m.x, m.integers(20, 1, 1, 3, 3))).quantised(-2, 2)
    yield m.case("Channel by channel, twice.", m.convolved(y, m.integers(20, 1, 1, 3, 3), (2, 2)))
    m = Quantised("border_same_upper", (1, 6, 7, 8), -1, 1)
    yield m.case("auto_pad same_upper: pads on one side alone.",
                 m.convolved(m.x, m.integers(6, 6, 2, 2), (1, 1), (0, 0), auto_pad="same_upper"))
    m = Quantised("border_dynamic", (2, 4, 6, 5), -1, 1, dynamic=True)
    yield m.case("No dimension is known.", m.convolved(m.x, m.integers(8, 4, 3, 3)).quantised(-2, 2))


def rank_cases():
    """Ops behind a product that are not those which integers compute."""
    m = Quantised("rows_pdpd", (8, 32))
    y, bias = m.multiplied(m.x, m.integers(8, 32)), uniform(m.g, 8)
    port = m.net.op("Add", y.port, m.net.const(bias), data={"auto_broadcast": "pdpd", "axis": 0})
    case = m.case("A bias for each row: auto_broadcast is pdpd.",
                  Value(m.net, port, y.array + np.float64(bias)[:, None]))
    case.openvino = departures.PDPD_BIAS
    yield case
    m = Quantised("rows_of_rank_4", (4, 32))
    m.net = Net(m.name)  # its x has other bounds
    bounds = [m.net.const(np.full((1, 1, 1, 1), b, np.float32)) for b in (0, 2, 0, 2)]
    port = m.net.op("FakeQuantize", m.net.param("x", "f32", [4, 32]), *bounds, levels=256,
                    auto_broadcast="numpy")
    y = Value(m.net, port, fake_quantize(m.feed, *np.float32([0, 2, 0, 2]), 256)[None, None])
    yield m.case("Bounds of more dimensions than the rows.", m.multiplied(y, m.integers(16, 32)))


def row_cases():
    """MatMul between FakeQuantizes."""
    m = Quantised("rows", (16, 64))
    yield m.case("FakeQuantize of 255 levels on the matrix.", m.multiplied(m.x, m.faked(40, 64)))
    m = Quantised("rows_chain", (5, 3, 36), -0.5, 1.5)
    y = m.biased(m.multiplied(m.x, m.integers(24, 36)), (24, )).relu().quantised(0, 2)
    yield m.case("Bias, ReLU and a second product, whose input stays bytes.",
                 m.biased(m.multiplied(y, m.integers(7, 24, scales=1)), (1, )).quantised(-1, 1))
    m = Quantised("rows_by_columns", (6, 33), -1, 1)
    array = m.g.integers(-127, 128, (33, 18)).astype(np.int8)
    scale = uniform(m.g, (1, 18), 0.002, 0.006)
    w = Value(m.net, m.net.const(array), array).dequantised(scale)
    yield m.case("The columns of the matrix have the scales; rows fill no quad.",
                 m.multiplied(m.x, w, transpose_b=False))
    m = Quantised("rows_one", (1, 130), 0, 1, levels=16)
    yield m.case("One row of few levels.", m.multiplied(m.x, m.integers(200, 130)).quantised(-2, 2))
    m = Quantised("rows_no_level_is_zero", (50, 21), 0.25, 1)
    yield m.case("No level of the input is 0.", m.multiplied(m.x, m.integers(16, 21)).quantised(-1, 3))
    m = Quantised("rows_bias_of_rank_3", (4, 20), -2, 2)
    yield m.case("The bias adds a dimension.",
                 m.biased(m.multiplied(m.x, m.integers(12, 20)), (1, 1, 12)).quantised(-3, 3))
    m = Quantised("rows_dynamic", (2, 2, 3, 28), dynamic=True)
    yield m.case("No dimension is known.", m.multiplied(m.x, m.integers(19, 28)).quantised(-3, 3))
    m = Quantised("rows_and_pixels", (1, 6, 5, 8))
    y = m.convolved(m.x, m.integers(6, 6, 3, 3)).quantised(-2, 2)
    yield m.case("Rows of what was convolved, and of what is convolved too.", m.multiplied(y, m.faked(9, 8)),
                 m.multiplied(m.x, m.faked(4, 8)))


def input_cases():
    """Inputs that are bytes, or have the channels last, as cameras and converters have them."""
    for name, shape, kind, order in (("input_u8", (2, 7, 9, 3), np.uint8, (0, 3, 1, 2)),
                                     ("input_i8", (1, 6, 7, 9), np.int8, None),
                                     ("input_channels_last", (2, 7, 9, 5), None, (0, 3, 1, 2)),
                                     ("input_transposed_otherwise", (1, 7, 6, 9), np.int8, (0, 2, 1, 3))):
        low, high = (-100, 120) if kind == np.int8 else (0, 200) if kind else (-1, 1)
        m = Quantised(name, shape, low, high, kind=kind, order=order)
        scale = 0.01 if kind else 1.0
        w = m.integers(8, m.x.array.shape[1], 3, 3)
        y = m.convolved(m.x, w).with_("Multiply", scale, np.multiply)
        yield m.case("Bytes or f32, their channels first or last.", m.biased(y).quantised(-2, 2))
    m = Quantised("input_rows_u8", (5, 33), 0, 240, kind=np.uint8)
    yield m.case("Rows of bytes.", m.multiplied(m.x, m.integers(17, 33)).quantised(-200, 200))


def many_terms(kind, shape, weights, about):
    """More terms than sums of 32 bits hold; sums of f32 are exact."""
    n = 65800
    net = Net(kind)
    x = net.op("Broadcast", net.param("x", "f32", [1]), net.const(np.array(shape(n))), mode="numpy")
    x = Value(net, x, np.full(shape(n), 2.0)).quantised(0, 2)
    w = net.op("Broadcast", net.const(np.array([127], np.int8)), net.const(np.array(weights(n))),
               mode="numpy")
    w = Value(net, w, np.full(weights(n), 127, np.int8)).dequantised(np.float32(0.0078125))
    data = {"transpose_a": False, "transpose_b": True}
    if kind == "many_terms":
        data = {"strides": "1,1", "pads_begin": "0,0", "pads_end": "0,0", "dilations": "1,1",
                "auto_pad": "explicit"}
    y = net.op("Convolution" if kind == "many_terms" else "MatMul", x.port, w.port, data=data)
    net.result(y, "y")
    want = np.full(shape(1)[:1] + weights(1)[:1] + shape(1)[2:], 2 * 127 * n / 128, np.float32)
    return Case("int8", kind, net, {"x": np.array([3], np.float32)}, {"y": want}, about, FLOAT)


def many_terms_cases():
    yield many_terms("many_terms", lambda n: (1, n, 1, 2), lambda n: (3, n, 1, 1),
                     "A convolution whose sums do not fit into 32 bits.")
    yield many_terms("many_terms_rows", lambda n: (2, n), lambda n: (3, n),
                     "A product whose sums do not fit into 32 bits.")


def chain_cases():
    m = Quantised("chain", (1, 3, 12, 12))
    y = m.biased(m.convolved(m.x, m.integers(16, 3, 3, 3), (2, 2))).quantised(0, 2)
    y = m.biased(m.convolved(y, m.integers(16, 1, 1, 3, 3))).quantised(0, 2)
    y = m.biased(m.convolved(y, m.integers(24, 16, 1, 1), pads=(0, 0))).quantised(0, 4)
    yield m.case("Three convolutions whose values stay bytes.", y)
    m = Quantised("chain_observed", (1, 8, 6, 6))
    y = m.biased(m.convolved(m.x, m.integers(8, 8, 3, 3))).quantised(0, 3)
    z = m.convolved(y, m.integers(6, 8, 3, 3))
    yield m.case("Somebody looks at a value between.", y, z)
    m = Quantised("chain_two_users", (1, 8, 6, 6))
    y = m.biased(m.convolved(m.x, m.integers(8, 8, 3, 3))).quantised(0, 3)
    z = m.convolved(y, m.integers(8, 8, 3, 3))
    total = Value(m.net, m.net.op("Add", y.port, z.port, auto_broadcast="numpy"), y.array + z.array)
    yield m.case("A value between is added to what comes of it.", total)
    m = Quantised("chain_sums_observed", (1, 8, 6, 6))
    y = m.convolved(m.x, m.integers(8, 8, 3, 3))
    yield m.case("The sums are looked at before they are quantised.", y, m.biased(y).quantised(0, 3))


def cases():
    yield from convolution_cases()
    yield from winograd_cases()
    yield from depthwise_cases()
    yield from border_cases()
    yield from row_cases()
    yield from rank_cases()
    yield from input_cases()
    yield from many_terms_cases()
    yield from chain_cases()
    yield from product_cases()
