/* Reads the attributes of the recurrent ops: activations, clip, the order of the gates.
 * recurrent_op.c checks shapes.
 * SPDX-License-Identifier: Apache-2.0 */
#include <float.h>
#include <math.h>
#include <string.h>

#include "base/text.h"
#include "ops/recurrent_op.h"

static const char *const function_names[] = {
    [RECURRENT_SIGMOID] = "sigmoid",
    [RECURRENT_TANH] = "tanh",
    [RECURRENT_RELU] = "relu",
    [RECURRENT_HARDSIGMOID] = "hardsigmoid",
};

static const char *const default_activations[][3] = {
    [RECURRENT_RNN] = {"tanh"},
    [RECURRENT_GRU] = {"sigmoid", "tanh"},
    [RECURRENT_LSTM] = {"sigmoid", "tanh", "tanh"},
};
static const uint32_t n_activations[] = {
    [RECURRENT_RNN] = 1, [RECURRENT_GRU] = 2, [RECURRENT_LSTM] = 3};

#define N_FUNCTIONS (sizeof function_names / sizeof function_names[0])

/* For each weights_format, the positions of gates f, i, c and o. OpenVINO always writes ifco
 * although its weights are in the order f, i, c, o, so ifco is read as fico. */
static const uint8_t gate_slots[][4] = {
    {0, 1, 2, 3}, /* fico */
    {3, 0, 1, 2}, /* icof */
    {0, 1, 2, 3}, /* ifco */
    {1, 0, 3, 2}, /* ifoc */
    {2, 0, 3, 1}, /* iofc */
};

static bool parse_function(struct infer *infer, const char *name, enum recurrent_function *function)
{
    for (unsigned i = 0; i < N_FUNCTIONS; i++) {
        if (text_equals_ignore_case(name, function_names[i])) {
            *function = (enum recurrent_function)i;
            return true;
        }
    }
    return infer_fail(
        infer, "activation \"%.80s\" does not exist, expected sigmoid, tanh, relu or hardsigmoid",
        name);
}

/* Checks the activations of the second direction, which some IR files also list. They must equal
 * those of the first direction, because irrun uses the same activations for both. */
static bool check_repeats(struct infer *infer, const struct string_list *list, uint32_t n)
{
    for (uint32_t i = n; i < list->n; i++) {
        if (!text_equals_ignore_case(list->items[i], list->items[i % n]))
            return infer_fail(infer,
                              "activations has %u items, expected %u: item %u is %.80s, but item "
                              "%u is %.80s, and all directions share them",
                              list->n, n, i, list->items[i], i % n, list->items[i % n]);
    }
    return true;
}

/* Reads alpha or beta of the activation at `position`: the item with the same position, whether or
 * not other activations have parameters. */
static bool read_parameter(struct infer *infer, const char *attribute, const struct f64_list *list,
                           uint32_t position, double *parameter)
{
    uint32_t n = n_activations[recurrent_family_of(infer->op)->kind];
    if (list->n == 0)
        return true;
    if (position >= list->n)
        return infer_fail(infer,
                          "%s has %u items, but activation %u is hardsigmoid and needs one: "
                          "list one for each of the %u activations, or none",
                          attribute, list->n, position, n);
    *parameter = list->items[position];
    for (uint32_t i = position + n; i < list->n; i += n) {
        if (list->items[i] != *parameter)
            return infer_fail(infer,
                              "%s has %u items, expected %u: item %u differs from item %u, "
                              "and all directions share them",
                              attribute, list->n, n, i, position);
    }
    return true;
}

static bool read_activations(struct infer *infer, struct recurrent *recurrent)
{
    const struct recurrent_attrs *attrs = infer->attrs;
    const struct string_list *list = &attrs->activations;
    const char *const *defaults = default_activations[recurrent->kind];
    uint32_t n = n_activations[recurrent->kind];
    if (list->n != 0 && list->n < n)
        return infer_fail(infer, "activations has %u items, expected %u (%s%s%s%s%s by default)",
                          list->n, n, defaults[0], n > 1 ? ", " : "", n > 1 ? defaults[1] : "",
                          n > 2 ? ", " : "", n > 2 ? defaults[2] : "");
    for (uint32_t i = 0; i < n; i++) {
        struct recurrent_activation *activation = &recurrent->activations[i];
        const char *name = list->n != 0 ? list->items[i] : defaults[i];
        if (!parse_function(infer, name, &activation->function))
            return false;
        activation->alpha = 0.2;
        activation->beta = 0.5;
        if (activation->function == RECURRENT_HARDSIGMOID &&
            (!read_parameter(infer, "activations_alpha", &attrs->activations_alpha, i,
                             &activation->alpha) ||
             !read_parameter(infer, "activations_beta", &attrs->activations_beta, i,
                             &activation->beta)))
            return false;
    }
    return list->n == 0 || check_repeats(infer, list, n);
}

bool recurrent_read_attrs(struct infer *infer, struct recurrent *recurrent)
{
    const struct recurrent_attrs *attrs = infer->attrs;
    const struct recurrent_family *family = recurrent_family_of(infer->op);
    recurrent->kind = family->kind;
    recurrent->is_reverse = attrs->direction == DIRECTION_REVERSE;
    recurrent->n_directions = attrs->direction == DIRECTION_BIDIRECTIONAL ? 2 : 1;
    recurrent->clip = attrs->clip > 0 && attrs->clip < FLT_MAX ? attrs->clip : INFINITY;
    recurrent->input_forget = attrs->input_forget;
    recurrent->linear_before_reset = attrs->linear_before_reset;
    memcpy(recurrent->slots, gate_slots[attrs->weights_format], sizeof recurrent->slots);
    return read_activations(infer, recurrent);
}
