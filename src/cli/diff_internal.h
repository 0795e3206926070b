/* What the files of --diff share.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_CLI_DIFF_INTERNAL_H
#define IRRUN_CLI_DIFF_INTERNAL_H

#include "cli/diff.h"
#include "cli/difference.h"
#include "formats/format.h"

/* A tensor that both have. */
struct diff_tensor {
    size_t output; /* of the model */
    uint32_t line;
    size_t layer, port; /* where it comes from; layer SIZE_MAX: not known */
    struct tolerances tolerances;
    const struct irrun_tensor *got, *want; /* of the present record; NULL: not computed */

    struct reader *reader; /* of the file; NULL: none */
    const struct array_header *header;
    struct irrun_tensor read; /* its present record */
    uint64_t n_left;          /* records in the file */
    bool is_single;           /* it has the last iteration only */
};

struct diff {
    const struct irrun_model *model;
    const struct options *options;
    const struct irrun_session *session;
    struct irrun_session *reference; /* NULL: a file */
    struct archive *archive;
    const struct irrun_layer *layers;
    size_t n_layers;
    struct diff_tensor *tensors; /* by line, as ops stand in the XML */
    size_t n;
};

/* The file: opening it for all tensors, those that it lacks are left out, and reading a record. */
bool diff_file_open(struct diff *diff, struct irrun_error *err);
bool diff_file_read(struct diff *diff, uint64_t record, bool is_end, struct irrun_error *err);
void diff_file_close(struct diff *diff);

/* The error that names the op, its inputs, and where the difference came from. */
bool diff_fail(const struct diff *diff, const struct diff_tensor *tensor,
               const struct difference *difference, uint64_t record, struct irrun_error *err);

#endif
