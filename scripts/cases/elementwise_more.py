# Element-wise ops that no seed op needs: functions, activations with parameters, remainders,
# comparisons, logic.
# SPDX-License-Identifier: Apache-2.0
import math

import numpy as np

from . import departures
from .common import EXACT, F16, F64, Case, rng, uniform
from .net import Net, type_of

FLOAT = "--atol 2e-6 --rtol 5e-6"
erf = np.vectorize(math.erf)


def softplus(x):
    return np.logaddexp(0, x)


def hsigmoid(x):
    return np.clip(x + 3, 0, 6) / 6


def gelu_tanh(x):
    return 0.5 * x * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3)))


def half_away(x):
    return np.sign(x) * np.floor(np.abs(x) + 0.5)


# op -> (opset, range of the input, function, attributes)
FUNCTIONS = {
    "Acos": (1, (-1, 1), np.arccos, {}), "Acosh": (4, (1, 9), np.arccosh, {}),
    "Asin": (1, (-1, 1), np.arcsin, {}), "Asinh": (4, (-9, 9), np.arcsinh, {}),
    "Atan": (1, (-9, 9), np.arctan, {}), "Atanh": (4, (-0.9, 0.9), np.arctanh, {}),
    "Ceiling": (1, (-9, 9), np.ceil, {}), "Clamp": (1, (-9, 9), lambda x: np.clip(x, -2.5, 3), {
        "min": -2.5, "max": 3.0
    }), "Cos": (1, (-9, 9), np.cos, {}), "Cosh": (1, (-4, 4), np.cosh, {}),
    "Elu": (1, (-4, 4), lambda x: np.where(x > 0, x, 0.5 * np.expm1(x)), {
        "alpha": 0.5
    }), "Erf": (1, (-3, 3), erf, {}), "Exp": (1, (-4, 4), np.exp, {}),
    "Floor": (1, (-9, 9), np.floor, {}), "Gelu": (7, (-4, 4), lambda x: 0.5 * x *
                                                  (1 + erf(x / np.sqrt(2))), {
                                                      "approximation_mode": "ERF"
                                                  }), "HSigmoid": (5, (-5, 5), hsigmoid, {}),
    "HSwish": (4, (-5, 5), lambda x: x * hsigmoid(x), {}), "Log": (1, (0.01, 9), np.log, {}),
    "Mish": (4, (-5, 5), lambda x: x * np.tanh(softplus(x)),
             {}), "Negative": (1, (-9, 9), np.negative, {}), "Round": (5, (-9, 9), np.rint, {
                 "mode": "half_to_even"
             }), "Sign": (1, (-9, 9), np.sign, {}), "Sin": (1, (-9, 9), np.sin, {}),
    "Sinh": (1, (-4, 4), np.sinh, {}), "SoftPlus": (4, (-9, 9), softplus, {}),
    "SoftSign": (9, (-9, 9), lambda x: x /
                 (1 + np.abs(x)), {}), "Swish": (4, (-5, 5), lambda x: x / (1 + np.exp(-x)),
                                                 {}), "Tan": (1, (-1.4, 1.4), np.tan, {}),
}
EXACT_OPS = {"Ceiling", "Floor", "Negative", "Round", "Sign", "Clamp"}


def snake(op):
    return "".join("_" + c.lower() if c.isupper() and k and not op[k - 1].isupper() else c.lower()
                   for k, c in enumerate(op))


def case(family, name, op, x, want, about, args=FLOAT, v=1, attrs=None, others=(), openvino="",
         **more):
    """others: further inputs, as Consts."""
    net = Net(name)
    ports = [net.param("x", type_of(x), list(x.shape))] + [net.const(o) for o in others]
    net.result(net.op(op, *ports, v=v, data=attrs), "y")
    return Case(family, name, net, {"x": x}, {"y": np.asarray(want)}, about, args, openvino, **more)


def function_cases():
    for op, (v, (low, high), function, attrs) in FUNCTIONS.items():
        family = snake(op)
        x = uniform(rng(op), (2, 3, 7), low, high)
        args = EXACT if op in EXACT_OPS else FLOAT
        yield case(family, "f32", op, x, np.float32(function(np.float64(x))),
                   f"{op} of 42 numbers.", args, v, attrs)
        wide = np.float64(uniform(rng(op, 64), (9,), low, high, np.float64))
        yield case(family, "f64", op, wide, function(wide), f"{op} in f64.", F64, v, attrs,
                   confirm_tolerance=(2e-6, 1e-5))
        half = uniform(rng(op, 16), (17,), low, high).astype(np.float16)
        half = np.clip(half, np.float16(low), np.float16(high))
        yield case(family, "f16", op, half,
                   function(np.float64(half)).astype(np.float16), f"{op} of f16.",
                   EXACT if op in EXACT_OPS else F16, v, attrs)


def integer_cases():
    x = np.array([-7, -1, 0, 1, 5, 100], np.int32)
    for op, function in (("Sign", np.sign), ("Negative", np.negative), ("Ceiling", np.array),
                         ("Floor", np.array)):
        yield case(snake(op), "i32", op, x, function(x), f"{op} of integers.", EXACT)
    yield case("clamp", "i32", "Clamp", x, np.clip(
        x, -2, 3), "Bounds with a fraction are rounded inwards: -2.5 to -2, 3.9 to 3.", EXACT,
               attrs={"min": -2.5, "max": 3.9})
    yield case("clamp", "equal_bounds", "Clamp", np.float32([-1, 2, 9]), np.float32([2, 2, 2]),
               "min equals max.", EXACT, attrs={"min": 2.0, "max": 2.0})


def special_cases():
    nan, inf = np.float32(np.nan), np.float32(np.inf)
    x = np.float32([np.nan, inf, -inf, 0.0, -0.0, 1.5])
    for op, want in (("Clamp", [nan, 3, -2.5, 0, 0, 1.5]), ("Sign", [
            nan, 1, -1, 0, 0, 1
    ]), ("ReLU", [nan, inf, 0, 0, 0, 1.5]), ("Floor", [nan, inf, -inf, 0, 0, 1]), ("Exp", [
            nan, inf, 0, 1, 1, np.exp(1.5)
    ]), ("Log", [nan, inf, nan, -inf, -inf, np.log(1.5)]), ("Tanh", [
            nan, 1, -1, 0, 0, np.tanh(1.5)
    ]), ("Sigmoid", [nan, 1, 0, 0.5, 0.5, 1 / (1 + np.exp(-1.5))])):
        family = "elementwise" if op in ("ReLU", "Tanh", "Sigmoid") else snake(op)
        name = f"{op.lower()}_special" if family == "elementwise" else "special"
        yield case(
            family, name, op, x, np.float32(want), "NaN, infinities and both zeros.",
            attrs=FUNCTIONS.get(op, (0, 0, 0, {}))[3], openvino={
                "Clamp": departures.NAN_CUT, "ReLU": departures.NAN_CUT, "Exp": departures.EXP_NAN
            }.get(op, ""))
    x = np.float32([-2.5, -1.5, -0.5, 0.5, 1.5, 2.5, 0.49999997, 8388609])
    yield case("round", "half_to_even", "Round", x, np.rint(x), "Halves go to the even neighbour.",
               EXACT, 5, {"mode": "half_to_even"})
    yield case("round", "half_away", "Round", x[:6], half_away(x[:6]), "Halves go away from zero.",
               EXACT, 5, {"mode": "half_away_from_zero"})
    yield case("round", "half_away_just_below", "Round", x,
               np.float32([-3, -2, -1, 1, 2, 3, 0,
                           8388609]), "The number just below a half goes to 0.", EXACT, 5,
               {"mode": "half_away_from_zero"}, openvino=departures.JUST_BELOW)
    a, b = np.float32([np.nan, 1, 2, -0.0]), np.float32([1, np.nan, 3, 0.0])
    for op, want in (("Maximum", [nan, 1, 3, 0]), ("Minimum", [nan, 1, 2, 0])):
        yield binary_case(
            "elementwise", f"{op.lower()}_nan", op, a, b, np.float32(want),
            "A NaN in the first operand stays, one "
            "in the second does not count, as in the reference code.", EXACT,
            openvino=departures.NAN_SECOND)
    yield binary_case("greater_equal", "nan", "GreaterEqual", a, b, np.array(
        [0, 0, 0, 1], np.bool_), "A comparison with NaN is false.", EXACT,
                      openvino=departures.NAN_GREATER)
    x = np.float32([-2, -6, -8, -10, -12, -15, -16, -20, -30, -60])
    net = Net("below_zero")
    port = net.op("SoftPlus", net.param("x", "f32", [10]), v=4)
    net.result(net.op("Multiply", port, net.const(np.float32(1e6)), auto_broadcast="numpy"), "y")
    want = 1e6 * softplus(np.float64(x))
    yield Case("soft_plus", "below_zero", net, {"x": x}, {"y": np.float32(want)},
               "A million times SoftPlus: e^x is small beside 1, and the sum has few of its digits.",
               "--atol 0 --rtol 1e-6", departures.SOFT_PLUS)


def parameter_cases():
    x = uniform(rng("parameters"), (2, 3, 4), -3, 3)
    wide = np.float64(x)
    slope = np.float32([0.1, -0.5, 2])
    want = np.where(wide < 0, wide * slope[:, None], wide)
    yield case("prelu", "per_channel", "PReLU", x, np.float32(want),
               "A slope for each channel of axis 1.", others=[slope])
    yield case("prelu", "one_slope", "PReLU", x,
               np.float32(np.where(wide < 0, wide * np.float32(0.3), wide)), "One slope for all.",
               others=[np.float32([0.3])])
    full = uniform(rng("prelu"), (1, 3, 4))
    yield case("prelu", "full_slope", "PReLU", x, np.float32(np.where(wide < 0, wide * full, wide)),
               "A slope for each element, broadcast over axis 0.", others=[full])
    a, l = np.float32(1.6), np.float32(1.05)
    yield case("selu", "f32", "Selu", x, np.float32(
        l * np.where(wide > 0, wide, a * np.expm1(wide))), "Selu.", others=[a, l])
    yield case("selu", "vectors", "Selu", x,
               np.float32(np.float32(0.5) * np.where(wide > 0, wide, 2 * np.expm1(wide))),
               "alpha and lambda of shape [1].", others=[np.float32([2]),
                                                         np.float32([0.5])])
    half = x.astype(np.float16)
    yield case("selu", "f16", "Selu", half,
               (1.5 * np.where(half > 0, np.float64(half), 2 * np.expm1(np.float64(half)))).astype(
                   np.float16), "Selu of f16.", F16, others=[np.float16(2),
                                                             np.float16(1.5)])
    for name, alpha, beta in (("f32", 0.2, 0.5), ("steep", 1.5, -0.25), ("flat", 0.0, 0.75)):
        want = np.clip(np.float64(np.float32(alpha)) * wide + np.float32(beta), 0, 1)
        yield case("hard_sigmoid", name, "HardSigmoid", x, np.float32(want),
                   f"alpha {alpha}, beta {beta}.", others=[np.float32(alpha),
                                                           np.float32(beta)],
                   openvino="" if alpha else departures.FLAT_HARD_SIGMOID)
    for name, beta in (("beta_2", 2.0), ("beta_negative", -0.5)):
        yield case("swish", name, "Swish", x, np.float32(wide / (1 + np.exp(-beta * wide))),
                   f"beta {beta}.", v=4, others=[np.float32(beta)])
    net = Net("chain")
    port = net.op("Negative", net.param("x", "f32", list(x.shape)))
    for op, v, parameters in (("Elu", 1, []), ("Selu", 1, [1.5, 0.5]),
                              ("HardSigmoid", 1, [0.25, 0.5]), ("Swish", 4, [2.0])):
        others = [net.const(np.float32(p)) for p in parameters]
        port = net.op(op, port, *others, v=v, data={"alpha": 0.75} if op == "Elu" else None)
    net.result(net.op("Abs", port), "y")
    want = np.where(wide < 0, -wide, 0.75 * np.expm1(-wide))
    want = 0.5 * np.where(want > 0, want, 1.5 * np.expm1(want))
    want = np.clip(0.25 * want + 0.5, 0, 1)
    yield Case("hard_sigmoid", "in_a_chain", net, {"x": x},
               {"y": np.float32(want / (1 + np.exp(-2 * want)))},
               "Functions with parameters, joined to one step.", FLOAT)
    yield case("gelu", "v7_tanh", "Gelu", x, np.float32(gelu_tanh(wide)), "Gelu-7, tanh.", v=7,
               attrs={"approximation_mode": "tanh"})
    for name, v in (("v2", 2), ("v7_default", 7)):
        yield case("gelu", name, "Gelu", x, np.float32(0.5 * wide * (1 + erf(wide / np.sqrt(2)))),
                   f"Gelu of opset{v} without "
                   "attributes.", v=v)
    deep = np.float64(uniform(rng("gelu 2"), (9,), -4, 4, np.float64))
    yield case("gelu", "v2_f64", "Gelu", deep, 0.5 * deep * (1 + erf(deep / np.sqrt(2))),
               "Gelu-2 in f64.", F64, v=2, confirm_tolerance=(2e-6, 1e-5))
    yield case("gelu", "v2_f16", "Gelu", half, (0.5 * np.float64(half) * (1 + erf(
        np.float64(half) / np.sqrt(2)))).astype(np.float16), "Gelu-2 of f16.", F16, v=2)
    yield case("elu", "alpha_1", "Elu", x, np.float32(np.where(wide > 0, wide, np.expm1(wide))),
               "alpha 1.", attrs={"alpha": 1.0})


def binary_case(family, name, op, a, b, want, about, args=FLOAT, openvino="", attrs=None, **more):
    net = Net(name)
    p, q = net.param("a", type_of(a), list(a.shape)), net.param("b", type_of(b), list(b.shape))
    net.result(net.op(op, p, q, data={"auto_broadcast": "numpy"} if attrs is None else attrs), "y")
    return Case(family, name, net, {"a": a, "b": b}, {"y": np.asarray(want)}, about, args, openvino,
                **more)


def power_cases():
    g = rng("power")
    a, b = uniform(g, (2, 1, 5), 0.1, 4), uniform(g, (3, 1), -3, 3)
    yield binary_case("elementwise", "power_broadcast", "Power", a, b,
                      np.float32(np.float64(a)**np.float64(b)), "Both operands are broadcast.")
    yield binary_case("elementwise", "power_f64", "Power", np.float64(a), np.float64(b),
                      np.float64(a)**np.float64(b), "Power in f64.", F64,
                      confirm_tolerance=(2e-6, 1e-4))
    i, j = np.array([[2, -3, 5]], np.int32), np.array([[3], [2], [0]], np.int32)
    yield binary_case("elementwise", "power_i32", "Power", i, j, i**j, "Power of integers.", EXACT)


def comparison_cases():
    g = rng("comparisons")
    a, b = np.round(uniform(g, (2, 3, 5), -2, 2)), np.round(uniform(g, (3, 1), -2, 2))
    for op, function in (("GreaterEqual", np.greater_equal), ("LessEqual", np.less_equal),
                         ("NotEqual", np.not_equal)):
        yield binary_case(snake(op), "f32", op, a, b, function(a, b), f"{op} of [2,3,5] and [3,1].",
                          EXACT)
        yield binary_case(snake(op), "i32", op, a.astype(np.int32), b.astype(np.int32),
                          function(a, b), f"{op} of i32.", EXACT)
        u = np.array([0, 5, 255], np.uint8)
        yield binary_case(snake(op), "u8", op, u, u[::-1].copy(), function(u, u[::-1]),
                          f"{op} of u8.", EXACT)
        yield binary_case(snake(op), "f64_close", op, np.array([1.0, 1 + 2.0**-40]),
                          np.array([1 + 2.0**-40, 1.0]),
                          function(np.array([1.0, 1 + 2.0**-40]), np.array([1 + 2.0**-40, 1.0])),
                          f"{op} of f64 that differ beyond f32.", EXACT, departures.NARROW)


def logic_cases():
    g = rng("logic")
    a, b = g.integers(0, 2, (2, 3, 5)) > 0, g.integers(0, 2, (3, 1)) > 0
    for op, function in (("LogicalAnd", np.logical_and), ("LogicalOr", np.logical_or),
                         ("LogicalXor", np.logical_xor)):
        yield binary_case(snake(op), "broadcast", op, a, b, function(a, b),
                          f"{op} of [2,3,5] and [3,1].", EXACT)
        yield binary_case(snake(op), "same_shape", op, b, ~b, function(b, ~b),
                          f"{op} without broadcast.", EXACT, attrs={"auto_broadcast": "none"})
        yield binary_case(snake(op), "scalars", op, np.array(True), np.array(False),
                          function(True, False), f"{op} of scalars.", EXACT)
    for name, x in (("rank_3", a), ("scalar", np.array(False)), ("one_row", b[:, 0])):
        yield case("logical_not", name, "LogicalNot", x, ~x, "LogicalNot.", EXACT)


def remainder_cases():
    a, b = np.array([7, -7, 7, -7, 6, 0], np.int32), np.array([3, 3, -3, -3, 3, 5], np.int32)
    x, y = np.float32([7.5, -7.5, 7.5, -7.5, 6]), np.float32([2, 2, -2, -2, 3])
    for op, function in (("FloorMod", np.mod), ("Mod", np.fmod)):
        yield binary_case(
            snake(op), "i32", op, a, b, function(a, b), f"{op}: the sign is that of the "
            f"{'divisor' if op == 'FloorMod' else 'dividend'}.", EXACT)
        yield binary_case(snake(op), "f32", op, x, y, function(x, y), f"{op} of f32.", EXACT)
        yield binary_case(
            snake(op), "broadcast", op,
            np.arange(12, dtype=np.int32).reshape(3, 4) - 5, np.array([[2], [-3], [4]], np.int32),
            function(np.arange(12).reshape(3, 4) - 5, [[2], [-3], [4]]).astype(np.int32),
            "Broadcast.", EXACT)
        big = np.array([2**40 + 1, -2**40 - 1])
        yield binary_case(snake(op), "i64", op, big, np.array([1000, 1000]), function(big, 1000),
                          f"{op} beyond 32 bits.", EXACT, departures.NARROW)
    g = rng("squared")
    x, y = uniform(g, (2, 3, 4)), uniform(g, (3, 1))
    yield binary_case("squared_difference", "f32", "SquaredDifference", x, y,
                      np.float32((np.float64(x) - y)**2), "Broadcast.")
    yield binary_case("squared_difference", "i32", "SquaredDifference", a, b, (a - b)**2, "In i32.",
                      EXACT)
    yield binary_case("squared_difference", "scalars", "SquaredDifference", np.float32(3),
                      np.float32(-2), np.float32(25), "Of scalars.", EXACT)


def cases():
    for make in (function_cases, integer_cases, special_cases, parameter_cases, power_cases,
                 comparison_cases,
                 logic_cases, remainder_cases):
        yield from make()
