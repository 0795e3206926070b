# Where OpenVINO's CPU device departs from its own specification, by subject. A case names its
# departure by the sentence; docs/openvino-departures.md is written from this list and the cases.
# SPDX-License-Identifier: Apache-2.0

NO_VARIABLES = "its CPU device does not support variables of f64, i16, u16, u32, i64 and u64."
FROM_PARAMETER = "an Assign fed directly by a Parameter makes the variable an alias of the input."
FROM_CONST = "it ignores an Assign fed by a Const; the variable keeps its initial value."
SHIFT_REGISTER = "a shift register (Slice, Concat with the input) returns uninitialised memory."
V3_ANCESTOR = "it requires the ReadValue of version 3 before its Assign."
TWO_READERS = "a second ReadValue of one variable fails at run time."
NO_ASSIGN = "a ReadValue without Assign fails at run time."
ASSIGN_FEEDS = "it does not compile an Assign whose output is used."
UNKNOWN_RANK_VARIABLE = "it does not compile a variable of unknown rank."
KNOWN_INTO_UNKNOWN = "it cannot assign a tensor of known shape to a variable of unknown shape."
BOOLEAN_VARIABLE = "it turns a boolean variable into u8, and Select's branches differ in type."
PACKED_VARIABLE = "a variable of u1 ends the process with SIGSEGV."
SLASH_ID = "it uses \"/id=\" internally, and loses a variable whose id contains it."

LENGTHS = "with a dynamic batch or time, it ignores sequence_lengths."
NO_ACTIVATIONS = "an absent or empty activations list is not replaced by the documented default."
NO_SEQUENCE_1 = "it does not read LSTMSequence of opset1 to 4."
NO_HARDSIGMOID = "it does not support hardsigmoid in recurrent ops."
QUANTISED_SEQUENCE = ("in f32 it does not fold a FakeQuantize of a sequence's weights, and "
                      "requires Consts.")
NO_BIAS = "it does not accept a cell without its optional B."
PEEPHOLES = "LSTMCell-1: it ignores P."
INPUT_FORGET = "LSTMCell-1: it ignores input_forget."
WEIGHTS_FORMAT = "LSTMCell-1: it ignores weights_format."
TIME_0 = "with no time steps, the last cell state is uninitialised memory."
ITERATED_TIME_0 = "with no time steps, the last states are uninitialised memory."

PDPD = "pdpd compiles only with axis -1."
SELECT_BITS = "it moves f64, i64 and u64 through f32 or i32, and bits are lost."
BYTES = "condition bytes from 128 on are false."

SLICE_START = "the start of a sliced input is ignored: it reads from index 0."
END_COUNT = ("with a non-negative end, it infers one iteration more than it runs, so shapes do "
             "not match.")
BACK_EDGES = "back edges are copied one after the other: the second reads what the first wrote."
NESTED_ITERATOR = "it does not accept a TensorIterator inside a TensorIterator."
FALSE_FUSION = "it mistakes a TensorIterator for a sequence op."
LOOP_0_CONST = "a Loop with a Const trip count of 0 ends the process with SIGFPE."
LOOP_0_LATER = "a Loop without iterations keeps the concatenated output of the previous run."
ONE_START = "two states of a TensorIterator that start from one port end the process with SIGSEGV."
OUTPUT_AXIS = "a negative axis of a concatenated output ends the process with SIGSEGV, or fails."
IF_RANKS = "it does not accept an If whose output has an unknown rank."

SATURATES = "arithmetic on i8 and u8 saturates."
NARROW = "f64 is computed as f32, i64 and u64 as i32."
TRUNCATES = "integer Divide truncates although m_pythondiv is true."
INTEGER_SUMS = "MatMul of integers is computed in f32."
COMPARES_F32 = "integers are compared as f32."
NAN_GREATER = "Greater and GreaterEqual are true where an operand is NaN."
NAN_CUT = "ReLU turns NaN into 0, and Clamp into its lower bound."
NAN_SECOND = "Maximum and Minimum return the second operand where the first is NaN."
JUST_BELOW = "Round half_away_from_zero rounds 0.49999997 to 1."
EXP_NAN = "Exp of NaN is infinite."
SOFT_PLUS = ("SoftPlus of negative numbers has few correct digits from -10 down, and is negative "
             "at -20.")
FLAT_HARD_SIGMOID = "HardSigmoid with alpha 0 is not beta."
RANGE_AWAY = "a Range whose step leads away from stop is not empty."
CONVERT_I32 = "Convert from f32 to i64 goes through i32."
CONVERT_PAIR = ("it drops a pair of Converts that returns to the first type, and so drops the "
                "rounding.")
NO_AXES = "it does not run a reduction over no axes."

ROLL_SHARED = "Roll requires one shift per axis."
NO_CUM_SUM_AXIS = "CumSum without its axis fails."
LAST_BAG = "an embedding bag may not begin where the indices end."
SCALES_OF_ROWS = "of compressed [K,N] weights, it mistakes scales [K,1] for scales of columns."
GATHER_U2 = "a Gather from u2 writes beyond its memory, and ends the process."
CACHE_BATCH = ("a cache that attention reads accepts only a beam_idx of its own batch size, from "
               "0 on.")
GATHER_OUTSIDE = ("Gather-8 from a compressed table reads outside the table for indices out of "
                  "range.")
SCALAR_INDEX = "ScatterUpdate does not accept a 0-D index."
MEAN_TRUNCATES = "ScatterElementsUpdate rounds the mean of integers toward zero."
MOVES_F64 = "GatherElements moves f64 through f32."
ANTIALIAS = "Interpolate: the mode linear with antialias gives different numbers."
INTEGER_PIXELS = "Interpolate rounds integers differently from its reference code."
SHIFT_MODULO = "shifts count modulo 32."

FAKE_QUANTIZE_PDPD = "FakeQuantize supports pdpd only where it is the same as numpy."
PDPD_BIAS = ("an Add of type pdpd after a quantised product is mistaken for its bias, along the "
             "columns.")
PDPD_CHANNELS = ("a constant of type pdpd after a convolution is mistaken for one number per "
                 "channel.")
LRN_BIAS = "LRN uses 1 as its bias."
FALSE_MVN = "it mistakes a written-out normalization for an MVN."
HIDDEN_KEYS = ("a query whose mask hides all keys gives NaN or, with a cache, the mean of the "
               "values.")
EINSUM_BLANKS = "Einsum does not accept blanks."
DFT_NO_AXES = "a DFT along no axes gives uninitialised memory."
DFT_F64 = "DFT does not accept f64."
RDFT_FILLED = "RDFT does not accept a signal that is longer than the data."
RDFT_WHOLE = "RDFT does not accept -1 as the size of a signal."
IRDFT_FILLED = "an IRDFT to a longer signal reads beyond its input."
ADAPTIVE_I64 = "AdaptiveMaxPool does not support indices of i64."
NO_COL2IM_ATTRIBUTES = "Col2Im without its attributes ends the process with SIGSEGV."

CONST_FROM_PORT = "it reads a Const whose type and shape are only in its port as empty."

# section -> [(departure, what the specification says)]
SECTIONS = {
    "State": [
        (FROM_PARAMETER,
         "ReadValue gives the value that was assigned in the previous iteration: a delay line."),
        (FROM_CONST, "After the first iteration the variable holds the Const."),
        (SHIFT_REGISTER, "The new frame is appended to what is left of the old ones."),
        (NO_VARIABLES, "ReadValue-6 names these types."),
        (BOOLEAN_VARIABLE, "A variable may be boolean."),
        (PACKED_VARIABLE, "u1 is in the list of variable types."),
        (UNKNOWN_RANK_VARIABLE, "variable_shape may relax the initial value's shape."),
        (KNOWN_INTO_UNKNOWN, "The assigned shape must be compatible with the variable's; it is."),
        (TWO_READERS, "All readers see the value from before the iteration."),
        (NO_ASSIGN, "A variable that was never assigned gives its initial value."),
        (ASSIGN_FEEDS, "Assign has an output, the assigned value."),
        (V3_ANCESTOR, "The specification of Assign-3 does not require this order."),
        (SLASH_ID, "variable_id is any non-empty string."),
        (CACHE_BATCH, "Gather-8 counts negative indices from the end, gives zeros out of range, and "
         "allows any number of rows."),
    ], "Recurrent ops": [
        (LENGTHS,
         "Beyond its length, a row is not read and Y is 0; its last states are those of its last step."
         ),
        (NO_ACTIVATIONS,
         "The defaults are sigmoid,tanh,tanh, sigmoid,tanh and tanh; the specification's own "
         "examples leave them out."), (NO_SEQUENCE_1, "LSTMSequence-1 is documented."),
        (NO_HARDSIGMOID, "The ops accept it with alpha and beta, by default 0.2 and 0.5."),
        (NO_BIAS, "B is optional in LSTMCell and GRUCell."), (PEEPHOLES, "P is the optional seventh input."),
        (INPUT_FORGET, "The input gate is 1 - f."),
        (WEIGHTS_FORMAT, "It names the order of the gates in W, R and B."),
        (TIME_0, "The last states are 0, as for a row of length 0."),
    ], "Select": [(PDPD, "else and cond are placed into then at the axis."),
                  (SELECT_BITS, "Select copies the chosen element."),
                  (BYTES, "Any byte but 0 is true."),],
    "TensorIterator, Loop, If": [
        (SLICE_START, "The first slice begins at start."),
        (END_COUNT,
         "end is exclusive, and the output has as many pieces as there were iterations."),
        (BACK_EDGES, "All states of the next iteration are those of the end of this one."),
        (FALSE_FUSION, "The body is computed as written."),
        (ITERATED_TIME_0, "The last states are the initial ones."),
        (NESTED_ITERATOR, "Bodies are models like any other."),
        (LOOP_0_CONST, "Without iterations, the last values are the initial ones."),
        (LOOP_0_LATER, "The concatenation of no iterations is empty."),
        (OUTPUT_AXIS, "Its own shape inference counts a negative axis from the end."),
        (IF_RANKS, "The branches' outputs may differ in shape."),
    ], "Arithmetic": [
        (NARROW, "The type is that of the operands."),
        (INTEGER_SUMS, "The type is that of the operands; sums wrap."),
        (SATURATES, "Its own reference code wraps around, as for wider types."),
        (TRUNCATES, "m_pythondiv is true by default: -7 / 2 is -4."),
        (COMPARES_F32, "16777216 and 16777217 differ."),
        (NAN_GREATER, "A comparison with NaN is false."),
        (NAN_CUT, "A comparison with NaN is false, so NaN is not clamped; the reference code keeps it."),
        (NAN_SECOND, "The reference code keeps a NaN in the first operand."),
        (JUST_BELOW, "The nearest integer is 0."), (EXP_NAN, "It is NaN."),
        (SOFT_PLUS, "It is positive, and about e^x there: models with selective scans add many of them."),
        (FLAT_HARD_SIGMOID, "It is beta everywhere, between 0 and 1."),
        (RANGE_AWAY, "There is no number between start and stop in that direction."),
        (CONVERT_I32, "i64 holds 10^10."), (CONVERT_PAIR, "Convert to f16 rounds."),
        (NO_AXES, "An empty list of axes leaves the input as it is."),
    ], "Indices and bags": [
        (MOVES_F64, "An op that moves elements keeps their bits."),
        (SCALAR_INDEX, "The specification's first example is a 0-D index."),
        (MEAN_TRUNCATES, "It is rounded down."),
        (ROLL_SHARED, "One shift applies to all axes."),
        (NO_CUM_SUM_AXIS, "The axis is optional, by default 0."),
        (LAST_BAG, "An offset may be as large as the number of indices: that bag is empty."),
        (ANTIALIAS, "The weights are written out in the specification of Interpolate-4."),
        (INTEGER_PIXELS, "Undefined; in the reference code, linear and the Pillow modes round to the nearest (Pillow axis by "
         "axis), the others toward zero."),
        (SHIFT_MODULO, "Undefined; in NumPy, all bits are shifted out."),
    ], "Nets and signals": [
        (FAKE_QUANTIZE_PDPD, "The bounds lie along the axes that begin with the given one."),
        (PDPD_BIAS, "The axis of the Add says along which axis the numbers lie."),
        (PDPD_CHANNELS, "The axis of the op says along which axis the numbers lie."),
        (LRN_BIAS, "The bias is an attribute."),
        (FALSE_MVN, "A mean that drops its axis, and a number of a higher rank, broadcast as in any other op."),
        (ADAPTIVE_I64, "It is the default type of the indices."),
        (NO_COL2IM_ATTRIBUTES, "Strides and dilations are 1 by default, pads are 0."),
        (DFT_NO_AXES, "Nothing is transformed."),
        (DFT_F64, "Any supported floating-point type."),
        (RDFT_FILLED, "The signal is padded with zeros."),
        (RDFT_WHOLE, "-1 is the size of the data."),
        (IRDFT_FILLED, "The signal is padded with zeros."),
        (HIDDEN_KEYS, "It gives zeros, as in PyTorch, where the op comes from. The formula of the specification "
         "gives NaN, which the next layer would spread to all tokens of a padded row."),
        (EINSUM_BLANKS, "ONNX and NumPy accept equations with blanks."),
    ], "Reading IR": [(CONST_FROM_PORT, "The first files of version 10 have this form."),],
}

HEAD = """# Where OpenVINO's CPU device departs from its own specification

<!-- Written by scripts/make_cases.py --departures. -->

irrun computes what OpenVINO's specification says. The CPU device of OpenVINO {version}, with the
precision hint f32, does not always do so. Below is every departure that our conformance cases show,
each with a case that shows it:

```sh
case=tests/cases/lstm_sequence/lengths_dynamic_time_forward
# irrun agrees with the golden
build/irrun $case/model.xml -i $case/in.npz --expect $case/out.npz $(cat $case/args)
# shows OpenVINO's numbers too; needs pip install openvino numpy
scripts/show_departure.py $case
```

The goldens are NumPy's, in float64 or exact, written from the specification. *Confirmed* says what
else gives the golden: OpenVINO's own reference code (`Model.evaluate`), or its CPU device with an
equivalent model (static shapes, the op written out in other ops, the default written down).
`scripts/make_cases.py` runs all cases again, and reports the departures that OpenVINO no
longer shows.

"""


COMMANDS = """    case=tests/cases/{folder}
    build/irrun $case/model.xml -i $case/in.npz --expect $case/out.npz $(cat $case/args)
    scripts/show_departure.py $case
"""


def sections_text(cases, version):
    """The document; cases: all Case objects, with reference_agrees set."""
    by_departure = {}
    for case in cases:
        if case.openvino:
            by_departure.setdefault(case.openvino, []).append(case)
    known = {sentence for entries in SECTIONS.values() for sentence, _ in entries}
    if known - set(by_departure):
        raise SystemExit(f"no case shows: {sorted(known - set(by_departure))}")
    others = [(sentence, "") for sentence in sorted(set(by_departure) - known)]
    lines = []
    for section, entries in [*SECTIONS.items(), ("Other ops", others)]:
        lines += [f"## {section}\n"] if entries else []
        for sentence, specified in entries:
            found = by_departure[sentence]
            first = next((c for c in found if c.stand_in), found[0])
            how = []
            if any(c.stand_in for c in found):
                how.append("an equivalent model")
            if any(c.reference_agrees for c in found):
                how.append("its reference code")
            folders = ", ".join(f"`{c.folder}`" for c in found[:6] if c is not first)
            more = f" and {len(found) - 6} more" if len(found) > 6 else ""
            lines.append(f"**{sentence[0].upper() + sentence[1:]}** {specified}".rstrip() +
                         (f" Confirmed by {' and '.join(how)}." if how else "") + "\n")
            lines.append(COMMANDS.format(folder=first.folder))
            if folders:
                lines.append(f"Also: {folders}{more}.\n")
    return HEAD.format(version=version) + "\n".join(lines)
