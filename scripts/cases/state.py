# ReadValue and Assign: where the first value comes from, what a reset does, types, several
# variables.
# SPDX-License-Identifier: Apache-2.0
import numpy as np

from . import departures
from .common import EXACT, Case, rng, uniform
from .net import TYPES, Net

FAMILY = "read_value_assign"
RUN_TIME_TYPES = {"f64", "i16", "u16", "u32", "i64", "u64"}  # variables that OpenVINO's CPU refuses


def run(step, records, init, resets=()):
    """step(state, record) -> (state, outputs); init: record -> state. resets: indices of iterations
    that start from init. Returns the stacked outputs."""
    state, out = None, []
    for k, record in enumerate(records):
        if state is None or k in resets:
            state = init(record)
        state, y = step(state, record)
        out.append(y)
    return np.stack(out)


def adder(name, init=0.0, v=6, shape=(1, 3), dtype="f32", init_from="const"):
    """y = read + x; assign y."""
    net = Net(name)
    x = net.param("x", dtype, list(shape))
    if init_from == "const":
        first = net.const(np.full(shape, init, TYPES[dtype][1]), dtype)
    elif init_from == "x":
        first = x
    elif init_from == "param":
        first = net.param("first", dtype, list(shape))
    else:
        first = None
    state = net.read("sum", first, dtype, list(shape), v=v)
    y = net.op("Add", state, x, auto_broadcast="numpy")
    net.assign("sum", y, v=v)
    net.result(y, "y")
    return net


def sums(x, resets=(), init=0.0):
    return run(lambda s, r: (s + r, s + r), x, lambda r: np.full_like(r, init), resets)


def reset_cases():
    x = np.round(uniform(rng(FAMILY, "reset"), (5, 1, 3)) * 64) / 64
    series = {
        "reset_never_given": ("", ()), "reset_iteration": (" --reset", range(5)),
        "reset_word_iteration": (" --reset=iteration", range(5)), "reset_2": (" --reset=2", (2, 4)),
        "reset_3": (" --reset=3", (3,)), "reset_never": (" --reset=never", ()),
        "reset_sequence": (" --reset=sequence", ()), "reset_beyond_end": (" --reset=7", ()),
    }
    for name, (args, resets) in series.items():
        yield Case(FAMILY, name, adder(name, 0.5), {"x": x}, {"y": sums(x, resets, 0.5)},
                   f"A running sum over five records with{args or ' no --reset'}.", EXACT + args)
    fresh = np.array([0, 0, 1, 0, 1], np.float32)
    yield Case(FAMILY, "reset_if_member", adder("reset_if_member"), {"x": x, "fresh": fresh},
               {"y": sums(x,
                          (2, 4))}, "The member that --reset=if: names is not an input of the model.",
               EXACT + " --reset=if:fresh")
    net = Net("reset_if_input")
    flag = net.param("flag", "i32", [])
    state = net.read("sum", net.const(np.zeros((1, 3), np.float32)))
    y = net.op("Add", state, net.param("x", "f32", [1, 3]), auto_broadcast="numpy")
    net.assign("sum", y)
    net.result(y, "y")
    net.result(net.op("Convert", flag, destination_type="f32"), "seen")
    flags = np.array([1, 0, 0, -3, 0], np.int32)
    yield Case(FAMILY, "reset_if_input", net, {"x": x, "flag": flags},
               {"y": sums(x, (0, 3)), "seen": flags.astype(np.float32)},
               "--reset=if: names a 0-D input of the model; any value but 0 resets.",
               EXACT + " --reset=if:flag")


def init_cases():
    g = rng(FAMILY, "init")
    x = np.round(uniform(g, (4, 1, 3)) * 64) / 64
    first = np.round(uniform(g, (4, 1, 3)) * 64) / 64
    for v in (3, 6):
        yield Case(FAMILY, f"v{v}_init_const", adder(f"v{v}_init_const", 2.5, v), {"x": x},
                   {"y": sums(x, (), 2.5)}, f"ReadValue-{v} starts from a Const.", EXACT)
        want = run(lambda s, r: (s + r[0], s + r[0]), list(zip(x, first)), lambda r: r[1], (2,))
        yield Case(
            FAMILY, f"v{v}_init_parameter", adder(f"v{v}_init_parameter", v=v, init_from="param"),
            {"x": x, "first": first}, {"y": want},
            "The initial value is an input: that of the record at hand.",
            EXACT + " --reset=2")
    want = run(lambda s, r: (s + r, s + r), x, lambda r: r)
    yield Case(FAMILY, "init_is_the_input", adder("init_is_the_input", init_from="x"), {"x": x},
               {"y": want}, "The input feeds both the initial value and the sum.", EXACT)
    yield Case(FAMILY, "v6_no_init", adder("v6_no_init",
                                           init_from=None), {"x": x}, {"y": sums(x, (2,))},
               "ReadValue-6 without an input port starts from zeros of variable_shape.",
               EXACT + " --reset=2")
    net = Net("init_computed")
    a = net.param("x", "f32", [1, 3])
    computed = net.op(
        "Sqrt",
        net.op("Abs", net.op("Subtract", a, net.const([[0.25, 0.5, -1.0]]),
                             auto_broadcast="numpy")))
    state = net.read("s", computed, shape=[1, 3])
    y = net.op("Add", state, a, auto_broadcast="numpy")
    net.assign("s", y)
    net.result(y, "y")
    want = run(lambda s, r: (s + r, (s + r).astype(np.float32)), x.astype(np.float64),
               lambda r: np.sqrt(np.abs(r - [[0.25, 0.5, -1.0]])), (3,))
    yield Case(FAMILY, "init_computed", net, {"x": x}, {"y": want},
               "The initial value is a sub-graph of the input, run only when needed.",
               "--atol 1e-6 --rtol 1e-6 --reset=3")
    net = Net("init_shared")
    a = net.param("x", "f32", [1, 3])
    twice = net.op("Add", a, a, auto_broadcast="numpy")
    state = net.read("s", twice, shape=[1, 3])
    y = net.op("Add", state, a, auto_broadcast="numpy")
    net.assign("s", y)
    net.result(y, "y")
    net.result(twice, "twice")
    yield Case(FAMILY, "init_shared", net, {"x": x},
               {"y": run(lambda s, r: (s + r, s + r), x, lambda r: r + r), "twice": x + x},
               "What feeds the initial value feeds a Result too: it runs in every iteration.",
               EXACT)


def several_cases():
    g = rng(FAMILY, "several")
    x = np.round(uniform(g, (6, 2, 2)) * 16) / 16

    def build(name, wire):
        net = Net(name)
        wire(net, net.param("x", "f32", [2, 2]))
        return net

    def zeros(net):
        return net.const(np.zeros((2, 2), np.float32))

    def two(net, a):
        total = net.op("Add", net.read("total", zeros(net)), a, auto_broadcast="numpy")
        peak = net.op("Maximum", net.read("peak", net.const(np.full((2, 2), -9, np.float32))), a,
                      auto_broadcast="numpy")
        net.assign("total", total)
        net.assign("peak", peak)
        net.result(net.op("Subtract", peak, total, auto_broadcast="numpy"), "y")

    want = np.maximum.accumulate(x) - np.cumsum(x, axis=0)
    yield Case(FAMILY, "two_variables", build("two_variables", two), {"x": x}, {"y": want},
               "A sum and a maximum, each in its variable.", EXACT)

    def shift(net, a):
        half = net.op("Multiply", a, net.const(np.float32(0.5)), auto_broadcast="numpy")
        reads = [net.read(f"tap{k}", zeros(net)) for k in range(3)]
        for k, source in enumerate([half] + reads[:2]):
            net.assign(f"tap{k}", source)
        for k, r in enumerate(reads):
            net.result(net.op("Add", r, a, auto_broadcast="numpy"), f"y{k}")

    delayed = [np.concatenate([np.zeros((k, 2, 2), np.float32), x / 2])[:6] for k in (1, 2, 3)]
    yield Case(
        FAMILY, "chain_of_three", build(
            "chain_of_three", shift), {"x": x}, {f"y{k}": d + x
                                                 for k, d in enumerate(delayed)},
        "A delay line: each Assign is fed by the ReadValue before it, from before this iteration.",
        EXACT)

    def swap(net, a):
        p = net.read("a", net.const(np.full((2, 2), 1, np.float32)))
        q = net.read("b", net.const(np.full((2, 2), -2, np.float32)))
        net.assign("a", q)
        net.assign("b", p)
        net.result(net.op("Multiply", p, a, auto_broadcast="numpy"), "y")
        net.result(net.op("Multiply", q, a, auto_broadcast="numpy"), "z")

    turn = np.array([1, -2] * 3, np.float32)[:, None, None]
    yield Case(FAMILY, "swap", build("swap", swap), {"x": x}, {"y": x * turn, "z": x * (-1 - turn)},
               "Variable a takes b's value and b takes a's, at once.", EXACT)

    def crossed(net, a):
        p, q = net.read("fib0", net.const(np.zeros((2, 2), np.float32))), net.read(
            "fib1", net.const(np.ones((2, 2), np.float32)))
        total = net.op("Add", p, q, auto_broadcast="numpy")
        net.assign("fib0", q)
        net.assign("fib1", total)
        net.result(net.op("Add", total, a, auto_broadcast="numpy"), "y")

    fib = np.array([1, 2, 3, 5, 8, 13], np.float32)[:, None, None]
    yield Case(FAMILY, "fibonacci", build("fibonacci", crossed), {"x": x}, {"y": x + fib},
               "One ReadValue feeds another variable's Assign and a sum.", EXACT)

    def accumulate_twice(net, a):
        s = net.read("s", zeros(net))
        first = net.op("Add", s, a, auto_broadcast="numpy")
        net.assign("s", first)
        net.result(s, "before")
        net.result(net.op("Subtract", first, s, auto_broadcast="numpy"), "step")

    before = np.cumsum(x, axis=0) - x
    yield Case(FAMILY, "result_is_the_old_value", build(
        "result_is_the_old_value", accumulate_twice), {"x": x}, {"before": before, "step": x},
               "A ReadValue's value stays what it was when Assign has run.", EXACT)


def fed_directly_cases():
    x = np.round(uniform(rng(FAMILY, "direct"), (5, 1, 3)) * 64) / 64
    last = np.concatenate([np.array([[[9, 8, 7]]], np.float32), x[:-1]])
    for v, why in ((3, departures.V3_ANCESTOR), (6, departures.FROM_PARAMETER)):
        net = Net(f"v{v}_assign_from_parameter")
        a = net.param("x", "f32", [1, 3])
        old = net.read("last", net.const([[9.0, 8.0, 7.0]]), v=v)
        net.assign("last", a, v=v)
        net.result(net.op("Subtract", a, old, auto_broadcast="numpy"), "y")
        yield Case(FAMILY, net.name, net, {"x": x}, {"y": x - last},
                   "The difference to the record before: Assign is fed straight by a Parameter.",
                   EXACT, why)
    net = Net("v3_difference")
    a, old = net.param("x", "f32", [1, 3]), net.read("last", net.const([[9.0, 8.0, 7.0]]), v=3)
    y = net.op("Subtract", a, old, auto_broadcast="numpy")
    net.assign("last", net.op("Add", y, old, auto_broadcast="numpy"), v=3)
    net.result(y, "y")
    yield Case(FAMILY, net.name, net, {"x": x}, {"y": x - last},
               "The same with the ReadValue above its Assign.", EXACT)
    net = Net("assign_from_const")
    old = net.read("mode", net.const([[1.0, 1.0, 1.0]]))
    net.assign("mode", net.const([[-1.0, 0.5, 2.0]]))
    net.result(net.op("Multiply", net.param("x", "f32", [1, 3]), old, auto_broadcast="numpy"), "y")
    factor = np.array([[[1, 1, 1]]] + [[[-1, 0.5, 2]]] * 4, np.float32)
    yield Case(FAMILY, "assign_from_const", net, {"x": x}, {"y": x * factor},
               "Assign is fed straight by a Const: the first iteration differs from all others.",
               EXACT, departures.FROM_CONST)


def type_cases():
    for dtype in ("f16", "f64", "i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64"):
        numpy_type = TYPES[dtype][1]
        if dtype[0] == "f":
            x = (np.round(uniform(rng(FAMILY, dtype), (4, 3)) * 32) / 32).astype(numpy_type)
            x = x * 2.0**-40 + 1 if dtype == "f64" else x
            first = numpy_type(0.5)
        else:
            info = np.iinfo(numpy_type)
            x = np.array([[1, 2, 3], [3, 1, 0], [0, 5, 4], [2, 2, 2]], numpy_type)
            first = numpy_type(info.max // 2 + 2 if info.bits > 32 else 7)
        net = adder(f"type_{dtype}", first, dtype=dtype, shape=(3,))
        yield Case(FAMILY, f"type_{dtype}", net, {"x": x},
                   {"y": run(lambda s, r: (s + r, s + r), x, lambda r: np.full_like(r, first))},
                   f"A running sum in a variable of type {dtype}, with all its digits.", EXACT,
                   departures.NO_VARIABLES if dtype in RUN_TIME_TYPES else "")
    x = np.array([[100, 100], [100, -100], [100, -100], [-100, -100]], np.int8)
    for dtype, data in (("i8", x), ("u8", x.view(np.uint8))):
        with np.errstate(over="ignore"):
            want = np.cumsum(data, axis=0, dtype=data.dtype)
        yield Case(FAMILY, f"wraps_{dtype}", adder(f"wraps_{dtype}", 0, dtype=dtype,
                                                   shape=(2,)), {"x": data}, {"y": want},
                   f"A sum in {dtype} wraps around.", EXACT, departures.SATURATES)
    net = Net("type_boolean")
    x = net.param("x", "boolean", [4])
    seen = net.read("seen", net.const(np.zeros(4, np.bool_)))
    y = net.op("Select", x, x, seen, auto_broadcast="numpy")
    net.assign("seen", y)
    net.result(y, "y")
    data = np.array([[0, 1, 0, 0], [0, 0, 0, 1], [1, 0, 0, 0], [0, 0, 0, 0]], np.bool_)
    yield Case(FAMILY, "type_boolean", net, {"x": data}, {"y": np.logical_or.accumulate(data)},
               "A latch in a boolean variable, made with Select.", EXACT,
               departures.BOOLEAN_VARIABLE)


def spec_cases():
    """The layers of the ReadValue pages with their Assign: id, rank and channels as there, 6x5 for
    224x224."""
    x = np.round(uniform(rng(FAMILY, "spec"), (3, 1, 3, 6, 5)) * 64) / 64
    init = (np.arange(90, dtype=np.float32).reshape(1, 3, 6, 5) - 45) / 32
    for v in (3, 6):
        net = Net(f"spec_read_value_{v}_with_assign_{v}")
        state = net.read("lstm_state_1", net.const(init), v=v)
        total = net.op("Add", state, net.param("x", "f32", [1, 3, 6, 5]), auto_broadcast="numpy")
        net.assign("lstm_state_1", total, v=v)
        net.result(total, "y")
        yield Case(
            FAMILY, net.name, net, {"x": x}, {"y": sums(x) + init},
            f"The example of the ReadValue-{v} page with its Assign, smaller in height and width.",
            EXACT)


def cases():
    for make in (reset_cases, init_cases, several_cases, fed_directly_cases, type_cases,
                 spec_cases):
        yield from make()
