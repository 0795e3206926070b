# Slices of one position of an axis behind products, which may then compute only this position.
# SPDX-License-Identifier: Apache-2.0
import numpy as np

from .common import Case, rng, uniform
from .net import Net, type_of

FLOAT = "--atol 2e-6 --rtol 1e-5"
FAMILY = "early_slices"
OPEN_END = 2**63 - 1


class Chain:
    """A model of one input x, which is computed in float64 beside it."""
    def __init__(self, name, shape, open_shape=False):
        self.g, self.name, self.net = rng(FAMILY, name), name, Net(name)
        self.x = uniform(self.g, shape)
        self.port = self.net.param("x", "f32", [-1] * len(shape) if open_shape else list(shape))
        self.value = np.float64(self.x)
        self.want = {}

    def step(self, value, kind, *operands, **more):
        self.port = self.net.op(kind, self.port, *operands, **more)
        self.value = value
        return self

    def product(self, n, name="product", **more):
        w = uniform(self.g, (n, self.value.shape[-1]), -0.5, 0.5)
        return self.step(self.value @ np.float64(w).T, "MatMul", self.net.const(w), name=name,
                         data={"transpose_a": False, "transpose_b": True}, **more)

    def add(self, shape):
        b = uniform(self.g, shape)
        return self.step(self.value + b, "Add", self.net.const(b), auto_broadcast="numpy")

    def tanh(self):
        return self.step(np.tanh(self.value), "Tanh")

    def norm(self, axes=(-1,)):
        v = self.value
        v = v - v.mean(axis=axes, keepdims=True)
        v = v / np.sqrt((v * v).mean(axis=axes, keepdims=True) + 1e-5)
        return self.step(v, "MVN", self.net.i64(list(axes)), v=6, normalize_variance=True, eps=1e-5,
                         eps_mode="inside_sqrt")

    def slice(self, axis, start, stop):
        index = [slice(None)] * self.value.ndim
        index[axis] = slice(start, None if stop == OPEN_END else stop)
        lists = [self.net.i64([n]) for n in (start, stop, 1, axis)]
        return self.step(self.value[tuple(index)], "Slice", *lists, v=8)

    def gather(self, axis, index):
        return self.step(np.take(self.value, index, axis), "Gather", self.net.i64(index),
                         self.net.i64(axis), v=8, batch_dims=0)

    def strided(self, begin, shrinks, value):
        n, net = len(begin), self.net
        masks = {"begin_mask": [int(b == 0) for b in begin], "end_mask": [int(not s) for s in shrinks],
                 "new_axis_mask": [], "shrink_axis_mask": [int(s) for s in shrinks], "ellipsis_mask": []}
        return self.step(value, "StridedSlice", net.i64(begin), net.i64([b + 1 for b in begin]),
                         net.i64([1] * n), **masks)

    def result(self, name="y"):
        self.net.result(self.port, name)
        self.want[name] = self.value.astype(np.float32)
        return self

    def case(self, about, **more):
        return Case(FAMILY, self.name, self.net, {"x": self.x}, self.want, about, FLOAT, **more)


def slices():
    c = Chain("slice_last", (2, 5, 8)).product(6).add((6,)).slice(1, -1, OPEN_END).result()
    yield c.case("The last position of two sequences.")
    c = Chain("slice_first", (1, 5, 8)).product(6).slice(-2, 0, 1).result()
    yield c.case("The first position; the axis is counted from the end.")
    c = Chain("slice_open", (2, 5, 8), open_shape=True).product(6).slice(1, -1, OPEN_END).result()
    yield c.case("No dimension is known.")
    c = Chain("slice_near_end", (2, 5, 8)).product(6).slice(1, -1, 4).result()
    yield c.case("The end is in the axis, so that nothing is left; with one position it would be behind it.")
    c = Chain("slice_two", (2, 5, 8)).product(6).slice(1, -2, OPEN_END).result()
    yield c.case("Two positions.")
    c = Chain("slice_columns", (2, 5, 8)).product(6).slice(2, -1, OPEN_END).result()
    yield c.case("The last axis: each element is a sum along that of the input.")
    c = Chain("slice_axis_0", (3, 5, 8)).product(6).slice(0, -1, OPEN_END).result()
    yield c.case("Axis 0 of three.")
    c = Chain("slice_rank_2", (5, 8)).product(6).slice(0, -1, OPEN_END).result()
    yield c.case("The last row of a matrix.")
    c = Chain("strided_last", (2, 5, 8)).product(6)
    yield c.strided([0, -1], [0, 1], c.value[:, -1]).result().case("logits[:, -1].")
    c = Chain("strided_first", (2, 5, 8)).product(6)
    yield c.strided([0, 0, 0], [0, 1, 0], c.value[:, 0]).result().case("hidden[:, 0, :].")
    c = Chain("gather_first", (2, 5, 8)).norm().add((8,)).product(6).add((6,)).tanh().gather(1, 0)
    yield c.product(4, "pooler").tanh().result().case("The pooler of BERT behind a layer.")
    c = Chain("gather_last", (2, 5, 8), open_shape=True).product(6).gather(1, -1).result()
    yield c.case("Gather of index -1.")
    c = Chain("gather_third", (2, 5, 8)).product(6).gather(1, 2).result()
    yield c.case("Neither the first position nor the last.")
    c = Chain("slice_empty", (2, 0, 8), open_shape=True).product(6).slice(1, -1, OPEN_END).result()
    yield c.case("There is no position.")


def chains():
    c = Chain("operands", (2, 5, 8)).product(6).add((2, 5, 6)).add((5, 6)).add((1, 1, 6)).add((5, 1))
    c.step(c.value * 0.5, "Multiply", c.net.const(np.float32(0.5)), auto_broadcast="numpy")
    yield c.slice(1, -1, OPEN_END).result().case("Operands with and without the axis, of all ranks.")
    c = Chain("residual", (2, 5, 8)).product(8, "first")
    port, value = c.port, c.value
    c.norm().product(16, "up").tanh().product(8, "down")
    c.step(value + c.value, "Add", port, auto_broadcast="numpy").norm().product(7, "head")
    yield c.slice(1, -1, OPEN_END).result().case("A value is read twice, each time one position of it.")
    c = Chain("softmax", (2, 5, 8)).product(6)
    e = np.exp(c.value)
    c.step(e / e.sum(-1, keepdims=True), "SoftMax", v=8, axis=-1)
    yield c.slice(1, -1, OPEN_END).result().case("SoftMax along the last axis.")
    c = Chain("rms_norm", (2, 5, 8)).product(6)
    port, value, net = c.port, c.value, c.net
    c.step(value**2, "Power", net.const(np.float32(2)), auto_broadcast="numpy")
    c.step(c.value.mean(-1, keepdims=True), "ReduceMean", net.i64([-1]), keep_dims=True)
    c.step(np.sqrt(c.value), "Sqrt")
    root, c.port = c.port, port
    c.step(value / c.value, "Divide", root, auto_broadcast="numpy")
    yield c.product(4, "head").slice(1, -1, OPEN_END).result().case("The norm of Llama between products.")


def refused():
    c = Chain("also_output", (2, 5, 8)).product(6).result("all").slice(1, -1, OPEN_END).result()
    yield c.case("All positions are an output.")
    c = Chain("both_ends", (2, 5, 8)).product(6)
    port, value = c.port, c.value
    c.slice(1, 0, 1).result("first")
    c.port, c.value = port, value
    yield c.slice(1, -1, OPEN_END).result().case("The first position is read and the last.")
    c = Chain("shape_read", (2, 5, 8), open_shape=True).product(6)
    port, value = c.port, c.value
    c.step(np.int64(value.shape), "ShapeOf", v=3, output_type="i64", dtype="i64")
    c.net.result(c.port, "shape")
    c.want["shape"] = np.int64(value.shape)
    c.port, c.value = port, value
    yield c.slice(1, -1, OPEN_END).result().case("The shape of all positions is an output.")
    c = Chain("mean_of_positions", (2, 5, 8)).product(6).norm((-2,)).slice(1, -1, OPEN_END).result()
    yield c.case("A norm along the axis.")
    c = Chain("softmax_of_positions", (2, 5, 8)).product(6)
    e = np.exp(c.value)
    c.step(e / e.sum(1, keepdims=True), "SoftMax", v=8, axis=-2)
    yield c.slice(1, -1, OPEN_END).result().case("SoftMax along the axis.")
    c = Chain("transposed", (2, 8, 5))
    w = uniform(c.g, (8, 6))
    c.step(np.swapaxes(c.value, 1, 2) @ w, "MatMul", c.net.const(w),
           data={"transpose_a": True, "transpose_b": False})
    yield c.slice(1, -1, OPEN_END).result().case("The product reads columns.")
    c = Chain("pdpd", (2, 5, 6)).product(6)
    b = uniform(c.g, (5,))
    c.step(c.value + b[:, None], "Add", c.net.const(b), auto_broadcast="pdpd",
           data={"auto_broadcast.auto_broadcast_axis": 1})
    yield c.slice(1, -1, OPEN_END).result().case("An operand that is not aligned at the last axis.")


def stored():
    c = Chain("half_weights", (2, 5, 8))
    w = uniform(c.g, (6, 8)).astype(np.float16)
    half = c.net.op("Convert", c.net.const(w), destination_type="f32")
    c.step(c.value @ np.float64(w).T, "MatMul", half, data={"transpose_a": False, "transpose_b": True})
    yield c.slice(1, -1, OPEN_END).result().case("Weights of f16.")
    c = Chain("bytes", (2, 5, 64))
    w, s = c.g.integers(0, 256, (48, 64)).astype(np.uint8), uniform(c.g, (48, 1), 0.001, 0.01)
    z = c.g.integers(100, 150, (48, 1)).astype(np.uint8)
    net, f32 = c.net, {"destination_type": "f32"}
    codes = net.op("Subtract", net.op("Convert", net.const(w), **f32), net.op("Convert", net.const(z), **f32),
                   auto_broadcast="numpy")
    weights = net.op("Multiply", codes, net.const(s), auto_broadcast="numpy")
    c.step(c.value @ ((np.float64(w) - z) * s).T, "MatMul", weights,
           data={"transpose_a": False, "transpose_b": True})
    yield c.slice(1, -1, OPEN_END).result().case("Weights of u8 that are expanded in the product.")


def cases():
    for group in (slices, chains, refused, stored):
        yield from group()
