#!/usr/bin/env python3
"""Writes the models of the speed comparison: make_bench_models.py FOLDER. Needs openvino and numpy.

lstm_b{B}_t{T}_i{I}_h{H}[_bi][_state][_f16]   LSTMSequence with constant weights: batch B, T steps; _bi: bidirectional, _state: its
                                              states are variables, _f16: weights stored in f16
gru_...                                       the same with GRUSequence, linear_before_reset
select_{n}                                    Select of f32 over n elements
chain, deep                                   1,000 and 20,000 element-wise ops on [1,64]: cost per op, cost of reading and planning
acc                                           one variable, one Add: cost per iteration
SPDX-License-Identifier: Apache-2.0
"""
import sys
from pathlib import Path

import numpy as np
import openvino as ov
import openvino.op as op
import openvino.op.util as util
from openvino import opset13 as ops
from openvino._offline_transformations import apply_make_stateful_transformation

GRID = [(1, 1, 128, 128), (1, 1, 512, 512), (1, 100, 64, 128), (1, 100, 256, 256), (1, 100, 512, 512), (1, 100, 1024, 1024),
        (2, 100, 256, 256), (4, 100, 512, 512), (8, 20, 512, 512), (8, 100, 256, 256), (16, 50, 512, 512), (32, 50, 512, 512)]
N_STATES = {"lstm": 2, "gru": 1}
N_GATES = {"lstm": 4, "gru": 3}

rng = np.random.default_rng(20)


def weights(*shape, scale):
    return ops.constant(rng.uniform(-scale, scale, shape).astype(np.float32))


def save(folder, model, name, is_f16=False):
    ov.save_model(model, folder / f"{name}.xml", compress_to_fp16=is_f16)


def variable(name, shape):
    info = util.VariableInfo()
    info.data_shape, info.data_type, info.variable_id = ov.PartialShape(shape), ov.Type.f32, name
    return util.Variable(info)


def recurrent(folder, kind, batch, steps, inputs, hidden, direction="forward", has_state=False):
    n_directions = 2 if direction == "bidirectional" else 1
    shape = [batch, n_directions, hidden]
    scale = 1 / np.sqrt(hidden + inputs)
    x = ops.parameter([batch, steps, inputs], np.float32, name="x")
    names = [f"state{i}" for i in range(N_STATES[kind])]
    if has_state:
        start = [ops.parameter(shape, np.float32, name=name) for name in names]
        for name, parameter in zip(names, start):
            parameter.output(0).set_names({name})
    else:
        start = [ops.constant(np.zeros(shape, np.float32)) for _ in names]
    lengths = ops.constant(np.full(batch, steps, np.int32))
    rows = N_GATES[kind] * hidden
    w, r = weights(n_directions, rows, inputs, scale=scale), weights(n_directions, rows, hidden, scale=scale)
    b = weights(n_directions, 4 * hidden, scale=scale)
    if kind == "lstm":
        node = ops.lstm_sequence(x, *start, lengths, w, r, b, hidden, direction)
    else:
        node = ops.gru_sequence(x, *start, lengths, w, r, b, hidden, direction, linear_before_reset=True)
    results = [ops.result(node.output(i)) for i in range(1 + len(names))]
    model = ov.Model(results, [x] + (start if has_state else []), kind)
    if has_state:
        for i, name in enumerate(names):
            model.output(1 + i).get_tensor().set_names({name + "_next"})
        apply_make_stateful_transformation(model, {name: name + "_next" for name in names})
    name = f"{kind}_b{batch}_t{steps}_i{inputs}_h{hidden}" + "_bi" * (n_directions == 2) + "_state" * has_state
    save(folder, model, name)
    save(folder, model, name + "_f16", is_f16=True)


def select(folder, n):
    cond = ops.parameter([n], bool, name="cond")
    a, b = (ops.parameter([n], np.float32, name=name) for name in ("a", "b"))
    save(folder, ov.Model([ops.result(ops.select(cond, a, b))], [cond, a, b], "select"), f"select_{n}")


def chain(folder, length, name):
    x = ops.parameter([1, 64], np.float32, name="x")
    y = x
    for _ in range(length // 4):
        y = ops.add(ops.multiply(y, ops.constant(np.float32(0.999))), weights(1, 64, scale=1.0))
        y = ops.select(ops.greater(y, ops.constant(np.float32(0))), y, ops.constant(np.float32(0.1)))
    save(folder, ov.Model([ops.result(y)], [x], name), name)


def accumulator(folder):
    x, total = ops.parameter([1, 8], np.float32, name="x"), variable("total", [1, 8])
    y = ops.add(op.read_value(ops.constant(np.zeros((1, 8), np.float32)), total), x)
    save(folder, ov.Model([ops.result(y)], [op.assign(y, total)], [x], "acc"), "acc")


def main():
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for shape in GRID:
        recurrent(folder, "lstm", *shape)
    for shape in GRID[:5]:
        recurrent(folder, "gru", *shape)
    recurrent(folder, "lstm", 1, 1, 128, 128, has_state=True)
    recurrent(folder, "lstm", 1, 1, 512, 512, has_state=True)
    recurrent(folder, "lstm", 1, 100, 256, 256, direction="bidirectional")
    for n in (1000, 100_000, 1_000_000, 16_000_000):
        select(folder, n)
    chain(folder, 1000, "chain")
    chain(folder, 20_000, "deep")
    accumulator(folder)


if __name__ == "__main__":
    main()
