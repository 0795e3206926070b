# Interpolate and GridSample. Interpolate is a product of matrices, one an axis, written from the
# specification; GridSample is summed point by point.
# SPDX-License-Identifier: Apache-2.0
import math

import numpy as np

from . import departures
from .common import EXACT, F16, F64, rng, uniform
from .one_op import error, ints, one_op

FLOAT = "--atol 3e-6 --rtol 1e-5"
AXES = [2, 3]

# ---- Interpolate: the matrix of an axis ---------------------------------------------------------


def coordinate(mode, x, scale, n_out, n_in, kind=np.float64):
    """Where the centre of output x lies; the mode nearest computes it in f32."""
    x, scale, half = kind(x), kind(scale), kind(0.5)
    if scale == 1 or n_out == n_in:
        return x
    if mode == "pytorch_half_pixel" and n_out == 1 or mode == "align_corners" and n_out == 1:
        return kind(0)
    if mode == "align_corners":
        return x * kind(n_in - 1) / kind(n_out - 1)
    if mode == "asymmetric":
        return x / scale
    return (x + half) / scale - (0 if mode == "tf_half_pixel_for_nn" else half)


def nearest(mode, x, scale):
    if mode == "round_prefer_floor":
        return math.ceil(x - np.float32(0.5)) if x >= 0 else -math.floor(-x + np.float32(0.5))
    if mode == "round_prefer_ceil":
        return math.floor(x + np.float32(0.5)) if x >= 0 else -math.floor(-x + np.float32(0.5))
    if mode == "simple":
        return math.ceil(x) if scale < 1 else int(x)
    return {"floor": math.floor, "ceil": math.ceil}[mode](x)


def cubic_weights(s, a):
    return [
        a * s * (s - 1)**2, ((a + 2) * s - (a + 3)) * s * s + 1,
        (((-a - 2) * s + (2 * a + 3)) * s - a) * s, -a * s * s * (s - 1)
    ]


def pillow_row(i, n_in, n_out, is_cubic, a):
    scale = n_in / n_out
    widening, centre = max(scale, 1), (i + 0.5) * scale
    x = np.abs((np.arange(n_in) + 0.5 - centre) / widening)
    if not is_cubic:
        return np.maximum(0, 1 - x)
    return np.where(x < 1, ((a + 2) * x - (a + 3)) * x * x + 1,
                    np.where(x < 2, (((x - 5) * x + 8) * x - 4) * a, 0))


def matrix(n_in, n_out, scale, mode, transform, nearest_mode, is_antialiased, a):
    m = np.zeros((n_out, n_in))
    for i in range(n_out):
        x = coordinate(transform, i, scale, n_out, n_in)
        if mode == "nearest":
            x = coordinate(transform, i, scale, n_out, n_in, np.float32)
            m[i, np.clip(nearest(nearest_mode, x, scale), 0, n_in - 1)] = 1
        elif mode == "linear":
            narrowing = scale if is_antialiased else 1
            m[i] = np.maximum(0, 1 - np.abs(narrowing * (x - np.arange(n_in))))
        elif mode == "linear_onnx":
            x = np.clip(x, 0, n_in - 1)
            low = int(x)
            m[i, low] += 1 - (x - low)
            m[i, min(low + 1, n_in - 1)] += x - low
        elif mode == "cubic":
            low = math.floor(x)
            for k, weight in enumerate(cubic_weights(x - low, a)):
                m[i, np.clip(low + k - 1, 0, n_in - 1)] += weight
        else:
            m[i] = pillow_row(i, n_in, n_out, mode == "bicubic_pillow", a)
        if mode in ("linear", "bilinear_pillow", "bicubic_pillow"):
            m[i] /= m[i].sum() or 1
    return m


def interpolated(x, axes, scales, sizes, attrs):
    pads = list(zip(attrs["pads_begin"] + [0] * x.ndim, attrs["pads_end"] + [0] * x.ndim))[:x.ndim]
    wide = np.pad(np.float64(x), pads)
    is_pillow, is_integer = "pillow" in attrs["mode"], x.dtype.kind in "iu"
    is_antialiased = attrs["antialias"] and min(scales) < 1
    for axis, scale, n_out in reversed(list(zip(axes, scales, sizes))):
        m = matrix(wide.shape[axis], n_out, scale, attrs["mode"],
                   attrs["coordinate_transformation_mode"], attrs["nearest_mode"], is_antialiased,
                   attrs["cube_coeff"])
        wide = np.moveaxis(np.tensordot(m, wide, (1, axis)), 0, axis)
        if is_pillow and is_integer:
            wide = np.clip(half_away(wide), np.iinfo(x.dtype).min, np.iinfo(x.dtype).max)
    if is_integer and attrs["mode"] == "linear":
        wide = half_away(wide)
    return wide.astype(x.dtype)


def half_away(x):
    return np.sign(x) * np.floor(np.abs(x) + 0.5)


# ---- Interpolate: cases ------------------------------------------------------------------------


def interpolate(name, x, about, mode, sizes=None, scales=None, axes=AXES, v=11, args=FLOAT,
                target=None, transform="half_pixel", nearest_mode="round_prefer_floor",
                antialias=False, cube_coeff=-0.75, pads_begin=(0, ), pads_end=(0, ), **more):
    attrs = {
        "mode": mode, "shape_calculation_mode": "sizes" if scales is None else "scales",
        "coordinate_transformation_mode": transform, "nearest_mode": nearest_mode, "antialias":
        antialias, "pads_begin": list(pads_begin), "pads_end": list(pads_end), "cube_coeff":
        cube_coeff
    }
    begin, end = (list(p) + [0] * x.ndim for p in (pads_begin, pads_end))
    padded = [x.shape[a] + begin[a] + end[a] for a in axes]
    if scales is None:
        ratios = [np.float32(s) / np.float32(n) for s, n in zip(sizes, padded)]
        given = np.asarray(sizes)
    else:
        ratios = [np.float32(s) for s in scales]
        sizes = [int(np.floor(n * (s + 1e-6))) for n, s in zip(padded, scales)]
        given = np.float32(scales)
    want = interpolated(x, axes, [float(r) for r in ratios], sizes, attrs)
    inputs = [x, ints(given, given.dtype) if target is None else target]
    if v == 4:
        others = ints(sizes) if scales is not None else ints(np.float32(ratios), np.float32)
        inputs = [x, others, inputs[1]] if scales is not None else [x, inputs[1], others]
    args = EXACT if mode == "nearest" else args
    return one_op("interpolate", name, "Interpolate", inputs + [ints(axes)], want, about, v, args,
                  attrs=attrs, **more)


def mode_cases(x):
    for mode in ("nearest", "linear", "linear_onnx", "cubic", "bilinear_pillow", "bicubic_pillow"):
        a = {"cube_coeff": -0.5} if mode == "bicubic_pillow" else {}
        yield interpolate(f"{mode}_up", x, f"{mode}, larger.", mode, [7, 11], **a)
        yield interpolate(f"{mode}_down", x, f"{mode}, smaller.", mode, [3, 4], **a)
        yield interpolate(f"{mode}_mixed", x, f"{mode}, one axis larger, one smaller.", mode,
                          [9, 4], **a)
        yield interpolate(f"{mode}_scales", x, f"{mode}, by scales.", mode, scales=[2, 0.5], **a)
    for transform in ("half_pixel", "pytorch_half_pixel", "asymmetric", "tf_half_pixel_for_nn",
                      "align_corners"):
        for mode in ("nearest", "linear", "linear_onnx", "cubic"):
            yield interpolate(f"{mode}_{transform}", x, f"{mode} with {transform}.", mode, [8, 3],
                              transform=transform)
        yield interpolate(f"linear_onnx_{transform}_to_1", x, f"To one row, {transform}.",
                          "linear_onnx", [1, 12], transform=transform)
    for nearest_mode in ("round_prefer_floor", "round_prefer_ceil", "floor", "ceil", "simple"):
        for name, scales in (("up", [2, 2]), ("down", [0.5, 0.5])):
            yield interpolate(f"{nearest_mode}_{name}", x, f"nearest with {nearest_mode}, ties.",
                              "nearest", scales=scales, nearest_mode=nearest_mode,
                              transform="asymmetric" if name == "up" else "half_pixel")


def form_cases(x):
    yield interpolate("linear_antialias", x, "Antialiased, both axes smaller.", "linear", [2, 3],
                      antialias=True, openvino=departures.ANTIALIAS)
    yield interpolate("linear_antialias_up", x, "antialias has no effect where nothing shrinks.",
                      "linear", [8, 12], antialias=True)
    yield interpolate("cubic_coefficient", x, "cube_coeff -0.5.", "cubic", [7, 11], cube_coeff=-0.5)
    for v in (4, 11):
        yield interpolate(f"v{v}_by_sizes", x, f"Interpolate-{v} by sizes.", "linear_onnx", [9, 7],
                          v=v)
        yield interpolate(f"v{v}_by_scales", x, f"Interpolate-{v} by scales.", "linear_onnx",
                          scales=[1.5, 0.5], v=v)
    yield interpolate("scale_third", x[:, :, :3, :3], "A third of 3 is 1.", "nearest",
                      scales=[1 / 3, 1])
    yield interpolate("pads", x, "A border of zeros first.", "linear_onnx", [9, 9],
                      pads_begin=[0, 0, 1, 2], pads_end=[0, 0, 2, 0])
    yield interpolate("pads_nearest", x, "A border of zeros, nearest.", "nearest", [16, 4],
                      pads_begin=[0, 0, 1, 2], pads_end=[0, 0, 2, 0])
    yield interpolate("one_axis", x, "One axis only.", "cubic", [9], axes=[3])
    yield interpolate("axes_nhwc",
                      x.transpose(0, 2, 3, 1).copy(), "Axes 1 and 2: NHWC.", "nearest", [8, 3],
                      axes=[1, 2])
    yield interpolate("rank_5", uniform(rng("images", 5), (1, 2, 3, 4, 3)), "Three axes.",
                      "linear_onnx", [5, 3, 6], axes=[2, 3, 4])
    yield interpolate("rank_3", uniform(rng("images", 3), (2, 3, 5)), "A line of 5 to 12.",
                      "linear", [12], axes=[2])
    yield interpolate("same_size", x, "The size it had.", "cubic", [5, 6])
    pixels = np.round(np.abs(x) * 100).astype(np.uint8)
    yield interpolate("u8_linear", pixels, "Bytes are rounded to the nearest.", "linear", [10, 12],
                      openvino=departures.INTEGER_PIXELS)
    yield interpolate("u8_nearest", pixels, "Bytes, nearest.", "nearest", [3, 9])
    yield interpolate("i32_linear_onnx",
                      pixels.astype(np.int32) - 99, "Integers toward zero.", "linear_onnx",
                      scales=[2, 2],
                      openvino=departures.INTEGER_PIXELS)
    yield interpolate("u8_bilinear_pillow", pixels, "Bytes as Pillow rounds them: axis by axis.",
                      "bilinear_pillow", [3, 9], openvino=departures.INTEGER_PIXELS)
    yield interpolate("f16", x.astype(np.float16), "f16.", "linear_onnx", [8, 8], args=F16)
    yield interpolate("f64",
                      x.astype(np.float64) / 3, "f64.", "cubic", [8, 8], args=F64,
                      confirm_tolerance=(1e-5, 1e-5))
    yield interpolate("v4_cubic", x, "Interpolate-4, cubic, aligned corners.", "cubic", [8, 3], v=4,
                      transform="align_corners")
    yield interpolate("dynamic", x, "No dimension is known.", "linear_onnx", [8, 3], dynamic=True)
    yield interpolate("sizes_input", x, "The sizes are an input: the shape depends on them.",
                      "nearest", [7, 3], target=np.array([7, 3]))
    yield error("interpolate", "scale_negative", "Interpolate",
                [x, ints([-1.0, 1], np.float32), ints(AXES)], ["Interpolate", "scale 0 is -1"],
                "A negative scale.", 11,
                attrs={"mode": "nearest", "shape_calculation_mode": "scales"})
    yield error("interpolate", "axis", "Interpolate",
                [x, ints([3, 3]), ints([3, 4])], ["Interpolate", "axis 4"],
                "An axis that is not there.", 11,
                attrs={"mode": "nearest", "shape_calculation_mode": "sizes"})


def version_1(name, x, sizes, about, mode, transform, as_mode, align_corners=False, axes=(2, 3),
              **more):
    """Interpolate-1 in the terms of version 4."""
    scales = [np.float32(s) / np.float32(x.shape[a]) for a, s in zip(axes, sizes)]
    attrs = {
        "mode": as_mode, "coordinate_transformation_mode": transform, "nearest_mode": "simple",
        "antialias": False, "pads_begin": [0], "pads_end": [0], "cube_coeff": -0.75
    }
    want = interpolated(x, axes, [float(s) for s in scales], sizes, attrs)
    return one_op(
        "interpolate", name, "Interpolate", [x, ints(sizes)], want, about, 1, FLOAT, attrs={
            "axes": list(axes), "mode": mode, "align_corners": align_corners, "antialias": False,
            "pads_begin": [0], "pads_end": [0]
        }, **more)


def version_1_cases(x):
    yield version_1("v1_nearest", x, [8, 3], "Interpolate-1, nearest.", "nearest", "asymmetric",
                    "nearest")
    yield version_1("v1_linear", x, [8, 3], "Interpolate-1, linear on planes.", "linear",
                    "asymmetric", "linear_onnx")
    yield version_1("v1_linear_corners", x, [8, 3], "Interpolate-1, linear, align_corners.",
                    "linear", "align_corners", "linear_onnx", True)
    yield version_1("v1_cubic", x, [8, 3], "Interpolate-1, cubic.", "cubic", "asymmetric", "cubic")


# ---- GridSample ---------------------------------------------------------------------------------


def reflected(i, n, align_corners):
    if align_corners:
        period = 2 * (n - 1) or 1
        i = abs(i) % period
        return i if i < n else period - i
    i %= 2 * n
    return i if i < n else 2 * n - 1 - i


def element(plane, row, column, padding, align_corners):
    h, w = plane.shape
    if padding == "border":
        row, column = np.clip(row, 0, h - 1), np.clip(column, 0, w - 1)
    elif padding == "reflection":
        row, column = reflected(row, h, align_corners), reflected(column, w, align_corners)
    return plane[row, column] if 0 <= row < h and 0 <= column < w else 0


def sample(plane, x, y, mode, padding, align_corners):
    def take(row, column):
        return element(plane, row, column, padding, align_corners)

    if mode == "nearest":
        return take(int(np.rint(y)), int(np.rint(x)))
    left, top = math.floor(x), math.floor(y)
    if mode == "bilinear":
        across, down, first = [1 - (x - left), x - left], [1 - (y - top), y - top], 0
    else:
        across, down, first = cubic_weights(x - left, -0.75), cubic_weights(y - top, -0.75), -1
    return sum(v * u * take(top + first + j, left + first + i) for j, v in enumerate(down)
               for i, u in enumerate(across))


def grid_sample(name, x, grid, about, mode="bilinear", padding="zeros", align_corners=False,
                args=FLOAT, **more):
    wide, h, w = grid.astype(np.float32) + np.float32(1), np.float32(x.shape[2]), np.float32(
        x.shape[3])
    if align_corners:
        places = wide[..., 0] * (w - 1) / 2, wide[..., 1] * (h - 1) / 2
    else:
        places = (wide[..., 0] * w - 1) / 2, (wide[..., 1] * h - 1) / 2
    want = np.zeros(x.shape[:2] + grid.shape[1:3])
    for at in np.ndindex(want.shape):
        n, c, row, column = at
        want[at] = sample(np.float64(x[n, c]), float(places[0][n, row, column]),
                          float(places[1][n, row, column]), mode, padding, align_corners)
    return one_op("grid_sample", name, "GridSample", [x, grid], want.astype(x.dtype), about, 9,
                  EXACT if mode == "nearest" else args,
                  attrs={"mode": mode, "padding_mode": padding, "align_corners":
                         align_corners}, **more)


def grid_cases():
    g = rng("grid")
    x, grid = uniform(g, (2, 3, 4, 5), -4, 4), uniform(g, (2, 3, 4, 2), -2, 2)
    for mode in ("bilinear", "bicubic", "nearest"):
        for padding in ("zeros", "border", "reflection"):
            for corners in (False, True):
                yield grid_sample(f"{mode}_{padding}{'_corners' if corners else ''}", x, grid,
                                  f"{mode}, {padding}, align_corners {corners}.", mode, padding,
                                  corners)
    inside = np.float32([[[[-1, -1], [1, 1]], [[0, 0], [0.5, -0.25]]]])
    yield grid_sample("edges", x[:1], inside, "Corners and centre.", align_corners=True)
    yield grid_sample("many_points", x[:1], uniform(g, (1, 10, 17, 2), -1.2, 1.2), "170 points.")
    yield grid_sample("one_pixel", x[:, :, :1, :1], grid, "Planes of one element, reflected.",
                      padding="reflection", align_corners=True)
    yield grid_sample("f16", x.astype(np.float16),
                      np.clip(grid, -1, 1).astype(np.float16), "f16.", args=F16)
    yield grid_sample("dynamic", x, grid, "No dimension is known.", dynamic=True)
    yield error("grid_sample", "grid_shape", "GridSample", [x, grid[:1]],
                ["GridSample", "grid", "[1,3,4,2]", "[2,H_out,W_out,2]"],
                "A grid of another batch.", 9)


def cases():
    x = uniform(rng("images"), (1, 2, 5, 6), -3, 3)
    for make in (mode_cases, form_cases, version_1_cases):
        yield from make(x)
    yield from grid_cases()
