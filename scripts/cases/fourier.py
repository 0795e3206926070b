# DFT, IDFT, RDFT, IRDFT, STFT, ISTFT.
# SPDX-License-Identifier: Apache-2.0
import numpy as np

from . import departures
from .common import F64, rng, uniform
from .one_op import error, ints, one_op

FLOAT = "--atol 1e-5 --rtol 1e-5"


def pack(z, dtype=np.float32):
    return np.stack([z.real, z.imag], -1).astype(dtype)


def unpack(x):
    return x[..., 0].astype(np.float64) + 1j * x[..., 1].astype(np.float64)


def sizes_of(x, axes, sizes, last=None):
    """-1 means all there is; of the last axis, `last`."""
    if sizes is None:
        sizes = [-1] * len(axes)
    found = [x.shape[a] if s == -1 else s for a, s in zip(axes, sizes)]
    if last and sizes[-1] == -1:
        found[-1] = last(x.shape[axes[-1]])
    return found


def case(op, name, x, axes, about, sizes=None, args=FLOAT, axes_type=np.int64, **more):
    z = x.astype(np.float64) if op == "RDFT" else unpack(x)
    if not axes:
        want = z
    elif op in ("DFT", "IDFT"):
        want = (np.fft.fftn if op == "DFT" else np.fft.ifftn)(z, sizes_of(z, axes, sizes), axes)
    elif op == "RDFT":
        want = np.fft.rfftn(z, sizes_of(z, axes, sizes), axes)
    else:
        want = np.fft.irfftn(z, sizes_of(z, axes, sizes, lambda n: 2 * (n - 1)), axes)
    want = want.astype(x.dtype) if op == "IRDFT" else pack(want, x.dtype)
    inputs = [x, ints(axes, axes_type)] + ([ints(sizes)] if sizes is not None else [])
    return one_op(op.lower(), name, op, inputs, want, about, 7 if op in ("DFT", "IDFT") else 9, args, **more)


def transform_cases():
    g = rng("fourier")

    def x(*shape):
        return uniform(g, shape, -1, 1)
    for op in ("DFT", "IDFT"):
        yield case(op, "length_8", x(3, 8, 2), [1], "Lines of a power of two.")
        yield case(op, "length_7", x(3, 7, 2), [-1], "A prime length; the axis counts from the end.")
        yield case(op, "length_100", x(2, 100, 2), [1], "A composite length.", axes_type=np.int32,
                   confirm_tolerance=(1e-3, 1e-3))
        yield case(op, "first_axis", x(6, 3, 2), [0], "Lines whose numbers lie apart.")
        yield case(op, "two_axes", x(2, 5, 4, 2), [2, 1], "Two axes.")
        yield case(op, "cut_and_filled", x(2, 6, 5, 2), [1, 2], "signal_size cuts one axis and fills the other up.",
                   [4, 8])
        yield case(op, "size_by_order", x(4, 5, 6, 2), [2, 0], "Sizes go with the axes as given; -1 is all.", [3, -1])
        yield case(op, "dynamic", x(2, 9, 2), [1], "No dimension is known.", dynamic=True)
    more = rng("fourier chirp")
    for op, shape in (("DFT", (2, 11, 3, 2)), ("IDFT", (2, 22, 3, 2)), ("RDFT", (3, 22)), ("IRDFT", (3, 12, 2))):
        yield case(op, "chirp", uniform(more, shape, -1, 1), [1], "A length with a prime factor above 7.")
    for op in ("DFT", "IDFT"):
        yield case(op, "many_lines", uniform(more, (3, 60, 5, 2), -1, 1), [1], "More lines than a vector has lanes.",
                   confirm_tolerance=(1e-3, 1e-3))
    yield case("DFT", "length_1", x(4, 1, 2), [1], "A line of one number.")
    yield case("DFT", "no_axes", x(4, 2), [], "Without axes nothing changes.", openvino=departures.DFT_NO_AXES,
               runs_openvino=False)
    yield case("DFT", "f64", g.uniform(-1, 1, (2, 12, 2)), [1], "In f64.", args=F64, openvino=departures.DFT_F64)
    yield case("RDFT", "length_8", x(3, 8), [1], "Half of the spectrum of 8 numbers.")
    yield case("RDFT", "length_9", x(3, 9), [-1], "Of 9 numbers.")
    yield case("RDFT", "two_axes", x(2, 5, 6), [1, 2], "The last axis is halved.")
    yield case("RDFT", "axes_reversed", x(2, 5, 6), [2, 1], "The axis named last is halved.")
    yield case("RDFT", "cut_and_filled", x(2, 6, 5), [1, 2], "signal_size.", [9, 4], openvino=departures.RDFT_FILLED)
    yield case("RDFT", "three_axes", x(3, 4, 5), [2, 0, 1], "Three axes.")
    yield case("RDFT", "whole_axis", x(3, 4, 5), [0, 2, 1], "-1 is all there is.", [-1, 4, 3],
               openvino=departures.RDFT_WHOLE)
    yield case("RDFT", "dynamic", x(2, 400), [1], "No dimension is known.", dynamic=True, args="--atol 3e-5 --rtol 1e-5")
    yield case("IRDFT", "length_8", x(3, 5, 2), [1], "5 bins make 8 numbers.")
    yield case("IRDFT", "odd", x(3, 5, 2), [1], "signal_size 9 takes the same 5 bins.", [9])
    yield case("IRDFT", "cut", x(3, 5, 2), [-1], "A shorter signal leaves bins out.", [5])
    yield case("IRDFT", "filled", x(3, 3, 2), [1], "A longer signal: further bins are 0.", [12],
               openvino=departures.IRDFT_FILLED, runs_openvino=False)
    yield case("IRDFT", "two_axes", x(2, 4, 5, 2), [1, 2], "The last axis is the half.")
    yield case("IRDFT", "axes_reversed", x(2, 4, 5, 2), [2, 1], "The axis named last is the half.", [3, 6])
    yield case("IRDFT", "dynamic", x(2, 9, 2), [1], "No dimension is known.", dynamic=True)
    yield error("error_op", "dft_not_complex", "DFT", [x(4, 3), ints([0])],
                ["input 0 (data) is f32 [4,3], expected complex numbers: a last dimension of 2"], "Real numbers.", 7)
    yield error("error_op", "dft_sizes", "DFT", [x(4, 4, 2), ints([0, 1]), ints([3])],
                ["input 2 (signal_size) is i64 [1], expected 2 sizes, one per axis"], "A size for each axis.", 7)


def padded(window, size):
    before = (size - len(window)) // 2
    return np.pad(np.float64(window), (before, size - len(window) - before))


def stft(signal, window, size, step):
    frames = (signal.shape[-1] - size) // step + 1
    cut = np.stack([signal[..., i * step:i * step + size] for i in range(frames)], -2)
    return np.fft.rfft(np.float64(cut) * padded(window, size))


def stft_case(name, signal, window, size, step, about, transposed=False, args=FLOAT, **more):
    want = stft(signal, window, size, step)
    want = pack(np.swapaxes(want, -1, -2) if transposed else want, signal.dtype)
    return one_op("stft", name, "STFT", [signal, window, ints(size), ints(step)], want, about, 15, args,
                  attrs={"transpose_frames": transposed}, **more)


def istft(x, window, size, step, length, center, normalized):
    frames = np.fft.irfft(np.swapaxes(unpack(x), -1, -2), size)
    n = frames.shape[-2]
    joined, weights = np.zeros((*frames.shape[:-2], (n - 1) * step + size)), np.zeros((n - 1) * step + size)
    for i in range(n):
        joined[..., i * step:i * step + size] += frames[..., i, :]
        weights[i * step:i * step + size] += padded(window, size)
    joined = np.where(weights != 0, joined / np.where(weights != 0, weights, 1), 0) * (np.sqrt(size) if normalized else 1)
    margin = size // 2 if center else 0
    length = joined.shape[-1] - size * center if length is None else length
    joined = joined[..., margin:margin + length]
    return np.concatenate([joined, np.zeros((*joined.shape[:-1], length - joined.shape[-1]))], -1)


def istft_case(name, x, window, size, step, about, length=None, center=False, normalized=False, args=FLOAT, **more):
    want = istft(x, window, size, step, length, center, normalized).astype(x.dtype)
    inputs = [x, window, ints(size), ints(step)] + ([ints(length)] if length is not None else [])
    return one_op("istft", name, "ISTFT", inputs, want, about, 16, args,
                  attrs={"center": center, "normalized": normalized}, **more)


def frame_cases():
    g = rng("frames")
    signal, hann = uniform(g, (2, 50)), np.hanning(18)[1:-1].astype(np.float32)
    yield stft_case("batch", signal, hann, 16, 8, "Two signals.")
    yield stft_case("transposed", signal, hann, 16, 8, "Frames stand last.", True)
    yield stft_case("one_signal", signal[0], hann, 16, 5, "One signal; some of its end is left over.", True)
    yield stft_case("short_window", signal, hann[:9], 16, 16, "The window stands in the middle of the frame.")
    yield stft_case("odd_frame", signal[0], hann[:11], 11, 3, "Frames of 11.")
    yield stft_case("dynamic", signal, hann, 16, 4, "No dimension is known.", dynamic=True)
    z = pack(stft(signal, hann, 16, 4).swapaxes(-1, -2))
    yield istft_case("batch", z, hann, 16, 4, "Two signals.")
    yield istft_case("one_signal", z[0], hann, 16, 4, "One signal.")
    yield istft_case("center", z, hann, 16, 4, "Half a frame is left out at both ends.", center=True)
    yield istft_case("normalized", z, hann, 16, 4, "The spectrum was divided by the root of the frame.", center=True,
                     normalized=True)
    yield istft_case("shorter", z, hann, 16, 4, "A shorter signal.", 30)
    yield istft_case("longer", z, hann, 16, 4, "A longer signal: zeros at the end.", 60)
    yield istft_case("longer_center", z, hann, 16, 4, "A longer signal, centered.", 60, True)
    short = pack(stft(signal, hann[:9], 16, 4).swapaxes(-1, -2))
    yield istft_case("short_window", short, hann[:9], 16, 4, "A window shorter than the frame.")
    yield istft_case("three_signals", np.concatenate([z, z[:1] * 2]), hann, 16, 4, "Three signals.")
    yield istft_case("dynamic", z, hann, 16, 4, "No dimension is known.", dynamic=True)
    yield error("error_op", "stft_short_signal", "STFT", [signal[:, :9], hann, ints(16), ints(4)],
                ["input 0 (signal) is f32 [2,9], expected at least a frame of 16"], "The signal ends before the frame does.",
                15, attrs={"transpose_frames": True})
    yield error("error_op", "istft_bins", "ISTFT", [z, hann, ints(18), ints(4)],
                ["input 0 (data) is f32 [2,9,9,2], expected 10 bins"], "As many bins as the frame makes.", 16,
                attrs={"center": False, "normalized": False})


def cases():
    yield from transform_cases()
    yield from frame_cases()
