/* EmbeddingBagOffsetsSum-3, EmbeddingBagPackedSum-3, EmbeddingSegmentsSum-3, EmbeddingBagOffsets-15
 * and EmbeddingBagPacked-15: sums or means of bags of rows of a table, which differ in how a bag is
 * given.
 * SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "kernels/embedding.h"
#include "ops/indexing.h"

enum { TABLE, INDICES, SPLIT /* offsets or segment_ids */ };
#define ABSENT UINT32_MAX /* no input is this one */

enum bag_form { BAG_OFFSETS, BAG_PACKED, BAG_SEGMENTS };

struct bag_attrs {
    int reduction; /* 1: mean */
};

struct bag_family {
    enum bag_form form;
    uint32_t default_index, weights; /* which input, if there is one */
};

struct bag_state {
    size_t n_bags, n_indices, row_elements;
    int64_t n_rows; /* of the table */
};

static const struct attr_def attr_table[] = {
    ATTR_CHOICE(struct bag_attrs, reduction, "sum", "sum|mean"),
    ATTR_END,
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
    TABLE_AND_INDICES, {"offsets", .types = TYPES_INTEGER}, DEFAULT_INDEX, WEIGHTS, {.name = NULL}};
static const struct op_input_def packed_inputs[] = {TABLE_AND_INDICES, WEIGHTS, {.name = NULL}};
static const struct op_input_def segments_inputs[] = {TABLE_AND_INDICES,
                                                      {"segment_ids", .types = TYPES_INTEGER},
                                                      {"num_segments", .types = TYPES_INTEGER},
                                                      DEFAULT_INDEX,
                                                      WEIGHTS,
                                                      {.name = NULL}};

static bool is_mean(const struct op *op)
{
    return op->def->attrs_size > 0 && ((const struct bag_attrs *)op->attrs)->reduction == 1;
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
        infer_fail_input(infer, SPLIT, "as many numbers as there are indices");
        return infer_hint_input(infer, INDICES);
    }
    if (!infer_int(infer, SPLIT + 1, n_bags))
        return false;
    return *n_bags >= 0 || infer_fail(infer, "num_segments is %lld", (long long)*n_bags);
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
            return infer_fail(infer, "has per_sample_weights, which the mean does not take");
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

/* ---- run ---------------------------------------------------------------------------------- */

/* Where bag b ends among the indices; it begins where the one before ended. */
static bool find_end(const struct step *step, size_t b, size_t begin, size_t *end,
                     struct irrun_error *err)
{
    const struct bag_family *family = step->op->def->family;
    const struct bag_state *state = step->state;
    if (family->form == BAG_PACKED) {
        *end = begin + (size_t)step->in[INDICES]->shape.dims[1];
        return true;
    }
    const struct irrun_tensor *split = step->in[SPLIT];
    if (family->form == BAG_SEGMENTS) {
        *end = begin;
        while (*end < state->n_indices &&
               element_as_i64(split->dtype, split->data, *end) == (int64_t)b)
            ++*end;
        return true;
    }
    int64_t n = (int64_t)state->n_indices, next = n;
    if (b + 1 < state->n_bags)
        next = element_as_i64(split->dtype, split->data, b + 1);
    if (next < (int64_t)begin || next > n)
        return step_fail(step, err, IRRUN_DATA, "offsets[%zu] is %lld, outside %zu ... %lld", b + 1,
                         (long long)next, begin, (long long)n);
    *end = (size_t)next;
    return true;
}

/* Segment ids have to be sorted and name segments there are; the first offset is where the first
 * bag begins. */
static bool check_split(const struct step *step, size_t *begin, struct irrun_error *err)
{
    const struct bag_family *family = step->op->def->family;
    const struct bag_state *state = step->state;
    const struct irrun_tensor *split = step->in[SPLIT];
    *begin = 0;
    if (family->form == BAG_OFFSETS && state->n_bags > 0) {
        int64_t first = element_as_i64(split->dtype, split->data, 0);
        if (first < 0 || first > (int64_t)state->n_indices)
            return step_fail(step, err, IRRUN_DATA, "offsets[0] is %lld, outside 0 ... %zu",
                             (long long)first, state->n_indices);
        *begin = (size_t)first;
    }
    int64_t last = 0;
    for (size_t i = 0; family->form == BAG_SEGMENTS && i < state->n_indices; i++) {
        int64_t id = element_as_i64(split->dtype, split->data, i);
        if (id < last || id >= (int64_t)state->n_bags)
            return step_fail(step, err, IRRUN_DATA,
                             "segment_ids[%zu] is %lld, outside %lld ... %zu", i, (long long)id,
                             (long long)last, state->n_bags - 1);
        last = id;
    }
    return true;
}

/* An empty bag gets the row that default_index names, -1 and no input meaning zeros. */
static bool fill_empty(const struct step *step, char *to, struct irrun_error *err)
{
    const struct bag_family *family = step->op->def->family;
    const struct bag_state *state = step->state;
    size_t row_bytes = state->row_elements * dtype_size(step->in[TABLE]->dtype);
    if (step->n_inputs <= family->default_index)
        return true;
    const struct irrun_tensor *given = step->in[family->default_index];
    int64_t index = element_as_i64(given->dtype, given->data, 0);
    if (index == -1)
        return true;
    if (index < 0 || index >= state->n_rows)
        return index_fail(step, family->default_index, 0, 0, -1, state->n_rows, err);
    memcpy(to, (const char *)step->in[TABLE]->data + (size_t)index * row_bytes, row_bytes);
    return true;
}

static bool add_bag(const struct step *step, size_t begin, size_t end, char *to,
                    struct irrun_error *err)
{
    const struct bag_family *family = step->op->def->family;
    const struct bag_state *state = step->state;
    const struct embedding_fns *fns = embedding_scalar(step->in[TABLE]->dtype);
    size_t size = dtype_size(step->in[TABLE]->dtype);
    for (size_t i = begin; i < end; i++) {
        int64_t row;
        if (!index_at(step, INDICES, i, 0, state->n_rows, &row, err))
            return false;
        const char *weight = NULL;
        if (step->n_inputs > family->weights)
            weight = (const char *)step->in[family->weights]->data + i * size;
        fns->add(to, (const char *)step->in[TABLE]->data + (size_t)row * state->row_elements * size,
                 weight, state->row_elements);
    }
    if (is_mean(step->op))
        fns->divide(to, end - begin, state->row_elements);
    return true;
}

static bool run(const struct step *step, struct irrun_error *err)
{
    const struct bag_state *state = step->state;
    size_t n_bytes = tensor_n_bytes(step->out[0]), begin = 0, end = 0;
    if (n_bytes == 0)
        return true;
    memset(step->out[0]->data, 0, n_bytes);
    if (!check_split(step, &begin, err))
        return false;
    char *to = step->out[0]->data;
    for (size_t b = 0; b < state->n_bags; b++, begin = end, to += n_bytes / state->n_bags) {
        if (!find_end(step, b, begin, &end, err))
            return false;
        if (begin == end ? !fill_empty(step, to, err) : !add_bag(step, begin, end, to, err))
            return false;
    }
    return true;
}

#define BAG_OP(object, type_, opset_, inputs_, form, default_index, weights, ...)                  \
    const struct op_def object = {.type = type_,                                                   \
                                  .opset = opset_,                                                 \
                                  .inputs = inputs_,                                               \
                                  .n_outputs = 1,                                                  \
                                  .state_size = sizeof(struct bag_state),                          \
                                  .family =                                                        \
                                      &(const struct bag_family){form, default_index, weights},    \
                                  .infer = infer,                                                  \
                                  .run = run,                                                      \
                                  __VA_ARGS__}
#define WITH_REDUCTION .attrs = attr_table, .attrs_size = sizeof(struct bag_attrs)

BAG_OP(op_embedding_bag_offsets_sum, "EmbeddingBagOffsetsSum", 3, offsets_inputs, BAG_OFFSETS, 3,
       4, );
BAG_OP(op_embedding_bag_packed_sum, "EmbeddingBagPackedSum", 3, packed_inputs, BAG_PACKED, ABSENT,
       2, );
BAG_OP(op_embedding_segments_sum, "EmbeddingSegmentsSum", 3, segments_inputs, BAG_SEGMENTS, 4, 5, );
BAG_OP(op_embedding_bag_offsets, "EmbeddingBagOffsets", 15, offsets_inputs, BAG_OFFSETS, 3, 4,
       WITH_REDUCTION);
BAG_OP(op_embedding_bag_packed, "EmbeddingBagPacked", 15, packed_inputs, BAG_PACKED, ABSENT, 2,
       WITH_REDUCTION);
