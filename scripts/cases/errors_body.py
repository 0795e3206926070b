# Bodies of TensorIterator, Loop and If that must be refused, and what the message must hold.
# SPDX-License-Identifier: Apache-2.0
import numpy as np

from .errors_model import DATA, UNSUPPORTED, X, binary, refused
from .net import Net

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

    def repeat(layer, _):
        layer.parts[0][1].insert(1, layer.parts[0][1][0])

    yield iterator("port_map_repeated", "Two inputs of the port map go to one Parameter.",
                   ["the iterator", "another port_map"], repeat)

    def descending(layer, _):
        layer.parts[0][1][0][1].update(start=0, end=-1, stride=-1, part_size=1)

    yield iterator("stride_away_from_end", "A stride of -1 from the first slice to the last.",
                   ["the iterator", "stride must lead from start to end"], descending)

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
         ["the iterator", "4 iterations", "end 3"]),
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
    yield loop("condition_of_f32", "The condition that the body gives is not a boolean.",
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
    yield from body_cases()
