/* Prints the plan and the warnings of a worker's session.
 * SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>

#include "cli/warning.h"
#include "cli/worker_internal.h"

void worker_show_warning(void *context, const struct irrun_error *warning)
{
    const struct worker *worker = context;
    warn(worker->options, "%s:%" PRIu32 ":%" PRIu32 ": %s (record %" PRIu64 ")", warning->file,
         warning->line, warning->column, warning->message, worker->record);
}

void worker_show_plan(const struct worker *worker)
{
    struct irrun_session_info info;
    if (!worker->options->is_verbose && !worker->options->dynamic_quantization)
        return; /* describing the session may load a BLAS to get its name */
    irrun_session_describe(worker->session, &info);
    if (worker->options->dynamic_quantization && info.n_quantized_products == 0)
        warn(worker->options, "--dynamic-quantization quantizes no product of this model");
    if (!worker->options->is_verbose)
        return;
    inputs_show(worker->inputs);
    inform(worker->options,
           "plan: %zu step%s per iteration, gemm %s, SIMD %s, precision %s, "
           "%zu bytes of values, %zu of state",
           info.n_steps, info.n_steps == 1 ? "" : "s", info.gemm, info.simd, info.precision,
           info.arena_bytes, info.state_bytes);
    if (worker->options->dynamic_quantization)
        inform(worker->options, "plan: %zu product%s quantize%s the operand that is not constant",
               info.n_quantized_products, info.n_quantized_products == 1 ? "" : "s",
               info.n_quantized_products == 1 ? "s" : "");
    if (info.n_fused_ops > 0)
        inform(worker->options, "plan: %zu element-wise ops are fused into fewer steps",
               info.n_fused_ops);
    if (info.n_view_ops > 0)
        inform(worker->options, "plan: %zu op%s that would only copy %s omitted", info.n_view_ops,
               info.n_view_ops == 1 ? "" : "s", info.n_view_ops == 1 ? "is" : "are");
    if (info.n_epilogue_ops > 0)
        inform(worker->options, "plan: %zu element-wise op%s fused into the product%s before %s",
               info.n_epilogue_ops, info.n_epilogue_ops == 1 ? " is" : "s are",
               info.n_epilogue_ops == 1 ? "" : "s", info.n_epilogue_ops == 1 ? "it" : "them");
}
