/* The hash table of step times. The key of a step is its ops.
 * SPDX-License-Identifier: Apache-2.0 */
#include "plan/step_times.h"

#include <stdlib.h>
#include <string.h>

static size_t hash(const struct step_times *key)
{
    uint64_t h = (uint64_t)(uintptr_t)key->members[0] * 0x9e3779b97f4a7c15;
    h = (h ^ (uint64_t)key->n_members << 1 ^ key->is_conversion) * 0xc2b2ae3d27d4eb4f;
    return (size_t)(h >> 32);
}

static bool is_same(const struct step_times *a, const struct step_times *b)
{
    return a->n_members == b->n_members && a->is_conversion == b->is_conversion &&
           memcmp(a->members, b->members, a->n_members * sizeof(struct op *)) == 0;
}

/* Returns the bucket of the entry, or the empty bucket for it. */
static struct step_times **find_bucket(const struct step_times_table *table,
                                       const struct step_times *key)
{
    size_t i = hash(key) & (table->n_buckets - 1);
    while (table->buckets[i] && !is_same(table->buckets[i], key))
        i = (i + 1) & (table->n_buckets - 1);
    return &table->buckets[i];
}

/* Grows the table, so that half of the buckets stay empty. */
static bool grow(struct step_times_table *table, struct irrun_error *err)
{
    if (!GROW_ARRAY(table->items, table->n, table->capacity, err))
        return false;
    if (2 * (table->n + 1) <= table->n_buckets)
        return true;
    size_t n_buckets = table->n_buckets > 0 ? 2 * table->n_buckets : 64;
    struct step_times **buckets = new_array(n_buckets, sizeof *buckets, err);
    if (!buckets)
        return false;
    free(table->buckets);
    table->buckets = buckets;
    table->n_buckets = n_buckets;
    for (size_t i = 0; i < table->n; i++)
        *find_bucket(table, table->items[i]) = table->items[i];
    return true;
}

struct step_times *step_times_find(struct step_times_table *table, const struct step_times *key,
                                   struct irrun_error *err)
{
    if (!grow(table, err))
        return NULL;
    struct step_times **bucket = find_bucket(table, key);
    if (*bucket)
        return *bucket;
    struct step_times *times = arena_alloc(&table->arena, sizeof *times, err);
    const struct op **members =
        arena_copy(&table->arena, key->members, key->n_members, sizeof *members, err);
    if (!times || !members)
        return NULL;
    *times = (struct step_times){.graph = key->graph,
                                 .members = members,
                                 .n_members = key->n_members,
                                 .is_conversion = key->is_conversion};
    return *bucket = table->items[table->n++] = times;
}

void step_times_clear(struct step_times_table *table)
{
    table->n_plans = table->plan_ns = 0;
    for (size_t i = 0; i < table->n; i++) {
        struct step_times *times = table->items[i];
        times->n_calls = times->time_ns = 0;
        times->flops = times->bytes = 0;
    }
}

void step_times_free(struct step_times_table *table)
{
    free(table->items);
    free(table->buckets);
    arena_free(&table->arena);
}
