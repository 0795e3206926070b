# A range for each channel, as quantisers give the input of a depthwise convolution.
# SPDX-License-Identifier: Apache-2.0
import numpy as np

from .common import uniform
from .int8 import Quantised
from .int8_chains import clamped, line, pooled


def between_cases():
    """Between two convolutions: name, channels, ranges of the lower bounds, size, stride."""
    for name, n, below, size, stride in (("unsigned", 20, (0, 0), 3, 1), ("signed", 19, (-1, -0.9), 3, 2),
                                         ("5x5", 37, (-1, -0.1), 5, 2),
                                         ("no_level_is_zero", 8, (0.4, 0.5), 3, 1)):
        m = Quantised(f"ranges_{name}", (2, 5, 9, 10))
        bounds = [uniform(m.g, (1, n, 1, 1), *pair) for pair in (below, (1, 3))]
        y = clamped(m, m.biased(m.convolved(m.x, m.integers(n, 5, 3, 3))), -0.75, 1.5)
        y = y.quantised(*bounds)
        y = m.convolved(y, m.integers(n, 1, 1, size, size), (stride, stride), (size // 2, size // 2))
        y = m.biased(y).relu().quantised(0, 2)
        yield m.case("Clamp, other zero points in the channels.",
                     m.convolved(y, m.integers(6, n, 1, 1), pads=(0, 0)).quantised(-3, 3))
    m = Quantised("ranges_line", (2, 5, 23))
    bounds = uniform(m.g, (18, 1), 0.5, 2)
    y = line(m, m.x, m.integers(18, 5, 3)).quantised(-bounds, bounds)
    yield m.case("Images of one dimension.", line(m, y, m.integers(18, 1, 1, 3), 1, 4, 4))
    m = Quantised("ranges_max_pool", (2, 5, 9, 8))
    bounds = uniform(m.g, (18, 1, 1), 0.5, 2)
    y = pooled(m, m.convolved(m.x, m.integers(18, 5, 3, 3)).quantised(-bounds, bounds), 3, 2, 1)
    yield m.case("MaxPool between them.", m.convolved(y, m.integers(18, 1, 1, 3, 3)))


def other_cases():
    high = np.float32(np.arange(3, 15))[:, None, None] / 8
    m = Quantised("ranges_first", (2, 12, 7, 9), -2, 2)
    y = m.x.quantised(-high[None], 0.7 * high[None])
    yield m.case("Somebody looks at the values.", m.convolved(y, m.integers(12, 1, 1, 3, 3)), y)
    m = Quantised("ranges_full", (1, 12, 7, 9))
    y = m.convolved(m.x, m.integers(12, 12, 3, 3)).quantised(-high, high)
    yield m.case("A convolution that adds channels runs in f32.", m.convolved(y, m.integers(5, 12, 3, 3)))


def cases():
    yield from between_cases()
    yield from other_cases()
