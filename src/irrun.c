/* Implements the public API of models: calls ir, plan and runtime to load a model, and keeps its
 * description. runtime/session.c implements the API of sessions, irrun_build.c that of the build.
 * SPDX-License-Identifier: Apache-2.0 */
#include "irrun.h"

#include <stdlib.h>
#include <unistd.h>

#include "base/cpu_count.h"
#include "base/mapping.h"
#include "ir/ir_builder.h"
#include "ir/ir_check.h"
#include "ir/weights.h"
#include "kernels/cpu.h"
#include "ops/op.h"
#include "plan/model.h"
#include "plan/passes.h"
#include "runtime/model_facts.h"
#include "runtime/op_times.h"
#include "runtime/session.h"

struct irrun_model {
    struct ir_model ir;
    struct model model;
    struct ports inputs, outputs;
    struct irrun_variable *variables;
    struct model_facts facts;
    struct remarks remarks;
    struct irrun_error problem; /* with is_dry: why the model cannot run */
    bool is_prepared;
    bool takes_chunks; /* with is_dry */
};

/* ---- loading ------------------------------------------------------------------------------- */

/* Finds the initial values of the variables, with is_dry. Ignores missing weights. */
static bool find_init_values(struct irrun_model *model, struct irrun_error *err)
{
    struct file_map weights = {.data = NULL};
    const char *path = model->ir.weights_path;
    bool is_found = true;
    if (path && access(path, R_OK) != 0)
        return true;
    if (path && !file_map_open(&weights, path, err))
        return false;
    for (size_t i = 0; i < model->model.n_variables && is_found; i++) {
        const struct variable_decl *decl = &model->model.variables[i];
        if (decl->read->n_inputs > 0)
            is_found =
                initial_value_find(decl->graph, op_input(decl->graph, decl->read, 0), &weights,
                                   &model->ir.arena, &model->variables[i].init_value, err);
    }
    file_map_close(&weights);
    return is_found;
}

/* Checks that the model can run. With is_dry, keeps the error for irrun_session_new. */
static bool check(struct irrun_model *model, const struct irrun_options *options,
                  struct irrun_error *err)
{
    bool needs_weights = !options->is_dry || options->low_latency;
    error_clear(&model->problem);
    if (ir_check_ops(model->ir.graph, &model->problem) &&
        (!needs_weights || weights_open(&model->ir, &model->problem)))
        return true;
    if (!needs_weights && model->problem.code != IRRUN_SYSTEM)
        return true;
    *err = model->problem;
    return false;
}

/* Returns whether low_latency would change the model. Returns false if the .bin is missing, because
 * the answer depends on constants. */
static bool would_take_chunks(struct irrun_model *model)
{
    struct ir_model *ir = &model->ir;
    struct irrun_error ignored;
    error_clear(&ignored);
    if (model->problem.code != IRRUN_OK || !ir->weights_path || access(ir->weights_path, R_OK) != 0)
        return false;
    ir->needs_weights = true;
    bool fits = weights_open(ir, &ignored) && low_latency_fits(ir->graph, &ir->arena);
    file_map_close(&ir->weights);
    ir->weights = (struct file_map){.data = NULL};
    ir->needs_weights = false;
    return fits;
}

static bool count_threads(unsigned requested, unsigned *n_threads, struct irrun_error *err)
{
    *n_threads = requested == 0 ? 1 : requested;
    if (requested == IRRUN_THREADS_AUTO) {
        unsigned n_cpus = count_cpus();
        *n_threads = n_cpus < THREAD_POOL_MAX_THREADS ? n_cpus : THREAD_POOL_MAX_THREADS;
    }
    return *n_threads <= THREAD_POOL_MAX_THREADS ||
           fail(err, IRRUN_USAGE, "%u threads are too many: %d at most", requested,
                THREAD_POOL_MAX_THREADS);
}

/* Returns whether the list contains one of the names of the output. */
static bool is_listed(const struct irrun_model *model, size_t output, const char *const *names,
                      size_t n)
{
    bool is_found = false;
    for (size_t i = 0; i < n && !is_found; i++) {
        struct irrun_error ignored = {.code = IRRUN_OK};
        size_t index;
        is_found = ports_find(&model->outputs, names[i], &index, &ignored) && index == output;
    }
    return is_found;
}

/* Disconnects the Results of outputs that are not read. Where only the last position of an output
 * is read, computes only that position. */
static bool drop_unread(struct irrun_model *model, const struct irrun_options *options,
                        struct irrun_error *err)
{
    struct graph *graph = model->ir.graph;
    bool *reads_last = arena_alloc_array(&model->ir.arena, graph->n_results, 1, err);
    uint32_t n_order = graph->n_order;
    bool is_changed = false;
    for (uint32_t i = 0; reads_last && i < graph->n_results && !options->traces_all; i++) {
        if (is_listed(model, i, options->read, options->n_read))
            continue;
        reads_last[i] = is_listed(model, i, options->read_last, options->n_read_last);
        if (reads_last[i] || !is_listed(model, i, options->unread, options->n_unread))
            continue;
        graph->ops[graph->results[i]].n_inputs = 0;
        is_changed = true;
    }
    return reads_last && (!is_changed || toposort(graph, &model->ir.arena, err)) &&
           (graph->n_order == n_order ||
            remarks_add(&model->remarks, &model->ir.arena, err,
                        "%u ops are not computed: only outputs under none: need them",
                        (unsigned)(n_order - graph->n_order))) &&
           early_slices_move(&model->model, reads_last, &model->remarks, err);
}

static bool load(struct irrun_model *model, const char *xml_path,
                 const struct irrun_options *options, struct irrun_error *err)
{
    struct ir_model *ir = &model->ir;
    if (!count_threads(options->n_threads, &model->model.n_threads, err) ||
        !kernels_choose(&model->model.kernels, options->gemm, options->simd, err) ||
        !ir_load(xml_path, options->weights_path, !options->is_dry || options->low_latency, 0, ir,
                 err))
        return false;
    struct arena *arena = &ir->arena;
    model->model.graph = ir->graph;
    model->model.arena = arena;
    model->model.no_fusion = options->keep_ops;
    model->model.kernels.precision =
        options->computes_f64 ? IRRUN_PRECISION_F32 : options->precision;
    model->model.kernels.dynamic_quantization =
        options->dynamic_quantization && !options->computes_f64;
    model->model.stops_at_nan = options->stops_at_nan;
    model->model.allows_inf = options->allows_inf;
    model->model.times_steps = options->times_ops;
    if (!taps_add(ir->graph, arena, options->taps, options->n_taps, err) ||
        !toposort(ir->graph, arena, err) || !check(model, options, err))
        return false;
    if (options->low_latency &&
        !low_latency_apply(ir->graph, arena, options->low_latency, &model->remarks, err))
        return false;
    model->takes_chunks = options->is_dry && !options->low_latency && would_take_chunks(model);
    size_t n_outputs = ir->graph->n_results;
    if (options->traces_all && !options->is_dry &&
        (!taps_add_all(ir->graph, arena, err) || !toposort(ir->graph, arena, err)))
        return false;
    if (options->computes_f64 &&
        (!float64_widen(ir->graph, arena, err) || !toposort(ir->graph, arena, err)))
        return false;
    if (!model_facts_collect(ir, &model->facts, err) ||
        !ports_of_outputs(ir->graph, arena, &model->outputs, err) ||
        (!options->is_dry && !options->keep_ops &&
         ((!options->stops_at_nan && !drop_unread(model, options, err)) ||
          !cell_loop_replace(ir->graph, arena, &model->remarks, err) ||
          !transposed_factors_fold(ir->graph, arena, &model->remarks, err) ||
          !(options->stops_at_nan || norms_replace(ir->graph, arena, &model->remarks, err)) ||
          !(options->stops_at_nan ||
            cropped_convolutions_replace(ir->graph, arena, &model->remarks, err)) ||
          !int8_convolutions_replace(&model->model, &model->remarks, err) ||
          !channels_last_place(&model->model, &model->remarks, err))))
        return false;
    if (!options->is_dry && (!options->keep_ops || model->model.kernels.dynamic_quantization) &&
        !compressed_weights_keep(&model->model, &model->remarks, err))
        return false;
    if (!options->is_dry && !lower_precision(&model->model, &model->remarks, err))
        return false;
    model->is_prepared = model_prepare(&model->model, options->is_dry, err);
    if (!model->is_prepared || !ports_of_inputs(ir->graph, arena, &model->inputs, err))
        return false;
    for (size_t i = n_outputs; i < model->outputs.n; i++)
        model->outputs.items[i].is_traced = true;
    return model_list_variables(&model->model, &model->variables, err) &&
           (!options->is_dry || find_init_values(model, err));
}

bool irrun_model_load(const char *xml_path, const struct irrun_options *options,
                      struct irrun_model **model, struct irrun_error *err)
{
    static const struct irrun_options defaults;
    error_clear(err);
    *model = calloc(1, sizeof **model);
    if (!*model)
        return fail_memory(err, sizeof **model);
    if (load(*model, xml_path, options ? options : &defaults, err))
        return true;
    irrun_model_free(*model);
    *model = NULL;
    return false;
}

void irrun_model_free(struct irrun_model *model)
{
    if (!model)
        return;
    if (model->is_prepared)
        model_release(&model->model);
    ir_free(&model->ir);
    free(model);
}

size_t irrun_model_n_inputs(const struct irrun_model *model)
{
    return model->inputs.n;
}

size_t irrun_model_n_outputs(const struct irrun_model *model)
{
    return model->outputs.n;
}

size_t irrun_model_n_variables(const struct irrun_model *model)
{
    return model->model.n_variables;
}

const struct irrun_port *irrun_model_input(const struct irrun_model *model, size_t index)
{
    return &model->inputs.items[index];
}

const struct irrun_port *irrun_model_output(const struct irrun_model *model, size_t index)
{
    return &model->outputs.items[index];
}

const struct irrun_variable *irrun_model_variable(const struct irrun_model *model, size_t index)
{
    return &model->variables[index];
}

bool irrun_model_find_input(const struct irrun_model *model, const char *name, size_t *index,
                            struct irrun_error *err)
{
    error_clear(err);
    return ports_find(&model->inputs, name, index, err);
}

bool irrun_model_find_output(const struct irrun_model *model, const char *name, size_t *index,
                             struct irrun_error *err)
{
    error_clear(err);
    return ports_find(&model->outputs, name, index, err);
}

void irrun_model_describe(const struct irrun_model *model, struct irrun_model_info *info)
{
    const struct file_map *bin = &model->ir.weights;
    *info = (struct irrun_model_info){
        .name = model->ir.graph->name,
        .weights_path = bin->size_bytes > 0 ? model->ir.weights_path : NULL,
        .ir_version = model->ir.graph->ir_version,
        .n_ops = model->facts.n_ops,
        .weights_bytes = model->facts.weights_bytes,
        .bin_bytes = bin->size_bytes,
        .xml_digest = model->ir.xml_digest,
        .op_counts = model->facts.op_counts,
        .n_op_counts = model->facts.n_op_counts,
        .notes = model->remarks.items,
        .n_notes = model->remarks.n,
        .warnings = model->facts.warnings,
        .n_warnings = model->facts.n_warnings,
    };
}

bool irrun_model_analyse(const struct irrun_model *model, struct irrun_analysis *analysis,
                         struct irrun_error *err)
{
    error_clear(err);
    analysis->takes_chunks = model->takes_chunks;
    return model_analyse(&model->model, analysis, err);
}

bool irrun_model_list_layers(struct irrun_model *model, const struct irrun_layer **layers,
                             size_t *n, struct irrun_error *err)
{
    error_clear(err);
    pthread_mutex_lock(&model->model.lock); /* sessions that plan use the arena too */
    bool is_listed = model_list_layers(&model->model, layers, n, err);
    pthread_mutex_unlock(&model->model.lock);
    return is_listed;
}

void irrun_model_weights(const struct irrun_model *model, struct irrun_weights_info *info)
{
    const struct file_map *bin = &model->ir.weights;
    *info = (struct irrun_weights_info){.size_bytes = bin->size_bytes,
                                        .written_s = bin->written.tv_sec,
                                        .written_ns = bin->written.tv_nsec};
    info->digest = weights_digest(bin, &info->is_sampled);
}

bool irrun_model_check_weights(const struct irrun_model *model, struct irrun_error *err)
{
    error_clear(err);
    return file_map_check(&model->ir.weights, err);
}

const char *irrun_mapped_file(const void *address, bool *is_truncated)
{
    return mapping_find(address, is_truncated);
}

bool irrun_session_new(struct irrun_model *model, struct irrun_session **session,
                       struct irrun_error *err)
{
    error_clear(err);
    *session = NULL;
    if (model->problem.code != IRRUN_OK) {
        *err = model->problem;
        return false;
    }
    *session = session_new(&model->model, &model->inputs, err);
    return *session != NULL;
}

/* ---- times --------------------------------------------------------------------------------- */

bool irrun_profile_new(const struct irrun_session *const *sessions, size_t n_sessions,
                       struct irrun_profile **profile, struct irrun_error *err)
{
    error_clear(err);
    *profile = NULL;
    const struct step_times_table **tables = new_array(n_sessions, sizeof *tables, err);
    for (size_t i = 0; i < n_sessions && tables; i++)
        tables[i] = &sessions[i]->times;
    if (tables)
        *profile = op_times_collect(sessions[0]->model->graph, tables, n_sessions, err);
    free(tables);
    return *profile != NULL;
}

void irrun_profile_free(struct irrun_profile *profile)
{
    op_times_free(profile);
}

void irrun_session_watch(struct irrun_session *session, irrun_watch_fn *watch, void *context)
{
    session->watch = watch;
    session->watch_context = context;
    thread_pool_watch(session->pool, watch ? op_times_watch : NULL, session);
}

void irrun_session_clear_times(struct irrun_session *session)
{
    step_times_clear(&session->times);
}

bool irrun_session_measure_peak(const struct irrun_session *session, double seconds,
                                struct irrun_peak *peak, struct irrun_error *err)
{
    error_clear(err);
    struct irrun_session_info info;
    size_t min_bytes = 16384, max_bytes = (size_t)64 << 20;
    irrun_session_describe(session, &info);
    peak->n_bytes = info.arena_bytes + info.state_bytes + info.weights_packed_bytes;
    peak->n_bytes = peak->n_bytes < min_bytes   ? min_bytes
                    : peak->n_bytes < max_bytes ? peak->n_bytes
                                                : max_bytes;
    return peak_measure(&session->model->kernels, session->pool, peak->n_bytes, seconds,
                        &peak->flops_per_s, &peak->bytes_per_s, err);
}
