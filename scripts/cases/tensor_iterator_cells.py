# TensorIterators around a recurrent cell: the forms that are a sequence op, and near misses that
# are not.
# SPDX-License-Identifier: Apache-2.0
import numpy as np

from . import departures, reference, unrolled
from .common import RECURRENT, Case
from .lstm_cell import attrs_of as lstm_attrs
from .lstm_sequence import make_data
from .net import Net
from .recurrent import KINDS, cell_attrs

FAMILY = "tensor_iterator"
FORWARD = {"start": 0, "end": -1, "stride": 1, "part_size": 1}
BACKWARD = {"start": -1, "end": 0, "stride": -1, "part_size": 1}
SIZES = (2, 5, 3, 4)  # batch, time, input, hidden


class Iterated:
    """A TensorIterator whose body is one cell, with switches for each way to write it.

    kind: lstm, gru, rnn. axis: of time in X. squeeze: Squeeze or Reshape. twist: a function of
    (body, ports of the new states) that returns what goes over the back edges. weights: "const" in
    the body, or "input" of the TensorIterator. outputs: which of sequence and last states are
    outputs. written_out: an LSTM in element-wise ops. regroups: X has a batch of 1 with all inputs
    of a step in a row, which Reshape divides. skips: the first step of X is not read."""
    def __init__(self, name, kind="lstm", axis=1, reverse_in=False, reverse_out=None,
                 squeeze="Squeeze", version=4, twist=None, weights="const", attrs=None,
                 dynamic=False, outputs=("Y", "Ho", "Co"), before=None, init="param",
                 written_out=False, regroups=False, skips=False):
        batch, time, inputs, hidden = SIZES
        self.name, self.kind, self.axis, self.reverse = name, kind, axis, reverse_in
        gates = 4 if kind == "lstm" else KINDS[kind][1]
        lbr = bool((attrs or {}).get("linear_before_reset"))
        self.data = make_data((FAMILY, "cells", name), batch, time, inputs, hidden, gates=gates,
                              bias_gates=gates + lbr, states=2 if kind == "lstm" else 1)
        net = self.net = Net(name)
        shape = [batch, time, inputs] if axis == 1 else [time, batch, inputs]
        if regroups:
            shape = [1, time, batch * inputs]
        piece = [1 if k == axis else d for k, d in enumerate(shape)]
        x = net.param("X", "f32", [-1 if k == axis and dynamic else d for k, d in enumerate(shape)])
        names = ["H0", "C0"] if kind == "lstm" else ["H0"]
        states = [
            net.const(self.data[n][:,
                                   0]) if init == "const" else net.param(n, "f32", [batch, hidden])
            for n in names
        ]
        body = net.body()
        xi = body.param("xi", "f32", piece)
        olds = [body.param(n, "f32", [batch, hidden]) for n in names]
        outer, maps = [x] + states, [(0, xi, {
            "axis": axis, **(BACKWARD if reverse_in else FORWARD),
            **({"end" if reverse_in else "start": 1} if skips else {})
        })]
        maps += [(1 + k, p, {}) for k, p in enumerate(olds)]
        w = []
        for key in "WRB":
            if weights == "input":
                outer.append(net.const(self.data[key][0]))
                w.append(body.param(key, "f32", list(self.data[key][0].shape)))
                maps.append((len(outer) - 1, w[-1], {}))
            else:
                w.append(body.const(self.data[key][0]))
        flat = body.op("Squeeze", xi, body.i64([axis])) if squeeze == "Squeeze" else body.op(
            "Reshape", xi, body.i64([batch, inputs]), special_zero=False)
        if before:
            flat = before(body, flat)
        if written_out:
            news = unrolled.lstm_step(body, flat, *olds, self.data)
        elif kind == "lstm":
            news = body.op("LSTMCell", flat, *olds, *w, v=version, outs=2, data=lstm_attrs(
                hidden, attrs))
        else:
            news = (body.op(KINDS[kind][0] + "Cell", flat, *olds, *w, v=3 if kind == "gru" else 1,
                            data=cell_attrs(kind, hidden, attrs)),)
        back = twist(body, list(news)) if twist else list(news)
        wide = body.op("Unsqueeze", news[0], body.i64([axis])) if squeeze == "Squeeze" else body.op(
            "Reshape", news[0],
            body.i64([
                1 if k == axis else d
                for k, d in enumerate((batch, time, hidden) if axis == 1 else (time, batch, hidden))
            ]), special_zero=False)
        y = body.result(wide)
        ends = [body.result(p) for p in back]
        reverse_out = reverse_in if reverse_out is None else reverse_out
        results = []
        if "Y" in outputs:
            results.append((y, {"axis": axis, **(BACKWARD if reverse_out else FORWARD)}))
        results += [(e, {}) for e, n in zip(ends, ("Ho", "Co")) if n in outputs]
        ports = net.iterate("TensorIterator", outer, body, maps, results, list(zip(ends, olds)))
        for port, n in zip(ports, [o for o in outputs if o != "Co" or kind == "lstm"]):
            net.result(port, n)
        self.states, self.outputs, self.reverse_out, self.init = names, outputs, reverse_out, init
        self.x_shape, self.n_skipped = shape, int(skips)

    def feed(self):
        X = self.data["X"] if self.axis == 1 else self.data["X"].transpose(1, 0, 2)
        if self.x_shape[0] == 1:
            X = X.transpose(1, 0, 2)
        feed = {"X": np.ascontiguousarray(X).reshape(self.x_shape)}
        if self.init == "param":
            feed.update({n: self.data[n][:, 0] for n in self.states})
        return feed

    def golden(self, twist=None, before=None, **ref):
        d = {k: np.float64(v) for k, v in self.data.items()}
        w = [d[k][0] for k in "WRB"]
        states, times = [d[n][:, 0] for n in self.states], range(self.n_skipped, d["X"].shape[1])
        rows = []
        for t in (reversed(times) if self.reverse else times):
            x = before(d["X"][:, t]) if before else d["X"][:, t]
            step = reference.lstm_step if self.kind == "lstm" else KINDS[self.kind][3]
            news = step(x, *states, *w, **ref)
            news = list(news) if self.kind == "lstm" else [news]
            rows.append(news[0])
            states = twist(news) if twist else news
        Y = np.stack(rows[::-1] if self.reverse_out else rows, axis=self.axis)
        want = dict(zip(("Y", "Ho", "Co"), [Y] + states))
        return {n: np.float32(want[n]) for n in self.outputs if n in want}


def case(name, about, twist=None, twist_ref=None, before=None, before_ref=None, ref=None,
         openvino="", **how):
    form = Iterated(name, twist=twist, before=before, **how)
    twin = Iterated(name, twist=twist, before=before, written_out=True, **
                    how).net if openvino == departures.FALSE_FUSION else None
    return Case(FAMILY, name, form.net, form.feed(),
                form.golden(twist_ref, before_ref, **(ref or {})), about, RECURRENT, openvino,
                stand_in=twin)


def sequence_forms():
    yield case("lstm_forward", "An LSTMCell over time: an LSTMSequence.")
    yield case("lstm_reverse", "The same from the end, input and output with stride -1.",
               reverse_in=True)
    yield case("lstm_time_first", "Time on axis 0.", axis=0)
    yield case("lstm_time_first_reverse", "Time on axis 0, from the end.", axis=0, reverse_in=True)
    yield case("lstm_reshape", "Reshape instead of Squeeze and Unsqueeze.", squeeze="Reshape")
    yield case("lstm_cell_version_1", "The cell is LSTMCell-1.", version=1)
    yield case("lstm_weights_from_outside", "W, R and B are invariant inputs.", weights="input")
    yield case("lstm_only_sequence", "Only Y is an output.", outputs=("Y",))
    yield case("lstm_only_last", "Only the last states are outputs.", outputs=("Ho", "Co"))
    yield case("lstm_const_states", "The initial states are Consts.", init="const")
    yield case("lstm_dynamic_time", "The number of steps comes with the record.", dynamic=True)
    yield case("lstm_clip", "The cell has clip 0.5 and other activations.", attrs={
        "clip": 0.5, "activations": "sigmoid, relu, tanh"
    }, ref={"clip": 0.5, "activations": ("sigmoid", "relu", "tanh")})
    yield case("gru_forward", "A GRUCell over time: a GRUSequence.", kind="gru")
    yield case("gru_reverse", "The same from the end.", kind="gru", reverse_in=True)
    yield case("gru_lbr", "A GRUCell with linear_before_reset.", kind="gru",
               attrs={"linear_before_reset": True}, ref={"linear_before_reset": True})
    yield case("gru_time_first", "Time on axis 0.", kind="gru", axis=0)
    yield case("rnn_forward", "An RNNCell over time: an RNNSequence.", kind="rnn")
    yield case("rnn_reverse_reshape", "From the end, with Reshape.", kind="rnn", reverse_in=True,
               squeeze="Reshape")


def scaled(body, port, factor):
    return body.op("Multiply", port, body.const(np.float32(factor)), auto_broadcast="numpy")


def near_misses():
    yield case("near_input_reversed_only",
               "Near miss: the input from the end, the output from the start.", reverse_in=True,
               reverse_out=False, openvino=departures.FALSE_FUSION)
    yield case("near_output_reversed_only", "Near miss: the output alone has stride -1.",
               reverse_out=True, openvino=departures.FALSE_FUSION)
    yield case("near_state_scaled", "Near miss: H is halved on its way back.",
               lambda body, s: [scaled(body, s[0], 0.5), s[1]], lambda s: [s[0] * 0.5, s[1]])
    yield case("near_states_crossed", "Near miss: H and C change places on the way back.",
               lambda body, s: s[::-1], lambda s: s[::-1], openvino=departures.FALSE_FUSION)
    yield case("near_cell_state_twice", "Near miss: C goes back as both states.",
               lambda body, s: [s[1], s[1]], lambda s: [s[1], s[1]],
               openvino=departures.FALSE_FUSION)
    yield case("near_input_scaled", "Near miss: X is scaled inside the body.",
               before=lambda body, x: scaled(body, x, 0.75), before_ref=lambda x: x * 0.75)
    yield case("near_gru_scaled", "Near miss: a GRU whose state is scaled.",
               lambda body, s: [scaled(body, s[0], -0.5)], lambda s: [s[0] * -0.5], kind="gru")
    yield case("near_input_regrouped", "Near miss: Reshape divides a row of X among the batch.",
               squeeze="Reshape", regroups=True, openvino=departures.FALSE_FUSION)
    yield case("near_input_tanh", "Near miss: X goes through Tanh inside the body.",
               before=lambda body, x: body.op("Tanh", x), before_ref=np.tanh, kind="rnn")
    yield case("near_input_from_1", "Near miss: the first step of X is left out.", skips=True,
               openvino=departures.SLICE_START)
    yield case("near_input_back_to_1", "Near miss: from the end, but for the first step of X.",
               reverse_in=True, skips=True, openvino=departures.FALSE_FUSION)


def without_steps():
    """Of no time step the last states are the first."""
    for kind in ("lstm", "gru"):
        form = Iterated(f"{kind}_no_steps", kind=kind, dynamic=True)
        feed = form.feed()
        ends = dict(zip(("Ho", "Co"), (feed[n] for n in form.states)))
        feed["X"] = feed["X"][:, :0]
        empty = np.zeros((SIZES[0], 0, SIZES[3]), np.float32)
        yield Case(FAMILY, form.name, form.net, feed, {"Y": empty, **ends},
                   "No time step at all: Y is empty, and the states stay as they were.", RECURRENT,
                   openvino=departures.ITERATED_TIME_0, runs_openvino=False)


def old_converter_form():
    """As converters wrote it in 2020: version 10, LSTMCell of opset1, Const at port 1, no names on
    ports."""
    form = Iterated(
        "old_converter_lstm", version=1, squeeze="Reshape", attrs={
            "activations": None, "activations_alpha": None, "activations_beta": None, "clip": None
        })
    form.net.version = 10
    nets = [form.net] + [
        part for layer in form.net.layers for _, part in layer.parts if isinstance(part, Net)
    ]
    for net in nets:
        for layer in net.layers:
            if layer.type == "Const":
                layer.first_output = 1
            if net is not form.net:
                layer.id += 10
    for layer in form.net.layers:
        for tag, part in layer.parts:
            if tag == "port_map":
                part[:] = [(t, {k: v + 10 if k == "internal_layer_id" else v
                                for k, v in a.items()}) for t, a in part]
            elif tag == "back_edges":
                part[:] = [(t, {k: v + 10 for k, v in a.items()}) for t, a in part]
    yield Case(
        FAMILY, form.name, form.net, form.feed(), form.golden(),
        "Version 10 of old converters: body ids from 10, Consts end at port 1, only hidden_size.",
        RECURRENT)


def cases():
    yield from sequence_forms()
    yield from near_misses()
    yield from without_steps()
    yield from old_converter_form()
