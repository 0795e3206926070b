/* For ops with index tensors: views a tensor along an axis, checks indices and converts them to
 * offsets into the data.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_OPS_INDEXING_H
#define IRRUN_OPS_INDEXING_H

#include "ops/op.h"

/* The dimensions of a tensor before an axis, at it, and after it: [n_outer][n][n_inner]. */
struct axis_view {
    int64_t n_outer, n, n_inner;
};

struct axis_view axis_view_of(const struct irrun_shape *shape, uint32_t axis);

/* Checks the type of an output that holds indices: it must be i32 or i64. */
bool infer_index_type(struct infer *infer, const char *attribute, enum irrun_dtype dtype);

/* A list of n indices or offsets. `resolve` checks the elements of an index tensor and computes the
 * items from them; if it is NULL, the items are the elements. If the tensor is constant, prepare
 * fills the list, and the data of the tensor is NULL in run; otherwise every run fills the list, in
 * scratch memory. */
typedef bool index_resolve_fn(const struct step *step, int64_t *items, struct irrun_error *err);
struct index_list {
    uint32_t input;
    size_t n;
    index_resolve_fn *resolve;
    const int64_t *items; /* NULL: not constant */
    size_t scratch_at;    /* if not constant: offset in the scratch memory, in bytes */
};

/* Returns whether an input is constant, so that prepare can read it. The data of a constant index
 * (op_input_is_index) is NULL in run. */
bool prepare_is_constant(const struct prepare *prepare, uint32_t input);

bool index_list_prepare(struct prepare *prepare, uint32_t input, size_t n,
                        index_resolve_fn *resolve, struct index_list *list);
/* Called by run. Returns the list, or NULL with *err filled if resolve fails. */
const int64_t *index_list_get(const struct step *step, const struct index_list *list,
                              struct irrun_error *err);
/* Returns a step that prepare can pass to resolve; only constant inputs have data. */
struct step prepare_step(const struct prepare *prepare);

/* Returns the index, counted from the end if it is negative; -1 if it is out of range. */
static inline int64_t index_normalize(int64_t index, int64_t dim)
{
    index += index < 0 ? dim : 0;
    return index >= 0 && index < dim ? index : -1;
}

/* Fails because element k of input `input`, an index along an axis of input 0, is outside low …
 * dim - 1. */
bool index_fail(const struct step *step, uint32_t input, size_t k, uint32_t axis, int64_t low,
                int64_t dim, struct irrun_error *err);
/* step_warn passes a warning to the warning function of the session, and does so only once.
 * step_can_warn returns whether there is a warning function that has not been called yet. Both are
 * defined in runtime/session.c. */
bool step_can_warn(const struct step *step);
void step_warn(const struct step *step, const struct irrun_error *warning);
/* Warns that element k of input 1, an index into dim slices, is out of range and gives zeros. */
void index_warn_zeros(const struct step *step, size_t k, int64_t dim);

/* For the next two structs, input 0 is the data and input 1 the indices. Each struct is the first
 * member of the state of its ops.
 *
 * Indices with the rank of the data. The index at [i, j, …] selects the element of the data at
 * [i, j, …], with the coordinate along `axis` replaced by the index. */
struct element_indices {
    uint32_t axis;
    int64_t axis_dim, axis_stride;
    struct irrun_shape shape;        /* of the indices */
    int64_t strides[IRRUN_MAX_RANK]; /* of the data; 0 along the axis */
};

/* Plans element indices. Along axes other than `axis`, no dimension of the indices may be larger
 * than that of the data. */
bool element_indices_plan(struct infer *infer, int64_t axis);
/* Sets offsets[k] to the byte offset in the data that index k selects. */
bool element_indices_resolve(const struct step *step, int64_t *offsets, struct irrun_error *err);

/* Indices whose last dimension is a tuple of coordinates of the data, for the axes from
 * n_batch_dims on. The first n_batch_dims dimensions are those of the data. */
struct tuple_indices {
    uint32_t n_batch_dims, n_axes;                         /* n_axes: length of a tuple */
    int64_t n_batches, n_tuples;                           /* n_tuples: per batch */
    int64_t n_slice;                                       /* elements selected by a tuple */
    int64_t dims[IRRUN_MAX_RANK], strides[IRRUN_MAX_RANK]; /* of the data, per tuple element */
    int64_t batch_stride;
};

bool tuple_indices_plan(struct infer *infer, int64_t n_batch_dims);
/* Sets offsets[k] to the byte offset in the data of the slice that tuple k selects. */
bool tuple_indices_resolve(const struct step *step, int64_t *offsets, struct irrun_error *err);

#endif
