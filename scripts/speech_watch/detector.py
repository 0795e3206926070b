# The detector of models/speech_watch: its fixed weights, its float64 reference in NumPy, its IR.
# SPDX-License-Identifier: Apache-2.0
import numpy as np

CHUNK, WINDOW, HOP, BANDS = 512, 256, 128, 40
FRAMES = CHUNK // HOP  # a chunk gives so many spectra; the first begins in the chunk before
CONTEXT = WINDOW - HOP
FEATURES, HIDDEN = 96, 64
FLOOR, RATE = 1e-7, 0.02  # added to a band's power; how fast the mean of a band follows
FIRST_MEAN = -6.0
HIGH, LOW, HANG_OVER = 0.5, 0.35, 8  # speech begins at HIGH and ends after HANG_OVER chunks below LOW
WEIGHTS = {"mix": (FEATURES, (FRAMES + 1) * BANDS), "mix_bias": (1, FEATURES), "W": (4 * HIDDEN, FEATURES),
           "R": (4 * HIDDEN, HIDDEN), "B": (4 * HIDDEN,), "out": (1, HIDDEN), "out_bias": (1, 1)}


def dft():
    """[2 * bins, 1, WINDOW]: the real and then the imaginary part of the windowed spectrum, rounded to f16."""
    n = np.arange(WINDOW)
    angle = 2 * np.pi * np.arange(WINDOW // 2 + 1)[:, None] * n / WINDOW
    window = 0.5 - 0.5 * np.cos(2 * np.pi * n / WINDOW)
    return np.concatenate([np.cos(angle) * window, -np.sin(angle) * window])[:, None].astype(np.float16)


def mel():
    """[BANDS, 2 * bins, 1]: sums the squares of real and imaginary parts into bands from 60 Hz to 7.6 kHz."""
    def to_mel(hz):
        return 2595 * np.log10(1 + hz / 700)

    edges = 700 * (10**(np.linspace(to_mel(60), to_mel(7600), BANDS + 2) / 2595) - 1)
    f = np.arange(WINDOW // 2 + 1) * 16000 / WINDOW
    low, centre, high = edges[:-2, None], edges[1:-1, None], edges[2:, None]
    bands = np.maximum(0, np.minimum((f - low) / (centre - low), (high - f) / (high - centre)))
    # The lowest bands are narrower than a bin: they take the nearest one.
    nearest = np.abs(f - centre).argmin(axis=1)
    bands[np.arange(BANDS), nearest] = np.maximum(bands[np.arange(BANDS), nearest], 0.5)
    return np.concatenate([bands, bands], axis=1)[:, :, None].astype(np.float16)


def log_bands(samples, dtype=np.float64):
    """[chunks, FRAMES, BANDS] of a whole recording: the logarithm of the power of each band."""
    padded = np.concatenate([np.zeros(CONTEXT), samples]).astype(dtype)
    starts = np.arange(len(samples) // HOP) * HOP
    spectrum = padded[starts[:, None] + np.arange(WINDOW)] @ dft()[:, 0].astype(dtype).T
    power = spectrum**2 @ mel()[:, :, 0].astype(dtype).T
    return np.log(power + dtype(FLOOR)).reshape(-1, FRAMES, BANDS)


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def decide(probabilities):
    """The decision after each chunk, by ordinary ifs."""
    speech, quiet, out = False, 0, []
    for p in probabilities:
        quiet = quiet + 1 if p < LOW else 0
        if p >= HIGH:
            speech = True
        elif quiet >= HANG_OVER:
            speech = False
        out.append(speech)
    return np.array(out)


def reference(samples, weights):
    """The probability of each chunk, in float64."""
    w = {k: v.astype(np.float64) for k, v in weights.items()}
    mean, h, c, out = np.full(BANDS, FIRST_MEAN), np.zeros(HIDDEN), np.zeros(HIDDEN), []
    for bands in log_bands(samples):
        mean = mean + np.float64(np.float32(RATE)) * (bands.mean(axis=0) - mean)
        x = np.concatenate([bands.T.ravel(), mean])
        x = np.maximum(w["mix"] @ x + w["mix_bias"][0], 0)
        f, i, g, o = np.split(w["W"] @ x + w["R"] @ h + w["B"], 4)
        c = sigmoid(f) * c + sigmoid(i) * np.tanh(g)
        h = sigmoid(o) * np.tanh(c)
        out.append(sigmoid(w["out"][0] @ h + w["out_bias"][0, 0]))
    return np.array(out)


def model(weights):
    """The IR: 512 samples in, probability and decision out; six variables."""
    import openvino as ov
    from openvino import opset13 as op

    def const(value, dtype=np.float32):
        return op.constant(np.array(value, dtype))

    def read(name, shape, first=0.0):
        node = op.read_value(const(np.full(shape, first)), name, ov.Type.f32, ov.Shape(shape))
        node.set_friendly_name(f"{name}_before")
        return node

    def weight(name, value):
        """A constant stored as f16."""
        stored = op.constant(value.astype(np.float16))
        stored.set_friendly_name(f"{name}_f16")
        wide = op.convert(stored, "f32")
        wide.set_friendly_name(name)
        return wide

    def conv(x, name, value, stride):
        return op.convolution(x, weight(name, value), [stride], [0], [0], [1])

    w = {k: weight(k, v.reshape(WEIGHTS[k])) for k, v in weights.items() if k not in "WRB"}
    w.update({k: weight(k, weights[k].reshape((1,) + WEIGHTS[k])) for k in "WRB"})
    samples = op.parameter(ov.Shape([1, CHUNK]), ov.Type.f32, "samples")
    samples.output(0).set_names({"samples"})
    samples.set_friendly_name("samples")

    # Framing and spectrum: windows of the chunk and the end of the one before.
    context = read("context", [1, CONTEXT])
    joined = op.concat([context, samples], 1)
    context_after = op.slice(joined, *(const([k], np.int64) for k in (CHUNK, CHUNK + CONTEXT, 1, 1)))
    spectrum = conv(op.unsqueeze(joined, const(1, np.int64)), "dft", dft(), HOP)
    power = conv(op.multiply(spectrum, spectrum), "mel", mel(), 1)
    bands = op.log(op.add(power, const([[[FLOOR]]])))

    # What is usual in each band: the network sees both.
    mean = read("mean", [1, BANDS], FIRST_MEAN)
    here = op.reduce_mean(bands, const([2], np.int64), False)
    mean_after = op.add(mean, op.multiply(op.subtract(here, mean), const([[RATE]])))
    flat = op.reshape(bands, const([1, FRAMES * BANDS], np.int64), False)
    mixed = op.matmul(op.concat([flat, mean_after], 1), w["mix"], False, True)
    features = op.relu(op.add(mixed, w["mix_bias"]))

    h, c, axis = read("hidden", [1, HIDDEN]), read("cell", [1, HIDDEN]), const([1], np.int64)
    lstm = op.lstm_sequence(op.unsqueeze(features, axis), op.unsqueeze(h, axis), op.unsqueeze(c, axis),
                            const([1], np.int32), w["W"], w["R"], w["B"], HIDDEN, "forward")
    h_after, c_after = (op.squeeze(lstm.output(k), axis) for k in (1, 2))
    logit = op.add(op.matmul(h_after, w["out"], False, True), w["out_bias"])
    probability = op.sigmoid(logit)

    # The decision: begins at HIGH, ends after HANG_OVER chunks below LOW.
    def number(value):
        return const([[value]])

    speech, quiet = read("speech", [1, 1]), read("quiet", [1, 1])
    quiet_after = op.select(op.less(probability, number(LOW)), op.add(quiet, number(1)), number(0))
    has_ended = op.greater_equal(quiet_after, number(HANG_OVER))
    begins = op.greater_equal(probability, number(HIGH))
    decision = op.select(begins, number(1), op.select(has_ended, number(0), speech))

    sinks = []
    for name, value in (("context", context_after), ("mean", mean_after), ("hidden", h_after), ("cell", c_after),
                        ("speech", decision), ("quiet", quiet_after)):
        sinks.append(op.assign(value, name))
        sinks[-1].set_friendly_name(f"{name}_after")
    for name, node in (("joined", joined), ("spectrum", spectrum), ("power", power), ("bands", bands),
                       ("loudness", here), ("features", features), ("lstm", lstm), ("logit", logit)):
        node.set_friendly_name(name)
    results = []
    for name, node in (("probability", probability), ("speech", decision)):
        node.set_friendly_name(name)
        node.output(0).set_names({name})
        results.append(op.result(node))
        results[-1].set_friendly_name(f"{name}_result")
    return ov.Model(results, sinks, [samples], "speech_watch")
