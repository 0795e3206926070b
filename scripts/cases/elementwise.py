# Element-wise ops: one operand and two, broadcast, types.
# SPDX-License-Identifier: Apache-2.0
import numpy as np

from . import departures
from .common import EXACT, F64, Case, rng, uniform
from .net import TYPES, Net, type_of

FAMILY = "elementwise"
FLOAT = "--atol 1e-6 --rtol 2e-6"


def power(a, b):
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.power(a, b)


BINARY = {
    "Add": np.add, "Subtract": np.subtract, "Multiply": np.multiply, "Divide": np.divide,
    "Maximum": np.maximum, "Minimum": np.minimum, "Power": power, "Greater": np.greater,
    "Less": np.less, "Equal": np.equal,
}
UNARY = {
    "Tanh": np.tanh, "Exp": np.exp, "Sqrt": np.sqrt, "Abs": np.abs, "Sigmoid": lambda x: 1 /
    (1 + np.exp(-x)), "ReLU": lambda x: np.maximum(x, 0),
}


def binary_net(name, op, a, b, attrs=None, const_b=False):
    net = Net(name)
    p = net.param("a", type_of(a), list(a.shape))
    q = net.const(b) if const_b else net.param("b", type_of(b), list(b.shape))
    net.result(net.op(op, p, q, data={"auto_broadcast": "numpy"} if attrs is None else attrs), "y")
    return net


def binary_case(name, op, a, b, about, args=EXACT, openvino="", attrs=None, want=None,
                const_b=False, **more):
    net = binary_net(name, op, a, b, attrs, const_b)
    if want is None:
        wide = a.dtype.kind == "f" and a.dtype != np.float64
        with np.errstate(over="ignore"):
            want = BINARY[op](np.float64(a) if wide else a, np.float64(b) if wide else b)
        want = want if want.dtype == np.bool_ else want.astype(a.dtype)
    feed = {"a": a} if const_b else {"a": a, "b": b}
    return Case(FAMILY, name, net, feed, {"y": np.asarray(want)}, about, args, openvino, **more)


def binary_cases():
    for op in BINARY:
        g = rng(FAMILY, op)
        a, b = uniform(g, (2, 3, 5), -4, 4), uniform(g, (3, 1), -4, 4)
        if op == "Power":
            a, b = np.abs(a) + np.float32(0.1), b / 2
        if op == "Equal":
            a, b = np.round(a), np.round(b)
        args = FLOAT if op in ("Power", "Divide") else EXACT
        yield binary_case(f"{op.lower()}_f32", op, a, b, f"{op} of [2,3,5] and [3,1].", args)
        yield binary_case(f"{op.lower()}_const_scalar", op, a, np.float32(1.5),
                          f"{op} with a 0-D Const.", args, const_b=True)
    g = rng(FAMILY, "forms")
    a, b = uniform(g, (4, 1, 3)), uniform(g, (5, 1))
    yield binary_case("add_both_broadcast", "Add", a, b, "[4,1,3] + [5,1] = [4,5,3].")
    yield binary_case("add_default_broadcast", "Add", a, b, "Without auto_broadcast: numpy.",
                      attrs={})
    yield binary_case("add_none", "Add", a, a, "auto_broadcast none.",
                      attrs={"auto_broadcast": "none"})
    yield pdpd_case()
    yield binary_case("add_scalars", "Add", np.float32(1.25), np.float32(2), "0-D plus 0-D.")
    yield binary_case("add_empty", "Add", np.zeros((0, 3), np.float32), np.ones(3, np.float32),
                      "An empty operand.")
    yield binary_case("add_long", "Add", uniform(g, 1025), uniform(g, 1025), "1025 elements.")


def pdpd_case():
    g = rng(FAMILY, "pdpd")
    a, b = uniform(g, (2, 3, 4)), uniform(g, (3,))
    return binary_case("add_pdpd", "Add", a, b, "pdpd, axis 1.", want=a + b[:, None],
                       attrs={"auto_broadcast": "pdpd", "auto_broadcast.auto_broadcast_axis": 1})


def type_cases():
    for dtype in ("f16", "f64", "i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64"):
        numpy_type = TYPES[dtype][1]
        a, b = np.array([7, 100, 3, 9], numpy_type), np.array([5, 20, 2, 9], numpy_type)
        narrow = dtype in ("i64", "u64", "u32")
        for op in ("Add", "Subtract", "Multiply", "Maximum", "Minimum"):
            if op in ("Subtract", "Maximum") and dtype not in ("f16", "f64", "u8", "i64"):
                continue
            x = a if op != "Multiply" or dtype not in ("i8", "u8") else np.array([7, 10, 3, 9],
                                                                                 numpy_type)
            y = b if op != "Multiply" or dtype not in ("i8", "u8") else np.array([5, 12, 2, 9],
                                                                                 numpy_type)
            yield binary_case(f"{op.lower()}_{dtype}", op, x, y, f"{op} in {dtype}.")
        if narrow:
            big = np.array([np.iinfo(numpy_type).max - 3, 2**31 + 5, 7, 1], numpy_type)
            yield binary_case(f"add_{dtype}_big", "Add", big, b,
                              f"Add in {dtype} beyond 31 bits, wrapping.",
                              openvino=departures.NARROW if dtype != "u32" else "")
    g = rng(FAMILY, "f64")
    a = g.uniform(-2, 2, 9)
    yield binary_case("add_f64_digits", "Add", a, a[::-1] / 3, "f64 keeps its digits.", EXACT,
                      departures.NARROW)
    for dtype in ("i8", "u8", "i16", "u16", "i32"):
        info = np.iinfo(TYPES[dtype][1])
        a = np.array([info.max, info.min, info.max], TYPES[dtype][1])
        b = np.array([1, 1, info.max], TYPES[dtype][1])
        saturates = departures.SATURATES if info.bits == 8 else ""
        with np.errstate(over="ignore"):
            yield binary_case(f"add_{dtype}_wraps", "Add", a, b, f"Add in {dtype} wraps around.",
                              openvino=saturates)
    a, b = np.array([7, -7, 7, -7, 8], np.int32), np.array([2, 2, -2, -2, -4], np.int32)
    yield binary_case("divide_i32_floor", "Divide", a, b,
                      "Integers are divided downwards by default.", want=a // b,
                      openvino=departures.TRUNCATES)
    yield binary_case("divide_i32_python_false", "Divide", a, b, "m_pythondiv=false truncates.",
                      want=np.trunc(a / b).astype(np.int32), attrs={"m_pythondiv": "false"})
    a, b = np.array([16777216, 2**30 + 1, 5], np.int32), np.array([16777217, 2**30, 5], np.int32)
    yield binary_case("equal_i32_exact", "Equal", a, b, "i32 are compared in i32.",
                      openvino=departures.COMPARES_F32)
    yield binary_case("greater_i64", "Greater", np.array([2**40, -1, 3]), np.array([1, 0, 3]),
                      "i64 beyond 32 bits.", openvino=departures.NARROW)
    t = np.array([True, False, True])
    yield binary_case("equal_boolean", "Equal", t, ~t | np.array([True, False, False]),
                      "Equal of booleans.")
    half = (np.arange(8, dtype=np.float16) - 3) / np.float16(8)
    yield binary_case("multiply_f16_rounds_once", "Multiply", half, half[::-1].copy(),
                      "Products of f16.")


def nan_cases():
    n = np.float32(np.nan)
    a = np.array([n, 1, n, np.inf, -np.inf, 0], np.float32)
    b = np.array([1, n, n, np.inf, 1, -0.0], np.float32)
    yield binary_case("less_nan", "Less", a, b, "A comparison with NaN is false.")
    yield binary_case("equal_nan", "Equal", a, b, "NaN equals nothing, 0 equals -0.")
    yield binary_case("greater_nan", "Greater", a, b, "A comparison with NaN is false.",
                      openvino=departures.NAN_GREATER)
    yield binary_case("add_special", "Add", a, b, "NaN and infinities.")
    yield binary_case("divide_by_zero_f32", "Divide", np.float32([1, -1, 4]),
                      np.float32([0, 0, -0.0]), "x/0 is infinite.", want=np.float32(
                          [np.inf, -np.inf, -np.inf]))


def unary_case(name, op, x, about, args=FLOAT, openvino="", **more):
    net = Net(name)
    net.result(net.op(op, net.param("x", type_of(x), list(x.shape))), "y")
    want = UNARY[op](np.float64(x) if x.dtype.kind == "f" else x).astype(x.dtype)
    return Case(FAMILY, name, net, {"x": x}, {"y": want}, about, args, openvino, **more)


def unary_cases():
    for op in UNARY:
        x = uniform(rng(FAMILY, op), (3, 11), -6, 6)
        if op == "Sqrt":
            x = np.abs(x)
        yield unary_case(f"{op.lower()}_f32", op, x, f"{op}.")
        yield unary_case(f"{op.lower()}_f64", op,
                         x.astype(np.float64) / 3, f"{op} in f64.", F64,
                         confirm_tolerance=(1e-6, 1e-5))
    big = np.float32([-1e4, -90, -20, -1e-8, 0, 1e-8, 20, 90, 1e4])
    for op in ("Tanh", "Sigmoid"):
        with np.errstate(over="ignore"):
            yield unary_case(f"{op.lower()}_far", op, big, f"{op} far out and near 0.")
    yield unary_case("abs_i32", "Abs", np.array([-5, 0, 7], np.int32), "Abs of integers.", EXACT)
    yield unary_case("relu_i32", "ReLU", np.array([-5, 0, 7], np.int32), "ReLU of integers.", EXACT)


def cases():
    for make in (binary_cases, type_cases, nan_cases, unary_cases):
        yield from make()
