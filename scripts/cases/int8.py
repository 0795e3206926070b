# Products of 32-bit integers that hold 8 bits, as dynamic quantisation writes them: exact, whatever
# the operands hold.
# SPDX-License-Identifier: Apache-2.0
import numpy as np

from . import departures
from .common import EXACT, Case, rng
from .net import Net


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
                      "i8 by i8: the first factor is below 0.")
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
                      "The first factor is not of 8 bits.")
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


def cases():
    yield from product_cases()
