# TensorIterator-1: slices, back edges, invariants, outputs; bodies of element-wise ops.
# SPDX-License-Identifier: Apache-2.0
import numpy as np

from . import departures
from .common import EXACT, Case, rng, uniform
from .net import Net, TYPES

FAMILY = "tensor_iterator"
CUT = {"start": 0, "end": -1, "stride": 1, "part_size": 1}


def add(net, a, b):
    return net.op("Add", a, b, auto_broadcast="numpy")


def multiply(net, a, b):
    return net.op("Multiply", a, b, auto_broadcast="numpy")


def running_sum(name, about, x, axis=1, part=None, back=True, out="concat", openvino="",
                dtype="f32", dynamic=False, out_attrs=None, want=None, stand_in=None):
    """y[t] = sum of x[0..t], x cut along axis; part: attributes of the sliced input."""
    part = dict(part or {"start": 0, "end": -1, "stride": 1, "part_size": 1})
    size = part.get("part_size", 1)
    piece = list(x.shape)
    piece[axis] = size
    net = Net(name)
    port = net.param("x", dtype,
                     [-1 if k == axis and dynamic else d for k, d in enumerate(x.shape)])
    zero = net.const(np.zeros(piece, TYPES[dtype][1]))
    body = net.body()
    xi, s = body.param("xi", dtype, piece), body.param("s", dtype, piece)
    total = body.result(add(body, s, xi) if back else multiply(body, xi, xi))
    maps = [(0, xi, {"axis": axis, **part})] + ([(1, s, {})] if back else [])
    results = [(total, {
        "axis": axis, **(out_attrs or {"start": 0, "end": -1, "stride": size, "part_size": size})
    } if out == "concat" else {})]
    if not back:
        body.layers.remove(s.layer)
        body.layers.remove(zero.layer) if zero.layer in body.layers else None
    (y,) = net.iterate("TensorIterator", [port, zero] if back else [port], body, maps, results,
                       [(total, s)] if back else [])
    net.result(y, "y")
    if want is None:
        start, end, stride = part.get("start", 0), part.get("end", -1), part.get("stride", 1)
        n = x.shape[axis]
        start, end = (start + n + 1 if start < 0 else start), (end + n + 1 if end < 0 else end)
        low, high = min(start, end), max(start, end)
        pieces = np.split(np.take(x, range(low, high), axis), (high - low) // size, axis)
        pieces = pieces[::-1] if stride < 0 else pieces
        sums, total = [], np.zeros(piece, x.dtype)
        for p in pieces:
            total = total + p if back else p * p
            sums.append(total)
        want = np.concatenate(sums, axis) if out == "concat" else total
    return Case(FAMILY, name, net, {"x": x}, {"y": want}, about, EXACT, openvino, stand_in=stand_in)


def grid(*shape, dtype=np.float32):
    return (np.arange(1, 1 + int(np.prod(shape))).reshape(shape) % 17).astype(dtype)


def slice_cases():
    x = grid(2, 6, 3)

    def part(start, end, stride, size):
        return {"start": start, "end": end, "stride": stride, "part_size": size}

    yield running_sum("sum_forward", "A running sum over axis 1.", x)
    yield running_sum("sum_axis_0", "Slices along axis 0.", x, 0)
    yield running_sum("sum_axis_2", "Slices along the last axis.", x, 2)
    yield running_sum("defaults", "Only axis is given: start 0, end -1, stride 1, part_size 1.", x,
                      part={}, out_attrs={"part_size": 1})
    yield running_sum("sum_backward",
                      "stride -1 from -1 to 0; the output is in the order of the iterations.", x,
                      part=part(-1, 0, -1, 1), out_attrs=part(0, -1, 1, 1))
    forward = running_sum("", "", x[:, ::-1].copy())
    yield running_sum(
        "sum_backward_both",
        "stride -1 on input and output: the output lies as the input does.", x, part=part(
            -1, 0, -1, 1), out_attrs=part(-1, 0, -1, 1), want=forward.want["y"][:, ::-1].copy())
    yield running_sum("output_reversed", "stride -1 on the output alone.", x, out_attrs=part(
        -1, 0, -1, 1), want=running_sum("", "", x).want["y"][:, ::-1].copy())
    yield running_sum("part_size_2", "Slices of two.", x, part=part(0, -1, 2, 2))
    yield running_sum("part_size_3_backward", "Slices of three from the end.", x, part=part(
        -1, 0, -3, 3), out_attrs=part(0, -1, 3, 3))
    yield running_sum("end_4", "end 4 is exclusive: four iterations.", x, part=part(0, 4, 1, 1),
                      openvino=departures.END_COUNT)
    yield running_sum("end_4_last_value", "end 4 is exclusive: the value of the fourth iteration.",
                      x, part=part(0, 4, 1, 1), out="last")
    yield running_sum("end_minus_3", "end -3 counts from the length plus one.", x, part=part(
        0, -3, 1, 1))
    yield running_sum("start_2", "start 2 of 6: four iterations.", x, part=part(2, -1, 1, 1),
                      openvino=departures.SLICE_START)
    yield running_sum("start_1_part_2", "start 1, end 5, slices of two.", x, part=part(1, 5, 2, 2),
                      openvino=departures.SLICE_START)
    yield running_sum("last_value", "The output is that of the last iteration.", x, out="last")
    yield running_sum("no_back_edge", "No back edge: each slice for itself.", x, back=False)
    yield running_sum("one_iteration", "One iteration.", grid(2, 1, 3))
    yield running_sum("dynamic_length", "The number of iterations comes with the record.", x,
                      dynamic=True)
    yield running_sum("i32", "In i32.", grid(2, 5, dtype=np.int32), dtype="i32")
    yield running_sum("f64", "In f64.", np.float64(grid(2, 5)) / 1024, dtype="f64")


def wiring_cases():
    a, b = grid(1, 5, 2), grid(5, 2) + 1
    net = Net("two_sliced_inputs")
    body = net.body()
    p, q = body.param("p", "f32", [1, 1, 2]), body.param("q", "f32", [1, 2])
    r = body.result(multiply(body, p, q))
    (y,) = net.iterate("TensorIterator",
                       [net.param("a", "f32", [1, 5, 2]),
                        net.param("b", "f32", [5, 2])], body, [(0, p, {"axis": 1, **CUT}),
                                                               (1, q, {"axis": 0, **CUT})],
                       [(r, {"axis": 1, **CUT})])
    net.result(y, "y")
    yield Case(FAMILY, net.name, net, {"a": a, "b": b}, {"y": a * b[None]},
               "Two inputs cut along different axes.", EXACT)

    net = Net("one_forward_one_backward")
    body = net.body()
    p, q = body.param("p", "f32", [1, 1, 2]), body.param("q", "f32", [1, 2])
    r = body.result(body.op("Subtract", p, q, auto_broadcast="numpy"))
    (y,) = net.iterate("TensorIterator",
                       [net.param("a", "f32", [1, 5, 2]),
                        net.param("b", "f32", [5, 2])], body,
                       [(0, p, {"axis": 1, **CUT}),
                        (1, q, {"axis": 0, "start": -1, "end": 0, "stride": -1, "part_size": 1})],
                       [(r, {"axis": 1, **CUT})])
    net.result(y, "y")
    yield Case(FAMILY, net.name, net, {"a": a, "b": b}, {"y": a - b[None, ::-1]},
               "One input from the end.", EXACT)

    net = Net("invariant_input")
    body = net.body()
    p, w = body.param("p", "f32", [1, 1, 2]), body.param("w", "f32", [2])
    r = body.result(multiply(body, p, w))
    (y,) = net.iterate("TensorIterator",
                       [net.param("a", "f32", [1, 5, 2]),
                        net.param("w", "f32", [2])], body, [(0, p, {"axis": 1, **CUT}),
                                                            (1, w, {})], [(r, {"axis": 1, **CUT})])
    net.result(y, "y")
    w_value = np.float32([2, -1])
    yield Case(FAMILY, net.name, net, {"a": a, "w": w_value}, {"y": a * w_value},
               "An input that is the same in every "
               "iteration.", EXACT)

    yield crossed_case(a)

    net = Net("three_outputs")
    body = net.body()
    p, s = body.param("p", "f32", [1, 1, 2]), body.param("s", "f32", [1, 1, 2])
    total = body.result(add(body, p, s))
    square = body.result(multiply(body, p, p))
    y, sq, last = net.iterate(
        "TensorIterator", [net.param("a", "f32", [1, 5, 2]),
                           net.param("first", "f32", [1, 1, 2])], body, [(0, p, {"axis": 1, **CUT}),
                                                                         (1, s, {})],
        [(total, {"axis": 1, **CUT}),
         (square, {"axis": 2, "start": 0, "end": -1, "stride": 2, "part_size": 2}),
         (total, {})], [(total, s)])
    for port, n in ((y, "sums"), (sq, "squares"), (last, "last")):
        net.result(port, n)
    first = np.float32([[[10, 20]]])
    sums = np.cumsum(a, axis=1) + first
    yield Case(
        FAMILY, net.name, net, {"a": a, "first": first},
        {"sums": sums, "squares": (a * a).reshape(1, 1, 10), "last": sums[:, -1:]},
        "One Result is two outputs, concatenated and last; another is joined along another axis.",
        EXACT)

    net = Net("const_in_body")
    body = net.body()
    p = body.param("p", "f32", [1, 1, 2])
    r = body.result(
        add(body, multiply(body, p, body.const(np.float32([0.5, 4]))), body.const(np.float32(1))))
    (y,) = net.iterate("TensorIterator", [net.param("a", "f32", [1, 5, 2])], body,
                       [(0, p, {"axis": 1, **CUT})], [(r, {"axis": 1, **CUT})])
    net.result(y, "y")
    yield Case(FAMILY, net.name, net, {"a": a}, {"y": a * np.float32([0.5, 4]) + 1},
               "The body has Consts of its own in the same .bin.", EXACT)


def crossed_case(a):
    def build(name, keep):
        net = Net(name)
        body = net.body()
        p, s, t = (body.param(n, "f32", [1, 1, 2]) for n in ("p", "s", "t"))
        new_s, new_t = body.result(add(body, t, p)), body.result(keep(body, s))
        zero, one = net.const(np.zeros((1, 1, 2), np.float32)), net.const(
            np.ones((1, 1, 2), np.float32))
        y, last = net.iterate("TensorIterator", [net.param("a", "f32", [1, 5, 2]), zero, one], body,
                              [(0, p, {"axis": 1, **CUT}), (1, s, {}), (2, t, {})],
                              [(new_s, {"axis": 1, **CUT}), (new_t, {})], [(new_s, s), (new_t, t)])
        net.result(y, "y")
        net.result(last, "last")
        return net

    rows, s, t = [], np.zeros(2, np.float32), np.ones(2, np.float32)
    for k in range(5):
        s, t = t + a[0, k], s
        rows.append(s)
    # Half of twice s is s again, but no longer a Parameter that goes straight to a Result.
    twin = build("", lambda body, s: multiply(body, add(body, s, s), body.const(np.float32(0.5))))
    return Case(FAMILY, "two_states_crossed", build("two_states_crossed", lambda body, s: s),
                {"a": a}, {"y": np.array(rows)[None], "last": t.reshape(1, 1, 2)},
                "Two states that swap places: all back edges move at once.", EXACT,
                departures.BACK_EDGES, stand_in=twin)


def nested_case():
    """Sums of rows inside, of columns outside."""
    x = grid(3, 4, 2)
    net = Net("nested")
    port = net.param("x", "f32", [3, 4, 2])
    outer = net.body()
    row, total = outer.param("row", "f32", [1, 4, 2]), outer.param("total", "f32", [1, 4, 2])
    inner = outer.body()
    item, s = inner.param("item", "f32", [1, 1, 2]), inner.param("s", "f32", [1, 1, 2])
    inner_sum = inner.result(add(inner, item, s))
    (rows,) = outer.iterate("TensorIterator",
                            [row, outer.const(np.zeros(
                                (1, 1, 2), np.float32))], inner, [(0, item, {"axis": 1, **CUT}),
                                                                  (1, s, {})],
                            [(inner_sum, {"axis": 1, **CUT})], [(inner_sum, s)], dtypes=["f32"])
    outer_sum = outer.result(add(outer, rows, total))
    (y,) = net.iterate("TensorIterator", [port, net.const(np.zeros(
        (1, 4, 2), np.float32))], outer, [(0, row, {"axis": 0, **CUT}), (1, total, {})],
                       [(outer_sum, {"axis": 0, **CUT})], [(outer_sum, total)])
    net.result(y, "y")
    twin = Net("twin")
    once = twin.op("CumSum", twin.param("x", "f32", [3, 4, 2]), twin.i64(1), v=3, exclusive=False,
                   reverse=False)
    twin.result(twin.op("CumSum", once, twin.i64(0), v=3, exclusive=False, reverse=False), "y")
    yield Case(FAMILY, net.name, net, {"x": x}, {"y": np.cumsum(np.cumsum(x, 1), 0)},
               "A TensorIterator in a TensorIterator's body.", EXACT, departures.NESTED_ITERATOR,
               stand_in=twin)


def stack_case():
    x = np.round(uniform(rng(FAMILY, "stack"), (4, 1, 3, 2)) * 16) / 16
    base = running_sum("stack_of_records", "Each record starts from the initial value again.", x[0])
    base.feed, base.want = {"x": x}, {"y": np.cumsum(x, axis=2)}
    yield base


def cases():
    for make in (slice_cases, wiring_cases, nested_case, stack_case):
        yield from make()
