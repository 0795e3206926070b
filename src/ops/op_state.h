/* Attributes that the engine itself reads: those of inputs, constants, variables and of a few ops
 * that passes rewrite.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_OPS_OP_STATE_H
#define IRRUN_OPS_OP_STATE_H

#include "kernels/elementwise.h"
#include "ops/op.h"

#define AUTO_BROADCAST_CHOICES "none|numpy|pdpd|explicit"

struct parameter_attrs {
    enum irrun_dtype element_type;
    struct irrun_partial_shape shape;
};

struct concat_attrs {
    int64_t axis;
};

enum pad_mode { PAD_CONSTANT, PAD_EDGE, PAD_REFLECT, PAD_SYMMETRIC };

struct pad_attrs {
    int pad_mode; /* enum pad_mode */
    /* Set by passes: the data has the channels last, but pads_begin and pads_end list the channels
     * first. */
    bool channels_last;
    uint8_t value[8]; /* the pad value if there is no pad_value input */
};

struct convert_attrs {
    enum irrun_dtype destination_type;
};

/* A constant in the .bin, at any alignment; Consts may share bytes. `size` may be larger than the
 * shape needs. weights_open checks that the bytes are in the file. */
struct const_attrs {
    enum irrun_dtype element_type;
    struct irrun_shape shape;
    int64_t offset, size; /* in bytes */
};

struct read_value_attrs {
    const char *variable_id;
    enum irrun_dtype variable_type;            /* IRRUN_DYNAMIC if the layer has none */
    struct irrun_partial_shape variable_shape; /* any shape if the layer has none */
};

struct assign_attrs {
    const char *variable_id;
};

struct fake_quantize_attrs {
    int64_t levels;
    int auto_broadcast;
    int64_t axis; /* for pdpd */
};

struct matmul_attrs {
    bool transpose_a, transpose_b;
};

struct unary_attrs {
    double p[UNARY_N_PARAMETERS];    /* p0, p1 of elementwise.def */
    bool detect[UNARY_N_PARAMETERS]; /* p0, p1 of IsInf */
    int mode;                        /* of Round and Gelu */
};

/* Returns the operation that a unary op of elementwise.def computes: the one in its row, unless its
 * mode (Round, Gelu) or a missing beta (Swish) selects a different one. */
enum unary_operation unary_operation_of(const struct op_def *def, const void *op_attrs,
                                        uint32_t n_inputs);

struct binary_attrs {
    int auto_broadcast;
    int64_t axis;     /* for pdpd */
    bool m_pythondiv; /* Divide of integers: rounded toward minus infinity */
};

struct reduce_attrs {
    bool keep_dims;
    /* Set by a pass: the data has the channels last, but the axes count them as dimension 1. */
    bool channels_last;
};

enum mvn_eps_mode { EPS_INSIDE_SQRT, EPS_OUTSIDE_SQRT };

struct mvn_attrs {
    bool across_channels, normalize_variance;
    double eps;
    int eps_mode;
    bool keeps_mean;              /* op_norm: RMS normalization, which does not subtract the mean */
    struct irrun_shape broadcast; /* op_norm: all ones, so it only adds leading dimensions */
};

/* The attribute `mode` of Broadcast. */
enum broadcast_mode {
    BROADCAST_NUMPY,
    BROADCAST_NONE,
    BROADCAST_EXPLICIT,
    BROADCAST_PDPD,
    BROADCAST_BIDIRECTIONAL,
};

struct gather_attrs {
    int64_t batch_dims;
};

/* Returns a pointer to the value of an attribute, or NULL if the op does not have it. */
const void *op_attr(const struct op *op, const char *name);

#endif
