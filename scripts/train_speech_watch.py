#!/usr/bin/env python3
"""Trains the speech detector of models/speech_watch from nothing and writes the model.

  train_speech_watch.py                       make the sounds, train, measure, write (some 15 minutes on 2 cores)
  train_speech_watch.py --minute              write the sound of the demo, minute.ogg
  train_speech_watch.py --compare WAV PROBS   measure the model that is there beside another detector's
                                              probabilities of each chunk (a .npy or .npz) on a recording

Needs espeak-ng, sox, numpy, torch and openvino. SPDX-License-Identifier: Apache-2.0
"""
import argparse
import multiprocessing
import os
import subprocess
import sys
import time
import wave

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import numpy as np  # noqa: E402

from cases import common, confirm  # noqa: E402
from speech_watch import detector, sounds  # noqa: E402

MODEL = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "models", "speech_watch")
UTTERANCES = {"train": 1600, "test": 300}
RECORDINGS = {"train": 2800, "test": 300}
EPOCHS, BATCH = 12, 32
speech = {}  # of each part, shared with the processes that mix


def make_utterance(work):
    part, seed = work
    voice = sounds.speak(np.random.default_rng([7, seed, part == "test"]), part)
    return voice.astype(np.float32), sounds.active(voice)


def make_recording(work):
    part, seed = work
    samples, labels = sounds.recording(np.random.default_rng([8, seed, part == "test"]), part, speech[part])
    return detector.log_bands(samples, np.float32).astype(np.float16), labels


def make_sounds(part):
    """The bands [recordings, chunks, FRAMES, BANDS] and labels [recordings, chunks] of a part."""
    with multiprocessing.Pool() as pool:
        speech[part] = pool.map(make_utterance, [(part, k) for k in range(UTTERANCES[part])], 8)
    with multiprocessing.Pool() as pool:  # these see the speech
        made = pool.map(make_recording, [(part, k) for k in range(RECORDINGS[part])], 8)
    minutes = sum(len(voice) for voice, _ in speech.pop(part)) / sounds.RATE / 60
    print(f"{part}: {UTTERANCES[part]} utterances, {minutes:.0f} minutes; {len(made)} recordings of "
          f"{sounds.SECONDS} s, {100 * np.mean([m[1] for m in made]):.0f} % speech", flush=True)
    return np.stack([m[0] for m in made]), np.stack([m[1] for m in made])


# The network in torch ------------------------------------------------------------------------------------


def make_network(torch):
    class Network(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.mix = torch.nn.Linear((detector.FRAMES + 1) * detector.BANDS, detector.FEATURES)
            self.lstm = torch.nn.LSTM(detector.FEATURES, detector.HIDDEN, batch_first=True)
            self.out = torch.nn.Linear(detector.HIDDEN, 1)

        def forward(self, bands):
            """bands [batch, chunks, FRAMES, BANDS]; the logits [batch, chunks]."""
            mean, means = torch.full((len(bands), detector.BANDS), detector.FIRST_MEAN), []
            for here in bands.mean(dim=2).unbind(1):
                mean = mean + detector.RATE * (here - mean)
                means.append(mean)
            x = torch.cat([bands.transpose(2, 3).flatten(2), torch.stack(means, 1)], 2)
            x = torch.relu(self.mix(x))
            return self.out(torch.nn.functional.dropout(self.lstm(x)[0], 0.1, self.training))[..., 0]

    torch.manual_seed(0)
    network = Network()
    with torch.no_grad():  # the bands are some -6 +- 4
        network.mix.weight *= 0.3
    return network


def train(torch, bands, labels):
    network = make_network(torch)
    g = np.random.default_rng(9)
    steps = EPOCHS * (len(bands) // BATCH)
    optimizer = torch.optim.AdamW(network.parameters(), 3e-3, weight_decay=1e-3)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, 4e-3, total_steps=steps, pct_start=0.1)
    for epoch in range(EPOCHS):
        start, losses = time.time(), []
        order = g.permutation(len(bands))[:len(bands) // BATCH * BATCH]
        for rows in order.reshape(-1, BATCH):
            x = torch.from_numpy(bands[rows].astype(np.float32))
            # Another level and another microphone each time; what is below the floor stays there.
            curve = np.cumsum(g.normal(0, 0.15, (BATCH, 1, 1, detector.BANDS)), axis=3)
            shift = g.normal(0, 1.2, (BATCH, 1, 1, 1)) + curve - curve.mean(axis=3, keepdims=True)
            x = torch.clamp(x + torch.from_numpy(shift.astype(np.float32)), min=float(np.log(detector.FLOOR)))
            y = torch.from_numpy(labels[rows].astype(np.float32)) * 0.98 + 0.01
            loss = torch.nn.functional.binary_cross_entropy_with_logits(network(x), y)
            optimizer.zero_grad()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(network.parameters(), 1.0)
            optimizer.step()
            schedule.step()
            losses.append(float(loss.detach()))
        print(f"epoch {epoch + 1:2}: loss {np.mean(losses):.4f}, {time.time() - start:.0f} s", flush=True)
    return network.eval()


def weights_of(network):
    """The weights as the IR has them: f16, gates in the order f, i, c, o (torch: i, f, c, o)."""
    def gates(t):
        i, f, c, o = np.split(t.detach().numpy(), 4)
        return np.concatenate([f, i, c, o])

    lstm = network.lstm
    found = {"mix": network.mix.weight, "mix_bias": network.mix.bias, "out": network.out.weight,
             "out_bias": network.out.bias}
    found = {k: v.detach().numpy() for k, v in found.items()}
    found.update(W=gates(lstm.weight_ih_l0), R=gates(lstm.weight_hh_l0),
                 B=gates(lstm.bias_ih_l0) + gates(lstm.bias_hh_l0))
    return {k: v.astype(np.float16).reshape(detector.WEIGHTS[k]) for k, v in found.items()}


# Measuring -----------------------------------------------------------------------------------------------


def auc(scores, labels):
    """The probability that a chunk of speech scores above one without."""
    ranks = np.argsort(np.argsort(scores, kind="stable"), kind="stable") + 1.0
    n = labels.sum()
    return (ranks[labels].sum() - n * (n + 1) / 2) / (n * (len(labels) - n))


def measure(torch, network, bands, labels):
    with torch.no_grad():
        p = torch.sigmoid(torch.cat([network(torch.from_numpy(b.astype(np.float32)))
                                     for b in np.array_split(bands, 10)])).numpy()
    decided = np.stack([detector.decide(row) for row in p])
    print(f"held out: AUC {auc(p.ravel(), labels.ravel()):.4f}; probability above 0.5 right in "
          f"{100 * np.mean((p > 0.5) == labels):.1f} % of chunks, decision in {100 * np.mean(decided == labels):.1f} %")


def compare(path, other):
    import openvino as ov
    with wave.open(path) as f:
        samples = np.frombuffer(f.readframes(f.getnframes()), np.int16) / 32768.0
    request = ov.Core().compile_model(os.path.join(MODEL, "model.xml"), "CPU", {
        "INFERENCE_PRECISION_HINT": "f32"}).create_infer_request()
    chunks = samples[:len(samples) // 512 * 512].astype(np.float32).reshape(-1, 1, 512)
    got = [{k: float(v.ravel()[0]) for k, v in zip(("p", "speech"), request.infer([c]).values())} for c in chunks]
    p, speech = (np.array([g[k] for g in got]) for k in ("p", "speech"))
    want = np.load(other)
    want = (want[want.files[0]] if hasattr(want, "files") else want).ravel()[:len(p)]
    for name, said, theirs in (("probability above 0.5", p > 0.5, want > 0.5),
                               ("decision", speech > 0.5, detector.decide(want))):
        print(f"{name}: the same in {100 * np.mean(said == theirs):.1f} % of {len(p)} chunks "
              f"(speech: {100 * np.mean(said):.0f} and {100 * np.mean(theirs):.0f} %)")
    print(f"AUC with the other's decisions as the truth: {auc(p, want > 0.5):.4f}")


# --------------------------------------------------------------------------------------------------


def test_recording():
    """The recording of the case: 4 s that no training has seen."""
    speech["test"] = [make_utterance(("test", k)) for k in range(1000, 1012)]
    return sounds.recording(np.random.default_rng(46), "test", speech["test"])[0][:125 * detector.CHUNK]


def write_minute():
    g, found = np.random.default_rng(41), []
    while len(found) < 8:
        voice = sounds.speak(g, "test")
        if len(voice) > 5 * sounds.RATE:
            found.append((voice, None))
    subprocess.run(["sox", "-R", "-t", "raw", "-e", "float", "-b", "32", "-c", "1", "-r", str(sounds.RATE), "-", "-C", "1",
                    os.path.join(MODEL, "minute.ogg")], input=sounds.minute(g, found).tobytes(), check=True)


def write(weights):
    import openvino as ov
    os.makedirs(MODEL, exist_ok=True)
    samples = test_recording()
    feed = {"samples": samples.reshape(-1, 1, detector.CHUNK)}
    p = detector.reference(samples, weights)
    assert min(np.abs(p - level).min() for level in (detector.LOW, detector.HIGH)) > 1e-4  # no decision by digits
    want = {"probability": p, "speech": detector.decide(p)}
    want = {k: v.astype(np.float32).reshape(-1, 1, 1) for k, v in want.items()}
    network = detector.model(weights)
    args = "--atol 1e-4 --rtol 1e-4"
    tolerance = confirm.parse_args(args)
    got = confirm.replay(network, feed, "sequence", want, tolerance["n"], tolerance["fed"])
    for name in want:
        said = confirm.compare(got[name], want[name], tolerance["atol"], tolerance["rtol"])
        if said:
            sys.exit(f"OpenVINO does not confirm {name}: {said}")
    ov.save_model(network, os.path.join(MODEL, "model.xml"), compress_to_fp16=False)
    files = {"in.npz": common.npz_bytes(feed), "out.npz": common.npz_bytes(want), "args": (args + "\n").encode()}
    for name, data in files.items():
        with open(os.path.join(MODEL, name), "wb") as f:
            f.write(data)
    print("weights:", os.path.getsize(os.path.join(MODEL, "model.bin")), "bytes")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--compare", nargs=2, metavar=("WAV", "PROBS"))
    parser.add_argument("--minute", action="store_true")
    options = parser.parse_args()
    if options.minute:
        write_minute()
        return
    if options.compare:
        compare(*options.compare)
        return
    import torch
    torch.set_num_threads(1)  # the steps are short
    parts = {part: make_sounds(part) for part in ("train", "test")}
    network = train(torch, *parts["train"])
    measure(torch, network, *parts["test"])
    write(weights_of(network))


if __name__ == "__main__":
    main()
