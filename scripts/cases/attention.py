# ScaledDotProductAttention.
# SPDX-License-Identifier: Apache-2.0
import numpy as np

from . import departures
from .common import rng, uniform
from .one_op import Const, error, one_op

FLOAT = "--atol 2e-6 --rtol 1e-5"


def attend(q, k, v, mask=None, scale=None, sink=None, causal=False):
    q, k, v = (a.astype(np.float64) for a in (q, k, v))
    scores = q @ np.swapaxes(k, -1, -2) * (1 / np.sqrt(q.shape[-1]) if scale is None else float(scale))
    if causal:
        scores = np.where(np.tri(*scores.shape[-2:], dtype=bool), scores, -np.inf)
    elif mask is not None:
        scores = np.where(mask, scores, -np.inf) if mask.dtype == bool else scores + mask.astype(np.float64)
    if sink is not None:
        scores = np.concatenate([scores, np.broadcast_to(sink, (*scores.shape[:-1], 1))], -1)
    weights = np.exp(scores - np.maximum(scores.max(-1, keepdims=True), -1e300))
    weights = weights / np.maximum(weights.sum(-1, keepdims=True), 1e-300)
    return (weights[..., :k.shape[-2]] if sink is not None else weights) @ v


def case(name, q, k, v, about, mask=None, scale=None, sink=None, causal=False, args=FLOAT, **more):
    want = attend(q, k, v, mask, scale, sink, causal).astype(q.dtype)
    inputs = [q, k, v]
    if mask is not None or scale is not None or sink is not None:
        inputs.append(np.zeros((), q.dtype) if mask is None else mask)
    if scale is not None or sink is not None:
        inputs.append(Const(np.asarray(1 / np.sqrt(q.shape[-1]) if scale is None else scale, q.dtype)))
    if sink is not None:
        inputs.append(sink)
    return one_op("scaled_dot_product_attention", name, "ScaledDotProductAttention", inputs, want, about, 13, args,
                  attrs={"causal": causal}, **more)


def cases():
    g = rng("attention")

    def x(*shape):
        return uniform(g, shape, -1, 1)
    q, k, v = x(2, 3, 5, 8), x(2, 3, 7, 8), x(2, 3, 7, 6)
    yield case("plain", q, k, v, "Two batches, three heads.")
    yield case("one_batch", x(1, 4, 8), x(1, 6, 8), x(1, 6, 8), "Three dimensions.")
    yield case("one_query", x(1, 2, 1, 8), k[:1, :2], v[:1, :2], "One query: a token at a time.")
    yield case("mask_added", q, k, v, "A mask that is added.", x(2, 3, 5, 7) * 3)
    seen = np.ones((2, 1, 5, 7), bool)
    seen[0, 0, :, 5:] = seen[1, 0, 2, :3] = False
    yield case("mask_boolean", q, k, v, "A boolean mask: true is seen.", seen)
    yield case("mask_row", q, k, v, "One row of the mask serves all queries.", np.where(seen[:, :, :1], 0, -1e4).astype(
        np.float32))
    yield case("mask_infinite", q, k, v, "A mask of minus infinities.", np.where(np.tri(5, 7, 2, bool), 0, -np.inf).astype(
        np.float32)[None, None])
    hidden = seen.copy()
    hidden[0, 0, :2] = hidden[1, 0, 4] = False
    added = np.where(hidden, 0, -np.inf).astype(np.float32)
    for name, mask, which in (("hidden_boolean", hidden, "All keys are hidden from some queries."),
                              ("hidden_infinite", added, "All keys are hidden from some queries, by infinities.")):
        yield case(name, q, k, v, which, mask, openvino=departures.HIDDEN_KEYS)
    yield case("hidden_f64", *(a.astype(np.float64) for a in (q, k, v)), "The same in f64.", hidden[:, :, :, :1],
               args="--atol 1e-13 --rtol 1e-12", openvino=departures.HIDDEN_KEYS)
    yield case("mask_of_zero", q, k, v, "A scalar 0 is not a mask; the scale is given.", scale=0.5)
    yield case("causal", q, k, v, "Query i sees keys up to i.", causal=True)
    yield case("causal_square", x(1, 2, 6, 4), x(1, 2, 6, 4), x(1, 2, 6, 4), "As many queries as keys.", causal=True)
    yield case("causal_with_mask", q, k, v, "causal: the mask is not looked at.", x(2, 3, 5, 7), causal=True)
    yield case("scale", q, k, v, "Mask and scale.", x(1, 1, 5, 7), 0.25)
    yield case("sink", q, k, v, "A sink takes a part of the weight.", x(2, 3, 5, 7), 0.5, x(1, 3, 1, 1))
    yield case("shared_heads", q, x(2, 1, 7, 8), x(2, 1, 7, 6), "All heads share keys and values.")
    yield case("many_keys", x(1, 1, 70, 16), x(1, 1, 1000, 16), x(1, 1, 1000, 8),
               "So many keys that queries are worked on piece by piece.", x(1, 1, 70, 1000))
    yield case("many_keys_causal", x(1, 1, 70, 4), x(1, 1, 1500, 4), x(1, 1, 1500, 4), "The same, causal.", causal=True)
    yield case("dynamic", q, k, v, "No dimension is known.", seen, dynamic=True)
    yield case("f64", *(a.astype(np.float64) for a in (q, k, v)), "In f64.", args="--atol 1e-13 --rtol 1e-12",
               confirm_tolerance=(1e-6, 1e-5))
    yield case("f16", *(a.astype(np.float16) for a in (q, k, v)), "In f16.", args="--atol 1e-3 --rtol 2e-3")
    yield case("large_scores", q * 40, k * 40, v, "Scores whose exponential overflows.", args="--atol 2e-5 --rtol 2e-5")
    yield error("error_op", "attention_keys", "ScaledDotProductAttention", [q, k, v[:, :, :6]],
                ["input 2 (value) is f32 [2,3,6,6], expected 7 rows"], "A value for each key.", 13,
                attrs={"causal": False})
    yield error("error_op", "attention_mask", "ScaledDotProductAttention", [q, k, v, x(5, 6)],
                ["input 3 (attention_mask) is f32 [5,6], expected a shape that broadcasts to [...,5,7]"],
                "The mask has other keys.", 13, attrs={"causal": False})
