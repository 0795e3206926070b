# Variables that grow by a Concat, read by attention: caches of keys and values.
# SPDX-License-Identifier: Apache-2.0
import numpy as np

from . import departures
from .attention import attend
from .common import Case, rng, uniform
from .net import Net

FAMILY = "growing_state"
NEAR = "--atol 2e-6 --rtol 1e-5"
SIZE = 8  # of a head


def repeat_heads(net, port, batch, heads, times):
    """[batch, heads, length, SIZE] -> [batch, heads * times, length, SIZE], as PyTorch's expand is
    exported."""
    length = net.op("Gather", net.op("ShapeOf", port, v=3, output_type="i64"), net.i64([2]), net.i64(0), v=8,
                    batch_dims=0)
    target = net.op("Concat", net.i64([batch, heads, times]), length, net.i64([SIZE]), axis=0)
    wide = net.op("Broadcast", net.op("Unsqueeze", port, net.i64([2])), target, v=3, mode="bidirectional")
    return net.op("Reshape", wide, net.i64([0, heads * times, -1, SIZE]), special_zero=True)


class Decoder:
    """A layer of attention over a cache of keys and values [batch, heads, length, SIZE]; a record
    has so many queries and new keys."""
    def __init__(self, name, batch=1, heads=2, times=1, queries=1, before=0, first_batch=None, **forms):
        self.batch, self.heads, self.times, self.queries = batch, heads, times, queries
        self.before, self.first_batch, self.forms = before, first_batch or batch, forms
        self.net = net = Net(name)
        self.beam = net.param("beam", "i32", [batch]) if forms.get("beam") else None
        self.mask = net.param("mask", "f32", [1, 1, 1, 1]) if forms.get("mask") else None
        q = net.param("q", "f32", [batch, heads * times, queries, SIZE])
        k, v = (self.keep(net.param(n, "f32", [batch, heads, queries, SIZE]), n) for n in "kv")
        if forms.get("written"):
            y = self.written_out(q, k, v)
        elif self.mask:
            y = net.op("ScaledDotProductAttention", q, k, v, self.mask, v=13, causal=False)
        else:
            y = net.op("ScaledDotProductAttention", q, k, v, v=13, causal=False)
        net.result(y, "y")

    def written_out(self, q, k, v):
        net = self.net
        if self.forms["written"] == "transposed":
            k = net.op("Transpose", k, net.i64([0, 1, 3, 2]))
        scores = net.op("MatMul", q, k, transpose_a=False, transpose_b=self.forms["written"] != "transposed")
        scores = net.op("Multiply", scores, net.const(np.float32(1 / np.sqrt(SIZE))), auto_broadcast="numpy")
        return net.op("MatMul", net.op("SoftMax", scores, v=8, axis=-1), v, transpose_a=False, transpose_b=False)

    def keep(self, new, name):
        net, shape = self.net, [self.first_batch, self.heads, self.before, SIZE]
        past = net.read(name, net.const(np.full(shape, 0.25, np.float32)), "f32", "?,?,?,?")
        if self.beam:
            past = net.op("Gather", past, self.beam, net.i64(0), v=8, batch_dims=0)
        now = net.op("Concat", past, new, axis=self.forms.get("axis", 2))
        net.assign(name, now)
        if self.forms.get("shown"):
            net.result(net.op("ReduceMean", now, net.i64([2]), keep_dims=True), f"mean_{name}")
        return repeat_heads(net, now, self.batch, self.heads, self.times) if self.times > 1 else now

    def feed(self, records, beam=None):
        g = rng(FAMILY, self.net.name)
        shape = (records, self.batch, self.heads, self.queries, SIZE)
        q = uniform(g, (records, self.batch, self.heads * self.times, self.queries, SIZE), -2, 2)
        feed = {"q": q, "k": uniform(g, shape, -2, 2), "v": uniform(g, shape)}
        if self.beam:
            feed["beam"] = np.array(beam, np.int32)
        if self.mask:
            feed["mask"] = np.full((records, 1, 1, 1, 1), -1.5, np.float32)
        return feed

    def golden(self, feed, resets=()):
        want, held = {"y": []}, {}
        for r, q in enumerate(feed["q"]):
            for name in "kv":
                past = np.full([self.first_batch, self.heads, self.before, SIZE], 0.25)
                if r > 0 and r not in resets:
                    past = held[name]
                if self.beam:
                    past = np.stack([past[i] if -len(past) <= i < len(past) else 0 * past[0] for i in feed["beam"][r]])
                held[name] = np.concatenate([past, feed[name][r].astype(np.float64)], 2)
                if self.forms.get("shown"):
                    want.setdefault(f"mean_{name}", []).append(held[name].mean(2, keepdims=True))
            k, v = (np.repeat(held[n], self.times, 1) for n in "kv")
            want["y"].append(attend(q, k, v))
        return {name: np.float32(values) for name, values in want.items()}


def case(name, about, records=6, beam=None, resets=(), args=NEAR, openvino="", **form):
    """openvino: why it is not run."""
    if beam:
        form["beam"] = True
    decoder = Decoder(name, **form)
    feed = decoder.feed(records, beam)
    return Case(FAMILY, name, decoder.net, feed, decoder.golden(feed, resets), about, args, openvino,
                runs_openvino=not openvino)


def kept():
    """Keys of an encoder, which a decoder computes once: the variable is assigned what it was."""
    net = Net("kept")
    first = net.op("Multiply", net.param("e", "f32", [1, 2, 3]), net.const(np.float32(2)), auto_broadcast="numpy")
    keys = net.read("keys", first, "f32", "?,?,?")
    net.assign("keys", keys)
    net.result(net.op("Add", keys, net.param("x", "f32", [1, 1, 3]), auto_broadcast="numpy"), "y")
    g = rng(FAMILY, "kept")
    e, x = uniform(g, (5, 1, 2, 3)), uniform(g, (5, 1, 1, 3))
    held = e[[0, 0, 0, 3, 3]].astype(np.float64) * 2
    return Case(FAMILY, "kept", net, {"e": e, "x": x}, {"y": np.float32(held + x)},
                "A variable is assigned its own value; a reset computes another.", NEAR + " --reset=3")


def cases():
    yield kept()
    yield case("one_head_each", "Every query has keys of its own.")
    yield case("grouped_heads", "Three queries share keys, which a Broadcast repeats.", times=3)
    yield case("grouped_batch", "Two batches, each with a cache of its own.", batch=2, times=2)
    yield case("grouped_queries", "Several queries a record, before a full tile.", times=2, queries=5)
    yield case("many_queries", "So many queries that keys are packed.", times=2, queries=20, records=3)
    yield case("long", "The room of the cache is used up twice.", times=2, queries=9, records=14)
    yield case("with_mask", "A mask of one number.", times=2, mask=True)
    yield case("starts_with_rows", "The cache starts with rows of its initial value.", before=3, times=2)
    yield case("reset", "A reset takes the cache back, and its memory stays.", times=2, resets=(2, 4),
               args=NEAR + " --reset=2")
    yield case("threads", "Two threads.", times=2, heads=4, queries=9, records=8, args=NEAR + " -j 2")
    yield case("no_fuse", "The ops one by one.", times=2, args=NEAR + " --no-fuse")
    yield case("written_out", "Attention of MatMul and SoftMax.", times=3, written=True)
    yield case("written_out_alone", "The same, where every query has keys of its own.", written=True)
    yield case("written_out_queries", "The same, with several queries.", times=2, queries=18, records=3, written=True)
    yield case("written_out_transposed", "The keys go through a Transpose.", times=2, written="transposed")
    yield case("also_shown", "Another op reads the cache, too.", times=2, shown=True)
    beams = [[0, 1, 2], [0, 1, 2], [2, 2, 0], [0, 1, 2], [1, 0, 1], [0, 0, 0]]
    yield case("beams", "Beams change places, stay, and are dropped.", batch=3, times=2, beam=beams)
    yield case("beams_negative", "Indices from the end.", batch=3, times=2, beam=[[-3, -2, -1], [-1, -2, -3]], records=2,
               openvino=departures.CACHE_BATCH)
    yield case("beams_outside", "An index out of range gives zeros.", batch=3, times=2, before=2,
               beam=[[0, 1, 2], [0, 7, 2], [0, 1, 2]], records=3, openvino=departures.CACHE_BATCH)
    yield case("beams_begin", "One sequence becomes two beams.", batch=2, first_batch=1, times=2, before=2,
               beam=[[0, 0], [0, 1], [1, 0]], records=3, openvino=departures.CACHE_BATCH)
