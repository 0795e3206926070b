# MatMul, Convolution, MaxPool, SoftMax, ReduceMean.
# SPDX-License-Identifier: Apache-2.0
import numpy as np

from . import departures
from .common import EXACT, F64, Case, rng, uniform
from .net import Net, type_of

FLOAT = "--atol 2e-6 --rtol 1e-5"


def matmul_case(name, a, b, about, ta=False, tb=False, const_b=False, args=FLOAT, bare=False,
                **more):
    net = Net(name)
    p = net.param("a", type_of(a), list(a.shape))
    q = net.const(b) if const_b else net.param("b", type_of(b), list(b.shape))
    attrs = {} if bare else {"transpose_a": ta, "transpose_b": tb}
    net.result(net.op("MatMul", p, q, data=attrs), "y")
    x, y = np.float64(a), np.float64(b)
    x = np.swapaxes(x, -1, -2) if ta and x.ndim > 1 else x
    y = np.swapaxes(y, -1, -2) if tb and y.ndim > 1 else y
    want = np.matmul(x, y).astype(a.dtype)
    return Case("matmul", name, net, {"a": a} if const_b else {"a": a, "b": b},
                {"y": np.asarray(want)}, about, args, **more)


def matmul_cases():
    g = rng("matmul")
    for name, sa, sb, ta, tb in (("plain", (3, 5), (5, 4), 0,
                                  0), ("transpose_a", (5, 3), (5, 4), 1,
                                       0), ("transpose_b", (3, 5), (4, 5), 0,
                                            1), ("transpose_both", (5, 3), (4, 5), 1,
                                                 1), ("batch", (2, 3, 5), (2, 5, 4), 0, 0),
                                 ("batch_broadcast", (2, 1, 3, 5), (7, 5, 4), 0,
                                  0), ("batch_transpose_b", (2, 3, 5), (2, 4, 5), 0,
                                       1), ("one_sided_batch", (4, 2, 6), (6, 3), 0,
                                            0), ("vector_vector", (6,), (6,), 0,
                                                 0), ("vector_matrix", (5,), (5, 4), 0,
                                                      0), ("matrix_vector", (3, 5), (5,), 0, 0),
                                 ("vector_batch", (5,), (2, 5, 4), 0,
                                  0), ("row", (1, 1), (1, 33), 0, 0), ("odd_17_65_33", (17, 65),
                                                                       (65, 33), 0, 0)):
        yield matmul_case(name, uniform(g, sa), uniform(g, sb), f"{list(sa)} x {list(sb)}.",
                          bool(ta), bool(tb))
    many = rng("matmul many rows")
    for name, ta, tb in (("many_rows", 0, 0), ("many_rows_transposed", 1, 1)):
        yield matmul_case(name, uniform(many, (2, 37, 101) if ta else (2, 101, 37)),
                          uniform(many, (2, 70, 37) if tb else (2, 37, 70)),
                          "Batches large enough for panels packed in every run.", bool(ta),
                          bool(tb))
    for n in (16, 48):
        yield matmul_case(f"many_rows_{n}_columns", uniform(many, (2, 21, 37)),
                          uniform(many, (2, 37, n)), "A panel that is as wide as the matrix.")
        yield matmul_case(f"const_weights_{n}_columns", uniform(many, (21, 37)),
                          uniform(many, (n, 37)), "The same with constant weights.", tb=True,
                          const_b=True)
    yield matmul_case("const_weights", uniform(g, (2, 9)), uniform(g, (7, 9)), "A dense layer.",
                      tb=True, const_b=True)
    yield matmul_case("const_weights_transpose_a", uniform(many, (1, 37, 101)),
                      uniform(many, (70, 37)), "A dense layer whose input is transposed.", True,
                      True, const_b=True)
    batch = rng("matmul transposed batch")
    for rows, columns in ((21, 7), (21, 20), (1, 20)):
        yield matmul_case(f"const_weights_{columns}_of_{rows}_transposed_rows",
                          uniform(batch, (3, 37, rows)), uniform(batch, (columns, 37)),
                          "A dense layer whose inputs are a transposed batch.", True, True,
                          const_b=True)
    yield matmul_case("no_attributes", uniform(g, (2, 3)), uniform(g, (3, 2)),
                      "transpose_a and _b default to false.", bare=True)
    yield matmul_case("f64", g.uniform(-1, 1, (3, 8)), g.uniform(-1, 1, (8, 2)), "In f64.",
                      args=F64, confirm_tolerance=(1e-6, 1e-5))
    yield matmul_case("empty_k", np.zeros((2, 0), np.float32), np.zeros((0, 3), np.float32),
                      "A sum over nothing is 0.")


def repeated_in_two_ways():
    """A vector that the ops after a product repeat by rows, then by columns."""
    g = rng("repeated_in_two_ways")
    a, b, x = uniform(g, (4, 3)), uniform(g, (3, 4)), uniform(g, (4,))
    net = Net("repeated_in_two_ways")
    p, q, r = (net.param(n, "f32", list(v.shape)) for n, v in (("a", a), ("b", b), ("x", x)))
    product = net.op("MatMul", p, q, data={"transpose_a": False, "transpose_b": False})
    net.result(net.op("Less", r, product), "less")
    net.result(net.op("Add", net.op("Unsqueeze", r, net.i64([1])), product), "sum")
    c = np.matmul(np.float64(a), np.float64(b))
    want = {"less": np.float64(x) < c, "sum": (np.float64(x)[:, None] + c).astype(np.float32)}
    return Case("matmul", "repeated_in_two_ways", net, {"a": a, "b": b, "x": x}, want,
                "One vector is compared by rows and added by columns.", FLOAT)


def convolve(x, w, strides, begin, end, dilations):
    """x [N,C,*spatial], w [O,C,*kernel], float64, written out."""
    x = np.pad(x, [(0, 0), (0, 0)] + list(zip(begin, end)))
    out = [(x.shape[2 + k] - dilations[k] * (w.shape[2 + k] - 1) - 1) // strides[k] + 1
           for k in range(len(strides))]
    y = np.zeros((x.shape[0], w.shape[0], *out))
    for at in np.ndindex(*out):
        cut = tuple(
            slice(at[k] * strides[k], at[k] * strides[k] + dilations[k] * (w.shape[2 + k] - 1) +
                  1, dilations[k]) for k in range(len(out)))
        y[(slice(None), slice(None), *at)] = np.tensordot(
            x[(slice(None), slice(None), *cut)], w,
            (list(range(1, x.ndim)), list(range(1, w.ndim))))
    return y


def same_pads(sizes, kernel, strides, dilations, lower):
    begin, end = [], []
    for size, k, s, d in zip(sizes, kernel, strides, dilations):
        total = max((-(-size // s) - 1) * s + d * (k - 1) + 1 - size, 0)
        small, large = total // 2, total - total // 2
        begin.append(large if lower else small)
        end.append(small if lower else large)
    return begin, end


def convolution_case(name, x, w, about, strides=None, begin=None, end=None, dilations=None,
                     auto_pad="explicit", const_w=True, written=None):
    rank = x.ndim - 2
    strides, dilations = strides or [1] * rank, dilations or [1] * rank
    begin, end = begin or [0] * rank, end or [0] * rank
    net = Net(name)
    p = net.param("x", "f32", list(x.shape))
    q = net.const(w) if const_w else net.param("w", "f32", list(w.shape))
    attrs = {
        "strides": ",".join(map(str, strides)), "dilations": ",".join(map(str, dilations)),
        "pads_begin": ",".join(map(str, written or begin)), "pads_end": ",".join(
            map(str, written or end)), "auto_pad": auto_pad
    }
    if auto_pad.startswith("same"):
        begin, end = same_pads(x.shape[2:], w.shape[2:], strides, dilations,
                               auto_pad == "same_lower")
    elif auto_pad == "valid":
        begin, end = [0] * rank, [0] * rank
    net.result(net.op("Convolution", p, q, data=attrs), "y")
    want = convolve(np.float64(x), np.float64(w), strides, begin, end, dilations).astype(np.float32)
    return Case("convolution", name, net, {"x": x} if const_w else {"x": x, "w": w}, {"y": want},
                about, FLOAT)


def convolution_cases():
    g = rng("convolution")

    def w(*shape):
        return uniform(g, shape, -0.5, 0.5)

    x1, x2 = uniform(g, (2, 3, 17)), uniform(g, (1, 2, 9, 8))
    yield convolution_case("conv1d", x1, w(4, 3, 3), "1-D, kernel 3.")
    yield convolution_case("conv1d_stride_pad", x1, w(4, 3, 5), "1-D, stride 2, pads 2 and 1.", [2],
                           [2], [1])
    yield convolution_case("conv1d_dilated", x1, w(2, 3, 3), "1-D, dilation 3.", dilations=[3])
    yield convolution_case("conv1d_kernel_1", x1, w(5, 3, 1), "1-D, kernel 1.")
    yield convolution_case("conv1d_long_kernel", uniform(g, (1, 1, 40)), w(2, 1, 32),
                           "1-D, kernel 32, stride 4.", [4])
    yield convolution_case("conv1d_same_upper", x1, w(
        2, 3, 4), "auto_pad same_upper: the odd pad goes to the end.", [2], auto_pad="same_upper")
    yield convolution_case("conv1d_same_lower", x1, w(
        2, 3, 4), "auto_pad same_lower: the odd pad goes to the start.", auto_pad="same_lower")
    yield convolution_case("conv1d_valid", x1, w(
        2, 3, 4), "auto_pad valid ignores the pads written.", auto_pad="valid", written=[3])
    yield convolution_case("conv2d", x2, w(3, 2, 3, 3), "2-D, kernel 3x3.")
    yield convolution_case("conv2d_pads", x2, w(3, 2, 3, 2),
                           "2-D, four different pads, stride 2x1.", [2, 1], [1, 0], [2, 1])
    yield convolution_case("conv2d_same_upper", x2, w(2, 2, 2, 3), "2-D, same_upper, stride 2.",
                           [2, 2], auto_pad="same_upper", written=[0, 0])
    yield convolution_case("conv2d_dilated", x2, w(2, 2, 3, 3), "2-D, dilation 2x1.",
                           dilations=[2, 1])
    yield convolution_case("conv2d_weights_input", x2, w(2, 2, 2, 2),
                           "2-D, the kernel is an input.", const_w=False)
    yield convolution_case("conv1d_panels", uniform(g, (1, 64, 4)), w(64, 64, 3) / 4,
                           "1-D, many channels and few positions: the filters are packed.", [2],
                           [1], [1])
    yield convolution_case("conv2d_panels", uniform(g, (2, 48, 2, 3)), w(33, 48, 1, 1) / 4,
                           "2-D, two batches, the packed filters are used by both.")


def max_pool(x, kernel, strides, begin, end, ceil):
    rank = len(kernel)
    out = []
    for k in range(rank):
        span = x.shape[2 + k] + begin[k] + end[k] - kernel[k]
        out.append((-(-span // strides[k]) if ceil else span // strides[k]) + 1)
    padded = np.pad(x, [(0, 0),
                        (0, 0)] + [(b, e + s * ceil) for b, e, s in zip(begin, end, strides)],
                    constant_values=-np.inf)
    y = np.zeros((*x.shape[:2], *out), x.dtype)
    for at in np.ndindex(*out):
        cut = tuple(slice(at[k] * strides[k], at[k] * strides[k] + kernel[k]) for k in range(rank))
        y[(slice(None), slice(None), *at)] = padded[(slice(None), slice(None),
                                                     *cut)].max(axis=tuple(range(2, 2 + rank)))
    return y


def max_pool_case(name, x, about, kernel, strides, begin=None, end=None, rounding="floor",
                  auto_pad="explicit"):
    rank = len(kernel)
    begin, end = begin or [0] * rank, end or [0] * rank
    net = Net(name)
    attrs = {
        "strides": ",".join(map(str, strides)), "pads_begin": ",".join(
            map(str, begin)), "pads_end": ",".join(map(str, end)), "kernel": ",".join(
                map(str, kernel)), "rounding_type": rounding, "auto_pad": auto_pad
    }
    net.result(net.op("MaxPool", net.param("x", "f32", list(x.shape)), data=attrs), "y")
    if auto_pad.startswith("same"):
        begin, end = same_pads(x.shape[2:], kernel, strides, [1] * rank, auto_pad == "same_lower")
    return Case("max_pool", name, net, {"x": x},
                {"y": max_pool(x, kernel, strides, begin, end, rounding == "ceil")}, about, EXACT)


def max_pool_cases():
    g = rng("max_pool")
    x1, x2 = uniform(g, (1, 2, 11), -5, -1), uniform(g, (2, 3, 7, 6))
    yield max_pool_case("pool2d", x2, "2x2, stride 2.", [2, 2], [2, 2])
    yield max_pool_case("pool2d_pads", x2, "3x2 with pads, which never win.", [3, 2], [2, 1],
                        [1, 0], [1, 1])
    yield max_pool_case("pool2d_ceil", x2, "rounding_type ceil.", [2, 2], [2, 2], rounding="ceil")
    yield max_pool_case("pool1d", x1, "1-D over negative numbers, padded.", [3], [2], [1], [1])
    yield max_pool_case("pool2d_same_upper", x2, "auto_pad same_upper.", [2, 3], [2, 2],
                        auto_pad="same_upper")


def softmax(x, axis):
    e = np.exp(x - x.max(axis=axis, keepdims=True))
    return e / e.sum(axis=axis, keepdims=True)


def softmax_cases():
    g = rng("softmax")
    x = uniform(g, (2, 5, 3), -9, 9)
    for name, v, axis, attrs in (("v8_last", 8, -1, {"axis": -1}), ("v8_middle", 8, 1, {"axis": 1}),
                                 ("v1_axis_2", 1, 2, {"axis": 2}), ("v8_default_axis", 8, 1, {})):
        net = Net(name)
        net.result(net.op("SoftMax", net.param("x", "f32", [2, 5, 3]), v=v, data=attrs), "y")
        yield Case("softmax", name, net, {"x": x},
                   {"y": softmax(np.float64(x), axis).astype(np.float32)},
                   f"SoftMax-{v}, axis {axis}.", "--atol 1e-7 --rtol 1e-5")
    x = x * 100
    net = Net("large_numbers")
    net.result(net.op("SoftMax", net.param("x", "f32", [2, 5, 3]), v=8, axis=2), "y")
    yield Case("softmax", net.name, net, {"x": x},
               {"y": softmax(np.float64(x), 2).astype(np.float32)},
               "Numbers whose exponential overflows.", "--atol 1e-7 --rtol 5e-5")


def reduce_cases():
    x = uniform(rng("reduce"), (2, 3, 5))
    for name, axes, keep in (("last_keep", [2], True), ("last_drop", [2], False), ("two_axes", [
            0, 2
    ], False), ("negative_axis", [-2], True), ("all", [0, 1, 2], False), ("axis_0d", 1, False)):
        net = Net(name)
        net.result(
            net.op("ReduceMean", net.param("x", "f32", [2, 3, 5]), net.i64(axes), keep_dims=keep),
            "y")
        want = np.mean(np.float64(x), axis=tuple(np.ravel(axes)), keepdims=keep).astype(np.float32)
        yield Case("reduce_mean", name, net, {"x": x}, {"y": np.asarray(want)},
                   f"ReduceMean over {axes}, keep_dims {keep}.", FLOAT)
    net = Net("no_axes")
    net.result(net.op("ReduceMean", net.param("x", "f32", [2, 3, 5]), net.i64([]), keep_dims=False),
               "y")
    yield Case("reduce_mean", net.name, net, {"x": x}, {"y": x},
               "An empty list of axes: the input as it is.", EXACT, departures.NO_AXES)


def cases():
    yield repeated_in_two_ways()
    for make in (matmul_cases, convolution_cases, max_pool_cases, softmax_cases, reduce_cases):
        yield from make()
