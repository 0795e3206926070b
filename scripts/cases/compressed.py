# Weights in every type that holds them, with scales, zero points and groups, ahead of what real
# models multiply them with. The bits are random; their values come from the definitions below.
# SPDX-License-Identifier: Apache-2.0
import numpy as np

from . import departures, reference
from .common import EXACT, Case, rng, uniform
from .dense import convolve
from .fake_quantize import fake_quantize
from .lstm_sequence import make_data, op_attrs
from .net import Net

FLOAT = "--atol 1e-6 --rtol 1e-5"
LONG_SUMS = "--atol 2e-5 --rtol 1e-5"  # of some thousand products
FAMILY = "compressed"

# exponent bits, mantissa bits, bias: a sign comes first
SMALL_FLOATS = {"f8e4m3": (4, 3, 7), "f8e5m2": (5, 2, 15), "f4e2m1": (2, 1, 1)}
BITS = {
    "u1": 1, "u2": 2, "u3": 3, "u4": 4, "i4": 4, "nf4": 4, "f4e2m1": 4, "u6": 6, "i8": 8, "u8": 8,
    "f8e4m3": 8, "f8e5m2": 8, "f8e8m0": 8, "f16": 16, "bf16": 16
}
NF4 = np.float64([
    -1, -0.6961928009986877, -0.5250730514526367, -0.39491748809814453, -0.28444138169288635,
    -0.18477343022823334, -0.09105003625154495, 0, 0.07958029955625534, 0.16093020141124725,
    0.24611230194568634, 0.33791524171829224, 0.44070982933044434, 0.5626170039176941,
    0.7229568362236023, 1
])


def split_layout(raw, n, bits, per_byte):
    """u3 and u6: of every 3 bytes the first two hold the low bits of the elements, the third one
    their high bits, first element highest everywhere."""
    low_bits = 8 // per_byte
    high_bits = bits - low_bits
    out = []
    for first, second, high in raw.reshape(-1, 3).astype(int):
        for k in range(2 * per_byte):
            byte = first if k < per_byte else second
            low = byte >> (8 - low_bits * (k % per_byte + 1)) & ((1 << low_bits) - 1)
            top = high >> (8 - high_bits * (k + 1)) & ((1 << high_bits) - 1)
            out.append(top << low_bits | low)
    return np.array(out[:n])


def codes(raw, n, dtype):
    """The unsigned integers that lie in the bytes."""
    bits = BITS[dtype]
    if bits == 16:
        return raw.view(np.uint16)[:n].astype(int)
    if bits in (3, 6):
        return split_layout(raw, n, bits, 4 if bits == 3 else 2)
    at = np.arange(n)
    place = at % (8 // bits) * bits
    shift = 7 - place if bits == 1 else place
    return raw[at * bits // 8].astype(int) >> shift & ((1 << bits) - 1)


def values(raw, n, dtype):
    """What the bytes mean, as f64."""
    code = codes(raw, n, dtype)
    bits = BITS[dtype]
    if dtype == "f16":
        return raw.view(np.float16)[:n].astype(np.float64)
    if dtype == "bf16":
        return (code.astype(np.uint32) << 16).view(np.float32).astype(np.float64)
    if dtype == "nf4":
        return NF4[code].astype(np.float32).astype(np.float64)
    if dtype == "f8e8m0":
        return np.exp2(code - 127.0)
    if dtype in SMALL_FLOATS:
        exponent_bits, mantissa_bits, bias = SMALL_FLOATS[dtype]
        exponent = code >> mantissa_bits & ((1 << exponent_bits) - 1)
        mantissa = code & ((1 << mantissa_bits) - 1)
        size = np.where(
            exponent > 0,
            np.exp2(exponent - bias) * (1 + mantissa / 2.0**mantissa_bits),
            np.exp2(1.0 - bias) * (mantissa / 2.0**mantissa_bits))
        return np.where(code >> (bits - 1), -size, size)
    if dtype[0] == "i":
        code = np.where(code >> (bits - 1), code - (1 << bits), code)
    return code.astype(np.float64)


def random_bytes(g, n, dtype):
    """Bits of n elements that are neither NaN nor infinite, nor far from 1 where that can be."""
    bits = BITS[dtype]
    if dtype == "f16":
        return uniform(g, (n,), dtype=np.float16).view(np.uint8)
    if dtype == "bf16":
        return (uniform(g, (n,)).view(np.uint32) >> 16).astype(np.uint16).view(np.uint8)
    n_bytes = -(-n // {3: 8, 6: 4}[bits]) * 3 if bits in (3, 6) else -(-n * bits // 8)
    raw = g.integers(0, 256, n_bytes, dtype=np.uint8)
    if dtype == "f8e8m0":
        return (124 + raw % 6).astype(np.uint8)
    if dtype == "f8e4m3":
        return raw & 0xB7
    return raw & 0xBF if dtype == "f8e5m2" else raw


class Weights:
    """A Const and what decompresses it. port: its f32; array: its values in f64."""
    def __init__(self, net, key, shape, dtype, group=0, zero=False, scale=1.0, wide="f32",
                 period=0):
        """group: so many elements of the last axis share a scale (0: all); zero: with zero points
        of the same type; wide: what it is computed in; period: the bytes repeat after so many."""
        g = rng("compressed", *key)
        inner = list(shape[:-1]) + ([shape[-1] // group, group] if group else [shape[-1]])
        n = int(np.prod(shape))
        raw = random_bytes(g, n, dtype)
        if period:
            raw = np.resize(raw[:period], raw.size)
        array = values(raw, n, dtype).reshape(inner)
        port = net.op("Convert", net.const(raw.tobytes(), dtype, inner), destination_type=wide)
        rows = inner[:-1] + [1]
        if zero:
            points = random_bytes(g, int(np.prod(rows)), dtype)
            array = array - values(points, int(np.prod(rows)), dtype).reshape(rows)
            point = net.op("Convert", net.const(points.tobytes(), dtype, rows),
                           destination_type=wide)
            port = net.op("Subtract", port, point, auto_broadcast="numpy")
        factors = np.exp2(g.integers(-2, 2, rows)) if wide == "f16" else g.uniform(0.5, 1.5, rows)
        factors = (factors * scale / max(np.abs(array).max(), 1e-9)).astype(np.float32)
        if wide == "f16":
            factors = np.exp2(np.rint(np.log2(factors)))
        factors = factors.astype(np.float16 if wide == "f16" else np.float32)
        port = net.op("Multiply", port, net.const(factors), auto_broadcast="numpy")
        if group:
            port = net.op("Reshape", port, net.i64(list(shape)), special_zero=False)
        if wide == "f16":
            port = net.op("Convert", port, destination_type="f32")
        self.port, self.array = port, (array * factors.astype(np.float64)).reshape(shape)


def case(name, net, feed, want, about, args=FLOAT, **more):
    return Case(FAMILY, name, net, feed, {k: v.astype(np.float32)
                                          for k, v in want.items()}, about, args, **more)


def matmul(name, about, shape=(21, 24), rows=3, args=FLOAT, transposed=True,
           openvino="", **form):
    """shape: [N,K], or [K,N] where it is not transposed."""
    net = Net(name)
    x = uniform(rng("compressed x", name), (rows, shape[transposed]))
    w = Weights(net, (name,), shape, **form)
    p = net.param("x", "f32", [-1, shape[transposed]])
    net.result(net.op("MatMul", p, w.port, transpose_a=False, transpose_b=transposed), "y")
    y = np.float64(x) @ (w.array.T if transposed else w.array)
    return case(name, net, {"x": x}, {"y": y}, about, args, openvino=openvino)


def gather(name, about, shape=(13, 10), **form):
    net = Net(name)
    at = np.array([[0, 12, 5], [3, 3, shape[0] - 1]])
    w = Weights(net, (name,), shape, **form)
    p = net.param("at", "i64", [-1, -1])
    net.result(net.op("Gather", w.port, p, net.i64(0), v=8, batch_dims=0), "y")
    return case(name, net, {"at": at}, {"y": w.array[at]}, about)


def gather_first(name, about, dtype, **more):
    """The rows are gathered as they are stored, and only those are decompressed."""
    net = Net(name)
    g = rng("compressed", name)
    rows, width = 13, 10
    at = np.array([[0, 12, 5], [3, 3, 1]])
    raw, points = random_bytes(g, rows * width, dtype), random_bytes(g, rows, dtype)
    scale = np.exp2(g.integers(-3, 1, (rows, 1))).astype(np.float16)
    p = net.param("at", "i64", [-1, -1])

    def taken(port):
        return net.op("Gather", port, p, net.i64(0), v=8, batch_dims=0)

    wide = net.op("Convert", taken(net.const(raw.tobytes(), dtype, [rows, width])),
                  destination_type="f16")
    zero = net.op("Convert", taken(net.const(points.tobytes(), dtype, [rows, 1])),
                  destination_type="f16")
    y = net.op("Subtract", wide, zero, auto_broadcast="numpy")
    y = net.op("Multiply", y, taken(net.const(scale)), auto_broadcast="numpy")
    net.result(net.op("Convert", y, destination_type="f32"), "y")
    table = values(raw, rows * width, dtype).reshape(rows, width)
    table = (table - values(points, rows, dtype)[:, None]) * scale.astype(np.float64)
    return case(name, net, {"at": at}, {"y": table[at]}, about, EXACT, **more)


def convolution(name, about, shape=(5, 3, 3, 3), args=FLOAT, **form):
    net = Net(name)
    x = uniform(rng("compressed x", name), (1, shape[1], 7, 6))
    flat = Weights(net, (name,), (shape[0], int(np.prod(shape[1:]))), **form)
    filters = net.op("Reshape", flat.port, net.i64(list(shape)), special_zero=False)
    p = net.param("x", "f32", list(x.shape))
    net.result(
        net.op(
            "Convolution", p, filters, data={
                "strides": "1,1", "dilations": "1,1", "pads_begin": "1,1", "pads_end": "1,1",
                "auto_pad": "explicit"
            }), "y")
    y = convolve(np.float64(x), flat.array.reshape(shape), [1, 1], [1, 1], [1, 1], [1, 1])
    return case(name, net, {"x": x}, {"y": y}, about, args)


def lstm(name, about, size=(6, 5), **form):
    """size: I, H."""
    net = Net(name)
    inputs, hidden = size
    data = make_data(("compressed", name), 2, 4, inputs, hidden)
    ports = []
    for key, value in data.items():
        if key in ("W", "R"):
            w = Weights(net, (name, key), value.shape, scale=0.5 * 5 / hidden, **form)
            data[key] = w.array
            ports.append(w.port)
        elif key == "X":
            ports.append(net.param(key, "f32", list(value.shape)))
        else:
            ports.append(net.const(value))
    outs = net.op("LSTMSequence", *ports, v=5, outs=3, dtype="f32",
                  data=op_attrs(data, "forward"))
    names = ("Y", "Ho", "Co")
    for port, output in zip(outs, names):
        net.result(port, output)
    want = reference.lstm_sequence(*(np.float64(data[k]) if k != "lengths" else data[k]
                                     for k in ("X", "H0", "C0", "lengths", "W", "R", "B")))
    return case(name, net, {"X": data["X"]}, dict(zip(names, want)), about)


def concatenated(name, about, shapes, column_scale):
    """Integers that another op than an element-wise one puts together, scaled by column and row."""
    net = Net(name)
    g = rng("compressed", name)
    parts = [np.resize(g.integers(-128, 128, 997, np.int8), shape) for shape in shapes]
    columns = np.float32(g.uniform(0.5, 1.5, column_scale))
    rows = np.float32(g.uniform(0.5, 1.5, (sum(len(p) for p in parts), 1)) / 128)
    w = net.op("Concat", *[net.const(p) for p in parts], axis=0)
    w = net.op("Convert", w, destination_type="f32")
    for scale in (columns, rows):
        w = net.op("Multiply", w, net.const(scale), auto_broadcast="numpy")
    x = uniform(g, (2, shapes[0][1]))
    p = net.param("x", "f32", [-1, shapes[0][1]])
    net.result(net.op("MatMul", p, w, transpose_a=False, transpose_b=True), "y")
    y = np.float64(x) @ (np.concatenate(parts) * np.float64(columns) * np.float64(rows)).T
    return case(name, net, {"x": x}, {"y": y}, about, LONG_SUMS)


def form_cases():
    for dtype in BITS:
        whole = dtype[0] in "iu"
        wide = "f16" if whole else "f32"
        yield matmul(f"matmul_{dtype}", f"MatMul by {dtype}, a scale for each row.", dtype=dtype,
                     zero=whole)
        yield matmul(f"matmul_{dtype}_groups",
                     f"MatMul by {dtype} in groups of 8, through {wide}.", dtype=dtype, group=8,
                     zero=dtype[0] == "u", wide=wide)
        yield gather(f"gather_{dtype}", f"Gather from {dtype}.", dtype=dtype, zero=whole)
        yield convolution(f"convolution_{dtype}", f"Filters in {dtype}.", dtype=dtype,
                          zero=whole, wide=wide)
        yield lstm(f"lstm_{dtype}", f"W and R in {dtype}.", dtype=dtype, wide=wide)
    for dtype in ("u8", "i8", "u4", "i4", "u2"):
        more = {"openvino": departures.GATHER_U2, "runs_openvino": False} if dtype == "u2" else {}
        yield gather_first(f"gather_first_{dtype}",
                           f"Rows of {dtype} are gathered before they are decompressed.", dtype,
                           **more)


def large_cases():
    """1 MB and more of f32: decompressed some rows at a time."""
    large = {"period": 997}
    summed = {"args": LONG_SUMS, **large}
    yield matmul("large_matmul_u4", "300 rows of 1024 in groups of 64 with zero points.",
                 (300, 1024), 2, dtype="u4", group=64, zero=True, wide="f16", **summed)
    yield matmul("large_matmul_u3", "Rows of u3 that end within a byte: 8 of them do not.",
                 (1009, 262), 2, dtype="u3", zero=True,
                 **summed)
    yield matmul("large_matmul_nf4", "Odd rows: every other one begins within a byte.",
                 (1003, 265), 2, dtype="nf4", **summed)
    yield matmul("large_matmul_columns", "[K,N]: 1003 rows, some k of all columns at a time.",
                 (1003, 272), 2, transposed=False, openvino=departures.SCALES_OF_ROWS, dtype="i4",
                 wide="f16", **summed)
    yield matmul("large_matmul_wide_rows", "9 rows, one of which is more than a slice.",
                 (9, 70001), 1, dtype="u1", zero=True,
                 args="--atol 2e-3 --rtol 1e-4", **large)
    yield concatenated("large_concat", "Two pieces of i8; scales [1,K], then [N,1].",
                       [(130, 520), (391, 520)], (1, 520))
    yield concatenated("large_concat_flat_scale", "… and scales [K], of a lower rank.",
                       [(391, 520), (130, 520)], (520, ))
    yield gather("large_gather_u2", "A table of 1025 rows of u2.", (1025, 260), dtype="u2",
                 zero=True, **large)
    yield lstm("large_lstm_i4", "R of H 260 in i4: the rows are those of the second dimension.",
               (260, 260), dtype="i4", group=20, **large)
    yield convolution("large_convolution_u6", "Filters in u6, reshaped from a matrix.",
                      (130, 230, 3, 3), dtype="u6", zero=True, **summed)


def cases():
    yield from form_cases()
    yield from large_cases()
