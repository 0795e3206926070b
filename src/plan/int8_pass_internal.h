/* Shared by the files of the pass that inserts int8 ops. The format of a value is its quantization
 * to u8 (struct quantize_u8_attrs); its bytes are its u8 form.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_PLAN_INT8_PASS_INTERNAL_H
#define IRRUN_PLAN_INT8_PASS_INTERNAL_H

#include <string.h>

#include "ops/int8_ops.h"
#include "plan/graph_edit.h"
#include "plan/int8_match.h"
#include "plan/model.h"
#include "plan/passes.h"

/* The dimensions of a value that is an image. */
struct int8_image {
    size_t n_channels;  /* 0: the dimensions are unknown */
    uint32_t n_spatial; /* number of spatial dimensions */
};

struct int8_pass {
    struct model finder; /* finds constants, in memory that is freed after the pass */
    struct graph *graph;
    struct graph_edit edit;
    struct arena *arena;
    uint32_t n_values;         /* number of values before the pass */
    uint32_t *u8_rows;         /* [n_values] the u8 form of a value for products; NO_ID: none */
    uint32_t *u8_images;       /* [n_values] its u8 form with the channels last; NO_ID: none */
    uint32_t *n_uses;          /* [n_values] number of inputs that read a value */
    uint32_t *user;            /* [n_values] the last op that reads a value */
    struct int8_image *images; /* [n_values] */
    struct remarks *remarks;
    struct irrun_error *err;
};

/* Returns the u8 forms of all values: as images if n_spatial is not 0, otherwise as rows. */
static inline uint32_t *int8_u8_forms(const struct int8_pass *pass, uint32_t n_spatial)
{
    return n_spatial > 0 ? pass->u8_images : pass->u8_rows;
}

/* Adds an op with one input, and the name and place of op `like_id`. Returns its id. */
static inline uint32_t int8_add_op(struct int8_pass *pass, const struct op_def *def,
                                   const void *attrs, uint32_t like_id, uint32_t in)
{
    const struct op like = pass->graph->ops[like_id];
    return graph_edit_add(&pass->edit, def, attrs, &like, &in, 1, 1);
}

/* Like int8_floats, but returns NULL for a value that the pass added. */
const struct irrun_tensor *int8_find_floats(struct int8_pass *pass, uint32_t value_id);

/* Finds the ranges of a FakeQuantize that has one range, or one for each channel, and at most 256
 * levels. With one range, n_spatial is 0. */
bool int8_find_ranges(struct int8_pass *pass, const struct op *op,
                      struct quantize_u8_attrs *format);

/* Finds the format of a value that exists as u8 or can be converted to u8 exactly. The value is the
 * result of a FakeQuantize, or ops such as Split, Broadcast and Concat have moved its elements from
 * FakeQuantize results that have the same range. For moved elements, n_spatial is 0. */
bool int8_find_format(struct int8_pass *pass, uint32_t value_id, struct quantize_u8_attrs *format);

/* Returns the value that must be quantized to get the u8 form of `value_id`: the input of its
 * FakeQuantize, or the value itself. */
uint32_t int8_find_source(const struct int8_pass *pass, uint32_t value_id);

/* Returns a format in the arena of the graph, for the attributes of a conversion; NULL with *err
 * filled on failure. */
const struct quantize_u8_attrs *
int8_keep_format(struct int8_pass *pass, const struct channel_ranges *ranges, uint32_t n_spatial);

/* Returns whether a tensor has one element, or one per channel along dimension `from_end` from the
 * end. Broadcasting the tensor must not add a dimension to an image; a product may gain dimensions
 * (rank_min in int8_ops.h). */
bool int8_is_for_channels(const struct irrun_tensor *tensor, size_t n_channels, uint32_t from_end);

/* Matches an Add of a bias after match->out. */
void int8_match_bias(struct int8_pass *pass, struct int8_match *match);

/* Matches the ops that follow match->out: ReLU or Clamp; a normalization or activation; and
 * FakeQuantize. */
void int8_match_following_ops(struct int8_pass *pass, struct int8_match *match);

/* Replaces the matched ops with an int8 op. Returns false with *err filled on failure. */
bool int8_replace(struct int8_pass *pass, const struct int8_match *match);

/* Sets the dimensions of an op's output from those of its inputs, if they are images. int8_replace
 * sets the dimensions of the output that it replaces. */
void int8_find_image(struct int8_pass *pass, const struct op *op);

/* Returns the quantization of a value that exists as u8, or NULL. */
const struct quantize_u8_attrs *int8_find_bytes(const struct int8_pass *pass, uint32_t value_id);

/* Makes the output of `added` the u8 form of the value `out`. A conversion computes `out` for the
 * ops that read f32. */
void int8_take_over(struct int8_pass *pass, uint32_t out, uint32_t added,
                    const struct quantize_u8_attrs *attrs);

/* Returns the number of channels of an image with n_spatial dimensions, or 0 if it is unknown. */
size_t int8_count_channels(const struct int8_pass *pass, uint32_t value_id, uint32_t n_spatial);

/* Replaces a ReduceMax or ReduceMean over the pixels with an op on u8 if possible. Returns false
 * with *err filled on failure. */
bool int8_replace_reduce(struct int8_pass *pass, uint32_t op_id);

/* Replaces a Multiply of an image by computed numbers, one per channel, with an op on u8 if
 * possible. image: which input is the image, 0 or 1. Returns false with *err filled on failure. */
bool int8_replace_scale(struct int8_pass *pass, uint32_t op_id, uint32_t image);

/* Returns whether an op has a form for u8 values: MaxPool, Pad, Concat, Add, Multiply, ReduceMax
 * and ReduceMean. */
bool int8_is_chain_op(const struct op *op);

/* Replaces an op for which int8_is_chain_op is true with its form for u8 values if its inputs are
 * u8. Returns false with *err filled on failure. */
bool int8_replace_chain_op(struct int8_pass *pass, uint32_t op_id);

#endif
