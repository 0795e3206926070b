# Select-1: what it chooses, how its three operands broadcast, and that it moves bits.
# SPDX-License-Identifier: Apache-2.0
import numpy as np

from . import departures
from .common import EXACT, Case, rng
from .net import TYPES, Net, type_of

FAMILY = "select"


def build(name, cond, then, other, mode="numpy", axis=None, records=(), const=(), shapes=None):
    """A Select of three inputs; those named in const are Consts, those in records stacks."""
    net, ports, feed = Net(name), [], {}
    for key, value in (("cond", cond), ("then", then), ("else", other)):
        if key in const:
            ports.append(net.const(value))
            continue
        shape = (shapes or {}).get(key, list(value.shape[1:] if key in records else value.shape))
        ports.append(net.param(key, type_of(value), shape))
        feed[key] = value
    data = {} if mode is None else {"auto_broadcast": mode}
    if axis is not None:
        data["auto_broadcast.auto_broadcast_axis"] = axis
    net.result(net.op("Select", *ports, data=data), "y")
    return net, feed


def case(name, cond, then, other, want, about, openvino="", bits=False, **more):
    net, feed = build(name, cond, then, other, **more)
    return Case(FAMILY, name, net, feed, {"y": np.asarray(want)}, about, EXACT, openvino, bits=bits)


def numbers(shape, dtype=np.float32, start=1):
    return np.arange(start, start + int(np.prod(shape, dtype=int))).reshape(shape).astype(dtype)


def coins(g, shape):
    return g.integers(0, 2, shape).astype(np.bool_)


def spec_cases():
    cond = np.array([[0, 0], [1, 0], [1, 1]], np.bool_)
    then = np.array([[-1, 0], [1, 2], [3, 4]], np.int32)
    other = np.array([[11, 10], [9, 8], [7, 6]], np.int32)
    yield case("spec_worked_example", cond, then, other,
               np.array([[11, 10], [1, 8], [3, 4]], np.int32),
               "The worked example of the Select page.")


def broadcast_cases():
    g = rng(FAMILY, "broadcast")
    forms = {
        "numpy_same_shape": ((2, 3, 4), (2, 3, 4), (2, 3, 4)),
        "numpy_cond_row": ((4,), (2, 3, 4), (2, 3, 4)), "numpy_cond_column": ((3, 1), (2, 3, 4),
                                                                              (2, 3, 4)),
        "numpy_cond_scalar": ((), (2, 5), (2, 5)), "numpy_cond_wider": ((2, 3), (3,), (3,)),
        "numpy_then_scalar": ((5, 7), (), (5, 7)), "numpy_both_scalars": ((3, 9), (), ()),
        "numpy_else_row": ((4, 6), (4, 6), (6,)), "numpy_all_three": ((4, 1, 1), (3, 1), (5,)),
        "numpy_crossed": ((1, 3, 1, 2), (2, 1, 4, 1),
                          (2, 3, 1, 1)), "numpy_ranks_5": ((2, 1, 2, 1, 3), (1, 3, 2, 2, 1), (1,)),
        "numpy_all_0d": ((), (), ()), "numpy_ones_only": ((1, 1, 1), (1,), (1, 1)),
    }
    for name, (c, t, e) in forms.items():
        cond, then, other = coins(g, c), numbers(t), -numbers(e)
        yield case(name, cond, then, other, np.where(cond, then, other),
                   f"numpy broadcast of {list(c)}, {list(t)} and {list(e)}.")
    cond = coins(g, (3, 4))
    then, other = numbers((3, 4)), -numbers((3, 4))
    yield case("none_same_shape", cond, then, other, np.where(cond, then, other),
               "No broadcast at all.", mode="none")
    yield case("explicit_means_none", cond, then, other, np.where(cond, then, other),
               "auto_broadcast=explicit is another word for none.", mode="explicit")
    yield case("default_is_numpy", cond[0], then, other, np.where(cond[0], then, other),
               "Without the attribute: numpy.", mode=None)
    yield case("none_0d", np.array(True), then[0, 0], other[0, 0], then[0, 0],
               "Three scalars under none.", mode="none")
    yield case("word_in_capitals", cond[0], then, other, np.where(cond[0], then, other),
               "The word of auto_broadcast counts in any case of letters.", mode="NUMPY")


def pdpd_cases():
    g = rng(FAMILY, "pdpd")
    cond, then = coins(g, (2, 4)), numbers((2, 4))
    other = numbers((4,), start=11)
    yield case("pdpd_last_axis", cond, then, other, np.where(cond, then, other),
               "pdpd with axis -1: else goes under the last axes.", mode="pdpd", axis=-1)
    then, other = numbers((2, 3, 4)), -numbers((3,))
    cond = coins(g, (3,))
    want = np.where(cond[:, None], then, other[:, None])
    why = departures.PDPD
    yield case("pdpd_axis_1", cond, then, other, want,
               "pdpd with axis 1: else and cond go to the middle axis.", why, mode="pdpd", axis=1)
    other, cond = -numbers((2, 3)), coins(g, (2, 1))
    want = np.where(cond[:, :, None], then, other[:, :, None])
    yield case("pdpd_axis_0", cond, then, other, want, "pdpd with axis 0: ones are appended.", why,
               mode="pdpd", axis=0)
    yield case("pdpd_axis_absent", cond, then, other, want,
               "pdpd without an axis: it is 0, not -1.", why, mode="pdpd")
    other, cond = -numbers((3, 1)), coins(g, (3, 4))
    want = np.where(cond, then, np.broadcast_to(other.reshape(1, 3, 1), (2, 3, 4)))
    yield case("pdpd_trailing_one", cond, then, other, want,
               "pdpd: trailing ones of else are cut before it is placed.", why, mode="pdpd", axis=1)


def type_cases():
    g = rng(FAMILY, "types")
    for dtype in ("f16", "f64", "i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64", "boolean"):
        numpy_type = TYPES[dtype][1]
        bits = np.dtype(numpy_type).itemsize * 8
        raw = g.integers(0, 256, (2, 17 * bits // 8)).astype(np.uint8)
        if dtype == "boolean":
            then, other = raw[0] > 99, raw[1] > 200
        elif dtype[0] == "f":
            then = (raw[0, :17].astype(numpy_type) - 99) * numpy_type(2.0**-7 if bits == 16 else 1 /
                                                                      3)
            other = -then[::-1].copy()
        else:
            then, other = (r.view(numpy_type) for r in raw)
        cond = coins(g, (17,))
        why = departures.SELECT_BITS if dtype in ("f64", "i64", "u64") else ""
        yield case(f"type_{dtype}", cond, then, other, np.where(cond, then, other),
                   f"17 elements of {dtype}, moved whole.", why)


def bits_cases():
    special = np.array([0x7FC00001, 0xFFC12345, 0x7F800000, 0x80000000, 0x00000001, 0x7F800001],
                       np.uint32)
    then = np.concatenate([special, special[::-1]]).view(np.float32)
    other = np.concatenate([special[::-1], special ^ np.uint32(1 << 31)]).view(np.float32)
    cond = np.array([1, 0, 1, 0, 0, 1] * 2, np.bool_)
    want = np.where(cond, then.view(np.uint32), other.view(np.uint32)).view(np.float32)
    yield case(
        "nan_payloads_f32", cond, then, other, want,
        "NaN payloads, infinities, -0 and denormals come out bit for bit; nothing leaks.",
        bits=True)
    double = [0x7FF8000000000001, 0xFFF8123456789ABC, 0x7FF << 52, 1 << 63, 1, 0x7FF0000000000001]
    half = [0x7E01, 0xFE12, 0x7C00, 0x8000, 0x0001, 0x7C01]
    for dtype, word, values in ((np.float64, np.uint64, double), (np.float16, np.uint16, half)):
        words = np.array(values, word)
        a, b = words.view(dtype), words[::-1].copy().view(dtype)
        c = cond[:6]
        want = np.where(c, words, words[::-1]).view(dtype)
        name = {8: "f64", 2: "f16"}[np.dtype(dtype).itemsize]
        why = departures.SELECT_BITS if name == "f64" else ""
        yield case(f"nan_payloads_{name}", c, a, b, want,
                   f"NaN payloads of {name}, signalling ones too.", why, bits=True)


def empty_and_const_cases():
    g = rng(FAMILY, "empty")
    none = np.zeros((0, 3), np.float32)
    yield case("zero_dim", np.zeros((0, 3), np.bool_), none, none, none,
               "All three operands are empty.")
    yield case("zero_dim_broadcast", np.zeros((1, 3), np.bool_), none,
               np.float32([1.0]).reshape(1, 1), none, "A 1 beside a 0 gives 0.")
    cond = coins(g, (2, 6))
    x = numbers((2, 6))
    yield case("causal_mask", cond, np.float32(0), np.float32(-np.inf),
               np.where(cond, np.float32(0), -np.inf).astype(
                   np.float32), "Two 0-D Const branches, as in a causal mask.",
               const=("then", "else"))
    yield case("const_cond", cond, x, -x, np.where(cond, x, -x), "The condition is a Const.",
               const=("cond",))
    yield case("all_const_but_then", cond, x, -x, np.where(cond, x, -x), "Two Consts, one input.",
               const=("cond", "else"))
    conds, xs = coins(g, (5, 2, 3)), numbers((5, 2, 3))
    yield case("stack_of_records", conds, xs, -numbers((2, 3)), np.where(
        conds, xs, -numbers((2, 3))), "Five records beside a single one, which is repeated.",
               records=("cond", "then"))
    raw = np.array([0, 1, 2, 127, 128, 255, 64, 0], np.uint8)
    net = Net("const_cond_any_byte")
    cond = net.const(raw.tobytes(), "boolean", [8])
    a, b = net.param("then", "f32", [8]), net.param("else", "f32", [8])
    net.result(net.op("Select", cond, a, b, auto_broadcast="numpy"), "y")
    feed = {"then": numbers(8), "else": -numbers(8)}
    yield Case(FAMILY, net.name, net, feed, {"y": np.where(raw, feed["then"], feed["else"])},
               "Any byte but 0 is true.", EXACT, departures.BYTES)
    n = 1025
    cond, x = coins(g, n), numbers(n)
    yield case("long_row", cond, x, -x, np.where(cond, x, -x),
               "1025 elements: whole vectors and a rest of one.")
    yield case("same_input_thrice", cond[:9], x[:9], x[:9], x[:9], "Both branches are equal.")


def chain_cases():
    x = numbers((3, 5)) - 8
    net = Net("nested_three_ways")
    a = net.param("x", "f32", [3, 5])
    low = net.op("Less", a, net.const(np.float32(-2)), auto_broadcast="numpy")
    high = net.op("Greater", a, net.const(np.float32(3)), auto_broadcast="numpy")
    inner = net.op("Select", high, net.const(np.float32(3)), a, auto_broadcast="numpy")
    net.result(net.op("Select", low, net.const(np.float32(-2)), inner, auto_broadcast="numpy"), "y")
    yield Case(FAMILY, net.name, net, {"x": x}, {"y": np.clip(x, -2, 3)},
               "A clamp made of two Selects.", EXACT)
    net = Net("boolean_branches")
    c, p, q = (net.param(n, "boolean", [2, 4]) for n in ("cond", "p", "q"))
    net.result(net.op("Select", c, p, q, auto_broadcast="numpy"), "y")
    g = rng(FAMILY, "boolean")
    feed = {n: coins(g, (2, 4)) for n in ("cond", "p", "q")}
    yield Case(FAMILY, net.name, net, feed, {"y": np.where(feed["cond"], feed["p"], feed["q"])},
               "Select of booleans.", EXACT)


def cases():
    for make in (spec_cases, broadcast_cases, pdpd_cases, type_cases, bits_cases,
                 empty_and_const_cases, chain_cases):
        yield from make()
