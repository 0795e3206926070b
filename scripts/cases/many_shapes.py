# More different shapes than plans are kept: a shape that depends on data, and one that comes with
# the record.
# SPDX-License-Identifier: Apache-2.0
import numpy as np

from .common import EXACT, Case, rng
from .net import Net

RECORDS, WIDTH = 40, 16


def counts():
    """How many elements are not 0, record by record: 0 to 16, some again soon, some late."""
    return rng("many_shapes").permutation(np.arange(RECORDS) % (WIDTH + 1))


def behind_two():
    """A variable that grows behind two shapes that depend on data: its memory moves after the
    values before them are bound."""
    x = rng("many_shapes", "two").integers(-9, 10, (12, WIDTH)).astype(np.float32)
    net = Net("non_zero_twice_then_state")
    data = net.param("x", "f32", [WIDTH])
    past = net.read("past", net.const(np.zeros(0, np.float32)), "f32", [-1])

    def positive(values):
        where = net.op("NonZero", net.op("ReLU", values), v=3, output_type="i64")
        flat = net.op("Reshape", where, net.i64([-1]), special_zero=False)
        return net.op("Gather", values, flat, net.i64(0), v=8, batch_dims=0)

    one_less = net.op("Subtract", positive(data), net.const(np.float32(1)), auto_broadcast="numpy")
    joined = net.op("Concat", past, positive(one_less), axis=0)
    net.assign("past", joined)
    net.result(net.op("ReduceSum", joined, net.i64([0]), keep_dims=True), "sum")
    total = np.maximum(x - 1, 0).sum(axis=1, keepdims=True).cumsum(axis=0).astype(np.float32)
    return Case("non_zero", "state_behind_two", net, {"x": x}, {"sum": total},
                "The variable is longer in every record.", EXACT)


def cases():
    yield behind_two()
    g = rng("many_shapes", "where")
    x = np.zeros((RECORDS, WIDTH), np.float32)
    for row, n in zip(x, counts()):
        row[g.choice(WIDTH, n, replace=False)] = g.integers(1, 100, n)
    net = Net("non_zero_many_counts")
    data = net.param("x", "f32", [WIDTH])
    where = net.op("NonZero", data, v=3, output_type="i64")
    flat = net.op("Reshape", where, net.i64([-1]), special_zero=False)
    found = net.op("Gather", data, flat, net.i64(0), v=8, batch_dims=0)
    doubled = net.op("Multiply", found, net.const(np.float32(2)), auto_broadcast="numpy")
    net.result(net.op("ReduceSum", doubled, net.i64([0]), keep_dims=True), "sum")
    net.result(net.op("ReduceSum", where, net.i64([1]), keep_dims=False), "places")
    places = (np.arange(WIDTH) * (x != 0)).sum(axis=1, keepdims=True).astype(np.int64)
    yield Case("non_zero", "many_counts", net, {"x": x},
               {"sum": 2 * x.sum(axis=1, keepdims=True), "places": places},
               "More counts than plans are kept, in any order.", EXACT)
