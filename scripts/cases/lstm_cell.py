# LSTMCell-1 and -4, with explicit states and with states kept in variables.
# SPDX-License-Identifier: Apache-2.0
import numpy as np

from . import departures, reference, weight_forms
from .common import F16, F64, RECURRENT, Case, rng, uniform
from .lstm_sequence import weights
from .net import Net

FAMILY = "lstm_cell"
ORDER = ("X", "H", "C", "W", "R", "B", "P")


def make_data(key, batch, inputs, hidden, dtype=np.float32):
    g = rng(*key)
    data = {
        "X": uniform(g, (batch, inputs), -1.5, 1.5, dtype), "H": uniform(
            g, (batch, hidden), -0.9, 0.9, dtype), "C": uniform(g, (batch, hidden), -1.5, 1.5,
                                                                dtype)
    }
    data.update({k: v[0] for k, v in weights(g, 1, hidden, inputs, dtype=dtype).items()})
    return data


def attrs_of(hidden, more=None):
    attrs = {
        "hidden_size": hidden, "activations": "sigmoid, tanh, tanh", "activations_alpha": "",
        "activations_beta": "", "clip": 0
    }
    attrs.update(more or {})
    return {k: v for k, v in attrs.items() if v is not None}


def golden(data, dtype=np.float32, **ref):
    values = {k: v.astype(np.float64) for k, v in data.items()}
    h, c = reference.lstm_step(*(values.get(n) for n in ORDER), **ref)
    return {"Ho": h.astype(dtype), "Co": c.astype(dtype)}


def build(name, data, params=("X", "H", "C"), v=4, attrs=None):
    net = Net(name)
    kind = {"float32": "f32", "float64": "f64", "float16": "f16"}
    ports = [
        net.param(k, kind[str(a.dtype)], list(a.shape)) if k in params else net.const(
            a, kind[str(a.dtype)]) for k, a in data.items()
    ]
    h, c = net.op("LSTMCell", *ports, v=v, outs=2, name="cell", dtype=ports[0].dtype, data=attrs_of(
        data["H"].shape[1], attrs))
    net.result(h, "Ho")
    net.result(c, "Co")
    return net


def case(name, about, size, params=("X", "H", "C"), v=4, attrs=None, ref=None, data=None,
         dtype=np.float32, args=RECURRENT, openvino="", **more):
    data = data or make_data((FAMILY, name), *size, dtype=dtype)
    net = build(name, data, params, v, attrs)
    return Case(FAMILY, name, net, {k: data[k]
                                    for k in params}, golden(data, dtype, **(ref or {})), about,
                args, openvino, **more)


def figures_cases():
    """Figures that other tests of the op use as well: batch 2, input 3, hidden 3."""
    text = """
        .33330739 .00036229487 .4677366 .43046016 .073950343 .38063636 .96921772 .96897459
        .62964785 .31134409 .84709978 .94928098 .61676943 .66020679 .19072217 .088032126 .40472135
        .68342745 .83432144 .4492819 .79524308 .53966165 .85936421 .83136767 .055125546 .47791195
        .35788772 .67507404 .21716513 .27473119 .033999152 .96835363 .37581277 .24026 .67418844
        .34199652"""
    recurrent = """
        .0987983 .52032113 .5848073 .5356095 .74497133 .73260087 .1700787 .45684233 .1495722
        .42734373 .4433832 .25906256 .03854987 .47480518 .37215272 .99890584 .74019486 .3518967
        .6881257 .8170279 .54088944 .81225616 .14619833 .42941234 .86843914 .45967972 .6237719
        .11074839 .6029616 .3149305 .46504205 .5843412 .8733427 .7687243 .07074859 .39188156"""
    bias = """
        1.07393714 1.15248052 1.16671345 .21450312 1.2380678 1.51688835 .46718366 .91810346
        1.1274234 .51022074 1.11389844 .74174305"""
    data = {
        "X": np.float32(
            [[.81342685, .84108883, .8152282], [.46893653, .0901856, .37088776]]), "H": np.float32(
                [[.77956, .5331557, .04297554], [.7962175, .7635707, .11989366]]), "C": np.float32(
                    [[.8488452, .18851636, .5020695], [.29716516, .06740791, .45384037]]),
        "W": np.float32(text.split()).reshape(12, 3), "R": np.float32(recurrent.split()).reshape(
            12, 3), "B": np.float32(bias.split())
    }
    yield case("figures_bias", "Well-known figures, with a bias.", None, data=data)
    yield case("figures_clip", "The same with clip 3.5: only one element is cut.", None, data=data,
               attrs={"clip": 3.5}, ref={"clip": 3.5})


def attribute_cases():
    small = (2, 3, 5)
    yield case("version_1", "LSTMCell-1 without its further inputs is LSTMCell-4.", small, v=1)
    yield case("version_1_zero_peepholes", "LSTMCell-1 with P of zeros.", small, v=1,
               data={**make_data((FAMILY, "zero P"), *small), "P": np.zeros(15, np.float32)})
    yield case("activations", "tanh, relu, sigmoid.", small, attrs={
        "activations": "tanh,relu,sigmoid"
    }, ref={"activations": ("tanh", "relu", "sigmoid")})
    data = make_data((FAMILY, "activations_absent"), *small)
    yield case(
        "activations_absent", "Only hidden_size is given, as in the specification's example.",
        small, data=data, attrs=dict.fromkeys(
            ("activations", "activations_alpha", "activations_beta", "clip")))
    yield case("clip", "clip 0.7.", small, attrs={"clip": 0.7}, ref={"clip": np.float32(0.7)})
    yield case("weights_as_parameters", "W, R and B are inputs.", small,
               params=("X", "H", "C", "W", "R", "B"))
    yield case("f64", "In f64 throughout.", small, dtype=np.float64, args=F64,
               confirm_tolerance=(1e-6, 1e-5))
    for batch, inputs, hidden in ((1, 1, 1), (3, 7, 8), (1, 9, 7), (2, 16, 15), (9, 3, 17), (1, 2,
                                                                                             33)):
        yield case(f"size_b{batch}_i{inputs}_h{hidden}", f"B {batch}, I {inputs}, H {hidden}.",
                   (batch, inputs, hidden))


def stored_cases():
    for batch, inputs, hidden, form in ((2, 31, 63, "i4"), (1, 65, 65, "u4_zero_point"),
                                        (2, 8, 100, "i4"), (1, 7, 128, "i4"), (3, 33, 31, "i8"),
                                        (2, 6, 8, "f16"), (2, 6, 9, "bf16"), (1, 8, 16,
                                                                              "i4_groups")):
        name = f"weights_{form}_h{hidden}"
        data = make_data((FAMILY, name), batch, inputs, hidden)
        data.update({k: weight_forms.represent(data[k], form) for k in ("W", "R")})
        net = Net(name)
        ports = [net.param(k, "f32", list(data[k].shape)) for k in ("X", "H", "C")]
        ports += [weight_forms.port_of(net, data[k], form)
                  for k in ("W", "R")] + [net.const(data["B"])]
        for port, output in zip(
                net.op("LSTMCell", *ports, v=4, outs=2, name="cell", data=attrs_of(hidden)),
            ("Ho", "Co")):
            net.result(port, output)
        yield Case(FAMILY, name, net, {k: data[k]
                                       for k in ("X", "H", "C")}, golden(data),
                   f"H {hidden}, W and R stored as {form}.", RECURRENT)
    half = make_data((FAMILY, "f16"), 2, 3, 5, np.float16)
    yield case("f16", "In f16; sums and states stay in f32.", None, data=half, dtype=np.float16,
               args=F16)
    hard = ("hardsigmoid", "tanh", "hardsigmoid")
    yield case(
        "hardsigmoid", "f and h are hardsigmoid; alpha and beta by position.", (2, 3, 5), attrs={
            "activations": ", ".join(hard), "activations_alpha": "0.25, 0, 0.5",
            "activations_beta": "0.4, 0, 0.25"
        }, ref={"activations": hard, "alpha": (0.25, 0, 0.5), "beta": (0.4, 0, 0.25)},
        openvino=departures.NO_HARDSIGMOID)


def stateful_cases():
    name, records, batch, inputs, hidden = "states_in_variables", 12, 1, 3, 6
    data = make_data((FAMILY, name), batch, inputs, hidden)
    X = uniform(rng(FAMILY, name, "X"), (records, batch, inputs))
    for stem, args, every in (("", "", records), ("_reset_4", " --reset=4", 4)):
        net = Net(name + stem)
        x = net.param("X", "f32", [batch, inputs])
        h, c = (net.read(s, net.const(data[s])) for s in ("H", "C"))
        h2, c2 = net.op("LSTMCell", x, h, c, *(net.const(data[k]) for k in "WRB"), v=4, outs=2,
                        data=attrs_of(hidden))
        net.assign("H", h2)
        net.assign("C", c2)
        net.result(h2, "y")
        out = []
        for k in range(records):
            if k % every == 0:
                state = np.float64(data["H"]), np.float64(data["C"])
            state = reference.lstm_step(np.float64(X[k]), *state,
                                        *(np.float64(data[n]) for n in "WRB"))
            out.append(state[0])
        yield Case(FAMILY, name + stem, net, {"X": X}, {"y": np.float32(out)},
                   f"A streaming cell: H and C live in variables over {records} records{args}.",
                   RECURRENT + args)
    net = Net("two_layers_in_variables")
    value = net.param("X", "f32", [batch, inputs])
    layers = [
        make_data((FAMILY, "layers", 0), batch, inputs, 5),
        make_data((FAMILY, "layers", 1), batch, 5, 4)
    ]
    for k, d in enumerate(layers):
        size = d["H"].shape[1]
        zero = net.const(np.zeros((batch, size), np.float32))
        h, c = net.read(f"h{k}", zero), net.read(f"c{k}", zero)
        value, c2 = net.op("LSTMCell", value, h, c, *(net.const(d[n]) for n in "WRB"), v=4, outs=2,
                           data=attrs_of(size))
        net.assign(f"h{k}", value)
        net.assign(f"c{k}", c2)
    net.result(value, "y")
    out, states = [], [(np.zeros((1, 5)), np.zeros((1, 5))), (np.zeros((1, 4)), np.zeros((1, 4)))]
    for x in np.float64(X):
        for k, d in enumerate(layers):
            states[k] = reference.lstm_step(x, *states[k], *(np.float64(d[n]) for n in "WRB"))
            x = states[k][0]
        out.append(x)
    yield Case(FAMILY, net.name, net, {"X": X}, {"y": np.float32(out)},
               "Two cells, four variables that start from one Const.", RECURRENT)


def cases():
    for make in (figures_cases, attribute_cases, stored_cases, stateful_cases):
        yield from make()
