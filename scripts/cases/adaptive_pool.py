# AdaptiveAvgPool, AdaptiveMaxPool.
# SPDX-License-Identifier: Apache-2.0
import numpy as np

from . import departures
from .common import EXACT, F64, rng, uniform
from .one_op import error, ints, one_op

FLOAT = "--atol 1e-6 --rtol 1e-5"


def parts(n_in, n_out):
    return [slice(i * n_in // n_out, -(-(i + 1) * n_in // n_out)) for i in range(n_out)]


def adaptive_avg(x, sizes):
    y = np.zeros((*x.shape[:2], *sizes))
    cuts = [parts(n, size) for n, size in zip(x.shape[2:], sizes)]
    for at in np.ndindex(*sizes):
        window = x[(slice(None), slice(None), *(c[i] for c, i in zip(cuts, at)))]
        y[(slice(None), slice(None), *at)] = np.mean(np.float64(window), axis=tuple(range(2, x.ndim)))
    return y.astype(x.dtype)


def adaptive_max(x, sizes, index_type):
    y, places = np.zeros((*x.shape[:2], *sizes), x.dtype), np.zeros((*x.shape[:2], *sizes), index_type)
    cuts = [parts(n, size) for n, size in zip(x.shape[2:], sizes)]
    number = np.arange(np.prod(x.shape[2:])).reshape(x.shape[2:])
    for at in np.ndindex(*x.shape[:2], *sizes):
        cut = tuple(c[i] for c, i in zip(cuts, at[2:]))
        window = x[at[:2]][cut]
        y[at], places[at] = window.max(), number[cut].ravel()[window.argmax()]
    return y, places


def avg_case(name, x, sizes, about, args=FLOAT, size_type=np.int64, **more):
    return one_op("adaptive_avg_pool", name, "AdaptiveAvgPool", [x, ints(sizes, size_type)], adaptive_avg(x, sizes), about,
                  8, args, **more)


def max_case(name, x, sizes, about, index_type="i64", **more):
    want = adaptive_max(x, sizes, np.int64 if index_type == "i64" else np.int32)
    return one_op("adaptive_max_pool", name, "AdaptiveMaxPool", [x, ints(sizes, np.int32)], want, about, 8, EXACT,
                  attrs={"index_element_type": index_type}, **more)


def cases():
    g = rng("adaptive_pool")
    x1, x2, x3 = uniform(g, (2, 3, 11)), uniform(g, (1, 2, 7, 6)), uniform(g, (1, 2, 5, 4, 3))
    yield avg_case("pool1d", x1, [4], "11 into 4: the parts overlap.")
    yield avg_case("pool2d", x2, [3, 4], "7x6 into 3x4.", size_type=np.int32)
    yield avg_case("pool3d", x3, [2, 3, 3], "Three spatial dimensions.")
    yield avg_case("global", x2, [1, 1], "One mean of all.")
    yield avg_case("larger", x1, [15], "More outputs than inputs.")
    yield avg_case("f64", x2.astype(np.float64), [2, 2], "In f64.", F64, confirm_tolerance=(1e-6, 1e-5))
    yield avg_case("dynamic", x2, [3, 2], "No dimension is known.", dynamic=True)
    ties = np.float32([[[1, 5, 5, 2, 7, 3, 7]]])
    yield max_case("pool1d", x1, [4], "11 into 4, indices in i32.", "i32")
    yield max_case("pool1d_ties", ties, [3], "Of equals the first.", "i32")
    yield max_case("pool2d", x2, [3, 4], "7x6 into 3x4; indices count within a channel.", "i32")
    yield max_case("pool3d", x3, [2, 3, 3], "Three spatial dimensions.", "i32")
    yield max_case("pool2d_dynamic", x2, [7, 2], "Indices in i64, no dimension known.", dynamic=True,
                   openvino=departures.ADAPTIVE_I64)
    yield error("error_op", "adaptive_pool_sizes", "AdaptiveAvgPool", [x2, ints([2])],
                ["input 1 (output_shape) is i64 [1], expected 2 sizes"], "A size for each dimension.", 8)
