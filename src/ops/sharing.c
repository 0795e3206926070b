/* Requests scratch memory for steps, and divides their work into parts for the thread pool.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/checked.h"
#include "ops/op.h"

bool prepare_scratch(struct prepare *prepare, size_t n, size_t item_bytes)
{
    size_t *scratch_bytes = &prepare->made.scratch_bytes, more;
    return (checked_mul(n, item_bytes, &more) && checked_add(*scratch_bytes, more, scratch_bytes) &&
            *scratch_bytes <= PTRDIFF_MAX) ||
           fail_memory(prepare->err, SIZE_MAX);
}

static void run_part(void *context, size_t part, size_t n_parts)
{
    const struct step *step = context;
    const struct sharing *sharing = step->flat.kernel.sharing;
    size_t begin = sharing->n * part / n_parts, end = sharing->n * (part + 1) / n_parts;
    sharing->run(step, begin, end);
}

bool sharing_run(const struct step *step, struct irrun_error *err)
{
    (void)err;
    const struct sharing *sharing = step->flat.kernel.sharing;
    if (sharing->n_parts <= 1)
        sharing->run(step, 0, sharing->n);
    else
        thread_pool_run(step->pool, run_part, (void *)step, sharing->n_parts);
    return true;
}

bool prepare_sharing(struct prepare *prepare, share_fn *run, size_t n, double work)
{
    size_t n_parts = thread_pool_n_parts(prepare->pool, work, n);
    if (n_parts <= 1 && prepare->made.flat.run)
        return true;
    struct sharing *sharing = arena_alloc(prepare->arena, sizeof *sharing, prepare->err);
    if (!sharing)
        return false;
    *sharing = (struct sharing){run, n, n_parts};
    prepare->made.flat = (struct flat){.run = sharing_run, .kernel.sharing = sharing};
    return true;
}
