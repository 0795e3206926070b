# Ops that put elements elsewhere: Roll, Reverse, blocks and channels, OneHot, Eye.
# SPDX-License-Identifier: Apache-2.0
import numpy as np

from . import departures
from .common import rng, uniform
from .one_op import Const, error, ints, one_op

X = np.arange(1, 25, dtype=np.float32).reshape(2, 3, 4)

# ---- Roll, Reverse ------------------------------------------------------------------------------


def roll(name, shift, axes, about, x=X, **more):
    shifts = np.broadcast_to(shift, np.shape(axes)).ravel()
    want = np.roll(x, [int(s) for s in shifts], [int(a) for a in np.ravel(axes)])
    return one_op("roll", name, "Roll", [x, ints(shift), ints(axes)], want, about, 7, **more)


def reverse(name, axes, about, x=X, mode="index", **more):
    given = ints(axes)
    if mode == "mask":
        given = Const([k in axes for k in range(x.ndim)], bool)
    return one_op("reverse", name, "Reverse", [x, given], np.flip(x, axes), about, 1,
                  attrs={"mode": mode}, **more)


def turn_cases():
    yield roll("one_axis", [1], [1], "By one along the middle axis.")
    yield roll("two_axes", [-1, 3], [0, 2], "Two axes, one backwards.")
    yield roll("axis_twice", [1, 5, 1], [2, 1, -1], "Shifts of an axis named twice are added.")
    yield roll("shift_of_all", [2], [0, 1, 2], "One shift for all axes.",
               openvino=departures.ROLL_SHARED)
    yield roll("far", [1000003], [2], "Round and round.")
    yield roll("nothing", [4], [2], "By the whole axis: nothing moves.")
    yield roll("boolean", [1], [1], "Booleans.", x=X > 9)
    yield roll("f16", [1], [-1], "f16.", x=X.astype(np.float16))
    yield roll("dynamic", [1], [1], "No dimension is known.", dynamic=True)
    yield error("roll", "lists_differ", "Roll", [X, ints([1, 2]), ints([0, 1, 2])],
                ["Roll", "shift", "axes"], "Two shifts for three axes.", 7)
    yield reverse("last", [2], "The last axis.")
    yield reverse("two", [0, -1], "Two axes, one counted from the end.")
    yield reverse("none", [], "No axis: nothing moves.")
    yield reverse("mask", [0, 1], "A mask.", mode="mask")
    yield reverse("i64", [1], "i64.", x=X.astype(np.int64))
    yield reverse("dynamic", [1], "No dimension is known.", dynamic=True)


# ---- blocks ------------------------------------------------------------------------------------


def depth_to_space_of(x, block, mode):
    n, c, *d = x.shape
    k = len(d)
    blocks = [block] * k
    if mode == "blocks_first":
        y = x.reshape([n, *blocks, c // block**k, *d])
        order = [0, k + 1] + [i for j in range(k) for i in (k + 2 + j, 1 + j)]
    else:
        y = x.reshape([n, c // block**k, *blocks, *d])
        order = [0, 1] + [i for j in range(k) for i in (k + 2 + j, 2 + j)]
    return y.transpose(order).reshape([n, c // block**k, *[v * block for v in d]])


def space_to_depth_of(x, block, mode):
    n, c, *d = x.shape
    k = len(d)
    y = x.reshape([n, c] + [v for s in d for v in (s // block, block)])
    spatial, inner = [2 + 2 * i for i in range(k)], [3 + 2 * i for i in range(k)]
    order = [0] + (inner + [1] if mode == "blocks_first" else [1] + inner) + spatial
    return y.transpose(order).reshape([n, c * block**k, *[s // block for s in d]])


def space_to_batch_of(x, block, begin, end):
    x = np.pad(x, list(zip(begin, end)))
    n, *d = x.shape
    y = x.reshape([n] + [v for s, b in zip(d, block[1:]) for v in (s // b, b)])
    k = len(d)
    order = [2 + 2 * i for i in range(k)] + [0] + [1 + 2 * i for i in range(k)]
    return y.transpose(order).reshape(
        [n * int(np.prod(block)), *[s // b for s, b in zip(d, block[1:])]])


def batch_to_space_of(x, block, begin, end):
    n, *d = x.shape
    k = len(d)
    y = x.reshape([*block[1:], n // int(np.prod(block)), *d])
    order = [k] + [i for j in range(k) for i in (k + 1 + j, j)]
    y = y.transpose(order).reshape(
        [n // int(np.prod(block)), *[s * b for s, b in zip(d, block[1:])]])
    return y[tuple(slice(b, size - e) for b, e, size in zip(begin, end, y.shape))]


def block_cases():
    for mode in ("blocks_first", "depth_first"):
        for rank, shape in ((3, (2, 6, 4)), (4, (1, 8, 2, 3)), (5, (1, 16, 2, 1, 3))):
            x = np.arange(np.prod(shape), dtype=np.float32).reshape(shape)
            yield one_op("depth_to_space", f"{mode}_rank_{rank}", "DepthToSpace", [x],
                         depth_to_space_of(x, 2, mode), f"{mode}, rank {rank}.",
                         attrs={"block_size": 2, "mode": mode})
        for rank, shape in ((3, (2, 3, 4)), (4, (1, 2, 4, 6)), (5, (1, 2, 2, 4, 2))):
            x = np.arange(np.prod(shape), dtype=np.float32).reshape(shape)
            yield one_op("space_to_depth", f"{mode}_rank_{rank}", "SpaceToDepth", [x],
                         space_to_depth_of(x, 2, mode), f"{mode}, rank {rank}.",
                         attrs={"block_size": 2, "mode": mode})
    x = np.arange(2 * 9 * 2 * 2, dtype=np.int32).reshape(2, 9, 2, 2)
    yield one_op("depth_to_space", "block_3_i32", "DepthToSpace", [x],
                 depth_to_space_of(x, 3, "depth_first"), "Blocks of 3, integers.",
                 attrs={"block_size": 3, "mode": "depth_first"})
    yield one_op("depth_to_space", "dynamic", "DepthToSpace", [x],
                 depth_to_space_of(x, 3, "blocks_first"), "No dimension is known.",
                 attrs={"block_size": 3, "mode": "blocks_first"}, dynamic=True)
    yield error("depth_to_space", "channels", "DepthToSpace", [x],
                ["DepthToSpace", "channels", "4", "[2,9,2,2]"],
                "9 channels cannot be blocks of 2 x 2.",
                attrs={"block_size": 2, "mode": "depth_first"})
    yield error("space_to_depth", "spatial", "SpaceToDepth", [x],
                ["SpaceToDepth", "dimension 2", "3", "[2,9,2,2]"], "2 rows cannot be blocks of 3.",
                attrs={"block_size": 3, "mode": "depth_first"})
    forms = {
        "plain": ((2, 4, 6), (1, 2, 3), (0, 0, 0), (0, 0, 0)),
        "padded": ((1, 3, 5, 2), (1, 2, 4, 1), (0, 1, 2, 0), (0, 0, 1, 0)),
        "rank_2": ((3, 4), (1, 2), (0, 1), (0, 1)),
        "pads_above_block": ((1, 2, 3), (1, 2, 3), (0, 3, 4), (0, 5, 2)),
        "rank_5": ((1, 2, 4, 2, 3), (1, 2, 2, 1, 3), (0, 0, 0, 0, 0), (0, 0, 2, 1, 3)),
    }
    for name, (shape, block, begin, end) in forms.items():
        x = np.arange(1, np.prod(shape) + 1, dtype=np.float32).reshape(shape)
        y = space_to_batch_of(x, block, begin, end)
        lists = [ints(block), ints(begin), ints(end)]
        yield one_op("space_to_batch", name, "SpaceToBatch", [x, *lists], y,
                     f"Blocks {block}, pads {begin} and {end}.", 2)
        yield one_op("batch_to_space", name, "BatchToSpace", [y, *lists],
                     batch_to_space_of(y, block, begin, end),
                     f"Blocks {block}, crops {begin} and {end}.", 2)
    shape, block, begin, end = forms["padded"]
    x = np.arange(1, np.prod(shape) + 1, dtype=np.float32).reshape(shape)
    y = space_to_batch_of(x, block, begin, end)
    lists = [ints(block), ints(begin), ints(end)]
    yield one_op("space_to_batch", "dynamic", "SpaceToBatch", [x, *lists], y,
                 "No dimension is known.", 2, dynamic=True)
    yield one_op("batch_to_space", "dynamic", "BatchToSpace", [y, *lists], x,
                 "No dimension is known.", 2, dynamic=True)
    yield error("space_to_batch", "indivisible", "SpaceToBatch",
                [x, ints([1, 2, 4, 1]),
                 ints([0, 0, 0, 0]), ints([0, 0, 0, 0])],
                ["SpaceToBatch", "dimension 1", "blocks of 2", "[1,3,5,2]"],
                "3 rows cannot be blocks of 2.", 2)
    yield error("batch_to_space", "batch", "BatchToSpace",
                [x, ints([1, 2, 1, 1]),
                 ints([0, 0, 0, 0]), ints([0, 0, 0, 0])],
                ["BatchToSpace", "batch", "2", "[1,3,5,2]"], "A batch of 1 cannot be blocks of 2.",
                2)


def shuffle(name, x, axis, group, about, **more):
    at = axis % x.ndim
    shape = x.shape[:at] + (group, x.shape[at] // group) + x.shape[at + 1:]
    want = np.swapaxes(x.reshape(shape), at, at + 1).reshape(x.shape)
    return one_op("shuffle_channels", name, "ShuffleChannels", [x], want, about,
                  attrs={"axis": axis, "group": group}, **more)


def shuffle_cases():
    x = np.arange(2 * 6 * 4, dtype=np.float32).reshape(2, 6, 2, 2)
    yield shuffle("two_groups", x, 1, 2, "Two groups.")
    yield shuffle("three_groups", x, 1, 3, "Three groups.")
    yield shuffle("last_axis", x.reshape(2, 4, 6), -1, 2, "The last axis.")
    yield shuffle("i32", x.astype(np.int32).reshape(1, 12, 2, 2), 1, 4, "Integers.")
    yield shuffle("dynamic", x, 1, 2, "No dimension is known.", dynamic=True)
    yield error("shuffle_channels", "indivisible", "ShuffleChannels", [x],
                ["ShuffleChannels", "dimension 1", "4 groups"], "6 channels in 4 groups.",
                attrs={"axis": 1, "group": 4})


# ---- OneHot, Eye --------------------------------------------------------------------------------


def one_hot(name, indices, depth, axis, about, on=np.float32(5), off=np.float32(-1), mode=None,
            **more):
    given = np.where(indices < 0, indices + depth, indices) if mode == "normalize" else indices
    hot = np.expand_dims(
        given, axis) == np.arange(depth).reshape([-1] + [1] *
                                                 (-axis - 1 if axis < 0 else given.ndim - axis))
    attrs = {"axis": axis, **({"negative_indices_mode": mode} if mode else {})}
    return one_op("one_hot", name, "OneHot",
                  [indices, ints(depth), Const(on), Const(off)],
                  np.where(hot, on,
                           off).astype(on.dtype), about, 16 if mode else 1, attrs=attrs, **more)


def make_cases():
    i = np.array([[0, 2, 1], [3, 0, 5]])
    yield one_hot("last", i, 4, -1, "A new last axis; 5 is beyond the depth.")
    yield one_hot("first", i, 4, 0, "A new first axis.")
    yield one_hot("middle", i.astype(np.int32), 3, 1, "A new middle axis, indices in i32.")
    yield one_hot("scalar", np.int64(2), 4, 0, "A 0-D index.")
    yield one_hot("negative", np.array([-1, 0, -4, 2]), 4, -1, "Negative indices leave off_value.")
    yield one_hot("boolean", i, 4, -1, "Boolean values.", np.bool_(True), np.bool_(False))
    yield one_hot("i64", i, 4, -1, "i64 values.", np.int64(9), np.int64(0))
    yield one_hot("v16_ignore", np.array([-1, 0, -4, 2, 7]), 4, -1, "OneHot-16, ignore_negative.",
                  mode="ignore_negative")
    yield one_hot("v16_normalize", np.array([-1, 0, -4, 2, -5, 4]), 4, 0,
                  "OneHot-16, normalize: -1 is the last.", mode="normalize")
    yield one_hot("v16_i64", i, 6, 1, "OneHot-16 with i64 values.", np.int64(3), np.int64(-3),
                  mode="normalize")
    yield one_hot("dynamic", i, 4, -1, "No dimension is known.", dynamic=True)
    hot = np.float32([[0, 1, 0]])
    yield one_op(
        "one_hot", "depth_input", "OneHot",
        [np.array([1]), np.int64(3),
         Const(np.float32(1)),
         Const(np.float32(0))], hot, "The depth is an input: the shape depends on it.",
        attrs={"axis": -1})
    for name, rows, columns, diagonal in (("square", 3, 3, 0), ("wide_above", 3, 5, 2),
                                          ("tall_below", 5, 3, -1), ("outside", 2, 3,
                                                                     4), ("last_row", 3, 4, -2)):
        yield one_op("eye", name, "Eye",
                     [ints(rows), ints(columns), np.int64(diagonal)],
                     np.eye(rows, columns, diagonal, dtype=np.float32),
                     f"{rows} x {columns}, diagonal {diagonal}.", 9, attrs={"output_type": "f32"})
    yield one_op("eye", "batch_i32", "Eye",
                 [ints(2), ints(3), np.int32(1), ints([2, 1])],
                 np.broadcast_to(np.eye(2, 3, 1, dtype=np.int32), (2, 1, 2, 3)),
                 "A batch [2,1] in i32.", 9, attrs={"output_type": "i32"})
    yield one_op("eye", "f16", "Eye", [ints(3), ints(3), np.int64([-1])],
                 np.eye(3, 3, -1, dtype=np.float16), "f16, the diagonal as [1].", 9,
                 attrs={"output_type": "f16"})
    yield one_op("eye", "sizes_as_inputs", "Eye",
                 [np.int64(2), np.int64(3), np.int64(0)], np.eye(2, 3, dtype=np.float32),
                 "The sizes are inputs.", 9, attrs={"output_type": "f32"})


def cases():
    for make in (turn_cases, block_cases, shuffle_cases, make_cases):
        yield from make()
