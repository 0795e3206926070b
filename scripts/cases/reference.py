# The recurrent ops in float64, written from the specification: gates, masks, directions. Plain, not
# fast.
# SPDX-License-Identifier: Apache-2.0
import numpy as np


def sigmoid(x):
    with np.errstate(over="ignore"):
        return 1.0 / (1.0 + np.exp(-x))


def activation(name, alpha, beta):
    name = name.lower()
    if name == "hardsigmoid":
        a, b = 0.2 if alpha is None else alpha, 0.5 if beta is None else beta
        return lambda x: np.clip(a * x + b, 0.0, 1.0)
    return {"sigmoid": sigmoid, "tanh": np.tanh, "relu": lambda x: np.maximum(x, 0.0)}[name]


def activation_list(names, defaults, alpha=(), beta=()):
    """The functions of an op; alpha and beta go by the position of the function."""
    def at(values, k):
        return float(np.float32(values[k])) if k < len(values) else None

    return [activation(n, at(alpha, k), at(beta, k)) for k, n in enumerate(names or defaults)]


def clipped(x, clip):
    return np.clip(x, -clip, clip) if clip and 0 < clip < np.inf else x


def to_fico(gates, weights_format):
    """Rows of W, R or B from weights_format to fico; leading axis 4H."""
    blocks = np.split(gates, 4, axis=0)
    return np.concatenate([blocks[weights_format.index(letter)] for letter in "fico"], axis=0)


def lstm_step(x, h, c, W, R, B=None, P=None, clip=0, activations=None, alpha=(), beta=(),
              input_forget=False):
    """One step of a batch: x [N,I], h, c [N,H], W [4H,I], R [4H,H], B [4H], P [3H] (f, i, o)."""
    f_act, g_act, h_act = activation_list(activations, ("sigmoid", "tanh", "tanh"), alpha, beta)
    size = h.shape[-1]
    z = x @ W.T + h @ R.T + (0 if B is None else B)
    zf, zi, zc, zo = (z[:, k * size:(k + 1) * size] for k in range(4))
    pf, pi, po = (np.zeros(size),) * 3 if P is None else np.split(P, 3)
    f = f_act(clipped(zf + pf * c, clip))
    i = 1 - f if input_forget else f_act(clipped(zi + pi * c, clip))
    c_new = f * c + i * g_act(clipped(zc, clip))
    o = f_act(clipped(zo + po * c_new, clip))
    return o * h_act(c_new), c_new


def gru_step(x, h, W, R, B=None, clip=0, activations=None, alpha=(), beta=(),
             linear_before_reset=False):
    """W [3H,I], R [3H,H], gates z, r, h; B [3H], or [4H] with linear_before_reset: z, r, Wb_h,
    Rb_h."""
    f_act, g_act = activation_list(activations, ("sigmoid", "tanh"), alpha, beta)
    size = h.shape[-1]
    wz, wr, wh = np.split(W, 3)
    rz, rr, rh = np.split(R, 3)
    parts = 4 if linear_before_reset else 3
    b = np.zeros(parts * size) if B is None else B
    b = [b[k * size:(k + 1) * size] for k in range(parts)]
    z = f_act(clipped(x @ wz.T + h @ rz.T + b[0], clip))
    r = f_act(clipped(x @ wr.T + h @ rr.T + b[1], clip))
    if linear_before_reset:
        n = x @ wh.T + r * (h @ rh.T + b[3]) + b[2]
    else:
        n = x @ wh.T + (r * h) @ rh.T + b[2]
    n = g_act(clipped(n, clip))
    return (1 - z) * n + z * h


def rnn_step(x, h, W, R, B=None, clip=0, activations=None, alpha=(), beta=()):
    (f_act,) = activation_list(activations, ("tanh",), alpha, beta)
    return f_act(clipped(x @ W.T + h @ R.T + (0 if B is None else B), clip))


def sequence(step, X, states, lengths, reverse):
    """One direction. step(x [1,I], states: list of [1,H]) -> list of new states; the first is the
    output. X [B,T,I], states: list of [B,H]. Returns Y [B,T,H] and the last states. Beyond
    lengths[b] nothing is read, Y is 0; of length 0 the last states are 0."""
    batch, time = X.shape[:2]
    Y = np.zeros((batch, time, states[0].shape[-1]))
    last = [np.zeros_like(s, dtype=np.float64) for s in states]
    for b in range(batch):
        now = [s[b:b + 1].astype(np.float64) for s in states]
        n = int(lengths[b])
        for t in (reversed(range(n)) if reverse else range(n)):
            now = step(X[b, t:t + 1].astype(np.float64), now)
            Y[b, t] = now[0][0]
        if n:
            for k, s in enumerate(now):
                last[k][b] = s[0]
    return Y, last


def directions(direction):
    return {"forward": [False], "reverse": [True], "bidirectional": [False, True]}[direction]


def stack_directions(per_direction):
    """[(Y, [states])] -> Y [B,D,T,H], states [B,D,H]."""
    Y = np.stack([y for y, _ in per_direction], axis=1)
    return (Y, *[np.stack(s, axis=1) for s in zip(*[states for _, states in per_direction])])


def lstm_sequence(X, H0, C0, lengths, W, R, B=None, P=None, direction="forward", **attrs):
    """H0, C0 [B,D,H], W [D,4H,I], R [D,4H,H], B [D,4H], P [D,3H]. Returns Y [B,D,T,H], Ho, Co
    [B,D,H]."""
    W, R = np.float64(W), np.float64(R)

    def one(d, reverse):
        def step(x, now):
            return list(
                lstm_step(x, *now, W[d], R[d], None if B is None else np.float64(B[d]),
                          None if P is None else np.float64(P[d]), **attrs))

        return sequence(step, X, [H0[:, d], C0[:, d]], lengths, reverse)

    return stack_directions([one(d, r) for d, r in enumerate(directions(direction))])


def gru_sequence(X, H0, lengths, W, R, B=None, direction="forward", step=gru_step, **attrs):
    """As lstm_sequence with gates z, r, h. Returns Y, Ho."""
    W, R = np.float64(W), np.float64(R)

    def one(d, reverse):
        def advance(x, now):
            return [step(x, now[0], W[d], R[d], None if B is None else np.float64(B[d]), **attrs)]

        return sequence(advance, X, [H0[:, d]], lengths, reverse)

    return stack_directions([one(d, r) for d, r in enumerate(directions(direction))])


def rnn_sequence(X, H0, lengths, W, R, B=None, direction="forward", **attrs):
    return gru_sequence(X, H0, lengths, W, R, B, direction, step=rnn_step, **attrs)
