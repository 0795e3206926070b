/* Parses and writes the header of an npy document (NumPy's "NPY format", versions 1.0 to 3.0).
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_FORMATS_NPY_HEADER_H
#define IRRUN_FORMATS_NPY_HEADER_H

#include "tensor/tensor.h"

/* The prefix: magic, version and length of the text take at most this many bytes. */
#define NPY_PREFIX_BYTES 12
#define NPY_MAX_HEADER_BYTES 65536 /* with the prefix; longer headers are rejected */

struct npy_header {
    enum irrun_dtype dtype;
    bool is_swapped; /* the file's byte order is not this machine's */
    bool is_fortran; /* the first index varies fastest */
    struct irrun_shape shape;
    size_t n_data_bytes;
};

/* Finds the offset and the length of the text from the first NPY_PREFIX_BYTES, or from all n bytes
 * of a shorter file; version 1.0 needs 10. On failure, returns false and sets *why to a literal. */
bool npy_prefix_parse(const unsigned char *prefix, size_t n, size_t *text_offset,
                      size_t *text_bytes, const char **why);

/* Parses the text, a Python dictionary with descr, fortran_order and shape. Fails with IRRUN_DATA
 * if NumPy would not write it, if the shape is too large, or if irrun does not support the element
 * type. The caller adds the file to the error. */
bool npy_header_parse(const char *text, size_t n, struct npy_header *header,
                      struct irrun_error *err);

/* Writes prefix and text for an array in native byte order. *n is a multiple of 64 and at least
 * min_bytes. `dtype` is a result of format_stored_dtype. */
#define NPY_WRITTEN_HEADER_BYTES 512
void npy_header_format(enum irrun_dtype dtype, const struct irrun_shape *shape, size_t min_bytes,
                       char out[NPY_WRITTEN_HEADER_BYTES], size_t *n);

#endif
