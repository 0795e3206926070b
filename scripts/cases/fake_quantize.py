# FakeQuantize.
# SPDX-License-Identifier: Apache-2.0
import numpy as np

from . import departures
from .common import rng, uniform
from .one_op import Const, error, one_op

FLOAT = "--atol 1e-6 --rtol 1e-5"


def fake_quantize(x, il, ih, ol, oh, levels):
    x, il, ih, ol, oh = (np.float64(a) for a in (x, il, ih, ol, oh))
    with np.errstate(invalid="ignore", divide="ignore"):
        between = np.rint((x - il) / (ih - il) * (levels - 1)) / (levels - 1) * (oh - ol) + ol
    y = np.where(x <= np.minimum(il, ih), ol, np.where(x > np.maximum(il, ih), oh, between))
    return y


def case(name, x, bounds, levels, about, const=True, mode=None, placed=None, args=FLOAT, axis=None, **more):
    """placed: the bounds as NumPy broadcasts them, where mode is not numpy."""
    bounds = [np.asarray(b, x.dtype) for b in bounds]
    want = fake_quantize(x, *(placed or bounds), levels).astype(x.dtype)
    attrs = {"levels": levels, **({"auto_broadcast": mode} if mode else {})}
    if axis is not None:
        attrs["auto_broadcast.auto_broadcast_axis"] = axis
    return one_op("fake_quantize", name, "FakeQuantize", [x] + [Const(b) if const else b for b in bounds], want, about,
                  args=args, attrs=attrs, **more)


def cases():
    g = rng("fake_quantize")
    x = uniform(g, (2, 3, 4, 5), -3, 3)
    channel = [uniform(g, (1, 3, 1, 1), -2, -1), uniform(g, (1, 3, 1, 1), 1, 2)]
    yield case("scalars", x, [-1, 1.5, -1, 1.5], 256, "One range for all, 256 levels.")
    yield case("two_levels", x, [0, 1, -2, 2], 2, "Two levels: a sign.")
    yield case("channels", x, channel + channel, 16, "A range for each channel.")
    yield case("channels_of_filters", x, [uniform(g, (2, 1, 1, 1), -2, -1), uniform(g, (2, 1, 1, 1), 1, 2), -127, 127],
               255, "A range for each filter in, one range out.")
    yield case("mixed", x, [uniform(g, (3, 1, 1), -2, -1), 2, uniform(g, (5,), -1, 0), uniform(g, (4, 1), 1, 2)], 9,
               "Every bound of another shape.")
    yield case("inputs", x, [-1, 1, 0, 255], 256, "The bounds are inputs.", const=False)
    yield case("reversed_output", x, [-1, 1, 1, -1], 256, "output_low above output_high.")
    yield case("ties", np.float32([0, 0.5, 1.5, 2.5, 3.5, 4, 5, -1]), [0, 4, 0, 4], 5, "A tie goes to the even level.")
    yield case("none", x, [np.full(x.shape, v, np.float32) for v in (-1, 1, -2, 2)], 8,
               "auto_broadcast none: all shapes alike.", mode="none")
    flat = [uniform(g, (3,), -2, -1), uniform(g, (3,), 1, 2), uniform(g, (3, 1), -2, -1), uniform(g, (3,), 1, 2)]
    yield case("pdpd", x, flat, 32, "auto_broadcast pdpd from axis 1 on.", mode="pdpd", axis=1,
               placed=[b.reshape(1, 3, 1, 1) for b in flat], openvino=departures.FAKE_QUANTIZE_PDPD)
    last = [uniform(g, (4, 5), -2, -1), uniform(g, (4, 5), 1, 2), uniform(g, (4, 5), -2, -1), uniform(g, (4, 5), 1, 2)]
    yield case("pdpd_last_axes", x, last, 32, "pdpd with axis -1: the last axes.", mode="pdpd", axis=-1, placed=last)
    yield case("f64", x.astype(np.float64), [-1, 1, -1, 1], 1001, "In f64.", args="--atol 1e-13 --rtol 1e-12",
               confirm_tolerance=(1e-6, 1e-5))
    yield case("f16", x.astype(np.float16), [-2, 2, -2, 2], 9, "In f16.", args="--atol 1e-3 --rtol 1e-3")
    yield case("dynamic", x, [-1, 1.5, -1, 1.5], 256, "No dimension is known.", dynamic=True)
    yield error("error_op", "fake_quantize_levels", "FakeQuantize", [x] + [Const(np.float32(0))] * 4,
                ["levels is 1, expected 2 or more"], "One level is none.", attrs={"levels": 1})
