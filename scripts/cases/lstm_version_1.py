# What version 1 of the LSTM ops has beyond the newer ones: peepholes, input_forget, weights_format.
# OpenVINO ignores all three in LSTMCell-1 and does not read LSTMSequence-1; equivalent models
# confirm the goldens.
# SPDX-License-Identifier: Apache-2.0
import numpy as np

from . import departures, lstm_cell, lstm_sequence, reference, unrolled
from .common import rng, uniform
from .net import Net

SMALL_CELL, SMALL = (2, 3, 5), (2, 3, 3, 4)
BASE = ("X", "H0", "C0")


def reorder(gates, weights_format):
    """Gate rows (axis 0) from fico into weights_format."""
    blocks = dict(zip("fico", np.split(gates, 4)))
    return np.concatenate([blocks[letter] for letter in weights_format])


def reorder_sequence(data, weights_format):
    moved = dict(data)
    for key in ("W", "R", "B"):
        moved[key] = np.stack([reorder(g, weights_format) for g in data[key]])
    return moved


def unrolled_cell(data, **more):
    net = Net("unrolled")
    x, h, c = (net.param(k, "f32", list(data[k].shape)) for k in ("X", "H", "C"))
    for port, name in zip(unrolled.lstm_step(net, x, h, c, data, **more), ("Ho", "Co")):
        net.result(port, name)
    return net


def cell_cases():
    size = SMALL_CELL
    P = uniform(rng("cell P"), (3 * size[2],), -0.8, 0.8)

    def data_of(name):
        return lstm_cell.make_data(("lstm 1", name), *size)

    data = dict(data_of("P"), P=P)
    yield lstm_cell.case("v1_peepholes", "LSTMCell-1 with peepholes.", size, v=1, data=data,
                         openvino=departures.PEEPHOLES, stand_in=unrolled_cell(data))
    yield lstm_cell.case("v1_peepholes_clip", "Peepholes are added before clip 0.4.", size, v=1,
                         data=data, attrs={"clip": 0.4}, ref={"clip": np.float32(0.4)},
                         openvino=departures.PEEPHOLES, stand_in=unrolled_cell(data, clip=0.4))
    zero = dict(data_of("forget"), P=np.zeros_like(P))
    for name, d in (("v1_input_forget", zero), ("v1_input_forget_peepholes", dict(zero, P=P))):
        yield lstm_cell.case(
            name, "input_forget: i = 1 - f" + (", with peepholes." if d["P"].any() else "."), size,
            v=1, data=d, attrs={"input_forget": True}, ref={"input_forget": True},
            openvino=departures.INPUT_FORGET, stand_in=unrolled_cell(d, input_forget=True))
    yield lstm_cell.case("v1_peepholes_as_parameter", "P and the weights are inputs.", size, v=1,
                         data=data, params=("X", "H", "C", "W", "R", "B", "P"),
                         openvino=departures.PEEPHOLES)
    for order in ("fico", "ifco", "icof", "ifoc", "iofc"):
        fico = data_of(order)
        moved = fico if order in ("fico", "ifco") else {
            k: reorder(v, order) if k in ("W", "R", "B") else v
            for k, v in fico.items()
        }
        about = {
            "fico": "weights_format fico.",
            "ifco": "weights_format ifco is what OpenVINO's writer says of fico weights."
        }
        differs = order not in ("fico", "ifco")
        case = lstm_cell.case(
            f"v1_weights_{order}",
            about.get(order, f"weights_format {order}: the gates stand in that order."), size, v=1,
            data=fico)
        twin = case.net
        case.net = lstm_cell.build(case.name, moved, v=1, attrs={"weights_format": order})
        if differs:
            case.openvino, case.stand_in = departures.WEIGHTS_FORMAT, twin
        yield case
    five = {k: v for k, v in data_of("five").items() if k != "B"}
    with_zero = dict(five, B=np.zeros(4 * size[2], np.float32))
    yield lstm_cell.case("v1_five_inputs", "LSTMCell-1 without B: it is 0.", size, v=1, data=five)
    yield lstm_cell.case("v4_five_inputs", "LSTMCell-4 without B: it is 0.", size, data=five,
                         openvino=departures.NO_BIAS, stand_in=lstm_cell.case(
                             "", "", size, data=with_zero).net)


def sequence_cases():
    for k, direction in enumerate(("forward", "reverse", "bidirectional")):
        dirs = 2 if direction == "bidirectional" else 1
        name = f"v1_peepholes_{direction}"
        data = lstm_sequence.make_data(("lstm 1", name), *SMALL, direction)
        data["P"] = uniform(rng(name), (dirs, 3 * SMALL[3]), -0.8, 0.8)
        attrs = {"input_forget": True} if k == 2 else {}
        yield sequence_case(
            name, f"LSTMSequence-1 with peepholes, {direction}" +
            (" and input_forget." if attrs else "."), direction, data, attrs,
            unrolled.lstm_sequence(data, reference.directions(direction), input_forget=bool(attrs)))
    data = lstm_sequence.make_data(("lstm 1", "P lengths"), *SMALL, lengths=(1, 3))
    data["P"] = uniform(rng("P lengths"), (1, 12), -0.8, 0.8)
    yield sequence_case("v1_peepholes_lengths", "Peepholes and lengths 1, 3.", "forward", data, {},
                        None)
    data = lstm_sequence.make_data(("lstm 1", "forget"), *SMALL)
    yield sequence_case("v1_input_forget", "input_forget without P: seven inputs.", "forward", data,
                        {"input_forget": True},
                        unrolled.lstm_sequence(data, [False], input_forget=True))
    for order in ("fico", "ifco", "icof", "ifoc", "iofc"):
        fico = lstm_sequence.make_data(("lstm 1", order), *SMALL, "bidirectional", (3, 2))
        moved = fico if order in ("fico", "ifco") else reorder_sequence(fico, order)
        twin = lstm_sequence.case("", "", SMALL, "bidirectional", data=fico)
        case = sequence_case(
            f"v1_weights_{order}", f"weights_format {order}" +
            (" is read as fico, whose default name it is." if order == "ifco" else "."),
            "bidirectional", moved, {"weights_format": order}, twin.net, want=twin.want)
        yield case


def sequence_case(name, about, direction, data, attrs, stand_in, want=None):
    ref = {"input_forget": True} if attrs.get("input_forget") else {}
    params = BASE + (
        "lengths",) if stand_in is None or "lengths" in [l.name for l in stand_in.layers] else BASE
    return lstm_sequence.case(name, about, SMALL, direction, v=1, data=data, attrs=attrs, ref=ref,
                              params=params, want=want, openvino=departures.NO_SEQUENCE_1,
                              stand_in=stand_in)


def cases():
    yield from cell_cases()
    yield from sequence_cases()
