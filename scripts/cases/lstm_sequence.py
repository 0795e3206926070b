# LSTMSequence-1 and -5: directions, lengths, sizes, attributes, where the weights come from.
# SPDX-License-Identifier: Apache-2.0
import numpy as np

from . import departures, reference
from .common import F64, RECURRENT, Case, rng, uniform
from .net import Net

FAMILY = "lstm_sequence"
NAMES = ("X", "H0", "C0", "lengths", "W", "R", "B")
GATES = 4


def weights(g, dirs, hidden, inputs, gates=GATES, bias_gates=None, dtype=np.float32):
    """W, R, B with every number different, scaled so that a long sequence stays well behaved."""
    scale = 1 / np.sqrt(hidden + inputs)
    return {
        "W": uniform(g, (dirs, gates * hidden, inputs), -scale, scale, dtype) * dtype(1.7),
        "R": uniform(g, (dirs, gates * hidden, hidden), -scale, scale, dtype) * dtype(1.7),
        "B": uniform(g, (dirs, (bias_gates or gates) * hidden), -0.5, 0.5, dtype)
    }


def make_data(key, batch, time, inputs, hidden, direction="forward", lengths=None, dtype=np.float32,
              gates=GATES, bias_gates=None, states=2, lengths_type=np.int32):
    """All inputs of a sequence op. lengths None: all are T. Beyond a length X is NaN."""
    g = rng(*key)
    dirs = 2 if direction == "bidirectional" else 1
    data = {"X": uniform(g, (batch, time, inputs), -1.5, 1.5, dtype)}
    for name in ("H0", "C0")[:states]:
        data[name] = uniform(g, (batch, dirs, hidden), -0.9, 0.9, dtype)
    data["lengths"] = np.array([time] * batch if lengths is None else lengths, lengths_type)
    data.update(weights(g, dirs, hidden, inputs, gates, bias_gates, dtype))
    for b, n in enumerate(data["lengths"]):
        data["X"][b, n:] = np.nan
    return data


def build(name, op, data, params, outputs, v=5, dynamic=(), weights_port=None, attrs=None,
          net=None):
    """A Net with one sequence op. params: which inputs are Parameters (the others are Consts);
    dynamic: axes of X that are unknown. weights_port: name, array -> port, for weights that are no
    plain Const."""
    net = net or Net(name)
    ports = []
    for key, value in data.items():
        if key in params:
            shape = list(value.shape)
            if dynamic:
                batch_axis = 0 if key in ("X", "H0", "C0", "lengths") and 0 in dynamic else None
                shape = [
                    -1 if k == batch_axis or (key == "X" and k in dynamic) else d
                    for k, d in enumerate(shape)
                ]
            dtype = {"float32": "f32", "float64": "f64", "float16": "f16"}.get(str(
                value.dtype)) or (str(value.dtype).replace("uint", "u").replace("int", "i"))
            ports.append(net.param(key, dtype, shape))
        elif weights_port and key in ("W", "R", "B"):
            ports.append(weights_port(net, key, value))
        else:
            ports.append(net.const(value, {"float64": "f64"}.get(str(value.dtype))))
    outs = net.op(op, *ports, v=v, outs=len(outputs), data=attrs, dtype=ports[0].dtype,
                  name=op.lower())
    for port, output in zip(outs, outputs):
        net.result(port, output)
    return net


def hidden_of(data):
    return data["H0"].shape[-1]


def op_attrs(data, direction, more=None, defaults=("sigmoid", "tanh", "tanh")):
    """What OpenVINO's writer writes."""
    attrs = {
        "direction": direction, "hidden_size": hidden_of(data), "activations": list(defaults),
        "activations_alpha": "", "activations_beta": "", "clip": 0
    }
    attrs.update(more or {})
    return {k: v for k, v in attrs.items() if v is not None}


def golden(data, direction, dtype=np.float32, **more):
    values = {k: v.astype(np.float64) if k != "lengths" else v for k, v in data.items()}
    outs = reference.lstm_sequence(*(values.get(n) for n in NAMES + ("P",)), direction=direction,
                                   **more)
    return {n: o.astype(dtype) for n, o in zip(("Y", "Ho", "Co"), outs)}


def case(name, about, size, direction="forward", lengths=None, params=("X", "H0", "C0", "lengths"),
         args=RECURRENT, openvino="", dynamic=(), v=5, attrs=None, ref=None, dtype=np.float32,
         data=None, weights_port=None, want=None, **more):
    batch, time, inputs, hidden = size
    data = data or make_data((FAMILY, name), batch, time, inputs, hidden, direction, lengths, dtype)
    net = build(name, "LSTMSequence", data, params, ("Y", "Ho", "Co"), v, dynamic, weights_port,
                op_attrs(data, direction, attrs))
    want = want or golden(data, direction, dtype, **(ref or {}))
    return Case(FAMILY, name, net, {k: data[k]
                                    for k in params}, want, about, args, openvino, **more)


def direction_cases():
    for direction in ("forward", "reverse", "bidirectional"):
        yield case(f"{direction}", f"{direction}, every row as long as T.", (2, 5, 3, 4), direction)
        yield case(f"lengths_{direction}",
                   f"{direction} with lengths 4, 0, 2, 6 of 6 and NaN in the padding.",
                   (4, 6, 3, 5), direction, (4, 0, 2, 6))
        yield case(f"lengths_const_{direction}", f"{direction}, lengths 1 and 3 of 4 in a Const.",
                   (2, 4, 2, 3), direction, (1, 3), params=("X", "H0", "C0"))


def facts_case():
    """A small table made of simple formulas; its numbers were worked out by hand elsewhere."""
    b, t, i = np.meshgrid(np.arange(3), np.arange(3), np.arange(2), indexing="ij")
    base = ((2 * np.arange(8)[:, None] + np.arange(2)) % 7) - 3.0
    for direction in ("forward", "reverse", "bidirectional"):
        dirs = 2 if direction == "bidirectional" else 1
        data = {
            "X": np.float32(0.25 * (6 * b + 2 * t + i - 8)), "H0": np.tile(
                np.float32([0.5, -0.5]), (3, dirs, 1)), "C0": np.tile(np.float32(
                    [0.25, -0.25]), (3, dirs, 1)), "lengths": np.int32([3, 1, 0]), "W": np.float32(
                        [base * (0.2 + 0.1 * d) for d in range(dirs)]), "R": np.float32(
                            [base * (0.1 + 0.05 * d) for d in range(dirs)]), "B": np.tile(
                                np.float32((np.arange(8) % 5 - 2) * 0.1), (dirs, 1))
        }
        yield case(f"formula_{direction}",
                   "Inputs and weights from simple formulas, lengths 3, 1, 0.", (3, 3, 2, 2),
                   direction, data=data)


def size_cases():
    sizes = [(1, 1, 1, 1), (1, 7, 3, 7), (3, 2, 7, 8), (2, 3, 9, 9), (2, 2, 15, 16), (1, 3, 16, 15),
             (3, 2, 17, 17), (9, 2, 3, 3), (1, 50, 2, 8)]
    for batch, time, inputs, hidden in sizes:
        name = f"size_b{batch}_t{time}_i{inputs}_h{hidden}"
        yield case(name, f"B {batch}, T {time}, I {inputs}, H {hidden}.",
                   (batch, time, inputs, hidden))


def attribute_cases():
    small = (2, 4, 3, 3)
    yield case("clip", "clip 0.4 cuts the sums before the activations, not the cell state.", small,
               attrs={"clip": 0.4}, ref={"clip": np.float32(0.4)})
    yield case("clip_negative_is_off", "A negative clip means none.", small, attrs={"clip": -1.0})
    yield case("clip_bidirectional_lengths", "clip with lengths 2, 3 in both directions.",
               (2, 3, 2, 4), "bidirectional", (2, 3), attrs={"clip": 0.3},
               ref={"clip": np.float32(0.3)})
    yield case("activations_relu", "f and h are relu.", small, attrs={
        "activations": "relu,tanh,relu"
    }, ref={"activations": ("relu", "tanh", "relu")})
    yield case("activations_mixed_case", "Names of activations in mixed case, with blanks.", small,
               attrs={"activations": "Tanh, SIGMOID, tanh"},
               ref={"activations": ("tanh", "sigmoid", "tanh")})
    none = {"activations": None, "activations_alpha": None, "activations_beta": None, "clip": None}
    for name, attrs in (("absent", none), ("empty", {"activations": ""})):
        data = make_data((FAMILY, name), *small, lengths=(1, 4))
        yield case(f"activations_{name}", f"activations {name}: sigmoid, tanh, tanh.", small,
                   data=data, attrs=attrs, openvino=departures.NO_ACTIVATIONS, stand_in=case(
                       "", "", small, data=data).net)
    yield case("direction_absent", "Without direction: forward.", small, attrs={"direction": None})
    yield case("f64", "In f64 throughout.", small, "bidirectional", (2, 4), args=F64,
               dtype=np.float64, confirm_tolerance=(1e-6, 1e-5))
    yield case("weights_as_parameters", "W, R and B are inputs of the model.", (2, 3, 3, 5),
               lengths=(3, 2), params=NAMES)
    yield case(
        "lengths_i64", "lengths are i64.", small, lengths=(4, 1), data=make_data(
            (FAMILY, "lengths_i64"), *small, lengths=(4, 1), lengths_type=np.int64))


def spec_cases():
    """The graph of the LSTMSequence-1 page: X [1,4,16], hidden_size 128, and no other attribute."""
    g = rng(FAMILY, "page")
    data = make_data((FAMILY, "page"), 1, 4, 16, 128)
    whole = {k: g.integers(-127, 128, data[k].shape) for k in ("W", "R")}
    scale = np.float32(1 / 1024)
    data.update({k: np.float32(v) * scale for k, v in whole.items()})

    def compressed(net, key, value):
        if key == "B":
            return net.const(value)
        narrow = net.op("Convert", net.const(whole[key], "i8"), destination_type="f32")
        return net.op("Multiply", narrow, net.const(scale), auto_broadcast="numpy")

    bare = {
        k: None
        for k in ("direction", "activations", "activations_alpha", "activations_beta", "clip")
    }
    args = dict(weights_port=compressed, data=data, params=("X", "H0", "C0"))
    twin = case("", "", (1, 4, 16, 128), **args).net
    for v in (5, 1):
        yield case(
            f"spec_page_v{v}",
            f"The graph of the LSTMSequence-{v} page with its sizes; only hidden_size is given. "
            "Weights in i8.", (1, 4, 16, 128), v=v, stand_in=twin, attrs=bare,
            openvino=departures.NO_ACTIVATIONS if v == 5 else departures.NO_SEQUENCE_1, **args)


def version_1_cases():
    for name, v in (("v1_opset1", 1), ("v1_opset4", 4)):
        data = make_data((FAMILY, name), 2, 3, 3, 4, "bidirectional", (3, 1))
        twin = case(name, "", (2, 3, 3, 4), "bidirectional", data=data)
        yield case(name,
                   f"LSTMSequence of opset{v} without its further attributes is that of opset5.",
                   (2, 3, 3, 4), "bidirectional", data=data, v=v, openvino=departures.NO_SEQUENCE_1,
                   stand_in=twin.net)


def cases():
    for make in (direction_cases, facts_case, size_cases, attribute_cases, spec_cases,
                 version_1_cases):
        yield from make()
