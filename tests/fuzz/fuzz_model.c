/* Loads and runs a model through the public API.
 *
 * An input is the XML, a NUL byte and the .bin. Its digest selects the options. `fill` sets the
 * inputs of the model. The work of a model is limited, so that every run is short: the operands of
 * an op have at most MAX_ELEMENTS, an op has at most MAX_FLOPS, and bodies run at most MAX_PASSES
 * times.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/memory_limit.h"
#include "fuzz.h"
#include "ops/cost.h"
#include "ops/op.h"

#define MAX_ELEMENTS (1 << 16)
#define MAX_FLOPS 3e7
#define MAX_PASSES 500
#define MAX_INPUTS 16
#define MEMORY_BYTES ((size_t)512 << 20)

struct runner;

static size_t n_passes;

/* ---- Limits: these functions replace functions of the library (ld --wrap) ------------------- */

/* Counts in floating point, because the sizes of outputs are not checked for overflow yet. */
static double n_elements(const struct irrun_tensor *tensor)
{
    double n = 1;
    for (uint32_t i = 0; i < tensor->shape.rank; i++)
        n *= (double)tensor->shape.dims[i];
    return n;
}

bool __real_infer_op(struct infer *infer);
bool __wrap_infer_op(struct infer *infer);
bool __wrap_infer_op(struct infer *infer)
{
    if (!__real_infer_op(infer))
        return false;
    double n = 0;
    struct irrun_tensor *in[64], *out[64];
    for (uint32_t i = 0; i < infer->n_inputs; i++) {
        n += n_elements(infer->in[i]);
        if (i < 64)
            in[i] = (struct irrun_tensor *)(uintptr_t)infer->in[i];
    }
    for (uint32_t i = 0; i < infer->n_outputs; i++) {
        n += n_elements(&infer->out[i]);
        if (i < 64)
            out[i] = &infer->out[i];
    }
    if (n > MAX_ELEMENTS || (infer->n_inputs <= 64 && infer->n_outputs <= 64 &&
                             op_flops(infer->op, in, out) > MAX_FLOPS))
        return infer_fail(infer, "is too large for this test");
    return true;
}

bool __real_runner_run(struct runner *runner, const struct irrun_tensor *const *in,
                       struct irrun_error *err);
bool __wrap_runner_run(struct runner *runner, const struct irrun_tensor *const *in,
                       struct irrun_error *err);
bool __wrap_runner_run(struct runner *runner, const struct irrun_tensor *const *in,
                       struct irrun_error *err)
{
    return ++n_passes > MAX_PASSES ? fail(err, IRRUN_UNSUPPORTED, "too many passes for this test")
                                   : __real_runner_run(runner, in, err);
}

/* ---- The tensors ---------------------------------------------------------------------------- */

/* Writes small numbers. */
static void fill(const struct irrun_tensor *tensor, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        int number = (int)(i * 7 % 5) - (i % 11 == 3);
        if (tensor->dtype == IRRUN_F32)
            ((float *)tensor->data)[i] = (float)number / 2;
        else if (tensor->dtype == IRRUN_F64)
            ((double *)tensor->data)[i] = number / 2.0;
        else if (tensor->dtype == IRRUN_I64)
            ((int64_t *)tensor->data)[i] = number;
        else if (tensor->dtype == IRRUN_I32)
            ((int32_t *)tensor->data)[i] = number;
        else if (dtype_size(tensor->dtype) == 1)
            ((uint8_t *)tensor->data)[i] = (uint8_t)(number & 1);
    }
}

/* Makes a tensor of the port's shape, with `open` for dynamic dimensions. Returns false if it would
 * be too large. */
static bool make_tensor(const struct irrun_port *port, int64_t open, struct irrun_tensor *tensor)
{
    const struct irrun_partial_shape *shape = &port->shape;
    *tensor = (struct irrun_tensor){.dtype = port->dtype};
    int64_t n = 1;
    tensor->shape.rank = shape->is_rank_dynamic ? 2 : shape->rank;
    for (uint32_t i = 0; i < tensor->shape.rank; i++) {
        int64_t dim = open;
        if (!shape->is_rank_dynamic && (dim < shape->min[i] || dim > shape->max[i]))
            dim = shape->min[i];
        if (dim > MAX_ELEMENTS)
            return false;
        tensor->shape.dims[i] = dim;
        n *= dim;
        if (n > MAX_ELEMENTS)
            return false;
    }
    if (port->dtype == IRRUN_DYNAMIC || port->dtype == IRRUN_STRING)
        return false;
    tensor->data = calloc((size_t)n + 1, 8);
    fill(tensor, (size_t)n);
    return tensor->data != NULL;
}

static void read_tensor(const struct irrun_tensor *tensor)
{
    if (tensor && tensor->data)
        read_bytes(tensor->data, tensor_n_bytes(tensor));
}

/* ---- A run ---------------------------------------------------------------------------------- */

static bool set_inputs(const struct irrun_model *model, struct irrun_session *session, int64_t open,
                       struct irrun_tensor *tensors, struct irrun_error *err)
{
    size_t n = irrun_model_n_inputs(model);
    for (size_t i = 0; i < n; i++) {
        free(tensors[i].data);
        tensors[i].data = NULL;
    }
    for (size_t i = 0; i < n; i++)
        if (!make_tensor(irrun_model_input(model, i), open, &tensors[i]) ||
            !check_error(irrun_session_set_input(session, i, &tensors[i], err), err))
            return false;
    return true;
}

static bool iterate(const struct irrun_model *model, struct irrun_session *session, size_t n)
{
    struct irrun_error err;
    for (size_t k = 0; k < n; k++) {
        bool is_run = check_error(irrun_session_run(session, &err), &err);
        for (size_t i = 0; is_run && i < irrun_model_n_outputs(model); i++)
            read_tensor(irrun_session_output(session, i));
        for (size_t i = 0; i < irrun_model_n_variables(model); i++)
            read_tensor(irrun_session_variable(session, i));
        if (!is_run)
            return false;
    }
    return true;
}

/* Copies the variables of another session, as loading a state does. */
static void copy_variables(const struct irrun_model *model, const struct irrun_session *from,
                           struct irrun_session *to)
{
    struct irrun_error err;
    for (size_t i = 0; i < irrun_model_n_variables(model); i++) {
        const struct irrun_tensor *value = irrun_session_variable(from, i);
        if (value)
            check_error(irrun_session_set_variable(to, i, value, &err), &err);
    }
}

static void run(struct irrun_model *model)
{
    struct irrun_tensor tensors[MAX_INPUTS] = {{.data = NULL}};
    struct irrun_session *session, *second;
    struct irrun_error err;
    struct irrun_session_info info;
    if (irrun_model_n_inputs(model) > MAX_INPUTS ||
        !check_error(irrun_session_new(model, &session, &err), &err))
        return;
    if (set_inputs(model, session, 2, tensors, &err) && iterate(model, session, 2) &&
        set_inputs(model, session, 3, tensors, &err)) {
        iterate(model, session, 2);
        irrun_session_reset(session);
        iterate(model, session, 1);
        irrun_session_describe(session, &info);
        if (check_error(irrun_session_new(model, &second, &err), &err)) {
            copy_variables(model, session, second);
            if (set_inputs(model, second, 2, tensors, &err))
                iterate(model, second, 1);
            irrun_session_free(second);
        }
    }
    irrun_session_free(session);
    for (size_t i = 0; i < MAX_INPUTS; i++)
        free(tensors[i].data);
}

static void inspect(struct irrun_model *model, bool is_dry)
{
    const struct irrun_layer *layers;
    struct irrun_analysis analysis;
    struct irrun_model_info info;
    struct irrun_error err;
    size_t n;
    irrun_model_describe(model, &info);
    if (is_dry)
        check_error(irrun_model_analyse(model, &analysis, &err), &err);
    check_error(irrun_model_list_layers(model, &layers, &n, &err), &err);
}

static struct irrun_options choose_options(uint32_t choice)
{
    struct irrun_options options = {.gemm = (enum irrun_gemm)(choice & 3)};
    options.simd = (choice >> 2 & 3) == 0 ? "scalar" : NULL;
    options.keep_ops = (choice >> 4 & 7) == 0;
    options.stops_at_nan = (choice >> 7 & 7) == 0;
    options.traces_all = (choice >> 10 & 7) == 0;
    options.times_ops = (choice >> 13 & 7) == 0;
    options.is_dry = (choice >> 16 & 15) == 0;
    options.n_threads = (choice >> 20 & 15) == 0 ? 2 : 1;
    options.dynamic_quantization = (choice >> 24 & 3) == 0;
    options.precision = (enum irrun_precision)((choice >> 26 & 3) % 3);
    options.computes_f64 = (choice >> 28 & 7) == 0;
    return options;
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    (void)argc;
    (void)argv;
    memory_limit_lower(MEMORY_BYTES);
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const uint8_t *end = size > 0 ? memchr(data, 0, size) : NULL;
    size_t n_xml = end ? (size_t)(end - data) : size, n_bin = end ? size - n_xml - 1 : 0;
    struct memory_file xml, bin;
    struct irrun_model *model;
    struct irrun_error err;
    uint32_t digest = 2166136261U;
    for (size_t i = 0; i < size; i++)
        digest = (digest ^ data[i]) * 16777619U;
    struct irrun_options options = choose_options(digest ^ digest >> 16);
    n_passes = 0;
    memory_file_open(&xml, data, n_xml);
    memory_file_open(&bin, end ? end + 1 : data, n_bin);
    options.weights_path = bin.path;
    if (check_error(irrun_model_load(xml.path, &options, &model, &err), &err)) {
        inspect(model, options.is_dry);
        if (!options.is_dry)
            run(model);
        irrun_model_free(model);
    }
    memory_file_close(&xml);
    memory_file_close(&bin);
    return 0;
}
