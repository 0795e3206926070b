# Chains of convolutions, which compute with the channels last.
# SPDX-License-Identifier: Apache-2.0
import numpy as np

from . import departures
from .common import Case, rng, uniform
from .dense import FLOAT, convolve
from .net import Net

TO_FIRST, TO_LAST = [0, 3, 1, 2], [0, 2, 3, 1]


class Chain:
    """A net and the values of its ports in float64."""
    def __init__(self, name, shape, dtype=np.float32, limit=0.5, declared=None):
        self.name, self.dtype, self.g = name, dtype, rng("channels_last", name)
        self.limit = limit  # of the weights
        self.net, self.wants = Net(name), {}
        x = uniform(self.g, shape)
        self.feed = {"x": x}
        self.x = (self.net.param("x", "f32", declared or list(shape)), np.float64(x))

    def const(self, array):
        port = self.net.const(array.astype(self.dtype))
        if self.dtype != np.float32:
            port = self.net.op("Convert", port, destination_type="f32")
        return port, np.float64(array.astype(self.dtype))

    def convolved(self, x, c_out, kernel, strides=None, pad=None, dilations=None, bias=True,
                  pad_end=None):
        """c_out channels, or, if it is 0, a kernel for each channel."""
        rank, c_in = len(kernel), x[1].shape[1]
        strides, dilations, pad = strides or [1] * rank, dilations or [1] * rank, pad or [0] * rank
        pad_end = pad_end or pad
        groups = [] if c_out else [c_in, 1]
        shape = (c_out, c_in, *kernel) if c_out else (c_in, 1, 1, *kernel)
        w = self.const(uniform(self.g, shape, -self.limit, self.limit))
        attrs = {
            "strides": strides, "pads_begin": pad, "pads_end": pad_end, "dilations": dilations,
            "auto_pad": "explicit"
        }
        port = self.net.op("GroupConvolution" if groups else "Convolution", x[0], w[0], data=attrs)
        parts = [(x[1], w[1])] if c_out else zip(np.split(x[1], c_in, 1), w[1])
        y = port, np.concatenate([convolve(p, k, strides, pad, pad_end, dilations) for p, k in parts], 1)
        if not bias:
            return y
        return self.added(y, self.const(uniform(self.g, (1, c_out or c_in) + (1,) * rank)))

    def grouped(self, x, n_groups, c_out, kernel, pad):
        """Groups of several channels."""
        w = self.const(uniform(self.g, (n_groups, c_out // n_groups, x[1].shape[1] // n_groups,
                                        *kernel), -0.5, 0.5))
        ones = [1] * len(kernel)
        port = self.net.op("GroupConvolution", x[0], w[0], data={
            "strides": ones, "pads_begin": pad, "pads_end": pad, "dilations": ones,
            "auto_pad": "explicit"
        })
        parts = zip(np.split(x[1], n_groups, 1), w[1])
        return port, np.concatenate([convolve(p, k, ones, pad, pad, ones) for p, k in parts], 1)

    def added(self, x, y):
        return self.net.op("Add", x[0], y[0], auto_broadcast="numpy"), x[1] + y[1]

    def multiplied(self, x, y):
        return self.net.op("Multiply", x[0], y[0], auto_broadcast="numpy"), x[1] * y[1]

    def relu(self, x):
        return self.net.op("ReLU", x[0]), np.maximum(x[1], 0)

    def clamped(self, x, low, high):
        return self.net.op("Clamp", x[0], min=low, max=high), np.clip(x[1], low, high)

    def sigmoid(self, x):
        return self.net.op("Sigmoid", x[0]), 1 / (1 + np.exp(-x[1]))

    def reduced(self, x, op, axes, keep=True):
        f = {"ReduceMean": np.mean, "ReduceMax": np.max}[op]
        port = self.net.op(op, x[0], self.net.i64(axes), keep_dims=keep)
        return port, f(x[1], tuple(axes), keepdims=keep)

    def leaky(self, x, slope_shape):
        """A slope for each channel, or for all."""
        slope = self.const(uniform(self.g, slope_shape, -0.5, 0.5))
        full = slope[1]
        if full.ndim == 1 and len(full) == x[1].shape[1]:
            full = full.reshape((-1,) + (1,) * (x[1].ndim - 2))
        return self.net.op("PReLU", x[0], slope[0]), np.where(x[1] < 0, x[1] * full, x[1])

    def max_pooled(self, x, kernel, strides, pad, has_indices=False, is_clamped=True):
        """MaxPool-1, or MaxPool-8, whose indices nothing reads."""
        ones = [1] * len(kernel)
        data = {"kernel": kernel, "strides": strides, "pads_begin": pad, "pads_end": pad,
                "rounding_type": "floor", "auto_pad": "explicit"}
        if has_indices:
            data |= {"dilations": ones, "axis": 0, "index_element_type": "i64"}
        port = self.net.op("MaxPool", x[0], v=8 if has_indices else 1,
                           outs=2 if has_indices else 1,
                           dtype=[x[0].dtype, "i64"][:1 + has_indices],
                           data=data)
        port = port[0] if has_indices else port
        padded = np.pad(x[1], [(0, 0)] * 2 + [(p, p) for p in pad], constant_values=-np.inf)
        spatial = tuple(range(2, x[1].ndim))
        windows = np.lib.stride_tricks.sliding_window_view(padded, kernel, spatial)
        windows = windows[(slice(None),) * 2 + tuple(slice(None, None, s) for s in strides)]
        y = port, windows.max(tuple(d + len(kernel) for d in spatial))
        # The maximum of NaN is the lowest number: a sum of its products would overflow.
        return self.clamped(y, -9, 9) if is_clamped else y

    def padded(self, x, begin, end, mode="constant", value=None):
        values = [] if value is None else [self.net.const(np.array(value, np.float32))]
        port = self.net.op("Pad", x[0], self.net.i64(begin), self.net.i64(end), *values, v=12,
                           pad_mode=mode)
        pads = list(zip(begin, end))
        kept = tuple(slice(max(0, -b), n - max(0, -e)) for n, (b, e) in zip(x[1].shape, pads))
        more = {"constant_values": value or 0} if mode == "constant" else {}
        return port, np.pad(x[1][kept], [(max(b, 0), max(e, 0)) for b, e in pads], mode, **more)

    def joined(self, xs, axis):
        port = self.net.op("Concat", *(x[0] for x in xs), axis=axis)
        return port, np.concatenate([x[1] for x in xs], axis)

    def transposed(self, x, order):
        port = self.net.op("Transpose", x[0], self.net.const(np.array(order)))
        return port, x[1].transpose(order)

    def case(self, about, *ys):
        for i, y in enumerate(ys):
            name = "y" if i == 0 else f"y{i}"
            self.net.result(y[0], name)
            dtype = {"f64": np.float64, "u8": np.uint8}.get(y[0].dtype, np.float32)
            self.wants[name] = y[1].astype(dtype)
        return Case("channels_last", self.name, self.net, self.feed, self.wants, about, FLOAT)


def separable(c, x, c_out, strides=None):
    """A depthwise and a pointwise convolution."""
    x = c.relu(c.convolved(x, 0, [3, 3], strides, [1, 1]))
    return c.relu(c.convolved(x, c_out, [1, 1]))


def line_cases():
    """Taps in pads are left out: tiles end where a tap enters or leaves the line."""
    c = Chain("line_dilated", (2, 16, 40), limit=0.1)
    y = c.relu(c.convolved(c.x, 32, [3], None, [16], [8], pad_end=[0]))
    y = c.relu(c.convolved(y, 48, [3], None, [8], [8]))
    yield c.case("Dilations, with pads before or on both sides.", c.convolved(y, 32, [5], None, [6], [3]))
    c = Chain("line_short", (2, 16, 6))
    y = c.relu(c.convolved(c.x, 32, [3], None, [9], [9]))
    y = c.relu(c.convolved(y, 32, [2], None, [4], [7]))
    y = c.relu(c.convolved(y, 32, [3], None, [7]))
    yield c.case("Positions that see no tap, or not all of the taps between two pads.",
                 c.convolved(y, 32, [4], [3], [5], [4]))
    c = Chain("line_many_terms", (1, 160, 21), limit=0.1)
    y = c.relu(c.convolved(c.x, 160, [3], [2], [4], [2]))
    yield c.case("More terms than are summed at a time.", c.convolved(y, 32, [4], None, [3], [2], pad_end=[0]))


def image_cases():
    c = Chain("planes", (1, 3, 11, 14))
    y = c.relu(c.convolved(c.x, 16, [3, 3], [2, 2], [1, 1]))
    yield c.case("From planes to planes.", separable(c, separable(c, y, 32), 24, [2, 2]))
    c = Chain("pixels", (2, 9, 11, 3))
    y = c.relu(c.convolved(c.transposed(c.x, TO_FIRST), 8, [3, 3], [2, 2], [1, 1]))
    yield c.case("The input and the output have the channels last.",
                 c.transposed(separable(c, separable(c, y, 20), 33), TO_LAST))
    c = Chain("depthwise_end", (1, 5, 9, 9))
    y = c.clamped(c.convolved(c.x, 19, [1, 1]), 0, 0.5)
    yield c.case("A depthwise convolution at the end.",
                 c.clamped(c.convolved(y, 0, [5, 5], [2, 1], [2, 2], [2, 1]), -0.25, 0.25))
    c = Chain("half_weights", (1, 4, 8, 10), np.float16)
    y = c.relu(c.convolved(c.x, 24, [3, 3], None, [1, 1]))
    yield c.case("Weights of f16.", separable(c, y, 7))
    c = Chain("row", (3, 4, 50))
    y = c.relu(c.convolved(c.x, 18, [3], None, [1]))
    y = c.relu(c.convolved(y, 0, [9], [2], [4]))
    yield c.case("Over one dimension.", c.convolved(y, 5, [1]))
    c = Chain("volume", (1, 2, 4, 5, 6))
    y = c.convolved(c.x, 17, [2, 2, 2], None, [1, 0, 0])
    y = c.relu(c.convolved(y, 0, [3, 3, 3], [1, 2, 1], [1, 1, 1]))
    yield c.case("Over three dimensions.", c.convolved(y, 3, [1, 1, 1]))


def row_cases():
    """Images between convolutions that are so large that they are computed by rows."""
    c = Chain("rows", (1, 1, 96, 44))
    y = c.relu(c.convolved(c.x, 16, [3, 3], None, [1, 1]))
    y = c.relu(c.convolved(y, 0, [3, 3], None, [1, 1]))
    y = c.clamped(c.convolved(y, 32, [1, 1]), 0, 6)
    y = c.relu(c.convolved(y, 0, [5, 3], [2, 2], [2, 1]))
    yield c.case("A chain of three convolutions, and two that read a small image.",
                 c.relu(c.convolved(c.convolved(y, 8, [1, 1]), 1, [3, 3], [2, 2])))
    c = Chain("rows_of_batch", (2, 1, 70, 60))
    x = c.relu(c.convolved(c.x, 16, [1, 1]))
    y = c.sigmoid(c.convolved(x, 0, [3, 3], None, [2, 3], [2, 3]))
    y = c.added(c.convolved(y, 16, [1, 1]), x)
    yield c.case("Of each batch element: a chain that begins with an image that is also added, with taps "
                 "two and three rows apart.", c.convolved(y, 2, [3, 3], [3, 3]))
    c = Chain("rows_of_width", (1, 8, 64, 17), declared=[1, 8, 64, -1])
    y = c.relu(c.convolved(c.relu(c.convolved(c.x, 64, [1, 1])), 0, [3, 3], None, [1, 1]))
    yield c.case("The output has the same shape for images that are up to 128 wide.",
                 c.relu(c.convolved(y, 0, [3, 3], [1, 128], [1, 1])))
    c = Chain("rows_pooled", (1, 1, 70, 64), limit=0.2)
    y = c.relu(c.convolved(c.relu(c.convolved(c.x, 16, [1, 1])), 0, [3, 3], None, [1, 1]))
    y = c.max_pooled(c.relu(c.convolved(y, 64, [1, 1])), [2, 2], [2, 2], [0, 0])
    yield c.case("The last convolution of a chain also pools, and another one reads that.",
                 c.convolved(c.convolved(y, 0, [3, 3], [2, 2]), 1, [3, 3], [3, 3]))


def empty_case():
    """The shape only: what OpenVINO computes from no channels is not defined."""
    c = Chain("no_channels", (1, 4, 6, 5))
    y = c.convolved(c.convolved(c.x, 16, [3, 3], None, [1, 1]), 0, [3, 3], None, [1, 1])[0]
    attrs = {"strides": [1, 1], "pads_begin": [0, 0], "pads_end": [0, 0], "dilations": [1, 1],
             "auto_pad": "explicit"}
    for shape in ((0, 16, 1, 1), (3, 0, 1, 1)):
        y = c.net.op("Convolution", y, c.net.const(np.zeros(shape, np.float32)), data=attrs)
    c.net.result(c.net.op("ShapeOf", y, output_type="i64", v=3), "y")
    return Case("channels_last", c.name, c.net, c.feed, {"y": np.int64([1, 3, 6, 5])},
                "A convolution with no filter, and one over its output.", FLOAT)


def other_op_cases():
    c = Chain("residual", (1, 16, 7, 9))
    y = c.relu(c.convolved(c.x, 16, [1, 1]))
    z = c.convolved(c.relu(c.convolved(y, 0, [3, 3], None, [1, 1])), 16, [1, 1])
    yield c.case("Two branches meet.", separable(c, c.relu(c.added(y, z)), 10))
    c = Chain("gate", (1, 6, 7, 9))
    y = c.relu(c.convolved(c.x, 20, [3, 3], None, [1, 1]))
    y = c.convolved(y, 0, [3, 3], None, [1, 1])
    gate = c.sigmoid(c.convolved(y, 20, [7, 9]))
    yield c.case("A factor for each channel is computed.",
                 c.convolved(c.multiplied(y, gate), 9, [1, 1]))
    c = Chain("factor", (1, 6, 7, 9))
    y = c.convolved(c.convolved(c.x, 20, [1, 1]), 0, [3, 3], None, [1, 1], None, False)
    y = c.multiplied(y, c.const(uniform(c.g, (1, 20, 1, 1))))
    y = c.multiplied(y, c.const(uniform(c.g, (1,))))
    yield c.case("Constant factors, for each channel and for all.", c.convolved(y, 9, [1, 1]))
    c = Chain("other_constants", (1, 6, 7, 9))
    y = c.convolved(c.convolved(c.x, 20, [1, 1]), 0, [3, 3], None, [1, 1])
    y = c.multiplied(y, c.const(uniform(c.g, (7, 9))))
    y = c.convolved(c.relu(y), 0, [3, 3], None, [1, 1])
    yield c.case("A constant for each pixel lets a chain end.", c.convolved(y, 9, [1, 1]))
    c = Chain("groups", (1, 6, 7, 9))
    y = c.relu(c.convolved(separable(c, c.x, 20), 0, [3, 3], None, [1, 1]))
    y = separable(c, c.grouped(y, 4, 8, [3, 3], [1, 1]), 18)
    yield c.case("Groups of several channels between two chains.", y)
    c = Chain("max_pool", (2, 4, 13, 12), limit=0.2)
    y = c.relu(c.convolved(c.x, 32, [3, 3], None, [1, 1]))
    y = c.convolved(c.max_pooled(y, [2, 2], [2, 2], [0, 0]), 19, [3, 3], None, [1, 1])
    y = c.max_pooled(y, [3, 2], [2, 1], [1, 0], True)
    yield c.case("MaxPool within a chain, and at its end.",
                 c.max_pooled(c.relu(c.convolved(y, 16, [1, 1])), [3, 3], [1, 1], [1, 1]))
    c = Chain("max_pool_wide", (2, 4, 9, 107), limit=0.2)
    y = c.max_pooled(c.relu(c.convolved(c.x, 32, [3, 3], None, [1, 1])), [2, 2], [2, 2], [0, 0])
    y = c.max_pooled(c.convolved(y, 48, [2, 2]), [1, 3], [1, 3], [0, 0])
    y = c.max_pooled(c.sigmoid(c.convolved(y, 16, [3, 3], None, [1, 1])), [3, 2], [3, 2], [0, 0])
    yield c.case("Convolutions pool what they compute; rows and columns are left.",
                 c.convolved(y, 16, [1, 1]))
    c = Chain("max_pool_many_terms", (2, 110, 8, 10), limit=0.1)
    y = c.clamped(c.convolved(c.x, 48, [2, 2]), 0, 0.75)
    y = c.max_pooled(y, [2, 2], [2, 2], [0, 0])
    yield c.case("The sums of a pooled convolution take several blocks of terms.",
                 c.convolved(y, 16, [1, 1]))
    c = Chain("pad", (2, 6, 7, 9))
    y = c.relu(c.convolved(c.x, 20, [1, 1]))
    z = c.convolved(c.convolved(y, 0, [3, 3], None, [1, 1]), 28, [1, 1])
    y = c.relu(c.added(z, c.padded(y, [0, 0, 0, 0], [0, 8, 0, 0])))
    y = c.convolved(c.padded(y, [0, 2, 1, 0], [1, -3, 0, 2], value=0.75), 16, [1, 1])
    y = c.convolved(c.padded(y, [0, 0, 1, 2], [0, 0, 3, 1], "reflect"), 0, [3, 3], [2, 2])
    yield c.case("Pads of channels, of positions and of the batch.", c.convolved(y, 9, [1, 1]))
    c = Chain("concat", (2, 6, 7, 9))
    y = c.relu(c.convolved(c.x, 20, [1, 1]))
    y = c.joined([y, c.relu(c.convolved(y, 0, [3, 3], None, [1, 1])), y], 1)
    z = c.convolved(c.convolved(y, 0, [3, 3], [2, 2], [1, 1]), 9, [1, 1])
    z = c.joined([z, c.convolved(z, 0, [3, 3], None, [1, 1])], -3)
    rows = c.joined([z, c.relu(z)], 2)
    yield c.case("Concat of channels, which two ops read, and of rows.", c.convolved(z, 16, [1, 1]),
                 c.convolved(rows, 5, [1, 1]), c.relu(y))
    c = Chain("max_pool_row", (2, 4, 50), limit=0.2)
    y = c.max_pooled(c.convolved(c.x, 40, [5]), [3], [2], [1])
    yield c.case("MaxPool over one dimension.", c.convolved(y, 16, [3]))
    c = Chain("max_pool_column", (2, 4, 9, 3), limit=0.2)
    y = c.max_pooled(c.convolved(c.x, 16, [2, 3]), [3, 1], [3, 1], [0, 0])
    yield c.case("MaxPool of a column that a kernel as wide as the image has made.",
                 c.convolved(y, 16, [1, 1]))
    c = Chain("max_pool_far", (2, 4, 6, 5), limit=0.2)
    y = c.convolved(c.x, 16, [3, 3])
    z = c.net.op("MaxPool", y[0], v=8, outs=2, dtype=["f32", "i64"], data={
        "kernel": [1, 2], "strides": [1, 1], "dilations": [1, 10**8], "pads_begin": [0, 10**8],
        "pads_end": [0, 0], "rounding_type": "floor", "auto_pad": "explicit", "axis": 0,
        "index_element_type": "i64"
    })
    yield c.case("The window of a MaxPool is longer than what its fast kernels can run.",
                 c.convolved(c.clamped((z[0], y[1]), -9, 9), 16, [1, 1]))
    for dtype in ("f64", "u8"):
        c = Chain(f"max_pool_{dtype}", (1, 4, 6, 5))
        y = c.convolved(c.convolved(c.x, 16, [3, 3]), 16, [1, 1])
        values = c.g.permutation(2 * 7 * 8 * 3).reshape(2, 7, 8, 3) % 251
        c.feed["z"] = values.astype({"f64": np.float64, "u8": np.uint8}[dtype])
        z = c.net.param("z", dtype, list(values.shape)), np.float64(values)
        z = c.max_pooled(c.transposed(z, TO_FIRST), [2, 3], [1, 2], [0, 1], is_clamped=False)
        yield c.case("A MaxPool of another type between Transposes.", y,
                     c.transposed(z, TO_LAST))
    c = Chain("observed", (1, 6, 7, 9))
    y = c.relu(c.convolved(c.x, 20, [1, 1]))
    z = c.relu(c.convolved(y, 0, [3, 3], None, [1, 1]))
    yield c.case("Values within a chain are outputs.", c.convolved(z, 9, [1, 1]), z, y)


def reduction_cases():
    """Squeeze and excite, and reductions at the end of a chain."""
    c = Chain("squeeze", (2, 6, 7, 9))
    y = c.relu(c.convolved(c.convolved(c.x, 20, [1, 1]), 0, [3, 3], None, [1, 1]))
    gate = c.relu(c.convolved(c.reduced(y, "ReduceMean", [2, 3]), 5, [1, 1]))
    y = c.multiplied(y, c.sigmoid(c.convolved(gate, 20, [1, 1])))
    yield c.case("Factors for each channel from means.", c.convolved(y, 9, [1, 1]))
    c = Chain("reduced_rest", (2, 6, 7, 9))
    y = c.convolved(c.convolved(c.x, 20, [1, 1]), 0, [3, 3], None, [1, 1])
    yield c.case("Reductions over all positions, over some axes, and without the dimensions.",
                 c.reduced(y, "ReduceMax", [-1, 2]), c.reduced(y, "ReduceMean", [3]),
                 c.reduced(y, "ReduceMax", [1, 2, 3]), c.reduced(y, "ReduceMean", [2, 3], False))
    c = Chain("reduced_alone", (2, 7, 9, 12))
    y = c.transposed(c.relu(c.x), TO_FIRST)
    gate = c.relu(c.convolved(c.reduced(y, "ReduceMean", [2, 3]), 3, [1, 1]))
    yield c.case("No convolution is worth the change, but a mean behind a Transpose is.",
                 c.multiplied(y, c.sigmoid(c.convolved(gate, 12, [1, 1]))))
    c = Chain("reduced_row", (2, 4, 50))
    y = c.convolved(c.convolved(c.x, 18, [3]), 0, [5], [2])
    yield c.case("A mean over one dimension.", c.convolved(c.reduced(y, "ReduceMean", [2]), 3, [1]))


def plain_cases():
    """No depthwise convolution, but whole vectors of channels."""
    c = Chain("whole_vectors", (1, 3, 13, 10), limit=0.1)
    y = c.relu(c.convolved(c.x, 16, [3, 3], None, [1, 1]))
    z = c.relu(c.convolved(y, 16, [3, 3], None, [1, 1]))
    y = c.relu(c.added(c.convolved(z, 16, [3, 3], None, [1, 1]), y))
    z = c.convolved(c.relu(c.convolved(y, 32, [3, 3], [2, 2], [1, 1])), 32, [3, 3], None, [1, 1])
    y = c.relu(c.added(z, c.convolved(y, 32, [1, 1], [2, 2])))
    yield c.case("A residual network.", c.convolved(y, 5, [3, 3], None, [1, 0]))
    c = Chain("whole_rows", (2, 32, 9, 12), limit=0.1)
    y = c.clamped(c.convolved(c.x, 48, [1, 3], None, [0, 1]), -1, 1)
    y = c.sigmoid(c.convolved(y, 64, [3, 1], None, [1, 0]))
    yield c.case("Kernels along one dimension.", c.convolved(y, 16, [3, 3]))
    c = Chain("leaky", (1, 3, 16, 10), limit=0.1)
    y = c.leaky(c.convolved(c.x, 16, [3, 3], None, [1, 1]), (1,))
    y = c.leaky(c.convolved(y, 60, [3, 1], None, [1, 0]), (1, 60, 1, 1))
    y = c.leaky(c.convolved(y, 16, [1, 3], None, [0, 1]), (16,))
    yield c.case("PReLU, with a slope for all channels or for each.", c.convolved(y, 32, [3, 3]))
    c = Chain("slopes", (1, 3, 12, 16), limit=0.1)
    y = c.leaky(c.convolved(c.x, 24, [3, 3], None, [1, 1]), (24,))
    y = c.multiplied(c.convolved(y, 16, [1, 1]), c.const(uniform(c.g, (16, 1, 1), 0.5, 1.5)))
    y = c.leaky(c.convolved(y, 32, [3, 3], None, [1, 1]), (32, 1, 1))
    y = c.leaky(c.convolved(y, 24, [1, 1]), (16,))
    y = c.leaky(c.convolved(y, 16, [3, 1], None, [1, 0]), (16,))
    yield c.case("Slopes of lower rank, for channels and for columns.", c.convolved(y, 32, [3, 3]))
    c = Chain("pdpd", (16, 3, 5, 6), limit=0.1)
    y = c.convolved(c.x, 16, [3, 3], None, [1, 1])
    factor = c.const(uniform(c.g, (16, 1, 1), 0.5, 1.5))
    y = (c.net.op("Multiply", y[0], factor[0], auto_broadcast="pdpd", axis=0),
         y[1] * factor[1][..., None])
    case = c.case("A factor for each image.", c.convolved(y, 16, [3, 3]))
    case.openvino = departures.PDPD_CHANNELS
    yield case
    c = Chain("parts_of_vectors", (1, 8, 9, 12), limit=0.1)
    y = c.relu(c.convolved(c.x, 16, [3, 3], None, [1, 1]))
    y = c.relu(c.convolved(y, 19, [3, 3], None, [1, 1]))
    yield c.case("One of the convolutions has parts of vectors.", c.convolved(y, 16, [3, 3]))


def cases():
    yield from plain_cases()
    yield from image_cases()
    yield from line_cases()
    yield from row_cases()
    yield empty_case()
    yield from other_op_cases()
    yield from reduction_cases()
