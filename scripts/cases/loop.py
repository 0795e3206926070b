# Loop-5: trip counts, execution conditions, current_iteration, zero iterations, bodies in bodies.
# SPDX-License-Identifier: Apache-2.0
import numpy as np

from . import departures
from .common import EXACT, RECURRENT, Case, rng, uniform
from .net import Net, type_of

FAMILY = "loop"


def add(net, a, b):
    return net.op("Add", a, b, auto_broadcast="numpy")


def counting(name, trips, condition=True, feed_trips=True, body_condition=None, trip_type="i64",
             trip_shape=(), iteration=False, iteration_type="i64", concat=True,
             feed_condition=False, slice_input=False, condition_shape=(), iteration_shape=()):
    """state += x each pass; outputs: the last state, and with concat all of them. body_condition: a
    function of (body, port of the iteration, port of the state) that returns the port of the
    condition."""
    net = Net(name)
    first = net.param("first", "f32", [1, 3])
    trip_value = np.full(trip_shape, trips, np.int64 if trip_type == "i64" else np.int32)
    trip = net.param("trips", trip_type, list(trip_shape)) if feed_trips else net.const(trip_value)
    flag = np.full(condition_shape, condition)
    go = net.param("go", "boolean", list(condition_shape)) if feed_condition else net.const(flag)
    body = net.body()
    state = body.param("state", "f32", [1, 3])
    it = body.param("it", iteration_type,
                    list(iteration_shape)) if iteration or body_condition else None
    step = body.param("step", "f32", [1, 3])
    new = add(body, state, step)
    if iteration:
        new = add(body, new, body.op("Convert", it, destination_type="f32"))
    ok = body_condition(body, it, new) if body_condition else body.const(np.array(True))
    done, again = body.result(new), body.result(ok)
    x = net.param("x", "f32", [5, 3] if slice_input else [1, 3])
    maps = [(2, state, {}),
            (3, step,
             {"axis": 0, "start": 0, "end": -1, "stride": 1, "part_size": 1} if slice_input else {})
            ]
    if it is not None:
        maps.append((-1, it, {"purpose": "current_iteration"}))
    results = [(done, {})]
    if concat:
        results.append((done, {"axis": 0, "start": 0, "end": -1, "stride": 1, "part_size": 1}))
    ports = net.iterate(
        "Loop", [trip, go, first, x], body, maps, results, [(done, state)], v=5,
        special=[("output", {
            "external_port_id": -1, "internal_layer_id": again.id, "purpose": "execution_condition"
        })], dtypes=["f32"] * len(results))
    net.result(ports[0], "last")
    if concat:
        net.result(ports[1], "all")
    feed = {"first": np.float32([[1, 2, 3]]), "x": np.float32([[1, 0.5, -1]])}
    if slice_input:
        feed["x"] = np.arange(15, dtype=np.float32).reshape(5, 3)
    if feed_trips:
        feed["trips"] = trip_value
    if feed_condition:
        feed["go"] = flag
    return net, feed


def golden(feed, passes, iteration=False, concat=True):
    s, rows = feed["first"], []
    for k in range(passes):
        s = s + feed["x"][k if len(feed["x"]) > 1 else 0] + np.float32(k if iteration else 0)
        rows.append(s)
    want = {"last": s}
    if concat:
        want["all"] = np.concatenate(rows) if rows else np.zeros((0, 3), np.float32)
    return want


def case(name, about, passes, openvino="", runs_openvino=True, **how):
    net, feed = counting(name, **how)
    return Case(FAMILY, name, net, feed,
                golden(feed, passes, how.get("iteration", False), how.get("concat", True)), about,
                EXACT, openvino, runs_openvino)


def less_than(limit):
    def make(body, it, _):
        return body.op("Less", it, body.const(np.array(limit, np.int64)), auto_broadcast="numpy")

    return make


def state_below(limit):
    def make(body, _, new):
        first = body.op("Gather", new, body.i64(0), body.i64(1), v=8, batch_dims=0)
        return body.op("Less", first, body.const(np.float32([limit])), auto_broadcast="numpy")

    return make


def count_cases():
    yield case("trips_const", "The trip count is a Const.", 4, trips=4, feed_trips=False)
    yield case("trips_from_data", "The trip count is an input.", 5, trips=5)
    yield case("trips_i32", "The trip count is i32.", 3, trips=3, trip_type="i32")
    yield case("trips_shape_1", "Trip count and condition have shape [1].", 3, trips=3,
               trip_shape=(1,), condition_shape=(1,))
    yield case("one_pass", "One pass.", 1, trips=1)
    yield case(
        "zero_trips",
        "Trip count 0 from data: the last value is the initial one, the concatenation is empty.", 0,
        trips=0)
    yield case("zero_trips_const", "Trip count 0 in a Const.", 0, trips=0, feed_trips=False,
               openvino=departures.LOOP_0_CONST, runs_openvino=False)
    yield case("condition_false_at_first", "The condition is false before the first pass.", 0,
               trips=4, condition=False, feed_condition=True)
    yield case("condition_from_data", "The condition is an input, and true.", 2, trips=2,
               feed_condition=True)
    net = Net("const_f16_from_outside")
    first, step = np.float16([[1, 2, 3]]), np.float16([[0.5, -1, 4]])
    body = net.body()
    state, p = body.param("state", "f16", [1, 3]), body.param("step", "f16", [1, 3])
    new, again = body.result(add(body, state, add(body, p, p))), body.result(
        body.const(np.array(True)))
    (y,) = net.iterate(
        "Loop", [
            net.const(np.array(3)), net.const(np.array(True)), net.param("first", "f16", [1, 3]),
            net.const(step)
        ], body, [(2, state, {}), (3, p, {})], [(new, {})],
        [(new, state)], v=5, special=[("output", {
            "external_port_id": -1, "internal_layer_id": again.id, "purpose": "execution_condition"
        })], dtypes=["f16"])
    net.result(y, "last")
    yield Case(FAMILY, net.name, net, {"first": first}, {"last": first + 6 * step},
               "A Const of f16 outside feeds the body.", EXACT)
    net = Net("f16_of_unknown_length")
    body = net.body()
    p = body.param("p", "f16", [1, 3])
    mask = body.op("Convert", body.op("Relu", p), destination_type="f32")
    where = body.op("NonZero", mask, v=3, output_type="i64", dtype="i64")
    rows = body.op("Transpose", where, body.i64([1, 0]), dtype="i64")
    found = body.result(body.op("GatherND", p, rows, v=8, batch_dims=0))
    again = body.result(body.const(np.array(True)))
    (y,) = net.iterate(
        "Loop",
        [net.const(np.array(2)), net.const(np.array(True)), net.param("x", "f16", [1, 3])], body,
        [(2, p, {})], [(found, {})], v=5, special=[("output", {
            "external_port_id": -1, "internal_layer_id": again.id, "purpose": "execution_condition"
        })], dtypes=["f16"])
    net.result(add(net, y, net.const(np.float16([1]))), "y")
    yield Case(FAMILY, net.name, net, {"x": np.float16([[1, -2, 3]])}, {"y": np.float16([2, 4])},
               "Only running tells the length of an f16 output.", EXACT)
    yield case("no_concat", "Only the last value is an output.", 3, trips=3, concat=False)


def condition_cases():
    yield case("iteration_below_2",
               "The body's condition is tested after a pass: it < 2 gives three.", 3, trips=10,
               body_condition=less_than(2))
    yield case("condition_false_after_first", "The body's condition is false at once: one pass.", 1,
               trips=10, body_condition=less_than(0))
    yield case("trips_before_condition", "The trip count ends it before the condition does.", 2,
               trips=2, body_condition=less_than(7))
    yield case("endless_with_condition", "Trip count -1: the condition alone ends it.", 4, trips=-1,
               feed_trips=False, body_condition=less_than(3))
    yield case("endless_from_data", "Trip count -1 from data.", 3, trips=-1,
               body_condition=less_than(2))
    yield case("condition_on_state", "It continues while the state's first element is below 6.", 5,
               trips=20, body_condition=state_below(6))


def iteration_cases():
    yield case("current_iteration", "The number of the pass is added: 0, 1, 2 ...", 4, trips=4,
               iteration=True)
    yield case("current_iteration_i32", "The number of the pass in i32.", 4, trips=4,
               iteration=True, iteration_type="i32")
    yield case("current_iteration_shape_1", "The number of the pass in shape [1].", 3, trips=3,
               iteration=True, iteration_shape=(1,))
    yield case("sliced_input", "An input is cut along axis 0, a row for each pass.", 5, trips=5,
               slice_input=True)
    yield case("sliced_input_and_condition", "The condition stops a loop over slices early.", 2,
               trips=5, slice_input=True, body_condition=less_than(1))


def data_cases():
    """Records whose trip counts differ: shapes stay, so outputs stack."""
    net, _ = counting("trips_per_record", 0, concat=False)
    trips = np.array([3, 0, 7, 1], np.int64)
    first, x = np.float32([[1, 2, 3]]), np.float32([[1, 0.5, -1]])
    yield Case(FAMILY, net.name, net, {"first": first, "x": x, "trips": trips},
               {"last": np.stack([first + np.float32(t) * x for t in trips])},
               "Each record has its own trip count.", EXACT)
    net, _ = counting("zero_trips_later", 0)
    net.layers.pop()  # the concatenation itself changes shape; its shape does not
    shape = net.op("ShapeOf", net.layers[-2].outputs[1], v=3, output_type="i64", shape=[2])
    net.layers[-3].outputs[1].names = []
    net.result(shape, "shape")
    trips = np.array([2, 0, 3], np.int64)
    yield Case(FAMILY, net.name, net, {"first": first, "x": x, "trips": trips}, {
        "last": np.stack([first + np.float32(t) * x
                          for t in trips]), "shape": np.array([[t, 3] for t in trips])
    }, "A record without a pass after one with two: the concatenation is empty again.", EXACT,
               departures.LOOP_0_LATER)
    net = Net("growing_state")
    body = net.body()
    s, item = body.param("s", "f32", "1,?"), body.param("item", "f32", [1, 2])
    r, ok = body.result(body.op("Concat", s, item, axis=1)), body.result(body.const(np.array(True)))
    (y,) = net.iterate(
        "Loop", [
            net.param("trips", "i64", []),
            net.const(np.array(True)),
            net.param("first", "f32", "1,?"),
            net.param("item", "f32", [1, 2])
        ], body, [(2, s, {}), (3, item, {})], [(r, {})], [(r, s)], v=5, special=[("output", {
            "external_port_id": -1, "internal_layer_id": ok.id, "purpose": "execution_condition"
        })])
    net.result(y, "y")
    yield Case(FAMILY, net.name, net,
               {"trips": np.int64(3), "first": np.float32([[9]]), "item": np.float32([[1, 2]])},
               {"y": np.float32([[9, 1, 2, 1, 2, 1, 2]])}, "The state grows from pass to pass.",
               EXACT)


def simple_loop(net, trips, body, extra, maps, results, back):
    ok = body.result(body.const(np.array(True)))
    return net.iterate(
        "Loop", [trips, net.const(np.array(True))] + extra, body, maps, results, back, v=5,
        special=[("output", {
            "external_port_id": -1, "internal_layer_id": ok.id, "purpose": "execution_condition"
        })], dtypes=["f32"] * len(results))


def piece_cases():
    x, cut = np.float32([[1, 2, 3], [4, 5, 6], [7, 8, 9]]), {
        "start": 0, "end": -1, "stride": 1, "part_size": 1
    }
    for name, axis, want, about, departure in (
        ("scalar_pieces", 0, x.sum(1), "Numbers are joined to a list.", ""),
        ("negative_output_axis", -2, 2 * x, "The axis of an output counts from the end.",
         departures.OUTPUT_AXIS)):
        net = Net(name)
        body = net.body()
        p = body.param("p", "f32", [1, 3])
        made = body.op("ReduceSum", p, body.i64([0, 1]),
                       keep_dims=False) if want.ndim == 1 else add(body, p, p)
        piece = body.result(made)
        (y,) = simple_loop(net, net.param("trips", "i64", []), body, [net.param("x", "f32", [3, 3])],
                           [(2, p, {"axis": 0, **cut})], [(piece, {"axis": axis, **cut})], [])
        net.result(y, "y")
        yield Case(FAMILY, name, net, {"trips": np.int64(3), "x": x}, {"y": want}, about, EXACT,
                   departure, runs_openvino=not departure)


def nested_cases():
    net = Net("nested")
    x = net.param("x", "f32", [2])
    outer = net.body()
    s, inner_trips = outer.param("s", "f32", [2]), outer.param("n", "i64", [])
    inner = outer.body()
    t = inner.param("t", "f32", [2])
    half = inner.result(
        add(inner, inner.op("Multiply", t, inner.const(np.float32(0.5)), auto_broadcast="numpy"),
            inner.const(np.float32(1))))
    (inside,) = simple_loop(outer, inner_trips, inner, [s], [(2, t, {})], [(half, {})], [(half, t)])
    done = outer.result(add(outer, inside, outer.const(np.float32(2))))
    (y,) = simple_loop(net, net.param("m", "i64", []), outer, [x, net.param("n", "i64", [])],
                       [(2, s, {}), (3, inner_trips, {})], [(done, {})], [(done, s)])
    net.result(y, "y")
    feed = {"x": np.float32([8, -4]), "m": np.int64(3), "n": np.int64(2)}
    v = feed["x"]
    for _ in range(3):
        for _ in range(2):
            v = v * np.float32(0.5) + 1
        v = v + 2
    yield Case(FAMILY, net.name, net, feed, {"y": v},
               "A Loop in a Loop, both trip counts from data.", EXACT)

    net = Net("if_in_loop")
    body = net.body()
    s, it = body.param("s", "f32", [2]), body.param("it", "i64", [])
    even = body.op("Less", it, body.i64(2), auto_broadcast="numpy")
    then, other = body.body(), body.body()
    p, q = then.param("p", "f32", [2]), other.param("q", "f32", [2])
    r1 = then.result(add(then, p, then.const(np.float32(10))))
    r2 = other.result(other.op("Multiply", q, other.const(np.float32(2)), auto_broadcast="numpy"))
    (chosen,) = body.choose(even, [s], (then, [(1, p)], [r1]), (other, [(1, q)], [r2]), 1)
    done = body.result(chosen)
    (y,) = simple_loop(net, net.param("trips", "i64", []), body, [net.param("x", "f32", [2])],
                       [(2, s, {}),
                        (-1, it, {"purpose": "current_iteration"})], [(done, {})], [(done, s)])
    net.result(y, "y")
    yield Case(FAMILY, net.name, net, {"trips": np.int64(4), "x": np.float32([1, -3])},
               {"y": (np.float32([1, -3]) + 20) * 4},
               "An If in a Loop: adds in the first two passes, doubles after.", EXACT)

    net = Net("state_shift_register")
    body = net.body()
    a, b, x = (body.param(n, "f32", [2]) for n in ("a", "b", "x"))
    ra, rb = body.result(add(body, b, x)), body.result(add(body, a, body.const(np.float32(0))))
    ya, yb = simple_loop(
        net, net.param("trips", "i64", []), body,
        [net.param("a0", "f32", [2]),
         net.param("b0", "f32", [2]),
         net.param("x", "f32", [2])], [(2, a, {}), (3, b, {}), (4, x, {})], [(ra, {}),
                                                                             (rb, {})], [(ra, a),
                                                                                         (rb, b)])
    net.result(ya, "ya")
    net.result(yb, "yb")
    p, q, x = np.float32([1, 2]), np.float32([10, 20]), np.float32([0.5, 0.25])
    feed = {"trips": np.int64(5), "a0": p, "b0": q, "x": x}
    for _ in range(5):
        p, q = q + x, p
    yield Case(FAMILY, net.name, net, feed, {"ya": p, "yb": q},
               "Two states that change places in every pass.", EXACT)


def recurrent_case():
    from . import reference
    from .lstm_cell import attrs_of, make_data
    data = make_data((FAMILY, "lstm"), 2, 3, 4)
    X = uniform(rng(FAMILY, "X"), (6, 2, 3))
    net = Net("lstm_cell_in_loop")
    body = net.body()
    xi, h, c = body.param("xi", "f32", [1, 2, 3]), body.param("h", "f32", [2, 4]), body.param(
        "c", "f32", [2, 4])
    news = body.op("LSTMCell", body.op("Squeeze", xi, body.i64([0])), h, c,
                   *(body.const(data[k]) for k in "WRB"), v=4, outs=2, data=attrs_of(4))
    rh, rc = (body.result(p) for p in news)
    ry = body.result(body.op("Unsqueeze", news[0], body.i64([0])))
    y, last = simple_loop(net, net.param("trips", "i64", []), body, [
        net.param("X", "f32", [6, 2, 3]),
        net.param("H", "f32", [2, 4]),
        net.param("C", "f32", [2, 4])
    ], [(2, xi, {"axis": 0, "start": 0, "end": -1, "stride": 1, "part_size": 1}), (3, h, {}),
        (4, c, {})], [(ry, {"axis": 0, "start": 0, "end": -1, "stride": 1, "part_size": 1}),
                      (rc, {})], [(rh, h), (rc, c)])
    net.result(y, "Y")
    net.result(last, "Co")
    state, rows = (np.float64(data["H"]), np.float64(data["C"])), []
    for t in range(6):
        state = reference.lstm_step(np.float64(X[t]), *state, *(np.float64(data[k]) for k in "WRB"))
        rows.append(state[0])
    yield Case(
        FAMILY, net.name, net, {"trips": np.int64(6), "X": X, "H": data["H"], "C": data["C"]},
        {"Y": np.float32(rows), "Co": np.float32(state[1])}, "An LSTMCell in a Loop, time first.",
        RECURRENT)


def cases():
    assert type_of(np.array(True)) == "boolean"
    for make in (count_cases, condition_cases, iteration_cases, data_cases, piece_cases, nested_cases,
                 recurrent_case):
        yield from make()
