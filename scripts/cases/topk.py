# TopK-1, -3 and -11.
# SPDX-License-Identifier: Apache-2.0
import numpy as np

from . import departures
from .common import rng, uniform
from .one_op import error, ints, one_op


def top(x, k, axis, mode, sort, index_type=np.int32):
    """Equal elements in the order of their places, NaN above every number."""
    keys = np.where(np.isnan(x), np.inf, x).astype(
        np.float64) if x.dtype.kind == "f" else x.astype(object)
    order = np.argsort(-keys if mode == "max" else keys, axis=axis, kind="stable")
    places = np.take(order, range(k), axis)
    if sort == "index":
        places = np.sort(places, axis)
    return np.take_along_axis(x, places, axis), places.astype(index_type)


def case(name, x, k, axis, mode, about, sort="value", v=11, index_type="i32", k_input=None,
         openvino="", dynamic=False, **more):
    attrs = {"axis": axis, "mode": mode, "sort": sort, "index_element_type": index_type}
    if v == 11:
        attrs["stable"] = True if sort != "none" else False
    want = top(x, k, axis, mode, sort, np.dtype(index_type.replace("i", "int")))
    return one_op("topk", name, "TopK", [x, ints(k) if k_input is None else k_input], want, about,
                  v, openvino=openvino, attrs=attrs, dynamic=dynamic, **more)


def cases():
    x = np.round(uniform(rng("topk"), (3, 7, 5), -9, 9) * 2) / 2  # ties
    for v in (1, 3, 11):
        yield case(f"v{v}_max", x, 3, 1, "max", f"TopK-{v}: 3 largest along the middle axis.", v=v)
        yield case(f"v{v}_min", x, 2, -1, "min", f"TopK-{v}: 2 smallest along the last axis.", v=v)
    yield case("by_index", x, 4, 0 - 2, "max", "sort index: in the order of their places.",
               sort="index")
    yield case("by_index_min", x, 3, 2, "min", "sort index of the smallest.", sort="index")
    yield case("sort_none", x, 1, 1, "max", "sort none, k 1.", sort="none")
    yield case("whole_axis", x, 7, 1, "max", "k is the whole axis: a sort.")
    yield case("k_1", x, 1, 0, "min", "k 1 along the first axis.")
    yield case("i64_indices", x, 2, 1, "max", "Indices in i64.", index_type="i64")
    yield case("i32_data", x.astype(np.int32), 3, 1, "max", "Integers.")
    yield case("u8_data", (x + 10).astype(np.uint8), 3, 1, "min", "Bytes.")
    yield case("f16_data", x.astype(np.float16), 3, 1, "max", "f16.")
    big = np.array([2**40, 2**40 + 1, -2**40, 7], np.int64)
    yield case("i64_data", big, 2, 0, "max", "i64 beyond 32 bits.", openvino=departures.NARROW)
    yield case("k_i32_list", x, 2, 1, "max", "k is an i32 of shape [1] in TopK-11.",
               k_input=ints(2, np.int32))
    yield case("k_input", x, 2, 1, "max", "k is an input: the shape depends on it.",
               k_input=np.int64(2))
    yield case("dynamic", x, 3, 1, "max", "No dimension is known.", dynamic=True)
    special = np.array([1, -0.0, 0.0, np.inf, -np.inf, -1], np.float32)
    yield case("special", special, 6, 0, "max", "Infinities; 0 and -0 are equal.")
    long = np.round(uniform(rng("topk", 1), (2, 1000), -99, 99))
    yield case("long", long, 100, 1, "max", "100 of 1000, with ties.")
    yield error("topk", "k_too_large", "TopK", [x, ints(8)], ["TopK", "k is 8", "7", "axis 1"],
                "k is more than the axis has.", v=11, outs=2,
                attrs={"axis": 1, "mode": "max", "sort": "value", "index_element_type": "i32"})
