# A tiny decoder with random weights in two forms: a step with its keys and values in variables, as
# OpenVINO GenAI models have it, and a stateless twin that takes the whole sequence and spells
# attention out. Built with OpenVINO's Python API; the golden is float64 NumPy.
# SPDX-License-Identifier: Apache-2.0
import functools

import numpy as np
import openvino as ov
from openvino import opset13 as op

from cases import common, net, weight_forms

LAYERS, WIDTH, HEADS, INNER, WORDS = 4, 64, 4, 128, 97
HEAD = WIDTH // HEADS
PROMPT = 16  # tokens given
TOKENS = {"tiny_transformer": 256, "tiny_transformer_int8": 512, "tiny_transformer_int4": 512}  # in all
SEED = {"tiny_transformer": ()}  # with which no choice of a token is close
EPSILON, HIDDEN = 1e-5, -65504.0  # HIDDEN: what is added to the score of a key not to be seen
TOLERANCE = "--atol 2e-5 --rtol 2e-5"
LONG_TOLERANCE = "--atol 6e-5 --rtol 2e-5"  # of 512 tokens: f32 departs by 3e-5, OpenVINO's too

# Weights and golden -------------------------------------------------------------------------------


def form_of(model, name, form):
    """How a model stores weights: as tiny_transformer does, or all alike, as NNCF compresses them."""
    if model == "tiny_transformer":
        return form
    is_outer = name in ("words", "head")
    return "u8_zero_point" if model == "tiny_transformer_int8" or is_outer else "i4_groups"


def weights(model="tiny_transformer"):
    """name -> (values in float64, the form in which they are stored). All are [out, in]."""
    g = common.rng(model, *SEED.get(model, ("0",)))
    held = {}

    def add(name, rows, columns, form, gain=1.0):
        form = form_of(model, name, form)
        values = g.normal(0, gain / np.sqrt(columns), (rows, columns))
        held[name] = (weight_forms.represent(values, form), form)

    add("words", WORDS, WIDTH, "f16", 8)
    for k in range(LAYERS):
        for name in ("q", "k", "v"):
            add(f"{k}.{name}", WIDTH, WIDTH, "u8_zero_point", 2 if name == "q" else 1)
        add(f"{k}.out", WIDTH, WIDTH, "i8")
        add(f"{k}.gate", INNER, WIDTH, "u4_zero_point")
        add(f"{k}.up", INNER, WIDTH, "i4_groups")
        add(f"{k}.down", WIDTH, INNER, "i4")
        for name in ("before", "between"):
            held[f"{k}.{name}"] = (1 + np.rint(g.uniform(-0.4, 0.4, WIDTH) * 256) / 256, "f32")
    held["last"] = (np.full(WIDTH, 2.0), "f32")
    add("head", WORDS, WIDTH, "bf16", 2)
    return held


def frequencies():
    return np.float32(10000.0**(-np.arange(0, HEAD, 2) / HEAD))


def normalized(x, gain):
    return x / np.sqrt(np.mean(x * x, axis=-1, keepdims=True) + EPSILON) * gain


def rotated(x, start):
    """Positions, from start on, turned into angles: x is [heads, time, HEAD], its halves are
    pairs."""
    angles = (start + np.arange(x.shape[1]))[:, None] * np.float64(frequencies())
    c, s = (np.concatenate([f(angles)] * 2, axis=-1) for f in (np.cos, np.sin))
    a, b = np.split(x, 2, axis=-1)
    return x * c + np.concatenate([-b, a], axis=-1) * s


def golden_logits(held, tokens, past):
    """[time, WORDS] in float64. past: (layer, "k" or "v") -> what came before; it is extended."""
    w = {name: values for name, (values, _) in held.items()}
    x = w["words"][tokens]
    start = past[0, "k"].shape[1] if past else 0
    seen = np.tri(len(tokens), start + len(tokens), start, dtype=bool)

    def heads(y):
        return y.reshape(len(tokens), HEADS, HEAD).transpose(1, 0, 2)

    for k in range(LAYERS):
        y = normalized(x, w[f"{k}.before"])
        q, key, v = (heads(y @ w[f"{k}.{name}"].T) for name in ("q", "k", "v"))
        for name, new in (("k", rotated(key, start)), ("v", v)):
            past[k, name] = np.concatenate([past[k, name], new], axis=1) if start else new
        scores = rotated(q, start) @ past[k, "k"].transpose(0, 2, 1) / np.sqrt(HEAD)
        e = np.where(seen, np.exp(scores - scores.max(axis=-1, keepdims=True)), 0)
        mixed = (e / e.sum(axis=-1, keepdims=True)) @ past[k, "v"]
        x = x + mixed.transpose(1, 0, 2).reshape(len(tokens), WIDTH) @ w[f"{k}.out"].T
        y = normalized(x, w[f"{k}.between"])
        gate = y @ w[f"{k}.gate"].T
        x = x + (gate / (1 + np.exp(-gate)) * (y @ w[f"{k}.up"].T)) @ w[f"{k}.down"].T
    return normalized(x, w["last"]) @ w["head"].T


@functools.cache
def generated(model="tiny_transformer"):
    """(tokens [n], logits [n, WORDS]): always the likeliest token follows. Asserts that none is the
    likeliest by a hair."""
    held = weights(model)
    tokens = new = common.rng(model, *SEED.get(model, ("0",)), "prompt").integers(0, WORDS, PROMPT)
    past = {}
    while len(tokens) < TOKENS[model]:
        logits = golden_logits(held, new, past)[-1]
        second, first = np.sort(logits)[-2:]
        assert first - second > 1e-3
        new = logits.argmax()[None]
        tokens = np.append(tokens, new)
    return tokens, golden_logits(held, tokens, {})


# The graph ----------------------------------------------------------------------------------------


def const(value, dtype=np.float32):
    return op.constant(np.asarray(value, dtype))


def whole(*values):
    return const(values, np.int64)


def constant_of_bytes(data, shape, element_type):
    """A Constant of a type that NumPy lacks."""
    tensor = ov.Tensor(element_type, ov.Shape(list(shape)))
    tensor.data.view(np.uint8).ravel()[:] = np.frombuffer(data, np.uint8)
    return op.constant(tensor)


def weight(held, name):
    """The f32 output that stands for a weight, widened as its form wants it."""
    values, form = held[name]
    if form == "f32":
        return const(values)
    if form == "f16":
        return op.convert(const(values, np.float16), "f32")
    if form == "bf16":
        data = net.pack_bytes(values, "bf16")
        return op.convert(constant_of_bytes(data, values.shape, ov.Type.bf16), "f32")
    integers, scale, zero = weight_forms.steps(values, form)
    if form == "i4_groups":
        integers = integers.reshape(len(values), -1, 32)
        scale = np.repeat(scale[..., None], integers.shape[1], axis=1)
    kind = form.split("_", maxsplit=1)[0]

    def stored(array):
        return constant_of_bytes(net.pack_bytes(array, kind), array.shape, getattr(ov.Type, kind))

    wide = op.convert(stored(integers), "f16")
    if form.endswith("zero_point"):
        wide = op.subtract(wide, op.convert(stored(zero), "f16"))
    wide = op.multiply(wide, const(scale, np.float16))
    if form == "i4_groups":
        wide = op.reshape(wide, whole(*values.shape), False)
    return op.convert(wide, "f32")


def linear(held, x, name):
    return op.matmul(x, weight(held, name), False, True)


def norm(held, x, name):
    mean = op.reduce_mean(op.power(x, const([[[2.0]]])), whole(-1), True)
    inverse = op.divide(const([[[1.0]]]), op.sqrt(op.add(mean, const([[[EPSILON]]]))))
    return op.multiply(op.multiply(x, inverse), weight(held, name))


def dimension(x, axis):
    """A 0-D i64."""
    return op.gather(op.shape_of(x), const(axis, np.int64), const(0, np.int64))


def split_heads(x):
    return op.transpose(op.reshape(x, whole(0, 0, HEADS, HEAD), True), whole(0, 2, 1, 3))


def join_heads(x):
    return op.reshape(op.transpose(x, whole(0, 2, 1, 3)), whole(0, 0, WIDTH), True)


class Angles:
    """Cosines and sines [time, HEAD] of positions (i64 [time])."""
    def __init__(self, positions):
        column = op.unsqueeze(op.convert(positions, "f32"), whole(1))
        angles = op.matmul(column, const(frequencies()[None]), False, False)
        both = op.concat([angles, angles], 1)
        self.cosines, self.sines = op.cos(both), op.sin(both)

    def rotate(self, x):
        half = HEAD // 2
        a = op.slice(x, whole(0), whole(half), whole(1), whole(3))
        b = op.slice(x, whole(half), whole(2**63 - 1), whole(1), whole(3))
        turned = op.concat([op.negative(b), a], 3)
        return op.add(op.multiply(x, self.cosines), op.multiply(turned, self.sines))


def mask(queries, keys):
    """f32 [time of queries, time of keys]: 0 where a key is not after the query, else HIDDEN."""
    late = op.greater(op.unsqueeze(keys, whole(0)), op.unsqueeze(queries, whole(1)))
    return op.select(late, const(HIDDEN), const(0.0))


def decoder(held, tokens, positions, attend):
    """Logits' input [batch, time, WIDTH]. attend(k, q, key, value) mixes; all [batch, HEADS, …]."""
    angles = Angles(positions)
    x = op.gather(weight(held, "words"), tokens, const(0, np.int64))
    for k in range(LAYERS):
        y = norm(held, x, f"{k}.before")
        q, key, v = (split_heads(linear(held, y, f"{k}.{name}")) for name in ("q", "k", "v"))
        mixed = attend(k, angles.rotate(q), angles.rotate(key), v)
        x = op.add(x, linear(held, join_heads(mixed), f"{k}.out"))
        y = norm(held, x, f"{k}.between")
        gated = op.multiply(op.swish(linear(held, y, f"{k}.gate")), linear(held, y, f"{k}.up"))
        x = op.add(x, linear(held, gated, f"{k}.down"))
    return x


def named(node, name, port=0):
    node.output(port).set_names({name})
    return node


def input_of(shape, element_type, name):
    node = named(op.parameter(ov.PartialShape(shape), element_type), name)
    node.set_friendly_name(name)
    return node


def cached_model(held, model="tiny_transformer"):
    """tokens i64 [batch, time], beam_idx i32 [batch] -> logits [batch, 1, WORDS] of the last
    token, next i64 [batch, 1]; eight variables [batch, HEADS, time so far, HEAD]."""
    tokens = input_of([-1, -1], ov.Type.i64, "tokens")
    beam = input_of([-1], ov.Type.i32, "beam_idx")
    sinks, shared = [], {}
    empty = op.broadcast(
        const(0.0),
        op.concat([op.unsqueeze(dimension(tokens, 0), whole(0)),
                   whole(HEADS, 0, HEAD)], 0))

    def past(name):
        shape = ov.PartialShape([-1, HEADS, -1, HEAD])
        read = op.read_value(empty, name, ov.Type.f32, shape)
        read.set_friendly_name(f"{name}_before")
        return op.gather(read, beam, const(0, np.int64))

    def keep(name, before, new):
        now = op.concat([before, new], 2)
        sinks.append(op.assign(now, name))
        sinks[-1].set_friendly_name(f"{name}_after")
        return now

    first = past("past.0.key")
    start = dimension(first, 2)
    stop = op.add(start, dimension(tokens, 1))
    positions = op.range(start, stop, const(1, np.int64), "i64")
    shared["mask"] = op.unsqueeze(
        mask(positions, op.range(const(0, np.int64), stop, const(1, np.int64), "i64")), whole(0, 1))

    def attend(k, q, key, v):
        key = keep(f"past.{k}.key", past(f"past.{k}.key") if k else first, key)
        v = keep(f"past.{k}.value", past(f"past.{k}.value"), v)
        return op.scaled_dot_product_attention(q, key, v, shared["mask"])

    x = decoder(held, tokens, positions, attend)
    last = op.slice(x, whole(-1), whole(2**63 - 1), whole(1), whole(1))
    logits = named(linear(held, norm(held, last, "last"), "head"), "logits")
    best = op.topk(logits, const(1, np.int64), 2, "max", "value", "i64")
    following = named(op.squeeze(best.output(1), whole(2)), "next")
    return ov.Model([op.result(logits), op.result(following)], sinks, [tokens, beam],
                    model)


def stateless_model(held):
    """tokens i64 [batch, time] -> logits [batch, time, WORDS]."""
    tokens = input_of([-1, -1], ov.Type.i64, "tokens")
    positions = op.range(const(0, np.int64), dimension(tokens, 1), const(1, np.int64), "i64")
    unseen = mask(positions, positions)

    def attend(_, q, key, v):
        scores = op.multiply(op.matmul(q, key, False, True), const(1 / np.sqrt(HEAD)))
        return op.matmul(op.softmax(op.add(scores, unseen), -1), v, False, False)

    x = decoder(held, tokens, positions, attend)
    logits = named(linear(held, norm(held, x, "last"), "head"), "logits")
    return ov.Model([op.result(logits)], [tokens], "tiny_transformer_stateless")


# The folders of models/ -----------------------------------------------------------------------


def tiny_transformer(model="tiny_transformer"):
    tokens, logits = generated(model)
    steps = slice(PROMPT - 1, TOKENS[model])
    want = {
        "logits": np.float32(logits[steps])[:, None, None],
        "next": logits[steps].argmax(axis=-1)[:, None, None]
    }
    feed = {"tokens": tokens[None, :PROMPT], "beam_idx": np.zeros(1, np.int32)}
    tolerance = LONG_TOLERANCE if TOKENS[model] > 256 else TOLERANCE
    args = f"-n {TOKENS[model] - PROMPT + 1} --emit=all --feed=next=tokens {tolerance}"
    return cached_model(weights(model), model), feed, want, args, {}


def tiny_transformer_int8():
    return tiny_transformer("tiny_transformer_int8")


def tiny_transformer_int4():
    return tiny_transformer("tiny_transformer_int4")


def tiny_transformer_stateless():
    held = weights()
    tokens, logits = generated()
    return (stateless_model(held), {"tokens": tokens[None]}, {"logits": np.float32(logits)[None]},
            TOLERANCE, {})
