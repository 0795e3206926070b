#!/usr/bin/env python3
"""Writes the models of models/ with OpenVINO's Python API, their data, and goldens made with NumPy.

  make_models.py           write the folders of models/; OpenVINO must confirm
  make_models.py --check   write nothing; fail if what is there is not what would be written

Needs openvino and numpy. SPDX-License-Identifier: Apache-2.0
"""
import argparse
import os
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import numpy as np  # noqa: E402
import openvino as ov  # noqa: E402
from openvino import opset6 as op  # noqa: E402

from cases import common, confirm, reference  # noqa: E402
from tiny_transformer import (  # noqa: E402
    tiny_transformer, tiny_transformer_int4, tiny_transformer_int8, tiny_transformer_stateless)

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "models")

# sensor_watch -------------------------------------------------------------------------------------

WARM_UP, THRESHOLD, RATE, PATIENCE, STUCK = 50, 5.0, 0.04, 20, 8
FINE, OUTLIER, STUCK_FLAG, MISSING, SHIFTED = range(5)


def named(node, name):
    node.set_friendly_name(name)
    node.output(0).set_names({name})
    return node


def sensor_watch_model():
    """A detector of anomalies in a stream of readings; what it knows lives in six variables."""
    one = ov.Shape([1, 1])

    def const(value, dtype=np.float32):
        return op.constant(np.full((1, 1), value, dtype))

    def read(name, first):
        return op.read_value(const(first), name, ov.Type.f32, one)

    x = named(op.parameter(one, ov.Type.f32), "reading")
    count, mean, variance = read("count", 0), read("mean", 0), read("variance", 0)
    streak, previous, repeats = read("streak", 0), read("previous", -1e9), read("repeats", 0)

    # A missing reading is NaN and counts as what was expected; infinite ones are cut.
    is_valid = op.equal(x, x)
    usable = op.minimum(op.maximum(op.select(is_valid, x, mean), const(-1e6)), const(1e6))
    centre = op.select(op.less(count, const(0.5)), usable, mean)
    delta = op.subtract(usable, centre)
    deviation = op.sqrt(op.add(variance, const(1e-6)))
    is_learning = op.less(count, const(WARM_UP))
    score = op.select(is_learning, const(0), op.divide(op.abs(delta), deviation))

    is_far = op.greater(score, const(THRESHOLD))
    streak_now = op.select(is_far, op.add(streak, const(1)), const(0))
    has_shifted = op.greater(streak_now, const(PATIENCE - 0.5))
    repeats_now = op.select(op.equal(usable, previous), op.add(repeats, const(1)), const(0))
    is_stuck = op.greater(repeats_now, const(STUCK - 0.5))
    yes = const(True, np.bool_)
    hold = op.select(is_valid, op.select(is_stuck, yes, is_far), yes)

    # Mean and variance move towards the reading: evenly at first, exponentially later; not towards
    # an outlier.
    rate = op.maximum(op.divide(const(1), op.add(count, const(1))), const(RATE))
    step = op.multiply(rate, delta)
    mean_next = op.select(has_shifted, usable, op.select(hold, centre, op.add(centre, step)))
    variance_next = op.select(
        hold, variance,
        op.multiply(op.subtract(const(1), rate), op.add(variance, op.multiply(step, delta))))
    count_next = op.select(has_shifted, const(0), op.select(hold, count, op.add(count, const(1))))

    def flag(value):
        return const(value, np.int32)

    flag_of_valid = op.select(
        has_shifted, flag(SHIFTED),
        op.select(is_stuck, flag(STUCK_FLAG), op.select(is_far, flag(OUTLIER), flag(FINE))))
    flags = op.select(is_valid, flag_of_valid, flag(MISSING))
    sinks = [
        op.assign(value, name)
        for name, value in (("count", count_next), ("mean", mean_next), ("variance", variance_next),
                            ("streak", streak_now), ("previous",
                                                     op.select(is_valid, usable, previous)),
                            ("repeats", repeats_now))
    ]
    for name, node in list(locals().items()):
        if isinstance(node, ov.Node) and node is not x:
            node.set_friendly_name(name)
    for word, nodes in (("before", (count, mean, variance, streak, previous, repeats)), ("after",
                                                                                         sinks)):
        for node in nodes:
            node.set_friendly_name(f"{node.get_attributes()['variable_id']}_{word}")
    results = []
    for name, node in (("score", score), ("flag", flags), ("mean", mean_next), ("deviation",
                                                                                deviation)):
        results.append(op.result(named(node, name)))
        results[-1].set_friendly_name(f"{name}_result")
    return ov.Model(results, sinks, [x], "sensor_watch")


def sensor_readings(n=4000):
    """One reading a minute of the temperature of a bearing: a daily wave, a slow drift, noise, and
    planted faults."""
    g = common.rng("sensor_watch")
    t = np.arange(n)
    x = 68 + 1.2 * np.sin(2 * np.pi * t / 1440) + 0.0003 * t + 0.08 * g.standard_normal(n)
    x[700] += 2.1  # a spike
    x[1311:1313] -= 1.7  # two readings too low
    x[1700:1760] = x[1699]  # the sensor hangs
    x[2222] += 1.4
    x[2223] -= 1.9
    x[2800:] += 2.5  # the level shifts and stays
    x[3300:3305] = np.nan  # five readings are missing
    x[3600] -= 3.0
    x[3901:3904] = [120, 121, 119]  # three readings far off the scale
    return ["nan" if np.isnan(v) else f"{v:.3f}" for v in x]


def sensor_golden(readings):
    """The detector in float64, by ordinary ifs. Asserts that no decision hangs on the last
    digits."""
    count = mean = variance = streak = repeats = 0.0
    previous = -1e9
    out = {"score": [], "flag": [], "mean": [], "deviation": []}
    for x in np.float64(np.float32(readings)):
        is_valid = not np.isnan(x)
        usable = min(max(x, -1e6), 1e6) if is_valid else mean
        centre = usable if count == 0 else mean
        delta = usable - centre
        deviation = np.sqrt(variance + 1e-6)
        score = 0.0 if count < WARM_UP else abs(delta) / deviation
        assert abs(score - THRESHOLD) > 1e-2
        is_far = score > THRESHOLD
        streak = streak + 1 if is_far else 0
        has_shifted = streak >= PATIENCE
        repeats = repeats + 1 if usable == previous else 0
        is_stuck = repeats >= STUCK
        hold = is_far or is_stuck or not is_valid
        rate = max(1 / (count + 1), RATE)
        if not hold:
            mean, variance = centre + rate * delta, (1 - rate) * (variance + rate * delta * delta)
            count += 1
        else:
            mean = centre
        if has_shifted:
            mean, count = usable, 0.0
        if is_valid:
            previous = usable
        flag = next(f for f, holds in ((MISSING, not is_valid), (SHIFTED, has_shifted),
                                       (STUCK_FLAG, is_stuck), (OUTLIER, is_far), (FINE, True))
                    if holds)
        for name, value in (("score", score), ("flag", flag), ("mean", mean), ("deviation",
                                                                               deviation)):
            out[name].append([[value]])
    return {k: np.array(v, np.int32 if k == "flag" else np.float32) for k, v in out.items()}


def sensor_watch():
    lines = sensor_readings()
    readings = np.array([float(v) for v in lines], np.float32).reshape(-1, 1, 1)
    files = {"readings.csv": ("\n".join(lines) + "\n").encode()}
    return sensor_watch_model(), {"reading": readings}, sensor_golden(
        readings.ravel()), "--atol 1e-3 --rtol 1e-4", files


# lstm_tagger --------------------------------------------------------------------------------------

HIDDEN, CHUNK, TAGS = 8, 16, 4
PAIRS = ("()", "[]", "{}")
TEXT = """Brackets, nested (like these [and these]) and not {a set, a map: {key [0], key (1)}}.
f(x) = a[i] + b[i + 1] * (c[0] - d[g(2)]); if (x > {0}) [stop], else (go (on (and (on)))).
No brackets here at all, only words and numbers such as 3.14 and 2.72, for a while.
[[1, 2], [3, 4]] (5) {6: (7, 8), 9: [10]} (((deep))) [[[deeper]]] {{{deepest}}} the end
"""


def tagger_weights():
    """Units 0 to 2 count the depth of one kind of bracket each; the others have small random
    weights, so that no gate can change places with another unseen."""
    g = common.rng("lstm_tagger")
    table = 0.3 * g.standard_normal((128, 8))
    for k, (opening, closing) in enumerate(PAIRS):
        table[:, 2 * k:2 * k + 2] = 0
        table[ord(opening), 2 * k] = 1
        table[ord(closing), 2 * k + 1] = 1
    W, R = 0.25 * g.standard_normal((4, HIDDEN, 8)), 0.25 * g.standard_normal((4, HIDDEN, HIDDEN))
    B = 0.3 * g.standard_normal((4, HIDDEN))
    for k in range(len(PAIRS)):
        W[:, k], R[:, k] = 0.01 * W[:, k], 0.01 * R[:, k]
        B[:, k] = [9, -9, 0, 9]  # forget nothing, take nothing, show everything
        W[1, k, 2 * k:2 * k + 2] = 18  # but take at a bracket:
        W[2, k, 2 * k:2 * k + 2] = [2, -2]  # one more or one less
    out = np.zeros((TAGS, HIDDEN))
    out[0, :3] = -8
    for k in range(3):
        out[k + 1, k] = 8
    out += 0.05 * g.standard_normal(out.shape)
    bias = np.array([4.0, -2, -2, -2])
    shapes = {
        "table": table, "W": W.reshape(1, 4 * HIDDEN, 8), "R": R.reshape(1, 4 * HIDDEN, HIDDEN),
        "B": B.reshape(1, 4 * HIDDEN), "out": out, "bias": bias
    }
    return {k: v.astype(np.float32) for k, v in shapes.items()}


def lstm_tagger_model(weights):
    """Sixteen characters in, for each the probability of: outside, (), [], {}; its state lives in
    two variables."""
    from openvino import opset8
    codes = named(op.parameter(ov.Shape([1, CHUNK]), ov.Type.i32, "codes"), "codes")
    zero, axis = op.constant(np.zeros((1, HIDDEN), np.float32)), op.constant(np.array([1]))
    h, c = (op.read_value(zero, name, ov.Type.f32, ov.Shape([1, HIDDEN]))
            for name in ("hidden", "cell"))
    x = opset8.gather(op.constant(weights["table"]), codes, op.constant(np.int64(0)))
    lstm = op.lstm_sequence(x, op.unsqueeze(h, axis), op.unsqueeze(c, axis),
                            op.constant(np.array([CHUNK], np.int32)),
                            *(op.constant(weights[k]) for k in "WRB"), HIDDEN, "forward",
                            ["sigmoid", "tanh", "tanh"], [], [])
    y = op.squeeze(lstm.output(0), axis)
    logits = op.add(op.matmul(y, op.constant(weights["out"]), False, True),
                    op.constant(weights["bias"]))
    tags = named(opset8.softmax(logits, 2), "tags")
    sinks = [
        op.assign(op.squeeze(lstm.output(k), axis), name)
        for k, name in ((1, "hidden"), (2, "cell"))
    ]
    for node, name in ((h, "hidden_before"), (c, "cell_before"), (lstm, "lstm"),
                       (sinks[0], "hidden_after"), (sinks[1], "cell_after")):
        node.set_friendly_name(name)
    result = op.result(tags)
    result.set_friendly_name("tags_result")
    return ov.Model([result], sinks, [codes], "lstm_tagger")


def lstm_tagger():
    weights = tagger_weights()
    text = TEXT.replace("\n", " ")
    text += " " * (-len(text) % CHUNK)
    codes = np.frombuffer(text.encode("ascii"), np.uint8).astype(np.int32).reshape(-1, 1, CHUNK)
    wide = {k: np.float64(v) for k, v in weights.items()}
    h, c, rows = np.zeros((1, HIDDEN)), np.zeros((1, HIDDEN)), []
    for code in codes.ravel():
        h, c = reference.lstm_step(wide["table"][code][None], h, c, wide["W"][0], wide["R"][0],
                                   wide["B"][0])
        logits = h @ wide["out"].T + wide["bias"]
        e = np.exp(logits - logits.max())
        rows.append(e / e.sum())
    tags = np.float32(rows).reshape(len(codes), 1, CHUNK, TAGS)
    files = {"text.txt": text.encode("ascii")}
    return lstm_tagger_model(weights), {"codes": codes}, {"tags": tags
                                                          }, "--atol 2e-6 --rtol 1e-5", files


# --------------------------------------------------------------------------------------------------


def folder_files(model, feed, want, args, files):
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "model.xml")
        ov.save_model(model, path, compress_to_fp16=False)
        for name in ("model.xml", "model.bin"):
            with open(os.path.join(folder, name), "rb") as f:
                files[name] = f.read()
    files["in.npz"], files["out.npz"] = common.npz_bytes(feed), common.npz_bytes(want)
    files["args"] = (args + "\n").encode()
    return files


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    troubles = 0
    for make in (sensor_watch, lstm_tagger, tiny_transformer, tiny_transformer_stateless,
                 tiny_transformer_int8, tiny_transformer_int4):
        model, feed, want, args, files = make()
        tolerance = confirm.parse_args(args)
        got = confirm.replay(model, feed, "sequence", want, tolerance["n"], tolerance["fed"])
        for name in want:
            said = confirm.compare(got[name], want[name], tolerance["atol"], tolerance["rtol"])
            if said:
                troubles += 1
                print(f"{make.__name__}: OpenVINO does not confirm {name}: {said}")
        folder = os.path.join(ROOT, make.__name__)
        os.makedirs(folder, exist_ok=True)
        for name, data in folder_files(model, feed, want, args, files).items():
            path = os.path.join(folder, name)
            if options.check:
                with open(path, "rb") as f:
                    if f.read() != data:
                        troubles += 1
                        print(f"{make.__name__}/{name} differs from what would be written")
            else:
                with open(path, "wb") as f:
                    f.write(data)
        print(f"{make.__name__}: {len(next(iter(want.values())))} records, "
              f"{'as it should be' if not troubles else 'trouble'}")
    return 1 if troubles else 0


if __name__ == "__main__":
    sys.exit(main())
