/* The models of test_plan_update.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_TESTS_PLAN_UPDATE_NETS_H
#define IRRUN_TESTS_PLAN_UPDATE_NETS_H

#include "ir_text.h"

#define CACHE "variable_type=\"f32\" variable_shape=\"1,2,?,16\"/>"
#define UNARY(id, name, type) LAYER(id, name, type, "opset1", INPUT(PORT("0")) OUTPUT(PORT("1")))
#define CONCAT(id, name, axis)                                                                     \
    LAYER(id, name, "Concat", "opset1",                                                            \
          "<data axis=\"" axis "\"/>" INPUT(PORT("0") PORT("1")) OUTPUT(PORT("2")))
#define ATTENTION(id, name)                                                                        \
    LAYER(id, name, "ScaledDotProductAttention", "opset13",                                        \
          "<data causal=\"false\"/>" INPUT(PORT("0") PORT("1") PORT("2")) OUTPUT(PORT("3")))

/* Two caches; each iteration appends x to the first and x twice to the second. The outputs are
 * functions of the attention over both, which are computed in one tensor, and the second cache. */
static const char caches[] =
    NET(LAYER("0", "x", "Parameter", "opset1",
              "<data shape=\"1,2,?,16\" element_type=\"f32\"/>" OUTPUT(PORT("0"))) /**/
        LAYER("1", "read", "ReadValue", "opset6",
              "<data variable_id=\"v\" " CACHE OUTPUT(PORT("0")))                            /**/
        CONCAT("2", "grow", "2")                                                             /**/
        LAYER("3", "keep", "Assign", "opset6", "<data variable_id=\"v\"/>" INPUT(PORT("0"))) /**/
        CONCAT("4", "twice", "2")                                                            /**/
        LAYER("5", "read2", "ReadValue", "opset6",
              "<data variable_id=\"w\" " CACHE OUTPUT(PORT("0")))                             /**/
        CONCAT("6", "grow2", "2")                                                             /**/
        LAYER("7", "keep2", "Assign", "opset6", "<data variable_id=\"w\"/>" INPUT(PORT("0"))) /**/
        ATTENTION("8", "attend") ATTENTION("9", "attend2") ADD("10", "sum")                   /**/
        UNARY("11", "relu", "Relu") UNARY("12", "tanh", "Tanh") CONCAT("13", "both", "0")     /**/
        RESULT("14", "y") RESULT("15", "cache"),
        EDGE("1", "0", "2", "0") EDGE("0", "0", "2", "1") EDGE("2", "2", "3", "0") /**/
        EDGE("0", "0", "4", "0") EDGE("0", "0", "4", "1")                          /**/
        EDGE("5", "0", "6", "0") EDGE("4", "2", "6", "1") EDGE("6", "2", "7", "0") /**/
        EDGE("0", "0", "8", "0") EDGE("2", "2", "8", "1") EDGE("2", "2", "8", "2") /**/
        EDGE("0", "0", "9", "0") EDGE("6", "2", "9", "1") EDGE("6", "2", "9", "2") /**/
        EDGE("8", "3", "10", "0") EDGE("9", "3", "10", "1")                        /**/
        EDGE("10", "2", "11", "0") EDGE("10", "2", "12", "0")                      /**/
        EDGE("11", "1", "13", "0") EDGE("12", "1", "13", "1")                      /**/
        EDGE("13", "2", "14", "0") EDGE("6", "2", "15", "0"));

#define MATRIX(id, name)                                                                           \
    LAYER(id, name, "Parameter", "opset1",                                                         \
          "<data shape=\"?,?\" element_type=\"i32\"/>" OUTPUT(PORT("0")))

/* y = -p + -q: the sum may reuse the memory of a term of its shape. z is the concatenation of -p
 * and |p|, which are computed in its memory if p has one row. */
static const char sums[] =
    NET(MATRIX("0", "p") MATRIX("1", "q")                                   /**/
        UNARY("2", "minus_p", "Negative") UNARY("3", "minus_q", "Negative") /**/
        ADD("4", "add") RESULT("5", "y") UNARY("6", "abs_p", "Abs")         /**/
        CONCAT("7", "both", "1") RESULT("8", "z"),
        EDGE("0", "0", "2", "0") EDGE("1", "0", "3", "0")                          /**/
        EDGE("2", "1", "4", "0") EDGE("3", "1", "4", "1") EDGE("4", "2", "5", "0") /**/
        EDGE("0", "0", "6", "0") EDGE("2", "1", "7", "0")                          /**/
        EDGE("6", "1", "7", "1") EDGE("7", "2", "8", "0"));

#define BROADCAST(id, name)                                                                        \
    LAYER(id, name, "Broadcast", "opset3",                                                         \
          "<data mode=\"numpy\"/>" INPUT(PORT("0") PORT("1")) OUTPUT(PORT("2")))

#define SPLIT(id, name)                                                                            \
    LAYER(id, name, "Split", "opset1",                                                             \
          "<data num_splits=\"2\"/>" INPUT(PORT("0") PORT("1")) OUTPUT(PORT("2") PORT("3")))

#define CONVERT(id, name, type)                                                                    \
    LAYER(id, name, "Convert", "opset1",                                                           \
          "<data destination_type=\"" type "\"/>" INPUT(PORT("0")) OUTPUT(PORT("1")))
#define MULTIPLY(id, name)                                                                         \
    LAYER(id, name, "Multiply", "opset1", INPUT(PORT("0") PORT("1")) OUTPUT(PORT("2")))

/* y = relu(p * (the shape of r)) has the shape of p for any r. Before and after the shape of r,
 * constants of the shape of q are computed; the first one is split along axis 1. */
static const char scaled[] =
    NET(PARAMETER("0", "p") MATRIX("1", "q") MATRIX("2", "r")                    /**/
        UNARY("3", "shape", "ShapeOf") UNARY("4", "rank", "ShapeOf")             /**/
        UNARY("5", "one", "ShapeOf") BROADCAST("6", "before")                    /**/
        SPLIT("7", "halves") UNARY("8", "sizes", "ShapeOf")                      /**/
        CONVERT("9", "factors", "f32") BROADCAST("10", "after")                  /**/
        MULTIPLY("11", "times") UNARY("12", "relu", "Relu") RESULT("13", "half") /**/
        RESULT("14", "other_half") RESULT("15", "y") RESULT("16", "filled"),
        EDGE("1", "0", "3", "0") EDGE("3", "1", "4", "0")    /**/
        EDGE("4", "1", "5", "0") EDGE("4", "1", "6", "0")    /**/
        EDGE("3", "1", "6", "1") EDGE("6", "2", "7", "0")    /**/
        EDGE("5", "1", "7", "1") EDGE("2", "0", "8", "0")    /**/
        EDGE("8", "1", "9", "0") EDGE("4", "1", "10", "0")   /**/
        EDGE("3", "1", "10", "1") EDGE("0", "0", "11", "0")  /**/
        EDGE("9", "1", "11", "1") EDGE("11", "2", "12", "0") /**/
        EDGE("7", "2", "13", "0") EDGE("7", "3", "14", "0")  /**/
        EDGE("12", "1", "15", "0") EDGE("10", "2", "16", "0"));

/* y = p * (the shape of q), in f16. */
static const char in_f16[] =
    NET(PARAMETER("0", "p") MATRIX("1", "q") UNARY("2", "shape", "ShapeOf")                  /**/
        CONVERT("3", "factors", "f16") CONVERT("4", "rounded", "f16") MULTIPLY("5", "times") /**/
        RESULT("6", "y"),
        EDGE("0", "0", "4", "0") EDGE("1", "0", "2", "0") EDGE("2", "1", "3", "0") /**/
        EDGE("4", "1", "5", "0") EDGE("3", "1", "5", "1") EDGE("5", "2", "6", "0"));

/* The halves of -x are views of it, and so is the output of DepthToSpace if x has one column. */
static const char viewed[] = NET(
    LAYER("0", "x", "Parameter", "opset1",
          "<data shape=\"1,4,1,?\" element_type=\"i32\"/>" OUTPUT(PORT("0")))     /**/
    UNARY("1", "minus", "Negative") UNARY("2", "shape", "ShapeOf")                /**/
    UNARY("3", "rank", "ShapeOf") UNARY("4", "one", "ShapeOf") SPLIT("5", "half") /**/
    UNARY("6", "upper", "Abs") UNARY("7", "lower", "Negative")                    /**/
    LAYER("8", "move", "DepthToSpace", "opset1",
          "<data block_size=\"2\" mode=\"depth_first\"/>" INPUT(PORT("0")) OUTPUT(PORT("1"))) /**/
    RESULT("9", "y0") RESULT("10", "y1") RESULT("11", "y2"),
    EDGE("0", "0", "1", "0") EDGE("0", "0", "2", "0") EDGE("2", "1", "3", "0") /**/
    EDGE("3", "1", "4", "0") EDGE("1", "1", "5", "0") EDGE("4", "1", "5", "1") /**/
    EDGE("5", "2", "6", "0") EDGE("5", "3", "7", "0") EDGE("1", "1", "8", "0") /**/
    EDGE("6", "1", "9", "0") EDGE("7", "1", "10", "0") EDGE("8", "1", "11", "0"));

/* y is x of the previous iteration, with at most ROWS_MAX rows. */
#define ROWS_MAX 12
static const char limited[] = NET(
    MATRIX("0", "x")
        LAYER("1", "read", "ReadValue", "opset6",
              "<data variable_id=\"v\" variable_type=\"i32\" variable_shape=\"0..12,2\"/>" OUTPUT(
                  PORT("0")))                                                            /**/
    LAYER("2", "keep", "Assign", "opset6", "<data variable_id=\"v\"/>" INPUT(PORT("0"))) /**/
    RESULT("3", "y"),
    EDGE("1", "0", "3", "0") EDGE("0", "0", "2", "0"));

/* y = x times the transposed cache, to which x was appended; w = -z. */
static const char squeezed[] =
    NET(LAYER("0", "x", "Parameter", "opset1",
              "<data shape=\"1,2,?,16\" element_type=\"f32\"/>" OUTPUT(PORT("0"))) /**/
        LAYER("1", "z", "Parameter", "opset1",
              "<data shape=\"?\" element_type=\"f32\"/>" OUTPUT(PORT("0"))) /**/
        LAYER("2", "read", "ReadValue", "opset6",
              "<data variable_id=\"v\" " CACHE OUTPUT(PORT("0")))                            /**/
        CONCAT("3", "grow", "2")                                                             /**/
        LAYER("4", "keep", "Assign", "opset6", "<data variable_id=\"v\"/>" INPUT(PORT("0"))) /**/
        UNARY("5", "keys", "Squeeze") UNARY("6", "queries", "Squeeze")                       /**/
        LAYER("7", "scores", "MatMul", "opset1",
              "<data transpose_b=\"true\"/>" INPUT(PORT("0") PORT("1")) OUTPUT(PORT("2"))) /**/
        UNARY("8", "minus_z", "Negative") RESULT("9", "y") RESULT("10", "w"),
        EDGE("2", "0", "3", "0") EDGE("0", "0", "3", "1") EDGE("3", "2", "4", "0") /**/
        EDGE("3", "2", "5", "0") EDGE("0", "0", "6", "0") EDGE("6", "1", "7", "0") /**/
        EDGE("5", "1", "7", "1") EDGE("1", "0", "8", "0") EDGE("7", "2", "9", "0") /**/
        EDGE("8", "1", "10", "0"));

/* y = -x in f16: both are converted. */
static const char halves[] =
    NET(LAYER("0", "x", "Parameter", "opset1",
              "<data shape=\"?\" element_type=\"f16\"/>" OUTPUT(PORT("0"))) /**/
        UNARY("1", "minus", "Negative") RESULT("2", "y"),
        EDGE("0", "0", "1", "0") EDGE("1", "1", "2", "0"));

#endif
