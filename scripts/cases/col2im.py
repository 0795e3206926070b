# Col2Im: the patches of an image added up.
# SPDX-License-Identifier: Apache-2.0
import numpy as np

from . import departures
from .common import EXACT, F16, F64, rng, uniform
from .one_op import error, ints, one_op

FLOAT = "--atol 2e-6 --rtol 1e-5"
NEUTRAL = {"strides": [1, 1], "dilations": [1, 1], "pads_begin": [0, 0], "pads_end": [0, 0]}


def image_of(x, size, kernel, strides, dilations, pads_begin, pads_end):
    """x [N,C*kernel,positions] -> [N,C,*size], in x's type: integers wrap."""
    room = [size[d] + pads_begin[d] + pads_end[d] for d in range(2)]
    counts = [(room[d] - dilations[d] * (kernel[d] - 1) - 1) // strides[d] + 1 for d in range(2)]
    parts = x.reshape(len(x), x.shape[1] // np.prod(kernel), *kernel, *counts)
    whole = np.zeros((*parts.shape[:2], *room), x.dtype)
    for k in np.ndindex(*kernel):
        rows, columns = (slice(k[d] * dilations[d],
                               k[d] * dilations[d] + strides[d] * (counts[d] - 1) + 1, strides[d])
                         for d in range(2))
        whole[:, :, rows, columns] += parts[:, :, k[0], k[1]]
    top, left = pads_begin
    return whole[:, :, top:top + size[0], left:left + size[1]]


def col2im(name, x, size, kernel, about, attrs=None, sizes=ints, args=FLOAT, written=True, **more):
    """sizes: makes an input of output_size and of kernel_size. written: with attributes."""
    attrs = {**NEUTRAL, **(attrs or {})}
    wide = x.astype(np.float64) if x.dtype.kind == "f" else x
    batch = wide if x.ndim == 3 else wide[None]
    want = image_of(batch, size, kernel, **attrs).astype(x.dtype)
    return one_op("col2im", name, "Col2Im", [x, sizes(size), sizes(kernel)],
                  want if x.ndim == 3 else want[0], about, 15, args,
                  attrs=attrs if written else None, **more)


def form_cases(g):
    x = uniform(g, (2, 12, 9))
    yield col2im("plain", x, (4, 4), (2, 2), "Two images of three channels.")
    yield col2im("no_attributes", x, (4, 4), (2, 2), "All attributes are left out.", written=False,
                 openvino=departures.NO_COL2IM_ATTRIBUTES, runs_openvino=False,
                 stand_in=col2im("no_attributes", x, (4, 4), (2, 2), "").net)
    yield col2im("unbatched", x[0], (4, 4), (2, 2), "No batch: three dimensions come out.")
    yield col2im("kernel_1", x, (3, 3), (1, 1), "A kernel of one element: a row is an image.")
    yield col2im("one_position", uniform(g, (1, 24, 1)), (3, 4), (3, 4),
                 "A kernel as large as the image.")
    yield col2im("tiles", uniform(g, (1, 12, 6)), (6, 6), (3, 2), "Patches side by side.",
                 {"strides": [3, 2]})
    yield col2im("gaps", uniform(g, (1, 4, 6)), (8, 7), (2, 1), "Zeros where no patch lies.",
                 {"strides": [5, 3]})
    yield col2im("remainder", uniform(g, (1, 8, 4)), (5, 5), (2, 2),
                 "The last row and column are in no patch.", {"strides": [2, 2]})
    yield col2im("dilations", uniform(g, (1, 12, 32)), (7, 8), (2, 3),
                 "Dilation 3x2 with a stride of 2 along one axis.",
                 {"dilations": [3, 2], "strides": [2, 1], "pads_begin": [0, 1], "pads_end": [4, 3]})
    yield col2im("pads", uniform(g, (1, 6, 16)), (5, 4), (2, 3),
                 "Pads, all different: what lies on them is lost.",
                 {"strides": [2, 2], "pads_begin": [3, 2], "pads_end": [1, 4]})
    yield col2im("pads_above_kernel", uniform(g, (1, 4, 64)), (2, 1), (2, 2),
                 "Pads that hold whole patches.", {"pads_begin": [3, 1], "pads_end": [4, 7]})
    yield col2im("empty_batch", x[:0], (4, 4), (2, 2), "A batch of none.", dynamic=True)
    yield col2im("dynamic", x, (4, 4), (2, 2), "No dimension is known.", dynamic=True)
    yield col2im("sizes_as_inputs", x, (3, 4), (2, 2),
                 "The sizes are inputs: the shape depends on them.", {"pads_end": [1, 0]},
                 sizes=np.array)


def type_cases(g):
    x = np.round(uniform(g, (1, 4, 9), -9, 9))
    for name, dtype in (("i8", np.int8), ("u8", np.uint8), ("i32", np.int32), ("i64", np.int64)):
        yield col2im(name, np.abs(x).astype(dtype), (4, 4), (2, 2), f"In {name}.", args=EXACT)
    yield col2im("i8_wraps", np.full((1, 4, 4), 100, np.int8), (3, 3), (2, 2),
                 "100 + 100 is -56 in i8.", args=EXACT)
    yield col2im("i32_sizes", x, (4, 4), (2, 2), "The sizes are i32.",
                 sizes=lambda size: ints(size, np.int32))
    yield col2im("f16", (x / 8).astype(np.float16), (4, 4), (2, 2), "In f16.", args=F16)
    yield col2im("f64", g.uniform(-1, 1, (1, 4, 9)), (4, 4), (2, 2), "In f64.", args=F64,
                 confirm_tolerance=(1e-6, 1e-5))


def wrong(name, inputs, fragments, about, attrs=None):
    return error("col2im", f"error_{name}", "Col2Im", inputs, ["Col2Im", *fragments], about, 15,
                 attrs=attrs)


def error_cases():
    x, size, kernel = np.zeros((1, 8, 9), np.float32), ints([4, 4]), ints([2, 2])
    yield wrong("rank", [x[None], size, kernel], ["input 0 (data) is f32 [1,1,8,9]", "2 or 3"],
                "Columns of four dimensions.")
    yield wrong("rows", [x, size, ints([3, 2])],
                ["input 0 (data) is f32 [1,8,9]", "3 x 2 elements", "input 2 (kernel_size)"],
                "Eight rows for a kernel of six elements.")
    yield wrong("columns", [x, ints([4, 5]), kernel],
                ["input 0 (data) is f32 [1,8,9]", "3 x 4 columns", "input 1 (output_size)"],
                "Nine columns for twelve positions.")
    yield wrong("sizes", [x, ints([4, 4, 4]), kernel],
                ["input 1 (output_size) is i64 [3]", "two numbers"], "Three sizes.")
    yield wrong("kernel_0", [x, size, ints([2, 0])], ["kernel_size[1] is 0", "at least 1"],
                "A kernel without elements.")
    yield wrong("kernel_large", [x, size, ints([5, 1])], ["a window of 5", "dimension 2, which is 4"],
                "A kernel that is larger than the image.")
    yield wrong("pads", [x, size, kernel], ["pads_end has -1", "expected 0"], "A negative pad.",
                {"pads_end": [0, -1]})
    yield wrong("strides", [x, size, kernel], ["strides has 3 numbers", "expected 2"],
                "Strides of three dimensions.", {"strides": [1, 1, 1]})


def cases():
    g = rng("col2im")
    yield from form_cases(g)
    yield from type_cases(g)
    yield from error_cases()
