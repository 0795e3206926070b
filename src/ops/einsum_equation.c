/* Parses the equation of an Einsum.
 * SPDX-License-Identifier: Apache-2.0 */
#include "ops/einsum_equation.h"

#include <string.h>

/* A subscript such as "ab...c". */
struct subscript {
    const char *at, *end;
    uint32_t n_letters;
    bool has_ellipsis;
};

static bool is_letter(char c)
{
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
}

static uint8_t label_of(char letter)
{
    return (uint8_t)(letter <= 'Z' ? letter - 'A' : letter - 'a' + 26);
}

static bool fail_equation(struct infer *infer, const char *text, const char *why)
{
    return infer_fail(infer, "equation \"%.200s\" %s", text, why);
}

/* Checks the subscript from `at` to `end` and counts its letters. Blanks and one ellipsis are
 * allowed. */
static bool scan(struct infer *infer, const char *text, const char *at, const char *end,
                 struct subscript *subscript)
{
    *subscript = (struct subscript){.at = at, .end = end};
    while (at < end) {
        if (is_letter(*at)) {
            subscript->n_letters++;
            at++;
        } else if (*at == ' ') {
            at++;
        } else if (end - at >= 3 && memcmp(at, "...", 3) == 0 && !subscript->has_ellipsis) {
            subscript->has_ellipsis = true;
            at += 3;
        } else {
            return fail_equation(infer, text,
                                 "is not a list of letters and ellipses with \",\" and \"->\"");
        }
    }
    return true;
}

/* Writes the labels of a subscript whose ellipsis stands for n_more dimensions. */
static void expand(const struct subscript *subscript, uint32_t n_more, struct einsum_labels *labels)
{
    labels->n = 0;
    for (const char *at = subscript->at; at < subscript->end; at++) {
        if (is_letter(*at))
            labels->items[labels->n++] = label_of(*at);
        if (*at != '.')
            continue;
        for (uint32_t i = 0; i < n_more; i++)
            labels->items[labels->n++] = (uint8_t)(EINSUM_N_LABELS - n_more + i);
        at += 2;
    }
}

static bool add_dims(struct infer *infer, uint32_t input, struct einsum_equation *equation)
{
    const struct einsum_labels *labels = &equation->inputs[input];
    for (uint32_t i = 0; i < labels->n; i++) {
        int64_t dim = infer->in[input]->shape.dims[i], *known = &equation->dims[labels->items[i]];
        if (*known == -1 || *known == 1)
            *known = dim;
        else if (dim != 1 && dim != *known)
            return infer_fail_input(infer, input,
                                    "%lld along axis %u, as elsewhere in the equation",
                                    (long long)*known, i);
    }
    return true;
}

/* Parses the subscripts before "->", one for each input. Sets *n_ellipsis to the largest number of
 * dimensions that an ellipsis stands for. */
static bool read_inputs(struct infer *infer, const char *text, const char *end,
                        uint32_t *n_ellipsis, struct einsum_equation *equation)
{
    const char *at = text;
    *n_ellipsis = 0;
    for (uint32_t i = 0; i < infer->n_inputs; i++) {
        const char *comma = memchr(at, ',', (size_t)(end - at));
        bool is_last = i + 1 == infer->n_inputs;
        if (!comma != is_last)
            return infer_fail(infer, "equation \"%.200s\" does not have %u inputs", text,
                              infer->n_inputs);
        struct subscript subscript;
        if (!scan(infer, text, at, comma ? comma : end, &subscript))
            return false;
        uint32_t rank = infer->in[i]->shape.rank, n_letters = subscript.n_letters;
        if (rank < n_letters || (rank > n_letters && !subscript.has_ellipsis))
            return infer_fail_input(infer, i, "%s%u dimensions to match equation \"%.200s\"",
                                    subscript.has_ellipsis ? "at least " : "", n_letters, text);
        expand(&subscript, rank - n_letters, &equation->inputs[i]);
        if (subscript.has_ellipsis && rank - n_letters > *n_ellipsis)
            *n_ellipsis = rank - n_letters;
        if (!add_dims(infer, i, equation))
            return false;
        at = comma ? comma + 1 : end;
    }
    return true;
}

static bool read_output(struct infer *infer, const char *text, const char *at, uint32_t n_ellipsis,
                        struct einsum_equation *equation)
{
    struct subscript subscript;
    bool is_used[EINSUM_N_LABELS] = {false};
    if (!scan(infer, text, at, at + strlen(at), &subscript))
        return false;
    if (subscript.n_letters > IRRUN_MAX_RANK ||
        subscript.n_letters + (subscript.has_ellipsis ? n_ellipsis : 0) > IRRUN_MAX_RANK)
        return fail_equation(infer, text, "has too many dimensions in its output");
    expand(&subscript, n_ellipsis, &equation->out);
    for (uint32_t i = 0; i < equation->out.n; i++) {
        uint8_t label = equation->out.items[i];
        if (equation->dims[label] == -1 || is_used[label])
            return fail_equation(infer, text,
                                 "has an output label that is repeated or not in the inputs");
        is_used[label] = true;
    }
    return true;
}

/* Derives the output of an equation without "->": the dimensions of the ellipses, then every label
 * that occurs once, in ASCII order. */
static bool make_output(struct infer *infer, const char *text, uint32_t n_ellipsis,
                        struct einsum_equation *equation)
{
    uint32_t n_times[EINSUM_N_LABELS] = {0}, n = 0;
    for (uint32_t i = 0; i < infer->n_inputs; i++)
        for (uint32_t k = 0; k < equation->inputs[i].n; k++)
            n_times[equation->inputs[i].items[k]]++;
    for (uint32_t i = 0; i < n_ellipsis; i++)
        equation->out.items[n++] = (uint8_t)(EINSUM_N_LABELS - n_ellipsis + i);
    for (uint8_t label = 0; label < EINSUM_N_LETTERS; label++) {
        if (n_times[label] != 1)
            continue;
        if (n == IRRUN_MAX_RANK)
            return fail_equation(infer, text, "has too many dimensions in its output");
        equation->out.items[n++] = label;
    }
    equation->out.n = n;
    return true;
}

bool infer_einsum(struct infer *infer, const char *text, struct einsum_equation *equation)
{
    equation->inputs =
        arena_alloc_array(infer->arena, infer->n_inputs, sizeof *equation->inputs, infer->err);
    if (!equation->inputs)
        return false;
    for (uint32_t i = 0; i < EINSUM_N_LABELS; i++)
        equation->dims[i] = -1;
    const char *arrow = strstr(text, "->");
    uint32_t n_ellipsis;
    if (!read_inputs(infer, text, arrow ? arrow : text + strlen(text), &n_ellipsis, equation))
        return false;
    return arrow ? read_output(infer, text, arrow + 2, n_ellipsis, equation)
                 : make_output(infer, text, n_ellipsis, equation);
}

/* ---- the number of operations ---- */

static void enlarge(double *size, int64_t dim)
{
    if (*size < (double)dim)
        *size = (double)dim;
}

/* Raises the size of each label of an input to its dimension, if that is larger. Returns the end of
 * the subscript. */
static const char *read_sizes(const char *term, const struct irrun_shape *shape,
                              double sizes[EINSUM_N_LABELS])
{
    const char *end = term + strcspn(term, ",-");
    uint32_t n_letters = 0, axis = 0;
    for (const char *at = term; at < end; at++)
        n_letters += is_letter(*at);
    uint32_t n_more = shape->rank > n_letters ? shape->rank - n_letters : 0;
    for (const char *at = term; at < end && axis < shape->rank; at++) {
        if (is_letter(*at))
            enlarge(&sizes[label_of(*at)], shape->dims[axis++]);
        for (uint32_t i = 0; i < n_more && strncmp(at, "...", 3) == 0; i++)
            enlarge(&sizes[EINSUM_N_LABELS - n_more + i], shape->dims[axis++]);
    }
    return end;
}

double einsum_flops(const char *equation, struct irrun_tensor *const *in, uint32_t n_inputs)
{
    double sizes[EINSUM_N_LABELS] = {0}, n = 2;
    for (uint32_t i = 0; i < n_inputs; i++) {
        const char *end = read_sizes(equation, &in[i]->shape, sizes);
        equation = end + (*end == ',');
    }
    for (size_t i = 0; i < EINSUM_N_LABELS; i++)
        n *= sizes[i] > 0 ? sizes[i] : 1;
    return n;
}
