# Models that must be refused, and what the message must hold: ops and their inputs, variables,
# bodies.
# SPDX-License-Identifier: Apache-2.0
import numpy as np

from .common import Case, rng, uniform
from .lstm_sequence import build, make_data, op_attrs
from .net import Net
from .recurrent import KINDS

DATA, UNSUPPORTED = 65, 69
X = np.ones((1, 3), np.float32)


def refused(family, name, net, about, stderr, code=DATA, feed=None, args="", **more):
    return Case("error_" + family, name, net, {"x": X} if feed is None else feed, {}, about, args,
                exit=code, stderr=stderr, **more)


def binary(net, op, a, b):
    return net.op(op, a, b, auto_broadcast="numpy")


# ---- recurrent -----------------------------------------------------------------------------------


def lstm(name, about, stderr, change=None, attrs=None, direction="forward", lengths=None,
         op="LSTMSequence", drop=(), params=("X", "H0", "C0", "lengths"), records=None):
    kind = {"GRUSequence": "gru", "RNNSequence": "rnn"}.get(op)
    gates = KINDS[kind][1] if kind else 4
    data = make_data((name,), 3, 4, 2, 5, direction, gates=gates, bias_gates=gates,
                     states=1 if kind else 2)
    if lengths is not None:
        data["lengths"] = np.array(lengths, np.int32)
    if change:
        change(data)
    params = tuple(p for p in params if p in data)
    net = build(
        name, op, data, params, ("Y", "Ho") if kind else ("Y", "Ho", "Co"), attrs=op_attrs(
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


# ---- bodies --------------------------------------------------------------------------------------

CUT = {"axis": 0, "start": 0, "end": -1, "stride": 1, "part_size": 1}


def iterator(name, about, stderr, change=lambda layer, body: None, rows=(4, 4), part=1, code=DATA):
    net = Net(name)
    a, b = net.param("x", "f32", [rows[0], 3]), net.param("z", "f32", [rows[1], 3])
    body = net.body()
    p, q = body.param("p", "f32", [part, 3]), body.param("q", "f32", [part, 3])
    r = body.result(binary(body, "Add", p, q), "sum")
    how = {**CUT, "stride": part, "part_size": part}
    (y,) = net.iterate("TensorIterator", [a, b], body, [(0, p, how), (1, q, how)], [(r, how)],
                       name="the iterator")
    net.result(y, "y")
    change(y.layer, body)
    return refused(
        "body", name, net, about, ["model.xml:"] + stderr, code,
        feed={"x": np.ones((rows[0], 3), np.float32), "z": np.ones((rows[1], 3), np.float32)})


def loop(name, about, stderr, condition=np.array(True), how=None, divisor=1, iteration=None):
    net = Net(name)
    ones = np.ones((1, 3), np.int32)
    step = net.op("Divide", net.const(ones), net.const(divisor * ones), auto_broadcast="numpy",
                  m_pythondiv="true")
    body = net.body()
    state, p = body.param("state", "i32", [1, 3]), body.param("step", "i32", [1, 3])
    new, again = body.result(binary(body, "Add", state, p)), body.result(body.const(condition))
    maps = [(2, state, {}), (3, p, how or {})]
    if iteration:
        maps.append((-1, body.param("it", "i64", iteration), {"purpose": "current_iteration"}))
    (y,) = net.iterate(
        "Loop", [net.const(np.array(2)), net.const(np.array(True)), net.param("x", "i32", [1, 3]),
                 step], body, maps, [(new, {})],
        [(new, state)], v=5, special=[("output", {
            "external_port_id": -1, "internal_layer_id": again.id, "purpose": "execution_condition"
        })], dtypes=["i32"])
    net.result(y, "y")
    return refused("body", name, net, about, ["model.xml:"] + stderr, feed={"x": ones})


def body_cases():
    def drop_input(layer, _):
        del layer.parts[0][1][1]

    yield iterator("parameter_not_connected",
                   "A Parameter of the body that the port map does not know.",
                   ["the iterator", "\"q\""], drop_input)

    def unknown_layer(layer, _):
        layer.parts[0][1][0][1]["internal_layer_id"] = 77

    yield iterator("unknown_internal_layer", "The port map names a layer that the body has not.",
                   ["77"], unknown_layer)

    def unknown_port(layer, _):
        layer.parts[0][1][0][1]["external_port_id"] = 9

    yield iterator("unknown_external_port", "The port map names a port that the layer has not.",
                   ["the iterator", "9"], unknown_port)

    def no_body(layer, _):
        layer.parts.pop()

    yield iterator("no_body", "A TensorIterator without a body.", ["the iterator", "body"], no_body)
    yield iterator("slices_differ_in_number", "One input gives four slices, the other three.",
                   ["the iterator", "4", "3"], rows=(4, 3))
    yield iterator("part_does_not_divide", "Five rows in slices of two.",
                   ["the iterator", "5", "2"], rows=(5, 5), part=2)

    def wrong_axis(layer, _):
        layer.parts[0][1][0][1]["axis"] = 2

    yield iterator("axis_too_large", "axis 2 of an input of rank 2.", ["the iterator", "axis", "2"],
                   wrong_axis)

    def output(**how):
        return lambda layer, _: layer.parts[0][1][2][1].update(how)

    for name, about, how, words in (
        ("output_axis_too_large", "axis 2 of an output of rank 2.", {"axis": 2},
         ["the iterator", "axis 2 is outside -2 ... 1", "line 26"]),
        ("output_axis_beyond_32_bits", "The low 32 bits of the axis of an output are 0.",
         {"axis": 2**32}, ["the iterator", "axis 4294967296 is outside -2 ... 1", "line 26"]),
        ("output_axis_lowest", "The axis of an output is the lowest integer.",
         {"axis": -2**63}, ["the iterator", "axis -9223372036854775808 is outside -2 ... 1"]),
        ("output_part_size", "Pieces of one row, parts of two.", {"part_size": 2, "stride": 2},
         ["the iterator", "part_size is 2", "1 along axis 0"]),
        ("output_stride", "A stride of 2^63 - 1 between pieces of one row.", {"stride": 2**63 - 1},
         ["the iterator", "stride", "9223372036854775807"]),
        ("output_end", "Four passes, but only three pieces are wanted.", {"end": 3},
         ["the iterator", "4 passes", "end 3"]),
        ("output_pieces_beyond_counting", "Four times the part_size is more than 2^63.",
         {"part_size": 2**62, "stride": 2**62}, ["the iterator", "4611686018427387904"]),
    ):
        yield iterator(name, about, words, output(**how))

    def wide_parts(layer, _):
        for k in 0, 1:
            layer.parts[0][1][k][1].update(part_size=2**62, stride=2**62)

    yield iterator("part_beyond_counting", "No rows at all, in parts of 2^62.",
                   ["[4611686018427387904,3]", "too large"], wide_parts, rows=(0, 0))

    def back_to_nowhere(layer, body):
        layer.parts.insert(
            1, ("back_edges", [("edge", {"from-layer": body.layers[-1].id, "to-layer": 55})]))

    yield iterator("back_edge_to_unknown", "A back edge to a layer that the body has not.", ["55"],
                   back_to_nowhere)

    def unknown_op(_, body):
        body.layers[2].type = "Frobnicate"

    yield iterator("unknown_op_in_body", "An op of the body that does not exist.", ["Frobnicate"],
                   unknown_op, code=UNSUPPORTED)
    yield loop("condition_of_f32", "The condition that the body gives is no boolean.",
               ["execution condition", "f32 []"], condition=np.float32(1))
    yield loop("condition_empty", "The condition that the body gives is empty.",
               ["execution condition", "boolean [0]"], condition=np.zeros(0, np.bool_))
    yield loop("slices_beyond_counting", "Slices whose ends differ by more than 2^63.",
               ["axis 0", "9223372036854775807"],
               how={**CUT, "start": 2**63 - 1, "end": -2**63})
    yield loop("iteration_shape", "The number of the pass is to be of shape [5].",
               ["current_iteration", "\"it\"", "[5]", "[] or [1]"], iteration=[5])
    yield loop("const_divides_by_zero", "What feeds the body is a division of Consts by zero.",
               ["Divide", "division by zero"], divisor=0)
    for name, about, results, maps, words in (
        ("if_branch_without_output", "The else branch lacks the second output.", (2, 1), True, [
            "choice"
        ]), ("if_parameter_not_connected", "A Parameter of the then branch is not in its port map.",
             (1, 1), False, ["choice", "\"inner\""])):
        net = Net(name)
        cond, x = net.param("cond", "boolean", []), net.param("x", "f32", [1, 3])
        parts = []
        for n in results:
            body = net.body()
            p = body.param("inner", "f32", [1, 3])
            outs = [body.result(binary(body, "Add", p, p)) for _ in range(n)]
            parts.append((body, [(1, p)] if maps or parts else [], outs))
        ports = net.choose(cond, [x], *parts, max(results), name="choice",
                           dtypes=["f32"] * max(results))
        for k, port in enumerate(ports):
            net.result(port, f"y{k}")
        yield refused("body", name, net, about, ["model.xml:"] + words,
                      feed={"cond": np.array(True), "x": X})


def cases():
    for make in (recurrent_cases, variable_cases, body_cases):
        yield from make()
