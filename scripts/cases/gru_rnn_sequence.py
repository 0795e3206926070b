# GRUSequence-5 and RNNSequence-5.
# SPDX-License-Identifier: Apache-2.0
import numpy as np

from . import departures
from .common import F16, F64
from .lstm_sequence import make_data
from .recurrent import KINDS, sequence_case

BOTH = ("forward", "reverse", "bidirectional")


def direction_cases(kind):
    for k, direction in enumerate(BOTH):
        yield sequence_case(kind, direction, f"{direction}, every row as long as T.", (2, 5, 3, 4),
                            direction, lbr=kind == "gru" and k == 1)
        yield sequence_case(kind, f"lengths_{direction}",
                            f"{direction} with lengths 3, 0, 5, 1 of 5; NaN in the padding.",
                            (4, 5, 3, 7), direction, (3, 0, 5, 1))
        yield sequence_case(kind, f"lengths_const_{direction}",
                            f"{direction}, lengths 2 and 4 of 4 in a Const.", (2, 4, 2, 3),
                            direction, (2, 4), params=("X", "H0"))
        size, lengths = (3, 4, 2, 5), (2, 4, 0)
        data = make_data((kind, "dynamic", direction), *size, direction, lengths,
                         gates=KINDS[kind][1], states=1, bias_gates=KINDS[kind][1])
        for axes, word in (((0, 1), "batch_time"),
                           ((1,), "time"))[:2 if direction == "bidirectional" else 1]:
            yield sequence_case(
                kind, f"lengths_dynamic_{word}_{direction}",
                f"{direction}, unknown {word}, lengths 2, 4, 0.", size, direction, data=data,
                dynamic=axes, openvino=departures.LENGTHS, stand_in=sequence_case(
                    kind, "", "", size, direction, data=data).net)


def size_cases(kind):
    sizes = [(1, 1, 1, 1), (1, 3, 7, 3), (3, 2, 8, 9), (2, 3, 15, 16), (1, 2, 16, 17), (9, 2, 3, 8),
             (1, 50, 1, 7), (1, 2, 31, 33)]
    for batch, time, inputs, hidden in sizes:
        yield sequence_case(kind, f"size_b{batch}_t{time}_i{inputs}_h{hidden}",
                            f"B {batch}, T {time}, I {inputs}, "
                            f"H {hidden}.", (batch, time, inputs, hidden))
    for batch, time, inputs, hidden, form in ((1, 2, 17, 63, "i4"), (2, 2, 9, 65, "u4_zero_point"),
                                              (1, 3, 8, 100, "i4"), (1, 20, 3, 128, "i4")):
        yield sequence_case(kind, f"size_b{batch}_t{time}_i{inputs}_h{hidden}",
                            f"H {hidden}, weights in {form}.", (batch, time, inputs, hidden),
                            form=form)


def attribute_cases(kind):
    small, names = (2, 4, 3, 5), KINDS[kind][2]
    everything = ("X", "H0", "lengths", "W", "R", "B")
    yield sequence_case(kind, "clip", "clip 0.3.", small, attrs={"clip": 0.3},
                        ref={"clip": np.float32(0.3)})
    yield sequence_case(kind, "clip_lengths_reverse", "clip 0.5 and lengths 1, 3, reverse.", small,
                        "reverse", (1, 3), attrs={"clip": 0.5}, ref={"clip": 0.5})
    others = ("tanh", "relu")[:len(names)] if kind == "gru" else ("relu",)
    yield sequence_case(kind, "activations_others", f"{', '.join(others)}.", small,
                        attrs={"activations": ", ".join(others)}, ref={"activations": others})
    yield sequence_case(kind, "activations_sigmoid_bidirectional", "sigmoid everywhere.", small,
                        "bidirectional", (4, 2), attrs={
                            "activations": ",".join(["sigmoid"] * len(names))
                        }, ref={"activations": ["sigmoid"] * len(names)})
    data = make_data((kind, "absent"), *small, gates=KINDS[kind][1], bias_gates=KINDS[kind][1],
                     states=1)
    yield sequence_case(
        kind, "activations_absent", "Only hidden_size and direction are given.", small, data=data,
        attrs=dict.fromkeys(
            ("activations", "activations_alpha", "activations_beta", "clip",
             "linear_before_reset")), openvino=departures.NO_ACTIVATIONS, stand_in=sequence_case(
                 kind, "", "", small, data=data).net)
    for alpha, beta in ((None, None), ([0.3] * len(names), [0.4] * len(names))):
        word = "default" if alpha is None else "alpha_beta"
        attrs = {"activations": ", ".join(["hardsigmoid"] * len(names))}
        ref = {"activations": ["hardsigmoid"] * len(names)}
        if alpha:
            attrs.update(activations_alpha=alpha, activations_beta=beta)
            ref.update(alpha=alpha, beta=beta)
        yield sequence_case(
            kind, f"hardsigmoid_{word}", "hardsigmoid, " +
            ("alpha 0.2 and beta 0.5 by default." if alpha is None else "alpha 0.3 and beta 0.4."),
            small, attrs=attrs, ref=ref, openvino=departures.NO_HARDSIGMOID)
    yield sequence_case(kind, "f64", "In f64 throughout.", small, "bidirectional", (1, 4), args=F64,
                        dtype=np.float64, confirm_tolerance=(1e-6, 1e-5))
    yield sequence_case(kind, "f16", "In f16; sums stay in f32.", small, args=F16, dtype=np.float16)
    yield sequence_case(kind, "weights_as_parameters", "W, R and B are inputs.", small,
                        lengths=(4, 3), params=everything)
    yield sequence_case(kind, "weights_as_parameters_bidirectional", "The same in two directions.",
                        (2, 3, 2, 3), "bidirectional", (0, 3), params=everything)
    yield sequence_case(kind, "lengths_i64", "lengths are i64.", small, lengths=(2, 4),
                        lengths_type=np.int64)
    yield sequence_case(kind, "one_row_of_length_0", "The only row has length 0.", (1, 3, 2, 4),
                        lengths=(0,))
    for form in ("f16", "bf16", "i8", "i4_groups"):
        yield sequence_case(kind, f"weights_{form}", f"W and R stored as {form}.", (2, 3, 6, 6),
                            lengths=(3, 1), form=form)


def reset_cases():
    """linear_before_reset: the reset gate after the product, with a fourth bias."""
    for direction in BOTH:
        yield sequence_case("gru", f"lbr_{direction}",
                            f"linear_before_reset, {direction}, lengths 3, 1, 4.", (3, 4, 3, 5),
                            direction, (3, 1, 4), lbr=True)
    yield sequence_case("gru", "lbr_clip", "linear_before_reset with clip 0.4.", (2, 3, 3, 4),
                        lbr=True, attrs={"clip": 0.4}, ref={"clip": np.float32(0.4)})
    yield sequence_case("gru", "lbr_as_1", "linear_before_reset=\"1\".", (2, 3, 3, 4), lbr=True,
                        attrs={"linear_before_reset": "1"})
    yield sequence_case("gru", "lbr_f64", "linear_before_reset in f64.", (2, 3, 3, 4), "reverse",
                        (2, 3), lbr=True, dtype=np.float64, args=F64,
                        confirm_tolerance=(1e-6, 1e-5))
    for hidden in (8, 17, 31):
        yield sequence_case("gru", f"lbr_h{hidden}", f"linear_before_reset, H {hidden}.",
                            (1, 3, 5, hidden), lbr=True)
    yield sequence_case("gru", "lbr_h100", "linear_before_reset, H 100, weights in i4.",
                        (2, 3, 7, 100), lbr=True, form="i4")
    yield sequence_case("gru", "lbr_weights_as_parameters",
                        "linear_before_reset, W, R and B are inputs.", (2, 3, 3, 4), lbr=True,
                        params=("X", "H0", "lengths", "W", "R", "B"))


def cases():
    for kind in KINDS:
        for make in (direction_cases, size_cases, attribute_cases):
            yield from make(kind)
    yield from reset_cases()
