# ReadValue and Assign: variables whose shape changes, odd shapes, names, wiring that other runners
# refuse.
# SPDX-License-Identifier: Apache-2.0
import numpy as np

from . import departures
from .common import EXACT, Case, rng, uniform
from .net import Net, round_bf16

FAMILY = "read_value_assign"


def add(net, a, b):
    return net.op("Add", a, b, auto_broadcast="numpy")


def mean_of(net, port, axes):
    return net.op("ReduceMean", port, net.i64(axes), keep_dims=True)


def cache(name, variable_shape, axis, init=None, item=(1, 2, 1, 4), window=None, beam=False):
    """A cache that grows by Concat along axis. Outputs: its shape and its mean along axis, whose
    shapes do not grow."""
    net = Net(name)
    x = net.param("x", "f32", list(item))
    first = net.const(np.zeros(init, np.float32)) if init is not None else None
    past = net.read("cache", first, "f32", variable_shape)
    if beam:
        past = net.op("Gather", past, net.param("beam", "i32", [item[0]]), net.i64(0), v=8,
                      batch_dims=0)
    now = net.op("Concat", past, x, axis=axis)
    if window:
        now = net.op("Slice", now, net.i64([-window]), net.i64([2**63 - 1]), net.i64([1]),
                     net.i64([axis]), v=8)
    net.assign("cache", now)
    net.result(net.op("ShapeOf", now, v=3, output_type="i64"), "shape")
    net.result(mean_of(net, now, [axis]), "mean")
    return net


def cache_golden(x, axis, init=None, resets=(), window=None, beam=None):
    state, shapes, means = None, [], []
    for k, item in enumerate(x):
        if state is None or k in resets:
            state = np.zeros(init or [0 if d == axis else s for d, s in enumerate(item.shape)])
        state = state[beam[k]] if beam is not None else state
        state = np.concatenate([state, item], axis)
        if window:
            state = np.take(state, range(max(0, state.shape[axis] - window), state.shape[axis]),
                            axis)
        shapes.append(state.shape)
        means.append(state.mean(axis=axis, keepdims=True))
    return {"shape": np.array(shapes, np.int64), "mean": np.float32(means)}


def growing_cases():
    x = np.round(uniform(rng(FAMILY, "cache"), (6, 1, 2, 1, 4)) * 64) / 64
    near = "--atol 1e-6 --rtol 1e-6"
    yield Case(FAMILY, "cache_grows", cache("cache_grows", "1,2,?,4", 2, (1, 2, 0, 4)), {"x": x},
               cache_golden(x, 2), "A cache that starts empty and grows by a row each record.",
               near)
    yield Case(
        FAMILY, "cache_reset_2", cache("cache_reset_2", "1,2,?,4", 2, (1, 2, 0, 4)), {"x": x},
        cache_golden(x, 2, resets=(2, 4)), "A reset takes the shape back too.", near + " --reset=2")
    yield Case(FAMILY, "cache_starts_with_rows",
               cache("cache_starts_with_rows", "1,2,?,4", 2, (1, 2, 3, 4)), {"x": x},
               cache_golden(x, 2, (1, 2, 3, 4)), "The cache starts with three rows of zeros.", near)
    yield Case(FAMILY, "cache_no_init", cache("cache_no_init", "1,2,?,4", 2), {"x": x},
               cache_golden(x, 2), "Without an initial value the unknown dimension starts as 0.",
               near)
    yield Case(FAMILY, "cache_interval", cache("cache_interval", "1,2,0..8,4", 2, (1, 2, 0, 4)),
               {"x": x}, cache_golden(x, 2), "variable_shape has an interval.", near)
    yield Case(FAMILY, "cache_unknown_rank", cache("cache_unknown_rank",
                                                   "...", 2, (1, 2, 0, 4)), {"x": x},
               cache_golden(x, 2), "variable_shape is unknown altogether.", near,
               departures.UNKNOWN_RANK_VARIABLE, stand_in=cache("twin", "1,2,?,4", 2, (1, 2, 0, 4)))
    yield Case(FAMILY, "cache_all_unknown", cache("cache_all_unknown", "?,?,?,?", 2, (1, 2, 0, 4)),
               {"x": x}, cache_golden(x, 2), "No dimension of the variable is known.", near)
    yield Case(FAMILY, "cache_window_3",
               cache("cache_window_3", "1,2,?,4", 2, (1, 2, 0, 4), window=3), {"x": x},
               cache_golden(x, 2, window=3), "The cache grows to three rows, then slides.", near)
    y = np.round(uniform(rng(FAMILY, "beam"), (5, 3, 1, 4)) * 64) / 64
    beam = np.array([[0, 1, 2], [0, 1, 2], [2, 2, 0], [1, 0, 1], [0, 0, 0]], np.int32)
    yield Case(FAMILY, "cache_beams",
               cache("cache_beams", "?,?,4", 1,
                     (3, 0, 4), (3, 1, 4), beam=True), {"x": y, "beam": beam},
               cache_golden(y, 1, beam=beam), "Rows of the cache are chosen by beam_idx.",
               near)


def shift_cases():
    x = np.round(uniform(rng(FAMILY, "shift"), (7, 1, 2)) * 64) / 64
    net = Net("shift_register")
    old = net.read("frames", net.const(np.zeros((1, 6), np.float32)))
    now = net.op("Concat",
                 net.op("Slice", old, net.i64([2]), net.i64([6]), net.i64([1]), net.i64([1]), v=8),
                 net.param("x", "f32", [1, 2]), axis=1)
    net.assign("frames", now)
    net.result(now, "y")
    frames, out = np.zeros((1, 6), np.float32), []
    for r in x:
        frames = np.concatenate([frames[:, 2:], r], 1)
        out.append(frames)
    twin = Net("twin")  # by products with matrices of 0 and 1
    old = twin.read("frames", twin.const(np.zeros((1, 6), np.float32)))
    now = add(
        twin,
        twin.op("MatMul", old, twin.const(np.eye(6, k=-2, dtype=np.float32)), transpose_a=False,
                transpose_b=False),
        twin.op("MatMul", twin.param("x", "f32", [1, 2]),
                twin.const(np.eye(2, 6, k=4, dtype=np.float32)), transpose_a=False,
                transpose_b=False))
    twin.assign("frames", now)
    twin.result(now, "y")
    yield Case(FAMILY, net.name, net, {"x": x}, {"y": np.stack(out)},
               "Three frames of context: shift out, append.", EXACT, departures.SHIFT_REGISTER,
               stand_in=twin)
    net = Net("twelve_variables")
    a = net.param("x", "f32", [1, 2])
    total = a
    for k in range(12):
        s = net.read(f"v{k}", net.const(np.full((1, 2), k, np.float32)))
        net.assign(f"v{k}",
                   add(net, s, a) if k % 2 else net.op("Maximum", s, a, auto_broadcast="numpy"))
        total = add(net, total, s)
    net.result(total, "y")
    states, out = [np.full((1, 2), k, np.float32) for k in range(12)], []
    for r in x:
        out.append(r + sum(states[1:], states[0]))
        states = [s + r if k % 2 else np.maximum(s, r) for k, s in enumerate(states)]
    yield Case(FAMILY, net.name, net, {"x": x}, {"y": np.stack(out)}, "Twelve variables at once.",
               "--atol 1e-5 --rtol 1e-6")


def shape_forms():
    g = rng(FAMILY, "forms")
    for name, shape in (("rank_0", []), ("rank_1_of_1", [1]), ("rank_5", [2, 1, 2,
                                                                          1, 3]), ("wide_1025", [
                                                                              1025
                                                                          ])):
        x = np.round(uniform(g, [3] + shape) * 64) / 64
        net = Net(name)
        y = add(net, net.read("s", net.const(np.zeros(shape, np.float32))),
                net.param("x", "f32", shape))
        net.assign("s", y)
        net.result(y, "y")
        yield Case(FAMILY, name, net, {"x": x}, {"y": np.cumsum(x, axis=0, dtype=np.float32)},
                   f"A variable of shape {shape}.", EXACT)
    net = Net("empty_variable")
    s = net.read("s", net.const(np.zeros((0, 3), np.float32)))
    y = net.op("Concat", s, net.param("x", "f32", [2, 3]), axis=0)
    net.assign("s", net.op("Multiply", s, s, auto_broadcast="numpy"))
    net.result(y, "y")
    x = uniform(g, (3, 2, 3))
    yield Case(FAMILY, net.name, net, {"x": x}, {"y": x}, "A variable without elements.", EXACT)
    x = np.round(uniform(g, (4, 1, 3)) * 64) / 64
    for name, shape, dtype in (("wider_than_init", "?,?", "f32"), ("legacy_round_trip", "...",
                                                                   "dynamic")):
        net = Net(name)
        y = add(net, net.read("s", net.const(np.ones((1, 3), np.float32)), dtype, shape),
                net.param("x", "f32", [1, 3]))
        net.assign("s", y)
        net.result(y, "y")
        yield Case(
            FAMILY, name, net, {"x": x}, {"y": np.cumsum(x, axis=0) + np.float32(1)},
            f"variable_type {dtype}, variable_shape {shape}; the initial value says what it is.",
            EXACT)
    net = Net("v6_without_type_and_shape")
    s = net.read("s", net.const(np.ones((1, 3), np.float32)), typed=False)
    y = add(net, s, net.param("x", "f32", [1, 3]))
    net.assign("s", y)
    net.result(y, "y")
    yield Case(FAMILY, net.name, net, {"x": x}, {"y": np.cumsum(x, axis=0) + np.float32(1)},
               "ReadValue-6 as written before 2023.1: only variable_id.", EXACT)

    def held(name, shape):
        net = Net(name)
        old = net.read("s", net.const(np.ones((1, 3), np.float32)), "f32", shape)
        new = net.op("Multiply", net.param("x", "f32", [1, 3]), net.const(np.float32(2)),
                     auto_broadcast="numpy")
        net.assign("s", new)
        net.result(add(net, old, new), "y")
        return net

    old = np.concatenate([np.ones((1, 1, 3), np.float32), 2 * x[:-1]])
    yield Case(FAMILY, "known_into_unknown_shape", held("known_into_unknown_shape",
                                                        "?,?"), {"x": x}, {"y": old + 2 * x},
               "What is assigned has a known shape, the variable has not.", EXACT,
               departures.KNOWN_INTO_UNKNOWN, stand_in=held("twin", "1,3"))


def name_cases():
    x = np.round(uniform(rng(FAMILY, "names"), (3, 2)) * 64) / 64
    for name, variable in (("id_with_slashes", "past.0/key:present.0/key"),
                           ("id_with_blanks", " two words "), ("id_entities", "a<b>&\"c'"),
                           ("id_utf8", "Zustand-Größe-状態"),
                           ("id_long", "past_key_values." * 40)):
        net = Net(name)
        y = add(net, net.read(variable, net.const(np.zeros(2, np.float32)), name="read"),
                net.param("x", "f32", [2]))
        net.assign(variable, y, name="assign")
        net.result(y, "y")
        yield Case(FAMILY, name, net, {"x": x}, {"y": np.cumsum(x, axis=0)},
                   "A variable_id is any text.", EXACT)
    net = Net("id_with_slash_id")
    y = add(net, net.read("a/id=b", net.const(np.zeros(2, np.float32)), name="read"),
            net.param("x", "f32", [2]))
    net.assign("a/id=b", y, name="assign")
    net.result(y, "y")
    yield Case(FAMILY, net.name, net, {"x": x}, {"y": np.cumsum(x, axis=0)},
               "A variable_id that holds \"/id=\".", EXACT, departures.SLASH_ID)


def wiring_cases():
    x = np.round(uniform(rng(FAMILY, "wiring"), (4, 2)) * 64) / 64
    zero = np.zeros(2, np.float32)
    net = Net("two_readers")
    a, p = net.param("x", "f32", [2]), net.read("s", net.const(zero), name="first_reader")
    q = net.read("s", net.const(zero), name="second_reader")
    y = add(net, p, a)
    net.assign("s", y)
    net.result(y, "y")
    net.result(net.op("Subtract", q, a, auto_broadcast="numpy"), "z")
    total = np.cumsum(x, axis=0)
    yield Case(FAMILY, net.name, net, {"x": x}, {"y": total, "z": total - x - x},
               "Two ReadValues of one variable.", EXACT, departures.TWO_READERS)
    net = Net("read_without_assign")
    y = add(net, net.read("s", net.const(np.float32([5, 6]))), net.param("x", "f32", [2]))
    net.result(y, "y")
    yield Case(FAMILY, net.name, net, {"x": x}, {"y": x + np.float32([5, 6])},
               "Nothing is ever assigned: the value stays the "
               "initial one.", EXACT, departures.NO_ASSIGN)
    net = Net("assign_feeds_result")
    y = add(net, net.read("s", net.const(zero)), net.param("x", "f32", [2]))
    net.result(net.assign("s", y), "y")
    yield Case(FAMILY, net.name, net, {"x": x}, {"y": total},
               "A Result hangs on the Assign's output.", EXACT, departures.ASSIGN_FEEDS)
    net = Net("read_feeds_result_only")
    a, s = net.param("x", "f32", [2]), net.read("s", net.const(np.float32([1, 2])))
    net.assign("s", net.op("Multiply", s, a, auto_broadcast="numpy"))
    net.result(s, "y")
    product = np.concatenate(
        [np.float32([[1, 2]]),
         np.float32([1, 2]) * np.cumprod(x, axis=0)[:-1]])
    yield Case(FAMILY, net.name, net, {"x": x}, {"y": product},
               "The ReadValue itself is the output.", "--atol 1e-7 --rtol 1e-6")
    net = Net("no_input_no_record")
    s = net.read("count", net.const(np.float32([0])))
    net.assign("count", add(net, s, net.const(np.float32([1]))))
    net.result(add(net, s, net.const(np.float32([10]))), "y")
    yield Case(FAMILY, net.name, net, {}, {"y": np.float32([10])},
               "A model without inputs runs once.", EXACT)


def narrow_type_cases():
    x = np.round(uniform(rng(FAMILY, "bf16"), (5, 3)) * 64) / 64
    net = Net("type_bf16")
    s = net.read("s", net.const(np.zeros(3, np.float32), "bf16"))
    y = add(net, net.op("Convert", s, destination_type="f32"), net.param("x", "f32", [3]))
    net.assign("s", net.op("Convert", y, destination_type="bf16"))
    net.result(y, "y")
    total, out = np.zeros(3, np.float32), []
    for r in x:
        out.append(total + r)
        total = round_bf16(out[-1])
    yield Case(FAMILY, net.name, net, {"x": x}, {"y": np.stack(out)},
               "A sum kept in bf16: rounded once an iteration.", EXACT)
    for dtype, low, high in (("i4", -8, 7), ("u4", 0, 15), ("u1", 0, 1)):
        values = np.arange(low, low + 20).reshape(4, 5) % (high - low + 1) + low
        values = np.where(values > high, low, values).astype(np.int32)
        first = [high, low, 1, 0, high]
        net = Net(f"type_{dtype}")
        s = net.read("s", net.const(first, dtype, [5]))
        net.assign("s", net.op("Convert", net.param("x", "i32", [5]), destination_type=dtype))
        net.result(net.op("Convert", s, destination_type="i32"), "y")
        yield Case(FAMILY, net.name, net, {"x": values},
                   {"y": np.concatenate([np.int32([first]), values[:-1]])},
                   f"A delay of one record in a variable of {dtype}, which is packed.", EXACT,
                   departures.PACKED_VARIABLE if dtype == "u1" else "", dtype != "u1")
    net = Net("type_boolean_or")
    x = net.param("x", "boolean", [4])
    y = net.op("LogicalOr", net.read("seen", net.const(np.zeros(4, np.bool_))), x,
               auto_broadcast="numpy")
    net.assign("seen", y)
    net.result(y, "y")
    data = np.array([[0, 1, 0, 0], [0, 0, 0, 1], [1, 0, 0, 0]], np.bool_)
    yield Case(FAMILY, net.name, net, {"x": data}, {"y": np.logical_or.accumulate(data)},
               "A latch made with LogicalOr.", EXACT)


def body_case():
    """LowLatency's form before unrolling: one step, the variable inside the body."""
    net = Net("inside_tensor_iterator")
    body = net.body()
    p = body.param("p", "f32", [1, 1, 2])
    s = body.read("s", body.const(np.zeros((1, 1, 2), np.float32)))
    new = add(body, s, p)
    body.assign("s", new)
    r = body.result(new)
    cut = {"axis": 1, "start": 0, "end": -1, "stride": 1, "part_size": 1}
    (y,) = net.iterate("TensorIterator", [net.param("x", "f32", [1, 1, 2])], body, [(0, p, cut)],
                       [(r, cut)])
    net.result(y, "y")
    x = np.round(uniform(rng(FAMILY, "body"), (5, 1, 1, 2)) * 64) / 64
    yield Case(FAMILY, net.name, net, {"x": x}, {"y": np.cumsum(x, axis=0)},
               "A variable in the body of a TensorIterator of one step.", EXACT)


def cases():
    for make in (growing_cases, shift_cases, shape_forms, name_cases, wiring_cases,
                 narrow_type_cases, body_case):
        yield from make()
