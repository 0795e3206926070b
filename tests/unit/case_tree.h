/* Runs the models of tests/cases and models/ on generated records, for tests that do not compare
 * results with out.npz.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_TESTS_CASE_TREE_H
#define IRRUN_TESTS_CASE_TREE_H

#include <glob.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "tensor/tensor.h"

#define MAX_CASE_INPUTS 32

/* A session. The inputs are zeros with a one in every third element; dynamic dimensions are 2. */
struct case_session {
    struct irrun_model *model;
    struct irrun_session *session;
    void *data[MAX_CASE_INPUTS];
};

static inline void case_close(struct case_session *opened)
{
    irrun_session_free(opened->session);
    irrun_model_free(opened->model);
    for (size_t i = 0; i < MAX_CASE_INPUTS; i++)
        free(opened->data[i]);
    memset(opened, 0, sizeof *opened);
}

static inline bool case_set_input(struct case_session *opened, size_t i, struct irrun_error *err)
{
    const struct irrun_port *port = irrun_model_input(opened->model, i);
    struct irrun_tensor tensor = {.dtype = port->dtype};
    size_t size_bytes;
    tensor.shape.rank = port->shape.is_rank_dynamic ? 1 : port->shape.rank;
    for (uint32_t k = 0; k < tensor.shape.rank; k++) {
        bool is_dynamic = port->shape.is_rank_dynamic || port->shape.min[k] != port->shape.max[k];
        int64_t min = port->shape.is_rank_dynamic ? 0 : port->shape.min[k];
        tensor.shape.dims[k] = is_dynamic ? (min > 2 ? min : 2) : min;
    }
    if (!tensor_size(tensor.dtype, &tensor.shape, &size_bytes))
        return false;
    opened->data[i] = tensor.data = calloc(1, size_bytes + 16);
    if (!tensor.data)
        return fail_memory(err, size_bytes);
    size_t n = (size_t)shape_n_elements(&tensor.shape);
    for (size_t k = 0; k < n && tensor.dtype == IRRUN_F32; k += 3)
        ((float *)tensor.data)[k] = 1;
    return irrun_session_set_input(opened->session, i, &tensor, err);
}

/* Returns false if the case cannot run, because it expects an error or rejects these records. */
static inline bool case_open(const char *path, struct case_session *opened, struct irrun_error *err)
{
    memset(opened, 0, sizeof *opened);
    bool is_fine = irrun_model_load(path, NULL, &opened->model, err) &&
                   irrun_session_new(opened->model, &opened->session, err) &&
                   irrun_model_n_inputs(opened->model) <= MAX_CASE_INPUTS;
    for (size_t i = 0; is_fine && i < irrun_model_n_inputs(opened->model); i++)
        is_fine = case_set_input(opened, i, err);
    if (!is_fine)
        case_close(opened);
    return is_fine;
}

/* Calls visit for every model.xml. Returns their number. */
static inline size_t case_visit_all(void (*visit)(const char *path))
{
    static const char *const patterns[] = {"tests/cases/*/*/model.xml", "models/*/model.xml"};
    size_t n = 0;
    for (size_t p = 0; p < sizeof patterns / sizeof patterns[0]; p++) {
        glob_t found;
        if (glob(patterns[p], 0, NULL, &found) != 0)
            continue;
        for (size_t i = 0; i < found.gl_pathc; i++, n++)
            visit(found.gl_pathv[i]);
        globfree(&found);
    }
    return n;
}

#endif
