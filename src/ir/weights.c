/* Maps the .bin of a model, and checks it against the Consts. Reads only its first bytes. The data
 * of Consts may overlap and have any alignment.
 * SPDX-License-Identifier: Apache-2.0 */
#include "ir/weights.h"

#include <inttypes.h>

#include "base/fast_hash.h"
#include "ir/sniff.h"
#include "ops/op_state.h"
#include "tensor/sub_byte.h"

/* Computes the size that the elements of a Const have in the file. Returns false if it is too large
 * for any file. */
static bool needed_bytes(const struct const_attrs *attrs, size_t *size_bytes)
{
    int64_t n_elements;
    return shape_count(&attrs->shape, &n_elements) && (uint64_t)n_elements <= SIZE_MAX &&
           sub_byte_size(attrs->element_type, (size_t)n_elements, size_bytes);
}

static bool check_type_and_size(const struct graph *graph, const struct op *op,
                                struct irrun_error *err)
{
    const struct const_attrs *attrs = op->attrs;
    struct place place = op_place(graph, op);
    char shape[SHAPE_TEXT_BYTES];
    size_t n_needed;
    if (attrs->element_type == IRRUN_STRING)
        fail_at(err, IRRUN_UNSUPPORTED, place,
                "Const \"%.200s\" has element type string, which irrun does not support", op->name);
    else if (attrs->element_type == IRRUN_DYNAMIC)
        fail_at(err, IRRUN_DATA, place, "Const \"%.200s\" has no definite element type", op->name);
    else if (attrs->offset < 0 || attrs->size < 0)
        fail_at(err, IRRUN_DATA, place,
                "Const \"%.200s\": offset %" PRId64 " and size %" PRId64 " must not be negative",
                op->name, attrs->offset, attrs->size);
    else if (!needed_bytes(attrs, &n_needed))
        fail_at(err, IRRUN_DATA, place, "Const \"%.200s\": shape %s has too many elements",
                op->name, shape_format(&attrs->shape, shape));
    else if ((uint64_t)attrs->size < n_needed)
        fail_at(err, IRRUN_DATA, place,
                "Const \"%.200s\": size is %" PRId64 " bytes, but %s %s takes %zu", op->name,
                attrs->size, irrun_dtype_name(attrs->element_type),
                shape_format(&attrs->shape, shape), n_needed);
    else
        return true;
    return fail_hint(err, "element_type, shape, offset and size are in the layer's <data>");
}

/* Checks that all bytes of a Const exist: offset and size are within the file, and size is large
 * enough for the shape. */
static bool check_const(const struct graph *graph, const struct op *op, struct irrun_error *err)
{
    const struct const_attrs *attrs = op->attrs;
    if (!check_type_and_size(graph, op, err))
        return false;
    uint64_t n_available = graph->weights->size_bytes;
    uint64_t offset = (uint64_t)attrs->offset, size = (uint64_t)attrs->size;
    if (size == 0 || (offset <= n_available && size <= n_available - offset))
        return true;
    fail_at(err, IRRUN_DATA, op_place(graph, op),
            "Const \"%.200s\" needs bytes %" PRIu64 " to %" PRIu64 " of %.300s, which has %" PRIu64,
            op->name, offset, offset + size - 1,
            graph->weights_file ? graph->weights_file : "the .bin", n_available);
    return fail_hint(err, "the .bin is cut short, or belongs to a different model");
}

/* Finds the first live Const with data. */
static const struct op *find_const(const struct graph *graph)
{
    for (uint32_t i = 0; i < graph->n_order; i++) {
        const struct op *op = &graph->ops[graph->order[i]];
        if (op_role_of(op) == ROLE_CONST && ((const struct const_attrs *)op->attrs)->size != 0)
            return op;
        for (uint32_t k = 0; k < op->n_bodies; k++) {
            const struct op *inner = find_const(op->bodies[k].graph);
            if (inner)
                return inner;
        }
    }
    return NULL;
}

static bool check_all(const struct graph *graph, struct irrun_error *err)
{
    for (uint32_t i = 0; i < graph->n_order; i++) {
        const struct op *op = &graph->ops[graph->order[i]];
        if (op_role_of(op) == ROLE_CONST && !check_const(graph, op, err))
            return false;
        for (uint32_t k = 0; k < op->n_bodies; k++)
            if (!check_all(op->bodies[k].graph, err))
                return false;
    }
    return true;
}

/* Rejects a Git LFS pointer or an XML file that is given as weights. */
static bool check_kind(const struct ir_model *model, struct irrun_error *err)
{
    const struct file_map *map = &model->weights;
    struct place place = whole_file(model->weights_path);
    size_t n_head = map->size_bytes < SNIFF_BYTES ? map->size_bytes : SNIFF_BYTES;
    if (sniff_is_lfs_pointer(map->data, n_head)) {
        fail_at(err, IRRUN_DATA, place, "is a git-LFS pointer, not the weights");
        return fail_hint(err, "fetch the real file: git lfs pull");
    }
    if (sniff_is_xml(map->data, n_head)) {
        fail_at(err, IRRUN_DATA, place, "is XML, not the weights");
        return fail_hint(err, "the weights are the .bin that belongs to the .xml");
    }
    return true;
}

static bool fail_no_path(const struct ir_model *model, const struct op *user,
                         struct irrun_error *err)
{
    fail_at(
        err, IRRUN_DATA, op_place(model->graph, user),
        "Const \"%.200s\" needs weights, but a model from standard input has no .bin next to it",
        user->name);
    return fail_hint(err, "give the .bin as the second argument: irrun - WEIGHTS.bin");
}

bool weights_open(struct ir_model *model, struct irrun_error *err)
{
    const struct op *user = find_const(model->graph);
    if (!model->needs_weights)
        return true;
    if (user && !model->weights_path)
        return fail_no_path(model, user, err);
    if (user || model->has_weights_path) {
        if (!file_map_open(&model->weights, model->weights_path, err)) {
            if (user && err->code == IRRUN_NO_INPUT)
                fail_hint(err,
                          "Const \"%.200s\" (%s:%u) needs the weights; give another "
                          "file as the second argument",
                          user->name, model->graph->file, user->line);
            return false;
        }
        if (user && !check_kind(model, err))
            return false;
    }
    return check_all(model->graph, err);
}

/* Files up to this size are hashed as a whole, which takes about 7 ms. For a larger file,
 * evenly spaced pieces with this total size are hashed, including the first and last bytes. */
#define WHOLE_BYTES ((size_t)64 << 20)
#define N_PIECES ((size_t)1024)
#define PIECE_BYTES (WHOLE_BYTES / N_PIECES)

uint64_t weights_digest(const struct file_map *weights, bool *is_sampled)
{
    size_t size_bytes = weights->size_bytes, last = size_bytes - PIECE_BYTES;
    uint64_t digest = 0;
    *is_sampled = size_bytes > WHOLE_BYTES;
    if (size_bytes == 0)
        return 0;
    if (!*is_sampled)
        return fast_hash(0, weights->data, size_bytes);
    for (size_t i = 0; i < N_PIECES; i++) {
        size_t begin = last / (N_PIECES - 1) * i + last % (N_PIECES - 1) * i / (N_PIECES - 1);
        digest = fast_hash(digest, weights->data + begin, PIECE_BYTES);
    }
    return digest;
}
