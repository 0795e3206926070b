# Ops that move elements, change shapes or types: Reshape, Gather, Slice, Concat, Pad, Broadcast,
# Convert ...
# SPDX-License-Identifier: Apache-2.0
import numpy as np

from . import departures
from .common import EXACT, Case, rng, uniform
from .net import TYPES, Net, round_bf16, type_of

X = np.arange(1, 25, dtype=np.float32).reshape(2, 3, 4)


def case(family, name, want, about, op, *lists, x=X, feed=None, v=1, openvino="", dtype=None,
         dynamic=False, **attrs):
    """One op whose input 0 is a Parameter and whose further inputs are Consts, or Parameters if in
    feed."""
    net = Net(name)
    shape = [-1] * x.ndim if dynamic else list(x.shape)
    ports = [net.param("x", type_of(x), shape)]
    for k, item in enumerate(lists):
        item = np.asarray(item, np.int64 if isinstance(item, (list, int)) else None)
        if feed and k in feed:
            ports.append(net.param(feed[k], type_of(item), list(item.shape)))
        else:
            ports.append(net.const(item))
    net.result(net.op(op, *ports, v=v, dtype=dtype, data=attrs.pop("data", None), **attrs), "y")
    records = {"x": x, **({feed[k]: np.asarray(lists[k]) for k in feed} if feed else {})}
    return Case(family, name, net, records, {"y": np.asarray(want)}, about, EXACT, openvino)


def reshape_cases():
    yield case("reshape", "plain", X.reshape(6, 4), "2x3x4 to 6x4.", "Reshape", [6, 4],
               special_zero=False)
    yield case("reshape", "minus_one", X.reshape(4, 6), "A -1 is worked out.", "Reshape", [4, -1],
               special_zero=False)
    yield case("reshape", "special_zero", X.reshape(2, 12), "A 0 copies the dimension.", "Reshape",
               [0, -1], special_zero=True)
    yield case("reshape", "zero_is_zero", np.zeros((0, 3), np.float32),
               "special_zero=false: a 0 is a 0.", "Reshape", [0, 3], x=np.zeros(
                   (2, 0), np.float32), special_zero=False)
    yield case("reshape", "minus_one_beside_zero", np.zeros((0, 1), np.float32),
               "A -1 beside a 0, where any number would do, is 1.", "Reshape", [0, -1],
               x=np.zeros((2, 0), np.float32), special_zero=False)
    yield case("reshape", "to_scalar", np.float32(5), "To 0-D.", "Reshape", np.zeros(0, np.int64),
               x=np.float32([[5]]), special_zero=False)
    yield case("reshape", "boolean_i32_target", (X > 9).reshape(24), "Booleans, the target in i32.",
               "Reshape", np.array([-1], np.int32), x=X > 9, special_zero=True)
    yield case("reshape", "dynamic_input", X.reshape(
        2, 12), "The input's shape comes with the record.", "Reshape", [0, -1], special_zero=True,
               dynamic=True)


def gather_cases():
    for v in (1, 7, 8):
        more = {} if v == 1 else {"batch_dims": 0}
        yield case("gather", f"v{v}_axis_1", X[:, [2, 0]], f"Gather-{v} along axis 1.", "Gather",
                   [2, 0], 1, v=v, **more)
    yield case("gather", "v8_scalar_index", X[:, 1], "A 0-D index drops the axis.", "Gather", 1, 1,
               v=8, batch_dims=0)
    yield case("gather", "v8_negative_index", X[:, :, [-1, 0]],
               "Negative indices count from the end.", "Gather", [-1, 0], -1, v=8, batch_dims=0)
    yield case("gather", "v8_out_of_range", np.stack([X[1], np.zeros((3, 4), np.float32)]),
               "An index out of range gives zeros.", "Gather", [1, 7], [0], v=8, batch_dims=0)
    yield case("gather", "v8_batch_dims", np.stack([X[0, [2, 1]], X[1, [0, 0]]]), "batch_dims 1.",
               "Gather", [[2, 1], [0, 0]], 1, v=8, batch_dims=1)
    yield case("gather", "v8_indices_input", X[:, [1, 1, 2]], "Indices are an input.", "Gather",
               np.array([1, 1, 2], np.int32), 1, v=8, feed={0: "indices"}, batch_dims=0)
    yield case("gather", "v8_2d_indices", X[[[1, 0], [1, 1]]], "Indices of rank 2.", "Gather",
               [[1, 0], [1, 1]], 0, v=8, batch_dims=0)


def slice_cases():
    forms = {
        "axes": (X[:, 1:3], [1], [3], [1], [1]), "step": (X[:, :, 0:4:2], [0], [4], [2], [2]),
        "negative_step": (X[:, :, ::-1], [-1], [-100], [-1], [2]), "two_axes": (X[1:, :, 1:3], [
            1, 1
        ], [9, 3], [1, 1], [0, 2]), "negative": (X[:, -2:-1], [-2], [-1], [1], [-2]),
        "empty": (X[:, 2:1], [2], [1], [1], [1]), "int64_max": (X[:,
                                                                  1:], [1], [2**63 - 1], [1], [1]),
    }
    for name, (want, *lists) in forms.items():
        yield case("slice", name, want, f"start, stop, step, axes = {lists}.", "Slice", *lists, v=8)
    yield case("slice", "no_axes", X[1:, 0:2], "Without axes: the first ones.", "Slice", [1, 0],
               [2, 2], [1, 1], v=8)
    yield case("slice", "start_input", X[:, 1:2], "start and stop are inputs.", "Slice",
               np.array([1]), np.array([2]), [1], [1], v=8, feed={0: "start", 1: "stop"})


def concat_cases():
    def join(name, arrays, axis, about, attrs=None, const=()):
        net = Net(name)
        ports = [
            net.const(a) if k in const else net.param(f"x{k}", type_of(a), list(a.shape))
            for k, a in enumerate(arrays)
        ]
        net.result(net.op("Concat", *ports, data=attrs or {"axis": axis}), "y")
        return Case("concat", name, net,
                    {f"x{k}": a
                     for k, a in enumerate(arrays) if k not in const},
                    {"y": np.concatenate(arrays, axis)}, about, EXACT)

    yield join("two", [X, X + 100], 1, "Two along axis 1.")
    yield join("negative_axis", [X, X[:, :, :1]], -1, "axis -1.")
    yield join("with_empty", [X[:, :0], X, X[:, :0]], 1, "Operands with a 0.")
    yield join("nine", [X[:1] + 10 * k for k in range(9)], 0, "Nine operands.")
    yield join("const_operand", [X, -X], 0, "One operand is a Const.", const=(1,))
    yield join("i64_lists", [np.array([1, 2]), np.array([3])], 0, "i64 lists.")
    yield join("boolean", [X > 3, X < 2], 2, "Booleans.")


def pad_cases():
    y = X[0]
    for mode, numpy_mode in (("reflect", "reflect"), ("edge", "edge"), ("symmetric", "symmetric")):
        yield case("pad", f"v12_{mode}", np.pad(y, ((1, 2), (0, 3)), mode=numpy_mode), f"{mode}.",
                   "Pad", [1, 0], [2, 3], x=y, v=12, pad_mode=mode)
    want = np.pad(y, ((1, 0), (2, 1)), constant_values=-7)
    yield case("pad", "v12_constant", want, "Constant -7.", "Pad", [1, 2], [0, 1], np.float32(-7),
               x=y, v=12, pad_mode="constant")
    planes = np.arange(1, 121, dtype=np.float32).reshape(2, 3, 4, 5)
    for mode in ("constant", "edge", "reflect"):
        yield case("pad", f"v12_planes_{mode}",
                   np.pad(planes, ((0, 0), (0, 0), (1, 2), (3, 1)), mode=mode),
                   f"Planes get a border: {mode}.", "Pad", [0, 0, 1, 3], [0, 0, 2, 1],
                   np.float32(0), x=planes, v=12, pad_mode=mode)
    yield case("pad", "v12_middle_i8",
               np.pad(planes, ((0, 0), (1, 1), (2, 0), (0, 0)), constant_values=9).astype(np.int8),
               "Axes in the middle, in bytes.", "Pad", [0, 1, 2, 0], [0, 1, 0, 0], np.int8(9),
               x=planes.astype(np.int8), v=12, pad_mode="constant")
    yield case("pad", "v12_mixed_signs",
               np.pad(planes[:, :, 1:, :-2], ((0, 0), (0, 0), (0, 2), (1, 0))),
               "Cut on one side, a border on the other.", "Pad", [0, 0, -1, 1], [0, 0, 2, -2],
               np.float32(0), x=planes, v=12, pad_mode="constant")
    yield case("pad", "v1_constant_default", np.pad(y, ((0, 1), (1, 0))),
               "Pad-1 without a value: 0.", "Pad", [0, 1], [1, 0], x=y, v=1, pad_mode="constant")
    yield case("pad", "v12_negative_cuts", y[1:, :-1], "Negative pads cut.", "Pad", [-1, 0],
               [0, -1], np.float32(0), x=y, v=12, pad_mode="constant")


def rank_cases():
    y = X[:1, :, :1]
    yield case("squeeze", "v1_axes", y[0], "axes [0].", "Squeeze", [0], x=y)
    yield case("squeeze", "v1_negative_axis", y[..., 0], "axes -1, 0-D.", "Squeeze", -1, x=y)
    yield case("squeeze", "v1_no_axes", y.reshape(3), "Without axes: all ones go.", "Squeeze", x=y)
    yield case("squeeze", "v15_axes", y.reshape(3), "Squeeze-15, two axes.", "Squeeze", [0, 2], x=y,
               v=15, allow_axis_skip=False)
    yield case("unsqueeze", "front", X[None], "axis 0.", "Unsqueeze", [0])
    yield case("unsqueeze", "negative", X[..., None], "axis -1, 0-D.", "Unsqueeze", -1)
    yield case("unsqueeze", "several", X[:, None, :, None, :],
               "axes 3 and 1 of the result, unsorted.", "Unsqueeze", [3, 1])
    yield case("unsqueeze", "scalar", np.float32([[3]]), "From 0-D to 2-D.", "Unsqueeze", [0, 1],
               x=np.float32(3))
    for name, order, want in (("order", [2, 0, 1], X.transpose(
            2, 0, 1)), ("empty_order_reverses", [], X.T)):
        yield case("transpose", name, want, f"order {order}.", "Transpose", order)
    yield case("transpose", "i64",
               X.astype(np.int64).transpose(1, 0, 2), "i64 elements, order in i32.", "Transpose",
               np.array([1, 0, 2], np.int32), x=X.astype(np.int64))
    for name, dynamic in (("static", False), ("dynamic", True)):
        yield case("shape_of", f"v3_{name}", np.array(
            [2, 3, 4], np.int32), f"ShapeOf-3 of a {name} input, in i32.", "ShapeOf", v=3,
                   output_type="i32", dynamic=dynamic)
    yield case("shape_of", "v1", np.array([2, 3, 4]), "ShapeOf-1: always i64.", "ShapeOf",
               dtype="i64")
    yield case("shape_of", "v3_scalar", np.zeros(
        0, np.int64), "The shape of a scalar has no elements.", "ShapeOf", v=3, x=np.float32(1),
               output_type="i64")


def broadcast_cases():
    y = X[0, :, :1]
    yield case("broadcast", "v3_numpy", np.broadcast_to(y, (2, 3, 4)), "numpy.", "Broadcast",
               [2, 3, 4], x=y, v=3, mode="numpy")
    yield case("broadcast", "v3_bidirectional", np.broadcast_to(
        y, (5, 3, 4)), "bidirectional: the target has ones.", "Broadcast", [5, 1, 4], x=y, v=3,
               mode="bidirectional")
    yield case("broadcast", "v3_bidirectional_longer_input", X * np.ones(
        (3, 1), np.float32), "bidirectional: the input has more axes than the target.", "Broadcast",
               [3, 1], v=3, mode="bidirectional")
    yield case("broadcast", "v3_scalar_to_empty", np.zeros((2, 0), np.float32),
               "To a shape with a 0.", "Broadcast", [2, 0], x=np.float32(3), v=3, mode="numpy")
    yield case("broadcast", "v3_explicit", np.broadcast_to(
        X[0, :, 0][None, :, None], (2, 3, 4)), "explicit: axes_mapping [1].", "Broadcast",
               [2, 3, 4], [1], x=X[0, :, 0], v=3, mode="explicit")
    yield case("broadcast", "v1_numpy", np.broadcast_to(y, (2, 3, 4)), "Broadcast-1, numpy.",
               "Broadcast", [2, 3, 4], x=y, mode="numpy")


def convert_case(name, x, to, want, about, openvino=""):
    return case("convert", name, want, about, "Convert", x=np.asarray(x), destination_type=to,
                openvino=openvino)


def convert_cases():
    x = np.float32([-3.7, -0.5, 0, 0.5, 2.5, 100.9])
    for to in ("i8", "i16", "i32", "i64", "f64", "boolean"):
        want = x.astype(TYPES[to][1])
        yield convert_case(f"f32_to_{to}", x, to, want, f"f32 to {to}; fractions are cut off.")
    yield convert_case("f32_to_u8", np.float32([0, 0.9, 255.9]), "u8",
                       np.array([0, 0, 255], np.uint8), "f32 to u8.")
    odd = np.float32([300, -3.7, np.nan, 3e9, np.inf, -np.inf])
    low = np.array([300, -3, -2**31, -2**31, -2**31, -2**31], np.int64)
    for to in ("i32", "u8", "i8", "i16"):
        yield convert_case(
            f"f32_to_{to}_out_of_range", odd, to, low.astype(TYPES[to][1]),
            f"f32 to {to} out of range: through i32, NaN and overflow its minimum, then low bytes."
        )
    yield convert_case("f32_to_i64_big", np.float32([1e10, -1e10, 2.0**40]), "i64",
                       np.array([10**10, -10**10, 2**40]), "f32 to i64 beyond 32 bits.",
                       departures.CONVERT_I32)
    yield convert_case("i32_to_i8_low_byte", np.array([300, -129, 5], np.int32), "i8",
                       np.array([44, 127, 5], np.int8), "Integers keep the low bytes.")
    yield convert_case("i64_to_i32", np.array([2**33 + 7, -1, 9]), "i32",
                       np.array([7, -1, 9], np.int32), "i64 to i32 keeps the low bytes.")
    for source in ("u8", "i8", "i64", "boolean", "f16", "f64"):
        values = np.array([0, 1, 100]).astype(TYPES[source][1])
        yield convert_case(f"{source}_to_f32", values, "f32", values.astype(np.float32),
                           f"{source} to f32.")
    yield convert_case("f32_to_f16", np.float32([1e-8, 0.1, 65504, 65520, -1e9]), "f16",
                       np.array([0, 0.1, 65504, np.inf, -np.inf], np.float16),
                       "f32 to f16 rounds to even, then to inf.")
    net = Net("f32_to_bf16_and_back")
    y = uniform(rng("bf16"), (9,), -3, 3)
    narrow = net.op("Convert", net.param("x", "f32", [9]), destination_type="bf16")
    net.result(net.op("Convert", narrow, destination_type="f32"), "y")
    yield Case("convert", net.name, net, {"x": y}, {"y": round_bf16(y)},
               "The rounding to bf16 shows.", EXACT)
    net = Net("f32_to_f16_and_back")
    narrow = net.op("Convert", net.param("x", "f32", [9]), destination_type="f16")
    net.result(net.op("Convert", narrow, destination_type="f32"), "y")
    yield Case("convert", net.name, net, {"x": y}, {"y": y.astype(np.float16).astype(np.float32)},
               "The rounding to f16 shows.", EXACT, departures.CONVERT_PAIR)
    for kind, values in (("i4", [-8, -1, 0, 7, 3]), ("u4", [15, 1, 0, 7,
                                                            8]), ("u1", [1, 0, 0, 1, 1, 1, 0, 1,
                                                                         1])):
        net = Net(f"const_{kind}_to_f32")
        wide = net.op("Convert", net.const(values, kind, [len(values)]), destination_type="f32")
        net.result(net.op("Add", net.param("x", "f32", [1]), wide, auto_broadcast="numpy"), "y")
        yield Case("convert", net.name, net, {"x": np.float32([0.5])},
                   {"y": np.float32(values) + np.float32(0.5)},
                   f"A packed Const of {kind}, {len(values)} elements.", EXACT)


def shape_graph_cases():
    """What converted models are full of: the shape of one tensor builds that of another."""
    net = Net("state_shape_from_batch")
    x = net.param("x", "f32", [-1, 4])
    batch = net.op("Gather", net.op("ShapeOf", x, v=3, output_type="i64"), net.i64([0]), net.i64(0),
                   v=8, batch_dims=0)
    target = net.op("Concat", batch, net.i64([4]), axis=0)
    zeros = net.op("Broadcast", net.const(np.float32(0.25)), target, v=3, mode="numpy")
    state = net.read("s", zeros, shape="?,4")
    y = net.op("Add", state, x, auto_broadcast="numpy")
    net.assign("s", y)
    net.result(y, "y")
    data = np.round(uniform(rng("shape graph"), (4, 3, 4)) * 64) / 64
    yield Case("shape_graph", net.name, net, {"x": data},
               {"y": np.cumsum(data, axis=0) + np.float32(0.25)},
               "The initial state takes its batch from the input's shape.", EXACT)
    net = Net("flatten_by_shape")
    x = net.param("x", "f32", [-1, -1, -1])
    shape = net.op("ShapeOf", x, v=3, output_type="i64")
    first = net.op("Slice", shape, net.i64([0]), net.i64([1]), net.i64([1]), v=8)
    target = net.op("Concat", first, net.i64([-1]), axis=0)
    net.result(net.op("Reshape", x, target, special_zero=False), "y")
    yield Case("shape_graph", net.name, net, {"x": X}, {"y": X.reshape(2, 12)},
               "ShapeOf, Slice, Concat, Reshape.", EXACT)


def view_cases():
    """Ops that, for these shapes, only repeat their input; it and they are read afterwards."""
    x = X[:, :1]
    for name, op, arguments, like, attrs in (
            ("transpose", "Transpose", ([1, 0, 2],), x.transpose(1, 0, 2), {}),
            ("slice", "Slice", ([0], [2], [1], [0]), x, {}),
            ("near_slice_backwards", "Slice", ([-1, -1], [-9, -9], [-1, -1], [0, 2]),
             x[::-1, :, ::-1], {}),
            ("tile", "Tile", ([1, 1],), x, {}),
            ("convert", "Convert", (), x, {"destination_type": "f32"})):
        net = Net(name)
        given = net.param("x", "f32", list(x.shape))
        twice = net.op("Multiply", given, net.const(np.float32(2)), auto_broadcast="numpy")
        seen = net.op(op, twice, *map(net.i64, arguments), v=8 if op == "Slice" else 1, **attrs)
        old = net.read("s", net.const(np.zeros(like.shape, np.float32)))
        net.assign("s", net.op("Add", old, seen, auto_broadcast="numpy"))
        net.result(net.op("ReLU", seen), "relu")
        net.result(seen, "seen")
        net.result(old, "old")
        net.result(net.op("Negative", twice), "negative")
        data = np.stack([x, x + 1, -x])
        doubled = np.stack([(2 * d).reshape(like.shape) for d in data])
        if name.startswith("near"):
            doubled = doubled[:, ::-1, :, ::-1]
        before = np.concatenate([np.zeros_like(doubled[:1]), np.cumsum(doubled, axis=0)[:-1]])
        yield Case("view", name, net, {"x": data},
                   {"relu": np.maximum(doubled, 0), "seen": doubled, "old": before,
                    "negative": -2 * data},
                   f"{op} {'almost ' if name.startswith('near') else ''}repeats its input here, which others "
                   "read too.", EXACT)


def cases():
    for make in (view_cases, reshape_cases, gather_cases, slice_cases, concat_cases, pad_cases, rank_cases,
                 broadcast_cases, convert_cases, shape_graph_cases):
        yield from make()
