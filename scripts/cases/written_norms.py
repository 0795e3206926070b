# Normalizations that are written out in ops, which irrun computes as one.
# SPDX-License-Identifier: Apache-2.0
import numpy as np

from . import departures
from .common import F64, Case, rng, uniform
from .net import Net, type_of

FLOAT = "--atol 4e-6 --rtol 1e-5"
EPS = 2**-10


class Written:
    """The ops of a normalization of x in one form. keys: of the cases below."""
    def __init__(self, net, x, form):
        self.net, self.x, self.form = net, x, form
        self.axes = [net.i64(form.get("axes", [-1])), net.i64(form.get("other_axes", form.get("axes", [-1])))]

    def op(self, kind, *inputs):
        numpy = {"auto_broadcast": "numpy"} if len(inputs) == 2 else {}
        return self.net.op(kind, *inputs, **numpy)

    def number(self, value):
        """A constant of the rank and the type of the form."""
        kind = self.form.get("number_type", np.float32)
        port = self.net.const(np.full([1] * self.form.get("rank", 0), value, kind))
        return self.net.op("Convert", port, destination_type="f32") if kind == np.float16 else port

    def mean(self, value, place=0):
        return self.net.op("ReduceMean", value, self.axes[place], keep_dims=not self.form.get("drops_axis"))

    def centered(self):
        return self.op("Subtract", self.x, self.mean(self.x, 1))

    def squares(self, divided):
        kind = self.form.get("square", "Multiply")
        if kind == "SquaredDifference":
            return self.op(kind, self.x, self.mean(self.x, 1))
        base = self.centered() if self.form.get("twice") else divided
        return self.op("Power", base, self.number(2)) if kind == "Power" else self.op("Multiply", base, base)

    def root(self, value):
        return self.op("Power", value, self.number(0.5)) if self.form.get("root") == "Power" else self.op("Sqrt", value)

    def deviation(self, variance):
        if self.form.get("outside"):
            return self.op("Add", self.root(variance), self.number(EPS))
        return self.root(self.shifted(variance))

    def shifted(self, variance):
        terms = (variance, self.number(EPS))
        return self.op("Add", *(terms[::-1] if self.form.get("eps_first") else terms))

    def result(self):
        divided = self.x if self.form.get("keeps_mean") else self.centered()
        variance, how = self.mean(self.squares(divided)), self.form.get("how", "Divide")
        if how == "Divide":
            return self.op("Divide", divided, self.deviation(variance))
        if how == "Power":
            inverse = self.op("Power", self.shifted(variance), self.number(-0.5))
        elif how == "Inverse":
            inverse = self.op("Power", self.deviation(variance), self.number(-1))
        else:
            inverse = self.op("Divide", self.number(1), self.deviation(variance))
        factors = (inverse, divided) if self.form.get("inverse_first") else (divided, inverse)
        return self.op("Multiply", *factors)


def golden(x, form):
    x = np.float64(x[None] if form.get("grows") else x)
    axes, other = tuple(form.get("axes", [-1])), tuple(form.get("other_axes", form.get("axes", [-1])))
    keeps = not form.get("drops_axis")
    centered = x if form.get("keeps_mean") else x - x.mean(other, keepdims=keeps)
    variance = np.mean(centered**2, axes, keepdims=keeps)
    deviation = np.sqrt(variance) + EPS if form.get("outside") else np.sqrt(variance + EPS)
    return centered / deviation


def norm_case(name, x, about, args=FLOAT, dynamic=False, affine=False, more=None, **form):
    net = Net(name)
    port = net.param("x", type_of(x), [-1] * x.ndim if dynamic else list(x.shape))
    y, want = Written(net, port, form).result(), golden(x, form)
    if affine:
        g = rng("written_norm", name)
        gamma, beta = uniform(g, x.shape[-1], 0.5, 2), uniform(g, x.shape[-1])
        y = net.op("Add", net.op("Multiply", y, net.const(gamma)), net.const(beta))
        want = want * gamma + beta
    want = np.reshape(want, (1, ) * (form.get("rank", 0) - want.ndim) + want.shape)
    net.result(y, "y")
    return Case("written_norm", name, net, {"x": x}, {"y": want.astype(x.dtype)}, about, args, **(more or {}))


def cases():
    x = uniform(rng("written_norm"), (2, 3, 5, 7), -3, 3)

    def make(name, about, data=x, **form):
        return norm_case(name, data, about, **form)
    yield make("layer", "Layer normalization: a square by Multiply, a root, a quotient, then gamma and beta.", affine=True)
    yield make("layer_power", "Powers of 2 and 0.5.", square="Power", root="Power")
    yield make("layer_two_differences", "The square and the quotient have a Subtract each.", square="Power", twice=True)
    yield make("layer_squared_difference", "SquaredDifference; eps is the first term.", square="SquaredDifference",
               eps_first=True)
    yield make("layer_inverse_power", "A product with the power of -0.5.", how="Power", affine=True)
    yield make("layer_inverse", "A product with the inverse of the root, which is the first operand.", how="Quotient",
               inverse_first=True)
    yield make("layer_inverse_of_power", "A product with the power of -1.", how="Inverse")
    yield make("layer_wide", "Rows longer than vectors.", uniform(rng("written_norm", "wide"), (3, 131), 4, 5))
    yield make("layer_f64", "In f64.", np.float64(x), number_type=np.float64, args=F64,
               more={"confirm_tolerance": (1e-5, 1e-5)})
    yield make("layer_dynamic", "No dimension is known.", dynamic=True, affine=True)
    yield make("instance", "Instance normalization: the axes of an image.", axes=[2, 3])
    yield make("instance_outside", "eps is added to the root.", axes=[2, 3], outside=True)
    yield make("first_axis", "Slices lie apart.", axes=[0])
    yield make("rank_of_numbers", "Numbers of a higher rank than x give the result theirs.", x[0, 0], rank=4,
               square="Power", how="Power", more={"openvino": departures.FALSE_MVN})
    yield make("exponent_of_higher_rank", "The square has more dimensions than x: axis 1 of the mean is axis 0 of x.",
               x[0, 0], rank=3, grows=True, keeps_mean=True, square="Power", axes=[1])
    yield make("numbers_of_f16", "Numbers of f16, converted to f32.", number_type=np.float16, square="Power", how="Power",
               keeps_mean=True)
    yield make("root_mean_square", "RMS normalization: the mean is not subtracted.", keeps_mean=True, square="Power",
               how="Power")
    yield make("root_mean_square_inverse", "RMS normalization with an inverse, as 1 / sqrt.", keeps_mean=True,
               how="Quotient", affine=True)
    yield make("root_mean_square_divide", "RMS normalization with a quotient, eps outside the root.", keeps_mean=True,
               outside=True)
    yield make("equal_elements", "A variance of 0.", np.full((3, 24), 0.1, np.float32))
    yield make("other_axes", "Mean and variance have other axes: the root mean square of a difference.", axes=[3], other_axes=[2, 3])
    yield make("without_axis", "The means drop the axis, and then broadcast along another: none of MVN.",
               uniform(rng("written_norm", "square"), (4, 4)), drops_axis=True,
               more={"openvino": departures.FALSE_MVN})
