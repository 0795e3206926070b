# A Transpose in front of a MatMul's second operand, which may become part of the product.
# SPDX-License-Identifier: Apache-2.0
import numpy as np

from .common import Case, rng, uniform
from .net import Net, type_of

FLOAT = "--atol 2e-6 --rtol 1e-5"


def factor_case(name, a, b, order, about, tb=False, const=False, open_shape=False, also=False, **more):
    """also: the transposed factor is an output too."""
    net = Net(name)
    p = net.param("a", type_of(a), [-1] * a.ndim if open_shape else list(a.shape))
    q = net.const(b) if const else net.param("b", type_of(b), [-1] * b.ndim if open_shape else list(b.shape))
    turned = net.op("Transpose", q, net.i64(order), name="turn")
    net.result(net.op("MatMul", p, turned, data={"transpose_a": False, "transpose_b": tb}, name="product"), "y")
    want = {"y": None}
    if also:
        net.result(turned, "t")
        want["t"] = np.transpose(b, order)
    y = np.transpose(np.float64(b), order)
    want["y"] = np.matmul(np.float64(a), np.swapaxes(y, -1, -2) if tb else y).astype(a.dtype)
    return Case("transposed_factor", name, net, {"a": a} if const else {"a": a, "b": b}, want, about, FLOAT, **more)


def cases():
    g = rng("transposed_factor")

    def make(name, sa, sb, order, about, **more):
        return factor_case(name, uniform(g, sa), uniform(g, sb), order, about, **more)
    yield make("rank_2", (5, 7), (4, 7), [1, 0], "A matrix.")
    yield make("rank_3", (3, 20, 7), (3, 18, 7), [0, 2, 1], "Batches.")
    yield make("rank_4", (2, 3, 5, 6), (2, 3, 4, 6), [0, 1, 3, 2], "Batches of two dimensions.")
    yield make("twice", (5, 7), (7, 4), [1, 0], "The product transposes its operand back.", tb=True)
    yield make("constant", (5, 40), (20, 40), [1, 0], "A constant operand.", const=True)
    yield make("open_shape", (2, 17, 9), (2, 19, 9), [0, 2, 1], "No dimension is known.", open_shape=True)
    yield make("also_output", (2, 5, 6), (2, 4, 6), [0, 2, 1], "The transposed factor is wanted too.", also=True)
    yield make("other_axes", (3, 2, 5, 6), (2, 3, 6, 4), [1, 0, 2, 3], "Other axes change places.")
    yield make("three_axes", (6, 5, 7), (4, 6, 7), [1, 2, 0], "Three axes move.")
    net = Net("order_length")
    a, b = uniform(g, (2, 5, 6)), uniform(g, (2, 2, 4, 6))
    q = net.param("b", "f32", [-1, -1, -1, -1])
    turned = net.op("Transpose", q, net.i64([0, 2, 1]))
    net.result(net.op("MatMul", net.param("a", "f32", [2, 5, 6]), turned,
                      data={"transpose_a": False, "transpose_b": False}), "y")
    yield Case("error_op", "transposed_factor_order", net, {"a": a, "b": b}, {},
               "The number of elements of the order is not the rank of the operand.", exit=65,
               stderr=["is i64 [3], expected", "4 numbers, one per dimension of input"])
