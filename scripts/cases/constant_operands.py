# Operands that are constant and worked out once: the indices of gathers, scatters and bags make
# plain loops, runs of neighbours, or a list; tables and windows are converted.
# SPDX-License-Identifier: Apache-2.0
import numpy as np

from .bags import TABLE, bag
from .common import rng, uniform
from .fourier import pack, stft
from .gather_scatter import FUNCTIONS, gather_nd_of
from .one_op import Const, error, ints, one_op

FAMILY = "constant_operands"
X = np.arange(1, 73, dtype=np.float32).reshape(2, 12, 3)
FLOAT = "--atol 1e-6 --rtol 1e-5"

# name, indices along an axis of 12, what they are
LISTS = (
    ("one", [7], "A single index"),
    ("line", [3, 4, 5, 6], "Neighbours"),
    ("every_second", [1, 3, 5, 7, 9, 11], "Every second one"),
    ("backward", [11, 10, 9, 8], "Backward"),
    ("negative", [-1, -2, -12], "From the end"),
    ("windows", [[0, 1, 2], [1, 2, 3], [2, 3, 4]], "Windows that overlap"),
    ("blocks", [0, 1, 2, 6, 7, 8], "Two blocks at a distance"),
    ("runs", [0, 1, 2, 3, 9, 10, 11], "Runs of different lengths"),
    ("mixed", [7, 0, 3, 3, 11], "No order"),
)


def gather(name, indices, about, x=X, axis=1, **more):
    want = np.take(x, indices, axis)
    return one_op(FAMILY, f"gather_{name}", "Gather",
                  [x, ints(indices), ints(axis)], want, f"{about}.", 8, attrs={"batch_dims": 0},
                  **more)


def scatter_nd(name, tuples, about, reduction="none"):
    tuples = np.asarray(tuples)
    shape = tuples.shape[:-1] + X.shape[tuples.shape[-1]:]
    updates = -np.arange(1, np.prod(shape, dtype=int) + 1, dtype=np.float32).reshape(shape)
    want = X.copy()
    for at in np.ndindex(tuples.shape[:-1]):
        to = tuple(tuples[at])
        want[to] = FUNCTIONS[reduction](want[to], updates[at])
    return one_op(FAMILY, f"scatter_nd_{name}_{reduction}", "ScatterNDUpdate",
                  [X, ints(tuples), updates], want, f"{about}, reduction {reduction}.", 15,
                  attrs={"reduction": reduction})


def gather_cases():
    for name, indices, about in LISTS:
        yield gather(name, indices, about)
    yield gather("f16", [4, 5, 6], "Neighbours in f16", X.astype(np.float16))
    yield gather("i8_last_axis", [2, 0], "Bytes, along the last axis", X.astype(np.int8), 2)
    outside = np.array([12, 13, 0, 1, 2, -13])
    want = np.where((outside < 12) & (outside >= -12), 1,
                    0)[None, :, None] * np.take(X, outside, 1, mode="clip")
    yield one_op(FAMILY, "gather_outside", "Gather", [X, ints(outside), ints(1)],
                 want.astype(np.float32), "Indices beyond the axis give zeros.", 8,
                 attrs={"batch_dims": 0})
    for batch_dims, axis in ((1, 1), (1, 2)):
        indices = np.array([[0, 1, 2], [2, 0, 0]])
        want = np.stack([np.take(row, i, axis - 1) for row, i in zip(X, indices)])
        yield one_op(FAMILY, f"gather_batch_axis_{axis}", "Gather",
                     [X, ints(indices), ints(axis)], want, f"batch_dims 1, axis {axis}.", 8,
                     attrs={"batch_dims": batch_dims})
    for name, indices, about in LISTS:
        tuples = np.stack([np.ones_like(indices), np.asarray(indices) % 12], -1)
        yield one_op(FAMILY, f"gather_nd_{name}", "GatherND", [X, ints(tuples)],
                     gather_nd_of(X, tuples, 0), f"{about}, as coordinates.", 8,
                     attrs={"batch_dims": 0})
    picks = np.array([[0, 1, 2], [3, 3, 3], [11, 0, 5]] * 2).reshape(2, 3, 3)
    yield one_op(FAMILY, "gather_elements", "GatherElements",
                 [X, ints(picks)], np.take_along_axis(X, picks, 1), "Single elements.", 6,
                 attrs={"axis": 1})


def scatter_cases():
    for name, indices, about in LISTS:
        indices = np.asarray(indices) % 12
        tuples = np.stack([np.zeros_like(indices), indices], -1)
        for reduction in ("none", "sum"):
            if name in ("windows", "mixed") and reduction == "none":
                continue  # which of equal indices is the last is not said
            yield scatter_nd(name, tuples, about, reduction)
    at = np.stack(np.meshgrid([0, 1], [2, 3, 4], [0, 1, 2], indexing="ij"), -1)
    yield scatter_nd("piece", at, "All coordinates of a piece")
    updates = -np.arange(1, 25, dtype=np.float32).reshape(2, 4, 3)
    want = X.copy()
    want[:, 2:10:2] = updates
    yield one_op(FAMILY, "scatter_update", "ScatterUpdate",
                 [X, ints([2, 4, 6, 8]), updates, ints(1)], want, "Every second slice.", 3)
    at = np.array([[[0, 5, 1]], [[11, 2, 2]]])
    for reduction in ("none", "sum", "mean"):
        change = np.float32([[[5, 6, 7]], [[8, 9, 10]]])
        want = X.copy()
        for i, k in np.ndindex(2, 3):
            to = (i, at[i, 0, k], k)
            want[to] = FUNCTIONS[reduction](want[to], change[i, 0, k])
            want[to] /= 2 if reduction == "mean" else 1
        yield one_op(FAMILY, f"scatter_elements_{reduction}", "ScatterElementsUpdate",
                     [X, ints(at), change, ints(1)], want, f"Single elements, {reduction}.", 12,
                     attrs={"reduction": reduction, "use_init_val": True})


def bag_cases():
    rows = np.int32([[0, 2], [6, 6], [1, 5]])
    want = np.stack([bag(TABLE, row, None, False, None) for row in rows])
    inputs = [TABLE, ints(rows, np.int32)]
    yield one_op(FAMILY, "bag_packed_sum", "EmbeddingBagPackedSum", inputs, want, "Pairs.", 3, FLOAT)
    yield one_op(FAMILY, "bag_packed", "EmbeddingBagPacked", inputs, want, "Pairs.", 15, FLOAT,
                 attrs={"reduction": "sum"})


def table_cases():
    g = rng("constant_operands")
    x = uniform(g, (2, 3, 4, 5), -3, 3)
    gamma, beta, mean = (uniform(g, 3, -2, 2) for _ in range(3))
    variance = uniform(g, 3, 0.1, 3)
    for kind in (np.float32, np.float16):
        numbers = [a.astype(kind) for a in (x, gamma, beta, mean, variance)]
        wide = [np.float64(a) for a in numbers]
        wide[1:] = [a.reshape(3, 1, 1) for a in wide[1:]]
        want = (wide[0] - wide[3]) / np.sqrt(wide[4] + 1e-3) * wide[1] + wide[2]
        yield one_op(FAMILY, f"batch_norm_{np.dtype(kind).name}", "BatchNormInference",
                     [numbers[0]] + [Const(a) for a in numbers[1:]], want.astype(kind),
                     "Scale and bias.", 5,
                     FLOAT if kind == np.float32 else "--atol 2e-3 --rtol 2e-3",
                     attrs={"epsilon": 1e-3})
    data = {"f32": np.float32([[3, 50, 0], [10, -1, 5]]), "i32": np.int32([[3, 50, 0], [10, -1, 5]])}
    bounds = np.float32([0, 5, 10])
    for kind, values in data.items():
        yield one_op(FAMILY, f"bucketize_{kind}", "Bucketize", [values, Const(bounds)],
                     np.searchsorted(bounds, values), f"{kind} among bounds in f32.", 3,
                     attrs={"output_type": "i64", "with_right_bound": True})
    rows = np.float32([[-1, 0, 2, 2, 7], [-2, 0, 4, 4, 9]])
    values = np.float32([[2, -5, 9], [4, 3, 0]])
    want = np.stack([np.searchsorted(row, v) for row, v in zip(rows, values)])
    yield one_op(FAMILY, "search_sorted", "SearchSorted", [Const(rows), values], want,
                 "A row each.", 15, attrs={"right_mode": False})
    signal, window = uniform(g, (2, 50)), np.hanning(11)[1:-1].astype(np.float32)
    yield one_op(FAMILY, "stft", "STFT", [signal, Const(window), ints(16), ints(8)],
                 pack(stft(signal, window, 16, 8), signal.dtype), "The window.", 15,
                 "--atol 1e-5 --rtol 1e-5", attrs={"transpose_frames": False})


def cases():
    yield from gather_cases()
    yield from table_cases()
    yield from scatter_cases()
    yield from bag_cases()
    yield error(FAMILY, "gather_nd_out_of_range", "GatherND",
                [X, ints([[0, 0], [1, 12]])], ["GatherND", "indices[1,1] is 12", "axis 1"],
                "A coordinate beyond its axis.", 8, attrs={"batch_dims": 0})
    yield error(FAMILY, "scatter_nd_out_of_range", "ScatterNDUpdate",
                [X, ints([[0, 0], [0, -13]]), X[0, :2]],
                ["ScatterNDUpdate", "indices[1,1] is -13", "axis 1"],
                "A coordinate before its axis.", 4)
