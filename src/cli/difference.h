/* How two arrays differ: element by element, the worst one remembered.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_CLI_DIFFERENCE_H
#define IRRUN_CLI_DIFFERENCE_H

#include "cli/json.h"
#include "tensor/tensor.h"

/* What may differ. Integers and booleans must be equal unless has_tolerance. */
struct tolerances {
    double atol, rtol;
    bool has_tolerance; /* given by the user, not the default */
};

/* The element that is furthest out, in units of what is allowed. */
struct worst {
    double ratio;
    uint64_t record;
    size_t element;
    enum irrun_dtype dtype;
    struct irrun_shape shape;
    double got, want;
    int64_t got_whole, want_whole; /* the same of integers, which a double may not hold */
};

/* All zero = nothing was compared. */
struct difference {
    uint64_t n_elements, n_different;
    struct worst worst; /* if n_different > 0 */
};

/* Whether values of this type are compared as integers. */
bool difference_is_exact(const struct tolerances *tolerances, enum irrun_dtype dtype);

/* Compares two tensors of one shape, whose types may be a type and the one it is stored as. */
void difference_add(struct difference *difference, const struct tolerances *tolerances,
                    const struct irrun_tensor *got, const struct irrun_tensor *want,
                    uint64_t record);

/* Adds "worst in record … at …: got …, expected …; … of … elements differ …" to the error. */
void difference_describe(const struct difference *difference, const struct tolerances *tolerances,
                         struct irrun_error *err);

/* The worst element as an object. */
void difference_report(const struct difference *difference, struct json *json);

#endif
