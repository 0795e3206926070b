# Ops that give neighbours of their input (Slice, Split, Gather): their outputs are parts of its
# memory, which must stay as it is for as long as any of them is read.
# SPDX-License-Identifier: Apache-2.0
import numpy as np

from .common import EXACT, Case, rng, uniform
from .net import Net

FAMILY = "part"
X = np.arange(1, 25, dtype=np.float32).reshape(6, 4)
RECORDS = uniform(rng("part"), (4, 6, 4), -2, 2)


def rows(net, port, begin, end):
    return net.op("Slice", port, net.i64([begin]), net.i64([end]), net.i64([1]), net.i64([0]), v=8)


def add(net, a, b):
    return net.op("Add", a, b, auto_broadcast="numpy")


def multiply(net, a, b):
    return net.op("Multiply", a, b, auto_broadcast="numpy")


def case(name, build, want, about, **more):
    """build gives the outputs of a net with the input x."""
    net = Net(name)
    outs = build(net, net.param("x", "f32", list(X.shape)))
    for k, port in enumerate(outs):
        net.result(port, f"y{k}")
    return Case(FAMILY, name, net, {"x": X}, {f"y{k}": w
                                              for k, w in enumerate(want)}, about, EXACT, **more)


def of_input(net, x):
    return [rows(net, x, 2, 4)]


def of_halves(net, x):
    """Computed values of f16 are stored in f32: a row has other bytes than in f16."""
    half = net.op("Negative", net.op("Convert", x, destination_type="f16"))
    return [net.op("Convert", rows(net, half, 2, 4), destination_type="f32")]


def broadcast_over_whole(net, x):
    whole = net.op("Softmax", x, axis=1, v=8)
    whole = add(net, net.op("Clamp", whole, min=1, max=1), x)
    return [add(net, whole, rows(net, whole, 0, 1))]


def in_a_run(net, x):
    """Element-wise ops in a row, one of which reads a single element of an earlier one."""
    a = add(net, x, x)
    one = net.op("Reshape", rows(net, net.op("Reshape", a, net.i64([24]), special_zero=False), 7, 8),
                 net.i64([]), special_zero=False)
    return [multiply(net, net.op("ReLU", a), one)]


def two_halves(net, x):
    a = net.op("ReLU", add(net, x, x))
    return [net.op("Subtract", rows(net, a, 3, 6), rows(net, a, 0, 3), auto_broadcast="numpy")]


def part_of_part(net, x):
    a = net.op("ReLU", x)
    part = rows(net, rows(net, a, 1, 5), 1, 3)
    return [multiply(net, part, part), a]


def split(net, x):
    a = net.op("ReLU", x)
    pieces = net.op("VariadicSplit", a, net.i64(0), net.i64([1, 2, 3]), outs=3)
    return [add(net, pieces[0], pieces[1]), multiply(net, pieces[2], pieces[0])]


def equal_split(net, x):
    pieces = net.op("Split", net.op("ReLU", x), net.i64(0), outs=2, num_splits=2)
    return [net.op("Subtract", pieces[0], pieces[1], auto_broadcast="numpy")]


def gathered(net, x):
    a = add(net, x, x)
    row = net.op("Gather", a, net.i64(4), net.i64(0), v=8, batch_dims=0)
    return [add(net, a, row)]


def scatter_own_part(net, x):
    """The updates are a part of the data, which dies here."""
    a = net.op("ReLU", x)
    return [
        net.op("ScatterUpdate", a, net.i64([5, 4, 3, 2, 1]), rows(net, a, 0, 5), net.i64([0]), v=3)
    ]


def scatter_twice(net, x):
    """Each scatter may take the memory of the one before; the input stays."""
    a = net.op("ReLU", x)
    first = net.op("ScatterUpdate", a, net.i64([1]), rows(net, x, 5, 6), net.i64(0), v=3)
    second = net.op("ScatterNDUpdate", first, net.i64([[0], [2]]), rows(net, x, 3, 5), v=4)
    return [second, net.op("ScatterUpdate", x, net.i64([0]), rows(net, x, 1, 2), net.i64(0), v=3)]


def product(net, x):
    weights = net.const(np.float32([[1, 2], [3, 4], [5, 6], [7, 8]]))
    a = net.op("MatMul", x, weights, transpose_a=False, transpose_b=False)
    b = add(net, a, rows(net, a, 5, 6))
    return [multiply(net, net.op("ReLU", b), rows(net, a, 0, 1))]


def plain_cases():
    yield case("of_input", of_input, [X[2:4]], "The only step is a part of the input.")
    yield case("of_halves", of_halves, [-X[2:4]], "A part of computed f16.")
    whole = X + 1
    yield case("broadcast_over_whole", broadcast_over_whole, [whole + whole[:1]],
               "A row of a value meets all of it, which nobody reads later.")
    yield case("in_a_run", in_a_run, [2 * X * 16],
               "Element-wise ops in a row need one element of the first before it is made.")
    yield case("two_halves", two_halves, [2 * X[3:] - 2 * X[:3]], "Two parts meet.")
    yield case("part_of_part", part_of_part, [X[2:4]**2, X], "A part of a part, and the whole.")
    yield case("split", split, [X[:1] + X[1:3], X[3:] * X[:1]], "Pieces of different lengths.")
    yield case("equal_split", equal_split, [X[:3] - X[3:]], "Pieces of equal lengths.")
    yield case("gathered", gathered, [2 * X + 2 * X[4]], "A row that a constant index names.")
    want = X.copy()
    want[5:0:-1] = X[:5]
    yield case("scatter_own_part", scatter_own_part, [want], "Updates that are a part of the data.")
    first, second = X.copy(), X.copy()
    first[1], first[0], first[2] = X[5], X[3], X[4]
    second[0] = X[1]
    yield case("scatter_twice", scatter_twice, [first, second], "A chain of scatters.")
    a = X @ np.float32([[1, 2], [3, 4], [5, 6], [7, 8]])
    yield case("product", product, [(a + a[5]) * a[0]],
               "What follows a product reads rows of all of it.")


def state_case():
    """A queue: the last rows of a variable and a new one."""
    net = Net("state")
    x = net.param("x", "f32", [6, 4])
    before = net.read("queue", net.const(np.zeros((6, 4), np.float32)), "f32", [6, 4])
    kept = rows(net, before, 1, 6)
    new = rows(net, x, 2, 3)
    after = net.op("Concat", kept, new, axis=0)
    net.assign("queue", after)
    net.result(rows(net, before, 4, 6), "tail")
    net.result(add(net, kept, new), "sum")
    queue, tails, sums = np.zeros((6, 4), np.float32), [], []
    for record in RECORDS:
        tails.append(queue[4:])
        sums.append(queue[1:] + record[2])
        queue = np.concatenate([queue[1:], record[2:3]])
    return Case(FAMILY, "state", net, {"x": RECORDS},
                {"tail": np.stack(tails), "sum": np.stack(sums)},
                "Parts of a variable that is written in the same iteration.", EXACT)


def cases():
    yield from plain_cases()
    yield state_case()
