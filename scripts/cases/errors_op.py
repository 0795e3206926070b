# Ops that must refuse their inputs, and what the message must hold: indices that are outside name
# the element and the axis, conflicts of shapes both producers with their lines, types those that
# the op takes.
# SPDX-License-Identifier: Apache-2.0
import numpy as np

from .one_op import Const, error, ints

X34 = np.ones((3, 4), np.float32)
BOX = {"strides": "1,1", "pads_begin": "0,0", "pads_end": "0,0", "dilations": "1,1",
       "auto_pad": "explicit"}
NUMPY = {"auto_broadcast": "numpy"}
MASKS = {"begin_mask": "0", "end_mask": "0", "new_axis_mask": "0", "shrink_axis_mask": "0",
         "ellipsis_mask": "0"}


def ones(*shape, dtype=np.float32):
    return np.ones(shape, dtype)


def producers(*at):
    """Where the inputs come from: (number, name of the layer, line)."""
    return [f'"{name}" (model.xml:{line}:3)' for name, line in at]


X0 = ("x0", 4)


def index_cases():
    """Found while running."""
    def wrong(name, op, inputs, stderr, about, v, **more):
        return error("error_index", name, op, inputs, [op] + stderr, about, v, **more)

    at = np.array
    yield wrong("gather_v1", "Gather", [X34, at([[0, 1], [3, 0]]), ints(0)],
                ["indices[1,0] is 3", "along axis 0"], "The first one after the end.", 1,
                attrs={})
    yield wrong("gather_v7_negative", "Gather", [X34, at([0, -5]), ints(1)],
                ["indices[1] is -5", "-4 ... 3", "along axis 1"], "Before the begin.", 7,
                attrs={"batch_dims": 0})
    yield wrong("gather_v7_batch", "Gather", [X34, at([[0], [1], [4]]), ints(1)],
                ["indices[2,0] is 4", "along axis 1"], "In the third batch.", 7,
                attrs={"batch_dims": 1})
    yield wrong("gather_elements", "GatherElements", [X34, at([[0, 1, 2, 9]])],
                ["indices[0,3] is 9", "-3 ... 2", "along axis 0"], "The last column.", 6,
                attrs={"axis": 0})
    yield wrong("gather_elements_u64", "GatherElements",
                [X34, at([[0, 1, 2, 2**64 - 1]], np.uint64)],
                ["indices[0,3]", "-3 ... 2", "along axis 0"], "2^64 - 1 is not -1.", 6,
                attrs={"axis": 0})
    yield wrong("gather_nd", "GatherND", [X34, at([[0, 3], [1, 4]])],
                ["indices[1,1] is 4", "along axis 1"], "The second coordinate of a tuple.", 8,
                attrs={"batch_dims": 0})
    yield wrong("scatter_update", "ScatterUpdate", [X34, at([0, 3]), ones(2, 4), ints(0)],
                ["indices[1] is 3", "0 ... 2", "along axis 0"], "One row too far.", 3)
    yield wrong("scatter_elements", "ScatterElementsUpdate",
                [X34, at([[0, 0, 0, -4]]), ones(1, 4), ints(0)],
                ["indices[0,3] is -4", "-3 ... 2", "along axis 0"], "Before the begin.", 12,
                attrs={"reduction": "sum", "use_init_val": True})
    yield wrong("scatter_nd", "ScatterNDUpdate", [X34, at([[0, 0], [3, 1]]), ones(2)],
                ["indices[1,0] is 3", "along axis 0"], "The first coordinate of a tuple.", 3)
    yield wrong("embedding_indices", "EmbeddingBagOffsetsSum", [X34, at([0, 7]), at([0, 1])],
                ["indices[1] is 7", "along axis 0", "emb_table"], "A row that is not there.", 3)
    yield wrong("embedding_first_index", "EmbeddingBagOffsetsSum",
                [X34, at([-4, 0]), at([0, 1])], ["indices[0] is -4", "-3 ... 2"],
                "The first index, before the begin.", 3)
    yield wrong("embedding_offsets", "EmbeddingBagOffsetsSum", [X34, at([0, 1]), at([0, 5])],
                ["offsets[1] is 5", "0 ... 2"], "A bag that begins after the indices.", 3)
    yield wrong("embedding_segments", "EmbeddingSegmentsSum",
                [X34, at([0, 1]), at([0, 4]), ints(2)],
                ["segment_ids[1] is 4", "0 ... 1"], "A segment that is not there.", 3)
    yield wrong("reverse_sequence", "ReverseSequence", [X34, at([1, 5, 1])],
                ["seq_lengths[1] is 5", "0 ... 4"], "Longer than the sequence.", 1,
                attrs={"batch_axis": 0, "seq_axis": 1})
    yield wrong("strided_slice", "StridedSlice", [X34, ints([7]), ints([8]), ints([1])],
                ["index 7", "dimension 0, which is 3"] + producers(X0),
                "A dimension is taken away at an index that it has not.", 1,
                attrs={**MASKS, "shrink_axis_mask": "1"})


def axis_cases():
    def wrong(name, op, inputs, axis, limits, v=1, **more):
        return error("error_axis", name, op, inputs, [op, f"axis {axis} ", limits] + producers(X0),
                     f"{op} along axis {axis} of two dimensions, and where they come from.", v,
                     **more)

    yield wrong("gather", "Gather", [X34, np.array([0]), ints(5)], 5, "-2 ... 1", 8,
                attrs={"batch_dims": 0})
    yield wrong("softmax", "SoftMax", [X34], 2, "-2 ... 1", 8, attrs={"axis": 2})
    yield wrong("reduce", "ReduceSum", [X34, ints([-3])], -3, "-2 ... 1",
                attrs={"keep_dims": True})
    yield wrong("reduce_twice", "ReduceSum", [X34, ints([1, -1])], 1, "twice",
                attrs={"keep_dims": True})
    yield wrong("squeeze", "Squeeze", [X34, ints([-3])], -3, "-2 ... 1")
    yield wrong("unsqueeze", "Unsqueeze", [X34, ints([3])], 3, "-3 ... 2")
    yield wrong("transpose_twice", "Transpose", [X34, ints([0, 0])], 0, "twice")
    yield wrong("cum_sum", "CumSum", [X34, ints(2)], 2, "-2 ... 1", 3)
    yield wrong("top_k", "TopK", [X34, ints(1)], 2, "-2 ... 1", 3, outs=2,
                attrs={"axis": 2, "mode": "max", "sort": "value", "index_element_type": "i32"})
    yield wrong("one_hot", "OneHot",
                [np.ones((3, ), np.int32), ints(3), Const(np.float32(1)), Const(np.float32(0))], 5,
                "-2 ... 1", attrs={"axis": 5})
    yield wrong("slice", "Slice", [X34, ints([0]), ints([1]), ints([1]), ints([2])], 2, "-2 ... 1",
                8)


def shape_cases():
    """Both sides of a conflict are named with their lines."""
    def wrong(name, op, inputs, stderr, about, v=1, **more):
        return error("error_shape", name, op, inputs, [op] + stderr, about, v, **more)

    two = producers(X0, ("x1", 13))
    yield wrong("matmul_batch", "MatMul", [ones(2, 3, 4), ones(3, 4, 5)],
                ["[3,4,5]", "[2,3,4]"] + producers(X0, ("x1", 14)), "Batches of 2 and 3.",
                attrs={"transpose_a": False, "transpose_b": False})
    yield wrong("concat_rank", "Concat", [X34, ones(3, 4, 1)], ["[3,4,1]", "[3,4]"] + two,
                "Two dimensions and three.", attrs={"axis": 0})
    yield wrong("concat_type", "Concat", [X34, ones(3, 4, dtype=np.int32)], ["i32", "f32"] + two,
                "f32 and i32.", attrs={"axis": 0})
    yield wrong("convolution_rank", "Convolution", [ones(1, 3, 5), Const(ones(4, 3, 3, 3))],
                ["expected 3 dimensions", "[4,3,3,3]", "[1,3,5]"] +
                producers(X0, ("Const_1", 14)), "1-D data, 2-D filters.", attrs=BOX)
    yield wrong("convolution_window", "Convolution",
                [ones(1, 3, 5, 6), Const(ones(4, 3, 3, 7))],
                ["a window of 7", "dimension 3, which is 6"] + producers(X0, ("Const_1", 15)),
                "The kernel is wider than the image.", attrs=BOX)
    yield wrong("group_convolution", "GroupConvolution",
                [ones(1, 4, 5, 5), Const(ones(3, 1, 1, 3, 3))],
                ["4 input channels", "[3,1,1,3,3]", "[1,4,5,5]"] +
                producers(X0, ("Const_1", 15)), "Three groups of one channel for four channels.",
                attrs=BOX)
    yield wrong("variadic_split", "VariadicSplit", [X34, ints(1), ints([1, 2])],
                ["3", "dimension 1", "4"] + producers(X0, ("Const_2", 19)), "1 + 2 is not 4.",
                outs=2)
    yield wrong("variadic_split_open", "VariadicSplit", [X34, ints(1), ints([-1, -1])],
                ["-1 twice"] + producers(X0, ("Const_2", 19)), "Two lengths are left open.", outs=2)
    yield wrong("variadic_split_beyond_counting", "VariadicSplit", [X34, ints(1), ints([2**63 - 1, 3])],
                ["split_lengths are too large"] + producers(X0), "Their sum is more than 2^63.",
                outs=2)
    yield wrong("reshape_zero", "Reshape", [X34, ints([1, 1, 0])],
                ["index 2", "2 dimensions"] + producers(X0, ("Const_1", 13)),
                "A dimension is to be copied that is not there.", attrs={"special_zero": True})
    yield wrong("broadcast", "Broadcast", [X34, ints([2, 5])],
                ["[3,4]", "[2,5]"] + producers(X0, ("Const_1", 13)), "[3,4] to [2,5].", 3,
                attrs={"mode": "numpy"})
    yield wrong("transpose_length", "Transpose", [X34, ints([0, 1, 2])],
                ["[3]", "[3,4]"] + producers(X0, ("Const_1", 13)), "Three axes of two dimensions.")
    yield wrong("scatter_updates", "ScatterUpdate",
                [X34, np.array([0, 1]), ones(2, 5), ints(0)],
                ["[2,5]", "[2,4]"] + producers(X0, ("x1", 13), ("x2", 21)),
                "Updates wider than the data.", 3)
    yield wrong("prelu", "PRelu", [X34, ones(3)], ["[3]", "[3,4]"] + two, "Three slopes.")
    yield wrong("eye_negative", "Eye", [np.array(-1), ints(3), ints(0)], ["-1"],
                "A matrix of -1 rows.", 9, attrs={"output_type": "f32"})


def type_cases():
    """The types that the op takes are listed."""
    def wrong(name, op, inputs, stderr, v=1, **more):
        return error("error_type", name, op, inputs, [op] + stderr + producers(X0),
                     "Its type, and those that the op takes.", v, **more)

    yes = ones(3, 4, dtype=np.bool_)
    floats, integers = "f16 f32 f64", "i8 i16 i32 i64 u8 u16 u32 u64"
    yield wrong("matmul_boolean", "MatMul", [yes, ones(4, 3, dtype=np.bool_)],
                ["boolean", floats], attrs={"transpose_a": False, "transpose_b": False})
    yield wrong("add_boolean", "Add", [yes, yes], ["boolean", floats, integers], attrs=NUMPY)
    yield wrong("logical_and_f32", "LogicalAnd", [X34, X34], ["f32", "takes here: boolean"],
                attrs=NUMPY)
    yield wrong("bitwise_and_f32", "BitwiseAnd", [X34, X34], ["f32", integers], 13, attrs=NUMPY)
    yield wrong("one_hot_f32", "OneHot",
                [ones(3), ints(3), Const(np.float32(1)), Const(np.float32(0))],
                ["f32", integers], attrs={"axis": -1})
    yield wrong("sqrt_boolean", "Sqrt", [yes], ["boolean", floats])
    yield wrong("softmax_i32", "SoftMax", [ones(3, 4, dtype=np.int32)], ["i32", floats], 8,
                attrs={"axis": 1})
    case = error("error_type", "gather_index_f32", "Gather", [X34, ones(2), ints(0)],
                 ["Gather", "indices", "f32", integers] + producers(("x1", 13)),
                 "Indices are integers.", 8, attrs={"batch_dims": 0})
    yield case


def attribute_cases():
    """Attributes that the specification requires, and numbers that it excludes."""
    def wrong(name, op, inputs, line, stderr, about, attrs, v=1, **more):
        return error("error_attribute", name, op, inputs, [f"model.xml:{line}:3: ", op] + stderr,
                     about, v, attrs=attrs, **more)

    yield wrong("concat_axis", "Concat", [X34, X34], 22, ["attribute axis is missing"],
                "OpenVINO takes 0.", {})
    mvn = {"normalize_variance": True, "eps": 1e-6, "eps_mode": "inside_sqrt"}
    for name in mvn:
        yield wrong(f"mvn_{name}", "MVN", [X34, ints([1])], 21, [f"attribute {name} is missing"],
                    "OpenVINO takes false, 1e-6 and inside_sqrt.",
                    {k: a for k, a in mvn.items() if k != name}, 6)
    bounds = [X34, ints([1]), ints([2]), ints([1])]
    for mask, number in (("begin_mask", 2), ("end_mask", -1), ("new_axis_mask", 2**32),
                         ("shrink_axis_mask", 256), ("ellipsis_mask", -2**63)):
        yield wrong(f"strided_slice_{mask}", "StridedSlice", bounds, 37,
                    [f"{mask} has {number}, expected 0 or 1"], "Masks are made of 0 and 1.",
                    {**MASKS, mask: number})
    image = ones(1, 1, 5, 5)
    pool = {"kernel": "2,3", "strides": "1,1", "pads_begin": "0,0", "pads_end": "0,0",
            "rounding_type": "floor", "auto_pad": "explicit"}
    yield wrong("max_pool_negative_pad", "MaxPool", [image], 15,
                ["pads of 0 and -1 in dimension 3, expected 0 ... 2"], "A pool cannot cut.",
                {**pool, "pads_end": "0,-1"})
    yield wrong("avg_pool_window_in_pads", "AvgPool", [image], 15,
                ["pads of 2 and 0 in dimension 2, expected 0 ... 1"],
                "The first windows hold nothing.", {**pool, "pads_begin": "2,0",
                                                    "exclude-pad": True})
    yield wrong("max_pool_dilated_window_in_pads", "MaxPool", [image], 15,
                ["pads of 0 and 5 in dimension 3, expected 0 ... 4"],
                "The last windows hold nothing.", {
                    **pool, "dilations": "1,2", "pads_end": "0,5", "index_element_type": "i64",
                    "axis": 0
                }, 8, outs=2)
    target = [X34, ints([2, 3, 4])]
    yield wrong("broadcast_axes_mapping", "Broadcast", target + [ints([1, 2])], 29,
                ["axes_mapping", "explicit"], "axes_mapping is for mode explicit.",
                {"mode": "numpy"}, 3)
    for name, axis in (("highest", 2**63 - 1), ("lowest", -2**63), ("two", 2)):
        yield wrong(f"broadcast_pdpd_{name}", "Broadcast", target, 21, [f"axis {axis}"],
                    "There is no such place in the target.",
                    {"mode": "pdpd", "mode.auto_broadcast_axis": axis}, 3)


def cases():
    for make in (index_cases, axis_cases, shape_cases, type_cases, attribute_cases):
        yield from make()
