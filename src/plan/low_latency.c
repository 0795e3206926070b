/* --low-latency: chooses the recurrent ops whose state is kept in variables, and the input axes
 * that become dynamic because they are time axes. low_latency_edit.c changes the graph.
 * SPDX-License-Identifier: Apache-2.0 */
#include "plan/passes.h"

#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "ops/op_state.h"
#include "plan/low_latency_internal.h"

/* An input axis that may be time, and how each value then depends on time. */
struct candidate {
    uint32_t parameter; /* op id */
    uint32_t axis;
    struct time_use *uses; /* [n_values] */
    bool is_chosen;
};

struct choice {
    struct low_latency *pass;
    struct candidate *items;
    size_t n, capacity;
};

/* ---- the recurrent ops ---- */

static bool list_recurrences(struct low_latency *pass)
{
    const struct graph *graph = pass->graph;
    size_t capacity = 0;
    for (uint32_t i = 0; i < graph->n_order; i++) {
        struct recurrence found;
        if (!recurrence_find(graph, graph->order[i], &found, pass->arena, pass->err))
            return false;
        if (found.kind == RECURRENCE_NONE)
            continue;
        if (!GROW_ARRAY(pass->items, pass->n, capacity, pass->err))
            return false;
        pass->items[pass->n++] = found;
    }
    return true;
}

/* Checks that every name is the name of a recurrent op. */
static bool check_names(struct low_latency *pass, const char *names)
{
    for (const char *at = names; *at != '\0';) {
        size_t length = strcspn(at, ",");
        bool is_found = false;
        for (size_t i = 0; i < pass->n && !is_found; i++) {
            const char *name = pass->graph->ops[pass->items[i].op_id].name;
            is_found = strlen(name) == length && strncmp(name, at, length) == 0;
        }
        if (!is_found) {
            fail(pass->err, IRRUN_USAGE, "no recurrent op is called \"%.*s\"%s", (int)length, at,
                 pass->n > 0 ? "; the model has:" : "");
            for (size_t i = 0; i < pass->n && i < 10; i++)
                fail_append(pass->err, "\n  %s", pass->graph->ops[pass->items[i].op_id].name);
            return false;
        }
        at += length + (at[length] == ',');
    }
    return true;
}

/* Adds an op to the error, with the reason why it cannot run in chunks. */
static bool refuse(struct low_latency *pass, const struct op *op, const char *why)
{
    if (pass->n_refused++ == 0)
        return fail_at(pass->err, IRRUN_UNSUPPORTED, op_place(pass->graph, op),
                       "the model cannot run in chunks: %s \"%.200s\" %s", op->def->type, op->name,
                       why);
    return fail_append(pass->err, "\n  %s \"%.200s\" (line %u) %s", op->def->type, op->name,
                       op->line, why);
}

/* Marks the ops whose state is kept between chunks. */
static bool choose_ops(struct low_latency *pass, const char *names)
{
    size_t n_chosen = 0;
    for (size_t i = 0; i < pass->n; i++) {
        struct recurrence *item = &pass->items[i];
        const struct op *op = &pass->graph->ops[item->op_id];
        bool is_named = *names == '\0' || text_list_has(names, op->name);
        if (*names && is_named && item->kind == RECURRENCE_REFUSED)
            refuse(pass, op, item->why);
        if (item->kind == RECURRENCE_ADAPTABLE && !is_named)
            item->kind = RECURRENCE_NONE;
        pass->carries[item->op_id] =
            item->kind == RECURRENCE_ADAPTABLE || item->kind == RECURRENCE_CARRIED;
        n_chosen += item->kind == RECURRENCE_ADAPTABLE;
    }
    if (pass->n_refused > 0 || n_chosen > 0)
        return pass->n_refused == 0;
    for (size_t i = 0; i < pass->n; i++)
        if (pass->items[i].kind == RECURRENCE_REFUSED)
            refuse(pass, &pass->graph->ops[pass->items[i].op_id], pass->items[i].why);
    if (pass->n_refused == 0)
        fail_at(pass->err, IRRUN_UNSUPPORTED, whole_file(pass->graph->file),
                pass->n > 0 ? "its recurrent ops have no state, or keep it in variables already"
                            : "the model has no LSTMSequence, GRUSequence, RNNSequence, "
                              "TensorIterator or Loop to run in chunks");
    return false;
}

/* ---- the time axis ---- */

/* Returns the value whose slices are the frames of a recurrent op. */
static uint32_t frames_of(const struct graph *graph, const struct recurrence *item)
{
    return op_input(graph, &graph->ops[item->op_id], item->x);
}

/* Sets the time axes of all inputs: the axis of `only`, or, if it is NULL, the chosen axes. */
static void set_inputs(struct choice *choice, const struct candidate *only)
{
    const struct graph *graph = choice->pass->graph;
    for (uint32_t i = 0; i < graph->n_parameters; i++)
        choice->pass->walk.uses[graph->ops[graph->parameters[i]].first_output] =
            (struct time_use){.kind = TIME_NONE};
    for (size_t i = 0; i < choice->n; i++) {
        const struct candidate *item = &choice->items[i];
        if (only ? item == only : item->is_chosen)
            choice->pass->walk.uses[graph->ops[item->parameter].first_output] =
                (struct time_use){.kind = TIME_ALONG, .axis = item->axis, .outer = 1, .inner = 1};
    }
}

static bool add_candidate(struct choice *choice, uint32_t parameter, uint32_t axis)
{
    struct low_latency *pass = choice->pass;
    size_t n = pass->graph->n_values;
    if (!GROW_ARRAY(choice->items, choice->n, choice->capacity, pass->err))
        return false;
    struct candidate *item = &choice->items[choice->n];
    *item = (struct candidate){.parameter = parameter, .axis = axis};
    item->uses = new_array(n, sizeof *item->uses, pass->err);
    if (!item->uses)
        return false;
    choice->n++;
    set_inputs(choice, item);
    pass->walk.is_trial = true;
    pass->walk.n_frames = time_dim(pass->graph, pass->graph->ops[parameter].first_output, axis);
    time_walk_run(&pass->walk);
    pass->walk.is_trial = false;
    pass->walk.n_frames = -1;
    memcpy(item->uses, pass->walk.uses, n * sizeof *item->uses);
    return pass->err->code == IRRUN_OK;
}

static bool list_candidates(struct choice *choice)
{
    const struct graph *graph = choice->pass->graph;
    for (uint32_t i = 0; i < graph->n_parameters; i++) {
        const struct parameter_attrs *attrs = graph->ops[graph->parameters[i]].attrs;
        uint32_t rank = attrs->shape.is_rank_dynamic ? 0 : attrs->shape.rank;
        for (uint32_t axis = 0; axis < rank; axis++)
            if (!add_candidate(choice, graph->parameters[i], axis))
                return false;
    }
    return true;
}

static bool reaches(const struct time_use *uses, const struct graph *graph,
                    const struct recurrence *item)
{
    const struct time_use *use = &uses[frames_of(graph, item)];
    return use->kind == TIME_ALONG && use->axis == item->axis;
}

/* Fails because the time axis of the op is not an axis of any input. If there is a likely input
 * axis, reports the op that prevents following it. */
static bool fail_unreached(struct choice *choice, const struct recurrence *item)
{
    struct low_latency *pass = choice->pass;
    const struct candidate *likely = NULL;
    uint32_t x = frames_of(pass->graph, item);
    for (size_t i = 0; i < choice->n; i++) {
        const struct candidate *other = &choice->items[i];
        uint32_t value_id = pass->graph->ops[other->parameter].first_output;
        if (other->uses[x].kind == TIME_REFUSED &&
            (!likely ||
             time_dim(pass->graph, value_id, other->axis) == time_dim(pass->graph, x, item->axis)))
            likely = other;
    }
    set_inputs(choice, likely);
    if (likely && !time_walk_run(&pass->walk))
        return false;
    return refuse(pass, &pass->graph->ops[item->op_id],
                  "runs over frames that are not a dimension of any input");
}

/* Chooses the input axes that lead to the time axis of a recurrent op. */
static bool choose_axes(struct choice *choice)
{
    struct low_latency *pass = choice->pass;
    const struct candidate *before = NULL;
    for (size_t i = 0; i < pass->n; i++) {
        bool is_reached = false;
        if (pass->items[i].kind != RECURRENCE_ADAPTABLE)
            continue;
        for (size_t k = 0; k < choice->n; k++) {
            if (!reaches(choice->items[k].uses, pass->graph, &pass->items[i]))
                continue;
            is_reached = choice->items[k].is_chosen = true;
        }
        if (!is_reached)
            return fail_unreached(choice, &pass->items[i]);
        if (pass->walk.n_frames < 0)
            pass->walk.n_frames =
                time_dim(pass->graph, frames_of(pass->graph, &pass->items[i]), pass->items[i].axis);
    }
    for (size_t k = 0; k < choice->n; k++) {
        const struct candidate *item = &choice->items[k];
        if (!item->is_chosen)
            continue;
        if (before && before->parameter == item->parameter) {
            refuse(pass, &pass->graph->ops[item->parameter],
                   "has two dimensions that recurrent ops run over");
            return fail_hint(pass->err, "name the ops that run over time: --low-latency=NAME,...");
        }
        before = item;
    }
    return true;
}

/* If the walk stopped at an operand without a time axis, finds the input axis that the operand
 * comes from, and makes it a time axis, too. Returns false if there is no such input axis. */
static bool add_operand(struct choice *choice)
{
    const struct time_walk *walk = &choice->pass->walk;
    for (size_t i = 0; i < choice->n && walk->operand != NO_ID; i++) {
        struct candidate *item = &choice->items[i];
        const struct time_use *use = &item->uses[walk->operand];
        const struct time_use *now = &walk->uses[walk->graph->ops[item->parameter].first_output];
        if (use->kind != TIME_ALONG || use->axis != walk->operand_axis || now->kind == TIME_ALONG)
            continue;
        item->is_chosen = true;
        error_clear(choice->pass->err);
        return true;
    }
    return false;
}

static bool check_lengths(struct low_latency *pass)
{
    for (size_t i = 0; i < pass->n; i++) {
        struct recurrence *item = &pass->items[i];
        const struct op *op = &pass->graph->ops[item->op_id];
        bool is_fixed = false,
             runs = pass->carries[item->op_id] && reaches(pass->walk.uses, pass->graph, item);
        if (item->kind == RECURRENCE_ADAPTABLE && !runs)
            refuse(pass, op, "does not run over time");
        else if (runs && item->lengths != NO_ID &&
                 !recurrence_check_lengths(&pass->walk, item, &is_fixed))
            refuse(pass, op,
                   op->n_bodies == 0 ? "has sequence_lengths that are not the number of frames"
                                     : "has a trip_count that is not the number of frames");
        if (!is_fixed)
            item->lengths = NO_ID;
    }
    return pass->n_refused == 0;
}

static bool choose_time(struct low_latency *pass)
{
    struct choice choice = {.pass = pass};
    bool is_chosen = list_candidates(&choice) && choose_axes(&choice);
    while (is_chosen) {
        set_inputs(&choice, NULL);
        is_chosen = time_walk_run(&pass->walk);
        if (is_chosen || !add_operand(&choice))
            break;
        is_chosen = true;
    }
    for (size_t i = 0; i < choice.n; i++)
        free(choice.items[i].uses);
    free(choice.items);
    return is_chosen && check_lengths(pass);
}

/* If remarks is NULL, checks but does not change the graph. */
bool low_latency_apply(struct graph *graph, struct arena *arena, const char *names,
                       struct remarks *remarks, struct irrun_error *err)
{
    struct low_latency pass = {.graph = graph, .arena = arena, .err = err};
    pass.carries = new_array(graph->n_ops, sizeof *pass.carries, err);
    pass.walk = (struct time_walk){.graph = graph,
                                   .carries = pass.carries,
                                   .n_frames = -1,
                                   .uses = new_array(graph->n_values, sizeof *pass.walk.uses, err),
                                   .err = err};
    bool is_done = pass.carries && pass.walk.uses && list_recurrences(&pass) &&
                   check_names(&pass, names) && choose_ops(&pass, names) && choose_time(&pass) &&
                   (!remarks || low_latency_edit(&pass, remarks));
    free(pass.items);
    free(pass.carries);
    free(pass.walk.uses);
    free(pass.walk.reshapes);
    return is_done;
}

bool low_latency_fits(struct graph *graph, struct arena *arena)
{
    struct irrun_error why;
    error_clear(&why);
    return low_latency_apply(graph, arena, "", NULL, &why);
}
