# --dynamic-quantization: rows of the first operand of products with compressed weights are rounded to i8, block by block.
# The golden is the product with the rounded rows in float64. OpenVINO confirms it with the rounding written out in ops.
# SPDX-License-Identifier: Apache-2.0
import numpy as np

from .common import Case, rng, uniform
from .compressed_products import expanded
from .net import Net

FAMILY = "dynamic_quantization"
FLOAT = "--atol 2e-6 --rtol 1e-5"
BLOCK = 128
LEAST = 2.0**-118


def blocks_of(k, group):
    """(begin, end) of the blocks of a row."""
    for first in range(0, k, group):
        for begin in range(first, first + group, BLOCK):
            yield begin, min(begin + BLOCK, first + group)


def rounded(x, group):
    """x as the product sees it, in float64."""
    out = np.zeros(x.shape)
    for begin, end in blocks_of(x.shape[-1], group):
        part = x[..., begin:end]
        largest = np.max(np.abs(part), axis=-1, keepdims=True)
        with np.errstate(all="ignore"):
            codes = np.rint(part * (np.float32(127) / largest))
            whole = codes * np.float64(largest / np.float32(127))
        out[..., begin:end] = np.where(largest < LEAST, 0, np.where(np.isfinite(largest), whole, np.nan))
    return out


def written_out(net, port, x, block):
    """The rounding as ops, for blocks of the same size."""
    port = net.op("Reshape", port, net.i64([-1, x.shape[-1] // block, block]), special_zero=False)
    largest = net.op("ReduceMax", net.op("Abs", port), net.i64([2]), keep_dims=True)
    factor = net.op("Divide", net.const(np.float32([127])), largest, auto_broadcast="numpy")
    port = net.op("Round", net.op("Multiply", port, factor, auto_broadcast="numpy"), v=5, mode="half_to_even")
    scale = net.op("Divide", largest, net.const(np.float32([127])), auto_broadcast="numpy")
    port = net.op("Multiply", port, scale, auto_broadcast="numpy")
    return net.op("Reshape", port, net.i64([-1, x.shape[-1]]), special_zero=False)


def product(name, about, x, n, bias=False, quantizes=True, **form):
    """quantizes: the product can; otherwise it computes in f32."""
    k = x.shape[-1]
    group = form.get("group") or k
    add = uniform(rng(FAMILY, name), (n,))
    nets = []
    for is_written in (False, True):
        net = Net(name)
        weights, array = expanded(net, name, n, k, **form)
        port = net.param("x", "f32", [-1] * (x.ndim - 1) + [k])
        if is_written and quantizes:
            port = written_out(net, port, x, min(group, BLOCK))
        port = net.op("MatMul", port, weights, transpose_a=False, transpose_b=not form.get("turned", False))
        if bias:
            port = net.op("ReLU", net.op("Add", port, net.const(add), auto_broadcast="numpy"))
        net.result(port, "y")
        nets.append(net)
    seen = rounded(x, group) if quantizes else np.float64(x)
    y = (seen[..., None, :] * array).sum(-1)  # NaN stays in its row
    y = np.maximum(y + np.float64(add), 0) if bias else y
    is_confirmed = x.ndim == 2 and k % min(group, BLOCK) == 0 and np.all(np.abs(x).max(-1) > LEAST) and np.isfinite(y).all()
    return Case(FAMILY, name, nets[0], {"x": x}, {"y": np.float32(y)}, about, f"{FLOAT} --dynamic-quantization",
                stand_in=nets[1] if is_confirmed else None, runs_openvino=False, confirm_tolerance=(1e-5, 1e-5))


def row_cases():
    g = rng(FAMILY, "rows")
    for rows in (1, 4, 19, 70):
        yield product(f"{rows}_rows_u4", f"{rows} rows by u4 in groups of 32.", uniform(g, (rows, 96)), 41, dtype="u4",
                      group=32, zero="whole", wide="f16")
        yield product(f"{rows}_rows_i8", f"{rows} rows by i8, a scale for each row.", uniform(g, (rows, 256), -0.25, 0.25), 37,
                      dtype="i8")
    yield product("blocks_u8", "Two blocks of a row, the second shorter.", uniform(g, (3, 200)), 70, dtype="u8", zero="whole")
    yield product("groups_i4", "i4 in groups of 128, a bias and ReLU.", uniform(g, (5, 384)), 83, bias=True, dtype="i4",
                  group=128)
    yield product("groups_of_256_u8", "Each group is two blocks.", uniform(g, (17, 512)), 66, dtype="u8", group=256,
                  zero="whole", bias=True)
    yield product("short_groups_u4", "Groups of 6, whose codes are not whole words.", uniform(g, (3, 42)), 19, dtype="u4",
                  group=6, zero="whole")
    yield product("odd_i8", "Rows of 35 bytes.", uniform(g, (7, 35)), 19, dtype="i8", zero="whole")
    yield product("turned_u8", "[K,N] of u8.", uniform(g, (9, 70)), 37, dtype="u8", zero="whole", turned=True)
    yield product("float_zeros", "Whole zero points that are floats.", uniform(g, (2, 40)), 9, dtype="u8", zero="float")
    yield product("no_scale", "Integers without a scale.", uniform(g, (2, 40)), 9, dtype="u4", scale="")
    yield product("batches", "[2,3,64] by i4.", uniform(g, (2, 3, 64)), 21, dtype="i4")
    yield product("no_rows", "No rows by i4.", uniform(g, (0, 64)), 21, dtype="i4")


def number_cases():
    g = rng(FAMILY, "numbers")
    ties = np.float32(g.integers(-254, 255, (4, 64))) / 2
    ties[:, 5] = 127
    yield product("ties", "Halves are rounded to even.", ties, 21, dtype="i8")
    special = uniform(g, (6, 64))
    special[1] = 0
    special[2, 9], special[3, 40], special[4] = np.inf, np.nan, special[4] * np.float32(1e-37)
    yield product("special", "A row of zeros, rows with an infinity and a NaN, which give NaN, and tiny numbers, which count "
                  "as zeros.", special, 21, dtype="u8", zero="whole", group=32)
    large = uniform(g, (3, 64)) * np.float32([[3e34], [1e-30], [1]])
    large[2, ::7] *= 1000
    yield product("large", "Large, small and uneven numbers.", large, 21, dtype="i8", group=32)
    yield product("kept_nf4", "nf4 has no integers: the product is exact.", uniform(g, (3, 64)), 21, dtype="nf4",
                  quantizes=False)
    yield product("kept_fractions", "Zero points that are not whole numbers: the weights are expanded.", uniform(g, (3, 40)), 9,
                  dtype="u4", zero="fraction", quantizes=False)


def cases():
    yield from row_cases()
    yield from number_cases()
