# LSTMSequence: unknown shapes, sizes that hurt vectors, stored weights, activations, layers on top
# of each other.
# SPDX-License-Identifier: Apache-2.0
import numpy as np

from . import departures, reference
from .common import F16, RECURRENT, Case, rng, uniform
from .lstm_sequence import FAMILY, build, case, golden, make_data, op_attrs
from .net import Net
from .recurrent import stored, weight_port

ALL = ("X", "H0", "C0", "lengths", "W", "R", "B")


def dynamic_cases():
    size, lengths = (4, 5, 3, 4), (5, 2, 0, 3)
    for direction in ("forward", "reverse", "bidirectional"):
        data = make_data((FAMILY, "dynamic", direction), *size, direction, lengths)
        twin = case("", "", size, direction, data=data).net
        for axes, word in (((0, 1), "batch_time"), ((1,), "time"), ((0,), "batch")):
            if direction != "forward" and word == "batch":
                continue
            yield case(
                f"lengths_dynamic_{word}_{direction}",
                f"{direction}, unknown {word.replace('_', ' and ')}, lengths "
                "5, 2, 0, 3: they are honoured nevertheless.", size, direction, data=data,
                dynamic=axes, openvino=departures.LENGTHS, stand_in=twin)
    data = make_data((FAMILY, "dynamic const"), *size, lengths=lengths)
    yield case("lengths_dynamic_const", "Unknown time, lengths in a Const.", size, data=data,
               dynamic=(1,), params=("X", "H0", "C0"), openvino=departures.LENGTHS, stand_in=case(
                   "", "", size, data=data, params=("X", "H0", "C0")).net)
    yield case("dynamic_all_full", "Unknown batch and time, every row as long as T.", size,
               dynamic=(0, 1))
    yield case("dynamic_input_size", "Even the last dimension of X is unknown.", (2, 3, 4, 3),
               dynamic=(0, 1, 2))
    yield case("time_0", "No time step at all: Y is empty, Ho and Co are 0 as for a length of 0.",
               (2, 0, 3, 4), dynamic=(1,), openvino=departures.TIME_0, runs_openvino=False)
    data = make_data((FAMILY, "padding"), *size, lengths=lengths)
    data["X"] = np.where(np.isnan(data["X"]), uniform(rng(FAMILY, "numbers"), data["X"].shape),
                         data["X"])
    yield case("lengths_dynamic_numbers_in_padding",
               "Unknown time; the padding holds numbers like the rest.", size,
               data=data, dynamic=(1,), openvino=departures.LENGTHS, stand_in=case(
                   "", "", size, data=data).net)
    yield case("dynamic_clip_lengths", "Unknown shapes with clip and lengths.", size,
               lengths=lengths, dynamic=(0, 1), attrs={"clip": 0.5}, ref={"clip": 0.5})
    yield case("dynamic_parameters_lengths", "Unknown shapes, weights as inputs, lengths.", size,
               lengths=lengths, dynamic=(0, 1), params=ALL)


def size_cases():
    big = [(2, 2, 31, 33, "f16"), (1, 3, 33, 31, "i8"), (1, 2, 63, 65, "i4"), (2, 3, 65, 63, "i4"),
           (1, 4, 7, 100, "i4"), (3, 2, 100, 17, "i8"), (1, 50, 3, 128, "i4"),
           (2, 7, 9, 128, "i4_groups"), (33, 3, 8, 16, None), (17, 9, 7, 9, None)]
    for batch, time, inputs, hidden, form in big:
        yield stored_case(
            f"size_b{batch}_t{time}_i{inputs}_h{hidden}",
            f"B {batch}, T {time}, I {inputs}, H {hidden}"
            f"{', weights in ' + form if form else ''}.", (batch, time, inputs, hidden), form)
    yield stored_case("size_h33_bidirectional_lengths", "H 33, two directions, lengths 4, 1, 0.",
                      (3, 4, 5, 33), "i8", "bidirectional", (4, 1, 0))
    yield stored_case("size_h100_reverse_lengths", "H 100, reverse, lengths 7, 50 of 50.",
                      (2, 50, 1, 100), "i4", "reverse", (7, 50))


def stored_case(name, about, size, form, direction="forward", lengths=None, **more):
    data = make_data((FAMILY, name), *size[:3], size[3], direction, lengths)
    if form:
        data = stored(data, form)
    return case(name, about, size, direction, data=data,
                weights_port=weight_port(form) if form else None, **more)


def weight_cases():
    for form in ("f16", "bf16", "i8", "u8_zero_point", "i4", "u4_zero_point", "i4_groups"):
        yield stored_case(f"weights_{form}", f"W and R stored as {form}.", (2, 3, 6, 8), form,
                          "bidirectional", (3, 2))
    half = {
        k: v.astype(np.float16) if k != "lengths" else v
        for k, v in make_data((FAMILY, "f16"), 2, 4, 3, 5, lengths=(4, 2)).items()
    }
    yield case("f16", "In f16; sums and states stay in f32.", (2, 4, 3, 5), data=half,
               dtype=np.float16, args=F16)
    data = make_data((FAMILY, "mixed"), 2, 3, 3, 4, "bidirectional", (3, 1))
    for name, params in (("only_w_as_parameter", ("X", "H0", "C0", "lengths", "W")),
                         ("only_r_as_parameter", ("X", "H0", "C0", "lengths", "R")),
                         ("only_b_as_parameter", ("X", "H0", "C0", "lengths",
                                                  "B")), ("only_x_as_parameter", ("X",))):
        yield case(name, "Of the inputs only these are not Consts: " + ", ".join(params) + ".",
                   (2, 3, 3, 4), "bidirectional", data=data, params=params)
    for dtype in (np.int8, np.uint8, np.int16, np.uint32, np.uint64):
        word = np.dtype(dtype).name.replace("uint", "u").replace("int", "i")
        yield case(
            f"lengths_{word}", f"lengths are {word}.", (2, 3, 2, 3), data=make_data(
                (FAMILY, "lengths", word), 2, 3, 2, 3, lengths=(2, 3), lengths_type=dtype))


def activation_cases():
    small = (2, 4, 3, 4)
    for name, acts in (("all_tanh", ("tanh",) * 3), ("all_sigmoid", ("sigmoid",) * 3),
                       ("relu_tanh_sigmoid", ("relu", "tanh", "sigmoid"))):
        yield case(f"activations_{name}", f"{', '.join(acts)}.", small, lengths=(3, 4),
                   attrs={"activations": ", ".join(acts)}, ref={"activations": acts})
    hard = ("hardsigmoid", "tanh", "tanh")
    forms = {
        "default": ({}, {}, "alpha 0.2 and beta 0.5 by default"), "alpha_beta": ({
            "activations_alpha": [0.25, 1.0, 1.0], "activations_beta": [0.4, 0.0, 0.0]
        }, {"alpha": (0.25, 1, 1),
            "beta": (0.4, 0, 0)}, "alpha 0.25 and beta 0.4"), "alpha_only": ({
                "activations_alpha": "0.125"
            }, {"alpha": (0.125,)}, "alpha 0.125, beta 0.5 by default"),
    }
    for name, (attrs, ref, words) in forms.items():
        yield case(f"hardsigmoid_{name}", f"f is hardsigmoid with {words}.", small, attrs={
            "activations": ", ".join(hard), **attrs
        }, ref={"activations": hard, **ref}, openvino=departures.NO_HARDSIGMOID)
    last = ("sigmoid", "tanh", "hardsigmoid")
    yield case(
        "hardsigmoid_third", "h is hardsigmoid; alpha and beta are taken by position.", small,
        "bidirectional", attrs={
            "activations": ", ".join(last), "activations_alpha": "9, 9, 0.5",
            "activations_beta": "9, 9, 0.25"
        }, ref={"activations": last, "alpha": (9, 9, 0.5),
                "beta": (9, 9, 0.25)}, openvino=departures.NO_HARDSIGMOID)
    yield case("alpha_beta_ignored", "alpha and beta do nothing to sigmoid and tanh.", small,
               attrs={"activations_alpha": [0.1, 0.2, 0.3], "activations_beta": [4.0, 5.0, 6.0]})
    yield case("clip_zero_lengths_reverse", "clip 0 is none; reverse with lengths 0, 2.",
               (2, 3, 3, 4), "reverse", (0, 2), attrs={"clip": "0"})
    yield case("clip_inf_is_off", "clip=\"inf\" is none.", small, attrs={"clip": "inf"})
    yield case("batch_1_length_0", "One row of length 0: Ho and Co are 0, not the initial states.",
               (1, 3, 2, 4), lengths=(0,))
    yield case("lengths_all_equal_short", "All rows are equally short.", (3, 5, 2, 4),
               "bidirectional", (2, 2, 2))
    yield case("time_1", "T is 1.", (3, 1, 4, 5), "bidirectional", (1, 0, 1))


def layered_cases():
    """Two bidirectional layers, as converters write them: Transpose and Reshape between."""
    batch, time, inputs, hidden, name = 2, 4, 3, 5, "two_layers_bidirectional"
    first = make_data((FAMILY, name, 0), batch, time, inputs, hidden, "bidirectional", (4, 2))
    second = make_data((FAMILY, name, 1), batch, time, 2 * hidden, hidden, "bidirectional", (4, 2))
    net = Net(name)
    lengths = net.param("lengths", "i32", [batch])
    value = net.param("X", "f32", [batch, time, inputs])
    for k, d in enumerate((first, second)):
        zero = net.const(np.zeros((batch, 2, hidden), np.float32))
        y, h, _ = net.op("LSTMSequence", value, zero, zero, lengths,
                         *(net.const(d[n]) for n in "WRB"), v=5, outs=3, name=f"layer{k}",
                         data=op_attrs(d, "bidirectional"))
        value = net.op("Reshape", net.op("Transpose", y, net.i64([0, 2, 1, 3])), net.i64(
            [0, 0, -1]), special_zero=True)
    net.result(value, "y")
    net.result(h, "Ho")
    X, now = np.nan_to_num(first["X"]), None
    now = X
    for d in (first, second):
        d = dict(d, X=now, H0=np.zeros((batch, 2, hidden)), C0=np.zeros((batch, 2, hidden)))
        y, h, _ = reference.lstm_sequence(
            *(np.float64(d[n]) if n != "lengths" else d[n] for n in ALL), direction="bidirectional")
        now = y.transpose(0, 2, 1, 3).reshape(batch, time, 2 * hidden)
    yield Case(FAMILY, name, net, {"X": first["X"], "lengths": first["lengths"]},
               {"y": np.float32(now), "Ho": np.float32(h)},
               "Two bidirectional layers with Transpose and Reshape between.", RECURRENT)


def shared_cases():
    name, size = "shared_weights", (2, 3, 4, 4)
    data = make_data((FAMILY, name), *size)
    net = Net(name)
    ports = {k: net.param(k, "f32", list(data[k].shape)) for k in ("X", "H0", "C0")}
    shared = [net.const(data[k]) for k in ("lengths", "W", "R", "B")]
    value, outs = ports["X"], []
    for k in range(2):
        y, h, _ = net.op("LSTMSequence", value, ports["H0"], ports["C0"], *shared, v=5, outs=3,
                         name=f"use{k}", data=op_attrs(data, "forward"))
        value = net.op("Squeeze", y, net.i64([1]))
        outs.append(h)
    for k, h in enumerate(outs):
        net.result(h, f"Ho{k}")
    now, want = data["X"], {}
    for k in range(2):
        out = golden(dict(data, X=now), "forward", np.float64)
        now, want[f"Ho{k}"] = out["Y"][:, 0], np.float32(out["Ho"])
    yield Case(FAMILY, name, net, {k: data[k]
                                   for k in ports}, want, "Two layers read the same Consts.",
               RECURRENT)
    name = "shared_forward_and_reverse"
    data = make_data((FAMILY, name), *size, lengths=(3, 2))
    net = Net(name)
    ports = {
        k: net.param(k, "i32" if k == "lengths" else "f32", list(data[k].shape))
        for k in ("X", "H0", "C0", "lengths")
    }
    shared = [net.const(data[k]) for k in "WRB"]
    want = {}
    for direction in ("forward", "reverse"):
        outs = net.op("LSTMSequence", *ports.values(), *shared, v=5, outs=3, name=direction,
                      data=op_attrs(data, direction))
        net.result(outs[0], f"{direction}_Y")
        net.result(outs[2], f"{direction}_Co")
        g = golden(data, direction)
        want.update({f"{direction}_Y": g["Y"], f"{direction}_Co": g["Co"]})
    yield Case(FAMILY, name, net, {k: data[k]
                                   for k in ports}, want,
               "One set of weights, read forward and in reverse.", RECURRENT)


def stateful_cases():
    """Streaming in chunks: H and C go from the end of one chunk to the start of the next."""
    name, batch, time, inputs, hidden, records = "chunks_with_variables", 1, 4, 3, 6, 7
    data = make_data((FAMILY, name), batch, time, inputs, hidden)
    X = uniform(rng(FAMILY, name, "X"), (records, batch, time, inputs))
    for stem, args, every in (("", "", records), ("_reset_if", " --reset=if:fresh", None)):
        net = Net(name + stem)
        h, c = (net.read(s, net.const(data[s])) for s in ("H0", "C0"))
        y, ho, co = net.op("LSTMSequence", net.param("X", "f32", [batch, time, inputs]), h, c,
                           *(net.const(data[k]) for k in ("lengths", "W", "R", "B")), v=5, outs=3,
                           data=op_attrs(data, "forward"))
        net.assign("H0", ho)
        net.assign("C0", co)
        net.result(y, "Y")
        fresh, out, state = np.array([0, 0, 1, 0, 0, 0, 1], np.uint8), [], {}
        for k in range(records):
            if k == 0 or (every is None and fresh[k]):
                state = {n: np.float64(data[n]) for n in ("H0", "C0")}
            got = golden(dict(data, X=X[k], **state), "forward", np.float64)
            state = {"H0": got["Ho"], "C0": got["Co"]}
            out.append(got["Y"])
        feed = {"X": X} if every else {"X": X, "fresh": fresh}
        yield Case(FAMILY, name + stem, net, feed, {"Y": np.float32(out)},
                   f"Seven chunks of four steps; the states wait in variables{args}.",
                   RECURRENT + args)


def cases():
    for make in (dynamic_cases, size_cases, weight_cases, activation_cases, layered_cases,
                 shared_cases, stateful_cases):
        yield from make()
