# ConvolutionBackpropData, GroupConvolutionBackpropData.
# SPDX-License-Identifier: Apache-2.0
import numpy as np

from .common import F16, F64, rng, uniform
from .one_op import Const, error, ints, one_op

FLOAT = "--atol 2e-6 --rtol 1e-5"


def transpose_convolve(x, w, strides, begin, sizes, dilations):
    """x [N,C,*spatial], w [C,O,*kernel] -> [N,O,*sizes]: every input element spreads the kernel."""
    rank, kernel = x.ndim - 2, w.shape[2:]
    full = [s * (n - 1) + d * (k - 1) + 1 for s, n, d, k in zip(strides, x.shape[2:], dilations, kernel)]
    room = [max(f, b + size) for f, b, size in zip(full, begin, sizes)]
    y = np.zeros((x.shape[0], w.shape[1], *room), x.dtype)
    for at in np.ndindex(*x.shape[2:]):
        cut = tuple(
            slice(at[k] * strides[k], at[k] * strides[k] + dilations[k] * (kernel[k] - 1) + 1, dilations[k])
            for k in range(rank))
        y[(slice(None), slice(None), *cut)] += np.tensordot(x[(slice(None), slice(None), *at)], w, 1)
    return y[(slice(None), slice(None), *(slice(b, b + size) for b, size in zip(begin, sizes)))]


def backprop_case(name, x, w, about, strides=None, begin=None, end=None, dilations=None, padding=None,
                  auto_pad="explicit", sizes=None, groups=0, args=FLOAT, shape_input=None, constant=False, **more):
    rank = x.ndim - 2
    strides, dilations = strides or [1] * rank, dilations or [1] * rank
    begin, end, padding = begin or [0] * rank, end or [0] * rank, padding or [0] * rank
    kernel = w.shape[w.ndim - rank:]
    full = [s * (n - 1) + d * (k - 1) + 1 + p
            for s, n, d, k, p in zip(strides, x.shape[2:], dilations, kernel, padding)]
    attrs = {"strides": strides, "dilations": dilations, "pads_begin": begin, "pads_end": end,
             "auto_pad": auto_pad, "output_padding": padding}
    if auto_pad != "explicit":
        begin, end = [0] * rank, [0] * rank
    if sizes is None:
        sizes_now = [f - b - e for f, b, e in zip(full, begin, end)]
    else:
        sizes_now, cut = sizes, [max(f - s, 0) for f, s in zip(full, sizes)]
        if auto_pad.startswith("same"):
            begin = [c - c // 2 if auto_pad == "same_upper" else c // 2 for c in cut]
    wide = (lambda a: a.astype(np.float64)) if x.dtype.kind == "f" else (lambda a: a)
    parts = [(x, w)] if not groups else list(zip(np.split(x, groups, axis=1), w))
    want = np.concatenate([transpose_convolve(wide(p), wide(q), strides, begin, sizes_now, dilations)
                           for p, q in parts], axis=1).astype(x.dtype)
    inputs = [x, Const(w) if constant else w]
    if sizes is not None:
        inputs.append(shape_input(sizes) if shape_input else ints(sizes))
    return one_op("group_convolution_backprop_data" if groups else "convolution_backprop_data", name,
                  "GroupConvolutionBackpropData" if groups else "ConvolutionBackpropData", inputs, want, about,
                  args=args, attrs=attrs, **more)


def plain_cases():
    g = rng("convolution_transposed")

    def w(*shape):
        return uniform(g, shape, -0.5, 0.5)
    x1, x2, x3 = uniform(g, (2, 3, 7)), uniform(g, (1, 5, 4, 6)), uniform(g, (1, 2, 3, 2, 4))
    yield backprop_case("conv1d", x1, w(3, 4, 3), "1-D, stride 1.")
    yield backprop_case("conv1d_stride", x1, w(3, 2, 4), "1-D, stride 3: the kernels overlap by one.", [3])
    yield backprop_case("conv1d_gaps", x1, w(3, 2, 2), "1-D, stride 4: zeros where no kernel reaches.", [4])
    yield backprop_case("conv1d_pads_dilation", x1, w(3, 2, 3), "1-D, pads 2 and 1, dilation 2.", [2], [2], [1], [2])
    yield backprop_case("conv1d_output_padding", x1, w(3, 2, 3), "output_padding adds at the end.", [2], [1], [1],
                        padding=[1])
    yield backprop_case("conv2d", x2, w(5, 3, 3, 2), "2-D, enough channels for products.", [2, 1], [1, 0], [0, 1])
    yield backprop_case("conv2d_dilated", x2, w(5, 2, 2, 3), "2-D, dilation 2x3, stride 3x2.", [3, 2],
                        dilations=[2, 3])
    yield backprop_case("conv2d_large", uniform(g, (1, 33, 17, 19)), w(33, 9, 3, 3),
                        "2-D with so many positions that they are worked on piece by piece.", [2, 2], [1, 1], [1, 1],
                        padding=[1, 1], args="--atol 5e-6 --rtol 1e-5")
    yield backprop_case("conv3d", x3, w(2, 2, 2, 3, 2), "3-D.", [2, 1, 2], [1, 1, 0], [0, 1, 1])
    yield backprop_case("valid", x2, w(5, 2, 3, 3), "auto_pad valid ignores the pads written.", [2, 2], [1, 1], [1, 1],
                        auto_pad="valid")
    yield backprop_case("same_without_shape", x2, w(5, 2, 3, 3), "auto_pad same without an output shape: no pads.",
                        [2, 2], [1, 1], [1, 1], auto_pad="same_upper")
    yield backprop_case("shape_same_upper", x1, w(3, 2, 4), "same_upper: the odd element is cut at the start.", [2],
                        auto_pad="same_upper", sizes=[13])
    yield backprop_case("shape_same_lower", x1, w(3, 2, 4), "same_lower: the odd element is cut at the end.", [2],
                        auto_pad="same_lower", sizes=[13], padding=[1])
    yield backprop_case("shape_explicit", x1, w(3, 2, 4), "With an output shape pads_begin still counts.", [2], [2],
                        [1], sizes=[13])
    yield backprop_case("shape_larger", x2, w(5, 2, 3, 3), "An output larger than what is reached.", [2, 2],
                        auto_pad="same_upper", sizes=[12, 14])
    yield backprop_case("dynamic", x2, w(5, 2, 3, 3), "No dimension is known.", [2, 2], [1, 1], [1, 1], dynamic=(0,))
    yield backprop_case("f16", x1.astype(np.float16), w(3, 2, 3).astype(np.float16), "In f16.", [2], args=F16)
    yield backprop_case("f64", x1.astype(np.float64), g.uniform(-1, 1, (3, 2, 3)), "In f64.", [2], args=F64,
                        confirm_tolerance=(1e-6, 1e-5))
    yield error("error_op", "backprop_channels", "ConvolutionBackpropData", [x1, w(4, 2, 3)],
                ["input 1 (filters) is f32 [4,2,3], expected filters for 3 input channels"],
                "The filters are for another number of channels.",
                attrs={"strides": [1], "dilations": [1], "pads_begin": [0], "pads_end": [0]})
    yield error("error_op", "backprop_pads", "ConvolutionBackpropData", [x1, w(3, 2, 3)],
                ["pads of 9 and 9 leave nothing of an output of 9"], "The pads are larger than the output.",
                attrs={"strides": [1], "dilations": [1], "pads_begin": [9], "pads_end": [9]})


def group_cases():
    g = rng("group_convolution_transposed")
    x1, x2 = uniform(g, (2, 6, 5)), uniform(g, (1, 10, 4, 3))
    yield backprop_case("depthwise_1d", x1, uniform(g, (6, 1, 1, 4)), "One channel a group.", [2], [1], [1], groups=6)
    yield backprop_case("groups_1d", x1, uniform(g, (2, 3, 2, 3)), "Two groups of three channels.", [2], groups=2)
    yield backprop_case("groups_2d", x2, uniform(g, (2, 5, 3, 2, 3)), "Two groups by products.", [2, 2], [0, 1], [1, 0],
                        padding=[1, 0], groups=2)
    yield backprop_case("groups_3d", uniform(g, (1, 4, 2, 3, 2)), uniform(g, (2, 2, 1, 2, 2, 2)), "3-D.", [1, 2, 1],
                        groups=2)
    yield backprop_case("shape_same_lower", x1, uniform(g, (3, 2, 2, 3)), "With an output shape.", [3], groups=3,
                        auto_pad="same_lower", sizes=[14])


def constant_cases():
    """Filters that are constants, and may be rearranged while planning."""
    g = rng("convolution_transposed", "constant")

    def case(name, x, w, about, *more, **keys):
        return backprop_case(f"constant_{name}", uniform(g, x), uniform(g, w, -0.5, 0.5), about, *more, constant=True,
                             **keys)
    yield case("1d", (2, 3, 40), (3, 5, 8), "A stride that divides the kernel.", [4])
    yield case("1d_long", (1, 17, 20), (17, 1, 40), "A frame for every position, as an inverse STFT has them.", [16], [8],
               [8])
    yield case("1d_gaps", (1, 3, 9), (3, 2, 2), "A stride larger than the kernel: some outputs are zero.", [5], padding=[3])
    yield case("1d_dilated", (1, 4, 30), (4, 6, 3), "A dilation.", [2], dilations=[3])
    yield case("2d", (1, 8, 9, 11), (8, 13, 4, 4), "Upsampling by two.", [2, 2], [1, 1], [1, 1])
    yield case("2d_pads", (2, 5, 8, 7), (5, 3, 3, 5), "Other strides and pads along each dimension.", [3, 1], [2, 0],
               [0, 3], padding=[1, 0])
    yield case("2d_shape", (1, 4, 10, 6), (4, 2, 3, 3), "An output shape that is cut at both ends.", [2, 2],
               auto_pad="same_upper", sizes=[19, 12])
    yield case("pointwise", (1, 6, 9, 9), (6, 7, 1, 1), "One kernel element.")
    yield case("3d", (1, 3, 4, 5, 6), (3, 4, 2, 3, 2), "3-D.", [1, 2, 2], [0, 1, 0], [1, 1, 0])
    yield case("groups", (1, 6, 9, 8), (3, 2, 4, 3, 3), "Three groups.", [2, 2], [1, 1], [1, 1], groups=3)
    yield case("depthwise", (2, 5, 33), (5, 1, 1, 6), "One channel a group.", [3], groups=5)
    yield backprop_case("constant_f16", uniform(g, (1, 4, 20)).astype(np.float16),
                        uniform(g, (4, 3, 4)).astype(np.float16), "In f16.", [2], args=F16, constant=True)
    yield backprop_case("constant_huge_strides", uniform(g, (1, 4, 1, 1)), uniform(g, (4, 4, 3, 3)),
                        "Strides whose product overflows, on an input of one element.", [1 << 32, 1 << 32],
                        constant=True, openvino="Its strides have 32 bits.", runs_openvino=False)


def cases():
    yield from plain_cases()
    yield from constant_cases()
    yield from group_cases()
