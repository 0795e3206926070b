# Models of whole sequences that --low-latency runs in chunks of frames, and models that it refuses.
# A case runs as written; tests/cli/test_low_latency.bats runs its input in chunks: the file `chunks`
# says along which axes, `refused` what the message must hold.
# SPDX-License-Identifier: Apache-2.0
import numpy as np

from . import reference
from .common import F64, RECURRENT, Case, rng, uniform
from .lstm_sequence import weights
from .net import Net
from .recurrent import KINDS

FAMILY = "low_latency"
FRAMES = 21  # chunks of 1, 3 and 7
INPUTS, HIDDEN = 3, 4
STATES = {"lstm": 2, "gru": 1, "rnn": 1}
GATES = {"lstm": 4, "gru": 3, "rnn": 1}


class Layer:
    """The weights of a recurrent layer, and what it computes from zeros."""
    def __init__(self, key, kind, inputs=INPUTS, hidden=HIDDEN, lbr=False, dtype=np.float32):
        self.kind, self.hidden, self.lbr, self.dtype = kind, hidden, lbr, dtype
        gates = GATES[kind]
        self.w = weights(rng(FAMILY, *key), 1, hidden, inputs, gates, gates + lbr, dtype)

    def golden(self, x, states=None):
        """x [B,T,I] -> [H of the frames, last states]"""
        w = [np.float64(self.w[k][0]) for k in "WRB"]
        now = states or [np.zeros((len(x), self.hidden))] * STATES[self.kind]
        rows = []
        for t in range(x.shape[1]):
            if self.kind == "lstm":
                now = list(reference.lstm_step(x[:, t], *now, *w))
            elif self.kind == "gru":
                now = [reference.gru_step(x[:, t], *now, *w, linear_before_reset=self.lbr)]
            else:
                now = [reference.rnn_step(x[:, t], *now, *w)]
            rows.append(now[0])
        return np.stack(rows, 1), now

    def ports(self, net, x, states, lengths, direction="forward", name=None):
        """The sequence op; returns its output ports."""
        data = {
            "hidden_size": self.hidden, "direction": direction, "clip": 0,
            "activations": ", ".join(KINDS[self.kind][2] if self.kind != "lstm" else
                                     ("sigmoid", "tanh", "tanh")), "activations_alpha": "",
            "activations_beta": ""
        }
        if self.kind == "gru":
            data["linear_before_reset"] = self.lbr
        op = {"lstm": "LSTMSequence", "gru": "GRUSequence", "rnn": "RNNSequence"}[self.kind]
        return net.op(op, x, *states, lengths, *(net.const(self.w[k]) for k in "WRB"), v=5,
                      outs=1 + STATES[self.kind], data=data, name=name, dtype=x.dtype)

    def zeros(self, net, batch):
        zero = np.zeros((batch, 1, self.hidden), self.dtype)
        return [net.const(zero, "f64" if self.dtype == np.float64 else None)
                for _ in range(STATES[self.kind])]


def length_of(net, x, axis):
    """The dimension of a port, as OpenVINO's converters compute it: [1]."""
    return net.op("Gather", net.op("ShapeOf", x, v=3, output_type="i64"), net.i64([axis]),
                  net.i64(0), v=8, batch_dims=0, dtype="i64")


def join(net, *parts):
    return net.op("Concat", *parts, axis=0)


def fill(net, value, shape):
    return net.op("Broadcast", value, shape, v=3, mode="numpy")


def no_direction(net, y):
    return net.op("Squeeze", y, net.i64([1]))


def turn(net, x, *order):
    return net.op("Transpose", x, net.i64(order))


def data_of(name, *shape, dtype=np.float32):
    return uniform(rng(FAMILY, name, "x"), shape, -1.5, 1.5, dtype)


def case(name, about, net, feed, want, chunks, args=RECURRENT, openvino=""):
    dtype = np.float64 if args == F64 else np.float32
    want = {k: np.asarray(v, dtype) for k, v in want.items()}
    return Case(FAMILY, name, net, feed, want, about, args,
                openvino=openvino, confirm_tolerance=(1e-6, 1e-5) if args == F64 else None,
                files={"chunks": (chunks + "\n").encode()})


def refused(name, about, net, feed, want, words, crash=""):
    want = {k: np.asarray(v, np.float32) for k, v in want.items()}
    return Case(FAMILY, name, net, feed, want, about, RECURRENT, crash, runs_openvino=not crash,
                files={"refused": (words + "\n").encode()})


def simple(name, kind, about, batch=1, lbr=False, dtype=np.float32):
    """One op, initial states and lengths that are Consts."""
    layer = Layer((name,), kind, lbr=lbr, dtype=dtype)
    net, x = Net(name), data_of(name, batch, FRAMES, INPUTS, dtype=dtype)
    port = net.param("x", "f64" if dtype == np.float64 else "f32", list(x.shape))
    outs = layer.ports(net, port, layer.zeros(net, batch), net.const(
        np.full(batch, FRAMES, np.int32)), name=kind)
    names = ["y", "h", "c"][:len(outs)]
    for out, output in zip(outs, names):
        net.result(out, output)
    y, last = layer.golden(np.float64(x))
    want = dict(zip(names, [y[:, None]] + [s[:, None] for s in last]))
    return case(name, about, net, {"x": x}, want, "--axis=1:N --concat=y=2",
                F64 if dtype == np.float64 else RECURRENT)


def states_by_shape():
    """Batch and time are open; states and lengths come from ShapeOf, and time is the first axis."""
    name = "states_by_shape"
    layer = Layer((name,), "gru", lbr=True)
    net, x = Net(name), data_of(name, FRAMES, 2, INPUTS)
    port = net.param("x", "f32", [-1, -1, INPUTS])
    batch = length_of(net, port, 1)
    state = fill(net, net.const(np.float32(0)), join(net, batch, net.i64([1]), net.i64([HIDDEN])))
    outs = layer.ports(net, turn(net, port, 1, 0, 2), [state],
                       fill(net, length_of(net, port, 0), batch))
    net.result(turn(net, no_direction(net, outs[0]), 1, 0, 2), "y")
    y, _ = layer.golden(np.float64(x).transpose(1, 0, 2))
    return case(name, "States and lengths that ShapeOf gives; time first, all dimensions open.", net,
                {"x": x}, {"y": y.transpose(1, 0, 2)}, "--axis=0:N --concat=0")


def two_layers():
    name = "two_layers"
    a, b = Layer((name, "a"), "lstm"), Layer((name, "b"), "gru", inputs=HIDDEN)
    net, x = Net(name), data_of(name, 1, FRAMES, INPUTS)
    dense = uniform(rng(FAMILY, name, "dense"), (5, HIDDEN))
    lengths = net.const(np.full(1, FRAMES, np.int64))
    first = no_direction(net, a.ports(net, net.param("x", "f32", list(x.shape)), a.zeros(net, 1),
                                      lengths, name="first")[0])
    second = no_direction(net, b.ports(net, first, b.zeros(net, 1), lengths, name="second")[0])
    both = net.op("Add", second, first, auto_broadcast="numpy")
    logits = net.op("MatMul", both, net.const(dense), transpose_a=False, transpose_b=True)
    net.result(net.op("SoftMax", logits, v=8, axis=-1), "y")
    h, _ = a.golden(np.float64(x))
    z = (b.golden(h)[0] + h) @ np.float64(dense).T
    e = np.exp(z - z.max(-1, keepdims=True))
    return case(name, "A tagger: two layers, a residual, a product and a SoftMax.", net, {"x": x},
                {"y": e / e.sum(-1, keepdims=True)}, "--axis=1:N --concat=1")


def reshape_names_time():
    name = "reshape_names_time"
    layer = Layer((name,), "lstm")
    net, x = Net(name), data_of(name, 2, FRAMES, INPUTS)
    dense = uniform(rng(FAMILY, name, "dense"), (HIDDEN, 6))
    out = layer.ports(net, net.param("x", "f32", list(x.shape)), layer.zeros(net, 2), net.const(
        np.full(2, FRAMES, np.int32)))[0]
    rows = net.op("Reshape", out, net.i64([2 * FRAMES, HIDDEN]), special_zero=False)
    rows = net.op("MatMul", rows, net.const(dense), transpose_a=False, transpose_b=False)
    net.result(net.op("Reshape", rows, net.i64([-1, FRAMES, 2, 3]), special_zero=True), "y")
    y = layer.golden(np.float64(x))[0] @ np.float64(dense)
    return case(name, "Reshapes whose constant shapes have the number of frames in them.", net,
                {"x": x}, {"y": y.reshape(2, FRAMES, 2, 3)}, "--axis=1:N --concat=1")


def pointwise_convolution():
    name = "pointwise_convolution"
    layer = Layer((name,), "rnn", inputs=5)
    net, x = Net(name), data_of(name, 1, INPUTS, FRAMES)
    filters = uniform(rng(FAMILY, name, "filters"), (5, INPUTS, 1))
    wide = net.op("Convolution", net.param("x", "f32", list(x.shape)), net.const(filters),
                  strides=[1], dilations=[1], pads_begin=[0], pads_end=[0], auto_pad="explicit")
    frames = turn(net, net.op("Tanh", wide), 0, 2, 1)
    norm = net.op("MVN", frames, net.i64([-1]), v=6, normalize_variance=True, eps=1e-5,
                  eps_mode="inside_sqrt")
    out = no_direction(net, layer.ports(net, norm, layer.zeros(net, 1), net.const(
        np.int32([FRAMES])))[0])
    net.result(turn(net, out, 0, 2, 1), "y")
    z = np.tanh(np.einsum("oik,bit->bto", np.float64(filters), np.float64(x)))
    z = (z - z.mean(-1, keepdims=True)) / np.sqrt(z.var(-1, keepdims=True) + np.float32(1e-5))
    return case(name, "Convolution of one element, channels first, and a normalization of each frame.",
                net, {"x": x}, {"y": layer.golden(z)[0].transpose(0, 2, 1)}, "--axis=2:N --concat=2")


def last_frame():
    """Words in, a score of all so far out."""
    name = "last_frame"
    layer = Layer((name,), "gru", inputs=5)
    g = rng(FAMILY, name)
    net, table, dense = Net(name), uniform(g, (11, 5)), uniform(g, (HIDDEN, 2))
    words = g.integers(0, 11, (1, FRAMES))
    x = net.op("Gather", net.const(table), net.param("words", "i64", [1, FRAMES]), net.i64(0), v=8,
               batch_dims=0)
    out = no_direction(net, layer.ports(net, x, layer.zeros(net, 1), net.const(
        np.int32([FRAMES])))[0])
    last = net.op("Gather", out, net.i64(-1), net.i64(1), v=8, batch_dims=0)
    net.result(net.op("MatMul", last, net.const(dense), transpose_a=False, transpose_b=False), "y")
    y = layer.golden(np.float64(table)[words])[0][:, -1] @ np.float64(dense)
    return case(name, "An embedding, and a score of the last frame.", net, {"words": words}, {"y": y},
                "--axis=1:N")


def mask():
    name = "mask"
    layer = Layer((name,), "lstm")
    g = rng(FAMILY, name)
    net, x = Net(name), data_of(name, 1, FRAMES, INPUTS)
    keep = np.float32(g.integers(0, 2, (1, FRAMES, 1)))
    out = no_direction(net, layer.ports(net, net.param("x", "f32", list(x.shape)), layer.zeros(
        net, 1), net.const(np.int32([FRAMES])))[0])
    net.result(net.op("Multiply", out, net.param("keep", "f32", list(keep.shape)),
                      auto_broadcast="numpy"), "y")
    return case(name, "Two inputs with time: the second joins behind the recurrent op.", net,
                {"x": x, "keep": keep}, {"y": layer.golden(np.float64(x))[0] * keep},
                "--axis=x=1:N --axis=keep=1:N --concat=1")


def frames_as_batch():
    """Each frame is a sequence over its bands, forward and backward; then frames are a sequence."""
    name, bands, channels = "frames_as_batch", 4, 2
    ahead, back = (Layer((name, d), "gru", channels, 3) for d in ("ahead", "back"))
    over_time = Layer((name, "time"), "gru", bands * 6, HIDDEN)
    net, x = Net(name), data_of(name, 1, FRAMES, bands, channels)
    port = net.param("x", "f32", list(x.shape))
    rows = net.op("Reshape", port, net.i64([-1, bands, channels]), special_zero=False)
    count = length_of(net, rows, 0)
    state = fill(net, net.const(np.float32(0)), join(net, count, net.i64([2]), net.i64([3])))
    lengths = fill(net, net.i64(bands), count)
    data = {
        "hidden_size": 3, "direction": "bidirectional", "clip": 0, "activations": "sigmoid, tanh",
        "activations_alpha": "", "activations_beta": "", "linear_before_reset": False
    }
    both = [net.const(np.concatenate([ahead.w[k], back.w[k]])) for k in "WRB"]
    y = net.op("GRUSequence", rows, state, lengths, *both, v=5, outs=2, data=data)[0]
    flat = net.op("Reshape", turn(net, y, 0, 2, 1, 3), net.i64([1, FRAMES, bands * 6]),
                  special_zero=False)
    out = over_time.ports(net, flat, over_time.zeros(net, 1), net.const(np.int32([FRAMES])),
                          name="time")[0]
    net.result(no_direction(net, out), "y")
    z = np.float64(x)[0]
    z = np.concatenate([ahead.golden(z)[0], back.golden(z[:, ::-1])[0][:, ::-1]], -1)
    return case(name, "A bidirectional op over the bands of a frame does not keep the model from it.",
                net, {"x": x}, {"y": over_time.golden(z.reshape(1, FRAMES, -1))[0]},
                "--axis=1:N --concat=1")


def slices():
    name = "slices"
    layer = Layer((name,), "lstm", inputs=6)
    net, x = Net(name), data_of(name, 1, FRAMES, 8)
    a, b = net.op("Split", net.param("x", "f32", list(x.shape)), net.i64(2), outs=2, num_splits=2)
    cut = net.op("StridedSlice", a, net.i64([0, 0, 1]), net.i64([0, 0, 3]), net.i64([1, 1, 1]),
                 begin_mask=[1, 1, 0], end_mask=[1, 1, 0], new_axis_mask=[], shrink_axis_mask=[],
                 ellipsis_mask=[])
    z = net.op("Concat", b, cut, axis=-1)
    total = net.op("ReduceSum", z, net.i64([2]), keep_dims=True)
    out = no_direction(net, layer.ports(net, z, layer.zeros(net, 1), net.const(
        np.int32([FRAMES])))[0])
    net.result(net.op("Slice", net.op("Add", out, total, auto_broadcast="numpy"), net.i64([1]),
                      net.i64([3]), net.i64([1]), net.i64([-1]), v=8), "y")
    v = np.float64(x)
    v = np.concatenate([v[..., 4:], v[..., 1:3]], -1)
    y = layer.golden(v)[0] + v.sum(-1, keepdims=True)
    return case(name, "Slices, splits, joins and sums of other axes than time.", net, {"x": x},
                {"y": y[..., 1:3]}, "--axis=1:N --concat=1")


def lengths_from_input():
    name = "lengths_from_input"
    layer = Layer((name,), "lstm")
    net, x = Net(name), data_of(name, 1, FRAMES, INPUTS)
    port = net.param("x", "f32", [1, -1, INPUTS])
    out = layer.ports(net, port, layer.zeros(net, 1), net.op(
        "Convert", fill(net, length_of(net, port, 1), net.i64([1])), destination_type="i32"))
    net.result(out[0], "y")
    net.result(out[2], "c")
    y, (_, c) = layer.golden(np.float64(x))
    return case(name, "Lengths that ShapeOf of the input gives, in another type.", net, {"x": x},
                {"y": y[:, None], "c": c[:, None]}, "--axis=1:N --concat=y=2")


# ---- refused -----------------------------------------------------------------------------------


def behind(name, about, words, twist, golden):
    """An LSTM, and an op behind it that mixes frames."""
    layer = Layer((name,), "lstm")
    net, x = Net(name), data_of(name, 1, FRAMES, INPUTS)
    out = no_direction(net, layer.ports(net, net.param("x", "f32", list(x.shape)), layer.zeros(
        net, 1), net.const(np.int32([FRAMES])))[0])
    net.result(twist(net, out), "y")
    return refused(name, about, net, {"x": x}, {"y": golden(layer.golden(np.float64(x))[0])}, words)


def mixes_frames():
    steps = uniform(rng(FAMILY, "steps"), (1, FRAMES, 1))
    filters = uniform(rng(FAMILY, "filters"), (2, HIDDEN, 3))

    def convolve(net, y):
        return net.op("Convolution", turn(net, y, 0, 2, 1), net.const(filters), strides=[1],
                      dilations=[1], pads_begin=[0], pads_end=[0], auto_pad="explicit",
                      name="conv")

    def convolved(y):
        return np.stack([np.einsum("oik,bki->bo", np.float64(filters), y[:, t:t + 3])
                         for t in range(FRAMES - 2)], -1)

    yield behind("refused_convolution", "A convolution over three frames.",
                 'Convolution "conv" slides over frames: its kernel has size 3 along dimension 2', convolve,
                 convolved)
    def pad(net, y):
        return net.op("Convolution", turn(net, y, 0, 2, 1), net.const(filters[:, :, :1]),
                      strides=[1], dilations=[1], pads_begin=[0], pads_end=[1],
                      auto_pad="explicit", name="conv")

    yield behind("refused_pads", "A frame more, at the end.",
                 'Convolution "conv" has strides or pads along dimension 2, which is time', pad,
                 lambda y: np.pad(np.einsum("oi,bti->bot", np.float64(filters[:, :, 0]), y),
                                  [(0, 0), (0, 0), (0, 1)]))
    yield behind("refused_mean", "The mean of all frames.",
                 'ReduceMean "mean" computes over frames',
                 lambda net, y: net.op("ReduceMean", y, net.i64([1]), keep_dims=False, name="mean"),
                 lambda y: y.mean(1))
    yield behind("refused_constant", "A constant for each frame.",
                 'Add "position" combines each frame with "steps"', lambda net, y: net.op(
                     "Add", y, net.const(steps, name="steps"), auto_broadcast="numpy",
                     name="position"), lambda y: y + steps)
    slope = np.float32(np.linspace(0.1, 0.9, FRAMES))
    yield behind("refused_slope_by_frame", "A slope for each frame: dimension 1 is time.",
                 'PReLU "bend" combines each frame with "slope"', lambda net, y: net.op(
                     "PReLU", y, net.const(slope, name="slope"), name="bend"),
                 lambda y: np.where(y < 0, y * np.float64(slope[:, None]), y))
    yield behind("refused_slope_of_last_dimension", "A slope for each frame: the last dimension is time.",
                 'PReLU "bend" combines each frame with "slope"', lambda net, y: net.op(
                     "PReLU", turn(net, y, 0, 2, 1), net.const(slope, name="slope"), name="bend"),
                 lambda y: np.where(y < 0, y * np.float64(slope[:, None]), y).transpose(0, 2, 1))
    yield behind("refused_attention", "A product of frames by frames.",
                 'MatMul "scores" multiplies two inputs that both depend on time', lambda net, y: net.op(
                     "MatMul", y, y, transpose_a=False, transpose_b=True, name="scores"),
                 lambda y: y @ y.transpose(0, 2, 1))
    yield behind("refused_frame_by_number", "The frame of a number.",
                 'Gather "pick" takes some of the frames', lambda net, y: net.op(
                     "Gather", y, net.i64([3]), net.i64(1), v=8, batch_dims=0, name="pick"),
                 lambda y: y[:, 3:4])
    yield behind("refused_first_frame", "A slice of one index, which begin_mask sets to 0.",
                 'StridedSlice "first" takes some of the frames', lambda net, y: net.op(
                     "StridedSlice", y, net.i64([0, -1]), net.i64([0, 0]), net.i64([1, 1]),
                     begin_mask=[1, 1], end_mask=[1, 1], new_axis_mask=[], shrink_axis_mask=[0, 1],
                     ellipsis_mask=[], name="first"), lambda y: y[:, 0])
    yield behind("refused_stacked_frames", "Three frames become one.",
                 'Reshape "stack" regroups elements', lambda net, y: net.op(
                     "Reshape", y, net.i64([1, FRAMES // 3, 3 * HIDDEN]), special_zero=False,
                     name="stack"), lambda y: y.reshape(1, FRAMES // 3, -1))


def cannot_carry():
    for direction in ("reverse", "bidirectional"):
        name = "refused_" + direction
        ahead, back = Layer((name, 0), "rnn"), Layer((name, 1), "rnn")
        parts = [back] if direction == "reverse" else [ahead, back]
        net, x = Net(name), data_of(name, 1, FRAMES, INPUTS)
        both = [net.const(np.concatenate([p.w[k] for p in parts])) for k in "WRB"]
        out = net.op("RNNSequence", net.param("x", "f32", list(x.shape)),
                     net.const(np.zeros((1, len(parts), HIDDEN), np.float32)),
                     net.const(np.int32([FRAMES])), *both, v=5, outs=2, name="rnn", data={
                         "hidden_size": HIDDEN, "direction": direction, "clip": 0,
                         "activations": "tanh", "activations_alpha": "", "activations_beta": ""
                     })
        net.result(out[0], "y")
        z = np.float64(x)
        ways = [back.golden(z[:, ::-1])[0][:, ::-1]]
        if direction == "bidirectional":
            ways.insert(0, ahead.golden(z)[0])
        yield refused(name, f"An op that is {direction}.", net, {"x": x},
                      {"y": np.stack(ways, 1)}, f'RNNSequence "rnn" is {direction}')
    name = "refused_state_from_input"
    layer = Layer((name,), "gru")
    net, x = Net(name), data_of(name, 1, FRAMES, INPUTS)
    start = uniform(rng(FAMILY, name), (1, 1, HIDDEN))
    out = layer.ports(net, net.param("x", "f32", list(x.shape)), [net.param(
        "start", "f32", list(start.shape))], net.const(np.int32([FRAMES])), name="gru")
    net.result(out[0], "y")
    y, _ = layer.golden(np.float64(x), [np.float64(start[:, 0])])
    yield refused(name, "An initial state that an input gives.", net, {"x": x, "start": start},
                  {"y": y[:, None]},
                  'GRUSequence "gru" starts from a state that depends on input "start"')


    yield length_as_state()
    yield variable_of_another_state()
    yield computed_state()
    yield summed_states()
    yield turned_state()


def length_as_state():
    """The initial state is a number that ShapeOf gives: the number of frames, over 100."""
    name = "refused_length_as_state"
    layer = Layer((name,), "rnn")
    net, x = Net(name), data_of(name, 1, FRAMES, INPUTS)
    port = net.param("x", "f32", list(x.shape))
    count = net.op("Convert", length_of(net, port, 1), destination_type="f32")
    start = net.op("Multiply", net.const(np.full((1, 1, HIDDEN), 0.01, np.float32)), count,
                   auto_broadcast="numpy")
    out = layer.ports(net, port, [start], net.const(np.int32([FRAMES])), name="rnn")
    net.result(out[0], "y")
    y, _ = layer.golden(np.float64(x), [np.full((1, HIDDEN), FRAMES * np.float64(np.float32(0.01)))])
    return refused(name, "An initial state that is computed from the number of frames.", net,
                   {"x": x}, {"y": y[:, None]}, 'RNNSequence "rnn" starts from a state that depends on the number of frames')


def variable_of_another_state():
    """h starts from a variable that keeps c."""
    name = "refused_other_variable"
    layer = Layer((name,), "lstm")
    net, x = Net(name), data_of(name, 1, FRAMES, INPUTS)
    port, zero = net.param("x", "f32", list(x.shape)), net.const(np.zeros((1, 1, HIDDEN), np.float32))
    out = layer.ports(net, port, [net.read("kept", zero), zero], net.const(np.int32([FRAMES])), name="lstm")
    net.assign("kept", out[2])
    net.result(out[0], "y")
    y, _ = layer.golden(np.float64(x))
    return refused(name, "A variable that keeps c is the initial h.", net, {"x": x},
                   {"y": y[:, None]}, 'LSTMSequence "lstm" starts from variable "kept"')


def computed_state():
    """The initial state is the variable, divided by two at the start of each run."""
    name = "refused_computed_state"
    layer = Layer((name,), "gru")
    net, x = Net(name), data_of(name, 1, FRAMES, INPUTS)
    start = uniform(rng(FAMILY, name), (1, 1, HIDDEN))
    half = net.op("Multiply", net.read("kept", net.const(start)), net.const(np.float32(0.5)),
                  auto_broadcast="numpy")
    out = layer.ports(net, net.param("x", "f32", list(x.shape)), [half], net.const(np.int32([FRAMES])),
                      name="gru")
    net.assign("kept", out[1])
    net.result(out[0], "y")
    y, _ = layer.golden(np.float64(x), [np.float64(start[:, 0]) / 2])
    return refused(name, "The initial state is half of a variable, once for each chunk.", net, {"x": x},
                   {"y": y[:, None]}, 'GRUSequence "gru" starts from a value computed from variable "kept"')


def summed_states():
    """A variable to which each run adds its last state."""
    name = "refused_sum_of_states"
    layer = Layer((name,), "gru")
    net, x = Net(name), data_of(name, 1, FRAMES, INPUTS)
    start = uniform(rng(FAMILY, name), (1, 1, HIDDEN))
    out = layer.ports(net, net.param("x", "f32", list(x.shape)), layer.zeros(net, 1),
                      net.const(np.int32([FRAMES])), name="gru")
    total = net.op("Add", net.read("kept", net.const(start)), out[1], auto_broadcast="numpy")
    net.assign("kept", total)
    net.result(total, "y")
    _, last = layer.golden(np.float64(x))
    return refused(name, "A variable that each run adds its last state to, not each chunk.", net,
                   {"x": x}, {"y": np.float64(start) + last[0][:, None]},
                   "keeps a value that is computed once for each chunk")


def turned_state():
    """The variable is transposed at the start of each run: as many rows as columns."""
    name = "refused_turned_state"
    layer = Layer((name,), "gru")
    net, x = Net(name), data_of(name, HIDDEN, FRAMES, INPUTS)
    start = uniform(rng(FAMILY, name), (HIDDEN, 1, HIDDEN))
    turned = turn(net, net.read("kept", net.const(start)), 2, 1, 0)
    out = layer.ports(net, net.param("x", "f32", list(x.shape)), [turned],
                      net.const(np.int32([FRAMES] * HIDDEN)), name="gru")
    net.assign("kept", out[1])
    net.result(out[0], "y")
    y, _ = layer.golden(np.float64(x), [np.float64(start[:, 0].T)])
    return refused(name, "The initial state is a variable, transposed once for each chunk.", net,
                   {"x": x}, {"y": y[:, None]},
                   'GRUSequence "gru" starts from a value computed from variable "kept"')


def cases():
    yield simple("lstm", "lstm", "An LSTM with all its outputs.")
    yield simple("lstm_batch", "lstm", "An LSTM over a batch.", batch=3)
    yield simple("lstm_f64", "lstm", "An LSTM in double precision.", dtype=np.float64)
    yield simple("gru", "gru", "A GRU.")
    yield simple("gru_lbr", "gru", "A GRU with linear_before_reset.", batch=2, lbr=True)
    yield simple("rnn", "rnn", "An RNN.")
    for make in (states_by_shape, two_layers, reshape_names_time, pointwise_convolution, last_frame,
                 mask, frames_as_batch, slices, lengths_from_input):
        yield make()
    yield from mixes_frames()
    yield from cannot_carry()
