# ReverseSequence-1.
# SPDX-License-Identifier: Apache-2.0
import numpy as np

from .common import EXACT, Case, rng
from .net import TYPES, Net, type_of

FAMILY = "reverse_sequence"


def reverse(x, lengths, batch_axis, seq_axis):
    y = x.copy()
    for b, n in enumerate(lengths):
        at = [slice(None)] * x.ndim
        at[batch_axis] = b
        rows = np.moveaxis(x[tuple(at)],
                           seq_axis % x.ndim - (seq_axis % x.ndim > batch_axis % x.ndim), 0)
        out = np.moveaxis(y[tuple(at)],
                          seq_axis % x.ndim - (seq_axis % x.ndim > batch_axis % x.ndim), 0)
        out[:int(n)] = rows[:int(n)][::-1]
    return y


def case(name, about, shape, lengths, batch_axis=0, seq_axis=1, dtype="f32", lengths_type="i32",
         bare=False, const_lengths=False, dynamic=False, openvino="", bits=None):
    numpy_type = TYPES[dtype][1]
    x = np.arange(int(np.prod(shape))).reshape(shape)
    x = (x % 3 == 0) if dtype == "boolean" else x.astype(numpy_type)
    if bits is not None:
        x = bits
    lengths = np.array(lengths, TYPES[lengths_type][1])
    net = Net(name)
    port = net.param("x", type_of(x), [-1] * x.ndim if dynamic else list(x.shape))
    n = net.const(lengths) if const_lengths else net.param("lengths", lengths_type,
                                                           list(lengths.shape))
    attrs = {} if bare else {"batch_axis": batch_axis, "seq_axis": seq_axis}
    net.result(net.op("ReverseSequence", port, n, data=attrs), "y")
    feed = {"x": x} if const_lengths else {"x": x, "lengths": lengths}
    want = reverse(x.view(np.uint32) if bits is not None else x, lengths, batch_axis, seq_axis)
    return Case(FAMILY, name, net, feed, {"y": want.view(np.float32) if bits is not None else want},
                about, EXACT, openvino, bits=bits is not None)


def cases():
    yield case("plain", "Batch first, time second.", (3, 5), (2, 5, 4))
    yield case("length_1", "A length of 1 leaves the row alone.", (3, 4), (1, 1, 1))
    yield case("length_0", "A length of 0 leaves the row alone.", (3, 4), (0, 4, 2))
    yield case("all_full", "Every row whole.", (2, 7), (7, 7))
    yield case("time_first", "Time on axis 0, batch on axis 1.", (5, 3), (3, 1, 5), 1, 0)
    yield case("rank_3", "What follows goes along.", (2, 4, 3), (3, 2))
    yield case("rank_3_time_last", "Batch 0, time 2.", (2, 3, 5), (5, 3), 0, 2)
    yield case("rank_3_batch_middle", "Batch 1, time 2.", (2, 3, 4), (4, 2, 3), 1, 2)
    yield case("rank_3_batch_last", "Batch 2, time 0.", (4, 2, 3), (4, 1, 3), 2, 0)
    yield case("rank_4", "Batch 0, time 3.", (2, 2, 3, 4), (4, 3), 0, 3)
    yield case("rank_5", "Batch 3, time 1.", (2, 4, 1, 3, 2), (2, 4, 3), 3, 1)
    yield case("negative_axes", "Axes -3 and -2.", (2, 4, 3), (3, 4), -3, -2)
    yield case("negative_seq_axis", "Time on axis -1.", (3, 6), (6, 2, 5), 0, -1)
    yield case("default_axes", "Without attributes: batch 0, time 1.", (2, 5, 2), (4, 3), bare=True)
    yield case("const_lengths", "Lengths in a Const.", (3, 5), (2, 5, 3), const_lengths=True)
    yield case("lengths_i64", "Lengths in i64.", (3, 5), (2, 5, 3), lengths_type="i64")
    yield case("one_row", "One row of 33.", (1, 33), (31,))
    yield case("wide_rows", "Rows of 65 elements each.", (2, 3, 65), (2, 3))
    yield case("dynamic", "All dimensions come with the record.", (2, 4, 3), (3, 4), dynamic=True)
    yield case("empty", "No time at all.", (2, 0, 3), (0, 0))
    for dtype in ("f16", "i8", "i32", "u8", "boolean", "i64", "f64"):
        yield case(f"type_{dtype}", f"Elements of {dtype}.", (2, 5), (4, 5), dtype=dtype)
    words = rng(FAMILY, "bits").integers(0x7F800001, 0x7FC00000, (2, 4)).astype(np.uint32)
    yield case("nan_payloads", "Signalling NaNs keep their bits.", (2, 4), (3, 4), bits=words.view(
        np.float32))
