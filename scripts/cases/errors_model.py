# Models that must be refused, and what the message must hold: ops and their inputs, and
# variables.
# SPDX-License-Identifier: Apache-2.0
import numpy as np

from .common import Case, rng, uniform
from .lstm_sequence import build, make_data, op_attrs
from .net import Net
from .recurrent import KINDS, cell_case

DATA, UNSUPPORTED = 65, 69
X = np.ones((1, 3), np.float32)


def refused(family, name, net, about, stderr, code=DATA, feed=None, args="", **more):
    return Case("error_" + family, name, net, {"x": X} if feed is None else feed, {}, about, args,
                exit=code, stderr=stderr, **more)


def binary(net, op, a, b):
    return net.op(op, a, b, auto_broadcast="numpy")


# ---- recurrent -----------------------------------------------------------------------------------


def lstm(name, about, stderr, change=None, attrs=None, direction="forward", lengths=None,
         op="LSTMSequence", drop=(), v=5, params=("X", "H0", "C0", "lengths"), records=None):
    kind = {"GRUSequence": "gru", "RNNSequence": "rnn"}.get(op)
    gates = KINDS[kind][1] if kind else 4
    data = make_data((name,), 3, 4, 2, 5, direction, gates=gates, bias_gates=gates,
                     states=1 if kind else 2)
    if lengths is not None:
        data["lengths"] = np.array(lengths, np.int32)
    if change:
        change(data)
    for key in drop:
        del data[key]
    params = tuple(p for p in params if p in data)
    net = build(
        name, op, data, params, ("Y", "Ho") if kind else ("Y", "Ho", "Co"), v, attrs=op_attrs(
            data, direction, attrs, KINDS[kind][2] if kind else ("sigmoid", "tanh", "tanh")))
    feed = {k: data[k] for k in params}
    if records:
        feed["lengths"] = np.array(records, np.int32)
    return refused("recurrent", name, net, about, stderr, feed=feed)


def cut(key, *slices):
    def change(data):
        data[key] = np.ascontiguousarray(data[key][slices])

    return change


def recurrent_cases():
    every = slice(None)
    yield lstm("w_gates", "W has three gates instead of four.",
               ["LSTMSequence", "W", "[1,15,2]", "20"], cut("W", every, slice(15)))
    yield lstm("r_gates", "R has 19 rows for 4 gates of 5.",
               ["LSTMSequence", "R", "[1,19,5]", "20"], cut("R", every, slice(19)))
    yield lstm("r_hidden", "R's last dimension is not H.", ["LSTMSequence", "R", "[1,20,4]"],
               cut("R", every, every, slice(4)))
    yield lstm("b_gates", "B is too short.", ["LSTMSequence", "B", "[1,16]", "20"],
               cut("B", every, slice(16)))
    yield lstm("input_size", "X has two features, W wants one.", ["LSTMSequence", "W", "[1,20,1]"],
               cut("W", every, every, slice(1)))
    yield lstm("batch_of_state", "H0 has another batch than X.",
               ["LSTMSequence", "initial_hidden_state", "[2,1,5]"], cut("H0", slice(2)))
    yield lstm("batch_of_lengths", "lengths has another batch than X.",
               ["LSTMSequence", "sequence_lengths", "[2]"], cut("lengths", slice(2)))
    yield lstm("directions", "direction is bidirectional, the weights have one.",
               ["LSTMSequence", "directions", "[1,20,2]", "[2,20,2]"],
               attrs={"direction": "bidirectional"},
               change=lambda d: d.update(H0=np.repeat(d["H0"], 2, 1), C0=np.repeat(d["C0"], 2, 1)))
    yield lstm("hidden_size", "hidden_size contradicts the states.",
               ["LSTMSequence", "hidden_size", "7", "5"], attrs={"hidden_size": 7})
    yield lstm("activation_unknown", "An activation that does not exist: those that do are listed.",
               ["LSTMSequence", "softplus", "sigmoid", "tanh", "relu", "hardsigmoid"],
               attrs={"activations": "sigmoid, softplus, tanh"})
    yield lstm("activations_too_few", "Two activations instead of three.",
               ["LSTMSequence", "activations", "3"], attrs={"activations": "sigmoid, tanh"})
    yield lstm("direction_unknown", "A direction that does not exist.",
               ["backward", "forward", "reverse", "bidirectional"], attrs={"direction": "backward"})
    yield lstm("length_above_time", "A length of 5 in rows of 4: which row.",
               ["LSTMSequence", "5", "4", "batch element 1"], lengths=(4, 5, 2))
    yield lstm("length_negative", "A negative length: which row.",
               ["LSTMSequence", "-1", "batch element 2"], lengths=(4, 0, -1))
    yield lstm("length_in_third_record", "The third record has the length that does not fit.",
               ["LSTMSequence", "9", "batch element 0", "iteration 2"],
               records=((4, 1, 2), (0, 4, 4), (9, 1, 1), (1, 1, 1)))
    yield lstm("length_const", "A Const length above T is found before the run.",
               ["LSTMSequence", "7", "batch element 1"], lengths=(4, 7, 2),
               params=("X", "H0", "C0"))
    yield lstm("gru_length", "The same for GRU.", ["GRUSequence", "5", "batch element 0"],
               lengths=(5, 1, 1), op="GRUSequence")
    yield lstm("rnn_length", "The same for RNN.", ["RNNSequence", "-3", "batch element 1"],
               lengths=(4, -3, 1), op="RNNSequence")
    for name, op, v, without, words in (
        ("without_b", "LSTMSequence", 5, ("B",), "has 6 inputs, expected 7"),
        ("without_r_and_b", "LSTMSequence", 5, ("R", "B"), "has 5 inputs, expected 7"),
        ("v1_without_b", "LSTMSequence", 1, ("B",), "has 6 inputs, expected 7 or 8: B is missing"),
        ("gru_without_b", "GRUSequence", 5, ("B",), "has 5 inputs, expected 6"),
        ("rnn_without_b", "RNNSequence", 5, ("B",), "has 5 inputs, expected 6")):
        yield lstm(name, f"{op}-{v} has a B.", [op, words], op=op, drop=without, v=v)
    cell = cell_case("rnn", "rnn_cell_without_b", "", (2, 3, 5), drop=("B",))
    yield refused("recurrent", cell.name, cell.net, "B is optional in LSTMCell and GRUCell alone.",
                  ["RNNCell", "has 4 inputs, expected 5"], feed=cell.feed)
    yield lstm("gru_w_gates", "A GRU with the W of an LSTM.",
               ["GRUSequence", "W", "[1,20,2]", "15"], lambda d: d.update(W=np.zeros(
                   (1, 20, 2), np.float32)), op="GRUSequence")


# ---- variables -----------------------------------------------------------------------------------


def variable(name, about, stderr, wire, v=6, feed=None, args=""):
    net = Net(name)
    wire(net, net.param("x", "f32", [1, 3]))
    return refused("variable", name, net, about, ["model.xml:"] + stderr, feed=feed, args=args)


def variable_cases():
    def zero(net, *shape, dtype=np.float32):
        return net.const(np.zeros(shape, dtype))

    def init_type(net, x):
        s = net.read("the state", zero(net, 1, 3, dtype=np.int32), "f32", [1, 3])
        net.assign("the state", binary(net, "Add", s, x))
        net.result(s, "y")

    yield variable("init_type", "The initial value is i32, the variable f32.",
                   ["the state", "i32", "f32"], init_type)

    def init_shape(net, x):
        s = net.read("the state", zero(net, 1, 4), "f32", [1, 3])
        net.assign("the state", binary(net, "Add", s, x))
        net.result(s, "y")

    yield variable("init_shape", "The initial value is [1,4], the variable [1,3].",
                   ["the state", "[1,4]", "[1,3]"], init_shape)

    def assign_shape(net, x):
        s = net.read("the state", zero(net, 1, 3))
        net.assign("the state", net.op("Concat", s, x, axis=1))
        net.result(s, "y")

    yield variable(
        "assign_shape", "What is assigned is [1,6], the variable [1,3]: both layers are named.",
        ["the state", "[1,6]", "[1,3]", "read_the state", "assign_the state"], assign_shape)

    def assign_type(net, x):
        s = net.read("the state", zero(net, 1, 3))
        net.assign("the state", net.op("Convert", x, destination_type="f16"))
        net.result(s, "y")

    yield variable("assign_type",
                   "What is assigned is f16, the variable f32: both layers are named.",
                   ["the state", "f16", "f32", "read_the state", "assign_the state"], assign_type)

    def no_read(net, x):
        net.assign("nobody reads me", x)
        net.result(x, "y")

    yield variable("assign_without_read", "An Assign whose variable nobody reads.",
                   ["nobody reads me"], no_read)

    def two_assigns(net, x):
        s = net.read("twice", zero(net, 1, 3))
        net.assign("twice", binary(net, "Add", s, x), name="one assign")
        net.assign("twice", x, name="other assign")
        net.result(s, "y")

    yield variable("two_assigns", "Two Assigns of one variable: both are named.",
                   ["twice", "one assign", "other assign"], two_assigns)

    def no_id(net, x):
        s = net.op("ReadValue", zero(net, 1, 3), v=6,
                   data={"variable_type": "f32", "variable_shape": "1,3"}, shape=[1, 3])
        net.result(binary(net, "Add", s, x), "y")

    yield variable("no_id", "A ReadValue without variable_id.", ["ReadValue", "variable_id"], no_id)

    def empty_id(net, x):
        s = net.read("", zero(net, 1, 3), name="reader")
        net.assign("", binary(net, "Add", s, x), name="writer")
        net.result(s, "y")

    yield variable("empty_id", "Both variable_id are empty.",
                   ["model.xml:22:3: ", "ReadValue \"reader\"", "variable_id is empty"], empty_id)

    def empty_id_of_assign(net, x):
        s = net.read("state", zero(net, 1, 3), name="reader")
        net.assign("", binary(net, "Add", s, x), name="writer")
        net.result(s, "y")

    yield variable("empty_id_of_assign", "The variable_id of the Assign is empty.",
                   ["model.xml:53:3: ", "Assign \"writer\"", "variable_id is empty"],
                   empty_id_of_assign)

    def read_after_assign(net, x):
        first = net.assign("loop", x)
        net.result(net.read("loop", first, "f32", [1, 3]), "y")

    yield variable("read_after_assign",
                   "A ReadValue whose initial value is its Assign's output: a circle.", ["loop"],
                   read_after_assign)

    def bad_type(net, x):
        s = net.read("s", zero(net, 1, 3), "f33", [1, 3])
        s.dtype = "f32"
        net.assign("s", binary(net, "Add", s, x))
        net.result(s, "y")

    yield variable("unknown_type", "variable_type names no type.", ["f33", "variable_type"],
                   bad_type)

    def too_long(net, x):
        s = net.read("cache", zero(net, 0, 3), "f32", "0..2,3")
        y = net.op("Concat", s, x, axis=0)
        net.assign("cache", y)
        net.result(net.op("ShapeOf", y, v=3, output_type="i64"), "y")

    yield variable("grows_too_long",
                   "The third record makes the variable longer than its shape allows.",
                   ["cache", "[3,3]", "..2", "iteration 2"], too_long, feed={
                       "x": uniform(rng("too long"), (4, 1, 3))
                   })


def count_cases():
    """Layers that the engine itself serves, with more or fewer inputs than they have."""
    def state(net, x, v=6):
        s = net.read("state", net.const(np.zeros((1, 3), np.float32)), v=v, name="reader")
        written = net.assign("state", binary(net, "Add", s, x), v=v, name="writer")
        net.result(s, "y")
        return s.layer, written.layer

    def result_of_two(net, x):
        net.result(binary(net, "Add", x, x), "y", name="last").inputs.append(x)

    def result_of_none(net, x):
        net.result(binary(net, "Add", x, x), "y")
        net.result(x, name="last").inputs.clear()

    def assign_of_two(net, x):
        state(net, x)[1].inputs.append(x)

    def assign_of_none(net, x):
        state(net, x)[1].inputs.clear()

    def read_of_two(net, x):
        state(net, x)[0].inputs.append(x)

    def read_v3_of_none(net, x):
        state(net, x, 3)[0].inputs.clear()

    def const_of_one(net, x):
        weights = net.const(np.ones((1, 3), np.float32), name="weights")
        weights.layer.inputs.append(x)
        net.result(binary(net, "Add", weights, x), "y")

    def parameter_of_one(net, x):
        z = net.param("z", "f32", [1, 3])
        z.layer.inputs.append(x)
        net.result(binary(net, "Add", z, x), "y")

    for wire, words in ((result_of_two, "Result \"last\": has 2 inputs, expected 1"),
                        (result_of_none, "Result \"last\": has 0 inputs, expected 1"),
                        (assign_of_two, "Assign \"writer\": has 2 inputs, expected 1"),
                        (assign_of_none, "Assign \"writer\": has 0 inputs, expected 1"),
                        (read_of_two, "ReadValue \"reader\": has 2 inputs, expected 0 to 1"),
                        (read_v3_of_none, "ReadValue \"reader\": has 0 inputs, expected 1"),
                        (const_of_one, "Const \"weights\": has 1 input, expected 0"),
                        (parameter_of_one, "Parameter \"z\": has 1 input, expected 0")):
        net = Net(wire.__name__)
        wire(net, net.param("x", "f32", [1, 3]))
        yield refused("graph", net.name, net, "The number of inputs of a layer.",
                      ["model.xml:", words])


def cases():
    for make in (recurrent_cases, variable_cases, count_cases):
        yield from make()
