# Bitwise ops and shifts, IsFinite, IsInf, IsNaN, Identity, ConvertPromoteTypes.
# SPDX-License-Identifier: Apache-2.0
import numpy as np

from . import departures
from .net import TYPES
from .one_op import error, one_op

BINARY = {
    "and": ("BitwiseAnd", np.bitwise_and), "or": ("BitwiseOr", np.bitwise_or), "xor":
    ("BitwiseXor", np.bitwise_xor)
}
INTEGERS = ("i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64")


def bitwise_cases():
    numpy_broadcast = {"auto_broadcast": "numpy"}
    for short, (op, function) in BINARY.items():
        family = f"bitwise_{short}"
        a, b = np.array([[0b1100, -1, 77], [0, 5, -128]]), np.array([0b1010, 99, -3])
        for dtype in INTEGERS:
            x, y = a.astype(TYPES[dtype][1]), b.astype(TYPES[dtype][1])
            yield one_op(family, dtype, op, [x, y], function(x, y),
                         f"{op} of {dtype}, [2,3] and [3].", 13, attrs=numpy_broadcast)
        t, f = np.array([[True], [False]]), np.array([True, False])
        yield one_op(family, "boolean", op, [t, f], function(t, f), "Booleans: logic.", 13,
                     attrs=numpy_broadcast)
    for dtype in INTEGERS + ("boolean", ):
        x = np.array([0, 1, 5, 127, -1, -128]).astype(TYPES[dtype][1])
        yield one_op("bitwise_not", dtype, "BitwiseNot", [x], ~x, f"All bits of {dtype}.", 13)
    for name, op, function in (("left", "BitwiseLeftShift", np.left_shift),
                               ("right", "BitwiseRightShift", np.right_shift)):
        for dtype in ("i8", "i32", "i64", "u8", "u16"):
            x = np.array([1, 5, -7, 64, 100]).astype(TYPES[dtype][1])
            n = np.array([0, 1, 2, 3, 1]).astype(TYPES[dtype][1])
            yield one_op(f"bitwise_{name}_shift", dtype, op, [x, n], function(x, n),
                         f"{op} of {dtype}.", 15, attrs=numpy_broadcast)
        yield one_op(f"bitwise_{name}_shift", "broadcast", op,
                     [np.int32([[3], [-9]]), np.int32([1, 2, 5])],
                     function(np.int32([[3], [-9]]),
                              np.int32([1, 2, 5])), "[2,1] by [3].", 15, attrs=numpy_broadcast)
        x = np.int32([5, -5, 5])
        yield one_op(
            f"bitwise_{name}_shift", "all_out", op, [x, np.int32([31, 32, -1])],
            function(x, np.int32([31, 32, -1])),
            "By the width and more, or a negative number: undefined; all bits leave.",
            15, attrs=numpy_broadcast, openvino=departures.SHIFT_MODULO)


def class_cases():
    x = np.float32([[1, -2, np.inf], [-np.inf, np.nan, 0]])
    for dtype in (np.float32, np.float16):
        kind = "f32" if dtype == np.float32 else "f16"
        y = x.astype(dtype)
        yield one_op("is_finite", kind, "IsFinite", [y], np.isfinite(y), f"{kind}.", 10)
        yield one_op("is_nan", kind, "IsNaN", [y], np.isnan(y), f"{kind}.", 10)
        yield one_op("is_inf", kind, "IsInf", [y], np.isinf(y), f"{kind}.", 10,
                     attrs={"detect_negative": True, "detect_positive": True})
    yield one_op("is_finite", "dynamic", "IsFinite", [x], np.isfinite(x), "No dimension is known.",
                 10, dynamic=True)
    yield one_op("is_nan", "dynamic", "IsNaN", [x], np.isnan(x), "No dimension is known.", 10,
                 dynamic=True)
    yield one_op("is_inf", "positive", "IsInf", [x], np.isposinf(x), "Only plus infinity.", 10,
                 attrs={"detect_negative": False, "detect_positive": True})
    yield one_op("is_inf", "negative", "IsInf", [x], np.isneginf(x), "Only minus infinity.", 10,
                 attrs={"detect_negative": True, "detect_positive": False})
    yield one_op("is_inf", "neither", "IsInf", [x], np.zeros((2, 3), bool), "Neither.", 10,
                 attrs={"detect_negative": False, "detect_positive": False})
    yield one_op("is_inf", "defaults", "IsInf", [x], np.isinf(x), "Without attributes: both.", 10)
    for name, y in (("f32", x), ("i64", np.array([1,
                                                  2**40])), ("boolean", x
                                                             > 0), ("f16", x.astype(np.float16))):
        yield one_op("identity", name, "Identity", [y], y, f"{name}.", 16,
                     openvino=departures.NARROW if name == "i64" else "")


def promote(name, a, b, want, about, unsafe=False, scalar=False, target="f32", **more):
    dtype = TYPES[want][1]
    return one_op(
        "convert_promote_types", name, "ConvertPromoteTypes", [a, b],
        (a.astype(dtype), b.astype(dtype)), about, 14, attrs={
            "promote_unsafe": unsafe, "pytorch_scalar_promotion": scalar,
            "u64_integer_promotion_target": target
        }, dtype=[want, want], **more)


def promote_cases():
    def three(dtype):
        return np.array([1, 2, 3]).astype(TYPES[dtype][1])

    for a, b, want in (("i8", "f32", "f32"), ("i32", "u8", "i32"), ("boolean", "i32", "i32"),
                       ("f32", "f16", "f32"), ("i16", "i32", "i32"), ("u8", "i16", "i16"),
                       ("i8", "f16", "f16"), ("u8", "u16", "u16")):
        yield promote(f"{a}_{b}", three(a), three(b), want, f"{a} and {b} meet in {want}.")
    for a, b, want in (("i8", "u8", "i16"), ("u16", "i8", "i32"), ("i32", "f16", "f16"),
                       ("u64", "i8", "f32"), ("u32", "i32", "i64")):
        yield promote(f"unsafe_{a}_{b}", three(a), three(b), want,
                      f"promote_unsafe: {a} and {b} meet in {want}.", True)
    yield promote("scalar_i64_u8", np.int64(3), three("u8"), "u8",
                  "pytorch_scalar_promotion: the tensor's type.", True, True)
    yield promote("scalar_f32_i32", np.float32(3), three("i32"), "f32", "… but a float stays one.",
                  True, True)
    yield promote("u64_target_i64", three("u64"), three("i16"), "i64",
                  "u64_integer_promotion_target i64.", True, target="i64")
    for a, b in (("i8", "u8"), ("i32", "f32"), ("u64", "i8")):
        yield error(
            "convert_promote_types", f"refused_{a}_{b}", "ConvertPromoteTypes",
            [three(a), three(b)], ["ConvertPromoteTypes", a, b, "safe"],
            "Not safe, and promote_unsafe is false.", 14, 2, {
                "promote_unsafe": False, "pytorch_scalar_promotion": False,
                "u64_integer_promotion_target": "f32"
            })


def cases():
    for make in (bitwise_cases, class_cases, promote_cases):
        yield from make()
