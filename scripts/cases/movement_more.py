# Further ops that move or make elements: Split, VariadicSplit, StridedSlice, Tile, Range,
# ConvertLike, and older versions of ops that movement.py has in their newest.
# SPDX-License-Identifier: Apache-2.0
import numpy as np

from . import departures
from .common import EXACT, Case, rng, uniform
from .movement import X, case
from .net import TYPES, Net, type_of
from .reductions import case as listed


def split_cases():
    for name, axis, parts, want in (("two", 2, 2, np.split(
            X, 2, 2)), ("three", 1, 3, np.split(X, 3, 1)), ("negative_axis", -1, 4, np.split(
                X, 4, 2))):
        yield listed("split", name, "Split", X, [axis],
                     {f"y{k}": np.ascontiguousarray(w)
                      for k, w in enumerate(want)}, f"{parts} parts along axis {axis}.", EXACT, 1,
                     {"num_splits": parts}, parts)
    for name, axis, lengths, at in (("lengths", 2, [1, 3], [1]), ("minus_one", 1, [1, -1], [
            1
    ]), ("with_empty", 2, [2, 0, 2], [2, 2]), ("negative_axis", -3, [1, 1], [1])):
        want = np.split(X, at, axis)
        yield listed("variadic_split", name, "VariadicSplit", X, [axis, lengths],
                     {f"y{k}": np.ascontiguousarray(w)
                      for k, w in enumerate(want)}, f"Lengths {lengths} along axis {axis}.", EXACT,
                     1, None, len(lengths))


def strided_cases():
    masks = ("begin_mask", "end_mask", "new_axis_mask", "shrink_axis_mask", "ellipsis_mask")

    def sliced(name, about, lists, want, **given):
        attrs = {
            m: given.get(
                m, [1] *
                len(lists[0]) if m in masks[:2] and m not in given and given.get("masks") else [])
            for m in masks
        }
        return listed("strided_slice", name, "StridedSlice", X, lists, np.ascontiguousarray(want),
                      about, EXACT, 1, attrs)

    yield sliced("plain", "Begin, end, stride.", [[0, 1, 0], [2, 3, 4], [1, 1, 2]],
                 X[0:2, 1:3, 0:4:2], begin_mask=[0, 0, 0], end_mask=[0, 0, 0])
    yield sliced("no_strides", "Without strides.", [[0, 1, 1], [1, 3, 3]], X[0:1, 1:3, 1:3],
                 begin_mask=[0, 0, 0], end_mask=[0, 0, 0])
    yield sliced("masks", "A mask of 1 takes the whole side.", [[1, 1, 1], [1, 2, 2], [1, 1, 1]],
                 X[:, 1:2, :2], begin_mask=[1, 0, 1], end_mask=[1, 0, 0])
    yield sliced("negative_stride", "From the end.", [[0, 0, -1], [2, 3, -5], [1, 1, -1]],
                 X[:, :, ::-1], begin_mask=[0, 0, 0], end_mask=[0, 0, 0])
    yield sliced("shrink", "shrink_axis_mask drops an axis.", [[1, 0, -1], [2, 3, 0], [1, 1, 1]],
                 X[1, :, -1], begin_mask=[0, 0, 0], end_mask=[0, 0, 0], shrink_axis_mask=[1, 0, 1])
    yield sliced("new_axis", "new_axis_mask adds one.", [[0, 0, 0], [2, 9, 9], [1, 1, 1]],
                 X[0:2, None, :, :][:, :, :9], begin_mask=[0, 0, 0], end_mask=[0, 0, 0],
                 new_axis_mask=[0, 1, 0])
    yield sliced("ellipsis", "ellipsis_mask stands for all that is left.", [[0, 1], [0, 3], [1, 1]],
                 X[..., 1:3], begin_mask=[0, 0], end_mask=[0, 0], ellipsis_mask=[1, 0])
    yield sliced("fewer_than_rank", "Fewer than the rank: the rest is whole.", [[1], [2], [1]],
                 X[1:2], begin_mask=[0], end_mask=[0])


def tile_cases():
    for name, repeats in (("each_axis", [2, 1,
                                         3]), ("fewer", [2]), ("more", [2, 1, 1,
                                                                        2]), ("zero", [1, 0, 1])):
        yield case("tile", name, np.tile(X, repeats), f"repeats {repeats}.", "Tile", repeats)
    yield case("tile", "i64", np.tile(X.astype(np.int64), [1, 2, 1]), "i64 elements.", "Tile",
               [1, 2, 1], x=X.astype(np.int64))


def range_cases():
    def made(name, v, values, types, output, want, about, openvino=""):
        net = Net(name)
        ports = [net.param(n, t, []) for n, t in zip(("start", "stop", "step"), types)]
        net.result(
            net.op("Range", *ports, v=v, dtype=output,
                   data={"output_type": output} if v >= 4 else None), "y")
        feed = {
            n: np.array(value, TYPES[t][1])
            for n, t, value in zip(("start", "stop", "step"), types, values)
        }
        return Case("range", name, net, feed, {"y": want}, about, EXACT, openvino)

    i32, i64, f32 = ["i32"] * 3, ["i64"] * 3, ["f32"] * 3
    yield made("v1_i32", 1, (2, 11, 3), i32, "i32", np.arange(2, 11, 3, dtype=np.int32),
               "Range-1 in i32.")
    yield made("v1_f32", 1, (0, 2, 0.5), f32, "f32", np.arange(0, 2, 0.5, dtype=np.float32),
               "Range-1 in f32.")
    yield made("v1_empty", 1, (5, 2, 1), i64, "i64", np.zeros(0, np.int64), "Nothing lies between.",
               departures.RANGE_AWAY)
    yield made("v4_negative_step", 4, (5, -4, -2), i64, "i64", np.arange(5, -4, -2), "Downwards.")
    yield made("v4_to_f32", 4, (1, 6, 2), i32, "f32", np.float32([1, 3, 5]),
               "Integers in, f32 out.")
    yield made("v4_mixed", 4, (0, 5, 1), ["i32", "i64", "i32"], "i32", np.arange(5, dtype=np.int32),
               "i32 and i64 mixed.")
    yield made("v4_f32", 4, (0.25, 2, 0.5), f32, "f32", np.float32([0.25, 0.75, 1.25, 1.75]),
               "f32.")


def older_cases():
    like = np.zeros((1,), np.int32)
    for name, kind, want in (("to_i32", np.int32, np.int32(
        [1, -2, 3])), ("to_f16", np.float16, np.float16(
            [1.5, -2.5, 3])), ("to_boolean", np.bool_, np.array([True, True, True]))):
        net = Net(name)
        x = np.float32([1.5, -2.5, 3])
        other = net.param("like", type_of(like.astype(kind)), [1])
        net.result(net.op("ConvertLike", net.param("x", "f32", [3]), other, dtype=other.dtype), "y")
        yield Case("convert_like", name, net, {"x": x, "like": like.astype(kind)}, {"y": want},
                   "The type of the other input.", EXACT)
    y = X[0]
    yield case("broadcast", "v1_explicit", np.broadcast_to(X[0, :, 0][:, None], (3, 5)),
               "Broadcast-1, explicit.", "Broadcast", [3, 5], [0], x=X[0, :,
                                                                       0].copy(), mode="explicit")
    yield case("broadcast", "v1_default_mode", np.broadcast_to(y, (2, 3, 4)),
               "Broadcast-1 without mode: numpy.", "Broadcast", [2, 3, 4], x=y)
    for mode in ("reflect", "symmetric"):
        yield case("pad", f"v1_{mode}", np.pad(y, ((1, 1), (2, 0)), mode=mode), f"Pad-1, {mode}.",
                   "Pad", [1, 2], [1, 0], x=y, v=1, pad_mode=mode)
    yield case("gather", "v1_2d_indices", X[:, [[0, 2], [1, 1]]], "Gather-1, indices of rank 2.",
               "Gather", [[0, 2], [1, 1]], 1)
    yield case("gather", "v1_scalar_index", X[1], "Gather-1, a 0-D index.", "Gather", 1, 0)
    yield case("gather", "v7_batch_dims", np.stack([X[0, [2, 1]], X[1, [0, 0]]]),
               "Gather-7, batch_dims 1.", "Gather", [[2, 1], [0, 0]], 1, v=7, batch_dims=1)
    yield case("gather", "v7_i32_everything", X[:, [1]], "Gather-7, indices and axis in i32.",
               "Gather", np.array([1], np.int32), np.array(1, np.int32), v=7, batch_dims=0)
    for name, x in (("v1_rank_1", np.float32([1, 2])), ("v1_scalar", np.float32(1))):
        yield case("shape_of", name, np.array(x.shape, np.int64), "ShapeOf-1.", "ShapeOf", x=x,
                   dtype="i64")
    z = X[:1, :, :1]
    yield case("squeeze", "v15_all", z.reshape(3), "Squeeze-15 without axes.", "Squeeze", x=z, v=15)
    yield case("squeeze", "v15_skips", z[0],
               "Squeeze-15: allow_axis_skip leaves an axis that is not 1.", "Squeeze", [0, 1], x=z,
               v=15, allow_axis_skip=True)
    yield case("concat", "one", X, "A Concat of one.", "Concat", axis=1)


def computed_concat(name, shape, axis, about):
    """A Concat of computed values, one of them twice and one of them read again, in another Concat."""
    net, x = Net(name), uniform(rng("computed_concat", name), shape)
    port = net.param("x", "f32", list(shape))
    relu, minus, wide = net.op("ReLU", port), net.op("Negative", port), np.float64(x)
    inner = net.op("Concat", relu, minus, port, relu, axis=axis)
    first = np.concatenate([np.maximum(wide, 0), -wide, wide, np.maximum(wide, 0)], axis)
    outer = net.op("Concat", net.op("Abs", port), inner, net.op("Abs", minus), axis=axis)
    second = np.concatenate([np.abs(wide), first, np.abs(wide)], axis)
    net.result(net.op("Abs", outer), "joined")
    net.result(net.op("Negative", inner), "inner")
    net.result(net.op("Floor", relu), "again")
    want = {"joined": np.abs(second), "inner": -first, "again": np.floor(np.maximum(wide, 0))}
    return Case("concat", name, net, {"x": x}, {k: v.astype(np.float32) for k, v in want.items()}, about, EXACT)


def computed_concat_cases():
    yield computed_concat("computed", (2, 3, 5), 0, "Computed values, which are computed in place.")
    yield computed_concat("computed_channels", (1, 3, 5), -2, "Computed values of one image.")
    yield computed_concat("computed_rows", (2, 3, 5), 1, "Computed values whose pieces lie apart.")
    yield computed_concat("computed_large", (1, 5, 999), 1, "Computed values of 20 KB.")


def cases():
    for make in (split_cases, strided_cases, tile_cases, range_cases, older_cases, computed_concat_cases):
        yield from make()
