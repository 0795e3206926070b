# GRUCell-3 and RNNCell-0, also under their old label, with states in variables.
# SPDX-License-Identifier: Apache-2.0
import numpy as np

from . import departures
from .common import F16, F64, RECURRENT, Case, rng, uniform
from .net import Net
from .recurrent import KINDS, cell_attrs, cell_case, cell_data


def no_bias_case(kind, name, about, size, lbr=False):
    data = cell_data((kind, name), kind, *size, lbr=lbr)
    zero = dict(data, B=np.zeros_like(data["B"]))
    return cell_case(kind, name, about, size, data=data, lbr=lbr,
                     drop=("B",), openvino=departures.NO_BIAS, stand_in=cell_case(
                         kind, "", "", size, data=zero, lbr=lbr).net)


def form_cases(kind):
    small, names = (2, 3, 5), KINDS[kind][2]
    yield cell_case(kind, "plain", "Batch 2, input 3, hidden 5.", small)
    for version in ("extension", "experimental", "opset6"):
        yield cell_case(kind, f"labelled_{version}", f"version=\"{version}\".", small, v=version)
    if kind == "rnn":
        yield cell_case(kind, "labelled_opset3", "RNNCell of opset3 is that of opset1.", small, v=3)
    if kind == "gru":
        yield no_bias_case(kind, "no_bias", "Four inputs: B is 0.", small)
    yield cell_case(kind, "clip", "clip 0.5.", small, attrs={"clip": 0.5}, ref={"clip": 0.5})
    yield cell_case(kind, "clip_written_long", "clip=\"0.00000\" is none.", small,
                    attrs={"clip": "0.00000"})
    yield cell_case(kind, "activations_relu", "relu at the end.", small, attrs={
        "activations": ", ".join(names[:-1] + ("relu",))
    }, ref={"activations": names[:-1] + ("relu",)})
    yield cell_case(
        kind, "activations_absent", "Only hidden_size is given.", small, attrs=dict.fromkeys(
            ("activations", "activations_alpha", "activations_beta", "clip",
             "linear_before_reset")))
    yield cell_case(kind, "hardsigmoid", "hardsigmoid with its defaults.", small, attrs={
        "activations": ", ".join(("hardsigmoid",) + names[1:])
    }, ref={"activations": ("hardsigmoid",) + names[1:]}, openvino=departures.NO_HARDSIGMOID)
    yield cell_case(kind, "weights_as_parameters", "W, R and B are inputs.", small,
                    params=("X", "H", "W", "R", "B"))
    yield cell_case(kind, "f64", "In f64.", small, dtype=np.float64, args=F64,
                    confirm_tolerance=(1e-6, 1e-5))
    yield cell_case(kind, "f16", "In f16; sums stay in f32.", small, dtype=np.float16, args=F16)
    for batch, inputs, hidden in ((1, 1, 1), (3, 7, 8), (1, 9, 7), (2, 16, 15), (9, 3, 17), (1, 2,
                                                                                             31)):
        yield cell_case(kind, f"size_b{batch}_i{inputs}_h{hidden}",
                        f"B {batch}, I {inputs}, H {hidden}.", (batch, inputs, hidden))
    for batch, inputs, hidden, form in ((1, 33, 65, "i4"), (2, 9, 100, "u4_zero_point"),
                                        (1, 3, 128, "i4"), (1, 8, 16, "i8"), (1, 8, 9,
                                                                              "u8_zero_point")):
        yield cell_case(kind, f"size_b{batch}_i{inputs}_h{hidden}",
                        f"H {hidden}, weights in {form}.", (batch, inputs, hidden), form=form)


def reset_cases():
    small = (3, 2, 4)
    yield cell_case("gru", "lbr", "linear_before_reset, B of 4H.", small, lbr=True)
    yield no_bias_case("gru", "lbr_no_bias", "linear_before_reset without B.", small, lbr=True)
    yield cell_case("gru", "lbr_clip", "linear_before_reset, clip 0.3.", small, lbr=True,
                    attrs={"clip": 0.3}, ref={"clip": np.float32(0.3)})
    yield cell_case("gru", "lbr_h33", "linear_before_reset, H 33.", (2, 3, 33), lbr=True)


def stateful_cases(kind):
    """Streaming: one cell, its state in a variable."""
    batch, inputs, hidden, records = 2, 3, 6, 9
    data = cell_data((kind, "stateful"), kind, batch, inputs, hidden)
    X = uniform(rng(kind, "stateful X"), (records, batch, inputs))
    step = KINDS[kind][3]
    for name, args, every in (("state_in_variable", "", records), ("state_reset_3", " --reset=3",
                                                                   3)):
        net = Net(name)
        state = net.read("h", net.const(data["H"]))
        h = net.op(KINDS[kind][0] + "Cell", net.param("X", "f32", [batch, inputs]), state,
                   *(net.const(data[k]) for k in "WRB"), v=3 if kind == "gru" else 1,
                   data=cell_attrs(kind, hidden))
        net.assign("h", h)
        net.result(h, "y")
        out = []
        for k in range(records):
            now = step(np.float64(X[k]),
                       np.float64(data["H"]) if k % every == 0 else now,
                       *(np.float64(data[n]) for n in "WRB"))
            out.append(now)
        yield Case(f"{kind}_cell", name, net, {"X": X}, {"y": np.float32(out)},
                   f"The state lives in a variable over {records} records{args}.", RECURRENT + args)


def cases():
    for kind in KINDS:
        yield from form_cases(kind)
        yield from stateful_cases(kind)
    yield from reset_cases()
