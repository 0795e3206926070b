# MatMul and Gather by weights that stay as they are stored: layouts, groups, scales and zero points
# beside those of compressed.py, and numbers of rows that take different ways.
# SPDX-License-Identifier: Apache-2.0
import numpy as np

from . import departures
from .common import EXACT, rng, uniform
from .compressed import FLOAT, LONG_SUMS, case, matmul, random_bytes, values
from .net import Net, round_bf16


def expanded(net, key, n, k, dtype, group=0, turned=False, zero="", scale="rows", wide="f32",
             scale_first=False, last="f32"):
    """(port, array [n,k]) of weights that are stored as [n,k], or [k,n] where they are turned.
    zero: "", "whole" of the same type, "float", "codes" of 4 bits as floats, "fraction"; scale: "rows", "one", ""."""
    g = rng("compressed product", key)
    groups = k // group if group else 1
    inner = [n, groups, k // groups] if group else [n, k]
    axes = [1, 2, 0] if group else [1, 0]
    of_groups = inner[:-1] + [1]

    def stored(array):
        """As it lies in the file."""
        return array.transpose(axes) if turned else array

    shape = [inner[i] for i in axes] if turned else inner
    shape_of_groups = [of_groups[i] for i in axes] if turned else of_groups
    back = np.argsort(axes) if turned else np.arange(len(inner))
    raw = random_bytes(g, n * k, dtype)
    array = values(raw, n * k, dtype).reshape(shape).transpose(back)
    port = net.op("Convert", net.const(raw.tobytes(), dtype, shape), destination_type=wide)
    if zero == "whole":
        raw = random_bytes(g, n * groups, dtype)
        array = array - values(raw, n * groups, dtype).reshape(shape_of_groups).transpose(back)
        point = net.op("Convert", net.const(raw.tobytes(), dtype, shape_of_groups),
                       destination_type=wide)
    elif zero:
        lowest, end = (0, 16) if zero == "codes" else (-3, 9)
        points = g.integers(lowest, end, of_groups) + (0.25 if zero == "fraction" else 0)
        array = array - points
        point = net.const(stored(points).astype(np.float32 if wide == "f32" else np.float16))
    if zero:
        port = net.op("Subtract", port, point, auto_broadcast="numpy")
    if scale:
        sizes = of_groups if scale == "rows" else [1] * len(inner)
        factors = np.exp2(g.integers(-2, 2, sizes)) / 2**np.ceil(np.log2(np.abs(array).max()))
        array = array * factors
        factors = stored(factors).astype(np.float32 if wide == "f32" else np.float16)
        ports = [port, net.const(factors if scale == "rows" else factors.reshape(()))]
        port = net.op("Multiply", *(ports[::-1] if scale_first else ports),
                      auto_broadcast="numpy")
    if group:
        port = net.op("Reshape", port, net.i64([k, n] if turned else [n, k]), special_zero=False)
    if wide != last:
        port = net.op("Convert", port, destination_type=last)
    return port, array.reshape(n, k)


def product(name, about, x_shape, n, args=FLOAT, bias=False, **form):
    net = Net(name)
    g = rng("compressed product x", name)
    x = uniform(g, x_shape)
    port, array = expanded(net, name, n, x_shape[-1], **form)
    last = form.get("last", "f32")
    p = net.param("x", "f32", [-1] * (len(x_shape) - 1) + [x_shape[-1]])
    y = np.float64(x) @ array.T
    if last != "f32":
        p = net.op("Convert", p, destination_type=last)
        y = np.float64(x.astype(np.float16)) @ array.T
    port = net.op("MatMul", p, port, transpose_a=False,
                  transpose_b=not form.get("turned", False))
    if last != "f32":
        port = net.op("Convert", port, destination_type="f32")
        args = "--atol 2e-3 --rtol 2e-3"
    if bias:
        add = uniform(g, (n, ))
        y = np.maximum(y + np.float64(add), 0)
        port = net.op("ReLU", net.op("Add", port, net.const(add), auto_broadcast="numpy"))
    net.result(port, "y")
    return case(name, net, {"x": x}, {"y": y}, about, args)


def tied(name, about, dtype, **form):
    """An embedding whose table is the last matrix too."""
    net = Net(name)
    rows, width = 37, 48
    port, table = expanded(net, name, rows, width, dtype, **form)
    at = np.array([[0, 36, -5], [3, 3, 36]])
    p = net.param("at", "i64", [-1, -1])
    x = net.op("Gather", port, p, net.i64(0), v=8, batch_dims=0)
    net.result(x, "x")
    net.result(net.op("MatMul", x, port, transpose_a=False, transpose_b=True), "y")
    taken = table[at]
    return case(name, net, {"at": at}, {"x": taken, "y": taken @ table.T}, about)


def outside(name, about):
    """Gather-8 of an index that is out of range."""
    net = Net(name)
    port, table = expanded(net, name, 11, 6, "i8")
    at = np.array([10, 11, -11, -12, 4])
    net.result(net.op("Gather", port, net.param("at", "i32", [-1]), net.i64(-2), v=8,
                      batch_dims=0), "y")
    want = np.stack([table[i] if -11 <= i < 11 else np.zeros(6) for i in at])
    return case(name, net, {"at": at.astype(np.int32)}, {"y": want}, about,
                openvino=departures.GATHER_OUTSIDE)


def table(name, about, dtype, axis=0):
    """1 MB of f32 and more, converted from 16 bits."""
    net = Net(name)
    shape = (1031, 257)
    array = np.resize(uniform(rng("compressed product", name), (997, )), shape)
    at = np.array([[0, 256, -5], [3, 3, 77]])
    p = net.param("at", "i64", [-1, -1])
    port = net.op("Convert", net.const(array, dtype), destination_type="f32")
    net.result(net.op("Gather", port, p, net.i64(axis), v=8, batch_dims=0), "y")
    held = round_bf16(array) if dtype == "bf16" else array.astype(np.float16)
    return case(name, net, {"at": at}, {"y": np.take(held, at, axis)}, about, EXACT)


def floats(name, about, dtype, rows, plain=False):
    """1 MB of rows and more, which are read as they are stored. plain: the product is of dtype."""
    net = Net(name)
    shape = (523 if dtype == "f32" else 1031, 509)
    array = np.resize(uniform(rng("compressed product", name), (997, )), shape)
    held = {"f32": array, "f16": array.astype(np.float16), "bf16": round_bf16(array)}[dtype]
    x = uniform(rng("compressed product x", name), (rows, shape[1]))
    port = net.const(array, dtype)
    p = net.param("x", "f32", [-1, shape[1]])
    args = LONG_SUMS
    if plain and dtype != "f32":
        x = x.astype(np.float16).astype(np.float32)
        p = net.op("Convert", p, destination_type=dtype)
        args = "--atol 1e-2 --rtol 2e-3"
    elif dtype != "f32":
        port = net.op("Convert", port, destination_type="f32")
    port = net.op("MatMul", p, port, transpose_a=False, transpose_b=True)
    if plain and dtype != "f32":
        port = net.op("Convert", port, destination_type="f32")
    net.result(port, "y")
    y = np.float64(x) @ np.float64(held).T
    return case(name, net, {"x": x}, {"y": y}, about, args)


def float_cases():
    for dtype in ("f16", "bf16", "f32"):
        for rows in (1, 3, 9):
            yield floats(f"product_{rows}_rows_{dtype}", f"{rows} rows by a large matrix of {dtype}.",
                         dtype, rows)
    yield floats("product_plain_f16", "A product of f16.", "f16", 2, plain=True)


def row_cases():
    for rows in (1, 2, 3, 4, 5, 19):
        yield product(f"product_{rows}_rows_u4", f"{rows} rows by u4 in groups of 32.",
                      (rows, 96), 41, dtype="u4", group=32, zero="whole", wide="f16")
        yield product(f"product_{rows}_rows_i8", f"{rows} rows by i8.", (rows, 70), 37,
                      dtype="i8")
    yield product("product_chunks_u4", "A row by u4 in groups of 128 with a zero point each.",
                  (1, 512), 41, dtype="u4", group=128, zero="whole", wide="f16")
    yield product("product_chunks_i4", "A row by i4 in groups of 256.", (1, 512), 39, dtype="i4",
                  group=256)
    yield product("product_chunks_of_2", "A row by u4 in groups of 64 with a zero point each.",
                  (1, 256), 41, dtype="u4", group=64, zero="whole", wide="f16")
    yield product("product_chunks_of_4", "A row by i4 in groups of 32.", (1, 512), 39, dtype="i4",
                  group=32)
    yield product("product_row_u8", "A row by u8, whose zero points are not the same.", (1, 192), 42,
                  dtype="u8", zero="whole")
    yield product("product_vector", "A list by u8.", (64, ), 21, dtype="u8", zero="whole")
    yield product("product_batches", "[2,3,64] by i4.", (2, 3, 64), 21, dtype="i4")
    yield product("product_no_rows", "No rows by i4.", (0, 64), 21, dtype="i4")
    yield product("product_bias_1_row", "A row by u8, a bias and ReLU.", (1, 64), 83, bias=True,
                  dtype="u8", zero="whole")
    yield product("product_bias_3_rows", "Three rows by u4, a bias and ReLU.", (3, 64), 83,
                  bias=True, dtype="u4", group=32)
    yield product("product_bias_9_rows", "Nine rows by u4, a bias and ReLU.", (9, 64), 83,
                  bias=True, dtype="u4", group=32)
    yield product("product_large", "A matrix that is too large to be expanded as a whole.",
                  (9, 1024), 300, LONG_SUMS, dtype="u4", group=64, zero="whole", wide="f16")


def form_cases():
    yield product("product_turned_u8", "[K,N] of u8, a scale for each column.", (2, 70), 37,
                  dtype="u8", zero="whole", turned=True)
    yield product("product_turned_i4", "[K,N] of i4 in groups of 32 of a column.", (1, 96), 37,
                  dtype="i4", zero="whole", group=32, turned=True)
    yield product("product_turned_nf4", "[K,N] of nf4, many rows.", (11, 70), 66, dtype="nf4",
                  turned=True)
    yield product("product_odd_u4", "Rows of u4 that begin within a byte.", (2, 21), 9,
                  dtype="u4", zero="whole")
    yield product("product_short_groups", "Groups of 6.", (2, 42), 9, dtype="u4", group=6,
                  zero="whole")
    yield product("product_many_rows_short_groups",
                  "Groups of 18 bytes, which are not whole words, by many rows.", (9, 54), 21,
                  dtype="u8", group=18, zero="whole")
    yield product("product_float_zeros", "Whole zero points that are floats.", (2, 40), 9,
                  dtype="u8", zero="float")
    yield product("product_code_zeros", "Zero points of u4 that are stored as floats.", (3, 96), 9,
                  dtype="u4", zero="codes", group=32)
    yield product("product_half_zeros", "… of f16, in groups.", (2, 64), 9, dtype="i4",
                  zero="float", group=32, wide="f16")
    yield product("product_fractions", "Zero points that are not whole numbers.", (2, 40), 9,
                  dtype="u4", zero="fraction")
    yield product("product_one_scale", "One scale for all.", (2, 40), 9, dtype="i8", scale="one")
    yield product("product_no_scale", "Integers without a scale.", (2, 40), 9,
                  "--atol 1e-3 --rtol 1e-5", dtype="i8", scale="")
    yield product("product_scale_first", "The scale is the first operand.", (2, 40), 9,
                  dtype="u4", zero="whole", scale_first=True)
    yield product("product_of_f16", "The product is of f16.", (2, 40), 9, dtype="i8",
                  wide="f16", last="f16")
    yield tied("tied_u8", "A table of u8 that is gathered from and multiplied by.", "u8",
               zero="whole")
    yield tied("tied_i4", "… of i4 in groups.", "i4", group=16)
    yield table("table_f16", "Rows of a large table of f16.", "f16")
    yield table("table_bf16", "Columns of a large table of bf16.", "bf16", axis=1)
    yield outside("gather_outside", "Rows before the first and behind the last one are zeros.")


def cases():
    yield from row_cases()
    yield from float_cases()
    yield from form_cases()
