#!/usr/bin/env python3
"""Writes models of one op each for the part `ops` of the speed comparison: make_op_models.py FOLDER. Needs openvino and numpy.

A name is a family, an op where the family has several, and the shape: conv_16_32_48x48_k3_s1 has 16 input and 32 output channels,
48 x 48 pixels, 3 x 3 filters and stride 1; fc_1_512_512_u8 multiplies a row of 512 numbers by 512 x 512 weights stored in u8.
SPDX-License-Identifier: Apache-2.0
"""
import sys
from pathlib import Path

import numpy as np
import openvino as ov
from openvino import opset13 as ops

rng = np.random.default_rng(5)


def weights(*shape):
    return ops.constant(rng.uniform(-1, 1, shape).astype(np.float32) / np.sqrt(np.prod(shape[1:])).astype(np.float32))


def inputs(*shapes):
    return [ops.parameter(list(shape), np.float32, name=f"x{i}") for i, shape in enumerate(shapes)]


def ints(*numbers):
    return ops.constant(np.array(numbers, np.int64))


def times(shape):
    return "x".join(map(str, shape))


def pads_of(size):
    """Pads that keep the size, for a kernel of one or two odd sizes."""
    return [size // 2] * 2


# ---- families: each yields name, parameters and result ----

def convolutions():
    for i, o, h, w, k, stride in [(3, 16, 96, 96, 3, 2), (16, 32, 48, 48, 3, 1), (32, 32, 24, 24, 3, 1), (32, 64, 48, 48, 1, 1),
                                  (64, 64, 16, 16, 3, 1), (64, 64, 16, 16, 3, 2), (64, 24, 40, 40, 5, 1), (64, 64, 80, 80, 3, 1),
                                  (128, 128, 8, 8, 3, 1), (128, 128, 12, 12, 1, 1), (256, 256, 7, 7, 1, 1)]:
        (x,) = inputs((1, i, h, w))
        y = ops.convolution(x, weights(o, i, k, k), [stride] * 2, pads_of(k), pads_of(k), [1, 1])
        yield f"conv_{i}_{o}_{h}x{w}_k{k}_s{stride}", [x], y
    for i, o, n, k, dilation in [(40, 64, 98, 3, 1), (64, 64, 32, 3, 1), (128, 128, 100, 3, 1), (128, 128, 200, 3, 8), (1, 257, 512, 256, 1)]:
        (x,) = inputs((1, i, n))
        yield f"conv1d_{i}_{o}_{n}_k{k}_d{dilation}", [x], ops.convolution(x, weights(o, i, k), [1], [0], [0], [dilation])
    for c, h, w, kh, kw, stride in [(32, 48, 48, 3, 3, 1), (64, 24, 24, 3, 3, 1), (64, 24, 24, 3, 3, 2), (96, 112, 112, 3, 3, 2),
                                    (128, 12, 12, 5, 5, 1), (256, 6, 6, 3, 3, 1), (64, 16, 1, 9, 1, 1), (128, 39, 1, 20, 1, 1)]:
        (x,) = inputs((1, c, h, w))
        pads = [kh // 2, kw // 2] if kh == kw else [0, 0]
        y = ops.group_convolution(x, weights(c, 1, 1, kh, kw), [stride] * 2, pads, pads, [1, 1])
        yield f"dw_{c}_{h}x{w}_k{kh}x{kw}_s{stride}", [x], y
    for i, o, h, w, k, stride in [(64, 32, 12, 12, 4, 2), (16, 16, 33, 33, 3, 2)]:
        (x,) = inputs((1, i, h, w))
        y = ops.convolution_backprop_data(x, weights(i, o, k, k), [stride] * 2, None, [1, 1], [1, 1], [1, 1])
        yield f"deconv_{i}_{o}_{h}x{w}_k{k}_s{stride}", [x], y


def compressed(n_out, n_in, dtype, top):
    """Weights as a compressed model holds them: (u8 or u4 - zero point) * scale, per row."""
    q = ops.constant(rng.integers(0, top + 1, (n_out, n_in)).astype(np.uint8), dtype)
    zero = ops.constant(np.full((n_out, 1), (top + 1) // 2, np.uint8), dtype)
    scale = ops.constant(np.full((n_out, 1), 2 / top / np.sqrt(n_in), np.float32))
    return ops.multiply(ops.subtract(ops.convert(q, "f32"), ops.convert(zero, "f32")), scale)


def products():
    for m, k, n in [(1, 257, 256), (1, 512, 512), (1, 1024, 4096), (16, 512, 512), (128, 384, 1536)]:
        for ending, make in [("", lambda: weights(n, k)), ("_u8", lambda: compressed(n, k, ov.Type.u8, 255)),
                             ("_u4", lambda: compressed(n, k, ov.Type.u4, 15))]:
            (x,) = inputs((m, k))
            yield f"fc_{m}_{k}_{n}{ending}", [x], ops.matmul(x, make(), False, True)
    for a, b, turned in [((1, 12, 128, 32), (1, 12, 128, 32), True), ((8, 64, 64), (8, 64, 64), False), ((1, 4, 1, 64), (1, 4, 1024, 64), True),
                         ((1, 4, 1, 1024), (1, 4, 1024, 64), False)]:
        x, y = inputs(a, b)
        yield f"mm_{times(a)}_{times(b)}", [x, y], ops.matmul(x, y, False, turned)
    for heads, n_queries, n_keys, size in [(12, 128, 128, 32), (16, 1, 1024, 96)]:
        q, k, v = inputs((1, heads, n_queries, size), (1, heads, n_keys, size), (1, heads, n_keys, size))
        yield f"sdpa_{heads}_{n_queries}_{n_keys}_{size}", [q, k, v], ops.scaled_dot_product_attention(q, k, v)


def elementwise():
    n = 102400
    for name, make in [("relu", ops.relu), ("sigmoid", ops.sigmoid), ("tanh", ops.tanh), ("exp", ops.exp), ("log", ops.log),
                       ("sqrt", ops.sqrt), ("hswish", ops.hswish), ("swish", ops.swish),
                       ("gelu", lambda x: ops.gelu(x, "erf")), ("clamp", lambda x: ops.clamp(x, -0.5, 0.5)),
                       ("prelu", lambda x: ops.prelu(x, ops.constant(np.float32([0.1])))),
                       ("power", lambda x: ops.power(x, ops.constant(np.float32(2.5))))]:
        (x,) = inputs((1, n))
        yield f"act_{name}_{n}", [x], make(x)
    x, y = inputs((1, n), (1, n))
    yield f"add_{n}", [x, y], ops.add(x, y)


def reductions():
    for name, make in [("sum", ops.reduce_sum), ("max", ops.reduce_max), ("mean", ops.reduce_mean)]:
        for shape, axes in [((1, 128, 384), [1]), ((1, 128, 384), [2]), ((1, 64, 40, 40), [1]), ((1, 512, 7, 7), [2, 3])]:
            (x,) = inputs(shape)
            yield f"red_{name}_{times(shape)}_a{times(axes)}", [x], make(x, ints(*axes), True)
    for shape in [(1, 1000), (64, 20), (1, 12, 128, 128)]:
        (x,) = inputs(shape)
        yield f"softmax_{times(shape)}", [x], ops.softmax(x, -1)


def written_norm(x, axes):
    """A norm as exporters write it."""
    distance = ops.subtract(x, ops.reduce_mean(x, axes, True))
    variance = ops.reduce_mean(ops.power(distance, ops.constant(np.float32(2))), axes, True)
    return ops.divide(distance, ops.sqrt(ops.add(variance, ops.constant(np.float32(1e-5)))))


def norms():
    for shape, axes in [((1, 128, 384), [2]), ((1, 64, 24, 24), [2, 3]), ((1, 16, 1, 33), [1, 2, 3])]:
        (x,) = inputs(shape)
        yield f"norm_mvn_{times(shape)}", [x], ops.mvn(x, ints(*axes), True, 1e-5, "INSIDE_SQRT")
        (x,) = inputs(shape)
        yield f"norm_written_{times(shape)}", [x], written_norm(x, ints(*axes))


def pools():
    for c, size, k, stride in [(16, 48, 2, 2), (64, 40, 3, 2), (256, 13, 5, 1)]:
        geometry = ([stride] * 2, pads_of(k - 1 + k % 2), pads_of(k - 1 + k % 2)) if k % 2 else ([stride] * 2, [0, 0], [0, 0])
        (x,) = inputs((1, c, size, size))
        yield f"pool_avg_{c}_{size}x{size}_k{k}_s{stride}", [x], ops.avg_pool(x, *geometry, [k, k], True)
        (x,) = inputs((1, c, size, size))
        y = ops.max_pool(x, geometry[0], [1, 1], geometry[1], geometry[2], [k, k]).output(0)
        yield f"pool_max_{c}_{size}x{size}_k{k}_s{stride}", [x], y


def moves():
    for shape, order in [((384, 384), (1, 0)), ((1, 64, 40, 40), (0, 2, 3, 1)), ((1, 40, 40, 64), (0, 3, 1, 2)), ((1, 128, 12, 32), (0, 2, 1, 3))]:
        (x,) = inputs(shape)
        yield f"move_transpose_{times(shape)}_{''.join(map(str, order))}", [x], ops.transpose(x, ints(*order))
    shape = (1, 64, 40, 40)
    x, y = inputs(shape, shape)
    yield f"move_concat_{times(shape)}", [x, y], ops.concat([x, y], 1)
    (x,) = inputs(shape)
    yield f"move_pad_{times(shape)}", [x], ops.pad(x, ints(0, 0, 1, 1), ints(0, 0, 1, 1), "constant", ops.constant(np.float32(0)))
    for mode, edges in [("nearest", "asymmetric"), ("linear_onnx", "half_pixel")]:
        (x,) = inputs(shape)
        scales = ops.constant(np.float32([2, 2]))
        y = ops.interpolate(x, scales, mode, "scales", coordinate_transformation_mode=edges, nearest_mode="floor", axes=ints(2, 3))
        yield f"move_interpolate_{mode}_{times(shape)}", [x], y
    (x,) = inputs((1000, 384))
    rows = ops.constant(rng.integers(0, 1000, 64))
    yield "move_gather_64_of_1000x384", [x], ops.gather(x, rows, ints(0))
    (x,) = inputs((1, 10000))
    yield "move_topk_10_of_10000", [x], ops.topk(x, ops.constant(np.int64(10)), 1, "max", "value").output(0)


def fake(x, low, high, levels=256):
    ends = [ops.constant(np.float32(end)) for end in (low, high, low, high)]
    return ops.fake_quantize(x, *ends, levels)


def quantised():
    (x,) = inputs((1, 102400))
    yield "q_alone_102400", [x], fake(x, -1, 1)
    for i, o, size, k in [(16, 32, 48, 3), (32, 64, 48, 1), (64, 64, 16, 3)]:
        (x,) = inputs((1, i, size, size))
        y = ops.convolution(fake(x, 0, 1), fake(weights(o, i, k, k), -1, 1, 255), [1, 1], pads_of(k), pads_of(k), [1, 1])
        yield f"q_conv_{i}_{o}_{size}x{size}_k{k}", [x], fake(ops.relu(y), 0, 4)
    (x,) = inputs((16, 512))
    yield "q_fc_16_512_512", [x], ops.matmul(fake(x, 0, 1), fake(weights(512, 512), -1, 1, 255), False, True)


def main():
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for family in (convolutions, products, elementwise, reductions, norms, pools, moves, quantised):
        for name, parameters, y in family():
            ov.save_model(ov.Model([ops.result(y)], parameters, name), folder / f"{name}.xml", compress_to_fp16=False)


if __name__ == "__main__":
    main()
