/* EmbeddingBagOffsetsSum-3, EmbeddingBagPackedSum-3, EmbeddingSegmentsSum-3, EmbeddingBagOffsets-15
 * and EmbeddingBagPacked-15: each output row is the sum or mean of a bag of table rows. The ops
 * differ in how they describe the bags.
 * SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "kernels/embedding.h"
#include "ops/indexing.h"

enum { TABLE, INDICES, SPLIT /* offsets or segment_ids */ };
#define ABSENT UINT32_MAX /* the op has no such input */

enum bag_form { BAG_OFFSETS, BAG_PACKED, BAG_SEGMENTS };

struct bag_attrs {
    int reduction; /* 1: mean */
};

struct bag_family {
    enum bag_form form;
    uint32_t default_index, weights; /* input indices; ABSENT: none */
};

struct bag_state {
    size_t n_bags, n_indices, row_elements;
    int64_t n_rows; /* rows of the table */
    struct index_list rows;
    struct index_list bounds; /* start of each bag, then end of the last bag; not for BAG_PACKED */
    struct index_list empty_row; /* the row for empty bags; -1: zeros */
};

static const struct attr_def attr_table[] = {
    ATTR_CHOICE(struct bag_attrs, reduction, "sum", "sum|mean"),
};

#define TABLE_AND_INDICES                                                                          \
    {"emb_table", .types = TYPES_NUMBER, .same = 1},                                               \
    {                                                                                              \
        "indices", .types = TYPES_INTEGER                                                          \
    }
#define DEFAULT_INDEX                                                                              \
    {                                                                                              \
        "default_index", .types = TYPES_INTEGER, .is_optional = true                               \
    }
#define WEIGHTS                                                                                    \
    {                                                                                              \
        "per_sample_weights", .types = TYPES_NUMBER, .same = 1, .is_optional = true                \
    }

static const struct op_input_def offsets_inputs[] = {
    TABLE_AND_INDICES, {"offsets", .types = TYPES_INTEGER}, DEFAULT_INDEX, WEIGHTS};
static const struct op_input_def packed_inputs[] = {TABLE_AND_INDICES, WEIGHTS};
static const struct op_input_def segments_inputs[] = {TABLE_AND_INDICES,
                                                      {"segment_ids", .types = TYPES_INTEGER},
                                                      {"num_segments", .types = TYPES_INTEGER},
                                                      DEFAULT_INDEX,
                                                      WEIGHTS};

static bool is_mean(const struct op *op)
{
    return ((const struct bag_attrs *)op->attrs)->reduction == 1;
}

static bool find_bags(struct infer *infer, const struct bag_family *family, int64_t *n_bags)
{
    const struct irrun_shape *indices = &infer->in[INDICES]->shape;
    uint32_t rank = family->form == BAG_PACKED ? 2 : 1;
    if (indices->rank != rank)
        return infer_fail_input(infer, INDICES, "%u dimensions", rank);
    *n_bags = indices->dims[0];
    if (family->form == BAG_PACKED)
        return true;
    const struct irrun_shape *split = &infer->in[SPLIT]->shape;
    if (split->rank != 1)
        return infer_fail_input(infer, SPLIT, "one dimension");
    if (family->form == BAG_OFFSETS) {
        *n_bags = split->dims[0];
        return true;
    }
    if (!shape_equals(split, indices)) {
        infer_fail_input(infer, SPLIT, "one number per index");
        return infer_hint_input(infer, INDICES);
    }
    if (!infer_int(infer, SPLIT + 1, n_bags))
        return false;
    return *n_bags >= 0 ||
           infer_fail(infer, "num_segments is %lld, expected 0 or more", (long long)*n_bags);
}

static bool infer(struct infer *infer)
{
    const struct bag_family *family = infer->op->def->family;
    struct bag_state *state = infer->state;
    struct irrun_shape out = infer->in[TABLE]->shape;
    int64_t n_bags = 0;
    if (out.rank == 0)
        return infer_fail_input(infer, TABLE, "at least one dimension");
    if (!find_bags(infer, family, &n_bags))
        return false;
    if (infer->n_inputs > family->default_index &&
        shape_n_elements(&infer->in[family->default_index]->shape) != 1)
        return infer_fail_input(infer, family->default_index, "one integer");
    if (infer->n_inputs > family->weights) {
        if (is_mean(infer->op))
            return infer_fail(infer, "has per_sample_weights, which reduction mean does not allow");
        if (!shape_equals(&infer->in[family->weights]->shape, &infer->in[INDICES]->shape)) {
            infer_fail_input(infer, family->weights, "the shape of the indices");
            return infer_hint_input(infer, INDICES);
        }
    }
    state->n_rows = out.dims[0];
    state->row_elements = (size_t)shape_product(&out, 1, out.rank);
    state->n_bags = (size_t)n_bags;
    state->n_indices = (size_t)shape_n_elements(&infer->in[INDICES]->shape);
    out.dims[0] = n_bags;
    return infer_output(infer, 0, infer->in[TABLE]->dtype, &out);
}

/* ---- indices ------------------------------------------------------------------------------ */

static bool resolve_rows(const struct step *step, int64_t *rows, struct irrun_error *err)
{
    const struct bag_state *state = step->state;
    const struct irrun_tensor *indices = step->in[INDICES];
    elements_as_i64(indices->dtype, indices->data, 0, state->n_indices, rows);
    for (size_t i = 0; i < state->n_indices; i++) {
        rows[i] = index_normalize(rows[i], state->n_rows);
        if (rows[i] < 0)
            return index_fail(step, INDICES, i, 0, -state->n_rows, state->n_rows, err);
    }
    return true;
}

static bool resolve_offsets(const struct step *step, int64_t *bounds, struct irrun_error *err)
{
    const struct bag_state *state = step->state;
    const struct irrun_tensor *split = step->in[SPLIT];
    int64_t min = 0, n = (int64_t)state->n_indices;
    elements_as_i64(split->dtype, split->data, 0, state->n_bags, bounds);
    bounds[state->n_bags] = n;
    for (size_t b = 0; b < state->n_bags; min = bounds[b++])
        if (bounds[b] < min || bounds[b] > n)
            return step_fail(step, err, IRRUN_DATA, "offsets[%zu] is %lld, outside %lld ... %lld",
                             b, (long long)bounds[b], (long long)min, (long long)n);
    return true;
}

/* Converts segment ids to bounds. The ids must be sorted and below num_segments. */
static bool resolve_segments(const struct step *step, int64_t *bounds, struct irrun_error *err)
{
    const struct bag_state *state = step->state;
    const struct irrun_tensor *split = step->in[SPLIT];
    int64_t n_bags = (int64_t)state->n_bags, bag = 0;
    bounds[0] = 0;
    for (size_t i = 0; i < state->n_indices; i++) {
        int64_t id = element_as_i64(split->dtype, split->data, i);
        if (id < bag || id >= n_bags)
            return step_fail(step, err, IRRUN_DATA,
                             "segment_ids[%zu] is %lld, outside %lld ... %lld", i, (long long)id,
                             (long long)bag, (long long)n_bags - 1);
        while (bag < id)
            bounds[++bag] = (int64_t)i;
    }
    while (bag < n_bags)
        bounds[++bag] = (int64_t)state->n_indices;
    return true;
}

static bool resolve_empty_row(const struct step *step, int64_t *row, struct irrun_error *err)
{
    const struct bag_state *state = step->state;
    uint32_t input = ((const struct bag_family *)step->op->def->family)->default_index;
    elements_as_i64(step->in[input]->dtype, step->in[input]->data, 0, 1, row);
    return (*row >= -1 && *row < state->n_rows) ||
           index_fail(step, input, 0, 0, -1, state->n_rows, err);
}

static bool prepare(struct prepare *prepare)
{
    const struct bag_family *family = prepare->op->def->family;
    struct bag_state *state = prepare->state;
    index_resolve_fn *bounds = family->form == BAG_OFFSETS ? resolve_offsets : resolve_segments;
    if (shape_n_elements(&prepare->out[0]->shape) == 0)
        return true;
    return (family->form == BAG_PACKED ||
            index_list_prepare(prepare, SPLIT, state->n_bags + 1, bounds, &state->bounds)) &&
           index_list_prepare(prepare, INDICES, state->n_indices, resolve_rows, &state->rows) &&
           (prepare->n_inputs <= family->default_index ||
            index_list_prepare(prepare, family->default_index, 1, resolve_empty_row,
                               &state->empty_row));
}

/* ---- run ---------------------------------------------------------------------------------- */

static void add_bag(const struct step *step, const int64_t *rows, size_t begin, size_t end,
                    char *to)
{
    const struct bag_family *family = step->op->def->family;
    const struct bag_state *state = step->state;
    const struct embedding_fns *fns = embedding_scalar(step->in[TABLE]->dtype);
    size_t n = state->row_elements;
    for (size_t i = begin; i < end; i++) {
        const void *weight =
            step->n_inputs > family->weights ? tensor_at(step->in[family->weights], i) : NULL;
        fns->add(to, tensor_at(step->in[TABLE], (size_t)rows[i] * n), weight, n);
    }
    if (is_mean(step->op))
        fns->divide(to, end - begin, n);
}

/* Sets *row to the table row for empty bags, which default_index selects. NULL means zeros: there
 * is no default_index, or it is -1. */
static bool find_empty_row(const struct step *step, const char **row, struct irrun_error *err)
{
    const struct bag_family *family = step->op->def->family;
    const struct bag_state *state = step->state;
    *row = NULL;
    if (step->n_inputs <= family->default_index)
        return true;
    const int64_t *index = index_list_get(step, &state->empty_row, err);
    if (index && *index >= 0)
        *row = tensor_at(step->in[TABLE], (size_t)*index * state->row_elements);
    return index != NULL;
}

static bool run(const struct step *step, struct irrun_error *err)
{
    const struct bag_family *family = step->op->def->family;
    const struct bag_state *state = step->state;
    size_t n_bytes = tensor_n_bytes(step->out[0]);
    const int64_t *bounds = NULL, *rows;
    const char *empty_row;
    if (n_bytes == 0)
        return true;
    memset(step->out[0]->data, 0, n_bytes);
    if (family->form != BAG_PACKED && !(bounds = index_list_get(step, &state->bounds, err)))
        return false;
    rows = index_list_get(step, &state->rows, err);
    if (!rows || !find_empty_row(step, &empty_row, err))
        return false;
    char *to = step->out[0]->data;
    size_t row_bytes = n_bytes / state->n_bags, n_each = state->n_indices / state->n_bags;
    for (size_t b = 0; b < state->n_bags; b++, to += row_bytes) {
        size_t begin = bounds ? (size_t)bounds[b] : b * n_each;
        size_t end = bounds ? (size_t)bounds[b + 1] : begin + n_each;
        if (begin < end)
            add_bag(step, rows, begin, end, to);
        else if (empty_row)
            memcpy(to, empty_row, row_bytes);
    }
    return true;
}

#define BAG_OP(object, type_, opset_, inputs_, form, default_index, weights, ...)                  \
    const struct op_def object = {.type = type_,                                                   \
                                  .opset = opset_,                                                 \
                                  OP_INPUTS(inputs_),                                              \
                                  .attrs_size = sizeof(struct bag_attrs),                          \
                                  .state_size = sizeof(struct bag_state),                          \
                                  .family =                                                        \
                                      &(const struct bag_family){form, default_index, weights},    \
                                  .infer = infer,                                                  \
                                  .prepare = prepare,                                              \
                                  .run = run,                                                      \
                                  __VA_ARGS__}

BAG_OP(op_embedding_bag_offsets_sum, "EmbeddingBagOffsetsSum", 3, offsets_inputs, BAG_OFFSETS, 3,
       4, );
BAG_OP(op_embedding_bag_packed_sum, "EmbeddingBagPackedSum", 3, packed_inputs, BAG_PACKED, ABSENT,
       2, );
BAG_OP(op_embedding_segments_sum, "EmbeddingSegmentsSum", 3, segments_inputs, BAG_SEGMENTS, 4, 5, );
BAG_OP(op_embedding_bag_offsets, "EmbeddingBagOffsets", 15, offsets_inputs, BAG_OFFSETS, 3, 4,
       OP_ATTR_TABLE(attr_table));
BAG_OP(op_embedding_bag_packed, "EmbeddingBagPacked", 15, packed_inputs, BAG_PACKED, ABSENT, 2,
       OP_ATTR_TABLE(attr_table));
