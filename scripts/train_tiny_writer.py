#!/usr/bin/env python3
"""Trains the character LSTM of models/tiny_writer on the project's own documents and writes the model.

  train_tiny_writer.py [STEPS]    train (6500 steps, some 10 minutes on one core), write the model

Needs mandoc, numpy and openvino. SPDX-License-Identifier: Apache-2.0
"""
import glob
import os
import re
import subprocess
import sys
import time

for threads in ("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "OMP_NUM_THREADS"):
    os.environ[threads] = "1"
sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import numpy as np  # noqa: E402

from cases import common, confirm, reference  # noqa: E402

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
MODEL = os.path.join(ROOT, "models", "tiny_writer")
CHARACTERS, EMBEDDED, HIDDEN = 128, 32, 152
BATCH, TIME = 18, 128
MISTAKES = 0.03  # characters that training replaces, so that a mistake does not confuse the writer for long
SHAPES = {"E": (CHARACTERS, EMBEDDED), "W": (4 * HIDDEN, EMBEDDED), "R": (4 * HIDDEN, HIDDEN),
          "B": (4 * HIDDEN,), "V": (CHARACTERS, HIDDEN), "D": (CHARACTERS,)}
TEXT = "\nThe default is the number of records. With -n N the run stops after N iterations.\n"


def corpus():
    """The manual pages as text, then the prose of the documents: ASCII codes."""
    pages = sorted(glob.glob(os.path.join(ROOT, "man", "*.[15]")))
    text = "".join(subprocess.run(["mandoc", "-T", "ascii", "-O", "width=100", page], check=True, text=True,
                                  capture_output=True).stdout for page in pages)
    text = re.sub(".\b", "", text)  # bold and underlined
    for path in [os.path.join(ROOT, "README.md"), *sorted(glob.glob(os.path.join(ROOT, "docs", "*.md")))]:
        with open(path, encoding="utf-8") as f:
            text += re.sub(r"```.*?```", "", f.read(), flags=re.S)
    text = re.sub(r"\n\s*\n+", "\n\n", re.sub(r"[ \t]+", " ", text))
    text = re.sub(r"\n ", "\n", text)
    return np.frombuffer(text.encode("ascii", "ignore"), np.uint8)


# Training -------------------------------------------------------------------------------------------------


def sigmoid(x):
    return 0.5 + 0.5 * np.tanh(0.5 * x)


def forward(w, x, h, c):
    """x: codes [time, batch]. Gates are in the order f, i, c, o, as the IR has them."""
    gates = w["E"][x] @ w["W"].T + w["B"]
    kept = {"h": [h], "c": [c], "g": [], "t": []}
    for z in gates:
        z = z + h @ w["R"].T
        f, i, g, o = np.split(z, 4, axis=1)
        f, i, g, o = sigmoid(f), sigmoid(i), np.tanh(g), sigmoid(o)
        c = f * c + i * g
        t = np.tanh(c)
        h = o * t
        for name, value in (("h", h), ("c", c), ("g", (f, i, g, o)), ("t", t)):
            kept[name].append(value)
    logits = np.stack(kept["h"][1:]) @ w["V"].T + w["D"]
    return logits, kept


def loss_of(logits, y):
    """The mean loss in bits, and its gradient (in nats)."""
    p = np.exp(logits - logits.max(axis=-1, keepdims=True))
    p /= p.sum(axis=-1, keepdims=True)
    at = tuple(np.indices(y.shape)) + (y,)
    loss = -np.mean(np.log2(p[at] + 1e-9))
    p[at] -= 1
    return loss, p / y.size


def gradients(w, x, kept, dlogits):
    h = np.stack(kept["h"])
    d = {"V": np.einsum("tbv,tbh->vh", dlogits, h[1:], optimize=True), "D": dlogits.sum(axis=(0, 1))}
    dh_all = dlogits @ w["V"]
    dz = np.empty((*x.shape, 4 * HIDDEN), np.float32)
    dh, dc = np.zeros_like(h[0]), np.zeros_like(h[0])
    for k in reversed(range(len(x))):
        f, i, g, o = kept["g"][k]
        t = kept["t"][k]
        dh = dh + dh_all[k]
        dc = dc + dh * o * (1 - t * t)
        dz[k] = np.concatenate([dc * kept["c"][k] * f * (1 - f), dc * g * i * (1 - i),
                                dc * i * (1 - g * g), dh * t * o * (1 - o)], axis=1)
        dh, dc = dz[k] @ w["R"], dc * f
    flat = dz.reshape(-1, 4 * HIDDEN)
    embedded = w["E"][x].reshape(-1, EMBEDDED)
    d.update(W=flat.T @ embedded, R=flat.T @ h[:-1].reshape(-1, HIDDEN), B=flat.sum(axis=0), E=np.zeros_like(w["E"]))
    np.add.at(d["E"], x.ravel(), flat @ w["W"])
    return d


def train(codes, steps):
    g = np.random.default_rng(11)
    w = {k: (g.normal(0, 1 / np.sqrt(s[-1]), s) if len(s) == 2 else np.zeros(s)).astype(np.float32)
         for k, s in SHAPES.items()}
    w["B"][:HIDDEN] = 1  # forget gates
    moments = {k: (np.zeros_like(v), np.zeros_like(v)) for k, v in w.items()}
    zero = np.zeros((BATCH, HIDDEN), np.float32)
    start, losses = time.time(), []
    for step in range(1, steps + 1):
        places = g.integers(0, len(codes) - TIME, BATCH) + np.arange(TIME + 1)[:, None]
        piece = codes[places].astype(np.int64)
        read = np.where(g.random((TIME, BATCH)) < MISTAKES, g.choice(codes, (TIME, BATCH)), piece[:-1])
        logits, kept = forward(w, read, zero, zero)
        loss, dlogits = loss_of(logits, piece[1:])
        losses.append(loss)
        d = gradients(w, read, kept, dlogits.astype(np.float32))
        norm = np.sqrt(sum(np.sum(v * v) for v in d.values()))
        rate = 4e-3 * min(1, step / 100) * (0.02 + 0.98 * 0.5 * (1 + np.cos(np.pi * step / steps)))
        for k, (mean, square) in moments.items():
            gradient = d[k] * min(1, 1 / norm)
            mean += 0.1 * (gradient - mean)
            square += 0.005 * (gradient * gradient - square)
            w[k] -= rate * (mean / (1 - 0.9**step)) / (np.sqrt(square / (1 - 0.995**step)) + 1e-8)
        if step % 100 == 0:
            print(f"step {step}: {np.mean(losses[-100:]):.3f} bits a character, {time.time() - start:.0f} s", flush=True)
    return {k: v.astype(np.float16) for k, v in w.items()}


# The model ------------------------------------------------------------------------------------------------


def golden(weights, codes):
    """The logits after each code, in float64."""
    w = {k: v.astype(np.float64) for k, v in weights.items()}
    h, c, out = np.zeros((1, HIDDEN)), np.zeros((1, HIDDEN)), []
    for code in codes:
        h, c = reference.lstm_step(w["E"][code][None], h, c, w["W"], w["R"], w["B"])
        out.append(h @ w["V"].T + w["D"])
    return np.stack(out)


def graph(weights):
    """text u8 [1], a character -> logits [1, CHARACTERS] of the next; variables hidden and cell."""
    import openvino as ov
    from openvino import opset13 as op

    def constant(name):
        return op.convert(op.constant(weights[name]), "f32")

    def read(name):
        return op.read_value(op.constant(np.zeros((1, HIDDEN), np.float32)), name, ov.Type.f32,
                             ov.PartialShape([1, HIDDEN]))

    text = op.parameter(ov.PartialShape([1]), ov.Type.u8)
    text.set_friendly_name("text")
    text.output(0).set_names({"text"})
    embedded = op.gather(constant("E"), op.convert(text, "i32"), op.constant(0))
    cell = op.lstm_cell(embedded, read("hidden"), read("cell"), constant("W"), constant("R"), constant("B"), HIDDEN)
    logits = op.add(op.matmul(cell.output(0), constant("V"), False, True), constant("D"))
    logits.output(0).set_names({"logits"})
    sinks = [op.assign(op.reshape(cell.output(k), op.constant([1, HIDDEN]), False), name)
             for k, name in enumerate(("hidden", "cell"))]
    return ov.Model([op.result(logits)], sinks, [text], "tiny_writer")


def write(weights):
    import openvino as ov
    os.makedirs(MODEL, exist_ok=True)
    codes = np.frombuffer(TEXT.encode(), np.uint8)
    feed, args = {"text": codes[:, None]}, "--atol 1e-4 --rtol 1e-4"
    want = {"logits": golden(weights, codes).astype(np.float32)}
    network, tolerance = graph(weights), confirm.parse_args(args)
    got = confirm.replay(network, feed, "sequence", want, tolerance["n"], tolerance["fed"])
    said = confirm.compare(got["logits"], want["logits"], tolerance["atol"], tolerance["rtol"])
    if said:
        sys.exit(f"OpenVINO does not confirm the logits: {said}")
    ov.save_model(network, os.path.join(MODEL, "model.xml"), compress_to_fp16=False)
    files = {"in.npz": common.npz_bytes(feed), "out.npz": common.npz_bytes(want), "args": (args + "\n").encode()}
    for name, data in files.items():
        with open(os.path.join(MODEL, name), "wb") as f:
            f.write(data)
    print("weights:", os.path.getsize(os.path.join(MODEL, "model.bin")), "bytes")


def main():
    codes = corpus()
    print(len(codes), "characters,", sum(int(np.prod(s)) for s in SHAPES.values()), "weights")
    weights = train(codes, int(sys.argv[1]) if len(sys.argv) > 1 else 6500)
    write(weights)


if __name__ == "__main__":
    main()
