/* Compares all elements of two tensors, counts those that differ and keeps the worst one.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_CLI_DIFFERENCE_H
#define IRRUN_CLI_DIFFERENCE_H

#include "cli/json.h"
#include "cli/options.h"
#include "tensor/tensor.h"

/* Tolerances. Integers and booleans must be equal, unless the user gives a tolerance. */
#define DEFAULT_ATOL 1e-5
#define DEFAULT_RTOL 1e-4
struct tolerances {
    double atol, rtol;
    bool has_atol, has_rtol; /* given by the user */
};

/* Returns the values of --atol and --rtol for an output, or the defaults. */
struct tolerances tolerances_of(const struct irrun_model *model, const struct options *options,
                                size_t output);

/* A float is a double; an integer or boolean has 64 bits, in two's complement if signed. */
union element_value {
    double real;
    uint64_t integer;
};

/* The element with the largest difference, relative to its tolerance. */
struct worst_element {
    double distance, ratio; /* abs(got - want); distance / tolerance */
    uint64_t record;
    size_t element;
    enum irrun_dtype dtype; /* of the expected value; selects the member of `got` and `want` */
    struct irrun_shape shape;
    union element_value got, want;
};

/* All zeros: nothing was compared. */
struct difference {
    uint64_t n_elements, n_different;
    struct worst_element worst; /* if n_different > 0 */
};

/* Compares two tensors of the same shape, both floats or of the same format_stored_dtype. */
void difference_add(struct difference *difference, const struct tolerances *tolerances,
                    const struct irrun_tensor *got, const struct irrun_tensor *want,
                    uint64_t record);

/* Returns whether more elements differ than --outliers allows. */
bool difference_fails(const struct difference *difference, const struct options *options);

/* Adds "worst in record … at …: got …, expected …; … of … elements differ …" to the error. */
void difference_describe(const struct difference *difference, const struct tolerances *tolerances,
                         struct irrun_error *err);

/* Adds a hint: the option that rounds or, if the user gave no tolerances, these and `more`. Returns
 * false. */
bool difference_hint(const struct options *options, bool has_tolerance, const char *more,
                     struct irrun_error *err);

/* Adds the worst element to the report as an object. */
void difference_report(const struct difference *difference, struct json *json);

#endif
