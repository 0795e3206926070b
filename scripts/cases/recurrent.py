# GRU and RNN, sequences and cells: what their cases share. LSTM has its own files.
# SPDX-License-Identifier: Apache-2.0
import numpy as np

from . import reference, weight_forms
from .common import RECURRENT, Case
from .lstm_sequence import build, make_data, op_attrs
from .net import Net

KINDS = {
    "gru": ("GRU", 3, ("sigmoid", "tanh"), reference.gru_step),
    "rnn": ("RNN", 1, ("tanh",), reference.rnn_step),
}
FLOATS = {"float16": "f16", "float32": "f32", "float64": "f64"}


def stored(data, form):
    """data with W and R as they are once stored in form."""
    return {k: weight_forms.represent(v, form) if k in ("W", "R") else v for k, v in data.items()}


def weight_port(form):
    def port(net, key, value):
        return net.const(value) if key == "B" else weight_forms.port_of(net, value, form)

    return port


def no_weights(data, *names):
    return {k: v for k, v in data.items() if k not in names}


def sequence_case(kind, name, about, size, direction="forward", lengths=None,
                  params=("X", "H0", "lengths"), args=RECURRENT, openvino="", dynamic=(),
                  attrs=None, ref=None, dtype=np.float32, data=None, form=None, lbr=False,
                  lengths_type=np.int32, **more):
    op, gates, defaults, step = KINDS[kind]
    batch, time, inputs, hidden = size
    data = data or make_data((kind, name), batch, time, inputs, hidden, direction, lengths, dtype,
                             gates, gates + lbr, 1, lengths_type)
    if form:
        data = stored(data, form)
    extra = dict(attrs or {})
    if kind == "gru":
        extra.setdefault("linear_before_reset", lbr)
        ref = dict(ref or {}, linear_before_reset=lbr)
    net = build(name, op + "Sequence", data, params, ("Y", "Ho"), 5, dynamic,
                weight_port(form) if form else None, op_attrs(data, direction, extra, defaults))
    wide = {k: v.astype(np.float64) if k != "lengths" else v for k, v in data.items()}
    outs = reference.gru_sequence(wide["X"], wide["H0"], wide["lengths"], wide["W"], wide["R"],
                                  wide.get("B"), direction, step=step, **(ref or {}))
    want = {n: o.astype(dtype) for n, o in zip(("Y", "Ho"), outs)}
    return Case(f"{kind}_sequence", name, net, {k: data[k]
                                                for k in params}, want, about, args, openvino,
                **more)


def cell_data(key, kind, batch, inputs, hidden, dtype=np.float32, lbr=False):
    gates = KINDS[kind][1]
    data = make_data(key, batch, 1, inputs, hidden, "forward", None, dtype, gates, gates + lbr, 1)
    return {
        "X": data["X"][:, 0], "H": data["H0"][:, 0], "W": data["W"][0], "R": data["R"][0],
        "B": data["B"][0]
    }


def cell_attrs(kind, hidden, more=None):
    attrs = {
        "hidden_size": hidden, "activations": ", ".join(KINDS[kind][2]), "activations_alpha": "",
        "activations_beta": "", "clip": 0
    }
    if kind == "gru":
        attrs["linear_before_reset"] = False
    attrs.update(more or {})
    return {k: v for k, v in attrs.items() if v is not None}


def cell_case(kind, name, about, size, params=("X", "H"), v=None, attrs=None, ref=None, data=None,
              dtype=np.float32, args=RECURRENT, openvino="", lbr=False, form=None, drop=(), **more):
    op, _, _, step = KINDS[kind]
    data = data or cell_data((kind, "cell", name), kind, *size, dtype=dtype, lbr=lbr)
    data = no_weights(stored(data, form) if form else data, *drop)
    net = Net(name)
    ports = []
    for k, a in data.items():
        if k in params:
            ports.append(net.param(k, FLOATS[str(a.dtype)], list(a.shape)))
        elif form and k in ("W", "R"):
            ports.append(weight_forms.port_of(net, a, form))
        else:
            ports.append(net.const(a, FLOATS[str(a.dtype)]))
    extra = dict(attrs or {})
    if kind == "gru":
        extra.setdefault("linear_before_reset", lbr)
        ref = dict(ref or {}, linear_before_reset=lbr)
    version = v or (3 if kind == "gru" else 1)
    net.result(
        net.op(op + "Cell", *ports, v=version, name="cell", data=cell_attrs(
            kind, data["H"].shape[1], extra)), "Ho")
    wide = {k: a.astype(np.float64) for k, a in data.items()}
    want = step(wide["X"], wide["H"], wide["W"], wide["R"], wide.get("B"), **(ref
                                                                              or {})).astype(dtype)
    return Case(f"{kind}_cell", name, net, {k: data[k]
                                            for k in params}, {"Ho": want}, about, args, openvino,
                **more)
