# Ops between convolutions and products of bytes that pass bytes on.
# SPDX-License-Identifier: Apache-2.0
import numpy as np

from .int8 import Quantised
from .quantised import Value


def pooled(m, x, kernel, stride, pad, rounding="floor", dilation=1):
    """MaxPool of rows and columns alike; pads take no part. An empty window has the lowest number."""
    version = {} if dilation == 1 else {"v": 8, "outs": 2, "dilations": f"{dilation},{dilation}",
                                        "index_element_type": "i64", "axis": 0}
    port = m.net.op("MaxPool", x.port, kernel=f"{kernel},{kernel}", strides=f"{stride},{stride}",
                    pads_begin=f"{pad},{pad}", pads_end=f"{pad},{pad}", rounding_type=rounding,
                    auto_pad="explicit", **version)
    port = port if dilation == 1 else port[0]
    array = np.pad(x.array, ((0, 0), (0, 0), (pad, pad), (pad, pad)),
                   constant_values=np.finfo(np.float32).min)
    reach = (kernel - 1) * dilation + 1
    sizes = [n + 2 * pad - reach for n in x.array.shape[2:]]
    sizes = [-(-n // stride) + 1 if rounding == "ceil" else n // stride + 1 for n in sizes]
    result = np.full(x.array.shape[:2] + tuple(sizes), -np.inf)
    for y in range(sizes[0]):
        for z in range(sizes[1]):
            window = array[:, :, y * stride:y * stride + reach:dilation,
                           z * stride:z * stride + reach:dilation]
            result[:, :, y, z] = window.max((2, 3))
    return Value(m.net, port, result)


def joined(m, axis, *xs):
    return Value(m.net, m.net.op("Concat", *[x.port for x in xs], axis=axis),
                 np.concatenate([x.array for x in xs], axis))


def pool_cases():
    m = Quantised("max_pool", (2, 3, 11, 13))
    y = m.biased(m.convolved(m.x, m.integers(20, 3, 3, 3))).relu().quantised(0, 2)
    y = pooled(m, y, 2, 2, 0)
    yield m.case("The bytes of a convolution, on to the next one.",
                 m.convolved(y, m.integers(6, 20, 3, 3)).quantised(-3, 3))
    m = Quantised("max_pool_pads", (1, 5, 9, 10), -1, 1)
    y = m.convolved(m.x, m.integers(7, 5, 3, 3)).quantised(-1.5, -0.25)
    yield m.case("Pads do not count: all values are below 0.",
                 m.convolved(pooled(m, y, 3, 2, 1), m.integers(7, 1, 1, 3, 3)))
    m = Quantised("max_pool_dilated", (1, 5, 2, 3))
    y = m.convolved(m.x, m.integers(7, 5, 3, 3)).quantised(-2, 2)
    yield m.case("Rows -1 and 2 of an image of two: a window that lies in the pads.",
                 pooled(m, y, 2, 1, 1, dilation=3))
    m = Quantised("max_pool_observed", (1, 5, 9, 10))
    y = m.convolved(m.x, m.integers(7, 5, 3, 3)).quantised(-2, 2)
    z = pooled(m, y, 3, 1, 1)
    yield m.case("Somebody looks at the values, before and after.", y, z)
    m = Quantised("max_pool_ceil", (1, 5, 8, 10))
    y = m.convolved(m.x, m.integers(7, 5, 3, 3)).quantised(-2, 2)
    y = pooled(m, y, 3, 2, 0, "ceil")
    yield m.case("The last windows reach beyond the image.", m.convolved(y, m.integers(4, 7, 3, 3)))


def concat_cases():
    m = Quantised("concat_channels", (2, 6, 6, 7))
    y = m.convolved(m.x, m.integers(5, 6, 3, 3)).quantised(-2, 2)
    z = m.convolved(m.x, m.integers(9, 6, 1, 1), pads=(0, 0)).quantised(-2, 2)
    yield m.case("The channels of two convolutions.",
                 m.convolved(joined(m, 1, y, z), m.integers(8, 14, 3, 3)).quantised(-4, 4))
    m = Quantised("concat_rows", (1, 6, 6, 7))
    y = m.convolved(m.x, m.integers(5, 6, 3, 3)).quantised(-2, 2)
    z = m.convolved(m.x, m.integers(5, 6, 3, 3), pads=(0, 1)).quantised(-2, 2)
    yield m.case("One image below another.",
                 m.convolved(joined(m, -2, y, z), m.integers(8, 5, 3, 3)).quantised(-4, 4))
    m = Quantised("concat_products", (4, 24))
    y = m.multiplied(m.x, m.integers(10, 24)).quantised(-2, 2)
    z = m.multiplied(m.x, m.integers(7, 24)).quantised(-2, 2)
    yield m.case("The columns of two products.",
                 m.multiplied(joined(m, -1, y, z), m.integers(5, 17)).quantised(-4, 4))
    m = Quantised("concat_two_scales", (1, 6, 6, 7))
    y = m.convolved(m.x, m.integers(5, 6, 3, 3)).quantised(-2, 2)
    z = m.convolved(m.x, m.integers(5, 6, 3, 3)).quantised(-1, 2)
    yield m.case("Bytes that stand for other numbers stay apart.",
                 m.convolved(joined(m, 1, y, z), m.integers(8, 10, 3, 3)).quantised(-4, 4))


def cases():
    yield from pool_cases()
    yield from concat_cases()
