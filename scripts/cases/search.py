# Ops that look for elements: NonZero, Unique, SearchSorted, Bucketize; and CumSum.
# SPDX-License-Identifier: Apache-2.0
import numpy as np

from . import departures
from .common import EXACT, F16, Case, rng, uniform
from .net import Net
from .one_op import error, ints, one_op

X = np.float32([[0, 3, 0, -1], [2, 0, 0, 5]])


def non_zero(name, x, about, output_type="i64", **more):
    want = np.stack(np.nonzero(np.atleast_1d(x))).astype(output_type.replace("i", "int"))
    return one_op("non_zero", name, "NonZero", [x], want, about, 3,
                  attrs={"output_type": output_type}, **more)


def non_zero_cases():
    yield non_zero("plain", X, "Two rows of coordinates.")
    yield non_zero("i32_output", X, "Coordinates in i32.", "i32")
    yield non_zero("boolean", X > 0, "Booleans.")
    yield non_zero("u8", (X > 0).astype(np.uint8) * 3, "Bytes.")
    yield non_zero("rank_1", X[1], "A list.")
    yield non_zero("rank_3",
                   uniform(rng("non_zero"), (3, 4, 5)) * (uniform(rng(1), (3, 4, 5)) > 0),
                   "Rank 3.")
    yield non_zero("none", np.zeros((2, 3), np.float32), "All zero: no column.")
    yield non_zero("special", np.float32([np.nan, -0.0, np.inf, 0, 1e-40]),
                   "NaN and denormals are not zero, -0 is.")
    yield non_zero("scalar", np.float32(2), "A scalar counts as [1].")
    yield non_zero("dynamic", X, "No dimension is known.", dynamic=True)
    stack = np.stack([X, np.zeros_like(X), -X[::-1], np.ones_like(X)])
    counts = np.array([[[np.count_nonzero(x)]] for x in stack], np.float32)
    net = Net("counts")
    found = net.op("NonZero", net.param("x", "f32", [2, 4]), v=3, data={"output_type": "i64"})
    ones = net.op("Convert", found, data={"destination_type": "f32"}, dtype="f32")
    ones = net.op("Add", net.op("Multiply", ones, net.const(np.float32(0)), dtype="f32"),
                  net.const(np.float32(1)), dtype="f32")
    net.result(
        net.op("ReduceSum",
               net.op("Slice", ones, net.i64([0]), net.i64([1]), net.i64([1]), net.i64([0]), v=8),
               net.i64([0, 1]), data={"keep_dims": True}), "y")
    yield Case(
        "non_zero", "counts", net, {"x": stack}, {"y": counts},
        "Four records with 4, 0, 4 and 8 non-zero elements: what follows changes its shape.", EXACT)


def unique_of(x, axis, is_sorted):
    values, first, reverse, counts = np.unique(x, True, True, True, axis)
    reverse = reverse.ravel()
    if not is_sorted:
        order = np.argsort(first)
        rank = np.argsort(order)
        values = np.take(values, order, 0 if axis is None else axis)
        first, counts, reverse = first[order], counts[order], rank[reverse]
    return values, first, reverse, counts


def unique(name, x, about, axis=None, is_sorted=True, index_type="i64", count_type="i64", **more):
    values, first, reverse, counts = unique_of(x, axis, is_sorted)
    index, count = (np.dtype(t.replace("i", "int")) for t in (index_type, count_type))
    return one_op(
        "unique", name, "Unique", [x] + ([] if axis is None else [ints(axis)]),
        (values, first.astype(index), reverse.astype(index), counts.astype(count)), about, 10,
        attrs={
            "sorted": is_sorted, "index_element_type": index_type, "count_element_type": count_type
        }, **more)


def unique_cases():
    x = np.float32([[5, 3, 5, 1], [3, 3, 9, 5]])
    rows = np.int32([[2, 1, 2], [0, 7, 0], [2, 1, 2], [0, 6, 9]])
    yield unique("sorted", x, "All elements, sorted.")
    yield unique("unsorted", x, "In the order of their first occurrence.", is_sorted=False)
    yield unique("rows", rows, "Rows, sorted.", 0)
    yield unique("rows_unsorted", rows, "Rows in the order of their first occurrence.", 0, False)
    yield unique("columns", rows, "Columns.", 1)
    yield unique("negative_axis", np.stack([rows, rows[::-1]]), "The last of three axes.", -1,
                 False)
    yield unique("i32_outputs", x, "Indices and counts in i32.", index_type="i32", count_type="i32")
    yield unique("u8", np.uint8([200, 3, 200, 7]), "Bytes.")
    yield unique("one_element", np.float32([[4]]), "A single element.")
    yield unique("long", np.round(uniform(rng("unique"), (500, ), -20, 20)),
                 "500 elements with many ties.")
    yield unique("dynamic", x, "No dimension is known.", dynamic=True)
    yield one_op("unique", "records", "Unique", [np.int32([[1, 1, 2], [3, 3, 3]])], (np.int32(
        [1, 2, 3]), np.int64([0, 2, 3]), np.int64([0, 0, 1, 2, 2, 2]), np.int64([2, 1, 3])),
                 "Integers.", 10,
                 attrs={"sorted": True, "index_element_type": "i64", "count_element_type": "i64"})


def search_sorted(name, row, values, about, right=False, **more):
    if row.ndim == 1:
        want = np.searchsorted(row, values, "right" if right else "left")
    else:
        flat = [
            np.searchsorted(r, v, "right" if right else "left")
            for r, v in zip(row.reshape(-1, row.shape[-1]), values.reshape(-1, values.shape[-1]))
        ]
        want = np.stack(flat).reshape(values.shape)
    return one_op("search_sorted", name, "SearchSorted", [row, values], want.astype(np.int64),
                  about, 15, attrs={"right_mode": right}, **more)


def search_cases():
    row, values = np.float32([-1, 0, 2, 2, 2, 7]), np.float32([[2, -5, 9], [-1, 3, 0]])
    yield search_sorted("left", row, values, "Before the equals.")
    yield search_sorted("right", row, values, "After the equals.", True)
    rows = np.stack([row, row * 2, row - 1])
    yield search_sorted("rows", rows, np.float32([[2, 4], [4, 0], [1, 6]]), "A row each.")
    yield search_sorted("rows_right", rows.reshape(1, 3, 6), np.float32([[[2, 4], [4, 0], [1, 6]]]),
                        "A row each, rank 3.", True)
    yield search_sorted("i32", row.astype(np.int32), values.astype(np.int32), "Integers.")
    yield search_sorted("dynamic", rows, np.float32([[2], [4], [1]]), "No dimension is known.",
                        dynamic=True)
    yield error("search_sorted", "rows_differ", "SearchSorted", [rows, values],
                ["SearchSorted", "sorted", "[3,6]", "[2,3]"],
                "Three rows to search, two of values.", 15, attrs={"right_mode": False})
    x, buckets = np.float32([[3, 50, 0], [10, -1, 5]]), np.float32([0, 5, 10])
    for right in (True, False):
        for kind in ("i64", "i32"):
            want = np.searchsorted(buckets, x,
                                   "left" if right else "right").astype(kind.replace("i", "int"))
            yield one_op(
                "bucketize", f"{'right' if right else 'left'}_bound_{kind}", "Bucketize",
                [x, buckets], want,
                f"The bucket holds its {'right' if right else 'left'} bound; output in {kind}.", 3,
                attrs={"output_type": kind, "with_right_bound": right})
    yield one_op("bucketize", "mixed_types", "Bucketize",
                 [np.int32([1, 2, 3]), np.float32([1.5, 2.0])], np.int64([0, 1, 2]),
                 "Integers among bounds in f32.", 3,
                 attrs={"output_type": "i64", "with_right_bound": True})
    yield one_op("bucketize", "no_buckets", "Bucketize", [x, np.zeros(0, np.float32)],
                 np.zeros((2, 3), np.int64), "No bounds: all in bucket 0.", 3,
                 attrs={"output_type": "i64", "with_right_bound": True})
    big = np.array([2**53 + 1, 2**53, -1])
    yield one_op("bucketize", "i64", "Bucketize", [big, np.array([0, 2**53])], np.int64([2, 1, 0]),
                 "i64 beyond f64.", 3, attrs={"output_type": "i64", "with_right_bound":
                                              True}, openvino=departures.NARROW)


def cum_sum_of(x, axis, exclusive, reverse):
    wide = x.astype(np.float64) if x.dtype.kind == "f" else x
    wide = np.flip(wide, axis) if reverse else wide
    sums = np.cumsum(wide, axis, dtype=wide.dtype)
    if exclusive:
        sums = sums - wide
    return (np.flip(sums, axis) if reverse else sums).astype(x.dtype)


def cum_sum(name, x, axis, about, exclusive=False, reverse=False, args="--atol 1e-5 --rtol 1e-5",
            **more):
    return one_op("cum_sum", name, "CumSum", [x] + ([] if axis is None else [ints(axis)]),
                  cum_sum_of(x, axis or 0, exclusive, reverse), about, 3, args,
                  attrs={"exclusive": exclusive, "reverse": reverse}, **more)


def cum_sum_cases():
    x = uniform(rng("cum_sum"), (3, 5, 40))
    for exclusive in (False, True):
        for reverse in (False, True):
            name = f"middle{'_exclusive' if exclusive else ''}{'_reverse' if reverse else ''}"
            yield cum_sum(name, x, 1, f"exclusive {exclusive}, reverse {reverse}.", exclusive,
                          reverse)
    yield cum_sum("last", x, -1, "Along the last axis.")
    yield cum_sum("first", x, 0, "Along the first axis.", reverse=True)
    yield cum_sum("no_axis", x, None, "Without the axis: 0.", openvino=departures.NO_CUM_SUM_AXIS)
    yield cum_sum("i32", np.int32([[1, 2, 3], [4, 5, 6]]), 1, "Integers.", args=EXACT)
    yield cum_sum("i8_wraps", np.int8([100, 100, 100]), 0, "i8 wraps.", args=EXACT)
    yield cum_sum("f16", (np.arange(8) / 8).astype(np.float16), 0, "f16.", args=F16)
    yield cum_sum("long", uniform(rng("cum_sum", 1), (5000, )), 0, "5000 numbers.",
                  args="--atol 2e-5 --rtol 1e-5", confirm_tolerance=(1e-3, 1e-3))
    yield cum_sum("dynamic", x, 1, "No dimension is known.", dynamic=True)


def cases():
    for make in (non_zero_cases, unique_cases, search_cases, cum_sum_cases):
        yield from make()
