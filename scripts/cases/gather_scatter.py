# GatherElements, GatherND, ScatterUpdate, ScatterElementsUpdate and ScatterNDUpdate.
# SPDX-License-Identifier: Apache-2.0
import numpy as np

from . import departures
from .common import rng, uniform
from .one_op import error, ints, one_op

FLOAT = "--atol 1e-6 --rtol 1e-6"
X = np.arange(1, 25, dtype=np.float32).reshape(2, 3, 4)
FUNCTIONS = {
    "none": lambda a, b: b, "sum": np.add, "sub": np.subtract, "prod": np.multiply, "min":
    np.minimum, "max": np.maximum, "mean": np.add
}

# ---- gather ------------------------------------------------------------------------------------


def gather_elements(name, x, indices, axis, about, **more):
    want = np.take_along_axis(x, np.where(indices < 0, indices + x.shape[axis], indices), axis)
    return one_op("gather_elements", name, "GatherElements", [x, indices], want, about, 6,
                  attrs={"axis": axis}, **more)


def gather_nd_of(x, indices, batch_dims):
    flat = x.reshape((-1, ) + x.shape[batch_dims:])
    tuples = indices.reshape((-1, ) + indices.shape[batch_dims:])
    rows = [row[tuple(np.moveaxis(t, -1, 0))] for row, t in zip(flat, tuples)]
    return np.stack(rows).reshape(indices.shape[:batch_dims] + rows[0].shape)


def gather_nd(name, x, indices, about, batch_dims=0, v=8, **more):
    want = gather_nd_of(x, indices, batch_dims)
    if v == 5 and batch_dims > 1:
        want = want.reshape((-1, ) + want.shape[batch_dims:])
    return one_op("gather_nd", name, "GatherND", [x, indices], want, about, v,
                  attrs={"batch_dims": batch_dims}, **more)


def gather_cases():
    g = rng("gather_elements")
    for axis in (0, 1, 2):
        shape = list(X.shape)
        shape[axis] = 5
        indices = g.integers(0, X.shape[axis], shape).astype(np.int32)
        yield gather_elements(f"axis_{axis}", X, indices, axis, f"Five indices along axis {axis}.")
    yield gather_elements("negative", X, np.array([[[-1, 0, -4]] * 3] * 2), -1,
                          "Negative axis and indices, in i64.")
    yield gather_elements("boolean", X > 7, np.array([[[2, 0, 1, 1]]] * 2, np.int32), 1,
                          "Booleans.")
    yield gather_elements("f64",
                          np.float64(X) / 3, np.zeros((2, 1, 4), np.int32), 1, "f64.",
                          openvino=departures.MOVES_F64)
    yield gather_elements("f16", X.astype(np.float16), np.ones((2, 1, 4), np.int32), 1, "f16.")
    yield gather_elements("empty", X, np.zeros((2, 0, 4), np.int32), 1, "No indices at all.")
    yield gather_elements("dynamic", X, np.ones((2, 2, 4), np.int32), 1, "No dimension is known.",
                          dynamic=True)
    yield error("gather_elements", "out_of_range", "GatherElements",
                [X, np.array([[[0, 1, 2, 4]] * 3] * 2)],
                ["GatherElements", "indices[0,0,3] is 4", "-4 ... 3", "axis 2"],
                "An index beyond the axis.", 6, attrs={"axis": 2})
    yield error("gather_elements", "shape", "GatherElements", [X, np.zeros(
        (2, 4, 4), np.int32)], ["GatherElements", "indices", "[2,4,4]", "[2,3,4]"],
                "Indices larger than the data beside the axis.", 6, attrs={"axis": 2})
    yield gather_nd("elements", X, np.array([[0, 1, 2], [1, 2, 3]]), "Whole coordinates.")
    yield gather_nd("slices", X, np.array([[[1, 0]], [[0, 2]]], np.int32),
                    "Two of three coordinates.")
    yield gather_nd("rows", X, np.array([[1], [0], [1]]), "One coordinate: slices of rank 2.")
    yield gather_nd("negative", X, np.array([[-1, -3]], np.int32), "Negative coordinates.")
    yield gather_nd("batch_1", X, np.array([[[2, 1], [0, 3]], [[1, 1], [2, 2]]], np.int32),
                    "batch_dims 1.", 1)
    yield gather_nd("batch_2", X, np.array([[[1], [0], [3]], [[2], [2], [1]]], np.int32),
                    "batch_dims 2.", 2)
    for batch_dims in (0, 1, 2):
        yield gather_nd(f"v5_batch_{batch_dims}", X,
                        np.array([[[1], [0], [1]], [[0], [1], [1]]], np.int32),
                        f"GatherND-5, batch_dims {batch_dims}: batch dimensions become one.",
                        batch_dims, 5)
    yield gather_nd("dynamic", X, np.array([[1, 0]], np.int32),
                    "No dimension of the data is known.", dynamic=(0, ))
    yield error("gather_nd", "out_of_range", "GatherND", [X, np.array([[0, 0], [1, 3]])],
                ["GatherND", "indices[1,1] is 3", "axis 1"], "A coordinate beyond its axis.", 8,
                attrs={"batch_dims": 0})
    yield error("gather_nd", "tuple_too_long", "GatherND", [X, np.array([[0, 0, 0, 0]])],
                ["GatherND", "at most 3", "[1,4]"],
                "More coordinates than the data have dimensions.", 8, attrs={"batch_dims": 0})


# ---- scatter -----------------------------------------------------------------------------------


def scatter_update(name, x, indices, axis, about, **more):
    indices = np.asarray(indices)
    shape = x.shape[:axis] + indices.shape + x.shape[axis + 1:]
    updates = (-np.arange(np.prod(shape)).reshape(shape) % 7).astype(x.dtype)
    want = x.copy()
    np.moveaxis(want, axis, 0)[indices.ravel()] = np.moveaxis(
        updates.reshape(x.shape[:axis] + (-1, ) + x.shape[axis + 1:]), axis, 0)
    return one_op("scatter_update", name, "ScatterUpdate",
                  [x, indices, updates, ints(axis)], want, about, 3, **more)


def scatter_elements_of(x, indices, updates, axis, reduction, use_init_val):
    want, counts = x.copy(), np.full(x.shape, int(use_init_val))
    function = FUNCTIONS[reduction]
    for at in np.ndindex(indices.shape):
        to = list(at)
        to[axis] = indices[at]
        to = tuple(to)
        want[to] = updates[at] if not counts[to] else function(want[to], updates[at])
        counts[to] += 1
    if reduction == "mean":
        divided = want // np.maximum(counts, 1) if x.dtype.kind in "iu" else want / np.maximum(
            counts, 1)
        want = np.where(counts > 1, divided, want).astype(x.dtype)
    return want


def scatter_elements(name, x, indices, updates, axis, about, reduction=None, use_init_val=True,
                     **more):
    attrs = {} if reduction is None else {"reduction": reduction, "use_init_val": use_init_val}
    want = scatter_elements_of(x, indices, updates, axis, reduction or "none", use_init_val)
    return one_op("scatter_elements_update", name, "ScatterElementsUpdate",
                  [x, indices, updates, ints(axis)], want, about, 3 if reduction is None else 12,
                  attrs=attrs, **more)


def scatter_nd(name, x, indices, about, reduction=None, **more):
    indices = np.asarray(indices)
    shape = indices.shape[:-1] + x.shape[indices.shape[-1]:]
    updates = (np.arange(1, np.prod(shape, dtype=int) + 1).reshape(shape) * 2).astype(x.dtype)
    want = x.copy()
    for at in np.ndindex(indices.shape[:-1]):
        to = tuple(indices[at])
        want[to] = FUNCTIONS[reduction or "none"](want[to], updates[at])
    return one_op("scatter_nd_update", name, "ScatterNDUpdate", [x, indices, updates], want, about,
                  4 if reduction is None else 15,
                  attrs={} if reduction is None else {"reduction": reduction}, **more)


def scatter_cases():
    for axis in (0, 1, 2):
        yield scatter_update(f"axis_{axis}", X, [1, 0], axis, f"Two slices along axis {axis}.")
    yield scatter_update("indices_2d", X, [[2, 0], [3, 1]], 2, "Indices of rank 2.")
    yield scatter_update("scalar_index", X, 1, 1, "A 0-D index.", openvino=departures.SCALAR_INDEX)
    yield scatter_update("boolean", X > 5, np.array([2], np.int32), 1, "Booleans, indices in i32.")
    yield scatter_update("f16", X.astype(np.float16), [0], 0, "f16.")
    yield scatter_update("dynamic", X, [2, 1], 1, "No dimension is known.", dynamic=True)
    yield error("scatter_update", "negative", "ScatterUpdate",
                [X, np.array([1, -1]), X[:, :2], ints(1)],
                ["ScatterUpdate", "indices[1] is -1", "0 ... 2", "axis 1"],
                "The specification refuses negative indices.", 3)
    yield error("scatter_update", "shape", "ScatterUpdate",
                [X, np.array([1, 0]), X, ints(1)],
                ["ScatterUpdate", "updates", "[2,2,4]", "[2,3,4]"], "Updates of another shape.", 3)
    g = rng("scatter_elements")
    indices = g.integers(-3, 3, (2, 6, 3)).astype(np.int32)
    updates = uniform(g, (2, 6, 3), -2, 2)
    once = np.array([[[2, 0, 1]], [[-1, 1, 0]]], np.int32)
    yield scatter_elements("v3", X, once, updates[:, :1], 1,
                           "ScatterElementsUpdate-3, fewer indices than data.")
    yield scatter_elements("v3_boolean", X > 9, once, updates[:, :1] > 0, 1, "Booleans.")
    yield scatter_elements("v3_axis_0", X, np.ones((1, 3, 4), np.int32),
                           updates[:1, :3, :].repeat(2, 2)[:, :, :4], 0, "Axis 0.")
    yield scatter_elements("none", X, once, updates[:, :1], -2, "reduction none.", "none")
    for reduction in ("sum", "prod", "min", "max", "mean"):
        for init in (True, False):
            yield scatter_elements(
                f"{reduction}{'' if init else '_alone'}", X, indices, updates, 1,
                f"reduction {reduction}, {'with' if init else 'without'} the data, indices met twice.",
                reduction, init, args=FLOAT)
    whole = np.arange(-6, 6, dtype=np.int32).reshape(3, 4)
    columns = np.array([[0, 0, 2], [1, 1, 1], [3, 3, 0]])
    adds = np.array([[5, 6, -9], [1, 2, 4], [-7, 2, 8]], np.int32)
    yield scatter_elements("mean_i32", whole, columns, adds, 1,
                           "The mean of integers is rounded down.", "mean",
                           openvino=departures.MEAN_TRUNCATES)
    yield scatter_elements("mean_i32_alone", whole, columns, adds, 1, "… without the data.", "mean",
                           False, openvino=departures.MEAN_TRUNCATES)
    yield scatter_elements("sum_u8", (whole + 6).astype(np.uint8), columns,
                           np.full((3, 3), 3, np.uint8), 1, "Bytes.", "sum")
    for reduction, function in (("sum", np.logical_or), ("prod", np.logical_and)):
        data, flags = np.array([True, False, True, False]), np.array([False, True, False])
        want = data.copy()
        for k, at in enumerate((0, 1, 2)):
            want[at] = function(want[at], flags[k])
        yield one_op("scatter_elements_update", f"{reduction}_boolean", "ScatterElementsUpdate",
                     [data, np.array([0, 1, 2]), flags, ints(0)], want,
                     f"{reduction} of booleans is logic.", 12,
                     attrs={"reduction": reduction, "use_init_val": True})
    yield scatter_elements("dynamic", X, once, updates[:, :1], 1, "No dimension is known.", "sum",
                           dynamic=True)
    yield error("scatter_elements_update", "out_of_range", "ScatterElementsUpdate",
                [X, np.full(
                    (1, 1, 2), 3), X[:1, :1, :2], ints(1)],
                ["ScatterElementsUpdate", "indices[0,0,0] is 3", "axis 1"],
                "An index beyond the axis.", 12, attrs={"reduction": "none", "use_init_val": True})
    yield scatter_nd("v3_elements", X, [[0, 1, 2], [1, 0, 3]],
                     "ScatterNDUpdate-3, single elements.")
    yield scatter_nd("v3_rows", X, np.array([[[0, 1]], [[1, 2]]], np.int32),
                     "ScatterNDUpdate-3, rows, indices of rank 3.")
    yield scatter_nd("v3_boolean", X > 4, [[0]], "Booleans.")
    yield scatter_nd("none", X, [[1]], "reduction none, slices of rank 2.", "none")
    yield scatter_nd("negative", X, [[-1, -2, -3]], "Negative coordinates.", "none")
    for reduction in ("sum", "sub", "prod", "min", "max"):
        yield scatter_nd(f"{reduction}", X, [[0, 1], [1, 1], [0, 1]],
                         f"reduction {reduction}, a slice met twice.", reduction)
        yield scatter_nd(f"{reduction}_i32", X.astype(np.int32), [[0, 1, 1], [0, 1, 1]],
                         f"reduction {reduction} of integers.", reduction)
    yield scatter_nd("dynamic", X, [[0, 1]], "No dimension is known.", "sum", dynamic=True)
    yield error("scatter_nd_update", "out_of_range", "ScatterNDUpdate",
                [X, np.array([[0, 0], [0, -4]]), X[0, :2]],
                ["ScatterNDUpdate", "indices[1,1] is -4", "axis 1"],
                "A coordinate before its axis.", 4)


def cases():
    yield from gather_cases()
    yield from scatter_cases()
