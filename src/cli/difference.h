/* How two arrays differ: element by element, the worst one remembered.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_CLI_DIFFERENCE_H
#define IRRUN_CLI_DIFFERENCE_H

#include "cli/json.h"
#include "tensor/tensor.h"

/* What may differ. Of integers and booleans only what the user has given counts: they are equal
 * without. */
#define DEFAULT_ATOL 1e-5
#define DEFAULT_RTOL 1e-4
struct tolerances {
    double atol, rtol;
    bool has_atol, has_rtol; /* given, not the default */
};

/* A float as a double; an integer or boolean as 64 bits, in two's complement if it has a sign. */
union element_value {
    double real;
    uint64_t whole;
};

/* The element that is furthest out, in units of what is allowed. */
struct worst {
    double ratio, off; /* off / allowed, abs(got - want) */
    uint64_t record;
    size_t element;
    enum irrun_dtype dtype; /* of what is expected: it says which of the values is in use */
    struct irrun_shape shape;
    union element_value got, want;
};

/* All zero = nothing was compared. */
struct difference {
    uint64_t n_elements, n_different;
    struct worst worst; /* if n_different > 0 */
};

/* Compares two tensors of one shape; want's type is the one that got's is stored as. */
void difference_add(struct difference *difference, const struct tolerances *tolerances,
                    const struct irrun_tensor *got, const struct irrun_tensor *want,
                    uint64_t record);

/* Adds "worst in record … at …: got …, expected …; … of … elements differ …" to the error. */
void difference_describe(const struct difference *difference, const struct tolerances *tolerances,
                         struct irrun_error *err);

/* Adds the worst element as an object. */
void difference_report(const struct difference *difference, struct json *json);

#endif
