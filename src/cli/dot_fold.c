/* Finds what --dot omits or combines: constants, chains of element-wise ops, repeated blocks.
 * SPDX-License-Identifier: Apache-2.0 */
#include <stdint.h>
#include <string.h>

#include "base/fast_hash.h"
#include "cli/dot_internal.h"

#define MIN_SAVED 6 /* a repetition must save at least this many nodes */
#define MAX_REPETITIONS 16

/* ---- Constants and chains -------------------------------------------------------------------- */

static bool has_type(const struct irrun_layer *layer, const char *type)
{
    return strcmp(layer->type, type) == 0;
}

/* Returns whether layer i depends only on constants. Results, ReadValues, Assigns and layers with a
 * ReadValue or Assign in their bodies never do. */
static bool depends_only_on_constants(const struct dot *dot, size_t i)
{
    const struct irrun_layer *layer = &dot->layers[i];
    if (layer->n_inputs == 0)
        return has_type(layer, "Const");
    if (has_type(layer, "Result"))
        return false;
    for (size_t k = 0; k < layer->n_inputs; k++)
        if (!dot->nodes[layer->inputs[k].layer].is_hidden)
            return false;
    for (size_t k = i; k < dot_body_end(dot, i); k++)
        if (dot->layers[k].variable)
            return false;
    return true;
}

/* Repeats until nothing changes, because layers may be listed before their inputs. */
static void find_constants(struct dot *dot)
{
    for (bool is_changed = true; is_changed;) {
        is_changed = false;
        for (size_t i = 0; i < dot->n; i++) {
            struct dot_node *node = &dot->nodes[i];
            if (node->is_hidden || !depends_only_on_constants(dot, i))
                continue;
            node->is_hidden = is_changed = true;
        }
    }
}

/* Joins each element-wise op with the only op that uses it, if that op is element-wise too. */
static bool find_chains(struct dot *dot, struct irrun_error *err)
{
    size_t *n_users = arena_alloc_array(&dot->arena, dot->n, sizeof *n_users, err);
    size_t *user = arena_alloc_array(&dot->arena, dot->n, sizeof *user, err);
    if (!n_users || !user)
        return false;
    for (size_t i = 0; i < dot->n; i++) {
        const struct irrun_layer *layer = &dot->layers[i];
        for (size_t k = 0; k < layer->n_inputs; k++) {
            size_t input = layer->inputs[k].layer;
            n_users[input] += n_users[input] == 0 || user[input] != i;
            user[input] = i;
        }
    }
    for (size_t i = dot->n; i-- > 0;) {
        bool joins = !dot->nodes[i].is_hidden && dot->layers[i].is_elementwise && n_users[i] == 1 &&
                     user[i] > i && dot->layers[user[i]].is_elementwise;
        dot->nodes[i].group = joins ? dot->nodes[user[i]].group : i;
    }
    return true;
}

/* ---- Repetitions ----------------------------------------------------------------------------- */

static bool have_same_outputs(const struct irrun_layer *a, const struct irrun_layer *b)
{
    if (a->n_outputs != b->n_outputs)
        return false;
    for (size_t i = 0; i < a->n_outputs; i++)
        if (a->outputs[i].dtype != b->outputs[i].dtype ||
            memcmp(&a->outputs[i].shape, &b->outputs[i].shape, sizeof a->outputs[i].shape) != 0)
            return false;
    return true;
}

/* Returns a digest of the types of each group's members, in order. Indexed by group. */
static uint64_t *digest_types(struct dot *dot, struct irrun_error *err)
{
    uint64_t *types = arena_alloc_array(&dot->arena, dot->n, sizeof *types, err);
    for (size_t i = 0; i < dot->n && types; i++) {
        const char *type = dot->layers[i].type;
        uint64_t *group = &types[dot->nodes[i].group];
        if (!dot->nodes[i].is_hidden)
            *group = fast_hash(*group, type, strlen(type) + 1);
    }
    return types;
}

/* Numbers the kinds of groups. Groups of the same kind have members of the same types, and outputs
 * of the same types and shapes. */
static uint32_t *number_kinds(struct dot *dot, struct irrun_error *err)
{
    uint32_t *kinds = arena_alloc_array(&dot->arena, dot->n_order + 1, sizeof *kinds, err);
    const uint64_t *types = digest_types(dot, err);
    for (size_t i = 0; i < dot->n_order && kinds && types; i++) {
        size_t group = dot->order[i], k = 0;
        while (k < i && (types[dot->order[k]] != types[group] ||
                         !have_same_outputs(&dot->layers[dot->order[k]], &dot->layers[group])))
            k++;
        kinds[i] = k < i ? kinds[k] : (uint32_t)i;
    }
    return types ? kinds : NULL;
}

/* Returns the repetition that saves the most nodes; of several such repetitions, the one with the
 * shortest block. */
static struct dot_repetition find_best_repetition(const uint32_t *kinds, size_t n)
{
    struct dot_repetition best = {0, 0, 0};
    size_t saved = MIN_SAVED - 1;
    for (size_t period = 2; period <= n / 2; period++) {
        for (size_t i = 0, length = 0; i + period < n; i++) {
            length = kinds[i] == kinds[i + period] ? length + 1 : 0;
            size_t n_more = length / period;
            if (n_more * period <= saved)
                continue;
            saved = n_more * period;
            best = (struct dot_repetition){i + 1 - length, period, n_more + 1};
        }
    }
    return best;
}

static void mark_repetition(struct dot *dot, const struct dot_repetition *found, uint32_t *kinds)
{
    for (size_t i = 0; i < found->period * found->count; i++) {
        size_t at = found->start + i;
        struct dot_node *node = &dot->nodes[dot->order[at]];
        node->shown = dot->order[found->start + i % found->period];
        node->block = i / found->period + 1;
        node->repetition = dot->n_repetitions;
        kinds[at] = UINT32_MAX - (uint32_t)at; /* not part of another repetition */
    }
    dot->repetitions[dot->n_repetitions++] = *found;
}

static bool find_repetitions(struct dot *dot, struct irrun_error *err)
{
    uint32_t *kinds = number_kinds(dot, err);
    dot->repetitions =
        arena_alloc_array(&dot->arena, MAX_REPETITIONS, sizeof *dot->repetitions, err);
    if (!kinds || !dot->repetitions)
        return false;
    while (dot->n_repetitions < MAX_REPETITIONS) {
        const struct dot_repetition found = find_best_repetition(kinds, dot->n_order);
        if (found.count == 0)
            return true;
        mark_repetition(dot, &found, kinds);
    }
    return true;
}

/* ---- Bodies ---------------------------------------------------------------------------------- */

size_t dot_body_end(const struct dot *dot, size_t i)
{
    size_t depth = strlen(dot->layers[i].path), end = i + 1;
    while (end < dot->n && strlen(dot->layers[end].path) > depth)
        end++;
    return end;
}

/* Hides the bodies of ops that are not shown. */
static void hide_bodies(struct dot *dot)
{
    for (size_t i = 0; i < dot->n; i++)
        for (size_t body = i + 1; body < dot_body_end(dot, i); body++)
            if (dot->nodes[i].is_hidden || dot->nodes[i].shown != i)
                dot->nodes[body].is_hidden = true;
}

/* ---- dot_fold -------------------------------------------------------------------------------- */

bool dot_fold(struct dot *dot, struct irrun_error *err)
{
    dot->nodes = arena_alloc_array(&dot->arena, dot->n, sizeof *dot->nodes, err);
    dot->order = arena_alloc_array(&dot->arena, dot->n, sizeof *dot->order, err);
    if (!dot->nodes || !dot->order)
        return false;
    for (size_t i = 0; i < dot->n; i++)
        dot->nodes[i] = (struct dot_node){.shown = i};
    find_constants(dot);
    if (!find_chains(dot, err))
        return false;
    for (size_t i = 0; i < dot->n; i++)
        if (!dot->nodes[i].is_hidden && dot->nodes[i].group == i && dot->layers[i].path[0] == '\0')
            dot->order[dot->n_order++] = i;
    if (!find_repetitions(dot, err))
        return false;
    hide_bodies(dot);
    return true;
}
