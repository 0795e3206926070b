/* Finds the number of frames in the shapes that a model computes.
 * SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "plan/graph_ints.h"
#include "plan/time_axis.h"
#include "plan/time_rules.h"

/* The maximum number of visits to ops for one list. There can be many paths to an op, because ops
 * may share inputs. */
#define MAX_VISITS 256

struct search {
    const struct time_walk *walk;
    unsigned n_visits;
};

static bool find_items(struct search *search, uint32_t value_id, struct time_items *list);

static bool read_numbers(const struct graph *graph, uint32_t value_id, struct time_items *list)
{
    int64_t numbers[IRRUN_MAX_RANK];
    if (!graph_ints(graph, value_id, numbers, IRRUN_MAX_RANK, &list->n))
        return false;
    for (uint32_t i = 0; i < list->n; i++)
        list->items[i] = (struct time_item){TIME_ITEM_NUMBER, numbers[i]};
    return true;
}

static bool find_shape(const struct time_walk *walk, uint32_t value_id, struct time_items *list)
{
    const struct time_use *use = &walk->uses[value_id];
    list->n = time_rank(walk->graph, value_id);
    if (use->kind == TIME_REFUSED || list->n == 0)
        return false;
    for (uint32_t i = 0; i < list->n; i++) {
        int64_t dim = time_dim(walk->graph, value_id, i);
        if (use->kind == TIME_ALONG && use->axis == i)
            list->items[i] = (struct time_item){TIME_ITEM_FRAMES, use->outer * use->inner};
        else
            list->items[i] = (struct time_item){dim < 0 ? TIME_ITEM_OTHER : TIME_ITEM_NUMBER, dim};
    }
    return true;
}

static bool is_number(const struct time_items *list, uint32_t i)
{
    return list->items[i].kind == TIME_ITEM_NUMBER;
}

static bool gather(const struct time_items *data, const struct time_items *indices,
                   struct time_items *list)
{
    list->n = indices->n;
    for (uint32_t i = 0; i < indices->n; i++) {
        int64_t index = indices->items[i].number;
        index = index < 0 ? index + (int64_t)data->n : index;
        if (!is_number(indices, i) || index < 0 || index >= (int64_t)data->n)
            return false;
        list->items[i] = data->items[index];
    }
    return true;
}

static bool concatenate(struct search *search, const struct op *op, struct time_items *list)
{
    struct time_items part;
    list->n = 0;
    for (uint32_t i = 0; i < op->n_inputs; i++) {
        if (!find_items(search, op_input(search->walk->graph, op, i), &part) ||
            part.n > IRRUN_MAX_RANK - list->n)
            return false;
        memcpy(list->items + list->n, part.items, part.n * sizeof *part.items);
        list->n += part.n;
    }
    return true;
}

/* Multiplies items. Returns false if, for an item, neither operand is a known number. */
static bool multiply(const struct time_items *a, const struct time_items *b,
                     struct time_items *list)
{
    list->n = a->n > b->n ? a->n : b->n;
    if ((a->n != list->n && a->n != 1) || (b->n != list->n && b->n != 1))
        return false;
    for (uint32_t i = 0; i < list->n; i++) {
        struct time_item x = a->items[a->n == 1 ? 0 : i], y = b->items[b->n == 1 ? 0 : i];
        if (x.kind != TIME_ITEM_NUMBER && y.kind != TIME_ITEM_NUMBER)
            return false;
        list->items[i] = (struct time_item){TIME_ITEM_NUMBER, x.number * y.number};
        if (x.kind != y.kind)
            list->items[i].kind = x.kind == TIME_ITEM_NUMBER ? y.kind : x.kind;
    }
    return true;
}

/* Broadcasts an item to the length `target`. If the length is unknown, keeps one item, since all
 * items are the same. */
static bool repeat(const struct time_items *data, const struct time_items *target,
                   struct time_items *list)
{
    *list = *data;
    if (data->n != 1 || target->n != 1)
        return data->n == 1;
    int64_t n = is_number(target, 0) ? target->items[0].number : 1;
    for (list->n = 0; list->n < n && list->n < IRRUN_MAX_RANK; list->n++)
        list->items[list->n] = data->items[0];
    return list->n > 0;
}

static bool find_binary(struct search *search, const struct op *op, struct time_items *list)
{
    const struct graph *graph = search->walk->graph;
    struct time_items a, b;
    if (op->n_inputs < 2 || !find_items(search, op_input(graph, op, 0), &a))
        return false;
    bool is_known = find_items(search, op_input(graph, op, 1), &b);
    if (op_is_type(op, "Broadcast")) {
        b.n = is_known ? b.n : 0;
        return repeat(&a, &b, list);
    }
    if (op_is_type(op, "Gather"))
        return is_known && gather(&a, &b, list);
    if (op_is_type(op, "Multiply"))
        return is_known && multiply(&a, &b, list);
    return false;
}

static bool find_product(const struct time_items *data, struct time_items *list)
{
    struct time_items one = {.n = 1};
    list->n = 1;
    list->items[0] = (struct time_item){TIME_ITEM_NUMBER, 1};
    for (uint32_t i = 0; i < data->n; i++) {
        struct time_items before = *list;
        one.items[0] = data->items[i];
        if (!multiply(&before, &one, list))
            return false;
    }
    return true;
}

static bool find_items(struct search *search, uint32_t value_id, struct time_items *list)
{
    const struct graph *graph = search->walk->graph;
    const struct op *op = value_producer(graph, value_id);
    if (search->n_visits++ == MAX_VISITS)
        return false;
    if (op->def->role == ROLE_CONST)
        return read_numbers(graph, value_id, list);
    if (op->def->role != ROLE_ORDINARY || op->n_inputs == 0)
        return false;
    uint32_t first = op_input(graph, op, 0);
    if (op_is_type(op, "ShapeOf"))
        return find_shape(search->walk, first, list);
    if (op_is_type(op, "Concat"))
        return concatenate(search, op, list);
    if (op_is_type(op, "Convert") || op_is_type(op, "Squeeze") || op_is_type(op, "Unsqueeze") ||
        op_is_type(op, "Reshape"))
        return find_items(search, first, list);
    if (op_is_type(op, "ReduceProd")) {
        struct time_items data;
        return find_items(search, first, &data) && find_product(&data, list);
    }
    return find_binary(search, op, list);
}

bool time_items_find(const struct time_walk *walk, uint32_t value_id, struct time_items *list)
{
    struct search search = {.walk = walk};
    return find_items(&search, value_id, list);
}
