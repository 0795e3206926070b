# LSTM written out in element-wise ops: what OpenVINO computes in place of the forms of LSTM-1 that
# it cannot read or computes without a word as something else (peepholes).
# SPDX-License-Identifier: Apache-2.0
import numpy as np

from .net import Net


def binary(net, op, a, b):
    return net.op(op, a, b, auto_broadcast="numpy")


def lstm_step(net, x, h, c, data, direction=0, input_forget=False, clip=None):
    """One step with ports x [B,I], h, c [B,H] and the arrays W, R, B and perhaps P of data (a
    leading axis of directions, or none). Returns the ports of the new h and c."""
    W, R, B = (data[k] if data[k].ndim == rank else data[k][direction]
               for k, rank in (("W", 2), ("R", 2), ("B", 1)))
    size = R.shape[-1]
    P = data.get("P")
    P = np.zeros(3 * size, np.float32) if P is None else P if P.ndim == 1 else P[direction]

    def gate(k, peephole=None, cell=None):
        rows = slice(k * size, (k + 1) * size)
        z = net.op("MatMul", x, net.const(W[rows].copy()), transpose_a=False, transpose_b=True)
        z = binary(
            net, "Add", z,
            net.op("MatMul", h, net.const(R[rows].copy()), transpose_a=False, transpose_b=True))
        z = binary(net, "Add", z, net.const(B[rows].copy()))
        if peephole is not None:
            z = binary(
                net, "Add", z,
                binary(net, "Multiply", cell,
                       net.const(P[peephole * size:(peephole + 1) * size].copy())))
        return z if clip is None else net.op("Clamp", z, min=-clip, max=clip)

    f = net.op("Sigmoid", gate(0, 0, c))
    i = binary(net, "Subtract", net.const(np.float32(1)), f) if input_forget else net.op(
        "Sigmoid", gate(1, 1, c))
    new_c = binary(net, "Add", binary(net, "Multiply", f, c),
                   binary(net, "Multiply", i, net.op("Tanh", gate(2))))
    o = net.op("Sigmoid", gate(3, 2, new_c))
    return binary(net, "Multiply", o, net.op("Tanh", new_c)), new_c


def lstm_sequence(data, directions, **more):
    """A Net with inputs X, H0, C0 and outputs Y, Ho, Co; all rows as long as T."""
    net = Net("unrolled")
    batch, time, _ = data["X"].shape
    size = data["H0"].shape[-1]
    X = net.param("X", "f32", list(data["X"].shape))
    states = [net.param(k, "f32", list(data[k].shape)) for k in ("H0", "C0")]
    rows, last = [], []
    for d, reverse in enumerate(directions):
        h, c = (net.op("Gather", s, net.i64(d), net.i64(1), v=8, batch_dims=0) for s in states)
        y = [None] * time
        for t in (reversed(range(time)) if reverse else range(time)):
            x = net.op("Gather", X, net.i64(t), net.i64(1), v=8, batch_dims=0)
            h, c = lstm_step(net, x, h, c, data, d, **more)
            y[t] = net.op("Reshape", h, net.i64([batch, 1, 1, size]), special_zero=False)
        rows.append(net.op("Concat", *y, axis=2) if time > 1 else y[0])
        last.append(
            [net.op("Reshape", s, net.i64([batch, 1, size]), special_zero=False) for s in (h, c)])

    def join(ports):
        return net.op("Concat", *ports, axis=1) if len(ports) > 1 else ports[0]

    net.result(join(rows), "Y")
    net.result(join([h for h, _ in last]), "Ho")
    net.result(join([c for _, c in last]), "Co")
    return net
