/* The state of --diff, which the files diff*.c share.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_CLI_DIFF_INTERNAL_H
#define IRRUN_CLI_DIFF_INTERNAL_H

#include "cli/diff.h"
#include "cli/difference.h"
#include "formats/format.h"

/* A tensor that exists in the run and in the reference. */
struct diff_tensor {
    size_t output; /* index among the outputs of the model */
    uint32_t line;
    size_t layer, port; /* of the op that computes it; layer is SIZE_MAX if unknown */
    struct tolerances tolerances;
    const struct irrun_tensor *got, *want; /* of the current record; NULL: not computed */

    struct reader *reader; /* NULL: the reference is not a file */
    const struct array_header *header;
    struct irrun_tensor read; /* the current record of the file */
    uint64_t n_left;          /* unread records in the file */
    bool is_single;           /* the file holds only the last iteration */
};

struct diff {
    const struct irrun_model *model;
    const struct options *options;
    const struct irrun_session *session;
    struct irrun_session *reference; /* NULL: the reference is a file */
    struct archive *archive;
    const struct irrun_layer *layers;
    size_t n_layers;
    struct diff_tensor *tensors; /* in the order of the layers in the XML */
    size_t n;
};

/* Opens the file, and removes from diff->tensors the tensors that the file does not contain. */
bool diff_file_open(struct diff *diff, struct irrun_error *err);

/* Sets tensor->want to the next record for each tensor to compare, and to NULL for the rest. If
 * is_end, compares the tensors for which the file holds only the last iteration; otherwise, all
 * other tensors. `record` is for messages. */
bool diff_file_read(struct diff *diff, uint64_t record, bool is_end, struct irrun_error *err);
void diff_file_close(struct diff *diff);

/* Fails with an error that names the op, its inputs, and where the difference begins. */
bool diff_fail(const struct diff *diff, const struct diff_tensor *tensor,
               const struct difference *difference, uint64_t record, struct irrun_error *err);

#endif
