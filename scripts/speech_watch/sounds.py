# Sounds to train and test a speech detector with: speech by espeak-ng, noises and rooms by NumPy,
# recordings mixed from both with a label for every chunk. Nothing recorded, nothing downloaded.
# SPDX-License-Identifier: Apache-2.0
import subprocess

import numpy as np

RATE, CHUNK = 16000, 512
SECONDS = 10  # of a recording
CHUNKS = SECONDS * RATE // CHUNK

# The languages and the variants of the test do not occur in the training.
LANGUAGES = {
    "train": ("af bg bs ca cs cy da de el en-gb en-us es et eu fa fi fr-fr ga gd gu hi hu hy id is "
              "it kk kn ko lt lv mk ml ms ne nl om pa pl pt-br ro sk sl sq sr sw ta te tr uk uz vi").split(),
    "test": "sv ru es-419 en-gb-scotland nb pt hr ka eo bn mr az la en-us-nyc fr-be lb".split(),
}
VARIANTS = {
    "train": ("m1 m2 m3 m4 m5 m6 f1 f2 f3 adam anika belinda benjamin boris david ed edward gustave "
              "iven john klatt klatt2 klatt4 linda marco max michael miguel norbert pablo paul quincy "
              "rob robert steph steph2 travis victor whisper Alex Andy Diogo Gene Hugo Jacky Lee").split(),
    "test": "m7 m8 f4 f5 aunty grandpa caleb iven3 klatt3 klatt6 shelby zac Denis Mario Storm steph3".split(),
}
SCRIPTS = {"bg": 0x430, "mk": 0x430, "sr": 0x430, "uk": 0x430, "kk": 0x430, "ru": 0x430, "el": 0x3b1,
           "hi": 0x915, "ne": 0x915, "mr": 0x915, "bn": 0x995, "ka": 0x10d0, "ko": 0xac00}


def random_text(g, language):
    """Syllables, letters of the language's own script, and numbers, which every voice reads in its language."""
    words = []
    for _ in range(g.integers(3, 12)):
        kind = g.random()
        if kind < 0.25:
            words.append(str(g.integers(0, 10**g.integers(1, 5))))
        elif language in SCRIPTS and kind < 0.8:
            count = 600 if language == "ko" else 24
            words.append("".join(chr(SCRIPTS[language] + k) for k in g.integers(0, count, g.integers(2, 8))))
        else:
            words.append("".join(g.choice(list("bcdfghklmnprstvwz")) + g.choice(list("aeiou")) +
                                 g.choice(["", "", "n", "s", "r", "l"]) for _ in range(g.integers(1, 5))))
        if g.random() < 0.15:
            words[-1] += g.choice([",", "."])
    return " ".join(words)


def speak(g, part):
    """An utterance of a random voice of "train" or "test", at 16 kHz."""
    language = g.choice(LANGUAGES[part])
    voice = f"{language}+{g.choice(VARIANTS[part])}" if g.random() < 0.85 else language
    espeak = subprocess.run(
        ["espeak-ng", "-v", voice, "-s", str(g.integers(110, 260)), "-p", str(g.integers(10, 90)), "--stdout",
         "--", random_text(g, language)], stdout=subprocess.PIPE, check=True)
    # Speed changes pitch and formants together, as a larger or smaller head does.
    sox = subprocess.run(
        ["sox", "-R", "-t", "wav", "--ignore-length", "-", "-t", "raw", "-e", "float", "-b", "32", "-c", "1", "-",
         "speed", f"{g.uniform(0.88, 1.15):.3f}", "rate", "-m", str(RATE)],
        input=espeak.stdout, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=True)
    voice = np.frombuffer(sox.stdout, np.float32).astype(np.float64)
    if g.random() < 0.4:
        voice = breathy(g, voice, g.uniform(0.2, 0.9))
    return voice / max(np.sqrt(np.mean(voice**2)), 1e-9)


def breathy(g, voice, share):
    """A voice part of whose energy is noise of the same spectrum: a synthesizer's own is too regular."""
    size, hop = 512, 128
    window = np.hanning(size + 1)[:-1]
    padded = np.pad(voice, (size, size + hop))
    starts = np.arange(0, len(padded) - size, hop)
    spectrum = np.fft.rfft(padded[starts[:, None] + np.arange(size)] * window)
    noise = np.fft.rfft(g.standard_normal((len(starts), size)) * window)
    noise *= np.abs(spectrum) / np.sqrt(np.sum(window**2))
    frames = np.fft.irfft(np.sqrt(1 - share**2) * spectrum + share * noise) * window
    out = np.zeros(len(padded))
    for start, frame in zip(starts, frames):
        out[start:start + size] += frame
    return out[size:size + len(voice)] / 1.5


def active(voice):
    """For every 10 ms of a clean utterance whether it is speech; pauses below 150 ms belong to it."""
    step = RATE // 100
    level = np.sqrt(np.mean(voice[:len(voice) // step * step].reshape(-1, step)**2, axis=1))
    is_speech = level > np.percentile(level, 95) * 10**(-32 / 20)
    spots = np.flatnonzero(is_speech)
    for before, after in zip(spots[:-1], spots[1:]):
        if after - before <= 15:
            is_speech[before:after] = True
    return is_speech


# Noises: each takes a generator and a number of samples ------------------------------------------------


def coloured(g, n, low=-2.0, high=0.6):
    """Noise whose power falls or rises with the frequency."""
    f = np.fft.rfftfreq(n, 1 / RATE)
    spectrum = np.fft.rfft(g.standard_normal(n)) * (np.maximum(f, 30) / 1000)**(g.uniform(low, high) / 2)
    return np.fft.irfft(spectrum, n)


def slow(g, n, hz):
    """A random curve from 0 to 1 that changes about hz times a second."""
    points = g.random(max(int(n / RATE * hz) + 3, 4))
    return np.interp(np.arange(n), np.linspace(0, n, len(points)), points)


def wind(g, n):
    return coloured(g, n, -3, -1) * slow(g, n, g.uniform(1, 6))**2


def hum(g, n):
    t = np.arange(n) / RATE
    f = g.choice([50, 60, 100, 120]) * g.uniform(0.99, 1.01)
    tone = sum(np.sin(2 * np.pi * f * k * t + g.uniform(0, 6)) * g.random() / k**0.7 for k in range(1, 16))
    return tone + 0.05 * coloured(g, n)


def clicks(g, n):
    out = np.zeros(n + 4000)
    for _ in range(g.integers(3, 12) * n // RATE):
        size = g.integers(40, 3000)
        hit = g.standard_normal(size) * np.exp(-np.arange(size) / (size / 6))
        if g.random() < 0.5:
            hit *= np.sin(2 * np.pi * g.uniform(80, 3000) * np.arange(size) / RATE)
        start = g.integers(0, n)
        out[start:start + size] += hit * g.uniform(0.2, 1)
    return out[:n] + 0.003 * coloured(g, n)


def music(g, n, decays=(0.1, 1.5), n_voices=(1, 4)):
    """Notes of a scale with harmonics, decay and vibrato, several voices at a time."""
    out = np.zeros(n + 3 * RATE)
    root = g.uniform(80, 300)
    timbre = g.random(12) / np.arange(1, 13)**g.uniform(0.3, 1.5)
    for _ in range(g.integers(*n_voices)):
        start = 0
        while start < n:
            size = int(RATE * g.choice([0.12, 0.25, 0.25, 0.5, 1]) * g.uniform(0.9, 1.1))
            t = np.arange(2 * size) / RATE
            f = root * 2**(g.choice([0, 2, 4, 5, 7, 9, 11, 12, 14, 16, 19]) / 12)
            phase = 2 * np.pi * f * (t + g.choice([0, 0, 0.002]) * np.sin(2 * np.pi * 5.5 * t) / 6)
            note = sum(a * np.sin(k * phase) for k, a in enumerate(timbre, 1) if k * f < 7500)
            note *= np.exp(-t / g.uniform(*decays)) * np.minimum(1, t / 0.01) * np.minimum(1, (t[-1] - t) / 0.02)
            out[start:start + 2 * size] += note * g.uniform(0.3, 1)
            start += size
    return out[:n]


def beeps(g, n):
    """Alarms, dial tones, sweeps."""
    t = np.arange(n) / RATE
    f = g.uniform(300, 3000)
    period = g.uniform(0.2, 2)
    kind = g.integers(3)
    if kind == 0:
        f = f + np.where((t / period) % 1 < 0.5, 0, g.uniform(-200, 600))
    elif kind == 1:
        f = f * 2**(g.uniform(0.2, 1) * np.sin(2 * np.pi * t / period))
    tone = np.sin(2 * np.pi * np.cumsum(f * np.ones(n)) / RATE)
    return tone * (np.where((t / period) % 1 < g.uniform(0.2, 1), 1, 0.0)) + 0.003 * coloured(g, n)


def engine(g, n):
    """A pulse train of wavering rate through a resonance, and its rattle."""
    rate = g.uniform(12, 90) * (1 + 0.4 * slow(g, n, 0.5))
    pulse = np.diff(np.floor(np.cumsum(rate) / RATE), prepend=0) * g.uniform(0.6, 1, n)
    size = 2000
    t = np.arange(size) / RATE
    ring = sum(np.sin(2 * np.pi * g.uniform(60, 900) * t) * np.exp(-t * g.uniform(20, 150)) for _ in range(4))
    return convolve(pulse, ring) + 0.1 * coloured(g, n, -2, -1) * slow(g, n, 3)


def rain(g, n):
    drops = (g.random(n) < g.uniform(0.002, 0.03)) * g.exponential(1, n)
    return convolve(drops, g.standard_normal(60) * np.exp(-np.arange(60) / 12)) + 0.1 * coloured(g, n, -1, 0.5)


def birds(g, n):
    out = np.zeros(n + RATE)
    for _ in range(g.integers(1, 5) * n // RATE):
        size = g.integers(600, 4000)
        t = np.arange(size) / size
        f = g.uniform(1800, 5000) * 2**(g.uniform(-0.6, 0.6) * t + 0.1 * np.sin(2 * np.pi * g.integers(1, 9) * t))
        start = g.integers(0, n)
        out[start:start + size] += np.sin(2 * np.pi * np.cumsum(f) / RATE) * np.sin(np.pi * t)**2 * g.random()
    return out[:n] + 0.01 * coloured(g, n)


def strings(g, n):
    return music(g, n, (0.8, 4), (2, 5))


def plucked(g, n):
    return music(g, n, (0.05, 0.4), (1, 3))


def fan(g, n):
    noise = coloured(g, n, -1.5, 0)
    t = np.arange(n) / RATE
    return noise * (1 + 0.5 * np.sin(2 * np.pi * g.uniform(5, 40) * t)) + 0.3 * hum(g, n) * g.random()


def typing(g, n):
    out = np.zeros(n + 4000)
    start = 0
    while start < n:
        for delay in (0, g.integers(600, 1600)):
            size = g.integers(100, 400)
            hit = np.diff(g.standard_normal(size + 1)) * np.exp(-np.arange(size) / (size / 5))
            out[start + delay:start + delay + size] += hit * g.uniform(0.3, 1)
        start += int(RATE * g.choice([0.09, 0.14, 0.2, 0.35, 1.2]) * g.uniform(0.8, 1.2))
    return out[:n] + 0.01 * coloured(g, n)


def siren(g, n):
    t = np.arange(n) / RATE
    f = g.uniform(500, 900) * 2**(0.6 * np.abs((t / g.uniform(0.4, 4)) % 2 - 1))
    phase = 2 * np.pi * np.cumsum(f) / RATE
    return sum(np.sin(k * phase) / k for k in (1, 2, 3, 5)) * (0.6 + 0.4 * slow(g, n, 1))


NOISES = {
    "train": (coloured, coloured, wind, hum, clicks, music, plucked, beeps, engine, birds),
    "test": (fan, typing, siren, strings, rain),  # no kind of the training
}


def babble(g, n, speech):
    """Many speakers at once, none of whom can be followed."""
    out = np.zeros(n)
    for _ in range(g.integers(6, 14)):
        voices = np.concatenate([speech[k][0] for k in g.integers(0, len(speech), 4)])
        out += np.resize(np.roll(voices, g.integers(len(voices))), n) * g.uniform(0.5, 1)
    return out


# Rooms and recordings ------------------------------------------------------------------------------------


def convolve(x, response):
    size = len(x) + len(response)
    return np.fft.irfft(np.fft.rfft(x, size) * np.fft.rfft(response, size), size)[:len(x)]


def room(g):
    """The response of a synthetic room: the direct sound, a few early echoes, a tail of noise that decays."""
    n = int(RATE * g.uniform(0.1, 0.5))
    t = np.arange(n) / RATE
    tail = g.standard_normal(n) * np.exp(-t * 6.9 / g.uniform(0.1, 0.7)) * g.uniform(0.01, 0.12)
    tail[:80] = 0
    for k in g.integers(80, 1200, 6):
        tail[min(k, n - 1)] += g.uniform(-0.4, 0.4)
    tail[0] = 1
    return tail


def equalize(g, x):
    """A microphone: a smooth random response, and sometimes the band of a telephone."""
    f = np.fft.rfftfreq(len(x), 1 / RATE)
    points = np.array([20, 100, 300, 800, 2000, 4000, 8000])
    gain = 10**(np.interp(np.log(f + 20), np.log(points), g.normal(0, 4, len(points))) / 20)
    if g.random() < 0.2:
        gain = gain * np.where((f > 280) & (f < 3500), 1, 0.003)
    elif g.random() < 0.3:
        gain = gain / np.sqrt(1 + (f / g.uniform(3000, 7500))**8)
    return np.fft.irfft(np.fft.rfft(x) * gain, len(x))


def background(g, n, part, speech):
    """One or two noises together, of level 1."""
    out = np.zeros(n)
    for _ in range(g.integers(1, 3)):
        noise = babble(g, n, speech) if g.random() < 0.13 else g.choice(NOISES[part])(g, n)
        if g.random() < 0.3:  # it comes and goes
            noise = noise * np.clip(4 * slow(g, n, 0.5) - 1, 0, 1)
        out += noise / (np.sqrt(np.mean(noise**2)) + 1e-9) * g.uniform(0.3, 1)
    return out / (np.sqrt(np.mean(out**2)) + 1e-9)


def recording(g, part, speech):
    """Samples and, for each chunk, whether half of it is speech. speech: utterances with their activity."""
    n = CHUNKS * CHUNK
    voice, is_speech = np.zeros(n), np.zeros(n, bool)
    start = int(RATE * g.choice([0, g.uniform(0, 4)]))
    while start < n and g.random() > 0.07:
        utterance, activity = speech[g.integers(len(speech))]
        size = min(len(utterance), n - start)
        voice[start:start + size] += utterance[:size] * 10**(g.uniform(-4, 4) / 20)
        marks = np.repeat(activity, RATE // 100)[:size]
        is_speech[start:start + len(marks)] |= marks
        start += size + int(RATE * g.choice([g.uniform(0, 0.5), g.uniform(0.3, 4)]))
    if g.random() < 0.5:
        voice = convolve(voice, room(g))
    low, high = (-3, 30) if part == "train" else (0, 25)
    noise = background(g, n, part, speech) if g.random() < 0.85 else coloured(g, n) * 0.003
    mix = equalize(g, voice + noise * 10**(-g.uniform(low, high) / 20))
    level = 10**((g.uniform(-50, -8) if part == "train" else g.uniform(-55, -5)) / 20)
    mix *= level / (np.sqrt(np.mean(mix**2)) + 1e-9)
    mix = np.round(np.clip(mix, -1, 1) * 32767) / 32768  # 16 bits, and clipped where it is loud
    return mix.astype(np.float32), is_speech.reshape(CHUNKS, CHUNK).mean(axis=1) >= 0.5


def minute(g, speech):
    """A minute for the demo: voices in and between noises, and noises alone. speech: utterances of 3 s and more."""
    n = 60 * RATE
    voice, noise = np.zeros(n), coloured(g, n) * 0.004
    for start, stop, k in ((2, 5.5, 0), (7, 11, 1), (16.5, 20, 2), (22, 24, 3), (28, 32.5, 4), (38, 41, 5),
                           (43, 48, 6), (53, 56, 7)):
        utterance = speech[k][0][:int((stop - start) * RATE)] * 0.1
        voice[int(start * RATE):int(start * RATE) + len(utterance)] += utterance
    for start, stop, make, level in ((11.5, 22, typing, 0.03), (20.5, 27, strings, 0.02), (27, 36, fan, 0.02),
                                     (35, 43, rain, 0.02), (48.5, 52.5, siren, 0.03), (52, 60, wind, 0.03)):
        sound = make(g, int((stop - start) * RATE))
        t = np.arange(len(sound)) / RATE
        fade = np.minimum(1, np.minimum(t, t[-1] - t) / 0.3)
        noise[int(start * RATE):int(start * RATE) + len(sound)] += sound * fade * level / np.sqrt(np.mean(sound**2))
    return np.clip(convolve(voice, room(g)) + noise, -1, 1).astype(np.float32)
