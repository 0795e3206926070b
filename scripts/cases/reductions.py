# Reductions but ReduceMean, LogSoftmax, and what sums, pools and convolves in groups.
# SPDX-License-Identifier: Apache-2.0
import numpy as np

from .common import EXACT, F16, Case, rng, uniform
from .dense import convolve, same_pads
from .elementwise_more import snake
from .net import Net, type_of

FLOAT = "--atol 2e-6 --rtol 5e-6"
REDUCTIONS = {
    "ReduceL1": (4, lambda x, **k: np.abs(x).sum(**k)), "ReduceL2": (4, lambda x, **k: np.sqrt(
        (x * x).sum(**k))), "ReduceMax": (1, np.max), "ReduceMin": (1, np.min),
    "ReduceProd": (1, np.prod), "ReduceSum": (1, np.sum),
}


def case(family, name, op, x, lists, want, about, args=EXACT, v=1, attrs=None, outs=1, dtype=None,
         openvino=""):
    net = Net(name)
    ports = [net.param("x", type_of(x), list(x.shape))] + [net.i64(i) for i in lists]
    made = net.op(op, *ports, v=v, outs=outs, data=attrs, dtype=dtype)
    wants = want if isinstance(want, dict) else {"y": np.asarray(want)}
    for port, output in zip(made if outs > 1 else (made,), wants):
        net.result(port, output)
    return Case(family, name, net, {"x": x}, wants, about, args, openvino)


def reduce_cases():
    for op, (v, function) in REDUCTIONS.items():
        x = uniform(rng(op), (2, 3, 5), -1.5, 1.5)
        for name, axes, keep in (("last_keep", [2], True), ("two_axes", [0, -1], False), ("all", [
                0, 1, 2
        ], False), ("axis_0d", 1, True)):
            want = np.float32(function(np.float64(x), axis=tuple(np.ravel(axes)), keepdims=keep))
            yield case(snake(op), name, op, x, [axes], want, f"{op} over {axes}, keep_dims {keep}.",
                       FLOAT, v, {"keep_dims": keep})
    whole = np.array([[3, -1, 2], [-4, 0, 7]], np.int32)
    for op, function in (("ReduceMax", np.max), ("ReduceMin", np.min), ("ReduceSum", np.sum),
                         ("ReduceProd", np.prod)):
        yield case(snake(op), "i32", op, whole, [[1]],
                   function(whole, axis=1).astype(np.int32), f"{op} of i32.", EXACT, 1,
                   {"keep_dims": False})
    long = uniform(rng("long sum"), (3, 1025))
    yield case("reduce_sum", "long_rows", "ReduceSum", long, [[1]],
               np.float32(np.float64(long).sum(1)), "Rows of 1025.", "--atol 2e-5 --rtol 1e-5", 1,
               {"keep_dims": False})
    yield case("reduce_sum", "empty", "ReduceSum", np.zeros((2, 0), np.float32), [[1]],
               np.zeros(2, np.float32), "The sum over nothing is 0.", EXACT, 1,
               {"keep_dims": False})
    flags = rng("flags").integers(0, 3, (2, 3, 4)) > 0
    for op, function in (("ReduceLogicalAnd", np.all), ("ReduceLogicalOr", np.any)):
        for name, axes, keep in (("last", [2], False), ("first_two", [0, 1], True), ("all", [
                0, 1, 2
        ], False)):
            yield case(snake(op), name, op, flags, [axes],
                       function(flags, axis=tuple(axes), keepdims=keep), f"{op} over {axes}.",
                       EXACT, 1, {"keep_dims": keep})


def log_softmax_cases():
    x = uniform(rng("log softmax"), (2, 5, 3), -9, 9)
    for name, axis, attrs in (("last", -1, {"axis": -1}), ("middle", 1, {"axis": 1}),
                              ("default_axis", 1, {}), ("first", 0, {"axis": 0})):
        top = np.float64(x) - x.max(axis=axis, keepdims=True)
        want = np.float32(top - np.log(np.exp(top).sum(axis=axis, keepdims=True)))
        yield case("log_softmax", name, "LogSoftmax", x, [], want, f"axis {axis}.",
                   "--atol 4e-6 --rtol 1e-5", 5, attrs)
    large = np.float32([[1000, 1001, -1000]])
    yield case("log_softmax", "large_numbers", "LogSoftmax", large, [],
               np.float32(large - 1001 - np.log(1 + np.exp(-1.0))),
               "Numbers whose exponential overflows.", "--atol 1e-4 --rtol 1e-5", 5, {"axis": 1})


def average(x, kernel, strides, begin, end, exclude, ceil):
    rank, sizes = len(kernel), x.shape[2:]
    out = []
    for k in range(rank):
        span = sizes[k] + begin[k] + end[k] - kernel[k]
        out.append((-(-span // strides[k]) if ceil else span // strides[k]) + 1)
    y = np.zeros((*x.shape[:2], *out))
    for at in np.ndindex(*out):
        low = [at[k] * strides[k] - begin[k] for k in range(rank)]
        inside = tuple(
            slice(max(low[k], 0), min(low[k] + kernel[k], sizes[k])) for k in range(rank))
        padded = [min(low[k] + kernel[k], sizes[k] + end[k]) - low[k] for k in range(rank)]
        cut = x[(slice(None), slice(None), *inside)]
        count = np.prod(cut.shape[2:]) if exclude else np.prod(padded)
        y[(slice(None), slice(None), *at)] = cut.sum(axis=tuple(range(2, 2 + rank))) / count
    return y


def average_case(name, x, about, kernel, strides, begin=None, end=None, exclude=False,
                 rounding="floor", auto_pad="explicit", v=1):
    rank = len(kernel)
    begin, end = begin or [0] * rank, end or [0] * rank
    attrs = {
        "kernel": kernel, "strides": strides, "pads_begin": begin, "pads_end": end,
        "exclude-pad": exclude, "rounding_type": rounding, "auto_pad": auto_pad
    }
    if v >= 16:
        attrs["dilations"] = [1] * rank
    if auto_pad.startswith("same"):
        begin, end = same_pads(x.shape[2:], kernel, strides, [1] * rank, auto_pad == "same_lower")
    want = np.float32(
        average(np.float64(x), kernel, strides, begin, end, exclude, rounding == "ceil"))
    return case("avg_pool", name, "AvgPool", x, [], want, about, FLOAT, v, attrs)


def average_cases():
    g = rng("avg_pool")
    x1, x2 = uniform(g, (1, 2, 11)), uniform(g, (2, 3, 7, 6))
    for v in (1, 14, 16):
        yield average_case(f"v{v}_pool2d", x2, "2x2, stride 2.", [2, 2], [2, 2], v=v)
        yield average_case(f"v{v}_pads_excluded", x2, "Pads do not count.", [3, 2], [2, 1], [1, 0],
                           [1, 1], True, v=v)
        yield average_case(f"v{v}_pads_counted", x2, "Pads count as zeros.", [3, 2], [2, 1], [1, 0],
                           [1, 1], False, v=v)
    yield average_case("v1_pool1d", x1, "1-D.", [3], [2], [1], [1], True)
    yield average_case("v1_ceil", x2, "rounding_type ceil.", [2, 2], [2, 2], rounding="ceil",
                       exclude=True)
    yield average_case("v1_same_upper", x2, "auto_pad same_upper.", [2, 3], [2, 2],
                       auto_pad="same_upper", exclude=True)


def max_pool_with_places(x, kernel, strides, begin, end, dilations, axis):
    rank, sizes = len(kernel), x.shape[2:]
    out = [(sizes[k] + begin[k] + end[k] - dilations[k] * (kernel[k] - 1) - 1) // strides[k] + 1
           for k in range(rank)]
    y, places = np.zeros((*x.shape[:2], *out), x.dtype), np.zeros((*x.shape[:2], *out), np.int64)
    for at in np.ndindex(*x.shape[:2], *out):
        best = None
        for tap in np.ndindex(*kernel):
            p = [at[2 + k] * strides[k] - begin[k] + tap[k] * dilations[k] for k in range(rank)]
            if all(0 <= p[k] < sizes[k]
                   for k in range(rank)) and (best is None
                                              or x[(*at[:2], *p)] > x[(*at[:2], *best)]):
                best = p
        y[at] = x[(*at[:2], *best)]
        places[at] = np.ravel_multi_index((*at[:2], *best)[axis:], x.shape[axis:])
    return y, places


def max_pool_cases():
    g = rng("max_pool 8")
    x = g.permutation(2 * 3 * 7 * 6).reshape(2, 3, 7, 6).astype(np.float32) - 99
    for name, v, kernel, strides, begin, end, dilations, axis, kind, about in (("v8_places", 8, [
            2, 2
    ], [2, 2], [0, 0], [0, 0], [
            1, 1
    ], 0, "i64", "The second output says where, over all axes."), ("v8_places_axis_2", 8, [3, 2], [
            1, 2
    ], [1, 0], [1, 0], [1, 1], 2, "i32", "Places within a channel, in i32."), ("v8_dilated", 8, [
            2, 2
    ], [1, 1], [0, 0], [0, 0], [3, 2], 0, "i64", "Dilation 3x2."), ("v14_places", 14, [2, 3], [
            2, 1
    ], [0, 1], [0, 1], [1, 1], 0, "i64", "MaxPool-14."), ("v14_dilated", 14, [2, 2], [2, 2], [
            0, 0
    ], [0, 0], [
            2, 2
    ], 1, "i64", "MaxPool-14, dilation 2, places from axis 1."), ("v14_one_channel", 14, [7, 6], [
            1, 1
    ], [0, 0], [0, 0], [1, 1], 0, "i32", "The window is the whole channel.")):
        y, places = max_pool_with_places(x, kernel, strides, begin, end, dilations, axis)
        attrs = {
            "strides": strides, "dilations": dilations, "pads_begin": begin, "pads_end": end,
            "kernel": kernel, "rounding_type": "floor", "auto_pad": "explicit",
            "index_element_type": kind, "axis": axis
        }
        yield case("max_pool", name, "MaxPool", x, [],
                   {"y": y, "places": places.astype(np.dtype(kind.replace("i", "int")))}, about,
                   EXACT, v, attrs, 2, ["f32", kind])
    y, places = max_pool_with_places(x, [2, 2], [2, 2], [0, 0], [0, 0], [1, 1], 0)
    net = Net("v8_shape_of_places")
    pooled = net.op("MaxPool", net.param("x", "f32", list(x.shape)), v=8, outs=2,
                    dtype=["f32", "i64"], strides=[2, 2], dilations=[1, 1], pads_begin=[0, 0],
                    pads_end=[0, 0], kernel=[2, 2], rounding_type="floor", auto_pad="explicit",
                    index_element_type="i64", axis=0)
    net.result(pooled[0], "y")
    net.result(net.op("ShapeOf", pooled[1], v=3, output_type="i64"), "shape")
    yield Case("max_pool", net.name, net, {"x": x},
               {"y": y, "shape": np.int64(places.shape)},
               "Of the places only the shape is read.", EXACT)


def group_cases():
    g = rng("groups")
    for name, shape, weights, strides, begin, auto_pad, about in (
        ("depthwise_1d", (2, 4, 9), (4, 1, 1, 3), [1], [
            1
        ], "explicit", "A kernel for each channel."), ("two_groups_1d", (1, 4, 9), (2, 3, 2, 3), [
            2
        ], [0], "explicit", "Two groups of two channels, three outputs each."),
        ("depthwise_2d", (1, 3, 6, 5), (3, 1, 1, 3, 3), [1, 1], [0, 0],
         "same_upper", "2-D with auto_pad."), ("two_groups_2d", (2, 4, 5, 5), (2, 1, 2, 2, 2), [
             2, 1
         ], [1, 0], "explicit", "2-D, two groups.")):
        rank = len(strides)
        x, w = uniform(g, shape), uniform(g, weights, -0.6, 0.6)
        pads = (begin, begin)
        if auto_pad != "explicit":
            pads = same_pads(shape[2:], weights[3:], strides, [1] * rank, False)
        parts = [
            convolve(p, k, strides, *pads, [1] * rank)
            for p, k in zip(np.split(np.float64(x), weights[0], 1), np.float64(w))
        ]
        net = Net(name)
        y = net.op(
            "GroupConvolution", net.param("x", "f32", list(shape)), net.const(w), data={
                "strides": strides, "pads_begin": begin, "pads_end": begin, "dilations": [1] * rank,
                "auto_pad": auto_pad
            })
        net.result(y, "y")
        yield Case("group_convolution", name, net, {"x": x},
                   {"y": np.float32(np.concatenate(parts, 1))}, about, FLOAT)


def softmax_1_cases():
    x = uniform(rng("softmax 1"), (3, 4), -3, 3)
    for name, axis in (("v1_axis_0", 0), ("v1_axis_1", 1)):
        e = np.exp(np.float64(x))
        yield case("softmax", name, "SoftMax", x, [], np.float32(
            e / e.sum(axis=axis, keepdims=True)), f"SoftMax-1, axis {axis}.",
                   "--atol 1e-6 --rtol 1e-5", 1, {"axis": axis})
    half = x.astype(np.float16)
    e = np.exp(np.float64(half))
    yield case("softmax", "v8_f16", "SoftMax", half, [], (e / e.sum(axis=1, keepdims=True)).astype(
        np.float16), "In f16.", F16, 8, {"axis": 1})


def cases():
    for make in (reduce_cases, log_softmax_cases, average_cases, max_pool_cases, group_cases,
                 softmax_1_cases):
        yield from make()
