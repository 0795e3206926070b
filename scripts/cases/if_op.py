# If-8: branches of different kind, shape and number of inputs; state in a branch; If in If.
# SPDX-License-Identifier: Apache-2.0
import numpy as np

from . import departures
from .common import EXACT, RECURRENT, Case, rng, uniform
from .net import Net

FAMILY = "if"
X = np.float32([[1, -2, 3], [4, 5, -6]])


def binary(net, op, a, b):
    return net.op(op, a,
                  net.const(np.float32(b)) if isinstance(b, (int, float)) else b,
                  auto_broadcast="numpy")


def branch(net, inputs, make):
    """A body with Parameters for inputs [(outer input, name, dtype, shape)]; make(body, *ports) ->
    port or list."""
    body = net.body()
    ports = [body.param(name, dtype, shape) for _, name, dtype, shape in inputs]
    made = make(body, *ports)
    made = made if isinstance(made, (list, tuple)) else [made]
    return body, [(item[0], p) for item, p in zip(inputs, ports)], [body.result(p) for p in made]


def one_input(name, then, otherwise, condition="param", shape=(2, 3), dtype="f32", outs=1,
              cond_shape=(), value=None, out_shape=None):
    net = Net(name)
    if condition == "param":
        cond = net.param("cond", "boolean", list(cond_shape))
    elif condition == "computed":
        limit = net.param("limit", "f32", [])
        cond = net.op("Greater", limit, net.const(np.float32(0)), auto_broadcast="numpy")
    else:
        cond = net.const(np.array(value))
    x = net.param("x", dtype, list(shape))
    inner = [(1, "x_in", dtype, list(shape))]
    ports = net.choose(cond, [x], branch(net, inner, then), branch(net, inner, otherwise), outs)
    for k, port in enumerate(ports):
        net.result(port, "y" if outs == 1 else f"y{k}")
    return net


def scale(factor):
    return lambda body, x: binary(body, "Multiply", x, float(factor))


def shift(amount):
    return lambda body, x: binary(body, "Add", x, float(amount))


def both_cases(name, about, then, otherwise, want_then, want_else, openvino="", **how):
    """The case with the condition true, with it false, and with a stack of both."""
    for word, flag, want in (("true", True, want_then), ("false", False, want_else)):
        net = one_input(f"{name}_{word}", then, otherwise, **how)
        cond = np.full(how.get("cond_shape", ()), flag)
        yield Case(FAMILY, net.name, net, {"cond": cond, "x": X}, {"y": np.asarray(want)},
                   f"{about} Condition {word}.", EXACT, openvino)


def simple_cases():
    yield from both_cases("scale_or_shift", "One branch doubles, the other adds 10.", scale(2),
                          shift(10), X * 2, X + 10)
    yield from both_cases("condition_shape_1", "The condition has shape [1].", scale(3), shift(-1),
                          X * 3, X - 1, cond_shape=(1,))
    net = one_input("stack_of_conditions", scale(2), shift(10))
    flags = np.array([1, 0, 0, 1], np.bool_)
    yield Case(FAMILY, net.name, net, {"cond": flags, "x": X},
               {"y": np.stack([X * 2 if f else X + 10 for f in flags])},
               "The branch changes from record to record.", EXACT)
    net = one_input("condition_computed", scale(2), shift(10), "computed")
    limits = np.float32([0.5, -0.5, 0])
    yield Case(FAMILY, net.name, net, {"limit": limits, "x": X},
               {"y": np.stack([X * 2 if v > 0 else X + 10 for v in limits])},
               "The condition is computed.", EXACT)
    for value in (True, False):
        net = one_input(f"condition_const_{str(value).lower()}", scale(2), shift(10), "const",
                        value=value)
        yield Case(FAMILY, net.name, net, {"x": X}, {"y": X * 2 if value else X + 10},
                   "The condition is a Const.", EXACT)
    yield from both_cases("pass_through", "One branch hands its input on.", lambda body, x: x,
                          scale(-1), X, -X)
    nothing = np.float32([[7, 8, 9], [1, 2, 3]])
    yield from both_cases(
        "const_branch", "One branch does not look at its input.",
        lambda body, x: binary(body, "Add", body.const(nothing), binary(body, "Multiply", x, 0.0)),
        scale(1.5), nothing, X * 1.5)


def several_cases():
    net = one_input("two_outputs", lambda b, x: [scale(2)(b, x), shift(1)(b, x)],
                    lambda b, x: [shift(3)(b, x), scale(4)(b, x)], outs=2)
    flags = np.array([1, 0], np.bool_)
    yield Case(FAMILY, net.name, net, {"cond": flags, "x": X},
               {"y0": np.stack([X * 2, X + 3]), "y1": np.stack([X + 1, X * 4])}, "Two outputs.",
               EXACT)
    net = Net("different_inputs")
    cond, a, b = net.param("cond", "boolean", []), net.param("a", "f32", [2, 3]), net.param(
        "b", "f32", [3])
    then = branch(net, [(1, "p", "f32", [2, 3]), (2, "q", "f32", [3])],
                  lambda n, p, q: binary(n, "Add", p, q))
    other = branch(net, [(1, "r", "f32", [2, 3])], lambda n, r: binary(n, "Multiply", r, r))
    (y,) = net.choose(cond, [a, b], then, other, 1)
    net.result(y, "y")
    row = np.float32([10, 20, 30])
    yield Case(FAMILY, net.name, net, {"cond": flags, "a": X, "b": row},
               {"y": np.stack([X + row, X * X])},
               "One branch takes two inputs, the other one of them.", EXACT)
    net = Net("inputs_swapped")
    cond, a, b = net.param("cond", "boolean", []), net.param("a", "f32", [2, 3]), net.param(
        "b", "f32", [2, 3])
    then = branch(net, [(1, "p", "f32", [2, 3]), (2, "q", "f32", [2, 3])],
                  lambda n, p, q: binary(n, "Subtract", p, q))
    other = branch(net, [(2, "p", "f32", [2, 3]), (1, "q", "f32", [2, 3])],
                   lambda n, p, q: binary(n, "Subtract", p, q))
    (y,) = net.choose(cond, [a, b], then, other, 1)
    net.result(y, "y")
    yield Case(FAMILY, net.name, net, {"cond": flags, "a": X, "b": X * X},
               {"y": np.stack([X - X * X, X * X - X])},
               "The branches bind the inputs the other way round.", EXACT)
    net = Net("no_inputs")
    cond = net.param("cond", "boolean", [])
    then, other = branch(net, [], lambda n: n.const(X)), branch(net, [], lambda n: n.const(-X))
    (y,) = net.choose(cond, [], then, other, 1)
    net.result(y, "y")
    yield Case(FAMILY, net.name, net, {"cond": flags}, {"y": np.stack([X, -X])},
               "Branches without inputs: two Consts.", EXACT)


def shape_cases():
    """Branches whose outputs differ in shape: single records, for a stack could not hold them."""
    def top(body, x):
        return body.op("Slice", x, body.i64([0]), body.i64([1]), body.i64([1]), v=8)

    for flag in (True, False):
        net = one_input(f"shapes_differ_{str(flag).lower()}", top, scale(2))
        yield Case(FAMILY, net.name, net, {"cond": np.array(flag), "x": X},
                   {"y": X[:1] if flag else X * 2}, "The branches' outputs differ in shape.", EXACT)

        def flat(body, x):
            return body.op("Reshape", x, body.i64([-1]), special_zero=False)

        net = one_input(f"ranks_differ_{str(flag).lower()}", flat, scale(2))
        yield Case(FAMILY, net.name, net, {"cond": np.array(flag), "x": X},
                   {"y": X.ravel() if flag else X * 2}, "The branches' outputs differ in rank.",
                   EXACT, departures.IF_RANKS)
    net = one_input("dynamic_input", scale(2), shift(10), shape=(-1, 3))
    yield Case(FAMILY, net.name, net, {"cond": np.array(False), "x": X}, {"y": X + 10},
               "The input's shape comes with the "
               "record.", EXACT)
    net = Net("types_i64")
    cond, a = net.param("cond", "boolean", []), net.param("x", "i64", [3])
    then = branch(net, [(1, "p", "i64", [3])],
                  lambda n, p: n.op("Add", p, n.i64(5), auto_broadcast="numpy"))
    other = branch(net, [(1, "q", "i64", [3])],
                   lambda n, q: n.op("Multiply", q, n.i64(-1), auto_broadcast="numpy"))
    (y,) = net.choose(cond, [a], then, other, 1)
    net.result(y, "y")
    v = np.array([1, -2, 3])
    yield Case(FAMILY, net.name, net, {"cond": np.array([1, 0], np.bool_), "x": v},
               {"y": np.stack([v + 5, -v])}, "Branches of i64.", EXACT)
    net = Net("const_f16_from_outside")
    cond, a = net.param("cond", "boolean", []), net.param("x", "f16", [3])
    inner = [(1, "p", "f16", [3]), (2, "q", "f16", [3])]
    then = branch(net, inner, lambda n, p, q: binary(n, "Add", p, binary(n, "Add", q, q)))
    other = branch(net, inner, lambda n, p, q: binary(n, "Multiply", p, q))
    factor = np.float16([2, 0.5, -3])
    (y,) = net.choose(cond, [a, net.const(factor)], then, other, 1)
    net.result(y, "y")
    v = np.float16([1, -2, 3])
    yield Case(FAMILY, net.name, net, {"cond": np.array([1, 0], np.bool_), "x": v},
               {"y": np.stack([v + factor + factor, v * factor])},
               "A Const of f16 outside feeds the branches.", EXACT)
    net = Net("f16_of_unknown_length")
    cond, a = net.param("cond", "boolean", []), net.param("x", "f16", [1, 3])

    def positive(n, p):
        mask = n.op("Convert", n.op("Relu", p), destination_type="f32")
        where = n.op("NonZero", mask, v=3, output_type="i64", dtype="i64")
        rows = n.op("Transpose", where, n.i64([1, 0]), dtype="i64")
        return n.op("GatherND", p, rows, v=8, batch_dims=0)

    then = branch(net, [(1, "p", "f16", [1, 3])], positive)
    other = branch(net, [(1, "q", "f16", [1, 3])], positive)
    (y,) = net.choose(cond, [a], then, other, 1, dtypes=["f16"])
    net.result(net.op("Add", y, net.const(np.float16([1])), auto_broadcast="numpy"), "y")
    v = np.float16([[1, -2, 3]])
    yield Case(FAMILY, net.name, net, {"cond": np.array(True), "x": v},
               {"y": np.float16([2, 4])}, "Only running tells the length of an f16 output.", EXACT)


def nested_cases():
    net = Net("if_in_if")
    cond, cond2, x = net.param("cond", "boolean", []), net.param("cond2", "boolean", []), net.param(
        "x", "f32", [2, 3])

    def inner(body, c, p):
        args = [(1, "z", "f32", [2, 3])]
        (y,) = body.choose(c, [p], branch(body, args, scale(2)), branch(body, args, scale(3)), 1)
        return y

    then = branch(net, [(1, "c", "boolean", []), (2, "p", "f32", [2, 3])], inner)
    other = branch(net, [(2, "q", "f32", [2, 3])], shift(1))
    (y,) = net.choose(cond, [cond2, x], then, other, 1)
    net.result(y, "y")
    c1, c2 = np.array([1, 1, 0, 0], np.bool_), np.array([1, 0, 1, 0], np.bool_)
    yield Case(FAMILY, net.name, net, {"cond": c1, "cond2": c2, "x": X},
               {"y": np.stack([X * 2, X * 3, X + 1, X + 1])}, "An If in a branch of an If.", EXACT)


def state_cases():
    for name, about, deep in (
        ("state_in_branch", "A running sum in one branch: it keeps its value while the other runs.",
         False), ("state_reset_in_branch", "The same with a reset after the third record.", True)):
        net = Net(name)
        cond, x = net.param("cond", "boolean", []), net.param("x", "f32", [2, 3])

        def then_make(body, p):
            old = body.read("sum", body.const(np.zeros((2, 3), np.float32)))
            new = binary(body, "Add", old, p)
            body.assign("sum", new)
            return new

        (y,) = net.choose(cond, [x], branch(net, [(1, "p", "f32", [2, 3])], then_make),
                          branch(net, [(1, "q", "f32", [2, 3])], scale(-1)), 1)
        net.result(y, "y")
        flags = np.array([1, 1, 0, 1, 0, 1], np.bool_)
        data = np.round(uniform(rng(FAMILY, name), (6, 2, 3)) * 16) / 16
        s, out = np.zeros((2, 3), np.float32), []
        for k, f in enumerate(flags):
            if deep and k % 3 == 0:
                s = np.zeros_like(s)
            s = s + data[k] if f else s
            out.append(s if f else -data[k])
        yield Case(FAMILY, name, net, {"cond": flags, "x": data}, {"y": np.stack(out)}, about,
                   EXACT + (" --reset=3" if deep else ""))
    net = Net("state_outside")
    cond, x = net.param("cond", "boolean", []), net.param("x", "f32", [2, 3])
    old = net.read("s", net.const(np.ones((2, 3), np.float32)))
    args = [(1, "p", "f32", [2, 3]), (2, "q", "f32", [2, 3])]
    (y,) = net.choose(cond, [old, x], branch(net, args, lambda b, p, q: binary(b, "Add", p, q)),
                      branch(net, args, lambda b, p, q: binary(b, "Maximum", p, q)), 1)
    net.assign("s", y)
    net.result(y, "y")
    flags = np.array([1, 0, 1, 0, 1], np.bool_)
    data = np.round(uniform(rng(FAMILY, "outside"), (5, 2, 3)) * 16) / 16
    s, out = np.ones((2, 3), np.float32), []
    for f, v in zip(flags, data):
        s = s + v if f else np.maximum(s, v)
        out.append(s)
    yield Case(FAMILY, net.name, net, {"cond": flags, "x": data}, {"y": np.stack(out)},
               "The state lies outside; the branches say what becomes of it.", EXACT)


def recurrent_case():
    from . import reference
    from .lstm_cell import attrs_of, make_data
    sizes = {
        "then": make_data((FAMILY, "lstm", 1), 1, 3, 4), "else": make_data((FAMILY, "lstm", 2), 1,
                                                                           3, 4)
    }
    net = Net("two_models_in_one")
    ports = [net.param(n, "f32", list(sizes["then"][n].shape)) for n in ("X", "H", "C")]
    cond = net.param("sixteen_khz", "boolean", [])
    args = [(k + 1, n.lower(), "f32", list(sizes["then"][n].shape)) for k, n in enumerate("XHC")]

    def cell(which):
        def make(body, x, h, c):
            return list(
                body.op("LSTMCell", x, h, c, *(body.const(sizes[which][k]) for k in "WRB"), v=4,
                        outs=2, data=attrs_of(4)))

        return make

    outs = net.choose(cond, ports, branch(net, args, cell("then")), branch(net, args, cell("else")),
                      2)
    for port, n in zip(outs, ("Ho", "Co")):
        net.result(port, n)
    feed = {n: sizes["then"][n] for n in ("X", "H", "C")}
    flags, want = np.array([1, 0], np.bool_), {"Ho": [], "Co": []}
    for f in flags:
        d = sizes["then" if f else "else"]
        for n, v in zip(("Ho", "Co"),
                        reference.lstm_step(*(np.float64(feed[k]) for k in ("X", "H", "C")),
                                            *(np.float64(d[k]) for k in "WRB"))):
            want[n].append(np.float32(v))
    yield Case(
        FAMILY, net.name, net, dict(feed,
                                    sixteen_khz=flags), {n: np.stack(v)
                                                         for n, v in want.items()},
        "Two sets of weights, chosen by an input, as in speech models for two sample rates.",
        RECURRENT)


def cases():
    for make in (simple_cases, several_cases, shape_cases, nested_cases, state_cases,
                 recurrent_case):
        yield from make()
