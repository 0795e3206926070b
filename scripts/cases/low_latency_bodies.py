# TensorIterator and Loop in chunks of frames, as in low_latency.py.
# SPDX-License-Identifier: Apache-2.0
import numpy as np

from . import departures
from .common import rng, uniform
from .low_latency import FAMILY, FRAMES, HIDDEN, INPUTS, Layer, case, data_of, refused
from .lstm_cell import attrs_of
from .net import Net

WHOLE = {"axis": 1, "start": 0, "end": -1, "stride": 1, "part_size": 1}


def add(net, a, b):
    return net.op("Add", a, b, auto_broadcast="numpy")


class Body:
    """The body of a TensorIterator or Loop: an LSTM cell, or a sum that decays, of a slice of x."""
    def __init__(self, net, batch=1):
        self.net, self.body, self.maps, self.results, self.back = net, net.body(), [], [], []
        self.inputs, self.batch = [], batch

    def cut(self, port, piece, **how):
        slot = self.body.param(f"slice{len(self.maps)}", "f32", piece)
        self.inputs.append(port)
        self.maps.append((len(self.inputs) - 1, slot, {**WHOLE, **how}))
        return slot

    def state(self, port, shape):
        slot = self.body.param(f"state{len(self.maps)}", "f32", shape)
        self.inputs.append(port)
        self.maps.append((len(self.inputs) - 1, slot, {}))
        return slot

    def feed_back(self, value, slot):
        result = self.body.result(value)
        self.back.append((result, slot))
        return result

    def close(self, layer_type, **how):
        return self.net.iterate(layer_type, self.inputs, self.body, self.maps, self.results,
                                self.back, **how)


def decay_golden(x, last=None):
    """state = 0.5 * state + x, over axis 1"""
    state, rows = np.zeros_like(x[:, :1]) if last is None else last, []
    for t in range(x.shape[1]):
        state = 0.5 * state + x[:, t:t + 1]
        rows.append(state)
    return np.concatenate(rows, 1), state


def stacked_decays():
    name = "stacked_iterators"
    net, x = Net(name), data_of(name, 2, FRAMES, INPUTS)
    port = net.param("x", "f32", list(x.shape))
    for layer in ("first", "second"):
        b = Body(net, 2)
        piece = b.cut(port, [2, 1, INPUTS])
        old = b.state(net.const(np.zeros((2, 1, INPUTS), np.float32)), [2, 1, INPUTS])
        half = b.body.op("Multiply", old, b.body.const(np.float32(0.5)), auto_broadcast="numpy")
        b.results = [(b.feed_back(add(b.body, half, piece), old), WHOLE)]
        port, = b.close("TensorIterator", v=1, name=layer)
    net.result(port, "all")
    want = decay_golden(decay_golden(np.float64(x))[0])[0]
    return case(name, "Two iterators, the second on the output of the first; no state is an output.",
                net, {"x": x}, {"all": want}, "--axis=1:N --concat=all=1")


def decay(name, about, outputs=("all", "last"), end=-1, layer_type="TensorIterator", trips=None,
          condition=None, count=False, refusal=None, chunks="--axis=1:N --concat=all=1"):
    net, x = Net(name), data_of(name, 2, FRAMES, INPUTS)
    b = Body(net, 2)
    port = net.param("x", "f32", list(x.shape))
    special = []
    if layer_type == "Loop":
        b.inputs += [trips(net, port) if trips else net.i64(FRAMES), net.const(np.array(True))]
    piece = b.cut(port, [2, 1, INPUTS], end=end)
    old = b.state(net.const(np.zeros((2, 1, INPUTS), np.float32)), [2, 1, INPUTS])
    new = add(b.body, b.body.op("Multiply", old, b.body.const(np.float32(0.5)),
                                auto_broadcast="numpy"), piece)
    if count:
        number = b.body.param("number", "i64", [])
        b.maps.append((-1, number, {"purpose": "current_iteration"}))
        new = add(b.body, new, b.body.op("Convert", number, destination_type="f32"))
    result = b.feed_back(new, old)
    b.results = [(result, {**WHOLE, "end": end} if o == "all" else {}) for o in outputs]
    if layer_type == "Loop":
        go = condition(b.body, new) if condition else b.body.const(np.array(True))
        again = b.body.result(go)
        special = [("output", {
            "external_port_id": -1, "internal_layer_id": again.id, "purpose": "execution_condition"
        })]
    ports = b.close(layer_type, v=5 if layer_type == "Loop" else 1, name="decay", special=special)
    for out, output in zip(ports, outputs):
        net.result(out, output)
    counted = np.float64(x) + (np.arange(FRAMES)[:, None] if count else 0)
    want = dict(zip(("all", "last"), decay_golden(counted)))
    want = {o: want[o] for o in outputs}
    if refusal:
        return refused(name, about, net, {"x": x}, want, refusal)
    return case(name, about, net, {"x": x}, want, chunks,
                openvino=departures.END_COUNT if end > 0 else "")


def cells(name, about, last=True, refusal=None):
    """An LSTM cell over time, time first, with its states in a Const; written as old converters do."""
    layer = Layer((name,), "lstm")
    net, x = Net(name), data_of(name, FRAMES, 1, INPUTS)
    b = Body(net)
    port = net.param("x", "f32", list(x.shape))
    piece = b.cut(port, [1, 1, INPUTS], axis=0)
    zero = np.zeros((1, HIDDEN), np.float32)
    h, c = (b.state(net.const(zero), [1, HIDDEN]) for _ in range(2))
    if refusal:  # both maps have one port
        b.maps[-1] = (b.maps[-2][0], *b.maps[-1][1:])
        b.inputs.pop()
    flat = b.body.op("Squeeze", piece, b.body.i64([0]))
    new_h, new_c = b.body.op("LSTMCell", flat, h, c, *(b.body.const(layer.w[k][0]) for k in "WRB"),
                             v=4, outs=2, data=attrs_of(HIDDEN))
    b.feed_back(new_h, h)
    end = b.feed_back(new_c, c)
    wide = b.body.result(b.body.op("Unsqueeze", new_h, b.body.i64([0])))
    b.results = [(wide, {**WHOLE, "axis": 0})] + ([(end, {})] if last else [])
    ports = b.close("TensorIterator", name="cells")
    net.result(ports[0], "y")
    if last:
        net.result(ports[1], "c")
    y, (_, c) = layer.golden(np.float64(x).transpose(1, 0, 2))
    want = {"y": y.transpose(1, 0, 2), **({"c": c} if last else {})}
    if refusal:
        return refused(name, about, net, {"x": x}, want, refusal, departures.ONE_START)
    return case(name, about, net, {"x": x}, want, "--axis=0:N --concat=y=0")


def two_inputs():
    name = "iterator_two_inputs"
    g = rng(FAMILY, name)
    net, x, k = Net(name), data_of(name, 1, FRAMES, INPUTS), uniform(g, (1, FRAMES, 1))
    b = Body(net)
    a = b.cut(net.param("x", "f32", list(x.shape)), [1, 1, INPUTS])
    f = b.cut(net.param("k", "f32", list(k.shape)), [1, 1, 1], end=FRAMES)
    old = b.state(net.const(np.ones((1, 1, INPUTS), np.float32)), [1, 1, INPUTS])
    new = add(b.body, b.body.op("Multiply", old, f, auto_broadcast="numpy"), a)
    result = b.feed_back(new, old)
    b.results = [(result, WHOLE)]
    net.result(b.close("TensorIterator")[0], "y")
    state, rows = np.ones((1, 1, INPUTS)), []
    for t in range(FRAMES):
        state = state * np.float64(k[:, t:t + 1]) + np.float64(x[:, t:t + 1])
        rows.append(state)
    return case(name, "Two inputs are cut; one map says the number of frames.", net,
                {"x": x, "k": k}, {"y": np.concatenate(rows, 1)},
                "--axis=x=1:N --axis=k=1:N --concat=1", openvino=departures.END_COUNT)


def trips_of_shape(net, port):
    return net.op("Gather", net.op("ShapeOf", port, v=3, output_type="i64"), net.i64(1),
                  net.i64(0), v=8, batch_dims=0, dtype="i64")


def cases():
    yield stacked_decays()
    yield decay("iterator", "A TensorIterator with all values of its state, and the last.")
    yield decay("iterator_last", "One that gives only the last value.", ("last",), chunks="--axis=1:N")
    yield decay("iterator_all", "One that gives all values: its last state is not among the outputs.", ("all",),
                end=FRAMES, chunks="--axis=1:N --concat=1")
    yield cells("iterator_cells", "An LSTM cell, which runs as a sequence.")
    yield cells("iterator_cells_all", "The same without the last state as output.", last=False)
    yield cells("refused_one_start", "Both states of an LSTM cell start from one port.",
                refusal='TensorIterator "cells" has two states that start from one input, "Const_')
    yield two_inputs()
    yield decay("loop", "A Loop whose constant trip count is the number of frames.",
                layer_type="Loop")
    yield decay("loop_trips_of_shape", "A Loop whose trip count ShapeOf gives.", ("all",),
                layer_type="Loop", trips=trips_of_shape, chunks="--axis=1:N --concat=1")
    yield decay("refused_loop_condition", "A Loop that may end early.", layer_type="Loop",
                condition=lambda body, new: body.op(
                    "Less", body.op("ReduceMax", new, body.i64([0, 1, 2]), keep_dims=False),
                    body.const(np.float32(1e9)), auto_broadcast="numpy"),
                refusal='Loop "decay" may end before the last frame')
    yield decay("refused_loop_number", "A body that computes with the number of the pass.",
                layer_type="Loop", count=True,
                refusal='Loop "decay" uses the iteration number')
