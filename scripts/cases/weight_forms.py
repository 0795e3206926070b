# How weights are stored: plain, f16, bf16, and integers with scale and zero point. Scales are
# powers of two, so that nothing is rounded on the way whatever precision it is computed in.
# SPDX-License-Identifier: Apache-2.0
import numpy as np

from .net import round_bf16

FORMS = ("f16", "bf16", "i8", "u8_zero_point", "i4", "u4_zero_point", "i4_groups")


def steps(array, form):
    """(integers, scale, zero points) whose (integer - zero point) * scale stands for array; scale
    per row."""
    low, high = {
        "i8": (-127, 127), "u8_zero_point": (0, 255), "i4": (-8, 7), "i4_groups": (-8, 7),
        "u4_zero_point": (0, 15)
    }[form]
    half = (high - low) / 2
    peak = np.maximum(np.abs(array).max(axis=-1, keepdims=True), 1e-3)
    scale = np.exp2(np.ceil(np.log2(peak / half)))
    rows = np.arange(peak.size).reshape(peak.shape)
    zero = np.zeros(peak.shape) if low < 0 else (high + 1) // 2 + rows % 2
    return np.clip(np.rint(array / scale) + zero, low, high), scale, zero


def represent(array, form):
    """The values that array has when stored in form."""
    if form == "f16":
        return array.astype(np.float16).astype(array.dtype)
    if form == "bf16":
        return round_bf16(array).astype(array.dtype)
    whole, scale, zero = steps(array, form)
    return ((whole - zero) * scale).astype(array.dtype)


def port_of(net, array, form):
    """Adds the Const and what widens it; array must be what represent returned. The port is f32."""
    assert np.array_equal(represent(array, form), array)
    if form in ("f16", "bf16"):
        return net.op("Convert", net.const(array, form), destination_type="f32")
    whole, scale, zero = steps(array, form)
    integers = form.split("_")[0]
    if form == "i8":
        wide = net.op("Convert", net.const(whole, integers), destination_type="f32")
        return net.op("Multiply", wide, net.const(scale.astype(np.float32)), auto_broadcast="numpy")
    shape = array.shape
    if form == "i4_groups":
        group = next(g for g in range(shape[-1] // 2, 0, -1) if shape[-1] % g == 0)
        whole = whole.reshape(*shape[:-1], -1, group)
        scale = np.repeat(scale[..., None], whole.shape[-2], axis=-2)
    wide = net.op("Convert", net.const(whole, integers, list(whole.shape)), destination_type="f16")
    if form.endswith("zero_point"):
        offset = net.op("Convert", net.const(zero, integers, list(zero.shape)),
                        destination_type="f16")
        wide = net.op("Subtract", wide, offset, auto_broadcast="numpy")
    wide = net.op("Multiply", wide, net.const(scale.astype(np.float16)), auto_broadcast="numpy")
    if form == "i4_groups":
        wide = net.op("Reshape", wide, net.i64(list(shape)), special_zero=False)
    return net.op("Convert", wide, destination_type="f32")
