# BatchNormInference, MVN, NormalizeL2, GroupNormalization, LRN.
# SPDX-License-Identifier: Apache-2.0
import numpy as np

from . import departures
from .common import F64, rng, uniform
from .one_op import error, ints, one_op

FLOAT = "--atol 2e-6 --rtol 1e-5"


def wide(array):
    return array.astype(np.float64)


def along_channels(numbers, rank):
    return wide(numbers).reshape((-1,) + (1,) * (rank - 2))


# ---- BatchNormInference ----------------------------------------------------------------------


def batch_norm_case(name, x, about, v, epsilon=1e-3, args=FLOAT, **more):
    g, n = rng("batch_norm", name), x.shape[1]
    gamma, beta, mean = (uniform(g, n, -2, 2).astype(x.dtype) for _ in range(3))
    variance = uniform(g, n, 0.1, 3).astype(x.dtype)
    want = (wide(x) - along_channels(mean, x.ndim)) / np.sqrt(along_channels(variance, x.ndim) + epsilon)
    want = (want * along_channels(gamma, x.ndim) + along_channels(beta, x.ndim)).astype(x.dtype)
    inputs = [gamma, beta, x, mean, variance] if v < 5 else [x, gamma, beta, mean, variance]
    return one_op("batch_norm_inference", name, "BatchNormInference", inputs, want, about, v, args,
                  attrs={"epsilon": epsilon}, **more)


def batch_norm_cases():
    g = rng("batch_norm_data")
    x4 = uniform(g, (2, 3, 4, 5), -3, 3)
    for v in (1, 5):
        yield batch_norm_case(f"v{v}_images", x4, f"BatchNormInference-{v} of a batch of images.", v)
        yield batch_norm_case(f"v{v}_2d", uniform(g, (4, 7)), f"BatchNormInference-{v}, channels alone.", v, 0.5)
        yield batch_norm_case(f"v{v}_dynamic", x4[:, :, 0], "The batch and the length are not known.", v, dynamic=True)
    yield batch_norm_case("v5_f64", wide(x4), "In f64.", 5, args=F64, confirm_tolerance=(1e-6, 1e-5))
    yield batch_norm_case("v5_f16", x4.astype(np.float16), "In f16.", 5, args="--atol 2e-3 --rtol 2e-3")
    yield batch_norm_case("v5_5d", uniform(g, (1, 2, 2, 3, 2)), "Three spatial dimensions.", 5)
    one = np.ones(2, np.float32)
    yield error("error_op", "batch_norm_channels", "BatchNormInference", [x4, one, one, one, one],
                ["input 1 (gamma) is f32 [2], expected a number for each of 3 channels"],
                "As many numbers as there are channels.", 5, attrs={"epsilon": 1e-3})


# ---- MVN, NormalizeL2 ------------------------------------------------------------------------


def normalize(x, axes, variance, eps, mode="inside_sqrt"):
    centered = wide(x) - wide(x).mean(axis=axes, keepdims=True)
    if not variance:
        return centered.astype(x.dtype)
    spread = np.mean(centered**2, axis=axes, keepdims=True)
    return (centered / (np.sqrt(spread + eps) if mode == "inside_sqrt" else np.sqrt(spread) + eps)).astype(x.dtype)


def mvn_1_case(name, x, about, across, variance=True, eps=1e-9, args=FLOAT, v=2, **more):
    axes = tuple(range(1 if across else 2, x.ndim))
    return one_op("mvn", name, "MVN", [x], normalize(x, axes, variance, eps), about, v, args,
                  attrs={"across_channels": across, "normalize_variance": variance, "eps": eps}, **more)


def mvn_6_case(name, x, axes, about, variance=True, eps=1e-9, mode="inside_sqrt", args=FLOAT, axes_type=np.int64,
               **more):
    return one_op("mvn", name, "MVN", [x, ints(axes, axes_type)], normalize(x, tuple(np.ravel(axes)), variance, eps,
                                                                           mode),
                  about, 6, args, attrs={"normalize_variance": variance, "eps": eps, "eps_mode": mode}, **more)


def mvn_cases():
    g = rng("mvn")
    x = uniform(g, (2, 3, 4, 5), -3, 3)
    yield mvn_1_case("v1_channels", x, "MVN-1, each channel by itself.", False)
    yield mvn_1_case("v1_across", x, "MVN-1, across the channels.", True, eps=1e-2)
    yield mvn_1_case("v1_mean_only", x, "MVN-1, the mean alone.", False, False)
    yield mvn_1_case("v1_opset1", x[0], "MVN labelled opset1, as old writers do.", True, v=1)
    yield mvn_6_case("v6_last", x, [-1], "MVN-6 along the last axis: layer normalisation.", eps=1e-5)
    yield mvn_6_case("v6_outside", x, [2, 3], "eps is added to the root.", eps=0.1, mode="outside_sqrt",
                     axes_type=np.int32)
    yield mvn_6_case("v6_first", x, [0], "Along the first axis: slices lie apart.", eps=1e-3)
    yield mvn_6_case("v6_split", x, [1, 3], "Axes that do not stand together.", eps=1e-3)
    yield mvn_6_case("v6_mean_only", x, [1, 2, 3], "The mean alone.", False)
    yield mvn_6_case("v6_dynamic", x, [-1], "No dimension is known.", eps=1e-5, dynamic=(0,))
    yield mvn_6_case("v6_far_from_zero", (x * 1e-2 + 1000).astype(np.float32), [-1],
                     "A small variance far from zero: the squares of deviations are summed.", eps=1e-9,
                     args="--atol 1e-5 --rtol 1e-4", confirm_tolerance=(5e-2, 5e-2))
    yield mvn_6_case("v6_f64", wide(x), [1, 2], "In f64.", args=F64, confirm_tolerance=(1e-5, 1e-5))
    yield mvn_6_case("v6_f16", x.astype(np.float16), [3], "In f16.", eps=1e-3, args="--atol 2e-3 --rtol 2e-3")
    yield error("error_op", "mvn_axis", "MVN", [x, ints([4])], ["axis 4 is outside -4 ... 3"], "An axis that is not there.",
                6, attrs={"normalize_variance": True, "eps": 1e-3, "eps_mode": "inside_sqrt"})


def normalize_l2_case(name, x, axes, about, eps=1e-3, mode="add", args=FLOAT, want=None, **more):
    if want is None:
        squares = np.sum(wide(x)**2, axis=tuple(np.ravel(axes).astype(int)), keepdims=True)
        want = wide(x) / np.sqrt(squares + eps if mode == "add" else np.maximum(squares, eps))
    return one_op("normalize_l2", name, "NormalizeL2", [x, ints(axes)], want.astype(x.dtype), about, 1, args,
                  attrs={"eps": eps, "eps_mode": mode}, **more)


def normalize_l2_cases():
    x = uniform(rng("normalize_l2"), (2, 3, 4, 5), -2, 2)
    small = (x * 1e-3).astype(np.float32)
    yield normalize_l2_case("channels", x, [1], "Along the channels.")
    yield normalize_l2_case("channels_and_space", x, [1, 2, 3], "Along all but the batch.")
    yield normalize_l2_case("last_max", small, [-1], "eps is the least that the sum counts.", 1e-4, "max")
    yield normalize_l2_case("last_add", small, [3], "eps is added to the sum.", 1e-4, "add")
    yield normalize_l2_case("axis_0d", x[0], 0, "The axis as one number.")
    yield normalize_l2_case("dynamic", x, [1], "No dimension is known.", dynamic=True)
    yield normalize_l2_case("no_axes", np.float32([[-3, 4], [0, 0.25]]), np.int64([]),
                            "Without axes every element is divided by itself; 0 stays 0.",
                            want=np.float32([[1, 1], [0, 1]]))
    yield normalize_l2_case("no_axes_f64", np.float64([[-1e200, 1e200], [0, 0.25]]), np.int64([]),
                            "Without axes, of numbers whose squares are infinite in f64.", args="--atol 0 --rtol 0",
                            want=np.float64([[1, 1], [0, 1]]))


# ---- GroupNormalization, LRN -----------------------------------------------------------------


def group_case(name, x, groups, about, epsilon=1e-5, args=FLOAT, **more):
    g = rng("group_normalization", name)
    scale, bias = (uniform(g, x.shape[1], -2, 2).astype(x.dtype) for _ in range(2))
    grouped = x.reshape(x.shape[0], groups, -1)
    want = normalize(wide(grouped), (2,), True, epsilon).reshape(x.shape)
    want = want * along_channels(scale, x.ndim) + along_channels(bias, x.ndim)
    return one_op("group_normalization", name, "GroupNormalization", [x, scale, bias], want.astype(x.dtype), about, 12,
                  args, attrs={"num_groups": groups, "epsilon": epsilon}, **more)


def group_cases():
    x = uniform(rng("group_normalization"), (2, 6, 3, 4), -3, 3)
    yield group_case("two_groups", x, 2, "Two groups of three channels.")
    yield group_case("one_group", x, 1, "All channels together.", 0.1)
    yield group_case("as_many_as_channels", x[:, :, 0], 6, "Every channel by itself.")
    yield group_case("f64", wide(x), 3, "In f64.", args=F64, confirm_tolerance=(1e-5, 1e-5))
    yield group_case("dynamic", x, 3, "No dimension is known.", dynamic=(0,))
    yield error("error_op", "group_normalization_groups", "GroupNormalization",
                [x, np.ones(6, np.float32), np.zeros(6, np.float32)], ["num_groups is 4, which does not divide 6 channels"],
                "Groups of equal size.", 12, attrs={"num_groups": 4, "epsilon": 1e-5})


def lrn(x, axes, alpha, beta, bias, size):
    squares, reach = wide(x)**2, (size - 1) // 2
    for axis in axes:
        moved = np.moveaxis(squares, axis, 0)
        moved = np.stack([moved[max(0, i - reach):i + reach + 1].sum(0) for i in range(len(moved))])
        squares = np.moveaxis(moved, 0, axis)
    return (wide(x) / (bias + alpha / size**len(axes) * squares)**beta).astype(x.dtype)


def lrn_case(name, x, axes, about, alpha=0.5, beta=0.75, bias=1, size=3, args=FLOAT, **more):
    return one_op("lrn", name, "LRN", [x, ints(axes)], lrn(x, axes, alpha, beta, bias, size), about, 1, args,
                  attrs={"alpha": alpha, "beta": beta, "bias": bias, "size": size}, **more)


def lrn_cases():
    x = uniform(rng("lrn"), (2, 7, 4, 5), -2, 2)
    yield lrn_case("channels", x, [1], "Across channels.")
    yield lrn_case("channels_5", x, [1], "A region of 5.", 1e-1, 0.6, 1, 5)
    yield lrn_case("bias", x, [1], "Another bias than 1.", bias=2.5, openvino=departures.LRN_BIAS)
    yield lrn_case("even_size", x, [1], "An even size reaches as far as the odd one below it.", size=4)
    yield lrn_case("space", x, [2, 3], "Within a channel.", size=3)
    yield lrn_case("wider_than_data", x[:, :3], [1], "A region wider than there are channels.", size=9)
    yield lrn_case("f64", wide(x), [1], "In f64.", args=F64, confirm_tolerance=(1e-5, 1e-5))
    yield lrn_case("dynamic", x, [1], "No dimension is known.", dynamic=(0,))


def cases():
    for make in (batch_norm_cases, mvn_cases, normalize_l2_cases, group_cases, lrn_cases):
        yield from make()
